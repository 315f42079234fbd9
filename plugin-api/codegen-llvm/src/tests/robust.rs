//! Modules that no validator has seen: each is written or refused, none makes the writer panic.

use chipdock_ir::{
    AttrValue, BinaryOp, Buffer, Callee, CompareOp, DType, Expr, ExprKind, FloatBits, ForKind, Op, Param,
    PrimFunc, Span, Stmt, StmtKind, StorageScope, ThreadAxis, Var, attr, build,
};
use proptest::prelude::*;

use super::modules::{function as plain, pointer};
use super::support::Plain;
use crate::{Options, unsupported, write_module};

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
        let lanes = [1, 1, 1, 1, 2, 3, 16, 1024][self.below(8)];
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
        Stmt::new(match self.below(12) {
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
        let scope = StorageScope::parse(["", "shared", "local", "odd.scope"][junk.below(4)]);
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
    fn v10_no_module_makes_the_writer_panic(bytes in prop::collection::vec(any::<u8>(), 400)) {
        let module = build::module([function("f", &bytes), function("g", &bytes[100..])]);
        let found = unsupported(&module, &Plain::default());
        prop_assert_eq!(write_module(&module, &Plain::default(), &Options::default()).is_err(), !found.is_empty());
    }
}

/// Deeper than anything that a validator lets pass: refused, on a thread with a usual stack.
#[test]
fn v10_depth_is_refused_before_the_stack_ends() {
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
            let found = unsupported(&build::module([f]), &Plain::default());
            assert_eq!(found.is_empty(), is_fine, "{levels}: {found:#?}");
        }
    }
}

/// A node that is shared again and again is written once: the text grows with the module, not with its paths.
#[test]
fn v9_shared_nodes_do_not_multiply() {
    let a = Buffer::new("A", vec![Expr::i32(8)], DType::INT32, StorageScope::GLOBAL);
    let mut value = Expr::load(&a, vec![Expr::i32(0)]);
    for _ in 0..60 {
        value = Expr::binary(BinaryOp::Mul, value.clone(), value);
    }
    let mut f = build::function("f").finish();
    f.params = vec![Param::Var(a.data.clone())];
    f.body = Stmt::store(&a, vec![Expr::i32(1)], value);
    let text = write_module(&build::module([f]), &Plain::default(), &Options::default()).unwrap().text;
    assert!(text.len() < 20_000, "{} bytes", text.len());
}

/// A kernel of what a processor has none of.
fn strange() -> PrimFunc {
    let (a_data, a) = pointer("A", DType::FLOAT32);
    let (i, t) = (Var::new("i", DType::INT32), Var::new("t", DType::INT32));
    let shared = Buffer::new("S", vec![Expr::i32(64)], DType::FLOAT32, StorageScope::SHARED);
    let large = Buffer::new("L", vec![Expr::i32(1 << 20)], DType::FLOAT32, StorageScope::LOCAL);
    let sized = Buffer::new("D", vec![t.expr()], DType::FLOAT32, StorageScope::LOCAL);
    let allocate = |buffer: &Buffer| {
        Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Default::default() })
    };
    let use_of = |buffer: &Buffer| Stmt::store(buffer, vec![t.expr()], Expr::float(1.0, DType::FLOAT32));
    let store = Stmt::store(&a, vec![i.expr()], Expr::load(&shared, vec![t.expr()]));
    let evaluate = |value: Expr| Stmt::new(StmtKind::Evaluate(value));
    let bound = Stmt::new(StmtKind::LaunchThread {
        var: t.clone(),
        axis: ThreadAxis::ThreadX,
        extent: Expr::i32(64),
        body: Stmt::seq([store, use_of(&large), use_of(&sized)]),
    });
    let call = |callee: Callee, args: Vec<Expr>| Expr::new(ExprKind::Call { callee, args }, DType::INT32);
    let extern_ = |name: &str| Callee::Extern { name: name.into(), pure: false };
    let atomic = Expr::call(Op::AtomicAdd, vec![a.data.expr(), Expr::int(1, DType::INT8)], DType::INT8);
    let two = Expr::load(&a, vec![i.expr(), i.expr()]);
    let body = vec![
        allocate(&shared),
        allocate(&large),
        allocate(&sized),
        Stmt::for_loop(
            i.clone(),
            Expr::i32(4),
            ForKind::ThreadBinding(ThreadAxis::BlockX),
            Stmt::seq([
                bound,
                evaluate(Expr::call(Op::StorageSync, vec![Expr::str("shared")], DType::HANDLE)),
                Stmt::store(&a, vec![Expr::i32(0)], two),
            ]),
        ),
        evaluate(Expr::call(Op::CallPacked, vec![Expr::str("f")], DType::INT32)),
        evaluate(call(Callee::Global("nobody".into()), vec![])),
        evaluate(call(extern_("no name"), vec![])),
        evaluate(call(extern_("takes_a_half"), vec![Expr::float(1.0, DType::FLOAT16)])),
        evaluate(Expr::call(
            Op::ParallelLaunch,
            vec![Expr::str("nobody"), a.data.expr(), Expr::i32(0)],
            DType::INT32,
        )),
        evaluate(Expr::call(Op::WarpActivemask, vec![], DType::UINT32)),
        evaluate(atomic),
        Stmt::new(StmtKind::Break),
    ];
    let mut kernel = plain("kernel", vec![a_data], body);
    kernel.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(2));
    kernel
}

