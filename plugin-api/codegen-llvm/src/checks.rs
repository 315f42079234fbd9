//! Checks as data (rule LLVM-V14): the initial checks of a function that is hardly ever called are
//! a table that one helper runs.
//!
//! An instruction is two 64-bit words: the operation with three slots of the frame (`to`, `a`, `b`,
//! 16 bits each), and a number. Slots contain integers and booleans as 64 bits, sign-extended or
//! zero-extended by their type, and pointers.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::analysis::{Usage, holds, is_pure};
use chipdock_ir::{
    BinaryOp, Callee, Child, CompareOp, DType, Expr, ExprKind, Functions, Op, PrimFunc, Stmt, StmtKind,
    StructField, Var, attr,
};

use crate::environment::{Helper, Message};
use crate::function::{is_attr, variable};
use crate::layout::Layout;
use crate::types;
use crate::value::Value;
use crate::writer::Writer;

/// Minimum number of assertions for which a table is smaller than the code.
const ASSERTIONS_MIN: usize = 4;
/// Maximum number of slots of a frame, which is on the stack.
const SLOTS_MAX: usize = 2048;
/// Result of the helper if all checks pass; any other value is the function's result.
pub(crate) const GOES_ON: i64 = 1 << 40;

/// An operation; the numbers are those of the interpreter in [`crate::environment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    /// Returns the status in `a`.
    Return = 0,
    /// Raises the text at the number, with the integers from slot `a` on.
    Fail = 1,
    /// Jumps to the instruction with that number if `a` is zero.
    JumpIfZero = 2,
    /// Loads 64 bits at the pointer `a` plus the number, whatever their alignment.
    Load = 3,
    /// Adds `a`, `b` and the number.
    Add = 4,
    Mul = 5,
    And = 6,
    Xor = 7,
    /// Shifts by the number.
    ShiftLeft = 8,
    /// Shifts by the number, keeping the sign.
    ShiftRight = 9,
    Equal = 10,
    Less = 11,
    LessUnsigned = 12,
}

/// The slot that contains zero.
const ZERO: Slot = 0;

type Slot = u16;

#[derive(Debug)]
struct Instruction {
    code: Code,
    to: Slot,
    a: Slot,
    b: Slot,
    number: i64,
}

/// A table under construction. Methods return `None` if the table has no operation for the input.
struct Table<'a> {
    functions: &'a Functions<'a>,
    /// Location of its errors.
    location: &'a str,
    layout: Layout,
    instructions: Vec<Instruction>,
    texts: Vec<u8>,
    known_texts: HashMap<Vec<u8>, i64>,
    slots: HashMap<usize, Slot>,
    next: usize,
    most: usize,
    assertions: usize,
    /// Functions that the table continues in.
    callees: Vec<&'a PrimFunc>,
    /// Jumps to those functions: the instruction, and the index of the function.
    jumps: Vec<(usize, usize)>,
    /// Moves to their parameters, which have no slots yet: the instruction, the index of the
    /// function, the index of the parameter.
    moves: Vec<(usize, usize, usize)>,
    depth: usize,
}

/// Returns true for types whose values are the bits of an integer, a boolean or a pointer.
fn is_word(dtype: DType) -> bool {
    dtype.is_scalar() && (dtype.is_integer() || dtype.is_bool() || dtype.is_handle()) && dtype.bits <= 64
}

impl<'a> Table<'a> {
    fn new(functions: &'a Functions<'a>, location: &'a str, layout: Layout) -> Self {
        Self {
            functions,
            location,
            layout,
            instructions: Vec::new(),
            texts: Vec::new(),
            known_texts: HashMap::new(),
            slots: HashMap::new(),
            next: 1,
            most: 1,
            assertions: 0,
            callees: Vec::new(),
            jumps: Vec::new(),
            moves: Vec::new(),
            depth: 0,
        }
    }

    fn slot(&mut self) -> Option<Slot> {
        let slot = self.next;
        self.next += 1;
        self.most = self.most.max(self.next);
        if slot < SLOTS_MAX { Slot::try_from(slot).ok() } else { None }
    }

    fn push(&mut self, code: Code, to: Slot, a: Slot, b: Slot, number: i64) {
        self.instructions.push(Instruction { code, to, a, b, number });
    }

    /// Puts the result of an operation in a new slot.
    fn compute(&mut self, code: Code, a: Slot, b: Slot, number: i64) -> Option<Slot> {
        let to = self.slot()?;
        self.push(code, to, a, b, number);
        Some(to)
    }

