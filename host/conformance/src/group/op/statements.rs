//! Bindings, branches, loops of each kind, early ends.

use chipdock_ir::DType;

use super::table::profiles_of;
use crate::Profile;
use crate::batch::Described;
use crate::script::script;

/// Name and text of a kernel, and the sizes that it is called with.
type Row = (&'static str, &'static str, &'static [(&'static str, i64)]);

pub(super) fn add(all: &mut Vec<Described>) {
    for (name, text, sizes) in STATEMENTS {
        let text = format!("@T.prim_func(s_tir=True)\ndef FN{text}");
        all.push(script(format!("statement/{name}"), "C.14", None, &text, sizes));
    }
    for kind in ["serial", "parallel", "unroll", "vectorized"] {
        for dtype in [DType::INT32, DType::INT64] {
            for (first, extent) in [(0, 1), (0, 8), (5, 8), (-3, 4)] {
                loops(all, kind, dtype, first, extent);
            }
        }
    }
    for (least, n) in [(0, 0), (0, -5), (7, 0), (0, 17), (-4, 17), (30, 3)] {
        for step in [1, 3, 16] {
            let text = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((64,), \"int32\"), m: T.int32, n: T.int32):
    for i in T.serial(m, m + n, step=STEP):
        A[i + 8] = A[i + 8] * 2 + i
";
            let name = format!("statement/for-steps/{least}+{n}-by-{step}");
            let sizes = [("m", least), ("n", n)];
            all.push(script(name, "C.14", None, &text.replace("STEP", &step.to_string()), &sizes));
        }
    }
}

fn loops(all: &mut Vec<Described>, kind: &str, dtype: DType, first: i64, extent: i64) {
    let text = "@T.prim_func(s_tir=True)
def FN(A: T.Buffer((32,), \"float32\"), B: T.Buffer((32,), \"float32\")):
    for i in T.KIND(FIRST, LAST):
        B[i + OFFSET] = A[i + OFFSET] * T.float32(2) + T.Cast(\"float32\", i)
";
    let constant =
        |value: i64| if dtype == DType::INT64 { format!("T.int64({value})") } else { value.to_string() };
    let text = text
        .replace("KIND", kind)
        .replace("FIRST", &constant(first))
        .replace("LAST", &constant(first + extent))
        .replace("OFFSET", &constant(9));
    let mut profiles = profiles_of([dtype]);
    if kind == "vectorized" {
        profiles.push(Profile::Vectors);
    }
    let name = format!("statement/for/{kind}/{dtype}/{first}+{extent}");
    all.push(script(name, "C.14", profiles, &text, &[]));
}

const STATEMENTS: &[Row] = &[
    (
        "bind",
        "(A: T.Buffer((16,), \"int32\"), B: T.Buffer((16,), \"int32\")):
    for i in range(16):
        x = A[i] * 3
        A[i] = 0
        B[i] = x + A[i]
",
        &[],
    ),
    (
        "bind-before-store",
        "(A: T.Buffer((16,), \"int32\")):
    for i in range(15):
        x = A[i]
        y = A[i + 1]
        A[i] = y
        A[i + 1] = x
",
        &[],
    ),
    (
        "store-reads-first",
        "(A: T.Buffer((17,), \"int32\"), B: T.Buffer((16,), \"int32\")):
    for i in range(16):
        A[i] = A[i + 1] * 2 - A[i]
        B[i] = A[i]
",
        &[],
    ),
    (
        "if",
        "(A: T.Buffer((32,), \"int32\"), n: T.int32):
    for i in range(32):
        if i < n:
            A[i] = -1
",
        &[("n", 11)],
    ),
    (
        "if-else-nest",
        "(A: T.Buffer((64,), \"int32\"), B: T.Buffer((64,), \"int32\")):
    for i in range(64):
        if A[i] < 0:
            if A[i] < -16:
                B[i] = 1
            else:
                B[i] = 2
        else:
            if A[i] > 48:
                B[i] = 3
            else:
                if A[i] % 2 == 0:
                    B[i] = 4
                else:
                    B[i] = 5
",
        &[],
    ),
    (
        "and-guards",
        "(A: T.Buffer((16,), \"int32\"), B: T.Buffer((32,), \"int32\")):
    for i in range(32):
        if i < 16 and A[i] > 0:
            B[i] = A[i]
        else:
            B[i] = -1
",
        &[],
    ),
    (
        "or-guards",
        "(A: T.Buffer((16,), \"int32\"), B: T.Buffer((32,), \"int32\")):
    for i in range(32):
        if i >= 16 or A[i] > 0:
            B[i] = -7
",
        &[],
    ),
    (
        "if-then-else-guards",
        "(A: T.Buffer((16,), \"float32\"), B: T.Buffer((20,), \"float32\")):
    for i in range(20):
        B[i] = T.if_then_else(2 <= i and i < 18, A[i - 2], T.float32(0))
",
        &[],
    ),
    (
        "while",
        "(A: T.Buffer((32,), \"int32\"), B: T.Buffer((32,), \"int32\")):
    for i in range(32):
        x = T.alloc_buffer((1,), \"int32\")
        x[0] = T.max(A[i], 1)
        B[i] = 0
        while x[0] != 1:
            if x[0] % 2 == 0:
                x[0] = x[0] // 2
            else:
                x[0] = x[0] * 3 + 1
            B[i] = B[i] + 1
",
        &[],
    ),
    (
        "while-never",
        "(A: T.Buffer((4,), \"int32\"), n: T.int32):
    while n > 100:
        A[0] = 9
    A[1] = 5
",
        &[("n", 3)],
    ),
    (
        "break",
        "(A: T.Buffer((8, 16), \"int32\"), B: T.Buffer((8,), \"int32\")):
    for i in range(8):
        B[i] = -1
        for j in range(16):
            if A[i, j] > 80:
                B[i] = j
                break
",
        &[],
    ),
    (
        "continue",
        "(A: T.Buffer((8, 16), \"int32\"), B: T.Buffer((8,), \"int32\")):
    for i in range(8):
        B[i] = 0
        for j in range(16):
            if A[i, j] < 0:
                continue
            B[i] = B[i] + A[i, j]
",
        &[],
    ),
    (
        "break-in-while",
        "(A: T.Buffer((32,), \"int32\"), B: T.Buffer((2,), \"int32\")):
    B[0] = 0
    B[1] = 0
    while B[0] < 32:
        B[0] = B[0] + 1
        if B[0] % 3 == 0:
            continue
        if B[0] == 25:
            break
        B[1] = B[1] + A[B[0] - 1]
",
        &[],
    ),
    (
        "return-early",
        "(A: T.Buffer((8,), \"int32\"), n: T.int32):
    A[0] = 1
    if n > 2:
        return
    A[1] = 2
",
        &[("n", 3)],
    ),
    (
        "return-late",
        "(A: T.Buffer((8,), \"int32\"), n: T.int32):
    A[0] = 1
    if n > 2:
        return
    A[1] = 2
",
        &[("n", 2)],
    ),
    (
        "return-in-loop",
        "(A: T.Buffer((16,), \"int32\")):
    for i in range(16):
        if A[i] > 60:
            return
        A[i] = 0
",
        &[],
    ),
    (
        "bounds-once",
        "(A: T.Buffer((33,), \"int32\"), N: T.Buffer((1,), \"int32\")):
    N[0] = 10
    for i in range(N[0]):
        N[0] = 3
        A[i] = i
",
        &[],
    ),
    (
        "triangle",
        "(A: T.Buffer((16, 16), \"int32\")):
    for i in range(16):
        for j in range(i, 16):
            A[i, j] = A[j, i] + i * 100 + j
",
        &[],
    ),
    (
        "parallel-of-size",
        "(A: T.Buffer((\"n\",), \"int32\")):
    n = T.int32()
    for i in T.parallel(n):
        A[i] = A[i] * 3 - i
",
        &[("n", 1000)],
    ),
    (
        "parallel-of-none",
        "(A: T.Buffer((8,), \"int32\"), n: T.int32):
    for i in T.parallel(n):
        A[i] = 1
    A[7] = 3
",
        &[("n", 0)],
    ),
    (
        "parallel-twice",
        "(A: T.Buffer((256,), \"int32\"), B: T.Buffer((256,), \"int32\")):
    for i in T.parallel(256):
        B[i] = A[255 - i]
    for i in T.parallel(256):
        A[i] = B[i] + 1
",
        &[],
    ),
    (
        "let",
        "(A: T.Buffer((16,), \"int32\"), B: T.Buffer((16,), \"int32\")):
    for i in range(16):
        x = A[i] + 1
        y = x * x
        B[i] = y - x
",
        &[],
    ),
    (
        "shadowed-names",
        "(A: T.Buffer((16,), \"int32\")):
    for i in range(8):
        A[i] = i
    for i in range(8):
        A[i + 8] = A[i] * i
",
        &[],
    ),
    (
        "deep-nest",
        "(A: T.Buffer((2, 3, 2, 3, 2), \"int32\")):
    for i, j, k, l, m in T.grid(2, 3, 2, 3, 2):
        if (i + j + k + l + m) % 2 == 0:
            A[i, j, k, l, m] = i * 81 + j * 27 + k * 9 + l * 3 + m
",
        &[],
    ),
    (
        "attributes-are-notes",
        "(A: T.Buffer((8,), \"int32\")):
    with T.attr(A, \"storage_alignment\", 64):
        A[0] = 1
    with T.attr({\"pragma_one\": 1, \"pragma_two\": \"s\"}):
        A[1] = 2
",
        &[],
    ),
];
