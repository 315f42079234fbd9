//! Small modules that together contain every node and every op.

use std::sync::Arc;

use chipdock_ir::build::{self, Body};
use chipdock_ir::op::{DotProduct, Threads};
use chipdock_ir::{
    AttrNode, AttrValue, Attrs, BinaryOp, Block, Buffer, BufferNode, BufferRegion, Callee, CompareOp,
    ConstantData, DType, Expr, ExprKind, FloatBits, ForKind, IrModule, IterKind, IterVar, MatchBufferRegion,
    Op, PrimFunc, Range, Reducer, Signature, Span, Stage, Stmt, StmtKind, StorageScope, Target, ThreadAxis,
    Var, attr,
};

/// A named module, with the oldest version that can express it.
pub struct Kept {
    /// Name of the module, which says what it covers.
    pub name: &'static str,
    /// Oldest version in which it can be written.
    pub since: &'static str,
    /// The module.
    pub module: IrModule,
    /// Stage at which it is valid.
    pub stage: Stage,
}

/// Returns modules with every node and op.
#[must_use]
pub fn all() -> Vec<Kept> {
    let kept = |name, since, functions: Vec<PrimFunc>| Kept {
        name,
        since,
        module: build::module(functions),
        stage: Stage::Blocks,
    };
    let mut attributes = kept("attributes", "1.0.0", vec![attributes()]);
    attributes.module.attrs.insert("note".into(), AttrValue::Str("of the module".into()));
    vec![
        kept("empty", "1.0.0", vec![]),
        kept("ops-by-signature", "1.0.0", ops_by_signature()),
        kept("ops-memory", "1.0.0", vec![memory_ops()]),
        kept("expressions", "1.0.0", vec![callee(), expressions()]),
        kept("constants", "1.0.0", vec![constants()]),
        kept("constant-data", "1.0.0", vec![constant_data()]),
        kept("statements", "1.0.0", vec![statements(), returns()]),
        kept("blocks", "1.0.0", vec![blocks()]),
        kept("threads", "1.0.0", vec![threads()]),
        attributes,
        kept("quantised", "1.0.0", vec![quantised()]),
        kept("notes", "1.0.0", vec![notes()]),
        kept("warps", "1.0.0", vec![warps()]),
        kept("allreduce", "1.0.0", vec![allreduce()]),
        Kept { stage: Stage::Host, ..kept("launch", "1.0.0", launch()) },
        kept("packed", "1.0.0", vec![packed()]),
        kept("storage-types", "1.0.0", vec![storage_types()]),
        kept("dots", "1.0.0", vec![dots()]),
    ]
}

/// Returns a module whose statements and expressions have positions.
#[must_use]
pub fn placed() -> IrModule {
    let mut f = build::function("placed");
    let a = f.buffer("A", [8], DType::INT32);
    let i = Var::new("i", DType::INT32);
    let at = |line, column| Span { line, column };
    let store = |line, value: i32| {
        let sum = (i.expr() + Expr::i32(value).with_span(at(line, 16))).with_span(at(line, 12));
        Stmt::store(&a, vec![i.expr()], sum).with_span(at(line, 5))
    };
    // Two equal statements in two places, an expression that stands in one, and one that stands in
    // two.
    let body = Stmt::new(StmtKind::Seq(vec![store(4, 1), store(5, 1), store(6, 2)]));
    f.push(Stmt::for_loop(i.clone(), Expr::i32(8), ForKind::Serial, body).with_span(at(3, 1)));
    build::module([f.finish()])
}

fn scalars() -> impl Iterator<Item = DType> {
    DType::SCALARS.iter().copied()
}

/// Storage types: constants, casts, what moves them, a pointer to one.
fn storage_types() -> PrimFunc {
    let mut f = build::function("storage_types");
    let wide = f.buffer("wide", [8], DType::FLOAT32);
    for &dtype in DType::STORAGE {
        let (buffer, at) = (f.buffer(dtype.to_string(), [8], dtype), Expr::i32(1));
        let one = if dtype.is_float8() { Expr::float(1.0, dtype) } else { Expr::int(0, dtype) };
        f.store(&buffer, [&at], one);
        let lanes = Expr::i32(0).ramp(Expr::i32(1), 4);
        let value = Expr::load(&wide, vec![lanes.clone()]).cast(dtype.with_lanes(4));
        f.store(&buffer, [&lanes], value);
        f.store(&wide, [&at], Expr::load(&buffer, vec![at.clone()]).cast(DType::FLOAT32));
    }
    f.finish()
}

