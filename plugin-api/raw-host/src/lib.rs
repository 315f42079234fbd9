//! A host written by hand over the boundary's C tables: tests see what crosses the boundary, with
//! no `chipdock-host` in between. The conformance suite judges plugins with it; tests of the
//! boundary, of the packed calling convention and of single plugins use it in place of tables of
//! their own.
//!
//! ```no_run
//! use chipdock_raw_host::{Plugin, RawHost};
//!
//! let plugin = Plugin::open("libchipdock_plugin_npu.so".as_ref(), RawHost::leak())?;
//! for device in plugin.devices() {
//!     println!("{} has {:?} devices", device.name, device.count());
//! }
//! assert_eq!(plugin.host().broken(), Vec::<String>::new());
//! # Ok::<(), chipdock_raw_host::OpenError>(())
//! ```
//!
//! # Rules
//!
//! - **RAW-1 Bare tables.** A call passes on its arguments as they are, wrong ones too, and answers
//!   what the plugin answered: its value, its error, or `BrokenPlugin` for a failure without an
//!   error and for a table that is not there. A null slot is never called. What a call hands over
//!   is freed on drop.
//! - **RAW-2 For good.** Hosts, environments and opened libraries live as long as the process, so
//!   that a late use is found and crashes nothing.
//! - **RAW-3 Registrations.** The host keeps every registration in the order of `init`, with its
//!   `info_json`, also one that it refuses: because a test asked for that
//!   ([`RawHost::refuse_registration`]), or beyond the bounds of HOST-A3. It releases them on
//!   request alone, each once, the last one first.
//! - **RAW-4 Errors.** Each host has one slot for each thread. A failed call takes the error from
//!   its thread's slot. An error that no failed call reported is counted
//!   ([`RawHost::n_stray_errors`]): one that an earlier call left in the slot, one that a
//!   successful call raised, one that lies in the slot of any thread still.
//! - **RAW-5 Violations.** What breaks a clause while it happens is noted with the clause and goes
//!   on ([`RawHost::broken`]): null slots and tables, functions requested during `init`, settings
//!   that are not declared, errors that are no error objects. The host never panics across the
//!   boundary.
//! - **RAW-6 Texts.** Kinds and messages of errors, names and schemas that are not UTF-8 are read
//!   with replacement characters and counted ([`RawHost::n_not_utf8`]).
//! - **RAW-7 Environment.** [`Lent`] raises the errors of compiled code with its host, remembers
//!   the location of each thread's last one, and counts its releases and the uses after them. It
//!   answers what [`Service`] says and nothing else.
//! - **RAW-8 Workspace.** Host memory, aligned to 64 bytes. The pieces that a thread holds are
//!   counted, and a thread may be limited to a number of them. An ordered service refuses to free
//!   any but the thread's last piece.
//! - **RAW-9 Parallel loops.** One task on the caller's thread; or, with a service of some threads,
//!   at most so many tasks, each on a thread of its own with what is left of the caller's limit.
//!   The error of the first task that failed becomes the caller's. With an ordered service a task
//!   that leaves workspace behind has failed.
//! - **RAW-10 Imports and what is current.** A function is imported under the service's name of it,
//!   and requests are counted for each thread. Device and stream are current for a thread, for each
//!   type of device alike; device 0 and the default stream if none were made current.
//! - **RAW-11 Questions.** With a service of it there is interface `interrupt` 1: `go_on` answers
//!   yes for as many questions of a thread as [`Lent::go_on_for`] says, by default always, and then
//!   no, by `Cancelled`.

mod codegen;
mod config;
mod device;
mod env;
mod external;
mod graph;
mod host;
mod kind;
mod launch;
mod loader;
mod map;
mod object;
mod ordered;
mod plugin;
mod stream;
mod timeline;
mod timer;

#[cfg(test)]
mod tests;

pub use codegen::{Chain, Codegen, Delivered, Reported, Request, Section, Step};
pub use config::{Answers, SettingsOf};
pub use device::{Device, NO_HINT, Space, host_end};
pub use env::{Lent, Service};
pub use graph::{Graph, RECORD};
pub use host::{Offer, REFUSED, RawHost};
pub use kind::Kind;
pub use launch::{LaunchRequest, Launches};
pub use loader::{Environment, Loader, Module, RawArtifact, RawSection};
pub use object::Objects;
pub use ordered::Ordered;
pub use plugin::{Descriptor, HOOK, Interface, OpenError, Plugin, Role, Table};
pub use stream::Stream;
pub use timeline::{OrderChain, SIGNAL, Timeline, WAIT};
pub use timer::Mark;
