//! Golden with the number of checks of each test of a list: a smaller count is an error, and so is
//! a larger one.
//!
//! A line is `count test`, in order of names. `BLESS=1` writes the line of each test that is run.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use crate::is_blessing;

fn read(file: &mut File, path: &Path) -> Result<BTreeMap<String, usize>, String> {
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| format!("{}: {error}", path.display()))?;
    let line = |line: &str| {
        let (count, test) = line.split_once(' ')?;
        Some((test.to_owned(), count.parse().ok()?))
    };
    let read: Option<BTreeMap<String, usize>> = text.lines().map(line).collect();
    read.ok_or_else(|| format!("{}: expected lines as `3 check::file`", path.display()))
}

/// Changes the lines of the golden, while other processes wait.
fn change(path: &Path, change: impl FnOnce(&mut BTreeMap<String, usize>)) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
    file.lock().map_err(failed)?;
    let mut lines = read(&mut file, path)?;
    change(&mut lines);
    let text: String = lines.iter().map(|(test, count)| format!("{count} {test}\n")).collect();
    file.rewind()
        .and_then(|()| file.set_len(0))
        .and_then(|()| file.write_all(text.as_bytes()))
        .map_err(failed)
}

/// Compares the number of checks of a test with its line of the golden.
///
/// # Errors
///
/// Both counts, with what to do; or why the golden cannot be read or written.
pub fn check(path: &Path, test: &str, count: usize) -> Result<(), String> {
    if is_blessing() {
        return change(path, |lines| {
            lines.insert(test.to_owned(), count);
        });
    }
    let mut file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    match read(&mut file, path)?.get(test) {
        Some(expected) if *expected == count => Ok(()),
        expected => Err(format!(
            "{test}: expected {} to be checked, found {count}. If that is right, run again with BLESS=1 and look at the diff \
             of {}.",
            expected.map_or("nothing".to_owned(), ToString::to_string),
            path.file_name().unwrap_or_default().to_string_lossy()
        )),
    }
}

/// Finds lines of tests that no longer exist; with `BLESS=1`, removes them.
///
/// # Errors
///
/// Their names; or why the golden cannot be read or written.
pub fn no_line_is_left(path: &Path, tests: &[String]) -> Result<(), String> {
    if is_blessing() {
        return change(path, |lines| lines.retain(|test, _| tests.contains(test)));
    }
    let mut file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let left: Vec<String> = read(&mut file, path)?.into_keys().filter(|test| !tests.contains(test)).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("no such tests: {}", left.join(", "))) }
}
