//! Modules of kernels: an artifact, checked and made into pipelines whose launches are recorded.
//!
//! * **VKMOD-M1** An artifact's index is checked against itself: a place for each argument, of its kind; places in the
//!   block aligned, within it and without overlap; bindings from 0 without gaps.
//! * **VKMOD-M2** Words that are cut short or altered do not reach the driver: the digest, the header, instructions that
//!   fill the words, SPIR-V's grammar, ids, the order of sections and whole blocks are checked.
//! * **VKMOD-M3** The words are checked against the index: version, capabilities and extensions equal `needs`; entry points
//!   are the functions, in order, with their workgroup sizes; they use only resources that a launch binds.

pub(crate) mod interface;
pub(crate) mod words;
