"""What a process sees that calls exported libraries often, from many threads, or after a fork.

Each function here takes the loaded modules, the libraries' paths and the job, and returns what it saw.
"""

import ctypes
import gc
import os
import select
import signal
import sys
import threading
import time

import numpy as np
import tvm_ffi


def of(modules, job):
    return modules[job["library"]]


def metadata(modules, libraries, job):
    """What a function says about itself, for each name, where this release can ask."""
    module, answers = of(modules, job), {}
    if not hasattr(module, "get_function_metadata"):
        return {"can_ask": False}
    for name in job["functions"]:
        found = module.get_function_metadata(name)
        schema = found and found.get("type_schema")
        read = getattr(tvm_ffi.core, "TypeSchema", None)
        answers[name] = {
            "metadata": found, "doc": module.get_function_doc(name),
            "schema": str(read.from_json_str(schema)) if read and schema else None,
        }
    return {"can_ask": True, "answers": answers}


def names(modules, libraries, job):
    """How functions are found: by attribute, by item, as the entry, and not."""
    module = of(modules, job)
    a = np.arange(5, dtype=np.float32)
    seen = {"kind": module.kind, "implements": module.implements_function(job["function"])}
    ways = {
        "attribute": lambda: getattr(module, job["function"]), "item": lambda: module[job["function"]],
        "get_function": lambda: module.get_function(job["function"]), "main": lambda: module.main, "call": lambda: module,
    }
    for way, find in ways.items():
        out = np.zeros(5, np.float32)
        try:
            find()(a, a, out)
            seen[way] = out.tolist()
        except BaseException as error:
            seen[way] = f"{type(error).__name__}: {error}"
    for name in ("nobody", "_library_bin", ""):
        try:
            module[name]
            seen[f"[{name}]"] = "found"
        except BaseException as error:
            seen[f"[{name}]"] = f"{type(error).__name__}: {error}"
    return seen


def threads_of_loop(modules, libraries, job):
    """The threads that the iterations of a parallel loop ran on; a busy machine has a few calls until several take part."""
    ids, most, caller = np.zeros(job["iterations"], np.int32), 0, threading.get_native_id()
    for calls in range(1, job["calls_max"] + 1):
        ids[...] = 0
        modules[job["library"]][job["function"]](ids)
        most = max(most, len(set(ids.tolist())))
        if (ids == 0).any() or caller not in ids.tolist() or most >= job["wanted"]:
            break
    return {"threads": most, "calls": calls, "with_caller": caller in ids.tolist(), "zeros": int((ids == 0).sum())}


def many_threads(modules, libraries, job):
    """Eight threads that call at once: whether all were within the slow function at one time, and every result right."""
    module, count = of(modules, job), 8
    slow, parallel, add = module[job["slow"]], module[job["parallel"]], module[job["add"]]
    within, wrong, errors = [None] * count, [], []
    start = threading.Barrier(count)

    def work(number):
        try:
            out = np.zeros(1, np.int32)
            start.wait()
            before = time.monotonic()
            slow(out)
            within[number] = (before, time.monotonic())
            for round_ in range(job["rounds"]):
                a = np.full(257, number * 1000 + round_, np.float32)
                b, c = np.arange(257, dtype=np.float32), np.zeros(257, np.float32)
                add(a, b, c)
                if not np.array_equal(c, a + b):
                    wrong.append(("add", number, round_))
                c[...] = 0
                parallel(a, c)
                if not np.array_equal(c, a + 1):
                    wrong.append(("parallel", number, round_))
                try:
                    add(a, b, c[:3])
                    wrong.append(("no error", number, round_))
                except ValueError as error:
                    if "but got 3" not in str(error):
                        wrong.append((str(error), number, round_))
        except BaseException as error:
            errors.append(f"{type(error).__name__}: {error}")

    workers = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    alive = sum(worker.is_alive() for worker in workers)
    at_once = not errors and not alive and max(w[0] for w in within) < min(w[1] for w in within)
    return {"at_once": at_once, "wrong": wrong[:5], "errors": errors[:5], "alive": alive}


