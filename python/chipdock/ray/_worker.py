"""The actor's class: what runs on the machines of a cluster. It knows nothing of blocks, order and retries."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

import chipdock
from chipdock import _tensors

Array = npt.NDArray[Any]
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Place:
    """Where a worker is, and what it computes for there."""

    node: str
    process_id: int
    #: The target as its machine completes it, as JSON: the key of the artifact. None where it is not available there.
    target: str | None = None
    #: The device API of the target.
    device_api: str = "cpu"
    n_devices: int = 1
    #: Why the target is not available there.
    problem: str = ""


@dataclass(frozen=True)
class Job:
    """What a worker does with each block."""

    function: str | None
    #: Names of the parameters that are the same for all blocks; their arrays travel beside it.
    constants: tuple[str, ...] = ()
    #: Makes the arrays of a block from its number, where blocks are made by the workers.
    read: Callable[[int], Any] | None = None
    device_id: int = 0


def device_api_of(target: Mapping[str, Any], known: Sequence[str]) -> str:
    """Returns the name of the device API that runs a target's code: the first of its keys that is one."""
    return next((key for key in target["keys"] if key in known), str(target["kind"]))


def _portable(method: Callable[P, R]) -> Callable[P, R]:
    """Leaves out of a method's errors what apache-tvm-ffi keeps in them: its 0.1.0 cannot pickle that."""

    @functools.wraps(method)
    def called(*args: P.args, **options: P.kwargs) -> R:
        try:
            return method(*args, **options)
        except Exception as error:
            error.__dict__.pop("__tvm_ffi_error__", None)
            raise

    return called


class Worker:
    """Owns the host of its process and the devices of its machine. Made an actor by ``ray.remote(chipdock.ray.Worker)``."""

    def __init__(self, threads: int = 1) -> None:
        """Makes the host; kernels use that many threads."""
        chipdock.host(threads=threads)
        self._threads = threads
        self._call: _Call | None = None
        self._job = Job(None)

    def devices(self) -> list[str]:
        """Returns the names of the devices of its machine."""
        return chipdock.devices()

    def prepare(self, target: str | None, version: str) -> Place:
        """Completes a target on this machine, and says where that is."""
        import ray

        place = Place(ray.get_runtime_context().get_node_id(), os.getpid())
        if version != chipdock.__version__:
            return _without(place, f"chipdock {chipdock.__version__} is installed there; the driver has {version}")
        try:
            made = chipdock.Target(target)
        except (chipdock.Unavailable, chipdock.NotFound) as error:
            return _without(place, str(error))
        apis = {api["name"]: api for api in chipdock.device_apis()}
        name = device_api_of(made.options, list(apis))
        if name not in apis or not apis[name]["devices"]:
            problem = apis[name]["problem"]["message"] if name in apis and not apis[name]["available"] else "it has no device"
            return _without(place, f"device API {name}: {problem}")
        return Place(place.node, place.process_id, str(chipdock._objects._target_json(made)), name, len(apis[name]["devices"]))

    @_portable
    def compile(self, source: str, file: str, target: str, options: Mapping[str, Any]) -> bytes:
        """Compiles a kernel for a target and returns the artifact."""
        return chipdock.compile(_Text(source, file), target, **{"threads_max": self._threads} | dict(options)).to_bytes()

    @_portable
    def load(self, artifact: bytes, target: str, job: Job, *constants: Any) -> None:
        """Loads an artifact, for `run`."""
        name = device_api_of(chipdock.Target(target).options, [api["name"] for api in chipdock.device_apis()])
        self._job = job
        self._call = _Call(chipdock.load(artifact), job, f"{name}:{job.device_id}", dict(zip(job.constants, constants, strict=True)))

    @_portable
    def run(self, *block: Any) -> Any:
        """Computes one block: an array, or a tuple of them where the kernel has several results."""
        if self._call is None:
            raise chipdock.WrongState("Worker.run: nothing is loaded; call load first")
        arrays = as_arrays(self._job.read(block[0])) if self._job.read is not None else block
        return self._call(arrays)


