//! Lowering of 64-bit integers for targets without them: to 32 bits if the range fits, otherwise to
//! pairs of words.

mod access;
mod calls;
mod expression;
mod statement;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::{
    AttrNode, Buffer, BufferNode, Child, DType, Expr, ExprKind, IrModule, Op, Param, PrimFunc, Stmt,
    StmtKind, TargetCapabilities, Var,
};

use crate::PassError;
use crate::simplify::{self, Ranges};
use crate::splitting::split_host_device::is_kernel;
use crate::types::lower_intrinsics::bits;
use crate::types::lower_intrinsics::kit::{Steps, needed};
use crate::types::words::{Value, Words};
use chipdock_ir::subst::Substitution;

const PASS: &str = "lower_int64";

type Answer<T> = Result<T, PassError>;

/// Removes int64 and uint64 from device functions if the target cannot compute with them
/// ([`chipdock_ir::Types::missing_types`]).
///
/// # Rules
///
/// * **INT64-W1** A value whose range fits int32 is computed in int32, one whose range fits uint32
///   in uint32. Ranges are those of loops, threads, constants, casts and conditions. For a sum, a
///   product, a bitwise operation or a choice only the result must fit, as these are exact modulo
///   2^32; for other operations the operands must fit too.
/// * **INT64-W2** Any other value is a pair of uint32, with the IR's meaning for every operation:
///   modulo 2^64, `x / 0 = x`, `x % 0 = 0`, the least integer divided by -1 is itself, shift counts
///   modulo 64, casts to floats rounded once, casts from floats saturated.
/// * **INT64-W3** A buffer of n such integers is one of 2n uint32 over the same memory, the lower
///   word first, as hosts are little-endian. Elements of several lanes are lanes in a row.
/// * **INT64-W4** An index is computed modulo 2^32, which is exact if a buffer has fewer than 2^31
///   elements, and one of 64-bit integers fewer than 2^30: `split_host_device` refuses longer ones.
/// * **INT64-W5** A branch of `if_then_else` is still evaluated alone: the computation of its words
///   stays within it, and both words leave it as one vector.
/// * **INT64-W6** A loop counts in int32 if its bounds fit; otherwise it becomes a while loop that
///   counts in local memory.
/// * **INT64-W7** A parameter of a function that kernels call becomes two: `x_low` and `x_high`. A
///   function that returns such an integer becomes two, which return a word each; it must not
///   write.
/// * **INT64-W8** A parameter of a kernel becomes one of 32 bits, for which a loader rejects a
///   value that does not fit. The kernels that `split_host_device` makes have no such parameter:
///   they are passed sizes as int32, which the host function checks, and other integers of 64 bits
///   as words.
///
/// # Before and after
///
/// ```text
/// C: T.Buffer((64,), "int64")                C: T.Buffer((128,), "uint32")
/// i: T.int64 = T.Cast("int64", tx)     ->    low = A[tx * 2] + B[tx * 2]
/// C[i] = A[i] + B[i]                         high = A[tx * 2 + 1] + B[tx * 2 + 1] + T.Select(low < A[tx * 2], 1, 0)
///                                            C[tx * 2] = low
///                                            C[tx * 2 + 1] = high
/// ```
///
/// # Requires / # Ensures
///
/// Requires device functions at [`Stage::Device`](chipdock_ir::Stage::Device) whose ops are
/// lowered. If the target lacks such integers, none is left except in attributes; otherwise the
/// module is unchanged.
///
/// # Errors
///
/// The target's: atomic operations on them, C functions that take or return them, and functions
/// that both write memory and return one.
pub fn lower_int64(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    if capabilities.is_host || capabilities.types.has(DType::INT64) && capabilities.types.has(DType::UINT64) {
        return Ok(module.clone());
    }
    let mut names: HashSet<Arc<str>> = module.functions.iter().map(|f| Arc::clone(&f.name)).collect();
    let mut upper: HashMap<Arc<str>, Arc<str>> = HashMap::new();
    for function in module.functions.iter().filter(|f| f.ret.is_some_and(is_wide)) {
        let mut name = format!("{}_high", function.name);
        while !names.insert(name.as_str().into()) {
            name.push('_');
        }
        upper.insert(Arc::clone(&function.name), name.into());
    }
    let mut functions = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        if !mentions_wide(function) {
            functions.push(function.clone());
            continue;
        }
        let lowered = |returns: Half| Lowerer::new(function, capabilities, &upper, returns).function();
        functions.push(lowered(Half::Low)?);
        if let Some(name) = upper.get(&function.name) {
            functions.push(PrimFunc { name: Arc::clone(name), ..lowered(Half::High)? });
        }
    }
    Ok(IrModule { functions, attrs: module.attrs.clone() })
}

/// Returns true for 64-bit integers and vectors of them.
pub(crate) fn is_wide(dtype: DType) -> bool {
    dtype.is_integer() && dtype.bits == 64
}

