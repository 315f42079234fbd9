"""Operators of TOPI, each with how its inputs are drawn: name → (number of variants, what makes its result).

A maker takes a `Draw` and gives a tensor of TE, or several.
"""

from tvm import te, tirx, topi

from draw import ascending, below, distinct, exactly, special, uniform

OPERATORS = {}

INTEGERS = ("int8", "int32", "int64", "uint8", "int16")


def operator(name, variants=2):
    def note(make):
        OPERATORS[f"topi.{name}"] = (variants, make)
        return make

    return note


# Elementwise

UNARY = {
    "abs": None, "acos": uniform(-0.9, 0.9), "acosh": uniform(1.1, 4), "asin": uniform(-0.9, 0.9), "asinh": None, "atan": None,
    "atanh": uniform(-0.9, 0.9), "ceil": None, "cos": None, "cosh": None, "erf": None, "exp": None, "fast_exp": None, "floor": None,
    "identity": None, "isfinite": special, "isinf": special, "isnan": special, "log": uniform(0.1, 4),
    "log10": uniform(0.1, 4), "log2": uniform(0.1, 4), "negative": None, "round": None, "rsqrt": uniform(0.1, 4),
    "sigmoid": None, "sign": None, "sin": None, "sinh": None, "sqrt": uniform(0.1, 4), "tan": uniform(-1.2, 1.2), "tanh": None,
    "trunc": None, "fast_erf": None, "fast_tanh": None, "nn.relu": None, "nn.softplus": None,
}
FLOAT32_ALONE = ("fast_exp", "fast_erf", "fast_tanh")


def function(name):
    found = topi
    for part in name.split("."):
        found = getattr(found, part)
    return found


def unary(name, fill):
    dtypes = ("float32",) if name in FLOAT32_ALONE else ("float32", "float32", "float64", "float16")
    operator(name, 3)(lambda d: function(name)(d.any(d.choice(dtypes), fill)))


for _name, _fill in UNARY.items():
    unary(_name, _fill)

operator("abs.integers", 2)(lambda d: topi.abs(d.any(d.choice(("int8", "int32", "int64")))))
operator("sign.integers", 2)(lambda d: topi.sign(d.any(d.choice(("int8", "int32", "int64")))))
operator("bitwise_not")(lambda d: topi.bitwise_not(d.any(d.choice(INTEGERS), uniform(-100, 100))))
operator("logical_not")(lambda d: topi.logical_not(d.any("bool")))

CASTS = ("float32", "float16", "float64", "int8", "int32", "int64", "uint8", "bool")
operator("cast", 12)(lambda d: topi.cast(d.any(d.choice(CASTS), uniform(0, 100)), d.choice(CASTS)))
operator("reinterpret", 3)(lambda d: topi.reinterpret(d.any("float32"), d.choice(("int32", "uint32"))))
operator("clip", 3)(lambda d: topi.clip(d.any(d.choice(("float32", "int32", "uint8")), uniform(-9, 9)), 1, 4))
operator("full")(lambda d: topi.full(d.shape(2), d.choice(("float32", "int64")), 3))
operator("full_like")(lambda d: topi.full_like(d.any(), 1.5))
operator("elemwise_sum")(lambda d: (lambda s: topi.elemwise_sum([d.input(s) for _ in range(3)]))(d.shape(2)))
operator("fixed_point_multiply")(
    lambda d: topi.fixed_point_multiply(d.any("int32", uniform(-1000, 1000)), 1395864371, d.choice((-2, 0, 3)))
)

# Two operands that broadcast

ARITHMETIC = ("add", "subtract", "multiply", "maximum", "minimum")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
for _name in ARITHMETIC + COMPARISONS:
    operator(_name, 4)(
        lambda d, name=_name: getattr(topi, name)(*d.pair(d.choice(("float32", "float32", "float64", "int32", "int64", "int8"))))
    )
for _name in ("divide", "mod", "floor_divide", "floor_mod"):
    operator(_name, 4)(
        lambda d, name=_name: getattr(topi, name)(*d.pair(d.choice(("float32", "int32", "int64")), uniform(-20, 20), uniform(1, 5)))
    )
