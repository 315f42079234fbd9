"""The package as its users meet it. Run by `tests/embedding`, under the oldest and the newest apache-tvm-ffi."""

import gc
import io
import os
import pathlib
import pickle
import platform
import subprocess
import sys
import tarfile
import textwrap
import threading
import time

import numpy as np
import pytest

import chipdock
from chipdock import _progress

ADD = """
@T.prim_func(s_tir=True)
def add(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), C: T.Buffer((n,), "float32")):
    n = T.int32()
    for i in range(n):
        with T.sblock("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi] + B[vi]
"""
FOUND = chipdock.devices()
TARGETS = [("c", "cpu"), ("llvm", "cpu")] + [(name, name) for name in ("opencl", "vulkan") if f"{name}:0" in FOUND]


@pytest.fixture
def arrays():
    a = np.arange(5, dtype=np.float32)
    return a, a * 10, np.zeros(5, np.float32)


def test_a_kernel_is_compiled_and_called(arrays):
    a, b, c = arrays
    module = chipdock.compile(ADD, "c")
    module.add(a, b, c)
    assert c.tolist() == (a + b).tolist()
    module["add"](a, a, c)
    assert c.tolist() == (a * 2).tolist()
    assert chipdock.numpy(module.add(a, b)).tolist() == (a + b).tolist()
    assert list(module) == ["add"] and len(module) == 1 and "add" in module and "add" in dir(module)
    assert type(module.add) is type(module["add"]) and module.add is module.add


@pytest.mark.parametrize(("target", "device"), TARGETS)
def test_every_target_computes_the_same(target, device, arrays):
    a, b, c = arrays
    module = chipdock.compile(ADD, target, emit=["source"])
    module.run("add", device, a, b, c)
    assert c.tolist() == (a + b).tolist()
    x, y = chipdock.to_device(a, device), chipdock.to_device(b, device)
    result = module.add(x, y)
    assert chipdock.numpy(result).tolist() == (a + b).tolist()
    assert "add" in module.source() and "def add" in module.lowered()
    assert module.target["kind"] == target or target in str(module.describe()["imports"])
    again = chipdock.load(module.to_bytes())
    assert chipdock.numpy(again.add(x, y)).tolist() == (a + b).tolist()


def test_files_are_exported_and_loaded(tmp_path, arrays):
    a, b, _ = arrays
    module = chipdock.compile(ADD, "c")
    for suffix in ("so", "tar", "chipdock"):
        path = tmp_path / f"add.{suffix}"
        module.export(path)
        loaded = chipdock.load(path)
        assert chipdock.numpy(loaded.add(a, b)).tolist() == (a + b).tolist()
        assert loaded.lowered() is None
    with pytest.raises(ValueError, match="device_code"):
        module.export(tmp_path / "x.so", device_code="beside")
    with pytest.raises(ValueError, match="ends in .so"):
        module.export(tmp_path / "x.dll")


def test_a_source_is_a_path_a_text_or_a_function(tmp_path, arrays):
    a, b, _ = arrays
    path = tmp_path / "add.py"
    path.write_text(ADD)
    for source in (path, str(path), ADD):
        assert chipdock.numpy(chipdock.compile(source, "c").add(a, b)).tolist() == (a + b).tolist()
    with pytest.raises(TypeError, match="expected a path, TVMScript"):
        chipdock.compile(7)
    with pytest.raises(FileNotFoundError):
        chipdock.compile(tmp_path / "nothing.py")


def test_a_decorated_function_is_a_kernel(arrays):
    a, b, _ = arrays
    path = os.path.join(os.path.dirname(__file__), "kernels.py")
    scope = {"chipdock": chipdock}
    sys.path.insert(0, os.path.dirname(path))
    try:
        import kernels
    finally:
        sys.path.pop(0)
    assert chipdock.numpy(chipdock.compile(kernels.add, "c").add(a, b)).tolist() == (a + b).tolist()
    with pytest.raises(TypeError, match="compile it with chipdock.compile"):
        kernels.add(a, b)
    with pytest.raises(ValueError, match=r"kernels.py:\d+:\d+: error: Q is not defined") as error:
        chipdock.compile(kernels.wrong, "c")
    line = int(str(error.value).split("kernels.py:")[1].split(":")[0])
    with open(path) as file:
        assert "Q[vi]" in file.read().splitlines()[line - 1]
    del scope


