//! Tests of the command with LLVM and without. Rules are those of the command's front page.

use std::process::{Command, Stdio};

use chipdock_test_support::command::{Ended, Scratch, built, end};
use serde_json::{Value, json};

/// A folder with vector_add and its inputs, and the sums.
fn vector_add() -> (Scratch, Vec<f32>) {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    let a: Vec<f32> = (0..100).map(|i| i as f32 * 0.5).collect();
    let b: Vec<f32> = (0..100).map(|i| 100.0 - i as f32).collect();
    scratch.write_f32("a.npy", &[100], &a);
    scratch.write_f32("b.npy", &[100], &b);
    (scratch, a.iter().zip(&b).map(|(a, b)| a + b).collect())
}

const ADD: &str = "run vector_add.py --in A=a.npy --in B=b.npy --out C=c.npy";

/// Runs the command where LLVM cannot be opened.
fn without_llvm(scratch: &Scratch, words: &str) -> Ended {
    end(scratch.command(words).env("CHIPDOCK_LLVM", "/nonexistent/libLLVM.so"))
}

fn kind<'a>(targets: &'a Value, name: &str) -> &'a Value {
    targets["kinds"].as_array().unwrap().iter().find(|kind| kind["name"] == name).expect("the kind")
}

#[test]
fn kernels_run_and_llvm_is_the_default() {
    let (scratch, sum) = vector_add();
    for target in ["", "--target llvm", "--target {\"kind\":\"llvm\",\"opt-level\":0}", "--host llvm"] {
        let ended = scratch.run(&format!("{ADD} {target} --json"));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{target}");
        let run = ended.json();
        assert_eq!(
            (&run["target"]["kind"], &run["host"]["kind"]),
            (&json!("llvm"), &json!("llvm")),
            "{target}"
        );
        assert_eq!(scratch.read_npy::<f32>("c.npy").1, sum, "{target}");
        std::fs::remove_file(scratch.path("c.npy")).unwrap();
    }
    let targets = scratch.run("targets --json").json();
    assert_eq!(targets["default_host"], "llvm");
    assert_eq!(
        (&kind(&targets, "llvm")["usable"], &kind(&targets, "c")["usable"]),
        (&json!(true), &json!(true))
    );
}

/// The plugins beside the command come before others that are found, whatever preference those
/// declare: `llvm` has the higher one.
#[test]
fn preferences_of_other_plugins_replace_no_default() {
    let (scratch, sum) = vector_add();
    let own = scratch.path("bin/plugins");
    std::fs::create_dir_all(&own).unwrap();
    let bring = |name: &str| {
        for ending in ["so", "chipdock.json"] {
            let file = format!("chipdock_plugin_{name}.{ending}");
            std::fs::copy(built().plugins.join(&file), own.join(&file)).unwrap();
        }
    };
    let command = scratch.path("bin/chipdock");
    if std::fs::hard_link(&built().command, &command).is_err() {
        std::fs::copy(&built().command, &command).unwrap();
    }
    let stranger = built().plugins.join("chipdock_plugin_cpu_llvm.so");
    let default_is = |kind: &str| {
        let run = |words: &str| {
            let given = scratch.command(&format!("{words} --json --plugin {}", stranger.display()));
            let mut here = Command::new(&command);
            here.args(given.get_args()).current_dir(given.get_current_dir().unwrap());
            for (name, value) in given.get_envs() {
                match value {
                    Some(value) => here.env(name, value),
                    None => here.env_remove(name),
                };
            }
            end(here.env_remove("CHIPDOCK_PLUGIN_PATH").stdin(Stdio::null())).json()
        };
        let targets = run("targets");
        assert!(kind_is_usable(&targets, "llvm") && kind_is_usable(&targets, "c"), "{targets:#}");
        assert_eq!((&targets["default_host"], &run(ADD)["target"]["kind"]), (&json!(kind), &json!(kind)));
        assert_eq!(scratch.read_npy::<f32>("c.npy").1, sum);
    };
    bring("c");
    default_is("c");
    bring("cpu_llvm");
    default_is("llvm");
}

fn kind_is_usable(targets: &Value, name: &str) -> bool {
    kind(targets, name)["usable"] == true
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_processor_can_be_named() {
    let (scratch, sum) = vector_add();
    let ended = scratch.run(&format!("{ADD} --json --target {{\"kind\":\"llvm\",\"mcpu\":\"x86-64-v2\"}}"));
    assert_eq!(ended.json()["target"]["mcpu"], "x86-64-v2");
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, sum);
    let asm = |cpu: &str| {
        let target = format!("{{\"kind\":\"llvm\",\"mtriple\":\"x86_64-linux-gnu\",\"mcpu\":\"{cpu}\"}}");
        scratch.run(&format!("build vector_add.py --emit asm --target {target}")).stdout
    };
    assert!(asm("x86-64-v3").contains("ymm") && !asm("x86-64").contains("ymm"));
}

