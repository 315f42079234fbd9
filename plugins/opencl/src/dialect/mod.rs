//! OpenCL C 1.2, which every driver compiles; extensions are enabled by name where they are used.

mod access;
mod atomics;
mod ops;
mod reserved;
mod rounding;
mod vectors;

use chipdock_codegen_source::c_family::{
    CFamily, Cast, Half, NativeVectors, Spellings, Structures, computed, contains_word, is_half, scalar,
    short,
};
use chipdock_codegen_source::{
    Allocation, AllocationPlace, Answer, Argument, Assertion, Barrier, Code, Dialect, Expressions as _,
    Infix, Launch, OpCall, Prelude, Refusal, Signature, Vector,
};
use chipdock_ir::{DType, Op, PointerType, StorageRank, StorageScope, Target};

/// The parts of the language that a target supports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    /// The type `double`.
    pub(crate) has_float64: bool,
    /// Atomic operations of 64 bits.
    pub(crate) has_int64_atomics: bool,
    /// Subgroups with shuffles and ballots.
    pub(crate) has_subgroups: bool,
    /// Correctly rounded quotients and square roots of float32, on request.
    pub(crate) divides: bool,
    /// Whether the kernel is built for speed rather than for the IR's arithmetic.
    pub(crate) is_fast: bool,
    /// Number of threads that run in step.
    pub(crate) warp_size: i64,
}

