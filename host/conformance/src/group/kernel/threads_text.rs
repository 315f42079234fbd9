//! Texts of the kernels of `threads.rs` that exist in one version.

use super::threads::Row;

pub(super) const LAUNCHES: &[Row] = &[
    (
        "threads-alone",
        "(A: T.Buffer((64,), \"int32\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        A[tx] = A[tx] + tx
",
        &[],
    ),
    (
        "blocks-alone",
        "(A: T.Buffer((64,), \"int32\")):
    for bx in T.thread_binding(64, thread=\"blockIdx.x\"):
        A[bx] = A[bx] + bx
",
        &[],
    ),
    (
        "threads-outside",
        "(A: T.Buffer((4, 16), \"int32\")):
    for tx in T.thread_binding(16, thread=\"threadIdx.x\"):
        for bx in T.thread_binding(4, thread=\"blockIdx.x\"):
            A[bx, tx] = A[bx, tx] * 2 + tx
",
        &[],
    ),
    (
        "one-after-the-other",
        "(A: T.Buffer((64,), \"int32\"), B: T.Buffer((64,), \"int32\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        B[tx] = A[tx] + 1
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        A[tx] = B[63 - tx]
",
        &[],
    ),
    (
        "serial-within",
        "(A: T.Buffer((8, 16), \"int32\"), B: T.Buffer((8,), \"int32\")):
    for tx in T.thread_binding(8, thread=\"threadIdx.x\"):
        B[tx] = 0
        for k in range(16):
            B[tx] = B[tx] + A[tx, k]
",
        &[],
    ),
    (
        "local-memory",
        "(A: T.Buffer((16, 8), \"int32\"), B: T.Buffer((16, 8), \"int32\")):
    for tx in T.thread_binding(16, thread=\"threadIdx.x\"):
        L = T.alloc_local((8,), \"int32\")
        for k in range(8):
            L[k] = A[tx, k] * tx
        for k in range(8):
            B[tx, k] = L[7 - k]
",
        &[],
    ),
    (
        "early-end",
        "(A: T.Buffer((64,), \"int32\"), n: T.int32):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        if tx >= n:
            T.thread_return()
        A[tx] = 7
",
        &[("n", 41)],
    ),
    (
        "grid-of-size",
        "(A: T.Buffer((\"n\",), \"int32\")):
    n = T.int32()
    for bx in T.thread_binding((n + 31) // 32, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(32, thread=\"threadIdx.x\"):
            if bx * 32 + tx < n:
                A[bx * 32 + tx] = bx
",
        &[("n", 1000)],
    ),
    (
        "grid-of-none",
        "(A: T.Buffer((\"n\",), \"int32\")):
    n = T.int32()
    for bx in T.thread_binding((n + 31) // 32, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(32, thread=\"threadIdx.x\"):
            if bx * 32 + tx < n:
                A[bx * 32 + tx] = bx
",
        &[("n", 0)],
    ),
    (
        "scalars",
        "(A: T.Buffer((64,), \"float32\"), x: T.float32, n: T.int32, t: T.bool):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        if t and tx < n:
            A[tx] = A[tx] * x
",
        &[("n", 50)],
    ),
    (
        "divergent-branches",
        "(A: T.Buffer((64,), \"int32\"), B: T.Buffer((64,), \"int32\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        if tx % 2 == 0:
            B[tx] = A[tx] + 1
        else:
            for k in range(tx):
                B[tx] = A[tx] - k
",
        &[],
    ),
];

pub(super) const SHARED: &[Row] = &[
    (
        "transpose-tile",
        "(A: T.Buffer((32, 48), \"float32\"), B: T.Buffer((48, 32), \"float32\")):
    for by in T.thread_binding(2, thread=\"blockIdx.y\"):
        for bx in T.thread_binding(3, thread=\"blockIdx.x\"):
            for ty in T.thread_binding(16, thread=\"threadIdx.y\"):
                for tx in T.thread_binding(16, thread=\"threadIdx.x\"):
                    S = T.alloc_buffer((16, 17), scope=\"shared\")
                    S[ty, tx] = A[by * 16 + ty, bx * 16 + tx]
                    T.tvm_storage_sync(\"shared\")
                    B[bx * 16 + ty, by * 16 + tx] = S[tx, ty]
",
        &[],
    ),
    (
        "sync-in-loop",
        "(A: T.Buffer((64,), \"int32\"), B: T.Buffer((64,), \"int32\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        S = T.alloc_buffer((64,), \"int32\", scope=\"shared\")
        L = T.alloc_local((1,), \"int32\")
        S[tx] = A[tx]
        T.tvm_storage_sync(\"shared\")
        for k in range(6):
            L[0] = S[tx]
            if tx >= T.shift_left(1, k):
                L[0] = L[0] + S[tx - T.shift_left(1, k)]
            T.tvm_storage_sync(\"shared\")
            S[tx] = L[0]
            T.tvm_storage_sync(\"shared\")
        B[tx] = S[tx]
",
        &[],
    ),
    (
        "tree-sum",
        "(A: T.Buffer((4, 128), \"float32\"), B: T.Buffer((4,), \"float32\")):
    for bx in T.thread_binding(4, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(128, thread=\"threadIdx.x\"):
            S = T.alloc_buffer((128,), scope=\"shared\")
            S[tx] = A[bx, tx]
            T.tvm_storage_sync(\"shared\")
            for k in range(7):
                if tx < T.shift_right(64, k):
                    S[tx] = S[tx] + S[tx + T.shift_right(64, k)]
                T.tvm_storage_sync(\"shared\")
            if tx == 0:
                B[bx] = S[0]
",
        &[],
    ),
    (
        "two-arrays",
        "(A: T.Buffer((64,), \"float32\"), X: T.Buffer((64,), \"int32\"), B: T.Buffer((64,), \"float32\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        S = T.alloc_buffer((64,), scope=\"shared\")
        R = T.alloc_buffer((64,), \"int32\", scope=\"shared\")
        S[tx] = A[tx]
        R[63 - tx] = X[tx]
        T.tvm_storage_sync(\"shared\")
        B[tx] = S[63 - tx] * T.Cast(\"float32\", R[tx])
",
        &[],
    ),
    (
        "one-per-block",
        "(A: T.Buffer((9, 32), \"int32\"), B: T.Buffer((9, 32), \"int32\")):
    for bx in T.thread_binding(9, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(32, thread=\"threadIdx.x\"):
            S = T.alloc_buffer((1,), \"int32\", scope=\"shared\")
            if tx == 5:
                S[0] = A[bx, 7] + bx
            T.tvm_storage_sync(\"shared\")
            B[bx, tx] = S[0] + tx
",
        &[],
    ),
    (
        "double-buffer",
        "(A: T.Buffer((8, 32), \"int32\"), B: T.Buffer((8, 32), \"int32\")):
    for tx in T.thread_binding(32, thread=\"threadIdx.x\"):
        S = T.alloc_buffer((2, 32), \"int32\", scope=\"shared\")
        for k in range(8):
            S[k % 2, tx] = A[k, tx]
            T.tvm_storage_sync(\"shared\")
            B[k, tx] = S[k % 2, (tx + 1) % 32]
",
        &[],
    ),
    (
        "barrier-between-blocks",
        "(A: T.Buffer((256,), \"float32\"), B: T.Buffer((256,), \"float32\")):
    S = T.sblock_alloc_buffer((256,), scope=\"shared\")
    for bx in T.thread_binding(1, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(256, thread=\"threadIdx.x\"):
            with T.sblock(\"S\"):
                vi = T.axis.spatial(256, tx)
                S[vi] = A[vi]
        for tx in T.thread_binding(256, thread=\"threadIdx.x\"):
            with T.sblock(\"B\"):
                vi = T.axis.spatial(256, tx)
                B[vi] = S[255 - vi]
",
        &[],
    ),
];

pub(super) const DYNAMIC: &[Row] = &[
    (
        "reverse",
        "(A: T.Buffer((256,), \"float32\"), B: T.Buffer((256,), \"float32\")):
    for tx in T.thread_binding(256, thread=\"threadIdx.x\"):
        S = T.alloc_buffer((256,), scope=\"shared.dyn\")
        S[tx] = A[tx]
        T.tvm_storage_sync(\"shared.dyn\")
        B[tx] = S[255 - tx]
",
        &[],
    ),
    (
        "two-arrays",
        "(A: T.Buffer((64,), \"int32\"), B: T.Buffer((64,), \"int32\")):
    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
        S = T.alloc_buffer((64,), \"int32\", scope=\"shared.dyn\")
        R = T.alloc_buffer((64,), \"int32\", scope=\"shared.dyn\")
        S[tx] = A[tx]
        R[tx] = A[63 - tx] * 2
        T.tvm_storage_sync(\"shared.dyn\")
        B[tx] = S[63 - tx] - R[63 - tx]
",
        &[],
    ),
];

pub(super) const WARP: &[Row] = &[
    (
        "sum-by-xor",
        "(A: T.Buffer((WARP,), \"float32\"), B: T.Buffer((WARP,), \"float32\")):
    for tx in T.thread_binding(WARP, thread=\"threadIdx.x\"):
        mask = T.alloc_local((1,), \"uint32\")
        mask[0] = T.tvm_warp_activemask()
        L = T.alloc_local((2,))
        L[0] = A[tx]
        for k in T.unroll(WARP_STEPS):
            L[1] = T.tvm_warp_shuffle_xor(mask[0], L[0], T.shift_left(1, k), WARP, WARP)
            L[0] = L[0] + L[1]
        B[tx] = L[0]
",
        &[],
    ),
    (
        "barrier",
        "(A: T.Buffer((WARP,), \"int32\"), B: T.Buffer((WARP,), \"int32\")):
    for tx in T.thread_binding(WARP, thread=\"threadIdx.x\"):
        B[tx] = A[tx]
        T.tvm_storage_sync(\"warp\")
        A[tx] = B[T.bitwise_xor(tx, 1)]
",
        &[],
    ),
    (
        "second-warp",
        "(A: T.Buffer((TWO_WARPS,), \"int32\"), B: T.Buffer((TWO_WARPS,), \"int32\")):
    for tx in T.thread_binding(TWO_WARPS, thread=\"threadIdx.x\"):
        mask = T.alloc_local((1,), \"uint32\")
        mask[0] = T.tvm_warp_activemask()
        B[tx] = T.tvm_warp_shuffle(mask[0], A[tx], 0, WARP, WARP)
",
        &[],
    ),
];

pub(super) const ATOMIC: &[Row] = &[
    (
        "histogram",
        "(A: T.Buffer((16, 64), \"uint8\"), B: T.Buffer((256,), \"int32\")):
    for bx in T.thread_binding(16, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
            T.evaluate(T.atomic_add(T.address_of(B[T.Cast(\"int32\", A[bx, tx])]), 1))
",
        &[],
    ),
    (
        "by-serial-loop",
        "(B: T.Buffer((4,), \"int32\")):
    for tx in T.thread_binding(32, thread=\"threadIdx.x\"):
        for k in range(100):
            T.evaluate(T.atomic_add(T.address_of(B[k % 4]), tx))
",
        &[],
    ),
];
