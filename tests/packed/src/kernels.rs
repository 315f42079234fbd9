//! Makes kernels callable: as C for the system's compiler, as an object for the loader of a plugin,
//! or as an object for the system's linker.

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

use chipdock_abi::{CHIPDOCK_DEVICE_CPU, ChipdockAny, ChipdockEnv};
use chipdock_host::artifact::{Artifact, Section};
use chipdock_plugin_api::{ChipdockDevice, Error, ErrorKind};
use chipdock_raw_host::{Environment, Loader, Module, Plugin, RawArtifact, RawHost, RawSection};
use chipdock_test_support::command::Scratch;
use libloading::Library;
use libloading::os::unix::{Library as GlobalLibrary, RTLD_GLOBAL, RTLD_NOW};

use crate::{Raised, any, env, env_host, take_raised};

/// Value of the kernels' `__chipdock_env`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surroundings {
    /// The environment of these tests.
    Host,
    /// Null: the code works without an environment.
    None,
}

impl Surroundings {
    fn pointer(self) -> *const ChipdockEnv {
        match self {
            Self::Host => env().table(),
            Self::None => ptr::null(),
        }
    }
}

/// Compiled kernels.
pub struct Kernels {
    code: Code,
    _folder: Scratch,
}

enum Code {
    /// Made by the system's compiler or linker.
    Library(Library),
    /// Made callable by the loader of a plugin.
    Module(Module),
}

type PackedCall = unsafe extern "C" fn(*mut c_void, *const ChipdockAny, i32, *mut ChipdockAny) -> i32;

/// Imports at the beginning of the file that is compiled.
pub const IMPORTS: &str = "# from tvm.script import ir as I\n# from tvm.script import tirx as T\n\n";

/// Returns a folder with the script as `kernels.py`.
fn folder(script: &str) -> Scratch {
    let folder = Scratch::new();
    folder.write("kernels.py", format!("{IMPORTS}{script}"));
    folder
}

fn run(folder: &Scratch, words: &str) -> String {
    let built = folder.run(words);
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    built.stdout
}

