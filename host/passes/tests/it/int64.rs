//! Rules INT64-W1 to INT64-W8 of `lower_int64`: on the interpreter, a module gives the same bits
//! before and after it.

use std::sync::Arc;

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::validate::validate;
use chipdock_ir::{
    AttrValue, BinaryOp, Child, CompareOp, DType, DeclaredKind, Expr, ExprKind, IrModule, Op, Param,
    PrimFunc, Stage, Target, TargetCapabilities, ThreadAxis, Var, attr, build, print,
};
use chipdock_passes::simplify::simplify;
use chipdock_passes::{Fault, LowerOptions, PassError, lower, lower_int64};
use proptest::prelude::*;

use crate::capabilities::device;

/// A device that has every type but int64 and uint64.
fn capabilities() -> TargetCapabilities {
    device().with(|it| it.types.missing_types = vec![DType::INT64, DType::UINT64])
}

fn is_wide(dtype: DType) -> bool {
    dtype.is_integer() && dtype.bits == 64
}

/// Whether an integer of 64 bits is left anywhere.
fn is_left(module: &IrModule) -> bool {
    let mut found = false;
    for function in &module.functions {
        found |= function.params.iter().any(|param| match param {
            Param::Var(var) => is_wide(var.dtype),
            Param::Buffer(buffer) => is_wide(buffer.dtype),
        });
        function.body.walk(&mut |child| {
            if let Child::Expr(expr) = child {
                expr.walk(&mut |e| found |= is_wide(e.dtype));
            }
        });
    }
    found
}

/// The module lowered, simplified as the pipeline does.
fn lowered(module: &IrModule) -> IrModule {
    let lowered = simplify(&lower_int64(module, &capabilities()).unwrap(), &capabilities()).unwrap();
    assert!(!is_left(&lowered), "{}", print::module(&lowered));
    if let Err(problems) = validate(&lowered, Stage::Flattened) {
        unreachable!("not valid: {problems:?}\n{}", print::module(&lowered));
    }
    lowered
}

/// An array of words over the same bytes.
fn in_words(array: &Array) -> Array {
    if !is_wide(array.dtype) {
        return array.clone();
    }
    Array { dtype: DType::UINT32, shape: vec![array.data.len() / 4], data: array.data.clone() }
}

fn run(module: &IrModule, mut args: Vec<Arg>) -> Vec<Vec<u8>> {
    let ran = Interpreter::new(module).run("f", &mut args);
    if let Err(error) = ran {
        unreachable!("{error}\n{}", print::module(module));
    }
    let bytes = |arg: Arg| match arg {
        Arg::Tensor(array) => Some(array.data),
        _ => None,
    };
    args.into_iter().filter_map(bytes).collect()
}

/// Runs `f` before and after, and holds what all tensors then are to each other.
fn same(module: &IrModule, args: &[Arg]) {
    let after = lowered(module);
    let in_words = |arg: &Arg| match arg {
        Arg::Tensor(array) => Arg::Tensor(in_words(array)),
        other => other.clone(),
    };
    let (expected, found) = (run(module, args.to_vec()), run(&after, args.iter().map(in_words).collect()));
    assert_eq!(expected, found, "{}\n{}", print::module(module), print::module(&after));
}

/// Values where carries, signs and halves of words are.
const EDGES: &[i128] = &[
    0,
    1,
    -1,
    2,
    3,
    -7,
    10,
    31,
    32,
    33,
    63,
    64,
    0xffff,
    0x1_0000,
    -0x1_0001,
    0x7fff_ffff,
    0x8000_0000,
    -0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x1_0000_0001,
    -0x1_0000_0000,
    0x7fff_ffff_0000_0000,
    0x1234_5678_9abc_def0,
    0x00ff_ffff_8000_0001,
    -0x0fed_cba9_8765_4321,
    i64::MAX as i128,
    i64::MIN as i128,
    i64::MIN as i128 + 1,
    0x4000_0000_0000_0001,
];

/// All pairs of the values.
fn pairs(values: &[i128], dtype: DType) -> (Array, Array) {
    let all = || values.iter().flat_map(|a| values.iter().map(move |b| (dtype.wrap(*a), dtype.wrap(*b))));
    let (first, second): (Vec<i128>, Vec<i128>) = all().unzip();
    let array = |values: &[i128]| Array::from_int(dtype, &[values.len()], values);
    (array(&first), array(&second))
}

