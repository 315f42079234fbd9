//! Lowering of large and dynamic buffers to workspace.

mod addresses;
mod hoist;
mod own_function;
mod stack;

use std::collections::HashMap;

use chipdock_ir::{
    AttrValue, Attrs, BinaryOp, Buffer, Callee, CompareOp, DType, Expr, ExprKind, IrModule, Op, PrimFunc,
    Stmt, StmtKind, TargetCapabilities, Var, attr,
};

use crate::PassError;
use stack::Stack;

/// DLPack's device type of host memory, which is the workspace of a host function.
const CPU: i32 = 1;

const PASS: &str = "lower_workspace";

/// Lowers to workspace each allocation that is larger than
/// [`STACK_SIZE_BYTES_MAX`](chipdock_ir::limits::STACK_SIZE_BYTES_MAX), whose size is not constant,
/// or that would bring the function's total beyond
/// [`STACK_TOTAL_BYTES_MAX`](chipdock_ir::limits::STACK_TOTAL_BYTES_MAX). It is freed at the end of
/// its sequence and on every other exit: before a `return`, a `break`, a `continue`, a failing
/// assertion, or a failure of a call. What every iteration of a serial loop would allocate is
/// allocated once, around the loop, where no more memory is live at once for that.
///
/// If an iteration of a parallel loop fails, it frees its own allocations, while others may still
/// use memory that was allocated around the loop: such a loop becomes a function of its own,
/// `f_compute_loop0_`, and its caller frees the earlier allocations when it fails.
///
/// # Before and after
///
/// ```text
/// E = T.alloc_buffer((1232,))            E = T.decl_buffer((1232,), data=T.TVMBackendAllocWorkspace(1, 0, 4928))
/// E[0] = A[0]                            if T.isnullptr(E.data):
///                                ->          T.tvm_throw_last_error()
///                                        E[0] = A[0]
///                                        if T.TVMBackendFreeWorkspace(1, 0, E.data) != 0:
///                                            T.tvm_throw_last_error()
/// ```
///
/// # Requires / # Ensures
///
/// Requires host functions with flattened buffers, made by `make_packed_api`. Every `AllocBuffer`
/// left has a constant size of at most
/// [`STACK_SIZE_BYTES_MAX`](chipdock_ir::limits::STACK_SIZE_BYTES_MAX) bytes, or, in scope `local`,
/// of at most [`STACK_LOCAL_BYTES_MAX`](chipdock_ir::limits::STACK_LOCAL_BYTES_MAX).
///
/// # Errors
///
/// The caller's: more than [`WORKSPACE_LIVE_MAX`](crate::WORKSPACE_LIVE_MAX) pieces of workspace at
/// once. The target's, if its pointers have 32 bits: a buffer of 2^31 bytes or more; one of a size
/// that is not constant fails with a ValueError when it is called.
pub fn lower_workspace(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    let mut functions = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let packed = function.attrs.get(attr::CALLING_CONV) == Some(&AttrValue::Int(1));
        let stack = Stack::of(&function.body);
        if packed || stack.holds_all() {
            functions.push(function.clone());
            continue;
        }
        stack.check(function)?;
        let checks = addresses::checks(function, &stack, capabilities)?;
        let mut loops = Vec::new();
        let body = hoist::hoisted(&function.body, &stack);
        let body = Workspace::of(function, &stack, &checks, &mut loops).stmt(&body);
        functions.extend(loops);
        functions.push(PrimFunc { body, ..function.clone() });
    }
    Ok(IrModule { functions, attrs: module.attrs.clone() })
}

/// A piece of workspace: its data variable, and the type and id of its device.
struct Piece {
    data: Var,
    device: [Expr; 2],
}

