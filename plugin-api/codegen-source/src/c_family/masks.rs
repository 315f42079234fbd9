//! Native vectors whose comparisons give lanes of 0 and -1 (CF7).

use chipdock_ir::{BinaryOp, CompareOp, DType, Op};

use super::vectors::{lane, vector as any_vector};
use super::{CFamily, NativeVectors, casts, is_half, unsigned};
use crate::{Answer, Code, Infix, Prelude, Vector};

/// The mask type with `lanes` lanes of `bits` bits.
fn mask_type(lanes: u16, bits: u16) -> DType {
    let lane = match bits {
        16 => DType::INT16,
        32 => DType::INT32,
        64 => DType::INT64,
        _ => DType::INT8,
    };
    lane.with_lanes(lanes)
}

/// The [`Code::form`] of a mask whose lanes have `bits` bits.
fn form_of(bits: u16) -> u16 {
    if bits == 8 { 0 } else { bits }
}

/// Converts a mask to lanes of another width. Masks that are structures always have lanes of 8
/// bits.
///
/// # Errors
///
/// An unsupported vector type.
pub fn mask_as<L: CFamily>(
    language: &L,
    mask: &Code,
    lanes: u16,
    bits: u16,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let (from, to) = (mask.form.max(8), bits.max(8));
    let native = language.native_vectors().filter(|native| native.has_lanes(lanes));
    match native {
        Some(native) if from != to => {
            let code = native.mask_converted(mask, mask_type(lanes, from), mask_type(lanes, to), prelude)?;
            Ok(code.in_form(form_of(to)))
        }
        Some(_) => Ok(mask.clone().in_form(form_of(to))),
        None => Ok(mask.clone().in_form(0)),
    }
}

/// Converts a value to the form in which variables store it: booleans in lanes of 8 bits.
pub(super) fn settled<L: CFamily>(
    language: &L,
    value: &Code,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let is_mask = dtype.is_bool() && !dtype.is_scalar() && language.native_vectors().is_some();
    if is_mask { mask_as(language, value, dtype.lanes, 8, prelude) } else { Ok(value.clone()) }
}

/// A computation with operators on native vectors; `None` for other computations, and for those
/// that need helpers.
pub(super) fn vector<L: CFamily>(
    language: &L,
    computation: &Vector<'_>,
    dtype: DType,
    prelude: &mut Prelude,
) -> Option<Answer<Code>> {
    let operand = match computation {
        Vector::Compare(_, _, _, operand) => *operand,
        Vector::Cast(_, from) => *from,
        _ => dtype,
    };
    let native = language.native_vectors()?;
    if !native.has_lanes(operand.lanes) {
        return None;
    }
    match computation {
        Vector::Binary(op, a, b) => binary(language, native, *op, [a, b], dtype, prelude),
        Vector::Compare(op, a, b, operand) => Some(compare(language, native, *op, [a, b], *operand, prelude)),
        Vector::And(a, b) => Some(masks(language, Infix::BitAnd, [a, b], dtype, prelude)),
        Vector::Or(a, b) => Some(masks(language, Infix::BitOr, [a, b], dtype, prelude)),
        Vector::Not(a) => Some(Ok(Code::prefix("~", a).in_form(a.form))),
        Vector::Select(condition, then, otherwise) => {
            Some(select(language, native, [condition, then, otherwise], dtype, prelude))
        }
        Vector::Cast(value, from) if dtype.is_bool() && !from.is_bool() => {
            Some(is_not_zero(language, native, value, *from, prelude))
        }
        Vector::Op(op, args) => bitwise(language, *op, args, dtype, prelude),
        Vector::Settle(value) if dtype.is_bool() => Some(settled(language, value, dtype, prelude)),
        _ => None,
    }
}

