//! The interface of Chipdock plugins: safe traits, registration, values. This page is the contract.
//!
//! A plugin is a shared library that offers device APIs, target kinds, code generators, module
//! loaders and functions to any host that finds it. In Rust it is a cdylib with one
//! [`export_plugin!`], some `register_*!` and the traits [`DeviceApi`], [`TargetKind`], [`Codegen`]
//! and [`ModuleLoader`]; this crate's shims keep the rules marked *shim*. In C and C++ it includes
//! `chipdock.h` and keeps all of them itself. `examples/plugin-template-rust` and
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
//! A device plugin builds on [`kit`], which implements handles, lost devices, streams, builds for
//! each device and checks of artifacts, with rules of its own. A plugin keeps its state for one
//! host in a type of its own, see [`HostState`].
//!
//! # The contract
//!
//! Each clause states one duty. **By** names its owner: P the plugin, H the host, or both.
//! **Checked** names what detects a violation: *build* (it does not compile), *shim* (this crate,
//! for Rust plugins), *host* (when it loads or calls), *suite* (the conformance suite), *tests*
//! (this repository's tests of the host and of this crate), *review* (only a reader can tell).
//! Tests and cases cite the numbers.
//!
//! ## P1 Entry
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P1.1 | The library exports `chipdock_plugin_v1`, a C function without parameters, for ABI major 1. | P | host, suite |
//! | P1.2 | It returns a descriptor that is not null, constant, and the same at every call, on every thread; none of its functions is null. | P | host, suite |
//! | P1.3 | `magic`, `abi_major`, `table_sizes` and `layout_hash` are those of the header it was built with. | P | host, suite |
//! | P1.4 | `name` has 1 to 64 lower-case letters, digits, `-` and `_`; `version` is semver; both match the manifest. `build_id` distinguishes builds of one version, or is empty (P1.15). | P | build, host, suite |
//! | P1.5 | It exports no other symbols except the entries of other majors and that of the layout check (P4.2). | P | suite |
//! | P1.6 | It is a 64-bit little-endian shared library for the machine and operating system on which it is used; on ELF systems, an ELF shared object. | P | host, suite |
//! | P1.7 | A symbol that it uses and does not define is weak, or belongs to a library that it names; none belongs to the host. | P | suite |
//! | P1.8 | On ELF systems it requests no executable stack, no relocations in code, and no memory that is both writable and executable. | P | suite |
//! | P1.9 | On ELF systems each of its search paths begins with `$ORIGIN`: none leads to folders of the machine that built it. | P | suite |
//! | P1.10 | Nobody but its owner may write the library or its manifest. | P | host, suite |
//! | P1.11 | Opening it leaves the process unchanged: threads, children, open files, signal handlers and mask, environment, working folder, umask, locale, floating-point mode; and it prints nothing. | P | suite |
//! | P1.12 | Opening it opens only libraries that it names. | P | suite |
//! | P1.13 | On ELF systems it asks the loader for nothing with an effect beyond itself: no flag global, interpose, first or no-open, no audit library, no filter. | P | suite |
//! | P1.14 | On ELF systems its thread-local variables need no space in the static TLS block (initial-exec), of which a running process has little left. | P | suite |
//! | P1.15 | Where `build_id` is empty, a host that shows builds shows what the linker wrote: on ELF systems the note `NT_GNU_BUILD_ID`, in hexadecimal; otherwise the first 16 digits of the library's SHA-256, where the host has that. Neither may be relied on to distinguish two libraries: a host that keeps build results identifies a library by its whole SHA-256. | H | tests |
//!
//! ## P2 Two doors
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P2.1 | Only `#[repr(C)]` structs, C functions, integers, floats and pointers cross the boundary. | both | build |
//! | P2.2 | Hosts and plugins run on 64-bit little-endian machines. Code compiled for a 32-bit target follows C's layout of the same structs on that target. | both | build |
//! | P2.3 | A reserved field (`padding`) is written as zero and never read. | both | review |
//!
//! ## P3 Growth
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P3.1 | A table never changes within a major and has no null slot. | both | host, suite |
//! | P3.2 | Anything new is a named interface; a changed `x/1` is `x/2`; `x/1` is supported as long as the major. | both | review |
//! | P3.3 | A host accepts its own major with any minor, older or newer. | H | tests |
//! | P3.4 | Of an interface registered in several versions the host uses the highest that it knows. | H | tests |
//! | P3.5 | Unknown interfaces and unknown feature bits are ignored, with success. | H | tests |
//! | P3.6 | An unknown value of an enumeration is answered with `Unsupported` in a request; in an answer an unknown verdict counts as *unsupported*, and a reported severity or level as the nearest known one that is more severe. | both | shim, suite, tests |
//! | P3.7 | Every optional interface has a stated default or a typed refusal. | H | review |
//! | P3.8 | A plugin accepts a host of any minor, older or newer, and works without interfaces that `query` does not find. | P | suite |
//! | P3.9 | Unknown fields of a document (manifest, schema of a target kind, index of an artifact) are ignored by its reader; `schema` in it is raised only where an old reader would misread it. | both | host, tests |
//! | P3.10 | An unknown stage, option type or thread axis, or a newer `schema`, makes that target kind unusable: a request for it is `Unsupported`, with the reason. Everything else that the plugin registers works as usual. | H | tests |
//! | P3.11 | An interface is a table of function pointers only, none null, of the size that its name and version imply, with a `self_` as first argument; its functions are subject to P7, P8 and P10, like those of the tables here. | both | shim, host, suite |
//! | P3.12 | `query` of a host, a build session or a module writes an interface that lives as long as the queried object, or one whose table is null where there is none, which is no error. The host's may be called during `init`. | both | shim, suite |
//! | P3.13 | A registered interface is released by its deleter: once, after every call of its functions, before the `destroy` of what it extends, whatever `extend` returned. For one that the host does not use that may be before `extend` returns. | H | tests |
//! | P3.14 | `extend` names a key that this plugin registered earlier, or the plugin itself; in a manifest it is `<key>/<interface>/<version>`. | P | host, suite |
//! | P3.15 | A chain of extensions, the `next` of a request, a copy, an artifact or a diagnostic, ends with null after at most 64 entries; a longer one is `ValueError`. | both | shim, suite |
//! | P3.16 | An extension with an unknown name is ignored; if it is mandatory (bit 0 of its `flags`), the answer is `Unsupported` with its name, and nothing is done. | both | shim, suite |
//! | P3.17 | Unknown bits of a field `flags` are ignored. | both | suite |
//! | P3.18 | `info_json` of a registration is a JSON object, or empty for none; unknown keys are ignored. A code generator's has `ir_min` and `ir_max`, semver of the IR's wire format, `ir_min` not above `ir_max`. | both | host, suite |
//! | P3.19 | `schema` in the index of an artifact is the version of the index; without it, it is 1. A host or a loader that knows only lower ones reads nothing else of it and answers `Unavailable`, with both numbers, a loader to `load` and to `verdict`. | both | host, suite |
//!
//! Each of these documents has a JSON Schema in `plugin-api/abi/schemas`: manifests, target kinds,
//! artifact indices, and the `info_json` of descriptors. The schemas of the IR's wire format are in
//! `plugin-api/ir/wire`.
//!
//! ## P4 Layout check
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P4.1 | Magic, table sizes and hash decide, for C and Rust alike. The hash covers types and their order; a change of names, of comments or of named interfaces does not change it. | both | host, suite |
//! | P4.2 | With the feature `layout-check` the plugin also exports the types of the tables as it was compiled. No plugin is refused because of them: where the hash differs, the host reports from them the first field or signature that differs. | both | tests |
//!
//! ## P5 Registration
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P5.1 | The registrar copies names and texts, keeps tables (they are static), and takes ownership of `self_` whatever it returns; where the table is null or has a null slot, nothing can release it. It may be called during `init` only: a later call is refused. | H | tests |
//! | P5.2 | `init` registers at least one thing, in the order of the bytes of the keys, no key twice: `device_api.<name>`, `function.<name>`, `module.load.<kind>`, `target.build.<kind>`, `target.kind.<name>`, and `<key>/<interface>/<version>` for what extends one of them or, by its name, the plugin. It is the same for every host except for test hooks (I.4). | P | shim, host, suite |
//! | P5.3 | The registered keys are those that the manifest lists, except for test hooks (I.4). | P | host, suite |
//! | P5.4 | When `init` fails nothing stays registered, and every `self_` is destroyed. | H | tests |
//! | P5.5 | `device_type` 0 requests a number, for `cpu` always 1; the assigned one is returned, and tensors carry it. | both | suite |
//! | P5.6 | A manifest, where there is one, is readable, and matches the ABI, the operating system and the processor of the library. Where the machine or the host lacks what it needs (libc, features of the processor, interfaces that it requires), the plugin is not opened. | P | host, suite |
//! | P5.7 | Its keys are sorted, and the schemas of its target kinds equal the registered ones. | P | host, suite |
//! | P5.8 | Its digest, where it has one, is the library's. | P | host, suite |
//! | P5.9 | A registered name has 1 to 128 letters, digits, `_`, `.` and `-`, the first a letter, a digit or `_`; so has the name of an interface. None begins with `chipdock.`, which is reserved for the host. | P | host, suite |
//! | P5.10 | When the registrar refuses a registration, `init` registers nothing more and returns the failure with its error. | P | suite |
//! | P5.11 | After a failed `init`, `init` for another host succeeds when nothing is refused. | P | suite |
//! | P5.12 | A device type that a plugin requests is 0 or one of DLPack's; 1, host memory, is reserved for the name `cpu`. Devices of one name have one type. | P | host, suite |
//! | P5.13 | A manifest and a schema have no field that is unknown in the minor for which they were written. | P | suite |
//! | P5.14 | The number that a host assigns to a device is 4096 plus the first 30 bits of the SHA-256 of its name, read as a big-endian number; it is the same in every host. Where another device has that number, the later registration is refused, with both names. | H | tests |
//! | P5.15 | `needs.keys` of a manifest names keys without which the plugin cannot work. Their providers are opened before it, and so shut down after it (P10.15). Where one of them is unavailable (nobody provides it, several do and none is preferred, its plugin is refused, or waits for this one) the plugin is not opened, and its keys are `Unavailable`, with the missing key, the plugin that needs it and the reason. | H | tests |
//! | P5.16 | Each entry of `needs.keys` is a key (P5.9), occurs once, and is not one of `provides`. | P | host, suite |
//! | P5.17 | Where everybody may add a name, a name without a dot is Chipdock's; everybody else's begins with the name of their plugin and a dot (`npu.watchdog`). Names with a dot that this page or the IR's specification states are Chipdock's too (`shared.dyn`). That holds for interfaces, extensions, device attributes, kinds of errors, memory scopes, kinds of sections, keys of `info_json`, and fields of manifests, target kinds and indices; an index, and each function in it, keeps data of its loader under `options`. Extensions are named as P5.9 says. Options of a target kind and settings are their plugin's own: the names that every kind shares are `kind`, `tag`, `host`, `from_device`, `keys`, `device`, `model`, `libs`, `target_device_type` and those that begin with `feature.`, and later ones begin with `chipdock.`. | both | host, suite |
//! | P5.18 | Functions that begin with `conformance.` are the hooks of I, and nothing else. | P | suite |
//! | P5.19 | A manifest may state `vendor`, `licence` (as SPDX writes it), `homepage` and `support`, each a text of 1 to 4096 bytes without control characters. A host shows them, and they decide nothing. | P | host |
//!
//! ## P6 Values
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P6.1 | Calls carry the values of V; their layouts are those of TVM-FFI 0.1, whatever TVM-FFI changes later. | both | build |
//! | P6.2 | No library exports a symbol that begins with `TVMFFI`. | P | suite |
//!
//! ## P7 Errors
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P7.1 | 0 is success. Anything else means that an error was raised with the host that called, on this thread, before the return. | P | shim, host, suite |
//! | P7.2 | A failure without an error is reported as `BrokenPlugin`; no error is guessed from the status. | H | tests |
//! | P7.3 | The error's kind says whose fault it is ([`ErrorKind::class`]); its message states what was expected, what was found, and what to do. | P | suite |
//! | P7.4 | The caller takes the error on the same thread before it calls anything else. | both | review |
//! | P7.5 | A failure after the return is kept with its stream and reported by the next call on it or by its sync, first cause first. | P | suite |
//! | P7.6 | A lost device answers `DeviceLost`, until interface `reset` 1 opens it again (D.40) or, without that, as long as the process lives. `device_count`, the attribute `exist`, `free_data_space`, `free_stream`, `free_mark` and `free` of `timeline` 1 may still be answered. | P | suite |
//! | P7.7 | After `OutOfMemory` the state is unchanged. | P | suite |
//! | P7.8 | A failed call has written no result that has to be released. | P | shim, suite |
//! | P7.9 | A failed call leaves the device usable: the next correct call succeeds. | P | suite |
//! | P7.10 | The status is that of the error's kind ([`ErrorKind::status`]); a packed function's is -1. | P | shim, suite |
//! | P7.11 | The status of an unknown kind of error says whose fault it is: 1 to 15 the caller's, 16 to 31 the environment's, 32 to 47 a bug, anything else the environment's. | both | tests |
//! | P7.12 | Between raising an error and returning its failure, nothing of the boundary is called but what P10.12 allows everywhere. | both | review |
//!
//! ## P8 Nothing unwinds across
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P8.1 | No panic and no exception leaves a function of a table, a packed function or a deleter. | both | shim |
//! | P8.2 | A caught panic or exception is raised as kind `Panic`. | P | shim |
//! | P8.3 | A Rust plugin is built with `panic = "unwind"`. | P | build |
//! | P8.4 | No call ends the process, and no caller's mistake causes a panic. | P | suite |
//!
//! ## P9 Whoever allocates frees
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P9.1 | Every object that is handed out carries its deleter or its table's `destroy`, which is called once, last, on any thread. | both | shim, suite |
//! | P9.2 | Arguments, texts and requests are borrowed for the call; a callee that keeps them copies them. | both | review |
//! | P9.3 | Tables, and a descriptor's texts, live as long as the process. | P | review |
//! | P9.4 | Releasing is complete: repeating the same calls makes neither memory nor threads nor descriptors of the process grow. Machine code that was loaded may stay until the process ends. | P | suite |
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
//! | P10.6 | Nothing of a host is used in a process that was forked from the one that made it. A forked child makes a host of its own: `init` is called again, and every call works there, whatever the parent did before, or is `WrongState` at once where a driver does not survive a fork; none hangs. | both | host, tests |
//! | P10.7 | `init` and `shutdown` serve any number of hosts, one after the other or on several threads at once. | P | suite |
//! | P10.8 | `init` and `shutdown` leave the process unchanged, as opening does (P1.11). | P | suite |
//! | P10.9 | A process can exit at any time with its own exit code, whatever it did with the plugin before. | P | suite |
//! | P10.10 | A call leaves the caller's thread unchanged: signal mask, floating-point mode, locale, working folder, umask. A vendor library that it opens may install signal handlers. | P | suite |
//! | P10.11 | A plugin holds none of its own locks while it calls the host, except for what P10.12 allows everywhere. | P | review |
//! | P10.12 | Releasing (deleters, `release` of an environment, dropping a reference) and `raise`, `raise_object`, `take_error`, `log`, `query` and `current_stream` are allowed everywhere: during `init` and `shutdown`, in a `destroy` or a deleter, under a lock, between raising an error and returning. Everything else of the host may be called during a call; `init` calls of it only the registrar, `config` 1 and `conformance` 1 besides, `shutdown`, a `destroy` and a deleter nothing. | both | tests |
//! | P10.13 | `init` writes the plugin's instance for that host (which may be null) only on success. `shutdown` is called with it once, before anything that was registered is destroyed (modules may be destroyed before); after a failed `init` neither `shutdown` nor `release` is called. | H | tests |
//! | P10.14 | `release` is called with the instance once, last: after every `destroy` and deleter of registered objects and of loaded modules, whatever `shutdown` returned. Functions of modules and streams may live longer, and keep what they need. | H | tests |
//! | P10.15 | Plugins are shut down in the reverse order in which they were opened. | H | tests |
//! | P10.16 | A `self_` may be destroyed at any time after it was registered, by a registrar that refuses it even before the registrar returns. | H | tests |
//! | P10.17 | What was not freed when `shutdown` is called (data spaces, streams, marks) stays valid until the device API's `destroy`, although nothing can be done with it any more (P10.5) but to read and write memory that has an address. It is freed by `release` at the latest. | P | suite |
//! | P10.18 | A host that ends with its process may skip `shutdown`, every `destroy` and deleter, and `release`: all of them, for every plugin. Otherwise it skips none. | H | tests |
//!
//! ## P11 Never unloaded
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P11.1 | A library is never closed. Where there is `dlopen` it is opened with `RTLD_NOW \| RTLD_LOCAL`. | H | review |
//!
//! ## P12 Vendor libraries
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P12.1 | A plugin links no vendor library; it opens it by its SONAME on first use. | P | suite |
//! | P12.2 | When the library is missing, calls answer `Unavailable` with the names that were tried and the package that provides it. | P | review |
//! | P12.3 | On systems with glibc a manifest's libc floor is at least the newest libc version of which the library uses a symbol. | P | host, suite |
//! | P12.4 | A distributed binary contains its C++ runtime. | P | suite |
//!
//! ## P13 Bounds
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | P13.1 | A host accepts at least: a library of 8 GiB and a manifest of 1 MiB; 4096 registrations and 256 settings of a plugin, the doc of each of 4 KiB; 4096 devices of a device API; names of 1 KiB; a schema, an info, a canonical target and an attribute's value of 1 MiB each. | H | tests |
//! | P13.2 | Of an artifact at least: an index of 16 MiB, 4096 sections, and 2^40 bytes in all of them as far as memory lasts (`OutOfMemory`); of an object file (M.15) 2^31 bytes. | H | tests |
//! | P13.3 | Of a build it keeps at least 1000 diagnostics, and counts 100,000; it shows at least the first 64 KiB of a message. What is longer is cut, and refused by nobody. | H | tests |
//! | P13.4 | A host writes no module of more than 256 MiB, 4,000,000 nodes or 256 levels, and a code generator reads every module within these bounds. | both | tests |
//! | P13.5 | Values within these bounds are accepted: tensors of 64 axes, texts of 1 GiB, arrays of 2^20 elements, 32 levels deep. | both | tests |
//! | P13.6 | Bounds may grow and never shrink. Anything beyond a bound is a typed error with the bound and the number found. | both | tests |
//!
//! ## H The host's table
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | H.1 | The table and its texts live as long as the process. | H | review |
//! | H.2 | Its functions may be called from any thread, with `self_` first; texts are borrowed. | H | tests |
//! | H.3 | `raise` and `raise_object` set this thread's error; `take_error` moves it out, None when there is none. | H | tests |
//! | H.4 | `function` takes the name of a registered function, without `function.`, and writes an owned function object; for an unknown name it writes None, which is no error. | H | tests |
//! | H.5 | `query` writes an interface whose table is null for one that the host does not have, and answers success. | H | tests |
//! | H.6 | None of them unwinds. | H | review |
//! | H.7 | Each `init` is given a table of its own: its pointer identifies the plugin and the host. Errors, streams, functions and interfaces belong to the host, whichever of its tables is used. | H | tests |
//! | H.8 | A log line carries the name of the plugin to whose table it was written. | H | tests |
//! | H.9 | Interface `memory` 1 allocates a compact tensor in global memory of any device that the host knows, its elements uninitialised, or fails with the reason, like `empty` of the host's own tensors. It is not called during `init`, and neither are devices. | H | tests |
//! | H.10 | `current_stream` writes the current stream of this thread for a device, null for the default stream; a device that the host does not know, and a host that is gone, are errors. | H | tests |
//! | H.11 | Interface `needs` 1 hands out interfaces of other plugins: `find` writes the one that is registered under a key of the asking plugin's `needs.keys` (P5.15), as its plugin registered it. It may be used until the asking plugin's `shutdown` has returned. Any other key is `KeyError`. It is not called during `init`. | H | tests |
//!
//! ## S Settings
//!
//! A setting is a choice of the user about a plugin, by key. A plugin declares its settings in the
//! `info_json` of its descriptor, so that a host knows them before `init`, and reads them through
//! interface `config` 1 of the host, in Rust through [`HostRef::setting`].
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | S.1 | The descriptor's `info_json` is a JSON object, or empty for none; unknown keys are ignored. Its `settings` is an array of objects with `name`, `type`, `doc`, and optionally `default` and `variables`. | P | host, suite |
//! | S.2 | A setting's name has 1 to 64 lower-case letters, digits and `-`, the first a letter, and occurs once; its type is `bool`, `int`, `float`, `str` or `path`, its default is of that type; its `doc` is not empty; each of its `variables` is a valid name of an environment variable: letters, digits and `_`, no digit first. | P | build, host, suite |
//! | S.3 | A manifest lists the settings that the descriptor declares. | P | host, suite |
//! | S.4 | `get` of the host's `config` 1 answers a setting of the plugin whose table was asked, from the first source that has it: what this host was made with, the variable `CHIPDOCK_<PLUGIN>_<NAME>` in capitals with `_` for `-` and `.`, the declared variables in their order, the user's file, the default; None where none has it. It may be called during `init`. | H | tests |
//! | S.5 | A value has its setting's type; for `str` and `path` it is a string, which may be empty. | H | tests |
//! | S.6 | A key that the plugin does not declare is `KeyError`, with the nearest declared name. A plugin asks only for settings that it declares. | both | tests, suite |
//! | S.7 | A value of the wrong type is `ValueError`, with its source and the expected type. Other settings are unaffected. | H | tests |
//! | S.8 | The answer of `get` for a setting stays the same as long as the host lives. | H | tests |
//! | S.9 | With raised privileges no variable and no file of the user is read. | H | tests |
//! | S.10 | A setting that is not available fails the call that needs it, with the host's error. `init` needs none: the registered keys do not depend on settings. | P | suite |
//! | S.11 | With a host without `config` 1 a setting is taken from its own variables, else from its default. | P | shim, suite |
//! | S.12 | A setting of unknown type, or with a name of another form than S.2's, is `Unsupported` when it is asked for; the plugin's other settings work as usual. | H | tests |
//! | S.13 | Settings of two plugins may share one variable `CHIPDOCK_<PLUGIN>_<NAME>` (`b-c` of `a` and `c` of `a-b`). Where it is set, it counts for neither: a request that it would answer fails with `ValueError`, which names both. | H | tests |
//! | S.14 | A setting `remember` of type `bool` says whether the plugin may keep for the next process what it found out: false where the host is to remember nothing, whatever S.4 finds; true where it remembers and no source but the default has a value. | H | tests |
//!
//! ## V Values
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | V.1 | A value is 16 bytes: type index, small length or zero, payload. Unused bytes are zero. | both | shim, suite |
//! | V.2 | Types 7 to 9 are borrowed and occur in arguments only, never in a result or a container. | both | shim, suite |
//! | V.3 | Type 10 points to an object pointer that the callee may take, leaving null; it occurs in arguments only. | both | shim, suite |
//! | V.4 | A tensor argument is type 7 (`ChipdockTensor*`) or type 70 (an object); both are accepted. | both | suite |
//! | V.5 | A string is UTF-8: up to 7 bytes in place as type 11, longer ones as type 65 with a NUL after the last byte; bytes likewise as types 12 and 66. It never changes. | both | shim, suite |
//! | V.6 | Objects are laid out as their type index says: shape 69, tensor 70 (strides not null when there are axes), array 71 (its elements owned). Elements of less than a byte are packed, low bits first; a tensor that pads them is refused. | both | build, suite |
//! | V.7 | An error object owns its texts, its cause and its context; `update_backtrace` is not null. In those that this crate makes, a NUL follows each text, as in TVM-FFI's. | both | build, suite |
//! | V.8 | A function object's `safe_call` never changes. | both | review |
//! | V.9 | An object may be used and released on any thread. | both | suite |
//! | V.10 | A packed call borrows its arguments; `result` is None before it and owned by the caller after success. | both | shim, suite |
//! | V.11 | A packed function returns 0, or -1 with an error raised and `result` untouched. | both | shim, suite |
//! | V.12 | Counts: increment relaxed; decrement with release, and acquire before the deleter. All strong references together hold one weak one. The deleter gets 1 when the last strong reference goes, 2 when the last weak one goes, 3 for both at once; after 1 the weak reference of the strong ones goes, too. | both | suite |
//! | V.13 | Sixteen zero bytes lie before an object that crosses the boundary, whoever makes it: TVM-FFI reads where an object's memory begins there. | both | tests |
//! | V.14 | Only the deleter of a managed tensor of another DLPack major is used. | both | tests |
//! | V.15 | An integer that does not fit is an error with value and range; no value wraps. | both | suite |
//! | V.16 | A call leaves the reference counts of its arguments' objects unchanged, except that it adds those of the references that it keeps. | both | suite |
//! | V.17 | Arguments that a function does not accept are an error of the caller, with what was expected. | P | suite |
//! | V.18 | A call keeps no memory except that of its result. | P | suite |
//! | V.19 | A function object belongs to the host for which it was made: code that passes it to another host wraps it. | both | review |
//! | V.20 | An object of unknown type is kept and returned, and never read. | both | review |
//!
//! ## D Device APIs
//!
//! Host memory is device 0 of type 1 in every host, `cpu`; `device_api.cpu` may be registered for
//! it.
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | D.1 | `destroy` is called once, after every other call (P10.18: or nothing at all is). | H | review |
//! | D.2 | Pointers of a call are valid, or null where that is stated; null elsewhere is `ValueError`. | both | shim, suite |
//! | D.3 | An unknown attribute is None; a device that does not exist is `ValueError`, except for `exist`, whose answer is false. | P | suite |
//! | D.4 | A data space with an address (host memory, D.31, D.32) has the requested alignment. | P | suite |
//! | D.5 | A data space is freed once. The host has waited for the work that uses it. | H | review |
//! | D.6 | A copy's ranges are live and do not overlap; one end is on a device of this API, the other there or in host memory. Host memory of a queued copy lives until its stream is synchronised. The call's `device_id` is that of an end, either one where both ends have one; the stream is of that device. | H | review |
//! | D.7 | The null stream is the default stream and always allowed. Work on one stream runs in order. | both | suite |
//! | D.8 | Copies may be queued; `sync_stream` returns when they are done. | P | suite |
//! | D.9 | An unsupported kind or scope is `Unsupported`; nothing is substituted for it. | P | suite |
//! | D.10 | The host keeps the active device and stream, and reports them to no plugin: each call names its device and stream, and a launch asks for the stream (D.18). | H | suite |
//! | D.11 | An attribute of [`attribute::TABLE`] is None or has the type and unit given there, and is in a plausible range. It is None where it means nothing for the device: without blocks of several threads `max_threads_per_block`, without threads that run in step `warp_size`. | P | suite |
//! | D.12 | The value of an attribute of D.11 stays the same as long as the process lives, on every thread; the amount of free memory may change, and an error may later become a value. Other attributes may change (a temperature, a clock). | P | suite |
//! | D.13 | Attributes are consistent: a part is not more than the whole. | P | suite |
//! | D.14 | `device_count` is not negative and never shrinks; an id never changes its device. | P | suite |
//! | D.15 | `create_stream` returns handles that differ from null and from each other while they live; a device without streams of its own returns null each time. | P | suite |
//! | D.16 | Work queued on `to` after `sync_stream_from_to` waits for work queued on `from` before it. Both may be the same or null, and a cycle of such calls terminates. | P | suite |
//! | D.17 | `free_stream` returns when the work queued on the stream is done, and reports a failure that the stream kept (P7.5); the stream is freed all the same. Null is allowed. | P | suite |
//! | D.18 | A kernel is ordered on the current stream of its device on the launching thread. | P | suite |
//! | D.19 | A device whose [`attribute::CHECKED_HANDLES`] is true answers a handle that is not live or belongs to another device, and an end of a copy that is neither its own nor host memory, with `WrongState`, `ValueError` or `Unsupported`, and a range past the end with `IndexError`; nothing changes. On other devices such calls are undefined. | P | suite |
//! | D.20 | A data space has the requested number of bytes, and each keeps the last value written to it. | P | suite |
//! | D.21 | Live data spaces have different handles, none null except of size 0 (D.22), and no byte in common. | P | suite |
//! | D.22 | Size 0 returns a handle that may be freed, and may be an end of copies of size 0; it may be null. | P | suite |
//! | D.23 | An alignment that is no power of two is `ValueError`. | P | shim, suite |
//! | D.24 | Alignments up to 64 bytes are supported; a greater one may be `Unsupported`. | P | suite |
//! | D.25 | Freeing null is a success that does nothing. | P | shim, suite |
//! | D.26 | A size that cannot be allocated is `OutOfMemory`; P7.7 states what holds afterwards. | P | suite |
//! | D.27 | Freed memory can be allocated again, in any order and any number of times, and is counted in `available_global_memory_bytes`, where that is answered. | P | suite |
//! | D.28 | The hint of a data space or a copy, known or not, changes no promise. | P | suite |
//! | D.29 | The scope `global`, also written as the empty text, is supported with kind 0 on every device. | P | suite |
//! | D.30 | Each device has its own data spaces: a change on one device changes nothing on another. | P | suite |
//! | D.31 | A pinned data space is host memory: its handle is an address, and copies may name it as such. | P | suite |
//! | D.32 | A host-visible or unified data space has an address, at which the host reads and writes the same bytes as the device while no queued work uses them. The address of a unified one is its handle; so is that of a host-visible one, unless the device API has `map` 1, which answers it (N.16). | P | suite |
//! | D.33 | A copy moves each byte of the source's range to its place in the destination's range; both ranges begin `offset_bytes` after their handle. | P | suite |
//! | D.34 | A copy writes nothing outside of the destination's range. | P | suite |
//! | D.35 | A copy reads nothing outside of the source's range, and does not write there either. | P | suite |
//! | D.36 | Sizes, offsets and host addresses of a copy need no alignment. | P | suite |
//! | D.37 | A copy of size 0 touches no memory; its ends may be null. | P | shim, suite |
//! | D.38 | Every device copies from and to host memory, and from one of its data spaces to the same or another. | P | suite |
//! | D.39 | Two devices of one API copy to each other, or the copy is `Unsupported` and nothing was copied. | P | suite |
//! | D.40 | Interface `reset` 1: `reset` opens a lost device again, so that correct calls succeed; failures that nobody took are discarded. Objects made on it before (data spaces, streams, marks, timelines, modules) may be freed, and are unusable otherwise. On a device that is not lost it only discards those failures. | P | suite |
//! | D.41 | An ignored extension changes no promise about the data space or the copy; a refused one leaves everything unchanged. | P | suite |
//!
//! ## N Named interfaces of device APIs
//!
//! `reset` 1 is D.40. A device API with another of these interfaces keeps all clauses of it.
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | N.1 | `timer` 1: `mark` queues a mark after the work of its stream, waits for nothing, and returns a handle that differs from null and from those of other live marks. Where a device cannot time a stream it is `Unsupported`. | P | suite |
//! | N.2 | `elapsed` waits until both marks are reached, and returns a finite number of nanoseconds, the same at every call: 0 from a mark to itself, and the negated value for the opposite direction. | P | suite |
//! | N.3 | From a mark to one that is reached later it is not negative, and at most the time that passes on the host from before the first `mark` to the return of `elapsed`, with a tolerance of one hundredth and 100 µs. | P | suite |
//! | N.4 | Work queued on a stream between two of its marks runs between them, and `elapsed` includes its time on the device. | P | suite |
//! | N.5 | Marks of all streams of a device use one clock: `elapsed` from a mark to one on a stream that waits for it (D.16) is not negative. | P | suite |
//! | N.6 | `free_mark` frees a mark, reached or not, and waits for nothing; freeing null is a success that does nothing. A stream may be freed before its marks, which keep their times. | P | shim, suite |
//! | N.7 | Where handles are checked (D.19) a mark that is not live or belongs to another device is `WrongState` or `ValueError`. | P | suite |
//! | N.8 | `mark` reports a failure that its stream keeps (P7.5), `elapsed` reports none of a stream. A mark that is never reached makes `elapsed` fail; it does not wait for ever. | P | suite |
//! | N.9 | `external` 1: the plugin's documentation says what a native handle is. A null one is `ValueError`; so is a native stream of another device or context, as far as the driver can tell. Anything that is no such handle is undefined. | P | shim, suite |
//! | N.10 | `adopt_stream` returns a stream as `create_stream` does (D.15), over the native one: work queued on either is in one order. `free_stream` waits for it (D.17) and leaves the native stream unchanged; whoever adopted it keeps it alive until then. A native stream may be adopted several times. | P | suite |
//! | N.11 | `native_stream` returns a handle that is not null, the same each time, and valid as long as the stream; it may be adopted. | P | suite |
//! | N.12 | `native_data` returns the native handle of a data space's memory and the offset in bytes at which it begins there: the same each time, valid as long as the data space, and different from that of every other live one. A handle that is not live is refused as by a copy (D.19). | P | suite |
//! | N.13 | `adopt_host_memory` returns a data space of those bytes: work reads what the host wrote before the work was queued, and the host reads what work wrote once its stream was synchronised. Null and size 0 are `ValueError`; an unsupported address, size or device is `Unsupported`, and nothing changes. | P | shim, suite |
//! | N.14 | `free_data_space` of such memory leaves its bytes as work left them, and it may be adopted again; whoever adopted it keeps it alive until then. It does not count as memory of the device. | P | suite |
//! | N.15 | Functions of all three refuse a device that does not exist (`ValueError`), and handles of streams as the device API does (D.3, D.19); on a lost device they are `DeviceLost` (P7.6). | P | suite |
//! | N.16 | `map` 1: `address` returns the address of a host-visible data space (D.32), the same each time, and valid until it is freed; for a pinned or unified one it returns the handle. Kernels and copies get the handle. | P | suite |
//! | N.17 | For a data space that the host cannot reach `address` is `Unsupported`; null is `ValueError`, and a handle that is not live is refused as by a copy (D.19). | P | shim, suite |
//! | N.18 | `timeline` 1: a timeline is a 64-bit value of one device that only rises. `create` makes one that has reached `initial`, and returns a handle that differs from null and from those of other live timelines. | P | suite |
//! | N.19 | `signal` waits for nothing. The timeline reaches `value` when the work that was queued on the stream before is done, and not before the values of earlier calls. | P | suite |
//! | N.20 | The values of `signal` and `host_signal` rise strictly from `initial` in the order of the calls; any other is `ValueError`, and nothing changes. Whoever signals one timeline on several threads orders the calls. | P | suite |
//! | N.21 | `wait` waits for nothing: work that is queued on the stream later begins after the value is reached. | P | suite |
//! | N.22 | A value for `wait` is reached already, or `signal` or `host_signal` was called with it or a greater one; any other is `WrongState`, and nothing changes. So no stream waits for ever. | P | suite |
//! | N.23 | `query` writes the value that is reached, and waits for nothing. Once it, or `host_wait`, has shown a value, the host sees what the work before its signal wrote, as after `sync_stream` (D.8). | P | suite |
//! | N.24 | `host_wait` writes 1 when the value is reached, and 0 when `timeout_ns` have passed first, which is no error; 2^64 - 1 of them never pass. It may be called before the signal, and other calls go on meanwhile. | P | suite |
//! | N.25 | `host_signal` waits for nothing: the timeline reaches `value` at once, or where signals are queued, after them. | P | suite |
//! | N.26 | `signal` reports a failure that its stream keeps (P7.5), and does nothing then; `query` and `host_wait` report none of a stream. Work that failed counts as done: its signal takes effect, and its stream reports the failure. | P | suite |
//! | N.27 | `free` frees a timeline and waits for nothing; null is a success that does nothing. Queued signals and waits take effect all the same. A stream may be freed before the timelines that it signals. | P | shim, suite |
//! | N.28 | The extensions `timeline.wait` and `timeline.signal`, each a `ChipdockTimelinePoint` whose `flags` have bit 0, are understood in copies, and in launches (K.8) by the modules of each loader for these devices; a chain may have several of both. The copy or launch begins after the waits, as `wait` says, and the timelines are signalled after it, as `signal` says; one of size 0 does that alone. | P | shim, suite |
//! | N.29 | What `wait` or `signal` would refuse of such a chain is refused before anything is queued: nothing is copied, launched or signalled. Where the copy or launch itself fails nothing is signalled; its waits may stay in the stream. An entry that is too short is `ValueError`. | P | shim, suite |
//! | N.30 | A null timeline is `ValueError`. Where handles are checked (D.19) one that is not live or belongs to another device is `WrongState` or `ValueError`. Devices that do not exist, streams and lost devices are answered as N.15 says; on a lost device nobody waits for ever. | P | shim, suite |
//! | N.31 | `memory.async` 1: `allocate` returns a data space as `allocate_data_space` does (D.4, D.9, D.20 to D.28, D.30 to D.32), for work that is queued later on that stream or on one that waits for it (D.16), and waits for nothing. | P | suite |
//! | N.32 | `free` frees when the work that the stream has is done, and waits for nothing; the data space is not live after the call, and null is allowed. The host has made that stream wait for the work of others that uses it. | both | suite |
//! | N.33 | `free_data_space` frees a data space of `allocate` too (D.5); `free` none of `allocate_data_space`, which is `WrongState` or `ValueError` where handles are checked (D.19), and then nothing is freed. | P | suite |
//! | N.34 | Memory whose freeing is queued may count as used until its stream is synchronised; then D.27 holds. | P | suite |
//! | N.35 | A device without such memory answers `allocate` with `Unsupported`; a host then uses `allocate_data_space`. Devices and streams are refused as by N.15, and `allocate` reports a failure that its stream keeps (P7.5). | P | suite |
//! | N.36 | `workspace` 1: `allocate` returns memory of that many bytes (0 is taken for 1) for work that is queued later on that stream, of the calling thread alone, aligned to 64 bytes where it has an address. Live workspace has no byte in common with other live memory, and may be an end of copies. | P | suite |
//! | N.37 | A host frees workspace on its thread and stream, the last first, while work that uses it is queued; it is then given out again only on that stream. Freeing null is a success that does nothing. | both | suite |
//! | N.38 | Workspace of a thread that ended or of a stream that was freed costs no more than P9.4 allows. | P | suite |
//! | N.39 | A device without workspace of its own answers `allocate` with `Unsupported`; a host then makes it of data spaces. Devices, streams and handles are refused as by N.15 and D.19. | P | suite |
//! | N.40 | `graph` 1: `create` makes an empty graph of one device, and returns a handle that differs from null and from those of other live graphs. Its parameters are data spaces of the device, each of them once; a null one, or one twice, is `ValueError`. A device that records nothing answers `Unsupported`; a host then keeps the calls itself. | P | shim, suite |
//! | N.41 | The extension `graph.record`, a `ChipdockGraphRecord` whose `flags` have bit 0, is understood in copies, and in launches (K.8) by the modules of each loader for these devices: the copy or launch becomes the last of the graph, and nothing is queued. Its arguments are read then; its stream is not used. | P | suite |
//! | N.42 | Ends of a recorded copy are data spaces of the device, pinned ones among them; two pinned ones, other host memory, and another device, may be `Unsupported`. One of size 0 may be left out. | P | suite |
//! | N.43 | A copy or launch that would be refused is refused when it is recorded, and the graph stays as it was. So are a chain with `timeline.wait` or `timeline.signal` beside `graph.record`, and a second `graph.record` (`ValueError`), an entry that is too short (`ValueError`), and a graph that is finished (`WrongState`). | P | shim, suite |
//! | N.44 | `finish` ends the recording, and waits for no work; a second one, and a `replay` before it, are `WrongState`. A graph whose `finish` failed can only be freed. A finished one may be empty. | P | suite |
//! | N.45 | `replay` waits for nothing. It queues on its stream all that was recorded, in its order, as if it were copied and launched there (D.16, D.18): each sees what those before it wrote. Wherever a parameter was an argument of a launch or an end of a copy, the argument at its place is used; all else is as it was recorded. | P | suite |
//! | N.46 | Arguments are data spaces of the device, as many as there are parameters; another number, or a null one, is `ValueError`, and nothing is queued. A host gives arguments that are no smaller than their parameters and of the same kind of memory; one may be given several times. | both | shim, suite |
//! | N.47 | A graph may be replayed any number of times, also while earlier replays are queued, on any stream and by any thread; each has its own arguments. Replays of one graph may run one after another. Whoever records into one graph on several threads orders the calls. | P | suite |
//! | N.48 | Parameters live until the recording ends. A host keeps other data spaces that were recorded, and the modules of the launches, until the graph is freed, and arguments until the replay is done. `free` frees a graph and waits for nothing; null is a success that does nothing. Queued replays take effect all the same. | both | shim, suite |
//! | N.49 | `replay` reports a failure that its stream keeps (P7.5), and does nothing then. A null graph is `ValueError`; where handles are checked (D.19) a graph that is not live or belongs to another device is `WrongState` or `ValueError`. Devices that do not exist, streams and lost devices are answered as N.15 says. | P | shim, suite |
//!
//! ## I Injection hooks
//!
//! These hooks provoke failures that no ordinary call can cause. A plugin may register plain
//! functions of these names for a device API `x`: all three or none, and then interface `reset` 1
//! of `x` too. Only tests call them.
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | I.1 | `conformance.x.fail_next_copy(device_id)`: the next copy queued on that device fails after `copy_data` returned success, with kind `IoError` and a message that says how many bytes were to be copied. It may come at any time until the stream's next report. | P | suite |
//! | I.2 | `conformance.x.out_of_memory_next(device_id)`: the next request for a data space there is `OutOfMemory`; the one after it works as usual. | P | suite |
//! | I.3 | `conformance.x.lose(device_id)`: the device is lost, and queued work on it fails. | P | suite |
//! | I.4 | The hooks are registered only with a host that answers `query` for `conformance` 1 and there requests them; no manifest lists them. `reset` ends the effects of I.1 to I.3. | P | shim, suite |
//! | I.5 | A hook called for a device that does not exist, or for none, is `ValueError` or `TypeError`. | P | suite |
//!
//! ## T Target kinds
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | T.1 | The schema is JSON of `chipdock_ir::TargetKind`; its name is the one registered. | P | host |
//! | T.2 | `canonicalize` gets a target to which the schema was applied, and queries no device. | both | review |
//! | T.3 | A target that is canonical already is returned unchanged. | P | suite |
//! | T.4 | A wrong option is `ValueError` with option, value, what is allowed and the nearest name. | P | suite |
//! | T.5 | Axes and ops of the schema are known names, scopes known ones or the plugin's own (P5.17), `global` among them; an option is there once, with a doc, a range and a default within it; each capability is read from a declared option of its type, each optional type and optional op from one of type bool; `honoured` has some of `device`, `model` and `libs`, and of later options of every kind. | P | host, suite |
//! | T.6 | The answer is canonical JSON of the same kind: `tag` and `keys` as given, options that are declared and within their ranges, integers and booleans as given. | P | host, suite |
//! | T.7 | The same text gives the same answer at every call, in every host. | P | suite |
//! | T.8 | A text that is no target of this kind is `ValueError` or returned unchanged, however malformed; the kind stays usable. | P | suite |
//! | T.9 | Kernels have only axes that the kind declares; a kind may declare none, all, or some. For a device of a kind without axes each launch is one thread (IR-K8): its kernels have no axis, and their loops are those of the function. | H | tests |
//! | T.10 | A tag of the schema has a name of 1 to 128 letters, digits, `_`, `.`, `,`, `-` and `/`, at least one of them a `/`, which no kind's name has (P5.9). Its options are of the kind, of their types and within their ranges, or those that every target has, except for `kind`, `tag` and `from_device`. | P | host, suite |
//! | T.11 | A target holds the value of an option of type `float`, a finite float64, as text: the shortest decimal that reads back equal, with a point or an exponent (`0.1`, `2.0`, `1e300`). That of a `map[str]` or `map[int]` is an object of strings or integers. So is a default. | both | host, tests |
//!
//! ## C Code generators
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | C.1 | The same request with the same fingerprint (C.35) gives the same bytes; no device is queried. | P | suite |
//! | C.2 | The module is valid, at the stage that the target kind declares, in a version from `ir_min` to `ir_max`. | H | suite |
//! | C.3 | Request and session live for the call; delivered data is copied. | H | review |
//! | C.4 | A successful build sets the index once; section names are unique. | P | host |
//! | C.5 | `unsupported` reports every node that cannot be built, each as an error diagnostic, and builds nothing; a `build` that answers `Unsupported` has reported the same ones. | P | suite |
//! | C.6 | A cancelled build answers `Cancelled`; a build never uses more threads than allowed. | P | suite |
//! | C.7 | Data delivered before a failure is dropped. | H | suite |
//! | C.8 | The index lists each function of the module by its name, with its symbol and the types of its arguments. It may list further ones. | P | host, suite |
//! | C.9 | Integers and booleans have exactly the values that the IR's specification states (its IR-N1 to IR-N5, IR-E4). | P | suite |
//! | C.10 | Floats are within the accuracy contract, including NaN, infinities, both zeros and subnormals (IR-N6, IR-N10, IR-N11). | P | suite |
//! | C.11 | Minimum, maximum, rounding and comparisons are as specified, with NaN in either place (IR-N7, IR-N8). | P | suite |
//! | C.12 | Casts wrap, truncate, saturate and round as specified (IR-N9). | P | suite |
//! | C.13 | Loads and stores access the elements that their indices, strides, offsets, lanes and predicates select (IR-E6, IR-E7, IR-B1). | P | suite |
//! | C.14 | Statements run as specified: bindings, branches, loops of each kind, early exits (IR-S1 to IR-S5). | P | suite |
//! | C.15 | Blocks run their axes, predicates, inits and reductions as specified (IR-B5 to IR-B7). | P | suite |
//! | C.16 | Allocations and views are separate memory, of the declared scope and size (IR-B2 to IR-B4). | P | suite |
//! | C.17 | Calls of functions of the module and of C functions pass arguments and results unchanged (IR-E8). | P | suite |
//! | C.18 | A failed assertion ends the function with its kind and message (IR-S6). | P | suite |
//! | C.19 | An argument that does not fit is refused before anything is written. For a wrong number of arguments `TypeError` gives the number and the expected number (`7 arguments`); for a value of another type its position, from 0, and the expected type (`argument #4`, `Tensor`, `int`, `float`); for elements of another type that too (`A.dtype`, `argument #0`, `float32`). `ValueError` names the part of a tensor that differs and both values (`A.ndim`, `A.shape[1]`, `A.strides`; `A` and `device`), and a scalar outside the range of its type by name, position and value (`u`, `argument #3`, `256`). | P | suite |
//! | C.20 | Every argument that fits is accepted: any offset of whole elements, any stride of an axis of one element, empty tensors, every value of a scalar. | P | suite |
//! | C.21 | A call writes what the function writes and nothing else; a second call does the same. | P | suite |
//! | C.22 | Functions of one module do not affect each other; an artifact that was saved and read again gives the same results. | both | suite |
//! | C.23 | Each thread of a launch runs the body once, with its indices (IR-K1, IR-K2). | P | suite |
//! | C.24 | Barriers order memory between the threads of a block, including shared and dynamic shared memory (IR-K3 to IR-K5). | P | suite |
//! | C.25 | Cross-thread reductions, atomic operations and warp operations are as specified (IR-K6, IR-K7). | P | suite |
//! | C.26 | A section's kind is a word of letters, digits, `_`, `.` and `-`: `code`, `constants`, `debug`, `source`, or one that loaders may ignore. Its alignment is a power of two up to 65536. | P | host, suite |
//! | C.27 | An unreadable request is `ValueError`, however malformed; the generator stays usable. | P | suite |
//! | C.28 | Unknown options are ignored; the thread limit and the questions asked do not change the artifact. | P | suite |
//! | C.29 | Every published version from `ir_min` to `ir_max` is read. | P | suite |
//! | C.30 | Any valid module computes what the specification says, as a whole as in its parts. | P | suite |
//! | C.31 | The `line` and `column` of a diagnostic are those that the document gives for its node, or both 0 where they are unknown; its message does not repeat them. | P | suite |
//! | C.32 | During a call, the functions of its session may be called from any thread. | H | tests |
//! | C.33 | An empty `options_json` is an object without keys. | P | suite |
//! | C.34 | A section of a request to which no node refers is ignored. | P | suite |
//! | C.35 | `fingerprint` returns a text that differs whenever one build of the plugin (one library) might give other bytes for the same request: the compiler that is found, its version, active hooks; or None where that is unknown. At most it opens the vendor library. | P | suite |
//! | C.36 | `fingerprint` returns the same text for the same request as long as the host lives and nothing that it covers has changed. | P | suite |
//! | C.37 | An artifact built where `fingerprint` returns None is not kept for another build. | H | tests |
//! | C.38 | A host of ABI major 1 writes every published version 1.x of the IR's wire format. What `ir_max` lacks is lowered or converted to what it has; only what no version up to it can say is `Unsupported`. | H | tests |
//! | C.39 | What a host built for a code generator, every later host of the major builds for it. | H | review |
//! | C.40 | A module at stage `host` or `device` has only what STAGE-H or STAGE-D of `chipdock_ir::stage` state, in the version that is written. | H | tests |
//! | C.41 | A code generator that delivers the text of a language asks for the functions of [`hooks`], which plugins and the program register: `<kind>.postprocess_source` for each source and, where it runs a compiler or its loader does, `<kind>.compile_source` in place of the compiler, whose answer is the section `code`. Its `fingerprint` contains what `<hook>.fingerprint` answers, and is None where a hook has none. No library without a manifest is opened for a hook. | both | tests |
//! | C.42 | Interface `progress` 1 of a session is for the user who waits: `step` says what the build is at, one line, and changes nothing about the build. It answers success, whatever the host does with the text. | H | tests |
//! | C.43 | Each section that a node of the document names is in the request, once: a constant's (IR-B8), called by the SHA-256 of its bytes (WIRE-W10) and of kind `constants`. Its bytes lie at a multiple of its alignment, which is a power of two up to 65536; 1 is allowed. | H | tests |
//! | C.44 | A request without a section that a node names is `ValueError`, and so is one in which that section has another size, other bytes, or an alignment that it does not keep. | P | shim, tests |
//! | C.45 | Elements of constants are loaded with exactly their bits, from everywhere where the constant is declared (IR-B8); a code generator that writes no constants reports their declarations (C.5). | P | tests |
//!
//! ## M Modules and loaders
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | M.1 | A loader's `destroy` is called once, after every other call of the loader; its modules may outlive it. | both | review |
//! | M.2 | An artifact that does not fit is a `verdict` with a reason, not an error. | P | suite |
//! | M.3 | Artifact, sections and texts live for the call; sections have their declared alignment. | H | review |
//! | M.4 | The environment lives until the loader releases it: once, when no module and no function can use it any more; also where `load` failed. | both | suite |
//! | M.5 | A module's `destroy` is called once; its functions keep what they need. | both | suite |
//! | M.6 | An unknown function is None, not an error. | P | suite |
//! | M.7 | Compiled code reaches the host only through the environment. | P | review |
//! | M.8 | A failed load leaves nothing behind, including files. | P | suite |
//! | M.9 | An artifact that was built here loads; a damaged one is refused with a typed error, or loads; it never causes a crash. | P | suite |
//! | M.10 | An artifact may be loaded many times, at once and one after the other; each module is independent. | P | suite |
//! | M.11 | Sections and index fields that are unknown to a loader are ignored; stricter alignment is allowed. | P | suite |
//! | M.12 | Functions of host memory also run with a null environment, using their own fallbacks; the errors that they raise reach no host then (X.11). So do kernels: on device 0 of their type, on the stream that the host's table names. | P | suite |
//! | M.13 | An artifact that was written to a file and read back loads and computes the same. | both | suite |
//! | M.14 | An artifact with an ignored extension loads as it does without it; an unknown mandatory one is an error of `verdict` and of `load`, `Unsupported`. | P | suite |
//! | M.15 | `object` 1 of a loader: `object` writes an artifact's code as Bytes: one relocatable object in the format of the machine that the artifact was built for, on Linux ELF. It is position-independent, defines each symbol of the index and, where the code needs a host, `__chipdock_env` (X.3), all of them visible; no other symbol that it defines is visible outside of what it is linked into. | P | suite |
//! | M.16 | What that object uses and does not define is of the C library, including mathematics and `dlsym`, of the run time that every linker of that machine adds for its compiler, or a C function that the module calls. | P | suite |
//! | M.17 | Its bytes depend on the artifact and the tools alone: they are the same at every call, in every host, and on every processor unless the artifact's target asks for the processor at hand. | P | suite |
//! | M.18 | `object` does not ask whether the code runs here. An artifact of another kind or format is `ValueError`; a damaged one is refused with a typed error or gives an object; a missing tool is `Unavailable`, with what was tried. Extensions are treated as by `load` (M.14). | P | suite |
//! | M.19 | `object` leaves no file behind, whether it succeeds or fails. | P | suite |
//! | M.20 | Code that may use extensions which some processors of its machine lack says so: it defines `__chipdock_needs`, hidden in an object, a text of the extensions' names with spaces between, which ends with a zero; without it, it needs none. Names are those of `object_code::needs`; others are ignored. A loader refuses such code on another processor, with the names (`Unsupported`); an exported library does the same. | P | tests |
//! | M.21 | An artifact file begins with the eight bytes `CHIPDOCK`, the version 2 as 4 bytes, 4 zero bytes, the size of a document as 8 bytes, and its SHA-256 as 32 bytes, numbers little-endian; the document, which is JSON, follows, then the sections. A file of another version, one that ends too early and one of which a digest differs are refused as a whole. | H | tests |
//! | M.22 | Its document has `modules`: each module once, after those that it imports, so that the last is what was compiled. A module has `sha256`, `index` and `target`, texts as the code generator wrote the one and got the other, `sections`, `imports`, which is the `sha256` of each, and `signatures`, which no loader is given. | H | tests |
//! | M.23 | A section has `name`, `kind`, `alignment_bytes`, `offset_bytes`, `size_bytes` and `sha256`. Offsets are multiples of the alignment, and count from the first byte after the document that is a multiple of the greatest alignment of all sections of the file. | H | tests |
//! | M.24 | The `module_kind` of an index names the loader. The `kind` of a target names a target kind, whose schema says on which `device` the functions run and, by `is_host`, whether they are packed functions of host code, which take tensors, or kernels (K). | both | tests |
//! | M.25 | `verdict` and `load` get a module alone. `verdict` is asked for the device of M.24; a host may load without it. What a module imports is loaded before one of its functions is called, and reached by `imported` (X.7). | H | tests |
//!
//! ## K Kernels of device modules
//!
//! A kernel is a function of a module for a device. Its arguments are pointers and scalars, as the
//! index types them; its launch parameters are in the index too ([`kernel`]).
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | K.1 | Launch parameters are thread axes (`blockIdx.x` to `threadIdx.z`), each an extent and once; `tirx.use_cooperative_launch`, which has no value; and `tirx.use_dyn_shared_memory`, the bytes of dynamic shared memory, which is last. | both | shim |
//! | K.2 | An axis that is not listed has extent 1; a kernel that lists none runs once, in one thread. An extent of 0 launches nothing, with success. | P | shim, suite |
//! | K.3 | A packed call has the arguments in order, then an integer for each launch parameter that has a value. A pointer is a handle as the device API returns it, or None for null; the offset at which a tensor begins is a separate scalar with `opaque_handles`, otherwise it is added to the pointer; it counts elements. A scalar is an integer, a boolean or a float, and fits its type. The index names neither the arguments nor the extents of a launch: the function of the host that launches the kernel knows them. | both | shim |
//! | K.4 | A packed call runs on the thread's current device of the kernel's type, on its current stream; it returns when the kernel is queued. | P | tests |
//! | K.5 | Interface `launch` 1 of a module returns each kernel of the index as an entry, which lives as long as the module, with the type of its device; for a name that is no kernel the entry is null. | P | suite |
//! | K.6 | `launch` does what the packed call does, on the device and the stream that the request names; it does not ask the host for them, and changes neither. | P | suite |
//! | K.7 | The values of the arguments are read before `launch` returns: eight bytes for a handle, and for a scalar the size of its type. | P | suite |
//! | K.8 | A request with a wrong number of arguments, with extents of axes or dynamic shared memory that the kernel does not have, or with a device that does not exist, is a typed error, and nothing is launched; a handle of a stream that is not live is treated as by D.19. | P | shim, suite |
//! | K.9 | A launch parameter or a type of an argument that is not known makes its kernel alone unusable: whoever asks for it is answered `Unsupported`, with the kernel and what is not known. The other functions of its artifact work as usual. | both | shim, tests |
//!
//! ## X Compiled code: entry symbols and the environment
//!
//! Artifacts of host code and their loaders rely on these clauses. They are compiled into objects,
//! which outlive plugins.
//!
//! | | Clause | By | Checked |
//! |---|---|---|---|
//! | X.1 | A packed function is an exported C function with the signature of TVM-FFI's safe call, under the symbol in the index: `__tvm_ffi_` followed by its name. | P | tests |
//! | X.2 | It does not read its `self_`, which depends on the caller: a function object of Chipdock's or of TVM-FFI's, or null. | P | tests |
//! | X.3 | Code that needs a host exports a variable `__chipdock_env`, a `const ChipdockEnv *` that is null in the artifact. | P | tests |
//! | X.4 | A loader sets that variable once, before any function of the image can be called. | P | review |
//! | X.5 | A loaded module has variables of its own: its code is linked in memory, or opened from a file that nothing else opens, such as a copy. So two hosts that load one artifact or one library at once each have their own environment. | P | suite, tests |
//! | X.6 | The environment's versions are its own: a host of any ABI major offers version 1 to code that relies on version 1, because exported libraries outlive majors. Code relies on the slots of the version that its index names (X.12), and asks for the rest by `query`. | both | review |
//! | X.7 | It asks for an imported function once, keeps the answer in a variable of the image, and calls its `safe_call` with it as `self_`. Threads may ask twice. | P | tests |
//! | X.8 | The answer of `imported` does not change and may be called until the environment is released. | H | tests |
//! | X.9 | A failing function has called `raise`, with the location as far as it is known, and returns -1; a failure of the environment or of an imported function is passed on unchanged. | P | tests |
//! | X.10 | A function of the environment that fails has raised the error; `current_stream` and `current_device` fail for a host that is gone and for a device that it does not know. | H | tests |
//! | X.11 | Where the variable is null, errors go to TVM-FFI's function if the process has it; workspace is plain memory; a parallel region is one task; functions that need a host (imported functions, devices) are `Unavailable`. | P | tests |
//! | X.12 | The field `env` of an artifact's index is the version of the environment on which its code relies; without the field it is 1. Code that relies on a later version than the host provides is not loaded (`Unavailable`, with both versions). | H | tests |
//! | X.13 | Interface `interrupt` 1 of the environment: `go_on` answers 0, or -1 with an error raised where the call that runs on this thread, or for which this thread runs a task of a parallel region, is to end. It may be called from any thread and as often as wanted: it costs nanoseconds, but for what the caller itself is asked, at most every 20 ms and on the caller's thread alone. | H | tests |
//! | X.14 | The error is `Cancelled` where the caller cancelled the call, `TimeoutError` after its deadline, and otherwise the one with which the caller answered. Within a parallel region it is the same for every task that asks from then on. | H | tests |
//! | X.15 | A loop of host code that may run for more than 0.1 s asks `go_on` more often than that as far as its code generator can tell; a device's kernel never does. Code asks for the interface once for an image, and where there is none, where `query` fails, and where the environment is null, it runs to its end. | P | tests |
//! | X.16 | A function that was told to end fails as X.9 says: outputs may be written in part, workspace is freed, and the function may be called again. | P | tests |

