//! Target kinds: schema, options, canonicalizer.

mod canonical;
mod malformed;
mod refused;
mod round_trip;
mod schema;

use chipdock_ir::{OptionSchema, OptionType, Target, TargetKind, float_of, float_text};
use chipdock_raw_host::Kind;
use serde_json::{Value, json};

use crate::{Cases, Context, Stop, Verdict};

pub(super) fn add(cases: &mut Cases) {
    schema::add(cases);
    canonical::add(cases);
    round_trip::add(cases);
    refused::add(cases);
    malformed::add(cases);
}

/// Fields that every target has besides the options of its kind.
const COMMON: &[&str] = &["kind", "tag", "keys", "host", "device", "model", "libs", "target_device_type"];

/// A target kind under test with its parsed schema.
struct Tested {
    kind: Kind,
    schema: TargetKind,
}

impl Tested {
    /// Opens the kind through its table and parses its schema.
    fn open(c: &Context<'_>) -> Verdict<Self> {
        let kind = Kind::find(c.plugin()?, c.registration());
        let kind = kind.ok_or_else(|| Stop::suite("the target kind is gone"))?;
        let schema = serde_json::from_str(&kind.schema_json);
        let schema = schema.map_err(|error| {
            Stop::failed("a schema that is JSON of a target kind", format!("{error}")).clause("T.1")
        })?;
        Ok(Self { kind, schema })
    }

    /// Opens the kind if it can be used here; its canonicalizer may need a library.
    fn usable(c: &Context<'_>) -> Verdict<Self> {
        match c.facts().unusable_kind(c.registration()) {
            Some(why) => Err(Stop::Absent(why.to_owned())),
            None => Self::open(c),
        }
    }

    /// Returns a target with these options, else defaults, in the form that a host passes on after
    /// applying the schema.
    fn applied(&self, options: &[(&str, Value)]) -> String {
        let mut target = Target { kind: self.kind.name.clone(), ..Target::default() };
        target.keys.clone_from(&self.schema.keys);
        for option in &self.schema.options {
            if let Some(default) = &option.default {
                target.options.insert(option.name.clone(), default.clone());
            }
        }
        target.options.extend(options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        target.to_json().to_string()
    }

    /// Returns the canonical form of a target that must be accepted.
    fn canonical(&self, target_json: &str) -> Verdict<String> {
        Ok(self.kind.canonicalize(target_json)?)
    }

    /// Checks that the kind still accepts its default target.
    fn still_usable(&self) -> Verdict {
        let default = self.canonical(&self.applied(&[])).map(drop);
        default.map_err(|stop| stop.note("the default target, after what this case did"))
    }
}

/// Parses a target returned by the plugin.
fn read(answer: &str) -> Verdict<Target> {
    let json = serde_json::from_str::<Value>(answer).map_err(|error| error.to_string());
    json.and_then(|json| Target::from_canonical_json(&json)).map_err(|error| {
        Stop::failed("canonical JSON of a target", format!("{error}: {}", shown(answer))).clause("T.6")
    })
}

/// Shortens a text for a message.
fn shown(text: &str) -> String {
    text.chars().take(300).collect()
}

/// Returns the extreme values of an option.
fn corners(option: &OptionSchema) -> Vec<Value> {
    let mut values: Vec<Value> = option.default.iter().cloned().collect();
    let words: Vec<&str> = option.one_of.iter().map(String::as_str).take(24).collect();
    match option.option_type {
        OptionType::Bool => values.extend([json!(false), json!(true)]),
        OptionType::Int => {
            let (least, greatest) = (option.min.unwrap_or(i64::MIN), option.max.unwrap_or(i64::MAX));
            let inner = [0, 1, least.saturating_add(1), greatest.saturating_sub(1)];
            let inner = inner.into_iter().filter(|value| (least..=greatest).contains(value));
            values.extend([least, greatest].into_iter().chain(inner).map(Value::from));
        }
        OptionType::Str if words.is_empty() => {
            values.extend([json!("a"), json!(""), json!("ä\n\"\\"), json!("x".repeat(1000))]);
        }
        OptionType::Str => values.extend(words.iter().map(|word| json!(word))),
        OptionType::StrList if words.is_empty() => {
            values.extend([json!([]), json!(["a"]), json!(["", "b", "b"]), json!(vec!["c"; 1000])]);
        }
        OptionType::StrList => {
            values.extend([json!([]), json!(words), json!([words.clone(), words.clone()].concat())]);
            values.extend(words.iter().map(|word| json!([word])));
        }
        OptionType::IntList => {
            let (least, greatest) = (option.min.unwrap_or(i64::MIN), option.max.unwrap_or(i64::MAX));
            values.extend([json!([]), json!([least]), json!([greatest]), json!(vec![least; 1000])]);
            values.push(json!([least, greatest, least]));
        }
        OptionType::TargetList => values.push(json!([])),
        OptionType::Float => {
            let (least, greatest) = (float(option.min, f64::MIN), float(option.max, f64::MAX));
            let inner = [0.0, -0.0, 0.1, f64::MIN_POSITIVE, 1.0 / 3.0];
            let inner = inner.into_iter().filter(|value| (least..=greatest).contains(value));
            values.extend([least, greatest].into_iter().chain(inner).filter_map(float_text).map(Value::from));
        }
        OptionType::StrMap => {
            let word = words.first().copied().unwrap_or("ä\n\"\\");
            values.extend([json!({}), json!({"": word, "a b": word, "ä": word})]);
        }
        OptionType::IntMap => {
            let (least, greatest) = (option.min.unwrap_or(i64::MIN), option.max.unwrap_or(i64::MAX));
            values.extend([json!({}), json!({"": least, "a b": greatest})]);
        }
    }
    values.dedup();
    values
}

/// Returns a bound as a float.
fn float(bound: Option<i64>, otherwise: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "bounds of floats are small numbers")]
    bound.map_or(otherwise, |bound| bound as f64)
}

/// Returns true if a value has an option's type and is within its limits.
fn is_allowed(option: &OptionSchema, value: &Value) -> bool {
    let within = |value: &Value| {
        let number = value.as_i64();
        number.is_some_and(|number| {
            option.min.is_none_or(|min| number >= min) && option.max.is_none_or(|max| number <= max)
        })
    };
    let known = |value: &Value| {
        let text = value.as_str();
        text.is_some_and(|text| option.one_of.is_empty() || option.one_of.iter().any(|one| one == text))
    };
    let all = |test: &dyn Fn(&Value) -> bool| value.as_array().is_some_and(|items| items.iter().all(test));
    let each = |test: &dyn Fn(&Value) -> bool| value.as_object().is_some_and(|map| map.values().all(test));
    let (least, greatest) = (float(option.min, f64::MIN), float(option.max, f64::MAX));
    match option.option_type {
        OptionType::Bool => value.is_boolean(),
        OptionType::Int => within(value),
        OptionType::Str => known(value),
        OptionType::StrList => all(&known),
        OptionType::IntList => all(&within),
        OptionType::TargetList => all(&Value::is_object),
        OptionType::Float => {
            value.as_str().and_then(float_of).is_some_and(|value| (least..=greatest).contains(&value))
        }
        OptionType::StrMap => each(&known),
        OptionType::IntMap => each(&within),
    }
}
