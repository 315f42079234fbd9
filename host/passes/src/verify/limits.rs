//! Checks the resources of a kernel against the limits of its target.

use std::collections::BTreeMap;

use chipdock_ir::op::Threads;
use chipdock_ir::{
    Callee, Child, Diagnostic, Expr, ExprKind, IrModule, Op, Param, PrimFunc, Span, Stmt, StmtKind,
    StorageRank, TargetCapabilities, ThreadAxis,
};

use super::finish;
use crate::splitting::split_host_device::is_kernel;
use crate::{Fault, PassError};

/// The greatest limit of a target that is considered plausible.
const LIMIT_MAX: i64 = 1 << 40;

/// Rejects impossible limits of a target, and kernels that exceed them, as far as sizes are
/// constant: threads per block, in total and by axis; blocks per grid by axis; shared memory per
/// block, including dynamic memory; arguments. Also rejects warp operations that the target does
/// not name in `native_ops`, shuffles of warps of another size than its own, and barriers of a warp
/// if a warp has one thread or the target does not say that there are warps.
///
/// # Before and after
///
/// The module is unchanged.
///
/// # Requires / # Ensures
///
/// Requires kernels separate from host functions. Every kernel respects the known limits.
///
/// # Errors
///
/// The caller's for impossible limits, the target's for a kernel that exceeds one: one diagnostic
/// for each, which ends with the option of the target that sets the limit, if there is one.
pub fn verify_limits(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    finish("verify_limits", module, Fault::Caller, limits(capabilities))?;
    let mut problems = Vec::new();
    for function in &module.functions {
        if is_kernel(function) {
            usage(function, capabilities, &mut problems);
        }
        if !capabilities.execution.thread_axes.is_empty() {
            warp_ops(function, capabilities, &mut problems);
        }
    }
    finish("verify_limits", module, Fault::Target, problems)
}

/// Reports impossible limits.
fn limits(capabilities: &TargetCapabilities) -> Vec<Diagnostic> {
    let [block_x, block_y, block_z] = capabilities.limits.block_dimensions_max;
    let [grid_x, grid_y, grid_z] = capabilities.limits.grid_dimensions_max;
    let named = &capabilities.options.capabilities;
    let all = [
        ("threads of a block", capabilities.limits.threads_per_block_max, &named.threads_per_block_max),
        (
            "shared memory of a block in bytes",
            capabilities.memory.shared_memory_bytes_max,
            &named.shared_memory_bytes_max,
        ),
        ("threads of a warp", capabilities.execution.warp_size, &named.warp_size),
        ("arguments of a device function", capabilities.limits.function_args_max, &named.function_args_max),
        ("pointers among them", capabilities.limits.function_pointers_max, &named.function_pointers_max),
        ("threads of a block on axis x", block_x, &named.block_dimensions_max),
        ("threads of a block on axis y", block_y, &named.block_dimensions_max),
        ("threads of a block on axis z", block_z, &named.block_dimensions_max),
        ("blocks of a grid on axis x", grid_x, &named.grid_dimensions_max),
        ("blocks of a grid on axis y", grid_y, &named.grid_dimensions_max),
        ("blocks of a grid on axis z", grid_z, &named.grid_dimensions_max),
    ];
    let wrong = all.into_iter().filter_map(|(what, limit, option)| {
        let limit = limit.filter(|limit| !(0..=LIMIT_MAX).contains(limit))?;
        let correct = if option.is_empty() { "the target".to_owned() } else { format!("its option \"{option}\"") };
        Some(Diagnostic {
            function: "".into(),
            span: Span::NONE,
            node: String::new(),
            message: format!(
                "expected target \"{}\" to have between 0 and {LIMIT_MAX} {what}, found {limit}; correct {correct}",
                capabilities.target.kind
            ),
        })
    });
    wrong.collect()
}

fn problem(function: &PrimFunc, span: Span, message: String) -> Diagnostic {
    Diagnostic { function: function.name.clone(), span, node: String::new(), message }
}

