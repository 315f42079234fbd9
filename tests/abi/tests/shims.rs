//! Tests of the shims of target kinds, code generators, loaders, modules and interfaces: this
//! binary is its own plugin, called through its tables as by a host (rules P5, P7, P8, P10, T, C,
//! M).

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use chipdock_plugin_api::abi::{
    CHIPDOCK_ARTIFACT_OK, CHIPDOCK_ARTIFACT_RECOMPILE, CHIPDOCK_ARTIFACT_UNSUPPORTED, CHIPDOCK_CANCELLED,
    CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD, CHIPDOCK_INVALID_ARGUMENT, CHIPDOCK_PANIC, CHIPDOCK_UNAVAILABLE,
    CHIPDOCK_UNSUPPORTED, ChipdockAny, ChipdockArtifact, ChipdockBuildRequest, ChipdockBuildSession,
    ChipdockCodegen, ChipdockDiagnostic, ChipdockExtension, ChipdockInterface, ChipdockModuleHandle,
    ChipdockModuleLoader, ChipdockPlugin, ChipdockReset1, ChipdockSection, ChipdockStr,
};
use chipdock_plugin_api::interface::{RESET, Reset};
use chipdock_plugin_api::text::{bytes_in, str_in, str_out};
use chipdock_plugin_api::{
    Any, AnyView, Artifact, BuildRequest, BuildSession, CPU, ChipdockDevice, Codegen, Context, Diagnostic,
    Env, Error, ErrorKind, Function, HostRef, HostState, Module, ModuleLoader, SchemaOnly, SectionKind,
    TargetKind, Verdict, bail, ensure, export_plugin, register_codegen, register_function,
    register_interface, register_module_loader, register_target_kind,
};
use chipdock_raw_host::{Interface, Plugin, RawHost};

// ---- The plugin ----

export_plugin! { name: "shims", version: "1.2.3", build_id: "a-build" }

register_target_kind!("plain", "{}", |_context| Box::new(SchemaOnly));
register_target_kind!("picky", "{}", |_context| Box::new(Picky));
register_codegen!("plain", "1.0.0", "1.0.0", |_context| Box::new(PlainCodegen));
register_module_loader!("plain", |context| Box::new(PlainLoader(context.host())));
register_function!("shims.wait", wait);
register_interface!("shims", RESET, 5, |context: &Context| -> Box<dyn Reset> {
    Box::new(Flaky(context.state::<Counted>()))
});

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
            let error = Diagnostic::error("cannot be built").at(3, 9).function("f").node(node);
            session.diagnostic(&error.hint("leave it out"))?;
        }
        Ok(())
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        ensure!(
            session.query::<ChipdockReset1>("x", 1)?.is_none(),
            ErrorKind::INTERNAL,
            "P3.12: there is none"
        );
        ensure!(!session.is_cancelled(), ErrorKind::CANCELLED, "the build was cancelled");
        assert_ne!(request.ir, "panic", "a defect in the code generator");
        session.index("{\"module_kind\": \"plain\"}")?;
        session.section("code", SectionKind::Code, 16, request.ir.as_bytes())?;
        for beside in request.sections() {
            session.section(beside.name, SectionKind::Constants, beside.alignment_bytes, beside.data)?;
        }
        session.section("log", SectionKind::Debug, 1, format!("{} threads", request.threads_max).as_bytes())
    }

    fn fingerprint(&self, request: &BuildRequest<'_>) -> Result<Option<String>, Error> {
        Ok((request.ir != "anything").then(|| "plain 1.0.0".to_owned()))
    }
}

static MODULES_DROPPED: AtomicUsize = AtomicUsize::new(0);

struct PlainLoader(HostRef);

struct PlainModule {
    host: HostRef,
    number: i64,
}

impl ModuleLoader for PlainLoader {
    fn check(&self, artifact: &Artifact<'_>, device: ChipdockDevice) -> Result<Verdict, Error> {
        Ok(match (device.device_id, artifact.index_json()) {
            (_, "old") => Verdict::Recompile("made by an older compiler".to_owned()),
            (0, _) => Verdict::Runs,
            (id, _) => Verdict::Unsupported(format!("there is no device {id}")),
        })
    }

    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
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
fn wait(_context: &Context, _args: &[AnyView<'_>]) -> Result<Any, Error> {
    WAITING.fetch_add(1, Ordering::SeqCst);
    while !RELEASED.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(1));
    }
    Ok(Any::from("done"))
}

