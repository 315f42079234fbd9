//! Compiles calls of functions that every host has (INT-I11).

use std::sync::Arc;

use super::{Compiled, Compiler};
use crate::code::{HostArg, HostArgs, HostCall, Inst, Reg};
use crate::sort::HostFunction;
use chipdock_ir::{Callee, ConstantData, DType, Expr, ExprKind, Op};

impl Compiler<'_, '_> {
    /// Emits the address of a text.
    pub(super) fn text(&mut self, text: &Arc<str>) -> Compiled<Reg> {
        let (dst, index) = (self.reserve(1)?, self.out.texts.len() as u32);
        self.out.texts.push(text.clone());
        self.emit(Inst::Text { dst, text: index })?;
        Ok(dst)
    }

    /// Emits the address of the bytes of a constant.
    pub(super) fn constant_data(&mut self, data: &ConstantData) -> Compiled<Reg> {
        let (dst, constant) = (self.reserve(1)?, self.out.arrays.len() as u32);
        self.out.arrays.push(data.clone());
        self.emit(Inst::Constant { dst, constant })?;
        Ok(dst)
    }

    /// Compiles a call with its arguments as in the source, or, if lowered, with a buffer of packed
    /// values and their number.
    pub(super) fn host_call(&mut self, function: HostFunction, args: &[Expr]) -> Compiled<Reg> {
        self.tries_no_branch();
        let args = match args {
            [values, count] if values.dtype.is_handle() && !is_made(values) => {
                HostArgs::Packed { values: self.expr(values)?, count: self.size(count)? }
            }
            args => HostArgs::Written(args.iter().map(|arg| self.host_arg(arg)).collect::<Compiled<_>>()?),
        };
        let call = self.out.calls.len() as u32;
        self.out.calls.push(HostCall { function, args });
        self.emit(Inst::CallHost { call })?;
        Ok(self.constant(0))
    }

    fn host_arg(&mut self, arg: &Expr) -> Compiled<HostArg> {
        match &arg.kind {
            ExprKind::Str(text) => Ok(HostArg::Text(text.clone())),
            ExprKind::Call { callee: Callee::Op(Op::StackMakeArray), args } => self.host_tensor(args),
            _ => Ok(HostArg::Number(self.expr(arg)?, arg.dtype)),
        }
    }

    fn host_tensor(&mut self, args: &[Expr]) -> Compiled<HostArg> {
        let [data, shape, strides, _, zero, offset] = args else {
            return self.malformed("tvm_stack_make_array takes six arguments");
        };
        self.expect(data, DType::HANDLE, "the data of a tensor")?;
        let Some(shape) = self.made_shape(shape)? else {
            return self.malformed("tvm_stack_make_array takes a tvm_stack_make_shape");
        };
        Ok(HostArg::Tensor {
            data: self.expr(data)?,
            dtype: zero.dtype,
            shape,
            strides: self.made_shape(strides)?,
            offset: self.size(offset)?,
        })
    }

    /// Returns the registers of a shape's extents; `None` if the expression is no shape.
    fn made_shape(&mut self, shape: &Expr) -> Compiled<Option<Vec<Reg>>> {
        match &shape.kind {
            ExprKind::Call { callee: Callee::Op(Op::StackMakeShape), args } => {
                args.iter().map(|extent| self.size(extent)).collect::<Compiled<_>>().map(Some)
            }
            _ => Ok(None),
        }
    }
}

fn is_made(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { callee: Callee::Op(Op::StackMakeArray), .. })
}
