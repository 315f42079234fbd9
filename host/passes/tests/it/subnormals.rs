//! Products of bfloat16 by instructions that treat subnormal numbers as zeros: used only where none
//! can arise.

use chipdock_interpret::{Arg, Array, Interpreter, compare};
use chipdock_ir::{
    Callee, CompareOp, DType, Expr, ExprKind, IrModule, Op, PrimFunc, Stmt, TargetCapabilities, attr, build,
    print,
};
use chipdock_passes::default_schedule;
use proptest::prelude::*;

use crate::schedule::kernels::{self, Kernel};

/// A processor with dot products of bfloat16, with or without tiles for them.
fn processor(has_tiles: bool) -> TargetCapabilities {
    TargetCapabilities::host("host-kind").with(|it| {
        it.processor.vector_bits = Some(512);
        it.processor.vector_registers = Some(32);
        it.processor.l1_cache_bytes = Some(8 << 10);
        it.processor.l2_cache_bytes = Some(64 << 10);
        it.execution.dot_products = vec!["bfloat16*bfloat16".to_owned()];
        if has_tiles {
            it.execution.tile_products = it.execution.dot_products.clone();
        }
    })
}

/// A value with 0 in each lane that is subnormal.
fn flushed(value: &Expr) -> Expr {
    let lanes = value.dtype.lanes;
    let words = DType::UINT32.with_lanes(lanes);
    let bits = value.clone().cast(DType::FLOAT32.with_lanes(lanes)).reinterpret(words);
    let exponent = Expr::call(Op::BitwiseAnd, vec![bits, Expr::int(0x7f80_0000, words)], words);
    let is_small = Expr::compare(CompareOp::Eq, exponent, Expr::int(0, words));
    Expr::select(is_small, Expr::float(0.0, value.dtype), value.clone())
}

/// Dot products as processors compute them: subnormal operands and results are 0.
fn on_a_processor(e: &Expr) -> Expr {
    let e = e.map_children(&mut on_a_processor);
    match &e.kind {
        ExprKind::Call { callee: Callee::Op(Op::DotAdd), args } => {
            flushed(&Expr::call(Op::DotAdd, args.iter().map(flushed).collect(), e.dtype))
        }
        _ => e,
    }
}

fn with_flushes(module: &IrModule) -> IrModule {
    fn stmt(of: &Stmt) -> Stmt {
        of.map_children(&mut on_a_processor, &mut stmt)
    }
    let function = |function: &PrimFunc| PrimFunc { body: stmt(&function.body), ..function.clone() };
    build::module(module.functions.iter().map(function))
}

/// A number for the bits of a bfloat16.
fn number(bits: u16) -> f64 {
    f32::from_bits(u32::from(bits) << 16).into()
}

/// Compares what a scheduled kernel computes of these operands, on such a processor, with the
/// interpreter's results.
#[track_caller]
fn check(kernel: &Kernel, has_tiles: bool, operands: [&[u16]; 2]) {
    let original = build::module([kernel.function.clone()]);
    let scheduled = default_schedule(&original, &processor(has_tiles)).unwrap();
    let text = print::function(&scheduled.functions[0]);
    assert!(text.contains("dot_add"), "{text}");
    let name = &kernel.function.name;
    let args = || {
        let mut args = kernel.args();
        for ((arg, bits), shape) in args.iter_mut().zip(operands).zip(&kernel.shapes) {
            let size: usize = shape.iter().product();
            let values: Vec<f64> = bits.iter().cycle().take(size).copied().map(number).collect();
            *arg = Arg::Tensor(Array::from_f64(DType::BFLOAT16, shape, &values));
        }
        args
    };
    let expected = Interpreter::new(&original).with_bounds().run(name, &mut args()).unwrap();
    let found = Interpreter::new(&with_flushes(&scheduled)).run(name, &mut args()).unwrap();
    for (found, expected) in found.outputs.iter().zip(&expected.outputs) {
        let agrees = compare(&found.array, expected);
        assert!(agrees.is_ok(), "{}: {agrees:?}\n{operands:x?}\n{text}", expected.name);
    }
}

/// A bfloat16 of that exponent, as its bits have it.
fn bits(sign: bool, exponent: u16, digits: u16) -> u16 {
    u16::from(sign) << 15 | exponent << 7 | digits & 0x7f
}

