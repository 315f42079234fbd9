//! Comparison of another backend's result with the interpreter's, within the bound of each element.

use std::fmt;

use crate::Array;
use chipdock_ir::DType;

/// A tensor that a run left in a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The parameter's position.
    pub parameter: usize,
    /// The parameter's name.
    pub name: String,
    /// Its values after the run.
    pub array: Array,
    /// Per lane, the greatest distance of a conforming backend from the value: 0 is exact (class of
    /// NaN and infinity included), infinity is "anything". `None` if the run was without bounds:
    /// then everything is exact.
    pub bounds: Option<Vec<f64>>,
}

impl Output {
    /// Returns the bound of a lane.
    #[must_use]
    pub fn bound(&self, lane: usize) -> f64 {
        self.bounds.as_ref().and_then(|bounds| bounds.get(lane)).copied().unwrap_or(0.0)
    }

    /// Returns the number of lanes without a bound, because of an ambiguous branch or a possible
    /// overflow.
    #[must_use]
    pub fn n_unbounded(&self) -> usize {
        self.bounds.iter().flatten().filter(|bound| !bound.is_finite()).count()
    }
}

/// The distance of a result from the interpreter's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Number of compared lanes.
    pub n_lanes: usize,
    /// Number of lanes that were skipped because they have no bound.
    pub n_unbounded: usize,
    /// The greatest absolute difference.
    pub max_error: f64,
    /// The greatest difference as a share of its bound, at most 1; a lane with bound 0 does not
    /// count.
    pub max_error_over_bound: f64,
}

/// The difference between a result and the interpreter's.
#[derive(Clone, Debug, PartialEq)]
pub enum Mismatch {
    /// Another type or shape.
    Form {
        /// Expected type and shape.
        expected: (DType, Vec<usize>),
        /// Found type and shape.
        found: (DType, Vec<usize>),
    },
    /// The first value that exceeds its bound.
    Value {
        /// Index per axis.
        index: Vec<usize>,
        /// The interpreter's value.
        expected: f64,
        /// The value of the compared result.
        found: f64,
        /// Greatest allowed distance.
        bound: f64,
        /// Number of lanes that exceed their bounds.
        n_wrong: usize,
        /// Number of all lanes.
        n_lanes: usize,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form { expected, found } => write!(
                f,
                "expected {} of shape {:?}, found {} of shape {:?}",
                expected.0, expected.1, found.0, found.1
            ),
            Self::Value { index, expected, found, bound, n_wrong, n_lanes } => write!(
                f,
                "at {index:?}: expected {expected:?} within {bound:e}, found {found:?} (off by {:e}); {n_wrong} of \
                 {n_lanes} values are off",
                (found - expected).abs()
            ),
        }
    }
}

impl std::error::Error for Mismatch {}

/// Checks `actual` against the interpreter's result.
///
/// Integers and booleans are compared as integers, floats as numbers: the two zeros are equal, a
/// NaN equals any NaN, an infinity equals itself. Lanes without a bound are counted and skipped.
///
/// # Errors
///
/// Another type or shape, or the first lane whose distance exceeds its bound.
pub fn compare(actual: &Array, expected: &Output) -> Result<Report, Mismatch> {
    let wanted = &expected.array;
    if actual.dtype != wanted.dtype || actual.shape != wanted.shape || actual.data.len() != wanted.data.len()
    {
        let form = |array: &Array| (array.dtype, array.shape.clone());
        return Err(Mismatch::Form { expected: form(wanted), found: form(actual) });
    }
    let mut report = Report { n_lanes: wanted.n_lanes(), ..Report::default() };
    let mut first = None;
    let mut n_wrong = 0;
    for lane in 0..report.n_lanes {
        let bound = expected.bound(lane);
        if !bound.is_finite() {
            report.n_unbounded += 1;
            continue;
        }
        let difference = difference(actual, wanted, lane);
        if difference <= bound {
            report.max_error = report.max_error.max(difference);
            if bound > 0.0 {
                report.max_error_over_bound = report.max_error_over_bound.max(difference / bound);
            }
        } else {
            n_wrong += 1;
            first.get_or_insert(lane);
        }
    }
    let Some(lane) = first else { return Ok(report) };
    Err(Mismatch::Value {
        index: wanted.position(lane),
        expected: wanted.float(lane).unwrap_or_default(),
        found: actual.float(lane).unwrap_or_default(),
        bound: expected.bound(lane),
        n_wrong,
        n_lanes: report.n_lanes,
    })
}

/// Returns the distance of two lanes; infinity if they are of different classes.
fn difference(actual: &Array, expected: &Array, lane: usize) -> f64 {
    if !expected.dtype.is_float() && !expected.dtype.is_float8() {
        return match (actual.int(lane), expected.int(lane)) {
            (Some(a), Some(b)) => a.abs_diff(b) as f64,
            _ => f64::INFINITY,
        };
    }
    let (a, b) = (actual.float(lane).unwrap_or(f64::NAN), expected.float(lane).unwrap_or(f64::NAN));
    if a == b || (a.is_nan() && b.is_nan()) {
        0.0
    } else if a.is_finite() && b.is_finite() {
        (a - b).abs()
    } else {
        f64::INFINITY
    }
}
