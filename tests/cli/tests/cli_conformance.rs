//! Tests of `chipdock conformance` as a user runs it: exit codes (SUITE-S14), streams (CLI-C1),
//! files (CLI-C5), lists, cards.

use std::fs;
use std::path::Path;
use std::process::Command;

use chipdock_test_support::command::{Ended, Scratch, built, fields};
use serde_json::Value;

/// A scratch folder with the template in C, which keeps the contract, as `good.so`.
fn with_template() -> Scratch {
    let scratch = Scratch::new();
    compile(&scratch, "good", "");
    scratch
}

/// Compiles the template in C with something behind its text.
fn compile(scratch: &Scratch, name: &str, more: &str) {
    compile_changed(scratch, name, |text| text + more);
}

/// Compiles the template in C after a change of its text.
fn compile_changed(scratch: &Scratch, name: &str, change: impl FnOnce(String) -> String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("examples/plugin-template-c/template.c")).unwrap();
    let source = scratch.write(&format!("{name}.c"), change(text));
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-I"]);
    command.arg(root.join("plugin-api/abi/include")).arg(source).arg("-o");
    assert!(command.arg(scratch.path(&format!("{name}.so"))).status().expect("cc").success());
}

fn json(scratch: &Scratch, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(scratch.path(name)).unwrap()).unwrap()
}

fn code(ended: &Ended, expected: i32) {
    assert_eq!(ended.code, Some(expected), "out: {}\nerr: {}", ended.stdout, ended.stderr);
}

#[test]
fn a_plugin_that_keeps_the_contract_ends_with_0_and_leaves_every_file() {
    let scratch = with_template();
    let ended = scratch.run(
        "conformance good.so --filter query/* --report-json r.json --junit j.xml --html h.html --card c.json",
    );
    code(&ended, 0);
    assert_eq!(ended.stderr, "", "CLI-C1: nobody watches");
    assert!(ended.stdout.starts_with("template-c "), "{}", ended.stdout);
    assert!(ended.stdout.contains("\nall as expected\n"), "{}", ended.stdout);
    let report = json(&scratch, "r.json");
    assert_eq!((&report["schema"], &report["exit"]), (&"chipdock.conformance/1".into(), &0.into()));
    assert!(report["cases"].as_array().unwrap().iter().all(|case| case["group"] == "query"));
    assert!(fs::read_to_string(scratch.path("j.xml")).unwrap().contains("<testsuite name=\"query\""));
    assert!(fs::read_to_string(scratch.path("h.html")).unwrap().starts_with("<!doctype html>"));

    code(&scratch.run("conformance verify c.json good.so"), 0);
    let found = scratch.run("conformance verify c.json good.so --json").json();
    assert_eq!((&found["schema"], &found["holds"]), (&"chipdock.conformance-verify/1".into(), &true.into()));
    compile(&scratch, "other", "const char chipdock_other[] = \"another build\";\n");
    let other = scratch.run("conformance verify c.json other.so");
    code(&other, 1);
    assert!(other.stdout.contains("FAILS    library"), "{}", other.stdout);
    scratch.run("conformance verify good.c good.so").failed(2, &["no JSON", "good.c"]);
    scratch.run("conformance verify c.json none.so").failed(2, &["none.so"]);

    let compared = scratch.run("conformance compare c.json c.json --json").json();
    assert_eq!(compared["same"], true);
    let compared = scratch.run("conformance compare c.json c.json");
    assert!(compared.stdout.ends_with("\nthe same in everything\n"), "{}", compared.stdout);
}

/// The host uses the plugin under test, though the one beside the command has its name and a
/// manifest, which this one lacks.
#[test]
fn an_installed_plugin_of_the_same_name_takes_no_part() {
    let scratch = Scratch::new();
    fs::copy(built().plugins.join("chipdock_plugin_c.so"), scratch.path("own.so")).unwrap();
    let ended = scratch.run("conformance own.so --filter op/cast/int8-to-int16@c --json");
    code(&ended, 0);
    assert_eq!(ended.json()["cases"][0]["status"], "passed", "{}", ended.stdout);
}

#[test]
fn the_report_on_standard_output_is_the_one_in_the_file() {
    let scratch = with_template();
    let ended = scratch.run("conformance good.so --filter query/exist/* --json --report-json r.json");
    assert_eq!(ended.json(), json(&scratch, "r.json"), "CLI-C4");
    let report = ended.json();
    for field in ["cases[].id: string", "levels[].state: string", "plugin.name: string", "sha256: string"] {
        assert!(fields(&report).contains(field), "{field}");
    }
}

