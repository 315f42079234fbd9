//! Requests with unknown extensions and sections, diagnostics of refused requests, and
//! fingerprints.

use std::ops::RangeInclusive;

use chipdock_abi::{
    CHIPDOCK_DIAGNOSTIC_ERROR, CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD, CHIPDOCK_EXTENSIONS_MAX,
};
use chipdock_ir::{Child, IrModule, Span};
use chipdock_plugin_api::Error;
use chipdock_raw_host::{Delivered, Request, Section, Step};

use super::build::{Building, same};
use super::samples::{ALL, ELEMENTWISE, UNKNOWN_FUNCTION};
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

/// Returns extensions with unknown names and with flags beyond the first bit.
pub(in crate::group) fn unknown_extensions() -> Vec<(String, u32)> {
    let unknown_bits = !CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD;
    vec![
        ("suite.unknown".to_owned(), 0),
        ("suite.unknown-2".to_owned(), unknown_bits),
        ("timeline".to_owned(), 0),
    ]
}

/// Returns extensions of which the last must be understood.
pub(in crate::group) fn extensions_with_a_must() -> Vec<(String, u32)> {
    let must = ("suite.must".to_owned(), CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD);
    unknown_extensions().into_iter().chain([must]).collect()
}

/// Returns `count` extensions that may be ignored.
pub(in crate::group) fn many_extensions(count: u32) -> Vec<(String, u32)> {
    vec![("suite.one-of-many".to_owned(), 0); count as usize]
}

/// Checks that a call was refused with this error kind, and this text in the message.
pub(in crate::group) fn refused_as(
    what: &str,
    kind: &str,
    tells: &str,
    answer: Result<(), Error>,
) -> Verdict {
    let expected = format!("{what}: {kind} with \"{tells}\" in its message");
    match answer {
        Ok(()) => Err(Stop::failed(expected, "success")),
        Err(error) => {
            let fits = error.kind().as_str() == kind && error.message().contains(tells);
            ensure(fits, expected, format!("{}: {}", error.kind(), error.message()))
        }
    }
}

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, clause, body: fn(&Context<'_>) -> Verdict| {
        cases.case(Group::Module, name, clause, Subject::Codegen).run(body);
    };
    case("request/no-options", "C.33", |c| changes_nothing(c, |request| request.options_json.clear()));
    case("request/unknown-sections", "C.34", |c| changes_nothing(c, |request| request.sections = sections()));
    case("request/unknown-flags", "P3.17", |c| changes_nothing(c, |request| request.flags = u32::MAX));
    case("request/unknown-extensions", "P3.16", |c| {
        changes_nothing(c, |request| request.extensions = unknown_extensions())
    });
    case("request/as-many-extensions-as-may-be", "P3.15", |c| {
        changes_nothing(c, |request| request.extensions = many_extensions(CHIPDOCK_EXTENSIONS_MAX))
    });
    case("request/extension-that-must-be-understood", "P3.16", |c| {
        is_refused(c, extensions_with_a_must(), "Unsupported", "suite.must")
    });
    case("request/too-many-extensions", "P3.15", |c| {
        is_refused(c, many_extensions(CHIPDOCK_EXTENSIONS_MAX + 1), "ValueError", "")
    });
    case("build/reports-what-it-refuses", "C.5", reports_refused_constructs);
    case("build/places-of-diagnostics", "C.31", places);
    case("fingerprint/text-or-none", "C.35", text_or_none);
    case("fingerprint/same-again", "C.36", same_again);
    case("fingerprint/same-bytes", "C.1", same_bytes);
}

/// Returns sections that no node refers to: of known and unknown kinds, aligned, and empty.
fn sections() -> Vec<Section> {
    let section = |name: &str, kind: &str, alignment_bytes, data: &[u8]| Section {
        name: name.to_owned(),
        kind: kind.to_owned(),
        alignment_bytes,
        data: data.to_vec(),
    };
    vec![
        section("suite.constants", "constants", 4, &[7; 64]),
        section("suite.empty", "constants", 1, &[]),
        section("suite.other", "suite-kind", 1, b"not what it says"),
    ]
}

/// Checks that both functions and the fingerprint give the same answer with and without a change.
fn changes_nothing(c: &Context<'_>, change: fn(&mut Request)) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let (good, fingerprint) = (building.built()?, building.codegen.fingerprint(&building.request)?);
    let mut request = building.request.clone();
    change(&mut request);
    let (asked, listed) = building.codegen.run(Step::Unsupported, &request);
    asked?;
    equal("what `unsupported` reports", &listed.diagnostics, &Vec::new())?;
    same(&building.built_of(&request)?, &good)?;
    equal("the fingerprint", &building.codegen.fingerprint(&request)?, &fingerprint)?;
    building.still(&good, "after it")
}

