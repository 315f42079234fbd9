//! Metal Shading Language, 2.3 and later.

mod access;
mod functions;
mod ops;
mod vectors;
mod warps;
mod words;

use chipdock_codegen_source::c_family::{CFamily, Cast, Half, Spellings, contains_word, is_half, values_of};
use chipdock_codegen_source::{
    Allocation, AllocationPlace, Answer, Argument, Assertion, Barrier, Code, Dialect, Infix, OpCall, Prelude,
    Refusal, Signature, Vector,
};
use chipdock_ir::{DType, Op, StorageRank, StorageScope, TypeCode};

/// The dialect of target `metal`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MslDialect {
    /// Whether bfloat16 in memory is the native `bfloat`.
    pub(crate) has_bfloat: bool,
    /// Whether the device has atomic additions of floats.
    pub(crate) has_atomic_float: bool,
    /// Whether warp operations are lowered to those of SIMD groups.
    pub(crate) has_simdgroups: bool,
}

static SPELLINGS: Spellings = Spellings {
    signed: ["char", "short", "int", "long"],
    unsigned: ["uchar", "ushort", "uint", "ulong"],
    float64: None,
    handle: None,
    address: None,
    null: None,
    least: ["int(0x80000000u)", "long(0x8000000000000000ul)"],
    suffixes: ["l", "ul"],
    cast: Cast::Call,
    warns_of_unread: false,
    axes: Some(["cd_block.x", "cd_block.y", "cd_block.z", "cd_thread.x", "cd_thread.y", "cd_thread.z"]),
    axis_advice: "; lower virtual threads first",
    popcount: Some(|_| "popcount(x)".to_owned()),
    clz: Some(|_| "clz(x)".to_owned()),
    ops: &ops::TABLE,
    words: words::RESERVED,
    ..Spellings::C99
};

/// A conversion, or a call with one argument.
fn one(name: &str, value: &Code) -> Code {
    Code::call(name, std::slice::from_ref(value))
}

/// Native types of halves in memory.
impl MslDialect {
    fn native_half(&self, dtype: DType) -> Option<&'static str> {
        match dtype.code {
            _ if !is_half(dtype) => None,
            TypeCode::BFloat => self.has_bfloat.then_some("bfloat"),
            _ => Some("half"),
        }
    }
}

impl CFamily for MslDialect {
    fn spellings(&self) -> &Spellings {
        &SPELLINGS
    }

