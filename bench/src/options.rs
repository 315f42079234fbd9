//! Arguments of the program `chipdock-bench`.

use std::path::PathBuf;

use super::Result;

/// Text of `--peers --help`.
pub const HELP: &str = "\
Kernels through Chipdock and its peers, contenders visited in turn: medians of paired ratios.

Usage: cargo xtask bench --peers [OPTIONS]

Options:
  --set NAME        what is measured [default: speed]:
                    speed     unscheduled kernels (bench/kernels) against numpy, torch, TVM and the machine's limits
                    examples  the example kernels against TVM and numpy
                    topi      48 kernels of TVM's library TOPI against TVM's own code for this processor
  --filter NAME     only rows, kernels and figures whose name holds NAME; may be given several times
  --threads LIST    how many threads [default: 1,2]
  --targets LIST    target kinds; goals are of llvm [default: llvm,c; of the set examples all that are here]
  --with LIST       further peers, installed when asked: torch, onnxruntime; torch takes part in the set speed where it is
                    installed
  --rounds N        rounds of each contest [default: 21]
  --resume          keep what an earlier run of the same plugins has measured, and measure the rest
  --bless           write the results: of speed and topi into bench/results and the guide's page cpu-speed.md, of examples
                    into the README of the plugin whose goals these are; needs every row, and a reason for each that did not
                    reach its goals
  --json            the results as JSON (schema chipdock.bench.speed/1)

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
pub struct Options {
    /// Whether kernels are compared with peers ([`crate::speed`]); the options from `set` on are
    /// of that.
    pub peers: bool,
    /// The folder with the plugins.
    pub plugins: PathBuf,
    /// The command `chipdock`.
    pub command: PathBuf,
    /// A Python with numpy, TVM and tvm_ffi.
    pub python: Option<PathBuf>,
    /// A Python with torch.
    pub torch_python: Option<PathBuf>,
    /// Whether to print JSON instead of tables.
    pub json: bool,
    /// Filters: only names that contain one of them are measured; all if empty.
    pub filters: Vec<String>,
    /// What is measured.
    pub set: Set,
    /// Target kinds that are measured; every one that is here if empty.
    pub targets: Vec<String>,
    /// Path of the saved results.
    pub store: PathBuf,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// Peers that take part only when they are asked for.
    pub with: Vec<String>,
    /// Rounds of each contest.
    pub rounds: usize,
    /// Whether to continue an earlier run.
    pub resume: bool,
    /// Whether to write the results into the tree.
    pub bless: bool,
    /// Whether to print only the help.
    pub help: bool,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Unscheduled kernels, compared with the fastest libraries and the machine's limits.
    Speed,
    /// The example kernels and a few figures, compared with TVM.
    Examples,
    /// Kernels of TOPI, compared with TVM.
    Topi,
}

/// Peers that are installed on request.
pub const EXTRAS: &[&str] = &["torch", "onnxruntime"];

impl Options {
    /// Reads arguments.
    ///
    /// # Errors
    ///
    /// An option is unknown, or its value is not valid.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self> {
        let arguments: Vec<String> = arguments.into_iter().collect();
        let mut options = Self {
            peers: arguments.iter().any(|argument| argument == "--peers"),
            plugins: PathBuf::new(),
            command: PathBuf::new(),
            python: None,
            torch_python: None,
            json: false,
            filters: Vec::new(),
            set: Set::Speed,
            targets: Vec::new(),
            store: PathBuf::new(),
            threads: vec![1, 2],
            with: Vec::new(),
            rounds: 21,
            resume: false,
            bless: false,
            help: false,
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            options.read(argument, &mut arguments)?;
        }
        if options.set != Set::Examples {
            if options.targets.is_empty() {
                options.targets = vec!["llvm".to_owned(), "c".to_owned()];
            }
            let name = if options.set == Set::Topi { "bench-topi.json" } else { "bench-speed.json" };
            options.store.set_file_name(name);
        }
        if options.bless && !options.filters.is_empty() {
            return Err("--bless writes the whole table: leave --filter out".to_owned());
        }
        Ok(options)
    }

    /// Reads an argument, with its value if it takes one.
    fn read(&mut self, argument: String, rest: &mut impl Iterator<Item = String>) -> Result<()> {
        let peers = self.peers;
        let mut value = || rest.next().ok_or(format!("{argument} takes a value"));
        match argument.as_str() {
            "--peers" => {}
            "--plugins" => self.plugins = value()?.into(),
            "--command" => self.command = value()?.into(),
            "--python" => self.python = Some(value()?.into()),
            "--torch-python" => self.torch_python = Some(value()?.into()),
            "--json" => self.json = true,
            "--set" if peers => self.set = set(&value()?)?,
            "--targets" if peers => self.targets = value()?.split(',').map(str::to_owned).collect(),
            "--store" if peers => self.store = value()?.into(),
            "--filter" if peers => self.filters.push(value()?),
            "--threads" if peers => self.threads = threads(&value()?)?,
            "--with" if peers => self.with = extras(&value()?)?,
            "--rounds" if peers => self.rounds = count(&value()?)?,
            "--resume" if peers => self.resume = true,
            "--bless" if peers => self.bless = true,
            "-h" | "--help" if peers => self.help = true,
            unknown if peers => return Err(format!("unknown argument {unknown}\n\n{HELP}")),
            unknown if unknown.starts_with('-') => {
                return Err(format!("unknown option {unknown}; known: --json, --peers"));
            }
            _ => self.filters.push(argument),
        }
        Ok(())
    }

    /// Checks that each filter matches a name.
    ///
    /// # Errors
    ///
    /// A filter matches no name.
    pub fn check_filters(&self, names: &[&str]) -> Result<()> {
        let unknown = self.filters.iter().find(|filter| !names.iter().any(|name| name.contains(*filter)));
        unknown.map_or(Ok(()), |filter| {
            Err(format!("nothing is called `{filter}`; known: {}", names.join(", ")))
        })
    }

    /// Returns true if a case of that name is selected.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter))
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

    fn parse(text: &str) -> Result<Options> {
        Options::parse(text.split_whitespace().map(str::to_owned))
    }

    fn parse_peers(text: &str) -> Result<Options> {
        parse(&format!("--peers {text}"))
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
            "softmax",
        ] {
            assert!(parse_peers(wrong).is_err(), "{wrong}");
        }
        assert!(parse("--rounds 3").is_err(), "an option of --peers alone");
        assert!(parse("--fast").is_err());
    }

    #[test]
    fn topics_are_filters_without_peers() {
        let options = parse("--json launch copy").expect("understood");
        assert!(options.json && !options.peers && options.filters == ["launch", "copy"]);
        assert!(options.wants("copy") && !options.wants("pool"));
        assert_eq!(options.check_filters(&["launch", "copy", "pool"]), Ok(()));
        assert!(options.check_filters(&["launch", "pool"]).is_err_and(|why| why.contains("`copy`")));
    }

    #[test]
    fn each_set_has_its_targets_and_its_file() {
        let of = |set: &str| {
            let options = parse(&format!("--peers --store target/x.json --set {set}")).expect("understood");
            (options.targets, options.store)
        };
        let both = vec!["llvm".to_owned(), "c".to_owned()];
        assert_eq!(of("speed"), (both.clone(), "target/bench-speed.json".into()));
        assert_eq!(of("topi"), (both, "target/bench-topi.json".into()));
        assert_eq!(of("examples"), (Vec::new(), "target/x.json".into()), "every target that is here");
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
