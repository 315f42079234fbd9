//! Builds: deterministic, correctly described, and cancellable.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chipdock_abi::CHIPDOCK_DIAGNOSTIC_ERROR;
use chipdock_host::artifact::ArtifactIndex;
use chipdock_ir::{AttrValue, PrimFunc, attr, wire};
use chipdock_plugin_api::SectionKind;
use chipdock_plugin_api::names::check;
use chipdock_raw_host::{Codegen, Plugin, Request, Step};
use serde_json::json;

use super::build::{Building, reads, same, written};
use super::samples::{ALL, ELEMENTWISE, REDUCTION, Sample, UNKNOWN_FUNCTION};
use super::shown;
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict, hosts};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: String, clause, body: Box<dyn Fn(&Context<'_>) -> Verdict + Send + Sync>| {
        cases.case(Group::Module, name, clause, Subject::Codegen).run(body);
    };
    for sample in ALL {
        let name = sample.name;
        case(format!("build/delivered/{name}"), "C.4", Box::new(|c| delivered(c, sample)));
        case(format!("build/index/{name}"), "C.8", Box::new(|c| index(c, sample)));
        case(
            format!("build/nothing-unsupported/{name}"),
            "C.5",
            Box::new(|c| nothing_unsupported(c, sample)),
        );
        case(format!("build/same-twice/{name}"), "C.1", Box::new(|c| same_twice(c, sample)));
    }
    case("build/lists-what-it-refuses".to_owned(), "C.5", Box::new(listed_as_refused));
    case("build/sections".to_owned(), "C.26", Box::new(sections));
    case("build/same-in-two-hosts".to_owned(), "P10.4", Box::new(two_hosts));
    case("build/same-on-4-threads".to_owned(), "P10.1", Box::new(four_threads));
    case("build/same-after-others".to_owned(), "C.1", Box::new(after_others));
    case("build/same-elsewhere-and-later".to_owned(), "C.1", Box::new(elsewhere));
    case("build/same-unasked".to_owned(), "C.28", Box::new(unasked));
    case("build/unknown-options".to_owned(), "C.28", Box::new(unknown_options));
    case("build/more-threads-allowed".to_owned(), "C.28", Box::new(more_threads));
    for version in wire::VERSIONS {
        case(format!("build/wire-{version}"), "C.29", Box::new(|c| wire_version(c, version)));
    }
    case("cancel/before-it-begins".to_owned(), "C.6", Box::new(cancelled_before));
    case("cancel/while-it-builds".to_owned(), "C.6", Box::new(cancelled_within));
    case("threads/1-allowed".to_owned(), "C.6", Box::new(|c| thread_cap(c, 1)));
    case("threads/2-allowed".to_owned(), "C.6", Box::new(|c| thread_cap(c, 2)));
}

fn delivered(c: &Context<'_>, sample: &Sample) -> Verdict {
    let building = Building::new(c, sample)?;
    let delivered = building.built()?;
    if let Some(problem) = delivered.problems().first() {
        return Err(Stop::failed("the index once, and sections each of its own name", problem));
    }
    let errors: Vec<_> =
        delivered.diagnostics.iter().filter(|one| one.severity == CHIPDOCK_DIAGNOSTIC_ERROR).collect();
    ensure(errors.is_empty(), "no error reported by a build that succeeds", format!("{errors:?}"))?;
    ensure(delivered.sections.iter().any(|section| !section.data.is_empty()), "a section with bytes", "none")
}

/// Returns the name and the number of arguments of each function of the lowered module that is
/// called from outside: the packed functions; if there are none, the functions of the sample; or
/// all functions, after the split.
fn expected_functions(building: &Building, sample: &Sample) -> Vec<(String, usize)> {
    let text = |value: Option<&AttrValue>| match value {
        Some(AttrValue::Str(text)) => Some(text.to_string()),
        _ => None,
    };
    let all = &building.lowered.functions;
    let is_packed = |function: &PrimFunc| function.attrs.contains_key(attr::ARG_TYPES);
    let is_own = |function: &PrimFunc| sample.functions.contains(&&*function.name);
    let is_entry = |function: &PrimFunc| {
        let own = !all.iter().any(is_own) || is_own(function);
        is_packed(function) || !all.iter().any(is_packed) && own
    };
    all.iter()
        .filter(|function| is_entry(function))
        .map(|function| {
            let name = text(function.attrs.get(attr::SOURCE_NAME));
            let name = name.unwrap_or_else(|| {
                function.name.strip_prefix("__tvm_ffi_").unwrap_or(&function.name).to_owned()
            });
            let args = match function.attrs.get(attr::ARG_TYPES) {
                Some(AttrValue::List(list)) => list.len(),
                _ => function.params.len(),
            };
            (name, args)
        })
        .collect()
}

