//! Tests of random expressions on every type, scalar and in vectors: compiled code gives the
//! interpreter's results.

use chipdock_interpret::{Arg, Array, Interpreter, compare};
use chipdock_ir::{
    BinaryOp, Buffer, CompareOp, DType, Expr, ExprKind, ForKind, Op, Param, PrimFunc, Stmt, Var, build,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use super::support::{Argument, call, has_compiler, loaded};

const N: usize = 48;

const TYPES: &[DType] = DType::SCALARS;

/// Decisions of a generator, drawn one after the other; zeros when they run out.
struct Draw<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Draw<'_> {
    fn below(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % n
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// One input buffer per type and the index at which the lanes are read.
struct Generator<'a> {
    draw: Draw<'a>,
    inputs: &'a [Buffer],
    index: Expr,
    lanes: u16,
    bound: Vec<(Var, DType)>,
}

impl Generator<'_> {
    fn leaf(&mut self, dtype: DType) -> Expr {
        let vars: Vec<Var> =
            self.bound.iter().filter(|(_, bound)| *bound == dtype).map(|(var, _)| var.clone()).collect();
        if !vars.is_empty() && self.draw.below(2) == 0 {
            let pick = self.draw.below(vars.len());
            return vars[pick].expr();
        }
        if self.draw.below(4) > 0 {
            let buffer = &self.inputs[TYPES.iter().position(|t| *t == dtype).unwrap()];
            let index = self.index.clone() * Expr::i32(self.lanes.into());
            let index = if self.lanes == 1 { index } else { index.ramp(Expr::i32(1), self.lanes) };
            return Expr::load(buffer, vec![index]);
        }
        let value = self.draw.of(&[0, 1, 2, 3, -1, -3, 7, 100, 1000]);
        let one = if dtype.is_bool() {
            Expr::bool(value % 2 == 0)
        } else if dtype.is_float() {
            Expr::float(f64::from(value) / 4.0, dtype)
        } else {
            Expr::int(value.into(), dtype)
        };
        one.broadcast(self.lanes)
    }

    fn expr(&mut self, dtype: DType, depth: usize) -> Expr {
        if depth == 0 || self.draw.below(8) == 0 {
            return self.leaf(dtype);
        }
        let lanes = self.lanes;
        match self.draw.below(10) {
            0 => {
                let from = self.draw.of(TYPES);
                let value = self.expr(from, depth - 1);
                value.cast(dtype.with_lanes(lanes))
            }
            1 => {
                let condition = self.expr(DType::BOOL, depth - 1);
                let (a, b) = (self.expr(dtype, depth - 1), self.expr(dtype, depth - 1));
                Expr::select(condition, a, b)
            }
            2 => {
                let inner = self.draw.of(TYPES);
                let value = self.expr(inner, depth - 1);
                let var = Var::new("x", inner.with_lanes(lanes));
                self.bound.push((var.clone(), inner));
                let body = self.expr(dtype, depth - 1);
                self.bound.pop();
                let dtype = body.dtype;
                Expr::new(ExprKind::Let { var, value, body }, dtype)
            }
            3 if lanes == 1 => {
                let condition = self.expr(DType::BOOL, depth - 1);
                let (a, b) = (self.expr(dtype, depth - 1), self.expr(dtype, depth - 1));
                Expr::call(Op::IfThenElse, vec![condition, a, b], dtype)
            }
            4 if !dtype.is_bool() && dtype.bits > 8 => {
                let same: Vec<DType> =
                    TYPES.iter().copied().filter(|t| t.bits == dtype.bits && !t.is_bool()).collect();
                let from = self.draw.of(&same);
                // Which bits a NaN has is nobody's promise.
                if from.is_float() {
                    return self.own(dtype, depth);
                }
                let value = self.expr(from, depth - 1);
                Expr::call(Op::Reinterpret, vec![value], dtype.with_lanes(lanes))
            }
            _ => self.own(dtype, depth),
        }
    }

    fn own(&mut self, dtype: DType, depth: usize) -> Expr {
        if dtype.is_bool() {
            self.boolean(depth)
        } else if dtype.is_float() {
            self.float(dtype, depth)
        } else {
            self.integer(dtype, depth)
        }
    }

    fn boolean(&mut self, depth: usize) -> Expr {
        match self.draw.below(6) {
            0 => self.expr(DType::BOOL, depth - 1).logical_not(),
            1 => self.expr(DType::BOOL, depth - 1).and(self.expr(DType::BOOL, depth - 1)),
            2 => self.expr(DType::BOOL, depth - 1).or(self.expr(DType::BOOL, depth - 1)),
            3 => {
                let dtype = self.draw.of(&[DType::FLOAT16, DType::FLOAT32, DType::FLOAT64]);
                let op = self.draw.of(&[Op::Isnan, Op::Isinf, Op::Isfinite]);
                let value = self.expr(dtype, depth - 1);
                Expr::call(op, vec![value], DType::BOOL.with_lanes(self.lanes))
            }
            _ => {
                let dtype = self.draw.of(TYPES);
                let op = self.draw.of(&[
                    CompareOp::Eq,
                    CompareOp::Ne,
                    CompareOp::Lt,
                    CompareOp::Le,
                    CompareOp::Gt,
                    CompareOp::Ge,
                ]);
                let (a, b) = (self.expr(dtype, depth - 1), self.expr(dtype, depth - 1));
                Expr::compare(op, a, b)
            }
        }
    }

    fn float(&mut self, dtype: DType, depth: usize) -> Expr {
        let vector = dtype.with_lanes(self.lanes);
        match self.draw.below(9) {
            0 => {
                let op = self.draw.of(&[Op::Floor, Op::Ceil, Op::Trunc, Op::Nearbyint, Op::Abs, Op::Sqrt]);
                let value = self.expr(dtype, depth - 1);
                Expr::call(op, vec![value], vector)
            }
            1 => {
                let (a, b) = (self.expr(dtype, depth - 1), self.expr(dtype, depth - 1));
                Expr::call(Op::Copysign, vec![a, b], vector)
            }
            n => {
                let op = [
                    BinaryOp::Add,
                    BinaryOp::Sub,
                    BinaryOp::Mul,
                    BinaryOp::Div,
                    BinaryOp::Min,
                    BinaryOp::Max,
                    BinaryOp::Add,
                ][n - 2];
                let (a, b) = (self.expr(dtype, depth - 1), self.expr(dtype, depth - 1));
                Expr::binary(op, a, b)
            }
        }
    }

    fn integer(&mut self, dtype: DType, depth: usize) -> Expr {
        let vector = dtype.with_lanes(self.lanes);
        match self.draw.below(6) {
            0 => {
                let op = self.draw.of(&[
                    Op::BitwiseAnd,
                    Op::BitwiseOr,
                    Op::BitwiseXor,
                    Op::ShiftLeft,
                    Op::ShiftRight,
                ]);
                let (a, b) = (self.expr(dtype, depth - 1), self.expr(dtype, depth - 1));
                Expr::call(op, vec![a, b], vector)
            }
            1 => {
                let op = self.draw.of(&[Op::BitwiseNot, Op::Abs, Op::Popcount]);
                let value = self.expr(dtype, depth - 1);
                Expr::call(op, vec![value], vector)
            }
            _ => {
                let op = self.draw.of(BinaryOp::ALL);
                let (a, b) = (self.expr(dtype, depth - 1), self.expr(dtype, depth - 1));
                Expr::binary(op, a, b)
            }
        }
    }
}