    fn constant(&mut self, value: i64) -> Option<Slot> {
        self.compute(Code::Add, ZERO, ZERO, value)
    }

    fn copy(&mut self, to: Slot, from: Slot) {
        self.push(Code::Add, to, from, ZERO, 0);
    }

    /// Negates a boolean.
    fn not(&mut self, slot: Slot) -> Option<Slot> {
        self.compute(Code::Equal, slot, ZERO, 0)
    }

    fn jump_if_zero(&mut self, a: Slot) -> usize {
        self.push(Code::JumpIfZero, 0, a, 0, 0);
        self.instructions.len() - 1
    }

    fn jump(&mut self) -> usize {
        self.jump_if_zero(ZERO)
    }

    /// Makes a jump lead to the next instruction.
    fn land(&mut self, jump: usize) {
        let here = self.instructions.len() as i64;
        if let Some(instruction) = self.instructions.get_mut(jump) {
            instruction.number = here;
        }
    }

    // -- expressions ------------------------------------------------------------------------------

    fn value(&mut self, e: &'a Expr) -> Option<Slot> {
        if !is_word(e.dtype) || self.depth > crate::DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let slot = self.node(e);
        self.depth -= 1;
        slot
    }

    fn node(&mut self, e: &'a Expr) -> Option<Slot> {
        match &e.kind {
            ExprKind::Int(value) => {
                let bits =
                    u64::try_from(*value).map_or_else(|_| i64::try_from(*value), |v| Ok(v as i64)).ok()?;
                self.constant(bits)
            }
            ExprKind::Var(var) => self.slots.get(&var.address()).copied(),
            ExprKind::Cast(value) => {
                let (from, to) = (value.dtype, e.dtype);
                let slot = self.value(value)?;
                if to.is_bool() {
                    let is_zero = self.not(slot)?;
                    return self.not(is_zero);
                }
                if holds(to, from) { Some(slot) } else { self.wrapped(slot, to) }
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::Compare(op, a, b) => self.compare(*op, a, b),
            ExprKind::And(a, b) => self.connective(a, b, true),
            ExprKind::Or(a, b) => self.connective(a, b, false),
            ExprKind::Not(value) => {
                let slot = self.value(value)?;
                self.not(slot)
            }
            ExprKind::Select(condition, then, otherwise) => self.choice(condition, then, otherwise),
            ExprKind::Call { callee: Callee::Op(op), args } => self.op(e, *op, args),
            _ => None,
        }
    }

    /// Wraps a result to the width of its type.
    fn wrapped(&mut self, slot: Slot, dtype: DType) -> Option<Slot> {
        let rest = 64 - i64::from(dtype.bits);
        if rest == 0 || dtype.is_bool() || dtype.is_handle() {
            return Some(slot);
        }
        if dtype.is_uint() {
            let mask = self.constant((1 << dtype.bits) - 1)?;
            return self.compute(Code::And, slot, mask, 0);
        }
        let high = self.compute(Code::ShiftLeft, slot, ZERO, rest)?;
        self.compute(Code::ShiftRight, high, ZERO, rest)
    }

    fn binary(&mut self, op: BinaryOp, a: &'a Expr, b: &'a Expr) -> Option<Slot> {
        let dtype = a.dtype;
        if b.dtype != dtype || !dtype.is_integer() {
            return None;
        }
        let code = match op {
            BinaryOp::Add => Code::Add,
            BinaryOp::Sub => {
                let (a, b, minus) = (self.value(a)?, self.value(b)?, self.constant(-1)?);
                let negative = self.compute(Code::Mul, b, minus, 0)?;
                let result = self.compute(Code::Add, a, negative, 0)?;
                return self.wrapped(result, dtype);
            }
            BinaryOp::Mul => Code::Mul,
            BinaryOp::FloorMod | BinaryOp::FloorDiv if dtype.is_int() => {
                let divisor =
                    b.as_int().and_then(|b| u64::try_from(b).ok()).filter(|b| b.is_power_of_two())?;
                let slot = self.value(a)?;
                if op == BinaryOp::FloorDiv {
                    return self.compute(Code::ShiftRight, slot, ZERO, divisor.trailing_zeros().into());
                }
                let mask = self.constant(divisor as i64 - 1)?;
                return self.compute(Code::And, slot, mask, 0);
            }
            _ => return None,
        };
        let (a, b) = (self.value(a)?, self.value(b)?);
        let result = self.compute(code, a, b, 0)?;
        self.wrapped(result, dtype)
    }

    fn compare(&mut self, op: CompareOp, a: &'a Expr, b: &'a Expr) -> Option<Slot> {
        if a.dtype != b.dtype {
            return None;
        }
        let is_signed = a.dtype.is_int();
        let (a, b) = (self.value(a)?, self.value(b)?);
        let less = if is_signed { Code::Less } else { Code::LessUnsigned };
        let (code, a, b, is_opposite) = match op {
            CompareOp::Eq => (Code::Equal, a, b, false),
            CompareOp::Ne => (Code::Equal, a, b, true),
            CompareOp::Lt => (less, a, b, false),
            CompareOp::Gt => (less, b, a, false),
            CompareOp::Le => (less, b, a, true),
            CompareOp::Ge => (less, a, b, true),
        };
        let result = self.compute(code, a, b, 0)?;
        if is_opposite { self.not(result) } else { Some(result) }
    }

    fn connective(&mut self, a: &'a Expr, b: &'a Expr, is_and: bool) -> Option<Slot> {
        let result = self.slot()?;
        let first = self.value(a)?;
        self.copy(result, first);
        let decides = if is_and { result } else { self.not(result)? };
        let end = self.jump_if_zero(decides);
        let second = self.value(b)?;
        self.copy(result, second);
        self.land(end);
        Some(result)
    }

    fn choice(&mut self, condition: &'a Expr, then: &'a Expr, otherwise: &'a Expr) -> Option<Slot> {
        let result = self.slot()?;
        let condition = self.value(condition)?;
        let no = self.jump_if_zero(condition);
        let slot = self.value(then)?;
        self.copy(result, slot);
        let end = self.jump();
        self.land(no);
        let slot = self.value(otherwise)?;
        self.copy(result, slot);
        self.land(end);
        Some(result)
    }

    fn op(&mut self, e: &'a Expr, op: Op, args: &'a [Expr]) -> Option<Slot> {
        match (op, args) {
            (Op::Likely, [value]) => self.value(value),
            (Op::Isnullptr, [handle]) => {
                let handle = self.value(handle)?;
                self.not(handle)
            }
            (Op::Reinterpret, [value]) if e.dtype.bits == value.dtype.bits => {
                let slot = self.value(value)?;
                self.wrapped(slot, e.dtype)
            }
            (Op::IfThenElse, [condition, then, otherwise]) => self.choice(condition, then, otherwise),
            (Op::HandleAddByteOffset, [handle, offset]) => {
                let (handle, offset) = (self.value(handle)?, self.value(offset)?);
                self.compute(Code::Add, handle, offset, 0)
            }
            (Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor, [a, b]) if a.dtype == b.dtype => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                match op {
                    Op::BitwiseAnd => self.compute(Code::And, a, b, 0),
                    Op::BitwiseXor => self.compute(Code::Xor, a, b, 0),
                    _ => {
                        let (both, one) =
                            (self.compute(Code::And, a, b, 0)?, self.compute(Code::Xor, a, b, 0)?);
                        self.compute(Code::Xor, both, one, 0)
                    }
                }
            }
            (Op::StructGet, [handle, index, field]) => self.struct_get(e, handle, index, field),
            _ => None,
        }
    }

