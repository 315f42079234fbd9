//! C11 with GNU vector extensions, for gcc and clang.

mod access;
pub(crate) mod halves;
mod ops;
mod runtime;
mod types;
mod vectors;

use chipdock_codegen_source::{
    Access, Allocation, Answer, Assertion, Barrier, Code, Dialect, OpCall, OpTable, Prelude, Refusal,
    Signature, Vector, is_identifier, word_of,
};
use chipdock_ir::{BinaryOp, DType, Op, PointerType, ThreadAxis};

use types::{computed, is_half, scalar, short};

/// Bytes of stack that one buffer may take.
const STACK_SIZE_BYTES_MAX: i128 = 64 * 1024;

/// The dialect of target `c`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CDialect {
    /// The file whose lines statements are said to come from, for debuggers and messages of the compiler.
    pub(crate) file: Option<String>,
}

/// Keywords, what the headers define that could be a variable's name, and names that gcc predefines.
const RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "complex",
    "const",
    "continue",
    "default",
    "do",
    "dlsym",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "i386",
    "if",
    "imaginary",
    "inline",
    "int",
    "l",
    "linux",
    "long",
    "main",
    "max_align_t",
    "noreturn",
    "offsetof",
    "ptrdiff_t",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "thread_local",
    "true",
    "typedef",
    "typeof",
    "union",
    "unix",
    "unsigned",
    "va_arg",
    "va_copy",
    "va_end",
    "va_list",
    "va_start",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "NULL",
];

/// `condition`, which is hardly ever true.
fn unlikely(condition: &Code) -> Code {
    // `!__builtin_expect(x, 1)` says as much already.
    if condition.text.starts_with("!__builtin_expect(") {
        return condition.clone();
    }
    Code::primary(format!("__builtin_expect({}, 0)", condition.text))
}

impl CDialect {
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
                let fma = Code::call("__builtin_fma", &[double(a), double(b), double(c)]);
                Some(types::cast(&fma, DType::FLOAT64, dtype, prelude))
            }
            (Op::Nextafter, [(a, _), (b, _)]) if is_half(dtype) => Some(Ok(next_half(a, b, dtype, prelude))),
            _ => None,
        }
    }
}

/// The next half from `a` towards `b`: halves of one sign are ordered as their bits are.
fn next_half(a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    let name = format!("cd_nextafter_{}", short(dtype));
    prelude.define(&name, |prelude| {
        let bits = halves::bits(&Code::primary("a"), dtype, prelude).text;
        let value = halves::value(&Code::primary("bits"), dtype, prelude).text;
        let least = halves::value(&Code::primary("1"), dtype, prelude).text;
        format!(
            "static inline float {name}(float a, float b) {{\n    if (a != a || b != b) return a + b;\n    \
             if (a == b) return b;\n    if (a == 0) return __builtin_copysignf({least}, b);\n    \
             uint16_t bits = {bits};\n    bits += (a < b) == (a > 0) ? 1 : -1;\n    return {value};\n}}\n"
        )
    });
    Code::call(&name, &[a.clone(), b.clone()])
}

