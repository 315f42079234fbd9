//! The functions of the library, with their documentation (FFI-1).

use std::ffi::c_void;

use chipdock_abi::ChipdockAny;

use crate::entry::key::{
    BOOL, BYTES, DEVICE, DTYPE, FFI_MODULE, FUNCTION, GRAPH, HOST, INT, MODULE, NONE, SHAPE, STR, STREAM,
    TARGET, TENSOR, TIMELINE,
};
use crate::entry::{Entry, Type, entries, packed, run as run_entry};
use crate::{
    compiling, embedded, graphs, hosts, modules, register as registration, running, streams, tensors,
    timelines,
};

entries! {
    /// Returns the version of this library.
    fn version() -> STR, hosts::version;
    /// Registers the library's functions and types with the libtvm_ffi of the process, as loading
    /// the library does; for a process that got libtvm_ffi later. Returns whether it has one.
    fn register() -> BOOL, registration::register_now;
    /// Returns the host of the process; with options a new host. Options are a JSON object:
    /// `plugin_paths` (libraries or folders), `isolated` (only those), `select` and `disable`
    /// (globs of plugins' names), `prefer` (plugin by key), `trust` (paths), `settings`
    /// (`{"plugin": {"name": "value"}}`), `locked` (path of a lock file), `threads`, `log` (what is
    /// written to stderr: `off`, `error`, `warning`, `info` or `debug`; by default warnings).
    fn host(options: Type::Optional("ffi.String")) -> HOST, hosts::host;
    /// Returns every plugin that was met, with its state and the reason where it is not used, the
    /// places of the search, and the keys with the plugins that provide them; a JSON object. Opens
    /// nothing.
    fn plugins(host: HOST) -> STR, hosts::plugins;
    /// Opens a plugin now, instead of when it is first needed, and returns its report; a JSON
    /// object.
    fn open_plugin(host: HOST, name: STR) -> STR, hosts::open_plugin;
    /// Returns the plain function that the program or a plugin registered under a name, or None.
    fn function(host: HOST, name: STR) -> Type::Optional("ffi.Function"), hosts::function;
    /// Registers a function of the program under a name, as a plugin registers one: for `function`,
    /// for compiled code that calls it by name, and as a hook of code generators, such as
    /// `cuda.postprocess_source`. The fingerprint is a text that identifies it among the functions
    /// of all programs of the user: what is built with a hook that has none is not cached. With
    /// `replace` it takes the place of one that was registered before; otherwise that is an error.
    fn register_function(
        host: HOST,
        name: STR,
        function: FUNCTION,
        fingerprint: Type::Optional("ffi.String"),
        replace: Type::Optional("bool"),
    ) -> NONE, hosts::register_function;
    /// Takes back a function that the program registered; returns whether there was one.
    fn unregister_function(host: HOST, name: STR) -> BOOL, hosts::unregister_function;
    /// Returns every device API with its devices and their attributes, or the reason why there are
    /// none; a JSON object.
    fn devices(host: HOST) -> STR, hosts::devices;
    /// Returns every target kind with the target of its defaults, or the reason why it cannot be
    /// used here, and the kind of the default host target; a JSON object.
    fn targets(host: HOST) -> STR, hosts::targets;
    /// Returns the tags by name, each with its kind and the options of a target for it; a JSON
    /// object. Opens no plugin that has a manifest.
    fn target_tags(host: HOST) -> STR, hosts::target_tags;
    /// Returns the device of a name, NAME or NAME:ID.
    fn device(host: HOST, name: STR) -> DEVICE, hosts::device;
    /// Returns the name of a device, NAME:ID.
    fn device_name(host: HOST, device: DEVICE) -> STR, hosts::device_name;
    /// Returns an attribute of a device, or None if it is not known; a list is its JSON text.
    fn device_attribute(host: HOST, device: DEVICE, key: STR) -> Type::Any, hosts::device_attribute;
    /// Returns what a device can do: `memory` (each kind that it has, with its scopes),
    /// `interfaces` (named interfaces of its device API), `streams` (whether it has some besides
    /// the default one), `checked_handles`; a JSON object.
    fn device_capabilities(host: HOST, device: DEVICE) -> STR, hosts::device_capabilities;
    /// Waits until all work of a device is done.
    fn device_sync(host: HOST, device: DEVICE) -> NONE, hosts::device_sync;
    /// Returns a target: of the name of a kind or a tag, or of a JSON object, by default that of
    /// the host; with the target of its host functions; for a device NAME:ID of which unset options
    /// are taken.
    fn target(
        host: HOST,
        source: Type::Optional("ffi.String"),
        host_target: Type::Optional("ffi.String"),
        from_device: Type::Optional("ffi.String"),
    ) -> TARGET, hosts::target;
    /// Returns the canonical JSON of a target.
    fn target_json(target: TARGET) -> STR, hosts::target_json;
    /// Compiles a kernel and loads it; code for another machine stays what can be written to a
    /// file. The source is TVMScript, or a module in the wire format; the target is a target, the
    /// name of a kind or a tag, JSON, or None for the default one. Options are a JSON object:
    /// `file` (name for messages), `host` (target of the host functions), `device` (NAME or
    /// NAME:ID, whose limits the target takes where its source sets none), `schedule` (`auto` or
    /// `none`), `threads_max`, `emit` (outputs of the code generator to keep, such as `asm`; one
    /// that the target does not have is an error), `codegen` (its options), `cache` (false to leave
    /// the compile cache alone). `progress` is called on this thread with each step (FFI-10).
    fn compile(
        host: HOST,
        source: STR,
        target: Type::Any,
        options: Type::Optional("ffi.String"),
        progress: Type::Optional("ffi.Function"),
    ) -> MODULE, compiling::compile;
    /// Returns a kernel as it is scheduled for a target, as TVMScript; arguments as of `compile`.
    fn lower(
        host: HOST,
        source: STR,
        target: Type::Any,
        options: Type::Optional("ffi.String"),
    ) -> STR, compiling::lower;
    /// Loads a built file: an artifact, a library or an archive of Chipdock's, or a library that
    /// others made for TVM-FFI.
    fn load(host: HOST, path: STR) -> MODULE, modules::load;
    /// Loads the bytes of an artifact.
    fn load_bytes(host: HOST, data: BYTES) -> MODULE, modules::load_bytes;
    /// Returns a function of a module, or of one that it imports. A call may leave out the last
    /// buffers: they are then allocated and returned.
    fn module_function(module: MODULE, name: STR) -> FUNCTION, modules::module_function;
    /// Adds a module to those that another one imports: its functions are found there by name, also
    /// by compiled code that calls them.
    fn import_module(module: MODULE, import: MODULE) -> NONE, modules::import_module;
    /// Returns the names of a module's functions.
    fn module_functions(module: MODULE) -> Type::Array("ffi.String"), modules::module_functions;
    /// Returns what a module has: its functions with their parameters, its target, format, sections
    /// and imports, and what is missing to call it; a JSON object.
    fn module_describe(module: MODULE) -> STR, modules::module_describe;
    /// Returns the source that a module was made of, that of its kernels where it imports them; or
    /// another output of the code generator that was kept, such as `asm`. None where there is none.
    fn module_source(
        module: MODULE,
        form: Type::Optional("ffi.String"),
    ) -> Type::Optional("ffi.String"), modules::module_source;
    /// Returns a module that was compiled here as its code generators were given it, as TVMScript;
    /// None for one that was loaded.
    fn module_lowered(module: MODULE) -> Type::Optional("ffi.String"), modules::module_lowered;
    /// Returns the canonical JSON of the target that a module was compiled for.
    fn module_target(module: MODULE) -> STR, modules::module_target;
    /// Returns the bytes of a module's artifact, for `load_bytes` on another machine.
    fn module_bytes(module: MODULE) -> BYTES, modules::module_bytes;
    /// Writes a module to a file: a library (`.so`), an archive for a linker (`.tar`) or its
    /// artifact (`.chipdock`). Options are a JSON object: `device_code_aside` (true: device code
    /// goes to a file beside the library), `linker`.
    fn module_export(
        module: MODULE,
        path: STR,
        options: Type::Optional("ffi.String"),
    ) -> NONE, modules::module_export;
    /// Calls a function of a module on a device: tensors that are elsewhere are copied there
    /// before, and back afterwards unless they are read-only. Returns when the work is done.
    fn run(module: MODULE, name: STR, device: DEVICE, args: Type::Rest) -> Type::Any, running::run;
    /// As `run`, with what ends it before it is done. Options are a JSON object: `timeout_s`, the
    /// seconds after which it ends with TimeoutError. `on_ask` is called without arguments on this
    /// thread, at most every 20 ms while host code runs; an error of it ends the run (FFI-12).
    fn run_with(
        module: MODULE,
        name: STR,
        device: DEVICE,
        options: Type::Optional("ffi.String"),
        on_ask: Type::Optional("ffi.Function"),
        args: Type::Rest,
    ) -> Type::Any, running::run_with;
    /// Makes a tensor whose elements are not initialised.
    fn empty(host: HOST, shape: SHAPE, dtype: DTYPE, device: DEVICE) -> TENSOR, tensors::empty;
    /// Makes a tensor whose elements are not initialised, in memory of a kind: `device`, `pinned`,
    /// `host-visible` or `unified`; of a scope, by default `global`; at a multiple of so many
    /// bytes. A pinned tensor is one of `cpu:0`, whose memory the device copies at full speed. What
    /// the device does not have is an error (MEMORY-K2).
    fn empty_in(
        host: HOST,
        shape: SHAPE,
        dtype: DTYPE,
        device: DEVICE,
        kind: Type::Optional("ffi.String"),
        scope: Type::Optional("ffi.String"),
        alignment_bytes: Type::Optional("int"),
    ) -> TENSOR, tensors::empty_in;
    /// Returns the kind of a tensor's memory, as of `empty_in`, or None where the host did not make
    /// it.
    fn memory_kind(host: HOST, tensor: TENSOR) -> Type::Optional("ffi.String"), tensors::memory_kind;
    /// Returns the scope of a tensor's memory, or None where the host did not make it.
    fn scope(host: HOST, tensor: TENSOR) -> Type::Optional("ffi.String"), tensors::scope;
    /// Waits for the work of the current stream, and returns the address at which this process
    /// reads and writes the elements in place, as a number; 0 where there are no elements. It is
    /// valid as long as the tensor; calls and work that use the tensor meanwhile, other threads'
    /// copies too, are the caller's to order. `Unsupported` where the memory has no such address.
    fn map(host: HOST, tensor: TENSOR) -> INT, tensors::map;
    /// Makes a tensor of zeros.
    fn zeros(host: HOST, shape: SHAPE, dtype: DTYPE, device: DEVICE) -> TENSOR, tensors::zeros;
    /// Makes a copy of a tensor on a device.
    fn to_device(host: HOST, tensor: TENSOR, device: DEVICE) -> TENSOR, tensors::to_device;
    /// Returns where the elements of a tensor are: its data pointer, as a number, and the offset of
    /// the first element from it, in bytes.
    fn tensor_place(tensor: TENSOR) -> SHAPE, tensors::tensor_place;
    /// Returns another view of a tensor's elements, which shares and keeps its memory: extents and
    /// strides in elements, and the first element, counted from that of the tensor.
    fn as_strided(tensor: TENSOR, shape: SHAPE, strides: SHAPE, offset: INT) -> TENSOR, tensors::as_strided;
    /// Copies the elements of a tensor to another of the same shape and element type.
    fn copy(host: HOST, source: TENSOR, destination: TENSOR) -> NONE, tensors::copy;
    /// Returns the elements of a tensor, row-major.
    fn to_bytes(host: HOST, tensor: TENSOR) -> BYTES, tensors::to_bytes;
    /// Makes a tensor of elements, row-major.
    fn from_bytes(host: HOST, data: BYTES, shape: SHAPE, dtype: DTYPE, device: DEVICE) -> TENSOR, tensors::from_bytes;
    /// Makes a stream of a device.
    fn stream(host: HOST, device: DEVICE) -> STREAM, streams::stream;
    /// Makes a stream current for its device on this thread, or the default one for None; returns
    /// the one before, or None.
    fn set_stream(
        host: HOST,
        device: DEVICE,
        stream: Type::Optional("chipdock.Stream"),
    ) -> Type::Optional("chipdock.Stream"), streams::set_stream;
    /// Waits until all work of a stream is done.
    fn stream_sync(stream: STREAM) -> NONE, streams::stream_sync;
    /// Makes later work of a stream wait for the work that is queued on another now.
    fn stream_wait_for(stream: STREAM, other: STREAM) -> NONE, streams::stream_wait_for;
    /// Returns the native stream below a stream, such as a `CUstream`, as a number.
    fn stream_native(stream: STREAM) -> INT, streams::stream_native;
    /// Returns the device of a stream.
    fn stream_device(stream: STREAM) -> DEVICE, streams::stream_device;
    /// Makes a timeline of a device: a value, at first `initial`, that rises as streams and the
    /// host signal it.
    fn timeline(host: HOST, device: DEVICE, initial: INT) -> TIMELINE, timelines::timeline;
    /// Returns the value that a timeline has reached.
    fn timeline_value(timeline: TIMELINE) -> INT, timelines::timeline_value;
    /// Makes a timeline reach a value, after the signals that are queued.
    fn timeline_set(timeline: TIMELINE, value: INT) -> NONE, timelines::timeline_set;
    /// Waits until a timeline has reached a value and returns true; or false when so many
    /// nanoseconds have passed first. It may be called before the signal.
    fn timeline_wait(timeline: TIMELINE, value: INT, timeout_ns: Type::Optional("int")) -> BOOL, timelines::timeline_wait;
    /// Returns the device of a timeline.
    fn timeline_device(timeline: TIMELINE) -> DEVICE, timelines::timeline_device;
    /// Makes a timeline reach a value when the work that a stream has is done.
    fn stream_signal(stream: STREAM, timeline: TIMELINE, value: INT) -> NONE, timelines::stream_signal;
    /// Makes later work of a stream wait until a timeline has reached a value, for which a signal
    /// is queued.
    fn stream_wait(stream: STREAM, timeline: TIMELINE, value: INT) -> NONE, timelines::stream_wait;
    /// Queues a copy of the elements of a tensor to another on a stream of the device of one of
    /// them, and does not wait; both are kept until the stream is synchronised. Nobody may write
    /// the source or use the destination before the copy is done, except by work that is ordered
    /// after it.
    fn copy_on(host: HOST, source: TENSOR, destination: TENSOR, stream: STREAM) -> NONE, streams::copy_on;
    /// Begins to record what this thread launches and copies on a device: until `record_end` it
    /// does not run. In place of the parameters, tensors of the device, each replay uses its
    /// arguments.
    fn record_begin(host: HOST, device: DEVICE, parameters: Type::Rest) -> NONE, graphs::record_begin;
    /// Keeps a tensor that is no parameter as long as the graph that this thread records, whose
    /// kernels may then use it.
    fn record_keep(host: HOST, tensor: TENSOR) -> NONE, graphs::record_keep;
    /// Ends the recording of this thread, and returns the graph; or raises the first error of what
    /// was recorded.
    fn record_end() -> GRAPH, graphs::record_end;
    /// Ends the recording of this thread without a graph; where there is none, does nothing.
    fn record_give_up() -> NONE, graphs::record_give_up;
    /// Queues all that a graph recorded on a stream, by default the current one of this thread,
    /// with these tensors in place of the parameters, and does not wait. Each has the type, shape
    /// and kind of memory of its parameter. They overlap no more than the parameters did, and the
    /// caller orders other work on them.
    fn graph_replay(graph: GRAPH, stream: Type::Optional("chipdock.Stream"), arguments: Type::Rest) -> NONE, graphs::graph_replay;
    /// Returns the device of a graph.
    fn graph_device(graph: GRAPH) -> DEVICE, graphs::graph_device;
    /// Returns the number of launches and copies of a graph.
    fn graph_size(graph: GRAPH) -> INT, graphs::graph_size;
    /// Makes a module of TVM-FFI's of an embedded artifact: what
    /// `ffi.Module.load_from_bytes.chipdock` does.
    fn load_embedded(data: BYTES) -> FFI_MODULE, embedded::load_embedded;
}
