//! The program that `cargo xtask carry` packs: it tests Chipdock on a machine with the hardware, in one run and with one
//! report.
//!
//! It needs no network, no Rust and no Python. Each step is a process of its own with a deadline, so that a driver that hangs
//! or ends a process takes one step and not the report.

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

/// What the command line says.
#[derive(Debug)]
pub(crate) struct Options {
    /// The folder that was unpacked.
    pub(crate) root: PathBuf,
    /// Target kinds; empty: every kind of a device.
    pub(crate) kinds: Vec<String>,
    /// Steps; empty: all.
    pub(crate) steps: Vec<String>,
    /// The report.
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
