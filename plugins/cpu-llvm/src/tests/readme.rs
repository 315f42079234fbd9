//! Generated tables of the README. `BLESS=1` rewrites them.

use std::fmt::Write as _;
use std::path::Path;

use chipdock_ir::{OptionSchema, OptionType};

use super::kinds::schema;
use crate::names::Family;
use crate::triple::ARCHITECTURES;

fn option_row(option: &OptionSchema) -> String {
    let kind = match option.option_type {
        OptionType::Bool => "bool",
        OptionType::Int => "int",
        OptionType::Str => "str",
        OptionType::StrList => "list of str",
        OptionType::IntList => "list of int",
        OptionType::TargetList => "list of targets",
        OptionType::Float => "float",
        OptionType::StrMap => "map of str",
        OptionType::IntMap => "map of int",
    };
    let allowed = match (option.min, option.max) {
        _ if !option.one_of.is_empty() => format!(", {}", option.one_of.join(" or ")),
        (Some(min), Some(max)) => format!(", {min} to {max}"),
        _ => String::new(),
    };
    let default = option.default.as_ref().map(|value| format!(", {value}")).unwrap_or_default();
    let effect = if option.ignored { "no effect: " } else { "" };
    let default = default.replace(", ", "; default ");
    format!("| `{}` | {kind}{allowed}{default} | {effect}{} |", option.name, option.doc)
}

fn options() -> String {
    let mut text = String::from("| Option | Value | |\n|---|---|---|\n");
    for option in schema().options {
        writeln!(text, "{}", option_row(&option)).unwrap();
    }
    text
}

fn architectures() -> String {
    let mut text =
        String::from("| Family | `mtriple` begins with | Processors | Features |\n|---|---|---|---|\n");
    for family in Family::ALL {
        let names: Vec<String> = ARCHITECTURES
            .iter()
            .filter(|known| known.family == family)
            .map(|known| format!("`{}`", known.name))
            .collect();
        let (processors, features) = (family.names().processors.len(), family.names().features.len());
        writeln!(text, "| {} | {} | {processors} | {features} |", family.component(), names.join(" "))
            .unwrap();
    }
    text
}

/// The text with what stands between a pair of marks replaced.
fn replaced(text: &str, mark: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {mark}:begin -->\n"), format!("<!-- {mark}:end -->"));
    let (head, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{begin}"));
    let (_, tail) = rest.split_once(&end).unwrap_or_else(|| panic!("{end}"));
    format!("{head}{begin}{table}{end}{tail}")
}

#[test]
fn tables_of_the_readme_are_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let new = replaced(&replaced(&text, "options", &options()), "architectures", &architectures());
    chipdock_test_support::bless(&path, &new).unwrap_or_else(|error| panic!("{error}"));
}
