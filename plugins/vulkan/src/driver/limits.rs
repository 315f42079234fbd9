//! What is read from a device before a logical device is made: properties, supported names,
//! extensions (VK-D4).

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::ptr;

use ash::{ext, khr, vk};

use super::features::{self, FEATURE_EXTENSIONS, NEVER};

/// Extensions besides those of features that a logical device enables where the device supports
/// them, and the version whose core contains each.
const EXTENSIONS: &[(u32, &CStr)] = &[
    (vk::API_VERSION_1_2, khr::driver_properties::NAME),
    (vk::API_VERSION_1_2, khr::shader_float_controls::NAME),
    (vk::API_VERSION_1_2, khr::spirv_1_4::NAME),
    (vk::API_VERSION_1_3, khr::shader_non_semantic_info::NAME),
    (NEVER, khr::push_descriptor::NAME),
    // A device that supports it requires it.
    (NEVER, khr::portability_subset::NAME),
];

/// SPIR-V's extensions by name, and what brings each: a version, or an extension of Vulkan.
const SPIRV_EXTENSIONS: &[(&str, u32, &CStr)] = &[
    ("SPV_EXT_shader_atomic_float_add", NEVER, ext::shader_atomic_float::NAME),
    ("SPV_KHR_16bit_storage", vk::API_VERSION_1_1, khr::_16bit_storage::NAME),
    ("SPV_KHR_8bit_storage", vk::API_VERSION_1_2, khr::_8bit_storage::NAME),
    ("SPV_KHR_cooperative_matrix", NEVER, khr::cooperative_matrix::NAME),
    ("SPV_KHR_device_group", vk::API_VERSION_1_1, khr::device_group::NAME),
    ("SPV_KHR_float_controls", vk::API_VERSION_1_2, khr::shader_float_controls::NAME),
    ("SPV_KHR_integer_dot_product", vk::API_VERSION_1_3, khr::shader_integer_dot_product::NAME),
    ("SPV_KHR_non_semantic_info", vk::API_VERSION_1_3, khr::shader_non_semantic_info::NAME),
    ("SPV_KHR_physical_storage_buffer", vk::API_VERSION_1_2, khr::buffer_device_address::NAME),
    ("SPV_KHR_storage_buffer_storage_class", vk::API_VERSION_1_1, khr::storage_buffer_storage_class::NAME),
    ("SPV_KHR_subgroup_uniform_control_flow", NEVER, khr::shader_subgroup_uniform_control_flow::NAME),
    ("SPV_KHR_variable_pointers", vk::API_VERSION_1_1, khr::variable_pointers::NAME),
    ("SPV_KHR_vulkan_memory_model", vk::API_VERSION_1_2, khr::vulkan_memory_model::NAME),
    ("SPV_KHR_workgroup_memory_explicit_layout", NEVER, khr::workgroup_memory_explicit_layout::NAME),
];

/// The version and the extensions of a device.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// Vulkan's version, that of the instance or that of the device, whichever is older.
    pub(crate) version: u32,
    extensions: BTreeSet<CString>,
}

impl Known {
    pub(crate) fn new(version: u32, extensions: BTreeSet<CString>) -> Self {
        Self { version, extensions }
    }

    /// Returns true if the device's version contains something since `core`, or it supports the
    /// extension.
    pub(crate) fn has(&self, core: u32, extension: &CStr) -> bool {
        self.version >= core || self.extensions.contains(extension)
    }

    /// The extensions to enable: those that the device supports, and whose contents the core does
    /// not have.
    pub(crate) fn to_enable(&self) -> Vec<&'static CStr> {
        let all = FEATURE_EXTENSIONS.iter().chain(EXTENSIONS);
        let needed = all.filter(|(core, name)| self.version < *core && self.extensions.contains(*name));
        needed.map(|(_, name)| *name).collect()
    }
}

/// Properties of a device. Widths are those of floats, in bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Properties {
    pub(crate) device_name: String,
    pub(crate) vendor_id: u32,
    pub(crate) device_id: u32,
    pub(crate) device_type: vk::PhysicalDeviceType,
    pub(crate) driver_version: u32,
    pub(crate) driver_name: String,
    pub(crate) driver_info: String,
    pub(crate) pipeline_cache_uuid: [u8; vk::UUID_SIZE],
    pub(crate) limits: vk::PhysicalDeviceLimits,
    pub(crate) max_allocation_bytes: u64,
    pub(crate) subgroup_size: u32,
    /// Operations of subgroups in compute shaders; none if compute shaders support none.
    pub(crate) subgroup_operations: vk::SubgroupFeatureFlags,
    pub(crate) min_subgroup_size: u32,
    pub(crate) max_subgroup_size: u32,
    pub(crate) max_workgroup_subgroups: u32,
    /// Whether compute shaders may require a subgroup size.
    pub(crate) has_required_subgroup_size: bool,
    pub(crate) denorm_preserve: Vec<i64>,
    pub(crate) denorm_flush_to_zero: Vec<i64>,
    pub(crate) signed_zero_inf_nan_preserve: Vec<i64>,
    pub(crate) rounding_rte: Vec<i64>,
    pub(crate) rounding_rtz: Vec<i64>,
    pub(crate) max_push_descriptors: u32,
}

