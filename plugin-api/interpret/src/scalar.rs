//! One lane in a register of 64 bits: signed integers sign-extended, unsigned ones and booleans
//! zero-extended, floats as the bits of their own type. So a load, a store and a reinterpretation
//! move bits and change none.

use half::{bf16, f16};

use chipdock_ir::{DType, TypeCode};

/// An integer type, or bool, as the interpreter computes with it.
pub(crate) trait Int: Copy + Ord {
    /// Width in bits; of bool, 1.
    const BITS: u32;
    /// Whether it is bool, whose two values have no distance.
    const IS_BOOL: bool = false;
    /// The least and the greatest value.
    const RANGE: (i128, i128);
    fn from_register(register: u64) -> Self;
    fn bits(self) -> u64;
    fn wide(self) -> i128;
    /// Wraps a value to the type.
    fn wrap(value: i128) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// Divides, rounding towards zero; x / 0 = x, least / -1 = least.
    fn div(self, other: Self) -> Self;
    /// Returns the remainder of [`Self::div`]; x mod 0 = 0.
    fn rem(self, other: Self) -> Self;
    /// Divides, rounding down, with the same exceptions.
    fn floor_div(self, other: Self) -> Self;
    /// Returns the remainder of [`Self::floor_div`].
    fn floor_rem(self, other: Self) -> Self;
    fn shl(self, other: Self) -> Self;
    fn shr(self, other: Self) -> Self;
    fn not(self) -> Self;
    fn abs(self) -> Self;
    fn count_ones(self) -> u32;
    fn leading_zeros(self) -> u32;
    /// Converts a float: truncated and saturated; NaN gives 0.
    fn from_f64(value: f64) -> Self;
}

