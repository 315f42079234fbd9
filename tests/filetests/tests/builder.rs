//! Checks that the kernels built in Rust equal those of `examples/kernels`, one by one.

use chipdock_ir::build::{self, Body, Loop, R, S};
use chipdock_ir::{DType, Expr, IrModule, PrimFunc, Stage, StorageScope, ThreadAxis, equal, validate};
use chipdock_test_support::workspace;

const F32: DType = DType::FLOAT32;
const I32: DType = DType::INT32;

fn script(path: &str) -> IrModule {
    let path = workspace().join(path);
    let text = std::fs::read_to_string(&path).expect("the kernel");
    chipdock_script::parse(&text, &path.display().to_string()).expect("a script that is read")
}

/// The functions, built, are those of the file.
fn same(path: &str, functions: impl IntoIterator<Item = PrimFunc>) {
    let built = build::module(functions);
    validate::validate(&built, Stage::Blocks).expect("a valid module");
    if let Err(difference) = equal::modules(&built, &script(path)) {
        panic!("{path}: {difference}\n{}", chipdock_ir::print::module(&built));
    }
}

#[test]
fn elementwise() {
    let mut f = build::function("gelu_tanh");
    let n = f.size("n");
    let (a, b) = (f.buffer("A", &n, F32), f.buffer("B", &n, F32));
    f.noalias();
    f.range("i", &n, |f, i| {
        f.block("B", |f| {
            let vi = f.spatial("vi", &n, i);
            f.reads([a.point(&vi)]);
            f.writes([b.point(&vi)]);
            let x = a.at(&vi);
            let inner = 0.79788456 * (&x + 0.044715 * &x * &x * &x);
            f.store(&b, &vi, 0.5 * &x * (1.0 + inner.tanh()));
        });
    });
    same("examples/kernels/gelu_tanh.py", [f.finish()]);
}

#[test]
fn softmax() {
    let mut f = build::function("softmax");
    let [n, d] = f.sizes(["n", "d"]);
    let (a, b) = (f.buffer("A", (&n, &d), F32), f.buffer("B", (&n, &d), F32));
    f.noalias();
    let m = f.block_alloc("M", &n, F32, StorageScope::GLOBAL);
    let e = f.block_alloc("E", (&n, &d), F32, StorageScope::GLOBAL);
    let s = f.block_alloc("S", &n, F32, StorageScope::GLOBAL);
    f.grid(["i", "k"], (&n, &d), |f, [i, k]| {
        f.block("M", |f| {
            let [vi, vk] = f.remap([S, R], ["vi", "vk"], [i, k]);
            f.reads([a.point((&vi, &vk))]);
            f.writes([m.point(&vi)]);
            f.init(|f| f.store(&m, &vi, f32::MIN));
            f.store(&m, &vi, m.at(&vi).max(a.at((&vi, &vk))));
        });
    });
    f.grid(["i", "j"], (&n, &d), |f, [i, j]| {
        f.block("E", |f| {
            let [vi, vj] = f.remap([S, S], ["vi", "vj"], [i, j]);
            f.reads([a.point((&vi, &vj)), m.point(&vi)]);
            f.writes([e.point((&vi, &vj))]);
            f.store(&e, (&vi, &vj), (a.at((&vi, &vj)) - m.at(&vi)).exp());
        });
    });
    f.grid(["i", "k"], (&n, &d), |f, [i, k]| {
        f.block("S", |f| {
            let [vi, vk] = f.remap([S, R], ["vi", "vk"], [i, k]);
            f.reads([e.point((&vi, &vk))]);
            f.writes([s.point(&vi)]);
            f.init(|f| f.store(&s, &vi, 0.0));
            f.store(&s, &vi, s.at(&vi) + e.at((&vi, &vk)));
        });
    });
    f.grid(["i", "j"], (&n, &d), |f, [i, j]| {
        f.block("B", |f| {
            let [vi, vj] = f.remap([S, S], ["vi", "vj"], [i, j]);
            f.reads([e.point((&vi, &vj)), s.point(&vi)]);
            f.writes([b.point((&vi, &vj))]);
            f.store(&b, (&vi, &vj), e.at((&vi, &vj)) / s.at(&vi));
        });
    });
    same("examples/kernels/softmax.py", [f.finish()]);
}

