"""Programs that TVM has scheduled for threads, by each rule of dlight and by steps of its own schedules.

Each is drawn as the plain program is: TVM computes the expected results with the plain one.
"""

import numpy
from tvm import s_tir, te, topi
from tvm.s_tir import dlight
from tvm.script import from_source
from tvm.target import Target

from draw import Draw

RULES = ("Matmul", "GEMV", "LowBatchGEMV", "Reduction", "GeneralReduction", "RMSNorm", "Transpose", "Fallback")

# Limits that every device in the tests keeps, and those of a large GPU: shared memory of which a whole operand would not be.
TARGETS = {
    "small": {"kind": "opencl", "max_num_threads": 256, "max_shared_memory_per_block": 16384, "thread_warp_size": 1},
    "large": {"kind": "cuda", "arch": "sm_80", "max_num_threads": 1024, "max_shared_memory_per_block": 49152},
}

# An extent that programs do not know; no other extent is this.
SYMBOLIC = 11

# More than TOPI's own draws have, so that each rule applies to some.
LARGER = {
    "large.matmul": lambda d: topi.matmul(*_operands(d, 33, 64, 48)),
    "large.dense": lambda d: topi.nn.dense(d.input((64, 128)), d.input((96, 128))),
    "large.batch_matmul": lambda d: topi.nn.batch_matmul(d.input((2, 32, 48)), d.input((2, 40, 48))),
    "large.gemv": lambda d: topi.nn.dense(d.input((1, 256)), d.input((128, 256))),
    "large.low_batch": lambda d: topi.nn.dense(d.input((SYMBOLIC, 256)), d.input((128, 256))),
    "large.symbolic": lambda d: topi.nn.dense(d.input((SYMBOLIC, 64)), d.input((48, 64)), d.input((48,))),
    "large.sum": lambda d: topi.sum(d.input((6, 10, 14)), axis=d.choice((None, [1], [0, 2]))),
    "large.softmax": lambda d: topi.nn.softmax(d.input((16, 300)), axis=1),
    "large.rms_norm": lambda d: topi.nn.rms_norm(d.input((1, 4, 4096)), d.input((4096,)), [2]),
    "large.transpose": lambda d: topi.transpose(d.input((70, 45))),
    "large.conv2d": lambda d: topi.nn.conv2d_nchw(d.input((1, 8, 14, 14)), d.input((16, 8, 3, 3)), 1, 1, 1),
}


def _operands(d, n, k, m):
    return d.input((n, k)), d.input((k, m))


def rules(writer, name, make, seed):
    """Writes the program as each rule schedules it that applies to it."""
    symbol = te.var("n")
    known = lambda shape: [symbol if extent == SYMBOLIC and is_large else extent for extent in shape]  # noqa: E731
    is_large = name.startswith("large.")
    draw = Draw(seed, lambda label, shape, dtype: te.placeholder(known(shape), dtype, label))
    size = draw.choice(TARGETS)
    try:
        with Target("llvm"):
            made = make(draw)
        results = [made] if isinstance(made, te.Tensor) else list(made)
        function = te.create_prim_func([*draw.inputs, *results])
        sizes = lambda shape: [SYMBOLIC if is_large and extent.same_as(symbol) else int(extent) for extent in shape]  # noqa: E731
        outputs = [numpy.zeros(sizes(result.shape), str(result.dtype)) for result in results]
    except Exception:  # noqa: BLE001 - the plain programs are judged by another test
        return
    for rule in RULES:
        try:
            with Target(TARGETS[size]) as target:
                done = getattr(dlight.gpu, rule)().apply(function, target, False)
        except Exception:  # noqa: BLE001 - a rule that was not written for such a program
            continue
        if done is not None:
            done = done[0] if isinstance(done, list) else done
            scheduled = done.mod[done.mod.get_global_vars()[0]]
            writer.program(f"{name}:{rule}.{size}", "scheduled", function, [*draw.arrays, *outputs], scheduled)


# Schedules by steps


