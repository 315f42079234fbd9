//! `cargo xtask bench --peers`: makes the peers' environment, then runs the program over freshly built plugins.

use crate::commands::{Result, target_folder};
use crate::{plugins, python};

const PROGRAM: &str = "chipdock-bench-peers";

/// Runs the program, which documents its own options.
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

/// Returns the names of `--with`; the program refuses unknown ones.
fn extras(arguments: &[String]) -> Vec<String> {
    let values = arguments.iter().zip(arguments.iter().skip(1)).filter(|(option, _)| *option == "--with");
    values.flat_map(|(_, list)| list.split(',').map(str::to_owned)).collect()
}
