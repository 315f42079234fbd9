//! Merging of dynamic shared memory into one allocation per launch.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, Attrs, Buffer, BufferNode, Child, DType, Expr, ExprKind, IrModule, Op, PrimFunc, Stmt,
    StmtKind, StorageScope, TargetCapabilities, Var,
};

use crate::PassError;
use crate::simplify;
use crate::threading::threads::{barrier_scope, try_map_launches};
use crate::walk::{is_thread, try_map_functions, vars_of};

const PASS: &str = "merge_shared_memory";

/// Merges all dynamic shared memory of a launch into one allocation, as devices provide one per
/// launch: each buffer becomes a view of it, whose indices begin where the previous buffer ends, at
/// a multiple of the size of every element in it.
///
/// Buffers of constant sizes that are used only by statements of the launch's outermost sequence
/// share memory if a barrier stands between the last use of one and the first use of the other.
///
/// # Before and after
///
/// ```text
/// S = T.alloc_buffer((64,), scope="shared.dyn")                dynamic = T.alloc_buffer((64 + n,), scope="shared.dyn")
/// C = T.alloc_buffer((n,), "int32", scope="shared.dyn")        S = T.decl_buffer((64,), data=dynamic.data, …)
/// S[tx] = A[tx]                                            ->  C = T.decl_buffer((64 + n,), "int32", data=dynamic.data, …)
/// C[tx] = 0                                                    S[tx] = A[tx]
///                                                              C[tx + 64] = 0
/// ```
///
/// # Requires / # Ensures
///
/// Requires flattened buffers and explicit barriers. A launch has at most one allocation in scope
/// `shared.dyn`.
///
/// # Errors
///
/// The caller's: of several buffers, one whose size is not known where threads are launched.
pub fn merge_shared_memory(
    module: &IrModule,
    _capabilities: &TargetCapabilities,
) -> Result<IrModule, PassError> {
    try_map_functions(module, |function| {
        let outside = outside(&function.body);
        let mut merged = HashSet::new();
        let body = try_map_launches(&function.body, &mut |launch| {
            let buffers = used(launch, &outside);
            if buffers.len() < 2 {
                return Ok(launch.clone());
            }
            merged.extend(buffers.iter().map(|buffer| buffer.data.clone()));
            Merger::new(function, launch, buffers)?.launch(launch, &outside)
        })?;
        // A launch that uses only one of them gets an allocation of its own.
        let body = if merged.is_empty() { body } else { without(&body, &outside, &merged) };
        Ok(PrimFunc { body, ..function.clone() })
    })
}

fn is_dynamic(stmt: &Stmt) -> Option<&Buffer> {
    match &stmt.kind {
        StmtKind::AllocBuffer { buffer, .. } if buffer.scope.is_dynamic_shared() => Some(buffer),
        _ => None,
    }
}

/// Buffers that are allocated outside of launches.
fn outside(body: &Stmt) -> Vec<Buffer> {
    let mut found = Vec::new();
    fn search(stmt: &Stmt, found: &mut Vec<Buffer>) {
        if is_thread(stmt) {
            return;
        }
        found.extend(is_dynamic(stmt).cloned());
        stmt.for_each_child(&mut |child| {
            if let Child::Stmt(stmt) = child {
                search(stmt, found);
            }
        });
    }
    search(body, &mut found);
    found
}

/// The allocations that a launch uses.
fn used(launch: &Stmt, outside: &[Buffer]) -> Vec<Buffer> {
    let mut touched = HashSet::new();
    touched_by(launch, &mut |data, _| {
        touched.insert(data.clone());
    });
    let mut buffers: Vec<Buffer> =
        outside.iter().filter(|buffer| touched.contains(&buffer.data)).cloned().collect();
    launch.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            buffers.extend(is_dynamic(stmt).cloned());
        }
    });
    buffers
}

/// Calls `f` with each data variable that a statement uses, and whether its address may escape.
fn touched_by(stmt: &Stmt, f: &mut dyn FnMut(&Var, bool)) {
    stmt.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::Store { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } = &stmt.kind
        {
            f(&buffer.data, false);
        }
    });
    stmt.walk_exprs(&mut |expr| match &expr.kind {
        ExprKind::Load { buffer, .. } => f(&buffer.data, false),
        ExprKind::Var(var) if var.dtype.is_handle() => f(var, true),
        _ => {}
    });
}

