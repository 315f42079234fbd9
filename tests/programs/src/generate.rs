//! From a recipe to a program and its inputs.

use chipdock_ir::build::{self, Body as Code};
use chipdock_ir::interpret::{Arg, Array};
use chipdock_ir::{
    BinaryOp, Buffer, CompareOp, DType, Expr, ExprKind, ForKind, Op, PrimFunc, Stmt, StmtKind, StorageScope,
    Var,
};

use crate::recipe::{Body, Condition, E, Form, Loops, Raw, Recipe, Shape, Stage};
use crate::{Case, Config};

/// What tensors to be written hold before.
const UNTOUCHED: f64 = 77.0;

/// What all of a program shares.
struct Program<'r> {
    config: &'r Config,
    n: Expr,
    m: i32,
    /// Tensors that may be read, with their axes.
    tensors: Vec<(Buffer, Shape)>,
    scalar: Option<Expr>,
}

/// Where in the program a value stands.
#[derive(Clone, Default)]
struct Place {
    /// The index along the first size, and the second.
    i: Option<Expr>,
    j: Option<Expr>,
    /// Names and elements that may be read too.
    known: Vec<Expr>,
}

fn pick<T>(list: &[T], at: u8) -> &T {
    &list[usize::from(at) % list.len()]
}

pub(crate) fn case(recipe: &Recipe, config: &Config) -> Case {
    // A reduction over nothing leaves its result undefined.
    let over_first = |stage: &Stage| matches!(stage.form, Form::Reduce { over_first: true, .. });
    let n = if recipe.stages.iter().any(over_first) { recipe.n.max(1) } else { recipe.n };
    let mut f = build::function("kernel");
    let size = if recipe.symbolic { f.size("n") } else { Expr::i32(n as i32) };
    let mut program = Program { config, n: size, m: recipe.m as i32, tensors: Vec::new(), scalar: None };
    let mut args = Vec::new();
    let lengths = |shape: Shape| match shape {
        Shape::N => vec![n],
        Shape::M => vec![recipe.m],
        Shape::NM => vec![n, recipe.m],
    };
    // The first tensor binds the symbolic size.
    for (at, input) in recipe.inputs.iter().enumerate() {
        let shape = if at == 0 && input.shape == Shape::M { Shape::N } else { input.shape };
        let dtype = *pick(&config.types, input.dtype);
        let buffer = f.buffer(format!("A{at}"), program.extents(shape), dtype);
        program.tensors.push((buffer, shape));
        args.push(Arg::Tensor(filled(dtype, &lengths(shape), &input.values)));
    }
    if let Some((dtype, value)) = recipe.scalar {
        // Numbers of these types can be passed to a function.
        let dtype = *pick(&[DType::INT32, DType::FLOAT32, DType::INT64], dtype);
        program.scalar = Some(f.scalar("s", dtype));
        let array = filled(dtype, &[1], &[value]);
        args.push(if dtype.is_float() {
            Arg::Float(array.float(0).unwrap_or_default())
        } else {
            Arg::Int(array.int(0).unwrap_or_default())
        });
    }
    let mut allocated = Vec::new();
    for (at, stage) in recipe.stages.iter().enumerate() {
        let shape = stage.shape();
        let dtype = *pick(&config.types, stage.dtype);
        let buffer = if stage.is_output || at + 1 == recipe.stages.len() {
            let elements = lengths(shape).iter().product();
            args.push(Arg::Tensor(Array::from_f64(dtype, &lengths(shape), &vec![UNTOUCHED; elements])));
            f.buffer(format!("B{at}"), program.extents(shape), dtype)
        } else {
            let buffer = Buffer::new(format!("B{at}"), program.extents(shape), dtype, StorageScope::GLOBAL);
            allocated.push(buffer.clone());
            buffer
        };
        program.stage(&mut f, stage, &buffer);
        program.tensors.push((buffer, shape));
    }
    let function = PrimFunc { alloc_buffers: allocated, ..f.finish() };
    let function_name = function.name.to_string();
    Case { module: build::module([function]), function: function_name, args }
}

