//! Refused targets, each with a helpful error.

use chipdock_ir::{OptionSchema, OptionType};
use serde_json::{Value, json};

use super::{Tested, shown};
use crate::stop::ensure;
use crate::{Cases, Context, Group, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, body: fn(&Context<'_>) -> Verdict| {
        cases.case(Group::Target, format_args!("refused/{name}"), "T.4", Subject::TargetKind).run(body);
    };
    case("wrong-type", wrong_type);
    case("below-the-least", |c| beyond(c, |option| option.min?.checked_sub(1)));
    case("above-the-greatest", |c| beyond(c, |option| option.max?.checked_add(1)));
    case("beyond-64-bits", beyond_64_bits);
    case("not-in-the-list", not_in_the_list);
    case("words-that-nobody-knows", unknown_words);
    case("unknown-option", unknown_option);
    case("misspelt-option", misspelt_option);
    case("misspelt-kind", misspelt_kind);
    case("host-that-is-none", host_that_is_none);
    case("device-that-is-not-there", no_such_device);
}

/// Checks that a host refuses a target with `ValueError` and a message that contains all of `says`.
fn refused(c: &Context<'_>, source: Value, says: &[&str]) -> Verdict {
    let what = shown(&source.to_string());
    let expected = || format!("{what}: ValueError that says {}", says.join(", "));
    match c.host()?.target(source) {
        Ok(target) => ensure(false, expected(), format!("a target: {}", shown(target.json()))),
        Err(error) => {
            let text = error.to_string();
            let fits = error.kind().as_str() == "ValueError" && says.iter().all(|word| text.contains(word));
            ensure(fits, expected(), format!("{}: {text}", error.kind().as_str()))
        }
    }
}

fn with(c: &Context<'_>, option: &str, value: Value) -> Value {
    json!({ "kind": c.registration(), option: value })
}

/// Returns values of other types than an option's; booleans and small integers are interchangeable.
fn mistyped(option_type: OptionType) -> Vec<Value> {
    let all = [json!(0.5), json!({}), json!("7"), json!(["x"]), json!([0]), json!(7), json!([[]])];
    let is_right = |value: &Value| match option_type {
        OptionType::Bool => false,
        OptionType::Int => *value == json!(7),
        OptionType::Str => value.is_string(),
        OptionType::StrList => *value == json!(["x"]),
        OptionType::IntList => *value == json!([0]),
        OptionType::TargetList => *value == json!(["x"]) || *value == json!([]),
        OptionType::Float => value.is_number(),
        OptionType::StrMap | OptionType::IntMap => value.is_object(),
    };
    all.into_iter().filter(|value| !is_right(value)).collect()
}

fn wrong_type(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    for option in &tested.schema.options {
        for value in mistyped(option.option_type) {
            refused(c, with(c, &option.name, value), &[&format!("\"{}\"", option.name), "found"])?;
        }
    }
    for (option, value) in [("tag", json!(1)), ("keys", json!("x")), ("model", json!([])), ("libs", json!(0))]
    {
        refused(c, with(c, option, value), &[&format!("\"{option}\""), "found"])?;
    }
    tested.still_usable()
}

fn beyond(c: &Context<'_>, value: fn(&OptionSchema) -> Option<i64>) -> Verdict {
    let tested = Tested::usable(c)?;
    for option in &tested.schema.options {
        let Some(value) = value(option) else { continue };
        let json = match option.option_type {
            OptionType::IntList => json!([value]),
            OptionType::IntMap => json!({ "x": value }),
            _ => json!(value),
        };
        refused(c, with(c, &option.name, json), &[&format!("\"{}\"", option.name), &value.to_string()])?;
    }
    for value in [0, i64::from(i32::MAX) + 1] {
        let source = with(c, "target_device_type", json!(value));
        refused(c, source, &["\"target_device_type\"", &value.to_string()])?;
    }
    tested.still_usable()
}

