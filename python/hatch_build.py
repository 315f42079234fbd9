"""Tags the wheel by the machine that the native files are for; `tools/stage.py` writes which."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Hook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        tag = Path(self.root, "chipdock", "_native", "TAG")
        if not tag.is_file():
            raise RuntimeError("there are no native files: build the wheel with `cargo xtask wheel`")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag.read_text().strip()}"
