//! `run` and `run_with`: a function of a module on tensors that may be on another device than its
//! kernels.

use std::time::{Duration, Instant};

use chipdock_abi::{CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_TENSOR};
use chipdock_host::{CallOptions, Device, Host, OnAsk, Tensor, values};
use chipdock_plugin_api as api;
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind, TensorParts, TensorView};
use serde::Deserialize;

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

/// Options of a run, as a JSON object.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    /// Seconds after which the run ends.
    timeout_s: Option<f64>,
}

impl Options {
    fn read(text: Option<&str>) -> Result<Self, Error> {
        let Some(text) = text else { return Ok(Self::default()) };
        serde_json::from_str(text).map_err(|error| {
            let message = format!("options: {error}; expected a JSON object with timeout_s");
            Error::new(ErrorKind::VALUE_ERROR, message)
        })
    }

    fn deadline(&self) -> Result<Option<Instant>, Error> {
        let Some(seconds) = self.timeout_s else { return Ok(None) };
        let timeout = Duration::try_from_secs_f64(seconds).map_err(|_| {
            let message = format!("timeout_s: expected seconds from 0 on, found {seconds}");
            Error::new(ErrorKind::VALUE_ERROR, message)
        })?;
        // A time that the clock does not have is as good as none.
        Ok(Instant::now().checked_add(timeout))
    }
}

pub(crate) fn run(args: &[AnyView<'_>]) -> Result<Any, Error> {
    run_on(args, &args[3..])
}

pub(crate) fn run_with(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let options: Option<String> = arg(args[3], "options")?;
    let deadline = Options::read(options.as_deref())?.deadline()?;
    let on_ask: Option<api::Function> = arg(args[4], "on_ask")?;
    let on_ask = on_ask.map(|function| OnAsk::new(move || function.call(side::callers(), &[]).map(drop)));
    let options = CallOptions { deadline, on_ask, ..CallOptions::default() };
    options.within(|| run_on(args, &args[5..])).map_err(raised)?
}

/// Runs the function of a module on a device, as the first arguments name them.
fn run_on(args: &[AnyView<'_>], given: &[AnyView<'_>]) -> Result<Any, Error> {
    let module: &ModuleObject = of(args[0], "module")?;
    let name: String = arg(args[1], "name")?;
    let host = &module.host;
    let device = device_of(host, args[2], "device")?;
    let function = module.module.function(&name).map_err(raised)?;
    let args = given;
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
