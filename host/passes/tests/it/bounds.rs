//! Tests of the limits of a function: stack, workspace, words of its signature. Each limit is
//! reached, and exceeded by one.

use std::sync::Arc;

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::limits::{STACK_SIZE_BYTES_MAX, STACK_TOTAL_BYTES_MAX};
use chipdock_ir::{AttrValue, Child, DType, Expr, IrModule, Stage, StmtKind, StorageScope, attr, build};
use chipdock_passes::{Fault, LowerOptions, PassError, WORKSPACE_LIVE_MAX, lower};

use crate::capabilities::host;

fn lowered(module: &IrModule) -> Result<IrModule, PassError> {
    lower(module, &LowerOptions::new(Arc::new(host()))).map(|lowered| {
        assert_eq!(lowered.stage, Stage::Host);
        lowered.module
    })
}

/// `count` buffers of so many elements, all written before any is read: none can take the memory of
/// another.
fn buffers(count: usize, elements: i32) -> IrModule {
    let mut f = build::function("f");
    let a = f.buffer("A", [i32::try_from(count).unwrap()], DType::FLOAT32);
    let all: Vec<_> = (0..count)
        .map(|i| f.alloc(format!("B{i}"), [elements], DType::FLOAT32, StorageScope::GLOBAL))
        .collect();
    for (i, b) in (0..).zip(&all) {
        f.store(b, [0], a.at([i]) + Expr::float(1.0, DType::FLOAT32));
        // The last one too: else `compact_buffer_allocation` leaves one element.
        f.store(b, [elements - 1], a.at([i]) + Expr::float(1.0, DType::FLOAT32));
    }
    for (i, b) in (0..).zip(&all) {
        f.store(&a, [i], b.at([0]));
    }
    build::module([f.finish()])
}

/// Bytes of buffers on the stack, and how many buffers are workspace.
fn stack_and_workspace(module: &IrModule) -> (i128, usize) {
    let (mut bytes, mut workspace) = (0, 0);
    for function in &module.functions {
        function.body.walk(&mut |child| match child {
            Child::Stmt(stmt) => match &stmt.kind {
                StmtKind::AllocBuffer { buffer, .. } => {
                    bytes += buffer.constant_size().unwrap() * buffer.dtype.size_bytes() as i128;
                }
                StmtKind::DeclBuffer { data: Some(_), .. } => workspace += 1,
                _ => {}
            },
            Child::Expr(_) => {}
        });
    }
    (bytes, workspace)
}

#[test]
fn buffers_past_the_stack_are_workspace() {
    let elements = i32::try_from(STACK_SIZE_BYTES_MAX / 4).unwrap();
    let fitting = usize::try_from(STACK_TOTAL_BYTES_MAX / STACK_SIZE_BYTES_MAX).unwrap();
    let all = lowered(&buffers(fitting, elements)).unwrap();
    assert_eq!(stack_and_workspace(&all), (STACK_TOTAL_BYTES_MAX, 0));
    let more = lowered(&buffers(fitting + 3, elements)).unwrap();
    assert_eq!(stack_and_workspace(&more), (STACK_TOTAL_BYTES_MAX, 3));
    // Small ones count too, by what each takes at least.
    let (bytes, workspace) = stack_and_workspace(&lowered(&buffers(16_384 + 5, 1)).unwrap());
    assert_eq!((bytes, workspace), (16_384 * 4, 5));
}

#[test]
fn workspace_computes_the_same() {
    let module = buffers(300, 256);
    let values = (0..300).map(|i| i as f32);
    let bytes =
        |values: &mut dyn Iterator<Item = f32>| values.flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    let array = Array { dtype: DType::FLOAT32, shape: vec![300], data: bytes(&mut values.clone()) };
    let lowered = lowered(&module).unwrap();
    assert_eq!(stack_and_workspace(&lowered).1, 44);
    let mut args = vec![Arg::Tensor(array)];
    Interpreter::new(&module).run("f", &mut args).unwrap();
    let Arg::Tensor(array) = &args[0] else { panic!("a tensor") };
    assert_eq!(array.data, bytes(&mut values.map(|value| value + 1.0)));
}

