//! Interface `reset` 1 (D.40).

use std::sync::Arc;

use chipdock_plugin_api::Error;
use chipdock_plugin_api::interface::Reset;

use crate::hardware::Hardware;

/// Opens lost devices again.
pub(crate) struct CudaReset(pub(crate) Arc<Hardware>);

impl Reset for CudaReset {
    fn reset(&self, device_id: i32) -> Result<(), Error> {
        self.0.reset(device_id)
    }
}
