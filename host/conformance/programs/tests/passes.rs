//! Every pass on generated programs: the interpreter gives the same results before and after
//! (PASS-L3 of `chipdock_passes`).

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use chipdock_interpret::{Arg, Interpreter, PackedArg};
use chipdock_ir::{
    Attrs, Callee, Expr, ExprKind, IrModule, Op, PrimFunc, Stage, Stmt, StmtKind, TargetCapabilities, print,
    validate::validate,
};
use chipdock_passes::{DEVICE_PIPELINE, PIPELINE, Pass};
use chipdock_programs::{Case, Failure, Options, ProgramCheck};

const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// A host of no particular kind.
fn capabilities() -> TargetCapabilities {
    TargetCapabilities::host("test")
}

fn after(name: &str, module: &IrModule, error: impl ToString) -> Failure {
    Failure::new(name, format!("after {name}: {}\n{}", error.to_string(), print::module(module)))
}

fn applied(name: &str, pass: Pass, module: &IrModule) -> Result<IrModule, Failure> {
    pass(module, &capabilities()).map_err(|error| after(&format!("{name} refuses"), module, error))
}

/// A pass applied, held to PASS-L3 to the bit: none of these reassociates.
fn same(case: &Case, name: &str, pass: Pass, module: &IrModule) -> Result<IrModule, Failure> {
    let new = applied(name, pass, module)?;
    case.check_same(&new).map_err(|error| after(name, &new, error))?;
    Ok(new)
}

fn valid(name: &str, module: &IrModule, stage: Stage) -> Result<(), Failure> {
    validate(module, stage).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        after(&format!("{name} gives what is not valid"), module, problems.join("\n"))
    })
}

fn flattened(case: &Case) -> Result<IrModule, Failure> {
    let mut module = case.module.clone();
    for (_, name, pass) in PIPELINE.iter().filter(|(stage, ..)| *stage <= Stage::Flattened) {
        module = pass(&module, &capabilities())
            .map_err(|error| after(&format!("{name} refuses"), &module, error))?;
    }
    Ok(module)
}

fn find(name: &str) -> Pass {
    PIPELINE.iter().find(|(_, of, _)| *of == name).map(|(_, _, pass)| *pass).unwrap()
}

fn pipeline(case: &Case) -> Result<(), Failure> {
    let mut module = case.module.clone();
    for (_, name, pass) in PIPELINE.iter().filter(|(stage, ..)| *stage <= Stage::Flattened) {
        module = same(case, name, *pass, &module)?;
    }
    valid("the pipeline", &module, Stage::Flattened)
}

/// A pass right after flattening, with nothing before it that may have hidden what it gets wrong.
fn alone(case: &Case, name: &str) -> Result<(), Failure> {
    let module = applied("lower_blocks", find("lower_blocks"), &case.module)?;
    let module = applied("flatten_buffers", find("flatten_buffers"), &module)?;
    let module = same(case, name, find(name), &module)?;
    valid(name, &module, Stage::Flattened)
}

fn of_blocks(case: &Case) -> Result<(), Failure> {
    let module = same(case, "simplify", find("simplify"), &case.module)?;
    valid("simplify", &module, Stage::Blocks)
}

fn intrinsics(case: &Case) -> Result<(), Failure> {
    let module = flattened(case)?;
    let lowered = applied("lower_intrinsics", find("lower_intrinsics"), &module)?;
    let arrays = case.run(&lowered).map_err(|error| after("lower_intrinsics", &lowered, error))?;
    case.check(&arrays).map_err(|error| after("lower_intrinsics", &lowered, error))?;
    valid("lower_intrinsics", &lowered, Stage::Flattened)
}

