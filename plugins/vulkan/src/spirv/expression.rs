//! Expressions: dispatch of nodes to the parts that write them.

use std::collections::HashMap;

use chipdock_ir::analysis::is_pure;
use chipdock_ir::{Callee, DType, Effect, Expr, ExprKind, Op as IrOp, Var, limits};
use rspirv::spirv::Op;

use super::value::{Value, is_known, register};
use super::writer::Writer;

impl<'a> Writer<'a> {
    /// Writes an expression into the current block and returns its value; may begin new blocks.
    pub(super) fn value(&mut self, e: &'a Expr) -> Value {
        if self.depth > limits::DEPTH_MAX {
            return self.refuse(e, format!("expressions nested deeper than {} levels", limits::DEPTH_MAX));
        }
        let key = (e.address(), false);
        if let Some(known) = self.recall(key) {
            if writes(e) {
                return self.refuse(e, "one call that changes something stands twice in a statement");
            }
            return known;
        }
        if let Some(why) = self.no_type(e.dtype) {
            return self.refuse(e, why);
        }
        let is_effect = writes(e);
        let before = self.effects;
        self.depth += 1;
        let value = self.node(e);
        self.depth -= 1;
        if value.dtype != e.dtype {
            return self.refuse(e, format!("a value of type {}, stated as {}", value.dtype, e.dtype));
        }
        if is_effect {
            // Earlier loads may be stale.
            self.effects += 1;
            self.known.iter_mut().for_each(HashMap::clear);
            self.remember(key, &value);
        } else if self.effects == before {
            self.remember(key, &value);
        }
        value
    }

    /// The reason why there are no values of a type, if there is one.
    pub(super) fn no_type(&self, dtype: DType) -> Option<String> {
        let has = match (dtype.scalar(), self.environment) {
            (DType::INT64 | DType::UINT64, environment) => environment.has_int64,
            (DType::FLOAT64, environment) => environment.has_float64,
            (DType::FLOAT16, environment) => environment.has_float16,
            _ => true,
        };
        let is_handle = dtype == DType::HANDLE;
        let is_type = is_known(dtype) && (1..=limits::LANES_MAX).contains(&dtype.lanes);
        match (has, is_handle || is_type) {
            (true, true) => None,
            (false, _) => Some(format!(
                "has no {}: the option supports_{} is not set",
                dtype.scalar(),
                dtype.scalar().to_string().replace("uint", "int")
            )),
            _ => Some(format!("has no type {dtype}")),
        }
    }

    fn node(&mut self, e: &'a Expr) -> Value {
        match &e.kind {
            ExprKind::Var(var) => self.variable(e, var),
            ExprKind::Int(value) if e.dtype.integer_range().is_some() => self.integer(*value, e.dtype),
            ExprKind::Float(value) if e.dtype.is_float() => {
                let lane = self.lane_of_float(value.value(), e.dtype);
                Value { dtype: e.dtype, lanes: vec![lane; e.dtype.lanes.into()] }
            }
            ExprKind::Int(_) | ExprKind::Float(_) => self.refuse(e, "a constant of another type"),
            ExprKind::Str(_) => self.refuse(e, "a string is no value"),
            ExprKind::ConstantData(_) => self.refuse(e, "the bytes of a constant are no value"),
            ExprKind::Cast(value) => {
                let value = self.value(value);
                if value.dtype.lanes != e.dtype.lanes {
                    return self.refuse(e, format!("casts {} to {}", value.dtype, e.dtype));
                }
                self.cast(&value, e.dtype)
            }
            ExprKind::Binary(op, a, b) => self.binary(e, *op, a, b),
            ExprKind::Compare(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                if !self.has_type(e, b.dtype, a.dtype)
                    || !self.has_type(e, e.dtype, DType::BOOL.with_lanes(a.dtype.lanes))
                {
                    return self.placeholder(e.dtype);
                }
                self.compare(*op, &a, &b)
            }
            ExprKind::And(a, b) => self.connective(e, a, b, true),
            ExprKind::Or(a, b) => self.connective(e, a, b, false),
            ExprKind::Not(value) => {
                let value = self.value(value);
                if !self.has_type(e, value.dtype, DType::BOOL.with_lanes(e.dtype.lanes)) {
                    return self.placeholder(e.dtype);
                }
                self.map(e.dtype, &value, |w, lane| w.out.op(Op::LogicalNot, register(DType::BOOL), &[lane]))
            }
            ExprKind::Select(condition, then, otherwise) => self.selection(e, condition, then, otherwise),
            ExprKind::Load { buffer, indices, predicate } => {
                self.load(e, buffer, indices, predicate.as_ref())
            }
            ExprKind::Ramp { base, stride, lanes } => self.ramp(e, base, stride, *lanes),
            ExprKind::Broadcast { value, lanes } => {
                let value = self.value(value);
                if !value.dtype.is_scalar() {
                    return self.refuse(e, format!("broadcasts {}", value.dtype));
                }
                let dtype = value.dtype.with_lanes(*lanes);
                Value { dtype, lanes: vec![value.first(); (*lanes).into()] }
            }
            ExprKind::Shuffle { vectors, indices } => self.shuffle(e, vectors, indices),
            ExprKind::Let { var, value, body } => self.let_in(var, value, body),
            ExprKind::Call { callee, args } => match callee {
                Callee::Op(op) => self.op(e, *op, args),
                Callee::Global(name) => self.call_function(e, name, args),
                Callee::Extern { name, .. } => self.call_extern(e, name, args),
            },
        }
    }

