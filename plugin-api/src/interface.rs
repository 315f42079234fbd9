//! Safe traits for named interfaces, and their shims.

use core::ffi::c_void;
use core::marker::PhantomData;
use std::sync::Arc;

use chipdock_abi::{ChipdockDeleter, ChipdockInterface, ChipdockReset1};

use crate::session::{Registered, Session};
use crate::{Error, ErrorKind, HostRef, LogLevel};

/// A named interface of a plugin: its name, its version, and the table whose functions work on a
/// `T`.
///
/// The interfaces that Chipdock specifies are constants ([`RESET`], [`crate::timer::TIMER`],
/// [`crate::timeline::TIMELINE`], [`crate::graph::GRAPH`], [`crate::external::EXTERNAL`],
/// [`crate::map::MAP`], [`crate::object_code::OBJECT`]). A vendor makes one of its own from the
/// table that belongs to its name and version; a host that does not know it ignores it (P3.5). The
/// table's functions go through [`enter`], and so have the same guards as those of the frozen
/// tables.
pub struct InterfaceKind<T: ?Sized + 'static> {
    name: &'static str,
    version: u32,
    table: *const c_void,
    table_size_bytes: u64,
    _works_on: PhantomData<fn(&T)>,
}

// SAFETY: a name, and a static table of functions that may be called from any thread.
unsafe impl<T: ?Sized> Sync for InterfaceKind<T> {}
// SAFETY: a name, and a static table of functions that may be called from any thread.
unsafe impl<T: ?Sized> Send for InterfaceKind<T> {}

impl<T: ?Sized + Send + Sync + 'static> InterfaceKind<T> {
    /// Makes an interface from its table.
    ///
    /// # Safety
    ///
    /// * `Table` is the `#[repr(C)]` struct that belongs to name and version, with function
    ///   pointers only (P3.11).
    /// * Its functions pass their `self_`, which belongs to a `T`, to [`enter`], and may be called
    ///   from any thread.
    #[must_use]
    pub const unsafe fn new<Table>(name: &'static str, version: u32, table: &'static Table) -> Self {
        let table_size_bytes = size_of::<Table>() as u64;
        Self {
            name,
            version,
            table: core::ptr::from_ref(table).cast(),
            table_size_bytes,
            _works_on: PhantomData,
        }
    }

    /// Returns true if the interface's name and version match those of a `query`.
    #[must_use]
    pub fn is(&self, name: &str, version: u32) -> bool {
        (self.name, self.version) == (name, version)
    }

    /// Returns the interface's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the interface's version.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Makes the interface of `value`.
    #[must_use]
    pub fn of(&self, value: Box<T>) -> Interface {
        self.of_shared(Arc::from(value))
    }

    /// Makes the interface of a value that is shared with other owners.
    #[must_use]
    pub fn of_shared(&self, value: Arc<T>) -> Interface {
        let (table, table_size_bytes) = (self.table, self.table_size_bytes);
        Interface {
            into_raw: Box::new(move |session| {
                let self_ = Registered::into_raw(session, value);
                ChipdockInterface { self_, table, table_size_bytes, features: 0 }
            }),
            deleter: ChipdockDeleter(delete::<T>),
        }
    }
}

/// Makes an interface's `self_` for one host.
type IntoRaw = dyn FnOnce(&Arc<Session>) -> ChipdockInterface;

/// An interface that is ready to be passed to the host, made by [`InterfaceKind::of`].
pub struct Interface {
    into_raw: Box<IntoRaw>,
    deleter: ChipdockDeleter,
}

impl Interface {
    pub(crate) fn into_raw(
        self,
        session: &Arc<Session>,
        features: u64,
    ) -> (ChipdockInterface, ChipdockDeleter) {
        (ChipdockInterface { features, ..(self.into_raw)(session) }, self.deleter)
    }
}

/// An interface that was passed to the host; its `self_` is released when this is dropped.
pub(crate) struct HandedOut {
    raw: ChipdockInterface,
    deleter: ChipdockDeleter,
}

impl HandedOut {
    pub(crate) fn new(interface: Interface, session: &Arc<Session>) -> Self {
        let (raw, deleter) = interface.into_raw(session, 0);
        Self { raw, deleter }
    }

    pub(crate) fn raw(&self) -> ChipdockInterface {
        self.raw
    }
}

