use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use chipdock_ir::{IrModule, Span, Stmt, StmtKind};
use chipdock_plugin_api::files::kept;
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_ne, proptest};
use serde_json::json;

use super::*;
use crate::runtime::toy_for_tests::{BUILDS, DEPENDS_ON, IS_OLD};
use crate::{CompileOptions, Compiled, Host, HostOptions};

const SIZE_BYTES: u64 = 1 << 20;

/// A host whose log is kept, and a cache in a folder of its own.
struct Bench {
    folder: tempfile::TempDir,
    host: Host,
    cache: Arc<CompileCache>,
    log: Arc<Mutex<Vec<(LogLevel, String)>>>,
}

fn host(log: &Arc<Mutex<Vec<(LogLevel, String)>>>) -> Host {
    let log = Arc::clone(log);
    let log = Arc::new(move |level, line: &str| log.lock().unwrap().push((level, line.to_owned())));
    Host::new(HostOptions { log, ..HostOptions::isolated() }).unwrap()
}

impl Bench {
    fn new() -> Self {
        Self::holding(SIZE_BYTES)
    }

    fn holding(size_bytes_max: u64) -> Self {
        let private = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().permissions(private).tempdir().unwrap();
        let cache = Arc::new(CompileCache::at(&folder.path().join(COMPILE_CACHE), size_bytes_max).unwrap());
        let log = Arc::default();
        Self { host: host(&log), folder, cache, log }
    }

    fn options(&self) -> CompileOptions {
        CompileOptions { cache: Some(Arc::clone(&self.cache)), ..CompileOptions::default() }
    }

    fn compile(&self, order: &str, options: &CompileOptions) -> Result<Compiled, Error> {
        let target = self.host.target(json!({"kind": "toy", "do": order}))?;
        self.host.compile(&IrModule::default(), &target, options)
    }

    fn build(&self, order: &str) -> Compiled {
        self.compile(order, &self.options()).unwrap()
    }

    /// Whether another such build is found.
    fn is_found(&self, order: &str) -> bool {
        let before = BUILDS.load(Relaxed);
        let cached = self.build(order).cached;
        assert_eq!(BUILDS.load(Relaxed), before + u64::from(!cached), "found, or built");
        cached
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.cache.folder()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|ending| ending == "cached")).collect();
        files.sort();
        files
    }

    fn lines(&self, level: LogLevel) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let of_cache = log.iter().filter(|(at, line)| {
            *at == level && (line.contains("compile cache") || line.contains("cannot be kept"))
        });
        of_cache.map(|(_, line)| line.clone()).collect()
    }
}

fn same(found: &Compiled, built: &Compiled) {
    assert_eq!(found.artifact.to_bytes().unwrap(), built.artifact.to_bytes().unwrap());
    assert_eq!(found.messages, built.messages, "CACHE-V3: what was said is said again");
}

#[test]
fn cache_v1_v3_a_hit_equals_a_build_and_builds_nothing() {
    let bench = Bench::new();
    let built = bench.build("build");
    assert!(!built.cached && BUILDS.load(Relaxed) == 1);
    let found = bench.build("build");
    assert!(found.cached && BUILDS.load(Relaxed) == 1);
    same(&found, &built);
    assert_eq!(built.messages.len(), 1);
    assert_eq!(built.messages[0].diagnostic.span, Span { line: 3, column: 7 });
    let code = found.artifact.section("code").unwrap();
    assert!(code.data().as_ptr().addr().is_multiple_of(64), "aligned as before");
    let add = bench.host.load(&found.artifact).unwrap().function("add").unwrap();
    assert_eq!(add.call(&[40_i64.into(), 2_i64.into()]).unwrap().to::<i64>().unwrap(), 42);
    // Another host of the process, as another process would be.
    let other = Bench { host: host(&bench.log), ..bench };
    assert!(other.is_found("build"));
    let lines = other.lines(LogLevel::Debug);
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').nth(3)).collect();
    assert_eq!(kinds, ["miss", "hit", "hit"], "{lines:?}");
    assert!(lines.iter().all(|line| line.ends_with(lines[0].rsplit(' ').next().unwrap())), "one key");
}

