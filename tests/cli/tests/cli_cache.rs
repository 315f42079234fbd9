//! Tests of `chipdock cache`, and of the files that `build` and `run` keep. Rules CACHE-V1 to
//! CACHE-V8 are those of `host/src/compile/cache.rs`, KEPT-K1 to KEPT-K8 those of
//! `plugin-api/src/files/cache.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use chipdock_test_support::command::{Ended, Scratch, built, end, fields};

/// A scratch folder with a kernel and a cache of its own.
struct Cached(Scratch);

impl Cached {
    fn new() -> Self {
        let scratch = Scratch::new();
        scratch.kernel("vector_add.py").kernel("multi.py");
        Self(scratch)
    }

    fn command(&self, words: &str) -> Command {
        let mut command = self.0.command(words);
        command.env("CHIPDOCK_CACHE_DIR", self.0.path("cache")).env_remove("XDG_CACHE_HOME");
        command
    }

    fn run(&self, words: &str) -> Ended {
        end(&mut self.command(words))
    }

    /// Builds; returns the output, and whether it was found in the cache.
    fn build(&self, words: &str) -> (String, bool) {
        let ended = self.run(&format!("{words} --verbose"));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let is_found = ended.stderr.contains("compile cache: target.build.c: hit ");
        assert_ne!(
            is_found,
            ended.stderr.contains("compile cache: target.build.c: miss "),
            "{}",
            ended.stderr
        );
        (ended.stdout, is_found)
    }

    /// The files of builds.
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.path("cache/compile")).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "cached")).collect()
    }
}

const BUILD: &str = "build vector_add.py --target c";

#[test]
fn cli_c12_a_second_build_is_found_and_is_the_same() {
    let cached = Cached::new();
    let (first, is_found) = cached.build(BUILD);
    assert!(!is_found && first.contains("__tvm_ffi_vector_add"));
    assert_eq!(cached.build(BUILD), (first.clone(), true));
    assert_eq!(cached.files().len(), 1);
    let json = cached.run(&format!("{BUILD} --json")).json();
    assert_eq!((&json["cached"], json["text"].as_str()), (&true.into(), Some(&*first)));
    let said = cached.run(&format!("{BUILD} --emit source -o out.c")).stdout;
    assert!(said.starts_with("out.c: source for c, found in the cache in "), "{said}");
    // A format by its ending is another request.
    for how in ["compiled in ", "found in the cache in "] {
        let said = cached.run(&format!("{BUILD} -o out.c")).stdout;
        assert!(said.starts_with(&format!("out.c: source for c, {how}")), "{said}");
    }
    // The same artifact, byte for byte, as without a cache.
    for (name, more) in [("one", ""), ("two", ""), ("three", " --no-cache")] {
        assert_eq!(cached.run(&format!("{BUILD} -o {name}.artifact{more}")).code, Some(0));
    }
    let read = |name: &str| fs::read(cached.0.path(&format!("{name}.artifact"))).unwrap();
    assert!(read("one") == read("two") && read("one") == read("three"));
    assert!(!cached.build("build multi.py --target c").1, "another kernel");
}

#[test]
fn cli_c12_a_run_is_found_and_computes_the_same() {
    let cached = Cached::new();
    cached.0.write_f32("a.npy", &[4], &[1.5; 4]);
    let run = || {
        let ended = cached.run("run vector_add.py --target c --in A=a.npy --in B=a.npy --out C=c.npy --json");
        (ended.json()["cached"].clone(), cached.0.read_npy::<f32>("c.npy").1)
    };
    assert_eq!(run(), (false.into(), vec![3.0; 4]));
    assert_eq!(run(), (true.into(), vec![3.0; 4]));
    let shown = cached.run("run vector_add.py --target c --in A=a.npy --in B=a.npy").stdout;
    assert!(shown.contains(" (found in the cache)\n"), "{shown}");
    // In a process of its own too.
    let isolated = cached.run("run vector_add.py --target c --in A=a.npy --in B=a.npy --isolate --json");
    assert_eq!(isolated.json()["cached"], true);
}

