//! The shims of target kinds, code generators, loaders, modules and interfaces: this binary is its own plugin, called
//! through its tables as a host does (rules P5, P7, P8, P10, T, C, M).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use chipdock_plugin_api::abi::{
    CHIPDOCK_ARTIFACT_OK, CHIPDOCK_ARTIFACT_RECOMPILE, CHIPDOCK_ARTIFACT_UNSUPPORTED, CHIPDOCK_CANCELLED,
    CHIPDOCK_INVALID_ARGUMENT, CHIPDOCK_PANIC, CHIPDOCK_UNAVAILABLE, CHIPDOCK_UNSUPPORTED, ChipdockAny,
    ChipdockArtifact, ChipdockBuildRequest, ChipdockBuildSession, ChipdockModuleHandle, ChipdockPlugin,
    ChipdockSection, ChipdockStr,
};
use chipdock_plugin_api::text::{bytes_in, str_in, str_out};
use chipdock_plugin_api::{
    Any, AnyView, Artifact, BuildRequest, BuildSession, CPU, Codegen, DLDevice, EnvRef, Error, ErrorKind,
    Function, HostRef, Interface, Module, ModuleLoader, SchemaOnly, SectionKind, Severity, TargetKind,
    Verdict, bail, ensure, export_plugin, register_codegen, register_function, register_interface,
    register_module_loader, register_target_kind,
};
use chipdock_test_abi::recording_host::RecordingHost;

// ---- The plugin ----

export_plugin! { name: "shims", version: "1.2.3", build_id: "a-build" }

register_target_kind!("plain", "{}", |_host| Box::new(SchemaOnly));
register_target_kind!("picky", "{}", |_host| Box::new(Picky));
register_codegen!("plain", "1.0.0", "1.4.0", |_host| Box::new(PlainCodegen));
register_module_loader!("plain", |host| Box::new(PlainLoader(host)));
register_function!("shims.wait", wait);
register_interface!("device_api.none/timer", 1, 0, |_host| interface());

struct Picky;

impl TargetKind for Picky {
    fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        match target_json {
            "panic" => panic!("a defect"),
            "bad" => bail!(ErrorKind::VALUE_ERROR, "option `level`: expected 0 to 3, found 9"),
            text => Ok(text.to_uppercase()),
        }
    }
}

struct PlainCodegen;

impl Codegen for PlainCodegen {
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        for node in request.ir.split_whitespace() {
            session.diagnostic(Severity::Error, "f", node, "cannot be built")?;
        }
        Ok(())
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        ensure!(!session.is_cancelled(), ErrorKind::CANCELLED, "the build was cancelled");
        assert_ne!(request.ir, "panic", "a defect in the code generator");
        session.index("{\"module_kind\": \"plain\"}")?;
        session.section("code", SectionKind::Code, 16, request.ir.as_bytes())?;
        session.section("log", SectionKind::Debug, 1, format!("{} threads", request.threads_max).as_bytes())
    }
}

static MODULES_DROPPED: AtomicUsize = AtomicUsize::new(0);

struct PlainLoader(HostRef);

struct PlainModule {
    host: HostRef,
    number: i64,
}

impl ModuleLoader for PlainLoader {
    fn check(&self, artifact: &Artifact<'_>, device: DLDevice) -> Result<Verdict, Error> {
        Ok(match (device.device_id, artifact.index_json()) {
            (_, "old") => Verdict::Recompile("made by an older compiler".to_owned()),
            (0, _) => Verdict::Runs,
            (id, _) => Verdict::Unsupported(format!("there is no device {id}")),
        })
    }

    fn load(&self, artifact: &Artifact<'_>, env: EnvRef) -> Result<Box<dyn Module>, Error> {
        assert_eq!(env.host(), self.0);
        let text = artifact.section("code")?.data;
        let text = std::str::from_utf8(text)
            .map_err(|error| Error::new(ErrorKind::VALUE_ERROR, error.to_string()))?;
        let number = text.parse().map_err(|error| {
            Error::new(ErrorKind::VALUE_ERROR, format!("expected a number, found `{text}`: {error}"))
        })?;
        Ok(Box::new(PlainModule { host: self.0, number }))
    }
}

