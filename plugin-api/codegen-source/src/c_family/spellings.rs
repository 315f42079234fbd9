//! What a language calls things, as data.

use crate::OpTable;

/// How a conversion is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// `(T)x`
    Prefix,
    /// `T(x)`
    Call,
}

/// Structures that hold vectors which the language has no type for.
#[derive(Clone, Copy, Debug)]
pub struct Structures {
    /// The member that is the array of lanes.
    pub member: &'static str,
    /// Its definition, from its name, the type of a lane and the number of lanes.
    pub definition: fn(&str, &str, u16) -> String,
    /// A line before a loop over lanes, with its line break; empty for none.
    pub loop_hint: &'static str,
}

/// What a language of the family calls things.
#[derive(Clone, Copy, Debug)]
pub struct Spellings {
    /// What a helper begins with.
    pub helper: &'static str,
    /// Signed integers of 8, 16, 32 and 64 bits.
    pub signed: [&'static str; 4],
    /// Unsigned integers of 8, 16, 32 and 64 bits.
    pub unsigned: [&'static str; 4],
    /// Floats of 64 bits, where there are any.
    pub float64: Option<&'static str>,
    /// Untyped pointers, where there are any.
    pub handle: Option<&'static str>,
    /// The integer that a pointer converts to and from, where it does.
    pub address: Option<&'static str>,
    /// The null pointer, where pointers can be compared with it.
    pub null: Option<&'static str>,
    /// The least integers of 32 and 64 bits.
    pub least: [&'static str; 2],
    /// What constants of int64 and uint64 end with.
    pub suffixes: [&'static str; 2],
    /// How a conversion is written.
    pub cast: Cast,
    /// Whether pointers to what a function does not write are declared `const`.
    pub has_const_pointers: bool,
    /// Whether compilers complain of a variable that nothing reads.
    pub warns_of_unread: bool,
    /// The indices of a thread: `blockIdx` x, y, z, `threadIdx` x, y, z; `None` where there are none.
    pub axes: Option<[&'static str; 6]>,
    /// What is said of an axis that there is none of, after its name.
    pub axis_advice: &'static str,
    /// Structures that hold vectors.
    pub structures: Structures,
    /// The number of set bits of an unsigned `x` of that many bits; `None` where [`super::CFamily::special_op`] says it.
    pub popcount: Option<fn(u8) -> String>,
    /// The number of leading zeros of an unsigned `x` of that many bits, all of them for 0.
    pub clz: Option<fn(u8) -> String>,
    /// How ops on floats are spelled.
    pub ops: &'static OpTable,
    /// Words that may not be names, in lists separated by spaces.
    pub words: &'static [&'static str],
}

impl Spellings {
    /// Those of C99 with `<stdint.h>`, `<stdbool.h>` and `<stddef.h>`, without threads and without ops.
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
