//! The passes of targets with threads on kernels with threads: after each of them the interpreter gives what it gave
//! before, races and barriers that not all threads reach being errors.

mod support;

use chipdock_interpret::{Arg, Array, Interpreter, Outcome, compare};
use chipdock_ir::validate::validate;
use chipdock_ir::{
    Callee, Child, Expr, ExprKind, IrModule, Op, Param, PrimFunc, Stage, Stmt, StmtKind, TargetCapabilities,
    print,
};
use chipdock_passes::{PIPELINE, Pass};
use chipdock_test_support::filetests;

/// Elements behind a pointer, which has no shape.
const ELEMENTS: usize = 4096;

/// Kernels with threads: of the corpus, and those that the goldens of the passes are made of.
fn programs() -> Vec<(String, IrModule)> {
    let files = chipdock_test_support::scripts(&filetests().join("passes"), "passes/").unwrap();
    let files = files.into_iter().chain(chipdock_test_support::corpus().unwrap());
    let read = files.map(|file| {
        // A matmul of 64³ in place of one of 512³.
        let mut text = file.text.clone();
        if file.name.contains("g_matmul") {
            for (from, to) in [("thread_binding(32,", "thread_binding(4,"), ("512", "64")] {
                text = text.replace(from, to);
            }
        }
        (file.name.clone(), chipdock_script::parse(&text, &file.name).unwrap())
    });
    read.filter(|(name, module)| {
        !name.contains("lowered/") && !module.functions.iter().all(support::without_threads)
    })
    .collect()
}

fn inputs(function: &PrimFunc) -> Option<Vec<Arg>> {
    let mut without = function.clone();
    without.params.retain(|param| !matches!(param, Param::Var(var) if var.dtype.is_handle()));
    let mut known = support::inputs(&without, 7)?.into_iter();
    let args = function.params.iter().map(|param| match param {
        Param::Var(var) if var.dtype.is_handle() => {
            let element = var.pointer.as_ref()?.element;
            let values: Vec<f64> = (0..ELEMENTS).map(|at| (at * 7 % 61) as f64 - 20.0).collect();
            let whole: Vec<i128> = values.iter().map(|value| *value as i128).collect();
            Some(Arg::Tensor(match element.is_float() {
                true => Array::from_f64(element, &[ELEMENTS], &values),
                false => Array::from_int(element, &[ELEMENTS], &whole),
            }))
        }
        _ => known.next(),
    });
    args.collect()
}

fn run(module: &IrModule, function: &PrimFunc, args: &[Arg]) -> Result<Outcome, String> {
    let interpreter = Interpreter::new(module).with_bounds();
    interpreter.run(&function.name, &mut args.to_vec()).map_err(|error| error.to_string())
}

/// The passes before the split, but those that refuse what is not for a device and those that schedule.
fn passes() -> impl Iterator<Item = (&'static str, Pass)> {
    let left_out = ["default_schedule", "split_reductions", "verify_memory", "verify_limits"];
    let before = PIPELINE.iter().take_while(|(_, name, _)| *name != "split_host_device");
    before.map(|(_, name, pass)| (*name, *pass)).filter(move |(name, _)| !left_out.contains(name))
}

/// How many functions are right after every pass, one that is left out at a time.
fn check(capabilities: &TargetCapabilities) -> usize {
    let mut n_functions = 0;
    for (name, module) in programs() {
        if validate(&module, Stage::Blocks).is_err() {
            continue;
        }
        for function in &module.functions {
            let Some(args) = inputs(function) else { continue };
            let module = IrModule { functions: vec![function.clone()], attrs: module.attrs.clone() };
            let Ok(expected) = run(&module, function, &args) else { continue };
            let mut after = module;
            for (pass, apply) in passes() {
                after = match apply(&after, capabilities) {
                    Ok(after) => after,
                    Err(error) => {
                        println!("{name}: {}: {error}", function.name);
                        break;
                    }
                };
                let found = run(&after, function, &args)
                    .unwrap_or_else(|e| panic!("{name}: after {pass}: {e}\n{}", print::module(&after)));
                for (expected, found) in expected.outputs.iter().zip(&found.outputs) {
                    if let Err(mismatch) = compare(&found.array, expected) {
                        panic!(
                            "{name}: {} after {pass}: {mismatch}\n{}",
                            expected.name,
                            print::module(&after)
                        );
                    }
                }
            }
            n_functions += 1;
        }
    }
    n_functions
}

