//! Diagnostics: problems of a module, with their positions.

use std::fmt;
use std::sync::Arc;

use crate::Span;

/// One problem: its position, what was expected, what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Name of the function; empty if the problem is one of the module.
    pub function: Arc<str>,
    /// Position in the text from which the node was read; [`Span::NONE`] if unknown.
    pub span: Span,
    /// The node in one line, as printed; may be empty.
    pub node: String,
    /// Message: what was expected, what was found, what to do.
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
