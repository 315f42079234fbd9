"""Cases of libchipdock.so in Python: each function is one, and asserts what a user may rely on.

usage: cases.py LIBRARY FOLDER CALLBACKS [CASE...]

LIBRARY is libchipdock.so, FOLDER a folder of the case's own with what it exports, CALLBACKS the plugin of the tests. Writes a line of
JSON for each case: its name, and whether it passed, cannot run in this release, or failed, with the reason.
"""

import ctypes
import gc
import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
import warnings

import numpy as np
import tvm_ffi

ADD = '''
@T.prim_func(s_tir=True)
def add(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), C: T.Buffer((n,), "float32")):
    n = T.int32()
    for i in range(n):
        with T.sblock("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi] + B[vi]
'''
KERNEL = ADD.replace("C[vi] = A[vi] + B[vi]", "C[vi] = A[vi] * T.float32({}) + B[vi]")


class Unable(Exception):
    """This release cannot do what the case needs."""


LIBRARY, FOLDER, CALLBACKS = sys.argv[1:4]


def f(name):
    """A function of the library, by the name under which it is registered."""
    return tvm_ffi.get_global_func("chipdock." + name)


def host():
    return f("host")()


def load_module(path, keeps):
    """Loads a library; a module that is not kept goes with its last reference, which is all that old releases know."""
    try:
        return tvm_ffi.load_module(path, keep_module_alive=keeps)
    except TypeError:
        return tvm_ffi.load_module(path)


def shape(*extents):
    return tvm_ffi.Shape(extents)


def raises(kinds, text, call, *args):
    """Asserts that a call raises one of these classes with the text in its message; returns the exception."""
    try:
        result = call(*args)
    except kinds as error:
        assert text in str(error), f"expected {text!r} in {error}"
        return error
    raise AssertionError(f"expected {kinds} with {text!r}, found the result {result!r}")


def arrays(count=5):
    a = np.arange(count, dtype=np.float32)
    return a, a * 10, np.zeros(count, np.float32)


def device(name):
    return f("device")(host(), name)


def numbers(tensor):
    return np.frombuffer(bytes(f("to_bytes")(host(), tensor)), np.float32).tolist()


# ---- FFI-1, FFI-2 ----

def the_functions_are_global_and_described():
    assert f("version")() == LIB.version()
    assert f("register")() is True
    if not hasattr(tvm_ffi, "get_global_func_metadata") or not hasattr(LIB, "get_function_doc"):
        raise Unable("no metadata of functions")
    found = tvm_ffi.get_global_func_metadata("chipdock.compile")
    assert found["arg_names"] == ["host", "source", "target", "options", "progress"], found
    assert json.loads(found["type_schema"])["type"] == "ffi.Function"
    assert "TVMScript" in LIB.get_function_doc("compile")
    schema = str(tvm_ffi.core.TypeSchema.from_json_str(LIB.get_function_metadata("module_functions")["type_schema"]))
    assert schema in [f"Callable[[chipdock.Module], {array}[str]]" for array in ("Sequence", "Array", "list")], schema


def objects_have_their_types_and_methods():
    h = host()
    target = f("target")(h, "c")
    module = f("compile")(h, ADD, target)
    keys = [getattr(type(one), "__name__", "") for one in (h, target, module)]
    if not hasattr(h, "devices"):
        raise Unable(f"no methods of types that only a library registers: {keys}")
    assert keys == ["Host", "Target", "Module"], keys
    assert json.loads(target.json())["kind"] == "c"
    assert list(module.functions()) == ["add"]
    a, b, c = arrays()
    module.function("add")(a, b, c)
    assert c.tolist() == (a + b).tolist()
    assert any(api["name"] == "cpu" for api in json.loads(h.devices())["device_apis"])


def an_object_of_another_sort_is_refused():
    h = host()
    raises(TypeError, "host: expected a chipdock.Host, found None", f("devices"), None)
    raises(TypeError, "module: expected a chipdock.Module", f("module_functions"), h)
    raises(TypeError, "expected 3 to 5 arguments, found 1", f("compile"), h)
    raises(TypeError, "found 3", f("device"), h, "cpu", 1)
    raises(TypeError, "name: expected a Device, or the name of one, found int", f("device"), h, 7)


