//! Decision whether code for a given processor runs on this machine (rule LLLOAD-R1).
//!
//! LLVM's C interface does not report the features of a processor. Its inliner knows them: a
//! function is inlined into another only if the other's processor has every feature of the first.
//! So functions for both processors are put into one small module, and the remaining calls are
//! examined.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Mutex;

use chipdock_plugin_api::kit::{PerProcess, carried, lock};
use chipdock_plugin_api::{Error, ErrorKind, Verdict};
use serde_json::{Value, json};

use crate::llvm::{Chosen, HostCpu, Llvm, MachineOptions, Wanted, compile};
use crate::triple::{Triple, shown};

/// Verdicts so far, by processor and features.
static KNOWN: PerProcess<Mutex<HashMap<[String; 2], Verdict>>> = PerProcess::new(carried);
/// Maximum number of kept verdicts.
const KNOWN_MAX: usize = 256;

/// Decides whether code for `options` runs in this process.
///
/// # Errors
///
/// * `ValueError`: the triple, the processor or a feature is invalid.
pub(crate) fn verdict(chosen: &Chosen, options: &MachineOptions) -> Result<Verdict, Error> {
    let host = chosen.host();
    let theirs = Triple::parse(&options.triple)
        .map_err(|why| Error::new(ErrorKind::VALUE_ERROR, format!("the artifact's triple: {why}")))?;
    // This kind has never built for a triple that it does not know.
    let ours = Triple::parse(&host.triple).map_err(|why| Error::new(ErrorKind::UNSUPPORTED, why))?;
    let place = |triple: &Triple| (triple.architecture.family, triple.architecture.bits);
    if place(&theirs) != place(&ours) {
        let (theirs, ours) = (theirs.architecture.name, ours.architecture.name);
        return Ok(Verdict::Unsupported(format!("it is code for {theirs}, this machine is {ours}")));
    }
    if theirs.system != ours.system {
        return Ok(Verdict::Unsupported(format!(
            "it is code for the system {}, this machine has {}",
            theirs.system, ours.system
        )));
    }
    if options.cpu == host.cpu && with(&options.features, '+').is_subset(&with(&host.features, '+')) {
        return Ok(Verdict::Runs);
    }
    let key = [options.cpu.clone(), options.features.clone()];
    let known = lock(KNOWN.of_this()).get(&key).cloned();
    if let Some(verdict) = known {
        return Ok(verdict);
    }
    let question = ["runs here", &options.triple, &options.cpu, &options.features];
    let answer = chosen.recall(&question, |llvm| Ok(to_json(&of_another(llvm, host, options, &theirs)?)))?;
    let verdict = from_json(&answer)?;
    let mut known = lock(KNOWN.of_this());
    if known.len() >= KNOWN_MAX {
        known.clear();
    }
    known.insert(key, verdict.clone());
    Ok(verdict)
}

/// A verdict as it is kept.
fn to_json(verdict: &Verdict) -> Value {
    match verdict {
        Verdict::Runs => json!([]),
        Verdict::Recompile(why) => json!(["recompile", why]),
        Verdict::Unsupported(why) => json!(["unsupported", why]),
    }
}

/// Reads what [`to_json`] wrote.
fn from_json(json: &Value) -> Result<Verdict, Error> {
    match (json[0].as_str(), json[1].as_str()) {
        (None, None) => Ok(Verdict::Runs),
        (Some("recompile"), Some(why)) => Ok(Verdict::Recompile(why.to_owned())),
        (Some("unsupported"), Some(why)) => Ok(Verdict::Unsupported(why.to_owned())),
        _ => Err(Error::new(ErrorKind::INTERNAL, format!("a verdict was kept as {json}"))),
    }
}

/// The features that a list contains with this sign: present or missing ones.
fn with(features: &str, sign: char) -> BTreeSet<&str> {
    features.split(',').filter_map(|feature| feature.strip_prefix(sign)).collect()
}

