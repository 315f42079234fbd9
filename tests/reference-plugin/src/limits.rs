//! Checks a module against the features and limits of its target: nodes that need a feature, memory
//! scopes, sizes of launches.

use std::collections::BTreeMap;

use chipdock_ir::{
    Callee, Child, Diagnostic, Expr, ExprKind, ForKind, IrModule, Op, PrimFunc, Span, Stmt, StmtKind,
    StorageRank, StorageScope, Target, ThreadAxis,
};

/// Returns every node of a module that the target does not support.
pub(crate) fn problems(module: &IrModule, target: &Target) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for function in &module.functions {
        let mut examiner = Examiner { function, target, problems: &mut problems };
        examiner.arguments();
        examiner.body();
        examiner.sizes();
    }
    problems
}

struct Examiner<'a> {
    function: &'a PrimFunc,
    target: &'a Target,
    problems: &'a mut Vec<Diagnostic>,
}

impl Examiner<'_> {
    fn problem(&mut self, span: Span, node: &str, message: String) {
        let function = self.function.name.clone();
        self.problems.push(Diagnostic { function, span, node: node.to_owned(), message });
    }

    fn needs(&mut self, feature: &str, span: Span, node: &str) {
        if !self.target.str_list("features").contains(&feature) {
            let message = format!(
                "expected what the target has, found {node}, which needs the feature \"{feature}\": add it to the \
                 target's features"
            );
            self.problem(span, node, message);
        }
    }

    fn at_most(&mut self, found: i128, option: &str, what: &str) {
        if let Some(limit) = self.target.int(option)
            && found > i128::from(limit)
        {
            self.problem(Span::NONE, "", format!("expected at most {limit} {what}, found {found}"));
        }
    }

    fn arguments(&mut self) {
        self.at_most(self.function.params.len() as i128, "max_function_args", "arguments of a function");
    }

    fn body(&mut self) {
        let function = self.function;
        function.body.walk(&mut |child| match child {
            Child::Expr(expr) => expr.walk(&mut |e| self.expr(e)),
            Child::Stmt(stmt) => self.stmt(stmt),
        });
    }

    fn expr(&mut self, expr: &Expr) {
        let ExprKind::Call { callee: Callee::Op(op), .. } = &expr.kind else { return };
        match op {
            Op::AtomicAdd => self.needs("atomics", expr.span, op.name()),
            _ if op.threads().is_of_warp() => self.needs("warp", expr.span, op.name()),
            _ => {}
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::For { kind: ForKind::ThreadBinding(axis), .. }
            | StmtKind::LaunchThread { axis, .. } => {
                self.needs("threads", stmt.span, axis.name());
            }
            StmtKind::AllocBuffer { buffer, .. } => self.scope(stmt.span, &buffer.name, &buffer.scope),
            StmtKind::BlockRealize { block, .. } => {
                for buffer in &block.alloc_buffers {
                    self.scope(stmt.span, &buffer.name, &buffer.scope);
                }
            }
            _ => {}
        }
    }

    fn scope(&mut self, span: Span, name: &str, scope: &StorageScope) {
        if scope.is_dynamic_shared() {
            self.needs("dynamic-shared", span, "memory of scope shared.dyn");
        } else if scope.rank == StorageRank::Other || !scope.tag.is_empty() {
            let message = format!(
                "expected memory of scope global, shared, shared.dyn, warp or local, found {name} in scope \"{scope}\""
            );
            self.problem(span, "AllocBuffer", message);
        }
    }

    /// Checks the numbers of threads and blocks and the size of shared memory, as far as they are
    /// constant.
    fn sizes(&mut self) {
        let mut extents: BTreeMap<ThreadAxis, i128> = BTreeMap::new();
        let mut shared_bytes = 0_i128;
        let mut shared = |buffer: &chipdock_ir::Buffer| {
            if buffer.scope.rank == StorageRank::Shared {
                let elements = buffer.constant_size().unwrap_or(0);
                shared_bytes =
                    shared_bytes.saturating_add(elements.saturating_mul(buffer.dtype.size_bytes() as i128));
            }
        };
        self.function.alloc_buffers.iter().for_each(&mut shared);
        self.function.body.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            match &stmt.kind {
                StmtKind::For { kind: ForKind::ThreadBinding(axis), extent, .. }
                | StmtKind::LaunchThread { axis, extent, .. } => {
                    let most = extents.entry(*axis).or_insert(1);
                    *most = (*most).max(extent.as_int().unwrap_or(1));
                }
                StmtKind::AllocBuffer { buffer, .. } => shared(buffer),
                StmtKind::BlockRealize { block, .. } => block.alloc_buffers.iter().for_each(&mut shared),
                _ => {}
            }
        });
        let extent = |axis| extents.get(&axis).copied().unwrap_or(1);
        let threads = [ThreadAxis::ThreadX, ThreadAxis::ThreadY, ThreadAxis::ThreadZ];
        let threads = threads.map(extent).into_iter().fold(1_i128, i128::saturating_mul);
        self.at_most(threads, "max_num_threads", "threads in a block");
        self.at_most(shared_bytes, "max_shared_memory_per_block", "bytes of shared memory in a block");
        let limits = self.target.options.get("grid_max").and_then(serde_json::Value::as_array);
        let limits: Vec<i64> = limits.into_iter().flatten().filter_map(serde_json::Value::as_i64).collect();
        let blocks = [ThreadAxis::BlockX, ThreadAxis::BlockY, ThreadAxis::BlockZ];
        for (axis, limit) in blocks.into_iter().zip(limits) {
            let found = extent(axis);
            if found > i128::from(limit) {
                let message = format!("expected at most {limit} blocks on {}, found {found}", axis.name());
                self.problem(Span::NONE, axis.name(), message);
            }
        }
    }
}
