//! Metal Shading Language, 2.3 and later.

mod access;
mod functions;
mod ops;
mod types;
mod vectors;
mod warps;
mod words;

use chipdock_codegen_source::{
    Access, Allocation, AllocationPlace, Answer, Argument, Assertion, Barrier, Code, Dialect, OpCall,
    OpTable, Prelude, Refusal, Signature, Vector, word_of,
};
use chipdock_ir::{BinaryOp, DType, Op, PointerType, StorageRank, StorageScope, ThreadAxis};

use types::{is_half, one, scalar};

/// The dialect of target `metal`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MslDialect {
    /// Whether memory of bfloat16 is native `bfloat`.
    pub(crate) has_bfloat: bool,
    /// Whether the device adds floats atomically itself.
    pub(crate) has_atomic_float: bool,
    /// Whether operations of warps are those of SIMD groups.
    pub(crate) has_simdgroups: bool,
}

impl MslDialect {
    /// Ops with a text of their own on scalars, in vectors too.
    fn own_op(
        &self,
        op: Op,
        args: &[(Code, DType)],
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        match (op, args) {
            (Op::Reinterpret, [(value, from)]) => Some(types::reinterpret(value, *from, dtype, prelude)),
            (_, [(value, from)]) => ops::integer_op(op, value, *from, prelude),
            _ => None,
        }
    }
}

/// The body of a guarded division or remainder of integers `a` and `b`.
fn division_body(op: BinaryOp, dtype: DType, held: &str) -> String {
    let is_quotient = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv);
    if dtype.is_uint() {
        return if is_quotient { "return b == 0 ? a : a / b;" } else { "return b == 0 ? 0 : a % b;" }
            .to_owned();
    }
    let unsigned = if dtype.bits > 32 { "ulong" } else { "uint" };
    let guard = if is_quotient {
        format!("if (b == 0) return a;\n    if (b == -1) return {held}({unsigned}(0) - {unsigned}(a));\n    ")
    } else {
        "if (b == 0 || b == -1) return 0;\n    ".to_owned()
    };
    let result = match op {
        BinaryOp::Div => "return a / b;",
        BinaryOp::Mod => "return a % b;",
        BinaryOp::FloorDiv => "return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);",
        _ => "return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;",
    };
    format!("{guard}{result}")
}

impl Dialect for MslDialect {
    fn name(&self) -> &str {
        "metal"
    }

    fn reserved_words(&self) -> &[&str] {
        words::RESERVED
    }

