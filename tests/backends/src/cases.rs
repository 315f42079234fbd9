//! The example kernels, with sizes for checks, sizes for measurements, and their amounts of work.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use chipdock_interpret::{Arg, Array};
use chipdock_ir::{BinaryOp, Buffer, DType, Expr, ExprKind, IrModule, Param, PrimFunc, TypeCode};
use chipdock_programs::Random;

use super::Result;

/// Values of the symbols in a kernel's shapes.
pub type Sizes = &'static [(&'static str, i64)];

/// Method of counting the work of a run.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Bytes, with every buffer read or written once: GB/s.
    Bytes,
    /// Operations, two for each multiply-add: twice the product of these symbols and this factor,
    /// in GFLOP/s.
    MultiplyAdds(&'static [&'static str], i64),
}

/// An example kernel.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The file, and the function if the file has several.
    pub name: &'static str,
    /// File in `examples/kernels`, without `.py`.
    pub file: &'static str,
    /// Function in the file.
    pub function: &'static str,
    /// Small sizes, for the check by the interpreter.
    pub check: Sizes,
    /// Large sizes, for measuring time.
    pub time: Sizes,
    /// Method of counting its work.
    pub work: Work,
    /// For a kernel whose fixed size is too large for the interpreter: another kernel that must
    /// give the same first rows.
    pub judge: Option<(&'static str, Sizes)>,
}

const ELEMENTS: Sizes = &[("n", 1 << 20)];
const FEW: Sizes = &[("n", 1000)];
const ROWS: Sizes = &[("n", 2048), ("d", 512)];
const FEW_ROWS: Sizes = &[("n", 9), ("d", 77)];

const fn case(file: &'static str, check: Sizes, time: Sizes, work: Work) -> Case {
    Case { name: file, file, function: file, check, time, work, judge: None }
}

/// Every example kernel.
pub const CASES: &[Case] = &[
    case("vector_add", FEW, ELEMENTS, Work::Bytes),
    Case { name: "multi:scale", function: "scale", ..case("multi", FEW, ELEMENTS, Work::Bytes) },
    Case { name: "multi:add", function: "add", ..case("multi", FEW, ELEMENTS, Work::Bytes) },
    case("unroll_vectorize", &[], &[], Work::Bytes),
    case("cast_f16", FEW, ELEMENTS, Work::Bytes),
    case("compare_select", FEW, ELEMENTS, Work::Bytes),
    case("saturating_add_u8", FEW, ELEMENTS, Work::Bytes),
    case("divmod_i64", FEW, ELEMENTS, Work::Bytes),
    case("while_loop", FEW, &[("n", 1 << 16)], Work::Bytes),
    case("gather", &[("m", 50), ("d", 8), ("n", 20)], &[("m", 4096), ("d", 64), ("n", 16384)], Work::Bytes),
    case("transpose", &[("m", 48), ("n", 64)], &[("m", 1024), ("n", 1024)], Work::Bytes),
    case("gelu_tanh", FEW, ELEMENTS, Work::Bytes),
    case("softmax", FEW_ROWS, ROWS, Work::Bytes),
    case("layernorm", FEW_ROWS, ROWS, Work::Bytes),
    case("rms_norm", FEW_ROWS, ROWS, Work::Bytes),
    case("conv2d", &[("n", 1)], &[("n", 16)], Work::MultiplyAdds(&["n"], 8 * 32 * 32 * 3 * 3 * 3)),
    case(
        "int8_dot",
        &[("m", 32), ("n", 24), ("k", 64)],
        &[("m", 256), ("n", 256), ("k", 256)],
        Work::MultiplyAdds(&["m", "n", "k"], 1),
    ),
    case(
        "matmul",
        &[("m", 48), ("n", 40), ("k", 56)],
        &[("m", 512), ("n", 512), ("k", 512)],
        Work::MultiplyAdds(&["m", "n", "k"], 1),
    ),
    Case {
        function: "matmul",
        judge: Some(("matmul", &[("m", 4), ("n", 1024), ("k", 1024)])),
        ..case("matmul_scheduled", &[], &[], Work::MultiplyAdds(&[], 1024 * 1024 * 1024))
    },
];

impl Case {
    /// Reads the kernel's file.
    ///
    /// # Errors
    ///
    /// No such file, or no module in it.
    pub fn module(&self, kernels: &Path) -> Result<IrModule> {
        read_module(&kernels.join(format!("{}.py", self.file)))
    }

    /// Returns the arguments at these sizes, filled by [`arguments`] and adapted to the kernel: for
    /// peers, which define less than the IR does.
    ///
    /// # Errors
    ///
    /// As for [`shape`].
    pub fn arguments(&self, function: &PrimFunc, sizes: Sizes) -> Result<Vec<Arg>> {
        let mut all = arguments(function, &symbols(sizes))?;
        if self.file == "divmod_i64"
            && let Some(Arg::Tensor(divisors)) = all.get_mut(1)
        {
            let (numbers, _) = divisors.data.as_chunks_mut::<8>();
            numbers.iter_mut().filter(|number| **number == [0; 8]).for_each(|zero| zero[0] = 7);
        }
        Ok(all)
    }

