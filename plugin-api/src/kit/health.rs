//! The health of a device: lost devices, injected failures, failures that wait to be reported.

use core::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, RwLock};

use super::{lock, read, write};
use crate::{Any, Error, ErrorKind, bail, ensure};

/// The health of one device, and the failures that are injected into it (KIT-10, KIT-11).
///
/// Methods may be called from any thread at once. `device` is the device's name, for messages.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::ErrorKind;
/// use chipdock_plugin_api::kit::Health;
///
/// let health = Health::default();
/// health.check("npu:0")?;
/// health.lose("NPU_ERROR_HUNG (7)");
/// let error = health.check("npu:0").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::DEVICE_LOST);
/// assert!(error.message().contains("since NPU_ERROR_HUNG (7)"));
/// health.restore();
/// health.check("npu:0")?;
/// # Ok::<(), chipdock_plugin_api::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Health {
    /// Whether `cause` has a text; every call reads it, without the lock.
    is_lost: AtomicBool,
    cause: RwLock<Option<String>>,
    fails_next_copy: AtomicBool,
    is_out_of_memory_next: AtomicBool,
}

impl Health {
    /// Checks that the device is not lost.
    ///
    /// # Errors
    ///
    /// `DeviceLost` with the first cause.
    pub fn check(&self, device: impl fmt::Display) -> Result<(), Error> {
        if !self.is_lost.load(Ordering::Acquire) {
            return Ok(());
        }
        let cause = read(&self.cause);
        let Some(cause) = cause.as_deref() else { return Ok(()) };
        bail!(
            ErrorKind::DEVICE_LOST,
            "{device} is lost since {cause}. Every further call is refused, and what the device's memory holds is gone: open \
             it again (interface `reset`), or end the process and start it again"
        )
    }

    /// Records that the device is lost, and the cause, unless it is lost already.
    pub fn lose(&self, cause: impl fmt::Display) {
        let mut first = write(&self.cause);
        first.get_or_insert_with(|| cause.to_string());
        self.is_lost.store(true, Ordering::Release);
    }

    /// Records that the device was opened again, and cancels injected failures (I.4).
    pub fn restore(&self) {
        let mut cause = write(&self.cause);
        *cause = None;
        for flag in [&self.is_lost, &self.fails_next_copy, &self.is_out_of_memory_next] {
            flag.store(false, Ordering::Release);
        }
    }

    /// Makes the next queued copy fail after it was queued (I.1).
    pub fn fail_next_copy(&self) {
        self.fails_next_copy.store(true, Ordering::Release);
    }

    /// Returns true if the copy that is queued now must fail later; true once for each request.
    #[must_use]
    pub fn takes_failure(&self) -> bool {
        self.fails_next_copy.load(Ordering::Relaxed) && self.fails_next_copy.swap(false, Ordering::AcqRel)
    }

    /// Makes the next request for a data space fail (I.2).
    pub fn out_of_memory_next(&self) {
        self.is_out_of_memory_next.store(true, Ordering::Release);
    }

    /// Checks that the requested data space is not to be refused.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`, once for each request.
    pub fn check_memory(&self, device: impl fmt::Display) -> Result<(), Error> {
        ensure!(
            !self.is_out_of_memory_next.swap(false, Ordering::AcqRel),
            ErrorKind::OUT_OF_MEMORY,
            "{device}: no memory is left, as a test requested; ask again"
        );
        Ok(())
    }
}

/// Makes the result of a failure hook; `on` is the result of finding the device.
///
/// # Errors
///
/// The error of `on`.
#[doc(hidden)]
pub fn failure_hook(on: Result<(), Error>) -> Result<Any, Error> {
    on.map(|()| Any::NONE)
}

/// Registers the three hooks with which the conformance suite makes a device fail (I.1 to I.4).
///
/// The first argument is the device's name, a literal; the second finds the device in the hook's
/// arguments and applies the hook to its [`Health`](crate::kit::Health), lost or not.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::kit::Health;
/// use chipdock_plugin_api::{AnyView, Context, Error, HostRef, HostState, argument, register_failure_hooks};
///
/// #[derive(Default)]
/// struct Npu(Health);
///
/// impl HostState for Npu {
///     fn new(_host: HostRef) -> Self {
///         Self::default()
///     }
/// }
///
/// register_failure_hooks!("npu", |context, args, hook| {
///     let device_id: i32 = argument(args, 0, "device_id")?;
///     // A plugin looks `device_id` up; this one has one device.
///     hook(&context.state::<Npu>().0);
///     Ok(())
/// });
/// ```
#[macro_export]
macro_rules! register_failure_hooks {
    ($device:literal, $find:expr $(,)?) => {
        const _: () = {
            type Find = fn(
                &$crate::Context,
                &[$crate::AnyView<'_>],
                fn(&$crate::kit::Health),
            ) -> ::core::result::Result<(), $crate::Error>;
            const FIND: Find = $find;

            fn lose(health: &$crate::kit::Health) {
                health.lose("a test requested it");
            }

            $crate::register_test_hook!(
                ::core::concat!("conformance.", $device, ".fail_next_copy"),
                |context, args| $crate::kit::failure_hook(FIND(
                    context,
                    args,
                    $crate::kit::Health::fail_next_copy
                ))
            );
            $crate::register_test_hook!(
                ::core::concat!("conformance.", $device, ".lose"),
                |context, args| { $crate::kit::failure_hook(FIND(context, args, lose)) }
            );
            $crate::register_test_hook!(
                ::core::concat!("conformance.", $device, ".out_of_memory_next"),
                |context, args| {
                    $crate::kit::failure_hook(FIND(context, args, $crate::kit::Health::out_of_memory_next))
                }
            );
        };
    };
}

/// Returns the first failure of several results, all of which are evaluated: draining must not stop
/// at the first failure.
///
/// # Errors
///
/// That failure.
pub fn first_failure(results: impl IntoIterator<Item = Result<(), Error>>) -> Result<(), Error> {
    let mut first = Ok(());
    for result in results {
        first = first.and(result);
    }
    first
}

/// The first failure of queued work, kept until it is reported (KIT-12).
#[derive(Debug, Default)]
pub struct FirstFailure {
    /// Whether a failure is kept; each call reads it, without the lock.
    is_kept: AtomicBool,
    error: Mutex<Option<Error>>,
}

impl FirstFailure {
    /// Keeps a failure, unless one is kept already.
    pub fn keep(&self, error: Error) {
        let mut first = lock(&self.error);
        first.get_or_insert(error);
        self.is_kept.store(true, Ordering::Release);
    }

    /// Reports the failure that is kept, once.
    ///
    /// # Errors
    ///
    /// That failure.
    pub fn report(&self) -> Result<(), Error> {
        if !self.is_kept.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut error = lock(&self.error);
        self.is_kept.store(false, Ordering::Release);
        error.take().map_or(Ok(()), Err)
    }
}
