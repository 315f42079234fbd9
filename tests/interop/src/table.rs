//! The table of what was loaded where (INTEROP-J3).

use std::collections::BTreeMap;

use chipdock_test_support::{bless, workspace};

use crate::Result;
use crate::case::KINDS;
use crate::cases;
use crate::libraries::{EXPORTERS, Exporter};
use crate::own;

const PAGE: &str = "guide/docs/exported-libraries.md";
const BEGIN: &str = "<!-- begin: printed by tests/interop -->\n";
const END: &str = "<!-- end -->\n";

const BEGIN_OWN: &str = "<!-- begin: printed by tests/interop/tests/own.rs -->\n";
const END_OWN: &str = "<!-- end of Chipdock's own -->\n";

/// What stands for a release in counts of Chipdock's own loader.
pub const OWN: &str = "Chipdock";

/// Number of calls that went as expected, and of all; by release, library and kind of tensors.
pub type Counts = BTreeMap<(String, &'static str, &'static str), (usize, usize)>;

/// The first cell of the row that says how many calls each cell of a column is about.
const CALLS: &str = "calls";

/// Whether a way to make libraries is in the table with each kind of tensors; else only as a whole.
fn columns(exporter: &Exporter) -> Vec<&'static str> {
    if exporter.is_whole { KINDS.to_vec() } else { vec![KINDS[0]] }
}

/// Prints the table; what was not run keeps its cell of `before`.
fn table(releases: &[String], counts: &Counts, before: &str) -> String {
    let columns: Vec<(&str, &str)> = EXPORTERS
        .iter()
        .flat_map(|exporter| columns(exporter).into_iter().map(move |kind| (exporter.name, kind)))
        .collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = columns.iter().map(|(exporter, kind)| format!("{exporter}: {kind}"));
    let mut text = line(std::iter::once("apache-tvm-ffi".to_owned()).chain(head).collect());
    text.push_str(&line(vec!["---".to_owned(); columns.len() + 1]));
    let calls =
        columns.iter().map(|(_, kind)| cases::all().iter().filter(|case| case.kinds.contains(kind)).count());
    text.push_str(&line(
        std::iter::once(CALLS.to_owned()).chain(calls.map(|calls| calls.to_string())).collect(),
    ));
    for release in releases {
        let old: Vec<&str> = before
            .lines()
            .find(|line| line.starts_with(&format!("| {release} |")))
            .map(|line| line.split('|').skip(2).map(str::trim).collect())
            .unwrap_or_default();
        let cell = |(index, (exporter, kind)): (usize, &(&'static str, &'static str))| match counts.get(&(
            release.clone(),
            *exporter,
            *kind,
        )) {
            Some((right, all)) if right == all => "all".to_owned(),
            Some((right, all)) => format!("{right} of {all}"),
            None => old.get(index).filter(|cell| !cell.is_empty()).map_or("not run", |cell| cell).to_owned(),
        };
        text.push_str(&line(
            std::iter::once(release.clone()).chain(columns.iter().enumerate().map(cell)).collect(),
        ));
    }
    text
}

/// Prints the table of Chipdock's own loader.
fn own_table(counts: &Counts) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = EXPORTERS.iter().map(|exporter| exporter.name.to_owned());
    let mut text = line(std::iter::once("opened by a Chipdock host, with".to_owned()).chain(head).collect());
    text.push_str(&line(vec!["---".to_owned(); EXPORTERS.len() + 1]));
    for kind in own::KINDS {
        let cell = |exporter: &Exporter| match counts.get(&(OWN.to_owned(), exporter.name, *kind)) {
            Some((right, all)) if right == all => format!("all {all}"),
            Some((right, all)) => format!("{right} of {all}"),
            None => "not run".to_owned(),
        };
        text.push_str(&line(std::iter::once((*kind).to_owned()).chain(EXPORTERS.iter().map(cell)).collect()));
    }
    text
}

/// Compares the page's table of Chipdock's own loader with what was found; with `BLESS=1`, writes
/// it.
///
/// # Errors
///
/// The page cannot be read or differs.
pub fn check_own(counts: &Counts) -> Result<()> {
    check_between(BEGIN_OWN, END_OWN, |_| own_table(counts))
}

/// Compares the page with what was found; with `BLESS=1`, writes it.
///
/// # Errors
///
/// The page cannot be read or differs.
pub fn check(releases: &[String], counts: &Counts) -> Result<()> {
    check_between(BEGIN, END, |before| table(releases, counts, before))
}

/// Compares what is between two lines of the page, or writes it.
fn check_between(begin: &str, end: &str, make: impl Fn(&str) -> String) -> Result<()> {
    let path = workspace().join(PAGE);
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{PAGE}: {error}"))?;
    let parts = page.split_once(begin).and_then(|(head, rest)| Some((head, rest.split_once(end)?)));
    let Some((head, (before, tail))) = parts else {
        return Err(format!("{PAGE}: expected the lines {begin:?} and {end:?}"));
    };
    bless(&path, &format!("{head}{begin}{}{end}{tail}", make(before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_was_not_run_keeps_its_cell() {
        let releases = ["0.1.0".to_owned(), "0.1.10".to_owned()];
        let count = |release: &str, kind| ((release.to_owned(), EXPORTERS[0].name, kind), (2, 3));
        let first = table(&releases, &Counts::from([count("0.1.0", KINDS[2])]), "");
        assert!(first.contains("| 0.1.0 | not run | not run | 2 of 3 |"), "{first}");
        let second = table(&releases, &Counts::from([count("0.1.10", KINDS[0])]), &first);
        assert!(second.contains("| 0.1.0 | not run | not run | 2 of 3 |"), "{second}");
        assert!(second.contains("| 0.1.10 | 2 of 3 | not run |"), "{second}");
    }
}