def holdings():
    """What this process holds: memory in KiB, mappings, threads, open files."""
    gc.collect()
    with open("/proc/self/status") as file:
        resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    with open("/proc/self/maps") as file:
        mappings = len(file.readlines())
    return {"resident_kib": resident, "mappings": mappings, "threads": len(os.listdir("/proc/self/task")),
            "files": len(os.listdir("/proc/self/fd"))}


def often(modules, libraries, job):
    """Loads a library, calls it and lets it go, again and again, first without its threads; what the process holds after a tenth of the rounds and at the end, and
    the same of loads of another library alone: newer releases keep some memory at each load of any library."""
    a, b, c = (np.full(64, value, np.float32) for value in (1, 2, 0))
    wrong = 0

    # What the driver has loaded would keep it from being unloaded.
    del modules[job["library"]]

    def add(module, _):
        nonlocal wrong
        c[...] = 0
        module[job["add"]](a, b, c)
        wrong += int(c[0] != 3 or c[63] != 3)

    def call(module, round_):
        nonlocal wrong
        add(module, round_)
        if round_ % 10 == 0:
            module[job["parallel"]](a, c)
            wrong += int(c[0] != 2 or c[63] != 2)
            try:
                module[job["add"]](a, b, c[:1])
                wrong += 1
            except ValueError:
                pass

    def rounds(path, use):
        seen = []
        for round_ in range(job["rounds"]):
            use(tvm_ffi.load_module(path), round_)
            if round_ + 1 in (job["rounds"] // 10, job["rounds"]):
                seen.append(holdings())
        return {"early": seen[0], "late": seen[1]}

    control = rounds(job["control"], lambda module, _: module[job["add"]])
    serial = rounds(libraries[job["library"]], add)
    return {"serial": serial, "parallel": rounds(libraries[job["library"]], call), "wrong": wrong, "control": control}


def after_fork(modules, libraries, job):
    """A child that calls again what its parent called: `works`, its exception, a signal, or `hangs`; then the parent again."""
    module = of(modules, job)
    parallel, add = module[job["parallel"]], module[job["add"]]
    a = np.arange(100, dtype=np.float32)

    def both():
        out, total = np.zeros(100, np.float32), np.zeros(100, np.float32)
        parallel(a, out)
        add(a, a, total)
        return "works" if np.array_equal(out, a + 1) and np.array_equal(total, a + a) else "wrong result"

    before = both()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = both()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said.encode()[:500])
        os._exit(0)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], job["patience_s"])
    if not ready:
        os.kill(child, signal.SIGKILL)
    said = os.read(reader, 500).decode() if ready else "hangs"
    _, status = os.waitpid(child, 0)
    os.close(reader)
    return {"before": before, "child": said or f"ended with status {status}", "after": both()}


def raised_in_worker(modules, libraries, job):
    """A parallel loop with one bad iteration, each in turn: who raises, and whether the next call works."""
    function, seen = of(modules, job)[job["function"]], set()
    for bad in range(job["iterations"]):
        a, out = np.zeros(job["iterations"], np.float32), np.zeros(job["iterations"], np.float32)
        a[bad] = 1000
        try:
            function(a, out)
            seen.add("no error")
        except BaseException as error:
            seen.add(f"{type(error).__name__}: {error}")
        a[bad] = 0
        function(a, out)
        if not (out == 1).all():
            seen.add("wrong result after an error")
    return {"seen": sorted(seen)}


def beside_a_global_one(modules, libraries, job):
    """A library whose names are opened to the whole process does not change what another library computes."""
    ctypes.CDLL(libraries[job["global"]], mode=ctypes.RTLD_GLOBAL)
    module, seen = tvm_ffi.load_module(job["path"]), {}
    for name in job["functions"]:
        out = np.zeros(8, np.int32)
        module[name](out, 3)
        seen[name] = out.tolist()
    return seen


