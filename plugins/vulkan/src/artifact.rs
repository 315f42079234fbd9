//! The artifact of kind `vulkan`: what the code generator writes and the loader reads.
//!
//! Section `spv` contains the words of one SPIR-V module, little-endian, with an entry point for
//! each kernel; section `source` the same module as assembly text. The index:
//!
//! ```json
//! {
//!   "module_kind": "vulkan",
//!   "format": "spv",
//!   "functions": [{"name": "f_kernel", "symbol": "f_kernel", "args": ["handle", "handle", "int32"],
//!                  "launch_params": ["blockIdx.x", "threadIdx.x", "tirx.use_dyn_shared_memory"],
//!                  "options": {
//!                    "workgroup_size": [64, 1, 1],
//!                    "places": [{"binding": 0, "is_written": false}, {"address_at": 0, "is_written": true},
//!                               {"offset_bytes": 8, "size_bytes": 4}],
//!                    "block": {"in": "push_constant", "size_bytes": 12},
//!                    "dynamic_shared": {"constant": 0, "element_bytes": 4}}}],
//!   "options": {
//!     "needs": {"vulkan": [1, 1], "spirv": [1, 3], "capabilities": ["Shader"], "extensions": [],
//!               "storage_buffers": 1, "push_constant_bytes": 12, "shared_memory_bytes": 1024, "subgroup_size": 32},
//!     "spv_sha256": "…"}
//! }
//! ```
//!
//! # Rules
//!
//! * **VKART-A1** `functions` are as `chipdock_plugin_api::kernel::describe` writes them, in the
//!   order of the module's entry points; `symbol` is the name of the entry point.
//! * **VKART-A2** `places` has one entry for each argument, in order. A pointer is a storage buffer
//!   of set 0 at `binding`, or a device address: 8 bytes of the block at `address_at`. A scalar is
//!   `size_bytes` bytes of the block at `offset_bytes`: 4 bytes for a boolean (0 or 1) and for an
//!   integer of at most 32 bits, extended by its sign, and for float32; 8 bytes for types of 64
//!   bits. Each is aligned to its size.
//! * **VKART-A3** `block` is absent if nothing lies in it. `in` is `push_constant`, or `uniform`
//!   for a block that is longer than the target's push constants: a uniform buffer of set 0 at
//!   `binding`. Bindings count from 0 without gaps: storage buffers in the order of the arguments,
//!   then the block.
//! * **VKART-A4** `workgroup_size` is the number of threads of a block by axis; a launch with other
//!   extents is refused.
//! * **VKART-A5** `dynamic_shared` is absent if there is none. The specialisation constant with
//!   number `constant`, a uint32, is the launch's bytes in elements of `element_bytes`, rounded up,
//!   at least 1.
//! * **VKART-A6** `needs` is everything that a device must support: the version of its API and of
//!   SPIR-V; SPIR-V's `capabilities` and `extensions` by name, as the module declares them; the
//!   most storage buffers, bytes of push constants and bytes of shared memory (without dynamic
//!   shared memory) of a kernel; and the size of its subgroups, if a kernel was written for one. A
//!   capability that a feature or a property of Vulkan enables is looked up by its name.
//! * **VKART-A7** `spv_sha256` is the digest of section `spv`, in hexadecimal.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The module kind, which selects the loader.
pub(crate) const KIND: &str = "vulkan";
/// The format of the code.
pub(crate) const FORMAT: &str = "spv";
/// The section that contains the words.
pub(crate) const CODE: &str = "spv";

/// How an argument of a kernel is passed (VKART-A2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Place {
    /// A storage buffer of set 0.
    Buffer {
        /// Number of the binding.
        binding: u32,
        /// Whether the kernel writes to it.
        is_written: bool,
    },
    /// A device address in the block.
    Address {
        /// Offset in bytes from the start of the block.
        address_at: u32,
        /// Whether the kernel writes through it.
        is_written: bool,
    },
    /// A scalar in the block.
    Scalar {
        /// Offset in bytes from the start of the block.
        offset_bytes: u32,
        /// 4 or 8.
        size_bytes: u32,
    },
}

/// Where the block of scalars and addresses lies (VKART-A3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "snake_case")]
pub(crate) enum Block {
    /// Push constants from offset 0.
    PushConstant {
        /// Its size.
        size_bytes: u32,
    },
    /// A uniform buffer of set 0.
    Uniform {
        /// Its size.
        size_bytes: u32,
        /// Number of the binding.
        binding: u32,
    },
}

/// Dynamic shared memory (VKART-A5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DynamicShared {
    /// Number of the specialisation constant.
    pub(crate) constant: u32,
    /// Size of an element of the array.
    pub(crate) element_bytes: u32,
}

/// The `options` of an entry of `functions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Interface {
    /// Threads of a block: x, y, z.
    pub(crate) workgroup_size: [u32; 3],
    /// One for each argument.
    pub(crate) places: Vec<Place>,
    /// The block of scalars and addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) block: Option<Block>,
    /// Dynamic shared memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dynamic_shared: Option<DynamicShared>,
}

/// What a device must support (VKART-A6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Needs {
    /// Least version of Vulkan: major, minor.
    pub(crate) vulkan: [u32; 2],
    /// Version of SPIR-V: major, minor.
    pub(crate) spirv: [u32; 2],
    /// SPIR-V's names, sorted.
    pub(crate) capabilities: Vec<String>,
    /// SPIR-V's names, sorted.
    pub(crate) extensions: Vec<String>,
    /// Most storage buffers of a kernel.
    pub(crate) storage_buffers: u32,
    /// Most push constants of a kernel.
    pub(crate) push_constant_bytes: u32,
    /// Most shared memory of a kernel.
    pub(crate) shared_memory_bytes: u32,
    /// Threads of a subgroup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subgroup_size: Option<u32>,
}

/// The digest of a section (VKART-A7).
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
