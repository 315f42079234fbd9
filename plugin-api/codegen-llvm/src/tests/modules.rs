//! Modules for the goldens, in the form that a host code generator receives.

use chipdock_ir::{
    AttrNode, AttrValue, Attrs, BinaryOp, Buffer, Callee, CompareOp, DType, Expr, ExprKind, ForKind,
    IrModule, Op, Param, PrimFunc, Span, Stmt, StmtKind, StorageScope, StructField, Var, attr, build,
    environment,
};

pub(super) fn pointer(name: &str, element: DType) -> (Var, Buffer) {
    let buffer = Buffer::new(name.to_owned(), vec![Expr::i32(1024)], element, StorageScope::GLOBAL);
    (buffer.data.clone(), buffer)
}

pub(super) fn function(name: &str, params: Vec<Var>, body: Vec<Stmt>) -> PrimFunc {
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

fn serial(var: &Var, min: Expr, extent: Expr, step: Option<Expr>, body: Stmt) -> Stmt {
    Stmt::new(StmtKind::For {
        var: var.clone(),
        min,
        extent,
        kind: ForKind::Serial,
        step,
        annotations: Attrs::new(),
        body,
    })
}

fn noted(stmt: Stmt, name: &str, value: AttrValue) -> Stmt {
    let StmtKind::For { var, min, extent, kind, step, annotations, body } = stmt.kind.clone() else {
        return stmt;
    };
    let mut annotations = annotations;
    annotations.insert(name.into(), value);
    Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations, body })
}

/// Loops that count down to nothing, wrap, step, are left and gone on with; a loop as long as a
/// condition holds.
fn loops() -> IrModule {
    let (a_data, a) = pointer("A", DType::INT32);
    let (n, m) = (Var::new("n", DType::INT32), Var::new("m", DType::INT64));
    let (i, j, k, l) = (
        Var::new("i", DType::INT32),
        Var::new("j", DType::INT64),
        Var::new("k", DType::INT32),
        Var::new("l", DType::INT32),
    );
    let load = |e: Expr| Expr::load(&a, vec![e]);
    let store = |e: Expr, value: Expr| Stmt::store(&a, vec![e], value);
    let is = |op, a: Expr, b: i32| Expr::compare(op, a, Expr::i32(b));
    let left = Stmt::if_then(is(CompareOp::Lt, load(i.expr()), 0), Stmt::new(StmtKind::Break), None);
    let skipped = Stmt::if_then(
        is(CompareOp::Eq, load(i.expr()), 0).and(is(CompareOp::Gt, load(i.expr() + Expr::i32(1)), 3)),
        Stmt::new(StmtKind::Continue),
        Some(store(i.expr(), i.expr())),
    );
    let first = serial(&i, Expr::i32(0), n.expr(), None, Stmt::seq([left, skipped]));
    let second = serial(
        &j,
        m.expr(),
        Expr::int(7, DType::INT64),
        Some(Expr::int(3, DType::INT64)),
        store(j.expr(), j.expr().cast(DType::INT32)),
    );
    let inner = noted(
        serial(&l, n.expr(), Expr::i32(4), None, store(l.expr(), load(l.expr()) + k.expr())),
        "pragma_unroll",
        AttrValue::Int(4),
    );
    let third = serial(&k, Expr::i32(-8), Expr::i32(8), None, inner);
    let halve = store(Expr::i32(0), Expr::binary(BinaryOp::Div, load(Expr::i32(0)), Expr::i32(2)));
    let fourth =
        Stmt::new(StmtKind::While { condition: is(CompareOp::Gt, load(Expr::i32(0)), 1), body: halve });
    build::module([function("loops", vec![a_data, n, m], vec![first, second, third, fourth])])
}

