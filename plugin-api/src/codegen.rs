//! The trait of code generators, and its shim.

use core::ffi::c_void;

use chipdock_abi as abi;
use chipdock_abi::{
    ChipdockAny, ChipdockBuildRequest, ChipdockBuildSession, ChipdockCodegen, ChipdockDiagnostic,
    ChipdockInterface, ChipdockProgress1, ChipdockSection,
};

use crate::device_api::not_null;
use crate::host::write_any;
use crate::interface::table_of;
use crate::module::{Section, section_in, sections_in};
use crate::session::Registered;
use crate::text::{str_in, str_out};
use crate::{Any, Error, ErrorKind, HostRef, extension};

/// A request to build a module.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct BuildRequest<'a> {
    /// The module, in the canonical JSON wire format, at the stage that the target kind declares.
    pub ir: &'a str,
    /// The target, canonical JSON.
    pub target_json: &'a str,
    /// Build options, a JSON object; unknown keys are ignored. May be empty for none.
    pub options_json: &'a str,
    /// The greatest number of threads for the build; at least 1.
    pub threads_max: u32,
    sections: &'a [ChipdockSection],
}

impl<'a> BuildRequest<'a> {
    /// Makes a request without sections that allows one thread.
    #[must_use]
    pub fn new(ir: &'a str, target_json: &'a str, options_json: &'a str) -> Self {
        Self { ir, target_json, options_json, threads_max: 1, sections: &[] }
    }

    /// Reads a request of the boundary.
    ///
    /// # Errors
    ///
    /// `ValueError` for null pointers and text that is not UTF-8, `Unsupported` for an unknown
    /// extension that is mandatory (P3.16).
    ///
    /// # Safety
    ///
    /// * C.3: the request and all that it points to live for `'a`.
    pub unsafe fn from_raw(raw: &'a ChipdockBuildRequest) -> Result<Self, Error> {
        // SAFETY: C.3.
        unsafe {
            extension::check(raw.next, "the build request")?;
            Ok(Self {
                ir: str_in(raw.ir, "the IR")?,
                target_json: str_in(raw.target_json, "the target")?,
                options_json: str_in(raw.options_json, "the build options")?,
                threads_max: raw.threads_max.max(1),
                sections: sections_in(raw.sections, raw.sections_count)?,
            })
        }
    }

    /// Returns the sections that accompany the document, in order: the bytes of its constants
    /// (C.43). A section that no node refers to is ignored (C.34).
    pub fn sections(&self) -> impl Iterator<Item = Section<'a>> + use<'a> {
        // SAFETY: C.3; checked when the request was read.
        self.sections.iter().map(|section| unsafe { section_in(section) })
    }
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Severity {
    /// The build fails.
    Error = abi::CHIPDOCK_DIAGNOSTIC_ERROR,
    /// The build goes on.
    Warning = abi::CHIPDOCK_DIAGNOSTIC_WARNING,
    /// For information.
    Note = abi::CHIPDOCK_DIAGNOSTIC_NOTE,
}

/// A diagnostic of a code generator about a node of a module:
/// `Diagnostic::error("expected a constant extent").at(3, 9).function("main")`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Diagnostic<'a> {
    severity: Severity,
    line: u32,
    column: u32,
    function: &'a str,
    node: &'a str,
    message: &'a str,
    hint: &'a str,
}

impl<'a> Diagnostic<'a> {
    /// Makes a diagnostic with a message: what was expected and what was found, without the
    /// position.
    pub fn new(severity: Severity, message: &'a str) -> Self {
        Self { severity, line: 0, column: 0, function: "", node: "", message, hint: "" }
    }

    /// Makes a diagnostic with which the build fails.
    pub fn error(message: &'a str) -> Self {
        Self::new(Severity::Error, message)
    }

    /// Makes a diagnostic with which the build goes on.
    pub fn warning(message: &'a str) -> Self {
        Self::new(Severity::Warning, message)
    }

    /// Makes a diagnostic for information.
    pub fn note(message: &'a str) -> Self {
        Self::new(Severity::Note, message)
    }

    /// Sets the position that the document gives for the node, both numbers from 1; 0 means
    /// unknown.
    pub fn at(self, line: u32, column: u32) -> Self {
        let (line, column) = if line == 0 || column == 0 { (0, 0) } else { (line, column) };
        Self { line, column, ..self }
    }

    /// Sets the name of the function that the diagnostic is about.
    pub fn function(self, function: &'a str) -> Self {
        Self { function, ..self }
    }

    /// Sets the node's text, one line.
    pub fn node(self, node: &'a str) -> Self {
        Self { node, ..self }
    }

    /// Sets the hint: advice for the user.
    pub fn hint(self, hint: &'a str) -> Self {
        Self { hint, ..self }
    }
}

