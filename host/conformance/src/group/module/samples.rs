//! Small modules that every code generator must build: none needs a profile.

use chipdock_programs::Case;

use crate::{Stop, Verdict};

/// A small module with its functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Name in ids.
    pub name: &'static str,
    /// Names of its functions in order; the first one is called.
    pub functions: &'static [&'static str],
    source: &'static str,
}

/// Elementwise arithmetic on float32.
pub(super) const ELEMENTWISE: Sample = Sample {
    name: "elementwise",
    functions: &["elementwise"],
    source: r#"
@T.prim_func(s_tir=True)
def elementwise(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
    n = T.int32()
    for i in range(n):
        with T.sblock("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * T.float32(2.0) + T.float32(1.0)
"#,
};

/// Call of a missing C function: some code generators build it and fail later, others list it as
/// unsupported.
pub(super) const UNKNOWN_FUNCTION: Sample = Sample {
    name: "unknown-c-function",
    functions: &["unknown"],
    source: r#"
@T.prim_func(s_tir=True)
def unknown(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = T.call_extern("float32", "no_such_function_of_the_suite", A[vi])
"#,
};

/// A sum of few elements, which no default schedule runs on threads: every version of the wire
/// format can express it.
pub(super) const REDUCTION: Sample = Sample {
    name: "reduction",
    functions: &["reduction"],
    source: r#"
@T.prim_func(s_tir=True)
def reduction(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5,), "float32")):
    for i, k in T.grid(5, 7):
        with T.sblock("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0.0)
            B[vi] = B[vi] + A[vi, vk]
"#,
};

/// Samples that must be built.
pub(super) const ALL: &[Sample] = &[
    ELEMENTWISE,
    REDUCTION,
    Sample {
        name: "integers",
        functions: &["integers"],
        source: r#"
@T.prim_func(s_tir=True)
def integers(A: T.Buffer((9,), "int32"), B: T.Buffer((9,), "int32")):
    for i in range(9):
        with T.sblock("B"):
            vi = T.axis.spatial(9, i)
            B[vi] = A[vi] // 3 + T.max(A[vi] % 4, vi) * 2
"#,
    },
    Sample {
        name: "scalars",
        functions: &["scalars"],
        source: r#"
@T.prim_func(s_tir=True)
def scalars(A: T.Buffer((4,), "float32"), factor: T.float32, offset: T.int32, B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] * factor + T.Cast("float32", offset)
"#,
    },
    Sample {
        name: "two-functions",
        functions: &["first", "second"],
        source: r#"
@T.prim_func(s_tir=True)
def first(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] - T.float32(3.0)

@T.prim_func(s_tir=True)
def second(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.sblock("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] + 7
"#,
    },
];

impl Sample {
    /// Returns the module with arguments for its first function.
    pub(super) fn case(&self) -> Verdict<Case> {
        let text = format!("from tvm.script import tirx as T\n{}", self.source);
        let module = chipdock_script::parse(&text, self.name).map_err(Stop::suite)?;
        Case::from_module(module, self.functions.first().copied().unwrap_or_default()).map_err(Stop::suite)
    }
}
