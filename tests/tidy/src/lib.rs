//! The rules of the tree, as tests: an invariant untested is a wish.
//!
//! * TIDY-T1 Dependency arrows: `plugin-api/` never depends on `host/`, plugins not on each other, nothing links a plugin; what
//!   users get depends on nothing of `tests/`, and nothing depends on a task.
//! * TIDY-T2 Without `host/`, the workspace of plugins still resolves.
//! * TIDY-T3 No backend's name stands in a string of `host/` or `plugin-api/`.
//! * TIDY-T4 Every path named in README, ARCHITECTURE and CONTRIBUTING exists.
//! * TIDY-T5 Each plugin's folder has one shape.
//! * TIDY-T6 No source file is longer than 800 lines.
//! * TIDY-T7 `unsafe` stands only where the boundary needs it (that each block says why is clippy's to check).
//! * TIDY-T8 Nothing names a machine's path or a package registry's host.
//! * TIDY-T9 Every rule of the IR's specification is cited by a test, and `plugin-api/ir/RULES.md` lists them (`BLESS=1`
//!   writes it). A test cites rules on a line of its comment: `/// ir: IR-B5, IR-B6.`
//! * TIDY-T10 Plugins ask for variables, the folder for temporary files and raised privileges by `chipdock_plugin_api::process`
//!   alone, which answers nothing of the user's with raised privileges.
//! * TIDY-T11 Each promise of SECURITY.md names a test, as `path/of/file.rs::name`, and each of these tests exists.
//! * TIDY-T12 The tables of *How to add* in CONTRIBUTING.md are true: with the example's name for `NAME` each path exists, each file
//!   that is always touched names the example, and so does no product file beside them. The files of a pass name every pass.
//! * TIDY-T13 A crate's lints are the workspace's; a crate that is there for tests alone may state them itself, without those against
//!   panics: a test fails by panicking.

use std::path::{Path, PathBuf};

/// Every file below `folder` with one of the endings, in order of names; folders that hold no source are left out.
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

/// A rule of a front page: its number, and how it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its number, as `IR-B6`.
    pub number: String,
    /// Its first sentence.
    pub start: String,
}

/// The rules of a crate's front page (`- **IR-B6** …`), in order.
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

/// The tests of a source file that cite rules under `prefix`: their names, with the rules.
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

/// The string literals of Rust source, with their lines; comments and everything from `#[cfg(test)]` on left out.
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
    /// What is added, as `pass`.
    pub thing: String,
    /// One that is in the tree.
    pub example: String,
    /// Its rows, in order.
    pub rows: Vec<RecipeRow>,
}

/// A file or a folder that is touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeRow {
    /// Its path from the root, `NAME` standing for the name of what is added.
    pub path: String,
    /// Whether every addition touches it.
    pub is_always: bool,
}

/// The tables of a page that follow a comment `<!-- how to add: THING, as in EXAMPLE -->`.
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

/// How a name is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a variable or an option: `no_cache`, `no-cache`.
    Word,
    /// As a Rust type or variant: `NoCache`.
    Type,
    /// As a text of its own: `"no-cache"`.
    Text,
}

impl Form {
    /// Each form.
    pub const ALL: &'static [Self] = &[Self::Word, Self::Type, Self::Text];
}

/// Whether a text has a name in that form, not as a part of a longer one.
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
