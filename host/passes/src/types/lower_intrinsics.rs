//! Lowering of ops that a code generator need not support.

mod atomics;
pub(crate) mod bits;
mod coefficients;
mod dot;
mod erf;
mod exp;
mod float;
mod functions;
pub(crate) mod kit;
mod library;
mod log;
mod narrow;
mod quantised;
mod quick;
mod remainder;
mod trig;
mod wide;
mod words;

use chipdock_ir::op::{DotProduct, Lowering, Takes};
use chipdock_ir::{
    BinaryOp, Callee, DType, Expr, ExprKind, ForKind, IrModule, Op, PrimFunc, Stmt, StmtKind,
    TargetCapabilities, Var,
};

pub use functions::{high_ulps, lowered_ulps, narrow_ulps};

use crate::PassError;
use crate::simplify::Ranges;
use crate::walk::try_map_functions;

/// Lowers every op that is neither a core op (rule STAGE-H5) nor native to the target:
///
/// * functions of floats become polynomials over whole vectors, with selections in place of
///   branches and the errors below; those of float32 are computed in float32, which has twice the
///   lanes of float64, except `pow`, and the angle of a circular function of a host; on devices,
///   most of which have little float64 or none, and on hosts without it, in float32 and in integers
///   of 32 bits alone;
/// * `rsqrt` becomes its definition; `isnan`, `isinf` and `isfinite` become comparisons; `round`
///   becomes `nearbyint`, which is the same; `nextafter`, `ldexp`, and `fmod` of float32 where
///   there is float64, become exact arithmetic;
/// * `popcount` and `clz` become shifts and masks;
/// * a pure call of a C function that is an op (`expf`), on a device whose kind does not name that
///   op in `native_ops`, is that op, and is lowered like it;
/// * `q_multiply_shift`, `q_multiply_shift_per_axis` and `dp4a` become arithmetic of wider
///   integers, of pairs of uint32 if the target has no int64; `assume` is dropped,
///   `tvm_thread_invariant` is its argument, `tvm_access_ptr` a pointer moved by bytes;
/// * a `dot_add` of types that the target's capability `dot_products` does not name becomes
///   shuffles, casts, products and sums;
/// * an `atomic_add` that no parallel loop runs, and that is not within a condition, a `Let` or a
///   loop condition, becomes a load, a sum and a store; elsewhere it remains (rule STAGE-H5);
/// * computations in float16 or bfloat16 are made in float32 and rounded once: of these types only
///   loads, stores, constants, selections, reinterpretations and casts remain;
/// * floor division by a power of two becomes a shift, its remainder a mask; if the dividend is not
///   negative, floor division becomes truncating division.
///
/// # Errors of functions
///
/// In units of the last place, with and without contraction; *call* is a call of the C library
/// (rule STAGE-H6). float64 operations must not be reassociated. Zeros, infinities, NaNs, the sign
/// of zero, subnormals and the borders of overflow are right.
///
/// | op | float32 | float32, accuracy `high` | float64 | float32, on a device or without float64 |
/// |---|---|---|---|---|
/// | `exp` | 1.4 | 0.51 | 1.1 | 1.1 |
/// | `exp2` | 1.2 | 0.51 | 1.3 | 1.2 |
/// | `exp10` | 1.3 | 0.51 | 1.6 | 1.4 |
/// | `log` | 1 | 0.51 | 0.9 | 1.1 |
/// | `log2` | 1.5 | 0.51 | 0.9 | 1.1 |
/// | `log10` | 1.8 | 0.51 | 0.8 | 1.1 |
/// | `log1p` | 1.6 | 0.51 | 1.1 | 1.1 |
/// | `erf` | 2.5 | 0.51 | 1.4 | 1.8 |
/// | `sigmoid` | 2.5 | 0.51 | 2.6 | 2.6 |
/// | `tanh` | 2.7 | 0.51 | 1.5 | 1.5 |
/// | `rsqrt` | 1.5 | 0.51 | 1.5 | 1.5 |
/// | `sinh` | 2.3 | 0.51 | 1.7 | 2.3 |
/// | `cosh` | 1.8 | 0.51 | 1.6 | 1.8 |
/// | `sin` | 1.8 | 0.51 | 0.95 | 1.8 |
/// | `cos` | 1.8 | 0.51 | 0.9 | 1.8 |
/// | `tan` | 4 | 0.51 | 2.4 | 4 |
/// | `asin` | 2.8 | 0.51 | 2.2 | 2.8 |
/// | `acos` | 1.5 | 0.51 | 1.3 | 1.5 |
/// | `atan` | 2.8 | 0.51 | 1.6 | 2.8 |
/// | `asinh` | 2.3 | 0.51 | 1.8 | 2.3 |
/// | `acosh` | 2.3 | 0.51 | 2.7 | 2.3 |
/// | `atanh` | 2.3 | 0.51 | 1.9 | 2.3 |
/// | `pow` | 0.51 | 0.51 | 1.3 | 1.4 |
/// | `atan2` | 2.8 | 0.51 | 1.7 | 2.8 |
/// | `hypot` | 1.5 | 0.51 | 1.3 | 1.5 |
/// | `ldexp` | 0 | 0 | 0 | 0 |
/// | `nextafter` | 0 | 0 | 0 | 0 |
/// | `fmod` | 0 | 0 | call | call |
///
/// With the target's capability `math.accuracy` `high`, functions of float32 are computed in
/// float64 on a host, and rounded once.
///
/// The same numbers are [`lowered_ulps`], [`high_ulps`] and [`narrow_ulps`]. The bounds of float32
/// are 0.1 and more above the largest error seen over a sample of one float32 in 13, as LLVM
/// compiles the functions for a processor that contracts, and over one in 20,011 without
/// contraction (`rsqrt` apart); those of float64 are 0.05 and more above the largest seen over 12
/// million arguments, or, from `sinh` on, 0.1 and more above the largest over a million, as LLVM
/// compiles them for a processor that contracts; those of the last column 0.1 and more above the
/// largest over 7 million arguments and 3 million pairs (`rsqrt` apart). The last column assumes
/// that quotients and square roots are rounded to nearest: on a device with a larger error, that
/// error adds. None of its functions needs the rounding error of a sum, which a device that
/// reorders sums may lose. The polynomials are generated by `tools/fit.py`.
///
/// On a core of an Intel Xeon with AVX-512 that other work shared, compiled by LLVM from a loop
/// over 4096 elements, 16 float32 took, in cycles of 2.5 GHz, computed in float64 (`exp`, `sigmoid`
/// and `tanh`: in float32 with more divisions and selections) and as they are now:
///
/// | | `exp` | `tanh` | `sigmoid` | `erf` | `log` | `log1p` | `asin` | `atan2` | `sin` |
/// |---|---|---|---|---|---|---|---|---|---|
/// | before | 16.9 | 33.9 | 25.2 | 70.6 | 47.4 | 52.0 | 44.4 | 73.2 | 83.0 |
/// | now | 13.5 | 18.8 | 19.5 | 15.8 | 20.9 | 21.9 | 14.4 | 34.8 | 75.7 |
///
/// `fmod` of float64 remains a call of a host, on scalars: its value is exact, and takes a division
/// of up to 2098 bits. That of float32 is such a division of 277 bits, in ten steps.
///
/// # Before and after
///
/// ```text
/// B[i] = T.rsqrt(A[i])      ->      B[i] = T.float32(1) / T.sqrt(A[i])
/// ```
///
/// # Requires / # Ensures
///
/// Requires host functions. The remaining calls are of core ops, of native ops, of functions of the
/// module, and of C functions.
///
/// # Errors
///
/// An op on a type that it is not defined for: a violated guarantee of validation.
pub fn lower_intrinsics(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    let called = atomics::called_in_parallel(module);
    try_map_functions(module, |function| {
        let at_once = called.contains(&function.name);
        let mut lowerer = Lowerer { function, capabilities, ranges: Ranges::new(), at_once };
        Ok(PrimFunc { body: lowerer.stmt(&function.body)?, ..function.clone() })
    })
}