impl Features {
    /// Reads the features from a target's options.
    pub(crate) fn from_target(target: &Target) -> Self {
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

/// Records that the text needs an extension.
fn extension(name: &'static str, prelude: &mut Prelude) {
    prelude.define(name, |_| String::new());
}

/// Extensions that a text may need, sorted.
pub(crate) const EXTENSIONS: &[&str] = &[
    "cl_khr_fp64",
    "cl_khr_int64_base_atomics",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroups",
];

/// Returns true if an op has a spelling for any type.
#[cfg(test)]
pub(crate) fn is_spelled(op: Op) -> bool {
    matches!(op, Op::Popcount | Op::Clz) || !ops::TABLE.types(op).is_empty()
}

static SPELLINGS: Spellings = Spellings {
    helper: "static inline",
    signed: ["char", "short", "int", "long"],
    unsigned: ["uchar", "ushort", "uint", "ulong"],
    float64: Some("double"),
    handle: None,
    address: None,
    null: Some("0"),
    least: ["INT_MIN", "LONG_MIN"],
    suffixes: ["L", "UL"],
    cast: Cast::Prefix,
    has_const_pointers: true,
    warns_of_unread: false,
    axes: Some([
        "get_group_id(0)",
        "get_group_id(1)",
        "get_group_id(2)",
        "get_local_id(0)",
        "get_local_id(1)",
        "get_local_id(2)",
    ]),
    axis_advice: "; virtual threads are loops",
    structures: Structures {
        member: "s",
        definition: |name, element, lanes| format!("typedef struct {{ {element} s[{lanes}]; }} {name};\n"),
        loop_hint: "",
    },
    popcount: None,
    clz: None,
    ops: &ops::TABLE,
    words: reserved::WORDS,
};

impl CFamily for OpenClDialect {
    fn spellings(&self) -> &Spellings {
        &SPELLINGS
    }

    fn space(&self, scope: &StorageScope) -> Answer<&'static str> {
        let is_plain = scope.tag.is_empty();
        match scope.rank {
            StorageRank::Global if is_plain => Ok("__global"),
            StorageRank::Shared if is_plain || scope.is_dynamic_shared() => Ok("__local"),
            StorageRank::Local if is_plain => Ok("__private"),
            _ => Err(Refusal::new(format!(
                "has no storage scope {scope}; expected global, shared, shared.dyn or local"
            ))),
        }
    }

    fn check(&self, dtype: DType, prelude: &mut Prelude) -> Answer<()> {
        if dtype.is_float() && dtype.bits == 64 {
            if !self.features.has_float64 {
                return Err(Refusal::new(
                    "has no float64: its option supports_float64 says that the device lacks it; compute in float32",
                ));
            }
            extension("cl_khr_fp64", prelude);
        }
        Ok(())
    }

    /// Untyped pointers point to global memory.
    fn pointer(&self, pointer: Option<&PointerType>) -> Answer<String> {
        self.pointer_text(pointer, false)
    }

    fn not_finite(&self, value: f64, dtype: DType, _: &mut Prelude) -> Answer<Code> {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let text = match (dtype == DType::FLOAT64, value.is_nan()) {
            (true, true) => "as_double(0x7ff8000000000000UL)",
            (true, false) => "as_double(0x7ff0000000000000UL)",
            (false, true) => "NAN",
            (false, false) => "INFINITY",
        };
        Ok(Code::primary(format!("{sign}{text}")))
    }

    fn bit_cast(&self, value: &Code, _: DType, to: DType, _: &mut Prelude) -> Answer<Code> {
        Ok(Code::call(&format!("as_{}", self.memory_type(to)?), std::slice::from_ref(value)))
    }

    /// Defines both helpers of a type at once. Device code has no type half without `cl_khr_fp16`,
    /// but memory may contain halves.
    fn define_half(&self, half: Half, prelude: &mut Prelude) {
        match half {
            Half::F16Value | Half::F16Bits => prelude.define(Half::F16Bits.name(), |prelude| {
                self.define_alias(prelude);
                FLOAT16.to_owned()
            }),
            Half::Bf16Value | Half::Bf16Bits => {
                Half::Bf16Value.define(self, prelude);
                Half::Bf16Bits.define(self, prelude);
            }
        }
    }

    fn half_source(&self, value: &Code, from: DType, _: DType, prelude: &mut Prelude) -> Answer<Code> {
        if from.is_float() && from.bits <= 32 {
            return Ok(value.clone());
        }
        if from.is_integer() && from.bits <= 16 {
            return Ok(Code::prefix("(float)", value));
        }
        // A float with the value, whose last bit is set if it is inexact: rounding that once more
        // is correct.
        let (name, from_type) = (format!("cd_odd_from_{from}"), scalar(self, from)?);
        prelude.define(&name, |_| {
            let is_other = match from.is_float() {
                true => "(double)f != x && x == x".to_owned(),
                // Rounded toward zero it is within the integer's range.
                false => format!("({from_type})f != x"),
            };
            format!(
                "static inline float {name}({from_type} x) {{\n    float f = convert_float_rtz(x);\n    \
                 return {is_other} ? as_float(as_uint(f) | 1u) : f;\n}}\n"
            )
        });
        Ok(Code::call(&name, std::slice::from_ref(value)))
    }

    fn alias(&self, element: &str, name: &str) -> Option<String> {
        Some(format!("typedef {element} CD_MAY_ALIAS {name};\n"))
    }

    fn define_alias(&self, prelude: &mut Prelude) {
        prelude.define("CD_MAY_ALIAS", |_| MAY_ALIAS.to_owned());
    }

    fn vector_load(
        &self,
        pointer: &Code,
        dtype: DType,
        _: &StorageScope,
        _: &mut Prelude,
    ) -> Option<Answer<Code>> {
        let args = [Code::primary("0"), pointer.clone()];
        vectors::is_stored_as_held(dtype).then(|| Ok(Code::call(&format!("vload{}", dtype.lanes), &args)))
    }

    fn vector_store(
        &self,
        pointer: &Code,
        value: &Code,
        dtype: DType,
        _: &StorageScope,
        _: &mut Prelude,
    ) -> Option<Answer<String>> {
        let args = [value.clone(), Code::primary("0"), pointer.clone()];
        let call = || format!("{};", Code::call(&format!("vstore{}", dtype.lanes), &args).text);
        vectors::is_stored_as_held(dtype).then(|| Ok(call()))
    }

    fn vector_type(&self, dtype: DType, prelude: &mut Prelude) -> Answer<String> {
        self.vector_name(dtype, prelude)
    }

    fn lane(&self, name: &str, lane: &str, lanes: u16) -> String {
        vectors::lane(name, lane, lanes)
    }

    fn lists_lanes(&self, lanes: u16) -> bool {
        self.has_lanes(lanes)
    }

    fn vector_returned(&self, type_name: &str, lanes: u16, values: &[String]) -> String {
        let values = values.join(", ");
        if self.has_lanes(lanes) {
            format!("    return ({type_name})({values});\n")
        } else {
            format!("    {type_name} r = {{{{{values}}}}};\n    return r;\n")
        }
    }

    fn native_vectors(&self) -> Option<&dyn NativeVectors> {
        Some(self)
    }

    fn native_vector(
        &self,
        computation: &Vector<'_>,
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        self.own_vector(computation, dtype, prelude)
    }

    fn quotient_helper(&self, dtype: DType, prelude: &mut Prelude) -> Option<&'static str> {
        (dtype == DType::FLOAT32 && !self.features.divides).then(|| rounding::define_divide(prelude))
    }

