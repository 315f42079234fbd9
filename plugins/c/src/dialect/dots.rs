//! Dot products (`dot_add`) of integers, and of bfloat16.
//!
//! * **CDOT-1** Sums of integers are exact modulo 2^32 in any number of lanes, whatever
//!   instructions the compiler may use.
//! * **CDOT-2** The text has `vpdpbusd` and `vpmaddwd` of x86 for vectors of a register, which a
//!   compiler takes if the processor that it compiles for has them, and arithmetic on whole vectors
//!   otherwise.
//! * **CDOT-3** So too `vdpbf16ps` for bfloat16, whose factors may be uint16, their bits; float32
//!   arithmetic otherwise.

use std::fmt::Write as _;

use chipdock_codegen_source::c_family::short;
use chipdock_codegen_source::{Answer, Code, Prelude, Refusal};
use chipdock_ir::DType;
use chipdock_ir::op::DotProduct;

use super::{HELPER, dot_halves, vectors};

/// The dot products that this dialect writes.
pub(crate) fn written() -> impl Iterator<Item = DotProduct> {
    DotProduct::ALL.iter().copied().filter(|dot| dot.sum == DType::INT32 || dot.a == DType::BFLOAT16)
}

/// `dot_add(c, a, b)`.
pub(super) fn add(args: &[(Code, DType)], dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let [(c, c_type), (a, a_type), (b, b_type)] = args else {
        return Err(Refusal::new("dot_add takes three arguments"));
    };
    if c_type.scalar() == DType::FLOAT32 {
        return dot_halves::add((c, *c_type), [(a, *a_type), (b, *b_type)], dtype, prelude);
    }
    let found = DotProduct::of(*c_type, *a_type, *b_type);
    let Some(dot) = found.filter(|dot| dtype == *c_type && written().any(|known| known == *dot)) else {
        let message =
            format!("has no dot_add of {a_type} and {b_type} to {c_type}: lower_intrinsics replaces it");
        return Err(Refusal::new(message));
    };
    let types = [*a_type, *b_type].map(|dtype| vectors::vector_type(dtype, prelude));
    let [a_name, b_name] = types;
    let factors = [a_name?, b_name?];
    let of = format!("{}{}", short(dot.a), short(dot.b));
    let name = if c_type.is_scalar() {
        let name = format!("cd_dot_{of}");
        prelude.define(&name, |_| one(&name, dot, &factors));
        name
    } else {
        let sums = Sums::new(*c_type, prelude)?;
        let name = format!("cd_dot_{of}_{}", sums.signed);
        if !prelude.contains(&name) {
            let text = sums.helper(&name, dot, &factors, prelude);
            prelude.define(&name, |_| text);
        }
        name
    };
    Ok(Code::call(&name, &[c.clone(), a.clone(), b.clone()]))
}

/// The helper for one sum.
fn one(name: &str, dot: DotProduct, [a, b]: &[String; 2]) -> String {
    let sum: String = (0..dot.group).fold(String::new(), |mut sum, at| {
        let _ = write!(sum, " + (uint32_t)(a[{at}] * b[{at}])");
        sum
    });
    format!(
        "{HELPER} int32_t {name}(int32_t c, {a} a, {b} b) {{\n    return (int32_t)((uint32_t)c{sum});\n}}\n"
    )
}

/// The instruction for vectors of 256 bits and less: processors without AVX-512 have it in another
/// encoding.
const DPBUSD: &str = "\
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define CD_DPBUSD \"vpdpbusd\"
#elif defined(__AVXVNNI__)
#define CD_DPBUSD \"%{vex%} vpdpbusd\"
#endif
";

/// The vector types of sums, and of the pairs of words that they are sums of.
struct Sums {
    signed: String,
    unsigned: String,
    short: String,
    short_unsigned: String,
}

impl Sums {
    fn new(dtype: DType, prelude: &mut Prelude) -> Answer<Self> {
        let mut of = |dtype: DType, lanes: u16| vectors::vector_type(dtype.with_lanes(lanes), prelude);
        let lanes = dtype.lanes.next_power_of_two();
        Ok(Self {
            signed: of(DType::INT32, lanes)?,
            unsigned: of(DType::UINT32, lanes)?,
            short: of(DType::INT16, lanes * 2)?,
            short_unsigned: of(DType::UINT16, lanes * 2)?,
        })
    }

    /// The conditions under which a compiler may use `vpdpbusd` and `vpmaddwd` for vectors of this
    /// size.
    fn conditions(&self) -> Option<[&'static str; 2]> {
        match self.signed.as_str() {
            "i32x16" => Some(["defined(__AVX512VNNI__)", "defined(__AVX512BW__)"]),
            "i32x8" => Some(["defined(CD_DPBUSD)", "defined(__AVX2__)"]),
            "i32x4" => Some(["defined(CD_DPBUSD)", "defined(__AVX__)"]),
            _ => None,
        }
    }