struct Lowerer<'a> {
    function: &'a PrimFunc,
    capabilities: &'a TargetCapabilities,
    ranges: Ranges,
    /// Whether the current code may run concurrently with itself.
    at_once: bool,
}

impl Lowerer<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        if let Some(parts) = self.without_atomics(stmt) {
            return self.stmt(&parts);
        }
        let outside = self.at_once;
        match &stmt.kind {
            StmtKind::Evaluate(call) if is_assume(call) => return Ok(Stmt::nop()),
            StmtKind::For { var, min, extent, step, .. } => {
                self.ranges.set_loop(var, min, extent, step.as_ref());
                self.at_once |= matches!(stmt.kind, StmtKind::For { kind: ForKind::Parallel, .. });
            }
            StmtKind::Bind { var, value } if value.dtype.is_integer() && value.dtype.is_scalar() => {
                let (low, high) = self.ranges.of(value);
                self.ranges.set(var, low, high);
            }
            _ => {}
        }
        let this = std::cell::RefCell::new(&mut *self);
        let new =
            stmt.try_map_children(&mut |e| this.borrow_mut().expr(e), &mut |s| this.borrow_mut().stmt(s));
        self.at_once = outside;
        new
    }

    /// The statement, or the statements of the sequence, with atomics split up if nothing runs
    /// concurrently.
    fn without_atomics(&self, stmt: &Stmt) -> Option<Stmt> {
        if self.at_once || !self.capabilities.is_host || self.capabilities.execution.has_native(Op::AtomicAdd)
        {
            return None;
        }
        let StmtKind::Seq(list) = &stmt.kind else { return atomics::split(stmt).map(Stmt::seq) };
        let split: Vec<Option<Vec<Stmt>>> = list.iter().map(atomics::split).collect();
        if split.iter().all(Option::is_none) {
            return None;
        }
        let parts = list.iter().zip(split).flat_map(|(s, parts)| parts.unwrap_or_else(|| vec![s.clone()]));
        Some(Stmt::seq(parts))
    }

    fn expr(&mut self, expr: &Expr) -> Result<Expr, PassError> {
        let mapped = expr.try_map_children(&mut |child| self.expr(child))?;
        let new = match &mapped.kind {
            ExprKind::Binary(op, a, b) if is_half(mapped.dtype) => {
                Some(in_float32(mapped.dtype, &[a, b], &|args| {
                    Ok(Expr::binary(*op, args[0].clone(), args[1].clone()))
                })?)
            }
            ExprKind::Compare(op, a, b) if is_half(a.dtype) => {
                let wide = |e: &Expr| e.clone().cast(float32(e.dtype));
                Some(Expr::compare(*op, wide(a), wide(b)))
            }
            ExprKind::Binary(op, a, b) if mapped.dtype.is_integer() => self.division(*op, a, b),
            ExprKind::Call { callee: Callee::Op(op), args } => self.call(*op, args, mapped.dtype)?,
            ExprKind::Call { callee: Callee::Extern { name, pure: true }, args } => {
                self.c_function(name, args, mapped.dtype)?
            }
            _ => None,
        };
        Ok(new.unwrap_or(mapped))
    }

    /// A function of the C library on a device that has none: the op that it is.
    fn c_function(&mut self, name: &str, args: &[Expr], dtype: DType) -> Result<Option<Expr>, PassError> {
        let is_missing = |op: &Op| !self.capabilities.is_host && !self.capabilities.execution.has_native(*op);
        let Some(op) = Op::of_c_function(name).filter(is_missing) else { return Ok(None) };
        if !dtype.is_float() || !op.takes_count(args.len()) || op.result_dtype(args) != Some(dtype) {
            return Ok(None);
        }
        let lowered = self.call(op, args, dtype)?;
        Ok(Some(lowered.unwrap_or_else(|| Expr::call(op, args.to_vec(), dtype))))
    }

    fn division(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Expr> {
        let truncating = match op {
            BinaryOp::FloorDiv => BinaryOp::Div,
            BinaryOp::FloorMod => BinaryOp::Mod,
            _ => return None,
        };
        let divisor = match &b.kind {
            ExprKind::Broadcast { value, .. } => value.as_int(),
            _ => b.as_int(),
        };
        let divisor = divisor.filter(|divisor| *divisor > 0)?;
        if divisor.count_ones() == 1 {
            let constant = |value: i128| Expr::int(value, a.dtype);
            return Some(match op {
                BinaryOp::FloorDiv => Expr::call(
                    Op::ShiftRight,
                    vec![a.clone(), constant(divisor.trailing_zeros().into())],
                    a.dtype,
                ),
                _ => Expr::call(Op::BitwiseAnd, vec![a.clone(), constant(divisor - 1)], a.dtype),
            });
        }
        (self.ranges.of(a).0 >= 0).then(|| Expr::binary(truncating, a.clone(), b.clone()))
    }

    fn call(&mut self, op: Op, args: &[Expr], dtype: DType) -> Result<Option<Expr>, PassError> {
        if self.capabilities.execution.has_native(op) {
            return Ok(None);
        }
        let on_half = args.first().is_some_and(|arg| is_half(arg.dtype));
        let number = matches!(op.info().takes(0), Some(Takes::Float | Takes::Number));
        if on_half && number && op != Op::Nextafter {
            let args: Vec<&Expr> = args.iter().collect();
            let make = |wide: &[Expr]| {
                let dtype = if dtype.is_bool() { dtype } else { float32(dtype) };
                let call = Expr::call(op, wide.to_vec(), dtype);
                self.lowered(op, wide, dtype).map(|lowered| lowered.unwrap_or(call))
            };
            return in_float32(dtype, &args, &make).map(Some);
        }
        self.lowered(op, args, dtype)
    }

    fn lowered(&self, op: Op, args: &[Expr], dtype: DType) -> Result<Option<Expr>, PassError> {
        if op.info().lowering == Lowering::Core || self.capabilities.execution.has_native(op) {
            return Ok(None);
        }
        // The code generator refuses the type by name; its arithmetic would only hide that.
        let (is_device, types) = (!self.capabilities.is_host, &self.capabilities.types);
        if is_device && dtype.scalar() == DType::FLOAT64 && !types.has(DType::FLOAT64) {
            return Ok(None);
        }
        if let Some(new) = functions::arithmetic(op, args, dtype, self.capabilities) {
            return Ok(Some(new));
        }
        let has_int64 = self.capabilities.types.has(DType::INT64);
        let new = match (op, args) {
            (Op::Sigmoid, [x]) => self.sigmoid(x)?,
            (Op::Rsqrt, [x]) => {
                let root = Expr::call(Op::Sqrt, vec![x.clone()], dtype);
                Expr::binary(BinaryOp::Div, Expr::float(1.0, dtype), root)
            }
            (Op::Round, [x]) => Expr::call(Op::Nearbyint, vec![x.clone()], dtype),
            (Op::Isnan | Op::Isinf | Op::Isfinite, [x]) => float::test(op, x),
            (Op::Nextafter, [x, y]) if is_half(dtype) => float::next_after(x, y),
            (Op::QMultiplyShift, [x, y, q, s]) => quantised::multiply_shift_one(x, y, q, s, has_int64),
            (Op::DotAdd, [c, a, b]) => match DotProduct::of(c.dtype, a.dtype, b.dtype) {
                Some(dot) if self.capabilities.execution.has_dot(dot) => return Ok(None),
                _ => dot::add(c, a, b),
            },
            (Op::Dp4a, [a, b, sum]) => quantised::dp4a(a, b, sum),
            (Op::AccessPtr, [zero, data, offset, ..]) => quantised::access_pointer(zero, data, offset),
            (Op::ThreadInvariant, [x]) => x.clone(),
            (Op::Popcount, [x]) => bits::popcount(x),
            (Op::Clz, [x]) => bits::clz(x),
            (Op::QMultiplyShiftPerAxis, args) if args.len() == 7 => {
                let args: [Expr; 7] = std::array::from_fn(|index| args[index].clone());
                quantised::multiply_shift_per_axis(&args, has_int64)
            }
            _ if op.info().lowering == Lowering::Native => return Err(self.no_warp(op)),
            _ => library::call(op, args, dtype).ok_or_else(|| {
                PassError::bug(
                    "lower_intrinsics",
                    &self.function.name,
                    format!("no lowering of {} for {dtype}", op.name()),
                )
            })?,
        };
        Ok(Some(new))
    }

    fn no_warp(&self, op: Op) -> PassError {
        let message = format!(
            "expected what target \"{}\" can run, whose threads pass nothing on within a warp; found {}: go through shared \
             memory, or build for a target that has it",
            self.capabilities.target.kind,
            op.name()
        );
        PassError::target("lower_intrinsics", &self.function.name, message)
    }

    /// 1 / (1 + e^-x), or e^x / (1 + e^x) below 0, because e^-x may overflow when the result does
    /// not.
    fn sigmoid(&self, x: &Expr) -> Result<Expr, PassError> {
        let dtype = x.dtype;
        let constant = |value: f64| Expr::float(value, dtype);
        let value = Var::new("x", dtype);
        let magnitude = Expr::call(Op::Abs, vec![value.expr()], dtype);
        let power = self.nested(Op::Exp, &[Expr::binary(BinaryOp::Sub, constant(-0.0), magnitude)], dtype)?;
        let body = named("power", power, |power| {
            let negative = Expr::compare(chipdock_ir::CompareOp::Lt, value.expr(), constant(0.0));
            let over = Expr::select(negative, power.clone(), constant(1.0));
            Expr::binary(BinaryOp::Div, over, constant(1.0) + power)
        });
        Ok(Expr::new(ExprKind::Let { var: value, value: x.clone(), body }, dtype))
    }

    fn nested(&self, op: Op, args: &[Expr], dtype: DType) -> Result<Expr, PassError> {
        let call = Expr::call(op, args.to_vec(), dtype);
        Ok(self.lowered(op, args, dtype)?.unwrap_or(call))
    }
}

