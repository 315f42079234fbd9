//! Lengths of comments (TIDY-T18).

/// Columns of a comment, with its indentation.
const COLUMNS_MAX: usize = 100;

/// Characters of a word, such as a link, from which on wrapping would not help.
const WORD_MAX: usize = 75;

/// Returns the numbers of the lines of a Rust file that are comments of more than 100 columns.
/// Tables, code between fences, and lines with a word that is nearly as long are left out.
///
/// # Examples
///
/// ```
/// let long = format!("    // {}", "word ".repeat(20));
/// assert_eq!(chipdock_tidy::long_comments(&format!("fn f() {{\n{long}\n}}")), [2]);
/// assert!(chipdock_tidy::long_comments(&format!("// {}", "word ".repeat(19))).is_empty());
/// assert!(chipdock_tidy::long_comments(&format!("//! | {} |", "word ".repeat(30))).is_empty());
/// assert!(chipdock_tidy::long_comments(&format!("/// ```\n/// {}", "word ".repeat(30))).is_empty());
/// ```
#[must_use]
pub fn long_comments(source: &str) -> Vec<usize> {
    let (mut found, mut is_code) = (Vec::new(), false);
    for (index, line) in source.lines().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("//") else {
            is_code = false;
            continue;
        };
        let text = rest.trim_start_matches(['/', '!']).trim_start();
        if text.starts_with("```") {
            is_code = !is_code;
        }
        let is_table = text.starts_with('|');
        let has_long_word = text.split_whitespace().any(|word| word.chars().count() > WORD_MAX);
        if line.chars().count() > COLUMNS_MAX && !is_code && !is_table && !has_long_word {
            found.push(index + 1);
        }
    }
    found
}
