//! Comparisons of floats by their bits.
//!
//! A WGSL compiler may assume that there are no NaNs and no infinities, and may flush subnormal
//! numbers to zero: on devices `x != x` is false for a NaN, and the least number is not above 0.
//! Integers leave nothing to assume.

use chipdock_codegen_source::{Code, Prelude};
use chipdock_ir::CompareOp;

use super::types::{call, one};

/// The bits of an infinity; those of NaNs are beyond.
const INFINITY: i32 = 0x7f80_0000;

/// The WGSL type of so many lanes of a scalar.
fn lanes_of(scalar: &str, lanes: u16) -> String {
    if lanes == 1 { scalar.to_owned() } else { format!("vec{lanes}<{scalar}>") }
}

/// An integer constant in each of so many lanes.
fn each_lane(constant: &str, lanes: u16) -> String {
    if lanes == 1 { constant.to_owned() } else { format!("vec{lanes}<i32>({constant})") }
}

fn suffix(lanes: u16) -> String {
    if lanes == 1 { String::new() } else { format!("x{lanes}") }
}

/// Defines the function that maps floats to integers in the same order: both zeros to 0, NaNs
/// beyond the infinities.
fn define_order(lanes: u16, prelude: &mut Prelude) -> String {
    let name = format!("cd_order_f32{}", suffix(lanes));
    prelude.define(&name, |_| {
        let (float, int) = (lanes_of("f32", lanes), lanes_of("i32", lanes));
        let (least, zero) = (each_lane("i32(-2147483648)", lanes), each_lane("0", lanes));
        format!(
            "fn {name}(x: {float}) -> {int} {{\n    let bits = bitcast<{int}>(x);\n    \
             return select(bits, {least} - bits, bits < {zero});\n}}\n"
        )
    });
    name
}

/// Compares floats of so many lanes; with a NaN only `!=` is true.
pub(super) fn compared(op: CompareOp, a: &Code, b: &Code, lanes: u16, prelude: &mut Prelude) -> Code {
    let (word, operator, [first, second]) = match op {
        CompareOp::Eq | CompareOp::Ne => ("eq", "==", [a, b]),
        CompareOp::Lt => ("lt", "<", [a, b]),
        CompareOp::Gt => ("lt", "<", [b, a]),
        CompareOp::Le => ("le", "<=", [a, b]),
        CompareOp::Ge => ("le", "<=", [b, a]),
    };
    let name = format!("cd_{word}_f32{}", suffix(lanes));
    prelude.define(&name, |prelude| {
        let order = define_order(lanes, prelude);
        let (float, bool) = (lanes_of("f32", lanes), lanes_of("bool", lanes));
        // In this order a NaN is below the first end, or above the second.
        let (least, most) =
            (each_lane(&format!("-{INFINITY}"), lanes), each_lane(&INFINITY.to_string(), lanes));
        format!(
            "fn {name}(a: {float}, b: {float}) -> {bool} {{\n    let x = {order}(a);\n    let y = {order}(b);\n    \
             return (x {operator} y) & (x >= {least}) & (y <= {most});\n}}\n"
        )
    });
    let code = call(&name, &[first.clone(), second.clone()]);
    if op == CompareOp::Ne { Code::not(&code) } else { code }
}

/// Whether a scalar float is not zero, which a NaN is not.
pub(super) fn is_not_zero(value: &Code, prelude: &mut Prelude) -> Code {
    prelude.define("cd_bool_of_f32", |_| {
        "fn cd_bool_of_f32(x: f32) -> bool {\n    return (bitcast<u32>(x) & 0x7fffffffu) != 0u;\n}\n"
            .to_owned()
    });
    one("cd_bool_of_f32", value)
}
