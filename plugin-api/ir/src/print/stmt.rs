//! Prints statements.

use std::collections::HashSet;
use std::fmt::Write;

use super::Printer;
use super::expr::says_type;
use super::function::BufferContext;
use super::literal::{quoted, var_type};
use crate::{
    AttrNode, Attrs, Block, Buffer, BufferRegion, Expr, ExprKind, ForKind, IterKind, IterVar, Range, Reducer,
    Stmt, StmtKind, Var,
};

/// Returns the variable, extent and body of a loop that `T.grid` can express.
fn plain_loop(stmt: &Stmt) -> Option<(&Var, &Expr, &Stmt)> {
    match &stmt.kind {
        StmtKind::For { var, min, extent, kind: ForKind::Serial, step, annotations, body }
            if min.as_int() == Some(0) && stride(step).is_none() && annotations.is_empty() =>
        {
            Some((var, extent, body))
        }
        _ => None,
    }
}

/// Returns the step of a loop, if it is not 1.
pub(crate) fn stride(step: &Option<Expr>) -> Option<&Expr> {
    step.as_ref().filter(|step| step.as_int() != Some(1))
}

/// Returns directly nested loops, none of whose extents uses a variable of another, and their body.
fn grid(stmt: &Stmt) -> (Vec<(&Var, &Expr)>, &Stmt) {
    let mut loops: Vec<(&Var, &Expr)> = Vec::new();
    let mut body = stmt;
    while let Some((var, extent, inner)) = plain_loop(body) {
        let mut depends = false;
        extent.walk(&mut |e| {
            depends |= matches!(&e.kind, ExprKind::Var(v) if loops.iter().any(|(outer, _)| *outer == v));
        });
        if depends {
            break;
        }
        loops.push((var, extent));
        body = inner;
    }
    (loops, body)
}

fn flat<'a>(stmt: &'a Stmt, depth: usize, out: &mut Vec<&'a Stmt>) {
    match &stmt.kind {
        StmtKind::Seq(stmts) if depth < super::DEPTH_MAX => {
            stmts.iter().for_each(|s| flat(s, depth + 1, out));
        }
        _ => out.push(stmt),
    }
}

/// Returns the end of a range, by rule 4 of the module.
fn end(min: &Expr, extent: &Expr) -> Expr {
    match (min.as_int(), extent.as_int()) {
        (Some(0), _) => extent.clone(),
        (Some(a), Some(b)) if a.checked_add(b).is_some_and(|end| min.dtype.wrap(end) == end) => {
            Expr::int(a.wrapping_add(b), min.dtype)
        }
        _ => min + extent,
    }
}

impl Printer {
    /// Prints a statement as a body: in a scope of its own, `pass` if it is empty.
    pub(super) fn body(&mut self, stmt: &Stmt) {
        let mut stmts = Vec::new();
        flat(stmt, 0, &mut stmts);
        if stmts.is_empty() {
            self.line("pass");
            return;
        }
        self.names.open();
        for stmt in stmts {
            if self.depth >= super::DEPTH_MAX || self.out.len() > self.limit {
                self.line("...");
                break;
            }
            self.depth += 1;
            self.stmt(stmt);
            self.depth -= 1;
        }
        self.names.close();
    }

    /// Prints a line with what `head` prints, and the body indented below it.
    fn nest(&mut self, head: impl FnOnce(&mut Self), body: &Stmt) {
        self.begin();
        head(self);
        self.out.push_str(":\n");
        self.indent += 1;
        self.body(body);
        self.indent -= 1;
    }

