"""The example `examples/transformer`: it runs, and its notebook is of the script as it is."""

from __future__ import annotations

import json
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


def test_the_notebook_is_the_script_with_outputs() -> None:
    script = (EXAMPLE / "transformer.py").read_text(encoding="utf-8")
    cells = json.loads((EXAMPLE / "transformer.ipynb").read_text(encoding="utf-8"))["cells"]
    marks = script.split("\n# %%")[1:]
    assert len(marks) == len(cells)
    for mark, cell in zip(marks, cells, strict=True):
        text = mark.split("\n", 1)[1]
        if cell["cell_type"] == "markdown":
            text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in text.splitlines())
        assert "".join(cell["source"]).strip() == text.strip(), "run jupytext --to ipynb --execute transformer.py"
    printing = [cell for cell in cells if cell["cell_type"] == "code" and "print(" in "".join(cell["source"])]
    assert printing and all(cell["outputs"] and cell["outputs"][0]["output_type"] == "stream" for cell in printing)
