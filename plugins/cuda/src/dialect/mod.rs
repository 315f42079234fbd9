//! CUDA C: self-contained text that NVRTC and nvcc compile without a header.

mod access;
mod calls;
mod halves;
pub(crate) mod ops;
mod reserved;
mod types;
mod vectors;

use chipdock_codegen_source::{
    Access, Allocation, Answer, Argument, Assertion, Barrier, Code, Dialect, Launch, OpCall, OpTable,
    Prelude, Refusal, Signature, Vector, word_of,
};
use chipdock_ir::{BinaryOp, DType, Op, PointerType, ThreadAxis};

use types::{HELPER, computed, is_half, scalar, short};

/// Threads of a warp.
const WARP_SIZE: i128 = 32;
/// The memory whose size the launch tells: one array for all kernels, since they are different types of one symbol.
const DYNAMIC: &str = "extern __shared__ __align__(16) unsigned char cd_dynamic[];\n";

/// The dialect of target `cuda`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CudaDialect {
    /// The file whose lines statements are said to come from, for debuggers and messages of the compiler.
    pub(crate) file: Option<String>,
}

impl CudaDialect {
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
            // A product of halves is exact in double, so that the sum is rounded once.
            (Op::Fma, [(a, _), (b, _), (c, _)]) if is_half(dtype) => {
                let double = |code: &Code| Code::prefix("(double)", code);
                let fma = Code::call("fma", &[double(a), double(b), double(c)]);
                Some(types::cast(&fma, DType::FLOAT64, dtype, prelude))
            }
            _ => None,
        }
    }
}

/// The body of a guarded division or remainder of integers `a` and `b`.
fn division_body(op: BinaryOp, dtype: DType) -> Answer<String> {
    let is_quotient = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv);
    if dtype.is_uint() {
        let body = if is_quotient { "return b == 0 ? a : a / b;" } else { "return b == 0 ? 0 : a % b;" };
        return Ok(body.to_owned());
    }
    let (unsigned, int_type) = (types::unsigned(dtype), scalar(dtype)?);
    let guard = if is_quotient {
        format!("if (b == 0) return a;\n    if (b == -1) return ({int_type})(0 - ({unsigned})a);\n    ")
    } else {
        "if (b == 0 || b == -1) return 0;\n    ".to_owned()
    };
    let result = match op {
        BinaryOp::Div => "return a / b;",
        BinaryOp::Mod => "return a % b;",
        BinaryOp::FloorDiv => "return a / b - (a % b != 0 && (a < 0) != (b < 0));",
        _ => "return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;",
    };
    Ok(format!("{guard}{result}"))
}