    fn struct_get(
        &mut self,
        e: &'a Expr,
        handle: &'a Expr,
        index: &'a Expr,
        field: &'a Expr,
    ) -> Option<Slot> {
        let field = StructField::by_code(field.as_int()?)?;
        let (size_bytes, offset, dtype) = self.layout.field(field, e.dtype);
        let bytes = index.as_int()?.checked_mul(size_bytes)?.checked_add(offset)?;
        let bytes = i64::try_from(bytes).ok()?;
        let handle = self.value(handle)?;
        if field == StructField::Address {
            return self.compute(Code::Add, handle, ZERO, bytes);
        }
        // A load of 8 bytes at the start of a field stays within its struct; the field is in the
        // low bits of the word.
        let word = self.compute(Code::Load, handle, ZERO, bytes)?;
        let value = self.wrapped(word, dtype)?;
        match (e.dtype == dtype, e.dtype.is_handle() || dtype.is_handle()) {
            (true, _) => Some(value),
            (false, true) => None,
            _ if e.dtype.is_bool() => {
                let is_zero = self.not(value)?;
                self.not(is_zero)
            }
            _ if holds(e.dtype, dtype) => Some(value),
            _ => self.wrapped(value, e.dtype),
        }
    }

    // -- statements -------------------------------------------------------------------------------

