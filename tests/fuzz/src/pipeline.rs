//! Fuzz target for the complete pipeline: from a program, as text, to every code generator.
//!
//! The bytes contain a few choices, a tape from which `chipdock_programs` makes a program, and
//! edits of its text. Without edits a program is valid by promise PROG-G1 of that crate; with edits
//! it mostly still is. The code generators are those of the plugins that were built for tests,
//! called through a host as usual; nothing is loaded or run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use chipdock_host::{CompileOptions, Error, ErrorKind, Host, ResolvedTarget, Scheduling};
use chipdock_ir::{DType, IrModule, equal, print};
use chipdock_programs::{Case, Options, spelled};

use crate::edit::{EDIT_BYTES, edited};
use crate::script::{crosses, reads_back, refused};
use crate::target::{host, is_refusal};

/// Bytes before the tape.
const CHOICE_BYTES: usize = 5;

/// Outcome of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether its text was edited.
    pub is_edited: bool,
    /// Whether it could be read and is valid.
    pub is_valid: bool,
    /// Number of code generators that built it.
    pub n_built: u32,
    /// Number of steps that refused it, with a reason.
    pub n_refused: u32,
}

/// Runs bytes as a program through the complete pipeline.
///
/// # Panics
///
/// If a promise is broken.
pub fn pipeline(bytes: &[u8]) {
    count(pipeline_outcome(bytes));
}

/// Runs bytes as [`pipeline`] does, and returns the outcome.
///
/// # Panics
///
/// If a promise is broken.
#[must_use]
pub fn pipeline_outcome(bytes: &[u8]) -> Outcome {
    let Some((choices, rest)) = bytes.split_first_chunk::<CHOICE_BYTES>() else { return Outcome::default() };
    let n_edits = [0, 0, 0, 1, 1, 2, 3, 5][usize::from(choices[4] % 8)];
    let (tape, edits) = rest.split_at(rest.len().saturating_sub(n_edits * EDIT_BYTES));
    let case = spelled(tape, &options(choices));
    let printed = print::module(&case.module);
    let text = edited(&printed, edits);
    let mut outcome = Outcome { is_edited: text != printed, ..Outcome::default() };
    let module = match chipdock_script::parse(&text, "fuzz.py") {
        Ok(module) => module,
        Err(errors) => {
            assert!(outcome.is_edited, "FUZZ-F5: what was generated cannot be read:\n{errors}\n{printed}");
            refused(&text, &errors);
            return outcome;
        }
    };
    outcome.is_valid = true;
    if outcome.is_edited {
        reads_back(&module);
    } else {
        same(&case, &module);
    }
    crosses(&module);
    for target in chosen(choices[3]) {
        match build(&module, target, choices[4] & 8 != 0) {
            Ok(()) => outcome.n_built += 1,
            Err(error) => {
                is_typed(&error, &target.kind().name);
                outcome.n_refused += 1;
            }
        }
    }
    outcome
}

fn same(case: &Case, module: &IrModule) {
    if let Err(why) = equal::modules(&case.module, module) {
        panic!("FUZZ-F3: read back it differs: {why}\n{}", case.text());
    }
}

/// Returns the options of the generated program, from the first bytes.
fn options(choices: &[u8; CHOICE_BYTES]) -> Options {
    let [first, second, third, ..] = *choices;
    let is_set = |byte: u8, bit: u8| byte >> bit & 1 == 1;
    let scalars = DType::SCALARS;
    let types = match third >> 4 {
        // A quarter have every type.
        12.. => scalars.to_vec(),
        at => vec![scalars[usize::from(at) % scalars.len()], DType::INT32, DType::FLOAT32],
    };
    Options {
        types,
        threads: is_set(first, 0),
        symbolic: is_set(first, 1),
        blocks: is_set(first, 2),
        views: is_set(first, 3),
        calls: is_set(first, 4),
        results: is_set(first, 5),
        while_loops: is_set(first, 6),
        exits: is_set(first, 7),
        vectorized: is_set(second, 0),
        vectors: is_set(second, 1),
        atomics: is_set(second, 2),
        externs: is_set(second, 3),
        special_values: is_set(second, 4),
        warps: is_set(second, 5).then_some(32),
        rotation: is_set(second, 6),
        stages_max: 1 + usize::from(third & 1) + usize::from(third >> 1 & 1),
        depth: 1 + u32::from(third >> 2 & 3),
        ..Options::default()
    }
}

