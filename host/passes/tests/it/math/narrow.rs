//! Functions of float32 for targets without float64, against the interpreter's float64.

use chipdock_interpret::Array;
use chipdock_ir::accuracy;
use chipdock_ir::{DType, Op, Signature};
use chipdock_passes::{lowered_ulps, narrow_ulps};

use super::{exact, run_for, ulps};
use crate::capabilities::narrow;

fn functions() -> impl Iterator<Item = (Op, f64)> {
    let bounds = Op::ALL.iter().filter_map(|op| Some((*op, narrow_ulps(*op)?)));
    // Those that are exact have tests of their own.
    bounds.filter(|(_, bound)| *bound > 0.0)
}

#[test]
fn functions_keep_to_their_bounds() {
    let mut wrong = Vec::new();
    let (single, pairs) = (vec![super::single::sample()], super::pairs::sample());
    for (op, bound) in functions() {
        let values = if op.signature() == Signature::FloatUnary { &single } else { &pairs };
        let exact = exact(op, values);
        let arrays: Vec<Array> = values.iter().map(|list| Array::from_f32(&[list.len()], list)).collect();
        let types = vec![DType::FLOAT32; arrays.len()];
        let found = run_for(&narrow(), op, &types, DType::FLOAT32, arrays).to_f64();
        let mut worst = (-1.0, String::new());
        for (index, (found, exact)) in found.into_iter().zip(exact).enumerate() {
            let off = ulps(found, exact);
            if off > worst.0 {
                let at: Vec<f32> = values.iter().map(|list| list[index]).collect();
                worst = (off, format!("at {at:?}: found {found:e}, exact {exact:e}"));
            }
        }
        let (off, at) = worst;
        println!("{}: {off:.4} ulp {at}", op.name());
        if !(off <= bound && off > 0.4) {
            wrong.push(format!("{}: {off} ulp, stated {bound}, {at}", op.name()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whatever has a bound with float64 has one without, and a backend that keeps to it conforms.
#[test]
fn bounds_are_stated_and_conform() {
    let page = include_str!("../../../src/types/lower_intrinsics.rs");
    for op in Op::ALL {
        let narrow = narrow_ulps(*op);
        let on_host = lowered_ulps(*op, DType::FLOAT32).filter(|_| *op != Op::Fmod);
        assert_eq!(narrow.is_some(), on_host.is_some(), "{}", op.name());
        if let Some(bound) = narrow {
            assert!(bound <= accuracy::ulps(*op, DType::FLOAT32), "{}: {bound}", op.name());
            let row = format!(" | {bound} |\n");
            let name = format!("/// | `{}` | ", op.name());
            let stated = page.lines().find(|line| line.starts_with(&name)).map(|line| format!("{line}\n"));
            assert!(
                stated.is_some_and(|line| line.ends_with(&row)),
                "{}: the page has no {bound}",
                op.name()
            );
        }
    }
}

#[test]
fn ldexp_is_exact() {
    super::pairs::is_exact_ldexp(&narrow());
}
