//! Prints the report as a table on a terminal.

use comfy_table::{CellAlignment, Table, presets};

use super::figures::FMA;
use super::report::{Entry, Goal, Report, TVM, Verdict};

/// Formats a time in a short form.
#[must_use]
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

/// Formats a goal.
#[must_use]
pub fn goal(goal: Goal) -> String {
    match goal {
        Goal::None => String::new(),
        Goal::NoSlowerThanTvm => "≤ 1.00".to_owned(),
        Goal::AtMostNs(ns) => {
            let (value, unit) = if ns < 1e6 { (ns / 1e3, "µs") } else { (ns / 1e6, "ms") };
            format!("≤ {value} {unit}")
        }
    }
}

/// Formats a verdict.
#[must_use]
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Information => "",
        Verdict::Reached => "reached",
        Verdict::NotReached => "not reached",
    }
}

/// Formats the rate of one of our target kinds, with its share of the machine's peak if it is a
/// rate of arithmetic.
#[must_use]
pub fn rate(report: &Report, entry: &Entry, ours: &str) -> String {
    let (Some(work), Some(time)) = (&entry.work, entry.time(ours)) else { return String::new() };
    let rate = work.amount / time.median;
    match report.limit(FMA, entry.threads) {
        Some(peak) if work.unit == "GFLOP/s" => {
            format!("{rate:.1} {}, {:.0} % of peak", work.unit, 100.0 * rate / peak)
        }
        _ => format!("{rate:.1} {}", work.unit),
    }
}

/// Formats the report as a table, followed by the machine's limits.
#[must_use]
pub fn table(report: &Report, goals_of: &str) -> String {
    let header = [
        "what",
        "threads",
        "ours",
        "time",
        "rate",
        "peer",
        "its time",
        "ours / peer",
        "quartiles",
        "goal",
        "",
    ];
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(header);
    for entry in &report.entries {
        for row in rows(report, entry, goals_of) {
            table.add_row(row);
        }
    }
    for column in [1, 3, 6, 7] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut limits = Table::new();
    limits.load_style(presets::UTF8_BORDERS_ONLY).set_header([
        "limit of this machine",
        "threads",
        "measured",
    ]);
    for limit in &report.limits {
        limits.add_row([
            limit.name.clone(),
            limit.threads.to_string(),
            format!("{:.1} {}", limit.value, limit.unit),
        ]);
    }
    format!("{table}\n{limits}")
}

fn rows(report: &Report, entry: &Entry, goals_of: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut add = |ours: &str, peer: &str| {
        let has_goal = ours == goals_of && (peer == TVM || matches!(entry.goal, Goal::AtMostNs(_)));
        let ratio = entry.ratio(ours, peer);
        let shown = |who: &str| entry.time(who).map(|ns| time(ns.median)).unwrap_or_default();
        rows.push(vec![
            entry.name.clone(),
            entry.threads.to_string(),
            ours.to_owned(),
            shown(ours),
            rate(report, entry, ours),
            peer.to_owned(),
            shown(peer),
            ratio.map(|ratio| format!("{:.2}", ratio.median)).unwrap_or_default(),
            ratio.map(|ratio| format!("{:.2} to {:.2}", ratio.low, ratio.high)).unwrap_or_default(),
            if has_goal { goal(entry.goal) } else { String::new() },
            if has_goal { verdict(entry.verdict(ours)).to_owned() } else { String::new() },
        ]);
    };
    for ratio in &entry.ratios {
        add(&ratio.ours, &ratio.peer);
    }
    // Contenders that were compared with no peer.
    for time in &entry.times {
        let met = entry.ratios.iter().any(|ratio| ratio.ours == time.who || ratio.peer == time.who);
        if !met {
            add(&time.who, "");
        }
    }
    for who in &entry.failed {
        let why = entry.absent.get(who).cloned().unwrap_or_default();
        let mut row = vec![String::new(); 11];
        (row[0], row[1], row[2], row[10]) =
            (entry.name.clone(), entry.threads.to_string(), who.clone(), format!("failed: {why:.120}"));
        rows.push(row);
    }
    rows
}