#[test]
fn a_failure_ends_with_1_and_names_its_clause() {
    let scratch = Scratch::new();
    compile(&scratch, "bad", "CHIPDOCK_EXPORT int vendor_helper(void) { return 1; }\n");
    let ended = scratch.run("conformance bad.so --filter image/* --no-again");
    code(&ended, 1);
    for says in ["FAILED  image/", "  clause    P1.5  ", "vendor_helper", "  alone     ", "exit code 1"] {
        assert!(ended.stdout.contains(says), "{says}: {}", ended.stdout);
    }
}

#[test]
fn wrong_usage_ends_with_2_before_anything_is_run() {
    let scratch = with_template();
    scratch.write("wrong.toml", "claims = [\"fast\"]\n");
    fs::create_dir(scratch.path("folder")).unwrap();
    for (words, says) in [
        ("conformance", "no plugin is given"),
        ("conformance none.so", "none.so"),
        ("conformance folder", "it is a folder"),
        ("conformance good.so --filter copy/none/*", "matches no case"),
        ("conformance --list --filter copy/none/*", "matches no case"),
        ("conformance good.so --filter [", "is no pattern"),
        ("conformance good.so --expectations wrong.toml", "no profile \"fast\""),
        ("conformance good.so --expectations none.toml", "none.toml"),
        ("conformance good.so --level great", "great"),
        ("conformance good.so --patience 0", "0.1 to 1000"),
        ("conformance good.so --jobs 0", "--jobs"),
        ("conformance good.so --select x", "--select does not go with conformance"),
        ("conformance good.so --html a --card a", "--html and --card go to one file"),
        ("conformance good.so --repro-folder none", "no such folder"),
        ("conformance --list --coverage", "--coverage"),
        ("conformance verify good.so", "PLUGIN.so"),
    ] {
        scratch.run(words).failed(2, &[says]);
    }
    scratch
        .run("conformance good.so --html none/report.html")
        .failed(1, &["none/report.html", "cannot write"]);
    assert!(!scratch.path("a").exists());
}

#[test]
fn a_file_that_is_no_plugin_is_refused_with_3_and_reported() {
    let scratch = Scratch::new();
    scratch.write("text.so", "no library");
    let ended = scratch.run("conformance text.so --report-json r.json");
    code(&ended, 3);
    assert!(ended.stdout.contains("the plugin was refused"), "{}", ended.stdout);
    assert_ne!(json(&scratch, "r.json")["refused"], Value::Null);
    scratch.run("conformance text.so --list").failed(3, &["refused", "text.so"]);
}

#[test]
fn an_expectation_that_no_longer_holds_ends_with_6() {
    let scratch = with_template();
    let expectations =
        "[[case]]\nmatch = \"query/exist/first@*\"\nstatus = \"fail\"\nreason = \"once\"\nissue = \"#1\"\n";
    // Beside the library, by its name: found without being asked for.
    scratch.write("good.expectations.toml", expectations);
    let ended = scratch.run("conformance good.so --filter query/exist/*");
    code(&ended, 6);
    assert!(ended.stdout.contains("query/exist/first@"), "{}", ended.stdout);
    let none = scratch.write("none.toml", "");
    code(
        &scratch
            .run(&format!("conformance good.so --filter query/exist/* --expectations {}", none.display())),
        0,
    );
}