/// A float type as the interpreter computes with it.
pub(crate) trait Flt: Copy {
    /// Unit roundoff: 2 to the power of minus the precision.
    const UNIT: f64;
    /// The greatest finite value.
    const MAX: f64;
    /// The least subnormal.
    const TINY: f64;
    /// The least normal.
    const NORMAL: f64;
    fn from_register(register: u64) -> Self;
    fn bits(self) -> u64;
    /// Converts to float64, exactly.
    fn wide(self) -> f64;
    /// Converts a float, rounded once to nearest even.
    fn nearest(value: f64) -> Self;
    /// Converts an integer, rounded once to nearest even.
    fn nearest_int(value: i128) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn fma(self, other: Self, addend: Self) -> Self;
    fn abs(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn next_up(self) -> Self;
    fn next_down(self) -> Self;
    fn less(self, other: Self) -> bool {
        self.wide() < other.wide()
    }
}

macro_rules! int {
    ($type:ident $wide:ident) => {
        impl Int for $type {
            const BITS: u32 = $type::BITS;
            const RANGE: (i128, i128) = ($type::MIN as i128, $type::MAX as i128);
            #[inline(always)]
            fn from_register(register: u64) -> Self {
                register as $type
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                self as $wide as u64
            }
            fn wide(self) -> i128 {
                i128::from(self)
            }
            fn wrap(value: i128) -> Self {
                value as $type
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                if other == 0 { self } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn rem(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }
            #[inline(always)]
            fn floor_div(self, other: Self) -> Self {
                if other == 0 {
                    return self;
                }
                let quotient = self.wrapping_div(other);
                let remainder = self.wrapping_rem(other);
                if remainder != 0 && ((remainder < (0 as $type)) != (other < (0 as $type))) {
                    quotient.wrapping_sub(1)
                } else {
                    quotient
                }
            }
            #[inline(always)]
            fn floor_rem(self, other: Self) -> Self {
                if other == 0 {
                    return 0;
                }
                let remainder = self.wrapping_rem(other);
                if remainder != 0 && ((remainder < (0 as $type)) != (other < (0 as $type))) {
                    remainder.wrapping_add(other)
                } else {
                    remainder
                }
            }
            fn shl(self, other: Self) -> Self {
                self.wrapping_shl(other as u32)
            }
            fn shr(self, other: Self) -> Self {
                self.wrapping_shr(other as u32)
            }
            fn not(self) -> Self {
                !self
            }
            fn abs(self) -> Self {
                if self < (0 as $type) { (0 as $type).wrapping_sub(self) } else { self }
            }
            fn count_ones(self) -> u32 {
                self.count_ones()
            }
            fn leading_zeros(self) -> u32 {
                self.leading_zeros()
            }
            fn from_f64(value: f64) -> Self {
                value as $type
            }
        }
    };
}
int!(i8 i64);
int!(i16 i64);
int!(i32 i64);
int!(i64 i64);
int!(u8 u64);
int!(u16 u64);
int!(u32 u64);
int!(u64 u64);

/// A boolean: every result other than 0 is true.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bool(pub(crate) bool);

impl Int for Bool {
    const BITS: u32 = 1;
    const IS_BOOL: bool = true;
    const RANGE: (i128, i128) = (0, 1);
    #[inline(always)]
    fn from_register(register: u64) -> Self {
        Self(register != 0)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self.0)
    }
    fn wide(self) -> i128 {
        i128::from(self.0)
    }
    fn wrap(value: i128) -> Self {
        Self(value != 0)
    }
    fn add(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    fn sub(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
    fn mul(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    fn div(self, _: Self) -> Self {
        self
    }
    fn rem(self, _: Self) -> Self {
        Self(false)
    }
    fn floor_div(self, _: Self) -> Self {
        self
    }
    fn floor_rem(self, _: Self) -> Self {
        Self(false)
    }
    fn shl(self, _: Self) -> Self {
        self
    }
    fn shr(self, _: Self) -> Self {
        self
    }
    fn not(self) -> Self {
        Self(!self.0)
    }
    fn abs(self) -> Self {
        self
    }
    fn count_ones(self) -> u32 {
        u32::from(self.0)
    }
    fn leading_zeros(self) -> u32 {
        u32::from(!self.0)
    }
    fn from_f64(value: f64) -> Self {
        // A cast to bool is `!= 0`, and a NaN is not 0.
        Self(value != 0.0)
    }
}

macro_rules! native_float {
    ($type:ident $bits:ident $precision:literal) => {
        impl Flt for $type {
            const UNIT: f64 = 1.0 / (1_u64 << $precision) as f64;
            const MAX: f64 = $type::MAX as f64;
            const TINY: f64 = $type::from_bits(1) as f64;
            const NORMAL: f64 = $type::MIN_POSITIVE as f64;
            #[inline(always)]
            fn from_register(register: u64) -> Self {
                Self::from_bits(register as $bits)
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn nearest(value: f64) -> Self {
                value as $type
            }
            fn nearest_int(value: i128) -> Self {
                value as $type
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                self / other
            }
            fn fma(self, other: Self, addend: Self) -> Self {
                self.mul_add(other, addend)
            }
            fn abs(self) -> Self {
                self.abs()
            }
            fn copysign(self, sign: Self) -> Self {
                self.copysign(sign)
            }
            fn next_up(self) -> Self {
                self.next_up()
            }
            fn next_down(self) -> Self {
                self.next_down()
            }
        }
    };
}
native_float!(f32 u32 24);
native_float!(f64 u64 53);

/// Returns the float32 nearest to `value`, whose last bit is set if something was cut off, so that
/// rounding it once more to a type of at most 22 bits gives the same as rounding `value` once.
fn round_to_odd(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) == value || value.is_nan() {
        return near;
    }
    let bits = near.to_bits();
    let cut = if f64::from(near).abs() > value.abs() { bits - 1 } else { bits };
    f32::from_bits(cut | 1)
}

macro_rules! half_float {
    ($type:ident $precision:literal $max:literal $tiny:literal $normal:literal) => {
        impl Flt for $type {
            const UNIT: f64 = 1.0 / (1_u64 << $precision) as f64;
            const MAX: f64 = $max;
            const TINY: f64 = $tiny;
            const NORMAL: f64 = $normal;
            #[inline(always)]
            fn from_register(register: u64) -> Self {
                Self::from_bits(register as u16)
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                self.to_f64()
            }
            fn nearest(value: f64) -> Self {
                Self::from_f32(round_to_odd(value))
            }
            fn nearest_int(value: i128) -> Self {
                // Past 2^53 the float64 may be rounded, but every tie of a half lies on few bits:
                // halves overflow or keep 8 bits, and the bit that was lost in float64 is restored
                // as a sticky one.
                let near = value as f64;
                let lost = near as i128 != value;
                let bits = near.to_bits();
                let outward = lost && (near as i128).unsigned_abs() > value.unsigned_abs();
                let cut = if outward { bits - 1 } else { bits };
                Self::nearest(f64::from_bits(cut | u64::from(lost)))
            }
            fn add(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() + other.to_f32())
            }
            fn sub(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() - other.to_f32())
            }
            fn mul(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() * other.to_f32())
            }
            fn div(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() / other.to_f32())
            }
            fn fma(self, other: Self, addend: Self) -> Self {
                Self::from_f32(self.to_f32().mul_add(other.to_f32(), addend.to_f32()))
            }
            fn abs(self) -> Self {
                Self::from_bits(self.to_bits() & 0x7fff)
            }
            fn copysign(self, sign: Self) -> Self {
                Self::from_bits(self.to_bits() & 0x7fff | sign.to_bits() & 0x8000)
            }
            fn next_up(self) -> Self {
                match self.to_bits() {
                    _ if self.is_nan() || self == Self::INFINITY => self,
                    0x8000 => Self::from_bits(1),
                    bits if bits & 0x8000 == 0 => Self::from_bits(bits + 1),
                    bits => Self::from_bits(bits - 1),
                }
            }
            fn next_down(self) -> Self {
                let negated = Self::from_bits(self.to_bits() ^ 0x8000).next_up();
                Self::from_bits(negated.to_bits() ^ 0x8000)
            }
        }
    };
}
half_float!(f16 11 65504.0 5.960_464_477_539_063e-8 6.103_515_625e-5);
half_float!(bf16 8 3.389_531_389_251_535_5e38 9.183_549_615_799_121e-41 1.175_494_350_822_287_5e-38);

