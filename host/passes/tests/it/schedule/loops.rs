//! Split, fuse, reorder, kinds of loops, annotations, traces.

use chipdock_ir::{DType, Expr, build, print};
use chipdock_passes::schedule::{Schedule, Tail, Value};

use super::kernels::{self, Kernel};
use super::{check, expect, refused};

const SIZES: [usize; 9] = [0, 1, 2, 3, 7, 15, 16, 17, 31];

fn text(sch: &Schedule) -> String {
    print::function(sch.function())
}

/// SCHED-2, SCHED-5: of any size, with both tails.
#[test]
fn splits_keep_results() {
    for n in SIZES {
        for symbolic in [false, true] {
            for tail in [Tail::Predicate, Tail::Shrink] {
                let kernel = kernels::elementwise([3, n], symbolic);
                let mut sch = Schedule::new(&kernel.function);
                let block = sch.get_sblock("B").unwrap();
                let loops = sch.get_loops(&block).unwrap();
                let parts = sch.split(&loops[1], &[None, Some(4)], tail).unwrap();
                check(&kernel, &sch);
                sch.split(&parts[0], &[Some(2), None, Some(2)], Tail::Predicate).unwrap();
                check(&kernel, &sch);
                if tail == Tail::Predicate {
                    sch.split(&parts[1], &[Some(2), Some(2)], Tail::Predicate).unwrap();
                    check(&kernel, &sch);
                }
            }
        }
    }
}

/// SCHED-5: a predicate that the ranges prove is dropped.
#[test]
fn exact_splits_have_no_predicate() {
    for (n, predicates) in [(16, 0), (17, 1)] {
        let kernel = kernels::elementwise([3, n], false);
        let mut sch = Schedule::new(&kernel.function);
        let block = sch.get_sblock("B").unwrap();
        let loops = sch.get_loops(&block).unwrap();
        sch.split(&loops[1], &[None, Some(4)], Tail::Predicate).unwrap();
        assert_eq!(text(&sch).matches("T.where(").count(), predicates, "{}", text(&sch));
    }
}

/// SCHED-4: the trace is what TVM's methods are called like.
#[test]
fn traces_print() {
    let kernel = kernels::matmul([4, 5, 6], false, DType::INT32, false);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("C").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    let i = sch.split(&loops[0], &[None, Some(2)], Tail::Predicate).unwrap();
    let j = sch.split(&loops[1], &[None, Some(3)], Tail::Shrink).unwrap();
    sch.reorder(&[i[0].clone(), j[0].clone(), loops[2].clone(), i[1].clone(), j[1].clone()]).unwrap();
    let outer = sch.fuse(&[i[0].clone(), j[0].clone()]).unwrap();
    sch.parallel(&outer).unwrap();
    sch.unroll(&i[1]).unwrap();
    sch.annotate(&block, "note", Value::List(vec![Value::Int(1), Value::Str("a\"b".into())])).unwrap();
    sch.unannotate(&block, "note").unwrap();
    check(&kernel, &sch);
    let expected = r#"b0 = sch.get_sblock("C")
l1, l2, l3 = sch.get_loops(b0)
l4, l5 = sch.split(l1, factors=[None, 2])
l6, l7 = sch.split(l2, factors=[None, 3], tail="shrink")
sch.reorder(l4, l6, l3, l5, l7)
l8 = sch.fuse(l4, l6)
sch.parallel(l8)
sch.unroll(l5)
sch.annotate(b0, "note", [1, "a\"b"])
sch.unannotate(b0, "note")
"#;
    assert_eq!(sch.trace().to_string(), expected);
}

#[test]
fn fused_and_split_again_keeps_results() {
    for n in SIZES {
        for symbolic in [false, true] {
            let kernel = kernels::elementwise([5, n], symbolic);
            let mut sch = Schedule::new(&kernel.function);
            let block = sch.get_sblock("B").unwrap();
            let loops = sch.get_loops(&block).unwrap();
            let fused = sch.fuse(&loops).unwrap();
            check(&kernel, &sch);
            let parts = sch.split(&fused, &[None, Some(8)], Tail::Predicate).unwrap();
            check(&kernel, &sch);
            sch.parallel(&parts[0]).unwrap();
            sch.vectorize(&parts[1]).unwrap();
            check(&kernel, &sch);
        }
    }
}

