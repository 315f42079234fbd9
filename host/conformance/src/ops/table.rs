//! Tables of operands: one column per operand, one row per evaluation.

use std::collections::BTreeMap;
use std::sync::Arc;

use chipdock_interpret::Array;
use chipdock_ir::DType;
use chipdock_ir::op::DotProduct;
use chipdock_programs::Random;

use super::values::{array, cut, few, float_bits, format, many};

/// Number of random rows of a table that does not hold every combination.
const RANDOM_ROWS: usize = 2048;

/// Kind of a table: the number and relation of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One operand with many values.
    One,
    /// Pairs: every combination for 8 bits, else combinations of a few values and random ones, some
    /// of near magnitude.
    Two,
    /// A float and an exponent.
    Scale,
    /// Triples; in some the third nearly cancels the product.
    Three,
    /// A boolean and a pair.
    Choice,
    /// Two int32 factors and two small shift amounts.
    Fixed,
    /// Two vectors of four bytes and a sum.
    Dot,
    /// Four sums, and two vectors of groups for them.
    DotAdd,
    /// Four sums, groups of four uint8, and of four int8.
    DotMixed,
}

/// Table of operands.
#[derive(Clone, Debug)]
pub struct Table {
    /// Name of the table: its kind and type.
    pub name: String,
    /// Columns, all of the same length.
    pub columns: Vec<Array>,
}

impl Table {
    /// Returns the number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.shape[0])
    }

    /// Returns the table of the rows for which `keep` is true.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.n_rows()).filter(|row| keep(*row)).collect();
        let column = |column: &Array| {
            let size_bytes = column.dtype.size_bytes();
            let data = kept.iter().flat_map(|row| &column.data[row * size_bytes..(row + 1) * size_bytes]);
            Array { dtype: column.dtype, shape: vec![kept.len()], data: data.copied().collect() }
        };
        Self { name: self.name.clone(), columns: self.columns.iter().map(column).collect() }
    }
}

/// Cache of the tables made so far, by kind and type.
#[derive(Debug, Default)]
pub struct Tables(BTreeMap<(Kind, DType), Arc<Table>>);

impl Tables {
    /// Returns the table of a kind and type, made on first use and the same in every run.
    pub fn get(&mut self, kind: Kind, dtype: DType) -> &Table {
        self.0.entry((kind, dtype)).or_insert_with(|| Arc::new(make(kind, dtype)))
    }

    /// Returns the table of [`Self::get`] as a shared pointer.
    pub fn shared(&mut self, kind: Kind, dtype: DType) -> Arc<Table> {
        self.get(kind, dtype);
        Arc::clone(&self.0[&(kind, dtype)])
    }

    /// Iterates over the tables made so far.
    pub fn iter(&self) -> impl Iterator<Item = &Table> {
        self.0.values().map(AsRef::as_ref)
    }
}

fn make(kind: Kind, dtype: DType) -> Table {
    let mut random = Random::new(u64::from(dtype.bits) << 8 | kind as u64);
    let random = &mut random;
    let columns = match kind {
        Kind::One => vec![array(dtype, &many(dtype, random))],
        Kind::Two => columns(&[dtype, dtype], &pairs(dtype, random)),
        Kind::Scale => columns(&[dtype, DType::INT32], &scales(dtype, random)),
        Kind::Three => columns(&[dtype, dtype, dtype], &triples(dtype, random)),
        Kind::Choice => {
            let row = |[a, b]: [u64; 2]| [random.bits() & 1, a, b];
            columns(
                &[DType::BOOL, dtype, dtype],
                &pairs(dtype, &mut Random::new(7)).into_iter().map(row).collect::<Vec<_>>(),
            )
        }
        Kind::Fixed => {
            let row = |[a, b]: [u64; 2]| [a, b, random.bits() % 8, random.bits() % 16];
            let rows: Vec<[u64; 4]> = pairs(DType::INT32, &mut Random::new(8)).into_iter().map(row).collect();
            columns(&[DType::INT32; 4], &rows)
        }
        Kind::Dot => {
            let sum = if dtype.is_int() { DType::INT32 } else { DType::UINT32 };
            let lanes: Vec<u64> = (0..4 * RANDOM_ROWS).map(|_| random.bits() & 255).collect();
            let others: Vec<u64> = (0..4 * RANDOM_ROWS).map(|_| random.bits() & 255).collect();
            let sums: Vec<u64> = (0..RANDOM_ROWS).map(|_| cut(random.bits(), sum)).collect();
            let bytes = dtype.with_lanes(4);
            vec![array(bytes, &lanes), array(bytes, &others), array(sum, &sums)]
        }
        Kind::DotAdd | Kind::DotMixed => {
            let other = if kind == Kind::DotMixed { DType::INT8 } else { dtype };
            let dot = DotProduct::ALL.iter().find(|dot| (dot.a, dot.b) == (dtype, other));
            let (sum, group) = dot.map_or((DType::INT32, 4), |dot| (dot.sum, usize::from(dot.group)));
            let mut vectors = |element: DType, lanes: usize| {
                let values: Vec<u64> = (0..lanes * RANDOM_ROWS).map(|_| factor(random, element)).collect();
                array(element.with_lanes(lanes as u16), &values)
            };
            vec![vectors(sum, 4), vectors(dtype, 4 * group), vectors(other, 4 * group)]
        }
    };
    Table { name: format!("{kind:?}.{dtype}"), columns }
}

