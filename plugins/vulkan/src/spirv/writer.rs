//! State of the writer of one module.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::analysis::{Interval, Positions, Ranges, Usage};
use chipdock_ir::{DType, Diagnostic, Expr, PrimFunc, Span, Stmt, Var};
use rspirv::spirv::{Decoration, Op, Word};

use super::debug::Described;
use super::emitter::{Emitter, Type};
use super::environment::Environment;
use super::memory::{Memory, Uses};
use super::value::{Value, register};

/// Blocks to which `continue` and `break` jump.
pub(super) struct Targets {
    pub(super) next: Word,
    pub(super) done: Word,
}

/// A function that others call.
#[derive(Clone, Debug)]
pub(super) struct Callable {
    pub(super) id: Word,
    pub(super) params: Vec<DType>,
    pub(super) ret: Option<DType>,
    /// The type of its result in SPIR-V.
    pub(super) result: Word,
}

/// Writes functions one after the other.
pub(super) struct Writer<'a> {
    pub(super) environment: &'a Environment,
    pub(super) out: Emitter,
    pub(super) callable: HashMap<Arc<str>, Callable>,
    pub(super) diagnostics: Vec<Diagnostic>,
    reported: HashSet<(Arc<str>, String, String)>,
    /// The file of the lines, if lines are written.
    pub(super) file: Option<Word>,
    /// The description of the module, if there is debug information.
    pub(super) described: Option<Described>,
    // Of the current function:
    pub(super) function: &'a PrimFunc,
    pub(super) usage: Usage,
    pub(super) uses: Uses,
    pub(super) positions: Positions,
    ranges: Ranges,
    pub(super) vars: HashMap<usize, Value>,
    pub(super) memories: HashMap<usize, Memory>,
    pub(super) loops: Vec<Targets>,
    /// If there is dynamic shared memory: the number of its constant, and the size of its elements
    /// in bytes.
    pub(super) dynamic: Option<(u32, u32)>,
    /// Bytes of shared memory of constant size.
    pub(super) shared_bytes: u64,
    /// Bytes of memory of each thread.
    pub(super) local_bytes: u64,
    // Of the current statement:
    /// Values of nodes by address; the flag distinguishes an index from a value. A map for each
    /// condition around.
    pub(super) known: Vec<HashMap<(usize, bool), Value>>,
    /// Number of calls with an effect that were written.
    pub(super) effects: usize,
    pub(super) depth: usize,
    pub(super) levels: usize,
    pub(super) place: Span,
}

impl<'a> Writer<'a> {
    pub(super) fn new(environment: &'a Environment, function: &'a PrimFunc) -> Self {
        Self {
            environment,
            out: Emitter::new(),
            callable: HashMap::new(),
            diagnostics: Vec::new(),
            reported: HashSet::new(),
            file: None,
            described: None,
            function,
            usage: Usage::default(),
            uses: Uses::default(),
            positions: Positions::default(),
            ranges: Ranges::default(),
            vars: HashMap::new(),
            memories: HashMap::new(),
            loops: Vec::new(),
            dynamic: None,
            shared_bytes: 0,
            local_bytes: 0,
            known: vec![HashMap::new()],
            effects: 0,
            depth: 0,
            levels: 0,
            place: Span::NONE,
        }
    }

    /// Drops the state of the last function and begins another.
    pub(super) fn begin(&mut self, function: &'a PrimFunc) {
        self.function = function;
        self.usage = Usage::of(&function.body);
        self.uses = Uses::of(function);
        self.positions = Positions::default();
        self.ranges = Ranges::default();
        self.vars.clear();
        self.memories.clear();
        self.loops.clear();
        self.dynamic = None;
        self.shared_bytes = 0;
        self.local_bytes = 0;
        self.known = vec![HashMap::new()];
        self.depth = 0;
        self.levels = 0;
        self.place = Span::NONE;
    }

    pub(super) fn know(&mut self, var: &Var, value: Value) {
        self.describe_value(var, &value);
        self.vars.insert(var.address(), value);
    }

    // -- diagnostics ------------------------------------------------------------------------------

    /// Reports an unsupported node; each node and message once per function.
    pub(super) fn report(&mut self, span: Span, node: String, message: String) {
        let key = (Arc::clone(&self.function.name), node.clone(), message.clone());
        let span = if span == Span::NONE { self.place } else { span };
        if self.reported.insert(key) {
            let function = Arc::clone(&self.function.name);
            let message = format!("target vulkan: {message}");
            self.diagnostics.push(Diagnostic { function, span, node, message });
        }
    }

