//! Atomic additions, and shuffles of subgroups.

use chipdock_codegen_source::c_family::{CFamily as _, address, is_half, scalar, short};
use chipdock_codegen_source::{Access, Answer, Argument, Code, OpCall, Prelude, Refusal};
use chipdock_ir::{DType, Op, StorageRank};

use super::{Features, OpenClDialect, extension};

fn value<'c>(call: &'c OpCall<'_>, position: usize) -> Answer<(&'c Code, DType)> {
    match call.args.get(position) {
        Some(Argument::Value(code, dtype)) => Ok((code, *dtype)),
        _ => Err(Refusal::new(format!("{} takes a value as argument {position}", call.op.name()))),
    }
}

/// An atomic addition that returns the previous value: integers of 32 and 64 bits by an
/// instruction, floats by a compare-and-exchange loop.
pub(super) fn add(dialect: &OpenClDialect, call: &OpCall<'_>, prelude: &mut Prelude) -> Answer<Code> {
    let (addend, dtype) = value(call, 1)?;
    let Some(Argument::Address(place)) = call.args.first() else {
        return Err(Refusal::new("has atomic_add to an element of a buffer only: address_of(A[i])"));
    };
    dialect.check(dtype, prelude)?;
    let (address, space) = (address(dialect, place, prelude)?, dialect.space(&place.scope)?);
    let name = format!("cd_atomic_add_{}_{}", short(dtype), space.trim_start_matches('_'));
    if !prelude.contains(&name) {
        let text = match place.scope.rank {
            // No other thread accesses it.
            StorageRank::Local => plain(dialect, &name, place, dtype, prelude)?,
            _ if dtype.is_integer() => integer(&name, space, dtype, dialect, prelude)?,
            _ if is_half(dtype) => half(dialect, &name, space, dtype, prelude)?,
            _ => float(&name, space, dtype, &dialect.features, prelude)?,
        };
        prelude.define(&name, |_| text);
    }
    Ok(Code::call(&name, &[address, addend.clone()]))
}

