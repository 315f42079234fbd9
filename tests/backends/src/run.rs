//! Compiles one kernel for one backend, checks it against the interpreter, and times it.

use std::path::Path;
use std::time::{Duration, Instant};

use chipdock_host::{AnyView, CompileOptions, Function, Host, Module, Tensor};
use chipdock_interpret::{Arg, Array, Interpreter, Outcome, compare};
use chipdock_ir::{IrModule, PrimFunc};

use super::Result;
use super::backends::Backend;
use super::cases::{Case, arguments, read_module, symbols};

/// Measurements of a kernel on a backend.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Time from the module to a callable function.
    pub compile: Duration,
    /// Median time of a call.
    pub run: Duration,
    /// Work per second in the case's unit.
    pub rate: f64,
    /// Largest difference from the interpreter's result.
    pub error_max: f64,
    /// Largest difference as a share of the interpreter's bound, at most 1.
    pub error_over_bound_max: f64,
}

/// An argument in the form that the backend takes: a tensor on its device, or a scalar.
pub enum Value {
    /// A tensor.
    Tensor(Tensor),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
}

/// Copies arguments to the backend's device.
///
/// # Errors
///
/// The device fails.
pub fn upload(backend: &Backend, arguments: &[Arg]) -> Result<Vec<Value>> {
    let value = |argument: &Arg| {
        Ok(match argument {
            Arg::Tensor(array) => Value::Tensor(upload_array(backend, array)?),
            Arg::Int(value) => Value::Int(i64::try_from(*value).map_err(|_| "a scalar beyond 64 bits")?),
            Arg::Float(value) => Value::Float(*value),
        })
    };
    arguments.iter().map(value).collect()
}

/// Copies an array to the backend's device.
///
/// # Errors
///
/// The device fails.
pub fn upload_array(backend: &Backend, array: &Array) -> Result<Tensor> {
    let shape: Vec<i64> = array.shape.iter().map(|extent| *extent as i64).collect();
    Tensor::from_bytes(&backend.device, &shape, array.dtype, &array.data).map_err(|error| error.to_string())
}

/// Calls a function.
///
/// # Errors
///
/// The error that the function raised.
pub fn call(function: &Function, values: &[Value]) -> Result<()> {
    let views: Vec<AnyView<'_>> = values
        .iter()
        .map(|value| match value {
            Value::Tensor(tensor) => AnyView::from(tensor),
            Value::Int(value) => AnyView::from(*value),
            Value::Float(value) => AnyView::from(*value),
        })
        .collect();
    function.call(&views).map(drop).map_err(|error| error.to_string())
}

/// Compiles a module for a backend and loads it.
///
/// # Errors
///
/// The passes, the code generator or the loader fails.
pub fn build(host: &Host, backend: &Backend, module: &IrModule) -> Result<Module> {
    let compiled = host
        .compile(module, &backend.target, &CompileOptions::default())
        .map_err(|error| error.to_string())?;
    host.load(&compiled.artifact).map_err(|error| error.to_string())
}

/// Compiles, checks and times a kernel.
///
/// # Errors
///
/// A step failed, or a result is out of the interpreter's bounds.
pub fn measure(host: &Host, backend: &Backend, case: &Case, kernels: &Path) -> Result<Measured> {
    let module = case.module(kernels)?;
    let function = module.function(case.function).ok_or_else(|| format!("no function {}", case.function))?;
    let start = Instant::now();
    let loaded = build(host, backend, &module)?;
    let compile = start.elapsed();
    let callable = loaded.function(case.function).map_err(|error| error.to_string())?;

    let (error_max, error_over_bound_max) = check(backend, case, kernels, &module, &callable)?;
    let values = upload(backend, &arguments(function, &symbols(case.time))?)?;
    let run = time(backend, &callable, &values)?;
    let rate = case.amount(function, case.time) / run.as_secs_f64() / 1e9;
    Ok(Measured { compile, run, rate, error_max, error_over_bound_max })
}