#[test]
fn cache_v6_without_a_cache_nothing_is_kept_or_found() {
    let cached = Cached::new();
    let quiet = |words: &str, variable: (&str, &str)| {
        let ended = end(cached.command(words).arg("--verbose").env(variable.0, variable.1));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(!ended.stderr.contains("compile cache"), "{}", ended.stderr);
    };
    let no_cache = format!("{BUILD} --no-cache");
    quiet(&no_cache, ("NOTHING", ""));
    quiet(BUILD, ("CHIPDOCK_CACHE_DIR", ""));
    quiet(BUILD, ("CHIPDOCK_CACHE_SIZE", "0"));
    assert!(!cached.0.path("cache").exists());
    assert!(!cached.build(BUILD).1 && cached.build(BUILD).1);
    quiet(&no_cache, ("NOTHING", ""));
    end(cached.command(BUILD).env("CHIPDOCK_CACHE_SIZE", "1GB")).failed(
        2,
        &[
            "CHIPDOCK_CACHE_SIZE is \"1GB\"; expected a number of bytes",
            "help: as in CHIPDOCK_CACHE_SIZE=512M",
        ],
    );
    end(cached.command("cache").env("CHIPDOCK_CACHE_SIZE", "x")).failed(2, &["CHIPDOCK_CACHE_SIZE"]);
}

#[test]
fn cache_v1_another_library_or_version_of_the_plugin_is_another_build() {
    let cached = Cached::new();
    assert!(!cached.build(BUILD).1 && cached.build(BUILD).1);
    // The same plugin with one byte more, alone in a folder.
    let plugins = cached.0.path("plugins");
    fs::create_dir(&plugins).unwrap();
    let library = plugins.join("chipdock_plugin_c.so");
    let mut bytes = fs::read(built().plugins.join("chipdock_plugin_c.so")).unwrap();
    bytes.push(0);
    fs::write(&library, bytes).unwrap();
    let other = format!("{BUILD} --plugin {}", plugins.display());
    let ended = cached.run(&format!("{other} --verbose"));
    assert!(ended.stderr.contains("compile cache: target.build.c: miss "), "{}", ended.stderr);
    assert!(cached.build(&other).1 && cached.build(BUILD).1, "each has its own");
    assert_eq!(cached.files().len(), 2);
}

#[test]
fn cli_c12_no_state_of_the_folder_fails_a_build() {
    let cached = Cached::new();
    let (expected, _) = cached.build(BUILD);
    let file = cached.files().remove(0);
    let whole = fs::read(&file).unwrap();
    let same = |what: &str| {
        let ended = cached.run(BUILD);
        assert_eq!((ended.code, &ended.stdout), (Some(0), &expected), "{what}: {}", ended.stderr);
        ended.stderr
    };
    for place in [0, 20, 60, 100, whole.len() / 2, whole.len() - 1] {
        let mut bad = whole.clone();
        bad[place] ^= 4;
        fs::write(&file, &bad).unwrap();
        same("a byte");
        fs::write(&file, &whole[..place]).unwrap();
        same("cut");
    }
    fs::write(&file, &whole).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(same("writable").contains("cannot be kept in"), "and says so");
    fs::remove_file(&file).unwrap();
    symlink("/etc/passwd", &file).unwrap();
    same("a link");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    same("a folder");
    // The folder itself.
    let folder = cached.0.path("cache/compile");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let is_reported = |stderr: &str, why: &str| {
        let warning = "warning: cannot keep what is compiled";
        assert!(
            stderr.starts_with(warning) && stderr.contains(why) && stderr.contains("CHIPDOCK_CACHE_DIR="),
            "{stderr}"
        );
        assert_eq!(stderr.matches(warning).count(), 1, "{stderr}");
    };
    is_reported(&same("others may write"), "others may write");
    fs::remove_dir_all(cached.0.path("cache")).unwrap();
    cached.0.write("cache", "a file");
    is_reported(&same("no folder"), "cache");
}

#[test]
fn commands_at_once_share_a_cache() {
    let cached = Cached::new();
    let (expected, _) = Cached::new().build(BUILD);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(|| cached.run(BUILD))).collect();
        for run in runs {
            let ended = run.join().unwrap();
            assert_eq!((ended.code, &*ended.stderr, &ended.stdout), (Some(0), "", &expected));
        }
    });
    assert_eq!(cached.files().len(), 1, "and leave nothing half-written");
    assert!(cached.build(BUILD).1);
}

