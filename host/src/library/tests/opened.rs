//! Libraries opened and called: LIB-3 to LIB-9.

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::*;
use crate::runtime::LIVE_ENVIRONMENTS;
use crate::{Any, Host, HostOptions, Module};

fn host() -> Host {
    Host::new(HostOptions::isolated()).unwrap()
}

fn int(module: &Module, name: &str) -> i64 {
    module.function(name).unwrap().call(&[]).unwrap().to::<i64>().unwrap()
}

/// The number of mappings of files whose name says that they are copies of libraries.
fn mappings() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains(&format!("library-{}-", std::process::id()))).count()
}

const COUNTER: &str = "\
EXPORT const ChipdockEnv *__chipdock_env = 0;
static int64_t calls;
FUNCTION(__tvm_ffi_count) { return give(result, ++calls); }
FUNCTION(__tvm_ffi_env) { return give(result, (int64_t)(intptr_t)__chipdock_env); }
FUNCTION(__tvm_ffi_selfless) { return give(result, self == NULL); }
FUNCTION(__tvm_ffi_forward) {
  const ChipdockFunctionObject *found;
  if (__chipdock_env->imported(__chipdock_env, \"add\", &found) != 0) return -1;
  return found->safe_call((void *)found, args, count, result);
}
FUNCTION(__tvm_ffi_fail) {
  __chipdock_env->raise(__chipdock_env, \"ValueError\", \"as asked\", \"fail: k.py:3:4\");
  return -1;
}
";
const NAMES: [&str; 5] = ["count", "env", "selfless", "forward", "fail"];

/// A library like those of Chipdock.
fn ours() -> Source {
    Source::of(COUNTER).document(&document_of(&NAMES, &Value::Null))
}

#[test]
fn lib_6_each_host_and_whoever_opened_the_file_have_variables_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = ours().build(folder.path(), "count.so");
    // SAFETY: the library was made just now, and has no initialiser.
    let direct = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }.unwrap();
    let (first, second) = (host().open(&path).unwrap(), host().open(&path).unwrap());
    assert_eq!((int(&first, "count"), int(&first, "count"), int(&second, "count")), (1, 2, 1));
    let (one, two) = (int(&first, "env"), int(&second, "env"));
    assert!(one != 0 && two != 0 && one != two, "{one} {two}");
    // SAFETY: a variable of that type.
    let own = unsafe { **direct.get::<*const *const u8>(b"__chipdock_env\0").unwrap() };
    assert!(own.is_null(), "the file itself was opened");
    drop(direct);
    // LIB-6: replacing the file does not touch its running code.
    std::fs::write(&path, b"").unwrap();
    assert_eq!(int(&second, "count"), 2);
}

#[test]
fn lib_7_code_lives_as_long_as_a_function_and_is_closed_after() {
    let folder = tempfile::tempdir().unwrap();
    let path = ours().build(folder.path(), "count.so");
    let host = host();
    let (before, environments) = (mappings(), LIVE_ENVIRONMENTS.get());
    let module = host.open(&path).unwrap();
    assert_eq!(LIVE_ENVIRONMENTS.get(), environments + 1);
    let (count, fail) = (module.function("count").unwrap(), module.function("fail").unwrap());
    drop(module);
    assert!(mappings() > before);
    assert_eq!(count.call(&[]).unwrap().to::<i64>().unwrap(), 1);
    let error = fail.call(&[]).unwrap_err();
    assert_eq!((error.kind(), error.message()), (&ErrorKind::Value, "function \"fail\" says: as asked"));
    drop(count);
    assert!(mappings() > before);
    drop(fail);
    assert_eq!((mappings(), LIVE_ENVIRONMENTS.get()), (before, environments));
}

#[test]
fn lib_7_a_thousand_loads_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = ours().build(folder.path(), "count.so");
    let host = host();
    let file = BuiltFile::read(&path).unwrap();
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let load = || assert_eq!(int(&host.open_file(&file).unwrap(), "count"), 1);
    (0..10).for_each(|_| load());
    let (before, open) = (mappings(), descriptors());
    (0..1000).for_each(|_| load());
    assert!(mappings() <= before && descriptors() <= open + 8, "{} {}", mappings(), descriptors());
}

