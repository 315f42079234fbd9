//! `chipdock plugins`: every plugin met, and why one is not used.

use std::time::Duration;

use chipdock_host::discovery::{
    Candidate, Discovery, NeededKey, check_against_lock, discover, needed_keys, needed_plugins,
};
use chipdock_host::manifest::Manifest;
use chipdock_host::settings::{Settings, variable_of};
use chipdock_host::shown::{LINE_CHARS_MAX, shown};
use chipdock_host::{LockedPlugin, PluginLock, ProblemKind};
use chipdock_supervise::in_order;
use serde_json::{Value, json};

use super::check::{self, Outcome};
use super::{alone_on_standard_output, children_at_once, failure, host_options};
use crate::args::{GlobalArgs, PluginsArgs};
use crate::destination::{self, Destination};
use crate::progress::Progress;
use crate::report::{Exit, Failure, Result, quoted};
use crate::{output, table};

/// Lists plugins; with `--check`, opens each in a process of its own first.
pub(crate) fn run(args: &PluginsArgs, global: &GlobalArgs) -> Result<()> {
    let destination = args.lock.as_deref().map(Destination::resolve).transpose()?;
    alone_on_standard_output(&destination, global)?;
    let took_standard_output = destination.as_ref().is_some_and(Destination::is_standard_output);
    let options = host_options(global)?;
    let mut discovery = discover(&options).map_err(|error| failure(&error))?;
    if let Some(lock) = &options.locked {
        check_against_lock(&mut discovery, lock);
    }
    let settings = Settings::new(&options, &discovery).map_err(|error| failure(&error))?;
    let whole = discovery.clone();
    if let Some(name) = &args.name {
        discovery.candidates = named(name, discovery.candidates)?;
    }
    let lock = destination.map(|destination| write_lock(destination, &discovery)).transpose()?;
    if took_standard_output {
        return Ok(());
    }
    let outcomes: Vec<Option<Outcome>> = if args.check {
        let progress = Progress::new(global);
        let deadline = Duration::from_secs_f64(args.deadline);
        let check = |candidate: &Candidate| {
            is_checked(candidate).then(|| {
                progress.step(format!("opening {}", candidate.library.display()));
                check::open(candidate, &needed_plugins(&whole, candidate), global, deadline)
            })
        };
        in_order(discovery.candidates.iter().collect(), children_at_once(), &check)
    } else {
        vec![None; discovery.candidates.len()]
    };
    if global.json {
        let mut object = to_json(&discovery, &whole, &outcomes, &settings);
        if let Some(lock) = &lock {
            let pinned: Vec<&LockedPlugin> = lock.plugins().collect();
            object["lock"] =
                json!({"file": args.lock.as_ref().map(|path| path.to_string_lossy()), "plugins": pinned});
        }
        return output::print_json(&object);
    }
    let mut text = to_text(&discovery, &outcomes, global.verbose);
    if args.name.is_some() {
        // A shadowed plugin has the same settings as the one that is used.
        let is_shadowed = |candidate: &&Candidate| {
            candidate.problem.as_ref().is_some_and(|problem| problem.kind == ProblemKind::Shadowed)
        };
        let shown = discovery.candidates.iter().filter(|candidate| !is_shadowed(candidate));
        outcomes.iter().flatten().for_each(|outcome| text.push_str(&build_text(outcome)));
        shown.for_each(|candidate| {
            text.push_str(&statements_text(candidate));
            text.push_str(&needs_text(&needed_keys(&whole, candidate)));
            text.push_str(&settings_text(candidate, &settings));
        });
    }
    if let (Some(path), Some(lock)) = (&args.lock, &lock) {
        let path = path.to_string_lossy();
        let path = shown(&path, LINE_CHARS_MAX);
        text.push_str(&format!("\n{path} pins {} plugins\n", lock.plugins().count()));
    }
    output::print(&text)
}

/// Writes a lock of the usable plugins, whole or not at all.
fn write_lock(destination: Destination, discovery: &Discovery) -> Result<PluginLock> {
    let lock = PluginLock::of(discovery).map_err(|error| failure(&error))?;
    let text = lock.to_text().map_err(|error| failure(&error))?;
    destination::write_file(destination, text.as_bytes())?;
    Ok(lock)
}

