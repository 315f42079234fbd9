"""How things show themselves: as a text for a terminal, as HTML in a notebook."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any

#: The widest cell of a table on a terminal; HTML has all of it.
CELL_CHARS_MAX = 72


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table with aligned columns."""
    short = [[cell if len(cell) <= CELL_CHARS_MAX else cell[: CELL_CHARS_MAX - 1] + "…" for cell in row] for row in rows]
    lines = [[cell.upper() for cell in head], *short]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Returns a table as HTML; its cells are text."""
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead>{line(head, 'th')}</thead><tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"


class Listing(list[dict[str, Any]]):
    """A list of descriptions that shows itself as a table. Each is a dictionary with more than the table has."""

    def __init__(self, found: Iterable[dict[str, Any]], columns: Sequence[tuple[str, Callable[[dict[str, Any]], object]]]) -> None:
        super().__init__(found)
        self._columns = columns

    def _table(self) -> tuple[list[str], list[list[str]]]:
        def cell(value: object) -> str:
            return "" if value is None else " ".join(str(value).split())

        return [name for name, _ in self._columns], [[cell(of(one)) for _, of in self._columns] for one in self]

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def problem(described: dict[str, Any]) -> str | None:
    """Returns the reason in a description: a text, or an object with a message."""
    found = described.get("problem") or described.get("reason")
    return str(found.get("message", found)) if isinstance(found, dict) else found
