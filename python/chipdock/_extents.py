"""Extents of buffers as the arguments of a call bind them: for frameworks that ask for a result's shape before there is one."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
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

    def buffer(self, name: str) -> Parameter:
        """Returns a parameter that is a buffer."""
        found = self.named(name)
        if found.shape is None:
            raise ValueError(f"{name} is a scalar of {self.function}; expected a buffer")
        return found


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


class Shapes:
    """What the arguments of a call say about its shapes.

    The last parameters are outputs; the others are given. `select` has what `min` and `max` of two extents are to the framework.
    """

    def __init__(self, function: Signature, outputs: int, select: Mapping[str, Callable[[Any, Any], Any]]) -> None:
        parameters, self.function = function.parameters, function.function
        self.inputs, self.outputs = parameters[: len(parameters) - outputs], parameters[len(parameters) - outputs :]
        self.scalars = [(at, one.name) for at, one in enumerate(self.inputs) if one.shape is None and "int" in one.dtype]
        axes = [(at, axis, one, text) for at, one in enumerate(self.inputs) for axis, text in enumerate(one.shape or ())]
        self.places = [(at, axis, text) for at, axis, _, text in axes if text.isidentifier()]
        bound = {name for _, name in self.scalars} | {symbol for *_, symbol in self.places}
        for one in self.outputs:
            for text in one.shape or ():
                if unbound := symbols(text) - bound:
                    raise ValueError(f"{one.name}: no input says what {', '.join(sorted(unbound))} of its extent {text} is")
        self.checks = [(at, axis, one.name, text, extent(text, select)) for at, axis, one, text in axes if symbols(text) <= bound]
        self.extents = [[extent(text, select) for text in one.shape or ()] for one in self.outputs]

    def values(self, args: Sequence[Any]) -> dict[str, Any]:
        """Returns the values of the symbols."""
        for one, arg in zip(self.inputs, args):
            if one.shape is not None and len(arg.shape) != len(one.shape):
                expected = f"{len(one.shape)} axes ({', '.join(one.shape)})"
                raise ValueError(f"{self.function}: {one.name} has {expected}, found the shape {tuple(arg.shape)}")
        values = {name: args[at] for at, name in self.scalars}
        for at, axis, symbol in self.places:
            values.setdefault(symbol, args[at].shape[axis])
        return values

    def of_outputs(self, values: Mapping[str, Any]) -> list[list[Any]]:
        """Returns the shapes of the outputs."""
        return [[extent(values) for extent in one] for one in self.extents]

    def expectations(self, args: Sequence[Any], values: Mapping[str, Any]) -> Iterator[tuple[Any, Any, str]]:
        """Yields each extent that is found, what it has to be, and what to say where they differ."""
        for at, axis, name, text, extent in self.checks:
            found, expected = args[at].shape[axis], extent(values)
            yield found, expected, f"{self.function}: axis {axis} of {name} is {text} = {expected}, found {found}"


def trailing(function: Signature, outputs: int | Sequence[str] | None, default: int) -> int:
    """Returns how many of the last buffers are outputs, given as their number or by their names."""
    parameters = function.parameters
    count = default if outputs is None else outputs if isinstance(outputs, int) else len(outputs)
    last = [one.name for one in parameters[len(parameters) - count :]]
    if outputs is not None and not isinstance(outputs, int):
        names = [function.buffer(one).name for one in outputs]
        if names != last:
            raise ValueError(f"outputs: expected the last buffers, {', '.join(last)}, found {', '.join(names)}")
    if not 0 <= count < len(parameters) or any(one.shape is None for one in parameters[len(parameters) - count :]):
        raise ValueError(f"outputs: expected a number of buffers at the end of {function.function}, found {count}")
    return count


def written(inputs: Sequence[Parameter], outputs: Sequence[Parameter], backward: Signature) -> list[str]:
    """Returns the inputs whose gradients a backward function writes, in its order; its names say what its parameters are."""
    before, after = [one.name for one in inputs], [one.name for one in outputs]
    found = [one.name[5:] for one in backward.parameters if one.name.startswith("grad_") and one.name[5:] in before]
    names = [one.name for one in backward.parameters]
    if not found:
        wanted = ", ".join(f"grad_{one.name}" for one in inputs if one.shape is not None and "float" in one.dtype)
        raise ValueError(f"backward: expected buffers {wanted} at the end of {backward.function}, found {', '.join(names)}")
    known = [*before, *after, *(f"grad_{one}" for one in (*after, *found))]
    for name in names:
        if name not in known:
            raise ValueError(f"backward: {backward.function} has a parameter {name}; expected one of {', '.join(known)}")
    return found


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
