//! The combination of a block: its result in terms of the old and the new value.

use chipdock_ir::subst::Substitution;
use chipdock_ir::{BinaryOp, Block, Buffer, Callee, DType, Expr, ExprKind, Op, Reducer, Stmt, StmtKind, Var};

use crate::simplify;

/// Times at which the init of a block runs before its threads combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inits {
    /// Init always runs.
    Always,
    /// Init runs only the first of several times that the threads reach the block.
    Sometimes,
    /// There is no init, or it runs at another time.
    Never,
}

/// A combination of one or several results at once.
pub(super) struct Combination {
    pub(super) parts: Vec<ReductionResult>,
    pub(super) inits: Inits,
    lhs: Vec<Var>,
    rhs: Vec<Var>,
    results: Vec<Expr>,
}

/// A result.
pub(super) struct ReductionResult {
    pub(super) buffer: Buffer,
    pub(super) indices: Vec<Expr>,
    /// Start value of each thread.
    pub(super) start: Expr,
    /// Initial value of the element, if it differs from the start value of each thread.
    init: Option<Expr>,
}

/// A store of a block's body.
struct Stored {
    buffer: Buffer,
    indices: Vec<Expr>,
    value: Expr,
}

impl Combination {
    /// Extracts the combination from a block; the error names what was expected and found.
    pub(super) fn from_block(block: &Block, inits: Inits) -> Result<Self, String> {
        let plain = block.alloc_buffers.is_empty() && block.match_buffers.is_empty();
        let stored = stores(&block.body).filter(|_| plain).ok_or(
            "expected a body of names and stores alone; found other statements: combine in a block of its own",
        )?;
        let reduced: Vec<&Var> = block
            .iter_vars
            .iter()
            .filter(|axis| axis.kind == chipdock_ir::IterKind::Reduce)
            .map(|axis| &axis.var)
            .collect();
        let mut terms = Vec::new();
        for (at, store) in stored.iter().enumerate() {
            let fixed =
                store.indices.iter().all(|e| crate::walk::vars_of(e).iter().all(|v| !reduced.contains(&v)));
            if !fixed || stored[..at].iter().any(|other| other.buffer.data == store.buffer.data) {
                return Err(
                    "expected each result in a buffer of its own, at the same element in every iteration"
                        .into(),
                );
            }
            let mut found = Vec::new();
            let known = candidates(&store.value, &stored, at, &mut found);
            match (known, found.as_slice()) {
                (true, [term]) => terms.push(term.clone()),
                _ => {
                    return Err(format!(
                        "expected {} to become its own value combined with one term (by + * min max, and, or, xor, or a \
                         choice between the two); found something else",
                        store.buffer.name
                    ));
                }
            }
        }
        let name = |side: &str, at: usize, dtype: DType| Var::new(format!("{side}{at}"), dtype);
        let vars =
            |side: &str| stored.iter().enumerate().map(|(at, s)| name(side, at, s.value.dtype)).collect();
        let (lhs, rhs): (Vec<Var>, Vec<Var>) = (vars("x"), vars("y"));
        let sides = Sides { stored: &stored, terms: &terms, lhs: &lhs, rhs: &rhs };
        let results: Vec<Expr> = stored.iter().map(|store| sides.of(&store.value)).collect();
        for (store, result) in stored.iter().zip(&results) {
            if !closed(result, &lhs, &rhs) {
                return Err(format!(
                    "expected {} to depend on what was and on the terms of the results alone; found more",
                    store.buffer.name
                ));
            }
        }
        let initial = match &block.init {
            Some(init) if inits != Inits::Never => Some(initial(init, &stored)?),
            _ => None,
        };
        // A selection may start at its init, unless init does not always apply.
        let picks = inits == Inits::Always && results.iter().all(picks);
        let mut parts = Vec::new();
        for (at, store) in stored.iter().enumerate() {
            let init = initial.as_ref().map(|values| &values[at]);
            let sides = (&lhs[at], &rhs[at]);
            let (start, init) = start_of(&results[at], sides, init, inits, picks).ok_or_else(|| {
                format!(
                    "expected a combination of {} that is known, or an init of constants for one that picks; found neither",
                    store.buffer.name
                )
            })?;
            let (buffer, indices) = (store.buffer.clone(), store.indices.clone());
            parts.push(ReductionResult { buffer, indices, start, init });
        }
        Ok(Self { parts, inits, lhs, rhs, results })
    }

