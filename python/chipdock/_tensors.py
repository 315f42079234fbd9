"""Tensors: made, copied, and read as arrays of numpy."""

from __future__ import annotations

import contextlib
import html
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import tvm_ffi

from ._library import function
from ._objects import DeviceLike, Stream, _device, _device_name, _host

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Tensor", "copy", "empty", "from_dlpack", "numpy", "to_device", "zeros"]

_empty, _zeros, _to_device, _copy, _copy_on, _place, _as_strided, _empty_in, _memory_kind, _scope, _map = map(
    function,
    ("empty", "zeros", "to_device", "copy", "copy_on", "tensor_place", "as_strided", "empty_in", "memory_kind", "scope", "map"),
)

#: DLPack's types of devices whose data pointers are addresses.
_ADDRESSES = (1, 2, 3, 10, 11, 13)


class Tensor(tvm_ffi.Tensor):
    """An array on a device: a tensor of TVM-FFI, which every function that is made for one takes, torch's and jax's too by DLPack.

    It has ``shape``, ``strides``, ``dtype``, ``device``, ``ndim``, ``numel()``, ``size(axis)``, ``is_contiguous()`` and ``data_ptr()``
    of TVM-FFI's (the last four and ``ndim`` with its older releases too), and what follows. Where the process has TVM, tensors are ``tvm.runtime.Tensor``: the functions of this
    package take and return those.

    >>> import chipdock
    >>> chipdock.zeros((2, 2)).numpy().tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """

    # TVM-FFI takes no larger class for a tensor.
    __slots__ = ()

    @property
    def byte_offset(self) -> int:
        """The start of the first element, in bytes from its data space; ``data_ptr()`` includes it."""
        return int(_place(self)[1])

    def stride(self, axis: int) -> int:
        """Returns the stride of an axis, in elements; a negative axis counts from the last."""
        return int(self.strides[axis])

    def is_aligned(self, alignment: int) -> bool:
        """Returns whether the first element lies at a multiple of so many bytes: of addresses, or counted from the handle of a
        device whose memory has none."""
        pointer, offset = map(int, _place(self))
        base = pointer if self.device.dlpack_device_type() in _ADDRESSES else 0
        return alignment > 0 and (base + offset) % alignment == 0

    def as_strided(self, shape: Sequence[int], strides: Sequence[int], element_offset: int = 0) -> Tensor:
        """Returns another view of the elements, which shares and keeps the memory: extents and strides in elements, and the first
        element, counted from that of this tensor."""
        found: Tensor = _as_strided(self, tvm_ffi.Shape(tuple(shape)), tvm_ffi.Shape(tuple(strides)), element_offset)
        return found

    @property
    def memory(self) -> str | None:
        """The kind of its memory, as `empty` takes it; None where this package's host did not make it."""
        found: str | None = _memory_kind(_host(), self)
        return found

    @property
    def scope(self) -> str | None:
        """The scope of its memory; None where this package's host did not make it."""
        found: str | None = _scope(_host(), self)
        return found

    @contextlib.contextmanager
    def map(self) -> Iterator[npt.NDArray[Any]]:
        """Gives its elements in place as an array of numpy, within ``with tensor.map() as array:``, after the work of the current
        stream. Calls and work that use the tensor meanwhile, other threads' copies too, are the caller's to order. `Unsupported`
        where the host does not reach its memory."""
        yield _in_place(self, int(_map(_host(), self)))

    def numpy(self) -> npt.NDArray[Any]:
        """Returns its elements as an array of numpy: those of host memory are shared, others are copied."""
        return numpy(self)

    def to(self, device: DeviceLike) -> Tensor:
        """Returns it where it is on that device, else a copy there."""
        there = _device(device)
        return self if there == self.device else to_device(self, there)

    def copy_from(self, source: Any, stream: Stream | None = None) -> Tensor:
        """Copies the elements of an array or a tensor of the same shape and element type, on any device, and returns this tensor.

        With a stream, of the device of one of them, the copy of a tensor is queued there and not waited for: nobody may write the
        source or use the destination before it is done, except by work that is ordered after it, as by `Stream.signal`. Both are
        kept until the stream is synchronised.
        """
        if stream is None:
            copy(source, self)
        else:
            _copy_on(_host(), source, self, stream)
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        import numpy as np

        array = numpy(self)
        return np.array(array, dtype=dtype) if copy else np.asarray(array, dtype=dtype)

    def _repr_html_(self) -> str:
        import numpy as np

        try:
            elements = np.array2string(numpy(self), threshold=100, edgeitems=3)
        except (BufferError, RuntimeError, TypeError) as error:
            # An element type that numpy does not have, such as bfloat16.
            elements = str(error)
        return f"<p>{html.escape(repr(self))}</p><pre>{html.escape(elements)}</pre>"

    def __repr__(self) -> str:
        extents = ", ".join(map(str, self.shape))
        return f"chipdock.Tensor({_device_name(_host(), self.device)}, {self.dtype}[{extents}])"


def _size(self: Tensor, axis: int) -> int:
    """Returns the extent of an axis, in elements; a negative axis counts from the last."""
    return int(self.shape[axis])


