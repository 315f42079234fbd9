//! Report for a terminal: failures first and the summary last, so that the verdict ends the output.

use std::collections::HashMap;

use super::details::{details, likeness};
use super::grid::{Grid, Paint, Tint, count, duration, harmless, plain, several, wrapped};
use super::verdict::{Summary, Tone, columns, groups, level_name, moment, seconds_of};
use super::{CaseReport, LevelState, ProfileReport, Report, Status};
use crate::Group;
use chipdock_host::shown::{LINE_CHARS_MAX, shown};

/// Maximum number of failures shown in full.
const IN_FULL_MAX: usize = 20;
/// Maximum number of similar failures shown in full.
const ALIKE_MAX: usize = 3;
/// Maximum number of lines shown of a stack or of standard error.
const LINES_MAX: usize = 16;
/// Characters of a line.
const WIDTH: usize = 100;
/// Column of the text after a label.
const LABEL_WIDTH: usize = 12;

/// Renders the report for users. Ends with a newline.
#[must_use]
pub fn render(report: &Report, paint: Paint) -> String {
    let mut text = header(report, paint);
    if !report.refused.is_empty() {
        text.push('\n');
        label(&mut text, paint, Tint::Bad, "refused", &report.refused);
    }
    for note in &report.notes {
        label(&mut text, paint, Tint::Warn, "note", note);
    }
    for fault in &report.faults {
        text.push('\n');
        label(&mut text, paint, Tint::Bad, "suite", fault);
    }
    failures(&mut text, report, paint);
    if !report.cases.is_empty() {
        text.push('\n');
        text += &by_group(report, paint);
    }
    if !report.profiles.is_empty() {
        text.push('\n');
        text += &by_profile(report, paint);
    }
    if !report.levels.is_empty() {
        text.push('\n');
        text += &by_level(report, paint);
    }
    stale(&mut text, report, paint);
    text.push('\n');
    text += &verdict(report, paint);
    text
}

/// Appends `label   text`, with the text wrapped and aligned below itself. A further line of the
/// text itself begins with `| `, so that it cannot pass for a line of the report.
fn label(text: &mut String, paint: Paint, tint: Tint, name: &str, value: &str) {
    let indent = " ".repeat(LABEL_WIDTH);
    let mut lead = paint.paint(tint, name) + &" ".repeat(LABEL_WIDTH.saturating_sub(name.len()).max(1));
    let value = harmless(value);
    let mut lines = Vec::new();
    for (index, line) in value.lines().enumerate() {
        let mark = if index == 0 { "" } else { "| " };
        // An empty line stays empty.
        let text = if line.is_empty() { " " } else { line };
        let parts = wrapped(text, WIDTH - LABEL_WIDTH - mark.len());
        lines.extend(parts.iter().map(|part| format!("{mark}{part}")));
    }
    let n_omitted = lines.len().saturating_sub(LINES_MAX);
    for line in lines.iter().take(LINES_MAX) {
        *text += (lead.clone() + line).trim_end();
        text.push('\n');
        lead.clone_from(&indent);
    }
    if n_omitted > 0 {
        *text += &format!("{indent}{}\n", paint.paint(Tint::Faint, &format!("… {n_omitted} more lines")));
    }
}

fn header(report: &Report, paint: Paint) -> String {
    let mut text = String::new();
    let plugin = &report.plugin;
    let name = if plugin.name.is_empty() { "a plugin" } else { &plugin.name };
    let named = format!("{name} {}", plugin.version);
    let (named, library) = (shown(&named, LINE_CHARS_MAX), shown(&report.library, LINE_CHARS_MAX));
    text += &format!("{}  {library}\n", paint.paint(Tint::Strong, named.trim_end()));
    let mut line = |name: &str, value: &str| label(&mut text, paint, Tint::Faint, name, value);
    for device in &plugin.devices {
        line("device", &device_line(device));
    }
    line(
        "claims",
        &match report.claims.as_slice() {
            [] => "nothing beyond what every plugin has".to_owned(),
            claims => claims.iter().map(|claim| claim.name()).collect::<Vec<_>>().join(", "),
        },
    );
    let machine = &report.machine;
    let parts = [
        format!("{} {}", machine.os, machine.arch),
        machine.kernel.clone(),
        machine.cpu.clone(),
        if machine.n_threads > 0 { several(machine.n_threads, "thread", "threads") } else { String::new() },
    ];
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    if !parts.is_empty() {
        line("machine", &parts.join(", "));
    }
    let mut suite = format!(
        "{}, level {}, seeds {}, {}",
        report.suite_version,
        level_name(report.level),
        seeds(report),
        moment(report.started_unix)
    );
    if !report.settings.is_empty() {
        suite += &format!(", with {}", report.settings.join(" "));
    }
    if !report.filters.is_empty() {
        suite += &format!(", only {}", report.filters.join(" "));
    }
    line("suite", &suite);
    text
}

