//! `chipdock targets`: the target kinds, whether each can be used here, and their options.

use std::sync::Arc;

use chipdock_host::{Error, Host};
use chipdock_ir::{OptionSchema, OptionType, Stage, Target, TargetKind};
use serde_json::{Value, json};

use super::{failure, host_options};
use crate::args::{GlobalArgs, TargetsArgs};
use crate::report::{Exit, Failure, Result, quoted};
use crate::{output, table};

/// A value longer than this is cut for a person; `--json` has it whole.
const VALUE_SHOWN_CHARS: usize = 48;

/// A kind, who brings it, and what came of asking for a target of it.
struct Kind {
    schema: Arc<TargetKind>,
    plugin: String,
    target: std::result::Result<Arc<Target>, Error>,
}

/// Lists kinds; with a kind, its options.
pub(crate) fn run(args: &TargetsArgs, global: &GlobalArgs) -> Result<()> {
    let host = Host::new(host_options(global)?).map_err(|error| failure(&error))?;
    let known = host.target_kinds().map_err(|error| failure(&error))?;
    let names: Vec<String> = known.iter().map(|(schema, _)| schema.name.clone()).collect();
    let mut kinds: Vec<Kind> = known
        .into_iter()
        .map(|(schema, plugin)| Kind { target: host.usable_target(&schema.name), schema, plugin })
        .collect();
    let default_host = default_host(&kinds).map(str::to_owned);
    if let Some(name) = &args.kind {
        kinds.retain(|kind| kind.schema.name == *name);
        if kinds.is_empty() {
            return Err(no_kind(name, &names));
        }
    }
    if global.json {
        let all: Vec<Value> = kinds.iter().map(to_json).collect();
        let listed = json!({"schema": "chipdock.targets/1", "kinds": all, "default_host": default_host});
        return output::print_json(&listed);
    }
    let text = match (&args.kind, kinds.first()) {
        (Some(_), Some(kind)) => describe(kind),
        (_, None) => "no target kind is there; chipdock plugins says what was found\n".to_owned(),
        (None, Some(_)) => list(&kinds, default_host.as_deref()),
    };
    output::print(&text)
}

/// What a kind that is not there comes to: a plugin is missing.
fn no_kind(name: &str, names: &[String]) -> Failure {
    Failure::new(Exit::Plugin, format!("no target kind \"{name}\"; there are {}", quoted(names)))
        .help("chipdock plugins shows what was found, and why one is not used")
}

/// The kind that is taken for the host when nobody says.
fn default_host(kinds: &[Kind]) -> Option<&str> {
    let usable = kinds.iter().filter(|kind| kind.target.is_ok()).map(|kind| &kind.schema);
    let hosts = usable.filter(|kind| kind.is_host);
    // Of equal preference, the first by name.
    let first =
        hosts.min_by(|a, b| b.host_preference.cmp(&a.host_preference).then_with(|| a.name.cmp(&b.name)));
    first.map(|kind| kind.name.as_str())
}

fn to_json(kind: &Kind) -> Value {
    let mut json = json!(*kind.schema);
    json["plugin"] = kind.plugin.clone().into();
    json["usable"] = kind.target.is_ok().into();
    json["problem"] = match &kind.target {
        Ok(_) => Value::Null,
        Err(error) => {
            json!({"kind": error.kind().name(), "message": error.message(), "help": error.advice()})
        }
    };
    json["target"] = kind.target.as_ref().map_or(Value::Null, |target| target.to_json());
    json
}

fn list(kinds: &[Kind], default_host: Option<&str>) -> String {
    let mut rows = table::new(&["KIND", "STATUS", "HOST", "DEVICE", "STAGE", "PLUGIN", "ABOUT"]);
    for Kind { schema: kind, plugin, target } in kinds {
        let host = match (kind.is_host, default_host == Some(kind.name.as_str())) {
            (false, _) => "no".to_owned(),
            (true, is_default) => {
                format!("{}{}", kind.host_preference, if is_default { " (default)" } else { "" })
            }
        };
        rows.add_row([
            kind.name.clone(),
            if target.is_ok() { "usable" } else { "unavailable" }.to_owned(),
            host,
            kind.device.clone(),
            stage(kind.stage).to_owned(),
            plugin.clone(),
            kind.doc.clone(),
        ]);
    }
    let reasons: String = kinds.iter().filter_map(unavailable).map(|reason| format!("\n{reason}")).collect();
    format!("{}{reasons}\nchipdock targets KIND shows its options\n", table::text(&rows))
}

