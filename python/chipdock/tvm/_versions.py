"""Which versions of TVM are supported (TVM-1)."""

from __future__ import annotations

from ..errors import Unsupported

#: The versions of apache-tvm that the tests of this package run with.
SUPPORTED = ("0.27.0.post1",)


def check(found: str) -> None:
    """Refuses a version of TVM that was not tested."""
    if found not in SUPPORTED:
        raise Unsupported(
            f"chipdock.tvm: expected apache-tvm {' or '.join(SUPPORTED)}, the versions that it was tested with, found {found}; "
            f"install apache-tvm=={SUPPORTED[-1]}"
        )
