//! Cache of libraries and objects made by the C compiler, by the rules of
//! `chipdock_plugin_api::files::cache`.
//!
//! * **CLIB-O1 Key.** A library is found again if everything that it depends on is unchanged: this
//!   plugin's version; the source; the flags; the compiler, by the words of the setting, by the
//!   file that these words lead to (its path, and the system's metadata of it: device, inode
//!   number, size, times), and by its answer to `--version`; `PATH` and `LD_LIBRARY_PATH`, by which
//!   it finds its parts; and the processors of this machine, which `-march=native` selects.
//! * **CLIB-O2 What is not kept.** A library is not kept if one of these cannot be determined; if
//!   the setting has a word that may name a file, which is any but `-O`, `-m`, `-g`, `-std=` and
//!   `-W` without a comma; if a variable is set from which compilers take paths or options; if the
//!   compiler's file changed while it ran; and with raised privileges.
//! * **CLIB-O3 As if made now.** A library that is found is written into a folder of its own, under
//!   a name never used before, and opened there like a new one. A library that cannot be opened is
//!   made anew, once. An object is read like a new one; its flags are not those of a library, and
//!   so its key is another.
//! * **CLIB-O4 Switched off.** The setting `cache-dir` names the folder; if it is empty, nothing is
//!   kept.
//! * **CLIB-O5 Its answer.** The answer to `--version` is kept beside the libraries, so that the
//!   next process need not run the compiler for it, where the setting `remember` is true and the
//!   compiler's own file, a program and no script, has every number of the answer's first line: it
//!   gave the answer itself, and did not pass on that of another program. The answer is one to the
//!   compiler's words and file, to `PATH` and to `LD_LIBRARY_PATH`.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use chipdock_plugin_api::files::cache::{self, Key, Kind, VARIABLE};
use chipdock_plugin_api::files::identity::FileIdentity;
use chipdock_plugin_api::files::scratch::Scratch;
use chipdock_plugin_api::kit::{PerProcess, carried, lock};
use chipdock_plugin_api::process::variable;
use chipdock_plugin_api::setting::REMEMBER;
use chipdock_plugin_api::{Error, HostRef, Setting};

use crate::codegen::KIND as NAME;

/// Kind of the cache. A change of the format of libraries, or of the parts of the key, needs a new
/// version.
pub(crate) const KIND: Kind = Kind { name: NAME, version: 1 };
/// Maximum size in bytes of all libraries: some thousands of modules.
const SIZE_BYTES_MAX: u64 = 64 << 20;
/// Maximum size in bytes of a library that is kept.
const LIBRARY_BYTES_MAX: u64 = 8 << 20;

/// The setting that names the folder.
pub(crate) const FOLDER: Setting<PathBuf> = Setting::path(
    "cache-dir",
    "The folder for libraries that the C compiler made, an absolute path; empty, none are kept; not set, the user's cache \
     folder.",
)
.variables(&[VARIABLE]);

/// The setting of rule CLIB-O5.
pub(crate) const ANSWERS: Setting<bool> =
    Setting::bool(REMEMBER, "Whether the C compiler's answer to --version is kept for the next process.");
/// Maximum size in bytes of a compiler's own file that is looked through for its answer.
const PROGRAM_BYTES_MAX: u64 = 1 << 27;

/// The cache of libraries.
#[derive(Debug)]
pub(crate) struct Cache {
    files: cache::Cache,
    /// Whether answers of compilers are kept too (CLIB-O5).
    remembers: bool,
}

/// Variables from which compilers take paths or options (CLIB-O2).
const VARIABLES: &[&str] = &[
    "CPATH",
    "C_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "LD_RUN_PATH",
    "CCC_OVERRIDE_OPTIONS",
    "CLANG_CONFIG_FILE_SYSTEM_DIR",
    "CLANG_CONFIG_FILE_USER_DIR",
    "SDKROOT",
    "MACOSX_DEPLOYMENT_TARGET",
];

/// Fields of `/proc/cpuinfo` that distinguish processors.
const PROCESSOR: &[&str] = &[
    "vendor_id",
    "cpu family",
    "model",
    "model name",
    "stepping",
    "cache size",
    "flags",
    "Features",
    "CPU implementer",
    "CPU architecture",
    "CPU variant",
    "CPU part",
    "CPU revision",
    "isa",
    "uarch",
];

