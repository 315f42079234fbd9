//! What the target does not have.

use std::collections::BTreeMap;

use chipdock_ir::{
    Callee, Child, Diagnostic, Expr, ExprKind, ForKind, IrModule, Op, Param, PrimFunc, Span, StmtKind,
    StorageRank, StorageScope, TargetFacts, ThreadAxis,
};

use crate::{Fault, PassError};

/// The greatest limit of a target that is believed.
const LIMIT_MAX: i64 = 1 << 40;

/// Refuses functions that no code of this target could run rightly: loops bound to threads on a target without threads,
/// or to an axis that it does not have; there too, what threads do together: barriers, warp operations, reductions across
/// threads, the end of a thread; memory in a scope that it does not have, parameters' too; a kernel without any thread on a
/// device that is no host, whose memory a host function must not touch. Atomic additions are of every target.
///
/// # Before and after
///
/// The module is unchanged.
///
/// # Requires / # Ensures
///
/// Requires a module without blocks. Every thread axis and storage scope that occurs is one of the target's; no operation of
/// threads occurs where it has none.
///
/// # Errors
///
/// The target's, one diagnostic for each thing that it does not have.
pub fn verify_memory(module: &IrModule, facts: &TargetFacts) -> Result<IrModule, PassError> {
    let mut problems = Vec::new();
    for function in &module.functions {
        let mut verifier = Verifier { function, facts, problems: &mut problems, threads: 0 };
        verifier.body();
        if verifier.threads == 0 && !facts.is_host {
            verifier.problem(
                Span::NONE,
                format!(
                    "expected loops bound to threads ({}) for target \"{}\", whose memory a host cannot touch; found \
                     none: give the kernel a schedule",
                    names(&facts.thread_axes),
                    facts.target.kind
                ),
            );
        }
    }
    finish("verify_memory", module, Fault::Target, problems)
}

/// Refuses limits of a target that cannot be, and functions that go past them: threads of a block, shared memory of a
/// block. (Arguments of a device function are known once there are device functions.)
///
/// # Before and after
///
/// The module is unchanged.
///
/// # Requires / # Ensures
///
/// Requires flattened buffers. Every device function keeps to the limits that are known.
///
/// # Errors
///
/// The caller's for limits that cannot be, the target's for a function that goes past one: one diagnostic for each.
pub fn verify_limits(module: &IrModule, facts: &TargetFacts) -> Result<IrModule, PassError> {
    finish("verify_limits", module, Fault::Caller, limits(facts))?;
    let mut problems = Vec::new();
    for function in &module.functions {
        usage(function, facts, &mut problems);
    }
    finish("verify_limits", module, Fault::Target, problems)
}

fn finish(
    pass: &'static str,
    module: &IrModule,
    fault: Fault,
    problems: Vec<Diagnostic>,
) -> Result<IrModule, PassError> {
    if problems.is_empty() {
        return Ok(module.clone());
    }
    Err(PassError { fault, pass, diagnostics: problems })
}

struct Verifier<'a> {
    function: &'a PrimFunc,
    facts: &'a TargetFacts,
    problems: &'a mut Vec<Diagnostic>,
    threads: usize,
}

