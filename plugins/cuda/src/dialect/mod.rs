//! CUDA C: self-contained text that NVRTC and nvcc compile without headers.

mod access;
mod calls;
pub(crate) mod ops;
mod reserved;

use chipdock_codegen_source::c_family::{
    CFamily, Cast, Half, LaneAccess, Spellings, Structures, constant_array, half_fma, half_next, is_half,
};
use chipdock_codegen_source::{
    Allocation, Answer, Assertion, Barrier, Code, ConstantArray, Dialect, Expressions as _, Launch, OpCall,
    Prelude, Refusal, Signature,
};
use chipdock_ir::{DType, Op, PointerType, StorageRank, StorageScope};

/// Number of threads of a warp.
const WARP_SIZE: i128 = 32;
/// Shared memory whose size is a launch parameter: one array for all kernels, since they use one
/// symbol with different types.
const DYNAMIC: &str = "extern __shared__ __align__(16) unsigned char cd_dynamic[];\n";

/// The dialect of target `cuda`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CudaDialect {
    /// The source file that the lines of statements refer to, for debuggers and messages of the
    /// compiler.
    pub(crate) file: Option<String>,
}

static SPELLINGS: Spellings = Spellings {
    helper: "static __device__ __forceinline__",
    // A plain `char` is unsigned on some machines on which a compiler runs.
    signed: ["signed char", "short", "int", "long long"],
    unsigned: ["unsigned char", "unsigned short", "unsigned int", "unsigned long long"],
    float64: Some("double"),
    handle: Some("void*"),
    address: Some("unsigned long long"),
    null: Some("nullptr"),
    least: ["(-2147483647 - 1)", "(-9223372036854775807LL - 1)"],
    suffixes: ["LL", "ULL"],
    cast: Cast::Prefix,
    has_const_pointers: true,
    warns_of_unread: true,
    axes: Some(["blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z"]),
    axis_advice: "; expected blockIdx or threadIdx",
    structures: Structures {
        member: "v",
        definition: |name, element, lanes| format!("struct {name} {{\n    {element} v[{lanes}];\n}};\n"),
        loop_hint: "#pragma unroll\n",
    },
    popcount: Some(|bits| if bits > 32 { "__popcll(x)" } else { "__popc(x)" }.to_owned()),
    clz: Some(|bits| match bits {
        64 => "__clzll((long long)x)".to_owned(),
        32 => "__clz((int)x)".to_owned(),
        _ => format!("__clz((int)x) - {}", 32 - bits),
    }),
    ops: &ops::TABLE,
    words: reserved::WORDS,
};

/// A call with one argument.
fn one(function: &str, value: &Code) -> Code {
    Code::call(function, std::slice::from_ref(value))
}

impl CFamily for CudaDialect {
    fn spellings(&self) -> &Spellings {
        &SPELLINGS
    }

