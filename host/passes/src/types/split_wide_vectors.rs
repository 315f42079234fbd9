//! Splitting of wide vectors, for targets that have narrower ones only.

use std::collections::HashMap;
use std::sync::Arc;

use chipdock_ir::analysis::is_pure;
use chipdock_ir::{
    Buffer, BufferNode, Callee, DType, Expr, ExprKind, IrModule, Param, PrimFunc, Stmt, StmtKind,
    TargetCapabilities, Var,
};

use crate::PassError;
use crate::walk::{any_node, reads};

/// Splits vectors in device functions of more lanes than the target has
/// ([`chipdock_ir::Types::lanes_max`]) into parts of that many, the last one perhaps shorter.
///
/// # Rules
///
/// * **WIDE-V1** A name of a wide vector becomes one for each part. A store becomes one for each
///   part; all lanes of its value, its predicate, and positions that are read from memory are
///   computed before the first is stored.
/// * **WIDE-V2** An operation that computes each lane from the same lane of its operands, a load, a
///   ramp, a broadcast and a `let` are computed part by part; a shuffle picks its lanes one by one.
/// * **WIDE-V3** A buffer whose elements are wide vectors is kept, and is accessed through a view
///   of its lanes, in 64 bits: it has more lanes than elements.
/// * **WIDE-V4** What cannot be split is unchanged: anything with an effect, which each part would
///   repeat; several elements of a buffer of wide vectors at once; bits read as another number of
///   lanes. A code generator refuses what it cannot write.
///
/// # Before and after
///
/// ```text
///                                           v = A[T.Ramp(n, 1, 4)] * T.Broadcast(2, 4)
/// B[T.Ramp(0, 1, 6)] =                      w = A[T.Ramp(n + 4, 1, 2)] * T.Broadcast(2, 2)
///     A[T.Ramp(n, 1, 6)] * ...        ->    B[T.Ramp(0, 1, 4)] = v
///                                           B[T.Ramp(4, 1, 2)] = w
/// ```
///
/// # Requires / # Ensures
///
/// Requires flat buffers. If the target's vectors have a greatest number of lanes, no value has
/// more, except in what WIDE-V4 names; otherwise, and for a host, the module is unchanged.
///
/// # Errors
///
/// None.
pub fn split_wide_vectors(
    module: &IrModule,
    capabilities: &TargetCapabilities,
) -> Result<IrModule, PassError> {
    let most = capabilities.types.lanes_max;
    if capabilities.is_host || most == 0 {
        return Ok(module.clone());
    }
    let functions = module.functions.iter().map(|function| {
        let mut lanes = Lanes { most, parts: HashMap::new(), done: HashMap::new(), views: HashMap::new() };
        let of_params = function.params.iter().filter_map(|param| match param {
            Param::Buffer(buffer) => Some(buffer),
            Param::Var(_) => None,
        });
        let known = of_params.chain(&function.alloc_buffers);
        let views: Vec<Stmt> = known.filter_map(|buffer| lanes.declared_view(buffer)).collect();
        let body = lanes.stmt(&function.body);
        let body = if views.is_empty() { body } else { Stmt::seq(views.into_iter().chain([body])) };
        PrimFunc { body, ..function.clone() }
    });
    Ok(IrModule { functions: functions.collect(), attrs: module.attrs.clone() })
}

/// Some lanes of a vector: the index of the first, and their number.
type Part = (u16, u16);

struct Lanes {
    most: u16,
    /// Parts of variables that are long vectors.
    parts: HashMap<Var, Vec<Var>>,
    /// The result for an expression, for all of it or a part, with the expression itself so that
    /// its address is not reused.
    done: HashMap<(usize, Option<Part>), (Expr, Option<Expr>)>,
    /// Views of buffers whose elements are long vectors, one lane an element.
    views: HashMap<Var, Buffer>,
}

fn is_single(buffer: &Buffer) -> bool {
    buffer.dtype.is_scalar()
}

/// A lane of a short vector, or the scalar itself.
fn lane(vector: Expr, index: u16) -> Expr {
    if vector.dtype.is_scalar() {
        return vector;
    }
    let dtype = vector.dtype.scalar();
    Expr::new(ExprKind::Shuffle { vectors: vec![vector], indices: vec![index] }, dtype)
}

impl Lanes {
    fn is_long(&self, e: &Expr) -> bool {
        e.dtype.lanes > self.most
    }

