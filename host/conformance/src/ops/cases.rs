//! Cases for every operation on every type that it is defined on, each a kernel over a table of
//! operands.

use chipdock_ir::accuracy;
use chipdock_ir::build::FunctionBuilder;
use chipdock_ir::op::{Class, DotProduct};
use chipdock_ir::{
    BinaryOp, Callee, CompareOp, DType, Expr, ExprKind, IrModule, Op, PrimFunc, Signature, build,
};

use super::table::{Kind, Tables};

/// Returns the reason why an op has no case (PEERS-P1, OP6), or `None` if it has one.
#[must_use]
pub fn not_computed(op: Op) -> Option<&'static str> {
    match op.info().class {
        Class::Value => None,
        Class::Pointer => Some("about a pointer"),
        Class::Struct => Some("about an argument structure"),
        Class::Workspace => Some("allocates or frees"),
        Class::Call => Some("calls, or makes an argument of a call"),
        Class::Exit => Some("ends a function"),
        Class::Note => Some("gives no value"),
        Class::Thread => Some("about threads"),
    }
}

/// Operation of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A call of an op; constants follow the operands.
    Op(Op),
    /// A binary operator.
    Binary(BinaryOp),
    /// A comparison.
    Compare(CompareOp),
    /// A conversion.
    Cast,
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
    /// Negation.
    Not,
    /// A choice between two evaluated values.
    Select,
}

/// One operation on one type.
#[derive(Clone, Debug)]
pub struct Case {
    /// Operation that is computed.
    pub operation: Operation,
    /// Constants after the operands.
    pub parameters: Vec<i32>,
    /// Kind and type of the table of operands.
    pub table: (Kind, DType),
    /// Types of the operands.
    pub operands: Vec<DType>,
    /// Type of the result.
    pub result: DType,
    /// Allowed error in units in the last place, by the accuracy contract; at most 0.5 means exact.
    pub ulps: f64,
}

impl Case {
    /// Returns the name of the operation, as used by `peer.py`.
    #[must_use]
    pub fn op(&self) -> String {
        match &self.operation {
            Operation::Op(op) => op.name().to_owned(),
            Operation::Binary(op) => format!("{op:?}"),
            Operation::Compare(op) => format!("{op:?}"),
            Operation::Cast => "cast".to_owned(),
            Operation::And => "And".to_owned(),
            Operation::Or => "Or".to_owned(),
            Operation::Not => "Not".to_owned(),
            Operation::Select => "select".to_owned(),
        }
    }

    /// Describes the case for messages: operation, constants and types.
    #[must_use]
    pub fn name(&self) -> String {
        let types: Vec<String> = self.operands.iter().map(DType::to_string).collect();
        let constants: String = self.parameters.iter().map(|value| format!(" {value}")).collect();
        format!("{}{constants}({}) -> {}", self.op(), types.join(", "), self.result)
    }

    fn expr(&self, mut args: Vec<Expr>) -> Expr {
        args.extend(self.parameters.iter().map(|value| Expr::i32(*value)));
        let binary = |args: &[Expr]| (args[0].clone(), args[1].clone());
        match &self.operation {
            Operation::Op(op) => Expr::new(ExprKind::Call { callee: Callee::Op(*op), args }, self.result),
            Operation::Binary(op) => {
                Expr::new(ExprKind::Binary(*op, args[0].clone(), args[1].clone()), self.result)
            }
            Operation::Compare(op) => {
                Expr::new(ExprKind::Compare(*op, args[0].clone(), args[1].clone()), self.result)
            }
            Operation::Cast => Expr::new(ExprKind::Cast(args[0].clone()), self.result),
            Operation::And => binary(&args).0.and(args[1].clone()),
            Operation::Or => binary(&args).0.or(args[1].clone()),
            Operation::Not => args[0].clone().logical_not(),
            Operation::Select => Expr::select(args[0].clone(), args[1].clone(), args[2].clone()),
        }
    }

