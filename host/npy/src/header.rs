//! The header: magic, version, length, and a Python dict of three keys.

use std::io::{self, Read, Write};

use chipdock_ir::{DType, TypeCode};

use super::Error;

/// Greatest size of a header that NumPy itself reads (`max_header_size`), with room for padding.
const TEXT_SIZE_BYTES_MAX: u64 = 1 << 16;
/// NumPy's limit on axes.
const AXES_MAX: usize = 64;
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Content of a header.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) dtype: DType,
    pub(super) is_big_endian: bool,
    pub(super) is_fortran_order: bool,
    pub(super) shape: Vec<i64>,
    /// Magic, version, length and text.
    pub(super) size_bytes: u64,
}

impl Header {
    pub(super) fn read(reader: &mut dyn Read) -> super::Result<Self> {
        let malformed = |what: &str| Error::Malformed(what.to_owned());
        let start = take(reader, 8)?;
        if start.len() < 8 || start[..6] != *MAGIC {
            return Err(malformed("not an .npy file: it does not start with \\x93NUMPY"));
        }
        let length_size: u8 = match (start[6], start[7]) {
            (1, 0) => 2,
            (2 | 3, 0) => 4,
            (major, minor) => {
                let what = format!("version {major}.{minor} of the .npy format; expected 1.0, 2.0 or 3.0");
                return Err(Error::Malformed(what));
            }
        };
        let length = take(reader, u64::from(length_size))?;
        if length.len() < usize::from(length_size) {
            return Err(malformed("it ends within its header"));
        }
        let text_size = length.iter().rev().fold(0, |size, byte| size << 8 | u64::from(*byte));
        if text_size > TEXT_SIZE_BYTES_MAX {
            return Err(Error::Malformed(format!(
                "its header says it has {text_size} bytes; expected at most {TEXT_SIZE_BYTES_MAX}"
            )));
        }
        let text = take(reader, text_size)?;
        if (text.len() as u64) < text_size {
            return Err(malformed("it ends within its header"));
        }
        let text = std::str::from_utf8(&text).map_err(|_| malformed("its header is not text"))?;
        let mut header = Parser { rest: text }.header().map_err(Error::Malformed)?;
        header.size_bytes = 8 + u64::from(length_size) + text_size;
        Ok(header)
    }

    /// Returns the size of the data, or the error that memory cannot hold it.
    pub(super) fn data_size_bytes(&self) -> super::Result<u64> {
        data_size_bytes(self.dtype, &self.shape).ok_or_else(|| {
            let shape = super::shape_text(&self.shape);
            Error::Malformed(format!("its header says shape {shape}, which is more than memory can hold"))
        })
    }

    /// Checks that booleans are 0 or 1: compiled code relies on it.
    pub(super) fn check_values(&self, bytes: &[u8]) -> super::Result<()> {
        if !self.dtype.is_bool() {
            return Ok(());
        }
        match bytes.iter().position(|byte| *byte > 1) {
            Some(index) => {
                let what = format!("boolean element {index} is the byte {}; expected 0 or 1", bytes[index]);
                Err(Error::Malformed(what))
            }
            None => Ok(()),
        }
    }
}

/// Reads the next bytes: `size_bytes` of them, or fewer where the reader ends.
fn take(reader: &mut dyn Read, size_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(size_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the size of an array in bytes; `None` where no memory could hold it.
fn data_size_bytes(dtype: DType, shape: &[i64]) -> Option<u64> {
    // An empty array may have extents whose product would not fit.
    if shape.contains(&0) {
        return Some(0);
    }
    let element = dtype.size_bytes() as u64;
    let size = shape.iter().try_fold(element, |size, extent| size.checked_mul(u64::try_from(*extent).ok()?));
    size.filter(|size| i64::try_from(*size).is_ok())
}

/// Writes magic, version and text, padded so that the data starts at a multiple of 64 bytes.
pub(super) fn write(out: &mut dyn Write, dtype: DType, shape: &[i64], size_bytes: usize) -> io::Result<()> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
    if super::file_dtype(dtype) != Some(dtype) {
        return Err(invalid(format!("no .npy file can hold {dtype}")));
    }
    if shape.len() > AXES_MAX {
        return Err(invalid(format!("the shape has {} axes; .npy has at most {AXES_MAX}", shape.len())));
    }
    let is_negative = shape.iter().any(|extent| *extent < 0);
    if is_negative || data_size_bytes(dtype, shape) != Some(size_bytes as u64) {
        let shape = super::shape_text(shape);
        return Err(invalid(format!("{size_bytes} bytes are no array of shape {shape} of {dtype}")));
    }
    let mut extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
    if extents.len() == 1 {
        extents[0].push(',');
    }
    let mut text = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
        super::descr(dtype),
        extents.join(", ")
    );
    let unpadded = MAGIC.len() + 4 + text.len() + 1;
    text.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    text.push('\n');
    let length =
        u16::try_from(text.len()).map_err(|_| invalid("the shape is too long for .npy".to_owned()))?;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(text.as_bytes())
}

