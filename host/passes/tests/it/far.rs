//! Tests of buffers that reach 2^31 elements or more: `flatten_buffers`, `split_host_device`,
//! `merge_shared_memory`.

use std::sync::Arc;

use chipdock_interpret::{Arg, Interpreter};
use chipdock_ir::{
    BinaryOp, DType, Expr, ExprKind, IrModule, Stage, StorageScope, TargetCapabilities, ThreadAxis, build,
    print,
};
use chipdock_passes::{Fault, LowerOptions, Lowered, PassError, Scheduling, flatten_buffers, lower};

use crate::capabilities::{device, host, narrow};

fn lowered(module: &IrModule, capabilities: TargetCapabilities) -> Result<Lowered, PassError> {
    let options = LowerOptions { schedule: Scheduling::Auto, ..LowerOptions::new(Arc::new(capabilities)) };
    lower(module, &options)
}

/// `f(n, m)` with an intermediate of that shape and type, of which the last element is written and
/// read. The first is written too: else `compact_buffer_allocation` leaves one element.
fn with(shape: impl Fn(&[Expr; 2]) -> Vec<Expr>, dtype: DType) -> IrModule {
    let mut f = build::function("f");
    let b = f.buffer("B", [1], dtype);
    let sizes = ["n", "m"].map(|name| f.scalar(name, DType::INT32));
    let shape = shape(&sizes);
    let last: Vec<Expr> = shape.iter().map(|extent| extent.clone() - Expr::int(1, extent.dtype)).collect();
    let s = f.alloc("S", shape, dtype, StorageScope::GLOBAL);
    let first: Vec<Expr> = last.iter().map(|index| Expr::int(0, index.dtype)).collect();
    f.range("i", 1, |f, _| f.store(&s, first.clone(), Expr::int(1, dtype)));
    f.range("i", 1, |f, _| f.store(&s, last.clone(), Expr::int(1, dtype)));
    f.range("i", 1, |f, i| f.store(&b, [&i], Expr::load(&s, last.clone())));
    let mut function = f.finish();
    function.s_tir = false;
    build::module([function])
}

fn constant(shape: [i64; 2]) -> IrModule {
    with(|_| shape.iter().map(|extent| Expr::int((*extent).into(), DType::INT32)).collect(), DType::INT8)
}

/// The types of the indices into `S`.
fn indices(module: &IrModule) -> Vec<DType> {
    let mut found = Vec::new();
    module.functions[0].body.walk_exprs(&mut |e| {
        if let ExprKind::Load { buffer, indices, .. } = &e.kind
            && &*buffer.name == "S"
        {
            found.extend(indices.iter().map(|index| index.dtype));
        }
    });
    assert!(!found.is_empty(), "{}", print::module(module));
    found
}

/// STAGE-D11.
#[test]
fn an_index_has_32_bits_only_where_they_are_known_to_do() {
    let flat = |module: &IrModule, target: TargetCapabilities| {
        indices(&flatten_buffers(module, &target).expect("flattened"))
    };
    for (module, expected) in [
        (constant([32768, 65535]), DType::INT32),
        (constant([32768, 65536]), DType::INT64),
        (constant([65537, 65536]), DType::INT64),
        (with(|[n, _]| vec![n.clone()], DType::INT8), DType::INT32),
        (with(|[n, m]| vec![n.clone(), m.clone()], DType::INT8), DType::INT64),
        (with(|[n, _]| vec![n.clone(), Expr::i32(77)], DType::FLOAT32), DType::INT64),
    ] {
        assert_eq!(flat(&module, device()), [expected]);
        assert_eq!(flat(&module, host()), [DType::INT64]);
    }
}

/// INT64-W4.
#[test]
fn a_32_bit_device_refuses_buffers_beyond_its_indices() {
    let refused = |module: &IrModule, says: &str| {
        let error = lowered(module, narrow()).expect_err(says);
        assert_eq!((error.pass, error.fault), ("split_host_device", Fault::Target), "{error}");
        for part in ["in f: ", "elements of buffer S", "\"device-kind\"", "int64", says] {
            assert!(error.to_string().contains(part), "{error}: expected {part}");
        }
    };
    refused(&constant([65537, 65536]), "at most 2147483647 elements");
    refused(&constant([65537, 65536]), "found 4295032832");
    refused(&constant([32768, 65536]), "found 2147483648");
    let of_long = |n: i32| with(|_| vec![Expr::i32(n), Expr::i32(32768)], DType::INT64);
    refused(&of_long(32768), "at most 1073741823 elements");
    for module in [constant([32768, 65535]), of_long(32767)] {
        lowered(&module, narrow()).expect("it fits");
    }
    lowered(&constant([65537, 65536]), device()).expect("a device of 64 bits");
}

