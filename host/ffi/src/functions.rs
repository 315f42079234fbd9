//! Functions of modules as values of the callers: FFI-4, FFI-5 and FFI-9.

use std::ffi::c_void;

use chipdock_abi::{
    CHIPDOCK_DEVICE_CPU, CHIPDOCK_OK, CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_OBJECT_BEGIN,
    CHIPDOCK_TYPE_OBJECT_RVALUE_REF, CHIPDOCK_TYPE_TENSOR, ChipdockAny, ChipdockSafeCall,
};
use chipdock_host::{Function, Plain, values};
use chipdock_ir::PrimFunc;
use chipdock_plugin_api as api;
use chipdock_plugin_api::{Any, AnyView, HostRef};

use crate::entry::packed;
use crate::{outputs, side, streams};

/// Returns true where a call needs nothing but the call: numbers, texts and tensors in host memory,
/// so no device's stream, and no object that may hold a function of the callers' side.
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

/// A function of a module, for the callers of this library.
struct OfModule {
    function: Function,
    signature: Option<PrimFunc>,
    /// Number of parameters of the signature.
    count: usize,
    /// The side of the callers, and that of the function.
    callers: HostRef,
    home: HostRef,
}

impl OfModule {
    /// Calls it with whatever is to be done besides.
    fn call(&self, args: &[AnyView<'_>]) -> Result<Any, api::Error> {
        values::carrying(args, self.callers, self.home, |args| {
            let left_out = self.signature.as_ref().filter(|_| args.len() < self.count);
            let left_out =
                left_out.and_then(|signature| Some((signature, outputs::left_out(signature, args.len())?)));
            match left_out {
                None => call(&self.function, args),
                Some((signature, buffers)) => {
                    let host = self.function.host();
                    let call = |args: &[AnyView<'_>]| call(&self.function, args);
                    outputs::with_results(host, signature, &buffers, args, call)
                }
            }
        })
    }
}

/// Returns a function as one that the callers of this library can call; where its signature is
/// known, the last buffers of a call may be left out.
pub(crate) fn for_callers(function: Function, signature: Option<PrimFunc>) -> api::Function {
    let (callers, home) = (side::callers(), function.host().side());
    let count = signature.as_ref().map_or(0, |signature| signature.params.len());
    let body = OfModule { function, signature, count, callers, home };
    // SAFETY: the C function below uses its `self` for `kept` of this type alone; its code is this
    // library's, which is never closed.
    unsafe { api::Function::from_safe_call(ChipdockSafeCall(call_of_module), body) }
}

/// The call of such a function. The common one costs nothing but a look at its arguments.
unsafe extern "C" fn call_of_module(
    self_: *mut c_void,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
) -> i32 {
    // SAFETY: `for_callers` made the function with this body.
    let body = unsafe { api::Function::kept::<OfModule>(self_) };
    // SAFETY: borrowed for the call, V.10; a place for the result, or null.
    if let (Ok(plain), Some(out)) = unsafe { (AnyView::slice_from_raw(args, num_args), result.as_mut()) }
        && plain.len() >= body.count
        && is_plain(plain)
    {
        match body.function.call_plain(plain, out) {
            Plain::Done => return CHIPDOCK_OK,
            Plain::Called(status) => {
                let answer = std::mem::replace(out, Any::NONE.into_raw());
                let finish = |_: &[AnyView<'_>]| {
                    // SAFETY: the status and the result of this call.
                    let value = unsafe { body.function.outcome(status, answer) }?;
                    Ok(values::carried_back(value.view(), body.home, body.callers).unwrap_or(value))
                };
                // SAFETY: the parameters of a packed call, passed on.
                return unsafe { packed(args, num_args, result, finish) };
            }
            Plain::NotCalled => {}
        }
    }
    // SAFETY: the parameters of a packed call, passed on.
    unsafe { packed(args, num_args, result, |args| body.call(args)) }
}

/// Calls a function on the streams that are current for its caller.
pub(crate) fn call(function: &Function, args: &[AnyView<'_>]) -> Result<Any, api::Error> {
    let mut devices = args.iter().filter_map(|arg| arg.tensor_device());
    match devices.find(|device| device.device_type != CHIPDOCK_DEVICE_CPU) {
        None => function.call_raising(args),
        Some(device) => streams::on_callers_stream(function.host(), device, || function.call_raising(args)),
    }
}
