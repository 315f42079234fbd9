"""Finds the modules of these tests, and says when TVM is not there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent.parent / "tools"):
    sys.path.insert(0, str(folder))


@pytest.fixture(autouse=True)
def _registered():
    """Every test starts with the pipeline registered, and no function that fell back."""
    import chipdock.tvm

    chipdock.tvm.register()
    chipdock.tvm.fallbacks(clear=True)
    yield
    chipdock.tvm.give_back()
    chipdock.tvm.register()


@pytest.fixture
def opencl():
    """The device opencl:0 of TVM over our plugin."""
    import chipdock
    import chipdock.tvm
    import tvm

    if "opencl:0" not in chipdock.devices():
        pytest.skip("no device opencl:0 on this machine")
    chipdock.tvm.register_devices("opencl")
    return tvm.opencl(0)
