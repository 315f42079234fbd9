mod bounds;
mod constants;
mod launch;
mod storage;

use super::*;
use crate::build::{self, Body};
use crate::{
    AttrValue, Attrs, BinaryOp, Block, BufferNode, BufferRegion, Callee, CompareOp, DType, ExprKind,
    FloatBits, ForKind, IterKind, Op, Param, Range, StmtKind, StorageScope, StructField, ThreadAxis, attr,
};

/// The problems of a function that `fill` writes, in a module with a function `other(x: int32)`.
fn problems(stage: Stage, fill: impl FnOnce(&mut build::FunctionBuilder)) -> Vec<String> {
    let mut other = build::function("other");
    other.scalar("x", DType::INT32);
    let mut f = build::function("f");
    fill(&mut f);
    let module = build::module([f.finish(), other.finish()]);
    validate(&module, stage).err().unwrap_or_default().iter().map(|p| p.message.clone()).collect()
}

#[track_caller]
fn accepts(fill: impl FnOnce(&mut build::FunctionBuilder)) {
    assert_eq!(problems(Stage::Blocks, fill), Vec::<String>::new());
}

#[track_caller]
fn rejects(fill: impl FnOnce(&mut build::FunctionBuilder), expected: &str) {
    let found = problems(Stage::Blocks, fill);
    assert!(
        found.iter().any(|message| message.contains(expected)),
        "expected \"{expected}\", found {found:?}"
    );
}

/// An expression that is evaluated; `x` is an int32, `y` a float32, `v` a float32x4 parameter's
/// load.
#[track_caller]
fn rejects_expr(make: impl FnOnce(&Expr, &Expr) -> Expr, expected: &str) {
    rejects(
        |f| {
            let (x, y) = (f.scalar("x", DType::INT32), f.scalar("y", DType::FLOAT32));
            let e = make(&x, &y);
            f.evaluate(e);
        },
        expected,
    );
}

fn float(value: f64) -> Expr {
    Expr::float(value, DType::FLOAT32)
}

fn node(kind: ExprKind, dtype: DType) -> Expr {
    Expr::new(kind, dtype)
}

/// `n`, `A: (n,) float32` and a loop `i` over it.
fn over(f: &mut build::FunctionBuilder, fill: impl FnOnce(&mut Body, &Buffer, Expr)) {
    let n = f.size("n");
    let a = f.buffer("A", [&n], DType::FLOAT32);
    f.range("i", &n, |f, i| fill(f, &a, i));
}

#[test]
fn well_formed_functions_pass() {
    accepts(|f| over(f, |f, a, i| f.store(a, [&i], a.at([&i]) + float(1.0))));
    accepts(|f| {
        let a = f.buffer("A", [8], DType::INT8);
        let x = f.scalar("x", DType::BOOL);
        f.if_then_else(&x, |f| f.store(&a, [0], a.at([1])), |f| f.push(Stmt::new(StmtKind::Return(None))));
        let ramp = Expr::i32(0).ramp(Expr::i32(2), 4);
        f.store(&a, [ramp], Expr::int(3, DType::INT8.with_lanes(4)));
    });
    accepts(|f| {
        let x = f.scalar("x", DType::INT32);
        let callee = Callee::Global("other".into());
        f.evaluate(node(ExprKind::Call { callee, args: vec![x] }, DType::HANDLE));
        f.returns(DType::INT32);
        f.return_value(0);
    });
}

