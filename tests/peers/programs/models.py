"""Four small models, as Relax: each gives, from what it draws, the body of `main`."""

from tvm import relax
from tvm.relax import op as R

from draw import below, uniform

MODELS = {}


def model(make):
    MODELS[f"model.{make.__name__}"] = make
    return make


def weights(d, *shape):
    return d.input(shape, "float32", uniform(-0.5, 0.5))


@model
def mlp(d):
    x = d.input((3, 20))
    layers = [(weights(d, 20, 32), weights(d, 32)), (weights(d, 32, 17), weights(d, 17)), (weights(d, 17, 10), weights(d, 10))]

    def body(b):
        h = x
        for index, (w, bias) in enumerate(layers):
            h = b.emit(R.add(b.emit(R.matmul(h, w)), bias))
            h = b.emit(R.nn.gelu(h)) if index + 1 < len(layers) else b.emit(R.nn.softmax(h))
        return h

    return body


@model
def decoder(d):
    """A layer of a decoder: embedding, rotated positions, attention over a cache, a gated network, logits."""
    width, heads, length, past, vocabulary = 32, 4, 3, 5, 50
    head = width // heads
    tokens = d.input((1, length), "int64", below(vocabulary))
    embedding = weights(d, vocabulary, width)
    norms = [weights(d, width) for _ in range(3)]
    wq, wk, wv, wo = (weights(d, width, width) for _ in range(4))
    keys, values = weights(d, 1, past, heads, head), weights(d, 1, past, heads, head)
    cosines, sines = weights(d, 1, length, 1, head), weights(d, 1, length, 1, head)
    gate, up, down = weights(d, width, 64), weights(d, width, 64), weights(d, 64, width)

    def body(b):
        def rotated(x):
            halves = b.emit(R.split(x, 2, 3))
            turned = b.emit(R.concat([b.emit(R.negative(b.emit(relax.TupleGetItem(halves, 1)))), b.emit(relax.TupleGetItem(halves, 0))], 3))
            return b.emit(R.add(b.emit(R.multiply(x, cosines)), b.emit(R.multiply(turned, sines))))

        def projected(x, w):
            return b.emit(R.reshape(b.emit(R.matmul(x, w)), (1, length, heads, head)))

        x = b.emit(R.reshape(b.emit(R.take(embedding, b.emit(R.reshape(tokens, (length,))), 0)), (1, length, width)))
        h = b.emit(R.nn.rms_norm(x, norms[0], -1))
        q, k, v = rotated(projected(h, wq)), rotated(projected(h, wk)), projected(h, wv)
        k, v = b.emit(R.concat([keys, k], 1)), b.emit(R.concat([values, v], 1))
        attended = b.emit(R.nn.attention(q, k, v, causal_mask="BottomRight"))
        x = b.emit(R.add(x, b.emit(R.matmul(b.emit(R.reshape(attended, (1, length, width))), wo))))
        h = b.emit(R.nn.rms_norm(x, norms[1], -1))
        gated = b.emit(R.multiply(b.emit(R.nn.silu(b.emit(R.matmul(h, gate)))), b.emit(R.matmul(h, up))))
        x = b.emit(R.nn.rms_norm(b.emit(R.add(x, b.emit(R.matmul(gated, down)))), norms[2], -1))
        last = b.emit(R.strided_slice(x, [1], [length - 1], [length]))
        return b.emit(R.matmul(last, b.emit(R.permute_dims(embedding))))

    return body


@model
def residual(d):
    x = d.input((1, 3, 16, 16))
    stem = weights(d, 8, 3, 7, 7)
    blocks = [(weights(d, 8, 8, 3, 3), weights(d, 8, 8, 3, 3)), (weights(d, 12, 8, 3, 3), weights(d, 12, 12, 3, 3), weights(d, 12, 8, 1, 1))]
    channels = [8, 8, 8, 12, 12]
    norms = [[d.input((c,), "float32", uniform(0.5, 1.5)) for _ in range(4)] for c in channels]
    classifier, bias = weights(d, 12, 10), weights(d, 10)

    def body(b):
        def normal(h, index):
            return b.emit(relax.TupleGetItem(b.emit(R.nn.batch_norm(h, *norms[index], axis=1, training=False)), 0))

        h = b.emit(R.nn.relu(normal(b.emit(R.nn.conv2d(x, stem, (2, 2), 3)), 0)))
        h = b.emit(R.nn.max_pool2d(h, (3, 3), (2, 2), 1))
        for index, (first, second, *short) in enumerate(blocks):
            stride = (2, 2) if short else (1, 1)
            y = b.emit(R.nn.relu(normal(b.emit(R.nn.conv2d(h, first, stride, 1)), 1 + 2 * index)))
            y = normal(b.emit(R.nn.conv2d(y, second, (1, 1), 1)), 2 + 2 * index)
            h = b.emit(R.nn.conv2d(h, short[0], stride, 0)) if short else h
            h = b.emit(R.nn.relu(b.emit(R.add(h, y))))
        h = b.emit(R.reshape(b.emit(R.nn.adaptive_avg_pool2d(h, (1, 1))), (1, 12)))
        return b.emit(R.add(b.emit(R.matmul(h, classifier)), bias))

    return body


@model
def unet(d):
    x = d.input((1, 4, 8, 8))
    moments = d.input((1,), "float32", uniform(0, 1))
    entry, down, middle = weights(d, 8, 4, 3, 3), weights(d, 16, 8, 3, 3), weights(d, 16, 16, 3, 3)
    time = weights(d, 1, 16)
    up, last = weights(d, 8, 24, 3, 3), weights(d, 4, 8, 3, 3)
    norms = [(weights(d, c), weights(d, c)) for c in (8, 16, 8)]

    def body(b):
        def block(h, w, norm, stride=(1, 1)):
            h = b.emit(R.nn.conv2d(h, w, stride, 1))
            return b.emit(R.nn.silu(b.emit(R.nn.group_norm(h, *norm, 4, 1, [2, 3]))))

        first = block(x, entry, norms[0])
        low = block(first, down, norms[1], (2, 2))
        embedded = b.emit(R.matmul(b.emit(R.reshape(b.emit(R.sin(moments)), (1, 1))), time))
        low = b.emit(R.add(low, b.emit(R.reshape(embedded, (1, 16, 1, 1)))))
        low = b.emit(R.add(low, b.emit(R.nn.conv2d(low, middle, (1, 1), 1))))
        wide = b.emit(R.image.resize2d(low, (8, 8), layout="NCHW", method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor"))
        h = block(b.emit(R.concat([wide, first], 1)), up, norms[2])
        return b.emit(R.nn.conv2d(h, last, (1, 1), 1))

    return body
