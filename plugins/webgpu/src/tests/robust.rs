//! Modules that no validator has seen: each is written or refused, none makes the writer panic.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::{
    AttrValue, BinaryOp, Buffer, Callee, CompareOp, DType, Expr, ExprKind, FloatBits, ForKind, Op, Param,
    PrimFunc, Stmt, StmtKind, StorageScope, ThreadAxis, Var, attr, build,
};
use proptest::prelude::*;

use crate::dialect::WgslDialect;

fn dialect() -> WgslDialect {
    WgslDialect::new(true, Some(32), true)
}

/// Makes a kernel of a function.
fn kernel(mut f: PrimFunc) -> PrimFunc {
    f.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(2));
    f.ret = None;
    f
}

struct Junk<'a> {
    bytes: &'a [u8],
    at: usize,
    vars: Vec<Var>,
    buffers: Vec<Buffer>,
}

impl Junk<'_> {
    fn below(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % n
    }

    fn var(&mut self) -> Var {
        let index = self.below(self.vars.len());
        self.vars[index].clone()
    }

    fn buffer(&mut self) -> Buffer {
        let index = self.below(self.buffers.len());
        self.buffers[index].clone()
    }

    fn dtype(&mut self) -> DType {
        let lanes = [1, 1, 1, 1, 2, 3, 4, 1024][self.below(8)];
        let scalar = if self.below(14) == 13 {
            DType::HANDLE
        } else {
            DType::SCALARS[self.below(DType::SCALARS.len())]
        };
        scalar.with_lanes(lanes)
    }

    fn exprs(&mut self, depth: usize) -> Vec<Expr> {
        let n = self.below(4);
        (0..n).map(|_| self.expr(depth)).collect()
    }

    fn expr(&mut self, depth: usize) -> Expr {
        let dtype = self.dtype();
        let Some(depth) = depth.checked_sub(1) else {
            let kind = match self.below(4) {
                0 => ExprKind::Int([0, 1, -1, i128::MAX, i128::MIN, 256][self.below(6)]),
                1 => ExprKind::Float(FloatBits::new([0.0, 1.5, f64::NAN, f64::INFINITY][self.below(4)])),
                2 => ExprKind::Str("text \"%s\" ??/".into()),
                _ => ExprKind::Var(self.var()),
            };
            return Expr::new(kind, dtype);
        };
        let kind = match self.below(13) {
            0 => ExprKind::Cast(self.expr(depth)),
            1 | 2 => {
                use BinaryOp::*;
                let op = [Add, Sub, Mul, Div, Mod, FloorDiv, FloorMod, Min, Max][self.below(9)];
                ExprKind::Binary(op, self.expr(depth), self.expr(depth))
            }
            3 => {
                use CompareOp::*;
                ExprKind::Compare([Eq, Ne, Lt, Ge][self.below(4)], self.expr(depth), self.expr(depth))
            }
            4 => ExprKind::And(self.expr(depth), self.expr(depth)),
            5 => ExprKind::Not(self.expr(depth)),
            6 => ExprKind::Select(self.expr(depth), self.expr(depth), self.expr(depth)),
            7 => {
                let buffer = self.buffer();
                let predicate = (self.below(3) == 0).then(|| self.expr(depth));
                ExprKind::Load { buffer, indices: self.exprs(depth), predicate }
            }
            8 => ExprKind::Ramp { base: self.expr(depth), stride: self.expr(depth), lanes: dtype.lanes },
            9 => ExprKind::Broadcast { value: self.expr(depth), lanes: dtype.lanes },
            10 => {
                let indices = (0..self.below(5)).map(|_| self.below(40) as u16).collect();
                ExprKind::Shuffle { vectors: self.exprs(depth), indices }
            }
            11 => {
                let var = self.var();
                ExprKind::Let { var, value: self.expr(depth), body: self.expr(depth) }
            }
            _ => {
                let callee = match self.below(6) {
                    0 => Callee::Global(["f", "g", "nobody"][self.below(3)].into()),
                    1 => Callee::Extern { name: ["expf", "no name", ""][self.below(3)].into(), pure: false },
                    _ => Callee::Op(Op::ALL[self.below(Op::ALL.len())]),
                };
                ExprKind::Call { callee, args: self.exprs(depth) }
            }
        };
        Expr::new(kind, dtype)
    }

    fn stmt(&mut self, depth: usize) -> Stmt {
        let Some(depth) = depth.checked_sub(1) else { return Stmt::nop() };
        let buffer = self.buffer();
        let var = self.var();
        Stmt::new(match self.below(13) {
            0 | 1 => {
                let n = self.below(4);
                StmtKind::Seq((0..n).map(|_| self.stmt(depth)).collect())
            }
            2 => StmtKind::Bind { var, value: self.expr(depth) },
            3 | 4 => {
                let predicate = (self.below(3) == 0).then(|| self.expr(depth));
                StmtKind::Store { buffer, indices: self.exprs(depth), value: self.expr(depth), predicate }
            }
            5 => StmtKind::AllocBuffer { buffer, annotations: Default::default() },
            6 => StmtKind::DeclBuffer { buffer, data: (self.below(2) == 0).then(|| self.expr(depth)) },
            7 => StmtKind::For {
                var,
                min: self.expr(depth),
                extent: self.expr(depth),
                kind: [ForKind::Serial, ForKind::Unrolled, ForKind::Parallel][self.below(3)],
                step: (self.below(2) == 0).then(|| self.expr(depth)),
                annotations: Default::default(),
                body: self.stmt(depth),
            },
            8 => StmtKind::While { condition: self.expr(depth), body: self.stmt(depth) },
            9 => StmtKind::If {
                condition: self.expr(depth),
                then: self.stmt(depth),
                otherwise: Some(self.stmt(depth)),
            },
            10 => StmtKind::Assert {
                condition: self.expr(depth),
                kind: "Value\"Error".into(),
                message: self.exprs(depth),
            },
            11 => {
                let axis = ThreadAxis::ALL[self.below(ThreadAxis::ALL.len())].0;
                StmtKind::LaunchThread { var, axis, extent: self.expr(depth), body: self.stmt(depth) }
            }
            _ => StmtKind::Evaluate(self.expr(depth)),
        })
    }
}

