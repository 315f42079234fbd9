//! WGSL that naga and tint both accept; with subgroups, WGSL for one of them.

mod access;
mod comparisons;
mod functions;
mod halves;
mod ops;
mod types;
mod vectors;
mod warps;
mod words;

use std::cell::Cell;

use chipdock_codegen_source::{
    Access, Allocation, AllocationPlace, Answer, Argument, Assertion, Barrier, Code, Dialect, Expressions,
    Infix, OpCall, OpTable, Overflow, Precedence, Prelude, Refusal, Signature, Vector, contains_word,
    word_of,
};
use chipdock_ir::{BinaryOp, CompareOp, DType, Op, PointerType, StorageScope, ThreadAxis};

pub(crate) use functions::{Binding, bindings, dynamic_words};
use types::{call, cut, is_half, one, scalar};

/// The dialect of target `webgpu`.
#[derive(Clone, Debug, Default)]
pub(crate) struct WgslDialect {
    /// Whether memory may contain native float16.
    pub(crate) has_float16: bool,
    /// Number of threads of a subgroup, if the target has subgroups.
    pub(crate) subgroup_size: Option<i64>,
    /// Whether `enable subgroups;` is written: tint requires it, naga rejects it.
    pub(crate) enables_subgroups: bool,
    /// Whether the text written so far uses native float16.
    uses_float16: Cell<bool>,
    /// Whether the text written so far uses subgroup operations.
    uses_subgroups: Cell<bool>,
}

impl WgslDialect {
    pub(crate) fn new(has_float16: bool, subgroup_size: Option<i64>, enables_subgroups: bool) -> Self {
        Self { has_float16, subgroup_size, enables_subgroups, ..Self::default() }
    }

    /// The features that a device needs for the written text, sorted.
    pub(crate) fn features(&self) -> Vec<&'static str> {
        let all = [("shader-f16", &self.uses_float16), ("subgroups", &self.uses_subgroups)];
        all.into_iter().filter(|(_, is_used)| is_used.get()).map(|(name, _)| name).collect()
    }

    /// Ops with a text of their own on scalars, also used for vectors.
    fn own_op(
        &self,
        op: Op,
        args: &[(Code, DType)],
        constants: &[Option<i128>],
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        match (op, args) {
            (Op::Reinterpret, [(value, from)]) => Some(types::reinterpret(value, *from, dtype, prelude)),
            (Op::ShiftLeft | Op::ShiftRight, [(value, from), (amount, _)]) => {
                Some(ops::shift(op, (value, *from), amount, constants.get(1).copied().flatten()))
            }
            (_, [(value, from)]) => ops::integer_op(op, value, *from),
            _ => None,
        }
    }
}

/// The body of a guarded division or remainder of integers `a` and `b`.
fn division_body(op: BinaryOp, dtype: DType) -> String {
    let is_quotient = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv);
    if dtype.is_uint() {
        let (by_zero, operator) = if is_quotient { ("a", '/') } else { ("0u", '%') };
        return format!(
            "    if (b == 0u) {{\n        return {by_zero};\n    }}\n    return a {operator} b;\n"
        );
    }
    let guard = if is_quotient {
        "    if (b == 0) {\n        return a;\n    }\n    if (b == -1) {\n        return 0 - a;\n    }\n"
    } else {
        "    if (b == 0 || b == -1) {\n        return 0;\n    }\n"
    };
    let result = match op {
        BinaryOp::Div => "    return a / b;\n",
        BinaryOp::Mod => "    return a % b;\n",
        BinaryOp::FloorDiv => "    return a / b - select(0, 1, a % b != 0 && (a < 0) != (b < 0));\n",
        _ => "    let rest = a % b;\n    return rest + select(0, b, rest != 0 && (a < 0) != (b < 0));\n",
    };
    format!("{guard}{result}")
}

impl Expressions for WgslDialect {
    fn value_type(&self, dtype: DType, _: &mut Prelude) -> Answer<String> {
        types::value_type(dtype)
    }

    fn pointer_type(&self, _: Option<&PointerType>, _: &mut Prelude) -> Answer<String> {
        Err(Refusal::new("has no pointers that are values; index the buffer itself"))
    }

    fn overflow(&self) -> Overflow {
        Overflow::Wraps
    }

    fn index_type(&self) -> DType {
        DType::INT32
    }

    fn checks_constants(&self) -> bool {
        true
    }

