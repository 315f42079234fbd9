//! Arguments of a function's parameters: symbols bound, sizes computed, values in range.
//!
//! A bare symbol of a shape is bound by `--set` or by the first input that has it; a compound size
//! is computed from bound symbols and never solved for them; two different values for one thing are
//! an error that names both.

use std::collections::HashMap;
use std::path::PathBuf;

use chipdock_host::extents;
use chipdock_ir::{Buffer, DType, Expr, ExprKind, Param, PrimFunc, Var, print};

use super::scalar::{self, Scalar};
use crate::npy::{self, Array, shape_text};
use crate::report::{Failure, Result, quoted};

/// An array read for a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Name of the buffer.
    pub(crate) buffer: String,
    /// File that it was read from.
    pub(crate) path: PathBuf,
    /// The array.
    pub(crate) array: Array,
}

/// `--set NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Argument of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Argument {
    /// A tensor.
    Tensor {
        /// Name of the buffer.
        name: String,
        /// Type of an element.
        dtype: DType,
        /// Extents.
        shape: Vec<i64>,
        /// Size in bytes.
        size_bytes: usize,
        /// Initial content; `None` is zeros.
        initial: Option<Vec<u8>>,
    },
    /// A number.
    Scalar {
        /// The parameter's name.
        name: String,
        /// Its type.
        dtype: DType,
        /// Its value.
        value: Scalar,
    },
}

/// Computes the arguments of `function`, in order.
///
/// # Errors
///
/// Exit code 2, naming the parameter or symbol and both values where two disagree.
pub(crate) fn bind(function: &PrimFunc, inputs: Vec<Input>, settings: &[Setting]) -> Result<Vec<Argument>> {
    check_inputs(function, &inputs)?;
    let mut bindings = Bindings::default();
    bindings.apply_settings(function, settings)?;
    for (buffer, input) in with_inputs(function, &inputs) {
        bindings.bind_bare(buffer, input)?;
    }
    let mut inputs: HashMap<String, Input> =
        inputs.into_iter().map(|input| (input.buffer.clone(), input)).collect();
    function
        .params
        .iter()
        .map(|param| match param {
            Param::Buffer(buffer) => bindings.tensor(buffer, inputs.remove(&*buffer.name)),
            Param::Var(var) => bindings.scalar(var),
        })
        .collect()
}

/// Returns the buffers of a function, in order.
pub(crate) fn buffers(function: &PrimFunc) -> impl Iterator<Item = &Buffer> {
    function.params.iter().filter_map(|param| match param {
        Param::Buffer(buffer) => Some(buffer),
        Param::Var(_) => None,
    })
}

/// Returns the buffer of that name, or an error that names the existing ones.
pub(crate) fn find_buffer<'a>(function: &'a PrimFunc, name: &str) -> Result<&'a Buffer> {
    buffers(function).find(|buffer| &*buffer.name == name).ok_or_else(|| {
        let known = quoted(buffers(function).map(|buffer| buffer.name.to_string()));
        Failure::input(format!("{} has no buffer \"{name}\"; its buffers are {known}", function.name))
    })
}

fn with_inputs<'a>(
    function: &'a PrimFunc,
    inputs: &'a [Input],
) -> impl Iterator<Item = (&'a Buffer, &'a Input)> {
    buffers(function)
        .filter_map(|buffer| Some((buffer, inputs.iter().find(|input| input.buffer == *buffer.name)?)))
}

fn check_inputs(function: &PrimFunc, inputs: &[Input]) -> Result<()> {
    for input in inputs {
        let buffer = find_buffer(function, &input.buffer)?;
        let expected = file_dtype(buffer)?;
        let array = &input.array;
        let failed = |what: String| Failure::input(what).in_file(&input.path);
        if array.dtype != expected {
            let bits = if expected == buffer.dtype { String::new() } else { format!(", as {expected} bits") };
            let what =
                format!("buffer {} is {}{bits}; the file holds {}", buffer.name, buffer.dtype, array.dtype);
            return Err(failed(what).help("convert it, as with numpy.astype; nothing is converted unasked"));
        }
        if array.shape.len() != buffer.shape.len() {
            return Err(failed(format!(
                "buffer {} has {} axes, {}; the file holds {}",
                buffer.name,
                buffer.shape.len(),
                declared(buffer),
                shape_text(&array.shape)
            )));
        }
    }
    Ok(())
}

fn file_dtype(buffer: &Buffer) -> Result<DType> {
    npy::file_dtype(buffer.dtype).ok_or_else(|| {
        let hint = match buffer.dtype.is_sub_byte() {
            true => "; call the kernel from a program, with a packed tensor",
            false => "",
        };
        let what = format!("buffer {} is {}, which no .npy file can hold", buffer.name, buffer.dtype);
        Failure::input(what + hint)
    })
}

/// Returns the shape as declared: `[n, 2 * n]`.
fn declared(buffer: &Buffer) -> String {
    let extents: Vec<String> = buffer.shape.iter().map(print::expr).collect();
    format!("[{}]", extents.join(", "))
}

/// A value, with its source.
struct Bound {
    value: Scalar,
    by: String,
}

/// Known values of scalar parameters and symbols.
#[derive(Default)]
struct Bindings {
    bound: HashMap<Var, Bound>,
}

impl Bindings {
    fn apply_settings(&mut self, function: &PrimFunc, settings: &[Setting]) -> Result<()> {
        let known = variables(function);
        for Setting { name, value } in settings {
            let mut found = false;
            for var in known.iter().filter(|var| *var.name == **name) {
                found = true;
                let parsed = scalar::parse(value, var.dtype)
                    .map_err(|what| Failure::input(format!("--set {name}={value}: {what}")))?;
                self.bound.insert(var.clone(), Bound { value: parsed, by: format!("--set {name}={value}") });
            }
            if !found {
                let names = quoted(known.iter().map(|var| var.name.to_string()));
                let what = format!(
                    "--set {name}={value}: {} has no scalar parameter or symbol \"{name}\"; it has {names}",
                    function.name
                );
                return Err(Failure::input(what));
            }
        }
        Ok(())
    }