def keeps_arguments(modules, libraries, job):
    """Whether arguments are kept or freed after calls that succeed and that fail: references before and after."""
    import sys

    add = of(modules, job)[job["add"]]
    a, b, c = (np.zeros(16, np.float32) for _ in range(3))
    add(a, b, c)
    before = [sys.getrefcount(x) for x in (a, b, c)]
    for _ in range(100):
        add(a, b, c)
        try:
            add(a, b, c[:2])
        except ValueError:
            pass
    gc.collect()
    return {"before": before, "after": [sys.getrefcount(x) for x in (a, b, c)]}


def loses(modules, libraries, job):
    """Whether an exception is lost, by kind of tensors."""
    import torch

    bad, seen = of(modules, job)["bad"], {}
    for kind, tensor in (("numpy", np.zeros(2, np.float32)), ("torch", torch.zeros(2))):
        try:
            seen[kind] = bad(tensor) is None
        except ValueError:
            seen[kind] = False
    return seen


def with_device_code(modules, libraries, job):
    """What loading, then calling with arrays of numpy, says of libraries that have device code."""
    seen, arrays = {}, [np.ones(8, np.float32) for _ in range(3)]
    for name, path in job["files"].items():
        try:
            tvm_ffi.load_module(path)[job["function"]](*arrays)
            seen[name] = "called"
        except BaseException as error:
            seen[name] = f"{type(error).__name__}: {error}"
    return seen


def streams(modules, libraries, job):
    """The streams that libraries see in the environment: without one, within `use_raw_stream` and within another, afterwards, on
    another thread, of another device, and in a call with a tensor of a framework that works on one."""
    import frameworks

    if not hasattr(tvm_ffi, "use_raw_stream"):
        return {"can_set": False}
    device, seen = tvm_ffi.device("cuda", 1), {"can_set": True}

    def ask(*args):
        return [modules[name]["stream_of"](*args) for name in job["libraries"]]

    def elsewhere(answers):
        thread = threading.Thread(target=lambda: answers.extend(ask(2, 1)))
        thread.start()
        thread.join(60)
        return answers

    seen["before"] = ask(2, 1)
    with tvm_ffi.use_raw_stream(device, 0x7000):
        seen["within"], seen["other_device"], seen["other_type"] = ask(2, 1), ask(2, 0), ask(10, 1)
        with tvm_ffi.use_raw_stream(device, 0x8000):
            seen["inner"] = ask(2, 1)
        seen["restored"], seen["thread"] = ask(2, 1), elsewhere([])
    seen["after"] = ask(2, 1)
    frameworks.STREAMS[(2, 1)] = 0x9000
    tensor = frameworks.Tensor({"shape": [2], "hex": "00" * 8, "dtype": [2, 32, 1], "device": [2, 1]})
    try:
        seen["framework"] = ask(tensor, 2, 1)
    except BaseException as error:
        seen["framework"] = f"{type(error).__name__}: {error}"
    seen["after_framework"] = ask(2, 1)
    gc.collect()
    seen["taken"], seen["deleted"], seen["live"] = *(frameworks.COUNTS[key] for key in ("taken", "deleted")), len(frameworks.LIVE)
    return seen


