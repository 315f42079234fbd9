//! Checks a card against its plugin's library and for consistency.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Card, list_digest, sha256, status_word};
use crate::case::{Seeds, instances};
use crate::report::grid::{Paint, Tint, harmless, wrapped};
use crate::report::levels::{LevelState, state};
use crate::report::verdict::level_name;
use crate::{Facts, Group, Level, SUITE_VERSION, Status, cases};

/// The schema of [`Verification`] as JSON.
const VERIFY_SCHEMA: &str = "chipdock.conformance-verify/1";

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The check passed.
    Holds,
    /// The check failed.
    Fails,
    /// The check is not possible here.
    Unknown,
}

/// One check of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Subject of the check, in a word or two.
    pub what: String,
    /// Result of the check.
    pub outcome: Outcome,
    /// Observation that led to the result.
    pub found: String,
}

/// Result of verifying a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Always `chipdock.conformance-verify/1`.
    pub schema: String,
    /// Whether no check failed.
    pub holds: bool,
    /// All checks.
    pub checks: Vec<Check>,
}

impl Verification {
    /// Checks a card against the bytes of a library and for consistency.
    #[must_use]
    pub fn new(card: &Card, library: &[u8]) -> Self {
        let mut all = Checks::default();
        all.digest(card);
        all.library(card, library);
        let list = all.suite(card);
        all.names(card);
        all.counts(card, list);
        all.levels(card);
        all.exit(card);
        let holds = all.0.iter().all(|check| check.outcome != Outcome::Fails);
        Self { schema: VERIFY_SCHEMA.to_owned(), holds, checks: all.0 }
    }

    /// Formats the checks for users. Ends with a newline.
    #[must_use]
    pub fn text(&self, paint: Paint) -> String {
        const NAME_WIDTH: usize = 14;
        let mut text = String::new();
        for check in &self.checks {
            let (word, tint) = match check.outcome {
                Outcome::Holds => ("holds  ", Tint::Good),
                Outcome::Fails => ("FAILS  ", Tint::Bad),
                Outcome::Unknown => ("unknown", Tint::Warn),
            };
            let mut lead = format!("{}  {:NAME_WIDTH$}", paint.paint(tint, word), check.what);
            for line in wrapped(&harmless(&check.found), 76) {
                text += &format!("{lead}{line}\n");
                lead = " ".repeat(word.len() + 2 + NAME_WIDTH);
            }
        }
        text += &match (self.holds, self.checks.iter().any(|check| check.outcome == Outcome::Unknown)) {
            (true, false) => paint.paint(Tint::Good, "\nthe card is about this library, and whole"),
            (true, true) => {
                paint.paint(Tint::Warn, "\nnothing speaks against the card; not all could be checked")
            }
            (false, _) => paint.paint(Tint::Bad, "\nthe card does not hold"),
        };
        text + "\n"
    }
}

#[derive(Default)]
struct Checks(Vec<Check>);

/// Relation of the suite named by a card to this one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Ours,
    Unknown,
}

impl Checks {
    fn add(&mut self, what: &str, outcome: Outcome, found: impl Into<String>) {
        self.0.push(Check { what: what.to_owned(), outcome, found: found.into() });
    }

    /// Adds one check for many items: the wrong ones, or a text that there are none.
    fn all(&mut self, what: &str, wrong: &[String], fine: &str) {
        match wrong {
            [] => self.add(what, Outcome::Holds, fine),
            wrong => self.add(what, Outcome::Fails, wrong.join("; ")),
        }
    }

    fn digest(&mut self, card: &Card) {
        let now = card.digest_now();
        let found = if now == card.digest {
            (Outcome::Holds, format!("it is as it was written, {}", short(&now)))
        } else {
            (
                Outcome::Fails,
                format!("it was changed: it says {}, its content has {}", short(&card.digest), short(&now)),
            )
        };
        self.add("digest", found.0, found.1);
    }