/// Removes the allocations outside of launches that were merged; a launch that uses only one of
/// them allocates it itself.
fn without(body: &Stmt, outside: &[Buffer], merged: &HashSet<Var>) -> Stmt {
    if is_thread(body) {
        let alone = used(body, outside);
        let own = alone.iter().filter(|buffer| merged.contains(&buffer.data));
        let own: Vec<Buffer> = own.filter(|buffer| outside.contains(buffer)).cloned().collect();
        return own.into_iter().fold(body.clone(), |launch, buffer| {
            // Names belong to one launch.
            let stmt = with_front(&launch, vec![allocation(&buffer)]);
            Substitution::new().fresh().stmt(&stmt)
        });
    }
    match &body.kind {
        StmtKind::AllocBuffer { buffer, .. } if merged.contains(&buffer.data) => Stmt::nop(),
        StmtKind::Seq(stmts) => {
            let kept = stmts.iter().map(|stmt| without(stmt, outside, merged)).filter(|stmt| !stmt.is_nop());
            Stmt::seq(kept).with_span(body.span)
        }
        _ => body.map_children(&mut Expr::clone, &mut |stmt| without(stmt, outside, merged)),
    }
}

fn allocation(buffer: &Buffer) -> Stmt {
    Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() })
}

/// Inserts statements at the start of the launch, within the outermost axes.
fn with_front(stmt: &Stmt, front: Vec<Stmt>) -> Stmt {
    if is_thread(stmt) {
        return stmt.map_children(&mut Expr::clone, &mut |body| with_front(body, front.clone()));
    }
    Stmt::seq(front.into_iter().chain([stmt.clone()]))
}

/// The statements of the outermost sequence of a launch.
fn sequence(stmt: &Stmt) -> &[Stmt] {
    match &stmt.kind {
        StmtKind::Seq(stmts) => stmts,
        StmtKind::LaunchThread { body, .. } | StmtKind::For { body, .. } if is_thread(stmt) => sequence(body),
        _ => std::slice::from_ref(stmt),
    }
}

struct Merger {
    merged: Buffer,
    /// A size in bytes to a multiple of which each buffer is aligned.
    unit: i128,
    /// Offset of each buffer, in such units, by data variable.
    offsets: HashMap<Var, Expr>,
    /// Replacement of each view.
    views: RefCell<HashMap<Buffer, Buffer>>,
}

impl Merger {
    fn new(function: &PrimFunc, launch: &Stmt, buffers: Vec<Buffer>) -> Result<Self, PassError> {
        let elements = elements(launch, &buffers);
        let unit = elements.iter().fold(1, |unit, dtype| lcm(unit, dtype.size_bytes() as i128));
        let names = names(launch);
        let mut sizes = Vec::new();
        for buffer in &buffers {
            sizes.push(size(function, launch, buffer, &names)?);
        }
        let wide = sizes.iter().any(|size| size.dtype.bits > 32);
        // The size that a launch asks for is exact, in 64 bits; one that exceeds the device's
        // memory is refused. A kernel that runs has offsets as short as its sizes.
        let dtype = if wide { DType::INT64 } else { DType::INT32 };
        let in_units = |dtype| -> Vec<Expr> {
            let all = buffers.iter().zip(&sizes);
            all.map(|(buffer, size)| units(buffer, &size.clone().cast(dtype), unit)).collect()
        };
        let (short, exact) = (in_units(dtype), in_units(DType::INT64));
        let (mut before, mut total) = (Expr::int(0, dtype), Expr::int(0, DType::INT64));
        let mut offsets = HashMap::new();
        for slot in slots(launch, &buffers, &exact) {
            let largest = |sizes: &[Expr]| {
                let most = slot.iter().filter_map(|at| sizes[*at].as_int()).max();
                most.map_or_else(|| sizes[slot[0]].clone(), |most| Expr::int(most, sizes[slot[0]].dtype))
            };
            offsets.extend(slot.iter().map(|at| (buffers[*at].data.clone(), before.clone())));
            before = simplify::expr(&(before + largest(&short)));
            total = simplify::expr(&(total + largest(&exact)));
        }
        let is_short = total.as_int().is_some_and(|units| units * unit <= i128::from(i32::MAX));
        let total = if is_short { before } else { total };
        let of_unit = elements.into_iter().find(|dtype| dtype.size_bytes() as i128 == unit);
        let (element, shape) = match of_unit {
            Some(element) => (element, total),
            None => {
                let unit = Expr::int(unit, total.dtype);
                (DType::UINT8, simplify::expr(&(total * unit)))
            }
        };
        let merged = Buffer::new("dynamic", vec![shape], element, StorageScope::parse("shared.dyn"));
        Ok(Self { merged, unit, offsets, views: RefCell::default() })
    }

