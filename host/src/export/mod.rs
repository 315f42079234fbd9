//! Compiled code that leaves the process: object files, for linkers.

mod object;