/// The body of a guarded division or remainder of integers `a` and `b`.
fn division_body(op: BinaryOp, dtype: DType) -> String {
    let is_quotient = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv);
    if dtype.is_uint() {
        return if is_quotient { "return b == 0 ? a : a / b;" } else { "return b == 0 ? 0 : a % b;" }
            .to_owned();
    }
    let unsigned = if dtype.bits > 32 { "uint64_t" } else { "uint32_t" };
    let c_type = scalar(dtype).unwrap_or("int64_t");
    let guard = if is_quotient {
        format!("if (b == 0) return a;\n    if (b == -1) return ({c_type})(0 - ({unsigned})a);\n    ")
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

impl Dialect for CDialect {
    fn name(&self) -> &str {
        "c"
    }

    fn reserved_words(&self) -> &[&str] {
        RESERVED
    }

    fn is_reserved(&self, name: &str) -> bool {
        let is_vector =
            name.trim_start_matches(['i', 'u', 'f']).split_once('x').is_some_and(|(bits, lanes)| {
                let is_number =
                    |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                name.starts_with(['i', 'u', 'f'])
                    && is_number(bits)
                    && is_number(lanes.trim_end_matches("_u"))
            });
        let is_header = |prefix: &str| name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty());
        RESERVED.contains(&name)
            || is_vector
            || name.ends_with("_t") && (is_header("int") || is_header("uint"))
            || ["INT", "UINT", "SIZE_", "PTRDIFF_", "Cd", "Chipdock", "WCHAR_", "WINT_", "SIG_"]
                .into_iter()
                .any(is_header)
    }

    fn helper_prefix(&self) -> &str {
        "cd_"
    }

    fn header(&self, prelude: &Prelude) -> String {
        let mut text = String::from(
            "// Written by chipdock for target c: C11 and the vector types of gcc and clang.\n\
             // cc -std=gnu11 -O3 -fPIC -shared -fno-math-errno FILE -lm\n",
        );
        if prelude.contains("cd_fail") {
            text.push_str("#include <stdarg.h>\n");
        }
        text.push_str("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n");
        text.push_str(GCC_ONLY);
        text
    }

    fn value_type(&self, dtype: DType, prelude: &mut Prelude) -> Answer<String> {
        if dtype.is_scalar() { Ok(scalar(dtype)?.to_owned()) } else { vectors::vector_type(dtype, prelude) }
    }

    fn pointer_type(&self, pointer: Option<&PointerType>, _: &mut Prelude) -> Answer<String> {
        types::pointer(pointer)
    }

    fn unroll_hint(&self, count: Option<i128>, prelude: &mut Prelude) -> String {
        let count = count.unwrap_or(8).clamp(1, 65_534);
        prelude.define("CD_UNROLL", |_| UNROLL.to_owned());
        format!("CD_UNROLL({count})")
    }

    fn place(&self, line: Option<u32>) -> Option<String> {
        let file = self.file.as_deref()?;
        Some(match line {
            Some(line) => format!("#line {line} \"{}\"", runtime::literal(file)),
            None => "#line 1 \"<chipdock>\"".to_owned(),
        })
    }

    fn allocation(&self, allocation: &Allocation<'_>, _: &mut Prelude) -> Answer<String> {
        access::allocation(allocation.name, allocation.buffer, allocation.count)
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
        let (name, c_type) = (format!("cd_{}_{}", word_of(op), short(dtype)), scalar(dtype)?);
        prelude.define(&name, |_| {
            let body = match op {
                BinaryOp::Min => "return a < b ? a : b;".to_owned(),
                BinaryOp::Max => "return a > b ? a : b;".to_owned(),
                _ => division_body(op, dtype),
            };
            format!("static inline {c_type} {name}({c_type} a, {c_type} b) {{\n    {body}\n}}\n")
        });
        Ok(Code::call(&name, &[a.clone(), b.clone()]))
    }

    fn instead_of(&self, operand: &Code, result: &Code) -> Code {
        Code::primary(format!("((void){}, {})", operand.operand(), result.text))
    }

    fn thread_index(&self, axis: ThreadAxis, _: DType, _: &mut Prelude) -> Answer<Code> {
        Err(Refusal::new(format!(
            "has no thread axis {axis}: a loop bound to it belongs to a device; leave the loop serial or parallel"
        )))
    }

    fn barrier(&self, barrier: &Barrier<'_>, _: &mut Prelude) -> Answer<String> {
        Err(Refusal::new(format!("has no barrier of scope \"{}\": there is one thread", barrier.scope)))
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

    fn keeps_branches(&self) -> bool {
        true
    }

    fn branches_kept(&self, prelude: &mut Prelude) -> String {
        prelude.define("cd_keep_branches", |_| KEEP_BRANCHES.to_owned());
        "CD_KEEP_BRANCHES".to_owned()
    }

    fn signature(&self, signature: &Signature, prelude: &mut Prelude) -> Answer<String> {
        let mut params = Vec::with_capacity(signature.params.len());
        for param in &signature.params {
            let type_name = match (&param.pointer, param.dtype.is_handle()) {
                (pointer, true) => types::pointer(pointer.as_ref())?,
                (_, false) => self.value_type(param.dtype, prelude)?,
            };
            let restrict = if param.pointer.is_some() && signature.is_noalias { " restrict" } else { "" };
            params.push(format!("{type_name}{restrict} {}", param.name));
        }
        let ret = signature.ret.map_or(Ok("void"), scalar)?;
        match signature.calling_conv {
            0 => {
                let cold = match (signature.is_cold, signature.is_no_inline) {
                    (true, _) => "__attribute__((cold, noinline)) ",
                    (false, true) => "__attribute__((noinline)) ",
                    (false, false) => "",
                };
                let unused = if signature.is_called { "" } else { "__attribute__((unused)) " };
                let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
                Ok(format!("{cold}{unused}static {ret} {}({params})", signature.name))
            }
            1 => {
                let types: Vec<DType> = signature.params.iter().map(|param| param.dtype).collect();
                let is_packed = types == [DType::HANDLE, DType::HANDLE, DType::INT32, DType::HANDLE];
                if !is_packed || signature.ret != Some(DType::INT32) {
                    return Err(Refusal::new(
                        "has packed functions (handle, handle, int32, handle) -> int32 only; lower with make_packed_api",
                    ));
                }
                runtime::define_env(prelude);
                let name = |index: usize| &signature.params[index].name;
                Ok(format!(
                    "__attribute__((visibility(\"default\"))) int32_t {}(void* {}, void* {}, int32_t {}, void* {})",
                    signature.name,
                    name(0),
                    name(1),
                    name(2),
                    name(3)
                ))
            }
            other => Err(Refusal::new(format!(
                "has no functions of calling convention {other}: those run on a device; expected 0 (internal) or 1 (packed)"
            ))),
        }
    }

    fn assert(&self, assertion: &Assertion<'_>, prelude: &mut Prelude) -> Answer<String> {
        runtime::assert(assertion, prelude)
    }

    fn likely(&self, condition: &Code) -> Code {
        Code::primary(format!("__builtin_expect({}, 1)", condition.text))
    }

    fn text(&self, text: &str) -> Answer<Code> {
        Ok(runtime::text(text))
    }

    fn call_extern(
        &self,
        name: &str,
        args: &[(Code, DType)],
        ret: DType,
        prelude: &mut Prelude,
    ) -> Answer<Code> {
        if let Some(answer) = runtime::environment_call(name, args, prelude) {
            return answer;
        }
        if !is_identifier(name) || self.is_reserved(name) || name.starts_with("cd_") {
            return Err(Refusal::new(format!("cannot call \"{name}\": it is no name of a C function")));
        }
        let mut params = Vec::with_capacity(args.len());
        for (_, dtype) in args.iter().chain([&(Code::primary(""), ret)]) {
            if !dtype.is_scalar() || is_half(*dtype) {
                return Err(Refusal::new(format!("cannot pass {dtype} to or from the C function {name}")));
            }
            params.push(scalar(*dtype)?);
        }
        let ret = params.pop().unwrap_or("void");
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        prelude.define(&format!("extern {name}"), |_| format!("extern {ret} {name}({params});\n"));
        let args: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
        Ok(Code::call(name, &args))
    }

    fn ops(&self) -> &OpTable {
        &ops::TABLE
    }

    fn op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        if let Some(answer) = runtime::op(call, prelude) {
            return Some(answer);
        }
        if !call.dtype.is_scalar() {
            return None;
        }
        let mut values = Vec::with_capacity(call.args.len());
        for arg in call.args {
            match arg {
                chipdock_codegen_source::Argument::Value(code, dtype) => values.push((code.clone(), *dtype)),
                _ => return None,
            }
        }
        self.special_op(call.op, &values, call.dtype, prelude)
    }
}

/// gcc 12's vectorizer of straight-line code makes -1 of true in two lanes, and drops conversions to `_Float16` and back
/// on machines that compute in it; that of loops, which the helpers are written for, does neither.
const GCC_ONLY: &str = "\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize (\"no-tree-slp-vectorize\")
#pragma GCC diagnostic ignored \"-Wpsabi\"
#endif

";

/// Before version 14 gcc makes masked loads of loads under conditions and, where several stand side by side in a loop whose inner
/// loop it unrolled, takes one's mask for another's (its bug 114375): zeros in place of elements, without a word.
const KEEP_BRANCHES: &str = "\
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#define CD_KEEP_BRANCHES __attribute__((optimize(\"no-tree-slp-vectorize\", \"no-tree-loop-if-convert\")))
#else
#define CD_KEEP_BRANCHES
#endif
";

const UNROLL: &str = "\
#define CD_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define CD_UNROLL(n) CD_PRAGMA(clang loop unroll_count(n))
#else
#define CD_UNROLL(n) CD_PRAGMA(GCC unroll n)
#endif
";
