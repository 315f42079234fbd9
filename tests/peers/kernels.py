"""Compiles kernels with real TVM for llvm and runs them.

Usage: kernels.py FOLDER. `plan.json` there is a list of `{"module": file, "functions": [{"name", "arguments"}]}`: a
module as printed, and for each function its arguments, each `{"dtype", "shape"}`, `{"int"}` or `{"float"}`. The bytes of
argument k of function j of module i lie in `<i>.<j>.<k>.in`; after the run, those of every tensor in `<i>.<j>.<k>.out`.
What TVM says against a module or a function is written to `<i>.error` or `<i>.<j>.error`.
"""

import contextlib
import importlib.util
import io
import json
import pathlib
import sys

import ml_dtypes
import numpy
import tvm

HEADER = "from __future__ import annotations\nfrom tvm.script import ir as I\nfrom tvm.script import tirx as T\n"


def reason(error):
    text = str(error).strip() or type(error).__name__
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith(("File ", "^"))]
    return f"{type(error).__name__}: {' | '.join(line for line in lines if line)[-600:]}"


def read(path):
    """The module of a printed file, after Python and TVM have read it."""
    text = path.read_text()
    if not any(line.startswith("from tvm.script import") for line in text.splitlines()):
        path.write_text(HEADER + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # where `inspect` finds the source of a class
    spec.loader.exec_module(module)
    functions = {}
    for name, value in vars(module).items():
        if isinstance(value, tvm.IRModule):
            return value
        if isinstance(value, tvm.tirx.PrimFunc):
            functions[name] = value.with_attr("global_symbol", name)
    return tvm.IRModule(functions)


def tensor(argument, data):
    base, _, lanes = argument["dtype"].partition("x")
    dtype = ml_dtypes.bfloat16 if base == "bfloat16" else base
    shape = argument["shape"] + ([int(lanes)] if lanes else [])
    result = tvm.runtime.empty(tuple(argument["shape"]), argument["dtype"], tvm.cpu())
    return result.copyfrom(numpy.frombuffer(data, dtype).reshape(shape))


def run(compiled, folder, stem, function):
    values = []
    for k, argument in enumerate(function["arguments"]):
        if "dtype" in argument:
            values.append(tensor(argument, (folder / f"{stem}.{k}.in").read_bytes()))
        else:
            values.append(argument.get("int", argument.get("float")))
    compiled[function["name"]](*values)
    for k, (argument, value) in enumerate(zip(function["arguments"], values)):
        if "dtype" in argument:
            (folder / f"{stem}.{k}.out").write_bytes(value.numpy().tobytes())


def main():
    folder = pathlib.Path(sys.argv[1])
    for i, entry in enumerate(json.loads((folder / "plan.json").read_text())):
        try:
            with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
                compiled = tvm.compile(read(folder / entry["module"]), target="llvm")
        except BaseException as error:  # noqa: BLE001 - whatever TVM raises
            (folder / f"{i}.error").write_text(reason(error))
            continue
        for j, function in enumerate(entry["functions"]):
            try:
                run(compiled, folder, f"{i}.{j}", function)
            except BaseException as error:  # noqa: BLE001
                (folder / f"{i}.{j}.error").write_text(reason(error))


main()
