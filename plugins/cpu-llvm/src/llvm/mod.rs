//! libLLVM, opened at run time: nothing here is linked.
//!
//! * [`library_of`] opens it once for each file, on first use; [`Llvm`] is what was found.
//! * [`machine`]: the host's processor, architectures, target machines.
//! * [`compile`]: textual IR to objects, assembly and optimised IR.
//! * [`jit`]: objects to functions of this process. [`naming`]: what they are called, for `perf` and `gdb`.
//!
//! # Rules
//!
//! - **LIBLLVM-O1** Nothing is opened before it is needed, and what was opened is never closed. A library of another major is
//!   refused by its number: the types here are those of LLVM 19.
//! - **LIBLLVM-O2** A library that is missing is an ordinary answer, `Unavailable`, with each name that was tried, the loader's
//!   words and the package that brings it. It is looked for again by the next call.
//! - **LIBLLVM-O3** Symbols of another LLVM in the process are never met: the library is opened `RTLD_LOCAL`, and functions are
//!   taken from its handle.
//! - **LIBLLVM-O4** Every function may be called from several threads at once. Contexts and target machines belong to one build
//!   at a time.
//! - **LIBLLVM-O5** Nothing is printed: what LLVM has to say becomes diagnostics and errors.
//! - **LIBLLVM-O6** LLVM ends the process where it gives up (`report_fatal_error`). Work is therefore done on threads of our own:
//!   where LLVM gives up, that thread never returns to it, the caller gets an `InternalError` with LLVM's words, and the
//!   process lives. What the thread held is lost. LLVM's own crashes, and no memory left, cannot be contained here.
//! - **LIBLLVM-O7** IR that LLVM refuses is our bug: an `InternalError` that says so and names a file with the IR.

pub(crate) mod compile;
pub(crate) mod jit;
mod library;
pub(crate) mod machine;
pub(crate) mod naming;
mod object;
mod symbols;
mod worker;

#[cfg(test)]
mod tests;

pub(crate) use compile::{Wanted, compile};
pub(crate) use library::{LIBRARY, Llvm, library_of};
pub(crate) use machine::{HostCpu, MachineOptions};

/// That of a host without settings: what the environment names, or the usual names.
#[cfg(test)]
pub(crate) fn library() -> Result<&'static Llvm, chipdock_plugin_api::Error> {
    library_of(chipdock_plugin_api::HostRef::standalone())
}
