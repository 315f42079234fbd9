//! Shuffles in arithmetic on wider lanes: gcc would move one lane at a time.

use chipdock_codegen_source::{Answer, Code, Prelude};
use chipdock_ir::{DType, TypeCode};

use super::{HELPER, vectors};

/// A shuffle that repeats a short vector, or interleaves several; `None` for others.
pub(super) fn own(
    vectors: &[(Code, DType)],
    indices: &[u16],
    dtype: DType,
    prelude: &mut Prelude,
) -> Option<Answer<Code>> {
    let whole = |dtype: DType| vectors::is_stored_as_held(dtype) && dtype.lanes > 1;
    let (_, first) = vectors.first()?;
    let fits = whole(*first) && whole(dtype) && vectors.iter().all(|(_, of)| of == first);
    (fits && indices.len() == usize::from(dtype.lanes) && first.scalar() == dtype.scalar()).then_some(())?;
    match vectors {
        [only] => repeated(only, indices, dtype, prelude),
        _ => interleaved(vectors, indices, dtype, prelude),
    }
}

/// The type of unsigned words of so many bits, if there is one.
fn words(bits: usize, lanes: u16) -> Option<DType> {
    let bits = u8::try_from(bits).ok().filter(|bits| [16, 32, 64].contains(bits))?;
    Some(DType { code: TypeCode::UInt, bits, lanes })
}

/// `[0, 1, ..., n - 1, 0, 1, ...]` of one vector of n lanes.
fn repeated(
    (value, from): &(Code, DType),
    indices: &[u16],
    dtype: DType,
    prelude: &mut Prelude,
) -> Option<Answer<Code>> {
    let word = words(usize::from(from.bits) * usize::from(from.lanes), dtype.lanes / from.lanes)?;
    let repeats = dtype.lanes > from.lanes
        && (0..).zip(indices).all(|(at, index): (u16, &u16)| *index == at % from.lanes);
    repeats.then(|| {
        let [own, short, wide] = [dtype, *from, word].map(|dtype| vectors::vector_type(dtype, prelude));
        let (own, short, wide) = (own?, short?, wide?);
        let name = format!("cd_repeat_{own}_{short}");
        let bits = word.bits;
        prelude.define(&name, |_| {
            format!(
                "{HELPER} {own} {name}({short} a) {{\n    uint{bits}_t word;\n    \
                 __builtin_memcpy(&word, &a, sizeof(word));\n    return ({own})(({wide}){{0}} + word);\n}}\n"
            )
        });
        Ok(Code::call(&name, std::slice::from_ref(value)))
    })
}

/// The first lane of each of several vectors, then the second of each, and so on: words of their
/// lanes.
fn interleaved(
    vectors: &[(Code, DType)],
    indices: &[u16],
    dtype: DType,
    prelude: &mut Prelude,
) -> Option<Answer<Code>> {
    let (count, from) = (u16::try_from(vectors.len()).ok()?, vectors.first()?.1);
    let word = words(usize::from(from.bits) * vectors.len(), from.lanes)?;
    let place = |at: u16| (at % count) * from.lanes + at / count;
    let interleaves = dtype.lanes == count.checked_mul(from.lanes)?
        && (0..).zip(indices).all(|(at, index)| *index == place(at));
    (interleaves && from.is_integer() && count <= 8).then(|| {
        let own = vectors::vector_type(dtype, prelude)?;
        let part = vectors::vector_type(from, prelude)?;
        let unsigned = vectors::vector_type(DType { code: TypeCode::UInt, ..from }, prelude)?;
        let letters: Vec<char> = ('a'..='z').take(vectors.len()).collect();
        let mut sum = Vec::new();
        for (at, letter) in letters.iter().enumerate() {
            let bare = Code::prefix(&format!("({unsigned})"), &Code::primary(letter.to_string()));
            let wide = vectors::converted(&bare, DType { code: TypeCode::UInt, ..from }, word, prelude)?;
            sum.push(format!("{} << CD_PLACE({at}, {count}, {})", wide.text, from.bits));
        }
        prelude.define("CD_PLACE", |_| PLACE.to_owned());
        let name = format!("cd_interleave_{own}_{part}");
        let params: Vec<String> = letters.iter().map(|letter| format!("{part} {letter}")).collect();
        let (params, sum) = (params.join(", "), sum.join(" | "));
        prelude.define(&name, |_| {
            format!("{HELPER} {own} {name}({params}) {{\n    return ({own})({sum});\n}}\n")
        });
        let args: Vec<Code> = vectors.iter().map(|(code, _)| code.clone()).collect();
        Ok(Code::call(&name, &args))
    })
}

/// The number of bits below a part of a word that has `of` of them, in the order of memory.
const PLACE: &str = "\
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define CD_PLACE(at, of, bits) ((of - 1 - at) * bits)
#else
#define CD_PLACE(at, of, bits) (at * bits)
#endif
";