#[test]
fn llvm_ir_and_assembly_can_be_emitted() {
    let (scratch, _) = vector_add();
    let show = |what: &str| {
        let ended = scratch.run(&format!("build vector_add.py --target llvm --emit {what}"));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{what}");
        ended.stdout
    };
    let (source, ll, asm) = (show("source"), show("ll"), show("asm"));
    assert_eq!(show("ll-unoptimized"), source, "a word that only the plugin knows");
    for (name, text) in [("source", &source), ("ll", &ll)] {
        assert!(text.contains("@__tvm_ffi_vector_add(") && text.contains("target triple"), "{name}: {text}");
    }
    assert_ne!(source, ll, "one is as written, one as optimised");
    assert!(asm.contains("__tvm_ffi_vector_add:") && !asm.contains("define "), "{asm}");
    // Nobody says what, where text can be shown: the source.
    assert_eq!(scratch.run("build vector_add.py").stdout, source);
    for (name, text) in [("out.ll", &ll), ("out.s", &asm), ("out.ASM", &asm)] {
        let ended = scratch.run(&format!("build vector_add.py --target llvm -o {name}"));
        assert_eq!(ended.code, Some(0), "{name}: {}", ended.stderr);
        assert_eq!(&std::fs::read_to_string(scratch.path(name)).unwrap(), text, "{name}");
    }
    let json = scratch.run("build vector_add.py --target llvm --emit asm --json").json();
    assert_eq!((&json["emit"], &json["text"]), (&json!("asm"), &json!(asm)));
    let sections: Vec<&str> =
        json["sections"].as_array().unwrap().iter().filter_map(|section| section["name"].as_str()).collect();
    assert!(sections.contains(&"code") && sections.contains(&"asm"), "{sections:?}");
}

#[test]
fn an_object_file_is_of_its_machine() {
    let (scratch, _) = vector_add();
    for (triple, machine) in [
        ("x86_64-linux-gnu", Some(62_u16)),
        ("aarch64-linux-gnu", Some(183)),
        ("riscv64-linux-gnu", Some(243)),
        ("wasm32-unknown-unknown", None),
    ] {
        let target = format!("{{\"kind\":\"llvm\",\"mtriple\":\"{triple}\"}}");
        let json = scratch.run(&format!("build vector_add.py --target {target} -o out.o --json")).json();
        assert_eq!((&json["emit"], &json["format"]), (&json!("object"), &json!("o")), "{triple}");
        let bytes = std::fs::read(scratch.path("out.o")).unwrap();
        assert_eq!(json["size_bytes"], bytes.len());
        match machine {
            Some(machine) => {
                assert!(bytes.starts_with(b"\x7fELF"), "{triple}");
                assert_eq!(u16::from_le_bytes([bytes[18], bytes[19]]), machine, "{triple}");
            }
            None => assert!(bytes.starts_with(b"\0asm"), "{triple}"),
        }
    }
    let ended = scratch.run("build vector_add.py --target llvm --emit object -o whatever.bin");
    assert!(ended.stdout.starts_with("whatever.bin: object for llvm, compiled in "), "{}", ended.stdout);
}

/// Code compiled for another machine is refused by the loader, with the names of both machines.
#[test]
fn code_of_another_machine_does_not_run_here() {
    let (scratch, _) = vector_add();
    let other = if cfg!(target_arch = "aarch64") { "riscv64" } else { "aarch64" };
    let target = format!("{{\"kind\":\"llvm\",\"mtriple\":\"{other}-linux-gnu\"}}");
    let ended = scratch.run(&format!("{ADD} --target {target}"));
    assert!(matches!(ended.code, Some(1 | 2)), "{}", ended.stderr);
    assert!(
        ended.stderr.contains(other) && ended.stderr.contains(std::env::consts::ARCH),
        "{}",
        ended.stderr
    );
    assert!(!scratch.path("c.npy").exists());
}

