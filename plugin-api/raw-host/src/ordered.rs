//! Interfaces `memory.async` 1 and `workspace` 1 of a device API, called through their tables.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{ChipdockDataSpaceRequest, ChipdockMemoryAsync1, ChipdockWorkspace1};
use chipdock_plugin_api::Error;

use crate::device::Device;

/// An interface that allocates and frees in the order of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// `memory.async` 1.
    Memory,
    /// `workspace` 1.
    Workspace,
}

impl Ordered {
    /// Returns the name of the interface.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory.async",
            Self::Workspace => "workspace",
        }
    }
}

#[expect(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "streams and data spaces are handles that only the plugin looks behind"
)]
impl Device {
    /// Allocates in the order of a stream, which may be invalid on purpose; of workspace only the
    /// size of the request counts.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn allocate_ordered(
        &self,
        by: Ordered,
        device_id: i32,
        request: &ChipdockDataSpaceRequest,
        stream: *mut c_void,
    ) -> Result<*mut c_void, Error> {
        let mut data = ptr::null_mut();
        self.allocate_ordered_at(by, device_id, request, stream, &mut data)?;
        Ok(data)
    }

    /// Allocates with a null place for the result (D.2).
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn allocate_nowhere(&self, by: Ordered, request: &ChipdockDataSpaceRequest) -> Result<(), Error> {
        self.allocate_ordered_at(by, 0, request, ptr::null_mut(), ptr::null_mut())
    }

    fn allocate_ordered_at(
        &self,
        by: Ordered,
        device_id: i32,
        request: &ChipdockDataSpaceRequest,
        stream: *mut c_void,
        place: *mut *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: by P3.11, this is the table with its `self_`; the request lives for the call, and
        // the plugin checks the stream and a null place.
        let memory = |table: &ChipdockMemoryAsync1, self_: *mut c_void| unsafe {
            (table.allocate)(self_, device_id, request, stream, place)
        };
        // SAFETY: as above.
        let workspace = |table: &ChipdockWorkspace1, self_: *mut c_void| unsafe {
            (table.allocate)(self_, device_id, request.size_bytes, stream, place)
        };
        match by {
            Ordered::Memory => self.call_interface(by.name(), "allocate", memory),
            Ordered::Workspace => self.call_interface(by.name(), "allocate", workspace),
        }
    }

    /// Frees in the order of a stream; data space and stream may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn free_ordered(
        &self,
        by: Ordered,
        device_id: i32,
        data: *mut c_void,
        stream: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: by P3.11, this is the table with its `self_`; the handles are valid or checked by
        // the plugin.
        let memory = |table: &ChipdockMemoryAsync1, self_: *mut c_void| unsafe {
            (table.free)(self_, device_id, data, stream)
        };
        // SAFETY: as above.
        let workspace = |table: &ChipdockWorkspace1, self_: *mut c_void| unsafe {
            (table.free)(self_, device_id, data, stream)
        };
        match by {
            Ordered::Memory => self.call_interface(by.name(), "free", memory),
            Ordered::Workspace => self.call_interface(by.name(), "free", workspace),
        }
    }
}
