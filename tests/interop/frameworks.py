"""A framework in miniature, with DLPack's exchange table made field by field: objects, an allocator, and streams.

A table of another major version comes first, with the one that works behind it where a consumer may look for it.
"""

import ctypes

import foreign

Pointer = ctypes.c_void_p
Place = ctypes.POINTER(ctypes.c_void_p)
SetError = ctypes.CFUNCTYPE(None, Pointer, ctypes.c_char_p, ctypes.c_char_p)


class Header(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("prev", Pointer)]


class Table(ctypes.Structure):
    _fields_ = [("header", Header), *((name, Pointer) for name in ("allocate", "take", "give", "look", "stream"))]


# What happened, by name.
COUNTS = dict.fromkeys(("allocated", "taken", "given", "looked", "deleted", "asked"), 0)
# The stream of each device, by type and number.
STREAMS = {}
# By address: what lives until its deleter is called.
LIVE = {}


@ctypes.CFUNCTYPE(None, Pointer)
def delete(managed):
    COUNTS["deleted"] += 1
    del LIVE[managed]


def managed(owner, fields, flags=0):
    made = foreign.Versioned(1, 1, None, ctypes.cast(delete, Pointer), flags, fields)
    address = ctypes.addressof(made)
    LIVE[address] = (made, owner)
    return address


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(foreign.Fields), Place, Pointer, SetError)
def allocate(prototype, out, context, set_error):
    asked = prototype[0]
    if asked.device_id > 3:
        set_error(context, b"MemoryError", b"no such device has memory")
        return -1
    shape = [asked.shape[axis] for axis in range(asked.ndim)]
    count = 1
    for extent in shape:
        count *= extent
    spec = {"shape": shape, "hex": "00" * (count * asked.bits // 8), "device": [asked.device_type, asked.device_id],
            "dtype": [asked.code, asked.bits, asked.lanes]}
    COUNTS["allocated"] += 1
    made = foreign.Tensor(spec)
    out[0] = managed(made, made.fields())
    return 0


@ctypes.CFUNCTYPE(ctypes.c_int, Pointer, Place)
def take(address, out):
    tensor = ctypes.cast(address, ctypes.py_object).value
    if tensor.refuses:
        return -1
    COUNTS["taken"] += 1
    out[0] = managed(tensor, tensor.made.fields(), tensor.made.spec.get("flags", 0))
    return 0


@ctypes.CFUNCTYPE(ctypes.c_int, Pointer, Place)
def give(tensor, out):
    COUNTS["given"] += 1
    made = Given(ctypes.cast(tensor, ctypes.POINTER(foreign.Versioned)))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    out[0] = id(made)
    return 0


@ctypes.CFUNCTYPE(ctypes.c_int, Pointer, ctypes.POINTER(foreign.Fields))
def look(address, out):
    tensor = ctypes.cast(address, ctypes.py_object).value
    COUNTS["looked"] += 1
    out[0] = tensor.made.fields()
    return 0


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, Place)
def stream(device_type, device_id, out):
    COUNTS["asked"] += 1
    out[0] = STREAMS.get((device_type, device_id), 0)
    return 0


TABLE = Table(Header(1, 1, None), *(ctypes.cast(function, Pointer) for function in (allocate, take, give, look, stream)))
ADDRESS = ctypes.addressof(TABLE)
# One without the function that may be missing, and one of a later major version before that.
PLAIN = Table(Header(1, 1, None), TABLE.allocate, TABLE.take, TABLE.give, None, TABLE.stream)
LATER = Header(2, 0, ctypes.addressof(PLAIN))
LONE = Header(2, 0, None)
HOLLOW = Table(Header(1, 1, None), TABLE.allocate, TABLE.take, None, None, TABLE.stream)


# A capsule keeps the address of its name.
NAME = b"dlpack_exchange_api"


KEPT = []


def address_of(kind):
    """The address of the table of a class of tensors: of a capsule, or in releases before 0.1.5 a number."""
    held = getattr(kind, "__dlpack_c_exchange_api__", None) or kind.__c_dlpack_exchange_api__
    if isinstance(held, int):
        return held
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = Pointer, [ctypes.py_object, ctypes.c_char_p]
    return pointer(held, NAME)


class Given:
    """An object that was made of a tensor of somebody else."""

    def __init__(self, tensor):
        self.tensor = tensor

    def values(self, ctype):
        fields = self.tensor[0].tensor
        first = ctypes.cast(fields.data + fields.byte_offset, ctypes.POINTER(ctype))
        return [first[index] for index in range(fields.shape[0])]

    def __del__(self):
        ctypes.CFUNCTYPE(None, Pointer)(self.tensor[0].deleter)(ctypes.addressof(self.tensor[0]))


class Tensor:
    """A tensor of the framework; `spec` as of `foreign.Tensor`."""

    __dlpack_c_exchange_api__ = foreign.new_capsule(ADDRESS, NAME, None)
    # Releases before 0.1.5 look for this.
    __c_dlpack_exchange_api__ = ADDRESS

    def __init__(self, spec, refuses=False):
        self.made, self.refuses = foreign.Tensor(spec), refuses