/// ir: IR-T1, IR-T4, IR-E2, IR-E4.
#[test]
fn types_must_agree() {
    rejects_expr(|x, y| x + y, "both sides must have one type; cast one of them; found int32 and float32");
    rejects_expr(
        |x, _| node(ExprKind::Binary(BinaryOp::Add, x.clone(), x.clone()), DType::INT64),
        "node says type int64",
    );
    rejects_expr(
        |_, y| Expr::binary(BinaryOp::FloorDiv, y.clone(), y.clone()),
        "of integers; found float32, float32",
    );
    rejects_expr(
        |_, _| Expr::binary(BinaryOp::Add, Expr::bool(true), Expr::bool(true)),
        "cast booleans first",
    );
    rejects_expr(|x, _| x.clone().logical_not(), "`not` gives a boolean");
    rejects_expr(|x, _| x.clone().and(x.clone()), "`and` and `or` give booleans");
    rejects_expr(
        |x, y| Expr::select(Expr::bool(true), x.clone(), y.clone()),
        "second choice: expected type int32",
    );
    rejects_expr(
        |x, y| Expr::select(x.clone(), y.clone(), y.clone()),
        "condition: expected type bool, found int32",
    );
    rejects_expr(
        |x, _| node(ExprKind::Cast(x.clone()), DType::FLOAT32.with_lanes(4)),
        "no cast from int32 to float32x4",
    );
    rejects_expr(|x, _| x.clone().cast(DType::HANDLE), "no cast from int32 to handle");
    rejects_expr(|x, _| node(ExprKind::Int(1), x.dtype.with_lanes(2)), "broadcast it");
    rejects_expr(|_, _| node(ExprKind::Int(1), DType { bits: 24, ..DType::INT32 }), "there is no type Int24");
    rejects_expr(
        |_, _| node(ExprKind::Int(1), DType::INT32.with_lanes(0)),
        "expected 1 to 1024 lanes, found 0",
    );
}

/// ir: IR-E1.
#[test]
fn constants_are_in_range() {
    rejects_expr(
        |_, _| node(ExprKind::Int(128), DType::INT8),
        "constant 128 is out of range of int8 (-128 to 127)",
    );
    rejects_expr(|_, _| node(ExprKind::Int(-1), DType::UINT64), "out of range of uint64");
    rejects_expr(|_, _| node(ExprKind::Int(2), DType::BOOL), "out of range of bool");
    let float = |bits: u64, dtype| node(ExprKind::Float(FloatBits(bits)), dtype);
    rejects_expr(|_, _| float(0.1_f64.to_bits(), DType::FLOAT32), "constant 0.1 is no value of float32");
    rejects_expr(|_, _| float(f64::NAN.to_bits() | 1, DType::FLOAT64), "the quiet NaN");
    rejects_expr(|_, _| float(0, DType::INT32), "a float constant has a scalar float type");
}

/// ir: IR-E7.
#[test]
fn vectors_have_lanes() {
    rejects_expr(
        |x, _| node(ExprKind::Broadcast { value: x.clone(), lanes: 1 }, DType::INT32),
        "expected 2 to 1024 lanes",
    );
    rejects_expr(|x, _| x.clone().broadcast(2).broadcast(2), "the value of a broadcast is a scalar");
    rejects_expr(|x, y| x.clone().ramp(y.clone(), 4), "stride: expected type int32");
    rejects_expr(|_, y| y.clone().ramp(y.clone(), 4), "base and stride of a ramp are scalar integers");
    let shuffle = |x: &Expr, indices| ExprKind::Shuffle { vectors: vec![x.clone()], indices };
    rejects_expr(
        |x, _| node(shuffle(x, vec![0, 1]), DType::INT32.with_lanes(2)),
        "lane 1 is out of range; the vectors have 1",
    );
    rejects_expr(
        |x, _| node(shuffle(x, vec![0, 0]), DType::INT32),
        "the node says type int32, its parts give int32x2",
    );
    rejects_expr(
        |_, _| node(ExprKind::Shuffle { vectors: vec![], indices: vec![] }, DType::INT32),
        "at least one vector",
    );
}

/// ir: IR-T3, IR-E8, IR-E9.
#[test]
fn calls_follow_the_signature_of_the_op() {
    rejects_expr(|x, _| Expr::call(Op::Exp, vec![x.clone()], DType::INT32), "exp takes floats; found int32");
    rejects_expr(|_, y| Expr::call(Op::Exp, vec![y.clone()], DType::FLOAT64), "the node says type float64");
    rejects_expr(|_, y| Expr::call(Op::Exp, vec![], y.dtype), "exp takes 1 arguments, found 0");
    rejects_expr(
        |x, y| Expr::call(Op::Pow, vec![y.clone(), x.clone()], y.dtype),
        "both sides must have one type",
    );
    rejects_expr(|_, y| Expr::call(Op::Isnan, vec![y.clone()], DType::INT32), "its parts give bool");
    rejects_expr(|_, y| Expr::call(Op::Clz, vec![y.clone()], DType::INT32), "clz takes an integer");
    rejects_expr(
        |x, y| Expr::call(Op::Reinterpret, vec![x.clone()], y.dtype.with_lanes(2)),
        "a value of as many bits",
    );
    rejects_expr(
        |x, y| Expr::call(Op::IfThenElse, vec![x.clone(), y.clone(), y.clone()], y.dtype),
        "a scalar boolean",
    );
    rejects_expr(
        |_, _| Expr::call(Op::StorageSync, vec![Expr::str("local")], DType::HANDLE),
        "one of \"shared\"",
    );
    rejects_expr(|_, _| Expr::call(Op::Exp, vec![Expr::str("x")], DType::FLOAT32), "exp takes no string");
    rejects_expr(
        |x, _| Expr::call(Op::StructGet, vec![Expr::str("x"), x.clone(), Expr::i32(99)], DType::INT32),
        "takes no string",
    );
    let sync = || Expr::call(Op::StorageSync, vec![Expr::str("shared")], DType::HANDLE);
    rejects(|f| drop(f.bind("p", sync())), "this call gives nothing");
    rejects_expr(|_, _| Expr::str("x").cast(DType::INT32), "a string is no value");
}