#[test]
fn a_wrong_target_names_option_value_and_the_nearest_name() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    let before = scratch.names();
    for (options, says) in [
        ("\"mtriple\":\"x86_64-linux-gnu\",\"mcpu\":\"skylakee\"", vec!["mcpu", "skylakee", "\"skylake\""]),
        ("\"mcpu\":\"\"", vec!["mcpu"]),
        ("\"mtriple\":\"x86_64-linux-gnu\",\"mattr\":[\"+avx2x\"]", vec!["mattr", "avx2x", "avx2"]),
        ("\"mtriple\":\"x86_64-linux-gnu\",\"mattr\":[\"avx2\"]", vec!["mattr", "+avx2"]),
        ("\"mtriple\":\"x86_65-linux-gnu\"", vec!["mtriple", "x86_65"]),
        ("\"mtriple\":\"nothing\"", vec!["mtriple", "nothing"]),
        ("\"mcpuu\":\"generic\"", vec!["unknown option \"mcpuu\"", "did you mean \"mcpu\"?"]),
        ("\"opt-level\":9", vec!["opt-level", "0 to 3", "9"]),
        ("\"opt-level\":\"three\"", vec!["opt-level", "int", "three"]),
        ("\"mattr\":\"+avx\"", vec!["mattr", "list[str]"]),
        ("\"num-cores\":-1", vec!["num-cores", "-1"]),
    ] {
        let target = format!("{{\"kind\":\"llvm\",{options}}}");
        let ended = scratch.run(&format!("build vector_add.py --target {target} -o out.o"));
        ended.failed(2, &says);
        assert!(ended.stderr.len() < 1500, "{} is no message to read", ended.stderr);
    }
    let bound = "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def bound(A: T.Buffer((64,), \
                 \"float32\")):\n        for i in T.thread_binding(64, thread=\"threadIdx.x\"):\n            A[i] = \
                 T.float32(1)\n";
    scratch.write("bound.py", bound);
    for target in ["llvm", "c"] {
        let ended = scratch.run(&format!("build bound.py --target {target} -o out.o"));
        ended.failed(2, &["threadIdx.x", "bound", "--> bound.py:"]);
    }
    std::fs::remove_file(scratch.path("bound.py")).unwrap();
    assert_eq!(scratch.names(), before);
}

#[test]
fn options_fit_on_a_terminal() {
    let scratch = Scratch::new();
    for words in ["targets", "targets llvm", "targets c"] {
        let ended = scratch.run(words);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{words}");
        let long = ended.stdout.lines().find(|line| line.chars().count() > 120);
        assert_eq!(long, None, "{words}");
        assert!(ended.stdout.lines().count() < 100, "{}", ended.stdout);
    }
    // What is cut for a person is whole in the JSON.
    let whole = scratch.run("targets llvm --json").json();
    let target = &whole["kinds"][0]["target"];
    assert!(target["mcpu"].is_string() && target["mattr"].is_array(), "{target}");
    let shown = scratch.run("targets llvm").stdout;
    assert!(shown.contains(&format!("mcpu: str, here {}", target["mcpu"])), "{shown}");
}

#[test]
fn without_llvm_everything_else_works() {
    let (scratch, sum) = vector_add();
    let ended = without_llvm(&scratch, ADD);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.starts_with("warning: target kind \"llvm\" is not a usable host: "),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("libllvm19") && ended.stderr.lines().count() == 1, "{}", ended.stderr);
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, sum);
    let json = without_llvm(&scratch, &format!("{ADD} --json")).json();
    assert_eq!((&json["target"]["kind"], &json["host"]["kind"]), (&json!("c"), &json!("c")));
    // Nobody asked for it: nothing is said.
    let quiet = without_llvm(&scratch, &format!("{ADD} --target c"));
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    for words in ["devices", "plugins", "build vector_add.py --target c", "build vector_add.py --emit ir"] {
        let ended = without_llvm(&scratch, words);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{words}");
    }
}

#[test]
fn without_llvm_its_target_is_unavailable_with_the_package() {
    let (scratch, _) = vector_add();
    let says = ["LLVM 19", "/nonexistent/libLLVM.so", "libllvm19"];
    for words in [format!("{ADD} --target llvm"), "build vector_add.py --target llvm -o out.o".to_owned()] {
        without_llvm(&scratch, &words).failed(3, &says);
    }
    let ended = without_llvm(&scratch, "targets");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let line = ended.stdout.lines().find(|line| line.starts_with("llvm ")).expect("it is listed");
    assert!(line.contains("unavailable"), "{line}");
    assert!(ended.stdout.lines().any(|line| line.starts_with("c ") && line.contains("(default)")));
    let check = without_llvm(&scratch, "plugins --check");
    for (name, text) in [("targets", &ended.stdout), ("plugins --check", &check.stdout)] {
        assert!(says.iter().all(|word| text.contains(word)), "{name}: {text}");
    }
    assert_eq!((check.code, check.stderr.as_str()), (Some(0), ""));
    let one = without_llvm(&scratch, "targets llvm");
    assert!(one.code == Some(0) && one.stdout.contains("libllvm19") && one.stdout.contains("opt-level"));
    let json = without_llvm(&scratch, "targets --json").json();
    assert_eq!((&json["default_host"], &kind(&json, "llvm")["usable"]), (&json!("c"), &json!(false)));
    assert_eq!(kind(&json, "llvm")["problem"]["kind"], "Unavailable");
    let list = without_llvm(&scratch, "plugins --check --json").json();
    let plugins = list["plugins"].as_array().unwrap();
    let unusable =
        plugins.iter().find(|plugin| plugin["name"] == "cpu-llvm").unwrap()["check"]["unusable"].clone();
    assert_eq!(unusable[0]["key"], "target.kind.llvm", "{unusable}");
}