fn binary<L: CFamily>(
    language: &L,
    native: &dyn NativeVectors,
    op: BinaryOp,
    [a, b]: [&Code; 2],
    dtype: DType,
    prelude: &mut Prelude,
) -> Option<Answer<Code>> {
    let infix = Infix::of(op)?;
    if is_half(dtype) || dtype.is_bool() || dtype.is_handle() {
        return None;
    }
    if op == BinaryOp::Div
        && (!dtype.is_float() || language.quotient_helper(dtype.scalar(), prelude).is_some())
    {
        return None;
    }
    if !dtype.is_int() {
        return Some(Ok(Code::infix(infix, a, b)));
    }
    let types = language
        .vector_type(unsigned(dtype), prelude)
        .and_then(|bits| Ok((bits, language.vector_type(dtype, prelude)?)));
    Some(types.map(|(bits, own)| {
        let sum = Code::infix(infix, &native.same_bits(a, &bits), &native.same_bits(b, &bits));
        native.same_bits(&sum, &own)
    }))
}

fn compare<L: CFamily>(
    language: &L,
    native: &dyn NativeVectors,
    op: CompareOp,
    args: [&Code; 2],
    operand: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let bits = u16::from(lane(language, operand).bits);
    let mut args = args.map(Clone::clone);
    if operand.is_bool() {
        // Lanes are 0 and -1: negated to 0 and 1, they compare in the right order.
        for arg in &mut args {
            *arg = Code::prefix("-", &settled(language, arg, operand, prelude)?);
        }
    }
    let mask = language.vector_type(mask_type(operand.lanes, bits), prelude)?;
    let code = Code::infix(Infix::of_comparison(op), &args[0], &args[1]);
    Ok(native.compared(code, &mask).in_form(form_of(bits)))
}

fn is_not_zero<L: CFamily>(
    language: &L,
    native: &dyn NativeVectors,
    value: &Code,
    from: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let zero = casts::zero(language, from, prelude)?;
    let zeros = any_vector(language, Vector::Broadcast(zero), from, prelude)?;
    compare(language, native, CompareOp::Ne, [value, &zeros], from, prelude)
}

fn masks<L: CFamily>(
    language: &L,
    infix: Infix,
    [a, b]: [&Code; 2],
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let bits = a.form.max(b.form).max(8);
    let a = mask_as(language, a, dtype.lanes, bits, prelude)?;
    let b = mask_as(language, b, dtype.lanes, bits, prelude)?;
    Ok(Code::infix(infix, &a, &b).in_form(a.form))
}

fn select<L: CFamily>(
    language: &L,
    native: &dyn NativeVectors,
    [condition, then, otherwise]: [&Code; 3],
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let bits = u16::from(lane(language, dtype).bits);
    let condition = mask_as(language, condition, dtype.lanes, bits, prelude)?;
    let own = language.vector_type(dtype, prelude)?;
    let mask = language.vector_type(mask_type(dtype.lanes, bits), prelude)?;
    let then = settled(language, then, dtype, prelude)?;
    let otherwise = settled(language, otherwise, dtype, prelude)?;
    Ok(native.select([condition, then, otherwise], [&own, &mask], prelude))
}

/// Operators on the bits of integers and masks.
fn bitwise<L: CFamily>(
    language: &L,
    op: Op,
    args: &[(Code, DType)],
    dtype: DType,
    prelude: &mut Prelude,
) -> Option<Answer<Code>> {
    let has_bits = dtype.is_integer() || dtype.is_bool();
    if !has_bits || args.iter().any(|(_, other)| *other != dtype) {
        return None;
    }
    let infix = match op {
        Op::BitwiseAnd => Some(Infix::BitAnd),
        Op::BitwiseOr => Some(Infix::BitOr),
        Op::BitwiseXor => Some(Infix::BitXor),
        _ => None,
    };
    let mut settled = |code: &Code| settled(language, code, dtype, prelude);
    match (op, args, infix) {
        (_, [(a, _), (b, _)], Some(infix)) => {
            Some(settled(a).and_then(|a| Ok(Code::infix(infix, &a, &settled(b)?))))
        }
        (Op::BitwiseNot, [(a, _)], _) => Some(settled(a).map(|a| Code::prefix("~", &a))),
        _ => None,
    }
}