fn index(c: &Context<'_>, sample: &Sample) -> Verdict {
    let building = Building::new(c, sample)?;
    let delivered = building.built()?;
    let text = delivered.indexes.first().cloned().unwrap_or_default();
    let index: ArtifactIndex = serde_json::from_str(&text).map_err(|error| {
        Stop::failed(
            "an index with `module_kind`, `format` and `functions`",
            format!("{error}: {}", shown(&text)),
        )
    })?;
    ensure(!index.module_kind.is_empty(), "who loads it, in `module_kind`", "nothing")?;
    ensure(!index.format.is_empty(), "what the bytes are, in `format`", "nothing")?;
    let mut found = BTreeSet::new();
    for function in &index.functions {
        ensure(!function.symbol.is_empty(), format!("the symbol of \"{}\"", function.name), "nothing")?;
        let once = found.insert((function.name.clone(), function.args.len()));
        ensure(once, format!("function \"{}\" once", function.name), "it is there twice")?;
    }
    let expected = expected_functions(&building, sample);
    if expected.is_empty() {
        return Err(Stop::suite("the lowered module has no function"));
    }
    for function in expected {
        let what = format!("function \"{}\" with {} arguments in the index", function.0, function.1);
        ensure(found.contains(&function), what, format!("{found:?}"))?;
    }
    Ok(())
}

fn nothing_unsupported(c: &Context<'_>, sample: &Sample) -> Verdict {
    let building = Building::new(c, sample)?;
    let (asked, delivered) = building.codegen.run(Step::Unsupported, &building.request);
    asked?;
    let first = delivered.diagnostics.iter().find(|one| one.severity == CHIPDOCK_DIAGNOSTIC_ERROR);
    if let Some(first) = first {
        let text = format!("{}: {} {}", first.function, first.node, first.message);
        return Err(Stop::Unsupported(text));
    }
    let n = delivered.indexes.len() + delivered.sections.len();
    equal("what `unsupported` delivers, as it builds nothing", &n, &0)?;
    building.built().map(drop).map_err(|stop| stop.note("after `unsupported` listed nothing"))
}

/// Checks that `unsupported` lists exactly what `build` refuses as unsupported.
fn listed_as_refused(c: &Context<'_>) -> Verdict {
    let building = Building::new(c, &UNKNOWN_FUNCTION)?;
    let (asked, listed) = building.codegen.run(Step::Unsupported, &building.request);
    asked?;
    let listed = listed.diagnostics.iter().any(|one| one.severity == CHIPDOCK_DIAGNOSTIC_ERROR);
    let (built, _) = building.codegen.run(Step::Build, &building.request);
    let refused = built.as_ref().is_err_and(|error| error.kind().as_str() == "Unsupported");
    if !refused {
        built?;
    }
    equal("whether `unsupported` lists what `build` refuses", &listed, &refused)
}

fn same_twice(c: &Context<'_>, sample: &Sample) -> Verdict {
    let building = Building::new(c, sample)?;
    let first = building.built()?;
    (0..5).try_for_each(|_| building.still(&first, "built again"))
}

fn sections(c: &Context<'_>) -> Verdict {
    for sample in ALL {
        for section in Building::new(c, sample)?.built()?.sections {
            let (name, alignment) = (&section.name, section.alignment_bytes);
            ensure(!name.is_empty(), "a name for each section", "an empty one")?;
            let is_word = |kind: &str| {
                !kind.is_empty() && kind.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
            };
            let expected = format!("section \"{name}\": a word as its kind, as `code`");
            ensure(is_word(&section.kind), expected, format!("\"{}\"", section.kind))?;
            let kinds = SectionKind::ALL.map(SectionKind::as_str);
            check("the kind of a section", &section.kind, &kinds, &c.plugin()?.descriptor().name).map_err(
                |wrong| Stop::failed("a kind of Chipdock's or of the plugin's", wrong).clause("P5.17"),
            )?;
            let fits = alignment.is_power_of_two() && alignment <= 1 << 16;
            ensure(fits, format!("section \"{name}\": a power of two up to 65536 as alignment"), alignment)?;
        }
    }
    Ok(())
}

