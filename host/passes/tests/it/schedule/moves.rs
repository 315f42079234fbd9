//! Reductions in parts, inlining, and blocks that move into loops.

use chipdock_ir::{BinaryOp, DType, print};
use chipdock_passes::schedule::{Cut, Schedule, Tail};

use super::kernels;
use super::{check, check_lowered, expect, refused};

fn has_block(sch: &Schedule, name: &str) -> bool {
    print::function(sch.function()).contains(&format!("T.sblock(\"{name}\")"))
}

#[test]
fn decomposed_products_keep_results() {
    for shape in [[4, 8, 3], [5, 9, 7], [3, 2, 0], [0, 2, 3], [1, 1, 1]] {
        for symbolic in [false, true] {
            for at in 0..4 {
                let kernel = kernels::matmul(shape, symbolic, DType::INT32, false);
                let mut sch = Schedule::new(&kernel.function);
                let block = sch.get_sblock("C").unwrap();
                let loops = sch.get_loops(&block).unwrap();
                let j = sch.split(&loops[1], &[None, Some(4)], Tail::Predicate).unwrap();
                let k = sch.split(&loops[2], &[None, Some(3)], Tail::Predicate).unwrap();
                let order = [&loops[0], &j[0], &k[0], &k[1], &j[1]].map(Clone::clone);
                sch.reorder(&order).unwrap();
                if at == 3 {
                    let message = refused(sch.decompose_reduction(&block, &k[1]));
                    expect(&message, &["reduced along loop \"k_0\"", "outside of loop \"k_1\""]);
                    continue;
                }
                let init = sch.decompose_reduction(&block, &order[at]).unwrap();
                check(&kernel, &sch);
                assert_eq!(sch.get_loops(&init).unwrap().len(), 3);
                sch.vectorize(&order[4]).unwrap();
                check(&kernel, &sch);
            }
        }
    }
}

#[test]
fn refusals_of_decompositions() {
    let kernel = kernels::matmul([4, 8, 3], false, DType::INT32, true);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("C").unwrap();
    let d = sch.get_sblock("D").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    expect(&refused(sch.decompose_reduction(&d, &loops[0])), &["block \"D\" is not under loop \"i\""]);
    sch.decompose_reduction(&block, &loops[2]).unwrap();
    expect(&refused(sch.decompose_reduction(&block, &loops[0])), &["block \"C\" has no init"]);
}

/// The identity of each operator, whole and partial reductions, and loops of no iterations.
#[test]
fn partial_results_keep_results() {
    for op in [BinaryOp::Add, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max] {
        for dtype in [DType::INT32, DType::FLOAT32] {
            for shape in [[3, 8], [2, 7], [1, 1], [2, 0], [0, 3], [2, 17]] {
                for symbolic in [false, true] {
                    let kernel = kernels::reduced(shape, symbolic, dtype, op);
                    for inner in [false, true] {
                        let mut sch = Schedule::new(&kernel.function);
                        let block = sch.get_sblock("B").unwrap();
                        let loops = sch.get_loops(&block).unwrap();
                        let k = sch.split(&loops[1], &[None, Some(4)], Tail::Predicate).unwrap();
                        let axis = if inner { -1 } else { 0 };
                        let partial = sch.rfactor(&k[usize::from(inner)], axis).unwrap();
                        check(&kernel, &sch);
                        let rest = sch.get_loops(&partial).unwrap();
                        assert_eq!(rest.len(), 3);
                        if inner {
                            sch.reorder(&[rest[2].clone(), rest[1].clone()]).unwrap();
                            sch.parallel(&rest[2]).unwrap();
                            check(&kernel, &sch);
                        }
                    }
                }
            }
        }
    }
}

