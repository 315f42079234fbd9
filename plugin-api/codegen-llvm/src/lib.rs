//! Textual LLVM IR of a lowered module, and the trait [`LlvmTarget`] for what differs between targets.
//!
//! [`write_module`] turns a lowered [`IrModule`] into the text of one LLVM module. No LLVM is needed for that: a plugin
//! that has a library parses, verifies, optimises and emits the text. This crate owns control flow, memory, the IR's
//! semantics, errors and debug information; a target answers what differs.
//!
//! # Rules
//!
//! - **LLVM-V1** The text is a pure function of the module, the target and the options: the same input gives the same bytes.
//! - **LLVM-V2** What the IR defines and LLVM leaves undefined or poisoned is guarded: division, shifts, conversions of floats
//!   to integers, overflow. `nsw`, `nuw`, `inbounds` and the like stand only where ranges or the IR's rules show them.
//! - **LLVM-V3** Indices made of loop variables, parameters and constants are computed exactly in 64 bits, as positions do not
//!   wrap in a program that stays within its buffers.
//! - **LLVM-V4** In registers a boolean is `i1`, float16 and bfloat16 are their bits (`i16`), and so in vectors; in memory a
//!   boolean is a byte, 0 or 1. What is computed in halves is computed in `float` and rounded once.
//! - **LLVM-V5** What the IR evaluates lazily (`and`, `or`, `if_then_else`, loop conditions) stays lazy, unless it is cheap,
//!   without effect and cannot fail.
//! - **LLVM-V6** Loads and stores claim the alignment of an element and no more, unless the memory is the function's own. Where
//!   the function says that its buffers do not overlap, accesses through different ones carry that.
//! - **LLVM-V7** Floating-point operations carry `contract` (rule of the IR: a product may be fused into its sum) and what the
//!   target's fast-math options say, nothing else. Where sums may associate in another order, one with a number so large
//!   that it rounds to an integer, and what follows it, may not: the polynomials of the passes round so.
//! - **LLVM-V8** Compiled code reaches its host through `__chipdock_env` alone, and has fallbacks where that is null.
//! - **LLVM-V9** A node that the IR shares is written once per statement: text grows with the module, not with its paths.
//! - **LLVM-V10** Everything that is not supported is reported, not only the first: [`unsupported`] lists what [`write_module`]
//!   would fail with. No input makes this crate panic; depth is limited to that of [`chipdock_ir::limits`].
//! - **LLVM-V11** With debug information, each instruction has the line of the statement that it comes from.
//! - **LLVM-V12** `chipdock.nontemporal`, a note that is not 0 on a loop (`annotations={...}`), a block
//!   (`T.sblock_attr({...})`) or a statement (`with T.attr(...)`, about a buffer or about nothing), asks that stores within
//!   bypass the caches. It holds for contiguous stores, without a predicate, of whole vectors of 16 bytes or more, wherever
//!   they turn out to be aligned to their size (to 64 bytes at most); others are as ever. What was stored so is visible to
//!   other threads when the function returns.
//! - **LLVM-V13** No instruction is written that LLVM makes a call of a library of its own of: no conversions of halves where
//!   the processor has none, no `frem`, nothing of 128 bits. What may become a call of the C library, on processors that
//!   lack the instruction, are the functions of C99 `floor`, `ceil`, `trunc`, `rint` and `fma`, of float and double; on
//!   those of 32 bits also what their C compilers call for 64-bit division and conversion.
//! - **LLVM-V14** What a function that is hardly ever called (`chipdock.cold`) checks, from its start on, is a table that one
//!   helper runs: it costs little to compile and says what the code would say. The helpers, and what is left of such
//!   functions, are not optimised. Statements that have lines, with debug information, and those for targets whose
//!   pointers have no 64 bits or whose bytes lie the other way round, are code as everything else.

mod cast;
mod checks;
mod constants;
mod control;
mod debug;
mod environment;
mod expression;
mod float;
mod function;
mod halves;
mod integer;
mod layout;
mod lazy;
mod memory;
mod module;
mod ops;
mod runtime;
mod statement;
mod target;
#[cfg(test)]
mod tests;
mod types;
mod value;
mod vector;
mod writer;

pub use module::{LlvmFunction, Options, Text, unsupported, write_module};
pub use target::{Answer, CallingConv, FastMath, LlvmTarget, Refusal};

#[allow(unused_imports, reason = "for the documentation")]
use chipdock_ir::IrModule;

/// A note on a loop, a block or a statement, or about a buffer: rule LLVM-V12.
pub(crate) const NONTEMPORAL: &str = "chipdock.nontemporal";

/// Levels of nodes within each other that are written; the IR's own limit.
pub(crate) const DEPTH_MAX: usize = chipdock_ir::limits::DEPTH_MAX;