/// ir: IR-E8.
#[test]
fn packed_call_arguments_appear_only_in_packed_calls() {
    let shape = |extents: Vec<Expr>| Expr::call(Op::StackMakeShape, extents, DType::HANDLE);
    let zero = || Expr::float(0.0, DType::FLOAT32);
    let made = |data: Expr, shape: Expr, strides: Expr, axes: i32, zero: Expr| {
        let args = vec![data, shape, strides, Expr::i32(axes), zero, Expr::i32(0)];
        Expr::call(Op::StackMakeArray, args, DType::HANDLE)
    };
    let packed = |array: Expr| {
        Expr::call(Op::CallPacked, vec![Expr::str("f"), array, Expr::str("both")], DType::INT32)
    };
    let given = |make: &dyn Fn(Expr) -> Expr| {
        let found = problems(Stage::Blocks, |f| {
            let data = f.scalar("data", DType::HANDLE);
            f.evaluate(make(data));
        });
        if found.is_empty() { Ok(()) } else { Err(found.join("; ")) }
    };
    let two = || shape(vec![Expr::i32(3), Expr::i32(5)]);
    assert_eq!(given(&|data| packed(made(data, two(), Expr::i32(0), 2, zero()))), Ok(()));
    assert_eq!(given(&|data| packed(made(data, two(), two(), 2, zero()))), Ok(()));
    let refused = |make: &dyn Fn(Expr) -> Expr, words: &str| {
        let error = given(make).unwrap_err();
        assert!(error.contains(words), "{error}");
    };
    let alone = "stands only as an argument of";
    refused(&|data| made(data, two(), Expr::i32(0), 2, zero()), alone);
    refused(&|_| packed(two()), alone);
    refused(
        &|data| packed(Expr::call(Op::Likely, vec![made(data, two(), Expr::i32(0), 2, zero())], DType::BOOL)),
        alone,
    );
    refused(&|data| packed(made(two(), two(), Expr::i32(0), 2, data)), alone);
    let wanted = "a shape of as many extents";
    refused(&|data| packed(made(data, two(), Expr::i32(0), 3, zero())), wanted);
    refused(&|data| packed(made(data, two(), shape(vec![Expr::i32(1)]), 2, zero())), wanted);
    refused(&|data| packed(made(data.clone(), data, Expr::i32(0), 2, zero())), wanted);
    refused(&|data| packed(made(data, two(), Expr::i32(0), 2, Expr::i32(1))), wanted);
    refused(&|data| packed(made(data, two(), Expr::i32(0), 2, Expr::int(0, DType::STORAGE[0]))), wanted);
    refused(
        &|data| packed(made(data, shape(vec![zero(), zero()]), Expr::i32(0), 2, zero())),
        "each an int32 or int64",
    );
    let set = |field: StructField| {
        move |data: Expr| {
            let args = vec![data, Expr::i32(0), Expr::i32(field as i32), Expr::str("both")];
            Expr::call(Op::StructSet, args, DType::HANDLE)
        }
    };
    assert_eq!(given(&set(StructField::AnyValue)), Ok(()));
    refused(&set(StructField::Data), "tvm_struct_set takes no string");
}

