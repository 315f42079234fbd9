"""The command `chipdock`, which comes with the package."""

from __future__ import annotations

import os
import sys

from . import _library


def main() -> None:
    """Runs the command with the arguments of this process, in its place."""
    command = _library.folder() / "chipdock"
    try:
        os.execv(command, [str(command), *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"chipdock: {command}: {error.strerror}")