    fn launch(&self, launch: &Stmt, outside: &[Buffer]) -> Result<Stmt, PassError> {
        let mut front = vec![allocation(&self.merged)];
        for buffer in outside.iter().filter(|buffer| self.offsets.contains_key(&buffer.data)) {
            front.push(Stmt::new(StmtKind::DeclBuffer { buffer: self.view(buffer), data: None }));
        }
        Ok(with_front(&self.stmt(launch), front))
    }

    /// The number of elements before a buffer's own, in the type of an index.
    fn before(&self, buffer: &Buffer, index: DType) -> Option<Expr> {
        let units = self.offsets.get(&buffer.data)?.clone().cast(index);
        // The unit is a multiple of the size of every element.
        let elements = self.unit / (buffer.dtype.size_bytes() as i128).max(1);
        Some(simplify::expr(&(units * Expr::int(elements, index))))
    }

    fn view(&self, buffer: &Buffer) -> Buffer {
        if let Some(view) = self.views.borrow().get(buffer) {
            return view.clone();
        }
        let Some(extent) = buffer.shape.first() else { return buffer.clone() };
        let Some(before) = self.before(buffer, extent.dtype) else { return buffer.clone() };
        let shape = vec![simplify::expr(&(extent.clone() + before))];
        let data = self.merged.data.clone();
        let view = Buffer::from_node(BufferNode { shape, data, ..BufferNode::clone(buffer) });
        self.views.borrow_mut().insert(buffer.clone(), view.clone());
        view
    }

    fn indices(&self, buffer: &Buffer, indices: &[Expr]) -> Vec<Expr> {
        let moved = indices.iter().map(|index| match self.before(buffer, index.dtype.scalar()) {
            Some(before) => simplify::expr(&(index.clone() + before.broadcast(index.dtype.lanes))),
            None => index.clone(),
        });
        moved.collect()
    }

    fn expr(&self, expr: &Expr) -> Expr {
        if let ExprKind::Var(var) = &expr.kind {
            return match self.offsets.get(var) {
                Some(units) => {
                    let bytes = units.clone().cast(DType::INT64) * Expr::int(self.unit, DType::INT64);
                    let args = vec![self.merged.data.expr(), simplify::expr(&bytes)];
                    Expr::call(Op::HandleAddByteOffset, args, DType::HANDLE)
                }
                None => expr.clone(),
            };
        }
        let new = expr.map_children(&mut |e| self.expr(e));
        match &new.kind {
            ExprKind::Load { buffer, indices, predicate } if self.offsets.contains_key(&buffer.data) => {
                let (buffer, indices) = (self.view(buffer), self.indices(buffer, indices));
                let kind = ExprKind::Load { buffer, indices, predicate: predicate.clone() };
                Expr::new(kind, new.dtype).with_span(new.span)
            }
            _ => new,
        }
    }

    fn stmt(&self, stmt: &Stmt) -> Stmt {
        let new = stmt.map_children(&mut |e| self.expr(e), &mut |s| self.stmt(s));
        let kind = match &new.kind {
            StmtKind::Store { buffer, indices, value, predicate }
                if self.offsets.contains_key(&buffer.data) =>
            {
                StmtKind::Store {
                    buffer: self.view(buffer),
                    indices: self.indices(buffer, indices),
                    value: value.clone(),
                    predicate: predicate.clone(),
                }
            }
            StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, data: None }
                if self.offsets.contains_key(&buffer.data) =>
            {
                StmtKind::DeclBuffer { buffer: self.view(buffer), data: None }
            }
            StmtKind::Attr { node: AttrNode::Buffer(buffer), key, value, body }
                if self.offsets.contains_key(&buffer.data) =>
            {
                let node = AttrNode::Buffer(self.view(buffer));
                StmtKind::Attr { node, key: key.clone(), value: value.clone(), body: body.clone() }
            }
            _ => return new,
        };
        Stmt::new(kind).with_span(new.span)
    }
}

