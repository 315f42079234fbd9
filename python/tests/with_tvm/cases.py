"""Programs of TVM that `chipdock.tvm` is checked with: kernels of TOPI, operators of Relax, models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes  # noqa: F401 (gives numpy the types bfloat16 and float8)
import numpy as np
import tvm
from tvm import relax, te, topi

Array = np.ndarray


@dataclass(frozen=True)
class Input:
    """An argument: its shape and type, and the range of its elements."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -2.0
    high: float = 2.0

    def array(self, rng: np.random.Generator) -> Array:
        if self.dtype == "bool":
            return rng.integers(0, 2, self.shape).astype(bool)
        if "int" in self.dtype:
            return rng.integers(int(self.low), int(self.high), self.shape, endpoint=True).astype(self.dtype)
        return rng.uniform(self.low, self.high, self.shape).astype(self.dtype)


@dataclass(frozen=True)
class Case:
    """A program with its arguments. Results may differ from TVM's own by `rtol` of their size plus `atol`."""

    name: str
    inputs: tuple[Input, ...]
    make: Callable[..., Any]
    rtol: float = 1e-5
    atol: float = 1e-5

    def arrays(self) -> list[Array]:
        rng = np.random.default_rng(sum(map(ord, self.name)))
        return [one.array(rng) for one in self.inputs]


def f32(*shape: int, low: float = -2.0, high: float = 2.0) -> Input:
    return Input(shape, "float32", low, high)


def f16(*shape: int) -> Input:
    return Input(shape, "float16")


def i32(*shape: int, low: int = -50, high: int = 50) -> Input:
    return Input(shape, "int32", low, high)


def i8(*shape: int) -> Input:
    return Input(shape, "int8", -100, 100)


# Sums of many products: two orders of adding differ by this much.
SUMS = {"rtol": 1e-4, "atol": 1e-4}