    fn special_op(
        &self,
        op: Op,
        args: &[(Code, DType)],
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        match (op, args) {
            (Op::BitwiseXor, [(a, from), (b, _)]) if from.is_bool() => {
                Some(Ok(Code::infix(Infix::NotEqual, a, b)))
            }
            (Op::BitwiseAnd, [(a, from), (b, _)]) if from.is_bool() => {
                Some(Ok(Code::infix(Infix::And, a, b)))
            }
            (Op::BitwiseOr, [(a, from), (b, _)]) if from.is_bool() => Some(Ok(Code::infix(Infix::Or, a, b))),
            (Op::Popcount | Op::Clz, [(value, from)]) if from.is_integer() => {
                Some(self.counted(op, value, *from, prelude))
            }
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

    fn memory_op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        self.device_op(call, prelude)
    }
}

impl OpenClDialect {
    /// A pointer type; untyped pointers point to global memory.
    fn pointer_text(&self, pointer: Option<&PointerType>, is_const: bool) -> Answer<String> {
        let is_const = if is_const { "const " } else { "" };
        match pointer {
            None => Ok(format!("__global {is_const}void*")),
            Some(pointer) => {
                let space = self.space(&pointer.scope)?;
                Ok(format!("{space} {is_const}{}*", self.memory_type(pointer.element)?))
            }
        }
    }

    /// Number of set bits or leading zeros; the language's functions return the type of their
    /// argument.
    fn counted(&self, op: Op, value: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let (name, own) = (if op == Op::Clz { "clz" } else { "popcount" }, scalar(self, dtype)?);
        if op == Op::Popcount && dtype.bits >= 32 {
            return Ok(Code::call(name, std::slice::from_ref(value)));
        }
        let (ret, count) = match (op, dtype) {
            (Op::Popcount, _) => (own, "popcount(x)".to_owned()),
            (_, DType::INT32) => ("int", "x == 0 ? 32 : clz(x)".to_owned()),
            _ => ("int", format!("x == 0 ? {} : (int)clz(x)", dtype.bits)),
        };
        let name = format!("cd_{name}_{}", short(dtype));
        prelude
            .define(&name, |_| format!("static inline {ret} {name}({own} x) {{\n    return {count};\n}}\n"));
        Ok(Code::call(&name, std::slice::from_ref(value)))
    }
}

/// The attribute of a kernel for the number of threads per block, if it is constant.
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

    fn is_reserved(&self, name: &str) -> bool {
        reserved::is_reserved(name)
    }

    fn header(&self, prelude: &Prelude) -> String {
        let mut text = String::from("// Written by chipdock for target opencl: OpenCL C 1.2.\n");
        for name in EXTENSIONS.iter().filter(|name| prelude.contains(name)) {
            text.push_str(&format!("#pragma OPENCL EXTENSION {name} : enable\n"));
        }
        text.push('\n');
        text
    }

