//! A build session: receives a code generator's results during a build (HOST-A6, HOST-A8 of this
//! crate's front page).

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chipdock_abi::{
    CHIPDOCK_BROKEN_PLUGIN, CHIPDOCK_DIAGNOSTIC_ERROR, CHIPDOCK_DIAGNOSTIC_WARNING, CHIPDOCK_OK,
    CHIPDOCK_OUT_OF_MEMORY, ChipdockBuildRequest, ChipdockBuildSession, ChipdockDiagnostic,
    ChipdockInterface, ChipdockProgress1, ChipdockStr,
};
use chipdock_ir::{Diagnostic, Span};
use chipdock_plugin_api as api;
use chipdock_plugin_api::extension;
use chipdock_plugin_api::text::bytes_in;
use serde::{Deserialize, Serialize};

use crate::boundary::lent::{self, Loan, Loans};
use crate::boundary::registrar::CodegenEntry;
use crate::bounds::{
    self, ANSWER_BYTES_MAX, ARTIFACT_BYTES_MAX, DIAGNOSTICS_BYTES_MAX, DIAGNOSTICS_MAX,
    DIAGNOSTICS_REPORTED_MAX, INDEX_BYTES_MAX, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, PLAUSIBLE_BYTES_MAX,
    SECTIONS_MAX, aligned,
};
use crate::compile::artifact::Section;
use crate::error::{Error, ErrorKind};
use crate::names::is_name;
use crate::runtime::{answered, broken};
use crate::shown::shown;

/// The severity of a code generator's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The build fails.
    Error,
    /// The build goes on.
    Warning,
    /// For information.
    Note,
}

impl Severity {
    /// Returns the severity of that number; of an unknown one, the nearest that is graver (P3.6).
    pub(crate) fn of(severity: i32) -> Self {
        match severity {
            ..=CHIPDOCK_DIAGNOSTIC_ERROR => Self::Error,
            CHIPDOCK_DIAGNOSTIC_WARNING => Self::Warning,
            _ => Self::Note,
        }
    }
}

/// A message of a code generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildMessage {
    /// The plugin whose words it is.
    pub plugin: Arc<str>,
    /// Its severity.
    pub severity: Severity,
    /// The diagnostic itself.
    pub diagnostic: Diagnostic,
}

impl fmt::Display for BuildMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        write!(f, "{severity}: plugin \"{}\" says: {}", self.plugin, self.diagnostic)
    }
}

/// Greatest length of a step that is told, in characters.
const STEP_CHARS_MAX: usize = 200;

/// Receives the text of each step of a build.
pub(crate) type OnText = Box<dyn Fn(&str) + Send + Sync>;

/// Interface `progress` 1 of a session.
pub(crate) static PROGRESS: ChipdockProgress1 = ChipdockProgress1 { step };

/// Receiver of a build's results. A code generator may use it from several threads.
pub(crate) struct Session {
    loans: &'static Loans,
    cancel: Arc<AtomicBool>,
    on_step: Option<OnText>,
    delivered: Mutex<Delivered>,
}

#[derive(Default)]
struct Delivered {
    index: Option<String>,
    sections: Vec<Section>,
    sections_bytes: u64,
    messages: Vec<BuildMessage>,
    messages_bytes: usize,
    /// Numbers of messages that were not kept: errors, others.
    more: (u64, u64),
    /// Reason of the first refused delivery.
    refused: Option<String>,
    /// Whether the call has returned.
    is_closed: bool,
}

impl Delivered {
    /// Returns true if a further message is counted, not kept.
    fn is_full(&self) -> bool {
        self.messages.len() >= DIAGNOSTICS_MAX || self.messages_bytes >= DIAGNOSTICS_BYTES_MAX
    }

    /// Counts a message that is not kept (P13.3).
    fn count(&mut self, severity: Severity) -> Result<(), String> {
        let more = &mut self.more;
        let all = more.0 + more.1 + self.messages.len() as u64;
        if all >= DIAGNOSTICS_REPORTED_MAX {
            return Err(format!("more than {DIAGNOSTICS_REPORTED_MAX} diagnostics"));
        }
        *if severity == Severity::Error { &mut more.0 } else { &mut more.1 } += 1;
        Ok(())
    }
}