fn plain(
    dialect: &OpenClDialect,
    name: &str,
    place: &Access,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<String> {
    let (element, value_type) = (dialect.memory_type(dtype)?, scalar(dialect, dtype)?);
    let p = Code::primary("*p");
    let (before, after) = if is_half(dtype) {
        let after = dialect.half_bits(&Code::primary("before + x"), dtype, prelude).text;
        (dialect.half_value(&p, dtype, prelude).text, after)
    } else if dtype.is_integer() {
        let wide = if dtype.bits > 32 { "ulong" } else { "uint" };
        (p.text, format!("({element})(({wide})before + ({wide})x)"))
    } else {
        (p.text, "before + x".to_owned())
    };
    let space = dialect.space(&place.scope)?;
    Ok(format!(
        "static inline {value_type} {name}({space} {element}* p, {value_type} x) {{\n    {value_type} before = {before};\n    \
         *p = {after};\n    return before;\n}}\n"
    ))
}

fn integer(
    name: &str,
    space: &str,
    dtype: DType,
    dialect: &OpenClDialect,
    prelude: &mut Prelude,
) -> Answer<String> {
    let function = match dtype.bits {
        32 => "atomic_add",
        64 => {
            wide(dtype, &dialect.features, prelude)?;
            "atom_add"
        }
        _ => return Err(Refusal::new(format!("has no atomic_add of {dtype}; expected 32 or 64 bits"))),
    };
    let element = dialect.memory_type(dtype)?;
    Ok(format!(
        "static inline {element} {name}(volatile {space} {element}* p, {element} x) {{\n    \
         return {function}(p, x);\n}}\n"
    ))
}

/// Records that 64-bit atomics need an extension, or refuses them.
fn wide(dtype: DType, features: &Features, prelude: &mut Prelude) -> Answer<()> {
    if !features.has_int64_atomics {
        return Err(Refusal::new(format!(
            "has no atomic_add of {dtype}: its option supports_int64_atomics says that the device lacks it; add in 32 bits"
        )));
    }
    extension("cl_khr_int64_base_atomics", prelude);
    Ok(())
}

fn float(
    name: &str,
    space: &str,
    dtype: DType,
    features: &Features,
    prelude: &mut Prelude,
) -> Answer<String> {
    let (value_type, bits, exchange) = if dtype.bits == 64 {
        wide(dtype, features, prelude)?;
        ("double", "ulong", "atom_cmpxchg")
    } else {
        ("float", "uint", "atomic_cmpxchg")
    };
    Ok(format!(
        "static inline {value_type} {name}(volatile {space} {value_type}* p, {value_type} x) {{\n    \
         volatile {space} {bits}* word = (volatile {space} {bits}*)p;\n    \
         {bits} old = *word, seen;\n    \
         while ((seen = {exchange}(word, old, as_{bits}(as_{value_type}(old) + x))) != old) old = seen;\n    \
         return as_{value_type}(old);\n}}\n"
    ))
}

/// Adds to a half by exchanging the word that contains it: allocations are whole words long.
fn half(
    dialect: &OpenClDialect,
    name: &str,
    space: &str,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<String> {
    let before = dialect.half_value(&Code::primary("(ushort)(old >> shift)"), dtype, prelude).text;
    let after = dialect.half_bits(&Code::primary("before + x"), dtype, prelude).text;
    Ok(format!(
        "static inline float {name}(volatile {space} ushort* p, float x) {{\n    \
         uint shift = ((uintptr_t)p & 2) * 8;\n    \
         volatile {space} uint* word = (volatile {space} uint*)(p - (shift >> 4));\n    \
         uint old = *word;\n    \
         for (;;) {{\n        \
         float before = {before};\n        \
         uint seen = atomic_cmpxchg(word, old, (old & ~(0xffffu << shift)) | (uint){after} << shift);\n        \
         if (seen == old) return before;\n        \
         old = seen;\n    }}\n}}\n"
    ))
}

/// Warp operations: subgroups, if the target says that the device supports them.
pub(super) fn warp(dialect: &OpenClDialect, call: &OpCall<'_>, prelude: &mut Prelude) -> Answer<Code> {
    if !dialect.features.has_subgroups {
        return Err(Refusal::new(format!(
            "has no {}: its option supports_subgroups says that the device lacks subgroups; reduce through shared memory",
            call.op.name()
        )));
    }
    extension("cl_khr_subgroups", prelude);
    if call.op == Op::WarpActivemask {
        extension("cl_khr_subgroup_ballot", prelude);
        return Ok(Code::primary("sub_group_ballot(1).s0"));
    }
    extension("cl_khr_subgroup_shuffle", prelude);
    // (mask, value, by, width, warp_size): the participating lanes are known without the mask.
    let ((shuffled, dtype), (by, _), (width, _)) = (value(call, 1)?, value(call, 2)?, value(call, 3)?);
    dialect.check(dtype, prelude)?;
    if !dtype.is_scalar() || dtype.is_bool() {
        return Err(Refusal::new(format!("has no {} of {dtype}; expected a number", call.op.name())));
    }
    let value_type = scalar(dialect, dtype)?;
    let (what, from) = match call.op {
        Op::WarpShuffle => ("lane", "start + by % width"),
        Op::WarpShuffleUp => ("up", "by <= lane - start ? lane - by : lane"),
        Op::WarpShuffleDown => ("down", "by < start + width - lane ? lane + by : lane"),
        _ => ("xor", "(lane ^ by) < start + width ? lane ^ by : lane"),
    };
    let name = format!("cd_shuffle_{what}_{}", short(dtype));
    prelude.define(&name, |_| {
        format!(
            "static inline {value_type} {name}({value_type} x, uint by, uint width) {{\n    \
             uint lane = get_sub_group_local_id();\n    \
             uint start = lane / width * width;\n    \
             return sub_group_shuffle(x, {from});\n}}\n"
        )
    });
    Ok(Code::call(&name, &[shuffled.clone(), by.clone(), width.clone()]))
}