    fn stmt(&mut self, s: &'a Stmt) -> Option<()> {
        if self.depth > crate::DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let done = self.stmt_kind(s);
        self.depth -= 1;
        done
    }

    fn stmt_kind(&mut self, s: &'a Stmt) -> Option<()> {
        let mark = self.next;
        match &s.kind {
            StmtKind::Seq(stmts) => return stmts.iter().try_for_each(|s| self.stmt(s)),
            StmtKind::Attr { body, key, .. } if &**key != attr::NONTEMPORAL => return self.stmt(body),
            StmtKind::Bind { var, value } if is_word(var.dtype) && var.dtype == value.dtype => {
                let own = self.slot()?;
                let mark = self.next;
                let slot = self.value(value)?;
                self.copy(own, slot);
                self.slots.insert(var.address(), own);
                self.next = mark;
                return Some(());
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.value(condition)?;
                let no = self.jump_if_zero(condition);
                self.stmt(then)?;
                if let Some(otherwise) = otherwise {
                    let end = self.jump();
                    self.land(no);
                    self.stmt(otherwise)?;
                    self.land(end);
                } else {
                    self.land(no);
                }
            }
            StmtKind::Assert { condition, kind, message } => self.assert(condition, kind, message)?,
            StmtKind::Return(Some(value)) if value.dtype == DType::INT32 => self.ret(value)?,
            _ => return None,
        }
        self.next = mark;
        Some(())
    }

    fn assert(&mut self, condition: &'a Expr, kind: &str, message: &'a [Expr]) -> Option<()> {
        self.assertions += 1;
        let condition = self.value(condition)?;
        let fails = self.not(condition)?;
        let fine = self.jump_if_zero(fails);
        let (mut text, mut integers) = (Message::new(kind, self.location), Vec::new());
        for part in message {
            match &part.kind {
                ExprKind::Str(part) => text.text(part),
                _ if part.dtype.is_handle() => return None,
                _ => {
                    text.integer(part.dtype == DType::UINT64);
                    integers.push(self.value(part)?);
                }
            }
        }
        let first = if integers.is_empty() { 0 } else { Slot::try_from(self.next).ok()? };
        for integer in integers {
            self.compute(Code::Add, integer, ZERO, 0)?;
        }
        let at = self.text(text.bytes());
        self.push(Code::Fail, 0, first, 0, at);
        self.land(fine);
        Some(())
    }

    fn text(&mut self, bytes: Vec<u8>) -> i64 {
        if let Some(at) = self.known_texts.get(&bytes) {
            return *at;
        }
        let at = self.texts.len() as i64;
        self.texts.extend(&bytes);
        self.texts.push(0);
        self.known_texts.insert(bytes, at);
        at
    }

    /// Returns a number, or continues in another function that is hardly ever called.
    fn ret(&mut self, value: &'a Expr) -> Option<()> {
        let ExprKind::Call { callee: Callee::Global(name), args } = &value.kind else {
            let slot = self.value(value)?;
            self.push(Code::Return, 0, slot, ZERO, 0);
            return Some(());
        };
        let index = match self.callees.iter().position(|callee| callee.name == *name) {
            Some(index) => index,
            None => {
                let functions: &'a Functions<'a> = self.functions;
                let callee = functions.get(&**name).copied().filter(|callee| is_attr(callee, attr::COLD))?;
                if callee.ret != Some(DType::INT32) || !callee.alloc_buffers.is_empty() {
                    return None;
                }
                self.callees.push(callee);
                self.callees.len() - 1
            }
        };
        if self.callees[index].params.len() != args.len() {
            return None;
        }
        let values: Vec<Slot> = args.iter().map(|arg| self.value(arg)).collect::<Option<_>>()?;
        for (param, from) in values.into_iter().enumerate() {
            self.copy(0, from);
            self.moves.push((self.instructions.len() - 1, index, param));
        }
        let jump = self.jump();
        self.jumps.push((jump, index));
        Some(())
    }

