//! Expressions: the parts that the IR's semantics fix for every dialect.

use chipdock_ir::analysis::{holds, is_pure};
use chipdock_ir::{BinaryOp, Callee, CompareOp, DType, Effect, Expr, ExprKind, Op, Var};

use crate::function::data_of;
use crate::ops::{scalar_op, unsigned_of};
use crate::text::Lines;
use crate::views::is_viewed;
use crate::writer::{Named, Writer};
use crate::{Answer, Argument, Code, Infix, OpCall, Overflow, Precedence, Vector};

impl<'a> Writer<'a> {
    /// Writes an expression and returns its value. May write statements before the current one.
    pub(crate) fn value(&mut self, e: &'a Expr) -> Code {
        if self.depth > crate::DEPTH_MAX {
            self.refuse(e, format!("expressions nested deeper than {} levels", crate::DEPTH_MAX));
            return Code::primary("0");
        }
        self.depth += 1;
        let names_constants = self.names_constants;
        self.names_constants |= self.dialect.checks_constants() && is_constant_computation(e);
        let code = if self.sharing.is_shared(e) || self.loaded.contains(&e.address()) {
            match self.shared_name((e.address(), false)) {
                Some(name) => name,
                None => {
                    let code = self.node(e);
                    let name = self.bind_temporary("t", e, code);
                    self.share((e.address(), false), &name);
                    name
                }
            }
        } else {
            self.node(e)
        };
        self.names_constants = names_constants;
        self.depth -= 1;
        code
    }

    pub(crate) fn shared_name(&self, key: (usize, bool)) -> Option<Code> {
        self.shared.iter().rev().find_map(|scope| scope.get(&key)).cloned()
    }

    pub(crate) fn share(&mut self, key: (usize, bool), name: &Code) {
        if let Some(scope) = self.shared.last_mut() {
            scope.insert(key, name.clone());
        }
    }

    /// Declares a constant that holds the value of `e`, written as `code`.
    pub(crate) fn bind_temporary(&mut self, hint: &str, e: &Expr, code: Code) -> Code {
        let code = self.settle(e, code);
        let name = self.declare(hint);
        let answer = if e.dtype.is_handle() {
            self.dialect
                .pointer_type(None, &mut self.prelude)
                .map(|t| self.dialect.variable(&t, &name, Some(&code)))
        } else {
            self.dialect
                .value_type(e.dtype, &mut self.prelude)
                .map(|t| self.dialect.constant(&t, &name, &code))
        };
        match answer {
            Ok(line) => self.text.line(line),
            Err(refusal) => self.refuse(e, refusal.0),
        }
        Code::primary(name)
    }

    /// Converts the value to the representation that variables have.
    pub(crate) fn settle(&mut self, e: &Expr, code: Code) -> Code {
        if code.form == 0 {
            return code;
        }
        let answer = self.dialect.vector(Vector::Settle(code), e.dtype, &mut self.prelude);
        self.expect(e, answer)
    }

    /// Writes an expression and converts its value to the representation that variables have.
    pub(crate) fn settled(&mut self, e: &'a Expr) -> Code {
        let code = self.value(e);
        self.settle(e, code)
    }

