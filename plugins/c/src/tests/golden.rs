//! Tests of texts against goldens, which gcc also compiles. `BLESS=1` rewrites the goldens.

use std::path::PathBuf;
use std::process::Command;

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::{
    AttrNode, AttrValue, BinaryOp, Buffer, Callee, CompareOp, DType, Expr, ExprKind, ForKind, IrModule, Op,
    Param, PrimFunc, Span, Stmt, StmtKind, StorageScope, StructField, ThreadAxis, Var, attr, build,
    environment, wire,
};
use chipdock_plugin_api::abi::{ChipdockEnv, ChipdockFunctionObject, ENV_SLOTS};

use super::support::{has_compiler, lowered};
use crate::dialect::CDialect;

fn pointer(name: &str, element: DType) -> (Var, Buffer) {
    let buffer = Buffer::new(name.to_owned(), vec![Expr::i32(1024)], element, StorageScope::GLOBAL);
    (buffer.data.clone(), buffer)
}

fn function(name: &str, params: Vec<Var>, body: Vec<Stmt>) -> PrimFunc {
    let mut f = build::function(name.to_owned()).finish();
    f.params = params.into_iter().map(Param::Var).collect();
    f.ret = Some(DType::INT32);
    f.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(0));
    f.attrs.insert(attr::NOALIAS.into(), AttrValue::Bool(true));
    f.s_tir = false;
    f.body = Stmt::seq(body.into_iter().chain([Stmt::new(StmtKind::Return(Some(Expr::i32(0))))]));
    f
}

fn evaluate(value: Expr) -> Stmt {
    Stmt::new(StmtKind::Evaluate(value))
}

fn bind(var: &Var, value: Expr) -> Stmt {
    Stmt::new(StmtKind::Bind { var: var.clone(), value })
}

fn assert(condition: Expr, message: Vec<Expr>) -> Stmt {
    Stmt::new(StmtKind::Assert { condition, kind: "ValueError".into(), message })
}

/// Integers, halves, lazy parts, loops.
fn scalars() -> IrModule {
    let ((a_data, a), (b_data, b)) = (pointer("A", DType::INT32), pointer("B", DType::INT32));
    let (h_data, h) = pointer("H", DType::FLOAT16);
    let (n, i, j) = (Var::new("n", DType::INT32), Var::new("i", DType::INT32), Var::new("j", DType::INT32));
    let (x, for_) = (Var::new("x", DType::INT32), Var::new("for", DType::INT32));
    let index = i.expr() * n.expr() + j.expr();
    let load = |e: &Expr| Expr::load(&a, vec![e.clone()]);
    let lazy = Expr::new(
        ExprKind::Let { var: x.clone(), value: load(&j.expr()), body: x.expr() * x.expr() },
        DType::INT32,
    );
    let chosen = Expr::call(
        Op::IfThenElse,
        vec![Expr::compare(CompareOp::Lt, j.expr(), n.expr()), lazy, Expr::i32(-1)],
        DType::INT32,
    );
    let inner = Stmt::seq([
        bind(&for_, load(&index) + Expr::i32(7)),
        Stmt::store(
            &b,
            vec![index.clone()],
            Expr::binary(BinaryOp::FloorDiv, for_.expr(), Expr::i32(3)) + chosen,
        ),
        Stmt::store(
            &b,
            vec![i.expr() * Expr::i32(4) + Expr::i32(1)],
            Expr::binary(BinaryOp::Mod, for_.expr(), n.expr()),
        ),
        Stmt::store(
            &h,
            vec![j.expr()],
            Expr::load(&h, vec![j.expr()]) * Expr::float(0.1, DType::FLOAT16)
                + load(&j.expr()).cast(DType::FLOAT16),
        ),
    ]);
    let stepped = Stmt::new(StmtKind::For {
        var: j,
        min: Expr::i32(2),
        extent: n.expr(),
        kind: ForKind::Serial,
        step: Some(Expr::i32(3)),
        annotations: Default::default(),
        body: inner,
    });
    let body = Stmt::for_loop(i, Expr::i32(8), ForKind::Parallel, stepped);
    build::module([function("scalars", vec![a_data, b_data, h_data, n], vec![body])])
}

