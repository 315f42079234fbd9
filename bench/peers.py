"""The peers of `cargo xtask bench --peers`: real TVM, and numpy, torch, numba and onnxruntime where they have the operation.

Usage: peers.py THREADS. Each line of standard input is a request as JSON, `{"id": n, "do": what, ...}`, and gets one line
on standard output, `{"id": n, ...}`, or `{"id": n, "error": text}`. Whatever else writes to standard output ends up on
standard error. What can be asked:

  hello     versions, and the target that TVM compiles for
  prepare   a kernel: `path`, `function`, `arguments` (each `{"dtype", "shape", "file", "place"}`,
            `place` being where in a page it is to start, or `{"int"}` or `{"float"}`), the
            `contenders` that are wanted and a folder `out`. Runs each once; the bytes of argument k are then in
            `<out>/<contender>.<k>`, of each k or of those in `outputs`. The answer lists who is `ready`, who is `absent`
            and who `failed`, and why; `ways` says which of several ways of a peer was the fastest.
  measure   `contender`, `batches`, `calls`: nanoseconds per call in the fastest batch of so many calls, after one more call
            unless `cold`. TVM is timed by its own evaluator, a loop in C++ over the packed function; the others by a loop in
            Python, whose own cost per call is tens of nanoseconds.
  topi      the names of the kernels of topi_kernels.py; with `name` and `path`, writes that kernel there as TVM prints it
  reference `function`, `arguments`, `out`: what a kernel of bench/kernels computes, in float64: `<out>/reference.<k>`, and
            `<out>/bound.<k>`, how far a float32 result may be from it (speed_peers.py).
  compile   `path`, `function`: nanoseconds from a module in memory to a function that can be called, by TVM.
"""

import importlib.util
import json
import mmap
import os
import pathlib
import sys
import time
import typing

THREADS = int(sys.argv[1])
for variable in ("TVM_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(THREADS)

import numpy as np  # noqa: E402 - the variables come first

EXTRAS = {}
for extra in ("tvm", "ml_dtypes", "torch", "numba", "onnxruntime", "onnx"):
    if importlib.util.find_spec(extra) is not None:
        EXTRAS[extra] = importlib.import_module(extra)
tvm = EXTRAS.get("tvm")

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import speed_peers  # noqa: E402


def target():
    """The host's own processor and features, as TVM's LLVM finds them, and vectors as wide as the machine has."""
    cpu = tvm.get_global_func("tvm.codegen.llvm.GetHostCPUName")()
    features = tvm.get_global_func("tvm.codegen.llvm.GetHostCPUFeatures")()
    mattr = sorted(("+" if bool(there) else "-") + str(name) for name, there in features.items())
    # LLVM holds loops that it vectorizes itself to 256 bits on processors with AVX-512 unless told otherwise.
    mattr = [feature for feature in mattr if feature != "+prefer-256-bit"]
    if "+avx512f" in mattr:
        mattr.append("-prefer-256-bit")
    return tvm.target.Target({"kind": "llvm", "mcpu": str(cpu), "mattr": mattr})


TARGET = target() if tvm else None
MODULES = {}


def module(path):
    """The module of a file, read once."""
    if path not in MODULES:
        name = f"kernel_{len(MODULES)}"
        spec = importlib.util.spec_from_file_location(name, path)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[name] = loaded  # where `inspect` finds the source of a class
        spec.loader.exec_module(loaded)
        MODULES[path] = loaded.Module
    return MODULES[path]


def hello(_request):
    versions = {"numpy": np.__version__}
    versions |= {name: extra.__version__ for name, extra in EXTRAS.items()}
    if tvm is None:
        return {"versions": versions, "threads": THREADS}
    llvm = int(tvm.get_global_func("target.llvm_version_major")())
    return {"versions": versions, "tvm_llvm": llvm, "tvm_target": json.loads(str(TARGET)), "threads": THREADS}


# numpy: what is one expression there. Tensors by the names of parameters; results are written in place.


def np_softmax(A, B):
    e = np.exp(A - A.max(axis=1, keepdims=True))
    np.divide(e, e.sum(axis=1, keepdims=True), out=B)


def np_layernorm(A, G, Bt, O):
    centred = A - A.mean(axis=1, keepdims=True)
    O[:] = centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float32(1e-5)) * G + Bt


