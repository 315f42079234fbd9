//! Reads `.npy` files (NEP 1, versions 1.0 to 3.0) into compact row-major bytes, and writes them.
//!
//! This crate parses the header itself: existing crates recurse without a bound, multiply extents
//! without a check or allocate the size that the header claims, and a file may come from anywhere.
//!
//! 1. **Reading.** A header and its data and nothing after them. Booleans, integers and floats of 1
//!    to 8 bytes, in both byte orders and both orders of axes; no records, strings, complex numbers
//!    or objects. A boolean is 0 or 1.
//! 2. **Writing.** Version 1.0, little-endian, row-major, the data at a multiple of 64 bytes.
//!    bfloat16 and float8, which `.npy` does not support, are written as the bits of a `uint16` and
//!    a `uint8` ([`file_dtype`]). [`read()`] reads a file of [`write()`] back unchanged.
//! 3. **Bounds.** A header has at most 64 KiB, a shape at most 64 axes. Memory and time grow with
//!    the actual size of the file, never with the size that its header claims; refused memory is an
//!    error and does not end the process. Nothing recurses.
//! 4. **Errors.** [`Error`] distinguishes a malformed file from a file that cannot be read and from
//!    missing memory. None of them leaves anything behind.

mod header;

use std::io::{self, Read, Write};

use chipdock_ir::{DType, TypeCode};

use header::Header;

/// An array: compact, row-major, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Type of an element; never bfloat16, which `.npy` does not support.
    pub dtype: DType,
    /// Extents, outermost first; none is negative.
    pub shape: Vec<i64>,
    /// The elements: as many bytes as shape and type require.
    pub bytes: Vec<u8>,
}

/// Reason why an array could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not a whole `.npy` file of numbers; the text says what was expected and found.
    /// The file is at fault.
    #[error("{0}")]
    Malformed(String),
    /// The reader failed. The environment is at fault.
    #[error("cannot read its data: {0}")]
    Io(#[from] io::Error),
    /// There is no memory for the array. The environment is at fault.
    #[error("no memory for its {size_bytes} bytes")]
    OutOfMemory {
        /// The size of its data.
        size_bytes: u64,
    },
}

/// Result of reading.
pub type Result<T> = std::result::Result<T, Error>;

/// Returns the type of a buffer's elements in a file: their own, `uint16` for bfloat16, `uint8` for
/// float8. `None` for types that no file can hold: pointers, and integers that share bytes, which
/// numpy does not support.
#[must_use]
pub fn file_dtype(dtype: DType) -> Option<DType> {
    match dtype {
        DType::BFLOAT16 => Some(DType::UINT16),
        dtype if dtype.is_float8() => Some(DType::UINT8),
        DType::HANDLE => None,
        dtype if DType::SCALARS.contains(&dtype) => Some(dtype),
        _ => None,
    }
}

/// Reads an array from a reader that contains one and nothing else.
///
/// `size_bytes` is the size of the reader's data, where that is known, as of a regular file: a
/// header that does not fit it is refused before the data is read, and memory is allocated once.
/// The result is the same without it.
///
/// # Errors
///
/// * [`Error::Malformed`]: not a whole file of rule 1.
/// * [`Error::Io`]: the reader's error, its own end excepted.
/// * [`Error::OutOfMemory`]: memory was refused.
pub fn read(reader: &mut dyn Read, size_bytes: Option<u64>) -> Result<Array> {
    let header = Header::read(reader)?;
    let expected = header.data_size_bytes()?;
    if let Some(size_bytes) = size_bytes {
        let held = size_bytes.saturating_sub(header.size_bytes);
        if held != expected {
            return Err(wrong_size(&header, expected, &format!("{held} bytes")));
        }
    }
    let mut bytes = Vec::new();
    if size_bytes.is_some() {
        reserve(&mut bytes, expected)?;
    }
    // One byte more than expected reveals data after the array.
    let read = io::Read::read_to_end(&mut reader.take(expected.saturating_add(1)), &mut bytes);
    read.map_err(|error| match error.kind() {
        io::ErrorKind::OutOfMemory => Error::OutOfMemory { size_bytes: expected },
        _ => Error::Io(error),
    })?;
    if bytes.len() as u64 != expected {
        let found =
            if bytes.len() as u64 > expected { "more".to_owned() } else { format!("{} bytes", bytes.len()) };
        return Err(wrong_size(&header, expected, &found));
    }
    header.check_values(&bytes)?;
    if header.is_big_endian {
        bytes.chunks_exact_mut(header.dtype.size_bytes()).for_each(<[u8]>::reverse);
    }
    if header.is_fortran_order {
        bytes = row_major(bytes, &header.shape, header.dtype.size_bytes())?;
    }
    Ok(Array { dtype: header.dtype, shape: header.shape, bytes })
}

