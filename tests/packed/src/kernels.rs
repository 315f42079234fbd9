//! Makes kernels callable: as C for the system's compiler, as an object for the loader of a plugin, or as an object for the
//! system's linker.

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

use chipdock_abi::{
    CHIPDOCK_DEVICE_CPU, ChipdockAny, ChipdockArtifact, ChipdockEnv, ChipdockModule, ChipdockModuleHandle,
    ChipdockSection,
};
use chipdock_host::artifact::Artifact;
use chipdock_plugin_api::text::str_out;
use chipdock_plugin_api::{Any, ChipdockDevice, Function};
use chipdock_test_support::command::Scratch;
use chipdock_test_support::recording_host::{RecordingHost, open};
use libloading::Library;
use libloading::os::unix::{Library as GlobalLibrary, RTLD_GLOBAL, RTLD_NOW};

use crate::{ENV, RAISED, Raised, any, raise_text};

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
            Self::Host => &raw const ENV,
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
    Module(Loaded),
}

struct Loaded {
    self_: *mut c_void,
    table: &'static ChipdockModule,
}

// SAFETY: M.1, every function of the table may be called from any thread.
unsafe impl Send for Loaded {}
// SAFETY: M.1, every function of the table may be called from any thread.
unsafe impl Sync for Loaded {}

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

    /// Compiles TVMScript to an object file for a target, and links the object file with the system's linker.
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

    /// Compiles TVMScript to an artifact for a target, and loads the artifact with the loader of the target's plugin.
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
        let host = RecordingHost::leak();
        host.init(open(&provider(&folder, &format!("module.load.{kind}"))))
            .unwrap_or_else(|error| panic!("{error}"));
        let loaders = host.loaders.lock().unwrap_or_else(|error| panic!("{error}"));
        let loader = loaders.iter().find(|(name, _)| *name == kind).map(|(_, loader)| *loader);
        let loader = loader.unwrap_or_else(|| panic!("no loader of {kind}"));
        let sections: Vec<ChipdockSection> = artifact
            .sections()
            .iter()
            .map(|section| ChipdockSection {
                name: str_out(section.name()),
                kind: str_out(section.kind()),
                alignment_bytes: section.alignment_bytes(),
                data: section.data().as_ptr().cast(),
                size_bytes: section.data().len() as u64,
            })
            .collect();
        let raw = ChipdockArtifact {
            index_json: str_out(artifact.index_json()),
            sections: sections.as_ptr(),
            sections_count: sections.len() as u64,
            next: std::ptr::null(),
        };
        let (mut verdict, mut reason) = (-1, Any::NONE.into_raw());
        let device = ChipdockDevice { device_type: CHIPDOCK_DEVICE_CPU, device_id: 0 };
        let mut handle = ChipdockModuleHandle { self_: ptr::null_mut(), table: ptr::null() };
        // SAFETY: the registered table and its `self`, an artifact that lives for the calls, an environment that lives as
        // long as the process or null, places to write to.
        let (checked, loaded) = unsafe {
            (
                (loader.table.verdict)(loader.self_, &raw, device, &mut verdict, &mut reason),
                (loader.table.load)(loader.self_, &raw, surroundings.pointer(), &mut handle),
            )
        };
        for status in [checked, loaded] {
            host.reference().check(status, || kind.clone()).unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(verdict, chipdock_abi::CHIPDOCK_ARTIFACT_OK, "what was built here runs here");
        // SAFETY: a static table, answered on success.
        let table = unsafe { &*handle.table };
        Self { code: Code::Module(Loaded { self_: handle.self_, table }), _folder: folder }
    }

    /// Calls a function.
    ///
    /// # Errors
    ///
    /// The error that the function raised.
    ///
    /// # Panics
    ///
    /// If there is no such function, or if it returns success with an error raised, or failure without one.
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

    /// Calls a function; returns the status, the result, and the raised error, even if they contradict each other.
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
        RAISED.with_borrow_mut(|raised| *raised = None);
        let status = match &self.code {
            Code::Library(library) => {
                // SAFETY: entries have this type.
                let function = unsafe { library.get::<PackedCall>(format!("__tvm_ffi_{name}")) };
                let function = function.unwrap_or_else(|error| panic!("{error}"));
                // SAFETY: the tests give what the convention asks for, or what the check must refuse before it looks.
                unsafe { function(ptr::null_mut(), args, count, &raw mut result) }
            }
            Code::Module(module) => {
                let function = module.function(name);
                // SAFETY: the tests give what the convention asks for, or what the check must refuse before it looks,
                // with the function object as `self`.
                unsafe {
                    (function.safe_call().0)(function.object().as_ptr().cast(), args, count, &raw mut result)
                }
            }
        };
        (status, result, RAISED.with_borrow_mut(Option::take))
    }
}

impl Loaded {
    fn function(&self, name: &str) -> Function {
        let mut found = Any::NONE.into_raw();
        // SAFETY: the module's table and its `self`, a live name, a place to write to.
        let status = unsafe { (self.table.function)(self.self_, str_out(name), &mut found) };
        // SAFETY: None, or a function that we own now.
        let found = unsafe { Any::from_raw(found) };
        assert_eq!(status, 0, "{name}");
        found.to::<Function>().unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the last use of the module.
        unsafe { (self.table.destroy)(self.self_) };
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
    raise_text(&kind.to_string_lossy(), &message.to_string_lossy());
}

/// Adds TVM-FFI's function that raises errors to this process, as in a process that runs TVM-FFI; [`Kernels::call`] returns
/// the errors that it is given.
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
