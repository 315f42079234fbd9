"""Writes a notebook beside an example in cells (`# %%`), with what its cells put out.

Usage: notebook.py SCRIPT...

Needs jupytext, nbclient and ipykernel (tests/python/requirements-notebooks.txt) beside what the example needs.
"""

import sys
from pathlib import Path

import jupytext
import nbclient
import nbformat


def write(script: Path) -> None:
    notebook = jupytext.read(script)
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(script.parent)}}).execute()
    # What differs from run to run without meaning anything stays out of the file.
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = {}
        if cell.cell_type == "code":
            noise = [one for one in cell.outputs if one.output_type == "stream" and one.name == "stderr"]
            cell.outputs = [one for one in cell.outputs if one not in noise]
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    nbformat.write(notebook, script.with_suffix(".ipynb"))


for name in sys.argv[1:]:
    write(Path(name))