/// Reads the dict. Each step consumes from the front; nothing recurses.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn header(mut self) -> Result<Header, String> {
        let (mut descr, mut order, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.take('}') {
            let key = self.string()?;
            self.expect(':')?;
            let repeated = match key {
                "descr" => descr.replace(self.descr()?).is_some(),
                "fortran_order" => order.replace(self.boolean()?).is_some(),
                "shape" => shape.replace(self.shape()?).is_some(),
                _ => {
                    return Err(format!(
                        "its header has the key {:?}; expected descr, fortran_order, shape",
                        cut(key)
                    ));
                }
            };
            if repeated {
                return Err(format!("its header has the key \"{key}\" twice"));
            }
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        if !self.rest.trim().is_empty() {
            return Err(format!("its header goes on after the dict: {:?}", cut(self.rest.trim())));
        }
        let missing = |key: &str| format!("its header lacks the key \"{key}\"");
        let (dtype, is_big_endian) = descr.ok_or_else(|| missing("descr"))?;
        Ok(Header {
            dtype,
            is_big_endian,
            is_fortran_order: order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
            size_bytes: 0,
        })
    }

    fn take(&mut self, c: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.take(c) {
            Ok(())
        } else {
            Err(format!("its header is damaged: expected `{c}`, found {:?}", cut(self.rest)))
        }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = if self.take('\'') { '\'' } else { '"' };
        if quote == '"' {
            self.expect('"')?;
        }
        let (text, rest) = self
            .rest
            .split_once(quote)
            .ok_or_else(|| "its header is damaged: a string does not end".to_owned())?;
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(format!("its header says fortran_order is {:?}; expected True or False", cut(self.rest)))
    }

    fn shape(&mut self) -> Result<Vec<i64>, String> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            self.rest = self.rest.trim_start();
            let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, rest) = self.rest.split_at(length);
            let extent = digits.parse().map_err(|_| {
                format!("its header is damaged: expected an extent of the shape, found {:?}", cut(self.rest))
            })?;
            // Files of Python 2 write long integers so.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            shape.push(extent);
            if shape.len() > AXES_MAX {
                return Err(format!("its shape has more than {AXES_MAX} axes"));
            }
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }

    fn descr(&mut self) -> Result<(DType, bool), String> {
        if self.take('[') {
            return Err("its elements are records; expected numbers".to_owned());
        }
        let text = self.string()?;
        let unknown = || {
            format!("its elements are {:?}; expected booleans, integers or floats of 1 to 8 bytes", cut(text))
        };
        let mut chars = text.chars();
        let (order, letter) = (chars.next().ok_or_else(unknown)?, chars.next().ok_or_else(unknown)?);
        let code = match letter {
            'b' => TypeCode::Bool,
            'i' => TypeCode::Int,
            'u' => TypeCode::UInt,
            'f' => TypeCode::Float,
            _ => return Err(unknown()),
        };
        let bits = match chars.as_str() {
            "1" => 8,
            "2" => 16,
            "4" => 32,
            "8" => 64,
            _ => return Err(unknown()),
        };
        let dtype = DType { code, bits, lanes: 1 };
        if !matches!(order, '<' | '>' | '=' | '|') || !DType::SCALARS.contains(&dtype) {
            return Err(unknown());
        }
        Ok((dtype, order == '>'))
    }
}

/// Returns the beginning of a text, for a message.
fn cut(text: &str) -> String {
    text.chars().take(24).collect()
}
