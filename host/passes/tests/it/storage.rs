//! Rules STORAGE-Y1 to STORAGE-Y5 of `lower_storage_types`: on the interpreter, a module gives the
//! same bytes before and after it.

use std::sync::Arc;

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::validate::validate;
use chipdock_ir::{
    Child, CompareOp, DType, Expr, ExprKind, ForKind, IrModule, Op, Stage, StmtKind, ThreadAxis, build,
    number, print,
};
use chipdock_passes::simplify::simplify;
use chipdock_passes::{LowerOptions, flatten_buffers, lower, lower_storage_types, vectorize};
use proptest::prelude::*;

use crate::capabilities::{device, host};

fn one(f: build::FunctionBuilder) -> IrModule {
    let mut function = f.finish();
    function.s_tir = false;
    build::module([function])
}

/// The module through the pass, and what makes vectors of loops.
fn lowered(module: &IrModule) -> IrModule {
    let flat = simplify(&flatten_buffers(module, &host()).unwrap(), &host()).unwrap();
    let lowered = lower_storage_types(&flat, &host()).unwrap();
    let mut is_left = false;
    lowered.functions[0].body.walk(&mut |child| match child {
        Child::Expr(e) => e.walk(&mut |e| is_left |= e.dtype.is_storage()),
        Child::Stmt(stmt) => {
            is_left |= match &stmt.kind {
                StmtKind::Store { buffer, .. } | StmtKind::AllocBuffer { buffer, .. } => {
                    buffer.dtype.is_storage()
                }
                _ => false,
            };
        }
    });
    assert!(!is_left, "{}", print::module(&lowered));
    let whole = simplify(&vectorize(&lowered, &host()).unwrap(), &host()).unwrap();
    if let Err(problems) = validate(&whole, Stage::Flattened) {
        unreachable!("not valid: {problems:?}\n{}", print::module(&whole));
    }
    whole
}

fn run(module: &IrModule, mut args: Vec<Arg>) -> Vec<Array> {
    let ran = Interpreter::new(module).run("f", &mut args);
    if let Err(error) = ran {
        unreachable!("{error}\n{}", print::module(module));
    }
    let array = |arg: Arg| match arg {
        Arg::Tensor(array) => Some(array),
        _ => None,
    };
    args.into_iter().filter_map(array).collect()
}

/// Runs `f` before and after; gives what all tensors then are.
fn same(module: &IrModule, args: &[Array]) -> Vec<Array> {
    assert_eq!(validate(module, Stage::Blocks), Ok(()));
    let args: Vec<Arg> = args.iter().cloned().map(Arg::Tensor).collect();
    let (after, expected) = (lowered(module), run(module, args.clone()));
    let found = run(&after, args);
    for (found, expected) in found.iter().zip(&expected) {
        // Which NaN a NaN is, is not said (IR-N6).
        let is_same = |lane| match (found.float(lane), expected.float(lane)) {
            (Some(a), Some(b)) if a.is_nan() && b.is_nan() => true,
            (a, b) => a == b && found.int(lane) == expected.int(lane),
        };
        let is_same = found.data == expected.data || (0..found.n_lanes()).all(is_same);
        assert!(is_same, "{found:?}\n{expected:?}\n{}", print::module(&after));
    }
    expected
}

/// `B[i] = cast(A[i])`, `lanes` at once.
fn cast(from: DType, to: DType, n: usize, lanes: u16) -> IrModule {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [n as i32], from), f.buffer("B", [n as i32], to));
    f.range("i", n as i32 / i32::from(lanes), |f, i| {
        let at = if lanes == 1 { i } else { (i * Expr::i32(lanes.into())).ramp(Expr::i32(1), lanes) };
        f.store(&b, [&at], Expr::load(&a, vec![at.clone()]).cast(to.with_lanes(lanes)));
    });
    one(f)
}

fn bytes(dtype: DType, data: Vec<u8>) -> Array {
    let n = data.len() * 8 / usize::from(dtype.bits);
    Array { dtype, shape: vec![n], data }
}