    pub(crate) fn node(&mut self, e: &'a Expr) -> Code {
        match &e.kind {
            ExprKind::Var(var) => self.variable(e, var),
            ExprKind::Int(value) => {
                let answer = self.dialect.integer(*value, e.dtype);
                self.constant(e, answer)
            }
            ExprKind::Float(value) => {
                let answer = self.dialect.float(value.value(), e.dtype, &mut self.prelude);
                self.constant(e, answer)
            }
            ExprKind::Str(_) => {
                self.refuse(e, "a string is no value");
                Code::primary("0")
            }
            ExprKind::ConstantData(_) => {
                self.refuse(e, "the bytes of a constant are no value");
                Code::primary("0")
            }
            ExprKind::Load { buffer, indices, predicate } => {
                self.note_load(predicate.is_some());
                match self.access(e.span, buffer, indices, predicate.as_ref(), e.dtype) {
                    Ok(access) => {
                        let answer = self.dialect.load(&access, &mut self.prelude);
                        self.expect(e, answer)
                    }
                    Err(refusal) => self.expect(e, Err(refusal)),
                }
            }
            ExprKind::Let { var, value, body } => {
                self.bind(var, value);
                self.value(body)
            }
            ExprKind::Call { callee, args } => self.call(e, callee, args),
            ExprKind::Shuffle { vectors, indices } => {
                let vectors: Vec<(Code, DType)> =
                    vectors.iter().map(|v| (self.settled(v), v.dtype)).collect();
                self.vector(e, Vector::Shuffle(&vectors, indices))
            }
            _ if !e.dtype.is_scalar() => self.vector_node(e),
            ExprKind::Cast(value) => {
                let code = self.value(value);
                let is_within = self.ranges.truncates_into(value, e.dtype);
                let (from, to, prelude) = (value.dtype, e.dtype, &mut self.prelude);
                let answer = if is_within {
                    self.dialect.cast_within(&code, from, to, prelude)
                } else {
                    self.dialect.cast(&code, from, to, prelude)
                };
                self.expect(e, answer)
            }
            ExprKind::Binary(op, a, b) => self.binary(e, *op, a, b),
            ExprKind::Compare(op, a, b) => self.compare(e, *op, a, b),
            ExprKind::And(a, b) => self.short_circuit(e, a, b, true),
            ExprKind::Or(a, b) => self.short_circuit(e, a, b, false),
            ExprKind::Not(value) => Code::not(&self.value(value)),
            ExprKind::Select(condition, then, otherwise) => {
                let condition = self.value(condition);
                self.load_before_condition(then, true);
                self.load_before_condition(otherwise, true);
                let (then, otherwise) = (self.value(then), self.value(otherwise));
                self.dialect.choice(&condition, &then, &otherwise)
            }
            ExprKind::Ramp { .. } | ExprKind::Broadcast { .. } => {
                self.refuse(e, "a vector of one lane");
                Code::primary("0")
            }
        }
    }

    /// A constant, or the name of a variable for it if the compiler would evaluate and check
    /// constant computations.
    fn constant(&mut self, e: &Expr, answer: Answer<Code>) -> Code {
        let code = self.expect(e, answer);
        if self.names_constants { self.bind_temporary("k", e, code) } else { code }
    }

    fn variable(&mut self, e: &Expr, var: &Var) -> Code {
        if let Some(known) = self.vars.get(&var.address()) {
            return known.code.clone();
        }
        self.refuse(e, format!("variable {} is not bound here", var.name));
        Code::primary("0")
    }

    /// Declares a variable of the IR, unless it is never read and its value has no effect.
    pub(crate) fn bind(&mut self, var: &'a Var, value: &'a Expr) {
        if !self.usage.uses(var.address()) && is_pure(value) {
            return;
        }
        let known = self.ranges.known(value);
        let is_position = self.positions.contains(value);
        let code = self.value(value);
        let code = self.settle(value, code);
        if !self.usage.uses(var.address()) {
            let line = self.dialect.discard(&code, value.dtype);
            self.text.line(line);
            return;
        }
        let name = self.declare(&var.name);
        let answer = if var.dtype.is_handle() {
            let code = self.pointer_as(value, code, var.pointer.as_ref());
            let pointer = self.dialect.pointer_type(var.pointer.as_ref(), &mut self.prelude);
            pointer.map(|pointer| self.dialect.variable(&pointer, &name, Some(&code)))
        } else {
            let value_type = self.dialect.value_type(var.dtype, &mut self.prelude);
            value_type.map(|value_type| self.dialect.constant(&value_type, &name, &code))
        };
        match answer {
            Ok(line) => self.text.line(line),
            Err(refusal) => self.refuse(value, refusal.0),
        }
        self.know(var, Code::primary(name));
        if is_viewed(value, var.pointer.as_ref()) {
            self.view(var);
        }
        self.ranges.learn(var, known);
        if is_position {
            self.positions.bind(var);
        }
    }

    /// Writes a value, and returns the statements that must run before it separately.
    pub(crate) fn lazily(&mut self, e: &'a Expr) -> (Lines, Code) {
        let mark = self.text.mark();
        self.shared.push(Default::default());
        self.conditions += 1;
        let code = self.settled(e);
        self.conditions -= 1;
        self.shared.pop();
        (self.text.take_from(mark), code)
    }

