//! Tests of dot products: the instructions that processors have for them, and their values on this
//! one.

use chipdock_ir::op::DotProduct;
use chipdock_ir::{Expr, IrModule, Op, build};
use chipdock_plugin_api::{Element, HostRef, Tensor};
use serde_json::{Value, json};

use super::cross::output;
use super::kinds::canonical;
use super::support::built;

/// `C = dot_add(C, A, B)` of a number of lanes.
fn module(dot: DotProduct, lanes: u16) -> IrModule {
    let mut f = build::function("f");
    let wide = lanes * dot.group;
    let (a, b) = (f.buffer("A", [i32::from(wide)], dot.a), f.buffer("B", [i32::from(wide)], dot.b));
    let c = f.buffer("C", [i32::from(lanes)], dot.sum);
    let at = |lanes: u16| {
        if lanes == 1 { vec![Expr::i32(0)] } else { vec![Expr::i32(0).ramp(Expr::i32(1), lanes)] }
    };
    let factors = [&a, &b].map(|buffer| Expr::load(buffer, at(wide)));
    let args = [Expr::load(&c, at(lanes))].into_iter().chain(factors).collect();
    f.store(&c, at(lanes), Expr::call(Op::DotAdd, args, dot.sum.with_lanes(lanes)));
    build::module([f.finish()])
}

fn dot(name: &str) -> DotProduct {
    DotProduct::by_name(name).unwrap()
}

/// Instructions for each type. For Cascade Lake, LLVM replaces `vpdpwssd` by `vpmaddwd` and an
/// addition.
#[test]
fn processors_use_their_dot_instructions() {
    let x86 = |cpu: &str| json!({ "mtriple": "x86_64-linux-gnu", "mcpu": cpu });
    let arm = |features: &[&str]| json!({ "mtriple": "aarch64-linux-gnu", "mattr": features });
    let cases: [(Value, &str, &[&str]); 19] = [
        (x86("cascadelake"), "uint8*int8", &["vpdpbusd", "%zmm"]),
        (x86("cascadelake"), "int8*int8", &["vpdpbusd", "%zmm"]),
        (x86("cascadelake"), "uint8*uint8", &["vpdpbusd", "%zmm"]),
        (x86("cascadelake"), "int16*int16", &["vpmaddwd", "%zmm"]),
        (x86("sapphirerapids"), "uint8*int8", &["vpdpbusd", "%zmm"]),
        (x86("sapphirerapids"), "bfloat16*bfloat16", &["vdpbf16ps", "%zmm"]),
        (x86("znver4"), "uint8*int8", &["vpdpbusd", "%zmm"]),
        (x86("znver4"), "bfloat16*bfloat16", &["vdpbf16ps", "%zmm"]),
        (x86("alderlake"), "int8*int8", &["vpdpbusd", "%ymm"]),
        (x86("skylake-avx512"), "uint8*int8", &["vpmaddwd", "%zmm"]),
        (x86("haswell"), "uint8*uint8", &["vpmaddwd", "%ymm"]),
        (x86("haswell"), "int16*int16", &["vpmaddwd", "%ymm"]),
        (arm(&["+dotprod"]), "int8*int8", &["sdot\t"]),
        (arm(&["+dotprod"]), "uint8*uint8", &["udot\t"]),
        (arm(&["+dotprod"]), "uint8*int8", &["sdot\t"]),
        (arm(&["+dotprod", "+i8mm"]), "uint8*int8", &["usdot\t"]),
        (arm(&["+bf16"]), "bfloat16*bfloat16", &["bfdot\t"]),
        (json!({ "mtriple": "aarch64-apple-darwin", "mcpu": "apple-m4" }), "bfloat16*bfloat16", &["bfdot"]),
        (json!({ "mtriple": "x86_64-linux-gnu" }), "int16*int16", &["mul"]),
    ];
    for (options, name, instructions) in cases {
        let assembly = output(&module(dot(name), 16), options.clone()).assembly;
        for instruction in instructions {
            assert!(assembly.contains(instruction), "{options}, {name}: no {instruction:?} in\n{assembly}");
        }
    }
}