    /// Reports an unsupported expression and returns a placeholder: writing goes on, so that every
    /// refusal is found.
    pub(super) fn refuse(&mut self, e: &Expr, message: impl Into<String>) -> Value {
        self.report(e.span, chipdock_ir::print::expr_line(e), message.into());
        self.placeholder(e.dtype)
    }

    pub(super) fn refuse_stmt(&mut self, s: &Stmt, message: impl Into<String>) {
        self.report(s.span, chipdock_ir::print::stmt_line(s), message.into());
    }

    pub(super) fn placeholder(&mut self, dtype: DType) -> Value {
        let of = self.out.type_of(register(dtype));
        let lane = self.out.undefined(of);
        Value { dtype, lanes: vec![lane; dtype.lanes.into()] }
    }

    /// Returns true if an operand has the type that its node needs; refuses it otherwise.
    pub(super) fn has_type(&mut self, e: &Expr, operand: DType, expected: DType) -> bool {
        if operand != expected {
            self.refuse(e, format!("expected an operand of type {expected}, found {operand}"));
        }
        operand == expected
    }

    // -- ranges -----------------------------------------------------------------------------------

    /// The values that an integer can take. Nothing is known of what was not validated.
    pub(super) fn range(&mut self, e: &'a Expr) -> Interval {
        if self.diagnostics.is_empty() {
            return self.ranges.of(e);
        }
        e.dtype.integer_range().unwrap_or((i128::MIN, i128::MAX))
    }

    pub(super) fn bind_range(&mut self, var: &Var, range: Interval) {
        self.ranges.bind(var, range);
    }

    pub(super) fn bind_loop(&mut self, var: &Var, min: &'a Expr, extent: &'a Expr, step: Option<&'a Expr>) {
        if self.diagnostics.is_empty()
            && let Some(range) = self.ranges.of_loop_variable(min, extent, step)
        {
            self.ranges.bind(var, range);
        }
    }

    // -- values -----------------------------------------------------------------------------------

    /// A value whose lanes are computed one by one.
    pub(super) fn map(
        &mut self,
        dtype: DType,
        value: &Value,
        mut f: impl FnMut(&mut Self, Word) -> Word,
    ) -> Value {
        Value { dtype, lanes: value.lanes.iter().map(|lane| f(self, *lane)).collect() }
    }

    /// A value whose lanes are computed from those of two others.
    pub(super) fn zip(
        &mut self,
        dtype: DType,
        a: &Value,
        b: &Value,
        mut f: impl FnMut(&mut Self, Word, Word) -> Word,
    ) -> Value {
        let lanes = a.lanes.iter().zip(&b.lanes).map(|(a, b)| f(self, *a, *b)).collect();
        Value { dtype, lanes }
    }

    /// A scalar constant of a type, in each of its lanes.
    pub(super) fn integer(&mut self, value: i128, dtype: DType) -> Value {
        let lane = self.lane_of_integer(value, dtype);
        Value { dtype, lanes: vec![lane; dtype.lanes.into()] }
    }

    /// A lane of an integer constant.
    pub(super) fn lane_of_integer(&mut self, value: i128, dtype: DType) -> Word {
        match register(dtype) {
            Type::Bool => self.out.constant_bool(value != 0),
            Type::Int(64) => self.out.constant(Type::Int(64), value as u64),
            _ => self.out.word(value as u32),
        }
    }

    /// A lane of a float constant.
    pub(super) fn lane_of_float(&mut self, value: f64, dtype: DType) -> Word {
        match register(dtype) {
            Type::Float(64) => self.out.constant(Type::Float(64), value.to_bits()),
            Type::Float(16) => {
                let bits = half::f16::from_f64(value).to_bits();
                self.out.constant(Type::Float(16), bits.into())
            }
            _ => self.out.constant(Type::Float(32), (value as f32).to_bits().into()),
        }
    }

    /// A floating-point operation: neither fused nor reordered by the driver.
    pub(super) fn exact(&mut self, op: Op, of: Type, values: &[Word]) -> Word {
        let result = self.out.op(op, of, values);
        self.out.decorate(result, Decoration::NoContraction, &[]);
        result
    }

    pub(super) fn choose(&mut self, of: Type, condition: Word, then: Word, otherwise: Word) -> Word {
        if then == otherwise { then } else { self.out.op(Op::Select, of, &[condition, then, otherwise]) }
    }

    // -- known nodes ------------------------------------------------------------------------------

    pub(super) fn recall(&self, key: (usize, bool)) -> Option<Value> {
        self.known.iter().rev().find_map(|known| known.get(&key)).cloned()
    }

    pub(super) fn remember(&mut self, key: (usize, bool), value: &Value) {
        if let Some(known) = self.known.last_mut() {
            known.insert(key, value.clone());
        }
    }
}
