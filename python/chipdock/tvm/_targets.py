"""Targets of TVM as targets of Chipdock (TVM-5)."""

from __future__ import annotations

import functools
import json
from typing import Any

from tvm.target import Target as TvmTarget

from .._objects import Target, devices

#: Keys that are no options of code generation, or that TVM derives from other options.
_NOT_OPTIONS = ("kind", "tag", "host")


@functools.lru_cache(maxsize=None)
def _defaults(kind: str) -> dict[str, Any]:
    """The options of a kind that TVM fills in by itself."""
    found: dict[str, Any] = json.loads(str(TvmTarget(kind)))
    return found


@functools.lru_cache(maxsize=256)
def _options(text: str) -> dict[str, Any]:
    """The options of a target of TVM that were set."""
    given = json.loads(text)
    defaults = _defaults(given["kind"])
    found = {"kind": given["kind"]}
    for key, value in given.items():
        # What TVM fills in is left to Chipdock, which knows the processor and the device better.
        if key not in _NOT_OPTIONS and not key.startswith("feature.") and defaults.get(key) != value:
            found[key] = value
    return found


def _device(kind: str, device: str | None) -> str | None:
    if kind in CPU_KINDS or device is None:
        return None
    if device != "first":
        return device if device.split(":")[0] == kind else None
    return next((one for one in devices() if one.split(":")[0] == kind), None)


@functools.lru_cache(maxsize=256)
def _mapped(text: str, host: str | None, device: str | None) -> Target:
    return Target(_options(text), host=None if host is None else _options(host), device=device)


def mapped(target: TvmTarget, device: str | None) -> Target:
    """Returns Chipdock's target of one of TVM's; that of a device has the target of its host functions.

    Parameters
    ----------
    device
        The device of which the target of a device takes unset options: a name, ``"first"`` for the first of that kind here, or None.

    Raises
    ------
    ValueError
        Chipdock's kind does not know an option that was set; the message names it.
    """
    kind = target.kind.name
    host = target.host if kind not in CPU_KINDS else None
    return _mapped(str(target), None if host is None else str(host), _device(kind, device))


#: Kinds whose functions run on the processor.
CPU_KINDS = ("llvm", "c")
