//! Target kinds, code generators and loaders given invalid texts and null: the error is the
//! caller's, and there is no panic.

use std::ptr;

use chipdock_abi::{
    ChipdockArtifact, ChipdockBuildRequest, ChipdockBuildSession, ChipdockModuleHandle, ChipdockSection,
};
use chipdock_ir::{IrModule, wire};
use chipdock_plugin_api::{ChipdockDevice, Error};
use chipdock_raw_host::{Codegen, Environment, Kind, Loader, RawArtifact, Request, Step};

use super::text::{null_text, text};
use super::{OutSlot, typed, wrong};
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

/// Texts that are no JSON, or not the expected JSON.
const TEXTS: [(&str, &[u8]); 9] = [
    ("empty", b""),
    ("blank", b"  \n"),
    ("no-json", b"kernel add(A, B)"),
    ("cut-off", b"{\"kind\": \"x\", "),
    ("number", b"42"),
    ("array", b"[]"),
    ("nul", b"{}\0"),
    ("not-utf8", b"{\"\xFF\": 1}"),
    ("nested", &[b'['; 100_000]),
];

pub(super) fn add(cases: &mut Cases) {
    for (name, bytes) in TEXTS {
        let mut case = |what: &str, clause, subject, body: fn(&Context, &[u8]) -> Verdict| {
            let draft = cases.case(Group::Misuse, format!("{what}/{name}"), clause, subject);
            draft.run(move |c| body(c, bytes));
        };
        case("canonicalize", "P8.4", Subject::TargetKind, canonicalize);
        case("build/ir", "P7.3", Subject::Codegen, |c, bytes| ir(c, Step::Build, bytes));
        case("unsupported/ir", "P7.3", Subject::Codegen, |c, bytes| ir(c, Step::Unsupported, bytes));
        case("build/target", "P8.4", Subject::Codegen, |c, bytes| {
            part(c, bytes, |request| &mut request.target_json)
        });
        case("build/options", "P8.4", Subject::Codegen, |c, bytes| {
            part(c, bytes, |request| &mut request.options_json)
        });
        case("load/index", "P7.3", Subject::Loader, load);
        case("check/index", "P8.4", Subject::Loader, check);
    }
    let mut null = |what: &str, subject, body: fn(&Context) -> Verdict| {
        cases.case(Group::Misuse, format!("null/{what}"), "D.2", subject).run(body);
    };
    null("canonicalize/out", Subject::TargetKind, |c| null_canonicalize(c, true));
    null("canonicalize/text", Subject::TargetKind, |c| null_canonicalize(c, false));
    null("build/request", Subject::Codegen, |c| null_build(c, Step::Build, true));
    null("build/session", Subject::Codegen, |c| null_build(c, Step::Build, false));
    null("unsupported/request", Subject::Codegen, |c| null_build(c, Step::Unsupported, true));
    null("unsupported/session", Subject::Codegen, |c| null_build(c, Step::Unsupported, false));
    null("load/artifact", Subject::Loader, |c| null_load(c, true));
    null("load/out", Subject::Loader, |c| null_load(c, false));
    null("load/sections", Subject::Loader, |c| null_sections(c, true));
    null("load/section-bytes", Subject::Loader, |c| null_sections(c, false));
    null("check/artifact", Subject::Loader, null_check);
}

fn found(error: &Error) -> String {
    format!("{}: {}", error.kind(), error.message())
}

/// Checks that a wrong call was refused with an error that does not blame the plugin.
fn must_refuse<T>(what: &str, answer: Result<T, Error>) -> Verdict {
    match answer {
        Ok(_) => Err(Stop::failed(format!("{what}: refused"), "success")),
        Err(error) if error.kind().as_str() == "Unavailable" => Err(error.into()),
        Err(error) => typed(what, &error),
    }
}

/// Checks that a wrong call succeeded, or was refused with an error that does not blame the plugin.
fn may_refuse<T>(what: &str, answer: Result<T, Error>) -> Verdict {
    answer.map_or_else(|error| typed(what, &error), |_| Ok(()))
}

fn kind(c: &Context) -> Verdict<Kind> {
    Kind::find(c.plugin()?, c.registration()).ok_or_else(|| Stop::suite("the target kind is gone"))
}

