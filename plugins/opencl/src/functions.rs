//! Interface `reset` 1 (D.40), and the hooks by which the conformance suite makes a device fail (section I of the
//! contract).

use std::sync::Arc;

use chipdock_plugin_api::interface::Reset;
use chipdock_plugin_api::{Any, AnyView, Context, Error, argument, register_test_hook};

use crate::hardware::{Device, Hardware};

/// Opens lost devices again.
pub(crate) struct Reopen(pub(crate) Arc<Hardware>);

impl Reset for Reopen {
    fn reset(&self, device_id: i32) -> Result<(), Error> {
        self.0.device_even_lost(device_id)?.reopen();
        Ok(())
    }
}

register_test_hook!("conformance.opencl.fail_next_copy", |context: &Context, args: &[AnyView<'_>]| {
    on_device(context, args, Device::fail_next_copy)
});
register_test_hook!("conformance.opencl.lose", |context: &Context, args: &[AnyView<'_>]| {
    on_device(context, args, Device::lose)
});
register_test_hook!("conformance.opencl.out_of_memory_next", |context: &Context, args: &[AnyView<'_>]| {
    on_device(context, args, Device::out_of_memory_next)
});

/// Runs a hook on the device that its first argument names.
fn on_device(context: &Context, args: &[AnyView<'_>], hook: fn(&Device)) -> Result<Any, Error> {
    let device_id = argument(args, 0, "device_id")?;
    hook(context.state::<Hardware>().device_even_lost(device_id)?);
    Ok(Any::NONE)
}