/// ir: IR-E8.
#[test]
fn functions_of_the_module_are_called_as_they_are_declared() {
    let call =
        |name: &str, args| node(ExprKind::Call { callee: Callee::Global(name.into()), args }, DType::HANDLE);
    rejects_expr(
        |_, _| call("nobody", vec![]),
        "there is no function `nobody` in the module; there are f, other",
    );
    rejects_expr(|_, _| call("other", vec![]), "function `other` takes 1 arguments, found 0");
    rejects_expr(
        |_, y| call("other", vec![y.clone()]),
        "argument `x` of `other`: expected type int32, found float32",
    );
    rejects_expr(|_, _| call("f", vec![]), "functions call each other in a circle: f calls f");
    rejects(
        |f| {
            f.buffer("A", [1], DType::INT32);
            f.evaluate(call("f", vec![Expr::i32(0)]));
        },
        "only functions of scalars and pointers can be called",
    );
    let callee = Callee::Extern { name: "a; b".into(), pure: false };
    rejects_expr(
        |_, _| node(ExprKind::Call { callee, args: vec![] }, DType::INT32),
        "no name of a C function",
    );
}

/// ir: IR-S1, IR-E5.
#[test]
fn used_variables_are_known_and_bound_once() {
    rejects_expr(|_, _| Var::new("z", DType::INT32).expr(), "variable `z` is not known here");
    rejects(
        |f| {
            let mut inner = Expr::i32(0);
            f.range("i", 4, |_, i| inner = i);
            f.evaluate(inner);
        },
        "variable `i` is not known here",
    );
    rejects(
        |f| {
            let var = Var::new("i", DType::INT32);
            let nest = Stmt::for_loop(var.clone(), Expr::i32(2), ForKind::Serial, Stmt::nop());
            f.push(Stmt::for_loop(var, Expr::i32(2), ForKind::Serial, nest));
        },
        "variable `i` is bound twice",
    );
    let in_let =
        |var: &Var, body| node(ExprKind::Let { var: var.clone(), value: Expr::i32(1), body }, DType::INT32);
    let t = Var::new("t", DType::INT32);
    let shared = in_let(&t, t.expr());
    accepts(|f| f.evaluate(&shared + &shared));
    rejects(|f| f.evaluate(in_let(&t, shared.clone())), "variable `t` is bound twice");
    rejects(|f| f.evaluate(&shared + &t.expr()), "variable `t` is not known here");
    rejects(
        |f| {
            let a = Buffer::new("A", vec![Expr::i32(1)], DType::INT32, StorageScope::GLOBAL);
            f.store(&a, [0], 1);
        },
        "buffer `A` is not known here",
    );
    rejects(
        |f| {
            let a = f.alloc("A", [1], DType::INT32, StorageScope::LOCAL);
            f.push(Stmt::new(StmtKind::AllocBuffer { buffer: a, annotations: Attrs::new() }));
        },
        "buffer `A` is declared twice",
    );
}

/// ir: IR-E6.
#[test]
fn accesses_fit_their_buffer() {
    rejects(
        |f| over(f, |f, a, i| f.store(a, [&i, &i], float(0.0))),
        "buffer `A` has 1 axes, found 2 indices",
    );
    rejects(
        |f| over(f, |f, a, i| f.store(a, [&i], Expr::i32(0))),
        "stored value: expected type float32, found int32",
    );
    rejects(
        |f| over(f, |f, a, _| f.store(a, [float(0.0)], float(0.0))),
        "an index is an integer, found float32",
    );
    rejects(
        |f| {
            let a = f.buffer("A", [4, 4], DType::INT32);
            f.evaluate(a.at([Expr::i32(0).ramp(Expr::i32(1), 4), Expr::i32(0).ramp(Expr::i32(1), 4)]));
        },
        "only the last index may be a vector",
    );
}

/// ir: IR-F3, IR-B1.
#[test]
fn sizes_are_bound_by_a_bare_use() {
    rejects(
        |f| {
            let n = f.size("n");
            f.buffer("A", [&n * &Expr::i32(2)], DType::INT32);
        },
        "size `n` of parameter `A` stands bare in no shape",
    );
    accepts(|f| {
        let n = f.size("n");
        f.buffer("A", [&n * &Expr::i32(2)], DType::INT32);
        f.buffer("B", [&n], DType::INT32);
    });
    accepts(|f| {
        let n = f.scalar("n", DType::INT64);
        f.buffer("A", [&n * &Expr::int(2, DType::INT64)], DType::INT32);
    });
    rejects(|f| drop(f.buffer("A", [-1], DType::INT32)), "extent of buffer `A` is -1; expected 0 or more");
    rejects(|f| drop(f.buffer("A", [i32::MAX; 3], DType::INT32)), "buffer `A` is larger than");
    rejects(|f| drop(f.buffer("A", [1; 33], DType::INT32)), "buffer `A` has 33 axes; at most 32");
    rejects(
        |f| {
            let a = f.buffer("A", [1], DType::INT32);
            f.buffer("B", [a.at([0])], DType::INT32);
        },
        "extent of buffer `B` reads memory",
    );
}