impl Verifier<'_> {
    fn problem(&mut self, span: Span, message: String) {
        let function = self.function.name.clone();
        self.problems.push(Diagnostic { function, span, node: String::new(), message });
    }

    fn body(&mut self) {
        for param in &self.function.params {
            match param {
                Param::Buffer(buffer) => self.scope(Span::NONE, &buffer.name, &buffer.scope),
                Param::Var(var) => {
                    if let Some(pointer) = &var.pointer {
                        self.scope(Span::NONE, &var.name, &pointer.scope);
                    }
                }
            }
        }
        let body = &self.function.body;
        body.walk(&mut |child| {
            let stmt = match child {
                Child::Stmt(stmt) => stmt,
                Child::Expr(expr) => return self.ops(expr),
            };
            match &stmt.kind {
                StmtKind::For { var, kind: ForKind::ThreadBinding(axis), .. } => {
                    self.axis(stmt.span, &var.name, *axis);
                }
                StmtKind::LaunchThread { var, axis, .. } => self.axis(stmt.span, &var.name, *axis),
                StmtKind::AllocBuffer { buffer, .. } => self.scope(stmt.span, &buffer.name, &buffer.scope),
                _ => {}
            }
        });
    }

    fn ops(&mut self, expr: &Expr) {
        if !self.facts.thread_axes.is_empty() {
            return;
        }
        expr.walk(&mut |e| {
            let ExprKind::Call { callee: Callee::Op(op), args } = &e.kind else { return };
            let what = match op {
                Op::StorageSync => match args.first().map(|arg| &arg.kind) {
                    Some(ExprKind::Str(scope)) => format!("the barrier {}(\"{scope}\")", op.name()),
                    _ => format!("the barrier {}", op.name()),
                },
                Op::WarpActivemask
                | Op::WarpShuffle
                | Op::WarpShuffleUp
                | Op::WarpShuffleDown
                | Op::WarpShuffleXor => format!("the warp operation {}", op.name()),
                Op::ThreadAllreduce => format!("the reduction across threads {}", op.name()),
                Op::ThreadReturn => format!("{}, the end of a thread", op.name()),
                _ => return,
            };
            let kind = self.facts.target.kind.clone();
            self.problem(
                e.span,
                format!(
                    "expected what target \"{kind}\" can run, which has no threads; found {what}: take it out, or build for a \
                     target with threads"
                ),
            );
        });
    }

    fn axis(&mut self, span: Span, name: &str, axis: ThreadAxis) {
        self.threads += 1;
        let kind = &self.facts.target.kind;
        if self.facts.thread_axes.is_empty() {
            self.problem(
                span,
                format!(
                    "expected loops that target \"{kind}\" can run, which has no threads; found loop {name} bound to \
                     {axis}: make it T.parallel or serial, or build for a target with threads"
                ),
            );
        } else if !self.facts.thread_axes.contains(&axis) {
            let known = names(&self.facts.thread_axes);
            self.problem(
                span,
                format!(
                    "expected a thread axis of target \"{kind}\" ({known}), found loop {name} bound to {axis}"
                ),
            );
        }
    }

    fn scope(&mut self, span: Span, name: &str, scope: &StorageScope) {
        let known = &self.facts.storage_scopes;
        let text = scope.to_string();
        let has = known.is_empty() && *scope == StorageScope::GLOBAL || known.contains(&text);
        if !has {
            let kind = &self.facts.target.kind;
            let known = if known.is_empty() { "global".to_owned() } else { known.join(", ") };
            self.problem(
                span,
                format!(
                    "expected a storage scope of target \"{kind}\" ({known}), found buffer {name} in scope \"{text}\""
                ),
            );
        }
    }
}

fn names(axes: &[ThreadAxis]) -> String {
    let names: Vec<&str> = axes.iter().map(|axis| axis.name()).collect();
    names.join(", ")
}

/// Limits that cannot be.
fn limits(facts: &TargetFacts) -> Vec<Diagnostic> {
    let all = [
        ("threads of a block", facts.threads_per_block_max),
        ("shared memory of a block in bytes", facts.shared_memory_bytes_max),
        ("threads of a warp", facts.warp_size),
        ("arguments of a device function", facts.function_args_max),
    ];
    let wrong = all.into_iter().filter_map(|(what, limit)| {
        let limit = limit.filter(|limit| !(0..=LIMIT_MAX).contains(limit))?;
        Some(Diagnostic {
            function: "".into(),
            span: Span::NONE,
            node: String::new(),
            message: format!(
                "expected target \"{}\" to have between 0 and {LIMIT_MAX} {what}, found {limit}; correct the target",
                facts.target.kind
            ),
        })
    });
    wrong.collect()
}

/// What a function uses of a block, as far as its sizes are constant.
fn usage(function: &PrimFunc, facts: &TargetFacts, problems: &mut Vec<Diagnostic>) {
    let mut threads: BTreeMap<ThreadAxis, i128> = BTreeMap::new();
    let mut shared_bytes = 0_i128;
    function.body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        let (axis, extent) = match &stmt.kind {
            StmtKind::For { kind: ForKind::ThreadBinding(axis), extent, .. } => (*axis, extent),
            StmtKind::LaunchThread { axis, extent, .. } => (*axis, extent),
            StmtKind::AllocBuffer { buffer, .. } if buffer.scope.rank == StorageRank::Shared => {
                let bytes =
                    buffer.constant_size().unwrap_or(0).saturating_mul(buffer.dtype.size_bytes() as i128);
                shared_bytes = shared_bytes.saturating_add(bytes);
                return;
            }
            _ => return,
        };
        if matches!(axis, ThreadAxis::ThreadX | ThreadAxis::ThreadY | ThreadAxis::ThreadZ) {
            let most = threads.entry(axis).or_insert(1);
            *most = (*most).max(extent.as_int().unwrap_or(1));
        }
    });
    let block = threads.values().fold(1_i128, |product, extent| product.saturating_mul(*extent));
    let uses = [
        ("threads in a block", block, facts.threads_per_block_max),
        ("bytes of shared memory in a block", shared_bytes, facts.shared_memory_bytes_max),
    ];
    for (what, found, limit) in uses {
        if let Some(limit) = limit
            && found > i128::from(limit)
        {
            problems.push(Diagnostic {
                function: function.name.clone(),
                span: Span::NONE,
                node: String::new(),
                message: format!(
                    "expected at most {limit} {what} on target \"{}\", found {found}",
                    facts.target.kind
                ),
            });
        }
    }
}
