//! Dot products (`dot_add`) of bfloat16 (CDOT-3).

use chipdock_codegen_source::{Answer, Code, Prelude, Refusal};
use chipdock_ir::DType;

use super::{HELPER, vectors};

/// `dot_add(c, a, b)` of bfloat16, or of their bits.
pub(super) fn add(
    (c, c_type): (&Code, DType),
    factors: [(&Code, DType); 2],
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let is_factor = |of: DType| {
        [DType::BFLOAT16, DType::UINT16].contains(&of.scalar())
            && Some(of.lanes) == c_type.lanes.checked_mul(2)
    };
    if dtype != c_type || !factors.iter().all(|(_, of)| is_factor(*of)) {
        let [(_, a), (_, b)] = factors;
        let message = format!("has no dot_add of {a} and {b} to {c_type}: lower_intrinsics replaces it");
        return Err(Refusal::new(message));
    }
    let mut args = vec![c.clone()];
    for (factor, of) in factors {
        args.push(match of.scalar() == DType::UINT16 {
            true => factor.clone(),
            false => bits(factor, of, prelude)?,
        });
    }
    let words = vectors::vector_type(DType::UINT16.with_lanes(c_type.lanes * 2), prelude)?;
    let name = if c_type.is_scalar() {
        let name = "cd_dot_bf16".to_owned();
        prelude.define(&name, |_| one(&name, &words));
        name
    } else {
        let [sum, wide] = [DType::FLOAT32, DType::UINT32]
            .map(|of| vectors::vector_type(of.with_lanes(c_type.lanes), prelude));
        let (sum, wide) = (sum?, wide?);
        let name = format!("cd_dot_bf16_{sum}");
        prelude.define(&name, |_| several(&name, [&sum, &wide, &words]));
        name
    };
    Ok(Code::call(&name, &args))
}

/// The bits of values of bfloat16.
fn bits(value: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let own = vectors::vector_type(dtype, prelude)?;
    let wide = vectors::vector_type(DType::UINT32.with_lanes(dtype.lanes), prelude)?;
    let words = vectors::vector_type(DType::UINT16.with_lanes(dtype.lanes), prelude)?;
    let name = format!("cd_top_{own}");
    prelude.define(&name, |_| {
        format!(
            "{HELPER} {words} {name}({own} a) {{\n    \
             return __builtin_convertvector(({wide})a >> 16, {words});\n}}\n"
        )
    });
    Ok(Code::call(&name, std::slice::from_ref(value)))
}

/// The helper for one sum.
fn one(name: &str, words: &str) -> String {
    let value = |factor: &str, at: usize| format!("cd_bf16_of({factor}[{at}])");
    let product = |at: usize| format!("{} * {}", value("a", at), value("b", at));
    format!(
        "{HELPER} float cd_bf16_of(uint16_t bits) {{\n    uint32_t word = (uint32_t)bits << 16;\n    float value;\n    \
         __builtin_memcpy(&value, &word, sizeof(value));\n    return value;\n}}\n\
         {HELPER} float {name}(float c, {words} a, {words} b) {{\n    return c + {} + {};\n}}\n",
        product(0),
        product(1)
    )
}

/// The helper for a vector of sums.
fn several(name: &str, [sum, wide, words]: [&str; 3]) -> String {
    let low = |factor: &str| format!("({sum})(({wide}){factor} << 16)");
    let high = |factor: &str| format!("({sum})(({wide}){factor} & 0xffff0000u)");
    let product = |of: &dyn Fn(&str) -> String| format!("{} * {}", of("a"), of("b"));
    let plain = format!("    return c + {} + {};\n", product(&low), product(&high));
    let head = format!("{HELPER} {sum} {name}({sum} c, {words} a, {words} b) {{\n");
    let condition = match sum {
        "f32x16" => "defined(__AVX512BF16__)",
        "f32x8" | "f32x4" => "defined(__AVX512BF16__) && defined(__AVX512VL__)",
        _ => return format!("{head}{plain}}}\n"),
    };
    format!(
        "{head}#if {condition}\n    __asm__(\"vdpbf16ps %2, %1, %0\" : \"+v\"(c) : \"v\"(a), \"v\"(b));\n    return c;\n\
         #else\n{plain}#endif\n}}\n"
    )
}
