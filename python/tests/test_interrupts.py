"""FFI-8: Ctrl-C ends whatever a program is in by KeyboardInterrupt, and what comes after works. Each test is a process of its own: the
signal is the process's, and a mistake here ends Python by a fatal signal."""

import os
import subprocess
import sys
import textwrap

import pytest

import chipdock

FOUND = chipdock.devices()
DEVICES = [name for name in ("opencl", "vulkan") if f"{name}:0" in FOUND]
TARGETS = ["c", "llvm", *DEVICES]

START = """
import os, signal, sys, threading, time
import numpy as np
import tvm_ffi
import chipdock
from chipdock import _library, _objects

ADD = '''
@T.prim_func(s_tir=True)
def add(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), C: T.Buffer((n,), "float32")):
    n = T.int32()
    for i in range(n):
        with T.sblock("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi] + B[vi]
'''
TARGET = sys.argv[1]
DEVICE = "cpu" if TARGET in ("c", "llvm") else TARGET

def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)

def interrupted(what, call, after_s=None):
    # Asserts that a call, or at the latest the statement after it, raises KeyboardInterrupt, and that compiling works afterwards.
    timer = threading.Timer(after_s or 0, ctrl_c)
    try:
        if after_s is not None:
            timer.start()
        call()
        time.sleep(5)
    except KeyboardInterrupt:
        print(what, "KeyboardInterrupt", flush=True)
    except BaseException as error:
        print(what, type(error).__name__, error, flush=True)
    else:
        print(what, "nothing", flush=True)
    timer.cancel()
    a = np.arange(3, dtype=np.float32)
    try:
        chipdock.compile("nonsense\\n", TARGET)
    except ValueError:
        pass
    module = chipdock.compile(ADD, TARGET)
    assert chipdock.numpy(module.run("add", DEVICE, a, a, c := np.zeros(3, np.float32)) or c).tolist() == [0.0, 2.0, 4.0]

def long(lines):
    body = "\\n".join(f"            C[vi] = C[vi] * A[vi] + T.exp(B[vi] + T.float32({i}.5))" for i in range(lines))
    return ADD.replace("            C[vi] = A[vi] + B[vi]", body)
"""


