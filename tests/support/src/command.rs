//! Runs the command in a scratch folder, and checks everything that it leaves: exit code, both
//! streams, files.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use npyz::WriterBuilder as _;
use serde_json::Value;

use crate::workspace;

/// Paths of the built command and of the folder of plugins.
#[derive(Debug)]
pub struct Built {
    /// The executable.
    pub command: PathBuf,
    /// Folder of the plugins with their manifests, beside the executable.
    pub plugins: PathBuf,
}

impl Built {
    /// Returns the path of `libchipdock.so`, which is built beside the executable.
    #[must_use]
    pub fn library(&self) -> PathBuf {
        self.command.with_file_name("libchipdock.so")
    }
}

/// Returns the files that `cargo xtask test` built; if a test is run by itself, builds them with
/// `cargo xtask plugins`.
///
/// # Panics
///
/// If the build fails, or there is no plugin: a run that loads none would prove nothing.
pub fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        let plugins = variable("CHIPDOCK_TEST_PLUGINS").unwrap_or_else(build);
        let in_target = plugins.with_file_name("chipdock");
        let built = Built { command: variable("CHIPDOCK_TEST_COMMAND").unwrap_or(in_target), plugins };
        let libraries = fs::read_dir(&built.plugins).into_iter().flatten().flatten();
        let count = libraries.filter(|entry| entry.path().extension().is_some_and(|e| e == "so")).count();
        assert!(count > 0, "no plugin in {}", built.plugins.display());
        built
    })
}

fn build() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(workspace()).args(["run", "--quiet", "--package", "chipdock-xtask", "--", "plugins"]);
    let output = command.stderr(Stdio::inherit()).output().expect("cargo runs");
    assert!(output.status.success(), "the plugins cannot be built");
    let text = String::from_utf8(output.stdout).expect("a path");
    PathBuf::from(text.lines().last().expect("the folder of plugins"))
}

/// Returns the folder of the example kernels.
#[must_use]
pub fn kernels() -> PathBuf {
    workspace().join("examples/kernels")
}

/// Compiles a library that, loaded before the command, runs a piece of C code when the command
/// opens its first library, as a plugin with code in its constructor does.
///
/// # Panics
///
/// If the library cannot be compiled.
pub fn opened_does(scratch: &Scratch, name: &str, body: &str) -> PathBuf {
    let text = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
void *dlopen(const char *name, int flags) {
    static int opened;
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    void *library = real(name, flags);
    // Not in the compilers that the command starts, which inherit the variable.
    int is_command = !strcmp(program_invocation_short_name, "chipdock");
    if (is_command && name && strchr(name, '/') && !opened++) { BODY }
    return library;
}
"#;
    let source = scratch.write(&format!("{name}.c"), text.replace("BODY", body));
    let library = scratch.path(&format!("{name}.so"));
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(source).arg("-ldl");
    assert!(command.status().expect("cc").success());
    library
}

/// Exit code and output of a command that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Exit code; `None` if a signal ended the command.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ended {
    /// Returns the standard output as JSON.
    ///
    /// # Panics
    ///
    /// If the command failed, or its output is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        serde_json::from_str(&self.stdout).expect("JSON on standard output")
    }

    /// Asserts that the command failed with that code, and that its only error contains each of
    /// `says`, in the form of rule CLI-C3.
    ///
    /// # Panics
    ///
    /// If the command did not fail in this way.
    pub fn failed(&self, code: i32, says: &[&str]) {
        assert_eq!(self.code, Some(code), "out: {}\nerr: {}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "", "CLI-C1: results only");
        assert!(self.stderr.starts_with("error: "), "CLI-C3: {}", self.stderr);
        for line in self.stderr.lines().skip(1) {
            assert!(
                line.starts_with("  ") || line.starts_with("error: "),
                "CLI-C3: {line:?} in {}",
                self.stderr
            );
        }
        for text in says {
            assert!(self.stderr.contains(text), "{} should say {text:?}", self.stderr);
        }
    }
}