class _Text(chipdock.Kernel):
    """A kernel's text with the name of the file that it is from on the driver, for messages."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file, self.name = text, file, os.path.basename(file)


def _without(place: Place, problem: str) -> Place:
    return Place(place.node, place.process_id, problem=problem)


def as_arrays(block: Any) -> tuple[Array, ...]:
    """Returns the arrays of a block, compact and row-major."""
    parts = block if isinstance(block, tuple) else (block,)
    return tuple(np.ascontiguousarray(part).reshape(np.shape(part)) for part in parts)


def _shared(array: Any) -> Any:
    """Returns read-only elements of the object store as DLPack takes them: it has no read-only arrays. `_Call` sees that none is
    written."""
    return _tensors.writable(array) if isinstance(array, np.ndarray) else array


@dataclass
class _Call:
    """A function with its constants bound."""

    module: chipdock.Module
    job: Job
    device: str
    constants: dict[str, Any]
    _checked: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        described = self.module.describe()["functions"]
        names = [one["name"] for one in described]
        name = self.job.function or (names[0] if len(names) == 1 else None)
        if name is None or (self.job.function and name not in names):
            raise ValueError(f"function: expected one of {', '.join(names)}, found {self.job.function!r}")
        self.name, self.params = name, next(one["params"] for one in described if one["name"] == name)
        self.function = self.module[name]
        if self.constants and self.params is None:
            raise ValueError(f"constants: the module does not have the names of the parameters of {name}; give them in the blocks")
        unknown = [one for one in self.constants if one not in [param["name"] for param in self.params or ()]]
        if unknown:
            known = ", ".join(param["name"] for param in self.params)
            raise ValueError(f"constants: {name} has no parameter {unknown[0]}; its parameters are {known}")
        self.on_device = self.device.split(":")[0] != "cpu"
        self.given = {key: self._given(value) for key, value in self.constants.items()}

    def _given(self, value: Any) -> Any:
        """What the kernel is given of an input: on a device a copy, else the elements themselves."""
        if not isinstance(value, np.ndarray):
            return value
        return chipdock.to_device(_shared(value), self.device) if self.on_device else _shared(value)

    def __call__(self, arrays: Sequence[Any]) -> Any:
        if self.on_device:
            return _results(self.function(*self._arguments([self._given(array) for array in arrays], self.given)))
        if self._checked:
            return _results(self.function(*self._arguments([_shared(array) for array in arrays], self.given)))
        return self._first(arrays)

    def _arguments(self, arrays: Sequence[Any], constants: Mapping[str, Any]) -> list[Any]:
        """The inputs in the order of the parameters; buffers that remain at the end are the results."""
        if self.params is None:
            return list(arrays)
        rest, inputs = list(arrays), []
        for at, param in enumerate(self.params):
            if param["name"] in constants:
                inputs.append(constants[param["name"]])
            elif rest:
                inputs.append(rest.pop(0))
            else:
                late = [one["name"] for one in self.params[at:] if one["name"] in constants]
                if late or any(one["kind"] != "buffer" for one in self.params[at:]):
                    raise ValueError(
                        f"{self.name}: a block has {len(arrays)} arrays, and parameter {param['name']} is given by none of them and "
                        f"by no constant; constants: {', '.join(constants) or 'none'}"
                    )
                return inputs
        left = f", and {len(rest)} arrays of the block are left over" if rest else ""
        raise ValueError(f"{self.name}: blocks and constants give all parameters, so that no buffer is left for the result{left}")

    def _first(self, arrays: Sequence[Any]) -> Any:
        """Runs on copies and looks whether the kernel wrote to an input: others read the same elements of the store."""
        given = [np.array(array) if isinstance(array, np.ndarray) else array for array in arrays]
        constants = {key: np.array(value) if isinstance(value, np.ndarray) else value for key, value in self.constants.items()}
        results = _results(self.function(*self._arguments(given, constants)))
        pairs = [*zip(arrays, given, strict=True), *((self.constants[key], constants[key]) for key in constants)]
        for before, after in pairs:
            if isinstance(after, np.ndarray) and after.tobytes() != np.asarray(before).tobytes():
                raise ValueError(
                    f"{self.name} writes to an input of shape {after.shape}; blocks and constants are shared in the object store: expected "
                    "a kernel that writes to its last buffers alone"
                )
        self._checked = True
        return results


def _results(found: Any) -> Any:
    """Results as arrays on this machine."""
    if isinstance(found, chipdock.Tensor):
        return chipdock.numpy(found)
    return tuple(chipdock.numpy(one) for one in found)
