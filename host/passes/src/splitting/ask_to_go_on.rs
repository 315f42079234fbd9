//! Long loops that ask whether to go on.

mod blocks;
mod estimate;

use chipdock_ir::{
    AttrValue, Attrs, Callee, CompareOp, DType, Expr, ExprKind, ForKind, IrModule, Op, PrimFunc, Stmt,
    StmtKind, TargetCapabilities, attr, environment,
};

use crate::PassError;
use crate::simplify::Ranges;
use blocks::{Count, Loop};
use estimate::{EFFECT_OPERATIONS, Work};

/// The operations between two questions: 10 to 250 µs at 4 to 100 in a nanosecond; a question takes
/// a few nanoseconds.
const BETWEEN: i128 = 1 << 20;

/// The operations of a statement that asks nothing: at most milliseconds, even where each waits for
/// memory.
const UNASKED: i128 = 1 << 22;

/// Levels of loops that ask. Deeper ones stay as they are: each that asks adds two levels.
const LEVELS_MAX: usize = 24;

/// Puts questions whether to go on (`chipdock_go_on`, X.15) into loops of host functions that may
/// run for more than a tenth of a second, for a target whose kind says `asks_to_go_on`. A function
/// whose question is answered by an error fails with it.
///
/// A loop asks where its iterations are known to be, or may be, more than 2^22 operations. If one
/// iteration is 2^20 operations or more, each asks; otherwise the loop becomes one of blocks of so
/// many iterations, and each block but the first asks, so that the loop within a block is the one
/// that was there, with nothing in its way to vectors. The iterations of a block are a number, or,
/// where the work of an iteration depends on sizes, computed before the loop. `while`, and loops
/// with a `break`, count their iterations and ask once in a while.
///
/// A loop within others that goes through memory, and whose iterations are short, stays as it is
/// if nothing is known of its extent: memory ends within the second, and compilers treat such
/// loops best as they are. Not looked into are parallel loops, products of tiles ([`attr::TILES`])
/// and functions that are hardly ever called ([`attr::COLD`]).
///
/// # Before and after
///
/// ```text
/// for i in range(n):                 for block in range(n // 1048576 + 1):
///     B[i] = A[i]             ->         if block > 0:
///                                            if T.call_extern("int32", "chipdock_go_on") != 0: T.tvm_throw_last_error()
///                                        start = block * 1048576
///                                        for i in range(start, start + min(1048576, n - start)):
///                                            B[i] = A[i]
/// ```
///
/// # Requires / # Ensures
///
/// Requires host functions made by `make_packed_api`, whose parallel loops were outlined. No result
/// changes.
///
/// # Errors
///
/// None.
pub fn ask_to_go_on(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    if !capabilities.execution.asks_to_go_on {
        return Ok(module.clone());
    }
    let functions = module.functions.iter().map(|function| {
        if is_short(function) {
            return function.clone();
        }
        let body = Asker { ranges: Ranges::new(), levels: 0 }.stmt(&function.body).0;
        PrimFunc { body, ..function.clone() }
    });
    Ok(IrModule { functions: functions.collect(), attrs: module.attrs.clone() })
}

/// Returns true for functions without long loops: the packed entries and what they call to check.
/// Only a function that returns a status can ask.
fn is_short(function: &PrimFunc) -> bool {
    let is_set =
        |name: &str| matches!(function.attrs.get(name), Some(AttrValue::Bool(true) | AttrValue::Int(1)));
    is_set(attr::CALLING_CONV) || is_set(attr::COLD) || function.ret != Some(DType::INT32)
}

/// The question.
fn ask() -> Stmt {
    let callee = Callee::Extern { name: environment::GO_ON.into(), pure: false };
    let answer = Expr::new(ExprKind::Call { callee, args: Vec::new() }, DType::INT32);
    let throw = Stmt::new(StmtKind::Evaluate(Expr::call(Op::ThrowLastError, Vec::new(), DType::HANDLE)));
    Stmt::if_then(Expr::compare(CompareOp::Ne, answer, Expr::i32(0)), throw, None)
}

fn is_left_alone(kind: ForKind, annotations: &Attrs) -> bool {
    kind != ForKind::Serial || annotations.contains_key(attr::TILES)
}

struct Asker {
    /// Known ranges of the function's variables.
    ranges: Ranges,
    /// Number of loops around the current statement.
    levels: usize,
}

