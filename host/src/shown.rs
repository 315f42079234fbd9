//! Text from outside, made safe to show to a person.
//!
//! Texts of plugins, manifests, drivers, kernels and file names may contain any characters. An
//! [`Error`](crate::Error) and a line of the log carry them unchanged; code that writes them to a
//! terminal or into a page passes them through this module.
//!
//! * **SHOWN-X1** Characters that control a terminal or are invisible are spelt out: control
//!   characters (`\u{1b}`, `\n`), those that change the direction of writing, those without width,
//!   and separators of lines and paragraphs.
//! * **SHOWN-X2** A line is cut at a bound, and states how much was left out. So is a text of many
//!   lines.
//! * **SHOWN-X3** A line stays a line: a text of several lines becomes one line with `\n` in it
//!   ([`shown`]), or several lines with a lead of the caller's before each ([`paragraph`]).

use std::borrow::Cow;

/// Greatest number of characters of a line that are shown: more than any path has.
pub const LINE_CHARS_MAX: usize = 4096;
/// Greatest number of lines of one text that are shown.
pub const LINES_MAX: usize = 64;

/// Returns true for a character that controls a terminal or is invisible, except a blank.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Characters without width, or signs for a layout program.
            '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
            | '\u{e0000}'..='\u{e007f}'
            // Characters that change the direction of writing, or separate lines and paragraphs.
            | '\u{61c}' | '\u{2028}'..='\u{202e}'
            // No characters.
            | '\u{fffe}' | '\u{ffff}')
}

/// Returns a text as one line: hidden characters are spelt out, a tab is a blank, and characters
/// beyond `chars_max` are left out and counted.
#[must_use]
pub fn shown(text: &str, chars_max: usize) -> Cow<'_, str> {
    // A character has at least one byte.
    let fits = text.len() <= chars_max || text.chars().nth(chars_max).is_none();
    if fits && !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
    let (kept, rest) = text.split_at(end);
    let mut out = String::with_capacity(kept.len());
    for c in kept.chars() {
        push(&mut out, c);
    }
    if !rest.is_empty() {
        out.push_str(&format!("… ({} more characters)", rest.chars().count()));
    }
    Cow::Owned(out)
}

/// Returns a text of several lines, each as [`shown`] and with `lead` before it; lines beyond
/// [`LINES_MAX`] are left out and counted. Each line ends with a newline; a text of nothing but
/// blanks has none.
#[must_use]
pub fn paragraph(text: &str, lead: &str) -> String {
    let mut out = String::new();
    let mut lines = text.trim_end().lines();
    for line in lines.by_ref().take(LINES_MAX) {
        out.push_str(lead);
        out.push_str(shown(line, LINE_CHARS_MAX).trim_end());
        out.push('\n');
    }
    match lines.count() {
        0 => {}
        1 => out.push_str(&format!("{lead}… (1 more line)\n")),
        left_out => out.push_str(&format!("{lead}… ({left_out} more lines)\n")),
    }
    out
}

/// Returns the whole of a text, uncut, its newlines kept: for a terminal that shows a result, such
/// as generated source.
#[must_use]
pub fn listing(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_hidden(c) && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c => push(&mut out, c),
        }
    }
    Cow::Owned(out)
}

/// Returns a line with as many characters as it had, one column each, so that a mark below it stays
/// in place.
#[must_use]
pub fn in_place(line: &str) -> String {
    let one = |c| match c {
        '\t' => ' ',
        c if is_hidden(c) => '\u{fffd}',
        c => c,
    };
    line.chars().map(one).collect()
}

/// Returns a plugin's text with hidden characters spelt out, each line after the first behind a
/// bar.
#[must_use]
pub fn harmless(text: &str) -> String {
    let (first, later) = text.trim_end().split_once('\n').unwrap_or((text.trim_end(), ""));
    let later = paragraph(later, "    | ");
    let later = later.trim_end();
    let first = shown(first, LINE_CHARS_MAX);
    if later.is_empty() { first.into_owned() } else { format!("{first}\n{later}") }
}