/// Returns the median time of at least three calls that take about a tenth of a second.
fn time(backend: &Backend, function: &Function, values: &[Value]) -> Result<Duration> {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 4 || (start.elapsed() < Duration::from_millis(100) && times.len() < 1000) {
        let one = Instant::now();
        call(function, values)?;
        backend.device.sync().map_err(|error| error.to_string())?;
        times.push(one.elapsed());
    }
    let mut times = times.split_off(1);
    times.sort();
    Ok(times[times.len() / 2])
}

/// Compiles a kernel and checks it against the interpreter at small sizes; returns the largest
/// difference, and the largest share of the bound.
///
/// # Errors
///
/// A step failed, or a result is out of the interpreter's bounds.
pub fn judge(host: &Host, backend: &Backend, case: &Case, kernels: &Path) -> Result<(f64, f64)> {
    let module = case.module(kernels)?;
    let callable =
        build(host, backend, &module)?.function(case.function).map_err(|error| error.to_string())?;
    check(backend, case, kernels, &module, &callable)
}

/// Runs small sizes on both backend and interpreter, and compares every tensor parameter.
fn check(
    backend: &Backend,
    case: &Case,
    kernels: &Path,
    module: &IrModule,
    callable: &Function,
) -> Result<(f64, f64)> {
    let function = module.function(case.function).ok_or("no such function")?;
    let inputs = arguments(function, &symbols(case.check))?;
    let (expected, rows) = match case.judge {
        None => (interpret(module, function, &inputs)?, None),
        Some((file, sizes)) => (first_rows(file, sizes, kernels, &inputs)?, Some(sizes[0].1)),
    };
    let values = upload(backend, &inputs)?;
    call(callable, &values)?;
    let (mut error, mut share) = (0.0_f64, 0.0_f64);
    for output in &expected.outputs {
        let Value::Tensor(tensor) = &values[output.parameter] else { continue };
        let mut data = tensor.to_bytes().map_err(|error| error.to_string())?;
        if rows.is_some() {
            data.truncate(output.array.data.len());
        }
        let found = Array { dtype: output.array.dtype, shape: output.array.shape.clone(), data };
        let report = compare(&found, output).map_err(|mismatch| format!("{}: {mismatch}", output.name))?;
        if report.n_unbounded * 2 > report.n_lanes {
            return Err(format!("{}: the interpreter bounds too few values to judge by", output.name));
        }
        error = error.max(report.max_error);
        share = share.max(report.max_error_over_bound);
    }
    Ok((error, share))
}

/// Runs a call in the interpreter; returns the results with their bounds.
///
/// # Errors
///
/// The interpreter reports an error.
pub fn interpret(module: &IrModule, function: &PrimFunc, inputs: &[Arg]) -> Result<Outcome> {
    let mut arguments = inputs.to_vec();
    let interpreter = Interpreter::new(module).with_bounds();
    interpreter.run(&function.name, &mut arguments).map_err(|error| error.to_string())
}

/// Computes the first rows with another kernel: the first tensor is cut to the rows that it takes.
///
/// # Errors
///
/// The kernel cannot be read, or the interpreter reports an error.
pub fn first_rows(file: &str, sizes: super::cases::Sizes, kernels: &Path, inputs: &[Arg]) -> Result<Outcome> {
    let module = read_module(&kernels.join(format!("{file}.py")))?;
    let function = module.function(file).ok_or("the judging kernel is not in its file")?;
    let forms = arguments(function, &symbols(sizes))?;
    let cut = |(form, input): (Arg, &Arg)| match (form, input) {
        (Arg::Tensor(form), Arg::Tensor(input)) => {
            Arg::Tensor(Array { data: input.data[..form.data.len()].to_vec(), ..form })
        }
        (other, _) => other,
    };
    let cut: Vec<Arg> = forms.into_iter().zip(inputs).map(cut).collect();
    interpret(&module, function, &cut)
}