/// Vectors: contiguous, gathered and masked accesses, selects, conversions, local accumulators.
fn vectors() -> IrModule {
    let ((a_data, a), (b_data, b)) = (pointer("A", DType::FLOAT32), pointer("B", DType::FLOAT32));
    let (idx_data, idx) = pointer("Idx", DType::INT32);
    let i = Var::new("i", DType::INT32);
    let lanes = 16;
    let ramp = |base: Expr| base.ramp(Expr::i32(1), lanes);
    let at = ramp(i.expr() * Expr::i32(16));
    let (x, picked) = (Expr::load(&a, vec![at.clone()]), Expr::load(&idx, vec![at.clone()]));
    let gathered = Expr::load(&a, vec![picked.clone()]);
    let is_less = Expr::compare(CompareOp::Lt, x.clone(), gathered.clone());
    let is_even = Expr::compare(
        CompareOp::Eq,
        Expr::call(
            Op::BitwiseAnd,
            vec![picked.clone(), Expr::int(1, DType::INT32.with_lanes(lanes))],
            picked.dtype,
        ),
        Expr::int(0, DType::INT32.with_lanes(lanes)),
    );
    let masked = Expr::new(
        ExprKind::Load { buffer: a.clone(), indices: vec![at.clone()], predicate: Some(is_even.clone()) },
        x.dtype,
    );
    let acc = Buffer::new("acc", vec![Expr::i32(32)], DType::FLOAT32, StorageScope::LOCAL);
    let acc_at = |e: i32| vec![ramp(Expr::i32(e))];
    let zero = Expr::float(0.0, DType::FLOAT32.with_lanes(lanes));
    let reversed = Expr::new(
        ExprKind::Shuffle { vectors: vec![x.clone(), gathered.clone()], indices: (0..16).rev().collect() },
        x.dtype,
    );
    let step = Expr::load(&acc, acc_at(0)) + Expr::select(is_less.and(is_even.clone()), x, gathered) * masked;
    let store_some = Stmt::new(StmtKind::Store {
        buffer: b.clone(),
        indices: vec![at],
        value: picked.cast(DType::FLOAT32.with_lanes(lanes)),
        predicate: Some(is_even),
    });
    let loop_ = Stmt::for_loop(
        i,
        Expr::i32(64),
        ForKind::Serial,
        Stmt::seq([Stmt::store(&acc, acc_at(0), step), Stmt::store(&acc, acc_at(16), reversed), store_some]),
    );
    let body = vec![
        Stmt::new(StmtKind::AllocBuffer { buffer: acc.clone(), annotations: Default::default() }),
        Stmt::store(&acc, acc_at(0), zero.clone()),
        Stmt::store(&acc, acc_at(16), zero),
        loop_,
        Stmt::store(&b, vec![ramp(Expr::i32(0))], Expr::load(&acc, acc_at(0)) + Expr::load(&acc, acc_at(16))),
    ];
    build::module([function("vectors", vec![a_data, b_data, idx_data], body)])
}

/// A packed entry, an assertion, workspace.
fn entry() -> IrModule {
    let handle = |name: &str| Var::new(name, DType::HANDLE);
    let (args, count) = (handle("args"), Var::new("num_args", DType::INT32));
    let (self_handle, result) = (handle("self_handle"), handle("result"));
    let get = |handle: &Var, index: i32, field: StructField, dtype: DType| {
        Expr::call(Op::StructGet, vec![handle.expr(), Expr::i32(index), Expr::i32(field as i32)], dtype)
    };
    let (tensor, shape) = (handle("A_handle"), Var::pointer("A_shape", DType::INT64, StorageScope::GLOBAL));
    let (n_data, n) = (Var::new("n", DType::INT64), Var::new("n", DType::INT64));
    let (a_data, a) = pointer("A", DType::FLOAT32);
    let w = Buffer::new("W", vec![n.expr()], DType::FLOAT32, StorageScope::GLOBAL);
    let i = Var::new("i", DType::INT64);
    let is_right = Expr::compare(CompareOp::Eq, count.expr(), Expr::i32(1));
    let int = |value: i128, dtype: DType| Expr::int(value, dtype);
    let call = Expr::new(
        ExprKind::Call {
            callee: Callee::Global("work_compute_".into()),
            args: vec![get(&tensor, 0, StructField::Data, DType::HANDLE), n_data.expr()],
        },
        DType::INT32,
    );
    let mut packed = function(
        "__tvm_ffi_work",
        vec![self_handle, args.clone(), count.clone(), result],
        vec![
            assert(
                Expr::call(Op::Likely, vec![is_right], DType::BOOL),
                vec![
                    Expr::str("Expected 1 argument, 100% of \"them\", but got "),
                    count.expr(),
                    Expr::str(" of them??!\n"),
                ],
            ),
            bind(&tensor, get(&args, 0, StructField::AnyValue, DType::HANDLE)),
            bind(&shape, get(&tensor, 0, StructField::Shape, DType::HANDLE)),
            bind(&n_data, get(&shape, 0, StructField::Int64Element, DType::INT64)),
            Stmt::new(StmtKind::Return(Some(call))),
        ],
    );
    packed.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(1));
    let size = n.expr().cast(DType::UINT64) * int(4, DType::UINT64);
    let workspace = Expr::call(Op::AllocateWorkspace, vec![Expr::i32(1), Expr::i32(0), size], DType::HANDLE);
    let free = Expr::call(Op::FreeWorkspace, vec![Expr::i32(1), Expr::i32(0), w.data.expr()], DType::INT32);
    let is_null = Expr::call(Op::Isnullptr, vec![w.data.expr()], DType::BOOL);
    let throw = evaluate(Expr::call(Op::ThrowLastError, vec![], DType::HANDLE));
    let at = vec![i.expr()];
    let copy = Stmt::store(&w, at.clone(), Expr::load(&a, at.clone()) + Expr::float(1.5, DType::FLOAT32));
    let back = Stmt::store(&a, at.clone(), Expr::load(&w, at));
    let body = vec![
        bind(&w.data, workspace),
        Stmt::if_then(is_null, throw, None),
        Stmt::new(StmtKind::DeclBuffer { buffer: w.clone(), data: None }),
        Stmt::for_loop(i, n.expr(), ForKind::Serial, Stmt::seq([copy, back])),
        evaluate(free),
    ];
    build::module([packed, function("work_compute_", vec![a_data, n], body)])
}

