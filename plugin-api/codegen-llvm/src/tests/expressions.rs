//! Tests of expressions: texts of representative nodes, refusals, shared nodes, and invalid nodes.

use chipdock_ir::{
    Attrs, BinaryOp, Buffer, Callee, CompareOp, DType, Diagnostic, Expr, ExprKind, FloatBits, IrModule, Op,
    Param, PrimFunc, Stmt, StmtKind, StorageScope, TypeCode, Var,
};

use super::support::Plain;
use crate::{FastMath, Options, unsupported, write_module};

/// A function that returns an expression of its parameters.
fn returning(params: &[DType], make: impl Fn(&[Expr]) -> Expr) -> IrModule {
    let vars: Vec<Var> = params.iter().map(|dtype| Var::new("x", *dtype)).collect();
    let value = make(&vars.iter().map(Var::expr).collect::<Vec<_>>());
    let function = PrimFunc {
        name: "f".into(),
        params: vars.into_iter().map(Param::Var).collect(),
        ret: Some(value.dtype),
        attrs: Attrs::new(),
        s_tir: false,
        alloc_buffers: vec![],
        body: Stmt::new(StmtKind::Return(Some(value))),
    };
    IrModule { functions: vec![function], attrs: Attrs::new() }
}

/// The instructions of such a function, one a line, without what is said of the function itself.
fn lines_for(target: &Plain, params: &[DType], make: impl Fn(&[Expr]) -> Expr) -> Vec<String> {
    let text = write_module(&returning(params, make), target, &Options::default()).unwrap().text;
    let (_, rest) = text.split_once("body:\n").unwrap();
    let (body, _) = rest.split_once("}\n").unwrap();
    body.lines().map(|line| line.trim().to_owned()).collect()
}

fn lines(params: &[DType], make: impl Fn(&[Expr]) -> Expr) -> Vec<String> {
    lines_for(&Plain::default(), params, make)
}

/// What is refused of such a function.
fn refused(params: &[DType], make: impl Fn(&[Expr]) -> Expr) -> Vec<Diagnostic> {
    unsupported(&returning(params, make), &Plain::default())
}

fn binary(op: BinaryOp) -> impl Fn(&[Expr]) -> Expr {
    move |args| Expr::binary(op, args[0].clone(), args[1].clone())
}

fn op(op: Op, args: &[Expr]) -> Expr {
    let dtype = op.result_dtype(args).unwrap();
    Expr::call(op, args.to_vec(), dtype)
}

fn at_least(low: i128, e: &Expr) -> Expr {
    Expr::binary(BinaryOp::Max, e.clone(), Expr::int(low, e.dtype))
}

const I32: DType = DType::INT32;
const U32: DType = DType::UINT32;
const F32: DType = DType::FLOAT32;
const F64: DType = DType::FLOAT64;

/// codegen-llvm: LLVM-V4. Rules of the IR: IR-E1.
#[test]
fn constants_are_exact() {
    let float = |bits: u64, dtype: DType| Expr::new(ExprKind::Float(FloatBits(bits)), dtype);
    let of = |e: Expr| lines(&[], |_| e.clone()).pop().unwrap();
    assert_eq!(of(Expr::float(0.1, F32)), "ret float 0x3FB99999A0000000");
    assert_eq!(of(Expr::float(0.1, F64)), "ret double 0x3FB999999999999A");
    assert_eq!(of(Expr::float(-0.0, F32)), "ret float 0x8000000000000000");
    assert_eq!(of(Expr::float(f64::INFINITY, F32)), "ret float 0x7FF0000000000000");
    assert_eq!(of(float(0x7ff8_0000_0000_0000, F64)), "ret double 0x7FF8000000000000");
    assert_eq!(of(Expr::float(1e-45, F32)), "ret float 0x36A0000000000000");
    assert_eq!(of(Expr::float(1.0, DType::FLOAT16)), "ret i16 15360");
    assert_eq!(of(Expr::float(-2.0, DType::BFLOAT16)), "ret i16 49152");
    assert_eq!(of(Expr::float(6e-8, DType::FLOAT16)), "ret i16 1");
    assert_eq!(of(Expr::int(-1, DType::INT8)), "ret i8 -1");
    assert_eq!(of(Expr::int(u64::MAX.into(), DType::UINT64)), "ret i64 18446744073709551615");
    assert_eq!(of(Expr::bool(true)), "ret i1 true");
    assert_eq!(of(Expr::int(7, I32.with_lanes(4))), "ret <4 x i32> splat (i32 7)");
    assert_eq!(of(Expr::i32(5).ramp(Expr::i32(-2), 3)), "ret <3 x i32> <i32 5, i32 3, i32 1>");
}

