//! Arithmetic on Python's own numbers, as Python defines it.

use rustpython_ruff_python_ast::{CmpOp, Operator};

use crate::value::Value;

/// Computes `left op right` of numbers of Python's; the error gives the reason why there is no
/// result.
pub(crate) fn binary(op: Operator, left: &Value, right: &Value) -> Result<Value, String> {
    match (integer(left), integer(right)) {
        (Some(a), Some(b)) if op != Operator::Div => integers(op, a, b),
        _ => match (float(left), float(right)) {
            (Some(a), Some(b)) => floats(op, a, b),
            _ => Err("expected numbers".to_owned()),
        },
    }
}

fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(value) => Some(*value),
        Value::Bool(value) => Some((*value).into()),
        _ => None,
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        other => integer(other).map(|value| value as f64),
    }
}

fn integers(op: Operator, a: i128, b: i128) -> Result<Value, String> {
    let too_large = || "the result is too large".to_owned();
    let shift = || u32::try_from(b).map_err(|_| "a negative or too large shift".to_owned());
    let value = match op {
        Operator::Add => a.checked_add(b),
        Operator::Sub => a.checked_sub(b),
        Operator::Mult => a.checked_mul(b),
        Operator::FloorDiv | Operator::Mod => {
            if b == 0 {
                return Err("division by zero".to_owned());
            }
            let (quotient, remainder) = (a.checked_div(b), a.checked_rem(b));
            let down = matches!(remainder, Some(r) if r != 0 && (r < 0) != (b < 0));
            match op {
                Operator::FloorDiv => quotient.map(|q| if down { q - 1 } else { q }),
                _ => remainder.map(|r| if down { r + b } else { r }),
            }
        }
        Operator::Pow if b < 0 => return floats(op, a as f64, b as f64),
        Operator::Pow => u32::try_from(b).ok().and_then(|exponent| a.checked_pow(exponent)),
        Operator::LShift => {
            let by = shift()?;
            let factor = 1_i128.checked_shl(by).filter(|factor| *factor > 0);
            factor.and_then(|factor| a.checked_mul(factor))
        }
        Operator::RShift => Some(a >> shift()?.min(127)),
        Operator::BitOr => Some(a | b),
        Operator::BitXor => Some(a ^ b),
        Operator::BitAnd => Some(a & b),
        Operator::Div => return floats(op, a as f64, b as f64),
        Operator::MatMult => return Err("@ is not supported".to_owned()),
    };
    value.map(Value::Int).ok_or_else(too_large)
}

fn floats(op: Operator, a: f64, b: f64) -> Result<Value, String> {
    if b == 0.0 && matches!(op, Operator::Div | Operator::FloorDiv | Operator::Mod) {
        return Err("division by zero".to_owned());
    }
    Ok(Value::Float(match op {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mult => a * b,
        Operator::Div => a / b,
        Operator::FloorDiv => (a / b).floor(),
        Operator::Mod => a - b * (a / b).floor(),
        Operator::Pow => a.powf(b),
        _ => return Err(format!("{} of floats", op.as_str())),
    }))
}

/// Compares two numbers of Python's; `None` where they cannot be compared.
pub(crate) fn compare(op: CmpOp, left: &Value, right: &Value) -> Option<bool> {
    let order = match (integer(left), integer(right)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => float(left)?.partial_cmp(&float(right)?),
    };
    Some(match op {
        CmpOp::Eq => order.is_some_and(std::cmp::Ordering::is_eq),
        CmpOp::NotEq => !order.is_some_and(std::cmp::Ordering::is_eq),
        CmpOp::Lt => order.is_some_and(std::cmp::Ordering::is_lt),
        CmpOp::LtE => order.is_some_and(std::cmp::Ordering::is_le),
        CmpOp::Gt => order.is_some_and(std::cmp::Ordering::is_gt),
        CmpOp::GtE => order.is_some_and(std::cmp::Ordering::is_ge),
        _ => return None,
    })
}