    pub(super) fn reducer(&self) -> Reducer {
        Reducer {
            lhs: self.lhs.clone(),
            rhs: self.rhs.clone(),
            result: self.results.clone(),
            identity: self.parts.iter().map(|part| part.start.clone()).collect(),
        }
    }

    /// The final stores, given the combined values of the threads and, if init runs sometimes, the
    /// condition under which it does.
    pub(super) fn writes(&self, made: &[Expr], runs_init: Option<&Expr>) -> Vec<(&Buffer, &[Expr], Expr)> {
        let value = |at: usize| match runs_init {
            Some(runs) => {
                let (with, without) = (self.result(at, made), self.onto(at, made));
                let dtype = with.dtype;
                Expr::call(Op::IfThenElse, vec![runs.clone(), with, without], dtype)
            }
            None => self.result(at, made),
        };
        let parts = self.parts.iter().enumerate();
        parts.map(|(at, part)| (&part.buffer, part.indices.as_slice(), value(at))).collect()
    }

    /// The final value of a result, given the combined values of the threads.
    fn result(&self, at: usize, made: &[Expr]) -> Expr {
        let part = &self.parts[at];
        if self.inits == Inits::Always && part.init.is_none() {
            return made[at].clone();
        }
        let mut sides = Substitution::new();
        for (index, part) in self.parts.iter().enumerate() {
            let before = match &part.init {
                Some(init) => init.clone(),
                None if self.inits == Inits::Always => part.start.clone(),
                None => Expr::load(&part.buffer, part.indices.clone()),
            };
            sides.map_var(&self.lhs[index], before);
            sides.map_var(&self.rhs[index], made[index].clone());
        }
        sides.expr(&self.results[at])
    }

    /// The final value without init: combined with the current value.
    fn onto(&self, at: usize, made: &[Expr]) -> Expr {
        let mut sides = Substitution::new();
        for (index, part) in self.parts.iter().enumerate() {
            sides.map_var(&self.lhs[index], Expr::load(&part.buffer, part.indices.clone()));
            sides.map_var(&self.rhs[index], made[index].clone());
        }
        sides.expr(&self.results[at])
    }

    /// Rewrites the body to combine into other memory.
    pub(super) fn on(&self, own: &[Buffer], index: &[Expr], body: &Stmt) -> Stmt {
        let at = |buffer: &Buffer| self.parts.iter().position(|part| part.buffer == *buffer);
        let new = body.map_children(&mut |e| self.loads_on(own, index, e), &mut |s| self.on(own, index, s));
        match &new.kind {
            StmtKind::Store { buffer, value, .. } => match at(buffer) {
                Some(at) => Stmt::store(&own[at], index.to_vec(), value.clone()).with_span(new.span),
                None => new,
            },
            _ => new,
        }
    }

    fn loads_on(&self, own: &[Buffer], index: &[Expr], expr: &Expr) -> Expr {
        if let ExprKind::Load { buffer, .. } = &expr.kind
            && let Some(at) = self.parts.iter().position(|part| part.buffer == *buffer)
        {
            return Expr::load(&own[at], index.to_vec());
        }
        expr.map_children(&mut |e| self.loads_on(own, index, e))
    }
}

