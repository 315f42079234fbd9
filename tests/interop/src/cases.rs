//! The calls: every type, layout and wrong argument that Python can make.

use chipdock_interpret::Array;
use chipdock_ir::DType;
use serde_json::json;

use crate::case::{Case, Expected, Given, KINDS, boolean, float, floats, foreign, int, strange, tensor};

const ADD: &str = "`add(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`";
/// All that make their tensors themselves; tensors with `__dlpack__` alone have cases of their own.
const MADE: &[&str] = &["numpy", "tvm_ffi", "torch"];
const DLPACK: &[&str] = &["DLPack"];

fn good(name: impl Into<String>, function: &'static str, args: Vec<Given>) -> Case {
    Case { name: name.into(), function, args, expected: Expected::Computes, kinds: MADE }
}

fn bad(
    name: impl Into<String>,
    function: &'static str,
    args: Vec<Given>,
    class: &'static str,
    words: &[&str],
) -> Case {
    let classes: &'static [&'static str] = match class {
        "ValueError" => &["ValueError"],
        "TypeError" => &["TypeError"],
        "IndexError" => &["IndexError"],
        "RuntimeError" => &["RuntimeError"],
        "BufferError" => &["BufferError"],
        // Releases differ: some refuse an integer of more than 64 bits themselves.
        "too large" => &["OverflowError", "TypeError"],
        other => panic!("{other} is no class"),
    };
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    Case { name: name.into(), function, args, expected: Expected::Raises(classes, words), kinds: MADE }
}

impl Case {
    fn of(self, kinds: &'static [&'static str]) -> Self {
        Self { kinds, ..self }
    }
}

const A: &[f32] = &[1.0, 2.0, 3.0];
const B: &[f32] = &[10.0, 20.0, 30.5];
const C: &[f32] = &[0.0, 0.0, 0.0];

/// Arguments of `add`, one of them replaced.
fn add(position: usize, replaced: Given) -> Vec<Given> {
    let mut args = vec![floats(A), floats(B), floats(C)];
    args[position] = replaced;
    args
}

fn ramp(dtype: DType, shape: &[usize]) -> Array {
    let count = shape.iter().product::<usize>() as i128;
    let values: Vec<i128> = (0..count).map(|i| if dtype.is_bool() { i % 2 } else { i * 3 + 1 }).collect();
    Array::from_int(dtype, shape, &values)
}

/// Returns all cases.
///
/// # Panics
///
/// If two have one name.
#[must_use]
pub fn all() -> Vec<Case> {
    let lists =
        [computing(), types(), layouts(), scalars(), counts(), not_tensors(), shapes(), raising(), dlpack()];
    let cases: Vec<Case> = lists.into_iter().flatten().collect();
    let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|two| two[0] == two[1]) {
        panic!("two cases are called {:?}", twice[0]);
    }
    assert!(cases.iter().all(|case| case.kinds.iter().all(|kind| KINDS.contains(kind))), "kinds");
    cases
}

fn computing() -> Vec<Case> {
    let long: Vec<f32> = (0..1000).map(|i| i as f32 * 0.25).collect();
    let values: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.1 - 2.0).collect();
    let empty = || tensor(Array::zeros(DType::FLOAT32, &[0]));
    let one = |value: f32| tensor(Array::from_f32(&[], &[value]));
    vec![
        good("add", "add", vec![floats(A), floats(B), floats(C)]),
        good("a thousand elements", "add", vec![floats(&long), floats(&long), floats(&vec![0.0; 1000])]),
        good(
            "functions of floats",
            "softplus",
            vec![
                tensor(Array::from_f64(DType::FLOAT32, &[5, 8], &values)),
                tensor(Array::zeros(DType::FLOAT32, &[5, 8])),
            ],
        ),
        good(
            "two dimensions",
            "transposed",
            vec![tensor(ramp(DType::FLOAT64, &[2, 3])), tensor(Array::zeros(DType::FLOAT64, &[3, 2]))],
        ),
        good("zero elements", "add", vec![empty(), empty(), empty()]),
        good("no dimension", "zero_d", vec![one(4.0), one(0.0)]),
        good("calls within", "calls", vec![tensor(Array::zeros(DType::INT32, &[8])), int(47)]),
        good("a parallel loop", "in_parallel", vec![floats(&long), floats(&vec![0.0; 1000])]),
        good("a parallel loop without iterations", "in_parallel", vec![empty(), empty()]),
    ]
}

