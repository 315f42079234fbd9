//! Tables for a person: columns aligned with spaces, no frames, so that `grep` and `awk` find their
//! way too.

use chipdock_host::shown::shown;
use comfy_table::{ContentArrangement, presets};

/// Number of characters of a cell that are shown; `--json` has it whole.
const CELL_CHARS_MAX: usize = 2000;

/// Cells in columns. Their content comes from outside: each is one harmless line.
#[derive(Debug)]
pub(crate) struct Table(comfy_table::Table);

impl Table {
    /// Adds a row.
    pub(crate) fn add_row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Self {
        self.add_row_at(0, cells)
    }

    /// Adds a row whose first cell is indented by that many levels.
    pub(crate) fn add_row_at<S: AsRef<str>>(
        &mut self,
        depth: usize,
        cells: impl IntoIterator<Item = S>,
    ) -> &mut Self {
        let mut indent = "  ".repeat(depth);
        self.0.add_row(cells.into_iter().map(|cell| std::mem::take(&mut indent) + &cell_text(cell.as_ref())));
        self
    }
}

fn cell_text(text: &str) -> String {
    // Lines that a person wrote one below another read on behind a slash.
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    shown(&lines.join(" / "), CELL_CHARS_MAX).into_owned()
}

/// Makes a table with those column names.
pub(crate) fn new(header: &[&str]) -> Table {
    let mut table = comfy_table::Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().map(|name| cell_text(name)));
    Table(table)
}

/// Returns the text of a table, without blanks at the ends of lines. Ends with a newline.
pub(crate) fn text(table: &Table) -> String {
    let lines: Vec<String> =
        table.0.lines().map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// Returns a text in lines of at most 100 characters, each after `indent` blanks. Ends with a
/// newline.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    const WIDTH_MAX: usize = 100;
    let lead = " ".repeat(indent);
    let (mut out, mut line) = (String::new(), lead.clone());
    for word in text.split_whitespace() {
        if line.len() > indent && line.chars().count() + 1 + word.chars().count() > WIDTH_MAX {
            out.push_str(line.trim_end());
            out.push('\n');
            line.clone_from(&lead);
        }
        if line.len() > indent {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.len() > indent { out + &line + "\n" } else { out }
}

/// Returns a time for a person: three significant digits and a unit.
pub(crate) fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "us"),
        s => (s * 1e9, "ns"),
    };
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

/// Returns a number of bytes for a person: three significant digits and a unit.
pub(crate) fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    if bytes < 1000 {
        return format!("{bytes} bytes");
    }
    let mut units = ["KiB", "MiB", "GiB", "TiB"].into_iter();
    let mut unit = "bytes";
    while value >= 999.5 {
        let Some(next) = units.next() else { break };
        (value, unit) = (value / 1024.0, next);
    }
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_clean() {
        let mut table = new(&["NAME", "WHY"]);
        table.add_row(["a", "no device"]).add_row(["longer", ""]);
        assert_eq!(text(&table), "NAME    WHY\na       no device\nlonger\n");
    }

    #[test]
    fn a_cell_is_one_harmless_line() {
        let mut table = new(&["NAME", "WHY"]);
        table.add_row(["a\x1b[2J", "first\n\nerror: second"]).add_row(["b", &"x".repeat(1 << 20)]);
        let text = text(&table);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("a\\u{1b}[2J  first / error: second"), "{text}");
        assert!(lines.len() == 3 && lines[2].ends_with("x… (1046576 more characters)"), "{text}");
    }

    #[test]
    fn a_text_is_wrapped_between_words() {
        assert_eq!(wrapped("", 2), "");
        assert_eq!(wrapped("one two", 2), "  one two\n");
        let long = wrapped(&"word ".repeat(60), 6);
        assert_eq!(long.lines().count(), 4);
        assert!(long.lines().all(|line| line.starts_with("      word") && line.len() <= 100), "{long}");
        assert_eq!(long.split_whitespace().count(), 60);
        let one = "x".repeat(200);
        assert_eq!(wrapped(&one, 2), format!("  {one}\n"));
    }

    #[test]
    fn sizes_have_three_digits() {
        for (bytes, shown) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1000, "0.98 KiB"),
            (4096, "4.00 KiB"),
            (123_456, "121 KiB"),
            (1 << 30, "1.00 GiB"),
            (u64::MAX, "16777216 TiB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }

    #[test]
    fn times_have_three_digits() {
        for (seconds, shown) in [
            (12.345, "12.3 s"),
            (1.0, "1.00 s"),
            (0.1234, "123 ms"),
            (0.000_999_9, "1000 us"),
            (5e-7, "500 ns"),
            (0.0, "0.00 ns"),
        ] {
            assert_eq!(duration(seconds), shown);
        }
    }
}
