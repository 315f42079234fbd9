//! Every case names an existing clause, and every clause that the suite must check has a case
//! (SUITE-S1, SUITE-S2, SUITE-S3).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::HashSet;

use chipdock_conformance::case::Seeds;
use chipdock_conformance::list::Coverage;
use chipdock_conformance::{Group, cases, clauses};

#[test]
fn every_case_names_a_clause_of_the_contract() {
    let unknown = Coverage::new(&Seeds::default()).unknown;
    assert!(
        unknown.is_empty(),
        "the front page of chipdock-plugin-api has no such clause:\n{}",
        unknown.join("\n")
    );
}

#[test]
fn every_clause_that_is_the_suites_has_a_case() {
    let cited: HashSet<&str> = cases(&Seeds::default()).iter().map(|case| case.clause).collect();
    let missing: Vec<String> = clauses::all()
        .iter()
        .filter(|clause| clause.is_the_suites() && !cited.contains(clause.number.as_str()))
        .map(|clause| format!("{}  {}", clause.number, clause.text))
        .collect();
    assert!(
        missing.is_empty(),
        "no case tests, though the page says that the suite finds out:\n{}",
        missing.join("\n")
    );
}

#[test]
fn ids_are_well_formed_and_stand_once() {
    let (mut seen, mut wrong) = (HashSet::new(), Vec::new());
    for case in cases(&Seeds::default()) {
        let fine = |c: char| c.is_ascii_alphanumeric() || "-_.+/".contains(c);
        let head = case.id.split('/').next().unwrap();
        if !case.id.chars().all(fine) || Group::by_name(head) != Some(case.group) || !case.id.contains('/') {
            wrong.push(format!("{}: not group/name[/parameters]", case.id));
        }
        if !seen.insert(case.id.clone()) {
            wrong.push(format!("{}: stands twice", case.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_list_is_the_same_every_time() {
    let ids = || cases(&Seeds::default()).into_iter().map(|case| case.id).collect::<Vec<_>>();
    assert_eq!(ids(), ids());
}
