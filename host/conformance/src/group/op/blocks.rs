//! Blocks: axes, predicates, inits, reductions.

use chipdock_ir::DType;

use super::table::profiles_of;
use super::{numbers, of_type};
use crate::batch::Described;
use crate::script::script;

/// Name, initial value, operation and extent of a reduction.
const REDUCTIONS: &[(&str, &str, &str, usize)] = &[
    ("sum", "ZERO", "B[vi] + A[vi, vk]", 37),
    ("difference", "ZERO", "B[vi] - A[vi, vk]", 37),
    ("product", "ONE", "B[vi] * A[vi, vk]", 9),
    ("min", "GREATEST", "T.min(B[vi], A[vi, vk])", 37),
    ("max", "LEAST", "T.max(B[vi], A[vi, vk])", 37),
];

pub(super) fn add(all: &mut Vec<Described>) {
    for (name, first, next, extent) in REDUCTIONS {
        for dtype in numbers() {
            let text = REDUCTION
                .replace("FIRST", first)
                .replace("NEXT", next)
                .replace("EXTENT", &extent.to_string());
            let name = format!("reduce/{name}/{dtype}");
            all.push(script(name, "C.15", profiles_of([dtype]), &of_type(&text, dtype), &[]));
        }
    }
    for (rows, extent) in [(1, 1), (5, 0), (5, 1), (3, 2), (2, 31), (2, 257), (0, 7), (1, 1000)] {
        for dtype in [DType::INT32, DType::FLOAT32] {
            let name = format!("reduce/sum-of-size/{rows}x{extent}/{dtype}");
            let sizes = [("n", rows), ("m", extent)];
            all.push(script(name, "C.15", None, &of_type(REDUCTION_OF_SIZE, dtype), &sizes));
        }
    }
    for (name, text, sizes) in BLOCKS {
        let text = format!("@T.prim_func(s_tir=True)\ndef FN{text}");
        all.push(script(format!("block/{name}"), "C.15", None, &text, sizes));
    }
}

const REDUCTION: &str = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((9, EXTENT), \"DT\"), B: T.Buffer((9,), \"DT\")):
    for i, k in T.grid(9, EXTENT):
        with T.sblock(\"B\"):
            vi, vk = T.axis.remap(\"SR\", [i, k])
            with T.init():
                B[vi] = FIRST
            B[vi] = NEXT
";

const REDUCTION_OF_SIZE: &str = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((\"n\", \"m\"), \"DT\"), B: T.Buffer((n,), \"DT\")):
    n = T.int32()
    m = T.int32()
    for i, k in T.grid(n, m):
        with T.sblock(\"B\"):
            vi, vk = T.axis.remap(\"SR\", [i, k])
            with T.init():
                B[vi] = ZERO
            B[vi] = B[vi] + A[vi, vk]
";

/// Name and text of a kernel, and the sizes that it is called with.
type Row = (&'static str, &'static str, &'static [(&'static str, i64)]);

const BLOCKS: &[Row] = &[
    (
        "elementwise",
        "(A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((n,), \"float32\")):
    n = T.int32()
    for i in range(n):
        with T.sblock(\"B\"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * T.float32(2)
",
        &[("n", 101)],
    ),
    (
        "empty",
        "(A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((n,), \"float32\")):
    n = T.int32()
    for i in range(n):
        with T.sblock(\"B\"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * T.float32(2)
",
        &[("n", 0)],
    ),
    (
        "predicate",
        "(A: T.Buffer((50,), \"int32\"), B: T.Buffer((50,), \"int32\")):
    for i, j in T.grid(7, 8):
        with T.sblock(\"B\"):
            vi = T.axis.spatial(50, i * 8 + j)
            T.where(i * 8 + j < 50)
            B[vi] = A[vi] + 1
",
        &[],
    ),
    (
        "predicate-of-reduction",
        "(A: T.Buffer((4, 50), \"int32\"), B: T.Buffer((4,), \"int32\")):
    for i, j, k in T.grid(4, 7, 8):
        with T.sblock(\"B\"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(50, j * 8 + k)
            T.where(j * 8 + k < 50)
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]
",
        &[],
    ),
    (
        "two-reduction-axes",
        "(A: T.Buffer((4, 5, 6), \"int32\"), B: T.Buffer((4,), \"int32\")):
    for i, j, k in T.grid(4, 5, 6):
        with T.sblock(\"B\"):
            vi, vj, vk = T.axis.remap(\"SRR\", [i, j, k])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vj, vk]
",
        &[],
    ),
    (
        "reduction-outside",
        "(A: T.Buffer((6, 5), \"int32\"), B: T.Buffer((5,), \"int32\")):
    for k, i in T.grid(6, 5):
        with T.sblock(\"B\"):
            vk, vi = T.axis.remap(\"RS\", [k, i])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vk, vi]
",
        &[],
    ),
    (
        "reduction-without-init",
        "(A: T.Buffer((6, 5), \"int32\"), B: T.Buffer((6,), \"int32\")):
    for i, k in T.grid(6, 5):
        with T.sblock(\"B\"):
            vi, vk = T.axis.remap(\"SR\", [i, k])
            B[vi] = B[vi] + A[vi, vk]
",
        &[],
    ),
    (
        "whole-reduction",
        "(A: T.Buffer((1000,), \"int32\"), B: T.Buffer((1,), \"int32\")):
    for k in range(1000):
        with T.sblock(\"B\"):
            vk = T.axis.reduce(1000, k)
            with T.init():
                B[0] = 0
            B[0] = B[0] + A[vk]
",
        &[],
    ),
    (
        "producer-consumer",
        "(A: T.Buffer((64,), \"float32\"), C: T.Buffer((64,), \"float32\")):
    B = T.sblock_alloc_buffer((64,))
    for i in range(64):
        with T.sblock(\"B\"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(64):
        with T.sblock(\"C\"):
            vi = T.axis.spatial(64, i)
            C[vi] = B[63 - vi] * T.float32(3)
",
        &[],
    ),
    (
        "stencil",
        "(A: T.Buffer((34,), \"float32\"), B: T.Buffer((32,), \"float32\")):
    for i in range(32):
        with T.sblock(\"B\"):
            vi = T.axis.spatial(32, i)
            B[vi] = A[vi] + A[vi + 1] * T.float32(2) + A[vi + 2]
",
        &[],
    ),
    (
        "matmul-tiled",
        "(A: T.Buffer((16, 24), \"float32\"), B: T.Buffer((24, 8), \"float32\"), C: T.Buffer((16, 8), \"float32\")):
    for io, jo, k, ii, ji in T.grid(4, 2, 24, 4, 4):
        with T.sblock(\"C\"):
            vi = T.axis.spatial(16, io * 4 + ii)
            vj = T.axis.spatial(8, jo * 4 + ji)
            vk = T.axis.reduce(24, k)
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
",
        &[],
    ),
    (
        "several-outputs",
        "(A: T.Buffer((32,), \"int32\"), B: T.Buffer((32,), \"int32\"), C: T.Buffer((32,), \"int32\")):
    for i in range(32):
        with T.sblock(\"B\"):
            vi = T.axis.spatial(32, i)
            B[vi] = A[vi] // 3
            C[vi] = A[vi] % 3
",
        &[],
    ),
];
