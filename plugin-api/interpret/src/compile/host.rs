//! Compiles ops of host functions: fields of packed arguments and of tensors, workspaces, errors
//! (INT-I11).

use std::sync::Arc;

use super::{Compiled, Compiler};
use crate::code::{Inst, Reg};
use crate::kernels;
use crate::scalar::Lane;
use crate::sort::HostFunction;
use chipdock_ir::{AttrValue, BinaryOp, CompareOp, DType, Expr, ExprKind, Op, StructField, Var, attr};

/// Size of a DLTensor in bytes; `ANY_BYTES` is that of an Any.
const TENSOR_BYTES: u64 = 48;
const ANY_BYTES: u64 = 16;
/// The greatest number of tasks of a parallel launch; it divides few extents.
const TASKS_MAX: i32 = 5;

/// Returns the layout of a field: bytes of its struct, its offset, its stored type.
fn layout(field: StructField, value: DType) -> (u64, u64, DType) {
    let any_value = match value {
        value if value.is_float() => DType::FLOAT64,
        value if value.is_handle() => DType::HANDLE,
        _ => DType::INT64,
    };
    match field {
        StructField::Address | StructField::Data => (TENSOR_BYTES, 0, DType::HANDLE),
        StructField::DeviceType => (TENSOR_BYTES, 8, DType::INT32),
        StructField::DeviceId => (TENSOR_BYTES, 12, DType::INT32),
        StructField::Ndim => (TENSOR_BYTES, 16, DType::INT32),
        StructField::TypeCode => (TENSOR_BYTES, 20, DType::UINT8),
        StructField::TypeBits => (TENSOR_BYTES, 21, DType::UINT8),
        StructField::TypeLanes => (TENSOR_BYTES, 22, DType::UINT16),
        StructField::Shape => (TENSOR_BYTES, 24, DType::HANDLE),
        StructField::Strides => (TENSOR_BYTES, 32, DType::HANDLE),
        StructField::ByteOffset => (TENSOR_BYTES, 40, DType::UINT64),
        StructField::AnyTypeIndex => (ANY_BYTES, 0, DType::INT32),
        StructField::AnyPadding => (ANY_BYTES, 4, DType::UINT32),
        StructField::AnyValue => (ANY_BYTES, 8, any_value),
        StructField::Int64Element => (8, 0, DType::INT64),
    }
}

impl Compiler<'_, '_> {
    /// Compiles ops that only host functions have.
    pub(super) fn host_op(&mut self, op: Op, args: &[Expr], dtype: DType) -> Compiled<Reg> {
        match (op, args) {
            (Op::StructGet, [handle, index, field]) => {
                let Some(field) = field.as_int().and_then(StructField::by_code) else {
                    return self.malformed("tvm_struct_get of an unknown field");
                };
                let (size, offset, stored) = layout(field, dtype);
                let address = self.field_address(handle, index, size, offset)?;
                if field == StructField::Address {
                    return Ok(address);
                }
                let dst = self.reserve(1)?;
                let lane = self.lane(stored)?;
                self.emit(Inst::LoadAt { dst, address, lane })?;
                self.converted(dst, stored, dtype)
            }
            (Op::StructSet, [handle, index, field, value]) => {
                let Some(field) = field.as_int().and_then(StructField::by_code) else {
                    return self.malformed("tvm_struct_set of an unknown field");
                };
                let (size, offset, stored) = layout(field, value.dtype);
                let address = self.field_address(handle, index, size, offset)?;
                let src = match &value.kind {
                    ExprKind::Str(text) => self.text(text)?,
                    _ => self.expr(value)?,
                };
                let src = self.converted(src, value.dtype, stored)?;
                let lane = self.lane(stored)?;
                self.emit(Inst::StoreAt { src, address, lane })?;
                self.reserve(1)
            }
            (Op::HandleLoad, [handle, offset]) => self.handle_load(handle, offset, dtype),
            (Op::AllocateWorkspace, [_, _, size, ..]) => {
                self.expect(size, DType::UINT64, op.name())?;
                self.tries_no_branch();
                let size = self.expr(size)?;
                let dst = self.reserve(1)?;
                self.emit(Inst::Workspace { dst, size })?;
                Ok(dst)
            }
            (Op::FreeWorkspace, [_, _, data]) => {
                self.expect(data, DType::HANDLE, op.name())?;
                self.tries_no_branch();
                let data = self.expr(data)?;
                self.emit(Inst::FreeWorkspace { data })?;
                Ok(self.constant(0))
            }
            (Op::ThrowLastError, []) if self.function.ret == Some(DType::INT32) => {
                self.leave(0);
                let src = self.constant(crate::scalar::from_int(-1, DType::INT32));
                self.emit(Inst::Return { src })?;
                self.reserve(1)
            }
            (Op::CallPacked, [name, args @ ..]) => match &name.kind {
                ExprKind::Str(name) => match HostFunction::by_name(name) {
                    Some(function) => self.host_call(function, args),
                    None => self.kernel_launch(name, args, dtype),
                },
                _ => self.malformed("a packed call of no name"),
            },
            (Op::ParallelLaunch, [body, data, tasks]) => match &body.kind {
                ExprKind::Str(name) => self.parallel_launch(name, data, tasks),
                _ => self.malformed("a parallel launch of no name"),
            },
            _ => self.unsupported(op.name(), dtype),
        }
    }

