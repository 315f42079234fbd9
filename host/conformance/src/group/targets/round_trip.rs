//! Targets created by a real host: written, read, nested, and queried by passes.

use chipdock_host::ResolvedTarget;
use chipdock_ir::{CapabilitySource, OptionType, Target};
use serde_json::{Value, json};

use super::{Tested, corners, read, shown};
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, clause, body: fn(&Context<'_>) -> Verdict| {
        cases.case(Group::Target, format_args!("round-trip/{name}"), clause, Subject::TargetKind).run(body);
    };
    case("default", "T.3", |c| round_trip(c, &json!(c.registration())));
    case("every-option", "T.3", every_option);
    case("common-fields", "T.3", common_fields);
    case("features", "T.3", features);
    case("as-the-table-answers", "T.6", as_the_table_answers);
    case("host-within", "T.3", host_within);
    case("capabilities", "T.5", capabilities);
}

/// Creates a target, writes and reads it, and creates it from itself: the results must be equal.
fn round_trip(c: &Context<'_>, source: &Value) -> Verdict {
    drop(c.target()?);
    let host = c.host()?;
    let target = host.target(source.clone())?;
    let text = target.json();
    let again = |what: &str, found: &ResolvedTarget| {
        let found = found.json();
        ensure(found == text, format!("a target that {what} to be the same: {}", shown(text)), shown(found))
    };
    let (read, itself) = (host.target(text)?, host.target(target.target())?);
    again("is written and read", &read)?;
    again("is made from itself", &itself)
}

fn every_option(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let host = c.host()?;
    let mut n_taken = 0;
    for option in &tested.schema.options {
        for value in corners(option) {
            let source = json!({ "kind": c.registration(), option.name.as_str(): value });
            if host.target(source.clone()).is_ok() {
                round_trip(c, &source)
                    .map_err(|stop| stop.note(format!("option \"{}\" at {value}", option.name)))?;
                n_taken += 1;
            }
        }
        let default = option.default.as_ref();
        let source = |value: &Value| json!({ "kind": c.registration(), option.name.as_str(): value });
        let taken = default.map_or(Ok(()), |value| host.target(source(value)).map(drop));
        taken
            .map_err(|error| Stop::from(error).note(format!("the default of option \"{}\"", option.name)))?;
    }
    let has_bool = tested.schema.options.iter().any(|option| option.option_type == OptionType::Bool);
    ensure(n_taken > 0 || !has_bool, "some value of a boolean option to be taken", "none is")
}

fn common_fields(c: &Context<'_>) -> Verdict {
    let kind = c.registration();
    for source in [
        json!({ "kind": kind, "tag": "a tag" }),
        json!({ "kind": kind, "keys": ["one", "two"] }),
        json!({ "kind": kind, "keys": [] }),
        json!({ "kind": kind, "device": "board", "model": "m1" }),
        json!({ "kind": kind, "libs": ["a", "b"] }),
        json!({ "kind": kind, "host": null, "tag": null }),
    ] {
        round_trip(c, &source).map_err(|stop| stop.note(&source))?;
    }
    Ok(())
}

fn features(c: &Context<'_>) -> Verdict {
    drop(c.target()?);
    let source = json!({ "kind": c.registration(), "feature.of_the_suite": {"x": [1, 2]} });
    let target = c.host()?.target(source.clone())?;
    let found = target.target().options.get("feature.of_the_suite").cloned().unwrap_or_default();
    equal("a feature that only the caller knows", &found, &json!({"x": [1, 2]}))?;
    round_trip(c, &source)
}

/// Checks that a host uses the plugin's answer without changes.
fn as_the_table_answers(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let answer = read(&tested.canonical(&tested.applied(&[]))?)?;
    let target = c.host()?.target(c.registration())?;
    ensure(
        **target.target() == answer,
        format!("the target of a host as the table answers: {}", shown(&answer.to_json().to_string())),
        shown(target.json()),
    )
}

fn host_within(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let host = c.host()?;
    let source = json!({ "kind": c.registration(), "host": c.registration() });
    if tested.schema.is_host {
        let target = host.target(source.clone())?;
        let within = target.host().map(|host| host.kind().name.as_str());
        equal("the kind of the host within", &within, &Some(c.registration()))?;
        let alone = Target { host: None, ..(**target.target()).clone() };
        equal("the target beside its host", &alone, &**c.target()?.target())?;
        return round_trip(c, &source);
    }
    match host.target(source) {
        Ok(target) => Err(Stop::failed(
            "a kind without host functions to be refused as a host",
            target.kind().name.clone(),
        )),
        Err(error) => {
            let text = error.to_string();
            let says = text.contains(c.registration()) && text.contains("host");
            ensure(says, "an error that names the kind and says that it cannot be a host", text)
        }
    }
}

/// Checks that the capabilities queried by passes match the options.
fn capabilities(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let (resolved, schema) = (c.target()?, &tested.schema);
    let (target, found) = (resolved.target(), resolved.capabilities());
    equal("the stage", &found.stage, &schema.stage)?;
    equal("the device", &found.device.name, &schema.device)?;
    equal("whether it is a host", &found.is_host, &schema.is_host)?;
    equal("thread axes that are known", &found.execution.thread_axes.len(), &schema.thread_axes.len())?;
    let optional = schema.optional_ops.values().filter(|option| target.bool(option) == Some(true)).count();
    let n_ops = schema.native_ops.len() + optional;
    equal("ops that are known", &found.execution.native_ops.len(), &n_ops)?;
    let values = found.of_options();
    for (capability, option) in schema.capabilities.named() {
        let Some(value) = target.options.get(option) else { continue };
        let expected = match (value, capability.source) {
            // One number for each axis.
            (Value::Array(list), CapabilitySource::Option { option_type: OptionType::IntList, .. }) => {
                (0..3).map(|axis| list.get(axis).cloned().unwrap_or_default()).collect()
            }
            _ => value.clone(),
        };
        let what = format!("capability \"{}\", from option \"{option}\"", capability.name);
        equal(&what, &values[capability.name], &expected)?;
    }
    if schema.thread_axes.is_empty() {
        return Ok(());
    }
    let known = found.limits.threads_per_block_max.is_some_and(|threads| threads >= 1);
    ensure(known, "a kind with thread axes to say how many threads a block has", "it is not known")
}
