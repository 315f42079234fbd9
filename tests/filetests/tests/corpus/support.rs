//! Capabilities of made-up hosts and devices, and inputs for any kernel.

use std::collections::HashMap;
use std::sync::Arc;

use chipdock_interpret::{Arg, Array};
use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Child, DType, Expr, ExprKind, ForKind, IrModule, Op, Param, PrimFunc, Stage, StmtKind, Target,
    TargetCapabilities, ThreadAxis, Var,
};
use chipdock_programs::Random;
use chipdock_test_support::{CorpusFile, counts, filetests};

/// Reads the file as a module.
pub(crate) fn read(file: &CorpusFile) -> Result<IrModule, String> {
    chipdock_script::parse(&file.text, &file.name).map_err(|errors| errors.to_string())
}

/// Compares the number of checks in a file with that in `counts.txt`.
pub(crate) fn counted(check: &str, file: &CorpusFile, count: usize) -> Result<(), String> {
    counts::check(&filetests().join("counts.txt"), &format!("{check}::{}", file.name), count)
}

/// Returns the capabilities of a host without threads.
pub(crate) fn host_capabilities() -> TargetCapabilities {
    TargetCapabilities::host("host-kind")
}

/// Returns the capabilities of a host whose code launches parallel regions, and asks whether to go
/// on.
pub(crate) fn parallel_host_capabilities() -> TargetCapabilities {
    host_capabilities().with(|it| {
        it.execution.native_ops = vec![Op::ParallelLaunch];
        it.execution.asks_to_go_on = true;
    })
}

/// Returns the capabilities of a small device with threads.
pub(crate) fn device_capabilities() -> TargetCapabilities {
    host_capabilities().with(|it| {
        it.target = Arc::new(Target { kind: "device-kind".into(), ..Target::default() });
        it.device.device_type = 2;
        it.device.name = "device".into();
        it.stage = Stage::Device;
        it.is_host = false;
        it.execution.thread_axes = ThreadAxis::ALL.iter().map(|(axis, _)| *axis).collect();
        it.memory.storage_scopes =
            ["global", "shared", "shared.dyn", "local", "warp"].map(Into::into).to_vec();
        it.limits.threads_per_block_max = Some(256);
        it.memory.shared_memory_bytes_max = Some(4096);
        it.execution.warp_size = Some(32);
        it.limits.function_args_max = Some(4);
        it.limits.block_dimensions_max = [Some(256), Some(256), Some(64)];
        it.limits.grid_dimensions_max = [None, Some(65535), Some(65535)];
    })
}

/// Returns the capabilities of a device whose warps support shuffles.
pub(crate) fn shuffling_capabilities() -> TargetCapabilities {
    let native_ops = Op::all_where(|op| op.threads.is_of_warp()).collect();
    device_capabilities().with(|it| it.execution.native_ops = native_ops)
}

/// Returns the capabilities of a device without thread axes, with memory of its own.
pub(crate) fn one_thread_capabilities() -> TargetCapabilities {
    device_capabilities().with(|it| {
        it.execution.thread_axes.clear();
        it.execution.warp_size = None;
        it.limits = chipdock_ir::Limits { function_args_max: Some(64), ..chipdock_ir::Limits::default() };
        it.memory.storage_scopes =
            ["global", "local", "shared", "shared.dyn", "warp", "npu.scratch"].map(Into::into).to_vec();
    })
}

/// Returns true if no loop is bound to a thread and no memory is shared between threads.
pub(crate) fn without_threads(function: &PrimFunc) -> bool {
    let mut without = true;
    function.body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            without &= !matches!(
                &stmt.kind,
                StmtKind::LaunchThread { .. } | StmtKind::For { kind: ForKind::ThreadBinding(_), .. }
            );
        }
    });
    without
}

/// Returns true for files that contain nodes of lowered modules, or nodes that the passes refuse by
/// their contract.
pub(crate) fn may_be_refused(name: &str) -> bool {
    name.starts_with("lowered/") || name.starts_with("construct/")
}

/// Creates arguments for a kernel, with small sizes and random elements; `None` if a size cannot be
/// determined.
pub(crate) fn inputs(function: &PrimFunc, seed: u64) -> Option<Vec<Arg>> {
    let mut random = Random::new(seed);
    let mut sizes: HashMap<Var, i128> = HashMap::new();
    for param in &function.params {
        if let Param::Var(var) = param
            && !var.dtype.is_handle()
        {
            sizes.insert(var.clone(), (2 + random.below(5)).into());
        }
    }
    let args = function.params.iter().map(|param| match param {
        Param::Var(var) if var.dtype.is_handle() => None,
        Param::Var(var) if var.dtype.is_float() => Some(Arg::Float(1.5)),
        Param::Var(var) if var.dtype.is_bool() => Some(Arg::Int(1)),
        Param::Var(var) => sizes.get(var).map(|value| Arg::Int(*value)),
        Param::Buffer(buffer) => {
            let mut shape = Vec::new();
            for extent in &buffer.shape {
                shape.push(usize::try_from(evaluate(extent, &mut sizes, &mut random)?).ok()?);
            }
            Some(Arg::Tensor(tensor(buffer.dtype, &shape, &mut random)))
        }
    });
    args.collect()
}

fn evaluate(expr: &Expr, sizes: &mut HashMap<Var, i128>, random: &mut Random) -> Option<i128> {
    let mut substitution = Substitution::new();
    expr.walk(&mut |e| {
        if let ExprKind::Var(var) = &e.kind {
            let value = *sizes.entry(var.clone()).or_insert_with(|| (3 + random.below(9)).into());
            substitution.map_var(var, Expr::int(value, var.dtype));
        }
    });
    chipdock_passes::simplify::expr(&substitution.expr(expr)).as_int()
}

fn tensor(dtype: DType, shape: &[usize], random: &mut Random) -> Array {
    let n_lanes = shape.iter().product::<usize>() * usize::from(dtype.lanes);
    if dtype.is_float() {
        let values: Vec<f64> = (0..n_lanes).map(|_| random.below(2001) as f64 / 250.0 - 4.0).collect();
        return Array::from_f64(dtype, shape, &values);
    }
    let values: Vec<i128> = (0..n_lanes).map(|_| random.below(23) as i128 - 5).collect();
    let values = if dtype.is_bool() { values.iter().map(|v| v & 1).collect() } else { values };
    Array::from_int(dtype, shape, &values)
}
