//! Makes well-formed modules out of random bytes, for property tests: fewer bytes, smaller modules.

use std::sync::Arc;

use crate::build::{self, BlockBuilder, Body};
use crate::op::Threads;
use crate::validate::bounds::outside;
use crate::{
    AttrNode, AttrValue, Attrs, BinaryOp, Buffer, BufferNode, Callee, CompareOp, DType, Expr, ExprKind,
    FloatBits, ForKind, IrModule, Op, Reducer, Stmt, StmtKind, StorageScope, Target, ThreadAxis, Var, attr,
};

/// A source of choices, made from bytes; 0 when no bytes are left.
struct Source<'b> {
    bytes: &'b [u8],
    /// Whether ops of threads and of quantised kernels, and reducers, are included.
    whole: bool,
}

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    fn is_spent(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// The values and buffers that expressions may use.
#[derive(Clone, Default)]
struct Known {
    values: Vec<Expr>,
    buffers: Vec<Buffer>,
}

/// Makes a module that is valid before any pass.
#[must_use]
pub fn module(bytes: &[u8]) -> IrModule {
    made(Source { bytes, whole: false })
}

/// Makes a module of all ops that is valid before any pass.
#[must_use]
pub fn whole_module(bytes: &[u8]) -> IrModule {
    made(Source { bytes, whole: true })
}

fn made(mut source: Source<'_>) -> IrModule {
    let mut functions = vec![callee()];
    for index in 0..=source.below(2) {
        functions.push(function(&mut source, index));
    }
    let mut module = build::module(functions);
    module.attrs.insert("note".into(), attr_value(&mut source, 0));
    module
}

/// Makes a function to call.
fn callee() -> crate::PrimFunc {
    let mut f = build::function("callee");
    let x = f.scalar("x", DType::INT32);
    f.returns(DType::INT32);
    f.return_value(x);
    f.finish()
}

fn function(s: &mut Source<'_>, index: usize) -> crate::PrimFunc {
    let mut f = build::function(format!("f{index}"));
    let n = f.size("n");
    let mut known = Known { values: vec![n.clone()], buffers: vec![] };
    for (name, dtype) in
        [("A", DType::FLOAT32), ("B", DType::INT32), ("C", DType::BOOL), ("D", DType::FLOAT16)]
    {
        known.buffers.push(f.buffer(name, [&n, &Expr::i32(8)], dtype));
    }
    let size = &n * &Expr::i32(2);
    known.buffers.push(f.buffer("E", [size], DType::INT64));
    for (name, dtype) in
        [("x", DType::FLOAT64), ("k", DType::INT64), ("u", DType::UINT8), ("b", DType::BFLOAT16)]
    {
        known.values.push(f.scalar(name, dtype));
    }
    f.noalias();
    body(s, &mut f, &known, 0);
    let mut function = f.finish();
    if s.below(3) == 0 {
        let target = Target {
            kind: "some".into(),
            keys: vec!["gpu".into()],
            options: [("width".to_owned(), 64.into()), ("fast".to_owned(), true.into())].into(),
            host: Some(Arc::new(Target { kind: "other".into(), ..Target::default() })),
            ..Target::default()
        };
        function.attrs.insert(attr::TARGET.into(), AttrValue::Target(Arc::new(target)));
    }
    function.attrs.insert("note".into(), attr_value(s, 0));
    function
}

fn attr_value(s: &mut Source<'_>, depth: usize) -> AttrValue {
    match s.below(if depth < 3 { 8 } else { 6 }) {
        0 => AttrValue::None,
        1 => AttrValue::Bool(s.below(2) == 0),
        2 => AttrValue::Int(s.word() as i64),
        3 => AttrValue::Float(FloatBits::new(finite(s.word()))),
        4 => AttrValue::Str(format!("a\"\\\n{}é\u{1}", s.byte()).into()),
        5 => AttrValue::Expr(Expr::i32(i32::from(s.byte()))),
        6 => AttrValue::List((0..s.below(4)).map(|_| attr_value(s, depth + 1)).collect()),
        _ => AttrValue::Map(
            (0..s.below(4)).map(|i| (format!("k{i}").into(), attr_value(s, depth + 1))).collect(),
        ),
    }
}

fn finite(bits: u64) -> f64 {
    let value = f64::from_bits(bits);
    if value.is_nan() { f64::NAN } else { value }
}

fn notes(s: &mut Source<'_>) -> Attrs {
    let mut attrs = Attrs::new();
    if s.below(4) == 1 {
        attrs.insert("pragma".into(), attr_value(s, 1));
    }
    attrs
}

fn body(s: &mut Source<'_>, f: &mut Body, known: &Known, depth: usize) {
    let mut known = known.clone();
    for _ in 0..=s.below(4) {
        if s.is_spent() {
            break;
        }
        stmt(s, f, &mut known, depth);
    }
}

fn stmt(s: &mut Source<'_>, f: &mut Body, known: &mut Known, depth: usize) {
    let most = if s.whole { 19 } else { 17 };
    let choice = s.below(if depth < 4 { most } else { 6 });
    match choice {
        0 | 1 => store(s, f, known),
        2 => {
            let dtype = number(s);
            let value = expr(s, known, dtype, 0);
            let name = format!("v{}", s.below(3));
            known.values.push(f.bind(name, value));
        }
        3 => {
            let value = expr(s, known, DType::INT32, 0);
            let callee = Callee::Global("callee".into());
            f.evaluate(Expr::new(ExprKind::Call { callee, args: vec![value] }, DType::INT32));
        }
        4 => {
            let dtype = number(s);
            let scope = StorageScope::parse(["local", "shared.dyn", "global.texture"][s.below(3)]);
            known.buffers.push(f.alloc("T", [Expr::i32(4), known.values[0].clone()], dtype, scope));
        }
        5 => {
            let condition = expr(s, known, DType::BOOL, 0);
            let message = vec![Expr::str("expected \"1\", found "), Expr::i32(2)];
            f.push(Stmt::new(StmtKind::Assert { condition, kind: "ValueError".into(), message }));
        }
        6..=8 => for_loop(s, f, known, depth),
        9 | 10 => {
            let condition = expr(s, known, DType::BOOL, 0);
            let both = s.below(2) == 1;
            if both {
                let then = branch(s, known, depth);
                let otherwise = branch(s, known, depth);
                f.push(Stmt::if_then(condition, then, Some(otherwise)));
            } else {
                let then = branch(s, known, depth);
                f.push(Stmt::if_then(condition, then, None));
            }
        }
        11 => {
            let condition = expr(s, known, DType::BOOL, 0);
            let inner = branch(s, known, depth);
            f.push(Stmt::new(StmtKind::While { condition, body: inner }));
        }
        12 => {
            let node = match s.below(3) {
                0 => AttrNode::None,
                1 => AttrNode::Buffer(known.buffers[s.below(known.buffers.len())].clone()),
                _ => AttrNode::Var(known.buffers[0].data.clone()),
            };
            let value = if s.below(2) == 0 { Expr::str("x") } else { expr(s, known, DType::INT32, 2) };
            let inner = branch(s, known, depth);
            f.push(Stmt::new(StmtKind::Attr { node, key: "some key".into(), value, body: inner }));
        }
        13 => view(s, f, known),
        14 if depth < 3 => threads(s, f, known, depth),
        17 => effect(s, f, known),
        18 => reduction(s, f, known),
        15 => {
            let jump = if s.below(2) == 0 { StmtKind::Break } else { StmtKind::Continue };
            f.range("i", 4, |f, _| f.push(Stmt::new(jump)));
        }
        _ => block(s, f, known, depth),
    }
}

fn branch(s: &mut Source<'_>, known: &Known, depth: usize) -> Stmt {
    let mut f = build::function("branch");
    body(s, &mut f, known, depth + 1);
    f.finish().body
}

fn for_loop(s: &mut Source<'_>, f: &mut Body, known: &Known, depth: usize) {
    let wide = s.below(3) == 1;
    let dtype = if wide { DType::INT64 } else { DType::INT32 };
    let kind = [ForKind::Serial, ForKind::Parallel, ForKind::Unrolled, ForKind::Vectorized][s.below(4)];
    let var = Var::new("i", dtype);
    let constant = matches!(kind, ForKind::Unrolled | ForKind::Vectorized) || s.below(2) == 0;
    let extent = if constant { Expr::int(s.below(9) as i128, dtype) } else { expr(s, known, dtype, 2) };
    let min = if s.below(3) == 1 { expr(s, known, dtype, 2) } else { Expr::int(0, dtype) };
    let step = (s.below(4) == 1).then(|| Expr::int(1 + s.below(4) as i128, dtype));
    let mut inner = known.clone();
    inner.values.push(var.expr());
    let annotations = notes(s);
    let body = branch(s, &inner, depth);
    f.push(Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations, body }));
}

