//! Keys of device attributes, with the type and the unit of each.
//!
//! The keys are TVM's `DeviceAttrKind` in snake case with the unit last. A plugin's own keys begin
//! with its name and a dot (P5.17); the value of a key that it does not know, or that means nothing
//! for its device, is None. [`TABLE`] has all of them.

/// Key `checked_handles` (bool): whether wrong handles and ranges are answered with typed errors
/// (D.19). It is not in [`ALL`] because it describes how the device API treats mistakes, not the
/// device.
pub const CHECKED_HANDLES: &str = "checked_handles";

/// A key, the type of its values and their meaning, with the unit.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The key.
    pub key: &'static str,
    /// `bool`, `int`, `str` or `Shape`.
    pub value_type: &'static str,
    /// The meaning, with the unit.
    pub meaning: &'static str,
}

macro_rules! keys {
    ($($name:ident = $text:literal: $type:literal, $meaning:literal;)*) => {
        $(
            #[doc = concat!("`", $text, "` (", $type, "): ", $meaning, ".")]
            pub const $name: &str = $text;
        )*

        /// The keys that describe a device: all of the above except `checked_handles`.
        pub const ALL: &[&str] = &[$($text),*];

        /// The keys of [`ALL`], in that order, with types and meanings.
        ///
        /// | Key | Type | Meaning |
        /// |---|---|---|
        $(#[doc = concat!("| `", $text, "` | ", $type, " | ", $meaning, " |")])*
        pub const TABLE: &[Described] =
            &[$(Described { key: $text, value_type: $type, meaning: $meaning }),*];
    };
}

keys! {
    EXIST = "exist": "bool", "whether there is a device of that id; never an error";
    DEVICE_NAME = "device_name": "str", "the maker's name";
    VENDOR_NAME = "vendor_name": "str", "the maker";
    MAX_THREADS_PER_BLOCK = "max_threads_per_block": "int",
        "threads of a block at most; None on a device without blocks of threads, such as a CPU";
    WARP_SIZE = "warp_size": "int", "threads that run in step; None where each runs by itself";
    MAX_SHARED_MEMORY_PER_BLOCK_BYTES = "max_shared_memory_per_block_bytes": "int",
        "shared memory of a block at most, in bytes";
    COMPUTE_VERSION = "compute_version": "str", "major.minor, such as 9.0";
    MAX_CLOCK_RATE_KHZ = "max_clock_rate_khz": "int", "the highest clock rate, in kHz";
    MULTI_PROCESSOR_COUNT = "multi_processor_count": "int",
        "multiprocessors; on a CPU the logical cores that this process may use";
    MAX_THREAD_DIMENSIONS = "max_thread_dimensions": "Shape", "threads of a block at most by axis: x, y, z";
    MAX_GRID_DIMENSIONS = "max_grid_dimensions": "Shape", "blocks of a grid at most by axis: x, y, z";
    MAX_REGISTERS_PER_BLOCK = "max_registers_per_block": "int", "registers of a block at most";
    ARCH = "arch": "str", "the architecture as compilers name it";
    API_VERSION = "api_version": "int", "the version of the vendor's interface, as the vendor counts";
    DRIVER_VERSION = "driver_version": "str", "the version of the driver";
    L1_CACHE_SIZE_BYTES = "l1_cache_size_bytes": "int", "level-1 data cache of one core, in bytes";
    L2_CACHE_SIZE_BYTES = "l2_cache_size_bytes": "int", "level-2 cache, in bytes; on a CPU that of one core";
    L3_CACHE_SIZE_BYTES = "l3_cache_size_bytes": "int",
        "level-3 cache, in bytes; that of one cluster of cores";
    CACHE_LINE_SIZE_BYTES = "cache_line_size_bytes": "int", "a line of the level-1 data cache, in bytes";
    TOTAL_GLOBAL_MEMORY_BYTES = "total_global_memory_bytes": "int",
        "memory of the device that this process may use at most, in bytes";
    AVAILABLE_GLOBAL_MEMORY_BYTES = "available_global_memory_bytes": "int",
        "what is free of it now, in bytes";
    IMAGE_PITCH_ALIGNMENT = "image_pitch_alignment": "int", "alignment of an image's rows, in pixels";
    PHYSICAL_CORE_COUNT = "physical_core_count": "int", "cores without their second threads";
}