def run(tmp_path, target, text):
    """Runs a script; returns what it wrote, as (what, how it ended)."""
    script = tmp_path / "script.py"
    script.write_text(START + textwrap.dedent(text))
    environment = {**os.environ, "CHIPDOCK_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, str(script), target], capture_output=True, text=True, check=False, env=environment, timeout=120
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize("target", TARGETS)
def test_a_compilation_is_given_up_in_every_phase(target, tmp_path):
    """The signal comes while the library works on the phase, not in the function that reports it."""
    said = run(tmp_path, target, """
        def in_phase(phase):
            come = threading.Event()
            def report(step, *_):
                if step == phase:
                    come.set()
            def send():
                come.wait()
                time.sleep(0.002)
                ctrl_c()
            threading.Thread(target=send, daemon=True).start()
            # Long enough that the signal comes before the end, also where the sender waits for a processor.
            lines = 40 if phase in ("build", "load") else 400
            chipdock.compile(long(lines), TARGET, cache=False, progress=report)

        for phase in ("compile", "lower", "pass", "build", "load"):
            interrupted(phase, lambda: in_phase(phase))
        interrupted("parse", lambda: chipdock.compile(long(500), TARGET, cache=False), 0.01)
        interrupted("lowering", lambda: chipdock.lower(long(40), TARGET), 0.05)
    """)
    names = ("compile", "lower", "pass", "build", "load", "parse", "lowering")
    assert said == dict.fromkeys(names, "KeyboardInterrupt")


@pytest.mark.parametrize("target", TARGETS)
def test_every_way_to_call_the_compiler_answers_alike(target, tmp_path):
    said = run(tmp_path, target, """
        host, made = chipdock.host(), chipdock.Target(TARGET)
        arguments = (host, long(400), made, '{"cache": false}')
        interrupted("package", lambda: chipdock.compile(long(400), TARGET, cache=False), 0.2)
        interrupted("library", lambda: _library.library.get_function("compile")(*arguments), 0.2)
        interrupted("attribute", lambda: _library.library.compile(*arguments), 0.2)
        interrupted("global", lambda: tvm_ffi.get_global_func("chipdock.compile")(*arguments), 0.2)
        interrupted("progress", lambda: chipdock.compile(long(400), TARGET, cache=False, progress=True), 0.2)
    """)
    assert said == dict.fromkeys(("package", "library", "attribute", "global", "progress"), "KeyboardInterrupt")


def test_a_function_that_reports_progress_is_interrupted(tmp_path):
    """TVM-FFI before 0.1.13 drops KeyboardInterrupt from a callback, later releases make RuntimeError of it."""
    said = run(tmp_path, "c", """
        def report(wanted, error):
            def called(step, *_):
                if step == wanted:
                    raise error
            return called

        for step in ("compile", "build", "load", "done"):
            interrupted(step, lambda: chipdock.compile(ADD, TARGET, cache=False, progress=report(step, KeyboardInterrupt)))
        try:
            chipdock.compile(ADD, TARGET, cache=False, progress=report("build", SystemExit(3)))
        except SystemExit as error:
            print("exit", error.code)
    """)
    assert said == {**dict.fromkeys(("compile", "build", "load", "done"), "KeyboardInterrupt"), "exit": "3"}


SPIN = '''
SPIN = """
@T.prim_func(s_tir=True)
def spin(A: T.Buffer((1,), "float64"), n: T.int64):
    for i in range(n):
        with T.sblock("spin"):
            vi = T.axis.reduce(n, i)
            A[0] = T.sqrt(A[0] + T.Cast("float64", vi))
"""
'''


@pytest.mark.parametrize("target", ["c", "llvm"])
def test_a_call_ends_by_keyboard_interrupt(target, tmp_path):
    """FFI-12: within a tenth of a second. An exported library, which no host has loaded, runs to its end."""
    said = run(tmp_path, target, SPIN + """
        module, array = chipdock.compile(SPIN, TARGET, schedule="none"), np.zeros(1)
        FOREVER = 1 << 50
        def soon(what, call):
            started = time.monotonic()
            interrupted(what, call, 0.2)
            print(f"{what}: {time.monotonic() - started:.3f} s, the signal after 0.2", file=sys.stderr)
            assert time.monotonic() - started < 3
            module.spin(array, 3)
        soon("call", lambda: module.spin(array, FOREVER))
        soon("run", lambda: module.run("spin", "cpu", array, FOREVER))
        soon("timed", lambda: module.run("spin", "cpu", array, FOREVER, timeout=1e9))
        module.export(sys.argv[0] + ".so")
        exported = tvm_ffi.load_module(sys.argv[0] + ".so")
        interrupted("exported", lambda: exported["spin"](array, 30_000_000), 0.01)
    """.replace("\n        ", "\n"))
    assert said == dict.fromkeys(("call", "run", "timed", "exported"), "KeyboardInterrupt")


@pytest.mark.parametrize("target", ["c", "llvm"])
def test_a_call_ends_at_its_timeout(target, tmp_path):
    """FFI-12: also on a thread that is not the main one."""
    said = run(tmp_path, target, SPIN + """
        module, array = chipdock.compile(SPIN, TARGET, schedule="none"), np.zeros(1)
        def timed(what):
            started = time.monotonic()
            try:
                module.run("spin", "cpu", array, 1 << 50, timeout=0.1)
            except TimeoutError as error:
                print(what, type(error).__name__)
            assert 0.1 <= time.monotonic() - started < 3
        timed("main")
        thread = threading.Thread(target=timed, args=("thread",))
        thread.start()
        thread.join()
        module.run("spin", "cpu", array, 3, timeout=60)
        for wrong in (-1, float("nan")):
            try:
                module.run("spin", "cpu", array, 3, timeout=wrong)
            except ValueError as error:
                print(f"wrong{wrong}", "timeout_s" in str(error) or "options" in str(error))
    """.replace("\n        ", "\n"))
    assert said == {"main": "TimeoutError", "thread": "TimeoutError", "wrong-1": "True", "wrongnan": "True"}


@pytest.mark.parametrize("device", ["cpu", *DEVICES])
def test_a_copy_and_a_wait_end_by_keyboard_interrupt(device, tmp_path):
    said = run(tmp_path, "c" if device == "cpu" else device, """
        data = np.arange(1 << 24, dtype=np.float32)
        there = chipdock.to_device(data, DEVICE)
        interrupted("to", lambda: [chipdock.to_device(data, DEVICE) for _ in range(40)], 0.02)
        interrupted("back", lambda: [there.numpy() for _ in range(40)], 0.02)
        interrupted("copy", lambda: [chipdock.copy(data, there) for _ in range(40)], 0.02)
        stream = chipdock.Stream(DEVICE)
        def queued():
            with stream:
                for _ in range(40):
                    there.copy_from(data)
            stream.sync()
            chipdock.synchronize(DEVICE)
        interrupted("wait", queued, 0.02)
        assert (there.copy_from(data).numpy() == data).all()
    """)
    assert said == dict.fromkeys(("to", "back", "copy", "wait"), "KeyboardInterrupt")