    fn library(&mut self, card: &Card, library: &[u8]) {
        let now = sha256(library);
        if now == card.plugin.sha256 {
            self.add("library", Outcome::Holds, format!("this very file, SHA-256 {}", short(&now)));
        } else {
            let found = format!(
                "another file: the card is about {}, this is {}",
                short(&card.plugin.sha256),
                short(&now)
            );
            self.add("library", Outcome::Fails, found);
        }
    }

    fn suite(&mut self, card: &Card) -> List {
        let version = &card.suite.version;
        if version != SUITE_VERSION {
            let ours = semver::Version::parse(SUITE_VERSION).ok();
            let theirs = semver::Version::parse(version).ok();
            match (theirs, ours) {
                (None, _) => {
                    self.add("suite", Outcome::Fails, format!("\"{version}\" is no version of the suite"))
                }
                (Some(theirs), Some(ours)) if theirs > ours => {
                    let found = format!(
                        "{version} is newer than this command's {SUITE_VERSION}; verify it with a newer one"
                    );
                    self.add("suite", Outcome::Unknown, found);
                }
                _ => {
                    let found = format!(
                        "{version}, this command has {SUITE_VERSION}: its list of cases cannot be made here"
                    );
                    self.add("suite", Outcome::Unknown, found);
                }
            }
            return List::Unknown;
        }
        let (n_cases, digest) = list_digest(&Seeds { first: card.suite.seed, programs: card.suite.programs });
        if (n_cases, &digest) == (card.suite.n_cases, &card.suite.cases_sha256) {
            self.add("suite", Outcome::Holds, format!("{version}, the same {n_cases} cases as here"));
            return List::Ours;
        }
        let found = format!(
            "{version} as here, but with other cases: {} where there are {n_cases}",
            card.suite.n_cases
        );
        self.add("suite", Outcome::Fails, found);
        List::Unknown
    }

    fn names(&mut self, card: &Card) {
        let mut wrong = Vec::new();
        for (group, ended) in &card.counts {
            if Group::by_name(group).is_none() {
                wrong.push(format!("no group \"{group}\""));
            }
            for status in
                ended.keys().filter(|name| !Status::ALL.iter().any(|known| status_word(*known) == **name))
            {
                wrong.push(format!("no status \"{status}\" ({group})"));
            }
        }
        self.all("words", &wrong, "every group and status is one of the suite's");
    }

    /// Checks the number of cases of each group in a whole run, which follows from the
    /// registrations.
    fn counts(&mut self, card: &Card, list: List) {
        if !card.is_whole() {
            let found = format!("only some cases were run: {}", card.suite.filters.join(" "));
            return self.add("counts", Outcome::Unknown, found);
        }
        if list == List::Unknown {
            return self.add("counts", Outcome::Unknown, "how many cases there should be is not known here");
        }
        let level = card.suite.level.unwrap_or(Level::Full);
        let facts = Facts {
            registered: card.plugin.registered.clone(),
            has_manifest: card.plugin.has_manifest,
            ..Facts::default()
        };
        let seeds = Seeds { first: card.suite.seed, programs: card.suite.programs };
        let mut due: BTreeMap<&str, u64> = BTreeMap::new();
        if card.refused.is_empty() {
            for run in
                instances(&cases(&seeds), &facts).iter().filter(|run| level.includes(run.case.group.level()))
            {
                *due.entry(run.case.group.name()).or_default() += 1;
            }
        }
        let groups = Group::ALL.iter().map(|group| group.name());
        let wrong: Vec<String> = groups
            .map(|group| (group, due.get(group).copied().unwrap_or(0), card.count(Some(group), None)))
            .filter(|(_, due, found)| due != found)
            .map(|(group, due, found)| {
                format!("{group}: {due} cases apply to what is registered, the card counts {found}")
            })
            .collect();
        let all = card.count(None, None);
        self.all("counts", &wrong, &format!("{all} cases, as many as apply to what is registered"));
        let many: Vec<String> = card
            .profiles
            .iter()
            .filter(|profile| profile.n_passed + profile.n_unsupported > profile.n_cases)
            .map(|profile| format!("{}: more ended than were run", profile.profile))
            .chain(card.claims.iter().filter_map(|claim| {
                let profile = card.profiles.iter().find(|profile| profile.profile == *claim)?;
                (!profile.claimed).then(|| format!("{claim} is claimed and not claimed"))
            }))
            .collect();
        self.all(
            "profiles",
            &many,
            &format!("{} profiles, {} claimed", card.profiles.len(), card.claims.len()),
        );
    }

