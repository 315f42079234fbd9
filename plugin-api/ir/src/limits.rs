//! How large a module may be; [`crate::validate`] and [`crate::wire`] hold it to that, so that whatever walks a module
//! may recurse.

/// Levels of expressions and statements within each other.
pub const DEPTH_MAX: usize = 256;
/// Nodes of a module, a shared one counted wherever it stands.
pub const NODES_MAX: u64 = 4_000_000;
/// Axes of a buffer.
pub const RANK_MAX: usize = 32;
/// Lanes of a vector.
pub const LANES_MAX: u16 = 1024;
/// Bytes of a name or a string.
pub const STRING_BYTES_MAX: usize = 65_536;
