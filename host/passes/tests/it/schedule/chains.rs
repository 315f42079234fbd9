//! Random chains of steps on random kernels: each step is refused, or keeps the meaning (SCHED-1,
//! SCHED-2).

use chipdock_ir::{BinaryOp, DType};
use chipdock_passes::schedule::{BlockRef, Cut, LoopRef, Schedule, ScheduleError, Tail, Trace};
use proptest::prelude::*;

use super::kernels::{self, Kernel};
use super::{check, check_lowered};

/// Numbers that decide what is done next; 0 after the last.
struct Choices<'a> {
    numbers: std::slice::Iter<'a, u16>,
}

impl Choices<'_> {
    fn below(&mut self, limit: usize) -> usize {
        self.numbers.next().map_or(0, |number| usize::from(*number) % limit.max(1))
    }

    fn one<'t, T>(&mut self, list: &'t [T]) -> Option<&'t T> {
        let at = self.below(list.len());
        list.get(at)
    }

    /// Some of a list, in some order.
    fn some<T: Clone>(&mut self, list: &[T]) -> Vec<T> {
        let mut rest = list.to_vec();
        let count = self.below(list.len() + 1);
        (0..count).map(|_| rest.remove(self.below(rest.len()))).collect()
    }
}

fn kernel(choices: &mut Choices<'_>) -> Kernel {
    const SIZES: [usize; 9] = [1, 2, 3, 4, 5, 7, 0, 8, 9];
    let mut size = || SIZES[choices.below(SIZES.len())];
    let (m, n, k) = (size(), size(), size());
    let symbolic = choices.below(2) == 1;
    let dtype = if choices.below(2) == 1 { DType::FLOAT32 } else { DType::INT32 };
    match choices.below(8) {
        0 => kernels::elementwise([m, n], symbolic),
        1 => kernels::matmul([m, n, k], symbolic, dtype, false),
        2 => kernels::matmul([m, n, k.max(1)], symbolic, dtype, true),
        3 => kernels::pipeline(m, symbolic),
        4 => kernels::reduced([m, n], symbolic, dtype, BinaryOp::Max),
        5 => kernels::softmax([m, n.max(1)], symbolic),
        6 => kernels::pipeline(m, symbolic),
        _ => kernels::chained(m),
    }
}

