//! `cargo xtask bench --peers`: creates the Python environment of the peers, then runs the
//! benchmark with freshly built plugins.

use crate::commands::{Result, target_folder};
use crate::{plugins, python};

/// Runs the benchmark; `--help` is passed on to it.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        return plugins::run_bench_alone(arguments);
    }
    let extras = extras(arguments);
    if extras.iter().any(|extra| extra == "torch") {
        python::fetch_torch()?;
    }
    let python = python::with(&extras)?;
    let mut all = vec!["--python".to_owned(), python.display().to_string()];
    all.extend(["--store".to_owned(), target_folder().join("bench-examples.json").display().to_string()]);
    if let Some(python) = python::with_torch() {
        all.extend(["--torch-python".to_owned(), python.display().to_string()]);
    }
    all.extend_from_slice(arguments);
    plugins::run_bench(&all)
}

/// Returns the names given to `--with`; the benchmark itself refuses unknown ones.
fn extras(arguments: &[String]) -> Vec<String> {
    let values = arguments.iter().zip(arguments.iter().skip(1)).filter(|(option, _)| *option == "--with");
    values.flat_map(|(_, list)| list.split(',').map(str::to_owned)).collect()
}

/// Runs the benchmark without peers; its topic `export` gets the Pythons that are there.
pub(crate) fn run_without(arguments: &[String]) -> Result<()> {
    let filters: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let mut all = Vec::new();
    if filters.is_empty() || filters.iter().any(|filter| "export".contains(filter.as_str())) {
        match python::environment() {
            Ok(python) => all.extend(["--python".to_owned(), python.display().to_string()]),
            Err(why) => eprintln!("not here: a Python with numpy and TVM: {why}"),
        }
        if let Some(python) = python::with_torch() {
            all.extend(["--torch-python".to_owned(), python.display().to_string()]);
        }
    }
    all.extend_from_slice(arguments);
    plugins::run_bench(&all)
}
