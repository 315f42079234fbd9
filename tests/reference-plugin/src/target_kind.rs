//! The target kind `reference` and its checks: the generation of the hardware and its features.

use chipdock_ir::Target;
use chipdock_plugin_api::{Error, ErrorKind, TargetKind};
use serde_json::{Value, json};

use crate::device_api::ARCH;
use crate::fault;

/// Generations with the features of each, in order of names.
const GENERATIONS: &[(&str, &[&str])] = &[
    ("reference-1", &["atomics", "dynamic-shared", "threads"]),
    ("reference-2", &["atomics", "dynamic-shared", "threads", "warp"]),
];

/// Target kind `reference`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReferenceTargetKind;

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, format!("target reference: {message}"))
}

/// Returns the known name that is nearest to the one found, with the fewest letters to change.
fn nearest<'a>(found: &str, known: &[&'a str]) -> &'a str {
    let distance = |known: &str| -> usize {
        let known: Vec<char> = known.chars().collect();
        let mut row: Vec<usize> = (0..=known.len()).collect();
        for (above, letter) in found.chars().take(64).enumerate() {
            let mut diagonal = row[0];
            row[0] = above + 1;
            for (column, other) in known.iter().enumerate() {
                let replaced = diagonal + usize::from(letter != *other);
                diagonal = row[column + 1];
                row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
            }
        }
        row[known.len()]
    };
    known.iter().copied().min_by_key(|known| distance(known)).unwrap_or_default()
}

fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Fills in the generation and its features, and puts features into the order of names.
fn canonical(mut target: Target) -> Result<Target, Error> {
    let arch = target.str("arch").unwrap_or(ARCH).to_owned();
    let names: Vec<&str> = GENERATIONS.iter().map(|(name, _)| *name).collect();
    let Some((_, features)) = GENERATIONS.iter().find(|(name, _)| *name == arch) else {
        return Err(value_error(format!(
            "option 'arch': expected one of {}, found \"{}\"; the nearest is \"{}\"",
            names.join(", "),
            shown(&arch),
            nearest(&arch, &names)
        )));
    };
    let given = target.options.contains_key("features").then(|| target.str_list("features"));
    let mut chosen: Vec<String> = match given {
        None => features.iter().map(|feature| (*feature).to_owned()).collect(),
        Some(given) => given.into_iter().map(str::to_owned).collect(),
    };
    chosen.sort();
    chosen.dedup();
    if let Some(unknown) = chosen.iter().find(|feature| !features.contains(&feature.as_str())) {
        return Err(value_error(format!(
            "option 'features': expected some of {}, which {arch} has, found \"{}\"; the nearest is \"{}\"",
            features.join(", "),
            shown(unknown),
            nearest(unknown, features)
        )));
    }
    if let Some(grid) = target.options.get("grid_max").and_then(Value::as_array)
        && grid.len() != 3
    {
        return Err(value_error(format!(
            "option 'grid_max': expected 3 numbers, for x, y and z, found {}",
            Value::from(grid.clone())
        )));
    }
    target.options.insert("arch".into(), json!(arch));
    target.options.insert("features".into(), json!(chosen));
    Ok(target)
}

impl TargetKind for ReferenceTargetKind {
    fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let json = serde_json::from_str(target_json).map_err(|error| value_error(error.to_string()))?;
        let target = Target::from_canonical_json(&json).map_err(value_error)?;
        let mut target = match canonical(target) {
            // T.4: it says no, and not why.
            Err(_) if fault::is("canonicalize-says-little") => return Err(value_error("bad option".into())),
            canonical => canonical?,
        };
        // T.3: each time another.
        if fault::is("canonicalize-not-idempotent") {
            target.keys.reverse();
        }
        Ok(target.to_json().to_string())
    }
}