/// A function of one buffer per scalar type.
struct Typed {
    function: build::FunctionBuilder,
    buffers: Vec<Buffer>,
    next: i32,
}

impl Typed {
    fn new(name: &str) -> Self {
        let mut function = build::function(name.to_owned());
        let buffers = scalars().map(|dtype| function.buffer(dtype.to_string(), [64], dtype)).collect();
        Self { function, buffers, next: 0 }
    }

    fn buffer(&self, dtype: DType) -> Buffer {
        self.buffers.iter().find(|buffer| buffer.dtype == dtype.scalar()).unwrap().clone()
    }

    /// An element, another each time.
    fn value(&mut self, dtype: DType) -> Expr {
        self.next = (self.next + 1) % 60;
        let start = Expr::i32(self.next);
        let index = if dtype.is_scalar() { start } else { start.ramp(Expr::i32(1), dtype.lanes) };
        Expr::load(&self.buffer(dtype), vec![index])
    }

    fn keep(&mut self, value: Expr) {
        let buffer = self.buffer(value.dtype);
        let index = match value.dtype.lanes {
            1 => Expr::i32(0),
            lanes => Expr::i32(0).ramp(Expr::i32(1), lanes),
        };
        self.function.push(Stmt::store(&buffer, vec![index], value));
    }

    fn finish(self) -> PrimFunc {
        self.function.finish()
    }
}

/// Ops whose arguments follow from their signature, on every type that it takes.
fn ops_by_signature() -> Vec<PrimFunc> {
    let (mut floats, mut ints) = (Typed::new("of_floats"), Typed::new("of_integers"));
    for op in Op::ALL {
        for dtype in scalars() {
            let (takes, into) = match op.signature() {
                Signature::FloatUnary | Signature::FloatBinary | Signature::FloatTest => {
                    (dtype.is_float(), &mut floats)
                }
                Signature::IntUnary | Signature::IntBinary | Signature::BitBinary => {
                    (dtype.is_integer(), &mut ints)
                }
                Signature::NumberUnary => (!dtype.is_bool(), &mut ints),
                // Among those with rules of their own, as the kept documents have them.
                Signature::FloatTernary | Signature::IntCount | Signature::Custom => (false, &mut ints),
            };
            // Once for each type would be a large document: one type after the other.
            let turn = scalars().position(|one| one == dtype).unwrap() % 4 == *op as usize % 4;
            if takes && (turn || dtype == DType::FLOAT32 || dtype == DType::INT32) {
                let args: Vec<Expr> = (0..op.arity()).map(|_| into.value(dtype)).collect();
                let result = op.result_dtype(&args).unwrap();
                into.keep(Expr::call(*op, args, result));
            }
        }
    }
    vec![floats.finish(), ints.finish()]
}

