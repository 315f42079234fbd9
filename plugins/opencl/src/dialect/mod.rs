//! OpenCL C 1.2, which every driver takes; what it lacks is asked for by name where it is used.

mod access;
mod atomics;
mod halves;
mod ops;
mod reserved;
mod rounding;
mod types;
mod vectors;

use chipdock_codegen_source::{
    Access, Allocation, AllocationPlace, Answer, Argument, Assertion, Barrier, Code, Dialect, Infix, Launch,
    OpCall, OpTable, Prelude, Refusal, Signature, Vector, word_of,
};
use chipdock_ir::{BinaryOp, DType, Op, PointerType, StorageScope, Target, ThreadAxis};

use types::{computed, is_half, scalar, short};

/// Which parts of the language a target has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    /// `double`.
    pub(crate) has_float64: bool,
    /// Atomic operations of 64 bits.
    pub(crate) has_int64_atomics: bool,
    /// Subgroups, their shuffles and ballots.
    pub(crate) has_subgroups: bool,
    /// Quotients and square roots of float32 that are rounded to nearest, on request.
    pub(crate) divides: bool,
    /// Whoever builds the kernel wants speed rather than the IR's arithmetic.
    pub(crate) is_fast: bool,
    /// Threads that run in step.
    pub(crate) warp_size: i64,
}

impl Features {
    /// What a target's options say.
    pub(crate) fn of(target: &Target) -> Self {
        let is_set = |name: &str, default: bool| target.bool(name).unwrap_or(default);
        let is_fast = is_set("fast-math", false);
        Self {
            has_float64: is_set("supports_float64", true),
            has_int64_atomics: is_set("supports_int64_atomics", true),
            has_subgroups: is_set("supports_subgroups", false),
            divides: is_fast || is_set("supports_correctly_rounded_divide_sqrt", true),
            is_fast,
            warp_size: target.int("thread_warp_size").unwrap_or(1),
        }
    }
}

/// The dialect of target `opencl`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenClDialect {
    pub(crate) features: Features,
}

/// Notes that the text needs an extension.
fn extension(name: &'static str, prelude: &mut Prelude) {
    prelude.define(name, |_| String::new());
}

/// Extensions that a text may ask for, sorted.
pub(crate) const EXTENSIONS: &[&str] = &[
    "cl_khr_fp64",
    "cl_khr_int64_base_atomics",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroups",
];

/// The types that an op is spelled for.
#[cfg(test)]
pub(crate) fn spelled(op: Op) -> Vec<DType> {
    ops::TABLE.types(op)
}

/// A word behind a type, for memory that is accessed as several types.
fn define_alias(prelude: &mut Prelude) {
    prelude.define("CD_MAY_ALIAS", |_| {
        "#if defined(__clang__) || defined(__GNUC__)\n#define CD_MAY_ALIAS __attribute__((may_alias))\n#else\n\
         #define CD_MAY_ALIAS\n#endif\n"
            .to_owned()
    });
}

impl OpenClDialect {
    /// Ops with a text of their own on scalars, in vectors too.
    fn special_op(
        &self,
        op: Op,
        args: &[(Code, DType)],
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        match (op, args) {
            (Op::Reinterpret, [(value, from)]) => Some(types::reinterpret(value, *from, dtype, prelude)),
            (Op::BitwiseNot, [(value, from)]) if from.is_bool() => Some(Ok(Code::not(value))),
            (Op::BitwiseXor, [(a, from), (b, _)]) if from.is_bool() => {
                Some(Ok(Code::infix(Infix::NotEqual, a, b)))
            }
            (Op::BitwiseAnd, [(a, from), (b, _)]) if from.is_bool() => {
                Some(Ok(Code::infix(Infix::And, a, b)))
            }
            (Op::BitwiseOr, [(a, from), (b, _)]) if from.is_bool() => Some(Ok(Code::infix(Infix::Or, a, b))),
            (Op::Sqrt, [(value, from)]) if computed(*from) == DType::FLOAT32 && !self.features.divides => {
                let root = rounding::sqrt(value, prelude);
                Some(self.rounded(root, dtype, prelude))
            }
            (Op::Nextafter, _) if is_half(dtype) => Some(Err(Refusal::new(format!(
                "has no nextafter of {dtype}; it has it for float32, float64"
            )))),
            _ => None,
        }
    }
}