operator("power")(lambda d: topi.power(*d.pair("float32", uniform(0.1, 3))))
operator("atan2")(lambda d: topi.atan2(*d.pair(d.choice(("float32", "float64")))))
operator("log_add_exp")(lambda d: topi.log_add_exp(*d.pair()))
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    operator(_name, 3)(lambda d, name=_name: getattr(topi, name)(*d.pair(d.choice(INTEGERS), uniform(-99, 99), uniform(-99, 99))))
for _name in ("left_shift", "right_shift"):
    operator(_name)(lambda d, name=_name: getattr(topi, name)(*d.pair(d.choice(("int32", "int64")), uniform(0, 99), uniform(0, 7))))
for _name in ("logical_and", "logical_or", "logical_xor"):
    operator(_name)(lambda d, name=_name: getattr(topi, name)(*d.pair("bool")))


@operator("where", 4)
def where(d):
    shape = d.shape(d.choice((1, 2, 3)))
    dtype = d.choice(("float32", "int64", "float16"))
    return topi.where(d.input(shape, "bool"), d.input(shape, dtype), d.input(shape, dtype))


# Reductions


def reduced(d, dtype="float32", fill=None):
    rank = d.choice((1, 2, 3, 4))
    x = d.any(dtype, fill, rank, 13)
    axes = sorted(set(d.choice(range(rank)) for _ in range(d.choice((1, 1, 2)))))
    return x, {"axis": d.choice((None, axes)), "keepdims": d.choice((False, True))}


def reduction(name, dtypes, fill=None):
    def make(d):
        x, options = reduced(d, d.choice(dtypes), fill)
        return getattr(topi, name)(x, **options)

    operator(name, 5)(make)


reduction("sum", ("float32", "float32", "float16", "int32", "int64", "float64"))
reduction("prod", ("float32", "int32"), uniform(0.5, 1.5))
reduction("max", ("float32", "int32", "int8", "float64"))
reduction("min", ("float32", "int32", "uint8"))
reduction("all", ("bool",))
reduction("any", ("bool",))


def arg_reduction(name):
    def make(d):
        rank = d.choice((1, 2, 3))
        x = d.any(d.choice(("float32", "int32")), distinct, rank, 13)
        return getattr(topi, name)(x, axis=d.choice((None, *range(rank))), keepdims=d.choice((False, True)))

    operator(name, 4)(make)


arg_reduction("argmax")
arg_reduction("argmin")
operator("cumsum", 4)(lambda d: topi.cumsum(d.any(d.choice(("float32", "int32", "int64")), None, 2), axis=d.choice((None, 0, 1))))
operator("cumprod", 3)(lambda d: topi.cumprod(d.any("float32", uniform(0.5, 1.5), 2), axis=d.choice((0, 1)), exclusive=True))


@operator("collapse_sum")
def collapse_sum(d):
    m, n = d.shape(2)
    return topi.collapse_sum(d.input((3, m, n)), (m, 1))


# Shapes

operator("transpose", 4)(lambda d: topi.transpose(d.any(rank=3, dtype=d.choice(("float32", "int8"))), d.choice(((2, 0, 1), (0, 2, 1), (2, 1, 0)))))
operator("expand_dims")(lambda d: topi.expand_dims(d.any(), 1, d.choice((1, 2))))
operator("squeeze")(lambda d: topi.squeeze(d.input((1, d.extent(), 1, d.extent()))))
operator("flip")(lambda d: topi.flip(d.any(rank=2), d.choice((0, 1))))
operator("repeat")(lambda d: topi.repeat(d.any(rank=2, most=9), d.choice((2, 3)), d.choice((0, 1))))
operator("tile")(lambda d: topi.tile(d.any(rank=2, most=9), d.choice(((2,), (1, 3), (2, 1, 2)))))
operator("trilu", 3)(lambda d: topi.trilu(d.any(rank=2), tirx.const(d.choice((-1, 0, 2)), "int32"), d.choice((False, True))))
operator("broadcast_to")(lambda d: (lambda n, m: topi.broadcast_to(d.input((n, 1)), (3, n, m)))(*d.shape(2)))
operator("layout_transform", 3)(
    lambda d: topi.layout_transform(d.input((1, 8, d.extent(5), d.extent(5))), "NCHW", d.choice(("NHWC", "NCHW4c", "CNHW")))
)
operator("eye")(lambda d: topi.eye(d.extent(), d.extent(), d.choice((-1, 0, 1)), d.choice(("float32", "int32"))))
operator("arange")(lambda d: topi.arange(tirx.const(2, "int32"), tirx.const(d.choice((9, 24)), "int32"), tirx.const(3, "int32"), "int32"))
operator("hamming_window")(lambda d: topi.hamming_window(d.extent() + 1, True, 0.54, 0.46, "float32"))
operator("sliding_window")(lambda d: topi.sliding_window(d.input((9, 12)), 0, d.choice(((2, 3), (4, 4))), (1, 2)))
operator("matrix_set_diag")(lambda d: (lambda n: topi.matrix_set_diag(d.input((2, n, n)), d.input((2, n))))(d.extent(9)))
operator("shape")(lambda d: topi.shape(d.any()))
operator("tensor_size")(lambda d: topi.tensor_size(d.any()))


