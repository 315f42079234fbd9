//! Tests of the cache of libraries (CLIB-O2 and CLIB-O3 of `cache`), with a compiler that counts
//! its runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use libloading::os::unix::Library;

use crate::cache::Cache;
use crate::compiler::{Compiled, Options, compile_in, object_in};

const SOURCE: &str = "__attribute__((visibility(\"default\"))) int number = 40;";

/// A compiler of its own, which notes each run, and a cache.
struct Bench {
    folder: tempfile::TempDir,
    cache: Cache,
}

impl Bench {
    fn new() -> Self {
        let private = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().permissions(private).tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("c"), 1 << 20).unwrap();
        let bench = Self { folder, cache };
        bench.write_compiler("");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_compiler(&self, more: &str) {
        let log = self.path("log");
        let script = format!(
            "#!/bin/sh\ncase $1 in --version) echo counting 1; exit;; esac\necho run >> {}\n{more}\nexec cc \"$@\"\n",
            log.display()
        );
        fs::write(self.path("new"), script).unwrap();
        fs::set_permissions(self.path("new"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(self.path("new"), self.path("counting")).unwrap();
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.path("log")).unwrap_or_default().lines().count()
    }

    fn compile(&self, source: &str, options: &Options, more: &str) -> Compiled {
        let cc = format!("{}{more}", self.path("counting").display());
        compile_in(source, options, Some(&cc), &std::env::temp_dir(), Some(&self.cache)).unwrap()
    }

    /// Whether no compiler ran for it.
    fn is_found(&self, source: &str, options: &Options, more: &str) -> bool {
        let before = self.runs();
        let compiled = self.compile(source, options, more);
        assert_eq!(compiled.is_kept, self.runs() == before);
        compiled.is_kept
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("c")).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "cached")).collect()
    }
}

fn number(compiled: &Compiled) -> i32 {
    // SAFETY: a library without constructors, and its only variable.
    unsafe { **Library::new(&compiled.library).unwrap().get::<*const i32>(b"number\0").unwrap() }
}

#[test]
fn clib_o1_o3_a_cached_library_is_opened_and_no_compiler_runs() {
    let (bench, options) = (Bench::new(), Options::default());
    let (first, second) = (bench.compile(SOURCE, &options, ""), bench.compile(SOURCE, &options, ""));
    assert!(!first.is_kept && second.is_kept && bench.runs() == 1);
    assert_ne!(first.library, second.library, "a name of its own");
    assert_eq!((number(&first), number(&second)), (40, 40));
    assert!(!bench.is_found(&SOURCE.replace("40", "41"), &options, ""), "the source");
    let slower = Options { opt_level: Some(0), ..Options::default() };
    assert!(!bench.is_found(SOURCE, &slower, ""), "the flags");
    assert!(!bench.is_found(SOURCE, &options, " -O1"), "the words of the setting");
    assert!(bench.is_found(SOURCE, &slower, "") && bench.is_found(SOURCE, &options, " -O1"));
    bench.write_compiler("# another");
    assert!(!bench.is_found(SOURCE, &options, ""), "the compiler");
    assert_eq!(bench.files().len(), 5);
}

#[test]
fn clib_o3_an_object_is_kept_beside_the_library_of_the_same_source() {
    let (bench, options) = (Bench::new(), Options::default());
    let cc = bench.path("counting").display().to_string();
    let object =
        || object_in(SOURCE, &options, Some(&cc), &std::env::temp_dir(), Some(&bench.cache)).unwrap();
    let library = bench.compile(SOURCE, &options, "");
    let first = object();
    assert_eq!((bench.runs(), bench.files().len()), (2, 2), "a key of its own");
    assert!(object() == first && bench.is_found(SOURCE, &options, ""));
    assert_eq!((bench.runs(), number(&library)), (2, 40), "no compiler ran");
}

#[test]
fn clib_o2_nothing_is_kept_where_words_may_name_files_or_the_compiler_changed_meanwhile() {
    let (bench, options) = (Bench::new(), Options::default());
    assert!(!bench.is_found(SOURCE, &options, " -I.") && !bench.is_found(SOURCE, &options, " -I."));
    bench.write_compiler(&format!("touch {}", bench.path("counting").display()));
    assert!(!bench.is_found(SOURCE, &options, ""));
    assert!(bench.files().is_empty());
}

#[test]
fn clib_o3_a_damaged_file_is_made_anew() {
    let (bench, options) = (Bench::new(), Options::default());
    assert!(!bench.is_found(SOURCE, &options, ""));
    let file = bench.files().remove(0);
    let mut bytes = fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&file, &bytes).unwrap();
    assert!(!bench.is_found(SOURCE, &options, ""), "not as it was written");
    assert!(bench.is_found(SOURCE, &options, ""), "and replaced");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o622)).unwrap();
    assert!(!bench.is_found(SOURCE, &options, ""), "others could have written it");
}

/// CLIB-O5: the answer of the system's compiler is kept, where it gives it itself; that of a script
/// is not.
#[test]
fn clib_o5_the_answer_of_a_program_is_kept_beside_the_library() {
    let (bench, options) = (Bench::new(), Options::default());
    let compiled =
        || compile_in(SOURCE, &options, Some("cc"), &std::env::temp_dir(), Some(&bench.cache)).unwrap();
    let first = compiled();
    let program = std::process::Command::new("sh").args(["-c", "command -v cc"]).output().unwrap().stdout;
    let program = fs::read(String::from_utf8(program).unwrap().trim()).unwrap();
    let is_gcc = program.starts_with(b"\x7fELF") && program.windows(8).any(|word| word == b"collect2");
    if !is_gcc {
        return chipdock_test_support::skipped("a cc that is gcc itself");
    }
    assert_eq!(bench.files().len(), 2, "the library and the answer");
    assert!(compiled().is_kept && !first.is_kept && bench.files().len() == 2);
    assert!(!bench.is_found(SOURCE, &options, "") && bench.is_found(SOURCE, &options, ""));
    assert_eq!(bench.files().len(), 3, "a library, and no answer");
}