/// LLKIND-K8.
#[test]
fn targets_list_their_dot_products() {
    let listed = |options: Value| {
        canonical(options).str_list("dot-products").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let x86 = |cpu: &str| json!({ "mtriple": "x86_64-linux-gnu", "mcpu": cpu });
    let integers = ["uint8*int8", "int8*int8", "uint8*uint8", "int16*int16"];
    assert_eq!(listed(x86("cascadelake")), integers);
    assert_eq!(listed(x86("haswell")), integers);
    let both: Vec<&str> = integers.into_iter().chain(["bfloat16*bfloat16"]).collect();
    assert_eq!(listed(x86("sapphirerapids")), both);
    assert_eq!(listed(x86("x86-64")), [""; 0]);
    assert_eq!(listed(json!({ "mtriple": "aarch64-linux-gnu" })), [""; 0]);
    let some =
        json!({ "mtriple": "x86_64-linux-gnu", "mcpu": "cascadelake", "dot-products": ["uint8*int8"] });
    assert_eq!(listed(some), ["uint8*int8"]);
}

/// Integers of a type: the extremes, and some between.
fn numbers<T: Integer>(n: usize, by: usize) -> Vec<T> {
    (0..n).map(|i| T::number((i * by + i / 7) % 11)).collect()
}

trait Integer: Element {
    /// The least value for 0, the greatest for 1, one between for others.
    fn number(step: usize) -> Self;
    fn wide(self) -> i64;
}

macro_rules! element {
    ($($type:ident)*) => {
        $(impl Integer for $type {
            fn number(step: usize) -> Self {
                let (least, most) = (i64::from($type::MIN), i64::from($type::MAX));
                (match step {
                    0 => least,
                    1 => most,
                    _ => least + (most - least) * step as i64 / 11,
                }) as $type
            }
            fn wide(self) -> i64 {
                self.into()
            }
        })*
    };
}

element!(i8 u8 i16);

/// Runs a product on every number of lanes, with a target's instructions, on this machine.
fn check<A: Integer, B: Integer>(name: &str, options: &Value) {
    let dot = dot(name);
    for lanes in [1, 2, 3, 4, 7, 8, 16, 21] {
        let loaded = built(&module(dot, lanes), options.clone(), &json!({})).load().unwrap();
        let function = loaded.function("f").unwrap().unwrap();
        let (wide, group) = (usize::from(lanes * dot.group), usize::from(dot.group));
        let (a, b) = (numbers::<A>(wide, 3), numbers::<B>(wide, 5));
        let sums: Vec<i32> = (0..i32::from(lanes)).map(|i| i32::MAX - i * 1000).collect();
        let expected: Vec<i32> = (0..usize::from(lanes))
            .map(|lane| {
                let part = lane * group..(lane + 1) * group;
                part.fold(i64::from(sums[lane]), |sum, at| sum + a[at].wide() * b[at].wide()) as i32
            })
            .collect();
        let c = Tensor::from_slice(&[i64::from(lanes)], &sums).unwrap();
        let (a, b) = (
            Tensor::from_slice(&[wide as i64], &a).unwrap(),
            Tensor::from_slice(&[wide as i64], &b).unwrap(),
        );
        function.call(HostRef::standalone(), &[(&a).into(), (&b).into(), (&c).into()]).unwrap();
        assert_eq!(c.to_vec::<i32>().unwrap(), expected, "{options} {name} of {lanes}");
    }
}

/// Every type of integers in any number of lanes, with the instructions of this processor and
/// without some of them.
#[test]
fn dot_products_of_integers_are_exact() {
    let mut all = vec![json!({})];
    if cfg!(target_arch = "x86_64") {
        all.extend(["-avx512vnni", "-avx512f", "-avx2"].map(|feature| json!({ "mattr": [feature] })));
    }
    for options in all {
        check::<u8, i8>("uint8*int8", &options);
        check::<i8, i8>("int8*int8", &options);
        check::<u8, u8>("uint8*uint8", &options);
        check::<i16, i16>("int16*int16", &options);
    }
}
