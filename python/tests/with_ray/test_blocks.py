"""Blocks, results, targets and mistakes: RAY-1 to RAY-5, RAY-7, RAY-9."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import ray
from conftest import MIB, STORE
from ray_kernels import ADD_BIAS, DOUBLE, IN_PLACE, SUM_AND_DIFFERENCE

import chipdock
import chipdock.ray
from chipdock.ray import _blocks, _progress, _worker

FOUND = chipdock.devices()


def doubled(blocks, **options):
    """Maps DOUBLE and returns copies of the results."""
    options = {"target": "c", "workers": 1, "progress": False} | options
    return [np.copy(one) for one in chipdock.ray.map_blocks(DOUBLE, blocks, **options)]


def test_an_array_larger_than_the_stores_is_mapped(nodes, rng, tmp_path):
    """RAY-1, RAY-2, RAY-3: from a memory map to a memory map, within a fraction of the store."""
    shape = (2 * STORE // 4 // 1024, 1024)
    rows = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float32, shape)
    for at in range(0, shape[0], 4096):
        rows[at:at + 4096] = rng.random((min(4096, shape[0] - at), 1024), np.float32)
    rows.flush()
    bias = rng.random(1024, np.float32)
    out = np.lib.format.open_memmap(tmp_path / "out.npy", "w+", np.float32, shape)
    seen = []
    found = chipdock.ray.map_blocks(
        ADD_BIAS, tmp_path / "rows.npy", constants={"Bias": bias}, target="llvm", workers=2, rows=1000, out=out,
        progress=lambda report: seen.append((report.n_done, report.n_blocks, report.n_in_flight_max)),
    )
    assert found is out
    for at in range(0, shape[0], 4096):
        assert np.array_equal(out[at:at + 4096], rows[at:at + 4096] * np.float32(2) + bias)
    assert [n_done for n_done, _, _ in seen] == list(range(1, 42)) and {total for _, total, _ in seen} == {41}
    in_flight = max(n for _, _, n in seen)
    assert 2 <= in_flight and in_flight * 2 * rows[:1000].nbytes <= 0.4 * STORE
    assert nodes.n_spilled() == 0


def test_results_that_are_kept_fill_the_store(nodes, rng):
    """RAY-2: what the test above relies on: that an overflow would be seen."""
    held = [ray.put(np.zeros(8 * MIB, np.uint8)) for _ in range(12)]
    assert nodes.n_spilled() > 0
    del held


def test_blocks_have_many_sources(nodes):
    """RAY-1: an array, a tuple of arrays, iterables, a function."""
    a = np.arange(10, dtype=np.float32)
    assert [block.tolist() for block in doubled(a, rows=4)] == [[0, 2, 4, 6], [8, 10, 12, 14], [16, 18]]
    made = []

    def produced():
        for at in range(100):
            made.append(at)
            yield np.full(at + 1, at, np.float32)

    results = chipdock.ray.map_blocks(DOUBLE, produced(), target="c", workers=1, progress=False)
    assert next(results).tolist() == [0] and next(results).tolist() == [2, 2]
    assert len(made) < 20, "blocks are made when they are needed"
    assert results.report.n_blocks is None
    results.close()
    assert next(results, None) is None
    found = doubled(lambda index: np.full(2, index, np.float32), count=3, workers=2)
    assert [block.tolist() for block in found] == [[0, 0], [2, 2], [4, 4]]
    assert doubled(np.zeros((0,), np.float32)) == [] and doubled([]) == []
    assert doubled([a[::2], a[::-1]])[1].tolist() == (a[::-1] * 2).tolist()


def test_kernels_have_several_inputs_and_results(nodes):
    a, b = np.arange(6, dtype=np.float32), np.ones(6, np.float32)
    results = list(chipdock.ray.map_blocks(SUM_AND_DIFFERENCE, (a, b), rows=3, target="c", workers=1, progress=False))
    assert [(s.tolist(), d.tolist()) for s, d in results] == [([1, 2, 3], [-1, 0, 1]), ([4, 5, 6], [2, 3, 4])]
    again = chipdock.ray.map_blocks(
        chipdock.compile(SUM_AND_DIFFERENCE, "c"), [b], constants={"A": a}, function="both", workers=1, progress=False
    )
    assert [one.tolist() for one in next(again)] == [(a + b).tolist(), (a - b).tolist()]
    assert sum(again.report.compiled.values()) == 0, "a module is shipped as it is"
    again.close()


def test_results_come_as_they_are_done(nodes, tmp_path):
    """RAY-3: a slow block holds back those behind it only when they are ordered."""
    is_past_first = tmp_path / "past-first"

    def slow_first(index):
        import time

        if index == 0:
            # Until the other worker, which may start late, has done a block and has another.
            until = time.monotonic() + 60
            while not is_past_first.exists() and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(1.0)
        elif index >= 2:
            is_past_first.touch()
        return np.full(1, index, np.float32)

    options = {"count": 6, "target": "c", "workers": 2, "progress": False}
    found = [(index, block.tolist()) for index, block in chipdock.ray.map_blocks(DOUBLE, slow_first, ordered=False, **options)]
    assert sorted(found) == [(index, [2 * index]) for index in range(6)]
    assert found[0][0] != 0
    assert [block.tolist() for block in chipdock.ray.map_blocks(DOUBLE, slow_first, **options)] == [[2 * at] for at in range(6)]


def test_inputs_are_read_in_the_store():
    """RAY-1: what a kernel is given is the elements of the store, which arrive read-only."""
    stored = np.arange(8, dtype=np.float32)
    stored.flags.writeable = False
    given = _worker._shared(stored)
    assert given.ctypes.data == stored.ctypes.data and given.flags.writeable
    assert chipdock.from_dlpack(given).shape == (8,)


@pytest.mark.parametrize(("n_elements", "n_puts"), [(20_000, 1), (30_000, 7)])
def test_small_blocks_go_with_the_call(nodes, monkeypatch, n_elements, n_puts):
    """RAY-1: a block's way through the store is longer than its work; the artifact is put in any case."""
    put, puts = ray.put, []
    monkeypatch.setattr(ray, "put", lambda value: (puts.append(value), put(value))[1])
    found = doubled([np.full(n_elements, at, np.float32) for at in range(6)])
    assert [block[-1] for block in found] == [2 * at for at in range(6)] and len(puts) == n_puts


