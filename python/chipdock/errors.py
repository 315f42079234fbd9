"""Exceptions of Chipdock, by the kinds of its errors.

Kinds that Python has a class of are that class: `ValueError`, `TypeError`, `IndexError`, `KeyError`, `TimeoutError`. The others are below; each is also
the class of Python's that a caller may expect.
"""

from __future__ import annotations

import tvm_ffi


class Error(RuntimeError):
    """An error of Chipdock. Its message says what was expected, what was found and what to do."""


class NotFound(Error, LookupError):
    """A name that does not exist."""


class Unsupported(Error, NotImplementedError):
    """A feature that a target, a device or a plugin does not have."""


class WrongState(Error):
    """A call at the wrong time: freed, shut down, or after a fork."""


class Unavailable(Error):
    """A plugin, a library, a driver or a device that is missing."""


class OutOfMemory(Error, MemoryError):
    """No memory is left; everything is as before the call."""


class DeviceLost(Error):
    """The device is gone until it is opened again."""


class IoError(Error, OSError):
    """A file or a process failed."""


class Cancelled(Error):
    """The work was cancelled."""


class InternalError(Error):
    """A bug of Chipdock; please report it."""


class Panic(InternalError):
    """A panic that was caught; please report it."""


class BrokenPlugin(Error):
    """A plugin broke a rule of the boundary; report it to its maintainer."""


ALL = (
    NotFound, Unsupported, WrongState, Unavailable, OutOfMemory, DeviceLost, IoError, Cancelled, InternalError, Panic, BrokenPlugin,
)

for _one in ALL:
    tvm_ffi.register_error(_one.__name__, _one)

tvm_ffi.register_error("TimeoutError", TimeoutError)
# What Ctrl-C raises in a callback comes back as what it is, not as RuntimeError; from apache-tvm-ffi 0.1.13 on, which brings it back at all.
tvm_ffi.register_error("KeyboardInterrupt", KeyboardInterrupt)
