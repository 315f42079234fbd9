"""Has stock TVM compile by the plugins of Chipdock, and run on their devices.

* **TVM-1 Versions.** Exactly the versions of apache-tvm in `SUPPORTED` are taken, which the tests run with; importing this module
  with another raises `chipdock.Unsupported`, which names both.
* **TVM-2 What is taken over.** `tvm.compile(mod, target, tir_pipeline="chipdock")`, or `pipeline(…)` for a name with options, or
  `compile` for no name. The PrimFuncs of the module are taken at block stage, before TVM lowers anything, so that Chipdock's schedules
  apply; those of one target are compiled together. A graph of Relax is TVM's and runs on its virtual machine; its kernels are ours.
* **TVM-3 Artifacts.** The result is a module of kind ``library`` that TVM-FFI makes itself, over code in memory: no file is written.
  Once the 8192 entry points of the process are used up (FFI-6), a linked library is loaded from a temporary file, which is removed at once.
  Either lives as long as the process.
* **TVM-4 Refusals.** A function that cannot be taken over is named with its reason in `NotTakenOver`, whose cause is Chipdock's error,
  and nothing is built. With ``fallback=True`` TVM's own code generator compiles it and what it calls, the rest stays ours, a
  `FallbackWarning` says so and `fallbacks()` lists it; only for `llvm` and `c`, as the wheel has no run time for devices.
  Refused as a whole: system libraries.
* **TVM-5 Targets.** Options of TVM's target that were set are Chipdock's options of the same name; one that Chipdock's kind does not
  know is an error that names it. What TVM fills in by itself (``mtriple``, limits of devices) is left to Chipdock. Targets of
  devices take unset options of the first device of their kind here, unless ``device=`` says another or None.
* **TVM-6 Side effects.** Importing registers the pipeline ``"chipdock"``, wraps `target.build.llvm` and `target.build.c`, which pass on
  whatever is not ours, and wraps `export_library` and `inspect_source` of `tvm.runtime.Module` (TVM-8). `unregister` undoes all of
  it, `register` does it again. What was compiled goes on to run.
* **TVM-7 Lowered modules.** After ``take_over("llvm", "c")`` modules that arrive at `target.build.<kind>` lowered are compiled as they
  are: with TVM's checks of arguments, without our schedules. Strings in ``metadata[…]`` are resolved by Chipdock's reader, LLVM's
  intrinsics are operators again. Refused: calls of packed functions that are lowered already, and so host functions that launch
  kernels of devices.
* **TVM-8 Export and inspection.** `export_library` of the result takes what it always does; ours are linked as object files with
  TVM's, and code of devices goes into the library. For `llvm` and `c` the library runs in processes without Chipdock, for devices where
  libchipdock.so is loaded, with workspace of TVM's device API (TVM-9). A C compiler with ``ld`` and ``objcopy`` is needed, but for one
  module of ours for the processor.
  `inspect_source()` has the source, or the lowered TVMScript; ``"tir"`` is always the latter. `modules` returns ours.
* **TVM-9 Devices.** `register_devices` gives TVM a device API over our plugins, in C++, built with the system's compiler at first use
  and kept in the user's cache; for the versions of TVM-1 alone. Tensors, workspaces and copies are Chipdock's, and
  streams where the plugin shares native ones; else TVM has the default stream alone. TVM keeps it as long as the process:
  `unregister` leaves it.
* **TVM-10 Threads.** All of it may be called from several threads at once. An export swaps imports of the module that it exports for a
  moment: call no function of that module for the first time meanwhile.

>>> import numpy, tvm, chipdock.tvm
>>> from tvm import te
>>> a = te.placeholder((4,), name="a")
>>> function = te.create_prim_func([a, te.compute((4,), lambda i: a[i] + 1.0, name="b")])
>>> executable = chipdock.tvm.compile(function.with_attr("global_symbol", "add"), "llvm")
>>> result = tvm.runtime.empty((4,), "float32")
>>> executable["add"](tvm.runtime.tensor(numpy.zeros(4, "float32")), result)
>>> result.numpy().tolist()
[1.0, 1.0, 1.0, 1.0]
"""

from __future__ import annotations

try:
    import tvm
except ImportError as error:
    raise ImportError("chipdock.tvm needs TVM: pip install apache-tvm==0.27.0.post1") from error

from . import _versions

_versions.check(tvm.__version__)

from ._artifacts import modules
from ._compile import compile
from ._devices import register_devices
from ._lowered import give_back, take_over
from ._pipeline import pipeline, register, unregister
from ._refusals import Fallback, FallbackWarning, NotTakenOver, fallbacks
from ._versions import SUPPORTED

__all__ = [
    "SUPPORTED", "Fallback", "FallbackWarning", "NotTakenOver", "compile", "fallbacks", "give_back", "modules", "pipeline", "register",
    "register_devices", "take_over", "unregister",
]

register()