impl Drop for HandedOut {
    fn drop(&mut self) {
        // SAFETY: called once, with the `self_` to which it belongs.
        unsafe { (self.deleter.0)(self.raw.self_) };
    }
}

/// Returns the table in the answer to a `query` and its `self_`, or `None` if there is no such
/// interface.
///
/// # Errors
///
/// `BrokenPlugin`: the answer is no table of that size.
///
/// # Safety
///
/// * P3.12: `found` was written by a `query` for the name and version to which `Table` belongs, and
///   lives for `'a`.
pub(crate) unsafe fn table_of<'a, Table: Copy + 'static>(
    found: &ChipdockInterface,
    name: &str,
    version: u32,
) -> Result<Option<(&'a Table, *mut c_void)>, Error> {
    let table = found.table.cast::<Table>();
    if table.is_null() {
        return Ok(None);
    }
    let expected = size_of::<Table>() as u64;
    crate::ensure!(
        found.table_size_bytes == expected && table.is_aligned(),
        ErrorKind::BROKEN_PLUGIN,
        "the host's interface `{name}` {version}: expected a table of {expected} bytes, found one of {} at {table:p}",
        found.table_size_bytes
    );
    // SAFETY: not null, aligned and of that size; the caller guarantees that it lives for `'a`.
    Ok(Some((unsafe { &*table }, found.self_)))
}

unsafe extern "C" fn delete<T: ?Sized + Send + Sync + 'static>(self_: *mut c_void) {
    // SAFETY: P3.13, called once, last.
    unsafe { Registered::<T>::destroy(self_) };
}

/// Runs one call of an interface's table: panics are caught, and after `shutdown` the answer is
/// `Unavailable`.
///
/// # Safety
///
/// * `self_` is null, or that of an interface of this `T` whose deleter was not called yet.
pub unsafe fn enter<T: ?Sized + Send + Sync + 'static>(
    self_: *mut c_void,
    body: impl FnOnce(&T) -> Result<(), Error>,
) -> i32 {
    // SAFETY: `self_` is null or of a live interface of this `T`, as this function requires.
    unsafe { Registered::<T>::enter(self_, body) }
}

/// Refuses a null place for a result before anything is made that could not be returned (P7.8).
pub(crate) fn check_place<T>(out: *mut T) -> Result<(), Error> {
    crate::ensure!(
        !out.is_null(),
        ErrorKind::VALUE_ERROR,
        "the place for the result is null: pass a valid pointer"
    );
    Ok(())
}

/// Refuses a null handle where a handle is required (D.2).
pub(crate) fn check_handle(handle: *mut c_void, what: &str) -> Result<(), Error> {
    crate::ensure!(!handle.is_null(), ErrorKind::VALUE_ERROR, "{what} is null: pass one that lives");
    Ok(())
}

/// Interface `reset` 1 of a device API: opens lost devices again.
pub trait Reset: Send + Sync + 'static {
    /// Opens a lost device again (D.40); changes nothing on a device that is not lost.
    ///
    /// # Errors
    ///
    /// * `ValueError`: there is no such device.
    /// * `DeviceLost`: the device cannot be opened again; the message states what can be done.
    fn reset(&self, device_id: i32) -> Result<(), Error>;
}

unsafe extern "C" fn reset(self_: *mut c_void, device_id: i32) -> i32 {
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Reset>(self_, |device| device.reset(device_id)) }
}

static RESET_TABLE: ChipdockReset1 = ChipdockReset1 { reset };

/// Interface `reset` 1 of a device API.
// SAFETY: the table of that name and version, whose function goes through `enter`.
pub const RESET: InterfaceKind<dyn Reset> = unsafe { InterfaceKind::new("reset", 1, &RESET_TABLE) };

/// Name and version of the interface that only a host that runs the conformance suite has.
pub(crate) const CONFORMANCE: (&str, u32) = ("conformance", 1);

/// Returns true if the host runs the conformance suite, so that test hooks are to be registered.
pub(crate) fn wants_hooks(host: HostRef) -> bool {
    let (name, version) = CONFORMANCE;
    match host.query::<chipdock_abi::ChipdockConformance1>(name, version) {
        // SAFETY: P3.11, the table of that name and version with its `self_`.
        Ok(Some((table, self_))) => unsafe { (table.wants_hooks)(self_) != 0 },
        Ok(None) => false,
        Err(error) => {
            host.log(LogLevel::Warning, &format!("test hooks are left out: {}", error.message()));
            false
        }
    }
}
