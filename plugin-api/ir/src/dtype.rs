//! Element types: code, bits, lanes.

use std::fmt;
use std::str::FromStr;

/// The encoding of one lane. Numbers are DLPack's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TypeCode {
    /// Signed integer, two's complement.
    Int,
    /// Unsigned integer.
    UInt,
    /// IEEE 754 binary float.
    Float,
    /// bfloat16: a float32 cut to its upper half.
    BFloat,
    /// Boolean, stored as one byte of 0 or 1.
    Bool,
    /// float8 of 4 bits of exponent and 3 of mantissa, bias 7, without infinities: OCP's E4M3.
    Float8E4M3Fn,
    /// float8 of 5 bits of exponent and 2 of mantissa, bias 15: OCP's E5M2.
    Float8E5M2,
    /// A pointer, or nothing at all (the type of a call made for its effect).
    Handle,
}

/// The type of a value: code, bits of one lane, number of lanes (1 for a scalar).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DType {
    /// Encoding of one lane.
    pub code: TypeCode,
    /// Bits of one lane.
    pub bits: u8,
    /// Number of lanes.
    pub lanes: u16,
}

macro_rules! named {
    ($($name:ident = $code:ident $bits:literal $text:literal;)*) => {
        impl DType {
            $(#[doc = concat!("`", $text, "`.")]
              pub const $name: Self = Self { code: TypeCode::$code, bits: $bits, lanes: 1 };)*

            /// Every scalar type that the IR computes with, except `handle`.
            pub const SCALARS: &'static [Self] = &[
                Self::BOOL, Self::INT8, Self::INT16, Self::INT32, Self::INT64,
                Self::UINT8, Self::UINT16, Self::UINT32, Self::UINT64,
                Self::FLOAT16, Self::BFLOAT16, Self::FLOAT32, Self::FLOAT64,
            ];

            /// Every storage type: a type of values in memory, which nothing computes with.
            pub const STORAGE: &'static [Self] = &[
                Self::INT1, Self::INT4, Self::UINT1, Self::UINT4, Self::FLOAT8_E4M3FN, Self::FLOAT8_E5M2,
            ];
        }
        const NAMES: &[(&str, DType)] = &[$(($text, DType::$name),)*];
    };
}

named! {
    BOOL = Bool 8 "bool";
    INT8 = Int 8 "int8"; INT16 = Int 16 "int16"; INT32 = Int 32 "int32"; INT64 = Int 64 "int64";
    UINT8 = UInt 8 "uint8"; UINT16 = UInt 16 "uint16"; UINT32 = UInt 32 "uint32"; UINT64 = UInt 64 "uint64";
    FLOAT16 = Float 16 "float16"; FLOAT32 = Float 32 "float32"; FLOAT64 = Float 64 "float64";
    BFLOAT16 = BFloat 16 "bfloat16";
    INT1 = Int 1 "int1"; INT4 = Int 4 "int4"; UINT1 = UInt 1 "uint1"; UINT4 = UInt 4 "uint4";
    FLOAT8_E4M3FN = Float8E4M3Fn 8 "float8_e4m3fn"; FLOAT8_E5M2 = Float8E5M2 8 "float8_e5m2";
    HANDLE = Handle 64 "handle";
}

impl DType {
    /// Returns the same type with another number of lanes.
    #[must_use]
    pub const fn with_lanes(self, lanes: u16) -> Self {
        Self { lanes, ..self }
    }

    /// Returns the type of one lane.
    #[must_use]
    pub const fn scalar(self) -> Self {
        self.with_lanes(1)
    }

    /// Returns true for a type of one lane.
    #[must_use]
    pub const fn is_scalar(self) -> bool {
        self.lanes == 1
    }

    /// Returns true for `bool`, of any number of lanes.
    #[must_use]
    pub const fn is_bool(self) -> bool {
        matches!(self.code, TypeCode::Bool)
    }

