//! Errors in one form: the problem, its place, the advice.
//!
//! ```text
//! error: no function "ad"; the module has "add", "scale"
//!   --> kernels.py:3:7
//!    |
//!  3 |     def add(
//!    |         ^
//!   help: name one as kernels.py:add
//! ```

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;

use chipdock_host::shown::{LINE_CHARS_MAX, in_place, paragraph, shown};
use chipdock_host::{Error, Fault, Subject};
use chipdock_ir::Span;

use crate::args::ColorChoice;

/// Exit code of an error, for a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The work failed: kernel, device, input or output.
    Work = 1,
    /// Wrong usage or input.
    Input = 2,
    /// A plugin, or something that it needs, is missing or refused.
    Plugin = 3,
    /// No device.
    NoDevice = 4,
    /// The conformance suite is at fault, not the plugin.
    Suite = 7,
}

impl Exit {
    /// Returns the exit code of an error of the host (CLI-C2): by what is wrong, else by whose
    /// fault it is.
    pub(crate) fn of(error: &Error) -> Self {
        match (error.subject(), error.fault()) {
            (Some(Subject::Device), _) => Self::NoDevice,
            (Some(Subject::Plugin), _) => Self::Plugin,
            (Some(Subject::NamedFile), _) | (None, Fault::Caller) => Self::Input,
            (None, Fault::Environment | Fault::Bug) => Self::Work,
        }
    }
}

/// A line of a text, with a mark under one of its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column in characters, from 1.
    pub(crate) column: u32,
    /// Number of characters that it covers, at least 1.
    pub(crate) length: u32,
    /// The line itself.
    pub(crate) text: String,
}

/// One problem of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Message: what was expected and what was found.
    pub(crate) what: String,
    /// A file, with line and column where there is one; a plugin; or nothing.
    pub(crate) place: String,
    /// The line of the text, where there is one.
    pub(crate) mark: Option<Mark>,
}

/// Failure of a command: at least one problem, the advice, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) problems: Vec<Problem>,
    pub(crate) help: String,
}

/// Prefix of each further line of a text from outside.
const LATER: &str = "    | ";

/// Result of a command.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Makes a failure with one problem.
    pub(crate) fn new(exit: Exit, what: impl Into<String>) -> Self {
        let problem = Problem { what: what.into(), place: String::new(), mark: None };
        Self { exit, problems: vec![problem], help: String::new() }
    }

    /// Makes a failure for wrong usage or input.
    pub(crate) fn input(what: impl Into<String>) -> Self {
        Self::new(Exit::Input, what)
    }

    /// Makes a failure of the work.
    pub(crate) fn work(what: impl Into<String>) -> Self {
        Self::new(Exit::Work, what)
    }

    /// Sets the place of every problem that does not have one yet.
    pub(crate) fn at(mut self, place: impl Into<String>) -> Self {
        let place = place.into();
        for problem in self.problems.iter_mut().filter(|problem| problem.place.is_empty()) {
            problem.place.clone_from(&place);
        }
        self
    }

    /// Sets the file of the problems.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        self.at(path.display().to_string())
    }

    /// Sets the advice.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// Returns the text for a person, without colours when `color` is false. Ends with a newline.
    pub(crate) fn render(&self, color: bool) -> String {
        let (red, blue, cyan, bold, reset) = if color {
            ("\x1b[1;31m", "\x1b[1;34m", "\x1b[1;36m", "\x1b[1m", "\x1b[0m")
        } else {
            ("", "", "", "", "")
        };
        let mut text = String::new();
        for problem in &self.problems {
            let (first, later) = first_and_later(&problem.what);
            let _ = writeln!(text, "{red}error{reset}{bold}: {first}{reset}");
            text.push_str(&later);
            if !problem.place.is_empty() {
                let _ = writeln!(text, "  {blue}-->{reset} {}", shown(&problem.place, LINE_CHARS_MAX));
            }
            if let Some(mark) = &problem.mark {
                mark.render(&mut text, blue, red, reset);
            }
        }
        if !self.help.is_empty() {
            let (first, later) = first_and_later(&self.help);
            let _ = write!(text, "  {cyan}help{reset}: {first}\n{later}");
        }
        text
    }
}

impl Mark {
    /// Returns the line of `source` that contains `span`.
    pub(crate) fn new(source: &str, span: Span) -> Option<Self> {
        let index = usize::try_from(span.line.checked_sub(1)?).ok()?;
        let text = source.lines().nth(index)?.to_owned();
        Some(Self { line: span.line, column: span.column.max(1), length: 1, text })
    }

