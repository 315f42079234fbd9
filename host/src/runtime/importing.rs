//! Modules that a program composes: imports that are added to a module.
//!
//! * **COMPOSE-I1 Found.** [`Module::import_module`] adds a module to the imports of another, after
//!   those that it has. From then on its functions are found by name ([`Module::function`],
//!   [`Module::kernel`]), also by packed calls of the importing module's compiled code. The first
//!   of several functions with one name is found: the module's own, then by the order of imports.
//!   Each module is visited once, however imports are shared and however deep they nest.
//! * **COMPOSE-I2 Refused.** An import that leads back to the module, one of another host, and one
//!   into a module of libtvm_ffi's, whose code asks that library for its imports, are errors and
//!   change nothing. Importing a module twice is importing it once.
//! * **COMPOSE-I3 Files.** [`Module::composed`] is the artifact with what was added, as files and
//!   other machines get it. The code of an opened library is no part of an artifact: that is an
//!   error there.
//! * **COMPOSE-I4 Threads.** Modules may be composed and called by several threads at once.
//!   Compiled code asks for a function once (X.7): what it has found it keeps.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use chipdock_plugin_api as api;

use super::module::{Added, Imported, Module, ModuleInner};
use crate::bounds::MODULES_MAX;
use crate::compile::artifact::Artifact;
use crate::error::{Error, ErrorKind};

/// Held while imports are added, so that no two of them make a circle together.
static COMPOSING: Mutex<()> = Mutex::new(());

impl Module {
    /// Adds a module to those that this one imports (COMPOSE-I1).
    ///
    /// # Errors
    ///
    /// * `ValueError`: the module is this one, imports it, or belongs to another host.
    /// * `Unsupported`: this is a module of libtvm_ffi's; its own import takes others.
    pub fn import_module(&self, module: &Self) -> Result<(), Error> {
        self.host().0.services.check_process()?;
        let _composing = COMPOSING.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&self.host().0, &module.host().0) {
            return Err(refused("the modules belong to two hosts", "load one of them with the other's host"));
        }
        if self.of_tvm_ffi().is_some() {
            let message = "a module of TVM-FFI's asks that library for its imports";
            return Err(
                Error::new(ErrorKind::Unsupported, message).hint("import into it with its own import_module")
            );
        }
        if module.leads_to(self) {
            return Err(refused(
                "the module to import is this module, or imports it",
                "import in one direction alone",
            ));
        }
        let mut added = self.0.added.write().unwrap_or_else(PoisonError::into_inner);
        if self.imports().iter().chain(added.iter().map(|one| &one.module)).any(|one| one.is(module)) {
            return Ok(());
        }
        if added.len() >= MODULES_MAX {
            return Err(refused(&format!("a module imports at most {MODULES_MAX} others"), "compose fewer"));
        }
        let functions = Imported::of(std::slice::from_ref(module));
        added.push(Arc::new(Added { module: module.clone(), functions }));
        drop(added);
        self.connect_added();
        Ok(())
    }

    /// Returns the modules that it imports: those of its artifact, then those that were added.
    #[must_use]
    pub fn all_imports(&self) -> Vec<Self> {
        let added = self.0.added.read().unwrap_or_else(PoisonError::into_inner);
        self.imports().iter().chain(added.iter().map(|one| &one.module)).cloned().collect()
    }

    /// Returns its artifact with the modules that were added to it and to its imports (COMPOSE-I3).
    ///
    /// # Errors
    ///
    /// * `Unsupported`: a part is the code of an opened library.
    /// * `ValueError`: the modules nest too deep for an artifact.
    pub fn composed(&self) -> Result<Arc<Artifact>, Error> {
        let mut done: HashMap<*const ModuleInner, Arc<Artifact>> = HashMap::new();
        let mut left = vec![(self.clone(), None)];
        while let Some((module, imports)) = left.pop() {
            let place = Arc::as_ptr(&module.0);
            match imports {
                _ if done.contains_key(&place) => {}
                None => {
                    // Those that it imports come first.
                    let imports = module.all_imports();
                    let before: Vec<_> = imports.iter().rev().map(|import| (import.clone(), None)).collect();
                    left.push((module, Some(imports)));
                    left.extend(before);
                }
                Some(all) => {
                    let of = |import: &Self| done.get(&Arc::as_ptr(&import.0)).cloned();
                    let composed = module.composed_of(&all, all.iter().filter_map(of).collect())?;
                    done.insert(place, composed);
                }
            }
        }
        done.remove(&Arc::as_ptr(&self.0))
            .ok_or_else(|| Error::new(ErrorKind::Internal, "a module was left out of what it is composed of"))
    }

    /// Returns the artifact of the module alone with the given ones in place of its imports.
    fn composed_of(&self, all: &[Self], imports: Vec<Arc<Artifact>>) -> Result<Arc<Artifact>, Error> {
        let artifact = self.artifact();
        let own = artifact.imports();
        if own.len() == imports.len() && own.iter().zip(&imports).all(|(one, other)| Arc::ptr_eq(one, other))
        {
            return Ok(Arc::clone(artifact));
        }
        if let Some(library) = [self].into_iter().chain(all).find(|module| module.is_of_library()) {
            let names: Vec<&str> = library.function_names().take(4).collect();
            let message =
                format!("the module of {} is an opened library, which no file can contain", names.join(", "));
            return Err(
                Error::new(ErrorKind::Unsupported, message).hint("compose modules that were compiled here")
            );
        }
        artifact.with_imports(imports).map(Arc::new)
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn leads_to(&self, other: &Self) -> bool {
        self.reached().iter().any(|module| module.is(other))
    }

    /// Returns the module, then what it leads to by imports, each module once: a module, then what
    /// each of its imports leads to, in their order.
    pub(super) fn reached(&self) -> Vec<Self> {
        let (mut all, mut seen, mut left) = (Vec::new(), HashSet::new(), vec![self.clone()]);
        while let Some(module) = left.pop() {
            if seen.insert(Arc::as_ptr(&module.0)) {
                left.extend(module.all_imports().into_iter().rev());
                all.push(module);
            }
        }
        all
    }

    /// Returns a function of a module that was added, for compiled code; `None` where none has it.
    pub(super) fn added_function(added: &[Arc<Added>], name: &str) -> Result<Option<api::Function>, Error> {
        for one in added {
            if let Some(imported) = one.functions.get(name) {
                return imported.function(name);
            }
            if let Some(function) = one.module.unlisted(name)? {
                return Ok(Some(function));
            }
        }
        Ok(None)
    }
}