    /// The parts of a long vector, in order.
    fn parts_of(&self, lanes: u16) -> Vec<Part> {
        let starts = (0..lanes).step_by(usize::from(self.most.max(1)));
        starts.map(|from| (from, self.most.min(lanes - from))).collect()
    }

    /// Declares a view of the lanes of a buffer whose elements are long vectors.
    fn declared_view(&mut self, buffer: &Buffer) -> Option<Stmt> {
        let lanes = buffer.dtype.lanes;
        let is_plain = buffer.strides.iter().all(|stride| stride.as_int() == Some(1))
            && buffer.elem_offset.as_ref().is_none_or(|offset| offset.as_int() == Some(0));
        let [extent] = buffer.shape.as_slice() else { return None };
        if lanes <= self.most || !is_plain {
            return None;
        }
        let node = BufferNode::clone(buffer);
        let shape = vec![extent.clone() * Expr::int(lanes.into(), extent.dtype)];
        let view = Buffer::from_node(BufferNode { dtype: buffer.dtype.scalar(), shape, ..node });
        self.views.insert(buffer.data.clone(), view.clone());
        Some(Stmt::new(StmtKind::DeclBuffer { buffer: view, data: None }))
    }

    /// The view of a buffer of long vectors, and the position in it of a part of the element at an
    /// index.
    fn place_of(&mut self, buffer: &Buffer, index: &Expr, (from, count): Part) -> Option<(Buffer, Expr)> {
        let view = self.views.get(&buffer.data).filter(|view| view.dtype == buffer.dtype.scalar())?.clone();
        if !index.dtype.is_scalar() {
            return None;
        }
        // There may be more lanes than the type of the index can count.
        let dtype = if index.dtype.bits < 64 { DType::INT64 } else { index.dtype };
        let int = |value: u16| Expr::int(value.into(), dtype);
        let first = self.whole(index)?.cast(dtype) * int(buffer.dtype.lanes) + int(from);
        Some((view, if count == 1 { first } else { first.ramp(int(1), count) }))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        if let Some(parted) = self.parted(stmt) {
            return parted;
        }
        let this = std::cell::RefCell::new(&mut *self);
        let new = stmt
            .map_children(&mut |e| this.borrow_mut().whole(e).unwrap_or_else(|| e.clone()), &mut |inner| {
                this.borrow_mut().stmt(inner)
            });
        match &new.kind {
            StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } => {
                let view = self.declared_view(buffer);
                Stmt::seq([new].into_iter().chain(view))
            }
            // A variable declared in place of one statement must be visible to the statements after
            // it.
            StmtKind::Seq(list) => Stmt::seq(list.iter().cloned()).with_span(stmt.span),
            _ => new,
        }
    }

    /// Splits a statement that binds or stores a long vector into parts, if that is possible.
    fn parted(&mut self, stmt: &Stmt) -> Option<Stmt> {
        match &stmt.kind {
            StmtKind::Bind { var, value } if self.is_long(value) => {
                let values = self.all_parts(value)?;
                Some(Stmt::seq(self.bound(var, values)).with_span(stmt.span))
            }
            StmtKind::Evaluate(value) if self.is_long(value) && is_pure(value) => Some(Stmt::nop()),
            StmtKind::Store { buffer, value, indices, predicate: None }
                if self.is_long(value) && buffer.dtype.lanes == value.dtype.lanes =>
            {
                self.store_element(buffer, value, indices).map(|stored| stored.with_span(stmt.span))
            }
            StmtKind::Store { buffer, value, indices, predicate }
                if self.is_long(value) && is_single(buffer) =>
            {
                let [index] = indices.as_slice() else { return None };
                let mut stmts = Vec::new();
                let mut first = |this: &mut Self, name: &str, e: &Expr| {
                    let values = this.all_parts(e)?;
                    let var = Var::new(name, e.dtype);
                    stmts.extend(this.bound(&var, values));
                    this.parts.get(&var).cloned()
                };
                // Positions are kept as they are, unless they are read from memory.
                let places = if reads(index) {
                    first(self, "places", index)?.iter().map(Var::expr).collect()
                } else {
                    self.all_parts(index)?
                };
                let values = first(self, "values", value)?;
                let predicates = match predicate {
                    Some(predicate) => Some(first(self, "lanes", predicate)?),
                    None => None,
                };
                for (at, (place, value)) in places.into_iter().zip(&values).enumerate() {
                    let predicate = predicates.as_ref().map(|predicates| predicates[at].expr());
                    stmts.push(Stmt::new(StmtKind::Store {
                        buffer: buffer.clone(),
                        value: value.expr(),
                        indices: vec![place],
                        predicate,
                    }));
                }
                Some(Stmt::seq(stmts.into_iter().map(|part| part.with_span(stmt.span))))
            }
            _ => None,
        }
    }

    /// A store of one element that is a long vector.
    fn store_element(&mut self, buffer: &Buffer, value: &Expr, indices: &[Expr]) -> Option<Stmt> {
        let [index] = indices else { return None };
        let mut stmts = Vec::new();
        let mut index = self.whole(index)?;
        if reads(&index) {
            let place = Var::new("place", index.dtype);
            stmts.push(Stmt::new(StmtKind::Bind { var: place.clone(), value: index }));
            index = place.expr();
        }
        let (values, all) = (Var::new("values", value.dtype), self.all_parts(value)?);
        stmts.extend(self.bound(&values, all));
        for (part, value) in
            self.parts_of(value.dtype.lanes).into_iter().zip(self.parts.get(&values)?.clone())
        {
            let (buffer, place) = self.place_of(buffer, &index, part)?;
            let (value, indices) = (value.expr(), vec![place]);
            stmts.push(Stmt::new(StmtKind::Store { buffer, value, indices, predicate: None }));
        }
        Some(Stmt::seq(stmts))
    }

    /// Binds the parts of a variable to names.
    fn bound(&mut self, var: &Var, values: Vec<Expr>) -> Vec<Stmt> {
        // An expression shared between two statements that bind one variable was built with the
        // names of the first.
        let own = |value: &Expr| Var::new(Arc::clone(&var.name), value.dtype);
        let before = self.parts.get(var).filter(|before| before.len() == values.len());
        let vars = before.cloned().unwrap_or_else(|| values.iter().map(own).collect());
        let binds =
            vars.iter().cloned().zip(values).map(|(var, value)| Stmt::new(StmtKind::Bind { var, value }));
        let binds = binds.collect();
        self.parts.insert(var.clone(), vars);
        binds
    }

    fn all_parts(&mut self, e: &Expr) -> Option<Vec<Expr>> {
        // Each part would repeat the effect.
        if !is_pure(e) {
            return None;
        }
        self.parts_of(e.dtype.lanes).into_iter().map(|part| self.part(e, part)).collect()
    }

    /// Returns the cached result for an expression, or computes it.
    fn once(
        &mut self,
        e: &Expr,
        part: Option<Part>,
        make: impl FnOnce(&mut Self) -> Option<Expr>,
    ) -> Option<Expr> {
        let key = (e.address(), part);
        if let Some((_, done)) = self.done.get(&key) {
            return done.clone();
        }
        let made = make(self);
        self.done.insert(key, (e.clone(), made.clone()));
        made
    }

    /// Rewrites an expression that is not a long vector, with the long vectors within it in parts.
    fn whole(&mut self, e: &Expr) -> Option<Expr> {
        self.once(e, None, |this| this.made_whole(e))
    }

    fn made_whole(&mut self, e: &Expr) -> Option<Expr> {
        match &e.kind {
            ExprKind::Shuffle { vectors, indices } if vectors.iter().any(|vector| self.is_long(vector)) => {
                self.picked(vectors, indices, e)
            }
            ExprKind::Let { var, value, body } if self.is_long(value) => {
                let (vars, values) = self.named(var, value)?;
                let body = self.whole(body)?;
                Some(let_used(vars, values, body))
            }
            _ => {
                let mut failed = false;
                let new = e.map_children(&mut |child| {
                    self.whole(child).unwrap_or_else(|| {
                        failed = true;
                        child.clone()
                    })
                });
                (!failed).then_some(new)
            }
        }
    }

    fn named(&mut self, var: &Var, value: &Expr) -> Option<(Vec<Var>, Vec<Expr>)> {
        let values = self.all_parts(value)?;
        self.bound(var, values.clone());
        Some((self.parts.get(var).cloned()?, values))
    }

    /// Picks lanes one by one.
    fn picked(&mut self, vectors: &[Expr], indices: &[u16], like: &Expr) -> Option<Expr> {
        let mut lanes = Vec::with_capacity(indices.len());
        for index in indices {
            let mut left = *index;
            let vector = vectors.iter().find(|vector| {
                let is_here = left < vector.dtype.lanes;
                left -= if is_here { 0 } else { vector.dtype.lanes };
                is_here
            })?;
            lanes.push(self.part(vector, (left, 1))?);
        }
        let count = u16::try_from(lanes.len()).ok()?;
        if count == 1 {
            return lanes.pop();
        }
        let dtype = like.dtype.with_lanes(count);
        Some(Expr::new(ExprKind::Shuffle { vectors: lanes, indices: (0..count).collect() }, dtype))
    }

    /// Some lanes of a vector: a part of [`Self::parts_of`], or one lane.
    fn part(&mut self, e: &Expr, part: Part) -> Option<Expr> {
        self.once(e, Some(part), |this| this.made_part(e, part))
    }

    fn made_part(&mut self, e: &Expr, (from, count): Part) -> Option<Expr> {
        if !self.is_long(e) {
            let whole = self.whole(e)?;
            return if count == e.dtype.lanes { Some(whole) } else { Some(lane(whole, from)) };
        }
        let dtype = e.dtype.with_lanes(count);
        Some(match &e.kind {
            ExprKind::Var(var) => {
                let vars = self.parts.get(var)?;
                let part = vars.get(usize::from(from / self.most))?.expr();
                if count == part.dtype.lanes { part } else { lane(part, from % self.most) }
            }
            ExprKind::Broadcast { value, .. } => {
                let value = self.whole(value)?;
                if count == 1 { value } else { value.broadcast(count) }
            }
            ExprKind::Ramp { base, stride, .. } => {
                let (base, stride) = (self.whole(base)?, self.whole(stride)?);
                let first = base + stride.clone() * Expr::int(from.into(), stride.dtype);
                if count == 1 { first } else { first.ramp(stride, count) }
            }
            ExprKind::Load { buffer, indices, predicate } if is_single(buffer) => {
                let [index] = indices.as_slice() else { return None };
                let index = self.part(index, (from, count))?;
                let predicate = match predicate {
                    Some(predicate) => Some(self.part(predicate, (from, count))?),
                    None => None,
                };
                Expr::new(ExprKind::Load { buffer: buffer.clone(), indices: vec![index], predicate }, dtype)
            }
            ExprKind::Load { buffer, indices, predicate: None } if buffer.dtype.lanes == e.dtype.lanes => {
                let [index] = indices.as_slice() else { return None };
                let (buffer, place) = self.place_of(buffer, index, (from, count))?;
                Expr::new(ExprKind::Load { buffer, indices: vec![place], predicate: None }, dtype)
            }
            ExprKind::Shuffle { vectors, indices } => {
                let range = usize::from(from)..usize::from(from + count);
                self.picked(vectors, indices.get(range)?, e)?
            }
            ExprKind::Let { var, value, body } => {
                if self.is_long(value) {
                    let (vars, values) = self.named(var, value)?;
                    let body = self.part(body, (from, count))?;
                    return Some(let_used(vars, values, body));
                }
                let value = self.whole(value)?;
                let body = self.part(body, (from, count))?;
                Expr::new(ExprKind::Let { var: var.clone(), value, body }, dtype)
            }
            _ => return self.lane_by_lane(e, (from, count)),
        })
    }

    /// Some lanes of an expression that computes each lane from the same lane of its operands.
    fn lane_by_lane(&mut self, e: &Expr, part: Part) -> Option<Expr> {
        let is_one_of_lanes = match &e.kind {
            ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::And(..)
            | ExprKind::Or(..)
            | ExprKind::Not(_)
            | ExprKind::Select(..)
            | ExprKind::Cast(_) => true,
            ExprKind::Call { callee: Callee::Op(_), .. } => is_pure(e),
            _ => false,
        };
        let mut failed = !is_one_of_lanes;
        let new = e.map_children(&mut |child| {
            let parted = if child.dtype.lanes == e.dtype.lanes {
                self.part(child, part)
            } else if child.dtype.is_scalar() {
                self.whole(child)
            } else {
                None
            };
            parted.unwrap_or_else(|| {
                failed = true;
                child.clone()
            })
        });
        (!failed).then(|| Expr::new(new.kind.clone(), e.dtype.with_lanes(part.1)))
    }
}

/// Wraps the body in bindings of the variables that it uses.
fn let_used(vars: Vec<Var>, values: Vec<Expr>, body: Expr) -> Expr {
    vars.into_iter().zip(values).rev().fold(body, |body, (var, value)| {
        if !any_node(&body, &|e| matches!(&e.kind, ExprKind::Var(used) if *used == var)) {
            return body;
        }
        let dtype = body.dtype;
        Expr::new(ExprKind::Let { var, value, body }, dtype)
    })
}