/// `O<k>[i] = expression k` for each of the programs, over one input per type; vectors of
/// `lanes[k]`.
fn function(programs: &[Vec<u8>], lanes: &[u16]) -> PrimFunc {
    let mut f = build::function("f");
    let inputs: Vec<Buffer> =
        TYPES.iter().map(|dtype| f.buffer(format!("A_{dtype}"), [N as i32], *dtype)).collect();
    f.noalias();
    for (k, bytes) in programs.iter().enumerate() {
        let mut draw = Draw { bytes, at: 0 };
        let dtype = draw.of(TYPES);
        let output = f.buffer(format!("O{k}"), [N as i32], dtype);
        let (var, lanes) = (Var::new("i", DType::INT32), lanes[k % lanes.len()]);
        let mut generator = Generator { draw, inputs: &inputs, index: var.expr(), lanes, bound: Vec::new() };
        let value = generator.expr(dtype, 4);
        let index = var.expr() * Expr::i32(lanes.into());
        let index = if lanes == 1 { index } else { index.ramp(Expr::i32(1), lanes) };
        let store = Stmt::store(&output, vec![index], value);
        let extent = Expr::i32((N / usize::from(lanes)) as i32);
        f.push(Stmt::for_loop(var, extent, ForKind::Serial, store));
    }
    f.finish()
}

#[rustfmt::skip]
const INTEGERS: &[i128] = &[
    0, 1, -1, 2, -2, 3, 5, 7, -7, 10, 31, 32, 63, 64, 100, -100, 127, 128, -128, 255, 256, 1000,
    -1000, 32767, -32768, 65535, 65536, 100_000, 2_147_483_647, -2_147_483_648, 4_294_967_295, 1 <<
    40, i64::MAX as i128, i64::MIN as i128, 0x5555_5555_5555_5555, 12_345_678_901,
];