/// Runs the system's C compiler.
fn compile(arguments: &[&str], files: &[&Path]) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(compiler).args(arguments).args(files).arg("-lm").output();
    let output = output.unwrap_or_else(|error| panic!("the C compiler: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

impl Kernels {
    /// Compiles TVMScript to C, and the C code with the system's compiler.
    ///
    /// # Panics
    ///
    /// If the command, the compiler or the loader fails.
    #[must_use]
    pub fn compiled(script: &str, surroundings: Surroundings) -> Self {
        let folder = folder(script);
        let source = run(&folder, "build kernels.py --target c --emit source");
        let (source, library) = (folder.write("kernels.c", source), folder.path("kernels.so"));
        let flags = ["-std=gnu11", "-O2", "-fPIC", "-shared", "-fno-math-errno", "-Wall", "-Werror", "-o"];
        compile(&flags, &[&library, &source]);
        Self::opened(folder, &library, surroundings)
    }

    /// Compiles TVMScript to an object file for a target, and links the object file with the
    /// system's linker.
    ///
    /// # Panics
    ///
    /// As [`Kernels::compiled`].
    #[must_use]
    pub fn linked(script: &str, target: &str, surroundings: Surroundings) -> Self {
        let folder = folder(script);
        run(&folder, &format!("build kernels.py --target {target} -o kernels.o"));
        let library = folder.path("kernels.so");
        // No symbol may be left open that no library here has.
        compile(&["-shared", "-Wl,--no-undefined", "-o"], &[&library, &folder.path("kernels.o")]);
        Self::opened(folder, &library, surroundings)
    }

    fn opened(folder: Scratch, library: &Path, surroundings: Surroundings) -> Self {
        // SAFETY: a library just made, without constructors.
        let library = unsafe { Library::new(library) }.unwrap_or_else(|error| panic!("{error}"));
        // SAFETY: the variable is part of what a compiled library exports.
        unsafe {
            let env = library.get::<*mut *const ChipdockEnv>("__chipdock_env");
            let env = env.unwrap_or_else(|error| panic!("{error}"));
            **env = surroundings.pointer();
        }
        Self { code: Code::Library(library), _folder: folder }
    }

    /// Compiles TVMScript to an artifact for a target, and loads the artifact with the loader of
    /// the target's plugin.
    ///
    /// # Panics
    ///
    /// If the command, the plugin or its loader fails.
    #[must_use]
    pub fn loaded(script: &str, target: &str, surroundings: Surroundings) -> Self {
        let folder = folder(script);
        run(&folder, &format!("build kernels.py --target {target} -o kernels.artifact"));
        let artifact =
            Artifact::open(&folder.path("kernels.artifact")).unwrap_or_else(|error| panic!("{error}"));
        let kind = artifact.index().module_kind.clone();
        let library = provider(&folder, &format!("module.load.{kind}"));
        let plugin =
            Plugin::open(&library, RawHost::leak()).unwrap_or_else(|error| panic!("{}", error.message));
        let loader = Loader::find(&plugin, &kind).unwrap_or_else(|| panic!("no loader of {kind}"));
        let section = |section: &Section| RawSection {
            name: section.name().into(),
            kind: section.kind().into(),
            alignment_bytes: section.alignment_bytes(),
            data: section.data().to_vec(),
        };
        let artifact = RawArtifact {
            index_json: artifact.index_json().into(),
            sections: artifact.sections().iter().map(section).collect(),
            extensions: Vec::new(),
        };
        let device = ChipdockDevice { device_type: CHIPDOCK_DEVICE_CPU, device_id: 0 };
        let (verdict, _) = loader.check(&artifact, device).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(verdict, chipdock_abi::CHIPDOCK_ARTIFACT_OK, "what was built here runs here");
        let module = match surroundings {
            Surroundings::Host => loader.load_lent(&artifact, env()),
            Surroundings::None => loader.load(&artifact, Environment::Null),
        };
        let module = module.unwrap_or_else(|error| panic!("{error}"));
        Self { code: Code::Module(module), _folder: folder }
    }

    /// Calls a function.
    ///
    /// # Errors
    ///
    /// The error that the function raised.
    ///
    /// # Panics
    ///
    /// If there is no such function, or if it returns success with an error raised, or failure
    /// without one.
    pub fn call(&self, name: &str, args: &[ChipdockAny]) -> Result<(), Raised> {
        self.call_with_count(name, args.as_ptr(), args.len() as i32)
    }

    /// Calls a function with arguments and a count that may differ from their number.
    ///
    /// # Errors
    ///
    /// The error that the function raised.
    ///
    /// # Panics
    ///
    /// As [`Kernels::call`].
    pub fn call_with_count(&self, name: &str, args: *const ChipdockAny, count: i32) -> Result<(), Raised> {
        self.call_value(name, args, count).map(drop)
    }

    /// Calls a function and returns its result.
    ///
    /// # Errors
    ///
    /// The error that the function raised.
    ///
    /// # Panics
    ///
    /// As [`Kernels::call`].
    pub fn call_value(
        &self,
        name: &str,
        args: *const ChipdockAny,
        count: i32,
    ) -> Result<ChipdockAny, Raised> {
        let (status, result, raised) = self.status(name, args, count);
        match (status, raised) {
            (0, None) => Ok(result),
            (-1, Some(raised)) => Err(raised),
            (status, raised) => panic!("status {status} with {raised:?}"),
        }
    }

    /// Calls a function; returns the status, the result, and the raised error, even if they
    /// contradict each other.
    ///
    /// # Panics
    ///
    /// If there is no such function.
    #[expect(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "tests give what the convention asks for, or what the check must refuse before it looks"
    )]
    pub fn status(
        &self,
        name: &str,
        args: *const ChipdockAny,
        count: i32,
    ) -> (i32, ChipdockAny, Option<Raised>) {
        let mut result = any(0, 0);
        drop(take_raised());
        let status = match &self.code {
            Code::Library(library) => {
                // SAFETY: entries have this type.
                let function = unsafe { library.get::<PackedCall>(format!("__tvm_ffi_{name}")) };
                let function = function.unwrap_or_else(|error| panic!("{error}"));
                // SAFETY: the tests give what the convention asks for, or what the check must
                // refuse before it looks.
                unsafe { function(ptr::null_mut(), args, count, &raw mut result) }
            }
            Code::Module(module) => {
                let found =
                    module.function(name.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
                let function = found.unwrap_or_else(|| panic!("no function {name}"));
                // SAFETY: the tests give what the convention asks for, or what the check must
                // refuse before it looks, with the function object as `self`.
                unsafe {
                    (function.safe_call().0)(function.object().as_ptr().cast(), args, count, &raw mut result)
                }
            }
        };
        (status, result, take_raised())
    }
}

/// Returns the library of the plugin that provides a key.
fn provider(folder: &Scratch, key: &str) -> PathBuf {
    let list = folder.run("plugins --json").json();
    let plugins = list["plugins"].as_array().into_iter().flatten();
    let provides = |plugin: &&serde_json::Value| {
        plugin["provides"].as_array().into_iter().flatten().any(|provided| provided == key)
    };
    let found = plugins.into_iter().find(provides).and_then(|plugin| plugin["library"].as_str());
    found.map_or_else(|| panic!("no plugin provides {key}"), PathBuf::from)
}

unsafe extern "C" fn raised_by_tvm_ffi(kind: *const c_char, message: *const c_char) {
    // SAFETY: both are NUL-terminated, by the convention of that function.
    let (kind, message) = unsafe { (CStr::from_ptr(kind), CStr::from_ptr(message)) };
    let (kind, message) = (kind.to_string_lossy().into_owned(), message.to_string_lossy().into_owned());
    env_host().reference().raise(&Error::new(ErrorKind::new(kind), message));
}

/// Adds TVM-FFI's function that raises errors to this process, as in a process that runs TVM-FFI;
/// [`Kernels::call`] returns the errors that it is given.
///
/// # Panics
///
/// If the C compiler or the loader fails.
pub fn raise_by_tvm_ffi() {
    let folder = Scratch::new();
    let text = "void (*chipdock_test_raise)(const char*, const char*);
void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message) { chipdock_test_raise(kind, message); }
";
    let (source, library) = (folder.write("ffi.c", text), folder.path("ffi.so"));
    compile(&["-shared", "-fPIC", "-o"], &[&library, &source]);
    // SAFETY: a library just made, without constructors; it stays open. Its variable has that type.
    unsafe {
        let library = GlobalLibrary::open(Some(&library), RTLD_NOW | RTLD_GLOBAL);
        let library = library.unwrap_or_else(|error| panic!("{error}"));
        let place =
            library.get::<*mut unsafe extern "C" fn(*const c_char, *const c_char)>(b"chipdock_test_raise\0");
        **place.unwrap_or_else(|error| panic!("{error}")) = raised_by_tvm_ffi;
        std::mem::forget(library);
    }
}
