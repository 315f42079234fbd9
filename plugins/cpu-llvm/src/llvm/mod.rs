//! Bindings of libLLVM, opened at run time: nothing here is linked.
//!
//! * [`chosen()`] finds the one of a host, by what it answered before where it can; [`library_of`]
//!   and [`Chosen::open`] open it once for each file, on first use, as a [`Llvm`].
//! * [`processor`]: what this machine's processor says of itself.
//! * [`machine`]: the host's processor, architectures, target machines.
//! * [`compile`]: compiles textual IR to objects, assembly and optimised IR.
//! * [`plan`]: what is known of an object before it is linked. [`jit`]: links it by LLVM's linker.
//!   [`naming`]: publishes names of functions to `perf` and `gdb`.
//! * [`portable`]: checks objects of any machine, for linkers.
//!
//! # Rules
//!
//! - **LIBLLVM-O1** No library is opened before it has work, and an opened one is never closed. A
//!   library of another major version is refused by its number: the types here are those of LLVM
//!   19.
//! - **LIBLLVM-O2** A missing library is an ordinary result, `Unavailable`, with each name that was
//!   tried, the dynamic linker's messages and the package to install. The next call looks for it
//!   again.
//! - **LIBLLVM-O3** Symbols of another LLVM in the process are never used: the library is opened
//!   `RTLD_LOCAL`, and functions are taken from its handle.
//! - **LIBLLVM-O4** Every function may be called from several threads at once. Contexts and target
//!   machines belong to one build at a time.
//! - **LIBLLVM-O5** Nothing is printed: LLVM's messages become diagnostics and errors.
//! - **LIBLLVM-O6** LLVM ends the process if it gives up (`report_fatal_error`). Work is therefore
//!   done on threads of this plugin: if LLVM gives up, that thread never returns to it, the caller
//!   gets an `InternalError` with LLVM's message, and the process lives. Resources of the thread
//!   are lost. Crashes of LLVM, and running out of memory, cannot be contained here.
//! - **LIBLLVM-O7** IR that LLVM rejects is a bug of this project: an `InternalError` that says so
//!   and names a file with the IR.
//! - **LIBLLVM-O8** A forked child has threads, a session and caches of its own, so that it
//!   compiles and loads as its parent does. If LLVM was at work in another thread during the fork,
//!   every call is `WrongState`. Code that the parent loaded stays where it is, and is not freed in
//!   the child.

mod chosen;
pub(crate) mod compile;
pub(crate) mod jit;
mod library;
pub(crate) mod machine;
pub(crate) mod naming;
mod object;
pub(crate) mod plan;
pub(crate) mod portable;
pub(crate) mod processor;
mod symbols;
mod worker;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use chosen::{Chosen, chosen, library_of};
pub(crate) use compile::{Wanted, compile};
pub(crate) use library::{LIBRARY, Llvm};
pub(crate) use machine::{HostCpu, MachineOptions};

/// The library of a host without settings: the one that the environment names, or one of the usual
/// names.
#[cfg(test)]
pub(crate) fn library() -> Result<&'static Llvm, chipdock_plugin_api::Error> {
    library_of(chipdock_plugin_api::HostRef::standalone())
}
