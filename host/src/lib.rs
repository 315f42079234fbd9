//! The host: it finds plugins, opens the ones that are needed, compiles kernels with them and runs
//! what comes out.
//!
//! The main job, from a kernel's text to its numbers:
//!
//! ```no_run
//! use chipdock_host::{CompileOptions, Host, HostOptions, Tensor};
//!
//! let text = std::fs::read_to_string("examples/kernels/vector_add.py")?;
//! let module = chipdock_script::parse(&text, "vector_add.py")?;
//!
//! let host = Host::new(HostOptions::default())?; // searches for plugins, opens none
//! let target = host.default_host()?; // or host.target(r#"{"kind": "...", "opt-level": 3}"#)?
//! let compiled = host.compile(&module, &target, &CompileOptions::default())?;
//! let add = host.load(&compiled.artifact)?.function("vector_add")?;
//!
//! let device = host.device("cpu", 0)?;
//! let a = Tensor::from_slice(&device, &[3], &[1.0_f32, 2.0, 3.0])?;
//! let b = Tensor::from_slice(&device, &[3], &[10.0_f32, 20.0, 30.0])?;
//! let sum = Tensor::zeros(&device, &[3], a.dtype())?;
//! add.call(&[(&a).into(), (&b).into(), (&sum).into()])?;
//! assert_eq!(sum.to_vec::<f32>()?, [11.0, 22.0, 33.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules and rules
//!
//! | Module | Rules or content |
//! |---|---|
//! | **`open`** | from folders of manifests to registered names |
//! | [`discovery`] | FIND-D1 to FIND-D6: order, everything kept, trust, names, lock, needed keys |
//! | [`manifest`] | the description of a plugin that is read without opening it |
//! | [`generation`] | a manifest, from a plugin's registrations |
//! | [`PluginLock`] | LOCK-K1 to LOCK-K4: pinned plugins, by name, version and digests |
//! | `image` | IMAGE-E1 to IMAGE-E4: a shared library for this machine, and whole, before it is opened |
//! | `loader` | LOAD-L1 to LOAD-L7: the checks of a library, all or nothing |
//! | `registry` | REG-R1 to REG-R6: lazy, one answer, permanent, nothing hidden, disputes stay, needed keys first |
//! | `handed_out` | interfaces of plugins for other plugins that need them (H.11 of the contract) |
//! | `program` | PROGRAM-F1 to PROGRAM-F5: functions that the program itself registers |
//! | [`settings`] | SET-O1 to SET-O6: a user's settings of plugins, and the order of their sources |
//! | `origin`, `digest_memory` | which bytes a plugin is; DIGEST-M1 to DIGEST-M4: remembered for a file that has not changed. A wrong digest is refused by `loader::check_digests` (the manifest's, LOAD-L1; the lock's, LOCK-K3) and, for a listing, by `discovery::check_against_lock` |
//! | **`boundary`** | what crosses to plugins and back |
//! | `plugin_table`, `host_table` | the table that one plugin of one host is given, and what its functions do |
//! | `services`, `slots`, `host_calls` | what a host gives to code that calls it: errors and streams of each thread, log, loans, threads, settings; what that code asks of the host itself |
//! | `plugin_call` | a call of a plugin, with its note, its span and the floating-point mode that it must leave |
//! | `attest`, `instance`, `registrar` | the layout of a plugin's tables; its instance, from `init` to `release`; what it registers |
//! | `interfaces`, `extension` | named interfaces, and those that plugins add |
//! | `lent`, `session` | objects that are lent for a call; a build's |
//! | `guard` | GUARD-G1 to GUARD-G6: changes that a plugin makes to the process, undone and named |
//! | [`calling`] | CALLING-N1 to CALLING-N6: the called plugin, for a program that must report why the process ended |
//! | [`values`] | VALUE-F1 to VALUE-F3: functions as values, between hosts and TVM-FFI |
//! | **`compile`** | COMPILE-C1 to COMPILE-C10: validate once, build once, the lower version, nothing half-done, positions, a function's own target, imports, a way out, outputs asked for, steps told |
//! | `compile::resolve` | TARGET-T1 to TARGET-T16: a [`Target`](chipdock_ir::Target) constructed, checked and made complete |
//! | `plan`, `build`, `delivered` | what is lowered and remembered; one module through one code generator or out of the cache; what a plugin delivers |
//! | [`CompileCache`] | CACHE-V1 to CACHE-V8: the same bytes as a build, or a build; nobody's error. `lookup` decides whether a kept build is taken |
//! | [`artifact`], [`describe`] | CONTAINER-1 to CONTAINER-6: its file, whole and unchanged, or refused; each module once; as JSON |
//! | `signature` | what a caller passes to a compiled function, kept in its artifact |
//! | **`runtime`** | devices, streams, tensors, workspace, modules, functions. Compiled code checks its own arguments: pass `make_packed_api` (`check`) |
//! | `runtime::memory` | MEMORY-K1 to MEMORY-K9: kinds of memory, their cache, mappings |
//! | `runtime::importing` | COMPOSE-I1 to COMPOSE-I4: modules that a program composes |
//! | `runtime`: `pool`, `workspace`, `ordered` | freed memory that waits to be used again; short-lived memory of kernels; memory in the order of a stream, where a device has it |
//! | `runtime::interrupt` | CALL-E1 to CALL-E5: calls that end before their code is done |
//! | `runtime::parallel` | POOL-F1 to POOL-F11: the threads that run parallel loops of compiled code |
//! | [`extents`] | extents of buffers, from the values of symbols |
//! | `sort` | functions of the run time that TVM's kernels call for sorted tensors |
//! | **[`library`]** | LIB-1 to LIB-13: artifacts and shared libraries as files, read without running them, and opened; streams of TVM-FFI |
//! | **`export`** | EXPORT-X1 to EXPORT-X7, EXPORT-R1 to EXPORT-R8: libraries that other programs load, and their run time |
//! | **ground** | |
//! | [`files`] | FILES-I1 to FILES-I3: regular files only, the checked file is the one that is read, within a bound |
//! | [`shown`] | SHOWN-X1 to SHOWN-X3: text from outside, made safe to show |
//! | [`trace`] | SP1 to SP5: spans and events, for a program that listens |
//! | `log`, `environment`, `private_group` | lines for a person; the part of the process that a host uses; whose files are a user's alone |
//! | `bounds` | every bound, with its reason |
//! | [`documents`], `names` | fields that nobody reads; forms of names |
//!
//! # Rules of the whole host
//!
//! * **HOST-W1** A plugin is opened when one of its names is first asked for, or needed by another
//!   that is to be opened, once for each host, and never closed in this process. Listing plugins,
//!   keys, target kinds and device names opens no plugin that has a manifest.
//! * **HOST-W2** Nothing falls back silently: every plugin that was not used is listed with its
//!   reason in [`Host::plugins`], and everything that was passed over goes to the log.
//! * **HOST-W3** Every failure is an [`Error`]: a kind, whose [`Fault`] it is, what was expected
//!   and found, the place, and what to do. No input makes the host panic.
//! * **HOST-W4** Everything here may be used from several threads, except for the current stream,
//!   of which each thread has its own. A process that was forked from the one that made a host is
//!   refused.
//! * **HOST-W5** Devices, tensors, modules and functions keep their host. When the last is gone,
//!   its plugins are shut down, the last opened first, what they registered is released, and their
//!   instances last.
//! * **HOST-W6** A read or write of a tensor's elements by the host takes its turn: a thread that
//!   reads sees all of a write of another thread or none of it, also through clones and views of
//!   the tensor and through values made of it. So does a mapping ([`Tensor::map`]) for as long as
//!   it lives. Memory is known by its data pointer; what compiled code or foreign code reads and
//!   writes takes no turns, and the caller orders it.
//!
//! # What the host checks of an answer
//!
//! A plugin's mistake ends as [`ErrorKind::BrokenPlugin`] with a sentence that describes it, in
//! bounded time and memory, and the program goes on. Two things cannot be checked: where a pointer
//! leads that is neither null nor misaligned, and what a plugin does by itself.
//!
//! * **HOST-A1 Status.** A failure without an error is broken (P7.2), and its outputs are not read
//!   (P7.8). An error that was raised before a success is dropped: the plugin recovered from it.
//! * **HOST-A2 Values.** The values that a call returns are checked before they are used, as
//!   [`received`](chipdock_plugin_api::received) says: type index, object header, sizes, UTF-8,
//!   axes.
//! * **HOST-A3 Bounds.** Each number and text has a bound, which stands with its reason in
//!   `bounds`. A larger one is refused with both numbers, or cut where it is only shown.
//! * **HOST-A4 Devices.** A data space is not null, and aligned where its handle is an address
//!   (D.4); a stream is null or not one that lives (D.15); an attribute is of its key's type
//!   (D.11).
//! * **HOST-A5 Tables.** A table, a named interface's too, has no null slot and is copied when it
//!   is handed over, as is the descriptor: a later change by the plugin changes nothing here.
//! * **HOST-A6 Loans.** A build session and a registrar are valid for the call that they were given
//!   to. A plugin that uses one later gets an error, on any thread; no freed memory is touched.
//! * **HOST-A7 Guards.** No panic leaves a function that plugins or compiled code call: it is
//!   raised as an error.
//! * **HOST-A8 Builds.** A refused delivery is the build's failure, whatever status the build
//!   returns. The index of the result lists each compiled function, with its symbol and the types
//!   of its arguments (C.8).
//! * **HOST-A9 Tensors.** A tensor's description is lent to calls as a copy. A call that changes it
//!   is found out when elements are next read or written ([`Tensor::check_description`]); until
//!   then the host uses its own.
//! * **HOST-A10 Speakers.** The message of an error that a plugin raised begins with
//!   `plugin "NAME" says: `, of one that compiled code raised with `function "NAME" says: `, and
//!   [`Error::speaker`] has the plugin's name. Whose words they are, the table tells by which they
//!   came: a plugin that passes on another's error, or the host's, does not become its author. An
//!   error that is raised as an object for a caller of TVM-FFI ([`Function::call_raising`]) is that
//!   object.
//! * **HOST-A11 Entries.** An entry of interface `launch` 1 is on the device that its module was
//!   compiled for, where that is known here: another device's handles would be taken for its own.

