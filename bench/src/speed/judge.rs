//! Holds results against the interpreter or against float64 (SPEED-6).

use std::fs;
use std::path::Path;

use chipdock_interpret::{Arg, Array, Output, compare};
use chipdock_ir::{DType, IrModule, Param, PrimFunc, TypeCode};
use chipdock_test_backends::run::interpret;

use super::rows::By;
use crate::Result;

/// Expected values.
pub enum Judge {
    /// Those of the first and of the last rows, with the interpreter's bounds.
    Rows(Vec<(Part, Vec<Output>)>),
    /// Every value of one parameter, and the bound of each or of all.
    Whole {
        /// The parameter.
        parameter: usize,
        /// Type of the results of Chipdock; a peer may give float32 for bfloat16.
        dtype: DType,
        /// Values.
        expected: Vec<f64>,
        /// Bounds.
        bounds: Vec<f64>,
    },
}

/// Which rows of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// As many as fit, from the first on.
    First,
    /// As many as fit, up to the last.
    Last,
}

impl Part {
    fn of(self, data: &[u8], len: usize) -> &[u8] {
        let len = len.min(data.len());
        match self {
            Self::First => &data[..len],
            Self::Last => &data[data.len() - len..],
        }
    }
}

impl Judge {
    /// Computes the expected values of rows with the interpreter: with the text of a kernel in
    /// which one extent is smaller.
    ///
    /// # Errors
    ///
    /// The text is no module then, or the interpreter refuses it.
    pub fn rows(text: &str, by: (&str, &str), name: &str, arguments: &[Arg]) -> Result<Self> {
        let few =
            chipdock_script::parse(&text.replace(by.0, by.1), name).map_err(|errors| errors.to_string())?;
        let function = few.function(name).ok_or_else(|| format!("no function {name}"))?;
        let ends = [Part::First, Part::Last].map(|part| {
            let outputs = interpret(&few, function, &cut(function, arguments, part)?)?.outputs;
            let written =
                outputs.into_iter().filter(|output| output.parameter + 1 == arguments.len()).collect();
            Ok((part, written))
        });
        Ok(Self::Rows(ends.into_iter().collect::<Result<_>>()?))
    }

    /// Reads what the peers' process computed in float64.
    ///
    /// # Errors
    ///
    /// The files are not there.
    pub fn whole(folder: &Path, parameter: usize, module: &IrModule, name: &str) -> Result<Self> {
        let function = module.function(name).ok_or_else(|| format!("no function {name}"))?;
        let Some(Param::Buffer(buffer)) = function.params.get(parameter) else {
            return Err(format!("parameter {parameter} of {name} is no tensor"));
        };
        let read = |what: &str| -> Result<Vec<f64>> {
            let path = folder.join(format!("{what}.{parameter}"));
            let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
        };
        Ok(Self::Whole {
            parameter,
            dtype: buffer.dtype,
            expected: read("reference")?,
            bounds: read("bound")?,
        })
    }

    /// Checks the results of a contender, by parameter.
    ///
    /// # Errors
    ///
    /// A tensor is missing, or a value is out of its bound.
    pub fn hold(&self, tensor: impl Fn(usize) -> Result<Vec<u8>>) -> Result<()> {
        match self {
            Self::Rows(parts) => hold_rows(parts, tensor),
            Self::Whole { parameter, dtype, expected, bounds } => {
                hold_whole(&tensor(*parameter)?, *dtype, expected, bounds)
            }
        }
    }

    /// Says who judges, for [`By`].
    #[must_use]
    pub fn name(by: By) -> &'static str {
        match by {
            By::Rows(..) => "interpreter",
            By::Float64 => "float64",
        }
    }
}

fn hold_rows(parts: &[(Part, Vec<Output>)], tensor: impl Fn(usize) -> Result<Vec<u8>>) -> Result<()> {
    let mut held = 0;
    for (part, outputs) in parts {
        for output in outputs {
            let data = tensor(output.parameter)?;
            let Array { dtype, shape, data: wanted } = &output.array;
            let data = part.of(&data, wanted.len()).to_vec();
            let found = Array { dtype: *dtype, shape: shape.clone(), data };
            let report = compare(&found, output).map_err(|wrong| format!("{}: {wrong}", output.name))?;
            if report.n_unbounded * 2 > report.n_lanes {
                return Err(format!("{}: the interpreter bounds too few values to judge by", output.name));
            }
            held += report.n_lanes;
        }
    }
    if held == 0 { Err("the interpreter computed nothing to judge by".to_owned()) } else { Ok(()) }
}

fn hold_whole(data: &[u8], dtype: DType, expected: &[f64], bounds: &[f64]) -> Result<()> {
    let found: Vec<f64> = match (dtype.code, dtype.bits) {
        (TypeCode::Float, 32) => {
            data.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect()
        }
        (TypeCode::Int, 32) => {
            data.as_chunks::<4>().0.iter().map(|bytes| f64::from(i32::from_le_bytes(*bytes))).collect()
        }
        _ => return Err(format!("results of {dtype} are not compared with float64")),
    };
    if found.len() != expected.len() || expected.is_empty() {
        return Err(format!("{} values, expected {}", found.len(), expected.len()));
    }
    let bound_of = |index: usize| bounds.get(index).or_else(|| bounds.first()).copied().unwrap_or(0.0);
    let is_wrong = |(index, (found, expected)): &(usize, (&f64, &f64))| {
        !(*found - *expected).abs().le(&bound_of(*index))
    };
    match found.iter().zip(expected).enumerate().find(is_wrong) {
        None => Ok(()),
        Some((index, (found, expected))) => {
            Err(format!("element {index}: {found}, expected {expected} within {:e}", bound_of(index)))
        }
    }
}

/// Returns the arguments of a function of fewer rows: of each tensor that is longer than the
/// function's, that part.
fn cut(function: &PrimFunc, all: &[Arg], part: Part) -> Result<Vec<Arg>> {
    let one = |(param, arg): (&Param, &Arg)| match (param, arg) {
        (Param::Buffer(buffer), Arg::Tensor(array)) => {
            let extents = chipdock_test_backends::cases::shape(buffer, &std::collections::HashMap::new())?;
            let shape: Vec<usize> = extents.iter().map(|extent| *extent as usize).collect();
            let len = shape.iter().product::<usize>() * array.dtype.size_bytes();
            Ok(Arg::Tensor(Array { dtype: array.dtype, shape, data: part.of(&array.data, len).to_vec() }))
        }
        (_, other) => Ok(other.clone()),
    };
    function.params.iter().zip(all).map(one).collect()
}
