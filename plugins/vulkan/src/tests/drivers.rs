//! Files that name drivers for Vulkan's loader, and a driver of the tests (`icd.c`).

use std::path::Path;
use std::process::Command;

use chipdock_test_support::setup::missing;

/// The variable that names drivers.
pub(super) const VARIABLE: &str = "VK_ICD_FILENAMES";
/// What the driver of the tests does; unset, it has four queues.
pub(super) const MODE: &str = "TEST_DRIVER";
/// The driver that it calls.
const BENEATH: &str = "TEST_DRIVER_BENEATH";

/// Writes the file that names a library as a driver; returns its path.
pub(super) fn named(folder: &Path, name: &str, library: &str) -> String {
    let path = folder.join(format!("{name}.json"));
    let text = format!(
        r#"{{"file_format_version": "1.0.0", "ICD": {{"library_path": "{library}", "api_version": "1.3.0"}}}}"#
    );
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The driver of the tests, over lavapipe.
pub(super) struct Driver {
    folder: tempfile::TempDir,
    /// The file that names it.
    pub(super) file: String,
    beneath: String,
}

impl Driver {
    /// Compiles it; none, said so, without a C compiler.
    pub(super) fn new() -> Option<Self> {
        let lavapipe = std::fs::read_to_string(std::env::var(VARIABLE).unwrap()).unwrap();
        let lavapipe: serde_json::Value = serde_json::from_str(&lavapipe).unwrap();
        let beneath = lavapipe["ICD"]["library_path"].as_str().unwrap().to_owned();
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libvulkan_test.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/icd.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&library).arg(source);
        match compiler.args(["-ldl", "-lpthread"]).status() {
            Ok(status) => assert!(status.success(), "{status}"),
            Err(why) => {
                missing(&format!("a C compiler for a driver of the tests: {why}"));
                return None;
            }
        }
        let file = named(folder.path(), "test", &library.display().to_string());
        Some(Self { folder, file, beneath })
    }

    /// The folder of its files.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The variables under which the loader finds these drivers, and this one does what `mode`
    /// says.
    pub(super) fn environment<'a>(&'a self, drivers: &'a str, mode: &'a str) -> Vec<(&'a str, &'a str)> {
        vec![(VARIABLE, drivers), (MODE, mode), (BENEATH, &self.beneath)]
    }
}
