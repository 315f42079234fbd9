//! Features: what a device supports, what its logical device enables, and the one table of SPIR-V
//! capabilities that both come from (VK-D4).

use std::collections::BTreeSet;
use std::ptr;

use ash::{ext, khr, vk};

use super::limits::{Known, Properties};

macro_rules! features {
    ($($field:ident: $structure:ident, core since $core:expr, $extension:expr;)*) => {
        /// Vulkan's structures of features, each of its own so that a device of any version gets
        /// those that it knows.
        #[derive(Default)]
        pub(crate) struct Features {
            core: vk::PhysicalDeviceFeatures,
            $($field: vk::$structure<'static>,)*
        }

        /// The extensions that bring features to devices whose version is older.
        pub(crate) const FEATURE_EXTENSIONS: &[(u32, &std::ffi::CStr)] = &[$(($core, $extension)),*];

        impl Features {
            /// Calls `body` with a chain of the structures that a device knows.
            fn chained<R>(
                &mut self,
                known: &Known,
                body: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>) -> R,
            ) -> R {
                let mut all = vk::PhysicalDeviceFeatures2 { features: self.core, ..Default::default() };
                $(if known.has($core, $extension) {
                    self.$field.p_next = all.p_next;
                    all.p_next = ptr::from_mut(&mut self.$field).cast();
                })*
                let result = body(&mut all);
                self.core = all.features;
                $(self.$field.p_next = ptr::null_mut();)*
                result
            }
        }
    };
}

/// The version of an extension that never became part of the core.
pub(crate) const NEVER: u32 = u32::MAX;
const V1_1: u32 = vk::API_VERSION_1_1;
const V1_2: u32 = vk::API_VERSION_1_2;
const V1_3: u32 = vk::API_VERSION_1_3;

features! {
    storage16: PhysicalDevice16BitStorageFeatures, core since V1_1, khr::_16bit_storage::NAME;
    pointers: PhysicalDeviceVariablePointersFeatures, core since V1_1, khr::variable_pointers::NAME;
    storage8: PhysicalDevice8BitStorageFeatures, core since V1_2, khr::_8bit_storage::NAME;
    narrow: PhysicalDeviceShaderFloat16Int8Features, core since V1_2, khr::shader_float16_int8::NAME;
    atomic64: PhysicalDeviceShaderAtomicInt64Features, core since V1_2, khr::shader_atomic_int64::NAME;
    address: PhysicalDeviceBufferDeviceAddressFeatures, core since V1_2, khr::buffer_device_address::NAME;
    model: PhysicalDeviceVulkanMemoryModelFeatures, core since V1_2, khr::vulkan_memory_model::NAME;
    timeline: PhysicalDeviceTimelineSemaphoreFeatures, core since V1_2, khr::timeline_semaphore::NAME;
    scalar: PhysicalDeviceScalarBlockLayoutFeatures, core since V1_2, ext::scalar_block_layout::NAME;
    subgroup_types: PhysicalDeviceShaderSubgroupExtendedTypesFeatures, core since V1_2, khr::shader_subgroup_extended_types::NAME;
    subgroup_size: PhysicalDeviceSubgroupSizeControlFeatures, core since V1_3, ext::subgroup_size_control::NAME;
    dot: PhysicalDeviceShaderIntegerDotProductFeatures, core since V1_3, khr::shader_integer_dot_product::NAME;
    maintenance4: PhysicalDeviceMaintenance4Features, core since V1_3, khr::maintenance4::NAME;
    atomic_float: PhysicalDeviceShaderAtomicFloatFeaturesEXT, core since NEVER, ext::shader_atomic_float::NAME;
    layout: PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR, core since NEVER, khr::workgroup_memory_explicit_layout::NAME;
    uniform_flow: PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR, core since NEVER, khr::shader_subgroup_uniform_control_flow::NAME;
    matrix: PhysicalDeviceCooperativeMatrixFeaturesKHR, core since NEVER, khr::cooperative_matrix::NAME;
}

/// A field of [`Features`].
type Switch = fn(&mut Features) -> &mut vk::Bool32;

