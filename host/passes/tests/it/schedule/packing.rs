//! Packing and accumulators.

use chipdock_ir::{DType, print};
use chipdock_passes::schedule::{BlockRef, LoopRef, Schedule, Tail};

use super::kernels::{self, Kernel};
use super::{check, check_lowered, expect, refused};

/// A product in tiles of 4 by 8, in steps of 3 along the reduction: loops i0, j0, k0, k1, i1, j1.
fn tiled(kernel: &Kernel, tail: Tail) -> (Schedule, BlockRef, Vec<LoopRef>) {
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("C").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    let i = sch.split(&loops[0], &[None, Some(4)], Tail::Predicate).unwrap();
    let j = sch.split(&loops[1], &[None, Some(8)], Tail::Predicate).unwrap();
    let k = sch.split(&loops[2], &[None, Some(3)], tail).unwrap();
    let order: Vec<LoopRef> = [&i[0], &j[0], &k[0], &k[1], &i[1], &j[1]].into_iter().cloned().collect();
    sch.reorder(&order).unwrap();
    (sch, block, order)
}

const SHAPES: [[usize; 3]; 9] =
    [[4, 8, 3], [8, 16, 6], [5, 9, 7], [1, 1, 1], [3, 17, 0], [0, 4, 4], [13, 2, 31], [4, 0, 5], [7, 24, 2]];

/// SCHED-8, SCHED-9: packed operands, and accumulators over all of the reduction or a part of it.
#[test]
fn packed_products_keep_results() {
    for shape in SHAPES {
        for symbolic in [false, true] {
            for (tail, fill) in [Tail::Predicate, Tail::Shrink].into_iter().zip([Some(0), None]) {
                for dtype in [DType::INT32, DType::FLOAT32] {
                    for at in [1, 2] {
                        packed(&kernels::matmul(shape, symbolic, dtype, false), tail, fill, at);
                    }
                }
            }
        }
    }
}

/// SCHED-13: copies of narrow operands have wider elements, and what reads them casts no more.
#[test]
fn copies_are_widened() {
    for (shape, turned) in SHAPES.into_iter().zip([false, true].into_iter().cycle()) {
        let kernel = kernels::byte_matmul(shape, false, [DType::UINT8, DType::INT8], turned);
        let (mut sch, block, l) = tiled(&kernel, Tail::Shrink);
        let a = sch.read_at(&l[2], &block, 0, "global", &[l[3].clone(), l[4].clone()], Some(0)).unwrap();
        let narrow = sch.clone();
        sch.set_dtype(&a.block, DType::INT16).unwrap();
        check(&kernel, &sch);
        expect(
            &refused(sch.set_dtype(&a.block, DType::UINT32)),
            &["int16", "uint32", "not every such value"],
        );
        sch.set_dtype(&a.block, DType::INT64).unwrap();
        check(&kernel, &sch);
        sch = narrow;
        sch.set_dtype(&a.block, DType::INT32).unwrap();
        check(&kernel, &sch);
        let text = chipdock_ir::print::function(sch.function());
        assert!(text.contains(" + A_packed["), "{text}");
        for other in [DType::INT8, DType::INT32, DType::FLOAT32, DType::FLOAT64, DType::BOOL] {
            expect(&refused(sch.set_dtype(&a.block, other)), &["int32", "not every such value"]);
        }
        expect(&refused(sch.set_dtype(&block, DType::INT64)), &["no intermediate"]);
    }
}

fn packed(kernel: &Kernel, tail: Tail, fill: Option<i64>, at: usize) {
    let (mut sch, block, l) = tiled(kernel, tail);
    check(kernel, &sch);
    let a = sch.read_at(&l[2], &block, 0, "global", &[l[3].clone(), l[4].clone()], fill).unwrap();
    check(kernel, &sch);
    assert_eq!(a.loops.len(), 2);
    let b = sch.read_at(&l[2], &block, 1, "global", &[l[3].clone(), l[5].clone()], fill).unwrap();
    check(kernel, &sch);
    let made = sch.write_at(&l[at], &block, "local", &[l[4].clone(), l[5].clone()], true).unwrap();
    check(kernel, &sch);
    // A reduction in one step starts in it.
    assert!(at == 2 || made.load.is_none());
    let loops = sch.get_loops(&block).unwrap();
    sch.vectorize(loops.last().unwrap()).unwrap();
    sch.unroll(&loops[loops.len() - 2]).unwrap();
    sch.vectorize(&b.loops[1]).unwrap();
    sch.vectorize(&made.back.loops[1]).unwrap();
    sch.vectorize(&made.init.unwrap().loops[1]).unwrap();
    check(kernel, &sch);
    let outer = sch.fuse(&l[..2]).unwrap();
    sch.parallel(&outer).unwrap();
    check(kernel, &sch);
    check_lowered(kernel, &sch);
}

