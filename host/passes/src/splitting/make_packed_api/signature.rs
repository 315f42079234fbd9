//! The signature as text, for messages and documentation.

use chipdock_ir::limits::STRING_BYTES_MAX;
use chipdock_ir::{BinaryOp, Buffer, Expr, ExprKind, Param, PrimFunc};

/// Maximum size in bytes of a signature in a message, without the function's name. Each check of
/// each parameter has a message: unabridged, long signatures would make the code grow with the
/// square of the parameters.
const SHOWN_BYTES_MAX: usize = 480;

/// `f(A: Tensor([n, 4], float32), k: int32)`, with `-> float32` appended if it returns a value.
pub(super) fn signature(function: &PrimFunc) -> String {
    let params: Vec<String> = function.params.iter().map(parameter).collect();
    let whole = with_parameters(function, &params.join(", "));
    // Strings of a module are limited to this length.
    if whole.len() <= STRING_BYTES_MAX { whole } else { shown(function) }
}

/// The signature for a message; a long one is cut after as many parameters as fit, with the number
/// of those left out.
pub(super) fn shown(function: &PrimFunc) -> String {
    let mut list = String::new();
    for (index, param) in function.params.iter().enumerate() {
        let param = parameter(param);
        if list.len() + param.len() > SHOWN_BYTES_MAX {
            let left = function.params.len() - index;
            list += &format!("{}... {left} more", if index == 0 { "" } else { ", " });
            break;
        }
        if index > 0 {
            list += ", ";
        }
        list += &param;
    }
    with_parameters(function, &list)
}

fn with_parameters(function: &PrimFunc, list: &str) -> String {
    let ret = function.ret.map_or(String::new(), |dtype| format!(" -> {dtype}"));
    format!("{}({list}){ret}", function.name)
}

/// The type of a parameter in an artifact: a tensor is a handle.
pub(super) fn arg_type(param: &Param) -> String {
    match param {
        Param::Buffer(_) => "handle".into(),
        Param::Var(var) => var.dtype.to_string(),
    }
}

fn parameter(param: &Param) -> String {
    match param {
        Param::Buffer(buffer) => format!("{}: {}", buffer.name, tensor(buffer)),
        Param::Var(var) => format!("{}: {}", var.name, var.dtype),
    }
}

fn tensor(buffer: &Buffer) -> String {
    let shape: Vec<String> = buffer.shape.iter().map(|extent| text(extent, 0)).collect();
    format!("Tensor([{}], {})", shape.join(", "), buffer.dtype)
}

/// An extent in source form. `above` is the precedence of the surrounding operator.
pub(super) fn text(expr: &Expr, above: u8) -> String {
    match &expr.kind {
        ExprKind::Var(var) => var.name.to_string(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Cast(value) => text(value, above),
        ExprKind::Binary(op, a, b) => {
            let (sign, own) = match op {
                BinaryOp::Add => ("+", 1),
                BinaryOp::Sub => ("-", 1),
                BinaryOp::Mul => ("*", 2),
                BinaryOp::FloorDiv | BinaryOp::Div => ("//", 2),
                BinaryOp::FloorMod | BinaryOp::Mod => ("%", 2),
                BinaryOp::Min => return format!("min({}, {})", text(a, 0), text(b, 0)),
                BinaryOp::Max => return format!("max({}, {})", text(a, 0), text(b, 0)),
            };
            let inner = format!("{} {sign} {}", text(a, own), text(b, own + 1));
            if own < above { format!("({inner})") } else { inner }
        }
        _ => "...".into(),
    }
}