#[cfg(feature = "layout-check")]
pub mod attestation;
pub mod attribute;
pub mod cpu;
pub mod dtype;
pub mod extension;
#[cfg(feature = "files")]
pub mod files;
pub mod held;
pub mod hooks;
#[cfg(feature = "ir")]
pub mod index;
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
#[cfg(feature = "ir")]
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
pub mod exchange;
mod export;
pub mod external;
mod function;
pub mod graph;
mod host;
pub mod interface;
pub mod map;
mod memory;
pub mod memory_async;
mod module;
pub mod names;
mod nd_alloc;
mod object;
pub mod object_code;
mod registration;
mod session;
mod string;
mod target_kind;
mod tensor;
pub mod timeline;
pub mod timer;
mod trampoline;
mod tvm_env;
pub mod workspace;

/// The structs of the boundary.
pub use chipdock_abi as abi;

pub use any::{Any, AnyView, argument};
pub use chipdock_abi::{ChipdockDataType, ChipdockDevice, ChipdockTensor};
pub use codegen::{BuildRequest, BuildSession, Codegen, Diagnostic, SectionKind, Severity};
pub use container::{Array, Shape};
pub use context::{Context, HostState};
pub use convert::FromAny;
pub use device_api::{CopyEnd, CopyRequest, DataSpaceKind, DataSpaceRequest, DeviceApi, Stream};
pub use dlpack::{Access, Required};
pub use error::{Error, ErrorKind, Fault};
pub use function::Function;
pub use host::{HostRef, LogLevel};
pub use interface::{Interface, InterfaceKind};
pub use module::{Artifact, Env, Module, ModuleLoader, Section, Verdict};
pub use nd_alloc::{EnvTensorAlloc, NdAlloc, strided_size_bytes};
pub use object::{ObjectRef, WeakRef};
pub use registration::{PluginFunction, Registration, registrations};
pub use setting::Setting;
pub use string::{Bytes, Str};
pub use target_kind::{SchemaOnly, TargetKind};
pub use tensor::{CPU, Element, Tensor, TensorParts, TensorView, element_count, size_bytes};
pub use trampoline::caught;
pub use tvm_env::{TvmAllocatorGuard, TvmEnv, TvmStreamGuard};

/// Items for the expansion of the macros; not for direct use.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "layout-check")]
    pub use abi_stable::library::{__call_root_module_loader, LibHeader, RootModuleResult};
    pub use inventory;

    pub use crate::registration::{init, release, shutdown};

    #[cfg(feature = "layout-check")]
    pub use crate::attestation::{PluginRootRef, lib_header, root_module};

    /// Returns the given text, or the default if none is given.
    #[must_use]
    pub const fn or(given: &[&'static str], default: &'static str) -> &'static str {
        match given {
            [given, ..] => given,
            [] => default,
        }
    }

    /// Returns a text that is given by its bytes as a string of the boundary.
    #[must_use]
    pub const fn static_bytes(text: &'static [u8]) -> crate::abi::ChipdockStr {
        crate::abi::ChipdockStr { data: text.as_ptr().cast(), size: text.len() }
    }

    /// Returns true if `name` is a valid name of a plugin.
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