fn types() -> Vec<Case> {
    const TYPES: &[(&str, &str)] = &[
        ("bool", "reverse_bool"),
        ("int8", "reverse_int8"),
        ("int16", "reverse_int16"),
        ("int32", "reverse_int32"),
        ("int64", "reverse_int64"),
        ("uint8", "reverse_uint8"),
        ("uint16", "reverse_uint16"),
        ("uint32", "reverse_uint32"),
        ("uint64", "reverse_uint64"),
        ("float16", "reverse_float16"),
        ("float32", "reverse_float32"),
        ("float64", "reverse_float64"),
        ("bfloat16", "reverse_bfloat16"),
    ];
    let each = |(name, function): &(&str, &'static str)| {
        let dtype: DType = name.parse().expect("a type");
        let (from, to) = (ramp(dtype, &[5]), Array::zeros(dtype, &[5]));
        // numpy has no bfloat16, and what tvm_ffi's tensors are made of here is numpy's.
        let kinds = if *name == "bfloat16" { &["torch"][..] } else { MADE };
        [
            good(*name, function, vec![tensor(from.clone()), tensor(to.clone())]).of(kinds),
            good(format!("{name} by DLPack"), function, vec![foreign(from), foreign(to)]).of(DLPACK),
        ]
    };
    TYPES.iter().flat_map(each).collect()
}

fn layouts() -> Vec<Case> {
    const COMPACT: &str = "expected to be compact array";
    const NO_NEGATIVE: &[&str] = &["numpy", "tvm_ffi"];
    let rows = || tensor(ramp(DType::FLOAT32, &[3, 2]));
    let out = || tensor(Array::zeros(DType::FLOAT32, &[3, 2]));
    let aligned = "expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by";
    vec![
        good("rows apart", "strided", vec![rows().with("strides", [5, 1]), out()]),
        good("rows together", "strided", vec![rows(), out()]),
        bad(
            "columns apart",
            "strided",
            vec![rows().with("strides", [8, 2]), out()],
            "ValueError",
            &["A.strides"],
        ),
        bad(
            "elements apart",
            "add",
            add(2, floats(C).with("strides", [2])),
            "ValueError",
            &["C.strides", "#2", ADD, COMPACT, "got 2"],
        ),
        bad(
            "backwards",
            "add",
            add(0, floats(A).with("strides", [-1])),
            "ValueError",
            &["A.strides", "#0", ADD, COMPACT, "got -1"],
        )
        // torch has no such tensors.
        .of(NO_NEGATIVE),
        bad(
            "one element repeated",
            "add",
            add(0, floats(&[2.0; 3]).with("strides", [0])),
            "ValueError",
            &["A.strides", COMPACT, "got 0"],
        ),
        good("aligned to the element alone", "add", add(1, floats(B).with("skew", 4))),
        bad(
            "off by one byte",
            "add",
            add(1, floats(B).with("skew", 1)),
            "ValueError",
            &["B.data", "#1", ADD, aligned],
        ),
        bad(
            "off by two bytes",
            "add",
            add(2, floats(C).with("skew", 2)),
            "ValueError",
            &["C.data", "#2", ADD, aligned],
        ),
        // numpy's own answer, before anything of ours is called; torch has no such tensors.
        bad("read-only", "add", add(2, floats(C).with("readonly", true)), "BufferError", &["readonly"])
            .of(NO_NEGATIVE),
    ]
}

fn scalars() -> Vec<Case> {
    let five = || tensor(Array::zeros(DType::FLOAT32, &[5]));
    let with = |position: usize, given: Given| {
        let mut args = vec![five(), int(-7), int(-128), int(255), boolean(true), float(0.5)];
        args[position] = given;
        args
    };
    const SIGNATURE: &str =
        "`scalars(B: Tensor([5], float32), i: int32, b: int8, u: uint8, p: bool, x: float32)`";
    let bad = |name: &str, position, given, class, words: &[&str]| {
        let words: Vec<&str> = words.iter().copied().chain([SIGNATURE]).collect();
        bad(name, "scalars", with(position, given), class, &words)
    };
    let text = |text: &str| strange(json!({ "str": text }));
    vec![
        good("scalars", "scalars", with(0, five())),
        good("an int for a bool", "scalars", with(4, int(1))),
        good("an int for a float", "scalars", with(5, float_from_int(2))),
        good("returns an int", "twice", vec![int(21)]),
        good("returns early", "twice", vec![int(101)]),
        good("returns a float", "mean", vec![floats(A)]),
        good("returns a bool", "is_more", vec![int(1 << 40), float(0.5)]),
        bad("int32 above", 1, int(1 << 31), "ValueError", &["Invalid i", "#1", "got 2147483648"]),
        bad("int32 below", 1, int(i64::MIN), "ValueError", &["Invalid i", "#1", "got -9223372036854775808"]),
        bad(
            "int8 below",
            2,
            int(-129),
            "ValueError",
            &["Invalid b", "#2", "int8 between -128 and 127", "got -129"],
        ),
        bad("uint8 below", 3, int(-1), "ValueError", &["Invalid u", "#3", "got -1"]),
        bad("a float for an int", 1, float(1.0), "TypeError", &["#1", "expected int, but got float"]),
        bad("a str for an int", 1, text("seven"), "TypeError", &["#1", "expected int, but got str"]),
        bad("None for an int", 1, strange(json!({"none": 0})), "TypeError", &["expected int, but got None"]),
        bad(
            "a str for a float",
            5,
            text("a long string"),
            "TypeError",
            &["#5", "expected float, but got str"],
        ),
        bad("a tensor for an int", 1, five(), "TypeError", &["#1", "expected int, but got"]),
        Case {
            function: "twice",
            name: "an int of 71 bits".to_owned(),
            args: vec![strange(json!({"int": (1_i128 << 70).to_string()}))],
            ..super::cases::bad("", "twice", vec![], "too large", &["int"])
        },
    ]
}

