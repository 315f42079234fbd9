//! The real libtvm_ffi in the process of a test, opened as a host opens it; a process has at most
//! one.

use std::path::{Path, PathBuf};
use std::process::Command;

use chipdock_test_support::skipped;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// An opened libtvm_ffi.
#[derive(Debug)]
pub struct Tvm {
    /// The library's file.
    pub file: PathBuf,
    library: Library,
}

impl Tvm {
    /// Opens the one of the Python that has TVM; without one, reports what is skipped.
    ///
    /// # Panics
    ///
    /// If that Python does not have it.
    #[must_use]
    pub fn opened(what: &str) -> Option<Self> {
        let Some(python) = std::env::var_os("CHIPDOCK_TVM_PYTHON").map(PathBuf::from) else {
            skipped(&format!("{what}: CHIPDOCK_TVM_PYTHON is not set"));
            return None;
        };
        let text = "import tvm_ffi.libinfo as info; print(info.find_libtvm_ffi())";
        let output = Command::new(&python).args(["-c", text]).output().expect("python");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let file = PathBuf::from(String::from_utf8(output.stdout).expect("a path").trim());
        Some(Self { library: open(&file), file })
    }

    /// Returns a function.
    ///
    /// # Panics
    ///
    /// If the library lacks it.
    ///
    /// # Safety
    ///
    /// * `F` is the type with which TVM-FFI's headers declare the function.
    #[must_use]
    pub unsafe fn function<F: Copy>(&self, name: &str) -> F {
        // SAFETY: as this function requires.
        let function = unsafe { self.library.get::<F>(format!("{name}\0").as_bytes()) };
        *function.unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

fn open(file: &Path) -> Library {
    // SAFETY: TVM-FFI's own library, whose initialisers run.
    unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) }
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