/// The product of symbolic extents may exceed int32.
#[test]
fn fused_symbolic_loops_count_in_int64() {
    let kernel = kernels::elementwise([5, 3], true);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("B").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    let fused = sch.fuse(&loops).unwrap();
    assert_eq!(fused.var().dtype, DType::INT64);
}

#[test]
fn tiled_products_keep_results() {
    for symbolic in [false, true] {
        for (m, n, k) in [(4, 8, 8), (5, 9, 7), (1, 1, 1), (3, 17, 0), (0, 4, 4), (13, 2, 31)] {
            let kernel = kernels::matmul([m, n, k], symbolic, DType::FLOAT32, false);
            let mut sch = Schedule::new(&kernel.function);
            let block = sch.get_sblock("C").unwrap();
            let loops = sch.get_loops(&block).unwrap();
            let i = sch.split(&loops[0], &[None, Some(4)], Tail::Predicate).unwrap();
            let j = sch.split(&loops[1], &[None, Some(8)], Tail::Predicate).unwrap();
            let k = sch.split(&loops[2], &[None, Some(3)], Tail::Shrink).unwrap();
            let order = [&i[0], &j[0], &k[0], &i[1], &k[1], &j[1]].map(Clone::clone);
            sch.reorder(&order).unwrap();
            check(&kernel, &sch);
            sch.vectorize(&j[1]).unwrap();
            let outer = sch.fuse(&[i[0].clone(), j[0].clone()]).unwrap();
            sch.parallel(&outer).unwrap();
            check(&kernel, &sch);
        }
    }
}

/// SCHED-1: the schedule is as it was.
#[test]
fn a_refused_step_changes_nothing() {
    let kernel = kernels::matmul([4, 5, 6], false, DType::INT32, false);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("C").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    let (before, trace) = (sch.function().clone(), sch.trace().clone());
    expect(
        &refused(sch.parallel(&loops[2])),
        &[
            "parallel: iterations of loop \"k\" may not run at once",
            "axis \"vk\" of block \"C\"",
            "not spatial",
        ],
    );
    assert_eq!((sch.function(), sch.trace()), (&before, &trace));
}

#[test]
fn refusals_of_splits() {
    let kernel = kernels::elementwise([4, 10], false);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("B").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    let j = &loops[1];
    for factors in
        [&[None, None][..], &[], &[Some(0), None], &[Some(-3)], &[Some(1 << 20), Some(1 << 20), None]]
    {
        expect(&refused(sch.split(j, factors, Tail::Predicate)), &["loop \"j\"", "at most one None"]);
    }
    expect(&refused(sch.split(j, &[Some(3), Some(3)], Tail::Predicate)), &["product of the factors is 9"]);
    expect(&refused(sch.split(j, &[Some(2), None], Tail::Shrink)), &["needs the factors [None, factor]"]);
    let parts = sch.split(j, &[None, Some(5)], Tail::Predicate).unwrap();
    expect(&refused(sch.split(j, &[None, Some(5)], Tail::Predicate)), &["loop \"j\" no longer exists"]);
    sch.annotate(&parts[0], "note", 1_i64).unwrap();
    expect(
        &refused(sch.split(&parts[0], &[None, Some(1)], Tail::Predicate)),
        &["has the annotation \"note\""],
    );
    sch.vectorize(&parts[1]).unwrap();
    expect(
        &refused(sch.split(&parts[1], &[None, Some(1)], Tail::Predicate)),
        &["is vectorized, expected a serial"],
    );
    expect(&refused(sch.get_sblock("X")), &["no block \"X\"", "the blocks are: B"]);
    let mut other = Schedule::new(&kernel.function);
    expect(&refused(other.get_loops(&block)), &["was not returned by a step of this schedule"]);
}

fn triangular() -> Kernel {
    let kernel = kernels::elementwise([4, 4], false);
    let mut f = build::function("triangular");
    let a = f.buffer("A", (4, 4), DType::INT32);
    f.grid(["i"], [4], |f, [i]| {
        f.grid(["j"], [i.clone()], |f, [j]| {
            f.block("B", |f| {
                let (vi, vj) = (f.spatial("vi", 4, &i), f.spatial("vj", 4, &j));
                f.store(&a, (&vi, &vj), vi.clone());
            });
        });
    });
    Kernel { function: f.finish(), ..kernel }
}