@pytest.fixture
def counted(tmp_path):
    """Environment of actors in which each compilation is written to a file."""
    (tmp_path / "sitecustomize.py").write_text(f"""
import os
import time
import chipdock
before = chipdock.compile
def compile(source, target=None, **options):
    # As long as another worker needs to want the same.
    time.sleep(1.5)
    made = before(source, target, **options)
    with open({str(tmp_path / 'compiled')!r}, "a") as file:
        file.write(f"{{os.getpid()}} {{made.target['kind']}}\\n")
    return made
chipdock.compile = compile
""")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {"runtime_env": {"env_vars": {"PYTHONPATH": path}}}, lambda: (tmp_path / "compiled").read_text().splitlines()


@pytest.mark.parametrize(("workers", "kinds"), [({"llvm": 2}, ["llvm"]), ({"llvm": 1, "c": 1}, ["c", "llvm"])])
def test_each_target_is_compiled_for_once(nodes, counted, workers, kinds):
    """RAY-5: two workers of one target share an artifact; several targets work on one array."""
    environment, compiled = counted

    def slowly(index):
        import time

        time.sleep(0.1)
        return np.full(4, index, np.float32)

    results = chipdock.ray.map_blocks(DOUBLE, slowly, count=16, workers=workers, progress=False, ray_remote_args=environment)
    assert [block.tolist() for block in results] == [[2 * at] * 4 for at in range(16)]
    assert sorted(line.split()[1] for line in compiled()) == kinds
    assert sorted(json.loads(key)["kind"] for key in results.report.compiled) == kinds
    assert {kind for _, kind in results.report.done_by} == set(workers)
    assert len({node for node, _ in results.report.done_by}) == 2, "Ray spreads the workers over the nodes"


