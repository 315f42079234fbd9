//! Memory in the order of a stream: interfaces `memory.async` 1 and `workspace` 1 of a device
//! (N.31 to N.39), where it has them.

use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;

use chipdock_abi::{ChipdockDataType, ChipdockMemoryAsync1, ChipdockWorkspace1};

use super::DeviceState;
use super::tables::{broken, plain_request};
use crate::error::{Error, ErrorKind};

/// Whether a device has memory and workspace in the order of a stream; a device that once answered
/// `Unsupported` has none (N.35, N.39).
#[derive(Default)]
pub(super) struct OrderedMemory {
    memory: OnceLock<bool>,
    workspace: OnceLock<bool>,
}

/// Returns `None` for what the device does not have, and remembers it.
fn known(has: &OnceLock<bool>, allocated: Result<*mut c_void, Error>) -> Result<Option<*mut c_void>, Error> {
    match allocated {
        Err(error) if *error.kind() == ErrorKind::Unsupported && has.get() != Some(&true) => {
            let _ = has.set(false);
            Ok(None)
        }
        Err(error) => Err(error),
        Ok(data) => {
            let _ = has.set(true);
            Ok(Some(data))
        }
    }
}

impl DeviceState {
    fn missing(&self, interface: &str) -> Error {
        let message = format!("device {}:{} has no interface `{interface}` 1", self.api.name, self.id);
        Error::new(ErrorKind::Unsupported, message)
    }

    fn checked(&self, interface: &str, data: *mut c_void) -> Result<*mut c_void, Error> {
        if data.is_null() {
            let message = format!("`allocate` of {interface} 1 of device_api.{}", self.api.name);
            return Err(broken(format!("{message} succeeded and answered null")));
        }
        Ok(data)
    }

    /// Allocates memory for work that is queued later on a stream; `None` where the device has no
    /// such memory.
    pub(super) fn allocate_on(
        &self,
        size_bytes: u64,
        dtype_hint: ChipdockDataType,
        stream: *mut c_void,
    ) -> Result<Option<*mut c_void>, Error> {
        if self.ordered.memory.get() == Some(&false) {
            return Ok(None);
        }
        let request = plain_request(size_bytes, dtype_hint);
        let mut data = ptr::null_mut();
        // SAFETY: P3.11, the table with its `self_`; a request that lives for the call, a stream of
        // the device, and a place to write to.
        let call = |table: &ChipdockMemoryAsync1, self_| unsafe {
            (table.allocate)(self_, self.id, &request, stream, &mut data)
        };
        let called =
            self.api.call_interface("memory.async", "allocate", call, || self.missing("memory.async"));
        known(&self.ordered.memory, called.and_then(|()| self.checked("memory.async", data)))
    }

    /// Frees memory of [`Self::allocate_on`] when the work is done that the stream has; false where
    /// the device has no such memory.
    pub(super) fn free_on(&self, data: *mut c_void, stream: *mut c_void) -> Result<bool, Error> {
        if self.ordered.memory.get() != Some(&true) {
            return Ok(false);
        }
        // SAFETY: P3.11, the table with its `self_`; memory of `allocate` that is freed once, and a
        // stream of the device.
        let call =
            |table: &ChipdockMemoryAsync1, self_| unsafe { (table.free)(self_, self.id, data, stream) };
        self.api.call_interface("memory.async", "free", call, || self.missing("memory.async"))?;
        Ok(true)
    }

    /// Allocates workspace of the device's own; `None` where it has none.
    pub(super) fn allocate_own_workspace(
        &self,
        size_bytes: u64,
        stream: *mut c_void,
    ) -> Result<Option<*mut c_void>, Error> {
        if self.ordered.workspace.get() == Some(&false) {
            return Ok(None);
        }
        let mut data = ptr::null_mut();
        // SAFETY: P3.11, the table with its `self_`; a stream of the device, and a place to write
        // to.
        let call = |table: &ChipdockWorkspace1, self_| unsafe {
            (table.allocate)(self_, self.id, size_bytes, stream, &mut data)
        };
        let called = self.api.call_interface("workspace", "allocate", call, || self.missing("workspace"));
        known(&self.ordered.workspace, called.and_then(|()| self.checked("workspace", data)))
    }

