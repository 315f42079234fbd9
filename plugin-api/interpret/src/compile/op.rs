//! Compiles calls of ops.

use super::{Compiled, Compiler};
use crate::code::{Inst, NONE, Reg};
use crate::kernels;
use crate::scalar::Lane;
use chipdock_ir::op::{DotProduct, Takes};
use chipdock_ir::{BinaryOp, DType, Expr, ExprKind, Op, Signature};

impl Compiler<'_, '_> {
    pub(super) fn op(&mut self, op: Op, args: &[Expr], dtype: DType) -> Compiled<Reg> {
        if !op.takes_count(args.len()) {
            return self.malformed(format!(
                "{} takes {} arguments, not {}",
                op.name(),
                op.arity(),
                args.len()
            ));
        }
        match (op.signature(), args) {
            (Signature::FloatUnary | Signature::IntUnary | Signature::NumberUnary, [value]) => {
                self.expect(value, dtype, op.name())?;
                self.unary_op(op, value, dtype)
            }
            (Signature::FloatTest | Signature::IntCount, [value]) => {
                self.expect(value, value.dtype.with_lanes(dtype.lanes), op.name())?;
                if op.result_dtype(args) != Some(dtype) {
                    let gives = if op.signature() == Signature::IntCount { "int32" } else { "booleans" };
                    return self.malformed(format!("{} gives {gives}, not {dtype}", op.name()));
                }
                self.unary_op(op, value, dtype)
            }
            (Signature::FloatBinary | Signature::IntBinary | Signature::BitBinary, [a, b]) => {
                self.expect(a, dtype, op.name())?;
                self.expect(b, dtype, op.name())?;
                let kernel = kernels::binary_op(op, self.lane(dtype)?);
                self.pair(kernel, a, b, dtype, op.name())
            }
            (Signature::FloatTernary, [a, b, c]) => {
                for operand in args {
                    self.expect(operand, dtype, op.name())?;
                }
                let Some(kernel) = kernels::ternary_op(op, self.lane(dtype)?) else {
                    return self.malformed(format!("{} has no operands of type {dtype}", op.name()));
                };
                let (a, b, c) = (self.expr(a)?, self.expr(b)?, self.expr(c)?);
                let dst = self.reserve(dtype.lanes)?;
                self.emit(Inst::Ternary { op: kernel, dst, a, b, c, lanes: dtype.lanes.into() })?;
                Ok(dst)
            }
            (Signature::Custom, args) => self.custom_op(op, args, dtype),
            _ => self.malformed(format!("{} with {} arguments", op.name(), args.len())),
        }
    }

    fn unary_op(&mut self, op: Op, value: &Expr, dtype: DType) -> Compiled<Reg> {
        match kernels::unary_op(op, self.lane(value.dtype)?) {
            Some(kernel) => self.unary(kernel, value, dtype),
            None => self.malformed(format!("{} has no operand of type {}", op.name(), value.dtype)),
        }
    }

