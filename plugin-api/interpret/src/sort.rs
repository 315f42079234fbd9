//! The functions that every host has for sorted tensors: their arguments, and the order of
//! elements.
//!
//! Source: `src/runtime/contrib/sort/sort.cc` of TVM; there NaN has no place in the order, and
//! fewer types are supported.

use std::cmp::Ordering;

use crate::scalar;
use chipdock_ir::DType;

/// A function that every host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostFunction {
    Sort,
    Argsort,
    ArgsortNms,
    Topk,
}

/// An argument of a call.
pub(crate) enum Value {
    Int(i128),
    Float(f64),
    Text(String),
    Tensor(Tensor),
    /// Anything else, by its type index.
    Other(i32),
}

/// A tensor as the called function receives it.
#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) data: u64,
    pub(crate) dtype: DType,
    shape: Vec<usize>,
    strides: Vec<i64>,
    offset: i64,
}

impl Tensor {
    pub(crate) fn new(
        data: u64,
        dtype: DType,
        shape: Vec<usize>,
        strides: Option<Vec<i64>>,
        offset: i64,
    ) -> Self {
        let compact = || {
            let mut stride = 1_i64;
            let mut strides: Vec<i64> = shape
                .iter()
                .rev()
                .map(|extent| {
                    let own = stride;
                    stride = stride.saturating_mul(*extent as i64);
                    own
                })
                .collect();
            strides.reverse();
            strides
        };
        let strides = strides.unwrap_or_else(compact);
        Self { data, dtype, shape, strides, offset }
    }

    /// Returns the number of an element after the data pointer; `None` if the number overflows.
    pub(crate) fn element(&self, at: &[usize]) -> Option<i64> {
        at.iter().zip(&self.strides).try_fold(self.offset, |element, (index, stride)| {
            element.checked_add(i64::try_from(*index).ok()?.checked_mul(*stride)?)
        })
    }
}

/// A checked call, ready to run.
pub(crate) struct Plan {
    pub(crate) input: Tensor,
    /// Number of valid elements of each line; `None` for all.
    pub(crate) counts: Option<Tensor>,
    pub(crate) values: Option<Tensor>,
    pub(crate) indices: Option<Tensor>,
    /// Number of elements of each line that are stored; `None` for all.
    pub(crate) taken: Option<usize>,
    pub(crate) is_ascending: bool,
    axis: usize,
}

impl Plan {
    pub(crate) fn extent(&self) -> usize {
        self.input.shape[self.axis]
    }

    pub(crate) fn n_elements(&self) -> u64 {
        self.input.shape.iter().fold(1_u64, |n, extent| n.saturating_mul(*extent as u64))
    }

    /// Returns the indices of each line, 0 at the axis; none if there are no elements.
    pub(crate) fn lines(&self) -> Vec<Vec<usize>> {
        if self.n_elements() == 0 {
            return Vec::new();
        }
        let mut lines = vec![Vec::new()];
        for (axis, extent) in self.input.shape.iter().enumerate() {
            let n = if axis == self.axis { (*extent).min(1) } else { *extent };
            lines = lines
                .iter()
                .flat_map(|line| (0..n).map(|index| line.iter().copied().chain([index]).collect()))
                .collect();
        }
        lines
    }

    /// Returns the indices of an element of a line.
    pub(crate) fn at(&self, line: &[usize], index: usize) -> Vec<usize> {
        let mut at = line.to_vec();
        at[self.axis] = index;
        at
    }

    /// Returns the indices of the number of a line's elements: the tensor has the other axes, in
    /// any shape.
    pub(crate) fn count_at(&self, line: &[usize]) -> Vec<usize> {
        let others = |all: &[usize]| -> Vec<usize> {
            all.iter().enumerate().filter(|(axis, _)| *axis != self.axis).map(|(_, one)| *one).collect()
        };
        let mut number = others(line).iter().zip(others(&self.input.shape)).fold(0, |n, (i, e)| n * e + i);
        let shape = self.counts.as_ref().map_or(&[][..], |counts| &counts.shape);
        let mut at: Vec<usize> = shape
            .iter()
            .rev()
            .map(|extent| {
                let index = number % extent.max(&1);
                number /= extent.max(&1);
                index
            })
            .collect();
        at.reverse();
        at
    }

    /// Checks a given number of elements against the extent; a negative one counts as 0.
    pub(crate) fn counted(&self, count: i128) -> Result<usize, String> {
        let count = count.max(0);
        usize::try_from(count).ok().filter(|count| *count <= self.extent()).ok_or_else(|| {
            format!("expected at most the {} elements of the axis to sort, found {count}", self.extent())
        })
    }
}

/// Returns the numbers of the elements in sorted order; equal ones keep their order. NaN is greater
/// than every number.
pub(crate) fn order(elements: &[(u64, f64)], dtype: DType, is_ascending: bool) -> Vec<usize> {
    let compare = |a: usize, b: usize| -> Ordering {
        let (a, b) = (elements[a].0, elements[b].0);
        if !dtype.is_float() {
            return scalar::to_int(a, dtype).cmp(&scalar::to_int(b, dtype));
        }
        let (a, b) = (scalar::to_f64(a, dtype), scalar::to_f64(b, dtype));
        a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
    };
    let mut order: Vec<usize> = (0..elements.len()).collect();
    // Stable in the other direction too.
    order.sort_by(|a, b| if is_ascending { compare(*a, *b) } else { compare(*b, *a) });
    order
}