impl Dialect for CudaDialect {
    fn name(&self) -> &str {
        "cuda"
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

    fn header(&self, _: &Prelude) -> String {
        "// Written by chipdock for target cuda: CUDA C++ that needs no header.\n\
         // nvcc -x cu -ptx -arch=ARCH FILE\n"
            .to_owned()
    }

    fn value_type(&self, dtype: DType, prelude: &mut Prelude) -> Answer<String> {
        if dtype.is_scalar() { Ok(scalar(dtype)?.to_owned()) } else { vectors::vector_type(dtype, prelude) }
    }

    fn pointer_type(&self, pointer: Option<&PointerType>, _: &mut Prelude) -> Answer<String> {
        types::pointer(pointer)
    }

    fn variable(&self, type_name: &str, name: &str, value: Option<&Code>) -> String {
        match value {
            // C++ makes no typed pointer of an untyped one by itself.
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

    fn allocation(&self, allocation: &Allocation<'_>, _: &mut Prelude) -> Answer<String> {
        access::allocation(allocation)
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
        Ok(Code::prefix(&format!("({})", scalar(to)?), value))
    }

    fn rounded(&self, value: Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        Ok(if is_half(dtype) { halves::round(&value, dtype, prelude) } else { value })
    }

    fn guarded(&self, op: BinaryOp, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let dtype = computed(dtype);
        let is_order = matches!(op, BinaryOp::Min | BinaryOp::Max);
        if !(dtype.is_integer() || is_order && (dtype.is_float() || dtype.is_bool())) {
            return Err(Refusal::new(format!("has no {} of {dtype}", word_of(op))));
        }
        let (name, type_name) = (format!("cd_{}_{}", word_of(op), short(dtype)), scalar(dtype)?);
        let body = match op {
            BinaryOp::Min => "return a < b ? a : b;".to_owned(),
            BinaryOp::Max => "return a > b ? a : b;".to_owned(),
            _ => division_body(op, dtype)?,
        };
        prelude.define(&name, |_| {
            format!("{HELPER} {type_name} {name}({type_name} a, {type_name} b) {{\n    {body}\n}}\n")
        });
        Ok(Code::call(&name, &[a.clone(), b.clone()]))
    }

    fn instead_of(&self, operand: &Code, result: &Code) -> Code {
        Code::primary(format!("((void){}, {})", operand.operand(), result.text))
    }

    fn thread_index(&self, axis: ThreadAxis, dtype: DType, _: &mut Prelude) -> Answer<Code> {
        let name = match axis {
            ThreadAxis::BlockX
            | ThreadAxis::BlockY
            | ThreadAxis::BlockZ
            | ThreadAxis::ThreadX
            | ThreadAxis::ThreadY
            | ThreadAxis::ThreadZ => axis.name(),
            _ => {
                return Err(Refusal::new(format!(
                    "has no thread axis {axis}; expected blockIdx or threadIdx"
                )));
            }
        };
        // blockIdx.x is below 2^31, the others are smaller.
        Ok(Code::prefix(&format!("({})", scalar(dtype)?), &Code::primary(name)))
    }

    fn barrier(&self, barrier: &Barrier<'_>, _: &mut Prelude) -> Answer<String> {
        match barrier.scope {
            // It orders all memory among the block's threads.
            "shared" | "shared.dyn" => Ok("__syncthreads();".to_owned()),
            "warp" => Ok("__syncwarp();".to_owned()),
            other => Err(Refusal::new(format!(
                "has no barrier of scope \"{other}\"; expected shared, shared.dyn or warp"
            ))),
        }
    }

    fn load(&self, access: &Access, prelude: &mut Prelude) -> Answer<Code> {
        access::load(access, prelude)
    }

    fn store(&self, access: &Access, value: &Code, prelude: &mut Prelude) -> Answer<String> {
        access::store(access, value, prelude)
    }

    fn vector(&self, computation: Vector<'_>, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        self.vector_text(computation, dtype, prelude)
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
            let type_name = types::pointer(param.pointer.as_ref())?;
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
        // Elements of a type that there is none of are refused where they are accessed.
        let element = types::memory(shared.element.scalar()).unwrap_or("unsigned char");
        vec![format!("{volatile}{element}* const {} = ({volatile}{element}*)cd_dynamic;", shared.name)]
    }

    fn assert(&self, _: &Assertion<'_>, _: &mut Prelude) -> Answer<String> {
        Err(Refusal::new("has no assertions: a kernel cannot fail with an error; check before the launch"))
    }

    fn call_extern(&self, name: &str, args: &[(Code, DType)], ret: DType, _: &mut Prelude) -> Answer<Code> {
        calls::call_extern(name, args, ret)
    }

    fn ops(&self) -> &OpTable {
        &ops::TABLE
    }

    fn op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        if let Some(answer) = calls::op(call, prelude) {
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
        self.special_op(call.op, &values, call.dtype, prelude)
    }
}

/// What the compiler is told of the launch, so that registers suffice for it.
fn bounds(launch: &Launch) -> String {
    let threads = launch.block.iter().try_fold(1_u64, |product, extent| product.checked_mul((*extent)?));
    match threads {
        Some(threads) if threads > 0 => format!("__launch_bounds__({threads}) "),
        _ => String::new(),
    }
}