/// Adds threads of an axis that no enclosing thread has.
fn threads(s: &mut Source<'_>, f: &mut Body, known: &Known, depth: usize) {
    let launch = s.below(2) == 1;
    let (axis, _) = ThreadAxis::ALL[depth + if launch { 3 } else { 0 }];
    let extent = if s.below(2) == 0 { Expr::i32(8) } else { known.values[0].clone() };
    let var = Var::new(axis.name(), DType::INT32);
    let mut inner = known.clone();
    inner.values.push(var.expr());
    let body = branch(s, &inner, depth);
    f.push(if launch {
        Stmt::new(StmtKind::LaunchThread { var, axis, extent, body })
    } else {
        Stmt::for_loop(var, extent, ForKind::ThreadBinding(axis), body)
    });
}

/// Adds a call for its effect.
fn effect(s: &mut Source<'_>, f: &mut Body, known: &Known) {
    let call = match s.below(5) {
        0 => Expr::call(Op::Assume, vec![expr(s, known, DType::BOOL, 1)], DType::HANDLE),
        1 => Expr::call(Op::ThreadReturn, vec![], DType::HANDLE),
        2 => Expr::call(Op::StorageSync, vec![Expr::str(["shared", "warp"][s.below(2)])], DType::HANDLE),
        3 => {
            let element = Expr::load(&known.buffers[0], indices(s, known, &known.buffers[0]));
            let address = Expr::call(Op::AddressOf, vec![element], DType::HANDLE);
            let value = expr(s, known, DType::FLOAT32, 2);
            Expr::call(Op::AtomicAdd, vec![address, value], DType::FLOAT32)
        }
        _ => {
            let shuffles: Vec<Op> = Op::all_where(|op| op.threads == Threads::Shuffle).collect();
            let op = shuffles[s.below(shuffles.len())];
            let dtype = number(s);
            let lane = expr(s, known, DType::INT32, 3);
            let mask = Expr::int(i128::from(u32::MAX), DType::UINT32);
            let value = expr(s, known, dtype, 3);
            Expr::call(op, vec![mask, value, lane, Expr::i32(16), Expr::i32(32)], dtype)
        }
    };
    f.evaluate(call);
}

