//! Tests of the command's standard streams, and of unusual environments (CLI-C1, CLI-C2, CLI-C9).

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use chipdock_test_support::command::{Ended, Scratch, end, opened_does};

const ADD: &str = "run vector_add.py --in A=a.npy --in B=b.npy --out C=c.npy";

/// A folder with vector_add and its inputs.
fn vector_add() -> Scratch {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    for name in ["a.npy", "b.npy"] {
        scratch.write_f32(name, &[16], &[1.0; 16]);
    }
    scratch
}

/// Runs the command through a shell that redirects its streams first.
fn redirected(scratch: &Scratch, words: &str, how: &str) -> Ended {
    let command = scratch.command(words);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("exec \"$@\" {how}"), "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    shell.current_dir(scratch.path(""));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    end(&mut shell)
}

#[test]
fn cli_c1_plugin_output_is_no_result() {
    let scratch = vector_add();
    let talks = opened_does(&scratch, "talks", "puts(\"noise\"); fflush(stdout); write(1, \"more\\n\", 5);");
    let run = end(scratch.command(&format!("{ADD} --target c --json")).env("LD_PRELOAD", &talks));
    assert_eq!(run.json()["schema"], "chipdock.run/1");
    assert!(run.stderr.contains("noise\nmore\n"), "{}", run.stderr);
    for (words, schema) in [
        ("plugins --check --json", "chipdock.plugins/1"),
        ("devices --json", "chipdock.devices/1"),
        ("targets --json", "chipdock.targets/1"),
        ("build vector_add.py --target c --json", "chipdock.build/1"),
    ] {
        let ended = end(scratch.command(words).env("LD_PRELOAD", &talks));
        assert_eq!(ended.json()["schema"], schema, "{words}");
    }
}

#[test]
fn cli_c1_a_result_that_is_lost_is_no_success() {
    let scratch = vector_add();
    for words in ["plugins", "plugins --json", "devices", "targets", "--help", "help run", "--version", ADD] {
        let mut command = scratch.command(words);
        let full = end(command.stdout(File::options().write(true).open("/dev/full").unwrap()));
        full.failed(1, &["cannot write the result: No space left", "--> standard output", "free space"]);
        redirected(&scratch, words, ">&-").failed(1, &["it was closed when the command began"]);
    }
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, [2.0; 16], "the outputs are there");
    redirected(&scratch, "build vector_add.py --emit ir", ">&-").failed(1, &["it was closed"]);
    // A closed descriptor is not taken by a file that the command opens.
    assert_eq!(redirected(&scratch, ADD, "<&- >out.txt 2>&-").code, Some(0));
    let written = fs::read_to_string(scratch.path("out.txt")).unwrap();
    assert_eq!(
        written.split_whitespace().take(2).collect::<Vec<_>>(),
        ["FUNCTION", "vector_add"],
        "{written}"
    );
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, [2.0; 16]);
}

#[test]
fn cli_c2_a_message_that_is_lost_changes_no_exit_code() {
    let scratch = vector_add();
    for (words, code) in
        [("run none.py", 2), ("nosuch", 2), ("plugins -v", 0), ("targets nosuch", 3), ("-v devices", 0)]
    {
        let mut command = scratch.command(words);
        let full = end(command.stderr(File::options().write(true).open("/dev/full").unwrap()));
        assert_eq!((full.code, full.stderr.as_str()), (Some(code), ""), "{words}: {}", full.stdout);
        assert_eq!(redirected(&scratch, words, "2>&-").code, Some(code), "{words}");
        assert_eq!(redirected(&scratch, words, "<&- 2>&-").code, Some(code), "{words}");
    }
    assert_eq!(redirected(&scratch, "run none.py", "<&- >&- 2>&-").code, Some(2));
    assert_eq!(redirected(&scratch, &format!("{ADD} -v"), "2>/dev/full").code, Some(0));
}

#[test]
fn cli_c2_names_that_are_no_text_are_names() {
    let scratch = vector_add();
    let odd = |lead: &[u8], tail: &[u8]| OsStr::from_bytes(&[lead, b"\xff", tail].concat()).to_owned();
    let run = |words: &str, last: &OsStr| end(scratch.command(words).arg(last));
    // No text where text belongs is wrong usage.
    for words in ["", "run", "nosuch --color=always", "run vector_add.py --set", "targets", "help"] {
        let ended = run(words, &odd(b"", b""));
        assert_eq!(ended.code, Some(2), "{words}: {}", ended.stderr);
        assert!(ended.stderr.contains("error"), "{words}: {}", ended.stderr);
    }
    // A path need not be text.
    let library = scratch.path("").join(odd(b"lib", b".so"));
    fs::write(&library, "no library").unwrap();
    let list = run("plugins --json --plugin", library.as_os_str()).json();
    let listed = list["plugins"][0]["library"].as_str().unwrap();
    assert!(listed.ends_with("lib\u{fffd}.so"), "{listed}");
    assert_eq!(run("plugins --plugin", library.as_os_str()).code, Some(0));
    run("conformance", library.as_os_str()).failed(2, &["paths that are text", "lib\u{fffd}.so"]);
    let built = run("build vector_add.py --json --emit ir -o", &odd(b"", b".py")).json();
    assert_eq!(built["output"], "\u{fffd}.py");
    assert!(scratch.path("").join(odd(b"", b".py")).exists());
    assert_eq!(run("build vector_add.py --emit ir -o", &odd(b"", b".py")).stdout.lines().count(), 1);
    // Nor need a variable be.
    for name in
        ["HOME", "XDG_DATA_HOME", "CHIPDOCK_PLUGIN_PATH", "PATH", "TMPDIR", "NO_COLOR", "TERM", "LANG"]
    {
        let mut command = scratch.command("plugins --json");
        if name == "HOME" {
            command.env_remove("XDG_DATA_HOME");
        }
        assert_eq!(end(command.env(name, odd(b"/", b""))).json()["schema"], "chipdock.plugins/1", "{name}");
        let text = end(scratch.command("plugins -v").env(name, odd(b"/", b"")));
        assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""), "{name}");
    }
    for name in ["CHIPDOCK_PLUGINS_SELECT", "CHIPDOCK_THREADS"] {
        let ended = end(scratch.command(ADD).env(name, odd(b"", b"")));
        assert_ne!(ended.code, Some(0), "{name} is not ignored");
        assert!(ended.stderr.starts_with("error: "), "{name}: {}", ended.stderr);
    }
}

