//! Arguments of `cargo xtask bench --peers`.

use std::path::PathBuf;

use crate::Result;

/// Text of `--help`.
pub const HELP: &str = "\
Kernels through Chipdock and its peers, contenders visited in turn: medians of paired ratios.

Usage: cargo xtask bench --peers [OPTIONS]

Options:
  --set NAME        what is measured [default: speed]:
                    speed     unscheduled kernels (bench/kernels) beside numpy, torch, TVM and the machine's limits
                    examples  the example kernels beside TVM and numpy
                    topi      48 kernels of TVM's library TOPI beside TVM's own code for this processor
  --filter NAME     only rows, kernels and figures whose name holds NAME; may be given several times
  --threads LIST    how many threads [default: 1,2]
  --targets LIST    target kinds of the set speed; goals are of llvm [default: llvm,c]
  --with LIST       further peers, installed when asked: torch, onnxruntime; torch takes part in the set speed where it is
                    installed
  --rounds N        rounds of each contest [default: 21]
  --resume          keep what an earlier run of the same plugins has measured, and measure the rest
  --bless           write the results: of speed and topi into bench/results and the guide's page cpu-speed.md, of examples
                    into the README of the plugin whose goals these are; needs every row, and a reason for each that did not
                    reach its goals
  --json            the results as JSON (schemas chipdock.bench.speed/1 and chipdock.bench.peers/1)

Examples:
  cargo xtask bench --peers
  cargo xtask bench --peers --filter matmul --filter conv2d --targets llvm --rounds 7
  cargo xtask bench --peers --filter softmax --threads 1 --json
  cargo xtask bench --peers --set topi --filter conv
  cargo xtask bench --peers --set examples --with torch,onnxruntime --json
  cargo xtask bench --peers --bless             # measure all, then write the results; refused without reasons
  cargo xtask bench --peers --resume --bless    # the reasons are there now: write what was measured

Times are compared within one run only. Real TVM and numpy are installed into a virtual environment in cargo's target
folder; torch into one of its own (4 GB), unless CHIPDOCK_TORCH_PYTHON names a Python that has it.";

/// Arguments from `cargo xtask` and from the user.
#[derive(Clone, Debug, PartialEq)]
pub struct PeersOptions {
    /// The folder with the plugins.
    pub plugins: PathBuf,
    /// Path of the Python that has the peers installed.
    pub python: PathBuf,
    /// Path of the Python that has torch, if there is one.
    pub torch_python: Option<PathBuf>,
    /// What is measured.
    pub set: Set,
    /// Target kinds of the set `speed`.
    pub targets: Vec<String>,
    /// Path of the saved report.
    pub store: PathBuf,
    /// Whether to print JSON instead of tables.
    pub json: bool,
    /// Filters: only names that contain one of them are measured; all if empty.
    pub filters: Vec<String>,
    /// Numbers of threads; each is a run of its own.
    pub threads: Vec<usize>,
    /// Peers besides TVM and numpy.
    pub with: Vec<String>,
    /// Rounds of each contest.
    pub rounds: usize,
    /// Whether to continue an earlier report.
    pub resume: bool,
    /// Whether to write the table into the README.
    pub bless: bool,
    /// Whether to print only the help.
    pub help: bool,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Unscheduled kernels beside the fastest libraries and the machine's limits.
    Speed,
    /// The example kernels, and figures besides kernels, beside TVM.
    Examples,
    /// Kernels of TOPI beside TVM.
    Topi,
}

/// Peers that are installed on request.
pub const EXTRAS: &[&str] = &["torch", "onnxruntime"];

