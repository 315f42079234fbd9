//! Kernels of the suite on the thread axes that a target kind declares.
//!
//! A kernel that binds threads is written for all axes (SUITE-S18). For a kind that declares some
//! of them, its loops over the others are serial; where that would change what it computes, and for
//! a kind without axes, its case does not apply.

use chipdock_ir::op::Threads;
use chipdock_ir::{
    Callee, Expr, ExprKind, ForKind, IrModule, PrimFunc, Stmt, StmtKind, StorageRank, ThreadAxis,
};

use crate::{Context, Stop, Verdict};

/// How the reason begins where a kind lacks the axes that a kernel is about.
pub(crate) const LACKS: &str = "the target kind declares no ";

/// Returns the axes that the kind of the case's target declares, those of grids and blocks alone.
pub(crate) fn declared(c: &Context) -> Verdict<Vec<ThreadAxis>> {
    let axes =
        c.cached("axes/declared", || Ok(launched(&c.target()?.capabilities().execution.thread_axes)))?;
    Ok(axes.to_vec())
}

/// Returns those of a kind's axes that a launch has an extent for, grids before blocks.
pub(crate) fn launched(axes: &[ThreadAxis]) -> Vec<ThreadAxis> {
    let mut launched: Vec<ThreadAxis> =
        axes.iter().copied().filter(|axis| is_of_grid(*axis) || is_of_block(*axis)).collect();
    launched.sort_by_key(|axis| (is_of_block(*axis), *axis));
    launched.dedup();
    launched
}

/// Returns true for `blockIdx.x` to `blockIdx.z`.
pub(crate) fn is_of_grid(axis: ThreadAxis) -> bool {
    axis.name().starts_with("blockIdx.")
}

/// Returns true for `threadIdx.x` to `threadIdx.z`.
pub(crate) fn is_of_block(axis: ThreadAxis) -> bool {
    axis.name().starts_with("threadIdx.")
}

/// Returns the first axis of a grid and the first of a block, as far as there are such.
pub(crate) fn first(axes: &[ThreadAxis]) -> [Option<ThreadAxis>; 2] {
    [is_of_grid, is_of_block].map(|is: fn(ThreadAxis) -> bool| axes.iter().copied().find(|axis| is(*axis)))
}

/// Returns a module as the kind of the case's target can be given it.
///
/// # Errors
///
/// `NoAxis`: without some axis it would compute something else.
pub(crate) fn fitted(c: &Context, module: &IrModule) -> Verdict<IrModule> {
    on(module, &declared(c)?).map_err(Stop::NoAxis)
}

fn on(module: &IrModule, axes: &[ThreadAxis]) -> Result<IrModule, String> {
    let functions = module.functions.iter().map(|function| {
        let mut missing = Missing { axes, found: Vec::new(), open: 0, obstacle: None };
        missing.function(function);
        let Some(axis) = missing.found.first() else { return Ok(function.clone()) };
        if axes.is_empty() {
            return Err(format!("{LACKS}thread axes, and the kernel is one of several threads"));
        }
        if let Some(obstacle) = missing.obstacle {
            return Err(format!("{LACKS}axis {axis}, and {obstacle}"));
        }
        Ok(PrimFunc { body: serial(&function.body, axes), ..function.clone() })
    });
    Ok(IrModule { functions: functions.collect::<Result<_, _>>()?, attrs: module.attrs.clone() })
}

/// The axis that a statement binds, if it is one of a grid or a block.
fn bound(stmt: &Stmt) -> Option<ThreadAxis> {
    match &stmt.kind {
        StmtKind::For { kind: ForKind::ThreadBinding(axis), .. } | StmtKind::LaunchThread { axis, .. } => {
            Some(*axis).filter(|axis| is_of_grid(*axis) || is_of_block(*axis))
        }
        _ => None,
    }
}

/// Search for loops over axes that are missing, and for what their threads do together.
struct Missing<'a> {
    axes: &'a [ThreadAxis],
    /// Missing axes that are bound, one for each loop.
    found: Vec<ThreadAxis>,
    /// Loops over missing axes around the statement.
    open: usize,
    obstacle: Option<&'static str>,
}