/// Workspace as memory that the kernel allocates itself: what the interpreter, which has no run
/// time, can run.
fn without_workspace(stmt: &Stmt) -> Stmt {
    let calls =
        |e: &Expr, op: Op| matches!(&e.kind, ExprKind::Call { callee: Callee::Op(of), .. } if *of == op);
    let stmt = stmt.map_children(
        &mut |e| if calls(e, Op::FreeWorkspace) { Expr::i32(0) } else { freed(e) },
        &mut without_workspace,
    );
    match &stmt.kind {
        StmtKind::DeclBuffer { buffer, data: Some(data) } if calls(data, Op::AllocateWorkspace) => {
            Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() })
        }
        StmtKind::Evaluate(value) if calls(value, Op::ThrowLastError) => Stmt::nop(),
        _ => stmt,
    }
}

/// Freeing does not fail.
fn freed(expr: &Expr) -> Expr {
    match &expr.kind {
        ExprKind::Call { callee: Callee::Op(Op::FreeWorkspace), .. } => Expr::i32(0),
        _ => expr.map_children(&mut freed),
    }
}

fn own_memory(module: &IrModule) -> IrModule {
    let functions = module.functions.iter();
    let functions =
        functions.map(|function| PrimFunc { body: without_workspace(&function.body), ..function.clone() });
    IrModule { functions: functions.collect(), attrs: module.attrs.clone() }
}

fn workspace(case: &Case) -> Result<(), Failure> {
    let module = applied("lower_workspace", find("lower_workspace"), &flattened(case)?)?;
    let run = own_memory(&module);
    case.check_same(&run).map_err(|error| after("lower_workspace", &module, error))
}

/// To the stage that a code generator of host functions takes: valid, whatever the program, and the
/// packed function that a caller sees, checks of arguments and all, computes the same.
fn host(case: &Case) -> Result<(), Failure> {
    host_for(case, &capabilities())
}

/// The same, with parallel loops as tasks.
fn parallel_host(case: &Case) -> Result<(), Failure> {
    let capabilities = capabilities().with(|it| it.execution.native_ops = vec![Op::ParallelLaunch]);
    host_for(case, &capabilities)
}

fn host_for(case: &Case, capabilities: &TargetCapabilities) -> Result<(), Failure> {
    let mut module = case.module.clone();
    for (_, name, pass) in PIPELINE {
        module =
            pass(&module, capabilities).map_err(|error| after(&format!("{name} refuses"), &module, error))?;
    }
    valid("the pipeline to the host", &module, Stage::Host)?;
    let packed = |arg: &Arg| match arg {
        Arg::Tensor(array) => Some(PackedArg::Tensor(array.clone().into())),
        // The calling convention has no integers above those of int64.
        Arg::Int(value) => i64::try_from(*value).ok().map(PackedArg::Int),
        Arg::Float(value) => Some(PackedArg::Float(*value)),
    };
    let Some(mut args) = case.args.iter().map(packed).collect::<Option<Vec<_>>>() else { return Ok(()) };
    let outcome = Interpreter::new(&module).run_packed(&format!("__tvm_ffi_{}", case.function), &mut args);
    let outcome = outcome.map_err(|error| after("the pipeline to the host", &module, error))?;
    let arrays: Vec<_> = outcome.outputs.into_iter().map(|output| output.array).collect();
    case.check(&arrays).map(drop).map_err(|error| after("the pipeline to the host", &module, error))
}

/// The passes that give a device function the forms that its target has, held to PASS-L3 one after
/// another, on a device that has neither pointers as values nor vectors of more than three lanes:
/// those of the programs have 2, 4 and 8.
fn forms(case: &Case) -> Result<(), Failure> {
    let capabilities = capabilities().with(|it| {
        it.is_host = false;
        it.memory.scalar_arguments = true;
        it.memory.fixed_pointers = true;
        it.types.lanes_max = 3;
    });
    let mut module = flattened(case)?;
    let all = ["inline_buffer_functions", "lower_moved_pointers", "split_wide_vectors"];
    for (name, pass) in DEVICE_PIPELINE.iter().filter(|(name, _)| all.contains(name)) {
        let new = pass(&module, &capabilities)
            .map_err(|error| after(&format!("{name} refuses"), &module, error))?;
        if new == module {
            continue;
        }
        case.check_same(&new).map_err(|error| after(name, &new, error))?;
        valid(name, &new, Stage::Flattened)?;
        CHANGED.fetch_add(1, Relaxed);
        module = new;
    }
    Ok(())
}