    /// Pointer types do not name the memory that they point to.
    fn space(&self, scope: &StorageScope) -> Answer<&'static str> {
        match (scope.rank, scope.tag.as_str()) {
            (StorageRank::Global | StorageRank::Local | StorageRank::Shared, "")
            | (StorageRank::Shared, ".dyn") => Ok(""),
            _ => Err(Refusal::new(format!(
                "has no storage scope {scope} in the text; expected global, shared, shared.dyn or local"
            ))),
        }
    }

    fn not_finite(&self, value: f64, dtype: DType, _: &mut Prelude) -> Answer<Code> {
        Ok(Code::primary(if dtype == DType::FLOAT64 {
            format!("__longlong_as_double({:#x}LL)", value.to_bits())
        } else {
            format!("__int_as_float({:#x})", (value as f32).to_bits())
        }))
    }

    fn bit_cast(&self, value: &Code, from: DType, to: DType, _: &mut Prelude) -> Answer<Code> {
        // The language's functions take and return signed integers.
        let signed = |code: &Code, of: &str| {
            if from.is_uint() { Code::prefix(&format!("({of})"), code) } else { code.clone() }
        };
        Ok(match (to.is_float(), to.bits) {
            (true, 32) => one("__int_as_float", &signed(value, "int")),
            (true, _) => one("__longlong_as_double", &signed(value, "long long")),
            (false, 32) if to.is_int() => one("__float_as_int", value),
            (false, 32) => Code::prefix("(unsigned int)", &one("__float_as_int", value)),
            (false, _) if to.is_int() => one("__double_as_longlong", value),
            (false, _) => Code::prefix("(unsigned long long)", &one("__double_as_longlong", value)),
        })
    }

    /// Converts float16 by PTX instructions instead of `cuda_fp16.h`; the instruction for bfloat16
    /// is newer than the oldest architecture.
    fn define_half(&self, half: Half, prelude: &mut Prelude) {
        let text = match half {
            Half::F16Value => F16_VALUE,
            Half::F16Bits => F16_BITS,
            _ => return half.define(self, prelude),
        };
        prelude.define(half.name(), |_| format!("{} {text}", SPELLINGS.helper));
    }

    fn access_suffix(&self, access: &LaneAccess<'_>) -> Answer<String> {
        let has_suffix = access.index.is_none() && !access.is_masked && access::is_local(access);
        Ok(if has_suffix { "_local" } else { "" }.to_owned())
    }

    fn lanes_body(&self, access: &LaneAccess<'_>, prelude: &mut Prelude) -> Option<Answer<String>> {
        access::chunk_size_bytes(access).map(|chunk| Ok(access::chunked(self, access, chunk, prelude)))
    }

    fn special_op(
        &self,
        op: Op,
        args: &[(Code, DType)],
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        match (op, args) {
            (Op::Fma, _) if is_half(dtype) => half_fma(self, args, dtype, prelude),
            (Op::Nextafter, [(a, _), (b, _)]) if is_half(dtype) => {
                Some(Ok(half_next(self, a, b, dtype, prelude)))
            }
            _ => None,
        }
    }

    fn memory_op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        calls::op(self, call, prelude)
    }
}

impl Dialect for CudaDialect {
    fn name(&self) -> &str {
        "cuda"
    }

    fn is_reserved(&self, name: &str) -> bool {
        reserved::is_reserved(name)
    }

    fn header(&self, _: &Prelude) -> String {
        "// Written by chipdock for target cuda: CUDA C++ that needs no header.\n\
         // nvcc -x cu -ptx -arch=ARCH FILE\n"
            .to_owned()
    }

    fn variable(&self, type_name: &str, name: &str, value: Option<&Code>) -> String {
        match value {
            // C++ does not convert an untyped pointer to a typed one implicitly.
            Some(value) if type_name.ends_with('*') => {
                format!("{type_name} {name} = {};", Code::prefix(&format!("({type_name})"), value).text)
            }
            Some(value) => format!("{type_name} {name} = {};", value.text),
            None => format!("{type_name} {name};"),
        }
    }

    fn unroll_hint(&self, _: Option<i128>, _: &mut Prelude) -> String {
        "#pragma unroll".to_owned()
    }

    fn place(&self, line: Option<u32>) -> Option<String> {
        let file =
            self.file.as_deref()?.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
        Some(match line {
            Some(line) => format!("#line {line} \"{file}\""),
            None => "#line 1 \"<chipdock>\"".to_owned(),
        })
    }

    fn constant_array(&self, array: &ConstantArray<'_>, prelude: &mut Prelude) -> Answer<Code> {
        let pointee = PointerType { element: array.element, scope: StorageScope::GLOBAL };
        let pointer = self.pointer_type(Some(&pointee), prelude)?;
        // In global memory: constant memory has 64 KiB, and serves one address at a time.
        let head = |element: &str, name: &str, count: usize, alignment: u32| {
            format!("static __device__ const __align__({alignment}) {element} {name}[{count}]")
        };
        constant_array(self, array, &pointer, &head, prelude)
    }

    fn allocation(&self, allocation: &Allocation<'_>, _: &mut Prelude) -> Answer<String> {
        access::allocation(self, allocation)
    }

