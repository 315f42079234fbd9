"""Extents of buffers as the arguments of a call bind them: for frameworks that ask for a result's shape before there is one."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._objects import Module

#: The value of an extent for the values of the symbols.
Extent = Callable[[Mapping[str, Any]], Any]

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function: a buffer, or a scalar, which has no shape."""

    name: str
    dtype: str
    shape: tuple[str, ...] | None


@dataclass(frozen=True)
class Signature:
    """What a function takes."""

    function: str
    parameters: tuple[Parameter, ...]

    def named(self, name: str) -> Parameter:
        """Returns a parameter."""
        for one in self.parameters:
            if one.name == name:
                return one
        raise ValueError(f"{self.function} has no parameter {name!r}; it has {', '.join(one.name for one in self.parameters)}")


def signature(module: Module, function: str | None) -> Signature:
    """Returns the signature of a module's function; of the only one where none is named."""
    if not isinstance(module, Module):
        raise TypeError(f"module: expected a chipdock.Module, found {module!r}")
    described = {str(one["name"]): one for one in module.describe()["functions"]}
    if function is None:
        if len(described) != 1:
            raise ValueError(f"function: expected the name of one, as the module has {', '.join(described) or 'none'}")
        function = next(iter(described))
    if function not in described:
        raise ValueError(f"function: expected one of {', '.join(described)}, found {function!r}")
    params = described[function]["params"]
    if params is None:
        raise ValueError(f"function: {function} has no signature with shapes: compile it, or load an artifact of Chipdock's")
    read = (Parameter(one["name"], one["dtype"], None if one["shape"] is None else tuple(map(str, one["shape"]))) for one in params)
    return Signature(function, tuple(read))


def binder(parameters: Sequence[Parameter]) -> Callable[[Sequence[Any]], tuple[dict[str, Any], list[str]]]:
    """Returns what reads the symbols' values off arguments, and what does not fit."""
    places: list[tuple[int, int, str]] = []
    for at, one in enumerate(parameters):
        places += [(at, axis, text) for axis, text in enumerate(one.shape or ()) if text.isidentifier()]
    scalars = [(at, one.name) for at, one in enumerate(parameters) if one.shape is None and "int" in one.dtype]

    def bind(args: Sequence[Any]) -> tuple[dict[str, Any], list[str]]:
        wrong = [
            f"{one.name} has {len(one.shape)} axes ({', '.join(one.shape)}), found the shape {tuple(arg.shape)}"
            for one, arg in zip(parameters, args)
            if one.shape is not None and len(arg.shape) != len(one.shape)
        ]
        if wrong:
            return {}, wrong
        values = {name: args[at] for at, name in scalars}
        for at, axis, symbol in places:
            values.setdefault(symbol, args[at].shape[axis])
        return values, []

    return bind


def extent(text: str, select: Mapping[str, Callable[[Any, Any], Any]]) -> Extent:
    """Compiles the text of an extent; `select` has what `min` and `max` of two values are to the framework."""
    return _compiled(ast.parse(text, mode="eval").body, text, select)


def _compiled(node: ast.expr, text: str, select: Mapping[str, Callable[[Any, Any], Any]]) -> Extent:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        constant = node.value
        return lambda _: constant
    if isinstance(node, ast.Name):
        name = node.id
        return lambda values: values[name]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        apply, left, right = _OPERATORS[type(node.op)], _compiled(node.left, text, select), _compiled(node.right, text, select)
        return lambda values: apply(left(values), right(values))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        called, args = node.func.attr, node.args
        if called in select and len(args) == 2:
            apply, left, right = select[called], _compiled(args[0], text, select), _compiled(args[1], text, select)
            return lambda values: apply(left(values), right(values))
        if called in ("Cast", "int32", "int64") and args:
            return _compiled(args[-1], text, select)
    raise ValueError(f"the extent {text!r} is computed in a way that is not known here; let the caller make that buffer (mutates)")


def symbols(text: str) -> set[str]:
    """Returns the symbols of an extent."""
    tree = ast.parse(text, mode="eval")
    modules = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in modules}