/// An integer that Python passes where a float belongs.
fn float_from_int(value: i32) -> Given {
    let given = float(f64::from(value));
    given.replaced(json!({ "int": value }))
}

fn counts() -> Vec<Case> {
    let args = |count: usize| vec![floats(A); count];
    let bad = |count: usize, found: &str| {
        let words = ["Expected 3 arguments when calling", ADD, found];
        bad(format!("{count} arguments"), "add", args(count), "TypeError", &words)
    };
    vec![bad(0, "but got 0"), bad(2, "but got 2"), bad(4, "but got 4"), bad(40, "but got 40")]
}

fn not_tensors() -> Vec<Case> {
    let things = [
        ("None", json!({"none": 0}), "got None"),
        ("an int", json!({"int": 3}), "got int"),
        ("a bool", json!({"bool": true}), "got bool"),
        ("a float", json!({"float": 1.5}), "got float"),
        ("a short str", json!({"str": "abc"}), "got str"),
        ("a long str", json!({"str": "a string of more than seven bytes"}), "got str"),
        ("bytes", json!({"bytes": "0011223344556677"}), "got"),
        ("a list", json!({"list": [{"int": 1}, {"float": 2.0}]}), "got an array"),
        ("an empty list", json!({"list": []}), "got an array"),
        ("a function", json!({"function": 0}), "got a function"),
        ("a complex number", json!({"complex": 0}), "got"),
        ("an object", json!({"object": 0}), "got"),
        ("a dtype", json!({"dtype": "float32"}), "got"),
        ("a device", json!({"device": "cpu"}), "got"),
        ("a shape", json!({"shape": [1, 2]}), "got"),
    ];
    let each = |(name, json, found): (&str, serde_json::Value, &str)| {
        let words = ["Mismatched type on argument #2 when calling", ADD, "expected Tensor, but", found];
        bad(format!("{name} for a tensor"), "add", add(2, strange(json)), "TypeError", &words)
    };
    things.into_iter().map(each).collect()
}

fn shapes() -> Vec<Case> {
    let of = |dtype: DType, shape: &[usize]| tensor(Array::zeros(dtype, shape));
    let f32 = |shape: &[usize]| of(DType::FLOAT32, shape);
    let bad = |name: &str, position, given, class, words: &[&str]| {
        let words: Vec<&str> = words.iter().copied().chain([ADD]).collect();
        bad(name, "add", add(position, given), class, &words)
    };
    vec![
        bad(
            "two dimensions for one",
            2,
            f32(&[1, 3]),
            "ValueError",
            &["C.ndim", "#2", "expected 1, but got 2"],
        ),
        bad("no dimension for one", 0, f32(&[]), "ValueError", &["A.ndim", "#0", "expected 1, but got 0"]),
        bad("too short", 1, f32(&[2]), "ValueError", &["B.shape[0]", "#1", "A.shape[0] (3), but got 2"]),
        bad("too long", 2, f32(&[4]), "ValueError", &["C.shape[0]", "#2", "A.shape[0] (3), but got 4"]),
        bad("empty beside others", 2, f32(&[0]), "ValueError", &["C.shape[0]", "but got 0"]),
        bad(
            "int32 for float32",
            1,
            of(DType::INT32, &[3]),
            "TypeError",
            &["B.dtype", "float32, but got int32"],
        ),
        bad("float64 for float32", 1, of(DType::FLOAT64, &[3]), "TypeError", &["B.dtype", "got float64"]),
        bad("float16 for float32", 2, of(DType::FLOAT16, &[3]), "TypeError", &["C.dtype", "got float16"]),
        bad("bool for float32", 0, of(DType::BOOL, &[3]), "TypeError", &["A.dtype", "got bool"]),
        super::cases::bad(
            "a wrong fixed extent",
            "transposed",
            vec![of(DType::FLOAT64, &[2, 4]), of(DType::FLOAT64, &[3, 2])],
            "ValueError",
            &["A.shape[1]", "#0", "`transposed(", "expected 3, but got 4"],
        ),
    ]
}