#[test]
fn the_counts_of_the_list_match_its_rows() {
    let scratch = with_template();
    let list = scratch.run("conformance --list --json").json();
    assert_eq!(list["schema"], "chipdock.conformance-list/1");
    let cases = list["cases"].as_array().unwrap();
    let n_cases = usize::try_from(list["n_cases"].as_u64().unwrap()).unwrap();
    assert_eq!(cases.len(), n_cases);
    let by_group: u64 =
        list["groups"].as_array().unwrap().iter().map(|group| group["n_cases"].as_u64().unwrap()).sum();
    assert_eq!(by_group, list["n_cases"].as_u64().unwrap());
    let full = list["levels"].as_array().unwrap().iter().find(|level| level["level"] == "full").unwrap();
    assert_eq!(full["n_cases"], list["n_cases"], "full is everything");
    let mut ids: Vec<&str> = cases.iter().map(|case| case["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "no id stands twice (SUITE-S1)");
    assert!(n_cases > 2000, "the suite promises more than 2,000 static cases");

    let shown = scratch.run("conformance --list").stdout;
    assert!(shown.starts_with("GROUP ") && shown.contains("\nall "), "{shown}");
    let all = scratch.run("conformance --list --filter *").stdout;
    assert_eq!(all.lines().skip(1).take_while(|line| !line.is_empty()).count(), n_cases);

    let of_plugin = scratch.run("conformance good.so --list --json").json();
    assert_eq!(of_plugin["plugin"], "template-c");
    let why: Vec<&str> = of_plugin["not_applicable"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["why"].as_str())
        .collect();
    assert!(why.contains(&"it registers no code generator"), "{why:?}");
    let n_runs = of_plugin["cases"].as_array().unwrap().len();
    assert_eq!(of_plugin["n_instances"], n_runs);
    let listed: Vec<&Value> = of_plugin["cases"].as_array().unwrap().iter().collect();
    assert!(listed.iter().any(|case| case["id"] == "query/exist/first@template_c"));
}

#[test]
fn coverage_names_every_clause_and_who_checks_it() {
    let scratch = Scratch::new();
    let coverage = scratch.run("conformance --coverage --json").json();
    assert_eq!(coverage["schema"], "chipdock.conformance-coverage/1");
    assert_eq!(coverage["unknown"], serde_json::json!([]), "SUITE-S3");
    let clauses = coverage["clauses"].as_array().unwrap();
    let of = |number: &str| clauses.iter().find(|clause| clause["clause"] == number).unwrap();
    assert!(of("D.3")["n_cases"].as_u64().unwrap() > 0);
    assert_eq!(of("P11.1")["checked"], "review");
    let shown = scratch.run("conformance --coverage").stdout;
    assert!(shown.contains("nobody but a reader"), "{shown}");
}

#[test]
fn help_explains_the_exit_codes() {
    let scratch = Scratch::without_plugins();
    let help = scratch.run("help conformance");
    code(&help, 0);
    let words = help.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in
        ["5 a crash or a hang", "7 the suite's own fault", "chipdock conformance compare", "at most 4"]
    {
        assert!(words.contains(says), "{says}: {words}");
    }
}

/// SUITE-S16: the plugin meets the setting through every host, and report and card say that it was
/// given.
#[test]
fn a_setting_reaches_the_plugin_and_stands_in_report_and_card() {
    let scratch = Scratch::new();
    let asks = "if (axes_max(instance, &axes) != CHIPDOCK_OK) return leave(instance, CHIPDOCK_ERROR);";
    // It fails and raises nothing, which breaks P7.1, where the setting says so.
    let fails = format!("{asks} if (axes == 7) return leave(instance, CHIPDOCK_ERROR);");
    compile_changed(&scratch, "good", |text| {
        assert!(text.contains(asks));
        text.replace(asks, &fails)
    });
    assert_eq!(scratch.run("manifest good.so").code, Some(0));
    let words = "conformance good.so --filter function/* --report-json r.json --card c.json --no-again";
    let ended = scratch.run(&format!("{words} --config template-c.axes-max=7"));
    code(&ended, 1);
    assert!(ended.stdout.contains(", with template-c.axes-max=7"), "{}", ended.stdout);
    assert!(ended.stdout.contains("--config template-c.axes-max=7"), "to repeat it: {}", ended.stdout);
    let given = serde_json::json!(["template-c.axes-max=7"]);
    assert_eq!(json(&scratch, "r.json")["settings"], given);
    assert_eq!(json(&scratch, "c.json")["suite"]["settings"], given);
    code(&scratch.run(words), 0);
    assert_eq!(json(&scratch, "c.json")["suite"].get("settings"), None);
    for (option, says) in
        [("nobody.x=1", "there is no plugin \"nobody\""), ("bad", "expected PLUGIN.KEY=VALUE")]
    {
        scratch.run(&format!("{words} --config {option}")).failed(2, &[says]);
    }
    scratch
        .run(&format!("{words} --config template-c.axis-max=1"))
        .failed(2, &["did you mean \"axes-max\"?"]);
    scratch.run(&format!("{words} --config template-c.axes-max=x")).failed(2, &["expected an integer"]);
}
