//! Tables lent to a plugin for one call: a build session, a registrar (rule HOST-A6).
//!
//! A plugin may keep the table that it was given, or the `self_` in it, and use it later or from
//! another thread. So a `self_` is a number and never dereferenced: the host's number in the high
//! bits, then one that no other loan had. The loan is looked up by it, and is there while the call
//! lasts. The memory of a table is not freed: it is reused only after [`RESTING_MAX`] further loans
//! of its host. So code that kept the pointer reads valid memory, and gets an error that the loan
//! is over; and a host that lends all day holds that many tables and no more.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use chipdock_abi::{
    CHIPDOCK_BROKEN_PLUGIN, CHIPDOCK_INVALID_ARGUMENT, ChipdockBuildSession, ChipdockRegistrar,
};
use chipdock_plugin_api::kit::PerProcess;

use crate::boundary::services::Services;
use crate::error::{Error, ErrorKind};
use crate::options::LogLevel;

/// Number of tables that rest after a loan: some ten KiB for each host.
const RESTING_MAX: usize = 256;
/// Number of bits of a `self_` that count loans: at one loan each microsecond they last for twelve
/// days.
const LOAN_BITS: u32 = 40;

/// Hosts by their number in a `self_`. Services live as long as the process.
static HOSTS: PerProcess<RwLock<Hosts>> = PerProcess::new(|ancestors: Option<&RwLock<Hosts>>| {
    let known = ancestors.and_then(|hosts| hosts.try_read().ok().map(|hosts| hosts.clone()));
    RwLock::new(known.unwrap_or_default())
});
static NEXT_LOAN: AtomicU64 = AtomicU64::new(1);

/// Hosts by the part of their number that a `self_` has.
type Hosts = BTreeMap<u64, &'static Services>;

/// Registers a host, so that its loans are found by their `self_`.
pub(crate) fn enlist(services: &'static Services) {
    HOSTS
        .of_this()
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(host_bits(services.id()), services);
}

fn host_bits(id: u64) -> u64 {
    id & ((1 << (u64::BITS - LOAN_BITS)) - 1)
}

/// A table that can be lent: its first field is its `self_`.
///
/// # Safety
///
/// The type is `#[repr(C)]`, begins with `self_`, and the rest is function pointers.
pub(crate) unsafe trait LentTable: Copy + 'static {
    /// Word for the loan in messages.
    const WHAT: &'static str;
}

// SAFETY: `self_` first, then functions (chipdock-abi's layouts assert it).
unsafe impl LentTable for ChipdockBuildSession {
    const WHAT: &'static str = "a build session";
}
// SAFETY: `self_` first, then functions (chipdock-abi's layouts assert it).
unsafe impl LentTable for ChipdockRegistrar {
    const WHAT: &'static str = "a registrar";
}

/// A leaked table.
struct Table<T>(NonNull<T>);

// SAFETY: the memory is never freed, and changed by atomic stores alone.
unsafe impl<T> Send for Table<T> {}

/// The loans of one table type of a host.
pub(crate) struct Lent<V, T> {
    state: Mutex<State<V, T>>,
}

struct State<V, T> {
    open: BTreeMap<u64, Arc<V>>,
    resting: VecDeque<Table<T>>,
    /// Whether a use after the call was logged: one line is enough.
    has_warned: bool,
}

impl<V, T> Default for Lent<V, T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State { open: BTreeMap::new(), resting: VecDeque::new(), has_warned: false }),
        }
    }
}

/// A loan, which ends when this is dropped.
pub(crate) struct Loan<'a, V, T: LentTable> {
    lent: &'a Lent<V, T>,
    number: u64,
    table: NonNull<T>,
}

impl<V, T: LentTable> Lent<V, T> {
    fn lock(&self) -> MutexGuard<'_, State<V, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends `value` through the table that `make` makes of a `self_`.
    pub(crate) fn lend(
        &self,
        services: &Services,
        value: Arc<V>,
        make: impl FnOnce(*mut c_void) -> T,
    ) -> Loan<'_, V, T> {
        let own = NEXT_LOAN.fetch_add(1, Ordering::Relaxed) & ((1 << LOAN_BITS) - 1);
        let number = host_bits(services.id()) << LOAN_BITS | own;
        let self_: *mut c_void = ptr::without_provenance_mut(number as usize);
        let mut state = self.lock();
        let rested = if state.resting.len() < RESTING_MAX { None } else { state.resting.pop_front() };
        let table = match rested {
            Some(Table(table)) => {
                // SAFETY: leaked, begins with `self_`, and code that kept the pointer reads that as
                // one word.
                unsafe { AtomicPtr::from_ptr(table.as_ptr().cast::<*mut c_void>()) }
                    .store(self_, Ordering::Release);
                table
            }
            None => NonNull::from(Box::leak(Box::new(make(self_)))),
        };
        state.open.insert(number, value);
        Loan { lent: self, number, table }
    }

    /// Returns the lent value of a `self_` while its call lasts; otherwise raises an error and
    /// returns the status.
    pub(crate) fn get(&self, services: &Services, self_: *mut c_void) -> Result<Arc<V>, i32> {
        let mut state = self.lock();
        if let Some(value) = state.open.get(&(self_.addr() as u64)) {
            return Ok(Arc::clone(value));
        }
        let has_warned = std::mem::replace(&mut state.has_warned, true);
        drop(state);
        let message = format!("{} was used after its call; it is for the call alone", T::WHAT);
        if !has_warned {
            services.log(LogLevel::Warning, &message);
        }
        services.raise_own(&Error::new(ErrorKind::BrokenPlugin, message));
        Err(CHIPDOCK_BROKEN_PLUGIN)
    }
}

/// Returns the host that made a `self_`; without one no error can be raised, and the status is
/// returned.
pub(crate) fn host_of(self_: *mut c_void) -> Result<&'static Services, i32> {
    let hosts = HOSTS.of_this().read().unwrap_or_else(PoisonError::into_inner);
    hosts.get(&(self_.addr() as u64 >> LOAN_BITS)).copied().ok_or(CHIPDOCK_INVALID_ARGUMENT)
}

impl<V, T: LentTable> Loan<'_, V, T> {
    /// Returns the table that is given to the plugin.
    pub(crate) fn table(&self) -> *const T {
        self.table.as_ptr()
    }
}

impl<V, T: LentTable> Drop for Loan<'_, V, T> {
    fn drop(&mut self) {
        let mut state = self.lent.lock();
        // Dropped outside of the lock: a value's destructor may be a plugin's.
        let value = state.open.remove(&self.number);
        state.resting.push_back(Table(self.table));
        drop(state);
        drop(value);
    }
}