/// The cache that the host's settings name, if any (CLIB-O4).
///
/// # Errors
///
/// The host's error for the setting.
pub(crate) fn of_host(host: HostRef) -> Result<Option<Cache>, Error> {
    let remembers = host.setting(&ANSWERS)? == Some(true);
    let files = cache::Cache::of_setting(host.setting(&FOLDER)?, KIND, SIZE_BYTES_MAX);
    Ok(files.map(|files| Cache { files, remembers }))
}

impl Cache {
    /// A cache in a folder, which keeps answers too.
    #[cfg(test)]
    pub(crate) fn at(folder: &Path, size_bytes_max: u64) -> Option<Self> {
        let files = cache::Cache::at(folder, KIND, size_bytes_max)?;
        Some(Self { files, remembers: true })
    }

    /// The library under that key, if it is kept.
    pub(crate) fn read(&self, key: &Key) -> Option<Vec<u8>> {
        self.files.read(key)
    }
}

/// A compiler whose libraries may be kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Compiler {
    words: Vec<String>,
    path: PathBuf,
    file: String,
}

impl Compiler {
    /// The compiler that these words lead to; `None` if CLIB-O2 excludes it.
    pub(crate) fn find(words: &[String]) -> Option<Self> {
        let is_set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
        let is_plain = |word: &String| {
            ["-O", "-m", "-g", "-std="].iter().any(|start| word.starts_with(start))
                || (word.starts_with("-W") && !word.contains(','))
        };
        let (name, further) = words.split_first()?;
        if VARIABLES.iter().any(is_set) || !further.iter().all(is_plain) {
            return None;
        }
        let path = found(name, &variable("PATH").unwrap_or_default())?.canonicalize().ok()?;
        let file = state_of(&path)?;
        Some(Self { words: words.to_vec(), path, file })
    }

    /// The key of a library that the compiler makes of a source with these flags (CLIB-O1).
    pub(crate) fn key(&self, cache: &Cache, flags: &[String], source: &str, folder: &Scratch) -> Option<Key> {
        let variable = |name| variable(name).unwrap_or_default().into_string().ok();
        let (path, libraries) = (variable("PATH")?, variable("LD_LIBRARY_PATH")?);
        let version = self.version(cache, [&path, &libraries], folder)?;
        self.key_in([&version, &path, &libraries, processors()?], flags, source)
    }

    /// The key for a given answer to `--version` and given values of the variables and processors.
    fn key_in(&self, around: [&str; 4], flags: &[String], source: &str) -> Option<Key> {
        let [version, path, libraries, processors] = around;
        Some(KIND.key(&[
            env!("CARGO_PKG_VERSION"),
            &self.words.join(" "),
            self.path.to_str()?,
            &self.file,
            version,
            path,
            libraries,
            processors,
            &flags.join(" "),
            source,
        ]))
    }

    /// The compiler's answer to `--version`, requested once per process, or kept by an earlier one.
    fn version(&self, cache: &Cache, around: [&str; 2], folder: &Scratch) -> Option<String> {
        static KNOWN: PerProcess<Mutex<HashMap<Compiler, Option<String>>>> = PerProcess::new(carried);
        let known = || lock(KNOWN.of_this());
        if let Some(version) = known().get(self) {
            return version.clone();
        }
        let ask = || {
            let output = folder.run(OsStr::new(&self.words[0]), &["--version"]).ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            (output.status.success() && !text.is_empty()).then_some(text)
        };
        let key = self.answer_key(around);
        let memory = key.as_ref().filter(|_| cache.remembers);
        let kept = memory.and_then(|key| String::from_utf8(cache.files.read(key)?).ok());
        let version = kept.or_else(|| {
            let answer = ask()?;
            if let Some(key) = memory.filter(|_| self.answers_itself(&answer)) {
                cache.files.write(key, answer.as_bytes());
            }
            Some(answer)
        });
        known().insert(self.clone(), version.clone());
        version
    }

