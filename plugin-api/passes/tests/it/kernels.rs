//! Kernels made by hand, as a reader of TVMScript would give them, and facts of made-up targets.

use std::sync::Arc;

use chipdock_ir::{
    Attrs, Block, Buffer, DType, Expr, ForKind, IrModule, IterKind, IterVar, Op, Param, PrimFunc, Stage,
    Stmt, StmtKind, StorageScope, Target, TargetFacts, ThreadAxis, Var,
};

/// Facts of a host without threads.
pub(crate) fn host() -> TargetFacts {
    TargetFacts {
        target: Arc::new(Target { kind: "host-kind".into(), ..Target::default() }),
        device_type: 1,
        device: "cpu".into(),
        stage: Stage::Host,
        is_host: true,
        thread_axes: Vec::new(),
        storage_scopes: vec!["global".into(), "local".into()],
        threads_per_block_max: None,
        shared_memory_bytes_max: None,
        warp_size: None,
        function_args_max: None,
        native_ops: Vec::new(),
    }
}

/// Facts of a device with threads.
pub(crate) fn device() -> TargetFacts {
    TargetFacts {
        target: Arc::new(Target { kind: "device-kind".into(), ..Target::default() }),
        device_type: 4,
        device: "gadget".into(),
        stage: Stage::Device,
        is_host: false,
        thread_axes: vec![ThreadAxis::BlockX, ThreadAxis::ThreadX],
        storage_scopes: vec!["global".into(), "shared".into(), "local".into()],
        threads_per_block_max: Some(256),
        shared_memory_bytes_max: Some(16384),
        ..host()
    }
}

pub(crate) fn var(name: &str) -> Var {
    Var::new(name, DType::INT32)
}

pub(crate) fn buffer(name: &str, shape: &[Expr], dtype: DType) -> Buffer {
    Buffer::new(name, shape.to_vec(), dtype, StorageScope::GLOBAL)
}

pub(crate) fn extents(shape: &[i32]) -> Vec<Expr> {
    shape.iter().map(|extent| Expr::i32(*extent)).collect()
}

pub(crate) fn load(buffer: &Buffer, indices: &[Expr]) -> Expr {
    Expr::load(buffer, indices.to_vec())
}

pub(crate) fn store(buffer: &Buffer, indices: &[Expr], value: Expr) -> Stmt {
    Stmt::store(buffer, indices.to_vec(), value)
}

pub(crate) fn seq(stmts: &[Stmt]) -> Stmt {
    Stmt::seq(stmts.iter().cloned())
}

pub(crate) fn serial(var: &Var, extent: Expr, body: Stmt) -> Stmt {
    Stmt::for_loop(var.clone(), extent, ForKind::Serial, body)
}

pub(crate) fn looped(var: &Var, extent: i32, kind: ForKind, body: Stmt) -> Stmt {
    Stmt::for_loop(var.clone(), Expr::i32(extent), kind, body)
}

/// A block over axes, each (variable, extent, kind, value).
pub(crate) fn block(
    name: &str,
    axes: &[(&Var, Expr, IterKind, Expr)],
    init: Option<Stmt>,
    predicate: Expr,
    body: Stmt,
) -> Stmt {
    let iter_vars = axes.iter().map(|(var, extent, kind, _)| IterVar {
        var: (*var).clone(),
        min: Expr::int(0, var.dtype),
        extent: extent.clone(),
        kind: *kind,
    });
    let block = Block {
        name: name.into(),
        iter_vars: iter_vars.collect(),
        reads: None,
        writes: None,
        init,
        alloc_buffers: Vec::new(),
        match_buffers: Vec::new(),
        annotations: Attrs::new(),
        body,
    };
    let iter_values = axes.iter().map(|(.., value)| value.clone()).collect();
    Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block: Arc::new(block) })
}

pub(crate) fn function(
    name: &str,
    params: Vec<Param>,
    allocs: &[Buffer],
    s_tir: bool,
    body: Stmt,
) -> PrimFunc {
    PrimFunc {
        name: name.into(),
        params,
        ret: None,
        attrs: Attrs::new(),
        s_tir,
        alloc_buffers: allocs.to_vec(),
        body,
    }
}

pub(crate) fn module(functions: Vec<PrimFunc>) -> IrModule {
    IrModule { functions, attrs: Attrs::new() }
}

pub(crate) fn tensors(buffers: &[&Buffer]) -> Vec<Param> {
    buffers.iter().map(|buffer| Param::Buffer((*buffer).clone())).collect()
}

pub(crate) fn yes() -> Expr {
    Expr::bool(true)
}

