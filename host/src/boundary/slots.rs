//! The slots of a host on each thread: the error that was raised last, the streams and devices that
//! are active.
//!
//! They are kept for each thread and each host, so two hosts in a process never see each other's.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use chipdock_abi::ChipdockDevice;
use chipdock_plugin_api as api;

use crate::bounds::{self, CAUSES_MAX, MESSAGE_BYTES_MAX, NAME_BYTES_MAX};
use crate::error::{Error, ErrorKind, Fault, Subject};

static NEXT_HOST: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Errors raised on this thread, by host.
    static ERRORS: RefCell<Vec<(u64, Raised)>> = const { RefCell::new(Vec::new()) };
    /// Streams other than the default that are active on this thread, by host and device.
    static STREAMS: RefCell<Vec<(u64, ChipdockDevice, *mut c_void)>> = const { RefCell::new(Vec::new()) };
    /// Devices that compiled code made active on this thread, by host; one for each device type.
    static DEVICES: RefCell<Vec<(u64, ChipdockDevice)>> = const { RefCell::new(Vec::new()) };
    /// Numbers of these entries, for the fast path: in one, as each look costs a call in a library.
    static COUNTS: Counts = const { Counts { errors: Cell::new(0), streams: Cell::new(0), devices: Cell::new(0), recordings: Cell::new(0) } };
}

/// An error that was raised.
struct Raised {
    error: api::Error,
    by: Speaker,
}

/// Whose words an error is.
#[derive(Clone, Copy)]
pub(super) enum Speaker {
    /// This host's.
    Host,
    /// Those of compiled code, or of a library that is no plugin.
    Code,
    /// Those of a plugin, which raised it through its own table.
    Plugin(&'static str),
}

struct Counts {
    errors: Cell<u32>,
    streams: Cell<u32>,
    devices: Cell<u32>,
    /// 1 where the thread records a graph.
    recordings: Cell<u32>,
}

fn count(of: impl FnOnce(&Counts) -> &Cell<u32>) -> u32 {
    COUNTS.with(|counts| of(counts).get())
}

fn set_count(of: impl FnOnce(&Counts) -> &Cell<u32>, count: u32) {
    COUNTS.with(|counts| of(counts).set(count));
}

/// The slots of one host, by its number among the hosts of the process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slots {
    id: u64,
}

impl Slots {
    /// Makes the slots of a new host.
    pub(crate) fn of_new_host() -> Self {
        Self { id: NEXT_HOST.fetch_add(1, Ordering::Relaxed) }
    }

    /// Returns the host's number among the hosts of the process.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Runs code that a plugin or compiled code called (rule HOST-A7). A panic is raised as an
    /// error, and `otherwise` returned.
    pub(crate) fn guarded<R>(&self, what: &str, otherwise: R, body: impl FnOnce() -> R) -> R {
        let done = api::caught(|| {
            #[cfg(test)]
            tests::panic_where_asked(what);
            body()
        });
        done.unwrap_or_else(|text| {
            let message = format!("`{what}` of the host panicked: {text}");
            let error =
                Error::new(ErrorKind::Panic, message).hint("this is a bug of the host; please report it");
            self.raise_own(&error);
            otherwise
        })
    }

    /// Returns true where this thread has no error of any host, no stream but default ones, and no
    /// recording: a call needs neither [`Self::clear_error`] nor [`Self::is_plain`].
    #[inline]
    pub(crate) fn is_quiet() -> bool {
        COUNTS.with(|counts| counts.errors.get() == 0 && counts.streams.get() + counts.recordings.get() == 0)
    }

    /// Returns true where this thread has no stream but default ones, and no recording.
    #[inline]
    pub(crate) fn is_plain() -> bool {
        COUNTS.with(|counts| counts.streams.get() + counts.recordings.get() == 0)
    }

    /// Returns true where this thread records a graph.
    pub(crate) fn is_recording() -> bool {
        count(|counts| &counts.recordings) != 0
    }

    /// Says whether this thread records a graph.
    pub(crate) fn set_recording(is_recording: bool) {
        set_count(|counts| &counts.recordings, u32::from(is_recording));
    }

