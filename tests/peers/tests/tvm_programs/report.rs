//! The outcome of each program, checked against the list of expected outcomes, and printed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::expected::{EXPECTED, Expected, NOT_MADE, Whose};

/// Outcome of a program on one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// Built, and right where it was run.
    Right,
    /// Not read, not built, or not run, and why.
    Refused(String),
    /// Run, and wrong.
    Wrong(String),
}

/// Outcomes of a program: `read`, `tvm` (TVM's own result against the interpreter's), and each
/// target.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) cells: Vec<(String, Cell)>,
}

impl Row {
    pub(crate) fn new(name: &str, group: &str) -> Self {
        Self { name: name.to_owned(), group: group.to_owned(), cells: Vec::new() }
    }

    fn cell(&self, target: &str) -> Option<&Cell> {
        self.cells.iter().find(|(name, _)| name == target).map(|(_, cell)| cell)
    }
}

/// The entry of the list that a cell falls under.
pub(crate) fn listed(row: &Row, target: &str, why: &str) -> Option<&'static Expected> {
    EXPECTED.iter().find(|entry| {
        entry.names.iter().any(|name| is_named(&row.name, name))
            && entry.targets.contains(&target)
            && why.contains(entry.words)
    })
}

/// Whether a program is one of an operator's, or a kernel's: `topi.sort` names `topi.sort/0`,
/// `model.mlp` its kernels, and `*` every program.
fn is_named(program: &str, name: &str) -> bool {
    let rest = program.strip_prefix(name);
    name == "*" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':', '.']))
}

/// Whether it is known that TVM cannot make a program, and fails so.
pub(crate) fn is_not_made(program: &str, why: &str) -> bool {
    NOT_MADE.iter().any(|(operator, words, _)| is_named(program, operator) && why.contains(words))
}

/// Returns the errors: wrong results, refusals without an entry, and entries that no longer match
/// any program.
pub(crate) fn complaints(rows: &[Row], refused: &[(String, String)], is_whole: bool) -> Vec<String> {
    let mut all = Vec::new();
    let mut used = vec![false; EXPECTED.len()];
    for row in rows {
        for (target, cell) in &row.cells {
            let (Cell::Refused(why) | Cell::Wrong(why)) = cell else { continue };
            match EXPECTED.iter().position(|entry| Some(entry) == listed(row, target, why)) {
                Some(index) => used[index] = true,
                None => {
                    let how = if matches!(cell, Cell::Wrong(_)) { "wrong" } else { "refused" };
                    all.push(format!("{} on {target}: {how}: {why}", row.name));
                }
            }
        }
    }
    for (name, why) in refused {
        if !is_not_made(name, why) {
            all.push(format!("{name} could not be made: {why}"));
        }
    }
    if is_whole {
        let stale = EXPECTED.iter().zip(used).filter(|(_, used)| !used);
        all.extend(stale.map(|(entry, _)| format!("nothing is so any more, strike it off: {entry:?}")));
    }
    all
}

/// Counts of a group on a target.
#[derive(Default)]
struct Count {
    all: usize,
    right: usize,
    theirs: usize,
    ours: usize,
    wrong: usize,
}

fn count<'a>(rows: impl Iterator<Item = &'a Row>, target: &str) -> Count {
    let mut count = Count::default();
    for row in rows {
        count.all += 1;
        match row.cell(target).or_else(|| row.cell("read")) {
            None | Some(Cell::Right) => count.right += 1,
            Some(Cell::Wrong(why) | Cell::Refused(why)) => match listed(row, target, why) {
                Some(entry) if entry.whose == Whose::Theirs => count.theirs += 1,
                _ if matches!(row.cell(target), Some(Cell::Wrong(_))) => count.wrong += 1,
                _ => count.ours += 1,
            },
        }
    }
    count
}

const COLUMNS: &str = "right, refused for a reason that is not ours to mend, refused by us, wrong";

/// Returns a summary with a line for each group and target.
pub(crate) fn summary(rows: &[Row], targets: &[String]) -> String {
    let mut text = format!("{} programs; {COLUMNS}\n", rows.len());
    for_each_count(rows, targets, |group, target, count| {
        let Count { all, right, theirs, ours, wrong } = count;
        let _ = writeln!(text, "{group:<8} {target:<8} {all:>5} {right:>5} {theirs:>5} {ours:>5} {wrong:>5}");
    });
    text
}

fn for_each_count(rows: &[Row], targets: &[String], mut note: impl FnMut(&str, &str, Count)) {
    let groups = ["topi", "relax", "models"];
    let columns = ["read", "tvm"].into_iter().chain(targets.iter().map(String::as_str));
    for target in columns {
        for group in groups {
            note(group, target, count(rows.iter().filter(|row| row.group == group), target));
        }
    }
}

/// Returns the table of the whole run: counts, then refused programs by reason.
pub(crate) fn markdown(rows: &[Row], refused: &[(String, String)], targets: &[String]) -> String {
    let mut text = format!(
        "# Programs of TVM's own libraries\n\nWritten by `BLESS=1 cargo xtask test --all programs_of_tvms_libraries`: {} \
         kernels that real TVM's libraries made, and {} draws that TVM could not make. `read` is the reader, `tvm` is \
         TVM's own result against the interpreter's, and each other line a target: run and right where a device is \
         present (`llvm`, `c`, `opencl` on PoCL, `vulkan` on lavapipe), built elsewhere.\n\n\
         | From | On | Programs | Right | Refused, not ours to mend | Refused by us | Wrong |\n|---|---|---|---|---|---|---|\n",
        rows.len(),
        refused.len()
    );
    for_each_count(rows, targets, |group, target, count| {
        let Count { all, right, theirs, ours, wrong } = count;
        let _ = writeln!(text, "| {group} | {target} | {all} | {right} | {theirs} | {ours} | {wrong} |");
    });
    let mut by_reason: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for row in rows {
        for (target, cell) in &row.cells {
            let (Cell::Refused(why) | Cell::Wrong(why)) = cell else { continue };
            let entry = listed(row, target, why);
            let reason = entry.map_or("not on the list", |entry| entry.reason);
            by_reason.entry((target.as_str(), reason)).or_default().push(row.name.as_str());
        }
    }
    text.push_str("\n| On | Why | How many | Programs |\n|---|---|---|---|\n");
    for ((target, reason), names) in by_reason {
        let shown: Vec<&str> = names.iter().take(6).copied().collect();
        let more = if names.len() > shown.len() { ", …" } else { "" };
        let _ = writeln!(text, "| {target} | {reason} | {} | {}{more} |", names.len(), shown.join(", "));
    }
    text
}
