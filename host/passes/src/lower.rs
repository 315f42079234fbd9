//! The lowering pipeline.

use std::sync::Arc;

use chipdock_ir::validate::oversized;
use chipdock_ir::{IrModule, Stage, TargetCapabilities, attr};

use crate::{Fault, PassError, spans};

/// Scheduling of kernels without a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduling {
    /// Give each kernel without a schedule a default one.
    #[default]
    Auto,
    /// Keep kernels as written.
    None,
}

/// Target and stage to which a module is lowered.
#[derive(Clone, Debug)]
pub struct LowerOptions {
    /// Capabilities of the target.
    pub capabilities: Arc<TargetCapabilities>,
    /// Scheduling of kernels without a schedule.
    pub schedule: Scheduling,
    /// The stage to reach; usually the one at which the target's code generator takes the module.
    pub stage: Stage,
    /// The stage that the module has already reached, if any: its passes are not run again.
    pub from: Option<Stage>,
}

impl LowerOptions {
    /// Options that lower to the target's stage, with default schedules.
    #[must_use]
    pub fn new(capabilities: Arc<TargetCapabilities>) -> Self {
        let stage = capabilities.stage;
        Self { capabilities, schedule: Scheduling::Auto, stage, from: None }
    }
}

/// A lowered module.
#[derive(Clone, Debug, PartialEq)]
pub struct Lowered {
    /// The stage that was reached.
    pub stage: Stage,
    /// The functions; from [`Stage::Device`] on, those of the host.
    pub module: IrModule,
    /// The functions of the device, if the target has any; only from [`Stage::Device`] on.
    pub device: Option<IrModule>,
}

/// The signature of a pass.
pub type Pass = fn(&IrModule, &TargetCapabilities) -> Result<IrModule, PassError>;

/// The passes in order, each with the stage that it belongs to: a module at a stage has been
/// through all passes of that stage.
pub const PIPELINE: &[(Stage, &str, Pass)] = &[
    (Stage::Blocks, "bind_target", crate::bind_target),
    (Stage::Scheduled, "apply_schedules", crate::apply_schedules),
    (Stage::Scheduled, "default_schedule", crate::default_schedule),
    (Stage::Scheduled, "split_reductions", crate::split_reductions),
    (Stage::Flattened, "lower_cross_thread_reduction", crate::lower_cross_thread_reduction),
    (Stage::Flattened, "compact_buffer_allocation", crate::compact_buffer_allocation),
    (Stage::Flattened, "lower_blocks", crate::lower_blocks),
    (Stage::Flattened, "rescope_memory", crate::rescope_memory),
    (Stage::Flattened, "inject_virtual_thread", crate::inject_virtual_thread),
    (Stage::Flattened, "bind_offsets", crate::bind_offsets),
    (Stage::Flattened, "flatten_buffers", crate::flatten_buffers),
    (Stage::Flattened, "simplify", crate::simplify::simplify),
    (Stage::Flattened, "lower_storage_types", crate::lower_storage_types),
    (Stage::Flattened, "vectorize", crate::vectorize),
    (Stage::Flattened, "unroll", crate::unroll),
    (Stage::Flattened, "simplify", crate::simplify::simplify),
    (Stage::Flattened, "storage_rewrite", crate::storage_rewrite),
    (Stage::Flattened, "verify_memory", crate::verify_memory),
    (Stage::Device, "lower_warp_memory", crate::lower_warp_memory),
    (Stage::Device, "thread_sync", crate::thread_sync),
    (Stage::Device, "lower_thread_allreduce", crate::lower_thread_allreduce),
    (Stage::Device, "merge_shared_memory", crate::merge_shared_memory),
    (Stage::Device, "split_host_device", crate::split_host_device),
    (Stage::Device, "verify_limits", crate::verify_limits),
    (Stage::Host, "make_packed_api", crate::make_packed_api),
    (Stage::Host, "outline_parallel", crate::outline_parallel),
    (Stage::Host, "ask_to_go_on", crate::ask_to_go_on),
    (Stage::Host, "lower_workspace", crate::lower_workspace),
    (Stage::Host, "lower_intrinsics", crate::lower_intrinsics),
    (Stage::Host, "simplify", crate::simplify::simplify),
];

/// The passes that device functions go through after the split, in order.
pub const DEVICE_PIPELINE: &[(&str, Pass)] = &[
    ("lower_intrinsics", crate::lower_intrinsics),
    ("lower_int64", crate::lower_int64),
    ("lower_halves", crate::lower_halves),
    ("simplify", crate::simplify::simplify),
    ("inline_buffer_functions", crate::inline_buffer_functions),
    ("lower_moved_pointers", crate::lower_moved_pointers),
    ("split_wide_vectors", crate::split_wide_vectors),
];

/// The passes that [`Scheduling::None`] skips: on a device without thread axes it skips none, since
/// there they change no loop and make the launches (STAGE-D12).
pub const SCHEDULES: &[&str] = &["default_schedule", "split_reductions"];

/// Lowers a module to a stage.
///
/// # Errors
///
/// The error of the first pass that fails; see [`PassError`]. The module is unchanged.
pub fn lower(module: &IrModule, options: &LowerOptions) -> Result<Lowered, PassError> {
    let _span = tracing::info_span!("lower", stage = %options.stage).entered();
    let mut module = module.clone();
    // Device functions have no packed convention: a host's target lowers their launches.
    let last = if options.capabilities.is_host { options.stage } else { options.stage.min(Stage::Device) };
    let is_as_written = options.schedule == Scheduling::None && !options.capabilities.launches_one_thread();
    for (stage, name, pass) in PIPELINE {
        if *stage > last
            || options.from.is_some_and(|from| *stage <= from)
            || (is_as_written && SCHEDULES.contains(name))
        {
            continue;
        }
        module = spans::run(name, *pass, &module, &options.capabilities)?;
    }
    if last < Stage::Device || options.capabilities.is_host {
        fits(&module, &options.capabilities)?;
        return Ok(Lowered { stage: last, module, device: None });
    }
    let (device, host) = module.functions.into_iter().partition(|f| f.attrs.contains_key(attr::TARGET));
    let mut device = IrModule { functions: device, attrs: module.attrs.clone() };
    for (name, pass) in DEVICE_PIPELINE {
        device = spans::run(name, *pass, &device, &options.capabilities)?;
    }
    let module = IrModule { functions: host, attrs: module.attrs };
    fits(&module, &options.capabilities)?;
    fits(&device, &options.capabilities)?;
    Ok(Lowered { stage: last, module, device: Some(device) })
}

/// Refuses what passes made deeper or larger than a module may be (PASS-L6).
fn fits(module: &IrModule, capabilities: &TargetCapabilities) -> Result<(), PassError> {
    let mut diagnostics = oversized(module);
    if diagnostics.is_empty() {
        return Ok(());
    }
    for diagnostic in &mut diagnostics {
        let (kind, message) = (&capabilities.target.kind, &diagnostic.message);
        diagnostic.message = format!("once it is lowered for target \"{kind}\", {message}");
    }
    Err(PassError { fault: Fault::Target, pass: "lower", diagnostics })
}
