//! Random well-formed programs with inputs, for differential tests, and a reducer for those that
//! fail.
//!
//! [`arbitrary`] makes a [`Case`] from a seed, and [`spelled`] from a tape of bytes, for a fuzzer:
//! a module with a function `kernel` and functions that it calls, and arguments for it. For every
//! seed and tape they promise:
//!
//! - **PROG-G1** the module validates at [`chipdock_ir::Stage::Blocks`];
//! - **PROG-G2** it runs on the interpreter without an error: every access is in bounds, no two
//!   iterations of a parallel loop meet, nothing is read before it is written, every loop ends;
//! - **PROG-G3** its reductions stand in blocks as `C[..] = C[..] op x`, so that any order of them
//!   is within the bounds;
//! - **PROG-G4** a case prints as TVMScript with its inputs, which is also its `Debug` text; as a
//!   file it reads back exactly;
//! - **PROG-G5** values stay small, and what is only nearly known decides little, so that nearly
//!   all of the result can be compared;
//! - **PROG-G6** a seed makes the same program on every machine.
//!
//! [`Options`] select the features of programs; [`Options::with_threads`] adds kernels for targets
//! that have threads, whose shared memory has explicit barriers outside of blocks, and needs none
//! inside. [`NEVER`] lists the features that no program has, with reasons;
//! `cargo run -p chipdock-programs --example show -- SEED [threads]` prints one program.
//!
//! A test of a pass runs the module before and after; a test of a backend compares with
//! [`Case::check`]. [`ProgramCheck`] runs a check on many programs; when one fails, it reduces the
//! program with [`reduce_case`], writes it as a kernel file and says how to repeat it. [`reduce`]
//! does the same for a module and any property of it.
//!
//! ```
//! use chipdock_programs::{Options, arbitrary};
//!
//! let case = arbitrary(7, &Options::default());
//! let arrays = case.run(&case.module).unwrap();
//! case.check(&arrays).unwrap();
//! ```
//!
//! # Reducing
//!
//! - **PROG-R1** The result of the reducer has the requested property, provided that its input has
//!   it.
//! - **PROG-R2** Every module that it tries validates at [`chipdock_ir::Stage::Blocks`]; every case
//!   runs without an error, if the first one does.
//! - **PROG-R3** It ends: each step makes the program smaller, or simpler by a fixed order.
//! - **PROG-R4** It gives the same for the same input and property.

#![expect(clippy::panic, reason = "a check that finds a failure fails its test")]

mod case;
mod choices;
mod coverage;
mod file;
mod generate;
mod options;
mod program_check;
mod random;
mod reduce;

pub use case::{Case, Compared};
pub use coverage::{NEVER, features, possible};
pub use generate::{arbitrary, spelled, turns};
pub use options::{Options, computing};
pub use program_check::{Failure, ProgramCheck};
pub use random::Random;
pub use reduce::{reduce, reduce_case};
