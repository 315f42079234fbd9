//! Sorting functions that TVM's kernels call, for tensors on the processor.
//!
//! | function | arguments |
//! |---|---|
//! | `tvm.contrib.sort.sort` | input, values, axis, is_ascending |
//! | `tvm.contrib.sort.argsort` | input, indices, axis, is_ascending |
//! | `tvm.contrib.sort.argsort_nms` | input, counts, indices, axis, is_ascending |
//! | `tvm.contrib.sort.topk` | input, values and indices as wanted, k, axis, wanted, is_ascending |
//!
//! * **SORT-O1 Order.** Equal elements keep their order, ascending or descending. −0 equals 0; NaN
//!   is greater than every number, so that it comes last ascending and first descending.
//! * **SORT-O2 Types.** Elements are booleans, integers of 8 to 64 bits, float16, bfloat16, float32
//!   or float64; values have the type of the input. Indices are of any of these types but booleans
//!   that has every index of the axis.
//! * **SORT-O3 Shapes.** Tensors have any strides and any offset. A negative axis counts from the
//!   end. Outputs have the shape of the input; those of `topk` have k along the axis, or, for a k
//!   of 0 or less, as many as the input. Where k is past the input's extent, the elements after it
//!   are left as they were.
//! * **SORT-O4 Counts.** Of each line `argsort_nms` sorts the first `counts` elements, where
//!   `counts` has as many elements as there are lines; after them each index is its own place.
//! * **SORT-O5 Errors** leave the outputs as they were: wrong arguments are `TypeError` or
//!   `ValueError`. A count past the axis is found when its line is sorted.
//!
//! Source: `src/runtime/contrib/sort/sort.cc` of TVM, which takes fewer types (its `sort` and
//! `argsort` no integers below 32 bits), compact tensors only, and leaves open where NaN goes.

use chipdock_plugin_api as api;
use chipdock_plugin_api::{
    AnyView, ChipdockDataType, ChipdockTensor, Context, Error, ErrorKind, TensorView, abi, argument, dtype,
};

api::register_function!("tvm.contrib.sort.sort", |_: &Context, args: &[AnyView<'_>]| {
    let plan = Plan { values: Some(tensor(args, 1, "values")?), ..Plan::of(args, 2, "a sort")? };
    plan.run().map(api::Any::from)
});
api::register_function!("tvm.contrib.sort.argsort", |_: &Context, args: &[AnyView<'_>]| {
    let plan = Plan { indices: Some(tensor(args, 1, "indices")?), ..Plan::of(args, 2, "an argsort")? };
    plan.run().map(api::Any::from)
});
api::register_function!("tvm.contrib.sort.argsort_nms", |_: &Context, args: &[AnyView<'_>]| {
    let (counts, indices) = (tensor(args, 1, "counts")?, tensor(args, 2, "indices")?);
    let plan = Plan { counts: Some(counts), indices: Some(indices), ..Plan::of(args, 3, "an argsort_nms")? };
    plan.run().map(api::Any::from)
});
api::register_function!("tvm.contrib.sort.topk", topk);

fn bad(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

fn wrong_type(message: String) -> Error {
    Error::new(ErrorKind::TYPE_ERROR, message)
}

/// Runs `topk` for the outputs that the argument after them asks for.
fn topk(_: &Context, args: &[AnyView<'_>]) -> Result<api::Any, Error> {
    let outputs = args.len().saturating_sub(5);
    let wanted = argument::<api::Str>(args, outputs + 3, "wanted")?.to_string();
    let places = match &*wanted {
        "both" => (Some(1), Some(2)),
        "values" => (Some(1), None),
        "indices" => (None, Some(1)),
        _ => return Err(bad(format!("expected \"both\", \"values\" or \"indices\", found {wanted:?}"))),
    };
    if args.len() < 6 || outputs != places.0.iter().chain(&places.1).count() {
        return Err(wrong_type(format!("a topk of {wanted:?} does not take {} arguments", args.len())));
    }
    let k: i64 = argument(args, outputs + 1, "k")?;
    let given = AxisAndOrder {
        axis: argument(args, outputs + 2, "axis")?,
        is_ascending: argument(args, outputs + 4, "is_ascending")?,
    };
    let plan = Plan {
        values: places.0.map(|at| tensor(args, at, "values")).transpose()?,
        indices: places.1.map(|at| tensor(args, at, "indices")).transpose()?,
        taken: usize::try_from(k).ok().filter(|k| *k > 0),
        ..Plan::new(tensor(args, 0, "input")?, &given)?
    };
    plan.run().map(api::Any::from)
}

/// Class of an element type, which decides how elements are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unsigned,
    Signed,
    /// A float with this number of fraction bits.
    Float {
        fraction_bits: u32,
    },
}

/// A tensor on the processor, with elements of an ordered type.
#[derive(Clone, Copy)]
struct Elements<'a> {
    tensor: TensorView<'a>,
    kind: Kind,
    size_bytes: usize,
}

