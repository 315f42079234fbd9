"""The Python side of `cargo xtask bench export`: stock tvm_ffi, numpy, torch and real TVM.

Usage: export.py. Each line of standard input is a request as JSON, `{"id": n, "do": what, ...}`, and gets one line on
standard output, `{"id": n, ...}`, or `{"id": n, "error": text}`. What can be asked:

  hello    `imports`: packages that are needed. Answers their versions, and of tvm_ffi its folder and its folders of
           headers and of the library
  calls    `ours` and `peer`, two libraries with the same function `function` of three float32 tensors of 16 elements,
           C = A + B; `kind` of tensors, numpy or torch; `rounds`, `calls`. Checks what both compute, then times them in
           turn: nanoseconds per call of each round, `ours` and `peer`
  export   `path`, `function`, `out`: compiles the module of a file by TVM and exports it to the library `out`;
           nanoseconds of the whole, and of the export alone
"""

import importlib
import importlib.util
import json
import os
import sys
import time
from itertools import repeat

MODULES = {}


def hello(request):
    imported = {name: importlib.import_module(name) for name in request["imports"]}
    from tvm_ffi import libinfo

    folders = {"package": os.path.dirname(imported["tvm_ffi"].__file__), "include": libinfo.find_include_path()}
    folders |= {"dlpack": libinfo.find_dlpack_include_path(), "library": libinfo.find_libtvm_ffi()}
    return {"versions": {name: module.__version__ for name, module in imported.items()}} | folders


def tensors(kind):
    import numpy as np

    arrays = [np.arange(16, dtype=np.float32), np.full(16, 0.5, np.float32), np.zeros(16, np.float32)]
    if kind == "numpy":
        return arrays, arrays
    import torch

    return [torch.from_numpy(array) for array in arrays], arrays


def per_call(function, a, b, c, calls):
    start = time.perf_counter_ns()
    for _ in repeat(None, calls):
        function(a, b, c)
    return (time.perf_counter_ns() - start) / calls


def calls(request):
    import tvm_ffi

    given, arrays = tensors(request["kind"])
    contenders = {}
    for name in ("ours", "peer"):
        function = tvm_ffi.load_module(request[name])[request["function"]]
        arrays[2][...] = 0
        function(*given)
        if not (arrays[2] == arrays[0] + arrays[1]).all():
            raise ValueError(f"{request[name]}: {request['function']} computed {arrays[2]}")
        contenders[name] = function
    times = {name: [] for name in contenders}
    for measured in [False] + [True] * request["rounds"]:
        for name, function in contenders.items():
            ns = per_call(function, *given, request["calls"])
            if measured:
                times[name].append(ns)
    return times


def module(path):
    """The module of a file, read once."""
    if path not in MODULES:
        name = f"kernel_{len(MODULES)}"
        spec = importlib.util.spec_from_file_location(name, path)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[name] = loaded  # where `inspect` finds the source of a class
        spec.loader.exec_module(loaded)
        MODULES[path] = loaded.Module
    return MODULES[path]


def export(request):
    import tvm

    source = module(request["path"])
    start = time.perf_counter_ns()
    built = tvm.compile(source, target="llvm")
    compiled = time.perf_counter_ns()
    built.export_library(request["out"])
    end = time.perf_counter_ns()
    if tvm.runtime.load_module(request["out"])[request["function"]] is None:
        raise ValueError(f"TVM exported no {request['function']}")
    return {"ns": end - start, "export_ns": end - compiled}


REQUESTS = {"hello": hello, "calls": calls, "export": export}


def main():
    # Answers have a descriptor of their own: libraries write to standard output as they please.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = REQUESTS[request["do"]](request)
        except Exception as error:  # noqa: BLE001 - whatever is raised is the answer
            answer = {"error": f"{type(error).__name__}: {str(error).strip()[-600:]}"}
        answers.write(json.dumps({"id": request["id"]} | answer) + "\n")


main()