/// IR-T5: element 0 is in the low bits of byte 0.
#[test]
fn low_bits_come_first() {
    let found = same(
        &cast(DType::INT4, DType::INT32, 7, 1),
        &[
            Array { dtype: DType::INT4, shape: vec![7], data: vec![0x21, 0x83, 0xf7, 0x0e] },
            Array::zeros(DType::INT32, &[7]),
        ],
    );
    assert_eq!(found[1].to_int(), [1, 2, 3, -8, 7, -1, -2]);
    let found = same(
        &cast(DType::INT32, DType::UINT1, 11, 1),
        &[
            Array::from_int(DType::INT32, &[11], &[1, 0, 0, 3, 0, 0, 0, -1, 1, 2, 5]),
            Array { dtype: DType::UINT1, shape: vec![11], data: vec![0xff, 0xff] },
        ],
    );
    // What of the last byte is no element's stays as it was.
    assert_eq!(found[1].data, [0x89, 0xfd]);
}

fn wide_types() -> impl Iterator<Item = DType> {
    DType::SCALARS.iter().copied()
}

/// STORAGE-Y1: every value of every storage type to every type, by itself and in vectors.
#[test]
fn every_value_is_cast_to_every_type() {
    for &from in DType::STORAGE {
        let all = bytes(from, (0..=255).collect());
        for to in wide_types().chain(DType::STORAGE.iter().copied()) {
            for lanes in [1, 8] {
                let args = [all.clone(), Array::zeros(to, &[all.n_lanes()])];
                same(&cast(from, to, all.n_lanes(), lanes), &args);
            }
        }
    }
}

/// STORAGE-Y5: all 256 values go to float32, float16 (which has all of them) and float64 and back,
/// NaNs as NaNs.
#[test]
fn float8_comes_back() {
    for small in [DType::FLOAT8_E4M3FN, DType::FLOAT8_E5M2] {
        let all = bytes(small, (0..=255).collect());
        for wide in [DType::FLOAT16, DType::FLOAT32, DType::FLOAT64] {
            let there = same(&cast(small, wide, 256, 1), &[all.clone(), Array::zeros(wide, &[256])]);
            let back = same(&cast(wide, small, 256, 1), &[there[1].clone(), Array::zeros(small, &[256])]);
            for (index, (found, expected)) in back[1].data.iter().zip(&all.data).enumerate() {
                let is_nan = number::float8_value(*expected, small).is_nan();
                let is_same =
                    if is_nan { number::float8_value(*found, small).is_nan() } else { found == expected };
                assert!(is_same, "{small} by {wide}: {index:#x} came back as {found:#x}");
            }
        }
    }
}

/// The nearest of all values of a type, of two equally near ones that with an even mantissa, by
/// search.
fn nearest(value: f64, small: DType) -> u8 {
    let sign = u8::from(value.is_sign_negative()) << 7;
    let max = if small == DType::FLOAT8_E5M2 { 0x7b } else { 0x7e };
    let value = value.abs();
    // One value more than there is, past which is overflow.
    let of = |bits: u8| match bits {
        bits if bits <= max => number::float8_value(bits, small),
        _ => {
            let greatest = number::float8_value(max, small);
            greatest + (greatest - number::float8_value(max - 1, small))
        }
    };
    if value >= of(max + 1) {
        return sign | (max + 1);
    }
    let mut best = 0;
    for bits in 1..=max + 1 {
        let (new, old) = ((of(bits) - value).abs(), (of(best) - value).abs());
        if new < old || new == old && bits % 2 == 0 {
            best = bits;
        }
    }
    sign | best
}

/// STORAGE-Y5: every float16 rounds to the nearest value, and so do float32 and float64 next to the
/// middle of two values.
#[test]
fn float8_is_rounded_once() {
    for small in [DType::FLOAT8_E4M3FN, DType::FLOAT8_E5M2] {
        let halves: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let halves = bytes(DType::FLOAT16, halves);
        let n = halves.n_lanes();
        let found = same(&cast(DType::FLOAT16, small, n, 1), &[halves.clone(), Array::zeros(small, &[n])]);
        for (value, found) in halves.to_f64().into_iter().zip(&found[1].data) {
            match value.is_nan() {
                true => assert!(number::float8_value(*found, small).is_nan()),
                false => assert_eq!(*found, nearest(value, small), "{value} in {small}"),
            }
        }
        let near = |bits: u8| {
            let middle = (number::float8_value(bits, small) + number::float8_value(bits + 1, small)) / 2.0;
            let around = [middle.next_down(), middle, middle.next_up()].map(f64::from);
            let narrow = middle as f32;
            around.into_iter().chain([narrow.next_down(), narrow.next_up()].map(f64::from))
        };
        let values: Vec<f64> = (0..0x7a).flat_map(near).chain([464.0, 464.0000001, 1e300, 61440.0]).collect();
        let values: Vec<f64> = values.iter().flat_map(|value| [*value, -*value]).collect();
        let wide = Array::from_f64(DType::FLOAT64, &[values.len()], &values);
        let args = [wide, Array::zeros(small, &[values.len()])];
        let found = same(&cast(DType::FLOAT64, small, values.len(), 1), &args);
        for (value, found) in values.iter().zip(&found[1].data) {
            assert_eq!(*found, nearest(*value, small), "{value:e} in {small}");
        }
    }
}

