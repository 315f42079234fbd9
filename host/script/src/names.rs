//! The names below `T` that mean something here.

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
    "bitwise_not",
];

/// Every name below `T`, for "did you mean".
pub(crate) fn known() -> impl Iterator<Item = &'static str> {
    NAMES.iter().chain(TYPE_NAMES).copied().chain(Op::ALL.iter().map(|op| op.name()))
}

const TYPE_NAMES: &[&str] = &[
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "bfloat16",
];

/// The element type of a name below `T`, with TVM's short forms; `handle` is none.
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

/// The op of a name below `T`, with TVM's other names.
pub(crate) fn op(name: &str) -> Option<Op> {
    match name {
        "fabs" => Some(Op::Abs),
        "power" => Some(Op::Pow),
        "call_packed" => Some(Op::CallPacked),
        _ => Op::by_name(name),
    }
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