/// ir: IR-F1, IR-F2.
#[test]
fn names_of_functions_and_parameters_are_plain() {
    for name in ["_f", "for", "1f", "a b", "é", "", "T"] {
        let module = build::module([build::function(name).finish()]);
        let problems = validate(&module, Stage::Blocks).unwrap_err();
        assert!(problems[0].message.contains("cannot name a function"), "{name}: {problems:?}");
    }
    let twice = build::module([build::function("f").finish(), build::function("f").finish()]);
    assert_eq!(validate(&twice, Stage::Blocks).unwrap_err()[0].message, "there are two functions `f`");
    let entry = build::module([build::function("__tvm_ffi_f").finish()]);
    assert!(validate(&entry, Stage::Blocks).is_err());
    assert_eq!(validate(&entry, Stage::Host), Ok(()));
    rejects(
        |f| {
            f.scalar("x", DType::INT32);
            f.buffer("x", [1], DType::INT32);
        },
        "there are two parameters `x`",
    );
    rejects(|f| drop(f.scalar("in", DType::INT32)), "\"in\" cannot name a parameter");
    rejects(|f| drop(f.bind("a\nb", 1)), "has control characters");
}

/// ir: IR-S3, IR-S4, IR-S5.
#[test]
fn loops_and_jumps() {
    rejects(
        |f| f.for_loop("i", float(1.0), ForKind::Serial, |_, _| {}),
        "expected int32 or int64, found float32",
    );
    rejects(
        |f| over(f, |f, _, i| f.for_loop("j", i, ForKind::Unrolled, |_, _| {})),
        "unrolled loop is a constant",
    );
    let jump = |kind| Stmt::new(kind);
    rejects(|f| f.push(jump(StmtKind::Break)), "there is no loop to leave here");
    rejects(
        |f| f.for_loop("i", 4, ForKind::Parallel, |f, _| f.push(jump(StmtKind::Continue))),
        "found a parallel loop",
    );
    accepts(|f| f.range("i", 4, |f, _| f.push(jump(StmtKind::Continue))));
    rejects(
        |f| f.for_loop("i", 4, ForKind::Parallel, |f, _| f.push(jump(StmtKind::Return(None)))),
        "cannot be left from within a parallel loop",
    );
    // IR-K1: an axis bound within itself is the same thread's index.
    accepts(|f| {
        let threads = |f: &mut Body, fill: fn(&mut Body)| {
            f.thread_binding("t", 4, ThreadAxis::ThreadX, |f, _| fill(f));
        };
        threads(f, |f| f.thread_binding("u", 4, ThreadAxis::ThreadX, |_, _| {}));
    });
    rejects(|f| f.returns(DType::INT32), "ends without `return`");
    rejects(
        |f| {
            f.returns(DType::INT32);
            f.return_value(float(0.0));
        },
        "returned value: expected type int32, found float32",
    );
    rejects(|f| f.return_value(0), "the function returns nothing, found a value");
    let step = |step| {
        move |f: &mut build::FunctionBuilder| {
            f.push(Stmt::new(StmtKind::For {
                var: Var::new("i", DType::INT32),
                min: Expr::i32(0),
                extent: Expr::i32(4),
                kind: ForKind::Serial,
                step: Some(step),
                annotations: Attrs::new(),
                body: Stmt::nop(),
            }));
        }
    };
    accepts(step(Expr::i32(2)));
    rejects(step(Expr::i32(0)), "the step of a loop is a constant of at least 1");
}

/// ir: IR-E3.
#[test]
fn the_order_of_effects_is_said() {
    let call = |args| {
        let callee = Callee::Extern { name: "g".into(), pure: false };
        node(ExprKind::Call { callee, args }, DType::FLOAT32)
    };
    accepts(|f| over(f, |f, a, i| f.store(a, [&i], call(vec![a.at([&i])]) + float(1.0))));
    rejects(
        |f| over(f, |f, a, i| f.store(a, [&i], call(vec![]) + a.at([&i]))),
        "memory is read beside the call",
    );
    rejects(
        |f| over(f, |f, a, i| f.store(a, [&i], call(vec![]) + call(vec![]))),
        "a second call in one statement",
    );
}

