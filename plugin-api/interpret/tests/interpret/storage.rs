//! INT-I1, INT-I3: storage types in memory and in casts.

use chipdock_interpret::{Arg, Array, ErrorKind, Interpreter};
use chipdock_ir::{DType, Expr, ForKind, IrModule, build, number};

fn cast(from: DType, to: DType, n: i32) -> IrModule {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [n], from), f.buffer("B", [n], to));
    f.range("i", n, |f, i| f.store(&b, [&i], Expr::load(&a, vec![i.clone()]).cast(to)));
    build::module([f.finish()])
}

fn run(module: &IrModule, args: [Array; 2]) -> Array {
    let mut args = args.map(Arg::Tensor);
    let ran = Interpreter::new(module).with_bounds().run("f", &mut args).unwrap();
    assert!(ran.output("B").is_some_and(|output| output.n_unbounded() == 0));
    let [_, Arg::Tensor(b)] = args else { panic!("two tensors") };
    b
}

/// ir: IR-T6.
#[test]
fn int_i3_low_bits_come_first() {
    let packed = Array { dtype: DType::INT4, shape: vec![5], data: vec![0x21, 0x83, 0xff] };
    let numbers =
        run(&cast(DType::INT4, DType::INT32, 5), [packed.clone(), Array::zeros(DType::INT32, &[5])]);
    assert_eq!(numbers.to_int(), [1, 2, 3, -8, -1]);
    assert_eq!(packed.to_int(), numbers.to_int());
    // The bits that are no element's stay.
    let into = Array { dtype: DType::INT4, shape: vec![5], data: vec![0, 0, 0xa0] };
    assert_eq!(run(&cast(DType::INT32, DType::INT4, 5), [numbers, into]).data, [0x21, 0x83, 0xaf]);
    let bits = Array::from_int(DType::UINT1, &[10], &[1, 0, 0, 0, 0, 0, 1, 1, 0, 1]);
    assert_eq!(bits.data, [0xc1, 0x02]);
    assert_eq!(Array::zeros(DType::INT1, &[3, 3]).data.len(), 2);
}

/// ir: IR-T6, IR-S4. Elements of one byte are one to iterations that may run at once.
#[test]
fn int_i3_neighbours_in_a_byte_race() {
    let stored = |dtype| {
        let mut f = build::function("f");
        let b = f.buffer("B", [8], dtype);
        f.for_each(build::Loop::new("i", ForKind::Parallel, 8), |f, i| {
            f.store(&b, [&i], Expr::int(1, dtype))
        });
        Interpreter::new(&build::module([f.finish()]))
            .run("f", &mut [Arg::Tensor(Array::zeros(dtype, &[8]))])
            .map(|_| ())
    };
    assert!(matches!(stored(DType::INT4).unwrap_err().kind, ErrorKind::Race { .. }));
    assert!(stored(DType::INT8).is_ok());
}

/// ir: IR-T7, IR-N9. Values of OCP's tables, "OCP 8-bit Floating Point Specification (OFP8)", 1.0.
#[test]
fn int_i1_float8_is_ocps() {
    let table: [(DType, u8, f64); 14] = [
        (DType::FLOAT8_E4M3FN, 0x00, 0.0),
        (DType::FLOAT8_E4M3FN, 0x01, 0.001953125),
        (DType::FLOAT8_E4M3FN, 0x07, 0.013671875),
        (DType::FLOAT8_E4M3FN, 0x08, 0.015625),
        (DType::FLOAT8_E4M3FN, 0x38, 1.0),
        (DType::FLOAT8_E4M3FN, 0x7e, 448.0),
        (DType::FLOAT8_E4M3FN, 0xfe, -448.0),
        (DType::FLOAT8_E5M2, 0x01, 0.0000152587890625),
        (DType::FLOAT8_E5M2, 0x03, 0.0000457763671875),
        (DType::FLOAT8_E5M2, 0x04, 0.00006103515625),
        (DType::FLOAT8_E5M2, 0x3c, 1.0),
        (DType::FLOAT8_E5M2, 0x7b, 57344.0),
        (DType::FLOAT8_E5M2, 0x7c, f64::INFINITY),
        (DType::FLOAT8_E5M2, 0xfc, f64::NEG_INFINITY),
    ];
    for (dtype, bits, value) in table {
        assert_eq!(number::float8_value(bits, dtype), value, "{dtype} {bits:#x}");
        assert_eq!(number::float8_bits(value, dtype), bits, "{value} in {dtype}");
    }
    // The upper byte of a float16.
    for bits in 0..=u8::MAX {
        let half = Array { dtype: DType::FLOAT16, shape: vec![1], data: vec![0, bits] }.to_f64()[0];
        let value = number::float8_value(bits, DType::FLOAT8_E5M2);
        assert!(half == value || half.is_nan() && value.is_nan(), "{bits:#x}");
    }
    for dtype in [DType::FLOAT8_E4M3FN, DType::FLOAT8_E5M2] {
        let all = Array { dtype, shape: vec![256], data: (0..=255).collect() };
        let wide =
            run(&cast(dtype, DType::FLOAT32, 256), [all.clone(), Array::zeros(DType::FLOAT32, &[256])]);
        let back = run(&cast(DType::FLOAT32, dtype, 256), [wide.clone(), Array::zeros(dtype, &[256])]);
        for (lane, value) in wide.to_f64().into_iter().enumerate() {
            let (found, expected) = (back.data[lane], all.data[lane]);
            let is_nan = number::float8_value(found, dtype).is_nan();
            assert!(
                if value.is_nan() { is_nan } else { found == expected },
                "{dtype} {expected:#x}: {found:#x}"
            );
        }
    }
    let past = Array::from_f64(DType::FLOAT32, &[4], &[464.0, 465.0, f64::INFINITY, -1e9]);
    let found =
        run(&cast(DType::FLOAT32, DType::FLOAT8_E4M3FN, 4), [past, Array::zeros(DType::FLOAT8_E4M3FN, &[4])]);
    assert_eq!(found.data, [0x7e, 0x7f, 0x7f, 0xff]);
}