/// codegen-llvm: LLVM-V2. Rules of the IR: IR-N1.
#[test]
fn sums_wrap_unless_ranges_show_that_they_do_not() {
    assert_eq!(lines(&[I32, I32], binary(BinaryOp::Add))[0], "%t1 = add i32 %p0, %p1");
    assert_eq!(lines(&[U32, U32], binary(BinaryOp::Mul))[0], "%t1 = mul i32 %p0, %p1");
    let modulo = |e: &Expr, by: i32| Expr::binary(BinaryOp::FloorMod, e.clone(), Expr::i32(by));
    let exact = lines(&[I32, I32], |args| modulo(&args[0], 1000) * modulo(&args[1], 1000));
    assert!(exact.iter().any(|line| line.contains(" = mul nsw i32 ")), "{exact:?}");
    let wide = lines(&[I32, I32], |args| modulo(&args[0], 100_000) * modulo(&args[1], 100_000));
    assert!(wide.iter().any(|line| line.contains(" = mul i32 ")), "{wide:?}");
}

/// codegen-llvm: LLVM-V2. Rules of the IR: IR-N2, IR-N3.
#[test]
fn divisions_are_guarded_where_nothing_shows_that_they_cannot_fail() {
    let div = lines(&[I32, I32], binary(BinaryOp::Div));
    assert_eq!(
        div,
        [
            "%t1 = icmp eq i32 %p1, 0",
            "%t2 = icmp eq i32 %p1, -1",
            "%t3 = icmp eq i32 %p0, -2147483648",
            "%t4 = and i1 %t2, %t3",
            "%t5 = or i1 %t1, %t4",
            "%t6 = select i1 %t5, i32 1, i32 %p1",
            "%t7 = sdiv i32 %p0, %t6",
            "ret i32 %t7",
        ]
    );
    let remainder = lines(&[I32, I32], binary(BinaryOp::Mod));
    assert_eq!(remainder[..6], div[..6], "both take one division");
    assert_eq!(remainder[6], "%t7 = srem i32 %p0, %t6");
    let unsigned = lines(&[U32, U32], binary(BinaryOp::FloorDiv));
    assert_eq!(unsigned[0], "%t1 = call i32 @llvm.umax.i32(i32 %p1, i32 1)");
    assert_eq!(unsigned[1], "%t2 = udiv i32 %p0, %t1");
    let by =
        |op: BinaryOp, by: i32| lines(&[I32], move |args| Expr::binary(op, args[0].clone(), Expr::i32(by)));
    assert_eq!(by(BinaryOp::Div, 7)[0], "%t1 = sdiv i32 %p0, 7");
    assert_eq!(by(BinaryOp::Mod, -3)[0], "%t1 = srem i32 %p0, -3");
    assert_eq!(by(BinaryOp::FloorDiv, 8)[0], "%t1 = ashr i32 %p0, 3");
    assert_eq!(by(BinaryOp::FloorMod, 8)[0], "%t1 = and i32 %p0, 7");
    assert_eq!(
        by(BinaryOp::FloorDiv, 10)[..4],
        [
            "%t1 = ashr i32 %p0, 31",
            "%t2 = xor i32 %p0, %t1",
            "%t3 = udiv i32 %t2, 10",
            "%t4 = xor i32 %t3, %t1"
        ]
    );
    let low = lines(&[I32, I32], |args| {
        Expr::binary(BinaryOp::FloorDiv, at_least(0, &args[0]), at_least(1, &args[1]))
    });
    assert_eq!(low[2], "%t3 = udiv i32 %t1, %t2");
    let least =
        lines(&[I32, I32], |args| Expr::binary(BinaryOp::Div, args[0].clone(), at_least(0, &args[1])));
    assert_eq!(least[1..3], ["%t2 = icmp eq i32 %t1, 0", "%t3 = select i1 %t2, i32 1, i32 %t1"]);
}

