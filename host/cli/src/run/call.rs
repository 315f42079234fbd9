//! The call itself: memory on the device, the function, its time.

use std::sync::Arc;
use std::time::Instant;

use chipdock_host::artifact::Artifact;
use chipdock_host::library::BuiltFile;
use chipdock_host::{AnyView, Device, Error, ErrorKind, Host, ResolvedTarget, Tensor};
use chipdock_ir::{DType, PrimFunc};

use super::bind::Argument;
use super::clock::{Clock, DeviceTimes};
use super::scalar::Scalar;
use crate::command::{failure, plugin_failure, work_failure};
use crate::progress::Progress;
use crate::report::{Failure, Result};

/// What has the function.
pub(crate) enum Source<'a> {
    /// What was compiled just now.
    Artifact(Arc<Artifact>),
    /// A built file.
    File(&'a BuiltFile),
}

/// Result of the call.
pub(crate) struct Outcome {
    /// Device of the runs, as `cpu:0`.
    pub(crate) device: String,
    /// Time to make the compiled module runnable, in seconds.
    pub(crate) load_seconds: f64,
    /// Time of each run in seconds, from the call to the end of the device's work.
    pub(crate) times: Vec<f64>,
    /// Time of each run by the device's clock.
    pub(crate) device_times: DeviceTimes,
    /// Return value of the function, if it has one.
    pub(crate) result: Option<Scalar>,
    /// One per argument; `None` for a scalar.
    tensors: Vec<Option<Tensor>>,
}

impl Outcome {
    /// Returns the current content of an argument's tensor.
    ///
    /// # Errors
    ///
    /// The device's error.
    pub(crate) fn bytes(&self, argument: usize) -> Result<Vec<u8>> {
        match self.tensors.get(argument) {
            Some(Some(tensor)) => tensor.to_bytes().map_err(|error| work_failure(&error)),
            _ => Ok(Vec::new()),
        }
    }
}

/// Returns the device that the target was made for.
///
/// # Errors
///
/// Exit code 1: it was made for none, which is a bug here.
pub(crate) fn device(target: &ResolvedTarget) -> Result<&Device> {
    target.device().ok_or_else(|| Failure::work("the target was made for no device; please report this bug"))
}

/// Calls the function `repeat` times, each time from the same inputs.
///
/// # Errors
///
/// The error of loading, of the device or of the function.
pub(crate) fn call(
    host: &Host,
    source: &Source<'_>,
    function: &PrimFunc,
    device: &Device,
    arguments: &[Argument],
    repeat: u32,
    progress: &Progress,
) -> Result<Outcome> {
    progress.step("loading the compiled module");
    let started = Instant::now();
    // A module for another machine was requested explicitly.
    let refused = |error: &Error| match error.kind() {
        ErrorKind::Unsupported => failure(error),
        _ => plugin_failure(error),
    };
    let module = match source {
        Source::Artifact(artifact) => host.load(artifact).map_err(|error| refused(&error))?,
        Source::File(file) => host.open_file(file).map_err(|error| failure(&error))?,
    };
    let callable = module.function(&function.name).map_err(|error| plugin_failure(&error))?;
    let load_seconds = started.elapsed().as_secs_f64();

    let tensors = arguments.iter().map(|argument| tensor(argument, device)).collect::<Result<Vec<_>>>()?;
    let values = arguments.iter().map(scalar).collect::<Result<Vec<_>>>()?;
    let views: Vec<AnyView<'_>> = tensors
        .iter()
        .zip(&values)
        .map(|(tensor, value)| match (tensor, value) {
            (Some(tensor), _) => tensor.into(),
            (None, Some(Passed::Int(value))) => (*value).into(),
            (None, Some(Passed::Float(value))) => (*value).into(),
            (None, Some(Passed::Bool(value))) => (*value).into(),
            (None, None) => AnyView::NONE,
        })
        .collect();

    // The arguments were checked: a refusal by the function is its own failure.
    let place = format!("{}:{}", device.name(), device.id());
    let at = |error: &Error| work_failure(error).at(format!("{} on {place}", function.name));
    let (mut times, mut clock) = (Vec::new(), Clock::new(device));
    let mut result = None;
    for round in 0..repeat {
        if round > 0 {
            restore(arguments, &tensors)?;
        }
        if repeat > 1 {
            progress.step(format!("run {} of {repeat}", round + 1));
        } else {
            progress.step(format!("running {}", function.name));
        }
        let _span = tracing::info_span!("round").entered();
        let begin = clock.mark().map_err(|error| at(&error))?;
        let started = Instant::now();
        let value = callable.call(&views).map_err(|error| at(&error))?;
        let end = clock.mark().map_err(|error| at(&error))?;
        device.sync().map_err(|error| at(&error))?;
        times.push(started.elapsed().as_secs_f64());
        clock.note(begin.as_ref(), end.as_ref()).map_err(|error| at(&error))?;
        if let Some(dtype) = function.ret {
            result = returned(&value, dtype);
        }
    }
    // Unread tensors too: a function that changed one broke its contract.
    for tensor in tensors.iter().flatten() {
        tensor.check_description().map_err(|error| at(&error))?;
    }
    let device_times = clock.into_times();
    Ok(Outcome { device: place, load_seconds, times, device_times, result, tensors })
}