/// The kind of an artifact's section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// Code that is run.
    Code,
    /// Constants of tensors.
    Constants,
    /// Debug information.
    Debug,
    /// The source text of the code.
    Source,
}

impl SectionKind {
    /// All kinds that this version knows.
    pub const ALL: [Self; 4] = [Self::Code, Self::Constants, Self::Debug, Self::Source];

    /// Returns the kind's name in an artifact.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Constants => "constants",
            Self::Debug => "debug",
            Self::Source => "source",
        }
    }
}

/// The receiver of a build's results. It lives for the call, during which any thread may use it;
/// the host copies the data that it receives.
#[derive(Clone, Copy)]
pub struct BuildSession<'a> {
    host: HostRef,
    raw: &'a ChipdockBuildSession,
}

// SAFETY: C.32, its functions may be called from any thread during the call.
unsafe impl Send for BuildSession<'_> {}
// SAFETY: C.32, its functions may be called from any thread during the call.
unsafe impl Sync for BuildSession<'_> {}

impl<'a> BuildSession<'a> {
    /// Makes a session from its table.
    ///
    /// # Safety
    ///
    /// * `raw` keeps C.3: its functions may be called with its `self_` for `'a`, and raise their
    ///   errors with `host`.
    #[must_use]
    pub unsafe fn new(host: HostRef, raw: &'a ChipdockBuildSession) -> Self {
        Self { host, raw }
    }

    /// Sets the artifact's index: JSON with `module_kind`, `format` and `functions`. A successful
    /// build sets it exactly once.
    ///
    /// # Errors
    ///
    /// * `ValueError`: it is not such JSON. `WrongState`: the index was set before. The artifact is
    ///   unchanged.
    pub fn index(&self, index_json: &str) -> Result<(), Error> {
        // SAFETY: C.3; the text is borrowed for the call.
        let status = unsafe { (self.raw.index)(self.raw.self_, str_out(index_json)) };
        self.host.check(status, || "the build session's `index`".to_owned())
    }

    /// Adds a section. A loader aligns its bytes to `alignment_bytes`.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the name is taken, or the alignment is not a power of two. The artifact is
    ///   unchanged.
    pub fn section(
        &self,
        name: &str,
        kind: SectionKind,
        alignment_bytes: u64,
        data: &[u8],
    ) -> Result<(), Error> {
        // SAFETY: C.3; names and bytes are borrowed for the call.
        let status = unsafe {
            (self.raw.section)(
                self.raw.self_,
                str_out(name),
                str_out(kind.as_str()),
                alignment_bytes,
                data.as_ptr().cast(),
                data.len() as u64,
            )
        };
        self.host.check(status, || "the build session's `section`".to_owned())
    }

    /// Reports a diagnostic. If its position is known, the host shows it with that line of the
    /// source.
    ///
    /// # Errors
    ///
    /// * The host could not store it: the error that the host raised.
    pub fn diagnostic(&self, diagnostic: &Diagnostic<'_>) -> Result<(), Error> {
        let raw = ChipdockDiagnostic {
            severity: diagnostic.severity as i32,
            line: diagnostic.line,
            column: diagnostic.column,
            flags: 0,
            function: str_out(diagnostic.function),
            node: str_out(diagnostic.node),
            message: str_out(diagnostic.message),
            hint: str_out(diagnostic.hint),
            next: core::ptr::null(),
        };
        // SAFETY: C.3; the diagnostic and its texts are borrowed for the call.
        let status = unsafe { (self.raw.diagnostic)(self.raw.self_, &raw) };
        self.host.check(status, || "the build session's `diagnostic`".to_owned())
    }

    /// Returns true if the caller has cancelled the build. A long build checks this now and then
    /// and returns `ErrorKind::CANCELLED`.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        // SAFETY: C.3.
        unsafe { (self.raw.is_cancelled)(self.raw.self_) != 0 }
    }

    /// Says what the build is at, for a user who waits: one line without a full stop, such as
    /// `optimise` (C.42). Nothing happens where the host shows no progress, and no failure of the
    /// host is one of the build.
    pub fn step(&self, text: &str) {
        if let Ok(Some((table, self_))) = self.query::<ChipdockProgress1>("progress", 1) {
            // SAFETY: P3.12, the session's interface; the text is borrowed for the call.
            let status = unsafe { (table.step)(self_, str_out(text)) };
            // Takes the host's error, if it raised one, so that no later failure shows it.
            let _ = self.host.check(status, || "the build session's `step`".to_owned());
        }
    }

    /// Queries an interface of the session: its table and the first argument of the table's
    /// functions, or `None` if the host does not have it. `Table` is the struct that belongs to
    /// `name` and `version`.
    ///
    /// # Errors
    ///
    /// * `BrokenPlugin`: the host's answer is no table of that size.
    /// * The error that the host raised.
    pub fn query<Table: Copy + 'static>(
        &self,
        name: &str,
        version: u32,
    ) -> Result<Option<(&'a Table, *mut c_void)>, Error> {
        let mut found = ChipdockInterface::NONE;
        // SAFETY: C.3; the name is borrowed for the call, and the place is writable.
        let status = unsafe { (self.raw.query)(self.raw.self_, str_out(name), version, &mut found) };
        self.host.check(status, || format!("the build session's `query` for `{name}` {version}"))?;
        // SAFETY: P3.12, an interface of a session lives as long as the session.
        unsafe { table_of(&found, name, version) }
    }
}

