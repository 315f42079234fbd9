//! Tests of the nodes that the dialect refuses, by name.

use chipdock_codegen_source::unsupported;
use chipdock_ir::{Callee, DType, Expr, ExprKind, IrModule, Op, Stmt, StmtKind, ThreadAxis, Var, build};

use super::support::{Kernel, target};
use crate::dialect::CudaDialect;

fn messages(module: &IrModule) -> Vec<String> {
    unsupported(module, &CudaDialect::default()).into_iter().map(|diagnostic| diagnostic.message).collect()
}

#[test]
fn everything_that_is_not_supported_is_listed() {
    let mut f = Kernel::new();
    let (a, b) = (f.buffer("A", DType::FLOAT32), f.buffer("B", DType::BFLOAT16));
    let x = f.axis(ThreadAxis::ThreadX, Expr::i32(32));
    let half = f.scalar("half", DType::FLOAT16);
    f.axis(ThreadAxis::VirtualX, Expr::i32(2));
    let strange = f.alloc("W", Expr::i32(4), DType::FLOAT32, "warp");
    f.store(&a, x.clone(), Expr::load(&strange, vec![x.clone()]));
    f.barrier("global");
    let call = |name: &str, args: Vec<Expr>| {
        let callee = Callee::Extern { name: name.into(), pure: true };
        Expr::new(ExprKind::Call { callee, args }, DType::FLOAT32)
    };
    let loaded = Expr::load(&a, vec![x.clone()]);
    f.store(&a, x.clone(), call("get_global_id", vec![Expr::i32(0)]));
    f.store(&a, x.clone(), call("powf", vec![loaded.clone()]));
    let shuffle =
        vec![Expr::int(1, DType::UINT32), loaded.clone(), Expr::i32(0), Expr::i32(64), Expr::i32(64)];
    let other = Var::new("other", DType::FLOAT32);
    f.push(StmtKind::Bind {
        var: other.clone(),
        value: Expr::call(Op::WarpShuffle, shuffle, DType::FLOAT32),
    });
    f.store(&a, x.clone(), other.expr() + half.cast(DType::FLOAT32));
    let place = Expr::call(Op::AddressOf, vec![Expr::load(&b, vec![x.clone()])], DType::HANDLE);
    f.evaluate(Op::AtomicAdd, vec![place, Expr::float(1.0, DType::BFLOAT16)], DType::BFLOAT16);
    f.evaluate(Op::CallPacked, vec![Expr::str("f")], DType::INT32);
    f.push(StmtKind::Assert { condition: Expr::bool(false), kind: "ValueError".into(), message: vec![] });
    let found = messages(&build::module([f.finish("strange_kernel")]));
    for part in [
        "kernel argument of type float16",
        "thread axis vthread.x",
        "storage scope warp",
        "barrier of scope \"global\"",
        "no function \"get_global_id\"",
        "powf(float32, float32) -> float32, found (float32)",
        "warps of 32 threads, not of 64",
        "atomic addition of bfloat16",
        "tvm_call_packed",
        "no assertions",
    ] {
        assert!(found.iter().any(|message| message.contains(part)), "{part} in {found:#?}");
    }
    assert!(found.iter().all(|message| message.starts_with("target cuda: ")), "{found:#?}");
}

/// A name that the language has taken is given to no kernel, and to no variable.
#[test]
fn names_of_the_language_are_left_alone() {
    for (name, is_free) in [("exp", false), ("while", false), ("cd_load", false), ("expo", true)] {
        let mut f = Kernel::new();
        f.axis(ThreadAxis::ThreadX, Expr::i32(1));
        f.stmt(Stmt::nop());
        assert_eq!(messages(&build::module([f.finish(name)])).is_empty(), is_free, "{name}");
    }
}

/// Shared memory of constant size is refused where no device has as much; dynamic memory is the
/// launch's affair.
#[test]
fn shared_memory_of_constant_size_has_an_end() {
    let module = |sizes: &[i32], scope: &str| {
        let mut f = Kernel::new();
        let a = f.buffer("A", DType::FLOAT32);
        let x = f.axis(ThreadAxis::ThreadX, Expr::i32(32));
        if scope == "shared.dyn" {
            f.tag("tirx.use_dyn_shared_memory");
        }
        for size in sizes {
            let s = f.alloc("S", Expr::i32(*size), DType::FLOAT32, scope);
            f.store(&a, x.clone(), Expr::load(&s, vec![x.clone()]));
        }
        build::module([f.finish("shared_kernel")])
    };
    let written = |sizes: &[i32], scope: &str| crate::codegen::write(&module(sizes, scope), &target(), None);
    assert!(written(&[8192, 4096], "shared").is_ok());
    assert!(written(&[16384], "shared.dyn").is_ok());
    let refused = written(&[8192, 4097], "shared").err().unwrap();
    assert!(
        refused[0].message.contains("49156 bytes") && refused[0].message.contains("shared.dyn"),
        "{refused:?}"
    );
}