    /// The key of the answer to `--version`; `None` if the compiler's path is not text.
    fn answer_key(&self, [path, libraries]: [&str; 2]) -> Option<Key> {
        let words = self.words.join(" ");
        Some(KIND.key(&[
            "--version",
            env!("CARGO_PKG_VERSION"),
            &words,
            self.path.to_str()?,
            &self.file,
            path,
            libraries,
        ]))
    }

    /// Whether the answer comes from the compiler's own file, which has not changed since
    /// (CLIB-O5).
    fn answers_itself(&self, answer: &str) -> bool {
        let is_small = self.path.metadata().is_ok_and(|is| is.len() <= PROGRAM_BYTES_MAX);
        let program = if is_small { std::fs::read(&self.path).unwrap_or_default() } else { Vec::new() };
        is_answer_of(answer, &program) && state_of(&self.path).as_ref() == Some(&self.file)
    }

    /// Keeps a library that the compiler made, unless the compiler changed meanwhile (CLIB-O2).
    /// Failures are ignored.
    pub(crate) fn keep(&self, cache: &Cache, key: &Key, folder: &Scratch, library: &str) {
        if Self::find(&self.words).as_ref() == Some(self)
            && let Ok(bytes) = folder.read(library, LIBRARY_BYTES_MAX)
        {
            cache.files.write(key, &bytes);
        }
    }
}

/// The program with that name, as the system finds it; `None` if that depends on the current
/// folder.
fn found(name: &str, path: &OsStr) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        path.is_absolute() && path.metadata().is_ok_and(|is| is.is_file() && is.mode() & 0o111 != 0)
    };
    if Path::new(name).components().count() > 1 {
        return Some(PathBuf::from(name)).filter(is_program);
    }
    let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    // Folders before the first relative one.
    let absolute = folders.iter().take_while(|folder| folder.is_absolute());
    absolute.map(|folder| folder.join(name)).find(is_program)
}

/// The system's metadata of a file, which changes if the file is changed or replaced.
fn state_of(path: &Path) -> Option<String> {
    Some(FileIdentity::of(&path.metadata().ok()?).to_string())
}

/// Whether a program, and no script, has every number of the first line of an answer.
fn is_answer_of(answer: &str, program: &[u8]) -> bool {
    let is_digit = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    let line = answer.lines().next().unwrap_or_default();
    let words = line.split([' ', '(', ')', ',']).filter(|word| word.len() >= 3 && is_digit(word));
    // The first word is the name by which it was called.
    let numbers: Vec<&str> = words.filter(|word| !line.starts_with(word)).collect();
    program.starts_with(b"\x7fELF")
        && !numbers.is_empty()
        && numbers.iter().all(|number| program.windows(number.len()).any(|at| at == number.as_bytes()))
}

/// The processors of this machine, each kind once; `None` if the system does not report them.
fn processors() -> Option<&'static str> {
    static TEXT: PerProcess<OnceLock<Option<String>>> = PerProcess::new(|_| OnceLock::new());
    TEXT.of_this().get_or_init(|| sorts_of(&std::fs::read_to_string("/proc/cpuinfo").ok()?)).as_deref()
}

