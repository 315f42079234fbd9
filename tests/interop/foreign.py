"""Tensors of nobody's library: DLPack's structs written field by field, so that any field can be wrong."""

import ctypes


class Fields(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Fields), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Fields),
    ]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# What was given away lives as long as the process: whether it was deleted is counted, not felt.
KEPT = []


class Tensor:
    """A tensor that gives itself away by `__dlpack__`, and counts how often it was given and deleted."""

    def __init__(self, spec):
        data = bytearray.fromhex(spec.get("hex", ""))
        memory = (ctypes.c_uint8 * (len(data) + 256))()
        KEPT.append(memory)
        start = ctypes.addressof(memory)
        self.address = start + (-start % 64) + spec.get("skew", 0)
        self.size_bytes = len(data)
        ctypes.memmove(self.address, bytes(data), len(data))
        self.spec, self.given, self.deleted = spec, 0, 0

    def bytes(self):
        return ctypes.string_at(self.address, self.size_bytes)

    def fields(self):
        spec, shape = self.spec, self.spec["shape"]
        extents = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        strides = spec.get("strides")
        steps = (ctypes.c_int64 * max(len(shape), 1))(*strides) if strides is not None else None
        KEPT.extend([extents, steps])
        offset = spec.get("byte_offset", 0)
        pointer = ctypes.POINTER(ctypes.c_int64)
        return Fields(
            None if spec.get("no_data") else self.address - offset, *spec.get("device", [1, 0]),
            spec.get("ndim", len(shape)), *spec["dtype"],
            pointer() if spec.get("no_shape") else ctypes.cast(extents, pointer),
            ctypes.cast(steps, pointer) if steps is not None else pointer(), offset)

    def __dlpack_device__(self):
        return tuple(self.spec.get("device", [1, 0]))

    def __dlpack__(self, stream=None, max_version=None, dl_device=None, copy=None):
        self.given += 1

        def delete(_):
            self.deleted += 1

        deleter = Deleter(delete)
        address = ctypes.cast(deleter, ctypes.c_void_p)
        if self.spec.get("versioned"):
            if max_version is None:
                raise BufferError("only versioned")
            major, minor = self.spec.get("version", [1, 0])
            managed = Versioned(major, minor, None, address, self.spec.get("flags", 0), self.fields())
        else:
            managed = Managed(self.fields(), None, address)
        KEPT.extend([deleter, managed])
        name = b"dltensor_versioned" if self.spec.get("versioned") else b"dltensor"
        return new_capsule(ctypes.addressof(managed), name, None)
