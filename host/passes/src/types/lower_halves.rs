//! Lowering of float16 and bfloat16 for targets without them, to their bits.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use chipdock_ir::op::Takes;
use chipdock_ir::{
    AttrNode, Buffer, BufferNode, Callee, Child, DType, Expr, ExprKind, IrModule, Op, Param, PrimFunc, Stmt,
    StmtKind, TargetCapabilities, Var, number,
};

use crate::PassError;
use crate::types::narrow_floats::{decoded, encoded};
use crate::walk::try_map_functions;

const PASS: &str = "lower_halves";

type Answer<T> = Result<T, PassError>;

/// Lowers float16 and bfloat16 in device functions if the target lacks them
/// ([`chipdock_ir::Types::missing_types`]): only their bits are left.
///
/// # Rules
///
/// * **HALVES-F1** A value of such a type is a uint16 of the same lanes, its bits; a buffer of them
///   is one of uint16 over the same memory. Constants, selections, names, results of functions and
///   what threads of a warp pass on follow.
/// * **HALVES-F2** A cast to or from such a type is computed in integers, exactly: to float32
///   without a rounding, from any type with one, to nearest, ties to even, subnormals kept; a
///   number beyond the greatest value is infinite. Which NaN a NaN becomes is left open, as in the
///   IR.
/// * **HALVES-F3** A cast between such a type and an integer, a boolean or a float64 goes by way of
///   float32. An integer or a float64 that float32 would round is rounded to odd first, so that it
///   is rounded once.
///
/// # Before and after
///
/// ```text
/// A: T.Buffer((64,), "bfloat16")             A: T.Buffer((64,), "uint16")
/// B[tx] = T.Cast("float32", A[tx])      ->   B[tx] = T.reinterpret("float32", T.Cast("uint32", A[tx]) << 16)
/// ```
///
/// # Requires / # Ensures
///
/// Requires device functions whose ops are lowered. If the target lacks such a type, none of it is
/// left except in attributes; otherwise the module is unchanged.
///
/// # Errors
///
/// The target's: atomic operations on them, and C functions that take or return them.
pub fn lower_halves(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    let types = [DType::FLOAT16, DType::BFLOAT16];
    let missing: Vec<DType> = types.into_iter().filter(|dtype| !capabilities.types.has(*dtype)).collect();
    if capabilities.is_host || missing.is_empty() {
        return Ok(module.clone());
    }
    try_map_functions(module, |function| {
        let lowerer = Lowerer {
            function,
            capabilities,
            missing: &missing,
            vars: HashMap::new(),
            buffers: HashMap::new(),
        };
        if lowerer.is_touched() { lowerer.function() } else { Ok(function.clone()) }
    })
}

struct Lowerer<'a> {
    function: &'a PrimFunc,
    capabilities: &'a TargetCapabilities,
    missing: &'a [DType],
    vars: HashMap<Var, Var>,
    buffers: HashMap<Buffer, Buffer>,
}