/// The device of an allocation.
fn device(annotations: &Attrs) -> [Expr; 2] {
    match annotations.get(attr::DEVICE_MEMORY) {
        Some(AttrValue::List(list)) => match list.as_slice() {
            [AttrValue::Expr(device_type), AttrValue::Expr(id)] => [device_type.clone(), id.clone()],
            _ => [Expr::i32(CPU), Expr::i32(0)],
        },
        _ => [Expr::i32(CPU), Expr::i32(0)],
    }
}

struct Workspace<'a> {
    function: &'a PrimFunc,
    stack: &'a Stack,
    /// Checks of sizes, by data variable.
    checks: &'a HashMap<Var, Stmt>,
    /// Parallel loops that became functions.
    loops: &'a mut Vec<PrimFunc>,
    /// Workspace that is live here, outermost first.
    live: Vec<Piece>,
    /// Number of live pieces at the start of the innermost loop.
    in_loop: usize,
    /// Number of live pieces at the start of the innermost parallel loop.
    in_parallel: usize,
}

impl<'a> Workspace<'a> {
    fn of(
        function: &'a PrimFunc,
        stack: &'a Stack,
        checks: &'a HashMap<Var, Stmt>,
        loops: &'a mut Vec<PrimFunc>,
    ) -> Self {
        Self { function, stack, checks, loops, live: Vec::new(), in_loop: 0, in_parallel: 0 }
    }

    /// Turns a parallel loop that may fail, with workspace around it, into a function and a call of
    /// it.
    fn own_function(&mut self, stmt: &Stmt) -> Option<Stmt> {
        (self.live.len() > self.in_parallel && own_function::may_fail(stmt, self.stack)).then_some(())?;
        let first = self.loops.len();
        let alone = Workspace::of(self.function, self.stack, self.checks, self.loops).stmt(stmt);
        let Some((new, call)) = own_function::outlined(self.function, first, &alone) else {
            self.loops.truncate(first);
            return None;
        };
        self.loops.push(new);
        let failed = Expr::compare(CompareOp::Ne, call, Expr::i32(0));
        Some(Stmt::if_then(failed, self.then(self.in_parallel, throw()), None))
    }

    /// Frees the pieces from `since` on, innermost first, ignoring failures: an error is already
    /// being raised.
    fn free_since(&self, since: usize) -> Vec<Stmt> {
        self.live[since..].iter().rev().map(|piece| Stmt::new(StmtKind::Evaluate(free(piece)))).collect()
    }

    fn then(&self, since: usize, last: Stmt) -> Stmt {
        Stmt::seq(self.free_since(since).into_iter().chain([last]))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        match &stmt.kind {
            StmtKind::Seq(stmts) => self.seq(stmts),
            StmtKind::AllocBuffer { .. } => self.seq(std::slice::from_ref(stmt)),
            StmtKind::For { kind, .. } => {
                let parallel = matches!(kind, chipdock_ir::ForKind::Parallel);
                let own = if parallel { self.own_function(stmt) } else { None };
                own.unwrap_or_else(|| self.in_loop(stmt, parallel))
            }
            StmtKind::While { .. } => self.in_loop(stmt, false),
            StmtKind::Break | StmtKind::Continue => self.then(self.in_loop, stmt.clone()),
            StmtKind::Return(value) => self.leave(stmt, value.as_ref()),
            StmtKind::Assert { condition, kind, message } if self.live.len() > self.in_parallel => {
                let (kind, message) = (kind.clone(), message.clone());
                let fail = StmtKind::Assert { condition: Expr::bool(false), kind, message };
                let fail = self.then(self.in_parallel, Stmt::new(fail).with_span(stmt.span));
                Stmt::if_then(condition.clone().logical_not(), fail, None)
            }
            StmtKind::Evaluate(value) if is_throw(value) => self.then(self.in_parallel, stmt.clone()),
            _ => stmt.map_children(&mut Expr::clone, &mut |s| self.stmt(s)),
        }
    }

