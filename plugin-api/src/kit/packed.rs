//! A loaded module whose functions are machine code of the host.

use core::ffi::c_void;
use std::collections::HashMap;

use crate::abi::{ChipdockAny, ChipdockSafeCall};
use crate::{Error, Function, Module};

/// Machine code with the packed convention (X.1).
pub type PackedFunction = unsafe extern "C" fn(*mut c_void, *const ChipdockAny, i32, *mut ChipdockAny) -> i32;

/// A loaded module of packed functions (KIT-19). `K` keeps the environment, and the memory that the
/// code lies in.
#[derive(Debug)]
pub struct PackedModule<K> {
    functions: HashMap<String, PackedFunction>,
    kept: K,
}

impl<K: Clone + Send + Sync + 'static> PackedModule<K> {
    /// Makes a module of these functions, each by its name in the module that was compiled.
    ///
    /// # Safety
    ///
    /// * Each function may be called, from any thread, as long as a clone of `kept` lives.
    #[must_use]
    pub unsafe fn new(functions: HashMap<String, PackedFunction>, kept: K) -> Self {
        Self { functions, kept }
    }

    /// Returns the machine code of the function of that name.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<PackedFunction> {
        self.functions.get(name).copied()
    }

    /// Returns the value that keeps the code's environment and memory.
    #[must_use]
    pub fn kept(&self) -> &K {
        &self.kept
    }
}

impl<K: Clone + Send + Sync + 'static> Module for PackedModule<K> {
    fn function(&self, name: &str) -> Result<Option<Function>, Error> {
        Ok(self.address(name).map(|function| {
            // SAFETY: by `new`, the function may be called as long as a clone of `kept` lives,
            // which is passed along.
            unsafe { Function::from_safe_call(ChipdockSafeCall(function), self.kept.clone()) }
        }))
    }
}
