//! What a Chipdock plugin writes against: safe traits, registration, values. This page is the contract.
//!
//! A plugin is a shared library that offers device APIs, target kinds, code generators, module loaders and functions
//! to any host that finds it. In Rust it is a cdylib with one [`export_plugin!`], some `register_*!` and the traits
//! [`DeviceApi`], [`TargetKind`], [`Codegen`] and [`ModuleLoader`]; this crate's shims keep the rules marked *shim*. In
//! C and C++ it includes `chipdock.h` and keeps all of them itself. `examples/plugin-template-rust` and
//! `examples/plugin-template-c` are the same small plugin, twice.
//!
//! ```
//! use chipdock_plugin_api::{Any, AnyView, Context, Error, argument, cpu, export_plugin};
//! use chipdock_plugin_api::{register_device_api, register_function};
//!
//! export_plugin! { name: "example" }
//!
//! register_device_api!(cpu::NAME, 1, |context| Box::new(cpu::CpuDeviceApi::new(context.host())));
//! register_function!("example.double", double);
//!
//! fn double(_context: &Context, args: &[AnyView<'_>]) -> Result<Any, Error> {
//!     let number: i32 = argument(args, 0, "number")?;
//!     Ok(Any::from(i64::from(number) * 2))
//! }
//! # fn main() {}
//! ```
//!
//! A device's plugin does not start from nothing: [`kit`] has handles, lost devices, streams, builds for each device and checks of
//! artifacts, with rules of their own. A plugin's state for one host is a type of its own, see [`HostState`].
//!
//! # The contract
//!
//! Each clause is one duty. **By** says who has it: P the plugin, H the host, both. **Checked** says who finds out when
//! it is broken: *build* (it does not compile), *shim* (this crate, for plugins in Rust), *host* (when it loads or
//! calls), *suite* (the conformance suite), *tests* (this repository's own, of the host and of this crate), *review*
//! (nobody can but a reader). Tests and cases cite the numbers.
//!
//! ## P1 Entry
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P1.1 | The library exports `chipdock_plugin_v1`, a C function without parameters, for ABI major 1. | P | host, suite |
//! | P1.2 | It returns a descriptor that is not null, constant, and the same at every call, on every thread. | P | host, suite |
//! | P1.3 | `magic`, `abi_major`, `table_sizes` and `layout_hash` are those of the header it was built with. | P | host, suite |
//! | P1.4 | `name` has 1 to 64 lower-case letters, digits, `-` and `_`; `version` is semver; both are as in the manifest. `build_id` tells two builds of one version apart, or is empty (P1.15). | P | build, host, suite |
//! | P1.5 | It exports no other symbol but the entries of other majors and the layout check's (P4.2). | P | suite |
//! | P1.6 | It is a shared library, 64-bit and little-endian, for the machine and the system that it is used on: on ELF systems an ELF shared object. | P | host, suite |
//! | P1.7 | A symbol that it uses and does not define is weak, or one of a library that it names; none is the host's. | P | suite |
//! | P1.8 | On ELF systems it asks for no executable stack, no relocations in code, and no memory that is written and executed. | P | suite |
//! | P1.9 | On ELF systems a search path in it begins with `$ORIGIN`: none leads to the folders of the machine that built it. | P | suite |
//! | P1.10 | Nobody but its owner may write the library or its manifest. | P | host, suite |
//! | P1.11 | Opening it leaves the process as it was: threads, children, open files, signal handlers and mask, environment, folder, umask, locale, floating-point mode; and it prints nothing. | P | suite |
//! | P1.12 | Opening it opens no library that it does not name. | P | suite |
//! | P1.13 | On ELF systems it asks the loader for nothing that reaches beyond it: no flag global, interpose, first or no-open, no audit, no filter. | P | suite |
//! | P1.14 | On ELF systems variables of a thread need no room in the static block (initial-exec), of which a process that runs has little left. | P | suite |
//! | P1.15 | Where `build_id` is empty a host shows what the linker wrote: on ELF systems the note `NT_GNU_BUILD_ID`, in hexadecimal; else the first 16 digits of the library's SHA-256, where it has that. Nobody relies on either to tell two libraries apart: a host that keeps what was built goes by the whole SHA-256. | H | tests |
//!
//! ## P2 Two doors
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P2.1 | Only `#[repr(C)]` structs, C functions, integers, floats and pointers cross the boundary. | both | build |
//! | P2.2 | Hosts and plugins run on machines of 64 bits, little-endian. Code that is compiled for a target of 32 bits follows C's layout of the same structs there. | both | build |
//! | P2.3 | A reserved field (`padding`) is written as zero and not read. | both | review |
//!
//! ## P3 Growth
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P3.1 | A table never changes within a major and has no null slot. | both | host, suite |
//! | P3.2 | What is new is a named interface; a change of `x/1` is `x/2`; `x/1` lives as long as the major. | both | review |
//! | P3.3 | A host takes its own major with any minor, older or newer. | H | tests |
//! | P3.4 | Of an interface registered in several versions the host takes the highest that it knows. | H | tests |
//! | P3.5 | An interface and a feature bit that are not known are ignored, with success. | H | tests |
//! | P3.6 | A value of an enumeration that is not known is answered with `Unsupported` where something is asked for; a severity or a level that is reported counts as the nearest known one that is graver. | both | shim, suite |
//! | P3.7 | Every optional interface has a stated default or a typed refusal. | H | review |
//! | P3.8 | A plugin takes a host of any minor, older or newer, and does without what `query` does not have. | P | suite |
//! | P3.9 | A document (manifest, schema of a target kind, index of an artifact) is read without regard to fields that are not known; `schema` in it is raised only where an old reader would be wrong. | both | host, tests |
//! | P3.10 | A stage, a type of an option or a thread axis that is not known, and a newer `schema`, make that target kind unusable when it is asked for, with the reason (`Unsupported`); what else the plugin registers is used as ever. | H | tests |
//! | P3.11 | An interface is a table of function pointers alone, none null, of the size that its name and version stand for, with a `self_` as first argument; its functions are under P7, P8 and P10 as those of the tables here are. | both | shim, host, suite |
//! | P3.12 | `query` of a host, a build session or a module writes an interface that lives as long as what was asked, or one whose table is null where there is none, which is no error. The host's may be asked during `init`. | both | shim, suite |
//! | P3.13 | An interface that was registered is released by its deleter: once, after every call of its functions, whatever `extend` answered. | H | tests |
//! | P3.14 | `extend` names a key that this plugin registered before it, or the plugin itself; in a manifest it is `<key>/<interface>/<version>`. | P | host, suite |
//! | P3.15 | A chain of extensions, the `next` of a request, a copy, an artifact or a diagnostic, ends with null behind 64 entries at most; a longer one is `ValueError`. | both | shim, suite |
//! | P3.16 | An extension whose name is not known is ignored; if it must be understood, bit 0 of its `flags`, the answer is `Unsupported` with its name, and nothing is done. | both | shim, suite |
//! | P3.17 | Bits of a field `flags` that are not known are ignored. | both | suite |
//! | P3.18 | `info_json` of a registration is a JSON object, or empty for none; keys that are not known are ignored. A code generator's has `ir_min` and `ir_max`, semver of the IR's wire format. | both | host, suite |
//!
//! What these documents have is in `plugin-api/abi/schemas`, a JSON Schema each: manifests, target kinds, the indices of
//! artifacts, and what a descriptor says of itself. The IR's wire format has its own, in `plugin-api/ir/wire`.
//!
//! ## P4 Layout check
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P4.1 | Magic, table sizes and hash decide, for C and Rust alike. The hash is of types and their order; a change of names, of comments or of named interfaces leaves it. | both | host, suite |
//! | P4.2 | With the feature `layout-check` the plugin also exports the types of the tables as it was compiled. They refuse nobody: where the hash differs, the host says by them which field or signature is the first that does. | both | tests |
//!
//! ## P5 Registration
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P5.1 | The registrar copies names and texts, keeps tables (they are static), and takes over `self_` whatever it answers. | H | review |
//! | P5.2 | `init` registers at least one thing, sorted by key (`device_api.x`, `device_api.x/reset/1`), no key twice, the same for every host but for test hooks (I.4). | P | shim, host, suite |
//! | P5.3 | What is registered is what the manifest lists, test hooks (I.4) left out. | P | host, suite |
//! | P5.4 | When `init` fails nothing stays registered, and every `self_` is destroyed. | H | tests |
//! | P5.5 | `device_type` 0 asks for a number; the one in force comes back and is what tensors carry. | both | suite |
//! | P5.6 | A manifest, where there is one, can be read, and is for the ABI, the system and the processor of the library. | P | host, suite |
//! | P5.7 | Its keys are sorted, and the schemas of its target kinds are those that are registered. | P | host, suite |
//! | P5.8 | Its digest, where it has one, is the library's. | P | host, suite |
//! | P5.9 | A registered name has 1 to 128 letters, digits, `_`, `.` and `-`, the first a letter, a digit or `_`; that of an interface too. None begins with `chipdock.`, which are the host's. | P | host, suite |
//! | P5.10 | When the registrar refuses something, `init` registers nothing more and returns the failure with its error. | P | suite |
//! | P5.11 | `init` that failed may be followed by `init` for another host, which succeeds when nothing is refused. | P | suite |
//! | P5.12 | A device type that a plugin asks for is 0 or DLPack's; 1, host memory, is that of the name `cpu` alone. | P | host, suite |
//! | P5.13 | A manifest and a schema have no field that the minor which they were written for does not know. | P | suite |
//! | P5.14 | The number that a host gives a device is 4096 and the first three bytes of the SHA-256 of its name as a big-endian number, in every host the same; where another device has that number, the later registration is refused, with both names. | H | tests |
//! | P5.15 | `needs.keys` of a manifest names keys without which the plugin cannot work. Whoever provides them is opened before it, and so shut down after it (P10.15). Where one of them cannot be had (nobody provides it, several do and none is preferred, its plugin is refused, or waits for this one) the plugin is not opened, and what it provides is `Unavailable`, with that key, who needs it and why. | H | tests |
//! | P5.16 | What `needs.keys` names is a key (P5.9), once, and not one of `provides`. | P | host, suite |
//!
//! ## P6 Values
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P6.1 | Calls carry the values of V; their layouts are TVM-FFI's as of ABI 1.0, whatever becomes of TVM-FFI's. | both | build |
//! | P6.2 | No library exports a symbol that begins with `TVMFFI`. | P | suite |
//!
//! ## P7 Errors
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P7.1 | 0 is success. Anything else means that an error was raised with the host that called, on this thread, before the return. | P | shim, host, suite |
//! | P7.2 | A failure without an error is reported as `BrokenPlugin`; the status is not guessed into an error. | H | tests |
//! | P7.3 | The error's kind says whose fault it is ([`ErrorKind::class`]); its message says what was expected, what was found, what to do. | P | suite |
//! | P7.4 | Who calls takes the error on the same thread before calling anything else. | both | review |
//! | P7.5 | A failure after the return is kept with its stream and answered by the next call on it or its sync, first cause first. | P | suite |
//! | P7.6 | A lost device answers `DeviceLost`, until interface `reset` 1 opens it again (D.40) or, without that, as long as the process lives. `device_count`, the attribute `exist`, `free_data_space`, `free_stream` and `free_mark` may be answered all the same. | P | suite |
//! | P7.7 | After `OutOfMemory` the state is as it was before. | P | suite |
//! | P7.8 | A call that failed has written no result that anybody has to release. | P | shim, suite |
//! | P7.9 | A call that failed leaves the device usable: the next that is right succeeds. | P | suite |
//! | P7.10 | The status is that of the error's kind ([`ErrorKind::status`]); a packed function's is -1. | P | shim, suite |
//! | P7.11 | Of a kind of error that is not known the status says whose fault it is: 1 to 15 the caller's, 16 to 31 the environment's, 32 to 47 a bug, anything else the environment's. | both | tests |
//! | P7.12 | Between raising an error and returning its failure, nothing of the boundary is called. | both | review |
//!
//! ## P8 Nothing unwinds across
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P8.1 | No panic and no exception leaves a function of a table, a packed function or a deleter. | both | shim |
//! | P8.2 | A caught one is raised as kind `Panic`. | P | shim |
//! | P8.3 | A plugin in Rust is built with `panic = "unwind"`. | P | build |
//! | P8.4 | No call ends the process, and none that the caller got wrong panics. | P | suite |
//!
//! ## P9 Whoever allocates frees
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P9.1 | What is handed out carries its deleter or its table's `destroy`, which is called once, last, on any thread. | both | shim, suite |
//! | P9.2 | Arguments, texts and requests are borrowed for the call; who wants to keep them copies them. | both | review |
//! | P9.3 | Tables, and a descriptor's texts, live as long as the process. | P | review |
//! | P9.4 | What is given back is given back for good: the same done over and over makes neither memory nor threads nor descriptors of the process grow. Machine code that was loaded may stay until the process ends. | P | suite |
//!
//! ## P10 Threads and hosts
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P10.1 | Every function of a table may be called from any thread at once. | P | suite |
//! | P10.2 | `init` runs once for each host, with no other call of that host to this plugin during it. | H | review |
//! | P10.3 | `init` starts no thread, calls no vendor's driver, and asks the host for no function. | P | suite |
//! | P10.4 | Nothing of a host is kept in a global: the instance and each registered `self_` know their host. | P | suite |
//! | P10.5 | `shutdown` waits for the calls that are running, then drains; calls of tables and of registered functions after it answer `Unavailable`, functions of modules do so or run on. | P | shim, suite |
//! | P10.6 | In a forked child nothing of the boundary is called. | H | host |
//! | P10.7 | `init` and `shutdown` serve any number of hosts, one after the other or on several threads at once. | P | suite |
//! | P10.8 | `init` and `shutdown` leave the process as it was, as opening does (P1.11). | P | suite |
//! | P10.9 | A process ends when it is told to, with its own exit code, whatever it did with the plugin before. | P | suite |
//! | P10.10 | A call leaves the caller's thread as it was: signal mask, floating-point mode, locale, folder, umask. A vendor's library that it opens may take handlers of signals. | P | suite |
//! | P10.11 | No lock of a plugin's own is held across a call of the host. | P | review |
//! | P10.12 | A call may call the host; `init` no function of it (P10.3), a `destroy` and a deleter `log` and `query` alone. | P | review |
//! | P10.13 | `init` writes what the plugin is to that host (the instance, which may be null) on success alone. `shutdown` is called with it once, before anything is destroyed; after an `init` that failed neither it nor `release` is. | H | tests |
//! | P10.14 | `release` is called with the instance once, last: after every `destroy` and deleter of what was registered and of modules that were loaded, whatever `shutdown` answered. Functions of modules and streams may live on, and keep what they need. | H | tests |
//! | P10.15 | Plugins are shut down in the reverse order of their opening. | H | tests |
//!
//! ## P11 Never unloaded
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P11.1 | A library is never closed. Where there is `dlopen` it is opened with `RTLD_NOW \| RTLD_LOCAL`. | H | review |
//!
//! ## P12 Vendors' libraries
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P12.1 | A plugin links no vendor's library; it opens it by its SONAME on first use. | P | suite |
//! | P12.2 | When it is missing, calls answer `Unavailable` with the names that were tried and the package that brings it. | P | review |
//! | P12.3 | On systems with glibc a manifest's libc floor is the newest libc that the library names a symbol of, or newer. | P | host, suite |
//! | P12.4 | A binary that is handed out brings its C++ runtime inside. | P | suite |
//!
//! ## H What a host's table promises
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | H.1 | The table and its texts live as long as the process. | H | review |
//! | H.2 | Its functions may be called from any thread, with `self_` first; texts are borrowed. | H | tests |
//! | H.3 | `raise` and `raise_object` set this thread's error; `take_error` moves it out, None when there is none. | H | tests |
//! | H.4 | `function` writes None or an owned function object; a name that is not there is None, not an error. | H | tests |
//! | H.5 | `query` writes an interface whose table is null for what it does not have, and answers success. | H | tests |
//! | H.6 | None of them unwinds. | H | review |
//! | H.7 | Each `init` is given a table of its own: its pointer says which plugin of which host. Errors, streams, functions and interfaces are the host's, whichever of its tables is asked. | H | tests |
//! | H.8 | A line of the log carries the name of the plugin whose table it was written to. | H | tests |
//! | H.9 | Interface `memory` 1 allocates a compact tensor in global memory of any device that the host knows, its elements not set, or says why not, as `empty` of the host's own tensors does. It is not asked during `init`, as devices are. | H | tests |
//! | H.10 | `current_stream` writes the stream that is current on this thread for a device, null for the default stream; a device that the host does not know, and a host that is gone, are an error. | H | tests |
//!
//! ## S Settings
//!
//! What a user decides about a plugin, by key. A plugin declares its settings in the `info_json` of its descriptor, so that a
//! host knows them before `init`, and asks for them by interface `config` 1 of the host, in Rust by [`HostRef::setting`].
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | S.1 | The descriptor's `info_json` is a JSON object, or empty for none; keys that are not known are ignored. Its `settings` is an array of objects with `name`, `type`, `doc`, and, where there are any, `default` and `variables`. | P | host, suite |
//! | S.2 | A setting's name has 1 to 64 lower-case letters, digits and `-`, the first a letter, and is there once; its type is `bool`, `int`, `float`, `str` or `path`, its default one of that type; its `doc` is not empty; each of its `variables` is a name of the environment: letters, digits and `_`, no digit first. | P | build, host, suite |
//! | S.3 | A manifest lists the settings that the descriptor declares. | P | host, suite |
//! | S.4 | `get` of the host's `config` 1 answers a setting of the plugin whose table was asked: the first there is of what this host was made with, the variable `CHIPDOCK_<PLUGIN>_<NAME>` in capitals with `_` for `-` and `.`, the declared variables in their order, the user's file, and the default; None where there is none. It may be called during `init`. | H | tests |
//! | S.5 | A value is of its setting's type; of `str` and `path` it is a string, which may be empty. | H | tests |
//! | S.6 | A key that the plugin does not declare is `KeyError`, with the nearest name that it does. A plugin asks for what it declares alone. | both | tests, suite |
//! | S.7 | A value that is not of the type is `ValueError`, with where it stands and what was expected. It is the answer for that setting alone. | H | tests |
//! | S.8 | What `get` answered it answers as long as the host lives. | H | tests |
//! | S.9 | With raised privileges no variable and no file of the user is read. | H | tests |
//! | S.10 | A setting that cannot be had fails the call that needs it, with the host's error. `init` needs none: what is registered is the same whatever is set. | P | suite |
//! | S.11 | With a host that has no `config` 1 a setting is what its own variables say, else its default. | P | shim, suite |
//! | S.12 | A setting of a type that is not known is `Unsupported` when it is asked for; what else the plugin has is as ever. | H | tests |
//! | S.13 | Settings of two plugins may have one variable `CHIPDOCK_<PLUGIN>_<NAME>` (`b-c` of `a` and `c` of `a-b`). Where it is set, it counts for neither: who would be answered it is answered `ValueError`, which names both. | H | tests |
//!
//! ## V Values
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | V.1 | A value is 16 bytes: type index, small length or zero, payload. Unused bytes are zero. | both | shim, suite |
//! | V.2 | Types 7 to 9 are borrowed and occur in arguments only, never in a result or a container. | both | shim, suite |
//! | V.3 | Type 10 points to an object pointer that the callee may take, leaving null. | both | shim, suite |
//! | V.4 | A tensor argument is type 7 (`ChipdockTensor*`) or type 70 (an object); both are taken. | both | suite |
//! | V.5 | A string is UTF-8: up to 7 bytes as type 11 in place, more as type 65, NUL behind; bytes likewise 12 and 66. It never changes. | both | shim, suite |
//! | V.6 | Objects are laid out as their type index says: shape 69, tensor 70 (strides not null when there are axes), array 71 (elements owned). | both | build, suite |
//! | V.7 | An error object owns its texts, its cause and its context; `update_backtrace` is not null. | both | build, suite |
//! | V.8 | A function object's `safe_call` never changes. | both | review |
//! | V.9 | An object may be used and released on any thread. | both | suite |
//! | V.10 | A packed call borrows its arguments; `result` is None before it and owned by the caller after success. | both | shim, suite |
//! | V.11 | A packed function returns 0, or -1 with an error raised and `result` untouched. | both | shim, suite |
//! | V.12 | Counts: add relaxed; give back with release, and acquire before the deleter. The deleter gets 1 when the last strong reference goes, 2 when the last weak one goes, 3 for both at once. | both | suite |
//! | V.13 | Sixteen zero bytes lie before an object that this crate makes. | P | tests |
//! | V.14 | Of a managed tensor of another DLPack major only the deleter is used. | both | tests |
//! | V.15 | An integer that does not fit is an error with value and range; nothing wraps. | both | suite |
//! | V.16 | A call leaves the counts of its arguments' objects as they were, and higher by what it keeps. | both | suite |
//! | V.17 | Arguments that a function does not take are an error that is the caller's mistake, with what was expected. | P | suite |
//! | V.18 | A call keeps no memory but what its result holds. | P | suite |
//! | V.19 | A function object belongs to the host that it was made for: whoever hands it to another host wraps it. | both | review |
//! | V.20 | An object of a type that is not known is kept and given back, and never read. | both | review |
//!
//! ## D Device APIs
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | D.1 | `destroy` is called once, after every other call. | H | review |
//! | D.2 | Pointers of a call are valid, or null where it is said; null elsewhere is `ValueError`. | both | shim, suite |
//! | D.3 | An attribute that is not known is None; a device that is not there is `ValueError`, for `exist` the answer false. | P | suite |
//! | D.4 | A data space that has an address (host memory, D.31, D.32) is aligned as asked for. | P | suite |
//! | D.5 | A data space is freed once. The host has waited for the work that uses it. | H | review |
//! | D.6 | A copy's ranges are live and do not overlap; one end is on this API's device, the other there or in host memory. | H | review |
//! | D.7 | The null stream is the default stream and always allowed. Work on one stream is done in order. | both | suite |
//! | D.8 | Copies may be queued; `sync_stream` returns when they are done. | P | suite |
//! | D.9 | A kind or a scope that is not had is `Unsupported`, not something else instead. | P | suite |
//! | D.10 | Active device and stream are kept by the host, which tells no plugin: each call names its device and stream, and a launch asks for the stream (D.18). | H | suite |
//! | D.11 | An attribute that the table in [`attribute`] has is None or of the type and unit given there, and in a range that makes sense. | P | suite |
//! | D.12 | What an attribute answered it answers as long as the process lives, on whatever thread it is asked for; what is free now may change, and an error may become an answer. | P | suite |
//! | D.13 | Attributes agree with each other: a part is not more than the whole. | P | suite |
//! | D.14 | `device_count` is not negative and never shrinks; an id never changes its device. | P | suite |
//! | D.15 | `create_stream` answers handles that differ from null and from each other while they live; a device without streams of its own answers null each time. | P | suite |
//! | D.16 | What is queued on `to` after `sync_stream_from_to` waits for what was queued on `from` before it. Both may be the same or null, and a circle of such calls ends. | P | suite |
//! | D.17 | `free_stream` returns when what is queued on the stream is done; null is allowed. | P | suite |
//! | D.18 | A kernel is ordered on the stream that is current for its device on the thread that launches it. | P | suite |
//! | D.19 | A device that answers [`attribute::CHECKED_HANDLES`] with true answers a handle that is not live or is another device's, and an end of a copy that is neither its own nor host memory, with `WrongState`, `ValueError` or `Unsupported`, and a range past the end with `IndexError`; nothing changes. Elsewhere such calls are undefined. | P | suite |
//! | D.20 | A data space has as many bytes as asked for, and each keeps what was written to it last. | P | suite |
//! | D.21 | Data spaces that live have handles that differ, and no byte in common. | P | suite |
//! | D.22 | Size 0 answers a handle that may be freed, and be an end of copies of size 0; it may be null. | P | suite |
//! | D.23 | An alignment that is no power of two is `ValueError`. | P | shim, suite |
//! | D.24 | Alignments up to 64 bytes are had; a greater one may be `Unsupported`. | P | suite |
//! | D.25 | To free null is a success that does nothing. | P | shim, suite |
//! | D.26 | A size that cannot be had is `OutOfMemory`; what is left then says P7.7. | P | suite |
//! | D.27 | What was freed can be had again, in whatever order and however often, and `available_global_memory_bytes`, where answered, counts it. | P | suite |
//! | D.28 | The hint of a data space or a copy, known or not, changes nothing that is promised. | P | suite |
//! | D.29 | The scope `global`, also written as the empty text, is had with kind 0 on every device. | P | suite |
//! | D.30 | Each device has its own data spaces: what happens on one changes nothing on another. | P | suite |
//! | D.31 | A pinned data space is host memory: its handle is an address, and copies may name it as such. | P | suite |
//! | D.32 | A host-visible or unified data space has an address, at which the host reads and writes the same bytes as the device while no queued work uses them. Of a unified one it is the handle; of a host-visible one too, unless the device API has `map` 1, which answers it (N.16). | P | suite |
//! | D.33 | A copy moves each byte of the source's range to its place in the destination's range; both begin `offset_bytes` behind their handle. | P | suite |
//! | D.34 | A copy writes nothing outside of the destination's range. | P | suite |
//! | D.35 | A copy reads nothing outside of the source's range, and does not write there either. | P | suite |
//! | D.36 | Sizes, offsets and host addresses of a copy need no alignment. | P | suite |
//! | D.37 | A copy of size 0 touches no memory; its ends may be null. | P | shim, suite |
//! | D.38 | Every device copies from and to host memory, and from one of its data spaces to the same or another. | P | suite |
//! | D.39 | Two devices of one API copy to each other, or the copy is `Unsupported` and nothing was copied. | P | suite |
//! | D.40 | Interface `reset` 1: `reset` opens a lost device again, so that calls which are right succeed; failures that nobody took are forgotten. What was made on it before (data spaces, streams, marks, modules) may be freed, and is good for nothing else. Of a device that is not lost it changes nothing but those failures. | P | suite |
//! | D.41 | An extension that is ignored changes nothing that is promised of the data space or the copy; one that is refused leaves everything as it was. | P | suite |
//!
//! ## N Named interfaces of device APIs
//!
//! `reset` 1 is D.40. Whoever has `timer` 1, `external` 1 or `map` 1 has all of its clauses.
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | N.1 | `timer` 1: `mark` queues a mark behind what its stream has, waits for nothing, and answers a handle that differs from null and from those of other marks that live. Where a device cannot time a stream it is `Unsupported`. | P | suite |
//! | N.2 | `elapsed` waits until both marks are reached, and answers a finite number of nanoseconds, however often it is asked the same: 0 from a mark to itself, and the negative of what it answers the other way round. | P | suite |
//! | N.3 | From a mark to one that is reached later it is not negative, and not more than passes on the host from before the first `mark` to the return of `elapsed`, but for a hundredth and 100 µs. | P | suite |
//! | N.4 | What was queued on a stream between two of its marks runs between them, and its time on the device is in their distance. | P | suite |
//! | N.5 | Marks of all streams of a device are of one clock: from a mark to one on a stream that waits for it (D.16) it is not negative. | P | suite |
//! | N.6 | `free_mark` frees a mark, reached or not, and waits for nothing; to free null is a success that does nothing. A stream may be freed before its marks, which keep their times. | P | shim, suite |
//! | N.7 | Where handles are checked (D.19) a mark that is not live or is another device's is `WrongState` or `ValueError`. | P | suite |
//! | N.8 | `mark` answers a failure that its stream keeps (P7.5), `elapsed` none of a stream. A mark that is never reached makes `elapsed` fail; it does not wait for ever. | P | suite |
//! | N.9 | `external` 1: what a native handle is the plugin's documentation says. One that is null is `ValueError`; so is a native stream of another device or context, as far as the driver can tell. Anything that is no such handle is undefined. | P | shim, suite |
//! | N.10 | `adopt_stream` answers a stream as `create_stream` does (D.15), over the native one: work that is queued on either is in one order. `free_stream` waits for it (D.17) and leaves the native stream as it is; whoever adopted it keeps it alive until then. A native stream may be adopted several times. | P | suite |
//! | N.11 | `native_stream` answers a handle that is not null, the same each time, and good as long as the stream; it may be adopted. | P | suite |
//! | N.12 | `native_data` answers the native handle of a data space's memory and where in that it begins, in bytes: the same each time, good as long as the data space, and not what it answers of another that lives. A handle that is not live is refused as by a copy (D.19). | P | suite |
//! | N.13 | `adopt_host_memory` answers a data space of those bytes: what the host wrote before work was queued the work reads, and what work wrote the host reads once its stream was synchronised. Null and size 0 are `ValueError`; an address, a size or a device with which that is not had is `Unsupported`, and nothing changes. | P | shim, suite |
//! | N.14 | `free_data_space` of such memory leaves its bytes as work left them, and it may be adopted again; whoever adopted it keeps it alive until then. It does not count as memory of the device. | P | suite |
//! | N.15 | Functions of all three refuse a device that is not there (`ValueError`), and handles of streams as the device API does (D.3, D.19); on a device that is lost they are `DeviceLost` (P7.6). | P | suite |
//! | N.16 | `map` 1: `address` answers the address of a host-visible data space (D.32), the same each time, and good until it is freed; of a pinned or unified one it answers the handle. Kernels and copies get the handle. | P | suite |
//! | N.17 | Of a data space that the host does not reach `address` is `Unsupported`; null is `ValueError`, and a handle that is not live is refused as by a copy (D.19). | P | shim, suite |
//!
//! ## I Injection hooks
//!
//! How failures are provoked that no call can bring about. A plugin may register plain functions of these names for a
//! device API `x`: all three or none, and then interface `reset` 1 of `x` too. They are for tests, and nothing else
//! calls them.
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | I.1 | `conformance.x.fail_next_copy(device_id)`: the next copy queued on that device fails after `copy_data` returned success, with kind `IoError` and a message that says how many bytes were to be copied. It may come at any time until the stream's next report. | P | suite |
//! | I.2 | `conformance.x.out_of_memory_next(device_id)`: the next data space asked for there is `OutOfMemory`; the one after it is had as ever. | P | suite |
//! | I.3 | `conformance.x.lose(device_id)`: the device is lost, and what is queued on it fails. | P | suite |
//! | I.4 | The hooks are registered only with a host that answers `query` for `conformance` 1 and there says that it wants them; no manifest lists them. `reset` ends what I.1 to I.3 asked for. | P | shim, suite |
//! | I.5 | A hook that is told of a device that is not there, or of none, is `ValueError` or `TypeError`. | P | suite |
//!
//! ## T Target kinds
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | T.1 | The schema is JSON of `chipdock_ir::TargetKind`; its name is the one registered. | P | host |
//! | T.2 | `canonicalize` gets a target to which the schema was applied, and asks no device. | both | review |
//! | T.3 | What is canonical already comes back unchanged. | P | suite |
//! | T.4 | A wrong option is `ValueError` with option, value, what is allowed and the nearest name. | P | suite |
//! | T.5 | Axes, scopes and ops of the schema are known names; an option is there once, with a doc, a range and a default within it; each capability is read from a declared option of its type. | P | host, suite |
//! | T.6 | The answer is canonical JSON of the same kind: `tag` and `keys` as given, options that are declared and within their ranges, integers and booleans as given. | P | host, suite |
//! | T.7 | The same text is answered alike at every call, in every host. | P | suite |
//! | T.8 | A text that is no such target is `ValueError` or passed through, however malformed; the kind stays usable. | P | suite |
//!
//! ## C Code generators
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | C.1 | The same request with the same fingerprint (C.35) gives the same bytes; no device is asked. | P | suite |
//! | C.2 | The module is at the stage that the target kind declares, in a version from `ir_min` to `ir_max`, and valid. | H | suite |
//! | C.3 | Request and session live for the call; what is delivered is copied. | H | review |
//! | C.4 | A good build sets the index once; section names are unique. | P | host |
//! | C.5 | `unsupported` reports every node that cannot be built, each as an error diagnostic, and builds nothing; a `build` that answers `Unsupported` has reported the same. | P | suite |
//! | C.6 | A build that was cancelled answers `Cancelled`; it never uses more threads than allowed. | P | suite |
//! | C.7 | What was delivered before a failure is dropped. | H | suite |
//! | C.8 | The index lists each function of the module by its name, with its symbol and the types of its arguments. | P | suite |
//! | C.9 | Integers and booleans have the values that the IR's specification says, exactly (its N1 to N5, E4). | P | suite |
//! | C.10 | Floats are within the accuracy contract, NaN, infinities, both zeros and subnormals included (N6, N10, N11). | P | suite |
//! | C.11 | The least and the greatest of two, rounding and comparisons are as stated, with NaN in either place (N7, N8). | P | suite |
//! | C.12 | Casts wrap, truncate, saturate and round as stated (N9). | P | suite |
//! | C.13 | Loads and stores touch the elements that their indices, strides, offsets, lanes and predicates say (E6, E7, B1). | P | suite |
//! | C.14 | Statements run as stated: bindings, branches, loops of each kind, early ends (S1 to S5). | P | suite |
//! | C.15 | Blocks run their axes, predicates, inits and reductions as stated (B5 to B7). | P | suite |
//! | C.16 | Allocations and views are memory of their own, and of the scope and size that they say (B2 to B4). | P | suite |
//! | C.17 | Calls of functions of the module and of C functions pass arguments and results unchanged (E8). | P | suite |
//! | C.18 | An assertion that does not hold ends the function with its kind and message (S6). | P | suite |
//! | C.19 | An argument that does not fit is refused before anything is written. `TypeError` says of another number of arguments how many there are and were expected (`7 arguments`), of a value of another type which it is, from 0, and what was expected (`argument #4`, `Tensor`, `int`, `float`), of elements of another type that too (`A.dtype`, `argument #0`, `float32`). `ValueError` names what of a tensor differs and both values (`A.ndim`, `A.shape[1]`, `A.strides`; `A` and `device`), and a scalar beyond its type by name, number and value (`u`, `argument #3`, `256`). | P | suite |
//! | C.20 | What fits is taken: any offset of whole elements, any stride of an axis of one element, empty tensors, every value of a scalar. | P | suite |
//! | C.21 | A call writes what the function writes and nothing beside; called again it does the same. | P | suite |
//! | C.22 | Functions of one module do not touch each other; an artifact that was saved and read gives the same. | both | suite |
//! | C.23 | Each thread of a launch runs the body once, with its indices (K1, K2). | P | suite |
//! | C.24 | Barriers order memory between the threads of a block, shared and dynamic shared memory (K3 to K5). | P | suite |
//! | C.25 | Reductions over threads, atomic and warp operations are as stated (K6, K7). | P | suite |
//! | C.26 | A section's kind is a word of letters, digits, `_`, `.` and `-`: `code`, `constants`, `debug`, `source`, or one that loaders may ignore. Its alignment is a power of two up to 65536. | P | host, suite |
//! | C.27 | A request that cannot be read is `ValueError`, however malformed; the generator stays usable. | P | suite |
//! | C.28 | Options that are not known are ignored; threads that are allowed and questions that were asked do not change the artifact. | P | suite |
//! | C.29 | Every published version from `ir_min` to `ir_max` is read. | P | suite |
//! | C.30 | Any valid module computes what the specification says of it: what is right in parts is right together. | P | suite |
//! | C.31 | The `line` and `column` of a diagnostic are those that the document has of what it is about, or both 0 where they are not known; its message does not repeat them. | P | suite |
//! | C.32 | While a call lasts, the functions of its session may be called from any thread. | H | tests |
//! | C.33 | An empty `options_json` is an object without keys. | P | suite |
//! | C.34 | A section of a request that no node refers to is ignored. | P | suite |
//! | C.35 | `fingerprint` answers a text that differs whenever one build of the plugin (one library) might give other bytes for the same request: which compiler is found, its version, hooks in force; or None where that cannot be said. It opens the vendor's library at most. | P | suite |
//! | C.36 | `fingerprint` answers the same request alike as long as the host lives and nothing that it names has changed. | P | suite |
//! | C.37 | What was built where `fingerprint` answers None is not kept for another build. | H | tests |
//!
//! ## M Modules and loaders
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | M.1 | A loader's `destroy` is called once, after every other call of the loader; its modules may outlive it. | both | review |
//! | M.2 | An artifact that does not fit is an answer of `verdict` with a reason, not an error. | P | suite |
//! | M.3 | Artifact, sections and texts live for the call; sections are aligned as they say. | H | review |
//! | M.4 | The environment lives until the loader releases it: once, when no module and no function can use it any more; where `load` failed, too. | both | suite |
//! | M.5 | A module's `destroy` is called once; functions got from it keep what they need. | both | suite |
//! | M.6 | A function that is not there is None, not an error. | P | suite |
//! | M.7 | Compiled code reaches the host through the environment alone. | P | review |
//! | M.8 | A load that fails leaves nothing behind, no file either. | P | suite |
//! | M.9 | An artifact that was built here loads; one that is damaged is refused with a typed error, or loads; never a crash. | P | suite |
//! | M.10 | An artifact may be loaded many times, at once and one after the other; each module is one by itself. | P | suite |
//! | M.11 | Sections and fields of the index that a loader does not know are ignored; stricter alignment does no harm. | P | suite |
//! | M.12 | Functions of host memory run with a null environment too, by fallbacks of their own. | P | suite |
//! | M.13 | An artifact that was written to a file and read back loads and computes the same. | both | suite |
//! | M.14 | An artifact with an extension that is ignored loads as without; one that must be understood and is not known is an error of `verdict` and of `load`, `Unsupported`. | P | suite |
//!
//! ## K Kernels of device modules
//!
//! A kernel is a function of a module for a device. Its arguments are pointers and scalars, as the index types them; its
//! launch parameters are in the index too ([`kernel`]).
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | K.1 | Launch parameters are thread axes (`blockIdx.x` to `threadIdx.z`), each an extent and once; `tirx.use_cooperative_launch`, which has no value; and `tirx.use_dyn_shared_memory`, the bytes of dynamic shared memory, which is last. | both | shim |
//! | K.2 | An axis that is not named has extent 1. An extent of 0 launches nothing, with success. | P | shim, suite |
//! | K.3 | A packed call has the arguments in order, then an integer for each launch parameter that has a value. A pointer is a handle as the device API hands it out, or None for null; where a tensor begins behind it is a scalar of its own with `opaque_handles`, else added to it. A scalar is an integer, a boolean or a float, and fits its type. | both | shim |
//! | K.4 | A packed call runs on the device of the kernel's type that is current on the thread, on the stream that is current there; it returns when the kernel is queued. | P | tests |
//! | K.5 | Interface `launch` 1 of a module answers each kernel of the index as an entry, which lives as long as the module, with the type of its device; of a name that is none the entry is null. | P | suite |
//! | K.6 | `launch` does what the packed call does, on the device and the stream that the request names; it asks the host for neither, and changes neither. | P | suite |
//! | K.7 | The values of the arguments are read before `launch` returns: eight bytes of a handle, and of a scalar as many as its type has. | P | suite |
//! | K.8 | A request with another number of arguments, extents along axes or dynamic shared memory that the kernel does not take, or a device or stream that is not there, is a typed error, and nothing is launched. | P | shim, suite |
//!
//! ## X Compiled code: entry symbols and the environment
//!
//! What artifacts of host code rely on, and loaders with them. It is compiled into objects, which live longer than plugins.
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | X.1 | A packed function is an exported C function with the signature of TVM-FFI's safe call, under the symbol that the index gives: `__tvm_ffi_` and its name. | P | tests |
//! | X.2 | It does not read its `self_`, which is whatever its caller has: a function object of Chipdock's or of TVM-FFI's, or null. | P | tests |
//! | X.3 | Code that needs a host exports a variable `__chipdock_env`, a `const ChipdockEnv *` that is null in the artifact. | P | tests |
//! | X.4 | A loader sets that variable once, before anybody can call a function of the image. | P | review |
//! | X.5 | A loaded module has variables of its own: its code is linked in memory, or opened from a file that nothing else opens, such as a copy. So two hosts that load one artifact or one library at once have each their own environment. | P | suite, tests |
//! | X.6 | Compiled code relies on what version 1 of the environment has, whatever its `version` says, and asks for the rest by `query`. | P | review |
//! | X.7 | It asks for an imported function once, keeps what is answered in a variable of the image, and calls its `safe_call` with it as `self_`. Threads may ask twice. | P | tests |
//! | X.8 | What `imported` answers stays as it is and may be called until the environment is released. | H | tests |
//! | X.9 | What fails has called `raise`, with the location as far as it is known, and answers -1; a failure of the environment or of an imported function is passed on as it is. | P | tests |
//! | X.10 | A function that a call of the environment fails in has raised; `current_stream` and `current_device` of a host that is gone, or of a device that it does not know, fail. | H | tests |
//! | X.11 | Where the variable is null, errors go to TVM-FFI's function if the process has it; workspace is plain memory; a parallel region is one task; what needs a host (imported functions, devices) is `Unavailable`. | P | tests |
//! | X.12 | The index of an artifact says as `env` which version of the environment its code relies on; none is 1. Code that relies on a later one than the host lends is not loaded (`Unavailable`, both versions named). | H | tests |

