//! A plugin's instance for this host, from `init` to `release` (P10.13, P10.14).
//!
//! Everything that a plugin registered, and every module that its loaders made, holds its
//! [`Instance`]. So `release` is called after the last of them was destroyed, whoever kept it: a
//! tensor that outlives its host among them.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use chipdock_abi::{ChipdockDeleter, ChipdockSafeCall};
use chipdock_plugin_api as api;

use crate::boundary::calling::Note;
use crate::boundary::plugin_call::PluginCall;
use crate::boundary::slots::Slots;
use crate::error::Error;
use crate::log::{Log, LogLevel};
use crate::open::origin::Origin;

/// The functions of a descriptor that end an instance.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) shutdown: unsafe extern "C" fn(*mut c_void) -> i32,
    pub(crate) release: unsafe extern "C" fn(*mut c_void),
}

/// `init` has not succeeded yet, and may never.
const UNBORN: u8 = 0;
/// `init` succeeded, and `shutdown` was not called.
const LIVE: u8 = 1;
/// `shutdown` was called.
const SHUT_DOWN: u8 = 2;

/// One `init` of a plugin.
pub(crate) struct Instance {
    plugin: String,
    origin: Origin,
    slots: Slots,
    log: &'static Log,
    ends: Ends,
    pointer: AtomicPtr<c_void>,
    state: AtomicU8,
}

impl Instance {
    /// Makes the instance of a plugin whose `init` is about to be called.
    pub(crate) fn new(
        plugin: &str,
        origin: Origin,
        (slots, log): (Slots, &'static Log),
        ends: Ends,
    ) -> Arc<Self> {
        Arc::new(Self {
            plugin: plugin.to_owned(),
            origin,
            slots,
            log,
            ends,
            pointer: AtomicPtr::new(ptr::null_mut()),
            state: AtomicU8::new(UNBORN),
        })
    }

    /// The plugin's name.
    pub(crate) fn plugin(&self) -> &str {
        &self.plugin
    }

    /// Returns the slots of the host that it is of.
    pub(crate) fn slots(&self) -> Slots {
        self.slots
    }

    /// Returns the log of the host that it is of.
    pub(crate) fn log(&self) -> &'static Log {
        self.log
    }

    /// Returns the library and build that the instance is of.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Stores the pointer that a successful `init` wrote.
    pub(crate) fn is_born(&self, pointer: *mut c_void) {
        self.pointer.store(pointer, Ordering::Release);
        self.state.store(LIVE, Ordering::Release);
    }

    /// Lets the plugin finish its work for this host; once, and only after an `init` that succeeded
    /// (P10.13).
    pub(crate) fn shut_down(&self) -> Result<(), Error> {
        if self.state.compare_exchange(LIVE, SHUT_DOWN, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return Ok(());
        }
        self.slots.clear_error();
        let _calling = PluginCall::enter(self.log, Note::of(&self.plugin, "shutdown"));
        // SAFETY: P10.13, the pointer that `init` wrote, once.
        let status = unsafe { (self.ends.shutdown)(self.pointer.load(Ordering::Acquire)) };
        self.slots.check(status, || format!("`shutdown` of plugin \"{}\"", self.plugin))
    }

    /// Makes a registered function that keeps its plugin's instance as long as it lives.
    ///
    /// # Safety
    ///
    /// * As for [`api::Function::from_parts`].
    pub(crate) unsafe fn function(
        self: &Arc<Self>,
        self_: *mut c_void,
        call: ChipdockSafeCall,
        deleter: ChipdockDeleter,
    ) -> api::Function {
        let kept = Box::new(KeptFunction { self_, call, deleter, instance: Arc::clone(self) });
        let kept = Box::into_raw(kept).cast();
        // SAFETY: `call_kept` passes on its arguments, which the caller guarantees to be sound; the
        // box is given up.
        unsafe { api::Function::from_parts(kept, ChipdockSafeCall(call_kept), ChipdockDeleter(delete_kept)) }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if *self.state.get_mut() == UNBORN {
            return;
        }
        if let Err(error) = self.shut_down() {
            self.log.write(LogLevel::Warning, &error.to_string());
        }
        let _calling = PluginCall::enter(self.log, Note::of(&self.plugin, "release"));
        // SAFETY: P10.14, the pointer that `init` wrote, once: no registered object is left.
        unsafe { (self.ends.release)(*self.pointer.get_mut()) };
    }
}

/// A registered function, with its plugin's instance.
struct KeptFunction {
    self_: *mut c_void,
    call: ChipdockSafeCall,
    deleter: ChipdockDeleter,
    /// Dropped after the function.
    #[expect(dead_code, reason = "held, not read")]
    instance: Arc<Instance>,
}

impl Drop for KeptFunction {
    fn drop(&mut self) {
        // SAFETY: P9.1, called once, last, with the registered `self_`.
        unsafe { (self.deleter.0)(self.self_) };
    }
}

unsafe extern "C" fn call_kept(
    self_: *mut c_void,
    args: *const chipdock_abi::ChipdockAny,
    num_args: i32,
    result: *mut chipdock_abi::ChipdockAny,
) -> i32 {
    // SAFETY: the box of `Instance::function`, alive as long as the function object; the parameters
    // of a packed call, passed on.
    unsafe {
        let kept = &*self_.cast::<KeptFunction>();
        (kept.call.0)(kept.self_, args, num_args, result)
    }
}

unsafe extern "C" fn delete_kept(self_: *mut c_void) {
    // SAFETY: the box of `Instance::function`, given up once.
    drop(unsafe { Box::from_raw(self_.cast::<KeptFunction>()) });
}