impl<'a> Elements<'a> {
    fn of(tensor: TensorView<'a>, name: &str) -> Result<Self, Error> {
        if tensor.device().device_type != abi::CHIPDOCK_DEVICE_CPU {
            return Err(bad(format!(
                "{name}: expected a tensor on the processor, found one of device type {}",
                tensor.device().device_type
            )));
        }
        let ChipdockDataType { code, bits, lanes } = tensor.dtype();
        let kind = match (code, bits, lanes) {
            (abi::CHIPDOCK_DTYPE_BOOL, 8, 1) | (abi::CHIPDOCK_DTYPE_UINT, 8 | 16 | 32 | 64, 1) => {
                Kind::Unsigned
            }
            (abi::CHIPDOCK_DTYPE_INT, 8 | 16 | 32 | 64, 1) => Kind::Signed,
            (abi::CHIPDOCK_DTYPE_FLOAT, 16, 1) => Kind::Float { fraction_bits: 10 },
            (abi::CHIPDOCK_DTYPE_BFLOAT, 16, 1) => Kind::Float { fraction_bits: 7 },
            (abi::CHIPDOCK_DTYPE_FLOAT, 32, 1) => Kind::Float { fraction_bits: 23 },
            (abi::CHIPDOCK_DTYPE_FLOAT, 64, 1) => Kind::Float { fraction_bits: 52 },
            _ => {
                return Err(wrong_type(format!(
                    "{name}: expected booleans, integers or floats of 8 to 64 bits, found {}",
                    dtype::text(tensor.dtype())
                )));
            }
        };
        Ok(Self { tensor, kind, size_bytes: usize::from(bits / 8) })
    }

    /// Returns the offset of an element in bytes from the first one, for any strides.
    fn offset(&self, at: &[usize]) -> isize {
        let shape = self.tensor.shape();
        let elements = match self.tensor.strides() {
            Some(strides) => {
                at.iter().zip(strides).fold(0_i64, |n, (i, s)| n.wrapping_add((*i as i64).wrapping_mul(*s)))
            }
            None => at.iter().zip(shape).fold(0_i64, |n, (i, e)| n.wrapping_mul(*e).wrapping_add(*i as i64)),
        };
        (elements as isize).wrapping_mul(self.size_bytes as isize)
    }

    fn address(&self, at: &[usize]) -> *mut u8 {
        let ChipdockTensor { data, byte_offset, .. } = *self.tensor.raw();
        data.cast::<u8>().wrapping_add(byte_offset as usize).wrapping_offset(self.offset(at))
    }

    /// Reads the bits of an element.
    ///
    /// # Safety
    ///
    /// * The tensor's memory is as its description states, and `at` lies in its shape.
    unsafe fn read(&self, at: &[usize]) -> u64 {
        let mut bytes = [0; 8];
        // SAFETY: the caller guarantees that many bytes of the tensor; other threads do not write
        // them during the call.
        unsafe { std::ptr::copy_nonoverlapping(self.address(at), bytes.as_mut_ptr(), self.size_bytes) };
        u64::from_le_bytes(bytes)
    }

    /// Stores the bits of an element.
    ///
    /// # Safety
    ///
    /// * As [`Elements::read`], of writable memory.
    unsafe fn write(&self, at: &[usize], bits: u64) {
        // SAFETY: the caller guarantees that many bytes of the tensor; other threads do not access
        // them during the call.
        unsafe {
            std::ptr::copy_nonoverlapping(bits.to_le_bytes().as_ptr(), self.address(at), self.size_bytes)
        };
    }

    /// Returns a number that is ordered as the elements are (SORT-O1).
    fn key(&self, bits: u64) -> u64 {
        let sign = 1_u64 << (8 * self.size_bytes - 1);
        match self.kind {
            Kind::Unsigned => bits,
            Kind::Signed => bits ^ sign,
            Kind::Float { fraction_bits } => {
                let magnitude = bits & (sign - 1);
                let infinity = (sign - 1) >> fraction_bits << fraction_bits;
                match (magnitude, bits & sign) {
                    (0, _) => sign,
                    (magnitude, _) if magnitude > infinity => u64::MAX,
                    (magnitude, 0) => sign + magnitude,
                    (magnitude, _) => sign - magnitude,
                }
            }
        }
    }