def another_copy_keeps_its_objects_apart():
    copy = os.path.join(FOLDER, "libother.so")
    shutil.copy(LIBRARY, copy)
    other = tvm_ffi.load_module(copy)
    own, others = LIB.host('{"isolated": true}'), other.host('{"isolated": true}')
    raises(TypeError, "another copy of libchipdock", other.devices, own)
    raises(TypeError, "another copy of libchipdock", LIB.devices, others)
    # The first copy's functions stay the global ones.
    assert f("devices")(own)
    raises(TypeError, "another copy", f("devices"), others)


# ---- FFI-3 ----

def errors_have_kind_and_place():
    h = host()
    error = raises(ValueError, "Q is not defined here", f("compile"), h, ADD.replace("A[vi] +", "Q[vi] +"), "c", '{"file": "mine.py"}')
    assert "mine.py:8:" in str(error) and "^" in str(error), error
    raises(ValueError, "target kind \"nonsense\" is not known", f("compile"), h, ADD, "nonsense")
    raises(ValueError, "target tag \"no/sense\" is not known", f("compile"), h, ADD, "no/sense")
    raises(ValueError, "unknown field `scedule`", f("compile"), h, ADD, "c", '{"scedule": "none"}')
    raises(ValueError, "options", f("host"), "{")
    raises(RuntimeError, "built file", f("load"), h, os.path.join(FOLDER, "nothing.so"))
    module = f("compile")(h, ADD, "c")
    raises(RuntimeError, "did you mean \"add\"?", f("module_function"), module, "ad")
    a, b, c = arrays()
    add = f("module_function")(module, "add")
    raises(ValueError, "Mismatched C.shape[0]", add, a, b, c[:3])
    raises(TypeError, "Mismatched type on argument #2", add, a, b, 3)
    raises(TypeError, "Mismatched C.dtype", add, a, b, c.astype(np.float64))
    # The next call is not affected.
    add(a, b, c)
    assert c.tolist() == (a + b).tolist()


# ---- FFI-4 ----

def callbacks_are_called_and_their_errors_come_back():
    h = f("host")(json.dumps({"plugin_paths": [CALLBACKS], "isolated": True, "trust": [CALLBACKS]}))
    apply, recover = f("function")(h, "callbacks.apply"), f("function")(h, "callbacks.recover")
    assert f("function")(h, "callbacks.nobody") is None
    assert apply(lambda x, y: x * 10 + y, 4, 2) == 42
    assert apply(lambda text: text.upper(), "a text longer than seven") == "A TEXT LONGER THAN SEVEN"
    a, _, _ = arrays()
    seen = []
    apply(lambda tensor: seen.append(np.from_dlpack(tensor).sum()), a)
    assert seen == [10.0]

    def in_the_callback(x):
        raise KeyError(f"no such {x}")

    error = raises(KeyError, "no such thing", apply, in_the_callback, "thing")
    frames = "".join(traceback.format_tb(error.__traceback__))
    assert "in_the_callback" in frames, frames
    # A plugin that handles the error leaves none behind.
    recovered = recover(in_the_callback, "thing")
    assert (recovered.kind, recovered.message) == ("KeyError", "'no such thing'"), (recovered.kind, recovered.message)
    assert apply(lambda: 1) == 1
    # A callback that calls back: Python, plugin, Python, plugin, Python.
    assert apply(lambda x: apply(lambda y: y + 1, x) * 2, 20) == 42
    error = raises(ValueError, "could not convert", apply, lambda: apply(lambda: float("x")))
    # A compiled function is a value like any other.
    module = f("compile")(host(), ADD, "c")
    add = f("module_function")(module, "add")
    a, b, c = arrays()
    apply(add, a, b, c)
    assert c.tolist() == (a + b).tolist()
    raises(ValueError, "Mismatched C.shape[0]", apply, add, a, b, c[:2])


def a_function_outlives_its_module_and_host():
    module = f("compile")(f("host")("{}"), ADD, "c")
    add = f("module_function")(module, "add")
    del module
    gc.collect()
    a, b, c = arrays()
    add(a, b, c)
    assert c.tolist() == (a + b).tolist()


# ---- Tensors and devices ----

