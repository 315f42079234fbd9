//! Tests of the command with keys that several plugins claim. Rules REG-R1, REG-R2 and REG-R5 are
//! those of the host's registry.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use chipdock_test_support::command::Scratch;
use serde_json::{Value, json};

/// A folder with one more plugin, which claims keys by its manifest and leaves a mark when anybody
/// opens it.
struct Impostor {
    scratch: Scratch,
}

impl Impostor {
    fn claiming(keys: &[&str]) -> Self {
        let scratch = Scratch::new();
        let mark = scratch.path("opened");
        let source = scratch.write(
            "impostor.c",
            format!(
                "#include <stdio.h>\n__attribute__((constructor)) static void opened(void) {{\n\
                 FILE *mark = fopen(\"{}\", \"w\"); if (mark) fclose(mark); }}\n",
                mark.display()
            ),
        );
        let library = scratch.path("more/impostor.so");
        fs::create_dir(scratch.path("more")).unwrap();
        fs::set_permissions(scratch.path("more"), fs::Permissions::from_mode(0o755)).unwrap();
        let compiler = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
        assert!(compiler.expect("a C compiler").success());
        let manifest = json!({
            "schema": 1, "name": "impostor", "version": "1.0.0", "abi": "^1.0.0", "os": std::env::consts::OS,
            "arch": std::env::consts::ARCH, "provides": keys,
        });
        let manifest = scratch.write("more/impostor.chipdock.json", manifest.to_string());
        for path in [library, manifest] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
        }
        scratch.kernel("vector_add.py").write_f32("a.npy", &[3], &[1.0, 2.0, 3.0]);
        scratch.write_f32("b.npy", &[3], &[0.5, 0.5, 0.5]);
        Self { scratch }
    }

    fn run(&self, words: &str) -> chipdock_test_support::command::Ended {
        self.scratch.run(&format!("{words} --plugin more"))
    }

    /// Adds vectors and answers what standard error had to say.
    fn adds_vectors(&self, options: &str) -> String {
        let _ = fs::remove_file(self.scratch.path("c.npy"));
        let ended =
            self.run(&format!("run vector_add.py {options} --in A=a.npy --in B=b.npy --out C=c.npy --json"));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(self.scratch.read_npy::<f32>("c.npy"), (vec![3], vec![1.5, 2.5, 3.5]));
        ended.stderr
    }

    fn was_opened(&self) -> bool {
        self.mark().exists()
    }

    fn mark(&self) -> PathBuf {
        self.scratch.path("opened")
    }
}

#[test]
fn reg_r2_a_disputed_target_is_refused_by_name_and_others_go_on() {
    let impostor = Impostor::claiming(&["target.kind.c"]);
    impostor.run("run vector_add.py --target c --in A=a.npy --in B=b.npy").failed(
        3,
        &["target.kind.c is provided by 2 plugins", "\"c\" (", "\"impostor\" (", "--prefer target.kind.c="],
    );
    impostor.adds_vectors("--target llvm");
    impostor.adds_vectors("--target c --prefer target.kind.c=c");
    impostor.adds_vectors("--target c --disable impostor");
    assert!(!impostor.was_opened(), "REG-R2: a dispute opens nobody");
}

#[test]
fn reg_r5_the_default_target_is_chosen_among_the_undisputed() {
    let impostor = Impostor::claiming(&["target.kind.llvm", "target.build.llvm"]);
    let said = impostor.adds_vectors("");
    assert!(said.contains("target.kind.llvm is provided by 2 plugins"), "{said}");
    assert!(!impostor.was_opened());
}

#[test]
fn reg_r5_lists_go_on_and_show_disputed_names() {
    let impostor = Impostor::claiming(&["target.kind.c", "device_api.cpu"]);
    let targets = impostor.run("targets --json");
    let listed: Value = targets.json();
    let kinds = listed["kinds"].as_array().unwrap();
    let llvm = kinds.iter().find(|kind| kind["name"] == "llvm").unwrap();
    assert_eq!(llvm["usable"], json!(true), "{llvm:#}");
    assert!(targets.stderr.contains("target.kind.c is provided by 2 plugins"), "{}", targets.stderr);

    let devices = impostor.run("devices --json");
    let listed: Value = devices.json();
    let cpu = listed["device_apis"].as_array().unwrap().iter().find(|api| api["name"] == "cpu").unwrap();
    assert_eq!(cpu["devices"].as_array().unwrap().len(), 1, "the host's own serves: {cpu:#}");
    assert!(devices.stderr.contains("device_api.cpu is provided by 2 plugins"), "{}", devices.stderr);
    assert!(!impostor.was_opened());
}

#[test]
fn reg_r2_host_memory_serves_while_plugins_dispute_it() {
    let impostor = Impostor::claiming(&["device_api.cpu"]);
    for target in ["c", "llvm"] {
        let said = impostor.adds_vectors(&format!("--target {target}"));
        assert!(said.contains("the host's own is used"), "{said}");
    }
    assert!(!impostor.was_opened());
}

#[test]
fn reg_r1_a_plugin_whose_manifest_has_no_schema_is_not_opened_for_another_target() {
    let impostor = Impostor::claiming(&["target.kind.zebra", "target.build.zebra", "device_api.zebra"]);
    impostor.adds_vectors("--target c");
    impostor.adds_vectors("");
    let built = impostor.run("build vector_add.py --target c");
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    assert!(!impostor.was_opened());
    // The mark works: who asks for the kind opens its plugin, which registers nothing of what it
    // claims.
    assert_eq!(impostor.run("run vector_add.py --target zebra --in A=a.npy --in B=b.npy").code, Some(3));
    assert!(impostor.was_opened());
}
