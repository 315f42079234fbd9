//! Attributes of a device: those of `chipdock_plugin_api::attribute`, and its own, which are named
//! after the target's options with `vulkan.` before it.

use ash::vk;
use chipdock_plugin_api::{Any, Shape, attribute};

use super::hardware::Device;
use crate::driver::Limits;

/// The value of an attribute, or `None` if the key is unknown.
pub(crate) fn attribute(device: &Device, key: &str) -> Option<Any> {
    let limits = device.limits();
    if key == attribute::AVAILABLE_GLOBAL_MEMORY_BYTES {
        return Some(number(device.budget.available_bytes()));
    }
    text(limits, key)
        .map(Any::from)
        .or_else(|| count(limits, key).map(number))
        .or_else(|| sizes(limits, key))
        .or_else(|| flag(limits, key).map(Any::from))
}

fn number(value: u64) -> Any {
    Any::from(i64::try_from(value).unwrap_or(i64::MAX))
}

fn text(limits: &Limits, key: &str) -> Option<String> {
    let properties = &limits.properties;
    let [major, minor] = limits.vulkan();
    let found = match key {
        attribute::DEVICE_NAME => properties.device_name.clone(),
        attribute::VENDOR_NAME => vendor(properties.vendor_id),
        attribute::COMPUTE_VERSION => format!("{major}.{minor}"),
        attribute::DRIVER_VERSION if properties.driver_info.is_empty() => {
            format!("{:#x}", properties.driver_version)
        }
        attribute::DRIVER_VERSION => properties.driver_info.clone(),
        "vulkan.driver_name" => properties.driver_name.clone(),
        "vulkan.device_type" => match properties.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
            vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
            vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
            vk::PhysicalDeviceType::CPU => "cpu",
            _ => "other",
        }
        .to_owned(),
        _ => return None,
    };
    (!found.is_empty()).then_some(found)
}

/// The maker, by the number that PCI or Khronos gave it.
fn vendor(id: u32) -> String {
    match id {
        0x1002 => "AMD".to_owned(),
        0x1010 => "Imagination Technologies".to_owned(),
        0x106b => "Apple".to_owned(),
        0x10de => "NVIDIA".to_owned(),
        0x13b5 => "ARM".to_owned(),
        0x5143 => "Qualcomm".to_owned(),
        0x8086 => "Intel".to_owned(),
        0x1_0005 => "Mesa".to_owned(),
        other => format!("{other:#x}"),
    }
}

fn count(limits: &Limits, key: &str) -> Option<u64> {
    let (properties, most) = (&limits.properties, &limits.properties.limits);
    let number = match key {
        attribute::MAX_THREADS_PER_BLOCK => most.max_compute_work_group_invocations,
        attribute::WARP_SIZE => return Some(warp_size(limits).into()).filter(|size| *size > 1),
        attribute::MAX_SHARED_MEMORY_PER_BLOCK_BYTES => most.max_compute_shared_memory_size,
        attribute::API_VERSION => limits.known.version,
        attribute::TOTAL_GLOBAL_MEMORY_BYTES => return Some(limits.memory_bytes),
        "vulkan.max_allocation_bytes" => {
            return Some(properties.max_allocation_bytes.min(limits.memory_bytes));
        }
        "vulkan.driver_version_number" => properties.driver_version,
        "vulkan.max_spirv_version" => limits.spirv()[0] << 16 | limits.spirv()[1] << 8,
        "vulkan.max_push_constants_size" => most.max_push_constants_size,
        "vulkan.max_uniform_buffer_range" => most.max_uniform_buffer_range,
        "vulkan.max_storage_buffer_range" => most.max_storage_buffer_range,
        "vulkan.max_per_stage_descriptor_storage_buffer" => {
            most.max_per_stage_descriptor_storage_buffers.min(most.max_per_stage_resources)
        }
        "vulkan.supported_subgroup_operations" => properties.subgroup_operations.as_raw(),
        _ => return None,
    };
    Some(u64::from(number))
}

/// The size of a subgroup where kernels can use subgroups as warps, which takes shuffles and
/// ballots; otherwise 1.
fn warp_size(limits: &Limits) -> u32 {
    let has_both = ["GroupNonUniformShuffle", "GroupNonUniformBallot"];
    if has_both.iter().all(|name| limits.has_capability(name)) { limits.properties.subgroup_size } else { 1 }
}

fn sizes(limits: &Limits, key: &str) -> Option<Any> {
    let (properties, most) = (&limits.properties, &limits.properties.limits);
    let three = |sizes: [u32; 3]| sizes.map(i64::from).to_vec();
    let found = match key {
        attribute::MAX_THREAD_DIMENSIONS => three(most.max_compute_work_group_size),
        attribute::MAX_GRID_DIMENSIONS => three(most.max_compute_work_group_count),
        "vulkan.denorm_preserve" => properties.denorm_preserve.clone(),
        "vulkan.rounding_rte" => properties.rounding_rte.clone(),
        "vulkan.signed_zero_inf_nan_preserve" => properties.signed_zero_inf_nan_preserve.clone(),
        _ => return None,
    };
    Some(Any::from(Shape::new(&found)))
}

fn flag(limits: &Limits, key: &str) -> Option<bool> {
    let has = |name| limits.has_capability(name);
    Some(match key {
        attribute::CHECKED_HANDLES => true,
        "vulkan.runs_threads_serially" => limits.properties.device_type == vk::PhysicalDeviceType::CPU,
        // Every device computes with them.
        "vulkan.supports_float32"
        | "vulkan.supports_int32"
        | "vulkan.supports_storage_buffer_storage_class" => true,
        // Memory of a buffer's own is part of Vulkan 1.1.
        "vulkan.supports_dedicated_allocation" => true,
        "vulkan.supports_float16" => has("Float16"),
        "vulkan.supports_float64" => has("Float64"),
        "vulkan.supports_int8" => has("Int8"),
        "vulkan.supports_int16" => has("Int16"),
        "vulkan.supports_int64" => has("Int64"),
        "vulkan.supports_8bit_buffer" => has("StorageBuffer8BitAccess"),
        "vulkan.supports_16bit_buffer" => has("StorageBuffer16BitAccess"),
        "vulkan.supports_push_descriptor" => limits.has_push_descriptor(),
        "vulkan.supports_integer_dot_product" => has("DotProduct"),
        "vulkan.supports_cooperative_matrix" => has("CooperativeMatrixKHR"),
        "vulkan.supports_buffer_device_address" => has("PhysicalStorageBufferAddresses"),
        "vulkan.supports_vulkan_memory_model" => {
            has("VulkanMemoryModel") && has("VulkanMemoryModelDeviceScope")
        }
        "vulkan.supports_subgroup_size_control" => {
            has("subgroupSizeControl") && limits.properties.has_required_subgroup_size
        }
        "vulkan.supports_int64_atomics" => has("shaderBufferInt64Atomics"),
        "vulkan.supports_shared_int64_atomics" => has("shaderSharedInt64Atomics"),
        _ => return None,
    })
}
