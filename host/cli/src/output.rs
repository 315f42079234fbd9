//! Writing: results to standard output, files whole or not at all.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::NamedTempFile;

use crate::report::{Failure, Result};

/// A file that is written but not yet in its place. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Pending {
    place: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// To be renamed into place.
    File(NamedTempFile),
    /// To be written into a pipe or a device, which nothing may be renamed over.
    Stream(Vec<u8>),
}

/// Says at once why a file could not be written, before any work is done for it. What passes may still fail later.
///
/// # Errors
///
/// Exit code 1, naming the file.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
    Destination::of(path).map(|_| ())
}

/// Writes a file beside its place. [`commit`] moves it there.
///
/// # Errors
///
/// Exit code 1, naming the file; nothing is left behind.
pub(crate) fn prepare(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Pending> {
    let failed = |error: io::Error| cannot_write(path, &error.to_string());
    match Destination::of(path)? {
        Destination::Stream(place) => {
            let mut bytes = Vec::new();
            write(&mut bytes).map_err(failed)?;
            Ok(Pending { place, content: Content::Stream(bytes) })
        }
        Destination::File { place, folder, mode } => {
            let mut builder = tempfile::Builder::new();
            builder.prefix(".chipdock-").permissions(Permissions::from_mode(mode));
            let file = builder.tempfile_in(folder).map_err(|error| cannot_write(path, &reason(&error)))?;
            let mut buffered = io::BufWriter::with_capacity(1 << 16, file);
            write(&mut buffered).map_err(failed)?;
            let file = buffered.into_inner().map_err(|error| failed(error.into_error()))?;
            Ok(Pending { place, content: Content::File(file) })
        }
    }
}

/// Moves files into their places, once all of them are written.
///
/// # Errors
///
/// Exit code 1 with the first file that could not be moved; those before it are in place, those after it are not.
pub(crate) fn commit(files: Vec<Pending>) -> Result<()> {
    for Pending { place, content } in files {
        match content {
            Content::File(file) => {
                file.persist(&place).map_err(|error| cannot_write(&place, &error.error.to_string()))?;
            }
            Content::Stream(bytes) => {
                let stream = fs::OpenOptions::new().write(true).open(&place);
                match stream.and_then(|mut stream| stream.write_all(&bytes)) {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                        return Err(cannot_write(&place, &error.to_string()));
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

/// Writes one file, whole or not at all.
///
/// # Errors
///
/// As of [`prepare`] and [`commit`].
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    commit(vec![prepare(path, |out| out.write_all(bytes))?])
}

/// Writes a result to standard output. A reader that has gone away is no error: it has seen enough.
///
/// # Errors
///
/// Exit code 1 when standard output cannot be written for another reason, as with a full disk.
pub(crate) fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes bytes to standard output, as [`print()`] does.
///
/// # Errors
///
/// As of [`print()`].
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::work(format!("cannot write the result: {error}")).at("standard output"))
        }
        _ => Ok(()),
    }
}

/// Writes a value as JSON to standard output.
///
/// # Errors
///
/// As of [`print()`].
pub(crate) fn print_json(value: &Value) -> Result<()> {
    print(&json_text(value))
}

/// A value as JSON to look at: a field a line, but lists of words and numbers, which may be long, fill their lines. Ends
/// with a newline.
pub(crate) fn json_text(value: &Value) -> String {
    let mut text = String::new();
    put_json(&mut text, value, 0);
    text + "\n"
}

fn put_json(text: &mut String, value: &Value, indent: usize) {
    /// Characters of a line that is filled.
    const WIDTH_MAX: usize = 100;
    let below = format!("\n{}", " ".repeat(indent + 2));
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            text.push('{');
            for (index, (name, field)) in fields.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                text.push_str(&format!("{below}{}: ", Value::from(name.as_str())));
                put_json(text, field, indent + 2);
            }
            text.push_str(&format!("\n{}}}", " ".repeat(indent)));
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                text.push_str(&below);
                put_json(text, item, indent + 2);
            }
            text.push_str(&format!("\n{}]", " ".repeat(indent)));
        }
        Value::Array(items) => {
            let words: Vec<String> = items.iter().map(Value::to_string).collect();
            let line = words.join(", ");
            if line.len() + indent < WIDTH_MAX {
                text.push_str(&format!("[{line}]"));
                return;
            }
            let mut column = WIDTH_MAX;
            text.push('[');
            for (index, word) in words.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                if column + word.len() + 2 > WIDTH_MAX {
                    text.push_str(&below);
                    column = indent + 2;
                } else {
                    text.push(' ');
                    column += 1;
                }
                text.push_str(word);
                column += word.len() + 1;
            }
            text.push_str(&format!("\n{}]", " ".repeat(indent)));
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