fn is_assume(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Call { callee: Callee::Op(Op::Assume), .. })
}

fn is_half(dtype: DType) -> bool {
    dtype.is_float() && dtype.bits == 16
}

fn float32(dtype: DType) -> DType {
    DType::FLOAT32.with_lanes(dtype.lanes)
}

/// Computes the value from the arguments in float32 and rounds it into `dtype`; a boolean is left
/// as it is.
fn in_float32(
    dtype: DType,
    args: &[&Expr],
    make: &dyn Fn(&[Expr]) -> Result<Expr, PassError>,
) -> Result<Expr, PassError> {
    let widen = |e: &&Expr| if is_half(e.dtype) { (*e).clone().cast(float32(e.dtype)) } else { (*e).clone() };
    let wide: Vec<Expr> = args.iter().map(widen).collect();
    Ok(make(&wide)?.cast(dtype))
}

/// Binds a value to a name that `body` may use more than once.
fn named(name: &str, value: Expr, body: impl FnOnce(Expr) -> Expr) -> Expr {
    if matches!(value.kind, ExprKind::Var(_) | ExprKind::Int(_) | ExprKind::Float(_)) {
        return body(value);
    }
    let var = Var::new(name, value.dtype);
    let body = body(var.expr());
    let dtype = body.dtype;
    Expr::new(ExprKind::Let { var, value, body }, dtype)
}