/// Ops of memory with rules of their own.
fn memory_ops() -> PrimFunc {
    let mut f = Typed::new("own");
    let (f32, i32, i64, int) = (DType::FLOAT32, DType::INT32, DType::INT64, Expr::i32);
    let keep = |f: &mut Typed, op: Op, dtypes: &[DType], result: DType| {
        let args = dtypes.iter().map(|dtype| f.value(*dtype)).collect();
        f.keep(Expr::call(op, args, result));
    };
    keep(&mut f, Op::Ldexp, &[f32, i32], f32);
    keep(&mut f, Op::Fma, &[f32.with_lanes(4); 3], f32.with_lanes(4));
    keep(&mut f, Op::Clz, &[i64], i32);
    keep(&mut f, Op::IfThenElse, &[DType::BOOL, f32, f32], f32);
    keep(&mut f, Op::Likely, &[DType::BOOL], DType::BOOL);
    keep(&mut f, Op::Reinterpret, &[f32], i32);
    let data = f.buffer(f32).data.expr();
    let address = f.value(f32);
    let moved =
        |by: i128| Expr::call(Op::HandleAddByteOffset, vec![data.clone(), Expr::int(by, i64)], DType::HANDLE);
    let null = Expr::call(Op::Isnullptr, vec![moved(16)], DType::BOOL);
    f.keep(null);
    let address = Expr::call(Op::AddressOf, vec![address], DType::HANDLE);
    let is_null = Expr::call(Op::Isnullptr, vec![address], DType::BOOL);
    f.keep(is_null);
    f.keep(Expr::call(Op::HandleLoad, vec![data.clone(), Expr::int(8, i64)], i32));
    f.keep(Expr::call(Op::StructGet, vec![data.clone(), int(0), int(4)], i32));
    let body = &mut f.function;
    body.evaluate(Expr::call(Op::StructSet, vec![data.clone(), int(0), int(8), int(3)], DType::HANDLE));
    let size = Expr::int(256, DType::UINT64);
    let workspace =
        body.bind("workspace", Expr::call(Op::AllocateWorkspace, vec![int(1), int(0), size], DType::HANDLE));
    body.evaluate(Expr::call(Op::FreeWorkspace, vec![int(1), int(0), workspace], i32));
    let packed = vec![Expr::str("other.function"), data, int(7)];
    let status = body.bind("status", Expr::call(Op::CallPacked, packed, i32));
    let failed = Expr::compare(CompareOp::Ne, status, int(0));
    let throw = Stmt::new(StmtKind::Evaluate(Expr::call(Op::ThrowLastError, vec![], DType::HANDLE)));
    body.push(Stmt::if_then(failed, throw, None));
    f.finish()
}

/// A function that launches another as the body of a parallel region.
fn launch() -> Vec<PrimFunc> {
    let mut task = build::function("task");
    let id = task.scalar("task_id", DType::INT32);
    let count = task.scalar("tasks_count", DType::INT32);
    let data = task.scalar("data", DType::HANDLE);
    task.returns(DType::INT32);
    let int64 = |e: Expr| e.cast(DType::INT64);
    let field = Expr::i32(17);
    let set = vec![data, id.clone(), field, int64(id) * int64(count)];
    task.evaluate(Expr::call(Op::StructSet, set, DType::HANDLE));
    task.return_value(0);
    let mut f = build::function("launches");
    let data = f.scalar("data", DType::HANDLE);
    f.returns(DType::INT32);
    let args = vec![Expr::str("task"), data, Expr::i32(8)];
    f.return_value(Expr::call(Op::ParallelLaunch, args, DType::INT32));
    vec![task.finish(), f.finish()]
}

fn packed() -> PrimFunc {
    let mut f = build::function("packed");
    let data = f.scalar("data", DType::HANDLE);
    let values = f.scalar("values", DType::HANDLE);
    let made = |extents: &[i32]| {
        let extents = extents.iter().map(|extent| Expr::i32(*extent)).collect();
        Expr::call(Op::StackMakeShape, extents, DType::HANDLE)
    };
    let offset = Expr::int(7, DType::INT64);
    let args =
        vec![data, made(&[3, 2]), made(&[6, 2]), Expr::i32(2), Expr::float(0.0, DType::FLOAT16), offset];
    let tensor = Expr::call(Op::StackMakeArray, args, DType::HANDLE);
    let args = vec![Expr::str("called"), tensor, Expr::str("both"), Expr::i32(3)];
    f.evaluate(Expr::call(Op::CallPacked, args, DType::INT32));
    let set = vec![values, Expr::i32(0), Expr::i32(15), Expr::str("text")];
    f.evaluate(Expr::call(Op::StructSet, set, DType::HANDLE));
    f.finish()
}

fn callee() -> PrimFunc {
    let mut f = build::function("callee");
    let x = f.scalar("x", DType::INT32);
    f.returns(DType::INT32);
    f.push(Stmt::new(StmtKind::Return(Some(x + Expr::i32(1)))));
    f.finish()
}

