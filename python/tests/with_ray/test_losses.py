"""What is lost on the way, and who is left: RAY-4, RAY-6, RAY-8."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import ray
from conftest import workers
from ray_kernels import DOUBLE

import chipdock
import chipdock.ray
from chipdock.ray import _map

OPTIONS = {"target": "c", "progress": False}


def expected(n_blocks):
    return [[2.0 * at] * 4 for at in range(n_blocks)]


def slowly(seconds):
    """A function that makes blocks on the workers, slowly."""

    def read(index):
        import time

        time.sleep(seconds)
        return np.full(4, index, np.float32)

    return read


def once(tmp_path, name, act):
    """A function that makes blocks, and the first time that it is asked for block 3 does something else."""

    def read(index):
        import os

        marker = str(tmp_path / name)
        if index == 3 and not os.path.exists(marker):
            open(marker, "x").close()
            act()
        return np.full(4, index, np.float32)

    return read


def test_a_killed_node_loses_no_block(nodes):
    """RAY-6: the blocks of the node are computed by others, each once."""
    results = chipdock.ray.map_blocks(DOUBLE, slowly(0.1), count=50, workers=2, **OPTIONS)
    found = []
    for index, block in enumerate(results):
        found.append(block.tolist())
        if index == 8:
            nodes.kill(nodes.nodes[-1])
    assert found == expected(50)
    report = results.report
    assert report.n_done == 50 and 1 <= report.n_retried <= 4 and sum(report.done_by.values()) == 50
    assert sum(report.compiled.values()) == 1


def test_a_node_that_joins_is_used(nodes):
    """RAY-4, RAY-6: by the worker that found no room, within what Ray takes to see that a node is gone."""
    nodes.keep(1)
    results = chipdock.ray.map_blocks(DOUBLE, slowly(0.05), count=2000, workers=2, **OPTIONS)
    found, joined, deadline = [], None, time.monotonic() + 45
    for block in results:
        found.append(block.tolist())
        if len(found) == 5:
            before = set(nodes.alive())
            nodes.add()
            joined = set(nodes.alive()) - before
        if time.monotonic() > deadline or (joined and joined & {node for node, _ in results.report.done_by}):
            break
    results.close()
    assert found == expected(len(found))
    assert joined & {node for node, _ in results.report.done_by}, "no worker was started on the node that joined"
    assert sum(results.report.compiled.values()) == 1


@pytest.mark.parametrize("ordered", [True, False])
def test_a_killed_worker_is_replaced(nodes, tmp_path, ordered):
    """RAY-6."""
    read = once(tmp_path, "killed", lambda: os.kill(os.getpid(), signal.SIGKILL))
    results = chipdock.ray.map_blocks(DOUBLE, read, count=12, workers=2, ordered=ordered, **OPTIONS)
    found = list(results)
    if not ordered:
        assert len(found) == 12
        found = [block for _, block in sorted(found, key=lambda pair: pair[0])]
    assert [block.tolist() for block in found] == expected(12)
    assert 1 <= results.report.n_retried <= 4, "as many as a worker has at once"


def test_losses_now_and_then_are_no_end(nodes, tmp_path):
    """RAY-6: `retries` is of one block, and of one worker without a result; a long map may lose more."""

    def read(index):
        import os
        import signal
        import time

        marker = f"{tmp_path}/{index}"
        if index in (1, 3, 5) and not os.path.exists(marker):
            open(marker, "x").close()
            # Answers before this one have left the process by then: the driver blames the first block without one.
            time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGKILL)
        return np.full(4, index, np.float32)

    results = chipdock.ray.map_blocks(DOUBLE, read, count=8, workers=1, retries=1, **OPTIONS)
    assert [block.tolist() for block in results] == expected(8)
    assert results.report.n_retried >= 3


def test_a_lost_device_is_opened_by_another_worker(nodes, tmp_path):
    """RAY-6: the kind of error that is not the caller's."""

    def lose():
        raise chipdock.DeviceLost("the device is gone")

    results = chipdock.ray.map_blocks(DOUBLE, once(tmp_path, "lost", lose), count=8, workers=1, **OPTIONS)
    assert [block.tolist() for block in results] == expected(8)
    assert results.report.n_retried >= 1


@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_block_that_kills_its_workers_is_given_up(nodes, n_workers):
    """RAY-6: after `retries`, with its number."""

    def read(index):
        import os
        import signal
        import time

        if index == 2:
            time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGKILL)
        return np.full(4, index, np.float32)

    results = chipdock.ray.map_blocks(DOUBLE, read, count=6, workers=n_workers, retries=1, **OPTIONS)
    with pytest.raises(ray.exceptions.RayActorError) as error:
        list(results)
    if hasattr(error.value, "__notes__"):
        assert error.value.__notes__ == ["block 2 was given up after 2 workers that computed it were lost"]


def test_a_result_that_is_lost_is_computed_again(nodes, monkeypatch):
    """RAY-6: an object that Ray cannot bring is neither missing nor there twice."""
    get, lost = ray.get, []

    def get_once(reference, **options):
        value = get(reference, **options)
        if not lost and isinstance(value, np.ndarray) and value[0] == 4.0:
            lost.append(value)
            raise ray.exceptions.ObjectLostError(reference.hex(), None, "")
        return value

    monkeypatch.setattr(ray, "get", get_once)
    results = chipdock.ray.map_blocks(DOUBLE, slowly(0.01), count=8, workers=2, **OPTIONS)
    assert [block.tolist() for block in results] == expected(8) and len(lost) == 1


