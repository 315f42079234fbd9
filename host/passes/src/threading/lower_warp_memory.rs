//! Lowering of warp memory: each thread's part in local memory, access to other parts by shuffles.

mod layout;
mod place;

use std::collections::HashMap;

use chipdock_ir::{
    AttrNode, Attrs, Buffer, Callee, Child, DType, Expr, ExprKind, ForKind, IrModule, Op, PrimFunc, Span,
    Stmt, StmtKind, StorageRank, StorageScope, TargetCapabilities, Var,
};

use crate::PassError;
use crate::simplify::leaves_loop;
use crate::walk::{depends_on_memory, try_map_functions, vars_of};
use layout::{Layout, OwnerMap};
use place::WarpContext;

const PASS: &str = "lower_warp_memory";

/// The ops that this lowering needs.
const NEEDED: [Op; 2] = [Op::WarpActivemask, Op::WarpShuffle];
/// Maximum number of threads in a warp: the mask of a shuffle has that many bits.
const WARP_MAX: i64 = 32;

/// Lowers memory of scope `warp` (IR-K2) to memory of scope `local`, with as many elements divided
/// by the threads of a warp. Each thread owns the elements that it stores: `m` adjacent ones, then
/// `m` more after `m` elements of every other thread of the warp. Elements of another thread are
/// loaded by a shuffle.
///
/// # Before and after
///
/// ```text
/// W = T.alloc_buffer((64,), scope="warp")               W = T.alloc_buffer((2,), scope="local")
/// for i in range(2):                                    for i in range(2):
///     W[tx * 2 + i] = A[tx * 2 + i]              ->         W[i] = A[tx * 2 + i]
/// for i in range(2):                                    for i in range(2):
///     B[tx, i] = W[(31 - tx) * 2 + i]                       mask = T.tvm_warp_activemask()
///                                                           other[0] = T.tvm_warp_shuffle(mask, W[i], 31 - tx, 32, 32)
///                                                           B[tx, i] = other[0]
/// ```
///
/// # Requires / # Ensures
///
/// Requires flattened buffers. No memory has the scope `warp`; barriers of warps stay.
///
/// # Errors
///
/// The target's: it does not support shuffles, or its warp size is not known. The caller's: warp
/// memory that is distributed among the threads in another way, is touched in vectors or through
/// pointers, or is loaded from another thread where not all threads of a warp arrive, or at a
/// position in that thread's part which is not the same for all.
pub fn lower_warp_memory(
    module: &IrModule,
    capabilities: &TargetCapabilities,
) -> Result<IrModule, PassError> {
    if capabilities.execution.thread_axes.is_empty() {
        return Ok(module.clone());
    }
    try_map_functions(module, |function| {
        let buffers = allocated(&function.body);
        let Some((buffer, span)) = buffers.first() else { return Ok(function.clone()) };
        let warp = warp_size(capabilities).map_err(|lacks| {
            let kind = &capabilities.target.kind;
            let message = format!(
                "expected memory of scope \"shared\" or \"local\" on target \"{kind}\", {lacks}; found buffer {} in scope \
                 \"{}\"",
                buffer.name, buffer.scope
            );
            PassError::target(PASS, &function.name, message).at(*span)
        })?;
        let mut layouts = HashMap::new();
        for (buffer, span) in &buffers {
            let layout = Layout::find(function, buffer, warp)
                .map_err(|message| PassError::caller(PASS, &function.name, message).at(*span))?;
            layouts.insert(buffer.data.clone(), layout);
        }
        let is_apart = ends_early(&function.body);
        let mut rewriter =
            Rewriter { function, warp, layouts, place: WarpContext::new(warp), is_apart, span: Span::NONE };
        Ok(PrimFunc { body: rewriter.stmt(&function.body)?, ..function.clone() })
    })
}

/// Buffers of scope `warp`, with the positions of their allocations.
fn allocated(body: &Stmt) -> Vec<(Buffer, Span)> {
    let mut found = Vec::new();
    body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::AllocBuffer { buffer, .. } = &stmt.kind
            && buffer.scope.rank == StorageRank::Warp
        {
            found.push((buffer.clone(), stmt.span));
        }
    });
    found
}

/// The number of threads of a warp that supports shuffles; the error says what the target lacks.
fn warp_size(capabilities: &TargetCapabilities) -> Result<i128, &'static str> {
    if !NEEDED.iter().all(|op| capabilities.execution.has_native(*op)) {
        return Err("whose warps do not shuffle");
    }
    match capabilities.execution.warp_size {
        Some(size @ 2..=WARP_MAX) if size & (size - 1) == 0 => Ok(size.into()),
        _ => Err("whose warps are not known to have 2, 4, 8, 16 or 32 threads"),
    }
}

struct Rewriter<'a> {
    function: &'a PrimFunc,
    warp: i128,
    /// Layouts by data variable.
    layouts: HashMap<Var, Layout>,
    place: WarpContext,
    /// Whether some threads of a warp may reach the current statement and others not.
    is_apart: bool,
    span: Span,
}

