"""Compiling a kernel of TVM: `chipdock.tvm` beside TVM's own `llvm`, until it can be called.

    CHIPDOCK_LIBRARY=…/libchipdock.so PYTHONPATH=python python bench/tvm_compile.py --out target/tvm_compile.json [--rounds 15]

* **Contenders**: TVM's own code generator for `llvm`; `chipdock.tvm` without the compile cache; with it, warm. In turn, in one process.
* **What is measured**: `tvm.compile` and the look-up of the function, which in TVM makes the machine code. Each round compiles a new
  variant of the kernel (another constant), so that nobody answers from memory; with the cache, the same one twice, the second measured.
* **Figures**: medians in seconds, and the median of the rounds' ratios to TVM's, as a load beside it changes from round to round.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import tvm
from tvm import te, topi

import chipdock.tvm

#: Kernels by name: each makes the PrimFunc of a variant, which is a number that it multiplies with.
KERNELS: dict[str, Any] = {}


def kernel(make: Any) -> Any:
    KERNELS[make.__name__] = make
    return make


@kernel
def add(variant: float) -> list[Any]:
    a, b = (te.placeholder((1024,), name=name) for name in "ab")
    return [a, b, te.compute((1024,), lambda i: a[i] * te.const(variant, "float32") + b[i], name="c")]


@kernel
def softmax(variant: float) -> list[Any]:
    a = te.placeholder((64, 256), name="a")
    return [a, topi.nn.softmax(topi.multiply(a, te.const(variant, "float32")))]


@kernel
def matmul(variant: float) -> list[Any]:
    a, b = te.placeholder((128, 128), name="a"), te.placeholder((128, 128), name="b")
    return [a, b, topi.multiply(topi.matmul(a, b), te.const(variant, "float32"))]


@kernel
def conv2d(variant: float) -> list[Any]:
    data, weight = te.placeholder((1, 8, 16, 16), name="data"), te.placeholder((16, 8, 3, 3), name="weight")
    return [data, weight, topi.multiply(topi.nn.conv2d_nchw(data, weight, 1, 1, 1), te.const(variant, "float32"))]


@kernel
def layer_norm(variant: float) -> list[Any]:
    a, gamma, beta = te.placeholder((64, 256), name="a"), te.placeholder((256,), name="gamma"), te.placeholder((256,), name="beta")
    return [a, gamma, beta, topi.multiply(topi.nn.layer_norm(a, gamma, beta, [1]), te.const(variant, "float32"))]


def timed(module: tvm.IRModule, pipeline: str) -> float:
    start = time.perf_counter()
    tvm.compile(module, "llvm", tir_pipeline=pipeline)["main"]
    return time.perf_counter() - start


def measure(name: str, rounds: int) -> dict[str, list[float]]:
    uncached, cached = chipdock.tvm.pipeline(cache=False), chipdock.tvm.pipeline()
    found: dict[str, list[float]] = {"tvm": [], "chipdock": [], "chipdock_cached": []}
    for round_ in range(rounds + 2):
        function = te.create_prim_func(KERNELS[name](1.0 + round_ + time.time_ns() % 1000003 / 1e7)).with_attr("global_symbol", "main")
        module = tvm.IRModule({"main": function})
        runs = [("tvm", "default"), ("chipdock", uncached)]
        times = [(who, timed(module, pipeline)) for who, pipeline in (runs if round_ % 2 else runs[::-1])]
        timed(module, cached)
        times.append(("chipdock_cached", timed(module, cached)))
        # The first rounds warm up.
        for who, seconds in times if round_ >= 2 else ():
            found[who].append(seconds)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="file for the figures, JSON")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    print(f"{'kernel':<12} {'TVM llvm':>10} {'chipdock':>10} {'ratio':>6} {'cached':>10} {'ratio':>6}")
    for name in KERNELS:
        times = measure(name, options.rounds)
        medians = {who: statistics.median(one) for who, one in times.items()}
        ratios = {who: statistics.median(ours / theirs for ours, theirs in zip(one, times["tvm"])) for who, one in times.items()}
        figures[name] = {"seconds": times, "median": medians, "ratio": ratios}
        print(
            f"{name:<12} {medians['tvm'] * 1e3:>7.1f} ms {medians['chipdock'] * 1e3:>7.1f} ms {ratios['chipdock']:>6.2f} "
            f"{medians['chipdock_cached'] * 1e3:>7.1f} ms {ratios['chipdock_cached']:>6.2f}"
        )
    whole = {who: statistics.geometric_mean(one["ratio"][who] for one in figures.values()) for who in ("chipdock", "chipdock_cached")}
    print(f"{'together':<12} {'':>10} {'':>10} {whole['chipdock']:>6.2f} {'':>10} {whole['chipdock_cached']:>6.2f}")
    if options.out:
        document = {"schema": "chipdock.bench.tvm_compile/1", "kernels": figures, "ratio": whole, "tvm": tvm.__version__}
        options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
