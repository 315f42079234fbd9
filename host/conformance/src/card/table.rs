//! Table of cards for a README, generated from the cards.

use std::collections::BTreeMap;

use super::{Card, status_word};
use crate::report::LevelState;
use crate::report::grid::{count, harmless};
use crate::report::verdict::level_name;
use crate::{Group, Level, Status};

/// The levels that have a column. A plugin that is not loadable has reached none of them.
const LEVELS: [Level; 3] = [Level::Device, Level::Codegen, Level::Full];

/// The counts that have a column each; all others are added up as failed.
const COUNTED: [Status; 4] = [Status::Passed, Status::Built, Status::Absent, Status::Unsupported];

/// Formats cards as a Markdown table: plugin by where it ran, levels and counts. Ends with a
/// newline.
#[must_use]
pub fn table(cards: &[Card]) -> String {
    // The rows are in the order of the plugins, not of the files.
    let sorted: BTreeMap<(&str, &str, usize), &Card> = cards
        .iter()
        .enumerate()
        .map(|(index, card)| ((card.plugin.name.as_str(), card.plugin.version.as_str(), index), card))
        .collect();
    let mut text = String::from("| Plugin | Ran on |");
    for level in LEVELS {
        text += &format!(" {} |", capital(level_name(level)));
    }
    for status in COUNTED {
        text += &format!(" {} |", capital(status.name()));
    }
    text += &format!(" Failed | Date |\n|---|---|{}", "---|".repeat(LEVELS.len()));
    text += &format!("{}---|\n", "--:|".repeat(COUNTED.len() + 1));
    for card in sorted.values() {
        let mut cells = vec![format!("{} {}", card.plugin.name, card.plugin.version).trim().to_owned()];
        cells.push(ran_on(card));
        cells.extend(LEVELS.iter().map(|level| state(card, *level)));
        let n = |status: Status| card.count(None, Some(&status_word(status)));
        let number = |n: u64| count(usize::try_from(n).unwrap_or(usize::MAX));
        cells.extend(COUNTED.iter().map(|status| number(n(*status))));
        let failed = Status::ALL.iter().filter(|status| !COUNTED.contains(status));
        cells.push(number(failed.map(|status| n(*status)).sum()));
        cells.push(card.date.clone());
        let cells: Vec<String> = cells.iter().map(|cell| in_cell(cell)).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

fn state(card: &Card, level: Level) -> String {
    let word = match card.levels.iter().find(|found| found.level == level) {
        Some(found) if found.state == LevelState::Reached && !card.is_whole() => "in part",
        // A plugin need not reach a level that it registers nothing for.
        Some(found) if found.note.starts_with("the plugin registers no") => "-",
        Some(found) => found.state.name(),
        None => "-",
    };
    word.to_owned()
}

/// The devices that the plugin found, or the processor if it has none of its own and its code ran
/// there.
fn ran_on(card: &Card) -> String {
    let devices: Vec<String> =
        card.devices.iter().filter(|device| device.absent.is_empty()).map(device).collect();
    let passed = Some(status_word(Status::Passed));
    let ran =
        [Group::Op, Group::Kernel].iter().any(|group| card.count(Some(group.name()), passed.as_deref()) > 0);
    match (devices.is_empty(), ran) {
        (false, _) => devices.join("; "),
        (true, true) => card.machine.cpu.clone(),
        (true, false) => "no device".to_owned(),
    }
}

fn device(device: &crate::facts::DeviceFacts) -> String {
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
