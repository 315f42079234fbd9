//! `chipdock targets`: the target kinds, whether each can be used here, and their options.

use std::cmp::Reverse;
use std::time::Duration;

use chipdock_host::discovery::discover;
use chipdock_host::shown::{LINE_CHARS_MAX, shown};
use chipdock_host::{Error, Host, HostOptions};
use chipdock_ir::{OptionSchema, Stage, TargetKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ask::{Found, Lack, Question, Row, ask_all};
use super::{failure, host_options};
use crate::args::{GlobalArgs, TargetsArgs};
use crate::report::{self, Exit, Failure, Result, quoted};
use crate::{output, table};

/// Number of characters of a value that a person is shown; `--json` has it whole.
const VALUE_SHOWN_CHARS: usize = 48;

/// The question that is asked of each target kind.
pub(super) struct Targets;

/// A kind's schema, with the result of making a target of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CheckedKind {
    schema: TargetKind,
    /// Canonical JSON.
    target: Found<Value>,
}

impl Question for Targets {
    const PREFIX: &'static str = "target.kind.";
    const WORD: &'static str = "targets";
    type Answer = CheckedKind;

    fn ask(host: &Host, name: &str) -> std::result::Result<CheckedKind, Error> {
        let schema = (*host.target_kind(name)?).clone();
        let target = host.usable_target(name).map(|target| target.target().to_json());
        Ok(CheckedKind { schema, target: target.map_err(|error| Lack::from(&error)) })
    }
}

/// A kind, its plugin, and the result of asking for a target of it.
struct Kind {
    name: String,
    /// Schema; None when neither its plugin nor a manifest states it.
    schema: Option<TargetKind>,
    plugin: String,
    /// Whether a manifest states it: then its plugin need not be opened for that.
    is_listed: bool,
    /// Standing of the place of its plugin ([`chipdock_host::discovery::Source::standing`]).
    standing: u8,
    target: Found<Value>,
}

/// Lists kinds; with a kind, its options; with `--tags` the tags of these kinds.
pub(crate) fn run(args: &TargetsArgs, global: &GlobalArgs) -> Result<()> {
    let options = host_options(global)?;
    let preferred =
        |key: &str| options.prefer.iter().find(|(other, _)| other == key).map(|(_, plugin)| plugin.clone());
    let answers = ask_all::<Targets>(global, Duration::from_secs_f64(args.deadline))?;
    let stated = Stated::new(&options)?;
    let kind = |row: Row<CheckedKind>| {
        let plugin = preferred(&format!("target.kind.{}", row.name)).or_else(|| row.plugins.first().cloned());
        let listed = stated.schemas.iter().find(|kind| kind.name == row.name).cloned();
        let is_listed = listed.is_some();
        let plugin = plugin.unwrap_or_default();
        let standing = stated.standing_of(&plugin);
        let (schema, target) = match row.found {
            Ok(known) => (Some(known.schema), known.target),
            Err(lack) => (listed, Err(lack)),
        };
        Kind { name: row.name, schema, plugin, is_listed, standing, target }
    };
    let mut kinds: Vec<Kind> = answers.rows.into_iter().map(kind).collect();
    let names: Vec<String> = kinds.iter().map(|kind| kind.name.clone()).collect();
    let default_host = default_host(&kinds).map(str::to_owned);
    if let Some(name) = &args.kind {
        kinds.retain(|kind| kind.name == *name);
        if kinds.is_empty() {
            return Err(no_kind(name, &names));
        }
    }
    if global.json {
        let all: Vec<Value> = kinds.iter().map(|kind| to_json(kind, args.tags)).collect();
        return output::print_json(&json!({
            "schema": "chipdock.targets/1",
            "kinds": all,
            "default_host": default_host,
            "failed": answers.failed,
        }));
    }
    let text = match (&args.kind, kinds.first()) {
        (_, Some(_)) if args.tags => list_tags(&kinds),
        (Some(_), Some(kind)) => describe(kind),
        (_, None) => "no target kind was found; see chipdock plugins\n".to_owned(),
        (None, Some(_)) => list(&kinds, default_host.as_deref()),
    };
    output::print(&text)
}

/// The kinds of usable plugins, as far as they are known without opening any.
struct Stated {
    /// Plugins, with the standing of the place of each.
    standings: Vec<(String, u8)>,
    /// The schemas in their manifests.
    schemas: Vec<TargetKind>,
}

impl Stated {
    fn new(options: &HostOptions) -> Result<Self> {
        let discovery = discover(options).map_err(|error| failure(&error))?;
        let standings =
            discovery.candidates.iter().map(|one| (one.name.clone(), one.source.standing())).collect();
        let usable = discovery.candidates.into_iter().filter(|candidate| candidate.problem.is_none());
        let declared = usable.filter_map(|one| one.manifest).flat_map(|manifest| manifest.target_kinds);
        let schemas = declared.filter_map(|kind| kind.usable().ok().map(|kind| (**kind).clone())).collect();
        Ok(Self { standings, schemas })
    }

    /// The standing of a plugin's place; that of the host itself comes before all.
    fn standing_of(&self, plugin: &str) -> u8 {
        let namesakes = self.standings.iter().filter(|(name, _)| name == plugin);
        namesakes.map(|(_, standing)| *standing).min().unwrap_or(0)
    }
}

