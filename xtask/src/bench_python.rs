//! The parts of the benchmark that are Python: scripts of `bench/`, run with the package over
//! freshly built files.

use std::path::PathBuf;
use std::process::Command;

use crate::commands::{Result, root, step, target_folder};
use crate::{plugins, python};

/// Topics: (name, script, the environment that it runs in).
const TOPICS: &[(&str, &str, Needs)] = &[
    ("python", "python.py", Needs::Tvm),
    ("tvm-compile", "tvm_compile.py", Needs::Tvm),
    ("ray", "ray_blocks.py", Needs::Ray),
];

#[derive(Clone, Copy)]
enum Needs {
    Tvm,
    Ray,
}

impl Needs {
    fn python(self) -> Result<PathBuf> {
        match self {
            Self::Tvm => python::environment(),
            Self::Ray => python::beside()
                .find(|(_, name, _)| *name == "ray")
                .map_or_else(|| Err("no environment of Ray".to_owned()), |(_, _, python)| python),
        }
    }
}

/// Returns true for the name of such a topic.
pub(crate) fn is_topic(name: &str) -> bool {
    TOPICS.iter().any(|(topic, ..)| *topic == name)
}

/// Runs the topics among the arguments, or all of them without one; other arguments go to each
/// script.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (topics, rest): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|one| is_topic(one));
    let built = plugins::build(true)?;
    let library = built.command.with_file_name("libchipdock.so");
    for (name, script, needs) in TOPICS {
        if !topics.is_empty() && !topics.iter().any(|topic| topic == name) {
            continue;
        }
        let mut command = Command::new(needs.python()?);
        command.arg(root().join("bench").join(script)).args(&rest).current_dir(target_folder());
        command.env("PYTHONPATH", root().join("python")).env("CHIPDOCK_LIBRARY", &library);
        step(&format!("bench {name}"), &mut command)?;
    }
    Ok(())
}