/// C[i] = A[i] + B[i] over a symbolic size.
pub(crate) fn vector_add() -> IrModule {
    let (n, i, vi) = (var("n"), var("i"), var("vi"));
    let [a, b, c] = ["A", "B", "C"].map(|name| buffer(name, &[n.expr()], DType::FLOAT32));
    let at = [vi.expr()];
    let body = store(&c, &at, load(&a, &at) + load(&b, &at));
    let block = block("C", &[(&vi, n.expr(), IterKind::Spatial, i.expr())], None, yes(), body);
    module(vec![function("add", tensors(&[&a, &b, &c]), &[], true, serial(&i, n.expr(), block))])
}

/// C = A B, three loops, one block.
pub(crate) fn matmul(m: i32, n: i32, k: i32) -> IrModule {
    let [i, j, l, vi, vj, vl] = ["i", "j", "k", "vi", "vj", "vk"].map(var);
    let a = buffer("A", &extents(&[m, k]), DType::FLOAT32);
    let b = buffer("B", &extents(&[k, n]), DType::FLOAT32);
    let c = buffer("C", &extents(&[m, n]), DType::FLOAT32);
    let at = [vi.expr(), vj.expr()];
    let product = load(&a, &[vi.expr(), vl.expr()]) * load(&b, &[vl.expr(), vj.expr()]);
    let body = store(&c, &at, load(&c, &at) + product);
    let init = store(&c, &at, Expr::float(0.0, DType::FLOAT32));
    let axes = [
        (&vi, Expr::i32(m), IterKind::Spatial, i.expr()),
        (&vj, Expr::i32(n), IterKind::Spatial, j.expr()),
        (&vl, Expr::i32(k), IterKind::Reduce, l.expr()),
    ];
    let body = block("C", &axes, Some(init), yes(), body);
    let body = serial(&i, Expr::i32(m), serial(&j, Expr::i32(n), serial(&l, Expr::i32(k), body)));
    module(vec![function("matmul", tensors(&[&a, &b, &c]), &[], true, body)])
}

/// Rows normalised by their exponentials: four blocks over three buffers of its own.
pub(crate) fn softmax(rows: i32, columns: i32) -> IrModule {
    let a = buffer("A", &extents(&[rows, columns]), DType::FLOAT32);
    let b = buffer("B", &extents(&[rows, columns]), DType::FLOAT32);
    let m = buffer("M", &extents(&[rows]), DType::FLOAT32);
    let e = buffer("E", &extents(&[rows, columns]), DType::FLOAT32);
    let s = buffer("S", &extents(&[rows]), DType::FLOAT32);
    let reduce = |name: &str, out: &Buffer, start: f64, combine: &dyn Fn(Expr, [Expr; 2]) -> Expr| {
        let [i, k, vi, vk] = ["i", "k", "vi", "vk"].map(var);
        let body = store(out, &[vi.expr()], combine(load(out, &[vi.expr()]), [vi.expr(), vk.expr()]));
        let init = store(out, &[vi.expr()], Expr::float(start, DType::FLOAT32));
        let axes = [
            (&vi, Expr::i32(rows), IterKind::Spatial, i.expr()),
            (&vk, Expr::i32(columns), IterKind::Reduce, k.expr()),
        ];
        let body = block(name, &axes, Some(init), yes(), body);
        serial(&i, Expr::i32(rows), serial(&k, Expr::i32(columns), body))
    };
    let map = |name: &str, out: &Buffer, value: &dyn Fn([Expr; 2]) -> Expr| {
        let [i, j, vi, vj] = ["i", "j", "vi", "vj"].map(var);
        let body = store(out, &[vi.expr(), vj.expr()], value([vi.expr(), vj.expr()]));
        let axes = [
            (&vi, Expr::i32(rows), IterKind::Spatial, i.expr()),
            (&vj, Expr::i32(columns), IterKind::Spatial, j.expr()),
        ];
        serial(&i, Expr::i32(rows), serial(&j, Expr::i32(columns), block(name, &axes, None, yes(), body)))
    };
    let body = seq(&[
        reduce("M", &m, f64::from(f32::MIN), &|old, at| {
            Expr::binary(chipdock_ir::BinaryOp::Max, old, load(&a, &at))
        }),
        map("E", &e, &|at| {
            let x = Expr::binary(chipdock_ir::BinaryOp::Sub, load(&a, &at), load(&m, &at[..1]));
            Expr::call(Op::Exp, vec![x], DType::FLOAT32)
        }),
        reduce("S", &s, 0.0, &|old, at| old + load(&e, &at)),
        map("B", &b, &|at| Expr::binary(chipdock_ir::BinaryOp::Div, load(&e, &at), load(&s, &at[..1]))),
    ]);
    module(vec![function("softmax", tensors(&[&a, &b]), &[m, e, s], true, body)])
}
