//! Copies of whole buffers, and scopes (SCHED-15, SCHED-16).

use chipdock_ir::build::{self, FunctionBuilder, R};
use chipdock_ir::{BinaryOp, Buffer, CompareOp, DType, Expr, Op, StorageScope, ThreadAxis, print};
use chipdock_passes::schedule::{Schedule, Tail, Trace};

use super::kernels::{self, Kernel};
use super::{check, check_lowered, expect, refused};

const SHAPES: [[usize; 3]; 7] =
    [[4, 8, 3], [5, 9, 7], [1, 1, 1], [3, 17, 0], [0, 4, 4], [13, 2, 31], [4, 0, 5]];

/// Checks the schedule, and that its trace makes it again (SCHED-4).
#[track_caller]
fn check_traced(kernel: &Kernel, sch: &Schedule) {
    check(kernel, sch);
    check_lowered(kernel, sch);
    let trace: Trace = sch.trace().to_string().parse().unwrap();
    let again = trace.replay(&kernel.function).unwrap();
    assert_eq!(again.trace(), sch.trace());
    assert_eq!(print::function(again.function()), print::function(sch.function()));
}

/// The function as text.
fn text(sch: &Schedule) -> String {
    print::function(sch.function())
}

/// SCHED-15: both operands and the result, of a product with what follows it, before and after
/// loops are split.
#[test]
fn cached_products_keep_results() {
    for shape in SHAPES {
        for symbolic in [false, true] {
            for epilogue in [false, true] {
                // Nothing writes what the epilogue reads, if there is no step.
                let shape = if epilogue { [shape[0], shape[1], shape[2].max(1)] } else { shape };
                for dtype in [DType::INT32, DType::FLOAT32] {
                    let kernel = kernels::matmul(shape, symbolic, dtype, epilogue);
                    for split_first in [false, true] {
                        cached_product(&kernel, split_first, epilogue);
                    }
                }
            }
        }
    }
}

fn cached_product(kernel: &Kernel, split_first: bool, epilogue: bool) {
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("C").unwrap();
    let split = |sch: &mut Schedule| {
        let l = sch.get_loops(&block).unwrap();
        let i = sch.split(&l[0], &[None, Some(4)], Tail::Predicate).unwrap();
        let j = sch.split(&l[1], &[None, Some(8)], Tail::Predicate).unwrap();
        let k = sch.split(&l[2], &[None, Some(3)], Tail::Predicate).unwrap();
        let order = [&i[0], &j[0], &k[0], &k[1], &i[1], &j[1]].map(Clone::clone);
        sch.reorder(&order).unwrap();
        order
    };
    let early = split_first.then(|| split(&mut sch));
    let a = sch.cache_read(&block, 0, "local").unwrap();
    check(kernel, &sch);
    let b = sch.cache_read(&block, 1, "shared").unwrap();
    check(kernel, &sch);
    let c = sch.cache_write(&block, 0, "local").unwrap();
    check_traced(kernel, &sch);
    assert_eq!([a.name(), b.name(), c.name()], ["A_local", "B_shared", "C_local"]);
    assert_eq!(sch.get_loops(&c).unwrap().len(), 2);
    if epilogue {
        let d = sch.get_sblock("D").unwrap();
        let read = sch.cache_read(&d, 0, "global").unwrap();
        assert_eq!(read.name(), "C_global");
        let back = sch.cache_write(&d, 0, "local").unwrap();
        check_traced(kernel, &sch);
        assert_eq!(back.name(), "D_local");
    }
    let l = early.unwrap_or_else(|| split(&mut sch));
    sch.reverse_compute_at(&c, &l[1]).unwrap();
    check(kernel, &sch);
    sch.compute_at(&a, &l[2]).unwrap();
    check(kernel, &sch);
    sch.compute_at(&b, &l[3]).unwrap();
    check_traced(kernel, &sch);
    sch.compact(&block).unwrap();
    let outer = sch.fuse(&l[..2]).unwrap();
    let _ = sch.parallel(&outer);
    check_traced(kernel, &sch);
}