    fn render(&self, out: &mut String, blue: &str, red: &str, reset: &str) {
        const WIDTH_MAX: usize = 100;
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        let column = usize::try_from(self.column.saturating_sub(1)).unwrap_or(usize::MAX);
        // A long line is cut so that the place stays visible.
        let skipped = if column >= WIDTH_MAX { column - WIDTH_MAX / 2 } else { 0 };
        let lead = if skipped > 0 { "..." } else { "" };
        let shown: Vec<char> = self.text.trim_end().chars().skip(skipped).take(WIDTH_MAX).collect();
        // A hidden character takes one column, so that the mark stands below the right one.
        let text = in_place(&String::from_iter(&shown));
        let before = column - skipped;
        let length = usize::try_from(self.length).unwrap_or(1).min(shown.len().saturating_sub(before)).max(1);
        let _ = writeln!(out, "  {gutter} {blue}|{reset}");
        let _ = writeln!(out, "  {blue}{number} |{reset} {lead}{text}");
        if before <= shown.len() {
            let (space, mark) = (" ".repeat(before + lead.len()), "^".repeat(length));
            let _ = writeln!(out, "  {gutter} {blue}|{reset} {space}{red}{mark}{reset}");
        }
    }
}

/// Returns a position as `file:line:column`, or the file alone.
pub(crate) fn place(file: &str, span: Span) -> String {
    if span == Span::NONE { file.to_owned() } else { format!("{file}:{}:{}", span.line, span.column) }
}

/// Returns the first line of a text, and the others each after a bar: no text from outside begins a
/// line, so none of it can pass for an error, a place or an advice.
pub(crate) fn first_and_later(text: &str) -> (String, String) {
    let text = text.trim_end();
    let (first, later) = text.split_once('\n').unwrap_or((text, ""));
    (shown(first.trim_end(), LINE_CHARS_MAX).into_owned(), paragraph(later, LATER))
}

/// Formats a message that is no failure: a label, which may name a file or a plugin, and a text
/// from outside; neither can pass for another message. Ends with a newline.
pub(crate) fn labelled(label: &str, text: &str) -> String {
    let label = shown(label, LINE_CHARS_MAX);
    let (first, later) = first_and_later(text);
    format!("{label}: {first}\n{later}")
}

/// Returns names in quotes, with commas; `none` when there are none.
pub(crate) fn quoted<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("\"{}\"", name.as_ref())).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Returns true if a stream is coloured: on request, or on a terminal without a setting against it.
pub(crate) fn use_color(choice: ColorChoice, is_terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !unwanted && std::env::var_os("TERM").is_none_or(|term| term != "dumb") && is_terminal
        }
    }
}

/// Returns true if standard error is a terminal: progress is shown there.
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use chipdock_host::shown;

    use super::*;

    #[test]
    fn an_error_says_what_where_and_what_to_do() {
        let span = Span { line: 2, column: 5 };
        let mut failure = Failure::input("unknown name \"x\"").at(place("k.py", span)).help("write y");
        failure.problems[0].mark = Mark::new("a = 1\nb = x\n", span);
        let expected =
            "error: unknown name \"x\"\n  --> k.py:2:5\n    |\n  2 | b = x\n    |     ^\n  help: write y\n";
        assert_eq!(failure.render(false), expected);
    }

    #[test]
    fn a_mark_past_the_text_is_left_out() {
        assert_eq!(Mark::new("one line", Span { line: 9, column: 1 }), None);
        assert_eq!(Mark::new("one line", Span::NONE), None);
        let mut out = String::new();
        let long = Mark { line: 1, column: 301, length: 9, text: format!("{}bad", "x".repeat(300)) };
        long.render(&mut out, "", "", "");
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines[1].ends_with("xbad") && lines[1].len() < 120, "{out}");
        assert_eq!(lines[2].find('^'), lines[1].find("bad"));
        assert!(lines[2].ends_with(" ^^^"));
        out.clear();
        let far = Mark::new("one line", Span { line: 1, column: u32::MAX }).unwrap();
        far.render(&mut out, "", "", "");
        assert!(!out.contains('^'));
    }

    #[test]
    fn colour_only_where_it_is_asked_for() {
        let failure = Failure::work("it broke\nbadly");
        assert_eq!(failure.render(false), "error: it broke\n    | badly\n");
        assert!(failure.render(true).contains("\x1b[1;31merror"));
    }

    #[test]
    fn cli_c9_nothing_passes_for_a_line_of_ours() {
        let evil = "it broke\x1b[2J\nerror: forged\n  help: forged\n  --> forged\r\nx";
        let failure = Failure { help: evil.to_owned(), ..Failure::work(evil).at(evil) };
        let text = failure.render(false);
        let lines: Vec<&str> = text.lines().collect();
        let begin = |lead: &str| lines.iter().filter(|line| line.starts_with(lead)).count();
        assert_eq!((begin("error:"), begin("  help:"), begin("  -->")), (1, 1, 1), "{text}");
        assert!(!lines.iter().any(|line| line.trim_start().starts_with("error: forged")), "{text}");
        assert!(!text.contains(|c| shown::is_hidden(c) && c != '\n'), "{text:?}");
        let long = Failure::work("x".repeat(1 << 20)).render(false);
        assert!(long.len() < 5000 && long.ends_with("more characters)\n"));
        let mark = Mark { line: 1, column: 3, length: 1, text: "a\x1b\u{202e}b".to_owned() };
        let mut out = String::new();
        mark.render(&mut out, "", "", "");
        assert!(out.contains("a\u{fffd}\u{fffd}b\n") && out.contains("  ^\n"), "{out:?}");
    }
}
