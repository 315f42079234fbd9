//! Keys of device attributes, with the type and the unit of each.
//!
//! The keys are TVM's `DeviceAttrKind` in snake case with the unit last. A plugin may have keys of
//! its own besides these; the value of a key that it does not know, or that means nothing for its
//! device, is None.
//!
//! | Key | Type | Meaning |
//! |---|---|---|
//! | [`EXIST`] | bool | whether there is a device of that id; never an error |
//! | [`DEVICE_NAME`] | str | the maker's name |
//! | [`VENDOR_NAME`] | str | the maker |
//! | [`MAX_THREADS_PER_BLOCK`] | int | threads of a block at most; None on a device without blocks of threads, such as a CPU |
//! | [`WARP_SIZE`] | int | threads that run in step; None where each runs by itself |
//! | [`MAX_SHARED_MEMORY_PER_BLOCK_BYTES`] | int | shared memory of a block at most, in bytes |
//! | [`COMPUTE_VERSION`] | str | `"major.minor"` |
//! | [`MAX_CLOCK_RATE_KHZ`] | int | the highest clock rate, in kHz |
//! | [`MULTI_PROCESSOR_COUNT`] | int | multiprocessors; on a CPU the logical cores that this process may use |
//! | [`MAX_THREAD_DIMENSIONS`] | Shape | threads of a block at most by axis: x, y, z |
//! | [`MAX_GRID_DIMENSIONS`] | Shape | blocks of a grid at most by axis: x, y, z |
//! | [`MAX_REGISTERS_PER_BLOCK`] | int | registers of a block at most |
//! | [`ARCH`] | str | the architecture as compilers name it |
//! | [`API_VERSION`] | int | the version of the vendor's interface, as the vendor counts |
//! | [`DRIVER_VERSION`] | str | the version of the driver |
//! | [`L1_CACHE_SIZE_BYTES`] | int | level-1 data cache of one core, in bytes |
//! | [`L2_CACHE_SIZE_BYTES`] | int | level-2 cache, in bytes; on a CPU that of one core |
//! | [`L3_CACHE_SIZE_BYTES`] | int | level-3 cache, in bytes; that of one cluster of cores |
//! | [`CACHE_LINE_SIZE_BYTES`] | int | a line of the level-1 data cache, in bytes |
//! | [`TOTAL_GLOBAL_MEMORY_BYTES`] | int | memory of the device that this process may use at most, in bytes |
//! | [`AVAILABLE_GLOBAL_MEMORY_BYTES`] | int | what is free of it now, in bytes |
//! | [`IMAGE_PITCH_ALIGNMENT`] | int | alignment of an image's rows, in pixels |
//! | [`PHYSICAL_CORE_COUNT`] | int | cores without their second threads |
//! | [`CHECKED_HANDLES`] | bool | whether wrong handles and ranges are answered with typed errors (D.19) |

/// Key `checked_handles`: see the table above. It is not in [`ALL`] because it describes how the
/// device API treats mistakes, not the device.
pub const CHECKED_HANDLES: &str = "checked_handles";

macro_rules! keys {
    ($($name:ident = $text:literal),* $(,)?) => {
        $(
            #[doc = concat!("`", $text, "`: see the table above.")]
            pub const $name: &str = $text;
        )*

        /// The keys that describe a device: all of the above except `checked_handles`.
        pub const ALL: &[&str] = &[$($text),*];
    };
}

keys! {
    EXIST = "exist",
    DEVICE_NAME = "device_name",
    VENDOR_NAME = "vendor_name",
    MAX_THREADS_PER_BLOCK = "max_threads_per_block",
    WARP_SIZE = "warp_size",
    MAX_SHARED_MEMORY_PER_BLOCK_BYTES = "max_shared_memory_per_block_bytes",
    COMPUTE_VERSION = "compute_version",
    MAX_CLOCK_RATE_KHZ = "max_clock_rate_khz",
    MULTI_PROCESSOR_COUNT = "multi_processor_count",
    MAX_THREAD_DIMENSIONS = "max_thread_dimensions",
    MAX_GRID_DIMENSIONS = "max_grid_dimensions",
    MAX_REGISTERS_PER_BLOCK = "max_registers_per_block",
    ARCH = "arch",
    API_VERSION = "api_version",
    DRIVER_VERSION = "driver_version",
    L1_CACHE_SIZE_BYTES = "l1_cache_size_bytes",
    L2_CACHE_SIZE_BYTES = "l2_cache_size_bytes",
    L3_CACHE_SIZE_BYTES = "l3_cache_size_bytes",
    CACHE_LINE_SIZE_BYTES = "cache_line_size_bytes",
    TOTAL_GLOBAL_MEMORY_BYTES = "total_global_memory_bytes",
    AVAILABLE_GLOBAL_MEMORY_BYTES = "available_global_memory_bytes",
    IMAGE_PITCH_ALIGNMENT = "image_pitch_alignment",
    PHYSICAL_CORE_COUNT = "physical_core_count",
}