/// Returns true if a plugin is opened by `--check`: not one that the user excluded, that others
/// could have written, or that cannot be opened here.
fn is_checked(candidate: &Candidate) -> bool {
    candidate.problem.as_ref().is_none_or(|problem| problem.kind == ProblemKind::Shadowed)
}

fn status(candidate: &Candidate) -> &'static str {
    match candidate.problem.as_ref().map(|problem| problem.kind) {
        None => "ready",
        Some(ProblemKind::Shadowed) => "shadowed",
        Some(ProblemKind::Disabled | ProblemKind::NotSelected) => "disabled",
        Some(_) => "refused",
    }
}

/// Returns the plugins of that name.
///
/// # Errors
///
/// Exit code 3 when there is none.
fn named(name: &str, mut candidates: Vec<Candidate>) -> Result<Vec<Candidate>> {
    let names: Vec<String> = candidates.iter().map(|candidate| candidate.name.clone()).collect();
    // A manifest that was not read may have that name.
    let unread: Vec<String> = candidates.iter().filter_map(Candidate::unread).collect();
    candidates.retain(|candidate| candidate.name == name);
    if !candidates.is_empty() {
        return Ok(candidates);
    }
    let error = Failure::new(Exit::Plugin, format!("there is no plugin \"{name}\""));
    Err(match names.is_empty() {
        _ if !unread.is_empty() => error.help(unread.join("; ")),
        true => error.help("chipdock plugins --verbose says where plugins are looked for"),
        false => error.help(format!("expected one of {}", quoted(&names))),
    })
}

