//! Runs every check and every test; the counts come last.

mod closing;
mod junit;
mod record;
mod seed;
mod stages;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::commands::{Result, cargo, root, step, target_folder};
use crate::{matrix, plugins, python, releases, setup, wheel, wheels};
use closing::Logs;
use record::Record;
use stages::stage;

/// Variable that makes tests run completely that otherwise run a sample.
const ALL: &str = "CHIPDOCK_TEST_ALL";

/// Free disk space below which failed tests may have failed because of a full disk.
const FREE_GIB_MIN: u64 = 2;

/// What a run is asked to do.
#[derive(Debug, Default)]
struct Options<'a> {
    /// No test is limited to a sample.
    is_whole: bool,
    /// The page of an ordinary run is written.
    is_kept: bool,
    /// Arguments of the test runner: names and filters of tests. Without any, everything runs, the
    /// other checks too.
    filters: Vec<&'a String>,
}

impl<'a> Options<'a> {
    fn new(arguments: &'a [String]) -> Self {
        let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
        let filters = arguments.iter().filter(|argument| !["--all", "--keep"].contains(&argument.as_str()));
        Self { is_whole: has("--all"), is_kept: has("--keep"), filters: filters.collect() }
    }

    /// Returns the crates all of whose tests are asked for: `--package NAME`, once or more often,
    /// and nothing else.
    fn packages(&self) -> Option<Vec<&str>> {
        let name = |pair: &[&'a String]| match pair {
            [flag, name] if ["-p", "--package"].contains(&flag.as_str()) => Some(name.as_str()),
            _ => None,
        };
        let packages: Vec<&str> = self.filters.chunks(2).map(name).collect::<Option<_>>()?;
        (!packages.is_empty()).then_some(packages)
    }

    /// The file of the page that a complete run is compared with, and how it is written.
    fn page(&self) -> (&'static str, &'static str, &'static str) {
        if self.is_whole {
            let how = "Written by `cargo xtask test --all`: every test, without samples. Rows of other commits were written by \
                       `cargo xtask test --all --package NAME`.";
            ("whole.md", "The whole run", how)
        } else {
            let how = "Written by `cargo xtask test --keep`: what `cargo xtask test` and CI run, with samples of long tests.";
            ("gate.md", "An ordinary run", how)
        }
    }
}

/// Runs everything; with a filter, only the tests whose names contain it; with `--all`, no test is
/// limited to a sample.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let options = Options::new(arguments);
    stage("set-up", setup::run)?;
    if options.filters.is_empty() {
        checks()?;
    }
    let built = stage("build the plugins and the tests", plugins::build_with_tests)?;
    let logs = Logs::new();
    let mut tests = cargo();
    stage("wheel, other environments", || {
        if options.is_whole {
            python::fetch_torch().unwrap_or_else(|why| eprintln!("no torch: {why}"));
        }
        python_environments(&mut tests, &built, &logs.skipped);
        device_environment(&mut tests)
    })?;
    tests.args(["nextest", "run", "--workspace", "--no-fail-fast"]);
    match options.packages() {
        // Chosen among all of the workspace, whose features stay as they were built.
        Some(packages) => drop(tests.arg("-E").arg(format!("package(={})", packages.join(") + package(=")))),
        None => drop(tests.args(&options.filters)),
    }
    tests.env("CHIPDOCK_TEST_PLUGINS", &built.folder).env("CHIPDOCK_TEST_COMMAND", &built.command);
    tests.env("CHIPDOCK_TEST_LIBRARIES", target_folder().join("debug"));
    // The user's own settings must not reach the hosts of the tests.
    tests.env("XDG_CONFIG_HOME", target_folder().join("no-settings"));
    // Everything that plugins need was installed, so a missing backend is a failure, not a skip.
    tests.env("CHIPDOCK_SKIP_LOG", &logs.skipped).env("CHIPDOCK_TEST_SETUP", "done");
    let seed = seed::seed();
    tests.env(seed::VARIABLE, &seed).env("CHIPDOCK_SAMPLE_LOG", &logs.samples);
    if options.is_whole {
        tests.env(ALL, "1");
    }
    let (file, title, how) = options.page();
    let page = root().join("xtask/results").join(file);
    let kept = Record::parse(&fs::read_to_string(&page).unwrap_or_default());
    let config = target_folder().join("longest-first.toml");
    fs::write(&config, closing::longest_first(&kept))
        .map_err(|error| format!("{}: {error}", config.display()))?;
    tests.arg("--tool-config-file").arg(format!("xtask:{}", config.display()));
    let result = closing::tests(&mut tests);
    let record = logs.record(&seed);
    closing::print(&record, &seed, (file, &kept));
    if options.is_whole && options.packages().is_some() {
        keep(&page, &record.over(kept), title, how)?;
    } else if options.filters.is_empty() && (options.is_whole || options.is_kept) {
        keep(&page, &record, title, how)?;
    }
    // Compilers, drivers and copies report a full disk each in their own words.
    if let Some(free_gib) = setup::free_gib().filter(|free| result.is_err() && *free < FREE_GIB_MIN) {
        eprintln!("the disk has {free_gib} GiB free: what failed may have failed for that");
    }
    result
}

