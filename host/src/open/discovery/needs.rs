//! Rule FIND-D6: refuses plugins whose needed keys (P5.15) are unavailable, as far as manifests
//! tell. Opens nothing.

use std::collections::{BTreeMap, BTreeSet};

use chipdock_plugin_api as api;
use serde::Serialize;

use super::candidate::{Candidate, Discovery};
use crate::bounds;
use crate::names::{HOST_PLUGIN, wrong_key};
use crate::open::problem::{Problem, ProblemKind};

/// Greatest length of a chain of plugins, each of which needs the next: a longer one is not opened.
pub(crate) const CHAIN_MAX: usize = 64;
/// Greatest number of plugins of a circle that a message names.
const NAMED_MAX: usize = 8;
/// Greatest length of another plugin's reason that a message repeats, in bytes.
const REASON_BYTES_MAX: usize = 400;

/// Refuses plugins that need an unavailable key, and then the plugins that need those.
pub(crate) fn refuse_unmet(candidates: &mut [Candidate]) {
    if candidates.iter().all(|candidate| needed(candidate).is_empty()) {
        return;
    }
    loop {
        let offers = Offers::of(candidates);
        let missing = |(index, candidate): (usize, &Candidate)| {
            let key = needed(candidate).into_iter().find(|key| !offers.may_have(key))?;
            Some((index, offers.missing(key)))
        };
        let refused: Vec<(usize, String)> = candidates.iter().enumerate().filter_map(missing).collect();
        if refused.is_empty() {
            break;
        }
        refuse(candidates, refused);
    }
    let offers = Offers::of(candidates);
    let openable = offers.openable();
    let stuck =
        (0..candidates.len()).filter(|index| candidates[*index].problem.is_none() && !openable[*index]);
    let refused = stuck.map(|index| (index, offers.stuck(index, &openable))).collect();
    refuse(candidates, refused);
}

fn refuse(candidates: &mut [Candidate], refused: Vec<(usize, String)>) {
    for (index, message) in refused {
        candidates[index].problem = Some(Problem::new(ProblemKind::MissingKey, message));
    }
}

/// A key that a plugin needs of others, and the plugins that provide it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NeededKey {
    /// The key.
    pub key: String,
    /// Names of the used plugins that provide it, by their manifests, in the order of the search;
    /// `host` for the host itself.
    pub plugins: Vec<String>,
}

/// Returns the keys that a plugin needs of others (P5.15), in their order. Opens nothing.
#[must_use]
pub fn needed_keys(discovery: &Discovery, candidate: &Candidate) -> Vec<NeededKey> {
    let needed = candidate.manifest.as_ref().map(|manifest| manifest.needed_keys()).unwrap_or_default();
    if needed.is_empty() {
        return Vec::new();
    }
    let offers = Offers::with(&discovery.candidates, &needed.iter().copied().collect());
    let of_host = |key: &str| offers.of_host.contains(key).then(|| HOST_PLUGIN.to_owned());
    let one = |key: &str| {
        let plugins = offers.providers(key).map(|index| discovery.candidates[index].name.clone());
        NeededKey { key: key.to_owned(), plugins: plugins.chain(of_host(key)).collect() }
    };
    needed.into_iter().map(one).collect()
}

/// Returns the plugins without which one cannot be opened: those that provide its needed keys,
/// those that provide theirs, and, where manifests do not say who provides a key, the libraries
/// without a manifest.
#[must_use]
pub fn needed_plugins<'a>(discovery: &'a Discovery, candidate: &Candidate) -> Vec<&'a Candidate> {
    let needed =
        |candidate: &'a Candidate| candidate.manifest.iter().flat_map(|manifest| manifest.needed_keys());
    let first = candidate.manifest.as_ref().map(|manifest| manifest.needed_keys()).unwrap_or_default();
    if first.is_empty() {
        return Vec::new();
    }
    let all = &discovery.candidates;
    let wanted: BTreeSet<&str> = all.iter().flat_map(needed).chain(first.iter().copied()).collect();
    let offers = Offers::with(all, &wanted);
    let mut waiting: Vec<String> = first.into_iter().map(str::to_owned).collect();
    let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
    let mut found = BTreeSet::new();
    while let Some(key) = waiting.pop() {
        let mut providers: Vec<usize> = offers.providers(&key).collect();
        if providers.is_empty() && !offers.of_host.contains(&key) {
            providers = (0..all.len()).filter(|index| is_unlisted(&all[*index])).collect();
        }
        for index in providers {
            if all[index].library != candidate.library && found.insert(index) {
                let keys = needed(&all[index]).map(str::to_owned);
                waiting.extend(keys.filter(|key| seen.insert(key.clone())));
            }
        }
    }
    found.into_iter().map(|index| &all[index]).collect()
}

fn is_unlisted(candidate: &Candidate) -> bool {
    candidate.problem.is_none() && candidate.manifest.is_none()
}

/// Returns the keys of others that a plugin needs, if it is used at all.
fn needed(candidate: &Candidate) -> Vec<&str> {
    let manifest = candidate.manifest.as_ref().filter(|_| candidate.problem.is_none());
    manifest.map(|manifest| manifest.needed_keys()).unwrap_or_default()
}