fn sorts_of(text: &str) -> Option<String> {
    let tells = |line: &&str| line.split_once(':').is_some_and(|(name, _)| PROCESSOR.contains(&name.trim()));
    let lines: BTreeSet<&str> = text.lines().filter(tells).collect();
    (!lines.is_empty()).then(|| lines.into_iter().collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn clib_o1_whatever_a_library_depends_on_is_in_its_key() {
        let compiler = Compiler { words: words("cc -O1"), path: "/usr/bin/cc".into(), file: "1 2 3".into() };
        let key = |compiler: &Compiler, around: [&str; 4], flags: &str, source: &str| {
            compiler.key_in(around, &words(flags), source).unwrap()
        };
        let (around, flags, source) = (["12.2", "/usr/bin", "", "avx2"], "-O3 -w", "int x;");
        let first = key(&compiler, around, flags, source);
        assert_eq!(first, key(&compiler.clone(), around, flags, source));
        for changed in [
            Compiler { words: words("cc -O2"), ..compiler.clone() },
            Compiler { path: "/usr/bin/gcc".into(), ..compiler.clone() },
            Compiler { file: "1 2 4".into(), ..compiler.clone() },
        ] {
            assert_ne!(first, key(&changed, around, flags, source), "{changed:?}");
        }
        for index in 0..around.len() {
            let mut changed = around;
            changed[index] = "other";
            assert_ne!(first, key(&compiler, changed, flags, source), "{index}");
        }
        assert_ne!(first, key(&compiler, around, "-O2 -w", source));
        assert_ne!(first, key(&compiler, around, flags, "int y;"));
    }

    #[test]
    fn clib_o5_an_answer_is_kept_that_the_program_itself_gives() {
        let program = b"\x7fELF...12.2.0\0(Debian 12.2.0-14+deb12u1) \0...";
        let answer = "cc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software\n";
        assert!(is_answer_of(answer, program));
        assert!(
            is_answer_of("gcc-12.2 (Debian 12.2.0-14+deb12u1) 12.2.0\n", program),
            "the name is the caller's"
        );
        for (other, why) in [
            (&answer.replace("12.2.0\n", "12.3.0\n")[..], "a number of another program"),
            ("cc\n", "no number"),
            ("", "nothing"),
        ] {
            assert!(!is_answer_of(other, program), "{why}");
        }
        assert!(!is_answer_of(answer, &program[1..]), "a script, or what it is");
    }

    #[test]
    fn clib_o5_an_answer_is_of_one_compiler_in_one_environment() {
        let compiler = Compiler { words: words("cc -O1"), path: "/usr/bin/cc".into(), file: "1 2 3".into() };
        let first = compiler.answer_key(["/usr/bin", ""]).unwrap();
        assert_eq!(first, compiler.answer_key(["/usr/bin", ""]).unwrap());
        assert_ne!(first, compiler.answer_key(["/bin", ""]).unwrap());
        assert_ne!(first, compiler.answer_key(["/usr/bin", "/lib"]).unwrap());
        for changed in [
            Compiler { words: words("gcc -O1"), ..compiler.clone() },
            Compiler { path: "/usr/bin/gcc".into(), ..compiler.clone() },
            Compiler { file: "1 2 4".into(), ..compiler.clone() },
        ] {
            assert_ne!(first, changed.answer_key(["/usr/bin", ""]).unwrap(), "{changed:?}");
        }
    }

    #[test]
    fn clib_o1_processors_are_distinguished_by_their_features() {
        let one = "processor\t: 0\nmodel name\t: A\ncpu MHz\t\t: 1\nflags\t\t: avx\n";
        let sorts = |text: &str| sorts_of(text).unwrap();
        assert_eq!(sorts(one), sorts(&one.replace("MHz\t\t: 1", "MHz\t\t: 2").repeat(2)));
        assert_ne!(sorts(one), sorts(&one.replace("avx", "avx2")));
        assert_ne!(sorts(one), sorts(&format!("{one}{}", one.replace("avx", "avx2"))), "two sorts");
        assert_eq!(sorts_of("processor\t: 0\n"), None);
    }

    #[test]
    fn clib_o2_words_that_may_name_files_and_programs_of_the_current_folder_are_not_kept() {
        assert!(Compiler::find(&words("cc -O1 -mavx2 -march=native -std=gnu17 -g -Wall")).is_some());
        for more in
            ["-Ix", "-fplugin=x", "@file", "-Wl,-rpath,x", "-include", "x.h", "-Bx", "-fsanitize=address"]
        {
            assert_eq!(Compiler::find(&words(&format!("cc {more}"))), None, "{more}");
        }
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("one");
        std::fs::write(&program, "").unwrap();
        let at = |name: &str, path: &str| found(name, OsStr::new(path));
        let path = folder.path().to_str().unwrap();
        assert_eq!(at("one", path), None, "no program");
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(at("one", path), Some(program.clone()));
        assert_eq!(at("one", &format!("/none:{path}")), Some(program.clone()));
        assert_eq!(at("one", &format!("bin:{path}")), None, "depends on the current folder");
        assert_eq!(at("./one", path), None);
        assert_eq!(at(program.to_str().unwrap(), ""), Some(program));
    }
}