/// Formats an argument for a message.
fn shown(value: Option<&Value>) -> String {
    match value {
        None => "no more arguments".to_owned(),
        Some(Value::Int(value)) => value.to_string(),
        Some(Value::Float(value)) => format!("the float {value}"),
        Some(Value::Text(text)) => format!("{text:?}"),
        Some(Value::Tensor(tensor)) => format!("a tensor of shape {:?}", tensor.shape),
        Some(Value::Other(type_index)) => format!("a value with type index {type_index}"),
    }
}

/// The arguments of a call, in order.
struct Given<'a>(std::slice::Iter<'a, Value>);

impl Given<'_> {
    fn tensor(&mut self, what: &str) -> Result<Tensor, String> {
        match self.0.next() {
            Some(Value::Tensor(tensor)) => Ok(tensor.clone()),
            found => Err(format!("expected a tensor for {what}, found {}", shown(found))),
        }
    }

    fn int(&mut self, what: &str) -> Result<i128, String> {
        match self.0.next() {
            Some(Value::Int(value)) => Ok(*value),
            found => Err(format!("expected an integer for {what}, found {}", shown(found))),
        }
    }

    fn text(&mut self, what: &str) -> Result<String, String> {
        match self.0.next() {
            Some(Value::Text(text)) => Ok(text.clone()),
            found => Err(format!("expected a string for {what}, found {}", shown(found))),
        }
    }
}

impl HostFunction {
    const ALL: [Self; 4] = [Self::Sort, Self::Argsort, Self::ArgsortNms, Self::Topk];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sort => "tvm.contrib.sort.sort",
            Self::Argsort => "tvm.contrib.sort.argsort",
            Self::ArgsortNms => "tvm.contrib.sort.argsort_nms",
            Self::Topk => "tvm.contrib.sort.topk",
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }

    /// Checks a call with these arguments.
    pub(crate) fn plan(self, args: &[Value]) -> Result<Plan, String> {
        let mut given = Given(args.iter());
        let input = given.tensor("the input")?;
        let counts =
            if self == Self::ArgsortNms { Some(given.tensor("the numbers of elements")?) } else { None };
        // The arguments after the tensors of a topk state which tensors they are.
        let wanted = match (self, args.get(args.len().saturating_sub(2))) {
            (Self::Sort, _) => "values",
            (Self::Argsort | Self::ArgsortNms, _) => "indices",
            (Self::Topk, Some(Value::Text(text))) if matches!(&**text, "both" | "values" | "indices") => text,
            (Self::Topk, found) => {
                return Err(format!("expected \"both\", \"values\" or \"indices\", found {}", shown(found)));
            }
        };
        let values = if wanted == "indices" { None } else { Some(given.tensor("the values")?) };
        let indices = if wanted == "values" { None } else { Some(given.tensor("the indices")?) };
        let k = if self == Self::Topk { given.int("k")? } else { 0 };
        let axis = given.int("the axis")?;
        if self == Self::Topk {
            given.text("what is wanted")?;
        }
        let is_ascending = given.int("whether it ascends")? != 0;
        let axes = input.shape.len() as i128;
        let from_begin = if axis < 0 { axis + axes } else { axis };
        if !(0..axes).contains(&from_begin) {
            return Err(format!("expected an axis of a tensor of {axes} axes, found {axis}"));
        }
        let taken = usize::try_from(k).ok().filter(|k| *k > 0);
        let plan = Plan { input, counts, values, indices, taken, is_ascending, axis: from_begin as usize };
        plan.checked()
    }
}

impl Plan {
    fn checked(self) -> Result<Self, String> {
        let mut wanted = self.input.shape.clone();
        wanted[self.axis] = self.taken.unwrap_or(self.extent());
        for output in [&self.values, &self.indices].into_iter().flatten() {
            if output.shape != wanted {
                return Err(format!("expected an output of shape {wanted:?}, found {:?}", output.shape));
            }
        }
        if let Some(values) = &self.values
            && values.dtype != self.input.dtype
        {
            return Err(format!("expected values of type {}, found {}", self.input.dtype, values.dtype));
        }
        if let Some((_, most)) = self.indices.as_ref().and_then(|indices| indices.dtype.integer_range())
            && self.extent() as i128 - 1 > most
        {
            return Err(format!("expected indices of a type that has {}", self.extent() - 1));
        }
        let product = |shape: &[usize]| shape.iter().fold(1_usize, |n, extent| n.saturating_mul(*extent));
        let mut others = self.input.shape.clone();
        others.remove(self.axis);
        if let Some(counts) = &self.counts
            && product(&counts.shape) != product(&others)
        {
            return Err(format!(
                "expected {} numbers of elements, found {:?}",
                product(&others),
                counts.shape
            ));
        }
        Ok(self)
    }
}
