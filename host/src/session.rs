//! A build session: the code generator's end of a build, and where its results go.

use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chipdock_abi::{
    CHIPDOCK_DIAGNOSTIC_ERROR, CHIPDOCK_DIAGNOSTIC_NOTE, CHIPDOCK_DIAGNOSTIC_WARNING,
    CHIPDOCK_INVALID_ARGUMENT, CHIPDOCK_OK, ChipdockBuildRequest, ChipdockBuildSession, ChipdockStr,
};
use chipdock_ir::{Diagnostic, Span};
use chipdock_plugin_api::text::{bytes_in, str_in_lossy};

use crate::artifact::Section;
use crate::error::{Error, ErrorKind};
use crate::registrar::CodegenEntry;
use crate::services::{Services, text_in};

/// How serious a message of a code generator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The build fails.
    Error,
    /// The build goes on.
    Warning,
    /// For information.
    Note,
}

/// A message of a code generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildMessage {
    /// How serious it is.
    pub severity: Severity,
    /// What it is about.
    pub diagnostic: Diagnostic,
}

impl fmt::Display for BuildMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        write!(f, "{severity}: {}", self.diagnostic)
    }
}

/// What a code generator is asked.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Unsupported,
    Build,
}

/// Where a build's results go. A code generator may use it from several threads.
pub(crate) struct Session {
    services: &'static Services,
    cancel: Arc<AtomicBool>,
    delivered: Mutex<Delivered>,
}

#[derive(Default)]
struct Delivered {
    index: Option<String>,
    sections: Vec<Section>,
    messages: Vec<BuildMessage>,
}

impl Session {
    pub(crate) fn new(services: &'static Services, cancel: Arc<AtomicBool>) -> Self {
        Self { services, cancel, delivered: Mutex::default() }
    }

    pub(crate) fn run(
        &self,
        codegen: &CodegenEntry,
        request: &ChipdockBuildRequest,
        step: Step,
    ) -> Result<(), Error> {
        let session = ChipdockBuildSession {
            self_: std::ptr::from_ref(self).cast_mut().cast(),
            index,
            section,
            diagnostic,
            is_cancelled,
        };
        self.services.clear_error();
        let (table, codegen_self) = (codegen.owned.table(), codegen.owned.self_());
        // SAFETY: the registered `self`, a request and a session that live for the call.
        let status = unsafe {
            match step {
                Step::Unsupported => (table.unsupported)(codegen_self, request, &session),
                Step::Build => (table.build)(codegen_self, request, &session),
            }
        };
        self.services.check(status, || match step {
            Step::Unsupported => "`unsupported`".to_owned(),
            Step::Build => "`build`".to_owned(),
        })
    }

    fn with<R>(&self, change: impl FnOnce(&mut Delivered) -> R) -> R {
        change(&mut self.delivered.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Moves what was said out: errors are answered, the rest is added to `messages`.
    pub(crate) fn take_messages(&self, messages: &mut Vec<BuildMessage>) -> Vec<Diagnostic> {
        let taken = self.with(|delivered| std::mem::take(&mut delivered.messages));
        let (errors, others): (Vec<_>, Vec<_>) =
            taken.into_iter().partition(|message| message.severity == Severity::Error);
        messages.extend(others);
        errors.into_iter().map(|message| message.diagnostic).collect()
    }

    pub(crate) fn into_parts(self) -> (Option<String>, Vec<Section>) {
        let delivered = self.delivered.into_inner().unwrap_or_else(PoisonError::into_inner);
        (delivered.index, delivered.sections)
    }

    fn status(&self, done: Result<(), String>) -> i32 {
        match done {
            Ok(()) => CHIPDOCK_OK,
            Err(message) => {
                self.services.raise_own(&Error::new(ErrorKind::Value, message));
                CHIPDOCK_INVALID_ARGUMENT
            }
        }
    }
}

/// A message that begins with `line:column: `, and its place.
fn placed(message: &str) -> (Span, &str) {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let place = message.split_once(": ").and_then(|(place, rest)| {
        let (line, column) = place.split_once(':')?;
        Some((Span { line: number(line)?, column: number(column)? }, rest))
    });
    place.unwrap_or((Span::NONE, message))
}

/// # Safety
///
/// `self_` is that of a session made above, which is alive.
unsafe fn session<'a>(self_: *mut c_void) -> &'a Session {
    // SAFETY: the caller's word.
    unsafe { &*self_.cast::<Session>() }
}

unsafe extern "C" fn index(self_: *mut c_void, index_json: ChipdockStr) -> i32 {
    // SAFETY: called during a build, with the session's `self_` and a string that lives for the call.
    let (session, index) = unsafe { (session(self_), text_in(index_json, "the index")) };
    session.status(index.and_then(|index| {
        session.with(|delivered| match delivered.index.replace(index) {
            None => Ok(()),
            Some(_) => Err("the index is set a second time".to_owned()),
        })
    }))
}

unsafe extern "C" fn section(
    self_: *mut c_void,
    name: ChipdockStr,
    kind: ChipdockStr,
    alignment_bytes: u64,
    data: *const c_void,
    size_bytes: u64,
) -> i32 {
    // SAFETY: called during a build, with the session's `self_`; strings and bytes live for the call.
    let (session, name, kind, data) = unsafe {
        (
            session(self_),
            text_in(name, "a section's name"),
            text_in(kind, "a section's kind"),
            usize::try_from(size_bytes)
                .ok()
                .filter(|size| *size == 0 || !data.is_null())
                .map(|size| bytes_in(ChipdockStr { data: data.cast(), size })),
        )
    };
    let section = name.and_then(|name| {
        let data = data.ok_or_else(|| format!("section \"{name}\" is null with {size_bytes} bytes"))?;
        Section::new(&name, &kind?, alignment_bytes, data).map_err(|error| error.to_string())
    });
    session.status(section.map(|section| session.with(|delivered| delivered.sections.push(section))))
}

unsafe extern "C" fn diagnostic(
    self_: *mut c_void,
    severity: i32,
    function: ChipdockStr,
    node: ChipdockStr,
    message: ChipdockStr,
) -> i32 {
    // SAFETY: called during a build, with the session's `self_`; strings live for the call.
    let (session, function, node, message) =
        unsafe { (session(self_), str_in_lossy(function), str_in_lossy(node), str_in_lossy(message)) };
    let severity = match severity {
        CHIPDOCK_DIAGNOSTIC_WARNING => Severity::Warning,
        CHIPDOCK_DIAGNOSTIC_NOTE => Severity::Note,
        CHIPDOCK_DIAGNOSTIC_ERROR => Severity::Error,
        // One that a newer plugin knows; it is kept and does no harm.
        _ => Severity::Note,
    };
    let (function, node) = (function.into_owned().into(), node.into_owned());
    let (span, message) = placed(&message);
    let diagnostic = Diagnostic { function, span, node, message: message.to_owned() };
    session.with(|delivered| delivered.messages.push(BuildMessage { severity, diagnostic }));
    CHIPDOCK_OK
}

unsafe extern "C" fn is_cancelled(self_: *mut c_void) -> i32 {
    // SAFETY: called during a build, with the session's `self_`.
    i32::from(unsafe { session(self_) }.cancel.load(Ordering::Relaxed))
}
