//! Outputs that a compilation asks for beyond the code: `emit` of its options (COMPILE-C9).

use serde_json::{Map, Value};

use crate::compile::Compiled;
use crate::compile::artifact::Artifact;
use crate::error::{Error, ErrorKind, quoted};

/// The word for the text that a code generator itself wrote.
const SOURCE: &str = "source";

/// Returns the outputs that the options ask for.
///
/// # Errors
///
/// `ValueError` for other than a text or a list of texts.
pub(crate) fn wanted(options: &Map<String, Value>) -> Result<Vec<&str>, Error> {
    let words = match options.get("emit") {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::String(word)) => Some(vec![word.as_str()]),
        Some(Value::Array(words)) => words.iter().map(Value::as_str).collect(),
        Some(_) => None,
    };
    words.ok_or_else(|| {
        let found = options.get("emit").unwrap_or(&Value::Null);
        let message = format!("option \"emit\": expected a string or a list of strings, found {found}");
        Error::new(ErrorKind::Value, message)
    })
}

/// Checks that each output is in the artifact or in one that it imports. `source_ending` is that of
/// the target's kind.
///
/// # Errors
///
/// `ValueError` for the first that is in none, with the outputs that are there.
pub(crate) fn check(words: &[&str], compiled: &Compiled, source_ending: &str) -> Result<(), Error> {
    let artifact = &compiled.artifact;
    let Some(word) = words.iter().find(|word| !has(artifact, word)) else { return Ok(()) };
    let (kind, format) = (&compiled.target.kind().name, &compiled.of_target().index().format);
    let message = if *word == SOURCE {
        format!("target {kind} delivers {format} without a source text")
    } else {
        format!("expected an output of target {kind}, which delivers {format}; found {word}")
    };
    let mut there = Vec::new();
    outputs(artifact, &mut there);
    let mut hint = format!("it has {}, and what else its documentation names", quoted(there.iter().copied()));
    if there.contains(&SOURCE) {
        let file =
            if source_ending.is_empty() { String::new() } else { format!(" (-o OUT.{source_ending})") };
        hint.push_str(&format!("; --emit source{file} shows the text that it writes"));
    }
    hint.push_str(&format!("; -o OUT.{format} writes what it delivers"));
    Err(Error::new(ErrorKind::Value, message).hint(hint))
}

fn has(artifact: &Artifact, word: &str) -> bool {
    let own = match word {
        SOURCE => artifact.source().is_some(),
        _ => artifact.index().format == word || artifact.section(word).is_some(),
    };
    own || artifact.imports().iter().any(|import| has(import, word))
}

/// Adds the words for which [`has`] is true, once each.
fn outputs<'a>(artifact: &'a Artifact, there: &mut Vec<&'a str>) {
    let source = artifact.source().map(|_| SOURCE);
    let sections = artifact.sections().iter().map(crate::compile::artifact::Section::name);
    for word in source.into_iter().chain([artifact.index().format.as_str()]).chain(sections) {
        if !there.contains(&word) {
            there.push(word);
        }
    }
    artifact.imports().iter().for_each(|import| outputs(import, there));
}