/// Chains of nests: each buffer is copied on its way in and on its way out, twice.
#[test]
fn cached_pipelines_keep_results() {
    for n in [0, 1, 2, 3, 4, 5, 8, 9, 17] {
        for symbolic in [false, true] {
            let mut all = vec![kernels::pipeline(n, symbolic)];
            if n > 0 {
                all.push(kernels::softmax([3, n], symbolic));
            }
            all.push(kernels::reduced([n, 4], symbolic, DType::FLOAT32, BinaryOp::Max));
            all.push(kernels::elementwise([n, 3], symbolic));
            for kernel in all {
                let mut sch = Schedule::new(&kernel.function);
                for _ in 0..2 {
                    for name in ["M", "E", "S", "B", "C", "D"] {
                        let Ok(block) = sch.get_sblock(name) else { continue };
                        sch.cache_read(&block, 0, "local").unwrap();
                        check(&kernel, &sch);
                        sch.cache_write(&block, 0, "global").unwrap();
                        check(&kernel, &sch);
                    }
                }
                check_traced(&kernel, &sch);
            }
        }
    }
}

/// The text before and after, and names that are taken.
#[test]
fn caches_look_as_documented() {
    let kernel = kernels::matmul([4, 8, 3], true, DType::INT32, false);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("C").unwrap();
    let a = sch.cache_read(&block, 0, "shared.dyn").unwrap();
    let again = sch.cache_read(&block, 0, "shared.dyn").unwrap();
    let c = sch.cache_write(&block, 0, "local").unwrap();
    assert_eq!([a.name(), again.name(), c.name()], ["A_shared_dyn", "A_shared_dyn_shared_dyn", "C_local"]);
    let text = text(&sch);
    expect(
        &text,
        &[
            "scope=\"shared.dyn\"",
            "A_shared_dyn[v0, v1] = A[v0, v1]",
            "A_shared_dyn_shared_dyn[v0, v1] = A_shared_dyn[v0, v1]",
            "C_local[vi, vj] = 0",
            "C_local[vi, vj] = C_local[vi, vj] + A_shared_dyn_shared_dyn[vi, vk] * B[vk, vj]",
            "T.where(k > 0)",
            "C[v0, v1] = C_local[v0, v1]",
        ],
    );
    let b = sch.cache_read(&block, 1, "global").unwrap();
    let copy = sch.cache_write(&b, 0, "global").unwrap();
    assert_eq!(copy.name(), "B_global_global");
    let other = sch.cache_read(&copy, 0, "").unwrap();
    assert_eq!(other.name(), "B_global_global_global");
    check_traced(&kernel, &sch);
    // A constant number of steps needs no condition.
    let kernel = kernels::matmul([4, 8, 3], false, DType::INT32, false);
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("C").unwrap();
    sch.cache_write(&block, 0, "local").unwrap();
    let first = print::function(sch.function());
    assert!(!first.contains("T.where"), "{first}");
}

/// A function of two vectors of `n` elements and an intermediate one.
fn vectors(noalias: bool, build: impl FnOnce(&mut FunctionBuilder, &Expr, [&Buffer; 3])) -> Kernel {
    let mut f = build::function("vectors");
    if noalias {
        f.noalias();
    }
    let n = f.size("n");
    let (a, b) = (f.buffer("A", &n, DType::INT32), f.buffer("B", &n, DType::INT32));
    let t = f.block_alloc("T0", &n, DType::INT32, StorageScope::GLOBAL);
    build(&mut f, &n, [&a, &b, &t]);
    Kernel { function: f.finish(), shapes: vec![vec![6], vec![6]] }
}

/// A block over all elements: `to[vi] = value(vi)`.
fn over(f: &mut FunctionBuilder, name: &str, n: &Expr, to: &Buffer, value: impl FnOnce(&Expr) -> Expr) {
    f.grid(["i"], [n], |f, [i]| {
        f.block(name, |f| {
            let vi = f.spatial("vi", n, &i);
            f.store(to, &vi, value(&vi));
        });
    });
}

