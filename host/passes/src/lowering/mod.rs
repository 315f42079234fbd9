//! From blocks and buffers to loops and flat memory.

pub(crate) mod bind_offsets;
pub(crate) mod compact_buffer_allocation;
pub(crate) mod flatten_buffers;
pub(crate) mod inline_buffer_functions;
pub(crate) mod lower_blocks;
pub(crate) mod lower_moved_pointers;
pub(crate) mod pointers;
pub(crate) mod rescope_memory;
pub(crate) mod storage_rewrite;
pub(crate) mod unroll;
pub(crate) mod vectorize;
