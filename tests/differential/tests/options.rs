//! Every option of every target kind has an effect that can be seen (TARGET-T13): a row of
//! [`table::ROWS`] names a program and the difference that a value makes. An option without a row
//! fails, unless it has one value or its kind declares it as `ignored`: whoever sets one of these
//! is told.

mod programs;
mod table;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use chipdock_host::artifact::Artifact;
use chipdock_host::{CompileOptions, Host, HostOptions, LogLevel, LogSink};
use chipdock_ir::{OptionSchema, OptionType, TargetKind};
use chipdock_test_backends::host_with;
use serde_json::{Map, Value, json};

/// The difference that an option makes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shows {
    /// The code, or what its index asks of a device, is another.
    Code,
    /// With the value the program is refused, and the error has this text; without it is built.
    Refused(&'static str),
    /// Without the value the program is refused, and the error has this text; with it is built.
    Built(&'static str),
    /// Another option is filled in otherwise.
    Fills(&'static str),
}

/// A row: kind, option, its value, what else the target has in both cases, the program, the
/// difference.
pub(crate) type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, Shows);

/// A host that keeps what it warns of.
fn telling_host() -> (Host, Arc<Mutex<Vec<String>>>) {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reported);
    let log: LogSink = Arc::new(move |level, line| {
        if level == LogLevel::Warning {
            sink.lock().unwrap().push(line.to_owned());
        }
    });
    (host_with(|options| HostOptions { log, ..options }), reported)
}

/// The kinds that the plugins of this repository declare.
fn kinds(host: &Host) -> Vec<Arc<TargetKind>> {
    let kinds: Vec<Arc<TargetKind>> = host.target_kinds().into_iter().map(|(kind, _)| kind).collect();
    assert!(kinds.len() >= 7, "{} kinds", kinds.len());
    kinds
}

fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(&format!("{{{text}}}")).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Compiles a program for a target; the text has all that the code generators delivered, but for
/// the targets themselves.
fn made(host: &Host, target: &Value, program: &str) -> Result<String, String> {
    let module = chipdock_script::parse(programs::text(program), program)
        .unwrap_or_else(|errors| panic!("{program}: {errors}"));
    let text = |error: chipdock_host::Error| {
        let reported: Vec<String> = error.diagnostics().iter().map(|one| one.message.clone()).collect();
        format!("{error}\n{}", reported.join("\n"))
    };
    let target = host.target(target.to_string()).map_err(text)?;
    let options = CompileOptions { threads_max: 1, ..CompileOptions::default() };
    let compiled = host.compile(&module, &target, &options).map_err(text)?;
    let mut all = String::new();
    written(&compiled.artifact, &mut all);
    Ok(all)
}

fn written(artifact: &Artifact, all: &mut String) {
    let _ = writeln!(all, "{}", artifact.index_json());
    for section in artifact.sections() {
        let _ = writeln!(all, "{} {}", section.name(), section.sha256());
    }
    artifact.imports().iter().for_each(|import| written(import, all));
}

/// Checks one row; answers what is wrong.
fn check(host: &Host, (kind, option, given, common, program, shows): &Row) -> Result<(), String> {
    let mut base = object(common);
    base.insert("kind".into(), json!(kind));
    let mut with = base.clone();
    with.insert((*option).into(), value(given));
    let (base, with) = (Value::Object(base), Value::Object(with));
    if let Shows::Fills(other) = shows {
        let filled = |source: &Value| -> Result<Value, String> {
            let target = host.target(source.to_string()).map_err(|error| error.to_string())?;
            Ok(target.target().options.get(*other).cloned().unwrap_or(Value::Null))
        };
        let (before, after) = (filled(&base)?, filled(&with)?);
        return if before == after {
            Err(format!("\"{other}\" is {before} with it and without"))
        } else {
            Ok(())
        };
    }
    let (before, after) = (made(host, &base, program), made(host, &with, program));
    match (shows, before, after) {
        (Shows::Code, Ok(before), Ok(after)) if before != after => Ok(()),
        (Shows::Code, Ok(_), Ok(_)) => Err("the code is the same".to_owned()),
        (Shows::Refused(says), Ok(_), Err(error)) | (Shows::Built(says), Err(error), Ok(_))
            if error.contains(says) =>
        {
            Ok(())
        }
        (_, before, after) => {
            let reported =
                |made: Result<String, String>| made.map(|_| "built".to_owned()).unwrap_or_else(|error| error);
            Err(format!("without: {}\nwith: {}", reported(before), reported(after)))
        }
    }
}

#[test]
fn every_option_has_an_effect() {
    let (host, _) = telling_host();
    let mut wrong = Vec::new();
    let rows: BTreeSet<(&str, &str)> = table::ROWS.iter().map(|row| (row.0, row.1)).collect();
    let mut declared = BTreeSet::new();
    let kinds = kinds(&host);
    for kind in &kinds {
        for option in kind.options.iter().filter(|option| !option.ignored && !option.has_one_value()) {
            declared.insert((kind.name.as_str(), option.name.as_str()));
        }
    }
    wrong.extend(
        declared.difference(&rows).map(|(kind, option)| format!("{kind}: no row for option \"{option}\"")),
    );
    wrong.extend(
        rows.difference(&declared).map(|(kind, option)| format!("{kind}: a row, and no option \"{option}\"")),
    );
    for row in table::ROWS {
        if let Err(why) = check(&host, row) {
            wrong.push(format!("{}: option \"{}\", program {}: {why}", row.0, row.1, row.4));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), table::ROWS.len(), wrong.join("\n"));
}

/// A value that is not the default.
fn another(option: &OptionSchema) -> Value {
    let values = match option.option_type {
        OptionType::Bool => vec![json!(true), json!(false)],
        OptionType::Int => vec![json!(option.min.unwrap_or(1)), json!(option.min.unwrap_or(1) + 1)],
        OptionType::Str => vec![json!(option.one_of.first().map_or("x", String::as_str))],
        OptionType::StrList => vec![json!([option.one_of.first().map_or("x", String::as_str)])],
        OptionType::IntList => vec![json!([option.min.unwrap_or(1)])],
        OptionType::TargetList => vec![json!([])],
        OptionType::Float => vec![json!(option.min.unwrap_or(1))],
        OptionType::StrMap | OptionType::IntMap => vec![json!({})],
    };
    values.into_iter().find(|value| option.default.as_ref() != Some(value)).unwrap_or_default()
}

/// TARGET-T13.
#[test]
fn every_option_without_an_effect_is_reported() {
    let (host, reported) = telling_host();
    let mut n_reported = 0;
    for kind in kinds(&host) {
        let ignored = kind.options.iter().filter(|option| option.ignored);
        let ignored = ignored.map(|option| (option.name.as_str(), another(option)));
        let common = [("libs", json!(["z"])), ("model", json!("m")), ("device", json!("board"))];
        for (option, value) in
            ignored.chain(common.into_iter().filter(|(name, _)| !kind.honoured.iter().any(|one| one == name)))
        {
            reported.lock().unwrap().clear();
            host.target(json!({"kind": kind.name, option: value}).to_string())
                .unwrap_or_else(|error| panic!("{error}"));
            let lines = reported.lock().unwrap().join("\n");
            let says = format!("target \"{}\": option \"{option}\" has no effect", kind.name);
            assert!(lines.contains(&says), "expected {says}, found {lines}");
            n_reported += 1;
        }
    }
    assert!(n_reported >= 21, "{n_reported}");
}
