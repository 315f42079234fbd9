//! A program with its arguments.

use std::fmt;

use chipdock_interpret::{Arg, Array, InterpretError, Interpreter, Limits, Outcome, compare};
use chipdock_ir::{BinaryOp, Expr, ExprKind, IrModule, Param, print};

/// A program with its arguments.
#[derive(Clone)]
pub struct Case {
    /// The module.
    pub module: IrModule,
    /// Name of the function to call.
    pub function: String,
    /// One argument for each parameter: tensors to read, numbers, then tensors to write (initially
    /// filled with 77).
    pub args: Vec<Arg>,
}

/// Numbers of values in a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Number of values in all tensors.
    pub n_lanes: usize,
    /// Number of values for which the interpreter has no error bound.
    pub n_unbounded: usize,
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Self) {
        self.n_lanes += other.n_lanes;
        self.n_unbounded += other.n_unbounded;
    }
}

impl Case {
    /// Creates a case from a module, with generated arguments: symbolic sizes are 3, and inputs
    /// count up in small steps.
    ///
    /// # Errors
    ///
    /// There is no such function, or one of its shapes is no sum or product of sizes.
    pub fn from_module(module: IrModule, function: &str) -> Result<Self, String> {
        let kernel = module.function(function).ok_or_else(|| format!("there is no function {function}"))?;
        let args = kernel.params.iter().map(argument).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { function: function.to_owned(), args, module })
    }

    /// Returns the module as TVMScript, preceded by the arguments as comments.
    #[must_use]
    pub fn text(&self) -> String {
        let names = self.module.function(&self.function).into_iter().flat_map(|function| &function.params);
        let mut text = String::new();
        for (param, arg) in names.zip(&self.args) {
            text.push_str(&match arg {
                Arg::Tensor(array) => format!("# {} = {array:?}\n", param.name()),
                Arg::Int(value) => format!("# {} = {value}\n", param.name()),
                Arg::Float(value) => format!("# {} = {value:?}\n", param.name()),
            });
        }
        text + &print::module(&self.module)
    }

    /// Runs the case on the interpreter, with error bounds.
    ///
    /// # Errors
    ///
    /// An error of the interpreter; PROG-G2 excludes it for generated programs, so it is a defect
    /// of this crate or of the interpreter.
    pub fn expected(&self) -> Result<Outcome, InterpretError> {
        let interpreter = Interpreter::new(&self.module).with_bounds().with_limits(LIMITS);
        interpreter.run(&self.function, &mut self.args.clone())
    }

    /// Runs `module`, which was derived from this one, on the same arguments, and returns the
    /// tensors.
    ///
    /// # Errors
    ///
    /// An error of the interpreter.
    pub fn run(&self, module: &IrModule) -> Result<Vec<Array>, InterpretError> {
        let interpreter = Interpreter::new(module).with_limits(LIMITS);
        let outcome = interpreter.run(&self.function, &mut self.args.clone())?;
        Ok(outcome.outputs.into_iter().map(|output| output.array).collect())
    }

    /// Compares tensors computed elsewhere, all of them in the order of the parameters, with the
    /// interpreter's.
    ///
    /// # Errors
    ///
    /// A text with the first tensor that differs, and where.
    pub fn check(&self, actual: &[Array]) -> Result<Compared, String> {
        let outcome = self.expected().map_err(|error| error.to_string())?;
        if actual.len() != outcome.outputs.len() {
            return Err(format!("expected {} tensors, found {}", outcome.outputs.len(), actual.len()));
        }
        let mut compared = Compared::default();
        for (array, output) in actual.iter().zip(&outcome.outputs) {
            let report =
                compare(array, output).map_err(|mismatch| format!("tensor {}: {mismatch}", output.name))?;
            compared += Compared { n_lanes: report.n_lanes, n_unbounded: report.n_unbounded };
        }
        Ok(compared)
    }

    /// Checks that a module derived from this one gives identical results, bit by bit except for
    /// NaNs, which may differ in their bits.
    ///
    /// # Errors
    ///
    /// A text with the first value that differs.
    pub fn check_same(&self, module: &IrModule) -> Result<(), String> {
        let before = self.run(&self.module).map_err(|error| format!("before: {error}"))?;
        let after = self.run(module).map_err(|error| error.to_string())?;
        for (index, (before, after)) in before.iter().zip(&after).enumerate() {
            if let Some(lane) = first_difference(before, after) {
                let at = before.position(lane);
                let [x, y] = [before, after].map(|array| lane_text(array, lane));
                return Err(format!("tensor {index} at {at:?}: expected {x}, found {y}"));
            }
        }
        Ok(())
    }
}

fn argument(param: &Param) -> Result<Arg, String> {
    match param {
        Param::Var(var) if var.dtype.is_float() => Ok(Arg::Float(1.5)),
        Param::Var(var) if var.dtype.is_bool() => Ok(Arg::Int(1)),
        Param::Var(var) if var.dtype.is_integer() => Ok(Arg::Int(3)),
        Param::Var(var) => Err(format!("parameter {} is a pointer", var.name)),
        Param::Buffer(buffer) => {
            let extents = buffer.shape.iter().map(extent).collect::<Option<Vec<usize>>>();
            let extents = extents.ok_or_else(|| format!("the shape of {} is not known", buffer.name))?;
            let n_lanes = extents.iter().product::<usize>() * usize::from(buffer.dtype.lanes);
            let step = if buffer.dtype.is_float() { 0.375 } else { 1.0 };
            let start = if buffer.dtype.is_uint() || buffer.dtype.is_bool() { 0.0 } else { -2.0 };
            let values: Vec<f64> = (0..n_lanes).map(|lane| start + step * lane as f64).collect();
            Ok(Arg::Tensor(Array::from_f64(buffer.dtype, &extents, &values)))
        }
    }
}

/// Evaluates an extent, with every size equal to 3.
fn extent(expr: &Expr) -> Option<usize> {
    match &expr.kind {
        ExprKind::Int(value) => usize::try_from(*value).ok(),
        ExprKind::Var(_) => Some(3),
        ExprKind::Binary(BinaryOp::Add, a, b) => extent(a)?.checked_add(extent(b)?),
        ExprKind::Binary(BinaryOp::Mul, a, b) => extent(a)?.checked_mul(extent(b)?),
        _ => None,
    }
}

/// Limits of a run. No generated program runs long; a reduced one that does is not worth waiting
/// for.
pub(crate) const LIMITS: Limits = Limits { steps_max: 2_000_000, memory_bytes_max: 1 << 26, calls_max: 20 };

fn first_difference(a: &Array, b: &Array) -> Option<usize> {
    let size_bytes = a.dtype.lane_size_bytes().max(1);
    let is_nan = |array: &Array, lane| array.dtype.is_float() && array.float(lane).is_some_and(f64::is_nan);
    if a.dtype != b.dtype || a.data.len() != b.data.len() {
        return Some(0);
    }
    let lanes = a.data.chunks(size_bytes).zip(b.data.chunks(size_bytes)).enumerate();
    let mut different = lanes.filter(|(_, (x, y))| x != y).map(|(lane, _)| lane);
    different.find(|lane| !(is_nan(a, *lane) && is_nan(b, *lane)))
}

fn lane_text(array: &Array, lane: usize) -> String {
    if array.dtype.is_float() {
        format!("{:?}", array.float(lane).unwrap_or_default())
    } else {
        array.int(lane).unwrap_or_default().to_string()
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.text())
    }
}
