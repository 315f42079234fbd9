//! Report as one HTML page, which needs no other file and no network, and is readable without its
//! script too.

use std::fmt::Write as _;

use chipdock_host::shown::is_hidden;

use super::details::{broken_clause, details, headline};
use super::grid::{count, duration, several};
use super::text::{column_name, device_line, profile_words, seeds};
use super::verdict::{Summary, Tone, columns, groups, level_name, moment, seconds_of};
use super::{CaseReport, LevelState, Report, Status};
use crate::{Group, clauses};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Maximum number of failures that are shown unfolded.
const OPEN_MAX: usize = 8;

/// Escapes markup in a text, and makes invisible characters visible.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            // Control characters, which a page may not contain, are replaced by their Unicode
            // pictures.
            '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
            '\x7f' => out.push('\u{2421}'),
            c if is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Escapes a text like [`escaped`] and marks `` `words` `` as code.
fn marked(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let pairs = parts.len() % 2 == 1;
    let part = |(index, part): (usize, &&str)| match index % 2 {
        1 if pairs => format!("<code>{}</code>", escaped(part)),
        _ => escaped(part),
    };
    parts.iter().enumerate().map(part).collect::<Vec<_>>().join(if pairs { "" } else { "`" })
}

/// Renders the report as a page.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut page = String::new();
    let title = if report.plugin.name.is_empty() { &report.library } else { &report.plugin.name };
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}: conformance</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        escaped(title)
    );
    head(&mut page, report);
    remarks(&mut page, report);
    failures(&mut page, report);
    matrix(&mut page, report);
    profiles(&mut page, report);
    stale(&mut page, report);
    cases(&mut page, report);
    about(&mut page, report);
    let _ = write!(page, "</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    page
}

fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Warn => "warn",
        Tone::Bad => "bad",
    }
}

