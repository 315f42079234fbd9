"""Operators of Relax, each with how its inputs are drawn: name → (number of variants, what makes its result)."""

import numpy
from tvm import relax
from tvm.relax import op as R

from draw import ascending, below, distinct, exactly, special, uniform

OPERATORS = {}


def operator(name, variants=2):
    def note(make):
        OPERATORS[f"relax.{name}"] = (variants, make)
        return make

    return note


def function(name):
    found = R
    for part in name.split("."):
        found = getattr(found, part)
    return found


UNARY = {
    "abs": None, "acos": uniform(-0.9, 0.9), "acosh": uniform(1.1, 4), "asin": uniform(-0.9, 0.9), "asinh": None, "atan": None,
    "atanh": uniform(-0.9, 0.9), "ceil": None, "cos": None, "cosh": None, "erf": None, "exp": None, "floor": None,
    "isfinite": special, "isinf": special, "isnan": special, "log": uniform(0.1, 4), "negative": None, "round": None,
    "rsqrt": uniform(0.1, 4), "sigmoid": None, "sign": None, "sin": None, "sinh": None, "sqrt": uniform(0.1, 4), "square": None,
    "tan": uniform(-1.2, 1.2), "tanh": None, "trunc": None, "nn.relu": None, "nn.relu6": uniform(-3, 9), "nn.gelu": None, "nn.gelu_tanh": None,
    "nn.selu": None, "nn.silu": None, "nn.softplus": None, "nn.leakyrelu": None,
}
for _name, _fill in UNARY.items():
    operator(_name)(lambda d, name=_name, fill=_fill: function(name)(d.any(d.choice(("float32", "float32", "float16")), fill)))

operator("abs.integers")(lambda d: R.abs(d.any(d.choice(("int8", "int64")))))
operator("bitwise_not")(lambda d: R.bitwise_not(d.any(d.choice(("int32", "uint8")))))
operator("logical_not")(lambda d: R.logical_not(d.any("bool")))
operator("clip")(lambda d: R.clip(d.any(d.choice(("float32", "float64")), uniform(-9, 9)), relax.prim_value(-1.5), relax.prim_value(4.0)))
CASTS = ("float32", "float16", "int32", "int64", "uint8", "bool")
operator("astype", 6)(lambda d: R.astype(d.any(d.choice(CASTS), uniform(0, 100)), d.choice(CASTS)))

