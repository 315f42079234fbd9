//! The command `chipdock`.
fn main() {}
