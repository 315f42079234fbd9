//! Generates a program and its arguments from a seed.

mod body;
mod decorate;
mod facts;
mod index;
mod loops;
mod module;
mod op;
mod rotation;
mod stage;
mod threads;
mod value;
mod vector;
mod views;

use chipdock_interpret::{Arg, Array};
use chipdock_ir::{Buffer, DType, Expr, Param, PrimFunc, Stmt, Var, build};

pub(crate) use rotation::takes;
pub use rotation::turns;

use crate::choices::Choices;
use crate::{Case, Options};
use facts::{Size, Tensor, Val, comfortable};

/// Initial value of tensors to be written.
const UNTOUCHED: f64 = 77.0;

/// Generates the program of a seed: the same on every machine for the same version of this crate
/// and the same options.
///
/// The front page lists what it promises. Programs of consecutive seeds have nothing in common,
/// except that with [`Options::rotation`] each takes the next turn.
#[must_use]
pub fn arbitrary(seed: u64, options: &Options) -> Case {
    Generator::new(Choices::new(seed), options).case(seed)
}

/// Generates the program encoded by a tape of bytes: each draw takes the next bytes; after the end
/// of the tape, draws are those of a fixed seed. The promises are those of [`arbitrary`].
///
/// Similar tapes make similar programs, so that a fuzzer that mutates tapes can learn from
/// coverage.
#[must_use]
pub fn spelled(tape: &[u8], options: &Options) -> Case {
    let mut random = Choices::of_tape(tape);
    let turn = random.below(1 << 16) as u64;
    Generator::new(random, options).case(turn)
}

/// State of a program under construction.
struct Generator<'o> {
    options: &'o Options,
    random: Choices<'o>,
    /// Type of loops, sizes and indices.
    index: DType,
    /// The first size: symbolic or constant.
    n: Expr,
    n_value: usize,
    m_value: usize,
    /// Whether the first size is positive in every run of the program.
    never_empty: bool,
    /// Readable tensors, in order of creation.
    tensors: Vec<Tensor>,
    scalars: Vec<Val>,
    params: Vec<Param>,
    args: Vec<Arg>,
    /// Buffers that the root block allocates.
    allocated: Vec<Buffer>,
    helpers: Vec<PrimFunc>,
    n_helpers: usize,
    /// Depth of nested indices.
    nested: u32,
    /// Whether the generated code is executed by threads.
    in_threads: bool,
    /// Values stored by the stage so far: least, greatest, and whether all are exact.
    written: Option<(f64, f64, bool)>,
}

/// Returns a statement made of all that `build` appends.
fn inner(build: impl FnOnce(&mut build::Body)) -> Stmt {
    let mut function = build::function("inner");
    build(&mut function);
    function.finish().body
}

impl<'o> Generator<'o> {
    fn new(mut random: Choices<'o>, options: &'o Options) -> Self {
        let index = if random.one_in(6) { DType::INT64 } else { DType::INT32 };
        let is_empty = random.one_in(24);
        let n_value = if is_empty { 0 } else { 1 + random.below(9) };
        let m_value = *random.pick(&[1, 2, 3, 4, 4, 6, 8, 8]);
        let symbolic = options.symbolic && random.one_in(2);
        let n = if symbolic { Var::new("n", index).expr() } else { Expr::int(n_value as i128, index) };
        Self {
            options,
            random,
            index,
            n,
            n_value,
            m_value,
            never_empty: !is_empty,
            tensors: Vec::new(),
            scalars: Vec::new(),
            params: Vec::new(),
            args: Vec::new(),
            allocated: Vec::new(),
            helpers: Vec::new(),
            n_helpers: 0,
            nested: 0,
            in_threads: false,
            written: None,
        }
    }

    // Types.

    fn any_type(&mut self) -> DType {
        *self.random.pick(&self.options.types)
    }

    fn typed(&mut self, fits: fn(DType) -> bool) -> Option<DType> {
        let list: Vec<DType> = self.options.types.iter().copied().filter(|dtype| fits(*dtype)).collect();
        (!list.is_empty()).then(|| *self.random.pick(&list))
    }

