//! The card: what a run proved, small enough to be shipped beside the library (`conformance.card.json`).
//!
//! It holds whole numbers and texts only, and its canonical form (names sorted, no blanks, UTF-8) is the same for everybody
//! who writes it. [`Card::digest`] is the SHA-256 of that form without the field `digest` itself, and without `signature`,
//! which nobody writes yet: whoever signs signs these bytes, and the card stays what it is.

mod compare;
mod table;
mod verify;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::case::Seeds;
use crate::facts::{DeviceFacts, Registration};
use crate::report::verdict::day;
use crate::report::{LevelReport, Machine, ProfileReport};
use crate::{Level, Profile, Report, cases};

pub use compare::{Comparison, Difference};
pub use table::table;
pub use verify::{Check, Outcome, Verification};

/// The schema of [`Card`].
pub const CARD_SCHEMA: &str = "chipdock.conformance-card/1";

/// Which plugin it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardPlugin {
    /// Its name; empty when it was refused before it could say it.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What tells two builds apart.
    pub build_id: String,
    /// The ABI that it was built for.
    pub abi: String,
    /// The name of the library's file.
    pub file: String,
    /// SHA-256 of the library, in hexadecimal.
    pub sha256: String,
    /// What it registers.
    pub registered: Vec<Registration>,
    /// Whether a manifest lay beside it.
    pub has_manifest: bool,
}

/// With what it was tested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardSuite {
    /// The suite's version.
    pub version: String,
    /// How many cases its list has, for these random programs.
    pub n_cases: u64,
    /// SHA-256 of the list: a line `id clause` for each case.
    pub cases_sha256: String,
    /// The first random program.
    pub seed: u64,
    /// How many random programs.
    pub programs: u64,
    /// How far the run went.
    pub level: Option<Level>,
    /// Which cases were left out; empty for a whole run.
    pub filters: Vec<String>,
    /// What was set of plugins, as `PLUGIN.KEY=VALUE`: the card says nothing of the plugin as it is by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

/// What a run proved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// [`CARD_SCHEMA`].
    pub schema: String,
    /// Which plugin it was.
    pub plugin: CardPlugin,
    /// On which devices.
    pub devices: Vec<DeviceFacts>,
    /// On which machine.
    pub machine: Machine,
    /// With what.
    pub suite: CardSuite,
    /// On which day, `YYYY-MM-DD` in UTC.
    pub date: String,
    /// Why the plugin was refused; empty when it was not.
    pub refused: String,
    /// What it claims.
    pub claims: Vec<Profile>,
    /// How each profile came out.
    pub profiles: Vec<ProfileReport>,
    /// The levels that were asked for.
    pub levels: Vec<LevelReport>,
    /// By group, how many cases ended how; what did not occur is left out.
    pub counts: BTreeMap<String, BTreeMap<String, u64>>,
    /// Expectations and claims that no longer hold.
    pub n_stale: u64,
    /// Faults of the suite, beyond cases.
    pub n_faults: u64,
    /// The exit code.
    pub exit: u8,
    /// SHA-256 of the canonical form of all of this but `digest` and `signature`.
    pub digest: String,
    /// For whoever signs it; nothing is written here yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Value>,
}

/// A status as the report's JSON has it.
fn status_word(status: crate::Status) -> String {
    match serde_json::to_value(status) {
        Ok(Value::String(word)) => word,
        _ => status.name().to_owned(),
    }
}

/// SHA-256 in hexadecimal.
fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How many cases the suite has for these random programs, and the digest of their list.
#[must_use]
pub fn list_digest(seeds: &Seeds) -> (u64, String) {
    let all = cases(seeds);
    let lines: String = all.iter().map(|case| format!("{} {}\n", case.id, case.clause)).collect();
    (all.len() as u64, sha256(lines.as_bytes()))
}

impl Card {
    /// Of a report.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let mut counts: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for case in &report.cases {
            let group = counts.entry(case.group.name().to_owned()).or_default();
            *group.entry(status_word(case.status)).or_default() += 1;
        }
        let (n_cases, cases_sha256) = list_digest(&Seeds { first: report.seed, programs: report.programs });
        let file = std::path::Path::new(&report.library).file_name();
        let plugin = &report.plugin;
        let mut card = Self {
            schema: CARD_SCHEMA.to_owned(),
            plugin: CardPlugin {
                name: plugin.name.clone(),
                version: plugin.version.clone(),
                build_id: plugin.build_id.clone(),
                abi: plugin.abi.clone(),
                file: file.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
                sha256: report.sha256.clone(),
                registered: plugin.registered.clone(),
                has_manifest: plugin.has_manifest,
            },
            devices: plugin.devices.clone(),
            machine: report.machine.clone(),
            suite: CardSuite {
                version: report.suite_version.clone(),
                n_cases,
                cases_sha256,
                seed: report.seed,
                programs: report.programs,
                level: Some(report.level),
                filters: report.filters.clone(),
                settings: report.settings.clone(),
            },
            date: day(report.started_unix),
            refused: report.refused.clone(),
            claims: report.claims.clone(),
            profiles: report.profiles.clone(),
            levels: report.levels.clone(),
            counts,
            n_stale: report.stale.len() as u64,
            n_faults: report.faults.len() as u64,
            exit: report.exit,
            digest: String::new(),
            signature: None,
        };
        card.digest = card.digest_now();
        card
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// Why it is no card, or none that this suite can read.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
        match value.get("schema").and_then(Value::as_str) {
            Some(CARD_SCHEMA) => {}
            Some(other) => return Err(format!("expected the schema {CARD_SCHEMA}, found {other}")),
            None => return Err(format!("it is no card: expected the schema {CARD_SCHEMA}, found none")),
        }
        serde_json::from_value(value).map_err(|error| format!("the card: {error}"))
    }

    /// The file: one field a line, to be read by a person too. Ends with a newline.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// What whoever signs would sign: the canonical form without `digest` and `signature`.
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Value::Object(fields) = &mut value {
            fields.retain(|name, _| name != "digest" && name != "signature");
        }
        let mut text = String::new();
        put_canonical(&mut text, &value);
        text.into_bytes()
    }

    /// The digest that it should have.
    #[must_use]
    pub fn digest_now(&self) -> String {
        sha256(&self.canonical())
    }

    /// How many cases of a group, or of all, ended so; `status` as in the report's JSON, or nothing: all.
    #[must_use]
    pub fn count(&self, group: Option<&str>, status: Option<&str>) -> u64 {
        let groups = self.counts.iter().filter(|(name, _)| group.is_none_or(|group| group == *name));
        let ended = groups.flat_map(|(_, ended)| ended);
        ended.filter(|(name, _)| status.is_none_or(|status| status == *name)).map(|(_, n)| n).sum()
    }

    /// The greatest level that was reached, if any.
    #[must_use]
    pub fn reached(&self) -> Option<Level> {
        self.levels.iter().filter(|level| level.reached).map(|level| level.level).max()
    }

    /// Whether it was a run of all cases of its level.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.suite.filters.is_empty()
    }
}

/// Names sorted by their bytes, no blanks. There are no floats, whose text would be a matter of taste.
fn put_canonical(text: &mut String, value: &Value) {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            text.push('{');
            for (index, (name, value)) in sorted.into_iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                put_canonical(text, value);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                put_canonical(text, item);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}
