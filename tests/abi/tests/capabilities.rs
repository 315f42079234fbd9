//! Compares the files derived from the table of capabilities, JSON Schemas and the table of the
//! guide, with it. `BLESS=1` writes both anew.

use std::fs;
use std::path::Path;

use chipdock_ir::{CAPABILITIES, Capability, CapabilitySource};
use chipdock_test_support::{bless, workspace};

/// The name with its option's type, unit, default and usual name; nothing for one that is a field
/// of the kind.
fn of_option(capability: &Capability) -> Option<[&'static str; 3]> {
    let CapabilitySource::Option { unit, default, usual_name, .. } = capability.source else { return None };
    Some([unit, default, usual_name])
}

/// The unit of a row, empty if it has none.
fn unit_of(capability: &Capability) -> &'static str {
    match capability.source {
        CapabilitySource::Option { unit, .. } | CapabilitySource::Kind { unit } => unit,
    }
}

/// `option_type` of a row that is read from an option.
fn type_of(capability: &Capability) -> String {
    match capability.source {
        CapabilitySource::Option { option_type, .. } => option_type.to_string(),
        CapabilitySource::Kind { .. } => String::new(),
    }
}

/// The property `capabilities` of the schema of a target kind, at an indentation.
fn property(indent: &str) -> String {
    let mut lines = vec![
        "\"capabilities\": {".to_owned(),
        "  \"type\": \"object\",".to_owned(),
        "  \"description\": \"which option holds each capability that passes ask for; empty or absent: none\","
            .to_owned(),
        "  \"properties\": {".to_owned(),
    ];
    let rows: Vec<_> = CAPABILITIES.iter().filter_map(|row| Some((row, of_option(row)?))).collect();
    for (index, (row, [unit, default, usual])) in rows.iter().enumerate() {
        let mut description = format!("{} An option of type {}", row.doc, type_of(row));
        if !unit.is_empty() {
            description += &format!(", in {unit}");
        }
        description += &format!(", usually \"{usual}\"; not set: ");
        description += if default.is_empty() { "not known" } else { default };
        let description = serde_json::to_string(&description).expect("text");
        lines.push(format!("    \"{}\": {{", row.name));
        lines.push("      \"type\": \"string\",".to_owned());
        lines.push(format!("      \"description\": {description}"));
        lines.push(if index + 1 < rows.len() { "    }," } else { "    }" }.to_owned());
    }
    lines.push("  }".to_owned());
    lines.push("},".to_owned());
    lines.iter().map(|line| format!("{indent}{line}\n")).collect()
}

/// The text with what is between the line `first` and the line `last` replaced; both lines are part
/// of `new`.
fn replaced(text: &str, first: &str, last: &str, new: &str) -> String {
    let begin = text.find(first).unwrap_or_else(|| panic!("no line {first:?}"));
    let length = text[begin..].find(last).unwrap_or_else(|| panic!("no line {last:?}")) + last.len();
    format!("{}{new}{}", &text[..begin], &text[begin + length..])
}

fn is_current(path: &Path, edit: impl Fn(&str) -> String) {
    let text = fs::read_to_string(path).expect("readable");
    bless(path, &edit(&text)).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn target_t5_the_schemas_follow_from_the_table() {
    for (name, indent) in [("target-kind", "    "), ("manifest", "        ")] {
        let path = workspace().join(format!("plugin-api/abi/schemas/{name}.schema.json"));
        let (first, last) = (format!("{indent}\"capabilities\": {{\n"), format!("\n{indent}}},\n"));
        is_current(&path, |text| replaced(text, &first, &last, &property(indent)));
    }
}

fn guide_table() -> String {
    let mut text = "| Capability | Read from | In | Not set | Meaning |\n|---|---|---|---|---|\n".to_owned();
    for row in CAPABILITIES {
        let [from, default] = match of_option(row) {
            Some([_, default, usual]) => [
                format!("an option of type `{}`, usually `{usual}`", type_of(row)),
                if default.is_empty() { "not known".to_owned() } else { format!("`{default}`") },
            ],
            None => ["the field of the kind".to_owned(), String::new()],
        };
        let name = format!("{}.{}", row.group, row.name);
        text += &format!("| `{name}` | {from} | {} | {default} | {} |\n", unit_of(row), row.doc);
    }
    text
}

#[test]
fn target_t5_the_guides_table_follows_from_the_table() {
    const FIRST: &str = "<!-- capabilities: made from plugin-api/ir/src/targets/capabilities.rs by tests/abi, with BLESS=1 -->\n";
    const LAST: &str = "<!-- end of capabilities -->\n";
    let path = workspace().join("guide/docs/targets-and-devices.md");
    is_current(&path, |text| replaced(text, FIRST, LAST, &format!("{FIRST}\n{}\n{LAST}", guide_table())));
}

#[test]
fn target_t5_each_capability_is_declared_once() {
    let mut names: Vec<&str> = CAPABILITIES.iter().map(|row| row.name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert!(all == names.len() && all > 10, "{names:?}");
    for row in CAPABILITIES {
        assert!(row.doc.ends_with('.') && !row.doc.contains("  "), "{}: {:?}", row.name, row.doc);
        let units = ["_max", "_size", "_bits", "_bytes", "registers", "cores"];
        let is_measured = units.iter().any(|unit| row.name.ends_with(unit));
        assert_eq!(is_measured, !unit_of(row).is_empty(), "{}: a number has a unit", row.name);
    }
}
