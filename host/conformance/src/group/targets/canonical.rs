//! Answers of the canonicalizer to targets that it accepts.

use chipdock_ir::{OptionSchema, OptionType};
use chipdock_raw_host::{Kind, Plugin};
use serde_json::{Value, json};

use super::{COMMON, Tested, corners, is_allowed, read, shown};
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict, hosts};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, clause, body: fn(&Context<'_>) -> Verdict| {
        cases.case(Group::Target, name, clause, Subject::TargetKind).run(body);
    };
    case("default/taken", "T.6", default_taken);
    case("default/unchanged-when-canonical", "T.3", default_unchanged);
    case("default/declared-options-only", "T.6", default_declared);
    case("default/keys-and-tag-kept", "T.6", keys_and_tag);
    case("corners/bool", "T.3", |c| all_corners(c, &[OptionType::Bool]));
    case("corners/int", "T.3", |c| all_corners(c, &[OptionType::Int]));
    case("corners/str", "T.3", |c| all_corners(c, &[OptionType::Str]));
    case("corners/lists", "T.3", |c| all_corners(c, &[OptionType::StrList, OptionType::IntList]));
    case("corners/unset", "T.3", unset);
    case("corners/all-at-once", "T.3", all_at_once);
    case("same/100-calls", "T.7", hundred_calls);
    case("same/others-between", "T.7", others_between);
    case("same/8-threads", "P10.1", threads);
    case("same/second-host", "P10.4", second_host);
    case("same/other-folder", "T.7", other_folder);
}

fn default_taken(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let answer = tested.canonical(&tested.applied(&[]))?;
    let target = read(&answer)?;
    equal("the kind that is answered", &target.kind.as_str(), &c.registration())?;
    ensure(target.host.is_none(), "no host in the answer: it is the caller's to add", shown(&answer))?;
    let json: Value = serde_json::from_str(&answer).map_err(Stop::suite)?;
    equal("the answer, written as canonical targets are", &json, &target.to_json())
}

/// Checks rule T.3 for an accepted target: canonicalizing the result again does not change it.
fn unchanged(tested: &Tested, what: &str, answer: &str) -> Verdict {
    let again = tested.kind.canonicalize(answer).map_err(|error| {
        let found = format!("{}: {}", error.kind().as_str(), error.message());
        Stop::failed(format!("{what}: the canonical target to be taken again"), found)
    })?;
    let expected = || format!("{what}: the canonical target unchanged: {}", shown(answer));
    if again == answer { Ok(()) } else { Err(Stop::failed(expected(), shown(&again)).clause("T.3")) }
}

fn default_unchanged(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let answer = tested.canonical(&tested.applied(&[]))?;
    unchanged(&tested, "the default target", &answer)
}

/// Checks that the options of an answer are declared, of their types, and within their ranges.
fn declared(tested: &Tested, what: &str, answer: &str) -> Verdict {
    for (name, value) in &read(answer)?.options {
        if COMMON.contains(&name.as_str()) || name.starts_with("feature.") {
            continue;
        }
        let option = tested.schema.options.iter().find(|option| option.name == *name);
        let expected = format!("{what}: declared options, within their ranges");
        let fits = option.is_some_and(|option| is_allowed(option, value));
        let found = format!("\"{name}\": {}", shown(&value.to_string()));
        ensure(fits, expected, found).map_err(|stop| stop.clause("T.6"))?;
    }
    Ok(())
}

fn default_declared(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let answer = tested.canonical(&tested.applied(&[]))?;
    declared(&tested, "the default target", &answer)
}

fn keys_and_tag(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    for (tag, keys) in [("", vec![]), ("a tag", vec!["one"]), ("ä", vec!["b", "a", "c"])] {
        let mut json: Value = serde_json::from_str(&tested.applied(&[])).map_err(Stop::suite)?;
        (json["tag"], json["keys"]) = (json!(tag), json!(keys));
        let target = read(&tested.canonical(&json.to_string())?)?;
        equal("the tag", &target.tag.as_str(), &tag)?;
        equal("the keys", &target.keys.iter().map(String::as_str).collect::<Vec<_>>(), &keys)?;
    }
    Ok(())
}

/// Tests one option at one value: it is accepted, kept, and unchanged when canonicalized again; or
/// refused as T.4 says.
fn corner(tested: &Tested, option: &OptionSchema, value: &Value) -> Verdict {
    let what = format!("option \"{}\" at {}", option.name, shown(&value.to_string()));
    let answer = match tested.kind.canonicalize(&tested.applied(&[(&option.name, value.clone())])) {
        Ok(answer) => answer,
        Err(error) => {
            let text = format!("{}: {}", error.kind().as_str(), error.message());
            let names_it = error.kind().as_str() == "ValueError" && error.message().contains(&option.name);
            let expected = format!("{what}: taken, or a ValueError that names the option");
            return ensure(names_it, expected, text).map_err(|stop| stop.clause("T.4"));
        }
    };
    unchanged(tested, &what, &answer)?;
    declared(tested, &what, &answer)?;
    if matches!(option.option_type, OptionType::Bool | OptionType::Int) {
        let found = read(&answer)?.options.get(&option.name).cloned().unwrap_or_default();
        let kept = ensure(found == *value, format!("{what}: kept as it was given"), found);
        kept.map_err(|stop| stop.clause("T.6"))?;
    }
    Ok(())
}