mod storage;

pub(crate) use storage::{BitField, E4m3Fn, E5m2, SubByte};

/// The type of a lane, which selects the Rust type that computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    Bf16,
    F32,
    F64,
    E4m3Fn,
    E5m2,
    /// An integer that shares its byte with others.
    Part(BitField),
    /// A pointer.
    Handle,
}

impl Lane {
    /// Returns the lane type of an IR type; `None` for one that the interpreter does not compute
    /// with.
    pub(crate) fn of(dtype: DType) -> Option<Self> {
        Some(match (dtype.code, dtype.bits) {
            (TypeCode::Bool, 8) => Self::Bool,
            (TypeCode::Int, 8) => Self::I8,
            (TypeCode::Int, 16) => Self::I16,
            (TypeCode::Int, 32) => Self::I32,
            (TypeCode::Int, 64) => Self::I64,
            (TypeCode::UInt, 8) => Self::U8,
            (TypeCode::UInt, 16) => Self::U16,
            (TypeCode::UInt, 32) => Self::U32,
            (TypeCode::UInt, 64) => Self::U64,
            (TypeCode::Float, 16) => Self::F16,
            (TypeCode::BFloat, 16) => Self::Bf16,
            (TypeCode::Float, 32) => Self::F32,
            (TypeCode::Float, 64) => Self::F64,
            (TypeCode::Float8E4M3Fn, 8) => Self::E4m3Fn,
            (TypeCode::Float8E5M2, 8) => Self::E5m2,
            (TypeCode::Int | TypeCode::UInt, 1 | 4) => Self::Part(BitField::from_dtype(dtype)),
            (TypeCode::Handle, _) => Self::Handle,
            _ => return None,
        })
    }

    /// Returns the size of one lane in the units that views count in: bits if several lanes share a
    /// byte, else bytes.
    #[inline(always)]
    pub(crate) fn size_units(self) -> usize {
        match self {
            Self::Part(part) => part.bits.into(),
            lane => lane.size_bytes(),
        }
    }

