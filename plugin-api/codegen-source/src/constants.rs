//! Texts of constants.

use chipdock_ir::DType;

/// The shortest decimal of a finite float that has its exact value for every reader: one that
/// rounds to the type at once, one that rounds to float64 first, and one that rejects a decimal
/// above the greatest value of the type. Halves are written as float32.
///
/// ```
/// use chipdock_codegen_source::decimal;
/// use chipdock_ir::DType;
///
/// assert_eq!(decimal(0.1_f32.into(), DType::FLOAT32), "0.1");
/// // 3.4028235e38 would round to it, but is above it.
/// assert_eq!(decimal(f32::MAX.into(), DType::FLOAT32), "3.4028234663852886e38");
/// ```
#[must_use]
pub fn decimal(value: f64, dtype: DType) -> String {
    if dtype == DType::FLOAT64 {
        return format!("{value:?}");
    }
    let single = value as f32;
    let shortest = format!("{single:?}");
    let read: f64 = shortest.parse().unwrap_or(f64::NAN);
    if read as f32 == single && read.abs() <= f32::MAX.into() {
        shortest
    } else {
        format!("{:?}", f64::from(single))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_exact(single: f32) -> bool {
        let text = decimal(single.into(), DType::FLOAT32);
        let (at_once, twice): (f32, f64) = (text.parse().unwrap(), text.parse().unwrap());
        at_once.to_bits() == single.to_bits()
            && (twice as f32).to_bits() == single.to_bits()
            && twice.abs() <= f32::MAX.into()
    }

    /// CF3.
    #[test]
    fn every_reader_finds_the_value() {
        // Its shortest decimal, 7.038531e-26, is nearer to the next one once it is a float64.
        for bits in [0x15ae_43fd, 0x15ae_43fe, 0, 1, 0x7f_ffff, 0x80_0000, 0x7f7f_fffe, 0x7f7f_ffff] {
            let single = f32::from_bits(bits);
            assert!(
                is_exact(single) && is_exact(-single),
                "{bits:#x}: {}",
                decimal(single.into(), DType::FLOAT32)
            );
        }
        let mut bits = 0_u32;
        for _ in 0..1_000_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let single = f32::from_bits(bits);
            assert!(!single.is_finite() || is_exact(single), "{bits:#x}");
        }
        for value in [f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0, 0.1] {
            let text = decimal(value, DType::FLOAT64);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
        }
    }
}
