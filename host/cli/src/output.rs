//! Results to standard output, as text that is harmless on a terminal or as JSON.

use std::borrow::Cow;

use chipdock_host::shown;
use serde_json::Value;

use crate::report::Result;
use crate::streams;

/// Prints a result for a person. Its parts come from outside: control characters are spelt out,
/// here for all of them. A caller that puts a part in a line of its own makes it one line first.
///
/// # Errors
///
/// Exit code 1 when standard output cannot be written.
pub(crate) fn print(text: &str) -> Result<()> {
    streams::write_results(shown::listing(text).as_bytes())
}

/// Prints a text with our own colours, each part of which was made harmless before.
///
/// # Errors
///
/// As of [`print()`].
pub(crate) fn print_painted(text: &str) -> Result<()> {
    streams::write_results(text.as_bytes())
}

/// Prints a product, such as generated source: byte for byte, but harmless on a terminal.
///
/// # Errors
///
/// As of [`print()`].
pub(crate) fn print_product(bytes: &[u8]) -> Result<()> {
    if streams::results_are_watched() {
        let text = String::from_utf8_lossy(bytes);
        return streams::write_results(shown::listing(&text).as_bytes());
    }
    streams::write_results(bytes)
}

/// Prints a value as JSON.
///
/// # Errors
///
/// As of [`print()`].
pub(crate) fn print_json(value: &Value) -> Result<()> {
    print_json_text(&json_text(value))
}

/// Prints a JSON document; hidden characters in its strings are escaped, which changes no value.
///
/// # Errors
///
/// As of [`print()`].
pub(crate) fn print_json_text(document: &str) -> Result<()> {
    let document: Cow<'_, str> = shown::json(document);
    streams::write_results(document.as_bytes())
}

/// Returns a value as readable JSON: one field per line, but lists of words and numbers, which may
/// be long, fill their lines. Ends with a newline.
pub(crate) fn json_text(value: &Value) -> String {
    let mut text = String::new();
    put_json(&mut text, value, 0);
    text + "\n"
}

fn put_json(text: &mut String, value: &Value, indent: usize) {
    /// Characters of a line that is filled.
    const WIDTH_MAX: usize = 100;
    let below = format!("\n{}", " ".repeat(indent + 2));
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            text.push('{');
            for (index, (name, field)) in fields.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                text.push_str(&format!("{below}{}: ", Value::from(name.as_str())));
                put_json(text, field, indent + 2);
            }
            text.push_str(&format!("\n{}}}", " ".repeat(indent)));
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                text.push_str(&below);
                put_json(text, item, indent + 2);
            }
            text.push_str(&format!("\n{}]", " ".repeat(indent)));
        }
        Value::Array(items) => {
            let words: Vec<String> = items.iter().map(Value::to_string).collect();
            let line = words.join(", ");
            if line.len() + indent < WIDTH_MAX {
                text.push_str(&format!("[{line}]"));
                return;
            }
            let mut column = WIDTH_MAX;
            text.push('[');
            for (index, word) in words.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                if column + word.len() + 2 > WIDTH_MAX {
                    text.push_str(&below);
                    column = indent + 2;
                } else {
                    text.push(' ');
                    column += 1;
                }
                text.push_str(word);
                column += word.len() + 1;
            }
            text.push_str(&format!("\n{}]", " ".repeat(indent)));
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_the_same_however_it_is_laid_out() {
        let many: Vec<String> = (0..120).map(|index| format!("+feature-{index}")).collect();
        let value = serde_json::json!({
            "a": 1, "empty": {"list": [], "object": {}}, "deep": [[1, 2], {"x": "a \"quoted\" \n word"}], "many": many,
            "few": [1, null, true, 0.5], "nothing": null, "long": ["x".repeat(300), "y"],
        });
        let text = json_text(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert!(text.contains("\n  \"few\": [1, null, true, 0.5],\n"), "{text}");
        assert!(text.lines().filter(|line| !line.contains("xxx")).all(|line| line.len() <= 100), "{text}");
        assert!(text.lines().count() < 45, "{text}");
        assert_eq!(json_text(&serde_json::json!([])), "[]\n");
    }
}
