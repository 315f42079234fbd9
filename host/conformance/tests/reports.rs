//! Every report format, for made-up runs with every status and with hostile texts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use crate::sample::{HOSTILE, healthy, hostile, sample};
use chipdock_conformance::card::CARD_SCHEMA;
use chipdock_conformance::list::LIST_SCHEMA;
use chipdock_conformance::report::SCHEMA;
use chipdock_conformance::report::grid::Paint;
use chipdock_conformance::report::verdict::Summary;
use chipdock_conformance::report::{html, junit, text};
use chipdock_conformance::{Group, Report, Status};
use chipdock_test_support::bless;
use chipdock_test_support::schemas::{Schema, check};
use roxmltree::{Document, Node};
use serde_json::{Value, json};

fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(name);
    bless(&path, actual).unwrap_or_else(|difference| panic!("{difference}"));
}

/// Without the sentences of the clauses, which the contract's page may word anew.
fn without_sentences(text: &str) -> String {
    let (mut out, mut in_sentence) = (String::new(), false);
    for line in text.lines() {
        in_sentence = match line {
            line if line.starts_with("  clause ") || line.starts_with("  tests ") => {
                out += &(line.split_whitespace().take(2).collect::<Vec<_>>().join(" ") + "\n");
                true
            }
            line if in_sentence && line.starts_with("            ") => true,
            line => {
                out += &format!("{line}\n");
                false
            }
        };
    }
    out
}

#[test]
fn the_sample_has_every_status() {
    for status in Status::ALL {
        assert!(sample().count(None, *status) > 0, "{}", status.name());
    }
}

#[test]
fn terminal_output_matches_the_goldens() {
    golden("report.txt", &without_sentences(&text::render(&sample(), Paint(false))));
    golden("healthy.txt", &text::render(&healthy(), Paint(false)));
    let refused = Report {
        cases: Vec::new(),
        levels: Vec::new(),
        profiles: Vec::new(),
        stale: Vec::new(),
        exit: 3,
        refused: "P1.1: the library has no symbol chipdock_plugin_v1".to_owned(),
        ..sample()
    };
    golden("refused.txt", &text::render(&refused, Paint(false)));
}