def np_rms_norm(A, G, O):
    O[:] = A / np.sqrt((A * A).mean(axis=1, keepdims=True) + np.float32(1e-6)) * G


def np_gelu(A, B):
    inner = np.float32(0.79788456) * (A + np.float32(0.044715) * A * A * A)
    np.multiply(np.float32(0.5) * A, np.float32(1) + np.tanh(inner), out=B)


def np_cast_f16(A, H, B):
    H[:] = A
    B[:] = H * np.float16(1.5)


def np_compare_select(A, B, L, M):
    np.less(A, B, out=L)
    M[:] = np.where(L, A, B)


def np_saturating(A, B, C, D):
    wide = A.astype(np.int16)
    C[:] = np.minimum(wide + B, 255)
    D[:] = np.maximum(wide - B, 0)


def np_polynomial(A, B):
    np.add((np.float32(0.5) * A + np.float32(2)) * A, np.float32(1), out=B)


def np_matmul(A, B, C):
    np.matmul(A, B, out=C)


def np_int8_dot(A, B, C):
    np.matmul(A.astype(np.int32), B.T.astype(np.int32), out=C)


NUMPY = {
    "vector_add": lambda A, B, C: np.add(A, B, out=C),
    "add": lambda A, B, C: np.add(A, B, out=C),
    "scale": lambda A, factor, B: np.multiply(A, np.float32(factor), out=B),
    "unroll_vectorize": np_polynomial,
    "cast_f16": np_cast_f16,
    "compare_select": np_compare_select,
    "saturating_add_u8": np_saturating,
    "divmod_i64": lambda A, B, Q, R: np.divmod(A, B, out=(Q, R)),
    "transpose": lambda A, B: np.copyto(B, A.T),
    "gelu_tanh": np_gelu,
    "softmax": np_softmax,
    "layernorm": np_layernorm,
    "rms_norm": np_rms_norm,
    "int8_dot": np_int8_dot,
    "matmul": np_matmul,
}


# torch: the same, on tensors over the same memory.


def torch_kernels(torch):
    f = torch.nn.functional
    return {
        "vector_add": lambda A, B, C: torch.add(A, B, out=C),
        "add": lambda A, B, C: torch.add(A, B, out=C),
        "scale": lambda A, factor, B: torch.mul(A, factor, out=B),
        "transpose": lambda A, B: B.copy_(A.T),
        "gelu_tanh": lambda A, B: torch._C._nn.gelu(A, approximate="tanh", out=B),
        "softmax": lambda A, B: torch.softmax(A, 1, out=B),
        "layernorm": lambda A, G, Bt, O: O.copy_(f.layer_norm(A, (A.shape[1],), G, Bt, 1e-5)),
        "rms_norm": lambda A, G, O: O.copy_(f.rms_norm(A, (A.shape[1],), G, 1e-6)),
        "conv2d": lambda A, W, O: O.copy_(f.conv2d(A, W, padding=1)),
        "matmul": lambda A, B, C: torch.matmul(A, B, out=C),
    }


# onnxruntime: one node each, inputs and outputs bound to the same memory.

ONNX = {
    "vector_add": ("Add", {}), "add": ("Add", {}), "transpose": ("Transpose", {"perm": [1, 0]}),
    "gelu_tanh": ("Gelu", {"approximate": "tanh"}), "softmax": ("Softmax", {"axis": 1}),
    "layernorm": ("LayerNormalization", {"axis": 1, "epsilon": 1e-5}),
    "conv2d": ("Conv", {"pads": [1, 1, 1, 1]}), "matmul": ("MatMul", {}),
}  # fmt: skip