    /// Binds the symbols that stand alone as an extent and are still unbound.
    fn bind_bare(&mut self, buffer: &Buffer, input: &Input) -> Result<()> {
        for (axis, (declared, extent)) in buffer.shape.iter().zip(&input.array.shape).enumerate() {
            let ExprKind::Var(var) = &declared.kind else { continue };
            if self.bound.contains_key(var) {
                continue;
            }
            let value = i128::from(*extent);
            if let Some((_, greatest)) = var.dtype.integer_range()
                && value > greatest
            {
                let what = format!(
                    "axis {axis} has {value} elements; {} is {} and cannot be so large",
                    var.name, var.dtype
                );
                return Err(Failure::input(what).in_file(&input.path));
            }
            let by = format!("axis {axis} of {} in {}", buffer.name, input.path.display());
            self.bound.insert(var.clone(), Bound { value: Scalar::from_int(value, var.dtype), by });
        }
        Ok(())
    }

    fn tensor(&self, buffer: &Buffer, input: Option<Input>) -> Result<Argument> {
        let dtype = buffer.dtype;
        file_dtype(buffer)?;
        let shape: Vec<i64> = buffer
            .shape
            .iter()
            .enumerate()
            .map(|(axis, extent)| self.extent(buffer, axis, extent))
            .collect::<Result<_>>()?;
        if let Some(input) = &input {
            for (axis, (expected, found)) in shape.iter().zip(&input.array.shape).enumerate() {
                if expected != found {
                    return Err(self.disagreement(buffer, axis, *expected, input));
                }
            }
        }
        let size_bytes = shape
            .iter()
            .try_fold(i64::try_from(dtype.size_bytes()).unwrap_or(i64::MAX), |size, extent| {
                if shape.contains(&0) { Some(0) } else { size.checked_mul(*extent) }
            })
            .and_then(|size| usize::try_from(size).ok());
        let size_bytes = size_bytes.ok_or_else(|| {
            let shape = shape_text(&shape);
            Failure::input(format!("buffer {} would be {shape}, more than memory can hold", buffer.name))
        })?;
        let initial = input.map(|input| input.array.bytes);
        Ok(Argument::Tensor { name: buffer.name.to_string(), dtype, shape, size_bytes, initial })
    }

    fn extent(&self, buffer: &Buffer, axis: usize, expr: &Expr) -> Result<i64> {
        let failed = |what: String| {
            let text = print::expr(expr);
            Failure::input(format!("axis {axis} of {} is {text}: {what}", buffer.name))
        };
        let unbound = std::cell::Cell::new(None);
        let value = extents::evaluate(expr, &|var| match self.bound.get(var) {
            Some(bound) => bound.value.as_int().ok_or_else(|| format!("{} is a {}", var.name, var.dtype)),
            None => {
                unbound.set(Some(var.name.clone()));
                Err(format!("{} has no value", var.name))
            }
        });
        let value = value.map_err(|what| match unbound.take() {
            Some(name) => failed(what).help(format!(
                "give an input that has {name} as an extent of its own, or --set {name}=VALUE"
            )),
            None => failed(what),
        })?;
        if value < 0 {
            return Err(failed(format!("it comes to {value}; an extent is at least 0")));
        }
        i64::try_from(value).map_err(|_| failed(format!("it comes to {value}, which is too large")))
    }

    /// Makes the failure for two values of one extent, with both sources.
    fn disagreement(&self, buffer: &Buffer, axis: usize, expected: i64, input: &Input) -> Failure {
        let expr = &buffer.shape[axis];
        let found = input.array.shape[axis];
        let mut reasons = Vec::new();
        expr.walk(&mut |node| {
            if let ExprKind::Var(var) = &node.kind
                && let Some(Bound { value, by }) = self.bound.get(var)
            {
                let value = value.as_int().unwrap_or_default();
                let reason = format!("{} is {value} by {by}", var.name);
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        });
        let why = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
        let text = print::expr(expr);
        let says = if text == expected.to_string() { text } else { format!("{text} = {expected}") };
        Failure::input(format!("axis {axis} of {}: expected {says}{why}, found {found}", buffer.name))
            .in_file(&input.path)
    }

    fn scalar(&self, var: &Var) -> Result<Argument> {
        let (name, dtype) = (var.name.to_string(), var.dtype);
        match self.bound.get(var) {
            Some(Bound { value, .. }) => Ok(Argument::Scalar { name, dtype, value: *value }),
            None if dtype.is_handle() || !dtype.is_scalar() => Err(Failure::input(format!(
                "parameter {name} is a {dtype}; a command can give buffers and numbers"
            ))),
            None => Err(Failure::input(format!("parameter {name}: {dtype} has no value"))
                .help(format!("give it with --set {name}=VALUE"))),
        }
    }
}

/// Returns the scalar parameters, then the symbols of shapes, in order.
fn variables(function: &PrimFunc) -> Vec<Var> {
    let mut found: Vec<Var> = Vec::new();
    for param in &function.params {
        if let Param::Var(var) = param {
            found.push(var.clone());
        }
    }
    for extent in buffers(function).flat_map(|buffer| &buffer.shape) {
        extent.walk(&mut |node| {
            if let ExprKind::Var(var) = &node.kind
                && !found.contains(var)
            {
                found.push(var.clone());
            }
        });
    }
    found
}

#[cfg(test)]
#[path = "bind_tests.rs"]
mod tests;