/// Number of live instances, over all hosts.
static COUNTED: AtomicUsize = AtomicUsize::new(0);

/// The plugin's state for a host.
struct Counted;

impl HostState for Counted {
    fn new(_host: HostRef) -> Self {
        COUNTED.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        COUNTED.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Succeeds for device 0, panics for device 1, fails for others.
struct Flaky(#[expect(dead_code, reason = "held, not read")] Arc<Counted>);

impl Reset for Flaky {
    fn reset(&self, device_id: i32) -> Result<(), Error> {
        assert!(device_id != 1, "device 1");
        ensure!(device_id == 0, ErrorKind::DEVICE_LOST, "device {device_id} is lost for good");
        Ok(())
    }
}

// ---- The host's side ----

unsafe extern "C" {
    fn chipdock_plugin_v1() -> *const ChipdockPlugin;
}

fn descriptor() -> &'static ChipdockPlugin {
    // SAFETY: exported above; a static descriptor.
    unsafe { &*chipdock_plugin_v1() }
}

/// A host of its own for each test: they run side by side.
fn started() -> Plugin {
    let plugin = Plugin::init(descriptor(), RawHost::leak()).expect("init");
    assert_eq!((plugin.host().broken(), plugin.host().n_not_utf8()), (vec![], 0), "RAW-5, RAW-6");
    plugin
}

fn error_of(host: &RawHost) -> (ErrorKind, String) {
    let error = host.reference().take_error().expect("an error was raised");
    (error.kind(), error.message().into_owned())
}

#[test]
fn p5_2_everything_is_registered_sorted() {
    let plugin = started();
    assert_eq!(
        plugin.keys(),
        [
            "function.shims.wait",
            "module.load.plain",
            "shims/reset/1",
            "target.build.plain",
            "target.kind.picky",
            "target.kind.plain",
        ]
    );
    let registered: Vec<String> = chipdock_plugin_api::registrations().iter().map(|it| it.key()).collect();
    assert!(registered.is_sorted());
    // SAFETY: static texts.
    let (name, version, build) = unsafe {
        let plugin = descriptor();
        (str_in(plugin.name, ""), str_in(plugin.version, ""), str_in(plugin.build_id, ""))
    };
    assert_eq!((name.unwrap(), version.unwrap(), build.unwrap()), ("shims", "1.2.3", "a-build"));
}

#[test]
fn p10_2_init_without_a_host_is_a_status() {
    // SAFETY: wrong on purpose; null is answered with a status, for lack of anybody to raise an
    // error with.
    unsafe {
        let mut instance = ptr::null_mut();
        assert_eq!((descriptor().init)(ptr::null(), ptr::null(), &mut instance), CHIPDOCK_INVALID_ARGUMENT);
        assert_eq!((descriptor().shutdown)(ptr::null_mut()), CHIPDOCK_INVALID_ARGUMENT);
        (descriptor().release)(ptr::null_mut());
        let host = RawHost::leak();
        let table: *const _ = host.reference().table();
        assert_eq!((descriptor().init)(table, ptr::null(), &mut instance), CHIPDOCK_INVALID_ARGUMENT);
        assert!(instance.is_null(), "P10.13: written on success alone");
        assert_eq!(error_of(host).0, ErrorKind::VALUE_ERROR);
    }
}

/// Canonicalizes with the target kind of that name.
fn canonicalize(plugin: &Plugin, kind: &str, target_json: ChipdockStr) -> (i32, Any) {
    let kinds = plugin.target_kinds();
    let (_, _, kind) = kinds.iter().find(|(name, ..)| name == kind).unwrap();
    let table = kind.table.unwrap();
    let mut out = Any::NONE.into_raw();
    // SAFETY: a registered table and its `self_`; the result is owned.
    unsafe {
        let status = (table.canonicalize)(kind.self_, target_json, &mut out);
        (status, Any::from_raw(out))
    }
}

#[test]
fn t_target_kinds_canonicalize() {
    let plugin = started();
    let host = plugin.host();
    let text = |kind, text| canonicalize(&plugin, kind, str_out(text)).1.to::<String>().unwrap();
    assert_eq!(text("plain", "{\"kind\": \"plain\"}"), "{\"kind\": \"plain\"}", "T.3");
    assert_eq!(text("picky", "small"), "SMALL");

    let (status, out) = canonicalize(&plugin, "picky", str_out("bad"));
    assert_eq!(status, CHIPDOCK_INVALID_ARGUMENT, "P7.1: the status is the kind's");
    assert!(out.is_none(), "P7.8");
    assert_eq!(
        error_of(host),
        (ErrorKind::VALUE_ERROR, "option `level`: expected 0 to 3, found 9".to_owned())
    );

    assert_eq!(canonicalize(&plugin, "picky", str_out("panic")).0, CHIPDOCK_PANIC, "P8.2");
    let (kind, message) = error_of(host);
    assert!(kind == ErrorKind::PANIC && message.contains("a defect"), "{message}");

    let not_utf8 = ChipdockStr { data: b"\xff\xfe".as_ptr().cast(), size: 2 };
    assert_eq!(canonicalize(&plugin, "plain", not_utf8).0, CHIPDOCK_INVALID_ARGUMENT);
    assert!(error_of(host).1.contains("UTF-8"));
    let null = ChipdockStr { data: ptr::null(), size: 9 };
    assert_eq!(canonicalize(&plugin, "plain", null).0, CHIPDOCK_INVALID_ARGUMENT, "D.2");
    assert!(error_of(host).1.contains("null"));
}

/// Returns the table of the plugin's one code generator, and its `self_`.
fn codegen(plugin: &Plugin) -> (&'static ChipdockCodegen, *mut c_void) {
    let (_, _, codegen) = plugin.codegens()[0];
    (codegen.table.unwrap(), codegen.self_)
}

/// Returns the table of the plugin's one loader, and its `self_`.
fn loader(plugin: &Plugin) -> (&'static ChipdockModuleLoader, *mut c_void) {
    let (_, loader) = plugin.loaders()[0];
    (loader.table.unwrap(), loader.self_)
}

/// Deliveries of a build.
struct Delivery {
    host: &'static RawHost,
    codegen: (&'static ChipdockCodegen, *mut c_void),
    lines: Mutex<Vec<String>>,
    is_cancelled: AtomicBool,
    refuses_sections: bool,
}

impl Delivery {
    fn new(plugin: &Plugin) -> Self {
        Self {
            host: plugin.host(),
            codegen: codegen(plugin),
            lines: Mutex::default(),
            is_cancelled: AtomicBool::new(false),
            refuses_sections: false,
        }
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
        ChipdockBuildSession { self_, index, section, diagnostic, is_cancelled, query }
    }

    fn run(&self, ir: &str, is_build: bool) -> i32 {
        self.run_request(&request(ir), is_build)
    }

    fn run_request(&self, request: &ChipdockBuildRequest, is_build: bool) -> i32 {
        let (codegen, self_) = self.codegen;
        let call = if is_build { codegen.build } else { codegen.unsupported };
        // SAFETY: a registered table and its `self_`; request and session live for the call.
        unsafe { call(self_, request, &self.session()) }
    }
}

fn request(ir: &str) -> ChipdockBuildRequest {
    ChipdockBuildRequest {
        ir: str_out(ir),
        target_json: str_out("{}"),
        options_json: str_out(""),
        sections: ptr::null(),
        sections_count: 0,
        threads_max: 0,
        flags: 0,
        next: ptr::null(),
    }
}

/// A text of the session.
///
/// # Safety
///
/// * It is live.
unsafe fn text<'a>(text: ChipdockStr) -> &'a str {
    // SAFETY: `text` is live, as this function requires.
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

unsafe extern "C" fn diagnostic(self_: *mut c_void, given: *const ChipdockDiagnostic) -> i32 {
    // SAFETY: C.3.
    let given = unsafe { &*given };
    let texts = [given.function, given.node, given.message, given.hint];
    // SAFETY: C.3.
    let texts = texts.map(|given| unsafe { text(given) });
    let line = format!("{} {}:{} {}", given.severity, given.line, given.column, texts.join(" "));
    Delivery::add(self_, line)
}

/// A session without interfaces.
unsafe extern "C" fn query(
    _self: *mut c_void,
    _name: ChipdockStr,
    _version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: P3.12, a place to write to.
    unsafe { out_interface.write(ChipdockInterface::NONE) };
    0
}

unsafe extern "C" fn is_cancelled(self_: *mut c_void) -> i32 {
    // SAFETY: `self_` of the sessions above.
    i32::from(unsafe { &*self_.cast::<Delivery>() }.is_cancelled.load(Ordering::Relaxed))
}

#[test]
fn c_code_generators_deliver() {
    let plugin = started();
    let delivery = Delivery::new(&plugin);
    assert_eq!(delivery.run("the code", true), 0);
    assert_eq!(
        *delivery.lines.lock().unwrap(),
        [
            "index {\"module_kind\": \"plain\"}",
            "section code code 16 the code",
            "section log debug 1 1 threads"
        ]
    );
    let delivery = Delivery::new(&plugin);
    assert_eq!(delivery.run("one two", false), 0);
    assert_eq!(
        *delivery.lines.lock().unwrap(),
        ["1 3:9 f one cannot be built leave it out", "1 3:9 f two cannot be built leave it out"],
        "C.5, C.31"
    );
}

#[test]
fn c_code_generators_get_what_lies_beside_the_document() {
    let plugin = started();
    let host = plugin.host();
    let delivery = Delivery::new(&plugin);
    let section = |name: &'static str, data: &'static [u8]| ChipdockSection {
        name: str_out(name),
        kind: str_out("constants"),
        alignment_bytes: 4,
        data: data.as_ptr().cast(),
        size_bytes: data.len() as u64,
    };
    let sections = [section("weights", b"seven"), section("nothing", b"")];
    let with = |sections: *const ChipdockSection| ChipdockBuildRequest {
        sections,
        sections_count: 2,
        flags: u32::MAX,
        ..request("the code")
    };
    assert_eq!(delivery.run_request(&with(sections.as_ptr()), true), 0, "P3.17");
    let lines = delivery.lines.lock().unwrap()[2..4].to_vec();
    assert_eq!(lines, ["section weights constants 4 seven", "section nothing constants 4 "]);
    assert_eq!(delivery.run_request(&with(ptr::null()), true), CHIPDOCK_INVALID_ARGUMENT);
    assert_eq!(error_of(host), (ErrorKind::VALUE_ERROR, "expected 2 sections, found a null pointer".into()));
}

/// P3.15, P3.16: of a request, whichever function it is of.
#[test]
fn p3_extensions_of_a_request_are_ignored_or_refused_by_name() {
    let plugin = started();
    let host = plugin.host();
    let mut extension =
        ChipdockExtension { next: ptr::null(), name: str_out("new"), flags: 2, size_bytes: 32 };
    let with = |next: *const ChipdockExtension| ChipdockBuildRequest { next, ..request("the code") };
    assert_eq!(Delivery::new(&plugin).run_request(&with(&raw const extension), true), 0);
    extension.flags |= CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD;
    for is_build in [true, false] {
        let delivery = Delivery::new(&plugin);
        assert_eq!(delivery.run_request(&with(&raw const extension), is_build), CHIPDOCK_UNSUPPORTED);
        let (kind, message) = error_of(host);
        assert!(kind == ErrorKind::UNSUPPORTED && message.contains("\"new\""), "{message}");
        assert!(delivery.lines.lock().unwrap().is_empty());
    }
    extension.flags = 0;
    extension.next = &raw const extension;
    assert_eq!(
        Delivery::new(&plugin).run_request(&with(&raw const extension), true),
        CHIPDOCK_INVALID_ARGUMENT
    );
    assert_eq!(error_of(host).0, ErrorKind::VALUE_ERROR);
}

#[test]
fn c_35_a_fingerprint_is_a_text_or_none() {
    let plugin = started();
    let host = plugin.host();
    let (codegen, self_) = codegen(&plugin);
    let ask = |request: *const ChipdockBuildRequest| {
        let mut out = Any::NONE.into_raw();
        // SAFETY: a registered table and its `self_`; the request lives for the call, or is null on
        // purpose.
        let status = unsafe { (codegen.fingerprint)(self_, request, &mut out) };
        // SAFETY: written by the callee, or None.
        (status, unsafe { Any::from_raw(out) })
    };
    let (status, answer) = ask(&request("the code"));
    assert_eq!((status, answer.to::<String>().unwrap().as_str()), (0, "plain 1.0.0"));
    let (status, answer) = ask(&request("anything"));
    assert!(status == 0 && answer.is_none());
    assert_eq!(ask(ptr::null()).0, CHIPDOCK_INVALID_ARGUMENT);
    // SAFETY: wrong on purpose: there is no place to write to (D.2).
    let status = unsafe { (codegen.fingerprint)(self_, &request(""), ptr::null_mut()) };
    assert_eq!(status, CHIPDOCK_INVALID_ARGUMENT);
    assert_eq!(error_of(host).0, ErrorKind::VALUE_ERROR);
}

#[test]
fn p3_18_a_code_generator_describes_itself() {
    let infos = started().host().infos().into_iter();
    let infos: Vec<_> = infos.map(|(key, info)| (key, String::from_utf8(info).unwrap())).collect();
    assert_eq!(
        infos,
        [
            ("module.load.plain".to_owned(), "{}".to_owned()),
            ("target.build.plain".to_owned(), "{\"ir_min\":\"1.0.0\",\"ir_max\":\"1.0.0\"}".to_owned()),
        ]
    );
}

#[test]
fn c_code_generators_fail_well() {
    let plugin = started();
    let host = plugin.host();
    let delivery = Delivery { refuses_sections: true, ..Delivery::new(&plugin) };
    assert_eq!(delivery.run("code", true), CHIPDOCK_UNSUPPORTED);
    assert_eq!(
        error_of(host),
        (ErrorKind::UNSUPPORTED, "no room for a section".to_owned()),
        "passed through"
    );

    let delivery = Delivery::new(&plugin);
    assert_eq!(delivery.run("panic", true), CHIPDOCK_PANIC);
    assert_eq!(error_of(host).0, ErrorKind::PANIC);
    delivery.is_cancelled.store(true, Ordering::Relaxed);
    assert_eq!(delivery.run("code", true), CHIPDOCK_CANCELLED, "C.6");
    assert_eq!(error_of(host).0, ErrorKind::CANCELLED);

    let (codegen, self_) = codegen(&plugin);
    // SAFETY: wrong on purpose: null is answered with an error (D.2).
    let status = unsafe { (codegen.build)(self_, ptr::null(), &delivery.session()) };
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
        next: std::ptr::null(),
    })
}

/// Loads an artifact with the plugin's one loader.
fn load(plugin: &Plugin, artifact: &ChipdockArtifact) -> (i32, ChipdockModuleHandle) {
    let (loader, self_) = loader(plugin);
    let mut module = ChipdockModuleHandle { self_: ptr::null_mut(), table: ptr::null() };
    // SAFETY: a registered table and its `self_`; this loader looks at the environment's address
    // only.
    let status = unsafe { (loader.load)(self_, artifact, ptr::null(), &mut module) };
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
    let plugin = started();
    let host = plugin.host();
    let (status, module) = with_artifact("{}", "42", |artifact| load(&plugin, artifact));
    assert_eq!(status, 0);
    let function = function_of(&module, "number").1.to::<Function>().unwrap();
    assert!(function_of(&module, "other").1.is_none(), "M.6");
    assert_eq!(function_of(&module, "panic").0, CHIPDOCK_PANIC);
    assert_eq!(error_of(host).0, ErrorKind::PANIC);

    let dropped = MODULES_DROPPED.load(Ordering::Relaxed);
    // SAFETY: M.1 and M.5, each once, the loader first.
    unsafe {
        let (loader, self_) = loader(&plugin);
        (loader.destroy)(self_);
        assert_eq!(MODULES_DROPPED.load(Ordering::Relaxed), dropped, "M.1");
        ((*module.table).destroy)(module.self_);
    }
    assert_eq!(MODULES_DROPPED.load(Ordering::Relaxed), dropped + 1);
    assert_eq!(function.call(host.reference(), &[]).unwrap().to::<i64>().unwrap(), 42, "M.5");
}

#[test]
fn m_bad_artifacts_are_refused() {
    let plugin = started();
    let host = plugin.host();
    let (status, module) = with_artifact("{}", "forty-two", |artifact| load(&plugin, artifact));
    assert_eq!(status, CHIPDOCK_INVALID_ARGUMENT);
    assert!(module.self_.is_null() && module.table.is_null(), "P7.8");
    assert!(error_of(host).1.contains("`forty-two`"));

    let empty = ChipdockArtifact {
        index_json: str_out("{}"),
        sections: ptr::null(),
        sections_count: 0,
        next: std::ptr::null(),
    };
    assert_ne!(load(&plugin, &empty).0, 0);
    assert_eq!(error_of(host).0, ErrorKind::NOT_FOUND);
    let lying = ChipdockArtifact {
        index_json: str_out("{}"),
        sections: ptr::null(),
        sections_count: 3,
        next: std::ptr::null(),
    };
    assert_eq!(load(&plugin, &lying).0, CHIPDOCK_INVALID_ARGUMENT);
    assert_eq!(error_of(host).0, ErrorKind::VALUE_ERROR);
}

#[test]
fn m_2_a_loader_says_whether_an_artifact_runs() {
    let plugin = started();
    let (loader, self_) = loader(&plugin);
    for (index_json, device_id, expected, word) in [
        ("{}", 0, CHIPDOCK_ARTIFACT_OK, None),
        ("{}", 3, CHIPDOCK_ARTIFACT_UNSUPPORTED, Some("there is no device 3")),
        ("old", 0, CHIPDOCK_ARTIFACT_RECOMPILE, Some("made by an older compiler")),
    ] {
        let (mut verdict, mut raw): (i32, ChipdockAny) = (-1, Any::NONE.into_raw());
        let device = ChipdockDevice { device_id, ..CPU };
        // SAFETY: a registered table and its `self_`; the reason is owned.
        let (status, reason) = with_artifact(index_json, "", |artifact| unsafe {
            let status = (loader.verdict)(self_, artifact, device, &mut verdict, &mut raw);
            (status, Any::from_raw(raw))
        });
        assert_eq!((status, verdict), (0, expected));
        assert_eq!(reason.to::<Option<String>>().unwrap().as_deref(), word);
    }
}

#[test]
fn p10_5_shutdown_waits_and_closes() {
    let plugin = started();
    let host = plugin.host();
    let function = host.function("shims.wait").unwrap();
    let (_, module) = with_artifact("{}", "1", |artifact| load(&plugin, artifact));
    thread::scope(|scope| {
        let running = scope.spawn(|| function.call(host.reference(), &[]).unwrap().to::<String>().unwrap());
        while WAITING.load(Ordering::SeqCst) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        let shutdown = scope.spawn(|| plugin.shutdown());
        // New calls are refused at once, while the old one goes on.
        while canonicalize(&plugin, "plain", str_out("{}")).0 == 0 {
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

/// Returns the one interface.
fn reset_of(plugin: &Plugin) -> Interface {
    let interfaces = plugin.interfaces();
    let is_it = |it: &&Interface| (&*it.key, &*it.name, it.version) == ("shims", "reset", 1);
    interfaces.iter().find(is_it).unwrap().clone()
}

#[test]
fn p3_11_an_interface_is_guarded_as_a_table_is() {
    let plugin = started();
    let host = plugin.host();
    let interface = reset_of(&plugin);
    assert_eq!(interface.raw.features, 5);
    assert_eq!(interface.raw.table_size_bytes, size_of::<ChipdockReset1>() as u64);
    let reset = |device_id| {
        // SAFETY: P3.11, the table of that name and version with its `self_`.
        unsafe { ((*interface.raw.table.cast::<ChipdockReset1>()).reset)(interface.raw.self_, device_id) }
    };
    assert_eq!(reset(0), 0);
    assert_eq!((reset(2), error_of(host).0), (ErrorKind::DEVICE_LOST.status(), ErrorKind::DEVICE_LOST));
    assert_eq!((reset(1), error_of(host).0), (ErrorKind::PANIC.status(), ErrorKind::PANIC), "P8.2");
    plugin.shutdown().expect("shutdown");
    assert_eq!((reset(0), error_of(host).0), (CHIPDOCK_UNAVAILABLE, ErrorKind::UNAVAILABLE), "P10.5");
}

/// In a process of its own: it counts over all hosts.
#[test]
fn p10_14_state_of_a_host_ends_with_release() {
    let plugin = started();
    let host = plugin.host();
    let before = COUNTED.load(Ordering::SeqCst);
    assert!(before >= 1, "the interface's factory asked for it");
    plugin.shutdown().expect("shutdown");
    // SAFETY: P3.13, P9.1, after `shutdown`, and nothing of them is used afterwards.
    unsafe { host.destroy_registered() };
    assert_eq!(COUNTED.load(Ordering::SeqCst), before, "the instance holds it still");
    // SAFETY: P10.14, all that was registered is released, and nothing is used afterwards.
    unsafe { plugin.release() };
    assert_eq!(COUNTED.load(Ordering::SeqCst), before - 1);
}
