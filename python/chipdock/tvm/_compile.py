"""One function for those who want no names of pipelines (TVM-2)."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax, topi

from ._pipeline import pipeline


def _unscheduled(target: Any) -> Any:
    """TVM's pipeline of Relax for devices, without its schedules: so that ours apply."""
    from tvm.relax.backend import gpu_generic

    def scan(topi_scan: Any) -> Any:
        return lambda builder, call: builder.call_te(
            topi_scan, call.args[0], None if call.attrs.axis is None else int(call.attrs.axis), call.attrs.dtype or None,
            exclusive=bool(call.attrs.exclusive),
        )

    def passes(mod: Any) -> Any:
        # TVM's own kernels of scans rely on 32 threads that run in step; elsewhere their results are wrong.
        in_step = int(target.attrs.get("thread_warp_size", 1)) >= 32
        own = {} if in_step else {"relax.cumsum": scan(topi.cumsum), "relax.cumprod": scan(topi.cumprod)}
        legalise = [
            relax.transform.LegalizeOps(own), relax.transform.AnnotateTIROpPattern(), relax.transform.FoldConstant(),
            relax.transform.FuseOps(), relax.transform.FuseTIR(),
        ]
        dispatch = gpu_generic.library_dispatch_passes(target)
        lower = gpu_generic.dataflow_lower_passes(target) + gpu_generic.finalize_passes(target)
        order = [*dispatch, *legalise] if in_step else [relax.transform.LegalizeOps(own), *dispatch, *legalise]
        with target:
            return tvm.transform.Sequential([*order, *lower])(mod)

    return passes


def compile(mod: Any, target: Any = None, *, relax_pipeline: Any = "default", **options: Any) -> Any:
    """Compiles a function or a module of TVM, as ``tvm.compile`` does, by the plugins of Chipdock.

    Parameters
    ----------
    mod
        A PrimFunc, or an IRModule of PrimFuncs or with functions of Relax.
    target
        A target of TVM: one that was made, a kind's name, or a mapping; by default the current one, else ``"llvm"``.
    relax_pipeline
        As of ``tvm.compile``; ``"default"`` is TVM's own, for devices without its schedules, so that Chipdock's apply.
    options
        As of `pipeline`.

    Returns
    -------
    What ``tvm.compile`` returns: an executable to call, to export, or to give to ``relax.VirtualMachine``.
    """
    if not isinstance(mod, (tvm.IRModule, tvm.tirx.PrimFunc)):
        raise TypeError(f"mod: expected a PrimFunc or an IRModule of TVM, found {mod!r}")
    chosen = tvm.target.Target.current(allow_none=True) if target is None else target
    chosen = tvm.target.Target("llvm" if chosen is None else chosen)
    if relax_pipeline == "default" and "gpu" in chosen.keys:
        relax_pipeline = _unscheduled(chosen)
    return tvm.compile(mod, chosen, relax_pipeline=relax_pipeline, tir_pipeline=pipeline(**options))
