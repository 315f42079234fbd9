//! Cards: written, verified, compared, and formatted as a table.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use crate::sample::{healthy, hostile, sample, whole};
use chipdock_conformance::card::{CARD_SCHEMA, Card, Comparison, Outcome, Verification, table};
use chipdock_conformance::report::grid::Paint;
use chipdock_conformance::report::verdict::day;
use chipdock_conformance::{Level, Report};
use chipdock_test_support::bless;
use chipdock_test_support::schemas::{Schema, check};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const LIBRARY: &[u8] = b"the bytes of a library";

fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(name);
    bless(&path, actual).unwrap_or_else(|difference| panic!("{difference}"));
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The card of a whole run over [`LIBRARY`].
fn good() -> Card {
    Card::from_report(&Report { sha256: hex(LIBRARY), ..whole() })
}

/// With a change, and a digest that fits it: as somebody would who knows how it is made.
fn changed(change: impl FnOnce(&mut Card)) -> Card {
    let mut card = good();
    change(&mut card);
    card.digest = card.digest_now();
    card
}

fn outcome(card: &Card, what: &str) -> (Outcome, String) {
    let found = Verification::new(card, LIBRARY);
    let check = found.checks.iter().find(|check| check.what == what);
    let check = check.unwrap_or_else(|| panic!("no check {what} in {found:?}"));
    (check.outcome, check.found.clone())
}

#[test]
fn a_card_of_a_whole_run_holds() {
    let found = Verification::new(&good(), LIBRARY);
    assert!(found.holds, "{}", found.text(Paint(false)));
    assert!(found.checks.iter().all(|check| check.outcome == Outcome::Holds), "{found:#?}");
    assert_eq!(Card::parse(&good().text()).unwrap(), good(), "it comes back from its file");
}

#[test]
fn a_card_of_another_library_does_not_hold() {
    let found = Verification::new(&good(), b"other bytes");
    assert!(!found.holds);
    assert!(found.text(Paint(false)).contains("FAILS    library"), "{}", found.text(Paint(false)));
}

#[test]
fn a_card_that_was_touched_is_found_out() {
    let mut card = good();
    card.claims.clear();
    assert_eq!(outcome(&card, "digest").0, Outcome::Fails);
}

#[test]
fn a_card_that_contradicts_itself_is_found_out() {
    let fails = |what: &str, says: &str, card: Card| {
        let (outcome, found) = outcome(&card, what);
        assert_eq!(outcome, Outcome::Fails, "{what}: {found}");
        assert!(found.contains(says), "{what}: {found} should say {says}");
    };
    let put = |card: &mut Card, group: &str, status: &str, n: u64| {
        card.counts.entry(group.to_owned()).or_default().insert(status.to_owned(), n);
    };
    fails("counts", "query: ", changed(|card| put(card, "query", "passed", 1_000_000)));
    fails("counts", "query: ", changed(|card| drop(card.counts.remove("query"))));
    fails("words", "no group \"speed\"", changed(|card| put(card, "speed", "passed", 1)));
    fails("words", "no status \"fine\"", changed(|card| put(card, "query", "fine", 1)));
    let broken = |card: &mut Card| put(card, "query", "failed", 1);
    fails("levels", "device is said to be reached with 1", changed(broken));
    fails("exit code", "the counts make 1", changed(broken));
    fails("exit code", "make 5", changed(|card| put(card, "query", "hung", 2)));
    fails("exit code", "make 6", changed(|card| card.n_stale = 1));
    fails("exit code", "make 7", changed(|card| card.n_faults = 1));
    fails("exit code", "make 3", changed(|card| card.refused = "P1.1".to_owned()));
    fails("levels", "nothing passed", changed(|card| card.counts.clear()));
    let no_op_ran = |status: &str| {
        changed(|card| {
            let n = card.count(Some("op"), Some("passed"));
            card.counts.insert("op".to_owned(), [(status.to_owned(), n)].into());
        })
    };
    fails("levels", "codegen is said to be reached, and by the counts is built only", no_op_ran("built"));
    fails("levels", "codegen is said to be reached, and by the counts is not run", no_op_ran("absent"));
    fails("suite", "with other cases", changed(|card| card.suite.cases_sha256 = hex(b"")));
    fails("suite", "no version", changed(|card| card.suite.version = "latest".to_owned()));
    fails("levels", "not asked for", changed(|card| card.suite.level = Some(Level::Loadable)));
    fails("profiles", "more ended than were run", changed(|card| card.profiles[0].n_passed += 1000));
}

