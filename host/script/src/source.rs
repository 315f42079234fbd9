//! The text of a script: from byte offsets to lines and columns.

use std::sync::Arc;

use chipdock_ir::{Expr, Span, Stmt};
use rustpython_ruff_text_size::{TextRange, TextSize};

use crate::ScriptError;

/// A text with the start of each of its lines.
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) file: Arc<str>,
    line_starts: Vec<usize>,
    /// Continuation bytes of characters, so that columns are counted without walking a line.
    inner: Vec<u32>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str, file: &str) -> Self {
        let mut line_starts = vec![0];
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            let lone_return = *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
            if *byte == b'\n' || lone_return {
                line_starts.push(at + 1);
            }
        }
        let goes_on = |(at, byte): (usize, &u8)| ((*byte & 0xc0) == 0x80).then(|| narrow(at));
        let inner = bytes.iter().enumerate().filter_map(goes_on).collect();
        Self { text, file: Arc::from(file), line_starts, inner }
    }

    /// Returns the largest character boundary at or before `at`.
    fn boundary(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn line_index(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    pub(crate) fn span(&self, at: TextSize) -> Span {
        let at = self.boundary(at.to_usize());
        let line = self.line_index(at);
        let start = self.line_starts[line];
        let before = |at: usize| self.inner.partition_point(|byte| (*byte as usize) < at);
        let column = at - start - (before(at) - before(start)) + 1;
        Span { line: narrow(line + 1), column: narrow(column) }
    }

    fn line_text(&self, line: usize) -> &'a str {
        let start = self.line_starts[line];
        let end = self.line_starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// Makes an error at a place; a place over several lines is marked on the first.
    pub(crate) fn error(&self, range: TextRange, message: String) -> ScriptError {
        let (start, end) = (self.boundary(range.start().to_usize()), self.boundary(range.end().to_usize()));
        let line = self.line_index(start);
        let source_line = self.line_text(line);
        let line_end = self.line_starts[line] + source_line.len();
        let length = self.text[start..end.clamp(start, line_end.max(start))].chars().count().max(1);
        let Span { line, column } = self.span(range.start());
        let source_line = source_line.to_owned();
        ScriptError {
            file: Arc::clone(&self.file),
            line,
            column,
            length: narrow(length),
            message,
            source_line,
        }
    }

    /// Makes an error at a position that a node carries; the first line when it carries none.
    pub(crate) fn error_at(&self, span: Span, message: String) -> ScriptError {
        let line = (span.line.max(1) as usize - 1).min(self.line_starts.len() - 1);
        let source_line = self.line_text(line).to_owned();
        let file = Arc::clone(&self.file);
        let (line, column) = (span.line.max(1), span.column.max(1));
        ScriptError { file, line, column, length: 1, message, source_line }
    }
}

/// Returns the statement, in which every node without a place has that of its parent.
pub(crate) fn placed(stmt: &Stmt, around: Span) -> Stmt {
    let span = if stmt.span == Span::NONE { around } else { stmt.span };
    let new = stmt.map_children(&mut |expr| placed_expr(expr, span), &mut |inner| placed(inner, span));
    if stmt.span == Span::NONE { new.with_span(span) } else { new }
}

fn placed_expr(expr: &Expr, around: Span) -> Expr {
    let span = if expr.span == Span::NONE { around } else { expr.span };
    let new = expr.map_children(&mut |inner| placed_expr(inner, span));
    if expr.span == Span::NONE { new.with_span(span) } else { new }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
