//! Statements, structured control flow, and loops of the generator's own.

use std::collections::HashMap;
use std::sync::Arc;

use chipdock_ir::analysis::is_pure;
use chipdock_ir::{
    AttrValue, Attrs, Buffer, Callee, DType, Expr, ExprKind, ForKind, Op as IrOp, Span, Stmt, StmtKind,
    ThreadAxis, Var, limits,
};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, LoopControl, MemorySemantics, Op, Scope, SelectionControl, Word};

use super::emitter::{Type, id};
use super::expression::ends_thread;
use super::value::{Value, register};
use super::writer::{Targets, Writer};

/// The parts of a loop.
struct Loop<'a> {
    var: &'a Var,
    min: &'a Expr,
    extent: &'a Expr,
    step: Option<&'a Expr>,
    kind: ForKind,
    annotations: &'a Attrs,
    body: &'a Stmt,
}

impl<'a> Writer<'a> {
    pub(super) fn stmt(&mut self, s: &'a Stmt) {
        if self.levels > limits::DEPTH_MAX {
            return self
                .refuse_stmt(s, format!("statements nested deeper than {} levels", limits::DEPTH_MAX));
        }
        if !self.out.is_open() {
            // Nothing reaches this statement.
            return;
        }
        self.levels += 1;
        let around = if s.span == Span::NONE { self.place } else { s.span };
        let around = std::mem::replace(&mut self.place, around);
        self.known = vec![HashMap::new()];
        self.locate();
        self.stmt_kind(s);
        self.place = around;
        self.locate();
        self.levels -= 1;
    }

    /// Gives the following instructions the line of the current statement.
    fn locate(&mut self) {
        let Some(file) = self.file else { return };
        let line = (self.place != Span::NONE).then_some((file, self.place.line, self.place.column));
        self.out.set_line(line);
    }

    fn stmt_kind(&mut self, s: &'a Stmt) {
        match &s.kind {
            StmtKind::Seq(stmts) => stmts.iter().for_each(|s| self.stmt(s)),
            StmtKind::Bind { var, value } => self.bind(var, value),
            StmtKind::Store { buffer, indices, value, predicate } => {
                self.store(s, buffer, indices, value, predicate.as_ref());
            }
            StmtKind::AllocBuffer { buffer, .. } => self.allocate(s.span, buffer),
            StmtKind::DeclBuffer { buffer, data } => self.declare_buffer(s, buffer, data.as_ref()),
            StmtKind::For { var, min, extent, kind, step, annotations, body } => {
                let step = step.as_ref();
                self.for_loop(s, &Loop { var, min, extent, step, kind: *kind, annotations, body });
            }
            StmtKind::While { condition, body } => self.while_loop(s, condition, body),
            StmtKind::If { condition, then, otherwise } => self.if_else(condition, then, otherwise.as_ref()),
            StmtKind::BlockRealize { block, .. } => {
                self.refuse_stmt(s, format!("block {}; lower blocks before code is generated", block.name));
            }
            StmtKind::Evaluate(value) => self.evaluate(s, value),
            StmtKind::Assert { .. } => {
                self.refuse_stmt(s, "has no assertions in kernels: a kernel reports no error");
            }
            StmtKind::Attr { body, .. } => self.stmt(body),
            StmtKind::LaunchThread { var, axis, extent, body } => self.thread(s, var, *axis, extent, body),
            StmtKind::Return(value) => self.ret(s, value.as_ref()),
            StmtKind::Break => self.leave(s, false),
            StmtKind::Continue => self.leave(s, true),
        }
    }

    /// Binds a variable, unless it is never read and its value has no effect.
    fn bind(&mut self, var: &'a Var, value: &'a Expr) {
        let is_used = self.usage.uses(var.address());
        if !is_used && is_pure(value) {
            return;
        }
        let is_position = self.diagnostics.is_empty() && self.positions.contains(value);
        let range = self.range(value);
        let value = self.value(value);
        if !is_used {
            return;
        }
        self.know(var, value);
        self.bind_range(var, range);
        if is_position {
            self.positions.bind(var);
        }
    }

