//! What is known of an object before it is linked, by LLVM's linker or by our own.

use core::ffi::c_void;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::CString;

use chipdock_plugin_api::abi::ChipdockEnv;
use chipdock_plugin_api::kit::PerProcess;
use chipdock_plugin_api::{Error, ErrorKind};

use super::library::{Llvm, c_text};
use super::naming::{Naming, Shown, anchors};
use super::object::{self, Checked, Function};

/// The variable of a module that its loader points to the environment.
const ENVIRONMENT: &str = "__chipdock_env";
/// A symbol that a linker itself defines.
const GOT: &str = "_GLOBAL_OFFSET_TABLE_";

/// A checked object, with the addresses of what it takes from this process.
pub(crate) struct Plan<'a> {
    pub(crate) object: &'a [u8],
    /// The names whose addresses are wanted.
    pub(crate) wanted: BTreeSet<String>,
    /// The undefined symbols, with their addresses in this process.
    pub(crate) externals: BTreeMap<CString, usize>,
    pub(super) naming: Naming,
    /// Its functions, where a tool is told of them.
    pub(super) functions: Vec<Function>,
    has_env: bool,
}

fn broken(what: &str) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, format!("the object is broken: {what}; build the artifact again"))
}

impl<'a> Plan<'a> {
    /// Checks an object, and looks up what it takes from this process.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the object is not for this machine, is broken, lacks one of `symbols`, or
    ///   calls a C function that cannot be found.
    pub(crate) fn new(object: &'a [u8], symbols: &[&str], naming: Naming) -> Result<Self, Error> {
        let checked = object::check(object).map_err(|why| broken(&why))?;
        if let Some(missing) = symbols.iter().find(|symbol| !checked.functions.contains(**symbol)) {
            return Err(broken(&format!("the index has a function `{missing}`, which the code has not")));
        }
        let externals = resolve(&checked)?;
        let mut wanted: BTreeSet<String> = symbols.iter().map(|symbol| (*symbol).to_owned()).collect();
        let has_env = checked.defined.contains(ENVIRONMENT);
        if has_env {
            if !checked.variables.contains(ENVIRONMENT) {
                return Err(broken(&format!("`{ENVIRONMENT}` is not a variable")));
            }
            wanted.insert(ENVIRONMENT.to_owned());
        }
        let functions = naming.functions(object);
        wanted.extend(anchors(&functions).into_values().map(|function| function.name.clone()));
        Ok(Self { object, wanted, externals, naming, functions, has_env })
    }

    /// A plan of an object for another machine, which is not checked.
    #[cfg(test)]
    pub(crate) fn of_another_machine(object: &'a [u8], externals: BTreeMap<CString, usize>) -> Self {
        let wanted = BTreeSet::new();
        Self { object, wanted, externals, naming: Naming::off(), functions: Vec::new(), has_env: false }
    }

    /// Whether LLVM's linker is needed for a tool, whatever the object is (LLNAME-J2).
    pub(crate) fn is_for_llvm(&self) -> bool {
        self.naming.is_for_llvm()
    }

    /// The address of an undefined symbol.
    pub(crate) fn external(&self, name: &str) -> Option<usize> {
        self.externals.get(c_text(name, "a symbol").ok()?.as_c_str()).copied()
    }

    /// Points the variable of the linked object, if it has one, to the environment.
    ///
    /// # Safety
    ///
    /// * `addresses` are those of this plan's object, linked just now, which no other code knows.
    pub(crate) unsafe fn set_environment(&self, addresses: &HashMap<String, usize>, env: *const ChipdockEnv) {
        if let (true, Some(place)) = (self.has_env, addresses.get(ENVIRONMENT)) {
            // SAFETY: a variable of this type, as the object was checked, in memory that the caller
            // has alone.
            unsafe { (*place as *mut *const ChipdockEnv).write(env) };
        }
    }

    /// Names the functions of the linked object to `perf`, where that is asked for.
    pub(crate) fn tell_perf(&self, addresses: &HashMap<String, usize>) {
        if !self.functions.is_empty() {
            self.naming.tell_perf(&self.functions, addresses);
        }
    }

    /// Registers the linked object with gdb, where that is asked for.
    pub(super) fn show(&self, llvm: &Llvm, addresses: &HashMap<String, usize>) -> Option<Shown> {
        self.naming.show(llvm, self.object, &self.functions, addresses)
    }
}

/// The addresses of an object's undefined symbols: first the process' own functions, then those of
/// the C library, whether or not the program links all of it.
fn resolve(checked: &Checked) -> Result<BTreeMap<CString, usize>, Error> {
    let mut found = BTreeMap::new();
    for name in checked.undefined.iter().filter(|name| *name != GOT) {
        let symbol = c_text(name, "a symbol")?;
        // SAFETY: only looks a name up.
        let mut address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) };
        if address.is_null() {
            let in_library = |library: &usize| {
                // SAFETY: an open library.
                let found = unsafe { libc::dlsym(*library as *mut c_void, symbol.as_ptr()) };
                (!found.is_null()).then_some(found)
            };
            address = c_libraries().iter().find_map(in_library).unwrap_or(address);
        }
        if address.is_null() {
            return Err(Error::new(
                ErrorKind::VALUE_ERROR,
                format!(
                    "the kernel calls the C function `{name}`, which no library of this process has; expected one of \
                     the C library or of what the program links"
                ),
            ));
        }
        found.insert(symbol, address as usize);
    }
    Ok(found)
}

/// The libraries that compiled code may call, opened and never closed.
fn c_libraries() -> &'static [usize] {
    static OPEN: PerProcess<Vec<usize>> = PerProcess::new(|_| {
        [c"libm.so.6", c"libc.so.6", c"libgcc_s.so.1"]
            .iter()
            // SAFETY: the C library and the compiler's runtime, which run no code when they are
            // opened.
            .map(|name| unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) } as usize)
            .filter(|handle| *handle != 0)
            .collect()
    });
    OPEN.of_this()
}