/// What was read from a device.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) known: Known,
    pub(crate) properties: Properties,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    /// Bytes of the device-local heaps.
    pub(crate) memory_bytes: u64,
    /// The family of queues that is used, and how many of its queues.
    pub(crate) family: u32,
    pub(crate) queues_count: u32,
    /// Bits of its timestamps; 0 where it has none.
    pub(crate) timestamp_bits: u32,
    supported: BTreeSet<&'static str>,
}

/// Most queues of a device that are used.
const QUEUES_MAX: u32 = 4;

impl Limits {
    /// Reads a device; `None` if it has no queue for compute.
    pub(crate) fn of(instance: &ash::Instance, device: vk::PhysicalDevice, known: Known) -> Option<Self> {
        // SAFETY: a physical device of that instance.
        let families = unsafe { instance.get_physical_device_queue_family_properties(device) };
        let has_compute =
            |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
        // The family with most queues; of equals the first.
        let families =
            (0..).zip(families).filter(|(_, family)| has_compute(family) && family.queue_count > 0);
        let (family, found) =
            families.reduce(
                |best: (u32, vk::QueueFamilyProperties), next| {
                    if next.1.queue_count > best.1.queue_count { next } else { best }
                },
            )?;
        let properties = read_properties(instance, device, &known);
        // SAFETY: a physical device of that instance.
        let memory = unsafe { instance.get_physical_device_memory_properties(device) };
        let local = |heap: &&vk::MemoryHeap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL);
        Some(Self {
            memory_bytes: memory.memory_heaps_as_slice().iter().filter(local).map(|heap| heap.size).sum(),
            supported: features::supported(instance, device, &known, &properties),
            family,
            queues_count: found.queue_count.min(QUEUES_MAX),
            timestamp_bits: found.timestamp_valid_bits,
            known,
            properties,
            memory,
        })
    }

    /// Returns true if the device supports a capability of SPIR-V, or a feature of Vulkan that
    /// enables none; the logical device has enabled what it needs. A name that is in no table is
    /// not supported.
    pub(crate) fn has_capability(&self, spirv_capability: &str) -> bool {
        self.supported.contains(spirv_capability)
    }

    /// Returns true if modules may declare an extension of SPIR-V.
    pub(crate) fn has_extension(&self, spirv_extension: &str) -> bool {
        let found = SPIRV_EXTENSIONS.iter().find(|(name, ..)| *name == spirv_extension);
        found.is_some_and(|(_, core, extension)| self.known.has(*core, extension))
    }

    /// Vulkan's version: major, minor.
    pub(crate) fn vulkan(&self) -> [u32; 2] {
        [vk::api_version_major(self.known.version), vk::api_version_minor(self.known.version)]
    }

    /// Greatest version of SPIR-V: major, minor.
    pub(crate) fn spirv(&self) -> [u32; 2] {
        match self.vulkan() {
            [1, 1] if self.known.has(NEVER, khr::spirv_1_4::NAME) => [1, 4],
            [1, 1] => [1, 3],
            [1, 2] => [1, 5],
            _ => [1, 6],
        }
    }

    /// Returns true if descriptors can be pushed.
    pub(crate) fn has_push_descriptor(&self) -> bool {
        self.known.has(NEVER, khr::push_descriptor::NAME)
    }

    /// Returns true if all memory of the device is also the host's, or the other way round.
    pub(crate) fn is_unified(&self) -> bool {
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        self.memory.memory_types_as_slice().iter().all(|found| found.property_flags.contains(local))
    }

    /// Returns true if there is a type of memory with all of these properties.
    pub(crate) fn has_memory(&self, flags: vk::MemoryPropertyFlags) -> bool {
        self.memory.memory_types_as_slice().iter().any(|found| found.property_flags.contains(flags))
    }
}

/// The structures of properties that a device may know.
#[derive(Default)]
struct Chain {
    subgroup: vk::PhysicalDeviceSubgroupProperties<'static>,
    maintenance3: vk::PhysicalDeviceMaintenance3Properties<'static>,
    driver: vk::PhysicalDeviceDriverProperties<'static>,
    floats: vk::PhysicalDeviceFloatControlsProperties<'static>,
    size: vk::PhysicalDeviceSubgroupSizeControlProperties<'static>,
    maintenance4: vk::PhysicalDeviceMaintenance4Properties<'static>,
    push: vk::PhysicalDevicePushDescriptorPropertiesKHR<'static>,
}