/// Returns the build id of an opened plugin, as its descriptor or its linker states it.
fn build_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Opened(opened) => match opened.build_id.as_deref() {
            Some(id) if !id.is_empty() => format!("\nbuild {}\n", shown(id, LINE_CHARS_MAX)),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// Returns what the manifest states of the plugin's maker; empty where it states nothing.
fn statements_text(candidate: &Candidate) -> String {
    let stated = candidate.manifest.iter().flat_map(Manifest::statements);
    let lines =
        stated.filter_map(|(field, text)| Some(format!("{field} {}\n", shown(text?, LINE_CHARS_MAX))));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Returns the keys that a plugin needs of others, with their providers; empty where it needs none.
fn needs_text(needed: &[NeededKey]) -> String {
    if needed.is_empty() {
        return String::new();
    }
    let mut rows = table::new(&["NEEDS", "OF"]);
    for NeededKey { key, plugins } in needed {
        let of = if plugins.is_empty() { "nobody".to_owned() } else { plugins.join(" ") };
        rows.add_row([key, &of]);
    }
    format!("\n{}", table::text(&rows))
}

/// Returns the settings of a plugin, by its manifest.
fn settings_text(candidate: &Candidate, settings: &Settings) -> String {
    let Some(manifest) = &candidate.manifest else {
        return "\nits settings are not known: it has no manifest\n".to_owned();
    };
    let reports = settings.reports(&candidate.name, &manifest.settings);
    if reports.is_empty() {
        return "\nit has no settings\n".to_owned();
    }
    let mut rows = table::new(&["SETTING", "VALUE", "TYPE", "FROM", "VARIABLES", "WHAT IT DECIDES"]);
    for report in &reports {
        let value = match (&report.value, &report.problem) {
            (_, Some(problem)) => problem.clone(),
            (Some(value), None) => value.to_string(),
            (None, None) => "not set".to_owned(),
        };
        let declared = &report.declared;
        let own = variable_of(&candidate.name, &declared.name);
        let variables = std::iter::once(&own).chain(&declared.variables).map(String::as_str);
        let variables = variables.collect::<Vec<_>>().join(" ");
        rows.add_row([
            &declared.name,
            &value,
            &declared.type_name,
            &report.from.to_string(),
            &variables,
            &declared.doc,
        ]);
    }
    format!("\n{}", table::text(&rows))
}

fn to_json(
    discovery: &Discovery,
    whole: &Discovery,
    outcomes: &[Option<Outcome>],
    settings: &Settings,
) -> Value {
    let plugin = |(candidate, outcome): (&Candidate, &Option<Outcome>)| {
        let manifest = candidate.manifest.as_ref();
        let mut object = json!({
            "name": candidate.name,
            "version": manifest.map(|manifest| manifest.version.to_string()),
            "status": status(candidate),
            "problem": candidate.problem,
            "provides": manifest.map(|manifest| &manifest.provides),
            "library": candidate.library.to_string_lossy(),
            "manifest": candidate.manifest_path.as_ref().map(|path| path.to_string_lossy()),
            "source": candidate.source,
            "needed_keys": needed_keys(whole, candidate),
            "settings": manifest.map(|manifest| settings.reports(&candidate.name, &manifest.settings)),
        });
        for (field, text) in manifest.into_iter().flat_map(Manifest::statements) {
            if let Some(text) = text {
                object[field] = text.into();
            }
        }
        if let Some(outcome) = outcome {
            object["check"] = outcome.to_json();
        }
        object
    };
    let plugins: Vec<Value> = discovery.candidates.iter().zip(outcomes).map(plugin).collect();
    json!({"schema": "chipdock.plugins/1", "plugins": plugins, "places": discovery.places})
}

fn to_text(discovery: &Discovery, outcomes: &[Option<Outcome>], verbose: bool) -> String {
    let mut text = String::new();
    if discovery.candidates.is_empty() {
        text.push_str("no plugin was found\n");
    } else {
        let mut rows = table::new(&["NAME", "VERSION", "STATUS", "PROVIDES", "LIBRARY", "REASON"]);
        for (candidate, outcome) in discovery.candidates.iter().zip(outcomes) {
            rows.add_row(row(candidate, outcome.as_ref()));
        }
        text.push_str(&table::text(&rows));
    }
    if discovery.candidates.is_empty() || verbose {
        let mut rows = table::new(&["SEARCHED", ""]);
        for place in &discovery.places {
            rows.add_row([place.path.display().to_string(), place.ignored.clone().unwrap_or_default()]);
        }
        text.push('\n');
        text.push_str(&table::text(&rows));
    }
    let untrusted = |candidate: &&Candidate| {
        candidate.problem.as_ref().is_some_and(|problem| problem.kind == ProblemKind::Untrusted)
    };
    if let Some(candidate) = discovery.candidates.iter().find(untrusted) {
        let library = candidate.library.display().to_string();
        let library = shown(&library, LINE_CHARS_MAX);
        text.push_str(&format!("\nto use a refused file all the same: --allow-path {library}\n"));
    }
    text
}

fn row(candidate: &Candidate, outcome: Option<&Outcome>) -> [String; 6] {
    let manifest = candidate.manifest.as_ref();
    let mut provides = manifest.map(|manifest| manifest.provides.clone());
    let mut version = manifest.map(|manifest| manifest.version.to_string());
    let mut status = status(candidate).to_owned();
    let mut reasons: Vec<String> = candidate.problem.iter().map(|problem| problem.message.clone()).collect();
    if let Some(outcome) = outcome {
        if candidate.problem.is_none() {
            status = outcome.status().to_owned();
        }
        match outcome {
            Outcome::Opened(opened) => {
                provides = Some(opened.keys.clone());
                version = opened.version.clone().or(version);
                reasons.extend(opened.shortcomings());
            }
            other => reasons.push(other.message()),
        }
    } else if candidate.problem.is_none() && manifest.is_none() {
        reasons.push("no manifest: opened only for what no manifest provides".to_owned());
    }
    let provides = match provides {
        Some(keys) if keys.is_empty() => "nothing".to_owned(),
        Some(keys) => keys.join(" "),
        None => "?".to_owned(),
    };
    [
        candidate.name.clone(),
        version.unwrap_or_else(|| "?".to_owned()),
        status,
        provides,
        candidate.library.display().to_string(),
        reasons.join("; "),
    ]
}
