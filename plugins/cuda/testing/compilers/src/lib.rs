//! Tests of target `cuda` with NVIDIA's own compiler and assembler, through `dlopen` as for a user,
//! on machines without an NVIDIA GPU. The wheels with both are in the folder `CHIPDOCK_CUDA_WHEELS`
//! (`cargo xtask wheels`); without them each test reports that it was skipped, unless
//! `CHIPDOCK_TEST_SETUP=done` requires them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use chipdock_host::artifact::Artifact;
use chipdock_host::{CompileOptions, Error, Host, HostOptions};
use chipdock_ir::IrModule;
use serde_json::json;

/// The architectures for which everything must compile.
pub const ARCHS: &[&str] = &["sm_75", "sm_80", "sm_90"];

/// Creates a host with the built plugins.
///
/// # Panics
///
/// If it cannot be created.
#[must_use]
pub fn host() -> Host {
    let plugins = chipdock_test_support::command::built().plugins.clone();
    let options = HostOptions { plugin_paths: vec![plugins], ..HostOptions::isolated() };
    Host::new(options).unwrap_or_else(|error| panic!("{error}"))
}

/// Compiles a module for an architecture to a format; returns the artifacts of its kernels.
///
/// # Errors
///
/// Any error of [`Host::compile`].
///
/// # Panics
///
/// If there is no such target.
pub fn compiled(
    host: &Host,
    module: &IrModule,
    arch: &str,
    format: &str,
) -> Result<Vec<Arc<Artifact>>, Error> {
    compiled_by(host, module, arch, format, if format == "cuda" { "none" } else { "nvrtc" })
}

/// Like [`compiled`], with the compiler of that name.
///
/// # Errors
///
/// Any error of [`Host::compile`].
///
/// # Panics
///
/// If there is no such target.
pub fn compiled_by(
    host: &Host,
    module: &IrModule,
    arch: &str,
    format: &str,
    compiler: &str,
) -> Result<Vec<Arc<Artifact>>, Error> {
    let target = json!({ "kind": "cuda", "arch": arch, "format": format, "compiler": compiler });
    let target = host.target(target.to_string()).unwrap_or_else(|error| panic!("{error}"));
    let compiled = host.compile(module, &target, &CompileOptions::default())?;
    let kernels = |artifact: &Arc<Artifact>| artifact.index().module_kind == "cuda";
    let artifact = Arc::clone(&compiled.artifact);
    let all = artifact.imports().iter().cloned().chain([Arc::clone(&artifact)]);
    Ok(all.filter(kernels).collect())
}

/// Returns true if there is an NVRTC; otherwise reports that `what` is skipped.
///
/// # Panics
///
/// If an NVRTC is required and missing.
#[must_use]
pub fn has_compiler(what: &str) -> bool {
    let found = wheels().is_some();
    if !found {
        chipdock_test_support::setup::missing(&format!(
            "{what}: CHIPDOCK_CUDA_WHEELS names no folder with NVIDIA's wheels"
        ));
    }
    found
}

/// The program nvcc of the wheels.
#[must_use]
pub fn nvcc() -> Option<PathBuf> {
    wheels().map(|folder| folder.join("nvidia/cu13/bin/nvcc"))
}

fn wheels() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("CHIPDOCK_CUDA_WHEELS")?);
    folder.join("nvidia/cu13/lib/libnvrtc.so.13").exists().then_some(folder)
}

/// Compiles a module to PTX for each architecture, and assembles the PTX; returns the number of its
/// kernels.
///
/// # Errors
///
/// The message of the pass, dialect, compiler or assembler that failed.
pub fn check(host: &Host, module: &IrModule) -> Result<usize, String> {
    let mut kernels = 0;
    for arch in ARCHS {
        let artifacts = compiled(host, module, arch, "ptx").map_err(|error| {
            let all: Vec<String> = error.diagnostics().iter().map(ToString::to_string).collect();
            format!("{error} {}", all.join("; "))
        })?;
        kernels = artifacts.iter().map(|artifact| artifact.index().functions.len()).sum();
        for artifact in &artifacts {
            let code = artifact.section("code").ok_or("an artifact without code")?;
            assemble(arch, code.data())?;
        }
    }
    Ok(kernels)
}

/// Assembles PTX with ptxas.
///
/// # Errors
///
/// The message of ptxas.
pub fn assemble(arch: &str, ptx: &[u8]) -> Result<(), String> {
    let ptxas = wheels().map(|folder| folder.join("nvidia/cu13/bin/ptxas")).ok_or("no wheels")?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path: &Path = &folder.path().join("kernels.ptx");
    std::fs::write(path, ptx).map_err(|error| error.to_string())?;
    let mut command = Command::new(ptxas);
    command.arg(format!("-arch={arch}")).arg(path).arg("-o").arg(folder.path().join("kernels.cubin"));
    let output = command.output().map_err(|error| format!("ptxas: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("ptxas for {arch}: {}", String::from_utf8_lossy(&output.stderr)))
}
