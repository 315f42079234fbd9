//! Rule REG-R6: opens the providers of the keys that a plugin needs before the plugin itself
//! (P5.15).

use super::{HOST_INDEX, Registry};
use crate::error::{Error, ErrorKind};
use crate::names::{HOST_PLUGIN, wrong_key};
use crate::open::discovery::needs::{CHAIN_MAX, circle};
use crate::open::problem::{Problem, ProblemKind};

fn missing(message: String) -> Problem {
    Problem::new(ProblemKind::MissingKey, message)
}

impl Registry {
    /// Opens the plugins that provide what a plugin needs. The caller holds the right to open.
    pub(super) fn open_needed(&self, index: usize) -> Result<(), Problem> {
        let Some(manifest) = &self.discovery.candidates[index].manifest else { return Ok(()) };
        let needed = manifest.needed_keys();
        if !needed.is_empty() && self.read().waiting.len() >= CHAIN_MAX {
            return Err(missing(format!("needs plugins that need others, a row of more than {CHAIN_MAX}")));
        }
        for key in needed {
            self.write().waiting.push((index, key.to_owned()));
            let met = self.meet(key);
            self.write().waiting.pop();
            met.map_err(|error| {
                let advice = match error.advice() {
                    "" => String::new(),
                    advice => format!("; {advice}"),
                };
                missing(format!("needs {key}: {}{advice}", error.message()))
            })?;
        }
        Ok(())
    }

    /// Returns the problem of a plugin that already waits for one that needs it.
    pub(super) fn waits_for_itself(&self, index: usize) -> Option<Problem> {
        let state = self.read();
        let first = state.waiting.iter().position(|(waits, _)| *waits == index)?;
        let round = &state.waiting[first..];
        let hops = round.iter().enumerate().map(|(step, (_, key))| {
            let provider = round.get(step + 1).map_or(index, |(next, _)| *next);
            (key.as_str(), self.discovery.candidates[provider].name.as_str())
        });
        Some(missing(circle(hops)))
    }

    /// Brings a needed key into force, or returns the error why it is unavailable.
    fn meet(&self, key: &str) -> Result<(), Error> {
        if let Some(wrong) = wrong_key(key) {
            let message = format!("it is not a key that this host knows: {wrong}");
            return Err(Error::new(ErrorKind::Unavailable, message).hint("use a newer host"));
        }
        match key.split_once('/') {
            None => self.settle(key)?.map(drop).ok_or_else(|| self.missing(key)),
            Some((extended, _)) => self.meet_interface(extended, key),
        }
    }

    /// Brings a needed interface into force, which must be one of the registration under the key
    /// that it extends.
    fn meet_interface(&self, extended: &str, key: &str) -> Result<(), Error> {
        // A plugin's own name has no dot, every other key has one.
        let holder = if extended.contains('.') {
            self.settle(extended)?.ok_or_else(|| self.missing(extended))?;
            self.holder(extended)
        } else {
            self.open_by_its_name(extended)?
        };
        let state = self.read();
        let has = state.entries.get(key).into_iter().flatten().any(|(index, _)| Some(*index) == holder);
        drop(state);
        if has { Ok(()) } else { Err(self.missing(key)) }
    }

    /// Returns the index of the plugin whose registration is in force under a found key.
    fn holder(&self, key: &str) -> Option<usize> {
        let state = self.read();
        let name = |index: usize| match self.discovery.candidates.get(index) {
            Some(candidate) => candidate.name.as_str(),
            None => HOST_PLUGIN,
        };
        let all: Vec<usize> = state.entries.get(key)?.iter().map(|(index, _)| *index).collect();
        if let Some(preferred) = self.prefer.get(key) {
            return all.into_iter().find(|index| name(*index) == preferred);
        }
        let mut of_plugins = all.iter().copied().filter(|index| *index != HOST_INDEX);
        match (of_plugins.next(), of_plugins.next()) {
            (Some(only), None) => Some(only),
            _ => all.into_iter().find(|index| *index == HOST_INDEX),
        }
    }

    fn open_by_its_name(&self, name: &str) -> Result<Option<usize>, Error> {
        let mut candidates = self.discovery.candidates.iter().enumerate();
        let found = candidates.find(|(_, candidate)| candidate.name == name && candidate.problem.is_none());
        let Some((index, _)) = found else {
            let error =
                Error::new(ErrorKind::Unavailable, format!("there is no plugin \"{name}\" that is used"));
            return Err(error.hint("see `chipdock plugins`"));
        };
        self.open(index).map_err(|problem| problem.to_error(name))?;
        Ok(Some(index))
    }
}
