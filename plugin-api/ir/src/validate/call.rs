//! Calls: ops by their signatures, functions of the module, C functions.

use super::Checker;
use super::expr::is_index;
use crate::{Callee, DType, Effect, Expr, ExprKind, Op, Param, Signature, Stage, StructField};

/// Scopes that a barrier may name.
const BARRIERS: &[&str] = &["shared", "shared.dyn", "warp", "global"];

/// True for a call that changes state.
pub(super) fn writes(callee: &Callee) -> bool {
    match callee {
        Callee::Op(op) => op.effect() == Effect::Writes,
        Callee::Global(_) => true,
        Callee::Extern { pure, .. } => !pure,
    }
}

/// True for a name that C, and every other language that we write, takes as a function's.
pub(super) fn is_c_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
        && name.len() <= 256
}

/// Ops of packed calls.
fn packed_op(expr: &Expr, op: Op, args: &[Expr]) -> (bool, &'static str) {
    let types: Vec<DType> = args.iter().map(|arg| arg.dtype).collect();
    match (op, types.as_slice()) {
        (Op::CallPacked, [_, rest @ ..]) => {
            let named = args.first().is_some_and(|arg| matches!(arg.kind, ExprKind::Str(_)));
            (named && rest.iter().all(|t| t.is_scalar()), "a name, and scalars")
        }
        (Op::StackMakeShape, extents) => {
            (extents.iter().all(|extent| is_index(*extent)), "extents, each an int32 or int64")
        }
        (Op::StackMakeArray, [data, _, _, _, zero, offset]) => (
            data.is_handle()
                && !zero.is_handle()
                && zero.is_scalar()
                && !zero.is_storage()
                && is_zero(&args[4])
                && is_index(*offset)
                && made_shapes(args),
            "a pointer, a shape of as many extents as the constant number of axes says, strides like it or 0, a zero of the \
             element's type, and an int32 or int64",
        ),
        _ => kernel_op(expr, op, args),
    }
}

/// Ops of threads and of parallel regions, and arithmetic of quantised kernels: whether the arguments fit, and what would.
fn kernel_op(expr: &Expr, op: Op, args: &[Expr]) -> (bool, &'static str) {
    let types: Vec<DType> = args.iter().map(|arg| arg.dtype).collect();
    let flag = |arg: &Expr| arg.dtype == DType::INT32 && arg.as_int().is_some();
    match (op, types.as_slice()) {
        (Op::QMultiplyShift, [x, y, q, s]) => (
            x.scalar() == DType::INT32 && x == y && *q == DType::INT32 && *s == DType::INT32,
            "two int32 of as many lanes, and two int32",
        ),
        (Op::QMultiplyShiftPerAxis, [x, y, ls, rs, q, _, _]) => (
            x.scalar() == DType::INT32
                && [y, ls, rs].into_iter().all(|t| t == x)
                && *q == DType::INT32
                && args[5..].iter().all(flag),
            "four int32 of as many lanes, an int32, and two constant int32",
        ),
        (Op::Dp4a, [a, b, sum]) => (
            a == b
                && (*a == DType::INT8.with_lanes(4) && *sum == DType::INT32
                    || *a == DType::UINT8.with_lanes(4) && *sum == DType::UINT32),
            "two int8x4 and an int32, or two uint8x4 and a uint32",
        ),
        (Op::ThreadInvariant, [a]) => (!a.is_handle(), "a number or a boolean"),
        (Op::Assume, [a]) => (*a == DType::BOOL, "a scalar boolean"),
        (Op::AccessPtr, [_, data, offset, extent, _]) => (
            is_zero(&args[0])
                && data.is_handle()
                && is_index(*offset)
                && is_index(*extent)
                && flag(&args[4])
                && args[4].as_int().is_some_and(|mask| (1..=3).contains(&mask)),
            "a zero of the element's type, a pointer, two int32 or int64, and a mask of 1, 2 or 3",
        ),
        (Op::ThreadReturn | Op::WarpActivemask, []) => (true, ""),
        (Op::ParallelLaunch, [_, data, tasks]) => {
            (data.is_handle() && *tasks == DType::INT32, "a name, a handle and an int32")
        }
        (Op::AtomicAdd, [address, value]) => (
            address.is_handle()
                && value.is_scalar()
                && (value.is_float() || value.is_integer() && value.bits >= 32)
                && *value != DType::BFLOAT16,
            "an address, and an integer of 32 or 64 bits, a float16, a float32 or a float64",
        ),
        (
            Op::WarpShuffle | Op::WarpShuffleUp | Op::WarpShuffleDown | Op::WarpShuffleXor,
            [mask, value, lane, width, size],
        ) => (
            *mask == DType::UINT32
                && !value.is_handle()
                && [lane, width, size].into_iter().all(|t| *t == DType::INT32)
                && args[3..].iter().all(|arg| matches!(arg.as_int(), Some(1 | 2 | 4 | 8 | 16 | 32 | 64))),
            "a uint32 mask, a value, an int32 lane, and width and warp size: powers of two up to 64",
        ),
        (Op::ThreadAllreduce, [_, ..]) => {
            (allreduce(args), "the number of values, the values, a condition, their elements, thread indices")
        }
        _ => (false, if expr.dtype.is_handle() { "other arguments" } else { "arguments of other types" }),
    }
}

