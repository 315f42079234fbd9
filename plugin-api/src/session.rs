//! The registered objects of a plugin for one host, from `init` to `shutdown`.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use chipdock_abi::CHIPDOCK_INVALID_ARGUMENT;

use crate::{Context, DeviceApi, Error, ErrorKind, HostRef, trampoline};

/// The bit of [`Session::state`] that is set when the plugin was shut down for the host; the other
/// bits count running calls.
const CLOSED: u64 = 1 << 63;
const DRAIN_POLL: Duration = Duration::from_micros(200);
const DRAIN_DEADLINE: Duration = Duration::from_secs(10);

/// The state between one `init` and its `shutdown`: the plugin's context for that host, whether it
/// is closed, and the devices to drain. The instance that `init` returns is one reference to it,
/// and each registered `self_` another.
pub(crate) struct Session {
    context: Context,
    plugin: &'static str,
    state: AtomicU64,
    devices: Mutex<Vec<Weak<dyn DeviceApi>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under these locks is one push or one drain, so a panic elsewhere leaves nothing
    // half-done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Decrements the count of running calls when it is dropped, also when the call panics.
struct Running<'a>(&'a AtomicU64);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl Session {
    pub(crate) fn open(host: HostRef, plugin: &'static str) -> Arc<Self> {
        let (context, devices) = (Context::new(host), Mutex::default());
        Arc::new(Self { context, plugin, state: AtomicU64::new(0), devices })
    }

    pub(crate) fn host(&self) -> HostRef {
        self.context.host()
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn drain_at_shutdown(&self, device: &Arc<dyn DeviceApi>) {
        lock(&self.devices).push(Arc::downgrade(device));
    }

    /// Runs a call of this session, or returns `Unavailable` after `shutdown` (P10.5).
    pub(crate) fn run<R>(&self, body: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        let before = self.state.fetch_add(1, Ordering::Acquire);
        let _running = Running(&self.state);
        if before & CLOSED != 0 {
            return Err(Error::new(
                ErrorKind::UNAVAILABLE,
                format!("the plugin `{}` was shut down for this host: load it with a new host", self.plugin),
            ));
        }
        body()
    }

    /// Ends a session whose `init` failed: the host destroys what was registered and never calls it
    /// (P5.4).
    pub(crate) fn abandon(&self) {
        self.state.fetch_or(CLOSED, Ordering::AcqRel);
    }

    /// Closes the session, waits for the calls that are running, then drains the devices; returns
    /// the first failure.
    pub(crate) fn close(&self) -> Result<(), Error> {
        self.state.fetch_or(CLOSED, Ordering::AcqRel);
        let deadline = Instant::now() + DRAIN_DEADLINE;
        loop {
            let running = self.state.load(Ordering::Acquire) & !CLOSED;
            if running == 0 {
                break;
            }
            crate::ensure!(
                Instant::now() < deadline,
                ErrorKind::WRONG_STATE,
                "{running} calls of the plugin `{}` are still running after {} s: wait for them before shutdown",
                self.plugin,
                DRAIN_DEADLINE.as_secs()
            );
            std::thread::sleep(DRAIN_POLL);
        }
        let devices = core::mem::take(&mut *lock(&self.devices));
        let mut first = Ok(());
        for device in devices.iter().filter_map(Weak::upgrade) {
            let drained = device.shutdown();
            if first.is_ok() {
                first = drained;
            }
        }
        first
    }
}

/// The target of a table's `self_`: the registered value and the session to which it belongs.
pub(crate) struct Registered<T: ?Sized> {
    session: Arc<Session>,
    value: Arc<T>,
}

impl<T: ?Sized> Registered<T> {
    pub(crate) fn into_raw(session: &Arc<Session>, value: Arc<T>) -> *mut c_void {
        Box::into_raw(Box::new(Self { session: Arc::clone(session), value })).cast()
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(crate) fn value(&self) -> &T {
        &self.value
    }

    /// Returns the registered object that a `self_` points to.
    ///
    /// # Safety
    ///
    /// * `self_` is null or came from [`Self::into_raw`], lives for `'a`, and is not destroyed yet.
    pub(crate) unsafe fn from_raw<'a>(self_: *mut c_void) -> Option<&'a Self> {
        // SAFETY: `self_` is null or came from `into_raw` and lives for `'a`, as this function
        // requires.
        unsafe { self_.cast::<Self>().as_ref() }
    }

    /// Runs one call of a table.
    ///
    /// # Safety
    ///
    /// * As for [`Self::from_raw`].
    pub(crate) unsafe fn enter(self_: *mut c_void, body: impl FnOnce(&T) -> Result<(), Error>) -> i32 {
        // SAFETY: `self_` is null or registered and not destroyed, as this function requires.
        unsafe { Self::enter_registered(self_, |registered| body(&registered.value)) }
    }

    /// Runs one call of a table that needs its session too.
    ///
    /// # Safety
    ///
    /// * As for [`Self::from_raw`].
    pub(crate) unsafe fn enter_registered(
        self_: *mut c_void,
        body: impl FnOnce(&Self) -> Result<(), Error>,
    ) -> i32 {
        // SAFETY: `self_` is null or registered and not destroyed, as this function requires.
        let Some(registered) = (unsafe { Self::from_raw(self_) }) else {
            // Without a self there is no host to raise an error with.
            return CHIPDOCK_INVALID_ARGUMENT;
        };
        trampoline::guard(registered.session.host(), || registered.session.run(|| body(registered)))
    }

    /// Releases a `self_`.
    ///
    /// # Safety
    ///
    /// * `self_` is null or came from [`Self::into_raw`] and is not used any more.
    pub(crate) unsafe fn destroy(self_: *mut c_void) {
        if !self_.is_null() {
            // SAFETY: `self_` came from `into_raw` and is not used afterwards, as this function
            // requires.
            trampoline::guard_release(|| drop(unsafe { Box::from_raw(self_.cast::<Self>()) }));
        }
    }
}