def test_the_first_worker_may_be_lost_while_it_compiles(nodes, tmp_path):
    """RAY-5, RAY-6: another, which waited for the artifact, compiles, also where the first is given up."""
    (tmp_path / "sitecustomize.py").write_text(textwrap.dedent(f"""
        import os
        import time
        import chipdock
        before = chipdock.compile
        def compile(source, target=None, **options):
            try:
                open({str(tmp_path / 'compiled')!r}, "x").close()
            except FileExistsError:
                return before(source, target, **options)
            # As long as the other worker needs to wait for the artifact.
            time.sleep(1.5)
            os._exit(1)
        chipdock.compile = compile
    """))
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {"runtime_env": {"env_vars": {"PYTHONPATH": path}}}
    results = chipdock.ray.map_blocks(
        DOUBLE, slowly(0.01), count=6, workers=2, retries=0, start_seconds_max=15, ray_remote_args=environment, **OPTIONS
    )
    assert [block.tolist() for block in results] == expected(6)
    assert sum(results.report.compiled.values()) == 2


def test_devices_are_placed_by_resources(nodes):
    """RAY-4: a node that advertises a device gets the workers for it."""
    chosen = nodes.add(resources={"chipdock_cpu": 1.0})
    try:
        results = chipdock.ray.map_blocks(DOUBLE, slowly(0.01), count=6, workers=1, **OPTIONS)
        assert [block.tolist() for block in results] == expected(6)
        assert {node for node, _ in results.report.done_by} == {chosen.node_id}
    finally:
        nodes.remove(chosen)


def test_a_machine_without_the_device_is_left_out(nodes, monkeypatch):
    """RAY-4: without custom resources too."""
    if "opencl:0" not in chipdock.devices():
        pytest.skip("no device opencl:0 on this machine")
    nodes.keep(1)
    nowhere = {"OCL_ICD_VENDORS": "/nowhere", "OCL_ICD_FILENAMES": ""}
    refuse, refused = _map.Map._refuse, []
    monkeypatch.setattr(_map.Map, "_refuse", lambda self, member, place: (refused.append(place.node), refuse(self, member, place)))
    without = nodes.add(env_vars={**os.environ, **nowhere})
    try:
        results = chipdock.ray.map_blocks(DOUBLE, slowly(0.1), count=12, target="opencl", workers=2, progress=False)
        assert [block.tolist() for block in results] == expected(12)
        assert {node for node, _ in results.report.done_by} == set(nodes.alive()) - {without.node_id}
        assert refused == [without.node_id], "no second worker was started there"
    finally:
        nodes.remove(without)


def test_a_target_that_no_node_has_is_refused(nodes):
    """RAY-4: with the reason of each node."""
    if "cuda:0" in chipdock.devices():
        pytest.skip("device cuda:0 is on this machine")
    results = chipdock.ray.map_blocks(DOUBLE, slowly(0), count=2, target="cuda", workers=2, progress=False)
    with pytest.raises(chipdock.Unavailable, match=r'no node of the cluster has target cuda: device API cuda: plugin "cuda" says: no CUDA driver.*\(2 nodes\)'):
        list(results)


def test_workers_without_room_are_waited_for_only_so_long(nodes):
    """RAY-4: no map hangs without a word."""
    results = chipdock.ray.map_blocks(DOUBLE, slowly(0), count=2, threads=64, start_seconds_max=2, **OPTIONS)
    with pytest.raises(chipdock.Unavailable, match=r"no worker could start in 2 s: each asks for \{'CPU': 64\}, and the nodes have"):
        list(results)


@pytest.mark.parametrize("end", ["break", "close", "with", "error"])
def test_workers_end_with_the_results(nodes, end):
    """RAY-8: at once, also where they compute."""

    def read(index):
        import time

        time.sleep(0.0 if index < 2 else 20.0)
        return np.full(4, index, np.float32)

    def use():
        results = chipdock.ray.map_blocks(DOUBLE, read, count=50, workers=2, **OPTIONS)
        if end == "with":
            with results:
                next(results)
                assert workers()
            return
        for _ in results:
            assert workers()
            if end == "error":
                raise KeyError(end)
            break
        if end == "close":
            results.close()

    if end == "error":
        with pytest.raises(KeyError):
            use()
    else:
        use()
    deadline = time.monotonic() + 5
    while workers() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not workers()


def test_ctrl_c_leaves_no_worker(nodes):
    """RAY-8: the driver goes on, its workers are gone."""
    driver = subprocess.Popen(
        [sys.executable, "-u", "-c", textwrap.dedent(f"""
            import sys, time
            sys.path.insert(0, {os.path.dirname(__file__)!r})
            import ray, chipdock.ray
            from conftest import workers
            from test_losses import DOUBLE, slowly
            ray.init(address={nodes.cluster.address!r}, log_to_driver=False)
            try:
                for block in chipdock.ray.map_blocks(DOUBLE, slowly(0.2), count=1000, target="c", workers=2, progress=False):
                    print("block")
            except KeyboardInterrupt:
                deadline = time.monotonic() + 10
                while workers() and time.monotonic() < deadline:
                    time.sleep(0.05)
                print("left", len(workers()))
                time.sleep(0.2)
        """)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    watchdog = threading.Timer(60, driver.kill)
    watchdog.start()
    lines = [driver.stdout.readline() for _ in range(3)]
    driver.send_signal(signal.SIGINT)
    rest, problem = driver.communicate()
    watchdog.cancel()
    assert lines == ["block\n"] * 3, problem
    assert rest.splitlines()[-1:] == ["left 0"], problem
