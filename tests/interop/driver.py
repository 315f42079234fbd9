"""Calls exported libraries through the real tvm_ffi, with nothing else than Python, numpy and, if asked, torch.

Usage: driver.py < PLAN. The plan is JSON: `libraries`, a path for each name, `cases`, and `scenarios`. A line of JSON is
printed for each, `{"begin": NAME}` before it runs, so that a crash has a name. No result is judged here: what was
returned or raised, and what the tensors hold afterwards, is printed as it is.

A case names its `library`, `function`, `kind` of tensors (numpy, tvm_ffi, torch) and `args`. An argument is an object with one key:

  int float bool str bytes none list     that Python value
  complex object function module dtype   values that are no arguments of a kernel
  tensor     dtype, shape, hex: elements in row-major order; strides in elements; `skew`: bytes by which its data is off
             the alignment of its element, or of 64 bytes; `readonly`
  foreign    a tensor that only has `__dlpack__`, made field by field: dtype, shape, hex, device [type, id], strides,
             byte_offset, skew, `no_data`, `no_shape`, versioned, flags, version

What a scenario does is said where it is defined.
"""

import json
import sys

import numpy as np
import tvm_ffi

import foreign
import scenarios


def dtype_of(name):
    # numpy has no bfloat16: torch sees these bits as one.
    return np.dtype(np.int16 if name == "bfloat16" else name)


def array(spec):
    """A numpy array with the elements, strides and alignment that were asked for."""
    dtype, shape = dtype_of(spec["dtype"]), spec["shape"]
    values = np.frombuffer(bytearray.fromhex(spec["hex"]), dtype).reshape(shape)
    strides = spec.get("strides")
    extent = 1 + sum(max(n - 1, 0) * abs(s) for n, s in zip(shape, strides)) if strides else values.size
    first = sum(max(n - 1, 0) * -s for n, s in zip(shape, strides) if s < 0) if strides else 0
    memory = np.full(extent * dtype.itemsize + 256, 0xA5, np.uint8)
    offset = -memory.ctypes.data % 64 + spec.get("skew", 0) + first * dtype.itemsize
    steps = [s * dtype.itemsize for s in strides] if strides else None
    made = np.ndarray(shape, dtype, memory, offset, steps)
    made[...] = values
    made.flags.writeable = not spec.get("readonly", False)
    return made


def as_torch(made, dtype):
    import torch

    tensor = torch.from_numpy(made)
    return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor


class Args:
    """The Python values of a case's arguments, and the bytes of its tensors afterwards."""

    def __init__(self, specs, kind):
        self.tensors = []
        self.kind = kind
        self.values = [self.value(spec) for spec in specs]

    def value(self, spec):
        [(key, what)] = spec.items()
        if key == "tensor":
            return self.tensor(what)
        if key == "foreign":
            made = foreign.Tensor(what)
            self.tensors.append(made.bytes)
            return made
        if key == "list":
            return [self.value(item) for item in what]
        makers = {
            "int": int, "float": float, "bool": bool, "str": str, "bytes": bytes.fromhex,
            "none": lambda _: None, "complex": lambda _: 1j, "object": lambda _: object(),
            "function": lambda _: (lambda *args: None), "dtype": lambda name: tvm_ffi.dtype(name),
            "device": lambda name: tvm_ffi.device(name), "shape": lambda extents: tvm_ffi.Shape(extents),
        }
        return makers[key](what)

    def tensor(self, what):
        made = array(what)
        self.tensors.append(made.tobytes)
        if self.kind == "numpy":
            return made
        if self.kind == "torch":
            return as_torch(made, what["dtype"])
        return tvm_ffi.from_dlpack(made)


def plain(value):
    """A result as JSON: its type and its value."""
    if isinstance(value, (bool, int, float, str)) or value is None:
        return {type(value).__name__: repr(value) if isinstance(value, float) else value}
    return {type(value).__name__: str(value)}


def raised(error):
    return {"class": type(error).__name__, "classes": [c.__name__ for c in type(error).__mro__], "message": str(error)}


def call(modules, case):
    answer = {}
    try:
        args = Args(case["args"], case["kind"])
    except BaseException as error:
        return {"not_made": raised(error)}
    try:
        answer["returned"] = plain(modules[case["library"]][case["function"]](*args.values))
    except BaseException as error:
        answer["raised"] = raised(error)
    answer["tensors"] = [read().hex() for read in args.tensors]
    deleted = [value for value in args.values if isinstance(value, foreign.Tensor)]
    args.values = None
    if deleted:
        answer["deleted"] = [value.deleted for value in deleted]
        answer["given"] = [value.given for value in deleted]
    return answer


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main():
    plan = json.load(sys.stdin)
    say({"release": tvm_ffi.__version__, "python": sys.version.split()[0], "torch": plan.get("torch") and torch_version()})
    modules = {}
    for name, path in plan["libraries"].items():
        say({"begin": f"load {name}"})
        try:
            modules[name] = tvm_ffi.load_module(path)
        except BaseException as error:
            say({"name": f"load {name}", "raised": raised(error)})
    for case in plan.get("cases", []):
        say({"begin": case["name"]})
        say({"name": case["name"], **call(modules, case)})
    for job in plan.get("scenarios", []):
        say({"begin": job["name"]})
        try:
            seen = {"seen": getattr(scenarios, job["scenario"])(modules, plan["libraries"], job)}
        except BaseException as error:
            seen = {"raised": raised(error)}
        say({"name": job["name"], **seen})


def torch_version():
    import torch

    return torch.__version__


if __name__ == "__main__":
    main()
