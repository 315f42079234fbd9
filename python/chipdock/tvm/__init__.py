"""Has stock TVM compile by the plugins of Chipdock."""

from __future__ import annotations

try:
    import tvm
except ImportError as error:
    raise ImportError("chipdock.tvm needs TVM: pip install apache-tvm==0.27.0.post1") from error

from . import _versions

_versions.check(tvm.__version__)

from ._artifacts import modules
from ._compile import compile
from ._devices import register_devices
from ._versions import SUPPORTED
from ._pipeline import Fallback, FallbackWarning, NotTakenOver, fallbacks, pipeline, register, unregister

__all__ = [
    "SUPPORTED", "Fallback", "FallbackWarning", "NotTakenOver", "compile", "fallbacks", "modules", "pipeline", "register", "register_devices", "unregister"]

register()