/// codegen-llvm: LLVM-V2. Rules of the IR: IR-N2.
#[test]
fn integers_are_divided_in_vectors_by_floats() {
    let quotient = |dtype: DType| lines(&[dtype, dtype], binary(BinaryOp::Div)).join("\n");
    assert!(quotient(I32.with_lanes(4)).contains("fdiv <4 x double>"));
    assert!(quotient(DType::UINT16.with_lanes(4)).contains("fdiv <4 x float>"));
    assert!(quotient(DType::INT64.with_lanes(4)).contains("sdiv <4 x i64>"));
    let constant = lines(&[I32.with_lanes(4)], |args| {
        Expr::binary(BinaryOp::Div, args[0].clone(), Expr::int(10, I32.with_lanes(4)))
    });
    assert_eq!(constant[0], "%t1 = sdiv <4 x i32> %p0, splat (i32 10)");
}

/// codegen-llvm: LLVM-V2. Rules of the IR: IR-N4, IR-N5.
#[test]
fn shifts_are_taken_modulo_the_width() {
    let shift = |op: Op, by: i128| {
        lines(&[I32], move |args| Expr::call(op, vec![args[0].clone(), Expr::int(by, I32)], I32))
    };
    assert_eq!(shift(Op::ShiftLeft, 33)[0], "%t1 = shl i32 %p0, 1");
    assert_eq!(shift(Op::ShiftRight, -1)[0], "%t1 = ashr i32 %p0, 31");
    let any = lines(&[U32, U32], |args| op(Op::ShiftRight, args));
    assert_eq!(any[..2], ["%t1 = and i32 %p1, 31", "%t2 = lshr i32 %p0, %t1"]);
    let clz = lines(&[DType::UINT8], |args| op(Op::Clz, args));
    assert_eq!(clz[0], "%t1 = call i8 @llvm.ctlz.i8(i8 %p0, i1 false)");
    assert_eq!(clz[1], "%t2 = zext i8 %t1 to i32");
}

/// codegen-llvm: LLVM-V7. Rules of the IR: IR-N7, IR-N10.
#[test]
fn floats_carry_the_allowed_fast_math_flags() {
    let fast_math = FastMath { nnan: true, nsz: true, ..FastMath::default() };
    let fast = Plain { fast_math, ..Plain::default() };
    assert_eq!(lines(&[F32, F32], binary(BinaryOp::Mul))[0], "%t1 = fmul contract float %p0, %p1");
    assert_eq!(
        lines_for(&fast, &[F32, F32], binary(BinaryOp::Add))[0],
        "%t1 = fadd nnan nsz contract float %p0, %p1"
    );
    assert_eq!(
        lines(&[F64, F64], binary(BinaryOp::Min))[..2],
        ["%t1 = fcmp olt double %p0, %p1", "%t2 = select i1 %t1, double %p0, double %p1"]
    );
    let reassoc = Plain { fast_math: FastMath { reassoc: true, ..FastMath::default() }, ..Plain::default() };
    let rounded = lines_for(&reassoc, &[F64], |args| {
        let big = Expr::float(1.5 * 2_f64.powi(52), F64);
        let rest = &args[0] - &(&(&args[0] + &big) - &big);
        &(&args[0] * &args[0]) + &rest
    });
    let in_any_order = |line: &&String| line.contains("reassoc");
    assert_eq!(rounded.iter().filter(in_any_order).count(), 1, "{rounded:?}");
    assert!(rounded.iter().find(in_any_order).unwrap().contains("fmul"), "{rounded:?}");
    let compare = |op: CompareOp| {
        lines(&[F32, F32], move |args| Expr::compare(op, args[0].clone(), args[1].clone())).remove(0)
    };
    assert_eq!(compare(CompareOp::Ne), "%t1 = fcmp une float %p0, %p1");
    assert_eq!(compare(CompareOp::Eq), "%t1 = fcmp oeq float %p0, %p1");
    let nan = lines_for(&fast, &[F32], |args| op(Op::Isnan, args));
    assert_eq!(nan[0], "%t1 = fcmp uno float %p0, 0x0000000000000000");
    let sum = lines(&[DType::BFLOAT16, DType::BFLOAT16], binary(BinaryOp::Add)).join("\n");
    assert!(sum.contains("fadd contract float") && !sum.contains("bfloat"), "{sum}");
}