/// Statements that must run before another, and the context of its expression.
#[derive(Default)]
struct Before {
    stmts: Vec<Stmt>,
    mask: Option<Var>,
    /// Variables bound within the expression.
    inner: Vec<Var>,
    /// Whether the expression is evaluated conditionally.
    is_lazy: bool,
}

impl Rewriter<'_> {
    fn refuse(&self, message: String) -> PassError {
        PassError::caller(PASS, &self.function.name, message).at(self.span)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        let outer = (self.span, self.is_apart);
        if stmt.span != Span::NONE {
            self.span = stmt.span;
        }
        let new = self.kind(stmt);
        (self.span, self.is_apart) = outer;
        let new = new?;
        Ok(if new.span == Span::NONE { new.with_span(stmt.span) } else { new })
    }

    fn kind(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        match &stmt.kind {
            StmtKind::AllocBuffer { buffer, .. } if self.layouts.contains_key(&buffer.data) => {
                let (buffer, annotations) = (self.layouts[&buffer.data].own.clone(), Attrs::new());
                return Ok(Stmt::new(StmtKind::AllocBuffer { buffer, annotations }));
            }
            StmtKind::Attr { node: AttrNode::Buffer(buffer), body, .. }
                if self.layouts.contains_key(&buffer.data) =>
            {
                return self.stmt(body);
            }
            StmtKind::For { min, extent, kind, body, .. } => {
                let is_bound = matches!(kind, ForKind::ThreadBinding(_));
                let in_order = is_bound || matches!(kind, ForKind::Serial | ForKind::Unrolled);
                let alike = self.place.is_uniform(min) && self.place.is_uniform(extent);
                self.is_apart |= !(in_order && alike) || leaves_loop(body);
            }
            StmtKind::While { condition, body } => {
                let alike = self.place.is_uniform(condition) && !self.loads_of_others(condition)?;
                self.is_apart |= !alike || leaves_loop(body);
            }
            _ => {}
        }
        let mut before = Before::default();
        // The condition of a loop is evaluated in each iteration: no statement can run before it.
        let is_while = matches!(stmt.kind, StmtKind::While { .. });
        let mut condition = None;
        if let StmtKind::If { condition: decides, .. } = &stmt.kind {
            condition = Some(self.place.is_uniform(decides));
        }
        let threads = self.place.enter(stmt);
        let this = std::cell::RefCell::new((&mut *self, &mut before));
        let new = stmt.try_map_children(
            &mut |expr| {
                let (this, before) = &mut *this.borrow_mut();
                if is_while { this.expr(expr, &mut Before::default()) } else { this.expr(expr, before) }
            },
            &mut |inner| {
                let (this, _) = &mut *this.borrow_mut();
                let outer = this.is_apart;
                this.is_apart |= condition == Some(false);
                let result = this.stmt(inner);
                this.is_apart = outer;
                result
            },
        )?;
        self.place.leave(threads);
        let new = self.stored(new)?;
        Ok(if before.stmts.is_empty() { new } else { Stmt::seq(before.stmts.into_iter().chain([new])) })
    }

    /// Rewrites a store to the thread's own part.
    fn stored(&self, stmt: Stmt) -> Result<Stmt, PassError> {
        let StmtKind::Store { buffer, indices, value, .. } = &stmt.kind else { return Ok(stmt) };
        let (Some(layout), [index]) = (self.layouts.get(&buffer.data), indices.as_slice()) else {
            return Ok(stmt);
        };
        let at = self.place.simple(&layout.within(index));
        Ok(Stmt::store(&layout.own, vec![at], value.clone()).with_span(stmt.span))
    }

    fn expr(&mut self, expr: &Expr, before: &mut Before) -> Result<Expr, PassError> {
        let lazy_from = match &expr.kind {
            ExprKind::Call { callee: Callee::Op(Op::IfThenElse), .. }
            | ExprKind::And(..)
            | ExprKind::Or(..) => 1,
            _ => usize::MAX,
        };
        let n_inner = before.inner.len();
        if let ExprKind::Let { var, .. } = &expr.kind {
            before.inner.push(var.clone());
        }
        let (mut number, was_lazy) = (0, before.is_lazy);
        let new = expr.try_map_children(&mut |child| {
            before.is_lazy = was_lazy || number >= lazy_from;
            number += 1;
            self.expr(child, before)
        })?;
        before.is_lazy = was_lazy;
        before.inner.truncate(n_inner);
        let ExprKind::Load { buffer, indices, .. } = &new.kind else { return Ok(new) };
        let (Some(layout), [index]) = (self.layouts.get(&buffer.data), indices.as_slice()) else {
            return Ok(new);
        };
        let within = self.place.simple(&layout.within(index));
        if self.place.is_own(layout, index) {
            return Ok(Expr::load(&layout.own, vec![within]));
        }
        let shuffled =
            Shuffled { own: layout.own.clone(), size: layout.size, lane: layout.lane(index), within };
        self.shuffled(&shuffled, index, before)
    }

    /// Loads an element of another thread's part, through an element of memory that the shuffle
    /// fills.
    fn shuffled(&self, from: &Shuffled, index: &Expr, before: &mut Before) -> Result<Expr, PassError> {
        let name = &from.own.name;
        if self.is_apart {
            return Err(self.refuse(format!(
                "expected all threads of a warp to come where one loads what another stored in memory of the warp; found a \
                 load of {name} under a condition, or in a loop, that threads decide on differently, or that some leave: load \
                 it before into memory of scope \"local\""
            )));
        }
        if !self.place.is_uniform(&from.within) && from.size > 1 {
            return Err(self.refuse(format!(
                "expected threads of a warp to load from the same place of each other's parts of {name}; found an index whose \
                 place depends on the thread"
            )));
        }
        let reads = before.is_lazy && depends_on_memory(index);
        if reads || vars_of(index).iter().any(|var| before.inner.contains(var)) {
            return Err(self.refuse(format!(
                "expected the index of a load of {name} from another thread to be known before the statement; bind it in a \
                 statement of its own"
            )));
        }
        let int = |value: i128| Expr::int(value, DType::INT32);
        let mask = before.mask.get_or_insert_with(|| {
            let var = Var::new("mask", DType::UINT32);
            let value = Expr::call(Op::WarpActivemask, Vec::new(), DType::UINT32);
            before.stmts.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
            var
        });
        let mut within = from.within.clone();
        if from.size == 1 {
            within = Expr::int(0, within.dtype);
        } else if before.is_lazy {
            // The index may have any value if the condition is false.
            let last = Expr::int(from.size - 1, within.dtype);
            within = within.max(Expr::int(0, last.dtype)).min(last);
        }
        let dtype = from.own.dtype;
        let value = Expr::load(&from.own, vec![within]);
        let lane = self.place.simple(&from.lane.clone().cast(DType::INT32));
        let args = vec![mask.expr(), value, lane, int(self.warp), int(self.warp)];
        let other = Buffer::new(format!("{name}_other"), vec![int(1)], dtype, StorageScope::LOCAL);
        let (buffer, annotations) = (other.clone(), Attrs::new());
        before.stmts.push(Stmt::new(StmtKind::AllocBuffer { buffer, annotations }));
        before.stmts.push(Stmt::store(&other, vec![int(0)], Expr::call(Op::WarpShuffle, args, dtype)));
        Ok(Expr::load(&other, vec![int(0)]))
    }

    /// Returns true if the expression loads warp memory of other threads.
    fn loads_of_others(&self, expr: &Expr) -> Result<bool, PassError> {
        let mut found = None;
        expr.walk(&mut |e| {
            if let ExprKind::Load { buffer, indices, .. } = &e.kind
                && let (Some(layout), [index]) = (self.layouts.get(&buffer.data), indices.as_slice())
                && !self.place.is_own(layout, index)
            {
                found.get_or_insert(buffer.clone());
            }
        });
        match found {
            None => Ok(false),
            Some(buffer) => Err(self.refuse(format!(
                "expected the condition of a loop to load nothing of other threads; found a load of {} in memory of a warp: \
                 load it into memory of scope \"local\" at the end of each iteration",
                buffer.name
            ))),
        }
    }
}

