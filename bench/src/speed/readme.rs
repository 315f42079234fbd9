//! Writes the table of the set `examples` into the README of the plugin whose goals are measured,
//! between two markers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use chipdock_test_backends::cases::CASES;

use super::page::versions;
use super::report::{Entry, GOALS_OF, TVM};
use super::results::{Results, check, reasons, write_whole};
use super::rows::sizes;
use super::show::{at_most, rate, time};
use crate::Result;

/// Marker of the table's beginning.
pub const BEGIN: &str = "<!-- speed:begin -->";
/// Marker of the table's end.
pub const END: &str = "<!-- speed:end -->";
/// Name of the file beside the README that gives, by title, the reason of each row that did not
/// reach its goal.
pub const REASONS: &str = "speed-reasons.json";

/// Returns the folder of that plugin.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/cpu-llvm")
}

/// Writes the table into `README.md` of that folder, with the reasons from the file beside it.
///
/// # Errors
///
/// A row that did not reach its goal has no reason, a reason belongs to no such row, or a file does
/// not have the described form. Nothing is written then.
pub fn bless(folder: &Path, results: &Results) -> Result<()> {
    let file = folder.join(REASONS);
    let reasons = reasons(&file)?;
    check(&results.rows, &reasons, &file)?;
    let path = folder.join("README.md");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let section = section(results, &reasons);
    write_whole(&path, &replaced(&text, &section).map_err(|why| format!("{}: {why}", path.display()))?)
}

/// Returns the README with this section between the markers, or at its end if it has no markers.
fn replaced(text: &str, section: &str) -> Result<String> {
    let marked = format!("{BEGIN}\n{section}{END}");
    match (text.find(BEGIN), text.find(END)) {
        (None, None) => Ok(format!("{}\n\n{marked}\n", text.trim_end())),
        (Some(begin), Some(end)) if begin < end => {
            let (head, tail) = (&text[..begin], &text[end + END.len()..]);
            if tail.contains(BEGIN) || tail.contains(END) {
                return Err(format!("{BEGIN} and {END} stand there twice"));
            }
            Ok(format!("{head}{marked}{tail}"))
        }
        _ => Err(format!("expected {BEGIN} and after it {END}, or neither")),
    }
}

/// Returns the section as Markdown.
fn section(results: &Results, reasons: &BTreeMap<String, String>) -> String {
    let mut text = heading(results);
    let others: Vec<&str> = others(results);
    let _ = write!(text, "\n| | threads | {GOALS_OF} | {TVM} | {GOALS_OF} / {TVM} | goal | |");
    for other in &others {
        let _ = write!(text, " {other} |");
    }
    let _ = write!(text, " rate of {GOALS_OF} |\n|---|---|---|---|---|---|---|");
    text.push_str(&"---|".repeat(others.len() + 1));
    text.push('\n');
    for entry in &results.rows {
        line(&mut text, entry, &others);
    }
    text.push_str("\nNot reached, and why:\n\n");
    let missed: Vec<&Entry> = results.rows.iter().filter(|entry| !entry.missed().is_empty()).collect();
    if missed.is_empty() {
        text.push_str("- nothing\n");
    }
    for entry in missed {
        let title = entry.key();
        let _ = writeln!(text, "- {title}: {}", reasons.get(&title).map_or("", |why| why.trim()));
    }
    text.push_str("\n| limit of the machine | threads | measured |\n|---|---|---|\n");
    for limit in &results.limits {
        let _ = writeln!(text, "| {} | {} | {:.1} {} |", limit.name, limit.threads, limit.value, limit.unit);
    }
    text
}

