//! Folders of the repository, the corpus of `tests/filetests`, and goldens.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file of the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorpusFile {
    /// Name for messages and goldens: the path below the corpus, or `kernels/...` and `digits/...`
    /// for the examples.
    pub name: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Content of the file.
    pub text: String,
}

/// Returns the root of the repository; for tests carried to another machine, the folder named by
/// `CHIPDOCK_TEST_ROOT`.
#[must_use]
pub fn workspace() -> PathBuf {
    match std::env::var_os("CHIPDOCK_TEST_ROOT") {
        Some(root) => PathBuf::from(root),
        None => {
            Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
        }
    }
}

/// Returns the folder of the corpus and its goldens.
#[must_use]
pub fn filetests() -> PathBuf {
    workspace().join("tests/filetests")
}

/// Returns the folder of the files that TVM printed, which the conformance suite uses too.
#[must_use]
pub fn printed_by_tvm() -> PathBuf {
    workspace().join("host/conformance/kernels/tvm")
}

/// Returns true if goldens are to be written: the environment variable `BLESS` is 1.
#[must_use]
pub fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|bless| bless == "1")
}

/// Returns every `.py` file below `folder`, by name; `prefix` is put before each name.
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

/// Returns the corpus, the example kernels and the digits, by name.
///
/// # Errors
///
/// A folder or file that cannot be read.
pub fn corpus() -> io::Result<Vec<CorpusFile>> {
    let examples = workspace().join("examples");
    let mut files = scripts(&filetests().join("corpus"), "")?;
    files.extend(scripts(&printed_by_tvm(), "tvm/")?);
    files.extend(scripts(&examples.join("kernels"), "kernels/")?);
    let digits = examples.join("digits/digits.py");
    if digits.exists() {
        let text = fs::read_to_string(&digits)?;
        files.push(CorpusFile { name: "digits/digits.py".to_owned(), path: digits, text });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// Compares `actual` with the golden at `path`; with `BLESS=1` in the environment, writes it there
/// instead.
///
/// # Errors
///
/// The first line that differs, with what to do; or the reason why the golden cannot be read or
/// written.
pub fn bless(path: &Path, actual: &str) -> Result<(), String> {
    let shown = path.strip_prefix(workspace()).unwrap_or(path).display();
    if is_blessing() {
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