def test_errors_are_exceptions_by_kind(arrays):
    a, b, c = arrays
    module = chipdock.compile(ADD, "c")
    with pytest.raises(ValueError, match="did you mean"):
        chipdock.Target("lvm")
    with pytest.raises(chipdock.NotFound, match="did you mean \"add\""):
        module["ad"]
    with pytest.raises(AttributeError, match="did you mean \"add\""):
        module.ad
    with pytest.raises(chipdock.IoError):
        chipdock.load("/nothing/here.so")
    with pytest.raises(chipdock.Unavailable):
        chipdock.device("npu")
    with pytest.raises(ValueError, match=r"Mismatched C.shape\[0\]"):
        module.add(a, b, c[:2])
    with pytest.raises(TypeError, match="Mismatched C.dtype"):
        module.add(a, b, c.astype(np.float64))
    with pytest.raises(TypeError, match="Mismatched type"):
        module.add(a, b, "c")
    assert issubclass(chipdock.OutOfMemory, MemoryError) and issubclass(chipdock.IoError, OSError)
    assert issubclass(chipdock.Unsupported, NotImplementedError) and issubclass(chipdock.NotFound, LookupError)


def test_targets_are_values():
    target = chipdock.Target({"kind": "c", "opt-level": 2})
    assert (target.kind, target.options["opt-level"]) == ("c", 2)
    assert target == chipdock.Target(target) and hash(target) == hash(chipdock.Target(target))
    assert target != chipdock.Target("c") and target != "c"
    assert repr(target).startswith("chipdock.Target({")
    assert any(one["kind"] == "c" and one["usable"] for one in chipdock.targets())


def test_a_program_brings_hooks():
    @chipdock.register("c.postprocess_source")
    def postprocessed(source, target):
        assert '"kind":"c"' in target
        return "// of this program\n" + source

    try:
        module = chipdock.compile(ADD, "c")
        assert module.source().startswith("// of this program\n")
        with pytest.raises(ValueError, match="already"):
            chipdock.register("c.postprocess_source", postprocessed)
        chipdock.register("c.postprocess_source", lambda source, target: 7, fingerprint="seven", override=True)
        with pytest.raises(TypeError, match="expected the source as a string"):
            chipdock.compile(ADD, "c")

        def fails(source, target):
            raise KeyError("no such source")

        chipdock.register("c.postprocess_source", fails, override=True)
        with pytest.raises(KeyError, match="no such source"):
            chipdock.compile(ADD, "c")
    finally:
        assert chipdock.unregister("c.postprocess_source") and not chipdock.unregister("c.postprocess_source")
    assert not chipdock.compile(ADD, "c").source().startswith("// of this program")


def test_a_program_compiles_itself(arrays, tmp_path):
    a, b, _ = arrays

    def compiled(source, target):
        (tmp_path / "k.c").write_text(source)
        words = ["-std=c11", "-O1", "-shared", "-fPIC", "-o", tmp_path / "k.so", tmp_path / "k.c", "-lm"]
        subprocess.run(["cc", *map(str, words)], check=True)
        return (tmp_path / "k.so").read_bytes()

    chipdock.register("c.compile_source", compiled, fingerprint="cc -O1")
    try:
        module = chipdock.compile(ADD, "c", cache=False)
    finally:
        chipdock.unregister("c.compile_source")
    assert (tmp_path / "k.so").is_file()
    assert chipdock.numpy(module.add(a, b)).tolist() == (a + b).tolist()


def test_modules_are_composed(arrays):
    a, b, _ = arrays
    module, other = chipdock.compile(ADD, "c"), chipdock.compile(ADD.replace("add", "plus"), "c")
    with pytest.raises(AttributeError):
        module.plus
    module.import_module(other)
    assert chipdock.numpy(module.plus(a, b)).tolist() == (a + b).tolist()
    with pytest.raises(ValueError, match="imports it"):
        other.import_module(module)
    assert len(module.describe()["imports"]) == 1
    again = chipdock.load(module.to_bytes())
    assert chipdock.numpy(again.plus(a, b)).tolist() == (a + b).tolist()