    fn in_loop(&mut self, stmt: &Stmt, parallel: bool) -> Stmt {
        let before = (self.in_loop, self.in_parallel);
        self.in_loop = self.live.len();
        if parallel {
            self.in_parallel = self.live.len();
        }
        let result = stmt.map_children(&mut Expr::clone, &mut |s| self.stmt(s));
        (self.in_loop, self.in_parallel) = before;
        result
    }

    /// A return is not yet an error, but freeing may fail.
    fn leave(&self, stmt: &Stmt, value: Option<&Expr>) -> Stmt {
        let frees = (0..self.live.len()).rev().map(|index| self.free_or_throw(index));
        let Some(value) = value.filter(|value| value.as_int().is_none() && !self.live.is_empty()) else {
            return Stmt::seq(frees.chain([stmt.clone()]));
        };
        let result = Var::new("result", value.dtype);
        let last = Stmt::new(StmtKind::Return(Some(result.expr()))).with_span(stmt.span);
        let first = Stmt::new(StmtKind::Bind { var: result, value: value.clone() });
        Stmt::seq([first].into_iter().chain(frees).chain([last]))
    }

    /// Frees the piece at `index`; if that fails, frees the earlier ones and propagates the error.
    fn free_or_throw(&self, index: usize) -> Stmt {
        let failed = Expr::compare(CompareOp::Ne, free(&self.live[index]), Expr::i32(0));
        let before = self.live[self.in_parallel.min(index)..index].iter().rev();
        let before = before.map(|piece| Stmt::new(StmtKind::Evaluate(free(piece))));
        Stmt::if_then(failed, Stmt::seq(before.chain([throw()])), None)
    }

    fn seq(&mut self, stmts: &[Stmt]) -> Stmt {
        let before = self.live.len();
        let mut result = Vec::with_capacity(stmts.len());
        let mut leaves = false;
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::AllocBuffer { buffer, annotations } if !self.stack.holds(buffer) => {
                    let check = self.checks.get(&buffer.data).map(|check| self.stmt(check));
                    result.extend(check);
                    let device = device(annotations);
                    let data = Some(allocate(buffer, &device));
                    result.push(
                        Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data }).with_span(stmt.span),
                    );
                    let failed = Expr::call(Op::Isnullptr, vec![buffer.data.expr()], DType::BOOL);
                    result.push(Stmt::if_then(failed, self.then(self.in_parallel, throw()), None));
                    self.live.push(Piece { data: buffer.data.clone(), device });
                }
                StmtKind::AllocBuffer { .. } => result.push(stmt.clone()),
                _ => {
                    leaves |= matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue);
                    result.push(self.stmt(stmt));
                }
            }
        }
        while self.live.len() > before {
            if !leaves {
                result.push(self.free_or_throw(self.live.len() - 1));
            }
            self.live.pop();
        }
        Stmt::seq(result)
    }
}

fn allocate(buffer: &Buffer, [device_type, device_id]: &[Expr; 2]) -> Expr {
    let one = |dtype: DType| Expr::int(1, dtype);
    let elements =
        buffer.shape.iter().fold(one(DType::INT64), |size, extent| size * extent.clone().cast(DType::INT64));
    // Workspace of no bytes need not have an address.
    let elements = Expr::binary(BinaryOp::Max, elements, one(DType::INT64));
    let size = elements.cast(DType::UINT64) * Expr::int(buffer.dtype.size_bytes() as i128, DType::UINT64);
    let args = vec![device_type.clone(), device_id.clone(), crate::simplify::expr(&size)];
    Expr::call(Op::AllocateWorkspace, args, DType::HANDLE)
}

fn free(piece: &Piece) -> Expr {
    let [device_type, device_id] = piece.device.clone();
    Expr::call(Op::FreeWorkspace, vec![device_type, device_id, piece.data.expr()], DType::INT32)
}

fn throw() -> Stmt {
    Stmt::new(StmtKind::Evaluate(Expr::call(Op::ThrowLastError, Vec::new(), DType::HANDLE)))
}

fn is_throw(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::Call { callee: Callee::Op(Op::ThrowLastError), .. })
}