    /// Appends the functions that the table continues in.
    fn finish(&mut self) -> Option<()> {
        let mut index = 0;
        while let Some(callee) = self.callees.get(index).copied() {
            for (jump, _) in self.jumps.clone().iter().filter(|(_, to)| *to == index) {
                self.land(*jump);
            }
            // Slots of a callee come after all others.
            self.next = self.most;
            for (number, param) in callee.params.iter().enumerate() {
                let (slot, var) = (self.slot()?, variable(param));
                if !is_word(var.dtype) {
                    return None;
                }
                self.slots.insert(var.address(), slot);
                for (at, _, _) in self.moves.iter().filter(|(_, to, param)| (*to, *param) == (index, number))
                {
                    self.instructions[*at].to = slot;
                }
            }
            let first = self.instructions.len();
            self.stmt(&callee.body)?;
            // Functions must not call each other in a cycle, nor must a function be entered that
            // was already written.
            if self.jumps.iter().any(|(jump, to)| *jump >= first && *to <= index) {
                return None;
            }
            let minus = self.constant(-1)?;
            self.push(Code::Return, 0, minus, ZERO, 0);
            index += 1;
        }
        Some(())
    }

    fn words(&self) -> String {
        let words: Vec<String> = self
            .instructions
            .iter()
            .map(|instruction| {
                let [to, a, b] = [instruction.to, instruction.a, instruction.b].map(u64::from);
                let word = instruction.code as u64 | to << 16 | a << 32 | b << 48;
                // Jump distances are in bytes.
                let scale = if instruction.code == Code::JumpIfZero { 16 } else { 1 };
                format!("i64 {}, i64 {}", word as i64, scale * instruction.number)
            })
            .collect();
        format!("[{} x i64] [{}]", 2 * words.len(), words.join(", "))
    }
}

/// The table of a function, and the rest of its body.
pub(crate) struct Plan<'a> {
    table: Table<'a>,
    /// Variables that the table binds, with their values, in order.
    bound: Vec<(&'a Var, &'a Expr)>,
    /// Bindings that the table cannot make, for the rest of the body.
    deferred: Vec<(&'a Var, &'a Expr)>,
    rest: &'a [Stmt],
}

impl Plan<'_> {
    /// The functions that the table continues in.
    pub(crate) fn callees(&self) -> impl Iterator<Item = &Arc<str>> {
        self.table.callees.iter().map(|callee| &callee.name)
    }

    /// The functions that the rest of the body calls.
    pub(crate) fn called(&self) -> HashSet<Arc<str>> {
        let mut called = HashSet::new();
        self.rest.iter().for_each(|s| called.extend(Usage::of(s).called));
        called
    }
}

/// Puts the longest possible prefix of a function into a table.
pub(crate) fn plan<'a>(
    functions: &'a Functions<'a>,
    function: &'a PrimFunc,
    layout: Layout,
) -> Option<Plan<'a>> {
    if !is_attr(function, attr::COLD) || function.ret != Some(DType::INT32) {
        return None;
    }
    let mut table = Table::new(functions, &function.name, layout);
    for param in &function.params {
        let slot = table.slot()?;
        if is_word(variable(param).dtype) {
            table.slots.insert(variable(param).address(), slot);
        }
    }
    let stmts = match &function.body.kind {
        StmtKind::Seq(stmts) => stmts.as_slice(),
        _ => std::slice::from_ref(&function.body),
    };
    let (mut bound, mut deferred, mut done) = (Vec::new(), Vec::new(), 0);
    for stmt in stmts {
        let mark =
            (table.instructions.len(), table.next, table.jumps.len(), table.moves.len(), table.callees.len());
        if table.stmt(stmt).is_some() {
            if let StmtKind::Bind { var, value } = &stmt.kind {
                bound.push((var, value));
            }
        } else {
            table.depth = 0;
            table.instructions.truncate(mark.0);
            table.next = mark.1;
            table.jumps.truncate(mark.2);
            table.moves.truncate(mark.3);
            table.callees.truncate(mark.4);
            match &stmt.kind {
                StmtKind::Bind { var, value } if is_pure(value) => deferred.push((var, value)),
                _ => break,
            }
        }
        done += 1;
    }
    let well = table.constant(GOES_ON)?;
    table.push(Code::Return, 0, well, ZERO, 0);
    table.finish()?;
    (table.assertions >= ASSERTIONS_MIN).then_some(Plan { table, bound, deferred, rest: &stmts[done..] })
}