/// A temporary folder in which the command runs, removed afterwards.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
    command: PathBuf,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// Creates a folder for the command with the plugins of this repository.
    #[must_use]
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), command: built().command.clone() }
    }

    /// Creates a folder for the command without any plugin: the command is alone in another folder.
    #[must_use]
    pub fn without_plugins() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let command = folder.path().join("bin/chipdock");
        fs::create_dir(folder.path().join("bin")).expect("a folder");
        fs::copy(&built().command, &command).expect("a copy of the command");
        Self { folder, command }
    }

    /// Returns the path of a file in the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file in the folder, and creates its parent folders.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, content).expect("written");
        path
    }

    /// Copies an example kernel into the folder.
    pub fn kernel(&self, name: &str) -> &Self {
        fs::copy(kernels().join(name), self.path(name)).expect("an example kernel");
        self
    }

    /// Returns the names of the folder's entries, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("the folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Prepares the command with those words as arguments, split at blanks; none of the user's own
    /// settings reaches it.
    #[must_use]
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(&self.command);
        command.args(words.split_whitespace()).current_dir(self.folder.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CHIPDOCK_") {
                command.env_remove(name);
            }
        }
        command.env("XDG_DATA_HOME", self.path("data")).env("XDG_CONFIG_HOME", self.path("config"));
        command.env_remove("NO_COLOR");
        // Without a cache: each command compiles by itself, whatever was compiled before.
        command.env("CHIPDOCK_CACHE_DIR", "");
        command
    }

    /// Runs the command with those words, split at blanks.
    pub fn run(&self, words: &str) -> Ended {
        end(&mut self.command(words))
    }

    /// Writes an array as `.npy`, with another implementation than the command's.
    pub fn write_npy<T: npyz::Serialize + npyz::AutoSerialize + Copy>(
        &self,
        name: &str,
        shape: &[u64],
        values: &[T],
        order: npyz::Order,
    ) {
        let file = fs::File::create(self.path(name)).expect("created");
        let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
        let mut writer = options.writer(file).begin_nd().expect("a header");
        writer.extend(values.iter().copied()).expect("data");
        writer.finish().expect("a whole file");
    }

    /// Writes a row-major array of float32.
    pub fn write_f32(&self, name: &str, shape: &[u64], values: &[f32]) {
        self.write_npy(name, shape, values, npyz::Order::C);
    }

    /// Reads an `.npy` file with another implementation than the command's; returns shape and
    /// elements.
    #[must_use]
    pub fn read_npy<T: npyz::Deserialize>(&self, name: &str) -> (Vec<u64>, Vec<T>) {
        let bytes = fs::read(self.path(name)).expect("the file");
        let file = npyz::NpyFile::new(&bytes[..]).expect("an .npy file");
        let shape = file.shape().to_vec();
        (shape, file.into_vec().expect("elements of that type"))
    }
}

/// Runs a command to its end.
///
/// # Panics
///
/// If it cannot be started, or its output is not UTF-8.
pub fn end(command: &mut Command) -> Ended {
    let output = command.output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Describes the structure of a JSON value for goldens, with a line for each field:
/// `buffers[].name: string`.
#[must_use]
pub fn fields(value: &Value) -> String {
    let mut lines = std::collections::BTreeSet::new();
    collect("", value, &mut lines);
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

fn collect(path: &str, value: &Value, lines: &mut std::collections::BTreeSet<String>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(items) => {
            if items.is_empty() {
                lines.insert(format!("{path}[]"));
            }
            return items.iter().for_each(|item| collect(&format!("{path}[]"), item, lines));
        }
        Value::Object(object) => {
            for (name, value) in object {
                let dot = if path.is_empty() { "" } else { "." };
                collect(&format!("{path}{dot}{name}"), value, lines);
            }
            return;
        }
    };
    lines.insert(format!("{path}: {kind}"));
}