/// Errors that kernels raise themselves.
fn raising() -> Vec<Case> {
    let bad = |count: usize, class, words: &str| {
        bad(format!("raises {words}"), "asserts", vec![floats(&vec![0.0; count])], class, &[words])
    };
    let mut worker = vec![1.0; 64];
    worker[63] = 1000.0;
    vec![
        bad(1, "ValueError", "one element"),
        bad(2, "TypeError", "two elements"),
        bad(3, "RuntimeError", "three elements"),
        bad(4, "IndexError", "four elements: grün"),
        // A kind that no class is called by.
        bad(5, "RuntimeError", "five elements"),
        good("raises nothing", "asserts", vec![floats(&[0.0; 6])]),
        super::cases::bad("too large", "mean", vec![floats(&[200.0, 1.0])], "ValueError", &["too large"]),
        super::cases::bad(
            "too large in a parallel loop",
            "in_parallel",
            vec![floats(&[1e10]), floats(&[0.0])],
            "ValueError",
            &["too large"],
        ),
    ]
}

/// Tensors that nobody's library makes.
fn dlpack() -> Vec<Case> {
    let a = || foreign(Array::from_f32(&[3], A));
    let good = |name: &str, given| good(format!("DLPack {name}"), "add", add(0, given)).of(DLPACK);
    let bad = |name: &str, given, class, words: &[&str]| {
        let words: Vec<&str> = words.iter().copied().chain([ADD]).collect();
        bad(format!("DLPack {name}"), "add", add(0, given), class, &words).of(DLPACK)
    };
    let empty = foreign(Array::zeros(DType::FLOAT32, &[0]));
    let nothing = tensor(Array::zeros(DType::FLOAT32, &[0]));
    let dtype =
        |code: u8, bits: u8, lanes: u16| a().with("dtype", vec![u16::from(code), u16::from(bits), lanes]);
    let unknown = |code| format!("float32, but got dtype code {code} of 32 bits and 1 lanes");
    vec![
        good("alone", a()),
        good("with strides", a().with("strides", [1])),
        good("with an offset", a().with("byte_offset", 64)),
        good("with an offset that aligns", a().with("byte_offset", 2)),
        Case {
            args: vec![empty.with("no_data", true), nothing.clone(), nothing],
            ..good("without elements and data", a())
        },
        bad("without data", a().with("no_data", true), "ValueError", &["A data pointer is NULL", "#0"]),
        bad(
            "on another device",
            a().with("device", [2, 0]),
            "ValueError",
            &["A.device_type", "cpu", "device type 2"],
        ),
        bad("on no device", a().with("device", [99, 0]), "ValueError", &["A.device_type", "device type 99"]),
        bad(
            "of another number",
            a().with("device", [1, 3]),
            "ValueError",
            &["B.device_id", "A.device_id (3)", "got 0"],
        ),
        bad("of an unknown type", dtype(9, 32, 1), "TypeError", &["A.dtype", &unknown(9)]),
        bad("of a type of code 200", dtype(200, 32, 1), "TypeError", &["A.dtype", &unknown(200)]),
        bad("of vectors", dtype(2, 32, 4), "TypeError", &["A.dtype", "32 bits and 4 lanes"]),
        bad("of complex numbers", dtype(5, 32, 1), "TypeError", &["A.dtype"]),
        bad("not aligned", a().with("skew", 2), "ValueError", &["A.data", "beyond by 2"]),
        bad("of a negative extent", a().with("shape", [-1]), "ValueError", &["A.shape[0]", "got -1"]),
        bad(
            "of a huge extent",
            a().with("shape", [1_i64 << 40]),
            "ValueError",
            &["A.shape[0]", "got 1099511627776"],
        ),
        bad("with wide strides", a().with("strides", [2]), "ValueError", &["A.strides", "got 2"]),
    ]
}