    fn short_circuit(&mut self, e: &'a Expr, a: &'a Expr, b: &'a Expr, is_and: bool) -> Code {
        let left = self.value(a);
        self.load_before_condition(b, false);
        let (lines, right) = self.lazily(b);
        if lines.is_empty() {
            return Code::infix(if is_and { Infix::And } else { Infix::Or }, &left, &right);
        }
        let name = self.declare("c");
        let declared = self.declare_variable(e, &name, Some(&left));
        let condition = if is_and { declared.clone() } else { Code::not(&declared) };
        self.text.open(&format!("if ({})", condition.text));
        self.text.put(lines);
        self.text.line(format!("{name} = {};", right.text));
        self.text.close("");
        declared
    }

    fn declare_variable(&mut self, e: &Expr, name: &str, value: Option<&Code>) -> Code {
        let value_type = if e.dtype.is_handle() {
            self.dialect.pointer_type(None, &mut self.prelude)
        } else {
            self.dialect.value_type(e.dtype, &mut self.prelude)
        };
        match value_type {
            Ok(value_type) => {
                let line = self.dialect.variable(&value_type, name, value);
                self.text.line(line);
            }
            Err(refusal) => self.refuse(e, refusal.0),
        }
        Code::primary(name)
    }

    fn if_then_else(&mut self, e: &'a Expr, args: &'a [Expr]) -> Code {
        let [condition, then, otherwise] = args else {
            return self.wrong_arguments(e, 3, args.len());
        };
        let condition = self.value(condition);
        self.load_before_condition(then, false);
        self.load_before_condition(otherwise, false);
        let (then_lines, then) = self.lazily(then);
        let (else_lines, otherwise) = self.lazily(otherwise);
        if then_lines.is_empty()
            && else_lines.is_empty()
            && e.dtype.is_scalar()
            && let Some(code) = self.dialect.lazy_choice(&condition, &then, &otherwise)
        {
            return code;
        }
        let name = self.declare("c");
        let declared = self.declare_variable(e, &name, None);
        self.text.open(&format!("if ({})", condition.text));
        self.text.put(then_lines);
        self.text.line(format!("{name} = {};", then.text));
        self.text.reopen("else");
        self.text.put(else_lines);
        self.text.line(format!("{name} = {};", otherwise.text));
        self.text.close("");
        declared
    }

    // -- integers ---------------------------------------------------------------------------------

