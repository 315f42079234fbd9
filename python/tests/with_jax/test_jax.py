"""Kernels in programs of jax: JAX-1 to JAX-6."""

import doctest
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import chipdock
import chipdock.jax

jax.config.update("jax_enable_x64", True)

ADD = """
@T.prim_func(s_tir=True)
def add(A: T.Buffer(("n",), "DTYPE"), B: T.Buffer((n,), "DTYPE"), C: T.Buffer((n,), "DTYPE")):
    n = T.int32()
    for i in range(n):
        with T.sblock("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi] + B[vi]
"""
MATMUL = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def matmul(A: T.Buffer(("m", "k"), "float64"), B: T.Buffer((k, "n"), "float64"), C: T.Buffer((m, n), "float64")):
        m, k, n = T.int32(), T.int32(), T.int32()
        for i, j, p in T.grid(m, n, k):
            with T.sblock("C"):
                vi, vj, vp = T.axis.remap("SSR", [i, j, p])
                with T.init():
                    C[vi, vj] = T.float64(0.0)
                C[vi, vj] = C[vi, vj] + A[vi, vp] * B[vp, vj]

    @T.prim_func(s_tir=True)
    def gradients(
        grad_C: T.Buffer(("m", "n"), "float64"), A: T.Buffer((m, "k"), "float64"), B: T.Buffer((k, n), "float64"),
        grad_A: T.Buffer((m, k), "float64"), grad_B: T.Buffer((k, n), "float64"),
    ):
        m, n, k = T.int32(), T.int32(), T.int32()
        for i, p, j in T.grid(m, k, n):
            with T.sblock("grad_A"):
                vi, vp, vj = T.axis.remap("SSR", [i, p, j])
                with T.init():
                    grad_A[vi, vp] = T.float64(0.0)
                grad_A[vi, vp] = grad_A[vi, vp] + grad_C[vi, vj] * B[vp, vj]
        for p, j, i in T.grid(k, n, m):
            with T.sblock("grad_B"):
                vp, vj, vi = T.axis.remap("SSR", [p, j, i])
                with T.init():
                    grad_B[vp, vj] = T.float64(0.0)
                grad_B[vp, vj] = grad_B[vp, vj] + A[vi, vp] * grad_C[vi, vj]
"""
SCALE = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def scale(s: T.float64, k: T.int32, A: T.Buffer(("n",), "float64"), C: T.Buffer((n + k,), "float64")):
        n = T.int32()
        for i in range(n + k):
            with T.sblock("C"):
                vi = T.axis.spatial(n + k, i)
                C[vi] = T.if_then_else(vi < n, A[vi], T.float64(0)) * s

    @T.prim_func(s_tir=True)
    def scale_gradient(
        s: T.float64, k: T.int32, A: T.Buffer(("n",), "float64"), grad_C: T.Buffer((n + k,), "float64"),
        grad_A: T.Buffer((n,), "float64"),
    ):
        n = T.int32()
        for i in range(n):
            with T.sblock("grad_A"):
                vi = T.axis.spatial(n, i)
                grad_A[vi] = grad_C[vi] * s
"""

BETWEEN = ADD.replace("DTYPE", "float32").replace(", B:", ", s: T.float32, B:")
HALF = """
@T.prim_func(s_tir=True)
def half(grad_C: T.Buffer(("n",), "float64"), grad_A: T.Buffer((n,), "float64")):
    n = T.int32()
    for i in range(n):
        with T.sblock("grad_A"):
            vi = T.axis.spatial(n, i)
            grad_A[vi] = T.float64(7) * grad_C[vi]
"""


def compiled(text, dtype="float32"):
    return chipdock.compile(text.replace("DTYPE", dtype), "c")


@pytest.fixture(scope="module")
def matmul():
    return chipdock.jax.ffi_call(compiled(MATMUL), "matmul", backward="gradients")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64"])
def test_element_types(dtype):
    add = chipdock.jax.ffi_call(compiled(ADD, dtype))
    a, b = jnp.array([1, 2, 3], dtype), jnp.array([4, 5, 6], dtype)
    for called in (add, jax.jit(add)):
        assert called(a, b).dtype == a.dtype and called(a, b).tolist() == (a + b).tolist()


def test_programs_are_compiled_with_it(matmul):
    program = jax.jit(lambda a, b: jnp.maximum(matmul(a * 2, b), 0).sum())
    for rows in (1, 3, 6):
        a, b = np.random.rand(rows, 4) - 0.5, np.random.rand(4, 5)
        assert np.allclose(program(a, b), np.maximum(2 * a @ b, 0).sum())
    assert jax.eval_shape(matmul, jax.ShapeDtypeStruct((3, 4), "float64"), jax.ShapeDtypeStruct((4, 5), "float64")).shape == (3, 5)


