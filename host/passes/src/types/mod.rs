//! Types and functions that a target lacks, in those that it has.

pub(crate) mod lower_halves;
pub(crate) mod lower_int64;
pub(crate) mod lower_intrinsics;
pub(crate) mod lower_storage_types;
pub(crate) mod narrow_floats;
pub(crate) mod split_wide_vectors;
pub(crate) mod words;
