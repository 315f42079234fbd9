//! Small changes of a script, for programs that no generator makes and that are mostly still valid.

/// Numbers at which something changes.
const NUMBERS: &[&str] =
    &["0", "1", "2", "3", "4", "7", "8", "31", "32", "33", "64", "1024", "4096", "65536", "2147483647"];
/// Types, as they stand in a script.
const TYPES: &[&str] = &[
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "int32x4",
    "float32x4",
    "handle",
];
/// Number of bytes that describe an edit.
pub(crate) const EDIT_BYTES: usize = 6;

/// Makes one change for each complete edit.
pub(crate) fn edited(text: &str, edits: &[u8]) -> String {
    let mut text = text.to_owned();
    for edit in edits.chunks_exact(EDIT_BYTES) {
        let number = |at: usize| usize::from(edit[at]) << 8 | usize::from(edit[at + 1]);
        text = match edit[0] % 6 {
            0 => number_changed(&text, number(2), number(4)),
            1 => type_changed(&text, number(2), number(4)),
            2 => name_changed(&text, number(2), number(4)),
            3 => lines_changed(&text, number(2), |line| vec![line, line]),
            4 => lines_changed(&text, number(2), |_| Vec::new()),
            _ => operator_changed(&text, number(2), number(4)),
        };
    }
    text
}

/// Replaces the `at`-th of the ranges, when there is one.
fn replaced(text: &str, ranges: &[std::ops::Range<usize>], at: usize, with: &str) -> String {
    match at.checked_rem(ranges.len()).map(|at| ranges[at].clone()) {
        Some(range) => format!("{}{with}{}", &text[..range.start], &text[range.end..]),
        None => text.to_owned(),
    }
}

/// Words of letters, digits and `_` that a predicate takes.
fn words(text: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, c.is_alphanumeric() || c == '_') {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                if is_wanted(&text[from..at]) {
                    found.push(from..at);
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn number_changed(text: &str, at: usize, to: usize) -> String {
    let ranges = words(text, |word| word.bytes().all(|byte| byte.is_ascii_digit()));
    replaced(text, &ranges, at, NUMBERS[to % NUMBERS.len()])
}

fn type_changed(text: &str, at: usize, to: usize) -> String {
    let ranges = words(text, |word| TYPES.contains(&word));
    replaced(text, &ranges, at, TYPES[to % TYPES.len()])
}

/// Another name of the text instead of one.
fn name_changed(text: &str, at: usize, to: usize) -> String {
    let is_name =
        |word: &str| word.len() <= 3 && word.starts_with(|c: char| c.is_alphabetic()) && word != "T";
    let ranges = words(text, is_name);
    let Some(other) = to.checked_rem(ranges.len()).map(|to| text[ranges[to].clone()].to_owned()) else {
        return text.to_owned();
    };
    replaced(text, &ranges, at, &other)
}

fn operator_changed(text: &str, at: usize, to: usize) -> String {
    const OPERATORS: &[&str] = &[" + ", " - ", " * ", " // ", " % ", " < ", " <= ", " == "];
    let mut ranges = Vec::new();
    for operator in OPERATORS {
        ranges.extend(text.match_indices(operator).map(|(start, found)| start..start + found.len()));
    }
    ranges.sort_by_key(|range| range.start);
    replaced(text, &ranges, at, OPERATORS[to % OPERATORS.len()])
}

fn lines_changed<'t>(text: &'t str, at: usize, change: impl Fn(&'t str) -> Vec<&'t str>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let at = at.checked_rem(lines.len()).unwrap_or(0);
    let mut out = String::new();
    for (number, line) in lines.into_iter().enumerate() {
        for line in if number == at { change(line) } else { vec![line] } {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "@T.prim_func\ndef f(A: T.Buffer((4,), \"int32\")):\n    for i in range(4):\n        A[i] = i + 1\n";

    #[test]
    fn each_edit_changes_one_thing() {
        for (edit, says) in [
            ([0, 0, 0, 0, 0, 6], "T.Buffer((8,)"),
            ([1, 0, 0, 0, 0, 11], "\"float32\""),
            ([3, 0, 0, 3, 0, 0], "A[i] = i + 1\n        A[i] = i + 1\n"),
            ([5, 0, 0, 0, 0, 2], "i * 1"),
        ] {
            let text = edited(TEXT, &edit);
            assert!(text.contains(says), "{text} should say {says}");
        }
        assert_eq!(edited(TEXT, &[4, 0, 0, 3, 0, 0]).lines().count(), 3);
        assert_ne!(edited(TEXT, &[2, 0, 0, 1, 0, 2]), TEXT);
    }

    #[test]
    fn no_edit_panics() {
        for text in ["", "é", "1", TEXT] {
            for kind in 0..6 {
                edited(text, &[kind, 0, 255, 255, 255, 255]);
            }
            assert_eq!(edited(text, &[1, 2, 3]), text, "a part of an edit is none");
        }
    }
}
