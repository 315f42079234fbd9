"""Operators of Relax, legalised: each kernel that comes of one, and of four models."""

import numpy
import tvm
from tvm import relax

import models
import relax_operators
from draw import Draw


def variable(label, shape, dtype):
    return relax.Var(label, relax.TensorType(shape, dtype))


def module_of(inputs, body):
    """A Relax module whose `main` computes `body()`."""
    builder = relax.BlockBuilder()
    with builder.function("main", inputs):
        with builder.dataflow():
            result = builder.emit_output(body(builder))
        builder.emit_func_output(result)
    return builder.get()


class Evaluator:
    """Runs `main` of a legalised module, kernel by kernel, each as a program of its own."""

    def __init__(self, writer, name, group, module):
        self.writer, self.name, self.group, self.module = writer, name, group, module
        self.values, self.seen = {}, {}

    def value(self, expr):
        if isinstance(expr, tvm.ir.expr.GenericConst):
            return expr.value.numpy()
        if isinstance(expr, relax.Tuple):
            return [self.value(field) for field in expr.fields]
        if isinstance(expr, relax.TupleGetItem):
            return self.value(expr.tuple_value)[expr.index]
        return self.values[expr] if expr in self.values else int(expr)

    def kernel(self, call):
        symbol = call.args[0]
        arguments = self.value(call.args[1])
        arguments = arguments if isinstance(arguments, list) else [arguments]
        types = call.ty_args[0]
        types = list(types.fields) if isinstance(types, relax.TupleType) else [types]
        outputs = [numpy.zeros([int(n) for n in one.shape], str(one.dtype)) for one in types]
        name = f"{self.name}:{symbol.name_hint}"
        count = self.seen[name] = self.seen.get(name, -1) + 1
        label = name if count == 0 else f"{name}.{count}"
        after = self.writer.program(label, self.group, self.module[symbol], [*arguments, *outputs])
        if after is None:
            raise LookupError(f"{label} was not run")
        results = after[len(arguments) :]
        return results if len(results) != 1 else results[0]

    def run(self, arrays):
        main = self.module["main"]
        self.values.update(zip(main.params, arrays))
        for block in main.body.blocks:
            for binding in block.bindings:
                value = binding.value
                if isinstance(value, tvm.ir.Call) and value.op == tvm.ir.Op.get("relax.call_tir"):
                    self.values[binding.var] = self.kernel(value)
                elif isinstance(value, tvm.ir.Call):
                    raise LookupError(f"{value.op} is not legalised")
                else:
                    self.values[binding.var] = self.value(value)


def write(writer, name, group, draw, module):
    # Sorts and scans are legalised by a pass of their own, which asks for a target.
    with tvm.target.Target("llvm"):
        legal = relax.transform.LegalizeOps()(relax.backend.DispatchSortScan()(module))
    before = writer.count
    try:
        Evaluator(writer, name, group, legal).run(draw.arrays)
    except LookupError as error:
        if writer.count == before:
            writer.refused(name, group, error)


def operator(writer, name, make, seed):
    draw = Draw(seed, variable)
    try:
        # The operator's inputs are drawn before the function is opened that takes them.
        result = make(draw)
        module = module_of(draw.inputs, lambda builder: builder.emit(result))
        write(writer, name, "relax", draw, module)
    except Exception as error:  # noqa: BLE001 - whatever TVM raises
        writer.refused(name, "relax", error)


def model(writer, name, make, seed):
    draw = Draw(seed, variable)
    body = make(draw)
    write(writer, name, "models", draw, module_of(draw.inputs, body))


def all_programs():
    """(name, what writes it), in a fixed order."""
    for name, (variants, make) in relax_operators.OPERATORS.items():
        for variant in range(variants):
            yield f"{name}/{variant}", lambda w, n, s, make=make: operator(w, n, make, s)
    for name, make in models.MODELS.items():
        yield name, lambda w, n, s, make=make: model(w, n, make, s)