fn heading(results: &Results) -> String {
    let mut text = format!(
        "Measured {} by `cargo xtask bench --peers --set examples --bless`: medians, and medians of the ratios of the same rounds \
         (in brackets the middle half of them), contenders visited in turn, {} rounds. Times are those of this machine; a ratio below 1 is in favour of the first.\n\n",
        results.date, results.rounds
    );
    for (key, value) in &results.machine {
        let _ = writeln!(text, "- {key}: {value}");
    }
    let tvm = &results.peers[0];
    let _ = writeln!(text, "- peers: {} (TVM's LLVM: {})", versions(results), tvm["tvm_llvm"]);
    let target = &tvm["tvm_target"];
    if let Some(features) = target["mattr"].as_array() {
        let wide = features.iter().any(|feature| feature == "-prefer-256-bit");
        let _ = writeln!(
            text,
            "- {TVM} compiles for `llvm`, mcpu {}, mattr the host's {} features{}",
            target["mcpu"].as_str().unwrap_or_default(),
            features
                .iter()
                .filter(|feature| feature.as_str().is_some_and(|name| name.starts_with('+')))
                .count(),
            if wide { " and `-prefer-256-bit`, so that it uses 512-bit vectors" } else { "" }
        );
    }
    let cases = CASES.iter().filter(|case| !case.time.is_empty());
    let all: Vec<String> = cases.map(|case| format!("{} {}", case.name, sizes(case.time))).collect();
    let _ = writeln!(text, "- sizes: {}; the others as they stand in their files", all.join("; "));
    text
}

/// Returns all contenders except the two whose ratio is the goal.
fn others(results: &Results) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for entry in &results.rows {
        let kinds = entry.ours.keys().map(String::as_str);
        for who in kinds.chain(entry.peers.iter().map(|peer| peer.who.as_str())) {
            if who != GOALS_OF && who != TVM && !all.contains(&who) {
                all.push(who);
            }
        }
    }
    all
}

/// Returns the goal against TVM, or that in time.
fn goal(entry: &Entry) -> String {
    let of_tvm = entry.goals.at_most.get(TVM).map(|ratio| format!("≤ {ratio:.2}"));
    of_tvm.or(entry.goals.at_most_ns.map(at_most)).unwrap_or_default()
}

fn verdict(entry: &Entry) -> &'static str {
    match (entry.goals.is_empty(), entry.missed().is_empty()) {
        (true, _) => "",
        (_, true) => "reached",
        (_, false) => "not reached",
    }
}

fn line(text: &mut String, entry: &Entry, others: &[&str]) {
    let shown = |who: &str| {
        let ns = entry.ours.get(who).copied().or_else(|| Some(entry.peer(who)?.ns));
        ns.map(|ns| time(ns.median)).unwrap_or_default()
    };
    let share = entry.limit.as_ref().map(|limit| format!(", {:.0} % of peak", 100.0 * limit.share.median));
    let rate = rate(entry, GOALS_OF).map(|rate| rate + &share.unwrap_or_default()).unwrap_or_default();
    let ratio = entry
        .peer(TVM)
        .and_then(|tvm| tvm.over.get(GOALS_OF))
        .map(|ratio| format!("{:.2} ({:.2} to {:.2})", ratio.median, ratio.low, ratio.high));
    let _ = write!(
        text,
        "| {} | {} | {} | {} | {} | {} | {} |",
        entry.name,
        entry.threads,
        shown(GOALS_OF),
        shown(TVM),
        ratio.unwrap_or_default(),
        goal(entry),
        verdict(entry)
    );
    for other in others {
        let _ = write!(text, " {} |", shown(other));
    }
    let _ = writeln!(text, " {rate} |");
}

/// Returns the rows of a README's table as (title, text of the goal column); `None` without
/// markers.
#[must_use]
pub fn rows(text: &str) -> Option<Vec<(String, String)>> {
    let section = text.split_once(BEGIN)?.1.split_once(END)?.0;
    let cells = |line: &str| -> Option<(String, String)> {
        let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
        let threads: usize = cells.get(1)?.parse().ok()?;
        let verdict = cells.get(6).filter(|_| cells.len() > 8)?;
        let plural = if threads == 1 { "" } else { "s" };
        Some((format!("{}, {threads} thread{plural}", cells[0]), (*verdict).to_owned()))
    };
    Some(section.lines().filter_map(cells).collect())
}

#[cfg(test)]
mod tests {
    use super::super::report::example_for_tests as example;
    use super::super::results::tests::results;
    use super::*;

