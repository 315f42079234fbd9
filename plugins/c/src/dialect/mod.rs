//! C11 with GNU vector extensions, for gcc and clang.

mod dot_halves;
pub(crate) mod dots;
mod halves;
mod memory;
mod ops;
mod runtime;
mod shuffles;
mod streams;
mod vectors;

use chipdock_codegen_source::c_family::{
    C_WORDS, CFamily, Half, LaneAccess, NativeVectors, Spellings, constant_array, contains_word, half_fma,
    half_next, is_half, scalar,
};
use chipdock_codegen_source::{
    Allocation, Answer, Assertion, Barrier, Code, ConstantArray, Dialect, Expressions as _, OpCall, Prelude,
    Refusal, Signature, Vector, is_identifier,
};
use chipdock_ir::{DType, Op, PointerType, StorageRank, StorageScope};

/// The dialect of target `c`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CDialect {
    /// The source file that the lines of statements refer to, for debuggers and messages of the
    /// compiler.
    pub(crate) file: Option<String>,
}

/// Keywords, names that the headers define and that a variable could have, and names that gcc
/// predefines.
const RESERVED: &[&str] = &[
    C_WORDS,
    "alignas alignof dlsym max_align_t noreturn offsetof static_assert thread_local va_arg va_copy va_end va_list",
    "va_start wchar_t",
];

/// What helpers begin with: gcc would otherwise have large functions call helpers of one
/// instruction.
const HELPER: &str = "static inline __attribute__((always_inline))";

static SPELLINGS: Spellings = Spellings {
    helper: HELPER,
    popcount: Some(|_| "__builtin_popcountll(x)".to_owned()),
    clz: Some(|bits| format!("x == 0 ? {bits} : __builtin_clzll(x) - 64 + {bits}")),
    ops: &ops::TABLE,
    words: RESERVED,
    ..Spellings::C99
};

/// Defines what converts vectors of halves, and the types of vectors in memory.
#[cfg(test)]
pub(crate) fn half_vectors(dtype: DType, prelude: &mut Prelude) -> Answer<()> {
    for to_bits in [false, true] {
        halves::vector_helper(dtype, to_bits, prelude)?;
    }
    for element in [DType::UINT16, DType::FLOAT32] {
        vectors::unaligned_type(element.with_lanes(dtype.lanes), prelude)?;
    }
    Ok(())
}

/// Marks a condition as hardly ever true.
fn unlikely(condition: &Code) -> Code {
    // `!__builtin_expect(x, 1)` already says so.
    if condition.text.starts_with("!__builtin_expect(") {
        return condition.clone();
    }
    Code::primary(format!("__builtin_expect({}, 0)", condition.text))
}

impl CFamily for CDialect {
    fn spellings(&self) -> &Spellings {
        &SPELLINGS
    }

    fn space(&self, scope: &StorageScope) -> Answer<&'static str> {
        if matches!(scope.rank, StorageRank::Global | StorageRank::Local) && scope.tag.is_empty() {
            return Ok("");
        }
        Err(Refusal::new(format!("has no storage scope {scope}; expected global or local")))
    }

    fn not_finite(&self, value: f64, dtype: DType, _: &mut Prelude) -> Answer<Code> {
        let suffix = if dtype == DType::FLOAT64 { "" } else { "f" };
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let text = if value.is_nan() { format!("nan{suffix}(\"\")") } else { format!("inf{suffix}()") };
        Ok(Code::primary(format!("{sign}__builtin_{text}")))
    }

    fn define_half(&self, half: Half, prelude: &mut Prelude) {
        halves::define(self, half, prelude);
    }

    fn alias(&self, element: &str, name: &str) -> Option<String> {
        Some(format!("typedef {element} {name} __attribute__((may_alias));\n"))
    }

    fn vector_load(
        &self,
        pointer: &Code,
        dtype: DType,
        _: &StorageScope,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        if halves::is_converted_as_vector(dtype) {
            return Some(vectors::halves_loaded(pointer, dtype, prelude));
        }
        vectors::is_stored_as_held(dtype).then(|| {
            let vector = vectors::unaligned_type(dtype, prelude)?;
            Ok(Code::prefix("*", &Code::prefix(&format!("(const {vector}*)"), pointer)))
        })
    }

    fn vector_store(
        &self,
        pointer: &Code,
        value: &Code,
        dtype: DType,
        _: &StorageScope,
        prelude: &mut Prelude,
    ) -> Option<Answer<String>> {
        if halves::is_converted_as_vector(dtype) {
            return Some(vectors::halves_stored(pointer, value, dtype, prelude));
        }
        vectors::is_stored_as_held(dtype).then(|| {
            let vector = vectors::unaligned_type(dtype, prelude)?;
            let place = Code::prefix("*", &Code::prefix(&format!("({vector}*)"), pointer));
            Ok(format!("{} = {};", place.text, value.text))
        })
    }

    fn streamed_store(
        &self,
        pointer: &Code,
        value: &Code,
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<String>> {
        streams::store(pointer, value, dtype, prelude)
    }

    fn lanes_body(&self, access: &LaneAccess<'_>, prelude: &mut Prelude) -> Option<Answer<String>> {
        match access {
            LaneAccess { is_load: true, .. } => Some(vectors::lanes_loaded(self, access, prelude)),
            LaneAccess { is_masked: true, .. } => Some(vectors::lanes_stored(self, access, prelude)),
            _ => None,
        }
    }

    fn vector_type(&self, dtype: DType, prelude: &mut Prelude) -> Answer<String> {
        vectors::vector_type(dtype, prelude)
    }

    fn lane(&self, name: &str, lane: &str, _: u16) -> String {
        format!("{name}[{lane}]")
    }

    fn vector_returned(&self, type_name: &str, _: u16, values: &[String]) -> String {
        format!("    return ({type_name}){{{}}};\n", values.join(", "))
    }

    fn lanes_returned(
        &self,
        dtype: DType,
        type_name: &str,
        prelude: &mut Prelude,
        lane: &mut dyn FnMut(&str, &mut Prelude) -> Answer<Code>,
    ) -> Answer<String> {
        vectors::lanes_returned(dtype, type_name, &lane("l", prelude)?.text)
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

    fn operand_hidden(&self, operand: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        let (own, name) =
            if dtype.bits == 64 { ("int64_t", "cd_hidden_i64") } else { ("int32_t", "cd_hidden_i32") };
        prelude.define(name, |_| HIDDEN.replace("OWN", own).replace("NAME", name));
        Code::call(name, std::slice::from_ref(operand))
    }

    fn special_op(
        &self,
        op: Op,
        args: &[(Code, DType)],
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        match (op, args) {
            (Op::DotAdd, _) => Some(dots::add(args, dtype, prelude)),
            (Op::Fma, _) if is_half(dtype) => half_fma(self, args, dtype, prelude),
            (Op::Nextafter, [(a, _), (b, _)]) if is_half(dtype) => {
                Some(Ok(half_next(self, a, b, dtype, prelude)))
            }
            _ => None,
        }
    }

    fn memory_op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        runtime::op(self, call, prelude)
    }
}