    fn binary(&mut self, e: &'a Expr, op: BinaryOp, a: &'a Expr, b: &'a Expr) -> Code {
        match (op, Infix::of(op)) {
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Some(infix)) if e.dtype.is_integer() => {
                let wide_unsigned = e.dtype.is_uint() && e.dtype.bits >= 32;
                let wraps = self.dialect.overflow() == Overflow::Wraps && e.dtype.bits >= 32;
                if wraps || wide_unsigned || self.ranges.is_exact(e) {
                    let (a, b) = (self.value(a), self.value(b));
                    return Code::infix(infix, &a, &b);
                }
                let bits = self.bits(e);
                let answer = self.dialect.cast_bits(&bits, e.dtype, &mut self.prelude);
                self.expect(e, answer)
            }
            (BinaryOp::Div, _) if e.dtype.is_float() => {
                let (a, b) = (self.value(a), self.value(b));
                let answer = self.dialect.quotient(&a, &b, e.dtype, &mut self.prelude);
                self.expect(e, answer)
            }
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Some(infix)) if e.dtype.is_float() => {
                let (a, b) = (self.value(a), self.value(b));
                let answer = self.dialect.rounded(Code::infix(infix, &a, &b), e.dtype, &mut self.prelude);
                self.expect(e, answer)
            }
            (BinaryOp::Div | BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod, _)
                if e.dtype.is_integer() =>
            {
                self.division(e, op, a, b)
            }
            _ => {
                let (a, b) = (self.value(a), self.value(b));
                let answer = self.dialect.guarded(op, &a, &b, e.dtype, &mut self.prelude);
                self.expect(e, answer)
            }
        }
    }

    /// Division, without a guard if the operands' ranges show that none is needed.
    fn division(&mut self, e: &'a Expr, op: BinaryOp, a: &'a Expr, b: &'a Expr) -> Code {
        let is_quotient = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv);
        let (dividend, divisor) = (self.ranges.of(a), self.ranges.of(b));
        let truncates = matches!(op, BinaryOp::Div | BinaryOp::Mod);
        let is_plain = divisor.0 >= 1 && (truncates || dividend.0 >= 0) || truncates && divisor.1 <= -2;
        let (mut a, b) = (self.value(a), self.value(b));
        if is_plain {
            let is_least = e.dtype.integer_range().is_some_and(|(least, _)| dividend.0 <= least);
            if is_quotient && is_least && e.dtype.is_int() && e.dtype.bits >= 32 {
                a = self.dialect.hidden(&a, e.dtype, &mut self.prelude);
            }
            return Code::infix(if is_quotient { Infix::Div } else { Infix::Rem }, &a, &b);
        }
        let answer = self.dialect.guarded(op, &a, &b, e.dtype, &mut self.prelude);
        self.expect(e, answer)
    }

    /// The bits of an integer expression in the unsigned type of its width (at least 32), in which
    /// sums wrap.
    fn bits(&mut self, e: &'a Expr) -> Code {
        let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) = &e.kind else {
            return self.value(e);
        };
        self.depth += 1;
        let (left, right) = (self.bits_operand(a), self.bits_operand(b));
        self.depth -= 1;
        match Infix::of(*op) {
            Some(infix) => Code::infix(infix, &left, &right),
            None => left,
        }
    }

    fn bits_operand(&mut self, e: &'a Expr) -> Code {
        let unsigned = unsigned_of(e.dtype);
        if let ExprKind::Int(value) = &e.kind {
            let answer = self.dialect.integer(unsigned.wrap(*value), unsigned);
            return self.expect(e, answer);
        }
        let is_sum = matches!(&e.kind, ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..));
        let is_open = is_sum && !self.ranges.is_exact(e) && !self.sharing.is_shared(e);
        if is_open && self.depth <= crate::DEPTH_MAX {
            return self.bits(e);
        }
        let code = self.value(e);
        if e.dtype == unsigned {
            return code;
        }
        let answer = self.dialect.cast_bits(&code, unsigned, &mut self.prelude);
        self.expect(e, answer)
    }

    fn compare(&mut self, e: &'a Expr, op: CompareOp, a: &'a Expr, b: &'a Expr) -> Code {
        let (left, right) = (self.value(a), self.value(b));
        // Compilers warn about an integer that is compared with itself.
        if left.text == right.text && !a.dtype.is_float() {
            let answer = self
                .dialect
                .integer(matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge).into(), DType::BOOL);
            return self.expect(e, answer);
        }
        self.dialect.comparison(op, &left, &right, a.dtype, &mut self.prelude)
    }

    // -- indices ----------------------------------------------------------------------------------

    /// An index in elements. Sums and products of loop variables, parameters and constants are
    /// computed exactly, in the dialect's index type if 32 bits may not suffice; everything else as
    /// the IR defines.
    pub(crate) fn index(&mut self, e: &'a Expr) -> Code {
        let (code, _) = self.index_term(e);
        let narrow = self.dialect.index_type();
        // A language with narrow indices has only one type for them.
        if e.dtype.is_uint() && narrow.bits <= 32 {
            let answer = self.dialect.cast_bits(&code, narrow, &mut self.prelude);
            return self.expect(e, answer);
        }
        code
    }

    /// A vector of indices, and its type: the dialect's index type if the IR's is wider and 32 bits
    /// suffice, as for [`Self::index`].
    pub(crate) fn vector_index(&mut self, e: &'a Expr) -> (Code, DType) {
        let narrow = self.dialect.index_type();
        if e.dtype.bits <= narrow.bits {
            return (self.settled(e), e.dtype);
        }
        let dtype = narrow.with_lanes(e.dtype.lanes);
        if let Some(name) = self.shared_name((e.address(), true)) {
            return (name, dtype);
        }
        let vector = match &e.kind {
            ExprKind::Ramp { base, stride, .. } => Vector::Ramp(self.index(base), self.index(stride)),
            ExprKind::Broadcast { value, .. } => Vector::Broadcast(self.index(value)),
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b)
                if self.depth <= crate::DEPTH_MAX =>
            {
                self.depth += 1;
                let (a, b) = (self.vector_index(a).0, self.vector_index(b).0);
                self.depth -= 1;
                Vector::Binary(*op, a, b)
            }
            ExprKind::Cast(value) if value.dtype.is_integer() && value.dtype.bits <= narrow.bits => {
                let code = self.settled(value);
                Vector::Cast(code, value.dtype)
            }
            _ => return (self.settled(e), e.dtype),
        };
        let answer = self.dialect.vector(vector, dtype, &mut self.prelude);
        let code = self.expect(e, answer);
        let name = if self.sharing.is_shared(e) { self.named_index(e, dtype, &code) } else { code };
        (name, dtype)
    }

    /// Declares a name for an index that is used in several places.
    fn named_index(&mut self, e: &Expr, dtype: DType, code: &Code) -> Code {
        let name = self.declare("index");
        match self.dialect.value_type(dtype, &mut self.prelude) {
            Ok(value_type) => self.text.line(self.dialect.constant(&value_type, &name, code)),
            Err(refusal) => self.refuse(e, refusal.0),
        }
        let name = Code::primary(name);
        self.share((e.address(), true), &name);
        name
    }

    /// An index, and whether its text has the width of the index type.
    fn index_term(&mut self, e: &'a Expr) -> (Code, bool) {
        let wide_bits = self.dialect.index_type().bits;
        match &e.kind {
            ExprKind::Int(value) => {
                let least = if *value < 0 { Precedence::Unary } else { Precedence::Primary };
                if i32::try_from(*value).is_ok() {
                    return (Code::new(value.to_string(), least), false);
                }
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b)
                if e.dtype.is_int() && e.dtype.is_scalar() && self.depth <= crate::DEPTH_MAX =>
            {
                let is_exact = self.ranges.is_exact(e);
                if e.dtype.bits > wide_bits {
                    return self.exact_index(e, *op, a, b);
                }
                if is_exact && e.dtype.bits <= wide_bits || (self.positions.contains(e) && wide_bits > 32) {
                    return self.exact_index(e, *op, a, b);
                }
            }
            // In a narrow index type every index is computed in it: an index that stays within its
            // buffer is right modulo that width.
            ExprKind::Cast(value)
                if e.dtype.bits > wide_bits && value.dtype.is_int() && value.dtype.bits <= wide_bits =>
            {
                return self.index_term(value);
            }
            ExprKind::Cast(value)
                if e.dtype.bits > wide_bits && value.dtype.is_uint() && value.dtype.bits <= wide_bits =>
            {
                let code = self.value(value);
                let answer = self.dialect.cast_bits(&code, self.dialect.index_type(), &mut self.prelude);
                return (self.expect(e, answer), true);
            }
            ExprKind::Cast(value)
                if e.dtype.is_scalar()
                    && value.dtype.is_int()
                    && holds(e.dtype, value.dtype)
                    && self.positions.contains(value) =>
            {
                return self.index_term(value);
            }
            _ => {}
        }
        let code = self.value(e);
        if e.dtype.bits > wide_bits {
            let wide = self.dialect.index_type();
            let answer = self.dialect.cast_bits(&code, wide, &mut self.prelude);
            return (self.expect(e, answer), true);
        }
        (code, e.dtype.bits >= wide_bits)
    }

    fn exact_index(&mut self, e: &'a Expr, op: BinaryOp, a: &'a Expr, b: &'a Expr) -> (Code, bool) {
        if let Some(name) = self.shared_name((e.address(), true)) {
            return (name, true);
        }
        self.depth += 1;
        let (mut left, left_wide) = self.index_term(a);
        let (right, right_wide) = self.index_term(b);
        self.depth -= 1;
        let (low, high) = self.ranges.of(e);
        let fits = self.ranges.is_exact(e) && low >= i32::MIN.into() && high <= i32::MAX.into();
        let wide = self.dialect.index_type();
        if !fits && !left_wide && !right_wide {
            let answer = self.dialect.cast_bits(&left, wide, &mut self.prelude);
            left = self.expect(e, answer);
        }
        let code = match Infix::of(op) {
            Some(infix) => Code::infix(infix, &left, &right),
            None => left,
        };
        if !self.sharing.is_shared(e) {
            return (code, left_wide || right_wide || !fits);
        }
        (self.named_index(e, wide, &code), true)
    }

    // -- calls ------------------------------------------------------------------------------------

    fn wrong_arguments(&mut self, e: &Expr, expected: usize, found: usize) -> Code {
        self.refuse(e, format!("expected {expected} arguments, found {found}"));
        Code::primary("0")
    }

    fn call(&mut self, e: &'a Expr, callee: &'a Callee, args: &'a [Expr]) -> Code {
        let is_pure = match callee {
            Callee::Op(op) => op.effect() != Effect::Writes,
            Callee::Extern { pure, .. } => *pure,
            Callee::Global(_) => false,
        };
        let is_root = self.depth <= 1;
        let code = self.call_text(e, callee, args);
        // A call with an effect must be neither written twice nor moved.
        if is_pure || is_root { code } else { self.bind_temporary("r", e, code) }
    }

    fn call_text(&mut self, e: &'a Expr, callee: &'a Callee, args: &'a [Expr]) -> Code {
        match callee {
            Callee::Op(Op::IfThenElse) => self.if_then_else(e, args),
            Callee::Op(Op::Likely) if args.len() == 1 => {
                let code = self.value(&args[0]);
                // There are no branches on vectors.
                if e.dtype.is_scalar() { self.dialect.likely(&code) } else { code }
            }
            Callee::Op(Op::ThreadInvariant) if args.len() == 1 => self.value(&args[0]),
            Callee::Op(op) => self.op(e, *op, args),
            Callee::Global(name) => {
                let Some(Named { symbol, function }) = self.functions.get(name) else {
                    self.refuse(e, format!("the module has no function {name}"));
                    return Code::primary("0");
                };
                let args = args.iter().enumerate().map(|(position, arg)| {
                    let code = self.settled(arg);
                    let pointer =
                        function.params.get(position).and_then(|param| data_of(param).pointer.as_ref());
                    self.pointer_as(arg, code, pointer)
                });
                let args: Vec<Code> = args.collect();
                Code::call(symbol, &args)
            }
            Callee::Extern { name, .. } => {
                let mut values: Vec<(Code, DType)> = Vec::with_capacity(args.len());
                for arg in args {
                    let code = match &arg.kind {
                        ExprKind::Str(text) => {
                            let literal = self.dialect.text(text);
                            self.expect(arg, literal)
                        }
                        _ => self.settled(arg),
                    };
                    values.push((code, arg.dtype));
                }
                let args = values;
                let answer = self.dialect.call_extern(name, &args, e.dtype, &mut self.prelude);
                self.expect(e, answer)
            }
        }
    }

    fn op(&mut self, e: &'a Expr, op: Op, args: &'a [Expr]) -> Code {
        if op == Op::StorageSync {
            self.refuse(e, "a barrier is a statement, no value");
            return Code::primary("0");
        }
        if !op.takes_count(args.len()) {
            return self.wrong_arguments(e, op.arity(), args.len());
        }
        let mut arguments = Vec::with_capacity(args.len());
        for arg in args {
            if let Some(ExprKind::Load { buffer, indices, predicate }) = place_of(op, arg) {
                match self.access(arg.span, buffer, indices, predicate.as_ref(), buffer.dtype) {
                    Ok(access) => arguments.push(Argument::Address(access)),
                    Err(refusal) => return self.expect(arg, Err(refusal)),
                }
                continue;
            }
            arguments.push(match &arg.kind {
                ExprKind::Str(text) => Argument::Text(match e.called() {
                    Some(called) => self.functions.get(called).map_or(&**text, |named| &named.symbol),
                    None => text,
                }),
                _ => Argument::Value(self.value(arg), arg.dtype),
            });
        }
        let constants: Vec<Option<i128>> = args.iter().map(Expr::as_int).collect();
        let call = OpCall {
            op,
            args: &arguments,
            constants: &constants,
            dtype: e.dtype,
            function_ret: self.function.ret,
        };
        if let Some(answer) = self.dialect.op(&call, &mut self.prelude) {
            return self.expect(e, answer);
        }
        let Some(values) = values(&arguments) else {
            self.refuse(e, format!("{} does not take strings", op.name()));
            return Code::primary("0");
        };
        if e.dtype.is_scalar() {
            let answer = scalar_op(self.dialect, op, e.dtype, &values, &constants, &mut self.prelude);
            self.expect(e, answer)
        } else {
            self.vector(e, Vector::Op(op, &values))
        }
    }

    // -- vectors ----------------------------------------------------------------------------------

    fn vector(&mut self, e: &Expr, computation: Vector<'_>) -> Code {
        let answer = self.dialect.vector(computation, e.dtype, &mut self.prelude);
        self.expect(e, answer)
    }

    fn vector_node(&mut self, e: &'a Expr) -> Code {
        match &e.kind {
            ExprKind::Broadcast { value, .. } => {
                let value = self.value(value);
                self.vector(e, Vector::Broadcast(value))
            }
            ExprKind::Ramp { base, stride, .. } => {
                let (base, stride) = (self.value(base), self.value(stride));
                self.vector(e, Vector::Ramp(base, stride))
            }
            ExprKind::Cast(value) => {
                let code = self.value(value);
                self.vector(e, Vector::Cast(code, value.dtype))
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                self.vector(e, Vector::Binary(*op, a, b))
            }
            ExprKind::Compare(op, a, b) => {
                let operand = a.dtype;
                let (a, b) = (self.value(a), self.value(b));
                self.vector(e, Vector::Compare(*op, a, b, operand))
            }
            ExprKind::And(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                self.vector(e, Vector::And(a, b))
            }
            ExprKind::Or(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                self.vector(e, Vector::Or(a, b))
            }
            ExprKind::Not(value) => {
                let value = self.value(value);
                self.vector(e, Vector::Not(value))
            }
            ExprKind::Select(condition, then, otherwise) => {
                let is_scalar = condition.dtype.is_scalar();
                let lanes = e.dtype.lanes;
                let mut condition = self.value(condition);
                if is_scalar {
                    let dtype = DType::BOOL.with_lanes(lanes);
                    let answer = self.dialect.vector(Vector::Broadcast(condition), dtype, &mut self.prelude);
                    condition = self.expect(e, answer);
                }
                let (then, otherwise) = (self.value(then), self.value(otherwise));
                self.vector(e, Vector::Select(condition, then, otherwise))
            }
            ExprKind::Var(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::ConstantData(_)
            | ExprKind::Load { .. }
            | ExprKind::Shuffle { .. }
            | ExprKind::Let { .. }
            | ExprKind::Call { .. } => {
                self.refuse(e, "a constant of several lanes is a broadcast");
                Code::primary("0")
            }
        }
    }
}