    /// Returns the work of one run, in bytes or operations.
    #[must_use]
    pub fn amount(&self, function: &PrimFunc, sizes: Sizes) -> f64 {
        match self.work {
            Work::Bytes => {
                let bytes = |param: &Param| match param {
                    Param::Buffer(buffer) => {
                        let shape = shape(buffer, &symbols(sizes)).unwrap_or_default();
                        shape.iter().product::<i64>() as f64 * buffer.dtype.size_bytes() as f64
                    }
                    Param::Var(_) => 0.0,
                };
                function.params.iter().map(bytes).sum()
            }
            Work::MultiplyAdds(names, factor) => {
                let symbols = symbols(sizes);
                2.0 * factor as f64 * names.iter().map(|name| symbols[*name] as f64).product::<f64>()
            }
        }
    }

    /// Returns the unit of its rate.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        if matches!(self.work, Work::Bytes) { "GB/s" } else { "GFLOP/s" }
    }
}

/// Reads a kernel's file.
///
/// # Errors
///
/// No such file, or no module in it.
pub fn read_module(path: &Path) -> Result<IrModule> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    chipdock_script::parse(&text, &path.display().to_string()).map_err(|errors| errors.to_string())
}

/// Returns the sizes by name.
#[must_use]
pub fn symbols(sizes: Sizes) -> HashMap<String, i64> {
    sizes.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

/// Returns the shape of a parameter for given values of its symbols.
///
/// # Errors
///
/// A symbol has no value, or an extent is more than sums and products.
pub fn shape(buffer: &Buffer, symbols: &HashMap<String, i64>) -> Result<Vec<i64>> {
    fn value(expr: &Expr, symbols: &HashMap<String, i64>) -> Result<i64> {
        match &expr.kind {
            ExprKind::Int(value) => {
                i64::try_from(*value).map_err(|_| format!("the extent {value} is too large"))
            }
            ExprKind::Var(var) => {
                symbols.get(&*var.name).copied().ok_or_else(|| format!("no size is given for `{}`", var.name))
            }
            ExprKind::Binary(BinaryOp::Add, a, b) => Ok(value(a, symbols)? + value(b, symbols)?),
            ExprKind::Binary(BinaryOp::Mul, a, b) => Ok(value(a, symbols)? * value(b, symbols)?),
            _ => Err(format!("the extent {expr:?} is more than sums and products")),
        }
    }
    buffer.shape.iter().map(|extent| value(extent, symbols)).collect()
}

/// Returns arguments for a function, with every buffer, also outputs, filled from a fixed seed.
///
/// # Errors
///
/// As for [`shape`].
pub fn arguments(function: &PrimFunc, symbols: &HashMap<String, i64>) -> Result<Vec<Arg>> {
    let mut random = Random::new(0x5eed);
    let argument = |param: &Param| {
        Ok(match param {
            Param::Buffer(buffer) => Arg::Tensor(array(&mut random, buffer.dtype, &shape(buffer, symbols)?)),
            Param::Var(var) if var.dtype.is_float() => Arg::Float(1.5),
            Param::Var(var) => Arg::Int(i128::from(symbols.get(&*var.name).copied().unwrap_or(3))),
        })
    };
    function.params.iter().map(argument).collect()
}

/// Returns an array of floats in [-2, 2), booleans, bytes of the whole range (storage types too),
/// or wider integers in [-32, 96).
fn array(random: &mut Random, dtype: DType, shape: &[i64]) -> Array {
    let shape: Vec<usize> = shape.iter().map(|extent| *extent as usize).collect();
    let count: usize = shape.iter().product();
    if dtype.is_storage() {
        let size_bytes = dtype.array_size_bytes(count).unwrap_or(0);
        return Array { dtype, shape, data: (0..size_bytes).map(|_| random.bits() as u8).collect() };
    }
    let mut data = Vec::with_capacity(count * dtype.size_bytes());
    for _ in 0..count {
        let bits = random.bits();
        let unit = (bits >> 40) as f32 / (1_u64 << 22) as f32 - 2.0;
        match (dtype.code, dtype.bits) {
            (TypeCode::Float, 32) => data.extend(unit.to_le_bytes()),
            (TypeCode::Float, 64) => data.extend(f64::from(unit).to_le_bytes()),
            (TypeCode::Bool, _) => data.push((bits & 1) as u8),
            (TypeCode::Int | TypeCode::UInt, 8) => data.push(bits as u8),
            (TypeCode::Int | TypeCode::UInt, _) => {
                let value = (bits % 128) as i64 - if dtype.is_uint() { 0 } else { 32 };
                data.extend(&value.to_le_bytes()[..dtype.size_bytes()]);
            }
            // Halves: a sign and a fraction, exponents near one.
            _ => data.extend((((bits as u16) & 0x83ff) | 0x3c00).to_le_bytes()),
        }
    }
    Array { dtype, shape, data }
}
