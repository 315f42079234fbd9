//! What a module needs against what a device supports (VKMOD-M4).

use rspirv::spirv::ExecutionMode;

use super::interface::Code;
use crate::artifact::{Block, Interface, Needs};
use crate::device::{Limits, source};

/// The feature by which a pipeline requires the size of its subgroups.
const SIZE_CONTROL: &str = "subgroupSizeControl";

/// The first need that the device does not support, for a message; `device` is its name.
pub(crate) fn missing(code: &Code, limits: &Limits, device: &str) -> Option<String> {
    let (needs, interfaces) = (&code.needs, &code.interfaces);
    let lacks = |what: String| {
        Some(format!(
            "the module needs {what}, which {device} does not support; build it for this device (--device {device})"
        ))
    };
    let version = |[major, minor]: [u32; 2]| format!("{major}.{minor}");
    if needs.vulkan > limits.vulkan() {
        return lacks(format!(
            "Vulkan {} (the device has {})",
            version(needs.vulkan),
            version(limits.vulkan())
        ));
    }
    if needs.spirv > limits.spirv() {
        return lacks(format!(
            "SPIR-V {} (the device has {})",
            version(needs.spirv),
            version(limits.spirv())
        ));
    }
    if let Some(name) = needs.capabilities.iter().find(|name| !limits.has_capability(name)) {
        let (feature, option) = source(name).unwrap_or_default();
        return lacks(format!("the capability {name}{}", origin(feature, option)));
    }
    if let Some(what) = float_control(code, limits) {
        return lacks(what);
    }
    if let Some(name) = needs.extensions.iter().find(|name| !limits.has_extension(name)) {
        return lacks(format!("the extension {name}"));
    }
    beyond(needs, interfaces, limits).or_else(|| subgroup_size(needs, interfaces, limits)).and_then(lacks)
}

/// For a message: Vulkan's feature, and the target's option that asks for it.
fn origin(feature: &str, option: &str) -> String {
    if feature.is_empty() {
        return String::new();
    }
    format!(" (Vulkan's {feature}; option {option} of the target)")
}

/// The first float control for floats of a width for which the device does not have it. Its
/// capability says nothing of widths.
fn float_control(code: &Code, limits: &Limits) -> Option<String> {
    let found = &limits.properties;
    let widths = |mode: &ExecutionMode| match mode {
        ExecutionMode::DenormPreserve => &found.denorm_preserve,
        ExecutionMode::DenormFlushToZero => &found.denorm_flush_to_zero,
        ExecutionMode::SignedZeroInfNanPreserve => &found.signed_zero_inf_nan_preserve,
        ExecutionMode::RoundingModeRTE => &found.rounding_rte,
        _ => &found.rounding_rtz,
    };
    let is_missing = |(mode, width): &&(ExecutionMode, u32)| !widths(mode).contains(&i64::from(*width));
    let (mode, width) = code.float_controls.iter().find(is_missing)?;
    let name = format!("{mode:?}");
    let (feature, option) = source(&name).unwrap_or_default();
    let feature = if feature.is_empty() { String::new() } else { format!("{feature}Float{width}") };
    Some(format!("{name} of float{width}{}", origin(&feature, option)))
}

/// The first limit that is too low.
fn beyond(needs: &Needs, interfaces: &[Interface], limits: &Limits) -> Option<String> {
    let most = &limits.properties.limits;
    let buffers = most.max_per_stage_descriptor_storage_buffers.min(most.max_descriptor_set_storage_buffers);
    let too_many = |what: &str, need: u64, most: u64| {
        (need > most).then(|| format!("{need} {what} (the device has at most {most})"))
    };
    let of_module = [
        ("storage buffers of a kernel", needs.storage_buffers, buffers),
        ("bytes of push constants", needs.push_constant_bytes, most.max_push_constants_size),
        ("bytes of shared memory", needs.shared_memory_bytes, most.max_compute_shared_memory_size),
    ];
    let of_module =
        of_module.into_iter().find_map(|(what, need, most)| too_many(what, need.into(), most.into()));
    of_module.or_else(|| {
        interfaces.iter().find_map(|interface| {
            let threads = interface.workgroup_size.iter().map(|extent| u64::from(*extent));
            let count = threads.reduce(u64::saturating_mul).unwrap_or_default();
            let axis = (0..3).find_map(|axis| {
                let (need, most) = (interface.workgroup_size[axis], most.max_compute_work_group_size[axis]);
                let what = format!("threads of a block along {}", ["x", "y", "z"][axis]);
                too_many(&what, need.into(), most.into())
            });
            let block = match &interface.block {
                Some(Block::Uniform { size_bytes, .. }) => *size_bytes,
                _ => 0,
            };
            let invocations = u64::from(most.max_compute_work_group_invocations);
            axis.or_else(|| too_many("threads of a block", count, invocations)).or_else(|| {
                too_many("bytes of arguments", block.into(), most.max_uniform_buffer_range.into())
            })
        })
    })
}

/// The subgroup size, if the device has it neither by itself nor on request.
fn subgroup_size(needs: &Needs, interfaces: &[Interface], limits: &Limits) -> Option<String> {
    let (size, found) = (needs.subgroup_size?, &limits.properties);
    let Some(size) = required_size(needs, limits) else {
        return (size != found.subgroup_size).then(|| {
            format!(
                "subgroups of {size} threads (the device has {}, and {} to {} on request)",
                found.subgroup_size, found.min_subgroup_size, found.max_subgroup_size
            )
        });
    };
    let most = u64::from(size) * u64::from(found.max_workgroup_subgroups);
    let too_large = interfaces.iter().find_map(|interface| {
        let threads = interface.workgroup_size.iter().map(|extent| u64::from(*extent));
        threads.reduce(u64::saturating_mul).filter(|threads| *threads > most)
    });
    too_large.map(|threads| {
        format!(
            "blocks of {threads} threads in subgroups of {size} (the device has at most {most} threads then)"
        )
    })
}

/// The size of subgroups that pipelines must request; `None` if the device's own is that of the
/// module.
pub(crate) fn required_size(needs: &Needs, limits: &Limits) -> Option<u32> {
    let (size, found) = (needs.subgroup_size?, &limits.properties);
    let is_fixed = found.min_subgroup_size == found.max_subgroup_size;
    let can_require = limits.has_capability(SIZE_CONTROL) && found.has_required_subgroup_size;
    let is_in_range = (found.min_subgroup_size..=found.max_subgroup_size).contains(&size);
    // A device with several sizes may choose any of them, whatever its default is.
    let is_own = size == found.subgroup_size && (is_fixed || !can_require);
    (!is_own && can_require && is_in_range && size.is_power_of_two()).then_some(size)
}
