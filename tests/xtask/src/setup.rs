//! What the tests need besides Rust and a C compiler: installed on Debian, named elsewhere.

use std::process::Command;

use crate::commands::{Result, cargo, output, step};

/// What the tests call: (program, arguments by which it says that it is there, Debian's package, what for).
const PROGRAMS: &[(&str, &str, &str, &str)] = &[
    ("cc", "--version", "gcc", "the target c"),
    ("g++", "--version", "g++", "chipdock.h as C++11"),
    (
        "g++",
        "-std=c++17 -fsyntax-only -include nlohmann/json.hpp -x c++ /dev/null",
        "nlohmann-json3-dev",
        "examples/wire-reader-cpp",
    ),
    ("nm", "--version", "binutils", "what a plugin exports"),
    ("valgrind", "--version", "valgrind", "leaks and stray accesses of the value layer"),
];

/// Cargo's own helpers: (subcommand, crate).
const CARGO_TOOLS: &[(&str, &str)] = &[("nextest", "cargo-nextest"), ("deny", "cargo-deny")];

/// Installs what is missing, or says what is.
pub(crate) fn run() -> Result<()> {
    let is_there =
        |program: &str, arguments: &str| output(program, &arguments.split(' ').collect::<Vec<_>>()).is_some();
    let missing: Vec<_> =
        PROGRAMS.iter().filter(|(program, arguments, ..)| !is_there(program, arguments)).collect();
    if !missing.is_empty() {
        let packages: Vec<&str> = missing.iter().map(|(_, _, package, _)| *package).collect();
        for (program, _, package, reason) in &missing {
            eprintln!("missing: Debian's package {package} (`{program}` asks for it), for {reason}");
        }
        if output("apt-get", &["--version"]).is_none() {
            return Err(format!("install these and try again: {}", packages.join(", ")));
        }
        let mut update = Command::new("apt-get");
        step("apt-get update", update.args(["update", "--quiet"]))?;
        let mut install = Command::new("apt-get");
        install.args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(&packages);
        step(
            &format!("apt-get install {}", packages.join(" ")),
            install.env("DEBIAN_FRONTEND", "noninteractive"),
        )?;
    }
    for (subcommand, package) in CARGO_TOOLS {
        let mut version = cargo();
        let there =
            version.args([subcommand, "--version"]).output().is_ok_and(|output| output.status.success());
        if !there {
            let mut install = cargo();
            step(&format!("cargo install {package}"), install.args(["install", "--locked", package]))?;
        }
    }
    Ok(())
}