#[test]
fn cli_c12_the_list_the_size_and_clearing() {
    let cached = Cached::new();
    let cleaned = |text: &str| text.replace(&cached.0.path("").display().to_string(), "SCRATCH/");
    assert_eq!(
        cleaned(&cached.run("cache").stdout),
        "0 builds, 0 bytes of at most 1.00 GiB, in SCRATCH/cache\n"
    );
    assert_eq!(cleaned(&cached.run("cache size").stdout), "no caches in SCRATCH/cache\n");
    assert_eq!(cached.run("cache clear").stdout.split(',').next(), Some("removed 0 files"));
    assert!(!cached.0.path("cache").exists(), "looking makes nothing");
    cached.build(BUILD);
    cached.build("build multi.py --target c");
    let list = cached.run("cache list");
    assert_eq!(list.code, Some(0), "{}", list.stderr);
    let lines: Vec<Vec<&str>> = list.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["TARGET", "PLUGIN", "FUNCTIONS", "SIZE", "USED", "KEY"]);
    assert!(
        lines[1..3].iter().all(|line| line[..2] == ["c", "c"] && line.contains(&"just")),
        "{}",
        list.stdout
    );
    let functions = list.stdout.contains(" vector_add ") && list.stdout.contains(" scale add ");
    assert!(functions && lines[4][..2] == ["2", "builds,"], "{}", list.stdout);
    let json = cached.run("cache --json").json();
    let expected = "\
action: string
builds[].age_seconds: number
builds[].functions[]: string
builds[].key: string
builds[].plugin: string
builds[].plugin_version: string
builds[].size_bytes: number
builds[].target_kind: string
folder: string
schema: string
size_bytes_max: number";
    assert_eq!(fields(&json), expected);
    // What is damaged is there, and is not read.
    let file = cached.files().remove(0);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..80]).unwrap();
    let list = cached.run("cache").stdout;
    let damaged = |line: &str| line.split_whitespace().take(3).eq(["?", "?", "?"]);
    assert_eq!(list.lines().filter(|line| damaged(line)).count(), 1, "{list}");
    // Another cache of Chipdock's, by the same rules, and a folder that is none.
    let other = chipdock_plugin_api::files::cache::Kind { name: "other", version: 1 };
    let cache = chipdock_plugin_api::files::cache::Cache::at(&cached.0.path("cache/other"), other, 1000);
    cache.unwrap().write(&other.key(&["x"]), b"x");
    cached.0.write("cache/thesis/thesis.tex", "text");
    cached.0.write("cache/compile/notes", "text");
    let sizes = cached.run("cache size --json").json();
    let caches = sizes["caches"].as_array().unwrap();
    // Digests are remembered of plugins that have not changed for two seconds.
    let mut files: BTreeMap<&str, u64> = caches
        .iter()
        .map(|cache| (cache["name"].as_str().unwrap(), cache["files"].as_u64().unwrap()))
        .collect();
    let digests = files.remove("digests").unwrap_or_default();
    assert_eq!(files, BTreeMap::from([("compile", 2), ("other", 1)]));
    let cleared = cached.run("cache clear --json").json();
    assert_eq!(cleared["removed"]["files"], 3 + digests);
    assert!(cached.files().is_empty() && cached.0.path("cache/thesis/thesis.tex").exists());
    assert!(cached.0.path("cache/compile/notes").exists(), "not the cache's");
    assert_eq!(cached.run("cache size --json").json()["caches"][0]["size_bytes"], 0);
    assert!(!cached.build(BUILD).1 && cached.build(BUILD).1);
}

#[test]
fn a_cache_that_is_switched_off_says_so() {
    let scratch = Scratch::new();
    for words in ["cache", "cache size", "cache clear"] {
        let ended = scratch.run(words);
        let says = "nothing is kept: CHIPDOCK_CACHE_DIR is empty, or there is no HOME\n";
        assert_eq!((ended.code, &*ended.stdout), (Some(0), says), "{words}");
        assert!(scratch.run(&format!("{words} --json")).json()["folder"].is_null());
    }
    scratch.run("cache empty").failed(2, &["invalid value 'empty'"]);
    let help = scratch.run("help cache").stdout;
    for text in
        ["CHIPDOCK_CACHE_DIR", "CHIPDOCK_CACHE_SIZE", "--no-cache", "Examples:", "chipdock cache clear"]
    {
        assert!(help.contains(text) && !help.contains('\u{1b}'), "{text}: {help}");
    }
}

/// KEPT-K1: without the variable it is in the user's folder.
#[test]
fn kept_k1_the_folder_is_the_users() {
    let cached = Cached::new();
    let with = |name: &str, path: &str| {
        let mut command = cached.command(BUILD);
        command.env_remove("CHIPDOCK_CACHE_DIR").env_remove("HOME").env(name, cached.0.path(path));
        assert_eq!(end(&mut command).code, Some(0));
    };
    with("XDG_CACHE_HOME", "xdg");
    with("HOME", "home");
    for folder in ["xdg/chipdock/compile", "home/.cache/chipdock/compile"] {
        let folder = cached.0.path(folder);
        assert!(fs::read_dir(&folder).unwrap().count() == 2, "the mark and a build in {}", folder.display());
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o7777, 0o700);
    }
}

