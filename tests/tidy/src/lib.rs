//! The rules of the source tree, checked by tests.
//!
//! * TIDY-T1 Dependencies: `plugin-api/` never depends on `host/`, plugins do not depend on each
//!   other, and nothing links a plugin; crates for users do not depend on `tests/`, and nothing
//!   depends on a task.
//! * TIDY-T2 Without `host/`, the workspace of plugins still resolves.
//! * TIDY-T3 No string of `host/` or `plugin-api/` contains the name of a backend.
//! * TIDY-T4 Every path named in README, ARCHITECTURE and CONTRIBUTING exists.
//! * TIDY-T5 All plugin folders have the same structure.
//! * TIDY-T6 No source file is longer than 800 lines.
//! * TIDY-T7 `unsafe` occurs only where the boundary needs it (clippy checks that each block states
//!   its reason).
//! * TIDY-T8 No file contains a path of a machine or the host name of a package registry.
//! * TIDY-T9 Every rule of the IR's specification is cited by a test, and `plugin-api/ir/RULES.md`
//!   lists them (`BLESS=1` writes it). A test cites rules on a line of its comment:
//!   `/// ir: IR-B5, IR-B6.`
//! * TIDY-T10 Plugins query environment variables, the folder for temporary files and raised
//!   privileges only through `chipdock_plugin_api::process`, which returns nothing from the user
//!   with raised privileges.
//! * TIDY-T11 Each promise of SECURITY.md names a test, as `path/of/file.rs::name`, and each of
//!   these tests exists.
//! * TIDY-T12 The tables of *How to add* in CONTRIBUTING.md are true: with the example's name for
//!   `NAME` each path exists, each file that is always touched names the example, and no other
//!   product file does. The files of a pass name every pass.
//! * TIDY-T13 Every crate uses the lints of the workspace; a crate for tests only may list the
//!   lints itself, without those against panics, because a test fails by panicking.
//! * TIDY-T14 Every file of a folder `tests` is built: it is the root of a test, or another file
//!   there has it as a module. A target whose manifest says `test = false` has no tests in its
//!   files.
//! * TIDY-T15 A part that two backends have, a file or folder of `src`, is one of those that
//!   CONTRIBUTING.md lists, and the front page of the backend (`src/lib.rs`) names every part.
//! * TIDY-T16 No circle of files of `host/src` that use each other is larger than its bound
//!   ([`Arrows`]).
//! * TIDY-T17 Each function of the host that refuses what a plugin does names the clause of the
//!   contract that forbids it.
//! * TIDY-T18 Comments of Rust files fit into 100 columns, but for tables, code and links
//!   ([`long_comments`]).

mod arrows;
mod comments;
mod refusals;

use std::path::{Path, PathBuf};

pub use arrows::{Arrows, Rooms};
pub use comments::long_comments;
pub use refusals::{clauses, uncited_refusals};

/// Returns every file below `folder` with one of the endings, in order of names; folders that
/// contain no source are left out.
#[must_use]
pub fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.is_dir() {
            if !["target", ".git", "node_modules", "__pycache__"].contains(&name.as_str()) {
                found.extend(files(&path, endings));
            }
        } else if endings.is_empty() || endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
    found
}

/// A rule of a front page: its number and its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Number of the rule, such as `IR-B6`.
    pub number: String,
    /// First sentence of the rule.
    pub start: String,
}

/// Returns the rules of a crate's front page (`- **IR-B6** …`), in order.
#[must_use]
pub fn rules(front_page: &str) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut open = false;
    for line in front_page.lines() {
        let is_number = |number: &str| number.len() < 8 && number.ends_with(|c: char| c.is_ascii_digit());
        let item = line.strip_prefix("//! - **").and_then(|rest| rest.split_once("**"));
        if let Some((number, text)) = item.filter(|(number, _)| is_number(number)) {
            rules.push(Rule { number: number.to_owned(), start: text.trim().to_owned() });
            open = true;
        } else if let (true, Some(more), Some(rule)) = (open, line.strip_prefix("//!   "), rules.last_mut()) {
            rule.start = format!("{} {}", rule.start, more.trim());
        } else {
            open = false;
        }
    }
    for rule in &mut rules {
        let end = rule.start.find(". ").map_or(rule.start.len(), |at| at + 1);
        rule.start = rule.start[..end].replace('|', "\\|").replace(['[', ']'], "");
    }
    rules
}

