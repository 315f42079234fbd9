//! Loads, stores, allocations and views, on each type.

use chipdock_ir::DType;

use super::table::profiles_of;
use super::{numbers, of_type};
use crate::Profile;
use crate::batch::Described;
use crate::script::script;

pub(super) fn add(all: &mut Vec<Described>) {
    for &dtype in DType::SCALARS {
        for (name, clause, text) in OF_EACH_TYPE {
            let text = of_type(&format!("@T.prim_func(s_tir=True)\ndef FN{text}"), dtype);
            all.push(script(format!("{name}/{dtype}"), clause, profiles_of([dtype]), &text, &[]));
        }
    }
    for dtype in [DType::FLOAT32, DType::INT8] {
        for (rank, text) in RANKS {
            let text = of_type(text, dtype);
            all.push(script(format!("memory/rank-{rank}/{dtype}"), "C.13", None, &text, &[]));
        }
    }
    for dtype in numbers().filter(|dtype| dtype.bits == 32 || dtype.bits == 8) {
        let text = of_type(PARALLEL_ATOMIC, dtype);
        if matches!(dtype, DType::INT32 | DType::UINT32 | DType::FLOAT32) {
            all.push(script(format!("atomic/parallel/{dtype}"), "C.25", [Profile::Atomics], &text, &[]));
        }
    }
    for (name, clause, text, sizes) in ONCE {
        let text = format!("@T.prim_func(s_tir=True)\ndef FN{text}");
        all.push(script(format!("memory/{name}"), clause, None, &text, sizes));
    }
}