fn beyond_64_bits(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let ints = tested.schema.options.iter().filter(|option| option.option_type == OptionType::Int);
    for name in ints.map(|option| option.name.as_str()).chain(["target_device_type"]) {
        let name_quoted = format!("\"{name}\"");
        refused(c, with(c, name, json!(u64::MAX)), &[&name_quoted, "18446744073709551615"])?;
        refused(c, with(c, name, json!(1e300)), &[&name_quoted])?;
    }
    tested.still_usable()
}

/// Changes one letter of a listed word: the error must suggest the nearest listed one.
fn not_in_the_list(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    for option in tested.schema.options.iter().filter(|option| !option.one_of.is_empty()) {
        for word in option.one_of.iter().take(8) {
            let misspelt = format!("{word}x");
            if option.one_of.contains(&misspelt) {
                continue;
            }
            let value = match option.option_type {
                OptionType::StrList => json!([misspelt]),
                OptionType::StrMap => json!({ "x": misspelt }),
                _ => json!(misspelt),
            };
            refused(c, with(c, &option.name, value), &[&format!("\"{}\"", option.name), &misspelt, word])?;
        }
    }
    for value in [json!([1]), json!([null])] {
        refused(c, with(c, "libs", value), &["\"libs\""])?;
    }
    tested.still_usable()
}

/// Passes unknown words to options without a list: the canonicalizer accepts them, or names the
/// option and the word.
fn unknown_words(c: &Context<'_>) -> Verdict {
    const WORD: &str = "nosuchword7";
    let tested = Tested::usable(c)?;
    for option in tested.schema.options.iter().filter(|option| option.one_of.is_empty()) {
        let value = match option.option_type {
            OptionType::Str => json!(WORD),
            OptionType::StrList => json!([WORD]),
            OptionType::StrMap => json!({ "x": WORD }),
            _ => continue,
        };
        if c.host()?.target(with(c, &option.name, value.clone())).is_err() {
            refused(c, with(c, &option.name, value), &[&option.name, WORD])?;
        }
    }
    tested.still_usable()
}

fn unknown_option(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    refused(c, with(c, "zzzz_of_the_suite", json!(1)), &["unknown option", "\"zzzz_of_the_suite\""])?;
    refused(c, with(c, "", json!(1)), &["unknown option"])?;
    tested.still_usable()
}

fn misspelt_option(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let names = tested.schema.options.iter().map(|option| option.name.as_str());
    for name in names.chain(["model", "libs", "target_device_type"]) {
        // One letter too many; the suggestion is the intended name, unless another name is as near.
        let misspelt = format!("{name}q");
        refused(c, with(c, &misspelt, json!(1)), &["unknown option", &misspelt, name])?;
    }
    tested.still_usable()
}

fn misspelt_kind(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let misspelt = format!("{}q", c.registration());
    refused(c, json!({ "kind": misspelt }), &[&misspelt, c.registration()])?;
    tested.still_usable()
}

fn host_that_is_none(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    refused(c, with(c, "host", json!({"kind": "no_such_kind"})), &["no_such_kind", "host"])?;
    refused(c, with(c, "host", json!(3)), &["host"])?;
    let deep =
        (0..20).fold(json!(c.registration()), |host, _| json!({"kind": c.registration(), "host": host}));
    refused(c, deep, &[]).map_err(|stop| stop.note("hosts nested 20 deep"))?;
    tested.still_usable()
}

/// Checks that the error for an absent device in `from_device` names it; -1 queries no device.
fn no_such_device(c: &Context<'_>) -> Verdict {
    let tested = Tested::usable(c)?;
    let made = c.host()?.target(with(c, "from_device", json!(-1)));
    made.map_err(crate::Stop::from).map_err(|stop| stop.note("\"from_device\" -1 asks no device"))?;
    let answer = c.host()?.target(with(c, "from_device", json!(1_000_000)));
    if let Err(error) = answer {
        let text = error.to_string();
        // If there is no driver, the error says so instead.
        let names = match c.facts().absent_device(&tested.schema.device) {
            Some(why) => text.contains("1000000") || text.contains(why),
            None => text.contains("1000000"),
        };
        ensure(names, "an error that names the device, or says why there is none", text)?;
    }
    tested.still_usable()
}
