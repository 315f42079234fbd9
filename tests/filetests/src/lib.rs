//! The corpus of test files for scripts and passes, with the interpreter's results at each step.
//!
//! - `corpus/` contains TVMScript files that must be read; files printed by TVM are in
//!   `host/conformance/kernels/tvm`.
//! - `golden/` contains the printed form of each; `passes/` the output of each pass for its inputs.
//! - `bad/` contains files that must be refused, each with its errors (`.err`).