/// L3.
#[test]
fn kernels_with_threads_compute_the_same_after_every_pass() {
    for capabilities in [support::device_capabilities(), support::shuffling_capabilities()] {
        let n_functions = check(&capabilities);
        assert!(n_functions >= 30, "only {n_functions} functions ran");
    }
}

/// The kernels of `construct/reductions.py` as read: all of them run, without a race, and give the sums that they say.
/// ir: B6, K6.
#[test]
fn reductions_across_threads_are_right_as_read() {
    let files = chipdock_test_support::corpus().unwrap();
    let file = files.into_iter().find(|file| file.name == "construct/reductions.py").unwrap();
    let module = chipdock_script::parse(&file.text, &file.name).unwrap();
    for function in &module.functions {
        let args = inputs(function).unwrap();
        let outcome =
            run(&module, function, &args).unwrap_or_else(|error| panic!("{}: {error}", function.name));
        let Arg::Tensor(a) = &args[0] else { panic!("{}: a tensor is first", function.name) };
        let last = &outcome.outputs.last().unwrap().array;
        let sum = |values: &[i128]| values.iter().sum::<i128>();
        match &*function.name {
            "among_launches" => assert_eq!(last.to_int(), [3 + 2 * sum(&a.to_int())]),
            "so_far" => {
                let a = a.to_int();
                let expected = (0..32).map(|at| 5 + sum(&a[at / 4 * 64..][..(at % 4 + 1) * 16]));
                assert_eq!(last.to_int(), expected.collect::<Vec<_>>());
            }
            "late_results" => {
                let (a, found) = (a.to_int(), last.to_int());
                (3..7).for_each(|row| assert_eq!(found[row], 1 + sum(&a[row * 64..][..64])));
            }
            _ => {}
        }
    }
}

fn is_barrier(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Evaluate(e)
        if matches!(&e.kind, ExprKind::Call { callee: Callee::Op(Op::StorageSync), .. }))
}

/// The statement without its barrier of that number, counted down to 0.
fn without(stmt: &Stmt, number: &mut usize) -> Stmt {
    if is_barrier(stmt) {
        *number = number.wrapping_sub(1);
        return if *number == usize::MAX { Stmt::nop() } else { stmt.clone() };
    }
    stmt.map_children(&mut Expr::clone, &mut |s| without(s, number))
}

/// Every barrier that is inserted is needed: without it threads race, and the interpreter says so.
#[test]
fn without_any_of_its_barriers_a_kernel_races() {
    let capabilities = support::device_capabilities();
    let mut n_barriers = 0;
    for (name, module) in programs() {
        let wanted = ["thread_sync/once.py", "thread_sync/loops.py", "thread_sync/divergent.py"];
        if !wanted.iter().any(|wanted| name.ends_with(wanted)) {
            continue;
        }
        for function in &module.functions {
            let args = inputs(function).unwrap();
            let mut after = IrModule { functions: vec![function.clone()], attrs: module.attrs.clone() };
            let upto = passes().take_while(|(pass, _)| *pass != "lower_thread_allreduce");
            for (_, apply) in upto {
                after = apply(&after, &capabilities).unwrap();
            }
            assert!(run(&after, function, &args).is_ok(), "{name}: {}", function.name);
            let mut n = 0;
            after.functions[0].body.walk(&mut |child| {
                n += usize::from(matches!(child, Child::Stmt(stmt) if is_barrier(stmt)));
            });
            for number in 0..n {
                let mut racing = after.clone();
                racing.functions[0].body = without(&after.functions[0].body, &mut number.clone());
                let result = run(&racing, function, &args);
                let text = print::module(&racing);
                assert!(result.is_err(), "{name}: {}: barrier {number} is not needed\n{text}", function.name);
            }
            n_barriers += n;
        }
    }
    assert!(n_barriers >= 8, "only {n_barriers} barriers");
}
