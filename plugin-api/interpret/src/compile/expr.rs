//! Compiles expressions: each gives the first of the registers that hold its lanes.

use std::sync::Arc;

use super::{Compiled, Compiler};
use crate::code::{Inst, NONE, Reg};
use crate::kernels;
use crate::scalar::{self, Lane};
use chipdock_ir::{BinaryOp, Buffer, Callee, CompareOp, DType, Expr, ExprKind, Param, Var, environment};

use super::op::library_op;

impl Compiler<'_, '_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Compiled<Reg> {
        let outer = std::mem::replace(&mut self.span, expr.span);
        if self.span == chipdock_ir::Span::NONE {
            self.span = outer;
        }
        let reg = self.nested(|this| this.expr_kind(expr));
        self.span = outer;
        reg
    }

    fn expr_kind(&mut self, expr: &Expr) -> Compiled<Reg> {
        let dtype = expr.dtype;
        match &expr.kind {
            ExprKind::Var(var) => self.var(var, dtype),
            ExprKind::Int(value) => self.int(*value, dtype),
            ExprKind::Float(bits) if dtype.is_float() && dtype.is_scalar() => {
                Ok(self.constant(scalar::from_f64(bits.value(), dtype)))
            }
            ExprKind::Float(_) => self.malformed(format!("a float constant of type {dtype}")),
            ExprKind::Str(_) => self.malformed("a string where a value is expected"),
            ExprKind::ConstantData(data) => self.constant_data(data),
            ExprKind::Cast(value) => self.cast(value, dtype),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, dtype),
            ExprKind::Compare(op, a, b) => self.compare(*op, a, b, dtype),
            ExprKind::And(a, b) => self.logic(a, b, dtype, true),
            ExprKind::Or(a, b) => self.logic(a, b, dtype, false),
            ExprKind::Not(value) => {
                self.expect(value, dtype, "not")?;
                self.expect_bool(value, "not")?;
                self.unary(kernels::NOT, value, dtype)
            }
            ExprKind::Select(condition, a, b) => self.select(condition, a, b, dtype),
            ExprKind::Load { buffer, indices, predicate } => {
                self.load(buffer, indices, predicate.as_ref(), dtype)
            }
            ExprKind::Ramp { base, stride, lanes } => self.ramp(base, stride, *lanes, dtype),
            ExprKind::Broadcast { value, lanes } => self.broadcast(value, *lanes, dtype),
            ExprKind::Shuffle { vectors, indices } => self.shuffle(vectors, indices, dtype),
            ExprKind::Let { var, value, body } => self
                .scope(|this| {
                    this.expect(value, var.dtype, "let")?;
                    this.expect(body, dtype, "let")?;
                    let reg = this.expr(value)?;
                    this.bind(var, reg);
                    this.threads.derive(var, &[value]);
                    let result = this.expr(body)?;
                    Ok((result, this.next))
                })
                .map(|(result, next)| {
                    // The value of the body is used after the scope of the name.
                    self.next = next;
                    result
                }),
            ExprKind::Call { callee: Callee::Op(op), args } => self.op(*op, args, dtype),
            ExprKind::Call { callee: Callee::Global(name), args } => self.call(name, args, dtype),
            // Whoever interprets goes on.
            ExprKind::Call { callee: Callee::Extern { name, .. }, args }
                if **name == *environment::GO_ON && args.is_empty() && dtype == DType::INT32 =>
            {
                self.int(0, dtype)
            }
            ExprKind::Call { callee: Callee::Extern { name, pure }, args } => {
                match library_op(name, args, dtype) {
                    Some(op) if *pure => self.op(op, args, dtype),
                    _ => self.unsupported(format!("calls of the C function {name}"), dtype),
                }
            }
        }
    }

    /// Emits code that ends the run; the returned registers never get a value.
    pub(super) fn unsupported(&mut self, what: impl Into<String>, dtype: DType) -> Compiled<Reg> {
        self.trap(what)?;
        self.reserve(dtype.lanes)
    }

    pub(super) fn expect(&self, expr: &Expr, dtype: DType, what: &str) -> Compiled<()> {
        if expr.dtype == dtype && dtype.lanes > 0 {
            return Ok(());
        }
        self.malformed(format!("{what}: expected an operand of type {dtype}, found {}", expr.dtype))
    }

    pub(super) fn expect_bool(&self, expr: &Expr, what: &str) -> Compiled<()> {
        if expr.dtype.is_bool() {
            return Ok(());
        }
        self.malformed(format!("{what}: expected a boolean, found {}", expr.dtype))
    }

    pub(super) fn var(&mut self, var: &Var, dtype: DType) -> Compiled<Reg> {
        if var.dtype != dtype {
            return self.malformed(format!("variable {} is {}, its node {dtype}", var.name, var.dtype));
        }
        if let Some(&view) = self.by_data.get(var) {
            self.share(view);
        }
        match self.vars.get(var) {
            Some(&reg) => Ok(reg),
            None => self.malformed(format!("variable {} is used where it has no value", var.name)),
        }
    }

    fn int(&mut self, value: i128, dtype: DType) -> Compiled<Reg> {
        match dtype.integer_range() {
            Some((low, high)) if dtype.is_scalar() && (low..=high).contains(&value) => {
                Ok(self.constant(scalar::from_int(value, dtype)))
            }
            // The null pointer.
            None if dtype.is_handle() && value == 0 => Ok(self.constant(0)),
            _ => self.malformed(format!("the constant {value} is no {dtype}")),
        }
    }

    pub(super) fn unary(&mut self, op: &'static kernels::Unary, value: &Expr, dtype: DType) -> Compiled<Reg> {
        let a = self.expr(value)?;
        let dst = self.reserve(dtype.lanes)?;
        self.emit(Inst::Unary { op, dst, a, lanes: dtype.lanes.into() })?;
        Ok(dst)
    }

    pub(super) fn pair(
        &mut self,
        op: Option<&'static kernels::Binary>,
        a: &Expr,
        b: &Expr,
        dtype: DType,
        what: &str,
    ) -> Compiled<Reg> {
        let Some(op) = op else {
            return self.malformed(format!("{what} has no operands of type {}", a.dtype));
        };
        let (a, b) = (self.expr(a)?, self.expr(b)?);
        let dst = self.reserve(dtype.lanes)?;
        self.emit(Inst::Binary { op, dst, a, b, lanes: dtype.lanes.into() })?;
        Ok(dst)
    }

    fn cast(&mut self, value: &Expr, dtype: DType) -> Compiled<Reg> {
        self.expect(value, value.dtype.scalar().with_lanes(dtype.lanes), "cast")?;
        match kernels::cast(self.lane(value.dtype)?, self.lane(dtype)?) {
            Some(op) => self.unary(op, value, dtype),
            None if value.dtype == dtype => self.expr(value),
            None => self.unsupported(format!("casts from {} to {dtype}", value.dtype), dtype),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, dtype: DType) -> Compiled<Reg> {
        let what = format!("{op:?}");
        self.expect(a, dtype, &what)?;
        self.expect(b, dtype, &what)?;
        let kernel = kernels::binary(op, self.lane(dtype)?);
        self.pair(kernel, a, b, dtype, &what)
    }

    fn compare(&mut self, op: CompareOp, a: &Expr, b: &Expr, dtype: DType) -> Compiled<Reg> {
        let what = format!("{op:?}");
        self.expect(b, a.dtype, &what)?;
        if dtype != DType::BOOL.with_lanes(a.dtype.lanes) {
            return self.malformed(format!("{what} of {} gives booleans, not {dtype}", a.dtype));
        }
        let kernel = kernels::compare(op, self.lane(a.dtype)?);
        self.pair(kernel, a, b, dtype, &what)
    }

    fn logic(&mut self, a: &Expr, b: &Expr, dtype: DType, is_and: bool) -> Compiled<Reg> {
        let what = if is_and { "and" } else { "or" };
        for operand in [a, b] {
            self.expect(operand, dtype, what)?;
            self.expect_bool(operand, what)?;
        }
        if !dtype.is_scalar() || is_safe(b, 8) {
            return self.pair(Some(if is_and { kernels::AND } else { kernels::OR }), a, b, dtype, what);
        }
        // The second operand is evaluated only if the first does not decide.
        let condition = self.expr(a)?;
        let decided = self.constant(u64::from(!is_and));
        if is_and {
            self.choice(condition, dtype, |this| this.expr(b), |_| Ok(decided))
        } else {
            self.choice(condition, dtype, |_| Ok(decided), |this| this.expr(b))
        }
    }

    /// Emits code for one of two values; only the chosen one is computed.
    pub(super) fn choice(
        &mut self,
        condition: Reg,
        dtype: DType,
        then: impl FnOnce(&mut Self) -> Compiled<Reg>,
        otherwise: impl FnOnce(&mut Self) -> Compiled<Reg>,
    ) -> Compiled<Reg> {
        let dst = self.reserve(dtype.lanes)?;
        let lanes = u32::from(dtype.lanes);
        let lane = self.lane(dtype)?;
        let branch =
            self.emit(Inst::Branch { condition, otherwise: 0, join: 0, dst, lanes, lane, escapes: false })?;
        self.branches.push((self.loops.len(), false));
        let next = self.next;
        let src = then(self)?;
        self.emit(Inst::Move { dst, src, lanes })?;
        let jump = self.emit(Inst::Jump { to: 0 })?;
        self.land(branch);
        self.next = next;
        let src = otherwise(self)?;
        self.emit(Inst::Move { dst, src, lanes })?;
        self.next = next;
        self.land(jump);
        let escapes = self.branches.pop().is_some_and(|(_, escapes)| escapes);
        self.join(branch, escapes);
        Ok(dst)
    }

    fn select(&mut self, condition: &Expr, a: &Expr, b: &Expr, dtype: DType) -> Compiled<Reg> {
        self.expect(a, dtype, "select")?;
        self.expect(b, dtype, "select")?;
        self.expect_bool(condition, "select")?;
        let each = condition.dtype.lanes == dtype.lanes;
        if !each && !condition.dtype.is_scalar() {
            return self.malformed(format!("select of {dtype} by {}", condition.dtype));
        }
        let lane = self.lane(dtype)?;
        let mut chosen = self.expr(condition)?;
        if !each {
            chosen = self.fill(chosen, dtype.lanes)?;
        }
        let (a, b) = (self.expr(a)?, self.expr(b)?);
        let dst = self.reserve(dtype.lanes)?;
        self.emit(Inst::Select { dst, condition: chosen, a, b, lanes: dtype.lanes.into(), lane })?;
        Ok(dst)
    }

    pub(super) fn fill(&mut self, src: Reg, lanes: u16) -> Compiled<Reg> {
        let dst = self.reserve(lanes)?;
        self.emit(Inst::Fill { dst, src, lanes: lanes.into() })?;
        Ok(dst)
    }

    /// Compiles the indices of an access; returns their list and the lanes of the last one.
    pub(super) fn indices(&mut self, buffer: &Buffer, indices: &[Expr]) -> Compiled<(u32, u16)> {
        if indices.len() != buffer.shape.len() {
            return self.malformed(format!(
                "buffer {} has {} axes and is accessed with {} indices",
                buffer.name,
                buffer.shape.len(),
                indices.len()
            ));
        }
        let mut regs = Vec::with_capacity(indices.len());
        let mut lanes = 1;
        for (axis, index) in indices.iter().enumerate() {
            let is_last = axis + 1 == indices.len();
            if !index.dtype.is_integer() || (!index.dtype.is_scalar() && !is_last) || index.dtype.lanes == 0 {
                return self.malformed(format!("index {axis} of buffer {} is {}", buffer.name, index.dtype));
            }
            lanes = index.dtype.lanes;
            regs.push(self.expr(index)?);
        }
        Ok((self.list(&regs), if indices.is_empty() { 1 } else { lanes }))
    }

    pub(super) fn predicate(&mut self, predicate: Option<&Expr>, lanes: u16) -> Compiled<Reg> {
        let Some(predicate) = predicate else { return Ok(NONE) };
        self.expect(predicate, DType::BOOL.with_lanes(lanes), "predicate")?;
        self.expr(predicate)
    }

    fn load(
        &mut self,
        buffer: &Buffer,
        indices: &[Expr],
        predicate: Option<&Expr>,
        dtype: DType,
    ) -> Compiled<Reg> {
        let view = self.view(buffer)?;
        let (index, lanes) = self.indices(buffer, indices)?;
        let found = u32::from(buffer.dtype.lanes) * u32::from(lanes);
        if dtype.scalar() != buffer.dtype.scalar() || u32::from(dtype.lanes) != found {
            return self.malformed(format!(
                "a load of {lanes} elements of buffer {}, {}, gives no {dtype}",
                buffer.name, buffer.dtype
            ));
        }
        let predicate = self.predicate(predicate, lanes)?;
        let dst = self.reserve(dtype.lanes)?;
        self.emit(Inst::Load { dst, view, index, lanes: lanes.into(), predicate })?;
        Ok(dst)
    }

    fn ramp(&mut self, base: &Expr, stride: &Expr, lanes: u16, dtype: DType) -> Compiled<Reg> {
        self.expect(base, dtype.scalar(), "ramp")?;
        self.expect(stride, dtype.scalar(), "ramp")?;
        let add = kernels::binary(BinaryOp::Add, self.lane(dtype)?);
        let (Some(add), true) = (add, dtype.lanes == lanes && dtype.is_integer()) else {
            return self.malformed(format!("a ramp of {lanes} lanes is no {dtype}"));
        };
        let (base, stride) = (self.expr(base)?, self.expr(stride)?);
        let dst = self.reserve(lanes)?;
        self.emit(Inst::Ramp { dst, base, stride, lanes: lanes.into(), add })?;
        Ok(dst)
    }

    fn broadcast(&mut self, value: &Expr, lanes: u16, dtype: DType) -> Compiled<Reg> {
        self.expect(value, dtype.scalar(), "broadcast")?;
        if dtype.lanes != lanes {
            return self.malformed(format!("a broadcast to {lanes} lanes is no {dtype}"));
        }
        let src = self.expr(value)?;
        self.fill(src, lanes)
    }

    fn shuffle(&mut self, vectors: &[Expr], indices: &[u16], dtype: DType) -> Compiled<Reg> {
        let mut lanes = Vec::new();
        for vector in vectors {
            self.expect(vector, dtype.scalar().with_lanes(vector.dtype.lanes), "shuffle")?;
            let first = self.expr(vector)?;
            lanes.extend((0..u32::from(vector.dtype.lanes)).map(|lane| first + lane));
        }
        if indices.len() != usize::from(dtype.lanes) {
            return self.malformed(format!("a shuffle of {} lanes is no {dtype}", indices.len()));
        }
        let first = self.reserve(dtype.lanes)?;
        for (dst, index) in (first..).zip(indices) {
            let Some(&src) = lanes.get(usize::from(*index)) else {
                return self.malformed(format!("a shuffle takes lane {index} of {}", lanes.len()));
            };
            self.emit(Inst::Move { dst, src, lanes: 1 })?;
        }
        Ok(first)
    }

    pub(super) fn call(&mut self, name: &Arc<str>, args: &[Expr], dtype: DType) -> Compiled<Reg> {
        let Some(callee) = self.module.function(name) else {
            return self.malformed(format!("a call of {name}, which the module does not have"));
        };
        if args.len() != callee.params.len() {
            return self.malformed(format!(
                "{name} takes {} arguments, not {}",
                callee.params.len(),
                args.len()
            ));
        }
        match callee.ret {
            Some(ret) if ret == dtype && ret.is_scalar() => {}
            None if dtype.is_handle() => {}
            _ => return self.malformed(format!("{name} returns {:?}, not {dtype}", callee.ret)),
        }
        if self.threads.is_open() && super::threads::waits_or_shares(self.module, callee) {
            return self.unsupported(
                format!("{name}, which threads call and which waits for threads or shares memory: inline it"),
                dtype,
            );
        }
        let mut list = Vec::with_capacity(2 * args.len());
        for (arg, param) in args.iter().zip(&callee.params) {
            list.extend(self.argument(name, arg, param)?);
        }
        let number = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(Arc::clone(name));
            self.names.len() - 1
        });
        let list = self.list(&list);
        let dst = self.reserve(1)?;
        let n_args = args.len() as u32;
        self.emit(Inst::Call { function: number as u32, list, n_args, dst, lanes: 1 })?;
        Ok(dst)
    }

    /// Compiles an argument. A buffer's data variable is passed as the buffer if the callee has a
    /// buffer parameter for it.
    fn argument(&mut self, callee: &str, arg: &Expr, param: &Param) -> Compiled<[Reg; 2]> {
        match param {
            Param::Buffer(buffer) => {
                self.expect(arg, DType::HANDLE, callee)?;
                if let ExprKind::Var(var) = &arg.kind
                    && let Some(&view) = self.by_data.get(var)
                    && self.out.views.get(view as usize).is_some_and(|info| {
                        info.rank as usize == buffer.shape.len()
                            && Some(info.lane) == Lane::of(buffer.dtype)
                            && info.lanes == u32::from(buffer.dtype.lanes)
                    })
                {
                    self.share(view);
                    return Ok([1, view]);
                }
            }
            Param::Var(var) => self.expect(arg, var.dtype, callee)?,
        }
        Ok([0, self.expr(arg)?])
    }

    /// Binds the value of an expression for the rest of the scope, in its own register.
    pub(super) fn bind_value(&mut self, var: &Var, value: &Expr) -> Compiled<()> {
        self.expect(value, var.dtype, "let")?;
        let reg = self.named(var, value)?;
        self.bind(var, reg);
        self.threads.derive(var, &[value]);
        if let Some(range) = self.range(value) {
            self.ranges.insert(var.clone(), range);
        }
        Ok(())
    }

    /// Returns the range of an integer expression, if known, both ends included.
    pub(super) fn range(&self, expr: &Expr) -> Option<(i128, i128)> {
        let found = self.range_at(expr, 16)?;
        let (low, high) = expr.dtype.integer_range()?;
        (low <= found.0 && found.1 <= high).then_some(found)
    }

    fn range_at(&self, expr: &Expr, depth: u32) -> Option<(i128, i128)> {
        if depth == 0 || !expr.dtype.is_scalar() {
            return None;
        }
        match &expr.kind {
            ExprKind::Int(value) => Some((*value, *value)),
            ExprKind::Var(var) => self.ranges.get(var).copied(),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.range_at(a, depth - 1)?, self.range_at(b, depth - 1)?);
                let limits = expr.dtype.integer_range()?;
                let range = match op {
                    BinaryOp::Add => (a.0.checked_add(b.0)?, a.1.checked_add(b.1)?),
                    BinaryOp::Sub => (a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?),
                    BinaryOp::Mul if a.0 >= 0 && b.0 >= 0 => (a.0.checked_mul(b.0)?, a.1.checked_mul(b.1)?),
                    BinaryOp::FloorDiv if a.0 >= 0 && b.0 > 0 => (a.0 / b.1, a.1 / b.0),
                    BinaryOp::FloorMod if b.0 > 0 => (0, b.1 - 1),
                    _ => return None,
                };
                // A possible wrap makes the range invalid.
                (limits.0 <= range.0 && range.1 <= limits.1).then_some(range)
            }
            _ => None,
        }
    }
}

/// Returns true if evaluation can neither fail nor take long: arithmetic on variables and
/// constants.
fn is_safe(expr: &Expr, depth: u32) -> bool {
    if depth == 0 {
        return false;
    }
    match &expr.kind {
        ExprKind::Var(_) | ExprKind::Int(_) | ExprKind::Float(_) => true,
        ExprKind::Binary(_, a, b) | ExprKind::Compare(_, a, b) | ExprKind::And(a, b) | ExprKind::Or(a, b) => {
            is_safe(a, depth - 1) && is_safe(b, depth - 1)
        }
        ExprKind::Cast(a) | ExprKind::Not(a) => is_safe(a, depth - 1),
        _ => false,
    }
}