/// Checks that each function refuses the request, and that nothing was delivered.
fn is_refused(c: &Context<'_>, extensions: Vec<(String, u32)>, kind: &str, tells: &str) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let good = building.built()?;
    let request = Request { extensions, ..building.request.clone() };
    for (step, what) in [(Step::Unsupported, "unsupported"), (Step::Build, "build")] {
        let (answer, delivered) = building.codegen.run(step, &request);
        refused_as(what, kind, tells, answer)?;
        let n = delivered.indexes.len() + delivered.sections.len() + delivered.diagnostics.len();
        equal("what a request that is refused delivers", &n, &0)?;
    }
    refused_as("fingerprint", kind, tells, building.codegen.fingerprint(&request).map(drop))?;
    building.still(&good, "after it")
}

/// Returns the sorted errors that a call reported.
fn errors(delivered: &Delivered) -> Vec<String> {
    let errors = delivered.diagnostics.iter().filter(|one| one.severity <= CHIPDOCK_DIAGNOSTIC_ERROR);
    let mut texts: Vec<String> = errors.map(|one| format!("{one:?}")).collect();
    texts.sort();
    texts
}

fn reports_refused_constructs(c: &Context<'_>) -> Verdict {
    let building = Building::new(c, &UNKNOWN_FUNCTION)?;
    let (asked, listed) = building.codegen.run(Step::Unsupported, &building.request);
    asked?;
    let (built, reported) = building.codegen.run(Step::Build, &building.request);
    match built {
        Err(error) if error.kind().as_str() == "Unsupported" => {
            let what = "what `build` reports, beside what `unsupported` lists";
            equal(what, &errors(&reported), &errors(&listed))
        }
        other => Ok(other?),
    }
}

/// Returns the ranges of lines and columns of a module, or `None` if no position is known.
fn extent(module: &IrModule) -> Option<[RangeInclusive<u32>; 2]> {
    let mut spans: Vec<Span> = Vec::new();
    for function in &module.functions {
        function.body.walk(&mut |child| {
            spans.push(match child {
                Child::Expr(expr) => expr.span,
                Child::Stmt(stmt) => stmt.span,
            });
        });
    }
    spans.retain(|span| *span != Span::NONE);
    let range = |number: fn(&Span) -> u32| {
        let numbers = spans.iter().map(number);
        Some(numbers.clone().min()?..=numbers.max()?)
    };
    Some([range(|span| span.line)?, range(|span| span.column)?])
}

fn places(c: &Context<'_>) -> Verdict {
    for sample in ALL.iter().chain([&UNKNOWN_FUNCTION]) {
        let building = Building::new(c, sample)?;
        let extent = extent(&building.lowered);
        for step in [Step::Unsupported, Step::Build] {
            let (_, delivered) = building.codegen.run(step, &building.request);
            for one in &delivered.diagnostics {
                let note = |stop: Stop| stop.note(format!("{step:?} of {}: {}", sample.name, one.message));
                let found = format!("line {}, column {}", one.line, one.column);
                if (one.line, one.column) != (0, 0) {
                    let Some([lines, columns]) = &extent else {
                        let expected = "0 for both, as the document has no places";
                        return Err(note(Stop::failed(expected, found)));
                    };
                    let is_within = lines.contains(&one.line) && columns.contains(&one.column);
                    let expected = format!("lines {lines:?} and columns {columns:?}, or 0 for both");
                    ensure(is_within, expected, found).map_err(note)?;
                }
                let begins = one.message.split(": ").next().unwrap_or_default();
                let is_place =
                    begins.contains(':') && begins.split(':').all(|part| part.parse::<u32>().is_ok());
                ensure(!is_place, "a message without the place", begins).map_err(note)?;
            }
        }
    }
    Ok(())
}

fn text_or_none(c: &Context<'_>) -> Verdict {
    for sample in ALL {
        let building = Building::new(c, sample)?;
        if let Some(text) = building.codegen.fingerprint(&building.request)? {
            ensure(!text.trim().is_empty(), "a text, or None", "an empty text")?;
        }
    }
    Ok(())
}

/// Checks that the fingerprint is the same on this thread and another, before and after builds.
fn same_again(c: &Context<'_>) -> Verdict {
    for sample in ALL {
        let building = Building::new(c, sample)?;
        let first = building.codegen.fingerprint(&building.request)?;
        building.built()?;
        let again = building.codegen.fingerprint(&building.request)?;
        equal("the fingerprint after a build", &again, &first)?;
        let elsewhere = std::thread::scope(|scope| {
            let asked = scope.spawn(|| building.codegen.fingerprint(&building.request));
            asked.join().map_err(|_| Stop::suite("a thread of the suite panicked"))
        })??;
        equal("the fingerprint on another thread", &elsewhere, &first)?;
    }
    Ok(())
}

/// Checks that equal fingerprints mean equal bytes.
fn same_bytes(c: &Context<'_>) -> Verdict {
    for sample in ALL {
        let building = Building::new(c, sample)?;
        let before = building.codegen.fingerprint(&building.request)?;
        let first = building.built()?;
        std::thread::sleep(std::time::Duration::from_millis(2));
        let second = building.built()?;
        let after = building.codegen.fingerprint(&building.request)?;
        if before.is_some() && before == after {
            let note = |stop: Stop| stop.note(format!("{}, fingerprint {after:?}", sample.name));
            same(&second, &first).map_err(note)?;
        }
    }
    Ok(())
}