fn read_properties(instance: &ash::Instance, device: vk::PhysicalDevice, known: &Known) -> Properties {
    let mut chain = Chain::default();
    let mut all = vk::PhysicalDeviceProperties2::default();
    macro_rules! link {
        ($($field:ident: $core:expr, $extension:expr;)*) => {
            $(if known.has($core, $extension) {
                chain.$field.p_next = all.p_next;
                all.p_next = ptr::from_mut(&mut chain.$field).cast();
            })*
        };
    }
    link! {
        subgroup: vk::API_VERSION_1_1, c"";
        maintenance3: vk::API_VERSION_1_1, khr::maintenance3::NAME;
        driver: vk::API_VERSION_1_2, khr::driver_properties::NAME;
        floats: vk::API_VERSION_1_2, khr::shader_float_controls::NAME;
        size: vk::API_VERSION_1_3, ext::subgroup_size_control::NAME;
        maintenance4: vk::API_VERSION_1_3, khr::maintenance4::NAME;
        push: NEVER, khr::push_descriptor::NAME;
    }
    // SAFETY: a physical device of that instance, and a chain of live structures that the device
    // knows.
    unsafe { instance.get_physical_device_properties2(device, &mut all) };
    let found = all.properties;
    properties_in(found, &chain, known)
}

fn properties_in(found: vk::PhysicalDeviceProperties, chain: &Chain, known: &Known) -> Properties {
    let text = |text: Option<&CStr>| text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    let (subgroup, floats, size) = (&chain.subgroup, &chain.floats, &chain.size);
    let compute = vk::ShaderStageFlags::COMPUTE;
    let in_compute = subgroup.supported_stages.contains(compute);
    let or_unlimited = |bytes: u64| if bytes == 0 { u64::MAX } else { bytes };
    let allocation = or_unlimited(chain.maintenance3.max_memory_allocation_size);
    let has_size = known.has(vk::API_VERSION_1_3, ext::subgroup_size_control::NAME);
    Properties {
        device_name: text(found.device_name_as_c_str().ok()),
        vendor_id: found.vendor_id,
        device_id: found.device_id,
        device_type: found.device_type,
        driver_version: found.driver_version,
        driver_name: text(chain.driver.driver_name_as_c_str().ok()),
        driver_info: text(chain.driver.driver_info_as_c_str().ok()),
        pipeline_cache_uuid: found.pipeline_cache_uuid,
        limits: found.limits,
        max_allocation_bytes: allocation.min(or_unlimited(chain.maintenance4.max_buffer_size)),
        subgroup_size: subgroup.subgroup_size.max(1),
        subgroup_operations: if in_compute {
            subgroup.supported_operations
        } else {
            vk::SubgroupFeatureFlags::empty()
        },
        min_subgroup_size: if has_size { size.min_subgroup_size } else { subgroup.subgroup_size },
        max_subgroup_size: if has_size { size.max_subgroup_size } else { subgroup.subgroup_size },
        max_workgroup_subgroups: size.max_compute_workgroup_subgroups,
        has_required_subgroup_size: size.required_subgroup_size_stages.contains(compute),
        denorm_preserve: widths([
            floats.shader_denorm_preserve_float16,
            floats.shader_denorm_preserve_float32,
            floats.shader_denorm_preserve_float64,
        ]),
        denorm_flush_to_zero: widths([
            floats.shader_denorm_flush_to_zero_float16,
            floats.shader_denorm_flush_to_zero_float32,
            floats.shader_denorm_flush_to_zero_float64,
        ]),
        signed_zero_inf_nan_preserve: widths([
            floats.shader_signed_zero_inf_nan_preserve_float16,
            floats.shader_signed_zero_inf_nan_preserve_float32,
            floats.shader_signed_zero_inf_nan_preserve_float64,
        ]),
        rounding_rte: widths([
            floats.shader_rounding_mode_rte_float16,
            floats.shader_rounding_mode_rte_float32,
            floats.shader_rounding_mode_rte_float64,
        ]),
        rounding_rtz: widths([
            floats.shader_rounding_mode_rtz_float16,
            floats.shader_rounding_mode_rtz_float32,
            floats.shader_rounding_mode_rtz_float64,
        ]),
        max_push_descriptors: chain.push.max_push_descriptors,
    }
}

/// The widths of floats whose flag is set.
fn widths(flags: [vk::Bool32; 3]) -> Vec<i64> {
    [16, 32, 64]
        .into_iter()
        .zip(flags)
        .filter(|(_, flag)| *flag == vk::TRUE)
        .map(|(width, _)| width)
        .collect()
}