    /// The helper for a dot product; those that it calls are defined before.
    fn helper(&self, name: &str, dot: DotProduct, [a, b]: &[String; 2], prelude: &mut Prelude) -> String {
        let Self { signed, unsigned, .. } = self;
        let pairs = format!("cd_pairs_{signed}");
        prelude.define(&pairs, |_| self.pairs(&pairs));
        let head = format!("{HELPER} {signed} {name}({signed} c, {a} a, {b} b) {{\n");
        if dot.group == 2 {
            return format!("{head}    return ({signed})(({unsigned})c + ({unsigned}){pairs}(a, b));\n}}\n");
        }
        let even = [self.half("a", dot.a, false), self.half("b", dot.b, false)].join(", ");
        let odd = [self.half("a", dot.a, true), self.half("b", dot.b, true)].join(", ");
        let by_pairs = format!(
            "    return ({signed})(({unsigned})c + ({unsigned}){pairs}({even}) + ({unsigned}){pairs}({odd}));\n"
        );
        match self.conditions() {
            Some([vnni, _]) => {
                prelude.define("CD_DPBUSD", |_| DPBUSD.to_owned());
                format!("{head}#if {vnni}\n{}#else\n{by_pairs}#endif\n}}\n", self.bytes(dot))
            }
            None => format!("{head}{by_pairs}}}\n"),
        }
    }

    /// The bytes in even or in odd places as words of 16 bits.
    fn half(&self, factor: &str, dtype: DType, is_odd: bool) -> String {
        let Self { short, short_unsigned, .. } = self;
        match (dtype.is_uint(), is_odd) {
            (true, false) => format!("({short})(({short_unsigned}){factor} & 255)"),
            (true, true) => format!("({short})(({short_unsigned}){factor} >> 8)"),
            (false, false) => format!("({short})(({short_unsigned}){factor} << 8) >> 8"),
            (false, true) => format!("({short}){factor} >> 8"),
        }
    }

    /// The helper that adds the two products of each pair of words.
    fn pairs(&self, name: &str) -> String {
        let Self { signed, unsigned, short, .. } = self;
        let part = |factor: &str, is_high: bool| match is_high {
            true => format!("({unsigned})(({signed}){factor} >> 16)"),
            false => format!("({unsigned})(({signed})(({unsigned}){factor} << 16) >> 16)"),
        };
        let product = |is_high| format!("{} * {}", part("a", is_high), part("b", is_high));
        let plain = format!("    return ({signed})({} + {});\n", product(false), product(true));
        let head = format!("{HELPER} {signed} {name}({short} a, {short} b) {{\n");
        let Some([_, condition]) = self.conditions() else { return format!("{head}{plain}}}\n") };
        format!(
            "{head}#if {condition}\n    {signed} r;\n    \
             __asm__(\"vpmaddwd %2, %1, %0\" : \"=v\"(r) : \"v\"(a), \"v\"(b));\n    return r;\n\
             #else\n{plain}#endif\n}}\n"
        )
    }

    /// By `vpdpbusd`, of uint8 and int8: another type is moved by 128, and what that adds is taken
    /// away again.
    fn bytes(&self, dot: DotProduct) -> String {
        let Self { signed, unsigned, .. } = self;
        let name = if signed == "i32x16" { "\"vpdpbusd" } else { "CD_DPBUSD \"" };
        let instruction = |sum: &str, u: &str, s: &str| {
            format!("    __asm__({name} %2, %1, %0\" : \"+v\"({sum}) : \"v\"({u}), \"v\"({s}));\n")
        };
        let moved = |factor: &str| format!("(({unsigned}){factor} ^ 0x80808080u)");
        let high = format!("(({unsigned}){{0}} + 0x80808080u)");
        let (u, s, extra) = match (dot.a, dot.b) {
            (DType::UINT8, DType::INT8) => {
                return format!("{}    return c;\n", instruction("c", "a", "b"));
            }
            (DType::INT8, _) => (moved("a"), "b".to_owned(), [high, "b".to_owned()]),
            _ => ("a".to_owned(), moved("b"), ["a".to_owned(), high]),
        };
        format!(
            "    {signed} extra = {{0}};\n{}{}    return ({signed})(({unsigned})c - ({unsigned})extra);\n",
            instruction("extra", &extra[0], &extra[1]),
            instruction("c", &u, &s)
        )
    }
}