def _product(n, k, m):
    a, b = te.placeholder((n, k), name="A"), te.placeholder((k, m), name="B")
    r = te.reduce_axis((0, k), name="k")
    return te.create_prim_func([a, b, te.compute((n, m), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")])


def _bound(schedule, block, tile):
    """Tiles both axes of the block, and binds them to blocks and threads."""
    i, j = schedule.get_loops(block)[:2]
    i_0, i_1 = schedule.split(i, [None, tile])
    j_0, j_1 = schedule.split(j, [None, tile])
    rest = schedule.get_loops(block)[4:]
    schedule.reorder(i_0, j_0, i_1, j_1, *rest)
    schedule.bind(i_0, "blockIdx.y")
    schedule.bind(j_0, "blockIdx.x")
    schedule.bind(i_1, "threadIdx.y")
    schedule.bind(j_1, "threadIdx.x")
    return i_0, j_0, i_1, j_1


def _share(schedule, block, tile):
    """The two inner loops of the block, shared out to the threads."""
    fused = schedule.fuse(*schedule.get_loops(block)[-2:])
    _, y, x = schedule.split(fused, [None, tile, tile])
    schedule.bind(y, "threadIdx.y")
    schedule.bind(x, "threadIdx.x")


def cached(d):
    """Both operands in shared memory, the result in registers."""
    n, k, m, tile, step = d.choice((16, 24)), d.choice((24, 40)), d.choice((8, 32)), 8, d.choice((4, 8))
    function = _product(n, k, m)
    schedule = s_tir.Schedule(function)
    block = schedule.get_sblock("C")
    _, _, _, thread = _bound(schedule, block, tile)
    k_0, _ = schedule.split(schedule.get_loops(block)[4], [None, step])
    write = schedule.cache_write(block, 0, "local")
    schedule.reverse_compute_at(write, thread)
    for operand in (0, 1):
        read = schedule.cache_read(block, operand, "shared")
        schedule.compute_at(read, k_0)
        _share(schedule, read, tile)
        if d.choice((False, True)):
            schedule.storage_align(read, 0, 0, 8, 3)
    if d.choice((False, True)):
        schedule.decompose_reduction(block, k_0)
    return function, schedule, [(n, k), (k, m)], (n, m)


def virtual(d):
    """Virtual threads, each with registers of its own."""
    n, k, m = 32, d.choice((16, 20)), 32
    function = _product(n, k, m)
    schedule = s_tir.Schedule(function)
    block = schedule.get_sblock("C")
    i, j, r = schedule.get_loops(block)
    i_0, v, i_1 = schedule.split(i, [None, 2, 8])
    j_0, j_1 = schedule.split(j, [None, 8])
    schedule.reorder(i_0, j_0, v, i_1, j_1, r)
    for loop, axis in ((i_0, "blockIdx.y"), (j_0, "blockIdx.x"), (v, "vthread.y"), (i_1, "threadIdx.y"), (j_1, "threadIdx.x")):
        schedule.bind(loop, axis)
    schedule.reverse_compute_at(schedule.cache_write(block, 0, "local"), j_1)
    schedule.decompose_reduction(block, r)
    return function, schedule, [(n, k), (k, m)], (n, m)


def window(d):
    """Windows that overlap, computed where they are read."""
    n, m, wide = d.choice((15, 24)), d.choice((16, 21)), d.choice((2, 3))
    a = te.placeholder((n + wide - 1, m), name="A")
    doubled = te.compute(a.shape, lambda i, j: a[i, j] * 2.0, name="D")
    c = te.compute((n, m), lambda i, j: sum((doubled[i + s, j] for s in range(1, wide)), doubled[i, j]), name="C")
    function = te.create_prim_func([a, c])
    schedule = s_tir.Schedule(function)
    block, producer = schedule.get_sblock("C"), schedule.get_sblock("D")
    tile = d.choice((4, 8))
    _, j_0, _, _ = _bound(schedule, block, tile)
    schedule.compute_at(producer, j_0)
    _share(schedule, producer, tile)
    schedule.set_scope(producer, 0, d.choice(("shared", "shared.dyn")))
    return function, schedule, [(n + wide - 1, m)], (n, m)


# `tensorize` itself crashes in this TVM (it copies the intrinsic through JSON, which reads what is not there): so this is
# written as it leaves a program, and TVM reads and prints it.
TENSORIZED = """
# from tvm.script import from_source
@T.prim_func(s_tir=True)
def main(A: T.Buffer(({n}, {k}), "float32"), B: T.Buffer(({k}, {m}), "float32"), C: T.Buffer(({n}, {m}), "float32")):
    T.func_attr({{"tirx.noalias": True}})
    C_local = T.sblock_alloc_buffer(({n}, {m}), scope="local")
    A_shared = T.sblock_alloc_buffer(({n}, {k}), scope="shared")
    B_shared = T.sblock_alloc_buffer(({k}, {m}), scope="shared")
    for i_0 in T.thread_binding({n} // 16, thread="blockIdx.y"):
        for j_0 in T.thread_binding({m} // 16, thread="blockIdx.x"):
            for i_1 in T.thread_binding(4, thread="threadIdx.y"):
                for j_1 in T.thread_binding(4, thread="threadIdx.x"):
                    for i_2, j_2 in T.grid(4, 4):
                        with T.sblock("C_init"):
                            v_i = T.axis.spatial({n}, i_0 * 16 + i_1 * 4 + i_2)
                            v_j = T.axis.spatial({m}, j_0 * 16 + j_1 * 4 + j_2)
                            T.reads()
                            T.writes(C_local[v_i, v_j])
                            C_local[v_i, v_j] = T.float32(0.0)
                    for k_0 in range({k} // 4):
                        for ax0_0 in range(4):
                            for ax0_1 in T.thread_binding(4, thread="threadIdx.y"):
                                for ax1 in T.thread_binding(4, thread="threadIdx.x"):
                                    with T.sblock("A_shared"):
                                        v0 = T.axis.spatial({n}, i_0 * 16 + ax0_0 * 4 + ax0_1)
                                        v1 = T.axis.spatial({k}, k_0 * 4 + ax1)
                                        T.reads(A[v0, v1])
                                        T.writes(A_shared[v0, v1])
                                        T.sblock_attr({{"buffer_dim_align": [[0, 0, {factor}, 1]]}})
                                        A_shared[v0, v1] = A[v0, v1]
                        for ax1_0 in range(4):
                            for ax0 in T.thread_binding(4, thread="threadIdx.y"):
                                for ax1_1 in T.thread_binding(4, thread="threadIdx.x"):
                                    with T.sblock("B_shared"):
                                        v0 = T.axis.spatial({k}, k_0 * 4 + ax0)
                                        v1 = T.axis.spatial({m}, j_0 * 16 + ax1_0 * 4 + ax1_1)
                                        T.reads(B[v0, v1])
                                        T.writes(B_shared[v0, v1])
                                        B_shared[v0, v1] = B[v0, v1]
                        with T.sblock("C_update_o"):
                            v_i_o = T.axis.spatial({n} // 4, i_0 * 4 + i_1)
                            v_j_o = T.axis.spatial({m} // 4, j_0 * 4 + j_1)
                            v_k_o = T.axis.reduce({k} // 4, k_0)
                            T.reads(C_local[v_i_o * 4:v_i_o * 4 + 4, v_j_o * 4:v_j_o * 4 + 4], A_shared[v_i_o * 4:v_i_o * 4 + 4, v_k_o * 4:v_k_o * 4 + 4], B_shared[v_k_o * 4:v_k_o * 4 + 4, v_j_o * 4:v_j_o * 4 + 4])
                            T.writes(C_local[v_i_o * 4:v_i_o * 4 + 4, v_j_o * 4:v_j_o * 4 + 4])
                            A_1 = T.match_buffer(A_shared[v_i_o * 4:v_i_o * 4 + 4, v_k_o * 4:v_k_o * 4 + 4], (4, 4), strides=("A_s0", {a_last}), scope="shared", offset_factor=1)
                            B_1 = T.match_buffer(B_shared[v_k_o * 4:v_k_o * 4 + 4, v_j_o * 4:v_j_o * 4 + 4], (4, 4), strides=("B_s0", {b_last}), scope="shared", offset_factor=1)
                            C_1 = T.match_buffer(C_local[v_i_o * 4:v_i_o * 4 + 4, v_j_o * 4:v_j_o * 4 + 4], (4, 4), strides=("C_s0", 1), scope="local", offset_factor=1)
                            for k_1, i_2, j_2 in T.grid(4, 4, 4):
                                C_1[i_2, j_2] = C_1[i_2, j_2] + A_1[i_2, k_1] * B_1[k_1, j_2]
                    for ax0, ax1 in T.grid(4, 4):
                        with T.sblock("C_local"):
                            v0 = T.axis.spatial({n}, i_0 * 16 + i_1 * 4 + ax0)
                            v1 = T.axis.spatial({m}, j_0 * 16 + j_1 * 4 + ax1)
                            T.reads(C_local[v0, v1])
                            T.writes(C[v0, v1])
                            C[v0, v1] = C_local[v0, v1]
"""


def tensorized(d):
    """A tile of shared memory and of registers in an intrinsic, which sees regions of them."""
    n, k, m = d.choice((16, 32)), d.choice((8, 24)), d.choice((16, 32))
    text = TENSORIZED.format(n=n, k=k, m=m, factor=d.choice((4, 8)), a_last=d.choice(('"A_s1"', "1")), b_last=d.choice(('"B_s1"', "1")))
    return _product(n, k, m), from_source(text, s_tir=True), [(n, k), (k, m)], (n, m)


STEPS = {"steps.cached": cached, "steps.virtual": virtual, "steps.window": window, "steps.tensorized": tensorized}


def steps(writer, name, make, seed):
    draw = Draw(seed, lambda *_: None)
    try:
        function, schedule, inputs, output = make(draw)
        for shape in inputs:
            draw.input(shape)
        scheduled = schedule.mod[schedule.mod.get_global_vars()[0]] if isinstance(schedule, s_tir.Schedule) else schedule
    except Exception as error:  # noqa: BLE001 - whatever TVM raises
        return writer.refused(name, "scheduled", error)
    return writer.program(name, "scheduled", function, [*draw.arrays, numpy.zeros(output, "float32")], scheduled)


def of_topi(operators):
    """(name, what writes it) of TOPI's operators by each rule, in a fixed order."""
    for name, (variants, make) in operators.items():
        for variant in range(variants):
            yield f"{name}/{variant}", lambda w, n, s, make=make: rules(w, n, make, s)


def of_ours():
    """The same of larger programs by each rule, and of schedules by steps."""
    for name, make in LARGER.items():
        for variant in range(3):
            yield f"{name}/{variant}", lambda w, n, s, make=make: rules(w, n, make, s)
    for name, make in STEPS.items():
        for variant in range(6):
            yield f"{name}/{variant}", lambda w, n, s, make=make: steps(w, n, make, s)
