//! What one host gives to code that calls it, as long as the process lives: a plugin may hold its
//! table for that long.
//!
//! Each part is a type of its own, and whoever needs one part takes that one: [`Slots`], [`Log`],
//! [`HostProcess`], [`Loans`], [`Settings`], [`Threads`].

use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

use chipdock_abi::ChipdockHost;
use chipdock_plugin_api as api;

use crate::boundary::host_calls::HostCalls;
use crate::boundary::lent::Loans;
use crate::boundary::slots::Slots;
pub(crate) use crate::boundary::slots::from_api;
use crate::error::{Error, ErrorKind};
use crate::log::{Log, LogLevel, LogSink};
use crate::open::settings::Settings;
use crate::process::HostProcess;
use crate::runtime::{OnAsk, Threads};

/// One host's services. Leaked: it lives as long as the process.
pub(crate) struct Services {
    /// Errors, streams and devices of each thread.
    pub(crate) slots: Slots,
    pub(crate) log: &'static Log,
    pub(crate) process: HostProcess,
    /// Build sessions and registrars that are currently lent to plugins.
    pub(crate) loans: &'static Loans,
    /// Threads for parallel loops.
    pub(crate) threads: Threads,
    /// Asked while calls take long.
    on_ask: OnceLock<OnAsk>,
    /// Emptied when the host is closed: they hold a copy of the environment.
    settings: RwLock<Arc<Settings>>,
    host: OnceLock<Weak<dyn HostCalls>>,
    /// Table for the host's own plugin.
    pub(super) own: OnceLock<&'static ChipdockHost>,
}

impl Services {
    /// Makes the services of a host. `threads` is the number of threads for parallel loops; `None`
    /// is automatic.
    pub(crate) fn leaked(sink: LogSink, threads: Option<u32>) -> &'static Self {
        let (slots, log, process) = (Slots::of_new_host(), Log::leaked(sink), HostProcess::this());
        Box::leak(Box::new(Self {
            slots,
            log,
            process,
            loans: Loans::leaked(slots, log),
            threads: Threads::new(threads),
            on_ask: OnceLock::new(),
            settings: RwLock::default(),
            host: OnceLock::new(),
            own: OnceLock::new(),
        }))
    }

    /// Lets tables reach the host. Called once, when it is made.
    pub(crate) fn connect(&self, host: Weak<dyn HostCalls>) {
        let _ = self.host.set(host);
    }

    /// Has the program asked while calls take long. Called once, when the host is made.
    pub(crate) fn ask_by(&self, on_ask: OnAsk) {
        let _ = self.on_ask.set(on_ask);
    }

    /// Returns what is asked while calls take long.
    pub(crate) fn on_ask(&self) -> Option<&OnAsk> {
        self.on_ask.get()
    }

    /// Returns the host while it lives.
    pub(crate) fn host(&self) -> Option<Arc<dyn HostCalls>> {
        self.host.get()?.upgrade()
    }

    /// Returns the host, or an error once it has been shut down.
    pub(crate) fn live(&self) -> Result<Arc<dyn HostCalls>, Error> {
        self.host().ok_or_else(|| Error::new(ErrorKind::Unavailable, "the host has been shut down"))
    }

    /// Sets the settings of this host's plugins, when the host is made, and when it is closed.
    pub(crate) fn decide(&self, settings: Settings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    /// Returns the settings of this host's plugins: their defaults where none were set, and after
    /// its end.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns what an instance of a plugin takes of them.
    pub(crate) fn of_instances(&self) -> (Slots, &'static Log) {
        (self.slots, self.log)
    }

    /// Refuses a forked child.
    pub(crate) fn check_process(&self) -> Result<(), Error> {
        self.process.check()
    }

    /// Sends a line to the log.
    pub(crate) fn log(&self, level: LogLevel, line: &str) {
        self.log.write(level, line);
    }

    /// As [`Slots::guarded`].
    pub(crate) fn guarded<R>(&self, what: &str, otherwise: R, body: impl FnOnce() -> R) -> R {
        self.slots.guarded(what, otherwise, body)
    }

    /// As [`Slots::clear_error`].
    pub(crate) fn clear_error(&self) {
        self.slots.clear_error();
    }

    /// As [`Slots::take`].
    pub(crate) fn take(&self) -> Option<api::Error> {
        self.slots.take()
    }

    /// As [`Slots::raise`].
    pub(crate) fn raise(&self, error: api::Error) {
        self.slots.raise(error);
    }

    /// As [`Slots::raise_own`].
    pub(crate) fn raise_own(&self, error: &Error) {
        self.slots.raise_own(error);
    }

    /// As [`Slots::check`].
    pub(crate) fn check(&self, status: i32, what: impl FnOnce() -> String) -> Result<(), Error> {
        self.slots.check(status, what)
    }
}

#[cfg(test)]
mod tests;