    fn custom_op(&mut self, op: Op, args: &[Expr], dtype: DType) -> Compiled<Reg> {
        match (op, args) {
            (Op::Ldexp, [value, power]) => {
                self.expect(value, dtype, "ldexp")?;
                self.expect(power, DType::INT32.with_lanes(dtype.lanes), "ldexp")?;
                let kernel = kernels::binary_op(op, self.lane(dtype)?);
                self.pair(kernel, value, power, dtype, "ldexp")
            }
            (Op::IfThenElse, [condition, then, otherwise]) => {
                self.expect(condition, DType::BOOL, "if_then_else")?;
                self.expect(then, dtype, "if_then_else")?;
                self.expect(otherwise, dtype, "if_then_else")?;
                let condition = self.expr(condition)?;
                self.choice(condition, dtype, |this| this.expr(then), |this| this.expr(otherwise))
            }
            (Op::Likely, [value]) => {
                self.expect(value, dtype, "likely")?;
                self.expr(value)
            }
            (Op::Reinterpret, [value]) => self.reinterpret(value, dtype),
            (Op::Isnullptr, [value]) if value.dtype == DType::HANDLE && dtype == DType::BOOL => {
                self.unary(kernels::IS_NULL, value, dtype)
            }
            (Op::AddressOf, [target]) => match &target.kind {
                ExprKind::Load { buffer, indices, .. } if dtype == DType::HANDLE => {
                    let view = self.view(buffer)?;
                    self.share(view);
                    let (index, _) = self.indices(buffer, indices)?;
                    let dst = self.reserve(1)?;
                    self.emit(Inst::Address { dst, view, index })?;
                    Ok(dst)
                }
                _ => self.malformed("address_of takes a buffer load and gives a handle"),
            },
            (Op::HandleAddByteOffset, [handle, offset]) if dtype == DType::HANDLE => {
                self.expect(handle, DType::HANDLE, op.name())?;
                let offset_type = if offset.dtype == DType::INT32 { DType::INT32 } else { DType::INT64 };
                self.expect(offset, offset_type, op.name())?;
                let add = kernels::binary(BinaryOp::Add, Lane::U64);
                self.pair(add, handle, offset, dtype, op.name())
            }
            _ => self.kernel_op(op, args, dtype),
        }
    }

    fn reinterpret(&mut self, value: &Expr, dtype: DType) -> Compiled<Reg> {
        let (from, to) = (self.lane(value.dtype)?, self.lane(dtype)?);
        if value.dtype.size_bytes() != dtype.size_bytes() || dtype.lanes == 0 {
            return self.malformed(format!("a reinterpretation of {} as {dtype}", value.dtype));
        }
        let src = self.expr(value)?;
        let dst = self.reserve(dtype.lanes)?;
        let lanes = u32::from(dtype.lanes.max(value.dtype.lanes));
        self.emit(Inst::Reinterpret { dst, src, from, to, lanes })?;
        Ok(dst)
    }

    /// Compiles ops of threads, and arithmetic of quantised kernels.
    fn kernel_op(&mut self, op: Op, args: &[Expr], dtype: DType) -> Compiled<Reg> {
        match (op, args) {
            (Op::ThreadInvariant, [value]) => {
                self.expect(value, dtype, op.name())?;
                self.expr(value)
            }
            (Op::Assume, [condition]) => {
                self.expect(condition, DType::BOOL, op.name())?;
                let condition = self.expr(condition)?;
                self.emit(Inst::Assume { condition })?;
                self.reserve(1)
            }
            (Op::QMultiplyShift, [_, _, q, s]) => {
                self.expect(q, DType::INT32, op.name())?;
                self.expect(s, DType::INT32, op.name())?;
                self.q_multiply_shift(&args[..2], &args[2..], dtype, false)
            }
            (Op::QMultiplyShiftPerAxis, [x, y, left, right, q, shifts_left, shifts_right]) => {
                self.expect(q, DType::INT32, op.name())?;
                let flagged = |flag: &Expr, shift: &Expr| (flag.as_int() != Some(0)).then(|| shift.clone());
                let shifts = [flagged(shifts_left, left), flagged(shifts_right, right)];
                self.q_multiply_shift_per_axis([x, y], shifts, q, dtype)
            }
            (Op::DotAdd, [c, a, b]) => {
                let found = DotProduct::of(c.dtype, a.dtype, b.dtype);
                let position = found.and_then(|dot| DotProduct::ALL.iter().position(|known| *known == dot));
                let Some(dot) = position.and_then(|position| u8::try_from(position).ok()) else {
                    return self.malformed(format!("a dot product of {} and {}", a.dtype, b.dtype));
                };
                let regs = [self.expr(c)?, self.expr(a)?, self.expr(b)?];
                let list = self.list(&regs);
                let dst = self.reserve(dtype.lanes)?;
                self.emit(Inst::DotAdd { dst, list, lanes: dtype.lanes, dot })?;
                Ok(dst)
            }
            (Op::Dp4a, [a, b, sum]) => {
                let four = if dtype == DType::INT32 { DType::INT8 } else { DType::UINT8 }.with_lanes(4);
                self.expect(a, four, op.name())?;
                self.expect(b, four, op.name())?;
                self.expect(sum, dtype, op.name())?;
                let (a, b, sum) = (self.expr(a)?, self.expr(b)?, self.expr(sum)?);
                let dst = self.reserve(1)?;
                self.emit(Inst::Dp4a { dst, a, b, sum, is_signed: dtype == DType::INT32 })?;
                Ok(dst)
            }
            (Op::AccessPtr, [zero, data, offset, _, _]) => {
                self.expect(data, DType::HANDLE, op.name())?;
                self.access_pointer(zero.dtype, data, offset)
            }
            _ => self.thread_op(op, args, dtype),
        }
    }

