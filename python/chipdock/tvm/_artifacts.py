"""Code that was compiled, as modules of TVM (TVM-3)."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tvm
import tvm_ffi

from .._library import function as _function
from .._objects import Module
from ..errors import Unsupported

_embed = _function("load_embedded")
_lock = threading.Lock()


@dataclass(frozen=True)
class Made:
    """A module of TVM's that runs one of ours."""

    module: Any
    compiled: Module
    #: Functions that arrived lowered: they take TVM-FFI's packed arguments by themselves.
    lowered: tuple[str, ...] = ()


#: By the address of the module of TVM's: each lives as long as the process, as its code does.
_made: dict[int, Made] = {}


def address(module: Any) -> int:
    return int(module.__chandle__())


def keep(made: Made) -> Any:
    """Keeps what a module of TVM's was made of, for export and inspection; returns the module."""
    with _lock:
        _made[address(made.module)] = made
    return made.module


def load(library: Path) -> Any:
    """Loads a library; its file may be removed afterwards."""
    return tvm_ffi.load_module(str(library), keep_module_alive=True)


def runnable(compiled: Module) -> Any:
    """Returns a module of TVM that runs a module of ours: from memory, and from a library once entry points are used up."""
    try:
        module = _embed(compiled.to_bytes())
    except Unsupported:
        with tempfile.TemporaryDirectory(prefix="chipdock-tvm-") as folder:
            path = Path(folder) / "module.so"
            compiled.export(path)
            module = load(path)
    return keep(Made(module, compiled))


def made_of(module: Any) -> Made | None:
    """Returns what a module of TVM was made of, if it is one of ours."""
    return _made.get(address(module))


def tree(module: Any) -> Iterator[Any]:
    """Yields a module of TVM and those that it imports, each once."""
    seen: set[int] = set()
    waiting = [module]
    while waiting:
        one = waiting.pop(0)
        if address(one) not in seen:
            seen.add(address(one))
            yield one
            waiting.extend(one.imports)


def modules(executable: Any) -> list[Module]:
    """Returns the modules of Chipdock in an executable or a module of TVM, in the order of its imports."""
    root = executable.mod if isinstance(executable, tvm.runtime.Executable) else executable
    return [made.compiled for made in map(made_of, tree(root)) if made is not None]
