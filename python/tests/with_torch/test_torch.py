"""Kernels on tensors of torch, and as its operators: TORCH-1 to TORCH-6."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import chipdock
import chipdock.torch

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
@T.prim_func(s_tir=True)
def matmul(A: T.Buffer(("m", "k"), "float64"), B: T.Buffer((k, "n"), "float64"), C: T.Buffer((m, n), "float64")):
    m, k, n = T.int32(), T.int32(), T.int32()
    for i, j, p in T.grid(m, n, k):
        with T.sblock("C"):
            vi, vj, vp = T.axis.remap("SSR", [i, j, p])
            with T.init():
                C[vi, vj] = T.float64(0.0)
            C[vi, vj] = C[vi, vj] + A[vi, vp] * B[vp, vj]
"""
MATMUL_GRADIENTS = """
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
SQUARE = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def square(A: T.Buffer(("n",), "float64"), s: T.float64, C: T.Buffer((n,), "float64")):
        n = T.int32()
        for i in range(n):
            with T.sblock("C"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi] * A[vi] * s

    @T.prim_func(s_tir=True)
    def square_gradient(A: T.Buffer(("n",), "float64"), s: T.float64, grad_C: T.Buffer((n,), "float64"), grad_A: T.Buffer((n,), "float64")):
        n = T.int32()
        for i in range(n):
            with T.sblock("grad_A"):
                vi = T.axis.spatial(n, i)
                grad_A[vi] = T.float64(2) * A[vi] * s * grad_C[vi]
"""
# Two outputs with extents that are computed, and a number among the arguments.
HALVES = """
@T.prim_func(s_tir=True)
def halves(A: T.Buffer(("n",), "float32"), k: T.int32, L: T.Buffer((n // 2,), "float32"), R: T.Buffer((n - n // 2 + k,), "float32")):
    n = T.int32()
    for i in range(n // 2):
        with T.sblock("L"):
            vi = T.axis.spatial(n // 2, i)
            L[vi] = A[vi]
    for i in range(n - n // 2 + k):
        with T.sblock("R"):
            vi = T.axis.spatial(n - n // 2 + k, i)
            R[vi] = T.if_then_else(vi < n - n // 2, A[vi + n // 2], T.float32(0))
"""
DOUBLE = """
@T.prim_func(s_tir=True)
def double(A: T.Buffer(("m", "n"), "float32")):
    m, n = T.int32(), T.int32()
    for i, j in T.grid(m, n):
        with T.sblock("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] * T.float32(2)
"""


def compiled(text, dtype="float32"):
    return chipdock.compile(text.replace("DTYPE", dtype), "c")


@pytest.fixture(scope="module")
def add():
    return chipdock.torch.custom_op(compiled(ADD), "tests::add")


@pytest.fixture(scope="module")
def matmul():
    return chipdock.torch.custom_op(compiled(MATMUL), "tests::matmul", backward=(compiled(MATMUL_GRADIENTS), "gradients"))


@pytest.fixture(scope="module")
def square():
    return chipdock.torch.custom_op(compiled(SQUARE), "tests::square", function="square", backward="square_gradient")


def test_a_native_function_takes_tensors_without_copies():
    function = compiled(ADD).add
    a, b, c = torch.arange(5.0), torch.full((5,), 10.0), torch.zeros(5)
    before = c.data_ptr()
    function(a, b, c)
    assert c.data_ptr() == before and c.tolist() == (a + b).tolist()
    whole = torch.zeros(10)
    function(a, b, whole[3:8])
    assert whole.tolist() == [0, 0, 0, *(a + b).tolist(), 0, 0]
    result = function(a, b)
    assert isinstance(result, torch.Tensor) and result.tolist() == (a + b).tolist()
    import numpy as np

    function(a, b.numpy(), c)
    assert c.tolist() == (a + b).tolist() and np.shares_memory(c.numpy(), c.numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "uint8", "int32", "int64"])
def test_element_types(dtype):
    a, b = (torch.tensor(values, dtype=getattr(torch, dtype)) for values in ([1, 2, 3], [4, 5, 6]))
    assert torch.equal(compiled(ADD, dtype).add(a, b), a + b)
    op = chipdock.torch.custom_op(compiled(ADD, dtype), "tests::of_dtype")
    assert torch.equal(op(a, b), a + b) and op(a, b).dtype == a.dtype