/// What is made of two integers, and of what type it is.
type Make = (DType, fn(Expr, Expr) -> Expr);

fn call(op: Op, args: Vec<Expr>) -> Expr {
    let dtype = op.result_dtype(&args).unwrap();
    Expr::call(op, args, dtype)
}

/// Every operation of two integers of a type, with vectors of as many lanes as those have.
fn operations(dtype: DType) -> Vec<Make> {
    let mut all: Vec<Make> = vec![
        (dtype, |a, b| a + b),
        (dtype, |a, b| a - b),
        (dtype, |a, b| a * b),
        (dtype, |a, b| Expr::binary(BinaryOp::Div, a, b)),
        (dtype, |a, b| Expr::binary(BinaryOp::Mod, a, b)),
        (dtype, |a, b| Expr::binary(BinaryOp::FloorDiv, a, b)),
        (dtype, |a, b| Expr::binary(BinaryOp::FloorMod, a, b)),
        (dtype, |a, b| Expr::binary(BinaryOp::Min, a, b)),
        (dtype, |a, b| Expr::binary(BinaryOp::Max, a, b)),
        (dtype, |a, b| call(Op::BitwiseAnd, vec![a, b])),
        (dtype, |a, b| call(Op::BitwiseOr, vec![a, b])),
        (dtype, |a, b| call(Op::BitwiseXor, vec![a, b])),
        (dtype, |a, _| call(Op::BitwiseNot, vec![a])),
        (dtype, |a, b| call(Op::ShiftLeft, vec![a, b])),
        (dtype, |a, b| call(Op::ShiftRight, vec![a, b])),
        (dtype, |a, _| call(Op::Abs, vec![a])),
        (dtype, |a, _| call(Op::Popcount, vec![a])),
        (DType::INT32, |a, _| call(Op::Clz, vec![a])),
        (dtype, |a, b| Expr::select(Expr::compare(CompareOp::Lt, a.clone(), b.clone()), b, a)),
        (dtype, |a, b| (a.clone() - b.clone()) * (a + b)),
        (DType::INT32, |a, b| {
            let dtype = DType::INT32.with_lanes(a.dtype.lanes);
            (a * b).cast(dtype)
        }),
        (DType::FLOAT64, |a, _| call_reinterpret(a)),
    ];
    for op in CompareOp::ALL {
        all.push((
            DType::BOOL,
            match op {
                CompareOp::Eq => |a, b| Expr::compare(CompareOp::Eq, a, b),
                CompareOp::Ne => |a, b| Expr::compare(CompareOp::Ne, a, b),
                CompareOp::Lt => |a, b| Expr::compare(CompareOp::Lt, a, b),
                CompareOp::Le => |a, b| Expr::compare(CompareOp::Le, a, b),
                CompareOp::Gt => |a, b| Expr::compare(CompareOp::Gt, a, b),
                CompareOp::Ge => |a, b| Expr::compare(CompareOp::Ge, a, b),
            },
        ));
    }
    all
}

fn call_reinterpret(a: Expr) -> Expr {
    let dtype = DType::FLOAT64.with_lanes(a.dtype.lanes);
    Expr::call(Op::Reinterpret, vec![a], dtype)
}

/// `C[i] = make(A[i], B[i])`, `lanes` elements at once.
fn elementwise(dtype: DType, n: usize, lanes: u16, (to, make): Make) -> IrModule {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [n as i32], dtype), f.buffer("B", [n as i32], dtype));
    let c = f.buffer("C", [n as i32], to);
    f.range("i", n as i32 / i32::from(lanes), |f, i| {
        let at = if lanes == 1 { i } else { (i * Expr::i32(lanes.into())).ramp(Expr::i32(1), lanes) };
        let value = make(Expr::load(&a, vec![at.clone()]), Expr::load(&b, vec![at.clone()]));
        f.store(&c, [&at], value);
    });
    let mut function = f.finish();
    function.s_tir = false;
    build::module([function])
}

fn check(dtype: DType, values: &[i128], lanes: u16, make: Make) {
    let (a, b) = pairs(values, dtype);
    let n = a.shape[0];
    let c = Array::zeros(make.0, &[n]);
    same(&elementwise(dtype, n, lanes, make), &[a, b, c].map(Arg::Tensor));
}