impl PeersOptions {
    /// Reads arguments.
    ///
    /// # Errors
    ///
    /// An option is unknown, or its value is not valid.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut options = Self {
            plugins: PathBuf::new(),
            python: PathBuf::new(),
            torch_python: None,
            set: Set::Speed,
            targets: vec!["llvm".to_owned(), "c".to_owned()],
            store: PathBuf::new(),
            json: false,
            filters: Vec::new(),
            threads: vec![1, 2],
            with: Vec::new(),
            rounds: 21,
            resume: false,
            bless: false,
            help: false,
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} takes a value"));
            match argument.as_str() {
                "--peers" => {}
                "--plugins" => options.plugins = value()?.into(),
                "--command" => drop(value()?),
                "--python" => options.python = value()?.into(),
                "--torch-python" => options.torch_python = Some(value()?.into()),
                "--set" => options.set = set(&value()?)?,
                "--targets" => options.targets = value()?.split(',').map(str::to_owned).collect(),
                "--store" => options.store = value()?.into(),
                "--json" => options.json = true,
                "--filter" => options.filters.push(value()?),
                "--threads" => options.threads = threads(&value()?)?,
                "--with" => options.with = extras(&value()?)?,
                "--rounds" => options.rounds = count(&value()?)?,
                "--resume" => options.resume = true,
                "--bless" => options.bless = true,
                "-h" | "--help" => options.help = true,
                unknown => return Err(format!("unknown argument {unknown}\n\n{HELP}")),
            }
        }
        let store = match options.set {
            Set::Examples => None,
            Set::Speed => Some("bench-speed.json"),
            Set::Topi => Some("bench-topi.json"),
        };
        options.store =
            store.map_or_else(|| options.store.clone(), |name| options.store.with_file_name(name));
        if options.bless && !options.filters.is_empty() {
            return Err("--bless writes the whole table: leave --filter out".to_owned());
        }
        Ok(options)
    }

    /// Returns true if the measurement of that name is selected.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter.as_str()))
    }
}

fn set(text: &str) -> Result<Set> {
    match text {
        "speed" => Ok(Set::Speed),
        "examples" => Ok(Set::Examples),
        "topi" => Ok(Set::Topi),
        _ => Err(format!("no set is called `{text}`; known: speed, examples, topi")),
    }
}

fn count(text: &str) -> Result<usize> {
    match text.parse() {
        Ok(count @ 1..=1000) => Ok(count),
        _ => Err(format!("{text}: expected a number from 1 to 1000")),
    }
}

fn threads(text: &str) -> Result<Vec<usize>> {
    let mut all = text.split(',').map(count).collect::<Result<Vec<_>>>()?;
    all.dedup();
    Ok(all)
}

fn extras(text: &str) -> Result<Vec<String>> {
    let known = |name: &str| {
        if EXTRAS.contains(&name) {
            Ok(name.to_owned())
        } else {
            Err(format!("no peer is called `{name}`; known: {}", EXTRAS.join(", ")))
        }
    };
    text.split(',').map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<PeersOptions> {
        PeersOptions::parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn lists_are_separated_by_commas() {
        let options =
            parse("--peers --threads 1,4 --with torch,onnxruntime --filter soft --filter norm --rounds 5");
        assert!(options.is_ok_and(|options| {
            options.threads == [1, 4]
                && options.with == ["torch", "onnxruntime"]
                && options.rounds == 5
                && options.wants("softmax")
                && !options.wants("matmul")
        }));
    }

    #[test]
    fn unknown_words_are_refused() {
        for wrong in [
            "--threads 0",
            "--threads 1,x",
            "--with jax",
            "--rounds",
            "--rounds 0",
            "--fast",
            "--bless --filter a",
            "--set all",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    /// Help shows no option that is refused.
    #[test]
    fn the_examples_of_help_are_understood() {
        let examples: Vec<&str> =
            HELP.lines().filter_map(|line| line.trim().strip_prefix("cargo xtask bench ")).collect();
        assert_eq!(examples.len(), 7);
        for example in examples {
            let text = example.split('#').next().unwrap_or_default();
            assert!(parse(text).is_ok(), "{example}");
        }
    }
}
