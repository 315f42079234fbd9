//! What a program registers: rules PROGRAM-F1 to PROGRAM-F5.

use std::fmt;

use chipdock_plugin_api as api;
use chipdock_plugin_api::{Any, AnyView, HostRef, Str, hooks};

use crate::error::Error;
use crate::host::Host;
use crate::log::LogLevel;

/// A function of the program, for [`Host::register_function`].
///
/// ```
/// use chipdock_host::{Any, AnyView, Host, HostOptions, ProgramFunction};
///
/// let host = Host::new(HostOptions::isolated())?;
/// let double = ProgramFunction::new(|args: &[AnyView<'_>]| {
///     let number: i64 = chipdock_plugin_api::argument(args, 0, "number")?;
///     Ok(Any::from(number * 2))
/// });
/// host.register_function("example.double", double.fingerprint("1"))?;
/// let double = host.function("example.double")?.expect("the program has registered it");
/// assert_eq!(double.call(&[AnyView::from(21_i64)])?.to::<i64>()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ProgramFunction {
    make: Box<dyn FnOnce(HostRef) -> api::Function + Send>,
    fingerprint: Option<String>,
    replaces: bool,
}

impl ProgramFunction {
    /// Makes one of a closure, which any thread may call at any time.
    #[must_use]
    pub fn new<F>(closure: F) -> Self
    where
        F: Fn(&[AnyView<'_>]) -> Result<Any, api::Error> + Send + Sync + 'static,
    {
        Self::made(|side| api::Function::from_fn(side, closure))
    }

    /// Makes one of a function that belongs to another side, such as a function of TVM-FFI's
    /// ([`values`](crate::values)).
    #[must_use]
    pub fn of_side(home: HostRef, function: api::Function) -> Self {
        Self::made(move |side| crate::values::across(function, home, side))
    }

    fn made(make: impl FnOnce(HostRef) -> api::Function + Send + 'static) -> Self {
        Self { make: Box::new(make), fingerprint: None, replaces: false }
    }

    /// Sets the text that identifies the function among those of all programs of this user, who
    /// share the compile cache: it differs whenever the function might answer otherwise
    /// (PROGRAM-F4).
    #[must_use]
    pub fn fingerprint(mut self, text: impl Into<String>) -> Self {
        self.fingerprint = Some(text.into());
        self
    }

    /// Lets it replace a function that the program has registered under its name.
    #[must_use]
    pub fn replacing(mut self) -> Self {
        self.replaces = true;
        self
    }
}

impl fmt::Debug for ProgramFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramFunction").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl Host {
    /// Registers a function of the program under a name, as a plugin registers one: for plugins,
    /// for compiled code that calls it by name, and as a hook of code generators, such as
    /// `cuda.postprocess_source` ([`hooks`]).
    ///
    /// # Errors
    ///
    /// `ValueError`: a name that no plugin could register either, or one that the program has
    /// registered already. Nothing is changed then.
    pub fn register_function(&self, name: &str, function: ProgramFunction) -> Result<(), Error> {
        self.0.services.check_process()?;
        let ProgramFunction { make, fingerprint, replaces } = function;
        let (side, registry) = (self.side(), &self.0.registry);
        let mut functions = vec![(name.to_owned(), make(side))];
        let by = hooks::fingerprint_of(name);
        let is_identified = fingerprint.is_some();
        if let Some(text) = fingerprint {
            let answer = move |_: &[AnyView<'_>]| Ok(Str::new(&text).into_any());
            functions.push((by.clone(), api::Function::from_fn(side, answer)));
        }
        registry.program.add(functions, replaces)?;
        if !is_identified && replaces {
            registry.program.remove(&[&by]);
        }
        let hidden = registry.plugins_of(&format!("function.{name}"));
        if !hidden.is_empty() {
            let line = format!(
                "function \"{name}\": the program's takes the place of that of plugin {}",
                hidden.join(", ")
            );
            self.0.services.log(LogLevel::Info, &line);
        }
        Ok(())
    }

    /// Takes back a function of the program, with its fingerprint; returns whether there was one.
    /// Whoever has it keeps it (PROGRAM-F3).
    pub fn unregister_function(&self, name: &str) -> bool {
        self.0.registry.program.remove(&[name, &hooks::fingerprint_of(name)])
    }

    /// Returns the names of the program's functions, in their order.
    #[must_use]
    pub fn registered_functions(&self) -> Vec<String> {
        self.0.registry.program.names()
    }
}
