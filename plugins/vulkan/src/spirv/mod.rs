//! SPIR-V of lowered modules: words of one module with an entry point for each kernel.
//!
//! The third family of code generators, beside text (`chipdock-codegen-source`) and LLVM. A
//! module at stage `device` is written in one walk over the IR.
//!
//! # Rules
//!
//! * **SPV-1** The words are a pure function of the module, the environment and the file: the same
//!   input gives the same words.
//! * **SPV-2** A value is a list of scalars, one for each lane; vectors have any number of lanes.
//!   Integers of fewer than 32 bits are held in 32, extended by their sign; integer types have no
//!   sign, instructions say how they read them.
//! * **SPV-3** Memory has one form for all its views: elements of their type, integers of their
//!   width, or words of 32 bits. A part of a word that other threads may see is written by two
//!   atomic operations, which keep the word's other parts.
//! * **SPV-4** What the IR defines and SPIR-V leaves undefined is guarded: division, shifts,
//!   conversions of floats to integers. Remainders of negative integers are differences.
//! * **SPV-5** Floating-point operations are marked `NoContraction`: drivers neither fuse nor
//!   reorder them. Float controls are demanded for the widths for which the target has them. NaNs
//!   are found by their bits.
//! * **SPV-6** Control flow is structured: each branch has a merge block, each loop a merge block
//!   and a continue block. Statements that nothing reaches are not written.
//! * **SPV-7** Operands that the IR evaluates lazily stay lazy, unless they are cheap, without
//!   effect and cannot fail.
//! * **SPV-8** A node that the IR shares is written once per statement.
//! * **SPV-9** A barrier orders shared memory, and global memory if the function writes any. Under
//!   the Vulkan memory model it makes writes available and visible, and accesses to memory that is
//!   shared and written are not private.
//! * **SPV-10** Only the capabilities and extensions that the words use are declared.
//! * **SPV-11** Everything that is not supported is reported, not only the first. No input makes
//!   this code panic; depth is limited to that of [`chipdock_ir::limits`].
//! * **SPV-12** Operations on int64 whose operands and result are known to be int32 are written in
//!   32 bits, loops too, and those on uint64 where the order of its numbers is kept. Other signed
//!   orders of int64 are unsigned orders of the same numbers with their signs flipped.
//! * **SPV-13** Debug information changes nothing that is computed: the option `debug_info` adds
//!   instructions of a set that drivers may drop, with the source, functions, lines and variables;
//!   the build option `debug` alone adds `OpLine`.
//! * **SPV-14** No index is negative: of a buffer that may have 2^31 places of 8 bits or more, it
//!   has 64 bits at the access. Without int64, the passes refuse such a buffer (INT64-W4).

mod cast;
mod control;
mod debug;
mod emitter;
mod environment;
mod expression;
mod float;
mod fused;
mod index;
mod integer;
mod lazy;
mod memory;
mod module;
mod ops;
mod remainder;
mod text;
mod value;
mod writer;

use std::collections::HashMap;
use std::sync::Arc;

use chipdock_ir::{Diagnostic, IrModule};

pub(crate) use environment::Environment;

use crate::artifact::{Interface, Needs};

/// A module that was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spirv {
    /// The words.
    pub(crate) words: Vec<u32>,
    /// The same as assembly text.
    pub(crate) text: String,
    /// The name of the entry point and the interface of each kernel, by its name in the module.
    pub(crate) kernels: HashMap<Arc<str>, (String, Interface)>,
    /// What a device must support.
    pub(crate) needs: Needs,
}

/// Writes a module for an environment. With a file, instructions have lines of it: by debug
/// information where the environment has that, otherwise by `OpLine`.
///
/// # Errors
///
/// Everything that is not supported, each once.
pub(crate) fn write_module(
    module: &IrModule,
    environment: &Environment,
    file: Option<&str>,
) -> Result<Spirv, Vec<Diagnostic>> {
    let (written, diagnostics) = module::write(module, environment, file);
    if diagnostics.is_empty() { Ok(written) } else { Err(diagnostics) }
}

/// Lists every node of the module that is not supported, each once: the errors of [`write_module`].
pub(crate) fn unsupported(module: &IrModule, environment: &Environment) -> Vec<Diagnostic> {
    module::write(module, environment, None).1
}
