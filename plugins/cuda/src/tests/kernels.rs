//! Kernels that cover everything that the dialect writes.

use chipdock_ir::{
    BinaryOp, CompareOp, DType, Expr, ExprKind, ForKind, IrModule, Op, Stmt, StmtKind, ThreadAxis, Var, build,
};

use super::support::Kernel;

fn thread(kernel: &mut Kernel, threads: i32) -> Expr {
    let block = kernel.axis(ThreadAxis::BlockX, Expr::i32(4));
    let thread = kernel.axis(ThreadAxis::ThreadX, Expr::i32(threads));
    block * Expr::i32(threads) + thread
}

fn binary(op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
    Expr::binary(op, a.clone(), b.clone())
}

/// Tiles of two matrices by way of shared memory.
pub(super) fn tiles() -> IrModule {
    let mut f = Kernel::new();
    let [a, b, c] = ["A", "B", "C"].map(|name| f.buffer(name, DType::FLOAT32));
    let (y, x) = (f.axis(ThreadAxis::ThreadY, Expr::i32(16)), f.axis(ThreadAxis::ThreadX, Expr::i32(16)));
    let n = f.scalar("n", DType::INT32);
    let [s, t] = ["S", "T"].map(|name| f.alloc(name, Expr::i32(256), DType::FLOAT32, "shared"));
    let acc = f.alloc("acc", Expr::i32(1), DType::FLOAT32, "local");
    f.store(&acc, Expr::i32(0), Expr::float(0.0, DType::FLOAT32));
    let (k, l) = (Var::new("k", DType::INT32), Var::new("l", DType::INT32));
    let here = y.clone() * Expr::i32(16) + x.clone();
    let mut tile = Kernel::new();
    let row = y.clone() * n.clone() + k.expr() * Expr::i32(16) + x.clone();
    let column = (k.expr() * Expr::i32(16) + y.clone()) * n.clone() + x.clone();
    tile.store(&s, here.clone(), Expr::load(&a, vec![row]));
    tile.store(&t, here.clone(), Expr::load(&b, vec![column]));
    tile.barrier("shared");
    let product = Expr::load(&s, vec![y.clone() * Expr::i32(16) + l.expr()])
        * Expr::load(&t, vec![l.expr() * Expr::i32(16) + x.clone()]);
    let sum = Expr::load(&acc, vec![Expr::i32(0)]) + product;
    let add = Stmt::store(&acc, vec![Expr::i32(0)], sum);
    tile.stmt(Stmt::for_loop(l, Expr::i32(16), ForKind::Unrolled, add));
    tile.barrier("shared");
    let count = binary(BinaryOp::FloorDiv, &n, &Expr::i32(16));
    f.stmt(Stmt::for_loop(k, count, ForKind::Serial, tile.finish("tile").body));
    f.store(&c, y * n + x, Expr::load(&acc, vec![Expr::i32(0)]));
    build::module([f.finish("tiles_kernel")])
}

/// Integers, conversions, halves, constants that are no numbers.
pub(super) fn scalars() -> IrModule {
    let mut f = Kernel::new();
    let (a, b) = (f.buffer("A", DType::INT32), f.buffer("B", DType::INT64));
    let (h, g) = (f.buffer("H", DType::FLOAT16), f.buffer("G", DType::BFLOAT16));
    let (d, m) = (f.buffer("D", DType::FLOAT64), f.buffer("M", DType::BOOL));
    let (n, flag) = (f.scalar("n", DType::INT32), f.scalar("flag", DType::BOOL));
    let i = thread(&mut f, 64);
    let (x, wide) = (Var::new("x", DType::INT32), Var::new("wide", DType::INT64));
    f.push(StmtKind::Bind { var: x.clone(), value: Expr::load(&a, vec![i.clone()]) });
    f.push(StmtKind::Bind { var: wide.clone(), value: Expr::load(&b, vec![i.clone()]) });
    let (x, wide) = (x.expr(), wide.expr());
    let divided = [BinaryOp::Div, BinaryOp::Mod, BinaryOp::FloorDiv, BinaryOp::FloorMod]
        .map(|op| binary(op, &x, &n))
        .into_iter()
        .reduce(|a, b| a + b);
    f.store(&a, i.clone(), divided.unwrap_or_else(|| Expr::i32(0)));
    let shifted = Expr::call(Op::ShiftLeft, vec![wide.clone(), wide.clone()], DType::INT64);
    let least = Expr::int(i64::MIN.into(), DType::INT64);
    f.store(&b, i.clone(), binary(BinaryOp::Max, &binary(BinaryOp::Sub, &shifted, &wide), &least));
    let half = Expr::load(&h, vec![i.clone()]);
    f.store(&h, i.clone(), wide.clone().cast(DType::FLOAT16));
    f.store(&g, i.clone(), half.clone().cast(DType::BFLOAT16));
    let double = Expr::load(&d, vec![i.clone()]);
    let infinite = Expr::float(f64::INFINITY, DType::FLOAT64);
    f.store(&d, i.clone(), Expr::select(flag, double.clone() / half.clone().cast(DType::FLOAT64), infinite));
    f.store(&a, i.clone() + Expr::i32(512), double.cast(DType::INT32));
    let nan = Expr::float(f64::NAN, DType::FLOAT32);
    let single = half.cast(DType::FLOAT32);
    let least = binary(BinaryOp::Min, &single, &nan);
    f.store(&m, i, Expr::compare(CompareOp::Lt, least, Expr::float(0.1, DType::FLOAT32)));
    build::module([f.finish("scalars_kernel")])
}