@operator("reshape", 3)
def reshape(d):
    m, n = d.shape(2)
    return topi.reshape(d.input((m, n, 2)), d.choice(((m * n, 2), (2 * m * n,), (n, 2 * m), (1, m, 2 * n))))


@operator("concatenate", 3)
def concatenate(d):
    shape = d.shape(2)
    return topi.concatenate([d.input(shape) for _ in range(d.choice((2, 3)))], d.choice((0, 1)))


@operator("stack")
def stack(d):
    shape = d.shape(2)
    return topi.stack([d.input(shape) for _ in range(d.choice((2, 3)))], d.choice((0, 1, 2)))


operator("split", 3)(lambda d: topi.split(d.input((d.extent(), 12)), d.choice((2, 3, [1, 5], [4])), 1))
operator("meshgrid")(lambda d: topi.meshgrid([d.any(rank=1), d.any(rank=1)], d.choice(("ij", "xy"))))
operator("strided_slice", 4)(
    lambda d: topi.strided_slice(d.input((9, 13)), *d.choice((([1, 2], [8, 12], [2, 3]), ([0, 12], [9, 0], [1, -1]), ([3, 0], [5, 13], [1, 1]))))
)
operator("strided_set")(
    lambda d: topi.strided_set(
        d.input((9, 12)), d.input((3, 5)), d.input((2,), "int32", exactly([1, 2])), d.input((2,), "int32", exactly([7, 12])),
        d.input((2,), "int32", exactly([2, 2])),
    )
)
operator("dynamic_strided_slice")(
    lambda d: topi.dynamic_strided_slice(
        d.input((9, 13)), d.input((2,), "int64", exactly([1, 2])), d.input((2,), "int64", exactly([8, 12])),
        d.input((2,), "int64", exactly([2, 3])), [4, 4],
    )
)
operator("slice_scatter")(lambda d: topi.slice_scatter(d.input((9, 5)), d.input((3, 5)), 1, 7, 2, 0))
operator("reverse_sequence")(lambda d: topi.reverse_sequence(d.input((7, 3)), d.input((3,), "int32", uniform(1, 7)), 0, 1))
operator("sequence_mask", 3)(
    lambda d: (lambda n, b: topi.sequence_mask(d.input((n, b, d.extent(9))), d.input((b,), "int32", uniform(0, n)), -1.0, 0))(d.extent(), d.extent(9))
)

# Gathering and scattering


@operator("take", 5)
def take(d):
    n, m = d.shape(2)
    axis = d.choice((None, 0, 1))
    bound = {None: n * m, 0: n, 1: m}[axis]
    return topi.take(d.input((n, m)), d.input(d.shape(d.choice((1, 2)), 9), d.choice(("int32", "int64")), below(bound)), axis, mode=d.choice(("fast", "clip", "wrap")))


@operator("gather", 3)
def gather(d):
    n, m = d.shape(2)
    return topi.gather(d.input((n, m)), 1, d.input((n, 5), d.choice(("int32", "int64")), below(m)))


