//! Kernels written as TVMScript in this crate, and generation of arguments for any kernel.

use std::collections::HashMap;

use chipdock_interpret::{Arg, Array};
use chipdock_ir::{BinaryOp, Buffer, DType, Expr, ExprKind, IrModule, Param, PrimFunc};
use chipdock_programs::Random;

use crate::Profile;
use crate::batch::{Described, Kernel};

/// Values of the shape symbols and scalar parameters, by name.
pub(crate) type Sizes = HashMap<String, i64>;

/// A kernel written as text. `FN` in the text stands for the name of the called function, and
/// begins the names of the others; `WARP` stands for the threads of a warp, `TWO_WARPS` for those
/// of two, `WARP_STEPS` for the binary logarithm, and `WARP_PART` for 8 lanes, or those of a warp
/// of fewer.
pub(crate) struct Script {
    text: String,
    sizes: Sizes,
    seed: u64,
    weight: usize,
}

/// Describes a kernel written as text, of weight 1.
pub(crate) fn script(
    name: impl Into<String>,
    clause: &'static str,
    profiles: impl IntoIterator<Item = Profile>,
    text: &str,
    sizes: &[(&str, i64)],
) -> Described {
    weighing(1, name, clause, profiles, text, sizes)
}

/// Describes a kernel written as text that costs a compiler as much as `weight` ordinary kernels.
pub(crate) fn weighing(
    weight: usize,
    name: impl Into<String>,
    clause: &'static str,
    profiles: impl IntoIterator<Item = Profile>,
    text: &str,
    sizes: &[(&str, i64)],
) -> Described {
    let sizes = sizes.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    Described {
        name: name.into(),
        clause,
        profiles: profiles.into_iter().collect(),
        kernel: Box::new(Script { text: text.to_owned(), sizes, seed: 0x5eed, weight }),
    }
}

impl Script {
    /// Parses the text; the function to be called gets this name.
    fn parse(&self, name: &str, warp: u8) -> Result<IrModule, String> {
        let mut text = self.text.replace("FN", name);
        let numbers = [
            ("TWO_WARPS", 2 * u32::from(warp)),
            ("WARP_STEPS", warp.max(1).ilog2()),
            ("WARP_PART", warp.min(8).into()),
            ("WARP", warp.into()),
        ];
        for (word, number) in numbers {
            text = text.replace(word, &number.to_string());
        }
        chipdock_script::parse(&text, name).map_err(|errors| errors.to_string())
    }
}

impl Kernel for Script {
    fn functions(&self, name: &str, warp: u8) -> Result<Vec<PrimFunc>, String> {
        Ok(self.parse(name, warp)?.functions)
    }

    fn args(&self, warp: u8) -> Result<Vec<Arg>, String> {
        let module = self.parse("f", warp)?;
        let function = module.function("f").ok_or("the text has no function FN")?;
        arguments(function, &self.sizes, self.seed)
    }

    fn weight(&self) -> usize {
        self.weight
    }
}

/// Generates the arguments of a function: every buffer, output buffers included, is filled from the
/// seed; a scalar comes from `sizes`, else it is 3, true or 1.5.
pub(crate) fn arguments(function: &PrimFunc, sizes: &Sizes, seed: u64) -> Result<Vec<Arg>, String> {
    let mut random = Random::new(seed);
    let argument = |param: &Param| {
        Ok(match param {
            Param::Buffer(buffer) => Arg::Tensor(filled(&mut random, buffer.dtype, &shape(buffer, sizes)?)),
            Param::Var(var) => match sizes.get(&*var.name) {
                Some(value) if var.dtype.is_float() => Arg::Float(*value as f64),
                None if var.dtype.is_float() => Arg::Float(1.5),
                value => {
                    let default = if var.dtype.is_bool() { 1 } else { 3 };
                    Arg::Int(i128::from(value.copied().unwrap_or(default)))
                }
            },
        })
    };
    function.params.iter().map(argument).collect()
}

/// Returns the shape of a buffer parameter, its symbols replaced by their values.
pub(crate) fn shape(buffer: &Buffer, sizes: &Sizes) -> Result<Vec<usize>, String> {
    fn value(expr: &Expr, sizes: &Sizes) -> Result<i64, String> {
        match &expr.kind {
            ExprKind::Int(value) => i64::try_from(*value).map_err(|_| "too large an extent".to_owned()),
            ExprKind::Var(var) => {
                sizes.get(&*var.name).copied().ok_or_else(|| format!("no size is given for {}", var.name))
            }
            ExprKind::Binary(BinaryOp::Add, a, b) => Ok(value(a, sizes)? + value(b, sizes)?),
            ExprKind::Binary(BinaryOp::Mul, a, b) => Ok(value(a, sizes)? * value(b, sizes)?),
            _ => Err("an extent that is more than sums and products".to_owned()),
        }
    }
    let extent =
        |extent: &Expr| usize::try_from(value(extent, sizes)?).map_err(|_| "a negative extent".to_owned());
    buffer.shape.iter().map(extent).collect()
}

/// Fills an array with random values: floats in [-2, 2), booleans, 8-bit integers of the whole
/// range, wider integers in [-32, 96).
pub(crate) fn filled(random: &mut Random, dtype: DType, shape: &[usize]) -> Array {
    let lanes = usize::from(dtype.lanes);
    let count = shape.iter().product::<usize>() * lanes;
    let scalar = dtype.scalar();
    let array = if scalar.is_float() {
        let values: Vec<f64> =
            (0..count).map(|_| (random.bits() >> 40) as f64 / f64::from(1 << 22) - 2.0).collect();
        Array::from_f64(scalar, &[count], &values)
    } else {
        let value = |bits: u64| match (scalar.is_bool(), scalar.bits) {
            (true, _) => i128::from(bits & 1),
            (_, 8) => scalar.wrap(i128::from(bits as u8)),
            _ => i128::from(bits % 128) - if scalar.is_uint() { 0 } else { 32 },
        };
        let values: Vec<i128> = (0..count).map(|_| value(random.bits())).collect();
        Array::from_int(scalar, &[count], &values)
    };
    Array { dtype, shape: shape.to_vec(), data: array.data }
}
