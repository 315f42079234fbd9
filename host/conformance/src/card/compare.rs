//! Comparison of two cards.

use serde::Serialize;

use super::Card;
use crate::Group;
use crate::report::grid::{Grid, Paint, Tint, harmless, plain};
use crate::report::text::device_line;
use crate::report::verdict::level_name;

/// The schema of [`Comparison`] as JSON.
const COMPARE_SCHEMA: &str = "chipdock.conformance-compare/1";

/// One value of both cards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Name of the value, such as `version` or `passed`.
    pub what: String,
    /// Value of the first card.
    pub left: String,
    /// Value of the second card.
    pub right: String,
    /// Whether the two values are equal.
    pub same: bool,
}

/// Result of comparing two cards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Always `chipdock.conformance-compare/1`.
    pub schema: String,
    /// Whether all values are equal, digests and dates aside.
    pub same: bool,
    /// All compared values.
    pub rows: Vec<Difference>,
}

impl Comparison {
    /// Compares two cards.
    #[must_use]
    pub fn new(left: &Card, right: &Card) -> Self {
        let mut rows = Vec::new();
        let mut add = |what: String, l: String, r: String| {
            rows.push(Difference { what, same: l == r, left: l, right: r });
        };
        let mut both =
            |what: &str, say: &dyn Fn(&Card) -> String| add(what.to_owned(), say(left), say(right));
        both("plugin", &|card| card.plugin.name.clone());
        both("version", &|card| card.plugin.version.clone());
        both("library", &|card| card.plugin.sha256.chars().take(16).collect());
        both("abi", &|card| card.plugin.abi.clone());
        both("devices", &|card| card.devices.iter().map(device_line).collect::<Vec<_>>().join("; "));
        both("machine", &|card| {
            let machine = &card.machine;
            format!("{} {} {}", machine.os, machine.arch, machine.cpu).trim().to_owned()
        });
        both("suite", &|card| card.suite.version.clone());
        both("cases", &|card| {
            format!(
                "{}, list {}",
                card.suite.n_cases,
                card.suite.cases_sha256.chars().take(8).collect::<String>()
            )
        });
        both("run", &|card| {
            let level = card.suite.level.map_or("?", level_name);
            let with = match card.suite.settings.as_slice() {
                [] => String::new(),
                settings => format!(", with {}", settings.join(" ")),
            };
            if card.is_whole() {
                format!("level {level}{with}")
            } else {
                format!("level {level}{with}, only {}", card.suite.filters.join(" "))
            }
        });
        both("date", &|card| card.date.clone());
        both("refused", &|card| if card.refused.is_empty() { "no".to_owned() } else { card.refused.clone() });
        both("claims", &|card| card.claims.iter().map(|claim| claim.name()).collect::<Vec<_>>().join(", "));
        for level in crate::Level::ALL {
            both(&format!("level.{}", level_name(*level)), &|card| {
                let found = card.levels.iter().find(|found| found.level == *level);
                found.map_or("not asked", |found| found.state.name()).to_owned()
            });
        }
        both("stale", &|card| card.n_stale.to_string());
        both("exit", &|card| card.exit.to_string());
        both("passed", &|card| share(card, None));
        for group in Group::ALL.iter().map(|group| group.name()) {
            let mut words: Vec<&String> = [left, right]
                .iter()
                .filter_map(|card| card.counts.get(group))
                .flat_map(|ended| ended.keys())
                .collect();
            words.sort();
            words.dedup();
            for word in words {
                both(&format!("{group}.{word}"), &|card| card.count(Some(group), Some(word)).to_string());
            }
        }
        let same =
            rows.iter().all(|row| row.same || ["library", "date", "machine"].contains(&row.what.as_str()));
        Self { schema: COMPARE_SCHEMA.to_owned(), same, rows }
    }

    /// Formats the comparison for users, with differences marked. Ends with a newline.
    #[must_use]
    pub fn text(&self, names: (&str, &str), paint: Paint) -> String {
        const CELL_MAX: usize = 44;
        let cut = |text: &str| {
            let text = harmless(text).replace('\n', " ");
            match text.char_indices().nth(CELL_MAX) {
                Some((at, _)) => format!("{}…", &text[..at]),
                None if text.is_empty() => "-".to_owned(),
                None => text,
            }
        };
        let mut grid = Grid::new(&["", "", "A", "B"]);
        grid.row(vec![plain(""), plain(""), (cut(names.0), Tint::Strong), (cut(names.1), Tint::Strong)]);
        for row in &self.rows {
            let (mark, tint) = if row.same { ("", Tint::Plain) } else { ("≠", Tint::Warn) };
            grid.row(vec![
                (mark.to_owned(), tint),
                (row.what.clone(), Tint::Faint),
                (cut(&row.left), tint),
                (cut(&row.right), tint),
            ]);
        }
        let n = self.rows.iter().filter(|row| !row.same).count();
        let verdict = match n {
            0 => "the same in everything".to_owned(),
            n => format!("{n} of {} differ", self.rows.len()),
        };
        format!("{}\n{}\n", grid.text(paint, 0), paint.paint(Tint::Strong, &verdict))
    }
}

/// Formats the number of passed cases out of all.
pub(super) fn share(card: &Card, group: Option<&str>) -> String {
    format!("{} of {}", card.count(group, Some("passed")), card.count(group, None))
}