/// What the system's linker says that a command opens, if it says so (glibc).
fn opened(cached: &Cached, words: &str, variables: &[(&str, &str)]) -> Option<String> {
    let mut command = cached.command(words);
    let place = cached.0.path("linker");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir(&place).unwrap();
    command.env("LD_DEBUG", "files").env("LD_DEBUG_OUTPUT", place.join("of"));
    command.envs(variables.iter().copied());
    let ended = end(&mut command);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let files = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path());
    let said: String =
        files.map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()).collect();
    // The plugin is opened in any case.
    said.contains("chipdock_plugin_cpu_llvm").then_some(said)
}

/// Rules LLKIND-K11 and LLLOAD-R6 of `cpu-llvm`: what the caches answer does not open libLLVM; with
/// another answer to `remember`, to `--no-cache` and to the size of caches it does, and nothing is
/// kept.
#[test]
fn a_build_from_caches_opens_no_compiler() {
    const RUN: &str = "run vector_add.py --target llvm --set n=16 --json";
    let cached = Cached::new();
    let is_open = |words: &str, variables: &[(&str, &str)]| {
        let is_it = |line: &str| line.contains("libLLVM") && line.contains("generating link map");
        opened(&cached, words, variables).map(|said| said.lines().any(is_it))
    };
    let memory = cached.0.path("cache/cpu-llvm");
    let no_cache = format!("{RUN} --no-cache");
    let Some(first) = is_open(&no_cache, &[]) else {
        return chipdock_test_support::skipped("a linker that says what it opens");
    };
    assert!(first && !memory.exists());
    assert_eq!(is_open(RUN, &[("CHIPDOCK_CACHE_SIZE", "0")]), Some(true));
    assert_eq!(is_open(RUN, &[("CHIPDOCK_CPU_LLVM_REMEMBER", "false")]), Some(true));
    assert!(!memory.exists());
    assert_eq!((is_open(RUN, &[]), is_open(RUN, &[])), (Some(true), Some(false)));
    assert!(memory.exists());
    // What was kept is neither believed nor changed where nothing is to be remembered.
    let files = || fs::read_dir(&memory).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    let before = files();
    for (words, variables) in [
        (&no_cache[..], &[][..]),
        (RUN, &[("CHIPDOCK_CACHE_SIZE", "0")]),
        (RUN, &[("CHIPDOCK_CPU_LLVM_REMEMBER", "0")]),
        // Its list of objects is libLLVM's.
        (RUN, &[("CHIPDOCK_CPU_LLVM_GDB", "1")]),
    ] {
        assert_eq!(is_open(words, variables), Some(true), "{words} {variables:?}");
    }
    assert_eq!(files(), before);
    assert_eq!(is_open(RUN, &[]), Some(false));
    // Another target was not completed before.
    let other = RUN.replace("--target llvm", "--target {\"kind\":\"llvm\",\"opt-level\":2}");
    assert_eq!((is_open(&other, &[]), is_open(&other, &[])), (Some(true), Some(false)));
}

/// LLKEPT-P2: another libLLVM, by its file, is asked anew, and its builds are others.
#[test]
fn another_library_of_a_compiler_is_asked_anew() {
    const RUN: &str = "run vector_add.py --target llvm --set n=16 --json";
    let cached = Cached::new();
    let json = |variables: &[(&str, &str)]| {
        let mut command = cached.command(RUN);
        command.envs(variables.iter().copied());
        end(&mut command).json()["cached"].clone()
    };
    assert_eq!((json(&[]), json(&[])), (false.into(), true.into()));
    let own = ["/usr/lib/x86_64-linux-gnu/libLLVM.so.19.1", "/usr/lib/aarch64-linux-gnu/libLLVM.so.19.1"];
    let Some(own) = own.iter().find(|path| std::path::Path::new(path).exists()) else {
        return chipdock_test_support::skipped("a libLLVM of the distribution, to be copied");
    };
    let copy = cached.0.path("libLLVM-copy.so");
    fs::copy(own, &copy).unwrap();
    let copied = [("CHIPDOCK_LLVM", copy.to_str().unwrap())];
    assert_eq!((json(&copied), json(&copied)), (false.into(), true.into()));
    assert_eq!(json(&[]), serde_json::Value::from(true), "the first is known too");
    // The same name, another file.
    fs::remove_file(&copy).unwrap();
    let mut bytes = fs::read(own).unwrap();
    bytes.push(0);
    fs::write(&copy, bytes).unwrap();
    assert_eq!(json(&copied), serde_json::Value::from(false));
}