def test_bool():
    text = ADD.replace("DTYPE", "bool").replace("A[vi] + B[vi]", "A[vi] and B[vi]").replace("def add", "def both")
    op = chipdock.torch.custom_op(chipdock.compile(text, "c"), "tests::both")
    a, b = torch.tensor([True, True, False]), torch.tensor([True, False, False])
    assert op(a, b).dtype == torch.bool and op(a, b).tolist() == (a & b).tolist()


def test_wrong_tensors_are_refused(add):
    a, b = torch.ones(4), torch.ones(4)
    function = compiled(ADD).add
    with pytest.raises(ValueError, match=r"Mismatched A.strides"):
        function(torch.ones(8)[::2], b, a)
    for called in (function, add):
        with pytest.raises(TypeError, match="Mismatched B.dtype"):
            called(a, b.double())
        with pytest.raises(ValueError, match=r"Mismatched B.shape\[0\]"):
            called(a, torch.ones(3))
    with pytest.raises(ValueError, match="A has 1 axes"):
        add(torch.ones(2, 2), b)
    with pytest.raises((TypeError, RuntimeError)):
        add(a)
    meta = torch.empty(4, device="meta")
    assert add(meta, meta).shape == (4,) and add(meta, meta).device.type == "meta"
    with pytest.raises(TypeError, match="B is torch.float32, found torch.float64"):
        add(meta, meta.double())


def test_an_operator_computes_and_is_checked_by_torch(add, matmul, square):
    a, b = torch.rand(7, dtype=torch.float64), torch.rand(7, dtype=torch.float64)
    for op, args in [
        (add, (a.float(), b.float())),
        (matmul, (torch.rand(3, 4, dtype=torch.float64, requires_grad=True), torch.rand(4, 5, dtype=torch.float64, requires_grad=True))),
        (square, (a.clone().requires_grad_(), 3.0)),
    ]:
        found = torch.library.opcheck(op, args)
        assert set(found.values()) == {"SUCCESS"}, found
    assert torch.equal(add(a.float(), b.float()), a.float() + b.float())
    assert torch.equal(torch.ops.tests.add(a.float(), b.float()), a.float() + b.float())


