//! Compares every backend for host memory with the interpreter, op by op, through `dlopen`: within
//! the interpreter's bounds, and so exactly where the accuracy contract is exact.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use chipdock_host::Host;
use chipdock_interpret::{Arg, Array};
use chipdock_ir::op::Threads;
use chipdock_ir::validate::validate;
use chipdock_ir::{DType, Expr, Op, Stage, build};
use chipdock_peers::cases::module;
use chipdock_peers::judge::{Held, Summary, arguments, hold_backend, interpret};
use chipdock_peers::table::Tables;
use chipdock_peers::{Case, cases};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use chipdock_test_backends::{backends, host, on_each_host};
use chipdock_test_support::sample;

/// Kernels in one module, so that the C compiler starts seldom and both cores have work.
const PER_MODULE: usize = 24;
/// A run takes one module in so many.
const SHARE: usize = 5;

/// Result of a backend for a case.
type Found = Result<Array, String>;

/// Runs these cases in one module.
fn run_module(host: &Host, backend: &Backend, cases: &[Case], tables: &Mutex<Tables>) -> Vec<Found> {
    let built = {
        let module = module(cases, &mut tables.lock().expect("the tables"));
        run::build(host, backend, &module)
    };
    let loaded = match built {
        Ok(loaded) => loaded,
        // Which of them it was.
        Err(_) if cases.len() > 1 => {
            return cases
                .iter()
                .flat_map(|case| run_module(host, backend, std::slice::from_ref(case), tables))
                .collect();
        }
        Err(error) => return vec![Err(error)],
    };
    let one = |(index, case): (usize, &Case)| {
        let function = loaded.function(&format!("f{index}")).map_err(|error| error.to_string())?;
        let arrays = arguments(case, tables.lock().expect("the tables").get(case.table.0, case.table.1));
        let form = arrays.last().cloned().expect("a result");
        let args: Vec<Arg> = arrays.into_iter().map(Arg::Tensor).collect();
        let values = run::upload(backend, &args)?;
        run::call(&function, &values)?;
        let Some(run::Value::Tensor(tensor)) = values.last() else { panic!("the result is a tensor") };
        Ok(Array { data: tensor.to_bytes().map_err(|error| error.to_string())?, ..form })
    };
    cases.iter().enumerate().map(one).collect()
}

/// Every case's result, on as many threads as there are cores.
fn run_all(host: &Host, backend: &Backend, groups: &[Vec<Case>], tables: &Mutex<Tables>) -> Vec<Vec<Found>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                while let Some((index, group)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    groups.get(index).map(|group| (index, group))
                } {
                    let found = run_module(host, backend, group, tables);
                    results.lock().expect("the results").insert(index, found);
                }
            });
        }
    });
    results.into_inner().expect("the results").into_values().collect()
}

/// Cases of one type side by side, cut into modules, of which a run takes those that it has drawn.
fn groups() -> Vec<Vec<Case>> {
    let mut by_type = BTreeMap::<DType, Vec<Case>>::new();
    for case in cases() {
        by_type.entry(case.operands[0]).or_default().push(case);
    }
    let all = by_type
        .into_values()
        .flat_map(|all| all.chunks(PER_MODULE).map(<[Case]>::to_vec).collect::<Vec<_>>())
        .collect();
    sample::draw("modules of operations on types, on hosts", SHARE, all, |cases| cases[0].name())
}

#[test]
fn backends_agree_with_the_interpreter() {
    let host = host();
    let groups = groups();
    let tables = Mutex::new(Tables::default());
    // Drivers compile a kernel anew for each of these thousands: the conformance suite has the same
    // tables for devices.
    let mut backends = backends(&host);
    backends.retain(Backend::is_host);
    let found: Vec<Vec<Vec<Found>>> =
        backends.iter().map(|backend| run_all(&host, backend, &groups, &tables)).collect();
    let mut summary = Summary::default();
    let mut wrong = vec![Vec::new(); backends.len()];
    let mut tables = tables.into_inner().expect("the tables");
    for (group, cases) in groups.iter().enumerate() {
        for (index, case) in cases.iter().enumerate() {
            let table = tables.get(case.table.0, case.table.1);
            let output = interpret(case, table);
            for (backend, (found, wrong)) in backends.iter().zip(found.iter().zip(&mut wrong)) {
                let verdict = match (&output, &found[group][index]) {
                    (Ok(output), Ok(found)) => hold_backend(case, table, output, found),
                    (Err(error), _) => Held { first: Some(error.to_string()), ..Held::default() },
                    (_, Err(error)) => Held { first: Some(error.clone()), ..Held::default() },
                };
                if let Some(first) = &verdict.first {
                    wrong.push(format!("{}: {first}", case.name()));
                }
                summary.add(case, &backend.target.kind, &verdict);
            }
        }
    }
    println!("{}", summary.text());
    let failed = backends.iter().zip(&wrong).filter(|(_, wrong)| !wrong.is_empty());
    let failed: Vec<String> = failed
        .map(|(backend, wrong)| {
            format!("{}, {} cases:\n{}", backend.target.kind, wrong.len(), wrong.join("\n"))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Returns the calls that a backend without threads refuses, with the reason why they cannot run
/// one thread after the other.
fn of_threads() -> Vec<(Op, Expr, &'static str)> {
    let number = |value| Expr::int(value, DType::UINT32);
    let shuffle = |op| {
        let args = vec![number(1), number(2), Expr::i32(0), Expr::i32(32), Expr::i32(32)];
        (op, Expr::call(op, args, DType::UINT32), "there is no warp")
    };
    let nothing = |op, args| Expr::call(op, args, DType::HANDLE);
    let alone = [
        (
            Op::StorageSync,
            nothing(Op::StorageSync, vec![Expr::str("shared")]),
            "there is no block of threads",
        ),
        (Op::ThreadReturn, nothing(Op::ThreadReturn, vec![]), "there is no thread to end"),
        (Op::WarpActivemask, Expr::call(Op::WarpActivemask, vec![], DType::UINT32), "there is no warp"),
    ];
    let shuffles = Op::all_where(|op| op.threads == Threads::Shuffle).map(shuffle);
    alone.into_iter().chain(shuffles).collect()
}

#[test]
fn operations_of_threads_are_refused_by_name() {
    let host = host();
    on_each_host(&host, |backend| {
        for (op, call, why) in of_threads() {
            let mut f = build::function("f");
            let output = f.buffer("B", [4], DType::UINT32);
            if call.dtype.is_handle() {
                f.evaluate(call);
            } else {
                f.store(&output, [0], call);
            }
            let module = build::module([f.finish()]);
            validate(&module, Stage::Blocks).unwrap_or_else(|errors| panic!("{}: {errors:?}", op.name()));
            let refused = run::build(&host, backend, &module).err();
            let text = refused.unwrap_or_else(|| panic!("{} is taken, but {why}", op.name()));
            assert!(text.contains(op.name()), "{}: {text}", op.name());
        }
    });
}