fn all_corners(c: &Context<'_>, types: &[OptionType]) -> Verdict {
    let tested = Tested::usable(c)?;
    // The options common to all targets are tested like others; a kind without options of its own
    // has only these.
    let mut options = common_options();
    options.extend(tested.schema.options.iter().cloned());
    for option in options.iter().filter(|option| types.contains(&option.option_type)) {
        for value in corners(option) {
            corner(&tested, option, &value)?;
        }
    }
    tested.still_usable()
}

fn common_options() -> Vec<OptionSchema> {
    let option = |name: &str, option_type, min, max| OptionSchema {
        name: name.to_owned(),
        option_type,
        default: None,
        min,
        max,
        one_of: Vec::new(),
        from_attribute: String::new(),
        ignored: false,
        doc: String::new(),
    };
    vec![
        option("device", OptionType::Str, None, None),
        option("model", OptionType::Str, None, None),
        option("libs", OptionType::StrList, None, None),
        option("target_device_type", OptionType::Int, Some(1), Some(i32::MAX.into())),
    ]
}

/// Omits even the options with defaults: a canonicalizer must not depend on them.
fn unset(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let bare = json!({ "kind": c.registration(), "tag": "", "keys": [] }).to_string();
    let answer = tested.canonical(&bare).map_err(|stop| stop.note("a target without any option"))?;
    unchanged(&tested, "a target without any option", &answer)
}

/// Sets all options to their first and then to their last extreme values, if that is accepted.
fn all_at_once(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    for pick in [|values: &[Value]| values.first().cloned(), |values: &[Value]| values.last().cloned()] {
        let options = tested.schema.options.iter();
        let options = options.filter(|option| option.option_type != OptionType::Str);
        let values: Vec<(&str, Value)> =
            options.filter_map(|option| Some((option.name.as_str(), pick(&corners(option))?))).collect();
        let target = tested.applied(&values);
        match tested.kind.canonicalize(&target) {
            Ok(answer) => unchanged(&tested, "all options at corners", &answer)?,
            Err(error) => {
                let is_value = error.kind().as_str() == "ValueError";
                let found = format!("{}: {}", error.kind().as_str(), error.message());
                ensure(is_value, "all options at corners: taken or a ValueError", found)?;
            }
        }
    }
    tested.still_usable()
}

/// Checks that a text gets the same answer again.
fn same(kind: &Kind, target: &str, expected: &str) -> Verdict {
    let again = kind.canonicalize(target)?;
    ensure(again == expected, format!("the same answer: {}", shown(expected)), shown(&again))
}

fn hundred_calls(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let target = tested.applied(&[]);
    let first = tested.canonical(&target)?;
    (1..100).try_for_each(|_| same(&tested.kind, &target, &first))
}

fn others_between(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let target = tested.applied(&[]);
    let first = tested.canonical(&target)?;
    for option in &tested.schema.options {
        for value in corners(option) {
            drop(tested.kind.canonicalize(&tested.applied(&[(&option.name, value)])));
        }
        same(&tested.kind, &target, &first)?;
    }
    same(&tested.kind, &target, &first)
}

fn threads(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let target = tested.applied(&[]);
    let first = tested.canonical(&target)?;
    std::thread::scope(|scope| {
        let many = || (0..20).try_for_each(|_| same(&tested.kind, &target, &first));
        let handles: Vec<_> = (0..8).map(|_| scope.spawn(many)).collect();
        handles.into_iter().try_for_each(|handle| {
            handle.join().map_err(|_| Stop::suite("a thread of the suite panicked"))?
        })
    })
}

fn second_host(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let target = tested.applied(&[]);
    let first = tested.canonical(&target)?;
    let second = Plugin::init(c.plugin()?.raw(), hosts::host())
        .map_err(|error| Stop::failed("a second host to be served", error.message))?;
    let kind = Kind::find(&second, c.registration());
    let kind = kind.ok_or_else(|| Stop::failed("the same registrations in a second host", "no such kind"))?;
    let held = same(&kind, &target, &first);
    second.shutdown()?;
    held?;
    same(&tested.kind, &target, &first).map_err(|stop| stop.note("after the second host was shut down"))
}

fn other_folder(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let target = tested.applied(&[]);
    let first = tested.canonical(&target)?;
    let before = std::env::current_dir().map_err(Stop::suite)?;
    std::env::set_current_dir(c.scratch()).map_err(Stop::suite)?;
    let held = same(&tested.kind, &target, &first);
    std::env::set_current_dir(before).map_err(Stop::suite)?;
    held
}
