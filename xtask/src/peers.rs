//! `cargo xtask bench --peers`: creates the Python environment of the peers, then runs the benchmark with freshly built
//! plugins.

use crate::commands::{Result, target_folder};
use crate::{plugins, python};

const PROGRAM: &str = "chipdock-bench-peers";

/// Runs the benchmark; `--help` is passed on to it.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        return plugins::run_alone(PROGRAM, arguments);
    }
    let python = python::with(&extras(arguments))?;
    let mut all = vec!["--python".to_owned(), python.display().to_string()];
    all.extend(["--store".to_owned(), target_folder().join("bench-peers.json").display().to_string()]);
    all.extend_from_slice(arguments);
    plugins::run_with_plugins(PROGRAM, &all)
}

/// Returns the names given to `--with`; the benchmark itself refuses unknown ones.
fn extras(arguments: &[String]) -> Vec<String> {
    let values = arguments.iter().zip(arguments.iter().skip(1)).filter(|(option, _)| *option == "--with");
    values.flat_map(|(_, list)| list.split(',').map(str::to_owned)).collect()
}