/// Accesses that are neither plain nor whole: booleans, masks, lanes backwards and in steps,
/// vectors as elements, offsets.
fn accesses() -> IrModule {
    let ((f_data, f), (b_data, b)) = (pointer("F", DType::FLOAT32), pointer("B", DType::BOOL));
    let v_node = chipdock_ir::Buffer::new(
        "V",
        vec![Expr::i32(64)],
        DType::FLOAT32.with_lanes(4),
        StorageScope::GLOBAL,
    );
    let n = Var::new("n", DType::INT32);
    let o = Buffer::from_node(chipdock_ir::BufferNode {
        name: "O".into(),
        dtype: DType::FLOAT32,
        shape: vec![Expr::i32(64)],
        strides: vec![n.expr()],
        elem_offset: Some(Expr::i32(8)),
        data: f_data.clone(),
        scope: StorageScope::GLOBAL,
        data_alignment_bytes: 0,
        offset_factor: 0,
    });
    let i = Var::new("i", DType::INT32);
    let ramp = |stride: i32| i.expr().ramp(Expr::i32(stride), 8);
    let masked = |buffer: &Buffer, index: Expr, mask: &Expr| {
        let dtype = buffer.dtype.with_lanes(index.dtype.lanes);
        Expr::new(
            ExprKind::Load { buffer: buffer.clone(), indices: vec![index], predicate: Some(mask.clone()) },
            dtype,
        )
    };
    let store_if = |buffer: &Buffer, index: Expr, value: Expr, mask: &Expr| {
        Stmt::new(StmtKind::Store {
            buffer: buffer.clone(),
            indices: vec![index],
            value,
            predicate: Some(mask.clone()),
        })
    };
    let mask = Expr::load(&b, vec![ramp(1)]);
    let one = Expr::load(&b, vec![i.expr()]);
    let every = i.expr().broadcast(8);
    let body = Stmt::seq([
        Stmt::store(&f, vec![ramp(-1)], Expr::load(&f, vec![ramp(3)])),
        Stmt::store(&f, vec![ramp(2)], Expr::load(&f, vec![ramp(-1)])),
        Stmt::store(&f, vec![i.expr().ramp(n.expr(), 8)], Expr::load(&f, vec![every.clone()])),
        store_if(&f, ramp(-1), masked(&f, ramp(1), &mask), &mask),
        store_if(&f, ramp(5), masked(&f, ramp(-1), &mask), &mask),
        store_if(&b, ramp(1), masked(&b, ramp(7), &mask), &mask),
        store_if(&f, i.expr(), masked(&f, i.expr() + Expr::i32(1), &one), &one),
        Stmt::store(&f, vec![every], Expr::load(&f, vec![ramp(1)])),
        Stmt::store(&b, vec![i.expr()], one.clone().logical_not()),
        Stmt::store(&v_node, vec![i.expr()], Expr::load(&f, vec![i.expr().ramp(Expr::i32(1), 4)])),
        Stmt::store(&o, vec![i.expr()], Expr::load(&o, vec![i.expr() + Expr::i32(1)])),
    ]);
    let all = serial(&i, Expr::i32(0), n.expr(), None, body);
    build::module([function("accesses", vec![f_data, b_data, v_node.data.clone(), n], vec![all])])
}

/// A parallel region: its launch, and its function, whose pointers come out of packed values.
fn region() -> IrModule {
    let (a_data, _) = pointer("A", DType::FLOAT32);
    let (b_data, _) = pointer("B", DType::FLOAT32);
    let get = |handle: &Var, index: i32, dtype: DType| {
        let field = Expr::i32(StructField::AnyValue as i32);
        Expr::call(Op::StructGet, vec![handle.expr(), Expr::i32(index), field], dtype)
    };
    let values = Buffer::new("values", vec![Expr::i32(6)], DType::INT64, StorageScope::GLOBAL);
    let n = Var::new("n", DType::INT64);
    let set = |index: i32, value: Expr| {
        let field = Expr::i32(StructField::AnyValue as i32);
        evaluate(Expr::call(
            Op::StructSet,
            vec![values.data.expr(), Expr::i32(index), field, value],
            DType::HANDLE,
        ))
    };
    let launch = Expr::call(
        Op::ParallelLaunch,
        vec![Expr::str("work_region"), values.data.expr(), Expr::i32(0)],
        DType::INT32,
    );
    let failed = Expr::compare(CompareOp::Ne, launch, Expr::i32(0));
    let throw = evaluate(Expr::call(Op::ThrowLastError, vec![], DType::HANDLE));
    let work = function(
        "work_compute_",
        vec![a_data.clone(), b_data.clone(), n.clone()],
        vec![
            Stmt::new(StmtKind::AllocBuffer { buffer: values.clone(), annotations: Default::default() }),
            set(0, a_data.expr()),
            set(1, b_data.expr()),
            set(2, n.expr()),
            Stmt::if_then(failed, throw, None),
        ],
    );
    let ((a_data, a), (b_data, b)) = (pointer("A", DType::FLOAT32), pointer("B", DType::FLOAT32));
    let (task, tasks, data) =
        (Var::new("task", DType::INT32), Var::new("tasks", DType::INT32), Var::new("data", DType::HANDLE));
    let (n, i) = (Var::new("n", DType::INT64), Var::new("i", DType::INT64));
    let begin = task.expr().cast(DType::INT64) * n.expr();
    let at = begin + i.expr();
    let body = Stmt::store(&b, vec![at.clone()], Expr::load(&a, vec![at]) * Expr::float(2.0, DType::FLOAT32));
    let region = function(
        "work_region",
        vec![task, tasks, data.clone()],
        vec![
            bind(&a_data, get(&data, 0, DType::HANDLE)),
            bind(&b_data, get(&data, 1, DType::HANDLE)),
            bind(&n, get(&data, 2, DType::INT64)),
            serial(&i, Expr::int(0, DType::INT64), n.expr(), None, body),
        ],
    );
    build::module([region, work])
}

