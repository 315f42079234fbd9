"""Reads pairs of TVMScript files with real TVM and compares them.

Usage: tvm_check.py PAIRS, a file of lines `mode<TAB>name<TAB>original<TAB>printed`. Modes: `equal` (TVM must take both
and find them structurally equal), `accepted` (TVM must take the printed one), `refused` (TVM must refuse the original),
`printed` (TVM must refuse the original and take the printed one).
Prints a line for each failure; the exit status is 1 when there was one.
"""

import contextlib
import importlib.util
import io
import pathlib
import re
import sys
import tempfile

import numpy
import tvm

HEADER = "from __future__ import annotations\nfrom tvm.script import ir as I\nfrom tvm.script import tirx as T\n"


def rounded(match):
    """A float literal as the type holds it: TVM keeps what was written."""
    dtype, text = match.groups()
    if dtype == "bfloat16" or not all(c in "+-.e0123456789" for c in text):
        return match.group(0)
    value = float(getattr(numpy, dtype)(float(text)))
    return f"T.{dtype}({value!r})"


def functions(path, folder, count):
    """The functions of a file by name, after Python and TVM have read it."""
    text = pathlib.Path(path).read_text()
    text = re.sub(r"\bT\.(b?float(?:16|32|64))\(([^()\"]+)\)", rounded, text)
    imports = any(line.startswith(("from tvm.script import", "from __future__")) for line in text.splitlines())
    copy = folder / f"m{count}.py"
    copy.write_text(text if imports else HEADER + text)
    spec = importlib.util.spec_from_file_location(copy.stem, copy)
    module = importlib.util.module_from_spec(spec)
    sys.modules[copy.stem] = module  # where `inspect` finds the source of a class
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(errors):
        spec.loader.exec_module(module)
    found = {}
    for name, value in vars(module).items():
        if isinstance(value, tvm.tirx.PrimFunc):
            found[name] = value
        elif isinstance(value, tvm.IRModule):
            for var, function in value.functions_items():
                found[var.name_hint] = function
        elif isinstance(value, type):  # a class without a decorator, which TVM reads as a module by `from_source`
            found.update((n, f) for n, f in vars(value).items() if isinstance(f, tvm.tirx.PrimFunc))
    if not found:
        raise ValueError("no function found")
    return found


def plain(function):
    """Without attributes that only one of the two sides writes down."""
    for name in ("global_symbol", "tirx.is_global_func"):
        if function.attrs is not None and name in function.attrs:
            function = function.without_attr(name)
    return function


def reason(error):
    """What TVM says, on one line: the cause stands at its start or its end, a long line of code between."""
    words = " | ".join(line.strip() for line in str(error).splitlines() if line.strip(" |^"))
    return f"{type(error).__name__}: {words if len(words) < 800 else words[:400] + ' ... ' + words[-400:]}"


def check(mode, original, printed, folder, count):
    if mode in ("refused", "printed"):
        try:
            functions(original, folder, count)
        except BaseException:  # noqa: BLE001 - whatever TVM raises
            if mode == "refused":
                return None
        else:
            return "TVM takes it: say so in the file's first line"
    try:
        ours = functions(printed, folder, count)
    except BaseException as error:  # noqa: BLE001
        return f"TVM refuses the printed form: {reason(error)}"
    if mode == "printed":
        return None
    try:
        theirs = functions(original, folder, f"{count}o")
    except BaseException as error:  # noqa: BLE001
        return f"TVM refuses the original: {reason(error)}"
    if ours.keys() != theirs.keys():
        return f"functions {sorted(ours)} instead of {sorted(theirs)}"
    if mode == "accepted":
        return None
    for name, function in theirs.items():
        a, b = plain(function), plain(ours[name])
        try:
            tvm.ir.assert_structural_equal(a, b, map_free_vars=True)
        except BaseException as error:  # noqa: BLE001
            return f"{name} differs: {str(error).strip()[:1500]}"
    return None


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for count, line in enumerate(pathlib.Path(sys.argv[1]).read_text().splitlines()):
            mode, name, original, printed = line.split("\t")
            why = check(mode, original, printed, pathlib.Path(folder), count)
            if why:
                failures += 1
                print(f"{name}: {why}")
    return 1 if failures else 0


sys.exit(main())