/// Writes the page of a run.
fn keep(page: &Path, record: &Record, title: &str, how: &str) -> Result<()> {
    let failed = |error: std::io::Error| format!("{}: {error}", page.display());
    fs::create_dir_all(page.parent().unwrap_or(Path::new(""))).map_err(failed)?;
    fs::write(page, record.page(title, how)).map_err(failed)?;
    eprintln!("written: {}", page.display());
    Ok(())
}

/// Downloads what tests need of PyPI while `work` keeps the processors busy. Whoever needs
/// something asks for it again, and reports then that it could not be had.
fn while_fetching<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let fetch = || {
        let of_matrix = |variables: [(&str, PathBuf); 2]| matrix::environment(&variables[0].1);
        let fetched = [
            python::environment().map(drop),
            releases::environment().and_then(of_matrix).map(drop),
            python::beside().try_for_each(|(.., python)| python.map(drop)),
            wheels::all().and_then(|all| all.iter().try_for_each(|wheels| wheels::install(wheels).map(drop))),
        ];
        for why in fetched.into_iter().filter_map(Result::err) {
            eprintln!("not downloaded at the first try: {why}");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(fetch);
        work()
    })
}

/// Sets the environment variables that tests in Python read; without an environment, says which
/// tests are skipped.
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

/// Builds the wheel of the Python package and what it is tested with, and sets the variables by
/// which its tests find them.
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
    // PoCL reports no device if it cannot write its cache; caches of an earlier run would prove
    // nothing.
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

/// The file that names lavapipe, the driver of Vulkan for the processor; its name ends with the
/// architecture.
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
    stage("guide, format, licences", || {
        crate::guide::check()?;
        step("format", cargo().args(["fmt", "--all", "--check"]))?;
        let what = ["deny", "--log-level", "error", "check", "licenses", "bans", "sources"];
        step("licences, bans, sources", cargo().args(what))
    })?;
    let lints =
        ["clippy", "--quiet", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    stage("lints, Python environments", || while_fetching(|| step("lints", cargo().args(lints))))?;
    let mut documents = cargo();
    // With the lints' features, what both check of dependencies is checked once.
    documents.args(["doc", "--quiet", "--workspace", "--no-deps", "--all-features"]);
    stage("documents", || step("documents", documents.env("RUSTDOCFLAGS", "-D warnings")))?;
    let mut examples = cargo();
    examples.args(["test", "--quiet", "--workspace", "--doc"]).current_dir(root());
    stage("examples in documents", || step("examples in documents", &mut examples))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_told_from_other_filters() {
        for (words, expected) in [
            ("--all -p a --package b", Some(vec!["a", "b"])),
            ("--all", None),
            ("-p a softmax", None),
            ("--keep softmax", None),
            ("-p", None),
        ] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert_eq!(Options::new(&words).packages(), expected, "{words:?}");
        }
    }
}