#[test]
fn a_size_known_at_run_time_is_refused_before_anything_is_asked_for() {
    let module = with(|[n, m]| vec![n.clone(), m.clone()], DType::INT8);
    let Lowered { module, .. } = lowered(&module, narrow()).expect("lowered");
    let run = |n: i128, m: i128| {
        let zero = chipdock_interpret::Array::zeros(DType::INT8, &[1]);
        let mut args = [Arg::Tensor(zero), Arg::Int(n), Arg::Int(m)];
        let error = Interpreter::new(&module).run("f", &mut args).expect_err("no kernel is there");
        error.to_string()
    };
    let says = "f: expected at most 2147483647 elements of buffer S, its offset included, found ";
    for (n, m) in [(65537, 65536), (32768, 65536), (65536, 65536)] {
        let why = run(n, m);
        assert!(why.contains(&format!("{says}{}", n * m)), "{why}");
    }
    let why = run(32768, 65535);
    assert!(!why.contains(says), "{why}");
}

/// The size that a launch asks for is computed in 64 bits.
#[test]
fn dynamic_shared_memory_does_not_wrap() {
    let mut f = build::function("f");
    let n = f.scalar("n", DType::INT32);
    let b = f.buffer("B", [64], DType::FLOAT64);
    f.thread_binding("bx", 1, ThreadAxis::BlockX, |f, _| {
        let scope = || StorageScope::parse("shared.dyn");
        let s = f.alloc("S", [n.clone()], DType::FLOAT64, scope());
        let r = f.alloc("R", [n.clone()], DType::FLOAT32, scope());
        f.thread_binding("tx", 64, ThreadAxis::ThreadX, |f, tx| {
            f.store(&s, [&tx], Expr::float(1.0, DType::FLOAT64));
            f.store(&r, [&tx], Expr::float(2.0, DType::FLOAT32));
            // As far as they go: else `compact_buffer_allocation` leaves 64 elements.
            f.store(&s, [n.clone() - 1], Expr::float(1.0, DType::FLOAT64));
            f.store(&r, [n.clone() - 1], Expr::float(2.0, DType::FLOAT32));
            f.store(
                &b,
                [&tx],
                Expr::load(&s, vec![tx.clone()]) + Expr::load(&r, vec![tx.clone()]).cast(DType::FLOAT64),
            );
        });
    });
    let mut function = f.finish();
    function.s_tir = false;
    let capabilities = device().with(|it| it.memory.storage_scopes.push("shared.dyn".into()));
    let Lowered { module, stage, .. } = lowered(&build::module([function]), capabilities).expect("lowered");
    assert_eq!(stage, Stage::Device);
    let mut sizes = 0;
    module.functions[0].body.walk_exprs(&mut |e| {
        if let ExprKind::Binary(BinaryOp::Mul | BinaryOp::Add, a, _) = &e.kind {
            assert_eq!(a.dtype, DType::INT64, "{}", print::module(&module));
            sizes += 1;
        }
    });
    assert!(sizes > 0, "{}", print::module(&module));
}

#[test]
fn a_32_bit_host_refuses_buffers_beyond_its_pointers() {
    let short = || host().with(|it| it.memory.pointer_bits = 32);
    let error = lowered(&constant([65537, 65536]), short()).expect_err("too large");
    assert_eq!((error.pass, error.fault), ("lower_workspace", Fault::Target), "{error}");
    let says = "in f: expected at most 2147483647 elements of buffer S, found 4295032832";
    assert!(error.to_string().contains(says), "{error}");
    lowered(&constant([32768, 65535]), short()).expect("it fits");
    let module = with(|[n, m]| vec![n.clone(), m.clone()], DType::FLOAT32);
    let text = |target| print::module(&lowered(&module, target).expect("lowered").module);
    let says = "f: expected at most 536870911 elements of buffer S, found ";
    assert!(text(short()).contains(says), "{}", text(short()));
    assert!(!text(host()).contains(says));
}