#[test]
fn the_terminal_is_coloured_only_when_asked_and_never_steered() {
    let plain = text::render(&hostile(), Paint(false));
    let control = plain.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(control, None, "{plain}");
    assert!(!plain.contains('\u{202e}'));
    assert!(plain.lines().all(|line| line.chars().count() <= 400), "no line runs on");
    let mut forged = sample();
    for text in [&mut forged.plugin.version, &mut forged.library, &mut forged.cases[0].id] {
        text.push_str("\nerror: forged");
    }
    forged.stale.iter_mut().for_each(|stale| stale.what.push_str("\nerror: forged"));
    let plain = text::render(&forged, Paint(false));
    assert!(plain.contains("\\nerror: forged"), "{plain}");
    let is_forged = |line: &str| line.trim_start().starts_with("error: forged");
    assert!(!plain.lines().any(is_forged), "a plugin's text began a line:\n{plain}");
    let coloured = text::render(&sample(), Paint(true));
    assert!(coloured.contains("\x1b[1;31mCRASHED\x1b[0m"));
    let mut bare = coloured;
    for code in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[1;31m", "\x1b[33m"] {
        bare = bare.replace(code, "");
    }
    assert_eq!(bare, text::render(&sample(), Paint(false)), "colours change no word");
}

#[test]
fn equal_lines_are_shown_a_few_times_and_counted() {
    let mut report = sample();
    let like = report.cases.iter().find(|case| case.status == Status::Failed).unwrap().clone();
    report.cases = vec![like; 1000];
    let shown = text::render(&report, Paint(false));
    assert_eq!(shown.matches("\nFAILED  ").count(), 3);
    assert!(shown.contains("and 997 like these"), "{shown}");
    for (index, case) in report.cases.iter_mut().enumerate() {
        let word: String = index.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
        case.failure.as_mut().unwrap().found = word;
    }
    let shown = text::render(&report, Paint(false));
    assert_eq!(shown.matches("\nFAILED  ").count(), 20);
    assert!(shown.contains("and 980 more"), "{shown}");
}

#[test]
fn the_verdict_follows_the_exit_code() {
    for (exit, says) in [
        (0, "all as expected"),
        (1, "15 cases failed"),
        (3, "refused"),
        (4, "no device"),
        (5, "1 case crashed, 1 case hung"),
        (6, "1 expectation no longer holds"),
        (7, "the suite itself"),
    ] {
        let summary = Summary::new(&Report { exit, ..sample() });
        let n_wrong = sample().unfine().filter(|case| case.status != Status::Stale).count();
        let says = says.replace("15", &n_wrong.to_string());
        assert!(summary.headline.contains(&says), "{exit}: {summary:?}");
    }
}

// JSON

#[test]
fn a_report_keeps_its_schema_and_comes_back_the_same() {
    for report in [sample(), healthy(), hostile(), crate::sample::whole()] {
        let value = serde_json::to_value(&report).unwrap();
        check(&value);
        assert_eq!(serde_json::from_value::<Report>(value).unwrap(), report);
    }
}

#[test]
fn a_report_that_was_changed_does_not_keep_the_schema() {
    let schema = Schema::with_id(SCHEMA);
    let good = serde_json::to_value(sample()).unwrap();
    for (what, at, value) in [
        ("another schema", "/schema", json!("chipdock.conformance/2")),
        ("an exit code that there is not", "/exit", json!(8)),
        ("a digest that is too short", "/sha256", json!("abc")),
        ("a status that there is not", "/cases/0/status", json!("fine")),
        ("a group that there is not", "/cases/0/group", json!("speed")),
        ("an id with a blank", "/cases/0/id", json!("")),
        ("a time before the beginning", "/cases/0/seconds", json!(-1)),
        ("a clause without a number", "/cases/0/clause", json!("D")),
        ("a profile that there is not", "/claims/0", json!("fast")),
        ("a level that there is not", "/levels/0/level", json!("great")),
        ("a count that is a text", "/profiles/0/n_cases", json!("4")),
        ("no machine", "/machine", Value::Null),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(at).unwrap() = value;
        assert!(!schema.accepts(&bad), "{what}");
    }
    for name in good.as_object().unwrap().keys().filter(|name| *name != "notes") {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(name);
        assert!(!schema.accepts(&bad), "without {name}");
    }
    let mut more = good;
    more["cases"][0]["colour"] = json!("red");
    assert!(schema.accepts(&more), "CLI-C4: fields may be added");
}

#[test]
fn the_schema_knows_every_word() {
    let all = [
        ("group", serde_json::to_value(Group::ALL).unwrap()),
        ("status", serde_json::to_value(Status::ALL).unwrap()),
        ("profile", serde_json::to_value(chipdock_conformance::Profile::ALL).unwrap()),
        ("level", serde_json::to_value(chipdock_conformance::Level::ALL).unwrap()),
    ];
    for (name, words) in &all {
        let schemas = [SCHEMA, CARD_SCHEMA, LIST_SCHEMA].map(|id| Schema::with_id(id).document());
        let of_name = schemas.iter().filter_map(|schema| schema["$defs"].get(name));
        assert!(of_name.filter(|schema| schema["enum"] == *words).count() >= 2, "{name}");
        for schema in &schemas {
            assert!(schema["$defs"].get(name).is_none_or(|schema| schema["enum"] == *words), "{name}");
        }
    }
}

// JUnit

fn number(node: Node<'_, '_>, name: &str) -> usize {
    node.attribute(name).unwrap_or_else(|| panic!("{name} of {node:?}")).parse().unwrap()
}

#[test]
fn junit_counts_match_the_report() {
    let report = sample();
    let xml = junit::render(&report).unwrap();
    let document = Document::parse(&xml).unwrap();
    let root = document.root_element();
    let suites: Vec<Node<'_, '_>> = root.children().filter(|node| node.has_tag_name("testsuite")).collect();
    let n = |statuses: &[Status]| statuses.iter().map(|status| report.count(None, *status)).sum::<usize>();
    let of_cases: Vec<&Node<'_, '_>> =
        suites.iter().filter(|suite| suite.attribute("name") != Some("run")).collect();
    let sum = |name: &str| of_cases.iter().map(|suite| number(**suite, name)).sum::<usize>();
    assert_eq!(sum("tests"), report.cases.len());
    assert_eq!(sum("skipped"), n(&[Status::Built, Status::Unsupported, Status::Absent, Status::Expected]));
    assert_eq!(sum("errors"), n(&[Status::Crashed, Status::Hung, Status::SuiteFault]));
    assert_eq!(sum("failures"), n(&[Status::Failed, Status::Flaky, Status::OrderDependent, Status::Stale]));
    for suite in &suites {
        let elements = |name: &str| suite.descendants().filter(|node| node.has_tag_name(name)).count();
        assert_eq!(elements("testcase"), number(*suite, "tests"));
        assert_eq!(elements("failure"), number(*suite, "failures"));
        assert_eq!(elements("error"), number(*suite, "errors"));
        assert_eq!(elements("skipped"), number(*suite, "skipped"));
        let property = |name: &str| {
            suite
                .descendants()
                .find(|node| node.attribute("name") == Some(name) && node.has_tag_name("property"))
        };
        assert_eq!(property("plugin_version").unwrap().attribute("value"), Some("1.4.0"));
        assert_eq!(property("driver.npu").unwrap().attribute("value"), Some("5.3.1"));
    }
    let run = suites.iter().find(|suite| suite.attribute("name") == Some("run")).unwrap();
    assert_eq!(number(*run, "tests"), 2, "the claim that does not hold, and the stale line");
    let crash =
        document.descendants().find(|node| node.attribute("name") == Some("misuse/free-twice@npu")).unwrap();
    let error = crash.children().find(|node| node.has_tag_name("error")).unwrap();
    assert_eq!(error.attribute("message"), Some("killed by signal 11 (SIGSEGV)"));
    assert!(error.text().unwrap().contains("stack: #0 npu_copy"), "{:?}", error.text());
    let stderr = crash.children().find(|node| node.has_tag_name("system-err")).unwrap();
    assert!(stderr.text().unwrap().contains("npu: no such handle"));
}

#[test]
fn junit_of_hostile_texts_is_still_xml() {
    let xml = junit::render(&hostile()).unwrap();
    let document = Document::parse(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    let script = document.descendants().find(|node| node.has_tag_name("script"));
    assert!(script.is_none(), "no text became markup");
    let refused = document.descendants().find(|node| node.attribute("name") == Some("open")).unwrap();
    let error = refused.children().find(|node| node.has_tag_name("error")).unwrap();
    assert!(error.attribute("message").unwrap().starts_with("<script>alert(1)</script>]]>"));
}

/// A reader of XML takes a bare end of line in an attribute for a blank.
#[test]
fn junit_keeps_the_lines_of_texts() {
    let said = "expected <one>\n  found \"two\"\tand 'three'\n]]> -->";
    let xml = junit::render(&Report { refused: said.to_owned(), ..hostile() }).unwrap();
    let document = Document::parse(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    let refused = document.descendants().find(|node| node.attribute("name") == Some("open")).unwrap();
    let error = refused.children().find(|node| node.has_tag_name("error")).unwrap();
    assert_eq!(error.attribute("message"), Some("expected <one> found \"two\" and 'three' ]]> -->"));
    assert_eq!(error.text(), Some("expected <one>\n  found \"two\" and 'three'\n]]> -->"));
    let attributes = document.descendants().flat_map(|node| node.attributes());
    for attribute in attributes {
        let written = &xml[attribute.range()];
        assert!(!written.contains('\n'), "{written}");
    }
}

// HTML

#[test]
fn the_page_needs_nothing_else_and_holds_every_case() {
    let report = sample();
    let page = html::render(&report);
    for outside in ["http://", "https://", "src=", "@import", "url(", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for case in &report.cases {
        assert!(page.contains(&format!("<code>{}</code>", case.id)), "{}", case.id);
    }
    let rows = page.matches("<tr data-status=").count();
    assert_eq!(rows, report.cases.len());
    let n_wrong = report.unfine().count();
    assert_eq!(page.matches("<details class=\"failure").count(), n_wrong);
    assert_eq!(page.matches("<details class=\"failure bad\" open>").count(), 0, "many failures stay folded");
    let mut few = report;
    few.cases.retain(|case| case.status != Status::Failed);
    let page = html::render(&few);
    assert!(page.contains("<details class=\"failure bad\" open>"), "few are shown unfolded");
    assert!(!html::render(&healthy()).contains("<details class=\"failure"));
}

#[test]
fn hostile_texts_stay_texts_in_the_page() {
    let page = html::render(&hostile());
    assert_eq!(page.matches("<script>").count(), 1, "the page's own");
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(!page.contains("<!--") && !page.contains("]]>"));
    let control = page.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t');
    assert_eq!(control, None);
    assert!(!page.contains('\u{202e}'));
    assert_eq!(html::escaped("\0\x1b\x7f"), "\u{2400}\u{241b}\u{2421}");
    let plain = html::escaped(HOSTILE);
    assert!(plain.starts_with("&lt;script&gt;alert(1)&lt;/script&gt;]]&gt;"), "{plain}");
    assert!(plain.contains("&quot;quoted&quot; &#39;single&#39;"), "{plain}");
}
