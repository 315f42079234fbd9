//! Discovery: searches for plugins, orders them, and records why one is not used. Opens nothing.
//!
//! Rules, in the order in which they are applied:
//!
//! * **FIND-D1 Order.** Roots are searched in the order of [`Source`]; within a folder, plugins by
//!   file name. The current directory is never searched by itself.
//! * **FIND-D2 Everything is kept.** Each library or manifest that is met becomes a [`Candidate`],
//!   with the reason if it is not used; a bad one never hides another. Files that are reached again
//!   through a second place are the candidate that exists already.
//! * **FIND-D3 Trust.** A library or manifest that neither root nor the user owns, or that group or
//!   others may write, is refused; so is one that is reached through such a folder (a sticky folder
//!   excepted), from the root on, or through a link of another user. The user's private group may
//!   write, as it may where the umask is 002; root has none. A path in [`HostOptions::trust`], and
//!   everything in it, is trusted. A manifest is checked before it is read. With raised privileges,
//!   variables and user paths are ignored: only the folders of the system are searched.
//! * **FIND-D4 Names.** Select and disable by name or glob; of two usable files with the same
//!   plugin name the first wins.
//! * **FIND-D5 Lock.** With [`HostOptions::locked`], a plugin that the lock does not pin is
//!   refused, before FIND-D4 looks which is first. [`check_against_lock`] is for listings; a host
//!   checks the digest when it opens the plugin (LOAD-L1).
//! * **FIND-D6 Needed keys.** Last, a plugin that needs a key of another plugin (P5.15) is refused
//!   where the manifests show that the key is unavailable: no remaining plugin provides it, or the
//!   plugins need each other in a circle. Such a refusal makes no room for another plugin of the
//!   same name.

mod candidate;
pub(crate) mod needs;
mod search;
pub(crate) mod trust;

use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};

pub use candidate::{Candidate, Discovery, SearchedPlace, Source};
pub use needs::{NeededKey, needed_keys, needed_plugins};

use crate::error::{Error, ErrorKind};
use crate::open::lock::PluginLock;
use crate::open::manifest::{Platform, sha256_of};
use crate::open::problem::{Problem, ProblemKind};
use crate::options::HostOptions;

/// Searches for plugins. Reads folders and manifests, opens no library.
///
/// # Errors
///
/// `ValueError` for a select or disable pattern that is no glob. A problem of a plugin is no error
/// here: it is recorded in its [`Candidate`].
pub fn discover(options: &HostOptions) -> Result<Discovery, Error> {
    let span = tracing::info_span!("discover", candidates = tracing::field::Empty).entered();
    let environment = &options.environment;
    let filters = Filters::new(options)?;
    let trust = trust::Trust::new(environment, &options.trust);
    let mut discovery = Discovery { candidates: Vec::new(), places: Vec::new() };
    for (path, source) in search::places(options) {
        let ignored = search::ignored(environment, &path, source);
        if ignored.is_none() {
            let found = search::candidates(&path, source, &trust);
            for candidate in found {
                if !discovery.candidates.iter().any(|before| is_again(before, &candidate)) {
                    discovery.candidates.push(candidate);
                }
            }
        }
        discovery.places.push(SearchedPlace { path, source, ignored });
    }
    let platform = Platform::current();
    for candidate in &mut discovery.candidates {
        if candidate.problem.is_none() {
            candidate.problem = filters.problem(&candidate.name).or_else(|| {
                let unmet = candidate.manifest.as_ref()?.unmet(&platform)?;
                Some(Problem::new(ProblemKind::Unmet, unmet))
            });
        }
        if let (Some(lock), None) = (&options.locked, &candidate.problem) {
            candidate.problem = lock.refusal(candidate);
        }
    }
    shadow(&mut discovery.candidates);
    needs::refuse_unmet(&mut discovery.candidates);
    span.record("candidates", discovery.candidates.len());
    Ok(discovery)
}

/// Returns true if a candidate was met before. One that is refused because of the path that led to
/// it does not hide another.
fn is_again(before: &Candidate, candidate: &Candidate) -> bool {
    let is_same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
    let manifests = || match (&before.manifest_path, &candidate.manifest_path) {
        (Some(a), Some(b)) => is_same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    before.name == candidate.name
        && (before.problem.is_none() || candidate.problem.is_some())
        && is_same(&before.library, &candidate.library)
        && manifests()
}

/// Checks the digests of the libraries (rule FIND-D5): reads each usable one whole and refuses it
/// when the lock pins another digest. A host does the same when it opens a plugin; this function is
/// for a listing.
pub fn check_against_lock(discovery: &mut Discovery, lock: &PluginLock) {
    for candidate in discovery.candidates.iter_mut().filter(|candidate| candidate.problem.is_none()) {
        candidate.problem = match sha256_of(&candidate.library) {
            Ok(found) => lock.refusal_by_digest(&candidate.name, &found),
            Err(error) => Some(Problem::new(ProblemKind::CannotOpen, error.message())),
        };
    }
    needs::refuse_unmet(&mut discovery.candidates);
}

/// Marks all but the first of several usable candidates with one name as shadowed.
fn shadow(candidates: &mut [Candidate]) {
    for index in 1..candidates.len() {
        let (before, rest) = candidates.split_at_mut(index);
        let candidate = &mut rest[0];
        let first = before.iter().find(|first| first.problem.is_none() && first.name == candidate.name);
        if let (Some(first), None) = (first, &candidate.problem) {
            let message = format!("shadowed by {}, found first", first.library.display());
            candidate.problem = Some(Problem::new(ProblemKind::Shadowed, message));
        }
    }
}

/// Select and disable globs of rule FIND-D4.
pub(crate) struct Filters {
    select: Vec<String>,
    select_set: GlobSet,
    disable_set: GlobSet,
    disable: Vec<String>,
}

impl Filters {
    pub(crate) fn new(options: &HostOptions) -> Result<Self, Error> {
        let environment = &options.environment;
        let select = with_variable(&options.select, environment.select_text()?);
        let disable = with_variable(&options.disable, environment.disable_text()?);
        Ok(Self { select_set: globs(&select)?, disable_set: globs(&disable)?, select, disable })
    }

    pub(crate) fn problem(&self, name: &str) -> Option<Problem> {
        if let Some(&index) = self.disable_set.matches(name).first() {
            let message = format!("disabled by \"{}\"", self.disable[index]);
            return Some(Problem::new(ProblemKind::Disabled, message));
        }
        if !self.select.is_empty() && !self.select_set.is_match(name) {
            let message = format!("not selected; selected are: {}", self.select.join(", "));
            return Some(Problem::new(ProblemKind::NotSelected, message));
        }
        None
    }
}

/// Returns the option's list, with the entries of the variable added.
pub(crate) fn with_variable(option: &[String], variable: Option<&str>) -> Vec<String> {
    let variable = variable.unwrap_or_default();
    let added = variable.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned);
    option.iter().cloned().chain(added).collect()
}

fn globs(patterns: &[String]) -> Result<GlobSet, Error> {
    let bad = |pattern: &str, error: &globset::Error| {
        Error::new(ErrorKind::Value, format!("\"{pattern}\" is not a plugin name or glob: {}", error.kind()))
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(|error| bad(pattern, &error))?);
    }
    set.build().map_err(|error| bad("", &error))
}

#[cfg(test)]
mod tests;