def onnx_call(function, names, arrays):
    onnx, runtime = EXTRAS["onnx"], EXTRAS["onnxruntime"]
    op, attributes = ONNX[function]
    make = onnx.helper
    infos = [make.make_tensor_value_info(n, onnx.TensorProto.FLOAT, a.shape) for n, a in zip(names, arrays)]
    graph = make.make_graph([make.make_node(op, names[:-1], names[-1:], **attributes)], function, infos[:-1], infos[-1:])
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 20)], ir_version=9)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in zip(names[:-1], arrays[:-1]):
        binding.bind_cpu_input(name, array)
    value = runtime.OrtValue.ortvalue_from_numpy(arrays[-1])
    binding.bind_ortvalue_output(names[-1], value)
    return lambda: session.run_with_iobinding(binding), lambda: value.numpy()


class Tensor(typing.NamedTuple):
    array: np.ndarray
    place: int


class Contender:
    """A function that is ready to be called: what measures it, and its arguments as arrays after a call."""

    def __init__(self, nanoseconds, arrays):
        self.nanoseconds, self.arrays, self.way = nanoseconds, arrays, ""


def python_loop(call):
    def batch(calls):
        start = time.perf_counter_ns()
        for _ in range(calls):
            call()
        return (time.perf_counter_ns() - start) / calls

    def nanoseconds(batches, calls, cold=False):
        if not cold:
            call()
        return min(batch(calls) for _ in range(batches))

    return nanoseconds


def placed(value):
    """A copy that starts where in its page ours starts: a placement of its own costs or wins tens of percents. Scalars as
    they are."""
    if not isinstance(value, Tensor):
        return value
    # Not from numpy, which asks the system for huge pages where ours does not.
    memory = np.frombuffer(mmap.mmap(-1, value.array.nbytes + 4096), np.uint8)
    start = (value.place - memory.ctypes.data) % 4096
    result = memory[start : start + value.array.nbytes].view(value.array.dtype).reshape(value.array.shape)
    result[...] = value.array
    return result


def make_tvm(request, _names, values):
    if tvm is None:
        return "not installed"
    built = tvm.tirx.build(module(request["path"]), target=TARGET)
    arrays = [placed(v) for v in values]
    tensors = [tvm.runtime.from_dlpack(v) if isinstance(v, np.ndarray) else v for v in arrays]
    device = tvm.cpu()

    def nanoseconds(batches, calls, cold=False):
        timed = built.time_evaluator(request["function"], device, number=calls, repeat=batches)
        return min(timed(*tensors).results) * 1e9

    built[request["function"]](*tensors)
    return Contender(nanoseconds, lambda: arrays)


def make_numpy(request, _names, values):
    function = NUMPY.get(request["function"])
    if function is None:
        return "it is no one-liner in numpy"
    values = [placed(v) for v in values]
    function(*values)
    return Contender(python_loop(lambda: function(*values)), lambda: values)


def make_torch(request, _names, values):
    torch = EXTRAS.get("torch")
    if torch is None:
        return "not installed"
    torch.set_num_threads(THREADS)
    function = torch_kernels(torch).get(request["function"])
    if function is None:
        return "it is no one-liner in torch"
    arrays = [placed(v) for v in values]
    tensors = [torch.from_numpy(v) if isinstance(v, np.ndarray) else v for v in arrays]
    with torch.inference_mode():
        function(*tensors)

    def call():
        with torch.inference_mode():
            function(*tensors)

    return Contender(python_loop(call), lambda: arrays)


def make_onnxruntime(request, names, values):
    if not {"onnx", "onnxruntime"} <= set(EXTRAS):
        return "not installed"
    if request["function"] not in ONNX:
        return "it is no single node in ONNX"
    values = [placed(v) for v in values]
    call, result = onnx_call(request["function"], names, values)
    call()
    return Contender(python_loop(call), lambda: values[:-1] + [result()])


def make_way(name, ways, values):
    """The fastest of several ways to the result, each a function that writes into its arguments or returns the result."""
    best, fastest, why = None, float("inf"), ""
    for way in ways:
        arrays = [placed(v) for v in values]
        try:
            call, result = speed_peers.bound_call(name, way, arrays)
            call()
        except Exception as error:  # noqa: BLE001 - another way may do
            why = reason(error)
            continue
        times = []
        while len(times) < 3 and sum(times) < 0.3:
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        if min(times) < fastest:
            best, fastest = (way, call, result, arrays), min(times)
    if best is None:
        raise RuntimeError(why)
    way, call, result, arrays = best
    made = Contender(python_loop(call), lambda: result(arrays))
    made.way = way.__doc__ or ""
    return made


