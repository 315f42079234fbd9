//! Tests of float16 and bfloat16 with the compiler's own type and with integers: every half, and
//! floats around every half.

use chipdock_codegen_source::c_family::{CFamily as _, Half};
use chipdock_codegen_source::{Code, Prelude};
use chipdock_ir::DType;
use half::{bf16, f16};
use libloading::os::unix::Library;

use super::support::has_compiler;
use crate::compiler::{Options, compile_with};
use crate::dialect::{CDialect, half_vectors};

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
        // Just past the middle, by less than a float can tell. (The half crate goes by way of
        // float, and errs here.)
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

/// A vector at a time, from one array to another.
type Vectors<From, To> = unsafe extern "C" fn(*const From, *mut To);

const LANES: [u16; 4] = [4, 8, 16, 32];

/// Converts blocks of that many lanes by a function of the library, and returns all lanes.
fn converted<From: Copy + Default, To: Copy + Default>(
    library: &Library,
    name: &str,
    lanes: u16,
    of: &[From],
) -> Vec<To> {
    // SAFETY: the function below, by its type.
    let function = unsafe { *library.get::<Vectors<From, To>>(name.as_bytes()).unwrap() };
    let mut all = Vec::new();
    for block in of.chunks(lanes.into()) {
        let mut from = vec![From::default(); lanes.into()];
        from[..block.len()].copy_from_slice(block);
        let mut to = vec![To::default(); lanes.into()];
        // SAFETY: both have that many lanes.
        unsafe { function(from.as_ptr(), to.as_mut_ptr()) };
        all.extend_from_slice(&to[..block.len()]);
    }
    all
}

/// Vectors are converted as the half crate has it, by the processor's instruction and by
/// arithmetic.
#[test]
fn vectors_of_halves_convert_as_the_half_crate_has_it() {
    if !has_compiler() {
        return;
    }
    let mut source = "#include <stdint.h>\n".to_owned();
    let mut prelude = Prelude::default();
    let mut exports = String::new();
    for (dtype, short) in [(DType::FLOAT16, "f16"), (DType::BFLOAT16, "bf16")] {
        for lanes in LANES {
            half_vectors(dtype.with_lanes(lanes), &mut prelude).unwrap();
            let name = format!("{short}x{lanes}");
            exports += &format!(
                "__attribute__((visibility(\"default\"))) void {name}_value(const uint16_t* x, float* y) {{\n    \
                 *(f32x{lanes}_u*)y = cd_{name}_value(*(const u16x{lanes}_u*)x);\n}}\n\
                 __attribute__((visibility(\"default\"))) void {name}_bits(const float* x, uint16_t* y) {{\n    \
                 *(u16x{lanes}_u*)y = cd_{name}_bits(*(const f32x{lanes}_u*)x);\n}}\n"
            );
        }
    }
    source += &prelude.texts().concat();
    source += &exports;
    let halves: Vec<u16> = (0..=u16::MAX).collect();
    let middle = |half: u16| {
        let (low, high) = (f16::from_bits(half).to_f32(), f16::from_bits(half.wrapping_add(1)).to_f32());
        around(low).into_iter().chain(around((low + high) / 2.0))
    };
    let floats: Vec<f32> = halves.iter().flat_map(|half| middle(*half)).collect();
    let brains = halves.iter().flat_map(|half| around(f32::from_bits(u32::from(*half) << 16 | 0x8000)));
    let brains: Vec<f32> = brains.collect();
    for flags in ["", "-DCHIPDOCK_SOFT_FLOAT16", "-march=x86-64"] {
        if flags.starts_with("-march") && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let command = format!("cc {flags}");
        let compiled =
            compile_with(&source, &Options::default(), Some(&command), &std::env::temp_dir()).unwrap();
        // SAFETY: compiled just now, without constructors.
        let library =
            unsafe { Library::open(Some(&compiled.library), libloading::os::unix::RTLD_NOW) }.unwrap();
        for lanes in LANES {
            let name = |short: &str, end: &str| format!("{short}x{lanes}_{end}");
            let is_same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            let values: Vec<f32> = converted(&library, &name("f16", "value"), lanes, &halves);
            let wide: Vec<f32> = converted(&library, &name("bf16", "value"), lanes, &halves);
            for (half, (value, wide)) in halves.iter().zip(values.into_iter().zip(wide)) {
                assert!(
                    is_same(value, f16::from_bits(*half).to_f32()),
                    "{flags} {lanes} {half:#06x}: {value}"
                );
                assert!(
                    is_same(wide, bf16::from_bits(*half).to_f32()),
                    "{flags} {lanes} {half:#06x}: {wide}"
                );
            }
            let bits: Vec<u16> = converted(&library, &name("f16", "bits"), lanes, &floats);
            for (x, bits) in floats.iter().zip(bits) {
                let (found, expected) = (f16::from_bits(bits), f16::from_f32(*x));
                let is_right = bits == expected.to_bits() || x.is_nan() && found.is_nan();
                assert!(is_right, "{flags} {lanes} {x:e}: {found} {expected}");
            }
            let bits: Vec<u16> = converted(&library, &name("bf16", "bits"), lanes, &brains);
            for (x, bits) in brains.iter().zip(bits) {
                let (found, expected) = (bf16::from_bits(bits), bf16::from_f32(*x));
                let is_right = bits == expected.to_bits() || x.is_nan() && found.is_nan();
                assert!(is_right, "{flags} {lanes} {x:e}: {found} {expected}");
            }
        }
    }
}
