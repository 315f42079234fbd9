//! Integers: guarded division, and ops on their bits (CF5, CF9).

use chipdock_ir::{BinaryOp, DType, Op};

use super::{CFamily, computed, converted, scalar, short, unsigned, wrapping};
use crate::{Answer, Code, Infix, Prelude, Refusal, word_of};

/// `0 - x` computed in the unsigned type and converted back: the negation, which for the least
/// integer is itself.
fn negated<L: CFamily>(language: &L, value: &str, dtype: DType) -> Answer<String> {
    let (own, wide) = (scalar(language, dtype)?, scalar(language, wrapping(dtype))?);
    let bits = converted(language, wide, &Code::primary(value));
    Ok(converted(language, own, &Code::infix(Infix::Sub, &Code::primary("0"), &bits)).text)
}

/// The body of a guarded division or remainder of integers `a` and `b`.
fn division_body<L: CFamily>(
    language: &L,
    op: BinaryOp,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<String> {
    let is_quotient = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv);
    if dtype.is_uint() {
        let body = if is_quotient { "return b == 0 ? a : a / b;" } else { "return b == 0 ? 0 : a % b;" };
        return Ok(body.to_owned());
    }
    let guard = if is_quotient {
        let negated = negated(language, "a", dtype)?;
        let mut hidden = String::new();
        for name in ["a", "b"].into_iter().filter(|_| dtype.bits >= 32) {
            let operand = language.operand_hidden(&Code::primary(name), dtype, prelude);
            if operand.text != name {
                hidden += &format!("{name} = {};\n    ", operand.text);
            }
        }
        format!("if (b == 0) return a;\n    if (b == -1) return {negated};\n    {hidden}")
    } else {
        "if (b == 0 || b == -1) return 0;\n    ".to_owned()
    };
    let result = match op {
        BinaryOp::Div => "return a / b;",
        BinaryOp::Mod => "return a % b;",
        BinaryOp::FloorDiv => "return a / b - (a % b != 0 && (a < 0) != (b < 0));",
        _ => "return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;",
    };
    Ok(format!("{guard}{result}"))
}

/// Guarded division and remainder, minimum and maximum of scalars.
pub(super) fn guarded<L: CFamily>(
    language: &L,
    op: BinaryOp,
    args: [&Code; 2],
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let dtype = computed(dtype);
    let is_order = matches!(op, BinaryOp::Min | BinaryOp::Max);
    if !(dtype.is_integer() || is_order && (dtype.is_float() || dtype.is_bool())) {
        return Err(Refusal::new(format!("has no {} of {dtype}", word_of(op))));
    }
    let (name, own) = (format!("cd_{}_{}", word_of(op), short(dtype)), scalar(language, dtype)?);
    let body = match op {
        BinaryOp::Min => "return a < b ? a : b;".to_owned(),
        BinaryOp::Max => "return a > b ? a : b;".to_owned(),
        _ => division_body(language, op, dtype, prelude)?,
    };
    let helper = language.spellings().helper;
    prelude.define(&name, |_| format!("{helper} {own} {name}({own} a, {own} b) {{\n    {body}\n}}\n"));
    Ok(Code::call(&name, &args.map(Clone::clone)))
}

/// An op on the bits or sign of integers and booleans; `None` for other ops.
pub(super) fn op<L: CFamily>(
    language: &L,
    op: Op,
    args: &[(Code, DType)],
    prelude: &mut Prelude,
) -> Option<Answer<Code>> {
    let dtype =
        args.first().map(|(_, dtype)| *dtype).filter(|dtype| dtype.is_integer() || dtype.is_bool())?;
    match (op, args) {
        (Op::BitwiseAnd, [(a, _), (b, _)]) => Some(Ok(Code::infix(Infix::BitAnd, a, b))),
        (Op::BitwiseOr, [(a, _), (b, _)]) => Some(Ok(Code::infix(Infix::BitOr, a, b))),
        (Op::BitwiseXor, [(a, _), (b, _)]) => Some(Ok(Code::infix(Infix::BitXor, a, b))),
        (Op::BitwiseNot, [(a, _)]) if dtype.is_bool() => Some(Ok(Code::not(a))),
        _ if dtype.is_bool() => None,
        (Op::BitwiseNot, [(a, _)]) => {
            let code = Code::prefix("~", a);
            // A narrow value has been promoted to `int`, with its upper bits set.
            let is_narrow = dtype.is_uint() && dtype.bits < 32;
            Some(if is_narrow {
                scalar(language, dtype).map(|own| converted(language, own, &code))
            } else {
                Ok(code)
            })
        }
        (Op::Abs, [(a, _)]) if dtype.is_uint() => Some(Ok(Code::prefix("+", a))),
        (Op::Abs, [(a, _)]) => Some(abs(language, a, dtype, prelude)),
        (Op::Popcount, [(a, _)]) => {
            let count = (language.spellings().popcount?)(dtype.bits);
            Some(counted(language, op, a, [dtype, dtype], &count, prelude))
        }
        (Op::Clz, [(a, _)]) => {
            let count = (language.spellings().clz?)(dtype.bits);
            Some(counted(language, op, a, [dtype, DType::INT32], &count, prelude))
        }
        _ => None,
    }
}

fn abs<L: CFamily>(language: &L, value: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let (name, own) = (format!("cd_abs_{}", short(dtype)), scalar(language, dtype)?);
    let (helper, negated) = (language.spellings().helper, negated(language, "x", dtype)?);
    prelude.define(&name, |_| {
        format!("{helper} {own} {name}({own} x) {{\n    return x < 0 ? {negated} : x;\n}}\n")
    });
    Ok(Code::call(&name, std::slice::from_ref(value)))
}

/// A call of a helper that counts bits of an unsigned `x` of the first type and returns the second.
fn counted<L: CFamily>(
    language: &L,
    op: Op,
    value: &Code,
    [dtype, ret]: [DType; 2],
    count: &str,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let (own, bits, ret) =
        (scalar(language, dtype)?, scalar(language, unsigned(dtype.scalar()))?, scalar(language, ret)?);
    let name = format!("cd_{}_{}", if op == Op::Clz { "clz" } else { "popcount" }, short(dtype));
    let widened = converted(language, bits, &Code::primary("value")).text;
    let result = converted(language, ret, &Code::new(count, crate::Precedence::Conditional)).text;
    let helper = language.spellings().helper;
    prelude.define(&name, |_| {
        format!(
            "{helper} {ret} {name}({own} value) {{\n    {bits} x = {widened};\n    return {result};\n}}\n"
        )
    });
    Ok(Code::call(&name, std::slice::from_ref(value)))
}
