//! Prints the result of a run.

use chipdock_ir::PrimFunc;
use serde_json::{Value, json};

use super::BufferFile;
use super::bind::Argument;
use super::call::Outcome;
use super::clock::DeviceTimes;
use super::scalar::Scalar;
use crate::npy::shape_text;
use crate::report::Result;
use crate::{output, table};

/// Where the code of a run comes from.
pub(super) struct Origin {
    /// The target that it was compiled for, as JSON.
    pub(super) target: Value,
    /// The target of its host functions.
    pub(super) host: Value,
    /// Time of the compilation in seconds, and whether it was found in the cache; `None` for a file
    /// that was built before.
    pub(super) compiled: Option<(f64, bool)>,
}

/// Result of a run, to be printed.
pub(super) struct Shown<'a> {
    pub(super) function: &'a PrimFunc,
    pub(super) origin: &'a Origin,
    pub(super) threads: u32,
    pub(super) outcome: &'a Outcome,
    pub(super) arguments: &'a [Argument],
}

impl Shown<'_> {
    pub(super) fn print(&self, inputs: &[BufferFile], outputs: &[BufferFile], json: bool) -> Result<()> {
        if json {
            return output::print_json(&self.to_json(inputs, outputs));
        }
        output::print(&self.to_text(inputs, outputs))
    }

    fn to_json(&self, inputs: &[BufferFile], outputs: &[BufferFile]) -> Value {
        let (mut buffers, mut scalars) = (Vec::new(), Vec::new());
        for argument in self.arguments {
            match argument {
                Argument::Tensor { name, dtype, shape, .. } => buffers.push(json!({
                    "name": name,
                    "dtype": dtype.to_string(),
                    "shape": shape,
                    "input": path_of(inputs, name),
                    "output": path_of(outputs, name),
                })),
                Argument::Scalar { name, dtype, value } => scalars.push(json!({
                    "name": name,
                    "dtype": dtype.to_string(),
                    "value": scalar_json(*value),
                })),
            }
        }
        let times = &self.outcome.times;
        let (device_times, missing) = match &self.outcome.device_times {
            DeviceTimes::Known(times) => (Some(times), None),
            DeviceTimes::Missing(why) => (None, Some(why)),
        };
        json!({
            "schema": "chipdock.run/1",
            "function": &*self.function.name,
            "target": self.origin.target,
            "host": self.origin.host,
            "built": self.origin.compiled.is_none(),
            "device": self.outcome.device,
            "threads": self.threads,
            "cached": self.origin.compiled.is_some_and(|(_, cached)| cached),
            "compile_seconds": self.origin.compiled.map_or(0.0, |(seconds, _)| seconds),
            "load_seconds": self.outcome.load_seconds,
            "times_seconds": times,
            "median_seconds": median(times),
            "least_seconds": least(times),
            "device_times_seconds": device_times,
            "device_median_seconds": device_times.map(|times| median(times)),
            "device_times_missing": missing,
            "buffers": buffers,
            "scalars": scalars,
            "result": self.outcome.result.map(scalar_json),
        })
    }

    fn to_text(&self, inputs: &[BufferFile], outputs: &[BufferFile]) -> String {
        let device_time = match &self.outcome.device_times {
            DeviceTimes::Known(times) => times_text(times),
            DeviceTimes::Missing(_) => "-".to_owned(),
        };
        let kind = |target: &Value| target["kind"].as_str().unwrap_or("-").to_owned();
        let (target, host) = (kind(&self.origin.target), kind(&self.origin.host));
        let target = if target == host { target } else { format!("{target}, host {host}") };
        let mut facts = table::new(&["FUNCTION", &self.function.name]);
        facts.add_row(["target", &target]);
        facts.add_row(["device", &self.outcome.device]);
        facts.add_row([
            "compile",
            &match self.origin.compiled {
                None => "built before".to_owned(),
                Some((seconds, false)) => table::duration(seconds),
                Some((seconds, true)) => table::duration(seconds) + " (found in the cache)",
            },
        ]);
        facts.add_row(["load", &table::duration(self.outcome.load_seconds)]);
        facts.add_row(["run", &times_text(&self.outcome.times)]);
        facts.add_row(["run on device", &device_time]);
        if let Some(result) = self.outcome.result {
            facts.add_row(["result".to_owned(), scalar_text(result)]);
        }
        let mut rows = table::new(&["ARGUMENT", "TYPE", "SHAPE", "IN", "OUT"]);
        for argument in self.arguments {
            match argument {
                Argument::Tensor { name, dtype, shape, .. } => rows.add_row([
                    name.clone(),
                    dtype.to_string(),
                    shape_text(shape),
                    path_of(inputs, name).unwrap_or_else(|| "zeros".to_owned()),
                    path_of(outputs, name).unwrap_or_else(|| "-".to_owned()),
                ]),
                Argument::Scalar { name, dtype, value } => {
                    rows.add_row([name.as_str(), &dtype.to_string(), "", &scalar_text(*value), ""])
                }
            };
        }
        format!("{}\n{}", table::text(&facts), table::text(&rows))
    }
}

fn path_of(files: &[BufferFile], buffer: &str) -> Option<String> {
    files.iter().find(|file| file.buffer == buffer).map(|file| file.path.display().to_string())
}

/// Returns a scalar as JSON. JSON has neither infinities nor NaN, and no integer past 64 bits:
/// those are strings.
fn scalar_json(value: Scalar) -> Value {
    match value {
        Scalar::Bool(value) => value.into(),
        Scalar::Float(value) if value.is_finite() => value.into(),
        Scalar::Float(value) => value.to_string().into(),
        Scalar::Int(value) => match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => value.into(),
            (_, Ok(value)) => value.into(),
            _ => value.to_string().into(),
        },
    }
}

fn scalar_text(value: Scalar) -> String {
    match value {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Float(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
    }
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Returns the median and the least of several times, or the only one.
fn times_text(times: &[f64]) -> String {
    let (median, least) = (table::duration(median(times)), table::duration(least(times)));
    match times.len() {
        1 => median,
        count => format!("{median} median, {least} least of {count}"),
    }
}

/// Returns the median; of an even number, the mean of the middle two.
fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle), sorted.len() % 2) {
        (Some(value), 1) => *value,
        (Some(value), _) => (value + sorted[middle - 1]) / 2.0,
        (None, _) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!((median(&[5.0]), least(&[5.0, 4.0])), (5.0, 4.0));
    }

    #[test]
    fn numbers_that_json_has_not_are_strings() {
        assert_eq!(scalar_json(Scalar::Float(f64::NAN)), json!("NaN"));
        assert_eq!(scalar_json(Scalar::Int(u64::MAX.into())), json!(u64::MAX));
        assert_eq!(scalar_json(Scalar::Float(0.5)), json!(0.5));
    }
}