for _name in ("add", "subtract", "multiply", "maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    operator(_name, 3)(lambda d, name=_name: function(name)(*d.pair(d.choice(("float32", "float32", "float16", "int32", "int64")))))
for _name in ("divide", "mod", "floor_divide", "floor_mod"):
    operator(_name, 3)(lambda d, name=_name: function(name)(*d.pair(d.choice(("float32", "int32", "int64")), uniform(-20, 20), uniform(1, 5))))
operator("power")(lambda d: R.power(*d.pair("float32", uniform(0.1, 3))))
operator("atan2")(lambda d: R.atan2(*d.pair()))
operator("log_add_exp")(lambda d: R.log_add_exp(*d.pair()))
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    operator(_name)(lambda d, name=_name: function(name)(*d.pair(d.choice(("int32", "int64", "uint8")), uniform(0, 99), uniform(0, 99))))
for _name in ("left_shift", "right_shift"):
    operator(_name)(lambda d, name=_name: function(name)(*d.pair(d.choice(("int32", "int64")), uniform(0, 99), uniform(0, 7))))
for _name in ("logical_and", "logical_or", "logical_xor"):
    operator(_name)(lambda d, name=_name: function(name)(*d.pair("bool")))
operator("ewise_fma")(lambda d: (lambda s: R.ewise_fma(d.input(s), d.input(s), d.input(s)))(d.shape(2)))
operator("where", 3)(lambda d: (lambda s, t: R.where(d.input(s, "bool"), d.input(s, t), d.input(s, t)))(d.shape(2), d.choice(("float32", "int64"))))
operator("masked_fill")(lambda d: (lambda s: R.masked_fill(d.input(s), d.input(s, "bool"), relax.const(-1.0, "float32")))(d.shape(2)))

for _name in ("sum", "mean", "max", "min", "prod", "std", "variance"):
    operator(_name, 3)(
        lambda d, name=_name: function(name)(d.any("float32", uniform(0.5, 1.5), 3, 9), d.choice((None, 0, 1, [1, 2])), d.choice((False, True)))
    )
operator("sum.integers")(lambda d: R.sum(d.any(d.choice(("int32", "int64")), rank=2), d.choice((None, 0, 1))))
for _name in ("argmax", "argmin"):
    operator(_name, 3)(lambda d, name=_name: function(name)(d.any("float32", distinct, 2), d.choice((None, 0, 1)), d.choice((False, True))))
operator("cumsum", 3)(lambda d: R.cumsum(d.any(d.choice(("float32", "int64")), rank=2), d.choice((None, 0, 1)), exclusive=d.choice((False, True))))
operator("cumprod")(lambda d: R.cumprod(d.any("float32", uniform(0.5, 1.5), 2), d.choice((0, 1))))
operator("median", 2)(lambda d: R.median(d.any("float32", distinct, 2), d.choice((0, 1))))

operator("reshape")(lambda d: (lambda n, m: R.reshape(d.input((n, m, 2)), (2 * m, n)))(*d.shape(2)))
operator("flatten")(lambda d: R.flatten(d.any()))
operator("permute_dims", 3)(lambda d: R.permute_dims(d.any(d.choice(("float32", "int8")), rank=3), d.choice(([2, 0, 1], [0, 2, 1], None))))
operator("expand_dims")(lambda d: R.expand_dims(d.any(), [0, 1]))
operator("squeeze")(lambda d: R.squeeze(d.input((1, d.extent(), 1))))
operator("broadcast_to")(lambda d: (lambda n, m: R.broadcast_to(d.input((n, 1)), (3, n, m)))(*d.shape(2)))
operator("concat", 3)(lambda d: (lambda s: R.concat([d.input(s), d.input(s)], d.choice((0, 1))))(d.shape(2)))
operator("stack")(lambda d: (lambda s: R.stack([d.input(s), d.input(s)], d.choice((0, 1, 2))))(d.shape(2)))
operator("split", 3)(lambda d: R.split(d.input((d.extent(), 12)), d.choice((2, 3, [1, 5])), 1))
operator("tile")(lambda d: R.tile(d.any(rank=2, most=9), d.choice(((2,), (1, 3)))))
operator("repeat")(lambda d: R.repeat(d.any(rank=2, most=9), 2, d.choice((0, 1))))
operator("flip")(lambda d: R.flip(d.any(rank=2), d.choice((0, 1))))
operator("tril")(lambda d: R.tril(d.any(rank=2), d.choice((-1, 0, 1))))
operator("triu")(lambda d: R.triu(d.any(rank=2), d.choice((-1, 0, 1))))
operator("layout_transform")(lambda d: R.layout_transform(d.input((8, d.extent())), lambda i, j: (i // 4, j, i % 4)))
operator("meshgrid")(lambda d: R.meshgrid([d.any(rank=1), d.any(rank=1)], "ij"))
operator("strided_slice", 3)(lambda d: R.strided_slice(d.input((9, 13)), [0, 1], *d.choice((([1, 2], [8, 12], [2, 3]), ([3, 0], [5, 13], [1, 1])))))
operator("dynamic_strided_slice")(
    lambda d: R.dynamic_strided_slice(
        d.input((9, 13)), d.input((2,), "int64", exactly([1, 2])), d.input((2,), "int64", exactly([8, 12])), d.input((2,), "int64", exactly([2, 3]))
    )
)
operator("slice_scatter")(lambda d: R.slice_scatter(d.input((9, 5)), d.input((3, 5)), 1, 7, 2, 0))
operator("reverse_sequence")(lambda d: R.reverse_sequence(d.input((7, 3)), d.input((3,), "int32", uniform(1, 7)), 0, 1))
operator("full")(lambda d: R.full(d.shape(2), relax.const(3, "float32"), "float32"))
operator("full_like")(lambda d: R.full_like(d.any(), relax.const(3, "float32")))
operator("ones")(lambda d: R.ones(d.shape(2), "int64"))
operator("zeros_like")(lambda d: R.zeros_like(d.any()))
operator("eye")(lambda d: R.eye(d.extent(), d.extent(), 1, "float32"))
operator("eye_like")(lambda d: R.eye_like(d.any(rank=2), 0))
operator("arange")(lambda d: R.arange(2, d.choice((9, 24)), 3, "int64"))
operator("hamming_window")(lambda d: R.hamming_window(d.extent() + 1, True, 0.54, 0.46, "float32"))
operator("collapse_sum_to")(lambda d: (lambda n, m: R.collapse_sum_to(d.input((3, n, m)), (n, 1)))(*d.shape(2)))

operator("take", 4)(lambda d: (lambda n, m: R.take(d.input((n, m)), d.input(d.shape(1), d.choice(("int32", "int64")), below(n)), 0, d.choice(("fast", "clip", "wrap"))))(*d.shape(2)))
operator("gather_elements")(lambda d: (lambda n, m: R.gather_elements(d.input((n, m)), d.input((n, 5), "int64", below(m)), 1))(*d.shape(2)))
operator("gather_nd")(lambda d: R.gather_nd(d.input((5, 7)), d.input((2, 3, 2), "int64", below(5))))
operator("index_tensor")(lambda d: R.index_tensor(d.input((7, 5)), [d.input((4,), "int64", below(7)), d.input((4,), "int64", below(5))]))
operator("index_put")(lambda d: R.index_put(d.input((7, 5)), (d.input((3,), "int64", exactly([0, 3, 5])), d.input((3,), "int64", exactly([4, 1, 2]))), d.input((3,)), d.choice((False, True))))
operator("scatter_elements", 3)(lambda d: R.scatter_elements(d.input((6, 5)), d.input((4, 5), "int64", distinct_rows), d.input((4, 5)), 0, d.choice(("add", "update", "max"))))
operator("scatter_nd", 3)(lambda d: R.scatter_nd(d.input((7, 3)), d.input((3, 1), "int64", exactly([5, 0, 2])), d.input((3, 3)), d.choice(("update", "add", "max"))))
operator("one_hot")(lambda d: R.one_hot(d.any("int64", below(6), 1), relax.prim_value(1.0), relax.prim_value(0.0), 6))
operator("bucketize")(lambda d: R.bucketize(d.any("float32", uniform(-60, 60), 2), d.input((6,), "float32", ascending), d.choice((False, True)), d.choice((False, True))))
operator("multinomial_from_uniform")(
    lambda d: R.multinomial_from_uniform(d.input((3, 4), "float32", uniform(0.1, 1)), d.input((3, 1), "float32", uniform(0, 1)), d.input((3, 1), "int64", exactly([0, 1, 2])))
)


def distinct_rows(rng, shape, dtype):
    """Different numbers in each column, so that no element is scattered to twice."""
    return numpy.stack([rng.permutation(6)[: shape[0]] for _ in range(shape[1])], axis=1).astype(dtype)


operator("sort")(lambda d: R.sort(d.any(d.choice(("float32", "int64")), distinct, 2), d.choice((0, 1)), d.choice((False, True))))
operator("argsort")(lambda d: R.argsort(d.any("float32", distinct, 2), d.choice((0, 1)), d.choice((False, True)), d.choice(("int32", "int64"))))
operator("topk")(lambda d: R.topk(d.input((3, 9), "float32", distinct), 4, 1, "both", d.choice((True, False)), d.choice(("int32", "int64"))))

operator("matmul", 4)(lambda d: (lambda n, k, m, b: R.matmul(d.input((*b, n, k)), d.input((*b[-1:], k, m))))(*d.shape(3), d.choice(((), (2,), (2, 3)))))
operator("matmul.integers")(lambda d: R.matmul(d.input((5, 7), "int8"), d.input((7, 3), "int8"), "int32"))
operator("linear")(lambda d: (lambda n, k, m: R.linear(d.input((n, k)), d.input((m, k)), d.input((m,))))(*d.shape(3)))
operator("einsum")(lambda d: R.einsum([d.input((4, 5)), d.input((5, 3))], "ij,jk->ik"))
operator("outer")(lambda d: R.outer(d.any(rank=1), d.any(rank=1)))

operator("nn.softmax", 3)(lambda d: R.nn.softmax(d.any(d.choice(("float32", "float16")), rank=2), d.choice((0, 1))))
operator("nn.log_softmax")(lambda d: R.nn.log_softmax(d.any(rank=2), 1))
operator("nn.layer_norm", 3)(lambda d: (lambda n: R.nn.layer_norm(d.input((2, 5, n)), d.input((n,)), d.input((n,)), -1))(d.extent() + 1))
operator("nn.rms_norm")(lambda d: (lambda n: R.nn.rms_norm(d.input((2, 5, n)), d.input((n,)), -1))(d.extent() + 1))
operator("nn.group_norm")(lambda d: R.nn.group_norm(d.input((2, 6, 5, 4)), d.input((6,)), d.input((6,)), 3, 1, [2, 3]))
operator("nn.instance_norm")(lambda d: R.nn.instance_norm(d.input((2, 5, 7)), d.input((5,)), d.input((5,)), 1, [2]))
operator("nn.batch_norm")(
    lambda d: R.nn.batch_norm(d.input((2, 5, 3, 4)), *[d.input((5,), "float32", uniform(0.5, 2)) for _ in range(4)], axis=1, training=d.choice((False, True)))
)
operator("nn.prelu")(lambda d: R.nn.prelu(d.input((2, 5, 3)), d.input((5,)), 1))
operator("nn.attention", 4)(
    lambda d: (
        lambda b, s, t, h: R.nn.attention(
            d.input((b, s, 2, h)), d.input((b, t, 2, h)), d.input((b, t, 2, h)), causal_mask=d.choice((None, "TopLeft", "BottomRight"))
        )
    )(d.choice((1, 2)), d.extent(9), d.extent(9), d.choice((4, 7, 8)))
)
operator("nn.attention_bias", 2)(lambda d: R.nn.attention(d.input((1, 5, 2, 4)), d.input((1, 6, 2, 4)), d.input((1, 6, 2, 4)), d.input((1, 2, 5, 6))))
operator("nn.dropout")(lambda d: R.nn.dropout(d.any()))
operator("nn.cross_entropy_with_logits")(lambda d: R.nn.cross_entropy_with_logits(d.input((5, 4)), d.input((5, 4))))
operator("nn.nll_loss", 2)(lambda d: R.nn.nll_loss(d.input((5, 4)), d.input((5,), "int64", below(4)), d.input((4,), "float32", uniform(0.5, 1)), d.choice(("mean", "sum"))))
operator("nn.pad", 2)(lambda d: R.nn.pad(d.input((5, 7)), [1, 0, 2, 1], d.choice(("constant", "reflect", "replicate", "circular"))))
operator("nn.pixel_shuffle")(lambda d: R.nn.pixel_shuffle(d.input((1, 8, 3, 5)), 2))
operator("nn.batch_flatten")(lambda d: R.nn.batch_flatten(d.input((2, 3, 5))))

operator("nn.conv1d", 3)(lambda d: R.nn.conv1d(d.input((2, 4, 13)), d.input((6, 2, 3)), d.choice((1, 2)), d.choice((0, 1)), d.choice((1, 2)), 2))
operator("nn.conv2d", 5)(
    lambda d: R.nn.conv2d(d.input((1, 4, 7, 9)), d.input((6, 4, 3, d.choice((1, 3)))), (d.choice((1, 2)), 1), d.choice((0, 1)), d.choice((1, 2)))
)
operator("nn.conv2d.groups", 2)(lambda d: R.nn.conv2d(d.input((1, 4, 7, 9)), d.input((4, 1, 3, 3)), 1, d.choice((0, 1)), 1, 4))
operator("nn.conv2d.nhwc", 2)(lambda d: R.nn.conv2d(d.input((1, 7, 9, 4)), d.input((3, 3, 4, 5)), 1, d.choice((0, 1)), data_layout="NHWC", kernel_layout="HWIO"))
operator("nn.conv3d")(lambda d: R.nn.conv3d(d.input((1, 2, 5, 6, 7)), d.input((3, 2, 3, 3, 3)), 1, d.choice((0, 1))))
operator("nn.conv1d_transpose")(lambda d: R.nn.conv1d_transpose(d.input((1, 3, 7)), d.input((3, 2, 3)), d.choice((1, 2)), d.choice((0, 1))))
operator("nn.conv2d_transpose", 2)(lambda d: R.nn.conv2d_transpose(d.input((1, 3, 5, 4)), d.input((3, 2, 3, 3)), d.choice((1, 2)), d.choice((0, 1))))
operator("nn.conv3d_transpose")(lambda d: R.nn.conv3d_transpose(d.input((1, 2, 3, 4, 3)), d.input((2, 2, 3, 3, 3))))
for _kind in ("max", "avg"):
    operator(f"nn.{_kind}_pool1d")(lambda d, kind=_kind: function(f"nn.{kind}_pool1d")(d.input((1, 3, 13)), 3, d.choice((1, 2)), d.choice((0, 1))))
    operator(f"nn.{_kind}_pool2d", 3)(lambda d, kind=_kind: function(f"nn.{kind}_pool2d")(d.input((1, 3, 9, 7)), (2, 3), d.choice((1, 2)), d.choice((0, 1)), ceil_mode=d.choice((False, True))))
    operator(f"nn.{_kind}_pool3d")(lambda d, kind=_kind: function(f"nn.{kind}_pool3d")(d.input((1, 2, 5, 6, 7)), (2, 2, 3), (1, 2, 1)))
operator("nn.adaptive_avg_pool1d")(lambda d: R.nn.adaptive_avg_pool1d(d.input((1, 3, 9)), d.choice((1, 4))))
operator("nn.adaptive_avg_pool2d", 2)(lambda d: R.nn.adaptive_avg_pool2d(d.input((1, 3, 9, 7)), (d.choice((1, 3, 4)), 2)))
operator("nn.adaptive_avg_pool3d")(lambda d: R.nn.adaptive_avg_pool3d(d.input((1, 2, 5, 4, 3)), (2, 2, 3)))

for _method in ("nearest_neighbor", "linear", "cubic"):
    operator(f"image.resize2d.{_method}")(
        lambda d, method=_method: R.image.resize2d(d.input((1, 2, 5, 7)), (d.choice((3, 8)), 9), None, "NCHW", method, d.choice(("half_pixel", "align_corners", "asymmetric")))
    )
operator("image.resize3d")(lambda d: R.image.resize3d(d.input((1, 1, 3, 4, 5)), (5, 3, 6)))
operator("image.grid_sample")(lambda d: R.image.grid_sample(d.input((1, 2, 5, 6)), d.input((1, 2, 3, 4), "float32", uniform(-0.9, 0.9)), d.choice(("bilinear", "nearest"))))
operator("image.affine_grid")(lambda d: R.image.affine_grid(d.input((2, 2, 3)), (4, 5)))
ROIS = [0, 0, 0, 4, 4, 0, 1, 1, 5, 3]
operator("roi_align")(lambda d: R.roi_align(d.input((1, 2, 6, 6)), d.input((2, 5), "float32", exactly(ROIS)), (2, 3), 1.0, 2))
operator("roi_pool")(lambda d: R.roi_pool(d.input((1, 2, 6, 6)), d.input((2, 5), "float32", exactly(ROIS)), (2, 2), 1.0))
operator("get_valid_counts")(lambda d: R.get_valid_counts(d.input((1, 7, 6), "float32", uniform(0, 1)), 0.4, 0, 1))
operator("grad.max_pool2d_backward")(lambda d: R.grad.max_pool2d_backward(d.input((1, 2, 3, 3)), d.input((1, 2, 6, 6), "float32", distinct), (2, 2), (2, 2)))
operator("grad.avg_pool2d_backward")(lambda d: R.grad.avg_pool2d_backward(d.input((1, 2, 3, 3)), d.input((1, 2, 6, 6)), (2, 2), (2, 2)))
operator("grad.take_backward")(lambda d: R.grad.take_backward(d.input((4, 5)), d.input((7, 5)), d.input((4,), "int64", exactly([0, 3, 5, 6])), 0))
operator("grad.nll_loss_backward")(lambda d: R.grad.nll_loss_backward(d.input(()), d.input((5, 4)), d.input((5,), "int64", below(4)), d.input((4,), "float32", uniform(0.5, 1)), "mean"))
operator("quantize")(lambda d: R.quantize(d.input((4, 5)), relax.const(0.5, "float32"), relax.const(1, "int8"), 1, "int8"))
operator("dequantize")(lambda d: R.dequantize(d.input((4, 5), "int8", uniform(-99, 99)), relax.const(0.5, "float32"), relax.const(1, "int8"), 1, "float32"))