/// codegen-llvm: LLVM-V2, LLVM-V4. Rules of the IR: IR-N9.
#[test]
fn casts_saturate_and_round_once() {
    let hard = Plain { converts_float16: true, ..Plain::default() };
    let soft = Plain { saturates: true, ..Plain::default() };
    let cast = |target: &Plain, from: DType, to: DType| {
        lines_for(target, &[from], |args| args[0].clone().cast(to)).join("\n")
    };
    let saturated = cast(&hard, F32, I32);
    assert!(saturated.contains("freeze i32") && saturated.contains("i32 2147483647"), "{saturated}");
    assert_eq!(
        cast(&soft, F32, DType::INT8).lines().next().unwrap(),
        "%t1 = call i8 @llvm.fptosi.sat.i8.f32(float %p0)"
    );
    assert!(cast(&hard, F32, DType::FLOAT16).contains("fptrunc float %p0 to half"));
    // Where there is no instruction LLVM would call a library.
    for (from, to) in [(F32, DType::FLOAT16), (DType::FLOAT16, F32), (F64, DType::FLOAT16)] {
        let text = cast(&soft, from, to);
        assert!(!text.contains("half"), "{from} to {to}: {text}");
    }
    // A float64 must not be rounded to float32 first, nor an integer.
    assert!(cast(&hard, F64, DType::BFLOAT16).contains("fcmp one double"));
    assert!(cast(&hard, DType::INT64, DType::FLOAT16).contains("@llvm.smin.i64(i64 %p0, i64 131072)"));
    assert!(cast(&hard, DType::INT64, DType::BFLOAT16).contains("or i64"));
    assert_eq!(
        cast(&hard, F32, DType::BOOL).lines().next().unwrap(),
        "%t1 = fcmp une float %p0, 0x0000000000000000"
    );
    assert_eq!(cast(&hard, DType::BOOL, I32).lines().next().unwrap(), "%t1 = zext i1 %p0 to i32");
}

/// codegen-llvm: LLVM-V2. Rules of the IR: IR-N7, IR-N9.
#[test]
fn casts_of_values_in_range_do_not_saturate() {
    let number = |value: f64| Expr::float(value, F32);
    let quantised = |low: f64, to: DType| {
        let text = lines(&[F32], |args| {
            let least = Expr::binary(BinaryOp::Min, args[0].clone(), number(127.0));
            Expr::binary(BinaryOp::Max, least, number(low)).cast(to)
        });
        text.join("\n")
    };
    let signed = quantised(-128.0, DType::INT8);
    assert!(signed.contains("%t5 = fptosi float %t4 to i8\nret i8 %t5"), "{signed}");
    assert!(quantised(0.0, DType::UINT8).contains("%t5 = fptoui float %t4 to i8"));
    assert!(!quantised(-129.0, DType::INT8).contains("fptosi float %t4 "), "-129 saturates");
}

/// codegen-llvm: LLVM-V5. Rules of the IR: IR-E4.
#[test]
fn failing_operations_stay_behind_their_condition() {
    let i = |value: i32| Expr::i32(value);
    let lazy = lines(&[I32, I32], |args| {
        let divides =
            Expr::compare(CompareOp::Eq, Expr::binary(BinaryOp::Mod, args[0].clone(), args[1].clone()), i(0));
        Expr::compare(CompareOp::Gt, args[0].clone(), i(0)).and(divides)
    });
    assert!(lazy.iter().any(|line| line.starts_with("%t") && line.contains("phi i1")), "{lazy:?}");
    let cheap = lines(&[I32, I32], |args| {
        let small = Expr::compare(CompareOp::Lt, args[1].clone(), i(9));
        Expr::compare(CompareOp::Gt, args[0].clone(), i(0)).or(small)
    });
    assert_eq!(cheap[2], "%t3 = or i1 %t1, %t2");
    let buffer = Buffer::new("A", vec![i(9)], I32, StorageScope::GLOBAL);
    let load = Expr::load(&buffer, vec![i(0)]);
    assert!(!chipdock_ir::analysis::is_cheap(&load) && !chipdock_ir::analysis::is_cheap(&(load + i(1))));
    let both = lines(&[DType::BOOL, F32, F32], |args| op(Op::IfThenElse, args));
    assert_eq!(both[0], "%t1 = select i1 %p0, float %p1, float %p2");
}