TOPI = [
    Case("add", (f32(33, 17), f32(33, 17)), topi.add),
    Case("add_broadcast", (f32(33, 17), f32(17)), topi.add),
    Case("subtract_broadcast", (f32(4, 1, 8), f32(3, 1)), topi.subtract),
    Case("multiply_int32", (i32(100), i32(100)), topi.multiply),
    Case("divide", (f32(64), f32(64, low=0.5)), topi.divide),
    Case("floor_divide_int32", (i32(100), i32(100, low=1)), topi.floor_divide),
    Case("floor_mod_int32", (i32(100), i32(100, low=1)), topi.floor_mod),
    Case("maximum", (f32(64), f32(64)), topi.maximum),
    Case("power", (f32(64, low=0.1), f32(64)), topi.power),
    Case("greater", (f32(64), f32(64)), topi.greater),
    Case("logical_and", (Input((64,), "bool"), Input((64,), "bool")), topi.logical_and),
    Case("left_shift_int32", (i32(64, low=0), i32(64, low=0, high=8)), topi.left_shift),
    Case("bitwise_xor_int32", (i32(64), i32(64)), topi.bitwise_xor),
    Case("exp", (f32(1000),), topi.exp),
    Case("log", (f32(1000, low=0.01),), topi.log),
    Case("tanh", (f32(1000),), topi.tanh),
    Case("erf", (f32(1000),), topi.erf),
    Case("sigmoid", (f32(1000),), topi.sigmoid),
    Case("sqrt", (f32(1000, low=0.0),), topi.sqrt),
    Case("rsqrt", (f32(1000, low=0.1),), topi.rsqrt),
    Case("sin", (f32(1000),), topi.sin),
    Case("floor", (f32(1000),), topi.floor),
    Case("round", (f32(1000),), topi.round),
    Case("isnan", (f32(100),), topi.isnan),
    Case("cast_to_int32", (f32(100),), lambda a: topi.cast(a, "int32")),
    Case("cast_to_float16", (f32(100),), lambda a: topi.cast(a, "float16"), 1e-3, 1e-3),
    Case("add_float16", (f16(100), f16(100)), topi.add, 1e-3, 1e-3),
    Case("clip", (f32(100),), lambda a: topi.clip(a, -1.0, 1.0)),
    Case("where", (Input((64,), "bool"), f32(64), f32(64)), topi.where),
    Case("sum", (f32(16, 64),), lambda a: topi.sum(a, axis=1), **SUMS),
    Case("sum_all", (f32(16, 64),), topi.sum, **SUMS),
    Case("max_keepdims", (f32(8, 9, 10),), lambda a: topi.max(a, axis=(0, 2), keepdims=True)),
    Case("prod", (f32(4, 12, low=0.5, high=1.5),), lambda a: topi.prod(a, axis=1), **SUMS),
    Case("argmax", (f32(8, 100),), lambda a: topi.argmax(a, axis=1)),
    Case("any", (Input((8, 3), "bool"),), lambda a: topi.any(a, axis=1)),
    Case("matmul", (f32(33, 65), f32(65, 17)), topi.matmul, **SUMS),
    Case("matmul_int8", (i8(16, 32), i8(32, 16)), lambda a, b: topi.nn.matmul(a, b, out_dtype="int32")),
    Case("dense", (f32(8, 64), f32(16, 64)), topi.nn.dense, **SUMS),
    Case("batch_matmul", (f32(3, 16, 32), f32(3, 8, 32)), topi.nn.batch_matmul, **SUMS),
    Case("einsum", (f32(4, 5), f32(5, 6)), lambda a, b: topi.einsum("ij,jk->ki", a, b), **SUMS),
    Case("conv1d", (f32(1, 4, 20), f32(6, 4, 3)), lambda d, w: topi.nn.conv1d_ncw(d, w, 1, 1, 1), **SUMS),
    Case("conv2d_nchw", (f32(1, 3, 14, 14), f32(8, 3, 3, 3)), lambda d, w: topi.nn.conv2d_nchw(d, w, 1, 1, 1), **SUMS),
    Case("conv2d_nhwc_strided", (f32(1, 15, 15, 3), f32(3, 3, 3, 8)), lambda d, w: topi.nn.conv2d_nhwc(d, w, 2, 1, 1), **SUMS),
    Case("conv3d", (f32(1, 2, 6, 6, 6), f32(3, 2, 3, 3, 3)), lambda d, w: topi.nn.conv3d_ncdhw(d, w, 1, 1, 1, 1), **SUMS),
    Case("conv2d_transpose", (f32(1, 3, 7, 7), f32(3, 4, 3, 3)),
         lambda d, w: topi.nn.conv2d_transpose_nchw(d, w, (2, 2), (1, 1), "float32", (1, 1)), **SUMS),
    Case("depthwise_conv2d", (f32(1, 8, 14, 14), f32(8, 1, 3, 3)),
         lambda d, w: topi.nn.depthwise_conv2d_nchw(d, w, 1, 1, 1), **SUMS),
    Case("group_conv2d", (f32(1, 8, 10, 10), f32(8, 4, 3, 3)), lambda d, w: topi.nn.group_conv2d_nchw(d, w, 1, 1, 1, 2), **SUMS),
    Case("relu", (f32(100),), topi.nn.relu),
    Case("leaky_relu", (f32(100),), lambda a: topi.nn.leaky_relu(a, 0.1)),
    Case("softmax", (f32(16, 100),), topi.nn.softmax),
    Case("log_softmax", (f32(16, 100),), topi.nn.log_softmax),
    Case("max_pool2d", (f32(1, 4, 16, 16),), lambda a: topi.nn.pool2d(a, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), "max")),
    Case("avg_pool2d", (f32(1, 4, 16, 16),), lambda a: topi.nn.pool2d(a, (3, 3), (2, 2), (1, 1), (1, 1, 1, 1), "avg"), **SUMS),
    Case("global_avg_pool2d", (f32(1, 4, 9, 9),), lambda a: topi.nn.global_pool(a, "avg"), **SUMS),
    Case("layer_norm", (f32(8, 64), f32(64), f32(64)), lambda a, g, b: topi.nn.layer_norm(a, g, b, [1]), **SUMS),
    Case("rms_norm", (f32(8, 64), f32(64)), lambda a, w: topi.nn.rms_norm(a, w, [1]), **SUMS),
    Case("batch_flatten", (f32(4, 3, 5),), topi.nn.flatten),
    Case("pad", (f32(5, 6),), lambda a: topi.nn.pad(a, (1, 2), (2, 1), 0.5)),
    Case("mirror_pad", (f32(5, 6),), lambda a: topi.nn.mirror_pad(a, (1, 2), (2, 1))),
    Case("transpose", (f32(5, 6, 7),), lambda a: topi.transpose(a, (2, 0, 1))),
    Case("reshape", (f32(6, 8),), lambda a: topi.reshape(a, (4, 12))),
    Case("concatenate", (f32(4, 6), f32(4, 3)), lambda a, b: topi.concatenate((a, b), 1)),
    Case("strided_slice", (f32(20, 20),), lambda a: topi.strided_slice(a, [1, 2], [15, 19], [2, 3])),
    Case("tile", (f32(3, 4),), lambda a: topi.tile(a, (2, 3))),
    Case("repeat", (f32(3, 4),), lambda a: topi.repeat(a, 2, 1)),
    Case("take", (f32(50, 8), i32(12, low=0, high=49)), lambda a, i: topi.take(a, i, axis=0)),
    Case("gather", (f32(8, 9), i32(8, 4, low=0, high=8)), lambda a, i: topi.gather(a, 1, i)),
    Case("gather_nd", (f32(8, 9), i32(2, 5, low=0, high=7)), topi.gather_nd),
    Case("one_hot", (i32(10, low=0, high=5),), lambda i: topi.one_hot(i, 1.0, 0.0, 6, -1, "float32")),
    Case("trilu", (f32(8, 8),), lambda a: topi.trilu(a, te.const(0, "int32"), True)),
    Case("flip", (f32(5, 6),), lambda a: topi.flip(a, 1)),
    Case("cumsum", (f32(4, 30),), lambda a: topi.cumsum(a, axis=1), **SUMS),
    Case("sort", (f32(4, 30),), lambda a: topi.sort(a, axis=1)),
    Case("topk", (f32(4, 30),), lambda a: topi.topk(a, 5, axis=1, ret_type="values")),
    Case("scatter_elements", (f32(8, 9), Input((8, 4), "int32", 0, 0), f32(8, 4)),
         lambda d, i, u: topi.scatter_elements(d, i, u, 1, "add"), **SUMS),
    Case("resize2d", (f32(1, 2, 8, 8),),
         lambda a: topi.image.resize2d(a, [0.0] * 4, (16, 16), "NCHW", "linear", "half_pixel"), **SUMS),
    Case("argsort", (f32(4, 30),), lambda a: topi.argsort(a, axis=1)),
    Case("searchsorted", (Input((20,), "float32", 1, 1), f32(7)), lambda s, v: topi.searchsorted(s, v)),
    Case("dft_real", (f32(2, 16), f32(2, 16)), lambda r, i: topi.signal.dft(r, i, te.const(0, "int32")), **SUMS),
    Case("conv2d_winograd", (f32(1, 3, 16, 16), f32(8, 3, 3, 3)),
         lambda d, w: topi.nn.conv2d_winograd_nchw(d, w, 1, 1, 1, "float32"), 1e-3, 1e-3),
    Case("add_float64", (Input((64,), "float64"), Input((64,), "float64")), topi.add),
    Case("exp_float64", (Input((64,), "float64"),), topi.exp),
    Case("add_int64", (Input((64,), "int64", -50, 50), Input((64,), "int64", -50, 50)), topi.add),
    Case("add_bfloat16", (Input((64,), "bfloat16"), Input((64,), "bfloat16")), topi.add, 1e-2, 1e-2),
    Case("cast_to_float8", (f32(64),), lambda a: topi.cast(a, "float8_e4m3fn"), 1e-1, 1e-1),
    Case("space_to_depth", (f32(1, 2, 8, 8),), lambda a: topi.nn.space_to_depth(a, 2)),
]