    /// Drops this thread's error of this host, so that an old one is not taken for the next
    /// failure's.
    pub(crate) fn clear_error(&self) {
        if count(|counts| &counts.errors) != 0 {
            drop(self.take());
        }
    }

    /// Takes this thread's error of this host out of its slot.
    pub(crate) fn take(&self) -> Option<api::Error> {
        self.take_raised().map(|raised| raised.error)
    }

    fn take_raised(&self) -> Option<Raised> {
        let taken = ERRORS.try_with(|errors| {
            let mut errors = errors.borrow_mut();
            let index = errors.iter().position(|(id, _)| *id == self.id)?;
            set_count(|counts| &counts.errors, count(|counts| &counts.errors) - 1);
            Some(errors.swap_remove(index).1)
        });
        taken.ok().flatten()
    }

    /// Raises an error of compiled code, or of a library.
    pub(crate) fn raise(&self, error: api::Error) {
        self.raise_by(error, Speaker::Code);
    }

    pub(super) fn raise_by(&self, error: api::Error, by: Speaker) {
        let error = Raised { error, by };
        // The old error is dropped outside the borrow: its destructor may be foreign code.
        let old = ERRORS.try_with(|errors| {
            let mut errors = errors.borrow_mut();
            match errors.iter_mut().find(|(id, _)| *id == self.id) {
                Some(slot) => Some(std::mem::replace(&mut slot.1, error)),
                None => {
                    errors.push((self.id, error));
                    set_count(|counts| &counts.errors, count(|counts| &counts.errors) + 1);
                    None
                }
            }
        });
        drop(old);
    }

    /// Raises a host's own error, for code that is called through a table.
    pub(crate) fn raise_own(&self, error: &Error) {
        self.raise_by(error.to_api(), Speaker::Host);
    }

    /// As [`Self::raise_own`], for an error that is an object already.
    pub(crate) fn raise_as_host(&self, error: api::Error) {
        self.raise_by(error, Speaker::Host);
    }

    /// Turns the status of a table's function into a result. `what` names the function. An error
    /// that a plugin raised begins with its name (HOST-A10).
    pub(crate) fn check(&self, status: i32, what: impl FnOnce() -> String) -> Result<(), Error> {
        if status == 0 {
            return Ok(());
        }
        match self.take_raised() {
            Some(Raised { error, by }) => {
                let error = from_call(&error, status);
                Err(match by {
                    Speaker::Plugin(plugin) => error.said_by(&format!("plugin \"{plugin}\""), plugin),
                    Speaker::Host | Speaker::Code => error,
                })
            }
            None => Err(Error::new(
                ErrorKind::BrokenPlugin,
                format!("{} returned status {status} and raised no error", what()),
            )
            .hint("report it to the maintainer of the plugin")),
        }
    }

    /// As [`Self::check`], for a call of a function: what compiled code raised begins with the
    /// function's name (HOST-A10).
    pub(crate) fn check_function(&self, status: i32, name: &str, plugin: &str) -> Result<(), Error> {
        let is_code = ERRORS.try_with(|errors| {
            let errors = errors.borrow();
            errors.iter().any(|(id, raised)| *id == self.id && matches!(raised.by, Speaker::Code))
        });
        let checked = self.check(status, || format!("function \"{name}\""));
        checked.map_err(|error| match is_code {
            Ok(true) => error.said_by(&format!("function \"{name}\""), plugin),
            _ => error,
        })
    }

    /// Returns the stream that is active on this thread for a device; null is the default.
    pub(crate) fn current_stream(&self, device: ChipdockDevice) -> *mut c_void {
        if count(|counts| &counts.streams) == 0 {
            return ptr::null_mut();
        }
        let found = STREAMS.try_with(|streams| {
            let streams = streams.borrow();
            let stream = streams.iter().find(|(id, at, _)| *id == self.id && *at == device);
            stream.map_or(ptr::null_mut(), |(_, _, stream)| *stream)
        });
        found.unwrap_or(ptr::null_mut())
    }