/// A factor or a sum of a dot product: any integer, or a float of middling size.
fn factor(random: &mut Random, dtype: DType) -> u64 {
    if dtype.is_float() {
        let sixteen = random.bits() as u16 as i16;
        return float_bits(f64::from(sixteen >> 4) / 256.0, dtype);
    }
    cut(random.bits(), dtype)
}

fn columns<const N: usize>(dtypes: &[DType; N], rows: &[[u64; N]]) -> Vec<Array> {
    let column = |k: usize| array(dtypes[k], &rows.iter().map(|row| row[k]).collect::<Vec<u64>>());
    (0..N).map(column).collect()
}

fn pairs(dtype: DType, random: &mut Random) -> Vec<[u64; 2]> {
    let every = if dtype.bits == 8 && !dtype.is_bool() { (0..256).collect() } else { few(dtype) };
    let mut rows: Vec<[u64; 2]> = every.iter().flat_map(|&a| every.iter().map(move |&b| [a, b])).collect();
    if dtype.bits > 8 {
        for row in 0..RANDOM_ROWS {
            let a = cut(random.bits(), dtype);
            let b = match row % 3 {
                // The second operand is arbitrary, near the first, or of few bits.
                0 => random.bits(),
                1 => a.wrapping_add(random.bits() % 64).wrapping_sub(32),
                _ => random.bits() >> (random.bits() % 64),
            };
            rows.push([a, cut(b, dtype)]);
        }
        rows.extend(
            (0..RANDOM_ROWS / 2)
                .filter(|_| dtype.is_float())
                .map(|_| [0; 2].map(|_| moderate(dtype, random))),
        );
    }
    rows
}

/// Returns a random float between 1/256 and 256, so that few operations overflow.
fn moderate(dtype: DType, random: &mut Random) -> u64 {
    let (precision, _, greatest) = format(dtype);
    let fraction = precision - 1;
    let exponent = (greatest - 8) as u64 + random.bits() % 16;
    let low = random.bits() & ((1 << fraction) - 1);
    (random.bits() & 1) << (dtype.bits - 1) | exponent << fraction | low
}

fn scales(dtype: DType, random: &mut Random) -> Vec<[u64; 2]> {
    let extremes = [i32::MIN, -2200, -1100, -160, -25, -10, -1, 0, 1, 10, 25, 130, 1100, 2200, i32::MAX];
    let row = |bits: u64| extremes.iter().map(move |&n| [bits, n as u32 as u64]);
    let mut rows: Vec<[u64; 2]> = few(dtype).into_iter().flat_map(row).collect();
    let (_, least, greatest) = format(dtype);
    let span = (greatest - least) as u64 * 2;
    rows.extend((0..RANDOM_ROWS).map(|_| {
        let n = (random.bits() % (2 * span)) as i64 - span as i64;
        [cut(random.bits(), dtype), n as i32 as u32 as u64]
    }));
    rows
}

fn triples(dtype: DType, random: &mut Random) -> Vec<[u64; 3]> {
    let every: Vec<u64> = few(dtype).into_iter().step_by(3).collect();
    let mut rows = Vec::new();
    for &a in &every {
        for &b in &every {
            rows.extend(every.iter().map(|&c| [a, b, c]));
        }
    }
    for row in 0..RANDOM_ROWS {
        let (a, b) = (moderate(dtype, random), moderate(dtype, random));
        let of = |bits| array(dtype, &[bits]).to_f64()[0];
        let c = if row % 2 == 0 {
            let product = float_bits(-of(a) * of(b), dtype);
            cut(product.wrapping_add(random.bits() % 5).wrapping_sub(2), dtype)
        } else {
            cut(random.bits(), dtype)
        };
        rows.push([a, b, c]);
    }
    rows
}