    /// Converts a number of units to bytes.
    pub(crate) fn bytes_of_units(self, units: usize) -> usize {
        if let Self::Part(_) = self { units.div_ceil(8) } else { units }
    }

    /// Returns the byte at an offset in units, and the lane with its position in that byte.
    #[inline(always)]
    pub(crate) fn at(self, offset: usize) -> (usize, Self) {
        match self {
            Self::Part(part) => (offset / 8, Self::Part(BitField { shift: (offset % 8) as u8, ..part })),
            lane => (offset, lane),
        }
    }

    /// Returns the size in memory, in bytes.
    pub(crate) fn size_bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 | Self::E4m3Fn | Self::E5m2 | Self::Part(_) => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::Handle => 8,
        }
    }

    /// Reads a register's worth of memory; a slice that is too short gives 0.
    #[inline(always)]
    pub(crate) fn read(self, bytes: &[u8]) -> u64 {
        match self {
            Self::Bool => bytes.first().map_or(0, |&byte| u64::from(byte != 0)),
            Self::U8 | Self::E4m3Fn | Self::E5m2 => u64::from(u8::from_le_bytes(head(bytes))),
            Self::Part(part) => part.read(u8::from_le_bytes(head(bytes))),
            Self::I8 => i8::from_le_bytes(head(bytes)).bits(),
            Self::U16 | Self::F16 | Self::Bf16 => u64::from(u16::from_le_bytes(head(bytes))),
            Self::I16 => i16::from_le_bytes(head(bytes)).bits(),
            Self::U32 | Self::F32 => u64::from(u32::from_le_bytes(head(bytes))),
            Self::I32 => i32::from_le_bytes(head(bytes)).bits(),
            Self::I64 | Self::U64 | Self::F64 | Self::Handle => u64::from_le_bytes(head(bytes)),
        }
    }

    /// Writes a register to memory of this type's size.
    #[inline(always)]
    pub(crate) fn write(self, bytes: &mut [u8], register: u64) {
        let lane = match self {
            Self::Part(part) => [part.write(u8::from_le_bytes(head(bytes)), register), 0, 0, 0, 0, 0, 0, 0],
            _ => register.to_le_bytes(),
        };
        match self.size_bytes() {
            1 => put::<1>(bytes, &lane),
            2 => put::<2>(bytes, &lane),
            4 => put::<4>(bytes, &lane),
            _ => put::<8>(bytes, &lane),
        }
    }

    /// Converts a register to a float64, for messages and bounds.
    pub(crate) fn to_f64(self, register: u64) -> f64 {
        match self {
            Self::F16 => f16::from_register(register).wide(),
            Self::Bf16 => bf16::from_register(register).wide(),
            Self::F32 => f32::from_register(register).wide(),
            Self::F64 => f64::from_bits(register),
            Self::E4m3Fn => E4m3Fn::from_register(register).wide(),
            Self::E5m2 => E5m2::from_register(register).wide(),
            Self::I8 | Self::I16 | Self::I32 | Self::I64 | Self::Part(_) => register as i64 as f64,
            Self::Bool | Self::U8 | Self::U16 | Self::U32 | Self::U64 | Self::Handle => register as f64,
        }
    }
}

#[inline(always)]
fn head<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk::<N>().copied().unwrap_or([0; N])
}

#[inline(always)]
fn put<const N: usize>(bytes: &mut [u8], lane: &[u8; 8]) {
    if let (Some(place), Some(lane)) = (bytes.first_chunk_mut::<N>(), lane.first_chunk::<N>()) {
        *place = *lane;
    }
}