fn expressions() -> PrimFunc {
    let mut f = Typed::new("expressions");
    let (f32, i32) = (DType::FLOAT32, DType::INT32);
    let numbers = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Min, BinaryOp::Max];
    let integers = [BinaryOp::Mod, BinaryOp::FloorDiv, BinaryOp::FloorMod];
    for op in numbers.into_iter().chain(integers) {
        let (a, b) = (f.value(i32), f.value(i32));
        f.keep(Expr::binary(op, a, b));
    }
    for op in numbers {
        let (a, b) = (f.value(f32), f.value(f32));
        f.keep(Expr::binary(op, a, b));
    }
    for &op in CompareOp::ALL {
        let (a, b) = (f.value(f32.with_lanes(2)), f.value(f32.with_lanes(2)));
        f.keep(Expr::compare(op, a, b));
    }
    let (p, q) = (f.value(DType::BOOL), f.value(DType::BOOL));
    f.keep(p.clone().and(q.clone()).or(p.clone().logical_not()));
    for dtype in scalars() {
        let value = f.value(dtype);
        f.keep(value.cast(DType::FLOAT64));
    }
    let (a, b) = (f.value(f32), f.value(f32));
    f.keep(Expr::select(p, a, b));
    let vector = f.value(i32.with_lanes(4));
    let other = f.value(i32.with_lanes(4));
    let kind = ExprKind::Shuffle { vectors: vec![vector, other], indices: vec![7, 0, 5, 2] };
    f.keep(Expr::new(kind, i32.with_lanes(4)));
    let masked = f.buffer(f32);
    let index = Expr::i32(0).ramp(Expr::i32(2), 4);
    let mask = f.value(DType::BOOL.with_lanes(4));
    let load = ExprKind::Load { buffer: masked, indices: vec![index], predicate: Some(mask) };
    f.keep(Expr::new(load, f32.with_lanes(4)));
    let value = f.value(f32);
    f.keep(value.broadcast(4));
    let (x, bound) = (Var::new("x", i32), f.value(i32));
    f.keep(Expr::new(ExprKind::Let { var: x.clone(), value: bound, body: &x.expr() * &x.expr() }, i32));
    let arg = f.value(i32);
    f.keep(Expr::new(ExprKind::Call { callee: Callee::Global("callee".into()), args: vec![arg] }, i32));
    for (name, pure) in [("abs", true), ("rand", false)] {
        let args = if pure { vec![f.value(i32)] } else { vec![] };
        f.keep(Expr::new(ExprKind::Call { callee: Callee::Extern { name: name.into(), pure }, args }, i32));
    }
    f.finish()
}

/// The ends of every integer type, and floats that a decimal number would spoil.
fn constants() -> PrimFunc {
    let mut f = Typed::new("constants");
    for dtype in scalars() {
        if let Some((least, most)) = dtype.integer_range() {
            f.keep(Expr::int(least, dtype));
            f.keep(Expr::int(most, dtype));
        }
    }
    let odd = [0.0, -0.0, 0.1, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, f64::MAX];
    for value in odd {
        f.keep(Expr::float(value, DType::FLOAT64));
    }
    for dtype in [DType::FLOAT16, DType::BFLOAT16, DType::FLOAT32] {
        f.keep(Expr::float(0.1, dtype));
        f.keep(Expr::float(-0.0, dtype).broadcast(8));
    }
    f.finish()
}

/// Constants of every kind of type; two of them have the same bytes.
fn constant_data() -> PrimFunc {
    let mut f = build::function("constant_data");
    for (dtype, lanes) in [
        (DType::BOOL, vec![1, 0, 1]),
        (DType::INT4, vec![0x8, 0x7, 0xf]),
        (DType::UINT1, vec![1, 0, 1]),
        (DType::FLOAT8_E5M2, vec![0x7c, 0x80, 0x01]),
        (DType::FLOAT16, vec![0x7c00, 0x8000, 0x0001]),
        (DType::BFLOAT16, vec![0x7c00, 0x8000, 0x0001]),
        (DType::FLOAT32, vec![0x7fc0_0001, 0xff80_0000, 0x8000_0000]),
        (DType::UINT64, vec![u64::MAX, 0, 1]),
    ] {
        let name = format!("K_{dtype}");
        let constant = f.constant(name.as_str(), [3], dtype, ConstantData::pack(dtype, lanes));
        let out = f.alloc(format!("B_{dtype}"), [3], dtype, StorageScope::GLOBAL);
        f.store(&out, [0], Expr::load(&constant, vec![Expr::i32(2)]));
    }
    f.finish()
}

fn zero(dtype: DType) -> Expr {
    Expr::int(0, dtype)
}

