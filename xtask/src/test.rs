//! Runs every check and every test; the summary of the test runner comes last.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::commands::{Result, cargo, root, step, target_folder};
use crate::{matrix, plugins, python, releases, setup, wheel, wheels};

/// Variable of proptest that sets the seed of property tests.
const RANDOM_SEED: &str = "PROPTEST_RNG_SEED";

/// Variable that makes tests run completely that otherwise run a sample.
const ALL: &str = "CHIPDOCK_TEST_ALL";

/// Free disk space below which failed tests may have failed because of a full disk.
const FREE_GIB_MIN: u64 = 2;

/// Runs everything; with a filter, only the tests whose names contain it; with `--all`, no test is limited to a sample.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_whole = arguments.iter().any(|argument| argument == "--all");
    let arguments: Vec<&String> = arguments.iter().filter(|argument| *argument != "--all").collect();
    setup::run()?;
    if arguments.is_empty() {
        checks()?;
    }
    let built = plugins::build_with_tests()?;
    let skipped = target_folder().join("skipped.txt");
    let _ = fs::remove_file(&skipped);
    let mut tests = cargo();
    if is_whole {
        python::fetch_torch().unwrap_or_else(|why| eprintln!("no torch: {why}"));
    }
    python_environments(&mut tests, &built, &skipped);
    device_environment(&mut tests)?;
    tests.args(["nextest", "run", "--workspace", "--no-fail-fast"]).args(arguments);
    tests.env("CHIPDOCK_TEST_PLUGINS", &built.folder).env("CHIPDOCK_TEST_COMMAND", &built.command);
    tests.env("CHIPDOCK_TEST_LIBRARIES", target_folder().join("debug"));
    // The user's own settings must not reach the hosts of the tests.
    tests.env("XDG_CONFIG_HOME", target_folder().join("no-settings"));
    // Everything that plugins need was installed, so a missing backend is a failure, not a skip.
    tests.env("CHIPDOCK_SKIP_LOG", &skipped).env("CHIPDOCK_TEST_SETUP", "done");
    // Random inputs are the same in every complete run, so that a failure is due to a change alone; set another seed to
    // search further.
    if std::env::var_os(RANDOM_SEED).is_none() {
        tests.env(RANDOM_SEED, "20261121");
    }
    if is_whole {
        tests.env(ALL, "1");
    }
    let result = step("tests", &mut tests);
    if let Ok(lines) = fs::read_to_string(&skipped) {
        eprintln!("skipped, and why:\n{lines}");
    }
    // Compilers, drivers and copies report a full disk each in their own words.
    if let Some(free_gib) = setup::free_gib().filter(|free| result.is_err() && *free < FREE_GIB_MIN) {
        eprintln!("the disk has {free_gib} GiB free: what failed may have failed for that");
    }
    result
}

/// Sets the environment variables that tests in Python read; without an environment, says which tests are skipped.
fn python_environments(tests: &mut Command, built: &plugins::Built, skipped: &Path) {
    let say = |what: &str, why: &str| {
        eprintln!("{what}: {why}");
        let log = fs::OpenOptions::new().create(true).append(true).open(skipped);
        let _ = log.and_then(|mut log| writeln!(log, "  {what}, so that their tests are skipped: {why}"));
    };
    match python::environment() {
        Ok(path) => drop(tests.env(python::VARIABLE, path)),
        Err(why) => say("no Python with numpy and TVM", &why),
    }
    match releases::environment() {
        Ok(variables) => {
            package(tests, built, &variables[0].1)
                .unwrap_or_else(|why| say("no wheel of the Python package", &why));
            tests.envs(variables);
        }
        Err(why) => say("no releases of apache-tvm-ffi", &why),
    }
    if let Some(python) = python::with_torch() {
        tests.env(python::TORCH, python);
    }
}

/// Builds the wheel of the Python package and what it is tested with, and sets the variables by which its tests find them.
fn package(tests: &mut Command, built: &plugins::Built, python: &Path) -> Result<()> {
    let folder = built.folder.parent().unwrap_or(&built.folder);
    tests.envs(wheel::for_tests(folder, python)?);
    tests.env(matrix::VARIABLE, matrix::environment(python)?);
    for (variable, name, python) in python::beside() {
        tests.env(variable, python.map_err(|why| format!("{name}: {why}"))?);
    }
    Ok(())
}

/// Sets the environment variables that tests of devices read.
fn device_environment(tests: &mut Command) -> Result<()> {
    for wheels in wheels::all()? {
        match wheels::install(&wheels) {
            Ok(folder) => {
                tests.env(&wheels.variable, folder);
            }
            // Where all other dependencies can be installed, these can be too.
            Err(why) if setup::is_debian() => return Err(why),
            Err(why) => eprintln!("no wheels for {}: {why}", wheels.plugin),
        }
    }
    // PoCL reports no device if it cannot write its cache; caches of an earlier run would prove nothing.
    for (variable, name) in [("POCL_CACHE_DIR", "pocl-cache"), ("CHIPDOCK_CACHE_DIR", "program-cache")] {
        let cache = target_folder().join(name);
        let _ = fs::remove_dir_all(&cache);
        fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
        tests.env(variable, cache);
    }
    // Every SPIR-V module that any test builds is checked by its specification's own tool.
    if Command::new("spirv-val").arg("--version").output().is_ok() {
        tests.env("CHIPDOCK_VULKAN_VALIDATOR", "spirv-val");
    }
    // Debian's package has drivers of GPUs too; results must not depend on the machine's.
    match lavapipe() {
        Some(file) => drop(tests.env("VK_ICD_FILENAMES", file)),
        None => eprintln!("no lavapipe in {VULKAN_DRIVERS}: VK_ICD_FILENAMES is left as it is"),
    }
    Ok(())
}

/// Where packages put the files that name drivers of Vulkan.
const VULKAN_DRIVERS: &str = "/usr/share/vulkan/icd.d";

/// The file that names lavapipe, the driver of Vulkan for the processor; its name ends with the architecture.
fn lavapipe() -> Option<PathBuf> {
    let files = fs::read_dir(VULKAN_DRIVERS).ok()?.filter_map(|entry| entry.ok());
    let is_own = |name: &str| {
        let middle = name.strip_prefix("lvp_icd.").and_then(|rest| rest.strip_suffix("json"));
        middle.is_some_and(|middle| middle.is_empty() || middle == format!("{}.", std::env::consts::ARCH))
    };
    files
        .map(|entry| entry.path())
        .find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_own))
}

/// Runs the checks besides tests: guide, format, licences, lints, documents, examples in documents.
fn checks() -> Result<()> {
    crate::guide::check()?;
    step("format", cargo().args(["fmt", "--all", "--check"]))?;
    step(
        "licences, bans, sources",
        cargo().args(["deny", "--log-level", "error", "check", "licenses", "bans", "sources"]),
    )?;
    let lints =
        ["clippy", "--quiet", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    step("lints", cargo().args(lints))?;
    let mut documents = cargo();
    documents.args(["doc", "--quiet", "--workspace", "--no-deps"]);
    step("documents", documents.env("RUSTDOCFLAGS", "-D warnings"))?;
    step(
        "examples in documents",
        cargo().args(["test", "--quiet", "--workspace", "--doc"]).current_dir(root()),
    )
}