def tensors_live_on_devices():
    h = host()
    for name in DEVICES:
        dev = device(name)
        zeros = f("zeros")(h, shape(2, 3), "float32", dev)
        assert numbers(zeros) == [0.0] * 6, name
        data = np.arange(6, dtype=np.float32)
        tensor = f("from_bytes")(h, data.tobytes(), shape(2, 3), "float32", dev)
        assert numbers(tensor) == data.tolist()
        back = f("to_device")(h, tensor, device("cpu"))
        assert np.from_dlpack(back).reshape(-1).tolist() == data.tolist()
        f("copy")(h, tensor, zeros)
        assert numbers(zeros) == data.tolist()
        assert f("device_name")(h, dev) == (name if ":" in name else name + ":0")
        f("device_sync")(h, dev)
        empty = f("empty")(h, shape(0, 4), "float32", dev)
        assert numbers(empty) == []
        scalar = f("zeros")(h, shape(), "float32", dev)
        assert numbers(scalar) == [0.0]
    raises(ValueError, "expected", f("from_bytes"), h, b"12", shape(3), "float32", device("cpu"))
    raises((ValueError, RuntimeError), "", f("empty"), h, shape(-1), "float32", device("cpu"))
    raises(RuntimeError, "not known", f("empty"), h, shape(1), "float4_e2m1fn", device("cpu"))
    raises(ValueError, "NAME:ID", f("device"), h, "cpu:x")
    assert f("device_attribute")(h, device("cpu"), "nothing_known") is None
    assert isinstance(f("device_attribute")(h, device("cpu"), "device_name"), str)


def memory_is_of_the_kind_that_was_asked_for():
    h = host()
    for name in DEVICES:
        dev = device(name)
        able = json.loads(f("device_capabilities")(h, dev))
        assert able["memory"][0] == {"kind": "device", "scopes": ["global"]}, able
        data = np.arange(6, dtype=np.float32)
        for kind in [one["kind"] for one in able["memory"]]:
            tensor = f("empty_in")(h, shape(6), "float32", dev, kind)
            assert (f("memory_kind")(h, tensor), f("scope")(h, tensor)) == (kind, "global"), name
            f("copy")(h, tvm_ffi.from_dlpack(data), tensor)
            assert numbers(tensor) == data.tolist(), (name, kind)
            if kind != "device":
                assert f("map")(h, tensor) % 64 == 0 and f("map")(h, tensor) != 0
                part = f("as_strided")(tensor, shape(2), shape(1), 3)
                assert (f("memory_kind")(h, part), f("map")(h, part)) == (kind, f("map")(h, tensor) + 12)
        raises(RuntimeError, "", f("empty_in"), h, shape(6), "float32", dev, "device", "near")
        raises(ValueError, "power of two", f("empty_in"), h, shape(6), "float32", dev, "device", "", 48)
        raises(ValueError, "power of two", f("empty_in"), h, shape(6), "float32", dev, "device", "", -64)
        raises(ValueError, "kind of memory", f("empty_in"), h, shape(6), "float32", dev, "paged")
        plain = f("empty")(h, shape(6), "float32", dev)
        assert f("memory_kind")(h, plain) == "device"
        if not name.startswith("cpu"):
            raises(RuntimeError, "does not reach", f("map"), h, plain)
    assert f("memory_kind")(h, tvm_ffi.from_dlpack(data)) is None


def kernels_run_on_every_device():
    h = host()
    for target, name in TARGETS:
        module = f("compile")(h, ADD, target, '{"emit": ["source"]}')
        a, b, c = arrays()
        f("run")(module, "add", device(name), a, b, c)
        assert c.tolist() == (a + b).tolist(), target
        dev = device(name)
        on = [f("to_device")(h, tvm_ffi.from_dlpack(x), dev) for x in (a, b)]
        out = f("zeros")(h, shape(5), "float32", dev)
        f("module_function")(module, "add")(*on, out)
        assert numbers(out) == (a + b).tolist(), target
        assert "add" in f("module_source")(module)
        assert "def add" in f("module_lowered")(module)
        described = json.loads(f("module_describe")(module))
        assert described["functions"][0]["name"] == "add" and described["missing"] is None
        again = f("load_bytes")(h, f("module_bytes")(module))
        out = f("zeros")(h, shape(5), "float32", dev)
        f("module_function")(again, "add")(*on, out)
        assert numbers(out) == (a + b).tolist(), target


SPIN = """# from tvm.script import tirx as T

@T.prim_func
def spin(A: T.Buffer((1,), "float32"), n: T.int64):
    for i in range(n):
        A[0] = A[0] * T.float32(0.5) + T.float32(1)
"""