/// Describes the range of random programs.
pub(super) fn seeds(report: &Report) -> String {
    match report.programs {
        0 => "none".to_owned(),
        1 => report.seed.to_string(),
        n => format!("{} to {}", report.seed, report.seed.saturating_add(n - 1)),
    }
}

/// Describes the devices of one device API.
pub(crate) fn device_line(device: &crate::facts::DeviceFacts) -> String {
    if !device.absent.is_empty() {
        return format!("{}: none here: {}", device.api, device.absent);
    }
    let mut text = format!(
        "{}: {}",
        device.api,
        if device.device_name.is_empty() { "without a name" } else { &device.device_name }
    );
    if !device.driver_version.is_empty() {
        text += &format!(", driver {}", device.driver_version);
    }
    if device.count != 1 {
        text += &format!(", {} devices", device.count);
    }
    text
}

fn failures(text: &mut String, report: &Report, paint: Paint) {
    let mut seen: HashMap<_, usize> = HashMap::new();
    let (mut n_shown, mut n_alike, mut n_more) = (0, 0, 0);
    for case in report.unfine() {
        let alike = seen.entry(likeness(case)).or_default();
        *alike += 1;
        if *alike > ALIKE_MAX {
            n_alike += 1;
        } else if n_shown == IN_FULL_MAX {
            n_more += 1;
        } else {
            n_shown += 1;
            text.push('\n');
            *text += &failure(case, paint);
        }
    }
    let mut omitted = Vec::new();
    if n_alike > 0 {
        omitted.push(format!("{} like these", count(n_alike)));
    }
    if n_more > 0 {
        omitted.push(format!("{} more", count(n_more)));
    }
    if !omitted.is_empty() {
        *text += &paint.paint(
            Tint::Warn,
            &format!("\nand {}; all of them: --report-json, --html", omitted.join(" and ")),
        );
        text.push('\n');
    }
}

/// Returns the colour of a status.
pub(super) fn tint(status: Status) -> Tint {
    match status {
        Status::Passed => Tint::Good,
        Status::Stale => Tint::Warn,
        status if status.is_fine() => Tint::Plain,
        _ => Tint::Bad,
    }
}

fn failure(case: &CaseReport, paint: Paint) -> String {
    let mut text = format!(
        "{}  {}  {}\n",
        paint.paint(tint(case.status), &case.status.name().to_uppercase()),
        paint.paint(Tint::Strong, &shown(&case.id, LINE_CHARS_MAX)),
        paint.paint(Tint::Faint, &duration(case.seconds)),
    );
    for (name, value) in details(case) {
        let name = format!("  {name}");
        match name.trim() {
            "stderr" => label(&mut text, paint, Tint::Faint, &name, &last_lines(&value)),
            // The command stays on one line, however long, so that it can be copied.
            "alone" | "program" => {
                let gap = " ".repeat(LABEL_WIDTH - name.len());
                text += &format!(
                    "{}{gap}{}\n",
                    paint.paint(Tint::Faint, &name),
                    harmless(&value).replace('\n', " ")
                );
            }
            _ => label(&mut text, paint, Tint::Faint, &name, &value),
        }
    }
    text
}

/// Returns the last lines of a text, which matter most.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES_MAX)..].join("\n")
}

fn by_group(report: &Report, paint: Paint) -> String {
    let statuses = columns(report);
    let names: Vec<String> =
        statuses.iter().map(|status| format!("#{}", column_name(*status).to_uppercase())).collect();
    let mut header = vec!["GROUP", "#CASES"];
    header.extend(names.iter().map(String::as_str));
    header.push("#TIME");
    let mut grid = Grid::new(&header);
    let mut add = |group: Option<Group>, tint_of_name| {
        let n = report.cases.iter().filter(|case| group.is_none_or(|group| case.group == group)).count();
        let mut cells = vec![(group.map_or("all", Group::name).to_owned(), tint_of_name), plain(count(n))];
        for status in &statuses {
            let n = report.count(group, *status);
            cells.push(if n == 0 { ("-".to_owned(), Tint::Faint) } else { (count(n), tint(*status)) });
        }
        cells.push((duration(seconds_of(report, group)), Tint::Faint));
        grid.row(cells);
    };
    for group in groups(report) {
        add(Some(group), Tint::Plain);
    }
    add(None, Tint::Strong);
    grid.text(paint, 0)
}