/// Runs `$body` with `$type` as the Rust type of an integer lane, else `$other`.
macro_rules! with_int {
    ($lane:expr, $type:ident => $body:expr, $other:expr) => {
        match $lane {
            $crate::scalar::Lane::Bool => {
                type $type = $crate::scalar::Bool;
                $body
            }
            $crate::scalar::Lane::I8 => {
                type $type = i8;
                $body
            }
            $crate::scalar::Lane::I16 => {
                type $type = i16;
                $body
            }
            $crate::scalar::Lane::I32 => {
                type $type = i32;
                $body
            }
            $crate::scalar::Lane::I64 => {
                type $type = i64;
                $body
            }
            $crate::scalar::Lane::U8 => {
                type $type = u8;
                $body
            }
            $crate::scalar::Lane::U16 => {
                type $type = u16;
                $body
            }
            $crate::scalar::Lane::U32 => {
                type $type = u32;
                $body
            }
            $crate::scalar::Lane::U64 => {
                type $type = u64;
                $body
            }
            _ => $other,
        }
    };
}
pub(crate) use with_int;

/// Runs `$body` with `$type` as the Rust type of a float lane, else `$other`.
macro_rules! with_float {
    ($lane:expr, $type:ident => $body:expr, $other:expr) => {
        match $lane {
            $crate::scalar::Lane::F16 => {
                type $type = half::f16;
                $body
            }
            $crate::scalar::Lane::Bf16 => {
                type $type = half::bf16;
                $body
            }
            $crate::scalar::Lane::F32 => {
                type $type = f32;
                $body
            }
            $crate::scalar::Lane::F64 => {
                type $type = f64;
                $body
            }
            _ => $other,
        }
    };
}
pub(crate) use with_float;

/// As [`with_int`], with integers that share a byte.
macro_rules! with_stored_int {
    ($lane:expr, $type:ident => $body:expr, $other:expr) => {
        match $lane {
            $crate::scalar::Lane::Part(part) => match (part.bits, part.is_signed) {
                (1, true) => {
                    type $type = $crate::scalar::SubByte<1, true>;
                    $body
                }
                (1, false) => {
                    type $type = $crate::scalar::SubByte<1, false>;
                    $body
                }
                (_, true) => {
                    type $type = $crate::scalar::SubByte<4, true>;
                    $body
                }
                (_, false) => {
                    type $type = $crate::scalar::SubByte<4, false>;
                    $body
                }
            },
            lane => $crate::scalar::with_int!(lane, $type => $body, $other),
        }
    };
}
pub(crate) use with_stored_int;

/// As [`with_float`], with floats of 8 bits.
macro_rules! with_stored_float {
    ($lane:expr, $type:ident => $body:expr, $other:expr) => {
        match $lane {
            $crate::scalar::Lane::E4m3Fn => {
                type $type = $crate::scalar::E4m3Fn;
                $body
            }
            $crate::scalar::Lane::E5m2 => {
                type $type = $crate::scalar::E5m2;
                $body
            }
            lane => $crate::scalar::with_float!(lane, $type => $body, $other),
        }
    };
}
pub(crate) use with_stored_float;

/// Reads one lane of memory into a register; 0 for a type that is not computed with.
pub(crate) fn read(bytes: &[u8], dtype: DType) -> u64 {
    Lane::of(dtype).map_or(0, |lane| lane.read(bytes))
}

/// Converts a register to an integer; a float truncates and saturates.
pub(crate) fn to_int(register: u64, dtype: DType) -> i128 {
    let Some(lane) = Lane::of(dtype) else { return 0 };
    with_stored_int!(lane, T => T::from_register(register).wide(), lane.to_f64(register) as i128)
}

/// Converts a register to a float64.
pub(crate) fn to_f64(register: u64, dtype: DType) -> f64 {
    Lane::of(dtype).map_or(0.0, |lane| lane.to_f64(register))
}

/// Converts a float64 to a register: rounded to a float type, truncated and wrapped to an integer
/// type.
pub(crate) fn from_f64(value: f64, dtype: DType) -> u64 {
    let Some(lane) = Lane::of(dtype) else { return 0 };
    with_stored_float!(lane, T => T::nearest(value).bits(), from_int(value as i128, dtype))
}

/// Converts an integer to a register: wrapped to an integer type, rounded to a float type.
pub(crate) fn from_int(value: i128, dtype: DType) -> u64 {
    let Some(lane) = Lane::of(dtype) else { return 0 };
    with_stored_int!(lane, T => T::wrap(value).bits(), {
        with_stored_float!(lane, T => T::nearest_int(value).bits(), value as u64)
    })
}