    fn barrier(&self, barrier: &Barrier<'_>, _: &mut Prelude) -> Answer<String> {
        match barrier.scope {
            // Orders all memory among the block's threads.
            "shared" | "shared.dyn" => Ok("__syncthreads();".to_owned()),
            "warp" => Ok("__syncwarp();".to_owned()),
            other => Err(Refusal::new(format!(
                "has no barrier of scope \"{other}\"; expected shared, shared.dyn or warp"
            ))),
        }
    }

    fn signature(&self, signature: &Signature, prelude: &mut Prelude) -> Answer<String> {
        let is_kernel = signature.calling_conv == 2;
        let mut params = Vec::with_capacity(signature.params.len());
        for param in &signature.params {
            if !param.dtype.is_handle() {
                if is_kernel && is_half(param.dtype) {
                    return Err(Refusal::new(format!(
                        "has no kernel argument of type {}: parameter {} comes as float32",
                        param.dtype, param.name
                    )));
                }
                params.push(format!("{} {}", self.value_type(param.dtype, prelude)?, param.name));
                continue;
            }
            let constant =
                if param.pointer.is_some() && !param.is_written && !param.is_atomic { "const " } else { "" };
            let restrict = if param.pointer.is_some() && signature.is_noalias { " __restrict__" } else { "" };
            let type_name = self.pointer(param.pointer.as_ref())?;
            params.push(format!("{constant}{type_name}{restrict} {}", param.name));
        }
        let (name, params) = (&signature.name, params.join(", "));
        match (signature.calling_conv, &signature.launch) {
            (0, _) => {
                let inline = if signature.is_no_inline || signature.is_cold { "__noinline__ " } else { "" };
                let ret = match signature.ret {
                    Some(ret) => self.value_type(ret, prelude)?,
                    None => "void".to_owned(),
                };
                Ok(format!("static __device__ {inline}{ret} {name}({params})"))
            }
            (2, Some(launch)) => {
                if let Some(ret) = signature.ret {
                    return Err(Refusal::new(format!("has no kernels that return {ret}; expected none")));
                }
                Ok(format!("extern \"C\" __global__ void {}{name}({params})", bounds(launch)))
            }
            (other, _) => Err(Refusal::new(format!(
                "has no functions of calling convention {other}; expected 2 (kernel) or 0 (called by kernels)"
            ))),
        }
    }

    fn preamble(&self, signature: &Signature, prelude: &mut Prelude) -> Vec<String> {
        let Some(shared) = signature.launch.as_ref().and_then(|launch| launch.dynamic_shared.as_ref()) else {
            return Vec::new();
        };
        if shared.uses == Default::default() {
            return Vec::new();
        }
        prelude.define("cd_dynamic", |_| DYNAMIC.to_owned());
        let volatile = if shared.uses.is_volatile { "volatile " } else { "" };
        // Elements of an unsupported type are refused where they are accessed.
        let element = self.memory_type(shared.element.scalar()).unwrap_or("unsigned char");
        vec![format!("{volatile}{element}* const {} = ({volatile}{element}*)cd_dynamic;", shared.name)]
    }

    fn assert(&self, _: &Assertion<'_>, _: &mut Prelude) -> Answer<String> {
        Err(Refusal::new("has no assertions: a kernel cannot fail with an error; check before the launch"))
    }

    fn call_extern(&self, name: &str, args: &[(Code, DType)], ret: DType, _: &mut Prelude) -> Answer<Code> {
        calls::call_extern(name, args, ret)
    }
}

/// Launch bounds for the compiler, so that registers suffice for the launch.
fn bounds(launch: &Launch) -> String {
    let threads = launch.block.iter().try_fold(1_u64, |product, extent| product.checked_mul((*extent)?));
    match threads {
        Some(threads) if threads > 0 => format!("__launch_bounds__({threads}) "),
        _ => String::new(),
    }
}

const F16_VALUE: &str = "\
float cd_f16_value(unsigned short bits) {
    float x;
    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(bits));
    return x;
}
";

const F16_BITS: &str = "\
unsigned short cd_f16_bits(float x) {
    unsigned short bits;
    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(x));
    return bits;
}
";
