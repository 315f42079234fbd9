//! Names that the imports of a file define, as far as a kernel may use them.

use crate::names;

/// Full names of `T`.
const TIR: &[&str] = &[
    "T",
    "tvm.script.tirx",
    "tvm.tirx.script",
    "tvm.script.parser.tirx",
    "tvm.script.tir",
    "tvm.script.parser.tir",
];

/// Full names of `I`.
const IR: &[&str] = &["I", "tvm.script.ir", "tvm.script.parser.ir"];

/// Modules of TVM's Python with functions that are below `T` too.
const LIBRARY: &[&str] = &["tvm.tirx", "tvm.tir"];

/// Returns true for a module in which every function is one of blocks.
pub(crate) fn is_legacy(full: &str) -> bool {
    ["tvm.script.tir", "tvm.script.parser.tir"].contains(&full)
}

/// Returns true if a name may be imported as `full`, so that [`short`] may know it or a name below
/// it.
pub(crate) fn is_known(full: &str) -> bool {
    let leads =
        |whole: &&str| whole.strip_prefix(full).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    short(full).is_some() || TIR.iter().chain(IR).chain(LIBRARY).any(leads)
}

/// Returns a full name as one below `T` or `I`: `tvm.script.tirx.exp` and `tvm.tirx.exp` are
/// `T.exp`.
pub(crate) fn short(full: &str) -> Option<String> {
    let below = |spaces: &[&str], short: &str| {
        spaces.iter().find_map(|space| match full.strip_prefix(space)? {
            "" => Some(short.to_owned()),
            rest => rest.strip_prefix('.').map(|rest| format!("{short}.{rest}")),
        })
    };
    if full == "tvm.script.ir_module" {
        return Some("I.ir_module".to_owned());
    }
    let found = below(TIR, "T").or_else(|| below(IR, "I"));
    found.or_else(|| below(LIBRARY, "T").filter(|path| path.strip_prefix("T.").is_some_and(is_shared)))
}

/// Returns the message for a full name that [`short`] does not know.
pub(crate) fn unknown(full: &str) -> String {
    format!("{full} means nothing in a kernel; expected a function below T, as T.exp")
}

/// Returns true for a function that means the same below `tvm.tirx` as below `T`.
fn is_shared(name: &str) -> bool {
    const OTHERS: &[&str] = &[
        "Cast",
        "Select",
        "Ramp",
        "Broadcast",
        "Shuffle",
        "max",
        "min",
        "Max",
        "Min",
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Mod",
        "FloorDiv",
        "FloorMod",
        "EQ",
        "NE",
        "LT",
        "LE",
        "GT",
        "GE",
        "And",
        "Or",
        "Not",
        "truncdiv",
        "truncmod",
        "floordiv",
        "floormod",
        "ceildiv",
        "min_value",
        "max_value",
        "infinity",
        "call_extern",
        "call_pure_extern",
        "call_intrin",
        "bitwise_not",
        "IntImm",
        "FloatImm",
    ];
    OTHERS.contains(&name) || names::op(name).is_some()
}
