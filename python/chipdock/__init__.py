"""Compiles tensor kernels and runs them on the chips that are there.

>>> import chipdock, numpy as np
>>> module = chipdock.compile("examples/kernels/vector_add.py")
>>> a, b = np.ones(3, np.float32), np.ones(3, np.float32)
>>> chipdock.numpy(module.vector_add(a, b)).tolist()
[2.0, 2.0, 2.0]
"""

from typing import TYPE_CHECKING, Any

from . import errors
from ._objects import (
    Device,
    Graph,
    Host,
    Kernel,
    Module,
    Stream,
    Target,
    Timeline,
    attribute,
    capabilities,
    compile,
    device,
    device_apis,
    device_name,
    devices,
    function,
    host,
    kernel,
    load,
    lower,
    plugins,
    register,
    synchronize,
    target_tags,
    targets,
    unregister,
)
from ._tensors import Tensor, copy, empty, from_dlpack, numpy, to_device, zeros
from ._version import __version__
from .errors import (
    BrokenPlugin,
    Cancelled,
    DeviceLost,
    Error,
    InternalError,
    IoError,
    NotFound,
    OutOfMemory,
    Panic,
    Unavailable,
    Unsupported,
    WrongState,
)

if TYPE_CHECKING:
    from ._bench import Comparison, Limits, Measurement, bench

__all__ = [
    "BrokenPlugin", "Cancelled", "Comparison", "Device", "DeviceLost", "Error", "Graph", "Host", "InternalError", "IoError", "Kernel", "Limits",
    "Measurement", "Module", "NotFound", "OutOfMemory", "Panic", "Stream", "Target", "Tensor", "Timeline", "Unavailable",
    "Unsupported", "WrongState", "__version__", "attribute", "bench", "capabilities", "compile", "copy", "device", "device_apis",
    "device_name", "devices", "empty", "errors", "from_dlpack", "function", "host", "kernel", "load", "lower", "numpy", "plugins",
    "register", "synchronize", "target_tags", "targets", "to_device", "unregister", "zeros",
]


def __getattr__(name: str) -> Any:
    # Measuring is imported when it is first used: it is half of what the package takes to import.
    if name in ("Comparison", "Limits", "Measurement", "bench"):
        from . import _bench

        globals().update((one, getattr(_bench, one)) for one in _bench.__all__)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