#[test]
fn refusals_of_copies_that_would_be_stale() {
    let kernel = vectors(true, |f, n, [a, b, t]| {
        over(f, "T0", n, t, |vi| a.at(vi) * 2);
        over(f, "B", n, b, |vi| b.at(vi) + t.at(vi));
    });
    let mut sch = Schedule::new(&kernel.function);
    let b = sch.get_sblock("B").unwrap();
    let message = refused(sch.cache_read(&b, 0, "local"));
    expect(&message, &["cache_read: block \"B\" reads buffer \"B\"", "written in the same nest", "stale"]);
    expect(&refused(sch.cache_read(&b, 2, "local")), &["reads no buffer number 2; it reads 2: B, T0"]);
    expect(&refused(sch.cache_write(&b, 1, "local")), &["writes no buffer number 1; it writes 1: B"]);
    expect(&refused(sch.cache_write(&b, 0, "local")), &["reads what it writes", "has no init"]);
    expect(&refused(sch.cache_read(&b, 1, "fast")), &["there is no scope \"fast\"", "shared.dyn"]);
    expect(&refused(sch.cache_write(&b, 0, "wmma.accumulator")), &["there is no scope"]);
    sch.cache_read(&b, 1, "local").unwrap();
    check_traced(&kernel, &sch);
    // One loop around both: the copy would stand before the first write.
    let kernel = kernels::chained(5);
    let mut sch = Schedule::new(&kernel.function);
    let (b, c) = (sch.get_sblock("B").unwrap(), sch.get_sblock("C").unwrap());
    expect(&refused(sch.cache_read(&c, 0, "local")), &["buffer \"B\"", "written in the same nest"]);
    expect(
        &refused(sch.cache_write(&b, 0, "local")),
        &["not the only one in its nest to touch buffer \"B\""],
    );
    expect(&refused(sch.cache_write(&c, 0, "local")), &["predicate `i > 0`"]);
    sch.cache_read(&b, 0, "local").unwrap();
    check_traced(&kernel, &sch);
}

/// SCHED-10.
#[test]
fn refusals_where_parameters_may_overlap() {
    let build = |noalias: bool| {
        vectors(noalias, |f, n, [a, b, t]| {
            over(f, "T0", n, t, |vi| a.at(vi) * 2);
            over(f, "B", n, b, |vi| a.at(vi) + t.at(vi));
        })
    };
    let kernel = build(false);
    let mut sch = Schedule::new(&kernel.function);
    let (t, b) = (sch.get_sblock("T0").unwrap(), sch.get_sblock("B").unwrap());
    let message = refused(sch.cache_read(&b, 0, "local"));
    expect(&message, &["buffer \"A\"", "may overlap with buffer \"B\"", "tirx.noalias"]);
    let message = refused(sch.cache_write(&b, 0, "local"));
    expect(&message, &["writes buffer \"B\"", "may overlap with buffer \"A\"", "tirx.noalias"]);
    // Nothing overlaps with what the function allocates.
    sch.cache_read(&t, 0, "local").unwrap();
    sch.cache_write(&t, 0, "local").unwrap();
    sch.cache_read(&b, 1, "local").unwrap();
    check_traced(&kernel, &sch);
    let kernel = build(true);
    let mut sch = Schedule::new(&kernel.function);
    let b = sch.get_sblock("B").unwrap();
    sch.cache_read(&b, 0, "local").unwrap();
    sch.cache_write(&b, 0, "local").unwrap();
    check_traced(&kernel, &sch);
}

