//! Checks results at the timed sizes against the interpreter, which cannot run all of them, or
//! against float64 (SPEED-3).

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use chipdock_interpret::{Arg, Array, Output, compare};
use chipdock_ir::{Buffer, DType, Expr, ExprKind, IrModule, Param, PrimFunc, TypeCode};
use chipdock_test_backends::cases::{Case, Sizes, shape, symbols};
use chipdock_test_backends::run::{first_rows, interpret};

use crate::Result;

/// Maximum number of elements of the last tensor that the interpreter computes at each end.
const ELEMENTS_MAX: i64 = 4096;

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
    fn slice(self, data: &[u8], len: usize) -> &[u8] {
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
            let arguments = cut(function, &HashMap::new(), arguments, part)?;
            let outputs = interpret(&few, function, &arguments)?.outputs;
            let written =
                outputs.into_iter().filter(|output| output.parameter + 1 == arguments.len()).collect();
            Ok((part, written))
        });
        Ok(Self::Rows(ends.into_iter().collect::<Result<_>>()?))
    }

    /// Computes the expected values of an example kernel with the interpreter: of its first and of
    /// its last rows if they do not depend on each other, otherwise of all.
    ///
    /// # Errors
    ///
    /// The kernel does not exist, or the interpreter refuses it.
    pub fn example(case: &Case, kernels: &Path, module: &IrModule, arguments: &[Arg]) -> Result<Self> {
        let function =
            module.function(case.function).ok_or_else(|| format!("no function {}", case.function))?;
        if let Some((file, sizes)) = case.judge {
            let outcome = first_rows(file, sizes, kernels, arguments)?;
            return Ok(Self::Rows(vec![(Part::First, outcome.outputs)]));
        }
        let Some(rows) = row_symbol(function, case.time) else {
            return Ok(Self::Rows(vec![(Part::First, interpret(module, function, arguments)?.outputs)]));
        };
        let mut few = symbols(case.time);
        few.insert(rows.to_owned(), few_rows(function, case.time, rows)?);
        let ends = [Part::First, Part::Last].map(|part| {
            let arguments = cut(function, &few, arguments, part)?;
            Ok((part, interpret(module, function, &arguments)?.outputs))
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
    pub fn check(&self, tensor: impl Fn(usize) -> Result<Vec<u8>>) -> Result<()> {
        match self {
            Self::Rows(parts) => check_rows(parts, tensor),
            Self::Whole { parameter, dtype, expected, bounds } => {
                check_whole(&tensor(*parameter)?, *dtype, expected, bounds)
            }
        }
    }
}

fn check_rows(parts: &[(Part, Vec<Output>)], tensor: impl Fn(usize) -> Result<Vec<u8>>) -> Result<()> {
    let mut held = 0;
    for (part, outputs) in parts {
        for output in outputs {
            let data = tensor(output.parameter)?;
            let Array { dtype, shape, data: wanted } = &output.array;
            let data = part.slice(&data, wanted.len()).to_vec();
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

fn check_whole(data: &[u8], dtype: DType, expected: &[f64], bounds: &[f64]) -> Result<()> {
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

/// Returns the arguments of a run on fewer rows: of each tensor that is longer than the function's
/// with these values of its symbols, that part.
fn cut(function: &PrimFunc, few: &HashMap<String, i64>, all: &[Arg], part: Part) -> Result<Vec<Arg>> {
    let one = |(param, arg): (&Param, &Arg)| match (param, arg) {
        (Param::Buffer(buffer), Arg::Tensor(array)) => {
            let shape: Vec<usize> = shape(buffer, few)?.iter().map(|extent| *extent as usize).collect();
            let len = shape.iter().product::<usize>() * array.dtype.size_bytes();
            Ok(Arg::Tensor(Array { dtype: array.dtype, shape, data: part.slice(&array.data, len).to_vec() }))
        }
        (_, other) => Ok(other.clone()),
    };
    function.params.iter().zip(all).map(one).collect()
}

fn is_symbol(extent: &Expr, name: &str) -> bool {
    matches!(&extent.kind, ExprKind::Var(var) if &*var.name == name)
}

fn mentions(extent: &Expr, name: &str) -> bool {
    let mut found = is_symbol(extent, name);
    extent.walk(&mut |child| {
        found |= is_symbol(child, name);
    });
    found
}

fn buffers(function: &PrimFunc) -> impl Iterator<Item = &Buffer> {
    function.params.iter().filter_map(|param| match param {
        Param::Buffer(buffer) => Some(buffer),
        Param::Var(_) => None,
    })
}

/// Returns the symbol that counts rows: it is the first axis of the last tensor, and no other axis
/// of any tensor.
fn row_symbol(function: &PrimFunc, sizes: Sizes) -> Option<&'static str> {
    let counts_rows = |name: &str| {
        let last = buffers(function).last()?;
        let leads = last.shape.first().is_some_and(|extent| is_symbol(extent, name));
        let elsewhere = buffers(function).any(|buffer| {
            buffer.shape.iter().skip(1).any(|extent| mentions(extent, name))
                || buffer
                    .shape
                    .first()
                    .is_some_and(|extent| mentions(extent, name) && !is_symbol(extent, name))
        });
        (leads && !elsewhere).then_some(())
    };
    sizes.iter().map(|(name, _)| *name).find(|name| counts_rows(name).is_some())
}

/// Returns a number of rows that the interpreter computes quickly.
fn few_rows(function: &PrimFunc, sizes: Sizes, rows: &str) -> Result<i64> {
    let symbols = symbols(sizes);
    let all = symbols.get(rows).copied().unwrap_or(1).max(1);
    let last = buffers(function).last().ok_or("a kernel without tensors")?;
    let elements: i64 = shape(last, &symbols)?.iter().product();
    Ok((ELEMENTS_MAX / (elements / all).max(1)).clamp(1, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chipdock_test_backends::cases::CASES;

    fn kernels() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/kernels")
    }

    #[test]
    fn rows_are_found_where_they_do_not_depend_on_each_other() {
        let rows = |file: &str| {
            let case = CASES.iter().find(|case| case.file == file).expect("a case");
            let module = case.module(&kernels()).expect("readable");
            row_symbol(module.function(case.function).expect("its function"), case.time)
        };
        assert_eq!(rows("softmax"), Some("n"));
        assert_eq!(rows("matmul"), Some("m"));
        assert_eq!(rows("int8_dot"), Some("m"), "n counts rows of B, which all of C depends on");
        assert_eq!(rows("gather"), Some("n"), "m is compared with indices");
        assert_eq!(rows("transpose"), None, "rows of the one are columns of the other");
        assert_eq!(rows("unroll_vectorize"), None);
    }

    #[test]
    fn a_wrong_row_at_either_end_is_found() {
        let case = CASES.iter().find(|case| case.file == "softmax").expect("a case");
        let module = case.module(&kernels()).expect("readable");
        let function = module.function(case.function).expect("its function");
        let small = Case { time: &[("n", 40), ("d", 512)], ..*case };
        let arguments = small.arguments(function, small.time).expect("arguments");
        let judge = Judge::example(&small, &kernels(), &module, &arguments).expect("a judge");
        let outcome = interpret(&module, function, &arguments).expect("run");
        let right =
            outcome.outputs.iter().find(|output| output.parameter == 1).expect("B").array.data.clone();
        let check = |output: &[u8]| {
            let inputs = |k: usize| match &arguments[k] {
                Arg::Tensor(array) => array.data.clone(),
                _ => Vec::new(),
            };
            judge.check(|k| Ok(if k == 1 { output.to_vec() } else { inputs(k) }))
        };
        assert_eq!(check(&right), Ok(()));
        for at in [3, right.len() - 1] {
            let mut wrong = right.clone();
            wrong[at] ^= 0x01;
            assert!(check(&wrong).is_err(), "byte {at}");
        }
    }
}
