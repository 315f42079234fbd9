//! Products of floats by instructions that treat subnormal numbers as zeros: what rules make with
//! them is run if the operands, which are looked through first, are such that none can arise.
//!
//! A product of bfloat16 is a multiple of the product of its operands' last digits, and so is any
//! sum of such products, however it is rounded: if that of the least numbers of both operands is
//! normal, no result is subnormal.

use std::sync::Arc;

use chipdock_ir::build::{self, Body};
use chipdock_ir::subst::Substitution;
use chipdock_ir::{Buffer, DType, Expr, Op, Param, PrimFunc, Stmt, StorageScope, TargetCapabilities, Var};

use super::overlap::allocated;
use crate::scheduling::schedule::written_by;
use crate::simplify;
use crate::walk::vars_of;

/// Least number of rows, and of columns, of a product whose operands are looked through: each
/// element is used that many times.
const SIDE_MIN: i128 = 16;
/// Greatest number of operands that are looked through.
const OPERANDS_MAX: usize = 8;
/// Number of digits of a bfloat16 after the first.
const DIGITS: i128 = 7;
/// Least sum of the exponents of two numbers, as their bits have them, the product of whose last
/// digits is normal: `2^(a - 127 - 7) * 2^(b - 127 - 7) >= 2^-126`.
const EXPONENTS_MIN: i128 = 2 * (127 + DIGITS) - 126;
/// The bits of a number without its sign.
const MAGNITUDE: i128 = 0x7fff;

/// A product that is computed by such instructions, by its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Guarded {
    /// The parameters that the operands are.
    pub(super) operands: [Var; 2],
    /// The numbers of rows and of columns.
    pub(super) sides: [Expr; 2],
}

impl Guarded {
    /// Whether the operands can be looked through at the beginning of a function.
    pub(super) fn is_possible(&self, function: &PrimFunc) -> bool {
        let written = written_by(&function.body);
        let known: Vec<Var> = function.params.iter().flat_map(vars).collect();
        let is_plain = |operand: &Var| {
            !written.contains(operand)
                && parameter(function, operand).is_some_and(|buffer| {
                    buffer.dtype == DType::BFLOAT16
                        && buffer.strides.is_empty()
                        && buffer.elem_offset.is_none()
                })
        };
        let is_long = |side: &Expr| match side.as_int() {
            Some(side) => side >= SIDE_MIN,
            None => vars_of(side).iter().all(|var| known.contains(var)),
        };
        self.operands.iter().all(is_plain) && self.sides.iter().all(is_long)
    }
}

/// A function scheduled with such instructions, for these products, and without, with a choice at
/// its beginning; `None` if there are too many operands to look through.
pub(super) fn schedule(
    function: &PrimFunc,
    capabilities: &TargetCapabilities,
    faster: &PrimFunc,
    products: &[Guarded],
) -> Option<PrimFunc> {
    let mut operands: Vec<Buffer> = Vec::new();
    for operand in products.iter().flat_map(|product| &product.operands) {
        if !operands.iter().any(|known| known.data == *operand) {
            operands.push(parameter(function, operand)?);
        }
    }
    (operands.len() <= OPERANDS_MAX).then_some(())?;
    let (look, least) = look(function, &operands, products);
    let (look, _, _) = super::by_rules(&look, capabilities, false);
    let (other, _, _) = super::by_rules(function, capabilities, false);
    let exponents = |operand: &Var| {
        operands.iter().position(|known| known.data == *operand).map(|at| exponent(&least, at))
    };
    let is_normal = |product: &Guarded| {
        let [a, b] = [exponents(&product.operands[0])?, exponents(&product.operands[1])?];
        Some(a.ge(1).and(b.ge(1)).and((a + b).ge(EXPONENTS_MIN as i32)))
    };
    let is_normal = products.iter().map(is_normal).collect::<Option<Vec<_>>>()?;
    let is_normal = is_normal.into_iter().reduce(Expr::and)?;
    // Each branch binds names of its own.
    let other = Substitution::new().fresh().stmt(&allocated(&other));
    let choice = Stmt::if_then(is_normal, allocated(faster), Some(other));
    let body = Stmt::seq([allocated(&look), choice]);
    Some(PrimFunc { body, alloc_buffers: Vec::new(), ..function.clone() })
}

/// A function that finds the least number that is not 0 of each operand, and where it puts them.
fn look(function: &PrimFunc, operands: &[Buffer], products: &[Guarded]) -> (PrimFunc, Buffer) {
    let mut f = build::function(Arc::clone(&function.name));
    let least = f.block_alloc("least", [operands.len() as i32], DType::UINT16, StorageScope::GLOBAL);
    let sides = products.iter().flat_map(|product| &product.sides).filter(|side| side.as_int().is_none());
    let is_worth = sides.map(|side| side.ge(SIDE_MIN as i32)).reduce(Expr::and);
    let find_all = |f: &mut Body| {
        for (at, operand) in operands.iter().enumerate() {
            find(f, operand, (&least, at));
        }
    };
    match is_worth {
        None => find_all(&mut f),
        Some(condition) => f.if_then_else(condition, find_all, |f| {
            for at in 0..operands.len() {
                f.store(&least, [at as i32], 0);
            }
        }),
    }
    let found = f.finish();
    (PrimFunc { body: found.body, alloc_buffers: found.alloc_buffers, ..function.clone() }, least)
}

/// The loop that compares the elements with the least so far, by their bits less one: 0 comes last.
fn find(f: &mut Body, operand: &Buffer, (least, at): (&Buffer, usize)) {
    let place = [at as i32];
    // There may be no element.
    f.store(least, place, i32::from(u16::MAX));
    let one = Expr::int(1, DType::INT64);
    let size = operand.shape.iter().fold(one, |size, extent| size * extent.clone().cast(DType::INT64));
    let size = simplify::expr(&size);
    let flat = f.view(format!("{}_flat", operand.name), [size.clone()], operand.dtype, &operand.data);
    f.range("i", size.clone(), |f, i| {
        f.block(format!("{}_least", operand.name), |f| {
            let v = f.reduce("v", size, i);
            let bits = flat.at([v]).reinterpret(DType::UINT16);
            let mask = Expr::int(MAGNITUDE, DType::UINT16);
            let magnitude = Expr::call(Op::BitwiseAnd, vec![bits, mask], DType::UINT16);
            f.init(|f| f.store(least, place, i32::from(u16::MAX)));
            f.store(least, place, least.at(place).min(magnitude - 1));
        });
    });
}

/// The exponent of the least number of an operand, as its bits have it; a great one if all are 0.
fn exponent(least: &Buffer, at: usize) -> Expr {
    let bits = least.at([at as i32]).cast(DType::INT32) + 1;
    Expr::call(Op::ShiftRight, vec![bits, Expr::i32(DIGITS as i32)], DType::INT32)
}

/// The parameter with that memory.
fn parameter(function: &PrimFunc, data: &Var) -> Option<Buffer> {
    function.params.iter().find_map(|param| match param {
        Param::Buffer(buffer) if buffer.data == *data => Some(buffer.clone()),
        _ => None,
    })
}

/// The variables that a parameter binds, but its memory.
fn vars(param: &Param) -> Vec<Var> {
    match param {
        Param::Var(var) => vec![var.clone()],
        Param::Buffer(buffer) => buffer.shape.iter().flat_map(vars_of).collect(),
    }
}
