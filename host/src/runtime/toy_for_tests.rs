//! Plugin that the tests of this crate register with every host: a device with streams, a target
//! kind, its code generator and its loader. It is registered in the same way as the host's own
//! device.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use chipdock_plugin_api as api;
use chipdock_plugin_api::memory_async::{AsyncMemory, MEMORY_ASYNC};
use chipdock_plugin_api::workspace::{WORKSPACE, Workspace};
use chipdock_plugin_api::{
    Any, AnyView, Artifact, BuildRequest, BuildSession, Codegen, DataSpaceRequest, DeviceApi, Diagnostic,
    Env, Error, ErrorKind, Function, HostRef, Module, ModuleLoader, SchemaOnly, SectionKind, Stream, Verdict,
};

/// No more than this fits on the device.
pub(super) const DEVICE_BYTES: u64 = 1 << 20;

api::register_device_api!("toy", 0, |context| {
    Box::new(ToyDevice(Mutex::default(), context.state::<ToyOrdered>()))
});
api::register_interface!("device_api.toy", MEMORY_ASYNC, |context: &api::Context| -> Box<dyn AsyncMemory> {
    Box::new(ToyAsync(context.state::<ToyOrdered>()))
});
api::register_interface!("device_api.toy", WORKSPACE, |context: &api::Context| -> Box<dyn Workspace> {
    Box::new(ToyWorkspace(context.state::<ToyOrdered>()))
});
api::register_target_kind!("toy", TOY_KIND, |_| Box::new(SchemaOnly));
api::register_target_kind!("lone", LONE_KIND, |_| Box::new(SchemaOnly));
api::register_target_kind!("gadget", GADGET_KIND, |_| Box::new(SchemaOnly));
api::register_codegen!("toy", "1.0.0", "1.9.0", |_| Box::new(ToyCodegen));
api::register_codegen!("lone", "9.0.0", "9.0.0", |_| Box::new(ToyCodegen));
api::register_module_loader!("toy", |context| Box::new(ToyLoader(context.host())));
api::register_function!("toy.fail", |_: &api::Context, _: &[AnyView<'_>]| Err::<Any, _>(api::Error::new(
    ErrorKind::new("KeyError"),
    "as asked"
)));

const TOY_KIND: &str = r#"{"schema": 1, "name": "toy", "doc": "", "device": "cpu", "keys": ["toy"],
    "stage": "blocks", "is_host": true, "host_preference": 7,
    "options": [{"name": "do", "type": "str", "default": "build", "doc": ""}]}"#;
const LONE_KIND: &str = r#"{"schema": 1, "name": "lone", "doc": "", "device": "cpu", "stage": "blocks",
    "is_host": true, "host_preference": 1}"#;

/// A kind of devices: what it is by default no device answers.
const GADGET_KIND: &str = r#"{"schema": 1, "name": "gadget", "doc": "", "device": "toy", "stage": "blocks",
    "capabilities": {"shared_memory_bytes_max": "bytes"},
    "options": [{"name": "bytes", "type": "int", "default": 77, "from_attribute": "bytes", "doc": ""}]}"#;

/// Host memory that is counted, with a limit, and streams whose synchronisations are counted.
struct ToyDevice(Mutex<ToyState>, Arc<ToyOrdered>);

/// Memory is aligned as every device's is.
#[derive(Clone)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "only its address is used")] [u8; 64]);

#[derive(Default)]
struct ToyState {
    blocks: BTreeMap<usize, Vec<Line>>,
    next_stream: usize,
    syncs: BTreeMap<usize, i64>,
}

impl ToyState {
    fn bytes(&self) -> u64 {
        self.blocks.values().map(|block| block.len() as u64 * 64).sum()
    }
}

impl DeviceApi for ToyDevice {
    fn device_count(&self) -> Result<i32, Error> {
        Ok(2)
    }

    fn attribute(&self, _device_id: i32, key: &str) -> Result<Option<Any>, Error> {
        let state = self.0.lock().unwrap();
        Ok(match key {
            "bytes" => Some(Any::from(state.bytes().cast_signed())),
            "syncs" => Some(Any::from(state.syncs.values().sum::<i64>())),
            "ordered" => Some(Any::from(self.1.text())),
            _ => None,
        })
    }

    fn allocate_data_space(&self, _id: i32, request: &DataSpaceRequest<'_>) -> Result<*mut c_void, Error> {
        let mut state = self.0.lock().unwrap();
        if state.bytes() + request.size_bytes > DEVICE_BYTES {
            return Err(Error::new(ErrorKind::OUT_OF_MEMORY, "the toy is full"));
        }
        let mut block = vec![Line([0; 64]); request.size_bytes.div_ceil(64).max(1) as usize];
        let data: *mut c_void = block.as_mut_ptr().cast();
        state.blocks.insert(data.addr(), block);
        Ok(data)
    }