/// Adds a reduction across the threads of a block.
fn reduction(s: &mut Source<'_>, f: &mut Body, known: &Known) {
    let pair = |name: &str, dtypes: &[DType]| -> Vec<Var> {
        dtypes.iter().enumerate().map(|(i, dtype)| Var::new(format!("{name}{i}"), *dtype)).collect()
    };
    let dtypes: &[DType] = if s.below(2) == 0 { &[DType::FLOAT32] } else { &[DType::FLOAT32, DType::INT32] };
    let (lhs, rhs) = (pair("x", dtypes), pair("y", dtypes));
    let better = Expr::compare(CompareOp::Gt, lhs[0].expr(), rhs[0].expr());
    let result =
        lhs.iter().zip(&rhs).map(|(x, y)| Expr::select(better.clone(), x.expr(), y.expr())).collect();
    let identity: Vec<Expr> =
        dtypes.iter().map(|t| if t.is_float() { Expr::float(0.5, *t) } else { Expr::int(-1, *t) }).collect();
    let mut inner = build::function("reduction");
    let mut args = vec![Expr::int(dtypes.len() as i128, DType::UINT32)];
    args.extend(dtypes.iter().map(|dtype| expr(s, known, *dtype, 2)));
    args.push(Expr::bool(true));
    for dtype in dtypes {
        let held = inner.alloc("red", [Expr::i32(1)], *dtype, StorageScope::LOCAL);
        args.push(Expr::load(&held, vec![Expr::i32(0)]));
    }
    args.push(Expr::i32(0));
    inner.evaluate(Expr::call(Op::ThreadAllreduce, args, DType::HANDLE));
    let node = AttrNode::Reducer(Arc::new(Reducer { lhs, rhs, result, identity }));
    let body = inner.finish().body;
    f.push(Stmt::new(StmtKind::Attr { node, key: "reduce_scope".into(), value: Expr::i32(0), body }));
}