/// The targets of a choice: one of them, or now and then all.
fn chosen(choice: u8) -> &'static [Arc<ResolvedTarget>] {
    let all = targets();
    let at = usize::from(choice) % (all.len() + 1);
    all.get(at..=at).unwrap_or(all)
}

/// One target for each kind that has a code generator here. Host functions of devices are built by
/// a kind whose code generator only writes text, where there is one.
fn targets() -> &'static [Arc<ResolvedTarget>] {
    static TARGETS: OnceLock<Vec<Arc<ResolvedTarget>>> = OnceLock::new();
    TARGETS.get_or_init(|| {
        let host = host();
        let kinds = host.target_kinds();
        // The one of the least preference is the plain one.
        let least =
            kinds.iter().filter(|(kind, _)| kind.is_host).min_by_key(|(kind, _)| kind.host_preference);
        let least = least.map(|(kind, _)| kind.name.clone());
        let mut targets = Vec::new();
        for (kind, _) in &kinds {
            let mut json = serde_json::json!({ "kind": kind.name });
            if !kind.is_host {
                json["host"] = serde_json::json!({ "kind": least });
            }
            match host.usable_target(&kind.name).and_then(|_| host.target(json)) {
                Ok(target) => targets.push(target),
                Err(error) => chipdock_test_support::skipped(&format!("fuzzing {}: {error}", kind.name)),
            }
        }
        assert!(!targets.is_empty(), "no code generator can be used");
        targets
    })
}

/// Builds, and builds again when asked: the same comes of the same. A kind that compiles what it
/// wrote is cancelled once it has written it, which is when it looks.
fn build(module: &IrModule, target: &Arc<ResolvedTarget>, twice: bool) -> Result<(), Error> {
    let host: &Host = host();
    let cancel = Arc::new(AtomicBool::new(compiles(target)));
    let options =
        CompileOptions { schedule: Scheduling::Auto, threads_max: 1, cancel, ..CompileOptions::default() };
    let compiled = match host.compile(module, target, &options) {
        Err(error) if compiles(target) && *error.kind() == ErrorKind::Cancelled => return Ok(()),
        other => other?,
    };
    let bytes = compiled.artifact.to_bytes()?;
    if twice {
        let again = host.compile(module, target, &options)?.artifact.to_bytes()?;
        assert!(again == bytes, "FUZZ-F5: {} builds another artifact of the same", target.kind().name);
    }
    Ok(())
}

/// Whether a kind's code generator goes on to compile in this process what it wrote; one that only
/// writes is left to end.
fn compiles(target: &ResolvedTarget) -> bool {
    target.kind().name == "llvm"
}

/// FUZZ-F5: what a valid program may be refused for.
fn is_typed(error: &Error, kind: &str) {
    is_refusal(error);
    let is_expected =
        matches!(error.kind(), ErrorKind::Value | ErrorKind::Unsupported | ErrorKind::Unavailable);
    assert!(is_expected, "FUZZ-F5: {kind} refuses by {}: {error}", error.kind().as_str());
}

/// Counts outcomes, and writes them to the file that `CHIPDOCK_FUZZ_STATISTICS` names, each 100
/// programs.
fn count(outcome: Outcome) {
    static COUNTS: [AtomicU64; 6] = [const { AtomicU64::new(0) }; 6];
    let Outcome { is_edited, is_valid, n_built, n_refused } = outcome;
    let unedited = u64::from(!is_edited && is_valid);
    let added = [1, u64::from(is_edited), u64::from(is_valid), unedited, n_built.into(), n_refused.into()];
    let counts = [0, 1, 2, 3, 4, 5].map(|at: usize| COUNTS[at].fetch_add(added[at], Relaxed) + added[at]);
    if counts[0].is_multiple_of(100)
        && let Some(path) = std::env::var_os("CHIPDOCK_FUZZ_STATISTICS")
    {
        let [all, edited, valid, unedited, built, refused] = counts;
        let text = format!(
            "programs {all}, edited {edited}, valid {valid}, of them unedited {unedited}; built {built}, refused {refused}\n"
        );
        let _ = std::fs::write(path, text);
    }
}
