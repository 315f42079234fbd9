//! The comparison, node by node.

use super::{Comparer, Outcome, Step, flat};
use crate::print::stmt::stride;
use crate::{
    AttrNode, Block, Expr, ExprKind, IterVar, MatchBufferRegion, Reducer, Stmt, StmtKind, Var, print,
};

impl Comparer {
    pub(super) fn expr(&mut self, a: &Expr, b: &Expr) -> Outcome {
        let pair = (a.address(), b.address());
        if self.equal.contains(&pair) {
            return Ok(());
        }
        self.same("dtype", &a.dtype, &b.dtype)?;
        self.expr_kind(a, b)?;
        self.equal.insert(pair);
        Ok(())
    }

    fn reducer(&mut self, a: &Reducer, b: &Reducer) -> Outcome {
        let pairs = |a: &[Var], b: &[Var]| a.iter().cloned().zip(b.iter().cloned()).collect::<Vec<_>>();
        let vars: Vec<_> = [pairs(&a.lhs, &b.lhs), pairs(&a.rhs, &b.rhs)].concat();
        vars.iter().for_each(|(a, b)| self.unbind(a, b));
        self.list("lhs", &a.lhs, &b.lhs, Self::var)?;
        self.list("rhs", &a.rhs, &b.rhs, Self::var)?;
        self.list("result", &a.result, &b.result, Self::expr)?;
        self.list("identity", &a.identity, &b.identity, Self::expr)
    }

    fn field(&mut self, what: &'static str, a: &Expr, b: &Expr) -> Outcome {
        self.within(Step::Field(what), |c| c.expr(a, b))
    }

    fn expr_kind(&mut self, a: &Expr, b: &Expr) -> Outcome {
        use ExprKind as K;
        match (&a.kind, &b.kind) {
            (K::Var(a), K::Var(b)) => self.var(a, b),
            (K::Int(x), K::Int(y)) if x == y => Ok(()),
            (K::Float(x), K::Float(y)) if x == y => Ok(()),
            (K::Str(x), K::Str(y)) if x == y => Ok(()),
            (K::ConstantData(x), K::ConstantData(y)) if x == y => Ok(()),
            (K::Cast(a), K::Cast(b)) | (K::Not(a), K::Not(b)) => self.field("value", a, b),
            (K::Binary(op, a0, a1), K::Binary(other, b0, b1)) if op == other => {
                self.field("left", a0, b0)?;
                self.field("right", a1, b1)
            }
            (K::Compare(op, a0, a1), K::Compare(other, b0, b1)) if op == other => {
                self.field("left", a0, b0)?;
                self.field("right", a1, b1)
            }
            (K::And(a0, a1), K::And(b0, b1)) | (K::Or(a0, a1), K::Or(b0, b1)) => {
                self.field("left", a0, b0)?;
                self.field("right", a1, b1)
            }
            (K::Select(a0, a1, a2), K::Select(b0, b1, b2)) => {
                self.field("condition", a0, b0)?;
                self.field("then", a1, b1)?;
                self.field("otherwise", a2, b2)
            }
            (
                K::Load { buffer: x, indices: i, predicate: p },
                K::Load { buffer: y, indices: j, predicate: q },
            ) => {
                self.within(Step::Field("buffer"), |c| c.buffer(x, y))?;
                self.exprs("indices", i, j)?;
                self.optional("predicate", p, q, Self::expr)
            }
            (K::Ramp { base: x, stride: s, lanes: n }, K::Ramp { base: y, stride: t, lanes: m })
                if n == m =>
            {
                self.field("base", x, y)?;
                self.field("stride", s, t)
            }
            (K::Broadcast { value: x, lanes: n }, K::Broadcast { value: y, lanes: m }) if n == m => {
                self.field("value", x, y)
            }
            (K::Shuffle { vectors: x, indices: i }, K::Shuffle { vectors: y, indices: j }) if i == j => {
                self.exprs("vectors", x, y)
            }
            (K::Let { var: u, value: x, body: a }, K::Let { var: v, value: y, body: b }) => {
                self.field("value", x, y)?;
                self.unbind(u, v);
                self.within(Step::Field("var"), |c| c.var(u, v))?;
                self.field("body", a, b)
            }
            (K::Call { callee: f, args: x }, K::Call { callee: g, args: y }) if f == g => {
                self.exprs("args", x, y)
            }
            _ => self.differ(&format!("`{}`", print::expr_line(a)), &format!("`{}`", print::expr_line(b))),
        }
    }

