//! `libchipdock.so`: the host as a library, for programs in C, C++ and Python.
//!
//! It is a library of TVM-FFI: Python loads it with `tvm_ffi.load_module`, C and C++ use
//! `include/chipdock_host.h`. It links nothing of TVM-FFI's, and works in a process without it.
//!
//! * **FFI-1 Functions.** Each function of `table` is exported as `__tvm_ffi_<name>`, with
//!   `__tvm_ffi__metadata_<name>` (its type schema, and the names of its arguments) and
//!   `__tvm_ffi__doc_<name>`. When the library is loaded into a process that has libtvm_ffi, each
//!   is also registered as the global function `chipdock.<name>`; a name that is taken (another
//!   copy of this library was first) is left alone. Arguments of an `| None` type may be left out
//!   at the end.
//! * **FFI-2 Objects.** Hosts, targets, modules, streams, timelines and graphs are objects of the
//!   types `chipdock.Host`, `chipdock.Target`, `chipdock.Module`, `chipdock.Stream`,
//!   `chipdock.Timeline` and `chipdock.Graph`. Where the process has libtvm_ffi they are registered
//!   there, with the functions that take one first as their methods (`chipdock.module_function` is
//!   `chipdock.Module.function`); elsewhere they are objects of no known type. An object keeps what
//!   it needs alive; an object of another copy of this library is refused.
//! * **FFI-3 Errors.** A function that fails returns -1 (-2 in the case of FFI-8), and its error is
//!   in libtvm_ffi's slot of this thread if the process has libtvm_ffi, else in this library's.
//!   `chipdock_take_error` takes it from either. Kinds are those of the boundary; a message shows
//!   the lines of a kernel that it is about. No input makes a function panic.
//! * **FFI-4 Functions as values.** A function of a module is a function object of TVM-FFI. A
//!   function among its arguments, a Python callback for instance, can be called by compiled code
//!   and by plugins; errors pass both ways with kind, message and traceback as they were (rules
//!   VALUE-F1 to VALUE-F3 of the host).
//! * **FFI-5 Streams.** `set_stream` makes a stream current on this thread, here and in TVM-FFI's
//!   environment. A call of a module's function with a tensor of a device runs on the stream that
//!   TVM-FFI's environment has for it, as torch sets it: one of ours, or a native one, which is
//!   adopted by interface `external` 1 of the device; a device without that interface refuses it.
//! * **FFI-6 Embedded modules.** `ffi.Module.load_from_bytes.chipdock` makes a module of TVM-FFI's
//!   of an embedded artifact. So in a process with this library, stock TVM-FFI loads exported
//!   libraries with device code; its kernels run on the devices of the process's host. A process
//!   can load 8,192 functions that way; equal artifacts are loaded once.
//! * **FFI-7 Host of the process.** `host` without options returns the one host of the process,
//!   made by the first call, anew in a forked child. Plugins are searched for as the command does
//!   it, with the folder `plugins` beside this library in place of that beside the executable.
//! * **FFI-8 Threads.** Every function may be called from any thread at once. In Python a call
//!   releases the lock. `compile` looks for signals while it runs: Ctrl-C gives the build up, in
//!   each of its phases and however it was called. Calls of functions look for them as FFI-12 says.
//!   Where the handler of a signal raised an error in the caller's language, the call's error has
//!   TVM-FFI's kind for that, `EnvErrorAlreadySet`, and its status -2: each release of TVM-FFI
//!   knows one of them, or both. Other calls run to their end, and the handler runs after them.
//! * **FFI-9 Results.** A call of a module's function may leave out its last buffers, where the
//!   artifact knows its signature: they are allocated on the device of the call's first tensor
//!   (host memory without one), with the extents that the arguments determine, and returned, one as
//!   it is and several as a list.
//! * **FFI-10 Progress.** `compile` calls its function `progress`, on the thread that called
//!   `compile`, with each step as it begins: its name, one of the spans of `chipdock_host::trace`
//!   (`lower`, `pass`, `build`, `load`), what it works on (a pass, a target, a plugin; an empty
//!   text where there is nothing to say) and the seconds since the beginning. A step `codegen` is
//!   one that a code generator names (C.42): its target kind and its words. The last is `done`
//!   with `built` or `cached`. An error of `progress` gives the build up and is raised.
//! * **FFI-11 The program's.** `register_function` gives a host a function of the program, by rules
//!   PROGRAM-F1 to PROGRAM-F5 of the host, and `import_module` a module its imports, by COMPOSE-I1
//!   to COMPOSE-I4. A host of one's own and that of a forked child have none of them.
//! * **FFI-12 Long calls.** A call of a function of a module ends before its code is done by rules
//!   CALL-E1 to CALL-E5 of the host: on the main thread of the process at a signal whose handler
//!   raises an error, however it was called; and for `run_with` at its timeout, and by an error of
//!   its `on_ask`. So Ctrl-C in Python ends a long loop within a tenth of a second.
//! * **FFI-13 Graphs.** Between `record_begin` and `record_end` on one thread, by rules GRAPH-G1 to
//!   GRAPH-G7 of the host. A result that a call allocates (FFI-9) is kept by the graph, which
//!   writes it anew at each replay.
//!
//! # Where is what
//!
//! | Module | Content |
//! |---|---|
//! | `table`, `entry`, `register` | the functions with their documentation; their symbols; their names in libtvm_ffi |
//! | `hosts`, `compiling`, `modules`, `streams`, `tensors` | what they do, by object; `progress`, `signals`: steps of a build, and Ctrl-C |
//! | `functions` | a call of a module's function, with `outputs` that it leaves out; `running` is `Module.run` |
//! | `objects`, `side`, `process` | types of objects, errors of the callers, the host of the process |
//! | `c_api`, `embedded` | programs without libtvm_ffi; modules in exported libraries |

mod c_api;
mod compiling;
mod embedded;
mod entry;
mod functions;
mod graphs;
mod hosts;
mod modules;
mod objects;
mod outputs;
mod process;
mod progress;
mod register;
mod running;
mod side;
mod signals;
mod streams;
mod table;
mod tensors;
mod timelines;