def test_tags_are_targets():
    tags = chipdock.target_tags()
    assert tags["nvidia/geforce-rtx-3090"]["arch"] == "sm_86" and len(tags) >= 279
    target = chipdock.Target("qcom/adreno-opencl", host="c")
    assert (target.kind, target.options["tag"]) == ("opencl", "qcom/adreno-opencl")
    assert target.options["keys"] == ["adreno", "opencl", "gpu"]
    assert target == chipdock.Target({"tag": "qcom/adreno-opencl", "host": "c"})
    assert chipdock.Target({"tag": "qcom/adreno-opencl", "max_num_threads": 64}).options["max_num_threads"] == 64
    module = chipdock.compile(ADD, {"tag": "qcom/adreno-opencl", "host": "c"})
    assert module.describe()["imports"][0]["target"]["tag"] == "qcom/adreno-opencl"
    with pytest.raises(ValueError, match='did you mean "qcom/adreno-opencl"'):
        chipdock.Target({"tag": "qcom/adreno-opencl7"})


def test_limits_are_those_of_a_device_where_one_is_named(arrays):
    a, b, _ = arrays
    assert chipdock.numpy(chipdock.compile(ADD, "c", device="cpu:0").add(a, b)).tolist() == (a + b).tolist()
    with pytest.raises(ValueError, match="runs on cpu, not on"):
        chipdock.compile(ADD, "c", device="opencl:0")
    with pytest.raises(ValueError, match="sets every option already"):
        chipdock.compile(ADD, chipdock.Target("c"), device="cpu:0")
    few = {"kind": "opencl", "max_function_args": 2}
    with pytest.raises(chipdock.Unsupported, match='option "max_function_args" sets the limit') as error:
        chipdock.compile(ADD, few)
    assert '{"kind": "opencl", "max_function_args": ...}' in str(error.value)
    assert "--device opencl:0, in a target \"from_device\": 0" in str(error.value)
    for target, name in TARGETS:
        if target == name:
            made = chipdock.compile(ADD, target, device=f"{name}:0")
            assert made.describe()["imports"][0]["target"] == chipdock.Target(target, device=f"{name}:0").options
            assert "def add" in chipdock.lower(ADD, target, device=f"{name}:0")


def test_plugins_and_devices_have_their_reasons():
    names = [plugin["name"] for plugin in chipdock.plugins()]
    assert "c" in names
    assert "cpu:0" in chipdock.devices()
    for api in chipdock.device_apis():
        assert api["available"] or api["problem"]["message"]
    assert isinstance(chipdock.attribute("cpu", "device_name"), str)
    assert chipdock.attribute("cpu", "nothing_known") is None


def test_tensors_are_made_copied_and_read():
    for device in sorted({device for _, device in TARGETS}):
        zeros = chipdock.zeros((2, 3), device=device)
        assert chipdock.numpy(zeros).tolist() == [[0.0] * 3] * 2
        data = np.arange(6, dtype=np.int32).reshape(2, 3)
        there = chipdock.to_device(data, device)
        back = chipdock.empty((2, 3), "int32")
        chipdock.copy(there, back)
        assert chipdock.numpy(back).tolist() == data.tolist()
        chipdock.synchronize(device)
    constant = np.arange(3, dtype=np.float32)
    constant.flags.writeable = False
    assert chipdock.to_device(constant, "cpu").numpy().tolist() == chipdock.zeros((3,)).copy_from(constant).numpy().tolist() == [0, 1, 2]
    assert chipdock.to_device(constant[:0], "cpu").numpy().tolist() == []
    with pytest.raises(BufferError, match="readonly"):
        chipdock.copy(np.zeros(3, np.float32), constant)
    assert constant.tolist() == [0, 1, 2]
    shared = np.zeros(3, np.float32)
    chipdock.numpy(chipdock.from_dlpack(shared))[0] = 7
    assert shared[0] == 7