/// How often one of these passes changed a module.
static CHANGED: AtomicU64 = AtomicU64::new(0);

#[test]
fn pass_l3_forms_that_a_target_has() {
    ProgramCheck::new("pass_l3_forms_that_a_target_has", FOLDER).programs(PROGRAMS).run(forms);
    let changed = CHANGED.load(Relaxed);
    assert!(changed > PROGRAMS / 4, "{changed} changes in {PROGRAMS} programs");
}

#[test]
fn pass_l3_the_pipeline_keeps_results() {
    ProgramCheck::new("pass_l3_the_pipeline_keeps_results", FOLDER).programs(1500).run(pipeline);
}

#[test]
fn pass_l3_simplify_alone() {
    ProgramCheck::new("pass_l3_simplify_alone", FOLDER)
        .programs(PROGRAMS)
        .run(|case| alone(case, "simplify"));
}

#[test]
fn pass_l3_vectorize_alone() {
    ProgramCheck::new("pass_l3_vectorize_alone", FOLDER)
        .programs(PROGRAMS)
        .run(|case| alone(case, "vectorize"));
}

#[test]
fn pass_l3_unroll_alone() {
    ProgramCheck::new("pass_l3_unroll_alone", FOLDER).programs(PROGRAMS).run(|case| alone(case, "unroll"));
}

#[test]
fn pass_l3_storage_rewrite_alone() {
    ProgramCheck::new("pass_l3_storage_rewrite_alone", FOLDER)
        .programs(PROGRAMS)
        .run(|case| alone(case, "storage_rewrite"));
}

#[test]
fn pass_l3_simplify_of_blocks() {
    ProgramCheck::new("pass_l3_simplify_of_blocks", FOLDER).programs(PROGRAMS).run(of_blocks);
}

#[test]
fn pass_l3_lower_intrinsics_within_its_bounds() {
    ProgramCheck::new("pass_l3_lower_intrinsics_within_its_bounds", FOLDER)
        .programs(PROGRAMS)
        .run(intrinsics);
}

#[test]
fn pass_l3_the_pipeline_to_the_host() {
    ProgramCheck::new("pass_l3_the_pipeline_to_the_host", FOLDER).programs(800).run(host);
}

#[test]
fn pass_l3_the_pipeline_to_the_host_with_tasks() {
    ProgramCheck::new("pass_l3_the_pipeline_to_the_host_with_tasks", FOLDER).programs(800).run(parallel_host);
}

#[test]
fn pass_l3_lower_workspace() {
    ProgramCheck::new("pass_l3_lower_workspace", FOLDER).programs(PROGRAMS).run(workspace);
}

/// Kernels with threads have no passes of their own yet but what simplifies.
#[test]
fn pass_l3_simplify_of_threads() {
    let check = ProgramCheck::new("pass_l3_simplify_of_threads", FOLDER).options(Options::with_threads());
    check.programs(1000).run(of_blocks);
}

/// Kernels that a pass once got wrong, as they were reduced.
#[test]
fn pass_l3_reduced_kernels_of_past_bugs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions");
    let mut n_kernels = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let module = chipdock_script::parse(&text, &path.to_string_lossy()).unwrap();
        let case = Case::from_module(module, "kernel").unwrap();
        let alone = ["simplify", "vectorize", "unroll", "storage_rewrite"].map(|name| alone(&case, name));
        let checks = [pipeline(&case), of_blocks(&case), intrinsics(&case), workspace(&case)];
        let checks = checks.into_iter().chain([host(&case), parallel_host(&case), forms(&case)]);
        if let Some(failure) = alone.into_iter().chain(checks).find_map(Result::err) {
            panic!("{}: {}\n{}", path.display(), failure.what, failure.details);
        }
        n_kernels += 1;
    }
    assert!(n_kernels >= 2);
}

/// A few seconds' worth.
const PROGRAMS: u64 = 3000;
