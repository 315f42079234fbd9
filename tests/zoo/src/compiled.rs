//! The faults written in C: their sources, and each as a library.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest as _, Sha256};

/// Name of the healthy plugin.
pub const HEALTHY: &str = "healthy";
/// Text in the first line of a fault that is linked to a library that is missing when the plugin is
/// opened.
const LINKS_VENDOR: &str = "link: vendor";
const FLAGS: &[&str] = &[
    "-std=c11",
    "-O0",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-infinite-recursion",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
];

/// A fault in C.
#[derive(Clone, Debug)]
pub struct Source {
    /// Stem of its file name.
    pub name: String,
    /// Description of the fault, from its first comment.
    pub what: String,
    /// Source text.
    pub text: String,
    path: PathBuf,
}

/// Returns the folder of this crate.
#[must_use]
pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the healthy plugin and every fault, by name.
///
/// # Panics
///
/// If a file cannot be read, or does not describe its fault in the first line.
#[must_use]
pub fn sources() -> Vec<Source> {
    let faults = fs::read_dir(here().join("faults")).expect("the folder of faults").flatten();
    let paths = faults.map(|entry| entry.path()).chain([here().join("healthy.c")]);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a fault");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let comment = text.lines().next().and_then(|line| line.strip_prefix("/* ")?.strip_suffix(" */"));
        let what = comment.expect("a first line that says what is wrong");
        let what = what.trim_start_matches(LINKS_VENDOR).trim_start_matches(". ").to_owned();
        Source { name, what, text, path }
    };
    let mut sources: Vec<Source> = paths.map(read).collect();
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    sources
}

/// Compiles the sources that changed since the last run, two at once, and returns the library of
/// each source.
///
/// # Panics
///
/// If the compiler is missing or reports an error.
#[must_use]
pub fn libraries(sources: &[Source], cache: &Path) -> BTreeMap<String, PathBuf> {
    fs::create_dir_all(cache).expect("a folder for the libraries");
    let headers = [here().join("zoo.h"), here().join("../../plugin-api/abi/include/chipdock.h")];
    let headers: Vec<String> =
        headers.iter().map(|path| fs::read_to_string(path).expect("a header")).collect();
    let (next, libraries) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
            let library = compile(source, &headers, cache);
            libraries.lock().expect("no panic").insert(source.name.clone(), library);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    libraries.into_inner().expect("no panic")
}

fn compile(source: &Source, headers: &[String], cache: &Path) -> PathBuf {
    let mut digest = Sha256::new();
    for text in headers.iter().chain([&source.text]) {
        digest.update(text.as_bytes());
    }
    digest.update(FLAGS.join(" "));
    let library = cache.join(format!("{}-{}.so", source.name, &hexadecimal(&digest.finalize())[..16]));
    if library.is_file() {
        return library;
    }
    // Renamed into place when it is whole: another test may compile it at the same time.
    let scratch = tempfile::tempdir_in(cache).expect("a folder");
    let made = scratch.path().join("zoo.so");
    let mut command = Command::new("cc");
    command.args(FLAGS).arg("-I").arg(here()).arg("-I").arg(here().join("../../plugin-api/abi/include"));
    command.arg("-o").arg(&made).arg(&source.path);
    if source.text.contains(LINKS_VENDOR) {
        let vendor = scratch.path().join("vendor.c");
        fs::write(&vendor, "int zoo_vendor(void) { return 0; }\n").expect("written");
        let stub = scratch.path().join("libzoo_vendor.so");
        let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&stub).arg(&vendor).status();
        assert!(made.is_ok_and(|status| status.success()), "the vendor's library cannot be made");
        command.arg("-L").arg(scratch.path()).args(["-Wl,--no-as-needed", "-lzoo_vendor"]);
    }
    let output = command.output().unwrap_or_else(|error| panic!("cc is needed for this test: {error}"));
    let says = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} does not compile:\n{says}", source.path.display());
    fs::rename(&made, &library).expect("renamed into place");
    library
}

/// Formats bytes in hexadecimal.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
