//! The card (`conformance.card.json`): a summary of a run, small enough to be shipped beside the
//! library.
//!
//! A card holds integers and strings only, so its canonical form (names sorted, no blanks, UTF-8)
//! does not depend on the writer. [`Card::digest`] is the SHA-256 of that form without the fields
//! `digest` and `signature`. No tool writes `signature` yet; a signer signs these same bytes, so a
//! signature does not change the digest.

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
use crate::report::{LevelReport, LevelState, Machine, ProfileReport};
use crate::{Level, Profile, Report, cases};

pub use compare::{Comparison, Difference};
pub use table::table;
pub use verify::{Check, Outcome, Verification};

/// The schema of [`Card`].
pub const CARD_SCHEMA: &str = "chipdock.conformance-card/1";

/// The plugin that was tested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardPlugin {
    /// Name of the plugin; empty if the plugin was refused before its name was known.
    pub name: String,
    /// Version of the plugin.
    pub version: String,
    /// Identifier that distinguishes two builds of the plugin.
    pub build_id: String,
    /// ABI version that the plugin was built for.
    pub abi: String,
    /// File name of the library.
    pub file: String,
    /// SHA-256 of the library, in hexadecimal.
    pub sha256: String,
    /// Registrations of the plugin.
    pub registered: Vec<Registration>,
    /// Whether a manifest lay beside the library.
    pub has_manifest: bool,
}

/// The suite and the options of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardSuite {
    /// The suite's version.
    pub version: String,
    /// Number of cases in the list, for this number of random programs.
    pub n_cases: u64,
    /// SHA-256 of the list of cases: one line `id clause` for each case.
    pub cases_sha256: String,
    /// Seed of the first random program.
    pub seed: u64,
    /// Number of random programs.
    pub programs: u64,
    /// Level that the run was asked for.
    pub level: Option<Level>,
    /// Filters that restricted the cases; empty for a whole run.
    pub filters: Vec<String>,
    /// Plugin settings of the run, as `PLUGIN.KEY=VALUE`. A card with settings says nothing of the
    /// plugin with its defaults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

/// Summary of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Always [`CARD_SCHEMA`].
    pub schema: String,
    /// The plugin that was tested.
    pub plugin: CardPlugin,
    /// Devices that the plugin reported.
    pub devices: Vec<DeviceFacts>,
    /// Machine of the run.
    pub machine: Machine,
    /// The suite and the options of the run.
    pub suite: CardSuite,
    /// Date of the run, `YYYY-MM-DD` in UTC.
    pub date: String,
    /// Reason why the plugin was refused; empty if it was not.
    pub refused: String,
    /// Profiles that the plugin claims.
    pub claims: Vec<Profile>,
    /// Result of each profile.
    pub profiles: Vec<ProfileReport>,
    /// Results of the requested levels.
    pub levels: Vec<LevelReport>,
    /// Number of cases by group and status; a status that did not occur is left out.
    pub counts: BTreeMap<String, BTreeMap<String, u64>>,
    /// Number of expectations and claims that no longer hold.
    pub n_stale: u64,
    /// Number of faults of the suite itself outside cases.
    pub n_faults: u64,
    /// Exit code of the run.
    pub exit: u8,
    /// SHA-256 of the canonical form of the card without `digest` and `signature`.
    pub digest: String,
    /// Signature of the card; never written yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Value>,
}

/// Returns the spelling of a status in the report's JSON.
fn status_word(status: crate::Status) -> String {
    match serde_json::to_value(status) {
        Ok(Value::String(word)) => word,
        _ => status.name().to_owned(),
    }
}

/// Returns the SHA-256 of some bytes in hexadecimal.
fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the number of cases for these random programs, and the SHA-256 of their list.
#[must_use]
pub fn list_digest(seeds: &Seeds) -> (u64, String) {
    let all = cases(seeds);
    let lines: String = all.iter().map(|case| format!("{} {}\n", case.id, case.clause)).collect();
    (all.len() as u64, sha256(lines.as_bytes()))
}

impl Card {
    /// Builds the card of a report and computes its digest.
    #[must_use]
    pub fn from_report(report: &Report) -> Self {
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

    /// Parses the text of a card file.
    ///
    /// # Errors
    ///
    /// The reason why the text is no card, or no card that this suite can read.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
        match value.get("schema").and_then(Value::as_str) {
            Some(CARD_SCHEMA) => {}
            Some(other) => return Err(format!("expected the schema {CARD_SCHEMA}, found {other}")),
            None => return Err(format!("it is no card: expected the schema {CARD_SCHEMA}, found none")),
        }
        serde_json::from_value(value).map_err(|error| format!("the card: {error}"))
    }

    /// Returns the text of the card file: indented JSON, one field a line, with a final newline.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns the bytes that a signature covers: the canonical form without `digest` and
    /// `signature`.
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

    /// Computes the digest from the card's present contents.
    #[must_use]
    pub fn digest_now(&self) -> String {
        sha256(&self.canonical())
    }

    /// Returns the number of cases by group and status; `None` stands for all. `status` is spelled
    /// as in the report's JSON.
    #[must_use]
    pub fn count(&self, group: Option<&str>, status: Option<&str>) -> u64 {
        let groups = self.counts.iter().filter(|(name, _)| group.is_none_or(|group| group == *name));
        let ended = groups.flat_map(|(_, ended)| ended);
        ended.filter(|(name, _)| status.is_none_or(|status| status == *name)).map(|(_, n)| n).sum()
    }

    /// Returns the highest level that was reached, if any.
    #[must_use]
    pub fn reached(&self) -> Option<Level> {
        let reached = self.levels.iter().filter(|level| level.state == LevelState::Reached);
        reached.map(|level| level.level).max()
    }

    /// Returns true if the run was not restricted by filters.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.suite.filters.is_empty()
    }
}

/// Appends a value in canonical form: names sorted by their bytes, no blanks. Cards have no floats,
/// which have several spellings.
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