#[rustfmt::skip]
const FLOATS: &[f64] = &[
    0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 0.1, -0.3, 3.25, 1e-3, 255.0, 256.5, 1000.25,
    65504.0, 65519.0, 65520.0, 1e-7, 6e-8, 1e10, -1e10, 3e9, -3e9, 1e20, 3.4e38, 1e300,
    f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 2147483648.0, -2147483648.0, 127.5, -128.5, 0.333,
    7.75,
];

fn inputs() -> Vec<Array> {
    TYPES
        .iter()
        .enumerate()
        .map(|(shift, dtype)| {
            // Each type starts elsewhere, so that values meet different ones.
            if dtype.is_float() {
                let values: Vec<f64> = (0..N).map(|i| FLOATS[(i + 5 * shift) % FLOATS.len()]).collect();
                Array::from_f64(*dtype, &[N], &values)
            } else {
                let values: Vec<i128> = (0..N).map(|i| INTEGERS[(i + 7 * shift) % INTEGERS.len()]).collect();
                Array::from_int(*dtype, &[N], &values)
            }
        })
        .collect()
}

/// The statement that stores `O<k>`.
fn line_of(text: &str, k: usize) -> String {
    text.lines().find(|line| line.trim().starts_with(&format!("O{k}["))).unwrap_or(text).to_owned()
}

fn check(function: PrimFunc) -> Result<(), String> {
    let text = chipdock_ir::print::function(&function);
    let module = build::module([function]);
    let compiled = loaded(&module);
    let dtypes: Vec<DType> = module.functions[0]
        .params
        .iter()
        .skip(TYPES.len())
        .filter_map(|param| if let Param::Buffer(buffer) = param { Some(buffer.dtype) } else { None })
        .collect();
    let zeros = || dtypes.iter().map(|dtype| Array::zeros(*dtype, &[N]));
    let mut args: Vec<Arg> = inputs().into_iter().chain(zeros()).map(Arg::Tensor).collect();
    let outcome = Interpreter::new(&module).with_bounds().run("f", &mut args);
    let outcome = outcome.map_err(|error| format!("interpreter: {error}\n{text}"))?;
    let mut arrays: Vec<Array> = inputs().into_iter().chain(zeros()).collect();
    let mut packed: Vec<Argument> = arrays.iter_mut().map(Argument::Tensor).collect();
    call(&compiled, "f", &mut packed).map_err(|error| format!("{error:?}"))?;
    for (k, actual) in arrays.iter().skip(TYPES.len()).enumerate() {
        let expected = outcome.output(&format!("O{k}")).expect("O<k> is a parameter");
        compare(actual, expected).map_err(|mismatch| format!("{mismatch}\n{}", line_of(&text, k)))?;
    }
    Ok(())
}

fn random_programs(lanes: &'static [u16], seed: u64) {
    if !has_compiler() {
        return;
    }
    let config = Config {
        cases: 5,
        max_shrink_iters: 40,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        ..Config::default()
    };
    // Many expressions a program: a run of the compiler costs more than what it compiles.
    let bytes = prop::collection::vec(prop::collection::vec(any::<u8>(), 200), 20);
    let result = TestRunner::new(config)
        .run(&bytes, |programs| check(function(&programs, lanes)).map_err(TestCaseError::fail));
    if let Err(error) = result {
        let text = error.to_string();
        panic!("{}", text.split("minimal failing input").next().unwrap_or(&text));
    }
}

#[test]
fn random_scalars_compute_as_the_interpreter() {
    random_programs(&[1], 1);
}

#[test]
fn random_vectors_compute_as_the_interpreter() {
    random_programs(&[4, 16, 3, 8, 2], 2);
}

/// gcc 12 makes -1 of true where lanes of a vector of two are assigned in a loop: helpers go by way
/// of an array.
#[test]
fn truth_is_one_in_two_lanes() {
    if !has_compiler() {
        return;
    }
    let mut f = build::function("f");
    let inputs: Vec<Buffer> =
        TYPES.iter().map(|dtype| f.buffer(format!("A_{dtype}"), [N as i32], *dtype)).collect();
    let at = |name: DType| &inputs[TYPES.iter().position(|dtype| *dtype == name).unwrap()];
    let output = f.buffer("O0", [N as i32], DType::UINT32);
    f.for_loop("i", (N / 2) as i32, ForKind::Serial, |f, i| {
        let index = (i * Expr::i32(2)).ramp(Expr::i32(1), 2);
        let a = Expr::load(at(DType::UINT32), vec![index.clone()]);
        let is_set = Expr::load(at(DType::BOOL), vec![index.clone()]).cast(DType::UINT32.with_lanes(2));
        let one = Expr::binary(BinaryOp::Div, a.clone(), a.clone());
        f.store(&output, [index], one * a + is_set);
    });
    check(f.finish()).unwrap();
}

