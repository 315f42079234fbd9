//! Checks results against the peers' answers (PEERS-P3), and prints a summary.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chipdock_interpret::{Array, Output};
use chipdock_ir::DType;

pub use chipdock_conformance::ops::judge::{Held, arguments, hold_backend, interpret};
use chipdock_conformance::ops::judge::{difference, distance, greatest, shown, unit};

use crate::Case;
use crate::python::Answer;
use crate::table::Table;

/// Checks the interpreter's result against a peer's answer (PEERS-P3).
#[must_use]
pub fn hold(case: &Case, table: &Table, output: &Output, answer: &Answer) -> Held {
    let n_rows = table.n_rows();
    let mut verdict = Held { n_rows, ..Held::default() };
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

fn exact(case: &Case, table: &Table, output: &Output, expected: &[u8], verdict: &mut Held) {
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

fn real(case: &Case, table: &Table, output: &Output, row: usize, value: (f64, f64), verdict: &mut Held) {
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

/// Summary of the comparisons, one line per operation and peer: types, rows, the largest
/// difference.
#[derive(Debug, Default)]
pub struct Summary(BTreeMap<(String, String), Vec<Entry>>);

/// Types, rows, largest difference.
type Entry = (String, usize, f64);

impl Summary {
    /// Adds a case.
    pub fn add(&mut self, case: &Case, peer: &str, verdict: &Held) {
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

    /// Returns the table as text.
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