/// Adds another buffer over the memory of one.
fn view(s: &mut Source<'_>, f: &mut Body, known: &mut Known) {
    let source = known.buffers[s.below(known.buffers.len())].clone();
    let own = Buffer::new("V", vec![Expr::i32(16)], source.dtype, source.scope.clone());
    let node = BufferNode {
        elem_offset: Some(Expr::i32(2)),
        strides: vec![Expr::i32(2)],
        ..BufferNode::clone(&own)
    };
    let (buffer, data) = if s.below(2) == 0 {
        (Buffer::from_node(BufferNode { data: source.data.clone(), ..node }), None)
    } else {
        let moved = vec![source.data.expr(), Expr::int(16, DType::INT64)];
        (Buffer::from_node(node), Some(Expr::call(Op::HandleAddByteOffset, moved, DType::HANDLE)))
    };
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data }));
    known.buffers.push(buffer);
}

fn block(s: &mut Source<'_>, f: &mut Body, known: &Known, depth: usize) {
    let reduces = s.below(2) == 1;
    let values = [expr(s, known, DType::INT32, 2), expr(s, known, DType::INT32, 2)];
    let predicate = if s.below(3) == 1 { expr(s, known, DType::BOOL, 1) } else { Expr::bool(true) };
    f.block(format!("block {}", s.byte()), |f: &mut BlockBuilder| {
        let mut inner = known.clone();
        let [x, y] = values;
        inner.values.push(f.spatial("vi", &known.values[0], x));
        if reduces {
            f.init(|f| store(s, f, &inner));
            inner.values.push(f.reduce("vk", 8, y));
        }
        f.predicate(predicate);
        if s.below(2) == 1 {
            let regions: Vec<_> = known
                .buffers
                .iter()
                .map(|buffer| {
                    buffer.region(buffer.shape.iter().map(|extent| match s.below(3) {
                        0 => (Expr::i32(0), extent.clone()),
                        1 => (Expr::i32(2), Expr::i32(1)),
                        _ => (known.values[0].clone(), Expr::i32(3)),
                    }))
                })
                .collect();
            f.reads(regions.clone());
            f.writes(regions);
        }
        if s.below(3) == 1 {
            let source = known.buffers[s.below(known.buffers.len())].clone();
            let ranges: Vec<_> =
                source.shape.iter().map(|_| (expr(s, known, DType::INT32, 3), Expr::i32(4))).collect();
            let shape = vec![4; source.shape.len()];
            let view = f.match_buffer("M", shape, source.region(ranges));
            inner.buffers.push(view);
            inner.buffers.push(f.block_alloc("L", [8], DType::INT32, StorageScope::SHARED));
        }
        body(s, f, &inner, depth + 1);
    });
}

