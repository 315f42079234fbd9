//! Removal of pointers that are values, for languages that have none.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::analysis::{Usage, is_pure};
use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrValue, BinaryOp, Buffer, BufferNode, Callee, Child, DType, Expr, ExprKind, IrModule, Op, Param,
    PrimFunc, Stmt, StmtKind, Var, attr,
};

use crate::search::reads;

/// Replaces views of a moved pointer by views of the memory itself, and moves their indices
/// instead.
///
/// A view is kept if its pointer is not a named pointer moved by whole elements of the view.
#[must_use]
pub fn without_moved_pointers(module: &IrModule) -> IrModule {
    let functions = module.functions.iter().map(|function| {
        let mut body = function.body.clone();
        // A view may itself be declared over a view.
        while let Some(next) = views_resolved(&body) {
            body = next;
        }
        PrimFunc { body, ..function.clone() }
    });
    IrModule { functions: functions.collect(), attrs: module.attrs.clone() }
}

fn views_resolved(body: &Stmt) -> Option<Stmt> {
    let (mut with, mut moved) = (Substitution::new(), HashMap::new());
    let mut views: Vec<Var> = Vec::new();
    body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        let StmtKind::DeclBuffer { buffer, data: Some(data) } = &stmt.kind else { return };
        let is_moved = matches!(data.kind, ExprKind::Call { .. });
        let resolved = pointed_to(data, buffer.dtype).filter(|(base, _)| is_moved && !views.contains(base));
        let Some((base, first)) = resolved else { return };
        moved.extend(first.map(|first| (buffer.data.clone(), first)));
        with.map_var(&buffer.data, base.expr());
        views.push(buffer.data.clone());
    });
    (!views.is_empty()).then(|| with.stmt(&declared_by_name(&Moved::by(moved).stmt(body), &views)))
}

/// Rewrites the statement so that views of those pointers are declared over named memory.
fn declared_by_name(stmt: &Stmt, views: &[Var]) -> Stmt {
    match &stmt.kind {
        StmtKind::DeclBuffer { buffer, .. } if views.contains(&buffer.data) => {
            Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data: None }).with_span(stmt.span)
        }
        _ => stmt.map_children(&mut Expr::clone, &mut |inner| declared_by_name(inner, views)),
    }
}

/// Replaces calls of functions that take buffers by their bodies, and removes functions that are no
/// longer called.
///
/// A call is kept, for the dialect to refuse it, if the function returns early or returns a value,
/// calls itself, or is given a pointer that is neither a buffer nor the address of an element, and
/// once the number of bodies inlined into a function reaches a limit, since calls of calls could
/// make it grow without end.
#[must_use]
pub fn with_inlined_buffers(module: &IrModule) -> IrModule {
    let takes_buffers = |f: &&PrimFunc| f.params.iter().any(|param| data_of(param).is_some());
    let is_called =
        |f: &&PrimFunc| !matches!(f.attrs.get(attr::CALLING_CONV), Some(AttrValue::Int(conv)) if *conv != 0);
    let callees: HashMap<Arc<str>, &PrimFunc> = module
        .functions
        .iter()
        .filter(is_called)
        .filter(takes_buffers)
        .map(|function| (Arc::clone(&function.name), function))
        .collect();
    if callees.is_empty() {
        return module.clone();
    }
    let mut functions: Vec<PrimFunc> = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let mut inliner =
            Inliner { callees: &callees, active: vec![Arc::clone(&function.name)], left: BODIES_MAX };
        functions.push(PrimFunc { body: inliner.stmt(&function.body), ..function.clone() });
    }
    // The remaining ones are called by functions that are kept, or by each other.
    loop {
        let called: HashSet<Arc<str>> =
            functions.iter().flat_map(|function| Usage::of(&function.body).called).collect();
        let before = functions.len();
        functions.retain(|function| !callees.contains_key(&function.name) || called.contains(&function.name));
        if functions.len() == before {
            return IrModule { functions, attrs: module.attrs.clone() };
        }
    }
}