#[test]
fn a_while_loop_with_local_memory() {
    let mut f = build::function("while_loop");
    let n = f.size("n");
    let (a, out) = (f.buffer("A", &n, I32), f.buffer("S", &n, I32));
    f.noalias();
    f.range("i", &n, |f, i| {
        f.block("S", |f| {
            let vi = f.spatial("vi", &n, i);
            f.reads([a.point(&vi)]);
            f.writes([out.point(&vi)]);
            let x = f.block_alloc("x", 1, DType::INT64, StorageScope::LOCAL);
            let steps = f.block_alloc("steps", 1, I32, StorageScope::LOCAL);
            f.store(&x, 0, a.at(&vi).cast(DType::INT64));
            f.store(&steps, 0, 0);
            f.while_loop(x.at(0).gt(1), |f| {
                f.if_then_else(
                    x.at(0).floor_mod(2).equals(0),
                    |f| f.store(&x, 0, x.at(0).floor_div(2)),
                    |f| f.store(&x, 0, x.at(0) * 3 + 1),
                );
                f.store(&steps, 0, steps.at(0) + 1);
            });
            f.store(&out, &vi, steps.at(0));
        });
    });
    same("examples/kernels/while_loop.py", [f.finish()]);
}

#[test]
fn loops_of_every_kind_and_a_predicate() {
    let mut f = build::function("unroll_vectorize");
    let (a, b) = (f.buffer("A", 1000, F32), f.buffer("B", 1000, F32));
    f.noalias();
    let body = |f: &mut Body, [io, iu, iv]: [&Expr; 3]| {
        let index = io * 64 + iu * 16 + iv;
        f.block("B", |f| {
            let vi = f.spatial("vi", 1000, &index);
            f.predicate(index.lt(1000));
            f.reads([a.point(&vi)]);
            f.writes([b.point(&vi)]);
            f.store(&b, &vi, (0.5 * a.at(&vi) + 2.0) * a.at(&vi) + 1.0);
        });
    };
    f.for_each(Loop::serial("io", 16), |f, io| {
        f.unroll("iu", 4, |f, iu| f.vectorized("iv", 16, |f, iv| body(f, [&io, &iu, &iv])));
    });
    same("examples/kernels/unroll_vectorize.py", [f.finish()]);
}

#[test]
fn several_functions_and_a_scalar() {
    let elementwise = |name: &str, build: &dyn Fn(&mut build::FunctionBuilder, &Expr)| {
        let mut f = build::function(name);
        let n = f.size("n");
        build(&mut f, &n);
        f.noalias();
        f.finish()
    };
    let scale = elementwise("scale", &|f, n| {
        let a = f.buffer("A", n, F32);
        let factor = f.scalar("factor", F32);
        let b = f.buffer("B", n, F32);
        f.range("i", n, |f, i| {
            f.block("B", |f| {
                let vi = f.spatial("vi", n, i);
                f.reads([a.point(&vi)]);
                f.writes([b.point(&vi)]);
                f.store(&b, &vi, &factor * a.at(&vi));
            });
        });
    });
    let add = elementwise("add", &|f, n| {
        let [a, b, c] = ["A", "B", "C"].map(|name| f.buffer(name, n, F32));
        f.range("i", n, |f, i| {
            f.block("C", |f| {
                let vi = f.spatial("vi", n, i);
                f.reads([a.point(&vi), b.point(&vi)]);
                f.writes([c.point(&vi)]);
                f.store(&c, &vi, a.at(&vi) + b.at(&vi));
            });
        });
    });
    same("examples/kernels/multi.py", [scale, add]);
}

