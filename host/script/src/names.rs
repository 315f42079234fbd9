//! The names below `T` that this crate supports.

use chipdock_ir::op::DTypeKeyword;
use chipdock_ir::{DType, Op};

/// Statements, constructors and functions below `T`, other than ops and types.
const NAMES: &[&str] = &[
    "prim_func",
    "func_attr",
    "Buffer",
    "match_buffer",
    "alloc_buffer",
    "alloc_local",
    "alloc_shared",
    "allocate_const",
    "sblock_alloc_buffer",
    "decl_buffer",
    "handle",
    "serial",
    "parallel",
    "vectorized",
    "unroll",
    "thread_binding",
    "grid",
    "sblock",
    "block",
    "init",
    "axis.spatial",
    "axis.reduce",
    "axis.scan",
    "axis.opaque",
    "axis.S",
    "axis.R",
    "axis.remap",
    "reads",
    "writes",
    "where",
    "sblock_attr",
    "block_attr",
    "attr",
    "launch_thread",
    "env_thread",
    "evaluate",
    "buffer_store",
    "break_loop",
    "continue_loop",
    "thread_return",
    "bind",
    "let",
    "Let",
    "Cast",
    "cast",
    "Select",
    "Ramp",
    "Broadcast",
    "Shuffle",
    "max",
    "min",
    "Max",
    "Min",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Mod",
    "FloorDiv",
    "FloorMod",
    "EQ",
    "NE",
    "LT",
    "LE",
    "GT",
    "GE",
    "And",
    "Or",
    "Not",
    "truncdiv",
    "truncmod",
    "floordiv",
    "floormod",
    "ceildiv",
    "min_value",
    "max_value",
    "infinity",
    "call_extern",
    "call_pure_extern",
    "call_packed",
    "target",
    "fabs",
    "vectorlow",
    "vectorhigh",
    "vectorcombine",
    "masked_load",
    "masked_store",
    "call_intrin",
    "comm_reducer",
    "type_annotation",
    "StringImm",
    "IntImm",
    "FloatImm",
    "bitwise_not",
];

/// Every name below `T`, for "did you mean".
pub(crate) fn known() -> impl Iterator<Item = &'static str> {
    NAMES.iter().chain(TYPE_NAMES).copied().chain(Op::ALL.iter().map(|op| op.name()))
}

/// Returns where a known name below `T` may stand, when that is not everywhere in an expression.
pub(crate) fn place(name: &str) -> Option<&'static str> {
    Some(match name {
        "prim_func" => "over a function, as `@T.prim_func`",
        "Buffer" => "as the type of a parameter, `A: T.Buffer((n,), \"float32\")`, or alone behind `A =`",
        "match_buffer"
        | "alloc_buffer"
        | "alloc_local"
        | "alloc_shared"
        | "sblock_alloc_buffer"
        | "block_alloc_buffer"
        | "decl_buffer" => "alone behind `name =`",
        "serial" | "parallel" | "vectorized" | "unroll" | "grid" | "thread_binding" => "behind `for ... in`",
        "sblock" | "block" | "init" => "behind `with`",
        "reads" | "writes" | "where" | "sblock_attr" | "block_attr" => "alone, as a statement of a T.sblock",
        "attr" => "behind `with`, or alone, as a statement",
        "launch_thread" => "behind `with`, or alone behind `name =`",
        "env_thread" => "alone behind `name =`",
        "bind" | "Bind" => "alone behind `name =`, or alone, as a statement",
        "let" => "in the type of a name, as `x: T.let[T.int32] = value`",
        "func_attr" | "evaluate" | "buffer_store" | "masked_store" | "break_loop" | "continue_loop" => {
            "alone, as a statement"
        }
        "target" => "in attributes, as `T.func_attr({\"target\": T.target(\"llvm\")})`",
        name if name.starts_with("axis.") && NAMES.contains(&name) => "alone behind `name =`, in a T.sblock",
        _ => return None,
    })
}

const TYPE_NAMES: &[&str] = &[
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
];

