//! Values of `--set`, read as the declared type.

use chipdock_ir::{DType, number};

/// The value of a scalar parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    /// Of an integer type, in its range.
    Int(i128),
    /// Of a float type, rounded into it.
    Float(f64),
    /// Of `bool`.
    Bool(bool),
}

impl Scalar {
    /// Returns the value as an integer, if it is one or a boolean.
    pub(crate) fn as_int(self) -> Option<i128> {
        match self {
            Self::Int(value) => Some(value),
            Self::Bool(value) => Some(value.into()),
            Self::Float(_) => None,
        }
    }

    /// Makes a value of an integer type or `bool` from an integer.
    pub(crate) fn from_int(value: i128, dtype: DType) -> Self {
        if dtype.is_bool() { Self::Bool(value != 0) } else { Self::Int(value) }
    }
}

/// Reads a value as `dtype`: integers in decimal or as `0x…`, `true`, `false`, floats as Rust reads
/// them, with `inf` and `nan`.
///
/// # Errors
///
/// What was expected and what was found.
pub(crate) fn parse(text: &str, dtype: DType) -> Result<Scalar, String> {
    if !dtype.is_scalar() || dtype.is_handle() {
        return Err(format!("a {dtype} cannot be written as a value"));
    }
    if dtype.is_bool() {
        return match text {
            "true" | "True" | "1" => Ok(Scalar::Bool(true)),
            "false" | "False" | "0" => Ok(Scalar::Bool(false)),
            _ => Err(format!("expected true or false, found \"{text}\"")),
        };
    }
    if let Some((least, greatest)) = dtype.integer_range() {
        let value =
            integer(text).ok_or_else(|| format!("expected an integer for {dtype}, found \"{text}\""))?;
        if !(least..=greatest).contains(&value) {
            return Err(format!("{value} is out of the range of {dtype}: {least} to {greatest}"));
        }
        return Ok(Scalar::Int(value));
    }
    let value: f64 = text.parse().map_err(|_| format!("expected a number for {dtype}, found \"{text}\""))?;
    let rounded = number::round_to(value, dtype);
    // Rust reads 1e999 as infinity: only a text that says infinity means it.
    let meant = text.trim_start_matches(['+', '-']).to_ascii_lowercase().starts_with("inf");
    if rounded.is_infinite() && !meant {
        return Err(format!("{text} is out of the range of {dtype}"));
    }
    Ok(Scalar::Float(rounded))
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    // A second sign is none.
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => {
            i128::from_str_radix(hex, 16).ok()?
        }
        Some(_) => return None,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_the_declared_type() {
        for (text, dtype, value) in [
            ("-128", DType::INT8, Scalar::Int(-128)),
            ("0xff", DType::UINT8, Scalar::Int(255)),
            ("18446744073709551615", DType::UINT64, Scalar::Int(u64::MAX.into())),
            ("true", DType::BOOL, Scalar::Bool(true)),
            ("0.1", DType::FLOAT32, Scalar::Float(f64::from(0.1_f32))),
            ("-inf", DType::FLOAT16, Scalar::Float(f64::NEG_INFINITY)),
            ("1e-3", DType::FLOAT64, Scalar::Float(0.001)),
        ] {
            assert_eq!(parse(text, dtype), Ok(value), "{text} as {dtype}");
        }
        assert!(matches!(parse("nan", DType::FLOAT32), Ok(Scalar::Float(value)) if value.is_nan()));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for (text, dtype, says) in [
            ("128", DType::INT8, "128 is out of the range of int8: -128 to 127"),
            ("-1", DType::UINT64, "-1 is out of the range of uint64"),
            ("99999999999999999999999999999999999999999", DType::INT64, "expected an integer"),
            ("1.0", DType::INT32, "expected an integer"),
            ("--1", DType::INT32, "expected an integer"),
            ("0x", DType::INT32, "expected an integer"),
            ("0x-1", DType::INT32, "expected an integer"),
            ("", DType::INT32, "expected an integer"),
            ("yes", DType::BOOL, "expected true or false"),
            ("70000", DType::FLOAT16, "out of the range of float16"),
            ("1e999", DType::FLOAT64, "out of the range of float64"),
            ("one", DType::FLOAT32, "expected a number"),
            ("1", DType::HANDLE, "cannot be written"),
        ] {
            let what = parse(text, dtype).unwrap_err();
            assert!(what.contains(says), "{what} should say {says}");
        }
    }
}