fn is_zero(expr: &Expr) -> bool {
    expr.as_int() == Some(0) || matches!(expr.kind, ExprKind::Float(bits) if bits.value() == 0.0)
}

/// Whether the shape of an array has as many extents as it has axes, and its strides, if any, as many.
fn made_shapes(args: &[Expr]) -> bool {
    let axes = |arg: &Expr| match &arg.kind {
        ExprKind::Call { callee: Callee::Op(Op::StackMakeShape), args } => Some(args.len() as i128),
        _ => None,
    };
    let count = args[3].as_int().filter(|_| args[3].dtype == DType::INT32);
    let compact = args[2].as_int() == Some(0);
    count.is_some_and(|count| axes(&args[1]) == Some(count) && (compact || axes(&args[2]) == Some(count)))
}

/// Whether these are n, n values, a condition, n loads of those types, and indices.
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
    /// True for a call that is made for its effect alone.
    pub(super) fn gives_nothing(&self, callee: &Callee) -> bool {
        match callee {
            Callee::Op(op) => matches!(
                op,
                Op::StructSet
                    | Op::ThrowLastError
                    | Op::StorageSync
                    | Op::Assume
                    | Op::ThreadReturn
                    | Op::ThreadAllreduce
            ),
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

    /// Arguments among which that op may stand, which may stand nowhere else.
    fn taking(&mut self, op: Op, args: &[Expr]) {
        for arg in args {
            self.takes = Some(op);
            self.value_or_string(arg);
            self.takes = None;
        }
    }

    fn op(&mut self, expr: &Expr, op: Op, args: &[Expr]) {
        let name = op.name();
        if op.arity() != 255 && args.len() != op.arity() {
            let text = format!("{name} takes {} arguments, found {}", op.arity(), args.len());
            return self.at_expr(expr, text);
        }
        // A packed value may be a text; no other field is one.
        let is_any = op == Op::StructSet
            && args.get(2).and_then(Expr::as_int) == Some(StructField::AnyValue as i128)
            && args.iter().take(3).all(|arg| !matches!(arg.kind, ExprKind::Str(_)));
        let takes_strings = is_any || matches!(op, Op::CallPacked | Op::StorageSync | Op::ParallelLaunch);
        if !takes_strings && args.iter().any(|arg| matches!(arg.kind, ExprKind::Str(_))) {
            return self.at_expr(expr, format!("{name} takes no string"));
        }
        let first = args.first().map_or(DType::HANDLE, |arg| arg.dtype);
        let bits = matches!(op, Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor);
        let fits = match op.signature() {
            Signature::FloatUnary | Signature::FloatTest | Signature::FloatBinary => first.is_float(),
            Signature::IntUnary => first.is_integer(),
            Signature::IntBinary => first.is_integer() || bits && first.is_bool(),
            Signature::NumberUnary => first.is_integer() || first.is_float(),
            Signature::Own => return self.own(expr, op, args),
        };
        let wanted = match op.signature() {
            Signature::FloatUnary | Signature::FloatTest | Signature::FloatBinary => "floats",
            Signature::NumberUnary => "numbers",
            Signature::IntUnary | Signature::IntBinary | Signature::Own => "integers",
        };
        self.expect(expr, fits, &format!("{name} takes {wanted}"));
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

    /// Ops with rules of their own, as stated at each.
    fn own(&mut self, expr: &Expr, op: Op, args: &[Expr]) {
        let types: Vec<DType> = args.iter().map(|arg| arg.dtype).collect();
        let (fits, wanted) = match (op, types.as_slice()) {
            (Op::Ldexp, [a, b]) => (
                a.is_float() && *b == DType::INT32.with_lanes(a.lanes),
                "a float, and an int32 of as many lanes",
            ),
            (Op::Fma, [a, b, c]) => (a.is_float() && a == b && b == c, "three floats of one type"),
            (Op::Clz, [a]) => (a.is_integer(), "an integer"),
            (Op::IfThenElse, [c, a, b]) => {
                (*c == DType::BOOL && a == b, "a scalar boolean and two values of one type")
            }
            (Op::Likely, [a]) => (a.is_bool(), "a boolean"),
            (Op::Reinterpret, [a]) => {
                let sized = a.size_bytes() == expr.dtype.size_bytes();
                (sized && !a.is_bool() && !expr.dtype.is_bool(), "a value of as many bits, no boolean")
            }
            (Op::Isnullptr | Op::AddressOf, [a]) => {
                let load = op == Op::AddressOf;
                (load || a.is_handle(), "a handle")
            }
            (Op::HandleAddByteOffset, [a, b]) => {
                (a.is_handle() && is_index(*b), "a handle and an int32 or int64")
            }
            (Op::StructGet, [a, i, f]) => {
                (a.is_handle() && *i == DType::INT32 && f.is_integer(), "a handle, an int32 and a field")
            }
            (Op::StructSet, [a, i, f, v]) => (
                a.is_handle() && *i == DType::INT32 && f.is_integer() && v.is_scalar(),
                "a handle, an int32, a field and a scalar",
            ),
            (Op::HandleLoad, [a, b]) => {
                let constant = args[1].as_int().is_some();
                (a.is_handle() && *b == DType::INT64 && constant, "a handle and a constant int64")
            }
            (Op::AllocateWorkspace, [a, b, c, rest @ ..]) => {
                let ints = [a, b].into_iter().chain(rest).all(|t| *t == DType::INT32);
                (
                    ints && *c == DType::UINT64 && matches!(rest.len(), 0 | 2),
                    "device_type, device_id, uint64 bytes",
                )
            }
            (Op::FreeWorkspace, [a, b, c]) => {
                (*a == DType::INT32 && *b == DType::INT32 && c.is_handle(), "two int32 and a handle")
            }
            (Op::ThrowLastError, []) => (true, ""),
            (Op::StorageSync, [_]) => {
                let scope = match &args[0].kind {
                    ExprKind::Str(scope) => BARRIERS.contains(&&**scope),
                    _ => false,
                };
                (scope, "one of \"shared\", \"shared.dyn\", \"warp\", \"global\"")
            }
            _ => packed_op(expr, op, args),
        };
        if !fits {
            let found: Vec<String> = types.iter().map(DType::to_string).collect();
            let text = format!("{} takes {wanted}; found {}", op.name(), found.join(", "));
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

    /// The body of a parallel launch names a function of the module that runs a task.
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
            /// Names that a message lists: of more, nobody reads all.
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