    fn space(&self, scope: &StorageScope) -> Answer<&'static str> {
        match (scope.rank, scope.tag.as_str()) {
            (StorageRank::Global, "") => Ok("device"),
            (StorageRank::Shared, "" | ".dyn") => Ok("threadgroup"),
            (StorageRank::Local, "") => Ok("thread"),
            _ => Err(Refusal::new(format!(
                "has no memory of scope \"{scope}\"; it has global, shared, shared.dyn and local"
            ))),
        }
    }

    fn memory_type(&self, dtype: DType) -> Answer<&'static str> {
        match self.native_half(dtype) {
            Some(half) => Ok(half),
            None => SPELLINGS.memory(dtype).ok_or_else(|| self.refused_type(dtype)),
        }
    }

    fn refused_type(&self, dtype: DType) -> Refusal {
        let dtype = dtype.scalar();
        Refusal::new(match dtype.code {
            TypeCode::Handle => "has no untyped pointers: a pointer says where it points to".to_owned(),
            TypeCode::Float => format!("has no {dtype}: MSL has no double; use float32"),
            _ => format!("has no type {dtype}: it is lowered before"),
        })
    }

    fn bit_cast(&self, value: &Code, _: DType, to: DType, _: &mut Prelude) -> Answer<Code> {
        Ok(one(&format!("as_type<{}>", self.memory_type(to)?), value))
    }

    fn half_value(&self, bits: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        if dtype.code == TypeCode::BFloat {
            return Half::value(self, bits, dtype, prelude);
        }
        one("float", &one("as_type<half>", bits))
    }

    fn half_bits(&self, value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        if dtype.code == TypeCode::BFloat {
            return Half::bits(self, value, dtype, prelude);
        }
        one("as_type<ushort>", &one("half", value))
    }

    fn half_rounded(&self, value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        if dtype.code == TypeCode::BFloat {
            return Half::rounded(self, value, dtype, prelude);
        }
        one("float", &one("half", value))
    }

    /// An integer that a float would round is beyond the range of float16, but not of bfloat16.
    fn half_source(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        if from.is_float() {
            return Ok(value.clone());
        }
        if to.code != TypeCode::BFloat || from.bits <= 16 {
            return Ok(one("float", value));
        }
        prelude.define("cd_odd_of_ulong", |_| ODD_OF_ULONG.to_owned());
        if from.is_uint() {
            return Ok(one("cd_odd_of_ulong", &one("ulong", value)));
        }
        prelude.define("cd_odd_of_long", |_| ODD_OF_LONG.to_owned());
        Ok(one("cd_odd_of_long", &one("long", value)))
    }

    fn loaded(&self, element: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        if self.native_half(dtype).is_some() {
            one("float", element)
        } else if is_half(dtype) {
            self.half_value(element, dtype, prelude)
        } else if dtype.is_bool() {
            Code::infix(Infix::NotEqual, element, &Code::primary("0"))
        } else {
            element.clone()
        }
    }

    fn stored(&self, value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        if let Some(half) = self.native_half(dtype) {
            one(half, value)
        } else if is_half(dtype) {
            self.half_bits(value, dtype, prelude)
        } else if dtype.is_bool() {
            one("uchar", value)
        } else {
            value.clone()
        }
    }

    fn vector_load(
        &self,
        pointer: &Code,
        dtype: DType,
        scope: &StorageScope,
        _: &mut Prelude,
    ) -> Option<Answer<Code>> {
        vectors::is_packed(dtype).then(|| self.packed_load(pointer, dtype, scope))
    }

    fn vector_store(
        &self,
        pointer: &Code,
        value: &Code,
        dtype: DType,
        scope: &StorageScope,
        _: &mut Prelude,
    ) -> Option<Answer<String>> {
        vectors::is_packed(dtype).then(|| self.packed_store(pointer, value, dtype, scope))
    }

    fn vector_type(&self, dtype: DType, _: &mut Prelude) -> Answer<String> {
        self.vector_name(dtype)
    }

    fn lane(&self, name: &str, lane: &str, _: u16) -> String {
        format!("{name}[{lane}]")
    }

    fn lists_lanes(&self, _: u16) -> bool {
        true
    }

    fn vector_returned(&self, type_name: &str, _: u16, values: &[String]) -> String {
        format!("    return {type_name}({});\n", values.join(", "))
    }

    fn native_vector(&self, computation: &Vector<'_>, dtype: DType, _: &mut Prelude) -> Option<Answer<Code>> {
        self.own_vector(computation, dtype)
    }

    fn memory_op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        match (call.op, call.args) {
            (Op::AtomicAdd, [Argument::Address(access), Argument::Value(value, _)]) => {
                Some(self.atomic_add(access, value, call.dtype, prelude))
            }
            (Op::AtomicAdd | Op::AccessPtr | Op::HandleAddByteOffset | Op::Isnullptr, _) => {
                Some(Err(Refusal::new(format!(
                    "has no {} of an untyped pointer; index the buffer itself",
                    call.op.name()
                ))))
            }
            _ => self.warp_op(call.op, &values_of(call)?, call.dtype),
        }
    }
}

impl Dialect for MslDialect {
    fn name(&self) -> &str {
        "metal"
    }

    fn is_reserved(&self, name: &str) -> bool {
        // Vectors and matrices of every scalar: `float4`, `packed_int3`, `half2x2`.
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'x');
        let is_vector = stem != name && contains_word(words::RESERVED, stem.trim_start_matches("packed_"));
        contains_word(words::RESERVED, name)
            || is_vector
            || name.starts_with("atomic_")
            || name.starts_with("simd")
    }

    fn header(&self, _: &Prelude) -> String {
        "// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.\n\
         #include <metal_stdlib>\nusing namespace metal;\n"
            .to_owned()
    }

    fn allocation(&self, allocation: &Allocation<'_>, _: &mut Prelude) -> Answer<String> {
        self.allocation_text(allocation)
    }

    fn allocation_place(&self, scope: &StorageScope) -> AllocationPlace {
        if scope.rank == StorageRank::Shared { AllocationPlace::Function } else { AllocationPlace::Here }
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
}

const ODD_OF_ULONG: &str = "\
static inline float cd_odd_of_ulong(ulong x) {
    float f = float(x);
    bool is_above = f >= 18446744073709551616.0f || ulong(f) > x;
    if (!is_above && ulong(f) == x) return f;
    return as_type<float>((as_type<uint>(f) - (is_above ? 1u : 0u)) | 1u);
}
";

const ODD_OF_LONG: &str = "\
static inline float cd_odd_of_long(long x) {
    return x < 0 ? -cd_odd_of_ulong(0ul - ulong(x)) : cd_odd_of_ulong(ulong(x));
}
";