/// Atomic additions, calls of C functions, of functions of the module, and of imported ones.
fn calls() -> IrModule {
    let types = [DType::INT32, DType::UINT64, DType::FLOAT16, DType::FLOAT32, DType::FLOAT64];
    let buffers: Vec<(Var, Buffer)> = types.iter().map(|dtype| pointer("P", *dtype)).collect();
    let mut stmts: Vec<Stmt> = buffers
        .iter()
        .map(|(_, buffer)| {
            let address =
                Expr::call(Op::AddressOf, vec![Expr::load(buffer, vec![Expr::i32(3)])], DType::HANDLE);
            let one = Expr::constant(1, buffer.dtype);
            evaluate(Expr::call(Op::AtomicAdd, vec![address, one], buffer.dtype))
        })
        .collect();
    let pure = |name: &str, args: Vec<Expr>, dtype: DType| {
        Expr::new(ExprKind::Call { callee: Callee::Extern { name: name.into(), pure: true }, args }, dtype)
    };
    let (_, f) = &buffers[3];
    let (_, d) = &buffers[4];
    let load = |buffer: &Buffer| Expr::load(buffer, vec![Expr::i32(0)]);
    stmts.push(Stmt::store(f, vec![Expr::i32(1)], pure("expf", vec![load(f)], DType::FLOAT32)));
    let sum = pure("pow", vec![load(d), load(f).cast(DType::FLOAT64)], DType::FLOAT64);
    stmts.push(Stmt::store(d, vec![Expr::i32(1)], sum));
    let narrow = Expr::new(
        ExprKind::Call {
            callee: Callee::Extern { name: "toupper_".into(), pure: false },
            args: vec![Expr::int(97, DType::INT8), Expr::bool(true), Expr::str("text")],
        },
        DType::UINT16,
    );
    stmts.push(evaluate(narrow));
    let values = Buffer::new("values", vec![Expr::i32(4)], DType::INT64, StorageScope::GLOBAL);
    stmts.push(Stmt::new(StmtKind::AllocBuffer { buffer: values.clone(), annotations: Default::default() }));
    let packed = Expr::call(
        Op::CallPacked,
        vec![Expr::str("other.function"), values.data.expr(), Expr::i32(1)],
        DType::INT32,
    );
    for (name, args) in [
        (environment::DEVICE_TYPE, vec![Expr::str("npu")]),
        (environment::SET_DEVICE, vec![Expr::i32(4), Expr::i32(1)]),
    ] {
        let callee = Callee::Extern { name: name.into(), pure: false };
        stmts.push(evaluate(Expr::new(ExprKind::Call { callee, args }, DType::INT32)));
    }
    let throw = evaluate(Expr::call(Op::ThrowLastError, vec![], DType::HANDLE));
    stmts.push(Stmt::if_then(Expr::compare(CompareOp::Ne, packed, Expr::i32(0)), throw, None));
    build::module([function("calls", buffers.iter().map(|(data, _)| data.clone()).collect(), stmts)])
}

/// Stores past the caches: asked for by a loop, and about one buffer.
fn nontemporal() -> IrModule {
    let ((a_data, a), (b_data, b)) = (pointer("A", DType::FLOAT32), pointer("B", DType::FLOAT32));
    let (i, j, n) = (Var::new("i", DType::INT32), Var::new("j", DType::INT32), Var::new("n", DType::INT32));
    let at = |i: &Var| vec![(i.expr() * Expr::i32(16)).ramp(Expr::i32(1), 16)];
    let copy = |i: &Var| {
        Stmt::seq([
            Stmt::store(&b, at(i), Expr::load(&a, at(i))),
            Stmt::store(&a, at(i), Expr::float(0.0, DType::FLOAT32.with_lanes(16))),
        ])
    };
    let first = serial(&i, Expr::i32(0), n.expr(), None, copy(&i));
    let first = noted(first, "chipdock.nontemporal", AttrValue::Int(1));
    let second = Stmt::new(StmtKind::Attr {
        node: AttrNode::Buffer(b.clone()),
        key: "chipdock.nontemporal".into(),
        value: Expr::i32(1),
        body: serial(&j, Expr::i32(0), n.expr(), None, copy(&j)),
    });
    build::module([function("nontemporal", vec![a_data, b_data, n], vec![first, second])])
}

/// Statements with lines; written with debug information.
fn lines() -> IrModule {
    let (a_data, a) = pointer("A", DType::INT32);
    let (i, n) = (Var::new("i", DType::INT32), Var::new("n", DType::INT32));
    let at = |line| Span { line, column: 9 };
    let store = Stmt::store(&a, vec![i.expr()], i.expr() * n.expr()).with_span(at(5));
    let body = vec![
        assert(Expr::compare(CompareOp::Gt, n.expr(), Expr::i32(0)), vec![Expr::str("n is "), n.expr()])
            .with_span(at(3)),
        serial(&i, Expr::i32(0), n.expr(), None, store).with_span(at(4)),
    ];
    build::module([function("lines_compute_", vec![a_data, n], body)])
}

/// Every golden by name.
pub(super) fn all() -> Vec<(&'static str, IrModule)> {
    vec![
        ("scalars", scalars()),
        ("vectors", vectors()),
        ("entry", entry()),
        ("loops", loops()),
        ("accesses", accesses()),
        ("region", region()),
        ("calls", calls()),
        ("nontemporal", nontemporal()),
        ("lines", lines()),
    ]
}