    /// Returns an index as the bits of an element; `None` where the type cannot represent it.
    fn index(&self, index: usize) -> Option<u64> {
        let most = match self.kind {
            Kind::Signed => (1_u64 << (8 * self.size_bytes - 1)) - 1,
            Kind::Unsigned => u64::MAX >> (64 - 8 * self.size_bytes),
            Kind::Float { fraction_bits } => 1 << (fraction_bits + 1),
        };
        let index = u64::try_from(index).ok().filter(|index| *index <= most)?;
        Some(match self.kind {
            Kind::Unsigned | Kind::Signed => index,
            Kind::Float { fraction_bits } => float_bits(index, fraction_bits, 8 * self.size_bytes as u32),
        })
    }

    fn is_bool(&self) -> bool {
        self.tensor.dtype().code == abi::CHIPDOCK_DTYPE_BOOL
    }
}

/// Returns the bits of a number that a float type represents exactly.
fn float_bits(number: u64, fraction_bits: u32, bits: u32) -> u64 {
    if number == 0 {
        return 0;
    }
    let exponent = 63 - number.leading_zeros();
    let fraction = if exponent <= fraction_bits {
        number << (fraction_bits - exponent)
    } else {
        number >> (exponent - fraction_bits)
    };
    let bias = (1_u64 << (bits - fraction_bits - 2)) - 1;
    ((bias + u64::from(exponent)) << fraction_bits) | (fraction & ((1 << fraction_bits) - 1))
}

fn tensor<'a>(args: &[AnyView<'a>], index: usize, name: &str) -> Result<Elements<'a>, Error> {
    Elements::of(argument(args, index, name)?, name)
}

/// The arguments for axis and order.
struct AxisAndOrder {
    axis: i64,
    is_ascending: bool,
}

/// The checked arguments of a call.
struct Plan<'a> {
    input: Elements<'a>,
    axis: usize,
    is_ascending: bool,
    counts: Option<Elements<'a>>,
    values: Option<Elements<'a>>,
    indices: Option<Elements<'a>>,
    /// Number of elements of each line that are stored; all, where it is absent.
    taken: Option<usize>,
}