/// Types of the elements of the buffers and of all views of them.
fn elements(launch: &Stmt, buffers: &[Buffer]) -> Vec<DType> {
    let mut elements: Vec<DType> = buffers.iter().map(|buffer| buffer.dtype).collect();
    launch.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::DeclBuffer { buffer, .. } = &stmt.kind
            && buffers.iter().any(|own| own.data == buffer.data)
        {
            elements.push(buffer.dtype);
        }
    });
    elements
}

fn lcm(a: i128, b: i128) -> i128 {
    fn gcd(a: i128, b: i128) -> i128 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    a / gcd(a, b.max(1)) * b.max(1)
}

/// Values of the names bound within a launch.
fn names(launch: &Stmt) -> HashMap<Var, Expr> {
    let mut names = HashMap::new();
    launch.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::Bind { var, value } = &stmt.kind
            && simplify::is_pure(value)
            && !crate::walk::depends_on_memory(value)
        {
            names.insert(var.clone(), value.clone());
        }
    });
    names
}

/// Number of units of that many bytes that a buffer of `size` elements takes.
fn units(buffer: &Buffer, size: &Expr, unit: i128) -> Expr {
    let int = |value: i128| Expr::int(value, size.dtype);
    let own = buffer.dtype.size_bytes() as i128;
    if own == unit {
        return simplify::expr(size);
    }
    let bytes = size.clone() * int(own) + int(unit - 1);
    simplify::expr(&Expr::binary(chipdock_ir::BinaryOp::FloorDiv, bytes, int(unit)))
}

/// Number of elements of a buffer, in terms of values known at the start of the launch.
fn size(
    function: &PrimFunc,
    launch: &Stmt,
    buffer: &Buffer,
    names: &HashMap<Var, Expr>,
) -> Result<Expr, PassError> {
    let mut size = buffer.shape.first().cloned().unwrap_or_else(|| Expr::i32(1));
    let mut own = HashSet::new();
    launch.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::Bind { var, .. } | StmtKind::For { var, .. } | StmtKind::LaunchThread { var, .. } =
                &stmt.kind
        {
            own.insert(var.clone());
        }
    });
    while let Some(var) = vars_of(&size).into_iter().find(|var| own.contains(var)) {
        let Some(value) = names.get(&var) else {
            let message = format!(
                "expected sizes of dynamic shared memory that are known where threads are launched; found buffer {} of a \
                 size that depends on {}, which is known within",
                buffer.name, var.name
            );
            return Err(PassError::caller(PASS, &function.name, message));
        };
        size = simplify::expr(&Substitution::new().with_var(&var, value.clone()).expr(&size));
    }
    Ok(simplify::expr(&size))
}

/// Groups of buffers, by index, that may share memory; every buffer is in one group.
fn slots(launch: &Stmt, buffers: &[Buffer], sizes: &[Expr]) -> Vec<Vec<usize>> {
    let stmts = sequence(launch);
    let barriers: Vec<usize> = (0..stmts.len())
        .filter(|at| barrier_scope(&stmts[*at]).is_some_and(|scope| scope.starts_with("shared")))
        .collect();
    let mut lives: Vec<Option<(usize, usize)>> = vec![None; buffers.len()];
    let mut kept = vec![false; buffers.len()];
    for (position, stmt) in stmts.iter().enumerate() {
        touched_by(stmt, &mut |data, escapes| {
            if let Some(at) = buffers.iter().position(|buffer| buffer.data == *data) {
                let (first, _) = lives[at].unwrap_or((position, position));
                lives[at] = Some((first, position));
                kept[at] |= escapes;
            }
        });
    }
    let mut slots: Vec<(Vec<usize>, Option<usize>)> = Vec::new();
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|at| lives[*at].map_or(0, |(first, _)| first));
    for at in order {
        let life = lives[at].filter(|_| !kept[at] && sizes[at].as_int().is_some());
        let free = slots.iter_mut().find(|(_, last)| match (life, last) {
            (Some((first, _)), Some(last)) => {
                barriers.iter().any(|barrier| *last < *barrier && *barrier < first)
            }
            _ => false,
        });
        match free {
            Some((slot, last)) => {
                slot.push(at);
                *last = life.map(|(_, last)| last);
            }
            None => slots.push((vec![at], life.map(|(_, last)| last))),
        }
    }
    slots.into_iter().map(|(slot, _)| slot).collect()
}
