//! How large a module may be; [`crate::validate`] and [`crate::wire`] hold it to that, so that whatever walks a module
//! may recurse.

/// Levels of expressions and statements within each other.
pub const DEPTH_MAX: usize = 256;
/// Nodes of a module, a shared one counted wherever it stands.
pub const NODES_MAX: u64 = 4_000_000;
/// Parameters of a function, up to stage `flattened`; later ones of what passes make of it are not counted.
pub const PARAMS_MAX: usize = 1024;
/// Sizes that the parameters of a function bind, beside its parameters.
pub const SIZES_MAX: usize = 1024;
/// Axes of a buffer.
pub const RANK_MAX: usize = 32;
/// Lanes of a vector.
pub const LANES_MAX: u16 = 1024;
/// Levels of lists and objects within a target's JSON: what every JSON reader takes, below the levels of a document.
pub const TARGET_LEVELS_MAX: usize = 64;
/// Fields of an object: nodes have few, a target as many as options.
pub const FIELDS_MAX: usize = 1024;
/// Bytes of a name or a string.
pub const STRING_BYTES_MAX: usize = 65_536;
