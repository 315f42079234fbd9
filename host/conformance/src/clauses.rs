//! Clauses of the contract, read from the front page of `chipdock-plugin-api` (SUITE-S3).

use std::sync::OnceLock;

/// Source text of the front page: there is no second list of clauses.
const PAGE: &str = include_str!("../../../plugin-api/src/lib.rs");

/// One clause of the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Number of the clause, such as `D.4`.
    pub number: String,
    /// Title of its section, such as `D Device APIs`.
    pub section: String,
    /// Text of the clause, in Markdown without links.
    pub text: String,
    /// Party that has the duty: `P` (plugin), `H` (host) or `both`.
    pub by: String,
    /// Checkers of the clause: `build`, `shim`, `host`, `suite`, `tests`, `review`; separated by
    /// commas.
    pub checked: String,
}

impl Clause {
    /// Returns true if the suite must detect when a plugin breaks the clause.
    #[must_use]
    pub fn is_the_suites(&self) -> bool {
        self.by != "H" && self.checked.split(", ").any(|who| who == "suite")
    }
}

/// Returns every clause in the order of the page.
#[must_use]
pub fn all() -> &'static [Clause] {
    static ALL: OnceLock<Vec<Clause>> = OnceLock::new();
    ALL.get_or_init(|| parse(PAGE))
}

/// Returns the clause of a number, if there is one.
#[must_use]
pub fn find(number: &str) -> Option<&'static Clause> {
    all().iter().find(|clause| clause.number == number)
}

/// Returns the text of a clause, or a placeholder if there is no such clause.
#[must_use]
pub fn text(number: &str) -> &'static str {
    find(number).map_or("(the contract has no such clause)", |clause| &clause.text)
}

/// Parses the tables of a page. A row is `//! | D.4 | text | By | Checked |` below a heading
/// `//! ## Section`.
fn parse(page: &str) -> Vec<Clause> {
    let mut section = "";
    let mut clauses = Vec::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("//! ")) {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.trim();
            continue;
        }
        let Some(row) = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")) else { continue };
        // A bar within a cell is written with a backslash.
        let row = row.replace("\\|", "\u{1}");
        let cells: Vec<String> =
            row.split(" | ").map(|cell| cell.trim().replace('\u{1}', "|").to_owned()).collect();
        let [number, text, by, checked] = cells.as_slice() else { continue };
        if number.split_once('.').is_some_and(|(head, tail)| !head.is_empty() && tail.parse::<u32>().is_ok())
        {
            clauses.push(Clause {
                number: number.clone(),
                section: section.to_owned(),
                text: without_links(text),
                by: by.clone(),
                checked: checked.clone(),
            });
        }
    }
    clauses
}

/// Replaces links `` [`name`] `` by `` `name` ``, because the links do not resolve outside the
/// page.
fn without_links(text: &str) -> String {
    text.replace("[`", "`").replace("`]", "`")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_page_is_read_whole() {
        let rows = PAGE.lines().filter(|line| line.starts_with("//! | ") && line.contains('.')).count();
        assert_eq!(all().len(), rows, "each row with a number is a clause");
        let mut numbers: Vec<&str> = all().iter().map(|clause| clause.number.as_str()).collect();
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] != pair[1]), "no number stands twice");
    }

    #[test]
    fn a_row_is_read_with_its_section() {
        let clause = find("P11.1").unwrap();
        assert_eq!(clause.section, "P11 Never unloaded");
        assert!(clause.text.contains("`RTLD_NOW | RTLD_LOCAL`"), "{}", clause.text);
        assert_eq!((clause.by.as_str(), clause.checked.as_str()), ("H", "review"));
        assert!(text("P7.3").contains("(`ErrorKind::class`)"), "{}", text("P7.3"));
        assert_eq!(text("Z.99"), "(the contract has no such clause)");
    }

    #[test]
    fn words_of_who_are_known() {
        for clause in all() {
            assert!(["P", "H", "both"].contains(&clause.by.as_str()), "{clause:?}");
            for who in clause.checked.split(", ") {
                assert!(["build", "shim", "host", "suite", "tests", "review"].contains(&who), "{clause:?}");
            }
        }
    }
}