/// A block over one axis whose regions are given.
fn block(
    f: &mut Body,
    a: &Buffer,
    reads: &[&Buffer],
    writes: &[&Buffer],
    edit: impl FnOnce(&mut Block, &Var),
) {
    let var = Var::new("vi", DType::INT32);
    let regions = |list: &[&Buffer]| {
        let whole = Range { min: var.expr(), extent: Expr::i32(1) };
        list.iter().map(|b| BufferRegion { buffer: Buffer::clone(b), region: vec![whole.clone()] }).collect()
    };
    let mut block = Block {
        name: "B".into(),
        iter_vars: vec![crate::IterVar {
            var: var.clone(),
            min: Expr::i32(0),
            extent: Expr::i32(8),
            kind: IterKind::Spatial,
        }],
        reads: Some(regions(reads)),
        writes: Some(regions(writes)),
        init: None,
        alloc_buffers: vec![],
        match_buffers: vec![],
        annotations: Attrs::new(),
        body: Stmt::store(a, vec![var.expr()], a.at([&var])),
    };
    edit(&mut block, &var);
    let block = Arc::new(block);
    f.push(Stmt::new(StmtKind::BlockRealize {
        iter_values: vec![Expr::i32(0)],
        predicate: Expr::bool(true),
        block,
    }));
}

/// ir: IR-B5, IR-B6.
#[test]
fn blocks_touch_only_declared_regions() {
    accepts(|f| over(f, |f, a, _| block(f, a, &[], &[a], |_, _| {})));
    // IR-B6: without an axis of reduction, an init runs every time.
    accepts(|f| over(f, |f, a, _| block(f, a, &[], &[a], |b, _| b.init = Some(Stmt::nop()))));
    rejects(
        |f| over(f, |f, a, _| block(f, a, &[a], &[], |_, _| {})),
        "block `B` writes buffer `A`, which its T.writes",
    );
    rejects(
        |f| {
            let c = f.buffer("C", [8], DType::FLOAT32);
            over(f, |f, a, _| {
                block(f, a, &[], &[a], |b, vi| b.body = Stmt::store(a, vec![vi.expr()], c.at([vi])))
            });
        },
        "block `B` reads buffer `C`, which its T.reads",
    );
    accepts(|f| {
        over(f, |f, a, _| {
            block(f, a, &[], &[a], |b, vi| {
                let own = Buffer::new("own", vec![Expr::i32(1)], DType::FLOAT32, StorageScope::LOCAL);
                b.body = Stmt::seq([
                    Stmt::store(&own, vec![Expr::i32(0)], float(0.0)),
                    Stmt::store(a, vec![vi.expr()], own.at([0])),
                ]);
                b.alloc_buffers.push(own);
            })
        })
    });
    rejects(
        |f| {
            over(f, |f, a, _| {
                block(f, a, &[], &[a], |b, vi| {
                    b.iter_vars[0].kind = IterKind::Reduce;
                    b.init = Some(Stmt::store(a, vec![vi.expr()], float(0.0)));
                })
            })
        },
        "no use of its axis `vi`",
    );
    rejects(
        |f| over(f, |f, a, _| block(f, a, &[], &[a], |b, _| b.iter_vars.clear())),
        "block `B` has 0 axes, found 1 values",
    );
    rejects(
        |f| {
            over(f, |f, a, _| {
                block(f, a, &[], &[a], |b, _| b.writes.iter_mut().flatten().for_each(|r| r.region.clear()))
            })
        },
        "a region of buffer `A`: it has 1 axes, found 0",
    );
    rejects(
        |f| f.block("B", |f| f.push(Stmt::new(StmtKind::Return(None)))),
        "cannot be left from within a block",
    );
}

/// ir: IR-B7.
#[test]
fn views_fit_their_region() {
    let view = |dtype, extent| {
        move |f: &mut build::FunctionBuilder| {
            over(f, |f, a, _| {
                block(f, a, &[], &[a], |b, _| {
                    let region = vec![Range { min: Expr::i32(0), extent: Expr::i32(4) }];
                    b.match_buffers.push(crate::MatchBufferRegion {
                        buffer: Buffer::new("V", vec![Expr::i32(extent)], dtype, StorageScope::GLOBAL),
                        source: BufferRegion { buffer: a.clone(), region },
                    });
                });
            });
        }
    };
    accepts(view(DType::FLOAT32, 4));
    rejects(view(DType::FLOAT32, 5), "view `V`: axis 0 of its region has extent 4, expected 5");
    rejects(view(DType::INT32, 4), "expected the same type and scope");
}