/// Elements that nothing wrote are not copied.
#[test]
fn only_elements_with_values_are_copied() {
    // The first half of T0, and B but for its first element.
    let kernel = vectors(true, |f, n, [a, b, t]| {
        let half = n.clone().floor_div(2);
        over(f, "T0", &half, t, |vi| a.at(vi) * 2);
        f.grid(["i"], [&half], |f, [i]| {
            f.block("B", |f| {
                let vi = f.spatial("vi", &half, &i);
                f.store(b, &vi + 1, t.at(&vi) + a.at(&vi + 1) + a.at(&vi) * 5);
            });
        });
    });
    for scope in ["local", "global"] {
        let mut sch = Schedule::new(&kernel.function);
        let (t, b) = (sch.get_sblock("T0").unwrap(), sch.get_sblock("B").unwrap());
        sch.cache_read(&b, 0, scope).unwrap();
        sch.cache_read(&b, 1, scope).unwrap();
        // Both accesses of one buffer.
        expect(&text(&sch), &[&format!("A_{scope}[vi + 1] + A_{scope}[vi] * 5")]);
        check(&kernel, &sch);
        sch.cache_write(&b, 0, scope).unwrap();
        sch.cache_write(&t, 0, scope).unwrap();
        check_traced(&kernel, &sch);
        let loops = sch.get_loops(&t).unwrap();
        sch.split(&loops[0], &[None, Some(2)], Tail::Predicate).unwrap();
        sch.cache_write(&t, 0, scope).unwrap();
        check_traced(&kernel, &sch);
    }
}

/// Two writers: one that writes all comes first, as the first value of a sum.
#[test]
fn a_buffer_of_several_writers_is_copied_if_one_writes_all() {
    for (shape, split) in [([4, 8, 3], 4), ([5, 9, 7], 3), ([1, 1, 1], 2)] {
        for symbolic in [false, true] {
            let kernel = kernels::matmul(shape, symbolic, DType::INT32, true);
            let mut sch = Schedule::new(&kernel.function);
            let (c, d) = (sch.get_sblock("C").unwrap(), sch.get_sblock("D").unwrap());
            let loops = sch.get_loops(&c).unwrap();
            let init = sch.decompose_reduction(&c, &loops[0]).unwrap();
            for of in sch.get_loops(&init).unwrap() {
                sch.split(&of, &[None, Some(split)], Tail::Predicate).unwrap();
            }
            sch.cache_read(&d, 0, "local").unwrap();
            check_traced(&kernel, &sch);
            expect(&refused(sch.cache_write(&c, 0, "local")), &["reads what it writes", "no init"]);
            sch.cache_write(&init, 0, "local").unwrap();
            check_traced(&kernel, &sch);
        }
    }
    let kernel = kernels::matmul([5, 9, 7], false, DType::INT32, true);
    let mut sch = Schedule::new(&kernel.function);
    let (c, d) = (sch.get_sblock("C").unwrap(), sch.get_sblock("D").unwrap());
    let loops = sch.get_loops(&c).unwrap();
    sch.partition(&loops[0], chipdock_passes::schedule::Cut::After(2)).unwrap();
    expect(
        &refused(sch.cache_read(&d, 0, "local")),
        &["buffer \"C\", which 2 blocks write, none of them all"],
    );
    // Each part copies what it writes.
    let parts = ["C", "C_1"].map(|name| sch.get_sblock(name).unwrap());
    for part in &parts {
        sch.cache_write(part, 0, "local").unwrap();
        check_traced(&kernel, &sch);
    }
}

fn expect_unknown(kernel: &Kernel, reason: &[&str]) {
    let mut sch = Schedule::new(&kernel.function);
    let (t, b) = (sch.get_sblock("T0").unwrap(), sch.get_sblock("B").unwrap());
    let message = refused(sch.cache_read(&b, 0, "local"));
    expect(&message, &["not known which elements of buffer \"T0\" have a value"]);
    expect(&message, reason);
    expect(&refused(sch.cache_write(&t, 0, "local")), reason);
}