/// Variables that expressions within statements read, by address.
fn read_by(stmts: &[Stmt], exprs: impl Iterator<Item = Expr>) -> HashSet<usize> {
    let mut read = HashSet::new();
    let mut look = |e: &Expr| match &e.kind {
        ExprKind::Var(var) => {
            read.insert(var.address());
        }
        ExprKind::Load { buffer, .. } => {
            read.insert(buffer.data.address());
        }
        _ => {}
    };
    let mut seen = HashSet::new();
    let mut left: Vec<Expr> = exprs.collect();
    let mut stmts: Vec<Stmt> = stmts.to_vec();
    while let Some(stmt) = stmts.pop() {
        stmt.for_each_child(&mut |child| match child {
            Child::Stmt(stmt) => stmts.push(stmt.clone()),
            Child::Expr(expr) => left.push(expr.clone()),
        });
    }
    while let Some(expr) = left.pop() {
        if seen.insert(expr.address()) {
            look(&expr);
            expr.for_each_child(&mut |child| left.push(child.clone()));
        }
    }
    read
}

impl<'a> Writer<'a> {
    /// Writes the body of a function that is hardly ever called, with its checks as a table;
    /// returns false if that does not pay off.
    pub(crate) fn checks(&mut self) -> bool {
        let Some(plan) = self.plans.remove(&self.function.name) else { return false };
        let frame = self.frame(&plan.table);
        let table = self.constant_words(&plan.table.words());
        let texts = self.constant_text("texts", &plan.table.texts);
        self.helper(Helper::Check);
        let status = self.instruction(format_args!(
            "call i64 @{}(ptr {table}, ptr {texts}, ptr {frame})",
            Helper::Check.symbol()
        ));
        let goes_on = self.compute(DType::BOOL, format_args!("icmp eq i64 {status}, {GOES_ON}"));
        let (on, out) = (self.label("fine"), self.label("out"));
        self.branch(&goes_on, &on, &out);
        self.start(&out);
        let status = self.compute(DType::INT32, format_args!("trunc i64 {status} to i32"));
        self.leave_function(Some(&status));
        self.start(&on);
        let later = plan.deferred.iter().map(|(_, value)| (*value).clone());
        let read = read_by(plan.rest, later);
        for (var, value) in plan.bound {
            if read.contains(&var.address()) {
                self.unpack(&plan.table, &frame, var, value);
            }
        }
        for (var, value) in plan.deferred {
            self.known = vec![HashMap::new()];
            self.bind(var, value);
        }
        plan.rest.iter().for_each(|s| self.stmt(s));
        true
    }

    /// Allocates the frame of a table and stores the function's parameters in it.
    fn frame(&mut self, table: &Table<'a>) -> String {
        let frame = self.alloca(&format!("[{} x i64]", table.most), 8);
        let function = self.function;
        for (number, param) in function.params.iter().enumerate() {
            let var = variable(param);
            let Some(value) = self.vars.get(&var.address()).cloned() else { continue };
            if !is_word(var.dtype) {
                continue;
            }
            let value = if var.dtype.is_handle() { value } else { self.cast(&value, DType::INT64) };
            let at = self.instruction(format_args!("getelementptr i64, ptr {frame}, i64 {}", number + 1));
            self.effect(format_args!("store {}, ptr {at}, align 8", value.typed()));
        }
        self.effect(format_args!("store i64 0, ptr {frame}, align 8"));
        frame
    }

    /// Loads a variable that the table has bound from the frame.
    fn unpack(&mut self, table: &Table<'a>, frame: &str, var: &'a Var, value: &'a Expr) {
        let Some(slot) = table.slots.get(&var.address()) else { return };
        let at = self.instruction(format_args!("getelementptr i64, ptr {frame}, i64 {slot}"));
        let word = if var.dtype.is_handle() { DType::HANDLE } else { DType::INT64 };
        let llvm_type = types::register(word);
        let loaded = self.compute(word, format_args!("load {llvm_type}, ptr {at}, align 8"));
        let known = if var.dtype.is_handle() { loaded } else { self.cast(&loaded, var.dtype) };
        self.know(var, Value { dtype: var.dtype, ..known });
        let known_value = self.known_of(value);
        self.ranges.learn(var, known_value);
        if self.diagnostics.is_empty() && self.positions.contains(value) {
            self.positions.bind(var);
        }
    }

    /// A constant of numbers: `@cd.table.3`.
    fn constant_words(&mut self, words: &str) -> String {
        let name = format!("@cd.table.{}", self.around.globals.len());
        let definition = format!("{name} = private unnamed_addr constant {words}, align 8\n");
        self.around.globals.insert(name.clone(), definition);
        name
    }
}