impl Dialect for CDialect {
    fn name(&self) -> &str {
        "c"
    }

    fn constant_array(&self, array: &ConstantArray<'_>, prelude: &mut Prelude) -> Answer<Code> {
        let pointee = PointerType { element: array.element, scope: StorageScope::GLOBAL };
        let pointer = self.pointer_type(Some(&pointee), prelude)?;
        let head = |element: &str, name: &str, count: usize, alignment: u32| {
            format!("static const _Alignas({alignment}) {element} {name}[{count}]")
        };
        constant_array(self, array, &pointer, &head, prelude)
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
        contains_word(RESERVED, name)
            || is_vector
            || name.ends_with("_t") && (is_header("int") || is_header("uint"))
            || ["INT", "UINT", "SIZE_", "PTRDIFF_", "Cd", "Chipdock", "WCHAR_", "WINT_", "SIG_"]
                .into_iter()
                .any(is_header)
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
        memory::allocation(self, allocation)
    }

    fn barrier(&self, barrier: &Barrier<'_>, _: &mut Prelude) -> Answer<String> {
        Err(Refusal::new(format!("has no barrier of scope \"{}\": there is one thread", barrier.scope)))
    }

    fn store_fence(&self, prelude: &mut Prelude) -> Option<String> {
        Some(streams::fence(prelude))
    }

    fn keeps_branches(&self) -> bool {
        true
    }

    fn branches_kept(&self, prelude: &mut Prelude) -> String {
        prelude.define("cd_keep_branches", |_| KEEP_BRANCHES.to_owned());
        "CD_KEEP_BRANCHES;".to_owned()
    }

    fn signature(&self, signature: &Signature, prelude: &mut Prelude) -> Answer<String> {
        let mut params = Vec::with_capacity(signature.params.len());
        for param in &signature.params {
            let type_name = match (&param.pointer, param.dtype.is_handle()) {
                (pointer, true) => self.pointer(pointer.as_ref())?,
                (_, false) => self.value_type(param.dtype, prelude)?,
            };
            let restrict = if param.pointer.is_some() && signature.is_noalias { " restrict" } else { "" };
            params.push(format!("{type_name}{restrict} {}", param.name));
        }
        let ret = signature.ret.map_or(Ok("void"), |ret| scalar(self, ret))?;
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
            params.push(scalar(self, *dtype)?);
        }
        let ret = params.pop().unwrap_or("void");
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        prelude.define(&format!("extern {name}"), |_| format!("extern {ret} {name}({params});\n"));
        let args: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
        Ok(Code::call(name, &args))
    }
}

/// gcc 12's vectorizer of straight-line code turns true into -1 in two lanes, and drops conversions
/// to `_Float16` and back on machines that compute in it; the loop vectorizer, for which the
/// helpers are written, does neither.
const GCC_ONLY: &str = "\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize (\"no-tree-slp-vectorize\")
#pragma GCC diagnostic ignored \"-Wpsabi\"
#endif

";

/// gcc takes `a / b` for `-(-a / b)` wherever it knows a quotient of one of them, which is not true
/// of the least integer, that is its own negation (seen in 12.2, from `-O1` on, also with
/// `-fwrapv`). It looks through sums and complements, but not through this, which costs no
/// instruction; loops stay vectors with the first form.
const HIDDEN: &str = "\
static inline __attribute__((always_inline)) OWN NAME(OWN x) {
#if defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ >= 12
    return __builtin_assoc_barrier(x);
#else
    __asm__(\"\" : \"+r\"(x));
#endif
#endif
    return x;
}
";

/// Before version 14 gcc makes masked loads of loads under conditions and, if several stand side by
/// side in a loop whose inner loop it unrolled, confuses their masks (its bug 114375): zeros in
/// place of elements, without a diagnostic. A loop with a statement of assembly keeps its branches.
const KEEP_BRANCHES: &str = "\
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#define CD_KEEP_BRANCHES __asm__ volatile (\"\")
#else
#define CD_KEEP_BRANCHES (void)0
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
