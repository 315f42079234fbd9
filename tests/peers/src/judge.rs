//! Holding results against answers (P3), and the summary of that.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chipdock_ir::interpret::{Arg, Array, InterpretError, Interpreter, Output, compare};
use chipdock_ir::{DType, Op};

use crate::Case;
use crate::cases::Operation;
use crate::python::Answer;
use crate::table::Table;
use crate::values::format;

/// How a case went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Rows compared.
    pub n_rows: usize,
    /// The greatest distance seen, in units in the last place of the result; 0 for what is exact.
    pub ulps_max: f64,
    /// How many rows are wrong.
    pub n_wrong: usize,
    /// The first that is, in words.
    pub first: Option<String>,
}

impl Verdict {
    fn wrong(&mut self, text: impl FnOnce() -> String) {
        self.n_wrong += 1;
        if self.first.is_none() {
            self.first = Some(text());
        }
    }
}

/// Arguments of a case's kernel: its operands, and a result of zeros.
#[must_use]
pub fn arguments(case: &Case, table: &Table) -> Vec<Array> {
    let mut all: Vec<Array> = table.columns[..case.operands.len()].to_vec();
    all.push(Array::zeros(case.result, &[table.n_rows()]));
    all
}

/// What the interpreter makes of a case, with bounds.
///
/// # Errors
///
/// The interpreter's.
pub fn interpret(case: &Case, table: &Table) -> Result<Output, InterpretError> {
    let module = chipdock_ir::build::module([case.kernel("f", table.n_rows())]);
    let mut args: Vec<Arg> = arguments(case, table).into_iter().map(Arg::Tensor).collect();
    let mut outcome = Interpreter::new(&module).with_bounds().run("f", &mut args)?;
    Ok(outcome.outputs.swap_remove(case.operands.len()))
}

/// The distance between neighbours at a value, the exponent being unbounded above.
#[must_use]
pub fn unit(value: f64, dtype: DType) -> f64 {
    let (precision, least, _) = format(dtype);
    let exponent = if value == 0.0 { least } else { exponent(value).max(least) };
    power_of_two(exponent - precision + 1)
}

fn exponent(value: f64) -> i32 {
    let biased = ((value.to_bits() >> 52) & 0x7ff) as i32;
    // Subnormal float64: below every type's least exponent but its own, which is taken then.
    if biased == 0 { -1023 } else { biased - 1023 }
}

fn power_of_two(exponent: i32) -> f64 {
    if exponent < -1022 { f64::from_bits(1 << (exponent + 1074).clamp(0, 52)) } else { 2_f64.powi(exponent) }
}

/// The greatest finite value of a float type.
fn greatest(dtype: DType) -> f64 {
    let (precision, _, greatest) = format(dtype);
    (2.0 - 2_f64.powi(1 - precision)) * 2_f64.powi(greatest)
}

/// How far a result is from the exact value, hi + lo; past the greatest value an infinity is the next one.
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

/// Holds the interpreter's result against a peer's answer (P3).
#[must_use]
pub fn hold(case: &Case, table: &Table, output: &Output, answer: &Answer) -> Verdict {
    let n_rows = table.n_rows();
    let mut verdict = Verdict { n_rows, ..Verdict::default() };
    match answer {
        Answer::Exact(expected) => exact(case, table, output, expected, &mut verdict),
        Answer::Real(expected) => {
            if case.ulps <= 0.5 || expected.len() != n_rows {
                verdict.wrong(|| "the peer has to give the very bits of every row".to_owned());
                return verdict;
            }
            for (row, &value) in expected.iter().enumerate() {
                real(case, table, output, row, value, &mut verdict);
            }
        }
    }
    verdict
}

fn exact(case: &Case, table: &Table, output: &Output, expected: &[u8], verdict: &mut Verdict) {
    let found = &output.array;
    let size_bytes = case.result.size_bytes();
    if case.ulps > 0.5 || expected.len() != found.data.len() {
        return verdict.wrong(|| "the peer has to give an exact value for every row".to_owned());
    }
    let expected = Array { dtype: found.dtype, shape: found.shape.clone(), data: expected.to_vec() };
    let float = case.result.is_float();
    for (row, (a, b)) in found.data.chunks(size_bytes).zip(expected.data.chunks(size_bytes)).enumerate() {
        let is_nan = |array: &Array| float && array.float(row).is_some_and(f64::is_nan);
        if a != b && !(is_nan(found) && is_nan(&expected)) {
            verdict.wrong(|| difference(table, case, row, &shown(found, row), &shown(&expected, row)));
        }
    }
}

