//! What is wrong with a module, and where.

use std::fmt;
use std::sync::Arc;

use crate::Span;

/// One thing that is wrong: where, what was expected, what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The function, or nothing when it is about the module.
    pub function: Arc<str>,
    /// Where it was read, if it was.
    pub span: Span,
    /// The node in one line, as printed, or nothing.
    pub node: String,
    /// What was expected, what was found, what to do.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.span != Span::NONE {
            write!(f, "{}:{}: ", self.span.line, self.span.column)?;
        }
        if !self.function.is_empty() {
            write!(f, "in {}: ", self.function)?;
        }
        f.write_str(&self.message)?;
        if self.node.is_empty() { Ok(()) } else { write!(f, " (`{}`)", self.node) }
    }
}