/// Lists the statements of sequences and within attributes, in order.
fn flatten<'a>(stmt: &'a Stmt, list: &mut Vec<&'a Stmt>) {
    match &stmt.kind {
        StmtKind::Seq(stmts) => stmts.iter().for_each(|stmt| flatten(stmt, list)),
        StmtKind::Attr { body, .. } => flatten(body, list),
        _ => list.push(stmt),
    }
}

/// The stores of a body of stores and bindings, with names replaced by their values.
fn stores(body: &Stmt) -> Option<Vec<Stored>> {
    let mut list = Vec::new();
    flatten(body, &mut list);
    let mut names = Substitution::new();
    let mut found = Vec::new();
    for stmt in list {
        match &stmt.kind {
            StmtKind::Bind { var, value } if simplify::is_pure(value) => {
                let value = names.expr(value);
                names.map_var(var, value);
            }
            StmtKind::Store { buffer, indices, value, predicate: None }
                if simplify::is_pure(value) && value.dtype.is_scalar() =>
            {
                let indices = indices.iter().map(|e| names.expr(e)).collect();
                found.push(Stored { buffer: buffer.clone(), indices, value: names.expr(value) });
            }
            _ => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The index of the result whose old value the expression loads.
fn own(expr: &Expr, stored: &[Stored]) -> Option<usize> {
    let ExprKind::Load { buffer, indices, predicate: None } = &expr.kind else { return None };
    stored.iter().position(|store| store.buffer == *buffer && store.indices == *indices)
}

fn mentions(expr: &Expr, stored: &[Stored]) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        found |= matches!(&e.kind, ExprKind::Load { buffer, .. }
            if stored.iter().any(|store| store.buffer.data == buffer.data));
    });
    found
}

/// Collects the terms that a value may become, or be combined with; returns false if it has another
/// form.
fn candidates(value: &Expr, stored: &[Stored], at: usize, found: &mut Vec<Expr>) -> bool {
    if let Some(result) = own(value, stored) {
        return result == at;
    }
    if !mentions(value, stored) {
        if !found.contains(value) {
            found.push(value.clone());
        }
        return true;
    }
    let mut both = |a: &Expr, b: &Expr| candidates(a, stored, at, found) && candidates(b, stored, at, found);
    match &value.kind {
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max, a, b)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Select(_, a, b) => both(a, b),
        ExprKind::Call { callee: Callee::Op(op), args } => match (op, args.as_slice()) {
            (Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor, [a, b]) | (Op::IfThenElse, [_, a, b]) => {
                both(a, b)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Replaces the loads of results and the terms by the variables of both sides.
struct Sides<'a> {
    stored: &'a [Stored],
    terms: &'a [Expr],
    lhs: &'a [Var],
    rhs: &'a [Var],
}

impl Sides<'_> {
    fn of(&self, expr: &Expr) -> Expr {
        if let Some(at) = own(expr, self.stored) {
            return self.lhs[at].expr();
        }
        if let Some(at) = self.terms.iter().position(|term| term == expr) {
            return self.rhs[at].expr();
        }
        expr.map_children(&mut |e| self.of(e))
    }
}

/// Returns true if the expression contains nothing but both sides and constants.
fn closed(expr: &Expr, lhs: &[Var], rhs: &[Var]) -> bool {
    let mut closed = true;
    expr.walk(&mut |e| {
        closed &= match &e.kind {
            ExprKind::Var(var) => lhs.contains(var) || rhs.contains(var),
            ExprKind::Load { .. } | ExprKind::Let { .. } => false,
            _ => true,
        };
    });
    closed
}

/// Returns true if the expression selects one of its operands.
fn picks(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Var(_) => true,
        ExprKind::Binary(BinaryOp::Min | BinaryOp::Max, a, b) => picks(a) && picks(b),
        ExprKind::Select(_, a, b) => picks(a) && picks(b),
        ExprKind::Call { callee: Callee::Op(Op::IfThenElse), args } => args.iter().skip(1).all(picks),
        _ => false,
    }
}