    /// Checks that the state of each level follows from the counts.
    fn levels(&mut self, card: &Card) {
        let mut wrong = Vec::new();
        let fine =
            |status: &str| Status::ALL.iter().any(|known| known.is_fine() && status_word(*known) == status);
        let asked = card.suite.level.unwrap_or(Level::Full);
        for level in &card.levels {
            let name = level_name(level.level);
            if !asked.includes(level.level) {
                wrong.push(format!("{name} was not asked for"));
            }
            let of_level =
                |group: &str| Group::by_name(group).is_some_and(|group| level.level.includes(group.level()));
            let counts = card.counts.iter().filter(|(group, _)| of_level(group)).flat_map(|(_, ended)| ended);
            let n_wrong: u64 = counts.clone().filter(|(status, _)| !fine(status)).map(|(_, n)| n).sum();
            let n_passed: u64 = counts.filter(|(status, _)| *status == "passed").map(|(_, n)| n).sum();
            if level.state == LevelState::NotReached {
                continue;
            }
            let (due, _) = state(level.level, |group, status| {
                card.count(Some(group.name()), Some(&status_word(status)))
            });
            let said = level.state.name();
            if n_wrong > 0 {
                wrong.push(format!(
                    "{name} is said to be {said} with {n_wrong} cases that are not as they should be"
                ));
            } else if n_passed == 0 {
                wrong.push(format!("{name} is said to be {said}, and nothing passed"));
            } else if !card.refused.is_empty() {
                wrong.push(format!("{name} is said to be {said} by a plugin that was refused"));
            } else if due != level.state {
                wrong.push(format!("{name} is said to be {said}, and by the counts is {}", due.name()));
            }
        }
        self.all(
            "levels",
            &wrong,
            &match card.reached() {
                Some(level) => format!("up to {}, which the counts allow", level_name(level)),
                None => "none reached".to_owned(),
            },
        );
    }

    /// Checks the exit code, as far as it follows from the counts.
    fn exit(&mut self, card: &Card) {
        let n = |status: Status| card.count(None, Some(&status_word(status)));
        let n_failed = n(Status::Failed) + n(Status::Flaky) + n(Status::OrderDependent);
        let allowed: &[u8] = if n(Status::SuiteFault) + card.n_faults > 0 {
            &[7]
        } else if !card.refused.is_empty() {
            &[3]
        } else if n(Status::Crashed) + n(Status::Hung) > 0 {
            &[5]
        } else if n_failed > 0 || card.profiles.iter().any(|profile| !profile.problem.is_empty()) {
            &[1]
        } else if n(Status::Stale) + card.n_stale > 0 {
            &[6]
        } else {
            &[0, 4]
        };
        if allowed.contains(&card.exit) {
            return self.add("exit code", Outcome::Holds, format!("{}, as the counts have it", card.exit));
        }
        let expected = allowed.iter().map(u8::to_string).collect::<Vec<_>>().join(" or ");
        self.add(
            "exit code",
            Outcome::Fails,
            format!("the counts make {expected}, the card says {}", card.exit),
        );
    }
}

/// Returns the first 16 characters of a digest.
fn short(digest: &str) -> String {
    digest.chars().take(16).collect()
}
