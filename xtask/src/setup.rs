//! Dependencies of the tests besides Rust and a C compiler: installed on Debian, listed elsewhere.

use std::process::Command;

use crate::commands::{Result, cargo, output, step, target_folder};

/// Programs that the tests call: (program, arguments of a call that succeeds if it is installed,
/// Debian package, purpose).
const PROGRAMS: &[(&str, &str, &str, &str)] = &[
    ("cc", "--version", "gcc", "the target c"),
    ("g++", "--version", "g++", "chipdock.h as C++11"),
    (
        "g++",
        "-std=c++17 -fsyntax-only -include nlohmann/json.hpp -x c++ /dev/null",
        "nlohmann-json3-dev",
        "examples/wire-reader-cpp",
    ),
    ("aarch64-linux-gnu-gcc", "--version", "gcc-aarch64-linux-gnu", "chipdock.h for another machine"),
    (
        "aarch64-linux-gnu-gcc",
        "-fsyntax-only -include dlfcn.h -x c /dev/null",
        "libc6-dev-arm64-cross",
        "libraries exported for another machine",
    ),
    ("qemu-aarch64", "--version", "qemu-user", "running them"),
    ("setcap", "-h", "libcap2-bin", "the command with file capabilities"),
    ("nm", "--version", "binutils", "what a plugin exports"),
    ("clang++-19", "--version", "clang-19", "goldens of GPU dialects, compiled as C and C++"),
    (
        "chromium",
        "--version",
        "chromium",
        "the page of the conformance suite in a browser, and WGSL compiled and run by one",
    ),
    ("perf", "--version", "linux-perf", "names of code that target llvm loads"),
    ("gdb", "--version", "gdb", "the same"),
    (
        "spirv-val",
        "--version",
        "spirv-tools",
        "modules of the target vulkan, checked by their specification's tool",
    ),
    ("valgrind", "--version", "valgrind", "leaks and stray accesses of the value layer"),
];

/// Libraries that plugins open on first use: (file name, Debian package, purpose).
const LIBRARIES: &[(&str, &str, &str)] = &[
    ("libLLVM.so.19.1", "libllvm19", "the target llvm"),
    ("libOpenCL.so.1", "ocl-icd-libopencl1", "the target opencl"),
    ("libpocl.so.2", "pocl-opencl-icd", "an OpenCL device on machines that have no other"),
    ("libvulkan.so.1", "libvulkan1", "the target vulkan"),
    ("libvulkan_lvp.so", "mesa-vulkan-drivers", "a Vulkan device on machines that have no other: lavapipe"),
    (
        "libVkLayer_khronos_validation.so",
        "vulkan-validationlayers",
        "the target vulkan under its validation layer",
    ),
    ("libLLVM-15.so.1", "libllvm15", "the test that two LLVMs in one process do not meet"),
    ("libLLVM-14.so.1", "libllvm14", "the same, with a third"),
];

/// Subcommands of cargo that the tests need: (subcommand, crate).
const CARGO_TOOLS: &[(&str, &str)] = &[("nextest", "cargo-nextest"), ("deny", "cargo-deny")];

/// A missing Debian package, the program or library that requires it, and its purpose.
struct Missing {
    package: &'static str,
    asked: &'static str,
    reason: &'static str,
}

fn missing() -> Vec<Missing> {
    let is_there =
        |program: &str, arguments: &str| output(program, &arguments.split(' ').collect::<Vec<_>>()).is_some();
    let programs = PROGRAMS.iter().filter(|(program, arguments, ..)| !is_there(program, arguments));
    let programs = programs.map(|(program, _, package, reason)| Missing { package, asked: program, reason });
    // The linker's list of libraries; `ldconfig` is not on every user's PATH.
    let known = output("ldconfig", &["-p"]).or_else(|| output("/sbin/ldconfig", &["-p"])).unwrap_or_default();
    let libraries = LIBRARIES.iter().filter(|(file, ..)| !known.contains(file));
    programs
        .chain(libraries.map(|(file, package, reason)| Missing { package, asked: file, reason }))
        .collect()
}

/// Returns true if Debian packages can be installed here.
pub(crate) fn is_debian() -> bool {
    output("apt-get", &["--version"]).is_some()
}

/// Disk space of a complete build from nothing, rounded up.
const SIZE_GIB: u64 = 10;

/// Warns if the disk may be too small, because the error of a linker on a full disk is hard to
/// understand.
fn look_at_disk() {
    let folder = target_folder();
    if folder.join("debug/deps").exists() {
        return;
    }
    if let Some(free_gib) = free_gib().filter(|free| *free < SIZE_GIB) {
        eprintln!(
            "warning: {} has {free_gib} GiB free, and what is built takes up to {SIZE_GIB}; CARGO_TARGET_DIR names \
             another place",
            folder.display()
        );
    }
}

/// Returns the free space of the target folder's disk, or `None` if `df` does not report it.
pub(crate) fn free_gib() -> Option<u64> {
    let folder = target_folder();
    let there = folder.ancestors().find(|folder| folder.exists())?;
    let lines = output("df", &["-Pk", &there.to_string_lossy()])?;
    let free_kib: u64 = lines.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    Some(free_kib >> 20)
}

/// Installs missing dependencies, or lists them where they cannot be installed.
pub(crate) fn run() -> Result<()> {
    look_at_disk();
    let missing = missing();
    if !missing.is_empty() {
        let packages: Vec<&str> = missing.iter().map(|missing| missing.package).collect();
        for Missing { package, asked, reason } in &missing {
            eprintln!("missing: Debian's package {package} (`{asked}` asks for it), for {reason}");
        }
        if !is_debian() {
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
            // A program that runs for seconds is not worth minutes of optimisation.
            install.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
            install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
            step(&format!("cargo install {package}"), install.args(["install", "--locked", package]))?;
        }
    }
    Ok(())
}
