"""The speed of `chipdock.ray.map_blocks`, on a cluster of this machine: a head and two nodes with one CPU each.

Usage: ray_blocks.py [--json] [--rounds N] [--blocks N] [--only NAME]. It is not called `ray.py`: a script's folder comes first
where Python looks for `ray`.

  scaling    rate of two workers over that of one, one thread each. Compute-bound, so many steps of x = x * x - c for each float32:
             `small`, blocks of 64 KiB, which Ray sends with the call, and `stored`, of 256 KiB, which go by the object stores.
             Not compute-bound: `matmul`, blocks of 256 x 2048 float32 times a 2048 x 2048 matrix, 4 MiB of transport each
  overhead   time per block over that of a bare Ray task with the same arrays in the same window: one that calls the same
             kernel (`task`), and one that returns an array that it has (`noop`); one worker on one node; by size of a block

Contenders run in turn in each round. Time is taken while all workers work, so that no start of a process is in it. Printed: medians of the rounds, and the median, least and greatest of the rounds' ratios.
"""

import argparse
import json
import os
import statistics
import sys
import time

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy as np
import ray
from ray.cluster_utils import Cluster

import chipdock
import chipdock.ray

STORE = 300 << 20
WINDOW = 4
#: Blocks at the end that are not counted: as many as are in flight.
TAIL = 10
MATMUL = """
@T.prim_func(s_tir=True)
def matmul(A: T.Buffer(("m", "k"), "float32"), B: T.Buffer((k, "n"), "float32"), C: T.Buffer((m, n), "float32")):
    m, k = T.int32(), T.int32()
    n = T.int32()
    T.func_attr({"tirx.noalias": True})
    for i, j, p in T.grid(m, n, k):
        with T.sblock("C"):
            vi, vj, vp = T.axis.remap("SSR", [i, j, p])
            with T.init():
                C[vi, vj] = T.float32(0.0)
            C[vi, vj] = C[vi, vj] + A[vi, vp] * B[vp, vj]
"""
ITERATE = """
@T.prim_func(s_tir=True)
def iterate(A: T.Buffer(("n",), "float32"), C: T.Buffer((n,), "float32")):
    n = T.int32()
    T.func_attr({"tirx.noalias": True})
    for i, step in T.grid(n, STEPS):
        with T.sblock("C"):
            vi, vs = T.axis.remap("SR", [i, step])
            with T.init():
                C[vi] = T.float32(0.0)
            C[vi] = C[vi] * C[vi] - A[vi]
"""
NEGATE = """
@T.prim_func(s_tir=True)
def negate(A: T.Buffer(("n",), "float32"), C: T.Buffer((n,), "float32")):
    n = T.int32()
    for i in range(n):
        with T.sblock("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = T.float32(0) - A[vi]
"""
#: Both contenders are on this node.
ON_ONE = {"one": 1.0}


def seconds_per_block(results, n_blocks, all_work=lambda: True):
    """Time per block while all workers work: from when the last has started to when the first could run out of blocks."""
    start, count = None, 0
    for at, _ in enumerate(results):
        now = time.perf_counter()
        if start is None:
            start = now if all_work() else None
        elif at < n_blocks - TAIL:
            count, end = count + 1, now
    if count < n_blocks // 4:
        raise RuntimeError(f"{count} of {n_blocks} blocks were computed while all workers worked; ask for more with --blocks")
    return (end - start) / count


def scaling(kernel, block, constants):
    def made(n_blocks):
        def mapped(n_workers):
            return chipdock.ray.map_blocks(
                kernel, [block] * n_blocks, constants=constants, target="llvm", workers=n_workers, ordered=False, progress=False
            )

        _, found = next(mapped(1))
        alone = chipdock.compile(kernel, "llvm")
        function = alone[alone.functions()[0]]
        assert np.array_equal(found, chipdock.numpy(function(block, *constants.values()))) and np.isfinite(found).all()

        def timed(n_workers):
            results = mapped(n_workers)
            return seconds_per_block(results, n_blocks, lambda: results.report.n_workers == n_workers)

        return {"two workers": lambda: timed(2), "one worker": lambda: timed(1)}

    return made


@ray.remote(num_cpus=1, resources=ON_ONE)
def task(artifact, array):
    """A bare task of the same work: what a careful user writes."""
    call = CACHE.get("call")
    if call is None:
        chipdock.host(threads=1)
        call = CACHE["call"] = chipdock.load(artifact).negate
    return chipdock.numpy(call(chipdock.ray._worker._shared(array)))