impl Stage {
    fn shape(&self) -> Shape {
        match self.form {
            Form::Map { shape, .. } => shape,
            Form::Reduce { over_first: true, .. } => Shape::M,
            Form::Reduce { .. } => Shape::N,
        }
    }
}

fn filled(dtype: DType, shape: &[usize], values: &[Raw]) -> Array {
    let length = shape.iter().product();
    let lanes: Vec<f64> = values.iter().cycle().take(length).map(|raw| element(dtype, *raw)).collect();
    Array::from_f64(dtype, shape, &lanes)
}

fn element(dtype: DType, raw: Raw) -> f64 {
    let special = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        f64::from(f32::MIN_POSITIVE) / 8.0,
        f64::from(f32::MAX),
        6e-8,
        65504.0,
        1.0 + f64::from(f32::EPSILON),
        -1e10,
    ];
    match raw {
        Raw::Number(value) if dtype.is_float() => f64::from(value) / 16.0,
        Raw::Number(value) if dtype.is_bool() => f64::from(value & 1),
        Raw::Number(value) => f64::from(value),
        Raw::Special(at) if dtype.is_float() => *pick(&special, at),
        Raw::Special(at) => match dtype.integer_range() {
            Some((low, high)) => *pick(&[low as f64, high as f64, -1.0, 1.0], at),
            None => 0.0,
        },
    }
}