fn data_of(param: &Param) -> Option<&Var> {
    match param {
        Param::Var(var) if var.dtype.is_handle() => Some(var),
        _ => None,
    }
}

/// Maximum number of bodies inlined into one function.
const BODIES_MAX: usize = 1000;

struct Inliner<'a> {
    callees: &'a HashMap<Arc<str>, &'a PrimFunc>,
    /// Functions whose bodies are being inlined.
    active: Vec<Arc<str>>,
    /// Number of bodies that may still be inlined.
    left: usize,
}

impl Inliner<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        if let StmtKind::Evaluate(call) = &stmt.kind
            && let ExprKind::Call { callee: Callee::Global(name), args } = &call.kind
            && let Some(function) = self.callees.get(name).copied()
            && self.left > 0
            && !self.active.contains(name)
            && let Some(body) = body_of(function, args)
        {
            self.left -= 1;
            self.active.push(Arc::clone(name));
            let body = self.stmt(&body);
            self.active.pop();
            return body;
        }
        stmt.map_children(&mut Expr::clone, &mut |inner| self.stmt(inner))
    }
}

/// The function's body with these arguments; `None` if it cannot replace a call.
fn body_of(function: &PrimFunc, args: &[Expr]) -> Option<Stmt> {
    let mut returns = false;
    function.body.walk(&mut |child| {
        returns |= matches!(child, Child::Stmt(stmt) if matches!(stmt.kind, StmtKind::Return(_)));
    });
    if returns || function.ret.is_some() || function.params.len() != args.len() {
        return None;
    }
    let mut with = Substitution::new().fresh();
    let (mut bound, mut moved) = (Vec::new(), HashMap::new());
    let mut bind = |var: &Var, value: &Expr| {
        let own = Var::new(Arc::clone(&var.name), value.dtype);
        bound.push(Stmt::new(StmtKind::Bind { var: own.clone(), value: value.clone() }));
        own.expr()
    };
    for (param, arg) in function.params.iter().zip(args) {
        let Param::Var(var) = param else { return None };
        if !var.dtype.is_handle() {
            let value = bind(var, arg);
            with.map_var(var, value);
            continue;
        }
        let element = var.pointer.as_ref().map(|pointer| pointer.element)?;
        let (data, first) = pointed_to(arg, element)?;
        moved.extend(first.map(|first| (var.clone(), first)));
        with.map_var(var, data.expr());
    }
    let body = with.stmt(&Moved::by(moved).stmt(&function.body));
    Some(Stmt::seq(bound.into_iter().chain([body])))
}