    fn integer(&self, value: i128, dtype: DType) -> Answer<Code> {
        types::integer(value, dtype)
    }

    fn float(&self, value: f64, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        types::float(value, dtype, prelude)
    }

    fn cast(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        types::cast(value, from, to, prelude)
    }

    fn cast_bits(&self, value: &Code, to: DType, _: &mut Prelude) -> Answer<Code> {
        types::cast_bits(value, to)
    }

    fn rounded(&self, value: Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        Ok(if is_half(dtype) { halves::round(&value, dtype, prelude) } else { value })
    }

    fn guarded(&self, op: BinaryOp, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let held = scalar(dtype)?;
        let is_order = matches!(op, BinaryOp::Min | BinaryOp::Max);
        if dtype.is_bool() && is_order {
            // false is less than true.
            return Ok(Code::infix(if op == BinaryOp::Min { Infix::BitAnd } else { Infix::BitOr }, a, b));
        }
        if !(dtype.is_integer() || is_order && dtype.is_float()) {
            return Err(Refusal::new(format!("has no {} of {dtype}", word_of(op))));
        }
        let name = format!("cd_{}_{held}", word_of(op));
        prelude.define(&name, |prelude| {
            let (a, b) = (Code::primary("a"), Code::primary("b"));
            let mut chosen = |op| {
                let condition = self.comparison(op, &a, &b, dtype, prelude);
                format!("    return {};\n", self.choice(&condition, &a, &b).text)
            };
            let body = match op {
                BinaryOp::Min => chosen(CompareOp::Lt),
                BinaryOp::Max => chosen(CompareOp::Gt),
                _ => division_body(op, dtype),
            };
            format!("fn {name}(a: {held}, b: {held}) -> {held} {{\n{body}}}\n")
        });
        let result = call(&name, &[a.clone(), b.clone()]);
        // The least integer of a narrow type divided by -1 does not fit its width.
        Ok(if is_order { result } else { cut(result, dtype) })
    }

    fn choice(&self, condition: &Code, then: &Code, otherwise: &Code) -> Code {
        call("select", &[otherwise.clone(), then.clone(), condition.clone()])
    }

    fn lazy_choice(&self, _: &Code, _: &Code, _: &Code) -> Option<Code> {
        None
    }

    fn comparison(&self, op: CompareOp, a: &Code, b: &Code, operand: DType, prelude: &mut Prelude) -> Code {
        if operand.is_float() {
            return comparisons::compared(op, a, b, operand.lanes, prelude);
        }
        let (infix, bool_text) = match op {
            CompareOp::Eq => return Code::infix(Infix::Equal, a, b),
            CompareOp::Ne => return Code::infix(Infix::NotEqual, a, b),
            CompareOp::Lt => (Infix::Less, (false, Infix::BitAnd)),
            CompareOp::Le => (Infix::LessEqual, (false, Infix::BitOr)),
            CompareOp::Gt => (Infix::Greater, (true, Infix::BitAnd)),
            CompareOp::Ge => (Infix::GreaterEqual, (true, Infix::BitOr)),
        };
        if !operand.is_bool() {
            return Code::infix(infix, a, b);
        }
        let (is_second_negated, operator) = bool_text;
        if is_second_negated {
            Code::infix(operator, a, &Code::not(b))
        } else {
            Code::infix(operator, &Code::not(a), b)
        }
    }

    fn thread_index(&self, axis: ThreadAxis, dtype: DType, _: &mut Prelude) -> Answer<Code> {
        let text = match axis {
            ThreadAxis::BlockX => "cd_block.x",
            ThreadAxis::BlockY => "cd_block.y",
            ThreadAxis::BlockZ => "cd_block.z",
            ThreadAxis::ThreadX => "cd_thread.x",
            ThreadAxis::ThreadY => "cd_thread.y",
            ThreadAxis::ThreadZ => "cd_thread.z",
            _ => return Err(Refusal::new(format!("has no thread axis {axis}; lower virtual threads first"))),
        };
        scalar(dtype)?;
        Ok(one("i32", &Code::primary(text)))
    }

    fn load(&self, access: &Access, prelude: &mut Prelude) -> Answer<Code> {
        self.load_text(access, prelude)
    }

    fn store(&self, access: &Access, value: &Code, prelude: &mut Prelude) -> Answer<String> {
        self.store_text(access, value, prelude)
    }

    fn vector(&self, computation: Vector<'_>, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        self.vector_text(computation, dtype, prelude)
    }