    fn declare_buffer(&mut self, s: &'a Stmt, buffer: &'a Buffer, data: Option<&'a Expr>) {
        let Some(data) = data else { return };
        let address = buffer.data.address();
        let ExprKind::Var(var) = &data.kind else {
            if s.as_constant().is_some() && self.usage.uses(address) {
                let text = "has no constants of tensors (T.allocate_const)";
                self.refuse_stmt(s, format!("{text}; pass `{}` as an argument", buffer.name));
            } else if self.usage.uses(address) {
                self.refuse_stmt(s, "pointers are no values here; pass the buffer and an index");
            }
            return;
        };
        if var.address() != address
            && let Some(memory) = self.memories.get(&var.address()).cloned()
        {
            self.memories.insert(address, memory);
        }
    }

    fn evaluate(&mut self, s: &'a Stmt, value: &'a Expr) {
        if let ExprKind::Call { callee: Callee::Op(IrOp::StorageSync), args } = &value.kind {
            return self.barrier(s, args);
        }
        if ends_thread(value) {
            return self.ret(s, None);
        }
        if !is_pure(value) {
            self.value(value);
        }
    }

    /// A barrier of a block or of a warp: it orders shared memory, and global memory if the
    /// function writes any.
    fn barrier(&mut self, s: &'a Stmt, args: &'a [Expr]) {
        let name = match args.first().map(|arg| &arg.kind) {
            Some(ExprKind::Str(name)) => Arc::clone(name),
            _ => "".into(),
        };
        let scope = match &*name {
            "shared" | "shared.dyn" => Scope::Workgroup,
            "warp" => Scope::Subgroup,
            other => return self.refuse_stmt(s, format!("has no barrier of scope \"{other}\"")),
        };
        let mut semantics = MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::WORKGROUP_MEMORY;
        if self.uses.writes_global {
            semantics |= MemorySemantics::UNIFORM_MEMORY;
        }
        if self.environment.uses_vulkan_memory_model {
            semantics |= MemorySemantics::MAKE_AVAILABLE | MemorySemantics::MAKE_VISIBLE;
        }
        let (scope, semantics) = (self.out.word(scope as u32), self.out.word(semantics.bits()));
        let operands =
            vec![Operand::IdScope(scope), Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)];
        self.out.effect(Op::ControlBarrier, operands);
    }

    fn thread(&mut self, s: &'a Stmt, var: &'a Var, axis: ThreadAxis, extent: &'a Expr, body: &'a Stmt) {
        let (input, name, component) = match axis {
            ThreadAxis::BlockX => (BuiltIn::WorkgroupId, "block", 0),
            ThreadAxis::BlockY => (BuiltIn::WorkgroupId, "block", 1),
            ThreadAxis::BlockZ => (BuiltIn::WorkgroupId, "block", 2),
            ThreadAxis::ThreadX => (BuiltIn::LocalInvocationId, "thread", 0),
            ThreadAxis::ThreadY => (BuiltIn::LocalInvocationId, "thread", 1),
            ThreadAxis::ThreadZ => (BuiltIn::LocalInvocationId, "thread", 2),
            _ => return self.refuse_stmt(s, format!("has no axis {axis}")),
        };
        if !var.dtype.is_integer() || !var.dtype.is_scalar() || self.no_type(var.dtype).is_some() {
            return self.refuse_stmt(s, format!("a thread's index is an integer, found {}", var.dtype));
        }
        let all = self.out.input(input, Type::Words(3), name);
        let pointer_to = self.out.type_of(Type::Words(3));
        let vector = self.out.compute(Op::Load, pointer_to, vec![id(all)]);
        let index = self.part(vector, component, Type::Int(32));
        let index = Value::one(DType::UINT32, index);
        let value = self.cast(&index, var.dtype);
        self.know(var, value);
        let last = self.range(extent).1.saturating_sub(1);
        self.bind_range(var, (0, last.max(0)));
        self.positions.bind(var);
        self.stmt(body);
    }

    fn ret(&mut self, s: &'a Stmt, value: Option<&'a Expr>) {
        match (value, self.function.ret) {
            (Some(value), Some(ret)) => {
                let value = self.value(value);
                if value.dtype != ret {
                    return self.refuse_stmt(s, format!("returns {}, expected {ret}", value.dtype));
                }
                let result = if ret.is_scalar() {
                    value.first()
                } else {
                    let callable = self.callable.get(&self.function.name).map(|callable| callable.result);
                    let operands = value.lanes.iter().copied().map(id).collect();
                    self.out.compute(Op::CompositeConstruct, callable.unwrap_or_default(), operands)
                };
                self.out.terminate(Op::ReturnValue, vec![id(result)]);
            }
            (_, Some(_)) => self.out.terminate(Op::Unreachable, vec![]),
            (_, None) => self.out.terminate(Op::Return, vec![]),
        }
    }

    fn leave(&mut self, s: &'a Stmt, goes_on: bool) {
        match self.loops.last() {
            Some(targets) => {
                let to = if goes_on { targets.next } else { targets.done };
                self.out.jump(to);
            }
            None => self.refuse_stmt(s, "there is no loop around this"),
        }
    }

    // -- branches ---------------------------------------------------------------------------------

    /// Ends the block with a branch to one of two new blocks; returns them, and the block in which
    /// they merge.
    fn select_branch(&mut self, condition: Word, has_no: bool) -> [Word; 3] {
        let (yes, merge) = (self.out.id(), self.out.id());
        let no = if has_no { self.out.id() } else { merge };
        let operands = vec![id(merge), Operand::SelectionControl(SelectionControl::NONE)];
        self.out.effect(Op::SelectionMerge, operands);
        self.out.branch(condition, yes, no);
        [yes, no, merge]
    }

    fn if_else(&mut self, condition: &'a Expr, then: &'a Stmt, otherwise: Option<&'a Stmt>) {
        let otherwise = otherwise.filter(|s| !s.is_nop());
        let condition = self.value(condition);
        if condition.dtype != DType::BOOL {
            return self.report(Span::NONE, String::new(), "a condition that is no boolean".to_owned());
        }
        let [yes, no, merge] = self.select_branch(condition.first(), otherwise.is_some());
        self.out.start(yes);
        self.stmt(then);
        let mut is_reached = self.out.is_open() || otherwise.is_none();
        self.close(merge);
        if let Some(otherwise) = otherwise {
            self.out.start(no);
            self.stmt(otherwise);
            is_reached |= self.out.is_open();
            self.close(merge);
        }
        self.out.start(merge);
        if !is_reached {
            self.out.terminate(Op::Unreachable, vec![]);
        }
    }

    /// Jumps on if the block was not ended by another branch.
    fn close(&mut self, to: Word) {
        if self.out.is_open() {
            self.out.jump(to);
        }
    }

    /// A value that is computed only if a condition holds; another otherwise. Values of nodes that
    /// are written within are not known after it.
    pub(super) fn when(
        &mut self,
        condition: Word,
        dtype: DType,
        then: impl FnOnce(&mut Self) -> Value,
        otherwise: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let [yes, no, merge] = self.select_branch(condition, true);
        self.out.start(yes);
        self.known.push(HashMap::new());
        let then = then(self);
        self.known.pop();
        let after_then = self.out.block_label();
        self.out.jump(merge);
        self.out.start(no);
        self.known.push(HashMap::new());
        let otherwise = otherwise(self);
        self.known.pop();
        let after_otherwise = self.out.block_label();
        self.out.jump(merge);
        self.out.start(merge);
        let of = self.out.type_of(register(dtype));
        let lanes =
            then.lanes.iter().zip(&otherwise.lanes).map(|(then, otherwise)| {
                self.out.phi(of, &[(*then, after_then), (*otherwise, after_otherwise)])
            });
        Value { dtype, lanes: lanes.collect() }
    }

    /// Runs a part without a value only if a condition holds.
    pub(super) fn only_when(&mut self, condition: Word, then: impl FnOnce(&mut Self)) {
        let [yes, _, merge] = self.select_branch(condition, false);
        self.out.start(yes);
        self.known.push(HashMap::new());
        then(self);
        self.known.pop();
        self.close(merge);
        self.out.start(merge);
    }

    // -- loops ------------------------------------------------------------------------------------

    fn for_loop(&mut self, s: &'a Stmt, l: &Loop<'a>) {
        if let ForKind::ThreadBinding(axis) = l.kind {
            return self.thread(s, l.var, axis, l.extent, l.body);
        }
        let dtype = l.var.dtype;
        if !dtype.is_int() || !dtype.is_scalar() || self.no_type(dtype).is_some() {
            return self.refuse_stmt(s, format!("a loop counts in int32 or int64, not in {dtype}"));
        }
        let (start, extent) = (self.value(l.min), self.value(l.extent));
        let step = l.step.filter(|step| step.as_int() != Some(1)).map(|step| self.value(step));
        if start.dtype != dtype || extent.dtype != dtype {
            return self.refuse_stmt(s, format!("bounds of types {} and {}", start.dtype, extent.dtype));
        }
        let of = register(dtype);
        // An int64 that counts to an int32 counts in 32 bits.
        let narrow = if of == Type::Int(64) { self.out.narrow(extent.first()) } else { None };
        let counts_in = if narrow.is_some() { DType::INT32 } else { dtype };
        let type_id = self.out.type_of(register(counts_in));
        let [head, body, next, done] = [(); 4].map(|()| self.out.id());
        let (count, following) = (self.out.id(), self.out.id());
        let zero = self.lane_of_integer(0, counts_in);
        let before = self.out.block_label();
        self.out.jump(head);
        self.out.start(head);
        self.out.phi_as(count, type_id, &[(zero, before), (following, next)]);
        let end = narrow.unwrap_or(extent.first());
        let goes_on = if register(counts_in) == Type::Int(64) {
            self.long_order(Op::SLessThan, count, end)
        } else {
            self.out.op(Op::SLessThan, Type::Bool, &[count, end])
        };
        self.loop_merge(done, next, control_of(l));
        self.out.branch(goes_on, body, done);
        self.out.start(body);
        let mut value = if narrow.is_some() { self.out.sign_extended(count) } else { count };
        if let Some(step) = &step {
            value = self.out.op(Op::IMul, of, &[value, step.first()]);
        }
        if l.min.as_int() != Some(0) {
            value = self.out.op(Op::IAdd, of, &[start.first(), value]);
        }
        self.know(l.var, Value::one(dtype, value));
        self.bind_loop(l.var, l.min, l.extent, l.step);
        self.positions.bind(l.var);
        self.loops.push(Targets { next, done });
        self.stmt(l.body);
        self.loops.pop();
        self.close(next);
        self.out.start(next);
        let one = self.lane_of_integer(1, counts_in);
        self.out.op_as(following, Op::IAdd, type_id, &[count, one]);
        self.out.jump(head);
        self.out.start(done);
    }

    fn while_loop(&mut self, s: &'a Stmt, condition: &'a Expr, body: &'a Stmt) {
        let [head, test, inner, next, done] = [(); 5].map(|()| self.out.id());
        self.out.jump(head);
        self.out.start(head);
        self.loop_merge(done, next, LoopControl::NONE);
        self.out.jump(test);
        self.out.start(test);
        let condition = self.value(condition);
        if condition.dtype != DType::BOOL {
            self.refuse_stmt(s, "a condition that is no boolean");
        }
        self.out.branch(condition.first(), inner, done);
        self.out.start(inner);
        self.loops.push(Targets { next, done });
        self.stmt(body);
        self.loops.pop();
        self.close(next);
        self.out.start(next);
        self.out.jump(head);
        self.out.start(done);
    }

    fn loop_merge(&mut self, done: Word, next: Word, control: LoopControl) {
        self.out.effect(Op::LoopMerge, vec![id(done), id(next), Operand::LoopControl(control)]);
    }

    /// A loop over a state of words: `condition` sees it and `body` returns the next one. Returns
    /// the last state.
    pub(super) fn repeat<const N: usize>(
        &mut self,
        of: Type,
        first: [Word; N],
        condition: impl FnOnce(&mut Self, [Word; N]) -> Word,
        body: impl FnOnce(&mut Self, [Word; N]) -> [Word; N],
    ) -> [Word; N] {
        let [head, inner, next, done] = [(); 4].map(|()| self.out.id());
        let (state, following) = (first.map(|_| self.out.id()), first.map(|_| self.out.id()));
        let type_id = self.out.type_of(of);
        let before = self.out.block_label();
        self.out.jump(head);
        self.out.start(head);
        for ((state, first), following) in state.iter().zip(first).zip(following) {
            self.out.phi_as(*state, type_id, &[(first, before), (following, next)]);
        }
        let goes_on = condition(self, state);
        self.loop_merge(done, next, LoopControl::NONE);
        self.out.branch(goes_on, inner, done);
        self.out.start(inner);
        let results = body(self, state);
        self.out.jump(next);
        self.out.start(next);
        for (following, result) in following.iter().zip(results) {
            self.out.compute_as(*following, Op::CopyObject, type_id, vec![id(result)]);
        }
        self.out.jump(head);
        self.out.start(done);
        state
    }
}

/// What a driver should do with a loop.
fn control_of(l: &Loop<'_>) -> LoopControl {
    match l.annotations.get("pragma_unroll") {
        Some(AttrValue::Int(0) | AttrValue::Bool(false)) => LoopControl::DONT_UNROLL,
        Some(_) => LoopControl::UNROLL,
        None if l.kind == ForKind::Unrolled => LoopControl::UNROLL,
        None => LoopControl::NONE,
    }
}