fn statements() -> PrimFunc {
    let mut f = build::function("statements");
    let n = f.size("n");
    let a = f.buffer("A", [&n], DType::INT32);
    let shape = vec![n.clone(), Expr::i32(4)];
    let strided = Buffer::new("S", shape, DType::FLOAT32, StorageScope::GLOBAL);
    let strided = Buffer::from_node(BufferNode {
        strides: vec![Expr::i32(8), Expr::i32(1)],
        elem_offset: Some(&n * &Expr::i32(2)),
        data_alignment_bytes: 64,
        offset_factor: 4,
        ..BufferNode::clone(&strided)
    });
    let data =
        Expr::call(Op::HandleAddByteOffset, vec![a.data.expr(), Expr::int(4, DType::INT64)], DType::HANDLE);
    let declared = Buffer::new("D", vec![Expr::i32(2)], DType::INT32, StorageScope::GLOBAL);
    let local = Buffer::new("L", vec![Expr::i32(16)], DType::FLOAT32, StorageScope::LOCAL);
    let annotations: Attrs = [("pragma".into(), AttrValue::Int(-3))].into();
    let strided_data = f.alloc("M", [&n * &Expr::i32(8)], DType::FLOAT32, StorageScope::GLOBAL);
    let strided =
        Buffer::from_node(BufferNode { data: strided_data.data.clone(), ..BufferNode::clone(&strided) });
    f.push(Stmt::new(StmtKind::AllocBuffer { buffer: local.clone(), annotations: annotations.clone() }));
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer: declared.clone(), data: Some(data) }));
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer: strided.clone(), data: None }));
    let x = f.bind("x", n.clone() + Expr::i32(1));
    let positive = Expr::compare(CompareOp::Gt, x.clone(), Expr::i32(0));
    f.push(Stmt::new(StmtKind::Assert {
        condition: positive.clone(),
        kind: "ValueError".into(),
        message: vec![Expr::str("expected n \"above\" 0,\nfound "), x.clone()],
    }));
    let mask = Expr::bool(true).broadcast(4);
    f.push(Stmt::new(StmtKind::Store {
        buffer: local,
        indices: vec![Expr::i32(0).ramp(Expr::i32(1), 4)],
        value: Expr::float(1.5, DType::FLOAT32).broadcast(4),
        predicate: Some(mask),
    }));
    f.push(Stmt::store(&strided, vec![zero(DType::INT32), Expr::i32(3)], Expr::float(2.0, DType::FLOAT32)));
    f.push(Stmt::store(&declared, vec![zero(DType::INT32)], x.clone()));
    loops(&mut f, &a, &annotations);
    let again = Stmt::new(StmtKind::Evaluate(Expr::call(Op::Likely, vec![positive.clone()], DType::BOOL)));
    f.push(Stmt::if_then(positive, again, Some(Stmt::nop())));
    f.finish()
}

fn loops(f: &mut Body, a: &Buffer, annotations: &Attrs) {
    for (kind, name) in [
        (ForKind::Serial, "serial"),
        (ForKind::Parallel, "parallel"),
        (ForKind::Vectorized, "vectorized"),
        (ForKind::Unrolled, "unrolled"),
    ] {
        let i = Var::new(name, DType::INT32);
        let body = Stmt::store(a, vec![i.expr()], Expr::i32(1));
        f.push(Stmt::for_loop(i, Expr::i32(4), kind, body));
    }
    let i = Var::new("i", DType::INT64);
    let found = Expr::compare(CompareOp::Eq, i.expr(), Expr::int(7, DType::INT64));
    let body = Stmt::seq([
        Stmt::if_then(found, Stmt::new(StmtKind::Break), Some(Stmt::new(StmtKind::Continue))),
        Stmt::store(a, vec![i.expr()], Expr::i32(2)),
    ]);
    f.push(Stmt::new(StmtKind::For {
        var: i,
        min: Expr::int(1, DType::INT64),
        extent: Expr::int(3, DType::INT64),
        kind: ForKind::Serial,
        step: Some(Expr::int(2, DType::INT64)),
        annotations: annotations.clone(),
        body,
    }));
    let first = Expr::load(a, vec![zero(DType::INT32)]);
    f.push(Stmt::new(StmtKind::While {
        condition: Expr::compare(CompareOp::Lt, first.clone(), Expr::i32(9)),
        body: Stmt::store(a, vec![zero(DType::INT32)], first + Expr::i32(1)),
    }));
}

