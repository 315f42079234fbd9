//! `run`: a function of a module on tensors that may be on another device than its kernels.

use chipdock_abi::{CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_TENSOR};
use chipdock_host::{Device, Host, Tensor, values};
use chipdock_plugin_api as api;
use chipdock_plugin_api::{Any, AnyView, Error, TensorParts, TensorView};

use crate::hosts::device_of;
use crate::objects::{ModuleObject, arg, of, raised};
use crate::{functions, side, tensors};

/// A tensor that was copied to the device of the call.
struct Moved {
    original: Tensor,
    copy: Tensor,
}

/// Copies the tensor of an argument to the device, if it is on another one.
fn moved(host: &Host, device: &Device, view: AnyView<'_>, at: usize) -> Result<Option<Moved>, Error> {
    if !matches!(view.type_index(), CHIPDOCK_TYPE_DLTENSOR_PTR | CHIPDOCK_TYPE_TENSOR) {
        return Ok(None);
    }
    let tensor = view.to::<TensorView<'_>>()?;
    if tensor.device() == device.number() {
        return Ok(None);
    }
    let original = match view.type_index() {
        CHIPDOCK_TYPE_DLTENSOR_PTR => borrowed(host, tensor)?,
        _ => tensors::tensor_of(host, view, &format!("argument {at}"))?,
    };
    let copy = original.to_device(device).map_err(raised)?;
    Ok(Some(Moved { original, copy }))
}

/// Makes a tensor over memory that the caller of `run` keeps until it returns.
fn borrowed(host: &Host, view: TensorView<'_>) -> Result<Tensor, Error> {
    let parts = TensorParts {
        data: view.data(),
        device: view.device(),
        dtype: view.dtype(),
        shape: view.shape(),
        strides: view.strides(),
        byte_offset: view.byte_offset(),
    };
    // SAFETY: the memory of an argument lives for the call, and `run` keeps no tensor beyond it.
    let value = unsafe { api::Tensor::from_owner(parts, ()) }?;
    Tensor::from_value(host, value).map_err(raised)
}

pub(crate) fn run(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let module: &ModuleObject = of(args[0], "module")?;
    let name: String = arg(args[1], "name")?;
    let host = &module.host;
    let device = device_of(host, args[2], "device")?;
    let function = module.module.function(&name).map_err(raised)?;
    let args = &args[3..];
    let copies: Result<Vec<Option<Moved>>, Error> =
        args.iter().enumerate().map(|(at, arg)| moved(host, &device, *arg, at)).collect();
    let copies = copies?;
    let values_of: Result<Vec<Option<Any>>, Error> = copies
        .iter()
        .map(|moved| moved.as_ref().map(|moved| tensors::value(&moved.copy)).transpose())
        .collect();
    let values_of = values_of?;
    let views: Vec<AnyView<'_>> =
        args.iter().zip(&values_of).map(|(arg, value)| value.as_ref().map_or(*arg, Any::view)).collect();
    let (callers, home) = (side::callers(), host.side());
    let result = values::carrying(&views, callers, home, |views| functions::call(&function, views))?;
    // What a kernel wrote is in the copies; a tensor that may not be written was only read.
    for Moved { original, copy } in copies.iter().flatten().filter(|moved| !moved.original.is_read_only()) {
        original.copy_from(copy).map_err(raised)?;
    }
    device.sync().map_err(raised)?;
    Ok(result)
}