/// Checks the resources of a kernel, as far as its sizes are constant.
fn usage(function: &PrimFunc, capabilities: &TargetCapabilities, problems: &mut Vec<Diagnostic>) {
    let mut extents: BTreeMap<ThreadAxis, i128> = BTreeMap::new();
    let mut shared_bytes = 0_i128;
    function.body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        match &stmt.kind {
            StmtKind::LaunchThread { axis, extent, .. } => {
                if let Some(extent) = extent.as_int() {
                    let most = extents.entry(*axis).or_insert(1);
                    *most = (*most).max(extent);
                }
            }
            StmtKind::AllocBuffer { buffer, .. } if buffer.scope.rank == StorageRank::Shared => {
                let bytes =
                    buffer.constant_size().unwrap_or(0).saturating_mul(buffer.dtype.size_bytes() as i128);
                shared_bytes = shared_bytes.saturating_add(bytes);
            }
            _ => {}
        }
    });
    let of = |axis: ThreadAxis| extents.get(&axis).copied().unwrap_or(1);
    use ThreadAxis::{BlockX, BlockY, BlockZ, ThreadX, ThreadY, ThreadZ};
    let (threads, blocks) = ([ThreadX, ThreadY, ThreadZ], [BlockX, BlockY, BlockZ]);
    let all = threads.iter().fold(1_i128, |product, axis| product.saturating_mul(of(*axis)));
    let is_pointer = |param: &&Param| matches!(param, Param::Var(var) if var.dtype.is_handle());
    let pointers = function.params.iter().filter(is_pointer).count();
    let named = &capabilities.options.capabilities;
    let mut uses = vec![
        (
            "threads in a block".to_owned(),
            all,
            capabilities.limits.threads_per_block_max,
            &named.threads_per_block_max,
        ),
        (
            "bytes of shared memory in a block".to_owned(),
            shared_bytes,
            capabilities.memory.shared_memory_bytes_max,
            &named.shared_memory_bytes_max,
        ),
        (
            "arguments of a kernel".to_owned(),
            function.params.len() as i128,
            capabilities.limits.function_args_max,
            &named.function_args_max,
        ),
        (
            "buffers among the arguments of a kernel".to_owned(),
            pointers as i128,
            capabilities.limits.function_pointers_max,
            &named.function_pointers_max,
        ),
    ];
    for (axis, limit) in threads.into_iter().zip(capabilities.limits.block_dimensions_max) {
        uses.push((format!("threads in a block on {axis}"), of(axis), limit, &named.block_dimensions_max));
    }
    for (axis, limit) in blocks.into_iter().zip(capabilities.limits.grid_dimensions_max) {
        uses.push((format!("blocks in a grid on {axis}"), of(axis), limit, &named.grid_dimensions_max));
    }
    for (what, found, limit, option) in uses {
        if let Some(limit) = limit.filter(|limit| found > i128::from(*limit)) {
            let kind = &capabilities.target.kind;
            let message = format!("expected at most {limit} {what} on target \"{kind}\", found {found}");
            problems.push(problem(function, Span::NONE, message + &set_by(option)));
        }
    }
}

/// The end of a message about a limit: the option that sets it.
fn set_by(option: &str) -> String {
    if option.is_empty() { String::new() } else { format!("; option \"{option}\" sets the limit") }
}

/// Reports warp operations that the target does not support, each once.
fn warp_ops(function: &PrimFunc, capabilities: &TargetCapabilities, problems: &mut Vec<Diagnostic>) {
    let mut known = Vec::new();
    let mut visit = |span: Span, expr: &Expr| {
        expr.walk(&mut |e| {
            let ExprKind::Call { callee: Callee::Op(op), args } = &e.kind else { return };
            if known.contains(op) {
                return;
            }
            if let Some(message) = warp_problem(*op, args, capabilities) {
                known.push(*op);
                let span = if e.span == Span::NONE { span } else { e.span };
                problems.push(problem(function, span, message));
            }
        });
    };
    walk(&function.body, &mut visit);
}

fn warp_problem(op: Op, args: &[Expr], capabilities: &TargetCapabilities) -> Option<String> {
    let kind = &capabilities.target.kind;
    if op.threads() == Threads::Barrier {
        let is_of_warp =
            matches!(args.first().map(|arg| &arg.kind), Some(ExprKind::Str(scope)) if **scope == *"warp");
        return (is_of_warp && !has_warps(capabilities)).then(|| {
            let option = &capabilities.options.capabilities.warp_size;
            let set = if option.is_empty() { String::new() } else { format!(", or set option \"{option}\" where the device has warps") };
            format!(
                "expected warps on target \"{kind}\"; found the barrier {}(\"warp\"), and no warps of several threads: \
                 use the barrier of scope \"shared\"{set}",
                op.name()
            )
        });
    }
    if !op.threads().is_of_warp() {
        return None;
    }
    if !capabilities.execution.has_native(op) {
        let name = op.name();
        return Some(format!(
            "expected what target \"{kind}\" has; found the warp operation {name}, which it does not have"
        ));
    }
    let (size, own) = (args.get(4).and_then(Expr::as_int)?, capabilities.execution.warp_size?);
    (size != i128::from(own)).then(|| {
        let set_by = set_by(&capabilities.options.capabilities.warp_size);
        format!(
            "expected warps of {own} threads, as target \"{kind}\" has; found {} of {size}{set_by}",
            op.name()
        )
    })
}

/// Returns true if a warp has several threads: a barrier among one thread has no effect, whatever
/// warp size the kernel assumes.
fn has_warps(capabilities: &TargetCapabilities) -> bool {
    capabilities
        .execution
        .warp_size
        .map_or(capabilities.execution.has_native(Op::WarpActivemask), |size| size > 1)
}

fn walk(stmt: &Stmt, f: &mut dyn FnMut(Span, &Expr)) {
    stmt.for_each_child(&mut |child| match child {
        Child::Stmt(stmt) => walk(stmt, f),
        Child::Expr(expr) => f(stmt.span, expr),
    });
}