/// Returns the element type of a name below `T`, with TVM's short forms; `handle` is none.
pub(crate) fn dtype(name: &str) -> Option<DType> {
    let name = match name {
        "boolean" => "bool",
        "f16" => "float16",
        "f32" => "float32",
        "f64" => "float64",
        "bf16" => "bfloat16",
        "i8" => "int8",
        "i16" => "int16",
        "i32" => "int32",
        "i64" => "int64",
        "u8" => "uint8",
        "u16" => "uint16",
        "u32" => "uint32",
        "u64" => "uint64",
        other => other,
    };
    name.parse().ok().filter(|dtype: &DType| !dtype.is_handle())
}

/// A type as it is written in a string, with the bits that TVM gives one without: "float" is
/// "float32".
pub(crate) fn with_bits(text: &str) -> std::borrow::Cow<'_, str> {
    let (name, lanes) = text.split_once('x').map_or((text, None), |(name, lanes)| (name, Some(lanes)));
    let bits = match name {
        "float" | "int" | "uint" => 32,
        "bfloat" => 16,
        _ => return text.into(),
    };
    match lanes {
        Some(lanes) => format!("{name}{bits}x{lanes}").into(),
        None => format!("{name}{bits}").into(),
    }
}

/// Returns true for a function below `T` that takes `dtype=` in place of its first argument.
pub(crate) fn forwards_dtype(name: &str) -> bool {
    const FORWARDS: &[&str] = &[
        "call_extern",
        "call_pure_extern",
        "call_intrin",
        "vectorlow",
        "vectorhigh",
        "vectorcombine",
        "masked_load",
    ];
    FORWARDS.contains(&name) || op(name).is_some_and(|op| op.info().dtype_keyword == DTypeKeyword::First)
}

/// Returns true for the path of a function that takes `dtype=` beside its arguments, which TVM
/// ignores.
pub(crate) fn ignores_dtype(path: &str) -> bool {
    let Some(name) = path.strip_prefix("T.") else { return false };
    if matches!(name, "ceildiv" | "floordiv" | "floormod" | "truncdiv" | "truncmod" | "masked_store") {
        return true;
    }
    op(name).is_some_and(|op| op.info().dtype_keyword == DTypeKeyword::Ignored)
}

/// Returns this crate's spelling of a name from other languages.
pub(crate) fn meant(name: &str) -> Option<&'static str> {
    Some(match name {
        "float" | "fp32" | "single" => "float32",
        "double" | "fp64" => "float64",
        "half" | "fp16" => "float16",
        "bf16" => "bfloat16",
        "int" => "int32",
        "uint" => "uint32",
        "long" => "int64",
        "char" => "int8",
        "uchar" | "byte" => "uint8",
        "relu" => "max(x, T.float32(0))",
        "syncthreads" | "storage_sync" | "sync" | "barrier" => "tvm_storage_sync(\"shared\")",
        "power" => "pow",
        "where_" | "cond" => "if_then_else",
        "range" => "serial",
        "int_" => "int32",
        "square" => "pow(x, T.float32(2))",
        "allocate" | "empty" | "zeros" => "alloc_buffer",
        _ => return None,
    })
}

/// Returns the replacement in a kernel for a function of Python's.
pub(crate) fn instead_of(python: &str) -> Option<&'static str> {
    Some(match python {
        "int" => "T.Cast(\"int32\", x)",
        "bool" => "T.Cast(\"bool\", x)",
        "len" => "the extent, as A.shape[0]",
        "sum" => "a loop that adds",
        "enumerate" | "zip" => "for i in range(n)",
        "print" => "nothing: a kernel prints nothing",
        "isinstance" | "type" => "the type, as A.dtype",
        _ => return None,
    })
}

/// Returns the op of a name below `T`, with TVM's other names.
pub(crate) fn op(name: &str) -> Option<Op> {
    Op::by_name(name).or_else(|| Op::all_where(|op| op.aliases.contains(&name)).next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_known_by_name() {
        for dtype in DType::SCALARS {
            assert!(TYPE_NAMES.contains(&dtype.to_string().as_str()), "{dtype} is missing");
        }
        assert!(TYPE_NAMES.iter().all(|name| dtype(name).is_some()));
    }
}