operator("gather_nd", 3)(lambda d: (lambda n, m: topi.gather_nd(d.input((n, m)), d.input((2, 7), "int32", below(min(n, m)))))(*d.shape(2)))
operator("adv_index")(lambda d: topi.adv_index(d.input((7, 5)), [d.input((4,), "int64", below(7)), d.input((4,), "int64", below(5))]))
operator("index_tensor")(lambda d: topi.index_tensor(d.input((7, 5)), [d.input((4,), "int64", below(7)), d.input((4,), "int64", below(5))]))
operator("one_hot", 3)(
    lambda d: topi.one_hot(d.any("int32", below(6), 1), tirx.const(1, "float32"), tirx.const(0, "float32"), 6, d.choice((-1, 0)), "float32")
)
operator("scatter_elements", 5)(
    lambda d: topi.scatter_elements(d.input((6, 5)), d.input((4, 5), "int64", below(6)), d.input((4, 5)), 0, d.choice(("add", "mul", "min", "max")))
)
operator("scatter_nd", 3)(lambda d: topi.scatter_nd(d.input((7, 3)), d.input((1, 5), "int64", below(7)), d.input((5, 3)), d.choice(("add", "min", "max"))))
operator("index_put", 2)(lambda d: topi.index_put(d.input((7, 5)), [d.input((3,), "int64", exactly([0, 3, 5])), d.input((3,), "int64", exactly([4, 1, 2]))], d.input((3,)), d.choice((False, True))))
operator("searchsorted", 3)(
    lambda d: (lambda n: topi.searchsorted(d.input((3, n), "float32", ascending), d.input((3, 5), "float32", uniform(-60, 60)), d.choice((False, True))))(d.extent())
)
operator("unravel_index")(lambda d: topi.unravel_index(d.any("int32", below(30), 1), d.input((2,), "int32", exactly([5, 6]))))
operator("sparse_to_dense")(lambda d: topi.sparse_to_dense(d.input((3,), "int32", exactly([1, 4, 5])), (7,), d.input((3,)), 0.0))

# Order

operator("sort", 3)(lambda d: topi.sort(d.any(d.choice(("float32", "int32", "int64")), distinct, 2), axis=d.choice((0, 1)), is_ascend=d.choice((0, 1))))
operator("argsort", 3)(lambda d: topi.argsort(d.any(d.choice(("float32", "int32")), distinct, 2), axis=d.choice((0, 1)), dtype="int64"))
operator("topk", 3)(lambda d: topi.topk(d.input((3, 9), "float32", distinct), k=d.choice((1, 4)), axis=1, ret_type=d.choice(("both", "values", "indices"))))

# Linear algebra


@operator("matmul", 5)
def matmul(d):
    n, k, m = d.shape(3)
    left, right = d.choice((False, True)), d.choice((False, True))
    dtype = d.choice(("float32", "float32", "int32", "float64"))
    a, b = d.input((k, n) if left else (n, k), dtype), d.input((m, k) if right else (k, m), dtype)
    return topi.matmul(a, b, left, right)


operator("tensordot")(lambda d: (lambda n, k, m: topi.tensordot(d.input((n, k)), d.input((k, m)), 1))(*d.shape(3)))
operator("einsum", 3)(
    lambda d: (lambda n, k, m, s: topi.einsum(s, d.input((n, k)), d.input((k, m))))(*d.shape(3), d.choice(("ij,jk->ik", "ij,jk->ki", "ij,jk->i")))
)
operator("nn.dense", 4)(
    lambda d: (lambda n, k, m: topi.nn.dense(d.input((n, k)), d.input((m, k)), d.choice((None, d.input((m,))))))(*d.shape(3))
)
operator("nn.batch_matmul", 3)(lambda d: (lambda n, k, m: topi.nn.batch_matmul(d.input((3, n, k)), d.input((3, m, k))))(*d.shape(3, 13)))
operator("nn.matmul", 2)(lambda d: (lambda n, k, m: topi.nn.matmul(d.input((n, k)), d.input((k, m))))(*d.shape(3)))
operator("nn.dense_pack")(lambda d: topi.nn.dense_pack(d.input((3, 8)), d.input((2, 8, 4))))

# Normalisation and activation

