"""`chipdock.bench`: BENCH-1 to BENCH-7, and the counting of operations."""

import doctest
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import chipdock
from chipdock import _bench, _flops

ADD = """
@T.prim_func(s_tir=True)
def add(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), C: T.Buffer((n,), "float32")):
    n = T.int32()
    for i in range(n):
        with T.sblock("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi] + B[vi]
"""
MATMUL = """
@T.prim_func(s_tir=True)
def matmul(A: T.Buffer(("m", "k"), "float32"), B: T.Buffer((k, "n"), "float32"), C: T.Buffer((m, n), "float32")):
    m, k, n = T.int32(), T.int32(), T.int32()
    for i, j, p in T.grid(m, n, k):
        with T.sblock("C"):
            vi, vj, vp = T.axis.remap("SSR", [i, j, p])
            with T.init():
                C[vi, vj] = T.float32(0.0)
            C[vi, vj] = C[vi, vj] + A[vi, vp] * B[vp, vj]
"""
QUICK = {"time_s": 0.02, "warmup_s": 0.0}
FOUND = chipdock.devices()


@pytest.fixture(scope="module")
def add():
    return chipdock.compile(ADD, "c").add


def elementwise(expression, dtype="float32"):
    return f"""
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "{dtype}"), C: T.Buffer((8,), "{dtype}")):
    for i in range(8):
        with T.sblock("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = {expression}
"""


@pytest.mark.parametrize(
    ("expression", "dtype", "per_element"),
    [
        ("A[vi] + A[vi] * T.float32(2)", "float32", 2),
        ("T.exp(A[7 - vi]) / T.float32(3)", "float32", 2),
        ("T.max(A[vi], T.float32(0))", "float32", 1),
        ("T.if_then_else(vi < 4, A[vi], T.float32(0))", "float32", 0),
        ("A[vi] + A[vi] * 2", "int32", 0),
        ("T.if_then_else(vi < 4, A[vi] + T.float32(1), T.float32(0))", "float32", None),
    ],
)
def test_operations_are_those_of_the_text(expression, dtype, per_element):
    counted = _flops.of_call(elementwise(expression, dtype), "f", [(8,), (8,)])
    assert counted == (None if per_element is None else 8 * per_element)


def test_operations_depend_on_the_shapes():
    assert _flops.of_call(MATMUL, "matmul", [(3, 5), (5, 7), (3, 7)]) == 2 * 3 * 5 * 7
    assert _flops.of_call(MATMUL, "matmul", [(0, 5), (5, 7), (0, 7)]) == 0
    assert _flops.of_call(MATMUL, "nothing", []) is None
    assert _flops.of_call("no\nkernel", "matmul", []) is None
    assert _flops.of_call(MATMUL, "matmul", [None, None, None]) is None


def test_what_the_elements_decide_is_not_counted():
    text = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.sblock("C"):
            vi = T.axis.spatial(8, i)
            if A[vi] > T.float32(0):
                C[vi] = A[vi] * T.float32(2)
