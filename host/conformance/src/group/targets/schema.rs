//! The schema of a target kind, which hosts and tools rely on.

use std::collections::BTreeSet;

use chipdock_host::documents::{meant, unknown_schema_fields};
use chipdock_ir::{
    CapabilitySource, DType, Op, OptionType, StorageRank, StorageScope, TargetKind, ThreadAxis,
};
use chipdock_plugin_api::attribute;
use chipdock_plugin_api::names::{is_own, is_own_field};

use super::{COMMON, Tested, is_allowed};
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, clause, body: fn(&Context<'_>) -> Verdict| {
        cases.case(Group::Target, format_args!("schema/{name}"), clause, Subject::TargetKind).run(body);
    };
    case("json", "T.1", |c| Tested::open(c).map(drop));
    case("name", "T.1", name);
    case("docs", "T.5", docs);
    case("option-names", "T.5", option_names);
    case("ranges", "T.5", ranges);
    case("defaults", "T.5", defaults);
    case("capabilities", "T.5", capabilities);
    case("thread-axes", "T.5", thread_axes);
    case("storage-scopes", "T.5", storage_scopes);
    case("native-ops", "T.5", native_ops);
    case("attributes", "T.5", attributes);
    case("tags", "T.10", tags);
    case("known-fields", "P5.13", known_fields);
}

fn name(c: &Context<'_>) -> Verdict {
    let Tested { schema, .. } = Tested::open(c)?;
    equal("the name in the schema", &schema.name.as_str(), &c.registration())?;
    equal("the schema's version", &schema.schema, &1)?;
    let is_plain = |text: &str| !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c == '{');
    ensure(is_plain(&schema.name), "a name without blanks and braces", &schema.name)?;
    ensure(is_plain(&schema.device), "the name of a device API in `device`", format!("{:?}", schema.device))
}

fn docs(c: &Context<'_>) -> Verdict {
    let Tested { schema, .. } = Tested::open(c)?;
    ensure(!schema.doc.trim().is_empty(), "a line in `doc` that says what the kind is", "none")?;
    for option in &schema.options {
        let expected = format!("a line in `doc` of option \"{}\"", option.name);
        ensure(!option.doc.trim().is_empty(), expected, "none")?;
    }
    Ok(())
}

fn option_names(c: &Context<'_>) -> Verdict {
    let Tested { schema, .. } = Tested::open(c)?;
    let mut names = BTreeSet::new();
    for option in &schema.options {
        let name = option.name.as_str();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_plain = !name.is_empty() && name.chars().all(is_plain);
        let expected = "an option's name of letters, digits, `-`, `_` and `.`";
        ensure(is_plain, expected, format!("\"{}\"", name.escape_debug()))?;
        ensure(names.insert(name), format!("option \"{name}\" to be declared once"), "it is there twice")?;
        let is_own = !COMMON.contains(&name) && name != "from_device" && !name.starts_with("feature.");
        ensure(is_own, "no option with a name that every target has", format!("\"{name}\""))?;
    }
    Ok(())
}

fn ranges(c: &Context<'_>) -> Verdict {
    let Tested { schema, .. } = Tested::open(c)?;
    for option in &schema.options {
        let name = &option.name;
        if let (Some(min), Some(max)) = (option.min, option.max) {
            ensure(min <= max, format!("option \"{name}\": min at most max"), format!("{min} and {max}"))?;
        }
        let is_number = matches!(
            option.option_type,
            OptionType::Int | OptionType::IntList | OptionType::IntMap | OptionType::Float
        );
        let is_ranged = option.min.is_some() || option.max.is_some();
        ensure(is_number || !is_ranged, format!("option \"{name}\": min and max of numbers only"), "both")?;
        let is_text =
            matches!(option.option_type, OptionType::Str | OptionType::StrList | OptionType::StrMap);
        let is_listed = !option.one_of.is_empty();
        ensure(is_text || !is_listed, format!("option \"{name}\": one_of of strings only"), "it has one")?;
        let words: BTreeSet<&String> = option.one_of.iter().collect();
        let once = words.len() == option.one_of.len();
        ensure(once, format!("option \"{name}\": each word of one_of once"), format!("{:?}", option.one_of))?;
    }
    Ok(())
}

fn defaults(c: &Context<'_>) -> Verdict {
    let Tested { schema, .. } = Tested::open(c)?;
    for option in &schema.options {
        let Some(default) = &option.default else { continue };
        let expected = format!("option \"{}\": a default of its type and within its range", option.name);
        ensure(is_allowed(option, default), expected, default)?;
    }
    Ok(())
}

/// Checks the names of tags, and the names of their options; a host checks the values as those of
/// any target.
fn tags(c: &Context<'_>) -> Verdict {
    let Tested { schema, .. } = Tested::open(c)?;
    for (tag, options) in &schema.tags {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,/".contains(c);
        let is_name = (1..=128).contains(&tag.len()) && tag.chars().all(is_plain) && tag.contains('/');
        let expected = "a tag's name of letters, digits, `-`, `_`, `.`, `,` and `/`, with a `/`";
        ensure(is_name, expected, format!("\"{}\"", tag.escape_debug()))?;
        for name in options.keys() {
            let is_common = COMMON.contains(&name.as_str()) && !["kind", "tag"].contains(&name.as_str());
            let is_own = schema.options.iter().any(|option| option.name == *name);
            let expected = format!("options of the kind in tag \"{tag}\"");
            let is_feature = name.starts_with("feature.");
            ensure(is_common || is_own || is_feature, expected, format!("\"{}\"", name.escape_debug()))?;
        }
    }
    Ok(())
}

