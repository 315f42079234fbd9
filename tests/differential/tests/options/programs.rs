//! Programs that show what options do.

/// Returns the text of a program.
pub(crate) fn text(name: &str) -> &'static str {
    let found = PROGRAMS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no program {name}")).1
}

const PROGRAMS: &[(&str, &str)] = &[
    ("add", "@T.prim_func(s_tir=True)
def add(A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((\"n\",), \"float32\")):
    n = T.int32()
    for i in range(n):
        with T.sblock(\"B\"):
            v = T.axis.spatial(n, i)
            B[v] = A[v] + T.float32(1)
"),
    ("matmul", "@T.prim_func(s_tir=True)
def matmul(A: T.Buffer((512, 512), \"float32\"), B: T.Buffer((512, 512), \"float32\"), C: T.Buffer((512, 512), \"float32\")):
    T.func_attr({\"tirx.noalias\": True})
    for i, j, k in T.grid(512, 512, 512):
        with T.sblock(\"C\"):
            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"),
    ("copy", "@T.prim_func(s_tir=True)
def copy(A: T.Buffer((4194304,), \"float32\"), B: T.Buffer((4194304,), \"float32\")):
    T.func_attr({\"tirx.noalias\": True})
    for i in range(4194304):
        with T.sblock(\"B\"):
            v = T.axis.spatial(4194304, i)
            B[v] = A[v] * T.float32(2)
"),
    ("dot", "@T.prim_func(s_tir=True)
def dot(A: T.Buffer((64, 256), \"uint8\"), B: T.Buffer((256, 64), \"int8\"), C: T.Buffer((64, 64), \"int32\")):
    T.func_attr({\"tirx.noalias\": True})
    for i, j, k in T.grid(64, 64, 256):
        with T.sblock(\"C\"):
            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.Cast(\"int32\", A[vi, vk]) * T.Cast(\"int32\", B[vk, vj])
"),
    ("math", "@T.prim_func(s_tir=True)
def math(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):
    for i in range(64):
        with T.sblock(\"B\"):
            v = T.axis.spatial(64, i)
            B[v] = T.exp(A[v]) / T.sqrt(A[v]) + A[v] / T.float32(3)
"),
    ("sum", "@T.prim_func(s_tir=True)
def sum(A: T.Buffer((64, 64), \"float32\"), B: T.Buffer((64,), \"float32\")):
    for i, k in T.grid(64, 64):
        with T.sblock(\"B\"):
            vi, vk = T.axis.remap(\"SR\", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk] * A[vi, vk] - A[vi, vk]
"),
    ("float16", "@T.prim_func(s_tir=True)
def half(A: T.Buffer((64,), \"float16\"), B: T.Buffer((64,), \"float16\")):
    for i in range(64):
        with T.sblock(\"B\"):
            v = T.axis.spatial(64, i)
            B[v] = A[v] * T.float16(2) + A[v]
"),
    ("bfloat16", "@T.prim_func(s_tir=True)
def brain(A: T.Buffer((64,), \"bfloat16\"), B: T.Buffer((64,), \"bfloat16\")):
    for i in range(64):
        with T.sblock(\"B\"):
            v = T.axis.spatial(64, i)
            B[v] = A[v] * T.bfloat16(2) + A[v]
"),
    ("float64", "@T.prim_func(s_tir=True)
def double(A: T.Buffer((64,), \"float64\"), B: T.Buffer((64,), \"float64\")):
    for i in range(64):
        with T.sblock(\"B\"):
            v = T.axis.spatial(64, i)
            B[v] = A[v] * T.float64(2) + A[v]
"),
    ("int64", "@T.prim_func(s_tir=True)
def long(A: T.Buffer((64,), \"int64\"), B: T.Buffer((64,), \"int64\")):
    for i in range(64):
        with T.sblock(\"B\"):
            v = T.axis.spatial(64, i)
            B[v] = A[v] * T.int64(3) + A[v]
"),
    ("int16", "@T.prim_func(s_tir=True)
def short(A: T.Buffer((64,), \"int16\"), B: T.Buffer((64,), \"int16\")):
    for i in range(64):
        with T.sblock(\"B\"):
            v = T.axis.spatial(64, i)
            B[v] = A[v] * T.int16(3) + A[v]
"),
    ("int8", "@T.prim_func(s_tir=True)
def byte(A: T.Buffer((64,), \"int8\"), B: T.Buffer((64,), \"int8\")):
    for i in range(64):
        with T.sblock(\"B\"):
            v = T.axis.spatial(64, i)
            B[v] = A[v] * T.int8(3) + A[v]
"),
    ("atomic64", "@T.prim_func(s_tir=True)
def atomic(A: T.Buffer((64,), \"int64\"), B: T.Buffer((1,), \"int64\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        T.evaluate(T.atomic_add(T.address_of(B[0]), A[tx]))
"),
    ("shared_atomic64", "@T.prim_func(s_tir=True)
def atomic(A: T.Buffer((64,), \"int64\"), B: T.Buffer((1,), \"int64\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        S = T.alloc_buffer((1,), \"int64\", scope=\"shared\")
        if tx == 0:
            S[0] = T.int64(0)
        T.tvm_storage_sync(\"shared\")
        T.evaluate(T.atomic_add(T.address_of(S[0]), A[tx]))
        T.tvm_storage_sync(\"shared\")
        if tx == 0:
            B[0] = S[0]
"),
    ("atomic_float", "@T.prim_func(s_tir=True)
def added(A: T.Buffer((64,), \"float32\"), B: T.Buffer((1,), \"float32\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        T.evaluate(T.atomic_add(T.address_of(B[0]), A[tx]))
"),
    ("shuffle", "@T.prim_func(s_tir=True)
def shuffle(A: T.Buffer((32,), \"float32\"), B: T.Buffer((32,), \"float32\")):
    for tx in T.thread_binding(32, thread=\"threadIdx.x\"):
        mask = T.alloc_local((1,), \"uint32\")
        mask[0] = T.tvm_warp_activemask()
        B[tx] = T.tvm_warp_shuffle_xor(mask[0], A[tx], 1, 32, 32)
"),
    ("warp_barrier", "@T.prim_func(s_tir=True)
def barrier(A: T.Buffer((32,), \"float32\"), B: T.Buffer((32,), \"float32\")):
    for tx in T.thread_binding(32, thread=\"threadIdx.x\"):
        B[tx] = A[tx]
        T.tvm_storage_sync(\"warp\")
        A[tx] = B[T.bitwise_xor(tx, 1)]
"),
    ("threads", "@T.prim_func(s_tir=True)
def threads(A: T.Buffer((4, 64), \"float32\")):
    for bx in T.thread_binding(4, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
            A[bx, tx] = A[bx, tx] + T.float32(1)
"),
    ("box", "@T.prim_func(s_tir=True)
def box(A: T.Buffer((4, 4, 4), \"float32\")):
    for tz in T.thread_binding(4, thread=\"threadIdx.z\"):
        for ty in T.thread_binding(4, thread=\"threadIdx.y\"):
            for tx in T.thread_binding(4, thread=\"threadIdx.x\"):
                A[tz, ty, tx] = A[tz, ty, tx] + T.float32(1)
"),
    ("shared", "@T.prim_func(s_tir=True)
def shared(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        S = T.alloc_buffer((64,), scope=\"shared\")
        S[tx] = A[tx]
        T.tvm_storage_sync(\"shared\")
        B[tx] = S[63 - tx]
"),
    ("shared_int8", "@T.prim_func(s_tir=True)
def shared(A: T.Buffer((64,), \"int8\"), B: T.Buffer((64,), \"int8\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        S = T.alloc_buffer((64,), \"int8\", scope=\"shared\")
        S[tx] = A[tx]
        T.tvm_storage_sync(\"shared\")
        B[tx] = S[63 - tx]
"),
    ("shared_int16", "@T.prim_func(s_tir=True)
def shared(A: T.Buffer((64,), \"int16\"), B: T.Buffer((64,), \"int16\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        S = T.alloc_buffer((64,), \"int16\", scope=\"shared\")
        S[tx] = A[tx]
        T.tvm_storage_sync(\"shared\")
        B[tx] = S[63 - tx]
"),
    ("nans", "@T.prim_func(s_tir=True)
def nans(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):
    for i in range(64):
        with T.sblock(\"B\"):
            v = T.axis.spatial(64, i)
            B[v] = T.Select(A[v] != A[v], T.float32(1), A[v])
"),
    ("transpose", "@T.prim_func(s_tir=True)
def transpose(A: T.Buffer((256, 256), \"float32\"), B: T.Buffer((256, 256), \"float32\")):
    T.func_attr({\"tirx.noalias\": True})
    for i, j in T.grid(256, 256):
        with T.sblock(\"B\"):
            vi, vj = T.axis.remap(\"SS\", [i, j])
            B[vi, vj] = A[vj, vi]
"),
    ("buffers", "@T.prim_func(s_tir=True)
def buffers(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\"), C: T.Buffer((64,), \"float32\"), s: T.float32):
    for i in range(64):
        with T.sblock(\"C\"):
            v = T.axis.spatial(64, i)
            C[v] = A[v] + B[v] * s
"),
    ("scalars", "@T.prim_func(s_tir=True)
def scalars(A: T.Buffer((64,), \"float32\"), a: T.int32, b: T.int32, c: T.int32, d: T.int32, e: T.int32, f: T.int32):
    for i in range(64):
        with T.sblock(\"A\"):
            v = T.axis.spatial(64, i)
            A[v] = A[v] + T.Cast(\"float32\", a + b * c + d * e - f)
"),
];
