//! Limits of a module's size; [`crate::validate`] and [`crate::wire`] check them, so that code that
//! walks a module may recurse.

/// Nesting levels of expressions and statements.
pub const DEPTH_MAX: usize = 256;
/// Nodes of a module; a shared one counts at each occurrence.
pub const NODES_MAX: u64 = 4_000_000;
/// Parameters of a function, up to stage `flattened`; those of functions that passes make later are
/// not counted.
pub const PARAMS_MAX: usize = 1024;
/// Sizes that the parameters of a function bind, besides its parameters.
pub const SIZES_MAX: usize = 1024;
/// Axes of a buffer.
pub const RANK_MAX: usize = 32;
/// Lanes of a vector.
pub const LANES_MAX: u16 = 1024;
/// Nesting levels of lists and objects within a target's JSON: few enough for every JSON reader,
/// within the levels of a document.
pub const TARGET_LEVELS_MAX: usize = 64;
/// Fields of an object: nodes have few, a target as many as it has options.
pub const FIELDS_MAX: usize = 1024;
/// Bytes of a name or a string.
pub const STRING_BYTES_MAX: usize = 65_536;
/// Bytes that a constant may ask its address to be a multiple of: what every object format keeps.
pub const CONSTANT_ALIGNMENT_BYTES_MAX: u32 = 4096;
/// Bytes of a buffer on the stack of a host function; a larger one is workspace. TVM's
/// `kMaxStackAlloca`.
pub const STACK_SIZE_BYTES_MAX: i128 = 1024;
/// Bytes of a buffer of scope `local` on the stack: typically accumulators, which compilers keep in
/// registers while any are free.
pub const STACK_LOCAL_BYTES_MAX: i128 = 8192;
/// Bytes of all buffers of a function on the stack; further buffers are workspace. A thread of a
/// pool has 2 MiB for all active functions.
pub const STACK_TOTAL_BYTES_MAX: i128 = 256 * 1024;
