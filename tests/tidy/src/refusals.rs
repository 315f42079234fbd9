//! Refusals of plugins, and the clauses that they cite (TIDY-T17).

use std::collections::BTreeSet;

/// Beginnings of expressions that refuse: an error with a text of its own, or a problem of a
/// plugin.
const REFUSALS: [&str; 7] =
    ["Err(format!(", "Err(\"", "Some(format!(", "Problem::new(", "refused(", "Refused::Broken(", "broken("];

/// Returns the numbers of the clauses that a front page lists: the first cells of its tables.
///
/// # Examples
///
/// ```
/// let page = "//! | P3.5 | Unknown interfaces are ignored. | H | tests |";
/// assert!(chipdock_tidy::clauses(page).contains("P3.5"));
/// ```
#[must_use]
pub fn clauses(page: &str) -> BTreeSet<String> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("//! | ")?.split(" |").next());
    cells.filter(|cell| is_number(cell)).map(str::to_owned).collect()
}

/// Returns true for `P3.19` or `C.8`.
fn is_number(word: &str) -> bool {
    let Some((group, number)) = word.split_once('.') else { return false };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let letter = group.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
    letter && digits(&group[1..]) && !number.is_empty() && digits(number)
}

/// Returns the functions of a file that refuse something and name no clause, neither in their
/// comment nor in their code. The file is formatted: a function ends with a brace at its own
/// indentation. Its tests are left out.
///
/// # Examples
///
/// ```
/// let clauses = ["P3.5".to_owned()].into();
/// let source = "fn check(n: u32) -> Result<(), String> {\n    Err(\"a\".to_owned())\n}\n";
/// assert_eq!(chipdock_tidy::uncited_refusals(source, &clauses), ["check"]);
/// let cited = format!("/// Checks rule P3.5.\n{source}");
/// assert!(chipdock_tidy::uncited_refusals(&cited, &clauses).is_empty());
/// ```
#[must_use]
pub fn uncited_refusals(source: &str, clauses: &BTreeSet<String>) -> Vec<String> {
    let product = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines: Vec<&str> = product.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_end =
            |line: &&str| **line == format!("{indent}}}") || line.ends_with(';') && line.starts_with(indent);
        let end = lines[start..].iter().position(|line| *line == format!("{indent}}}"));
        let end = end.or_else(|| lines[start..].iter().position(is_end)).unwrap_or(0);
        let is_comment = |line: &&&str| {
            let line = line.trim_start();
            line.starts_with("//") || line.starts_with('#')
        };
        let comments = lines[..start].iter().rev().take_while(is_comment).count();
        let text = lines[start - comments..=start + end].join("\n");
        let refuses = lines[start + 1..=start + end.max(1)].iter().any(|line| {
            let is_code = !line.trim_start().starts_with("//");
            is_code && REFUSALS.iter().any(|refusal| line.contains(refusal))
        });
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        let cites = words.map(|word| word.trim_matches('.')).any(|word| clauses.contains(word));
        if refuses && !cites {
            found.push(name.to_owned());
        }
    }
    found
}

/// Returns the name of the function that begins on a line.
fn function_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (before, rest) = line.split_once("fn ")?;
    let is_start = before.split_whitespace().all(|word| {
        word.starts_with("pub")
            || word.starts_with('"')
            || ["const", "unsafe", "extern", "async"].contains(&word)
    });
    let name = rest.split(['(', '<']).next().unwrap_or_default();
    (is_start && !name.is_empty()).then_some(name)
}
