//! Loops bound to blocks and threads, barriers, shared memory, reductions over threads, warps,
//! atomic additions.

use chipdock_ir::DType;

use crate::batch::{self, Described};
use crate::group::op::{numbers, of_type, profiles_of};
use crate::script::script;
use crate::{Cases, Group, Profile};

const THREADS: Profile = Profile::GpuThreads;
const SHARED: &[Profile] = &[Profile::GpuThreads, Profile::SharedMemory];
const DYNAMIC: &[Profile] = &[Profile::GpuThreads, Profile::DynamicSharedMemory];
const WARP: &[Profile] = &[Profile::GpuThreads, Profile::Warp];
const ATOMIC: &[Profile] = &[Profile::GpuThreads, Profile::Atomics];

/// Name and text of a kernel, and the sizes that it is called with.
pub(super) type Row = (&'static str, &'static str, &'static [(&'static str, i64)]);

pub(super) fn add(cases: &mut Cases) {
    let mut all = Vec::new();
    launches(&mut all);
    typed(&mut all);
    let tables = [
        ("launch", "C.23", &[THREADS][..], super::threads_text::LAUNCHES),
        ("shared", "C.24", SHARED, super::threads_text::SHARED),
        ("dynamic", "C.24", DYNAMIC, super::threads_text::DYNAMIC),
        ("warp", "C.25", WARP, super::threads_text::WARP),
        ("atomic", "C.25", ATOMIC, super::threads_text::ATOMIC),
    ];
    for (group, clause, profiles, rows) in tables {
        for (name, text, sizes) in rows {
            let text = format!("@T.prim_func(s_tir=True)\ndef FN{text}");
            let name = format!("threads/{group}/{name}");
            all.push(script(name, clause, profiles.iter().copied(), &text, sizes));
        }
    }
    all.sort_by(|a, b| a.profiles.cmp(&b.profiles));
    batch::add(cases, Group::Kernel, all);
}

/// Adds grids and blocks of many sizes: each thread runs once, with its own indices.
fn launches(all: &mut Vec<Described>) {
    for (blocks, threads) in [
        (1, 1),
        (1, 2),
        (1, 31),
        (1, 32),
        (1, 33),
        (1, 64),
        (1, 127),
        (1, 256),
        (1, 512),
        (1, 1024),
        (2, 1),
        (3, 32),
        (7, 5),
        (65, 64),
        (300, 1),
        (16, 256),
        (1000, 3),
    ] {
        let text = LINE
            .replace("ALL", &(blocks * threads).to_string())
            .replace("BLOCKS", &blocks.to_string())
            .replace("THREADS", &threads.to_string());
        all.push(script(format!("threads/line/{blocks}x{threads}"), "C.23", [THREADS], &text, &[]));
        let text = ODD.replace("BLOCKS", &blocks.to_string()).replace("THREADS", &threads.to_string());
        let sizes = [("n", (blocks * threads * 3 / 4).max(1))];
        all.push(script(
            format!("threads/past-the-end/{blocks}x{threads}"),
            "C.23",
            [THREADS],
            &text,
            &sizes,
        ));
    }
    for ([a, b, c], [d, e, f]) in [
        ([1, 1, 1], [2, 3, 4]),
        ([2, 3, 4], [1, 1, 1]),
        ([2, 3, 4], [5, 2, 3]),
        ([1, 1, 7], [1, 1, 8]),
        ([4, 1, 2], [32, 1, 4]),
        ([1, 5, 1], [1, 32, 1]),
        ([3, 3, 3], [8, 8, 8]),
    ] {
        let mut text = BOX.to_owned();
        for (name, extent) in [("GX", a), ("GY", b), ("GZ", c), ("BX", d), ("BY", e), ("BZ", f)] {
            text = text.replace(name, &extent.to_string());
        }
        let name = format!("threads/box/{a}.{b}.{c}x{d}.{e}.{f}");
        all.push(script(name, "C.23", [THREADS], &text, &[]));
    }
}