/// Rule of the IR: IR-E7.
#[test]
fn lanes_are_picked_out_of_vectors_and_scalars() {
    let shuffle = |params: &[DType], indices: &[u16]| {
        lines(params, |args| {
            let dtype = params[0].scalar().with_lanes(indices.len() as u16);
            Expr::new(ExprKind::Shuffle { vectors: args.to_vec(), indices: indices.to_vec() }, dtype)
        })
    };
    let four = F32.with_lanes(4);
    assert_eq!(shuffle(&[four], &[2])[0], "%t1 = extractelement <4 x float> %p0, i64 2");
    assert_eq!(shuffle(&[four], &[0, 1, 2, 3]), ["ret <4 x float> %p0"]);
    assert_eq!(
        shuffle(&[four, F32], &[1, 4])[..2],
        [
            "%t1 = shufflevector <4 x float> %p0, <4 x float> poison, <2 x i32> <i32 1, i32 poison>",
            "%t2 = insertelement <2 x float> %t1, float %p1, i64 1",
        ]
    );
    let ramp = lines(&[I32], |args| args[0].clone().ramp(i(4), 4));
    fn i(value: i32) -> Expr {
        Expr::i32(value)
    }
    assert_eq!(ramp[2], "%t3 = add <4 x i32> %t2, <i32 0, i32 4, i32 8, i32 12>");
}

/// codegen-llvm: LLVM-V9.
#[test]
fn shared_nodes_are_written_once() {
    let chain = |levels: usize| {
        lines(&[I32], move |args| {
            (0..levels).fold(args[0].clone(), |x, _| Expr::binary(BinaryOp::Add, x.clone(), x))
        })
        .len()
    };
    assert_eq!(chain(200), 201);
    let choices = lines(&[DType::BOOL, I32], |args| {
        let base = Expr::binary(BinaryOp::Mul, args[1].clone(), args[1].clone());
        Expr::call(Op::IfThenElse, vec![args[0].clone(), base.clone(), base], I32)
    });
    assert_eq!(choices.len(), 3, "{choices:?}");
    // What both branches need is not written in each.
    let levels = |count: usize| {
        lines(&[DType::BOOL, DType::INT64], move |args| {
            (0..count).fold(args[1].clone(), |x, _| {
                let quotient = Expr::binary(BinaryOp::Div, x.clone(), x.clone());
                Expr::call(Op::IfThenElse, vec![args[0].clone(), quotient, &x + &args[1]], DType::INT64)
            })
        })
        .len()
    };
    let (few, many) = (levels(5), levels(50));
    assert!(many < 11 * few, "{few} and {many} lines");
}

/// codegen-llvm: LLVM-V9. Rules of the IR: IR-E3. A call that changes something is written for each
/// place where it stands.
#[test]
fn calls_with_effects_are_not_taken_for_known() {
    let call = || {
        Expr::new(
            ExprKind::Call { callee: Callee::Extern { name: "rand".into(), pure: false }, args: vec![] },
            I32,
        )
    };
    let two = lines(&[], |_| call() + call());
    assert_eq!(two.iter().filter(|line| line.contains("@rand(")).count(), 2, "{two:?}");
    let one = call();
    let twice = refused(&[], |_| &one + &one);
    assert!(twice[0].message.contains("stands twice"), "{twice:?}");
}

/// A variable that is bound again has another value: nothing that was computed of the first is
/// taken for it.
#[test]
fn values_of_a_rebound_variable_are_computed_again() {
    let var = Var::new("v", I32);
    let body = Expr::binary(BinaryOp::Mul, var.expr(), var.expr());
    let bound = |value: Expr| Expr::new(ExprKind::Let { var: var.clone(), value, body: body.clone() }, I32);
    let both = lines(&[I32, I32], |args| bound(args[0].clone()) + bound(args[1].clone()));
    assert_eq!(both[..2], ["%t1 = mul i32 %p0, %p0", "%t2 = mul i32 %p1, %p1"]);
}