/// Why a kind cannot be used, if it cannot.
fn unavailable(kind: &Kind) -> Option<String> {
    let error = kind.target.as_ref().err()?;
    let help =
        if error.advice().is_empty() { String::new() } else { format!("  help: {}\n", error.advice()) };
    Some(format!("{} is unavailable: {}\n{help}", kind.schema.name, error.message()))
}

fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Blocks => "blocks",
        Stage::Scheduled => "scheduled",
        Stage::Flattened => "flattened",
        Stage::Device => "device",
        Stage::Host => "host",
    }
}

fn describe(found: &Kind) -> String {
    let Kind { schema: kind, plugin, target } = found;
    let mut facts = table::new(&["KIND", &kind.name]);
    let mut fact = |name: &str, value: String| {
        if !value.is_empty() {
            facts.add_row([name.to_owned(), value]);
        }
    };
    fact("about", kind.doc.clone());
    fact("status", if target.is_ok() { "usable" } else { "unavailable" }.to_owned());
    fact("plugin", plugin.clone());
    fact("device", kind.device.clone());
    fact("stage", stage(kind.stage).to_owned());
    fact(
        "host",
        if kind.is_host { format!("yes, preference {}", kind.host_preference) } else { "no".to_owned() },
    );
    fact("keys", kind.keys.join(" "));
    fact("thread axes", kind.thread_axes.join(" "));
    fact("scopes", kind.storage_scopes.join(" "));
    let mut text = table::text(&facts);
    if let Some(reason) = unavailable(found) {
        text.push_str(&format!("\n{reason}"));
    }
    if !kind.options.is_empty() {
        text.push_str(
            "\nOPTIONS, each with its type, what is allowed, and what it is here when nobody sets it\n",
        );
    }
    for option in &kind.options {
        let unset = target.as_ref().ok().and_then(|target| target.options.get(&option.name));
        text.push_str(&describe_option(option, unset.or(option.default.as_ref())));
    }
    text
}

/// A line of facts, and what the option is about below it: a table would be wider than any terminal.
fn describe_option(option: &OptionSchema, unset: Option<&Value>) -> String {
    let mut line = format!("  {}: {}", option.name, option_type(option.option_type));
    if let Some(allowed) = allowed(option) {
        line.push_str(&format!(", {allowed}"));
    }
    if let Some(value) = unset {
        line.push_str(&format!(", here {}", shortened(value)));
    }
    format!("{line}\n{}", table::wrapped(&option.doc, 6))
}

/// A value, cut where it is long: a list or a text of features runs to a thousand characters.
fn shortened(value: &Value) -> String {
    let text = match value {
        Value::Array(items) => {
            let words: Vec<String> = items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect();
            words.join(" ")
        }
        other => other.to_string(),
    };
    let n_chars = text.chars().count();
    if n_chars <= VALUE_SHOWN_CHARS {
        return if text.is_empty() { "[]".to_owned() } else { text };
    }
    let shown: String = text.chars().take(VALUE_SHOWN_CHARS).collect();
    match value {
        Value::Array(items) => format!("{shown}... ({} in all, --json has them)", items.len()),
        _ => format!("{shown}... ({n_chars} characters, --json has them)"),
    }
}

fn option_type(option: OptionType) -> &'static str {
    match option {
        OptionType::Bool => "bool",
        OptionType::Int => "int",
        OptionType::Str => "str",
        OptionType::StrList => "list[str]",
        OptionType::IntList => "list[int]",
        OptionType::TargetList => "list[target]",
    }
}

fn allowed(option: &OptionSchema) -> Option<String> {
    /// A longer list says less than its length.
    const NAMED_MAX: usize = 12;
    match (option.min, option.max) {
        _ if option.one_of.len() > NAMED_MAX => {
            let first = option.one_of[..NAMED_MAX].join(" ");
            Some(format!("one of {first} ... ({} in all, --json has them)", option.one_of.len()))
        }
        _ if !option.one_of.is_empty() => Some(format!("one of {}", option.one_of.join(" "))),
        (Some(min), Some(max)) => Some(format!("{min} to {max}")),
        (Some(min), None) => Some(format!("at least {min}")),
        (None, Some(max)) => Some(format!("at most {max}")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut() {
        assert_eq!(shortened(&json!("short")), "\"short\"");
        assert_eq!(shortened(&json!([])), "[]");
        assert_eq!(shortened(&json!(["+a", "+b"])), "+a +b");
        let many: Vec<String> = (0..90).map(|index| format!("+feature{index}")).collect();
        let text = shortened(&json!(many));
        assert!(
            text.starts_with("+feature0 ") && text.ends_with("... (90 in all, --json has them)"),
            "{text}"
        );
        assert!(text.len() < 100);
        assert!(shortened(&json!("x".repeat(1000))).contains("1002 characters"));
    }
}