/// With operands that are filled, the block needs no predicate along the tile.
#[test]
fn filled_operands_need_no_predicate() {
    for (fill, wanted) in [(Some(0), 1), (None, 2)] {
        let kernel = kernels::matmul([5, 9, 6], false, DType::INT32, false);
        let (mut sch, block, l) = tiled(&kernel, Tail::Predicate);
        sch.read_at(&l[2], &block, 0, "global", &[l[3].clone(), l[4].clone()], fill).unwrap();
        sch.read_at(&l[2], &block, 1, "global", &[l[3].clone(), l[5].clone()], fill).unwrap();
        sch.write_at(&l[1], &block, "local", &[l[4].clone(), l[5].clone()], true).unwrap();
        check(&kernel, &sch);
        let text = print::function(sch.function());
        let block = &text[text.find("T.sblock(\"C\")").unwrap()..text.find("T.sblock(\"C_back\")").unwrap()];
        assert_eq!(block.matches("T.where").count(), wanted - 1, "{text}");
        expect(&text[text.find("T.sblock(\"C_back\")").unwrap()..], &["T.where("]);
    }
}

/// Partial results are loaded and stored under the loop of the reduction that goes on outside.
#[test]
fn accumulators_within_a_reduction_must_accumulate() {
    let kernel = kernels::matmul([5, 9, 7], false, DType::INT32, false);
    let (mut sch, block, l) = tiled(&kernel, Tail::Predicate);
    let tile = [l[4].clone(), l[5].clone()];
    expect(
        &refused(sch.write_at(&l[2], &block, "local", &tile, false)),
        &["outside of loop \"k_0\"", "accumulate"],
    );
    let made = sch.write_at(&l[1], &block, "local", &tile, false).unwrap();
    assert!(made.load.is_none() && made.init.is_some());
    check(&kernel, &sch);
}

/// im2col: the access is any expression of the loops, and elements outside the input are filled.
#[test]
fn convolutions_are_packed() {
    for (channels, size, stride) in [([2, 3], 5, 1), ([1, 4], 7, 2), ([3, 1], 1, 1)] {
        let kernel = kernels::convolution(channels, size, stride);
        for fill in [Some(0), None] {
            let mut sch = Schedule::new(&kernel.function);
            let block = sch.get_sblock("Y").unwrap();
            let l = sch.get_loops(&block).unwrap();
            sch.reorder(&[l[1].clone(), l[0].clone()]).unwrap();
            let order = [&l[3], &l[4], &l[5], &l[2]].map(Clone::clone);
            sch.read_at(&l[1], &block, 0, "global", &order, fill).unwrap();
            check(&kernel, &sch);
            let w = [&l[3], &l[4], &l[5]].map(Clone::clone);
            sch.read_at(&l[0], &block, 1, "global", &w, fill).unwrap();
            sch.write_at(&l[0], &block, "local", &[l[2].clone()], false).unwrap();
            check(&kernel, &sch);
            sch.parallel(&l[1]).unwrap();
            check(&kernel, &sch);
        }
    }
}

/// A block that only writes: no init, copies back under its predicate.
#[test]
fn elementwise_tiles_keep_results() {
    for n in [0, 1, 7, 8, 9] {
        for symbolic in [false, true] {
            let kernel = kernels::elementwise([3, n], symbolic);
            let mut sch = Schedule::new(&kernel.function);
            let block = sch.get_sblock("B").unwrap();
            let loops = sch.get_loops(&block).unwrap();
            let parts = sch.split(&loops[1], &[None, Some(4)], Tail::Predicate).unwrap();
            sch.read_at(&parts[0], &block, 0, "local", &[parts[1].clone()], Some(5)).unwrap();
            let made = sch.write_at(&parts[0], &block, "local", &[parts[1].clone()], false).unwrap();
            assert!(made.init.is_none() && made.load.is_none());
            check(&kernel, &sch);
        }
    }
}

