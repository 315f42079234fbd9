//! Prints rows as they are measured, and all of them as a table.

use comfy_table::{CellAlignment, Table, presets};

use super::report::{Entry, GOALS_OF};
use crate::peers::show::time;

/// Headers of the columns.
const HEADER: [&str; 12] = [
    "row",
    "threads",
    "ours",
    "best peer",
    "its time",
    "x as fast",
    "quartiles",
    "goal",
    "of limit",
    "over 1",
    "c/llvm",
    "",
];

/// Returns the cells of a row.
fn cells(entry: &Entry) -> [String; 12] {
    let ours = entry.ours.get(GOALS_OF).map(|ns| time(ns.median)).unwrap_or_default();
    let best = entry.best();
    let missed = entry.missed();
    let verdict =
        if missed.is_empty() { "reached".to_owned() } else { format!("not: {}", missed.join(", ")) };
    let goal = goal(entry);
    [
        entry.title.clone(),
        entry.threads.to_string(),
        ours,
        best.map(|peer| peer.who.clone()).unwrap_or_default(),
        best.map(|peer| time(peer.ns.median)).unwrap_or_default(),
        best.map(|peer| format!("{:.2}", peer.faster.median)).unwrap_or_default(),
        best.map(|peer| format!("{:.2} to {:.2}", peer.faster.low, peer.faster.high)).unwrap_or_default(),
        goal,
        entry.limit.as_ref().map(|limit| format!("{:.0} %", 100.0 * limit.share.median)).unwrap_or_default(),
        entry.over_one.map(|over| format!("{:.2}", over.median)).unwrap_or_default(),
        entry.c.map(|c| format!("{:.2}", c.median)).unwrap_or_default(),
        verdict,
    ]
}

/// Returns the goals of a row beside its peers and the limit, in a short form.
#[must_use]
pub fn goal(entry: &Entry) -> String {
    let mut all: Vec<String> = entry.goals.faster.iter().map(|faster| format!("≥ {faster:.2}")).collect();
    all.extend(entry.goals.share.map(|share| format!("{:.0} % of the limit", 100.0 * share)));
    all.extend(entry.goals.at_most.iter().map(|(peer, ratio)| format!("≥ {:.2} ({peer})", 1.0 / ratio)));
    all.join(", ")
}

/// Returns the line of a row, as it is printed once it was measured.
#[must_use]
pub fn line(entry: &Entry) -> String {
    let cells = cells(entry);
    let named =
        |name: &str, cell: &str| if cell.is_empty() { String::new() } else { format!("  {name} {cell}") };
    let plural = if entry.threads == 1 { " " } else { "s" };
    let others: Vec<String> =
        entry.peers.iter().skip(1).map(|peer| format!("{} {}", peer.who, time(peer.ns.median))).collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
    let mut line = format!(
        "{:<34} {} thread{plural} {:>9}  best {} {}{others} -> {}x [{}] goal {}{}{}{}  {}",
        cells[0],
        cells[1],
        cells[2],
        cells[3],
        cells[4],
        cells[5],
        cells[6],
        cells[7],
        named("limit", &cells[8]),
        named("2/1", &cells[9]),
        named("c/llvm", &cells[10]),
        cells[11],
    );
    for who in &entry.failed {
        let why = entry.absent.get(who).map_or("", String::as_str).replace('\n', " ");
        line.push_str(&format!("\n    not timed: {who}: {why:.200}"));
    }
    line
}

/// Returns all rows as a table.
#[must_use]
pub fn table(entries: &[Entry]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(HEADER);
    for entry in entries {
        table.add_row(cells(entry));
    }
    for column in [1, 2, 4, 5, 8, 9, 10] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}
