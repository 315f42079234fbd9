//! A plugin's context for one host.

use core::any::{Any as Erased, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::HostRef;

/// A plugin's own state for one host: made on first use for that host, and shared by all objects of
/// that host.
///
/// It belongs to the instance that `init` returned (P10.13), so that no plugin needs a table of
/// hosts (P10.4).
pub trait HostState: Send + Sync + 'static {
    /// Makes the state of one host. This mostly runs during `init`: it opens nothing, starts no
    /// thread, and asks the host for no function (P10.3).
    fn new(host: HostRef) -> Self;
}

/// The context of a plugin's factories and functions: their host, and the plugin's state for it.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicI64, Ordering};
///
/// use chipdock_plugin_api::{Any, AnyView, Context, Error, HostRef, HostState, register_function};
///
/// struct Calls(AtomicI64);
///
/// impl HostState for Calls {
///     fn new(_host: HostRef) -> Self {
///         Self(AtomicI64::new(0))
///     }
/// }
///
/// register_function!("example.calls", |context: &Context, _args: &[AnyView<'_>]| -> Result<Any, Error> {
///     Ok(Any::from(context.state::<Calls>().0.fetch_add(1, Ordering::Relaxed) + 1))
/// });
/// let context = Context::new(HostRef::standalone());
/// assert!(std::sync::Arc::ptr_eq(&context.state::<Calls>(), &context.state::<Calls>()));
/// ```
pub struct Context {
    host: HostRef,
    states: Mutex<HashMap<TypeId, Arc<dyn Erased + Send + Sync>>>,
}

impl core::fmt::Debug for Context {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Context").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Context {
    /// Makes a separate context, without any state yet. For tests: a plugin receives its context.
    #[must_use]
    pub fn new(host: HostRef) -> Self {
        Self { host, states: Mutex::default() }
    }

    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> HostRef {
        self.host
    }

    /// Returns the plugin's state of that type, which is the same for all objects of one host.
    #[must_use]
    pub fn state<T: HostState>(&self) -> Arc<T> {
        let find = || {
            let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
            states.get(&TypeId::of::<T>()).cloned()
        };
        if let Some(Ok(found)) = find().map(Arc::downcast::<T>) {
            return found;
        }
        // Not made under the lock: `T::new` is the plugin's code and may ask for another state. If
        // two threads make one at once, the one that is stored first stays.
        let made = Arc::new(T::new(self.host));
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = states.entry(TypeId::of::<T>()).or_insert_with(|| Arc::clone(&made) as _);
        Arc::clone(kept).downcast::<T>().unwrap_or(made)
    }
}