/// Vectors: contiguous, gathered and masked accesses, of types of every width; a select, a
/// conversion, a shuffle.
pub(super) fn vectors() -> IrModule {
    let mut f = Kernel::new();
    let (a, b) = (f.buffer("A", DType::FLOAT32), f.buffer("B", DType::FLOAT32));
    let (p, h) = (f.buffer("P", DType::INT32), f.buffer("H", DType::FLOAT16));
    let (c, d) = (f.buffer("C", DType::INT8), f.buffer("D", DType::FLOAT64));
    let i = thread(&mut f, 32);
    let at = |lanes: u16| (i.clone() * Expr::i32(lanes.into())).ramp(Expr::i32(1), lanes);
    let (x, picked) = (Expr::load(&a, vec![at(4)]), Expr::load(&p, vec![at(4)]));
    let gathered = Expr::load(&a, vec![picked.clone()]);
    let is_less = Expr::compare(CompareOp::Lt, x.clone(), gathered.clone());
    let is_small = Expr::compare(CompareOp::Lt, picked.clone(), Expr::int(100, picked.dtype));
    let load = ExprKind::Load { buffer: a, indices: vec![at(4)], predicate: Some(is_small.clone()) };
    let masked = Expr::new(load, x.dtype);
    let mixed = ExprKind::Shuffle { vectors: vec![x.clone(), gathered.clone()], indices: vec![7, 0, 1, 4] };
    let mixed = Expr::new(mixed, x.dtype);
    let local = f.alloc("L", Expr::i32(8), DType::FLOAT32, "local");
    let lane = Expr::i32(0).ramp(Expr::i32(1), 4);
    f.store(&local, lane.clone(), Expr::select(is_less.and(is_small.clone()), x, gathered) * masked + mixed);
    f.push(StmtKind::Store {
        buffer: b.clone(),
        indices: vec![at(4)],
        value: Expr::load(&local, vec![lane]),
        predicate: Some(is_small),
    });
    let halves = Expr::load(&h, vec![at(8)]);
    f.store(&b, at(8), halves.clone().cast(DType::FLOAT32.with_lanes(8)));
    f.store(&h, at(8), halves);
    f.store(&c, at(16), Expr::load(&c, vec![at(16)]) + Expr::int(1, DType::INT8.with_lanes(16)));
    f.store(&d, at(2), Expr::load(&d, vec![at(2)]) * Expr::float(0.5, DType::FLOAT64.with_lanes(2)));
    let three = Expr::load(&p, vec![at(3)]) + at(3);
    f.store(&p, at(3), three);
    build::module([f.finish("vectors_kernel")])
}

/// Dynamic shared memory and a view of it, warps, atomic additions of every type, a thread that
/// ends, a function that kernels call.
pub(super) fn threads() -> IrModule {
    let mut f = Kernel::new();
    let types = [
        DType::INT32,
        DType::UINT32,
        DType::INT64,
        DType::UINT64,
        DType::FLOAT16,
        DType::FLOAT32,
        DType::FLOAT64,
    ];
    let buffers = types.map(|dtype| f.buffer(&format!("to_{dtype}"), dtype));
    let n = f.scalar("n", DType::INT32);
    let i = thread(&mut f, 128);
    f.tag("tirx.use_cooperative_launch");
    f.tag("tirx.use_dyn_shared_memory");
    let s = f.alloc("S", n.clone(), DType::UINT8, "shared.dyn");
    let view = chipdock_ir::Buffer::from_node(chipdock_ir::BufferNode {
        name: "F".into(),
        dtype: DType::FLOAT32,
        shape: vec![Expr::i32(32)],
        ..(*s).clone()
    });
    f.push(StmtKind::DeclBuffer { buffer: view.clone(), data: None });
    let ended = Stmt::new(StmtKind::Evaluate(Expr::call(Op::ThreadReturn, vec![], DType::HANDLE)));
    f.stmt(Stmt::if_then(Expr::compare(CompareOp::Ge, i.clone(), n), ended, None));
    let lane = Expr::call(Op::BitwiseAnd, vec![i.clone(), Expr::i32(31)], DType::INT32);
    f.store(&view, lane.clone(), Expr::load(&buffers[5], vec![i.clone()]));
    f.barrier("shared.dyn");
    let mask = Var::new("mask", DType::UINT32);
    let active = Expr::call(Op::WarpActivemask, vec![], DType::UINT32);
    f.push(StmtKind::Bind { var: mask.clone(), value: active });
    let mut from = |op: Op, value: Expr| {
        let var = Var::new("other", value.dtype);
        let args = vec![mask.expr(), value.clone(), Expr::i32(1), Expr::i32(32), Expr::i32(32)];
        f.push(StmtKind::Bind { var: var.clone(), value: Expr::call(op, args, value.dtype) });
        var.expr()
    };
    let up = from(Op::WarpShuffleUp, Expr::load(&view, vec![lane.clone()]));
    let down = from(Op::WarpShuffleDown, Expr::load(&buffers[3], vec![i.clone()]).cast(DType::INT8));
    let crossed =
        from(Op::WarpShuffleXor, Expr::compare(CompareOp::Lt, up.clone(), Expr::float(1.0, up.dtype)));
    f.barrier("warp");
    let value = Expr::select(crossed, up, down.cast(DType::FLOAT32));
    for buffer in &buffers {
        let place = Expr::call(Op::AddressOf, vec![Expr::load(buffer, vec![lane.clone()])], DType::HANDLE);
        f.evaluate(Op::AtomicAdd, vec![place, value.clone().cast(buffer.dtype)], buffer.dtype);
    }
    build::module([f.finish("threads_kernel")])
}