#[test]
fn lib_4_embedded_artifacts_are_imports_and_other_kinds_say_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = toy_artifact(Vec::new()).to_bytes().unwrap();
    let modules: [(&str, &[u8], &[u64]); 3] =
        [("_lib", b"", &[1, 2]), ("quantum", b"payload", &[]), (EMBEDDED_KIND, &artifact, &[])];
    let path = ours().blob(&modules).build(folder.path(), "device.so");
    let module = host().open(&path).unwrap();
    let args = [20_i64, 22].map(Into::into);
    // From outside, though another import does not say what it has; and from compiled code.
    assert_eq!(module.function("add").unwrap().call(&args).unwrap().to::<i64>().unwrap(), 42);
    assert_eq!(module.function("forward").unwrap().call(&args).unwrap().to::<i64>().unwrap(), 42);
    assert_eq!(int(&module, "count"), 1);
    let error = module.function("elsewhere").unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("no loader for embedded modules of kind \"quantum\""), "{error}");
    let kinds: Vec<_> =
        module.imports().iter().map(|import| import.artifact().index().module_kind.as_str()).collect();
    assert_eq!(kinds, ["quantum", "toy"]);

    let alone = ours().blob(&[("_lib", b"", &[1]), ("quantum", b"", &[])]).build(folder.path(), "alone.so");
    let alone = host().open(&alone).unwrap();
    let error = alone.function("forward").unwrap().call(&args).unwrap_err();
    assert!(error.to_string().contains("kind \"quantum\""), "compiled code is told too: {error}");
    // A root that is not the library: its functions are found below.
    let below = ours().blob(&[("vm", b"", &[1]), ("_lib", b"", &[])]).build(folder.path(), "below.so");
    assert_eq!(int(&host().open(&below).unwrap(), "count"), 1);
}

#[test]
fn lib_5_an_artifact_beside_is_taken_if_it_is_the_one() {
    let folder = tempfile::tempdir().unwrap();
    let beside = folder.path().join("device.chipdock");
    let whole = toy_artifact(vec![Arc::new(toy_artifact(Vec::new()))]).to_bytes().unwrap();
    let aside = json!({"file": "device.chipdock", "sha256": files::sha256_of_bytes(&whole)});
    let path = Source::of(COUNTER).document(&document_of(&NAMES, &aside)).build(folder.path(), "device.so");
    let (host, args) = (host(), [20_i64, 22].map(Into::into));
    let says = |says: &str, kind: ErrorKind| {
        let module = host.open(&path).unwrap();
        assert_eq!(int(&module, "count"), 1, "the functions of the library can be called");
        for error in [
            module.function("add").unwrap_err(),
            module.function("forward").unwrap().call(&args).unwrap_err(),
        ] {
            assert_eq!(*error.kind(), kind, "{error}");
            assert!(error.to_string().contains(says), "{error}");
        }
    };
    says("in a file beside it, device.chipdock", ErrorKind::Unavailable);
    std::fs::write(&beside, [&whole[..], b"\0"].concat()).unwrap();
    says("not the file that was built with the library", ErrorKind::Value);
    std::fs::write(&beside, &whole).unwrap();
    let module = host.open(&path).unwrap();
    assert_eq!(module.function("forward").unwrap().call(&args).unwrap().to::<i64>().unwrap(), 42);
}

#[test]
fn lib_8_libraries_of_others_get_null_and_ours_are_called_without_a_step() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = host().open(&Source::of(COUNTER).build(folder.path(), "foreign.so")).unwrap();
    assert_eq!(int(&foreign, "selfless"), 1);
    let ours = host().open(&ours().build(folder.path(), "ours.so")).unwrap();
    assert_eq!(int(&ours, "selfless"), 0);
    let (kind, names): (_, Vec<&str>) =
        (foreign.artifact().index().module_kind.clone(), foreign.function_names().collect());
    assert_eq!((kind.as_str(), names), ("library", vec!["count", "env", "fail", "forward", "selfless"]));
}

#[test]
fn lib_3_the_entry_is_called_main_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = "FUNCTION(__tvm_ffi_f) { return give(result, 7); }\nFUNCTION(__tvm_ffi_main) { return give(result, 7); }\n";
    let path = Source::of(text).document(&document_of(&["f"], &Value::Null)).build(folder.path(), "f.so");
    let module = host().open(&path).unwrap();
    assert_eq!((int(&module, "f"), int(&module, "main")), (7, 7));
    assert_eq!(module.function_names().collect::<Vec<_>>(), ["f"]);
    let error = module.function("_metadata_f").unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::NotFound, "{error}");
}