operator("nn.softmax", 4)(lambda d: topi.nn.softmax(d.any(rank=2), axis=d.choice((0, 1, -1))))
operator("nn.log_softmax", 2)(lambda d: topi.nn.log_softmax(d.any(rank=2), axis=1))
operator("nn.fast_softmax", 2)(lambda d: topi.nn.fast_softmax(d.any(rank=2), axis=1))
operator("nn.leaky_relu")(lambda d: topi.nn.leaky_relu(d.any(), 0.1))
operator("nn.prelu")(lambda d: (lambda c: topi.nn.prelu(d.input((2, c, 5)), d.input((c,)), 1))(d.extent()))
operator("nn.layer_norm", 3)(lambda d: (lambda n: topi.nn.layer_norm(d.input((5, n)), d.input((n,)), d.input((n,)), [1]))(d.extent() + 1))
operator("nn.rms_norm", 2)(lambda d: (lambda n: topi.nn.rms_norm(d.input((5, n)), d.input((n,)), [1]))(d.extent() + 1))
operator("nn.group_norm")(lambda d: topi.nn.group_norm(d.input((2, 6, 5)), d.input((6,)), d.input((6,)), 3, 1, [2]))
operator("nn.instance_norm")(lambda d: topi.nn.instance_norm(d.input((2, 5, 7)), d.input((5,)), d.input((5,)), 1, [2]))


@operator("nn.batch_norm", 2)
def batch_norm(d):
    channels = d.extent(9)
    small = [d.input((channels,), "float32", uniform(0.5, 2)) for _ in range(4)]
    return topi.nn.batch_norm(d.input((2, channels, 5, 3)), *small, axis=1, epsilon=1e-5)[0]


operator("nn.lrn")(lambda d: topi.nn.lrn(d.input((1, 7, 3, 4)), 3))
operator("nn.scale_shift_nchw")(lambda d: topi.nn.scale_shift_nchw(d.input((1, 5, 3, 4)), d.input((5,)), d.input((5,))))
operator("nn.scale_shift_nhwc")(lambda d: topi.nn.scale_shift_nhwc(d.input((1, 3, 4, 5)), d.input((5,)), d.input((5,))))
operator("nn.flatten")(lambda d: topi.nn.flatten(d.input((2, 3, 4, 5))))
operator("nn.dilate")(lambda d: topi.nn.dilate(d.input((3, 5)), [2, d.choice((1, 3))]))
operator("nn.fifo_buffer")(lambda d: topi.nn.fifo_buffer(d.input((2, 3)), d.input((2, 7)), 1))
operator("nn.nll_loss", 2)(
    lambda d: topi.nn.nll_loss(d.input((5, 4)), d.input((5,), "int32", below(4)), d.input((4,), "float32", uniform(0.5, 1)), d.choice(("mean", "sum", "none")), -100)
)

# Padding

for _name in ("pad", "mirror_pad", "reflect_pad", "replicate_pad", "circular_pad"):
    operator(f"nn.{_name}", 2)(lambda d, name=_name: getattr(topi.nn, name)(d.input((5, 7)), [1, d.choice((0, 2))], [2, 1]))
operator("nn.space_to_depth")(lambda d: topi.nn.space_to_depth(d.input((1, 3, 4, 6)), 2))
operator("nn.depth_to_space")(lambda d: topi.nn.depth_to_space(d.input((1, 8, 3, 5)), 2, mode=d.choice(("DCR", "CRD"))))
operator("nn.space_to_batch_nd")(lambda d: topi.nn.space_to_batch_nd(d.input((2, 4, 6)), [2], [0], [0]))
operator("nn.batch_to_space_nd")(lambda d: topi.nn.batch_to_space_nd(d.input((4, 3, 5)), [tirx.const(2, "int32")], [1], [0]))

# Convolutions


def pair_of(d, options):
    return (d.choice(options), d.choice(options))


@operator("nn.conv2d_nchw", 5)
def conv2d_nchw(d):
    c, o = d.extent(5), d.extent(5)
    dtype = d.choice(("float32", "float32", "int32"))
    x, w = d.input((1, c, 7, 9), dtype), d.input((o, c, 3, d.choice((1, 3))), dtype)
    return topi.nn.conv2d_nchw(x, w, pair_of(d, (1, 2)), pair_of(d, (0, 1, 2)), pair_of(d, (1, 2)))


@operator("nn.conv2d_nhwc", 3)
def conv2d_nhwc(d):
    c, o = d.extent(5), d.extent(5)
    return topi.nn.conv2d_nhwc(d.input((1, 7, 9, c)), d.input((3, 3, c, o)), pair_of(d, (1, 2)), pair_of(d, (0, 1)), 1)


