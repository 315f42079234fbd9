//! Checks a module against the capabilities of its target.

mod host;
mod launches;
mod limits;

pub use limits::verify_limits;

use chipdock_ir::op::Threads;
use chipdock_ir::{
    Callee, Child, Diagnostic, Expr, ExprKind, ForKind, IrModule, Param, PrimFunc, Span, StmtKind,
    StorageScope, TargetCapabilities, ThreadAxis, attr,
};

use crate::walk::starts;
use crate::{Fault, PassError};

/// Rejects functions that no code for this target could run correctly: loops bound to threads on a
/// target without threads, or to an axis that it does not support; on such a target also operations
/// of several threads: barriers, warp operations, reductions across threads, the end of a thread;
/// memory in an unsupported scope, including that of parameters; on a target that is not a host,
/// device memory that is touched outside of launches, where the host runs, and memory of a launch
/// (shared, local, warp) that a later launch or the host needs: it ends with its launch. Every
/// target supports atomic additions.
///
/// # Before and after
///
/// The module is unchanged.
///
/// # Requires / # Ensures
///
/// Requires a module without blocks. Every thread axis and storage scope that occurs is supported
/// by the target; no operation of threads occurs on a target without them.
///
/// # Errors
///
/// The target's, one diagnostic for each unsupported feature.
pub fn verify_memory(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    let mut problems = Vec::new();
    let starts = starts(capabilities);
    let of_threads = host::of_threads(module, starts);
    for function in &module.functions {
        if !capabilities.is_host {
            problems.extend(launches::lost(function, starts));
        }
        let mut verifier = Verifier { function, capabilities, problems: &mut problems, threads: 0 };
        verifier.body();
        let is_of_host = !capabilities.is_host && !of_threads.contains(&function.name);
        if let Some((span, buffer)) = host::touched(function, starts).filter(|_| is_of_host) {
            verifier.touched(span, &buffer);
        }
    }
    finish("verify_memory", module, Fault::Target, problems)
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
    capabilities: &'a TargetCapabilities,
    problems: &'a mut Vec<Diagnostic>,
    threads: usize,
}

impl Verifier<'_> {
    fn problem(&mut self, span: Span, message: String) {
        let function = self.function.name.clone();
        self.problems.push(Diagnostic { function, span, node: String::new(), message });
    }

    /// Reports memory of the device that is touched where the host runs.
    fn touched(&mut self, span: Span, buffer: &str) {
        let kind = &self.capabilities.target.kind;
        if self.capabilities.launches_one_thread() {
            let message = format!(
                "expected memory of target \"{kind}\" to be touched by its launches alone, as a host cannot; found {buffer} \
                 touched outside of a launch: leave the launches to the default schedule, or put it within T.attr({{\"{}\": 0}})",
                attr::DEVICE_SCOPE
            );
            self.problem(span, message);
        } else if self.threads > 0 {
            let message = format!(
                "expected memory of target \"{kind}\" to be touched by threads alone, as a host cannot; found {buffer} \
                 touched outside of loops bound to threads: bind those loops too"
            );
            self.problem(span, message);
        } else {
            let message = format!(
                "expected loops bound to threads ({}) for target \"{kind}\", whose memory a host cannot touch; found \
                 none: give the kernel a schedule",
                names(&self.capabilities.execution.thread_axes)
            );
            self.problem(Span::NONE, message);
        }
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
        if !self.capabilities.execution.thread_axes.is_empty() {
            return;
        }
        expr.walk(&mut |e| {
            let ExprKind::Call { callee: Callee::Op(op), args } = &e.kind else { return };
            let what = match op.threads() {
                Threads::Barrier => match args.first().map(|arg| &arg.kind) {
                    Some(ExprKind::Str(scope)) => format!("the barrier {}(\"{scope}\")", op.name()),
                    _ => format!("the barrier {}", op.name()),
                },
                Threads::ActiveMask | Threads::Shuffle => format!("the warp operation {}", op.name()),
                Threads::Reduction => format!("the reduction across threads {}", op.name()),
                Threads::Exit => format!("{}, the end of a thread", op.name()),
                Threads::Alone => return,
            };
            let kind = self.capabilities.target.kind.clone();
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
        let kind = &self.capabilities.target.kind;
        if self.capabilities.execution.thread_axes.is_empty() {
            self.problem(
                span,
                format!(
                    "expected loops that target \"{kind}\" can run, which has no threads; found loop {name} bound to \
                     {axis}: make it T.parallel or serial, or build for a target with threads"
                ),
            );
        } else if !self.capabilities.execution.thread_axes.contains(&axis) {
            let known = names(&self.capabilities.execution.thread_axes);
            self.problem(
                span,
                format!(
                    "expected a thread axis of target \"{kind}\" ({known}), found loop {name} bound to {axis}"
                ),
            );
        }
    }

    fn scope(&mut self, span: Span, name: &str, scope: &StorageScope) {
        let known = &self.capabilities.memory.storage_scopes;
        let text = scope.to_string();
        let has = known.is_empty() && *scope == StorageScope::GLOBAL || known.contains(&text);
        if !has {
            let kind = &self.capabilities.target.kind;
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