#[test]
fn lib_7_a_library_that_returned_an_object_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
static int64_t *place;
static void deleted(void *self, int32_t flags) { (void)self; if (place) *place += flags; }
FUNCTION(__tvm_ffi_text) {
  static ChipdockByteArrayObject text;
  place = (int64_t *)(intptr_t)args[0].value.v_int64;
  text.object.combined_ref_count = ((uint64_t)1 << 32) | 1;
  text.object.type_index = CHIPDOCK_TYPE_STR;
  text.object.deleter = deleted;
  text.bytes.data = \"a longer text\";
  text.bytes.size = 13;
  result->type_index = CHIPDOCK_TYPE_STR;
  result->value.v_object = &text.object;
  return 0;
}
";
    let module = host().open(&Source::of(text).build(folder.path(), "text.so")).unwrap();
    let flags = Box::into_raw(Box::new(0_i64));
    let text = module.function("text").unwrap().call(&[(flags.addr() as i64).into()]).unwrap();
    drop(module);
    assert_eq!(text.to::<String>().unwrap(), "a longer text");
    // Calls the deleter, whose code is in the library.
    drop::<Any>(text);
    // SAFETY: made above; the library writes to it no more.
    let flags = unsafe { Box::from_raw(flags) };
    assert_ne!(*flags, 0);
}

#[test]
fn lib_9_a_library_that_needs_tvm_ffi_is_not_opened_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let call = "extern int TVMFFIErrorSetRaised(void *);\nFUNCTION(__tvm_ffi_f) { return TVMFFIErrorSetRaised(0); }\n";
    let filled = "EXPORT void *__TVMFFIFunctionCall = 0;\nFUNCTION(__tvm_ffi_f) { return 0; }\n";
    let of_tvm = "extern int TVMFuncCall(void);\nFUNCTION(__tvm_ffi_f) { return TVMFuncCall(); }\n";
    Source::of("EXPORT int there = 1;\n")
        .flag("-Wl,-soname,libtvm_ffi.so")
        .build(folder.path(), "libtvm_ffi.so");
    let linked = Source::of("EXPORT extern int there;\nFUNCTION(__tvm_ffi_f) { return there; }\n")
        .flag(format!("-L{}", folder.path().display()))
        .flag("-ltvm_ffi");
    for (name, source, says) in [
        ("call.so", Source::of(call), "the symbol TVMFFIErrorSetRaised"),
        ("filled.so", Source::of(filled), "the variable __TVMFFIFunctionCall filled in"),
        ("of_tvm.so", Source::of(of_tvm), "functions of TVM's own run time: \"TVMFuncCall\""),
        ("linked.so", linked, "the library libtvm_ffi.so"),
    ] {
        let path = source.build(folder.path(), name);
        let error = host().open(&path).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains(says), "{error}");
        // What it holds can be read all the same.
        assert_eq!(BuiltFile::read(&path).unwrap().artifact().index().functions.len(), 1);
    }
    // One that can do without it.
    let weak = call.replace("extern", "__attribute__((weak)) extern");
    let weak = weak.replace("return TVMFFIErrorSetRaised(0)", "return give(result, !TVMFFIErrorSetRaised)");
    let module = host().open(&Source::of(&weak).build(folder.path(), "weak.so")).unwrap();
    assert_eq!(int(&module, "f"), 1);
}

/// What TVM's code generators ask of its run time; `ASK` makes it a variable or a symbol.
const RUN_TIME: &str = "\
ASK(void *, TVMBackendAllocWorkspace, (int, int, uint64_t, int, int))
ASK(int, TVMBackendFreeWorkspace, (int, int, void *))
ASK(int, TVMBackendParallelLaunch, (int (*)(int, void *, void *), void *, int))
static int task(int id, void *group, void *data) { (void)group; __atomic_add_fetch((int64_t *)data, 1 + (id < 0), 5); return 0; }
FUNCTION(__tvm_ffi_tasks) {
  int64_t *sum = CALL(TVMBackendAllocWorkspace)(1, 0, 64, 0, 8);
  if (!sum) return -1;
  *sum = 0;
  if (CALL(TVMBackendParallelLaunch)(task, sum, 2)) return -1;
  int64_t seen = *sum;
  return CALL(TVMBackendFreeWorkspace)(1, 0, sum) ? -1 : give(result, seen);
}
FUNCTION(__tvm_ffi_too_much) { return CALL(TVMBackendAllocWorkspace)(1, 0, (uint64_t)1 << 62, 0, 8) ? 0 : -1; }
";

/// Opens libraries that ask for the run time by variables, by symbols that are looked up early or
/// late, and by weak ones.
fn with_run_time(folder: &Path) -> Vec<PathBuf> {
    let variables =
        "#define ASK(R, name, args) EXPORT R (*__##name) args = 0;\n#define CALL(name) __##name\n";
    let symbols = "#define ASK(R, name, args) extern R name args;\n#define CALL(name) name\n";
    let weak = symbols.replace("extern", "extern __attribute__((weak))");
    let tables = [
        (variables, "-Wl,-z,lazy"),
        (symbols, "-Wl,-z,lazy"),
        (symbols, "-Wl,-z,now,-z,relro"),
        (symbols, "-Wl,--hash-style=sysv"),
        (symbols, "-fno-plt"),
        (&weak, "-Wl,-z,now"),
    ];
    let build = |(at, (how, flag)): (usize, &(&str, &str))| {
        Source::of(&format!("{how}{RUN_TIME}")).flag(*flag).build(folder, &format!("asks-{at}.so"))
    };
    tables.iter().enumerate().map(build).collect()
}