    fn slow() -> Results {
        results(vec![
            example("add", None, &[3.0, 3.0, 3.0], &[2.0, 2.0, 2.0]),
            example("mul", None, &[1.0, 1.0], &[2.0, 2.0]),
        ])
    }

    fn filed(readme: &str, reasons: Option<&str>) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("README.md"), readme).expect("written");
        if let Some(reasons) = reasons {
            fs::write(folder.path().join(REASONS), reasons).expect("written");
        }
        folder
    }

    fn readme(folder: &tempfile::TempDir) -> String {
        fs::read_to_string(folder.path().join("README.md")).expect("a README")
    }

    #[test]
    fn a_row_that_is_not_reached_needs_a_reason() {
        let before = "# x\n";
        for reasons in [None, Some("{}"), Some(r#"{"add, 1 thread": " "}"#)] {
            let folder = filed(before, reasons);
            let error = bless(folder.path(), &slow()).expect_err("refused");
            assert!(error.contains("add, 1 thread") && !error.contains("mul"), "{error}");
            assert_eq!(readme(&folder), before);
        }
        let folder = filed(before, Some(r#"{"add, 1 thread": "its loads are split"}"#));
        bless(folder.path(), &slow()).expect("blessed");
        let text = readme(&folder);
        assert!(text.contains("- add, 1 thread: its loads are split"));
        let cells = "| add | 1 | 3 ns | 2 ns | 1.50 (1.50 to 1.50) | ≤ 1.00 | not reached | 4194304.0 GB/s |";
        assert!(text.contains(cells), "{text}");
    }

    #[test]
    fn a_reason_for_no_row_is_refused() {
        let folder = filed("# x\n", Some(r#"{"add, 1 thread": "y", "sub, 1 thread": "z"}"#));
        assert!(bless(folder.path(), &slow()).expect_err("refused").contains("sub, 1 thread"));
    }

    #[test]
    fn the_table_stands_between_the_markers_and_is_read_back() {
        let text = format!("# x\n\n{BEGIN}\nold\n{END}\n\nafter\n");
        let folder = filed(&text, Some(r#"{"add, 1 thread": "y"}"#));
        bless(folder.path(), &slow()).expect("blessed");
        let once = readme(&folder);
        assert!(once.starts_with("# x\n\n") && once.ends_with("\n\nafter\n") && !once.contains("old"));
        let wanted = [("add, 1 thread", "not reached"), ("mul, 1 thread", "reached")];
        let wanted = wanted.map(|(title, verdict)| (title.to_owned(), verdict.to_owned()));
        assert_eq!(rows(&once).expect("markers"), wanted);
        bless(folder.path(), &slow()).expect("blessed again");
        assert_eq!(readme(&folder), once);
    }

    #[test]
    fn markers_are_added_once_and_never_guessed() {
        let fresh = replaced("# x\n", "table\n").expect("added");
        assert_eq!(fresh, format!("# x\n\n{BEGIN}\ntable\n{END}\n"));
        for broken in
            [format!("{END}{BEGIN}"), BEGIN.to_owned(), END.to_owned(), format!("{BEGIN}{END}{BEGIN}{END}")]
        {
            assert!(replaced(&broken, "table\n").is_err(), "{broken}");
        }
    }

    /// The plugin's README, as committed: every row that is said not to be reached has its reason
    /// beside it.
    #[test]
    fn the_blessed_table_is_current_with_its_reasons() {
        let folder = folder();
        let text = fs::read_to_string(folder.join("README.md")).expect("a README");
        let Some(rows) = rows(&text) else {
            assert!(!folder.join(REASONS).exists(), "reasons without a table");
            return;
        };
        assert!(rows.is_empty() || rows.len() > 20, "only {} rows", rows.len());
        let reasons = reasons(&folder.join(REASONS)).expect("readable");
        for (title, verdict) in &rows {
            if verdict == "not reached" {
                let why = reasons.get(title).unwrap_or_else(|| panic!("no reason for {title}"));
                assert!(
                    text.contains(&format!("- {title}: {}", why.trim())),
                    "{title}: another reason stands in the README"
                );
            }
        }
    }
}