def test_gradients_are_those_of_the_backward_kernel(matmul, square):
    a = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
    b = torch.rand(4, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(matmul, (a, b))
    assert torch.autograd.gradcheck(lambda x: square(x, 3.0), (torch.rand(6, dtype=torch.float64, requires_grad=True),))
    # Gradients that come without elements of their own (expanded), or transposed.
    matmul(a, b).sum().backward()
    expected = torch.autograd.grad((a @ b).sum(), (a, b))
    assert torch.allclose(a.grad, expected[0]) and torch.allclose(b.grad, expected[1])
    with pytest.raises(RuntimeError):
        first = torch.autograd.grad(matmul(a, b).sum(), a, create_graph=True)
        torch.autograd.grad(first[0].sum(), b)


def test_a_formula_of_torch_is_a_backward_too():
    def save(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def gradients(ctx, gradient):
        a, b = ctx.saved_tensors
        return gradient @ b.T, a.T @ gradient

    op = chipdock.torch.custom_op(compiled(MATMUL), "tests::matmul_by_formula", backward=gradients, setup_context=save)
    a = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(op, (a, torch.rand(4, 5, dtype=torch.float64, requires_grad=True)))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_graphs_are_whole(matmul, backend):
    torch._dynamo.reset()

    def model(a, b):
        return (matmul(a, b).relu() + 1).sum()

    graph = torch.compile(model, fullgraph=True, dynamic=True, backend=backend)
    for rows in (3, 6, 9):
        a = torch.rand(rows, 4, dtype=torch.float64, requires_grad=True)
        b = torch.rand(4, 5, dtype=torch.float64, requires_grad=True)
        found = graph(a, b)
        assert torch.allclose(found, (a @ b).relu().add(1).sum())
        assert torch.allclose(torch.autograd.grad(found, a)[0], torch.autograd.grad((a @ b).relu().sum(), a)[0])
    with pytest.raises(Exception, match="axis 0 of B is k = .+, found .+"):
        graph(torch.rand(3, 4, dtype=torch.float64), torch.rand(3, 4, dtype=torch.float64))


def test_symbolic_shapes_do_not_compile_again(matmul):
    torch._dynamo.reset()
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    graph = torch.compile(lambda a, b: matmul(a, b) * 2, fullgraph=True, dynamic=True, backend=backend)
    for rows in (3, 5, 8, 13):
        graph(torch.rand(rows, 4, dtype=torch.float64), torch.rand(4, 5, dtype=torch.float64))
    assert len(graphs) == 1


def test_several_outputs_with_computed_extents():
    op = chipdock.torch.custom_op(compiled(HALVES), "tests::halves", outputs=2)
    same = chipdock.torch.custom_op(compiled(HALVES), "tests::halves_by_name", outputs=["L", "R"])
    graph = torch.compile(lambda a, k: op(a, k), fullgraph=True, dynamic=True, backend="aot_eager")
    for n, k in ((7, 0), (8, 2), (9, 1)):
        a = torch.arange(float(n))
        for called in (op, same, graph):
            left, right = called(a, k)
            assert left.tolist() == a[: n // 2].tolist() and right.tolist() == a[n // 2 :].tolist() + [0.0] * k
    assert set(torch.library.opcheck(op, (torch.arange(7.0), 1)).values()) == {"SUCCESS"}


def test_tensors_that_are_not_contiguous(add):
    a, b = torch.arange(8.0)[::2], torch.arange(4.0).flip(0)
    assert torch.equal(add(a, b), a + b)
    op = chipdock.torch.custom_op(compiled(DOUBLE), "tests::double", mutates=["A"])
    plain, turned = torch.ones(2, 3), torch.arange(6.0).reshape(2, 3).T
    address = turned.data_ptr()
    assert op(plain) is None and op(turned) is None
    assert plain.tolist() == [[2.0] * 3] * 2
    assert turned.tolist() == [[0, 6], [2, 8], [4, 10]] and turned.data_ptr() == address and not turned.is_contiguous()
    assert set(torch.library.opcheck(op, (torch.ones(2, 3),)).values()) == {"SUCCESS"}

    def model(x):
        y = x * 1
        op(y)
        return y + 1

    graph = torch.compile(model, fullgraph=True, backend="aot_eager")
    assert torch.equal(graph(torch.ones(2, 3)), torch.full((2, 3), 3.0))


def test_tensors_without_elements(add, matmul):
    assert add(torch.empty(0), torch.empty(0)).shape == (0,)
    none = torch.empty(3, 0, dtype=torch.float64)
    assert matmul(none, none.T).tolist() == [[0.0] * 3] * 3  # TORCH-5
    assert matmul(none.T, none).shape == (0, 0)


def test_other_tensors_are_refused_or_made_plain(add):
    x = torch.ones(4)
    assert add(torch._neg_view(x), x).tolist() == [0.0] * 4
    assert torch.vmap(lambda a: add(a, x))(torch.ones(3, 4)).tolist() == [[2.0] * 4] * 3
    # Before 2.5 torch itself refuses it.
    refusal = "A is a dense tensor, found one of layout torch.sparse_coo|SparseTensorImpl"
    with pytest.raises((TypeError, NotImplementedError), match=refusal):
        add(x.to_sparse(), x)
    with pytest.raises(TypeError, match="B is a dense tensor, found None"):
        add(x, None)


def test_five_hundred_wrong_calls_are_exceptions(add):
    random = torch.Generator().manual_seed(20261124)
    x = torch.ones(4)
    freed = torch.ones(4)
    freed.untyped_storage().resize_(0)
    wrong = [
        None, 7, 2.5, "text", [1.0], x.numpy(), x.double(), x.to(torch.complex64), x[:2], x.reshape(2, 2), torch.ones(()), x.to_sparse(),
        freed, torch.empty(4, device="meta"), torch.empty(0), torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), object(),
    ]
    functions, raised = (compiled(ADD).add, add), 0
    for number in range(500):
        count = int(torch.randint(1, 4, (), generator=random))
        args = [wrong[int(torch.randint(len(wrong), (), generator=random))] for _ in range(count)]
        try:
            functions[number % 2](*args)
        except Exception as error:
            assert str(error)
            raised += 1
    assert raised > 400
    assert add(x, x).tolist() == [2.0] * 4


def test_parameters_and_no_grad(matmul, add):
    weight = torch.nn.Parameter(torch.rand(4, 5, dtype=torch.float64))
    assert matmul(torch.rand(3, 4, dtype=torch.float64), weight).requires_grad
    with torch.no_grad():
        assert not matmul(torch.rand(3, 4, dtype=torch.float64), weight).requires_grad
    layer = torch.nn.Linear(4, 4)
    with pytest.raises(RuntimeError):  # without a backward kernel there are no gradients, and torch says so
        add(layer(torch.ones(4)), torch.ones(4)).sum().backward()


def test_a_name_is_registered_again():
    first = chipdock.torch.custom_op(compiled(ADD), "tests::again")
    text = ADD.replace("A[vi] + B[vi]", "A[vi] - B[vi]")
    second = chipdock.torch.custom_op(compiled(text), "tests::again")
    a = torch.ones(3)
    assert second(a, a).tolist() == [0.0] * 3 and torch.ops.tests.again(a, a).tolist() == [0.0] * 3
    del first


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (ADD, {"function": "nothing"}, "expected one of add, found 'nothing'"),
        (SQUARE, {}, "expected the name of one"),
        (ADD, {"outputs": 3}, "outputs: expected a number of buffers"),
        (ADD, {"outputs": ["A"]}, "expected the last buffers, C, found A"),
        (ADD, {"outputs": ["D"]}, "add has no parameter 'D'"),
        (ADD, {"mutates": ["C"], "outputs": 1}, "C is among the outputs"),
        (ADD, {"mutates": ["C"], "backward": "add"}, "mutates"),
        (ADD, {"name": "a b"}, "NAMESPACE::NAME"),
        (ADD, {"backward": "add"}, "expected buffers grad_A, grad_B"),
        (ADD, {"setup_context": print}, "expected backward beside it"),
        (DOUBLE, {}, "outputs: expected"),
        (HALVES.replace("n // 2 + k,)", "q,)").replace(", k: T.int32", ""), {}, "no input says what q"),
    ],
)
def test_bad_registrations_are_said(text, options, message):
    if "q,)" in text:
        text = ADD.replace('C: T.Buffer((n,)', 'C: T.Buffer(("q",)').replace("n = T.int32()", "n, q = T.int32(), T.int32()")
    with pytest.raises(ValueError, match=message):
        chipdock.torch.custom_op(compiled(text), **options)
    with pytest.raises(TypeError, match="chipdock.Module"):
        chipdock.torch.custom_op(print)


