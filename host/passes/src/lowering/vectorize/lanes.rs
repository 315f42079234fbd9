//! Vectorized statements of a body.

use std::collections::{HashMap, HashSet};

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, AttrValue, Attrs, BinaryOp, Buffer, BufferNode, CompareOp, Expr, ExprKind, Stmt, StmtKind,
    TargetCapabilities, Var,
};

use super::Around;
use super::independent::Memory;
use crate::simplify::{self, is_pure};
use crate::walk::{depends_on_memory, vars_of};

/// Maximum number of statements of a branch that is duplicated with and without a mask.
const STATEMENTS_TWICE_MAX: usize = 24;
/// Maximum number of elements of a buffer for all lanes.
const OWN_ELEMENTS_MAX: i128 = 1 << 16;

/// Vectorizes statements that depend on a variable. Every method returns `None` if that is not
/// possible; the current statement then runs lane by lane.
pub(super) struct Lanes<'a> {
    pub(super) lanes: u16,
    pub(super) capabilities: &'a TargetCapabilities,
    pub(super) around: &'a Around<'a>,
    memory: Memory,
    /// The original loop variable, its value in the first lane, and the difference between lanes.
    pub(super) head: Option<(Var, Expr, Expr)>,
    /// Replacements of variables.
    pub(super) vectors: HashMap<Var, Expr>,
    /// Variables that differ by lane; those without a vector are bound again in statements that
    /// need them.
    pub(super) changed: HashSet<Var>,
    /// Original bindings around the current statement that differ by lane.
    pub(super) bindings: Vec<(Var, Expr)>,
    /// Original conditions by lane around the current statement.
    pub(super) conditions: Vec<Expr>,
    /// Mask of the lanes that run the current statement.
    pub(super) mask: Option<Expr>,
    /// Buffers of the body by data variable, enlarged for all lanes.
    pub(super) own: HashMap<Var, Buffer>,
    /// Number of stores that became stores of vectors.
    made: usize,
}

impl<'a> Lanes<'a> {
    pub(super) fn new(lanes: u16, around: &'a Around<'a>, memory: Memory) -> Self {
        Self {
            lanes,
            capabilities: around.capabilities,
            around,
            memory,
            head: None,
            vectors: HashMap::new(),
            changed: HashSet::new(),
            bindings: Vec::new(),
            conditions: Vec::new(),
            mask: None,
            own: HashMap::new(),
            made: 0,
        }
    }

    /// The body for all lanes, where the variable has the value `first` in the first lane; `None`
    /// if no vector results.
    pub(super) fn body(mut self, var: &Var, first: &Expr, stride: &Expr, body: &Stmt) -> Option<Stmt> {
        self.head = Some((var.clone(), first.clone(), stride.clone()));
        self.map(var, simplify::expr(&first.clone().ramp(stride.clone(), self.lanes)));
        let body = self.block(body)?;
        (self.made > 0).then_some(body)
    }

    pub(super) fn map(&mut self, var: &Var, value: Expr) {
        self.vectors.insert(var.clone(), value);
        self.changed.insert(var.clone());
    }

    /// Whether all lanes of an access are elements of a buffer that the function allocates,
    /// whatever a mask says.
    pub(super) fn is_inside(&self, buffer: &Buffer, index: &Expr) -> bool {
        !self.own.contains_key(&buffer.data) && self.around.is_inside(buffer, index)
    }

    /// Returns true if the value does not change while the body runs and may be recomputed.
    pub(super) fn is_stable(&self, value: &Expr) -> bool {
        let mut stable = is_pure(value);
        value.walk(&mut |e| {
            if let ExprKind::Load { buffer, .. } = &e.kind {
                stable &= !self.memory.stored.contains(&buffer.data);
            }
        });
        stable
    }

    /// The annotations without those that differ by lane.
    fn uniform(&self, annotations: &Attrs) -> Attrs {
        let mut annotations = annotations.clone();
        annotations.retain(|_, value| match value {
            AttrValue::Expr(value) => vars_of(value).is_disjoint(&self.changed),
            _ => true,
        });
        annotations
    }

    /// Vectorizes a statement in a scope of its own.
    fn block(&mut self, stmt: &Stmt) -> Option<Stmt> {
        let depth = self.bindings.len();
        let result = match &stmt.kind {
            StmtKind::Seq(stmts) => self.seq(stmts),
            _ => self.seq(std::slice::from_ref(stmt)),
        };
        self.bindings.truncate(depth);
        result
    }

