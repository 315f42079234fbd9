//! Functions that the program itself registers.
//!
//! * **PROGRAM-F1 As a plugin's.** A function of the program is found by its name wherever one of a
//!   plugin is: by [`Host::function`](crate::Host::function), by plugins (H.4), and by packed calls
//!   of compiled code that name no function of an imported module. The name has the form of P5.9.
//! * **PROGRAM-F2 First.** It comes before a plugin's function of that name, and before a dispute
//!   about it; the log says so. A second one of the program is refused unless it is to replace the
//!   first.
//! * **PROGRAM-F3 From then on.** Registering, replacing and taking back change the answer for
//!   whoever asks afterwards. Whoever has a function keeps it: compiled code asks once (X.7).
//! * **PROGRAM-F4 Fingerprint.** A function may have a text that identifies it. It is what the
//!   function `<name>.fingerprint` answers, by which code generators identify their hooks (C.41):
//!   what is built with one that has no fingerprint is not kept for another build.
//! * **PROGRAM-F5 Held.** The host holds the function until it is taken back or the host is gone. A
//!   function that holds its host keeps it alive.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use chipdock_plugin_api as api;

use crate::error::{Error, ErrorKind};
use crate::names::check_registered_name;

/// Functions of a program, by name.
#[derive(Default)]
pub(crate) struct ProgramFunctions(RwLock<BTreeMap<String, api::Function>>);

impl ProgramFunctions {
    /// Returns the function of that name.
    pub(crate) fn get(&self, name: &str) -> Option<api::Function> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Adds functions by name, all or none (PROGRAM-F2).
    pub(crate) fn add(&self, functions: Vec<(String, api::Function)>, replaces: bool) -> Result<(), Error> {
        for (name, _) in &functions {
            check_registered_name(name).map_err(|wrong| Error::new(ErrorKind::Value, wrong))?;
        }
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((name, _)) = functions.iter().find(|(name, _)| !replaces && all.contains_key(name)) {
            let message = format!("the program has registered a function \"{name}\" already");
            return Err(Error::new(ErrorKind::Value, message).hint("replace it, or choose another name"));
        }
        let before: Vec<Option<api::Function>> =
            functions.into_iter().map(|(name, function)| all.insert(name, function)).collect();
        // What is released may call the host.
        drop(all);
        drop(before);
        Ok(())
    }

    /// Takes functions back; returns whether the first was there.
    pub(crate) fn remove(&self, names: &[&str]) -> bool {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let removed: Vec<Option<api::Function>> = names.iter().map(|name| all.remove(*name)).collect();
        drop(all);
        removed.first().is_some_and(Option::is_some)
    }

    /// Returns the names, in their order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }
}