impl Missing<'_> {
    fn function(&mut self, function: &PrimFunc) {
        for buffer in &function.alloc_buffers {
            self.memory(buffer.scope.rank);
        }
        self.stmt(&function.body);
        let mut n_loops = self.found.clone();
        n_loops.sort();
        if n_loops.windows(2).any(|pair| pair[0] == pair[1]) {
            // Each of them may mean the same threads.
            self.obstacle.get_or_insert("it binds several loops to that axis");
        }
    }

    fn memory(&mut self, rank: StorageRank) {
        match rank {
            StorageRank::Global => {}
            StorageRank::Local if self.open > 0 => {}
            StorageRank::Local => {
                self.obstacle.get_or_insert("its threads have memory each around the loop");
            }
            _ => {
                self.obstacle.get_or_insert("its threads share memory");
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let is_missing = bound(stmt).filter(|axis| !self.axes.contains(axis));
        self.found.extend(is_missing);
        self.open += usize::from(is_missing.is_some());
        match &stmt.kind {
            StmtKind::AllocBuffer { buffer, .. } => self.memory(buffer.scope.rank),
            StmtKind::BlockRealize { block, .. } => {
                block.alloc_buffers.iter().for_each(|buffer| self.memory(buffer.scope.rank));
            }
            _ => {}
        }
        stmt.for_each_child(&mut |child| match child {
            chipdock_ir::Child::Stmt(inner) => self.stmt(inner),
            chipdock_ir::Child::Expr(expr) => self.expr(expr),
        });
        self.open -= usize::from(is_missing.is_some());
    }

    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |e| {
            if let ExprKind::Call { callee: Callee::Op(op), .. } = &e.kind
                && op.threads() != Threads::Alone
            {
                self.obstacle.get_or_insert("its threads work together");
            }
        });
    }
}

/// The statement with serial loops over the axes that are missing.
fn serial(stmt: &Stmt, axes: &[ThreadAxis]) -> Stmt {
    let inner = stmt.map_children(&mut Expr::clone, &mut |child| serial(child, axes));
    if bound(stmt).is_none_or(|axis| axes.contains(&axis)) {
        return inner;
    }
    match &inner.kind {
        StmtKind::For { var, extent, body, .. } | StmtKind::LaunchThread { var, extent, body, .. } => {
            Stmt::for_loop(var.clone(), extent.clone(), ForKind::Serial, body.clone()).with_span(stmt.span)
        }
        _ => inner,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use chipdock_ir::print;

    use super::*;

    fn printed_on(body: &str, axes: &[ThreadAxis]) -> Result<String, String> {
        let text = format!("@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((4, 16), \"int32\")):\n{body}");
        let module = chipdock_script::parse(&text, "f").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        on(&module, axes).map(|module| print::module(&module))
    }

    const PLAIN: &str = "    for bx in T.thread_binding(4, thread=\"blockIdx.x\"):
        for tx in T.thread_binding(16, thread=\"threadIdx.x\"):
            L = T.alloc_local((1,), \"int32\")
            L[0] = bx
            A[bx, tx] = A[bx, tx] + L[0]
";

    #[test]
    fn s18_loops_over_axes_that_are_missing_are_serial() {
        let both = [ThreadAxis::BlockX, ThreadAxis::ThreadX];
        let text = printed_on(PLAIN, &both).unwrap();
        assert!(text.contains("blockIdx.x") && text.contains("threadIdx.x"), "{text}");
        let text = printed_on(PLAIN, &both[..1]).unwrap();
        assert!(text.contains("blockIdx.x") && text.contains("for tx in range(16)"), "{text}");
        let text = printed_on(PLAIN, &both[1..]).unwrap();
        assert!(text.contains("threadIdx.x") && text.contains("for bx in range(4)"), "{text}");
        let text = printed_on(PLAIN, &[ThreadAxis::BlockY]).unwrap();
        assert!(!text.contains("Idx"), "{text}");
        assert!(printed_on(PLAIN, &[]).unwrap_err().contains("no thread axes"));
        assert!(printed_on("    for i in range(4):\n        A[i, 0] = i\n", &[]).is_ok());
    }

    #[test]
    fn s18_a_kernel_whose_threads_work_together_is_left_out() {
        let body =
            |inner: &str| format!("    for tx in T.thread_binding(16, thread=\"threadIdx.x\"):\n{inner}");
        let grid = &[ThreadAxis::BlockX];
        for (body, says) in [
            (
                body(
                    "        S = T.alloc_buffer((16,), \"int32\", scope=\"shared\")\n        S[tx] = A[0, tx]\n",
                ),
                "share",
            ),
            (body("        T.tvm_storage_sync(\"shared\")\n        A[0, tx] = 1\n"), "together"),
            (body("        A[0, tx] = 1\n") + &body("        A[1, 15 - tx] = A[0, tx]\n"), "several loops"),
            (
                "    L = T.alloc_local((1,), \"int32\")\n".to_owned()
                    + &body("        L[0] = tx\n        A[0, tx] = L[0]\n"),
                "each",
            ),
        ] {
            let why = printed_on(&body, grid).unwrap_err();
            assert!(why.contains("no axis threadIdx.x") && why.contains(says), "{why}");
            assert!(printed_on(&body, &[ThreadAxis::BlockX, ThreadAxis::ThreadX]).is_ok());
        }
    }

    #[test]
    fn first_axes_are_those_of_grid_and_block() {
        let axes = launched(
            &["vthread.x", "threadIdx.y", "blockIdx.z", "blockIdx.y"].map(|axis| axis.parse().unwrap()),
        );
        assert_eq!(axes, [ThreadAxis::BlockY, ThreadAxis::BlockZ, ThreadAxis::ThreadY]);
        assert_eq!(first(&axes), [Some(ThreadAxis::BlockY), Some(ThreadAxis::ThreadY)]);
        assert_eq!(first(&[]), [None, None]);
    }
}