    /// Vectorizes a sequence; statements that cannot be vectorized are collected, and adjacent ones
    /// run lane by lane together.
    fn seq(&mut self, stmts: &[Stmt]) -> Option<Stmt> {
        let (mut result, mut waiting) = (Vec::new(), Vec::new());
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Bind { var, value } => {
                    if depends_on_memory(value) {
                        self.flush(&mut waiting, &mut result)?;
                    }
                    result.extend(self.bind(var, value)?.map(|new| new.with_span(stmt.span)));
                }
                StmtKind::AllocBuffer { buffer, annotations } => {
                    let buffer = self.allocate(buffer)?;
                    let annotations = annotations.clone();
                    let new = Stmt::new(StmtKind::AllocBuffer { buffer, annotations });
                    result.push(new.with_span(stmt.span));
                }
                StmtKind::DeclBuffer { buffer, data: None } if !self.own.contains_key(&buffer.data) => {
                    result.push(stmt.clone());
                }
                StmtKind::DeclBuffer { .. } => return None,
                _ => {
                    let made = self.made;
                    if let Some(new) = self.stmt(stmt) {
                        self.flush(&mut waiting, &mut result)?;
                        result.push(new);
                    } else {
                        self.made = made;
                        // A statement that leaves an enclosing loop cannot be put into another
                        // loop.
                        (!simplify::leaves_loop(stmt)).then_some(())?;
                        waiting.push(stmt.clone());
                    }
                }
            }
        }
        self.flush(&mut waiting, &mut result)?;
        Some(Stmt::seq(result))
    }

    fn flush(&mut self, waiting: &mut Vec<Stmt>, result: &mut Vec<Stmt>) -> Option<()> {
        if !waiting.is_empty() {
            result.push(self.one_by_one(&std::mem::take(waiting))?);
        }
        Some(())
    }

    /// Vectorizes a binding; `Some(None)` if only statements that run lane by lane can use it.
    fn bind(&mut self, var: &Var, value: &Expr) -> Option<Option<Stmt>> {
        is_pure(value).then_some(())?;
        let Some(new) = self.expr(value) else {
            self.changed.insert(var.clone());
            self.bindings.push((var.clone(), value.clone()));
            return Some(None);
        };
        if new.dtype == var.dtype {
            return Some(Some(Stmt::new(StmtKind::Bind { var: var.clone(), value: new })));
        }
        let vector = Var::new(var.name.clone(), new.dtype);
        self.map(var, vector.expr());
        self.bindings.push((var.clone(), value.clone()));
        Some(Some(Stmt::new(StmtKind::Bind { var: vector, value: new })))
    }

    /// Enlarges a buffer for all lanes: element `i` of a lane is at `i * lanes + lane`.
    fn allocate(&mut self, buffer: &Buffer) -> Option<Buffer> {
        let size = buffer.constant_size()?.checked_mul(self.lanes.into())?;
        let extent = buffer.shape.first()?;
        (buffer.dtype.is_scalar() && buffer.shape.len() == 1 && size <= OWN_ELEMENTS_MAX).then_some(())?;
        let shape = vec![Expr::int(size, extent.dtype)];
        let wide = Buffer::from_node(BufferNode { shape, ..(**buffer).clone() });
        self.own.insert(buffer.data.clone(), wide.clone());
        Some(wide)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<Stmt> {
        let kind = match &stmt.kind {
            StmtKind::Seq(stmts) => return self.seq(stmts),
            StmtKind::Store { buffer, indices, value, predicate } => {
                self.store(buffer, indices, value, predicate.as_ref())?
            }
            StmtKind::For { var, min, extent, kind, step, annotations, body } => {
                let (min, extent) = (self.scalar(min)?, self.scalar(extent)?);
                let step = match step {
                    Some(step) => Some(self.scalar(step)?),
                    None => None,
                };
                let made = self.made;
                let body = self.block(body)?;
                // If the body runs lane by lane, the lanes should remain the outer loop.
                (self.made > made).then_some(())?;
                let var = var.clone();
                let annotations = self.uniform(annotations);
                StmtKind::For { var, min, extent, kind: *kind, step, annotations, body }
            }
            StmtKind::If { condition, then, otherwise } => {
                match (self.around.decided(condition), otherwise) {
                    (Some(true), _) => return self.block(then),
                    (Some(false), Some(otherwise)) => return self.block(otherwise),
                    (Some(false), None) => return Some(Stmt::nop()),
                    _ => {}
                }
                if let Some((uniform, by_lane)) = self.uniform_part(condition).filter(|_| otherwise.is_none())
                {
                    let inner = Stmt::if_then(by_lane, then.clone(), None).with_span(stmt.span);
                    return self.stmt(&Stmt::if_then(uniform, inner, None).with_span(stmt.span));
                }
                let lanes = self.expr(condition)?;
                if !lanes.dtype.is_scalar() {
                    return self.branch(condition, lanes, then, otherwise.as_ref());
                }
                let then = self.block(then)?;
                let otherwise = match otherwise {
                    Some(otherwise) => Some(self.block(otherwise)?),
                    None => None,
                };
                StmtKind::If { condition: lanes, then, otherwise }
            }
            StmtKind::Attr { node, key, value, body } => {
                let (value, body) = (self.scalar(value)?, self.block(body)?);
                let node = match node {
                    AttrNode::Buffer(buffer) => {
                        AttrNode::Buffer(self.own.get(&buffer.data).unwrap_or(buffer).clone())
                    }
                    AttrNode::Var(var) if self.changed.contains(var) => return None,
                    node => node.clone(),
                };
                StmtKind::Attr { node, key: key.clone(), value, body }
            }
            // The remaining calls have no effect: hints.
            StmtKind::Evaluate(_) => return Some(Stmt::nop()),
            _ => return None,
        };
        Some(Stmt::new(kind).with_span(stmt.span))
    }

    /// Vectorizes an expression that must be the same in all lanes.
    fn scalar(&mut self, expr: &Expr) -> Option<Expr> {
        self.expr(expr).filter(|value| value.dtype == expr.dtype)
    }

    fn store(
        &mut self,
        buffer: &Buffer,
        indices: &[Expr],
        value: &Expr,
        predicate: Option<&Expr>,
    ) -> Option<StmtKind> {
        let [index] = indices else { return None };
        buffer.dtype.is_scalar().then_some(())?;
        let value = self.wide_expr(value)?;
        let (buffer, index) = self.place(buffer, index)?;
        // One element for all lanes would get the last lane's value, which vectors cannot express.
        (!index.dtype.is_scalar()).then_some(())?;
        let predicate = self.predicate(predicate)?;
        self.made += 1;
        Some(StmtKind::Store { buffer, indices: vec![index], value, predicate })
    }

    /// Vectorizes both sides of a branch by lane, under masks.
    fn branch(
        &mut self,
        condition: &Expr,
        lanes: Expr,
        then: &Stmt,
        otherwise: Option<&Stmt>,
    ) -> Option<Stmt> {
        self.capabilities.is_host.then_some(())?;
        let all =
            self.all_lanes(&lanes).filter(|_| self.mask.is_none() && count(then) <= STATEMENTS_TWICE_MAX);
        let whole = match &all {
            // The same statements again, with fresh names.
            Some(_) => Some(Substitution::new().fresh().stmt(&self.block(then)?)),
            None => None,
        };
        let mask = Var::new("mask", lanes.dtype);
        let named = Stmt::new(StmtKind::Bind { var: mask.clone(), value: lanes });
        let masked = self.under(&mask.expr(), condition.clone(), then)?;
        let not = mask.expr().logical_not();
        let otherwise = match otherwise {
            Some(otherwise) => self.under(&not, condition.clone().logical_not(), otherwise)?,
            None => Stmt::nop(),
        };
        let masked = Stmt::seq([named, masked, otherwise]);
        Some(match (all, whole) {
            (Some(all), Some(whole)) => Stmt::if_then(simplify::expr(&all), whole, Some(masked)),
            _ => masked,
        })
    }

    fn under(&mut self, mask: &Expr, condition: Expr, stmt: &Stmt) -> Option<Stmt> {
        self.conditions.push(condition);
        let result = self.masked(mask, |lanes| lanes.block(stmt));
        self.conditions.pop();
        result
    }

    /// Runs `make` under an additional mask.
    pub(super) fn masked<T>(&mut self, mask: &Expr, make: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.mask.clone();
        self.mask = Some(match &outer {
            Some(outer) => outer.clone().and(mask.clone()),
            None => mask.clone(),
        });
        let result = make(self);
        self.mask = outer;
        result
    }

    /// A scalar condition that is true only if the condition holds in every lane: supported for
    /// comparisons of a ramp, which hold in all lanes if they hold in the last and the ramp does
    /// not wrap.
    fn all_lanes(&self, condition: &Expr) -> Option<Expr> {
        match &condition.kind {
            ExprKind::And(a, b) => Some(self.all_lanes(a)?.and(self.all_lanes(b)?)),
            ExprKind::Broadcast { value, .. } => Some(value.clone()),
            ExprKind::Compare(op @ (CompareOp::Lt | CompareOp::Le), a, b) => {
                let (ExprKind::Ramp { base, stride, lanes }, ExprKind::Broadcast { value, .. }) =
                    (&a.kind, &b.kind)
                else {
                    return None;
                };
                let reach = stride.as_int().filter(|stride| *stride > 0)? * (i128::from(*lanes) - 1);
                base.dtype.is_int().then_some(())?;
                (reach <= base.dtype.integer_range()?.1).then_some(())?;
                let last = Expr::binary(BinaryOp::Add, base.clone(), Expr::int(reach, base.dtype));
                let ordered = Expr::compare(CompareOp::Le, base.clone(), last.clone());
                Some(ordered.and(Expr::compare(*op, last, value.clone())))
            }
            _ => None,
        }
    }
}

fn count(stmt: &Stmt) -> usize {
    let mut count = 0;
    stmt.walk(&mut |child| count += usize::from(matches!(child, chipdock_ir::Child::Stmt(_))));
    count
}