/// Each line of a text begins as one of ours does.
fn is_clean(text: &str) -> bool {
    !text.chars().any(|c| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c))
}

#[test]
fn cli_c9_texts_of_files_steer_no_terminal() {
    let scratch = vector_add();
    let evil = "x\x1b[2J\u{9b}31m\u{202e}\nerror: forged\n  help: forged";
    let count = |text: &str, lead: &str| text.lines().filter(|line| line.starts_with(lead)).count();
    // The name of a file, of a library and of a function.
    let ended = end(scratch.command("run").arg(format!("{evil}.py")));
    ended.failed(2, &["x\\u{1b}[2J\\u{9b}31m\\u{202e}\\nerror: forged"]);
    assert!(is_clean(&ended.stderr) && count(&ended.stderr, "error:") == 1, "{}", ended.stderr);
    fs::create_dir(scratch.path("p")).unwrap();
    fs::write(scratch.path("p").join(format!("{}.so", evil.replace('/', ""))), "no library").unwrap();
    for words in
        ["plugins --plugin p", "plugins --plugin p --check", "targets --plugin p", "devices --plugin p -v"]
    {
        let ended = scratch.run(words);
        for text in [&ended.stdout, &ended.stderr] {
            assert!(is_clean(text), "{words}: {text:?}");
            assert_eq!((count(text, "error:"), count(text, "  help: forged")), (0, 0), "{words}: {text}");
        }
    }
    let json = scratch.run("plugins --plugin p --json");
    assert!(is_clean(&json.stdout), "{:?}", json.stdout);
    assert!(
        json.json()["plugins"][0]["library"].as_str().unwrap().contains("\x1b[2J\u{9b}31m\u{202e}\nerror")
    );
    // The text of a kernel, and a manifest.
    scratch.write("evil.py", format!("x = \x1b[2J\u{202e} {}", "y".repeat(1 << 20)));
    let ended = scratch.run("run evil.py");
    assert_eq!(ended.code, Some(2));
    assert!(is_clean(&ended.stderr) && ended.stderr.len() < 30_000, "{} bytes", ended.stderr.len());
    let wide = "z".repeat(1 << 20);
    scratch.write("m/wide.so", "no library");
    scratch
        .write("m/wide.chipdock.json", format!("{{\"name\": \"\\u001b[2J{wide}\", \"\\u001b{wide}\": 1}}"));
    let ended = scratch.run("plugins --plugin m");
    assert!(ended.code == Some(0) && is_clean(&ended.stdout), "{:.300}", ended.stdout);
    assert!(ended.stdout.len() < 30_000, "{} bytes", ended.stdout.len());
}

#[test]
fn cli_c9_texts_of_plugins_steer_no_terminal() {
    let scratch = vector_add();
    let evil = r#"\x1b[2J\nerror: forged\n  help: forged\n  --> forged"#;
    let body = r#"
static int32_t evil_init(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
    static const char text[] = "EVIL";
    ChipdockStr message = {text, sizeof text - 1};
    host->log(host->self_, CHIPDOCK_LOG_ERROR, message);
    (void)registrar;
    ChipdockStr kind = {"Unavailable", 11};
    host->raise(host->self_, kind, message);
    return -1;
}
#define init evil_init
"#;
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("examples/plugin-template-c/template.c")).unwrap();
    let at = text.find("static const ChipdockPlugin plugin").expect("the descriptor");
    let (before, after) = text.split_at(at);
    let source = scratch.write("evil.c", format!("{before}{}{after}", body.replace("EVIL", evil)));
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-w", "-fPIC", "-shared", "-fvisibility=hidden", "-I"]);
    command.arg(root.join("plugin-api/abi/include")).arg(source).arg("-o").arg(scratch.path("evil.so"));
    assert!(command.status().expect("cc").success());
    for words in [
        "manifest evil.so",
        "devices --plugin evil.so",
        "plugins --check --plugin evil.so",
        "targets --plugin evil.so -v",
        "conformance evil.so",
    ] {
        let ended = scratch.run(words);
        assert_eq!(
            ended.stderr.lines().filter(|line| line.starts_with("error:")).count()
                + usize::from(ended.code == Some(0)),
            usize::from(!words.starts_with("conf")),
            "{words}: {}",
            ended.stderr
        );
        for text in [&ended.stdout, &ended.stderr] {
            assert!(is_clean(text), "{words}: {text:?}");
            let begins = |what: &&str| text.lines().any(|line| line.trim_start().starts_with(what));
            let forged = ["error: forged", "help: forged", "--> forged"].iter().find(|what| begins(what));
            assert_eq!(forged, None, "{words}: {text}");
        }
    }
}