/// With the whole reduction factored, the partial results are the terms.
#[test]
fn a_whole_reduction_is_factored() {
    let kernel = kernels::reduced([3, 5], true, DType::INT32, BinaryOp::Add);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("B").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    expect(&refused(sch.rfactor(&loops[0], 0)), &["no reduction axis that loop \"i\" drives"]);
    expect(&refused(sch.rfactor(&loops[1], 2)), &["factor_axis 2", "among 2 axes"]);
    sch.rfactor(&loops[1], 1).unwrap();
    check(&kernel, &sch);
    let kernel = kernels::reduced([3, 5], true, DType::INT32, BinaryOp::Sub);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("B").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    expect(&refused(sch.rfactor(&loops[1], 0)), &["is not one reduction"]);
}

const SIZES: [usize; 6] = [0, 1, 3, 4, 5, 9];

#[test]
fn inlined_stages_keep_results() {
    for n in SIZES {
        for symbolic in [false, true] {
            let kernel = kernels::pipeline(n, symbolic);
            let mut sch = Schedule::new(&kernel.function);
            let b = sch.get_sblock("B").unwrap();
            sch.compute_inline(&b).unwrap();
            check(&kernel, &sch);
            assert!(!has_block(&sch, "B") && has_block(&sch, "C"));
            let d = sch.get_sblock("D").unwrap();
            sch.reverse_compute_inline(&d).unwrap();
            check(&kernel, &sch);
            assert!(!has_block(&sch, "D") && has_block(&sch, "C") && sch.function().alloc_buffers.is_empty());
        }
    }
}

/// The epilogue of a reduction moves to the copy of its accumulators, or into the loops around it.
#[test]
fn epilogues_move_to_their_reductions() {
    for shape in [[4, 8, 3], [5, 9, 7], [1, 1, 2], [3, 17, 2]] {
        for symbolic in [false, true] {
            let kernel = kernels::matmul(shape, symbolic, DType::FLOAT32, true);
            let mut sch = Schedule::new(&kernel.function);
            let block = sch.get_sblock("C").unwrap();
            let d = sch.get_sblock("D").unwrap();
            let loops = sch.get_loops(&block).unwrap();
            let i = sch.split(&loops[0], &[None, Some(4)], Tail::Predicate).unwrap();
            let j = sch.split(&loops[1], &[None, Some(8)], Tail::Predicate).unwrap();
            sch.reorder(&[&i[0], &j[0], &loops[2], &i[1], &j[1]].map(Clone::clone)).unwrap();
            let message = refused(sch.reverse_compute_at(&d, &loops[2]));
            expect(&message, &["before its input is complete", "loop \"k\""]);
            let mut other = sch.clone();
            other.reverse_compute_at(&d, &j[0]).unwrap();
            check(&kernel, &other);
            let made = other.get_loops(&d).unwrap();
            assert_eq!(made.len(), 4);
            let outer = other.fuse(&made[..2]).unwrap();
            other.parallel(&outer).unwrap();
            check(&kernel, &other);
            expect(&refused(sch.reverse_compute_inline(&d)), &["has 2 writers", "write_at first"]);
            sch.write_at(&j[0], &block, "local", &[i[1].clone(), j[1].clone()], false).unwrap();
            sch.reverse_compute_inline(&d).unwrap();
            check(&kernel, &sch);
            assert!(!has_block(&sch, "D") && sch.function().alloc_buffers.is_empty());
        }
    }
}

/// A producer computes what a tile of its consumer reads, with the elements around it.
#[test]
fn producers_move_to_their_consumers() {
    for n in SIZES {
        for symbolic in [false, true] {
            for tail in [Tail::Predicate, Tail::Shrink] {
                let kernel = kernels::pipeline(n, symbolic);
                let mut sch = Schedule::new(&kernel.function);
                let (b, c) = (sch.get_sblock("B").unwrap(), sch.get_sblock("C").unwrap());
                let d = sch.get_sblock("D").unwrap();
                let loops = sch.get_loops(&d).unwrap();
                let parts = sch.split(&loops[0], &[None, Some(4)], tail).unwrap();
                sch.compute_at(&c, &parts[0]).unwrap();
                check(&kernel, &sch);
                let around = sch.get_loops(&c).unwrap();
                assert_eq!(around.len(), 2);
                let mut inner = sch.clone();
                inner.compute_at(&b, &around[1]).unwrap();
                check(&kernel, &inner);
                sch.compute_at(&b, &parts[0]).unwrap();
                check(&kernel, &sch);
                // Tiles share elements of B.
                if n > 4 || symbolic {
                    expect(&refused(sch.parallel(&parts[0])), &["may not run at once"]);
                }
                // Each has its own, if the tile is its buffer.
                sch.compact(&b).unwrap();
                check(&kernel, &sch);
                sch.compact(&c).unwrap();
                check(&kernel, &sch);
                expect(&print::function(sch.function()), &["B = T.alloc_buffer(", "C = T.alloc_buffer("]);
                sch.parallel(&parts[0]).unwrap();
                check(&kernel, &sch);
                check_lowered(&kernel, &sch);
            }
        }
    }
}