def a_long_run_ends_before_it_is_done():
    """FFI-12: by its timeout, or by an error of what it asks; then the same function works."""
    for target in ("c", "llvm"):
        module, a = f("compile")(host(), SPIN, target), np.zeros(1, np.float32)
        forever = (module, "spin", device("cpu"))
        raises((TimeoutError, RuntimeError), "deadline", f("run_with"), *forever, '{"timeout_s": 0.05}', None, a, 1 << 60)
        count = [0]

        def enough():
            count[0] += 1
            if count[0] == 3:
                raise ValueError("enough")

        raises((ValueError, RuntimeError), "enough", f("run_with"), *forever, None, tvm_ffi.convert(enough), a, 1 << 60)
        raises(ValueError, "timeout_s", f("run_with"), *forever, '{"timeout_s": -1}', None, a, 3)
        raises(ValueError, "unknown field", f("run_with"), *forever, '{"timeout": 1}', None, a, 3)
        a[0] = 0
        f("run_with")(*forever, '{"timeout_s": 1000}', tvm_ffi.convert(lambda: None), a, 3)
        assert a[0] == 1.75, a


def a_read_only_tensor_is_not_written_back():
    h = host()
    module = f("compile")(h, ADD, TARGETS[-1][0])
    a, b, c = arrays()
    view = np.array(a)
    f("run")(module, "add", device(TARGETS[-1][1]), view[::1], b, c)
    assert view.tolist() == a.tolist() and c.tolist() == (a + b).tolist()


def files_are_written_and_loaded():
    h = host()
    module = f("compile")(h, ADD, "c")
    a, b, _ = arrays()
    for suffix in ("so", "tar", "chipdock"):
        path = os.path.join(FOLDER, "add." + suffix)
        f("module_export")(module, path)
        loaded = f("load")(h, path)
        c = np.zeros(5, np.float32)
        f("module_function")(loaded, "add")(a, b, c)
        assert c.tolist() == (a + b).tolist(), suffix
        assert f("module_lowered")(loaded) is None
    raises(ValueError, "ends in .so, .tar or .chipdock", f("module_export"), module, os.path.join(FOLDER, "add.txt"))
    raises(ValueError, "unknown field", f("module_export"), module, os.path.join(FOLDER, "x.so"), '{"linkr": 1}')
    lowered = f("lower")(h, ADD, "llvm")
    assert "def add" in lowered


# ---- FFI-9 ----

TWO = '''
@T.prim_func(s_tir=True)
def both(A: T.Buffer(("n", 4), "float32"), k: T.int32, S: T.Buffer((4, n), "float32"), D: T.Buffer((n * 4 + k,), "int32")):
    n = T.int32()
    for i, j in T.grid(n, 4):
        with T.sblock("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vj, vi] = A[vi, vj] + T.float32(1)
    for i in range(n * 4 + k):
        with T.sblock("D"):
            vi = T.axis.spatial(n * 4 + k, i)
            D[vi] = vi
'''


def results_are_allocated_where_they_are_left_out():
    h = host()
    for target, name in TARGETS:
        module = f("compile")(h, ADD, target)
        add = f("module_function")(module, "add")
        a, b, _ = arrays()
        on = [f("to_device")(h, tvm_ffi.from_dlpack(x), device(name)) for x in (a, b)]
        result = add(*on)
        assert numbers(result) == (a + b).tolist(), target
        assert str(result.device) == str(on[0].device)
        raises(TypeError, "Expected 3 arguments", add)
        raises((TypeError, ValueError), "", add, 1, 2)
    both = f("module_function")(f("compile")(h, TWO, "c"), "both")
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    s, d = [np.from_dlpack(one) for one in both(a, 2)]
    assert s.tolist() == (a.T + 1).tolist() and d.tolist() == list(range(14)) and d.dtype == np.int32
    d = np.from_dlpack(both(a, 2, s))
    assert d.shape == (14,)
    raises(ValueError, "it comes to -4; pass the tensor", both, a[:0], -4)
    # A number is never made up.
    raises(TypeError, "Expected 4 arguments", both, a)


# ---- FFI-13 ----