/// INT64-W2, INT64-W3.
#[test]
fn every_operation_gives_the_same_bits() {
    for dtype in [DType::INT64, DType::UINT64] {
        for make in operations(dtype) {
            check(dtype, EDGES, 1, make);
            check(dtype, &EDGES[..28], 4, make);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// INT64-W2: the same of random integers, of all sizes.
    #[test]
    fn random_integers_too(bits in prop::collection::vec((any::<u64>(), 0_u32..64), 12)) {
        let values: Vec<i128> = bits.iter().map(|(bits, by)| i128::from((*bits as i64) >> by)).collect();
        for dtype in [DType::INT64, DType::UINT64] {
            for make in operations(dtype) {
                check(dtype, &values, 1, make);
            }
        }
    }
}

/// `B[i] = cast(A[i])`.
fn cast(from: DType, to: DType, values: Array) {
    let n = values.shape[0];
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [n as i32], from), f.buffer("B", [n as i32], to));
    f.range("i", n as i32, |f, i| f.store(&b, [&i], Expr::load(&a, vec![i.clone()]).cast(to)));
    let mut function = f.finish();
    function.s_tir = false;
    same(&build::module([function]), &[Arg::Tensor(values), Arg::Tensor(Array::zeros(to, &[n]))]);
}

/// INT64-W2: casts to and from every other type. Halves of units in the last place are among the
/// integers.
#[test]
fn casts_are_rounded_once_and_saturate() {
    let near = |bits: u32| (-3_i128..=3).flat_map(move |d| [(1 << bits) + d, 3 * (1 << (bits - 1)) + d]);
    let mut integers: Vec<i128> = EDGES.to_vec();
    integers.extend((4..63).flat_map(near));
    // Just above, at and below the middle of two neighbours of 24 and of 8 digits.
    for digits in [8, 11, 24, 53] {
        for bits in digits + 1..63 {
            let half = 1_i128 << (bits - digits);
            let base = 1_i128 << bits;
            integers.extend([-1, 0, 1].iter().flat_map(|d| [base + half + d, base + 3 * half + d]));
        }
    }
    let floats: Vec<f64> = integers
        .iter()
        .flat_map(|value| [*value as f64, -*value as f64, *value as f64 + 0.75])
        .chain([0.0, -0.0, 0.5, -0.99, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e30, -1e30, 5e-320])
        .collect();
    for wide in [DType::INT64, DType::UINT64] {
        let wrapped: Vec<i128> = integers.iter().flat_map(|v| [wide.wrap(*v), wide.wrap(-v)]).collect();
        for to in DType::SCALARS.iter().copied().filter(|to| !to.is_handle()) {
            cast(wide, to, Array::from_int(wide, &[wrapped.len()], &wrapped));
            let values = if to.is_float() {
                Array::from_f64(to, &[floats.len()], &floats)
            } else {
                let values: Vec<i128> = integers.iter().map(|value| to.wrap(*value)).collect();
                Array::from_int(to, &[values.len()], &values)
            };
            cast(to, wide, values);
        }
    }
}

fn one(f: build::FunctionBuilder) -> IrModule {
    let mut function = f.finish();
    function.s_tir = false;
    build::module([function])
}

fn int64(value: i128) -> Expr {
    Expr::int(value, DType::INT64)
}

/// INT64-W1: what fits 32 bits by its range leaves no pair behind.
#[test]
fn values_that_fit_are_computed_in_32_bits() {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [64], DType::INT32), f.buffer("B", [64], DType::INT32));
    f.range("i", int64(8), |f, i| {
        f.range("j", int64(8), |f, j| {
            let at = i.clone() * int64(8) + j.clone();
            let turned = Expr::binary(BinaryOp::FloorMod, at.clone() * int64(5) + int64(3), int64(64));
            let condition = Expr::compare(CompareOp::Lt, turned.clone(), int64(60));
            let value = Expr::load(&a, vec![turned.clone()]) + turned.cast(DType::INT32);
            f.if_then(condition, |f| f.store(&b, [&at], value));
        });
    });
    let module = one(f);
    let values: Vec<i128> = (0..64).collect();
    let args = [Array::from_int(DType::INT32, &[64], &values), Array::zeros(DType::INT32, &[64])];
    same(&module, &args.map(Arg::Tensor));
    let after = lowered(&module);
    let mut is_pair = false;
    after.functions[0].body.walk_exprs(&mut |e| {
        is_pair |= e.dtype.is_uint() || matches!(e.kind, ExprKind::Let { .. } | ExprKind::Select(..));
    });
    assert!(!is_pair, "{}", print::module(&after));
}

