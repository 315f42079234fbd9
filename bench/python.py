"""Figures of the package chipdock, beside stock tvm_ffi and TVM in the same Python.

Usage: python.py [--json FILE] [--rounds N] [--calls N]

Needs `chipdock` (PYTHONPATH, and CHIPDOCK_LIBRARY of a release build), numpy and apache-tvm; the lines with torch are left out, and
said to be, where it is not installed. The contenders of a line are visited in turn; a figure is the median of the rounds, and a ratio
is that of the medians. Lines:

  numpy, torch   a call of a kernel of two arrays, B = A + 1 of 16 float32: our module's function over TVM's kernel, exported by TVM
                 and loaded by stock tvm_ffi. Beside them our kernel exported and loaded by stock tvm_ffi, and the same call
                 with three arrays
  tensor         our call with tensors of chipdock over our call with arrays of numpy
  import         `import chipdock` and `chipdock.plugins()` over `import tvm`, in new processes: seconds, and growth of the
                 resident memory. Without torch, which tvm_ffi, and so both, would import where it is installed
"""

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import repeat
from pathlib import Path

KERNELS = """
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def two(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.sblock("B"):
                vi = T.axis.spatial(16, i)
                B[vi] = A[vi] + T.float32(1)

    @T.prim_func(s_tir=True)
    def three(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.sblock("C"):
                vi = T.axis.spatial(16, i)
                C[vi] = A[vi] + B[vi]
"""
IMPORTS = {"ours": "import chipdock; chipdock.plugins()", "tvm": "import tvm", "tvm_ffi": "import tvm_ffi"}
#: What a new process does: seconds of the statement, and bytes by which the resident memory grew.
MEASURE = """
import os, sys, time
sys.modules["torch"] = None
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
before, start = resident(), time.perf_counter()
{statement}
print(time.perf_counter() - start, resident() - before)
"""
#: Goals: a line's ratio is at most this.
GOALS = {"numpy": 1.0, "torch": 1.0, "tensor": 0.8, "import time": 0.2, "import memory": 0.25}


def functions(folder, kernels):
    """The functions by contender: our module's, and those that stock tvm_ffi loads of both compilers' libraries."""
    import tvm
    import tvm_ffi

    import chipdock

    path = folder / "kernels.py"
    path.write_text(kernels)
    spec = importlib.util.spec_from_file_location("kernels", path)
    source = importlib.util.module_from_spec(spec)
    sys.modules["kernels"] = source
    spec.loader.exec_module(source)
    tvm.compile(source.Module, target="llvm").export_library(str(folder / "tvm.so"))
    module = chipdock.compile(path, "llvm")
    module.export(folder / "ours.so")
    peer, exported = (tvm_ffi.load_module(str(folder / f"{name}.so")) for name in ("tvm", "ours"))
    return {name: {"ours": module[name], "tvm": peer[name], "ours exported": exported[name]} for name in ("two", "three")}


def per_call_ns(function, args, calls):
    start = time.perf_counter_ns()
    for _ in repeat(None, calls):
        function(*args)
    return (time.perf_counter_ns() - start) / calls


def in_turn(contenders, rounds, calls):
    """Medians in nanoseconds of `{name: (function, args)}`, visited in turn after one round that does not count."""
    times = {name: [] for name in contenders}
    for counts in [False] + [True] * rounds:
        for name, (function, args) in contenders.items():
            found = per_call_ns(function, args, calls)
            if counts:
                times[name].append(found)
    return {name: statistics.median(found) for name, found in times.items()}


def checked(function, arrays):
    arrays[-1][...] = 0
    function(*arrays)
    expected = arrays[0] + (arrays[1] if len(arrays) == 3 else 1)
    if not (arrays[-1] == expected).all():
        raise ValueError(f"expected {expected}, computed {arrays[-1]}")


def calls(rounds, count):
    import numpy as np

    import chipdock

    with tempfile.TemporaryDirectory() as folder:
        found = functions(Path(folder), KERNELS)
        arrays = [np.arange(16, dtype=np.float32), np.full(16, 0.5, np.float32), np.zeros(16, np.float32)]
        given = {"numpy": arrays, "tensor": [chipdock.from_dlpack(one) for one in arrays]}
        if importlib.util.find_spec("torch"):
            import torch

            given["torch"] = [torch.from_numpy(one) for one in arrays]
        lines = {}
        for name, number in (("two", 2), ("three", 3)):
            contenders = {}
            for kind, args in given.items():
                args = args[-number:] if number == 2 else args
                for who, function in found[name].items():
                    checked(function, arrays[-number:] if number == 2 else arrays)
                    contenders[f"{kind}, {who}"] = (function, args)
            lines[name] = in_turn(contenders, rounds, count)
        return lines


def imports(rounds):
    found = {name: [] for name in IMPORTS}
    for counts in [False] + [True] * rounds:
        for name, statement in IMPORTS.items():
            code = MEASURE.format(statement=statement)
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            if counts:
                found[name].append([float(one) for one in done.stdout.split()[-2:]])
    return {
        name: {"time_s": statistics.median(time_s for time_s, _ in all_), "memory_bytes": statistics.median(size for _, size in all_)}
        for name, all_ in found.items()
    }


def ratios(two, three, imported):
    kinds = [kind for kind in ("numpy", "torch") if f"{kind}, ours" in two]
    found = {kind: two[f"{kind}, ours"] / two[f"{kind}, tvm"] for kind in kinds}
    found |= {f"{kind}, three arrays": three[f"{kind}, ours"] / three[f"{kind}, tvm"] for kind in kinds}
    found["tensor"] = two["tensor, ours"] / two["numpy, ours"]
    found["import time"] = imported["ours"]["time_s"] / imported["tvm"]["time_s"]
    found["import memory"] = imported["ours"]["memory_bytes"] / imported["tvm"]["memory_bytes"]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--calls", type=int, default=2000)
    options = parser.parse_args()
    lines, imported = calls(options.rounds, options.calls), imports(max(options.rounds // 10, 3))
    found = ratios(lines["two"], lines["three"], imported)
    for name, figures in lines.items():
        for contender, ns in figures.items():
            print(f"{name + ' arrays':<13} {contender:<24} {ns:8.1f} ns")
    for name, figure in imported.items():
        print(f"import        {name:<24} {figure['time_s'] * 1e3:8.1f} ms  {figure['memory_bytes'] / 1e6:6.1f} MB")
    for name, ratio in found.items():
        goal = GOALS.get(name)
        verdict = "" if goal is None else f"  goal {goal}: {'met' if ratio <= goal else 'NOT met'}"
        print(f"ratio         {name:<24} {ratio:8.3f}{verdict}")
    if "torch" not in found:
        print("torch is not installed: its lines are left out")
    if options.json:
        report = {"calls_ns": lines, "imports": imported, "ratios": found, "goals": GOALS}
        options.json.write_text(json.dumps(report, indent=1) + "\n")


main()