    fn float_type(&mut self) -> Option<DType> {
        self.typed(DType::is_float)
    }

    fn integer_type(&mut self) -> Option<DType> {
        self.typed(DType::is_integer)
    }

    // Tensors.

    fn extents(&self, shape: &[Size]) -> Vec<Expr> {
        shape.iter().map(|size| self.extent(*size)).collect()
    }

    fn lengths(&self, shape: &[Size]) -> Vec<usize> {
        shape.iter().map(|size| self.length(*size)).collect()
    }

    /// Adds an input tensor with generated contents.
    fn input(&mut self, name: String, shape: Vec<Size>, dtype: DType) {
        let buffer = Buffer::new(name, self.extents(&shape), dtype, chipdock_ir::StorageScope::GLOBAL);
        let lengths = self.lengths(&shape);
        let n_elements = lengths.iter().product();
        let numbers: Vec<f64> = (0..n_elements).map(|_| self.number(dtype)).collect();
        let special = self.options.special_values && self.random.one_in(4);
        let mut array = Array::from_f64(dtype, &lengths, &numbers);
        if special && n_elements > 0 {
            for _ in 0..1 + n_elements / 8 {
                self.make_special(&mut array, dtype);
            }
        }
        let (lo, hi) = range_of(dtype);
        self.params.push(Param::Buffer(buffer.clone()));
        self.args.push(Arg::Tensor(array));
        self.tensors.push(Tensor { buffer, shape, lo, hi, exact: true });
    }

    /// Returns an ordinary value of an input.
    fn number(&mut self, dtype: DType) -> f64 {
        let (lo, hi) = range_of(dtype);
        if dtype.is_float() {
            return self.random.between(lo as i64 * 16, hi as i64 * 16) as f64 / 16.0;
        }
        self.random.between(lo as i64, hi as i64) as f64
    }

    /// Sets one element to a special value.
    fn make_special(&mut self, array: &mut Array, dtype: DType) {
        let lane = self.random.below(array.n_lanes());
        let size_bytes = dtype.lane_size_bytes();
        let floats = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -0.0,
            f64::from(f32::MIN_POSITIVE) / 8.0,
            f64::from(f32::MAX),
            6e-8,
            65504.0,
            1.0 + f64::from(f32::EPSILON),
            -1e10,
        ];
        let one = match dtype.integer_range() {
            None => Array::from_f64(dtype, &[1], &[*self.random.pick(&floats)]),
            Some((low, high)) => {
                Array::from_int(dtype, &[1], &[*self.random.pick(&[low, high, low + 1, high - 1])])
            }
        };
        if let Some(place) = array.data.get_mut(lane * size_bytes..(lane + 1) * size_bytes) {
            place.copy_from_slice(&one.data);
        }
    }

    /// Adds an output tensor.
    fn output(&mut self, name: String, shape: &[Size], dtype: DType) -> Buffer {
        let buffer = Buffer::new(name, self.extents(shape), dtype, chipdock_ir::StorageScope::GLOBAL);
        let lengths = self.lengths(shape);
        let elements = lengths.iter().product();
        self.params.push(Param::Buffer(buffer.clone()));
        self.args.push(Arg::Tensor(Array::from_f64(dtype, &lengths, &vec![UNTOUCHED; elements])));
        buffer
    }

    /// Adds a stored value to the record of the stage.
    fn note(&mut self, value: &Val) {
        let (lo, hi, exact) = self.written.unwrap_or((f64::INFINITY, f64::NEG_INFINITY, true));
        self.written = Some((lo.min(value.lo), hi.max(value.hi), exact && value.exact));
    }
}

/// Returns the range of inputs of a type.
fn range_of(dtype: DType) -> (f64, f64) {
    if dtype.is_float() {
        let most = comfortable(dtype).min(12.0);
        (-most, most)
    } else if dtype.is_bool() {
        (0.0, 1.0)
    } else if dtype.is_uint() {
        (0.0, 100.0)
    } else {
        (-100.0, 100.0)
    }
}