@ray.remote(num_cpus=1, resources=ON_ONE)
def noop(_, array):
    """A bare task without work."""
    if CACHE.get("size") != array.size:
        CACHE.update(size=array.size, result=np.zeros(array.shape, np.float32))
    return CACHE["result"]


CACHE = {}


def bare(function, artifact, block, n_blocks):
    """Blocks through a task, so many in flight as the map has."""
    flying = []
    for at in range(n_blocks + WINDOW):
        if at < n_blocks:
            # Ray sends small arguments with the call.
            flying.append(function.remote(artifact, ray.put(block) if block.nbytes > 100_000 else block))
        if len(flying) >= WINDOW or at >= n_blocks:
            ray.wait(flying[:1])
            yield ray.get(flying.pop(0))
            if not flying:
                return


def overhead(size_bytes, function):
    def made(n_blocks):
        block = np.random.rand(size_bytes // 4).astype(np.float32)
        artifact = ray.put(chipdock.compile(NEGATE, "llvm").to_bytes())

        def mapped():
            return chipdock.ray.map_blocks(
                NEGATE, (block for _ in range(n_blocks)), target="llvm", workers=1, progress=False, in_flight=WINDOW,
                ray_remote_args={"resources": ON_ONE},
            )

        assert np.array_equal(next(bare(task, artifact, block, 1)), -block) and np.array_equal(next(mapped()), -block)
        return {
            "map_blocks": lambda: seconds_per_block(mapped(), n_blocks),
            "bare task": lambda: seconds_per_block(bare(function, artifact, block, n_blocks), n_blocks),
        }

    return made



def iterated(size_bytes, steps):
    return scaling(ITERATE.replace("STEPS", str(steps)), np.linspace(0.0, 1.5, size_bytes // 4, dtype=np.float32), {})


MATRIX = np.random.rand(2048, 2048).astype(np.float32)
#: How a case's contenders are made, its goal, and how many times the blocks that are asked for it takes.
CASES = {
    "scaling small": (iterated(64 << 10, 40_000), 1.8, 1),
    "scaling stored": (iterated(256 << 10, 100_000), 1.8, 0.4),
    "scaling matmul": (scaling(MATMUL, np.random.rand(256, 2048).astype(np.float32), {"B": MATRIX}), None, 0.5),
} | {
    f"overhead {name} {size_bytes >> 10} KiB": (overhead(size_bytes, function), 1.1, 3)
    for name, function in (("task", task), ("noop", noop)) for size_bytes in (64 << 10, 1 << 20, 8 << 20)
}


def measure(name, rounds, n_blocks):
    """The contenders of a case in turn, the first over the second."""
    make, goal, more = CASES[name]
    contenders = make(int(n_blocks * more))
    times = {one: [] for one in contenders}
    for _ in range(rounds):
        for one, run in contenders.items():
            times[one].append(run())
    first, second = times.values()
    # Scaling is a ratio of rates, the others are ratios of times.
    scales = name.startswith("scaling")
    ratios = [b / a if scales else a / b for a, b in zip(first, second, strict=True)]
    medians = {one: statistics.median(found) * 1e3 for one, found in times.items()}
    ratio = statistics.median(ratios)
    reached = None if goal is None else ratio >= goal if scales else ratio <= goal
    return {
        "case": name, "ms_per_block": medians, "ratio": ratio, "least": min(ratios), "greatest": max(ratios), "goal": goal,
        "reached": reached,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--blocks", type=int, default=120)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False})
    try:
        for resources in (ON_ONE, None):
            cluster.add_node(num_cpus=1, object_store_memory=STORE, resources=resources)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="warning")
        cases = [measure(name, options.rounds, options.blocks) for name in CASES if options.only in name]
    finally:
        ray.shutdown()
        cluster.shutdown()
    report = {
        "ray": ray.__version__, "chipdock": chipdock.__version__, "load": os.getloadavg(), "n_cpus": os.cpu_count(), "cases": cases,
    }
    if options.json:
        print(json.dumps(report))
        return
    print(f"ray {report['ray']}, {report['n_cpus']} CPUs, load {' '.join(f'{one:.1f}' for one in report['load'])}")
    for case in cases:
        times = ", ".join(f"{name} {ms:.2f} ms" for name, ms in case["ms_per_block"].items())
        spread = f"{case['ratio']:.2f} ({case['least']:.2f} to {case['greatest']:.2f})"
        judged = "no goal" if case["goal"] is None else f"goal {case['goal']}, {'reached' if case['reached'] else 'not reached'}"
        print(f"{case['case']:24} {spread:24} {judged}: {times}")


if __name__ == "__main__":
    sys.exit(main())
