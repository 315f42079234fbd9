//! Tests of float16 and bfloat16 with the compiler's own type and with integers: every half, and floats around every
//! half.

use chipdock_codegen_source::c_family::{CFamily as _, Half};
use chipdock_codegen_source::{Code, Prelude};
use chipdock_ir::DType;
use half::{bf16, f16};
use libloading::os::unix::Library;

use super::support::has_compiler;
use crate::compiler::{Options, compile_with};
use crate::dialect::CDialect;

type Value = unsafe extern "C" fn(u16) -> f32;
type Bits = unsafe extern "C" fn(f32) -> u16;
type Odd = unsafe extern "C" fn(f64) -> f32;

/// The helpers as a text defines them.
fn helpers() -> String {
    let (dialect, mut prelude) = (CDialect::default(), Prelude::default());
    for half in [Half::F16Value, Half::F16Bits, Half::Bf16Value, Half::Bf16Bits] {
        dialect.define_half(half, &mut prelude);
    }
    dialect.half_source(&Code::primary("x"), DType::FLOAT64, DType::FLOAT16, &mut prelude).unwrap();
    prelude.texts().concat()
}

fn library(flags: &str) -> Library {
    let export = "#define OUT __attribute__((visibility(\"default\")))\n\
        OUT float f16_value(uint16_t x) { return cd_f16_value(x); }\n\
        OUT uint16_t f16_bits(float x) { return cd_f16_bits(x); }\n\
        OUT float bf16_value(uint16_t x) { return cd_bf16_value(x); }\n\
        OUT uint16_t bf16_bits(float x) { return cd_bf16_bits(x); }\n\
        OUT float odd(double x) { return cd_odd_f32(x); }\n";
    let source = format!("#include <stdint.h>\n{}{export}", helpers());
    let compiled =
        compile_with(&source, &Options::default(), Some(&format!("cc {flags}")), &std::env::temp_dir())
            .unwrap();
    // SAFETY: compiled just now, without constructors.
    unsafe { Library::open(Some(&compiled.library), libloading::os::unix::RTLD_NOW) }.unwrap()
}

/// The float itself, and its nearest neighbours.
fn around(value: f32) -> [f32; 5] {
    let bits = value.to_bits();
    [-2, -1, 0, 1, 2].map(|step: i32| f32::from_bits(bits.wrapping_add_signed(step)))
}

#[test]
fn halves_convert_as_the_half_crate_has_it() {
    if !has_compiler() {
        return;
    }
    for flags in ["", "-DCHIPDOCK_SOFT_FLOAT16"] {
        let library = library(flags);
        // SAFETY: the functions above, by their types.
        let (value, bits, wide, narrow) = unsafe {
            let value = *library.get::<Value>(b"f16_value").unwrap();
            let bits = *library.get::<Bits>(b"f16_bits").unwrap();
            let wide = *library.get::<Value>(b"bf16_value").unwrap();
            (value, bits, wide, *library.get::<Bits>(b"bf16_bits").unwrap())
        };
        for half in 0..=u16::MAX {
            let (exact, brain) = (f16::from_bits(half).to_f32(), bf16::from_bits(half).to_f32());
            // SAFETY: they take any number.
            let (found, found_brain) = unsafe { (value(half), wide(half)) };
            assert!(
                found == exact || found.is_nan() && exact.is_nan(),
                "{flags} {half:#06x}: {found} {exact}"
            );
            assert!(found_brain == brain || found_brain.is_nan() && brain.is_nan(), "{half:#06x}");
            // The middle between this half and the next is where rounding decides.
            let next = f16::from_bits(half.wrapping_add(1)).to_f32();
            for x in around(exact).into_iter().chain(around((exact + next) / 2.0)) {
                // SAFETY: they take any number.
                let found = f16::from_bits(unsafe { bits(x) });
                let expected = f16::from_f32(x);
                assert!(
                    found.to_bits() == expected.to_bits() || x.is_nan() && found.is_nan(),
                    "{flags} {x:e}: {found} {expected}"
                );
            }
            for x in around(f32::from_bits(u32::from(half) << 16 | 0x8000)) {
                // SAFETY: they take any number.
                let found = bf16::from_bits(unsafe { narrow(x) });
                assert!(found == bf16::from_f32(x) || x.is_nan() && found.is_nan(), "{x:e}: {found}");
            }
        }
    }
}

#[test]
fn a_double_is_rounded_once_by_way_of_odd() {
    if !has_compiler() {
        return;
    }
    let library = library("");
    // SAFETY: the functions above, by their types.
    let (odd, bits) =
        unsafe { (*library.get::<Odd>(b"odd").unwrap(), *library.get::<Bits>(b"f16_bits").unwrap()) };
    for half in (0..0x7bff_u16).step_by(3) {
        let middle = (f16::from_bits(half).to_f64() + f16::from_bits(half + 1).to_f64()) / 2.0;
        // Just past the middle, by less than a float can tell. (The half crate goes by way of float, and errs here.)
        let even = half + half % 2;
        let near = |step: i64| f64::from_bits(middle.to_bits().wrapping_add_signed(step));
        for (x, expected) in [(middle, even), (near(1), half + 1), (near(-1), half), (-middle, even | 0x8000)]
        {
            // SAFETY: they take any number.
            let found = unsafe { bits(odd(x)) };
            assert_eq!(found, expected, "{x:e}: {}", f16::from_bits(found));
        }
    }
}
