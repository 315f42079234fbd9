//! Tests of the build id of a plugin, as a host shows it (P1.15).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use chipdock_host::generation;
use chipdock_host::manifest::{self, Needs, sha256_of};
use chipdock_host::{Host, HostOptions};
use chipdock_test_support::plugins::compile;
use chipdock_test_support::workspace;

/// The template in C with a build id of its own, or an empty one, linked with those flags, as a
/// host opens it.
fn shown(said: &str, flag: &str, has_manifest: bool) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let own = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    own(folder.path());
    let text = fs::read_to_string(workspace().join("examples/plugin-template-c/template.c")).unwrap();
    let (empty, given) = ("\"0.1.0\", \"\"", format!("\"0.1.0\", \"{said}\""));
    assert!(text.contains(empty));
    let (source, library) = (folder.path().join("template.c"), folder.path().join("template.so"));
    fs::write(&source, text.replace(empty, &given)).unwrap();
    compile(&["gcc", "-std=c99", flag], &source, &library);
    own(&library);
    if has_manifest {
        let manifest = generation::generate(&library, &Needs::default()).unwrap();
        fs::write(manifest::manifest_path(&library), manifest.to_text().unwrap()).unwrap();
        fs::set_permissions(manifest::manifest_path(&library), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let host =
        Host::new(HostOptions { plugin_paths: vec![library.clone()], ..HostOptions::isolated() }).unwrap();
    let name = host.plugins().swap_remove(0).name;
    (host.open_plugin(&name).unwrap().build_id.unwrap(), sha256_of(&library).unwrap())
}

#[test]
fn p1_15_the_descriptor_then_the_linker_then_the_digest() {
    let (linked, none) = ("-Wl,--build-id=0x00c0ffee", "-Wl,--build-id=none");
    for has_manifest in [false, true] {
        assert_eq!(shown("mine", linked, has_manifest).0, "mine");
        assert_eq!(shown("", linked, has_manifest).0, "00c0ffee");
    }
    let (shown_id, digest) = shown("", none, true);
    assert_eq!(shown_id, digest[..16], "known, as the manifest has it");
    assert_eq!(shown("", none, false).0, "", "read for this alone it is not");
}
