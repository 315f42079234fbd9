//! The code generator as a safe trait, and its shim.

use core::ffi::c_void;

use chipdock_abi as abi;
use chipdock_abi::{ChipdockBuildRequest, ChipdockBuildSession, ChipdockCodegen, ChipdockStr};

use crate::device_api::not_null;
use crate::session::Registered;
use crate::text::{str_in, str_out};
use crate::{Error, HostRef};

/// What is to be built.
#[derive(Clone, Copy, Debug)]
pub struct BuildRequest<'a> {
    /// The module, in the canonical JSON wire format, at the stage that the target kind declares.
    pub ir: &'a str,
    /// The target, canonical JSON.
    pub target_json: &'a str,
    /// Build options, a JSON object; unknown keys are ignored. May be empty for none.
    pub options_json: &'a str,
    /// How many threads the build may use; at least 1.
    pub threads_max: u32,
}

/// How grave a diagnostic is.
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

/// What a section of an artifact is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// What runs.
    Code,
    /// Constants of tensors.
    Constants,
    /// Debug information.
    Debug,
    /// The text that the code was made from.
    Source,
}

impl SectionKind {
    /// The name in the artifact.
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

/// Where a build's results go. It lives for the call; the host copies what it is given.
#[derive(Clone, Copy)]
pub struct BuildSession<'a> {
    host: HostRef,
    raw: &'a ChipdockBuildSession,
}

impl<'a> BuildSession<'a> {
    /// A session by its table.
    ///
    /// # Safety
    ///
    /// * `raw` keeps C.3: its functions may be called with its `self_` for `'a`, and raise their errors with `host`.
    #[must_use]
    pub unsafe fn new(host: HostRef, raw: &'a ChipdockBuildSession) -> Self {
        Self { host, raw }
    }

    /// Sets the artifact's index: JSON with `module_kind`, `format` and `functions`. Exactly once in a good build.
    ///
    /// # Errors
    ///
    /// * `ValueError`: it is not such JSON. `WrongState`: it was set already. The artifact is as it was.
    pub fn index(&self, index_json: &str) -> Result<(), Error> {
        // SAFETY: C.3; the text is borrowed for the call.
        let status = unsafe { (self.raw.index)(self.raw.self_, str_out(index_json)) };
        self.host.check(status, || "the build session's `index`".to_owned())
    }

    /// Adds a section. `alignment_bytes` is what a loader must align the bytes to.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the name is taken, or the alignment is no power of two. The artifact is as it was.
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

    /// Reports a diagnostic. `function` and `node` say where, as far as known, else they are empty. A message that begins
    /// with `line:column: `, positions of the wire, is shown with that line of the source.
    ///
    /// # Errors
    ///
    /// * What the host could not store it for.
    pub fn diagnostic(
        &self,
        severity: Severity,
        function: &str,
        node: &str,
        message: &str,
    ) -> Result<(), Error> {
        let (function, node, message) = (str_out(function), str_out(node), str_out(message));
        // SAFETY: C.3; the texts are borrowed for the call.
        let status =
            unsafe { (self.raw.diagnostic)(self.raw.self_, severity as i32, function, node, message) };
        self.host.check(status, || "the build session's `diagnostic`".to_owned())
    }

    /// Whether the caller has given up. A long build asks now and then and answers `ErrorKind::CANCELLED`.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        // SAFETY: C.3.
        unsafe { (self.raw.is_cancelled)(self.raw.self_) != 0 }
    }
}

/// Turns IR into an artifact: what `target.build.<kind>` stands for.
///
/// A pure function of the request: it never asks a device, and the same request gives the same bytes (C.1). Every
/// method may be called from any thread at once.
pub trait Codegen: Send + Sync + 'static {
    /// Reports every node that cannot be built, each as one error diagnostic, without building anything.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the request cannot be read. A module with unsupported nodes is a success.
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error>;

    /// Builds the module into `session`: the index once, and the sections.
    ///
    /// # Errors
    ///
    /// * `Unsupported`: a node cannot be built; the message names it, and [`Self::unsupported`] lists it.
    /// * `Cancelled`: [`BuildSession::is_cancelled`] said so.
    /// * `Unavailable`: a library that it needs is not there; the message names what was tried.
    ///
    /// The host drops what was delivered before.
    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error>;
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
    let text = |text: ChipdockStr, what: &str| {
        // SAFETY: C.3, texts of the request are live for the call.
        unsafe { str_in(text, what) }
    };
    // SAFETY: the caller's word.
    unsafe {
        Self_::enter_registered(self_, |registered| {
            let raw = not_null(request, "the build request")?;
            let request = BuildRequest {
                ir: text(raw.ir, "the IR")?,
                target_json: text(raw.target_json, "the target")?,
                options_json: text(raw.options_json, "the build options")?,
                threads_max: raw.threads_max.max(1),
            };
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

/// The one table of every code generator that is written in Rust.
pub(crate) static TABLE: ChipdockCodegen = ChipdockCodegen { destroy, unsupported, build };