fn returns() -> PrimFunc {
    let mut f = build::function("returns");
    f.push(Stmt::new(StmtKind::Return(None)));
    f.finish()
}

fn blocks() -> PrimFunc {
    let mut f = build::function("blocks");
    let a = f.buffer("A", [8, 8], DType::FLOAT32);
    let b = f.buffer("B", [8], DType::FLOAT32);
    let loops: Vec<Var> = ["i", "k", "s", "o"].iter().map(|name| Var::new(*name, DType::INT32)).collect();
    let kinds = [IterKind::Spatial, IterKind::Reduce, IterKind::Ordered, IterKind::Opaque];
    let extents = [8, 8, 1, 1];
    let axes: Vec<Var> = ["vi", "vk", "vs", "vo"].iter().map(|name| Var::new(*name, DType::INT32)).collect();
    let iter_vars = axes.iter().zip(kinds).zip(extents).map(|((var, kind), extent)| IterVar {
        var: var.clone(),
        min: Expr::i32(0),
        extent: Expr::i32(extent),
        kind,
    });
    let (vi, vk) = (axes[0].expr(), axes[1].expr());
    let one = |min: &Expr| Range { min: min.clone(), extent: Expr::i32(1) };
    let reads = vec![
        BufferRegion { buffer: a.clone(), region: vec![one(&vi), one(&vk)] },
        BufferRegion { buffer: b.clone(), region: vec![one(&vi)] },
    ];
    let writes = vec![BufferRegion { buffer: b.clone(), region: vec![one(&vi)] }];
    let view = Buffer::new("V", vec![Expr::i32(1)], DType::FLOAT32, StorageScope::GLOBAL);
    let local = Buffer::new("C", vec![Expr::i32(1)], DType::FLOAT32, StorageScope::parse("shared.dyn"));
    let at = vec![Expr::i32(0)];
    let sum = Expr::load(&view, at.clone()) + Expr::load(&a, vec![vi.clone(), vk]);
    let block = Block {
        name: "B".into(),
        iter_vars: iter_vars.collect(),
        reads: Some(reads),
        writes: Some(writes.clone()),
        init: Some(Stmt::store(&b, vec![vi], Expr::float(0.0, DType::FLOAT32))),
        alloc_buffers: vec![local.clone()],
        match_buffers: vec![MatchBufferRegion { buffer: view.clone(), source: writes[0].clone() }],
        annotations: [("tile".into(), AttrValue::List(vec![AttrValue::Int(8), AttrValue::Bool(true)]))]
            .into(),
        body: Stmt::seq([
            Stmt::store(&local, at.clone(), sum),
            Stmt::store(&view, at.clone(), Expr::load(&local, at)),
        ]),
    };
    let mut body = Stmt::new(StmtKind::BlockRealize {
        iter_values: loops.iter().map(Var::expr).collect(),
        predicate: Expr::compare(CompareOp::Lt, loops[0].expr(), Expr::i32(7)),
        block: Arc::new(block),
    });
    for (var, extent) in loops.iter().zip(extents).rev() {
        body = Stmt::for_loop(var.clone(), Expr::i32(extent), ForKind::Serial, body);
    }
    f.push(body);
    f.finish()
}

fn threads() -> PrimFunc {
    let mut f = build::function("threads");
    let a = f.buffer("A", [512], DType::FLOAT32);
    let mut body =
        Stmt::new(StmtKind::Evaluate(Expr::call(Op::StorageSync, vec![Expr::str("shared")], DType::HANDLE)));
    let mut index = Expr::i32(0);
    let axes: Vec<(Var, ThreadAxis)> = ThreadAxis::ALL
        .iter()
        .map(|(axis, name)| (Var::new(name.replace('.', "_"), DType::INT32), *axis))
        .collect();
    for (var, _) in &axes {
        index = Expr::i32(2) * index + var.expr();
    }
    body = Stmt::seq([body, Stmt::store(&a, vec![index], Expr::float(1.0, DType::FLOAT32))]);
    for (var, axis) in axes.into_iter().rev() {
        let kind = ForKind::ThreadBinding(axis);
        body = Stmt::for_loop(var, Expr::i32(2), kind, body);
    }
    let t = Var::new("t", DType::INT32);
    let store = Stmt::store(&a, vec![t.expr()], Expr::float(2.0, DType::FLOAT32));
    f.push(body);
    f.push(Stmt::new(StmtKind::LaunchThread {
        var: t,
        axis: ThreadAxis::ThreadX,
        extent: Expr::i32(32),
        body: store,
    }));
    f.finish()
}