/// Asks the code generator for the inputs that the bytes of a build depend on beside the request
/// (C.35); `None` where they are unknown.
pub(crate) fn fingerprint(
    codegen: &CodegenEntry,
    request: &ChipdockBuildRequest,
) -> Result<Option<String>, Error> {
    let mut out = api::Any::NONE.into_raw();
    let slots = codegen.owned.instance().slots();
    slots.clear_error();
    let _calling = codegen.owned.calling(&format!("target.build.{}: fingerprint", codegen.kind));
    let (table, codegen_self) = (codegen.owned.table(), codegen.owned.self_());
    // SAFETY: the registered `self`, a request that lives for the call, a place for an owned value.
    let status = unsafe { (table.fingerprint)(codegen_self, request, &mut out) };
    let what = || "`fingerprint`".to_owned();
    slots.check(status, what)?;
    // SAFETY: None, or a value that we own now.
    let answer = unsafe { answered(out, &what) }?;
    let text = answer
        .to::<Option<String>>()
        .map_err(|error| broken(format!("{} answered {}", what(), error.message())))?;
    match text {
        Some(text) if text.len() > ANSWER_BYTES_MAX => {
            let size = text.len();
            Err(broken(format!("{} answered {size} bytes; expected at most {ANSWER_BYTES_MAX}", what())))
        }
        Some(text) if text.is_empty() => Err(broken(format!("{} answered an empty text", what()))),
        text => Ok(text),
    }
}

/// Results that a build delivered.
pub(crate) struct Parts {
    pub(crate) index: Option<String>,
    pub(crate) sections: Vec<Section>,
    /// Reason why a delivery was refused, if one was.
    pub(crate) refused: Option<String>,
}

/// The reason why a delivery is not taken.
enum Refused {
    /// It breaks a clause.
    Broken(String),
    /// There is no memory for it.
    NoMemory(String),
}

impl Refused {
    fn message(&self) -> &str {
        match self {
            Self::Broken(message) | Self::NoMemory(message) => message,
        }
    }
}

impl From<String> for Refused {
    fn from(message: String) -> Self {
        Self::Broken(message)
    }
}

impl Session {
    pub(crate) fn new(loans: &'static Loans, cancel: Arc<AtomicBool>, on_step: Option<OnText>) -> Arc<Self> {
        Arc::new(Self { loans, cancel, on_step, delivered: Mutex::default() })
    }

