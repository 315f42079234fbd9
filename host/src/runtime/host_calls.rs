//! What tables ask of a host, answered by the host.

use std::sync::Arc;

use chipdock_abi::{ChipdockDataType, ChipdockDevice, ChipdockInterface};
use chipdock_plugin_api as api;

use super::device_state::DeviceState;
use super::tensor::{Tensor, dtype_of};
use crate::boundary::host_calls::HostCalls;
use crate::error::{Error, ErrorKind};
use crate::host::{Host, HostInner};

impl HostCalls for HostInner {
    fn registered_function(&self, name: &str) -> Result<Option<api::Function>, Error> {
        self.registry.registered_function(name)
    }

    fn registered_interface(&self, key: &str) -> Result<ChipdockInterface, Error> {
        self.registry.interface(key)
    }

    fn device_type_of(&self, name: &str) -> Result<i32, Error> {
        self.registry.device_type_of(name)
    }

    fn device_state_by_number(&self, device: ChipdockDevice) -> Result<Arc<DeviceState>, Error> {
        self.device_by_number(device)
    }

    fn allocate_tensor(
        self: Arc<Self>,
        device: ChipdockDevice,
        dtype: ChipdockDataType,
        shape: &[i64],
    ) -> Result<api::Tensor, Error> {
        let dtype = dtype_of(dtype).ok_or_else(|| {
            let message = format!("elements of type {} are not known", api::dtype::text(dtype));
            Error::new(ErrorKind::Unsupported, message)
        })?;
        let device = Host(self).device_by_number(device)?;
        Tensor::empty(&device, shape, dtype)?.to_value()
    }
}
