//! `.npy` files of the command: `chipdock-npy`, with errors in the command's form.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

pub(crate) use chipdock_npy::{Array, file_dtype, shape_text, write};

use crate::report::{Failure, Result};

/// Reads a file.
///
/// # Errors
///
/// Exit code 2, naming the file and its error; 1 where there is no memory for it.
pub(crate) fn read(path: &Path) -> Result<Array> {
    let wrong = |what: String| Failure::input(what).in_file(path);
    let file = File::open(path).map_err(|error| wrong(format!("cannot read the input: {error}")))?;
    let metadata = file.metadata().map_err(|error| wrong(format!("cannot read the input: {error}")))?;
    if metadata.is_dir() {
        return Err(wrong("cannot read the input: it is a folder".to_owned()));
    }
    let size_bytes = metadata.is_file().then_some(metadata.len());
    chipdock_npy::read(&mut BufReader::with_capacity(1 << 16, file), size_bytes).map_err(
        |error| match error {
            chipdock_npy::Error::OutOfMemory { .. } => Failure::work(error.to_string()).in_file(path),
            chipdock_npy::Error::Malformed(_) => {
                wrong(error.to_string()).help("write it with numpy.save, as an array of numbers")
            }
            _ => wrong(error.to_string()),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Exit;

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let failure = read(Path::new("no/such.npy")).unwrap_err();
        assert_eq!(failure.exit, Exit::Input);
        assert!(failure.render(false).contains("--> no/such.npy"));
    }

    #[test]
    fn a_file_that_is_none_says_how_to_write_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "no array").unwrap();
        let failure = read(file.path()).unwrap_err();
        assert_eq!(failure.exit, Exit::Input);
        let text = failure.render(false);
        assert!(text.contains("not an .npy file") && text.contains("numpy.save"), "{text}");
    }
}
