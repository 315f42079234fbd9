//! Interface `memory` 1 of a host: allocates tensors for a plugin's functions (H.9).

use chipdock_abi::{ChipdockDataType, ChipdockDevice, ChipdockMemory1};

use crate::{Any, Error, ErrorKind, HostRef, Tensor};

impl HostRef {
    /// Allocates a compact tensor in global memory of a device, for functions to return. Its
    /// elements are uninitialised.
    ///
    /// Its memory belongs to the host's pool, and returns there with the last reference. Not
    /// allowed during `init` (H.9).
    ///
    /// # Errors
    ///
    /// * `Unsupported`: the host has no interface `memory` 1, or the IR has no such element type.
    /// * `NotFound`, `Unavailable`: the host does not know the device, or the device is missing.
    /// * `ValueError`: a negative extent, or a size beyond 63 bits.
    /// * `OutOfMemory`.
    pub fn allocate_tensor(
        self,
        device: ChipdockDevice,
        dtype: ChipdockDataType,
        shape: &[i64],
    ) -> Result<Tensor, Error> {
        let (name, version) = ("memory", 1);
        let Some((memory, self_)) = self.query::<ChipdockMemory1>(name, version)? else {
            return Err(Error::new(
                ErrorKind::UNSUPPORTED,
                format!("the host has no interface `{name}` {version}: pass a tensor to be written instead"),
            ));
        };
        let too_many = |_| Error::new(ErrorKind::VALUE_ERROR, format!("{} axes are too many", shape.len()));
        let ndim = i32::try_from(shape.len()).map_err(too_many)?;
        let mut raw = Any::NONE.into_raw();
        // SAFETY: H.2 and P3.11, the interface's table with its `self_`; the extents live for the
        // call, and the place for an owned value is writable.
        let (status, made) = unsafe {
            let status = (memory.allocate_tensor)(self_, device, dtype, shape.as_ptr(), ndim, &mut raw);
            (status, Any::from_raw(raw))
        };
        self.check(status, || "the host's `allocate_tensor`".to_owned())?;
        made.to::<Tensor>()
    }
}
