//! The ops of quantised kernels in core nodes, as [`crate::Op`] defines them.

use super::json::{Json, node};
use super::rewrite::Out;

/// Returns a vector type of another element, with as many lanes as `like`.
fn lanes_of(like: &str, element: &str) -> String {
    like.split_once('x').map_or_else(|| element.to_owned(), |(_, lanes)| format!("{element}x{lanes}"))
}

/// Broadcasts a value to every lane of `dtype`.
fn broadcast(out: &mut Out, value: usize, dtype: &str) -> usize {
    match dtype.split_once('x').and_then(|(_, lanes)| lanes.parse::<i64>().ok()) {
        Some(lanes) => out.add(
            node!("Broadcast", dtype: Json::text(dtype), value: Json::id(value), lanes: Json::number(lanes)),
        ),
        None => value,
    }
}

/// Makes a variable for a value that is used more than once.
fn bind(out: &mut Out, name: &str, value: usize) -> usize {
    let dtype = out.dtype(value);
    out.add(node!("Var", name: Json::text(name), dtype: Json::text(&dtype), pointer: Json::Null))
}

fn within(out: &mut Out, var: usize, value: usize, body: usize) -> usize {
    let dtype = out.dtype(body);
    out.add(node!("Let",
        dtype: Json::text(&dtype), var: Json::id(var), value: Json::id(value), body: Json::id(body),
    ))
}

/// Computes `sum` plus the products of four lanes.
pub(super) fn dp4a(out: &mut Out, a: usize, b: usize, sum: usize) -> usize {
    let (wide, narrow) = (out.dtype(sum), out.dtype(a));
    let narrow = narrow.split('x').next().unwrap_or_default().to_owned();
    let vectors = [bind(out, "a", a), bind(out, "b", b)];
    let mut total = sum;
    for lane in 0..4 {
        let [x, y] = vectors.map(|vector| {
            let picked = out.add(node!("Shuffle",
                dtype: Json::text(&narrow), vectors: Json::List(vec![Json::id(vector)]),
                indices: Json::List(vec![Json::number(lane)]),
            ));
            out.cast(&wide, picked)
        });
        let product = out.pair("Mul", &wide, x, y);
        total = out.pair("Add", &wide, total, product);
    }
    let inner = within(out, vectors[1], b, total);
    within(out, vectors[0], a, inner)
}

/// Computes the sum of `c` and, in each lane, of the products of its group of lanes of `a` and `b`.
pub(super) fn dot_add(out: &mut Out, c: usize, a: usize, b: usize) -> usize {
    let lanes =
        |dtype: &str| dtype.split_once('x').and_then(|(_, lanes)| lanes.parse::<i64>().ok()).unwrap_or(1);
    let (sum, vectors) = (out.dtype(c), [a, b].map(|vector| out.dtype(vector)));
    let count = lanes(&sum);
    let group = lanes(&vectors[0]) / count.max(1);
    let bound = [bind(out, "a", a), bind(out, "b", b)];
    let mut total = c;
    for part in 0..group {
        let mut factors = [0; 2];
        for ((factor, vector), dtype) in factors.iter_mut().zip(bound).zip(&vectors) {
            let element = dtype.split('x').next().unwrap_or_default();
            let picked = out.add(node!("Shuffle",
                dtype: Json::text(&lanes_of(&sum, element)), vectors: Json::List(vec![Json::id(vector)]),
                indices: Json::List((0..count).map(|lane| Json::number(lane * group + part)).collect()),
            ));
            *factor = out.cast(&sum, picked);
        }
        let product = out.pair("Mul", &sum, factors[0], factors[1]);
        total = out.pair("Add", &sum, total, product);
    }
    let inner = within(out, bound[1], b, total);
    within(out, bound[0], a, inner)
}

/// Computes x·2^max(s, 0)·y, rounded, divided by 2^(q − min(s, 0)).
pub(super) fn multiply_shift(out: &mut Out, x: usize, y: usize, q: usize, s: usize) -> usize {
    let dtype = out.dtype(x);
    let shift = bind(out, "s", s);
    let zero = out.int("int32", 0);
    let left = out.pair("Max", "int32", shift, zero);
    let right = out.pair("Min", "int32", shift, zero);
    let right = out.pair("Sub", "int32", q, right);
    let wide = lanes_of(&dtype, "int64");
    let [left, right] = [left, right].map(|amount| {
        let amount = out.cast("int64", amount);
        broadcast(out, amount, &wide)
    });
    let value = shifted(out, [x, y], Some(left), right, &dtype);
    within(out, shift, s, value)
}

/// Computes x·2^ls·y, rounded, divided by 2^(q + rs).
pub(super) fn multiply_shift_per_axis(
    out: &mut Out,
    x: usize,
    y: usize,
    q: usize,
    left: Option<usize>,
    right: Option<usize>,
) -> usize {
    let dtype = out.dtype(x);
    let wide = lanes_of(&dtype, "int64");
    let left = left.map(|left| out.cast(&wide, left));
    let q = out.cast("int64", q);
    let mut total = broadcast(out, q, &wide);
    if let Some(right) = right {
        let right = out.cast(&wide, right);
        total = out.pair("Add", &wide, total, right);
    }
    shifted(out, [x, y], left, total, &dtype)
}

/// Computes (x << left)·y rounded half up and shifted right, all in int64. Half of 2^right is computed in uint64: 0 for
/// 2^0.
fn shifted(out: &mut Out, [x, y]: [usize; 2], left: Option<usize>, right: usize, dtype: &str) -> usize {
    let wide = out.dtype(right);
    let mut value = out.cast(&wide, x);
    if let Some(left) = left {
        value = out.call("shift_left", &wide, &[value, left]);
    }
    let factor = out.cast(&wide, y);
    let product = out.pair("Mul", &wide, value, factor);
    let amount = bind(out, "r", right);
    let unsigned = lanes_of(&wide, "uint64");
    let one = out.int("uint64", 1);
    let one = broadcast(out, one, &unsigned);
    let count = out.cast(&unsigned, amount);
    let power = out.call("shift_left", &unsigned, &[one, count]);
    let half = out.call("shift_right", &unsigned, &[power, one]);
    let half = out.cast(&wide, half);
    let rounded = out.pair("Add", &wide, product, half);
    let result = out.call("shift_right", &wide, &[rounded, amount]);
    let result = out.cast(dtype, result);
    within(out, amount, right, result)
}
