"""Kernels in programs of jax, on the CPU: `ffi_call` makes a function of a module one of jax arrays, through `jax.ffi`.

JAX-1  The function takes the parameters of the kernel, in their order, without its outputs, which jax allocates and which it returns.
       By default the last buffer is the output.
JAX-2  Shapes and element types of the outputs come from the kernel's signature: a traced call needs no more than its arguments'.
       Arguments are checked against it, and never converted: others are a TypeError or a ValueError when the call is traced.
JAX-3  Scalars are attributes of the call: Python's numbers, known when it is traced. They stand before or after all buffers.
JAX-4  `jax.jit` compiles it in; `jax.vmap` calls the kernel once per element of the batch, one after another.
JAX-5  `jax.grad` calls a backward kernel, whose parameters say by their names what they are, as in `chipdock.torch` (TORCH-4). Inputs
       whose gradient it does not write have none: zero.
JAX-6  A kernel that fails raises when its result is used, with its own message.

Not there: devices other than the CPU (`jax.ffi` of a GPU takes a kernel's stream, which needs one to be tested on), arguments that are
written in place, and scalars that are traced.

>>> import chipdock, chipdock.jax, jax
>>> module = chipdock.compile("examples/kernels/vector_add.py")
>>> add = chipdock.jax.ffi_call(module)
>>> ones = jax.numpy.ones(2, "float32")
>>> jax.jit(add)(ones, ones).tolist()
[2.0, 2.0]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Union

from . import _extents
from ._extents import Parameter, Signature
from ._objects import Module

try:
    import jax
    import jax_tvm_ffi
except ImportError as _error:
    raise ImportError("chipdock.jax needs jax and jax-tvm-ffi: pip install jax jax-tvm-ffi") from _error

__all__ = ["ffi_call"]

#: The backward pass: a function of the same module, or a module and the name of a function.
Backward = Union[str, "tuple[Module, str]", None]

_numbers = itertools.count()


def ffi_call(
    module: Module,
    function: str | None = None,
    *,
    outputs: int | Sequence[str] | None = None,
    backward: Backward = None,
) -> Callable[..., Any]:
    """Makes a function of a module one of jax arrays.

    Parameters
    ----------
    module
        The module that has it, compiled for a CPU's target.
    function
        The function's name, where the module has several.
    outputs
        The buffers that a call returns, the last ones of the function: their number or their names; by default the last.
    backward
        The kernel of the gradients (JAX-5): the name of another function of the module, or a module and a name.

    Raises
    ------
    ValueError
        The signature and the arguments contradict each other; the message names the parameter.
    """
    call = _Call(module, function, outputs)
    if backward is None:
        return call
    other, name = (module, backward) if isinstance(backward, str) else backward
    return _differentiable(call, other, name)


class _Call:
    """A function that is registered with jax as a target of its own."""

    def __init__(self, module: Module, function: str | None, outputs: int | Sequence[str] | None) -> None:
        signature = _extents.signature(module, function)
        self.signature, self.__name__ = signature, signature.function
        count = _extents.trailing(signature, outputs, 1)
        if count == 0:
            raise ValueError("outputs: expected at least one, as jax has no arguments that are written in place")
        self.shapes = _extents.Shapes(signature, count, {"max": max, "min": min})
        self.inputs, self.outputs = self.shapes.inputs, self.shapes.outputs
        self.dtypes = {one.name: _dtype(one) for one in signature.parameters}
        self.scalars = [one.name for one in self.inputs if one.shape is None]
        # A target's name is registered once per process, and keeps the function.
        self.target = f"chipdock.{signature.function}.{next(_numbers)}"
        jax_tvm_ffi.register_ffi_target(self.target, module[signature.function], _places(signature, self.inputs), platform="cpu")

    def __call__(self, *args: Any) -> Any:
        if len(args) != len(self.inputs):
            names = ", ".join(one.name for one in self.inputs)
            raise TypeError(f"{self.__name__}: expected {len(self.inputs)} arguments, {names}, found {len(args)}")
        given = [self.checked(one, arg) for one, arg in zip(self.inputs, args)]
        values = self.shapes.values(given)
        for found, expected, message in self.shapes.expectations(given, values):
            if found != expected:
                raise ValueError(message)
        shapes = self.shapes.of_outputs(values)
        struct: Any = jax.ShapeDtypeStruct
        made = [struct(tuple(shape), self.dtypes[one.name]) for shape, one in zip(shapes, self.outputs)]
        call = jax.ffi.ffi_call(self.target, made[0] if len(made) == 1 else tuple(made), vmap_method="sequential")
        attributes = {one.name: self.attribute(one, arg) for one, arg in zip(self.inputs, given) if one.shape is None}
        return call(*(arg for one, arg in zip(self.inputs, given) if one.shape is not None), **attributes)

    def checked(self, parameter: Parameter, arg: Any) -> Any:
        if parameter.shape is None:
            if isinstance(arg, jax.core.Tracer):
                raise TypeError(f"{self.__name__}: {parameter.name} is a scalar: a number that is known when the call is traced")
            return arg
        config: Any = jax.config
        array, expected = jax.numpy.asarray(arg), self.dtypes[parameter.name]
        if array.dtype != expected:
            hint = "; set jax_enable_x64" if parameter.dtype.endswith("64") and not config.read("jax_enable_x64") else ""
            raise TypeError(f"{self.__name__}: {parameter.name} is {parameter.dtype}, found {array.dtype}{hint}")
        return array

    def attribute(self, parameter: Parameter, value: Any) -> Any:
        import numpy as np

        # jax tells the kernel of whole numbers as 64-bit, whatever the kernel's own type.
        kind = np.bool_ if parameter.dtype == "bool" else np.int64 if "int" in parameter.dtype else np.float64
        return kind(value)


def _dtype(parameter: Parameter) -> Any:
    try:
        return jax.numpy.dtype(parameter.dtype)
    except TypeError:
        raise ValueError(f"{parameter.name}: jax has no element type {parameter.dtype}") from None


def _places(signature: Signature, inputs: Sequence[Parameter]) -> list[str]:
    """Where the call's arguments, attributes and results stand among the kernel's."""
    places: list[str] = []
    for one in inputs:
        place = f"attrs.{one.name}" if one.shape is None else "args"
        if place == "args" and "args" in places and places[-1] != "args":
            raise ValueError(f"{signature.function}: a scalar stands between its buffers; expected all before or all after them")
        if place != "args" or "args" not in places:
            places.append(place)
    return [*places, "rets"]


def _differentiable(call: _Call, module: Module, name: str) -> Callable[..., Any]:
    """The call with the gradients of a backward kernel."""
    written = _extents.written(call.inputs, call.outputs, _extents.signature(module, name))
    gradients = _Call(module, name, [f"grad_{one}" for one in written])
    scalars = tuple(at for at, one in enumerate(call.inputs) if one.shape is None)
    buffers = [one.name for one in call.inputs if one.shape is not None]

    def several(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, (list, tuple)) else (value,)

    def forward(*args: Any) -> tuple[Any, Any]:
        result = call(*args)
        kept = [arg for one, arg in zip(call.inputs, args) if one.shape is not None]
        return result, (kept, several(result))

    def backward(*args: Any) -> tuple[Any, ...]:
        *numbers, (kept, results), cotangents = args
        given = dict(zip(call.scalars, numbers)) | dict(zip(buffers, kept)) | dict(zip((one.name for one in call.outputs), results))
        given |= {f"grad_{one.name}": cotangent for one, cotangent in zip(call.outputs, several(cotangents))}
        found = dict(zip(written, several(gradients(*(given[one.name] for one in gradients.inputs)))))
        return tuple(found.get(one) for one in buffers)

    made: Any = jax.custom_vjp(call, nondiff_argnums=scalars)
    made.defvjp(forward, backward)
    differentiable: Callable[..., Any] = made
    return differentiable