/// Everything that a processor has none of is named, each thing.
#[test]
fn v10_everything_that_is_not_supported_is_listed() {
    let evaluate = |value: Expr| Stmt::new(StmtKind::Evaluate(value));
    let mut void = build::function("void").finish();
    void.body = Stmt::seq([
        evaluate(Expr::call(Op::ThrowLastError, vec![], DType::HANDLE)),
        Stmt::new(StmtKind::Assert {
            condition: Expr::bool(false),
            kind: "ValueError".into(),
            message: vec![Expr::float(1.0, DType::FLOAT32)],
        }),
    ]);
    let mut entry = build::function("__tvm_ffi_entry").finish();
    entry.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(1));
    let found = unsupported(&build::module([strange(), void, entry]), &Plain::default());
    let messages: Vec<&str> = found.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    for part in [
        "storage scope shared",
        "thread axis blockIdx.x",
        "thread axis threadIdx.x",
        "barrier of scope \"shared\"",
        "buffer A has 2 axes",
        "bytes of stack",
        "size that is not constant",
        "packed calls of a buffer of values only",
        "the module has no function nobody",
        "\"no name\": it is no name of a C function",
        "cannot pass float16 to the C function takes_a_half",
        "parallel launches of functions of the module only",
        "no tvm_warp_activemask",
        "no atomic_add of int8",
        "no loop around this",
        "calling convention 2",
        "an assertion only in a function that returns int32",
        "tvm_throw_last_error only in a function that returns int32",
        "messages of strings and integers, not of float32",
        "packed functions (handle, handle, int32, handle) -> int32 only",
    ] {
        assert!(messages.iter().any(|message| message.contains(part)), "{part} in {messages:#?}");
    }
    assert!(messages.iter().all(|message| message.starts_with("target plain: ")), "{messages:#?}");
}

/// A refusal says where its statement was read.
#[test]
fn v10_a_refusal_names_the_line() {
    let call = |line: u32| {
        let call = Expr::call(Op::CallPacked, vec![Expr::str("f")], DType::INT32);
        Stmt::new(StmtKind::Evaluate(call)).with_span(Span { line, column: 5 })
    };
    let found =
        unsupported(&build::module([plain("kernel", vec![], vec![call(3), call(4)])]), &Plain::default());
    assert_eq!(found[0].span, Span { line: 3, column: 5 }, "{found:#?}");
}

/// Names of functions that others call are kept to the letter, or refused.
#[test]
fn v10_symbols_are_checked() {
    for (name, is_fine) in
        [("__tvm_ffi_f", true), ("cd.x", false), ("llvm.x", false), ("a b", false), ("", false)]
    {
        let mut f = plain("f", vec![], vec![]);
        f.params = [DType::HANDLE, DType::HANDLE, DType::INT32, DType::HANDLE]
            .map(|dtype| Param::Var(Var::new("x", dtype)))
            .to_vec();
        f.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(1));
        f.attrs.insert(attr::GLOBAL_SYMBOL.into(), AttrValue::Str(name.into()));
        let found = unsupported(&build::module([f]), &Plain::default());
        assert_eq!(found.is_empty(), is_fine, "{name}: {found:#?}");
    }
}