def test_bench_takes_tensors():
    function = compiled(ADD).add
    a, b = torch.ones(1000), torch.ones(1000)
    found = chipdock.bench(function, a, b, time_s=0.02, limits=False)
    assert (found.bytes, found.result_bytes, found.flops, found.device) == (12000, 4000, 1000, "cpu:0")


def test_on_the_current_stream_of_a_gpu():
    if not torch.cuda.is_available() or "cuda:0" not in chipdock.devices():
        pytest.skip("no device cuda:0 that torch and Chipdock both see")
    function = chipdock.compile(ADD.replace("DTYPE", "float32"), "cuda").add
    op = chipdock.torch.custom_op(chipdock.compile(ADD.replace("DTYPE", "float32"), "cuda"), "tests::add_cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a = torch.zeros(1 << 24, device="cuda")
        for _ in range(50):
            a.add_(1)
        found, by_op = function(a, a), op(a, a)
        found.add_(1)
    stream.synchronize()
    assert found.min().item() == found.max().item() == 101.0 and by_op.max().item() == 100.0


def test_the_example_of_the_front_page_runs(monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[3])
    found = doctest.testmod(chipdock.torch)
    assert found.attempted > 3 and found.failed == 0


def test_without_torch_the_import_says_what_to_install():
    code = "import sys; sys.modules['torch'] = None; import chipdock, chipdock.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "chipdock.torch needs torch" in done.stderr