/// Calls `canonicalize` with a wrong text: a kind without a canonicalizer returns it, one with a
/// canonicalizer may refuse it.
fn canonicalize(c: &Context, bytes: &[u8]) -> Verdict {
    let kind = kind(c)?;
    may_refuse("canonicalize of what is no target", kind.canonicalize_bytes(bytes))?;
    let good = c.host()?.target(c.registration())?.json().to_owned();
    kind.canonicalize(&good).map(drop).map_err(|error| {
        Stop::failed("canonicalize of a target after a wrong call: success", found(&error)).clause("P7.9")
    })
}

fn codegen(c: &Context) -> Verdict<(Codegen, Request)> {
    let target = c.target()?;
    let codegen = Codegen::find(c.plugin()?, c.registration());
    let codegen = codegen.ok_or_else(|| Stop::suite("the code generator is gone"))?;
    let newest = wire::VERSIONS.iter().rev().find(|version| **version <= codegen.ir_max.as_str());
    let ir = wire::write_at(&IrModule::default(), newest.copied().unwrap_or(wire::VERSION));
    let ir = ir.map_err(|error| Stop::suite(format!("the empty module: {error:?}")))?.into_bytes();
    Ok((codegen, Request::new(ir, target.json().as_bytes().to_vec())))
}

/// Checks that a correct request succeeds after a wrong one.
fn still_answers(codegen: &Codegen, request: &Request) -> Verdict {
    let (answer, _) = codegen.run(Step::Unsupported, request);
    answer.map_err(|error| {
        Stop::failed("`unsupported` of the empty module after a wrong call: success", found(&error))
            .clause("P7.9")
    })
}

fn ir(c: &Context, step: Step, bytes: &[u8]) -> Verdict {
    let (codegen, good) = codegen(c)?;
    let bad = Request { ir: bytes.to_vec(), ..good.clone() };
    let (answer, delivered) = codegen.run(step, &bad);
    must_refuse("a build of what is no module", answer)?;
    let index = delivered.indexes.first().cloned().unwrap_or_default();
    ensure(index.is_empty(), "no index of a build that failed", index)?;
    still_answers(&codegen, &good)
}

fn part(c: &Context, bytes: &[u8], part: fn(&mut Request) -> &mut Vec<u8>) -> Verdict {
    let (codegen, good) = codegen(c)?;
    let mut bad = good.clone();
    *part(&mut bad) = bytes.to_vec();
    for step in [Step::Unsupported, Step::Build] {
        may_refuse("a build whose target or options are none", codegen.run(step, &bad).0)?;
    }
    still_answers(&codegen, &good)
}

fn loader(c: &Context) -> Verdict<Loader> {
    Loader::find(c.plugin()?, c.registration()).ok_or_else(|| Stop::suite("the loader is gone"))
}

fn artifact(bytes: &[u8]) -> RawArtifact {
    RawArtifact { index_json: bytes.to_vec(), ..RawArtifact::default() }
}

fn load(c: &Context, bytes: &[u8]) -> Verdict {
    let loader = loader(c)?;
    for _ in 0..2 {
        let answer = loader.load(&artifact(bytes), Environment::Working);
        must_refuse("load of an artifact whose index is none", answer)?;
    }
    Ok(())
}

/// Checks that the answer is a verdict with a reason, or an error with a message.
fn check(c: &Context, bytes: &[u8]) -> Verdict {
    let loader = loader(c)?;
    let answer = loader.check(&artifact(bytes), ChipdockDevice { device_type: 1, device_id: 0 });
    if let Ok((verdict, reason)) = &answer {
        let says = reason.to::<String>().is_ok_and(|reason| !reason.trim().is_empty());
        ensure(*verdict == 0 || says, format!("a reason for verdict {verdict}"), "none")
            .map_err(|stop| stop.clause("M.2"))?;
    }
    may_refuse("check of an artifact whose index is none", answer)
}

fn null_canonicalize(c: &Context, is_out: bool) -> Verdict {
    let plugin = c.plugin()?;
    let kinds = plugin.target_kinds();
    let table = kinds.iter().find(|(name, ..)| name == c.registration()).map(|(_, _, table)| *table);
    let Some((self_, table)) = table.and_then(|table| Some((table.self_, table.table?))) else {
        return Err(Stop::suite("the target kind is gone"));
    };
    let mut out = OutSlot::new();
    let place = if is_out { ptr::null_mut() } else { out.as_mut_ptr() };
    let json = if is_out { text(b"{}") } else { null_text(9) };
    // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered with an
    // error. So below.
    wrong(plugin.host(), "canonicalize with null", &["ValueError"], &[], || unsafe {
        (table.canonicalize)(self_, json, place)
    })?;
    out.untouched("canonicalize")
}