/// A loop without iterations within another touches nothing: a tile of it has no elements.
#[test]
fn tiles_of_no_elements() {
    for symbolic in [false, true] {
        for n in [0, 1, 9] {
            let kernel = kernels::pipeline(n, symbolic);
            let mut sch = Schedule::new(&kernel.function);
            let [b, c, d] = ["B", "C", "D"].map(|name| sch.get_sblock(name).unwrap());
            let loops = sch.get_loops(&d).unwrap();
            let parts = sch.split(&loops[0], &[None, Some(4)], Tail::Predicate).unwrap();
            sch.reorder(&[parts[1].clone(), parts[0].clone()]).unwrap();
            sch.compute_at(&c, &parts[1]).unwrap();
            check(&kernel, &sch);
            sch.compute_at(&b, &parts[1]).unwrap();
            check(&kernel, &sch);
            for block in [&c, &b] {
                sch.compact(block).unwrap();
                check(&kernel, &sch);
                check_lowered(&kernel, &sch);
            }
        }
    }
}

#[test]
fn refusals_of_compaction() {
    let kernel = kernels::pipeline(9, false);
    let mut sch = Schedule::new(&kernel.function);
    let [b, c, d] = ["B", "C", "D"].map(|name| sch.get_sblock(name).unwrap());
    expect(&refused(sch.compact(&d)), &["writes buffer \"D\", which is no intermediate"]);
    expect(&refused(sch.compact(&b)), &["has no loop around it and all that reads what it writes"]);
    // Tiles of C that read what other tiles have written of B.
    let of_b = sch.get_loops(&b).unwrap();
    let parts = sch.split(&of_b[0], &[None, Some(4)], Tail::Predicate).unwrap();
    sch.reverse_compute_at(&c, &parts[0]).unwrap_err();
    let kernel = kernels::chained(5);
    let mut sch = Schedule::new(&kernel.function);
    let b = sch.get_sblock("B").unwrap();
    expect(&refused(sch.compact(&b)), &["no intermediate"]);
}

/// A tile of a transposition is whole, and a copy.
#[test]
fn refusals_of_tiles() {
    let kernel = kernels::transposed([1, 8, 8], false, DType::FLOAT32);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("B").unwrap();
    let loops = sch.get_loops(&block).unwrap();
    expect(&refused(sch.tensorize(&loops[1], "dot_4")), &["no tile \"dot_4\"", "transpose_8x8"]);
    expect(
        &refused(sch.tensorize(&loops[1], "tiles_uint8_int8")),
        &["tiles of uint8*int8", "multiple of 16 rows"],
    );
    expect(&refused(sch.tensorize(&loops[1], "transpose_4x4")), &["not serial ones of so many iterations"]);
    expect(&refused(sch.tensorize(&loops[0], "transpose_8x8")), &["the inner loop's body is no block"]);
    expect(&refused(sch.tensorize(&loops[2], "transpose_8x8")), &["its body is no loop"]);
    let mut along = sch.clone();
    along.reorder(&[loops[2].clone(), loops[1].clone()]).unwrap();
    expect(&refused(along.tensorize(&loops[2], "transpose_8x8")), &["not contiguous along the inner loop"]);
    let mut aliased = kernel.function.clone();
    aliased.attrs.remove(chipdock_ir::attr::NOALIAS);
    let mut other = Schedule::new(&aliased);
    let block = other.get_sblock("B").unwrap();
    let i = other.get_loops(&block).unwrap()[1].clone();
    expect(&refused(other.tensorize(&i, "transpose_8x8")), &["may overlap"]);
    sch.tensorize(&loops[1], "transpose_8x8").unwrap();
    check(&kernel, &sch);
    check_lowered(&kernel, &sch);
}