impl Lowerer<'_> {
    fn is_missing(&self, dtype: DType) -> bool {
        self.missing.contains(&dtype.scalar())
    }

    /// The type of its bits (HALVES-F1); another type is unchanged.
    fn dtype(&self, dtype: DType) -> DType {
        if self.is_missing(dtype) { DType::UINT16.with_lanes(dtype.lanes) } else { dtype }
    }

    fn is_own(&self, var: &Var) -> bool {
        self.is_missing(var.dtype)
            || var.pointer.as_ref().is_some_and(|pointer| self.is_missing(pointer.element))
    }

    fn is_touched(&self) -> bool {
        let of_buffer = |buffer: &Buffer| self.is_missing(buffer.dtype) || self.is_own(&buffer.data);
        let mut found = self.function.ret.is_some_and(|ret| self.is_missing(ret));
        found |= self.function.params.iter().any(|param| match param {
            Param::Var(var) => self.is_own(var),
            Param::Buffer(buffer) => of_buffer(buffer),
        });
        self.function.body.walk(&mut |child| match child {
            Child::Expr(e) => e.walk(&mut |e| found |= self.is_missing(e.dtype)),
            Child::Stmt(stmt) => {
                found |= match &stmt.kind {
                    StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } => {
                        of_buffer(buffer)
                    }
                    _ => false,
                };
            }
        });
        found
    }

    fn refused(&self, what: impl std::fmt::Display, of: DType) -> PassError {
        let (kind, of) = (&self.capabilities.target.kind, of.scalar());
        let option = self.capabilities.options.of_type(of);
        let set = option.map_or_else(String::new, |option| {
            format!(", or set option \"{option}\" where the device has it")
        });
        let message = format!("target \"{kind}\" has no {of}, and {what}; use float32{set}");
        PassError::target(PASS, &self.function.name, message)
    }

    fn function(mut self) -> Answer<PrimFunc> {
        let function = self.function;
        let params = function.params.iter().map(|param| match param {
            Param::Var(var) => Param::Var(self.var(var)),
            Param::Buffer(buffer) => Param::Buffer(self.buffer(buffer)),
        });
        let params = params.collect();
        let body = self.stmt(&function.body)?;
        let ret = function.ret.map(|ret| self.dtype(ret));
        Ok(PrimFunc { params, body, ret, ..function.clone() })
    }

    fn var(&mut self, var: &Var) -> Var {
        if !self.is_own(var) {
            return var.clone();
        }
        let name = Arc::clone(&var.name);
        let new = match &var.pointer {
            Some(pointer) => Var::pointer(name, self.dtype(pointer.element), pointer.scope.clone()),
            None => Var::new(name, self.dtype(var.dtype)),
        };
        self.vars.entry(var.clone()).or_insert(new).clone()
    }

    fn buffer(&mut self, buffer: &Buffer) -> Buffer {
        if let Some(new) = self.buffers.get(buffer) {
            return new.clone();
        }
        let (data, dtype) = (self.var(&buffer.data), self.dtype(buffer.dtype));
        let new = if dtype == buffer.dtype && data == buffer.data {
            buffer.clone()
        } else {
            Buffer::from_node(BufferNode { data, dtype, ..BufferNode::clone(buffer) })
        };
        self.buffers.insert(buffer.clone(), new.clone());
        new
    }

    fn expr(&mut self, e: &Expr) -> Answer<Expr> {
        let kind = match &e.kind {
            ExprKind::Var(var) => ExprKind::Var(self.var(var)),
            ExprKind::Float(value) if self.is_missing(e.dtype) => {
                ExprKind::Int(number::half_bits(value.value(), e.dtype).into())
            }
            ExprKind::Let { var, value, body } => {
                let value = self.expr(value)?;
                ExprKind::Let { var: self.var(var), value, body: self.expr(body)? }
            }
            ExprKind::Cast(value) if self.is_missing(e.dtype) || self.is_missing(value.dtype) => {
                return Ok(self.cast(value, e.dtype)?.with_span(e.span));
            }
            ExprKind::Load { .. } => {
                let mapped = e.try_map_children(&mut |child| self.expr(child))?;
                let ExprKind::Load { buffer, indices, predicate } = mapped.kind.clone() else {
                    return Ok(mapped);
                };
                ExprKind::Load { buffer: self.buffer(&buffer), indices, predicate }
            }
            ExprKind::Binary(..) | ExprKind::Compare(..) if self.on_halves(e) => {
                let message = "expected no arithmetic of halves after lower_intrinsics";
                return Err(PassError::bug(PASS, &self.function.name, message).at(e.span));
            }
            ExprKind::Call { callee, args } if self.is_missing(e.dtype) || self.on_halves(e) => {
                return Ok(self.call(e, callee, args)?.with_span(e.span));
            }
            _ => e.try_map_children(&mut |child| self.expr(child))?.kind.clone(),
        };
        Ok(Expr::new(kind, self.dtype(e.dtype)).with_span(e.span))
    }

    /// Returns true if an operand has a missing type.
    fn on_halves(&self, e: &Expr) -> bool {
        let mut found = false;
        e.for_each_child(&mut |child| found |= self.is_missing(child.dtype));
        found
    }

    /// A cast from or to a missing type (HALVES-F2, HALVES-F3).
    fn cast(&mut self, value: &Expr, to: DType) -> Answer<Expr> {
        let from = value.dtype;
        match &value.kind {
            ExprKind::Broadcast { value, lanes } => {
                return Ok(self.cast(value, to.scalar())?.broadcast(*lanes));
            }
            ExprKind::Float(value) if to.scalar() == DType::FLOAT32 => {
                return Ok(Expr::float(value.value(), to));
            }
            _ => {}
        }
        let value = self.expr(value)?;
        if from == to {
            return Ok(value);
        }
        let number = if self.is_missing(from) { decoded(value, from) } else { value };
        Ok(if self.is_missing(to) {
            encoded(number, to)
        } else if number.dtype == to {
            number
        } else {
            number.cast(to)
        })
    }

    fn call(&mut self, e: &Expr, callee: &Callee, args: &[Expr]) -> Answer<Expr> {
        let of = args.iter().map(|arg| arg.dtype).find(|dtype| self.is_missing(*dtype)).unwrap_or(e.dtype);
        let op = match callee {
            Callee::Op(op) => *op,
            Callee::Extern { name, .. } => {
                return Err(self.refused(format_args!("the C function {name} takes or returns one"), of));
            }
            Callee::Global(_) => {
                let mapped = e.try_map_children(&mut |child| self.expr(child))?;
                return Ok(Expr::new(mapped.kind.clone(), self.dtype(e.dtype)));
            }
        };
        if op == Op::AtomicAdd {
            return Err(self.refused(format_args!("{} of one cannot be made of its bits", op.name()), of));
        }
        let mut own = args.iter().map(|arg| self.expr(arg)).collect::<Answer<Vec<_>>>()?;
        let dtype = self.dtype(e.dtype);
        if op == Op::Reinterpret && own.first().is_some_and(|arg| arg.dtype == dtype) {
            return Ok(own.remove(0));
        }
        if matches!(op.info().takes(0), Some(Takes::Float | Takes::Number)) {
            // Of floats, and spelled by the code generator: it is asked of the value in float32,
            // which has the same.
            for (own, arg) in own.iter_mut().zip(args).filter(|(_, arg)| self.is_missing(arg.dtype)) {
                *own = decoded(own.clone(), arg.dtype);
            }
            if self.is_missing(e.dtype) {
                let wide = DType::FLOAT32.with_lanes(dtype.lanes);
                return Ok(encoded(Expr::call(op, own, wide), e.dtype));
            }
        }
        Ok(Expr::call(op, own, dtype))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Answer<Stmt> {
        let this = RefCell::new(&mut *self);
        let mapped =
            stmt.try_map_children(&mut |e| this.borrow_mut().expr(e), &mut |s| this.borrow_mut().stmt(s))?;
        let kind = match &mapped.kind {
            StmtKind::Bind { var, value } => StmtKind::Bind { var: self.var(var), value: value.clone() },
            StmtKind::Store { buffer, indices, value, predicate } => StmtKind::Store {
                buffer: self.buffer(buffer),
                indices: indices.clone(),
                value: value.clone(),
                predicate: predicate.clone(),
            },
            StmtKind::AllocBuffer { buffer, annotations } => {
                StmtKind::AllocBuffer { buffer: self.buffer(buffer), annotations: annotations.clone() }
            }
            StmtKind::DeclBuffer { buffer, data } => {
                StmtKind::DeclBuffer { buffer: self.buffer(buffer), data: data.clone() }
            }
            StmtKind::Attr { node, key, value, body } => {
                let node = match node {
                    AttrNode::Buffer(buffer) => AttrNode::Buffer(self.buffer(buffer)),
                    AttrNode::Var(var) => AttrNode::Var(self.var(var)),
                    other => other.clone(),
                };
                StmtKind::Attr { node, key: key.clone(), value: value.clone(), body: body.clone() }
            }
            _ => return Ok(mapped),
        };
        Ok(Stmt::new(kind).with_span(mapped.span))
    }
}
