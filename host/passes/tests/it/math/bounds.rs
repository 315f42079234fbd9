//! Tests that the documented error bounds agree: those of the pass, of its page, and of conforming
//! backends.

use chipdock_ir::accuracy;
use chipdock_ir::{DType, Op};
use chipdock_passes::{high_ulps, lowered_ulps};

#[test]
fn a_lowered_function_conforms() {
    let mut stated = 0;
    for op in Op::ALL {
        for dtype in [DType::FLOAT32, DType::FLOAT64] {
            if let Some(bound) = lowered_ulps(*op, dtype) {
                let allowed = accuracy::ulps(*op, dtype).max(0.5);
                assert!(bound <= allowed, "{} of {dtype}: {bound}, allowed {allowed}", op.name());
                let high = high_ulps(*op).filter(|_| dtype == DType::FLOAT32);
                assert!(high.is_none_or(|high| high <= bound), "{}: {high:?}", op.name());
                stated += 1;
            }
        }
        assert_eq!(lowered_ulps(*op, DType::INT32), None);
    }
    assert!(stated > 30, "{stated} bounds are stated");
}

/// The table of the page has a row for each function, with these numbers.
#[test]
fn the_page_states_the_bounds() {
    let page = include_str!("../../../src/types/lower_intrinsics.rs");
    let bound = |bound: Option<f64>| bound.map_or_else(|| "call".to_owned(), |bound| format!("{bound}"));
    for op in Op::ALL {
        let (single, double) = (lowered_ulps(*op, DType::FLOAT32), lowered_ulps(*op, DType::FLOAT64));
        if single.is_some() || double.is_some() {
            let (single, high) = (bound(single), bound(high_ulps(*op)));
            let row = format!("/// | `{}` | {single} | {high} | {} |", op.name(), bound(double));
            assert!(page.contains(&row), "the page has no row {row}");
        }
    }
}