/// What the passes make of a parallel loop: the functions that are not about arguments.
fn parallel() -> IrModule {
    let mut f = build::function("scale");
    f.noalias();
    let n = f.size("n");
    let (a, b) = (f.buffer("A", [&n], DType::FLOAT32), f.buffer("B", [&n], DType::FLOAT32));
    let factor = f.scalar("factor", DType::FLOAT32);
    f.for_loop("i", &n, ForKind::Parallel, |f, i| f.store(&b, [&i], a.at([&i]) * factor.clone()));
    let mut module = lowered(&build::module([f.finish()]));
    module.functions.retain(|function| function.name.starts_with("scale_compute_"));
    // A name that C has taken: the launch has the one that the text gives.
    let task = "scale_compute_task0_";
    for function in &mut module.functions {
        if &*function.name == task {
            function.name = "double".into();
        }
        function.body = renamed(&function.body, task, "double");
    }
    module
}

/// The statement with calls of one function as calls of another.
fn renamed(stmt: &Stmt, from: &str, to: &str) -> Stmt {
    fn expr(e: &Expr, from: &str, to: &str) -> Expr {
        match &e.kind {
            ExprKind::Str(name) if &**name == from => Expr::str(to.to_owned()),
            ExprKind::Call { callee: Callee::Global(name), args } if &**name == from => {
                let callee = Callee::Global(to.into());
                Expr::new(ExprKind::Call { callee, args: args.clone() }, e.dtype)
            }
            _ => e.map_children(&mut |child| expr(child, from, to)),
        }
    }
    stmt.map_children(&mut |e| expr(e, from, to), &mut |s| renamed(s, from, to))
}

/// What code for a device asks its host for: the number of its type, to make it current, an
/// imported function.
fn device() -> IrModule {
    let (a_data, _) = pointer("A", DType::INT64);
    let external = |name: &str, args: Vec<Expr>| {
        let callee = Callee::Extern { name: name.into(), pure: false };
        Expr::new(ExprKind::Call { callee, args }, DType::INT32)
    };
    let unless = |call: Expr, compare: CompareOp| {
        let throw = Expr::call(Op::ThrowLastError, vec![], DType::HANDLE);
        let throw = Stmt::new(StmtKind::Evaluate(throw));
        Stmt::if_then(Expr::compare(compare, call, Expr::i32(0)), throw, None)
    };
    let number = Var::new("device_type", DType::INT32);
    let value = external(environment::DEVICE_TYPE, vec![Expr::str("npu")]);
    let bind = Stmt::new(StmtKind::Bind { var: number.clone(), value });
    let set = external(environment::SET_DEVICE, vec![number.expr(), Expr::i32(1)]);
    let launch = |name: &str| {
        let args = vec![Expr::str(name.to_owned()), a_data.expr(), Expr::i32(3)];
        unless(Expr::call(Op::CallPacked, args, DType::INT32), CompareOp::Ne)
    };
    let body = vec![
        bind,
        unless(number.expr(), CompareOp::Lt),
        unless(set, CompareOp::Ne),
        launch("scale_kernel"),
        launch("scale.kernel"),
        launch("scale_kernel"),
    ];
    build::module([function("on_device", vec![a_data.clone()], body)])
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("goldens").join(format!("{name}.c"))
}

