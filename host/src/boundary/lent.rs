//! Tables lent to a plugin for one call: a build session, a registrar (rule HOST-A6).
//!
//! A plugin may keep the table that it was given, or the `self_` in it, and use it later or from
//! another thread. So a `self_` is a number and never dereferenced: the host's number in the high
//! bits, then one that no other loan had. The loan is looked up by it, and is there while the call
//! lasts. The memory of a table is not freed: it is reused only after [`RESTING_MAX`] further loans
//! of its host. So code that kept the pointer reads valid memory, and gets an error that the loan
//! is over; and a host that lends all day holds that many tables and no more.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use chipdock_abi::{
    CHIPDOCK_BROKEN_PLUGIN, CHIPDOCK_INVALID_ARGUMENT, CHIPDOCK_PANIC, ChipdockBuildSession,
    ChipdockRegistrar,
};
use chipdock_plugin_api::kit::PerProcess;

use crate::boundary::slots::Slots;
use crate::error::{Error, ErrorKind};
use crate::log::{Log, LogLevel};

/// Number of tables that rest after a loan: some ten KiB for each host.
const RESTING_MAX: usize = 256;
/// Number of bits of a `self_` that count loans: at one loan each microsecond they last for twelve
/// days.
const LOAN_BITS: u32 = 40;

/// Hosts by their number in a `self_`.
static HOSTS: PerProcess<RwLock<Hosts>> = PerProcess::new(|ancestors: Option<&RwLock<Hosts>>| {
    let known = ancestors.and_then(|hosts| hosts.try_read().ok().map(|hosts| hosts.clone()));
    RwLock::new(known.unwrap_or_default())
});
static NEXT_LOAN: AtomicU64 = AtomicU64::new(1);

/// The loans of hosts, by the part of a host's number that a `self_` has.
type Hosts = BTreeMap<u64, &'static Loans>;

/// The loans of one host. Leaked: a plugin may use a `self_` at any time.
pub(crate) struct Loans {
    pub(crate) slots: Slots,
    log: &'static Log,
    pub(crate) sessions: Lent<ChipdockBuildSession>,
    pub(crate) registrars: Lent<ChipdockRegistrar>,
}

impl Loans {
    /// Makes the loans of a host, which are found by their `self_`.
    pub(crate) fn leaked(slots: Slots, log: &'static Log) -> &'static Self {
        let (sessions, registrars) = (Lent::of(slots), Lent::of(slots));
        let loans: &'static Self = Box::leak(Box::new(Self { slots, log, sessions, registrars }));
        let mut hosts = HOSTS.of_this().write().unwrap_or_else(PoisonError::into_inner);
        hosts.insert(host_bits(slots.id()), loans);
        loans
    }
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

/// The loans of one table type of a host. All lend values of one type, which their code alone
/// knows.
pub(crate) struct Lent<T> {
    slots: Slots,
    state: Mutex<State<T>>,
}

struct State<T> {
    open: BTreeMap<u64, Arc<dyn Any + Send + Sync>>,
    resting: VecDeque<Table<T>>,
    /// Whether a use after the call was logged: one line is enough.
    has_warned: bool,
}

/// A loan, which ends when this is dropped.
pub(crate) struct Loan<'a, T: LentTable> {
    lent: &'a Lent<T>,
    number: u64,
    table: NonNull<T>,
}

impl<T: LentTable> Lent<T> {
    fn of(slots: Slots) -> Self {
        let state = State { open: BTreeMap::new(), resting: VecDeque::new(), has_warned: false };
        Self { slots, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends `value` through the table that `make` makes of a `self_`.
    pub(crate) fn lend(
        &self,
        value: Arc<dyn Any + Send + Sync>,
        make: impl FnOnce(*mut c_void) -> T,
    ) -> Loan<'_, T> {
        let own = NEXT_LOAN.fetch_add(1, Ordering::Relaxed) & ((1 << LOAN_BITS) - 1);
        let number = host_bits(self.slots.id()) << LOAN_BITS | own;
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
    fn get<V: Send + Sync + 'static>(&self, log: &Log, self_: *mut c_void) -> Result<Arc<V>, i32> {
        let mut state = self.lock();
        let open = state.open.get(&(self_.addr() as u64)).map(Arc::clone);
        if let Some(Ok(value)) = open.map(Arc::downcast::<V>) {
            return Ok(value);
        }
        let has_warned = std::mem::replace(&mut state.has_warned, true);
        drop(state);
        let message = format!("{} was used after its call; it is for the call alone", T::WHAT);
        if !has_warned {
            log.write(LogLevel::Warning, &message);
        }
        self.slots.raise_own(&Error::new(ErrorKind::BrokenPlugin, message));
        Err(CHIPDOCK_BROKEN_PLUGIN)
    }
}

/// Calls `body` with the value of type `V` that was lent by a `self_`, guarded as `what`. An
/// unknown `self_` is a status without an error, because no host can raise one.
pub(crate) fn enter<V: Send + Sync + 'static, T: LentTable>(
    self_: *mut c_void,
    what: &str,
    of: impl FnOnce(&'static Loans) -> &'static Lent<T>,
    body: impl FnOnce(&V) -> i32,
) -> i32 {
    let loans = match loans_of(self_) {
        Ok(loans) => loans,
        Err(status) => return status,
    };
    loans.slots.guarded(what, CHIPDOCK_PANIC, || match of(loans).get::<V>(loans.log, self_) {
        Ok(value) => body(&value),
        Err(status) => status,
    })
}

/// Returns the loans of the host that made a `self_`.
fn loans_of(self_: *mut c_void) -> Result<&'static Loans, i32> {
    let hosts = HOSTS.of_this().read().unwrap_or_else(PoisonError::into_inner);
    hosts.get(&(self_.addr() as u64 >> LOAN_BITS)).copied().ok_or(CHIPDOCK_INVALID_ARGUMENT)
}

impl<T: LentTable> Loan<'_, T> {
    /// Returns the table that is given to the plugin.
    pub(crate) fn table(&self) -> *const T {
        self.table.as_ptr()
    }
}

impl<T: LentTable> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        let mut state = self.lent.lock();
        // Dropped outside of the lock: a value's destructor may be a plugin's.
        let value = state.open.remove(&self.number);
        state.resting.push_back(Table(self.table));
        drop(state);
        drop(value);
    }
}