operator("nn.conv2d_hwcn")(lambda d: topi.nn.conv2d_hwcn(d.input((7, 6, 3, 2)), d.input((3, 3, 3, 4)), 1, d.choice((0, 1)), 1))
operator("nn.conv1d", 3)(lambda d: topi.nn.conv1d_ncw(d.input((2, 3, 13)), d.input((4, 3, 3)), d.choice((1, 2)), d.choice((0, 1)), d.choice((1, 2))))
operator("nn.conv1d_nwc")(lambda d: topi.nn.conv1d_nwc(d.input((2, 13, 3)), d.input((3, 3, 4)), d.choice((1, 2)), d.choice((0, 1))))
operator("nn.conv3d_ncdhw")(lambda d: topi.nn.conv3d_ncdhw(d.input((1, 2, 5, 6, 7)), d.input((3, 2, 3, 3, 3)), 1, d.choice((0, 1)), 1, 1))
operator("nn.conv3d_ndhwc")(lambda d: topi.nn.conv3d_ndhwc(d.input((1, 5, 6, 7, 2)), d.input((3, 3, 3, 2, 3)), 1, d.choice((0, 1)), 1, 1))
operator("nn.depthwise_conv2d_nchw", 3)(lambda d: (lambda c: topi.nn.depthwise_conv2d_nchw(d.input((1, c, 7, 8)), d.input((c, d.choice((1, 2)), 3, 3)), d.choice((1, 2)), d.choice((0, 1)), 1))(d.extent(5)))
operator("nn.depthwise_conv2d_nhwc")(lambda d: (lambda c: topi.nn.depthwise_conv2d_nhwc(d.input((1, 7, 8, c)), d.input((3, 3, c, 1)), 1, 1, 1))(d.extent(5)))
operator("nn.group_conv2d_nchw", 2)(lambda d: topi.nn.group_conv2d_nchw(d.input((1, 4, 6, 7)), d.input((6, 2, 3, 3)), d.choice((1, 2)), d.choice((0, 1)), 1, 2))
operator("nn.group_conv2d_nhwc")(lambda d: topi.nn.group_conv2d_nhwc(d.input((1, 6, 7, 4)), d.input((3, 3, 2, 6)), 1, d.choice((0, 1)), 1, 2))
operator("nn.group_conv1d_ncw")(lambda d: topi.nn.group_conv1d_ncw(d.input((1, 4, 9)), d.input((6, 2, 3)), 1, d.choice((0, 1)), 1, 2))
operator("nn.conv2d_transpose_nchw", 3)(lambda d: topi.nn.conv2d_transpose_nchw(d.input((1, 3, 5, 4)), d.input((3, 2, 3, 3)), pair_of(d, (1, 2)), pair_of(d, (0, 1)), "float32", (0, 0)))
operator("nn.group_conv2d_transpose_nchw")(lambda d: topi.nn.group_conv2d_transpose_nchw(d.input((1, 4, 5, 4)), d.input((4, 2, 3, 3)), (1, 1), (1, 1), "float32", (0, 0), 2))
operator("nn.conv1d_transpose_ncw")(lambda d: topi.nn.conv1d_transpose_ncw(d.input((1, 3, 7)), d.input((3, 2, 3)), d.choice((1, 2)), d.choice((0, 1)), "float32", (0,)))
operator("nn.group_conv1d_transpose_ncw")(lambda d: topi.nn.group_conv1d_transpose_ncw(d.input((1, 4, 7)), d.input((4, 2, 3)), 1, 0, "float32", (0,), 2))
operator("nn.conv3d_transpose_ncdhw")(lambda d: topi.nn.conv3d_transpose_ncdhw(d.input((1, 2, 3, 4, 3)), d.input((2, 2, 3, 3, 3)), (1, 1, 1), (1, 1, 1), "float32", (0, 0, 0)))
operator("nn.conv2d_NCHWc")(lambda d: topi.nn.conv2d_NCHWc(d.input((1, 2, 6, 7, 4)), d.input((2, 2, 3, 3, 4, 4)), 1, d.choice((0, 1)), 1, "NCHW4c", "NCHW4c"))
operator("nn.conv2d_winograd_nchw")(lambda d: topi.nn.conv2d_winograd_nchw(d.input((1, 3, 8, 8)), d.input((4, 3, 3, 3)), 1, 1, 1, "float32"))
operator("nn.conv2d_winograd_nhwc")(lambda d: topi.nn.conv2d_winograd_nhwc(d.input((1, 8, 8, 3)), d.input((3, 3, 3, 4)), 1, 1, 1, "float32"))
operator("nn.conv2d_winograd_weight_transform")(lambda d: topi.nn.conv2d_winograd_weight_transform(d.input((4, 3, 3, 3)), d.choice((2, 4))))
operator("nn.conv3d_winograd_weight_transform")(lambda d: topi.nn.conv3d_winograd_weight_transform(d.input((2, 3, 3, 3, 3)), 2))
operator("nn.correlation_nchw")(lambda d: topi.nn.correlation_nchw(d.input((1, 3, 6, 6)), d.input((1, 3, 6, 6)), 1, 2, 1, 1, 2, d.choice((True, False))))
operator("nn.deformable_conv2d_nchw")(lambda d: topi.nn.deformable_conv2d_nchw(d.input((1, 2, 6, 6)), d.input((1, 18, 6, 6), "float32", uniform(-0.4, 0.4)), d.input((3, 2, 3, 3)), 1, 1, 1, 1, 1, "float32"))
operator("nn.deformable_conv2d_nhwc")(lambda d: topi.nn.deformable_conv2d_nhwc(d.input((1, 6, 6, 2)), d.input((1, 6, 6, 18), "float32", uniform(-0.4, 0.4)), d.input((3, 3, 2, 3)), 1, 1, 1, 1, 1, "float32"))
operator("nn.bitpack")(lambda d: topi.nn.bitpack(d.input((2, 64, 3), "uint8", below(4)), 2, 1, 1, "uint32"))
operator("nn.bitserial_dense")(lambda d: topi.nn.bitserial_dense(d.input((2, 64), "uint8", below(2)), d.input((3, 64), "uint8", below(2)), 1, 1, "uint32", "int16", False))
operator("nn.binary_dense")(lambda d: topi.nn.binary_dense(d.input((3, 4), "uint32", below(2**31)), d.input((5, 4), "uint32", below(2**31))))
operator("nn.binarize_pack")(lambda d: topi.nn.binarize_pack(d.input((3, 64)), 1))