@pytest.mark.parametrize("kind", ["opencl", "vulkan"])
def test_devices_compute_blocks(nodes, kind):
    """RAY-4, RAY-5: constants are on the device once; the result is an array."""
    if f"{kind}:0" not in FOUND:
        pytest.skip(f"no device {kind}:0 on this machine")
    a, bias = np.arange(12, dtype=np.float32).reshape(6, 2), np.array([1, 5], np.float32)
    found = chipdock.ray.map_blocks(ADD_BIAS, a, rows=4, constants={"Bias": bias}, target=kind, workers=1, progress=False)
    assert np.array_equal(np.concatenate(list(found)), a * 2 + bias)


def test_mistakes_of_kernels_are_raised_by_kind(nodes):
    """RAY-7: what compile and the kernel raise."""
    a = np.ones((4, 3), np.float32)

    def add(blocks=a, **options):
        options = {"constants": {"Bias": np.ones(3, np.float32)}} | options
        return list(chipdock.ray.map_blocks(ADD_BIAS, blocks, **{"target": "c", "workers": 1, "progress": False} | options))

    with pytest.raises(ValueError, match="Q is not defined"):
        list(chipdock.ray.map_blocks(DOUBLE.replace("= A[vi]", "= Q[vi]"), a[0], target="c", workers=1, progress=False))
    with pytest.raises(ValueError, match=r"Mismatched Bias.shape\[0\]") as error:
        add([a, a, np.ones((4, 2), np.float32)])
    if hasattr(error.value, "__notes__"):
        assert error.value.__notes__[0].startswith("block 2, on node ")
    with pytest.raises(TypeError, match="Mismatched A.dtype"):
        add(a.astype(np.float64))
    with pytest.raises(ValueError, match="no parameter Biass; its parameters are A, Bias, C"):
        add(constants={"Biass": a})
    with pytest.raises(ValueError, match="function: expected one of add_bias, found 'add'"):
        add(function="add")
    with pytest.raises(ValueError, match="parameter Bias is given by none"):
        add(constants={"C": a})
    with pytest.raises(ValueError, match="no buffer is left for the result, and 1 arrays of the block are left over"):
        add((a, a, a))
    with pytest.raises(ValueError, match="in_place writes to an input of shape"):
        list(chipdock.ray.map_blocks(IN_PLACE, np.ones(4, np.float32), target="c", workers=1, progress=False))


@pytest.mark.parametrize(
    "error", [ValueError("v"), chipdock.Unsupported("u"), chipdock.IoError("i"), chipdock.OutOfMemory("o"), chipdock.NotFound("n")],
    ids=lambda error: type(error).__name__,
)
def test_mistakes_are_not_retried(nodes, tmp_path, error, capfd):
    """RAY-7: the kind crosses the processes, and the work is not done again."""

    def wrong(index):
        with open(tmp_path / "runs", "a") as file:
            file.write(f"{index}\n")
        error.__tvm_ffi_error__ = threading.Lock()  # as apache-tvm-ffi 0.1.0 leaves it: it cannot be pickled
        raise error

    with pytest.raises(type(error)) as raised:
        list(chipdock.ray.map_blocks(DOUBLE, wrong, count=1, target="c", workers=1, progress=False))
    assert type(raised.value) is type(error) and str(raised.value) == str(error)
    assert (tmp_path / "runs").read_text() == "0\n"
    assert "Unhandled" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"threads": 0}, ValueError, "threads: expected an integer of at least 1, found 0"),
        ({"retries": -1}, ValueError, "retries: expected an integer of at least 0"),
        ({"in_flight": 0}, ValueError, "in_flight: expected"),
        ({"workers": 0}, ValueError, "workers: expected at least 1 of each target, found 0"),
        ({"workers": {}}, ValueError, "workers: expected at least 1 of each target, found 'none'"),
        ({"workers": {"c": 1}, "target": "c"}, ValueError, "target: expected none"),
        ({"target": "lvm"}, ValueError, "target: expected a kind of c,"),
        ({"target": {"kind": 7}}, ValueError, "target: expected a kind of c,"),
        ({"target": "{"}, ValueError, "target: expected a kind's name or a target as JSON"),
        ({"target": 7}, TypeError, "target: expected a kind"),
        ({"rows": 0}, ValueError, "rows: expected at least 1"),
        ({"rows": 2.5}, TypeError, "rows: expected an integer"),
        ({"count": 3}, ValueError, "count: expected none"),
        ({"blocks": 7}, TypeError, "blocks: expected arrays"),
        ({"blocks": np.float32}, ValueError, "count: a function"),
        ({"blocks": np.array(1)}, ValueError, "blocks: expected arrays with as many rows each"),
        ({"blocks": (np.ones(2), np.ones(3))}, ValueError, r"found shapes \(2,\), \(3,\)"),
        ({"blocks": [np.ones(2)], "rows": 1}, ValueError, "rows: expected none"),
        ({"blocks": "/nothing/here.npy"}, FileNotFoundError, "here.npy"),
        ({"kernel": 7}, TypeError, "expected a path, TVMScript"),
        ({"out": 7}, TypeError, "out: expected an array that can be written"),
    ],
)
def test_arguments_are_checked_before_anything_starts(nodes, options, error, message):
    options = {"kernel": DOUBLE, "blocks": np.ones(4, np.float32), "target": None, "progress": False} | options
    with pytest.raises(error, match=message):
        chipdock.ray.map_blocks(options.pop("kernel"), options.pop("blocks"), **options)