    fn q_multiply_shift(
        &mut self,
        vectors: &[Expr],
        others: &[Expr],
        dtype: DType,
        per_axis: bool,
    ) -> Compiled<Reg> {
        let mut regs = Vec::new();
        for vector in vectors {
            self.expect(vector, dtype, "q_multiply_shift")?;
            regs.push(self.expr(vector)?);
        }
        for other in others {
            regs.push(self.expr(other)?);
        }
        let list = self.list(&regs);
        let dst = self.reserve(dtype.lanes)?;
        self.emit(Inst::QMultiplyShift { dst, list, lanes: dtype.lanes.into(), per_axis })?;
        Ok(dst)
    }

    fn q_multiply_shift_per_axis(
        &mut self,
        factors: [&Expr; 2],
        shifts: [Option<Expr>; 2],
        q: &Expr,
        dtype: DType,
    ) -> Compiled<Reg> {
        let mut regs = Vec::new();
        for operand in factors.into_iter().map(Some).chain(shifts.iter().map(Option::as_ref)) {
            regs.push(match operand {
                Some(operand) => {
                    self.expect(operand, dtype, "q_multiply_shift_per_axis")?;
                    self.expr(operand)?
                }
                None => NONE,
            });
        }
        regs.push(self.expr(q)?);
        let list = self.list(&regs);
        let dst = self.reserve(dtype.lanes)?;
        self.emit(Inst::QMultiplyShift { dst, list, lanes: dtype.lanes.into(), per_axis: true })?;
        Ok(dst)
    }

    fn access_pointer(&mut self, element: DType, data: &Expr, offset: &Expr) -> Compiled<Reg> {
        let size_bytes = self.constant(element.size_bytes() as u64);
        let (data, offset) = (self.expr(data)?, self.size(offset)?);
        let (Some(mul), Some(add)) =
            (kernels::binary(BinaryOp::Mul, Lane::I64), kernels::binary(BinaryOp::Add, Lane::U64))
        else {
            return self.malformed("tvm_access_ptr");
        };
        let (bytes, dst) = (self.reserve(1)?, self.reserve(1)?);
        self.emit(Inst::Binary { op: mul, dst: bytes, a: offset, b: size_bytes, lanes: 1 })?;
        self.emit(Inst::Binary { op: add, dst, a: data, b: bytes, lanes: 1 })?;
        Ok(dst)
    }
}

/// Returns the op that a function of C's mathematical library computes, on the type of its name, or
/// a function of OpenCL C's, on float32 by the name without a suffix. `None` if the arguments do
/// not fit the function: how they are passed is then unspecified.
pub(super) fn library_op(name: &str, args: &[Expr], dtype: DType) -> Option<Op> {
    let op = match dtype {
        DType::FLOAT64 => math_op(name),
        DType::FLOAT32 => name.strip_suffix('f').and_then(math_op).or_else(|| math_op(name)),
        _ => None,
    }?;
    let takes = |position: usize, arg: &Expr| match op.info().takes(position) {
        Some(Takes::LanesOf(_, other)) => arg.dtype == other,
        _ => arg.dtype == dtype,
    };
    let fits =
        op.takes_count(args.len()) && args.iter().enumerate().all(|(position, arg)| takes(position, arg));
    fits.then_some(op)
}

/// Returns the op of a function of C's on float64.
fn math_op(name: &str) -> Option<Op> {
    Op::all_where(|op| op.c_names.contains(&name)).next()
}
