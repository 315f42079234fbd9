//! `chipdock targets`: the target kinds that manifests declare, and their options.

use std::sync::Arc;

use chipdock_host::Host;
use chipdock_ir::{OptionSchema, OptionType, Stage, TargetKind};
use serde_json::{Value, json};

use super::{failure, host_options};
use crate::args::{GlobalArgs, TargetsArgs};
use crate::report::{Exit, Failure, Result, quoted};
use crate::{output, table};

/// A kind and who brings it.
struct Kind {
    schema: Arc<TargetKind>,
    plugin: String,
}

/// Lists kinds; with a kind, its options.
pub(crate) fn run(args: &TargetsArgs, global: &GlobalArgs) -> Result<()> {
    let host = Host::new(host_options(global)?).map_err(|error| failure(&error))?;
    let mut kinds: Vec<Kind> = host
        .target_kinds()
        .map_err(|error| failure(&error))?
        .into_iter()
        .map(|(schema, plugin)| Kind { schema, plugin })
        .collect();
    let default_host = default_host(&kinds).map(str::to_owned);
    if let Some(name) = &args.kind {
        let names: Vec<String> = kinds.iter().map(|kind| kind.schema.name.clone()).collect();
        kinds.retain(|kind| kind.schema.name == *name);
        if kinds.is_empty() {
            return Err(no_kind(name, &names));
        }
    }
    if global.json {
        let kind = |kind: &Kind| {
            let mut json = json!(*kind.schema);
            json["plugin"] = kind.plugin.clone().into();
            json
        };
        let all: Vec<Value> = kinds.iter().map(kind).collect();
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

/// The kind that is taken for the host when nobody says and it is usable: told without opening its plugin.
fn default_host(kinds: &[Kind]) -> Option<&str> {
    let hosts = kinds.iter().map(|kind| &kind.schema).filter(|kind| kind.is_host);
    // Of equal preference, the first by name.
    let first =
        hosts.min_by(|a, b| b.host_preference.cmp(&a.host_preference).then_with(|| a.name.cmp(&b.name)));
    first.map(|kind| kind.name.as_str())
}

fn list(kinds: &[Kind], default_host: Option<&str>) -> String {
    let mut rows = table::new(&["KIND", "DEVICE", "STAGE", "HOST", "PLUGIN", "OPTIONS", "ABOUT"]);
    for Kind { schema: kind, plugin } in kinds {
        let host = match (kind.is_host, default_host == Some(kind.name.as_str())) {
            (false, _) => "no".to_owned(),
            (true, is_default) => {
                format!("{}{}", kind.host_preference, if is_default { " (default)" } else { "" })
            }
        };
        let options: Vec<&str> = kind.options.iter().map(|option| option.name.as_str()).collect();
        rows.add_row([
            kind.name.clone(),
            kind.device.clone(),
            stage(kind.stage).to_owned(),
            host,
            plugin.clone(),
            options.join(" "),
            kind.doc.clone(),
        ]);
    }
    table::text(&rows)
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

fn describe(Kind { schema: kind, plugin }: &Kind) -> String {
    let mut facts = table::new(&["KIND", &kind.name]);
    let mut fact = |name: &str, value: String| {
        if !value.is_empty() {
            facts.add_row([name.to_owned(), value]);
        }
    };
    fact("about", kind.doc.clone());
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
    let mut options = table::new(&["OPTION", "TYPE", "DEFAULT", "ALLOWED", "ABOUT"]);
    for option in &kind.options {
        options.add_row([
            option.name.clone(),
            option_type(option.option_type).to_owned(),
            option.default.as_ref().map_or_else(|| "-".to_owned(), Value::to_string),
            allowed(option),
            option.doc.clone(),
        ]);
    }
    let options =
        if kind.options.is_empty() { String::new() } else { format!("\n{}", table::text(&options)) };
    format!("{}{options}", table::text(&facts))
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

fn allowed(option: &OptionSchema) -> String {
    match (option.min, option.max) {
        _ if !option.one_of.is_empty() => option.one_of.join(" "),
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "any".to_owned(),
    }
}