/// What overflows is a NaN in e4m3fn, which has no infinity, and infinite in e5m2; the middle goes
/// to even.
#[test]
fn float8_overflows_as_ocp_has_it() {
    let values = [448.0, 464.0, 464.01, f64::INFINITY, -1e9];
    let found = [DType::FLOAT8_E4M3FN, DType::FLOAT8_E5M2].map(|small| {
        let values = if small == DType::FLOAT8_E5M2 { values.map(|value| value * 128.0) } else { values };
        let args = [Array::from_f64(DType::FLOAT32, &[5], &values), Array::zeros(small, &[5])];
        same(&cast(DType::FLOAT32, small, 5, 1), &args)[1].data.clone()
    });
    assert_eq!(found, [[0x7e, 0x7e, 0x7f, 0x7f, 0xff], [0x7b, 0x7b, 0x7b, 0x7c, 0xfc]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Casts of any bits of any type to every storage type.
    #[test]
    fn any_value_is_cast(data in prop::collection::vec(any::<u8>(), 64)) {
        for from in wide_types() {
            let all = bytes(from, if from.is_bool() { data.iter().map(|byte| byte & 1).collect() } else { data.clone() });
            for &to in DType::STORAGE {
                same(&cast(from, to, all.n_lanes(), 1), &[all.clone(), Array::zeros(to, &[all.n_lanes()])]);
                same(&cast(from, to, all.n_lanes(), 8), &[all.clone(), Array::zeros(to, &[all.n_lanes()])]);
            }
        }
    }
}

/// STORAGE-Y2: stores leave the neighbours alone, in any order, by any index, of vectors with a
/// predicate too.
#[test]
fn a_store_changes_one_element() {
    for dtype in [DType::INT4, DType::UINT1] {
        let mut f = build::function("f");
        let (a, p) = (f.buffer("A", [6, 7], dtype), f.buffer("P", [6], DType::INT32));
        f.range("i", 6, |f, i| {
            let at = Expr::load(&p, vec![i.clone()]);
            let value = Expr::load(&a, vec![i.clone(), Expr::i32(6)]).cast(DType::INT32) + Expr::i32(3);
            f.store(&a, [&at, &i], value.cast(dtype));
        });
        let lanes = Expr::i32(1).ramp(Expr::i32(1), 4);
        let mask = Expr::compare(chipdock_ir::CompareOp::Ne, lanes.clone(), Expr::i32(2).broadcast(4));
        let indices = vec![Expr::i32(3), lanes];
        let (value, predicate) = (Expr::int(1, dtype).broadcast(4), Some(mask));
        f.push(chipdock_ir::Stmt::new(StmtKind::Store { buffer: a.clone(), indices, value, predicate }));
        let data = (0..dtype.array_size_bytes(42).unwrap()).map(|byte| (byte * 37 + 5) as u8).collect();
        let order = Array::from_int(DType::INT32, &[6], &[3, 1, 5, 0, 4, 2]);
        same(&one(f), &[Array { dtype, shape: vec![6, 7], data }, order]);
    }
}

/// STORAGE-Y2: what is allocated has a byte for each element, and is written and read through views
/// as before.
#[test]
fn allocated_buffers_are_not_packed() {
    for &dtype in DType::STORAGE {
        let mut f = build::function("f");
        let (a, b) = (f.buffer("A", [9], DType::INT32), f.buffer("B", [9], DType::INT32));
        let own = f.alloc("own", [9], dtype, chipdock_ir::StorageScope::GLOBAL);
        f.range("i", 9, |f, i| f.store(&own, [&i], Expr::load(&a, vec![i.clone()]).cast(dtype)));
        f.range("i", 9, |f, i| {
            let kept = f.bind("kept", Expr::load(&own, vec![Expr::i32(8) - i.clone()]));
            f.store(&b, [&i], kept.cast(DType::INT32));
        });
        let values = Array::from_int(DType::INT32, &[9], &[-9, -8, -1, 0, 1, 2, 7, 8, 15]);
        same(&one(f), &[values, Array::zeros(DType::INT32, &[9])]);
    }
}

fn stored_in(kind: ForKind, n: i32) -> IrModule {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [n], DType::INT32), f.buffer("B", [n], DType::INT4));
    f.for_each(build::Loop::new("i", kind, n), |f, i| {
        f.store(&b, [&i], Expr::load(&a, vec![i.clone()]).cast(DType::INT4));
    });
    one(f)
}

