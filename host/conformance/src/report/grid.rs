//! Columns for a terminal, aligned by visible width and coloured afterwards.

use chipdock_host::shown::is_hidden;

/// Colour of a word, by its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tint {
    /// Default colour.
    #[default]
    Plain,
    /// Heading or name.
    Strong,
    /// Less important text.
    Faint,
    /// Good result.
    Good,
    /// Bad result.
    Bad,
    /// Warning.
    Warn,
}

/// Choice between coloured output (true) and plain output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paint(pub bool);

impl Paint {
    /// Returns a text in its colour.
    #[must_use]
    pub fn paint(self, tint: Tint, text: &str) -> String {
        let code = match tint {
            _ if !self.0 || text.is_empty() => return text.to_owned(),
            Tint::Plain => return text.to_owned(),
            Tint::Strong => "1",
            Tint::Faint => "2",
            Tint::Good => "32",
            Tint::Bad => "1;31",
            Tint::Warn => "33",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Text of one cell with its colour.
pub type Cell = (String, Tint);

/// Table of cells; the first row is the header.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Whether each column holds numbers, which are right-aligned.
    numbers: Vec<bool>,
    rows: Vec<Vec<Cell>>,
}

impl Grid {
    /// Creates a table with a header; a column whose name begins with `#` holds numbers.
    #[must_use]
    pub fn new(header: &[&str]) -> Self {
        let numbers = header.iter().map(|name| name.starts_with('#')).collect();
        let cells = header.iter().map(|name| (name.trim_start_matches('#').to_owned(), Tint::Faint));
        Self { numbers, rows: vec![cells.collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Formats the table: each line after `indent` blanks, without trailing blanks.
    #[must_use]
    pub fn text(&self, paint: Paint, indent: usize) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|(text, _)| text.chars().count()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..self.numbers.len()).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = " ".repeat(indent);
            // Padding after a cell is held back until another cell follows.
            let mut gap = String::new();
            for (column, (word, tint)) in row.iter().enumerate() {
                let blanks = " ".repeat(widths.get(column).copied().unwrap_or(0) - word.chars().count());
                let (before, after) = if self.numbers.get(column) == Some(&true) {
                    (blanks, String::new())
                } else {
                    (String::new(), blanks)
                };
                if word.is_empty() {
                    gap += &(before + &after + "  ");
                    continue;
                }
                line += &gap;
                line += &before;
                line += &paint.paint(*tint, word);
                gap = after + "  ";
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

/// Creates a cell in the default colour.
#[must_use]
pub fn plain(text: impl Into<String>) -> Cell {
    (text.into(), Tint::Plain)
}

/// Formats a number with commas between thousands.
#[must_use]
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with its noun: `1 case`, `2 cases`.
#[must_use]
pub fn several(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Formats a duration for users.
#[must_use]
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 99.95 => format!("{} min {:02} s", s as u64 / 60, s as u64 % 60),
        s if s >= 9.995 => format!("{s:.1} s"),
        s => format!("{s:.2} s"),
    }
}

/// Escapes control characters, bidirectional controls and noncharacters of a plugin's text: they
/// can manipulate a terminal and are not allowed in XML.
#[must_use]
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            '\t' => out.push(' '),
            c if is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Breaks a text into lines of at most `width` characters, between words if possible.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut current = String::new();
        let mut length = 0;
        for word in line.split_inclusive(' ') {
            let word_length = word.trim_end().chars().count();
            if length > 0 && length + word_length > width {
                lines.push(current.trim_end().to_owned());
                (current, length) = (String::new(), 0);
            }
            // A word longer than a line is cut.
            for c in word.chars() {
                if length == width && c != ' ' {
                    lines.push(std::mem::take(&mut current));
                    length = 0;
                }
                current.push(c);
                length += 1;
            }
        }
        lines.push(current.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_with_and_without_colours() {
        let mut grid = Grid::new(&["NAME", "#COUNT", "NOTE"]);
        grid.row(vec![plain("a"), ("1,234".to_owned(), Tint::Good), plain("")]);
        grid.row(vec![plain("longer"), plain("7"), plain("so")]);
        let expected = "  NAME    COUNT  NOTE\n  a       1,234\n  longer      7  so\n";
        assert_eq!(grid.text(Paint(false), 2), expected);
        let mut bare = grid.text(Paint(true), 2);
        assert!(bare.contains("\x1b[32m1,234\x1b[0m"));
        for code in ["\x1b[0m", "\x1b[2m", "\x1b[32m"] {
            bare = bare.replace(code, "");
        }
        assert_eq!(bare, expected);
    }

    #[test]
    fn numbers_and_times_for_a_person() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(several(1, "case", "cases"), "1 case");
        assert_eq!([0.0, 9.99, 12.34, 161.0].map(duration), ["0.00 s", "9.99 s", "12.3 s", "2 min 41 s"]);
    }

    #[test]
    fn plugin_texts_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\x1b[2J\tb\r\nc\u{202e}"), "a\\u{1b}[2J b\\u{d}\nc\\u{202e}");
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three\nfour", 8), ["one two", "three", "four"]);
        assert_eq!(wrapped("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrapped("", 4), Vec::<String>::new());
    }
}
