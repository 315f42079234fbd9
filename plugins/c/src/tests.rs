//! Tests without a host: texts against goldens and gcc, compiled code against the interpreter, the
//! loader's errors.

mod cache;
mod conditions;
mod differential;
mod dots;
mod extremes;
mod golden;
mod halves;
mod lifetime;
mod object;
mod packed;
mod parallel;
mod race;
mod robust;
mod streams;
mod support;
mod target;
