//! Compares a backend's result of a case with the interpreter's, within error bounds.

use chipdock_interpret::{Arg, Array, InterpretError, Interpreter, Mismatch, Output, compare};
use chipdock_ir::{DType, Op};

use super::cases::{Case, Operation};
use super::table::Table;
use super::values::format;

/// Result of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Held {
    /// Number of rows compared.
    pub n_rows: usize,
    /// Greatest error seen, in units in the last place of the result; 0 for exact results.
    pub ulps_max: f64,
    /// Number of wrong rows.
    pub n_wrong: usize,
    /// Description of the first wrong row.
    pub first: Option<String>,
}

impl Held {
    /// Counts a wrong row; calls `text` for the first one only.
    pub fn wrong(&mut self, text: impl FnOnce() -> String) {
        self.n_wrong += 1;
        if self.first.is_none() {
            self.first = Some(text());
        }
    }
}

/// Returns the arguments of a case's kernel: its operands, and zeros for the result.
#[must_use]
pub fn arguments(case: &Case, table: &Table) -> Vec<Array> {
    let mut all: Vec<Array> = table.columns[..case.operands.len()].to_vec();
    all.push(Array::zeros(case.result, &[table.n_rows()]));
    all
}

/// Runs a case on the interpreter, which also computes error bounds.
///
/// # Errors
///
/// An error of the interpreter.
pub fn interpret(case: &Case, table: &Table) -> Result<Output, InterpretError> {
    let module = chipdock_ir::build::module([case.kernel("f", table.n_rows())]);
    let mut args: Vec<Arg> = arguments(case, table).into_iter().map(Arg::Tensor).collect();
    let mut outcome = Interpreter::new(&module).with_bounds().run("f", &mut args)?;
    Ok(outcome.outputs.swap_remove(case.operands.len()))
}

/// Returns the distance between adjacent values at `value`, with no upper limit on the exponent.
#[must_use]
pub fn unit(value: f64, dtype: DType) -> f64 {
    let (precision, least, _) = format(dtype);
    let exponent = if value == 0.0 { least } else { exponent(value).max(least) };
    power_of_two(exponent - precision + 1)
}

fn exponent(value: f64) -> i32 {
    let biased = ((value.to_bits() >> 52) & 0x7ff) as i32;
    // A subnormal float64 is below the least exponent of every type but its own; `unit` raises it
    // to that.
    if biased == 0 { -1023 } else { biased - 1023 }
}

fn power_of_two(exponent: i32) -> f64 {
    if exponent < -1022 { f64::from_bits(1 << (exponent + 1074).clamp(0, 52)) } else { 2_f64.powi(exponent) }
}

/// Returns the greatest finite value of a float type.
#[must_use]
pub fn greatest(dtype: DType) -> f64 {
    let (precision, _, greatest) = format(dtype);
    (2.0 - 2_f64.powi(1 - precision)) * 2_f64.powi(greatest)
}

