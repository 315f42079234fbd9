//! Modules that were not validated, which a code generator must compile or refuse without a panic.

use crate::{
    AttrValue, BinaryOp, Buffer, Callee, CompareOp, DType, Expr, ExprKind, FloatBits, ForKind, Op, Param,
    PrimFunc, Stmt, StmtKind, StorageScope, ThreadAxis, Var, attr, build,
};

struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether launches, barriers and other parts of device functions are included.
    of_device: bool,
    vars: Vec<Var>,
    buffers: Vec<Buffer>,
}

impl Choices<'_> {
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
        let lanes = [1, 1, 1, 1, 2, 3, 4, 16, 1024][self.below(9)];
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
        Stmt::new(match self.below(if self.of_device { 14 } else { 12 }) {
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
            12 => StmtKind::LaunchThread {
                var,
                axis: ThreadAxis::ALL[self.below(ThreadAxis::ALL.len())].0,
                extent: self.expr(depth),
                body: self.stmt(depth),
            },
            13 => StmtKind::Evaluate(Expr::call(Op::StorageSync, self.exprs(depth), DType::HANDLE)),
            _ => StmtKind::Evaluate(self.expr(depth)),
        })
    }
}

/// Makes from the bytes a function that hardly any validator accepts: types that do not fit, names
/// that are not bound, calls with any arguments. One of a device may be a kernel.
#[must_use]
pub fn function(name: &str, bytes: &[u8], of_device: bool) -> PrimFunc {
    let mut choices = Choices { bytes, at: 0, of_device, vars: Vec::new(), buffers: Vec::new() };
    let scopes = ["", "shared", "local", "odd.scope", "shared.dyn"];
    let n_scopes = if of_device { scopes.len() } else { scopes.len() - 1 };
    for index in 0..4 {
        let dtype = choices.dtype();
        choices.vars.push(Var::new(format!("x{index}"), dtype));
        let shape = (0..choices.below(3)).map(|_| Expr::i32(8)).collect();
        let scope = StorageScope::parse(scopes[choices.below(n_scopes)]);
        choices.buffers.push(Buffer::new(format!("B{index}"), shape, dtype, scope));
    }
    let mut f = build::function(name.to_owned()).finish();
    f.params = vec![Param::Var(choices.vars[0].clone()), Param::Buffer(choices.buffers[0].clone())];
    f.ret = [None, Some(DType::INT32), Some(DType::FLOAT16)][choices.below(3)];
    f.body = choices.stmt(6);
    if of_device {
        f.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int([2, 2, 0, 1][choices.below(4)]));
        if choices.below(3) > 0 {
            f.ret = None;
        }
        let told = ["blockIdx.x", "threadIdx.x", attr::DYNAMIC_SHARED_MEMORY, "nothing"];
        let told = told.into_iter().filter(|_| choices.below(2) == 0).map(|text| AttrValue::Str(text.into()));
        f.attrs.insert(attr::KERNEL_LAUNCH_PARAMS.into(), AttrValue::List(told.collect()));
    }
    f
}

/// Makes two functions of statements and expressions that nest so deep: a value, and branches.
#[must_use]
pub fn deep(levels: usize) -> [PrimFunc; 2] {
    let a = Buffer::new("A", vec![Expr::i32(8)], DType::INT32, StorageScope::GLOBAL);
    let load = || Expr::load(&a, vec![Expr::i32(0)]);
    let value = (0..levels).fold(load(), |e, _| Expr::binary(BinaryOp::Mul, load(), e));
    let nested = (0..levels).fold(Stmt::store(&a, vec![Expr::i32(0)], load()), |s, _| {
        Stmt::if_then(Expr::compare(CompareOp::Lt, load(), Expr::i32(3)), s, None)
    });
    [Stmt::store(&a, vec![Expr::i32(1)], value), nested].map(|body| of_data(&a, body))
}

/// Makes a function of a value with so much sharing that, written out, it would be two to the
/// `times` long.
#[must_use]
pub fn shared(times: usize) -> PrimFunc {
    let a = Buffer::new("A", vec![Expr::i32(8)], DType::INT32, StorageScope::GLOBAL);
    let value = (0..times).fold(Expr::load(&a, vec![Expr::i32(0)]), |value, _| {
        Expr::binary(BinaryOp::Mul, value.clone(), value)
    });
    of_data(&a, Stmt::store(&a, vec![Expr::i32(1)], value))
}

/// Makes a function that loads and stores lanes at positions that are one shared sum of int64,
/// doubled so many times.
#[must_use]
pub fn shared_positions(times: usize) -> PrimFunc {
    let a = Buffer::new("A", vec![Expr::i32(8)], DType::INT32, StorageScope::GLOBAL);
    let int = |value| Expr::int(value, DType::INT64);
    let lanes = (0..times).fold(int(0).ramp(int(2), 4), |lanes, _| lanes.clone() + lanes);
    let value = Expr::load(&a, vec![lanes.clone()]);
    of_data(&a, Stmt::store(&a, vec![lanes], value))
}

/// Makes a function that stores through a view of a pointer that was moved by bytes: what a target
/// with fixed pointers does not receive (STAGE-D15), unless the pass must leave it.
#[must_use]
pub fn moved_pointer() -> PrimFunc {
    let [a, view] =
        ["A", "V"].map(|name| Buffer::new(name, vec![Expr::i32(4)], DType::INT32, StorageScope::GLOBAL));
    let moved = vec![a.data.expr(), Expr::int(8, DType::INT64)];
    let data = Some(Expr::call(Op::HandleAddByteOffset, moved, DType::HANDLE));
    let declared = Stmt::new(StmtKind::DeclBuffer { buffer: view.clone(), data });
    of_data(&a, Stmt::seq([declared, Stmt::store(&view, vec![Expr::i32(0)], Expr::i32(7))]))
}

/// Makes a function that copies a vector of so many lanes: what a target of shorter vectors does
/// not receive (STAGE-D16), unless the pass must leave it.
#[must_use]
pub fn wide_vector(lanes: u16) -> PrimFunc {
    let a = Buffer::new("A", vec![Expr::i32(64)], DType::INT32, StorageScope::GLOBAL);
    let lanes_at = |first| Expr::i32(first).ramp(Expr::i32(1), lanes);
    of_data(&a, Stmt::store(&a, vec![lanes_at(0)], Expr::load(&a, vec![lanes_at(32)])))
}

fn of_data(a: &Buffer, body: Stmt) -> PrimFunc {
    let mut f = build::function("f").finish();
    f.params = vec![Param::Var(a.data.clone())];
    f.body = body;
    f
}

/// Makes a kernel of the function, which then returns nothing.
#[must_use]
pub fn kernel(mut f: PrimFunc) -> PrimFunc {
    f.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(2));
    f.ret = None;
    f
}
