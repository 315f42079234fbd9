//! LLVM types of the IR's types (rule LLVM-V4).

use chipdock_ir::{DType, TypeCode};

/// The type of one lane in a register.
fn lane(dtype: DType) -> String {
    match dtype.code {
        TypeCode::Bool => "i1".to_owned(),
        TypeCode::Int | TypeCode::UInt => format!("i{}", dtype.bits),
        TypeCode::Float if dtype.bits == 64 => "double".to_owned(),
        TypeCode::Float if dtype.bits == 32 => "float".to_owned(),
        TypeCode::Float | TypeCode::BFloat => "i16".to_owned(),
        // Lowered before code generation: bytes.
        TypeCode::Float8E4M3Fn | TypeCode::Float8E5M2 => "i8".to_owned(),
        TypeCode::Handle => "ptr".to_owned(),
    }
}

fn of_lanes(lane: String, lanes: u16) -> String {
    if lanes == 1 { lane } else { format!("<{lanes} x {lane}>") }
}

/// The type of a value in a register.
pub(crate) fn register(dtype: DType) -> String {
    of_lanes(lane(dtype), dtype.lanes)
}

/// The type of a value in memory.
pub(crate) fn memory(dtype: DType) -> String {
    if dtype.is_bool() { of_lanes("i8".to_owned(), dtype.lanes) } else { register(dtype) }
}

/// The suffix of an intrinsic's name for a type: `i32`, `v8f32`.
pub(crate) fn mangled(dtype: DType) -> String {
    let lane = match lane(dtype).as_str() {
        "float" => "f32".to_owned(),
        "double" => "f64".to_owned(),
        "ptr" => "p0".to_owned(),
        other => other.to_owned(),
    };
    if dtype.lanes == 1 { lane } else { format!("v{}{lane}", dtype.lanes) }
}

/// Returns true for float16 and bfloat16, whose bits are in registers.
pub(crate) fn is_half(dtype: DType) -> bool {
    dtype.is_float() && dtype.bits == 16
}
