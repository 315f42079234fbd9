//! The corpus: script, passes, and what the interpreter makes of each step.
//!
//! - `corpus/` holds TVMScript files that must be read; those that TVM printed are in `host/conformance/kernels/tvm`.
//! - `golden/` holds what is printed of each; `passes/` what each pass makes of its inputs.
//! - `bad/` holds files that must be refused, each with its errors (`.err`).
