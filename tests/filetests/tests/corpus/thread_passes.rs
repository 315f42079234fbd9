//! Checks the passes of targets with threads on kernels with threads: after each pass the
//! interpreter gives the same results as before; races, and barriers that not all threads reach,
//! are errors.

use chipdock_interpret::{Arg, Array, Interpreter, Outcome, compare};
use chipdock_ir::validate::validate;
use chipdock_ir::{
    Callee, Child, Expr, ExprKind, IrModule, Op, Param, PrimFunc, Stage, Stmt, StmtKind, TargetCapabilities,
    print,
};
use chipdock_passes::{PIPELINE, Pass};
use chipdock_test_support::CorpusFile;
use chipdock_test_support::lists::List;

use crate::support::{self, counted};

/// Elements behind a pointer, which has no shape.
const ELEMENTS: usize = 4096;

const SAME: &str = "kernels_with_threads_compute_the_same_after_every_pass";
const RACES: &str = "without_any_of_its_barriers_a_kernel_races";

pub(crate) fn tests(list: List, corpus: &[CorpusFile], passes: &[CorpusFile]) -> List {
    let programs: Vec<CorpusFile> =
        passes.iter().chain(corpus).filter(|file| !file.name.contains("lowered/")).cloned().collect();
    let synchronised = ["once", "loops", "divergent"].map(|name| format!("passes/thread_sync/{name}.py"));
    let synchronised: Vec<CorpusFile> =
        passes.iter().filter(|file| synchronised.contains(&file.name)).cloned().collect();
    list.each(SAME, &programs, kernels_with_threads_compute_the_same_after_every_pass)
        .each(RACES, &synchronised, without_any_of_its_barriers_a_kernel_races)
        .one("reductions_across_threads_are_right_as_read", || {
            reductions_across_threads_are_right_as_read();
            Ok(())
        })
}

/// The module of a file; a matmul of 64³ in place of one of 512³.
fn module(file: &CorpusFile) -> IrModule {
    let mut text = file.text.clone();
    if file.name.contains("g_matmul") {
        for (from, to) in [("thread_binding(32,", "thread_binding(4,"), ("512", "64")] {
            text = text.replace(from, to);
        }
    }
    chipdock_script::parse(&text, &file.name).unwrap_or_else(|errors| panic!("{errors}"))
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

/// The passes before the split, but those that refuse what is not for a device and those that
/// schedule.
fn passes() -> impl Iterator<Item = (&'static str, Pass)> {
    let omitted = ["default_schedule", "split_reductions", "verify_memory", "verify_limits"];
    let before = PIPELINE.iter().take_while(|(_, name, _)| *name != "split_host_device");
    before.map(|(_, name, pass)| (*name, *pass)).filter(move |(name, _)| !omitted.contains(name))
}

/// Checks the functions of a module after every pass; returns the number of checked functions.
fn check(module: &IrModule, capabilities: &TargetCapabilities) -> usize {
    let mut n_functions = 0;
    for function in &module.functions {
        let Some(args) = inputs(function) else { continue };
        let module = IrModule { functions: vec![function.clone()], attrs: module.attrs.clone() };
        let Ok(expected) = run(&module, function, &args) else { continue };
        let mut after = module;
        for (pass, apply) in passes() {
            after = match apply(&after, capabilities) {
                Ok(after) => after,
                Err(error) => {
                    println!("{}: {error}", function.name);
                    break;
                }
            };
            let found = run(&after, function, &args)
                .unwrap_or_else(|e| panic!("{} after {pass}: {e}\n{}", function.name, print::module(&after)));
            for (expected, found) in expected.outputs.iter().zip(&found.outputs) {
                if let Err(mismatch) = compare(&found.array, expected) {
                    let text = print::module(&after);
                    panic!("{} of {} after {pass}: {mismatch}\n{text}", expected.name, function.name);
                }
            }
        }
        n_functions += 1;
    }
    n_functions
}

/// PASS-L3.
fn kernels_with_threads_compute_the_same_after_every_pass(file: &CorpusFile) -> Result<(), String> {
    let module = module(file);
    let is_bound = !module.functions.iter().all(support::without_threads);
    let mut n_functions = 0;
    for capabilities in [support::device_capabilities(), support::shuffling_capabilities()] {
        if is_bound && validate(&module, Stage::Blocks).is_ok() {
            n_functions += check(&module, &capabilities);
        }
    }
    counted(SAME, file, n_functions)
}

/// The kernels of `construct/reductions.py` as read: all of them run, without a race, and give the
/// sums that they say.
/// ir: IR-B6, IR-K6.
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
fn without_any_of_its_barriers_a_kernel_races(file: &CorpusFile) -> Result<(), String> {
    let (module, capabilities) = (module(file), support::device_capabilities());
    let mut n_barriers = 0;
    for function in &module.functions {
        let args = inputs(function).ok_or("no arguments")?;
        let mut after = IrModule { functions: vec![function.clone()], attrs: module.attrs.clone() };
        for (_, apply) in passes().take_while(|(pass, _)| *pass != "lower_thread_allreduce") {
            after = apply(&after, &capabilities).map_err(|error| error.to_string())?;
        }
        run(&after, function, &args).map_err(|error| format!("{}: {error}", function.name))?;
        let mut n = 0;
        after.functions[0].body.walk(&mut |child| {
            n += usize::from(matches!(child, Child::Stmt(stmt) if is_barrier(stmt)));
        });
        for number in 0..n {
            let mut racing = after.clone();
            racing.functions[0].body = without(&after.functions[0].body, &mut number.clone());
            if run(&racing, function, &args).is_ok() {
                let text = print::module(&racing);
                return Err(format!("{}: barrier {number} is not needed\n{text}", function.name));
            }
        }
        n_barriers += n;
    }
    counted(RACES, file, n_barriers)
}