fn two_hosts(c: &Context<'_>) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let first = building.built()?;
    let second = Plugin::init(c.plugin()?.raw(), hosts::host())
        .map_err(|error| Stop::failed("a second host to be served", error.message))?;
    let codegen = Codegen::find(&second, c.registration());
    let codegen = codegen.ok_or_else(|| Stop::failed("the same registrations in a second host", "others"))?;
    let (result, delivered) = codegen.run(Step::Build, &building.request);
    second.shutdown()?;
    result?;
    same(&delivered, &first)?;
    building.still(&first, "after the second host was shut down")
}

fn four_threads(c: &Context<'_>) -> Verdict {
    let all = ALL.iter().map(|sample| Building::new(c, sample)).collect::<Verdict<Vec<_>>>()?;
    let alone = all.iter().map(Building::built).collect::<Verdict<Vec<_>>>()?;
    std::thread::scope(|scope| {
        let one = |first: usize| {
            let (all, alone) = (&all, &alone);
            move || {
                (0..10).try_for_each(|round| {
                    let at = (first + round) % all.len();
                    all[at].still(&alone[at], "built while other threads build")
                })
            }
        };
        let handles: Vec<_> = (0..4).map(|first| scope.spawn(one(first))).collect();
        handles.into_iter().try_for_each(|handle| {
            handle.join().map_err(|_| Stop::suite("a thread of the suite panicked"))?
        })
    })
}

fn after_others(c: &Context<'_>) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let first = building.built()?;
    for sample in ALL {
        Building::new(c, sample)?.built()?;
        building.still(&first, "built after another module")?;
    }
    Ok(())
}

/// Builds in another folder, with other environment variables and a second later: the bytes must
/// not depend on them.
fn elsewhere(c: &Context<'_>) -> Verdict {
    const VARIABLES: &[&str] = &["HOME", "LANG", "LC_ALL", "TZ", "USER"];
    let building = Building::new(c, &ELEMENTWISE)?;
    let first = building.built()?;
    std::thread::sleep(Duration::from_millis(1100));
    let folder = std::env::current_dir().map_err(Stop::suite)?;
    let before: Vec<_> = VARIABLES.iter().map(|name| (*name, std::env::var_os(name))).collect();
    std::env::set_current_dir(c.scratch()).map_err(Stop::suite)?;
    for name in VARIABLES {
        // SAFETY: the suite runs cases on one thread, and no code of the plugin is running.
        unsafe { std::env::set_var(name, "C") };
    }
    let held = building.still(&first, "built in another folder, with other variables, a second later");
    for (name, value) in before {
        // SAFETY: the suite runs cases on one thread, and no code of the plugin is running.
        unsafe {
            match value {
                Some(value) => std::env::set_var(name, value),
                None => std::env::remove_var(name),
            }
        }
    }
    std::env::set_current_dir(folder).map_err(Stop::suite)?;
    held
}

/// Checks that calling `unsupported` first does not change what is built.
fn unasked(c: &Context<'_>) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let first = building.built()?;
    building.codegen.run(Step::Unsupported, &building.request).0?;
    building.still(&first, "built after `unsupported` was asked")?;
    for _ in 0..20 {
        building.codegen.run(Step::Unsupported, &building.request).0?;
    }
    building.still(&first, "built after `unsupported` was asked 20 times")
}