#[test]
fn cache_v1_whatever_the_bytes_depend_on_is_another_build() {
    let bench = Bench::new();
    assert!(!bench.is_found("build") && bench.is_found("build"));
    assert!(!bench.is_found("threads"), "the target");
    let with = |change: &dyn Fn(&mut CompileOptions)| {
        let mut options = bench.options();
        change(&mut options);
        let first = bench.compile("build", &options).unwrap().cached;
        assert!(bench.compile("build", &options).unwrap().cached);
        !first
    };
    assert!(with(&|options| drop(options.options.insert("of-the-test".into(), json!(7)))), "the options");
    assert!(with(&|options| options.file = Some("k.py".into())), "the file's name");
    assert!(!with(&|options| options.threads_max = 3), "not the threads (C.28)");
    DEPENDS_ON.store(7, Relaxed);
    assert!(!bench.is_found("build"), "the fingerprint");
    let module = |line| {
        let mut f = chipdock_ir::build::function("f");
        f.push(Stmt::new(StmtKind::Return(None)).with_span(Span { line, column: 5 }));
        chipdock_ir::build::module([f.finish()])
    };
    let target = bench.host.target(json!({"kind": "toy"})).unwrap();
    let is_found = |line| {
        let compiled = bench.host.compile(&module(line), &target, &bench.options());
        compiled.map(|compiled| compiled.cached)
    };
    // The toy's index has other functions than these: broken, and not kept.
    assert!(is_found(7).is_err() && is_found(7).is_err());
    assert_eq!(bench.files().len(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// CACHE-V1: no part of a key stands for another, and none is left out.
    #[test]
    fn cache_v1_a_key_has_every_part(
        parts in prop::collection::vec("[a-z0-9{}\":,]{0,12}", 9),
        at in 0..9_usize,
        change in "[A-Z]{1,3}",
        where_to in any::<prop::sample::Index>(),
    ) {
        let key = |parts: &[String]| CompileCache::key(&parts.iter().map(String::as_str).collect::<Vec<_>>());
        let mut other = parts.clone();
        let place = where_to.index(other[at].len() + 1);
        other[at].insert_str(place, &change);
        prop_assert_ne!(key(&parts), key(&other));
        // What ends one part does not begin the next.
        let mut moved = other.clone();
        if at + 1 < moved.len() {
            let tail = moved[at].split_off(place);
            moved[at + 1].insert_str(0, &tail);
            prop_assert_ne!(key(&other), key(&moved));
        }
        prop_assert!(key(&parts) == key(&parts.clone()));
    }

    /// CACHE-V3: whatever bytes stand in a file, nothing but what was written is taken.
    #[test]
    fn cache_v3_no_damaged_build_is_taken(
        place in any::<prop::sample::Index>(),
        bit in 0..8_u8,
        cut in any::<bool>(),
        more in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let bench = Bench::new();
        let built = bench.build("build");
        let file = bench.files().remove(0);
        let good = fs::read(&file).unwrap();
        let mut bad = good.clone();
        let place = place.index(good.len());
        if cut {
            bad.truncate(place);
            bad.extend_from_slice(&more);
        } else {
            bad[place] ^= 1 << bit;
        }
        if bad != good {
            fs::write(&file, &bad).unwrap();
            let again = bench.build("build");
            prop_assert!(!again.cached);
            same(&again, &built);
        }
    }

    /// CACHE-V3: and what is whole by its digest, but no build, is no reason to fail.
    #[test]
    fn cache_v3_any_content_is_read_or_not(content in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut with_size = 20_u64.to_le_bytes().to_vec();
        with_size.extend_from_slice(&content);
        prop_assert!(Kept::from_bytes(&content).is_none());
        prop_assert!(Kept::from_bytes(&with_size).is_none());
    }
}

/// CACHE-V3: an entry that is whole by its digest and is not the build that was kept: another
/// build's, cut between sections, or with other functions.
#[test]
fn cache_v3_an_entry_is_checked_as_a_delivery_is() {
    let bench = Bench::new();
    let built = bench.build("build");
    let key = |line: &str| line.rsplit(' ').next().unwrap().to_owned();
    let key = key(&bench.lines(LogLevel::Debug)[0]);
    let cache = Cache::at(bench.cache.folder(), KIND, SIZE_BYTES).unwrap();
    let found = [Kept::bytes(("p", "1.0.0"), "toy", &built.artifact, &[]).unwrap(), b"{}".to_vec()];
    let shorter = found[0][..found[0].len() - 1].to_vec();
    let longer = [found[0].clone(), vec![0]].concat();
    let no_index = String::from_utf8(found[0].clone()).unwrap().replace("module_kind", "module_none");
    for (name, content) in
        [("none", &found[1]), ("short", &shorter), ("long", &longer), ("index", &no_index.into_bytes())]
    {
        let other = KIND.key(&[name]);
        cache.write(&other, content);
        fs::rename(
            bench.cache.folder().join(other.file_name()),
            bench.cache.folder().join(format!("{key}.cached")),
        )
        .unwrap();
        assert!(!bench.is_found("build"), "{name}");
        assert!(bench.is_found("build"), "{name}: replaced");
    }
}

#[test]
fn cache_v2_builds_that_cannot_be_told_apart_are_not_kept() {
    let bench = Bench::new();
    for order in ["secret", "empty", "clueless"] {
        assert!(!bench.is_found(order) && !bench.is_found(order), "C.37: {order}");
    }
    assert!(!bench.is_found("moody"), "the fingerprint changed while it was built");
    assert!(bench.files().is_empty());
    let lines = bench.lines(LogLevel::Debug);
    assert!(lines.iter().filter(|line| line.contains("not kept")).count() == 6, "{lines:?}");
}

#[test]
fn cache_v2_failures_are_not_kept() {
    let bench = Bench::new();
    for order in ["unsupported", "terse", "fail", "panic", "nothing", "twice", "lie", "index", "align"] {
        let fails = || bench.compile(order, &bench.options()).unwrap_err().kind().clone();
        assert_eq!(fails(), fails(), "{order}: as before");
    }
    assert!(bench.files().is_empty());
}

#[test]
fn cache_v2_v7_cancelled_builds_are_neither_kept_nor_found() {
    let bench = Bench::new();
    let options = bench.options();
    options.cancel.store(true, Relaxed);
    // The toy builds this without asking.
    assert!(bench.compile("build", &options).is_ok() && bench.files().is_empty());
    assert_eq!(*bench.compile("wait", &options).unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(bench.files().is_empty());
    assert!(!bench.is_found("build") && bench.is_found("build"));
    assert_eq!(*bench.compile("build", &options).unwrap_err().kind(), ErrorKind::Cancelled, "CACHE-V7");
}

#[test]
fn cache_v4_a_loader_may_veto() {
    let bench = Bench::new();
    assert!(!bench.is_found("build"));
    let device = Some(bench.host.device("cpu", 0).unwrap());
    let on_device = CompileOptions { device, ..bench.options() };
    assert!(bench.compile("build", &on_device).unwrap().cached, "it runs there");
    IS_OLD.store(1, Relaxed);
    assert!(bench.is_found("build"), "nobody said where it is to run");
    let file = bench.files().remove(0);
    let number = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let before = number(&file);
    assert!(!bench.compile("build", &on_device).unwrap().cached && BUILDS.load(Relaxed) == 2, "built once");
    assert_ne!(number(&file), before, "and replaced");
    let lines = bench.lines(LogLevel::Debug);
    assert!(lines.iter().any(|line| line.contains("not taken (of another time)")), "{lines:?}");
    // Nobody loads this, so nobody vetoes.
    assert!(!bench.compile("other", &on_device).unwrap().cached);
    assert!(bench.compile("other", &on_device).unwrap().cached);
}

#[test]
fn cache_v5_a_cache_that_cannot_be_written_fails_no_build() {
    let bench = Bench::new();
    fs::remove_dir_all(bench.cache.folder()).unwrap();
    assert!(!bench.is_found("build") && !bench.is_found("build") && !bench.is_found("threads"));
    assert_eq!(bench.lines(LogLevel::Warning).len(), 1, "once: {:?}", bench.lines(LogLevel::Warning));
    let tiny = Bench::holding(100);
    assert!(!tiny.is_found("build") && !tiny.is_found("build"));
    assert!(tiny.lines(LogLevel::Warning)[0].contains("larger than all that may be kept"));
}

#[test]
fn cache_v5_only_the_users_own_files_are_taken() {
    let bench = Bench::new();
    assert!(!bench.is_found("build"));
    let file = bench.files().remove(0);
    let permit = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o620, 0o602, 0o666] {
        permit(mode);
        assert!(!bench.is_found("build"), "{mode:o}");
    }
    permit(0o600);
    assert!(bench.is_found("build"));
    let elsewhere = bench.folder.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    assert!(!bench.is_found("build"), "a link");
    assert!(file.is_symlink(), "which is not the cache's to remove");
}

#[test]
fn cache_v6_the_size_is_bounded_and_the_last_used_stay() {
    let one = {
        let bench = Bench::new();
        bench.build("build");
        fs::metadata(&bench.files()[0]).unwrap().len()
    };
    let bench = Bench::holding(one * 4);
    for number in 0..12_u64 {
        DEPENDS_ON.store(number, Relaxed);
        assert!(!bench.is_found("build"));
        assert!(bench.files().len() <= 4);
        // Which was used last shows in the times of files.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(bench.is_found("build"), "the last one");
    DEPENDS_ON.store(0, Relaxed);
    assert!(!bench.is_found("build"), "the first one");
}

#[test]
fn cache_v6_a_size_is_a_number_with_a_unit_or_without() {
    for (text, expected) in [
        ("0", Some(0)),
        ("1000", Some(1000)),
        (" 2k ", Some(2 << 10)),
        ("3M", Some(3 << 20)),
        ("1G", Some(1 << 30)),
        ("17179869184G", None),
        ("", None),
        ("G", None),
        ("-1", None),
        ("+1", None),
        ("1.5G", None),
        ("1 G", None),
        ("1GB", None),
        ("many", None),
        ("1\u{7684}", None),
    ] {
        assert_eq!(parsed_size(text.as_ref()), expected, "{text:?}");
    }
}

#[test]
fn cache_v6_nothing_is_kept_unless_it_is_asked_for() {
    assert!(CompileOptions::default().cache.is_none());
    let bench = Bench::new();
    assert!(!bench.compile("build", &CompileOptions::default()).unwrap().cached);
    assert!(!bench.compile("build", &CompileOptions::default()).unwrap().cached && bench.files().is_empty());
}

#[test]
fn threads_that_build_the_same_at_once_find_whole_files() {
    let bench = Bench::new();
    let built = bench.build("build");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (bench, built) = (&bench, &built);
            scope.spawn(move || {
                for round in 0..20 {
                    if (thread + round) % 7 == 0 {
                        bench.files().iter().for_each(|file| drop(fs::remove_file(file)));
                    }
                    same(&bench.build("build"), built);
                }
            });
        }
    });
}

#[test]
fn a_list_says_what_a_build_is_of() {
    let bench = Bench::new();
    bench.build("build");
    let caches = kept::all_in(bench.folder.path());
    assert_eq!((caches.len(), caches[0].name()), (1, COMPILE_CACHE));
    let files = caches[0].files();
    let build = KeptBuild::of(&caches[0], &files[0].name).unwrap();
    assert_eq!((&*build.plugin, &*build.target_kind), ("host", "toy"));
    assert_eq!(build.plugin_version, env!("CARGO_PKG_VERSION"));
    assert_eq!((build.functions.len(), &*build.functions[0]), (8, "add"));
    let file = &bench.files()[0];
    let whole = fs::read(file).unwrap();
    fs::write(file, &whole[..whole.len() / 4]).unwrap();
    assert_eq!(KeptBuild::of(&caches[0], &files[0].name), None);
}