fn attributes() -> PrimFunc {
    let mut f = build::function("attributes");
    let n = f.size("n");
    let a = f.buffer("A", [&n], DType::FLOAT32);
    f.noalias();
    let store = Stmt::store(&a, vec![Expr::i32(0)], Expr::float(1.0, DType::FLOAT32));
    let nodes = [AttrNode::None, AttrNode::Buffer(a.clone()), AttrNode::Var(a.data.clone())];
    for (node, key) in nodes.into_iter().zip(["nothing", "a buffer", "a variable"]) {
        let (key, value) = (key.into(), Expr::str("value"));
        f.push(Stmt::new(StmtKind::Attr { node, key, value, body: store.clone() }));
    }
    let mut function = f.finish();
    let target = Target {
        kind: "npu".into(),
        tag: "vendor/npu-1".into(),
        keys: vec!["npu".into(), "gpu".into()],
        options: [
            ("cores".to_owned(), 64.into()),
            ("fast".to_owned(), true.into()),
            ("features".to_owned(), serde_json::json!(["a", "b"])),
        ]
        .into(),
        host: Some(Arc::new(Target { kind: "cpu".into(), ..Target::default() })),
    };
    let map: Attrs = [("a".into(), AttrValue::None), ("b".into(), AttrValue::List(vec![]))].into();
    let values = [
        (attr::TARGET, AttrValue::Target(Arc::new(target))),
        ("none", AttrValue::None),
        ("bool", AttrValue::Bool(false)),
        ("int", AttrValue::Int(i64::MIN)),
        ("float", AttrValue::Float(FloatBits::new(-0.5))),
        ("str", AttrValue::Str("tabs\tand é, \u{1}".into())),
        ("list", AttrValue::List(vec![AttrValue::Int(1), AttrValue::Str("two".into())])),
        ("map", AttrValue::Map(map)),
        ("expr", AttrValue::Expr(n + Expr::i32(1))),
    ];
    function.attrs.extend(values.into_iter().map(|(name, value)| (name.into(), value)));
    function
}

fn quantised() -> PrimFunc {
    let mut f = Typed::new("quantised");
    let i32 = DType::INT32;
    for lanes in [1, 4] {
        let dtype = i32.with_lanes(lanes);
        let (x, y, ls, rs) = (f.value(dtype), f.value(dtype), f.value(dtype), f.value(dtype));
        let args = vec![x.clone(), y.clone(), Expr::i32(31), Expr::i32(-2)];
        f.keep(Expr::call(Op::QMultiplyShift, args, dtype));
        let flags = [Expr::i32(31), Expr::i32(1), Expr::i32(0)];
        let args = [x, y, ls, rs].into_iter().chain(flags).collect();
        f.keep(Expr::call(Op::QMultiplyShiftPerAxis, args, dtype));
    }
    for (narrow, wide) in [(DType::INT8, i32), (DType::UINT8, DType::UINT32)] {
        let args = vec![f.value(narrow.with_lanes(4)), f.value(narrow.with_lanes(4)), f.value(wide)];
        f.keep(Expr::call(Op::Dp4a, args, wide));
    }
    f.finish()
}

/// Dot products of each type, of one lane and of four.
fn dots() -> PrimFunc {
    let mut f = Typed::new("dots");
    for dot in DotProduct::ALL {
        for lanes in [1, 4] {
            let wide = lanes * dot.group;
            let factors = [dot.a, dot.b].map(|dtype| f.value(dtype.with_lanes(wide)));
            let sum = f.value(dot.sum.with_lanes(lanes));
            let args = [sum].into_iter().chain(factors).collect();
            f.keep(Expr::call(Op::DotAdd, args, dot.sum.with_lanes(lanes)));
        }
    }
    f.finish()
}