impl<'a> Plan<'a> {
    /// Reads the arguments: the input first, and axis and order after the outputs.
    fn of(args: &[AnyView<'a>], behind: usize, what: &str) -> Result<Self, Error> {
        if args.len() != behind + 2 {
            return Err(wrong_type(format!("{what} takes {} arguments, found {}", behind + 2, args.len())));
        }
        let given = AxisAndOrder {
            axis: argument(args, behind, "axis")?,
            is_ascending: argument(args, behind + 1, "is_ascending")?,
        };
        Self::new(tensor(args, 0, "input")?, &given)
    }

    fn new(input: Elements<'a>, given: &AxisAndOrder) -> Result<Self, Error> {
        let axes = input.tensor.shape().len() as i64;
        let axis = if given.axis < 0 { given.axis.saturating_add(axes) } else { given.axis };
        let axis = usize::try_from(axis).ok().filter(|_| axis < axes).ok_or_else(|| {
            bad(format!("axis: expected one of a tensor of {axes} axes, found {}", given.axis))
        })?;
        let is_ascending = given.is_ascending;
        Ok(Self { input, axis, is_ascending, counts: None, values: None, indices: None, taken: None })
    }

    /// Returns the input's shape, whose extents are not negative.
    fn shape(&self) -> Vec<usize> {
        self.input.tensor.shape().iter().map(|extent| usize::try_from(*extent).unwrap_or(0)).collect()
    }

    fn check(&self) -> Result<(), Error> {
        let mut wanted = self.shape();
        let extent = wanted[self.axis];
        wanted[self.axis] = self.taken.unwrap_or(extent);
        for (name, output) in [("values", &self.values), ("indices", &self.indices)] {
            let Some(output) = output else { continue };
            let found = output.tensor.shape();
            if !found.iter().map(|extent| usize::try_from(*extent).ok()).eq(wanted.iter().copied().map(Some))
            {
                return Err(bad(format!("{name}: expected a tensor of shape {wanted:?}, found {found:?}")));
            }
        }
        if let Some(values) = &self.values
            && values.tensor.dtype() != self.input.tensor.dtype()
        {
            return Err(wrong_type(format!(
                "values: expected {}, the type of the input, found {}",
                dtype::text(self.input.tensor.dtype()),
                dtype::text(values.tensor.dtype())
            )));
        }
        if let Some(indices) = &self.indices
            && (indices.is_bool() || extent > 0 && indices.index(extent - 1).is_none())
        {
            return Err(wrong_type(format!(
                "indices: expected a type that has each number below {extent}, found {}",
                dtype::text(indices.tensor.dtype())
            )));
        }
        if let Some(counts) = &self.counts {
            let mut others = self.shape();
            others.remove(self.axis);
            let lines = others.iter().fold(1_u64, |n, extent| n.saturating_mul(*extent as u64));
            if counts.tensor.element_count()? != lines || matches!(counts.kind, Kind::Float { .. }) {
                return Err(bad(format!(
                    "counts: expected {lines} integers, one for each line, found {} of shape {:?}",
                    dtype::text(counts.tensor.dtype()),
                    counts.tensor.shape()
                )));
            }
        }
        Ok(())
    }

    fn run(&self) -> Result<(), Error> {
        self.check()?;
        let shape = self.shape();
        if shape.contains(&0) {
            return Ok(());
        }
        let mut line = vec![0; shape.len()];
        let mut keys = Vec::with_capacity(shape[self.axis]);
        let mut at_counts = vec![0; self.counts.map_or(0, |counts| counts.tensor.shape().len())];
        loop {
            let count = self.count(&at_counts)?;
            self.sort_line(&mut line, count, &mut keys);
            if let Some(counts) = &self.counts {
                let shape: Vec<usize> = counts.tensor.shape().iter().map(|extent| *extent as usize).collect();
                advance(&mut at_counts, &shape, None);
            }
            if !advance(&mut line, &shape, Some(self.axis)) {
                return Ok(());
            }
        }
    }

    /// Returns the number of elements of a line that are sorted (SORT-O4).
    fn count(&self, at: &[usize]) -> Result<usize, Error> {
        let extent = self.shape()[self.axis];
        let Some(counts) = &self.counts else { return Ok(extent) };
        // SAFETY: a tensor of the call, and indices in its shape.
        let bits = unsafe { counts.read(at) };
        let unused = 64 - 8 * counts.size_bytes;
        let count = match counts.kind {
            // Moves the sign to the highest bit, and shifts down again.
            Kind::Signed => ((bits << unused) as i64 >> unused).max(0) as u64,
            Kind::Unsigned | Kind::Float { .. } => bits,
        };
        usize::try_from(count).ok().filter(|count| *count <= extent).ok_or_else(|| {
            bad(format!("counts: expected at most the {extent} elements of the axis, found {count}"))
        })
    }

    fn sort_line(&self, line: &mut [usize], count: usize, keys: &mut Vec<(u64, usize, u64)>) {
        let extent = self.shape()[self.axis];
        let taken = self.taken.unwrap_or(extent).min(extent);
        keys.clear();
        for index in 0..count {
            line[self.axis] = index;
            // SAFETY: a tensor of the call, and indices in its shape.
            let bits = unsafe { self.input.read(line) };
            let key = self.input.key(bits);
            // With the place after the key the order is that of a stable sort.
            keys.push((if self.is_ascending { key } else { !key }, index, bits));
        }
        if taken < keys.len() {
            keys.select_nth_unstable(taken);
            keys.truncate(taken);
        }
        keys.sort_unstable();
        for rank in 0..taken {
            line[self.axis] = rank;
            let sorted = keys.get(rank);
            if let (Some(values), Some((_, _, bits))) = (&self.values, sorted) {
                // SAFETY: a tensor of the call, and indices in its shape; an output.
                unsafe { values.write(line, *bits) };
            }
            let index = sorted.map_or(rank, |(_, index, _)| *index);
            if let Some((indices, bits)) =
                self.indices.and_then(|indices| Some((indices, indices.index(index)?)))
            {
                // SAFETY: a tensor of the call, and indices in its shape.
                unsafe { indices.write(line, bits) };
            }
        }
        line[self.axis] = 0;
    }
}

/// Advances to the next indices, without those of one axis; returns false after the last.
fn advance(at: &mut [usize], shape: &[usize], without: Option<usize>) -> bool {
    for axis in (0..shape.len()).rev().filter(|axis| Some(*axis) != without) {
        at[axis] += 1;
        if at[axis] < shape[axis] {
            return true;
        }
        at[axis] = 0;
    }
    false
}

#[cfg(test)]
mod tests;