/// All blocks of the function, by their names in its text.
fn blocks(sch: &mut Schedule) -> Vec<BlockRef> {
    let text = chipdock_ir::print::function(sch.function());
    let names: Vec<&str> =
        text.split("T.sblock(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let found = names.into_iter().filter(|name| *name != "root");
    found.filter_map(|name| sch.get_sblock(name).ok()).collect()
}

const STEPS: [&str; 25] = [
    "cache_read",
    "cache_write",
    "set_scope",
    "split_axis",
    "set_dtype",
    "partition",
    "split",
    "reorder",
    "fuse",
    "parallel",
    "vectorize",
    "unroll",
    "read_at",
    "write_at",
    "decompose_reduction",
    "rfactor",
    "compute_inline",
    "reverse_compute_inline",
    "compute_at",
    "compact",
    "compact",
    "compute_at",
    "reverse_compute_at",
    "split",
    "reorder",
];

const SCOPES: [&str; 3] = ["global", "local", "shared"];

/// Makes one step, and says whether it was made.
fn step(sch: &mut Schedule, choices: &mut Choices<'_>) -> (&'static str, Result<(), ScheduleError>) {
    let all = blocks(sch);
    let Some(block) = choices.one(&all).cloned() else { return ("none", Ok(())) };
    let loops = sch.get_loops(&block).unwrap();
    let any_loops: Vec<LoopRef> = all.iter().flat_map(|block| sch.get_loops(block).unwrap()).collect();
    let name = STEPS[choices.below(STEPS.len())];
    let Some(of) = choices.one(&loops).cloned() else { return ("none", Ok(())) };
    let result = match name {
        "split" => {
            let factor = Some(i64::try_from(choices.below(5) + 1).unwrap());
            let tail = if choices.below(3) == 2 { Tail::Shrink } else { Tail::Predicate };
            let factors =
                if choices.below(4) == 3 { vec![factor, None, Some(2)] } else { vec![None, factor] };
            sch.split(&of, &factors, tail).map(|_| ())
        }
        "reorder" => sch.reorder(&choices.some(&loops)),
        "fuse" => {
            let start = choices.below(loops.len());
            sch.fuse(&loops[start..loops.len().min(start + 2)]).map(|_| ())
        }
        "parallel" => sch.parallel(&of),
        "vectorize" => sch.vectorize(&of),
        "unroll" => sch.unroll(&of),
        "partition" => {
            let at = if choices.below(2) == 1 { Cut::After(1) } else { Cut::Full };
            sch.partition(&of, at).map(|_| ())
        }
        "read_at" => {
            let fill = if choices.below(2) == 1 { Some(0) } else { None };
            let at = loops.iter().position(|other| *other == of).unwrap();
            let order =
                if choices.below(3) == 2 { choices.some(&loops[at + 1..]) } else { loops[at + 1..].to_vec() };
            sch.read_at(&of, &block, choices.below(2), "global", &order, fill).map(|_| ())
        }
        "write_at" => {
            let at = loops.iter().position(|other| *other == of).unwrap();
            let order =
                if choices.below(2) == 1 { choices.some(&loops[at + 1..]) } else { loops[at + 1..].to_vec() };
            sch.write_at(&of, &block, "local", &order, choices.below(4) != 3).map(|_| ())
        }
        "decompose_reduction" => sch.decompose_reduction(&block, &of).map(|_| ()),
        "rfactor" => sch.rfactor(&of, i64::try_from(choices.below(2)).unwrap()).map(|_| ()),
        "compute_inline" => sch.compute_inline(&block),
        "reverse_compute_inline" => sch.reverse_compute_inline(&block),
        "compact" => sch.compact(&block),
        "split_axis" => {
            sch.split_axis(&block, choices.below(3), i64::try_from(choices.below(4) + 1).unwrap())
        }
        "set_dtype" => {
            let wider = [DType::FLOAT32, DType::FLOAT64, DType::INT32, DType::INT64];
            sch.set_dtype(&block, wider[choices.below(4)])
        }
        "cache_read" => {
            let at = choices.below(3);
            sch.cache_read(&block, at, choices.one(&SCOPES).unwrap()).map(|_| ())
        }
        "cache_write" => {
            let at = choices.below(2);
            sch.cache_write(&block, at, choices.one(&SCOPES).unwrap()).map(|_| ())
        }
        "set_scope" => sch.set_scope(&block, 0, choices.one(&SCOPES).unwrap()),
        "compute_at" => sch.compute_at(&block, choices.one(&any_loops).unwrap()),
        _ => sch.reverse_compute_at(&block, choices.one(&any_loops).unwrap()),
    };
    (name, result)
}

/// Makes a chain of steps, each checked, and counts those that were made.
fn chain(numbers: &[u16], made: &mut Vec<&'static str>) {
    let mut choices = Choices { numbers: numbers.iter() };
    let kernel = kernel(&mut choices);
    let mut sch = Schedule::new(&kernel.function);
    while !choices.numbers.as_slice().is_empty() {
        let before = sch.function().clone();
        match step(&mut sch, &mut choices) {
            (name, Ok(())) => {
                made.push(name);
                check(&kernel, &sch);
            }
            (_, Err(error)) => {
                assert!(!error.message.contains("internal error"), "{error}\n{}", sch.trace());
                assert_eq!(*sch.function(), before, "{error}");
            }
        }
    }
    check_lowered(&kernel, &sch);
    let again: Trace = sch.trace().to_string().parse().unwrap();
    let again = chipdock_ir::print::function(&again.apply(&kernel.function).unwrap());
    assert_eq!(again, chipdock_ir::print::function(sch.function()));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(400),
        max_shrink_iters: 4000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn chains_keep_the_meaning(numbers in proptest::collection::vec(any::<u16>(), 20..140)) {
        chain(&numbers, &mut Vec::new());
    }
}

/// The chains make each kind of step.
#[test]
fn chains_make_every_step() {
    let mut made = Vec::new();
    let mut state = 1_u64;
    for _ in 0..300 {
        let numbers: Vec<u16> = (0..120)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as u16
            })
            .collect();
        chain(&numbers, &mut made);
    }
    for name in STEPS {
        let count = made.iter().filter(|other| **other == name).count();
        assert!(count >= 5, "{name} was made {count} times");
    }
}