#[test]
fn a_guarded_gather() {
    let mut f = build::function("gather");
    let [m, d, n] = f.sizes(["m", "d", "n"]);
    let a = f.buffer("A", (&m, &d), F32);
    let idx = f.buffer("Idx", &n, I32);
    let b = f.buffer("B", (&n, &d), F32);
    f.noalias();
    f.grid(["i", "j"], (&n, &d), |f, [i, j]| {
        f.block("B", |f| {
            let [vi, vj] = f.remap([S, S], ["vi", "vj"], [i, j]);
            let at = idx.at(&vi);
            f.reads([idx.point(&vi), a.point((&at, &vj))]);
            f.writes([b.point((&vi, &vj))]);
            let inside = at.ge(0).and(at.lt(&m));
            f.store(&b, (&vi, &vj), inside.then_else(a.at((&at, &vj)), -1.0));
        });
    });
    same("examples/kernels/gather.py", [f.finish()]);
}

#[test]
fn threads_and_shared_memory() {
    let mut f = build::function("g_transpose");
    let (a, b) = (f.buffer("A", (64, 64), F32), f.buffer("B", (64, 64), F32));
    f.noalias();
    let s = f.block_alloc("S", (64, 64), F32, StorageScope::SHARED);
    let threads = |f: &mut Body, body: &dyn Fn(&mut Body, &Expr, &Expr)| {
        f.thread_binding("ty", 16, ThreadAxis::ThreadY, |f, ty| {
            f.thread_binding("tx", 16, ThreadAxis::ThreadX, |f, tx| body(f, &ty, &tx));
        });
    };
    f.thread_binding("bx", 4, ThreadAxis::BlockX, |f, bx| {
        f.thread_binding("by", 4, ThreadAxis::BlockY, |f, by| {
            threads(f, &|f, ty, tx| {
                f.block("S", |f| {
                    let vi = f.spatial("vi", 64, &bx * 16 + ty);
                    let vj = f.spatial("vj", 64, &by * 16 + tx);
                    f.reads([a.point((&vi, &vj))]);
                    f.writes([s.point((&vi, &vj))]);
                    f.store(&s, (&vi, &vj), a.at((&vi, &vj)));
                });
            });
            threads(f, &|f, ty, tx| {
                f.block("B", |f| {
                    let vi = f.spatial("vi", 64, &by * 16 + ty);
                    let vj = f.spatial("vj", 64, &bx * 16 + tx);
                    f.reads([s.point((&vj, &vi))]);
                    f.writes([b.point((&vi, &vj))]);
                    f.store(&b, (&vi, &vj), s.at((&vj, &vi)));
                });
            });
        });
    });
    same("host/conformance/kernels/tvm/g_transpose.py", [f.finish()]);
}

/// A variable that is not a loop variable has no domain, and validation reports it.
#[test]
fn remap_of_a_variable_that_is_no_loop() {
    let mut f = build::function("f");
    let a = f.buffer("A", 8, F32);
    f.range("i", 8, |f, i| {
        f.block("A", |f| {
            let [vi] = f.remap([S], ["vi"], [i + 1]);
            f.store(&a, &vi, 1.0);
        });
    });
    let problems = validate::validate(&build::module([f.finish()]), Stage::Blocks).expect_err("refused");
    let text = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(text.contains("remap: vi is no loop variable"), "{text}");
}

/// A number that its type does not hold makes types differ.
#[test]
fn numbers_that_do_not_fit() {
    for value in [Expr::i32(1) + 0.5, Expr::int(1, DType::UINT8) + 256, Expr::i32(1).max(1_i64 << 40)] {
        let mut f = build::function("f");
        let a = f.buffer("A", 1, value.dtype);
        f.store(&a, 0, value);
        assert!(validate::validate(&build::module([f.finish()]), Stage::Blocks).is_err());
    }
}
