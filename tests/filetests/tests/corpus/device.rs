//! Checks the whole pipeline for devices: its output for the corpus is valid, and gives in the
//! interpreter the same results as the original module.

use std::sync::Arc;

use chipdock_interpret::{Arg, Interpreter, Limits, Outcome, compare};
use chipdock_ir::validate::validate;
use chipdock_ir::{
    AttrValue, Callee, Child, DType, ExprKind, IrModule, PrimFunc, Stage, StmtKind, TargetCapabilities, attr,
    print,
};
use chipdock_passes::{LowerOptions, Lowered, lower};

use chipdock_test_support::CorpusFile;
use chipdock_test_support::lists::List;

use crate::support::{
    counted, device_capabilities, inputs, may_be_refused, one_thread_capabilities, read, without_threads,
};

const CHECK: &str = "a_lowered_module_gives_the_same";
const ONE: &str = "a_module_for_one_thread_gives_the_same";

pub(crate) fn tests(list: List, corpus: &[CorpusFile]) -> List {
    list.each(CHECK, corpus, a_lowered_module_gives_the_same).each(
        ONE,
        corpus,
        a_module_for_one_thread_gives_the_same,
    )
}

const LONG: &[DType] = &[DType::INT64, DType::UINT64];
const HALVES: &[DType] = &[DType::FLOAT16, DType::BFLOAT16];

/// How a device differs from the one with everything.
#[derive(Clone, Copy, Default)]
struct Lacks {
    /// Addresses in host functions.
    addresses: bool,
    /// Pointers that are values, vectors of more than [`LANES`] lanes.
    forms: bool,
    types: &'static [DType],
}

/// The lanes of the longest vector of a device that has no long ones.
const LANES: u16 = 4;

/// A device like those in use: with dynamic shared memory, vectors of threads, handles or
/// addresses, and all types and forms or not.
fn capabilities(lacks: Lacks) -> TargetCapabilities {
    device_capabilities().with(|it| {
        it.types.missing_types = lacks.types.to_vec();
        it.types.lanes_max = if lacks.forms { LANES } else { 0 };
        it.memory.fixed_pointers = lacks.forms;
        it.memory.scalar_arguments = lacks.forms;
        it.memory.storage_scopes =
            ["global", "shared", "shared.dyn", "warp", "local"].map(str::to_owned).to_vec();
        it.limits.threads_per_block_max = Some(1024);
        it.memory.shared_memory_bytes_max = Some(48 * 1024);
        it.limits.function_args_max = Some(64);
        it.memory.opaque_handles = lacks.addresses;
    })
}

/// A device without thread axes (STAGE-D12), with local memory or without.
fn of_one_thread(has_local: bool) -> TargetCapabilities {
    let scopes: &[&str] = if has_local { &["global", "local"] } else { &["global"] };
    one_thread_capabilities().with(|it| {
        it.memory.storage_scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        it.memory.opaque_handles = has_local;
        it.types.missing_types = if has_local { Vec::new() } else { LONG.to_vec() };
    })
}

fn lowered(module: &IrModule, capabilities: TargetCapabilities) -> Result<Lowered, String> {
    lower(module, &LowerOptions::new(Arc::new(capabilities))).map_err(|error| error.to_string())
}

/// The function in a module of its own, unless it calls others.
fn alone(module: &IrModule, function: &PrimFunc) -> IrModule {
    let mut calls = false;
    function.body.walk_exprs(&mut |expr| calls |= expr.called().is_some());
    let functions = if calls { module.functions.clone() } else { vec![function.clone()] };
    IrModule { functions, attrs: module.attrs.clone() }
}

fn is_lowered_already(function: &PrimFunc) -> bool {
    function.attrs.get(attr::CALLING_CONV).is_some_and(|conv| *conv != AttrValue::Int(0))
}

fn limits() -> Limits {
    Limits { steps_max: 20_000_000, ..Limits::default() }
}

fn outcome(module: &IrModule, function: &PrimFunc) -> Option<(Vec<Arg>, Outcome)> {
    let args = inputs(function, 1)?;
    let outcome = Interpreter::new(module)
        .with_bounds()
        .with_limits(limits())
        .run(&function.name, &mut args.clone())
        .ok()?;
    Some((args, outcome))
}

/// Lowers a function for a device and runs what that gives, against what it gave before; answers
/// how many kernels there are.
fn judge(module: &IrModule, function: &PrimFunc, capabilities: TargetCapabilities) -> Result<usize, Refused> {
    let Some((args, expected)) = outcome(module, function) else { return Ok(0) };
    let made = lowered(&alone(module, function), capabilities.clone()).map_err(Refused::Lowering)?;
    let device = made.device.unwrap();
    let n_kernels = device.functions.len();
    let functions = made.module.functions.iter().chain(&device.functions).cloned().collect();
    let whole = IrModule { functions, attrs: module.attrs.clone() };
    let wrong = |what: String| Refused::Wrong(format!("{what}\n{}", print::module(&whole)));
    if let Err(problems) = validate(&device, Stage::Device) {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(wrong(problems.join("\n")));
    }
    if uses(&device, &capabilities.types.missing_types) {
        return Err(wrong("a type that is missing is left".to_owned()));
    }
    if let Some(what) = left(&device, &capabilities) {
        return Err(wrong(what));
    }
    if capabilities.launches_one_thread() && !device.functions.iter().all(has_no_axis) {
        return Err(wrong("a kernel has thread axes, and the device has none".to_owned()));
    }
    let run = Interpreter::new(&whole).with_bounds().with_limits(limits());
    let found = run.run(&function.name, &mut args.clone()).map_err(|error| wrong(error.to_string()))?;
    for (output, expected) in found.outputs.iter().zip(&expected.outputs) {
        compare(&output.array, expected).map_err(|mismatch| wrong(mismatch.to_string()))?;
    }
    Ok(n_kernels)
}

