//! The device kit: the common parts of device plugins, implemented once.
//!
//! Whatever its driver, a device API checks handles, keeps failures until they are reported,
//! survives a lost device and builds code once for each device. The kit has these parts, and a
//! plugin adds its driver:
//!
//! | Part | What a plugin keeps in it |
//! |---|---|
//! | [`Devices`] | the devices of one host: their number, the search for them, shutdown |
//! | [`Spaces`], [`Budget`] | data spaces by handle or by address, and the budget of their memory |
//! | [`Table`] | streams and marks by handle |
//! | [`Events`], [`TimelineTable`] | interface `timeline` 1 over the events of a driver |
//! | [`Recorder`], [`GraphTable`] (feature `ir`) | interface `graph` 1 over a driver that queues a list of copies and launches |
//! | [`Health`], [`register_failure_hooks!`](crate::register_failure_hooks) | whether a device is lost, and failures that the conformance suite asks for |
//! | [`FirstFailure`] | the failure of queued work, until it is reported |
//! | [`OnceBuilt`], [`PerDevice`] | values that their first user opens or builds |
//! | [`ArtifactKind`] (feature `ir`) | checks of an artifact that every loader makes before it reads the contents |
//! | [`KernelModule`] (feature `ir`) | a loaded module whose functions are kernels, interface `launch` 1 included |
//! | [`PackedModule`] | a loaded module whose functions are machine code of the host |
//! | [`PerProcess`], [`Claim`] | statics with a lock or a thread, and drivers, in a forked child |
//!
//! State belongs to a host: put these parts in a struct that implements
//! [`HostState`](crate::HostState) and get it by [`Context::state`](crate::Context::state), so that
//! no global names a host (P10.4). Files have a module of their own, [`files`](crate::files)
//! (feature `files`): the cache on disk is [`files::cache`](crate::files::cache).
//!
//! # Rules
//!
//! ## Handles
//!
//! - **KIT-1** *Kinds.* A handle of one [`HandleKind`] is never a handle of another kind, never
//!   null, and never an address that a process can have.
//! - **KIT-2** *No reuse.* A handle that the kit made is not made again by any table of the process
//!   before 2^44 others were. A freed handle and a handle of another device or host are therefore
//!   found in no table.
//! - **KIT-3** *Unknown handles.* To look up or free a handle that is not live in a table is
//!   `WrongState`; the message names the handle and the device. Nothing changes. A handle that is
//!   freed twice is such a handle.
//! - **KIT-4** *Lifetime.* A lookup returns a shared reference, so that work that is being queued
//!   keeps what it uses. Freeing takes the handle out at once; the value is dropped by its last
//!   user, and never under a lock of the kit.
//! - **KIT-5** *Gone handles.* After `abandon`, which follows the loss of a device (D.40), every
//!   handle that was live is gone: no lookup finds it, freeing it succeeds once and returns
//!   nothing, and until then the handle is not used for anything else.
//!
//! ## Data spaces
//!
//! - **KIT-6** *Two forms.* A data space is identified by an opaque handle, which refers to its
//!   first byte only, or by its address: then each address within it refers to the byte there.
//! - **KIT-7** *No overlap.* No two live data spaces of one [`Spaces`] that are known by their
//!   address have a byte in common, and none begins at an address that is gone. What cannot be
//!   added is given back to the caller.
//! - **KIT-8** *Ranges.* A range that begins `offset_bytes` after a handle and has `size_bytes`
//!   lies within the data space, or is `IndexError` with the three numbers. No sum wraps.
//! - **KIT-9** *Budget.* The reservations that live never add up to more than the total. Each is
//!   returned once, when it is dropped; one that is refused is `OutOfMemory` and changes nothing
//!   (P7.7).
//!
//! ## Failures
//!
//! - **KIT-10** *Lost devices.* From `lose` to `restore`, `check` is `DeviceLost` with the cause
//!   that was given first.
//! - **KIT-11** *Injected failures.* Each request of a hook (I.1, I.2) takes effect once, on the
//!   next copy or data space; `restore` cancels it. The hooks of a device are registered all three
//!   (I.1 to I.3).
//! - **KIT-12** *First failure.* Of several failures the first is kept, and reported once (P7.5).
//!
//! ## Devices and builds
//!
//! - **KIT-13** *Search.* Devices are searched for by the first call that needs them, once for each
//!   [`Devices`]. The result stays, also where it is an error (D.14).
//! - **KIT-14** *Ids.* An id that no device has is `ValueError` with the ids that there are (D.3).
//! - **KIT-15** *Shutdown.* It drains every device that was found, whatever the results of the
//!   others, and returns the first failure; from then on `check_running` is `Unavailable` (P10.5).
//! - **KIT-16** *Builds.* The first user of a slot builds; users of the same slot wait, and users
//!   of other slots do not. What was built stays. A failure is that user's alone, and the next one
//!   tries again. The slot's lock is held meanwhile, so a build asks the host for nothing (P10.11)
//!   and does not use its own slot.
//!
//! ## Artifacts and modules
//!
//! - **KIT-17** *Index.* An index that is not a JSON object, and a section that is missing or no
//!   text where text belongs, are `ValueError`. An artifact of another kind or format is a verdict
//!   with the reason, and `ValueError` when it is loaded (M.2).
//! - **KIT-18** *Kernels.* Arguments of a packed call are read before the host is asked for
//!   anything; an extent of 0 queues nothing. The call runs on the current device and stream (K.2
//!   to K.4). Entries of `launch` 1 are the kernels of the index; of two with one name the first
//!   counts.
//! - **KIT-19** *Lifetime of modules.* A function keeps what it needs, the environment included;
//!   its module may be dropped before it (M.4, M.5). A name that no function has is none (M.6).
//!
//! ## Processes
//!
//! - **KIT-21** *Forks.* A [`PerProcess`] has one value in each process. Getting it waits for
//!   nobody: a forked child gets one that no thread of the parent has locked, whatever they did
//!   during the fork.
//! - **KIT-22** *Drivers.* A [`Claim`] that a process took is `WrongState` in each that was forked
//!   from it, at once: a driver that is called there hangs, as its threads are not there.
//!
//! ## Timelines
//!
//! - **KIT-23** *Events.* `Arc` of a type with [`Events`] has interface `timeline` 1
//!   ([`Timelines`](crate::timeline::Timelines)); N.18 to N.30 hold where each of its events is
//!   reached when the work that was queued before it is done.
//! - **KIT-24** *Signals* take effect in the order of the calls, each when its event is reached. A
//!   stream waits for the last event of each other stream up to the value that it waits for; the
//!   host waits for the first that is not reached.
//! - **KIT-25** *Short lists.* Each call that signals, asks or waits drops the events at the front
//!   that are reached.
//!
//! ## Graphs
//!
//! - **KIT-26** *Recorders.* `Arc` of a type with [`Recorder`] has interface `graph` 1
//!   ([`Graphs`](crate::graph::Graphs)); handles, states and the list of what was recorded are the
//!   kit's, and each replay is the driver's.
//! - **KIT-27** *Places.* Where a parameter was recorded, as the handle of an argument or of an end
//!   of a copy, a replay has the argument at its place; all else is as it was recorded.
//! - **KIT-28** *States.* A graph is recorded, then finished, once; what is refused, by the kit or
//!   by the driver, changes nothing. A `finish` that failed leaves a graph that can only be freed.
//!   The driver is called without a lock of the kit.
//!
//! ## Locks
//!
//! - **KIT-20** A lock whose holder panicked is used nevertheless ([`lock`], [`read`], [`write()`],
//!   [`wait`]): use them where every change is complete before anything can panic. The kit calls
//!   code of the plugin under a lock in three places, which are documented: a build, the closure
//!   of [`Spaces::look`], and a timeline's `record` and `is_reached` ([`Events`]).

#[cfg(feature = "ir")]
mod artifact;
mod build;
mod devices;
#[cfg(feature = "ir")]
mod graphs;
mod handle;
mod health;
#[cfg(feature = "ir")]
mod kernels;
mod packed;
mod per_process;
mod spaces;
mod sync;
mod table;
mod timelines;

#[cfg(feature = "ir")]
pub use artifact::ArtifactKind;
pub use build::{OnceBuilt, PerDevice};
pub use devices::Devices;
#[cfg(feature = "ir")]
pub use graphs::{GraphTable, Recorded, Recorder, Replayed, Step, record_launch};
pub use handle::HandleKind;
pub use health::{FirstFailure, Health, failure_hook, first_failure};
#[cfg(feature = "ir")]
pub use kernels::{KernelModule, LaunchKernel};
pub use packed::{PackedFunction, PackedModule};
pub use per_process::{Claim, PerProcess, carried};
pub use spaces::{Budget, Located, NotAdded, Reserved, Spaces};
pub use sync::{lock, read, wait, write};
pub use table::Table;
pub use timelines::{Events, TimelineTable};
