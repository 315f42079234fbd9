use chipdock_plugin_api as api;
use chipdock_plugin_api::{AnyView, ChipdockDataType, Element, Tensor, TensorParts};
use half::{bf16, f16};
use proptest::prelude::*;

use crate::{Error, Host, HostOptions};

fn host() -> Host {
    Host::new(HostOptions::isolated()).unwrap()
}

fn call(host: &Host, name: &str, args: &[AnyView<'_>]) -> Result<(), Error> {
    let name = format!("tvm.contrib.sort.{name}");
    host.function(&name).unwrap().unwrap().call(args).map(drop)
}

fn tensor<T: Element>(shape: &[i64], elements: &[T]) -> Tensor {
    Tensor::from_slice(shape, elements).unwrap()
}

/// The places in order, by the definition: a stable sort, in which equal elements keep their order.
fn order<T: PartialOrd + Copy>(elements: &[T], is_ascending: bool) -> Vec<usize> {
    let is_nan = |x: T| x.partial_cmp(&x).is_none();
    let is_less = |a: T, b: T| a < b || is_nan(b) && !is_nan(a);
    let mut order: Vec<usize> = Vec::new();
    for (place, element) in elements.iter().enumerate() {
        let is_before = |other: &usize| {
            let other = elements[*other];
            if is_ascending { is_less(*element, other) } else { is_less(other, *element) }
        };
        let at = order.iter().position(is_before).unwrap_or(order.len());
        order.insert(at, place);
    }
    order
}

/// SORT-O1, SORT-O2, SORT-O3: lines along either axis, sorted and by their places.
fn check<T: Element + PartialOrd + Copy + std::fmt::Debug>(
    elements: &[T],
    columns: usize,
    axis: i64,
    is_ascending: bool,
) {
    let host = host();
    let rows = elements.len() / columns;
    let shape = [rows as i64, columns as i64];
    let elements = &elements[..rows * columns];
    let input = tensor(&shape, elements);
    let (values, places) = (tensor(&shape, elements), tensor(&shape, &vec![-1_i64; elements.len()]));
    let order_given = [AnyView::from(axis), is_ascending.into()];
    let args = |output| [[AnyView::from(&input), output].as_slice(), &order_given].concat();
    call(&host, "sort", &args(AnyView::from(&values))).unwrap();
    call(&host, "argsort", &args(AnyView::from(&places))).unwrap();
    let (values, places) = (values.to_vec::<T>().unwrap(), places.to_vec::<i64>().unwrap());
    let (lines, extent) = if axis.rem_euclid(2) == 0 { (columns, rows) } else { (rows, columns) };
    for line in 0..lines {
        let at = |index: usize| {
            if axis.rem_euclid(2) == 0 { index * columns + line } else { line * columns + index }
        };
        let given: Vec<T> = (0..extent).map(|index| elements[at(index)]).collect();
        let expected = order(&given, is_ascending);
        for (rank, place) in expected.iter().enumerate() {
            assert_eq!(places[at(rank)], *place as i64, "{given:?}");
            assert_eq!(format!("{:?}", values[at(rank)]), format!("{:?}", given[*place]), "{given:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn sort_o1_o2_o3_every_type_is_sorted(
        bits in prop::collection::vec(any::<u64>(), 12..40),
        few in any::<bool>(),
        columns in 1_usize..7,
        axis in -2_i64..2,
        is_ascending in any::<bool>(),
    ) {
        // Few values, so that many are equal.
        let bits: Vec<u64> = bits.iter().map(|bits| if few { bits % 3 } else { *bits }).collect();
        macro_rules! of {
            ($($type:ty: $make:expr),* $(,)?) => {$(
                let make: fn(u64) -> $type = $make;
                check(&bits.iter().map(|bits| make(*bits)).collect::<Vec<$type>>(), columns, axis, is_ascending);
            )*};
        }
        of! {
            i8: |x| x as i8, i16: |x| x as i16, i32: |x| x as i32, i64: |x| x as i64,
            u8: |x| x as u8, u16: |x| x as u16, u32: |x| x as u32, u64: |x| x,
            f32: |x| f32::from_bits(x as u32), f64: f64::from_bits,
        }
    }
}

/// Each value of a type of two bytes, with its bits.
fn halves(code: u8) -> (Tensor, Tensor) {
    let bits: Vec<u16> = (0..=u16::MAX).collect();
    let shape = [1 << 16];
    let as_half = |mut bits: Vec<u16>| {
        let dtype = ChipdockDataType { code, bits: 16, lanes: 1 };
        let data = bits.as_mut_ptr().cast();
        let parts =
            TensorParts { data, device: api::CPU, dtype, shape: &shape, strides: None, byte_offset: 0 };
        // SAFETY: the vector keeps its memory where it is and moves into the tensor.
        unsafe { Tensor::from_owner(parts, bits) }.unwrap()
    };
    (as_half(bits), tensor(&shape, &vec![0_i32; 1 << 16]))
}

#[test]
fn sort_o1_all_halves_are_in_order() {
    let host = host();
    for (code, wide) in [
        (api::abi::CHIPDOCK_DTYPE_FLOAT, (|bits| f16::from_bits(bits).to_f64()) as fn(u16) -> f64),
        (api::abi::CHIPDOCK_DTYPE_BFLOAT, |bits| bf16::from_bits(bits).to_f64()),
    ] {
        let (input, places) = halves(code);
        call(&host, "argsort", &[(&input).into(), (&places).into(), 0_i64.into(), true.into()]).unwrap();
        let places = places.to_vec::<i32>().unwrap();
        let mut expected: Vec<i32> = (0..1 << 16).collect();
        expected.sort_by(|a, b| {
            let (a, b) = (wide(*a as u16), wide(*b as u16));
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        });
        assert_eq!(places, expected);
    }
}

#[test]
fn sort_o2_o3_the_greatest_few_and_their_places_in_every_type() {
    let host = host();
    let input = tensor(&[2, 4], &[3_u8, 1, 2, 3, 9, 9, 0, 9]);
    macro_rules! places {
        ($($type:ty),*) => {$(
            let places = tensor(&[2, 2], &[0 as $type; 4]);
            let args = [(&input).into(), (&places).into(), 2_i64.into(), 1_i64.into(), text(), false.into()];
            call(&host, "topk", &args).unwrap();
            assert_eq!(places.to_vec::<$type>().unwrap(), [0, 3, 0, 1].map(|place| place as $type));
        )*};
    }
    fn text() -> AnyView<'static> {
        AnyView::from_c_str(c"indices")
    }
    places!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

    // k of 0 or less takes all; what is behind the extent stays.
    let values = tensor(&[2, 6], &[7_u8; 12]);
    let wanted = AnyView::from_c_str(c"values");
    let args = [(&input).into(), (&values).into(), 6_i64.into(), (-1_i64).into(), wanted, true.into()];
    call(&host, "topk", &args).unwrap();
    assert_eq!(values.to_vec::<u8>().unwrap(), [1, 2, 3, 3, 7, 7, 0, 9, 9, 9, 7, 7]);
    let (values, places) = (tensor(&[2, 4], &[0_u8; 8]), tensor(&[2, 4], &[0_i32; 8]));
    let both = AnyView::from_c_str(c"both");
    let args =
        [(&input).into(), (&values).into(), (&places).into(), 0_i64.into(), 1_i64.into(), both, true.into()];
    call(&host, "topk", &args).unwrap();
    assert_eq!(values.to_vec::<u8>().unwrap(), [1, 2, 3, 3, 0, 9, 9, 9]);
    assert_eq!(places.to_vec::<i32>().unwrap(), [1, 2, 0, 3, 2, 0, 1, 3]);
}

#[test]
fn sort_o3_strides_and_offsets_are_followed() {
    let mut elements = [5_i32, 0, 4, 0, 3, 0, 2, 0, 1, 0];
    let parts = TensorParts {
        data: elements.as_mut_ptr().cast(),
        device: api::CPU,
        dtype: i32::DTYPE,
        shape: &[4],
        strides: Some(&[-2]),
        byte_offset: 32,
    };
    // SAFETY: the array outlives the tensor, and all its elements lie within it.
    let view = unsafe { Tensor::from_owner(parts, ()) }.unwrap();
    call(&host(), "sort", &[(&view).into(), (&view).into(), 0_i64.into(), false.into()]).unwrap();
    assert_eq!(elements, [5, 0, 1, 0, 2, 0, 3, 0, 4, 0], "in its own place, from the end");
}

#[test]
fn sort_o4_lines_count_as_many_elements_as_is_said() {
    let host = host();
    let input = tensor(&[3, 4], &[1_f32, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    let (counts, places) = (tensor(&[3], &[3_i32, 0, -1]), tensor(&[3, 4], &[-1_i32; 12]));
    let nms = |counts: &Tensor| {
        call(
            &host,
            "argsort_nms",
            &[(&input).into(), counts.into(), (&places).into(), (-1_i64).into(), false.into()],
        )
    };
    nms(&counts).unwrap();
    assert_eq!(places.to_vec::<i32>().unwrap(), [2, 1, 0, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
    let error = nms(&tensor(&[3], &[0_i64, 5, 0])).unwrap_err();
    assert!(error.message().contains("at most the 4 elements of the axis, found 5"), "{error}");
    let error = nms(&tensor(&[2], &[0_i64, 5])).unwrap_err();
    assert!(error.message().contains("expected 3 integers, one for each line"), "{error}");
}

/// SORT-O5: what is wrong is named, and the output is as it was.
#[test]
fn sort_o5_wrong_arguments_are_typed_errors() {
    let host = host();
    let (input, output) = (tensor(&[2, 3], &[3_f32, 2.0, 1.0, 3.0, 2.0, 1.0]), tensor(&[2, 3], &[7_f32; 6]));
    let narrow = tensor(&[2, 2], &[0_f32; 4]);
    let (long, places) = (tensor(&[200], &[0_f32; 200]), tensor(&[200], &[0_i8; 200]));
    let doubles = tensor(&[2, 3], &[0_f64; 6]);
    let refused = |name: &str, args: &[AnyView<'_>], kind: &str, words: &str| {
        let error = call(&host, name, args).unwrap_err();
        assert_eq!(error.kind().as_str(), kind, "{error}");
        assert!(error.message().contains(words), "{error}");
    };
    let (a, b) = (AnyView::from(&input), AnyView::from(&output));
    let (one, yes) = (AnyView::from(1_i64), AnyView::from(true));
    refused("sort", &[a, b, 2_i64.into(), yes], "ValueError", "one of a tensor of 2 axes, found 2");
    refused("sort", &[a, b, (-3_i64).into(), yes], "ValueError", "found -3");
    refused("sort", &[a, b, i64::MIN.into(), yes], "ValueError", "found -9223372036854775808");
    refused("sort", &[a, b, one], "TypeError", "a sort takes 4 arguments, found 3");
    refused("sort", &[a, one, one, yes], "TypeError", "values");
    refused("sort", &[a, (&narrow).into(), one, yes], "ValueError", "expected a tensor of shape [2, 3]");
    refused(
        "sort",
        &[a, (&doubles).into(), one, yes],
        "TypeError",
        "expected float32, the type of the input",
    );
    let args = [(&long).into(), (&places).into(), 0_i64.into(), yes];
    refused("argsort", &args, "TypeError", "a type that has each number below 200, found int8");
    let text = AnyView::from_c_str(c"most");
    refused("topk", &[a, b, one, one, text, yes], "ValueError", "\"both\", \"values\" or \"indices\"");
    let text = AnyView::from_c_str(c"both");
    refused("topk", &[a, b, one, one, text, yes], "TypeError", "does not take 6 arguments");
    refused("topk", &[], "TypeError", "wanted");
    assert_eq!(output.to_vec::<f32>().unwrap(), [7.0; 6]);
}

#[test]
fn tensors_without_elements_are_sorted() {
    let (input, places) = (tensor::<f32>(&[0, 3], &[]), tensor::<i64>(&[0, 3], &[]));
    for axis in [0_i64, 1] {
        call(&host(), "argsort", &[(&input).into(), (&places).into(), axis.into(), true.into()]).unwrap();
    }
}