/// The values that init stores, one for each result.
fn initial(init: &Stmt, stored: &[Stored]) -> Result<Vec<Expr>, String> {
    let inits = stores(init).unwrap_or_default();
    let of = |store: &Stored| {
        let found = inits.iter().find(|i| i.buffer == store.buffer && i.indices == store.indices);
        found.map(|init| init.value.clone())
    };
    let values: Option<Vec<Expr>> = stored.iter().map(of).collect();
    values.filter(|_| inits.len() == stored.len()).ok_or_else(|| {
        "expected an init that stores one value to each result; found something else".to_owned()
    })
}

/// The start value of a thread, and the init value if it must be combined in at the end.
fn start_of(
    result: &Expr,
    (lhs, rhs): (&Var, &Var),
    init: Option<&Expr>,
    inits: Inits,
    picking: bool,
) -> Option<(Expr, Option<Expr>)> {
    let constant = init.filter(|e| matches!(e.kind, ExprKind::Int(_) | ExprKind::Float(_)));
    let Some(identity) = identity(result, lhs, rhs) else {
        // For a selection, an init that applies several times is the same as one that applies once.
        return constant.filter(|_| picking).map(|init| (init.clone(), None));
    };
    match constant.filter(|_| inits == Inits::Always) {
        Some(init) if *init == identity || is_zero_sum(result, init) => Some((init.clone(), None)),
        Some(init) if picking => Some((init.clone(), None)),
        _ => Some((identity, init.cloned())),
    }
}

/// Returns true for a float sum that starts at 0.0: it is never -0.0, while a sum that starts at
/// -0.0 may be.
fn is_zero_sum(result: &Expr, init: &Expr) -> bool {
    let ExprKind::Float(value) = &init.kind else { return false };
    matches!(result.kind, ExprKind::Binary(BinaryOp::Add, ..)) && value.value() == 0.0
}

/// The identity of a known operation of both sides.
fn identity(result: &Expr, lhs: &Var, rhs: &Var) -> Option<Expr> {
    let dtype = result.dtype;
    let is = |e: &Expr, var: &Var| matches!(&e.kind, ExprKind::Var(found) if found == var);
    let sides = |a: &Expr, b: &Expr| is(a, lhs) && is(b, rhs) || is(a, rhs) && is(b, lhs);
    let range = dtype.integer_range();
    match &result.kind {
        ExprKind::Binary(op, a, b) if sides(a, b) => match op {
            BinaryOp::Add if dtype.is_float() => Some(Expr::float(-0.0, dtype)),
            BinaryOp::Add => Some(Expr::int(0, dtype)),
            BinaryOp::Mul => Some(Expr::constant(1, dtype)),
            BinaryOp::Min if dtype.is_float() => Some(Expr::float(f64::INFINITY, dtype)),
            BinaryOp::Max if dtype.is_float() => Some(Expr::float(f64::NEG_INFINITY, dtype)),
            BinaryOp::Min => range.map(|(_, most)| Expr::int(most, dtype)),
            BinaryOp::Max => range.map(|(least, _)| Expr::int(least, dtype)),
            _ => None,
        },
        ExprKind::And(a, b) if sides(a, b) => Some(Expr::bool(true)),
        ExprKind::Or(a, b) if sides(a, b) => Some(Expr::bool(false)),
        ExprKind::Call { callee: Callee::Op(op), args } => match (op, args.as_slice()) {
            (Op::BitwiseAnd, [a, b]) if sides(a, b) && dtype.is_bool() => Some(Expr::bool(true)),
            (Op::BitwiseAnd, [a, b]) if sides(a, b) => Some(Expr::int(-1, dtype)),
            (Op::BitwiseOr | Op::BitwiseXor, [a, b]) if sides(a, b) => Some(Expr::int(0, dtype)),
            _ => None,
        },
        _ => None,
    }
}