fn indices(s: &mut Source<'_>, known: &Known, buffer: &Buffer) -> Vec<Expr> {
    let all: Vec<Expr> = buffer.shape.iter().map(|_| expr(s, known, DType::INT32, 2)).collect();
    all.into_iter().zip(&buffer.shape).map(|(index, extent)| within(index, extent, known)).collect()
}

/// Returns the index, or a variable if the index is a constant beyond the extent.
fn within(index: Expr, extent: &Expr, known: &Known) -> Expr {
    if outside(&index, extent).is_some() { known.values[0].clone() } else { index }
}

fn store(s: &mut Source<'_>, f: &mut Body, known: &Known) {
    let buffer = known.buffers[s.below(known.buffers.len())].clone();
    let mut at = indices(s, known, &buffer);
    let vector = s.below(4) == 1;
    let mut value = expr(s, known, buffer.dtype, 0);
    let mut predicate = None;
    if let Some(last) = at.last_mut()
        && vector
    {
        let ramp = |base: Expr, stride: i32| base.ramp(Expr::i32(stride), 4);
        let stride = 1 + s.below(2) as i32;
        let extent = &buffer.shape[buffer.shape.len() - 1];
        let is_outside = outside(&ramp(last.clone(), stride), extent).is_some();
        *last = ramp(if is_outside { known.values[0].clone() } else { last.clone() }, stride);
        value = if s.below(2) == 0 { value.broadcast(4) } else { Expr::load(&buffer, at.clone()) };
        predicate = (s.below(3) == 1).then(|| Expr::bool(true).broadcast(4));
    }
    f.push(Stmt::new(StmtKind::Store { buffer, indices: at, value, predicate }));
}

fn number(s: &mut Source<'_>) -> DType {
    [DType::INT32, DType::FLOAT32, DType::INT64, DType::BOOL, DType::FLOAT16, DType::UINT8][s.below(6)]
}

/// Makes a scalar expression of a type.
fn expr(s: &mut Source<'_>, known: &Known, dtype: DType, depth: usize) -> Expr {
    if depth > 4 || s.is_spent() || s.below(4) == 0 {
        return leaf(s, known, dtype);
    }
    let same = |s: &mut Source<'_>| expr(s, known, dtype, depth + 1);
    match s.below(10) {
        9 => odd(s, known, dtype, depth),
        0 => {
            let from = number(s);
            expr(s, known, from, depth + 1).cast(dtype)
        }
        1 => Expr::select(expr(s, known, DType::BOOL, depth + 1), same(s), same(s)),
        2 => {
            let condition = expr(s, known, DType::BOOL, depth + 1);
            Expr::call(Op::IfThenElse, vec![condition, same(s), same(s)], dtype)
        }
        3 => {
            let from = number(s);
            let value = expr(s, known, from, depth + 1);
            let var = Var::new("t", from);
            let mut inner = known.clone();
            inner.values.push(var.expr());
            let body = expr(s, &inner, dtype, depth + 1);
            Expr::new(ExprKind::Let { var, value, body }, dtype)
        }
        4 => {
            let vectors = vec![same(s).broadcast(2), same(s)];
            Expr::new(ExprKind::Shuffle { vectors, indices: vec![s.below(3) as u16] }, dtype)
        }
        5 => {
            let callee = Callee::Extern { name: "g".into(), pure: true };
            Expr::new(ExprKind::Call { callee, args: vec![same(s)] }, dtype)
        }
        _ if dtype.is_bool() => boolean(s, known, depth),
        6 if dtype.is_float() => {
            let op = [Op::Exp, Op::Sqrt, Op::Tanh, Op::Abs, Op::Round][s.below(5)];
            Expr::call(op, vec![same(s)], dtype)
        }
        6 => {
            let op =
                [Op::BitwiseAnd, Op::BitwiseXor, Op::ShiftLeft, Op::ShiftRight, Op::BitwiseOr][s.below(5)];
            Expr::call(op, vec![same(s), same(s)], dtype)
        }
        _ => {
            let ops =
                [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Min, BinaryOp::Max];
            let more = [BinaryOp::Mod, BinaryOp::FloorDiv, BinaryOp::FloorMod];
            let index = s.below(if dtype.is_float() { 6 } else { 9 });
            let op = ops.into_iter().chain(more).nth(index).unwrap_or(BinaryOp::Add);
            Expr::binary(op, same(s), same(s))
        }
    }
}