fn is_wide_buffer(buffer: &Buffer) -> bool {
    let is_pointer = |var: &Var| var.pointer.as_ref().is_some_and(|pointer| is_wide(pointer.element));
    is_wide(buffer.dtype) || is_pointer(&buffer.data) || buffer.shape.iter().any(has_wide)
}

fn has_wide(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        found |= is_wide(e.dtype)
            || matches!(&e.kind, ExprKind::Load { buffer, .. } if is_wide_buffer(buffer))
            || matches!(&e.kind, ExprKind::Let { var, .. } if is_wide(var.dtype));
    });
    found
}

fn mentions_wide(function: &PrimFunc) -> bool {
    let mut found = function.ret.is_some_and(is_wide);
    for param in &function.params {
        found |= match param {
            Param::Var(var) => {
                is_wide(var.dtype) || var.pointer.as_ref().is_some_and(|pointer| is_wide(pointer.element))
            }
            Param::Buffer(buffer) => is_wide_buffer(buffer),
        };
    }
    function.body.walk(&mut |child| match child {
        Child::Expr(expr) => found |= has_wide(expr),
        Child::Stmt(stmt) => {
            found |= match &stmt.kind {
                StmtKind::Bind { var, .. }
                | StmtKind::For { var, .. }
                | StmtKind::LaunchThread { var, .. } => is_wide(var.dtype),
                StmtKind::Store { buffer, .. }
                | StmtKind::AllocBuffer { buffer, .. }
                | StmtKind::DeclBuffer { buffer, .. }
                | StmtKind::Attr { node: AttrNode::Buffer(buffer), .. } => is_wide_buffer(buffer),
                _ => false,
            };
        }
    });
    found
}

/// The word that a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Low,
    High,
}

struct Lowerer<'a> {
    function: &'a PrimFunc,
    capabilities: &'a TargetCapabilities,
    /// The functions that return upper words, by the functions that return lower ones.
    upper: &'a HashMap<Arc<str>, Arc<str>>,
    returns: Half,
    ranges: Ranges,
    /// Replacements for variables of 64 bits.
    values: HashMap<Var, Value>,
    /// Replacements for other variables.
    others: HashMap<Var, Expr>,
    data: HashMap<Var, Var>,
    buffers: HashMap<Buffer, Buffer>,
    /// Steps of the expression being lowered, in order.
    steps: Vec<(Var, Expr)>,
}

impl<'a> Lowerer<'a> {
    fn new(
        function: &'a PrimFunc,
        capabilities: &'a TargetCapabilities,
        upper: &'a HashMap<Arc<str>, Arc<str>>,
        returns: Half,
    ) -> Self {
        Self {
            function,
            capabilities,
            upper,
            returns,
            ranges: Ranges::new(),
            values: HashMap::new(),
            others: HashMap::new(),
            data: HashMap::new(),
            buffers: HashMap::new(),
            steps: Vec::new(),
        }
    }

    fn refused(&self, what: impl std::fmt::Display) -> PassError {
        let option = self.capabilities.options.of_type(DType::INT64);
        let set = option.map_or_else(String::new, |option| {
            format!(", or set option \"{option}\" where the device has them")
        });
        let message = format!(
            "target \"{}\" has no integers of 64 bits, and {what}; use int32 or uint32{set}",
            self.capabilities.target.kind
        );
        PassError::target(PASS, &self.function.name, message)
    }

    fn function(mut self) -> Result<PrimFunc, PassError> {
        let function = self.function;
        if function.ret.is_some_and(is_wide) && writes(&function.body) {
            return Err(self.refused(format!("{} writes and returns one", function.name)));
        }
        let mut params = Vec::with_capacity(function.params.len());
        for param in &function.params {
            match param {
                Param::Var(var) if is_wide(var.dtype) => params.extend(self.scalar(var)),
                Param::Var(var) => params.push(Param::Var(self.pointer(var))),
                Param::Buffer(buffer) => params.push(Param::Buffer(self.buffer(buffer)?)),
            }
        }
        let body = self.stmt(&function.body)?;
        let ret = function.ret.map(|ret| if is_wide(ret) { DType::UINT32 } else { ret });
        Ok(PrimFunc { params, body, ret, ..function.clone() })
    }

    /// A parameter that is an integer of 64 bits (INT64-W7, INT64-W8).
    fn scalar(&mut self, var: &Var) -> Vec<Param> {
        let own = |name: &str, dtype: DType| Var::new(name, dtype);
        if !is_kernel(self.function) {
            let word = |half: &str| own(&format!("{}_{half}", var.name), DType::UINT32);
            let (low, high) = (word("low"), word("high"));
            let words = Words { low: low.expr(), high: high.expr() };
            self.values.insert(var.clone(), Value::Words(words));
            return vec![Param::Var(low), Param::Var(high)];
        }
        let dtype = DType { bits: 32, ..var.dtype };
        let short = own(&var.name, dtype);
        let value = if dtype.is_int() { Value::Signed(short.expr()) } else { Value::Unsigned(short.expr()) };
        self.values.insert(var.clone(), value);
        if let Some((low, high)) = dtype.integer_range() {
            self.ranges.set(var, low, high);
        }
        vec![Param::Var(short)]
    }