def exchange(modules, libraries, job):
    """What `tests/exchange-library` answers for objects of a framework with DLPack's exchange table: each line says how it was
    called."""
    import frameworks as f

    module = modules[job["library"]]
    # Errors and tensors of a library may live longer than it, which old releases do not see to.
    f.KEPT.append(module)
    spec = {"shape": [3], "hex": np.arange(3, dtype=np.float32).tobytes().hex(), "dtype": [2, 32, 1], "versioned": True}

    def said(call):
        try:
            return call()
        except BaseException as error:
            return f"{type(error).__name__}: {error}"

    def take(table, tensor, may_write=True, alignment=0, compact=False):
        return said(lambda: np.from_dlpack(module["take"](table, id(tensor), may_write, alignment, compact)).tolist())

    def give(table):
        def made():
            given = ctypes.cast(module["give"](table, tvm_ffi.from_dlpack(np.array([7, 8], np.int32))), ctypes.py_object).value
            # The reference that `cast` did not take over.
            ctypes.pythonapi.Py_DecRef(ctypes.py_object(given))
            return given.values(ctypes.c_int32)

        return said(made)

    tensor, address = f.Tensor(spec), lambda table: ctypes.addressof(table)
    read_only, skewed = f.Tensor({**spec, "flags": 1}), f.Tensor({**spec, "skew": 4})
    shape, dtype, cpu = tvm_ffi.Shape((2, 2)), tvm_ffi.dtype("float32"), tvm_ffi.device("cpu", 0)
    f.STREAMS[(2, 1)] = 0x9000
    seen = {
        "take": take(f.ADDRESS, tensor), "take_chained": take(address(f.LATER), tensor),
        "take_lone": take(address(f.LONE), tensor), "take_hollow": take(address(f.HOLLOW), tensor),
        "take_no_table": take(0, tensor), "take_refused": take(f.ADDRESS, f.Tensor(spec, refuses=True)),
        "take_no_object": said(lambda: module["take"](f.ADDRESS, 0, True, 0, False)),
        "take_read_only": take(f.ADDRESS, read_only), "take_to_read": take(f.ADDRESS, read_only, may_write=False),
        "take_skewed": take(f.ADDRESS, skewed, alignment=64), "take_aligned": take(f.ADDRESS, skewed, alignment=4),
        "take_strided": take(f.ADDRESS, f.Tensor({**spec, "shape": [2], "strides": [2]}), compact=True),
        "look": said(lambda: module["look"](f.ADDRESS, id(tensor))),
        "look_chained": said(lambda: module["look"](address(f.LATER), id(tensor))),
        "give": give(f.ADDRESS), "give_hollow": give(address(f.HOLLOW)),
        "allocate": said(lambda: np.from_dlpack(module["allocate"](f.ADDRESS, shape, dtype, cpu)).tolist()),
        "allocate_elsewhere": said(lambda: module["allocate"](f.ADDRESS, shape, dtype, tvm_ffi.device("cuda", 9))),
        "work_stream": said(lambda: module["work_stream"](f.ADDRESS, tvm_ffi.device("cuda", 1))),
        "env_allocate": said(lambda: module["env_allocate"](shape, dtype, cpu)),
        "inside": said(lambda: module["inside"](0xA000, tvm_ffi.device("cuda", 2), lambda: module["env_stream"](
            tvm_ffi.device("cuda", 2)))),
        "outside": said(lambda: module["env_stream"](tvm_ffi.device("cuda", 2))),
    }
    # A call with a tensor of the framework on a device: its stream and its allocator are the environment's for the call.
    there = f.Tensor({**spec, "device": [2, 1]})
    seen["called_with"] = said(lambda: module["env_stream"](tvm_ffi.device("cuda", 1), there))
    seen["allocates_with"] = said(lambda: str(module["env_allocate"](shape, dtype, cpu, there) is not None))
    # TVM-FFI's own table: that of the class by which its tests wrap a tensor.
    wrapper = tvm_ffi.core.DLTensorTestWrapper
    table = f.address_of(wrapper)
    theirs = wrapper(tvm_ffi.from_dlpack(np.arange(3, dtype=np.float32)))
    seen["own_take"] = take(table, theirs, alignment=4, compact=True)
    seen["own_look"] = said(lambda: module["look"](table, id(theirs)))
    made = said(lambda: module["give"](table, tvm_ffi.from_dlpack(np.array([7, 8], np.int32))))
    if isinstance(made, int):
        given = ctypes.cast(made, ctypes.py_object).value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(given))
        made = [type(given).__name__, np.from_dlpack(given).tolist()]
    seen["own_give"] = made
    seen["own_allocate"] = said(lambda: np.from_dlpack(module["allocate"](table, shape, dtype, cpu)).shape)
    with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 1), 0xB000):
        seen["own_stream"] = said(lambda: module["work_stream"](table, tvm_ffi.device("cuda", 1)))
    gc.collect()
    made = f.COUNTS["taken"] + f.COUNTS["allocated"]
    seen["deleted"], seen["made"], seen["live"] = f.COUNTS["deleted"], made, len(f.LIVE)
    return seen
