//! What the imports of a file give names to, as far as a kernel may mean it.

use crate::names;

/// What `T` is, by its full names.
const TIR: &[&str] = &[
    "T",
    "tvm.script.tirx",
    "tvm.tirx.script",
    "tvm.script.parser.tirx",
    "tvm.script.tir",
    "tvm.script.parser.tir",
];

/// What `I` is, by its full names.
const IR: &[&str] = &["I", "tvm.script.ir", "tvm.script.parser.ir"];

/// Where TVM's Python keeps functions that are below `T` too.
const LIBRARY: &[&str] = &["tvm.tirx", "tvm.tir"];

/// True where every function is one of blocks.
pub(crate) fn is_legacy(full: &str) -> bool {
    ["tvm.script.tir", "tvm.script.parser.tir"].contains(&full)
}

/// True for what a name may be imported as, so that [`short`] may know it or something below it.
pub(crate) fn is_known(full: &str) -> bool {
    let leads =
        |whole: &&str| whole.strip_prefix(full).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    short(full).is_some() || TIR.iter().chain(IR).chain(LIBRARY).any(leads)
}

/// A full name as one below `T` or `I`: `tvm.script.tirx.exp` and `tvm.tirx.exp` are `T.exp`.
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

/// What is wrong with a full name that [`short`] does not know.
pub(crate) fn unknown(full: &str) -> String {
    format!("{full} means nothing in a kernel; expected a function below T, as T.exp")
}

/// Functions that mean the same below `tvm.tirx` as below `T`.
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