    unsafe fn free_data_space(&self, _id: i32, data: *mut c_void) -> Result<(), Error> {
        let freed = self.0.lock().unwrap().blocks.remove(&data.addr()).is_some()
            || self.1.0.lock().unwrap().live.remove(&data.addr()).is_some();
        api::ensure!(freed, ErrorKind::VALUE_ERROR, "{data:p} is freed twice");
        Ok(())
    }

    unsafe fn copy_data(&self, _id: i32, copy: &api::CopyRequest, _stream: Stream) -> Result<(), Error> {
        // SAFETY: both ends are host memory; the caller guarantees their size.
        unsafe { copy.to.address().copy_from_nonoverlapping(copy.from.address(), copy.size_bytes as usize) };
        Ok(())
    }

    fn create_stream(&self, _id: i32) -> Result<Stream, Error> {
        let mut state = self.0.lock().unwrap();
        state.next_stream += 64;
        Ok(Stream::from_raw(std::ptr::without_provenance_mut(state.next_stream)))
    }

    unsafe fn sync_stream(&self, _id: i32, stream: Stream) -> Result<(), Error> {
        *self.0.lock().unwrap().syncs.entry(stream.into_raw().addr()).or_default() += 1;
        Ok(())
    }
}

/// Memory in the order of a stream, which device 1 has and device 0 has not: calls and live blocks.
#[derive(Default)]
struct ToyOrdered(Mutex<OrderedState>);

#[derive(Default)]
struct OrderedState {
    calls: Vec<String>,
    live: BTreeMap<usize, Vec<Line>>,
}

impl api::HostState for ToyOrdered {
    fn new(_host: HostRef) -> Self {
        Self::default()
    }
}

impl ToyOrdered {
    /// Returns the calls so far, and forgets them.
    fn text(&self) -> String {
        let mut state = self.0.lock().unwrap();
        format!("{}; {} live", std::mem::take(&mut state.calls).join(", "), state.live.len())
    }

    fn allocate(&self, what: &str, id: i32, size: u64, stream: Stream) -> Result<*mut c_void, Error> {
        api::ensure!(id == 1, ErrorKind::UNSUPPORTED, "toy:{id} has no {what}");
        let mut block = vec![Line([0; 64]); size.div_ceil(64).max(1) as usize];
        let data: *mut c_void = block.as_mut_ptr().cast();
        let mut state = self.0.lock().unwrap();
        state.calls.push(format!("{what} on {}", stream.into_raw().addr()));
        state.live.insert(data.addr(), block);
        Ok(data)
    }

    fn free(&self, what: &str, data: *mut c_void, stream: Stream) -> Result<(), Error> {
        let mut state = self.0.lock().unwrap();
        state.calls.push(format!("free {what} on {}", stream.into_raw().addr()));
        let freed = state.live.remove(&data.addr());
        api::ensure!(freed.is_some(), ErrorKind::VALUE_ERROR, "{data:p} is freed twice");
        Ok(())
    }
}

struct ToyAsync(Arc<ToyOrdered>);

impl AsyncMemory for ToyAsync {
    unsafe fn allocate(
        &self,
        id: i32,
        request: &DataSpaceRequest<'_>,
        stream: Stream,
    ) -> Result<*mut c_void, Error> {
        self.0.allocate("memory", id, request.size_bytes, stream)
    }

    unsafe fn free(&self, _id: i32, data: *mut c_void, stream: Stream) -> Result<(), Error> {
        self.0.free("memory", data, stream)
    }
}

struct ToyWorkspace(Arc<ToyOrdered>);

impl Workspace for ToyWorkspace {
    unsafe fn allocate(&self, id: i32, size: u64, stream: Stream) -> Result<*mut c_void, Error> {
        self.0.allocate("workspace", id, size, stream)
    }

    unsafe fn free(&self, _id: i32, data: *mut c_void, stream: Stream) -> Result<(), Error> {
        self.0.free("workspace", data, stream)
    }
}

/// How many builds of the toy were begun.
pub(crate) static BUILDS: AtomicU64 = AtomicU64::new(0);
/// What a code generator depends on beside its request.
pub(crate) static DEPENDS_ON: AtomicU64 = AtomicU64::new(0);
/// Whether the loader wants an artifact compiled again.
pub(crate) static IS_OLD: AtomicU64 = AtomicU64::new(0);

/// Does what the target's option `do` says.
struct ToyCodegen;

const INDEX: &str = r#"{"module_kind": "toy", "format": "none", "functions": [
    {"name": "add", "symbol": "add"}, {"name": "gone", "symbol": "gone"}, {"name": "panic", "symbol": "panic"},
    {"name": "silent", "symbol": "silent"}, {"name": "count", "symbol": "count"}, {"name": "work", "symbol": "work"},
    {"name": "env", "symbol": "env"}, {"name": "forward", "symbol": "forward"}]}"#;