    /// Builds the kernel: `B[i] = operation(A0[i], …)` over the whole table.
    #[must_use]
    pub fn kernel(&self, name: &str, n_rows: usize) -> PrimFunc {
        let n = i32::try_from(n_rows).unwrap_or(i32::MAX);
        let mut f = build::function(name);
        f.noalias();
        let inputs: Vec<_> = self
            .operands
            .iter()
            .enumerate()
            .map(|(k, dtype)| f.buffer(format!("A{k}"), [n], *dtype))
            .collect();
        let output = f.buffer("B", [n], self.result);
        f.grid(["i"], [n], |f, [i]| {
            f.block("B", |f| {
                let vi = f.spatial("vi", n, &i);
                let args = inputs.iter().map(|input| input.at([&vi])).collect();
                f.store(&output, [&vi], self.expr(args));
            });
        });
        f.finish()
    }
}

impl Case {
    /// Builds a kernel that computes `lanes` rows at once in a vectorized loop; a remainder of
    /// fewer rows is left out.
    #[must_use]
    pub fn vectorized(&self, name: &str, n_rows: usize, lanes: u16) -> PrimFunc {
        let n = i32::try_from(n_rows).unwrap_or(i32::MAX);
        let lanes = i32::from(lanes);
        let mut f = build::function(name);
        f.noalias();
        let buffer =
            |f: &mut FunctionBuilder, (k, dtype): (usize, &DType)| f.buffer(format!("A{k}"), [n], *dtype);
        let inputs: Vec<_> = self.operands.iter().enumerate().map(|one| buffer(&mut f, one)).collect();
        let output = f.buffer("B", [n], self.result);
        f.range("i", n / lanes, |f, i| {
            f.vectorized("v", lanes, |f, v| {
                let row = &i * lanes + &v;
                let args = inputs.iter().map(|input| input.at([&row])).collect();
                f.store(&output, [&row], self.expr(args));
            });
        });
        f.finish()
    }
}

/// Builds a module of the kernels `f0`, `f1`, … of these cases.
#[must_use]
pub fn module(cases: &[Case], tables: &mut Tables) -> IrModule {
    let kernel = |(index, case): (usize, &Case)| {
        case.kernel(&format!("f{index}"), tables.get(case.table.0, case.table.1).n_rows())
    };
    build::module(cases.iter().enumerate().map(kernel))
}

fn floats() -> impl Iterator<Item = DType> {
    DType::SCALARS.iter().copied().filter(|dtype| dtype.is_float())
}

fn integers() -> impl Iterator<Item = DType> {
    DType::SCALARS.iter().copied().filter(|dtype| dtype.is_integer())
}

fn numbers() -> impl Iterator<Item = DType> {
    DType::SCALARS.iter().copied().filter(|dtype| !dtype.is_bool())
}

/// Returns every case (PEERS-P1).
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut all: Vec<Case> = Op::ALL.iter().flat_map(|op| of_op(*op)).collect();
    for dtype in numbers() {
        for &op in BinaryOp::ALL {
            let whole = matches!(op, BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod);
            if !(whole && dtype.is_float()) {
                all.push(exact(Operation::Binary(op), Kind::Two, &[dtype, dtype], dtype));
            }
        }
    }
    for &dtype in DType::SCALARS {
        for &op in CompareOp::ALL {
            all.push(exact(Operation::Compare(op), Kind::Two, &[dtype, dtype], DType::BOOL));
        }
        all.push(exact(Operation::Select, Kind::Choice, &[DType::BOOL, dtype, dtype], dtype));
        for &to in DType::SCALARS.iter().filter(|to| **to != dtype) {
            all.push(exact(Operation::Cast, Kind::One, &[dtype], to));
        }
    }
    let two = [DType::BOOL, DType::BOOL];
    all.push(exact(Operation::And, Kind::Two, &two, DType::BOOL));
    all.push(exact(Operation::Or, Kind::Two, &two, DType::BOOL));
    all.push(exact(Operation::Not, Kind::One, &two[..1], DType::BOOL));
    all
}

fn exact(operation: Operation, kind: Kind, operands: &[DType], result: DType) -> Case {
    let dtype = operands.last().map_or(DType::BOOL, |dtype| *dtype);
    Case {
        operation,
        parameters: Vec::new(),
        table: (kind, dtype),
        operands: operands.to_vec(),
        result,
        ulps: 0.0,
    }
}