#[test]
fn unverifiable_facts_are_unknown_and_do_not_fail() {
    let newer = changed(|card| card.suite.version = "99.0.0".to_owned());
    assert_eq!(outcome(&newer, "suite").0, Outcome::Unknown);
    assert_eq!(outcome(&newer, "counts").0, Outcome::Unknown);
    let found = Verification::new(&newer, LIBRARY);
    assert!(found.holds && found.text(Paint(false)).contains("not all could be checked"));
    let part = changed(|card| card.suite.filters = vec!["query/*".to_owned()]);
    assert_eq!(outcome(&part, "counts").0, Outcome::Unknown);
}

#[test]
fn the_canonical_form_does_not_depend_on_who_wrote_the_file() {
    fn turned(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                fields.iter().rev().map(|(name, value)| (name.clone(), turned(value))).collect()
            }
            Value::Array(items) => items.iter().map(turned).collect(),
            scalar => scalar.clone(),
        }
    }
    let card = Card::from_report(&hostile());
    let value: Value = serde_json::from_str(&card.text()).unwrap();
    let again = Card::parse(&serde_json::to_string(&turned(&value)).unwrap()).unwrap();
    assert_eq!(again.canonical(), card.canonical());
    let canonical = String::from_utf8(card.canonical()).unwrap();
    assert!(canonical.starts_with("{\"claims\":[\"float16\""), "{canonical}");
    assert!(!canonical.contains("\"digest\":") && !canonical.contains("\"signature\":"));
    let mut signed = card.clone();
    signed.signature = Some(json!({"by": "somebody"}));
    assert_eq!(signed.digest_now(), card.digest, "a signature changes nothing that is signed");
    assert!(Card::parse(&signed.text()).unwrap().signature.is_some());
}

#[test]
fn a_malformed_card_is_reported() {
    for (text, says) in [
        ("", "no JSON"),
        ("{}", "found none"),
        ("{\"schema\": \"chipdock.conformance/1\"}", "found chipdock.conformance/1"),
        ("{\"schema\": \"chipdock.conformance-card/1\"}", "missing field"),
        (&good().text().replacen("\"plugin\"", "\"more\": 1,\n\"plugin\"", 1), "unknown field `more`"),
    ] {
        let error = Card::parse(text).unwrap_err();
        assert!(error.contains(says), "{error} should say {says}");
    }
}

#[test]
fn cards_keep_their_schema_and_changed_ones_do_not() {
    let schema = Schema::with_id(CARD_SCHEMA);
    for report in [sample(), healthy(), hostile(), whole()] {
        check(&serde_json::to_value(Card::from_report(&report)).unwrap());
    }
    let card = serde_json::to_value(good()).unwrap();
    for (at, value) in [
        ("/schema", json!("chipdock.conformance-card/2")),
        ("/plugin/sha256", json!("3F")),
        ("/counts/query", json!({"passed": 0})),
        ("/counts/query", json!({"fine": 1})),
        ("/counts", json!({"speed": {"passed": 1}})),
        ("/date", json!("yesterday")),
        ("/exit", json!(8)),
        ("/digest", json!("")),
        ("/suite/level", Value::Null),
    ] {
        let mut bad = card.clone();
        *bad.pointer_mut(at).unwrap() = value;
        assert!(!schema.accepts(&bad), "{at}");
    }
    let mut more = card;
    more["speed"] = json!(1);
    assert!(!schema.accepts(&more), "what nobody digests has no place in a card");
}

#[test]
fn two_cards_stand_side_by_side() {
    let (left, right) = (Card::from_report(&healthy()), Card::from_report(&sample()));
    let text = Comparison::new(&left, &right).text(("old.card.json", "new.card.json"), Paint(false));
    // The list of cases grows; what it comes to is not what this golden is about.
    let stable: String = text
        .lines()
        .filter(|line| !line.trim_start_matches('≠').trim_start().starts_with("cases "))
        .map(|line| line.to_owned() + "\n")
        .collect();
    golden("compare.txt", &stable);
    let same = Comparison::new(&left, &left);
    assert!(same.same && same.rows.iter().all(|row| row.same));
    assert!(!Comparison::new(&left, &right).same);
    let later = Card { date: day(1_900_000_000), ..left.clone() };
    assert!(Comparison::new(&left, &later).same, "another day is no other result");
}

#[test]
fn a_table_is_made_of_cards() {
    let mut part = Card::from_report(&healthy());
    part.plugin.name = "aaa".to_owned();
    part.suite.filters = vec!["query/*".to_owned()];
    let cards = [Card::from_report(&sample()), Card::from_report(&hostile()), part];
    golden("table.md", &table(&cards));
    let lines = table(&cards);
    // As a reader of Markdown sees cells: bars without a backslash before them.
    let bars = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
    let n = bars(lines.lines().next().unwrap());
    assert!(lines.lines().all(|line| bars(line) == n), "each row has the header's cells:\n{lines}");
    assert_eq!(lines.lines().count(), 2 + cards.len());
}
