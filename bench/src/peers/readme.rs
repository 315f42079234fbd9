//! Writes the table of results into the README of the plugin whose goals are measured, between two
//! markers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::report::{Entry, GOALS_OF, Report, TVM, Verdict, write_whole};
use super::show::{goal, rate, time, verdict};
use crate::Result;

/// Marker of the table's beginning.
pub const BEGIN: &str = "<!-- speed:begin -->";
/// Marker of the table's end.
pub const END: &str = "<!-- speed:end -->";
/// Name of the file beside the README that gives, by title, the reason of each row that did not
/// reach its goal.
pub const REASONS: &str = "speed-reasons.json";

/// Writes the table into `README.md` of that folder, with the reasons from the file beside it.
///
/// # Errors
///
/// A row that did not reach its goal has no reason, a reason belongs to no row, or a file does not
/// have the described form. Nothing is written then.
pub fn bless(folder: &Path, report: &Report) -> Result<()> {
    let reasons = reasons(&folder.join(REASONS))?;
    let path = folder.join("README.md");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let section = section(report, &reasons)?;
    write_whole(&path, &replaced(&text, &section).map_err(|why| format!("{}: {why}", path.display()))?)
}

/// Reads the reasons of a file; none if there is no file.
fn reasons(path: &Path) -> Result<BTreeMap<String, String>> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| {
            format!("{}: {error}; expected an object of texts by the titles of rows", path.display())
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
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
fn section(report: &Report, reasons: &BTreeMap<String, String>) -> Result<String> {
    check(report, reasons)?;
    let mut text = heading(report);
    let others: Vec<&str> = others(report);
    let _ = write!(text, "\n| | threads | {GOALS_OF} | {TVM} | {GOALS_OF} / {TVM} | goal | |");
    for other in &others {
        let _ = write!(text, " {other} |");
    }
    let _ = write!(text, " rate of {GOALS_OF} |\n|---|---|---|---|---|---|---|");
    text.push_str(&"---|".repeat(others.len() + 1));
    text.push('\n');
    for entry in &report.entries {
        line(&mut text, report, entry, &others);
    }
    text.push_str("\nNot reached, and why:\n\n");
    let missed: Vec<&Entry> = missed(report).collect();
    if missed.is_empty() {
        text.push_str("- nothing\n");
    }
    for entry in missed {
        let title = entry.title();
        let _ = writeln!(text, "- {title}: {}", reasons.get(&title).map_or("", |why| why.trim()));
    }
    text.push_str("\n| limit of the machine | threads | measured |\n|---|---|---|\n");
    for limit in &report.limits {
        let _ = writeln!(text, "| {} | {} | {:.1} {} |", limit.name, limit.threads, limit.value, limit.unit);
    }
    Ok(text)
}

fn missed(report: &Report) -> impl Iterator<Item = &Entry> {
    report.entries.iter().filter(|entry| entry.verdict(GOALS_OF) == Verdict::NotReached)
}

/// Refuses a row without its reason, and a reason without a row.
fn check(report: &Report, reasons: &BTreeMap<String, String>) -> Result<()> {
    let has_reason = |title: &String| reasons.get(title).is_some_and(|why| !why.trim().is_empty());
    let without: Vec<String> = missed(report).map(Entry::title).filter(|title| !has_reason(title)).collect();
    if !without.is_empty() {
        return Err(format!(
            "these did not reach their goals; give the reason of each in {REASONS} and bless again with --resume:\n  {}",
            without.join("\n  ")
        ));
    }
    let is_row = |title: &String| report.entries.iter().any(|entry| entry.title() == *title);
    match reasons.keys().find(|title| !is_row(title)) {
        None => Ok(()),
        Some(title) => Err(format!("{REASONS} has a reason for `{title}`, which no row is called")),
    }
}

fn heading(report: &Report) -> String {
    let mut text = format!(
        "Measured {} by `cargo xtask bench --peers --set examples --bless`: medians, and medians of the ratios of the same rounds \
         (in brackets the middle half of them), contenders visited in turn, {} rounds. Times are those of this machine; a ratio below 1 is in favour of the first.\n\n",
        report.date, report.rounds
    );
    for (key, value) in &report.machine {
        let _ = writeln!(text, "- {key}: {value}");
    }
    if let Some(versions) = report.peers["versions"].as_object() {
        let shown = |(name, version): (&String, &serde_json::Value)| {
            format!("{name} {}", version.as_str().unwrap_or_default())
        };
        let shown: Vec<String> = versions.iter().map(shown).collect();
        let _ = writeln!(text, "- peers: {} (its LLVM: {})", shown.join(", "), report.peers["tvm_llvm"]);
    }
    let target = &report.peers["tvm_target"];
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
    let sizes: Vec<String> = report
        .entries
        .iter()
        .filter(|entry| entry.threads == 1 && entry.work.is_some() && entry.sizes != "its own")
        .map(|entry| format!("{} {}", entry.name, entry.sizes))
        .collect();
    let _ = writeln!(text, "- sizes: {}; the others as they stand in their files", sizes.join("; "));
    text
}

/// Returns all contenders except the two whose ratio is the goal.
fn others(report: &Report) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for time in report.entries.iter().flat_map(|entry| &entry.times) {
        if time.who != GOALS_OF && time.who != TVM && !all.contains(&time.who.as_str()) {
            all.push(&time.who);
        }
    }
    all
}