#[test]
fn refusals_of_orders() {
    let kernel = triangular();
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("B").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    let swapped = [loops[1].clone(), loops[0].clone()];
    expect(&refused(sch.reorder(&swapped)), &["the bounds of loop \"j\" depend on loop \"i\""]);
    expect(&refused(sch.fuse(&loops)), &["the bounds of loop \"j\" depend on loop \"i\""]);
    expect(&refused(sch.fuse(&swapped)), &["loop \"i\" is not the whole body of loop \"j\""]);
    expect(&refused(sch.reorder(&[loops[0].clone(), loops[0].clone()])), &["\"i\" is given twice"]);
    expect(&refused(sch.fuse(&loops[..1])), &["at least two loops"]);
    expect(&refused(sch.vectorize(&loops[1])), &["extent of loop \"j\" is not constant"]);
    sch.parallel(&loops[0]).unwrap();
    sch.annotate(&block, "x", 1_i64).unwrap();
    expect(&refused(sch.unannotate(&block, "y")), &["block \"B\" has no annotation \"y\""]);
    expect(&refused(sch.annotate(&block, "y", Value::Name("l1".into()))), &["expected a constant"]);
}

/// SCHED-6: the first step of a reduction comes first in any order that is allowed.
#[test]
fn a_loop_of_space_and_reduction_stays_in_order() {
    let kernel = kernels::matmul([2, 2, 3], false, DType::INT32, false);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("C").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    let fused = sch.fuse(&loops[1..]).unwrap();
    let parts = sch.split(&fused, &[None, Some(2)], Tail::Predicate).unwrap();
    check(&kernel, &sch);
    let swapped = [parts[1].clone(), parts[0].clone()];
    expect(&refused(sch.reorder(&swapped)), &["drives axes of several kinds", "stay in order"]);
    expect(&refused(sch.parallel(&parts[0])), &["axis \"vk\"", "not spatial"]);
}

/// SCHED-7: iterations that share elements.
#[test]
fn dependences_between_blocks_refuse() {
    let kernel = kernels::chained(9);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("B").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    expect(
        &refused(sch.parallel(&loops[0])),
        &["loop \"i\" may not run at once", "one element in two iterations"],
    );
    let parts = sch.split(&loops[0], &[None, Some(4)], Tail::Predicate).unwrap();
    check(&kernel, &sch);
    let swapped = [parts[1].clone(), parts[0].clone()];
    expect(&refused(sch.reorder(&swapped)), &["several statements", "\"i_0\", \"i_1\"", "stay in order"]);
    sch.unroll(&parts[1]).unwrap();
    check(&kernel, &sch);
}

/// SCHED-7: two iterations that run a block for the same values.
#[test]
fn a_loop_that_repeats_is_not_parallel() {
    let mut f = build::function("repeated");
    let a = f.buffer("A", 4, DType::INT32);
    f.grid(["i"], [8], |f, [i]| {
        f.block("A", |f| {
            let vi = f.spatial("vi", 4, i.clone().floor_div(2));
            f.store(&a, &vi, vi.clone());
        });
    });
    let mut sch = Schedule::new(&f.finish());
    let block = sch.get_sblock("A").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    expect(&refused(sch.parallel(&loops[0])), &["for the same values of its spatial axes"]);
}

/// SCHED-3: names of blocks become unique; producers, consumers, children and outputs are found.
#[test]
fn blocks_are_found() {
    let kernel = kernels::matmul([2, 3, 4], false, DType::INT32, true);
    let mut sch = Schedule::new(&kernel.function);
    let names = |blocks: Vec<chipdock_passes::schedule::BlockRef>| -> Vec<String> {
        blocks.iter().map(|block| block.name().to_owned()).collect()
    };
    let (c, d) = (sch.get_sblock("C").unwrap(), sch.get_sblock("D").unwrap());
    assert_eq!(names(sch.get_consumers(&c).unwrap()), ["D"]);
    assert_eq!(names(sch.get_producers(&d).unwrap()), ["C"]);
    assert_eq!(names(sch.get_producers(&c).unwrap()), [""; 0]);
    assert_eq!(names(sch.get_output_blocks().unwrap()), ["D"]);
    let loops = sch.get_loops(&c).unwrap();
    assert_eq!(names(sch.get_child_blocks(&loops[0]).unwrap()), ["C"]);
    let mut f = build::function("twins");
    let a = f.buffer("A", 4, DType::INT32);
    for value in [1, 2] {
        f.block("A", |f| f.store(&a, 0, Expr::i32(value)));
    }
    let mut sch = Schedule::new(&f.finish());
    assert_eq!(names(sch.get_output_blocks().unwrap()), ["A", "A_1"]);
}
