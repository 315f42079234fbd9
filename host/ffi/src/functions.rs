//! Functions of modules as values of the callers: FFI-4, FFI-5 and FFI-9.

use chipdock_abi::{
    CHIPDOCK_DEVICE_CPU, CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_OBJECT_BEGIN,
    CHIPDOCK_TYPE_OBJECT_RVALUE_REF, CHIPDOCK_TYPE_TENSOR,
};
use chipdock_host::{Function, values};
use chipdock_ir::PrimFunc;
use chipdock_plugin_api as api;
use chipdock_plugin_api::{Any, AnyView};

use crate::{outputs, side, streams};

/// Returns true where a call needs nothing but the call: numbers, texts and tensors in host memory, so no device's stream, and no
/// object that may hold a function of the callers' side.
#[inline]
fn is_plain(args: &[AnyView<'_>]) -> bool {
    args.iter().all(|arg| match arg.type_index() {
        CHIPDOCK_TYPE_DLTENSOR_PTR | CHIPDOCK_TYPE_TENSOR => {
            arg.tensor_device().is_none_or(|device| device.device_type == CHIPDOCK_DEVICE_CPU)
        }
        CHIPDOCK_TYPE_OBJECT_RVALUE_REF | CHIPDOCK_TYPE_OBJECT_BEGIN.. => false,
        _ => true,
    })
}

/// Returns a function as one that the callers of this library can call; where its signature is known, the last buffers of a call
/// may be left out.
pub(crate) fn for_callers(function: Function, signature: Option<PrimFunc>) -> api::Function {
    let (callers, home) = (side::callers(), function.host().side());
    let count = signature.as_ref().map_or(0, |signature| signature.params.len());
    api::Function::from_fn(callers, move |args: &[AnyView<'_>]| {
        // The common call costs nothing but this look at its arguments.
        if args.len() >= count && is_plain(args) {
            let result = function.call_raising(args)?;
            return match result.type_index() < CHIPDOCK_TYPE_OBJECT_BEGIN {
                true => Ok(result),
                false => Ok(values::carried_back(result.view(), home, callers).unwrap_or(result)),
            };
        }
        values::carrying(args, callers, home, |args| {
            let left_out = signature.as_ref().filter(|_| args.len() < count);
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
    let mut devices = args.iter().filter_map(|arg| arg.tensor_device());
    match devices.find(|device| device.device_type != CHIPDOCK_DEVICE_CPU) {
        None => function.call_raising(args),
        Some(device) => streams::on_callers_stream(function.host(), device, || function.call_raising(args)),
    }
}
