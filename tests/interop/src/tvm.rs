//! Real TVM with its libtvm_ffi, and libraries that are made with its headers.

use std::path::{Path, PathBuf};
use std::process::Command;

use chipdock_host::{Environment, Host, HostOptions};
use chipdock_test_support::skipped;

/// A Python with TVM, and the file of its libtvm_ffi.
#[derive(Clone, Debug)]
pub struct Tvm {
    /// The Python.
    pub python: PathBuf,
    /// The file.
    pub library: PathBuf,
}

impl Tvm {
    /// Returns it; without one, reports what is skipped.
    ///
    /// # Panics
    ///
    /// If there is a Python that lacks it.
    #[must_use]
    pub fn found() -> Option<Self> {
        let Some(python) = std::env::var_os("CHIPDOCK_TVM_PYTHON").map(PathBuf::from) else {
            skipped("libraries of TVM, and libtvm_ffi: CHIPDOCK_TVM_PYTHON is not set");
            return None;
        };
        let library = ask(&python, "find_libtvm_ffi");
        Some(Self { python, library })
    }

    fn include(&self) -> Vec<String> {
        ["find_include_path", "find_dlpack_include_path"]
            .map(|what| format!("-I{}", ask(&self.python, what).display()))
            .to_vec()
    }

    /// Compiles a C++ text over the headers of TVM-FFI to a library.
    ///
    /// # Panics
    ///
    /// If the compiler fails.
    #[must_use]
    pub fn library_of(&self, folder: &Path, name: &str, text: &str, flags: &[&str]) -> PathBuf {
        let (source, library) = (folder.join(format!("{name}.cc")), folder.join(format!("{name}.so")));
        std::fs::write(&source, text).expect("written");
        let mut command = Command::new("g++");
        command
            .args(["-std=c++17", "-O2", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(&source)
            .args(self.include())
            .args(flags);
        command.arg(format!("-L{}", self.library.parent().expect("a folder").display())).arg("-ltvm_ffi");
        ran(&mut command);
        library
    }
}

fn ask(python: &Path, what: &str) -> PathBuf {
    let text = format!("import tvm_ffi.libinfo as info; print(info.{what}())");
    let output = Command::new(python).args(["-c", &text]).output().expect("python");
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8(output.stdout).expect("a path").trim())
}

/// Runs a command to its success.
///
/// # Panics
///
/// If it cannot be started, or fails.
pub fn ran(command: &mut Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Makes a host of three threads that opens this libtvm_ffi where it needs one.
///
/// # Panics
///
/// If it cannot be made.
#[must_use]
pub fn host(tvm_ffi: Option<&Path>) -> Host {
    let variables = tvm_ffi.into_iter().map(|path| ("CHIPDOCK_TVM_FFI", path));
    let environment = Environment { variables: variables.collect(), ..Environment::empty() };
    Host::new(HostOptions { environment, threads: Some(3), ..HostOptions::isolated() }).expect("a host")
}

/// Writes modules (kind, payload, imports) as TVM-FFI embeds them in a library.
#[must_use]
pub fn blob(modules: &[(&str, &[u8], &[u64])]) -> Vec<u8> {
    let (mut starts, mut imports, mut rest) = (vec![0], Vec::new(), Vec::new());
    for (kind, payload, of_module) in modules {
        imports.extend_from_slice(of_module);
        starts.push(imports.len() as u64);
        rest.extend((kind.len() as u64).to_le_bytes());
        rest.extend(kind.as_bytes());
        if *kind != "_lib" {
            rest.extend((payload.len() as u64).to_le_bytes());
            rest.extend_from_slice(payload);
        }
    }
    let mut body = Vec::new();
    for numbers in [starts, imports] {
        body.extend((numbers.len() as u64).to_le_bytes());
        numbers.iter().for_each(|number| body.extend(number.to_le_bytes()));
    }
    body.extend(rest);
    let mut bytes = (body.len() as u64).to_le_bytes().to_vec();
    bytes.extend(body);
    bytes
}

/// Writes bytes as a variable of a C or C++ library.
#[must_use]
pub fn variable(symbol: &str, bytes: &[u8]) -> String {
    let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
    format!(
        "extern \"C\" __attribute__((visibility(\"default\"))) const unsigned char {symbol}[] = {{{}}};\n",
        numbers.join(",")
    )
}
