//! Sums over several loops, scheduled for threads: each thread with several results computes what
//! one loop nest did.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::{
    Buffer, DType, Expr, ForKind, IrModule, IterKind, Stmt, StmtKind, StorageScope, TargetCapabilities, Var,
    build, print,
};
use chipdock_passes::{PIPELINE, default_schedule};
use proptest::prelude::*;

use crate::capabilities::device;

/// One axis of an operand: `loop * factor` of a data loop, of a reduction loop, or the sum of both.
#[derive(Clone, Copy, Debug)]
struct Place {
    data: Option<(usize, i32)>,
    reducing: Option<(usize, i32)>,
}

/// `C[d...] op= X[...] op' Y[...]` over loops of these extents.
#[derive(Clone, Debug)]
struct Case {
    data: Vec<i32>,
    reducing: Vec<i32>,
    /// Which data loop has a symbolic extent.
    symbolic: Option<usize>,
    operands: [Vec<Place>; 2],
    is_float: bool,
    is_maximum: bool,
    turned: bool,
}

fn operand(n_data: usize, n_reducing: usize) -> impl Strategy<Value = Vec<Place>> {
    let data = prop::collection::vec(prop::option::weighted(0.7, 1..3_i32), n_data);
    let reducing = prop::collection::vec(prop::option::weighted(0.8, (1..3_i32, any::<bool>())), n_reducing);
    (data, reducing).prop_map(|(data, reducing)| {
        let of_data =
            |(d, factor): (usize, Option<i32>)| Some(Place { data: Some((d, factor?)), reducing: None });
        let mut places: Vec<Place> = data.into_iter().enumerate().filter_map(of_data).collect();
        for (r, how) in reducing.into_iter().enumerate() {
            let Some((factor, joins)) = how else { continue };
            match places.iter_mut().rev().find(|place| joins && place.reducing.is_none()) {
                Some(place) => place.reducing = Some((r, factor)),
                None => places.push(Place { data: None, reducing: Some((r, factor)) }),
            }
        }
        places
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let extents = |most: i32, n| prop::collection::vec(prop_oneof![6 => 1..most, 1 => Just(0)], n);
    (1..4_usize, 1..4_usize).prop_flat_map(move |(n, m)| {
        let of_data = prop::collection::vec(1..20_i32, n);
        let operands = [operand(n, m), operand(n, m)];
        let symbolic = prop::option::of(0..n);
        (of_data, extents(4, m), operands, symbolic, any::<[bool; 3]>()).prop_map(
            |(data, reducing, operands, symbolic, [is_float, is_maximum, turned])| Case {
                data,
                reducing,
                symbolic,
                operands,
                is_float,
                is_maximum,
                turned,
            },
        )
    })
}

impl Case {
    fn dtype(&self) -> DType {
        if self.is_float { DType::FLOAT32 } else { DType::INT32 }
    }

    /// The order of the data loops in memory.
    fn order(&self) -> Vec<usize> {
        let all = 0..self.data.len();
        if self.turned { all.rev().collect() } else { all.collect() }
    }

    /// The extents of an operand, and the same in terms of the loops' extents.
    fn shape(&self, places: &[Place], of_data: &[Expr]) -> (Vec<usize>, Vec<Expr>) {
        let axis = |place: &Place| {
            let (mut size, mut expr) = (1, Expr::i32(1));
            if let Some((d, factor)) = place.data {
                size += (self.data[d] - 1) * factor;
                expr = (of_data[d].clone() - 1) * factor + 1;
            }
            if let Some((r, factor)) = place.reducing {
                let more = (self.reducing[r] - 1).max(0) * factor;
                size += more;
                expr = expr + more;
            }
            (size as usize, expr)
        };
        places.iter().map(axis).unzip()
    }

    fn module(&self) -> (IrModule, Vec<Arg>) {
        let mut f = build::function("f");
        f.noalias();
        let n = Var::new("n", DType::INT32);
        let extent = |d: usize| if self.symbolic == Some(d) { n.expr() } else { Expr::i32(self.data[d]) };
        let extents: Vec<Expr> = (0..self.data.len()).map(extent).collect();
        let of_result: Vec<Expr> = self.order().iter().map(|d| extents[*d].clone()).collect();
        let result_shape: Vec<usize> = self.order().iter().map(|d| self.data[*d] as usize).collect();
        let c = f.param(Buffer::new("C", of_result, self.dtype(), StorageScope::GLOBAL));
        let mut args = vec![filled(self.dtype(), &result_shape, 1)];
        let mut buffers = Vec::new();
        for (number, places) in self.operands.iter().enumerate() {
            let (sizes, shape) = self.shape(places, &extents);
            let name = ["X", "Y"][number];
            buffers.push(f.param(Buffer::new(name, shape, self.dtype(), StorageScope::GLOBAL)));
            args.push(filled(self.dtype(), &sizes, 3 + number));
        }
        let var = |name: &str, at: usize| Var::new(format!("{name}{at}"), DType::INT32);
        let data: Vec<Var> = (0..self.data.len()).map(|at| var("d", at)).collect();
        let reducing: Vec<Var> = (0..self.reducing.len()).map(|at| var("r", at)).collect();
        f.block("C", |f| {
            let own = |f: &mut build::BlockBuilder, vars: &[Var], kind: IterKind, extents: &[Expr]| {
                let axes = vars
                    .iter()
                    .zip(extents)
                    .map(|(var, extent)| f.axis(format!("v{}", var.name), kind, extent.clone(), var.expr()));
                axes.collect::<Vec<Expr>>()
            };
            let d = own(f, &data, IterKind::Spatial, &extents);
            let steps: Vec<Expr> = self.reducing.iter().map(|extent| Expr::i32(*extent)).collect();
            let r = own(f, &reducing, IterKind::Reduce, &steps);
            let at: Vec<Expr> = self.order().iter().map(|axis| d[*axis].clone()).collect();
            let index = |place: &Place| {
                let data = place.data.map(|(axis, factor)| d[axis].clone() * factor);
                let reducing = place.reducing.map(|(axis, factor)| r[axis].clone() * factor);
                data.into_iter().chain(reducing).reduce(|a, b| a + b).unwrap_or(Expr::i32(0))
            };
            let load = |number: usize| {
                Expr::load(&buffers[number], self.operands[number].iter().map(index).collect())
            };
            let term = load(0) * load(1);
            let before = Expr::load(&c, at.clone());
            let value = if self.is_maximum { before.max(term) } else { before + term };
            f.init(|f| f.push(Stmt::store(&c, at.clone(), Expr::constant(0, self.dtype()))));
            f.push(Stmt::store(&c, at, value));
        });
        let mut function = f.finish();
        let loops = data.into_iter().zip(extents);
        let steps = reducing.into_iter().zip(self.reducing.iter().map(|extent| Expr::i32(*extent)));
        function.body = loops
            .chain(steps)
            .rev()
            .fold(function.body, |body, (var, extent)| Stmt::for_loop(var, extent, ForKind::Serial, body));
        (build::module([function]), args)
    }
}

fn filled(dtype: DType, shape: &[usize], seed: usize) -> Arg {
    let n: usize = shape.iter().product();
    let number = |at: usize| ((at * 7 + seed * 5) % 11) as i128 - 5;
    if dtype.is_float() {
        let values: Vec<f64> = (0..n).map(|at| number(at) as f64 / 4.0).collect();
        return Arg::Tensor(Array::from_f64(dtype, shape, &values));
    }
    Arg::Tensor(Array::from_int(dtype, shape, &(0..n).map(number).collect::<Vec<_>>()))
}

fn result(module: &IrModule, args: &[Arg]) -> Result<Array, String> {
    let mut args = args.to_vec();
    let run = Interpreter::new(module).run("f", &mut args);
    run.map(|outcome| outcome.outputs[0].array.clone()).map_err(|error| error.to_string())
}

/// Threads that run in step, or each for itself; on a processor or not.
fn capabilities(threads: i64, warp_size: i64, is_serial: bool) -> TargetCapabilities {
    device().with(|it| {
        it.limits.threads_per_block_max = Some(threads);
        it.execution.warp_size = Some(warp_size);
        it.execution.runs_threads_serially = is_serial;
    })
}

fn is_tiled(module: &IrModule) -> bool {
    let mut found = false;
    module.functions[0].body.walk(&mut |child| {
        if let chipdock_ir::Child::Stmt(stmt) = child {
            found |= matches!(&stmt.kind, StmtKind::AllocBuffer { buffer, .. } if *buffer.name == *"C_sums");
        }
    });
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// PASS-L3: to the bit, as the numbers are such that no order of adding them up rounds; after
    /// each pass up to the split.
    #[test]
    fn contractions_stay(
        case in cases(),
        threads in prop_oneof![Just(4_i64), Just(64), Just(256)],
        (warp, is_lone) in any::<(bool, bool)>(),
    ) {
        let capabilities = capabilities(threads, if warp { 32 } else { 1 }, is_lone);
        let (mut module, args) = case.module();
        let expected = result(&module, &args).unwrap();
        for (_, name, pass) in PIPELINE.iter().take_while(|(_, name, _)| *name != "split_host_device") {
            module = pass(&module, &capabilities).unwrap();
            let found = result(&module, &args);
            prop_assert_eq!(found, Ok(expected.clone()), "after {}:\n{}", name, print::module(&module));
        }
    }
}

/// A convolution is tiled at both kinds of threads; edges too.
#[test]
fn convolutions_have_several_results_a_thread() {
    for (height, warp) in [(16, 1), (13, 1), (16, 32), (13, 32)] {
        let place = |data, reducing| Place { data, reducing };
        let case = Case {
            data: vec![2, 8, height, height],
            reducing: vec![3, 3, 3],
            symbolic: Some(0),
            operands: [
                vec![
                    place(Some((0, 1)), None),
                    place(None, Some((0, 1))),
                    place(Some((2, 1)), Some((1, 1))),
                    place(Some((3, 1)), Some((2, 1))),
                ],
                vec![
                    place(Some((1, 1)), None),
                    place(None, Some((0, 1))),
                    place(None, Some((1, 1))),
                    place(None, Some((2, 1))),
                ],
            ],
            is_float: true,
            is_maximum: false,
            turned: false,
        };
        let (module, args) = case.module();
        let scheduled = default_schedule(&module, &capabilities(256, warp, false)).unwrap();
        assert!(is_tiled(&scheduled), "{}", print::module(&scheduled));
        assert_eq!(result(&scheduled, &args), result(&module, &args));
    }
}

/// A product of matrices is tiled in registers on a processor.
#[test]
fn products_without_shared_memory_have_several_results_a_thread() {
    for symbolic in [None, Some(0), Some(1)] {
        let place = |data, reducing| Place { data, reducing };
        let case = Case {
            data: vec![33, 41],
            reducing: vec![17],
            symbolic,
            operands: [
                vec![place(Some((0, 1)), None), place(None, Some((0, 1)))],
                vec![place(None, Some((0, 1))), place(Some((1, 1)), None)],
            ],
            is_float: true,
            is_maximum: false,
            turned: false,
        };
        let (module, args) = case.module();
        let scheduled = default_schedule(&module, &capabilities(256, 1, true)).unwrap();
        assert!(is_tiled(&scheduled), "{}", print::module(&scheduled));
        assert_eq!(result(&scheduled, &args), result(&module, &args));
        let shared = default_schedule(&module, &capabilities(256, 1, false)).unwrap();
        assert!(print::module(&shared).contains("\"shared\""), "{}", print::module(&shared));
    }
}

/// A reduction goes across as many threads as shared memory has room for, and across none where
/// there is no room.
#[test]
fn reductions_keep_to_the_shared_memory_that_is_there() {
    let place = |data, reducing| Place { data, reducing };
    let case = Case {
        data: vec![3],
        reducing: vec![64],
        symbolic: None,
        operands: [
            vec![place(Some((0, 1)), None), place(None, Some((0, 1)))],
            vec![place(None, Some((0, 1)))],
        ],
        is_float: true,
        is_maximum: false,
        turned: false,
    };
    let (source, args) = case.module();
    let expected = result(&source, &args);
    for (bytes, is_across) in [(0, false), (4, false), (100, true), (16384, true)] {
        let capabilities =
            capabilities(256, 1, false).with(|it| it.memory.shared_memory_bytes_max = Some(bytes));
        let (mut module, mut is_apart) = (source.clone(), false);
        for (_, name, pass) in PIPELINE.iter().take_while(|(_, name, _)| *name != "make_packed_api") {
            module = pass(&module, &capabilities).unwrap();
            is_apart |= *name == "split_host_device";
            assert!(is_apart || result(&module, &args) == expected, "{bytes} bytes, after {name}");
        }
        assert_eq!(print::module(&module).contains("\"shared\""), is_across, "{bytes} bytes");
    }
}
