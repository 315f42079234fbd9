//! Interface `reset` 1 (D.40), and the hooks with which the conformance suite makes a device fail
//! (section I of the contract).

use std::sync::Arc;

use chipdock_plugin_api::interface::Reset;
use chipdock_plugin_api::{Error, argument, register_failure_hooks};

use crate::hardware::Hardware;

/// Opens lost devices again.
pub(crate) struct Reopen(pub(crate) Arc<Hardware>);

impl Reset for Reopen {
    fn reset(&self, device_id: i32) -> Result<(), Error> {
        self.0.devices.get(device_id)?.reopen();
        Ok(())
    }
}

register_failure_hooks!("opencl", |context, args, hook| {
    hook(&context.state::<Hardware>().devices.get(argument(args, 0, "device_id")?)?.health);
    Ok(())
});