    /// Prints a line of one word, and an expression after it.
    fn word(&mut self, word: &str, value: Option<&Expr>) {
        self.begin();
        self.out.push_str(word);
        if let Some(value) = value {
            self.out.push(' ');
            self.expr(value);
        }
        self.out.push('\n');
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            // Sequences are flat here, unless they nest too deep.
            StmtKind::Seq(_) => self.line("..."),
            StmtKind::Bind { var, value } => self.bind(var, value),
            StmtKind::Store { buffer, indices, value, predicate } => {
                self.store(buffer, indices, value, predicate.as_ref());
            }
            StmtKind::AllocBuffer { buffer, annotations } => self.alloc("alloc_buffer", buffer, annotations),
            StmtKind::DeclBuffer { buffer, data } => self.decl(buffer, data.as_ref()),
            StmtKind::For { .. } => self.for_loop(stmt),
            StmtKind::While { condition, body } => self.nest(
                |p| {
                    p.out.push_str("while ");
                    p.expr(condition);
                },
                body,
            ),
            StmtKind::If { condition, then, otherwise } => {
                self.if_then(condition, then, otherwise.as_ref());
            }
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                self.block(iter_values, predicate, block);
            }
            StmtKind::Evaluate(value) => self.evaluate(value),
            StmtKind::Assert { condition, kind, message } => self.assert(condition, kind, message),
            StmtKind::Attr { node, key, value, body } => self.attr(node, key, value, body),
            StmtKind::LaunchThread { var, axis, extent, body } => {
                self.begin();
                let _ = write!(self.out, "with T.launch_thread(\"{axis}\", ");
                self.expr(extent);
                self.names.open();
                let name = self.names.bind(var);
                let _ = writeln!(self.out, ") as {name}:");
                self.indent += 1;
                self.body(body);
                self.indent -= 1;
                self.names.close();
            }
            StmtKind::Return(value) => self.word("return", value.as_ref()),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
        }
    }

    fn bind(&mut self, var: &Var, value: &Expr) {
        let start = self.out.len();
        if var.pointer.is_some() && says_type(value) {
            self.typed = Some(format!("{}.ty", var_type(var)));
        }
        self.expr(value);
        let value = self.out.split_off(start);
        let name = self.names.bind(var);
        // TVM has no name for the type of every vector; the value has the same type.
        let annotation = match var.dtype.is_scalar() {
            true => format!("[{}]", var_type(var)),
            false => String::new(),
        };
        self.line(&format!("{name}: T.let{annotation} = {value}"));
    }

    fn evaluate(&mut self, value: &Expr) {
        self.begin();
        if matches!(value.kind, ExprKind::Call { .. }) {
            self.expr(value);
            self.out.push('\n');
        } else {
            self.out.push_str("T.evaluate(");
            self.expr(value);
            self.out.push_str(")\n");
        }
    }

    fn assert(&mut self, condition: &Expr, kind: &str, message: &[Expr]) {
        self.begin();
        self.out.push_str("assert ");
        self.expr(condition);
        let _ = write!(self.out, ", ({}, [", quoted(kind));
        self.list(message, Self::expr);
        self.out.push_str("])\n");
    }

    fn attr(&mut self, node: &AttrNode, key: &str, value: &Expr, body: &Stmt) {
        self.nest(
            |p| {
                p.out.push_str("with T.attr(");
                let name = match node {
                    AttrNode::None => None,
                    AttrNode::Buffer(buffer) => Some(p.names.buffer(buffer)),
                    AttrNode::Var(var) => Some(p.names.var(var)),
                    AttrNode::Reducer(reducer) => {
                        p.reducer(reducer);
                        let _ = write!(p.out, ", {}, ", quoted(key));
                        p.expr(value);
                        p.out.push(')');
                        return;
                    }
                };
                match &name {
                    Some(name) => {
                        let _ = write!(p.out, "{name}, {}, ", quoted(key));
                    }
                    None => {
                        let _ = write!(p.out, "{{{}: ", quoted(key));
                    }
                }
                p.expr(value);
                p.out.push_str(if name.is_some() { ")" } else { "})" });
            },
            body,
        );
    }

    fn reducer(&mut self, reducer: &Reducer) {
        self.names.open();
        let params: Vec<_> = reducer.lhs.iter().chain(&reducer.rhs).map(|var| self.names.bind(var)).collect();
        let _ = write!(self.out, "T.comm_reducer(lambda {}: ", params.join(", "));
        let several = reducer.result.len() != 1;
        self.out.push_str(if several { "(" } else { "" });
        self.list(&reducer.result, Self::expr);
        self.out.push_str(if several { ")" } else { "" });
        self.names.close();
        self.out.push_str(", [");
        self.list(&reducer.identity, Self::expr);
        self.out.push_str("])");
    }

    fn store(&mut self, buffer: &Buffer, indices: &[Expr], value: &Expr, predicate: Option<&Expr>) {
        self.begin();
        let name = self.names.buffer(buffer);
        match predicate {
            None => {
                self.out.push_str(&name);
                self.out.push('[');
                if indices.is_empty() {
                    self.out.push_str("()");
                }
                self.list(indices, Self::store_index);
                self.out.push_str("] = ");
                self.expr(value);
            }
            Some(predicate) => {
                let _ = write!(self.out, "T.masked_store({name}, ");
                self.list([value].into_iter().chain(indices).chain([predicate]), Self::expr);
                self.out.push(')');
            }
        }
        self.out.push('\n');
    }

    fn store_index(&mut self, index: &Expr) {
        match &index.kind {
            ExprKind::Ramp { base, stride, lanes } if stride.as_int() == Some(1) => {
                self.slice(base, &Expr::int((*lanes).into(), base.dtype));
            }
            _ => self.expr(index),
        }
    }

    fn slice(&mut self, min: &Expr, extent: &Expr) {
        self.expr(min);
        self.out.push(':');
        self.expr(&end(min, extent));
    }

    fn if_then(&mut self, condition: &Expr, then: &Stmt, otherwise: Option<&Stmt>) {
        self.nest(
            |p| {
                p.out.push_str("if ");
                p.expr(condition);
            },
            then,
        );
        if let Some(otherwise) = otherwise {
            self.nest(|p| p.out.push_str("else"), otherwise);
        }
    }

    fn for_loop(&mut self, stmt: &Stmt) {
        let (loops, body) = grid(stmt);
        if loops.len() > 1 {
            return self.grid(&loops, body);
        }
        let StmtKind::For { var, min, extent, kind, step, annotations, body } = &stmt.kind else { return };
        let start = self.out.len();
        self.domain(min, extent, *kind, stride(step), annotations);
        let domain = self.out.split_off(start);
        self.names.open();
        let name = self.names.bind(var);
        self.line(&format!("for {name} in {domain}:"));
        if min.as_int() == Some(0) && stride(step).is_none() {
            self.loops.insert(var.clone(), extent.clone());
        }
        self.indent += 1;
        self.body(body);
        self.indent -= 1;
        self.loops.remove(var);
        self.names.close();
    }

    fn grid(&mut self, loops: &[(&Var, &Expr)], body: &Stmt) {
        self.begin();
        let start = self.out.len();
        self.list(loops, |p, (_, extent)| p.expr(extent));
        let extents = self.out.split_off(start);
        self.names.open();
        self.out.push_str("for ");
        self.list(loops, |p, (var, extent)| {
            let name = p.names.bind(var);
            p.out.push_str(&name);
            p.loops.insert((*var).clone(), (*extent).clone());
        });
        let _ = writeln!(self.out, " in T.grid({extents}):");
        self.indent += 1;
        self.body(body);
        self.indent -= 1;
        for (var, _) in loops {
            self.loops.remove(var);
        }
        self.names.close();
    }

    /// Prints the domain of a loop: `range(n)`, `T.parallel(2, n, annotations={…})`.
    fn domain(&mut self, min: &Expr, extent: &Expr, kind: ForKind, step: Option<&Expr>, annotations: &Attrs) {
        self.out.push_str(match kind {
            ForKind::Serial if step.is_none() && annotations.is_empty() => "range(",
            ForKind::Serial => "T.serial(",
            ForKind::Parallel => "T.parallel(",
            ForKind::Vectorized => "T.vectorized(",
            ForKind::Unrolled => "T.unroll(",
            ForKind::ThreadBinding(_) => "T.thread_binding(",
        });
        let extent = match step {
            None => extent.clone(),
            Some(step) => match (extent.as_int(), step.as_int()) {
                (Some(a), Some(b)) if a.checked_mul(b).is_some_and(|end| extent.dtype.wrap(end) == end) => {
                    Expr::int(a.wrapping_mul(b), extent.dtype)
                }
                _ => extent * step,
            },
        };
        if min.as_int() != Some(0) || step.is_some() {
            self.expr(min);
            self.out.push_str(", ");
        }
        self.expr(&end(min, &extent));
        if let ForKind::ThreadBinding(axis) = kind {
            let _ = write!(self.out, ", thread=\"{axis}\"");
        }
        if let Some(step) = step {
            self.out.push_str(", step=");
            self.expr(step);
        }
        self.annotations(annotations);
        self.out.push(')');
    }

    fn block(&mut self, iter_values: &[Expr], predicate: &Expr, block: &Block) {
        self.begin();
        let _ = writeln!(self.out, "with T.sblock({}):", quoted(&block.name));
        self.indent += 1;
        self.names.open();
        let start = self.out.len();
        self.axes(iter_values, &block.iter_vars);
        if predicate.as_int() != Some(1) {
            self.begin();
            self.out.push_str("T.where(");
            self.expr(predicate);
            self.out.push_str(")\n");
        }
        for (call, regions) in [("reads", &block.reads), ("writes", &block.writes)] {
            if let Some(regions) = regions {
                self.begin();
                let _ = write!(self.out, "T.{call}(");
                self.list(regions, Self::region);
                self.out.push_str(")\n");
            }
        }
        if !block.annotations.is_empty() {
            self.begin();
            self.out.push_str("T.sblock_attr(");
            self.attrs(&block.annotations);
            self.out.push_str(")\n");
        }
        for buffer in &block.alloc_buffers {
            self.alloc("sblock_alloc_buffer", buffer, &Attrs::new());
        }
        for view in &block.match_buffers {
            self.match_buffer(&view.buffer, &view.source);
        }
        if let Some(init) = &block.init {
            self.nest(|p| p.out.push_str("with T.init()"), init);
        }
        // A block that does nothing still needs a line.
        if !block.body.is_nop() || self.out.len() == start {
            self.body(&block.body);
        }
        self.names.close();
        self.indent -= 1;
    }

    /// Prints the axes of a block; consecutive whole loops are one `T.axis.remap`.
    fn axes(&mut self, values: &[Expr], axes: &[IterVar]) {
        let pairs: Vec<(&IterVar, &Expr)> = axes.iter().zip(values).collect();
        let mut rest = pairs.as_slice();
        while let Some((first, tail)) = rest.split_first() {
            let run = rest.iter().take_while(|(axis, value)| self.is_whole_loop(axis, value)).count();
            if run >= 2 {
                let (now, later) = rest.split_at(run);
                self.remap(now);
                rest = later;
            } else {
                self.axis(first.0, first.1);
                rest = tail;
            }
        }
    }

    fn is_whole_loop(&self, axis: &IterVar, value: &Expr) -> bool {
        let ExprKind::Var(var) = &value.kind else { return false };
        matches!(axis.kind, IterKind::Spatial | IterKind::Reduce)
            && axis.min.as_int() == Some(0)
            && self.loops.get(var).is_some_and(|extent| *extent == axis.extent)
    }

    fn remap(&mut self, axes: &[(&IterVar, &Expr)]) {
        self.begin();
        let start = self.out.len();
        self.list(axes, |p, (_, value)| p.expr(value));
        let values = self.out.split_off(start);
        self.list(axes, |p, (axis, _)| {
            let name = p.names.bind(&axis.var);
            p.out.push_str(&name);
        });
        let kinds: String =
            axes.iter().map(|(axis, _)| if axis.kind == IterKind::Reduce { 'R' } else { 'S' }).collect();
        let _ = writeln!(self.out, " = T.axis.remap(\"{kinds}\", [{values}])");
    }

    fn axis(&mut self, axis: &IterVar, value: &Expr) {
        let start = self.out.len();
        if axis.min.as_int() == Some(0) {
            self.expr(&axis.extent);
        } else {
            self.out.push('(');
            self.list([&axis.min, &end(&axis.min, &axis.extent)], Self::expr);
            self.out.push(')');
        }
        self.out.push_str(", ");
        self.expr(value);
        let text = self.out.split_off(start);
        let kind = match axis.kind {
            IterKind::Spatial => "spatial",
            IterKind::Reduce => "reduce",
            IterKind::Ordered => "scan",
            IterKind::Opaque => "opaque",
        };
        let name = self.names.bind(&axis.var);
        self.line(&format!("{name} = T.axis.{kind}({text})"));
    }

    fn match_buffer(&mut self, buffer: &Buffer, source: &BufferRegion) {
        for part in buffer.strides.iter().chain(&buffer.elem_offset) {
            if let ExprKind::Var(var) = &part.kind
                && !self.names.knows(var)
            {
                self.names.bind(var);
                self.declare_var(var);
            }
        }
        self.buffer_line(buffer, |p| {
            p.out.push_str("T.match_buffer(");
            p.region(source);
            p.out.push_str(", ");
            p.describe(buffer, BufferContext::Call, None, &mut HashSet::new());
            p.out.push(')');
        });
    }

    fn region(&mut self, region: &BufferRegion) {
        let name = self.names.buffer(&region.buffer);
        self.out.push_str(&name);
        self.out.push('[');
        if region.region.is_empty() {
            self.out.push_str("()");
        }
        self.list(&region.region, Self::region_axis);
        self.out.push(']');
    }

    fn region_axis(&mut self, range: &Range) {
        if range.extent.as_int() == Some(1) {
            self.expr(&range.min);
        } else {
            self.slice(&range.min, &range.extent);
        }
    }
}
