//! Checks the default schedule for targets with threads on the whole corpus, the examples and the
//! digits: its output is valid, keeps to the limits of the target, gives the same results as the
//! kernel, and is not scheduled again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use chipdock_interpret::{Arg, Interpreter, Limits, Outcome, compare};
use chipdock_ir::subst::Substitution;
use chipdock_ir::validate::validate;
use chipdock_ir::{
    AttrValue, Child, Expr, ExprKind, ForKind, IrModule, Param, PrimFunc, Stage, Stmt, StmtKind, StorageRank,
    Target, TargetCapabilities, ThreadAxis, attr, print,
};
use chipdock_passes::{Fault, default_schedule, lower_blocks, simplify};
use chipdock_test_support::CorpusFile;
use chipdock_test_support::lists::List;

use crate::support::{self, counted, device_capabilities, inputs, read};

const CHECK: &str = "every_kernel_is_scheduled_right";

pub(crate) fn tests(list: List, corpus: &[CorpusFile], passes: &[CorpusFile]) -> List {
    let own = passes.iter().filter(|file| file.name.starts_with("passes/default_schedule/"));
    let files: Vec<CorpusFile> = corpus.iter().chain(own).cloned().collect();
    list.each(CHECK, &files, every_kernel_is_scheduled_right)
}

/// A device of so many threads in a block, so much shared memory, and so many blocks along each
/// axis of a grid.
fn device(threads: i64, shared_bytes: i64, blocks: Option<i64>) -> TargetCapabilities {
    let target = Arc::new(Target { kind: "device-kind".into(), ..Target::default() });
    device_capabilities().with(|it| {
        it.target = target;
        it.limits.threads_per_block_max = Some(threads);
        it.memory.shared_memory_bytes_max = Some(shared_bytes);
        it.limits.grid_dimensions_max = [blocks; 3];
    })
}

/// As of OpenCL, of CUDA, of small ones, and of one where nearly everything runs in rounds.
fn devices() -> Vec<TargetCapabilities> {
    vec![
        device(256, 16 << 10, Some(i32::MAX.into())),
        device(1024, 48 << 10, Some(65535)),
        device(64, 4 << 10, None),
        device(4, 1 << 10, Some(2)),
    ]
}

fn expected(module: &IrModule, function: &PrimFunc) -> Option<(Vec<Arg>, Outcome)> {
    let args = inputs(function, 7)?;
    let limits = Limits { steps_max: 3_000_000, ..Limits::default() };
    let interpreter = Interpreter::new(module).with_limits(limits).with_bounds();
    interpreter.run(&function.name, &mut args.clone()).ok().map(|outcome| (args, outcome))
}

/// PASS-L3. Files whose modules are not valid at stage `Blocks` count none: lowered functions of
/// hosts and devices, and constructs that exist only in scripts.
fn every_kernel_is_scheduled_right(file: &CorpusFile) -> Result<(), String> {
    let (module, name) = (read(file)?, &file.name);
    let (mut n_scheduled, mut n_runs) = (0, 0);
    let of: Vec<_> = match validate(&module, Stage::Blocks) {
        Ok(()) => module.functions.iter().map(|f| (f, expected(&module, f))).collect(),
        Err(_) => return counted(CHECK, file, 0),
    };
    for capabilities in devices() {
        let scheduled = match default_schedule(&module, &capabilities) {
            Ok(scheduled) => scheduled,
            Err(error) if error.fault == Fault::Target && name.starts_with("construct/") => {
                println!("left out: {error}");
                continue;
            }
            Err(error) => return Err(error.to_string()),
        };
        let text = || print::module(&scheduled);
        if let Err(problems) = validate(&scheduled, Stage::Scheduled) {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Err(format!("it is not valid:\n{}\n{}", problems.join("\n"), text()));
        }
        let again = default_schedule(&scheduled, &capabilities).map_err(|error| error.to_string())?;
        if again != scheduled {
            return Err(format!("it was scheduled again:\n{}\n{}", text(), print::module(&again)));
        }
        let lowered =
            lower_blocks(&scheduled, &capabilities).map_err(|error| format!("{error}\n{}", text()))?;
        for (index, (function, expected)) in of.iter().enumerate() {
            if unbound(&module.functions[index]) {
                limits_hold(name, &lowered.functions[index], &capabilities, expected.as_ref().map(|e| &e.0));
                n_scheduled += 1;
            }
            if let Some((args, outcome)) = expected {
                agree(&function.name, &scheduled, function, args, outcome);
                n_runs += 1;
            }
        }
    }
    counted(CHECK, file, n_scheduled + n_runs)
}

