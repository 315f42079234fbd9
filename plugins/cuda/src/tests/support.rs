//! Helpers for NVIDIA's tools, and for building kernels.

use std::path::{Path, PathBuf};
use std::process::Command;

use chipdock_ir::{
    AttrValue, Buffer, DType, Expr, IrModule, Op, Param, PrimFunc, Stmt, StmtKind, StorageScope, Target,
    ThreadAxis, Var, attr, build,
};
use chipdock_plugin_api::{ErrorKind, HostRef};
use chipdock_test_support::setup::missing;
use serde_json::json;

use crate::compiler::{Choice, Format, Settings};

/// The architectures that everything has to compile for.
pub(super) const ARCHS: &[&str] = &["sm_75", "sm_80", "sm_90"];

/// The assembler, in the folder of NVIDIA's wheels or on PATH.
fn ptxas() -> Option<PathBuf> {
    let wheels = std::env::var_os("CHIPDOCK_CUDA_WHEELS")
        .map(|folder| Path::new(&folder).join("nvidia/cu13/bin/ptxas"));
    let found = wheels.filter(|path| path.exists()).unwrap_or_else(|| "ptxas".into());
    Command::new(&found).arg("--version").output().ok().map(|_| found)
}

/// NVRTC takes the text for each architecture, and what it makes of it the assembler; the PTX for
/// the first.
pub(super) fn compiles(name: &str, source: &str) -> Option<String> {
    let mut first = None;
    for arch in ARCHS {
        let options = json!({ "arch": arch });
        let settings = Settings::read(HostRef::standalone()).unwrap();
        let compiled =
            match crate::codegen::compile(&settings, source, &options, Format::Ptx, Choice::Nvrtc, &|_| ()) {
                Ok(compiled) => compiled,
                Err(error) if error.kind() == ErrorKind::UNAVAILABLE => {
                    missing(&format!("compiling {name}: {}", error.message()));
                    return None;
                }
                Err(error) => panic!("{name} for {arch}: {}\n{source}", error.message()),
            };
        assembles(name, arch, &compiled.code);
        first.get_or_insert_with(|| String::from_utf8(compiled.code).unwrap());
    }
    first
}

fn assembles(name: &str, arch: &str, ptx: &[u8]) {
    let Some(ptxas) = ptxas() else {
        return missing(&format!("assembling {name}: no ptxas in CHIPDOCK_CUDA_WHEELS or on PATH"));
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernels.ptx");
    std::fs::write(&path, ptx).unwrap();
    let mut command = Command::new(ptxas);
    command.arg(format!("-arch={arch}")).arg(&path).arg("-o").arg(folder.path().join("kernels.cubin"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{name} for {arch}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(super) fn target() -> Target {
    Target { kind: "cuda".into(), ..Target::default() }
}

pub(super) fn written(module: &IrModule) -> chipdock_plugin_api::source::Written {
    match crate::codegen::write(module, &target(), None) {
        Ok(written) => written,
        Err(diagnostics) => {
            let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            panic!("{}", all.join("\n"))
        }
    }
}

/// A kernel in the making: parameters, axes, body.
pub(super) struct Kernel {
    params: Vec<Var>,
    axes: Vec<(ThreadAxis, Var, Expr)>,
    tags: Vec<&'static str>,
    body: Vec<Stmt>,
}

impl Kernel {
    pub(super) fn new() -> Self {
        Self { params: Vec::new(), axes: Vec::new(), tags: Vec::new(), body: Vec::new() }
    }

    /// A buffer of 1024 elements behind a pointer.
    pub(super) fn buffer(&mut self, name: &str, dtype: DType) -> Buffer {
        let buffer = Buffer::new(name.to_owned(), vec![Expr::i32(1024)], dtype, StorageScope::GLOBAL);
        self.params.push(buffer.data.clone());
        self.body.push(Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data: None }));
        buffer
    }

    pub(super) fn scalar(&mut self, name: &str, dtype: DType) -> Expr {
        let var = Var::new(name.to_owned(), dtype);
        self.params.push(var.clone());
        var.expr()
    }

    pub(super) fn axis(&mut self, axis: ThreadAxis, extent: impl Into<Expr>) -> Expr {
        let var = Var::new(axis.name().replace('.', "_"), DType::INT32);
        self.axes.push((axis, var.clone(), extent.into()));
        var.expr()
    }

    pub(super) fn alloc(&mut self, name: &str, count: Expr, dtype: DType, scope: &str) -> Buffer {
        let buffer = Buffer::new(name.to_owned(), vec![count], dtype, StorageScope::parse(scope));
        self.push(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Default::default() });
        buffer
    }

    pub(super) fn push(&mut self, kind: StmtKind) {
        self.body.push(Stmt::new(kind));
    }

    pub(super) fn stmt(&mut self, stmt: Stmt) {
        self.body.push(stmt);
    }

    pub(super) fn store(&mut self, buffer: &Buffer, index: Expr, value: Expr) {
        self.body.push(Stmt::store(buffer, vec![index], value));
    }

    pub(super) fn evaluate(&mut self, op: Op, args: Vec<Expr>, dtype: DType) {
        self.push(StmtKind::Evaluate(Expr::call(op, args, dtype)));
    }

    pub(super) fn barrier(&mut self, scope: &str) {
        self.evaluate(Op::StorageSync, vec![Expr::str(scope.to_owned())], DType::HANDLE);
    }

    /// A launch parameter behind the axes.
    pub(super) fn tag(&mut self, tag: &'static str) {
        self.tags.push(tag);
    }

    pub(super) fn finish(self, name: &str) -> PrimFunc {
        let mut f = build::function(name.to_owned()).finish();
        f.params = self.params.into_iter().map(Param::Var).collect();
        let axes = self.axes.iter().map(|(axis, ..)| axis.name());
        let tags = axes.chain(self.tags).map(|tag| AttrValue::Str(tag.into())).collect();
        f.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(2));
        f.attrs.insert(attr::NOALIAS.into(), AttrValue::Bool(true));
        f.attrs.insert(attr::KERNEL_LAUNCH_PARAMS.into(), AttrValue::List(tags));
        f.s_tir = false;
        f.ret = None;
        let body = Stmt::seq(self.body);
        f.body = self.axes.into_iter().rev().fold(body, |body, (axis, var, extent)| {
            Stmt::new(StmtKind::LaunchThread { var, axis, extent, body })
        });
        f
    }
}
