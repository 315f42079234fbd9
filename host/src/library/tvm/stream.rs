//! The streams of frameworks, as libtvm_ffi knows them (LIB-13).

use std::marker::PhantomData;

use chipdock_abi::ChipdockDevice;
use chipdock_plugin_api as api;

use super::ffi::TvmFfi;
use crate::boundary::services::from_api;
use crate::error::Error;
use crate::runtime::{Device, Stream};

/// Returns the environment of the libtvm_ffi of this process; `None` if it has none, or one of
/// another version than 0.1. A later call looks again.
///
/// # Examples
///
/// ```
/// // This process has none.
/// assert!(chipdock_host::library::tvm_env().is_none());
/// ```
#[must_use]
pub fn tvm_env() -> Option<api::TvmEnv> {
    TvmFfi::present()?.env()
}

/// A stream that libtvm_ffi was told: [`Stream::enter_tvm`].
#[derive(Debug)]
pub struct TvmStream<'a> {
    _guard: api::TvmStreamGuard,
    _stream: PhantomData<&'a Stream>,
}

/// Returns the environment and the device's number there; `None` for a device that has no number of
/// DLPack's (P5.14), which no framework knows.
fn env_of(device: &Device) -> Option<(api::TvmEnv, ChipdockDevice)> {
    let number = device.number();
    (number.device_type < chipdock_abi::CHIPDOCK_DEVICE_FIRST_ASSIGNED).then_some(())?;
    tvm_env().map(|env| (env, number))
}

impl Device {
    /// Returns the stream on which a framework such as torch works with this device on this thread,
    /// as libtvm_ffi knows it: `tvm_ffi` sets it when a function is called with a tensor of torch.
    /// `None` is the default stream, also where the process has no libtvm_ffi. To run on it,
    /// [`Stream::enter`] it; dropping it waits for its work.
    ///
    /// # Errors
    ///
    /// As of [`Self::adopt_stream`].
    ///
    /// # Safety
    ///
    /// * The framework's stream lives until the returned stream is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use chipdock_host::{Host, HostOptions};
    ///
    /// let host = Host::new(HostOptions::isolated())?;
    /// let device = host.device("cpu", 0)?;
    /// // SAFETY: without a framework there is none.
    /// assert!(unsafe { device.tvm_stream() }?.is_none());
    /// # Ok::<(), chipdock_host::Error>(())
    /// ```
    pub unsafe fn tvm_stream(&self) -> Result<Option<Stream>, Error> {
        let Some((env, number)) = env_of(self) else { return Ok(None) };
        let native = env.stream(number).map_err(|error| from_api(&error))?;
        if native.is_null() || self.is_host_memory() {
            return Ok(None);
        }
        // SAFETY: a live native stream, as this function requires.
        unsafe { self.adopt_stream(native) }.map(Some)
    }
}

impl Stream {
    /// Makes this stream the one on which libraries that ask libtvm_ffi work on this thread, until
    /// the guard is dropped; `None` where there is nobody to tell: the process has no libtvm_ffi,
    /// or its device is known to no framework.
    ///
    /// # Errors
    ///
    /// As of [`Self::native`]; errors of libtvm_ffi.
    pub fn enter_tvm(&self) -> Result<Option<TvmStream<'_>>, Error> {
        let Some((env, number)) = env_of(self.device()) else { return Ok(None) };
        let native = if self.raw().is_null() { std::ptr::null_mut() } else { self.native()? };
        // SAFETY: null is the default stream; another one is borrowed, so that it lives as long as
        // the guard.
        let guard = unsafe { env.enter_stream(number, native) }.map_err(|error| from_api(&error))?;
        Ok(Some(TvmStream { _guard: guard, _stream: PhantomData }))
    }
}
