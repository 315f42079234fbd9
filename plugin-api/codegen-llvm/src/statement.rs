//! Statements.

use std::collections::HashMap;

use chipdock_ir::analysis::is_pure;
use chipdock_ir::{AttrNode, Buffer, Callee, DType, Expr, ExprKind, Op, Span, Stmt, StmtKind, Var, attr};

use crate::control::Loop;
use crate::value::Value;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    pub(crate) fn stmt(&mut self, s: &'a Stmt) {
        if self.levels > crate::DEPTH_MAX {
            return self.refuse_stmt(s, format!("statements nested deeper than {} levels", crate::DEPTH_MAX));
        }
        self.levels += 1;
        let around = if s.span == Span::NONE { self.place } else { s.span };
        let around = std::mem::replace(&mut self.place, around);
        self.known = vec![HashMap::new()];
        self.locate();
        if !self.is_open() {
            // Unreachable statements are written too, so that unsupported nodes in them are found.
            let dead = self.label("dead");
            self.start(&dead);
        }
        self.stmt_kind(s);
        self.place = around;
        self.locate();
        self.levels -= 1;
    }

    fn stmt_kind(&mut self, s: &'a Stmt) {
        match &s.kind {
            StmtKind::Seq(stmts) => stmts.iter().for_each(|s| self.stmt(s)),
            StmtKind::Bind { var, value } => self.bind(var, value),
            StmtKind::Store { buffer, indices, value, predicate } => {
                self.store(s, buffer, indices, value, predicate.as_ref());
            }
            StmtKind::AllocBuffer { buffer, .. } => self.allocate(s, buffer),
            StmtKind::DeclBuffer { buffer, data } => self.declare_buffer(buffer, data.as_ref()),
            StmtKind::For { var, min, extent, kind, step, annotations, body } => {
                let step = step.as_ref();
                self.loop_or_tiles(s, &Loop { var, min, extent, step, kind: *kind, annotations, body });
            }
            StmtKind::While { condition, body } => self.while_loop(condition, body),
            StmtKind::If { condition, then, otherwise } => self.if_else(condition, then, otherwise.as_ref()),
            StmtKind::BlockRealize { block, .. } => {
                self.refuse_stmt(s, format!("block {}; lower blocks before code is generated", block.name));
            }
            StmtKind::Evaluate(value) => self.evaluate(s, value),
            StmtKind::Assert { condition, kind, message } => self.assert(s, condition, kind, message),
            StmtKind::Attr { node, key, value, body } if &**key == attr::NONTEMPORAL => {
                self.streaming(node, value, body);
            }
            StmtKind::Attr { body, .. } => self.stmt(body),
            StmtKind::LaunchThread { var, axis, body, .. } => self.thread(s, var, *axis, body),
            StmtKind::Return(value) => self.ret(value.as_ref()),
            StmtKind::Break => self.leave(s, false),
            StmtKind::Continue => self.leave(s, true),
        }
    }

    /// Binds a variable, unless it is never read and its value has no effect.
    pub(crate) fn bind(&mut self, var: &'a Var, value: &'a Expr) {
        let is_used = self.usage.uses(var.address());
        if !is_used && is_pure(value) {
            return;
        }
        let known_value = self.known_of(value);
        let is_position = self.diagnostics.is_empty() && self.positions.contains(value);
        let value = self.value(value);
        if !is_used {
            return;
        }
        self.know(var, value);
        self.ranges.learn(var, known_value);
        if is_position {
            self.positions.bind(var);
        }
    }

    /// Writes a statement whose stores bypass the caches (rule LLVM-V12).
    fn streaming(&mut self, node: &AttrNode, value: &Expr, body: &'a Stmt) {
        if value.as_int() == Some(0) {
            return self.stmt(body);
        }
        self.streams.push(match node {
            AttrNode::Buffer(buffer) => Some(buffer.data.address()),
            AttrNode::Var(var) => Some(var.address()),
            AttrNode::None | AttrNode::Reducer(_) => None,
        });
        self.stmt(body);
        self.streams.pop();
    }

    fn declare_buffer(&mut self, buffer: &'a Buffer, data: Option<&'a Expr>) {
        let Some(data) = data else { return };
        let address = buffer.data.address();
        if matches!(&data.kind, ExprKind::Var(var) if var.address() == address) || !self.usage.uses(address) {
            return;
        }
        let value = match &data.kind {
            ExprKind::ConstantData(bytes) => {
                let alignment = buffer.data_alignment_bytes.max(64);
                Value::new(self.constant_array(bytes, alignment), DType::HANDLE)
            }
            _ => self.value(data),
        };
        self.know(&buffer.data, value);
    }

    fn evaluate(&mut self, s: &'a Stmt, value: &'a Expr) {
        if let ExprKind::Call { callee: Callee::Op(Op::StorageSync), args } = &value.kind {
            return self.barrier(s, args);
        }
        if !is_pure(value) {
            self.value(value);
        }
    }

    fn barrier(&mut self, s: &'a Stmt, args: &'a [Expr]) {
        let scope = match args.first().map(|arg| &arg.kind) {
            Some(ExprKind::Str(scope)) => scope,
            _ => "",
        };
        match self.target.barrier(scope) {
            Ok(lines) => lines.iter().for_each(|line| self.effect(line)),
            Err(refusal) => self.refuse_stmt(s, refusal.0),
        }
    }

    fn ret(&mut self, value: Option<&'a Expr>) {
        match value {
            Some(value) if self.function.ret.is_some() => {
                let value = self.value(value);
                self.leave_function(Some(&value));
            }
            _ => self.leave_function(None),
        }
    }

    /// Makes stores that bypass the caches visible to other threads, in a function that has any:
    /// before, other threads see them in no particular order.
    pub(crate) fn store_fence(&mut self) {
        if !self.facts.streams {
            return;
        }
        match self.target.store_fence() {
            Some(name) => {
                let callee = self.declare("void", name, "");
                self.effect(format_args!("call void {callee}()"));
            }
            None => self.effect("fence seq_cst"),
        }
    }

    /// Ends the function with the given value.
    pub(crate) fn leave_function(&mut self, value: Option<&Value>) {
        self.store_fence();
        match value {
            Some(value) => self.terminate(format_args!("ret {}", value.typed())),
            // Validation ensures that a function with a return value returns on every path.
            None if self.function.ret.is_some() => self.terminate("unreachable"),
            None => self.terminate("ret void"),
        }
    }
}