#[test]
fn refusals_of_writes_that_are_no_region() {
    let reader = |f: &mut FunctionBuilder, n: &Expr, b: &Buffer, t: &Buffer| {
        over(f, "B", n, b, |vi| vi.clone().lt(1).then_else(t.at(vi), 0));
    };
    // Every second element.
    let kernel = vectors(true, |f, n, [a, b, t]| {
        f.grid(["i"], [n.clone().floor_div(2)], |f, [i]| {
            f.block("T0", |f| {
                let vi = f.spatial("vi", n, &i * 2);
                f.store(t, &vi, a.at(&vi));
            });
        });
        reader(f, n, b, t);
    });
    expect_unknown(&kernel, &["block \"T0\" does not write a dense region of buffer \"T0\" along axis 0"]);
    // Under a condition.
    let kernel = vectors(true, |f, n, [a, b, t]| {
        f.if_then(n.clone().gt(3), |f| {
            f.grid(["i"], [n], |f, [i]| {
                f.block("T0", |f| {
                    let vi = f.spatial("vi", n, &i);
                    f.if_then(a.at(&vi).gt(0), |f| f.store(t, &vi, a.at(&vi)));
                });
            });
        });
        reader(f, n, b, t);
    });
    expect_unknown(&kernel, &["block \"T0\"", "under a condition"]);
    // Not in every run.
    let kernel = vectors(true, |f, n, [a, b, t]| {
        f.grid(["i"], [n], |f, [i]| {
            f.block("T0", |f| {
                let vi = f.spatial("vi", n, &i);
                f.if_then(a.at(&vi).gt(0), |f| f.store(t, &vi, a.at(&vi)));
            });
        });
        reader(f, n, b, t);
    });
    expect_unknown(&kernel, &["does not write one element of buffer \"T0\" in every run"]);
    // A predicate that is no domain, and a loop that ends early.
    let kernel = vectors(true, |f, n, [a, b, t]| {
        f.grid(["i"], [n], |f, [i]| {
            f.block("T0", |f| {
                let vi = f.spatial("vi", n, &i);
                f.predicate(i.clone().ge(2));
                f.store(t, &vi, a.at(&vi));
            });
        });
        reader(f, n, b, t);
    });
    expect_unknown(&kernel, &["predicate `i >= 2`"]);
    let kernel = vectors(true, |f, n, [a, b, t]| {
        f.grid(["i"], [n], |f, [i]| {
            f.block("T0", |f| {
                let vi = f.spatial("vi", n, &i);
                f.store(t, &vi, a.at(&vi));
            });
            f.if_then(Expr::compare(CompareOp::Eq, i.clone(), Expr::i32(3)), |f| f.break_loop());
        });
        reader(f, n, b, t);
    });
    expect_unknown(&kernel, &["left before its end"]);
}

