//! Kernels written by hand, and compilation of their text by clang.

use std::io::Write as _;
use std::process::{Command, Stdio};

use chipdock_ir::{
    AttrValue, Buffer, DType, Expr, IrModule, Op, Param, PrimFunc, Stmt, StmtKind, StorageScope, ThreadAxis,
    Var, attr, build,
};

use crate::dialect::{Features, OpenClDialect};

pub(super) const ALL: OpenClDialect = OpenClDialect {
    features: Features {
        has_float64: true,
        has_int64_atomics: true,
        has_subgroups: true,
        divides: true,
        is_fast: false,
        warp_size: 32,
    },
};

/// A pointer parameter and a view of it.
pub(super) fn pointer(name: &str, element: DType) -> (Var, Buffer) {
    let buffer = Buffer::new(name.to_owned(), vec![Expr::i32(1024)], element, StorageScope::GLOBAL);
    (buffer.data.clone(), buffer)
}

pub(super) fn evaluate(value: Expr) -> Stmt {
    Stmt::new(StmtKind::Evaluate(value))
}

pub(super) fn bind(var: &Var, value: Expr) -> Stmt {
    Stmt::new(StmtKind::Bind { var: var.clone(), value })
}

pub(super) fn alloc(buffer: &Buffer) -> Stmt {
    Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Default::default() })
}

pub(super) fn declare(buffer: &Buffer) -> Stmt {
    Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data: None })
}

pub(super) fn barrier(scope: &str) -> Stmt {
    evaluate(Expr::call(Op::StorageSync, vec![Expr::str(scope.to_owned())], DType::HANDLE))
}

pub(super) fn launch(var: &Var, axis: ThreadAxis, extent: Expr, body: Stmt) -> Stmt {
    Stmt::new(StmtKind::LaunchThread { var: var.clone(), axis, extent, body })
}

/// A device function; `launch_params` as its attribute has them.
pub(super) fn kernel(name: &str, params: Vec<Var>, launch_params: &[&str], body: Vec<Stmt>) -> PrimFunc {
    let mut f = build::function(name.to_owned()).finish();
    f.params = params.into_iter().map(Param::Var).collect();
    f.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(2));
    f.attrs.insert(attr::NOALIAS.into(), AttrValue::Bool(true));
    let texts = launch_params.iter().map(|text| AttrValue::Str((*text).into())).collect();
    f.attrs.insert(attr::KERNEL_LAUNCH_PARAMS.into(), AttrValue::List(texts));
    f.s_tir = false;
    f.body = Stmt::seq(body);
    f
}

/// A kernel of one block index `b` below an unknown number and one thread index `t` below 64.
pub(super) fn grid(name: &str, params: Vec<Var>, body: impl FnOnce(&Expr, &Expr) -> Vec<Stmt>) -> IrModule {
    let (b, t) = (Var::new("b", DType::INT32), Var::new("t", DType::INT32));
    let n = Var::new("n_blocks", DType::INT32);
    let body = Stmt::seq(body(&b.expr(), &t.expr()));
    let body = launch(&t, ThreadAxis::ThreadX, Expr::i32(64), body);
    let body = launch(&b, ThreadAxis::BlockX, n.expr(), body);
    let params = params.into_iter().chain([n]).collect();
    build::module([kernel(name, params, &["blockIdx.x", "threadIdx.x"], vec![body])])
}

/// clang takes the text as OpenCL C 1.2.
pub(super) fn compiles(name: &str, text: &str) {
    let Some(clang) = ["clang-19", "clang-15", "clang"].into_iter().find(|clang| is_there(clang)) else {
        return chipdock_test_support::setup::missing(&format!("{name}.cl as OpenCL C: no clang on PATH"));
    };
    let language = if text.contains("cl_khr_subgroups : enable") { "-cl-std=CL2.0" } else { "-cl-std=CL1.2" };
    let mut child = Command::new(clang)
        .args([
            "-x",
            "cl",
            language,
            "-Dcl_khr_subgroup_ballot",
            "-Dcl_khr_subgroup_shuffle",
            "-fsyntax-only",
        ])
        .args(["-Xclang", "-finclude-default-header"])
        .args(["-target", "spir64-unknown-unknown", "-Xclang", "-cl-ext=+all", "-Wall", "-Werror"])
        .args([
            "-Wno-unused-function",
            "-Wno-ignored-pragmas",
            "-Wno-unused-variable",
            "-Wno-pedantic-core-features",
            "-",
        ])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}:\n{}\n{text}", String::from_utf8_lossy(&output.stderr));
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