@pytest.mark.parametrize(("target", "device"), TARGETS)
def test_memory_is_read_and_written_in_place(target, device):
    add = chipdock.compile(ADD, target).add
    able = chipdock.capabilities(device)
    kinds = [one["kind"] for one in able["memory"]]
    assert kinds[0] == "device" and "pinned" in kinds and isinstance(able["streams"], bool)
    for kind in kinds:
        tensor = chipdock.empty((2, 3), device=device, memory=kind)
        assert (tensor.memory, tensor.scope) == (kind, "global")
        assert chipdock.device_name(tensor.device) == ("cpu:0" if kind == "pinned" or device == "cpu" else f"{device}:0")
        if kind == "device" and device != "cpu":
            with pytest.raises(chipdock.Unsupported, match="does not reach"), tensor.map():
                pass
            continue
        with tensor.map() as array:
            array[:] = np.arange(6).reshape(2, 3)
        there = tensor.to(device).as_strided((6,), (1,))
        add(there, there, there)
        assert there.numpy().tolist() == [0, 2, 4, 6, 8, 10]
        back = there if there.memory == kind else chipdock.empty((6,), device=device, memory=kind).copy_from(there)
        with back.as_strided((3,), (2,), 1).map() as array:
            assert array.tolist() == [2, 6, 10]
        with chipdock.empty((0, 2), device=device, memory=kind).map() as array:
            assert array.shape == (0, 2)
    aligned = chipdock.empty((3,), device=device, alignment=256)
    assert aligned.is_aligned(256) and aligned.memory == "device"
    for wrong in ({"memory": "paged"}, {"alignment": 3}):
        with pytest.raises(ValueError):
            chipdock.empty((3,), device=device, **wrong)
    with pytest.raises(chipdock.Unsupported, match="scope `near`|near"):
        chipdock.empty((3,), device=device, scope="near")
    assert chipdock.from_dlpack(np.zeros(3)).memory is None


def test_an_array_in_place_keeps_its_tensor():
    with chipdock.empty((1 << 16,), "int32", memory="pinned").map() as array:
        array[:] = 7
    gc.collect()
    others = [chipdock.empty((1 << 16,), "int32", memory="pinned").copy_from(np.zeros(1 << 16, np.int32)) for _ in range(4)]
    assert (array == 7).all() and len(others) == 4


@pytest.mark.parametrize(("target", "device"), [one for one in TARGETS if one[1] != "cpu"])
def test_a_stream_is_current_within_its_block(target, device, arrays):
    a, b, _ = arrays
    module = chipdock.compile(ADD, target)
    x, y = chipdock.to_device(a, device), chipdock.to_device(b, device)
    with chipdock.Stream(device) as stream:
        with chipdock.Stream(device) as inner:
            inner.wait_for(stream)
            result = module.add(x, y)
            inner.sync()
    assert chipdock.numpy(result).tolist() == (a + b).tolist()
    assert device in repr(stream)


@pytest.mark.parametrize(("target", "device"), TARGETS)
def test_streams_exchange_tensors_in_the_order_of_a_timeline(target, device, arrays):
    a, b, _ = arrays
    module = chipdock.compile(ADD, target)
    x, y = chipdock.to_device(a, device), chipdock.to_device(b, device)
    back, timeline = chipdock.zeros((len(a),), device=device), chipdock.Timeline(device)
    stream, other = chipdock.Stream(device), chipdock.Stream(device)
    with stream:
        result = module.add(x, y)
    stream.signal(timeline, 1)
    other.wait(timeline, 1)
    assert back.copy_from(result, stream=other) is back
    other.signal(timeline, 2)
    assert timeline.wait(2) and timeline.value == 2
    assert chipdock.numpy(back).tolist() == (a + b).tolist()
    other.sync()
    timeline.set(9)
    assert not timeline.wait(10, timeout=0.01) and timeline.wait(9, timeout=0)
    with pytest.raises(chipdock.WrongState, match="reach 10"):
        stream.wait(timeline, 10)
    with pytest.raises(ValueError, match="rise"):
        stream.signal(timeline, 9)
    assert device in repr(timeline)


