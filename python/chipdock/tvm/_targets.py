"""Targets of TVM as targets of Chipdock (TVM-5)."""

from __future__ import annotations

import functools
import json
from typing import Any

from tvm.target import Target as TvmTarget

from .._objects import Target

#: Keys that are no options of code generation, or that TVM derives from other options.
_NOT_OPTIONS = ("kind", "tag", "host")


@functools.lru_cache(maxsize=None)
def _defaults(kind: str) -> dict[str, Any]:
    """The options of a kind that TVM fills in by itself."""
    found: dict[str, Any] = json.loads(str(TvmTarget(kind)))
    return found


@functools.lru_cache(maxsize=256)
def _mapped(text: str) -> Target:
    given = json.loads(text)
    kind = given["kind"]
    defaults = _defaults(kind)
    options = {"kind": kind}
    for key, value in given.items():
        # What TVM fills in is left to Chipdock, which knows the processor and the device better.
        if key not in _NOT_OPTIONS and not key.startswith("feature.") and defaults.get(key) != value:
            options[key] = value
    return Target(options)


def mapped(target: TvmTarget) -> Target:
    """Returns Chipdock's target of one of TVM's, without its host.

    Raises
    ------
    ValueError
        Chipdock's kind does not know an option that was set; the message names it.
    """
    return _mapped(str(target))


def with_host(target: TvmTarget) -> Target:
    """Returns Chipdock's target of one of TVM's; that of a device has the target of its host functions."""
    made = mapped(target)
    host = target.host
    if host is None or target.kind.name in CPU_KINDS:
        return made
    return _with_host(made, mapped(host))


@functools.lru_cache(maxsize=256)
def _with_host(target: Target, host: Target) -> Target:
    return Target(target, host=host)


#: Kinds whose functions run on the processor.
CPU_KINDS = ("llvm", "c")