/// Makes the failure for an unknown kind: a plugin is missing.
fn no_kind(name: &str, names: &[String]) -> Failure {
    Failure::new(Exit::Plugin, format!("no target kind \"{name}\"; there are {}", quoted(names)))
        .help("chipdock plugins lists the plugins found, and why any is not used")
}

/// Returns the default kind of the host, chosen as [`Host::default_host`] does.
fn default_host(kinds: &[Kind]) -> Option<&str> {
    let usable = kinds.iter().filter(|kind| kind.target.is_ok());
    let schemas = usable.filter_map(|kind| Some((kind, kind.schema.as_ref()?)));
    let hosts = schemas.filter(|(_, schema)| schema.is_host);
    // First those for which no plugin must be opened, of them those that came with the program; of
    // equal preference, the first by name.
    let first = hosts.min_by_key(|(kind, schema)| {
        (!kind.is_listed, kind.standing, Reverse(schema.host_preference), schema.name.clone())
    });
    first.map(|(kind, _)| kind.name.as_str())
}

fn to_json(kind: &Kind, with_tags: bool) -> Value {
    let mut json = match &kind.schema {
        Some(schema) => json!(schema),
        None => json!({"name": kind.name}),
    };
    if let (Value::Object(schema), false) = (&mut json, with_tags) {
        schema.remove("tags");
    }
    json["plugin"] = kind.plugin.clone().into();
    json["usable"] = kind.target.is_ok().into();
    json["problem"] = match &kind.target {
        Ok(_) => Value::Null,
        Err(lack) => lack.to_json(),
    };
    json["target"] = kind.target.as_ref().map_or(Value::Null, Clone::clone);
    json
}

fn list(kinds: &[Kind], default_host: Option<&str>) -> String {
    let mut rows = table::new(&["KIND", "STATUS", "HOST", "DEVICE", "STAGE", "PLUGIN", "ABOUT"]);
    for Kind { name, schema, plugin, target, .. } in kinds {
        let status = if target.is_ok() { "usable" } else { "unavailable" };
        let Some(kind) = schema else {
            let unknown = || "-".to_owned();
            let cells = [unknown(), unknown(), unknown(), plugin.clone(), String::new()];
            rows.add_row([name.clone(), status.to_owned()].into_iter().chain(cells));
            continue;
        };
        let host = match (kind.is_host, default_host == Some(kind.name.as_str())) {
            (false, _) => "no".to_owned(),
            (true, is_default) => {
                format!("{}{}", kind.host_preference, if is_default { " (default)" } else { "" })
            }
        };
        rows.add_row([
            kind.name.clone(),
            status.to_owned(),
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

/// Lists the tags of kinds by name, each with its options.
fn list_tags(kinds: &[Kind]) -> String {
    let schemas = kinds.iter().filter_map(|kind| kind.schema.as_ref());
    let mut tags: Vec<_> =
        schemas.flat_map(|kind| kind.tags.iter().map(|(tag, options)| (tag, &kind.name, options))).collect();
    if tags.is_empty() {
        return "there are no tags\n".to_owned();
    }
    tags.sort_unstable_by_key(|(tag, ..)| *tag);
    let mut rows = table::new(&["TAG", "KIND", "OPTIONS"]);
    for (tag, kind, options) in tags {
        let options: Vec<String> =
            options.iter().map(|(name, value)| format!("{name}={}", shortened(value))).collect();
        rows.add_row([tag.clone(), kind.clone(), options.join(", ")]);
    }
    format!(
        "{}\nA tag is a target: --target TAG, or JSON with \"tag\" and options over its own\n",
        table::text(&rows)
    )
}

/// Returns the reason why a kind cannot be used, if there is one.
fn unavailable(kind: &Kind) -> Option<String> {
    let lack = kind.target.as_ref().err()?;
    let why = report::labelled(&format!("{} is unavailable", kind.name), &lack.message);
    let help = if lack.help.is_empty() { String::new() } else { report::labelled("  help", &lack.help) };
    Some(why + &help)
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
    let Kind { schema, plugin, target, .. } = found;
    let Some(kind) = schema else { return unavailable(found).unwrap_or_default() };
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
    if !kind.tags.is_empty() {
        fact("tags", format!("{}; chipdock targets {} --tags lists them", kind.tags.len(), kind.name));
    }
    let mut text = table::text(&facts);
    if let Some(reason) = unavailable(found) {
        text.push_str(&format!("\n{reason}"));
    }
    if !kind.options.is_empty() {
        text.push_str("\nOPTIONS, each with its type, allowed values and default here\n");
    }
    for option in &kind.options {
        let unset = target.as_ref().ok().and_then(|target| target.get(&option.name));
        text.push_str(&describe_option(option, unset.or(option.default.as_ref())));
    }
    text
}

/// Describes an option in a line of facts, with its description below: a table would be wider than
/// any terminal.
fn describe_option(option: &OptionSchema, unset: Option<&Value>) -> String {
    let mut line = format!("  {}: {}", option.name, option.option_type);
    if let Some(allowed) = allowed(option) {
        line.push_str(&format!(", {allowed}"));
    }
    if let Some(value) = unset {
        line.push_str(&format!(", here {}", shortened(value)));
    }
    if option.ignored {
        line.push_str(", no effect");
    }
    format!("{}\n{}", shown(&line, LINE_CHARS_MAX), table::wrapped(&option.doc, 6))
}

/// Returns a value, cut where it is long: a list or a text of features runs to a thousand
/// characters.
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

fn allowed(option: &OptionSchema) -> Option<String> {
    /// Greatest number of entries that are named.
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