@pytest.mark.parametrize(("target", "device"), [one for one in TARGETS if one[1] != "cpu"])
def test_a_graph_is_replayed_with_other_tensors(target, device, arrays):
    a, b, _ = arrays
    module = chipdock.compile(ADD, target)
    x, y, out = (chipdock.to_device(one, device) for one in (a, b, np.zeros_like(a)))
    weights = chipdock.to_device(b, device)

    def twice(x, out):
        module.add(x, weights, out)
        module.add(out, x, out)

    graph = chipdock.Graph.record(twice, x, out, keep=[weights])
    assert len(graph) == 2 and device in repr(graph) and graph.device == x.device
    assert not chipdock.numpy(out).any(), "nothing ran"
    del weights
    graph(y, out)
    assert chipdock.numpy(out).tolist() == (b + b + b).tolist()
    stream = chipdock.Stream(device)
    graph.replay(x, out, stream=stream)
    stream.sync()
    assert chipdock.numpy(out).tolist() == (a + b + a).tolist()
    results = []
    graph = chipdock.Graph.record(lambda x: results.append(module.add(x, y)), x, keep=[y])
    graph(y)
    assert chipdock.numpy(results[0]).tolist() == (b + b).tolist()
    with pytest.raises(chipdock.WrongState, match="neither a parameter of the graph nor kept"):
        chipdock.Graph.record(lambda x: module.add(x, y), x)
    with pytest.raises(chipdock.WrongState, match="cannot be part of the graph"):
        chipdock.Graph.record(chipdock.numpy, x)
    with pytest.raises(ValueError, match="as there is no parameter"):
        chipdock.Graph.record(print)
    with pytest.raises(ValueError, match="1 parameters, found 0 arguments"):
        graph()
    assert chipdock.numpy(module.add(x, y)).tolist() == (a + b).tolist(), "no recording is left"


def test_what_things_are_is_shown():
    module = chipdock.compile(ADD, "c")
    assert repr(module) == "chipdock.Module(c: add(A: float32[n], B: float32[n], C: float32[n]))"
    assert "<td>add(A: float32[n]" in module._repr_html_() and "chipdock.Module for c" in module._repr_html_()
    lines = repr(chipdock.plugins()).splitlines()
    assert lines[0].split() == ["PLUGIN", "VERSION", "STATE", "PROVIDES", "REASON", "LIBRARY"]
    assert any(line.startswith("c ") and "target.build.c" in line for line in lines) and max(map(len, lines)) < 400
    assert "<td>cpu</td><td>cpu:0 (" in chipdock.device_apis()._repr_html_()
    assert "c  " in repr(chipdock.targets()) and isinstance(chipdock.targets()[0], dict)
    html = chipdock.Target("c")._repr_html_()
    assert "chipdock.Target c" in html and "<td>opt-level</td><td>3</td>" in html and "&quot;cpu&quot;" in html
    assert "[[0. 0.]]" in chipdock.zeros((1, 2))._repr_html_()
    assert "bfloat16[2]" in chipdock.zeros((2,), "bfloat16")._repr_html_()
    assert "def add" in chipdock.lower(ADD, "c")
    with pytest.raises(Exception):
        pickle.dumps(module)


def test_code_for_another_machine_is_exported(tmp_path, arrays):
    foreign = "x86_64" if platform.machine() == "aarch64" else "aarch64"
    module = chipdock.compile(ADD, {"kind": "llvm", "mtriple": f"{foreign}-unknown-linux-gnu"})
    assert module.functions() == ["add"] and foreign in module.describe()["missing"]
    module.export(tmp_path / "add.tar")
    assert tarfile.open(tmp_path / "add.tar").getnames()
    with pytest.raises(chipdock.Unsupported, match=f"code for {foreign}"):
        module["add"](*arrays)
    with pytest.raises(chipdock.Unsupported, match=f"code for {foreign}"):
        chipdock.load(module.to_bytes())


