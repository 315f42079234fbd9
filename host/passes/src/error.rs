//! Errors of lowering.

use std::fmt;
use std::sync::Arc;

use chipdock_ir::{Diagnostic, Span};

/// The party responsible for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The module or the target requests something impossible: the caller changes one of the two.
    Caller,
    /// The target does not support something that the module needs; another target may.
    Target,
    /// Something in the environment is missing or broken.
    Environment,
    /// A pass found a violation of a guarantee of an earlier pass.
    Bug,
}

/// A module that could not be lowered. The module itself is unchanged: passes are pure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassError {
    /// The party responsible.
    pub fault: Fault,
    /// The pass that reported the error.
    pub pass: &'static str,
    /// Descriptions of the error, at least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl PassError {
    /// A mistake of the caller in one function.
    #[must_use]
    pub fn caller(pass: &'static str, function: &Arc<str>, message: impl Into<String>) -> Self {
        Self::one(Fault::Caller, pass, function, message.into())
    }

    /// A requirement of one function that the target does not support.
    #[must_use]
    pub fn target(pass: &'static str, function: &Arc<str>, message: impl Into<String>) -> Self {
        Self::one(Fault::Target, pass, function, message.into())
    }

    /// A violated guarantee of an earlier pass, found in one function.
    #[must_use]
    pub fn bug(pass: &'static str, function: &Arc<str>, message: impl Into<String>) -> Self {
        Self::one(Fault::Bug, pass, function, message.into())
    }

    fn one(fault: Fault, pass: &'static str, function: &Arc<str>, message: String) -> Self {
        let function = Arc::clone(function);
        let diagnostic = Diagnostic { function, span: Span::NONE, node: String::new(), message };
        Self { fault, pass, diagnostics: vec![diagnostic] }
    }

    /// Sets the position of diagnostics that have none.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        for diagnostic in &mut self.diagnostics {
            if diagnostic.span == Span::NONE {
                diagnostic.span = span;
            }
        }
        self
    }
}

impl fmt::Display for PassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            Fault::Caller | Fault::Target | Fault::Environment => write!(f, "{}: ", self.pass)?,
            Fault::Bug => write!(f, "internal error in pass {}, please report it: ", self.pass)?,
        }
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            write!(f, "{}{diagnostic}", if index == 0 { "" } else { "\n  " })?;
        }
        Ok(())
    }
}

impl std::error::Error for PassError {}