/// The keys that plugins and the host offer to plugins that need them.
struct Offers<'a> {
    candidates: &'a [Candidate],
    /// Plugins by the keys that their manifests provide, unusable plugins included.
    by_key: BTreeMap<&'a str, Vec<usize>>,
    /// Keys of the host itself.
    of_host: BTreeSet<String>,
    /// A library without a manifest may provide anything.
    may_be_unlisted: bool,
}

impl<'a> Offers<'a> {
    fn of(candidates: &'a [Candidate]) -> Self {
        Self::with(candidates, &candidates.iter().flat_map(needed).collect())
    }

    fn with(candidates: &'a [Candidate], wanted: &BTreeSet<&str>) -> Self {
        let mut by_key: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, candidate) in candidates.iter().enumerate() {
            let provided = candidate.manifest.iter().flat_map(|manifest| &manifest.provides);
            for key in provided.map(String::as_str).filter(|key| wanted.contains(key)) {
                by_key.entry(key).or_default().push(index);
            }
        }
        Self {
            candidates,
            by_key,
            of_host: api::registrations().iter().map(|registration| registration.key()).collect(),
            may_be_unlisted: candidates.iter().any(is_unlisted),
        }
    }

    /// Returns the used plugins that provide a key.
    fn providers(&self, key: &str) -> impl Iterator<Item = usize> {
        let all = self.by_key.get(key).into_iter().flatten().copied();
        all.filter(|index| self.candidates[*index].problem.is_none())
    }

    /// Returns true if a key may be available whatever the manifests say.
    fn is_open(&self, key: &str) -> bool {
        self.of_host.contains(key) || (self.may_be_unlisted && wrong_key(key).is_none())
    }

    fn may_have(&self, key: &str) -> bool {
        self.is_open(key) || self.providers(key).next().is_some()
    }

    /// Returns the reason why a key is unavailable.
    fn missing(&self, key: &str) -> String {
        if let Some(wrong) = wrong_key(key) {
            let key = bounds::cut(key, REASON_BYTES_MAX);
            return format!(
                "needs {key:?}, which is not a key that this host knows: {wrong}; use a newer host, or mend \"needs.keys\" of its manifest"
            );
        }
        let refused = self.by_key.get(key).into_iter().flatten().find_map(|index| {
            let candidate = &self.candidates[*index];
            candidate.problem.as_ref().map(|problem| (&candidate.name, problem))
        });
        match refused {
            Some((name, problem)) => {
                let why = bounds::cut(&problem.message, REASON_BYTES_MAX);
                format!("needs {key} of plugin \"{name}\", which is not used: {why}")
            }
            None => format!(
                "needs {key}, which no plugin provides; install one that does, or name it with --plugin"
            ),
        }
    }

    /// Returns, for each plugin, whether it can be opened after the plugins that it needs.
    fn openable(&self) -> Vec<bool> {
        let mut openable = vec![false; self.candidates.len()];
        for _ in 0..=CHAIN_MAX {
            let is_next = |index: &usize| {
                let candidate = &self.candidates[*index];
                let mut keys = needed(candidate).into_iter();
                candidate.problem.is_none()
                    && !openable[*index]
                    && keys.all(|key| self.is_met(key, &openable))
            };
            let next: Vec<usize> = (0..openable.len()).filter(is_next).collect();
            if next.is_empty() {
                break;
            }
            next.into_iter().for_each(|index| openable[index] = true);
        }
        openable
    }

    fn is_met(&self, key: &str, openable: &[bool]) -> bool {
        self.is_open(key) || self.providers(key).any(|index| openable[index])
    }

    /// Returns the reason why a plugin can never be opened although all keys that it needs are
    /// provided.
    fn stuck(&self, index: usize, openable: &[bool]) -> String {
        let mut path: Vec<(usize, &str)> = Vec::new();
        let mut at = index;
        while !path.iter().any(|(met, _)| *met == at) {
            let unmet = needed(&self.candidates[at]).into_iter().find(|key| !self.is_met(key, openable));
            let next = unmet.and_then(|key| Some((key, self.providers(key).next()?)));
            let Some((key, provider)) = next else {
                return format!("needs plugins that need others, a row of more than {CHAIN_MAX}");
            };
            path.push((at, key));
            at = provider;
        }
        let hops = path.iter().enumerate().map(|(step, (_, key))| {
            let provider = path.get(step + 1).map_or(at, |(next, _)| *next);
            (*key, self.candidates[provider].name.as_str())
        });
        circle(hops)
    }
}

/// Returns the sentence about a circle: each needed key, with the plugin that provides it.
pub(crate) fn circle<'a>(hops: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let hops: Vec<String> = hops.map(|(key, plugin)| format!("needs {key} of plugin \"{plugin}\"")).collect();
    let named = hops[..hops.len().min(NAMED_MAX)].join(", which ");
    let more = if hops.len() > NAMED_MAX { ", and so on" } else { "" };
    format!(
        "{named}{more}: a circle, of which none can be opened first; one of them has to do without \"needs.keys\""
    )
}
