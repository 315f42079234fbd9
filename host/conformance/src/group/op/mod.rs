//! Code generation, node by node and type by type.

mod blocks;
mod calls;
mod masks;
mod memory;
mod statements;
mod table;
mod vectors;

use chipdock_ir::DType;

pub(crate) use table::profiles_of;

use crate::{Cases, Group, batch};

pub(super) fn add(cases: &mut Cases) {
    table::add(cases);
    let mut all = Vec::new();
    statements::add(&mut all);
    masks::add(&mut all);
    blocks::add(&mut all);
    memory::add(&mut all);
    calls::add(&mut all);
    vectors::add(&mut all);
    all.sort_by(|a, b| a.profiles.cmp(&b.profiles));
    batch::add(cases, Group::Op, all);
}

/// Fills a type into a template: `DT` is its name; `ZERO`, `ONE`, `LEAST` and `GREATEST` are
/// constants of it.
pub(crate) fn of_type(template: &str, dtype: DType) -> String {
    let constant = |value: &str| format!("T.{dtype}({value})");
    let (least, greatest) = extremes(dtype);
    let number = |value: i32| match dtype {
        DType::BOOL if value == 0 => "False".to_owned(),
        DType::BOOL => "True".to_owned(),
        dtype if dtype.is_float() => format!("{value}.0"),
        _ => value.to_string(),
    };
    template
        .replace("ZERO", &constant(&number(0)))
        .replace("ONE", &constant(&number(1)))
        .replace("LEAST", &constant(&least))
        .replace("GREATEST", &constant(&greatest))
        .replace("DT", &dtype.to_string())
}

/// Returns the least and the greatest finite value of a type as text.
fn extremes(dtype: DType) -> (String, String) {
    let float = |greatest: &str| (format!("-{greatest}"), greatest.to_owned());
    match dtype {
        DType::BOOL => ("False".to_owned(), "True".to_owned()),
        DType::FLOAT16 => float("65504.0"),
        DType::BFLOAT16 => float("3.3895313892515355e38"),
        DType::FLOAT32 => float("3.4028234663852886e38"),
        DType::FLOAT64 => float("1.7976931348623157e308"),
        _ => {
            let (least, greatest) = dtype.integer_range().unwrap_or_default();
            (least.to_string(), greatest.to_string())
        }
    }
}

/// Iterates over every type except booleans.
pub(crate) fn numbers() -> impl Iterator<Item = DType> {
    DType::SCALARS.iter().copied().filter(|dtype| !dtype.is_bool())
}
