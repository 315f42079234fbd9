//! The corpus: script, passes, and every backend against the interpreter.
//!
//! - `corpus/` holds TVMScript files that must be read; [`corpus`] gives them, and the example kernels with them.
//! - `golden/` holds what is printed of each; `bad/` holds files that must be refused, each with its errors (`.err`).
//! - [`bless`] compares a text with a golden, or writes it when the environment variable `BLESS` is 1.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A file of the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorpusFile {
    /// Its name for messages and goldens: the path below the corpus, or `kernels/...` and `digits/...` of the examples.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it holds.
    pub text: String,
}

/// Says that something was not tested, and what was missing: on stdout, and in the file that `CHIPDOCK_SKIP_LOG` names,
/// which `cargo xtask test` shows at the end.
pub fn skipped(what: &str) {
    println!("skipped: {what}");
    if let Some(path) = std::env::var_os("CHIPDOCK_SKIP_LOG") {
        let log = fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = log.and_then(|mut log| writeln!(log, "  {what}"));
    }
}

/// The folder of this crate; below `CHIPDOCK_TEST_ROOT` where tests were carried to another machine.
#[must_use]
pub fn root() -> PathBuf {
    match std::env::var_os("CHIPDOCK_TEST_ROOT") {
        Some(root) => PathBuf::from(root).join("tests/filetests"),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")),
    }
}

/// The folder of the workspace.
#[must_use]
pub fn workspace() -> PathBuf {
    root().join("../..")
}

/// Every `.py` file below `folder`, by name; `prefix` comes before each name.
///
/// # Errors
///
/// A folder or file that cannot be read.
pub fn scripts(folder: &Path, prefix: &str) -> io::Result<Vec<CorpusFile>> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), prefix.to_owned())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let base = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let name = format!("{prefix}{base}");
            if path.is_dir() {
                folders.push((path, format!("{name}/")));
            } else if path.extension().is_some_and(|extension| extension == "py") {
                let text = fs::read_to_string(&path)?;
                files.push(CorpusFile { name, path, text });
            }
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// The corpus, the example kernels and the digits, by name.
///
/// # Errors
///
/// A folder or file that cannot be read.
pub fn corpus() -> io::Result<Vec<CorpusFile>> {
    let examples = workspace().join("examples");
    let mut files = scripts(&root().join("corpus"), "")?;
    files.extend(scripts(&examples.join("kernels"), "kernels/")?);
    let digits = examples.join("digits/digits.py");
    if digits.exists() {
        let text = fs::read_to_string(&digits)?;
        files.push(CorpusFile { name: "digits/digits.py".to_owned(), path: digits, text });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// Compares `actual` with the golden at `path`; with `BLESS=1` in the environment, writes it there instead.
///
/// # Errors
///
/// The first line that differs, with what to do; or why the golden cannot be read or written.
pub fn bless(path: &Path, actual: &str) -> Result<(), String> {
    let shown = path.strip_prefix(root()).unwrap_or(path).display();
    if std::env::var("BLESS").is_ok_and(|bless| bless == "1") {
        let folder = path.parent().unwrap_or(path);
        return fs::create_dir_all(folder)
            .and_then(|()| fs::write(path, actual))
            .map_err(|error| format!("{shown}: cannot be written: {error}"));
    }
    let expected = fs::read_to_string(path).map_err(|error| {
        format!(
            "{shown}: the golden cannot be read: {error}; to write it, run with BLESS=1 and look at the diff"
        )
    })?;
    if expected == actual {
        return Ok(());
    }
    let mut lines = expected.lines().zip(actual.lines()).enumerate();
    let (number, expected_line, actual_line) = match lines.find(|(_, (a, b))| a != b) {
        Some((index, (a, b))) => (index + 1, a, b),
        None => {
            let number = expected.lines().count().min(actual.lines().count()) + 1;
            let of = |text: &'_ str| text.lines().nth(number - 1).map(str::to_owned);
            let (a, b) = (of(&expected), of(actual));
            let (a, b) = (a.unwrap_or("(end)".into()), b.unwrap_or("(end)".into()));
            return Err(differs(&shown.to_string(), number, &a, &b));
        }
    };
    Err(differs(&shown.to_string(), number, expected_line, actual_line))
}

fn differs(path: &str, line: usize, expected: &str, actual: &str) -> String {
    format!(
        "{path}:{line} differs\n  expected: {expected}\n  found:    {actual}\nIf the new text is right, run again with \
         BLESS=1 and look at the diff."
    )
}