def test_a_sink_takes_results_that_fit():
    """RAY-3."""
    sink = _blocks.Sink(np.zeros((4, 2), np.float32))
    sink.write(np.ones((3, 2), np.float32))
    with pytest.raises(ValueError, match="does not hold rows 3 to 5"):
        sink.write(np.ones((2, 2), np.float32))
    with pytest.raises(ValueError, match="does not hold rows 3 to 4 of results of shape"):
        sink.write(np.ones((1, 3), np.float32))
    with pytest.raises(TypeError, match="expected dtype float64, found float32"):
        sink.write(np.ones((1, 2)))
    with pytest.raises(ValueError, match="4 rows were expected, and the results have 3"):
        sink.close()
    with pytest.raises(ValueError, match="a kernel with one result, found 2"):
        sink.write((1, 2))


def test_progress_is_a_bar_on_a_terminal(capsys, monkeypatch):
    """RAY-9: on standard error, and not where that is a file."""
    assert _progress.bar_of(None) is None and _progress.bar_of(False) is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = _progress.bar_of(None)
    bar(chipdock.ray.Report(n_done=1, n_blocks=2, n_workers=1))
    bar(chipdock.ray.Report(n_done=2, n_blocks=2, n_workers=1, n_retried=1))
    bar.close()
    out, err = capsys.readouterr()
    assert out == "" and "[###############...............] 1/2 blocks, 1 workers" in err and "2/2 blocks, 1 workers, 1 retried" in err
    assert err.endswith("\n")


def test_a_worker_is_an_actor_of_its_own(nodes):
    """RAY-4: Ray's own means work with it."""
    actor = ray.remote(num_cpus=1)(chipdock.ray.Worker).remote(threads=1)
    place = ray.get(actor.prepare.remote("c", chipdock.__version__))
    assert place.device_api == "cpu" and place.node in nodes.alive() and ray.get(actor.devices.remote()) == FOUND
    with pytest.raises(chipdock.WrongState, match="nothing is loaded"):
        ray.get(actor.run.remote(np.ones(2)))
    other = ray.get(actor.prepare.remote("c", "0.0.0"))
    assert other.target is None and "the driver has 0.0.0" in other.problem
    artifact = ray.get(actor.compile.remote(DOUBLE, "double.py", place.target, {}))
    ray.get(actor.load.remote(artifact, place.target, _worker.Job(None)))
    assert ray.get(actor.run.remote(np.ones(2, np.float32))).tolist() == [2, 2]
    ray.kill(actor)


def test_devices_are_resources():
    """RAY-4: what a node is started with."""
    offered = chipdock.ray.resources()
    assert offered["chipdock_cpu"] == 1.0
    assert {f"chipdock_{name.split(':')[0]}" for name in FOUND} == set(offered)
    printed = subprocess.run([sys.executable, "-m", "chipdock.ray"], check=True, capture_output=True, text=True).stdout
    assert json.loads(printed) == offered


def test_without_ray_it_says_what_to_install():
    code = "import sys; sys.modules['ray'] = None; import chipdock; import chipdock.ray"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1 and "ImportError: chipdock.ray needs Ray: pip install ray" in ended.stderr
