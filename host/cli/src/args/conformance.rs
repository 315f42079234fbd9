//! Arguments of `chipdock conformance`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::GlobalArgs;

/// The level up to which the suite runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelArg {
    /// It can be inspected, opened and queried.
    Loadable,
    /// Loadable, and its devices.
    Device,
    /// Loadable, and its target kinds, code generators and loaders.
    Codegen,
    /// Everything that it registers.
    #[default]
    Full,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = "\
Each case runs in a supervised process; nothing that a plugin prints, breaks or leaves behind reaches a report. \
A plugin's claims, and the cases that it is known not to pass, are in NAME.expectations.toml beside NAME.so.

Examples:
  chipdock conformance libnpu.so
  chipdock conformance libnpu.so --level device --html report.html
  chipdock conformance libnpu.so --filter 'copy/*' --filter 'memory/*@npu'
  chipdock conformance libnpu.so --card conformance.card.json --junit junit.xml
  chipdock conformance --list                                  the number of cases, by group
  chipdock conformance libnpu.so --list --filter 'op/exp/*'    those that apply to this plugin
  chipdock conformance --coverage                              the number of cases for each clause
  chipdock conformance verify conformance.card.json libnpu.so
  chipdock conformance compare old.card.json conformance.card.json

Exit codes: 0 all as expected; 1 a failure; 2 wrong usage or input; 3 the plugin was refused; 4 no device, and nothing \
beyond the level loadable could run; 5 a crash or a hang; 6 a stale expectation or claim; 7 the suite's \
own fault. If several apply, the first of 7, 2, 3, 5, 1, 6, 4. A library with the name verify or compare is given as ./verify.

Schemas of --json: chipdock.conformance/1; chipdock.conformance-list/1, -coverage/1 and -repro/1 of those options.")]
pub(crate) struct ConformanceArgs {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
    /// The plugin's library.
    #[arg(value_name = "PLUGIN.so")]
    pub(crate) library: Option<PathBuf>,
    /// Run nothing: print the number of cases, by group and level; with a plugin, those that apply
    /// to it, and why the others do not; with --filter, each matching case.
    #[arg(long, conflicts_with = "coverage")]
    pub(crate) list: bool,
    /// Run nothing: print the number of cases for each clause of the contract, and who checks those
    /// without a case.
    #[arg(long)]
    pub(crate) coverage: bool,
    /// The level up to which to run.
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LevelArg::Full)]
    pub(crate) level: LevelArg,
    /// Run only cases whose id matches. May be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) filter: Vec<String>,
    /// The plugin's claims and expected failures. [default: NAME.expectations.toml beside NAME.so,
    /// if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) expectations: Option<PathBuf>,
    /// The seed of the first random program.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// The number of random programs.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub(crate) programs: u64,
    /// Run only the random program in this file, written by an earlier run, in this process: for a
    /// debugger.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "coverage"])]
    pub(crate) repro: Option<PathBuf>,
    /// The number of cases that run at once, each in a separate process. [default: one for each
    /// processor, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,
    /// Multiplies every deadline, for a slow machine.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = patience, allow_negative_numbers = true)]
    pub(crate) patience: f64,
    /// Do not run failed cases again alone; flaky and order-dependent cases are then reported as
    /// failures.
    #[arg(long)]
    pub(crate) no_again: bool,
    /// Write the report as JSON (schema chipdock.conformance/1).
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) report_json: Option<PathBuf>,
    /// Write the report as JUnit's XML.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) junit: Option<PathBuf>,
    /// Write the report as one page for a browser.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) html: Option<PathBuf>,
    /// Write the card: plugin, digest, device, levels, counts; as conformance.card.json (schema
    /// chipdock.conformance-card/1).
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) card: Option<PathBuf>,
    /// Write failing random programs, reduced, into this folder.
    #[arg(long, value_name = "FOLDER", default_value = ".", help_heading = "Reports")]
    pub(crate) repro_folder: PathBuf,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

impl ConformanceArgs {
    /// Returns the options of every command that came after its name, or after that of its action.
    pub(crate) fn global(&self) -> &GlobalArgs {
        match &self.action {
            None => &self.global,
            Some(Action::Verify(args)) => &args.global,
            Some(Action::Compare(args)) => &args.global,
        }
    }
}

/// Actions other than a run.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Check a card against its plugin.
    Verify(VerifyArgs),
    /// Show two cards side by side.
    Compare(CompareArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Nothing of the suite is run: what is held is that the card is about this very file, that the suite that it names has these \
cases, and that it does not contradict itself.

Examples:
  chipdock conformance verify conformance.card.json libnpu.so

Exit codes: 0 it is about this plugin and whole; 1 a check failed; 2 it cannot be read. Schema of --json: chipdock.conformance-verify/1.")]
pub(crate) struct VerifyArgs {
    /// The card.
    pub(crate) card: PathBuf,
    /// The plugin's library.
    #[arg(value_name = "PLUGIN.so")]
    pub(crate) library: PathBuf,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  chipdock conformance compare old.card.json new.card.json
  chipdock conformance compare mine.card.json theirs.card.json --json

Exits with 0 also where they differ. Schema of --json: chipdock.conformance-compare/1.")]
pub(crate) struct CompareArgs {
    /// One card.
    #[arg(value_name = "CARD")]
    pub(crate) left: PathBuf,
    /// The other.
    #[arg(value_name = "CARD")]
    pub(crate) right: PathBuf,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ConformanceWorkerArgs {
    /// The job.
    pub(crate) job: PathBuf,
}

fn patience(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.1..=1000.0).contains(&value) => Ok(value),
        _ => Err("expected a number from 0.1 to 1000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    fn parsed(words: &str) -> ConformanceArgs {
        match Cli::try_parse_from(words.split(' ')).unwrap().command {
            Command::Conformance(args) => *args,
            other => panic!("expected conformance, found {other:?}"),
        }
    }

    #[test]
    fn an_action_is_distinguished_from_a_plugin() {
        let args = parsed("chipdock conformance verify.so --list");
        assert!(args.action.is_none() && args.list);
        assert_eq!(parsed("chipdock conformance ./verify").library, Some(PathBuf::from("./verify")));
        let args = parsed("chipdock conformance compare a b --json");
        assert!(matches!(args.action, Some(Action::Compare(_))) && args.global().json);
        assert!(Cli::try_parse_from(["chipdock", "conformance", "--list", "verify", "a", "b"]).is_err());
    }

    #[test]
    fn patience_is_a_sensible_number() {
        for text in ["0", "-1", "NaN", "inf", "much", "1e9"] {
            assert!(patience(text).is_err(), "{text}");
        }
        assert_eq!(patience("2.5"), Ok(2.5));
    }
}
