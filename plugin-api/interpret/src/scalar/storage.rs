//! Storage types: types of memory that nothing computes with, except for casts.

use super::{Flt, Int};
use chipdock_ir::number::{float8_bits, float8_value};
use chipdock_ir::{DType, TypeCode};

/// The position in its byte of an integer of less than 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitField {
    pub(crate) bits: u8,
    pub(crate) is_signed: bool,
    /// Number of bits of the byte below it.
    pub(crate) shift: u8,
}

impl BitField {
    pub(super) fn from_dtype(dtype: DType) -> Self {
        Self { bits: dtype.bits, is_signed: dtype.code == TypeCode::Int, shift: 0 }
    }

    fn mask(self) -> u8 {
        (1 << self.bits) - 1
    }

    pub(super) fn read(self, byte: u8) -> u64 {
        let value = (byte >> self.shift) & self.mask();
        let is_negative = self.is_signed && value >> (self.bits - 1) == 1;
        if is_negative { u64::from(value) | !u64::from(self.mask()) } else { value.into() }
    }

    /// Returns the byte with the register's value at this position.
    pub(super) fn write(self, byte: u8, register: u64) -> u8 {
        (byte & !(self.mask() << self.shift)) | ((register as u8 & self.mask()) << self.shift)
    }
}

/// An integer of less than 8 bits, which is only cast.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SubByte<const BITS: u32, const IS_SIGNED: bool>(i8);

impl<const BITS: u32, const IS_SIGNED: bool> Int for SubByte<BITS, IS_SIGNED> {
    const BITS: u32 = BITS;
    const RANGE: (i128, i128) =
        if IS_SIGNED { (-(1 << (BITS - 1)), (1 << (BITS - 1)) - 1) } else { (0, (1 << BITS) - 1) };
    fn from_register(register: u64) -> Self {
        Self(register as i8)
    }
    fn bits(self) -> u64 {
        i64::from(self.0) as u64
    }
    fn wide(self) -> i128 {
        self.0.into()
    }
    fn wrap(value: i128) -> Self {
        let low = value & ((1 << BITS) - 1);
        Self(if low > Self::RANGE.1 { low - (1 << BITS) } else { low } as i8)
    }
    fn add(self, other: Self) -> Self {
        Self::wrap(self.wide() + other.wide())
    }
    fn sub(self, other: Self) -> Self {
        Self::wrap(self.wide() - other.wide())
    }
    fn mul(self, other: Self) -> Self {
        Self::wrap(self.wide() * other.wide())
    }
    fn div(self, other: Self) -> Self {
        Self::wrap(self.0.div(other.0).into())
    }
    fn rem(self, other: Self) -> Self {
        Self::wrap(self.0.rem(other.0).into())
    }
    fn floor_div(self, other: Self) -> Self {
        Self::wrap(self.0.floor_div(other.0).into())
    }
    fn floor_rem(self, other: Self) -> Self {
        Self::wrap(self.0.floor_rem(other.0).into())
    }
    fn shl(self, other: Self) -> Self {
        Self::wrap(self.wide() << other.wide().rem_euclid(BITS.into()))
    }
    fn shr(self, other: Self) -> Self {
        Self::wrap(self.wide() >> other.wide().rem_euclid(BITS.into()))
    }
    fn not(self) -> Self {
        Self::wrap(!self.wide())
    }
    fn abs(self) -> Self {
        Self::wrap(self.wide().abs())
    }
    fn count_ones(self) -> u32 {
        (self.wide() & ((1 << BITS) - 1)).count_ones()
    }
    fn leading_zeros(self) -> u32 {
        (self.wide() & ((1 << BITS) - 1)).leading_zeros() - (128 - BITS)
    }
    fn from_f64(value: f64) -> Self {
        Self(value.clamp(Self::RANGE.0 as f64, Self::RANGE.1 as f64) as i8)
    }
}

macro_rules! float8 {
    ($name:ident $dtype:ident $precision:literal $max:literal $tiny:expr, $normal:expr) => {
        #[doc = "The bits of a float of 8 bits."]
        #[derive(Clone, Copy)]
        pub(crate) struct $name(u8);

        impl Flt for $name {
            const UNIT: f64 = 1.0 / (1_u64 << $precision) as f64;
            const MAX: f64 = $max;
            const TINY: f64 = $tiny;
            const NORMAL: f64 = $normal;
            fn from_register(register: u64) -> Self {
                Self(register as u8)
            }
            fn bits(self) -> u64 {
                self.0.into()
            }
            fn wide(self) -> f64 {
                float8_value(self.0, DType::$dtype)
            }
            fn nearest(value: f64) -> Self {
                Self(float8_bits(value, DType::$dtype))
            }
            fn nearest_int(value: i128) -> Self {
                // An integer that a float64 rounds exceeds every float8.
                Self::nearest(value as f64)
            }
            fn add(self, other: Self) -> Self {
                Self::nearest(self.wide() + other.wide())
            }
            fn sub(self, other: Self) -> Self {
                Self::nearest(self.wide() - other.wide())
            }
            fn mul(self, other: Self) -> Self {
                Self::nearest(self.wide() * other.wide())
            }
            fn div(self, other: Self) -> Self {
                Self::nearest(self.wide() / other.wide())
            }
            fn fma(self, other: Self, addend: Self) -> Self {
                Self::nearest(self.wide().mul_add(other.wide(), addend.wide()))
            }
            fn abs(self) -> Self {
                Self(self.0 & 0x7f)
            }
            fn copysign(self, sign: Self) -> Self {
                Self(self.0 & 0x7f | sign.0 & 0x80)
            }
            fn next_up(self) -> Self {
                match self.0 {
                    _ if !self.wide().is_finite() => self,
                    0x80 => Self(1),
                    bits if bits & 0x80 == 0 => Self(bits + 1),
                    bits => Self(bits - 1),
                }
            }
            fn next_down(self) -> Self {
                Self(Self(self.0 ^ 0x80).next_up().0 ^ 0x80)
            }
        }
    };
}
float8!(E4m3Fn FLOAT8_E4M3FN 4 448.0 1.0 / 512.0, 1.0 / 64.0);
float8!(E5m2 FLOAT8_E5M2 3 57344.0 1.0 / 65536.0, 1.0 / 16384.0);
