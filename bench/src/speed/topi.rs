//! The set `topi`: kernels of TVM's library TOPI as TVM writes them, through `llvm` beside TVM's
//! own code for this processor.
//!
//! Results are compared with TVM's, whose code is of the same text: at most a thousandth of the
//! largest value apart. Which of them the interpreter confirms, `tests/peers` says.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use chipdock_interpret::Arg;
use chipdock_ir::TypeCode;
use chipdock_test_backends::cases::{arguments, read_module, symbols};
use chipdock_test_backends::run;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::contender::{Contender, Kind, Ours};
use super::measure::{contest, described};
use super::report::{GOALS_OF, TVM};
use super::results::Results;
use super::run::{bar, fresh, store, write_all};
use super::session::Session;
use crate::Result;
use crate::contest::{Spread, paired, spread};
use crate::options::Options;

/// Goal of each kernel, and of the geometric mean of all: time of ours over TVM's.
pub const EACH: f64 = 1.05;
/// See [`EACH`].
pub const MEAN: f64 = 0.25;

/// A kernel that was measured, or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Nanoseconds per call of ours.
    pub ours: Option<Spread>,
    /// Nanoseconds per call of TVM's.
    pub tvm: Option<Spread>,
    /// Ratios ours / TVM's of the same rounds.
    pub ratio: Option<Spread>,
    /// Why it was not measured; empty if it was.
    pub failed: String,
}

impl Kernel {
    /// Returns the line that is printed once it was measured.
    #[must_use]
    pub fn line(&self) -> String {
        let (Some(ours), Some(tvm), Some(ratio)) = (self.ours, self.tvm, self.ratio) else {
            return format!("{:<20} failed: {:.300}", self.name, self.failed);
        };
        let shown = super::show::time;
        let verdict = if (ratio.median * 100.0).round() <= EACH * 100.0 { "" } else { "  not reached" };
        format!(
            "{:<20} {:>9} / {:>9} = {:.2} [{:.2} to {:.2}]{verdict}",
            self.name,
            shown(ours.median),
            shown(tvm.median),
            ratio.median,
            ratio.low,
            ratio.high
        )
    }
}