enum Destination {
    File { place: PathBuf, folder: PathBuf, mode: u32 },
    Stream(PathBuf),
}

impl Destination {
    fn of(path: &Path) -> Result<Self> {
        // A link stays a link: what it points to is replaced.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let mut mode = 0o666;
        if let Ok(metadata) = fs::metadata(&place) {
            let kind = metadata.file_type();
            if kind.is_dir() {
                return Err(cannot_write(path, "it is a folder"));
            }
            if kind.is_char_device() || kind.is_fifo() || kind.is_block_device() || kind.is_socket() {
                return Ok(Self::Stream(place));
            }
            if metadata.permissions().readonly() {
                return Err(cannot_write(path, "it is read-only"));
            }
            mode = metadata.permissions().mode() & 0o777;
        } else if place.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(cannot_write(path, "it is not the name of a file"));
        }
        let folder = match place.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        match fs::metadata(&folder) {
            Err(error) => return Err(cannot_write(path, &format!("{}: {error}", folder.display()))),
            Ok(metadata) if !metadata.is_dir() => {
                return Err(cannot_write(path, &format!("{} is not a folder", folder.display())));
            }
            Ok(_) => {}
        }
        Ok(Self::File { place, folder, mode })
    }
}

fn cannot_write(path: &Path, why: &str) -> Failure {
    Failure::work(format!("cannot write: {why}"))
        .in_file(path)
        .help("name a file in a folder that exists and that you may write")
}

/// The operating system's reason without the name of our temporary file.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code).to_string(),
            None => std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        write_file(&path, b"first").unwrap();
        let failed = prepare(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        });
        let failure = failed.unwrap_err();
        assert_eq!(failure.exit, crate::report::Exit::Work);
        assert!(failure.render(false).contains("the disk is full"));
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn what_is_not_committed_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        drop(prepare(&path, |out| out.write_all(b"x")).unwrap());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn what_is_no_place_for_a_file_is_said_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        for (path, says) in [
            (folder.path().to_path_buf(), "it is a folder"),
            (folder.path().join("no/such"), "No such file"),
            (file.join("below"), "file is not a folder"),
            (folder.path().join("new/"), "not the name of a file"),
        ] {
            let text = check_writable(&path).unwrap_err().render(false);
            assert!(text.contains(says), "{text} should say {says}");
        }
        fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
        assert!(check_writable(&file).unwrap_err().render(false).contains("read-only"));
    }

    #[test]
    fn json_is_the_same_however_it_is_laid_out() {
        let many: Vec<String> = (0..120).map(|index| format!("+feature-{index}")).collect();
        let value = serde_json::json!({
            "a": 1, "empty": {"list": [], "object": {}}, "deep": [[1, 2], {"x": "a \"quoted\" \n word"}], "many": many,
            "few": [1, null, true, 0.5], "nothing": null, "long": ["x".repeat(300), "y"],
        });
        let text = json_text(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert!(text.contains("\n  \"few\": [1, null, true, 0.5],\n"), "{text}");
        assert!(text.lines().filter(|line| !line.contains("xxx")).all(|line| line.len() <= 100), "{text}");
        assert!(text.lines().count() < 45, "{text}");
        assert_eq!(json_text(&serde_json::json!([])), "[]\n");
    }

    #[test]
    fn a_link_stays_a_link_and_a_mode_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, b"old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_file(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        write_file(Path::new("/dev/null"), b"gone").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