/// The named pointer that a pointer is derived from, and the number of elements of a type by which
/// it is moved, if any.
fn pointed_to(pointer: &Expr, element: DType) -> Option<(Var, Option<Expr>)> {
    let (var, first) = match &pointer.kind {
        ExprKind::Var(var) => (var.clone(), None),
        ExprKind::Call { callee: Callee::Op(op), args } => match (op, args.as_slice()) {
            (Op::AddressOf, [place]) => match &place.kind {
                ExprKind::Load { buffer, indices, predicate: None } => match indices.as_slice() {
                    [index] if index.dtype.is_scalar() && is_like(buffer, element) => {
                        (buffer.data.clone(), Some(index.clone()))
                    }
                    _ => return None,
                },
                _ => return None,
            },
            (Op::HandleAddByteOffset, [base, bytes]) => match &base.kind {
                ExprKind::Var(var) => (var.clone(), Some(in_elements(bytes, element.size_bytes() as i128)?)),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    let first = first.filter(|first| first.as_int() != Some(0));
    // The offset is recomputed at every access to the memory.
    first.as_ref().is_none_or(|first| is_pure(first) && !reads(first)).then_some((var, first))
}

/// Returns true if the elements of a buffer have that type and are contiguous from its pointer on.
fn is_like(buffer: &Buffer, element: DType) -> bool {
    let is_plain = buffer.strides.iter().all(|stride| stride.as_int() == Some(1));
    buffer.dtype == element
        && is_plain
        && buffer.elem_offset.as_ref().is_none_or(|offset| offset.as_int() == Some(0))
}

/// Converts a number of bytes to a number of elements.
fn in_elements(bytes: &Expr, size: i128) -> Option<Expr> {
    match &bytes.kind {
        ExprKind::Int(value) if size > 0 && value % size == 0 => Some(Expr::int(value / size, bytes.dtype)),
        ExprKind::Binary(BinaryOp::Mul, a, b) => Some(a.clone() * in_elements(b, size)?),
        ExprKind::Binary(BinaryOp::Add, a, b) => Some(in_elements(a, size)? + in_elements(b, size)?),
        _ => None,
    }
}

/// Adds an offset in elements to a position or a vector of positions, in the wider of both types.
fn sum(index: &Expr, first: &Expr) -> Expr {
    let dtype = if first.dtype.bits > index.dtype.bits { first.dtype } else { index.dtype.scalar() };
    let first = first.clone().cast(dtype);
    let lanes = index.dtype.lanes;
    let index = index.clone().cast(DType { lanes, ..dtype });
    index + if lanes == 1 { first } else { first.broadcast(lanes) }
}

/// Moves accesses through some pointers by a number of elements; their buffers become longer by as
/// much.
struct Moved {
    first: HashMap<Var, Expr>,
    /// The result for a buffer, by its address, with the buffer itself so that the address is not
    /// reused.
    longer: HashMap<usize, (Buffer, Buffer)>,
    /// The result for an expression, with the expression itself so that its address is not reused.
    done: HashMap<usize, (Expr, Expr)>,
}

impl Moved {
    fn by(first: HashMap<Var, Expr>) -> Self {
        Self { first, longer: HashMap::new(), done: HashMap::new() }
    }

    /// Extends the buffer so that it begins at the start of its memory.
    fn longer(&mut self, buffer: &Buffer) -> Option<Buffer> {
        let (first, [extent]) = (self.first.get(&buffer.data)?, buffer.shape.as_slice()) else { return None };
        if let Some((_, longer)) = self.longer.get(&buffer.address()) {
            return Some(longer.clone());
        }
        let shape = vec![sum(extent, first)];
        let longer = Buffer::from_node(BufferNode { shape, ..BufferNode::clone(buffer) });
        self.longer.insert(buffer.address(), (buffer.clone(), longer.clone()));
        Some(longer)
    }

    fn shifted(&mut self, buffer: &Buffer, indices: &[Expr]) -> Option<(Buffer, Vec<Expr>)> {
        let [index] = indices else { return None };
        let longer = self.longer(buffer)?;
        Some((longer, vec![sum(index, self.first.get(&buffer.data)?)]))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        if self.first.is_empty() {
            return stmt.clone();
        }
        let this = std::cell::RefCell::new(&mut *self);
        let new =
            stmt.map_children(&mut |e| this.borrow_mut().expr(e), &mut |inner| this.borrow_mut().stmt(inner));
        match &new.kind {
            StmtKind::Store { buffer, value, indices, predicate } => match self.shifted(buffer, indices) {
                Some((buffer, indices)) => {
                    let (value, predicate) = (value.clone(), predicate.clone());
                    Stmt::new(StmtKind::Store { buffer, value, indices, predicate }).with_span(stmt.span)
                }
                None => new,
            },
            StmtKind::DeclBuffer { buffer, data } => match self.longer(buffer) {
                Some(buffer) => {
                    Stmt::new(StmtKind::DeclBuffer { buffer, data: data.clone() }).with_span(stmt.span)
                }
                None => new,
            },
            _ => new,
        }
    }

    fn expr(&mut self, e: &Expr) -> Expr {
        if let Some((_, done)) = self.done.get(&e.address()) {
            return done.clone();
        }
        let mut new = e.map_children(&mut |child| self.expr(child));
        if let ExprKind::Load { buffer, indices, predicate } = &new.kind
            && let Some((buffer, indices)) = self.shifted(buffer, indices)
        {
            let kind = ExprKind::Load { buffer, indices, predicate: predicate.clone() };
            new = Expr::new(kind, new.dtype);
        }
        self.done.insert(e.address(), (e.clone(), new.clone()));
        new
    }
}
