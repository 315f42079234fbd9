//! A code generator called through its table, with a build session that records what it delivers.

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

use crate::host::RawHost;
use crate::kind::{bytes_out, null_table};
use crate::plugin::{Plugin, Table};

/// Build request as bytes, which may be invalid on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Serialized module.
    pub ir: Vec<u8>,
    /// Target as JSON.
    pub target_json: Vec<u8>,
    /// Build options as JSON; empty for none.
    pub options_json: Vec<u8>,
    /// Sections passed along with the module.
    pub sections: Vec<Section>,
    /// Maximum number of threads that the build may use.
    pub threads_max: u32,
    /// Flag bits, none of which is defined.
    pub flags: u32,
    /// Names and flags of the request's extensions.
    pub extensions: Vec<(String, u32)>,
}

/// A section as delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Name of the section.
    pub name: String,
    /// Kind of the section.
    pub kind: String,
    /// Required alignment of the data.
    pub alignment_bytes: u64,
    /// Contents of the section.
    pub data: Vec<u8>,
}

/// A diagnostic as reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// One of `CHIPDOCK_DIAGNOSTIC_*`.
    pub severity: i32,
    /// Line, or 0.
    pub line: u32,
    /// Column, or 0.
    pub column: u32,
    /// Function that the diagnostic is about.
    pub function: String,
    /// IR node that the diagnostic is about.
    pub node: String,
    /// Description of the problem.
    pub message: String,
    /// Advice to the user.
    pub hint: String,
}

/// Everything that one call of a code generator delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Indexes in order; a correct build has exactly one.
    pub indexes: Vec<String>,
    /// Sections in order.
    pub sections: Vec<Section>,
    /// Diagnostics in order.
    pub diagnostics: Vec<Reported>,
    /// Violations of the contract in the data itself: null pointers, text that is not UTF-8.
    pub broken: Vec<String>,
    /// Number of times that the code generator polled for cancellation.
    pub n_polls: u32,
}

/// Host side of a build session.
struct Session {
    host: &'static RawHost,
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
        // SAFETY: by C.3, the text is live for the call.
        let bytes = unsafe { bytes_in(text) };
        if text.data.is_null() && text.size != 0 {
            self.with(|delivered| delivered.broken.push(format!("{what} is null with {} bytes", text.size)));
        } else if std::str::from_utf8(bytes).is_err() {
            self.with(|delivered| delivered.broken.push(format!("{what} is not UTF-8")));
        }
        // SAFETY: by C.3, the text is live for the call.
        unsafe { str_in_lossy(text).into_owned() }
    }
}

fn session<'a>(self_: *mut c_void) -> &'a Session {
    // SAFETY: `self_` points to a session on the stack of `Codegen::run_until`, which outlives the
    // call.
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
    // SAFETY: by C.3, that many bytes are live for the call.
    let data = unsafe { bytes_in(ChipdockStr { data: data.cast(), size }) }.to_vec();
    session.with(|delivered| delivered.sections.push(Section { name, kind, alignment_bytes, data }));
    CHIPDOCK_OK
}

unsafe extern "C" fn diagnostic(self_: *mut c_void, diagnostic: *const ChipdockDiagnostic) -> i32 {
    let session = session(self_);
    // SAFETY: by C.3, the diagnostic is null or live for the call.
    let Some(given) = (unsafe { diagnostic.as_ref() }) else { return session.refuse("a diagnostic is null") };
    // SAFETY: by C.3, the chain is null or live for the call.
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

/// Reports that the session has no interfaces.
unsafe extern "C" fn query(
    _self: *mut c_void,
    _name: ChipdockStr,
    _version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: by P3.12, there is room to write the result.
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
    /// Name of the target kind.
    pub kind: String,
    /// Oldest wire version of the IR that the code generator reads.
    pub ir_min: String,
    /// Newest wire version of the IR that the code generator reads.
    pub ir_max: String,
    table: Table<ChipdockCodegen>,
    host: &'static RawHost,
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
    /// Returns the code generator of a target kind, if the plugin registered one.
    #[must_use]
    pub fn find(plugin: &Plugin, kind: &str) -> Option<Self> {
        let (kind, [ir_min, ir_max], table) =
            plugin.codegens().into_iter().find(|(known, ..)| known == kind)?;
        Some(Self { kind, ir_min, ir_max, table, host: plugin.host() })
    }

    /// Returns the fingerprint of a request, if the plugin gives one.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `TypeError` for an answer that is no text.
    pub fn fingerprint(&self, request: &Request) -> Result<Option<String>, Error> {
        let Some(table) = self.table.table else { return Err(null_table()) };
        let mut out = Any::NONE.into_raw();
        self.host.begin();
        // SAFETY: the table is registered and called with its `self_`; the request lives for the
        // call, and there is room for the result.
        let status =
            request.with(|request| unsafe { (table.fingerprint)(self.table.self_, request, &mut out) });
        self.host.check(status, "fingerprint")?;
        // SAFETY: C.35, the callee's result, owned by us.
        let answer = unsafe { Any::from_raw(out) };
        if answer.is_none() { Ok(None) } else { answer.to::<String>().map(Some) }
    }

    /// Calls the code generator without cancelling it.
    pub fn run(&self, step: Step, request: &Request) -> (Result<(), Error>, Delivered) {
        self.run_until(step, request, u32::MAX)
    }

    /// Calls the code generator; polls after the first `cancel_after` are answered with yes.
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
        self.host.begin();
        let (status, what) = request.with(|raw_request| {
            // SAFETY: the table is registered and called with its `self_`; the request and the
            // session live for the call.
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
    /// Creates a request without options or sections, for one thread.
    #[must_use]
    pub fn new(ir: Vec<u8>, target_json: Vec<u8>) -> Self {
        let options_json = b"{}".to_vec();
        let (sections, extensions) = (Vec::new(), Vec::new());
        Self { ir, target_json, options_json, sections, threads_max: 1, flags: 0, extensions }
    }

    /// Calls `body` with the request in the form of the ABI.
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
        let chain = Chain::new(&self.extensions);
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

/// A chain of extensions that consist of their headers alone.
pub struct Chain<'a>(Vec<ChipdockExtension>, std::marker::PhantomData<&'a str>);

impl<'a> Chain<'a> {
    /// Creates a chain of these names and flags, in order.
    #[must_use]
    pub fn new(extensions: &'a [(String, u32)]) -> Self {
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

    /// Returns the pointer to store as `next` in the extended struct.
    #[must_use]
    pub fn first(&self) -> *const ChipdockExtension {
        self.0.first().map_or(ptr::null(), ptr::from_ref)
    }
}

impl Delivered {
    /// Describes the parts of a build that a host would refuse (C.4, C.9).
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