/// Memory that is used by a pointer or a view may change unseen.
#[test]
fn refusals_of_views_and_pointers() {
    let kernel = vectors(true, |f, n, [a, b, t]| {
        over(f, "T0", n, t, |vi| a.at(vi));
        f.grid(["i"], [n], |f, [i]| {
            f.block("B", |f| {
                let vi = f.spatial("vi", n, &i);
                let view = f.match_buffer("V", [1], t.point(&vi));
                f.store(b, &vi, view.at(0));
            });
        });
    });
    let mut sch = Schedule::new(&kernel.function);
    let (t, b) = (sch.get_sblock("T0").unwrap(), sch.get_sblock("B").unwrap());
    for message in [
        refused(sch.cache_read(&b, 0, "local")),
        refused(sch.cache_write(&t, 0, "local")),
        refused(sch.set_scope(&t, 0, "local")),
    ] {
        expect(&message, &["view"]);
    }
    // An atomic sum in the block that reads.
    let kernel = vectors(true, |f, n, [a, b, _]| {
        f.grid(["i"], [n], |f, [i]| {
            f.block("B", |f| {
                let vi = f.spatial("vi", n, &i);
                f.store(b, &vi, a.at(&vi));
                let address = a.at(&vi + 0).address_of();
                f.evaluate(Expr::call(Op::AtomicAdd, vec![address, Expr::i32(1)], DType::INT32));
            });
        });
    });
    let mut sch = Schedule::new(&kernel.function);
    let b = sch.get_sblock("B").unwrap();
    expect(&refused(sch.cache_read(&b, 0, "local")), &["buffer \"A\"", "by a pointer"]);
    let loops = sch.get_loops(&b).unwrap();
    expect(&refused(sch.read_at(&loops[0], &b, 0, "global", &[], None)), &["\"A\""]);
    sch.cache_write(&b, 0, "local").unwrap();
    // What the block has for itself.
    let kernel = vectors(true, |f, n, [a, b, _]| {
        f.grid(["i"], [n], |f, [i]| {
            f.block("B", |f| {
                let vi = f.spatial("vi", n, &i);
                let own = f.block_alloc("O", [1], DType::INT32, StorageScope::LOCAL);
                f.store(&own, 0, a.at(&vi));
                f.store(b, &vi, own.at(0));
            });
        });
    });
    let mut sch = Schedule::new(&kernel.function);
    let b = sch.get_sblock("B").unwrap();
    expect(&refused(sch.cache_read(&b, 1, "local")), &["buffer \"O\"", "exists only within the block"]);
    expect(&refused(sch.cache_write(&b, 0, "local")), &["buffer \"O\"", "exists only within the block"]);
    sch.cache_write(&b, 1, "local").unwrap();
    sch.set_scope(&b, 0, "global").unwrap();
    check_traced(&kernel, &sch);
}

/// Blocks within blocks: what the outer one declares, and memory that it allocates.
#[test]
fn caches_within_blocks() {
    let kernel = vectors(true, |f, n, [a, b, _]| {
        f.grid(["r"], [2], |f, [r]| {
            f.block("outer", |f| {
                let vr = f.axis("vr", chipdock_ir::IterKind::Ordered, 2, &r);
                let own = f.block_alloc("O", n, DType::INT32, StorageScope::GLOBAL);
                f.reads([a.region([(Expr::i32(0), n.clone())])]);
                f.writes([b.region([(Expr::i32(0), n.clone())])]);
                f.grid(["i"], [n], |f, [i]| {
                    f.block("O", |f| {
                        let vi = f.spatial("vi", n, &i);
                        f.store(&own, &vi, a.at(&vi) + &vr);
                    });
                });
                f.grid(["i"], [n], |f, [i]| {
                    f.block("B", |f| {
                        let vi = f.spatial("vi", n, &i);
                        f.store(b, &vi, own.at(&vi) * 3);
                    });
                });
            });
        });
    });
    let mut sch = Schedule::new(&kernel.function);
    let (o, b) = (sch.get_sblock("O").unwrap(), sch.get_sblock("B").unwrap());
    sch.cache_read(&o, 0, "local").unwrap();
    check_traced(&kernel, &sch);
    sch.cache_read(&b, 0, "local").unwrap();
    sch.cache_write(&o, 0, "local").unwrap();
    check_traced(&kernel, &sch);
    sch.set_scope(&o, 0, "shared").unwrap();
    check_traced(&kernel, &sch);
    expect(&refused(sch.cache_write(&b, 0, "local")), &["within another block"]);
    let outer = sch.get_sblock("outer").unwrap();
    sch.cache_read(&outer, 0, "global").unwrap();
    check_traced(&kernel, &sch);
    expect(
        &refused(sch.cache_write(&outer, 0, "local")),
        &["does not write one element of buffer \"B\" in every run"],
    );
}