def _numel(self: Tensor) -> int:
    """Returns the number of elements."""
    return math.prod(self.shape)


def _is_contiguous(self: Tensor) -> bool:
    """Returns whether the elements are compact and row-major."""
    expected = 1
    for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
        if extent != 1 and stride != expected:
            return 0 in self.shape
        expected *= extent
    return True


# Older releases of TVM-FFI do not have these.
for _name, _accessor in {
    "ndim": property(lambda self: len(self.shape), doc="The number of axes."),
    "numel": _numel,
    "size": _size,
    "is_contiguous": _is_contiguous,
    "data_ptr": lambda self: sum(map(int, _place(self))),
}.items():
    if not hasattr(tvm_ffi.Tensor, _name):
        setattr(Tensor, _name, _accessor)

# What another package chose, TVM for instance, stays.
if tvm_ffi.core._CLASS_TENSOR is tvm_ffi.Tensor:
    tvm_ffi.core._set_class_tensor(Tensor)


def empty(
    shape: Sequence[int],
    dtype: str = "float32",
    device: DeviceLike = "cpu",
    *,
    memory: str | None = None,
    scope: str | None = None,
    alignment: int | None = None,
) -> Tensor:
    """Makes a tensor whose elements are not initialised.

    Parameters
    ----------
    memory
        The kind of memory: ``"device"``; ``"pinned"``: host memory that the device copies at full speed, a tensor of ``cpu:0``;
        ``"host-visible"``: of the device, read and written in place by `Tensor.map`; ``"unified"``: at one address for both. What the
        device does not have is `Unsupported`; `capabilities` lists what it has.
    scope
        The scope of the memory, by default ``"global"``.
    alignment
        In bytes, a power of two.
    """
    where = (_host(), tvm_ffi.Shape(tuple(shape)), dtype, _device(device))
    is_plain = memory is None and scope is None and alignment is None
    made: Tensor = _empty(*where) if is_plain else _empty_in(*where, memory, scope, alignment)
    return made


def zeros(shape: Sequence[int], dtype: str = "float32", device: DeviceLike = "cpu") -> Tensor:
    """Makes a tensor of zeros."""
    made: Tensor = _zeros(_host(), tvm_ffi.Shape(tuple(shape)), dtype, _device(device))
    return made


def from_dlpack(array: Any) -> Tensor:
    """Makes a tensor over the elements of anything with ``__dlpack__``, without a copy."""
    made: Tensor = array if isinstance(array, tvm_ffi.Tensor) else tvm_ffi.from_dlpack(array)  # type: ignore[assignment]
    return made


def to_device(array: Any, device: DeviceLike) -> Tensor:
    """Makes a copy of an array or a tensor on a device."""
    made: Tensor = _to_device(_host(), _readable(array), _device(device))
    return made


def copy(source: Any, destination: Any) -> None:
    """Copies the elements of an array or a tensor to another of the same shape and element type, on any devices."""
    _copy(_host(), _readable(source), from_dlpack(destination))


def _readable(array: Any) -> Tensor:
    """Returns a tensor over an array that is only read: numpy hands out no array by DLPack that must not be written."""
    import numpy as np

    return from_dlpack(writable(array) if isinstance(array, np.ndarray) else array)


def numpy(tensor: Any) -> npt.NDArray[Any]:
    """Returns the elements of a tensor as an array of numpy; those of host memory are shared, others are copied."""
    import numpy as np

    tensor = from_dlpack(tensor)
    if _device_name(_host(), tensor.device).split(":")[0] != "cpu":
        tensor = to_device(tensor, "cpu")
    array: npt.NDArray[Any] = np.from_dlpack(tensor)
    # Before 2.2 numpy takes whatever comes by DLPack as read-only.
    if not array.flags.writeable and np.lib.NumpyVersion(np.__version__) < "2.2.0":
        return writable(array)
    return array


def writable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns an array over the same elements that may be written; the caller sees to it that none is that must not be."""
    import numpy as np

    if array.flags.writeable:
        return array
    # Without elements there is no address to share.
    return np.asarray(_Elements(array)) if array.size else np.empty_like(array)


def _in_place(tensor: Tensor, address: int) -> npt.NDArray[Any]:
    """Returns an array over the elements at an address, which keeps the tensor."""
    import numpy as np

    dtype, shape = np.dtype(str(tensor.dtype)), tuple(map(int, tensor.shape))
    if 0 in shape:
        return np.empty(shape, dtype)
    strides = tuple(int(stride) * dtype.itemsize for stride in tensor.strides)
    return np.asarray(_InPlace(tensor, address, shape, strides, dtype.str))


class _InPlace:
    """The elements of a tensor at an address."""

    def __init__(self, tensor: Tensor, address: int, shape: tuple[int, ...], strides: tuple[int, ...], typestr: str) -> None:
        self._kept = tensor
        self.__array_interface__ = {"version": 3, "shape": shape, "strides": strides, "typestr": typestr, "data": (address, False)}


class _Elements:
    """The elements of an array, to be written too."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._kept = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}