    fn variable(&mut self, e: &'a Expr, var: &Var) -> Value {
        match self.vars.get(&var.address()) {
            Some(value) => value.clone(),
            None if var.dtype.is_handle() => self.refuse(
                e,
                format!("pointers are no values here ({}); pass the buffer and an index", var.name),
            ),
            None => self.refuse(e, format!("variable {} is not bound here", var.name)),
        }
    }

    fn ramp(&mut self, e: &'a Expr, base: &'a Expr, stride: &'a Expr, lanes: u16) -> Value {
        let (base, stride) = (self.value(base), self.value(stride));
        let dtype = base.dtype.with_lanes(lanes);
        if !base.dtype.is_scalar() || stride.dtype != base.dtype || !base.dtype.is_integer() {
            return self.refuse(e, format!("a ramp of {} and {}", base.dtype, stride.dtype));
        }
        let of = register(base.dtype);
        let mut all = Vec::with_capacity(lanes.into());
        for lane in 0..lanes {
            let number = self.lane_of_integer(lane.into(), base.dtype);
            let offset = self.out.op(Op::IMul, of, &[stride.first(), number]);
            let sum = self.out.op(Op::IAdd, of, &[base.first(), offset]);
            all.push(self.wrapped(sum, base.dtype));
        }
        Value { dtype, lanes: all }
    }

    fn shuffle(&mut self, e: &'a Expr, vectors: &'a [Expr], indices: &[u16]) -> Value {
        let mut all = Vec::new();
        for vector in vectors {
            let value = self.value(vector);
            if value.dtype.scalar() != e.dtype.scalar() {
                return self.refuse(e, format!("shuffles {} into {}", value.dtype, e.dtype));
            }
            all.extend(value.lanes);
        }
        let lanes: Option<Vec<u32>> =
            indices.iter().map(|index| all.get(usize::from(*index)).copied()).collect();
        match (lanes, u16::try_from(indices.len())) {
            (Some(lanes), Ok(count)) => Value { dtype: e.dtype.with_lanes(count), lanes },
            _ => self.refuse(e, "selects a lane that there is not"),
        }
    }

    /// Evaluates a body in which a variable is bound to a value.
    fn let_in(&mut self, var: &'a Var, value: &'a Expr, body: &'a Expr) -> Value {
        if self.usage.uses(var.address()) || !is_pure(value) {
            let range = self.range(value);
            let bound = self.value(value);
            if self.vars.get(&var.address()).is_some_and(|before| *before != bound) {
                // The variable is bound again, to another value: nodes that depend on it must be
                // written anew.
                self.known.iter_mut().for_each(HashMap::clear);
            }
            if self.diagnostics.is_empty() && self.positions.contains(value) {
                self.positions.bind(var);
            }
            self.know(var, bound);
            self.bind_range(var, range);
        }
        self.value(body)
    }

    /// Evaluates the arguments of a call and checks their types.
    fn call_function(&mut self, e: &'a Expr, name: &str, args: &'a [Expr]) -> Value {
        let Some(callable) = self.callable.get(name).cloned() else {
            return self.refuse(e, format!("has no function {name} to call"));
        };
        let ret = callable.ret.unwrap_or(DType::HANDLE);
        if args.len() != callable.params.len() || ret != e.dtype {
            return self.refuse(e, format!("function {name} has another signature"));
        }
        let mut operands = vec![super::emitter::id(callable.id)];
        for (arg, expected) in args.iter().zip(&callable.params) {
            let value = self.value(arg);
            if !self.has_type(e, value.dtype, *expected) {
                return self.placeholder(e.dtype);
            }
            operands.extend(value.lanes.iter().copied().map(super::emitter::id));
        }
        let result = self.out.compute(Op::FunctionCall, callable.result, operands);
        let Some(ret) = callable.ret else {
            return Value { dtype: DType::HANDLE, lanes: vec![result] };
        };
        if ret.is_scalar() {
            return Value::one(ret, result);
        }
        let of = self.out.type_of(register(ret));
        let lanes = (0..u32::from(ret.lanes)).map(|lane| {
            let operands = vec![super::emitter::id(result), rspirv::dr::Operand::LiteralBit32(lane)];
            self.out.compute(Op::CompositeExtract, of, operands)
        });
        Value { dtype: ret, lanes: lanes.collect() }
    }

    /// A call of a C function that is an op under another name: no other is there to call.
    fn call_extern(&mut self, e: &'a Expr, name: &str, args: &'a [Expr]) -> Value {
        match IrOp::of_c_function(name).filter(|op| op.takes_count(args.len())) {
            Some(op) => self.op(e, op, args),
            None => self.refuse(e, format!("has no C function {name}")),
        }
    }
}

/// Returns true for a call with an effect.
fn writes(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call { callee: Callee::Op(op), .. } => op.effect() == Effect::Writes,
        ExprKind::Call { callee: Callee::Extern { pure, .. }, .. } => !pure,
        ExprKind::Call { callee: Callee::Global(_), .. } => true,
        _ => false,
    }
}

/// Returns true for an op that ends the thread.
pub(super) fn ends_thread(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Call { callee: Callee::Op(IrOp::ThreadReturn), .. })
}
