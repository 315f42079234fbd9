//! Functions of one float32 against the interpreter's float64, over a sample of all float32 and
//! around hard points.

use chipdock_interpret::Array;
use chipdock_ir::{Accuracy, DType, Expr, ForKind, Op, Signature, Stmt, StmtKind};
use chipdock_passes::{high_ulps, lower_intrinsics, lowered_ulps};

use super::{exact, run, run_for, ulps};
use crate::capabilities::host;

/// Where functions change their course, overflow, or are made of another part.
const POINTS: &[f32] = &[
    0.0,
    1e-38,
    1e-30,
    1e-20,
    1e-10,
    1e-8,
    1e-5,
    0.001,
    0.1,
    0.25,
    0.346_573_6,
    0.414_213_57,
    0.5,
    0.55,
    0.625,
    std::f32::consts::LN_2,
    0.707_106_77,
    1.0,
    std::f32::consts::SQRT_2,
    2.0,
    2.414_213_7,
    2.718_281_7,
    3.0,
    3.919_21,
    4.0,
    6.0,
    8.0,
    9.010_913,
    10.0,
    16.0,
    38.531_84,
    44.853_47,
    45.154_5,
    64.0,
    87.336_55,
    88.722_84,
    89.415_99,
    100.0,
    103.278_93,
    103.972_08,
    104.0,
    126.0,
    127.5,
    128.0,
    149.0,
    149.5,
    150.0,
    151.0,
    1000.0,
    32_768.0,
    1e6,
    8_388_608.0,
    16_777_216.0,
    1e10,
    1e20,
    1e30,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::INFINITY,
];

/// Every float32 whose bits are a multiple of a prime: a sample of all exponents and both signs;
/// and the neighbours of hard points, of 1 and of the multiples of half of pi.
pub(super) fn sample() -> Vec<f32> {
    let mut values: Vec<f32> = (0..=u32::MAX).step_by(20_011).map(f32::from_bits).collect();
    let turns = (1..400_u32).map(|k| (f64::from(k * k * k) * std::f64::consts::FRAC_PI_2) as f32);
    for point in POINTS.iter().copied().chain(turns) {
        let bits = point.to_bits();
        let near = (bits.saturating_sub(4)..=bits + 4).map(f32::from_bits);
        values.extend(near.flat_map(|x| [x, -x]));
    }
    values
}

fn within(op: Op) {
    let values = sample();
    let bound = lowered_ulps(op, DType::FLOAT32).unwrap();
    let exact = exact(op, std::slice::from_ref(&values));
    let array = Array::from_f32(&[values.len()], &values);
    let found = run(op, DType::FLOAT32, DType::FLOAT32, array).to_f64();
    let mut worst = (0.0, 0.0, 0.0, 0.0);
    for ((x, found), exact) in values.into_iter().zip(found).zip(exact) {
        let off = ulps(found, exact);
        if off > worst.0 {
            worst = (off, x, found, exact);
        }
    }
    let (off, x, found, exact) = worst;
    println!("{}: {off:.4} ulp at {x:e}", op.name());
    assert!(off <= bound, "{}({x:e}): {off} ulp, more than {bound}: {found:e}, exact {exact:e}", op.name());
    assert!(off > 0.4, "{}: a bound of {off} measures nothing", op.name());
}

/// Computed in float64 for targets that ask for it.
#[test]
fn high_accuracy_is_within_its_bounds() {
    let high = host().with(|it| it.math.accuracy = Accuracy::High);
    let values: Vec<f32> = sample().into_iter().step_by(7).collect();
    let array = || Array::from_f32(&[values.len()], &values);
    let mut checked = 0;
    for op in Op::ALL.iter().filter(|op| op.signature() == Signature::FloatUnary) {
        let Some(bound) = high_ulps(*op) else { continue };
        let exact = exact(*op, std::slice::from_ref(&values));
        let found = run_for(&high, *op, &[DType::FLOAT32], DType::FLOAT32, vec![array()]).to_f64();
        for ((x, found), exact) in values.iter().zip(found).zip(exact) {
            let off = ulps(found, exact);
            assert!(off <= bound, "{}({x:e}): {off} ulp: {found:e}, exact {exact:e}", op.name());
        }
        checked += 1;
    }
    assert!(checked > 20, "{checked}");
}

macro_rules! functions {
    ($($name:ident $op:ident;)*) => {
        $(
            #[test]
            fn $name() {
                within(Op::$op);
            }
        )*
    };
}

functions! {
    exp Exp;
    exp2 Exp2;
    exp10 Exp10;
    log Log;
    log2 Log2;
    log10 Log10;
    log1p Log1p;
    erf Erf;
    sigmoid Sigmoid;
    tanh Tanh;
    sinh Sinh;
    cosh Cosh;
    sin Sin;
    cos Cos;
    tan Tan;
    asin Asin;
    acos Acos;
    atan Atan;
    asinh Asinh;
    acosh Acosh;
    atanh Atanh;
    rsqrt Rsqrt;
}

/// The loop over elements as one over vectors of four.
fn in_vectors(stmt: &Stmt, n: i32) -> Stmt {
    let StmtKind::For { var, body, .. } = &stmt.kind else {
        return stmt.map_children(&mut Clone::clone, &mut |child| in_vectors(child, n));
    };
    let StmtKind::Store { buffer, value, .. } = &body.kind else { unreachable!("a store") };
    let index = (var.expr() * Expr::i32(4)).ramp(Expr::i32(1), 4);
    let value = value.map_children(&mut |arg| match &arg.kind {
        chipdock_ir::ExprKind::Load { buffer, .. } => Expr::load(buffer, vec![index.clone()]),
        _ => arg.clone(),
    });
    let dtype = value.dtype.with_lanes(4);
    let value = Expr::new(value.kind.clone(), dtype);
    Stmt::for_loop(var.clone(), Expr::i32(n / 4), ForKind::Serial, Stmt::store(buffer, vec![index], value))
}

/// A vector is lowered as a whole, and gives in each lane what the scalar gives.
#[test]
fn vectors_compute_as_scalars() {
    let values: Vec<f32> = sample().into_iter().step_by(97).collect();
    let values = &values[..values.len() / 4 * 4];
    let n = values.len();
    for op in Op::ALL {
        if op.signature() != Signature::FloatUnary || lowered_ulps(*op, DType::FLOAT32).is_none() {
            continue;
        }
        for dtype in [DType::FLOAT32, DType::FLOAT64, DType::FLOAT16] {
            let mut module = super::module(*op, &[dtype], dtype, n);
            let wide: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
            let array = Array::from_f64(dtype, &[n], &wide);
            let scalars = lower_intrinsics(&module, &host()).unwrap();
            module.functions[0].body = in_vectors(&module.functions[0].body, n as i32);
            let vectors = lower_intrinsics(&module, &host()).unwrap();
            let expected = super::interpret(&scalars, dtype, vec![array.clone()]);
            let found = super::interpret(&vectors, dtype, vec![array]);
            for (found, expected) in found.to_f64().into_iter().zip(expected.to_f64()) {
                let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
                assert!(same, "{} of {dtype}: {found:e}, not {expected:e}", op.name());
            }
        }
    }
}