mod boundary;
mod bounds;
mod compile;
pub mod documents;
mod environment;
mod error;
mod export;
pub mod files;
mod host;
pub mod library;
mod log;
mod names;
mod open;
mod options;
mod private_group;
mod process;
mod runtime;
pub mod shown;
pub mod trace;

pub use boundary::guard::ProcessChange;
pub use boundary::session::{BuildMessage, Severity};
pub use boundary::{calling, values};
pub use chipdock_plugin_api::{Any, AnyView};
pub use compile::cache::{COMPILE_CACHE, CompileCache, KeptBuild};
pub use compile::resolve::{DeviceChoice, ResolvedTarget, TargetId, TargetRequest, TargetSource};
pub use compile::{BuildStep, CompileOptions, Compiled, OnStep, Scheduling};
pub use compile::{artifact, describe};
pub use environment::{Environment, Variables};
pub use error::{Error, ErrorKind, Fault, Subject};
pub use export::{DeviceCode, ExportOptions, Exported};
pub use host::Host;
pub use log::{LogLevel, LogSink};
pub use names::{HOST_PLUGIN, name_in_key};
pub use open::lock::{LOCK_SCHEMA, LockedPlugin, PluginLock};
pub use open::problem::{Problem, ProblemKind};
pub use open::registry::{KeyReport, PluginReport, PluginState};
pub use open::{discovery, generation, manifest, settings};
pub use options::HostOptions;
pub use runtime::extents;
pub use runtime::{
    CallOptions, Capabilities, Device, Function, Graph, Kernel, LaunchArg, Mapped, Mark, MemoryCapability,
    MemoryKind, MemoryOptions, Module, NativeData, OnAsk, Order, Plain, ProgramFunction, Recording, Stream,
    StreamGuard, Tensor, Timeline, Verdict, dtype_of,
};
