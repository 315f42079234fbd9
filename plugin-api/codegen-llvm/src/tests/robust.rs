//! Tests of modules that were not validated: each is written or refused, none makes the writer
//! panic.

use chipdock_ir::testing::unvalidated;
use chipdock_ir::{
    AttrValue, Buffer, Callee, DType, Expr, ExprKind, ForKind, Op, Param, PrimFunc, Span, Stmt, StmtKind,
    StorageScope, ThreadAxis, Var, attr, build,
};
use proptest::prelude::*;

use super::modules::{function as plain, pointer};
use super::support::Plain;
use crate::{Options, unsupported, write_module};

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn llvm_v10_no_module_makes_the_writer_panic(bytes in prop::collection::vec(any::<u8>(), 400)) {
        let f = unvalidated::function("f", &bytes, false);
        let module = build::module([f, unvalidated::function("g", &bytes[100..], false)]);
        let found = unsupported(&module, &Plain::default());
        prop_assert_eq!(write_module(&module, &Plain::default(), &Options::default()).is_err(), !found.is_empty());
    }
}

/// Deeper than anything that a validator lets pass: refused, on a thread with a usual stack.
#[test]
fn llvm_v10_depth_is_refused_before_the_stack_ends() {
    for (levels, is_fine) in [(200, true), (1000, false)] {
        for f in unvalidated::deep(levels) {
            let found = unsupported(&build::module([f]), &Plain::default());
            assert_eq!(found.is_empty(), is_fine, "{levels}: {found:#?}");
        }
    }
}

/// A node that is shared again and again is written once: the text grows with the module, not with
/// its paths.
#[test]
fn llvm_v9_shared_nodes_do_not_multiply() {
    let module = build::module([unvalidated::shared(60)]);
    let text = write_module(&module, &Plain::default(), &Options::default()).unwrap().text;
    assert!(text.len() < 20_000, "{} bytes", text.len());
}

/// A kernel of what a processor has none of.
fn strange() -> PrimFunc {
    let (a_data, a) = pointer("A", DType::FLOAT32);
    let (i, t) = (Var::new("i", DType::INT32), Var::new("t", DType::INT32));
    let shared = Buffer::new("S", vec![Expr::i32(64)], DType::FLOAT32, StorageScope::SHARED);
    let large = Buffer::new("L", vec![Expr::i32(1 << 20)], DType::FLOAT32, StorageScope::LOCAL);
    let sized = Buffer::new("D", vec![t.expr()], DType::FLOAT32, StorageScope::LOCAL);
    let allocate = |buffer: &Buffer| {
        Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Default::default() })
    };
    let use_of = |buffer: &Buffer| Stmt::store(buffer, vec![t.expr()], Expr::float(1.0, DType::FLOAT32));
    let store = Stmt::store(&a, vec![i.expr()], Expr::load(&shared, vec![t.expr()]));
    let evaluate = |value: Expr| Stmt::new(StmtKind::Evaluate(value));
    let bound = Stmt::new(StmtKind::LaunchThread {
        var: t.clone(),
        axis: ThreadAxis::ThreadX,
        extent: Expr::i32(64),
        body: Stmt::seq([store, use_of(&large), use_of(&sized)]),
    });
    let call = |callee: Callee, args: Vec<Expr>| Expr::new(ExprKind::Call { callee, args }, DType::INT32);
    let extern_ = |name: &str| Callee::Extern { name: name.into(), pure: false };
    let atomic = Expr::call(Op::AtomicAdd, vec![a.data.expr(), Expr::int(1, DType::INT8)], DType::INT8);
    let two = Expr::load(&a, vec![i.expr(), i.expr()]);
    let body = vec![
        allocate(&shared),
        allocate(&large),
        allocate(&sized),
        Stmt::for_loop(
            i.clone(),
            Expr::i32(4),
            ForKind::ThreadBinding(ThreadAxis::BlockX),
            Stmt::seq([
                bound,
                evaluate(Expr::call(Op::StorageSync, vec![Expr::str("shared")], DType::HANDLE)),
                Stmt::store(&a, vec![Expr::i32(0)], two),
            ]),
        ),
        evaluate(Expr::call(Op::CallPacked, vec![Expr::str("f")], DType::INT32)),
        evaluate(call(Callee::Global("nobody".into()), vec![])),
        evaluate(call(extern_("no name"), vec![])),
        evaluate(call(extern_("takes_a_half"), vec![Expr::float(1.0, DType::FLOAT16)])),
        evaluate(Expr::call(
            Op::ParallelLaunch,
            vec![Expr::str("nobody"), a.data.expr(), Expr::i32(0)],
            DType::INT32,
        )),
        evaluate(Expr::call(Op::WarpActivemask, vec![], DType::UINT32)),
        evaluate(atomic),
        Stmt::new(StmtKind::Break),
    ];
    let mut kernel = plain("kernel", vec![a_data], body);
    kernel.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(2));
    kernel
}

