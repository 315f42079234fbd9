"""Finds and loads libchipdock.so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import tvm_ffi

#: Variable that names another libchipdock.so than that of the package.
VARIABLE = "CHIPDOCK_LIBRARY"


def folder() -> Path:
    """Returns the folder with the library, the command and the plugins."""
    named = os.environ.get(VARIABLE)
    return Path(named).parent if named else Path(__file__).parent / "_native"


def path() -> Path:
    """Returns the library's file."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else folder() / "libchipdock.so"


def _load() -> Any:
    library = path()
    if not library.is_file():
        raise ImportError(
            f"chipdock: {library} is not there; install the wheel of chipdock, or let {VARIABLE} name a libchipdock.so"
        )
    return tvm_ffi.load_module(str(library))


# Kept: its functions and types are registered as long as the process lives.
library = _load()


def function(name: str) -> Any:
    """Returns a function of the library."""
    return library.get_function(name)