    fn is_reserved(&self, name: &str) -> bool {
        // Vectors and matrices of every scalar: `float4`, `packed_int3`, `half2x2`.
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'x');
        let is_vector = stem != name && words::RESERVED.contains(&stem.trim_start_matches("packed_"));
        words::RESERVED.contains(&name)
            || is_vector
            || name.starts_with("atomic_")
            || name.starts_with("simd")
    }

    fn helper_prefix(&self) -> &str {
        "cd_"
    }

    fn header(&self, _: &Prelude) -> String {
        "// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.\n\
         #include <metal_stdlib>\nusing namespace metal;\n"
            .to_owned()
    }

    fn value_type(&self, dtype: DType, _: &mut Prelude) -> Answer<String> {
        types::value_type(dtype)
    }

    fn pointer_type(&self, pointer: Option<&PointerType>, _: &mut Prelude) -> Answer<String> {
        types::pointer(pointer, self.has_bfloat)
    }

    fn allocation(&self, allocation: &Allocation<'_>, _: &mut Prelude) -> Answer<String> {
        self.allocation_text(allocation)
    }

    fn allocation_place(&self, scope: &StorageScope) -> AllocationPlace {
        if scope.rank == StorageRank::Shared { AllocationPlace::Function } else { AllocationPlace::Here }
    }

    fn integer(&self, value: i128, dtype: DType) -> Answer<Code> {
        types::integer(value, dtype)
    }

    fn float(&self, value: f64, dtype: DType, _: &mut Prelude) -> Answer<Code> {
        types::float(value, dtype)
    }

    fn cast(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        types::cast(value, from, to, prelude)
    }

    fn cast_bits(&self, value: &Code, to: DType, _: &mut Prelude) -> Answer<Code> {
        Ok(one(scalar(to)?, value))
    }

    fn rounded(&self, value: Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        Ok(if is_half(dtype) { types::round(&value, dtype, prelude) } else { value })
    }

    fn guarded(&self, op: BinaryOp, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let held = scalar(dtype)?;
        let is_order = matches!(op, BinaryOp::Min | BinaryOp::Max);
        if !(dtype.is_integer() && !dtype.is_bool() || is_order && (dtype.is_float() || dtype.is_bool())) {
            return Err(Refusal::new(format!("has no {} of {dtype}", word_of(op))));
        }
        let name = format!("cd_{}_{held}", word_of(op));
        prelude.define(&name, |_| {
            let body = match op {
                BinaryOp::Min => "return a < b ? a : b;".to_owned(),
                BinaryOp::Max => "return a > b ? a : b;".to_owned(),
                _ => division_body(op, dtype, held),
            };
            format!("static inline {held} {name}({held} a, {held} b) {{\n    {body}\n}}\n")
        });
        Ok(Code::call(&name, &[a.clone(), b.clone()]))
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
        Ok(one(scalar(dtype)?, &Code::primary(text)))
    }

    fn barrier(&self, barrier: &Barrier<'_>, _: &mut Prelude) -> Answer<String> {
        let flags = if barrier.orders_global {
            "mem_flags::mem_device | mem_flags::mem_threadgroup"
        } else {
            "mem_flags::mem_threadgroup"
        };
        match barrier.scope {
            "shared" | "shared.dyn" => Ok(format!("threadgroup_barrier({flags});")),
            "warp" if self.has_simdgroups => Ok(format!("simdgroup_barrier({flags});")),
            other => Err(Refusal::new(format!(
                "has no barrier of scope \"{other}\"; it has shared, shared.dyn and, with supports_simdgroups, warp"
            ))),
        }
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

    fn signature(&self, signature: &Signature, _: &mut Prelude) -> Answer<String> {
        self.signature_text(signature)
    }

    fn parameter(&self, signature: &Signature, position: usize, _: &mut Prelude) -> Code {
        functions::parameter(signature, position)
    }

    fn assert(&self, _: &Assertion<'_>, _: &mut Prelude) -> Answer<String> {
        Err(Refusal::new("has no assertions: a kernel returns no error; check on the host"))
    }

    fn call_extern(&self, name: &str, args: &[(Code, DType)], ret: DType, _: &mut Prelude) -> Answer<Code> {
        let is_float = args.iter().all(|(_, dtype)| *dtype == DType::FLOAT32) && ret == DType::FLOAT32;
        match ops::function(name) {
            Some(function) if is_float && !args.is_empty() => {
                let args: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
                Ok(Code::call(&function, &args))
            }
            _ => Err(Refusal::new(format!(
                "cannot call \"{name}\": MSL has the mathematical functions of C on float32, and no others outside of \
                 its module"
            ))),
        }
    }

    fn ops(&self) -> &OpTable {
        &ops::TABLE
    }

    fn op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        match (call.op, call.args) {
            (Op::AtomicAdd, [Argument::Address(access), Argument::Value(value, _)]) => {
                return Some(self.atomic_add(access, value, call.dtype, prelude));
            }
            (Op::AddressOf, [Argument::Address(access)]) => return Some(self.address(access)),
            (Op::AtomicAdd | Op::AccessPtr | Op::HandleAddByteOffset | Op::Isnullptr, _) => {
                return Some(Err(Refusal::new(format!(
                    "has no {} of an untyped pointer; index the buffer itself",
                    call.op.name()
                ))));
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
        self.own_op(call.op, &values, call.dtype, prelude)
    }
}