def topi_module(case: Case) -> tvm.IRModule:
    """Makes the PrimFunc of a kernel of TOPI; its last parameter is the result."""
    args = [te.placeholder(one.shape, one.dtype, name=f"p{at}") for at, one in enumerate(case.inputs)]
    made = case.make(*args)
    made = made[0] if isinstance(made, (list, tuple)) or hasattr(made, "__len__") and not isinstance(made, te.Tensor) else made
    return tvm.IRModule({"main": te.create_prim_func([*args, made]).with_attr("global_symbol", "main")})


op = relax.op
RELAX = [
    Case("add", (f32(8, 16), f32(16)), op.add),
    Case("multiply", (f32(8, 16), f32(8, 16)), op.multiply),
    Case("exp", (f32(8, 16),), op.exp),
    Case("gelu", (f32(8, 16),), op.nn.gelu),
    Case("silu", (f32(8, 16),), op.nn.silu),
    Case("relu", (f32(8, 16),), op.nn.relu),
    Case("softmax", (f32(8, 50),), op.nn.softmax),
    Case("log_softmax", (f32(8, 50),), op.nn.log_softmax),
    Case("matmul", (f32(4, 8, 16), f32(16, 8)), op.matmul, **SUMS),
    Case("linear", (f32(4, 16), f32(8, 16), f32(8)), op.linear, **SUMS),
    Case("conv2d", (f32(1, 3, 12, 12), f32(4, 3, 3, 3)), lambda d, w: op.nn.conv2d(d, w, padding=1), **SUMS),
    Case("conv1d", (f32(1, 3, 12), f32(4, 3, 3)), lambda d, w: op.nn.conv1d(d, w, padding=1), **SUMS),
    Case("max_pool2d", (f32(1, 3, 12, 12),), lambda d: op.nn.max_pool2d(d, (2, 2), (2, 2))),
    Case("avg_pool2d", (f32(1, 3, 12, 12),), lambda d: op.nn.avg_pool2d(d, (2, 2), (2, 2)), **SUMS),
    Case("adaptive_avg_pool2d", (f32(1, 3, 12, 12),), lambda d: op.nn.adaptive_avg_pool2d(d, (1, 1)), **SUMS),
    Case("layer_norm", (f32(4, 32), f32(32), f32(32)), lambda a, g, b: op.nn.layer_norm(a, g, b, axes=[-1]), **SUMS),
    Case("rms_norm", (f32(4, 32), f32(32)), lambda a, w: op.nn.rms_norm(a, w, axes=[-1]), **SUMS),
    Case("group_norm", (f32(1, 8, 6, 6), f32(8), f32(8)), lambda a, g, b: op.nn.group_norm(a, g, b, 4, 1, [2, 3]), **SUMS),
    Case("attention", (f32(1, 8, 2, 16), f32(1, 8, 2, 16), f32(1, 8, 2, 16)), op.nn.attention, **SUMS),
    Case("sum", (f32(8, 16),), lambda a: op.sum(a, axis=1), **SUMS),
    Case("mean", (f32(8, 16),), lambda a: op.mean(a, axis=0), **SUMS),
    Case("variance", (f32(8, 16),), lambda a: op.variance(a, axis=1), **SUMS),
    Case("argmax", (f32(8, 16),), lambda a: op.argmax(a, axis=1)),
    Case("permute_dims", (f32(3, 4, 5),), lambda a: op.permute_dims(a, (2, 0, 1))),
    Case("reshape", (f32(6, 8),), lambda a: op.reshape(a, (4, 12))),
    Case("concat", (f32(4, 6), f32(4, 3)), lambda a, b: op.concat([a, b], axis=1)),
    Case("strided_slice", (f32(20, 20),), lambda a: op.strided_slice(a, [0, 1], [1, 2], [15, 19], [2, 3])),
    Case("take", (f32(50, 8), i32(12, low=0, high=49)), lambda a, i: op.take(a, i, axis=0)),
    Case("where", (Input((8, 16), "bool"), f32(8, 16), f32(8, 16)), op.where),
    Case("astype", (f32(8, 16),), lambda a: op.astype(a, "int32")),
    Case("cumsum", (f32(4, 16),), lambda a: op.cumsum(a, axis=1), **SUMS),
    Case("sort", (f32(4, 16),), lambda a: op.sort(a, axis=1)),
    Case("topk", (f32(4, 16),), lambda a: op.topk(a, 3, axis=1, ret_type="values")),
    Case("tril", (f32(8, 8),), op.tril),
    Case("one_hot", (i32(10, low=0, high=5),), lambda i: op.one_hot(i, relax.prim_value(1.0), relax.prim_value(0.0), 6)),
    Case("clip", (f32(8, 16),), lambda a: op.clip(a, -1, 1)),
]


def relax_module(case: Case) -> tvm.IRModule:
    """Makes a module of Relax with one operator."""
    builder = relax.BlockBuilder()
    args = [relax.Var(f"p{at}", relax.TensorType(one.shape, one.dtype)) for at, one in enumerate(case.inputs)]
    with builder.function("main", args):
        with builder.dataflow():
            made = builder.emit(case.make(*args))
            out = builder.emit_output(made)
        builder.emit_func_output(out)
    return builder.get()