/// Kernels of `launch` 1: one on the device of the target, and one that is said to be on another.
const STRAY_INDEX: &str = r#"{"module_kind": "toy", "format": "none", "functions": [
    {"name": "here", "symbol": "here", "args": [], "launch_params": []},
    {"name": "stray", "symbol": "stray", "args": [], "launch_params": []}]}"#;

fn order(request: &BuildRequest<'_>) -> String {
    let json: serde_json::Value = serde_json::from_str(request.target_json).unwrap();
    json["do"].as_str().unwrap_or("build").to_owned()
}

/// Refuses the first statement of the first function, by its place.
fn place(request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
    let document = chipdock_ir::wire::read_document(request.ir).unwrap();
    let (span, file) = (document.module.functions[0].body.span, document.file.unwrap_or_default());
    let message = format!("3:4: not from {file}: here");
    let here = Diagnostic::error(&message).at(span.line, span.column).function("f");
    session.diagnostic(&here.hint("move it"))?;
    Err(Error::new(ErrorKind::UNSUPPORTED, message))
}

impl Codegen for ToyCodegen {
    /// The host builds without asking.
    fn unsupported(&self, _request: &BuildRequest<'_>, _session: &BuildSession<'_>) -> Result<(), Error> {
        Err(Error::new(ErrorKind::INTERNAL, "nobody asks the toy"))
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        BUILDS.fetch_add(1, Ordering::Relaxed);
        if order(request) == "moody" {
            DEPENDS_ON.fetch_add(1, Ordering::Relaxed);
        }
        session.diagnostic(&Diagnostic::warning("only a toy").at(3, 7).function("f").node("T.one()"))?;
        match order(request).as_str() {
            "nothing" => return Ok(()),
            "place" => return place(request, session),
            "unsupported" => {
                session.diagnostic(&Diagnostic::error("no one here").function("f").node("T.one()"))?;
                session.diagnostic(&Diagnostic::error("no two here").function("f").node("T.two()"))?;
                return Err(Error::new(ErrorKind::UNSUPPORTED, "no one here (and 1 more)"));
            }
            "terse" => return Err(Error::new(ErrorKind::UNSUPPORTED, "no three here")),
            "twice" => {
                session.index(INDEX)?;
                return session.index(INDEX);
            }
            "lie" => session.diagnostic(&Diagnostic::error("went wrong"))?,
            "fail" => {
                session.section("half", SectionKind::Code, 1, b"half")?;
                return Err(Error::new(ErrorKind::IO, "the disk is full"));
            }
            "panic" => panic!("as asked"),
            "steps" => {
                session.step("read");
                std::thread::scope(|scope| scope.spawn(|| session.step("think\nhard")).join().unwrap());
                session.step(&"x".repeat(1000));
                session.index(INDEX)?;
            }
            "threads" => {
                std::thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            let note = Diagnostic::note("from a thread");
                            (0..50).for_each(|_| session.diagnostic(&note).unwrap());
                            assert!(!session.is_cancelled());
                        });
                    }
                });
                session.index(INDEX)?;
            }
            "wait" => {
                while !session.is_cancelled() {
                    std::thread::yield_now();
                }
                return Err(Error::new(ErrorKind::CANCELLED, "given up"));
            }
            "index" => return session.index("{\"module_kind\": 1}"),
            "align" => return session.section("code", SectionKind::Code, 3, b""),
            "stray" => session.index(STRAY_INDEX)?,
            "other" => {
                session.index(&INDEX.replace("\"module_kind\": \"toy\"", "\"module_kind\": \"nobody\""))?
            }
            _ => session.index(INDEX)?,
        }
        session.section("code", SectionKind::Code, 64, request.ir.as_bytes())
    }

    fn fingerprint(&self, request: &BuildRequest<'_>) -> Result<Option<String>, Error> {
        match order(request).as_str() {
            "secret" => Ok(None),
            "empty" => Ok(Some(String::new())),
            "clueless" => Err(Error::new(ErrorKind::IO, "it cannot be read")),
            _ => Ok(Some(format!("toy {}", DEPENDS_ON.load(Ordering::Relaxed)))),
        }
    }
}

struct ToyLoader(HostRef);

impl ModuleLoader for ToyLoader {
    fn check(&self, _artifact: &Artifact<'_>, device: api::ChipdockDevice) -> Result<Verdict, Error> {
        Ok(match device.device_type {
            1 if IS_OLD.load(Ordering::Relaxed) > 0 => Verdict::Recompile("of another time".into()),
            1 => Verdict::Runs,
            _ => Verdict::Unsupported("runs in host memory only".into()),
        })
    }

    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
        api::ensure!(artifact.section("code")?.alignment_bytes == 64, ErrorKind::INTERNAL, "alignment lost");
        let has_kernels = artifact.index_json().contains("stray");
        Ok(Box::new(ToyModule(self.0, env, has_kernels)))
    }
}

