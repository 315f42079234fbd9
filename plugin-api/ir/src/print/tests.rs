use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::{
    AttrNode, AttrValue, Attrs, BinaryOp, Block, Buffer, BufferNode, BufferRegion, Callee, CompareOp, DType,
    ExprKind, FloatBits, ForKind, IterKind, IterVar, Op, Param, Range, StmtKind, StorageScope, Target,
    ThreadAxis,
};

fn var(name: &str) -> Expr {
    Var::new(name, DType::INT32).expr()
}

fn float(name: &str) -> Expr {
    Var::new(name, DType::FLOAT32).expr()
}

fn node(buffer: &Buffer) -> BufferNode {
    BufferNode::clone(buffer)
}

fn check(e: &Expr, expected: &str) {
    assert_eq!(expr(e), expected);
}

fn body(function: &PrimFunc) -> String {
    super::function(function).split_once(":\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
}

fn prim_func(name: &str, params: Vec<Param>, body: Stmt) -> PrimFunc {
    PrimFunc {
        name: name.into(),
        params,
        ret: None,
        attrs: Attrs::new(),
        s_tir: false,
        alloc_buffers: vec![],
        body,
    }
}

#[test]
fn brackets_are_the_fewest() {
    let (a, b, c) = (var("a"), var("b"), var("k"));
    check(&(&(&a + &b) + &c), "a + b + k");
    check(&(&a + &(&b + &c)), "a + (b + k)");
    check(&(&a - &(&b - &c)), "a - (b - k)");
    check(&(&(&a + &b) * &c), "(a + b) * k");
    check(&(&a + &(&b * &c)), "a + b * k");
    let floor = Expr::binary(BinaryOp::FloorDiv, &a + &Expr::i32(127), Expr::i32(128));
    check(&floor, "(a + 127) // 128");
    check(&Expr::binary(BinaryOp::FloorMod, a.clone(), &b * &c), "a % (b * k)");
    let shift = Expr::call(Op::ShiftRight, vec![&a + &Expr::i32(127), Expr::i32(7)], DType::INT32);
    check(&shift, "a + 127 >> 7");
    check(&(&shift + &a), "(a + 127 >> 7) + a");
    let and = Expr::call(Op::BitwiseAnd, vec![shift, Expr::i32(1)], DType::INT32);
    check(&and, "a + 127 >> 7 & 1");
    let less = Expr::compare(CompareOp::Lt, a.clone(), b.clone());
    let equal = Expr::compare(CompareOp::Eq, less.clone(), less.clone());
    check(&equal, "(a < b) == (a < b)");
    check(&less.clone().and(less.clone()).and(less.clone()), "a < b and a < b and a < b");
    check(&less.clone().and(less.clone().and(less.clone())), "a < b and (a < b and a < b)");
    check(&less.clone().or(less.clone()).and(less.clone()), "(a < b or a < b) and a < b");
    check(&less.clone().and(less.clone()).logical_not(), "not (a < b and a < b)");
    check(&less.clone().logical_not().and(less.clone()), "not a < b and a < b");
    check(&Expr::compare(CompareOp::Eq, less.clone().logical_not(), less), "(not a < b) == (a < b)");
    check(&Expr::binary(BinaryOp::Div, a.clone(), b.clone()), "T.truncdiv(a, b)");
    check(&Expr::binary(BinaryOp::Mod, a, b), "T.truncmod(a, b)");
    check(&Expr::binary(BinaryOp::Div, float("x"), float("y")), "x / y");
}

#[test]
fn constants_keep_their_type_and_are_not_folded() {
    check(&Expr::i32(-5), "-5");
    check(&(&var("a") - &Expr::i32(i32::MIN)), "a - -2147483648");
    check(&Expr::int(i64::MIN.into(), DType::INT64), "T.int64(-9223372036854775808)");
    check(&Expr::int(u64::MAX.into(), DType::UINT64), "T.uint64(18446744073709551615)");
    check(&Expr::bool(true), "T.bool(True)");
    check(&(&Expr::i32(1) + &Expr::i32(2)), "T.Add(1, 2)");
    check(&Expr::compare(CompareOp::Eq, Expr::i32(1), Expr::i32(2)), "T.EQ(1, 2)");
    check(&Expr::bool(true).logical_not(), "T.Not(T.bool(True))");
    check(
        &Expr::binary(BinaryOp::Div, Expr::float(1.0, DType::FLOAT32), Expr::float(3.0, DType::FLOAT32)),
        "T.Div(T.float32(1.0), T.float32(3.0))",
    );
    check(&Expr::float(-0.0, DType::FLOAT32), "T.float32(-0.0)");
    check(&Expr::float(f64::NAN, DType::FLOAT16), "T.float16(\"nan\")");
    check(&Expr::float(f64::NEG_INFINITY, DType::BFLOAT16), "T.bfloat16(\"-inf\")");
    check(&Expr::float(0.1, DType::FLOAT32), "T.float32(0.1)");
    check(&Expr::float(1e-5, DType::FLOAT16), "T.float16(1e-5)");
    check(&Expr::float(f32::MIN.into(), DType::FLOAT32), "T.float32(-3.402823466e38)");
    check(&Expr::str("a\"\\\n\u{1}é\u{2028}"), r#""a\"\\\n\x01é\u2028""#);
}

proptest::proptest! {
    #[test]
    fn floats_read_back_to_the_same_value(bits: u64) {
        for dtype in [DType::FLOAT16, DType::BFLOAT16, DType::FLOAT32, DType::FLOAT64] {
            // High bits of a random float64 seldom fall into the range of a half: try both.
            for value in [f64::from_bits(bits), f64::from(f32::from_bits(bits as u32)), half::f16::from_bits(bits as u16).to_f64()] {
                let value = crate::number::round_to(value, dtype);
                if value.is_finite() {
                    let read: f64 = literal::decimal(value, dtype).parse().unwrap();
                    proptest::prop_assert_eq!(crate::number::round_to(read, dtype).to_bits(), value.to_bits());
                }
            }
        }
    }
}

#[test]
fn calls_say_the_types_that_nothing_else_says() {
    let h = Var::new("h", DType::HANDLE).expr();
    let get = Expr::call(Op::StructGet, vec![h.clone(), Expr::i32(0), Expr::i32(15)], DType::HANDLE);
    check(&get, "T.tvm_struct_get(h, 0, 15, T.handle().ty)");
    check(&Expr::call(Op::Reinterpret, vec![float("x")], DType::UINT32), "T.reinterpret(\"uint32\", x)");
    let callee = Callee::Extern { name: "expf".into(), pure: true };
    let call = Expr::new(ExprKind::Call { callee, args: vec![float("x")] }, DType::FLOAT32);
    check(&call, "T.call_pure_extern(\"float32\", \"expf\", x)");
    let launch = Expr::call(Op::ParallelLaunch, vec![Expr::str("g"), h.clone(), Expr::i32(4)], DType::INT32);
    check(&launch, "T.TVMBackendParallelLaunch(\"g\", h, 4)");
    let callee = Callee::Global("g".into());
    check(&Expr::new(ExprKind::Call { callee, args: vec![h] }, DType::HANDLE), "Module.g(h)");
    check(&var("a").cast(DType::INT64), "T.Cast(\"int64\", a)");
    let shuffle = ExprKind::Shuffle { vectors: vec![float("x"), float("y")], indices: vec![1, 0] };
    check(&Expr::new(shuffle, DType::FLOAT32.with_lanes(2)), "T.Shuffle([x, y], [1, 0])");
    check(&Expr::select(Expr::bool(true), var("a"), var("b")), "T.Select(T.bool(True), a, b)");
    check(&var("a").ramp(Expr::i32(2), 4), "T.Ramp(a, 2, 4)");
}

/// A matrix product as TVM prints it (`shared/tvm-scripts/input/g_matmul.py` in small).
#[test]
fn a_block_prints_as_tvm_prints_it() {
    let n = Var::new("n", DType::INT32);
    let buffer = |name: &str| {
        let shape = vec![n.expr(), Expr::i32(8)];
        Buffer::new(name, shape, DType::FLOAT32, StorageScope::GLOBAL)
    };
    let (a, c) = (buffer("A"), buffer("C"));
    let [i, j, k, vi, vj, vk] = ["i", "j", "k", "vi", "vj", "vk"].map(|name| Var::new(name, DType::INT32));
    let axis = |var: &Var, extent: Expr, kind| IterVar { var: var.clone(), min: Expr::i32(0), extent, kind };
    let one = |e: Expr| Range { min: e, extent: Expr::i32(1) };
    let at = vec![vi.expr(), vj.expr()];
    let whole = BufferRegion {
        buffer: a.clone(),
        region: vec![one(vi.expr()), Range { min: Expr::i32(0), extent: Expr::i32(8) }],
    };
    let block = Block {
        name: "C".into(),
        iter_vars: vec![
            axis(&vi, n.expr(), IterKind::Spatial),
            axis(&vj, Expr::i32(8), IterKind::Spatial),
            axis(&vk, Expr::i32(8), IterKind::Reduce),
        ],
        reads: Some(vec![whole]),
        writes: Some(vec![]),
        init: Some(Stmt::store(&c, at.clone(), Expr::float(0.0, DType::FLOAT32))),
        alloc_buffers: vec![],
        match_buffers: vec![],
        annotations: Attrs::new(),
        body: Stmt::store(&c, at.clone(), &Expr::load(&c, at) + &Expr::load(&a, vec![vi.expr(), vk.expr()])),
    };
    let realize = StmtKind::BlockRealize {
        iter_values: vec![i.expr(), j.expr(), k.expr()],
        predicate: Expr::compare(CompareOp::Lt, i.expr(), Expr::i32(5)),
        block: Arc::new(block),
    };
    let axis = ForKind::ThreadBinding(ThreadAxis::BlockX);
    let inner = Stmt::for_loop(k, Expr::i32(8), ForKind::Serial, Stmt::new(realize));
    let inner = Stmt::for_loop(j, Expr::i32(8), ForKind::Serial, inner);
    let nest = Stmt::for_loop(i, n.expr(), axis, inner);
    let mut function = prim_func("f", vec![Param::Buffer(a), Param::Buffer(c)], nest);
    function.s_tir = true;
    function.attrs.insert("tirx.noalias".into(), AttrValue::Bool(true));
    let module = IrModule { functions: vec![function], attrs: Attrs::new() };
    let expected = r#"# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer(("n", 8), "float32"), C: T.Buffer((n, 8), "float32")):
        n = T.int32()
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in T.thread_binding(n, thread="blockIdx.x"):
            for j, k in T.grid(8, 8):
                with T.sblock("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    T.where(i < 5)
                    T.reads(A[vi, 0:8])
                    T.writes()
                    with T.init():
                        C[vi, vj] = T.float32(0.0)
                    C[vi, vj] = C[vi, vj] + A[vi, vk]
"#;
    assert_eq!(super::module(&module), expected);
}

fn noted_loop(n: &Var, kind: ForKind, step: Option<Expr>) -> Stmt {
    Stmt::new(StmtKind::For {
        var: Var::new("i", DType::INT32),
        min: Expr::i32(2),
        extent: n.expr(),
        kind,
        step,
        annotations: Attrs::from([("unroll".into(), AttrValue::Int(1))]),
        body: Stmt::nop(),
    })
}

fn barrier_of_threads() -> Stmt {
    let barrier = Expr::call(Op::StorageSync, vec![Expr::str("shared")], DType::HANDLE);
    Stmt::new(StmtKind::LaunchThread {
        var: Var::new("threadIdx.x", DType::INT32),
        axis: ThreadAxis::ThreadX,
        extent: Expr::i32(32),
        body: Stmt::new(StmtKind::Evaluate(barrier)),
    })
}

#[test]
fn statements_print_one_by_one() {
    let n = Var::new("n", DType::INT32);
    let p = Var::pointer("p", DType::FLOAT32, StorageScope::GLOBAL);
    let b = Buffer::from_node(BufferNode {
        data: p.clone(),
        ..node(&Buffer::new("B", vec![n.expr()], DType::FLOAT32, StorageScope::GLOBAL))
    });
    let [i, t] = ["i", "t"].map(|name| Var::new(name, DType::INT32));
    let one = Expr::float(1.0, DType::FLOAT32);
    let vector = one.clone().broadcast(4);
    let stmts = vec![
        Stmt::new(StmtKind::DeclBuffer { buffer: b.clone(), data: None }),
        Stmt::new(StmtKind::Bind { var: t.clone(), value: &n.expr() + &Expr::i32(1) }),
        Stmt::store(&b, vec![t.expr().ramp(Expr::i32(1), 4)], vector.clone()),
        Stmt::store(&b, vec![Expr::i32(4).ramp(Expr::i32(1), 4)], vector),
        Stmt::for_loop(
            i.clone(),
            n.expr(),
            ForKind::Vectorized,
            Stmt::if_then(
                Expr::compare(CompareOp::Lt, i.expr(), t.expr()),
                Stmt::new(StmtKind::Break),
                Some(Stmt::new(StmtKind::Continue)),
            ),
        ),
        noted_loop(&n, ForKind::Serial, None),
        noted_loop(&n, ForKind::Unrolled, Some(Expr::i32(3))),
        Stmt::new(StmtKind::Assert {
            condition: Expr::compare(CompareOp::Gt, n.expr(), Expr::i32(0)),
            kind: "ValueError".into(),
            message: vec![Expr::str("n is "), n.expr()],
        }),
        Stmt::new(StmtKind::Attr {
            node: AttrNode::Buffer(b),
            key: "storage_alignment".into(),
            value: Expr::i32(64),
            body: Stmt::new(StmtKind::Attr {
                node: AttrNode::None,
                key: "compute_scope".into(),
                value: Expr::str("f_compute_"),
                body: barrier_of_threads(),
            }),
        }),
        Stmt::new(StmtKind::Return(Some(Expr::i32(0)))),
    ];
    let mut function = prim_func("f", vec![Param::Var(p), Param::Var(n)], Stmt::seq(stmts));
    function.ret = Some(DType::INT32);
    let expected = r#"# from tvm.script import tirx as T

@T.prim_func
def f(p: T.handle("float32", "global"), n: T.int32) -> T.int32:
    B = T.decl_buffer((n,), data=p)
    t: T.let[T.int32] = n + 1
    B[t:t + 4] = T.Broadcast(T.float32(1.0), 4)
    B[4:8] = T.Broadcast(T.float32(1.0), 4)
    for i in T.vectorized(n):
        if i < t:
            break
        else:
            continue
    for i in T.serial(2, 2 + n, annotations={"unroll": 1}):
        pass
    for i in T.unroll(2, 2 + n * 3, step=3, annotations={"unroll": 1}):
        pass
    assert n > 0, ("ValueError", ["n is ", n])
    with T.attr(B, "storage_alignment", 64):
        with T.attr({"compute_scope": "f_compute_"}):
            with T.launch_thread("threadIdx.x", 32) as threadIdx_x:
                T.tvm_storage_sync("shared")
    return 0
"#;
    assert_eq!(super::function(&function), expected);
}

#[test]
fn names_are_unique_valid_and_free_again() {
    let [a, b] = ["for", "for"].map(|name| Var::new(name, DType::INT32));
    let x = Var::new("blockIdx.x", DType::INT32);
    let inner = Stmt::new(StmtKind::Evaluate(&(&a.expr() + &b.expr()) * &x.expr()));
    let nest = |vars: &[&Var], mut body: Stmt| {
        for var in vars {
            body = Stmt::for_loop((*var).clone(), Expr::i32(2), ForKind::Parallel, body);
        }
        body
    };
    let again = Var::new("for", DType::INT32);
    let stmts = [
        nest(&[&x, &b, &a], inner),
        nest(&[&again], Stmt::new(StmtKind::Evaluate(again.expr()))),
        Stmt::new(StmtKind::Evaluate(var("free"))),
    ];
    let expected = "    for v_for in T.parallel(2):
        for v_for_1 in T.parallel(2):
            for blockIdx_x in T.parallel(2):
                T.evaluate((v_for + v_for_1) * blockIdx_x)
    for v_for in T.parallel(2):
        T.evaluate(v_for)
    T.evaluate(free)
";
    assert_eq!(body(&prim_func("f", vec![], Stmt::seq(stmts))), expected);
}

#[test]
fn loops_that_depend_on_each_other_are_no_grid() {
    let [i, j, k] = ["i", "j", "k"].map(|name| Var::new(name, DType::INT32));
    let inner = Stmt::for_loop(k, Expr::i32(2), ForKind::Serial, Stmt::nop());
    let inner = Stmt::for_loop(j, i.expr(), ForKind::Serial, inner);
    let nest = Stmt::for_loop(i, Expr::i32(4), ForKind::Serial, inner);
    let expected = "for i in range(4):\n    for j, k in T.grid(i, 2):\n        pass\n";
    assert_eq!(super::stmt(&nest), expected);
}

#[test]
fn parameters_with_strides_are_matched_in_the_body() {
    let [n, s] = ["n", "s"].map(|name| Var::new(name, DType::INT64));
    let a = Buffer::from_node(BufferNode {
        strides: vec![s.expr()],
        data_alignment_bytes: 64,
        ..node(&Buffer::new("A", vec![n.expr()], DType::FLOAT16, StorageScope::GLOBAL))
    });
    let b = Buffer::new("B", vec![&n.expr() * &n.expr(), n.expr()], DType::INT8, StorageScope::GLOBAL);
    let c = Buffer::new("C", vec![], DType::INT8, StorageScope::parse("shared.dyn"));
    let x = Var::new("x", DType::INT64);
    let value = Expr::new(
        ExprKind::Let { var: x.clone(), value: n.expr(), body: &x.expr() + &s.expr() },
        DType::INT64,
    );
    let function = prim_func(
        "f",
        vec![Param::Buffer(a), Param::Buffer(b), Param::Buffer(c.clone())],
        Stmt::store(&c, vec![], value),
    );
    let expected = r#"# from tvm.script import tirx as T

@T.prim_func
def f(A_handle: T.handle, B_handle: T.handle, C: T.Buffer((), "int8", scope="shared.dyn")):
    n = T.int64()
    s = T.int64()
    x = T.int64()
    A = T.match_buffer(A_handle, (n,), "float16", strides=(s,), align=64)
    B = T.match_buffer(B_handle, (n * n, n), "int8")
    C[()] = T.Let(x + s, where={x: n})
"#;
    assert_eq!(super::function(&function), expected);
}

#[test]
fn attributes_print_as_python_values() {
    let target = Target {
        kind: "test".into(),
        keys: vec!["a".into()],
        options: BTreeMap::from([("fast".into(), true.into())]),
        ..Target::default()
    };
    let mut function = prim_func("f", vec![], Stmt::nop());
    function.attrs = Attrs::from([
        ("a".into(), AttrValue::None),
        ("b".into(), AttrValue::List(vec![AttrValue::Int(-1), AttrValue::Str("x".into())])),
        ("c0".into(), AttrValue::Float(FloatBits::new(2.0))),
        ("d".into(), AttrValue::Float(FloatBits::new(f64::INFINITY))),
        ("e".into(), AttrValue::Expr(Expr::i32(3))),
        ("f".into(), AttrValue::Map(BTreeMap::from([("k".into(), AttrValue::Bool(false))]))),
        ("g".into(), AttrValue::Target(Arc::new(target))),
    ]);
    let expected = "    T.func_attr({\"a\": None, \"b\": [-1, \"x\"], \"c0\": 2.0, \"d\": float(\"inf\"), \
                    \"e\": T.int32(3), \"f\": {\"k\": False}, \
                    \"g\": T.target({\"fast\": True, \"keys\": [\"a\"], \"kind\": \"test\", \"tag\": \"\"})})\n    pass\n";
    assert_eq!(body(&function), expected);
}

#[test]
fn deep_nesting_is_cut() {
    let mut e = var("a");
    for _ in 0..5000 {
        e = &e + &e;
    }
    // Two to the power of 5000 leaves: only the cuts end it.
    assert!(expr_line(&e).chars().count() <= 120);
    let mut s = Stmt::nop();
    for _ in 0..3000 {
        s = Stmt::for_loop(Var::new("i", DType::INT32), Expr::i32(1), ForKind::Parallel, s);
    }
    assert!(stmt(&s).ends_with("...\n"));
    assert_eq!(stmt_line(&s), "for i in T.parallel(1):");
}
