"""Code that was compiled, as modules of TVM (TVM-3, TVM-8)."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tvm
import tvm_ffi

from .._library import function as _function
from .._objects import Module
from ..errors import Unsupported

_embed = _function("load_embedded")
_lock = threading.Lock()
#: Modules of TVM that were made of ours, by the address of the object; both live as long as the process, as the code does.
_made: dict[int, tuple[Any, Module]] = {}
_folder: Path | None = None


def _private_folder() -> Path:
    """A folder of this process alone, which is removed at its exit."""
    global _folder
    if _folder is None:
        _folder = Path(tempfile.mkdtemp(prefix="chipdock-tvm-"))
        atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    return _folder


def _address(module: Any) -> int:
    return int(module.__chandle__())


def runnable(compiled: Module) -> Any:
    """Returns a module of TVM that runs a module of ours: from memory, and from a library's file once entry points are used up."""
    try:
        made = _embed(compiled.to_bytes())
    except Unsupported:
        with _lock:
            path = _private_folder() / f"{len(os.listdir(_private_folder()))}.so"
            compiled.export(path)
        made = tvm_ffi.load_module(str(path))
    with _lock:
        _made[_address(made)] = (made, compiled)
    return made


def compiled_of(module: Any) -> Module | None:
    """Returns the module of ours that a module of TVM runs, or None."""
    found = _made.get(_address(module))
    return None if found is None else found[1]


def tree(module: Any) -> Iterator[Any]:
    """Yields a module of TVM and those that it imports, each once."""
    seen: set[int] = set()
    waiting = [module]
    while waiting:
        one = waiting.pop(0)
        if _address(one) not in seen:
            seen.add(_address(one))
            yield one
            waiting.extend(one.imports)


def root_of(executable: Any) -> Any:
    """Returns the module of an executable of TVM, or a module as it is."""
    return executable.mod if isinstance(executable, tvm.runtime.Executable) else executable


def modules(executable: Any) -> list[Module]:
    """Returns the modules of Chipdock in an executable or a module of TVM, in the order of its imports."""
    found = (compiled_of(one) for one in tree(root_of(executable)))
    return [one for one in found if one is not None]
