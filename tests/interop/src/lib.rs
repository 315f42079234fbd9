//! Exported libraries in the real TVM-FFI, under every release of it: what stock Python can load,
//! call and break.
//!
//! `driver.py` makes the calls, in a process for each release that has nothing of Chipdock but the
//! library. It prints what happened and judges nothing; this crate does.
//!
//! - **INTEROP-J1 Judge.** What a call computes is compared with the interpreter, within its
//!   bounds; a call that is refused names the class of its exception and words of its message, and
//!   leaves every tensor as it was.
//! - **INTEROP-J2 Nothing hides.** A case without an answer, a process that crashes or hangs, and
//!   an answer that nobody asked for are failures. A library, a kind of tensor and a release are
//!   tested with the same cases; a case that a kind of tensor cannot make says so where it is
//!   defined.
//! - **INTEROP-J3 The table** in `guide/docs/exported-libraries.md` is printed from what passed.
//!   `BLESS=1` writes it. Without torch its columns stay as they are. A second one is of Chipdock's
//!   own loader, by [`own`].
//! - **INTEROP-J4 Environments.** `cargo xtask test` installs the releases; without them, or
//!   without torch, the tests that need them are skipped with the reason.
//!
//! [`environment`] finds the releases, [`libraries`] builds what is loaded, [`driver`] runs plans,
//! [`case`] says what is expected of a call and [`cases`] lists the calls, [`table`] prints the
//! table. [`tvm`] has what tests of other people's libraries share, [`opened`] opens the real
//! libtvm_ffi in the process of a test.

pub mod case;
pub mod cases;
pub mod driver;
pub mod environment;
pub mod libraries;
pub mod opened;
pub mod own;
pub mod table;
pub mod tvm;

/// Result of a step; the error is a message.
pub type Result<T> = std::result::Result<T, String>;