fn capabilities(c: &Context<'_>) -> Verdict {
    let Tested { schema, .. } = Tested::open(c)?;
    for (capability, option) in schema.capabilities.named() {
        let CapabilitySource::Option { option_type, .. } = capability.source else { continue };
        let declared = schema.options.iter().find(|one| one.name == option);
        let is_declared = declared.is_some_and(|one| one.option_type == option_type);
        let expected = format!("capability \"{}\" to name an option of type {option_type}", capability.name);
        ensure(is_declared, expected, format!("\"{option}\""))?;
    }
    types(&schema)
}

/// Checks that missing and optional types are known, none is both, and each optional one is read
/// from an option.
fn types(schema: &TargetKind) -> Verdict {
    let is_type = |name: &str| name.parse().is_ok_and(|dtype| DType::SCALARS.contains(&dtype));
    let all: Vec<String> = schema.missing_types.iter().chain(schema.optional_types.keys()).cloned().collect();
    names("types of scalars", &all, is_type)?;
    for (name, option) in &schema.optional_types {
        let declared = schema.options.iter().find(|one| one.name == *option);
        let is_declared = declared.is_some_and(|one| one.option_type == OptionType::Bool);
        ensure(
            is_declared,
            format!("type \"{name}\" to name an option of type bool"),
            format!("\"{option}\""),
        )?;
    }
    Ok(())
}

/// Checks that each name occurs once and satisfies `test`.
fn names(what: &str, names: &[String], test: impl Fn(&str) -> bool) -> Verdict {
    let mut seen = BTreeSet::new();
    for name in names {
        ensure(test(name), format!("known {what}"), format!("\"{name}\""))?;
        ensure(seen.insert(name), format!("each of the {what} once"), format!("\"{name}\" twice"))?;
    }
    Ok(())
}

fn thread_axes(c: &Context<'_>) -> Verdict {
    let Tested { schema, .. } = Tested::open(c)?;
    names("thread axes", &schema.thread_axes, |axis| axis.parse::<ThreadAxis>().is_ok())
}

/// Checks the form of scopes, which may be specific to the device, and that global memory is
/// listed.
fn storage_scopes(c: &Context<'_>) -> Verdict {
    let Tested { schema, .. } = Tested::open(c)?;
    let is_plain = |scope: &str| !scope.is_empty() && !scope.contains(char::is_whitespace);
    names("storage scopes", &schema.storage_scopes, is_plain)?;
    let plugin = &c.plugin()?.descriptor().name;
    let is_good =
        |scope: &str| StorageScope::parse(scope).rank != StorageRank::Other || is_own(scope, plugin);
    let stranger = schema.storage_scopes.iter().find(|scope| !is_good(scope));
    let expected = format!("scopes of the IR, or of the plugin's own (\"{plugin}.…\")");
    let found = stranger.cloned().unwrap_or_default();
    ensure(stranger.is_none(), expected, found).map_err(|stop| stop.clause("P5.17"))?;
    let has_global = schema.storage_scopes.iter().any(|scope| scope == "global");
    ensure(has_global, "scope \"global\", where arguments are", format!("{:?}", schema.storage_scopes))
}

/// Checks for unknown fields: a host ignores them (P3.9), but here one is a misspelling.
fn known_fields(c: &Context<'_>) -> Verdict {
    let Tested { kind, .. } = Tested::open(c)?;
    let plugin = &c.plugin()?.descriptor().name;
    let mut unknown = unknown_schema_fields(&kind.schema_json)?;
    unknown.retain(|path| !is_own_field(path, plugin));
    ensure(unknown.is_empty(), "a schema of fields that are known", format!("{unknown:?}"))
        .map_err(|stop| stop.note("a host would ignore them"))
        .map_err(|stop| match unknown.iter().find_map(|field| meant(field)) {
            Some(meant) => stop.note(meant),
            None => stop,
        })
}

fn native_ops(c: &Context<'_>) -> Verdict {
    let Tested { schema, .. } = Tested::open(c)?;
    let all: Vec<String> = schema.native_ops.iter().chain(schema.optional_ops.keys()).cloned().collect();
    names("ops", &all, |op| Op::by_name(op).is_some())?;
    for (name, option) in &schema.optional_ops {
        let declared = schema.options.iter().find(|one| one.name == *option);
        let is_declared = declared.is_some_and(|one| one.option_type == OptionType::Bool);
        let expected = format!("op \"{name}\" to name an option of type bool");
        ensure(is_declared, expected, format!("\"{option}\""))?;
    }
    Ok(())
}

/// Checks that an attribute key that is none of Chipdock's is a plugin's own, and known to this
/// plugin's device. A plugin of a later minor may use keys that this suite does not know.
fn attributes(c: &Context<'_>) -> Verdict {
    let Tested { schema, .. } = Tested::open(c)?;
    for option in schema.options.iter().filter(|option| !option.from_attribute.is_empty()) {
        let key = option.from_attribute.as_str();
        if attribute::ALL.contains(&key) {
            continue;
        }
        let is_newer = c.plugin()?.raw().abi_minor > chipdock_abi::CHIPDOCK_ABI_MINOR;
        let expected = format!("option \"{}\": a key of Chipdock's, or one of a plugin's own", option.name);
        ensure(is_newer || key.contains('.'), expected, format!("\"{key}\""))
            .map_err(|stop| stop.clause("P5.17"))?;
        let own = c.plugin()?.devices().into_iter().find(|device| device.name == schema.device);
        let known = own.is_some_and(|device| device.attribute(0, key).is_ok_and(|value| !value.is_none()));
        let is_absent = c.facts().absent_device(&schema.device).is_some();
        let expected = format!("option \"{}\": an attribute that its device knows", option.name);
        ensure(known || is_absent, expected, format!("\"{key}\""))?;
    }
    Ok(())
}
