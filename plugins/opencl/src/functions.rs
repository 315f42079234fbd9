//! Plain functions by which the conformance suite makes a device fail (section I of the contract).

use chipdock_plugin_api::{Any, AnyView, Error, HostRef, argument, register_function};

use crate::hardware::Hardware;

register_function!("conformance.opencl.fail_next_copy", |host: HostRef, args: &[AnyView<'_>]| {
    Hardware::of(host).device_even_lost(device_id(args)?)?.fail_next_copy();
    Ok(Any::NONE)
});
register_function!("conformance.opencl.lose", |host: HostRef, args: &[AnyView<'_>]| {
    Hardware::of(host).device_even_lost(device_id(args)?)?.lose();
    Ok(Any::NONE)
});
register_function!("conformance.opencl.reopen", |host: HostRef, args: &[AnyView<'_>]| {
    Hardware::of(host).device_even_lost(device_id(args)?)?.reopen();
    Ok(Any::NONE)
});
register_function!("conformance.opencl.out_of_memory_next", |host: HostRef, args: &[AnyView<'_>]| {
    Hardware::of(host).device_even_lost(device_id(args)?)?.out_of_memory_next();
    Ok(Any::NONE)
});

fn device_id(args: &[AnyView<'_>]) -> Result<i32, Error> {
    argument(args, 0, "device_id")
}
