//! A code generator for targets that are compiled from one source text: it reads requests, reports
//! unsupported nodes and delivers sections.
//!
//! A [`SourceTarget`] writes the text of a lowered module and describes it; [`SourceCodegen`] makes
//! a [`Codegen`] of it, which asks the host for the [`hooks`] of the kind.

use chipdock_ir::{Diagnostic, Stage};
use serde_json::Value;

use crate::hooks::{self, Hook};
use crate::lowered::{self, LoweredRequest};
use crate::{BuildRequest, BuildSession, Codegen, Context, Error, HostRef, SectionKind};

/// The section that holds the text.
pub const SOURCE: &str = "source";
/// The section that holds compiled code, where there is any.
pub const CODE: &str = "code";

/// The alignment of compiled code in its section.
const CODE_ALIGNMENT_BYTES: u64 = 16;

/// The result of writing a module.
#[derive(Clone, Debug)]
pub struct Written {
    /// The artifact's index.
    pub index: Value,
    /// The text.
    pub source: String,
}

/// The reason why no text was written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unwritten {
    /// The module has nodes that are not supported, each listed once.
    Unsupported(Vec<Diagnostic>),
    /// The request cannot be satisfied.
    Refused(Error),
}

impl From<Vec<Diagnostic>> for Unwritten {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self::Unsupported(diagnostics)
    }
}

impl From<Error> for Unwritten {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// A target whose code generator writes one text.
pub trait SourceTarget: Send + Sync + 'static {
    /// The target kind for which the code is written; messages name it.
    const KIND: &'static str;
    /// The version of the code generator: `env!("CARGO_PKG_VERSION")`.
    const VERSION: &'static str;
    /// The stage to which a module is lowered before it is written.
    const STAGE: Stage;

    /// Lists every node that is not supported, each once.
    fn unsupported(&self, request: &LoweredRequest) -> Vec<Diagnostic>;

    /// Writes the module; the same request gives the same bytes.
    ///
    /// # Errors
    ///
    /// [`Unwritten::Unsupported`] with the nodes that [`Self::unsupported`] lists, and
    /// [`Unwritten::Refused`] for a build option that cannot be read.
    fn write(&self, request: &LoweredRequest) -> Result<Written, Unwritten>;

    /// Returns true if the hook `compile_source` takes the place of a compiler: that of this code
    /// generator, or one that the loader runs. By default it does not.
    ///
    /// # Errors
    ///
    /// `ValueError`: an option of the target that cannot be read.
    fn compiles(&self, request: &LoweredRequest) -> Result<bool, Error> {
        let _ = request;
        Ok(false)
    }

    /// Delivers the text, as the hook `postprocess_source` left it, and the code that the hook
    /// `compile_source` made, if any: by default, the sections [`SOURCE`] and [`CODE`] and the
    /// index.
    ///
    /// # Errors
    ///
    /// As [`Codegen::build`].
    fn deliver(
        &self,
        request: &BuildRequest<'_>,
        read: &LoweredRequest,
        written: Written,
        code: Option<Vec<u8>>,
        session: &BuildSession<'_>,
    ) -> Result<(), Error> {
        let _ = (request, read);
        session.section(SOURCE, SectionKind::Source, 1, written.source.as_bytes())?;
        if let Some(code) = code {
            session.section(CODE, SectionKind::Code, CODE_ALIGNMENT_BYTES, &code)?;
        }
        session.index(&written.index.to_string())
    }

    /// Returns the fingerprint of a build without its hooks, which by default is that of this code
    /// alone, because drivers and compilers read the text only when it is loaded.
    ///
    /// # Errors
    ///
    /// As [`Codegen::fingerprint`].
    fn fingerprint(&self, request: &BuildRequest<'_>) -> Result<Option<String>, Error> {
        let _ = request;
        Ok(Some(lowered::fingerprint(Self::KIND, Self::VERSION)))
    }
}

/// The code generator of a [`SourceTarget`].
#[derive(Clone, Copy, Debug)]
pub struct SourceCodegen<T> {
    target: T,
    host: HostRef,
}

impl<T: SourceTarget> SourceCodegen<T> {
    /// Makes the code generator of a target, which asks the host of `context` for hooks.
    #[must_use]
    pub fn new(context: &Context, target: T) -> Self {
        Self { target, host: context.host() }
    }

    /// Delivers a text that was written, after the hooks.
    fn deliver(
        &self,
        request: &BuildRequest<'_>,
        read: &LoweredRequest,
        mut written: Written,
        session: &BuildSession<'_>,
    ) -> Result<(), Error> {
        let target = request.target_json;
        written.source = hooks::postprocessed(self.host, T::KIND, written.source, target)?;
        let code = match self.target.compiles(read)? {
            true => hooks::compiled(self.host, T::KIND, &written.source, target)?,
            false => None,
        };
        if session.is_cancelled() {
            return Err(lowered::cancelled(T::KIND));
        }
        self.target.deliver(request, read, written, code, session)
    }
}

impl<T: SourceTarget> Codegen for SourceCodegen<T> {
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = LoweredRequest::read(request, T::KIND, T::STAGE)?;
        lowered::report(&self.target.unsupported(&read), session)
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = LoweredRequest::read(request, T::KIND, T::STAGE)?;
        if session.is_cancelled() {
            return Err(lowered::cancelled(T::KIND));
        }
        match self.target.write(&read) {
            Ok(written) => self.deliver(request, &read, written, session),
            Err(Unwritten::Refused(error)) => Err(error),
            Err(Unwritten::Unsupported(diagnostics)) => {
                lowered::report(&diagnostics, session)?;
                Err(lowered::unsupported(&diagnostics))
            }
        }
    }

    /// Returns the target's fingerprint with those of the hooks (C.41).
    fn fingerprint(&self, request: &BuildRequest<'_>) -> Result<Option<String>, Error> {
        let Some(mut all) = self.target.fingerprint(request)? else { return Ok(None) };
        for hook in [Hook::Postprocess, Hook::Compile] {
            let Some(one) = hook.fingerprint(self.host, T::KIND)? else { return Ok(None) };
            all.push_str(&one);
        }
        Ok(Some(all))
    }
}
