"""Samples of long tests, by the rules SAMPLE-1 to SAMPLE-3 of tests/support/src/sample.rs."""

from __future__ import annotations

import hashlib
import os
from typing import Any


def keep_sample(config: Any, items: list[Any], sampled: list[Any], one_in: int, what: str) -> None:
    """Leaves out of `items` what the run does not take of `sampled`, which is one test in `one_in`, and reports it."""
    drawn = sampled
    if os.environ.get("CHIPDOCK_TEST_ALL") != "1":
        seed = os.environ.get("PROPTEST_RNG_SEED", "")
        by_hash = sorted(sampled, key=lambda item: hashlib.sha256(f"{seed} {item.name}".encode()).digest())
        drawn = by_hash[: -(-len(sampled) // one_in)]
    left = set(sampled) - set(drawn)
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=list(left))
    if sampled and (log := os.environ.get("CHIPDOCK_SAMPLE_LOG")):
        binary = os.environ.get("NEXTEST_BINARY_ID", "")
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{len(drawn)} of {len(sampled)} {what}\t{binary}\n")