    /// Compiles a launch of a kernel of the module: the kernel finds its extents in its arguments.
    fn kernel_launch(&mut self, name: &Arc<str>, args: &[Expr], dtype: DType) -> Compiled<Reg> {
        let kernel = self.module.function(name).filter(|function| {
            function.attrs.get(attr::CALLING_CONV) == Some(&AttrValue::Int(2))
                && args.len() >= function.params.len()
        });
        let Some(kernel) = kernel else {
            return self
                .unsupported(format!("packed calls of {name}, which is no kernel of the module"), dtype);
        };
        self.tries_no_branch();
        self.call(name, &args[..kernel.params.len()], DType::HANDLE)?;
        Ok(self.constant(0))
    }

    /// Compiles a parallel loop over the ids of a few tasks, the last first, because their order is
    /// unspecified.
    fn parallel_launch(&mut self, name: &Arc<str>, data: &Expr, tasks: &Expr) -> Compiled<Reg> {
        self.expect(data, DType::HANDLE, "a parallel launch")?;
        self.expect(tasks, DType::INT32, "a parallel launch")?;
        let kernels = kernels::binary(BinaryOp::Add, Lane::I32)
            .zip(kernels::binary_op(Op::BitwiseOr, Lane::I32))
            .filter(|_| self.module.function(name).is_some());
        let Some((add, or)) = kernels else {
            return self.malformed(format!("a launch of {name}, which the module does not have"));
        };
        let (zero, status) = (self.constant(0), self.reserve(1)?);
        self.scope(|this| {
            let [left, count, most] =
                ["left", "tasks_count", "tasks_max"].map(|name| Var::new(name, DType::INT32));
            let handle = Var::new("data", DType::HANDLE);
            this.bind_value(&handle, data)?;
            this.bind_value(&most, tasks)?;
            let is_given = Expr::compare(CompareOp::Gt, most.expr(), Expr::i32(0));
            let fewer = Expr::binary(BinaryOp::Min, most.expr(), Expr::i32(TASKS_MAX));
            this.bind_value(&count, &Expr::select(is_given, fewer, Expr::i32(TASKS_MAX)))?;
            let extent = this.expr(&count.expr())?;
            let (counter, unused) = (this.reserve(1)?, this.reserve(1)?);
            this.bind(&left, counter);
            this.emit(Inst::Move { dst: status, src: zero, lanes: 1 })?;
            this.emit(Inst::ParallelBegin)?;
            let begin = this.emit(Inst::LoopBegin { counter, min: zero, extent, end: 0 })?;
            let body = this.here();
            this.emit(Inst::ParallelIteration)?;
            let task = left.expr() - Expr::i32(1);
            let ended = this.call(name, &[task, count.expr(), handle.expr()], DType::INT32)?;
            this.emit(Inst::Binary { op: or, dst: status, a: status, b: ended, lanes: 1 })?;
            this.emit(Inst::LoopNext { var: unused, counter, step: zero, add, body })?;
            this.land(begin);
            this.emit(Inst::ParallelEnd)?;
            Ok(())
        })?;
        Ok(status)
    }

    /// Records that the code here cannot be undone, so that no surrounding branch is tried.
    pub(super) fn tries_no_branch(&mut self) {
        self.branches.iter_mut().for_each(|(_, escapes)| *escapes = true);
    }

    fn field_address(&mut self, handle: &Expr, index: &Expr, size: u64, offset: u64) -> Compiled<Reg> {
        self.expect(handle, DType::HANDLE, "a field")?;
        let (handle, index) = (self.expr(handle)?, self.size(index)?);
        let size = self.constant(size);
        let bytes = self.arithmetic(BinaryOp::Mul, index, size)?;
        let offset = self.constant(offset);
        let bytes = self.arithmetic(BinaryOp::Add, bytes, offset)?;
        self.arithmetic(BinaryOp::Add, handle, bytes)
    }

    /// Compiles arithmetic on addresses: modulo 2 to the 64.
    fn arithmetic(&mut self, op: BinaryOp, a: Reg, b: Reg) -> Compiled<Reg> {
        let Some(op) = kernels::binary(op, Lane::U64) else { return self.malformed("an address") };
        let dst = self.reserve(1)?;
        self.emit(Inst::Binary { op, dst, a, b, lanes: 1 })?;
        Ok(dst)
    }

    fn converted(&mut self, a: Reg, from: DType, to: DType) -> Compiled<Reg> {
        let (from_lane, to_lane) = (self.lane(from)?, self.lane(to)?);
        if from_lane == to_lane && to.is_scalar() {
            return Ok(a);
        }
        match kernels::cast(from_lane, to_lane).filter(|_| from.is_scalar() && to.is_scalar()) {
            Some(op) => {
                let dst = self.reserve(1)?;
                self.emit(Inst::Unary { op, dst, a, lanes: 1 })?;
                Ok(dst)
            }
            None => self.malformed(format!("a field of type {from} as {to}")),
        }
    }

    fn handle_load(&mut self, handle: &Expr, offset: &Expr, dtype: DType) -> Compiled<Reg> {
        self.expect(handle, DType::HANDLE, "handle_load")?;
        let lane = self.lane(dtype)?;
        let (handle, offset) = (self.expr(handle)?, self.size(offset)?);
        let mut address = self.arithmetic(BinaryOp::Add, handle, offset)?;
        let first = self.reserve(dtype.lanes)?;
        let size = self.constant(lane.size_bytes() as u64);
        for at in 0..u32::from(dtype.lanes) {
            if at > 0 {
                address = self.arithmetic(BinaryOp::Add, address, size)?;
            }
            self.emit(Inst::LoadAt { dst: first + at, address, lane })?;
        }
        Ok(first)
    }
}