fn null_build(c: &Context, step: Step, is_request: bool) -> Verdict {
    let (_, good) = codegen(c)?;
    let plugin = c.plugin()?;
    let codegens = plugin.codegens();
    let table = codegens.iter().find(|(name, ..)| name == c.registration()).map(|(_, _, table)| *table);
    let Some((self_, table)) = table.and_then(|table| Some((table.self_, table.table?))) else {
        return Err(Stop::suite("the code generator is gone"));
    };
    let request = ChipdockBuildRequest {
        ir: text(&good.ir),
        target_json: text(&good.target_json),
        options_json: text(&good.options_json),
        threads_max: 1,
        flags: 0,
        sections: std::ptr::null(),
        sections_count: 0,
        next: std::ptr::null(),
    };
    let call = if step == Step::Build { table.build } else { table.unsupported };
    let request: *const ChipdockBuildRequest = if is_request { ptr::null() } else { &request };
    // If the request is null, the session is null too: no function of it may be called.
    let session: *const ChipdockBuildSession = ptr::null();
    // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered with an
    // error.
    wrong(plugin.host(), "a build with null", &["ValueError"], &[], || unsafe {
        call(self_, request, session)
    })
}

fn raw_loader(
    c: &Context,
    body: impl FnOnce(&chipdock_abi::ChipdockModuleLoader, *mut std::ffi::c_void) -> Verdict,
) -> Verdict {
    let loaders = c.plugin()?.loaders();
    let table = loaders.iter().find(|(name, _)| name == c.registration()).map(|(_, table)| *table);
    match table.and_then(|table| Some((table.self_, table.table?))) {
        Some((self_, table)) => body(table, self_),
        None => Err(Stop::suite("the loader is gone")),
    }
}

const REFUSED: &[&str] = &["ValueError"];

fn null_load(c: &Context, is_artifact: bool) -> Verdict {
    let host = c.plugin()?.host();
    raw_loader(c, |table, self_| {
        let artifact = ChipdockArtifact {
            index_json: text(b"{}"),
            sections: ptr::null(),
            sections_count: 0,
            next: std::ptr::null(),
        };
        let mut out = ChipdockModuleHandle { self_: ptr::null_mut(), table: ptr::null() };
        // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered
        // with an error.
        wrong(host, "load with null", REFUSED, &[], || unsafe {
            if is_artifact {
                (table.load)(self_, ptr::null(), ptr::null(), &mut out)
            } else {
                (table.load)(self_, &artifact, ptr::null(), ptr::null_mut())
            }
        })?;
        ensure(out.table.is_null(), "no module of a load that failed", "a table")
            .map_err(|stop| stop.clause("P7.8"))
    })
}

fn null_sections(c: &Context, is_list: bool) -> Verdict {
    let host = c.plugin()?.host();
    raw_loader(c, |table, self_| {
        let section = ChipdockSection {
            name: text(b"code"),
            kind: text(b"code"),
            alignment_bytes: 8,
            data: ptr::null(),
            size_bytes: 8,
        };
        let sections = if is_list { ptr::null() } else { &raw const section };
        let artifact =
            ChipdockArtifact { index_json: text(b"{}"), sections, sections_count: 1, next: std::ptr::null() };
        let mut out = ChipdockModuleHandle { self_: ptr::null_mut(), table: ptr::null() };
        // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered
        // with an error.
        wrong(host, "load with null", REFUSED, &[], || unsafe {
            (table.load)(self_, &artifact, ptr::null(), &mut out)
        })
    })
}

fn null_check(c: &Context) -> Verdict {
    let host = c.plugin()?.host();
    raw_loader(c, |table, self_| {
        let (mut verdict, mut reason) = (0, OutSlot::new());
        let place = reason.as_mut_ptr();
        let device = ChipdockDevice { device_type: 1, device_id: 0 };
        // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered
        // with an error.
        wrong(host, "check of null", REFUSED, &[], || unsafe {
            (table.verdict)(self_, ptr::null(), device, &mut verdict, place)
        })?;
        reason.untouched("check")
    })
}