/// Returns the CSS class of a status, which gives its colour.
fn class(status: Status) -> &'static str {
    match status {
        Status::Passed => "good",
        Status::Stale => "warn",
        status if status.is_fine() => "quiet",
        _ => "bad",
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

fn head(page: &mut String, report: &Report) {
    let summary = Summary::new(report);
    let plugin = &report.plugin;
    let name = if plugin.name.is_empty() { &report.library } else { &plugin.name };
    let devices: Vec<String> = plugin.devices.iter().map(|device| escaped(&device_line(device))).collect();
    let _ = write!(
        page,
        "<header>\n<p class=\"kicker\">Chipdock conformance {}</p>\n<h1>{} <span>{}</span></h1>\n",
        escaped(&report.suite_version),
        escaped(name),
        escaped(&plugin.version)
    );
    if !devices.is_empty() {
        let _ = writeln!(page, "<p class=\"devices\">{}</p>", devices.join("<br>"));
    }
    let _ = write!(
        page,
        "</header>\n<section class=\"verdict {}\" data-exit=\"{}\">\n<h2>{}</h2>\n<p>{}</p>\n",
        tone(summary.tone),
        report.exit,
        escaped(&capital(&summary.headline)),
        escaped(&summary.counts)
    );
    bar(page, report, None);
    if !report.levels.is_empty() {
        page.push_str("<ul class=\"levels\">\n");
        for level in &report.levels {
            let (class, mark) = match level.state {
                LevelState::Reached => ("good", "✓"),
                LevelState::BuiltOnly | LevelState::NotRun => ("warn", "–"),
                LevelState::NotReached => ("bad", "✗"),
            };
            let word = level.state.name();
            let note = if level.note.is_empty() {
                String::new()
            } else {
                format!("<small>{}</small>", escaped(&level.note))
            };
            let _ = writeln!(
                page,
                "<li class=\"{class}\"><b><i aria-hidden=\"true\">{mark}</i> {}</b> <span>{word}</span>{note}</li>",
                capital(level_name(level.level))
            );
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</section>\n");
}

/// Appends a bar with the shares of good and bad results.
fn bar(page: &mut String, report: &Report, group: Option<Group>) {
    let n = |pick: fn(Status) -> bool| -> usize {
        Status::ALL.iter().filter(|status| pick(**status)).map(|status| report.count(group, *status)).sum()
    };
    let parts = [
        ("good", n(|status| status == Status::Passed)),
        ("quiet", n(|status| status != Status::Passed && status.is_fine())),
        ("warn", n(|status| status == Status::Stale)),
        ("bad", n(|status| !status.is_fine() && status != Status::Stale)),
    ];
    if parts.iter().all(|(_, n)| *n == 0) {
        return;
    }
    page.push_str("<div class=\"bar\" aria-hidden=\"true\">");
    for (class, n) in parts.iter().filter(|(_, n)| *n > 0) {
        let _ = write!(page, "<i class=\"{class}\" style=\"flex-grow:{n}\"></i>");
    }
    page.push_str("</div>\n");
}

fn remarks(page: &mut String, report: &Report) {
    let refused = (!report.refused.is_empty()).then_some(("Refused", &report.refused));
    let faults = report.faults.iter().map(|fault| ("The suite’s fault", fault));
    let notes = report.notes.iter().map(|note| ("Note", note));
    for (title, text) in refused.into_iter().chain(faults).chain(notes) {
        let class = if title == "Note" { "quiet" } else { "bad" };
        let _ = writeln!(page, "<aside class=\"{class}\"><b>{title}</b><pre>{}</pre></aside>", escaped(text));
    }
}

fn failures(page: &mut String, report: &Report) {
    let wrong: Vec<&CaseReport> = report.unfine().collect();
    if wrong.is_empty() {
        return;
    }
    let _ = writeln!(
        page,
        "<section id=\"failures\">\n<h2>Not as it should be <span class=\"n\">{}</span></h2>",
        several(wrong.len(), "case", "cases")
    );
    let open = if wrong.len() <= OPEN_MAX { " open" } else { "" };
    for case in wrong {
        failure(page, case, open);
    }
    page.push_str("</section>\n");
}

fn failure(page: &mut String, case: &CaseReport, open: &str) {
    let _ = writeln!(
        page,
        "<details class=\"failure {}\"{open}>\n<summary><span class=\"status {}\">{}</span> <code>{}</code> \
         <span class=\"clause\">{}</span> <span class=\"brief\">{}</span></summary>\n<dl>",
        class(case.status),
        class(case.status),
        escaped(case.status.name()),
        escaped(&case.id),
        escaped(broken_clause(case)),
        escaped(&headline(case))
    );
    for (label, value) in details(case) {
        let value = match label {
            "clause" | "tests" => {
                let (number, _) = value.split_once("  ").unwrap_or((&value, ""));
                format!("<b>{}</b> {}", escaped(number), marked(clauses::text(number)))
            }
            "note" | "reason" | "process" => format!("<span class=\"prose\">{}</span>", escaped(&value)),
            _ => format!("<pre>{}</pre>", escaped(&value)),
        };
        let label = if label == "alone" { "repeat alone" } else { label };
        let _ = writeln!(page, "<dt>{label}</dt><dd class=\"{}\">{value}</dd>", label.replace(' ', "-"));
    }
    page.push_str("</dl>\n</details>\n");
}

fn matrix(page: &mut String, report: &Report) {
    if report.cases.is_empty() {
        return;
    }
    let statuses = columns(report);
    page.push_str("<section>\n<h2>By group</h2>\n<div class=\"scroll\"><table class=\"matrix\">\n<thead><tr><th>Group</th><th class=\"n\">Cases</th>");
    for status in &statuses {
        let name = escaped(&capital(column_name(*status)));
        let _ = write!(page, "<th class=\"n\" title=\"{}\">{name}</th>", escaped(status.name()));
    }
    page.push_str("<th class=\"n\">Time</th><th>About</th></tr></thead>\n<tbody>\n");
    let mut row = |group: Option<Group>| {
        let n = report.cases.iter().filter(|case| group.is_none_or(|group| case.group == group)).count();
        let name = group.map_or("all", Group::name);
        let _ = write!(
            page,
            "<tr data-group=\"{name}\"><th scope=\"row\">{name}</th><td class=\"n\">{}</td>",
            count(n)
        );
        for status in &statuses {
            match report.count(group, *status) {
                0 => page.push_str("<td class=\"n none\">·</td>"),
                n => {
                    let _ = write!(page, "<td class=\"n {}\">{}</td>", class(*status), count(n));
                }
            }
        }
        let time = duration(seconds_of(report, group));
        let about = group.map_or("", Group::doc);
        let _ = writeln!(page, "<td class=\"n\">{time}</td><td class=\"about\">{about}</td></tr>");
    };
    groups(report).for_each(|group| row(Some(group)));
    row(None);
    page.push_str("</tbody></table></div>\n</section>\n");
}

fn profiles(page: &mut String, report: &Report) {
    if report.profiles.is_empty() {
        return;
    }
    page.push_str(
        "<section>\n<h2>Profiles</h2>\n<p class=\"lead\">What not every plugin has. What is claimed has to pass; what is not \
         has to be refused, all of it alike.</p>\n<div class=\"scroll\"><table class=\"profiles\">\n<thead><tr>\
         <th>Profile</th><th>Claimed</th><th class=\"n\">Cases</th><th class=\"n\">Passed</th>\
         <th class=\"n\">Unsupported</th><th>Outcome</th></tr></thead>\n<tbody>\n",
    );
    for profile in &report.profiles {
        let (tint, words) = profile_words(profile, report);
        let class = match tint {
            super::grid::Tint::Good => "good",
            super::grid::Tint::Bad => "bad",
            super::grid::Tint::Warn => "warn",
            _ => "quiet",
        };
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"{class} wrap\">{}</td></tr>",
            profile.profile.name(),
            if profile.claimed { "yes" } else { "no" },
            count(profile.n_cases),
            count(profile.n_passed),
            count(profile.n_unsupported),
            escaped(&words)
        );
    }
    page.push_str("</tbody></table></div>\n</section>\n");
}

fn stale(page: &mut String, report: &Report) {
    if report.stale.is_empty() {
        return;
    }
    page.push_str("<section>\n<h2>No longer holds</h2>\n<p class=\"lead\">Lines of the expectations file to be mended.</p>\n<dl class=\"stale\">\n");
    for stale in &report.stale {
        let _ =
            writeln!(page, "<dt><code>{}</code></dt><dd>{}</dd>", escaped(&stale.what), escaped(&stale.why));
    }
    page.push_str("</dl>\n</section>\n");
}

fn cases(page: &mut String, report: &Report) {
    if report.cases.is_empty() {
        return;
    }
    let n = several(report.cases.len(), "case", "cases");
    let _ = write!(
        page,
        "<section id=\"all\">\n<details class=\"all\">\n<summary><h2>Every case <span class=\"n\">{n}</span></h2></summary>\n\
         <form class=\"filter\" hidden>\n<input type=\"search\" placeholder=\"Filter by id, clause or reason\" \
         aria-label=\"Filter by id, clause or reason\">\n<select aria-label=\"How it ended\"><option value=\"\">however it ended</option>"
    );
    for status in columns(report) {
        let name = status.name();
        let _ = write!(page, "<option value=\"{}\">{}</option>", escaped(name), escaped(name));
    }
    page.push_str(
        "</select>\n<output></output>\n</form>\n<div class=\"scroll\"><table class=\"cases\">\n<thead><tr><th>Ended</th>\
         <th>Case</th><th>Clause</th><th class=\"n\">Time</th></tr></thead>\n<tbody>\n",
    );
    for case in &report.cases {
        let mut under = Vec::new();
        if !case.profiles.is_empty() {
            let names: Vec<&str> = case.profiles.iter().map(|profile| profile.name()).collect();
            under.push(format!("needs {}", names.join(", ")));
        }
        under.extend((!case.reason.is_empty()).then(|| case.reason.clone()));
        let under = match under.as_slice() {
            [] => String::new(),
            words => format!("<small>{}</small>", escaped(&words.join(" · "))),
        };
        let _ = writeln!(
            page,
            "<tr data-status=\"{status}\"><td class=\"{}\">{status}</td><td><code>{}</code>{under}</td><td title=\"{}\">{}</td>\
             <td class=\"n\">{}</td></tr>",
            class(case.status),
            escaped(&case.id),
            escaped(clauses::text(&case.clause)),
            escaped(&case.clause),
            duration(case.seconds),
            status = escaped(case.status.name()),
        );
    }
    page.push_str("</tbody></table></div>\n</details>\n</section>\n");
}

fn about(page: &mut String, report: &Report) {
    let (plugin, machine) = (&report.plugin, &report.machine);
    let claims: Vec<&str> = report.claims.iter().map(|claim| claim.name()).collect();
    let registered: Vec<String> = plugin.registered.iter().filter_map(|one| one.key()).collect();
    let threads = if machine.n_threads == 0 { String::new() } else { count(machine.n_threads) };
    let rows: [(&str, String); 16] = [
        ("library", report.library.clone()),
        ("sha-256", report.sha256.clone()),
        ("build", plugin.build_id.clone()),
        ("ABI", plugin.abi.clone()),
        ("registers", registered.join(", ")),
        (
            "claims",
            if claims.is_empty() {
                "nothing beyond what every plugin has".to_owned()
            } else {
                claims.join(", ")
            },
        ),
        ("system", format!("{} {} {}", machine.os, machine.arch, machine.kernel).trim().to_owned()),
        ("processor", machine.cpu.clone()),
        ("threads", threads),
        ("suite", report.suite_version.clone()),
        ("level", level_name(report.level).to_owned()),
        ("settings", report.settings.join(" ")),
        ("only", report.filters.join(" ")),
        ("seeds", seeds(report)),
        ("begun", moment(report.started_unix)),
        ("took", format!("{}, exit code {}", duration(report.seconds), report.exit)),
    ];
    page.push_str("<section>\n<h2>Plugin, machine, run</h2>\n<dl class=\"about\">\n");
    for (label, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(page, "<dt>{label}</dt><dd>{}</dd>", escaped(value));
    }
    page.push_str("</dl>\n</section>\n");
}