/// INT64-W5: a branch that must not run reads nothing.
#[test]
fn branches_are_evaluated_alone() {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [4], DType::INT64), f.buffer("B", [8], DType::INT64));
    let c = f.buffer("C", [8], DType::BOOL);
    f.range("i", 8, |f, i| {
        let inside = || Expr::compare(CompareOp::Lt, i.clone(), Expr::i32(4));
        let read = Expr::load(&a, vec![i.clone()]) * int64(3);
        let value = Expr::call(Op::IfThenElse, vec![inside(), read.clone(), int64(-5)], DType::INT64);
        f.store(&b, [&i], value + int64(1 << 40));
        f.store(&c, [&i], inside().and(Expr::compare(CompareOp::Gt, read, int64(1 << 33))));
    });
    let values = [1, -1, 1 << 40, i128::from(i64::MAX)];
    let args = [
        Array::from_int(DType::INT64, &[4], &values),
        Array::zeros(DType::INT64, &[8]),
        Array::zeros(DType::BOOL, &[8]),
    ];
    same(&one(f), &args.map(Arg::Tensor));
}

/// A store sees what was there before it in both words; a value that is bound is what it was when
/// it was bound.
#[test]
fn values_are_those_before_the_store() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::INT64);
    f.range("i", 3, |f, i| {
        let next = i.clone() + Expr::i32(1);
        let kept = f.bind("kept", Expr::load(&a, vec![i.clone()]));
        f.store(&a, [&i], Expr::load(&a, vec![i.clone()]) * Expr::load(&a, vec![i.clone()]) - int64(1));
        f.store(&a, [&next], Expr::load(&a, vec![next.clone()]) + kept);
    });
    let values = [0x1_2345_6789, -3, 1 << 62, 5];
    same(&one(f), &[Arg::Tensor(Array::from_int(DType::INT64, &[4], &values))]);
}

/// INT64-W6: a loop whose bounds are loaded counts on in both words, and may be left and gone on
/// with.
#[test]
fn loops_past_int32_count_in_memory() {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [2], DType::INT64), f.buffer("B", [32], DType::INT64));
    let at = f.buffer("at", [1], DType::INT32);
    let (min, extent) = (Expr::load(&a, vec![Expr::i32(0)]), Expr::load(&a, vec![Expr::i32(1)]));
    f.for_each(build::Loop::serial("i", extent).from(min).step(int64(3)), |f, i| {
        let odd = Expr::binary(BinaryOp::FloorMod, i.clone(), int64(2));
        f.if_then(Expr::compare(CompareOp::Eq, odd, int64(1)), |f| f.continue_loop());
        let n = Expr::load(&at, vec![Expr::i32(0)]);
        f.store(&b, [&n], i.clone());
        f.store(&at, [&Expr::i32(0)], n + Expr::i32(1));
        f.if_then(Expr::compare(CompareOp::Ge, i, int64(0x1_0000_0010)), |f| f.break_loop());
    });
    let module = one(f);
    for (min, extent) in [(0, 7), (0xffff_fff8, 1 << 40), (5, 0), (-4, -1), (i128::from(i64::MIN), 4)] {
        let args = [
            Array::from_int(DType::INT64, &[2], &[min, extent]),
            Array::zeros(DType::INT64, &[32]),
            Array::zeros(DType::INT32, &[1]),
        ];
        same(&module, &args.map(Arg::Tensor));
    }
}

