//! Shared writer of C-like source text; the open traits [`Dialect`] and [`Expressions`] describe
//! the languages.
//!
//! [`write_module`] turns a lowered [`IrModule`] into the text of one file. This crate owns
//! indentation, names, precedence, statements, the order of evaluation and everything that the IR's
//! semantics fix; a dialect, which lives in its plugin's folder, describes the differences, and
//! spells ops in a table ([`OpTable`]). Languages of the C family share one implementation of
//! expressions, [`c_family`], which takes spellings as data.
//!
//! # Rules
//!
//! - **SRC-S1** The text is a pure function of the module and the dialect: the same input gives the
//!   same bytes.
//! - **SRC-S2** Names of variables are unique in their function and are not reserved words; a
//!   parameter keeps its name where the language allows. Names of functions that are called from
//!   outside are kept to the letter, or refused.
//! - **SRC-S3** Brackets are as few as the dialect's grammar and compilers' warnings allow
//!   ([`Precedence`]).
//! - **SRC-S4** Signed sums wrap without undefined behaviour: where ranges of loop variables do not
//!   show that a result fits, it goes through the unsigned type ([`Overflow`]). Division is
//!   unguarded only where ranges show that it may be.
//! - **SRC-S5** Indices made of loop variables, parameters and constants are computed exactly in
//!   [`Expressions::index_type`]: an index of a program that stays within its buffers does not wrap
//!   at 32 bits. If that type is narrower than the IR's, indices and vectors of them are computed
//!   modulo its width, which is exact in a buffer whose length fits that type.
//! - **SRC-S6** Operands that the IR evaluates lazily (`and`, `or`, `if_then_else`, loop
//!   conditions) stay lazy, also where parts of them need statements. Where compilers miscompile
//!   loads under conditions ([`Dialect::keeps_branches`]), those that ranges show to be in bounds
//!   are made before their condition, and an innermost loop with others is marked
//!   ([`Dialect::branches_kept`]).
//! - **SRC-S7** A node that the IR shares is written once per statement: text grows with the
//!   module, not with its paths.
//! - **SRC-S8** Everything that is not supported is reported, not only the first: [`unsupported`]
//!   lists what [`write_module`] would fail with. No input makes this crate panic; depth is limited
//!   to that of [`chipdock_ir::limits`].
//! - **SRC-S13** A contiguous store of vectors, without a predicate, under a request that it need
//!   not stay in caches (`chipdock.nontemporal`, see [`chipdock_ir::attr::NONTEMPORAL`]) is marked
//!   for the dialect ([`Access::is_streamed`]). Before a function with such a request returns,
//!   calls a function or launches tasks stands [`Dialect::store_fence`]; a failed assertion may
//!   leave it before.
//!
//! For kernels, that is, functions of calling convention 2:
//!
//! - **SRC-S9** A kernel's signature has everything that a launch must match ([`Launch`]): its
//!   axes, the threads of a block where they are constant, dynamic shared memory. An axis whose
//!   extent is not a launch parameter is refused.
//! - **SRC-S10** A buffer is declared where the dialect places it ([`AllocationPlace`]); a
//!   declaration at module scope has a name that is unique in the file. There is one buffer of
//!   dynamic shared memory at most; it belongs to the [`Launch`], and others are views of it.
//! - **SRC-S11** The index of a thread is a constant of the function. Facts about a buffer beyond
//!   its type are passed to the dialect wherever the buffer occurs ([`Uses`]): a parameter, an
//!   allocation, an access.
//! - **SRC-S12** A barrier always orders shared memory; [`Barrier::orders_global`] says whether it
//!   must order global memory too.
//!
//! Order of the text of a function: [`Dialect::module_lines`], allocations at module scope,
//! [`Dialect::signature`], [`Dialect::preamble`], allocations at the function's top, the body.
//!
//! # Main design choices
//!
//! - *A trait over text, not a class to override*: TVM's CodeGenC subclasses override 26 hooks of
//!   one printer, so that a change of the printer breaks backends unnoticed. Here a dialect never
//!   prints a statement; it answers questions.
//! - *Two traits*: [`Dialect`] covers the text around expressions, [`Expressions`] the text within.
//!   The first differs in every language; the second has one implementation for all of the C
//!   family, and another for a language without implicit conversions, pointers and `?:`.
//! - *Statements before expressions*: a construct without an expression form (a `let` within an
//!   expression, lazy parts) becomes statements before the current one, so that no language
//!   extension is needed.
//! - *Four device languages side by side*: OpenCL C and CUDA C have pointers, MSL has attributes on
//!   its parameters, WGSL has no pointers at all and its buffers at module scope. So a buffer is a
//!   name and an element type, never the result of pointer arithmetic: an [`Access`] has base and
//!   index apart, and [`Expressions::pointer_type`] is called only for pointers that are values. A
//!   target kind whose language lacks such pointers, or long vectors, says so, and the host lowers
//!   them (STAGE-D14 to STAGE-D16 of [`chipdock_ir::stage`]); what is left of them, a dialect
//!   refuses.

pub mod c_family;
mod code;
mod conditional;
mod constants;
mod dialect;
mod expression;
mod expressions;
mod function;
mod lanewise;
mod memory;
mod module;
mod names;
mod op_table;
mod ops;
mod prelude;
mod statement;
mod streams;
mod text;
mod views;
mod warps;
mod writer;

pub use c_family::contains_word;
pub use code::{Code, Infix, Precedence};
pub use constants::decimal;
pub use dialect::{
    Access, Allocation, AllocationPlace, Answer, Argument, Assertion, Barrier, ConstantArray, Dialect,
    DynamicShared, Launch, MessagePart, OpCall, Overflow, Parameter, Place, Refusal, Signature, Vector,
};
pub use expressions::Expressions;
pub use lanewise::{Lanewise, shuffled, word_of, word_of_comparison};
pub use memory::Uses;
pub use module::{Source, SourceFunction, unsupported, write_module};
pub use names::{Names, is_identifier};
pub use op_table::{OpRow, OpTable, Spelling};
pub use ops::scalar_op;
pub use prelude::Prelude;
pub use warps::shuffled_lane;

#[allow(unused_imports, reason = "for the documentation")]
use chipdock_ir::IrModule;

/// Maximum nesting of nodes that are written; the IR's own limit.
pub(crate) const DEPTH_MAX: usize = chipdock_ir::limits::DEPTH_MAX;