fn refused(message: &str, hint: &str) -> Error {
    Error::new(ErrorKind::Value, message).hint(hint)
}

impl Drop for ModuleInner {
    /// Drops a long chain of added modules without a call for each.
    fn drop(&mut self) {
        let taken =
            |inner: &mut Self| std::mem::take(inner.added.get_mut().unwrap_or_else(PoisonError::into_inner));
        let mut left = taken(self);
        while let Some(one) = left.pop() {
            let Some(Added { module, functions }) = Arc::into_inner(one) else { continue };
            drop(functions);
            if let Some(mut inner) = Arc::into_inner(module.0) {
                left.extend(taken(&mut inner));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::runtime::build_tests::load;

    /// Forty layers of two modules, each of which imports both of the next layer: 2^39 ways lead to
    /// the last.
    #[test]
    fn compose_i1_a_module_that_many_ways_lead_to_is_visited_once() {
        let host = crate::Host::new(crate::HostOptions::isolated()).unwrap();
        let artifact = load(&host).artifact().clone();
        let made = || host.load(&artifact).unwrap();
        let layers: Vec<_> = (0..40).map(|_| [made(), made()]).collect();
        for pair in layers.windows(2) {
            for (above, below) in
                pair[0].iter().flat_map(|above| pair[1].iter().map(move |below| (above, below)))
            {
                above.import_module(below).unwrap();
            }
        }
        let (first, last) = (&layers[0][0], &layers[39][1]);
        assert_eq!(first.reached().len(), 1 + 39 * 2);
        assert!(last.import_module(first).is_err(), "a circle");
        assert!(first.function("nobody").is_err());
        let _ = first.composed();
    }

    /// A chain is as long as a program makes it.
    #[test]
    fn compose_i1_a_long_chain_is_searched_and_dropped() {
        let host = crate::Host::new(crate::HostOptions::isolated()).unwrap();
        let first = load(&host);
        let mut above = first.clone();
        for _ in 0..20_000 {
            let below = host.load(first.artifact()).unwrap();
            above.import_module(&below).unwrap();
            above = below;
        }
        drop(above);
        assert_eq!(first.reached().len(), 20_001);
        assert!(first.function("nobody").is_err());
        assert!(first.composed().is_err(), "too deep for a file");
    }
}
