//! Tests of conversions to and from values, and of element types as text (rule V.15).

use chipdock_plugin_api::{
    Any, AnyView, Array, Bytes, ChipdockDataType, ChipdockDevice, Error, ErrorKind, Function, HostRef, Shape,
    Str, Tensor, argument, dtype,
};
use proptest::prelude::*;

fn kind<T>(result: Result<T, Error>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

/// One value of each type.
fn zoo() -> Vec<Any> {
    vec![
        Any::NONE,
        Any::from(3),
        Any::from(true),
        Any::from(2.5),
        Any::from(dtype::scalar(2, 32)),
        Any::from(ChipdockDevice { device_type: 1, device_id: 2 }),
        Any::from("small"),
        Any::from("a longer string"),
        Any::from(Bytes::new(b"raw")),
        Any::from(Shape::new(&[1, 2])),
        Any::from(Array::new([Any::from(1)])),
        Any::from(Function::from_fn(HostRef::standalone(), |_| Ok(Any::NONE))),
        Any::from(Error::new(ErrorKind::IO, "gone")),
        Any::from(Tensor::from_slice(&[1], &[1.0_f32]).unwrap()),
    ]
}

/// Returns the values of the zoo that convert to `T`; for all others the error must be a type error
/// that names the expected type.
fn takes<T: for<'a> chipdock_plugin_api::FromAny<'a>>() -> Vec<String> {
    let mut taken = Vec::new();
    for any in zoo() {
        match any.to::<T>() {
            Ok(_) => taken.push(any.view().type_name().into_owned()),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::TYPE_ERROR, "{error}");
                assert!(error.message().contains(&*any.view().type_name()), "{error}");
            }
        }
    }
    taken
}

#[test]
fn each_type_takes_what_tvm_ffi_takes() {
    assert_eq!(takes::<i64>(), ["int", "bool"]);
    assert_eq!(takes::<u8>(), ["int", "bool"]);
    assert_eq!(takes::<bool>(), ["int", "bool"]);
    assert_eq!(takes::<f64>(), ["int", "bool", "float"]);
    assert_eq!(takes::<Str>(), ["str", "str"]);
    assert_eq!(takes::<String>(), ["str", "str"]);
    assert_eq!(takes::<Bytes>(), ["bytes"]);
    assert_eq!(takes::<ChipdockDevice>(), ["Device"]);
    assert_eq!(takes::<Array>(), ["Array"]);
    assert_eq!(takes::<Shape>(), ["Shape", "Array"]);
    assert_eq!(takes::<Function>(), ["Function"]);
    assert_eq!(takes::<Error>(), ["Error"]);
    assert_eq!(takes::<Tensor>(), ["Tensor"]);
    assert_eq!(takes::<()>(), ["None"]);
    assert_eq!(takes::<Option<Tensor>>(), ["None", "Tensor"]);
    assert_eq!(takes::<*mut core::ffi::c_void>(), ["None"]);
    assert_eq!(takes::<Any>().len(), zoo().len());
}

#[test]
fn element_types_are_taken_as_text_too() {
    assert_eq!(Any::from("float16").to::<ChipdockDataType>().unwrap(), dtype::scalar(2, 16));
    assert_eq!(kind(Any::from("float17x").to::<ChipdockDataType>()), Some(ErrorKind::VALUE_ERROR));
    assert_eq!(kind(Any::from(5).to::<ChipdockDataType>()), Some(ErrorKind::TYPE_ERROR));
}

#[test]
fn a_failing_argument_is_named() {
    let args = [AnyView::from(300), AnyView::from(1.5)];
    let error = argument::<u8>(&args, 0, "level").unwrap_err();
    assert_eq!(
        error.to_string(),
        "ValueError: argument 0 (`level`): expected uint8 from 0 to 255, found 300"
    );
    let error = argument::<i64>(&args, 1, "count").unwrap_err();
    assert_eq!(error.to_string(), "TypeError: argument 1 (`count`): expected int64, found float");
    let error = argument::<i64>(&args, 2, "rest").unwrap_err();
    assert_eq!(error.to_string(), "TypeError: argument 2 (`rest`): expected int64, found 2 arguments only");
}

proptest! {
    #[test]
    fn v15_integers_fit_or_are_refused(value in any::<i64>(), shift in 0_u32..64) {
        let value = value >> shift;
        let any = Any::from(value);
        macro_rules! agree {
            ($($type:ty),*) => {
                $(match any.to::<$type>() {
                    Ok(converted) => prop_assert_eq!(i128::from(converted), i128::from(value)),
                    Err(error) => {
                        prop_assert!(<$type>::try_from(value).is_err());
                        prop_assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
                        for number in [value.to_string(), <$type>::MIN.to_string(), <$type>::MAX.to_string()] {
                            prop_assert!(error.message().contains(&number), "{}", error);
                        }
                    }
                })*
            };
        }
        agree!(i8, i16, i32, i64, u8, u16, u32, u64);
        prop_assert_eq!(any.to::<bool>().unwrap(), value != 0);
        prop_assert_eq!(any.to::<f64>().unwrap(), value as f64);
    }

    #[test]
    fn v15_unsigned_integers_do_not_wrap(value in any::<u64>()) {
        match Any::try_from(value) {
            Ok(any) => prop_assert_eq!(any.to::<u64>().unwrap(), value),
            Err(error) => {
                prop_assert!(value > i64::MAX as u64);
                prop_assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
            }
        }
    }

    #[test]
    fn element_types_round_trip(code in 0_u8..7, bits in 1_u8..=255, lanes in -9_i16..20) {
        prop_assume!(code != 3 && code != 6 && lanes != 0 && lanes != -1);
        let dtype = ChipdockDataType { code, bits, lanes: lanes.cast_unsigned() };
        prop_assert_eq!(dtype::parse(&dtype::text(dtype)).unwrap(), dtype);
    }

    #[test]
    fn element_types_never_panic(text in "\\PC{0,24}") {
        if let Ok(dtype) = dtype::parse(&text) {
            prop_assert_eq!(dtype::parse(&dtype::text(dtype)).unwrap(), dtype);
        }
    }
}

#[test]
fn element_types_have_tvms_names() {
    for (text, code, bits, lanes) in [
        ("bool", 6, 8, 1),
        ("boolx4", 6, 8, 4),
        ("handle", 3, 64, 1),
        ("void", 3, 0, 0),
        ("float8_e4m3fn", 10, 8, 1),
        ("float4_e2m1fnx2", 17, 4, 2),
        ("bfloat16", 4, 16, 1),
        ("uint1", 1, 1, 1),
        ("complex64x2", 5, 64, 2),
        ("complex64xvscalex2", 5, 64, (-2_i16).cast_unsigned()),
    ] {
        let dtype = ChipdockDataType { code, bits, lanes };
        assert_eq!(dtype::parse(text).unwrap(), dtype, "{text}");
        assert_eq!(dtype::text(dtype), text);
    }
    for bad in [
        "float",
        "int0",
        "int-8",
        "float32x",
        "float32x0",
        "float32x-4",
        "float032",
        "int8x99999",
        "x4",
        "Float32",
        "float32 ",
        "int256",
        "complex",
        "float32xvscalex0",
        "float32x4x4",
    ] {
        let error = dtype::parse(bad).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
        assert!(error.message().contains(&format!("`{bad}`")), "{error}");
    }
}
