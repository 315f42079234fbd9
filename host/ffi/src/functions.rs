//! Functions of modules as values of the callers: FFI-4, FFI-5 and FFI-9.

use chipdock_abi::{CHIPDOCK_DEVICE_CPU, CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_TENSOR, ChipdockDevice};
use chipdock_host::{Function, values};
use chipdock_ir::PrimFunc;
use chipdock_plugin_api as api;
use chipdock_plugin_api::{Any, AnyView, TensorView};

use crate::{outputs, side, streams};

/// Returns a function as one that the callers of this library can call; where its signature is known, the last buffers of a call
/// may be left out.
pub(crate) fn for_callers(function: Function, signature: Option<PrimFunc>) -> api::Function {
    let (callers, home) = (side::callers(), function.host().side());
    api::Function::from_fn(callers, move |args: &[AnyView<'_>]| {
        values::carrying(args, callers, home, |args| {
            let left_out = signature.as_ref().filter(|signature| args.len() < signature.params.len());
            let left_out =
                left_out.and_then(|signature| Some((signature, outputs::left_out(signature, args.len())?)));
            match left_out {
                None => call(&function, args),
                Some((signature, buffers)) => {
                    let host = function.host();
                    outputs::with_results(host, signature, &buffers, args, |args| call(&function, args))
                }
            }
        })
    })
}

/// Calls a function on the streams that are current for its caller.
pub(crate) fn call(function: &Function, args: &[AnyView<'_>]) -> Result<Any, api::Error> {
    match first_device(args) {
        None => function.call_raising(args),
        Some(device) => streams::on_callers_stream(function.host(), device, || function.call_raising(args)),
    }
}

/// Returns the device of the first tensor that is not in host memory.
fn first_device(args: &[AnyView<'_>]) -> Option<ChipdockDevice> {
    let is_tensor =
        |arg: &&AnyView<'_>| matches!(arg.type_index(), CHIPDOCK_TYPE_DLTENSOR_PTR | CHIPDOCK_TYPE_TENSOR);
    let devices = args.iter().filter(is_tensor).filter_map(|arg| arg.to::<TensorView<'_>>().ok());
    devices.map(|view| view.device()).find(|device| device.device_type != CHIPDOCK_DEVICE_CPU)
}