fn real(case: &Case, table: &Table, output: &Output, row: usize, value: (f64, f64), verdict: &mut Verdict) {
    let found = output.array.float(row).unwrap_or(f64::NAN);
    let off = distance(found, value, case.result);
    let unit = unit(value.0, case.result);
    verdict.ulps_max = verdict.ulps_max.max(off / unit);
    let zero_sign = found == 0.0 && value.0 == 0.0 && found.is_sign_negative() != value.0.is_sign_negative();
    if off / unit > case.ulps || zero_sign {
        let text = format!("{:e} (off by {} units, allowed are {})", value.0, off / unit, case.ulps);
        return verdict.wrong(|| difference(table, case, row, &shown(&output.array, row), &text));
    }
    let (bound, reach) = (output.bound(row), off + case.ulps * unit);
    let inside = value.0.is_finite() && found.is_finite() && value.0.abs() + reach <= greatest(case.result);
    if inside && bound < reach * (1.0 - 1e-6) {
        let text = format!("a bound of {reach:e} or more; a backend may be so far off");
        verdict.wrong(|| difference(table, case, row, &format!("{found:e} within {bound:e}"), &text));
    }
}

fn shown(array: &Array, row: usize) -> String {
    if array.dtype.is_float() {
        format!("{:?}", array.float(row).unwrap_or(f64::NAN))
    } else {
        array.int(row).unwrap_or_default().to_string()
    }
}

fn difference(table: &Table, case: &Case, row: usize, found: &str, expected: &str) -> String {
    let operand = |column: &Array| {
        let lanes = usize::from(column.dtype.lanes);
        let all: Vec<String> = (row * lanes..(row + 1) * lanes).map(|lane| shown(column, lane)).collect();
        all.join(" ")
    };
    let operands: Vec<String> = table.columns[..case.operands.len()].iter().map(operand).collect();
    format!("of ({}): expected {expected}, found {found}", operands.join(", "))
}

/// Holds a backend's result against the interpreter's, within its bounds.
///
/// N6 does not say which NaN a NaN is: reinterpreted, it may have the bits of any.
#[must_use]
pub fn hold_backend(case: &Case, table: &Table, output: &Output, found: &Array) -> Verdict {
    let mut verdict = Verdict { n_rows: output.array.n_lanes(), ..Verdict::default() };
    let mut output = output.clone();
    if case.operation == Operation::Op(Op::Reinterpret) && case.operands[0].is_float() {
        let bits = Array { dtype: case.operands[0], ..found.clone() };
        let is_nan = |array: &Array, row| array.float(row).is_some_and(f64::is_nan);
        let either = |row: &usize| is_nan(&table.columns[0], *row) && is_nan(&bits, *row);
        let size_bytes = case.result.size_bytes();
        for row in (0..verdict.n_rows).filter(either) {
            let lane = row * size_bytes..(row + 1) * size_bytes;
            output.array.data[lane.clone()].copy_from_slice(&found.data[lane]);
        }
    }
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

/// What was compared, one line per operation and peer: types, rows, the greatest distance seen.
#[derive(Debug, Default)]
pub struct Summary(BTreeMap<(String, String), Vec<Entry>>);

/// Types, rows, greatest distance.
type Entry = (String, usize, f64);

impl Summary {
    /// Notes a case.
    pub fn add(&mut self, case: &Case, peer: &str, verdict: &Verdict) {
        let types: Vec<String> = case.operands.iter().map(DType::to_string).collect();
        let label = match (case.op().as_str(), types.last()) {
            ("cast" | "reinterpret", Some(from)) => format!("{from}→{}", case.result),
            (_, Some(last)) => last.clone(),
            _ => String::new(),
        };
        self.0.entry((case.op(), peer.to_owned())).or_default().push((
            label,
            verdict.n_rows,
            verdict.ulps_max,
        ));
    }

    /// The table as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "{:<26} {:<16} {:>5} {:>9} {:>9}  worst\n",
            "operation", "peer", "types", "rows", "max ulp"
        );
        for ((op, peer), entries) in &self.0 {
            let rows: usize = entries.iter().map(|entry| entry.1).sum();
            let worst = entries.iter().max_by(|a, b| a.2.total_cmp(&b.2));
            let (worst, ulps) = worst.map_or(("", 0.0), |entry| (entry.0.as_str(), entry.2));
            let worst = if ulps > 0.0 { worst } else { "exact" };
            let _ = writeln!(text, "{op:<26} {peer:<16} {:>5} {rows:>9} {ulps:>9.4}  {worst}", entries.len());
        }
        let n_cases: usize = self.0.values().map(Vec::len).sum();
        let n_rows: usize = self.0.values().flatten().map(|entry| entry.1).sum();
        let _ = writeln!(text, "{n_cases} operations on types, {n_rows} rows");
        text
    }
}