/// A load of another thread's part.
struct Shuffled {
    own: Buffer,
    size: i128,
    lane: Expr,
    within: Expr,
}

/// The local buffer of a thread's own elements.
fn own(buffer: &Buffer, size: i128) -> Buffer {
    Buffer::new(&*buffer.name, vec![Expr::int(size, DType::INT32)], buffer.dtype, StorageScope::LOCAL)
}

/// Returns true if threads may end before others.
fn ends_early(body: &Stmt) -> bool {
    let mut found = false;
    body.walk_exprs(&mut |expr| {
        found |= matches!(&expr.kind, ExprKind::Call { callee: Callee::Op(Op::ThreadReturn), .. });
    });
    found
}

/// An access to warp memory that is not element by element.
fn misuse(function: &PrimFunc, buffer: &Buffer) -> Option<&'static str> {
    let is_vector = |of: &Buffer, indices: &[Expr], predicate: &Option<Expr>| {
        let one = matches!(indices, [index] if index.dtype.is_scalar()) && predicate.is_none();
        of.data == buffer.data && !one
    };
    let mut found = None;
    function.body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        match &stmt.kind {
            StmtKind::DeclBuffer { buffer: view, .. } if view.data == buffer.data => {
                found = Some("a view of it");
            }
            StmtKind::Store { buffer: to, indices, predicate, .. } if is_vector(to, indices, predicate) => {
                found = Some("a store of a vector");
            }
            _ => {}
        }
    });
    function.body.walk_exprs(&mut |expr| match &expr.kind {
        ExprKind::Var(var) if *var == buffer.data => found = Some("a pointer to it"),
        ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } => {
            let of = args.first().map(|arg| &arg.kind);
            if matches!(of, Some(ExprKind::Load { buffer: of, .. }) if of.data == buffer.data) {
                found = Some("an address in it");
            }
        }
        ExprKind::Load { buffer: of, indices, predicate } if is_vector(of, indices, predicate) => {
            found = Some("a load of a vector");
        }
        _ => {}
    });
    found
}