fn function(name: &str, bytes: &[u8]) -> PrimFunc {
    let mut junk = Junk { bytes, at: 0, vars: Vec::new(), buffers: Vec::new() };
    for index in 0..4 {
        let dtype = junk.dtype();
        junk.vars.push(Var::new(format!("x{index}"), dtype));
        let shape = (0..junk.below(3)).map(|_| Expr::i32(8)).collect();
        let scope = StorageScope::parse(["", "shared", "local", "shared.dyn", "odd.scope"][junk.below(5)]);
        junk.buffers.push(Buffer::new(format!("B{index}"), shape, dtype, scope));
    }
    let mut f = build::function(name.to_owned()).finish();
    f.params = vec![Param::Var(junk.vars[0].clone()), Param::Buffer(junk.buffers[0].clone())];
    f.ret = [None, Some(DType::INT32), Some(DType::FLOAT16)][junk.below(3)];
    f.body = junk.stmt(6);
    f
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s8_no_module_makes_the_writer_panic(bytes in prop::collection::vec(any::<u8>(), 400)) {
        let module = build::module([kernel(function("f", &bytes)), function("g", &bytes[100..])]);
        let found = unsupported(&module, &dialect());
        prop_assert_eq!(write_module(&module, &dialect()).is_err(), !found.is_empty());
    }
}

/// Deeper than anything that a validator lets pass: refused, on a thread with a usual stack.
#[test]
fn s8_depth_is_refused_before_the_stack_ends() {
    let a = Buffer::new("A", vec![Expr::i32(8)], DType::INT32, StorageScope::GLOBAL);
    let load = || Expr::load(&a, vec![Expr::i32(0)]);
    for (levels, is_fine) in [(200, true), (1000, false)] {
        let deep = (0..levels).fold(load(), |e, _| Expr::binary(BinaryOp::Mul, load(), e));
        let nested = (0..levels).fold(Stmt::store(&a, vec![Expr::i32(0)], load()), |s, _| {
            Stmt::if_then(Expr::compare(CompareOp::Lt, load(), Expr::i32(3)), s, None)
        });
        for body in [Stmt::store(&a, vec![Expr::i32(1)], deep), nested] {
            let mut f = build::function("f").finish();
            f.params = vec![Param::Var(a.data.clone())];
            f.body = body;
            let found = unsupported(&build::module([kernel(f)]), &dialect());
            assert_eq!(found.is_empty(), is_fine, "{levels}: {found:#?}");
        }
    }
}

/// A node that is shared again and again is written once: the text grows with the module, not with its paths.
#[test]
fn s7_shared_nodes_do_not_multiply() {
    let a = Buffer::new("A", vec![Expr::i32(8)], DType::INT32, StorageScope::GLOBAL);
    let mut value = Expr::load(&a, vec![Expr::i32(0)]);
    for _ in 0..60 {
        value = Expr::binary(BinaryOp::Mul, value.clone(), value);
    }
    let mut f = build::function("f").finish();
    f.params = vec![Param::Var(a.data.clone())];
    f.body = Stmt::store(&a, vec![Expr::i32(1)], value);
    let text = write_module(&build::module([kernel(f)]), &dialect()).unwrap().text;
    assert!(text.len() < 20_000, "{} bytes", text.len());
}