fn line(text: &mut String, report: &Report, entry: &Entry, others: &[&str]) {
    let shown = |who: &str| entry.time(who).map(|ns| time(ns.median)).unwrap_or_default();
    let ratio = entry
        .ratio(GOALS_OF, TVM)
        .map(|ratio| format!("{:.2} ({:.2} to {:.2})", ratio.median, ratio.low, ratio.high));
    let _ = write!(
        text,
        "| {} | {} | {} | {} | {} | {} | {} |",
        entry.name,
        entry.threads,
        shown(GOALS_OF),
        shown(TVM),
        ratio.unwrap_or_default(),
        goal(entry.goal),
        verdict(entry.verdict(GOALS_OF))
    );
    for other in others {
        let _ = write!(text, " {} |", shown(other));
    }
    let _ = writeln!(text, " {} |", rate(report, entry, GOALS_OF));
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
    use super::super::report::{Goal, entry_for_tests as entry, report_for_tests as report};
    use super::*;

    fn slow() -> Report {
        report(vec![
            entry(Goal::NoSlowerThanTvm, &[3.0, 3.0, 3.0], &[2.0, 2.0, 2.0]),
            Entry { name: "mul".to_owned(), ..entry(Goal::NoSlowerThanTvm, &[1.0, 1.0], &[2.0, 2.0]) },
        ])
    }

    fn folder(readme: &str, reasons: Option<&str>) -> tempfile::TempDir {
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
            let folder = folder(before, reasons);
            let error = bless(folder.path(), &slow()).expect_err("refused");
            assert!(error.contains("add, 1 thread") && !error.contains("mul"), "{error}");
            assert_eq!(readme(&folder), before);
        }
        let folder = folder(before, Some(r#"{"add, 1 thread": "its loads are split"}"#));
        bless(folder.path(), &slow()).expect("blessed");
        assert!(readme(&folder).contains("- add, 1 thread: its loads are split"));
    }

    #[test]
    fn a_reason_for_no_row_is_refused() {
        let folder = folder("# x\n", Some(r#"{"add, 1 thread": "y", "sub, 1 thread": "z"}"#));
        assert!(bless(folder.path(), &slow()).expect_err("refused").contains("sub, 1 thread"));
    }

    #[test]
    fn the_table_stands_between_the_markers_and_is_read_back() {
        let text = format!("# x\n\n{BEGIN}\nold\n{END}\n\nafter\n");
        let folder = folder(&text, Some(r#"{"add, 1 thread": "y"}"#));
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
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/cpu-llvm");
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