/// The last field says whether it answers `launch` 1.
struct ToyModule(HostRef, Env, bool);

unsafe extern "C" fn silent(
    _self: *mut c_void,
    _args: *const api::abi::ChipdockAny,
    _num_args: i32,
    _result: *mut api::abi::ChipdockAny,
) -> i32 {
    -1
}

/// Allocates and frees workspace through the environment, as compiled code does.
fn work(env: &Env) -> Result<Any, Error> {
    let raw = env.as_ptr();
    // SAFETY: the environment is kept by the function; workspace is freed once.
    unsafe {
        let data = ((*raw).allocate_workspace)(raw, 1, 0, 100);
        data.cast::<u8>().write_bytes(7, 100);
        let freed = ((*raw).free_workspace)(raw, 1, 0, data);
        let again = ((*raw).free_workspace)(raw, 1, 0, data);
        let called = ((*raw).imported)(raw, c"nobody".as_ptr(), &mut std::ptr::null());
        Ok(Any::from(i64::from(freed == 0) + i64::from(again != 0) * 2 + i64::from(called != 0) * 4))
    }
}

/// Calls the imported function `add` with its own arguments, as compiled code does.
fn forward(env: &Env, args: &[AnyView<'_>]) -> Result<Any, Error> {
    let (raw, mut result, mut found) = (env.as_ptr(), Any::NONE.into_raw(), std::ptr::null());
    // SAFETY: the environment is kept by the function, and keeps what it answers; a view is laid
    // out as a value; a place for an owned value.
    let status = unsafe {
        match ((*raw).imported)(raw, c"add".as_ptr(), &mut found) {
            0 => {
                let call = (*found).safe_call.0;
                call(found.cast_mut().cast(), args.as_ptr().cast(), args.len() as i32, &mut result)
            }
            failed => failed,
        }
    };
    env.host().check(status, || "add".to_owned())?;
    // SAFETY: on success the result is owned by the caller.
    Ok(unsafe { Any::from_raw(result) })
}

unsafe extern "C" fn entry(
    _self: *mut c_void,
    name: api::abi::ChipdockStr,
    out_entry: *mut api::abi::ChipdockEntry,
) -> i32 {
    // Names of 4 and of 5 letters.
    let device_type = if name.size == 4 { 1 } else { 2 };
    let entry = std::ptr::without_provenance_mut(1);
    // SAFETY: a place to write to.
    unsafe { out_entry.write(api::abi::ChipdockEntry { entry, device_type, flags: 0 }) };
    0
}

unsafe extern "C" fn launch(
    _self: *mut c_void,
    _entry: *mut c_void,
    _request: *const api::abi::ChipdockLaunchRequest,
) -> i32 {
    0
}

static LAUNCH: api::abi::ChipdockLaunch1 = api::abi::ChipdockLaunch1 { entry, launch };

impl Module for ToyModule {
    fn query(&self, name: &str, version: u32) -> Option<api::Interface> {
        // SAFETY: the table of that name and version, which needs no `self`.
        let kind = unsafe { api::InterfaceKind::<()>::new("launch", 1, &LAUNCH) };
        (self.2 && kind.is(name, version)).then(|| kind.of(Box::new(())))
    }

    fn function(&self, name: &str) -> Result<Option<Function>, Error> {
        let env = self.1.clone();
        Ok(match name {
            "add" => Some(Function::from_fn(self.0, |args| {
                let (a, b): (i64, i64) = (api::argument(args, 0, "a")?, api::argument(args, 1, "b")?);
                Ok(Any::from(a + b))
            })),
            "count" => Some(Function::from_fn(self.0, |args| {
                let tensor: api::TensorView<'_> = api::argument(args, 0, "tensor")?;
                Ok(Any::from(tensor.element_count()?.cast_signed()))
            })),
            "panic" => Some(Function::from_fn(self.0, |_| panic!("in the kernel"))),
            // SAFETY: keeps the packed convention but for the error that it owes.
            "silent" => Some(unsafe { Function::from_safe_call(api::abi::ChipdockSafeCall(silent), ()) }),
            "env" => Some(Function::from_fn(self.0, move |_| Ok(Any::from(env.as_ptr().addr() as i64)))),
            "forward" => Some(Function::from_fn(self.0, move |args| forward(&env, args))),
            "work" => Some(Function::from_fn(self.0, move |_| work(&env))),
            _ => None,
        })
    }
}
