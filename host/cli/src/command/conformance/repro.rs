//! `--repro`: one random program once more, in this process, so that a debugger sees it.

use std::process::ExitCode;

use chipdock_conformance::{Replayed, Stop};
use serde_json::{Value, json};

use super::library;
use crate::args::{ConformanceArgs, GlobalArgs};
use crate::output;
use crate::report::{Failure, Result};

/// Runs the program on each target kind of the plugin, and says how it ended.
pub(super) fn replay(args: &ConformanceArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let Some(file) = &args.repro else { return Err(Failure::input("no program is given")) };
    let library = library(args)?;
    super::existing(file)?;
    let ended = chipdock_conformance::replay(library, &global.plugins, &global.allow_path, file);
    let ended = ended.map_err(Failure::input)?;
    if global.json {
        output::print_json(&Value::from(ended.iter().map(as_json).collect::<Vec<_>>()))?;
    } else {
        output::print(&ended.iter().map(as_text).collect::<String>())?;
    }
    Ok(ExitCode::from(u8::from(ended.iter().any(|one| one.verdict.is_err()))))
}

fn as_json(one: &Replayed) -> Value {
    json!({ "kind": one.kind, "stop": one.verdict.as_ref().err(), "not_run": one.not_run })
}

fn as_text(one: &Replayed) -> String {
    let kind = &one.kind;
    match (&one.verdict, &one.not_run) {
        (Ok(()), None) => format!("{kind}: passed\n"),
        (Ok(()), Some(why)) => format!("{kind}: built, not run: {why}\n"),
        (Err(Stop::Failed(failure)), _) => {
            let note = if failure.note.is_empty() {
                String::new()
            } else {
                format!("\n  note      {}", failure.note)
            };
            format!("{kind}: failed\n  expected  {}\n  found     {}{note}\n", failure.expected, failure.found)
        }
        (Err(Stop::Unsupported(why)), _) => format!("{kind}: unsupported: {why}\n"),
        (Err(Stop::Absent(why)), _) => format!("{kind}: not here: {why}\n"),
        (Err(Stop::Suite(why)), _) => format!("{kind}: the suite is at fault: {why}\n"),
    }
}
