//! Checks of calls: ops by their signatures, functions of the module, C functions.

use super::Checker;
use super::expr::is_index;
use crate::op::{DotProduct, Gives, Threads};
use crate::{Callee, DType, Effect, Expr, ExprKind, Op, Param, Signature, Stage, StructField};

/// The scopes that a barrier may name.
const BARRIERS: &[&str] = &["shared", "shared.dyn", "warp", "global"];

/// Returns true for a call that changes state.
pub(super) fn writes(callee: &Callee) -> bool {
    match callee {
        Callee::Op(op) => op.effect() == Effect::Writes,
        Callee::Global(_) => true,
        Callee::Extern { pure, .. } => !pure,
    }
}

/// Returns true for a name that C, and every other language that we generate, accepts as a
/// function's.
pub(super) fn is_c_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
        && name.len() <= 256
}

/// Returns true if a call satisfies the rules of its op that argument types cannot express.
fn has_own_rules(expr: &Expr, op: Op, args: &[Expr]) -> bool {
    match (op, args) {
        (Op::Reinterpret, [value]) => {
            let sized = value.dtype.size_bytes() == expr.dtype.size_bytes();
            sized && !value.dtype.is_bool() && !expr.dtype.is_bool()
        }
        (Op::AllocateWorkspace, [_, _, _, rest @ ..]) => matches!(rest.len(), 0 | 2),
        (Op::StorageSync, [scope]) => {
            matches!(&scope.kind, ExprKind::Str(scope) if BARRIERS.contains(&&**scope))
        }
        (Op::StackMakeArray, [_, _, _, _, zero, _]) => {
            let element = zero.dtype;
            !element.is_handle() && element.is_scalar() && !element.is_storage() && made_shapes(args)
        }
        (Op::Dp4a, [a, _, sum]) => {
            a.dtype == DType::INT8.with_lanes(4) && sum.dtype == DType::INT32
                || a.dtype == DType::UINT8.with_lanes(4) && sum.dtype == DType::UINT32
        }
        (Op::DotAdd, [c, a, b]) => DotProduct::of(c.dtype, a.dtype, b.dtype).is_some(),
        (Op::AccessPtr, [.., mask]) => mask.as_int().is_some_and(|mask| (1..=3).contains(&mask)),
        (Op::AtomicAdd, [_, value]) => {
            let dtype = value.dtype;
            (dtype.is_float() || dtype.is_integer() && dtype.bits >= 32) && dtype != DType::BFLOAT16
        }
        (_, [_, _, _, sizes @ ..]) if op.threads() == Threads::Shuffle => {
            sizes.iter().all(|size| matches!(size.as_int(), Some(1 | 2 | 4 | 8 | 16 | 32 | 64)))
        }
        (Op::ThreadAllreduce, _) => allreduce(args),
        _ => true,
    }
}

/// Returns true if an array's shape has as many extents as it has axes, and so have its strides, if
/// any.
fn made_shapes(args: &[Expr]) -> bool {
    let axes = |arg: &Expr| match &arg.kind {
        ExprKind::Call { callee: Callee::Op(Op::StackMakeShape), args } => Some(args.len() as i128),
        _ => None,
    };
    let count = args[3].as_int().filter(|_| args[3].dtype == DType::INT32);
    let compact = args[2].as_int() == Some(0);
    count.is_some_and(|count| axes(&args[1]) == Some(count) && (compact || axes(&args[2]) == Some(count)))
}

/// Returns true if the arguments are n, n values, a condition, n loads of the values' types, and
/// indices.
fn allreduce(args: &[Expr]) -> bool {
    let Some(n) = args[0].as_int().and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=8).contains(n))
    else {
        return false;
    };
    if args[0].dtype != DType::UINT32 || args.len() < 2 * n + 2 {
        return false;
    }
    let (values, rest) = args[1..].split_at(n);
    let (loads, threads) = rest[1..].split_at(n);
    rest[0].dtype == DType::BOOL
        && values.iter().zip(loads).all(|(value, load)| {
            value.dtype == load.dtype && value.dtype.is_scalar() && matches!(load.kind, ExprKind::Load { .. })
        })
        && threads.iter().all(|index| is_index(index.dtype))
}