impl Module for PlainModule {
    fn function(&self, name: &str) -> Result<Option<Function>, Error> {
        let number = self.number;
        match name {
            "number" => Ok(Some(Function::from_fn(self.host, move |_| Ok(Any::from(number))))),
            "panic" => panic!("in the module"),
            _ => Ok(None),
        }
    }
}

impl Drop for PlainModule {
    fn drop(&mut self) {
        MODULES_DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

static WAITING: AtomicI32 = AtomicI32::new(0);
static RELEASED: AtomicBool = AtomicBool::new(false);

/// Runs until it is released: a call that is under way at shutdown.
fn wait(_host: HostRef, _args: &[AnyView<'_>]) -> Result<Any, Error> {
    WAITING.fetch_add(1, Ordering::SeqCst);
    while !RELEASED.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(1));
    }
    Ok(Any::from("done"))
}

#[repr(C)]
struct Timer {
    resolution_ns: u64,
}

fn interface() -> Interface {
    static TIMER: Timer = Timer { resolution_ns: 10 };
    assert!(TIMER.resolution_ns > 0);
    // SAFETY: the table of this test's interface, whose one field is no function.
    unsafe { Interface::new(ptr::null_mut(), &TIMER) }
}

// ---- The host's side ----

unsafe extern "C" {
    fn chipdock_plugin_v1() -> *const ChipdockPlugin;
}

fn plugin() -> &'static ChipdockPlugin {
    // SAFETY: exported above; a static descriptor.
    unsafe { &*chipdock_plugin_v1() }
}

/// A host of its own for each test: they run side by side.
fn started() -> &'static RecordingHost {
    let host = RecordingHost::leak();
    host.init(plugin()).expect("init");
    host
}

fn error_of(host: &RecordingHost) -> (ErrorKind, String) {
    let error = host.reference().take_error().expect("an error was raised");
    (error.kind(), error.message().into_owned())
}

#[test]
fn p5_2_everything_is_registered_sorted() {
    let host = started();
    assert_eq!(
        *host.keys.lock().unwrap(),
        [
            "function.shims.wait",
            "interface.device_api.none/timer",
            "module.load.plain",
            "target.build.plain",
            "target.kind.picky",
            "target.kind.plain",
        ]
    );
    let registered: Vec<String> = chipdock_plugin_api::registrations().iter().map(|it| it.key()).collect();
    assert!(registered.is_sorted());
    // SAFETY: static texts.
    let (name, version, build) = unsafe {
        let plugin = plugin();
        (str_in(plugin.name, ""), str_in(plugin.version, ""), str_in(plugin.build_id, ""))
    };
    assert_eq!((name.unwrap(), version.unwrap(), build.unwrap()), ("shims", "1.2.3", "a-build"));
}

#[test]
fn p10_2_init_without_a_host_is_a_status() {
    // SAFETY: wrong on purpose; null is answered with a status, for lack of anybody to raise an error with.
    unsafe {
        assert_eq!((plugin().init)(ptr::null(), ptr::null()), CHIPDOCK_INVALID_ARGUMENT);
        assert_eq!((plugin().shutdown)(ptr::null()), CHIPDOCK_INVALID_ARGUMENT);
        let host = RecordingHost::leak();
        assert_eq!((plugin().init)(host.reference().table(), ptr::null()), CHIPDOCK_INVALID_ARGUMENT);
        assert_eq!(error_of(host).0, ErrorKind::VALUE_ERROR);
    }
}

/// Canonicalizes with the target kind of that name.
fn canonicalize(host: &RecordingHost, kind: &str, target_json: ChipdockStr) -> (i32, Any) {
    let kinds = host.target_kinds.lock().unwrap();
    let table = kinds.iter().find(|(name, _)| name == kind).unwrap().1;
    let mut out = Any::NONE.into_raw();
    // SAFETY: a registered table and its `self_`; the result is owned.
    unsafe {
        let status = (table.table.canonicalize)(table.self_, target_json, &mut out);
        (status, Any::from_raw(out))
    }
}