/// Returns the geometric mean of the ratios; `None` without any.
#[must_use]
pub fn mean(kernels: &[Kernel]) -> Option<f64> {
    let logs: Vec<f64> =
        kernels.iter().filter_map(|kernel| kernel.ratio.map(|ratio| ratio.median.ln())).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// Writes the kernels' part of a page.
pub fn section(page: &mut String, kernels: &[Kernel]) {
    let Some(mean) = mean(kernels) else { return };
    let within = kernels
        .iter()
        .filter(|kernel| kernel.ratio.is_some_and(|ratio| (ratio.median * 100.0).round() <= EACH * 100.0));
    let _ = writeln!(
        page,
        "\n{} kernels of TOPI as TVM writes them, one thread, time of `{GOALS_OF}` over that of TVM's `llvm` for this processor: \
         geometric mean {mean:.2} (goal ≤ {MEAN}), {} of at most {EACH} (goal: each).\n",
        kernels.len(),
        within.count()
    );
    let failed: Vec<&str> =
        kernels.iter().filter(|kernel| kernel.ratio.is_none()).map(|kernel| kernel.name.as_str()).collect();
    if !failed.is_empty() {
        let _ = writeln!(page, "Failed: {}.\n", failed.join(", "));
    }
    let mut slowest: Vec<(f64, &str)> = kernels
        .iter()
        .filter_map(|kernel| kernel.ratio.map(|ratio| (ratio.median, kernel.name.as_str())))
        .collect();
    slowest.sort_by(|one, other| other.0.total_cmp(&one.0));
    let slowest: Vec<String> =
        slowest.iter().take(SLOWEST).map(|(ratio, name)| format!("{name} {ratio:.2}")).collect();
    let _ = writeln!(page, "The slowest beside TVM: {}.", slowest.join(", "));
}

/// How many kernels a page names.
const SLOWEST: usize = 5;

/// Measures the selected kernels; returns the number of those that failed.
///
/// # Errors
///
/// TVM is not there, or the target is not.
pub fn bench(options: &Options) -> Result<usize> {
    let one = Options { threads: vec![1], targets: vec![GOALS_OF.to_owned()], ..options.clone() };
    let mut session = Session::open(&one)?;
    let answer = session.ask(0, 1, "topi", json!({}))?;
    let names: Vec<String> = answer["names"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .filter(|name| options.wants(name))
        .collect();
    let mut results = store(options, fresh(options, &mut session)?)?;
    let progress = bar(names.len());
    for name in names {
        if results.topi.iter().any(|kernel| kernel.name == name) {
            continue;
        }
        progress.set_message(name.clone());
        let kernel = measure(&mut session, &name, options.rounds).unwrap_or_else(|failed| Kernel {
            name,
            ours: None,
            tvm: None,
            ratio: None,
            failed,
        });
        // Not `ProgressBar::println`, which prints nothing where there is no terminal.
        progress.suspend(|| eprintln!("{}", kernel.line()));
        results.topi.push(kernel);
        results.write(&options.store)?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    finish(options, &results)
}

fn finish(options: &Options, results: &Results) -> Result<usize> {
    if options.json {
        println!("{}", super::run::to_json(results)?);
    } else if let Some(mean) = mean(&results.topi) {
        let worst = results.topi.iter().filter_map(|kernel| kernel.ratio.map(|ratio| ratio.median));
        println!(
            "{} kernels: geometric mean {mean:.2} (goal <= {MEAN}), largest {:.2} (goal <= {EACH})",
            results.topi.len(),
            worst.fold(0.0, f64::max)
        );
    }
    if options.bless {
        write_all(results)?;
    }
    Ok(results.topi.iter().filter(|kernel| kernel.ratio.is_none()).count())
}

fn measure(session: &mut Session, name: &str, rounds: usize) -> Result<Kernel> {
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let path = folder.path().join("kernel.py");
    session.ask(0, 1, "topi", json!({"name": name, "path": path}))?;
    let module = read_module(&path)?;
    let declared = module.function("main").ok_or("no function main")?;
    let arguments = arguments(declared, &symbols(&[]))?;
    let lane = session.lanes.first().ok_or("no host")?;
    let backend = lane.backends.first().ok_or("no backend")?;
    let function =
        run::build(&lane.host, backend, &module)?.function("main").map_err(|error| error.to_string())?;
    let ours = Ours { function, values: run::upload(backend, &arguments)? };
    run::call(&ours.function, &ours.values)?;
    let last = arguments.len().saturating_sub(1);
    let found = match ours.values.get(last) {
        Some(run::Value::Tensor(tensor)) => tensor.to_bytes().map_err(|error| error.to_string())?,
        _ => return Err("the last parameter is no tensor".to_owned()),
    };
    let described = described(&arguments, &ours.page_offsets(), folder.path())?;
    let request = json!({"path": path, "function": "main", "arguments": described, "contenders": [TVM],
                         "out": folder.path(), "outputs": [last], "speed": true});
    let answer = session.ask(0, 1, "prepare", request)?;
    if answer["ready"] != json!([TVM]) {
        return Err(format!("{TVM}: {}", answer["failed"]));
    }
    compare(&found, &folder.path().join(format!("{TVM}.{last}")), arguments.get(last))?;
    let contenders =
        [Contender::new(GOALS_OF, 1, Kind::Ours(Box::new(ours))), Contender::new(TVM, 1, Kind::Peer(0))];
    let times = contest(session, &contenders, rounds)?;
    let [ours, tvm] = times.as_slice() else { return Err("a contender is missing".to_owned()) };
    let ratio = spread(paired(&ours.ns, &tvm.ns));
    Ok(Kernel {
        name: name.to_owned(),
        ours: spread(ours.ns.clone()),
        tvm: spread(tvm.ns.clone()),
        ratio,
        failed: String::new(),
    })
}

fn compare(found: &[u8], path: &Path, argument: Option<&Arg>) -> Result<()> {
    let wanted = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let Some(Arg::Tensor(array)) = argument else { return Err("the last parameter is no tensor".to_owned()) };
    if found.len() != wanted.len() {
        return Err(format!("{} bytes, TVM's are {}", found.len(), wanted.len()));
    }
    if (array.dtype.code, array.dtype.bits) != (TypeCode::Float, 32) {
        return if found == wanted { Ok(()) } else { Err("the result is not TVM's".to_owned()) };
    }
    let floats = |bytes: &[u8]| -> Vec<f32> {
        bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    let (found, wanted) = (floats(found), floats(&wanted));
    let largest =
        wanted.iter().map(|value| value.abs()).filter(|value| value.is_finite()).fold(0.0, f32::max);
    let is_wrong = |(found, wanted): &(&f32, &f32)| {
        found.to_bits() != wanted.to_bits() && !(**found - **wanted).abs().le(&(1e-3 * largest))
    };
    match found.iter().zip(&wanted).enumerate().find(|(_, pair)| is_wrong(pair)) {
        None => Ok(()),
        Some((index, (found, wanted))) => Err(format!("element {index}: {found}, TVM has {wanted}")),
    }
}