/// ir: IR-G2, IR-G3, IR-G4.
#[test]
fn stages_keep_their_promises() {
    let at = |stage, fill: &dyn Fn(&mut build::FunctionBuilder), expected: &str| {
        let found = problems(stage, fill);
        assert!(
            found.iter().any(|message| message.contains(expected)),
            "expected \"{expected}\", found {found:?}"
        );
    };
    at(Stage::Flattened, &|f| f.block("B", |_| {}), "there are no blocks at this stage");
    at(
        Stage::Flattened,
        &|f| {
            let a = f.buffer("A", [4, 4], DType::INT32);
            f.store(&a, [0, 0], 1);
        },
        "buffer `A` is used after flattening",
    );
    at(Stage::Device, &|f| drop(f.buffer("A", [1], DType::INT32)), "take pointers, not buffers");
    at(
        Stage::Host,
        &|f| f.thread_binding("i", 4, ThreadAxis::BlockX, |_, _| {}),
        "there are no thread-bound loops at this stage",
    );
    at(
        Stage::Host,
        &|f| drop(f.alloc("S", [4], DType::INT32, StorageScope::SHARED)),
        "a host function has no scope `shared`",
    );
}

/// ir: IR-B3.
#[test]
fn buffers_over_pointers() {
    let pointer = |f: &mut build::FunctionBuilder, data: Option<fn(&Expr) -> Expr>| {
        let p = Var::pointer("p", DType::FLOAT32, StorageScope::GLOBAL);
        f.push(Stmt::new(StmtKind::Bind {
            var: p.clone(),
            value: Expr::call(Op::Reinterpret, vec![Expr::int(0, DType::UINT64)], DType::HANDLE),
        }));
        let own = Buffer::new("B", vec![Expr::i32(4)], DType::FLOAT32, StorageScope::GLOBAL);
        let buffer = match data {
            None => Buffer::from_node(BufferNode { data: p.clone(), ..BufferNode::clone(&own) }),
            Some(_) => own,
        };
        f.push(Stmt::new(StmtKind::DeclBuffer {
            buffer: buffer.clone(),
            data: data.map(|data| data(&p.expr())),
        }));
        f.store(&buffer, [0], float(0.0));
    };
    accepts(|f| pointer(f, None));
    accepts(|f| {
        pointer(
            f,
            Some(|p| Expr::call(Op::HandleAddByteOffset, vec![p.clone(), Expr::i32(4)], DType::HANDLE)),
        );
    });
    rejects(|f| pointer(f, Some(Expr::clone)), "make that variable the buffer's own data variable");
}

/// ir: IR-F4.
#[test]
fn attributes_that_are_known_have_their_type() {
    let with = |name: &'static str, value| {
        move |f: &mut build::FunctionBuilder| {
            let mut inner = std::mem::replace(f, build::function("f")).finish();
            inner.attrs.insert(name.into(), value);
            *f = build::FunctionBuilder::from(inner);
        }
    };
    accepts(with(attr::CALLING_CONV, AttrValue::Int(1)));
    rejects(
        with(attr::CALLING_CONV, AttrValue::Int(7)),
        "\"calling_conv\": expected 0, 1 or 2, found Int(7)",
    );
    rejects(
        with(attr::GLOBAL_SYMBOL, AttrValue::Str("a b".into())),
        "expected a string that names a C function",
    );
    rejects(with(attr::TARGET, AttrValue::Int(0)), "expected a target");
}