#[test]
fn workspace_at_once_is_bounded() {
    let large = i32::try_from(STACK_SIZE_BYTES_MAX / 4).unwrap() + 1;
    let most = lowered(&buffers(WORKSPACE_LIVE_MAX, large)).unwrap();
    assert_eq!(stack_and_workspace(&most), (0, WORKSPACE_LIVE_MAX));
    let error = lowered(&buffers(WORKSPACE_LIVE_MAX + 1, large)).unwrap_err();
    assert_eq!((error.pass, error.fault), ("lower_workspace", Fault::Caller));
    let text = error.to_string();
    assert!(text.contains("in f: 257 buffers are workspace at once; expected at most 256"), "{text}");
    // One after the other they are not there at once.
    let mut f = build::function("f");
    let a = f.buffer("A", [8], DType::FLOAT32);
    for _ in 0..2 * WORKSPACE_LIVE_MAX {
        f.range("i", 8, |f, i| {
            let b = f.alloc("B", [large], DType::FLOAT32, StorageScope::GLOBAL);
            f.store(&b, [&i], a.at([&i]));
            f.store(&b, [large - 1], a.at([&i]));
            f.store(&a, [&i], b.at([&i]));
        });
    }
    lowered(&build::module([f.finish()])).unwrap();
}

#[test]
fn a_long_signature_is_cut_in_messages_alone() {
    for (count, is_cut) in [(20, false), (1000, true)] {
        let mut f = build::function("f");
        (0..count).for_each(|i| drop(f.scalar(format!("p{i}"), DType::INT32)));
        let module = lowered(&build::module([f.finish()])).unwrap();
        let mut messages = Vec::new();
        for function in &module.functions {
            function.body.walk(&mut |child| {
                if let Child::Stmt(stmt) = child
                    && let StmtKind::Assert { message, .. } = &stmt.kind
                {
                    messages.push(format!("{message:?}"));
                }
            });
        }
        let last = format!("p{}: int32", count - 1);
        assert!(!messages.is_empty());
        for message in messages {
            assert_eq!(message.contains("... ") && message.contains(" more)"), is_cut, "{message}");
            assert_eq!(message.contains(&last), !is_cut, "{message}");
            assert!(message.len() < 4000, "{} bytes", message.len());
        }
        // What is stated of the function is whole.
        let entry = module.functions.iter().find(|f| f.name.starts_with("__tvm_ffi_")).unwrap();
        let Some(AttrValue::Str(signature)) = entry.attrs.get(attr::SIGNATURE) else { panic!("stated") };
        assert!(signature.contains(&last), "{signature}");
    }
    // But where no string of a module may be as long.
    let mut f = build::function("f");
    (0..1000).for_each(|i| drop(f.scalar(format!("{}{i}", "p".repeat(200)), DType::INT32)));
    let module = lowered(&build::module([f.finish()])).unwrap();
    chipdock_ir::validate::validate(&module, Stage::Host).unwrap();
}

/// The conditions of a fast call are joined into few, which nest no deeper than a module may.
#[test]
fn many_tensors_make_no_deep_conditions() {
    let mut f = build::function("f");
    let n = f.size("n");
    for i in 0..chipdock_ir::limits::PARAMS_MAX {
        f.buffer(format!("A{i}"), [&n + i32::try_from(i).unwrap()], DType::FLOAT32);
    }
    let last = f.size("m");
    f.buffer("last", [&n, &last], DType::FLOAT32);
    let mut function = f.finish();
    function.params.remove(0);
    let module = lowered(&build::module([function])).unwrap();
    chipdock_ir::validate::validate(&module, Stage::Host).unwrap();
}
