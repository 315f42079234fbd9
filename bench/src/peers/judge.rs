//! Checks results at the timed sizes against the reference interpreter, which cannot run all of
//! them.
//!
//! A kernel whose rows do not depend on each other is run on its first rows and on its last ones;
//! any other is run whole. The bounds are the interpreter's own.

use std::path::Path;

use chipdock_interpret::{Arg, Array, Output, compare};
use chipdock_ir::{Buffer, Expr, ExprKind, IrModule, Param, PrimFunc};

use crate::Result;
use chipdock_test_backends::cases::{Case, Sizes, shape, symbols};
use chipdock_test_backends::run::{first_rows, interpret};

/// Maximum number of elements of the last tensor that the interpreter computes at each end.
const ELEMENTS_MAX: i64 = 4096;

/// Part of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    First,
    Last,
}

impl Part {
    fn of(self, data: &[u8], len: usize) -> &[u8] {
        match self {
            Self::First => &data[..len.min(data.len())],
            Self::Last => &data[data.len() - len.min(data.len())..],
        }
    }
}

/// Expected values of some rows of every result.
pub struct Judge {
    parts: Vec<(Part, Vec<Output>)>,
}

impl Judge {
    /// Computes the expected values with the interpreter.
    ///
    /// # Errors
    ///
    /// The kernel does not exist, or the interpreter refuses it.
    pub fn new(case: &Case, kernels: &Path, module: &IrModule, arguments: &[Arg]) -> Result<Self> {
        let function =
            module.function(case.function).ok_or_else(|| format!("no function {}", case.function))?;
        if let Some((file, sizes)) = case.judge {
            let outcome = first_rows(file, sizes, kernels, arguments)?;
            return Ok(Self { parts: vec![(Part::First, outcome.outputs)] });
        }
        let Some(rows) = row_symbol(function, case.time) else {
            return Ok(Self { parts: vec![(Part::First, interpret(module, function, arguments)?.outputs)] });
        };
        let ends = [Part::First, Part::Last].map(|part| {
            let few = few_rows(function, case.time, rows)?;
            let arguments = cut(function, case.time, rows, few, arguments, part)?;
            Ok((part, interpret(module, function, &arguments)?.outputs))
        });
        Ok(Self { parts: ends.into_iter().collect::<Result<Vec<_>>>()? })
    }

    /// Checks a contender's tensors, by parameter, against the bounds.
    ///
    /// # Errors
    ///
    /// A tensor is missing, or a value is out of its bound, or the interpreter has bounds for too
    /// few values.
    pub fn hold(&self, tensor: impl Fn(usize) -> Result<Vec<u8>>) -> Result<()> {
        for (part, outputs) in &self.parts {
            for output in outputs {
                let data = tensor(output.parameter)?;
                let Array { dtype, shape, data: wanted } = &output.array;
                let data = part.of(&data, wanted.len()).to_vec();
                let found = Array { dtype: *dtype, shape: shape.clone(), data };
                let report = compare(&found, output).map_err(|wrong| format!("{}: {wrong}", output.name))?;
                if report.n_unbounded * 2 > report.n_lanes {
                    return Err(format!(
                        "{}: the interpreter bounds too few values to judge by",
                        output.name
                    ));
                }
            }
        }
        Ok(())
    }
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

/// Returns the arguments of a run on `few` rows alone.
fn cut(function: &PrimFunc, sizes: Sizes, rows: &str, few: i64, all: &[Arg], part: Part) -> Result<Vec<Arg>> {
    let mut symbols = symbols(sizes);
    symbols.insert(rows.to_owned(), few);
    let one = |(param, arg): (&Param, &Arg)| match (param, arg) {
        (Param::Buffer(buffer), Arg::Tensor(array)) => {
            let shape: Vec<usize> = shape(buffer, &symbols)?.iter().map(|extent| *extent as usize).collect();
            let len = shape.iter().product::<usize>() * array.dtype.size_bytes();
            Ok(Arg::Tensor(Array { dtype: array.dtype, shape, data: part.of(&array.data, len).to_vec() }))
        }
        (_, other) => Ok(other.clone()),
    };
    function.params.iter().zip(all).map(one).collect()
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
        let judge = Judge::new(&small, &kernels(), &module, &arguments).expect("a judge");
        let outcome = interpret(&module, function, &arguments).expect("run");
        let right =
            outcome.outputs.iter().find(|output| output.parameter == 1).expect("B").array.data.clone();
        let of = |output: &[u8]| {
            let inputs = |k: usize| match &arguments[k] {
                Arg::Tensor(array) => array.data.clone(),
                _ => Vec::new(),
            };
            judge.hold(|k| Ok(if k == 1 { output.to_vec() } else { inputs(k) }))
        };
        assert_eq!(of(&right), Ok(()));
        for at in [3, right.len() - 1] {
            let mut wrong = right.clone();
            wrong[at] ^= 0x01;
            assert!(of(&wrong).is_err(), "byte {at}");
        }
    }
}