/// What makes a device support a name of the table.
enum Need {
    /// Every device supports it.
    Nothing,
    /// One of these features; those that are supported are enabled.
    Feature(&'static [Switch]),
    /// A property, which need not be enabled.
    Property(fn(&Properties) -> bool),
    /// Operations of subgroups in compute shaders.
    Subgroup(vk::SubgroupFeatureFlags),
}

use Need::{Feature, Nothing, Property, Subgroup};

/// SPIR-V's capabilities by name, and after them Vulkan's features that enable none, by the name of
/// the feature.
const NAMES: &[(&str, Need)] = &[
    ("Matrix", Nothing),
    ("Shader", Nothing),
    ("DeviceGroup", Nothing),
    ("Float64", Feature(&[|f| &mut f.core.shader_float64])),
    ("Int64", Feature(&[|f| &mut f.core.shader_int64])),
    ("Int16", Feature(&[|f| &mut f.core.shader_int16])),
    ("Float16", Feature(&[|f| &mut f.narrow.shader_float16])),
    ("Int8", Feature(&[|f| &mut f.narrow.shader_int8])),
    (
        "Int64Atomics",
        Feature(&[
            |f| &mut f.atomic64.shader_buffer_int64_atomics,
            |f| &mut f.atomic64.shader_shared_int64_atomics,
        ]),
    ),
    ("StorageBuffer16BitAccess", Feature(&[|f| &mut f.storage16.storage_buffer16_bit_access])),
    (
        "UniformAndStorageBuffer16BitAccess",
        Feature(&[|f| &mut f.storage16.uniform_and_storage_buffer16_bit_access]),
    ),
    ("StoragePushConstant16", Feature(&[|f| &mut f.storage16.storage_push_constant16])),
    ("StorageBuffer8BitAccess", Feature(&[|f| &mut f.storage8.storage_buffer8_bit_access])),
    (
        "UniformAndStorageBuffer8BitAccess",
        Feature(&[|f| &mut f.storage8.uniform_and_storage_buffer8_bit_access]),
    ),
    ("StoragePushConstant8", Feature(&[|f| &mut f.storage8.storage_push_constant8])),
    ("VariablePointersStorageBuffer", Feature(&[|f| &mut f.pointers.variable_pointers_storage_buffer])),
    ("VariablePointers", Feature(&[|f| &mut f.pointers.variable_pointers])),
    ("PhysicalStorageBufferAddresses", Feature(&[|f| &mut f.address.buffer_device_address])),
    ("VulkanMemoryModel", Feature(&[|f| &mut f.model.vulkan_memory_model])),
    ("VulkanMemoryModelDeviceScope", Feature(&[|f| &mut f.model.vulkan_memory_model_device_scope])),
    ("DotProduct", Feature(&[|f| &mut f.dot.shader_integer_dot_product])),
    ("DotProductInputAll", Feature(&[|f| &mut f.dot.shader_integer_dot_product])),
    ("DotProductInput4x8Bit", Feature(&[|f| &mut f.dot.shader_integer_dot_product])),
    ("DotProductInput4x8BitPacked", Feature(&[|f| &mut f.dot.shader_integer_dot_product])),
    (
        "AtomicFloat32AddEXT",
        Feature(&[
            |f| &mut f.atomic_float.shader_buffer_float32_atomic_add,
            |f| &mut f.atomic_float.shader_shared_float32_atomic_add,
        ]),
    ),
    (
        "AtomicFloat64AddEXT",
        Feature(&[
            |f| &mut f.atomic_float.shader_buffer_float64_atomic_add,
            |f| &mut f.atomic_float.shader_shared_float64_atomic_add,
        ]),
    ),
    ("WorkgroupMemoryExplicitLayoutKHR", Feature(&[|f| &mut f.layout.workgroup_memory_explicit_layout])),
    (
        "WorkgroupMemoryExplicitLayout8BitAccessKHR",
        Feature(&[|f| &mut f.layout.workgroup_memory_explicit_layout8_bit_access]),
    ),
    (
        "WorkgroupMemoryExplicitLayout16BitAccessKHR",
        Feature(&[|f| &mut f.layout.workgroup_memory_explicit_layout16_bit_access]),
    ),
    ("CooperativeMatrixKHR", Feature(&[|f| &mut f.matrix.cooperative_matrix])),
    ("GroupNonUniform", Subgroup(vk::SubgroupFeatureFlags::BASIC)),
    ("GroupNonUniformVote", Subgroup(vk::SubgroupFeatureFlags::VOTE)),
    ("GroupNonUniformArithmetic", Subgroup(vk::SubgroupFeatureFlags::ARITHMETIC)),
    ("GroupNonUniformBallot", Subgroup(vk::SubgroupFeatureFlags::BALLOT)),
    ("GroupNonUniformShuffle", Subgroup(vk::SubgroupFeatureFlags::SHUFFLE)),
    ("GroupNonUniformShuffleRelative", Subgroup(vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE)),
    ("GroupNonUniformClustered", Subgroup(vk::SubgroupFeatureFlags::CLUSTERED)),
    ("GroupNonUniformQuad", Subgroup(vk::SubgroupFeatureFlags::QUAD)),
    ("DenormPreserve", Property(|p| !p.denorm_preserve.is_empty())),
    ("DenormFlushToZero", Property(|p| !p.denorm_flush_to_zero.is_empty())),
    ("SignedZeroInfNanPreserve", Property(|p| !p.signed_zero_inf_nan_preserve.is_empty())),
    ("RoundingModeRTE", Property(|p| !p.rounding_rte.is_empty())),
    ("RoundingModeRTZ", Property(|p| !p.rounding_rtz.is_empty())),
    ("computeFullSubgroups", Feature(&[|f| &mut f.subgroup_size.compute_full_subgroups])),
    ("maintenance4", Feature(&[|f| &mut f.maintenance4.maintenance4])),
    ("scalarBlockLayout", Feature(&[|f| &mut f.scalar.scalar_block_layout])),
    ("shaderBufferInt64Atomics", Feature(&[|f| &mut f.atomic64.shader_buffer_int64_atomics])),
    ("shaderSharedInt64Atomics", Feature(&[|f| &mut f.atomic64.shader_shared_int64_atomics])),
    ("shaderSubgroupExtendedTypes", Feature(&[|f| &mut f.subgroup_types.shader_subgroup_extended_types])),
    (
        "shaderSubgroupUniformControlFlow",
        Feature(&[|f| &mut f.uniform_flow.shader_subgroup_uniform_control_flow]),
    ),
    ("subgroupSizeControl", Feature(&[|f| &mut f.subgroup_size.subgroup_size_control])),
    ("timelineSemaphore", Feature(&[|f| &mut f.timeline.timeline_semaphore])),
];

/// Capabilities that the code generator declares: what of Vulkan brings each, and the target's
/// option that asks for it. The properties of float controls are named without the width.
const SOURCES: &[(&str, &str, &str)] = &[
    ("Float64", "shaderFloat64", "supports_float64"),
    ("Int64", "shaderInt64", "supports_int64"),
    ("Int16", "shaderInt16", "supports_int16"),
    ("Int8", "shaderInt8", "supports_int8"),
    ("Float16", "shaderFloat16", "native_float16"),
    ("Int64Atomics", "shaderBufferInt64Atomics", "supports_int64_atomics"),
    ("StorageBuffer16BitAccess", "storageBuffer16BitAccess", "supports_16bit_buffer"),
    ("StorageBuffer8BitAccess", "storageBuffer8BitAccess", "supports_8bit_buffer"),
    ("PhysicalStorageBufferAddresses", "bufferDeviceAddress", "buffer_access"),
    ("VulkanMemoryModel", "vulkanMemoryModel", "memory_model"),
    ("GroupNonUniform", "subgroupSupportedOperations", "supported_subgroup_operations"),
    ("GroupNonUniformBallot", "subgroupSupportedOperations", "supported_subgroup_operations"),
    ("GroupNonUniformShuffle", "subgroupSupportedOperations", "supported_subgroup_operations"),
    ("DenormPreserve", "shaderDenormPreserve", "denorm_preserve"),
    ("RoundingModeRTE", "shaderRoundingModeRTE", "rounding_rte"),
    ("SignedZeroInfNanPreserve", "shaderSignedZeroInfNanPreserve", "signed_zero_inf_nan_preserve"),
];

/// For messages: the feature or property of Vulkan that brings a capability, and the target's
/// option that asks for it.
pub(crate) fn source(capability: &str) -> Option<(&'static str, &'static str)> {
    SOURCES.iter().find(|(name, ..)| *name == capability).map(|(_, feature, option)| (*feature, *option))
}

/// The names of the table that a device supports, and the features to enable for them.
pub(crate) fn supported(
    instance: &ash::Instance,
    device: vk::PhysicalDevice,
    known: &Known,
    properties: &Properties,
) -> BTreeSet<&'static str> {
    let mut found = Features::default();
    // SAFETY: a physical device of that instance, and a chain of live structures that the device
    // knows.
    found.chained(known, |all| unsafe { instance.get_physical_device_features2(device, all) });
    let mut is_on = |switch: &Switch| *switch(&mut found) == vk::TRUE;
    let mut names = BTreeSet::new();
    for (name, need) in NAMES {
        let is_supported = match need {
            Nothing => true,
            Feature(switches) => switches.iter().any(&mut is_on),
            Property(has) => has(properties),
            Subgroup(operations) => properties.subgroup_operations.contains(*operations),
        };
        if is_supported {
            names.insert(*name);
        }
    }
    names
}

/// Calls `body` with the chain of features that a logical device enables: each of the table that
/// the device supports.
pub(crate) fn enabled<R>(
    instance: &ash::Instance,
    device: vk::PhysicalDevice,
    known: &Known,
    body: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>) -> R,
) -> R {
    let (mut found, mut wanted) = (Features::default(), Features::default());
    // SAFETY: a physical device of that instance, and a chain of live structures that the device
    // knows.
    found.chained(known, |all| unsafe { instance.get_physical_device_features2(device, all) });
    for (_, need) in NAMES {
        if let Feature(switches) = need {
            switches.iter().for_each(|switch| *switch(&mut wanted) |= *switch(&mut found));
        }
    }
    wanted.chained(known, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_of_known_capabilities_and_options() {
        let kind: serde_json::Value = serde_json::from_str(include_str!("../target_kind.json")).unwrap();
        let options = kind["options"].as_array().unwrap();
        for (capability, _, option) in SOURCES {
            assert!(NAMES.iter().any(|(name, _)| name == capability), "{capability}");
            assert!(options.iter().any(|one| one["name"] == *option), "{option}");
        }
    }
}