/// ir: IR-L1.
#[test]
fn deep_and_large_modules_are_refused_without_recursion() {
    let mut e = Expr::i32(1);
    for _ in 0..100_000 {
        e = Expr::compare(CompareOp::Eq, e.cast(DType::INT32), Expr::i32(1));
    }
    rejects(|f| f.evaluate(e.clone()), "nests more than 256 levels deep");
    // Dropping it recursively would overflow the stack: take it apart.
    while let ExprKind::Compare(_, a, _) | ExprKind::Cast(a) = &e.kind {
        e = a.clone();
    }
    // A shared node counts where it stands deepest.
    let casts = |e: &Expr| (0..75).fold(e.clone(), |e, _| e.cast(DType::INT64).cast(DType::INT32));
    let shared = casts(&Expr::i32(1));
    accepts(|f| f.evaluate(shared.clone()));
    rejects(
        |f| {
            f.evaluate(shared.clone());
            f.evaluate(casts(&shared));
        },
        "nests more than 256 levels deep",
    );
    let mut wide = Expr::i32(1);
    for _ in 0..200 {
        wide = &wide + &wide;
    }
    rejects(|f| f.evaluate(wide), "more than 4000000 nodes");
}

/// ir: IR-L1, IR-F4.
#[test]
fn strings_of_notes_and_scopes_are_bounded() {
    let long = AttrValue::Str("x".repeat(crate::limits::STRING_BYTES_MAX + 1).into());
    let nested = AttrValue::List(vec![long]);
    rejects(|f| f.annotate("note", nested.clone()), "a string in an attribute is longer than 65536 bytes");
    rejects(
        |f| drop(f.alloc("a", 4, DType::INT32, StorageScope::parse(&"x".repeat(300)))),
        "is longer than 256 bytes",
    );
    let mut module = build::module([]);
    module.attrs.insert("note".into(), nested);
    assert!(validate(&module, Stage::Blocks).is_err());
    module.attrs.insert("note".into(), AttrValue::Expr(Var::new("x", DType::INT32).expr()));
    assert!(validate(&module, Stage::Blocks).is_err());
}

/// ir: IR-L1: at the limit, everything that walks a module does with a stack of 2 MiB.
#[test]
fn a_module_at_the_limit_is_walked_on_a_small_stack() {
    let walk = || {
        let mut e = Expr::i32(1);
        for _ in 0..60 {
            e = e.cast(DType::INT64).cast(DType::INT32);
        }
        let mut body = Stmt::new(StmtKind::Evaluate(e));
        for level in 0..crate::limits::DEPTH_MAX - 122 {
            body = if level % 2 == 0 {
                Stmt::for_loop(Var::new("i", DType::INT32), Expr::i32(1), ForKind::Serial, body)
            } else {
                let mut f = build::function("f");
                f.block("B", |f| f.push(body));
                f.finish().body
            };
        }
        let mut f = build::function("f");
        f.push(body.clone());
        let module = build::module([f.finish()]);
        assert_eq!(validate(&module, Stage::Blocks), Ok(()));
        assert!(crate::print::module(&module).contains("T.Cast"));
        let back = crate::wire::read(&crate::wire::write(&module).unwrap()).unwrap();
        assert_eq!(crate::equal::modules(&module, &back), Ok(()));
        let copy = crate::subst::Substitution::new().fresh().function(&module.functions[0]);
        assert_eq!(crate::equal::functions(&module.functions[0], &copy), Ok(()));
        let mut f = build::function("f");
        f.range("i", 1, |f, _| f.push(body));
        assert!(validate(&build::module([f.finish()]), Stage::Blocks).is_err());
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(walk).unwrap().join().unwrap();
}

#[test]
fn every_problem_is_reported_up_to_a_hundred() {
    let found = problems(Stage::Blocks, |f| {
        for i in 0..150 {
            f.evaluate(Var::new(format!("x{i}"), DType::INT32).expr());
        }
    });
    assert_eq!(found.len(), DIAGNOSTICS_MAX);
    assert!(found[99].contains("`x99`"));
}

#[test]
fn a_problem_says_where_it_is() {
    let span = Span { line: 7, column: 3 };
    let mut f = build::function("f");
    let x = Var::new("x", DType::INT32).expr();
    f.push(Stmt::new(StmtKind::Evaluate(&x + &x)).with_span(span));
    let problems = validate(&build::module([f.finish()]), Stage::Blocks).unwrap_err();
    assert_eq!(problems.len(), 2);
    assert_eq!(problems[0].span, span);
    assert_eq!(
        problems[0].to_string(),
        "7:3: in f: variable `x` is not known here; bind it before it is used (`x`)"
    );
    let mut f = build::function("f");
    f.scalar("v", DType::INT32.with_lanes(2));
    let f = f.finish();
    assert!(matches!(&f.params[0], Param::Var(_)));
    assert!(validate(&build::module([f]), Stage::Blocks).is_err());
}
