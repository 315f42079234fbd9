//! Prints rows as they are measured, and all of them as a table.

use comfy_table::{CellAlignment, Table, presets};

use super::report::{Entry, GOALS_OF};
use super::results::Limit;

/// Formats a time in a short form.
#[must_use]
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

/// Formats a goal in nanoseconds.
#[must_use]
pub fn at_most(ns: f64) -> String {
    let (value, unit) = if ns < 1e6 { (ns / 1e3, "µs") } else { (ns / 1e6, "ms") };
    format!("≤ {value} {unit}")
}

/// Returns the rate of a target kind, if its work is counted.
#[must_use]
pub fn rate(entry: &Entry, kind: &str) -> Option<String> {
    let work = entry.work.as_ref()?;
    Some(format!("{:.1} {}", work.amount / entry.ours.get(kind)?.median, work.unit))
}

/// Headers of the columns.
const HEADER: [&str; 13] = [
    "row",
    "threads",
    "ours",
    "rate",
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
fn cells(entry: &Entry) -> [String; 13] {
    let ours = entry.ours.get(GOALS_OF).map(|ns| time(ns.median)).unwrap_or_default();
    let best = entry.best();
    let missed = entry.missed();
    let verdict = match missed.as_slice() {
        [] if entry.goals.is_empty() => String::new(),
        [] => "reached".to_owned(),
        _ => format!("not: {}", missed.join(", ")),
    };
    let goal = goal(entry);
    [
        entry.title.clone(),
        entry.threads.to_string(),
        ours,
        rate(entry, GOALS_OF).unwrap_or_default(),
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

/// Returns the goals of a row against its peers and the limit, in a short form.
#[must_use]
pub fn goal(entry: &Entry) -> String {
    let mut all: Vec<String> = entry.goals.faster.iter().map(|faster| format!("≥ {faster:.2}")).collect();
    all.extend(entry.goals.at_most_ns.map(at_most));
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
        cells[4],
        cells[5],
        cells[6],
        cells[7],
        cells[8],
        named("limit", &cells[9]),
        named("2/1", &cells[10]),
        named("c/llvm", &cells[11]),
        cells[12],
    );
    for who in &entry.failed {
        let why = entry.absent.get(who).map_or("", String::as_str).replace('\n', " ");
        line.push_str(&format!("\n    not timed: {who}: {why:.200}"));
    }
    line
}

/// Returns all rows as a table, and the machine's limits as another.
#[must_use]
pub fn table(entries: &[Entry], limits: &[Limit]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(HEADER);
    for entry in entries {
        table.add_row(cells(entry));
    }
    for column in [1, 2, 5, 6, 9, 10, 11] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    if limits.is_empty() {
        return table.to_string();
    }
    let mut measured = Table::new();
    let header = ["limit of this machine", "threads", "measured"];
    measured.load_style(presets::UTF8_BORDERS_ONLY).set_header(header);
    for limit in limits {
        let value = format!("{:.1} {}", limit.value, limit.unit);
        measured.add_row([limit.name.clone(), limit.threads.to_string(), value]);
    }
    format!("{table}\n{measured}")
}