#[test]
fn refusals_of_packing() {
    let kernel = kernels::matmul([5, 9, 7], true, DType::INT32, true);
    let (mut sch, block, l) = tiled(&kernel, Tail::Predicate);
    let (i, k) = (l[4].clone(), l[3].clone());
    let mut read = |of: &LoopRef, index, order: &[LoopRef]| {
        refused(sch.read_at(of, &block, index, "global", order, Some(0)))
    };
    expect(
        &read(&l[2], 0, std::slice::from_ref(&i)),
        &["depends on loop \"k_1\", which is not in the order", "buffer \"A\""],
    );
    expect(&read(&l[2], 0, &[i.clone(), l[1].clone()]), &["loop \"j_0\" of the order is not between"]);
    expect(&read(&l[2], 0, &[i.clone(), i.clone()]), &["loop \"i_1\" is twice"]);
    expect(&read(&l[2], 2, std::slice::from_ref(&i)), &["block \"C\" has no read access 2", "A, B"]);
    expect(
        &refused(sch.write_at(&l[2], &block, "local", std::slice::from_ref(&i), true)),
        &["block \"C\" writes", "loop \"j_1\", which is not in the order"],
    );
    expect(
        &refused(sch.write_at(&l[2], &block, "local", &[i, l[5].clone(), k], true)),
        &["several iterations of loop \"k_1\""],
    );
    let d = sch.get_sblock("D").unwrap();
    let d_loops = sch.get_loops(&d).unwrap();
    expect(
        &refused(sch.read_at(&l[2], &d, 0, "global", &[], None)),
        &["block \"D\" is not under loop \"k_0\""],
    );
    sch.read_at(&d_loops[1], &d, 0, "global", &[], None).unwrap();
    check(&kernel, &sch);
}

/// SCHED-10: what is written under the loop is not copied, and parameters may overlap.
#[test]
fn refusals_of_aliases() {
    let kernel = kernels::chained(9);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("C").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    expect(
        &refused(sch.read_at(&loops[0], &block, 0, "global", &[], None)),
        &["buffer \"B\" is written under loop \"i\""],
    );
    let b = sch.get_sblock("B").unwrap();
    expect(
        &refused(sch.write_at(&loops[0], &b, "local", &[], false)),
        &["block \"B\" is not alone", "touches buffer \"B\""],
    );
    let mut kernel = kernels::matmul([5, 9, 7], false, DType::INT32, false);
    kernel.function.attrs.clear();
    let (mut sch, block, l) = tiled(&kernel, Tail::Predicate);
    let order = [l[3].clone(), l[4].clone()];
    expect(&refused(sch.read_at(&l[2], &block, 0, "global", &order, None)), &["may overlap", "tirx.noalias"]);
    let order = [l[4].clone(), l[5].clone()];
    expect(&refused(sch.write_at(&l[1], &block, "global", &order, true)), &["may overlap", "tirx.noalias"]);
}

/// SCHED-8: what a branch excludes is not read of a copy either, which has no such elements.
#[test]
fn a_copy_of_a_copy_keeps_to_the_branch() {
    for (shape, fill) in [([2, 2, 3], None), ([2, 2, 3], Some(0)), ([3, 1, 1], None), ([1, 2, 0], None)] {
        let kernel = kernels::matmul(shape, true, DType::INT32, false);
        let mut sch = Schedule::new(&kernel.function);
        let block = sch.get_sblock("C").unwrap();
        let [i, j, k] = sch.get_loops(&block).unwrap().try_into().unwrap();
        sch.reorder(&[j, k.clone(), i.clone()]).unwrap();
        sch.write_at(&i, &block, "local", &[], true).unwrap();
        sch.split(&k, &[None, Some(2)], Tail::Predicate).unwrap();
        assert!(
            print::function(sch.function()).contains("if k_0 * 2 + k_1 < k:"),
            "a branch around the block"
        );
        for at in [0, 1] {
            let loops = sch.get_loops(&block).unwrap();
            sch.read_at(&loops[at], &block, 0, "global", &loops[at + 1..], fill).unwrap();
            check(&kernel, &sch);
        }
        check_lowered(&kernel, &sch);
    }
}