# Pooling

for _kind in ("max", "avg"):
    operator(f"nn.pool1d.{_kind}", 2)(
        lambda d, kind=_kind: topi.nn.pool1d(d.input((1, 3, 13)), (3,), (d.choice((1, 2)),), (1,), (d.choice((0, 1)), 1), kind, d.choice((False, True)))
    )
    operator(f"nn.pool2d.{_kind}", 4)(
        lambda d, kind=_kind: topi.nn.pool2d(
            d.input((1, 3, 9, 7)), pair_of(d, (2, 3)), pair_of(d, (1, 2)), (1, 1), (d.choice((0, 1)), 1, 0, 1), kind, d.choice((False, True)),
            count_include_pad=d.choice((False, True)),
        )
    )
    operator(f"nn.pool3d.{_kind}", 2)(
        lambda d, kind=_kind: topi.nn.pool3d(d.input((1, 2, 5, 6, 7)), (2, 2, 3), (1, 2, 1), (1, 1, 1), (0,) * 6, kind)
    )
    operator(f"nn.global_pool.{_kind}")(lambda d, kind=_kind: topi.nn.global_pool(d.input((2, 3, d.extent(9), d.extent(9))), kind))
    operator(f"nn.adaptive_pool.{_kind}", 2)(lambda d, kind=_kind: topi.nn.adaptive_pool(d.input((1, 3, 9, 7)), (d.choice((1, 3, 4)), 2), kind))
    operator(f"nn.adaptive_pool1d.{_kind}")(lambda d, kind=_kind: topi.nn.adaptive_pool1d(d.input((1, 3, 9)), (d.choice((1, 4)),), kind))
    operator(f"nn.adaptive_pool3d.{_kind}")(lambda d, kind=_kind: topi.nn.adaptive_pool3d(d.input((1, 2, 5, 4, 3)), (2, 2, 3), kind))
operator("nn.pool_grad.max")(lambda d: topi.nn.pool_grad(d.input((1, 2, 3, 3)), d.input((1, 2, 6, 6), "float32", distinct), (2, 2), (2, 2), (0, 0, 0, 0), "max"))
operator("nn.pool_grad.avg")(lambda d: topi.nn.pool_grad(d.input((1, 2, 3, 3)), d.input((1, 2, 6, 6)), (2, 2), (2, 2), (0, 0, 0, 0), "avg"))

