//! A code generator through its table, with a session that records its deliveries.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use chipdock_abi::{
    CHIPDOCK_INVALID_ARGUMENT, CHIPDOCK_OK, ChipdockBuildRequest, ChipdockBuildSession, ChipdockCodegen,
    ChipdockDiagnostic, ChipdockExtension, ChipdockInterface, ChipdockSection, ChipdockStr,
};
use chipdock_plugin_api::text::{bytes_in, str_in_lossy, str_out};
use chipdock_plugin_api::{Any, Error, ErrorKind, extension};

use super::host::SuiteHost;
use super::kind::{bytes_out, null_table};
use super::plugin::{Plugin, Table};

/// A build request as bytes, which need not be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The module.
    pub ir: Vec<u8>,
    /// The target.
    pub target_json: Vec<u8>,
    /// The options; empty for none.
    pub options_json: Vec<u8>,
    /// Sections beside the module.
    pub sections: Vec<Section>,
    /// Greatest number of threads that the code generator may use.
    pub threads_max: u32,
    /// Bits, of which none is defined.
    pub flags: u32,
    /// Extensions of the request: names and flags.
    pub extensions: Vec<(String, u32)>,
}

/// A delivered section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Name of the section.
    pub name: String,
    /// Kind of the section.
    pub kind: String,
    /// Alignment of its bytes.
    pub alignment_bytes: u64,
    /// Bytes of the section.
    pub data: Vec<u8>,
}

/// A reported diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// One of `CHIPDOCK_DIAGNOSTIC_*`.
    pub severity: i32,
    /// The line, or 0.
    pub line: u32,
    /// The column, or 0.
    pub column: u32,
    /// Function of the diagnostic.
    pub function: String,
    /// Node of the diagnostic.
    pub node: String,
    /// Message of the diagnostic.
    pub message: String,
    /// Hint on what to do.
    pub hint: String,
}

/// Deliveries of a call of a code generator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Each index, in order; a good build has one.
    pub indexes: Vec<String>,
    /// Each section, in order.
    pub sections: Vec<Section>,
    /// Each diagnostic, in order.
    pub diagnostics: Vec<Reported>,
    /// Violations of the contract in the deliveries themselves: null pointers, text that is not UTF-8.
    pub broken: Vec<String>,
    /// Number of polls for cancellation.
    pub n_polls: u32,
}

/// The host's side of a build.
struct Session {
    host: &'static SuiteHost,
    /// Number of polls that are answered with no.
    cancel_after: u32,
    polls: AtomicU32,
    delivered: Mutex<Delivered>,
}