/// The body of a guarded division or remainder of integers `a` and `b`.
fn division_body(op: BinaryOp, dtype: DType) -> String {
    let is_quotient = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv);
    if dtype.is_uint() {
        return if is_quotient { "return b == 0 ? a : a / b;" } else { "return b == 0 ? 0 : a % b;" }
            .to_owned();
    }
    let unsigned = if dtype.bits > 32 { "ulong" } else { "uint" };
    let own = scalar(dtype).unwrap_or("long");
    let guard = if is_quotient {
        format!("if (b == 0) return a;\n    if (b == -1) return ({own})(0 - ({unsigned})a);\n    ")
    } else {
        "if (b == 0 || b == -1) return 0;\n    ".to_owned()
    };
    let result = match op {
        BinaryOp::Div => "return a / b;",
        BinaryOp::Mod => "return a % b;",
        BinaryOp::FloorDiv => "return a / b - (a % b != 0 && (a < 0) != (b < 0));",
        _ => "return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;",
    };
    format!("{guard}{result}")
}

/// The attribute of a kernel that says how many threads a block has, where that is constant.
fn block_attribute(launch: &Launch) -> String {
    match launch.block {
        [Some(x @ 1..), Some(y @ 1..), Some(z @ 1..)] => {
            format!("__attribute__((reqd_work_group_size({x}, {y}, {z}))) ")
        }
        _ => String::new(),
    }
}

impl Dialect for OpenClDialect {
    fn name(&self) -> &str {
        "opencl"
    }

    fn reserved_words(&self) -> &[&str] {
        reserved::WORDS
    }

    fn is_reserved(&self, name: &str) -> bool {
        reserved::is_reserved(name)
    }

    fn helper_prefix(&self) -> &str {
        "cd_"
    }

    fn header(&self, prelude: &Prelude) -> String {
        let mut text = String::from("// Written by chipdock for target opencl: OpenCL C 1.2.\n");
        for name in EXTENSIONS.iter().filter(|name| prelude.contains(name)) {
            text.push_str(&format!("#pragma OPENCL EXTENSION {name} : enable\n"));
        }
        text.push('\n');
        text
    }

    fn value_type(&self, dtype: DType, prelude: &mut Prelude) -> Answer<String> {
        types::check(dtype, &self.features, prelude)?;
        if dtype.is_scalar() { Ok(scalar(dtype)?.to_owned()) } else { vectors::vector_type(dtype, prelude) }
    }

    fn pointer_type(&self, pointer: Option<&PointerType>, _: &mut Prelude) -> Answer<String> {
        types::pointer(pointer, false)
    }

    fn unroll_hint(&self, count: Option<i128>, _: &mut Prelude) -> String {
        format!("#pragma unroll {}", count.unwrap_or(8).clamp(1, 1024))
    }

    fn allocation(&self, allocation: &Allocation<'_>, prelude: &mut Prelude) -> Answer<String> {
        access::allocation(allocation, &self.features, prelude)
    }

    fn allocation_place(&self, scope: &StorageScope) -> AllocationPlace {
        match types::address_space(scope) {
            Ok("__local") => AllocationPlace::Function,
            _ => AllocationPlace::Here,
        }
    }

    fn integer(&self, value: i128, dtype: DType) -> Answer<Code> {
        types::integer(value, dtype)
    }

    fn float(&self, value: f64, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        types::check(dtype, &self.features, prelude)?;
        types::float(value, dtype)
    }

    fn cast(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        types::check(to, &self.features, prelude)?;
        types::cast(value, from, to, prelude)
    }

    fn cast_bits(&self, value: &Code, to: DType, _: &mut Prelude) -> Answer<Code> {
        Ok(Code::prefix(&format!("({})", scalar(to)?), value))
    }

    fn rounded(&self, value: Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        Ok(if is_half(dtype) { halves::round(&value, dtype, prelude) } else { value })
    }

    fn quotient(&self, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let quotient = if computed(dtype) == DType::FLOAT32 && !self.features.divides {
            rounding::divide(a, b, prelude)
        } else {
            Code::infix(Infix::Div, a, b)
        };
        self.rounded(quotient, dtype, prelude)
    }