/// Everything that a processor has none of is named, each thing.
#[test]
fn llvm_v10_everything_that_is_not_supported_is_listed() {
    let evaluate = |value: Expr| Stmt::new(StmtKind::Evaluate(value));
    let mut void = build::function("void").finish();
    void.body = Stmt::seq([
        evaluate(Expr::call(Op::ThrowLastError, vec![], DType::HANDLE)),
        Stmt::new(StmtKind::Assert {
            condition: Expr::bool(false),
            kind: "ValueError".into(),
            message: vec![Expr::float(1.0, DType::FLOAT32)],
        }),
    ]);
    let mut entry = build::function("__tvm_ffi_entry").finish();
    entry.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(1));
    let found = unsupported(&build::module([strange(), void, entry]), &Plain::default());
    let messages: Vec<&str> = found.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    for part in [
        "storage scope shared",
        "thread axis blockIdx.x",
        "thread axis threadIdx.x",
        "barrier of scope \"shared\"",
        "buffer A has 2 axes",
        "bytes of stack",
        "size that is not constant",
        "packed calls of a buffer of values only",
        "the module has no function nobody",
        "\"no name\": it is no name of a C function",
        "cannot pass float16 to the C function takes_a_half",
        "parallel launches of functions of the module only",
        "no tvm_warp_activemask",
        "no atomic_add of int8",
        "no loop around this",
        "calling convention 2",
        "an assertion only in a function that returns int32",
        "tvm_throw_last_error only in a function that returns int32",
        "messages of strings and integers, not of float32",
        "packed functions (handle, handle, int32, handle) -> int32 only",
    ] {
        assert!(messages.iter().any(|message| message.contains(part)), "{part} in {messages:#?}");
    }
    assert!(messages.iter().all(|message| message.starts_with("target plain: ")), "{messages:#?}");
}

/// A refusal says where its statement was read.
#[test]
fn llvm_v10_a_refusal_names_the_line() {
    let call = |line: u32| {
        let call = Expr::call(Op::CallPacked, vec![Expr::str("f")], DType::INT32);
        Stmt::new(StmtKind::Evaluate(call)).with_span(Span { line, column: 5 })
    };
    let found =
        unsupported(&build::module([plain("kernel", vec![], vec![call(3), call(4)])]), &Plain::default());
    assert_eq!(found[0].span, Span { line: 3, column: 5 }, "{found:#?}");
}

/// Names of functions that others call are kept to the letter, or refused.
#[test]
fn llvm_v10_symbols_are_checked() {
    for (name, is_fine) in
        [("__tvm_ffi_f", true), ("cd.x", false), ("llvm.x", false), ("a b", false), ("", false)]
    {
        let mut f = plain("f", vec![], vec![]);
        f.params = [DType::HANDLE, DType::HANDLE, DType::INT32, DType::HANDLE]
            .map(|dtype| Param::Var(Var::new("x", dtype)))
            .to_vec();
        f.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(1));
        f.attrs.insert(attr::GLOBAL_SYMBOL.into(), AttrValue::Str(name.into()));
        let found = unsupported(&build::module([f]), &Plain::default());
        assert_eq!(found.is_empty(), is_fine, "{name}: {found:#?}");
    }
}
