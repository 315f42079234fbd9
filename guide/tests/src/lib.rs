//! The pages of the guide, as its tests read them.
//!
//! A fenced block is one of these, by its language and by the line before it:
//!
//! * `console`: a session. Lines that start with `$ ` are run, all of a page in one shell and one
//!   folder; a line that ends in `\` goes on in the next. What follows is what the command prints
//!   on both streams; nothing there, and it is not compared. See [`agrees`]. A command that fails
//!   is followed by `$ echo $?`.
//! * `<!-- saved as: NAME -->` before it: the text of a file that the session then has.
//! * `<!-- file: PATH -->` before it: a quotation of that file of the repository, see
//!   [`is_quoted`].
//! * `*Not run by the tests: REASON.*` before it, which the reader sees too: checked by nobody.
//! * `text`, or no language: a figure.

mod compare;
mod session;

use std::fs;
use std::path::PathBuf;

pub use chipdock_test_support::workspace as root;

pub use compare::{agrees, is_quoted};
pub use session::{Command, Outcome, commands, run};

/// What the line before a block says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The text of a file that the session has.
    SavedAs(String),
    /// Quoted from a file of the repository.
    File(String),
    /// Not run, with the reason.
    NotRun(String),
}

/// A fenced block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The line of its fence, from 1.
    pub line: usize,
    /// What follows the fence.
    pub language: String,
    /// What stands before it.
    pub mark: Option<Mark>,
    /// The lines within.
    pub lines: Vec<String>,
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The file's name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its fenced blocks.
    pub blocks: Vec<Block>,
    /// Its lines outside of blocks, with their numbers.
    pub prose: Vec<(usize, String)>,
}

/// The folder of the pages.
#[must_use]
pub fn docs() -> PathBuf {
    root().join("guide/docs")
}

/// The README, which is checked by the same rules as a page.
///
/// # Panics
///
/// When it cannot be read.
#[must_use]
pub fn readme() -> Page {
    page("README.md", &fs::read_to_string(root().join("README.md")).expect("README.md"))
}

/// The README of the host in C, which is checked by the same rules as a page; its name is its path.
///
/// # Panics
///
/// When it cannot be read.
#[must_use]
pub fn host_c() -> Page {
    let path = "examples/host-c/README.md";
    page(path, &fs::read_to_string(root().join(path)).expect(path))
}

/// All pages of the guide, by name.
///
/// # Panics
///
/// When they cannot be read.
#[must_use]
pub fn pages() -> Vec<Page> {
    let entries = fs::read_dir(docs()).expect("guide/docs").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        page(&name, &fs::read_to_string(path).expect("a page"))
    };
    paths.iter().map(read).collect()
}

/// The text of a page with what its commands print, in the place of what it shows of them. The
/// commands stand in the order of the page.
#[must_use]
pub fn blessed(page: &Page, outcomes: &[(&Command, &Outcome)]) -> String {
    let mut lines: Vec<&str> = page.text.lines().collect();
    // From the last one on, so that the numbers of the others stay right.
    for (command, outcome) in outcomes.iter().rev() {
        let first = command.line - 1 + command.text.lines().count();
        lines.splice(first..first + command.shown.len(), outcome.printed.iter().map(String::as_str));
    }
    lines.join("\n") + "\n"
}

/// Reads one page.
#[must_use]
pub fn page(name: &str, text: &str) -> Page {
    let mut page =
        Page { name: name.to_owned(), text: text.to_owned(), blocks: Vec::new(), prose: Vec::new() };
    let (mut open, mut before): (Option<Block>, _) = (None, String::new());
    for (index, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => page.blocks.extend(open.take()),
            (Some(language), None) => {
                let mark = mark(&before);
                let language = language.trim().to_owned();
                open = Some(Block { line: index + 1, language, mark, lines: Vec::new() });
                before.clear();
            }
            (None, Some(block)) => block.lines.push(line.to_owned()),
            (None, None) => {
                page.prose.push((index + 1, line.to_owned()));
                if !line.trim().is_empty() {
                    line.trim().clone_into(&mut before);
                }
            }
        }
    }
    page.blocks.extend(open);
    page
}

fn mark(line: &str) -> Option<Mark> {
    let comment = |key: &str| line.strip_prefix("<!-- ")?.strip_suffix(" -->")?.strip_prefix(key);
    if let Some(name) = comment("saved as: ") {
        return Some(Mark::SavedAs(name.to_owned()));
    }
    if let Some(path) = comment("file: ") {
        return Some(Mark::File(path.to_owned()));
    }
    let reason = line.strip_prefix("*Not run by the tests: ")?.strip_suffix(".*")?;
    (!reason.is_empty()).then(|| Mark::NotRun(reason.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Outcome, blessed, commands, page};

    #[test]
    fn an_output_is_replaced_in_its_place() {
        let text = "# A\n```console\n$ one \\\n    two\nold\nolder\n$ three\nright\n$ four\nold\n```\nB\n";
        let page = page("a.md", text);
        let commands = commands(&page.blocks[0]);
        let printed = |lines: &[&str]| Outcome {
            printed: lines.iter().map(|line| (*line).to_owned()).collect(),
            code: 0,
        };
        let (first, last) = (printed(&["new"]), printed(&["new", "newer"]));
        assert_eq!(
            blessed(&page, &[(&commands[0], &first), (&commands[2], &last)]),
            "# A\n```console\n$ one \\\n    two\nnew\n$ three\nright\n$ four\nnew\nnewer\n```\nB\n"
        );
    }
}
