//! Prints expressions, with no more brackets than Python needs.

use std::fmt::Write;

use super::Printer;
use super::literal::quoted;
use crate::op::Form;
use crate::{BinaryOp, Buffer, Callee, CompareOp, DType, Expr, ExprKind, Op};

/// Precedence of Python's operators.
mod binds {
    pub(super) const ANY: u8 = 0;
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const NOT: u8 = 3;
    pub(super) const COMPARE: u8 = 4;
    pub(super) const BIT_OR: u8 = 5;
    pub(super) const BIT_XOR: u8 = 6;
    pub(super) const BIT_AND: u8 = 7;
    pub(super) const SHIFT: u8 = 8;
    pub(super) const SUM: u8 = 9;
    pub(super) const TERM: u8 = 10;
}

/// The parts of an infix expression.
struct Infix<'a> {
    text: &'static str,
    /// Name of the call that replaces the operator between two constants.
    call: &'static str,
    binds: u8,
    left: &'a Expr,
    right: &'a Expr,
}

fn infix(expr: &Expr) -> Option<Infix<'_>> {
    let (text, call, binds, left, right) = match &expr.kind {
        ExprKind::Binary(op, a, b) => {
            let (text, call, binds) = match op {
                BinaryOp::Add => (" + ", "Add", binds::SUM),
                BinaryOp::Sub => (" - ", "Sub", binds::SUM),
                BinaryOp::Mul => (" * ", "Mul", binds::TERM),
                BinaryOp::Div if expr.dtype.is_float() => (" / ", "Div", binds::TERM),
                BinaryOp::FloorDiv => (" // ", "FloorDiv", binds::TERM),
                BinaryOp::FloorMod => (" % ", "FloorMod", binds::TERM),
                BinaryOp::Div | BinaryOp::Mod | BinaryOp::Min | BinaryOp::Max => return None,
            };
            (text, call, binds, a, b)
        }
        ExprKind::Compare(op, a, b) => {
            let (text, call) = match op {
                CompareOp::Eq => (" == ", "EQ"),
                CompareOp::Ne => (" != ", "NE"),
                CompareOp::Lt => (" < ", "LT"),
                CompareOp::Le => (" <= ", "LE"),
                CompareOp::Gt => (" > ", "GT"),
                CompareOp::Ge => (" >= ", "GE"),
            };
            (text, call, binds::COMPARE, a, b)
        }
        ExprKind::And(a, b) => (" and ", "And", binds::AND, a, b),
        ExprKind::Or(a, b) => (" or ", "Or", binds::OR, a, b),
        ExprKind::Call { callee: Callee::Op(op), args } if args.len() == 2 => {
            let Form::Infix(operator) = op.info().form else { return None };
            let (text, binds) = match operator {
                "&" => (" & ", binds::BIT_AND),
                "|" => (" | ", binds::BIT_OR),
                "^" => (" ^ ", binds::BIT_XOR),
                "<<" => (" << ", binds::SHIFT),
                ">>" => (" >> ", binds::SHIFT),
                _ => return None,
            };
            (text, op.name(), binds, &args[0], &args[1])
        }
        _ => return None,
    };
    Some(Infix { text, call, binds, left, right })
}

/// Returns the namespace in which TVM has the op, for a call that TVM cannot read as `T.<name>(…)`,
/// because it has no such function or one of another result type.
fn namespace(op: Op, dtype: DType) -> Option<&'static str> {
    match op.info().form {
        Form::FullName => Some("tirx"),
        Form::FullNameUnlessInt32 if dtype != DType::INT32 => Some("tirx"),
        Form::FullNameOfHandles if dtype.is_handle() => Some("prim"),
        _ => None,
    }
}

/// Returns the type as a call states it.
fn type_of_call(dtype: DType) -> String {
    if dtype.is_handle() { "T.handle().ty".to_owned() } else { format!("\"{dtype}\"") }
}

