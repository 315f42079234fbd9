"""Kernels as operators of torch: `custom_op` registers one that autograd and `torch.compile` know.

A function of a module takes tensors of torch as it is, without copies and on torch's current stream: ``module.add(x, y, z)``. Such a
call is outside of autograd, breaks a graph of `torch.compile`, and reads the memory of a view that torch negates or conjugates lazily
as it lies there; an operator does none of these.

TORCH-1  An operator takes the parameters of its function, in their order, without its outputs, which it allocates and returns. By
         default the last buffer is the output, or, with `mutates`, none. A tensor among `mutates` is written in place.
TORCH-2  Its fake function gives shapes and element types of the outputs from the kernel's signature, for symbolic shapes too.
TORCH-3  Inputs that are not contiguous are copied, as torch's own operators do where they must; a tensor of `mutates` that is not is
         copied back after the call. Element types and devices are never converted: others than the kernel's are errors.
TORCH-4  Gradients come from a backward kernel, whose parameters say by their names what they are: those of the function are the
         inputs and outputs of the forward call, `grad_C` is the gradient of its output `C`, and the last ones, `grad_A`, are written:
         the gradients of the inputs. Inputs without one have none. A gradient cannot be differentiated again.
TORCH-5  Where an input has no elements, outputs are zero before the kernel is called; else every element is the kernel's to write.
TORCH-6  Registering a name again replaces the operator.

>>> import chipdock, torch
>>> import chipdock.torch
>>> module = chipdock.compile("examples/kernels/vector_add.py")
>>> add = chipdock.torch.custom_op(module)
>>> add(torch.ones(2), torch.ones(2)).tolist()
[2.0, 2.0]
>>> torch.compile(add, fullgraph=True, backend="aot_eager")(torch.ones(2), torch.ones(2)).tolist()
[2.0, 2.0]
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, Union

from . import _extents
from ._extents import Parameter
from ._objects import Module

try:
    import torch
    from torch.library import custom_op as _custom_op
except ImportError as _error:
    raise ImportError("chipdock.torch needs torch 2.4 or later: pip install torch") from _error

__all__ = ["custom_op"]

#: The backward pass: a function of the same module, a module and the name of a function, or a formula of torch's with its
#: `setup_context`.
Backward = Union[str, "tuple[Module, str]", Callable[..., Any], None]

_SELECT: dict[str, Callable[[Any, Any], Any]] = {"max": torch.sym_max, "min": torch.sym_min}


def custom_op(
    module: Module,
    name: str | None = None,
    *,
    function: str | None = None,
    outputs: int | Sequence[str] | None = None,
    mutates: Sequence[str] = (),
    backward: Backward = None,
    setup_context: Callable[..., None] | None = None,
) -> Any:
    """Registers a function of a module as an operator of torch; returns it, which is also ``torch.ops.NAMESPACE.NAME``.

    Parameters
    ----------
    module
        The module that has it.
    name
        ``NAMESPACE::NAME``, or the name alone in the namespace ``chipdock``; by default that of the function.
    function
        The function's name, where the module has several.
    outputs
        The buffers that a call allocates and returns, the last ones of the function: their number or their names.
    mutates
        The buffers that a call writes in place.
    backward
        The kernel of the gradients (TORCH-4): the name of another function of the module, or a module and a name; or a function of
        ``(ctx, *gradients)`` that returns the gradients, as of ``torch.library.register_autograd``.
    setup_context
        For such a function: what saves for it.

    Raises
    ------
    ValueError
        The signature and the arguments contradict each other; the message names the parameter.
    """
    kernel = _Kernel(module, function, outputs, mutates)
    qualified = _qualified(name or kernel.signature.function)
    formula = None
    if backward is not None:
        if mutates:
            raise ValueError("backward: an operator that mutates its arguments has no gradients in torch; leave out mutates")
        if not callable(backward):
            formula = _Gradients(kernel, module, backward, qualified)
    elif setup_context is not None:
        raise ValueError("setup_context: expected backward beside it, found none")
    op = kernel.register(qualified)
    if formula is not None:
        op.register_autograd(formula.backward, setup_context=formula.save)
    elif backward is not None:
        op.register_autograd(backward, setup_context=setup_context)
    return op


def _qualified(name: str) -> str:
    qualified = name if "::" in name else f"chipdock::{name}"
    if not re.fullmatch(r"[A-Za-z_]\w*::[A-Za-z_]\w*", qualified):
        raise ValueError(f"name: expected NAMESPACE::NAME, found {name!r}")
    return qualified


def _dtype(parameter: Parameter) -> torch.dtype:
    found = getattr(torch, parameter.dtype, None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"{parameter.name}: torch has no element type {parameter.dtype}")
    return found


class _Kernel:
    """A function with what torch has to know of it."""

    def __init__(self, module: Module, function: str | None, outputs: int | Sequence[str] | None, mutates: Sequence[str]) -> None:
        self.signature = _extents.signature(module, function)
        self.call = module[self.signature.function]
        if isinstance(mutates, str):
            raise TypeError(f"mutates: expected a list of names, found {mutates!r}")
        self.mutates = frozenset(self.signature.buffer(one).name for one in mutates)
        self.shapes = _extents.Shapes(self.signature, _extents.trailing(self.signature, outputs, 0 if mutates else 1), _SELECT)
        self.inputs, self.outputs = self.shapes.inputs, self.shapes.outputs
        if both := self.mutates.intersection(one.name for one in self.outputs):
            raise ValueError(f"mutates: {', '.join(sorted(both))} is among the outputs, which the call allocates")
        self.tensors = [at for at, one in enumerate(self.inputs) if one.shape is not None]
        if not self.tensors:
            raise ValueError(f"{self.signature.function} has no tensor among its inputs, which says the device")
        self.dtypes = [None if one.shape is None else _dtype(one) for one in self.inputs]
        self.made = [_dtype(one) for one in self.outputs]

    def schema(self) -> str:
        def one(at: int, parameter: Parameter) -> str:
            if parameter.shape is not None:
                return f"Tensor{f'(a{at}!)' if parameter.name in self.mutates else ''} {parameter.name}"
            kind = "bool" if parameter.dtype == "bool" else "SymInt" if "int" in parameter.dtype else "float"
            return f"{kind} {parameter.name}"

        returned = ["Tensor"] * len(self.outputs)
        results = returned[0] if len(returned) == 1 else f"({', '.join(returned)})"
        return f"({', '.join(one(at, parameter) for at, parameter in enumerate(self.inputs))}) -> {results}"

    def register(self, qualified: str) -> Any:
        op: Any = _custom_op(qualified, self.run, mutates_args=tuple(self.mutates), schema=self.schema())
        op.register_fake(self.fake)
        return op

    def run(self, *args: Any) -> Any:
        for at in self.tensors:
            if args[at] is None or args[at].layout is not torch.strided:
                found = "None" if args[at] is None else f"one of layout {args[at].layout}"
                raise TypeError(f"{self.signature.function}: {self.inputs[at].name} is a dense tensor, found {found}")
        copies = {at: args[at].contiguous() for at in self.tensors if not args[at].is_contiguous()}
        passed = [copies.get(at, arg) for at, arg in enumerate(args)] if copies else args
        shapes = self.shapes.of_outputs(self.shapes.values(args))
        make = torch.zeros if any(args[at].numel() == 0 for at in self.tensors) else torch.empty
        device = args[self.tensors[0]].device
        results = [make(shape, dtype=dtype, device=device) for shape, dtype in zip(shapes, self.made)]
        self.call(*passed, *results)
        for at, copy in copies.items():
            if self.inputs[at].name in self.mutates:
                args[at].copy_(copy)
        return results[0] if len(results) == 1 else tuple(results) or None

    def fake(self, *args: Any) -> Any:
        for parameter, expected, arg in zip(self.inputs, self.dtypes, args):
            if expected is not None and arg.dtype != expected:
                raise TypeError(f"{self.signature.function}: {parameter.name} is {expected}, found {arg.dtype}")
        values = self.shapes.values(args)
        for found, wanted, message in self.shapes.expectations(args, values):
            torch._check(found == wanted, functools.partial(str, message))
        results = [args[self.tensors[0]].new_empty(shape, dtype=dtype) for shape, dtype in zip(self.shapes.of_outputs(values), self.made)]
        return results[0] if len(results) == 1 else tuple(results) or None


class _Gradients:
    """The backward pass of a kernel by another (TORCH-4)."""

    def __init__(self, forward: _Kernel, module: Module, backward: str | tuple[Module, str], qualified: str) -> None:
        other, name = (module, backward) if isinstance(backward, str) else backward
        self.forward = forward
        self.written = _extents.written(forward.inputs, forward.outputs, _extents.signature(other, name))
        self.kernel = _Kernel(other, name, [f"grad_{one}" for one in self.written], ())
        self.op = self.kernel.register(f"{qualified}_backward")

    def save(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        names = [one.name for one in (*self.forward.inputs, *self.forward.outputs)]
        given = dict(zip(names, (*inputs, *outputs)))
        needed = [one.name for one in self.kernel.inputs if one.name in given]
        ctx.tensors = [name for name in needed if isinstance(given[name], torch.Tensor)]
        ctx.save_for_backward(*(given[name] for name in ctx.tensors))
        ctx.scalars = {name: given[name] for name in needed if name not in ctx.tensors}
        ctx.results = [(one.shape, one.dtype, one.device) for one in outputs]

    def backward(self, ctx: Any, *gradients: Any) -> Any:
        given = dict(zip(ctx.tensors, ctx.saved_tensors)) | ctx.scalars
        for one, gradient, (shape, dtype, device) in zip(self.forward.outputs, gradients, ctx.results):
            made = torch.zeros(shape, dtype=dtype, device=device) if gradient is None else gradient
            given[f"grad_{one.name}"] = made
        found = self.op(*(given[one.name] for one in self.kernel.inputs))
        by_name = dict(zip(self.written, found if isinstance(found, tuple) else (found,)))
        results = tuple(by_name.get(one.name) for one in self.forward.inputs)
        return results[0] if len(results) == 1 else results
