"""Finds the modules of these tests, and says when TVM is not there."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent.parent / "tools"):
    sys.path.insert(0, str(folder))


def pytest_configure(config):
    config.addinivalue_line("markers", "sampled: a run takes an eighth of these tests, by a seed; CHIPDOCK_TEST_ALL=1 all")


def pytest_collection_modifyitems(config, items):
    """Takes another eighth of what is marked as sampled for each seed of property tests, and says how many it left."""
    if os.environ.get("CHIPDOCK_TEST_ALL") == "1":
        return
    seed = os.environ.get("PROPTEST_RNG_SEED", "")

    def is_drawn(item):
        digest = hashlib.sha256(f"{seed} {item.name}".encode()).digest()
        return item.get_closest_marker("sampled") is None or digest[0] % 8 == 0

    left = [item for item in items if not is_drawn(item)]
    items[:] = [item for item in items if is_drawn(item)]
    config.hook.pytest_deselected(items=left)


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