fn agree(what: &str, after: &IrModule, function: &PrimFunc, args: &[Arg], expected: &Outcome) {
    let found = Interpreter::new(after).run(&function.name, &mut args.to_vec());
    let found = found.unwrap_or_else(|error| panic!("{what}: {error}\n{}", print::module(after)));
    for (expected, found) in expected.outputs.iter().zip(&found.outputs) {
        if let Err(mismatch) = compare(&found.array, expected) {
            panic!("{what}: {}: {mismatch}\n{}", expected.name, print::module(after));
        }
    }
}

/// Whether nothing of a function was bound by hand, and it is no host or device function already.
fn unbound(function: &PrimFunc) -> bool {
    support::without_threads(function)
        && !matches!(function.attrs.get(attr::CALLING_CONV), Some(AttrValue::Int(1..)))
}

/// Each launch keeps to the limits, for those arguments at least.
fn limits_hold(name: &str, function: &PrimFunc, capabilities: &TargetCapabilities, args: Option<&Vec<Arg>>) {
    let mut sizes = HashMap::new();
    for (param, arg) in function.params.iter().zip(args.into_iter().flatten()) {
        match (param, arg) {
            (Param::Var(var), Arg::Int(value)) => drop(sizes.insert(var.clone(), *value)),
            (Param::Buffer(buffer), Arg::Tensor(array)) => {
                for (extent, value) in buffer.shape.iter().zip(&array.shape) {
                    if let ExprKind::Var(var) = &extent.kind {
                        sizes.insert(var.clone(), *value as i128);
                    }
                }
            }
            _ => {}
        }
    }
    let mut substitution = Substitution::new();
    sizes.iter().for_each(|(var, value)| substitution.map_var(var, Expr::int(*value, var.dtype)));
    let mut launches = Vec::new();
    outermost(&function.body, &mut launches);
    for launch in launches {
        let (mut axes, mut shared_bytes) = (BTreeMap::new(), 0);
        launch.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            match &stmt.kind {
                StmtKind::For { kind: ForKind::ThreadBinding(axis), extent, .. } => {
                    if let Some(extent) = simplify::expr(&substitution.expr(extent)).as_int() {
                        axes.insert(*axis, extent);
                    } else {
                        assert!(matches!(axis, ThreadAxis::BlockX), "{name}: {axis} of no constant extent");
                    }
                }
                StmtKind::AllocBuffer { buffer, .. } => match buffer.scope.rank {
                    StorageRank::Shared => {
                        shared_bytes += buffer.constant_size().unwrap() * buffer.dtype.size_bytes() as i128;
                    }
                    rank => assert_eq!(rank, StorageRank::Local, "{name}: {}", buffer.name),
                },
                _ => {}
            }
        });
        let mut threads = 1;
        for (axis, extent) in &axes {
            let is_block = matches!(axis, ThreadAxis::BlockX | ThreadAxis::BlockY | ThreadAxis::BlockZ);
            let limit = capabilities.limits.grid_dimensions_max[0].filter(|_| is_block);
            assert!(limit.is_none_or(|limit| *extent <= limit.into()), "{name}: {axis} has {extent}");
            threads *= if is_block { 1 } else { *extent };
        }
        assert!(
            threads <= capabilities.limits.threads_per_block_max.unwrap().into(),
            "{name}: {threads} threads"
        );
        assert!(
            shared_bytes <= capabilities.memory.shared_memory_bytes_max.unwrap().into(),
            "{name}: {shared_bytes} bytes"
        );
    }
}

fn outermost<'a>(stmt: &'a Stmt, launches: &mut Vec<&'a Stmt>) {
    if matches!(stmt.kind, StmtKind::For { kind: ForKind::ThreadBinding(_), .. }) {
        return launches.push(stmt);
    }
    stmt.for_each_child(&mut |child| {
        if let Child::Stmt(stmt) = child {
            outermost(stmt, launches);
        }
    });
}