/// One small number among zeros is not lost, whatever the other operand has.
#[test]
fn small_numbers_are_kept() {
    let kernels = [
        kernels::linear([24, 32, 40], [DType::BFLOAT16; 2]),
        kernels::linear([33, 17, 70], [DType::BFLOAT16; 2]),
    ];
    let one = bits(false, 127, 0);
    // The least subnormal number, the least normal one, and pairs whose product, or the last digit
    // of it, is just subnormal.
    let pairs = [
        [1, one],
        [0x7f, bits(false, 200, 0)],
        [bits(false, 1, 0), one],
        [bits(false, 1, 1), bits(true, 140, 1)],
        [bits(false, 1, 1), bits(true, 141, 1)],
        [bits(false, 64, 0), bits(true, 63, 0)],
        [bits(false, 71, 0x7f), bits(true, 71, 0x7f)],
        [bits(false, 71, 0x7f), bits(true, 70, 0x7f)],
        [0, 0x8000],
        [bits(false, 255, 0), bits(false, 3, 0)],
        [bits(false, 255, 1), 0],
    ];
    for kernel in &kernels {
        for [a, b] in pairs {
            for has_tiles in [false, true] {
                check(kernel, has_tiles, [&[a, 0, 0, 0, 0], &[b, one]]);
                check(kernel, has_tiles, [&[0, b], &[0, 0, 0x8000, a]]);
            }
        }
        // Products that leave the product of the last digits: just subnormal, and just normal.
        for exponents in [[71, 70], [71, 71]] {
            let number = |at: usize, sign: bool, digits: u16| bits(sign, exponents[at], digits);
            let (a, b) =
                ([number(0, false, 1), number(0, true, 2)], [number(1, false, 1), number(1, false, 0)]);
            let a: Vec<u16> = a.into_iter().chain([0; 8]).collect();
            let b: Vec<u16> = b.into_iter().chain([0; 8]).collect();
            for has_tiles in [false, true] {
                check(kernel, has_tiles, [&a, &b]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the exponents of the operands: sums that cancel to little are kept too.
    #[test]
    fn results_do_not_depend_on_the_instructions(
        exponents in (0_u16..150, 0_u16..150),
        numbers in prop::collection::vec(any::<(bool, u16, u16)>(), 8..40),
        is_spread in any::<bool>(),
        has_tiles in any::<bool>(),
    ) {
        let operand = |least: u16, by: usize| -> Vec<u16> {
            let exponent = |more: u16| least + if is_spread { more % 100 } else { more % 3 };
            let all = numbers.iter().cycle().skip(by).take(numbers.len());
            all.map(|&(sign, more, digits)| bits(sign, exponent(more), digits)).collect()
        };
        let kernel = kernels::linear([24, 25, 40], [DType::BFLOAT16; 2]);
        check(&kernel, has_tiles, [&operand(exponents.0, 0), &operand(exponents.1, 3)]);
    }
}

/// A look at operands has to pay: each element is used 16 times, also of sizes that are known at
/// run time only.
#[test]
fn operands_are_looked_through_where_each_element_is_used_often() {
    let text = |kernel: &Kernel| {
        let module = default_schedule(&build::module([kernel.function.clone()]), &processor(false)).unwrap();
        print::function(&module.functions[0])
    };
    for (size, pays) in [([16, 32, 64], true), ([15, 64, 64], false), ([64, 15, 64], false)] {
        let text = text(&kernels::linear(size, [DType::BFLOAT16; 2]));
        assert_eq!(text.contains("dot_add"), pays, "{size:?}\n{text}");
        assert_eq!(text.contains("sblock(\"A_least\")"), pays, "{size:?}\n{text}");
    }
    for size in [[16, 24, 33], [15, 40, 41], [0, 40, 40], [40, 40, 0]] {
        let kernel = kernels::any_linear(size, [DType::BFLOAT16; 2]);
        let text = text(&kernel);
        assert!(text.contains("m >= 16 and n >= 16"), "{text}");
        check(&kernel, false, [&[bits(false, 1, 1), 0], &[bits(false, 127, 0)]]);
        check(&kernel, false, [&[bits(false, 127, 1), 0], &[bits(false, 127, 0)]]);
    }
}

/// Parameters that may overlap are compared first; what is computed of the operands by the function
/// is not looked through.
#[test]
fn only_parameters_are_looked_through() {
    let mut kernel = kernels::linear([24, 32, 40], [DType::BFLOAT16; 2]);
    kernel.function.attrs.remove(attr::NOALIAS);
    check(&kernel, false, [&[bits(false, 2, 1), 0], &[bits(false, 127, 0)]]);
}
