"""Modules that arrive lowered, past ``make_packed_api`` (TVM-7).

Chipdock's reader takes their print, with what it says by ``metadata[…]``; it compiles each as a function of four parameters:
handle, arguments, their number, result. A few lines of C give it TVM-FFI's calling convention again.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tvm

from .. import _objects
from ..errors import Unsupported
from . import _artifacts, _export
from ._refusals import REASONS, Failed, Functions, fall_back, plain_module, refuse, split
from ._targets import CPU_KINDS, mapped

_lock = threading.Lock()
#: Kinds that were taken over, each with whether what cannot be is left to TVM.
_taken: dict[str, bool] = {}

#: TVM resolves operators to intrinsics of LLVM before its code generator; Chipdock's chooses them itself.
_INTRINSIC = re.compile(r'T\.call_llvm_pure_intrin\("[^"]+", "llvm\.(\w+)", ')
_OPERATORS = {
    "fmuladd": "fma", "ctpop": "popcount", "rint": "nearbyint",
    **{one: one for one in (
        "exp", "exp2", "exp10", "log", "log2", "log10", "sqrt", "sin", "cos", "pow", "fabs", "floor", "ceil", "trunc", "round", "nearbyint",
        "fma",
    )},
}


def take_over(*kinds: str, fallback: bool = False) -> None:
    """Has lowered modules of these target kinds compiled by Chipdock, which arrive at TVM's ``target.build.<kind>``.

    Parameters
    ----------
    kinds
        ``"llvm"``, ``"c"``.
    fallback
        As of `pipeline`.

    Raises
    ------
    Unsupported
        The kind is that of a device: TVM gives its code generator the kernels alone, and launches them by a run time of its own.
    """
    for kind in kinds:
        if kind not in CPU_KINDS:
            raise Unsupported(
                f"chipdock.tvm: lowered modules for {kind!r} cannot be taken over: TVM gives its code generator the kernels alone, and "
                f"launches them by a run time of its own; compile with tir_pipeline=\"chipdock\"; known: {', '.join(CPU_KINDS)}"
            )
    with _lock:
        _taken.update(dict.fromkeys(kinds, fallback))


def give_back(*kinds: str) -> None:
    """Leaves lowered modules of these target kinds, by default of all, to TVM's own code generators again."""
    with _lock:
        for kind in kinds or tuple(_taken):
            _taken.pop(kind, None)


def _operator(found: re.Match[str]) -> str:
    name = _OPERATORS.get(found[1])
    return found[0] if name is None else f"T.{name}("


def _compile(functions: Functions, target: _objects.Target) -> _objects.Module:
    text = _INTRINSIC.sub(_operator, plain_module(functions).script(show_meta=True))
    return _objects.compile(text, target, schedule="none")


def _load(compiled: _objects.Module) -> Any:
    entries = tuple(compiled.functions())
    with tempfile.TemporaryDirectory(prefix="chipdock-tvm-") as folder:
        library = _export.linked(compiled, entries, Path(folder))
        return _artifacts.keep(_artifacts.Made(_artifacts.load(library), compiled, entries))


def build(mod: Any, target: Any, before: Callable[[Any, Any], Any]) -> Any:
    """Builds a lowered module: by Chipdock if its kind was taken over, else as before."""
    kind = target.kind.name
    # TVM asks for a module of no functions as the root of others.
    if kind not in _taken or not len(mod.functions):
        return before(mod, target)
    functions = dict(mod.functions.items())
    ours = mapped(target, None)
    made: list[_objects.Module]
    left: Functions
    failed: Failed
    try:
        made, left, failed = [_compile(functions, ours)], {}, []
    except REASONS as error:
        made, left, failed = split(functions, kind, error, lambda group: _compile(group, ours))
    if failed and not _taken.get(kind, False):
        refuse(failed, "take_over(…, fallback=True) compiles them with TVM's own code generator")
    fall_back(failed)
    if len(made) == 1 and not left:
        return _load(made[0])
    root = before(tvm.IRModule(left, attrs=mod.attrs), target)
    for one in made:
        root.import_module(_load(one))
    return root