fn kinds_of_loops(module: &IrModule) -> Vec<ForKind> {
    let mut kinds = Vec::new();
    module.functions[0].body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::For { kind, .. } = &stmt.kind
        {
            kinds.push(*kind);
        }
    });
    kinds
}

/// STORAGE-Y3: loops whose iterations would change one byte at once become serial; STORAGE-Y4:
/// those that write whole bytes stay.
#[test]
fn neighbours_have_one_writer() {
    for kind in [ForKind::Parallel, ForKind::Vectorized] {
        let flat = flatten_buffers(&stored_in(kind, 8), &host()).unwrap();
        assert_eq!(kinds_of_loops(&lower_storage_types(&flat, &host()).unwrap()), [ForKind::Serial]);
    }
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [8, 6], DType::INT32), f.buffer("B", [8, 6], DType::INT4));
    f.for_each(build::Loop::new("i", ForKind::Parallel, 8), |f, i| {
        f.range("j", 6, |f, j| {
            f.store(&b, [&i, &j], Expr::load(&a, vec![i.clone(), j.clone()]).cast(DType::INT4));
        });
    });
    let whole = one(f);
    let flat = flatten_buffers(&whole, &host()).unwrap();
    let kinds = kinds_of_loops(&lower_storage_types(&flat, &host()).unwrap());
    assert_eq!(kinds, [ForKind::Parallel, ForKind::Serial]);
    let values: Vec<i128> = (0..48).collect();
    let a = Array::from_int(DType::INT32, &[8, 6], &values);
    same(&whole, &[a, Array::zeros(DType::INT4, &[8, 6])]);
}

/// STORAGE-Y4: a vector of whole bytes is stored as bytes.
#[test]
fn a_vector_of_whole_bytes_is_stored_as_it_is() {
    let module = cast(DType::INT32, DType::INT4, 32, 8);
    let after = lowered(&module);
    let mut loads = 0;
    after.functions[0]
        .body
        .walk_exprs(&mut |e| loads += usize::from(matches!(e.kind, ExprKind::Load { .. })));
    assert_eq!(loads, 1, "{}", print::module(&after));
}

/// STORAGE-Y3: threads that would change one byte at once are an error that says what to write.
#[test]
fn threads_do_not_share_a_byte() {
    let by_threads = |per_thread: i32, ends: bool| {
        let mut f = build::function("f");
        let (a, b) = (f.buffer("A", [64], DType::FLOAT32), f.buffer("B", [64], DType::INT4));
        f.thread_binding("i", 64 / per_thread, ThreadAxis::ThreadX, |f, i| {
            f.range("j", per_thread, |f, j| {
                let at = i.clone() * Expr::i32(per_thread) + j;
                f.store(&b, [&at], Expr::load(&a, vec![at.clone()]).cast(DType::INT4));
                if ends {
                    let zero = Expr::float(0.0, DType::FLOAT32);
                    f.if_then(Expr::compare(CompareOp::Lt, Expr::load(&a, vec![at]), zero), |f| {
                        f.evaluate(Expr::call(Op::ThreadReturn, Vec::new(), DType::HANDLE));
                    });
                }
            });
        });
        lower(&one(f), &LowerOptions::new(Arc::new(device())))
    };
    let error = by_threads(1, false).unwrap_err().to_string();
    let wanted = "B has elements of 4 bits, and two threads may store into one byte of it: let each thread store all 2 elements \
                  of a byte, in a serial loop over them, as B[i * 2 + j] for j in range(2)";
    assert!(error.contains(wanted), "{error}");
    assert!(by_threads(2, false).is_ok() && by_threads(4, false).is_ok());
    let error = by_threads(2, true).unwrap_err().to_string();
    assert!(error.contains(wanted), "a thread may end before the second element: {error}");
}

/// On a target with threads, what nobody scheduled writes no byte from two threads.
#[test]
fn the_default_schedule_keeps_bytes_whole() {
    for capabilities in [host(), device()] {
        let lowered = lower(&stored_in(ForKind::Serial, 64), &LowerOptions::new(Arc::new(capabilities)));
        assert!(lowered.is_ok(), "{lowered:?}");
    }
}