FIXED = """
@T.prim_func(s_tir=True)
def copy(A: T.Buffer((T.int64(4), T.int64(2)), "float32"), B: T.Buffer((T.int64(4), T.int64(2)), "float32")):
    for i, j in T.grid(T.int64(4), T.int64(2)):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names extensions of x86-64")
@pytest.mark.parametrize(("kind", "option"), [("c", "march"), ("llvm", "mcpu")])
def test_a_library_for_another_processor_says_so_to_everyone(tmp_path, arrays, kind, option):
    if "tbm" in pathlib.Path("/proc/cpuinfo").read_text().split():
        pytest.skip("this processor has the extension tbm")
    library = tmp_path / "add.so"
    chipdock.compile(ADD, {"kind": kind, option: "bdver2"}).export(library)
    code = f"""
        import numpy, tvm_ffi
        module = tvm_ffi.load_module({str(library)!r})
        for name in ("add", "main"):
            try:
                module[name](*[tvm_ffi.from_dlpack(numpy.zeros(5, "float32")) for _ in range(3)])
            except Exception as error:
                print(name, error)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    for line, name in zip(ended.stdout.splitlines(), ("add", "main"), strict=True):
        assert line.startswith(f"{name} this library needs ") and "tbm" in line and option in line
    with pytest.raises(chipdock.Error, match="this library needs .*tbm"):
        chipdock.load(library).add(*arrays)


def test_extents_are_numbers_whatever_their_width():
    assert repr(chipdock.compile(FIXED, "c")) == "chipdock.Module(c: copy(A: float32[4, 2], B: float32[4, 2]))"


def test_threads_compile_and_call_at_once(arrays):
    a, b, _ = arrays
    wrong = []

    def work(number):
        module = chipdock.compile(ADD.replace("A[vi] +", f"A[vi] * T.float32({number}) +"), "c")
        for _ in range(50):
            if chipdock.numpy(module.add(a, b)).tolist() != (a * number + b).tolist():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 9)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_a_function_keeps_what_it_needs(arrays):
    a, b, _ = arrays
    add = chipdock.compile(ADD, "c").add
    gc.collect()
    assert chipdock.numpy(add(a, b)).tolist() == (a + b).tolist()


def test_a_thousand_wrong_calls_are_exceptions(arrays):
    a, b, c = arrays
    module = chipdock.compile(ADD, "c")
    random = np.random.default_rng(20261124)
    wrong = [
        None, 7, 2.5, "text", b"bytes", [1, 2], a[:2], a[::2], a.astype(np.float64), a.astype(np.int32), a.reshape(1, 5), np.float32(3),
        np.zeros((), np.float32), np.zeros(0, np.float32), np.zeros(5, np.complex64), object(), lambda: 1, chipdock,
        np.broadcast_to(a[:1], 5),  # is read-only
    ]
    right = [a, b, c]
    raised = 0
    for _ in range(1000):
        count = random.integers(0, 5)
        args = [wrong[random.integers(len(wrong))] if random.random() < 0.6 else right[at % 3] for at in range(count)]
        try:
            module.add(*args)
        except (TypeError, ValueError, chipdock.Error, BufferError, AttributeError, RuntimeError, NotImplementedError) as error:
            assert str(error)
            raised += 1
    assert raised > 700
    assert chipdock.numpy(module.add(a, b)).tolist() == (a + b).tolist()