impl Asker {
    /// Returns the statement with its questions, and what it does.
    fn stmt(&mut self, stmt: &Stmt) -> (Stmt, Work) {
        match &stmt.kind {
            StmtKind::Seq(stmts) => {
                let mut work = Work::NONE;
                let stmts = stmts.iter().map(|stmt| {
                    let (stmt, own) = self.stmt(stmt);
                    work = work.then(own);
                    stmt
                });
                let stmts = stmts.collect();
                (Stmt::new(StmtKind::Seq(stmts)).with_span(stmt.span), work)
            }
            StmtKind::If { condition, then, otherwise } => {
                let first = Work::of_value(condition);
                let mark = self.ranges.mark();
                self.ranges.assume(condition);
                let (then, yes) = self.stmt(then);
                self.ranges.back_to(mark);
                let (otherwise, no) = match otherwise {
                    Some(otherwise) => {
                        let (stmt, work) = self.stmt(otherwise);
                        (Some(stmt), work)
                    }
                    None => (None, Work::NONE),
                };
                let kind = StmtKind::If { condition: condition.clone(), then, otherwise };
                (Stmt::new(kind).with_span(stmt.span), first.then(yes.or(no)))
            }
            StmtKind::Attr { node, key, value, body } => {
                let (body, work) = self.stmt(body);
                let (node, key, value) = (node.clone(), key.clone(), value.clone());
                (Stmt::new(StmtKind::Attr { node, key, value, body }).with_span(stmt.span), work)
            }
            StmtKind::While { condition, body } => self.while_loop(stmt, condition, body),
            StmtKind::For { kind, annotations, .. } if is_left_alone(*kind, annotations) => {
                (stmt.clone(), Work::unknown())
            }
            StmtKind::For { .. } => self.for_loop(stmt),
            StmtKind::Bind { var, value } => {
                if value.dtype.is_integer() && value.dtype.is_scalar() {
                    let (low, high) = self.ranges.of(value);
                    self.ranges.set(var, low, high);
                }
                (stmt.clone(), Work::of_value(value))
            }
            StmtKind::Store { value, .. } => {
                (stmt.clone(), Work::of_operations(1).then(Work::of_value(value)))
            }
            StmtKind::Evaluate(value) => (stmt.clone(), Work::of_value(value)),
            _ => (stmt.clone(), Work::NONE),
        }
    }

    fn inside(&mut self, body: &Stmt) -> (Stmt, Work) {
        self.levels += 1;
        let inside = self.stmt(body);
        self.levels -= 1;
        inside
    }

    fn for_loop(&mut self, stmt: &Stmt) -> (Stmt, Work) {
        let Some(of) = Loop::of(stmt) else { return (stmt.clone(), Work::unknown()) };
        self.ranges.set_loop(of.var, of.min, of.extent, of.step);
        let (body, work) = self.inside(of.body);
        let (least, most) = self.ranges.of(of.extent);
        let one = Work::of_operations(1).then(work);
        let same = |body: Stmt| of.with_body(body);
        if one.asks {
            return (same(body), Work { asks: least >= 1, ..Work::unknown() });
        }
        let all = one.most.and_then(|one| one.checked_mul(most.max(0)));
        if let Some(all) = all.filter(|all| *all <= UNASKED) {
            return (same(body), Work::of_operations(all));
        }
        let is_of_memory = self.levels > 0 && one.most.is_some() && of.extent.as_int().is_none();
        if self.levels >= LEVELS_MAX || (is_of_memory && estimate::goes_through_memory(of.var, of.body)) {
            return (same(body), Work::unknown());
        }
        let count = match one.most {
            Some(one) => Count::Constant(power_of_two(BETWEEN / one.max(1))),
            None => Count::of(&of, BETWEEN),
        };
        if let Count::Constant(1) = count {
            let asks = Work { asks: least >= 1, ..Work::unknown() };
            return (same(Stmt::seq([ask(), body])), asks);
        }
        let asks = matches!(count, Count::Constant(count) if least > count);
        let stmt = if crate::simplify::leaves_loop(&body) {
            blocks::counted(&count, |question| same(Stmt::seq([question, body])))
        } else {
            blocks::in_blocks(&of, &count, body, &self.ranges)
        };
        (stmt, Work { asks, ..Work::unknown() })
    }

    fn while_loop(&mut self, stmt: &Stmt, condition: &Expr, body: &Stmt) -> (Stmt, Work) {
        let (body, work) = self.inside(body);
        let same = |body: Stmt| {
            Stmt::new(StmtKind::While { condition: condition.clone(), body }).with_span(stmt.span)
        };
        let one = Work::of_value(condition).then(Work::of_operations(1)).then(work);
        if one.asks || self.levels >= LEVELS_MAX {
            return (same(body), Work::unknown());
        }
        let count = match one.most {
            Some(one) => power_of_two(BETWEEN / one.max(1)),
            None => (BETWEEN / estimate::expected(&body).max(1)).max(1),
        };
        if count == 1 {
            return (same(Stmt::seq([ask(), body])), Work::unknown());
        }
        (
            blocks::counted(&Count::Constant(count), |question| same(Stmt::seq([question, body]))),
            Work::unknown(),
        )
    }
}

/// The greatest power of two that is not above the value, at least 1.
fn power_of_two(value: i128) -> i128 {
    1 << (127 - value.max(1).leading_zeros())
}

/// Operations of a call with an effect, whatever it does.
fn of_effects(value: &Expr) -> i128 {
    let mut sum = 0;
    value.walk(&mut |e| {
        sum += match &e.kind {
            ExprKind::Call { callee: Callee::Global(_) | Callee::Extern { pure: false, .. }, .. }
            | ExprKind::Call { callee: Callee::Op(Op::CallPacked | Op::ParallelLaunch), .. } => {
                EFFECT_OPERATIONS
            }
            _ => 0,
        };
    });
    sum
}