impl Program<'_> {
    fn extents(&self, shape: Shape) -> Vec<Expr> {
        match shape {
            Shape::N => vec![self.n.clone()],
            Shape::M => vec![Expr::i32(self.m)],
            Shape::NM => vec![self.n.clone(), Expr::i32(self.m)],
        }
    }

    // Statements.

    fn stage(&self, f: &mut Code, stage: &Stage, to: &Buffer) {
        match &stage.form {
            Form::Map { shape, body } => self.map(f, &stage.loops, (*shape, body), to),
            Form::Reduce { over_first, op, value, reduce_outside } => {
                self.reduce(f, &stage.loops, (*over_first, *reduce_outside), (*op, value), to);
            }
        }
    }

    /// The kind of a loop; `inner` says that no loop is within, `ordered` that iterations depend on each other.
    fn kind(&self, pick: u8, extent: &Expr, inner: bool, ordered: bool) -> ForKind {
        let is_constant = extent.as_int().is_some();
        match pick % 6 {
            1 | 2 if !ordered => ForKind::Parallel,
            3 if is_constant => ForKind::Unrolled,
            4 if is_constant && inner && !ordered && self.config.vectorized => ForKind::Vectorized,
            _ => ForKind::Serial,
        }
    }

    fn map(&self, f: &mut Code, loops: &Loops, (shape, body): (Shape, &Body), to: &Buffer) {
        let simple = matches!(body, Body::Store(_) | Body::Bind(..) | Body::If(..));
        let inside = |f: &mut Code, i: Option<Expr>, j: Option<Expr>, predicate: Option<Expr>| {
            if !loops.block {
                let place = Place { i, j, known: Vec::new() };
                return match predicate {
                    Some(predicate) => f.if_then(predicate, |f| self.body(f, body, &place, to)),
                    None => self.body(f, body, &place, to),
                };
            }
            f.block("B", |f| {
                let i = i.map(|i| f.spatial("vi", &self.n, i));
                let j = j.map(|j| f.spatial("vj", self.m, j));
                if let Some(predicate) = predicate {
                    f.predicate(predicate);
                }
                self.body(f, body, &Place { i, j, known: Vec::new() }, to);
            });
        };
        let m = Expr::i32(self.m);
        // Only straight code is worth lanes.
        let along_m = self.kind(loops.kinds[1], &m, simple, false);
        match shape {
            Shape::M => f.for_loop("j", m, along_m, |f, j| inside(f, None, Some(j), None)),
            Shape::N => {
                self.first_axis(f, loops, simple, |f, i, predicate| inside(f, Some(i), None, predicate))
            }
            Shape::NM => self.first_axis(f, loops, false, |f, i, predicate| {
                f.for_loop("j", m, along_m, |f, j| inside(f, Some(i), Some(j), predicate));
            }),
        }
    }

    /// Loops over the first size, in tiles perhaps: then the index is under a predicate.
    fn first_axis(
        &self,
        f: &mut Code,
        loops: &Loops,
        inner: bool,
        body: impl FnOnce(&mut Code, Expr, Option<Expr>),
    ) {
        if !loops.tile {
            let kind = self.kind(loops.kinds[0], &self.n, inner, false);
            return f.for_loop("i", &self.n, kind, |f, i| body(f, i, None));
        }
        let four = Expr::i32(4);
        let tiles = match self.n.as_int() {
            Some(n) => Expr::int((n + 3) / 4, DType::INT32),
            None => Expr::binary(BinaryOp::FloorDiv, self.n.clone() + Expr::i32(3), four.clone()),
        };
        let kind = self.kind(loops.kinds[0], &tiles, false, false);
        let lanes = self.kind(loops.kinds[0] / 6, &four, inner, false);
        f.for_loop("io", tiles, kind, |f, io| {
            f.for_loop("ii", four.clone(), lanes, |f, ii| {
                let i = io * four + ii;
                let predicate = Expr::compare(CompareOp::Lt, i.clone(), self.n.clone());
                body(f, i, Some(predicate));
            });
        });
    }

    fn body(&self, f: &mut Code, body: &Body, place: &Place, to: &Buffer) {
        let at: Vec<Expr> = place.i.iter().chain(&place.j).cloned().collect();
        let dtype = to.dtype;
        let own = Expr::load(to, at.clone());
        match body {
            Body::Store(value) => f.store(to, at, self.value(value, dtype, place)),
            Body::If(condition, a, b) => f.if_then_else(
                self.condition(condition, place),
                |f| f.store(to, at.clone(), self.value(a, dtype, place)),
                |f| f.store(to, at.clone(), self.value(b, dtype, place)),
            ),
            Body::Over(a, condition, b) => {
                f.store(to, at.clone(), self.value(a, dtype, place));
                let after = place.with(own);
                f.if_then(self.condition(condition, &after), |f| {
                    f.store(to, at, self.value(b, dtype, &after));
                });
            }
            Body::Bind(a, b) => {
                let name = f.bind("t", self.value(a, dtype, place));
                f.store(to, at, self.value(b, dtype, &place.with(name)));
            }
            Body::Local(a, b, c) => {
                let local = f.alloc("t", [1], dtype, StorageScope::LOCAL);
                f.store(&local, [0], self.value(a, dtype, place));
                let after = place.with(local.at([0]));
                f.store(&local, [0], self.value(b, dtype, &after));
                f.store(to, at, self.value(c, dtype, &after));
            }
            Body::While { times, start, round, stop } => {
                let local = f.alloc("t", [1], dtype, StorageScope::LOCAL);
                let count = f.alloc("c", [1], DType::INT32, StorageScope::LOCAL);
                f.store(&local, [0], self.value(start, dtype, place));
                f.store(&count, [0], 0);
                let after = place.with(local.at([0]));
                let more = Expr::compare(CompareOp::Lt, count.at([0]), Expr::i32((*times).into()));
                let mut stmts = vec![
                    Stmt::store(&local, vec![Expr::i32(0)], self.value(round, dtype, &after)),
                    Stmt::store(&count, vec![Expr::i32(0)], count.at([0]) + Expr::i32(1)),
                ];
                if let Some(stop) = stop {
                    let leave = Stmt::new(StmtKind::Break);
                    stmts.push(Stmt::if_then(self.condition(stop, &after), leave, None));
                }
                f.push(Stmt::new(StmtKind::While { condition: more, body: Stmt::seq(stmts) }));
                f.store(to, at, local.at([0]));
            }
        }
    }

    fn reduce(
        &self,
        f: &mut Code,
        loops: &Loops,
        (over_first, reduce_outside): (bool, bool),
        (op, value): (u8, &E),
        to: &Buffer,
    ) {
        let (n, m) = (self.n.clone(), Expr::i32(self.m));
        let (kept, gone) = if over_first { (m, n) } else { (n, m) };
        let kinds =
            [self.kind(loops.kinds[0], &kept, false, false), self.kind(loops.kinds[1], &gone, false, true)];
        let block = |f: &mut Code, along_kept: &Expr, along_gone: &Expr| {
            f.block("R", |f| {
                let spatial = f.spatial("vs", &kept, along_kept);
                let reduced = f.reduce("vr", &gone, along_gone);
                let (i, j) = if over_first { (&reduced, &spatial) } else { (&spatial, &reduced) };
                let place = Place { i: Some(i.clone()), j: Some(j.clone()), known: Vec::new() };
                let (start, combine) = reducer(op, to.dtype);
                f.init(|f| f.store(to, [&spatial], start));
                let term = self.value(value, to.dtype, &place);
                f.store(to, [&spatial], combine(to.at([&spatial]), term));
            });
        };
        if reduce_outside {
            f.for_loop("r", &gone, kinds[1], |f, r| {
                f.for_loop("s", &kept, kinds[0], |f, s| block(f, &s, &r))
            });
        } else {
            f.for_loop("s", &kept, kinds[0], |f, s| {
                f.for_loop("r", &gone, kinds[1], |f, r| block(f, &s, &r))
            });
        }
    }

    // Values.

    fn condition(&self, condition: &Condition, place: &Place) -> Expr {
        let ops = [CompareOp::Lt, CompareOp::Le, CompareOp::Eq, CompareOp::Ne, CompareOp::Gt, CompareOp::Ge];
        let dtype = *pick(&self.config.types, condition.dtype);
        let [a, b] = &*condition.sides;
        let (a, b) = (self.value(a, dtype, place), self.value(b, dtype, place));
        let first = Expr::compare(*pick(&ops, condition.op), a, b);
        match condition.also.as_deref() {
            None => first,
            Some((true, other)) => first.and(self.condition(other, place)),
            Some((false, other)) => first.or(self.condition(other, place)),
        }
    }

    /// A value of a type.
    fn value(&self, e: &E, dtype: DType, place: &Place) -> Expr {
        let two = |two: &[E; 2]| two.each_ref().map(|one| self.value(one, dtype, place));
        match e {
            E::Constant(value) => constant(*value, dtype),
            E::Leaf(at) => {
                let leaves = self.leaves(place);
                if leaves.is_empty() {
                    constant((at % 7) as i8, dtype)
                } else {
                    pick(&leaves, *at).clone().cast(dtype)
                }
            }
            E::Binary(op, operands) => {
                let [a, b] = two(operands);
                binary(*op, a, b)
            }
            E::Unary(op, operand) => self.unary(*op, self.value(operand, dtype, place)),
            E::Select(condition, operands) => {
                let [a, b] = two(operands);
                Expr::select(self.condition(condition, place), a, b)
            }
            E::Lazy(condition, operands) => {
                let [a, b] = two(operands);
                Expr::call(Op::IfThenElse, vec![self.condition(condition, place), a, b], dtype)
            }
            E::Cast(from, operand) => {
                self.value(operand, *pick(&self.config.types, *from), place).cast(dtype)
            }
            E::Let(of, operands) => {
                let of = *pick(&self.config.types, *of);
                let var = Var::new("v", of);
                let value = self.value(&operands[0], of, place);
                let body = self.value(&operands[1], dtype, &place.with(var.expr()));
                Expr::new(ExprKind::Let { var, value, body }, dtype)
            }
            E::Gather(from, index) => self.gather(*from, index, place).cast(dtype),
        }
    }

    /// Everything that can be read there.
    fn leaves(&self, place: &Place) -> Vec<Expr> {
        let zero = Expr::i32(0);
        let mut leaves: Vec<Expr> = Vec::new();
        for (buffer, shape) in &self.tensors {
            let j = place.j.as_ref().unwrap_or(&zero);
            match (shape, &place.i) {
                (Shape::M, _) => leaves.push(buffer.at([j])),
                (Shape::N, Some(i)) => leaves.push(buffer.at([i])),
                (Shape::NM, Some(i)) => leaves.push(buffer.at([i, j])),
                // Along the first size there may be nothing.
                (Shape::N | Shape::NM, None) => {}
            }
        }
        leaves.extend(place.known.iter().cloned());
        leaves.extend(place.i.iter().chain(&place.j).cloned());
        leaves.extend(self.scalar.clone());
        leaves
    }

    /// An element at a computed index, held in bounds.
    fn gather(&self, from: u8, index: &E, place: &Place) -> Expr {
        let index = self.value(index, DType::INT32, place);
        let within = |index: Expr, size: &Expr| {
            let last = size.clone() - Expr::i32(1);
            Expr::binary(BinaryOp::Max, Expr::binary(BinaryOp::Min, index, last), Expr::i32(0))
        };
        let (buffer, shape) = pick(&self.tensors, from);
        let m = Expr::i32(self.m);
        match (shape, &place.i) {
            (Shape::M, _) => buffer.at([within(index, &m)]),
            (Shape::NM, Some(i)) => buffer.at([i.clone(), within(index, &m)]),
            (Shape::N, Some(_)) => buffer.at([within(index, &self.n)]),
            (Shape::N | Shape::NM, None) => index,
        }
    }

    fn unary(&self, op: u8, value: Expr) -> Expr {
        let dtype = value.dtype;
        if dtype.is_bool() {
            return value.logical_not();
        }
        if dtype.is_float() {
            let is_nan = Expr::call(Op::Isnan, vec![value.clone()], DType::BOOL);
            let n = self.config.functions.len() + 1;
            return match self.config.functions.get(usize::from(op) % n) {
                Some(&function) => Expr::call(function, vec![value], dtype),
                None => is_nan.cast(dtype),
            };
        }
        // The script reads the magnitude of an unsigned integer as the integer, as TVM does.
        let ops: &[Op] = if dtype.is_uint() { &[Op::BitwiseNot] } else { &[Op::Abs, Op::BitwiseNot] };
        Expr::call(*pick(ops, op), vec![value], dtype)
    }
}