/// A reduction to one element, a reduction that does not begin at its start, and a sum along an
/// ordered axis.
#[test]
fn reductions_of_every_form() {
    let kernel = |size: usize| {
        let mut f = build::function("total");
        f.noalias();
        let n = f.size("n");
        let (a, s) = (f.buffer("A", &n, DType::INT32), f.buffer("S", [0; 0].map(Expr::i32), DType::INT32));
        f.grid(["k"], [&n], |f, [k]| {
            f.block("S", |f| {
                let [vk] = f.remap([R], ["vk"], [&k]);
                f.init(|f| f.store(&s, [0; 0].map(Expr::i32), 7));
                f.store(&s, [0; 0].map(Expr::i32), s.at([0; 0].map(Expr::i32)) + a.at(&vk));
            });
        });
        Kernel { function: f.finish(), shapes: vec![vec![size], vec![]] }
    };
    for size in [0, 1, 5] {
        let kernel = kernel(size);
        let mut sch = Schedule::new(&kernel.function);
        let block = sch.get_sblock("S").unwrap();
        let copy = sch.cache_write(&block, 0, "local").unwrap();
        check_traced(&kernel, &sch);
        assert!(sch.get_loops(&copy).unwrap().is_empty());
        let loops = sch.get_loops(&block).unwrap();
        let parts = sch.split(&loops[0], &[None, Some(3)], Tail::Predicate).unwrap();
        sch.cache_write(&block, 0, "local").unwrap();
        sch.cache_read(&copy, 0, "local").unwrap();
        check_traced(&kernel, &sch);
        sch.vectorize(&parts[1]).unwrap_err();
    }
    let kernel = vectors(true, |f, n, [a, b, _]| {
        f.grid(["i", "k"], (n, 3), |f, [i, k]| {
            f.block("B", |f| {
                let vi = f.spatial("vi", n, &i);
                let vk = f.reduce("vk", 4, &k + 1);
                f.init(|f| f.store(b, &vi, 0));
                f.store(b, &vi, b.at(&vi) + a.at(&vi) * &vk);
            });
        });
    });
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("B").unwrap();
    let message = refused(sch.cache_write(&block, 0, "local"));
    expect(&message, &["may not begin with the first value of its reduction \"vk\""]);
    sch.cache_read(&block, 0, "local").unwrap();
    check_traced(&kernel, &sch);
    let kernel = vectors(true, |f, n, [a, b, _]| {
        f.grid(["i"], [n], |f, [i]| {
            f.block("B", |f| {
                let vi = f.axis("vi", chipdock_ir::IterKind::Ordered, n, &i);
                f.store(b, &vi, vi.clone().gt(0).then_else(b.at(&vi - 1), 0) + a.at(&vi));
            });
        });
    });
    let mut sch = Schedule::new(&kernel.function);
    let block = sch.get_sblock("B").unwrap();
    expect(&refused(sch.cache_write(&block, 0, "local")), &["reads other elements of buffer \"B\""]);
}

/// SCHED-16: memory that threads have for themselves is no other thread's.
#[test]
fn scopes_that_threads_do_not_share() {
    let kernel = vectors(true, |f, n, [a, b, t]| {
        over(f, "T0", n, t, |vi| a.at(vi) * 2);
        f.thread_binding("tx", n.clone(), ThreadAxis::ThreadX, |f, tx| {
            let own = f.alloc("O", [1], DType::INT32, StorageScope::LOCAL);
            f.block("O", |f| {
                let vi = f.spatial("vi", n, &tx);
                f.store(&own, 0, t.at(&vi));
            });
            f.block("B", |f| {
                let vi = f.spatial("vi", n, &tx);
                f.store(b, &vi, own.at(0));
            });
        });
    });
    let mut sch = Schedule::new(&kernel.function);
    let [t, o, b] = ["T0", "O", "B"].map(|name| sch.get_sblock(name).unwrap());
    expect(
        &refused(sch.cache_read(&o, 0, "shared")),
        &["under loop \"tx\"", "do not see memory of scope \"shared\" outside", "read_at"],
    );
    expect(&refused(sch.cache_read(&b, 0, "shared")), &["under loop \"tx\"", "would all write one copy"]);
    expect(&refused(sch.cache_write(&b, 0, "local")), &["expected \"global\""]);
    expect(
        &refused(sch.set_scope(&t, 0, "local")),
        &["buffer \"T0\"", "used under loop \"tx\"", "scope \"local\" than of \"global\""],
    );
    expect(&refused(sch.set_scope(&b, 0, "local")), &["buffer \"B\", which is no intermediate"]);
    expect(&refused(sch.set_scope(&t, 0, "register")), &["there is no scope \"register\""]);
    expect(&refused(sch.set_scope(&t, 1, "local")), &["writes no buffer number 1"]);
    sch.set_scope(&t, 0, "global.texture").unwrap();
    check(&kernel, &sch);
    sch.set_scope(&t, 0, "global").unwrap();
    sch.cache_read(&o, 0, "global").unwrap();
    sch.cache_read(&b, 0, "local").unwrap();
    sch.cache_write(&o, 0, "local").unwrap();
    sch.cache_write(&b, 0, "global").unwrap();
    check(&kernel, &sch);
}

