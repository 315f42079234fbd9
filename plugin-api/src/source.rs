//! A code generator for targets that are compiled from one source text: it reads requests, reports
//! unsupported nodes and delivers sections.
//!
//! A [`SourceTarget`] writes the text of a lowered module and describes it; [`SourceCodegen`] makes
//! a [`Codegen`] of it.

use chipdock_ir::{Diagnostic, Stage};
use serde_json::Value;

use crate::lowered::{self, LoweredRequest};
use crate::{BuildRequest, BuildSession, Codegen, Error, SectionKind};

/// The section that holds the text.
pub const SOURCE: &str = "source";

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

    /// Delivers the written text: by default, the section [`SOURCE`] and the index.
    ///
    /// # Errors
    ///
    /// As [`Codegen::build`].
    fn deliver(
        &self,
        request: &BuildRequest<'_>,
        read: &LoweredRequest,
        written: Written,
        session: &BuildSession<'_>,
    ) -> Result<(), Error> {
        let _ = (request, read);
        session.section(SOURCE, SectionKind::Source, 1, written.source.as_bytes())?;
        session.index(&written.index.to_string())
    }

    /// Returns the fingerprint of a build, which by default is that of this code alone, because
    /// drivers and compilers read the text only when it is loaded.
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
pub struct SourceCodegen<T>(pub T);

impl<T: SourceTarget> Codegen for SourceCodegen<T> {
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = LoweredRequest::read(request, T::KIND, T::STAGE)?;
        lowered::report(&self.0.unsupported(&read), session)
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = LoweredRequest::read(request, T::KIND, T::STAGE)?;
        if session.is_cancelled() {
            return Err(lowered::cancelled(T::KIND));
        }
        match self.0.write(&read) {
            Ok(written) => self.0.deliver(request, &read, written, session),
            Err(Unwritten::Refused(error)) => Err(error),
            Err(Unwritten::Unsupported(diagnostics)) => {
                lowered::report(&diagnostics, session)?;
                Err(lowered::unsupported(&diagnostics))
            }
        }
    }

    fn fingerprint(&self, request: &BuildRequest<'_>) -> Result<Option<String>, Error> {
        self.0.fingerprint(request)
    }
}