    fn ops(&self) -> &OpTable {
        &ops::TABLE
    }

    fn op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        match (call.op, call.args) {
            (Op::AtomicAdd, [Argument::Address(access), Argument::Value(value, _)]) => {
                return Some(self.atomic_add(access, value, call.dtype, prelude));
            }
            (Op::AtomicAdd | Op::AddressOf | Op::AccessPtr | Op::HandleAddByteOffset | Op::Isnullptr, _) => {
                return Some(Err(Refusal::new("has no pointers that are values; index the buffer itself")));
            }
            _ => {}
        }
        let mut values = Vec::with_capacity(call.args.len());
        for arg in call.args {
            match arg {
                Argument::Value(code, dtype) => values.push((code.clone(), *dtype)),
                _ => return None,
            }
        }
        if let Some(answer) = self.warp_op(call.op, &values, call.dtype) {
            return Some(answer);
        }
        if !call.dtype.is_scalar() {
            return None;
        }
        self.own_op(call.op, &values, call.constants, call.dtype, prelude)
    }
}

impl Dialect for WgslDialect {
    fn is_reserved(&self, name: &str) -> bool {
        contains_word(words::RESERVED, name)
    }

    fn name(&self) -> &str {
        "webgpu"
    }

    fn header(&self, _: &Prelude) -> String {
        let mut text = String::from("// Written by chipdock for target webgpu: WGSL.\n");
        if self.uses_float16.get() {
            text.push_str("enable f16;\n");
        }
        if self.uses_subgroups.get() && self.enables_subgroups {
            text.push_str("enable subgroups;\n");
        }
        text
    }

    fn constant(&self, type_name: &str, name: &str, value: &Code) -> String {
        format!("let {name}: {type_name} = {};", value.text)
    }

    fn discard(&self, value: &Code, dtype: DType) -> String {
        if dtype.is_handle() { format!("{};", value.text) } else { format!("_ = {};", value.text) }
    }

    fn variable(&self, type_name: &str, name: &str, value: Option<&Code>) -> String {
        match value {
            Some(value) => format!("var {name}: {type_name} = {};", value.text),
            None => format!("var {name}: {type_name};"),
        }
    }

    fn for_loop(&self, type_name: &str, name: &str, start: &Code, end: &Code) -> String {
        let end = end.at_least(Precedence::Shift);
        format!("for (var {name}: {type_name} = {}; {name} < {end}; {name}++)", start.text)
    }

    fn allocation(&self, allocation: &Allocation<'_>, _: &mut Prelude) -> Answer<String> {
        self.allocation_text(allocation)
    }

    fn allocation_place(&self, _: &StorageScope) -> AllocationPlace {
        AllocationPlace::Module
    }

    fn barrier(&self, barrier: &Barrier<'_>, _: &mut Prelude) -> Answer<String> {
        match barrier.scope {
            "shared" | "shared.dyn" if barrier.orders_global => {
                Ok("storageBarrier();\nworkgroupBarrier();".to_owned())
            }
            "shared" | "shared.dyn" => Ok("workgroupBarrier();".to_owned()),
            "warp" if self.subgroup_size.is_some() => {
                // WGSL has no barrier for a single subgroup.
                Ok("workgroupBarrier();".to_owned())
            }
            other => Err(Refusal::new(format!(
                "has no barrier of scope \"{other}\"; it has shared, shared.dyn and, with supports_subgroups, warp"
            ))),
        }
    }

    fn signature(&self, signature: &Signature, _: &mut Prelude) -> Answer<String> {
        self.signature_text(signature)
    }

    fn are_parameters_of_module(&self, calling_conv: i64) -> bool {
        calling_conv == functions::KERNEL
    }

    fn parameter(&self, signature: &Signature, position: usize, _: &mut Prelude) -> Code {
        functions::parameter(signature, position)
    }

    fn module_lines(&self, signature: &Signature, _: &mut Prelude) -> Answer<Vec<String>> {
        self.module_text(signature)
    }

    fn assert(&self, _: &Assertion<'_>, _: &mut Prelude) -> Answer<String> {
        Err(Refusal::new("has no assertions: a kernel returns no error; check on the host"))
    }

    fn call_extern(&self, name: &str, _: &[(Code, DType)], _: DType, _: &mut Prelude) -> Answer<Code> {
        Err(Refusal::new(format!("cannot call \"{name}\": WGSL has no functions outside of its module")))
    }
}