    pub(super) fn stmt(&mut self, a: &Stmt, b: &Stmt) -> Outcome {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        flat(a, 0, &mut left);
        flat(b, 0, &mut right);
        for (index, (a, b)) in left.iter().zip(&right).enumerate() {
            self.within(Step::Item("stmt", index), |c| c.stmt_kind(a, b))?;
        }
        self.count("statements", left.len(), right.len())
    }

    fn stmt_kind(&mut self, a: &Stmt, b: &Stmt) -> Outcome {
        use StmtKind as K;
        match (&a.kind, &b.kind) {
            (K::Bind { var: u, value: x }, K::Bind { var: v, value: y }) => {
                self.field("value", x, y)?;
                self.within(Step::Field("var"), |c| c.var(u, v))
            }
            (
                K::Store { buffer: x, indices: i, value: v, predicate: p },
                K::Store { buffer: y, indices: j, value: w, predicate: q },
            ) => {
                self.within(Step::Field("buffer"), |c| c.buffer(x, y))?;
                self.exprs("indices", i, j)?;
                self.field("value", v, w)?;
                self.optional("predicate", p, q, Self::expr)
            }
            (K::AllocBuffer { buffer: x, annotations: n }, K::AllocBuffer { buffer: y, annotations: m }) => {
                self.within(Step::Field("buffer"), |c| c.buffer(x, y))?;
                self.attrs("annotations", n, m)
            }
            (K::DeclBuffer { buffer: x, data: p }, K::DeclBuffer { buffer: y, data: q }) => {
                self.optional("data", p, q, Self::expr)?;
                self.within(Step::Field("buffer"), |c| c.buffer(x, y))
            }
            (K::Evaluate(x), K::Evaluate(y)) => self.field("value", x, y),
            (K::Return(x), K::Return(y)) => self.optional("value", x, y, Self::expr),
            (K::Break, K::Break) | (K::Continue, K::Continue) => Ok(()),
            (
                K::Assert { condition: x, kind: k, message: n },
                K::Assert { condition: y, kind: l, message: m },
            ) => {
                self.field("condition", x, y)?;
                self.same("kind", k, l)?;
                self.exprs("message", n, m)
            }
            _ => self.nest(a, b),
        }
    }