/// The verdict on code for a processor other than this machine's.
fn of_another(
    llvm: &'static Llvm,
    host: &HostCpu,
    options: &MachineOptions,
    triple: &Triple,
) -> Result<Verdict, Error> {
    let names = triple.architecture.family.names();
    if !options.cpu.is_empty() && !names.processors.contains(&options.cpu) {
        let cpu = shown(&options.cpu);
        return Ok(Verdict::Recompile(format!("it was made for processor {cpu}, which is not known here")));
    }
    let unknown = with(&options.features, '+').into_iter().find(|feature| !names.features.contains(*feature));
    if let Some(feature) = unknown {
        let feature = shown(feature);
        return Ok(Verdict::Recompile(format!("it needs feature {feature}, which is not known here")));
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-_.,".contains(&byte);
    if !options.features.bytes().all(is_plain) {
        let message = format!("the artifact's features are none: {}", shown(&options.features));
        return Err(Error::new(ErrorKind::VALUE_ERROR, message));
    }
    let absent = with(&host.features, '-');
    let here = MachineOptions {
        triple: host.triple.clone(),
        cpu: host.cpu.clone(),
        features: host.features.clone(),
        opt_level: 2,
        ..MachineOptions::default()
    };
    let wanted = Wanted { ir: true, ..Wanted::default() };
    let output = compile(llvm, &module(host, options, &absent), &here, wanted, &|| false)?;
    let is_left = |name: &str| {
        let call = format!("@{name}(");
        output.ir.lines().any(|line| line.contains(" call ") && line.contains(&call))
    };
    if !is_left("theirs") {
        return Ok(Verdict::Runs);
    }
    let missing: Vec<&str> = absent
        .iter()
        .enumerate()
        .filter(|(index, _)| !is_left(&format!("more{index}")))
        .map(|(_, name)| *name)
        .collect();
    let what = match (missing.as_slice(), options.cpu.as_str()) {
        ([], "") => "features that this one has not".to_owned(),
        ([], cpu) => format!("processor \"{cpu}\", which has what this one has not"),
        (missing, _) => missing.join(", "),
    };
    let tiles = match missing.iter().any(|name| name.starts_with("amx-")) {
        true => {
            ", or Linux does not let this process use tiles (arch_prctl ARCH_REQ_XCOMP_PERM, from 5.16 on)"
        }
        false => "",
    };
    Ok(Verdict::Recompile(format!("it needs {what}; this machine's processor is \"{}\"{tiles}", host.cpu)))
}

/// A module in which a function of this machine calls `theirs`, and a function of the other
/// processor calls each `more<n>`, which has a feature that this machine lacks.
fn module(host: &HostCpu, options: &MachineOptions, absent: &BTreeSet<&str>) -> String {
    let mut text = String::from("@unknown = external global i32\n");
    let mut function = |name: &str, attributes: &str| {
        // A volatile load, so that the result is not known without inlining.
        let _ = writeln!(
            text,
            "define i32 @{name}() {attributes} {{\n  %v = load volatile i32, ptr @unknown\n  ret i32 %v\n}}"
        );
    };
    let attributes =
        |cpu: &str, features: &str| format!("\"target-cpu\"=\"{cpu}\" \"target-features\"=\"{features}\"");
    let theirs = attributes(&options.cpu, &options.features);
    function("theirs", &theirs);
    let mut calls = String::new();
    for (index, name) in absent.iter().enumerate() {
        let comma = if options.features.is_empty() { "" } else { "," };
        function(
            &format!("more{index}"),
            &attributes(&options.cpu, &format!("{}{comma}+{name}", options.features)),
        );
        let _ = writeln!(calls, "  %c{index} = call i32 @more{index}()");
    }
    let ours = attributes(&host.cpu, &host.features);
    let _ = writeln!(text, "define void @here() {ours} {{\n  %c = call i32 @theirs()\n  ret void\n}}");
    let _ = writeln!(text, "define void @there() {theirs} {{\n{calls}  ret void\n}}");
    text
}