/// A code generator, which turns IR into an artifact; its key is `target.build.<kind>`.
///
/// A pure function of the request and of the text of [`Self::fingerprint`]: it queries no device,
/// and the same request with the same fingerprint gives the same bytes (C.1). Every method may be
/// called from any thread at once.
pub trait Codegen: Send + Sync + 'static {
    /// Reports every node that cannot be built, each as one error diagnostic, without building
    /// anything.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the request cannot be read. A module with unsupported nodes is a success.
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error>;

    /// Builds the module into `session`: the index once, and the sections.
    ///
    /// # Errors
    ///
    /// * `Unsupported`: a node cannot be built; the message names one, and each was reported as
    ///   [`Self::unsupported`] reports it (C.5).
    /// * `Cancelled`: [`BuildSession::is_cancelled`] returned true.
    /// * `Unavailable`: a library that it needs is missing; the message names what was tried.
    ///
    /// The host drops the data that was delivered before the failure.
    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error>;

    /// Returns a text for everything, besides the request, on which the bytes of a build depend. It
    /// differs whenever the same request might give other bytes: the generator's version, the
    /// compiler that is found and its version, active hooks. The default implementation returns
    /// `None`: no build may be kept for later. An implementation opens at most the vendor's
    /// library, and queries no device (C.35).
    ///
    /// # Errors
    ///
    /// * `ValueError`: the request cannot be read.
    /// * `Unavailable`: a library that it needs is missing; the message names what was tried.
    fn fingerprint(&self, request: &BuildRequest<'_>) -> Result<Option<String>, Error> {
        let _ = request;
        Ok(None)
    }
}

type Self_ = Registered<dyn Codegen>;

unsafe extern "C" fn destroy(self_: *mut c_void) {
    // SAFETY: C.2, called once, last.
    unsafe { Self_::destroy(self_) };
}

/// # Safety
///
/// * C.2 and C.3: a registered `self_`, a live request and a live session.
unsafe fn run(
    self_: *mut c_void,
    request: *const ChipdockBuildRequest,
    session: *const ChipdockBuildSession,
    body: impl FnOnce(&dyn Codegen, &BuildRequest<'_>, &BuildSession<'_>) -> Result<(), Error>,
) -> i32 {
    // SAFETY: `self_`, the request and the session are live (C.2, C.3), as this function requires.
    unsafe {
        Self_::enter_registered(self_, |registered| {
            let request = BuildRequest::from_raw(not_null(request, "the build request")?)?;
            let session = not_null(session, "the build session")?;
            let session = BuildSession::new(registered.session().host(), session);
            body(registered.value(), &request, &session)
        })
    }
}

unsafe extern "C" fn unsupported(
    self_: *mut c_void,
    request: *const ChipdockBuildRequest,
    session: *const ChipdockBuildSession,
) -> i32 {
    // SAFETY: C.2 and C.3.
    unsafe { run(self_, request, session, |codegen, request, session| codegen.unsupported(request, session)) }
}

unsafe extern "C" fn build(
    self_: *mut c_void,
    request: *const ChipdockBuildRequest,
    session: *const ChipdockBuildSession,
) -> i32 {
    // SAFETY: C.2 and C.3.
    unsafe { run(self_, request, session, |codegen, request, session| codegen.build(request, session)) }
}

unsafe extern "C" fn fingerprint(
    self_: *mut c_void,
    request: *const ChipdockBuildRequest,
    out_fingerprint: *mut ChipdockAny,
) -> i32 {
    // SAFETY: C.2 and C.3, a registered `self_`, a live request and a place to write to.
    unsafe {
        Self_::enter(self_, |codegen| {
            let request = BuildRequest::from_raw(not_null(request, "the build request")?)?;
            crate::ensure!(
                !out_fingerprint.is_null(),
                ErrorKind::VALUE_ERROR,
                "the place for the fingerprint is null"
            );
            write_any(out_fingerprint, codegen.fingerprint(&request)?.map_or(Any::NONE, Any::from))
        })
    }
}

/// The table of every code generator that is written in Rust.
pub(crate) static TABLE: ChipdockCodegen = ChipdockCodegen { destroy, unsupported, build, fingerprint };
