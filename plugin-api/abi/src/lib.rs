//! The plugin boundary: only `#[repr(C)]` structs and constants.
//!
//! `include/chipdock.h` is printed from this crate by cbindgen; the tests prove it current. Both
//! sides of the boundary read these structs, so every change here is a change of the ABI:
//!
//! * **Tables never change within a major** and have no null slot. Growth is a new *named
//!   interface* ([`ChipdockInterface`]; [`ChipdockRegistrar::extend`], [`ChipdockHost::query`]),
//!   never a longer table.
//! * **Whoever allocates frees**, by a deleter that travels with the object. Strings and arguments
//!   are borrowed for the call.
//! * **Nothing unwinds** out of any function of a table.
//! * **Every function may be called from any thread at once**, except a plugin's `init` and
//!   `shutdown`.
//! * 64-bit little-endian only, asserted below.
//!
//! The front page of `chipdock-plugin-api` states in numbered clauses what the functions promise.
#![allow(clippy::pub_underscore_fields, reason = "C names")]

#[cfg(not(all(target_pointer_width = "64", target_endian = "little")))]
compile_error!("the Chipdock ABI is defined for 64-bit little-endian machines only");

#[cfg(feature = "layout-check")]
pub mod attestation;
mod codegen;
mod config;
mod device_api;
mod dlpack;
mod env;
mod extension;
mod external;
mod graph;
mod host;
mod interface;
mod interrupt;
mod launch;
mod layout;
mod map;
mod memory;
mod memory_async;
mod module;
mod needs;
mod object;
mod plugin;
mod progress;
mod status;
mod target_kind;
mod timeline;
mod timer;
mod value;
mod workspace;

pub use codegen::*;
pub use config::*;
pub use device_api::*;
pub use dlpack::*;
pub use env::*;
pub use extension::*;
pub use external::*;
pub use graph::*;
pub use host::*;
pub use interface::*;
pub use interrupt::*;
pub use launch::*;
pub use map::*;
pub use memory::*;
pub use memory_async::*;
pub use module::*;
pub use needs::*;
pub use object::*;
pub use plugin::*;
pub use progress::*;
pub use status::*;
pub use target_kind::*;
pub use timeline::*;
pub use timer::*;
pub use value::*;
pub use workspace::*;

/// The text of `chipdock.h`, for whoever compiles C against it where the file is not installed.
pub const HEADER: &str = include_str!("../include/chipdock.h");
