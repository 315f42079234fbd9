//! What the module may use: a target's options, read once.

use chipdock_ir::Target;
use rspirv::spirv::Capability;

/// The access of kernels to the memory of buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BufferAccess {
    /// Storage buffers of a descriptor set.
    #[default]
    Descriptor,
    /// Device addresses in the block of scalars.
    Address,
}

/// The environment that a module is written for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Environment {
    /// Version of Vulkan: major, minor.
    pub(crate) vulkan: [u32; 2],
    /// Version of SPIR-V: major, minor.
    pub(crate) spirv: [u32; 2],
    pub(crate) has_int8: bool,
    pub(crate) has_int16: bool,
    pub(crate) has_int64: bool,
    pub(crate) has_float16: bool,
    pub(crate) has_float64: bool,
    /// Whether elements of 8 bits may lie in storage buffers.
    pub(crate) has_8bit_storage: bool,
    /// Whether elements of 16 bits may lie in storage buffers.
    pub(crate) has_16bit_storage: bool,
    pub(crate) has_int64_atomics: bool,
    pub(crate) has_shared_int64_atomics: bool,
    /// Whether the Vulkan memory model is declared; otherwise GLSL450 is.
    pub(crate) uses_vulkan_memory_model: bool,
    pub(crate) buffer_access: BufferAccess,
    /// Number of threads of a subgroup, if kernels use subgroup operations.
    pub(crate) subgroup_size: Option<u32>,
    /// Widths of floats whose subnormals can be preserved.
    pub(crate) denorm_preserve: Vec<u32>,
    /// Widths of floats whose rounding to nearest even can be demanded.
    pub(crate) rounding_rte: Vec<u32>,
    /// Widths of floats whose signed zeros, infinities and NaNs can be preserved.
    pub(crate) signed_zero_inf_nan_preserve: Vec<u32>,
    /// Whether sources are described by debug information (SPV-13).
    pub(crate) has_debug_info: bool,
    /// Most bytes of push constants; a longer block is a uniform buffer.
    pub(crate) push_constants_bytes_max: u32,
    /// Most bytes of a uniform buffer.
    pub(crate) uniform_bytes_max: u32,
}

/// `VkSubgroupFeatureFlags`: the bits that shuffles and masks of lanes need (basic, ballot,
/// shuffle).
const SUBGROUP_BITS: i64 = 0x1 | 0x8 | 0x10;

/// Reads a list of widths.
fn widths(target: &Target, option: &str) -> Vec<u32> {
    let list = target.options.get(option).and_then(serde_json::Value::as_array);
    list.into_iter().flatten().filter_map(|width| u32::try_from(width.as_u64()?).ok()).collect()
}

impl Environment {
    /// Reads the options of a canonical target.
    pub(crate) fn of(target: &Target) -> Self {
        let is_set = |option: &str| target.bool(option) == Some(true);
        let number = |option: &str, default: i64| target.int(option).unwrap_or(default);
        // VK_MAKE_API_VERSION: 7 bits of the major version, 10 of the minor, 12 of the patch.
        let packed = number("vulkan_api_version", (1 << 22) | (1 << 12)).max(0) as u64;
        let vulkan = [((packed >> 22) & 0x7f) as u32, ((packed >> 12) & 0x3ff) as u32];
        let packed = number("max_spirv_version", 0x1_0300).max(0) as u64;
        let most = [((packed >> 16) & 0xff) as u32, ((packed >> 8) & 0xff) as u32];
        let own = match vulkan {
            [1, 0 | 1] => [1, 3],
            [1, 2] => [1, 5],
            _ => [1, 6],
        };
        let spirv = own.min(most).max([1, 3]);
        let is_addressed = target.str("buffer_access") == Some("address");
        let warp = number("thread_warp_size", 1);
        let has_subgroups = number("supported_subgroup_operations", 1) & SUBGROUP_BITS == SUBGROUP_BITS;
        Self {
            vulkan,
            spirv,
            has_int8: is_set("supports_int8"),
            has_int16: is_set("supports_int16"),
            has_int64: is_set("supports_int64"),
            has_float16: is_set("native_float16"),
            has_float64: is_set("supports_float64"),
            has_8bit_storage: is_set("supports_8bit_buffer"),
            has_16bit_storage: is_set("supports_16bit_buffer"),
            has_int64_atomics: is_set("supports_int64_atomics"),
            has_shared_int64_atomics: is_set("supports_shared_int64_atomics"),
            uses_vulkan_memory_model: match target.str("memory_model") {
                Some("vulkan") => true,
                Some("glsl450") => false,
                _ => is_set("supports_vulkan_memory_model"),
            },
            buffer_access: if is_addressed { BufferAccess::Address } else { BufferAccess::Descriptor },
            subgroup_size: u32::try_from(warp).ok().filter(|size| *size > 1 && has_subgroups),
            denorm_preserve: widths(target, "denorm_preserve"),
            rounding_rte: widths(target, "rounding_rte"),
            signed_zero_inf_nan_preserve: widths(target, "signed_zero_inf_nan_preserve"),
            has_debug_info: is_set("debug_info"),
            push_constants_bytes_max: number("max_push_constants_size", 128).clamp(0, 1 << 20) as u32,
            uniform_bytes_max: u32::try_from(number("max_uniform_buffer_range", 16384)).unwrap_or(u32::MAX),
        }
    }

    /// Returns the extension that declares a capability in this version of SPIR-V, if one must.
    pub(crate) fn extension(&self, capability: Capability) -> Option<&'static str> {
        let (name, core) = match capability {
            Capability::StorageBuffer8BitAccess => ("SPV_KHR_8bit_storage", [1, 5]),
            Capability::DenormPreserve
            | Capability::RoundingModeRTE
            | Capability::SignedZeroInfNanPreserve => ("SPV_KHR_float_controls", [1, 4]),
            Capability::VulkanMemoryModel | Capability::VulkanMemoryModelDeviceScope => {
                ("SPV_KHR_vulkan_memory_model", [1, 5])
            }
            Capability::PhysicalStorageBufferAddresses => ("SPV_KHR_physical_storage_buffer", [1, 5]),
            _ => return None,
        };
        (self.spirv < core).then_some(name)
    }
}
