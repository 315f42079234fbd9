//! The names below `T` that mean something here.

use chipdock_ir::{DType, Op};

/// Statements, constructors and functions below `T` and `I`, other than ops and types.
const NAMES: &[&str] = &[
    "I.ir_module",
    "I.module_attrs",
    "T.prim_func",
    "T.func_attr",
    "T.Buffer",
    "T.match_buffer",
    "T.alloc_buffer",
    "T.alloc_local",
    "T.alloc_shared",
    "T.sblock_alloc_buffer",
    "T.decl_buffer",
    "T.handle",
    "T.serial",
    "T.parallel",
    "T.vectorized",
    "T.unroll",
    "T.thread_binding",
    "T.grid",
    "T.sblock",
    "T.block",
    "T.init",
    "T.axis.spatial",
    "T.axis.reduce",
    "T.axis.scan",
    "T.axis.opaque",
    "T.axis.S",
    "T.axis.R",
    "T.axis.remap",
    "T.reads",
    "T.writes",
    "T.where",
    "T.sblock_attr",
    "T.block_attr",
    "T.attr",
    "T.launch_thread",
    "T.env_thread",
    "T.evaluate",
    "T.buffer_store",
    "T.break_loop",
    "T.continue_loop",
    "T.thread_return",
    "T.bind",
    "T.let",
    "T.Let",
    "T.Cast",
    "T.cast",
    "T.Select",
    "T.Ramp",
    "T.Broadcast",
    "T.Shuffle",
    "T.max",
    "T.min",
    "T.Max",
    "T.Min",
    "T.Add",
    "T.Sub",
    "T.Mul",
    "T.Div",
    "T.Mod",
    "T.FloorDiv",
    "T.FloorMod",
    "T.EQ",
    "T.NE",
    "T.LT",
    "T.LE",
    "T.GT",
    "T.GE",
    "T.And",
    "T.Or",
    "T.Not",
    "T.truncdiv",
    "T.truncmod",
    "T.floordiv",
    "T.floormod",
    "T.ceildiv",
    "T.min_value",
    "T.max_value",
    "T.infinity",
    "T.call_extern",
    "T.call_pure_extern",
    "T.call_packed",
    "T.target",
    "T.fabs",
];

/// Every name, for "did you mean".
pub(crate) fn known() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied().chain(OP_NAMES.iter().copied()).chain(TYPE_NAMES.iter().copied())
}

const OP_NAMES: &[&str] = &[
    "T.acos",
    "T.acosh",
    "T.asin",
    "T.asinh",
    "T.atan",
    "T.atanh",
    "T.ceil",
    "T.cos",
    "T.cosh",
    "T.erf",
    "T.exp",
    "T.exp10",
    "T.exp2",
    "T.abs",
    "T.floor",
    "T.log",
    "T.log10",
    "T.log1p",
    "T.log2",
    "T.nearbyint",
    "T.round",
    "T.rsqrt",
    "T.sigmoid",
    "T.sin",
    "T.sinh",
    "T.sqrt",
    "T.tan",
    "T.tanh",
    "T.trunc",
    "T.atan2",
    "T.copysign",
    "T.fmod",
    "T.hypot",
    "T.ldexp",
    "T.nextafter",
    "T.pow",
    "T.fma",
    "T.isnan",
    "T.isinf",
    "T.isfinite",
    "T.clz",
    "T.popcount",
    "T.bitwise_and",
    "T.bitwise_or",
    "T.bitwise_xor",
    "T.bitwise_not",
    "T.shift_left",
    "T.shift_right",
    "T.if_then_else",
    "T.likely",
    "T.reinterpret",
    "T.isnullptr",
    "T.address_of",
    "T.handle_add_byte_offset",
    "T.tvm_struct_get",
    "T.tvm_struct_set",
    "T.TVMBackendAllocWorkspace",
    "T.TVMBackendFreeWorkspace",
    "T.tvm_throw_last_error",
    "T.tvm_call_packed",
    "T.tvm_storage_sync",
];

const TYPE_NAMES: &[&str] = &[
    "T.bool",
    "T.int8",
    "T.int16",
    "T.int32",
    "T.int64",
    "T.uint8",
    "T.uint16",
    "T.uint32",
    "T.uint64",
    "T.float16",
    "T.float32",
    "T.float64",
    "T.bfloat16",
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
    fn every_op_and_type_is_known_by_name() {
        for op in Op::ALL {
            let name = format!("T.{}", op.name());
            assert!(OP_NAMES.contains(&name.as_str()), "{name} is missing in OP_NAMES");
        }
        for dtype in DType::SCALARS {
            assert!(
                TYPE_NAMES.contains(&format!("T.{dtype}").as_str()),
                "T.{dtype} is missing in TYPE_NAMES"
            );
        }
        assert!(OP_NAMES.iter().all(|name| op(name.trim_start_matches("T.")).is_some()));
    }
}
