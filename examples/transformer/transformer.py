# ---
# jupyter:
#   jupytext:
#     formats: py:percent,ipynb
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A transformer block of Relax on Chipdock's plugins
#
# Stock TVM builds the graph and runs it on its virtual machine; `chipdock.tvm` compiles its kernels, for the processor and for the
# devices of this machine. The results are compared with those of TVM's own code generator and of numpy.
#
# Needs `pip install chipdock apache-tvm==0.27.0.post1 numpy`, and for devices a C++ compiler, once.

# %%
import math
import time

import numpy as np
import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op

import chipdock
import chipdock.tvm

LENGTH, WIDTH, HEADS = 32, 64, 4

# %% [markdown]
# ## The model
#
# Attention of four heads and a feed-forward layer, each with a norm before it and a residual, in TVM's own `nn` interface.


# %%
class Block(nn.Module):
    def __init__(self) -> None:
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attention(self, x: nn.Tensor) -> nn.Tensor:
        head = WIDTH // HEADS
        query, key, value = (
            op.permute_dims(op.reshape(part, (1, LENGTH, HEADS, head)), (0, 2, 1, 3)) for part in op.split(self.qkv(x), 3, axis=-1)
        )
        scores = op.matmul(query, op.permute_dims(key, (0, 1, 3, 2))) * (1 / math.sqrt(head))
        mixed = op.matmul(op.softmax(scores, axis=-1), value)
        return self.out(op.reshape(op.permute_dims(mixed, (0, 2, 1, 3)), (1, LENGTH, WIDTH)))

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.down(op.gelu(self.up(self.norm2(x))))


module, parameters = Block().export_tvm({"forward": {"x": nn.spec.Tensor((1, LENGTH, WIDTH), "float32")}})
rng = np.random.default_rng(0)
weights = {name: (rng.standard_normal([int(extent) for extent in one.shape]) * 0.1).astype("float32") for name, one in parameters}
x = rng.standard_normal((1, LENGTH, WIDTH)).astype("float32")
print(f"{len(weights)} parameters, {sum(one.size for one in weights.values())} numbers")

# %% [markdown]
# ## The same in numpy


# %%
def norm(x: np.ndarray, name: str) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def dense(x: np.ndarray, name: str) -> np.ndarray:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def block(x: np.ndarray) -> np.ndarray:
    parts = np.split(dense(norm(x, "norm1"), "qkv"), 3, axis=-1)
    query, key, value = (part.reshape(1, LENGTH, HEADS, -1).transpose(0, 2, 1, 3) for part in parts)
    scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(WIDTH // HEADS)
    weight = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (weight / weight.sum(-1, keepdims=True)) @ value
    x = x + dense(mixed.transpose(0, 2, 1, 3).reshape(1, LENGTH, WIDTH), "out")
    up = dense(norm(x, "norm2"), "up")
    gelu = 0.5 * up * (1 + np.vectorize(math.erf)(up / math.sqrt(2)))
    return x + dense(gelu.astype("float32"), "down")


expected = block(x)

# %% [markdown]
# ## Compile and run
#
# The first row is TVM alone. The others differ in one call: `chipdock.tvm.compile` instead of `tvm.compile`.
# `register_devices` gives TVM the devices that Chipdock has.


# %%
def run(executable: tvm.runtime.Executable, device: tvm.runtime.Device) -> tuple[np.ndarray, float]:
    machine = relax.VirtualMachine(executable, device)
    args = [tvm.runtime.tensor(one, device) for one in (x, *weights.values())]
    result = machine["forward"](*args).numpy()
    times = []
    for _ in range(20):
        start = time.perf_counter()
        machine["forward"](*args).numpy()
        times.append(time.perf_counter() - start)
    return result, sorted(times)[len(times) // 2]


devices = {"llvm": tvm.cpu(), "c": tvm.cpu(), **{name: tvm.device(name, 0) for name in chipdock.tvm.register_devices()}}
rows = [("TVM's own llvm", *run(tvm.compile(module, "llvm"), tvm.cpu()), 0)]
for target, device in devices.items():
    executable = chipdock.tvm.compile(module, target)
    kernels = sum(len(one.functions()) for one in chipdock.tvm.modules(executable))
    rows.append((f"chipdock {target}", *run(executable, device), kernels))

of_tvm = rows[0][1]
print(f"{'':<18} {'kernels of ours':>15} {'from numpy':>11} {'from TVM':>10} {'a run':>10}")
for name, result, seconds, kernels in rows:
    apart = [float(np.abs(result - other).max()) for other in (expected, of_tvm)]
    assert max(apart) < 1e-4, (name, apart)
    print(f"{name:<18} {kernels:>15} {apart[0]:>11.1e} {apart[1]:>10.1e} {seconds * 1e3:>7.2f} ms")

# %% [markdown]
# ## Look inside, and export
#
# TVM's own methods work on the result: `inspect_source` has what was compiled, and `export_library` writes a library that runs in a
# process with TVM and without Chipdock.

# %%
executable = chipdock.tvm.compile(module, "c")
(ours,) = chipdock.tvm.modules(executable)
print(*ours.functions(), sep="\n")

# %%
import pathlib
import tempfile

with tempfile.TemporaryDirectory() as folder:
    library = pathlib.Path(folder) / "block.so"
    executable.export_library(str(library))
    loaded = tvm.runtime.load_module(str(library))
    again, _ = run(tvm.runtime.Executable(loaded), tvm.cpu())
    print(f"{library.stat().st_size >> 10} KiB, loaded again: {np.abs(again - expected).max():.1e} from numpy")
