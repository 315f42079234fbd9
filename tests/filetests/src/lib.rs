//! The corpus: script, passes, and the interpreter's result after each step.
//!
//! - `corpus/` holds TVMScript files that must be read; those that TVM printed are in `host/conformance/kernels/tvm`.
//! - `golden/` holds the printed text of each; `passes/` the result of each pass for its inputs.
//! - `bad/` holds files that must be refused, each with its errors (`.err`).
