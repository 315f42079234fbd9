"""Chipdock from Python: kernels, devices, tensors, files, errors. What it prints is true by its own checks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import chipdock


# A kernel is a decorated function in TVMScript. TVM need not be there; its text is read, and it is never run as Python.
@chipdock.kernel
def scale(A: T.Buffer(("n",), "float32"), k: T.float32, B: T.Buffer((n,), "float32")):
    n = T.int32()
    for i in range(n):
        with T.sblock("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * k


# The preferred target of this machine, or one that is named; progress shows on a terminal.
module = chipdock.compile(scale, progress=True)
print(module)

# Arrays of numpy are arguments as they are. Buffers at the end that a call leaves out are allocated and returned.
a, b = np.arange(4, dtype=np.float32), np.empty(4, np.float32)
module.scale(a, 3.0, b)
assert b.tolist() == [0.0, 3.0, 6.0, 9.0]

# What is here, and why something is not.
for api in chipdock.device_apis():
    print(api["name"], [one["device"] for one in api["devices"]] or api["problem"]["message"])

# On every device of the machine: tensors there, a call, and the result as an array.
for device in chipdock.devices():
    kind = device.split(":")[0]
    kernel = chipdock.compile(scale, "llvm" if kind == "cpu" else kind)
    there = chipdock.to_device(a, device)
    kernel.scale(there, 3.0, scaled := chipdock.empty(there.shape, device=device))
    assert scaled.numpy().tolist() == b.tolist()
    # Or in one call, which copies to the device and back.
    kernel.run("scale", device, a, 3.0, b)

# A file for others: stock tvm_ffi.load_module takes it, in a process without Chipdock.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "scale.so"
    module.export(path)
    again = chipdock.load(path)
    again.scale(a, 3.0, b)

# A hook of this program changes each source of a kind before it is compiled; its fingerprint is part of the key of cached builds.
@chipdock.register("c.postprocess_source", fingerprint="tour.py 1")
def notice(source: str, target: str) -> str:
    return "// of our own\n" + source


print(chipdock.compile(scale, "c").source().splitlines()[0])
chipdock.unregister("c.postprocess_source")

# Errors are exceptions by kind, and say what was expected and what was found.
try:
    module.scale(a.astype(np.float64), 3.0, b)
except TypeError as error:
    print("TypeError:", str(error).splitlines()[0])
try:
    chipdock.Target({"kind": "c", "opt-levle": 2})
except ValueError as error:
    print("ValueError:", str(error).splitlines()[0])
