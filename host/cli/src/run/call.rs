//! The call itself: memory on the device, the function, its time.

use std::time::Instant;

use chipdock_host::{AnyView, Device, Error, ErrorKind, Host, Tensor};
use chipdock_ir::{DType, PrimFunc, Target};

use super::bind::Argument;
use super::clock::{Clock, DeviceTimes};
use super::scalar::Scalar;
use crate::command::{failure, plugin_failure, work_failure};
use crate::compile::Build;
use crate::progress::Progress;
use crate::report::{Exit, Failure, Result};

/// What came of the call.
pub(crate) struct Outcome {
    /// Where it ran, as `cpu:0`.
    pub(crate) device: String,
    /// How long it took to make the compiled module runnable.
    pub(crate) load_seconds: f64,
    /// How long each run took, from the call to the end of the device's work.
    pub(crate) times: Vec<f64>,
    /// How long the device says that each run took.
    pub(crate) device_times: DeviceTimes,
    /// What the function returned, if it returns anything.
    pub(crate) result: Option<Scalar>,
    /// One per argument; `None` for a scalar.
    tensors: Vec<Option<Tensor>>,
}

impl Outcome {
    /// What the tensor of an argument holds now.
    ///
    /// # Errors
    ///
    /// What the device says.
    pub(crate) fn bytes(&self, argument: usize) -> Result<Vec<u8>> {
        match self.tensors.get(argument) {
            Some(Some(tensor)) => tensor.to_bytes().map_err(|error| work_failure(&error)),
            _ => Ok(Vec::new()),
        }
    }
}

/// A device and its name as `cpu:0`.
pub(crate) struct Place {
    device: Device,
    name: String,
}

impl Place {
    /// The device.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The device's number.
    pub(crate) fn id(&self) -> i32 {
        self.device.id()
    }
}

/// The device asked for, or the first one of the target.
///
/// # Errors
///
/// Exit code 4 when it is not there, 2 when the target does not run on it.
pub(crate) fn device(host: &Host, target: &Target, asked: Option<(String, i32)>) -> Result<Place> {
    let kind = &target.kind;
    let runs_on = host.target_kind(kind).map_err(|error| plugin_failure(&error))?.device.clone();
    let (name, id) = asked.unwrap_or_else(|| (runs_on.clone(), 0));
    let known = host.device_names();
    if !known.contains(&name) {
        let what = format!("no device API \"{name}\"; there are {}", crate::report::quoted(&known));
        return Err(Failure::new(Exit::NoDevice, what)
            .help("chipdock plugins lists those found, and why any is not used"));
    }
    if runs_on != name {
        let what = format!("target {kind} runs on {runs_on}, not on {name}");
        return Err(Failure::input(what).help("name another --target or --device"));
    }
    let count = host.device_count(&name).map_err(|error| plugin_failure(&error))?;
    if id >= count {
        let what = format!("no device {name}:{id}; {name} has {count}, counted from 0");
        return Err(Failure::new(Exit::NoDevice, what).help("chipdock devices lists them"));
    }
    let device = host.device(&name, id).map_err(|error| plugin_failure(&error))?;
    Ok(Place { device, name: format!("{name}:{id}") })
}

/// Calls the function `repeat` times, each time from the same inputs.
///
/// # Errors
///
/// What loading, the device or the function says.
pub(crate) fn call(
    host: &Host,
    build: &Build,
    function: &PrimFunc,
    place: &Place,
    arguments: &[Argument],
    repeat: u32,
    progress: &Progress,
) -> Result<Outcome> {
    progress.step("loading the compiled module");
    let started = Instant::now();
    // What was compiled for another machine was asked for so.
    let refused = |error: &Error| match error.kind() {
        ErrorKind::Unsupported => failure(error),
        _ => plugin_failure(error),
    };
    let module = host.load(&build.compiled.artifact).map_err(|error| refused(&error))?;
    let callable = module.function(&function.name).map_err(|error| plugin_failure(&error))?;
    let load_seconds = started.elapsed().as_secs_f64();

    let tensors =
        arguments.iter().map(|argument| tensor(argument, &place.device)).collect::<Result<Vec<_>>>()?;
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

    // The arguments were checked: what the function refuses all the same is its own failure.
    let at = |error: &Error| work_failure(error).at(format!("{} on {}", function.name, place.name));
    let (mut times, mut clock) = (Vec::new(), Clock::of(&place.device));
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
        let begin = clock.mark().map_err(|error| at(&error))?;
        let started = Instant::now();
        let value = callable.call(&views).map_err(|error| at(&error))?;
        let end = clock.mark().map_err(|error| at(&error))?;
        place.device.sync().map_err(|error| at(&error))?;
        times.push(started.elapsed().as_secs_f64());
        clock.note(begin.as_ref(), end.as_ref()).map_err(|error| at(&error))?;
        if let Some(dtype) = function.ret {
            result = returned(&value, dtype);
        }
    }
    // Those that nobody reads too: what changed one has done what it must not.
    for tensor in tensors.iter().flatten() {
        tensor.check_description().map_err(|error| at(&error))?;
    }
    let device_times = clock.into_times();
    Ok(Outcome { device: place.name.clone(), load_seconds, times, device_times, result, tensors })
}

/// A tensor with its first content.
fn tensor(argument: &Argument, device: &Device) -> Result<Option<Tensor>> {
    let Argument::Tensor { name, dtype, shape, initial, .. } = argument else { return Ok(None) };
    let tensor = match initial {
        Some(bytes) => Tensor::from_bytes(device, shape, *dtype, bytes),
        None => Tensor::zeros(device, shape, *dtype),
    };
    tensor.map(Some).map_err(|error| work_failure(&error).at(format!("buffer {name}")))
}

/// Puts the first content back, so that a function that updates its buffers does the same work each time.
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

/// A scalar as the calling convention carries it.
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

/// What a function returned, read as the type that it declares.
fn returned(value: &chipdock_host::Any, dtype: DType) -> Option<Scalar> {
    if dtype.is_float() {
        value.to::<f64>().ok().map(Scalar::Float)
    } else {
        value.to::<i64>().ok().map(|value| Scalar::from_int(value.into(), dtype))
    }
}
