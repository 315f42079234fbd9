//! Table of cards for a README, generated from the cards.

use std::collections::BTreeMap;

use super::{Card, status_word};
use crate::report::grid::{count, harmless};
use crate::report::verdict::level_name;
use crate::{Level, Status};

/// Formats cards as a Markdown table: plugin by level, counts and device. Ends with a newline.
#[must_use]
pub fn table(cards: &[Card]) -> String {
    // The rows are in the order of the plugins, not of the files.
    let sorted: BTreeMap<(&str, &str, usize), &Card> = cards
        .iter()
        .enumerate()
        .map(|(index, card)| ((card.plugin.name.as_str(), card.plugin.version.as_str(), index), card))
        .collect();
    let mut text = String::from("| Plugin |");
    for level in Level::ALL {
        text += &format!(" {} |", capital(level_name(*level)));
    }
    text += " Cases | Passed | Unsupported | Other | Claims | On | Suite | Date |\n|---|";
    text += &"---|".repeat(Level::ALL.len());
    text += "--:|--:|--:|---|---|---|---|---|\n";
    for card in sorted.values() {
        let mut cells = vec![format!("{} {}", card.plugin.name, card.plugin.version).trim().to_owned()];
        cells.extend(Level::ALL.iter().map(|level| reached(card, *level)));
        let n = |status: Status| card.count(None, Some(&status_word(status)));
        let number = |n: u64| count(usize::try_from(n).unwrap_or(usize::MAX));
        cells.push(number(card.count(None, None)));
        cells.push(number(n(Status::Passed)));
        cells.push(number(n(Status::Unsupported)));
        let other =
            Status::ALL.iter().filter(|status| !matches!(status, Status::Passed | Status::Unsupported));
        let other: Vec<String> = other
            .filter(|status| n(**status) > 0)
            .map(|status| format!("{} {}", number(n(*status)), status.name()))
            .collect();
        cells.push(if other.is_empty() { "-".to_owned() } else { other.join(", ") });
        let claims: Vec<&str> = card.claims.iter().map(|claim| claim.name()).collect();
        cells.push(if claims.is_empty() { "-".to_owned() } else { claims.join(", ") });
        let devices: Vec<String> = card.devices.iter().map(device).collect();
        cells.push(if devices.is_empty() { "-".to_owned() } else { devices.join("; ") });
        cells.push(card.suite.version.clone());
        cells.push(card.date.clone());
        let cells: Vec<String> = cells.iter().map(|cell| in_cell(cell)).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

fn reached(card: &Card, level: Level) -> String {
    let word = match card.levels.iter().find(|found| found.level == level) {
        Some(found) if found.reached && card.is_whole() => "reached",
        Some(found) if found.reached => "in part",
        // A plugin need not reach a level that it registers nothing for.
        Some(found) if found.note.starts_with("the plugin registers no") => "-",
        Some(_) => "no",
        None => "-",
    };
    word.to_owned()
}

fn device(device: &crate::facts::DeviceFacts) -> String {
    if !device.absent.is_empty() {
        return format!("{}: none", device.api);
    }
    let name = if device.device_name.is_empty() { &device.api } else { &device.device_name };
    if device.driver_version.is_empty() {
        name.clone()
    } else {
        format!("{name}, driver {}", device.driver_version)
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

/// Formats a text for a cell: on one line, with Markdown characters escaped.
fn in_cell(text: &str) -> String {
    let mut out = String::new();
    for c in harmless(&text.split_whitespace().collect::<Vec<_>>().join(" ")).chars() {
        if "|<>[]*_`\\".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