"""
    assert chipdock.compile(text, "c") is not None
    assert _flops.of_call(text, "f", [(8,), (8,)]) is None


def test_a_kernel_is_measured(add):
    a, b, c = (np.ones(4096, np.float32) for _ in range(3))
    found = chipdock.bench(add, a, b, c, **QUICK)
    assert (found.name, found.device, found.bytes, found.result_bytes) == ("add", "cpu:0", 3 * 4096 * 4, 0)
    assert (found.flops, found.flops_from) == (4096, "kernel")
    assert 0 < found.time_min_s <= found.time_s < 0.1
    assert found.runs >= 5 and found.calls_per_run > 1
    assert found.bytes_per_s == found.bytes / found.time_s and found.flops_per_byte == pytest.approx(1 / 12)
    assert found.limits.dtype == "float32" and found.flops_fraction == found.flops_per_s / found.limits.flops_per_s


def test_a_time_is_that_of_one_call():
    # BENCH-1: whether a call takes long or is below the clock's resolution.
    slow = chipdock.bench(time.sleep, 0.003, limits=False, **QUICK)
    assert 0.003 <= slow.time_s < 0.03 and slow.calls_per_run == 1
    fast = chipdock.bench(lambda: None, limits=False, **QUICK)
    assert 1e-9 < fast.time_s < 1e-5 and fast.calls_per_run > 100


def test_results_are_accounted_for(add):
    # BENCH-3, BENCH-4: a buffer that is given twice counts once.
    a, b = (np.ones(1000, np.float32) for _ in range(2))
    found = chipdock.bench(add, a, b, limits=False, **QUICK)
    assert (found.bytes, found.result_bytes, found.flops) == (12000, 4000, 1000)
    assert chipdock.bench(add, a, a, b, limits=False, **QUICK).bytes == 8000
    assert chipdock.bench(np.add, a, b, limits=False, **QUICK).result_bytes == 4000


def test_what_is_not_known_is_none_and_what_is_given_counts():
    found = chipdock.bench(sum, [1, 2], limits=False, **QUICK)
    assert (found.bytes, found.flops, found.bytes_per_s, found.flops_per_s) == (None, None, None, None)
    assert "give flops=" in repr(found)
    with pytest.raises(ValueError, match="give flops="):
        found.plot()
    found = chipdock.bench(sum, [1, 2], flops=10, bytes=20, name="total", limits=False, **QUICK)
    assert (found.name, found.flops_per_byte, found.flops_from) == ("total", 0.5, "given")
    loaded = chipdock.load(chipdock.compile(ADD, "c").to_bytes())
    a = np.ones(4, np.float32)
    assert chipdock.bench(loaded.add, a, a, a, limits=False, **QUICK).flops is None


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"])
def test_devices_are_waited_for(device):
    if device not in FOUND:
        pytest.skip(f"no device {device}")
    heavy = elementwise("A[vi]").replace("(8,)", '(65536,)').replace("range(8)", "range(65536)").replace("spatial(8", "spatial(65536")
    for _ in range(9):
        heavy = heavy.replace("A[vi]", "T.exp(T.sin(A[vi]))", 1)
    function = chipdock.compile(heavy, device.split(":")[0]).f
    x, y = (chipdock.to_device(np.ones(65536, np.float32), device) for _ in range(2))
    found = chipdock.bench(function, x, y, **QUICK)
    assert found.device == device and found.flops == 65536 * 18
    start = time.perf_counter()
    function(x, y)
    chipdock.synchronize(device)
    assert found.time_s > (time.perf_counter() - start) / 20
    assert found.limits.device == device and found.limits.bytes_per_s > 0 and found.limits.flops_per_s > 0


def test_limits_are_measured_once():
    found = chipdock.bench.limits("cpu")
    assert found is chipdock.bench.limits("cpu:0", "float32")
    assert found.bytes_per_s > 1e8 and found.flops_per_s > 1e8 and found.bytes_by.startswith("triad")
    with pytest.raises(ValueError, match="float32"):
        chipdock.bench.limits("cpu", "int8")
    with pytest.raises(chipdock.Unavailable):
        chipdock.bench.limits("npu")


def test_contenders_are_compared(add):
    a, b, c = (np.ones(1000, np.float32) for _ in range(3))
    visits = []
    found = chipdock.bench.compare(
        {"chipdock": add, "slow": lambda *args: [add(*args) for _ in range(20)], "numpy": (np.add, a, b)}, a, b, c, flops=1000, **QUICK
    )
    assert list(found) == ["chipdock", "slow", "numpy"] and found.ratio("chipdock") == 1.0
    assert found.ratio("slow") > 4 and "slow" in repr(found) and "<td>slow</td>" in found._repr_html_()
    assert json.loads(found.to_json())["contenders"]["slow"]["ratio"] == found.ratio("slow")
    chipdock.bench.compare({"one": lambda: visits.append(1), "two": lambda: visits.append(2) or time.sleep(0.003)}, limits=False, **QUICK)
    turns = "".join(map(str, visits)).rstrip("1").lstrip("1")
    assert turns.count("21") >= 4  # BENCH-7: not first all of one and then all of the other
    with pytest.raises(ValueError, match="reference"):
        chipdock.bench.compare({"one": add}, a, b, c, reference="two")
    with pytest.raises(ValueError, match="contenders"):
        chipdock.bench.compare({})


def test_the_example_of_the_front_page_runs(monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    found = doctest.testmod(_bench)
    assert found.attempted > 3 and found.failed == 0


def test_bad_input_is_said(add):
    with pytest.raises(TypeError, match="something to call"):
        chipdock.bench(7)
    with pytest.raises(ValueError, match="time_s"):
        chipdock.bench(add, time_s=-1)
    with pytest.raises(ValueError, match="flops"):
        chipdock.bench(add, flops="many")
    with pytest.raises(ValueError, match="C.shape"):
        chipdock.bench(add, np.ones(3, np.float32), np.ones(3, np.float32), np.ones(2, np.float32))


def test_what_was_measured_is_shown(add):
    a, b = (np.ones(1000, np.float32) for _ in range(2))
    found = chipdock.bench(add, a, b, **QUICK)
    assert repr(found).startswith("add on cpu:0\n  time ") and "FLOP/s" in repr(found) and "4 kB of results" in repr(found)
    assert "<caption>add on cpu:0</caption>" in found._repr_html_()
    read = json.loads(found.to_json())
    assert read["time_s"] == found.time_s and read["limits"]["device"] == "cpu:0"


def test_a_roofline_is_drawn(add):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    a, b = (np.ones(1000, np.float32) for _ in range(2))
    found = chipdock.bench(add, a, b, **QUICK)
    axes = found.plot()
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts[0].startswith("cpu:0, float32") and texts[1].startswith("add:")
    roof, point = axes.get_lines()
    assert point.get_xdata()[0] == found.flops_per_byte and point.get_ydata()[0] == found.flops_per_s / 1e9
    assert max(roof.get_ydata()) == found.limits.flops_per_s / 1e9


def test_measuring_is_imported_when_it_is_used():
    code = "import chipdock, sys; assert 'chipdock._bench' not in sys.modules; chipdock.Measurement; print(chipdock.bench, chipdock.Limits)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("chipdock.bench <class"), done.stderr
    with pytest.raises(AttributeError, match="no attribute 'benches'"):
        chipdock.benches


def test_without_matplotlib_the_plot_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\nimport chipdock\n"
        "chipdock.bench(sum, [1], flops=1, bytes=1, limits=False, time_s=0).plot()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "pip install matplotlib" in done.stderr
