"""Finds the modules of these tests, and says when TVM is not there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent, HERE.parent.parent / "tools"):
    sys.path.insert(0, str(folder))

import sampling  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "sampled: a run takes one in SHARE of these tests; CHIPDOCK_TEST_ALL=1 all")


#: A run takes one in so many of the tests that are marked as sampled, and of the others.
SHARE = 10
SHARE_OF_OTHERS = 3


def pytest_collection_modifyitems(config, items):
    sampled = [item for item in items if item.get_closest_marker("sampled")]
    files = ", ".join(sorted({item.path.name for item in sampled}))
    others = [item for item in items if item not in sampled]
    sampling.keep_sample(config, items, sampled, SHARE, f"tests of TVM's programs from Python ({files})")
    sampling.keep_sample(config, items, others, SHARE_OF_OTHERS, "tests of the package with TVM")


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