    /// Lends the session to one call (HOST-A6).
    pub(crate) fn lend(self: &Arc<Self>) -> Loan<'static, ChipdockBuildSession> {
        let table = |self_| ChipdockBuildSession { self_, index, section, diagnostic, is_cancelled, query };
        self.loans.sessions.lend(Arc::clone(self) as _, table)
    }

    /// Builds into this session.
    pub(crate) fn run(
        self: &Arc<Self>,
        codegen: &CodegenEntry,
        request: &ChipdockBuildRequest,
    ) -> Result<(), Error> {
        let loan = self.lend();
        self.loans.slots.clear_error();
        let _calling = codegen.owned.calling(&format!("target.build.{}: build", codegen.kind));
        let (table, codegen_self) = (codegen.owned.table(), codegen.owned.self_());
        // SAFETY: the registered `self`, a request that lives for the call, a session that lives
        // longer.
        let status = unsafe { (table.build)(codegen_self, request, loan.table()) };
        // A call to the session on another thread finds it closed.
        self.with(|delivered| delivered.is_closed = true);
        drop(loan);
        self.loans.slots.check(status, || "`build`".to_owned())
    }

    fn with<R>(&self, change: impl FnOnce(&mut Delivered) -> R) -> R {
        change(&mut self.delivered.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Moves the messages out: returns the errors, and adds the rest to `messages`.
    pub(crate) fn take_messages(&self, messages: &mut Vec<BuildMessage>) -> Vec<Diagnostic> {
        let (taken, (more_errors, more_others)) = self.with(|delivered| {
            delivered.messages_bytes = 0;
            (std::mem::take(&mut delivered.messages), std::mem::take(&mut delivered.more))
        });
        let more = |count: u64, what: &str| Diagnostic {
            function: "".into(),
            span: Span::NONE,
            node: String::new(),
            message: format!("… and {count} more {what}"),
        };
        let (errors, others): (Vec<_>, Vec<_>) =
            taken.into_iter().partition(|message| message.severity == Severity::Error);
        messages.extend(others);
        if more_others > 0 {
            let diagnostic = more(more_others, "warnings and notes");
            messages.push(BuildMessage { plugin: "".into(), severity: Severity::Note, diagnostic });
        }
        let mut errors: Vec<Diagnostic> = errors.into_iter().map(|message| message.diagnostic).collect();
        if more_errors > 0 {
            errors.push(more(more_errors, "errors"));
        }
        errors
    }

    /// Moves the deliveries out.
    pub(crate) fn take_parts(&self) -> Parts {
        let delivered = self.with(std::mem::take);
        Parts { index: delivered.index, sections: delivered.sections, refused: delivered.refused }
    }

    /// Changes the deliveries, unless the call is over or the change is refused. A refusal is the
    /// build's failure even if the code generator ignores it. C.3: the session lives for the call.
    fn deliver(&self, change: impl FnOnce(&mut Delivered) -> Result<(), Refused>) -> i32 {
        let done = self.with(|delivered| {
            if delivered.is_closed {
                return Err(Refused::Broken("a build session was used after its build".to_owned()));
            }
            change(delivered).inspect_err(|refused| {
                delivered.refused.get_or_insert_with(|| refused.message().to_owned());
            })
        });
        let (kind, status, message) = match done {
            Ok(()) => return CHIPDOCK_OK,
            Err(Refused::Broken(message)) => (ErrorKind::BrokenPlugin, CHIPDOCK_BROKEN_PLUGIN, message),
            Err(Refused::NoMemory(message)) => (ErrorKind::OutOfMemory, CHIPDOCK_OUT_OF_MEMORY, message),
        };
        self.loans.slots.raise_own(&Error::new(kind, message));
        status
    }
}

/// Runs a function of the session of a `self_` (HOST-A6, HOST-A7).
fn enter(self_: *mut c_void, what: &str, body: impl FnOnce(&Session) -> i32) -> i32 {
    lent::enter(self_, what, |loans| &loans.sessions, body)
}

unsafe extern "C" fn index(self_: *mut c_void, index_json: ChipdockStr) -> i32 {
    enter(self_, "index", |session| {
        // SAFETY: a string that lives for the call.
        let index = unsafe { bounds::text(index_json, "the index", INDEX_BYTES_MAX) };
        session.deliver(|delivered| {
            let index = index?;
            if delivered.index.is_some() {
                return Err("the index is set a second time (C.4)".to_owned().into());
            }
            delivered.index = Some(index.to_owned());
            Ok(())
        })
    })
}

unsafe extern "C" fn section(
    self_: *mut c_void,
    name: ChipdockStr,
    kind: ChipdockStr,
    alignment_bytes: u64,
    data: *const c_void,
    size_bytes: u64,
) -> i32 {
    enter(self_, "section", |session| {
        // SAFETY: strings that live for the call.
        let (name, kind) = unsafe {
            (
                bounds::text(name, "a section's name", NAME_BYTES_MAX),
                bounds::text(kind, "a section's kind", NAME_BYTES_MAX),
            )
        };
        session.deliver(|delivered| {
            let (name, kind) = (name?, kind?);
            if !is_name(kind) {
                let kind: String = kind.chars().take(60).collect();
                return Err(Refused::Broken(format!(
                    "section \"{name}\" is of kind {kind:?}; expected a word of letters, digits, \"_\", \".\" and \"-\" (C.26)"
                )));
            }
            if delivered.sections.len() >= SECTIONS_MAX {
                let message = format!("section \"{name}\" is one too many; expected at most {SECTIONS_MAX}");
                return Err(Refused::Broken(message));
            }
            let all = delivered.sections_bytes.saturating_add(size_bytes);
            if all > ARTIFACT_BYTES_MAX {
                return Err(Refused::Broken(format!(
                    "section \"{name}\" of {size_bytes} bytes makes {all} with the others; \
                     expected at most {ARTIFACT_BYTES_MAX}"
                )));
            }
            if data.is_null() && size_bytes != 0 {
                let message = format!("section \"{name}\" is null with {size_bytes} bytes (D.2)");
                return Err(Refused::Broken(message));
            }
            let size = usize::try_from(size_bytes).map_err(|error| error.to_string())?;
            // SAFETY: not null unless it is empty; bytes that live for the call.
            let bytes = unsafe { bytes_in(ChipdockStr { data: data.cast(), size }) };
            let section =
                Section::new(name, kind, alignment_bytes, bytes).map_err(|error| match error.kind() {
                    ErrorKind::OutOfMemory => Refused::NoMemory(error.message().to_owned()),
                    _ => Refused::Broken(error.to_string()),
                })?;
            delivered.sections.push(section);
            delivered.sections_bytes = all;
            Ok(())
        })
    })
}

unsafe extern "C" fn diagnostic(self_: *mut c_void, diagnostic: *const ChipdockDiagnostic) -> i32 {
    enter(self_, "diagnostic", |session| {
        // SAFETY: null, misaligned or a diagnostic that lives for the call.
        let given = unsafe { aligned(diagnostic).as_ref() };
        // SAFETY: null, misaligned or a diagnostic that lives for the call; a chain that lives as
        // long.
        let chain = given.map_or(Ok(()), |given| unsafe { extension::check(given.next, "the diagnostic") });
        if let Err(error) = chain {
            // The code generator may report without the extension: this delivery is not wrong.
            let status = error.kind().status();
            session.loans.slots.raise(error);
            return status;
        }
        session.deliver(|delivered| {
            let given = given.ok_or_else(|| "a diagnostic is null or not aligned".to_owned())?;
            let severity = Severity::of(given.severity);
            if delivered.is_full() {
                return Ok(delivered.count(severity)?);
            }
            let message = read_message(given, severity)?;
            let Diagnostic { function, node, message: text, .. } = &message.diagnostic;
            delivered.messages_bytes += function.len() + node.len() + text.len();
            delivered.messages.push(message);
            Ok(())
        })
    })
}

/// Reads a diagnostic in the form in which it is shown: the hint follows the message. A text of
/// more than a GiB is none (P13.3).
fn read_message(given: &ChipdockDiagnostic, severity: Severity) -> Result<BuildMessage, String> {
    let texts = [
        (given.function, "function", NAME_BYTES_MAX),
        (given.node, "node", MESSAGE_BYTES_MAX),
        (given.message, "message", MESSAGE_BYTES_MAX),
        (given.hint, "hint", MESSAGE_BYTES_MAX),
    ];
    if let Some((text, what, _)) = texts.iter().find(|(text, ..)| text.size > PLAUSIBLE_BYTES_MAX) {
        return Err(format!(
            "the {what} of a diagnostic has {} bytes; expected at most {PLAUSIBLE_BYTES_MAX}",
            text.size
        ));
    }
    // SAFETY: strings that live for the call.
    let [function, node, mut message, hint] =
        texts.map(|(text, _, bytes_max)| unsafe { bounds::shown(text, bytes_max) });
    if !hint.is_empty() {
        message = format!("{message}; {hint}");
    }
    let span = match (given.line, given.column) {
        (0, _) | (_, 0) => Span::NONE,
        (line, column) => Span { line, column },
    };
    let diagnostic = Diagnostic { function: function.into(), span, node, message };
    // Its plugin is known to whoever asked for the build.
    Ok(BuildMessage { plugin: "".into(), severity, diagnostic })
}

/// Answers `query` with `progress` 1 where somebody listens, and no other interface.
unsafe extern "C" fn query(
    self_: *mut c_void,
    name: ChipdockStr,
    version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    enter(self_, "query", |session| {
        // SAFETY: a string that lives for the call.
        let name = unsafe { bounds::text(name, "an interface's name", NAME_BYTES_MAX) };
        let is_there = session.on_step.is_some() && matches!((name, version), (Ok("progress"), 1));
        // SAFETY: the caller guarantees that it is writable or null.
        if let Some(out) = unsafe { aligned(out_interface).cast_mut().as_mut() } {
            *out = if is_there {
                ChipdockInterface {
                    self_,
                    table: ptr::from_ref(&PROGRESS).cast(),
                    table_size_bytes: size_of::<ChipdockProgress1>() as u64,
                    features: 0,
                }
            } else {
                ChipdockInterface::NONE
            };
        }
        CHIPDOCK_OK
    })
}

/// Hands a step to whoever listens (COMPILE-C10).
unsafe extern "C" fn step(self_: *mut c_void, text: ChipdockStr) -> i32 {
    enter(self_, "step", |session| {
        if let Some(on_step) = &session.on_step
            && session.with(|delivered| !delivered.is_closed)
        {
            // SAFETY: a string that lives for the call.
            let text = unsafe { bounds::shown(text, NAME_BYTES_MAX) };
            on_step(&shown(text.lines().next().unwrap_or_default(), STEP_CHARS_MAX));
        }
        CHIPDOCK_OK
    })
}

/// Returns nonzero for a cancelled build, and for a session that is over: the code generator then
/// gives up.
unsafe extern "C" fn is_cancelled(self_: *mut c_void) -> i32 {
    enter(self_, "is_cancelled", |session| i32::from(session.cancel.load(Ordering::Relaxed)))
}