/// gcc 12 drops conversions to `_Float16` and back in straight-line code on machines that compute
/// in it.
#[test]
fn halves_are_rounded_in_four_lanes() {
    if !has_compiler() {
        return;
    }
    let mut f = build::function("f");
    let inputs: Vec<Buffer> =
        TYPES.iter().map(|dtype| f.buffer(format!("A_{dtype}"), [N as i32], *dtype)).collect();
    let position = TYPES.iter().position(|dtype| *dtype == DType::FLOAT16).unwrap();
    let output = f.buffer("O0", [N as i32], DType::FLOAT16);
    f.for_loop("i", (N / 4) as i32, ForKind::Serial, |f, i| {
        let index = (i * Expr::i32(4)).ramp(Expr::i32(1), 4);
        let a = Expr::load(&inputs[position], vec![index.clone()]);
        let limit = Expr::float(25.0, DType::FLOAT16.with_lanes(4));
        f.store(&output, [index], a.clone() - (a.clone() + Expr::binary(BinaryOp::Min, limit, a)));
    });
    check(f.finish()).unwrap();
}

/// Branches by lane: loads and stores under masks touch nothing else (STAGE-H7), at the end of a
/// row too.
#[test]
fn masks_touch_no_other_element() {
    if !has_compiler() {
        return;
    }
    for dtype in [DType::FLOAT32, DType::FLOAT16, DType::BOOL, DType::INT64, DType::UINT8, DType::FLOAT64] {
        let mut f = build::function("f");
        let inputs: Vec<Buffer> =
            TYPES.iter().map(|dtype| f.buffer(format!("A_{dtype}"), [N as i32], *dtype)).collect();
        let at = |name: DType| &inputs[TYPES.iter().position(|dtype| *dtype == name).unwrap()];
        let output = f.buffer("O0", [N as i32], dtype);
        // Forty-five of forty-eight elements, in vectors of eight; what is not positive stays.
        f.range("i", 6, |f, i| {
            f.for_loop("v", 8, ForKind::Vectorized, |f, v| {
                let index = i * Expr::i32(8) + v;
                f.if_then(Expr::compare(CompareOp::Lt, index.clone(), Expr::i32(45)), |f| {
                    let value = Expr::load(at(DType::INT32), vec![index.clone()]);
                    let positive = Expr::compare(CompareOp::Gt, value, Expr::i32(0));
                    let loaded = Expr::load(at(dtype), vec![index.clone()]);
                    f.if_then_else(
                        positive,
                        |f| f.store(&output, [index.clone()], loaded.clone()),
                        |f| {
                            let guard = Expr::compare(CompareOp::Ge, index.clone(), Expr::i32(20));
                            let other = Expr::load(at(dtype), vec![index.clone() - Expr::i32(20)]);
                            let value = Expr::call(Op::IfThenElse, vec![guard, other, loaded.clone()], dtype);
                            f.store(&output, [index.clone()], value);
                        },
                    );
                });
            });
        });
        check(f.finish()).unwrap_or_else(|error| panic!("{dtype}: {error}"));
    }
}

/// Atomic additions in a parallel loop: each value once, whatever the order.
#[test]
fn atomic_additions_add_up() {
    if !has_compiler() {
        return;
    }
    for dtype in [
        DType::INT32,
        DType::UINT32,
        DType::INT64,
        DType::UINT64,
        DType::FLOAT16,
        DType::FLOAT32,
        DType::FLOAT64,
    ] {
        let mut f = build::function("f");
        let (a, sum) = (f.buffer("A", [N as i32], dtype), f.buffer("S", [2], dtype));
        f.for_loop("i", N as i32, ForKind::Parallel, |f, i| {
            let address =
                Expr::call(Op::AddressOf, vec![Expr::load(&sum, vec![Expr::i32(1)])], DType::HANDLE);
            let value = Expr::load(&a, vec![i]);
            f.evaluate(Expr::call(Op::AtomicAdd, vec![address, value], dtype));
        });
        let compiled = loaded(&build::module([f.finish()]));
        let mut args = if dtype.is_float() {
            let values: Vec<f64> = (0..N).map(|i| i as f64 / 2.0).collect();
            [Array::from_f64(dtype, &[N], &values), Array::from_f64(dtype, &[2], &[3.0, 0.5])]
        } else {
            let values: Vec<i128> = (0..N as i128).collect();
            [Array::from_int(dtype, &[N], &values), Array::from_int(dtype, &[2], &[3, 1])]
        };
        let mut packed: Vec<Argument> = args.iter_mut().map(Argument::Tensor).collect();
        call(&compiled, "f", &mut packed).unwrap();
        let expected = if dtype.is_float() { [3.0, 564.5] } else { [3.0, 1129.0] };
        assert_eq!(args[1].to_f64(), expected, "{dtype}");
    }
}
