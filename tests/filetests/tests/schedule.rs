//! The default schedule for targets with threads on the whole corpus, the examples and the digits: what it makes is valid,
//! keeps to the limits of the target, gives what the kernel gives, and is not scheduled again.

mod support;

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
use chipdock_test_support::{corpus, filetests, scripts};

use support::{device_capabilities, inputs};

/// A device of so many threads in a block, so much shared memory, and so many blocks along each axis of a grid.
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

/// Files with functions that are no kernels of the device: hosts' and devices' own, and what only the text has.
fn kernels() -> Vec<(String, IrModule)> {
    let mut files = corpus().unwrap();
    files.extend(scripts(&filetests().join("passes/default_schedule"), "passes/").unwrap());
    let read = files.into_iter().map(|file| {
        let module = chipdock_script::parse(&file.text, &file.name).unwrap();
        (file.name, module)
    });
    read.filter(|(_, module)| validate(module, Stage::Blocks).is_ok()).collect()
}

fn expected(module: &IrModule, function: &PrimFunc) -> Option<(Vec<Arg>, Outcome)> {
    let args = inputs(function, 7)?;
    let limits = Limits { steps_max: 3_000_000, ..Limits::default() };
    let interpreter = Interpreter::new(module).with_limits(limits).with_bounds();
    interpreter.run(&function.name, &mut args.clone()).ok().map(|outcome| (args, outcome))
}

/// L3.
#[test]
fn every_kernel_is_scheduled_right() {
    let (mut n_scheduled, mut n_runs, mut left) = (0, 0, Vec::new());
    for (name, module) in kernels() {
        let of: Vec<_> = module.functions.iter().map(|f| (f, expected(&module, f))).collect();
        for capabilities in devices() {
            let scheduled = match default_schedule(&module, &capabilities) {
                Ok(scheduled) => scheduled,
                Err(error) => {
                    assert_eq!(error.fault, Fault::Target, "{name}: {error}");
                    assert!(name.starts_with("construct/"), "{name}: {error}");
                    left.push(error.to_string());
                    continue;
                }
            };
            let text = || print::module(&scheduled);
            if let Err(problems) = validate(&scheduled, Stage::Scheduled) {
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                panic!("{name} is not valid:\n{}\n{}", problems.join("\n"), text());
            }
            let again = default_schedule(&scheduled, &capabilities).unwrap();
            assert!(again == scheduled, "{name} was scheduled again:\n{}\n{}", text(), print::module(&again));
            let lowered =
                lower_blocks(&scheduled, &capabilities).unwrap_or_else(|e| panic!("{name}: {e}\n{}", text()));
            for (index, (function, expected)) in of.iter().enumerate() {
                if unbound(&module.functions[index]) {
                    limits_hold(
                        &name,
                        &lowered.functions[index],
                        &capabilities,
                        expected.as_ref().map(|e| &e.0),
                    );
                    n_scheduled += 1;
                }
                if let Some((args, outcome)) = expected {
                    agree(&format!("{name}: {}", function.name), &scheduled, function, args, outcome);
                    n_runs += 1;
                }
            }
        }
    }
    println!("{n_scheduled} scheduled, {n_runs} runs");
    left.dedup();
    println!("left out:\n{}", left.join("\n"));
    assert!(n_scheduled > 350 && n_runs > 380, "{n_scheduled} scheduled, {n_runs} runs");
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