#[test]
fn consumers_move_to_their_producers() {
    for n in SIZES {
        for symbolic in [false, true] {
            let kernel = kernels::pipeline(n, symbolic);
            let mut sch = Schedule::new(&kernel.function);
            let (c, d) = (sch.get_sblock("C").unwrap(), sch.get_sblock("D").unwrap());
            let loops = sch.get_loops(&c).unwrap();
            let parts = sch.split(&loops[0], &[None, Some(4)], Tail::Predicate).unwrap();
            sch.parallel(&parts[0]).unwrap();
            sch.reverse_compute_at(&d, &parts[0]).unwrap();
            check(&kernel, &sch);
            assert_eq!(sch.get_loops(&d).unwrap().len(), 2);
        }
    }
}

#[test]
fn refusals_of_moves() {
    let kernel = kernels::pipeline(9, false);
    let mut sch = Schedule::new(&kernel.function);
    let (b, c) = (sch.get_sblock("B").unwrap(), sch.get_sblock("C").unwrap());
    let d = sch.get_sblock("D").unwrap();
    let (of_b, of_c) = (sch.get_loops(&b).unwrap(), sch.get_loops(&c).unwrap());
    let of_d = sch.get_loops(&d).unwrap();
    expect(&refused(sch.compute_at(&d, &of_c[0])), &["does not stand before loop \"i\""]);
    expect(&refused(sch.compute_at(&b, &of_d[0])), &["the consumer \"C\", which is not under loop \"i\""]);
    expect(&refused(sch.reverse_compute_at(&b, &of_c[0])), &["does not stand after"]);
    expect(&refused(sch.reverse_compute_at(&c, &of_b[0])), &["does not read all of buffer \"B\""]);
    expect(&refused(sch.reverse_compute_at(&d, &of_b[0])), &["reads nothing that is written under"]);
    expect(&refused(sch.compute_inline(&d)), &["no intermediate"]);
    expect(&refused(sch.reverse_compute_inline(&c)), &["does not read one element of exactly one"]);
    expect(&refused(sch.reverse_compute_inline(&b)), &["does not read one element"]);
    let kernel = kernels::matmul([4, 8, 3], false, DType::INT32, true);
    let mut sch = Schedule::new(&kernel.function);
    let c = sch.get_sblock("C").unwrap();
    expect(&refused(sch.compute_inline(&c)), &["axes that are not spatial"]);
}

/// The first loop has no predicate, the second has the rest.
#[test]
fn partitioned_loops_keep_results() {
    for n in [0, 1, 3, 4, 5, 8, 9, 17] {
        for symbolic in [false, true] {
            let kernel = kernels::elementwise([3, n], symbolic);
            let mut sch = Schedule::new(&kernel.function);
            let block = sch.get_sblock("B").unwrap();
            let loops = sch.get_loops(&block).unwrap();
            let parts = sch.split(&loops[1], &[None, Some(4)], Tail::Predicate).unwrap();
            let mut other = sch.clone();
            other.partition(&parts[0], Cut::After(2)).unwrap();
            check(&kernel, &other);
            if n % 4 == 0 && !symbolic {
                expect(&refused(sch.partition(&parts[0], Cut::Full)), &["no predicate under loop \"j_0\""]);
                continue;
            }
            let made = sch.partition(&parts[0], Cut::Full).unwrap();
            check(&kernel, &sch);
            assert_eq!(made.len(), 2);
            let text = print::function(sch.function());
            let second = text.find("T.sblock(\"B_1\")").unwrap();
            assert!(!text[..second].contains("T.where("), "{text}");
            expect(&text[second..], &["T.where("]);
            assert!(refused(sch.partition(&made[0], Cut::After(-1))).contains("not negative"));
        }
    }
}
