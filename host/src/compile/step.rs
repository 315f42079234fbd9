//! Steps that code generators say their builds are at (COMPILE-C10).

use std::fmt;
use std::sync::Arc;

/// A step of a build, as its code generator words it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildStep<'a> {
    /// The plugin whose words they are.
    pub plugin: &'a str,
    /// The target kind for which it builds.
    pub target: &'a str,
    /// What begins now, one line: `optimise`.
    pub text: &'a str,
}

type Listener = dyn Fn(&BuildStep<'_>) + Send + Sync;

/// A function that is called with each step of a build, from any thread, while the build runs.
///
/// # Examples
///
/// ```
/// use chipdock_host::{CompileOptions, OnStep};
///
/// let show = OnStep::new(|step| eprintln!("{}: {}", step.target, step.text));
/// let options = CompileOptions { on_step: Some(show), ..CompileOptions::default() };
/// ```
#[derive(Clone)]
pub struct OnStep(Arc<Listener>);

impl OnStep {
    /// Makes a listener of a function. The build waits for it.
    pub fn new(function: impl Fn(&BuildStep<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Calls the function.
    pub(crate) fn call(&self, step: &BuildStep<'_>) {
        (self.0)(step);
    }
}

impl fmt::Debug for OnStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnStep")
    }
}