/// INT64-W3: elements that are vectors, read by lanes and several at once.
#[test]
fn elements_of_several_lanes_are_lanes_in_a_row() {
    let pairs = DType::INT64.with_lanes(2);
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [8], pairs), f.buffer("B", [8], pairs));
    f.range("i", 4, |f, i| {
        let last = Expr::i32(7) - i.clone();
        f.store(&b, [&last], Expr::load(&a, vec![i.clone()]) * Expr::int(1 << 20, pairs));
    });
    let at = Expr::i32(3).ramp(Expr::i32(-1), 4);
    let four = Expr::load(&a, vec![Expr::i32(4).ramp(Expr::i32(1), 4)]);
    f.store(&b, [&at], four.clone() + Expr::int(1, four.dtype));
    let values: Vec<i128> = (0..16).map(|value| (value - 5) << 30).collect();
    let args = [Array::from_int(pairs, &[8], &values), Array::zeros(pairs, &[8])];
    same(&one(f), &args.map(Arg::Tensor));
}

/// INT64-W7: what a function takes and gives goes through two words each.
#[test]
fn functions_take_and_give_words() {
    let mut g = build::function("g");
    let (x, y) = (g.scalar("x", DType::INT64), g.scalar("y", DType::UINT64));
    g.returns(DType::INT64);
    g.if_then(Expr::compare(CompareOp::Lt, x.clone(), int64(0)), |g| g.return_value(x.clone()));
    g.return_value(x * int64(3) + y.cast(DType::INT64));
    let mut g = g.finish();
    g.s_tir = false;
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::INT64);
    f.range("i", 4, |f, i| {
        let value = Expr::load(&a, vec![i.clone()]);
        let args = vec![value.clone(), value.cast(DType::UINT64)];
        let callee = chipdock_ir::Callee::Global("g".into());
        f.store(&a, [&i], Expr::new(ExprKind::Call { callee, args }, DType::INT64));
    });
    let mut f = f.finish();
    f.s_tir = false;
    let values = [7, -(1 << 40), 1 << 61, -1];
    same(&build::module([f, g]), &[Arg::Tensor(Array::from_int(DType::INT64, &[4], &values))]);
}

/// INT64-W8: a kernel's own parameters are of 32 bits.
#[test]
fn parameters_of_kernels_are_short() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::INT64);
    let (x, y) = (f.scalar("x", DType::INT64), f.scalar("y", DType::UINT64));
    f.store(&a, [&Expr::i32(0)], x.clone() * int64(1 << 20));
    f.store(&a, [&Expr::i32(1)], y.cast(DType::INT64) * x);
    let mut function: PrimFunc = f.finish();
    function.s_tir = false;
    function.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(2));
    let module = build::module([function]);
    let types = |module: &IrModule| -> Vec<DType> {
        let of = |param: &Param| if let Param::Var(var) = param { Some(var.dtype) } else { None };
        module.functions[0].params.iter().filter_map(of).collect()
    };
    assert_eq!(types(&lowered(&module)), [DType::INT32, DType::UINT32]);
    let args = [Arg::Tensor(Array::zeros(DType::INT64, &[4])), Arg::Int(-5), Arg::Int(0xffff_fff0)];
    same(&module, &args);
}

/// A size that int32 does not hold is an error of the host function; another scalar goes to the
/// kernel in words.
#[test]
fn the_host_checks_sizes_and_parts_scalars() {
    let n = Var::new("n", DType::INT64);
    let mut f = build::function("f");
    f.buffer("A", vec![n.expr(), int64(0)], DType::FLOAT32);
    let b = f.buffer("B", [4], DType::INT64);
    let factor = f.scalar("factor", DType::INT64);
    f.thread_binding("i", 4, ThreadAxis::ThreadX, |f, i| f.store(&b, [&i], n.expr() * factor));
    let mut function = f.finish();
    function.s_tir = false;
    let lowered = lower(&build::module([function]), &LowerOptions::new(Arc::new(capabilities()))).unwrap();
    let device = lowered.device.unwrap();
    assert!(!is_left(&device), "{}", print::module(&device));
    let functions = lowered.module.functions.iter().chain(&device.functions).cloned().collect();
    let whole = IrModule { functions, attrs: lowered.module.attrs };
    let run = |n: usize, factor: i128| {
        let tensors = [Array::zeros(DType::FLOAT32, &[n, 0]), Array::zeros(DType::INT64, &[4])];
        let mut args: Vec<Arg> = tensors.map(Arg::Tensor).into_iter().chain([Arg::Int(factor)]).collect();
        let outcome = Interpreter::new(&whole).run("f", &mut args).map_err(|error| error.to_string())?;
        Ok::<_, String>(outcome.output("B").unwrap().array.to_int())
    };
    let most = i32::MAX as usize;
    for factor in [3, -1, 1 << 40, i64::MIN.into()] {
        let product = DType::INT64.wrap(most as i128 * factor);
        assert_eq!(run(most, factor).unwrap(), [product; 4]);
    }
    let error = run(most + 1, 1).unwrap_err();
    let wanted = "expected n within the int32 that indices of the device have, found 2147483648";
    assert!(error.contains(wanted), "{error}");
}

