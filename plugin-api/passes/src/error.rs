//! Why a module could not be lowered.

use std::fmt;
use std::sync::Arc;

use chipdock_ir::{Diagnostic, Span};

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The module or the target asks for what cannot be done: the caller changes one of the two.
    Caller,
    /// The target does not have what the module needs; another may.
    Target,
    /// Something around us is missing or broken.
    Environment,
    /// A pass met what an earlier pass promised could not occur.
    Bug,
}

/// A module that could not be lowered. The module itself is unchanged: passes are pure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassError {
    /// Whose fault it is.
    pub fault: Fault,
    /// The pass that found it.
    pub pass: &'static str,
    /// What is wrong, at least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl PassError {
    /// The caller's mistake in one function.
    #[must_use]
    pub fn caller(pass: &'static str, function: &Arc<str>, message: impl Into<String>) -> Self {
        Self::one(Fault::Caller, pass, function, message.into())
    }

    /// What one function needs and the target does not have.
    #[must_use]
    pub fn target(pass: &'static str, function: &Arc<str>, message: impl Into<String>) -> Self {
        Self::one(Fault::Target, pass, function, message.into())
    }

    /// A broken promise of an earlier pass, met in one function.
    #[must_use]
    pub fn bug(pass: &'static str, function: &Arc<str>, message: impl Into<String>) -> Self {
        Self::one(Fault::Bug, pass, function, message.into())
    }

    fn one(fault: Fault, pass: &'static str, function: &Arc<str>, message: String) -> Self {
        let function = Arc::clone(function);
        let diagnostic = Diagnostic { function, span: Span::NONE, node: String::new(), message };
        Self { fault, pass, diagnostics: vec![diagnostic] }
    }

    /// The same error at a position, where it had none.
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
