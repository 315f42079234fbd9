//! Pointers, atomic additions, warp operations, ends of threads, functions of the language.

use chipdock_codegen_source::c_family::{CFamily as _, address, scalar, short};
use chipdock_codegen_source::{Answer, Argument, Code, Infix, OpCall, Prelude, Refusal};
use chipdock_ir::{DType, Op};

use super::{CudaDialect, SPELLINGS, WARP_SIZE, ops};

/// Ops that are not functions of their arguments' values.
pub(super) fn op(dialect: &CudaDialect, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
    let value = |position: usize| match call.args.get(position) {
        Some(Argument::Value(code, dtype)) => Some((code, *dtype)),
        _ => None,
    };
    match (call.op, call.args) {
        (Op::ThreadReturn, _) => Some(Ok(Code::primary("return"))),
        (Op::Assume, _) => Some(Ok(Code::call("__builtin_assume", &[value(0)?.0.clone()]))),
        (Op::AtomicAdd, [place, Argument::Value(added, dtype)]) => {
            let place = match place {
                Argument::Address(access) => address(dialect, access, prelude),
                _ => Ok(value(0)?.0.clone()),
            };
            Some(place.and_then(|place| atomic_add(dialect, &place, added, *dtype, prelude)))
        }
        (Op::WarpActivemask, _) => Some(Ok(Code::primary("__activemask()"))),
        (Op::WarpShuffle | Op::WarpShuffleUp | Op::WarpShuffleDown | Op::WarpShuffleXor, _) => {
            Some(shuffle(dialect, call))
        }
        _ => None,
    }
}

/// Reads a value of another lane of the warp.
fn shuffle(dialect: &CudaDialect, call: &OpCall<'_>) -> Answer<Code> {
    let [
        Argument::Value(mask, _),
        Argument::Value(value, dtype),
        Argument::Value(lane, _),
        Argument::Value(width, _),
        Argument::Value(..),
    ] = call.args
    else {
        return Err(Refusal::new(format!("expected five values as arguments of {}", call.op.name())));
    };
    if let Some(warp_size) = call.constants.get(4).copied().flatten().filter(|size| *size != WARP_SIZE) {
        return Err(Refusal::new(format!("has warps of {WARP_SIZE} threads, not of {warp_size}")));
    }
    if !dtype.is_scalar() {
        return Err(Refusal::new(format!("has no {} of {dtype}; expected a scalar", call.op.name())));
    }
    let function = match call.op {
        Op::WarpShuffle => "__shfl_sync",
        Op::WarpShuffleUp => "__shfl_up_sync",
        Op::WarpShuffleDown => "__shfl_down_sync",
        _ => "__shfl_xor_sync",
    };
    // The language supports 32 and 64 bits only.
    let is_narrow = !dtype.is_float() && dtype.bits < 32;
    let value = if is_narrow { Code::prefix("(int)", value) } else { value.clone() };
    let code = Code::call(function, &[mask.clone(), value, lane.clone(), width.clone()]);
    Ok(match (is_narrow, dtype.is_bool()) {
        (true, true) => Code::infix(Infix::NotEqual, &code, &Code::primary("0")),
        (true, false) => Code::prefix(&format!("({})", scalar(dialect, *dtype)?), &code),
        _ => code,
    })
}

/// An atomic addition that returns the previous value.
fn atomic_add(
    dialect: &CudaDialect,
    place: &Code,
    added: &Code,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let name = format!("cd_atomic_add_{}", short(dtype));
    let (element, value) = (dialect.memory_type(dtype)?, scalar(dialect, dtype)?);
    let body = match dtype {
        DType::INT32 | DType::UINT32 | DType::UINT64 | DType::FLOAT32 => {
            "    return atomicAdd(p, x);\n".to_owned()
        }
        DType::INT64 => {
            "    return (long long)atomicAdd((unsigned long long*)p, (unsigned long long)x);\n".to_owned()
        }
        DType::FLOAT64 => ATOMIC_F64.to_owned(),
        DType::FLOAT16 => {
            let old = dialect.half_value(&Code::primary("old"), dtype, prelude).text;
            let sum = dialect.half_bits(&Code::primary(format!("{old} + x")), dtype, prelude).text;
            ATOMIC_F16.replace("$OLD", &old).replace("$SUM", &sum)
        }
        _ => {
            return Err(Refusal::new(format!(
                "has no atomic addition of {dtype}; it has it for int32, uint32, int64, uint64, float16, float32, float64"
            )));
        }
    };
    let helper = SPELLINGS.helper;
    prelude.define(&name, |_| format!("{helper} {value} {name}({element}* p, {value} x) {{\n{body}}}\n"));
    let pointer = Code::prefix(&format!("({element}*)"), place);
    Ok(Code::call(&name, &[pointer, added.clone()]))
}

/// Architectures before sm_60 have no instruction for an atomic addition of doubles.
const ATOMIC_F64: &str = "\
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
    unsigned long long old = *(volatile unsigned long long*)p, seen;
    do {
        seen = old;
        double sum = __longlong_as_double((long long)seen) + x;
        old = atomicCAS((unsigned long long*)p, seen, (unsigned long long)__double_as_longlong(sum));
    } while (old != seen);
    return __longlong_as_double((long long)old);
#else
    return atomicAdd(p, x);
#endif
";

/// Uses compare-and-exchange, on architectures before sm_70 of the word that contains the half.
const ATOMIC_F16: &str = "\
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
    unsigned int* word = (unsigned int*)((unsigned long long)p & ~3ULL);
    unsigned int shift = ((unsigned long long)p & 2) * 8;
    unsigned int whole = *(volatile unsigned int*)word, seen;
    unsigned short old;
    do {
        seen = whole;
        old = (unsigned short)(seen >> shift);
        unsigned int sum = (unsigned int)$SUM << shift;
        whole = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | sum);
    } while (whole != seen);
#else
    unsigned short old = *(volatile unsigned short*)p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, $SUM);
    } while (old != seen);
#endif
    return $OLD;
";

/// A call of a function of the language.
pub(super) fn call_extern(name: &str, args: &[(Code, DType)], ret: DType) -> Answer<Code> {
    let Some((expected, result)) = ops::function(name) else {
        return Err(Refusal::new(format!(
            "has no function \"{name}\": a kernel can call CUDA's mathematical functions of float and double alone"
        )));
    };
    let found: Vec<DType> = args.iter().map(|(_, dtype)| *dtype).collect();
    if found != expected || ret != result {
        let list = |types: &[DType]| types.iter().map(DType::to_string).collect::<Vec<_>>().join(", ");
        return Err(Refusal::new(format!(
            "has a function {name}({}) -> {result}, found ({}) -> {ret}",
            list(&expected),
            list(&found)
        )));
    }
    let args: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
    Ok(Code::call(name, &args))
}
