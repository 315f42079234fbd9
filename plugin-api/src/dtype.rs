//! Element types as text: `float32`, `int8x4`, `bool`.

use chipdock_abi::{
    CHIPDOCK_DTYPE_BFLOAT, CHIPDOCK_DTYPE_BOOL, CHIPDOCK_DTYPE_COMPLEX, CHIPDOCK_DTYPE_FLOAT,
    CHIPDOCK_DTYPE_HANDLE, CHIPDOCK_DTYPE_INT, CHIPDOCK_DTYPE_UINT, ChipdockDataType,
};

use crate::{Error, ErrorKind};

/// Names with a fixed code and width: the small floats of DLPack 1.3.
const SMALL_FLOATS: [(&str, u8, u8); 11] = [
    ("float8_e3m4", chipdock_abi::CHIPDOCK_DTYPE_FLOAT8_E3M4, 8),
    ("float8_e4m3", chipdock_abi::CHIPDOCK_DTYPE_FLOAT8_E4M3, 8),
    ("float8_e4m3b11fnuz", chipdock_abi::CHIPDOCK_DTYPE_FLOAT8_E4M3B11FNUZ, 8),
    ("float8_e4m3fn", chipdock_abi::CHIPDOCK_DTYPE_FLOAT8_E4M3FN, 8),
    ("float8_e4m3fnuz", chipdock_abi::CHIPDOCK_DTYPE_FLOAT8_E4M3FNUZ, 8),
    ("float8_e5m2", chipdock_abi::CHIPDOCK_DTYPE_FLOAT8_E5M2, 8),
    ("float8_e5m2fnuz", chipdock_abi::CHIPDOCK_DTYPE_FLOAT8_E5M2FNUZ, 8),
    ("float8_e8m0fnu", chipdock_abi::CHIPDOCK_DTYPE_FLOAT8_E8M0FNU, 8),
    ("float6_e2m3fn", chipdock_abi::CHIPDOCK_DTYPE_FLOAT6_E2M3FN, 6),
    ("float6_e3m2fn", chipdock_abi::CHIPDOCK_DTYPE_FLOAT6_E3M2FN, 6),
    ("float4_e2m1fn", chipdock_abi::CHIPDOCK_DTYPE_FLOAT4_E2M1FN, 4),
];

/// Names that are followed by a width. The order of `bfloat` and `float` does not matter: prefixes
/// are matched whole.
const FAMILIES: [(&str, u8); 5] = [
    ("int", CHIPDOCK_DTYPE_INT),
    ("uint", CHIPDOCK_DTYPE_UINT),
    ("float", CHIPDOCK_DTYPE_FLOAT),
    ("bfloat", CHIPDOCK_DTYPE_BFLOAT),
    ("complex", CHIPDOCK_DTYPE_COMPLEX),
];

/// Makes a scalar element type.
#[must_use]
pub const fn scalar(code: u8, bits: u8) -> ChipdockDataType {
    ChipdockDataType { code, bits, lanes: 1 }
}

/// Returns the type as text, as TVM prints it. A type without a name is printed by its numbers.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::dtype;
///
/// assert_eq!(dtype::text(dtype::parse("int8x4")?), "int8x4");
/// # Ok::<(), chipdock_plugin_api::Error>(())
/// ```
#[must_use]
pub fn text(dtype: ChipdockDataType) -> String {
    if (dtype.code, dtype.bits, dtype.lanes) == (CHIPDOCK_DTYPE_HANDLE, 0, 0) {
        return "void".to_owned();
    }
    let mut text = if let Some((name, _, _)) =
        SMALL_FLOATS.iter().find(|(_, code, bits)| (*code, *bits) == (dtype.code, dtype.bits))
    {
        (*name).to_owned()
    } else if let Some((name, _)) = FAMILIES.iter().find(|(_, code)| *code == dtype.code) {
        format!("{name}{}", dtype.bits)
    } else {
        match (dtype.code, dtype.bits) {
            (CHIPDOCK_DTYPE_BOOL, 8) => "bool".to_owned(),
            (CHIPDOCK_DTYPE_HANDLE, 64) => "handle".to_owned(),
            (code, bits) => format!("code{code}_{bits}"),
        }
    };
    let lanes = dtype.lanes.cast_signed();
    if lanes < -1 {
        text.push_str(&format!("xvscalex{}", -i32::from(lanes)));
    } else if lanes != 1 {
        text.push_str(&format!("x{lanes}"));
    }
    text
}

/// Reads a type as text.
///
/// # Errors
///
/// `ValueError` that quotes the text and lists the known types.
pub fn parse(text: &str) -> Result<ChipdockDataType, Error> {
    parse_known(text).ok_or_else(|| {
        Error::new(
            ErrorKind::VALUE_ERROR,
            format!(
                "expected an element type such as `float32`, `int8x4`, `uint8`, `bfloat16`, `bool` or `handle`, \
                 found `{text}`"
            ),
        )
    })
}

fn parse_known(text: &str) -> Option<ChipdockDataType> {
    if text.is_empty() || text == "void" {
        return Some(ChipdockDataType { code: CHIPDOCK_DTYPE_HANDLE, bits: 0, lanes: 0 });
    }
    let (scalar_text, lanes) = split_lanes(text)?;
    let (code, bits) = match scalar_text {
        "bool" => (CHIPDOCK_DTYPE_BOOL, 8),
        "handle" => (CHIPDOCK_DTYPE_HANDLE, 64),
        _ => match SMALL_FLOATS.iter().find(|(name, _, _)| *name == scalar_text) {
            Some((_, code, bits)) => (*code, *bits),
            None => {
                let digits = scalar_text.find(|c: char| c.is_ascii_digit())?;
                let (name, width) = scalar_text.split_at(digits);
                let (_, code) = FAMILIES.iter().find(|(family, _)| *family == name)?;
                (*code, number(width)?)
            }
        },
    };
    (bits > 0).then_some(ChipdockDataType { code, bits, lanes })
}

/// Splits `int8x4` and `float32xvscalex4` into the scalar and the lanes; scalable lanes are
/// negative.
fn split_lanes(text: &str) -> Option<(&str, u16)> {
    // The `x` in `complex` does not begin a number of lanes.
    let skipped = if text.starts_with("complex") { "complex".len() } else { 0 };
    let Some(at) = text[skipped..].find('x').map(|at| at + skipped) else { return Some((text, 1)) };
    let (scalar_text, lanes) = (&text[..at], &text[at + 1..]);
    match lanes.strip_prefix("vscalex") {
        Some(lanes) => Some((scalar_text, (-i16::try_from(positive(lanes)?).ok()?).cast_unsigned())),
        None => Some((scalar_text, positive(lanes)?)),
    }
}

fn positive(text: &str) -> Option<u16> {
    number::<u16>(text).filter(|lanes| (1..=i16::MAX as u16).contains(lanes))
}

/// Parses a plain decimal number without a sign or leading zeros.
fn number<T: core::str::FromStr>(text: &str) -> Option<T> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    if plain { text.parse().ok() } else { None }
}
