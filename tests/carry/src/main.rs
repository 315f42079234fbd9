//! The program that `cargo xtask carry` packs: runs all tests and measurements on a machine with
//! the hardware, in one run with one report.
//!
//! It needs no network, no Rust and no Python. Each step is a separate process with a deadline, so
//! that a driver that hangs or ends its process loses one step and not the report.

mod judge;
mod report;
mod steps;

use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
Runs the corpus, the device tests, the conformance suite and the benchmark on the devices of this machine, and writes one
report.

Usage: ./run.sh [OPTIONS]

Options:
  --kinds A,B       only these target kinds; default: every kind whose code runs on a device
  --steps A,B       only these steps: plugins, devices, targets, corpus, tests, conformance, bench
  --report FILE     where to write the report [default: report.json]
  -h, --help        print this";

/// Options of the command line.
#[derive(Debug)]
pub(crate) struct Options {
    /// Folder into which the archive was unpacked.
    pub(crate) root: PathBuf,
    /// Selected target kinds; empty for every kind that is a device's.
    pub(crate) kinds: Vec<String>,
    /// Selected steps; empty for all.
    pub(crate) steps: Vec<String>,
    /// Path of the report.
    pub(crate) report: PathBuf,
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let root = program.ancestors().nth(2).ok_or("the program lies in no folder")?.to_path_buf();
    let report = PathBuf::from("report.json");
    let mut options = Options { root, kinds: Vec::new(), steps: Vec::new(), report };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} takes a value"));
        let list = |text: String| text.split(',').map(str::to_owned).collect();
        match argument.as_str() {
            "--kinds" => options.kinds = list(value()?),
            "--steps" => options.steps = list(value()?),
            "--report" => options.report = value()?.into(),
            "-h" | "--help" => return Err(HELP.to_owned()),
            unknown => return Err(format!("unknown argument {unknown}\n\n{HELP}")),
        }
    }
    let known = ["plugins", "devices", "targets", "corpus", "tests", "conformance", "bench"];
    if let Some(unknown) = options.steps.iter().find(|step| !known.contains(&step.as_str())) {
        return Err(format!("no step is called {unknown}; expected {}", known.join(", ")));
    }
    Ok(options)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, root, kind] = arguments.as_slice()
        && flag == judge::FLAG
    {
        return judge::run(root.as_ref(), kind);
    }
    let options = match options(arguments.into_iter()) {
        Ok(options) => options,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(if text == HELP { 0 } else { 2 });
        }
    };
    match steps::run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
