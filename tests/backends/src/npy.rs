//! Reads the `.npy` files of the examples as arrays of the interpreter.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use chipdock_interpret::Array;

use super::Result;

/// Reads an array.
///
/// # Errors
///
/// No such file, or not an .npy file.
pub fn read(path: &Path) -> Result<Array> {
    let context = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| context(&error))?;
    let size_bytes = file.metadata().map_err(|error| context(&error))?.len();
    let array =
        chipdock_npy::read(&mut BufReader::new(file), Some(size_bytes)).map_err(|error| context(&error))?;
    let shape = array.shape.iter().map(|extent| usize::try_from(*extent).map_err(|error| context(&error)));
    Ok(Array { dtype: array.dtype, shape: shape.collect::<Result<_>>()?, data: array.bytes })
}