/// What is left of the forms that the target lacks (STAGE-D14 to STAGE-D16).
fn left(device: &IrModule, capabilities: &TargetCapabilities) -> Option<String> {
    let (memory, most) = (&capabilities.memory, capabilities.types.lanes_max);
    let mut found = None;
    for function in &device.functions {
        function.body.walk_exprs(&mut |e| {
            if most > 0 && e.dtype.lanes > most {
                found = Some(format!("a vector of {} lanes is left", e.dtype.lanes));
            }
            if memory.scalar_arguments
                && let ExprKind::Call { callee: Callee::Global(name), args } = &e.kind
                && args.iter().any(|arg| arg.dtype.is_handle())
            {
                found = Some(format!("a call that passes a pointer to {name} is left"));
            }
        });
        function.body.walk(&mut |child| {
            if memory.fixed_pointers
                && let Child::Stmt(stmt) = child
                && let StmtKind::DeclBuffer { data: Some(data), .. } = &stmt.kind
                && !matches!(data.kind, ExprKind::Var(_))
            {
                found = Some("a view of a moved pointer is left".to_owned());
            }
        });
    }
    found
}

fn uses(module: &IrModule, types: &[DType]) -> bool {
    let mut found = false;
    for function in &module.functions {
        function.body.walk(&mut |child| {
            if let Child::Expr(expr) = child {
                expr.walk(&mut |e| found |= types.contains(&e.dtype.scalar()));
            }
        });
    }
    found
}

/// Whether one thread runs a kernel: it launches no axis, and has none among its launch parameters.
fn has_no_axis(kernel: &PrimFunc) -> bool {
    let params = kernel.attrs.get(attr::KERNEL_LAUNCH_PARAMS);
    params.is_none_or(|params| *params == AttrValue::List(Vec::new())) && without_threads(kernel)
}

/// Whether two devices get different kernels of a function.
fn differ(module: &IrModule, function: &PrimFunc, of: [Lacks; 2]) -> bool {
    let [a, b] = of.map(|lacks| {
        let made = lowered(&alone(module, function), capabilities(lacks)).ok()?;
        made.device.map(|device| print::module(&device))
    });
    a != b
}

/// Why there is nothing to compare, or that it differs.
enum Refused {
    Lowering(String),
    Wrong(String),
}

/// C.40: STAGE-D1 to STAGE-D10 and STAGE-D14 to STAGE-D16, for each function by itself, bound by
/// hand and by the default schedule. Modules whose functions are already lowered count none.
fn a_lowered_module_gives_the_same(file: &CorpusFile) -> Result<(), String> {
    let module = read(file)?;
    let can_be_given =
        validate(&module, Stage::Blocks).is_ok() && !module.functions.iter().any(is_lowered_already);
    let (mut n_kernels, mut wrong) = (0, Vec::new());
    for function in module.functions.iter().filter(|_| can_be_given) {
        let handles = Lacks { addresses: true, ..Lacks::default() };
        let plain = Lacks { forms: true, ..handles };
        let all = [
            Some(Lacks::default()),
            Some(handles),
            Some(Lacks { types: LONG, ..handles }),
            uses(&module, HALVES).then_some(Lacks { types: HALVES, ..Lacks::default() }),
            differ(&module, function, [handles, plain]).then_some(plain),
        ];
        for lacks in all.into_iter().flatten() {
            match judge(&module, function, capabilities(lacks)) {
                Ok(count) => n_kernels += count,
                Err(Refused::Lowering(error)) => println!("refused: {error}"),
                Err(Refused::Wrong(error)) => wrong.push(format!("{}: {error}", function.name)),
            }
        }
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    counted(CHECK, file, n_kernels)
}

/// STAGE-D12: every function that binds no threads itself runs on a device without thread axes,
/// whose kernels have none.
/// ir: IR-K8.
fn a_module_for_one_thread_gives_the_same(file: &CorpusFile) -> Result<(), String> {
    let module = read(file)?;
    let can_be_given =
        validate(&module, Stage::Blocks).is_ok() && !module.functions.iter().any(is_lowered_already);
    let is_free =
        |function: &&PrimFunc| can_be_given && alone(&module, function).functions.iter().all(without_threads);
    let (mut n_kernels, mut wrong) = (0, Vec::new());
    for function in module.functions.iter().filter(is_free) {
        for has_local in [true, false] {
            match judge(&module, function, of_one_thread(has_local)) {
                Ok(count) => n_kernels += count,
                Err(Refused::Lowering(error)) if may_be_refused(&file.name) => println!("refused: {error}"),
                Err(Refused::Lowering(error) | Refused::Wrong(error)) => {
                    wrong.push(format!("{}: {error}", function.name));
                }
            }
        }
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    counted(ONE, file, n_kernels)
}
