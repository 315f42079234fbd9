//! Tests of the command with raised privileges (CLI-C10), actually raised by the set-user-id bit
//! and by file capabilities.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use chipdock_test_support::command::{Ended, Scratch, end};

/// A user who owns nothing.
const NOBODY: u32 = 65534;

/// Ways in which a program gets more privileges than the user who starts it.
#[derive(Clone, Copy, Debug)]
enum Raise {
    SetUser,
    Capabilities,
}

impl Raise {
    /// Gives them to a file of root's.
    fn apply(self, program: &Path) {
        match self {
            Self::SetUser => fs::set_permissions(program, fs::Permissions::from_mode(0o4755)).unwrap(),
            Self::Capabilities => {
                let given = Command::new("setcap").arg("cap_net_raw+ep").arg(program).output();
                let given = given.expect("setcap, of Debian's package libcap2-bin");
                assert!(given.status.success(), "{}", String::from_utf8_lossy(&given.stderr));
            }
        }
    }

    /// Whether the system grants them to a file of that folder, asked of another program than ours.
    fn works_in(self, folder: &Path) -> bool {
        let program = folder.join("probe");
        fs::copy("/bin/cat", &program).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        self.apply(&program);
        let status = as_nobody(Command::new(&program).arg("/proc/self/status")).output().unwrap().stdout;
        fs::remove_file(&program).unwrap();
        let status = String::from_utf8(status).unwrap();
        let line = |name: &str| {
            status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("").trim().to_owned()
        };
        match self {
            Self::SetUser => line("Uid:").split_whitespace().nth(1) == Some("0"),
            Self::Capabilities => !line("CapEff:").trim_matches('0').is_empty(),
        }
    }
}

fn as_nobody(command: &mut Command) -> &mut Command {
    command.uid(NOBODY).gid(NOBODY)
}

/// A folder that everybody may write, with the command standing alone in it, raised.
fn raised(raise: Raise) -> Option<Scratch> {
    let scratch = Scratch::without_plugins();
    for folder in ["", "bin"] {
        fs::set_permissions(scratch.path(folder), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::create_dir(scratch.path("work")).unwrap();
    fs::set_permissions(scratch.path("work"), fs::Permissions::from_mode(0o777)).unwrap();
    if fs::metadata(scratch.path("bin/chipdock")).unwrap().uid() != 0 {
        chipdock_test_support::skipped("raised privileges: giving them to a file needs root");
        return None;
    }
    if !raise.works_in(&scratch.path("bin")) {
        let folder = scratch.path("bin");
        chipdock_test_support::skipped(&format!(
            "raised privileges: {raise:?} has no effect in {}: a nosuid mount, or no_new_privs",
            folder.display()
        ));
        return None;
    }
    Some(scratch)
}

/// A library that leaves a trace when it is opened.
fn trace(scratch: &Scratch) {
    let trace = scratch.path("work/opened");
    let text = format!(
        "#include <sys/stat.h>\n__attribute__((constructor)) static void start(void) {{ mkdir(\"{}\", 0777); }}\n",
        trace.display()
    );
    let source = scratch.write("trace.c", text);
    fs::create_dir(scratch.path("p")).unwrap();
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-o"]).arg(scratch.path("p/trace.so")).arg(source);
    assert!(command.status().expect("cc").success());
}

fn run(scratch: &Scratch, words: &str) -> Ended {
    let mut command = scratch.command(words);
    let plugins = scratch.path("p");
    end(as_nobody(&mut command).env("CHIPDOCK_PLUGIN_PATH", &plugins).env("HOME", &plugins))
}

fn refuses(raise: Raise) {
    let Some(scratch) = raised(raise) else { return };
    trace(&scratch);
    scratch.kernel("vector_add.py");
    scratch.write_f32("a.npy", &[4], &[1.0; 4]);
    scratch.write("secret", "error: not for everybody");
    fs::set_permissions(scratch.path("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    let all = [
        "run vector_add.py --in A=a.npy --in B=a.npy --out C=work/c.npy",
        "run secret",
        "run none.py",
        "build vector_add.py --emit ir -o work/x",
        "build vector_add.py --emit source",
        "conformance p/trace.so --report-json work/r",
        "conformance --list",
        "conformance p/trace.so --repro secret",
        "manifest p/trace.so",
        "plugins --check",
        "cache clear",
        "plugins --lock work/lock",
        "plugins --locked secret",
        "plugins --check --plugin p/trace.so",
        "devices --plugin p",
        "targets --plugin p",
        "__check-plugin p/trace.so",
        "__conformance-worker secret",
    ];
    // As everybody else they open it: the privileges are what is refused.
    let plain = scratch.path("bin/plain");
    fs::copy(scratch.path("bin/chipdock"), &plain).unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(&plain);
    as_nobody(command.args(["manifest", "p/trace.so"]).current_dir(scratch.path(""))).output().unwrap();
    assert!(scratch.path("work/opened").exists(), "without privileges it is opened");
    fs::remove_dir(scratch.path("work/opened")).unwrap();

    raise.apply(&scratch.path("bin/chipdock"));
    for words in all {
        let ended = run(&scratch, words);
        ended.failed(3, &["does not work with more privileges than whoever started it has"]);
        assert_eq!(ended.stderr.lines().count(), 2, "{words}: one sentence and what to do: {}", ended.stderr);
        assert!(!ended.stderr.contains("not for everybody"), "{words}: {}", ended.stderr);
    }
    assert_eq!(fs::read_dir(scratch.path("work")).unwrap().count(), 0, "nothing was opened or written");
    assert!(!scratch.path("p/trace.chipdock.json").exists());

    // The list has the system's folders alone.
    let list = run(&scratch, "plugins --json --plugin p --allow-path p").json();
    let places = list["places"].as_array().unwrap();
    assert!(places.iter().any(|place| place["source"] == "system"), "{places:?}");
    for place in places.iter().filter(|place| place["source"] != "system") {
        assert!(place["ignored"].as_str().unwrap().contains("more privileges"), "{place}");
    }
    let of_user = |plugin: &&serde_json::Value| plugin["source"] != "system";
    assert_eq!(list["plugins"].as_array().unwrap().iter().filter(of_user).count(), 0);
    for words in ["--help", "--version", "help run"] {
        assert_eq!(run(&scratch, words).code, Some(0), "{words}");
    }
}

#[test]
fn cli_c10_set_user_id_is_refused() {
    refuses(Raise::SetUser);
}

#[test]
fn cli_c10_file_capabilities_are_refused() {
    refuses(Raise::Capabilities);
}