fn reserve(bytes: &mut Vec<u8>, size_bytes: u64) -> Result<()> {
    let size = usize::try_from(size_bytes).map_err(|_| Error::OutOfMemory { size_bytes })?;
    bytes.try_reserve_exact(size).map_err(|_| Error::OutOfMemory { size_bytes })
}

fn wrong_size(header: &Header, expected: u64, found: &str) -> Error {
    let shape = shape_text(&header.shape);
    Error::Malformed(format!(
        "its header says {shape} of {}, which takes {expected} bytes; it holds {found}",
        header.dtype
    ))
}

/// Converts column-major elements to row-major order.
fn row_major(bytes: Vec<u8>, shape: &[i64], size: usize) -> Result<Vec<u8>> {
    // An axis of one element moves nothing and would cost a step for each element.
    let extents: Vec<usize> = shape
        .iter()
        .filter(|extent| **extent != 1)
        .map(|extent| usize::try_from(*extent).unwrap_or(0))
        .collect();
    if extents.len() < 2 || bytes.is_empty() {
        return Ok(bytes);
    }
    let strides: Vec<usize> = extents
        .iter()
        .scan(size, |stride, extent| {
            let own = *stride;
            *stride = stride.saturating_mul(*extent);
            Some(own)
        })
        .collect();
    let mut out = Vec::new();
    reserve(&mut out, bytes.len() as u64)?;
    let mut index = vec![0_usize; extents.len()];
    let mut from = 0;
    while out.len() < bytes.len() {
        let Some(element) = bytes.get(from..from + size) else { break };
        out.extend_from_slice(element);
        for axis in (0..index.len()).rev() {
            index[axis] += 1;
            from += strides[axis];
            if index[axis] < extents[axis] {
                break;
            }
            from -= index[axis] * strides[axis];
            index[axis] = 0;
        }
    }
    Ok(out)
}

/// Writes an array; bytes are compact, row-major and little-endian.
///
/// # Errors
///
/// * `InvalidInput`, with nothing written: a type that no file can hold ([`file_dtype`]), a
///   negative extent, more axes than rule 3 allows, or bytes that are not as many as type and shape
///   come to.
/// * The writer's error; it may have taken a part.
pub fn write(out: &mut dyn Write, dtype: DType, shape: &[i64], bytes: &[u8]) -> io::Result<()> {
    header::write(out, dtype, shape, bytes.len())?;
    out.write_all(bytes)
}

/// Returns NumPy's name of a type in a header, little-endian.
fn descr(dtype: DType) -> String {
    let letter = match dtype.code {
        TypeCode::Bool => 'b',
        TypeCode::Int => 'i',
        TypeCode::Float => 'f',
        TypeCode::UInt
        | TypeCode::BFloat
        | TypeCode::Float8E4M3Fn
        | TypeCode::Float8E5M2
        | TypeCode::Handle => 'u',
    };
    let order = if dtype.lane_size_bytes() == 1 { '|' } else { '<' };
    format!("{order}{letter}{}", dtype.lane_size_bytes())
}

/// Returns a shape for a person: `[2, 3]`.
#[must_use]
pub fn shape_text(shape: &[i64]) -> String {
    let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("[{}]", extents.join(", "))
}

#[cfg(test)]
mod tests;