    /// Returns true for signed and unsigned integers; `bool` is not one.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.code, TypeCode::Int | TypeCode::UInt)
    }

    /// Returns true for signed integers.
    #[must_use]
    pub const fn is_int(self) -> bool {
        matches!(self.code, TypeCode::Int)
    }

    /// Returns true for unsigned integers.
    #[must_use]
    pub const fn is_uint(self) -> bool {
        matches!(self.code, TypeCode::UInt)
    }

    /// Returns true for IEEE floats and bfloat16.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.code, TypeCode::Float | TypeCode::BFloat)
    }

    /// Returns true for a float of 8 bits, of any number of lanes.
    #[must_use]
    pub const fn is_float8(self) -> bool {
        matches!(self.code, TypeCode::Float8E4M3Fn | TypeCode::Float8E5M2)
    }

    /// Returns true for integers that share a byte with others.
    #[must_use]
    pub const fn is_sub_byte(self) -> bool {
        self.is_integer() && self.bits < 8
    }

    /// Returns true for a type that is loaded, stored and cast, and not computed with
    /// ([`DType::STORAGE`]).
    #[must_use]
    pub const fn is_storage(self) -> bool {
        self.is_float8() || self.is_sub_byte()
    }

    /// Returns true for `handle`: pointers, and calls without a value.
    #[must_use]
    pub const fn is_handle(self) -> bool {
        matches!(self.code, TypeCode::Handle)
    }

    /// Returns the bytes of one lane in memory.
    #[must_use]
    pub const fn lane_size_bytes(self) -> usize {
        (self.bits as usize).div_ceil(8)
    }

    /// Returns the bytes of one element in memory, all lanes.
    #[must_use]
    pub const fn size_bytes(self) -> usize {
        (self.bits as usize * self.lanes as usize).div_ceil(8)
    }

    /// Returns the bytes of an array of so many elements: three `int4` take two. `None` if they
    /// exceed `usize`.
    #[must_use]
    pub const fn array_size_bytes(self, elements: usize) -> Option<usize> {
        if !self.is_sub_byte() {
            return elements.checked_mul(self.size_bytes());
        }
        match elements.checked_mul(self.bits as usize * self.lanes as usize) {
            Some(bits) => Some(bits.div_ceil(8)),
            None => None,
        }
    }

    /// Returns the least and the greatest value of an integer or boolean type; `None` for others.
    #[must_use]
    pub const fn integer_range(self) -> Option<(i128, i128)> {
        match self.code {
            TypeCode::Bool => Some((0, 1)),
            // A type that was not validated may have any width.
            TypeCode::Int | TypeCode::UInt if self.bits == 0 || self.bits > 64 => None,
            TypeCode::Int => Some((-(1_i128 << (self.bits - 1)), (1_i128 << (self.bits - 1)) - 1)),
            TypeCode::UInt => Some((0, (1_i128 << self.bits) - 1)),
            _ => None,
        }
    }

    /// Wraps `value` to this integer or boolean type, modulo 2 to its width; a boolean becomes
    /// `value != 0`. For other types the value is unchanged.
    #[must_use]
    pub const fn wrap(self, value: i128) -> i128 {
        match self.code {
            TypeCode::Bool => (value != 0) as i128,
            TypeCode::Int => {
                let shift = 128 - self.bits as u32;
                (value << shift) >> shift
            }
            TypeCode::UInt => value & ((1_i128 << self.bits) - 1),
            _ => value,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, dtype)| *dtype == self.scalar()) {
            Some((name, _)) => f.write_str(name)?,
            None => write!(f, "{:?}{}", self.code, self.bits)?,
        }
        if self.lanes != 1 { write!(f, "x{}", self.lanes) } else { Ok(()) }
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error for a text that names no element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDType {
    /// The text.
    pub found: String,
}

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown dtype \"{}\"; expected one of ", self.found)?;
        for (index, (name, _)) in NAMES.iter().enumerate() {
            write!(f, "{}{name}", if index == 0 { "" } else { ", " })?;
        }
        f.write_str(", with xN behind it for N lanes")
    }
}

impl std::error::Error for UnknownDType {}

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(text: &str) -> Result<Self, UnknownDType> {
        let unknown = || UnknownDType { found: text.chars().take(40).collect() };
        let (base, lanes) = match text.split_once('x') {
            Some((base, lanes)) => {
                let lanes: u16 = lanes.parse().map_err(|_| unknown())?;
                if lanes < 2 {
                    return Err(unknown());
                }
                (base, lanes)
            }
            None => (text, 1),
        };
        NAMES
            .iter()
            .find(|(name, _)| *name == base)
            .map(|(_, dtype)| dtype.with_lanes(lanes))
            .ok_or_else(unknown)
    }
}
