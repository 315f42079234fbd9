//! What a page shows against what is there.

/// Whether a command printed what the page shows. In the page a line `...` stands for any number of
/// lines, also none, and `[..]` within a line for any text. Durations are all alike, and so is the
/// width of blanks.
#[must_use]
pub fn agrees(shown: &[String], printed: &[String]) -> bool {
    let Some((first, rest)) = shown.split_first() else {
        return printed.is_empty();
    };
    if first.trim() == "..." {
        return (0..=printed.len()).any(|skipped| agrees(rest, &printed[skipped..]));
    }
    match printed.split_first() {
        Some((line, others)) => line_agrees(first, line) && agrees(rest, others),
        None => false,
    }
}

fn line_agrees(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (plain(shown), plain(printed));
    let mut parts = shown.split("[..]");
    let Some(mut left) = parts.next().and_then(|start| printed.strip_prefix(start)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(end) = parts.pop() else {
        return left.is_empty();
    };
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(end)
}

/// One blank between words, and one word for every duration.
fn plain(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let is_unit =
        |word: &str| ["ns", "us", "ms", "s", "min", "h"].contains(&word.trim_end_matches([',', '.']));
    let mut plain = Vec::new();
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let next = words.get(index + 1).filter(|next| is_number(word) && is_unit(next));
        let end = next.map(|unit| &unit[unit.trim_end_matches([',', '.']).len()..]);
        match end {
            // Of `2 min 28 s` the first half is there already.
            Some(end) => {
                plain.pop_if(|last| last == "<time>");
                plain.push(format!("<time>{end}"));
            }
            None => plain.push((*word).to_owned()),
        }
        index += if next.is_some() { 2 } else { 1 };
    }
    plain.join(" ")
}

/// Whether the lines stand in the text, one after the other, but for common indentation. A line of
/// `...` alone, perhaps within a comment, stands for any number of lines.
#[must_use]
pub fn is_quoted(quotation: &[String], text: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let is_gap = |line: &&String| ["...", "// ...", "/* ... */", "# ..."].contains(&line.trim());
    let mut from = 0;
    for part in quotation.split(|line| is_gap(&line)) {
        let wanted: Vec<&str> = part.iter().map(|line| line.trim_end()).collect();
        let start = wanted.iter().position(|line| !line.is_empty()).unwrap_or(0);
        let end = wanted.iter().rposition(|line| !line.is_empty()).map_or(start, |last| last + 1);
        let wanted = &wanted[start..end];
        let found = lines[from..].windows(wanted.len().max(1)).position(|window| same(wanted, window));
        match found {
            Some(at) => from += at + wanted.len(),
            None if wanted.is_empty() => {}
            None => return false,
        }
    }
    true
}

/// Alike but for one indentation.
fn same(wanted: &[&str], found: &[&str]) -> bool {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let (Some(first), Some(there)) = (wanted.first(), found.first()) else {
        return wanted.is_empty();
    };
    let Some(deeper) = indentation(there).checked_sub(indentation(first)) else {
        return false;
    };
    wanted.len() == found.len()
        && wanted.iter().zip(found).all(|(wanted, found)| {
            wanted.trim_start() == found.trim_start()
                && (found.is_empty() || indentation(wanted) + deeper == indentation(found))
        })
}

#[cfg(test)]
mod tests {
    use super::{agrees, is_quoted};

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn lines_may_be_left_out_and_nothing_else() {
        for (shown, printed, expected) in [
            ("a\n...\nd", "a\nb\nc\nd", true),
            ("a\n...\nd", "a\nd", true),
            ("a\n...\nd", "a\nb", false),
            ("a\nb", "a\nb\nc", false),
            ("x [..] z", "x y1 y2 z", true),
            ("x [..] z", "x y", false),
            ("x [..]", "x y", true),
            ("run  14.7 us", "run   2.39 ms", true),
            ("in 3.7 s, exit code 0", "in 2 min 28 s, exit code 0", true),
            ("in 3.7 s, exit code 0", "in 3.7 s, exit code 1", false),
            ("4 cases", "5 cases", false),
        ] {
            assert_eq!(agrees(&lines(shown), &lines(printed)), expected, "{shown:?} of {printed:?}");
        }
    }

    #[test]
    fn a_quotation_stands_in_its_file() {
        let text = "fn a() {\n    one();\n    two();\n\n    three();\n}\n";
        for (quotation, expected) in [
            ("one();\ntwo();", true),
            ("fn a() {\n    // ...\n    three();\n}", true),
            ("three();\n// ...\none();", false),
            ("one();\nthree();", false),
            ("fn a() {\none();", false),
            ("four();", false),
        ] {
            assert_eq!(is_quoted(&lines(quotation), text), expected, "{quotation:?}");
        }
    }
}
