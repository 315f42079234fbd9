//! A code generator through its table, with a session that records what it does.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use chipdock_abi::{
    CHIPDOCK_INVALID_ARGUMENT, CHIPDOCK_OK, ChipdockBuildRequest, ChipdockBuildSession, ChipdockCodegen,
    ChipdockStr,
};
use chipdock_plugin_api::text::{bytes_in, str_in_lossy};
use chipdock_plugin_api::{Error, ErrorKind};

use super::host::SuiteHost;
use super::kind::{bytes_out, null_table};
use super::plugin::{Plugin, Table};

/// What is to be built, as bytes: they need not be what they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The module.
    pub ir: Vec<u8>,
    /// The target.
    pub target_json: Vec<u8>,
    /// The options.
    pub options_json: Vec<u8>,
    /// How many threads it may use.
    pub threads_max: u32,
}

/// A section as it was delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// What its bytes are to be aligned to.
    pub alignment_bytes: u64,
    /// Its bytes.
    pub data: Vec<u8>,
}

/// A diagnostic as it was reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// One of `CHIPDOCK_DIAGNOSTIC_*`.
    pub severity: i32,
    /// The function that it is about.
    pub function: String,
    /// The node.
    pub node: String,
    /// What is wrong.
    pub message: String,
}

/// What a call of a code generator delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Each index, in order; a good build has one.
    pub indexes: Vec<String>,
    /// Each section, in order.
    pub sections: Vec<Section>,
    /// Each diagnostic, in order.
    pub diagnostics: Vec<Reported>,
    /// What of it breaks the contract by itself: null pointers, text that is not UTF-8.
    pub broken: Vec<String>,
    /// How often it asked whether it is cancelled.
    pub n_polls: u32,
}

/// The host's end of a build.
struct Session {
    host: &'static SuiteHost,
    /// Polls up to this one are answered with no.
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
        // SAFETY: as above.
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

unsafe extern "C" fn diagnostic(
    self_: *mut c_void,
    severity: i32,
    function: ChipdockStr,
    node: ChipdockStr,
    message: ChipdockStr,
) -> i32 {
    let session = session(self_);
    let [function, node, message] = [
        session.text(function, "a diagnostic's function"),
        session.text(node, "a diagnostic's node"),
        session.text(message, "a diagnostic's message"),
    ];
    session.with(|delivered| delivered.diagnostics.push(Reported { severity, function, node, message }));
    CHIPDOCK_OK
}

unsafe extern "C" fn is_cancelled(self_: *mut c_void) -> i32 {
    let session = session(self_);
    i32::from(session.polls.fetch_add(1, Ordering::Relaxed) >= session.cancel_after)
}

/// A code generator.
#[derive(Clone)]
pub struct Codegen {
    /// Its target kind's name.
    pub kind: String,
    /// The oldest wire version that it reads.
    pub ir_min: String,
    /// The newest wire version that it reads.
    pub ir_max: String,
    table: Table<ChipdockCodegen>,
    host: &'static SuiteHost,
}

/// Which of its functions is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `unsupported`
    Unsupported,
    /// `build`
    Build,
}

impl Codegen {
    /// The code generator of that kind, if the plugin registered it.
    #[must_use]
    pub fn of(plugin: &Plugin, kind: &str) -> Option<Self> {
        let (kind, [ir_min, ir_max], table) =
            plugin.codegens().into_iter().find(|(known, ..)| known == kind)?;
        Some(Self { kind, ir_min, ir_max, table, host: plugin.host() })
    }

    /// Calls it; nobody cancels.
    pub fn run(&self, step: Step, request: &Request) -> (Result<(), Error>, Delivered) {
        self.run_until(step, request, u32::MAX)
    }

    /// Calls it; from the poll after `cancel_after` polls on it is cancelled.
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
        };
        let raw_request = ChipdockBuildRequest {
            ir: bytes_out(&request.ir),
            target_json: bytes_out(&request.target_json),
            options_json: bytes_out(&request.options_json),
            threads_max: request.threads_max,
            padding: 0,
        };
        drop(self.host.take_error());
        // SAFETY: a registered table, its `self_`, a request and a session that live for the call.
        let (status, what) = unsafe {
            match step {
                Step::Unsupported => {
                    ((table.unsupported)(self.table.self_, &raw_request, &raw_session), "unsupported")
                }
                Step::Build => ((table.build)(self.table.self_, &raw_request, &raw_session), "build"),
            }
        };
        let result = self.host.check(status, what);
        let n_polls = state.polls.load(Ordering::Relaxed);
        let delivered = state.delivered.into_inner().unwrap_or_else(PoisonError::into_inner);
        (result, Delivered { n_polls, ..delivered })
    }
}

impl Delivered {
    /// What of it a host would refuse of a good build, in words (C.4, C.9).
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