    /// Frees workspace of [`Self::allocate_own_workspace`].
    pub(super) fn free_own_workspace(&self, data: *mut c_void, stream: *mut c_void) -> Result<(), Error> {
        // SAFETY: P3.11, the table with its `self_`; workspace of that stream, freed once.
        let call = |table: &ChipdockWorkspace1, self_| unsafe { (table.free)(self_, self.id, data, stream) };
        self.api.call_interface("workspace", "free", call, || self.missing("workspace"))
    }
}

#[cfg(test)]
mod tests {
    use chipdock_ir::DType;

    use super::super::{Device, Tensor};
    use super::*;
    use crate::{Host, HostOptions};

    fn toy(device_id: i32) -> Device {
        Host::new(HostOptions::isolated()).unwrap().device("toy", device_id).unwrap()
    }

    fn calls(device: &Device) -> String {
        device.attribute("ordered").unwrap().unwrap().as_str().unwrap().to_owned()
    }

    /// N.31 to N.33: what the pool does not have comes in the order of the current stream; trimmed
    /// memory was waited for and goes by the device API.
    #[test]
    fn n31_tensors_are_allocated_in_the_order_of_the_current_stream() {
        let device = toy(1);
        let stream = device.create_stream().unwrap();
        {
            let _entered = stream.enter().unwrap();
            let made = Tensor::empty(&device, &[100], DType::INT8).unwrap();
            drop(made);
            let again = Tensor::empty(&device, &[100], DType::INT8).unwrap();
            assert_eq!(calls(&device), format!("memory on {}; 1 live", stream.raw().addr()));
            drop(again);
        }
        let big = Tensor::empty(&device, &[500], DType::INT8).unwrap();
        assert_eq!(calls(&device), "memory on 0; 2 live");
        drop((big, stream));
        device.trim().unwrap();
        assert_eq!(calls(&device), "; 0 live");
    }

    /// N.35, N.39: a device that has no such memory is served as before.
    #[test]
    fn n35_a_device_without_it_is_served_by_the_device_api() {
        let device = toy(0);
        let tensor = Tensor::empty(&device, &[100], DType::INT8).unwrap();
        let work = device.state().allocate_workspace(100, ptr::null_mut()).unwrap();
        device.state().free_workspace(work, ptr::null_mut()).unwrap();
        assert_eq!(calls(&device), "; 0 live");
        assert!(device.attribute("bytes").unwrap().unwrap().as_i64().unwrap() > 4096);
        drop(tensor);
    }

    /// N.36, N.37: workspace is the device's own, freed on its stream, whichever is current then.
    #[test]
    fn n37_workspace_is_freed_on_the_stream_that_it_was_allocated_on() {
        let device = toy(1);
        let (state, stream) = (device.state(), device.create_stream().unwrap());
        let at = stream.raw().addr();
        let outer = state.allocate_workspace(100, stream.raw()).unwrap();
        let inner = state.allocate_workspace(0, ptr::null_mut()).unwrap();
        assert_eq!(calls(&device), format!("workspace on {at}, workspace on 0; 2 live"));
        state.free_workspace(inner, ptr::null_mut()).unwrap();
        state.free_workspace(outer, ptr::null_mut()).unwrap();
        assert_eq!(calls(&device), format!("free workspace on 0, free workspace on {at}; 0 live"));
        assert!(state.free_workspace(outer, stream.raw()).is_err(), "freed twice");
    }

    /// What a thread leaves behind is freed when it ends, the last first.
    #[test]
    fn n38_a_thread_that_ends_leaves_no_workspace() {
        let device = toy(1);
        let state = device.state();
        std::thread::scope(|scope| {
            let left = scope.spawn(|| {
                state.allocate_workspace(1, ptr::null_mut()).unwrap();
                state.allocate_workspace(2, ptr::null_mut()).map(drop).unwrap();
            });
            left.join().unwrap();
        });
        let found = calls(&device);
        assert!(found.ends_with("free workspace on 0, free workspace on 0; 0 live"), "{found}");
    }

    /// A tensor that outlives its stream goes to whoever needs it next.
    #[test]
    fn memory_of_a_stream_that_was_freed_is_given_out_again() {
        for id in [0, 1] {
            let device = toy(id);
            let stream = device.create_stream().unwrap();
            let tensor = {
                let _entered = stream.enter().unwrap();
                Tensor::empty(&device, &[1000], DType::INT8).unwrap()
            };
            let data = tensor.view().data();
            drop(stream);
            drop(tensor);
            assert_eq!(Tensor::empty(&device, &[1000], DType::INT8).unwrap().view().data(), data);
        }
    }
}