# Images and detection

for _method in ("nearest_neighbor", "linear", "cubic"):
    operator(f"image.resize2d.{_method}", 2)(
        lambda d, method=_method: topi.image.resize2d(
            d.input((1, 2, 5, 7)), (0.0, 0.0, 0.0, 0.0), (d.choice((3, 8)), 9), "NCHW", method, d.choice(("half_pixel", "align_corners", "asymmetric")),
            "floor" if method == "nearest_neighbor" else "",
        )
    )
operator("image.resize1d")(lambda d: topi.image.resize1d(d.input((1, 2, 7)), (0.0, 0.0), (d.choice((4, 11)),), "NCW", "linear"))
operator("image.resize3d")(lambda d: topi.image.resize3d(d.input((1, 1, 3, 4, 5)), (0.0,) * 6, (5, 3, 6), "NCDHW", "linear"))
operator("image.affine_grid")(lambda d: topi.image.affine_grid(d.input((2, 2, 3)), (4, 5)))
operator("image.grid_sample", 3)(
    lambda d: topi.image.grid_sample(d.input((1, 2, 5, 6)), d.input((1, 2, 3, 4), "float32", uniform(-0.9, 0.9)), d.choice(("bilinear", "nearest")), "NCHW", d.choice(("zeros", "border", "reflection")), d.choice((True, False)))
)
operator("image.crop_and_resize")(
    lambda d: topi.image.crop_and_resize(d.input((1, 2, 6, 7)), d.input((3, 4), "float32", exactly([0, 0, 1, 1, 0.1, 0.2, 0.7, 0.8, 0.3, 0, 0.9, 0.6])), d.input((3,), "int32", exactly([0, 0, 0])), (4, 4), "NCHW", extrapolation_value=0.0)
)
operator("image.dilation2d_nchw")(lambda d: topi.image.dilation2d_nchw(d.input((1, 2, 6, 7)), d.input((2, 3, 3)), 1, d.choice((0, 1)), 1))
operator("image.dilation2d_nhwc")(lambda d: topi.image.dilation2d_nhwc(d.input((1, 6, 7, 2)), d.input((3, 3, 2)), 1, d.choice((0, 1)), 1))
operator("nn.upsampling", 2)(lambda d: topi.nn.upsampling(d.input((1, 2, 4, 5)), 2, 2, "NCHW", d.choice(("nearest_neighbor", "bilinear"))))
operator("nn.upsampling3d")(lambda d: topi.nn.upsampling3d(d.input((1, 1, 3, 4, 3)), 2, 2, 2))
ROIS = [0, 0, 0, 4, 4, 0, 1, 1, 5, 3]
operator("vision.roi_align", 2)(lambda d: topi.vision.roi_align_nchw(d.input((1, 2, 6, 6)), d.input((2, 5), "float32", exactly(ROIS)), (2, 3), 1.0, d.choice((b"avg", b"max")).decode(), 2))
operator("vision.roi_pool")(lambda d: topi.vision.roi_pool_nchw(d.input((1, 2, 6, 6)), d.input((2, 5), "float32", exactly(ROIS)), (2, 2), 1.0))
operator("vision.get_valid_counts")(lambda d: topi.vision.get_valid_counts(d.input((1, 7, 6), "float32", uniform(0, 1)), 0.4, 0, 1))
operator("vision.multibox_transform_loc")(
    lambda d: topi.vision.multibox_transform_loc(d.input((1, 3, 4)), d.input((1, 16)), d.input((1, 4, 4), "float32", uniform(0.1, 0.9)), (0.1, 0.1, 0.2, 0.2))
)

# Signals

operator("stft")(
    lambda d: topi.stft(d.input((2, 20)), 8, 4, 8, d.input((8,)), d.choice((False, True)), True, (2, 5, 4, 2))
)
operator("dft", 2)(lambda d: topi.dft(d.input((2, 8)), d.input((2, 8)), tirx.const(d.choice((0, 1)), "bool")))


@operator("te.matmul_scheduled", 1)
def matmul_of_te(d):
    a, b = d.input((16, 16)), d.input((16, 16))
    k = te.reduce_axis((0, 16), "k")
    return te.compute((16, 16), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), "C")