/// Returns the short name of a status for a column header.
pub(super) fn column_name(status: Status) -> &'static str {
    match status {
        Status::Built => "built",
        Status::Expected => "expected",
        Status::OrderDependent => "by order",
        Status::Stale => "stale",
        Status::SuiteFault => "suite",
        other => other.name(),
    }
}

fn by_profile(report: &Report, paint: Paint) -> String {
    let mut grid = Grid::new(&["PROFILE", "CLAIMED", "#CASES", "#PASSED", "#UNSUPPORTED", ""]);
    for profile in &report.profiles {
        let (tint, mut words) = profile_words(profile, report);
        if !profile.problem.is_empty() {
            words = "see below".to_owned();
        }
        grid.row(vec![
            plain(profile.profile.name()),
            plain(if profile.claimed { "yes" } else { "no" }),
            plain(count(profile.n_cases)),
            plain(count(profile.n_passed)),
            plain(count(profile.n_unsupported)),
            (harmless(&words).replace('\n', " "), tint),
        ]);
    }
    let mut text = grid.text(paint, 0);
    for profile in report.profiles.iter().filter(|profile| !profile.problem.is_empty()) {
        text += &format!("\n{}\n", paint.paint(Tint::Bad, profile.profile.name()));
        for line in wrapped(&harmless(&profile.problem), WIDTH - 2) {
            text += &format!("  {line}\n");
        }
    }
    text
}

/// Describes the result of a profile of the report.
pub(crate) fn profile_words(profile: &ProfileReport, report: &Report) -> (Tint, String) {
    let ended = profile.n_passed + profile.n_unsupported;
    // The conclusions decide what to claim; the counts alone do not say whose device it was, or
    // whether all cases ran.
    let is_to_be_claimed =
        !profile.claimed && report.stale.iter().any(|stale| stale.what == profile.profile.name());
    match profile {
        ProfileReport { problem, .. } if !problem.is_empty() => (Tint::Bad, problem.clone()),
        ProfileReport { claimed: true, .. } if profile.n_passed == profile.n_cases => {
            (Tint::Good, "kept".to_owned())
        }
        ProfileReport { claimed: false, .. } if profile.n_unsupported == profile.n_cases => {
            (Tint::Plain, "refused throughout, as it should be".to_owned())
        }
        _ if is_to_be_claimed => (Tint::Warn, "passes throughout: claim it".to_owned()),
        _ if ended == 0 => (Tint::Plain, "could not be tried here".to_owned()),
        _ => (Tint::Plain, "as far as it could be tried".to_owned()),
    }
}

fn by_level(report: &Report, paint: Paint) -> String {
    let mut grid = Grid::new(&["LEVEL", "STATE", ""]);
    for level in &report.levels {
        let tint = match level.state {
            LevelState::Reached => Tint::Good,
            LevelState::BuiltOnly | LevelState::NotRun => Tint::Warn,
            LevelState::NotReached => Tint::Bad,
        };
        grid.row(vec![
            plain(level_name(level.level)),
            (level.state.name().to_owned(), tint),
            plain(harmless(&level.note).replace('\n', " ")),
        ]);
    }
    grid.text(paint, 0)
}

fn stale(text: &mut String, report: &Report, paint: Paint) {
    if report.stale.is_empty() {
        return;
    }
    *text += &format!("\n{}\n", paint.paint(Tint::Warn, "no longer holds; mend the expectations file"));
    for stale in &report.stale {
        *text += &format!("  {}\n", paint.paint(Tint::Strong, &shown(&stale.what, LINE_CHARS_MAX)));
        for line in wrapped(&harmless(&stale.why), WIDTH - 4) {
            *text += &format!("    {line}\n");
        }
    }
}

fn verdict(report: &Report, paint: Paint) -> String {
    let summary = Summary::new(report);
    let tint = match summary.tone {
        Tone::Good => Tint::Good,
        Tone::Warn => Tint::Warn,
        Tone::Bad => Tint::Bad,
    };
    let mut text = format!("{}\n", paint.paint(tint, &summary.headline));
    for part in [&summary.counts, &summary.levels] {
        for line in wrapped(part, WIDTH) {
            text += &format!("{line}\n");
        }
    }
    text + &format!("in {}, exit code {}\n", duration(report.seconds), report.exit)
}
