//! Ops on scalars: spelled by the table, completed as the IR's semantics require.

use chipdock_ir::{DType, Op};

use crate::{Answer, Code, Expressions, Infix, Prelude, Refusal};

/// Writes the call of an op on scalars as the dialect's table spells it: rounded into `dtype`,
/// halves through float32, shifts by an amount modulo the width. `constants` are the integer
/// constants among the arguments, by position.
///
/// # Errors
///
/// An op without a row in the table for the type of its first argument.
pub fn scalar_op<E: Expressions + ?Sized>(
    dialect: &E,
    op: Op,
    dtype: DType,
    args: &[(Code, DType)],
    constants: &[Option<i128>],
    prelude: &mut Prelude,
) -> Answer<Code> {
    if let (Op::ShiftLeft | Op::ShiftRight, [(value, dtype), (amount, _)]) = (op, args) {
        return shift(dialect, op, (value, *dtype), amount, constants.get(1).copied().flatten(), prelude);
    }
    let first = args.first().map_or(dtype, |(_, dtype)| *dtype);
    let codes: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
    if let Some(code) = dialect.ops().spell(op, first, &codes, prelude) {
        return if dtype.is_float() { dialect.rounded(code, dtype, prelude) } else { Ok(code) };
    }
    if first.is_float() && first.bits == 16 {
        let mut wide = Vec::with_capacity(args.len());
        for (code, dtype) in args {
            let is_half = dtype.is_float();
            wide.push(if is_half {
                dialect.cast(code, *dtype, DType::FLOAT32, prelude)?
            } else {
                code.clone()
            });
        }
        if let Some(code) = dialect.ops().spell(op, DType::FLOAT32, &wide, prelude) {
            return if dtype.is_float() {
                dialect.cast(&code, DType::FLOAT32, dtype, prelude)
            } else {
                Ok(code)
            };
        }
    }
    let types: Vec<String> = dialect.ops().types(op).iter().map(DType::to_string).collect();
    let known =
        if types.is_empty() { String::new() } else { format!("; it has it for {}", types.join(", ")) };
    Err(Refusal(format!("has no {} of {first}{known}", op.name())))
}

/// A shift by an amount modulo the width. A left shift is computed in the unsigned type.
fn shift<E: Expressions + ?Sized>(
    dialect: &E,
    op: Op,
    (value, dtype): (&Code, DType),
    amount: &Code,
    constant: Option<i128>,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let width = i128::from(dtype.bits);
    let amount = match constant {
        Some(constant) => Code::primary(constant.rem_euclid(width).to_string()),
        None => Code::infix(Infix::BitAnd, amount, &Code::primary((width - 1).to_string())),
    };
    let amount = dialect.shift_amount(amount, dtype, prelude)?;
    if op == Op::ShiftRight {
        return Ok(Code::infix(Infix::ShiftRight, value, &amount));
    }
    let unsigned = unsigned_of(dtype);
    if dtype == unsigned {
        return Ok(Code::infix(Infix::ShiftLeft, value, &amount));
    }
    let bits = dialect.cast_bits(value, unsigned, prelude)?;
    dialect.cast_bits(&Code::infix(Infix::ShiftLeft, &bits, &amount), dtype, prelude)
}

/// The unsigned type in which sums of a type wrap: at least 32 bits, since C computes narrower ones
/// in `int`.
pub(crate) fn unsigned_of(dtype: DType) -> DType {
    if dtype.bits > 32 { DType::UINT64 } else { DType::UINT32 }
}
