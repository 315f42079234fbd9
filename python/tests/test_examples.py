"""The examples in Python as their readers run them, and their notebooks, which are the same in cells."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Each with what it has to print.
SCRIPTS = {
    "examples/digits/classify.py": r"c +98\.44% of 450 are read correctly(.|\n)*wrong are 1 read as 9",
    "examples/vendor-plugin/vendor.py": (
        r"template_c:0(.|\n)*notes\.so +unused +cannot_open(.|\n)*softmax differs(.|\n)*ValueError: the tensor has more"
    ),
}
#: Their notebooks, and those of examples that need another package, which are run by its tests.
NOTEBOOKS = [*SCRIPTS, "examples/transformer/transformer.py", "examples/ray-blocks/ray_blocks.py"]

pytestmark = pytest.mark.skipif(not (ROOT / "examples").is_dir(), reason="the sources with the examples are not here")


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_script_runs(script, tmp_path):
    if script.endswith("vendor.py"):
        for program in ("cc", "make"):
            if shutil.which(program) is None:
                pytest.skip(f"{program} is not installed")
    environment = {**os.environ, "MPLBACKEND": "Agg", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(ROOT / script)], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert re.search(SCRIPTS[script], done.stdout), done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("script", NOTEBOOKS)
def test_the_notebook_is_the_script_with_its_output(script):
    path = ROOT / script
    notebook = json.loads(path.with_suffix(".ipynb").read_text(encoding="utf-8"))
    cells = re.split(r"^# %%.*\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    again = f"write it again: python python/tools/notebook.py {script}"
    assert len(cells) == len(notebook["cells"]), again
    for cell, text in zip(notebook["cells"], cells):
        if cell["cell_type"] == "markdown":
            text = "".join(re.sub(r"^# ?", "", line) for line in text.splitlines(keepends=True))
        source = "".join(cell["source"])
        assert source.strip() == text.strip(), again
        if cell["cell_type"] == "code" and "print(" in source:
            assert cell["outputs"] and cell["outputs"][0]["output_type"] == "stream", again
    outputs = [one for cell in notebook["cells"] for one in cell.get("outputs", [])]
    printed = "".join("".join(one["text"]) for one in outputs if one["output_type"] == "stream")
    assert printed and re.search(SCRIPTS.get(script, ""), printed), printed
    assert not [one for one in outputs if one["output_type"] == "error"]
