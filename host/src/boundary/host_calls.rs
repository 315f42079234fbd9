//! What code that holds a table of a host asks of that host.

use std::sync::Arc;

use chipdock_abi::{ChipdockDataType, ChipdockDevice, ChipdockInterface};
use chipdock_plugin_api as api;

use crate::error::Error;
use crate::runtime::DeviceState;

/// A host, as tables reach it: a table may outlive its host, and its functions are below those of
/// the host.
pub(crate) trait HostCalls: Send + Sync {
    /// Returns the registered function of that name.
    fn registered_function(&self, name: &str) -> Result<Option<api::Function>, Error>;

    /// Returns the interface that is registered under a key `<key>/<name>/<version>` (H.11).
    fn registered_interface(&self, key: &str) -> Result<ChipdockInterface, Error>;

    /// Returns the type number in force of a device, by name.
    fn device_type_of(&self, name: &str) -> Result<i32, Error>;

    /// Returns a device by its number; the first request for it opens it.
    fn device_state_by_number(&self, device: ChipdockDevice) -> Result<Arc<DeviceState>, Error>;

    /// Allocates a tensor (H.9).
    fn allocate_tensor(
        self: Arc<Self>,
        device: ChipdockDevice,
        dtype: ChipdockDataType,
        shape: &[i64],
    ) -> Result<api::Tensor, Error>;
}
