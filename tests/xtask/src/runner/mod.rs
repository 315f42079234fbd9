//! Running the examples on every backend present, judged by the interpreter.

pub mod backends;
pub mod cached;
pub mod cases;
pub mod contest;
pub mod device;
pub mod digits;
pub mod fork;
pub mod limits;
pub mod npy;
pub mod options;
pub mod peers;
pub mod run;

/// A failed step, for a person.
pub type Result<T> = std::result::Result<T, String>;