impl Checker<'_> {
    /// Returns true for a call that is made only for its effect.
    pub(super) fn gives_nothing(&self, callee: &Callee) -> bool {
        match callee {
            Callee::Op(op) => op.info().gives == Gives::Nothing,
            Callee::Global(name) => self.functions.get(&**name).is_some_and(|f| f.ret.is_none()),
            Callee::Extern { .. } => false,
        }
    }

    pub(super) fn call(&mut self, expr: &Expr, callee: &Callee, args: &[Expr]) {
        self.args(callee, args);
        match callee {
            Callee::Op(op) => self.op(expr, *op, args),
            Callee::Global(name) => self.global(expr, name, args),
            Callee::Extern { name, .. } => {
                if !is_c_name(name) {
                    self.at_expr(expr, format!("\"{name}\" is no name of a C function"));
                }
            }
        }
    }

    fn args(&mut self, callee: &Callee, args: &[Expr]) {
        match (callee, args) {
            (Callee::Op(Op::IfThenElse), [condition, then, otherwise]) => {
                self.value_or_string(condition);
                let truth = super::bounds::truth(condition);
                self.reached(truth != Some(false), |c| c.value_or_string(then));
                self.reached(truth != Some(true), |c| c.value_or_string(otherwise));
            }
            (Callee::Op(Op::AddressOf), [target]) => {
                self.is_address = matches!(target.kind, ExprKind::Load { .. });
                self.value_or_string(target);
            }
            (Callee::Op(Op::CallPacked), args) => self.taking(Op::StackMakeArray, args),
            (Callee::Op(Op::StackMakeArray), [data, shape, strides, rest @ ..]) => {
                self.value_or_string(data);
                self.taking(Op::StackMakeShape, std::slice::from_ref(shape));
                self.taking(Op::StackMakeShape, std::slice::from_ref(strides));
                rest.iter().for_each(|arg| self.value_or_string(arg));
            }
            _ => args.iter().for_each(|arg| self.value_or_string(arg)),
        }
    }

    /// Checks arguments among which that op may occur, which may occur nowhere else.
    fn taking(&mut self, op: Op, args: &[Expr]) {
        for arg in args {
            self.takes = Some(op);
            self.value_or_string(arg);
            self.takes = None;
        }
    }

    fn op(&mut self, expr: &Expr, op: Op, args: &[Expr]) {
        let (name, info) = (op.name(), op.info());
        self.no_atomic_constant(expr, op, args);
        if info.rest.is_none() && !op.takes_count(args.len()) {
            let text = format!("{name} takes {} arguments, found {}", op.arity(), args.len());
            return self.at_expr(expr, text);
        }
        // A packed value may be a text; no other field may.
        let is_any = op == Op::StructSet
            && args.get(2).and_then(Expr::as_int) == Some(StructField::AnyValue as i128)
            && args.iter().take(3).all(|arg| !matches!(arg.kind, ExprKind::Str(_)));
        let takes_strings = is_any || info.params.iter().any(|param| param.takes.is_text());
        if !takes_strings && args.iter().any(|arg| matches!(arg.kind, ExprKind::Str(_))) {
            return self.at_expr(expr, format!("{name} takes no string"));
        }
        if matches!(info.signature, Signature::Custom | Signature::FloatTernary | Signature::IntCount) {
            return self.own(expr, op, args);
        }
        let first = args.first().map_or(DType::HANDLE, |arg| arg.dtype);
        self.expect(expr, op.takes_first(first), &format!("{name} takes {}", info.expects));
        if let [a, b] = args {
            self.same_types(expr, a, b);
        }
        self.op_result(expr, op, args);
    }

    fn op_result(&mut self, expr: &Expr, op: Op, args: &[Expr]) {
        if let Some(dtype) = op.result_dtype(args) {
            self.result(expr, dtype);
        }
    }

    /// Checks ops with rules of their own, as documented at each.
    fn own(&mut self, expr: &Expr, op: Op, args: &[Expr]) {
        let info = op.info();
        if !(info.admits(args) && has_own_rules(expr, op, args)) {
            let found: Vec<String> = args.iter().map(|arg| arg.dtype.to_string()).collect();
            let text = format!("{} takes {}; found {}", op.name(), info.expects, found.join(", "));
            self.at_expr(expr, text);
        }
        match (op, args) {
            (Op::AddressOf, [target]) => self.address_of(expr, target),
            (Op::ParallelLaunch, [body, ..]) => self.parallel_body(expr, body),
            (Op::StructGet | Op::StructSet, [_, _, field, ..]) => self.field(expr, field),
            _ => {}
        }
        self.op_result(expr, op, args);
    }

    /// Checks that the body of a parallel launch names a function of the module that runs a task.
    fn parallel_body(&mut self, expr: &Expr, body: &Expr) {
        if self.stage != Stage::Host {
            self.at_expr(expr, "a parallel launch stands in modules of stage `host` only");
        }
        let ExprKind::Str(name) = &body.kind else {
            return self
                .at_expr(expr, "the body of a parallel launch is the name of a function of the module");
        };
        let Some(function) = self.functions.get(&**name) else {
            return self.at_expr(expr, format!("there is no function `{name}` in the module to launch"));
        };
        let params: Vec<DType> = function
            .params
            .iter()
            .map(|param| match param {
                Param::Var(var) => var.dtype,
                Param::Buffer(_) => DType::HANDLE,
            })
            .collect();
        let is_body = params == [DType::INT32, DType::INT32, DType::HANDLE]
            && function.params.iter().all(|param| matches!(param, Param::Var(_)))
            && function.ret == Some(DType::INT32);
        if !is_body {
            let text = format!(
                "function `{name}` runs no task: expected (task_id: int32, tasks_count: int32, data: handle) -> int32"
            );
            self.at_expr(expr, text);
        }
    }

    fn field(&mut self, expr: &Expr, field: &Expr) {
        if field.as_int().and_then(StructField::by_code).is_none() {
            self.at_expr(expr, "the field is a constant, one of the codes of StructField");
        }
    }

    fn global(&mut self, expr: &Expr, name: &str, args: &[Expr]) {
        let Some(function) = self.functions.get(name) else {
            /// The greatest number of names that a message lists.
            const NAMES_MAX: usize = 20;
            let mut names: Vec<&str> = self.functions.keys().copied().collect();
            names.sort_unstable();
            names.truncate(NAMES_MAX);
            let more = self.functions.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let names = names.join(", ");
            let text = format!("there is no function `{name}` in the module; there are {names}{more}");
            return self.at_expr(expr, text);
        };
        if function.params.len() != args.len() {
            let text =
                format!("function `{name}` takes {} arguments, found {}", function.params.len(), args.len());
            return self.at_expr(expr, text);
        }
        for (param, arg) in function.params.iter().zip(args) {
            match param {
                Param::Var(var) if var.dtype == arg.dtype => {}
                Param::Var(var) => self.at_expr(
                    expr,
                    format!(
                        "argument `{}` of `{name}`: expected type {}, found {}",
                        var.name, var.dtype, arg.dtype
                    ),
                ),
                Param::Buffer(buffer) => self.at_expr(
                    expr,
                    format!(
                        "`{name}` takes the buffer `{}`; only functions of scalars and pointers can be called",
                        buffer.name
                    ),
                ),
            }
        }
        if args.iter().any(|arg| matches!(arg.kind, ExprKind::Str(_))) {
            self.at_expr(expr, "a function of the module takes no string");
        }
        self.result(expr, function.ret.unwrap_or(DType::HANDLE));
    }
}
