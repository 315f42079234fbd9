//! Writer of textual LLVM IR for a lowered module; the trait [`LlvmTarget`] describes the targets.
//!
//! [`write_module`] turns a lowered [`IrModule`] into the text of one LLVM module. No LLVM is
//! needed for that: a plugin that has a library parses, verifies, optimises and emits the text.
//! This crate owns control flow, memory, the IR's semantics, errors and debug information; a target
//! describes the differences.
//!
//! # Rules
//!
//! - **LLVM-V1** The text is a pure function of the module, the target and the options: the same
//!   input gives the same bytes.
//! - **LLVM-V2** Operations that the IR defines and LLVM leaves undefined or poisoned are guarded:
//!   division, shifts, conversions of floats to integers, overflow. Guards are left out, and `nsw`,
//!   `nuw`, `inbounds` and similar flags used, only if ranges ([`chipdock_ir::analysis::Ranges`])
//!   or the IR's rules justify that.
//! - **LLVM-V3** Indices made of loop variables, parameters and constants are computed exactly in
//!   64 bits, as positions do not wrap in a program that stays within its buffers.
//! - **LLVM-V4** In registers a boolean is `i1`, float16 and bfloat16 are their bits (`i16`), also
//!   in vectors; in memory a boolean is a byte, 0 or 1. Operations on halves are computed in
//!   `float` and rounded once.
//! - **LLVM-V5** Operands that the IR evaluates lazily (`and`, `or`, `if_then_else`, loop
//!   conditions) stay lazy, unless they are cheap, without effect and cannot fail.
//! - **LLVM-V6** Loads and stores claim the alignment of an element and no more, unless the memory
//!   is the function's own. If the function declares that its buffers do not overlap, accesses
//!   through different ones are marked so.
//! - **LLVM-V7** Floating-point operations carry `contract` (rule of the IR: a product may be fused
//!   into its sum) and the flags of the target's fast-math options, nothing else. If sums may be
//!   reassociated, this excludes a sum with a number so large that it rounds to an integer, and the
//!   operations after it: the polynomials of the passes round that way.
//! - **LLVM-V8** Compiled code reaches its host only through `__chipdock_env`, and has fallbacks if
//!   that is null.
//! - **LLVM-V9** A node that the IR shares is written once per statement: text grows with the
//!   module, not with its paths.
//! - **LLVM-V10** Everything that is not supported is reported, not only the first: [`unsupported`]
//!   lists what [`write_module`] would fail with. No input makes this crate panic; depth is limited
//!   to that of [`chipdock_ir::limits`].
//! - **LLVM-V11** With debug information, each instruction has the line of the statement that it
//!   comes from.
//! - **LLVM-V12** `chipdock.nontemporal`, an annotation that is not 0 on a loop
//!   (`annotations={...}`), a block (`T.sblock_attr({...})`) or a statement (`with T.attr(...)`,
//!   about a buffer, a data variable or nothing), requests that stores within it bypass the caches.
//!   It applies to contiguous stores, without a predicate, of whole vectors of 16 bytes or more, if
//!   they turn out to be aligned to their size (to 64 bytes at most); other stores are unaffected.
//!   Such stores are visible to other threads when the function returns, and when it calls a
//!   function or launches tasks: a fence stands before ([`LlvmTarget::store_fence`]).
//! - **LLVM-V13** No instruction is written that LLVM lowers to a call of a library of its own: no
//!   conversions of halves on a processor without them, no `frem`, nothing of 128 bits. On
//!   processors that lack the instruction, the functions of C99 `floor`, `ceil`, `trunc`, `rint`
//!   and `fma`, of float and double, may become calls of the C library; on those of 32 bits also
//!   the functions that their C compilers call for 64-bit division and conversion.
//! - **LLVM-V14** The initial checks of a function that is hardly ever called (`chipdock.cold`) are
//!   a table that one helper runs: it is cheap to compile and gives the same messages as the code
//!   would. The helpers, and the rest of such functions, are not optimised. Statements that have
//!   lines, with debug information, and those for targets whose pointers are not 64 bits wide or
//!   that are big-endian, are code as usual.
//! - **LLVM-V15** A loop with the annotation `chipdock.tiles` that is a product of tiles
//!   ([`chipdock_ir::analysis::TileProduct`]) is computed by the target's tiles
//!   ([`LlvmTarget::tiles`]) if its sums are in memory of the function's own that nothing else
//!   points to; any other loop is written as it is. Code with tiles calls `syscall` of the C
//!   library once in a process, for permission to use them; where that is refused, the loop runs as
//!   it is written. Around tiles no function is called. Products of integers are exact; of
//!   bfloat16, a sum's products are added in any order, and subnormal numbers may be 0.

mod cast;
mod checks;
mod constants;
mod control;
mod debug;
mod dot;
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
mod tiles;
mod types;
mod value;
mod vector;
mod writer;

pub use dot::DotInstructions;
pub use module::{LlvmFunction, Options, Text, unsupported, write_module};
pub use target::{Answer, CallingConv, FastMath, LlvmTarget, Refusal};
pub use tiles::TileInstructions;

#[allow(unused_imports, reason = "for the documentation")]
use chipdock_ir::IrModule;

/// Maximum nesting of nodes that are written; the IR's own limit.
pub(crate) const DEPTH_MAX: usize = chipdock_ir::limits::DEPTH_MAX;