#[test]
fn t_target_kinds_canonicalize() {
    let host = started();
    let text = |kind, text| canonicalize(host, kind, str_out(text)).1.to::<String>().unwrap();
    assert_eq!(text("plain", "{\"kind\": \"plain\"}"), "{\"kind\": \"plain\"}", "T.3");
    assert_eq!(text("picky", "small"), "SMALL");

    let (status, out) = canonicalize(host, "picky", str_out("bad"));
    assert_eq!(status, CHIPDOCK_INVALID_ARGUMENT, "P7.1: the status is the kind's");
    assert!(out.is_none(), "P7.8");
    assert_eq!(
        error_of(host),
        (ErrorKind::VALUE_ERROR, "option `level`: expected 0 to 3, found 9".to_owned())
    );

    assert_eq!(canonicalize(host, "picky", str_out("panic")).0, CHIPDOCK_PANIC, "P8.2");
    let (kind, message) = error_of(host);
    assert!(kind == ErrorKind::PANIC && message.contains("a defect"), "{message}");

    let not_utf8 = ChipdockStr { data: b"\xff\xfe".as_ptr().cast(), size: 2 };
    assert_eq!(canonicalize(host, "plain", not_utf8).0, CHIPDOCK_INVALID_ARGUMENT);
    assert!(error_of(host).1.contains("UTF-8"));
    let null = ChipdockStr { data: ptr::null(), size: 9 };
    assert_eq!(canonicalize(host, "plain", null).0, CHIPDOCK_INVALID_ARGUMENT, "D.2");
    assert!(error_of(host).1.contains("null"));
}

/// What a build delivered.
struct Delivery {
    host: &'static RecordingHost,
    lines: Mutex<Vec<String>>,
    is_cancelled: AtomicBool,
    refuses_sections: bool,
}

impl Delivery {
    fn new(host: &'static RecordingHost) -> Self {
        Self { host, lines: Mutex::default(), is_cancelled: AtomicBool::new(false), refuses_sections: false }
    }

    fn add(self_: *mut c_void, line: String) -> i32 {
        // SAFETY: `self_` of the sessions below.
        let delivery = unsafe { &*self_.cast::<Self>() };
        if delivery.refuses_sections && line.starts_with("section") {
            delivery.host.reference().raise(&Error::new(ErrorKind::UNSUPPORTED, "no room for a section"));
            return CHIPDOCK_UNSUPPORTED;
        }
        delivery.lines.lock().unwrap().push(line);
        0
    }

    fn session(&self) -> ChipdockBuildSession {
        let self_ = ptr::from_ref(self).cast_mut().cast();
        ChipdockBuildSession { self_, index, section, diagnostic, is_cancelled }
    }

    fn run(&self, ir: &str, is_build: bool) -> i32 {
        let request = ChipdockBuildRequest {
            ir: str_out(ir),
            target_json: str_out("{}"),
            options_json: str_out(""),
            threads_max: 0,
            padding: 0,
        };
        let codegen = self.host.codegens.lock().unwrap()[0].1;
        let call = if is_build { codegen.table.build } else { codegen.table.unsupported };
        // SAFETY: a registered table and its `self_`; request and session live for the call.
        unsafe { call(codegen.self_, &request, &self.session()) }
    }
}

/// A text of the session.
///
/// # Safety
///
/// * It is live.
unsafe fn text<'a>(text: ChipdockStr) -> &'a str {
    // SAFETY: the caller's word.
    unsafe { str_in(text, "text") }.unwrap()
}

unsafe extern "C" fn index(self_: *mut c_void, index_json: ChipdockStr) -> i32 {
    // SAFETY: C.3.
    Delivery::add(self_, format!("index {}", unsafe { text(index_json) }))
}

unsafe extern "C" fn section(
    self_: *mut c_void,
    name: ChipdockStr,
    kind: ChipdockStr,
    alignment_bytes: u64,
    data: *const c_void,
    size_bytes: u64,
) -> i32 {
    // SAFETY: C.3.
    let (name, kind, data) = unsafe {
        (text(name), text(kind), bytes_in(ChipdockStr { data: data.cast(), size: size_bytes as usize }))
    };
    Delivery::add(self_, format!("section {name} {kind} {alignment_bytes} {}", String::from_utf8_lossy(data)))
}