    fn guarded(&self, op: BinaryOp, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let dtype = computed(dtype);
        let is_order = matches!(op, BinaryOp::Min | BinaryOp::Max);
        if !(dtype.is_integer() || is_order && (dtype.is_float() || dtype.is_bool())) {
            return Err(Refusal::new(format!("has no {} of {dtype}", word_of(op))));
        }
        let (name, own) = (format!("cd_{}_{}", word_of(op), short(dtype)), scalar(dtype)?);
        prelude.define(&name, |_| {
            let body = match op {
                BinaryOp::Min => "return a < b ? a : b;".to_owned(),
                BinaryOp::Max => "return a > b ? a : b;".to_owned(),
                _ => division_body(op, dtype),
            };
            format!("static inline {own} {name}({own} a, {own} b) {{\n    {body}\n}}\n")
        });
        Ok(Code::call(&name, &[a.clone(), b.clone()]))
    }

    fn thread_index(&self, axis: ThreadAxis, dtype: DType, _: &mut Prelude) -> Answer<Code> {
        let (function, dimension) = match axis {
            ThreadAxis::BlockX => ("get_group_id", 0),
            ThreadAxis::BlockY => ("get_group_id", 1),
            ThreadAxis::BlockZ => ("get_group_id", 2),
            ThreadAxis::ThreadX => ("get_local_id", 0),
            ThreadAxis::ThreadY => ("get_local_id", 1),
            ThreadAxis::ThreadZ => ("get_local_id", 2),
            _ => return Err(Refusal::new(format!("has no thread axis {axis}; virtual threads are loops"))),
        };
        Ok(Code::prefix(&format!("({})", scalar(dtype)?), &Code::primary(format!("{function}({dimension})"))))
    }

    fn barrier(&self, barrier: &Barrier<'_>, prelude: &mut Prelude) -> Answer<String> {
        let fences = if barrier.orders_global {
            "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
        } else {
            "CLK_LOCAL_MEM_FENCE"
        };
        match barrier.scope {
            "shared" | "shared.dyn" => Ok(format!("barrier({fences});")),
            // One thread waits for itself.
            "warp" if self.features.warp_size == 1 => Ok(String::new()),
            "warp" if self.features.has_subgroups => {
                extension("cl_khr_subgroups", prelude);
                Ok(format!("sub_group_barrier({fences});"))
            }
            other => Err(Refusal::new(format!(
                "has no barrier of scope \"{other}\"; expected shared, shared.dyn, or warp where the target has subgroups"
            ))),
        }
    }

    fn load(&self, access: &Access, prelude: &mut Prelude) -> Answer<Code> {
        access::load(access, &self.features, prelude)
    }

    fn store(&self, access: &Access, value: &Code, prelude: &mut Prelude) -> Answer<String> {
        access::store(access, value, &self.features, prelude)
    }

    fn vector(&self, computation: Vector<'_>, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        types::check(dtype, &self.features, prelude)?;
        self.vector_text(computation, dtype, prelude)
    }

    fn signature(&self, signature: &Signature, prelude: &mut Prelude) -> Answer<String> {
        let is_kernel = signature.launch.is_some();
        let mut params = Vec::with_capacity(signature.params.len() + 1);
        for param in &signature.params {
            if !param.dtype.is_handle() {
                types::check(param.dtype, &self.features, prelude)?;
                // A kernel takes no `bool`: how long one is, no device says.
                let own = if is_kernel { types::memory(param.dtype)? } else { scalar(param.dtype)? };
                if is_kernel && is_half(param.dtype) {
                    return Err(Refusal::new(format!(
                        "parameter {}: kernels take no scalars of {}; pass a float32",
                        param.name, param.dtype
                    )));
                }
                params.push(format!("{own} {}", param.name));
                continue;
            }
            if let Some(pointer) = &param.pointer {
                types::check(pointer.element, &self.features, prelude)?;
            }
            let type_name = types::pointer(param.pointer.as_ref(), !param.is_written)?;
            let restrict = if param.pointer.is_some() && signature.is_noalias { " restrict" } else { "" };
            params.push(format!("{type_name}{restrict} {}", param.name));
        }
        let params = |extra: Option<String>| {
            let all: Vec<String> = params.iter().cloned().chain(extra).collect();
            if all.is_empty() { "void".to_owned() } else { all.join(", ") }
        };
        match (&signature.launch, signature.calling_conv, signature.ret) {
            (Some(launch), _, None) => {
                let dynamic = match &launch.dynamic_shared {
                    Some(shared) => {
                        types::check(shared.element, &self.features, prelude)?;
                        Some(format!("__local {}* {}", types::memory(shared.element)?, shared.name))
                    }
                    None => None,
                };
                let name = &signature.name;
                Ok(format!("__kernel {}void {name}({})", block_attribute(launch), params(dynamic)))
            }
            (Some(_), ..) => Err(Refusal::new("has no kernels that return something; write it to a buffer")),
            (None, 0, ret) => {
                let ret = ret.map_or(Ok("void"), scalar)?;
                let cold = if signature.is_cold || signature.is_no_inline {
                    "__attribute__((noinline)) "
                } else {
                    "inline "
                };
                Ok(format!("static {cold}{ret} {}({})", signature.name, params(None)))
            }
            (None, other, _) => Err(Refusal::new(format!(
                "has no functions of calling convention {other}: those run on the host; expected 0 (internal) or 2 (kernel)"
            ))),
        }
    }