impl Session {
    fn with<R>(&self, change: impl FnOnce(&mut Delivered) -> R) -> R {
        change(&mut self.delivered.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn refuse(&self, message: &'static str) -> i32 {
        self.with(|delivered| delivered.broken.push(message.to_owned()));
        self.host.set(Error::new(ErrorKind::VALUE_ERROR, message));
        CHIPDOCK_INVALID_ARGUMENT
    }

    fn text(&self, text: ChipdockStr, what: &str) -> String {
        // SAFETY: C.3, live for the call.
        let bytes = unsafe { bytes_in(text) };
        if text.data.is_null() && text.size != 0 {
            self.with(|delivered| delivered.broken.push(format!("{what} is null with {} bytes", text.size)));
        } else if std::str::from_utf8(bytes).is_err() {
            self.with(|delivered| delivered.broken.push(format!("{what} is not UTF-8")));
        }
        // SAFETY: C.3, live for the call.
        unsafe { str_in_lossy(text).into_owned() }
    }
}

fn session<'a>(self_: *mut c_void) -> &'a Session {
    // SAFETY: `self_` is that of a session on the stack of `Codegen::run`, which is waiting for the call.
    unsafe { &*self_.cast::<Session>() }
}

unsafe extern "C" fn index(self_: *mut c_void, index_json: ChipdockStr) -> i32 {
    let session = session(self_);
    let text = session.text(index_json, "the index");
    session.with(|delivered| delivered.indexes.push(text));
    CHIPDOCK_OK
}

unsafe extern "C" fn section(
    self_: *mut c_void,
    name: ChipdockStr,
    kind: ChipdockStr,
    alignment_bytes: u64,
    data: *const c_void,
    size_bytes: u64,
) -> i32 {
    let session = session(self_);
    let (name, kind) = (session.text(name, "a section's name"), session.text(kind, "a section's kind"));
    let Ok(size) = usize::try_from(size_bytes) else { return session.refuse("a section has no size") };
    if data.is_null() && size != 0 {
        return session.refuse("a section's bytes are null");
    }
    // SAFETY: C.3, as many bytes as it says live for the call.
    let data = unsafe { bytes_in(ChipdockStr { data: data.cast(), size }) }.to_vec();
    session.with(|delivered| delivered.sections.push(Section { name, kind, alignment_bytes, data }));
    CHIPDOCK_OK
}

unsafe extern "C" fn diagnostic(self_: *mut c_void, diagnostic: *const ChipdockDiagnostic) -> i32 {
    let session = session(self_);
    // SAFETY: C.3, null or live for the call.
    let Some(given) = (unsafe { diagnostic.as_ref() }) else { return session.refuse("a diagnostic is null") };
    // SAFETY: C.3, null or live for the call, a chain that lives as long.
    if let Err(error) = unsafe { extension::check(given.next, "the diagnostic") } {
        let status = error.kind().status();
        session.host.set(error);
        return status;
    }
    let reported = Reported {
        severity: given.severity,
        line: given.line,
        column: given.column,
        function: session.text(given.function, "a diagnostic's function"),
        node: session.text(given.node, "a diagnostic's node"),
        message: session.text(given.message, "a diagnostic's message"),
        hint: session.text(given.hint, "a diagnostic's hint"),
    };
    session.with(|delivered| delivered.diagnostics.push(reported));
    CHIPDOCK_OK
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
    let session = session(self_);
    i32::from(session.polls.fetch_add(1, Ordering::Relaxed) >= session.cancel_after)
}

/// A code generator.
#[derive(Clone)]
pub struct Codegen {
    /// Name of its target kind.
    pub kind: String,
    /// The oldest wire version that it reads.
    pub ir_min: String,
    /// The newest wire version that it reads.
    pub ir_max: String,
    table: Table<ChipdockCodegen>,
    host: &'static SuiteHost,
}

/// Function of the code generator that is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `unsupported`
    Unsupported,
    /// `build`
    Build,
}

impl Codegen {
    /// Returns the code generator of that kind, if the plugin registered it.
    #[must_use]
    pub fn of(plugin: &Plugin, kind: &str) -> Option<Self> {
        let (kind, [ir_min, ir_max], table) =
            plugin.codegens().into_iter().find(|(known, ..)| known == kind)?;
        Some(Self { kind, ir_min, ir_max, table, host: plugin.host() })
    }

    /// Returns the fingerprint of a request: a text, or `None`.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `TypeError` for another answer.
    pub fn fingerprint(&self, request: &Request) -> Result<Option<String>, Error> {
        let Some(table) = self.table.table else { return Err(null_table()) };
        let mut out = Any::NONE.into_raw();
        drop(self.host.take_error());
        // SAFETY: a registered table, its `self_`, a request that lives for the call and a place to write to.
        let status =
            request.with(|request| unsafe { (table.fingerprint)(self.table.self_, request, &mut out) });
        self.host.check(status, "fingerprint")?;
        // SAFETY: C.35, the callee's result, owned by us.
        let answer = unsafe { Any::from_raw(out) };
        if answer.is_none() { Ok(None) } else { answer.to::<String>().map(Some) }
    }

    /// Calls a function of it, without cancelling.
    pub fn run(&self, step: Step, request: &Request) -> (Result<(), Error>, Delivered) {
        self.run_until(step, request, u32::MAX)
    }