/// codegen-llvm: LLVM-V10.
#[test]
fn unsupported_nodes_are_refused_by_name() {
    let all = |op: Op| {
        let args: Vec<Expr> = (0..op.arity().min(8)).map(|_| Expr::float(1.0, F32)).collect();
        let dtype = op.result_dtype(&args).unwrap_or(F32);
        refused(&[], move |_| Expr::call(op, args.clone(), dtype))
    };
    for op in [Op::Exp, Op::Tanh, Op::Pow, Op::Fmod, Op::Dp4a, Op::DotAdd, Op::QMultiplyShift, Op::Nextafter]
    {
        let found = all(op);
        let message = &found[0].message;
        assert!(message.contains(op.name()) && message.contains("lower_intrinsics"), "{message}");
    }
    for op in [Op::WarpShuffle, Op::WarpActivemask, Op::ThreadReturn, Op::ThreadAllreduce] {
        let found = all(op);
        let message = &found[0].message;
        assert!(message.contains(op.name()) && message.contains("target"), "{message}");
    }
    let both = refused(&[F32], |args| op(Op::Exp, args) + op(Op::Log, args));
    assert_eq!(both.len(), 2, "every refusal is listed: {both:?}");
}

/// codegen-llvm: LLVM-V10. Validation keeps these away; whoever skips it gets a refusal.
#[test]
fn wrong_nodes_are_refused_and_never_panic() {
    let odd = |code: TypeCode, bits: u8, lanes: u16| DType { code, bits, lanes };
    let types = [
        odd(TypeCode::Int, 0, 1),
        odd(TypeCode::UInt, 200, 1),
        odd(TypeCode::Int, 24, 3),
        odd(TypeCode::Float, 8, 1),
        odd(TypeCode::Int, 32, 0),
        odd(TypeCode::Handle, 64, 4),
        DType::HANDLE,
        DType::BOOL,
        F32.with_lanes(4),
        I32,
        DType::BFLOAT16,
    ];
    let leaf = |dtype: DType| Expr::new(ExprKind::Int(300), dtype);
    let mut count = 0;
    for a in types {
        for b in types {
            for c in types {
                for wrong in wrong_nodes(leaf(a), leaf(b), c) {
                    count += refused(&[], |_| wrong.clone()).len().min(1);
                }
            }
        }
    }
    assert!(count > 20_000, "{count}");
    let deep = (0..2 * crate::DEPTH_MAX).fold(Expr::i32(1), |e, _| e.logical_not());
    let found = refused(&[], |_| deep.clone());
    assert!(found.iter().any(|d| d.message.contains("nested deeper")), "{found:?}");
}

fn wrong_nodes(a: Expr, b: Expr, dtype: DType) -> Vec<Expr> {
    let mut nodes = vec![
        ExprKind::Cast(a.clone()),
        ExprKind::And(a.clone(), b.clone()),
        ExprKind::Not(a.clone()),
        ExprKind::Select(a.clone(), b.clone(), a.clone()),
        ExprKind::Ramp { base: a.clone(), stride: b.clone(), lanes: 7 },
        ExprKind::Broadcast { value: a.clone(), lanes: 0 },
        ExprKind::Shuffle { vectors: vec![a.clone(), b.clone()], indices: vec![0, 9] },
        ExprKind::Shuffle { vectors: vec![], indices: vec![] },
        ExprKind::Str("text".into()),
        ExprKind::Float(FloatBits::new(1e300)),
        ExprKind::Let { var: Var::new("v", dtype), value: a.clone(), body: b.clone() },
    ];
    for op in BinaryOp::ALL {
        nodes.push(ExprKind::Binary(*op, a.clone(), b.clone()));
    }
    nodes.push(ExprKind::Compare(CompareOp::Lt, a.clone(), b.clone()));
    for op in Op::ALL {
        nodes.push(ExprKind::Call { callee: Callee::Op(*op), args: vec![a.clone(), b.clone()] });
        nodes.push(ExprKind::Call { callee: Callee::Op(*op), args: vec![a.clone()] });
    }
    nodes.into_iter().map(|kind| Expr::new(kind, dtype)).collect()
}