impl Place {
    fn with(&self, known: Expr) -> Self {
        let mut place = self.clone();
        place.known.push(known);
        place
    }
}

fn constant(value: i8, dtype: DType) -> Expr {
    if dtype.is_float() {
        Expr::float(f64::from(value) / 2.0, dtype)
    } else if dtype.is_bool() {
        Expr::bool(value & 1 == 1)
    } else {
        Expr::int(value.into(), dtype)
    }
}

fn binary(op: u8, a: Expr, b: Expr) -> Expr {
    use BinaryOp::{Add, Div, FloorDiv, FloorMod, Max, Min, Mod, Mul, Sub};
    let dtype = a.dtype;
    if dtype.is_bool() {
        return match op % 4 {
            0 => a.and(b),
            1 => a.or(b),
            2 => Expr::compare(CompareOp::Ne, a, b),
            _ => Expr::compare(CompareOp::Eq, a, b),
        };
    }
    if dtype.is_float() {
        return Expr::binary(*pick(&[Add, Mul, Sub, Div, Max, Min, Add, Mul], op), a, b);
    }
    let bits = [Op::BitwiseAnd, Op::BitwiseOr, Op::BitwiseXor, Op::ShiftLeft, Op::ShiftRight];
    let arithmetic = [Add, Sub, Mul, Max, Min, FloorDiv, FloorMod, Div, Mod];
    let at = usize::from(op) % (arithmetic.len() + bits.len());
    match arithmetic.get(at) {
        Some(&arithmetic) => Expr::binary(arithmetic, a, b),
        None => Expr::call(bits[at - arithmetic.len()], vec![a, b], dtype),
    }
}

type Combine = fn(Expr, Expr) -> Expr;

/// Where a reduction starts, and how it goes on. Booleans are reduced by `or`.
fn reducer(op: u8, dtype: DType) -> (Expr, Combine) {
    if dtype.is_bool() {
        return (Expr::bool(false), Expr::or);
    }
    let (low, high) = match dtype.integer_range() {
        Some((low, high)) => (Expr::int(low, dtype), Expr::int(high, dtype)),
        None => (Expr::float(f64::NEG_INFINITY, dtype), Expr::float(f64::INFINITY, dtype)),
    };
    match op % 6 {
        0..=2 => (Expr::constant(0, dtype), |old, term| old + term),
        3 => (low, |old, term| Expr::binary(BinaryOp::Max, old, term)),
        4 => (high, |old, term| Expr::binary(BinaryOp::Min, old, term)),
        _ => (Expr::constant(1, dtype), |old, term| old * term),
    }
}