    /// Calls a function of it, and cancels from the poll after `cancel_after` polls on.
    pub fn run_until(
        &self,
        step: Step,
        request: &Request,
        cancel_after: u32,
    ) -> (Result<(), Error>, Delivered) {
        let Some(table) = self.table.table else { return (Err(null_table()), Delivered::default()) };
        let state =
            Session { host: self.host, cancel_after, polls: AtomicU32::new(0), delivered: Mutex::default() };
        let raw_session = ChipdockBuildSession {
            self_: std::ptr::from_ref(&state).cast_mut().cast(),
            index,
            section,
            diagnostic,
            is_cancelled,
            query,
        };
        drop(self.host.take_error());
        let (status, what) = request.with(|raw_request| {
            // SAFETY: a registered table, its `self_`, a request and a session that live for the call.
            unsafe {
                match step {
                    Step::Unsupported => {
                        ((table.unsupported)(self.table.self_, raw_request, &raw_session), "unsupported")
                    }
                    Step::Build => ((table.build)(self.table.self_, raw_request, &raw_session), "build"),
                }
            }
        });
        let result = self.host.check(status, what);
        let n_polls = state.polls.load(Ordering::Relaxed);
        let delivered = state.delivered.into_inner().unwrap_or_else(PoisonError::into_inner);
        (result, Delivered { n_polls, ..delivered })
    }
}

impl Request {
    /// Makes a request without options or sections, for one thread.
    #[must_use]
    pub fn new(ir: Vec<u8>, target_json: Vec<u8>) -> Self {
        let options_json = b"{}".to_vec();
        let (sections, extensions) = (Vec::new(), Vec::new());
        Self { ir, target_json, options_json, sections, threads_max: 1, flags: 0, extensions }
    }

    /// Runs `body` with the request as it crosses the boundary.
    fn with<T>(&self, body: impl FnOnce(&ChipdockBuildRequest) -> T) -> T {
        let sections: Vec<ChipdockSection> = self
            .sections
            .iter()
            .map(|section| ChipdockSection {
                name: str_out(&section.name),
                kind: str_out(&section.kind),
                alignment_bytes: section.alignment_bytes,
                data: section.data.as_ptr().cast(),
                size_bytes: section.data.len() as u64,
            })
            .collect();
        let chain = Chain::of(&self.extensions);
        body(&ChipdockBuildRequest {
            ir: bytes_out(&self.ir),
            target_json: bytes_out(&self.target_json),
            options_json: bytes_out(&self.options_json),
            sections: sections.as_ptr(),
            sections_count: sections.len() as u64,
            threads_max: self.threads_max,
            flags: self.flags,
            next: chain.first(),
        })
    }
}

/// A chain of extensions that consist only of their headers.
pub struct Chain<'a>(Vec<ChipdockExtension>, std::marker::PhantomData<&'a str>);

impl<'a> Chain<'a> {
    /// Makes a chain of these names and flags, in order.
    #[must_use]
    pub fn of(extensions: &'a [(String, u32)]) -> Self {
        let size_bytes = size_of::<ChipdockExtension>() as u32;
        let entry = |(name, flags): &'a (String, u32)| ChipdockExtension {
            next: ptr::null(),
            name: str_out(name),
            flags: *flags,
            size_bytes,
        };
        let mut entries: Vec<_> = extensions.iter().map(entry).collect();
        for index in 1..entries.len() {
            entries[index - 1].next = &raw const entries[index];
        }
        Self(entries, std::marker::PhantomData)
    }

    /// Returns the value for `next` of the struct that the chain is attached to.
    #[must_use]
    pub fn first(&self) -> *const ChipdockExtension {
        self.0.first().map_or(ptr::null(), ptr::from_ref)
    }
}

impl Delivered {
    /// Returns the problems for which a host would refuse a good build, in words (C.4, C.9).
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = self.broken.clone();
        if self.indexes.len() != 1 {
            problems.push(format!("the index was set {} times, expected once", self.indexes.len()));
        }
        let mut names = BTreeSet::new();
        for section in &self.sections {
            if !names.insert(&section.name) {
                problems.push(format!("there are two sections \"{}\"", section.name));
            }
        }
        problems
    }
}
