//! Vectors: broadcasts, ramps, shuffles.

use chipdock_ir::{DType, Expr};

use crate::constants::{every_lane, is_constant, vector};
use crate::integer::no_wrap;
use crate::types::register;
use crate::value::Value;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    /// Broadcasts a scalar to every lane.
    pub(crate) fn splat(&mut self, e: &Expr, value: &Value) -> Value {
        if e.dtype.lanes == 1 {
            return self.refuse(e, "a vector of one lane");
        }
        if !self.has_type(e, value.dtype, e.dtype.scalar()) {
            return Value::new("poison", e.dtype);
        }
        self.in_every_lane(value, e.dtype)
    }

    /// A scalar in every lane; unchanged for a type of one lane.
    pub(crate) fn in_every_lane(&mut self, value: &Value, dtype: DType) -> Value {
        if dtype.lanes == 1 {
            return value.clone();
        }
        if is_constant(value) {
            return every_lane(&value.text, dtype);
        }
        let llvm_type = register(dtype);
        let first =
            self.instruction(format_args!("insertelement {llvm_type} poison, {}, i64 0", value.typed()));
        self.compute(
            dtype,
            format_args!(
                "shufflevector {llvm_type} {first}, {llvm_type} poison, <{} x i32> zeroinitializer",
                dtype.lanes
            ),
        )
    }

    pub(crate) fn ramp(&mut self, e: &'a Expr, base: &'a Expr, stride: &'a Expr, lanes: u16) -> Value {
        let (first, step) = (self.value(base), self.value(stride));
        if e.dtype.lanes == 1 || lanes != e.dtype.lanes || !e.dtype.is_integer() {
            return self.refuse(e, "a ramp is a vector of integers");
        }
        if !self.has_type(e, first.dtype, e.dtype.scalar()) || !self.has_type(e, step.dtype, e.dtype.scalar())
        {
            return Value::new("poison", e.dtype);
        }
        let is_exact = self.is_exact(e);
        self.steps(&first, &step, e.dtype, is_exact)
    }

    /// `base`, `base + stride`, ...; `is_exact` says that none of them wraps.
    pub(crate) fn steps(&mut self, base: &Value, stride: &Value, dtype: DType, is_exact: bool) -> Value {
        let (low, high) = dtype.integer_range().unwrap_or((0, 0));
        let numbers = 0..i128::from(dtype.lanes);
        if let (Some(base), Some(stride)) = (base.as_int(), stride.as_int()) {
            let lane = |number: i128| base.wrapping_add(stride.wrapping_mul(number));
            return vector(numbers.map(lane), dtype);
        }
        let (offsets, fits) = match stride.as_int() {
            Some(stride) => {
                let last = stride.saturating_mul(i128::from(dtype.lanes) - 1);
                (
                    vector(numbers.map(|number| stride.wrapping_mul(number)), dtype),
                    low <= last && last <= high,
                )
            }
            None => {
                let stride = self.in_every_lane(stride, dtype);
                (self.operation("mul", &vector(numbers, dtype), &stride), false)
            }
        };
        if base.as_int() == Some(0) {
            return offsets;
        }
        let base = self.in_every_lane(base, dtype);
        let wrap = if is_exact && fits { no_wrap(dtype) } else { "" };
        self.operation(&format!("add{wrap}"), &base, &offsets)
    }

    /// Picks lanes from vectors and scalars, in order.
    pub(crate) fn shuffle(&mut self, e: &'a Expr, vectors: &'a [Expr], indices: &[u16]) -> Value {
        let parts: Vec<Value> = vectors.iter().map(|vector| self.value(vector)).collect();
        if indices.len() != usize::from(e.dtype.lanes) {
            return self.refuse(e, format!("a shuffle of {} indices", indices.len()));
        }
        let mut picks = vec![Vec::new(); parts.len()];
        for (to, index) in indices.iter().enumerate() {
            let Some((part, from)) = find(&parts, usize::from(*index)) else {
                return self
                    .refuse(e, format!("a shuffle picks lane {index}, which its vectors do not have"));
            };
            picks[part].push((to, from));
        }
        if parts.iter().any(|part| !self.has_type(e, part.dtype.scalar(), e.dtype.scalar())) {
            return Value::new("poison", e.dtype);
        }
        if let [(part, used)] =
            picks.iter().enumerate().filter(|(_, used)| !used.is_empty()).collect::<Vec<_>>().as_slice()
        {
            return self.picked(&parts[*part], used, e.dtype);
        }
        let mut value: Option<(Value, Vec<usize>)> = None;
        for (part, used) in parts.iter().zip(&picks).filter(|(_, used)| !used.is_empty()) {
            value = Some(self.join(value, part, used, e.dtype));
        }
        value.map_or_else(|| Value::new("poison", e.dtype), |(value, _)| value)
    }

    /// Picks lanes of one vector or scalar.
    fn picked(&mut self, part: &Value, used: &[(usize, usize)], dtype: DType) -> Value {
        match used {
            _ if part.dtype.lanes == 1 => self.in_every_lane(part, dtype),
            [(_, from)] => self.compute(dtype, format_args!("extractelement {}, i64 {from}", part.typed())),
            _ if part.dtype == dtype && used.iter().all(|(to, from)| to == from) => part.clone(),
            _ => self.spread(part, used, dtype),
        }
    }

    /// A vector of another width with lanes of a vector at given positions.
    fn spread(&mut self, part: &Value, used: &[(usize, usize)], dtype: DType) -> Value {
        let mut lanes = vec![None; usize::from(dtype.lanes)];
        used.iter().for_each(|(to, from)| lanes[*to] = Some(*from));
        self.shuffled(part, &Value::new("poison", part.dtype), &lanes, dtype)
    }

    /// Adds lanes of one more vector or scalar to those already present.
    fn join(
        &mut self,
        there: Option<(Value, Vec<usize>)>,
        part: &Value,
        used: &[(usize, usize)],
        dtype: DType,
    ) -> (Value, Vec<usize>) {
        let (value, mut places) = there.unwrap_or_else(|| (Value::new("poison", dtype), Vec::new()));
        let new = used.iter().map(|(to, _)| *to);
        let joined = if part.dtype.lanes == 1 {
            let mut joined = value;
            for to in new.clone() {
                joined = self.compute(
                    dtype,
                    format_args!("insertelement {}, {}, i64 {to}", joined.typed(), part.typed()),
                );
            }
            joined
        } else {
            let part = self.spread(part, used, dtype);
            if places.is_empty() {
                part
            } else {
                let mut lanes = vec![None; usize::from(dtype.lanes)];
                places.iter().for_each(|place| lanes[*place] = Some(*place));
                new.clone().for_each(|to| lanes[to] = Some(usize::from(dtype.lanes) + to));
                self.shuffled(&value, &part, &lanes, dtype)
            }
        };
        places.extend(new);
        (joined, places)
    }

    /// Lanes picked from two vectors; no index is any value.
    pub(crate) fn shuffled(&mut self, a: &Value, b: &Value, lanes: &[Option<usize>], dtype: DType) -> Value {
        let lanes: Vec<String> = lanes
            .iter()
            .map(|lane| lane.map_or_else(|| "i32 poison".to_owned(), |lane| format!("i32 {lane}")))
            .collect();
        self.compute(
            dtype,
            format_args!(
                "shufflevector {}, {}, <{} x i32> <{}>",
                a.typed(),
                b.typed(),
                lanes.len(),
                lanes.join(", ")
            ),
        )
    }

    /// Converts a boolean in every lane to -1 or 0 of an integer type.
    pub(crate) fn sign_extended(&mut self, value: &Value, dtype: DType) -> Value {
        self.compute(dtype, format_args!("sext {} to {}", value.typed(), register(dtype)))
    }
}

/// The vector that contains the lane with an index over all vectors, and the lane's index in it.
fn find(parts: &[Value], index: usize) -> Option<(usize, usize)> {
    let mut start = 0;
    for (part, value) in parts.iter().enumerate() {
        let lanes = usize::from(value.dtype.lanes);
        if index < start + lanes {
            return Some((part, index - start));
        }
        start += lanes;
    }
    None
}
