//! One run: binds arguments, runs code, collects results.

use std::sync::Arc;

use crate::bound::{ANY, Num};
use crate::code::{Function, ParamCode, ViewInfo};
use crate::compile::compile;
use crate::machine::{Frame, Machine, View};
use crate::memory;
use crate::scalar::{self, Lane};
use crate::{Arg, Array, ErrorKind, InterpretError, Interpreter, Outcome, Output};
use chipdock_ir::{DType, Span};

type Ran<T> = Result<T, Box<InterpretError>>;

pub(crate) fn run(interpreter: &Interpreter<'_>, name: &str, args: &mut [Arg]) -> Ran<Outcome> {
    let functions = compile(interpreter.module, name)?;
    let Some(function) = functions.first() else {
        let kind = ErrorKind::UnknownFunction { name: name.to_owned(), known: Vec::new() };
        return Err(Box::new(InterpretError::new(&Arc::from(""), Span::NONE, kind)));
    };
    let mut machine = Machine::new(&functions, interpreter.limits, interpreter.bounds);
    let mut frame = Frame::new(function, interpreter.bounds);
    let spaces = bind(&mut machine, &mut frame, args)?;
    let returned = if interpreter.bounds {
        machine.finish::<true>(&mut frame)
    } else {
        machine.finish::<false>(&mut frame)
    };
    let returned = returned?;
    let n_steps = interpreter.limits.steps_max - machine.steps_left;
    let returned = returned.zip(function.ret).map(|(value, dtype)| result(value, dtype, machine.lost));
    let outputs = collect(&mut machine, function, args, &spaces);
    Ok(Outcome { outputs, returned, n_steps })
}

fn result((value, bound): Num, dtype: DType, lost: bool) -> (Array, f64) {
    let mut array = Array::zeros(dtype, &[]);
    if let Some(lane) = Lane::of(dtype) {
        lane.write(&mut array.data, value);
    }
    (array, if lost { ANY } else { bound })
}

fn mistake(function: &Function, parameter: &str, message: String) -> Box<InterpretError> {
    let kind = ErrorKind::Argument { parameter: parameter.to_owned(), message };
    Box::new(InterpretError::new(&function.name, Span::NONE, kind))
}

/// Binds each parameter to its argument; returns the spaces of the tensors.
fn bind(machine: &mut Machine<'_>, frame: &mut Frame<'_>, args: &[Arg]) -> Ran<Vec<Option<usize>>> {
    let function = frame.function;
    let n_params = function.params.len();
    if args.len() != n_params {
        let names: Vec<&str> = function.params.iter().map(|(name, _)| &**name).collect();
        let found = args.len();
        let message = format!("expected {n_params} arguments ({}), found {found}", names.join(", "));
        return Err(mistake(function, "", message));
    }
    let mut spaces = Vec::with_capacity(args.len());
    for ((name, param), arg) in function.params.iter().zip(args) {
        let space = match (param, arg) {
            (ParamCode::Tensor { view, data }, Arg::Tensor(array)) => {
                let info = &function.views[*view as usize];
                check_tensor(info, array).map_err(|message| mistake(function, name, message))?;
                let space = fill(machine, function, array, info.lane)?;
                frame.views[*view as usize] = View::of_tensor(space, &array.shape, info.element_units());
                frame.regs[*data as usize] = memory::pointer(space, 0);
                Some(space)
            }
            (ParamCode::Scalar { reg, lane: Lane::Handle, .. }, Arg::Tensor(array)) => {
                let Some(lane) = Lane::of(array.dtype) else {
                    return Err(mistake(function, name, format!("an array of {}", array.dtype)));
                };
                let space = fill(machine, function, array, lane)?;
                frame.regs[*reg as usize] = memory::pointer(space, 0);
                Some(space)
            }
            (ParamCode::Scalar { reg, dtype, .. }, arg) => {
                let value = number(*dtype, arg).map_err(|message| mistake(function, name, message))?;
                frame.regs[*reg as usize] = value;
                None
            }
            (ParamCode::Tensor { .. }, _) => {
                return Err(mistake(function, name, "expected a tensor, found a number".into()));
            }
        };
        spaces.push(space);
    }
    Ok(spaces)
}

fn fill(machine: &mut Machine<'_>, function: &Function, array: &Array, lane: Lane) -> Ran<usize> {
    machine.memory.fill(array.data.clone(), lane.size_bytes()).map_err(|wanted_bytes| {
        let memory_bytes_max = machine.limits.memory_bytes_max;
        let kind = ErrorKind::MemoryLimit { wanted_bytes, memory_bytes_max };
        Box::new(InterpretError::new(&function.name, Span::NONE, kind))
    })
}

fn check_tensor(info: &ViewInfo, array: &Array) -> Result<(), String> {
    if array.dtype != info.dtype {
        return Err(format!("expected a tensor of {}, found {}", info.dtype, array.dtype));
    }
    if array.shape.len() != info.rank as usize {
        return Err(format!("expected {} axes, found the shape {:?}", info.rank, array.shape));
    }
    if !array.is_well_formed() {
        let found = array.data.len();
        return Err(format!("a tensor of shape {:?} has {found} bytes of data", array.shape));
    }
    Ok(())
}

fn number(dtype: DType, arg: &Arg) -> Result<u64, String> {
    match arg {
        Arg::Int(value) => match dtype.integer_range() {
            Some((low, high)) if (low..=high).contains(value) => Ok(scalar::from_int(*value, dtype)),
            Some((low, high)) => Err(format!("{value} is no {dtype}: expected {low} to {high}")),
            None => Err(format!("expected a number of type {dtype}, found an integer")),
        },
        Arg::Float(value) if dtype.is_float() => Ok(scalar::from_f64(*value, dtype)),
        Arg::Float(_) => Err(format!("expected a number of type {dtype}, found a float")),
        Arg::Tensor(_) => Err(format!("expected a number of type {dtype}, found a tensor")),
    }
}

/// Collects the tensors after the run, into the arguments and the outputs.
fn collect(
    machine: &mut Machine<'_>,
    function: &Function,
    args: &mut [Arg],
    spaces: &[Option<usize>],
) -> Vec<Output> {
    let mut outputs = Vec::new();
    let params = function.params.iter().map(|(name, _)| name);
    for (parameter, ((arg, space), name)) in args.iter_mut().zip(spaces).zip(params).enumerate() {
        let (Arg::Tensor(array), Some(space)) = (arg, *space) else { continue };
        let (bytes, bounds) = machine.take(space);
        array.data = bytes;
        let bounds = machine.memory.with_bounds.then(|| per_lane(bounds, array));
        outputs.push(Output { parameter, name: name.to_string(), array: array.clone(), bounds });
    }
    outputs
}

/// Returns the bounds of lanes from those of bytes, if lanes share bytes.
pub(super) fn per_lane(bounds: Vec<f64>, array: &Array) -> Vec<f64> {
    if !array.dtype.is_sub_byte() {
        return bounds;
    }
    let per_byte = 8 / usize::from(array.dtype.bits);
    let of_lane = |lane: usize| bounds.get(lane / per_byte).copied().unwrap_or(0.0);
    (0..array.n_lanes()).map(of_lane).collect()
}