fn of_op(op: Op) -> Vec<Case> {
    let call = |kind, operands: &[DType], result: DType| Case {
        ulps: if result.is_float() { accuracy::ulps(op, result) } else { 0.0 },
        table: (kind, operands[0]),
        ..exact(Operation::Op(op), kind, operands, result)
    };
    match op.signature() {
        Signature::FloatUnary => floats().map(|t| call(Kind::One, &[t], t)).collect(),
        Signature::FloatTest => floats().map(|t| call(Kind::One, &[t], DType::BOOL)).collect(),
        Signature::FloatBinary => floats().map(|t| call(Kind::Two, &[t, t], t)).collect(),
        Signature::FloatTernary => floats().map(|t| call(Kind::Three, &[t, t, t], t)).collect(),
        Signature::IntUnary => integers().map(|t| call(Kind::One, &[t], t)).collect(),
        Signature::IntCount => integers().map(|t| call(Kind::One, &[t], DType::INT32)).collect(),
        Signature::NumberUnary => numbers().map(|t| call(Kind::One, &[t], t)).collect(),
        Signature::IntBinary => integers().map(|t| call(Kind::Two, &[t, t], t)).collect(),
        Signature::BitBinary => {
            integers().chain([DType::BOOL]).map(|t| call(Kind::Two, &[t, t], t)).collect()
        }
        Signature::Custom => custom(op, &call),
    }
}

fn custom(op: Op, call: &dyn Fn(Kind, &[DType], DType) -> Case) -> Vec<Case> {
    const I32: DType = DType::INT32;
    let fixed = |operands: &[DType], parameters: &[&[i32]]| -> Vec<Case> {
        let one = |values: &&[i32]| Case { parameters: values.to_vec(), ..call(Kind::Fixed, operands, I32) };
        parameters.iter().map(one).collect()
    };
    match op {
        Op::Ldexp => floats().map(|t| call(Kind::Scale, &[t, I32], t)).collect(),
        Op::IfThenElse => {
            let choice = |t: &DType| Case {
                table: (Kind::Choice, *t),
                ..call(Kind::Choice, &[DType::BOOL, *t, *t], *t)
            };
            DType::SCALARS.iter().map(choice).collect()
        }
        Op::Likely => vec![call(Kind::One, &[DType::BOOL], DType::BOOL)],
        Op::ThreadInvariant => DType::SCALARS.iter().map(|t| call(Kind::One, &[*t], *t)).collect(),
        Op::Reinterpret => {
            let to = |from: DType| numbers().filter(move |to| *to != from && to.bits == from.bits);
            numbers()
                .flat_map(|from| to(from).map(move |to| (from, to)))
                .map(|(from, to)| call(Kind::One, &[from], to))
                .collect()
        }
        Op::QMultiplyShift => {
            let mut all = fixed(&[I32, I32], &[&[31, 0], &[31, 3], &[31, -5], &[15, 0], &[1, -1]]);
            // The multiplier has the form used by models, and is a constant, because real TVM
            // compiles no other.
            let constant: [&[i32]; 4] =
                [&[1 << 30, 31, -3], &[1 << 30, 31, 2], &[1_395_864_371, 31, -5], &[i32::MAX, 31, 1]];
            all.extend(fixed(&[I32], &constant));
            all
        }
        Op::QMultiplyShiftPerAxis => fixed(&[I32; 4], &[&[31, 0, 0], &[31, 1, 0], &[31, 0, 1], &[31, 1, 1]]),
        Op::Dp4a => {
            let dot = |byte: DType, sum| Case {
                table: (Kind::Dot, byte),
                ..call(Kind::Dot, &[byte.with_lanes(4), byte.with_lanes(4), sum], sum)
            };
            vec![dot(DType::INT8, I32), dot(DType::UINT8, DType::UINT32)]
        }
        Op::DotAdd => {
            let one = |dot: &DotProduct| {
                let kind = if dot.a == dot.b { Kind::DotAdd } else { Kind::DotMixed };
                let (sum, wide) = (dot.sum.with_lanes(4), 4 * dot.group);
                let operands = [sum, dot.a.with_lanes(wide), dot.b.with_lanes(wide)];
                Case { table: (kind, dot.a), ..call(kind, &operands, sum) }
            };
            DotProduct::ALL.iter().map(one).collect()
        }
        _ => Vec::new(),
    }
}