/// Makes a tensor with its initial content.
fn tensor(argument: &Argument, device: &Device) -> Result<Option<Tensor>> {
    let Argument::Tensor { name, dtype, shape, initial, .. } = argument else { return Ok(None) };
    let tensor = match initial {
        Some(bytes) => Tensor::from_bytes(device, shape, *dtype, bytes),
        None => Tensor::zeros(device, shape, *dtype),
    };
    tensor.map(Some).map_err(|error| work_failure(&error).at(format!("buffer {name}")))
}

/// Restores the initial content, so that a function that updates its buffers does the same work
/// each time.
fn restore(arguments: &[Argument], tensors: &[Option<Tensor>]) -> Result<()> {
    for (argument, tensor) in arguments.iter().zip(tensors) {
        let (Argument::Tensor { initial, size_bytes, .. }, Some(tensor)) = (argument, tensor) else {
            continue;
        };
        let copied = match initial {
            Some(bytes) => tensor.copy_from_bytes(bytes),
            None => tensor.copy_from_bytes(&zeros(*size_bytes)?),
        };
        copied.map_err(|error| work_failure(&error))?;
    }
    Ok(())
}

fn zeros(size_bytes: usize) -> Result<Vec<u8>> {
    let mut zeros = Vec::new();
    zeros
        .try_reserve_exact(size_bytes)
        .map_err(|_| Failure::work(format!("no memory for {size_bytes} bytes of zeros")))?;
    zeros.resize(size_bytes, 0);
    Ok(zeros)
}

/// A scalar in the form of the calling convention.
enum Passed {
    Int(i64),
    Float(f64),
    Bool(bool),
}

fn scalar(argument: &Argument) -> Result<Option<Passed>> {
    let Argument::Scalar { name, dtype, value } = argument else { return Ok(None) };
    match value {
        Scalar::Bool(value) => Ok(Some(Passed::Bool(*value))),
        Scalar::Float(value) => Ok(Some(Passed::Float(*value))),
        Scalar::Int(value) => i64::try_from(*value).map(|value| Some(Passed::Int(value))).map_err(|_| {
            Failure::input(format!("{value} for {name}: {dtype}: a call carries integers up to {}", i64::MAX))
        }),
    }
}

/// Returns the value that a function returned, read as its declared type.
fn returned(value: &chipdock_host::Any, dtype: DType) -> Option<Scalar> {
    if dtype.is_float() {
        value.to::<f64>().ok().map(Scalar::Float)
    } else {
        value.to::<i64>().ok().map(|value| Scalar::from_int(value.into(), dtype))
    }
}
