//! Errors of a script, with their places.

use std::fmt;
use std::sync::Arc;

/// Greatest number of characters of a source line that an error shows.
const SHOWN_MAX: usize = 120;

/// One error of a script: its place, what was expected, and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The file, as it was named to [`crate::parse`].
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Number of characters of the line that it covers, at least 1.
    pub length: u32,
    /// Message: what was expected, what was found, what is allowed there.
    pub message: String,
    /// The line.
    pub source_line: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:{}:{}: error: {}", self.file, self.line, self.column, self.message)?;
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let at = self.column.saturating_sub(1) as usize;
        // A long line is cut so that the place stays visible.
        let skipped = if at + 20 > SHOWN_MAX { at - SHOWN_MAX / 2 } else { 0 };
        let shown: Vec<char> = self.source_line.chars().skip(skipped).take(SHOWN_MAX).collect();
        let text: String = shown.iter().map(|c| if c.is_control() { ' ' } else { *c }).collect();
        let lead = if skipped > 0 { "..." } else { "" };
        let before = at - skipped + lead.len();
        let marks = (self.length as usize).clamp(1, shown.len().saturating_sub(at - skipped).max(1));
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {lead}{}", text.trim_end())?;
        write!(f, "{margin} | {}{}", " ".repeat(before), "^".repeat(marks))
    }
}

/// All errors of a script, in the order of the text; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptErrors {
    errors: Vec<ScriptError>,
    cause: Cause,
}

/// Cause for which a script was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The script.
    Script,
    /// The machine: it gave no thread to parse with.
    Environment,
    /// A bug of this crate or of its parser.
    Internal,
}

impl ScriptErrors {
    pub(crate) fn new(mut errors: Vec<ScriptError>) -> Self {
        errors.sort_by_key(|error| (error.line, error.column));
        errors.dedup();
        Self { errors, cause: Cause::Script }
    }

    pub(crate) fn because(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }

    /// Returns the cause of the errors.
    #[must_use]
    pub fn cause(&self) -> Cause {
        self.cause
    }

    /// Returns the errors, in the order of the text.
    #[must_use]
    pub fn errors(&self) -> &[ScriptError] {
        &self.errors
    }
}

impl fmt::Display for ScriptErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ScriptErrors {}

/// Returns the known name nearest to `found`, if one is near enough to be meant.
pub(crate) fn nearest<'n>(found: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let found = found.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&found, &name.to_lowercase()), name))
        .filter(|(score, _)| *score > 0.84)
        // Of equally near ones the first.
        .reduce(|best, one| if one.0 > best.0 { one } else { best })
        .map(|(_, name)| name)
}