fn values(arguments: &[Argument<'_>]) -> Option<Vec<(Code, DType)>> {
    arguments
        .iter()
        .map(|argument| match argument {
            Argument::Value(code, dtype) => Some((code.clone(), *dtype)),
            Argument::Text(_) | Argument::Address(_) => None,
        })
        .collect()
}

/// Returns the load whose address the argument is, if the op needs the place itself.
pub(crate) fn place_of(op: Op, arg: &Expr) -> Option<&ExprKind> {
    match (op, &arg.kind) {
        (Op::AddressOf, kind @ ExprKind::Load { .. }) => Some(kind),
        (Op::AtomicAdd, ExprKind::Call { callee: Callee::Op(Op::AddressOf), args }) => {
            match args.as_slice() {
                [load] => Some(&load.kind),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns true for a computation that contains only constants, or is too large to examine.
fn is_constant_computation(e: &Expr) -> bool {
    let is_leaf = match &e.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Str(_) => true,
        ExprKind::Broadcast { value, .. } => matches!(value.kind, ExprKind::Int(_) | ExprKind::Float(_)),
        _ => false,
    };
    let mut left = 256_usize;
    !is_leaf && has_constants_alone(e, &mut left)
}

fn has_constants_alone(e: &Expr, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    match &e.kind {
        _ if *left == 0 => return true,
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Str(_) => return true,
        ExprKind::Var(_) | ExprKind::Load { .. } | ExprKind::Let { .. } => return false,
        ExprKind::Call { callee: Callee::Op(op), .. } if op.effect() == Effect::Pure => {}
        ExprKind::Call { .. } => return false,
        _ => {}
    }
    let mut is_constant = true;
    e.for_each_child(&mut |child| is_constant = is_constant && has_constants_alone(child, left));
    is_constant
}