def test_gradients_are_those_of_the_backward_kernel(matmul):
    from jax.test_util import check_grads

    a, b = np.random.rand(3, 4), np.random.rand(4, 5)
    check_grads(matmul, (a, b), order=1, modes=["rev"])
    found = jax.jit(jax.grad(lambda a, b: (matmul(a, b) ** 2).sum(), argnums=(0, 1)))(a, b)
    expected = jax.grad(lambda a, b: ((a @ b) ** 2).sum(), argnums=(0, 1))(a, b)
    assert all(np.allclose(one, other) for one, other in zip(found, expected))


def test_a_batch_is_mapped(matmul):
    a, b = np.random.rand(6, 3, 4), np.random.rand(4, 5)
    assert np.allclose(jax.vmap(matmul, in_axes=(0, None))(a, b), a @ b)
    found = jax.vmap(jax.grad(lambda a: matmul(a, b).sum()))(a)
    assert np.allclose(found, np.broadcast_to(b.sum(axis=1), (6, 3, 4)))


def test_numbers_are_attributes():
    scale = chipdock.jax.ffi_call(compiled(SCALE), "scale", backward="scale_gradient")
    a = np.arange(3.0)
    assert scale(2.5, 2, a).tolist() == [0, 2.5, 5, 0, 0]
    assert jax.jit(scale, static_argnums=(0, 1))(2.5, 0, a).tolist() == [0, 2.5, 5]
    assert jax.grad(lambda a: scale(2.5, 2, a).sum())(a).tolist() == [2.5] * 3
    # A gradient that the backward kernel does not write is zero.
    partly = chipdock.jax.ffi_call(compiled(ADD, "float64"), backward=(compiled(HALF), "half"))
    assert [one.tolist() for one in jax.grad(lambda a, b: partly(a, b).sum(), argnums=(0, 1))(a, a)] == [[7.0] * 3, [0.0] * 3]
    with pytest.raises(TypeError, match="known when the call is traced"):
        jax.jit(chipdock.jax.ffi_call(compiled(SCALE), "scale"))(2.5, 2, a)


def test_arrays_without_elements(matmul):
    assert matmul(np.zeros((0, 4)), np.zeros((4, 5))).shape == (0, 5)


def test_wrong_arguments_are_refused(matmul):
    a, b = np.ones((3, 4)), np.ones((4, 5))
    for called in (matmul, jax.jit(matmul)):
        with pytest.raises(ValueError, match="axis 0 of B is k = 4, found 3"):
            called(a, a)
        with pytest.raises(ValueError, match="A has 2 axes"):
            called(a[0], b)
        with pytest.raises(TypeError, match="B is float64, found float32"):
            called(a, b.astype(np.float32))
        with pytest.raises(TypeError, match="found 1|takes 2|2 arguments"):
            called(a)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (ADD, {"function": "nothing"}, "expected one of add"),
        (MATMUL, {}, "expected the name of one"),
        (ADD, {"outputs": 0}, "written in place"),
        (ADD, {"outputs": 3}, "outputs: expected a number of buffers"),
        (ADD, {"backward": "add"}, "expected buffers grad_A, grad_B"),
        (BETWEEN, {}, "a scalar stands between"),
    ],
)
def test_bad_calls_are_said(text, options, message):
    with pytest.raises(ValueError, match=message):
        chipdock.jax.ffi_call(compiled(text), **options)


def test_a_failing_kernel_raises():
    text = ADD.replace("n = T.int32()", 'n = T.int32()\n    assert n < 3, "at most two elements"')
    add = chipdock.jax.ffi_call(compiled(text))
    assert add(jnp.ones(2, "float32"), jnp.ones(2, "float32")).tolist() == [2.0, 2.0]
    with pytest.raises(Exception, match="at most two elements"):
        jax.block_until_ready(add(jnp.ones(3, "float32"), jnp.ones(3, "float32")))


def test_the_example_of_the_front_page_runs(monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[3])
    found = doctest.testmod(chipdock.jax)
    assert found.attempted > 3 and found.failed == 0


def test_without_jax_the_import_says_what_to_install():
    code = "import sys; sys.modules['jax_tvm_ffi'] = None; import chipdock, chipdock.jax"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "pip install jax jax-tvm-ffi" in done.stderr