    fn unroll_hint(&self, count: Option<i128>, _: &mut Prelude) -> String {
        format!("#pragma unroll {}", count.unwrap_or(8).clamp(1, 1024))
    }

    fn allocation(&self, allocation: &Allocation<'_>, prelude: &mut Prelude) -> Answer<String> {
        access::allocation(self, allocation, prelude)
    }

    fn allocation_place(&self, scope: &StorageScope) -> AllocationPlace {
        match self.space(scope) {
            Ok("__local") => AllocationPlace::Function,
            _ => AllocationPlace::Here,
        }
    }

    fn barrier(&self, barrier: &Barrier<'_>, prelude: &mut Prelude) -> Answer<String> {
        let fences = if barrier.orders_global {
            "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
        } else {
            "CLK_LOCAL_MEM_FENCE"
        };
        match barrier.scope {
            "shared" | "shared.dyn" => Ok(format!("barrier({fences});")),
            // A single thread need not wait.
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

    fn signature(&self, signature: &Signature, prelude: &mut Prelude) -> Answer<String> {
        let is_kernel = signature.launch.is_some();
        let mut params = Vec::with_capacity(signature.params.len() + 1);
        for param in &signature.params {
            if !param.dtype.is_handle() {
                self.check(param.dtype, prelude)?;
                // A kernel must not have a `bool` parameter: its size depends on the device.
                let own = if is_kernel { self.memory_type(param.dtype)? } else { scalar(self, param.dtype)? };
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
                self.check(pointer.element, prelude)?;
            }
            let type_name = self.pointer_text(param.pointer.as_ref(), !param.is_written)?;
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
                        self.check(shared.element, prelude)?;
                        Some(format!("__local {}* {}", self.memory_type(shared.element)?, shared.name))
                    }
                    None => None,
                };
                let name = &signature.name;
                Ok(format!("__kernel {}void {name}({})", block_attribute(launch), params(dynamic)))
            }
            (Some(_), ..) => Err(Refusal::new("has no kernels that return something; write it to a buffer")),
            (None, 0, ret) => {
                let ret = ret.map_or(Ok("void"), |ret| scalar(self, ret))?;
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
        self.check(ret, prelude)?;
        // Mathematical functions of the C library that the language has under the name without `f`.
        let function = if ret == DType::FLOAT32 { name.strip_suffix('f').unwrap_or(name) } else { name };
        let is_alike = args.iter().all(|(_, dtype)| *dtype == ret);
        if ret.is_float() && !is_half(ret) && is_alike && contains_word(&[reserved::MATH], function) {
            let args: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
            return Ok(Code::call(function, &args));
        }
        Err(Refusal::new(format!(
            "cannot call \"{name}\": a kernel has no C functions outside of its module"
        )))
    }
}

impl OpenClDialect {
    /// Ops on pointers and of warps, and those that only a host supports.
    fn device_op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        let answer = match (call.op, call.args) {
            (Op::AtomicAdd, _) => atomics::add(self, call, prelude),
            (op, _) if op.threads().is_of_warp() => atomics::warp(self, call, prelude),
            // A handle that does not belong to a buffer is global.
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

/// An attribute after a type, for memory that is accessed as several types.
const MAY_ALIAS: &str = "\
#if defined(__clang__) || defined(__GNUC__)
#define CD_MAY_ALIAS __attribute__((may_alias))
#else
#define CD_MAY_ALIAS
#endif
";

const FLOAT16: &str = "\
typedef ushort CD_MAY_ALIAS cd_f16_memory;
static inline float cd_f16_value(ushort x) {
    cd_f16_memory bits = x;
    return vload_half(0, (const __private half*)&bits);
}
static inline ushort cd_f16_bits(float x) {
    cd_f16_memory bits;
    vstore_half_rte(x, 0, (__private half*)&bits);
    return bits;
}
";