/// Returns the distance of a result from the exact value hi + lo; an infinity counts as the next
/// value after the greatest.
#[must_use]
pub fn distance(found: f64, (hi, lo): (f64, f64), dtype: DType) -> f64 {
    if found.is_nan() || hi.is_nan() {
        return if found.is_nan() && hi.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let limit = greatest(dtype);
    if hi.abs() > limit || found.is_infinite() {
        if found.is_sign_negative() != hi.is_sign_negative() {
            return f64::INFINITY;
        }
        let beyond =
            |value: f64| ((value.abs().min(limit * 2.0) - limit) / unit(limit, dtype)).clamp(-1e300, 1.0);
        return (beyond(found) - beyond(hi)).abs() * unit(limit, dtype);
    }
    ((found - hi) - lo).abs()
}

/// Formats a lane; a float with its bits.
#[must_use]
pub fn shown(array: &Array, lane: usize) -> String {
    let size_bytes = array.dtype.lane_size_bytes();
    let bits = array.data.get(lane * size_bytes..(lane + 1) * size_bytes).unwrap_or_default();
    let bits: String = bits.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    if array.dtype.is_float() {
        format!("{:?} [0x{bits}]", array.float(lane).unwrap_or(f64::NAN))
    } else {
        array.int(lane).unwrap_or_default().to_string()
    }
}

/// Describes a wrong row with its operands.
#[must_use]
pub fn difference(table: &Table, case: &Case, row: usize, found: &str, expected: &str) -> String {
    format!("of {}: expected {expected}, found {found}", operands(table, case, row))
}

/// Formats the operands of a row: `(1.5 [0x3fc00000], 2)`.
fn operands(table: &Table, case: &Case, row: usize) -> String {
    let operand = |column: &Array| {
        let lanes = usize::from(column.dtype.lanes);
        let all: Vec<String> = (row * lanes..(row + 1) * lanes).map(|lane| shown(column, lane)).collect();
        all.join(" ")
    };
    let operands: Vec<String> = table.columns[..case.operands.len()].iter().map(operand).collect();
    format!("({})", operands.join(", "))
}

/// Compares a backend's result with the interpreter's, within error bounds.
///
/// IR-N6 does not specify the bits of a NaN, so a reinterpreted NaN may have the bits of any NaN.
#[must_use]
pub fn hold_backend(case: &Case, table: &Table, output: &Output, found: &Array) -> Held {
    let mut verdict = Held { n_rows: output.array.n_lanes(), ..Held::default() };
    let output = nans_as_found(case, table, output, found);
    match compare(found, &output) {
        Err(mismatch) => verdict.wrong(|| mismatch.to_string()),
        Ok(report) => verdict.n_rows -= report.n_unbounded,
    }
    for row in (0..output.array.n_lanes()).filter(|_| case.result.is_float()) {
        let (a, b) = (found.float(row), output.array.float(row));
        let (Some(a), Some(b)) = (a, b) else { continue };
        if output.bound(row).is_finite() {
            let units = distance(a, (b, 0.0), case.result) / unit(b, case.result);
            verdict.ulps_max = verdict.ulps_max.max(units);
        }
    }
    verdict
}

/// Replaces reinterpreted NaNs in the output, whose bits may differ, by those of the backend.
fn nans_as_found(case: &Case, table: &Table, output: &Output, found: &Array) -> Output {
    let mut output = output.clone();
    if case.operation == Operation::Op(Op::Reinterpret) && case.operands[0].is_float() {
        let bits = Array { dtype: case.operands[0], ..found.clone() };
        let is_nan = |array: &Array, row| array.float(row).is_some_and(f64::is_nan);
        let either = |row: &usize| is_nan(&table.columns[0], *row) && is_nan(&bits, *row);
        let size_bytes = case.result.size_bytes();
        for row in (0..output.array.n_lanes()).filter(either) {
            let lane = row * size_bytes..(row + 1) * size_bytes;
            output.array.data[lane.clone()].copy_from_slice(&found.data[lane]);
        }
    }
    output
}

/// First wrong row of a backend's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Index of the row.
    pub row: usize,
    /// Operands of the row, as values and bits.
    pub operands: String,
    /// The interpreter's value and the allowed error.
    pub expected: String,
    /// The backend's value.
    pub found: String,
    /// Number of wrong rows.
    pub n_wrong: usize,
    /// Number of all rows.
    pub n_rows: usize,
}

/// Returns the first wrong row, if any. Unlike [`hold_backend`], also compares the sign of a zero
/// if the accuracy contract is exact.
#[must_use]
pub fn first_wrong(case: &Case, table: &Table, output: &Output, found: &Array) -> Option<Wrong> {
    let output = nans_as_found(case, table, output, found);
    let n_rows = output.array.n_lanes();
    let wrong = |row: usize, n_wrong: usize, exactly: bool| {
        let bound = output.bound(row);
        let within = if bound == 0.0 || exactly { "exactly".to_owned() } else { format!("within {bound:e}") };
        Wrong {
            row,
            operands: operands(table, case, row),
            expected: format!("{}, {within}", shown(&output.array, row)),
            found: shown(found, row),
            n_wrong,
            n_rows,
        }
    };
    match compare(found, &output) {
        Err(Mismatch::Value { index, n_wrong, .. }) => {
            return Some(wrong(index.first().copied().unwrap_or_default(), n_wrong, false));
        }
        Err(form) => {
            let none = Wrong { operands: String::new(), ..wrong(0, n_rows, false) };
            return Some(Wrong { found: form.to_string(), ..none });
        }
        Ok(_) => {}
    }
    if !case.result.is_float() || case.ulps > 0.5 {
        return None;
    }
    let other_sign = |row: &usize| match (output.array.float(*row), found.float(*row)) {
        (Some(a), Some(b)) => a == 0.0 && b == 0.0 && a.is_sign_negative() != b.is_sign_negative(),
        _ => false,
    };
    let mut rows = (0..n_rows).filter(other_sign);
    let first = rows.next()?;
    Some(wrong(first, rows.count() + 1, true))
}
