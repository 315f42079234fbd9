"""Device APIs of TVM over our plugins (TVM-9)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import topi

import chipdock
import chipdock.tvm
from chipdock.tvm import _devices

import cases
import kernels

NAMES = ["opencl", "vulkan"]


@pytest.fixture(params=NAMES)
def device(request: pytest.FixtureRequest) -> Any:
    if f"{request.param}:0" not in chipdock.devices():
        pytest.skip(f"no device {request.param}:0 on this machine")
    chipdock.tvm.register_devices(request.param)
    return tvm.device(request.param, 0)


def test_attributes_are_those_of_the_plugin(device: Any) -> None:
    name = str(device)
    assert device.exist and not tvm.device(name.split(":")[0], 99).exist
    assert device.device_name == chipdock.attribute(name, "device_name")
    assert device.max_threads_per_block == chipdock.attribute(name, "max_threads_per_block") > 0
    assert len(device.max_thread_dimensions) == 3 and device.total_global_memory > 0
    assert device.max_clock_rate is None or device.max_clock_rate > 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool", "float16", "int64"])
def test_tensors_are_copied_there_and_back(device: Any, dtype: str) -> None:
    array = (np.arange(24).reshape(2, 3, 4) % 5).astype(dtype)
    there = tvm.runtime.tensor(array, device)
    assert there.device == device and (there.numpy() == array).all()
    again = there.copyto(device)
    assert (again.numpy() == array).all() and (there.copyto(tvm.cpu()).numpy() == array).all()
    again.copyfrom(np.zeros_like(array))
    assert (again.numpy() == 0).all() and (there.numpy() == array).all()


def test_empty_and_scalar_tensors(device: Any) -> None:
    assert tvm.runtime.tensor(np.zeros((0, 3), "float32"), device).numpy().shape == (0, 3)
    assert tvm.runtime.tensor(np.float32(5), device).numpy() == 5


def test_views_at_an_offset(device: Any) -> None:
    array = np.arange(64, dtype="float32")
    view = tvm.runtime.tensor(array, device)._create_view((16,), "float32", 32 * 4)
    assert (view.numpy() == array[32:48]).all()
    # A kernel reads there too.
    add = chipdock.tvm.compile(kernels.added(extent=16), str(device).split(":")[0])["add"]
    result = tvm.runtime.empty((16,), "float32", device)
    add(view, result)
    assert (result.numpy() == array[32:48] + 1).all()


def test_memory_is_given_back(device: Any) -> None:
    # More than the device has, one after the other.
    rounds = 64
    size = int(device.total_global_memory) // rounds * 2 // 8
    for _ in range(rounds if size < 1 << 28 else 4):
        tvm.runtime.empty((min(size, 1 << 26),), "float32", device)


def test_an_error_of_the_plugin_keeps_its_class(device: Any) -> None:
    with pytest.raises((chipdock.Error, MemoryError, RuntimeError, ValueError)):
        tvm.runtime.empty((1 << 58,), "float32", device)


def test_tensors_of_chipdock_are_tensors_of_tvm(device: Any) -> None:
    ours = chipdock.to_device(np.arange(8, dtype="float32"), str(device))
    add = chipdock.tvm.compile(kernels.added(extent=8), str(device).split(":")[0])["add"]
    result = tvm.runtime.empty((8,), "float32", device)
    add(ours, result)
    assert (result.numpy() == np.arange(1, 9)).all()
    assert (chipdock.numpy(result) == np.arange(1, 9)).all()


def test_kernels_of_a_device_refuse_tensors_of_another(device: Any) -> None:
    add = chipdock.tvm.compile(kernels.added(), str(device).split(":")[0])["add"]
    with pytest.raises(ValueError, match="device_type"):
        kernels.call(add, np.ones(1024, "float32"))


def test_the_time_evaluator_synchronises(device: Any) -> None:
    executable = chipdock.tvm.compile(kernels.added(), str(device).split(":")[0])
    args = [tvm.runtime.tensor(np.ones(1024, "float32"), device) for _ in range(2)]
    assert executable.mod.time_evaluator("add", device, number=3)(*args).mean > 0
    device.sync()


def test_streams_of_tvm_are_streams_of_the_plugin(device: Any) -> None:
    kind = str(device).split(":")[0]
    # Long enough for the other stream to get ahead.
    size = 768
    case = cases.Case("slow", (cases.f32(size, size),) * 2, topi.matmul)
    slow = chipdock.tvm.compile(cases.topi_module(case), kind)["main"]
    add = chipdock.tvm.compile(kernels.added(extent=size * size), kind)["add"]
    first, second = device.create_raw_stream(), device.create_raw_stream()
    # A plugin that shares no native stream leaves TVM the default one.
    assert (kind == "opencl") == bool(first) == bool(second)
    ones = tvm.runtime.tensor(np.ones((size, size), "float32"), device)
    result = tvm.runtime.tensor(np.zeros((size, size), "float32"), device)
    try:
        for _ in range(6 if first else 1):
            between = tvm.runtime.tensor(np.zeros((size, size), "float32"), device)
            device.set_raw_stream(first)
            slow(ones, ones, between)
            tvm.get_global_func("runtime.Device_StreamSyncFromTo")(device, first or 0, second or 0)
            device.set_raw_stream(second)
            add(between._create_view((size * size,)), result._create_view((size * size,)))
            device.sync(second)
            assert (result.numpy() == size + 1).all()
    finally:
        device.set_raw_stream(0)
    for one in (first, second):
        device.free_raw_stream(one)
    device.sync()


def test_a_device_that_tvm_has_no_type_of_is_refused() -> None:
    with pytest.raises(chipdock.Unsupported, match="'npu'"):
        chipdock.tvm.register_devices("npu")
    with pytest.raises(chipdock.Unavailable, match="no device 'metal' here"):
        chipdock.tvm.register_devices("metal")


def test_registering_again_changes_nothing(device: Any) -> None:
    name = str(device).split(":")[0]
    kept = tvm.runtime.tensor(np.ones(4, "float32"), device)
    assert chipdock.tvm.register_devices(name) == [name]
    assert (kept.numpy() == 1).all()


def test_no_compiler_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(chipdock.Unavailable, match="C\\+\\+ compiler"):
        _devices.build()


def test_the_library_is_built_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = _devices.build()
    monkeypatch.setenv("PATH", "")
    assert _devices.build() == first and [one.name for one in first.parent.iterdir()] == [first.name]