unsafe extern "C" fn diagnostic(
    self_: *mut c_void,
    severity: i32,
    function: ChipdockStr,
    node: ChipdockStr,
    message: ChipdockStr,
) -> i32 {
    // SAFETY: C.3.
    let line = unsafe { format!("{severity} {} {} {}", text(function), text(node), text(message)) };
    Delivery::add(self_, line)
}

unsafe extern "C" fn is_cancelled(self_: *mut c_void) -> i32 {
    // SAFETY: `self_` of the sessions above.
    i32::from(unsafe { &*self_.cast::<Delivery>() }.is_cancelled.load(Ordering::Relaxed))
}

#[test]
fn c_code_generators_deliver() {
    let host = started();
    let delivery = Delivery::new(host);
    assert_eq!(delivery.run("the code", true), 0);
    assert_eq!(
        *delivery.lines.lock().unwrap(),
        [
            "index {\"module_kind\": \"plain\"}",
            "section code code 16 the code",
            "section log debug 1 1 threads"
        ]
    );
    let delivery = Delivery::new(host);
    assert_eq!(delivery.run("one two", false), 0);
    assert_eq!(
        *delivery.lines.lock().unwrap(),
        ["1 f one cannot be built", "1 f two cannot be built"],
        "C.5"
    );
}

#[test]
fn c_code_generators_fail_well() {
    let host = started();
    let delivery = Delivery { refuses_sections: true, ..Delivery::new(host) };
    assert_eq!(delivery.run("code", true), CHIPDOCK_UNSUPPORTED);
    assert_eq!(
        error_of(host),
        (ErrorKind::UNSUPPORTED, "no room for a section".to_owned()),
        "passed through"
    );

    let delivery = Delivery::new(host);
    assert_eq!(delivery.run("panic", true), CHIPDOCK_PANIC);
    assert_eq!(error_of(host).0, ErrorKind::PANIC);
    delivery.is_cancelled.store(true, Ordering::Relaxed);
    assert_eq!(delivery.run("code", true), CHIPDOCK_CANCELLED, "C.6");
    assert_eq!(error_of(host).0, ErrorKind::CANCELLED);

    let codegen = host.codegens.lock().unwrap()[0].1;
    // SAFETY: wrong on purpose: null is answered with an error (D.2).
    let status = unsafe { (codegen.table.build)(codegen.self_, ptr::null(), &delivery.session()) };
    assert_eq!(status, CHIPDOCK_INVALID_ARGUMENT);
    assert_eq!(error_of(host).0, ErrorKind::VALUE_ERROR);
}

fn with_artifact<R>(index_json: &str, code: &str, body: impl FnOnce(&ChipdockArtifact) -> R) -> R {
    let sections = [ChipdockSection {
        name: str_out("code"),
        kind: str_out("code"),
        alignment_bytes: 1,
        data: code.as_ptr().cast(),
        size_bytes: code.len() as u64,
    }];
    body(&ChipdockArtifact {
        index_json: str_out(index_json),
        sections: sections.as_ptr(),
        sections_count: 1,
    })
}

/// Loads an artifact with the host's one loader.
fn load(host: &RecordingHost, artifact: &ChipdockArtifact) -> (i32, ChipdockModuleHandle) {
    let loader = host.loaders.lock().unwrap()[0].1;
    let mut module = ChipdockModuleHandle { self_: ptr::null_mut(), table: ptr::null() };
    // SAFETY: a registered table and its `self_`; this loader looks at the environment's address only.
    let status = unsafe { (loader.table.load)(loader.self_, artifact, ptr::null(), &mut module) };
    (status, module)
}

fn function_of(module: &ChipdockModuleHandle, name: &str) -> (i32, Any) {
    let mut out = Any::NONE.into_raw();
    // SAFETY: a loaded module; the result is owned.
    unsafe {
        let status = ((*module.table).function)(module.self_, str_out(name), &mut out);
        (status, Any::from_raw(out))
    }
}