/// Notes for optimisers, and pointers to a part of a buffer.
fn notes() -> PrimFunc {
    let mut f = build::function("notes");
    let n = f.size("n");
    let a = f.buffer("A", [&n], DType::FLOAT32);
    let positive = Expr::compare(CompareOp::Gt, n.clone(), Expr::i32(0));
    f.evaluate(Expr::call(Op::Assume, vec![positive], DType::HANDLE));
    let same = Expr::call(Op::ThreadInvariant, vec![n.clone()], DType::INT32);
    f.push(Stmt::if_then(
        Expr::compare(CompareOp::Gt, same, Expr::i32(4)),
        Stmt::store(&a, vec![Expr::i32(4)], Expr::float(1.0, DType::FLOAT32)),
        None,
    ));
    let args = vec![Expr::float(0.0, DType::FLOAT32), a.data.expr(), n, Expr::i32(4), Expr::i32(3)];
    let pointer = Expr::call(Op::AccessPtr, args, DType::HANDLE);
    let callee = Callee::Extern { name: "vendor_kernel".into(), pure: false };
    f.evaluate(Expr::new(ExprKind::Call { callee, args: vec![pointer] }, DType::INT32));
    f.finish()
}

fn warps() -> PrimFunc {
    let mut f = build::function("warps");
    let a = f.buffer("A", [32], DType::FLOAT32);
    let count = f.buffer("count", [1], DType::UINT32);
    let t = Var::new("t", DType::INT32);
    let mask = Var::new("mask", DType::UINT32);
    let x = Var::new("x", DType::FLOAT32);
    let mut body = vec![
        Stmt::new(StmtKind::Bind {
            var: mask.clone(),
            value: Expr::call(Op::WarpActivemask, vec![], DType::UINT32),
        }),
        Stmt::new(StmtKind::Bind { var: x.clone(), value: Expr::load(&a, vec![t.expr()]) }),
    ];
    for op in Op::all_where(|op| op.threads == Threads::Shuffle) {
        let args = vec![mask.expr(), x.expr(), Expr::i32(1), Expr::i32(32), Expr::i32(32)];
        body.push(Stmt::store(&a, vec![t.expr()], Expr::call(op, args, DType::FLOAT32)));
    }
    let element = Expr::load(&count, vec![Expr::i32(0)]);
    let address = Expr::call(Op::AddressOf, vec![element], DType::HANDLE);
    let args = vec![address, Expr::int(1, DType::UINT32)];
    body.push(Stmt::new(StmtKind::Evaluate(Expr::call(Op::AtomicAdd, args, DType::UINT32))));
    let last = Expr::compare(CompareOp::Eq, t.expr(), Expr::i32(31));
    let end = Stmt::new(StmtKind::Evaluate(Expr::call(Op::ThreadReturn, vec![], DType::HANDLE)));
    body.push(Stmt::if_then(last, end, None));
    let kind = ForKind::ThreadBinding(ThreadAxis::ThreadX);
    f.push(Stmt::for_loop(t, Expr::i32(32), kind, Stmt::new(StmtKind::Seq(body))));
    f.finish()
}

fn allreduce() -> PrimFunc {
    let mut f = build::function("allreduce");
    let a = f.buffer("A", [128], DType::FLOAT32);
    let result = f.buffer("B", [1], DType::FLOAT32);
    let t = Var::new("t", DType::INT32);
    let [x, y] = ["x", "y"].map(|name| Var::new(name, DType::FLOAT32));
    let reducer = Reducer {
        result: vec![x.expr() + y.expr()],
        identity: vec![Expr::float(0.0, DType::FLOAT32)],
        lhs: vec![x],
        rhs: vec![y],
    };
    let args = vec![
        Expr::int(1, DType::UINT32),
        Expr::load(&a, vec![t.expr()]),
        Expr::bool(true),
        Expr::load(&result, vec![Expr::i32(0)]),
        t.expr(),
    ];
    let reduce = Stmt::new(StmtKind::Attr {
        node: AttrNode::Reducer(Arc::new(reducer)),
        key: "reduce_scope".into(),
        value: Expr::i32(0),
        body: Stmt::new(StmtKind::Evaluate(Expr::call(Op::ThreadAllreduce, args, DType::HANDLE))),
    });
    f.push(Stmt::for_loop(t, Expr::i32(128), ForKind::ThreadBinding(ThreadAxis::ThreadX), reduce));
    f.finish()
}