/// Copies with the condition that there are steps move into loops, and keep it.
#[test]
fn copies_with_conditions_move() {
    for shape in SHAPES {
        let kernel = kernels::matmul(shape, true, DType::INT32, false);
        let mut sch = Schedule::new(&kernel.function);
        let block = sch.get_sblock("C").unwrap();
        let copy = sch.cache_write(&block, 0, "local").unwrap();
        let second = sch.cache_write(&copy, 0, "global").unwrap();
        let loops = sch.get_loops(&block).unwrap();
        sch.reverse_compute_at(&copy, &loops[1]).unwrap();
        check_traced(&kernel, &sch);
        expect(&text(&sch), &["T.where(k > 0)"]);
        let of_second = sch.get_loops(&second).unwrap();
        expect(&refused(sch.compute_at(&block, &of_second[0])), &["block"]);
        sch.compact(&block).unwrap();
        check_traced(&kernel, &sch);
    }
}

/// A consumer passes what stands between, not what stands after it.
#[test]
fn consumers_move_past_statements_in_between() {
    for is_between in [true, false] {
        let kernel = vectors(true, |f, n, [a, b, t]| {
            over(f, "T0", n, t, |vi| a.at(vi) * 2);
            if is_between {
                over(f, "X", n, a, |vi| b.at(vi) + 1);
            }
            over(f, "B", n, b, |vi| t.at(vi) + 3);
            if !is_between {
                over(f, "X", n, a, |vi| b.at(vi) + 1);
            }
        });
        let mut sch = Schedule::new(&kernel.function);
        let [t, b] = ["T0", "B"].map(|name| sch.get_sblock(name).unwrap());
        let loops = sch.get_loops(&t).unwrap();
        if is_between {
            expect(&refused(sch.reverse_compute_at(&b, &loops[0])), &["buffer \"B\" that is touched before"]);
        } else {
            sch.reverse_compute_at(&b, &loops[0]).unwrap();
        }
        check_traced(&kernel, &sch);
    }
}

/// A block does not leave a condition.
#[test]
fn blocks_stay_under_their_conditions() {
    let kernel = vectors(true, |f, n, [a, b, t]| {
        over(f, "T0", n, t, |vi| a.at(vi) * 2);
        f.if_then(n.clone().gt(100), |f| {
            f.grid(["i"], [n], |f, [i]| {
                f.block("B", |f| {
                    let vi = f.spatial("vi", n, &i);
                    f.store(b, &vi, t.at(&vi) + 3);
                });
            });
        });
    });
    let mut sch = Schedule::new(&kernel.function);
    let [t, b] = ["T0", "B"].map(|name| sch.get_sblock(name).unwrap());
    let [of_t, of_b] = [&t, &b].map(|block| sch.get_loops(block).unwrap());
    expect(&refused(sch.reverse_compute_at(&b, &of_t[0])), &["block \"B\" stands under a condition"]);
    sch.compute_at(&t, &of_b[0]).unwrap();
    check_traced(&kernel, &sch);
}