    fn parameter(&self, signature: &Signature, position: usize, _: &mut Prelude) -> Code {
        let Some(param) = signature.params.get(position) else { return Code::primary("0") };
        let name = Code::primary(&param.name);
        if signature.launch.is_some() && param.dtype.is_bool() {
            return Code::infix(Infix::NotEqual, &name, &Code::primary("0"));
        }
        name
    }

    fn assert(&self, assertion: &Assertion<'_>, _: &mut Prelude) -> Answer<String> {
        let kind = assertion.kind;
        Err(Refusal::new(format!("raises no errors on a device ({kind}); check on the host")))
    }

    fn call_extern(
        &self,
        name: &str,
        args: &[(Code, DType)],
        ret: DType,
        prelude: &mut Prelude,
    ) -> Answer<Code> {
        types::check(ret, &self.features, prelude)?;
        // The C library's functions of mathematics that the language has under the name of the wide one.
        let function = if ret == DType::FLOAT32 { name.strip_suffix('f').unwrap_or(name) } else { name };
        let is_alike = args.iter().all(|(_, dtype)| *dtype == ret);
        if ret.is_float() && !is_half(ret) && is_alike && reserved::MATH.contains(&function) {
            let args: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
            return Ok(Code::call(function, &args));
        }
        Err(Refusal::new(format!(
            "cannot call \"{name}\": a kernel has no C functions outside of its module"
        )))
    }

    fn ops(&self) -> &OpTable {
        &ops::TABLE
    }

    fn op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        if let Some(answer) = self.memory_op(call, prelude) {
            return Some(answer);
        }
        if !call.dtype.is_scalar() {
            return None;
        }
        let mut values = Vec::with_capacity(call.args.len());
        for arg in call.args {
            match arg {
                Argument::Value(code, dtype) => values.push((code.clone(), *dtype)),
                _ => return None,
            }
        }
        if let Err(refusal) = types::check(call.dtype, &self.features, prelude) {
            return Some(Err(refusal));
        }
        self.special_op(call.op, &values, call.dtype, prelude)
    }
}

impl OpenClDialect {
    /// Ops on pointers, of warps, and those that only a host has.
    fn memory_op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        let answer = match (call.op, call.args) {
            (Op::AddressOf, [Argument::Address(access)]) => access::address(access, prelude),
            (Op::AtomicAdd, _) => atomics::add(call, &self.features, prelude),
            (
                Op::WarpActivemask
                | Op::WarpShuffle
                | Op::WarpShuffleUp
                | Op::WarpShuffleDown
                | Op::WarpShuffleXor,
                _,
            ) => atomics::warp(call, &self.features, prelude),
            (Op::Isnullptr, [Argument::Value(value, _)]) => {
                Ok(Code::infix(Infix::Equal, value, &Code::primary("0")))
            }
            // A handle that is no buffer's is global.
            (Op::HandleAddByteOffset, [Argument::Value(handle, _), Argument::Value(offset, _)]) => {
                let bytes = Code::prefix("(__global uchar*)", handle);
                Ok(Code::prefix(
                    "(__global void*)",
                    &Code::primary(format!("({})", Code::infix(Infix::Add, &bytes, offset).text)),
                ))
            }
            (
                Op::StructGet
                | Op::StructSet
                | Op::HandleLoad
                | Op::AllocateWorkspace
                | Op::FreeWorkspace
                | Op::ThrowLastError
                | Op::CallPacked
                | Op::ParallelLaunch,
                _,
            ) => Err(Refusal::new(format!("has no {}: only a host has", call.op.name()))),
            (Op::ThreadAllreduce, _) => Err(Refusal::new(
                "has no tvm_thread_allreduce; lower it to shared memory before code is generated",
            )),
            _ => return None,
        };
        Some(answer)
    }
}