/// What cannot be said in words is refused by name, and says whose fault it is.
#[test]
fn an_expression_that_is_no_arithmetic_is_refused() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::INT64);
    let address = Expr::call(Op::AddressOf, vec![Expr::load(&a, vec![Expr::i32(0)])], DType::HANDLE);
    f.evaluate(Expr::call(Op::AtomicAdd, vec![address, int64(1)], DType::INT64));
    let error = lower_int64(&one(f), &capabilities()).unwrap_err().to_string();
    let wanted = "target \"device-kind\" has no integers of 64 bits, and atomic_add of one cannot be made of two of 32 bits";
    assert!(error.contains(wanted), "{error}");
}

/// A kernel whose branch has a function of float64, for a device with these types missing.
fn lowered_branch(op: Op, missing: Vec<DType>) -> Result<chipdock_passes::Lowered, PassError> {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::FLOAT64);
    f.range("i", 4, |f, i| {
        f.block("A", |f| {
            let [v] = f.remap([build::S], ["v"], [&i]);
            let value = Expr::call(op, vec![a.at(&v)], DType::FLOAT64);
            f.store(&a, &v, a.at(&v).gt(0.0).then_else(value, 0.0));
        });
    });
    let module = build::module([f.finish()]);
    lower(&module, &LowerOptions::new(Arc::new(device().with(|it| it.types.missing_types = missing))))
}

/// PASS-L6: a branch is an expression, and the steps of its words are levels of it.
#[test]
fn pass_l6_a_branch_that_becomes_too_deep_is_refused_by_name() {
    let words = vec![DType::INT64, DType::UINT64];
    let error = lowered_branch(Op::Sin, words.clone()).unwrap_err();
    assert_eq!(error.fault, Fault::Target, "{error}");
    assert!(
        error.to_string().contains("once it is lowered for target \"device-kind\", it nests more than 256"),
        "{error}"
    );
    lowered_branch(Op::Sin, Vec::new()).unwrap();
    lowered_branch(Op::Exp, words).unwrap();
}

/// What a device lacks is left for the code generator, which refuses it by name.
#[test]
fn functions_of_a_type_that_is_missing_are_left() {
    let missing = vec![DType::INT64, DType::UINT64, DType::FLOAT64];
    let lowered = lowered_branch(Op::Sin, missing).unwrap().device.unwrap();
    assert!(print::module(&lowered).contains("T.sin("), "{}", print::module(&lowered));
}

/// Without need nothing is touched.
#[test]
fn a_device_that_has_them_keeps_them() {
    let (dtype, make) = operations(DType::INT64)[3];
    let module = elementwise(DType::INT64, 4, 1, (dtype, make));
    assert_eq!(lower_int64(&module, &device()).unwrap(), module);
    let host = capabilities().with(|it| it.is_host = true);
    assert_eq!(lower_int64(&module, &host).unwrap(), module);
}

/// TC3: whether a target of one kind is lowered depends on its option.
#[test]
fn tc3_a_target_with_the_option_keeps_its_integers() {
    let kind = r#"{"schema": 1, "name": "device-kind", "doc": "", "device": "gadget", "stage": "device",
        "optional_types": {"int64": "has_long", "uint64": "has_long"}}"#;
    let kind = DeclaredKind::parse(kind).unwrap();
    let module = elementwise(DType::INT64, 4, 1, operations(DType::INT64)[3]);
    for has_long in [true, false] {
        let options = [("has_long".to_owned(), has_long.into())].into();
        let target = Arc::new(Target { kind: "device-kind".into(), options, ..Target::default() });
        let lowered = lower_int64(&module, &kind.usable().unwrap().capabilities(&target, 4)).unwrap();
        assert_eq!((is_left(&lowered), lowered == module), (has_long, has_long));
    }
}
