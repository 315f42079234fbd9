//! Loops and branches.

use chipdock_ir::analysis::is_cheap;
use chipdock_ir::{
    AttrValue, Attrs, Callee, DType, Expr, ExprKind, ForKind, Op, Stmt, StmtKind, ThreadAxis, Var, attr,
};

use crate::types;
use crate::value::Value;
use crate::writer::{Label, Writer};

/// The parts of a loop.
pub(crate) struct Loop<'a> {
    pub(crate) var: &'a Var,
    pub(crate) min: &'a Expr,
    pub(crate) extent: &'a Expr,
    pub(crate) step: Option<&'a Expr>,
    pub(crate) kind: ForKind,
    pub(crate) annotations: &'a Attrs,
    pub(crate) body: &'a Stmt,
}

/// Blocks to which `continue` and `break` jump.
pub(crate) struct Targets {
    next: Label,
    done: Label,
}

/// The jumps of a condition that lead to a block, and their likelihood.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    to: Option<Label>,
    /// The blocks that jump to it.
    pub(crate) from: Vec<Label>,
    /// Whether the condition is known to be mostly true (false, if negated).
    is_known: bool,
    is_unlikely: bool,
}

impl Edges {
    /// Edges that are not recorded.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// Edges to a block that is hardly ever reached.
    pub(crate) fn to_unlikely(label: &Label) -> Self {
        Self { to: Some(label.clone()), is_known: true, ..Self::default() }
    }
}

/// A loop counter: runs from `first` until it is `last`.
struct Counter {
    first: Value,
    last: Value,
    /// Overflow flags of a step of one.
    flags: &'static str,
}

impl<'a> Writer<'a> {
    pub(crate) fn if_else(&mut self, condition: &'a Expr, then: &'a Stmt, otherwise: Option<&'a Stmt>) {
        let otherwise = otherwise.filter(|s| !s.is_nop());
        let tail = if otherwise.is_none() { self.tail(then) } else { None };
        if let Some(tail) = tail {
            let done = self.label("endif");
            self.branch_on(condition, &tail, &done, &mut Edges::none());
            return self.start(&done);
        }
        let (yes, done) = (self.label("then"), self.label("endif"));
        let no = if otherwise.is_some() { self.label("else") } else { done.clone() };
        self.branch_on(condition, &yes, &no, &mut Edges::none());
        self.start(&yes);
        self.stmt(then);
        self.jump(&done);
        if let Some(otherwise) = otherwise {
            self.start(&no);
            self.stmt(otherwise);
            self.jump(&done);
        }
        self.start(&done);
    }

    /// Branches on a condition. Negations, and conjunctions and disjunctions whose second side must
    /// be lazy, become jumps themselves.
    pub(crate) fn branch_on(&mut self, condition: &'a Expr, yes: &Label, no: &Label, edges: &mut Edges) {
        self.depth += 1;
        match &condition.kind {
            ExprKind::Not(value) if value.dtype == DType::BOOL && self.depth <= crate::DEPTH_MAX => {
                edges.is_unlikely = !edges.is_unlikely;
                self.branch_on(value, no, yes, edges);
                edges.is_unlikely = !edges.is_unlikely;
            }
            ExprKind::Call { callee: Callee::Op(Op::Likely), args }
                if args.len() == 1 && args[0].dtype == DType::BOOL && self.depth <= crate::DEPTH_MAX =>
            {
                edges.is_known = true;
                self.branch_on(&args[0], yes, no, edges);
            }
            ExprKind::And(a, b) if self.is_lazy(condition, b) => {
                let middle = self.label("and");
                self.branch_on(a, &middle, no, edges);
                self.start(&middle);
                self.known.push(Default::default());
                self.branch_on(b, yes, no, edges);
                self.known.pop();
            }
            ExprKind::Or(a, b) if self.is_lazy(condition, b) => {
                let middle = self.label("or");
                self.branch_on(a, yes, &middle, edges);
                self.start(&middle);
                self.known.push(Default::default());
                self.branch_on(b, yes, no, edges);
                self.known.pop();
            }
            _ => {
                let value = self.value(condition);
                let weights = match (edges.is_known, edges.is_unlikely) {
                    (true, false) => self.weights(2000, 1),
                    (true, true) => self.weights(1, 2000),
                    (false, _) => String::new(),
                };
                if edges.to.as_ref().is_some_and(|to| to == yes || to == no) {
                    edges.from.push(self.block());
                }
                self.terminate(format_args!(
                    "br i1 {}, {}, {}{weights}",
                    value.text,
                    yes.operand(),
                    no.operand()
                ));
            }
        }
        self.depth -= 1;
    }

    fn is_lazy(&self, e: &Expr, second: &Expr) -> bool {
        let is_bool = e.dtype == DType::BOOL && second.dtype == DType::BOOL;
        is_bool && self.depth <= crate::DEPTH_MAX && !is_cheap(second)
    }

