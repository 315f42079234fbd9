"""Builds the device APIs of TVM over our plugins, and registers them (TVM-9)."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

import tvm
import tvm_ffi

from .. import _objects
from .._library import function as _function
from ..errors import Unavailable, Unsupported
from . import _versions

#: Device types of DLPack by the names that TVM has for them, of those that may be registered.
TYPES = {
    "opencl": 4, "vulkan": 7, "metal": 8, "vpi": 9, "rocm": 10, "ext_dev": 12, "oneapi": 14, "webgpu": 15, "hexagon": 16, "trn": 18,
    "cuda": 2,
}
_SOURCE = Path(__file__).with_name("device_api.cc")
#: Functions of libchipdock.so that the device APIs call, in the order of `Library` in the source.
_FUNCTIONS = ("empty", "copy", "device_sync", "device_attribute", "stream", "stream_native", "stream_sync", "stream_wait_for")
_lock = threading.Lock()
_installed: set[str] = set()
_library: Any = None


def _cache() -> Path:
    named = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(named) if named else Path.home() / ".cache") / "chipdock" / "tvm"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _command(output: Path) -> list[str]:
    compiler = shutil.which(os.environ.get("CXX", "c++")) or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise Unavailable(
            "chipdock.tvm: devices need a C++ compiler once, to build a device API against TVM's headers: tried $CXX, c++, g++ and "
            "clang++; install one (package g++ on Debian)"
        )
    ffi = tvm_ffi.libinfo
    include = [Path(tvm.__file__).parent / "include", ffi.find_include_path(), ffi.find_dlpack_include_path()]
    # TVM's symbols are those of the process, which has loaded its libraries for all.
    return [
        compiler, "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w", *(f"-I{one}" for one in include), str(_SOURCE),
        "-o", str(output),
    ]


def build() -> Path:
    """Returns the library of device APIs for the TVM that is loaded; built once for each version, and kept in the user's cache."""
    _versions.check(tvm.__version__)
    # Another TVM-FFI may lay out its classes otherwise: the library is for the pair.
    identity = hashlib.sha256(_SOURCE.read_bytes() + f"{tvm.__version__} {tvm_ffi.__version__}".encode()).hexdigest()[:32]
    library = _cache() / f"device_api-{identity}.so"
    if not library.is_file():
        with tempfile.TemporaryDirectory(dir=_cache()) as folder:
            made = Path(folder) / "device_api.so"
            done = subprocess.run(_command(made), capture_output=True, text=True, check=False)
            if done.returncode:
                raise Unavailable(f"chipdock.tvm: the device API of TVM cannot be built: {' '.join(done.args)}\n{done.stderr[-4000:]}")
            # In place at once: another process may build it too.
            os.replace(made, library)
    return library


def _present() -> list[str]:
    """The device APIs of Chipdock with devices that TVM has a type of and no device API for."""
    names = [api["name"] for api in _objects.device_apis() if api["devices"] and api["name"] in TYPES]
    return [name for name in names if name in _installed or tvm_ffi.get_global_func(f"device_api.{name}", allow_missing=True) is None]


def register_devices(*names: str) -> list[str]:
    """Gives TVM device APIs over the plugins of Chipdock, so that ``tvm.opencl(0)`` has memory, copies and kernels.

    Parameters
    ----------
    names
        Names of device APIs; by default all of this machine that TVM has none for.

    Returns
    -------
    The names that are registered.

    Raises
    ------
    Unsupported
        TVM has no type for such a device, or was not tested with this version.
    Unavailable
        There is no such device, or no C++ compiler.
    """
    global _library
    chosen = list(names) or _present()
    for name in chosen:
        if name not in TYPES:
            raise Unsupported(f"chipdock.tvm: TVM has no device API that could be named {name!r}; known: {', '.join(sorted(TYPES))}")
        found = {api["name"]: api for api in _objects.device_apis()}.get(name)
        if found is None or not found["devices"]:
            problem = (found or {}).get("problem", {}).get("message", "no plugin has such devices")
            raise Unavailable(f"chipdock.tvm: there is no device {name!r} here: {problem}")
    with _lock:
        for name in chosen:
            if name in _installed:
                continue
            if _library is None:
                _library = tvm_ffi.load_module(str(build()))
            _library["install"](TYPES[name], _objects._host(), [_function(one) for one in _FUNCTIONS])
            _installed.add(name)
    return chosen
