//! Modules that a program composes: imports that are added to a module.
//!
//! * **COMPOSE-I1 Found.** [`Module::import_module`] adds a module to the imports of another, after
//!   those that it has. From then on its functions are found by name ([`Module::function`],
//!   [`Module::kernel`]), also by packed calls of the importing module's compiled code. The first of
//!   several functions with one name is found: the module's own, then by the order of imports.
//! * **COMPOSE-I2 Refused.** An import that leads back to the module, one of another host, and one
//!   into a module of libtvm_ffi's, whose code asks that library for its imports, are errors and
//!   change nothing. Importing a module twice is importing it once.
//! * **COMPOSE-I3 Files.** [`Module::composed`] is the artifact with what was added, as files and
//!   other machines get it. The code of an opened library is no part of an artifact: that is an
//!   error there.
//! * **COMPOSE-I4 Threads.** Modules may be composed and called by several threads at once. Compiled
//!   code asks for a function once (X.7): what it has found it keeps.

use std::sync::{Arc, Mutex, PoisonError};

use chipdock_plugin_api as api;

use super::module::{Added, Imported, Module};
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
        let artifact = self.artifact();
        let all = self.all_imports();
        if all.is_empty() {
            return Ok(Arc::clone(artifact));
        }
        let imports: Vec<Arc<Artifact>> = all.iter().map(Self::composed).collect::<Result<_, _>>()?;
        let own = artifact.imports();
        if own.len() == imports.len() && own.iter().zip(&imports).all(|(one, other)| Arc::ptr_eq(one, other))
        {
            return Ok(Arc::clone(artifact));
        }
        if let Some(library) = [self].into_iter().chain(&all).find(|module| module.is_of_library()) {
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
        self.is(other) || self.all_imports().iter().any(|import| import.leads_to(other))
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