/// Returns true for a call that states its type.
pub(super) fn says_type(expr: &Expr) -> bool {
    let ExprKind::Call { callee, .. } = &expr.kind else { return false };
    match callee {
        Callee::Op(op) => op.info().form.type_place(0).is_some(),
        Callee::Extern { .. } => true,
        Callee::Global(_) => false,
    }
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int(_) | ExprKind::Float(_))
}

impl Printer {
    pub(super) fn expr(&mut self, expr: &Expr) {
        self.expr_in(expr, binds::ANY);
    }

    /// Prints an expression, in brackets if its operator binds less tightly than `around`.
    fn expr_in(&mut self, expr: &Expr, around: u8) {
        self.deeper(|p| p.expr_inner(expr, around));
    }

    fn expr_inner(&mut self, expr: &Expr, around: u8) {
        if let Some(infix) = infix(expr) {
            // `and` of vectors reads as `&`.
            let is_vector_logic =
                matches!(expr.kind, ExprKind::And(..) | ExprKind::Or(..)) && !expr.dtype.is_scalar();
            if is_vector_logic || is_constant(infix.left) && is_constant(infix.right) {
                let _ = write!(self.out, "T.{}", infix.call);
                self.args([infix.left, infix.right]);
                return;
            }
            // A comparison in a comparison would read as a chain.
            let left = if infix.binds == binds::COMPARE { binds::COMPARE + 1 } else { infix.binds };
            self.bracket(infix.binds < around, |p| {
                p.expr_in(infix.left, left);
                p.out.push_str(infix.text);
                p.expr_in(infix.right, infix.binds + 1);
            });
            return;
        }
        match &expr.kind {
            ExprKind::Not(value) if is_constant(value) => self.call("Not", [value]),
            ExprKind::Not(value) => self.bracket(binds::NOT < around, |p| {
                p.out.push_str("not ");
                p.expr_in(value, binds::NOT);
            }),
            _ => self.primary(expr),
        }
    }

    fn bracket(&mut self, needed: bool, inner: impl FnOnce(&mut Self)) {
        if needed {
            self.out.push('(');
        }
        inner(self);
        if needed {
            self.out.push(')');
        }
    }