def make_of_speed(name, request, values):
    if name != "numpy" and name not in EXTRAS:
        return "not installed"
    if name == "torch":
        EXTRAS["torch"].set_num_threads(THREADS)
    ways = speed_peers.ways(name, EXTRAS, THREADS).get(request["function"])
    return "it has no such function" if ways is None else make_way(name, ways, values)


MAKERS = {"tvm": make_tvm, "numpy": make_numpy, "torch": make_torch, "onnxruntime": make_onnxruntime}
READY = {}


def argument(entry):
    if "file" in entry:
        data = pathlib.Path(entry["file"]).read_bytes()
        # numpy has no bfloat16 of its own: its bits.
        dtype = "uint16" if entry["dtype"] == "bfloat16" else entry["dtype"]
        return Tensor(np.frombuffer(data, dtype).reshape(entry["shape"]), entry["place"])
    return entry.get("int", entry.get("float"))


def reason(error):
    return f"{type(error).__name__}: {str(error).strip()[-600:]}"


def prepare(request):
    READY.clear()
    values = [argument(entry) for entry in request["arguments"]]
    names = [f"x{k}" for k in range(len(values))]
    absent, failed, out = {}, {}, pathlib.Path(request["out"])
    ways, outputs = {}, request.get("outputs", range(len(values)))
    for name in request["contenders"]:
        try:
            if request.get("speed") and name != "tvm":
                made = make_of_speed(name, request, values)
            else:
                made = MAKERS[name](request, names, values)
        except Exception as error:  # noqa: BLE001 - whatever a peer raises is its answer
            failed[name] = reason(error)
            continue
        if isinstance(made, str):
            absent[name] = made
            continue
        for k, array in enumerate(made.arrays()):
            if isinstance(array, np.ndarray) and k in outputs:
                np.ascontiguousarray(array).tofile(out / f"{name}.{k}")
        READY[name] = made
        if made.way:
            ways[name] = made.way
    return {"ready": list(READY), "absent": absent, "failed": failed, "ways": ways}


def measure(request):
    ready = READY[request["contender"]]
    return {"ns": ready.nanoseconds(request["batches"], request["calls"], request.get("cold", False))}


def reference(request):
    values = [argument(entry).array for entry in request["arguments"]]
    out = pathlib.Path(request["out"])
    parameter, expected, bound = speed_peers.REFERENCES[request["function"]](*values)
    np.ascontiguousarray(expected, np.float64).tofile(out / f"reference.{parameter}")
    np.ascontiguousarray(bound, np.float64).tofile(out / f"bound.{parameter}")
    return {"parameter": parameter}


def compile_(request):
    source = module(request["path"])
    start = time.perf_counter_ns()
    function = tvm.tirx.build(source, target=TARGET)[request["function"]]
    ns = time.perf_counter_ns() - start
    return {"ns": ns, "callable": function is not None}


def topi(request):
    import topi_kernels

    if "name" not in request:
        return {"names": list(topi_kernels.KERNELS)}
    text = topi_kernels.module(request["name"]).script()
    head = "from tvm.script import ir as I\nfrom tvm.script import tirx as T\n"
    pathlib.Path(request["path"]).write_text(head + text + "\n", encoding="utf-8")
    return {"path": request["path"]}


REQUESTS = {"topi": topi, "hello": hello, "prepare": prepare, "measure": measure, "compile": compile_, "reference": reference}


def main():
    # Answers have a descriptor of their own: libraries write to standard output as they please.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = REQUESTS[request["do"]](request)
        except Exception as error:  # noqa: BLE001 - whatever a peer raises is its answer
            answer = {"error": reason(error)}
        answers.write(json.dumps({"id": request["id"]} | answer) + "\n")


main()
