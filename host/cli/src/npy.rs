//! `.npy` files (NEP 1, versions 1.0 to 3.0), read into compact row-major bytes and written from them.
//!
//! The header is read here and not by a crate: those at hand recurse without a bound, multiply extents without a check
//! or allocate what the header claims, and a file may come from anywhere. A file is its header and its data and nothing
//! behind them; both byte orders and both orders of axes are read, little-endian row-major is written.

mod header;

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use chipdock_ir::{DType, TypeCode};

use crate::report::{Failure, Result};
use header::Header;

/// An array: compact, row-major, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Array {
    /// Type of an element; never bfloat16, which `.npy` does not have.
    pub(crate) dtype: DType,
    /// Extents, outermost first.
    pub(crate) shape: Vec<i64>,
    /// The elements.
    pub(crate) bytes: Vec<u8>,
}

/// The type under which a buffer's elements stand in a file: their own, or `uint16` for bfloat16. `None` for what no
/// file can hold.
pub(crate) fn file_dtype(dtype: DType) -> Option<DType> {
    match dtype {
        DType::BFLOAT16 => Some(DType::UINT16),
        DType::HANDLE => None,
        dtype if DType::SCALARS.contains(&dtype) => Some(dtype),
        _ => None,
    }
}

/// Reads a file.
///
/// # Errors
///
/// Exit code 2, naming the file and what is wrong with it.
pub(crate) fn read(path: &Path) -> Result<Array> {
    let wrong = |what: String| Failure::input(what).in_file(path);
    let file = File::open(path).map_err(|error| wrong(format!("cannot read the input: {error}")))?;
    let metadata = file.metadata().map_err(|error| wrong(format!("cannot read the input: {error}")))?;
    if metadata.is_dir() {
        return Err(wrong("cannot read the input: it is a folder".to_owned()));
    }
    let size_bytes = metadata.is_file().then_some(metadata.len());
    read_from(&mut BufReader::with_capacity(1 << 16, file), size_bytes)
        .map_err(|what| wrong(what).help("write it with numpy.save, as an array of numbers"))
}

/// Reads from a stream whose size is known, or not.
fn read_from(reader: &mut dyn Read, size_bytes: Option<u64>) -> std::result::Result<Array, String> {
    let header = Header::read(reader)?;
    let expected = header.data_size_bytes()?;
    // A header may claim any size: no more is allocated than the file can fill.
    if let Some(size_bytes) = size_bytes {
        let held = size_bytes.saturating_sub(header.size_bytes);
        if held != expected {
            return Err(wrong_size(&header, expected, &format!("{held} bytes")));
        }
    }
    let mut bytes = Vec::new();
    if size_bytes.is_some() {
        let size = usize::try_from(expected).map_err(|_| "it is larger than memory can be".to_owned())?;
        bytes.try_reserve_exact(size).map_err(|_| format!("no memory for its {expected} bytes"))?;
    }
    // One byte more than expected shows what lies behind.
    let read = io::Read::read_to_end(&mut reader.take(expected.saturating_add(1)), &mut bytes);
    read.map_err(|error| format!("cannot read its data: {error}"))?;
    if bytes.len() as u64 != expected {
        let found =
            if bytes.len() as u64 > expected { "more".to_owned() } else { format!("{} bytes", bytes.len()) };
        return Err(wrong_size(&header, expected, &found));
    }
    header.check_values(&bytes)?;
    if header.is_big_endian {
        bytes.chunks_exact_mut(header.dtype.size_bytes()).for_each(<[u8]>::reverse);
    }
    if header.is_fortran_order && header.shape.len() > 1 {
        bytes = row_major(&bytes, &header.shape, header.dtype.size_bytes());
    }
    Ok(Array { dtype: header.dtype, shape: header.shape, bytes })
}

fn wrong_size(header: &Header, expected: u64, found: &str) -> String {
    let shape = shape_text(&header.shape);
    format!("its header says {shape} of {}, which takes {expected} bytes; it holds {found}", header.dtype)
}

/// Column-major elements in row-major order.
fn row_major(bytes: &[u8], shape: &[i64], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let extents: Vec<usize> = shape.iter().map(|extent| usize::try_from(*extent).unwrap_or(0)).collect();
    let strides: Vec<usize> = extents
        .iter()
        .scan(size, |stride, extent| {
            let own = *stride;
            *stride = stride.saturating_mul(*extent);
            Some(own)
        })
        .collect();
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
    out
}

/// Writes an array; bytes are compact, row-major and little-endian.
///
/// # Errors
///
/// What the writer raises.
pub(crate) fn write(out: &mut dyn Write, dtype: DType, shape: &[i64], bytes: &[u8]) -> io::Result<()> {
    header::write(out, dtype, shape)?;
    out.write_all(bytes)
}

/// NumPy's name of a type in a header, little-endian.
fn descr(dtype: DType) -> String {
    let letter = match dtype.code {
        TypeCode::Bool => 'b',
        TypeCode::Int => 'i',
        TypeCode::Float => 'f',
        TypeCode::UInt | TypeCode::BFloat | TypeCode::Handle => 'u',
    };
    let order = if dtype.lane_size_bytes() == 1 { '|' } else { '<' };
    format!("{order}{letter}{}", dtype.lane_size_bytes())
}

/// A shape for a person: `[2, 3]`.
pub(crate) fn shape_text(shape: &[i64]) -> String {
    let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("[{}]", extents.join(", "))
}

#[cfg(test)]
mod tests;