    fn primary(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Var(var) => {
                let name = self.names.var(var);
                self.out.push_str(&name);
            }
            ExprKind::Int(value) => self.int(*value, expr.dtype),
            ExprKind::Float(bits) => self.float(bits.value(), expr.dtype),
            ExprKind::Str(text) => self.out.push_str(&quoted(text)),
            ExprKind::ConstantData(data) => self.constant_data(data),
            ExprKind::Cast(value) => {
                let _ = write!(self.out, "T.Cast(\"{}\", ", expr.dtype);
                self.expr(value);
                self.out.push(')');
            }
            ExprKind::Binary(op, a, b) => {
                let name = match op {
                    BinaryOp::Min => "min",
                    BinaryOp::Max => "max",
                    BinaryOp::Mod => "truncmod",
                    BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::Div
                    | BinaryOp::FloorDiv
                    | BinaryOp::FloorMod => "truncdiv",
                };
                self.call(name, [a, b]);
            }
            ExprKind::Select(a, b, c) => self.call("Select", [a, b, c]),
            ExprKind::Load { buffer, indices, predicate } => {
                self.load(buffer, indices, predicate.as_ref(), expr.dtype);
            }
            ExprKind::Ramp { base, stride, lanes } => {
                self.out.push_str("T.Ramp(");
                self.list([base, stride], Self::expr);
                let _ = write!(self.out, ", {lanes})");
            }
            ExprKind::Broadcast { value, lanes } => {
                self.out.push_str("T.Broadcast(");
                self.expr(value);
                let _ = write!(self.out, ", {lanes})");
            }
            ExprKind::Shuffle { vectors, indices } => {
                self.out.push_str("T.Shuffle([");
                self.list(vectors, Self::expr);
                let _ = write!(self.out, "], {indices:?})");
            }
            ExprKind::Let { var, value, body } => self.let_in(var, value, body),
            ExprKind::Call { callee, args } => self.call_of(callee, args, expr.dtype),
            // Operators are printed above.
            ExprKind::Compare(..) | ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Not(_) => {}
        }
    }

    fn let_in(&mut self, var: &crate::Var, value: &Expr, body: &Expr) {
        // Declared at the top of a function; in a fragment, named here.
        let name = self.names.var(var);
        self.out.push_str("T.Let(");
        self.expr(body);
        let _ = write!(self.out, ", where={{{name}: ");
        self.expr(value);
        self.out.push_str("})");
    }

    fn load(&mut self, buffer: &Buffer, indices: &[Expr], predicate: Option<&Expr>, dtype: DType) {
        let name = self.names.buffer(buffer);
        match predicate {
            None => {
                self.out.push_str(&name);
                self.indices(indices);
            }
            Some(predicate) => {
                let _ = write!(self.out, "T.masked_load(\"{dtype}\", {name}");
                self.more_args(indices.iter().chain([predicate]));
            }
        }
    }

    fn indices(&mut self, indices: &[Expr]) {
        self.out.push('[');
        if indices.is_empty() {
            self.out.push_str("()");
        }
        self.list(indices, Self::expr);
        self.out.push(']');
    }

    fn call<'e>(&mut self, name: &str, args: impl IntoIterator<Item = &'e Expr>) {
        let _ = write!(self.out, "T.{name}");
        self.args(args);
    }

    fn args<'e>(&mut self, args: impl IntoIterator<Item = &'e Expr>) {
        self.out.push('(');
        self.list(args, Self::expr);
        self.out.push(')');
    }

    fn call_of(&mut self, callee: &Callee, args: &[Expr], dtype: DType) {
        let typed = self.typed.take().unwrap_or_else(|| type_of_call(dtype));
        match callee {
            Callee::Op(op) => self.call_op(*op, args, dtype, &typed),
            Callee::Global(name) => {
                let _ = write!(self.out, "Module.{}", super::names::identifier(name));
                self.args(args);
            }
            Callee::Extern { name, pure } => {
                let call = if *pure { "call_pure_extern" } else { "call_extern" };
                let _ = write!(self.out, "T.{call}({typed}, {}", quoted(name));
                self.more_args(args);
            }
        }
    }

    fn call_op(&mut self, op: Op, args: &[Expr], dtype: DType, typed: &str) {
        let name = op.name();
        if let Some(space) = namespace(op, dtype) {
            let _ = write!(self.out, "T.call_intrin({typed}, \"{space}.{name}\"");
            return self.more_args(args);
        }
        match (op.info().form, args) {
            (Form::TypeFirst, _) => {
                let _ = write!(self.out, "T.{name}({typed}");
                self.more_args(args);
            }
            (Form::TypeLast, _) => {
                let _ = write!(self.out, "T.{name}(");
                self.list(args, Self::expr);
                let _ = write!(self.out, "{}{typed})", if args.is_empty() { "" } else { ", " });
            }
            (Form::TypeAnnotation, [zero, rest @ ..]) => {
                let _ = write!(self.out, "T.{name}(T.type_annotation(\"{}\")", zero.dtype);
                self.more_args(rest);
            }
            // TVM takes the argument as it is, and a number of Python has no type there.
            (Form::TypedConstant, [value, ..]) if dtype == DType::INT32 => match value.as_int() {
                Some(value) => {
                    let _ = write!(self.out, "T.{name}(T.int32({value}))");
                }
                None => self.call(name, args),
            },
            _ => self.call(name, args),
        }
    }

    fn more_args<'e>(&mut self, args: impl IntoIterator<Item = &'e Expr>) {
        for arg in args {
            self.out.push_str(", ");
            self.expr(arg);
        }
        self.out.push(')');
    }
}