    fn weights(&mut self, yes: u32, no: u32) -> String {
        let weights = format!("!{{!\"branch_weights\", i32 {yes}, i32 {no}}}");
        format!(", !prof !{}", self.around.metadata(weights))
    }

    /// The block for a statement that only returns the result of a call with this function's
    /// parameters and constants: equal statements share one block.
    fn tail(&mut self, s: &'a Stmt) -> Option<Label> {
        let StmtKind::Return(Some(value)) = &s.kind else { return None };
        let ExprKind::Call { callee: Callee::Global(_), args } = &value.kind else { return None };
        let is_param = |arg: &Expr| match &arg.kind {
            ExprKind::Int(_) => true,
            ExprKind::Var(var) => self.facts.params.contains(&var.address()),
            _ => false,
        };
        if !args.iter().all(is_param) || self.function.ret != Some(value.dtype) {
            return None;
        }
        if let Some((_, label)) = self.tails.iter().find(|(known, _)| *known == value) {
            return Some(label.clone());
        }
        let label = self.label("tail");
        self.tails.push((value, label.clone()));
        Some(label)
    }

    /// Writes the blocks that [`Writer::tail`] has requested.
    pub(crate) fn finish_tails(&mut self) {
        for (value, label) in std::mem::take(&mut self.tails) {
            self.known = vec![Default::default()];
            self.start(&label);
            let value = self.value(value);
            self.leave_function(Some(&value));
        }
    }

    pub(crate) fn while_loop(&mut self, condition: &'a Expr, body: &'a Stmt) {
        let (head, inner, done) = (self.label("while"), self.label("body"), self.label("done"));
        self.jump(&head);
        self.start(&head);
        self.branch_on(condition, &inner, &done, &mut Edges::none());
        self.start(&inner);
        self.loops.push(Targets { next: head.clone(), done: done.clone() });
        self.stmt(body);
        self.loops.pop();
        self.jump(&head);
        self.start(&done);
    }

    /// Leaves the innermost loop, or continues with its next iteration.
    pub(crate) fn leave(&mut self, s: &'a Stmt, goes_on: bool) {
        let Some(targets) = self.loops.last() else {
            return self.refuse_stmt(s, "there is no loop around this");
        };
        let to = if goes_on { targets.next.clone() } else { targets.done.clone() };
        self.jump(&to);
    }

    pub(crate) fn thread(&mut self, s: &'a Stmt, var: &'a Var, axis: ThreadAxis, body: &'a Stmt) {
        let value = match self.target.thread_index(axis) {
            Ok(name) => {
                let callee = self.declare("i32", name, "");
                let index = self.compute(DType::INT32, format_args!("call i32 {callee}()"));
                if var.dtype.bits > 32 {
                    let wide = types::register(var.dtype);
                    self.compute(var.dtype, format_args!("zext {} to {wide}", index.typed()))
                } else {
                    index
                }
            }
            Err(refusal) => {
                self.refuse_stmt(s, refusal.0);
                Value::new("0", var.dtype)
            }
        };
        self.know(var, value);
        self.positions.bind(var);
        self.stmt(body);
    }

    // -- for --------------------------------------------------------------------------------------

    pub(crate) fn for_loop(&mut self, s: &'a Stmt, l: &Loop<'a>) {
        if let ForKind::ThreadBinding(axis) = l.kind {
            return self.thread(s, l.var, axis, l.body);
        }
        let dtype = l.var.dtype;
        if !dtype.is_int() || !dtype.is_scalar() {
            return self.refuse_stmt(s, format!("a loop counts in int32 or int64, not in {dtype}"));
        }
        let is_known = self.diagnostics.is_empty();
        let bounds = is_known.then(|| self.ranges.of_loop_variable(l.min, l.extent, l.step)).flatten();
        let counts_by_itself = l.step.is_none_or(|step| step.as_int() == Some(1)) && self.end_fits(l);
        let (start, extent) = (self.value(l.min), self.value(l.extent));
        let step = l.step.map(|step| self.value(step));
        let counter = if counts_by_itself {
            self.direct(l, start.clone(), extent.clone())
        } else {
            let zero = Value::new("0", dtype);
            Counter { first: zero, last: extent.clone(), flags: "nuw nsw" }
        };
        let (body, next, done) = (self.label("loop"), self.label("next"), self.label("done"));
        let before = self.block();
        if self.range(l.extent).0 >= 1 {
            self.jump(&body);
        } else {
            let runs = self.compute(DType::BOOL, format_args!("icmp sgt {}, 0", extent.typed()));
            self.branch(&runs, &body, &done);
        }
        self.start(&body);
        let (count, following) = (self.temporary(), self.temporary());
        let llvm_type = types::register(dtype);
        self.effect(format_args!(
            "{count} = phi {llvm_type} [ {}, {} ], [ {following}, {} ]",
            counter.first.text,
            before.name(),
            next.name()
        ));
        let count = Value::new(count, dtype);
        let value = if counts_by_itself {
            count.clone()
        } else {
            self.stepped(l, &start, &count, step.as_ref(), bounds.is_some())
        };
        self.loop_body(l, value, bounds, Targets { next: next.clone(), done: done.clone() });
        self.jump(&next);
        self.start(&next);
        self.effect(format_args!("{following} = add {} {}, 1", counter.flags, count.typed()));
        let ends = self.instruction(format_args!("icmp eq {llvm_type} {following}, {}", counter.last.text));
        let notes = self.loop_notes(s, l);
        self.terminate(format_args!("br i1 {ends}, {}, {}{notes}", done.operand(), body.operand()));
        self.start(&done);
    }

