"""What the peers of `cargo xtask bench --peers --set speed` call for each kernel of bench/kernels, and what the results are to be.

A *way* is a function of the arrays of a kernel's parameters, in their order. It writes its result into the last, or returns it.
A peer may have several ways; peers.py takes the one that is the fastest on the machine. A kernel that stands in no table of a peer
is not a function of it.

A *reference* returns (index of the result, its values in float64, bounds of the error), computed in float64, for kernels that the
interpreter is too slow for. With u = 2^-24, half the distance of 1 to the next float32: a sum of n products in any order is off by at
most n u (sum of |products|), to first order in u. A rounded sum of many terms in one tensor (`sum`) would have no use for that bound,
as it would be larger than the sum: there the roundings are taken as independent, and six standard deviations are allowed.
"""

import math

import numpy as np

U = 2.0**-24
SQRT_HALF = np.float32(math.sqrt(0.5))


def bf16_to_float64(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


# References.


def ref_sum(A, _B):
    partial = np.cumsum(A, dtype=np.float64)
    return 1, partial[-1:], np.array([6 * U * math.sqrt(float(np.dot(partial, partial)))])


def ref_transpose(A, _B):
    return 1, A.T, np.zeros(1)


def ref_matmul(A, B, _C):
    a, b = A.astype(np.float64), B.astype(np.float64)
    return 2, a @ b, (A.shape[1] + 1) * U * (np.abs(a) @ np.abs(b))


def ref_matmul_u8s8(A, B, _C):
    return 2, A.astype(np.float64) @ B.astype(np.float64), np.zeros(1)


def ref_matmul_bf16(A, B, _C):
    a, b = bf16_to_float64(A), bf16_to_float64(B)
    product = a @ b
    # A product of two bfloat16 is a float32. Peers give their result in bfloat16, which rounds it to 8 bits.
    return 2, product, (A.shape[1] + 1) * U * (np.abs(a) @ np.abs(b)) + 2.0**-8 * np.abs(product)


def convolved(A, W):
    padded = np.pad(A[0], ((0, 0), (1, 1), (1, 1)))
    rows, columns = A.shape[2:]
    taps = [padded[:, y : y + rows, x : x + columns].reshape(A.shape[1], -1) for y in range(3) for x in range(3)]
    products = sum(W[:, :, k // 3, k % 3] @ tap for k, tap in enumerate(taps))
    return products.reshape(1, W.shape[0], rows, columns)


def ref_conv2d(A, W, _O):
    a, w = A.astype(np.float64), W.astype(np.float64)
    # oneDNN may take Winograd's algorithm, whose sums are of larger terms than the products: a factor of ten.
    return 2, convolved(a, w), 10 * (9 * A.shape[1] + 1) * U * convolved(np.abs(a), np.abs(w))


def ref_attention(Q, K, V, _O):
    q, k, v = (x.astype(np.float64) for x in (Q, K, V))
    scale = 1 / math.sqrt(Q.shape[-1])
    scores = q @ k.swapaxes(-1, -2) * scale
    # An error of a score by d is one of its weight by the factor exp(d), in the numerator and in the sum below it.
    off = (Q.shape[-1] + 3) * U * (np.abs(q) @ np.abs(k).swapaxes(-1, -2) * scale).max(-1, keepdims=True)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    # exp within 4 units of the last place, and as much for what its argument was rounded by.
    spread = (scores.max(-1, keepdims=True) - scores.min(-1, keepdims=True)) * U
    relative = 2 * off + 2 * spread + (2 * K.shape[-2] + 20) * U
    return 3, weights @ v, relative * (weights @ np.abs(v))


REFERENCES = {
    "sum": ref_sum,
    "transpose": ref_transpose,
    "matmul_512": ref_matmul,
    "matmul_1024": ref_matmul,
    "matmul_2048": ref_matmul,
    "matmul_1000_777_333": ref_matmul,
    "matmul_u8s8": ref_matmul_u8s8,
    "matmul_bf16": ref_matmul_bf16,
    "conv2d": ref_conv2d,
    "attention": ref_attention,
}


# numpy.


def np_softmax(A, B):
    np.subtract(A, A.max(axis=1, keepdims=True), out=B)
    np.exp(B, out=B)
    np.divide(B, B.sum(axis=1, keepdims=True), out=B)


def np_layernorm(A, G, Bt, O):
    np.subtract(A, A.mean(axis=1, keepdims=True), out=O)
    deviation = np.sqrt(np.einsum("ij,ij->i", O, O) * np.float32(1 / A.shape[1]) + np.float32(1e-5))
    np.divide(O, deviation[:, None], out=O)
    np.multiply(O, G, out=O)
    np.add(O, Bt, out=O)


def np_attention(Q, K, V, O):
    scores = np.matmul(Q, K.swapaxes(-1, -2))
    scores *= np.float32(0.125)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    np.matmul(scores, V, out=O)


def np_matmul(A, B, C):
    np.matmul(A, B, out=C)


def np_blocked_transpose(A, B):
    """In blocks of 64 x 64."""
    for i in range(0, A.shape[0], 64):
        for j in range(0, A.shape[1], 64):
            B[j : j + 64, i : i + 64] = A[i : i + 64, j : j + 64].T


def np_bf16(A, B):
    """By a shift of the bits."""
    wide = B.view(np.uint32)
    wide[...] = A
    np.left_shift(wide, 16, out=wide)


NUMPY = {
    "exp": [lambda A, B: np.exp(A, out=B)],
    "tanh": [lambda A, B: np.tanh(A, out=B)],
    "sum": [lambda A, B: np.sum(A, out=B[0, ...])],
    "layernorm": [np_layernorm],
    "softmax": [np_softmax],
    "add": [lambda A, B, C: np.add(A, B, out=C)],
    "cast_f16_f32": [lambda A, B: np.copyto(B, A)],
    "cast_bf16_f32": [np_bf16],
    "transpose": [lambda A, B: np.copyto(B, A.T), np_blocked_transpose],
    "matmul_512": [np_matmul],
    "matmul_1024": [np_matmul],
    "matmul_2048": [np_matmul],
    "matmul_1000_777_333": [np_matmul],
    "attention": [np_attention],
}


# torch, eager.


def torch_ways(torch):
    f = torch.nn.functional

    def bf16_by_float32(A, B, C):
        """Both matrices to float32 first."""
        torch.matmul(A.float(), B.float(), out=C)

    def bf16(A, B, _C):
        return torch.matmul(A, B)

    def int_mm(A, B, C):
        torch._int_mm(A, B, out=C)

    def attention_by_parts(Q, K, V, O):
        """In three steps."""
        torch.matmul(torch.softmax(torch.matmul(Q, K.mT) * 0.125, -1), V, out=O)

    def gelu_in_steps(A, B, X, O):
        """In place after the addition."""
        torch.add(A, B, out=O)
        torch._C._nn.gelu(O, out=O)
        O.add_(X)

    matmul = [lambda A, B, C: torch.matmul(A, B, out=C)]
    return {
        "exp": [lambda A, B: torch.exp(A, out=B)],
        "tanh": [lambda A, B: torch.tanh(A, out=B)],
        "gelu": [lambda A, B: torch._C._nn.gelu(A, out=B)],
        "sum": [lambda A, B: torch.sum(A, 0, keepdim=True, out=B)],
        "layernorm": [lambda A, G, Bt, O: f.layer_norm(A, (A.shape[1],), G, Bt, 1e-5)],
        "softmax": [lambda A, B: torch.softmax(A, 1, out=B)],
        "add": [lambda A, B, C: torch.add(A, B, out=C)],
        "cast_f16_f32": [lambda A, B: B.copy_(A)],
        "cast_bf16_f32": [lambda A, B: B.copy_(A)],
        "transpose": [lambda A, B: B.copy_(A.T)],
        "matmul_512": matmul,
        "matmul_1024": matmul,
        "matmul_2048": matmul,
        "matmul_1000_777_333": matmul,
        "matmul_u8s8": [int_mm],
        "matmul_bf16": [bf16, bf16_by_float32],
        "conv2d": [lambda A, W, _O: f.conv2d(A, W, padding=1)],
        "attention": [lambda Q, K, V, _O: f.scaled_dot_product_attention(Q, K, V), attention_by_parts],
        "bias_gelu_residual": [lambda A, B, X, _O: f.gelu(A + B) + X, gelu_in_steps],
    }


def ways(peer, extras, _threads):
    """The ways of a peer, by kernel."""
    return {"numpy": lambda: NUMPY, "torch": lambda: torch_ways(extras["torch"])}.get(peer, dict)()


def as_torch(array):
    import torch

    if not isinstance(array, np.ndarray):
        return array
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if array.dtype == np.uint16 else tensor


def of_torch(tensor):
    import torch

    tensor = tensor.contiguous()
    # Both as float32, which the result is compared as.
    return tensor.float().numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()


def bound_call(peer, way, arrays):
    """The call of a way with its arguments, and what has the kernel's parameters afterwards, as arrays."""
    returned = [None]
    if peer == "torch":
        import torch

        tensors = [as_torch(array) for array in arrays]

        def call():
            with torch.inference_mode():
                returned[0] = way(*tensors)
    else:

        def call():
            returned[0] = way(*arrays)

    def result(all_arrays):
        if returned[0] is None or returned[0] is all_arrays[-1]:
            return all_arrays
        last = of_torch(returned[0]) if peer == "torch" else np.asarray(returned[0])
        return [*all_arrays[:-1], last]

    return call, result