/// Makes calls of ops that state their type, and of ops with rules of their own.
fn odd(s: &mut Source<'_>, known: &Known, dtype: DType, depth: usize) -> Expr {
    let handle = known.buffers[s.below(known.buffers.len())].data.expr();
    match dtype {
        DType::BOOL => Expr::call(Op::Isnullptr, vec![handle], dtype),
        DType::INT32 => match s.below(if s.whole { 7 } else { 3 }) {
            3 => {
                let args = (0..4).map(|_| expr(s, known, dtype, depth + 1)).collect();
                Expr::call(Op::QMultiplyShift, args, dtype)
            }
            4 => {
                let bytes = |value: i128| Expr::int(value, DType::INT8).broadcast(4);
                Expr::call(Op::Dp4a, vec![bytes(-3), bytes(7), expr(s, known, dtype, depth + 1)], dtype)
            }
            6 => {
                let bytes = |value: i128, dtype: DType| Expr::int(value, dtype).broadcast(4);
                let factors = [bytes(200, DType::UINT8), bytes(-7, DType::INT8)];
                let sum = expr(s, known, dtype, depth + 1);
                Expr::call(Op::DotAdd, [sum].into_iter().chain(factors).collect(), dtype)
            }
            5 => Expr::call(Op::ThreadInvariant, vec![expr(s, known, dtype, depth + 1)], dtype),
            0 => Expr::call(Op::Clz, vec![expr(s, known, DType::INT64, depth + 1)], dtype),
            1 => Expr::call(Op::Reinterpret, vec![expr(s, known, DType::FLOAT32, depth + 1)], dtype),
            _ => Expr::call(Op::StructGet, vec![handle, Expr::i32(1), Expr::i32(4)], dtype),
        },
        _ if dtype.is_float() => {
            let args = (0..3).map(|_| expr(s, known, dtype, depth + 1)).collect();
            Expr::call(Op::Fma, args, dtype)
        }
        _ => Expr::call(Op::HandleLoad, vec![handle, Expr::int(8, DType::INT64)], dtype),
    }
}

fn boolean(s: &mut Source<'_>, known: &Known, depth: usize) -> Expr {
    let side = |s: &mut Source<'_>| expr(s, known, DType::BOOL, depth + 1);
    match s.below(4) {
        0 => side(s).and(side(s)),
        1 => side(s).or(side(s)),
        2 => side(s).logical_not(),
        _ => {
            let from = number(s);
            let ops = CompareOp::ALL;
            let op = ops[s.below(6)];
            Expr::compare(op, expr(s, known, from, depth + 1), expr(s, known, from, depth + 1))
        }
    }
}

fn leaf(s: &mut Source<'_>, known: &Known, dtype: DType) -> Expr {
    let values: Vec<&Expr> = known.values.iter().filter(|value| value.dtype == dtype).collect();
    let buffers: Vec<&Buffer> = known.buffers.iter().filter(|buffer| buffer.dtype == dtype).collect();
    match s.below(3) {
        1 if !values.is_empty() => values[s.below(values.len())].clone(),
        2 if !buffers.is_empty() => {
            let buffer = buffers[s.below(buffers.len())];
            let at =
                buffer.shape.iter().map(|extent| within(Expr::i32(s.byte().into()), extent, known)).collect();
            Expr::load(buffer, at)
        }
        _ if dtype.is_float() => {
            let value = if s.below(2) == 0 { f64::from(s.byte()) / 4.0 } else { finite(s.word()) };
            Expr::float(value, dtype)
        }
        _ => Expr::int(if s.below(2) == 0 { s.byte().into() } else { s.word().into() }, dtype),
    }
}