fn unknown_options(c: &Context<'_>) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let first = building.built()?;
    for options in ["", "  ", "{ }", "{\"option-of-the-suite\": [1, {\"x\": null}], \"another\": \"\"}"] {
        let request = Request { options_json: options.into(), ..building.request.clone() };
        let delivered =
            building.built_of(&request).map_err(|stop| stop.note(format!("options {options:?}")))?;
        same(&delivered, &first).map_err(|stop| stop.note(format!("options {options:?}")))?;
    }
    // A request for an unknown text may be ignored, but the build must succeed.
    let wish = json!({ "emit": ["source", "no-such-text"] }).to_string();
    let request = Request { options_json: wish.into_bytes(), ..building.request.clone() };
    building.built_of(&request).map(drop).map_err(|stop| stop.note("option `emit` with an unknown word"))
}

fn more_threads(c: &Context<'_>) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let first = building.built()?;
    for threads_max in [2, 64, u32::MAX] {
        let request = Request { threads_max, ..building.request.clone() };
        let delivered = building.built_of(&request)?;
        same(&delivered, &first).map_err(|stop| stop.note(format!("with {threads_max} threads allowed")))?;
    }
    Ok(())
}

/// Checks that each declared wire version is read and gives the same functions.
fn wire_version(c: &Context<'_>, version: &str) -> Verdict {
    let building = Building::new(c, &REDUCTION)?;
    let Ok(ir) = written(&building.lowered, version) else {
        return Err(Stop::suite(format!("the sample cannot be written as {version}")));
    };
    let request = Request { ir, ..building.request.clone() };
    let (result, delivered) = building.codegen.run(Step::Build, &request);
    if !reads(&building.codegen, version) {
        // A version that is not declared may be refused with a message, because no host sends it.
        let fits = result.as_ref().err().is_none_or(|error| !error.message().is_empty());
        return ensure(fits, "an error that says which version is read", "no message");
    }
    result.map_err(|error| {
        Stop::failed(format!("a module of version {version} to be built"), error.message())
    })?;
    ensure(delivered.problems().is_empty(), "a good build", format!("{:?}", delivered.problems()))
}

fn cancelled_before(c: &Context<'_>) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let first = building.built()?;
    let (result, delivered) = building.codegen.run_until(Step::Build, &building.request, 0);
    let found = match result {
        Ok(()) => format!("success, after it asked {} times whether it is cancelled", delivered.n_polls),
        Err(error) if error.kind().as_str() == "Cancelled" => {
            return building.still(&first, "after a cancelled build");
        }
        Err(error) => format!("{}: {}", error.kind().as_str(), error.message()),
    };
    Err(Stop::failed("Cancelled, of a build that was cancelled before it began", found))
}

fn cancelled_within(c: &Context<'_>) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let first = building.built()?;
    for polls in 1..=first.n_polls {
        let (result, delivered) = building.codegen.run_until(Step::Build, &building.request, polls);
        match result {
            Ok(()) => same(&delivered, &first)?,
            Err(error) => {
                let found = format!("{}: {}", error.kind().as_str(), error.message());
                ensure(
                    error.kind().as_str() == "Cancelled",
                    format!("Cancelled or success, of a build that is cancelled after {polls} questions"),
                    found,
                )?;
            }
        }
        building.still(&first, "after a cancelled build")?;
    }
    ensure(first.n_polls > 0, "a build that asks whether it is cancelled", "it never asked")
}

/// Returns the threads of this process.
fn tasks() -> BTreeSet<String> {
    let folder = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    folder.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Builds for a while, and checks the number of additional threads.
fn thread_cap(c: &Context<'_>, threads_max: u32) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let request = Request { threads_max, ..building.request.clone() };
    let (started, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let (built, most) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let before = tasks();
            started.store(true, Ordering::Release);
            let mut most = 0;
            while !done.load(Ordering::Acquire) {
                most = most.max(tasks().difference(&before).count());
                std::thread::yield_now();
            }
            most
        });
        while !started.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        let begun = Instant::now();
        let mut built = Ok(());
        for round in 0..200 {
            built = building.built_of(&request).map(drop);
            if built.is_err() || round >= 5 && begun.elapsed() > Duration::from_millis(300) {
                break;
            }
        }
        done.store(true, Ordering::Release);
        (built, watcher.join().unwrap_or_default())
    });
    built?;
    let allowed = threads_max.saturating_sub(1) as usize;
    let expected = format!("at most {allowed} threads beside the caller's, with {threads_max} allowed");
    ensure(most <= allowed, expected, format!("{most} at once"))
}
