//! The shell around a code generator that writes one text: requests are read, refusals reported and sections delivered
//! here, once.
//!
//! A [`SourceTarget`] writes the text of a lowered module and describes it; [`SourceCodegen`] makes a [`Codegen`] of it.

use chipdock_ir::{Diagnostic, Stage};
use serde_json::Value;

use crate::lowered::{self, LoweredRequest};
use crate::{BuildRequest, BuildSession, Codegen, Error, SectionKind};

/// The section that holds the text.
pub const SOURCE: &str = "source";

/// What a build delivers.
#[derive(Clone, Debug)]
pub struct Written {
    /// The artifact's index.
    pub index: Value,
    /// The text.
    pub source: String,
}

/// Why nothing was written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unwritten {
    /// Nodes that are not supported, each once.
    Unsupported(Vec<Diagnostic>),
    /// The request asks for something that cannot be.
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
    /// The target kind that it writes for; messages name it.
    const KIND: &'static str;
    /// The version of the code that writes: `env!("CARGO_PKG_VERSION")`.
    const VERSION: &'static str;
    /// How far a module is lowered when it comes here.
    const STAGE: Stage;

    /// Lists every node that is not supported, each once.
    fn unsupported(&self, request: &LoweredRequest) -> Vec<Diagnostic>;

    /// Writes the module; the same request gives the same bytes.
    ///
    /// # Errors
    ///
    /// [`Unwritten::Unsupported`] with what [`Self::unsupported`] lists, and [`Unwritten::Refused`] for a build option
    /// that cannot be read.
    fn write(&self, request: &LoweredRequest) -> Result<Written, Unwritten>;

    /// Delivers what was written: the section [`SOURCE`] and the index, unless overridden.
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

    /// Answers what the bytes depend on beside the request: this code alone, unless overridden. Drivers and compilers
    /// see the text when it is loaded.
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