/// Adds kernels for each type that may affect them.
fn typed(all: &mut Vec<Described>) {
    let with = |first: &[Profile], dtype: DType| -> Vec<Profile> {
        let mut all: Vec<Profile> = first.iter().copied().chain(profiles_of([dtype])).collect();
        all.sort();
        all
    };
    for &dtype in DType::SCALARS {
        let name = format!("threads/copy/{dtype}");
        all.push(script(name, "C.23", with(&[THREADS], dtype), &of_type(COPY, dtype), &[]));
        let name = format!("threads/shared/reverse/{dtype}");
        all.push(script(name, "C.24", with(SHARED, dtype), &of_type(REVERSE, dtype), &[]));
    }
    for dtype in numbers() {
        for (name, first, next) in [
            ("sum", "ZERO", "B[vi] + A[vi, vk]"),
            ("min", "GREATEST", "T.min(B[vi], A[vi, vk])"),
            ("max", "LEAST", "T.max(B[vi], A[vi, vk])"),
        ] {
            let text = ACROSS.replace("FIRST", first).replace("NEXT", next).replace("EXTENT", "32");
            let name = format!("threads/reduce/{name}/{dtype}");
            all.push(script(name, "C.25", with(&[THREADS], dtype), &of_type(&text, dtype), &[]));
        }
    }
    for extent in [1, 2, 3, 37, 64, 100, 128, 256, 1024] {
        let text = ACROSS.replace("FIRST", "ZERO").replace("NEXT", "B[vi] + A[vi, vk]");
        let text = of_type(&text.replace("EXTENT", &extent.to_string()), DType::INT32);
        all.push(script(format!("threads/reduce/extent-{extent}"), "C.25", [THREADS], &text, &[]));
    }
    for dtype in [DType::INT32, DType::UINT32, DType::FLOAT32] {
        let text = of_type(CONTENDED, dtype);
        all.push(script(
            format!("threads/atomic/contended/{dtype}"),
            "C.25",
            with(ATOMIC, dtype),
            &text,
            &[],
        ));
    }
    for (name, call) in [
        ("shuffle", "T.tvm_warp_shuffle(mask[0], A[tx], 5, WARP, WARP)"),
        ("up", "T.tvm_warp_shuffle_up(mask[0], A[tx], 3, WARP, WARP)"),
        ("down", "T.tvm_warp_shuffle_down(mask[0], A[tx], 3, WARP, WARP)"),
        ("xor", "T.tvm_warp_shuffle_xor(mask[0], A[tx], 3, WARP, WARP)"),
        ("shuffle-width-8", "T.tvm_warp_shuffle(mask[0], A[tx], 5, WARP_PART, WARP)"),
        ("up-width-8", "T.tvm_warp_shuffle_up(mask[0], A[tx], 3, WARP_PART, WARP)"),
        ("down-width-8", "T.tvm_warp_shuffle_down(mask[0], A[tx], 3, WARP_PART, WARP)"),
        ("xor-width-8", "T.tvm_warp_shuffle_xor(mask[0], A[tx], 3, WARP_PART, WARP)"),
    ] {
        for dtype in [DType::INT32, DType::UINT32, DType::FLOAT32] {
            let text = of_type(&SHUFFLE.replace("CALL", call), dtype);
            all.push(script(format!("threads/warp/{name}/{dtype}"), "C.25", WARP.to_vec(), &text, &[]));
        }
    }
}

const LINE: &str = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((ALL,), \"int32\"), B: T.Buffer((ALL,), \"int32\")):
    for bx in T.thread_binding(BLOCKS, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(THREADS, thread=\"threadIdx.x\"):
            B[bx * THREADS + tx] = A[bx * THREADS + tx] * 3 + bx * 7 + tx
";

const ODD: &str = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((n,), \"float32\")):
    n = T.int32()
    for bx in T.thread_binding(BLOCKS, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(THREADS, thread=\"threadIdx.x\"):
            if bx * THREADS + tx < n:
                B[bx * THREADS + tx] = A[bx * THREADS + tx] + T.float32(1)
";

const BOX: &str = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((GX, GY, GZ, BX, BY, BZ), \"int32\")):
    for bx in T.thread_binding(GX, thread=\"blockIdx.x\"):
        for by in T.thread_binding(GY, thread=\"blockIdx.y\"):
            for bz in T.thread_binding(GZ, thread=\"blockIdx.z\"):
                for tx in T.thread_binding(BX, thread=\"threadIdx.x\"):
                    for ty in T.thread_binding(BY, thread=\"threadIdx.y\"):
                        for tz in T.thread_binding(BZ, thread=\"threadIdx.z\"):
                            A[bx, by, bz, tx, ty, tz] = bx + by * 10 + bz * 100 + tx * 1000 + ty * 10000 + tz * 100000
";

const COPY: &str = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((4, 16), \"DT\"), B: T.Buffer((16, 4), \"DT\")):
    for bx in T.thread_binding(4, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(16, thread=\"threadIdx.x\"):
            B[tx, bx] = A[bx, tx]
";

const REVERSE: &str = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((3, 64), \"DT\"), B: T.Buffer((3, 64), \"DT\")):
    for bx in T.thread_binding(3, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
            S = T.alloc_buffer((64,), \"DT\", scope=\"shared\")
            S[tx] = A[bx, tx]
            T.tvm_storage_sync(\"shared\")
            B[bx, tx] = S[63 - tx]
";

const ACROSS: &str = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((5, EXTENT), \"DT\"), B: T.Buffer((5,), \"DT\")):
    for i in T.thread_binding(5, thread=\"blockIdx.x\"):
        for k in T.thread_binding(EXTENT, thread=\"threadIdx.x\"):
            with T.sblock(\"B\"):
                vi, vk = T.axis.remap(\"SR\", [i, k])
                with T.init():
                    B[vi] = FIRST
                B[vi] = NEXT
";

const CONTENDED: &str = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((8, 64), \"DT\"), B: T.Buffer((3,), \"DT\")):
    for bx in T.thread_binding(8, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
            T.evaluate(T.atomic_add(T.address_of(B[1]), A[bx, tx]))
";

const SHUFFLE: &str = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((WARP,), \"DT\"), B: T.Buffer((WARP,), \"DT\")):
    for tx in T.thread_binding(WARP, thread=\"threadIdx.x\"):
        mask = T.alloc_local((1,), \"uint32\")
        mask[0] = T.tvm_warp_activemask()
        B[tx] = CALL
";
