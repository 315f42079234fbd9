"""The example `examples/transformer`: it runs. Its notebook is checked in `test_examples.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import chipdock

EXAMPLE = Path(__file__).parents[3] / "examples" / "transformer"


def test_the_script_compares_every_target_with_tvm_and_numpy() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE / "transformer.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    targets = ["llvm", "c", *(name.split(":")[0] for name in chipdock.devices() if name.split(":")[0] in ("opencl", "vulkan"))]
    assert all(f"chipdock {target} " in done.stdout for target in targets), done.stdout
    assert "loaded again" in done.stdout
