//! Tests of digests that are remembered (rules DIGEST-M1 to DIGEST-M4 of the host's `digests`).

use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chipdock_host::discovery::discover;
use chipdock_host::generation;
use chipdock_host::manifest::{Needs, manifest_path, sha256_of};
use chipdock_host::{Host, HostOptions, PluginLock, ProblemKind};
use chipdock_plugin_api::files::cache::{Cache, Kind};
use chipdock_test_support::plugins::compile;
use chipdock_test_support::workspace;

/// The memory, as the host has it.
const KIND: Kind = Kind { name: "digests", version: 1 };

/// The template in C in a folder of its own.
fn template(folder: &Path) -> PathBuf {
    fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    let library = folder.join("template.so");
    compile(&["gcc", "-std=c99"], &workspace().join("examples/plugin-template-c/template.c"), &library);
    fs::set_permissions(&library, Permissions::from_mode(0o755)).unwrap();
    library
}

/// What DIGEST-M1 says of a file.
fn identity(of: &Metadata) -> String {
    let times = [(of.mtime(), of.mtime_nsec()), (of.ctime(), of.ctime_nsec())];
    let [modified, changed] = times.map(|(seconds, nanoseconds)| format!("{seconds}.{nanoseconds:09}"));
    format!("{} {} {} {modified} {changed}", of.dev(), of.ino(), of.size())
}

#[test]
fn digest_m3_a_lock_is_believed_by_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let library = template(folder.path());
    let wrong = "0".repeat(64);
    // A manifest with another digest than the library's, and a memory that says the same.
    let text = generation::generate(&library, &Needs::default()).unwrap().to_text().unwrap();
    let digest = sha256_of(&library).unwrap();
    assert!(text.contains(&digest));
    fs::write(manifest_path(&library), text.replace(&digest, &wrong)).unwrap();
    fs::set_permissions(manifest_path(&library), Permissions::from_mode(0o644)).unwrap();
    let caches = folder.path().join("caches");
    // SAFETY: a test has a process of its own, in which nothing else runs yet.
    unsafe { std::env::set_var("CHIPDOCK_CACHE_DIR", &caches) };
    let cache = Cache::at(&caches.join(KIND.name), KIND, 1 << 20).expect("a cache");
    cache.write(&KIND.key(&[&identity(&fs::metadata(&library).unwrap())]), wrong.as_bytes());

    let options =
        || HostOptions { plugin_paths: vec![library.clone()], remember: true, ..HostOptions::isolated() };
    let opened = |options: HostOptions| {
        let host = Host::new(options).unwrap();
        let name = host.plugins().swap_remove(0).name;
        let result = host.open_plugin(&name).map(|_| ());
        (result, host.plugins().swap_remove(0).problem.map(|problem| problem.kind))
    };
    // By the memory alone the library has the digest of the manifest; this shows that it is asked.
    assert_eq!(opened(options()).1, None);
    let unasked = opened(HostOptions { remember: false, ..options() });
    assert_eq!(unasked.1, Some(ProblemKind::WrongDigest));
    let lock = Arc::new(PluginLock::of(&discover(&options()).unwrap()).unwrap());
    let (result, problem) = opened(HostOptions { locked: Some(lock), ..options() });
    assert_eq!(problem, Some(ProblemKind::WrongDigest));
    let message = result.unwrap_err().to_string();
    assert!(message.contains(&digest), "{message}");
}
