//! `--repro`: runs one random program again, in this process, so that a debugger can follow it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chipdock_conformance::{Replayed, Stop};
use serde_json::{Value, json};

use super::library;
use crate::args::{ConformanceArgs, GlobalArgs};
use crate::output;
use crate::report::{Failure, Result, first_and_later, labelled};

/// Runs the program on each target kind of the plugin, and reports the result.
pub(super) fn replay(args: &ConformanceArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let Some(file) = &args.repro else { return Err(Failure::input("no program is given")) };
    let library = library(args)?;
    super::existing(file)?;
    let opened: Vec<&Path> =
        std::iter::once(library).chain(global.plugins.iter().map(PathBuf::as_path)).collect();
    super::check_settings(&opened, global)?;
    chipdock_conformance::settings::give(crate::command::settings(global)?);
    let ended = chipdock_conformance::replay(library, &global.plugins, &global.allow_path, file);
    let ended = ended.map_err(Failure::input)?;
    if global.json {
        let runs: Vec<Value> = ended.iter().map(as_json).collect();
        output::print_json(&json!({"schema": "chipdock.conformance-repro/1", "runs": runs}))?;
    } else {
        output::print(&ended.iter().map(as_text).collect::<String>())?;
    }
    Ok(ExitCode::from(u8::from(ended.iter().any(|one| one.verdict.is_err()))))
}

fn as_json(one: &Replayed) -> Value {
    json!({ "kind": one.kind, "stop": one.verdict.as_ref().err(), "not_run": one.not_run })
}

/// Formats a text after a label; its further lines stand below.
fn inner(text: &str) -> String {
    let (first, later) = first_and_later(text);
    format!("{first}\n{later}").trim_end().to_owned()
}

fn as_text(one: &Replayed) -> String {
    let kind = &one.kind;
    let line = |what: &str, why: &str| labelled(&format!("{kind}: {what}"), why);
    match (&one.verdict, &one.not_run) {
        (Ok(()), None) => format!("{kind}: passed\n"),
        (Ok(()), Some(why)) => line("built, not run", why),
        (Err(Stop::Failed(failure)), _) => {
            let note = if failure.note.is_empty() {
                String::new()
            } else {
                format!("\n  note      {}", inner(&failure.note))
            };
            let (expected, found) = (inner(&failure.expected), inner(&failure.found));
            format!("{kind}: failed\n  expected  {expected}\n  found     {found}{note}\n")
        }
        (Err(Stop::Unsupported(why)), _) => line("unsupported", why),
        (Err(Stop::Absent(why) | Stop::NoAxis(why)), _) => line("not here", why),
        (Err(Stop::Suite(why)), _) => line("the suite is at fault", why),
    }
}
