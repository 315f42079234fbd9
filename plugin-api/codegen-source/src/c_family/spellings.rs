//! Spellings of a language, as data.

use crate::OpTable;

/// Syntax of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// `(T)x`
    Prefix,
    /// `T(x)`
    Call,
}

/// Structures for vectors for which the language has no type.
#[derive(Clone, Copy, Debug)]
pub struct Structures {
    /// The member that is the array of lanes.
    pub member: &'static str,
    /// Builds the definition from the structure's name, the type of a lane and the number of lanes.
    pub definition: fn(&str, &str, u16) -> String,
    /// A line before a loop over lanes, with its line break; empty for none.
    pub loop_hint: &'static str,
}

/// Spellings of a language of the family.
#[derive(Clone, Copy, Debug)]
pub struct Spellings {
    /// The specifiers at the start of a helper's definition.
    pub helper: &'static str,
    /// Signed integers of 8, 16, 32 and 64 bits.
    pub signed: [&'static str; 4],
    /// Unsigned integers of 8, 16, 32 and 64 bits.
    pub unsigned: [&'static str; 4],
    /// The 64-bit float, if the language supports it.
    pub float64: Option<&'static str>,
    /// The untyped pointer, if the language supports it.
    pub handle: Option<&'static str>,
    /// The integer type that pointers convert to and from, if they do.
    pub address: Option<&'static str>,
    /// The null pointer, if pointers can be compared with it.
    pub null: Option<&'static str>,
    /// The least integers of 32 and 64 bits.
    pub least: [&'static str; 2],
    /// The suffixes of int64 and uint64 constants.
    pub suffixes: [&'static str; 2],
    /// Syntax of a conversion.
    pub cast: Cast,
    /// Whether pointers that a function does not write through are declared `const`.
    pub has_const_pointers: bool,
    /// Whether compilers warn about a variable that is never read.
    pub warns_of_unread: bool,
    /// The indices of a thread: `blockIdx` x, y, z, `threadIdx` x, y, z; `None` if the language has
    /// no thread axes.
    pub axes: Option<[&'static str; 6]>,
    /// The advice that ends the error for an unsupported thread axis, after the name of the axis.
    pub axis_advice: &'static str,
    /// Structures for vectors without a native type.
    pub structures: Structures,
    /// The number of set bits of an unsigned `x` of that many bits; `None` if
    /// [`super::CFamily::special_op`] writes it.
    pub popcount: Option<fn(u8) -> String>,
    /// The number of leading zeros of an unsigned `x` of that many bits, all of them for 0.
    pub clz: Option<fn(u8) -> String>,
    /// Spellings of ops on floats.
    pub ops: &'static OpTable,
    /// Reserved words, in lists separated by spaces.
    pub words: &'static [&'static str],
}

impl Spellings {
    /// The spellings of C99 with `<stdint.h>`, `<stdbool.h>` and `<stddef.h>`, without thread axes
    /// and without ops.
    pub const C99: Self = Self {
        helper: "static inline",
        signed: ["int8_t", "int16_t", "int32_t", "int64_t"],
        unsigned: ["uint8_t", "uint16_t", "uint32_t", "uint64_t"],
        float64: Some("double"),
        handle: Some("void*"),
        address: Some("uintptr_t"),
        null: Some("NULL"),
        least: ["INT32_MIN", "INT64_MIN"],
        suffixes: ["LL", "ULL"],
        cast: Cast::Prefix,
        has_const_pointers: false,
        warns_of_unread: true,
        axes: None,
        axis_advice: ": a loop bound to it belongs to a device; leave the loop serial or parallel",
        structures: Structures {
            member: "v",
            definition: |name, element, lanes| {
                format!("typedef struct {{ {element} v[{lanes}]; }} {name};\n")
            },
            loop_hint: "",
        },
        popcount: None,
        clz: None,
        ops: &OpTable { rows: &[] },
        words: &[super::C_WORDS],
    };
}