#[cfg(feature = "layout-check")]
pub mod attestation;
pub mod attribute;
pub mod cpu;
pub mod dtype;
pub mod extension;
#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "ir")]
pub mod kernel;
pub mod kit;
#[cfg(feature = "ir")]
pub mod launch;
#[cfg(feature = "ir")]
pub mod lowered;
pub mod process;
pub mod received;
pub mod setting;
pub mod slot;
pub mod source;
pub mod text;

mod any;
mod codegen;
mod container;
mod context;
mod convert;
mod device_api;
mod dlpack;
mod error;
mod export;
pub mod external;
mod function;
mod host;
pub mod interface;
pub mod map;
mod memory;
mod module;
mod object;
mod registration;
mod session;
mod string;
mod target_kind;
mod tensor;
pub mod timer;
mod trampoline;

/// The structs of the boundary.
pub use chipdock_abi as abi;

pub use any::{Any, AnyView, argument};
pub use chipdock_abi::{ChipdockDataType, ChipdockDevice, ChipdockTensor};
pub use codegen::{BuildRequest, BuildSession, Codegen, Diagnostic, SectionKind, Severity};
pub use container::{Array, Shape};
pub use context::{Context, HostState};
pub use convert::FromAny;
pub use device_api::{CopyEnd, CopyRequest, DataSpaceKind, DataSpaceRequest, DeviceApi, Stream};
pub use dlpack::Access;
pub use error::{Error, ErrorKind, Fault};
pub use function::Function;
pub use host::{HostRef, LogLevel};
pub use interface::{Interface, InterfaceKind};
pub use module::{Artifact, Env, Module, ModuleLoader, Section, Verdict};
pub use object::{ObjectRef, WeakRef};
pub use registration::{PluginFunction, Registration, registrations};
pub use setting::Setting;
pub use string::{Bytes, Str};
pub use target_kind::{SchemaOnly, TargetKind};
pub use tensor::{CPU, Element, Tensor, TensorParts, TensorView, element_count, size_bytes};
pub use trampoline::caught;

/// What the macros expand to; not for use by hand.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "layout-check")]
    pub use abi_stable::library::{__call_root_module_loader, LibHeader, RootModuleResult};
    pub use inventory;

    pub use crate::registration::{init, release, shutdown};

    #[cfg(feature = "layout-check")]
    pub use crate::attestation::{PluginRootRef, lib_header, root_module};

    /// The one given, or the default.
    #[must_use]
    pub const fn or(given: &[&'static str], default: &'static str) -> &'static str {
        match given {
            [given, ..] => given,
            [] => default,
        }
    }

    /// A text as its bytes.
    #[must_use]
    pub const fn static_bytes(text: &'static [u8]) -> crate::abi::ChipdockStr {
        crate::abi::ChipdockStr { data: text.as_ptr().cast(), size: text.len() }
    }

    /// Whether a plugin may be called that.
    #[must_use]
    pub const fn is_plugin_name(name: &str) -> bool {
        let bytes = name.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            if !matches!(bytes[index], b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_') {
                return false;
            }
            index += 1;
        }
        !bytes.is_empty()
    }
}
