"""What is not taken over: named, refused, or left to TVM's own code generator when that is asked for (TVM-4)."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tvm
import tvm_ffi

from .._objects import Module
from ..errors import Error, Unsupported


class Fallback(NamedTuple):
    """A function that is not taken over: its name, the kind of its target, and why."""

    function: str
    target: str
    reason: str


class FallbackWarning(UserWarning):
    """A function fell back to TVM's own code generator."""


class NotTakenOver(Unsupported):
    """Functions that cannot be taken over. `functions` has each with its reason; the cause is Chipdock's error of the first."""

    def __init__(self, message: str, functions: Sequence[Fallback] = ()) -> None:
        super().__init__(message)
        self.functions = list(functions)


tvm_ffi.register_error("NotTakenOver", NotTakenOver)

#: What Chipdock raises for a function or a target that it does not take.
REASONS = (Error, ValueError, TypeError, KeyError, IndexError, RuntimeError)
#: Functions of a module of TVM by their variables.
Functions = dict[Any, Any]
Failed = list[tuple[Fallback, Exception]]

_lock = threading.Lock()
_fallbacks: list[Fallback] = []


def fallbacks(*, clear: bool = False) -> list[Fallback]:
    """Returns the functions that fell back to TVM's own code generator in this process, in order; `clear` forgets them."""
    with _lock:
        found = list(_fallbacks)
        if clear:
            _fallbacks.clear()
    return found


def _called(function: Any) -> set[Any]:
    """What a function calls: variables of functions of the module, and names."""
    found: set[Any] = set()

    def visit(call: Any) -> None:
        if isinstance(call.op, tvm.ir.GlobalVar):
            found.add(call.op)
        elif len(call.args) and isinstance(call.args[0], tvm.ir.StringImm):
            found.add(str(call.args[0].value))

    tvm_ffi.structural_walk(function.body, (tvm.ir.Call, visit))
    return found


def callers_of(var: Any, functions: Functions) -> set[Any]:
    """The functions that call one, directly or through others."""
    called = {caller: _called(function) for caller, function in functions.items()}
    found: set[Any] = set()
    waiting = [var]
    while waiting:
        callee = waiting.pop()
        new = {caller for caller, callees in called.items() if callee in callees} - found
        found |= new
        waiting.extend(new)
    return found


def _groups(functions: Functions) -> list[Functions]:
    """Splits functions into those that call each other: by name too, as TVM's code generators link such calls."""
    groups: list[set[Any]] = []
    names = {_name(var, function): var for var, function in functions.items()}
    for var, function in functions.items():
        joined = {var, *(names.get(one, one) for one in _called(function) if one in functions or one in names)}
        met = [group for group in groups if group & joined]
        groups = [*(group for group in groups if not group & joined), joined.union(*met)]
    return [{var: functions[var] for var in functions if var in group} for group in groups]


def _name(var: Any, function: Any) -> str:
    """The name that a function is called by from outside."""
    return str((function.attrs or {}).get("global_symbol", var.name_hint)).removeprefix("__tvm_ffi_")


def plain_module(functions: Functions) -> Any:
    """Returns a module of functions under the names that they are called by, without targets, which are given beside it."""
    called = set().union(*map(_called, functions.values())) if any(_name(*one) != one[0].name_hint for one in functions.items()) else ()
    return tvm.IRModule({
        var if var in called or _name(var, function) == var.name_hint else _name(var, function): function.without_attr("target")
        for var, function in functions.items()
    })


def split(
    functions: Functions, kind: str, whole: Exception, attempt: Callable[[Functions], Module]
) -> tuple[list[Module], Functions, Failed]:
    """Compiles group by group what does not compile as a whole; returns what was made, what cannot be, and why not."""
    groups = _groups(functions)
    made: list[Module] = []
    left: Functions = {}
    failed: Failed = []
    for group in groups:
        try:
            if len(groups) == 1:
                raise whole
            made.append(attempt(group))
        except REASONS as error:
            left |= group
            failed += [(Fallback(_name(var, one), kind, str(error)), error) for var, one in group.items()]
    return made, left, failed


def refuse(failed: Failed, hint: str) -> None:
    """Raises an error that names the functions."""
    listed = "\n".join(f"  {one.function} for {one.target}: {one.reason}" for one, _ in failed)
    raise NotTakenOver(f"chipdock.tvm: functions cannot be taken over ({hint}):\n{listed}", [one for one, _ in failed]) from failed[0][1]


def fall_back(failed: Failed) -> None:
    """Says which functions TVM compiles itself."""
    with _lock:
        _fallbacks.extend(one for one, _ in failed)
    for one, _ in failed:
        warnings.warn(
            f"chipdock.tvm: {one.function} fell back to TVM's own code generator for {one.target}: {one.reason}", FallbackWarning,
            stacklevel=2,
        )