/// Returns a JSON document with hidden characters in its strings as `\u001b`: the same document,
/// harmless on a terminal. Newlines between values stay.
#[must_use]
pub fn json(document: &str) -> Cow<'_, str> {
    // A newline within a string is escaped already: JSON has it no other way.
    if !document.chars().any(|c| is_hidden(c) && c != '\n') {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if is_hidden(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn push(out: &mut String, c: char) {
    match c {
        '\t' => out.push(' '),
        '\n' | '\r' => out.extend(c.escape_default()),
        c if is_hidden(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_x1_characters_that_steer_or_hide_are_spelt_out() {
        for (text, expected) in [
            ("plain text, äöü 漢字 🦀", "plain text, äöü 漢字 🦀"),
            ("a\x1b[2Jb", "a\\u{1b}[2Jb"),
            ("a\u{9b}31mb\x7f", "a\\u{9b}31mb\\u{7f}"),
            ("a\tb\r\nc", "a b\\r\\nc"),
            ("\u{202e}evil\u{2066}", "\\u{202e}evil\\u{2066}"),
            ("a\u{200b}b\u{feff}\u{2028}c\u{2029}", "a\\u{200b}b\\u{feff}\\u{2028}c\\u{2029}"),
            ("a\u{0}b", "a\\u{0}b"),
        ] {
            assert_eq!(shown(text, LINE_CHARS_MAX), expected);
        }
        for c in '\0'..=char::MAX {
            let line = shown(&c.to_string(), 9).into_owned();
            assert!(!line.chars().any(is_hidden), "{c:?} as {line:?}");
        }
    }

    #[test]
    fn shown_x2_a_line_is_cut_where_its_bound_is() {
        assert_eq!(shown("abcd", 4), "abcd");
        assert_eq!(shown("äöüß", 4), "äöüß");
        assert_eq!(shown("äöüßx", 4), "äöüß… (1 more characters)");
        let long = "x".repeat(1 << 20);
        let cut = shown(&long, LINE_CHARS_MAX).into_owned();
        assert!(cut.ends_with("x… (1044480 more characters)") && cut.len() < LINE_CHARS_MAX + 40);
        let many = paragraph(&"y\n".repeat(100_000), "  ");
        assert_eq!(many.lines().count(), LINES_MAX + 1);
        assert!(many.ends_with("  … (99936 more lines)\n"));
        assert!(paragraph(&"y\n".repeat(LINES_MAX + 1), "").ends_with("… (1 more line)\n"));
    }

    #[test]
    fn shown_x3_no_line_begins_but_with_the_lead() {
        let forged = "it broke\nerror: forged\n  help: rm -rf\r\nwarning: \x1b[2K";
        assert_eq!(shown(forged, 999).lines().count(), 1);
        let text = paragraph(forged, "    ");
        assert_eq!(text, "    it broke\n    error: forged\n      help: rm -rf\n    warning: \\u{1b}[2K\n");
        assert_eq!(paragraph(" \n", "  "), "");
    }

    #[test]
    fn a_listing_keeps_its_lines_and_a_marked_line_its_columns() {
        assert_eq!(listing("int a;\n\tint b;\n"), "int a;\n\tint b;\n");
        assert_eq!(listing("// \x1b]0;x\x07\n"), "// \\u{1b}]0;x\\u{7}\n");
        assert_eq!(in_place("a\tb\x1bc\u{202e}d"), "a b\u{fffd}c\u{fffd}d");
    }

    #[test]
    fn json_says_the_same_without_hidden_characters() {
        let value = serde_json::json!({"a\u{9b}": "\x1b\x7f\u{202e}\u{e0041}\n", "b": [1]});
        for document in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let harmless = json(&document);
            assert!(!harmless.chars().any(|c| is_hidden(c) && c != '\n'), "{harmless}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&harmless).unwrap(), value);
        }
    }
}