    fn loop_body(&mut self, l: &Loop<'a>, value: Value, bounds: Option<(i128, i128)>, targets: Targets) {
        self.know(l.var, value);
        if let Some(bounds) = bounds {
            self.ranges.bind(l.var, bounds);
        }
        self.positions.bind(l.var);
        self.loops.push(targets);
        let streams = is_streaming(l.annotations);
        if streams {
            self.streams.push(None);
        }
        self.stmt(l.body);
        if streams {
            self.streams.pop();
        }
        self.loops.pop();
    }

    /// A counter that is itself the loop variable.
    fn direct(&mut self, l: &Loop<'a>, start: Value, extent: Value) -> Counter {
        let flags = if self.range(l.min).0 >= 0 { "nuw nsw" } else { "nsw" };
        let last = match (l.min.as_int(), l.extent.as_int()) {
            (Some(0), _) => extent,
            (Some(min), Some(extent)) => Value::new(min.saturating_add(extent).to_string(), start.dtype),
            _ => {
                // The extent may be negative; the sum is then unused.
                let sum = format!("add {}, {}", start.typed(), extent.text);
                self.compute(start.dtype, sum)
            }
        };
        Counter { first: start, last, flags }
    }

    /// The loop variable of an iteration, given its number. `fits` says that the variable never
    /// wraps.
    fn stepped(
        &mut self,
        l: &Loop<'a>,
        start: &Value,
        count: &Value,
        step: Option<&Value>,
        fits: bool,
    ) -> Value {
        let (dtype, least) = (l.var.dtype, self.range(l.min).0);
        // The offset alone also fits if the loop does not begin below zero.
        let flags = if fits && least >= 0 { "nuw nsw " } else { "" };
        let offset = match step {
            Some(step) => self.compute(dtype, format_args!("mul {flags}{}, {}", count.typed(), step.text)),
            None => count.clone(),
        };
        self.compute(dtype, format_args!("add {flags}{}, {}", start.typed(), offset.text))
    }

    /// The range of a loop variable that counts by one, and the value after the last.
    fn counted_by_one(&mut self, l: &Loop<'a>) -> Option<((i128, i128), i128)> {
        // After a refusal, addresses of nodes are no longer meaningful.
        if self.diagnostics.is_empty() { self.ranges.of_loop(l.min, l.extent) } else { None }
    }

    /// Returns true if the value after the last one fits the loop variable's type.
    fn end_fits(&mut self, l: &Loop<'a>) -> bool {
        let most = l.var.dtype.integer_range().map_or(0, |range| range.1);
        self.counted_by_one(l).is_some_and(|(_, end)| end <= most)
    }

    /// LLVM metadata of a loop, for its last jump.
    fn loop_notes(&mut self, s: &Stmt, l: &Loop<'a>) -> String {
        let mut notes = Vec::new();
        if self.facts.vector_loops.contains(&s.address()) {
            notes.push("!{!\"llvm.loop.vectorize.enable\", i1 false}".to_owned());
        }
        match l.annotations.get("pragma_unroll") {
            Some(AttrValue::Int(0) | AttrValue::Bool(false)) => {
                notes.push("!{!\"llvm.loop.unroll.disable\"}".to_owned());
            }
            Some(AttrValue::Int(count)) if *count > 1 => {
                notes.push(format!("!{{!\"llvm.loop.unroll.count\", i32 {}}}", (*count).min(1 << 16)));
            }
            Some(_) => notes.push("!{!\"llvm.loop.unroll.enable\"}".to_owned()),
            None if l.kind == ForKind::Unrolled => {
                notes.push("!{!\"llvm.loop.unroll.enable\"}".to_owned());
            }
            None => {}
        }
        if notes.is_empty() {
            return String::new();
        }
        let numbers: Vec<String> =
            notes.into_iter().map(|note| format!(", !{}", self.around.metadata(note))).collect();
        let own = self.around.metadata.len();
        self.around.metadata(format!("distinct !{{!{own}{}}}", numbers.concat()));
        format!(", !llvm.loop !{own}")
    }
}

/// Returns true if the stores of a loop are requested to bypass the caches.
pub(crate) fn is_streaming(annotations: &Attrs) -> bool {
    match annotations.get(attr::NONTEMPORAL) {
        None | Some(AttrValue::None | AttrValue::Int(0) | AttrValue::Bool(false)) => false,
        Some(AttrValue::Expr(value)) => value.as_int() != Some(0),
        Some(_) => true,
    }
}