def a_graph_is_recorded_and_replayed():
    h = host()
    for target, name in TARGETS:
        dev = device(name)
        a, b, _ = arrays()
        x, y = (f("to_device")(h, tvm_ffi.from_dlpack(one), dev) for one in (a, b))
        out = f("zeros")(h, shape(5), "float32", dev)
        raises(RuntimeError, "records no graph", f("record_end"))
        if name.startswith("cpu"):
            raises(RuntimeError, "run when they are called", f("record_begin"), h, dev, x)
            continue
        add = f("module_function")(f("compile")(h, ADD, target), "add")
        stream = f("stream")(h, dev)
        f("record_begin")(h, dev, x, out)
        f("record_keep")(h, y)
        add(x, y, out)
        graph = f("record_end")()
        assert f("graph_size")(graph) == 1 and f("graph_device")(graph) == dev
        f("graph_replay")(graph, stream, y, out)
        f("stream_sync")(stream)
        assert numbers(out) == (b + b).tolist(), target
        f("graph_replay")(graph, None, x, out)
        assert numbers(out) == (a + b).tolist(), target
        f("record_begin")(h, dev)
        raises(RuntimeError, "cannot be part of the graph", f("stream_sync"), stream)
        f("record_give_up")()
        f("record_give_up")()
        f("stream_sync")(stream)


# ---- FFI-5 ----

def a_stream_is_current_for_its_thread():
    h = host()
    for target, name in TARGETS:
        dev = device(name)
        try:
            stream = f("stream")(h, dev)
        except RuntimeError:
            continue
        module = f("compile")(h, ADD, target)
        add = f("module_function")(module, "add")
        a, b, _ = arrays()
        on = [f("to_device")(h, tvm_ffi.from_dlpack(x), dev) for x in (a, b)]
        out = f("zeros")(h, shape(5), "float32", dev)
        assert f("set_stream")(h, dev, stream) is None
        add(*on, out)
        f("stream_sync")(stream)
        other = f("stream")(h, dev)
        f("stream_wait_for")(other, stream)
        timeline, back = f("timeline")(h, dev, 3), f("zeros")(h, shape(5), "float32", dev)
        assert f("timeline_value")(timeline) == 3 and f("timeline_device")(timeline) == dev
        f("stream_signal")(stream, timeline, 4)
        f("stream_wait")(other, timeline, 4)
        f("copy_on")(h, out, back, other)
        f("stream_signal")(other, timeline, 5)
        assert f("timeline_wait")(timeline, 5, None) and f("timeline_value")(timeline) == 5
        assert numbers(back) == (a + b).tolist(), target
        f("timeline_set")(timeline, 6)
        assert not f("timeline_wait")(timeline, 7, 1000)
        raises(ValueError, "values of a timeline rise", f("timeline_set"), timeline, 6)
        raises(RuntimeError, "reach 7", f("stream_wait"), other, timeline, 7)
        raises(ValueError, "0 or more", f("timeline_set"), timeline, -1)
        before = f("set_stream")(h, dev, None)
        assert before is not None
        assert f("set_stream")(h, dev, None) is None
        assert numbers(out) == (a + b).tolist(), target
    cpu, last = device("cpu"), device(TARGETS[-1][1])
    raises(ValueError, "expected one of", f("set_stream"), h, cpu, f("stream")(h, last))


def a_call_runs_on_the_stream_of_the_environment():
    if not hasattr(tvm_ffi, "use_raw_stream"):
        raise Unable("no tvm_ffi.use_raw_stream")
    h, ran = host(), []
    for target, name in TARGETS:
        if target not in ("opencl",):
            continue
        dev = device(name)
        stream = f("stream")(h, dev)
        native = f("stream_native")(stream)
        module = f("compile")(h, ADD, target)
        add = f("module_function")(module, "add")
        a, b, _ = arrays()
        on = [f("to_device")(h, tvm_ffi.from_dlpack(x), dev) for x in (a, b)]
        out = f("zeros")(h, shape(5), "float32", dev)
        with tvm_ffi.use_raw_stream(dev, native):
            add(*on, out)
        f("stream_sync")(stream)
        assert numbers(out) == (a + b).tolist()
        ran.append(target)
    if not ran:
        raise Unable("no device that shares its streams")


# ---- FFI-6 ----

def stock_tvm_ffi_loads_libraries_with_device_code():
    h = host()
    for target, name in TARGETS:
        if name == "cpu":
            continue
        text = KERNEL.format("3.0")
        module = f("compile")(h, text, target)
        path = os.path.join(FOLDER, f"device-{target}.so")
        f("module_export")(module, path)
        a, b, _ = arrays()
        dev = device(name)
        on = [f("to_device")(h, tvm_ffi.from_dlpack(x), dev) for x in (a, b)]
        for keeps in (False, False, True):
            # A module that goes takes nothing with it that the next one of the same file needs.
            loaded = load_module(path, keeps)
            out = f("zeros")(h, shape(5), "float32", dev)
            loaded["add"](*on, out)
            assert numbers(out) == (a * 3 + b).tolist(), target
        # A wrong call fails in stock TVM-FFI as it does here.
        raises(ValueError, "Mismatched C.shape[0]", loaded["add"], *on, f("zeros")(h, shape(4), "float32", dev))