/// Returns the tests of a source file that cite rules under `prefix`: their names, with the rules.
#[must_use]
pub fn citations(source: &str, prefix: &str) -> Vec<(String, Vec<String>)> {
    let (mut found, mut cited) = (Vec::new(), Vec::new());
    for line in source.lines().map(str::trim_start) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim);
        if let Some(list) = comment.and_then(|text| text.strip_prefix(prefix)) {
            let list = list.split(['.', ':']).next().unwrap_or_default();
            cited.extend(list.split(',').map(|rule| rule.trim().to_owned()));
        } else if let Some(rest) = line.strip_prefix("fn ")
            && !cited.is_empty()
        {
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            found.push((name.to_owned(), std::mem::take(&mut cited)));
        }
    }
    found
}

/// Returns the string literals of Rust source, with their lines; comments and everything from
/// `#[cfg(test)]` on are left out.
#[must_use]
pub fn string_literals(source: &str) -> Vec<(usize, String)> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let bytes = source.as_bytes();
    let (mut index, mut line, mut found) = (0, 1, Vec::new());
    while index < bytes.len() {
        let rest = &bytes[index..];
        if rest.starts_with(b"//") {
            index += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"'\"'") || rest.starts_with(b"'\\'") {
            index += 3;
        } else if rest[0] == b'"' {
            let mut end = 1;
            while end < rest.len() && rest[end] != b'"' {
                end += if rest[end] == b'\\' { 2 } else { 1 };
            }
            let text = String::from_utf8_lossy(&rest[1..end.min(rest.len())]).into_owned();
            line += text.matches('\n').count();
            found.push((line, text));
            index += end + 1;
        } else {
            line += usize::from(rest[0] == b'\n');
            index += 1;
        }
    }
    found
}

/// A table of *How to add* in CONTRIBUTING.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Kind of the added thing, such as `pass`.
    pub thing: String,
    /// An existing example.
    pub example: String,
    /// Rows, in order.
    pub rows: Vec<RecipeRow>,
}

/// A file or a folder that is touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeRow {
    /// Path from the root, with `NAME` for the name of the added thing.
    pub path: String,
    /// Whether every addition touches it.
    pub is_always: bool,
}

/// Returns the tables of a page that follow a comment `<!-- how to add: THING, as in EXAMPLE -->`.
#[must_use]
pub fn recipes(page: &str) -> Vec<Recipe> {
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut open = false;
    for line in page.lines() {
        let head = line.strip_prefix("<!-- how to add: ").and_then(|rest| rest.strip_suffix(" -->"));
        if let Some((thing, example)) = head.and_then(|head| head.split_once(", as in ")) {
            recipes.push(Recipe { thing: thing.to_owned(), example: example.to_owned(), rows: Vec::new() });
            open = true;
        } else if let (true, Some(row)) = (open, line.strip_prefix("| `")) {
            let (path, rest) = row.split_once('`').unwrap_or((row, ""));
            let is_always = rest.trim_end().ends_with("| always |");
            if let Some(recipe) = recipes.last_mut() {
                recipe.rows.push(RecipeRow { path: path.to_owned(), is_always });
            }
        } else {
            open &= line.starts_with('|');
        }
    }
    recipes
}

/// Form of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a variable or an option: `no_cache`, `no-cache`.
    Word,
    /// As a Rust type or variant: `NoCache`.
    Type,
    /// As a string literal: `"no-cache"`.
    Text,
}

impl Form {
    /// All forms.
    pub const ALL: &'static [Self] = &[Self::Word, Self::Type, Self::Text];
}

/// Returns true if a text contains a name in that form, not as a part of a longer name.
#[must_use]
pub fn names(text: &str, name: &str, form: Form) -> bool {
    let snake = name.replace('-', "_");
    let capitals = |part: &str| part[..1.min(part.len())].to_uppercase() + &part[1.min(part.len())..];
    let forms = match form {
        Form::Word => vec![name.to_owned(), snake],
        Form::Type => vec![snake.split('_').map(capitals).collect()],
        Form::Text => vec![format!("\"{name}\""), format!("\"{snake}\"")],
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    forms.iter().any(|form| {
        text.match_indices(form.as_str()).any(|(at, found)| {
            let after = text[at + found.len()..].chars().next();
            form.starts_with('"') || (!text[..at].ends_with(is_word) && !after.is_some_and(is_word))
        })
    })
}
