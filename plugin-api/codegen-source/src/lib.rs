//! What is true of every C-like text, and the open traits [`Dialect`] and [`Expressions`] for what is not.
//!
//! [`write_module`] turns a lowered [`IrModule`] into the text of one file. This crate owns indentation, names,
//! precedence, statements, the order of evaluation and everything that the IR's semantics fix; a dialect, which lives in
//! its plugin's folder, answers what differs, and spells ops by a table ([`OpTable`]). Languages of the C family share their
//! answers within expressions: [`c_family`] has them once, and takes spellings as data.
//!
//! # Rules
//!
//! - **SRC-S1** The text is a pure function of the module and the dialect: the same input gives the same bytes.
//! - **SRC-S2** Names of variables are unique in their function and are no reserved word; a parameter keeps its name where
//!   the language allows. Names of functions that others call are kept to the letter, or refused.
//! - **SRC-S3** Brackets are as few as the dialect's grammar and compilers' warnings allow ([`Precedence`]).
//! - **SRC-S4** Signed sums wrap without undefined behaviour: where ranges of loop variables do not show that a result fits,
//!   it goes through the unsigned type ([`Overflow`]). Division is unguarded only where ranges show that it may be.
//! - **SRC-S5** Indices made of loop variables, parameters and constants are computed exactly in [`Expressions::index_type`]: an
//!   index of a program that stays within its buffers does not wrap at 32 bits. Where that type is narrower than the IR's,
//!   indices and vectors of them are computed modulo its width, which is exact in a buffer that it can count.
//! - **SRC-S6** What the IR evaluates lazily (`and`, `or`, `if_then_else`, loop conditions) stays lazy, also where parts of
//!   it need statements. Where compilers get such loads wrong ([`Dialect::keeps_branches`]), those that ranges show to be in
//!   bounds are made before their condition, and a function with others says so ([`Dialect::branches_kept`]).
//! - **SRC-S7** A node that the IR shares is written once per statement: text grows with the module, not with its paths.
//! - **SRC-S8** Everything that is not supported is reported, not only the first: [`unsupported`] lists what [`write_module`]
//!   would fail with. No input makes this crate panic; depth is limited to that of [`chipdock_ir::limits`].
//!
//! Of kernels, functions of calling convention 2:
//!
//! - **SRC-S9** A kernel's signature has all that a launch must match ([`Launch`]): its axes, the threads of a block where
//!   they are constant, dynamic shared memory. An axis whose extent the launch does not tell is refused.
//! - **SRC-S10** A buffer is declared where the dialect wants it ([`AllocationPlace`]); what stands at module scope has a name
//!   that is unique in the file. There is one buffer of dynamic shared memory at most; it belongs to the [`Launch`], and
//!   others are views of it.
//! - **SRC-S11** The index of a thread is a constant of the function. What a dialect must know of a buffer beyond its type,
//!   it is told wherever the buffer stands ([`Uses`]): a parameter, an allocation, an access.
//! - **SRC-S12** A barrier always orders shared memory; whether it must order global memory too, it says.
//!
//! Order of the text of a function: [`Dialect::module_lines`], allocations at module scope, [`Dialect::signature`],
//! [`Dialect::preamble`], allocations at the function's top, the body.
//!
//! # Main design choices
//!
//! - *A trait over text, not a class to override*: TVM's CodeGenC subclasses override 26 hooks of one printer, so that a
//!   change of the printer breaks backends unseen. Here a dialect never prints a statement; it answers questions.
//! - *Two traits*: [`Dialect`] answers what is around expressions, [`Expressions`] what is within. The first differs in every
//!   language; the second is one implementation for all of the C family, and another for a language that has no implicit
//!   conversions, no pointers and no `?:`.
//! - *Statements before expressions*: what has no expression form (a `let` within an expression, lazy parts) becomes
//!   statements before the one at hand, so that no language extension is needed.
//! - *Four device languages side by side*: OpenCL C and CUDA C have pointers, MSL has attributes on its parameters, WGSL
//!   has no pointers at all and its buffers at module scope. So a buffer is a name and an element type, never a pointer
//!   that something is added to: an [`Access`] says base and index apart, and only what names a pointer as a value asks
//!   for [`Expressions::pointer_type`]. A code generator of a language without such pointers takes the module through
//!   [`without_moved_pointers`] and [`with_inlined_buffers`] first, one without long vectors through [`with_lanes_at_most`].

pub mod c_family;
mod code;
mod conditional;
mod dialect;
mod expression;
mod expressions;
mod function;
mod lanes;
mod lanewise;
mod memory;
mod module;
mod names;
mod op_table;
mod ops;
mod pointers;
mod prelude;
mod search;
mod statement;
mod text;
mod warps;
mod writer;

pub use c_family::contains_word;
pub use code::{Code, Infix, Precedence};
pub use dialect::{
    Access, Allocation, AllocationPlace, Answer, Argument, Assertion, Barrier, Dialect, DynamicShared,
    Launch, MessagePart, OpCall, Overflow, Parameter, Place, Refusal, Signature, Vector,
};
pub use expressions::Expressions;
pub use lanes::with_lanes_at_most;
pub use lanewise::{Lanewise, shuffled, word_of, word_of_comparison};
pub use memory::Uses;
pub use module::{Source, SourceFunction, unsupported, write_module};
pub use names::{Names, is_identifier};
pub use op_table::{OpRow, OpTable, Spelling};
pub use ops::scalar_op;
pub use pointers::{with_inlined_buffers, without_moved_pointers};
pub use prelude::Prelude;
pub use warps::shuffled_lane;

#[allow(unused_imports, reason = "for the documentation")]
use chipdock_ir::IrModule;

/// Levels of nodes within each other that are written; the IR's own limit.
pub(crate) const DEPTH_MAX: usize = chipdock_ir::limits::DEPTH_MAX;