#[test]
fn m_modules_are_loaded_and_called() {
    let host = started();
    let (status, module) = with_artifact("{}", "42", |artifact| load(host, artifact));
    assert_eq!(status, 0);
    let function = function_of(&module, "number").1.to::<Function>().unwrap();
    assert!(function_of(&module, "other").1.is_none(), "M.6");
    assert_eq!(function_of(&module, "panic").0, CHIPDOCK_PANIC);
    assert_eq!(error_of(host).0, ErrorKind::PANIC);

    let dropped = MODULES_DROPPED.load(Ordering::Relaxed);
    // SAFETY: M.1 and M.5, each once, the loader first.
    unsafe {
        let loader = host.loaders.lock().unwrap()[0].1;
        (loader.table.destroy)(loader.self_);
        assert_eq!(MODULES_DROPPED.load(Ordering::Relaxed), dropped, "M.1");
        ((*module.table).destroy)(module.self_);
    }
    assert_eq!(MODULES_DROPPED.load(Ordering::Relaxed), dropped + 1);
    assert_eq!(function.call(host.reference(), &[]).unwrap().to::<i64>().unwrap(), 42, "M.5");
}

#[test]
fn m_bad_artifacts_are_refused() {
    let host = started();
    let (status, module) = with_artifact("{}", "forty-two", |artifact| load(host, artifact));
    assert_eq!(status, CHIPDOCK_INVALID_ARGUMENT);
    assert!(module.self_.is_null() && module.table.is_null(), "P7.8");
    assert!(error_of(host).1.contains("`forty-two`"));

    let empty = ChipdockArtifact { index_json: str_out("{}"), sections: ptr::null(), sections_count: 0 };
    assert_ne!(load(host, &empty).0, 0);
    assert_eq!(error_of(host).0, ErrorKind::NOT_FOUND);
    let lying = ChipdockArtifact { index_json: str_out("{}"), sections: ptr::null(), sections_count: 3 };
    assert_eq!(load(host, &lying).0, CHIPDOCK_INVALID_ARGUMENT);
    assert_eq!(error_of(host).0, ErrorKind::VALUE_ERROR);
}

#[test]
fn m_2_a_loader_says_whether_an_artifact_runs() {
    let host = started();
    let loader = host.loaders.lock().unwrap()[0].1;
    for (index_json, device_id, expected, word) in [
        ("{}", 0, CHIPDOCK_ARTIFACT_OK, None),
        ("{}", 3, CHIPDOCK_ARTIFACT_UNSUPPORTED, Some("there is no device 3")),
        ("old", 0, CHIPDOCK_ARTIFACT_RECOMPILE, Some("made by an older compiler")),
    ] {
        let (mut verdict, mut raw): (i32, ChipdockAny) = (-1, Any::NONE.into_raw());
        let device = DLDevice { device_id, ..CPU };
        // SAFETY: a registered table and its `self_`; the reason is owned.
        let (status, reason) = with_artifact(index_json, "", |artifact| unsafe {
            let status = (loader.table.check)(loader.self_, artifact, device, &mut verdict, &mut raw);
            (status, Any::from_raw(raw))
        });
        assert_eq!((status, verdict), (0, expected));
        assert_eq!(reason.to::<Option<String>>().unwrap().as_deref(), word);
    }
}

#[test]
fn p10_5_shutdown_waits_and_closes() {
    let host = started();
    let function = host.function("shims.wait").unwrap();
    let (_, module) = with_artifact("{}", "1", |artifact| load(host, artifact));
    thread::scope(|scope| {
        let running = scope.spawn(|| function.call(host.reference(), &[]).unwrap().to::<String>().unwrap());
        while WAITING.load(Ordering::SeqCst) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        let shutdown = scope.spawn(|| host.shutdown(plugin()));
        // New calls are refused at once, while the old one goes on.
        while canonicalize(host, "plain", str_out("{}")).0 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(error_of(host).0, ErrorKind::UNAVAILABLE);
        assert!(!shutdown.is_finished(), "the call is still running");
        RELEASED.store(true, Ordering::SeqCst);
        assert_eq!(running.join().unwrap(), "done");
        shutdown.join().unwrap().expect("shutdown");
    });
    assert_eq!(function_of(&module, "number").0, CHIPDOCK_UNAVAILABLE);
    assert_eq!(error_of(host).0, ErrorKind::UNAVAILABLE);
    let error = function.call(host.reference(), &[]).unwrap_err();
    assert!(error.kind() == ErrorKind::UNAVAILABLE && error.message().contains("`shims`"), "{error}");
}
