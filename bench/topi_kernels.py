"""Kernels of TVM's library TOPI at realistic sizes, as TVM writes them: unscheduled.

`KERNELS[name]()` returns the tensors of a kernel, inputs first. Tensors of indices are of uint8, of which every value is an index.
"""

from tvm import te, topi

KERNELS = {}


def kernel(name):
    def add(make):
        KERNELS[name] = make
        return make

    return add


def tensor(*shape, dtype="float32", name="a"):
    return te.placeholder(shape, dtype=dtype, name=name)


IMAGE = (1, 64, 56, 56)
ROWS = (512, 1024)
TOKENS = (128, 768)


def unary(name, function, shape=(1024, 1024)):
    def make():
        a = tensor(*shape)
        return [a, function(a)]

    KERNELS[name] = make


def binary(name, function, one=(1024, 1024), other=(1024, 1024)):
    def make():
        a, b = tensor(*one), tensor(*other, name="b")
        return [a, b, function(a, b)]

    KERNELS[name] = make


unary("exp", topi.exp)
unary("tanh", topi.tanh)
unary("sigmoid", topi.sigmoid)
unary("erf", topi.erf)
unary("sqrt", lambda a: topi.sqrt(topi.abs(a)))
unary("rsqrt", lambda a: topi.rsqrt(topi.abs(a) + topi.full_like(a, 1.0)))
unary("log", lambda a: topi.log(topi.abs(a) + topi.full_like(a, 1.0)))
unary("sin", topi.sin)
unary("round", topi.round)
unary("relu", topi.nn.relu)
unary("leaky_relu", lambda a: topi.nn.leaky_relu(a, 0.1))
unary("clip", lambda a: topi.clip(a, -1.0, 1.0))
unary("cast_f16", lambda a: topi.cast(a, "float16"))
binary("add", topi.add)
binary("add_broadcast", topi.add, (1024, 1024), (1024,))
binary("multiply", topi.multiply)
binary("divide", topi.divide)
binary("maximum", topi.maximum)
binary("power", lambda a, b: topi.power(topi.abs(a), b))
unary("sum_rows", lambda a: topi.sum(a, axis=1), ROWS)
unary("sum_columns", lambda a: topi.sum(a, axis=0), ROWS)
unary("sum_all", lambda a: topi.sum(a), ROWS)
unary("max_rows", lambda a: topi.max(a, axis=1), ROWS)
unary("argmax", lambda a: topi.argmax(a, axis=1), ROWS)
unary("mean_image", lambda a: topi.sum(a, axis=[2, 3]) * te.const(1 / 3136, "float32"), IMAGE)
unary("softmax", lambda a: topi.nn.softmax(a, axis=-1), ROWS)
unary("log_softmax", lambda a: topi.nn.log_softmax(a, axis=-1), ROWS)
unary("max_pool", lambda a: topi.nn.pool2d(a, [3, 3], [2, 2], [1, 1], [1, 1, 1, 1], "max"), IMAGE)
unary("avg_pool", lambda a: topi.nn.pool2d(a, [2, 2], [2, 2], [1, 1], [0, 0, 0, 0], "avg"), IMAGE)
unary("global_avg_pool", lambda a: topi.nn.global_pool(a, "avg"), IMAGE)
unary("transpose", lambda a: topi.transpose(a, [0, 2, 1, 3]), (1, 512, 8, 64))
unary("strided_slice", lambda a: topi.strided_slice(a, [0, 0], [1024, 1024], [2, 1]))
unary("pad", lambda a: topi.nn.pad(a, [0, 0, 1, 1], [0, 0, 1, 1]), IMAGE)
binary("concatenate", lambda a, b: topi.concatenate([a, b], 1))
binary("dense", lambda a, b: topi.nn.dense(a, b), TOKENS, (768, 768))
binary("matmul", lambda a, b: topi.matmul(a, b), (256, 256), (256, 256))
binary("batch_matmul", lambda a, b: topi.nn.batch_matmul(a, b), (8, 128, 64), (8, 128, 64))
binary("conv2d_nchw", lambda a, w: topi.nn.conv2d_nchw(a, w, 1, 1, 1), (1, 32, 28, 28), (32, 32, 3, 3))
binary("conv2d_nhwc", lambda a, w: topi.nn.conv2d_nhwc(a, w, 1, 1, 1), (1, 28, 28, 32), (3, 3, 32, 32))
binary("depthwise_conv2d", lambda a, w: topi.nn.depthwise_conv2d_nchw(a, w, 1, 1, 1), IMAGE, (64, 1, 3, 3))
unary("resize2d", lambda a: topi.image.resize2d(a, (0, 0, 56, 56), [112, 112], "NCHW", "linear", "align_corners"), (1, 16, 56, 56))


@kernel("conv2d_winograd")
def _():
    a, w = tensor(1, 32, 28, 28), tensor(32, 32, 3, 3, name="w")
    return [a, w, topi.nn.conv2d_winograd_nchw(a, w, 1, 1, 1, "float32")]


@kernel("layer_norm")
def _():
    a, gamma, beta = tensor(*ROWS), tensor(1024, name="gamma"), tensor(1024, name="beta")
    return [a, gamma, beta, topi.nn.layer_norm(a, gamma, beta, [1])]


@kernel("group_norm")
def _():
    a, gamma, beta = tensor(*IMAGE), tensor(64, name="gamma"), tensor(64, name="beta")
    return [a, gamma, beta, topi.nn.group_norm(a, gamma, beta, 8, 1, [2, 3])]


@kernel("gather")
def _():
    a, indices = tensor(256, 1024), tensor(512, 1024, dtype="uint8", name="indices")
    return [a, indices, topi.gather(a, 0, indices)]


@kernel("take")
def _():
    a, indices = tensor(4096, 768), tensor(512, dtype="uint8", name="indices")
    return [a, indices, topi.take(a, indices, axis=0)]


@kernel("one_hot")
def _():
    indices = tensor(1024, dtype="int32")
    return [indices, topi.one_hot(indices, te.const(1.0, "float32"), te.const(0.0, "float32"), 512, -1, "float32")]


@kernel("cumsum")
def _():
    a = tensor(*ROWS)
    return [a, topi.cumsum(a, axis=1)]


def module(name):
    """The module of a kernel, whose function is called `main`."""
    import tvm

    function = te.create_prim_func(KERNELS[name]()).with_attr({"global_symbol": "main", "tirx.noalias": True})
    return tvm.IRModule({"main": function})