    /// Makes a stream active on this thread for a device, and returns the one before.
    pub(crate) fn set_current_stream(&self, device: ChipdockDevice, stream: *mut c_void) -> *mut c_void {
        let before = self.current_stream(device);
        let _ = STREAMS.try_with(|streams| {
            let mut streams = streams.borrow_mut();
            streams.retain(|(id, at, _)| *id != self.id || *at != device);
            if !stream.is_null() {
                streams.push((self.id, device, stream));
            }
            set_count(|counts| &counts.streams, u32::try_from(streams.len()).unwrap_or(u32::MAX));
        });
        before
    }

    /// Returns the streams other than the default that are active on this thread.
    pub(crate) fn current_streams(&self) -> Vec<(ChipdockDevice, *mut c_void)> {
        if count(|counts| &counts.streams) == 0 {
            return Vec::new();
        }
        let found = STREAMS.try_with(|streams| {
            let streams = streams.borrow();
            let own = streams.iter().filter(|(id, _, _)| *id == self.id);
            own.map(|(_, device, stream)| (*device, *stream)).collect()
        });
        found.unwrap_or_default()
    }

    /// Makes a device the active one of its type on this thread.
    pub(crate) fn set_current_device(&self, device: ChipdockDevice) {
        let _ = DEVICES.try_with(|devices| {
            let mut devices = devices.borrow_mut();
            devices.retain(|(id, at)| *id != self.id || at.device_type != device.device_type);
            devices.push((self.id, device));
            set_count(|counts| &counts.devices, u32::try_from(devices.len()).unwrap_or(u32::MAX));
        });
    }

    /// Returns the device of a type that is active on this thread; the first where none was chosen.
    pub(crate) fn current_device(&self, device_type: i32) -> i32 {
        if count(|counts| &counts.devices) == 0 {
            return 0;
        }
        let found = DEVICES.try_with(|devices| {
            let devices = devices.borrow();
            let own = devices.iter().find(|(id, device)| *id == self.id && device.device_type == device_type);
            own.map_or(0, |(_, device)| device.device_id)
        });
        found.unwrap_or(0)
    }

    /// Returns the devices that are active on this thread, one for each type for which one was
    /// chosen.
    pub(crate) fn current_devices(&self) -> Vec<ChipdockDevice> {
        if count(|counts| &counts.devices) == 0 {
            return Vec::new();
        }
        let found = DEVICES.try_with(|devices| {
            let devices = devices.borrow();
            devices.iter().filter(|(id, _)| *id == self.id).map(|(_, device)| *device).collect()
        });
        found.unwrap_or_default()
    }
}

/// Converts an error of the plugin layer to the host's.
pub(crate) fn from_api(error: &api::Error) -> Error {
    from_call(error, error.kind().status())
}

/// Converts a plugin's error to the host's, with the status of the call that raised it.
fn from_call(error: &api::Error, status: i32) -> Error {
    let mut message = bounds::cut(&error.message(), MESSAGE_BYTES_MAX);
    let mut cause = error.cause();
    for _ in 0..CAUSES_MAX {
        let Some(inner) = cause else { break };
        let kind = bounds::cut(inner.kind().as_str(), NAME_BYTES_MAX);
        message += &format!("; caused by {kind}: {}", bounds::cut(&inner.message(), MESSAGE_BYTES_MAX));
        cause = inner.cause();
    }
    let kind = bounds::cut(error.kind().as_str(), NAME_BYTES_MAX);
    let message = bounds::cut(&message, MESSAGE_BYTES_MAX);
    let error = Error::with_status(ErrorKind::new(kind), message, status);
    match error.fault() {
        // The plugin that raised it declares itself at fault.
        Fault::Bug => error.about(Subject::Plugin),
        Fault::Caller | Fault::Environment => error,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// The callback that panics on this thread.
        static PANICS: Cell<Option<&'static str>> = const { Cell::new(None) };
    }

    /// Makes the callback of that name panic on this thread; with `None`, no one does.
    pub(crate) fn ask_for_panic(what: Option<&'static str>) {
        PANICS.set(what);
    }

    /// Panics where a test asked for it: within the guard of that callback.
    pub(super) fn panic_where_asked(what: &str) {
        if PANICS.get() == Some(what) {
            panic!("as asked");
        }
    }
}
