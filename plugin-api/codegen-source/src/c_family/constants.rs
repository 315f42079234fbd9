//! Constants of a module as arrays at module scope (IR-B8).

use chipdock_ir::DType;

use super::{CFamily, scalar};
use crate::dialect::HELPER_PREFIX;
use crate::{Answer, Code, ConstantArray, Prelude};

/// Values in a line of the text.
const VALUES_A_LINE: usize = 16;

/// Defines an array of unsigned integers with the bits of a constant, exactly as they are, and
/// returns a pointer to it. `head` gives the declaration of a name: its specifiers, element type,
/// name, extent and alignment. Equal constants of one type are one array.
///
/// # Errors
///
/// An element type without a pointer.
pub fn constant_array<L: CFamily>(
    language: &L,
    array: &ConstantArray<'_>,
    pointer: &str,
    head: &dyn Fn(&str, &str, usize, u32) -> String,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let bits = array.element.lane_size_bytes() as u8 * 8;
    let word = DType { code: chipdock_ir::TypeCode::UInt, bits, lanes: 1 };
    let element = scalar(language, word)?;
    let digest: String = array.data.digest().chars().take(32).collect();
    let name = format!("{HELPER_PREFIX}constant_u{bits}_{}_{digest}", array.alignment_bytes);
    let count = array.data.bytes().len() / word.lane_size_bytes();
    prelude.define(&name, |_| {
        let mut text = head(element, &name, count.max(1), array.alignment_bytes);
        text.push_str(" = {");
        for index in 0..count.max(1) {
            text.push_str(if index % VALUES_A_LINE == 0 { "\n    " } else { " " });
            text.push_str(&format!("{:#x}", array.data.lane(word, index)));
            text.push_str(if bits == 64 { language.spellings().suffixes[1] } else { "" });
            text.push(',');
        }
        text.push_str("\n};\n");
        text
    });
    Ok(Code::prefix(&format!("({pointer})"), &Code::primary(name)))
}