def test_a_host_of_ones_own_and_the_end_of_the_interpreter(tmp_path):
    # In a process of its own: the host is the package's from then on.
    script = tmp_path / "script.py"
    script.write_text(
        f"import chipdock, numpy as np\nADD = '''{ADD}'''\n"
        "chipdock.host(threads=1, disable=['llvm*', 'cpu-llvm'])\n"
        "assert 'llvm' not in [one['kind'] for one in chipdock.targets() if one['usable']]\n"
        "module = chipdock.compile(ADD)\n"
        "assert module.target['kind'] == 'c'\n"
        "a = np.ones(1000, np.float32)\n"
        "kept = module.add(a, a)\n"
        "print('the end')\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "the end\n"), done.stderr


def test_the_tour_of_the_guide_is_true(tmp_path):
    tour = pathlib.Path(__file__).parents[2] / "examples/python/tour.py"
    done = subprocess.run([sys.executable, str(tour)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("chipdock.Module(") and "TypeError: Mismatched A.dtype" in done.stdout and "did you mean" in done.stdout


def test_without_the_library_the_import_says_what_to_do():
    environment = {**os.environ, "CHIPDOCK_LIBRARY": "/nothing/libchipdock.so"}
    done = subprocess.run(
        [sys.executable, "-c", "import chipdock"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 1 and "install the wheel of chipdock" in done.stderr


def test_progress_is_reported_step_by_step():
    """FFI-10."""
    steps = []
    chipdock.compile(ADD, "c", cache=False, progress=lambda *step: steps.append(step))
    names = [name for name, _, _ in steps]
    assert names[0] == "compile" and names[-1] == "done" and {"lower", "pass", "build", "load"} <= set(names)
    assert ("pass", "lower_blocks") in [step[:2] for step in steps] and steps[-1][1] == "built"
    assert [at for _, _, at in steps] == sorted(at for _, _, at in steps)

    steps.clear()
    chipdock.compile(ADD, "llvm", cache=False, progress=lambda *step: steps.append(step))
    said = [detail for name, detail, _ in steps if name == "codegen"]
    assert said == ["llvm: read LLVM IR", "llvm: optimise", "llvm: emit code"]

    def stop(*_):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        chipdock.compile(ADD, "c", progress=stop)
    with pytest.raises(TypeError, match="progress: expected Function, found int"):
        chipdock.compile(ADD, "c", progress=3)


def test_progress_is_a_line_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out = Terminal()
    with _progress.Line("add.py", out) as line:
        chipdock.compile(ADD, "c", cache=False, progress=line)
    assert "\r\x1b[Kadd.py: generate code for c" in out.getvalue() and out.getvalue().endswith(" s\n")
    failed = Terminal()
    with pytest.raises(chipdock.Unsupported), _progress.Line("add.py", failed) as line:
        line("build", "c", 0.1)
        raise chipdock.Unsupported("no")
    assert failed.getvalue().endswith("\r\x1b[K"), "the line makes place for the error"
    plain = io.StringIO()
    with _progress.Line("add.py", plain) as line:
        chipdock.compile(ADD, "c", progress=line)
    assert plain.getvalue() == ""


def run_script(tmp_path, text, **environment):
    """Runs a script in a process of its own."""
    script = tmp_path / "script.py"
    script.write_text(f"import chipdock, os, sys, numpy as np\nADD = '''{ADD}'''\n{textwrap.dedent(text)}")
    return subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=120
    )


def test_a_log_level_is_chosen(tmp_path):
    def said(level):
        done = run_script(tmp_path, f"""
            chipdock.host(log={level!r})
            chipdock.compile(ADD.replace("vi = T", "T.sblock_attr({{'nobody.knows': 1}})\\n            vi = T"), "c", cache=False)
        """)
        assert done.returncode == 0, done.stderr
        return done.stderr

    assert 'the annotation "nobody.knows" of block "C" changes nothing' in said("debug")
    assert said("warning") == said("off") == ""
    with pytest.raises(ValueError, match="expected one of `off`"):
        chipdock.host(log="loud")


def test_a_forked_child_has_a_host_of_its_own(tmp_path):
    done = run_script(tmp_path, """
        a = np.ones(3, np.float32)
        module = chipdock.compile(ADD, "c")
        module.add(a, a)
        child = os.fork()
        if child == 0:
            try:
                module.add(a, a)
                print("called")
            except chipdock.WrongState as error:
                print("refused:", error)
            anew = chipdock.compile(ADD, "c")
            print(chipdock.numpy(anew.add(a, a)).tolist(), flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(chipdock.numpy(module.add(a, a)).tolist())
    """)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("refused:") and "fork" in lines[0] and lines[1:] == ["[2.0, 2.0, 2.0]"] * 2


def test_worker_processes_compile_after_a_fork(tmp_path):
    done = run_script(tmp_path, """
        import multiprocessing

        def work(number):
            module = chipdock.compile(ADD, "c")
            return float(chipdock.numpy(module.add(np.full(3, number, np.float32), np.ones(3, np.float32)))[0])

        chipdock.compile(ADD, "c")
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(work, range(4)))
    """)
    assert (done.returncode, done.stdout) == (0, "[1.0, 2.0, 3.0, 4.0]\n"), done.stderr


@pytest.mark.parametrize(("target", "device"), TARGETS)
def test_a_child_that_is_forked_after_use_computes_or_is_refused(tmp_path, target, device):
    done = run_script(tmp_path, f"""
        import multiprocessing

        def work(number):
            try:
                a = chipdock.to_device(np.full(3, number, np.float32), "{device}")
                return chipdock.numpy(chipdock.compile(ADD, "{target}").add(a, a)).tolist()
            except chipdock.WrongState as error:
                return str(error)

        expected = [[number * 2.0] * 3 for number in range(4)]
        assert [work(number) for number in range(4)] == expected
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(work, range(4)).get(timeout=60)
        assert found == expected or all("forked" in answer for answer in found), found
        print("computed" if found == expected else "refused")
    """)
    is_refused = target in ("opencl", "cuda")
    assert (done.returncode, done.stdout) == (0, "refused\n" if is_refused else "computed\n"), done.stderr


@pytest.mark.parametrize(("target", "device"), TARGETS)
def test_the_interpreter_ends_with_work_queued(tmp_path, target, device):
    done = run_script(tmp_path, f"""
        module = chipdock.compile(ADD, "{target}")
        a = chipdock.to_device(np.ones(1 << 20, np.float32), "{device}")
        for _ in range(20):
            kept = module.add(a, a)
        print("the end", flush=True)
    """)
    assert (done.returncode, done.stdout) == (0, "the end\n"), done.stderr


def test_threads_end_after_the_main_one(tmp_path):
    # Daemon threads are another matter: Python before 3.14 unwinds them when they come back from a call, and TVM-FFI's own code
    # aborts then, with any library.
    done = run_script(tmp_path, """
        import threading
        module = chipdock.compile(ADD, "c")
        a = np.ones(1 << 16, np.float32)

        def work():
            for _ in range(2000):
                module.add(a, a)
            print("the end", flush=True)

        threading.Thread(target=work).start()
    """)
    assert (done.returncode, done.stdout) == (0, "the end\n"), done.stderr


def test_the_package_is_imported_again(tmp_path):
    done = run_script(tmp_path, """
        import importlib
        a = np.ones(3, np.float32)
        before = chipdock.compile(ADD, "c")
        for name in [name for name in sys.modules if name == "chipdock" or name.startswith("chipdock.")]:
            del sys.modules[name]
        again = importlib.import_module("chipdock")
        print(again.numpy(again.compile(ADD, "c").add(a, a)).tolist(), chipdock.numpy(before.add(a, a)).tolist())
    """)
    assert (done.returncode, done.stdout) == (0, "[2.0, 2.0, 2.0] [2.0, 2.0, 2.0]\n"), done.stderr


def test_a_kernel_runs_without_the_interpreters_lock():
    """While a kernel runs on one thread, Python runs on another."""
    module = chipdock.compile(
        """
@T.prim_func(s_tir=True)
def spin(A: T.Buffer((1,), "float64"), n: T.int64):
    for i in range(n):
        with T.sblock("spin"):
            vi = T.axis.reduce(n, i)
            A[0] = T.sqrt(A[0] + T.Cast("float64", vi))
""",
        "c",
        schedule="none",
    )
    array, ended = np.zeros(1), threading.Event()

    def work():
        module.spin(array, 30_000_000)
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    steps = 0
    while not ended.is_set():
        steps += 1
        time.sleep(0.001)
    thread.join()
    assert steps > 10, "Python stood still"


@pytest.mark.parametrize("device", sorted({device for _, device in TARGETS}))
def test_a_tensor_has_its_methods(device):
    data = np.arange(6, dtype=np.int32).reshape(2, 3)
    tensor = chipdock.to_device(data, device)
    assert isinstance(tensor, chipdock.Tensor) and tuple(tensor.shape) == (2, 3) and str(tensor.dtype) == "int32"
    assert repr(tensor) == f"chipdock.Tensor({device.split(':')[0]}:0, int32[2, 3])"
    assert tensor.numpy().tolist() == np.asarray(tensor).tolist() == tensor.to("cpu").numpy().tolist() == data.tolist()
    assert tensor.to(device) is tensor
    assert tensor.copy_from(data * 2) is tensor and tensor.numpy().tolist() == (data * 2).tolist()
    assert np.array(tensor, dtype=np.float64, copy=True).dtype == np.float64
    with pytest.raises(ValueError, match="shape"):
        tensor.copy_from(data[:1])
    result = chipdock.compile(ADD, "c").add(np.ones(2, np.float32), np.ones(2, np.float32))
    assert isinstance(result, chipdock.Tensor) and result.numpy().tolist() == [2.0, 2.0]