/// Name, clause and text of kernels for each type.
const OF_EACH_TYPE: &[(&str, &str, &str)] = &[
    (
        "memory/copy",
        "C.13",
        "(A: T.Buffer((4, 3, 5), \"DT\"), B: T.Buffer((5, 4, 3), \"DT\")):
    for i, j, k in T.grid(4, 3, 5):
        B[k, i, j] = A[i, j, k]
",
    ),
    (
        "memory/gather",
        "C.13",
        "(A: T.Buffer((40,), \"DT\"), X: T.Buffer((64,), \"uint8\"), B: T.Buffer((64,), \"DT\")):
    for i in range(64):
        B[i] = A[T.Cast(\"int32\", X[i]) % 40]
",
    ),
    (
        "memory/scatter",
        "C.13",
        "(A: T.Buffer((40,), \"DT\"), B: T.Buffer((40,), \"DT\")):
    for i in range(40):
        B[i * 7 % 40] = A[i]
",
    ),
    (
        "memory/constants",
        "C.13",
        "(B: T.Buffer((4,), \"DT\")):
    B[0] = LEAST
    B[1] = GREATEST
    B[3] = B[1]
",
    ),
    (
        "memory/local",
        "C.16",
        "(A: T.Buffer((32,), \"DT\"), B: T.Buffer((32,), \"DT\")):
    for i in range(8):
        L = T.alloc_local((4,), \"DT\")
        for j in range(4):
            L[j] = A[i * 4 + j]
        for j in range(4):
            B[i * 4 + j] = L[3 - j]
",
    ),
    (
        "memory/large",
        "C.16",
        "(A: T.Buffer((3000,), \"DT\"), B: T.Buffer((3000,), \"DT\")):
    L = T.alloc_buffer((3000,), \"DT\")
    for i in range(3000):
        L[i] = A[2999 - i]
    for i in range(3000):
        B[i] = L[(i * 7) % 3000]
",
    ),
];

const RANKS: &[(usize, &str)] = &[
    (
        1,
        "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((30,), \"DT\"), B: T.Buffer((30,), \"DT\")):
    for i in range(30):
        B[29 - i] = A[i]
",
    ),
    (
        2,
        "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((5, 6), \"DT\"), B: T.Buffer((6, 5), \"DT\")):
    for i, j in T.grid(5, 6):
        B[j, i] = A[i, j]
",
    ),
    (
        4,
        "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((2, 3, 4, 5), \"DT\"), B: T.Buffer((5, 3, 4, 2), \"DT\")):
    for i, j, k, l in T.grid(2, 3, 4, 5):
        B[l, j, k, i] = A[i, j, k, l]
",
    ),
    (
        5,
        "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((2, 3, 2, 3, 2), \"DT\"), B: T.Buffer((2, 3, 2, 2, 3), \"DT\")):
    for i, j, k, l, m in T.grid(2, 3, 2, 3, 2):
        B[m, l, i, k, j] = A[i, j, k, l, m]
",
    ),
];

const PARALLEL_ATOMIC: &str = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((1000,), \"DT\"), B: T.Buffer((7,), \"DT\")):
    for i in T.parallel(1000):
        T.evaluate(T.atomic_add(T.address_of(B[i % 7]), A[i]))
";

/// Name, clause and text of a kernel, and the sizes that it is called with.
type Row = (&'static str, &'static str, &'static str, &'static [(&'static str, i64)]);

const ONCE: &[Row] = &[
    (
        "rank-0",
        "C.13",
        "(A: T.Buffer((), \"float32\"), B: T.Buffer((), \"float32\")):
    B[()] = A[()] + T.float32(1)
",
        &[],
    ),
    (
        "extent-of-sum",
        "C.13",
        "(A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((n + 2,), \"float32\")):
    n = T.int32()
    for i in range(n):
        B[i + 2] = A[i]
",
        &[("n", 13)],
    ),
    (
        "extent-of-product",
        "C.13",
        "(A: T.Buffer((\"n\", \"m\"), \"float32\"), B: T.Buffer((n * m,), \"float32\")):
    n = T.int32()
    m = T.int32()
    for i, j in T.grid(n, m):
        B[i * m + j] = A[i, j]
",
        &[("n", 7), ("m", 5)],
    ),
    (
        "view-of-other-shape",
        "C.16",
        "(A: T.Buffer((8, 4), \"float32\"), B: T.Buffer((32,), \"float32\")):
    V = T.decl_buffer((4, 8), data=A.data)
    for i, j in T.grid(4, 8):
        B[i * 8 + j] = V[i, j]
",
        &[],
    ),
    (
        "view-written",
        "C.16",
        "(A: T.Buffer((32,), \"float32\")):
    V = T.decl_buffer((4, 8), data=A.data)
    for i, j in T.grid(4, 8):
        V[i, j] = A[i * 8 + j] + T.float32(1)
",
        &[],
    ),
    (
        "view-of-allocation",
        "C.16",
        "(A: T.Buffer((24,), \"int32\"), B: T.Buffer((24,), \"int32\")):
    L = T.alloc_buffer((24,), \"int32\")
    V = T.decl_buffer((4, 6), \"int32\", data=L.data)
    for i in range(24):
        L[i] = A[i]
    for i, j in T.grid(4, 6):
        B[i * 6 + j] = V[3 - i, 5 - j]
",
        &[],
    ),
    (
        "allocations-apart",
        "C.16",
        "(A: T.Buffer((16,), \"int32\"), B: T.Buffer((16,), \"int32\")):
    L = T.alloc_buffer((16,), \"int32\")
    M = T.alloc_buffer((16,), \"int32\")
    for i in range(16):
        L[i] = A[i]
        M[i] = -A[i]
    for i in range(16):
        B[i] = L[15 - i] * 2 + M[i]
",
        &[],
    ),
    (
        "allocation-of-size",
        "C.16",
        "(A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((n,), \"float32\")):
    n = T.int32()
    L = T.alloc_buffer((n,), \"float32\")
    for i in range(n):
        L[i] = A[i] * T.float32(3)
    for i in range(n):
        B[i] = L[n - 1 - i]
",
        &[("n", 1777)],
    ),
    (
        "allocation-in-loop",
        "C.16",
        "(A: T.Buffer((16, 500), \"float32\"), B: T.Buffer((16, 500), \"float32\")):
    for i in range(16):
        L = T.alloc_buffer((500,), \"float32\")
        for j in range(500):
            L[j] = A[i, 499 - j]
        for j in range(500):
            B[i, j] = L[j] + T.float32(1)
",
        &[],
    ),
    (
        "allocation-in-parallel",
        "C.16",
        "(A: T.Buffer((16, 500), \"float32\"), B: T.Buffer((16, 500), \"float32\")):
    for i in T.parallel(16):
        L = T.alloc_buffer((500,), \"float32\")
        for j in range(500):
            L[j] = A[i, 499 - j]
        for j in range(500):
            B[i, j] = L[j] + T.float32(1)
",
        &[],
    ),
    (
        "parameters-overlap",
        "C.16",
        "(A: T.Buffer((16,), \"int32\"), B: T.Buffer((16,), \"int32\")):
    for i in range(16):
        B[i] = A[i] + 1
        A[i] = B[i] * 2
",
        &[],
    ),
    (
        "wide-index",
        "C.13",
        "(A: T.Buffer((T.int64(50),), \"int32\"), B: T.Buffer((T.int64(50),), \"int32\")):
    for i in range(T.int64(50)):
        B[i] = A[T.int64(49) - i]
",
        &[],
    ),
];