#[test]
fn lib_12_functions_of_tvms_run_time_are_the_hosts_and_need_no_libtvm_ffi() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (host(), host());
    for path in with_run_time(folder.path()) {
        let file = BuiltFile::read(&path).unwrap();
        assert!(
            matches!(file.contents(), Contents::Library(read) if read.needs_of_tvm_ffi().is_empty()),
            "{path:?}"
        );
        for host in [&one, &two] {
            let module = host.open_file(&file).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            assert_eq!(int(&module, "tasks"), 2, "{path:?}");
            let error = module.function("too_much").unwrap().call(&[]).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::OutOfMemory, "{path:?}: {error}");
        }
    }
    // Nothing of it is the process's: neither the names, nor libtvm_ffi.
    let process = Library::this();
    // SAFETY: only whether there is an address is asked.
    assert!(unsafe { process.get::<*const u8>(b"TVMBackendAllocWorkspace\0") }.is_err());
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.contains("libtvm_ffi"), "{maps}");
}

#[test]
fn lib_12_the_host_of_a_copy_comes_before_a_run_time_of_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let decoy = "EXPORT int TVMBackendFreeWorkspace(void) { return 7; }\nEXPORT int TVMBackendParallelLaunch(void) { return 7; }\n\
                 EXPORT void *TVMBackendAllocWorkspace(void) { return NULL; }\n";
    let decoy = Source::of(decoy).build(folder.path(), "decoy.so");
    // SAFETY: the library was made just now, and has no initialiser.
    let _decoy =
        unsafe { Library::open(Some(&decoy), RTLD_NOW | libloading::os::unix::RTLD_GLOBAL) }.unwrap();
    for path in with_run_time(folder.path()) {
        assert_eq!(int(&host().open(&path).unwrap(), "tasks"), 2, "{path:?}");
    }
    // One that is opened where it lies is no copy.
    let symbols = "#define ASK(R, name, args) extern R name args;\n#define CALL(name) name\n";
    let source = Source::of(&format!("{symbols}{RUN_TIME}")).flag("-Wl,-rpath,$ORIGIN");
    let error = host().open(&source.build(folder.path(), "in-place.so")).unwrap_err();
    assert!(error.to_string().contains("\"TVMBackendAllocWorkspace\""), "{error}");
    assert_eq!(*error.kind(), ErrorKind::Unavailable);
}

#[test]
fn a_library_for_another_machine_or_without_what_it_needs_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = ours().build(folder.path(), "f.so");
    let mut bytes = std::fs::read(&path).unwrap();
    let (number, name) =
        if cfg!(target_arch = "aarch64") { (62_u16, "x86_64") } else { (183_u16, "aarch64") };
    bytes[18..20].copy_from_slice(&number.to_le_bytes());
    std::fs::write(&path, &bytes).unwrap();
    assert!(
        matches!(BuiltFile::read(&path).unwrap().contents(), Contents::Library(read) if read.machine() == name)
    );
    let error = host().open(&path).unwrap_err();
    assert!(error.to_string().contains(&format!("built for {name}, this machine is")), "{error}");

    let text = "extern int nowhere(void);\nFUNCTION(__tvm_ffi_f) { return nowhere(); }\n";
    let error = host().open(&Source::of(text).build(folder.path(), "nowhere.so")).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("nowhere"), "{error}");
    let newer =
        document_of(&NAMES, &Value::Null).to_string().replace("\\\"toy\\\",", "\\\"toy\\\",\\\"env\\\":99,");
    let newer = Source::of(COUNTER).document(&serde_json::from_str(&newer).unwrap());
    let error = host().open(&newer.build(folder.path(), "newer.so")).unwrap_err();
    assert!(error.to_string().contains("version 99 of the environment"), "{error}");
}

#[test]
fn lib_6_a_library_of_others_finds_files_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    Source::of("EXPORT int there(void) { return 5; }\n").build(folder.path(), "libbeside.so");
    let text = "extern int there(void);\nFUNCTION(__tvm_ffi_f) { return give(result, there()); }\n";
    let source = Source::of(text).flag(format!("-L{}", folder.path().display()));
    let source = source.flag("-lbeside").flag("-Wl,-rpath,$ORIGIN");
    assert_eq!(int(&host().open(&source.build(folder.path(), "f.so")).unwrap(), "f"), 5);
}