def embedded_modules_are_refused_when_damaged():
    raises((ValueError, RuntimeError), "", f("load_embedded"), b"no artifact")
    loader = tvm_ffi.get_global_func("ffi.Module.load_from_bytes.chipdock")
    raises((ValueError, RuntimeError), "", loader, b"")


# ---- FFI-7, FFI-8 ----

def eight_threads_compile_and_call_at_once():
    h, wrong = host(), []

    def work(number):
        text = KERNEL.format(f"{number}.0")
        add = f("module_function")(f("compile")(h, text, "c"), "add")
        a, b, c = arrays(1000)
        for _ in range(200):
            c[:] = 0
            add(a, b, c)
            if c.tolist() != (a * number + b).tolist():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2, 10)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong, wrong


def a_forked_child_has_a_host_of_its_own():
    module = f("compile")(host(), ADD, "c")
    add = f("module_function")(module, "add")
    read, write = os.pipe()
    warnings.simplefilter("ignore")
    child = os.fork()
    if child == 0:
        try:
            a, b, c = arrays()
            try:
                add(a, b, c)
                said = "the parent's function ran"
            except Exception as error:
                said = str(error)
            f("module_function")(f("compile")(host(), ADD, "c"), "add")(a, b, c)
            os.write(write, f"{said}|{c.tolist()}".encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        said = file.read()
    os.waitpid(child, 0)
    assert "before the process was forked" in said and said.endswith("|[0.0, 11.0, 22.0, 33.0, 44.0]"), said


def ctrl_c_gives_a_build_up():
    lines = "\n".join(f"            C[vi] = C[vi] * A[vi] + T.exp(B[vi] + T.float32({i}.5))" for i in range(3000))
    text = ADD.replace("            C[vi] = A[vi] + B[vi]", lines)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    try:
        f("compile")(host(), text, "c", '{"cache": false}')
    except KeyboardInterrupt:
        return
    except Exception as error:
        raise AssertionError(f"expected KeyboardInterrupt, found {type(error).__name__}: {error}")
    finally:
        timer.cancel()
    raise AssertionError(f"the build ended by itself after {time.monotonic() - start:.2f} s")


def many_calls_do_not_grow():
    h = host()
    module = f("compile")(h, ADD, "c")
    a, b, c = arrays()

    def round_of_calls():
        for _ in range(2000):
            add = f("module_function")(module, "add")
            add(a, b, c)
            f("zeros")(h, shape(16), "float32", device("cpu"))
            try:
                add(a, b, c[:2])
            except ValueError:
                pass
        gc.collect()

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    round_of_calls()
    before = resident()
    for _ in range(4):
        round_of_calls()
    grown = resident() - before
    assert grown < 4 << 20, f"{grown} bytes in 8,000 calls"


CASES = [value for name, value in list(globals().items()) if callable(value) and getattr(value, "__module__", "") == "__main__"
         and name not in ("f", "host", "shape", "raises", "arrays", "device", "numbers", "load_module", "Unable")]

if __name__ == "__main__":
    LIB = tvm_ffi.load_module(LIBRARY)
    found = json.loads(f("devices")(host()))["device_apis"]
    DEVICES = [one["device"] for api in found for one in api["devices"][:1]]
    TARGETS = [("c", "cpu"), ("llvm", "cpu")] + [(name, name) for name in ("opencl", "vulkan", "cuda") if f"{name}:0" in DEVICES]
    print(json.dumps({"devices": DEVICES, "targets": [target for target, _ in TARGETS]}), flush=True)
    wanted = sys.argv[4:]
    for case in CASES:
        if wanted and case.__name__ not in wanted:
            continue
        try:
            case()
            answer = {"state": "passed"}
        except Unable as why:
            answer = {"state": "unable", "why": str(why)}
        except BaseException:
            answer = {"state": "failed", "why": traceback.format_exc()}
        print(json.dumps({"case": case.__name__, **answer}), flush=True)