    /// Converts a pointer to 64-bit integers to a pointer to their words.
    fn pointer(&mut self, var: &Var) -> Var {
        let Some(pointer) = var.pointer.as_ref().filter(|pointer| is_wide(pointer.element)) else {
            return var.clone();
        };
        let new = || Var::pointer(Arc::clone(&var.name), DType::UINT32, pointer.scope.clone());
        self.data.entry(var.clone()).or_insert_with(new).clone()
    }

    /// Converts a buffer of 64-bit integers to a buffer of their words (INT64-W3), and another
    /// buffer to one with a size of 32 bits.
    fn buffer(&mut self, buffer: &Buffer) -> Result<Buffer, PassError> {
        if let Some(new) = self.buffers.get(buffer) {
            return Ok(new.clone());
        }
        let data = self.pointer(&buffer.data);
        let mut shape = Vec::with_capacity(buffer.shape.len());
        for extent in &buffer.shape {
            shape.push(self.apart(|this| this.index(extent))?);
        }
        let mut dtype = buffer.dtype;
        if is_wide(dtype) {
            let words = i128::from(dtype.lanes) * 2;
            let Some(extent) = shape.first_mut().filter(|_| buffer.shape.len() == 1) else {
                let message =
                    format!("expected a flat buffer, found {} of {} axes", buffer.name, buffer.shape.len());
                return Err(PassError::bug(PASS, &self.function.name, message));
            };
            *extent = simplify::expr(&(extent.clone() * Expr::int(words, extent.dtype)));
            dtype = DType::UINT32;
        }
        let is_same = dtype == buffer.dtype && data == buffer.data && shape == buffer.shape;
        let new = if is_same {
            buffer.clone()
        } else {
            Buffer::from_node(BufferNode { data, shape, dtype, ..BufferNode::clone(buffer) })
        };
        self.buffers.insert(buffer.clone(), new.clone());
        Ok(new)
    }

    /// Runs arithmetic on words, appends its steps to those so far, and folds constants.
    fn arithmetic<R: Results>(&mut self, lanes: u16, make: impl FnOnce(&Steps) -> R) -> R {
        let steps = Steps::new(lanes);
        let result = make(&steps);
        let counts_zeros = self.capabilities.execution.has_native(Op::Clz);
        let mut known = Substitution::new();
        let own = |e: &Expr, known: &mut Substitution| {
            let e = known.expr(e);
            simplify::expr(&if counts_zeros { e } else { bits::without_clz(&e) })
        };
        for (var, value) in steps.into_steps() {
            let value = own(&value, &mut known);
            if is_trivial(&value) {
                known.map_var(&var, value);
            } else {
                self.steps.push((var, value));
            }
        }
        result.mapped(&mut |e| own(e, &mut known))
    }

    /// Binds a value to a name, so that it may be used more than once.
    fn named(&mut self, name: &str, value: Expr) -> Expr {
        if is_trivial(&value) {
            return value;
        }
        let var = Var::new(name, value.dtype);
        self.steps.push((var.clone(), value));
        var.expr()
    }

    /// Makes an expression whose steps stay within it.
    fn apart(&mut self, make: impl FnOnce(&mut Self) -> Result<Expr, PassError>) -> Result<Expr, PassError> {
        let outer = std::mem::take(&mut self.steps);
        let made = make(self);
        let steps = std::mem::replace(&mut self.steps, outer);
        let body = made?;
        Ok(needed(steps, &[&body]).into_iter().rev().fold(body, |body, (var, value)| {
            let dtype = body.dtype;
            Expr::new(ExprKind::Let { var, value, body }, dtype)
        }))
    }

    /// Binds the pending steps that the results need, as statements.
    fn bound(&mut self, results: &[&Expr]) -> Vec<Stmt> {
        let steps = needed(std::mem::take(&mut self.steps), results);
        steps.into_iter().map(|(var, value)| Stmt::new(StmtKind::Bind { var, value })).collect()
    }
}

/// Returns true if the expression may be repeated in several places.
fn is_trivial(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Var(_) | ExprKind::Int(_) | ExprKind::Float(_) => true,
        ExprKind::Broadcast { value, .. } => is_trivial(value),
        _ => false,
    }
}

fn writes(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk(&mut |child| {
        found |= match child {
            Child::Expr(expr) => !simplify::is_pure(expr) && expr.called().is_none(),
            Child::Stmt(stmt) => matches!(stmt.kind, StmtKind::Store { .. }),
        };
    });
    found
}

/// Expressions that result from arithmetic.
trait Results {
    /// Maps each expression.
    fn mapped(self, f: &mut dyn FnMut(&Expr) -> Expr) -> Self;
}

impl Results for Expr {
    fn mapped(self, f: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        f(&self)
    }
}

impl Results for Words {
    fn mapped(self, f: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        Self { high: f(&self.high), low: f(&self.low) }
    }
}