    /// Compares statements that contain statements.
    fn nest(&mut self, a: &Stmt, b: &Stmt) -> Outcome {
        use StmtKind as K;
        match (&a.kind, &b.kind) {
            (K::For { .. }, K::For { .. }) => self.for_loop(a, b),
            (K::While { condition: x, body: s }, K::While { condition: y, body: t }) => {
                self.field("condition", x, y)?;
                self.within(Step::Field("body"), |c| c.stmt(s, t))
            }
            (
                K::If { condition: x, then: s, otherwise: o },
                K::If { condition: y, then: t, otherwise: p },
            ) => {
                self.field("condition", x, y)?;
                self.within(Step::Field("then"), |c| c.stmt(s, t))?;
                self.optional("otherwise", o, p, Self::stmt)
            }
            (
                K::BlockRealize { iter_values: i, predicate: p, block: s },
                K::BlockRealize { iter_values: j, predicate: q, block: t },
            ) => {
                self.exprs("iter_values", i, j)?;
                self.field("predicate", p, q)?;
                self.within(Step::Field("block"), |c| c.block(s, t))
            }
            (
                K::Attr { node: n, key: k, value: x, body: s },
                K::Attr { node: m, key: l, value: y, body: t },
            ) => {
                self.same("key", k, l)?;
                self.within(Step::Field("node"), |c| match (n, m) {
                    (AttrNode::None, AttrNode::None) => Ok(()),
                    (AttrNode::Buffer(n), AttrNode::Buffer(m)) => c.buffer(n, m),
                    (AttrNode::Var(n), AttrNode::Var(m)) => c.var(n, m),
                    (AttrNode::Reducer(n), AttrNode::Reducer(m)) => c.reducer(n, m),
                    _ => c.differ(&format!("{n:?}"), &format!("{m:?}")),
                })?;
                self.field("value", x, y)?;
                self.within(Step::Field("body"), |c| c.stmt(s, t))
            }
            (
                K::LaunchThread { var: u, axis: k, extent: x, body: s },
                K::LaunchThread { var: v, axis: l, extent: y, body: t },
            ) => {
                self.same("axis", k, l)?;
                self.field("extent", x, y)?;
                self.within(Step::Field("var"), |c| c.var(u, v))?;
                self.within(Step::Field("body"), |c| c.stmt(s, t))
            }
            _ => self.differ(&format!("`{}`", print::stmt_line(a)), &format!("`{}`", print::stmt_line(b))),
        }
    }

    fn for_loop(&mut self, a: &Stmt, b: &Stmt) -> Outcome {
        let (
            StmtKind::For { var, min, extent, kind, step, annotations, body },
            StmtKind::For {
                var: other_var,
                min: other_min,
                extent: other_extent,
                kind: other_kind,
                step: other_step,
                annotations: other_annotations,
                body: other_body,
            },
        ) = (&a.kind, &b.kind)
        else {
            return Ok(());
        };
        self.same("kind", kind, other_kind)?;
        self.field("min", min, other_min)?;
        self.field("extent", extent, other_extent)?;
        let (step, other_step) = (stride(step).cloned(), stride(other_step).cloned());
        self.optional("step", &step, &other_step, Self::expr)?;
        self.attrs("annotations", annotations, other_annotations)?;
        self.within(Step::Field("var"), |c| c.var(var, other_var))?;
        self.within(Step::Field("body"), |c| c.stmt(body, other_body))
    }

    fn block(&mut self, a: &Block, b: &Block) -> Outcome {
        self.same("name", &a.name, &b.name)?;
        self.list("iter_vars", &a.iter_vars, &b.iter_vars, Self::iter_var)?;
        self.list("alloc_buffers", &a.alloc_buffers, &b.alloc_buffers, Self::buffer)?;
        self.list("match_buffers", &a.match_buffers, &b.match_buffers, Self::match_buffer)?;
        self.optional("reads", &a.reads, &b.reads, |c, a, b| c.list("region", a, b, Self::region))?;
        self.optional("writes", &a.writes, &b.writes, |c, a, b| c.list("region", a, b, Self::region))?;
        self.attrs("annotations", &a.annotations, &b.annotations)?;
        self.optional("init", &a.init, &b.init, Self::stmt)?;
        self.within(Step::Field("body"), |c| c.stmt(&a.body, &b.body))
    }

    fn iter_var(&mut self, a: &IterVar, b: &IterVar) -> Outcome {
        self.same("kind", &a.kind, &b.kind)?;
        self.field("min", &a.min, &b.min)?;
        self.field("extent", &a.extent, &b.extent)?;
        self.within(Step::Field("var"), |c| c.var(&a.var, &b.var))
    }

    fn match_buffer(&mut self, a: &MatchBufferRegion, b: &MatchBufferRegion) -> Outcome {
        self.within(Step::Field("source"), |c| c.region(&a.source, &b.source))?;
        self.within(Step::Field("buffer"), |c| c.buffer(&a.buffer, &b.buffer))
    }
}
