# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # One kernel over an array that no machine's object store holds
#
# A cluster of four nodes is started on this machine, each with an object store of 80 MiB. `chipdock.ray.map_blocks` maps a kernel over an
# array of 384 MiB on disk, compiles once for the processor of the nodes, and writes the result to disk. On the way one node loses power.

# %%
import logging
import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
logging.disable(logging.INFO)  # what Ray says about its start

import numpy as np
import psutil
import ray
from ray.cluster_utils import Cluster

import chipdock
import chipdock.ray

# %% [markdown]
# The driver's node has no CPU for workers; three others have one each. On real machines this is `ray start --head`, and
# `ray start --address=… --resources="$(python -m chipdock.ray)"` on each of the others.

# %%
MIB = 1 << 20
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 80 * MIB, "include_dashboard": False})
nodes = [cluster.add_node(num_cpus=1, object_store_memory=80 * MIB, resources=chipdock.ray.resources()) for _ in range(3)]
ray.init(address=cluster.address, log_to_driver=False, logging_level="warning")
print("devices of this machine:", ", ".join(chipdock.devices()))

# %% [markdown]
# The array: 98,304 rows of 1,024 elements. It is never in memory as a whole.

# %%
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "rows.npy"
rows = np.lib.format.open_memmap(path, "w+", np.float32, (98_304, 1024))
random = np.random.default_rng(20)
for at in range(0, len(rows), 4096):
    rows[at:at + 4096] = random.random((4096, 1024), np.float32) - np.float32(0.5)
gain = random.random(1024, np.float32)
print(f"{rows.nbytes / MIB:.0f} MiB on disk, object stores of 80 MiB")


# %% [markdown]
# The kernel, RMS normalization, is unscheduled: each target schedules it as it likes. `A` is a block, `G` is the same for all blocks,
# and the last buffer, `O`, is the result.

# %%
RMS_NORM = """
@T.prim_func(s_tir=True)
def rms_norm(A: T.Buffer(("n", "d"), "float32"), G: T.Buffer((d,), "float32"), O: T.Buffer((n, d), "float32")):
    n, d = T.int32(), T.int32()
    Q = T.sblock_alloc_buffer((n,))
    for i, k in T.grid(n, d):
        with T.sblock("Q"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Q[vi] = T.float32(0.0)
            Q[vi] = Q[vi] + A[vi, vk] * A[vi, vk]
    for i, j in T.grid(n, d):
        with T.sblock("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = A[vi, vj] * T.rsqrt(Q[vi] / T.Cast("float32", d) + T.float32(1e-06)) * G[vj]
"""


# %% [markdown]
# A machine that loses power: all its processes end at once, and nobody is told.

# %%
def power_off(node):
    raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
    for process in [*raylet.children(recursive=True), raylet]:
        process.kill()
    cluster.remove_node(node, allow_graceful=False)


# %% [markdown]
# The map. Results come in the order of the blocks, while one iterates; they are in the object store, and are written to disk here.

# %%
result = np.lib.format.open_memmap(Path(folder.name) / "result.npy", "w+", np.float32, rows.shape)
start, at, lost = time.perf_counter(), 0, None
mapped = chipdock.ray.map_blocks(RMS_NORM, path, constants={"G": gain}, target="llvm", workers=3, rows=1024)
for block in mapped:
    result[at:at + len(block)] = block
    at += len(block)
    if lost is None and mapped.report.n_done >= 30:
        lost = nodes.pop()
        power_off(lost)
seconds = time.perf_counter() - start

# %%
report = mapped.report
names = {node.node_id: f"node {number}" for number, node in enumerate([*nodes, lost], 1)}
print("| Node | Target | Blocks | |\n|---|---|---|---|")
for (node, target), n_blocks in sorted(report.done_by.items(), key=lambda one: names[one[0][0]]):
    print(f"| {names[node]} | {target} | {n_blocks} | {'lost on the way' if node == lost.node_id else ''} |")
print(f"\n{report.n_done} of {report.n_blocks} blocks in {seconds:.1f} s; {report.n_retried} given to another worker")
print(f"compiled {sum(report.compiled.values())} time; at most {report.n_in_flight_max} blocks in flight")

# %% [markdown]
# No block is missing, and each is right.

# %%
assert at == len(rows) and report.n_done == report.n_blocks
error = 0.0
for first in range(0, len(rows), 4096):
    part = rows[first:first + 4096]
    expected = part / np.sqrt((part * part).mean(axis=1, keepdims=True) + np.float32(1e-6)) * gain
    error = max(error, float(np.abs(result[first:first + 4096] - expected).max()))
assert error < 1e-4, error
print(f"largest difference from numpy: {error:.1e}")

# %%
ray.shutdown()
cluster.shutdown()
del rows, result, part
folder.cleanup()
