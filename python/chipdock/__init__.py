"""Compiles tensor kernels and runs them on the chips that are there.

>>> import chipdock, numpy as np
>>> module = chipdock.compile("examples/kernels/vector_add.py")
>>> a, b = np.ones(3, np.float32), np.ones(3, np.float32)
>>> chipdock.numpy(module.vector_add(a, b)).tolist()
[2.0, 2.0, 2.0]
"""

from . import errors
from ._bench import Comparison, Limits, Measurement, bench
from ._objects import (
    Device,
    Host,
    Kernel,
    Module,
    Stream,
    Target,
    Tensor,
    attribute,
    compile,
    copy,
    device,
    device_apis,
    devices,
    empty,
    from_dlpack,
    host,
    kernel,
    load,
    lower,
    numpy,
    plugins,
    synchronize,
    targets,
    to_device,
    zeros,
)
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

__all__ = [
    "BrokenPlugin", "Cancelled", "Comparison", "Device", "DeviceLost", "Error", "Host", "InternalError", "IoError", "Kernel", "Limits",
    "Measurement", "Module", "NotFound", "OutOfMemory", "Panic", "Stream", "Target", "Tensor", "Unavailable", "Unsupported",
    "WrongState", "__version__", "attribute", "bench", "compile", "copy", "device", "device_apis", "devices", "empty", "errors", "from_dlpack", "host", "kernel", "load", "lower",
    "numpy", "plugins", "synchronize", "targets", "to_device", "zeros",
]