/// gcc takes the text as C11 without a warning, with and without the machine's own vectors.
fn compiles(name: &str, text: &str) {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{name}.c"));
    std::fs::write(&path, text).unwrap();
    let variants: [&[&str]; 3] = [&["-fsyntax-only"], &["-O2", "-S"], &["-O2", "-march=native", "-S"]];
    for flags in variants {
        let mut command = Command::new("cc");
        command.args(["-std=c11", "-Wall", "-Werror"]).args(flags).arg(&path).current_dir(folder.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{name} {flags:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn check(name: &str, module: &IrModule) {
    let text = match write_module(module, &CDialect::default()) {
        Ok(source) => source.text,
        Err(diagnostics) => {
            let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            panic!("{name}:\n{}", all.join("\n"))
        }
    };
    chipdock_test_support::bless(&golden(name), &text).unwrap_or_else(|error| panic!("{error}"));
    compiles(name, &text);
}

#[test]
fn goldens_are_current_and_compile() {
    check("scalars", &scalars());
    check("vectors", &vectors());
    check("entry", &entry());
    check("parallel", &parallel());
    check("device", &device());
}

/// The struct of the environment is that of `ChipdockEnv`, whoever compiles it.
#[test]
fn the_environment_lies_as_the_boundary_says() {
    let text = write_module(&device(), &CDialect::default()).unwrap().text;
    let at = |field: &str, offset: usize| {
        format!("_Static_assert(offsetof(ChipdockEnv, {field}) == {offset}, \"{field}\");\n")
    };
    let mut text = format!("{text}\n{}{}{}", at("version", 0), at("flags", 4), at("self_", 8));
    for slot in ENV_SLOTS {
        text.push_str(&at(slot.name, slot.offset_bytes));
    }
    text.push_str(&format!(
        "_Static_assert(sizeof(ChipdockEnv) == {} && offsetof(CdFunction, safe_call) == {}, \"sizes\");\n",
        size_of::<ChipdockEnv>(),
        core::mem::offset_of!(ChipdockFunctionObject, safe_call)
    ));
    compiles("layout", &text);
}

#[test]
fn src_s1_the_same_module_gives_the_same_text() {
    let texts: Vec<String> =
        (0..2).map(|_| write_module(&vectors(), &CDialect::default()).unwrap().text).collect();
    assert_eq!(texts[0], texts[1]);
}

/// What the passes make of a kernel compiles without a warning too.
#[test]
fn a_lowered_kernel_compiles_without_a_warning() {
    let mut f = build::function("kernel");
    let n = f.size("n");
    let a = f.buffer("A", [&n, &Expr::i32(12)], DType::FLOAT32);
    let b = f.buffer("B", [&n], DType::BOOL);
    let scale = f.scalar("scale", DType::FLOAT32);
    f.grid(["i", "k"], [&n, &Expr::i32(12)], |f, [i, k]| {
        f.block("B", |f| {
            let (vi, vk) = (f.spatial("vi", &n, &i), f.reduce("vk", 12, &k));
            f.init(|f| f.store(&b, [&vi], Expr::bool(false)));
            let is_greater = Expr::compare(
                CompareOp::Gt,
                a.at([&vi, &vk]) * scale.clone(),
                Expr::float(0.5, DType::FLOAT32),
            );
            f.store(&b, [&vi], b.at([&vi]).or(is_greater));
        });
    });
    let module = lowered(&build::module([f.finish()]));
    compiles("kernel", &write_module(&module, &CDialect::default()).unwrap().text);
}

#[test]
fn src_s8_everything_that_is_not_supported_is_listed() {
    let (a_data, a) = pointer("A", DType::FLOAT32);
    let (i, t) = (Var::new("i", DType::INT32), Var::new("t", DType::INT32));
    let shared = Buffer::new("S", vec![Expr::i32(64)], DType::FLOAT32, StorageScope::SHARED);
    let store = Stmt::store(&a, vec![i.expr()], Expr::load(&shared, vec![t.expr()]));
    let bound = Stmt::new(StmtKind::LaunchThread {
        var: t.clone(),
        axis: ThreadAxis::ThreadX,
        extent: Expr::i32(64),
        body: store,
    });
    let barrier = evaluate(Expr::call(Op::StorageSync, vec![Expr::str("shared")], DType::HANDLE));
    let body = vec![
        Stmt::new(StmtKind::AllocBuffer { buffer: shared, annotations: Default::default() }),
        Stmt::for_loop(
            i,
            Expr::i32(4),
            ForKind::ThreadBinding(ThreadAxis::BlockX),
            Stmt::seq([bound, barrier]),
        ),
        Stmt::new(StmtKind::Attr {
            node: AttrNode::None,
            key: "note".into(),
            value: Expr::i32(0),
            body: evaluate(Expr::call(Op::CallPacked, vec![Expr::str("f")], DType::INT32)),
        }),
    ];
    let mut kernel = function("kernel", vec![a_data], body);
    kernel.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(2));
    let found = unsupported(&build::module([kernel]), &CDialect::default());
    let messages: Vec<&str> = found.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    for part in [
        "storage scope shared",
        "thread axis blockIdx.x",
        "thread axis threadIdx.x",
        "barrier of scope \"shared\"",
        "packed calls of a buffer of values only",
        "calling convention 2",
    ] {
        assert!(messages.iter().any(|message| message.contains(part)), "{part} in {messages:#?}");
    }
    assert!(messages.iter().all(|message| message.starts_with("target c: ")), "{messages:#?}");
}

/// Positions come over the wire; an expression that stands in several places is where its statement
/// is.
#[test]
fn src_s8_a_refusal_names_the_line() {
    let call = |line: u32| {
        let call = Expr::call(Op::CallPacked, vec![Expr::str("f")], DType::INT32);
        let place = |column| Span { line, column };
        evaluate(call.with_span(place(9))).with_span(place(5))
    };
    let module = build::module([function("kernel", vec![], vec![call(3), call(4)])]);
    let options = wire::WriteOptions { positions: true, ..wire::WriteOptions::default() };
    let module = wire::read(&wire::write_with(&module, &options).unwrap()).unwrap();
    let found = unsupported(&module, &CDialect::default());
    assert_eq!(found[0].span, Span { line: 3, column: 5 }, "{found:#?}");
}

/// With debug information each statement says its line, and the compiler's messages and debuggers
/// have it.
#[test]
fn lines_of_the_kernel_stand_in_the_text_when_asked_for() {
    let (a_data, a) = pointer("A", DType::INT32);
    let i = Var::new("i", DType::INT32);
    let place = |line| Span { line, column: 5 };
    let store = Stmt::store(&a, vec![i.expr()], Expr::i32(7)).with_span(place(12));
    let body = Stmt::for_loop(i, Expr::i32(4), ForKind::Serial, store).with_span(place(11));
    let module = build::module([function("kernel", vec![a_data], vec![body])]);
    let file = "a \"folder\"/100%s\\k.py";
    let text = write_module(&module, &CDialect { file: Some(file.to_owned()) }).unwrap().text;
    let places: Vec<&str> = text.lines().map(str::trim).filter(|line| line.starts_with("#line")).collect();
    let quoted = r#""a \"folder\"/100%s\\k.py""#;
    let expected = [&*format!("#line 11 {quoted}"), &format!("#line 12 {quoted}")];
    assert_eq!(places, [&["#line 1 \"<chipdock>\""], &expected[..]].concat());
    compiles("lines", &text);
    let plain = write_module(&module, &CDialect::default()).unwrap().text;
    let without: String =
        text.lines().filter(|line| !line.contains("#line")).map(|l| format!("{l}\n")).collect();
    assert_eq!(without, plain);
    // What the compiler says is said of the kernel's line.
    if has_compiler() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.c");
        std::fs::write(&path, text.replace("A[i] = 7", "A[i] = undeclared")).unwrap();
        let output = Command::new("cc").args(["-std=gnu11", "-fsyntax-only"]).arg(&path).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("k.py:12:") && message.contains("undeclared"), "{message}");
    }
}

#[test]
fn src_s2_reserved_words_and_odd_names_become_names() {
    let names = ["int", "f32x4", "cd_max", "INT32_MAX", "uint8_t", "a.b", "linux", "l"];
    let params: Vec<Var> = names.iter().map(|name| Var::new(*name, DType::INT32)).collect();
    let (a_data, a) = pointer("restrict", DType::INT32);
    let sum = params.iter().map(Var::expr).reduce(|a, b| a + b).unwrap();
    let all = [a_data].into_iter().chain(params).collect();
    let module = build::module([function("double", all, vec![Stmt::store(&a, vec![Expr::i32(0)], sum)])]);
    compiles("names", &write_module(&module, &CDialect::default()).unwrap().text);
}
