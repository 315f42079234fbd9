//! Tests of loads under conditions: hoisted if they are in bounds, otherwise in a loop that keeps
//! its branches (SRC-S6).

use chipdock_codegen_source::write_module;
use chipdock_ir::{CompareOp, DType, Expr, Op, build};

use super::support::lowered;
use crate::dialect::CDialect;

const KEPT: &str = " CD_KEEP_BRANCHES;\n";

/// The text of `for i < 8: B[i] = value(A, i, k)`.
fn text(value: impl Fn(&dyn Fn(Expr) -> Expr, &Expr, &Expr) -> Expr) -> String {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [8], DType::INT32), f.buffer("B", [8], DType::INT32));
    let k = f.scalar("k", DType::INT32);
    f.range("i", 8, |f, i| {
        let load = |index: Expr| Expr::load(&a, vec![index]);
        let value = value(&load, &i, &k);
        f.store(&b, [i], value);
    });
    let module = lowered(&build::module([f.finish()]));
    write_module(&module, &CDialect::default()).unwrap().text
}

fn chosen(condition: Expr, value: Expr) -> Expr {
    Expr::call(Op::IfThenElse, vec![condition, value, Expr::i32(0)], DType::INT32)
}

#[test]
fn src_s6_a_load_within_bounds_precedes_its_condition() {
    let positive = |k: &Expr| Expr::compare(CompareOp::Gt, k.clone(), Expr::i32(0));
    for (name, text) in [
        ("a choice", text(|load, i, k| chosen(positive(k), load(i.clone())))),
        (
            "an index that wraps around",
            text(|load, i, k| chosen(positive(k), load((i.clone() + Expr::i32(5)) % Expr::i32(8)))),
        ),
        (
            "both sides of `and`",
            text(|load, i, k| chosen(positive(k).and(positive(&load(i.clone()))), load(i.clone()))),
        ),
    ] {
        assert!(text.contains("const int32_t t = A["), "{name}: {text}");
        assert!(!text.contains("? A[") && !text.contains("&& A["), "{name}: {text}");
        assert!(!text.contains(KEPT), "{name}: {text}");
    }
}

#[test]
fn src_s6_a_loop_with_other_loads_under_conditions_keeps_its_branches() {
    let before = |i: &Expr, k: &Expr| Expr::compare(CompareOp::Ge, i.clone(), k.clone());
    for (name, text) in [
        ("an offset that nobody knows", text(|load, i, k| chosen(before(i, k), load(i.clone() - k.clone())))),
        ("an index out of memory", text(|load, i, k| chosen(before(i, k), load(load(i.clone()))))),
        ("one past the end", text(|load, i, k| chosen(before(i, k), load(i.clone() + Expr::i32(1))))),
    ] {
        assert!(text.contains(KEPT) && text.contains("__asm__ volatile"), "{name}: {text}");
        assert!(text.contains("? A["), "{name}: {text}");
    }
    let without = text(|load, i, k| load(i.clone()) + k.clone());
    assert!(!without.contains("CD_KEEP_BRANCHES"), "{without}");
    // A condition that stands around a loop, which stays one, becomes no mask in it.
    for (extent, is_kept) in [(1000, false), (8, true)] {
        let mut f = build::function("f");
        let (a, b) = (f.buffer("A", [1000], DType::INT32), f.buffer("B", [1000], DType::INT32));
        let k = f.scalar("k", DType::INT32);
        f.range("i", 8, |f, i| {
            f.if_then(before(&i, &k), |f| {
                f.range("j", extent, |f, j| {
                    let index = vec![(j.clone() + k.clone()) % Expr::i32(1000)];
                    f.store(&b, [j], Expr::load(&a, index));
                });
            });
        });
        let module = lowered(&build::module([f.finish()]));
        let text = write_module(&module, &CDialect::default()).unwrap().text;
        assert_eq!(text.contains(KEPT), is_kept, "{extent}: {text}");
    }
}
