//! Helpers that build and load as a host does, without a host.

use core::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chipdock_ir::{DType, IrModule, Target, build, wire};
use chipdock_passes::{LowerOptions, lower};
use chipdock_plugin_api::abi::{
    ChipdockArtifact, ChipdockBuildSession, ChipdockDiagnostic, ChipdockInterface, ChipdockSection,
    ChipdockStr,
};
use chipdock_plugin_api::text::str_out;
use chipdock_plugin_api::{
    Artifact, BuildRequest, BuildSession, Codegen as _, Env, Error, HostRef, Module, ModuleLoader as _,
};
use serde_json::{Value, json};

use super::kinds::{canonical, schema};
use crate::codegen::LlvmCodegen;
use crate::loader::LlvmLoader;

/// What a build delivered.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Built {
    pub(super) index: Value,
    /// Name, kind, bytes.
    pub(super) sections: Vec<(String, String, Vec<u8>)>,
    /// Severity and message.
    pub(super) diagnostics: Vec<(i32, String)>,
}

struct Collector {
    built: Built,
    cancelled: AtomicBool,
}

fn text(text: ChipdockStr) -> String {
    if text.size == 0 {
        return String::new();
    }
    // SAFETY: texts of a session's call are live for it.
    let bytes = unsafe { core::slice::from_raw_parts(text.data.cast::<u8>(), text.size) };
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// # Safety
///
/// * `self_` is a collector that this thread alone uses.
unsafe fn collector<'a>(self_: *mut c_void) -> &'a mut Collector {
    // SAFETY: `self_` is a collector that only this thread uses, as this function requires.
    unsafe { &mut *self_.cast::<Collector>() }
}

unsafe extern "C" fn index(self_: *mut c_void, json: ChipdockStr) -> i32 {
    // SAFETY: the `self_` of the session.
    unsafe { collector(self_) }.built.index = serde_json::from_str(&text(json)).unwrap();
    0
}

unsafe extern "C" fn section(
    self_: *mut c_void,
    name: ChipdockStr,
    kind: ChipdockStr,
    _: u64,
    data: *const c_void,
    size_bytes: u64,
) -> i32 {
    // SAFETY: as many bytes as it says.
    let bytes = unsafe { core::slice::from_raw_parts(data.cast::<u8>(), size_bytes as usize) };
    // SAFETY: the `self_` of the session.
    unsafe { collector(self_) }.built.sections.push((text(name), text(kind), bytes.to_vec()));
    0
}

unsafe extern "C" fn diagnostic(self_: *mut c_void, given: *const ChipdockDiagnostic) -> i32 {
    // SAFETY: a diagnostic that lives for the call.
    let given = unsafe { &*given };
    // SAFETY: the `self_` of the session.
    unsafe { collector(self_) }.built.diagnostics.push((given.severity, text(given.message)));
    0
}

/// A session without interfaces.
unsafe extern "C" fn query(
    _self: *mut c_void,
    _name: ChipdockStr,
    _version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: P3.12, a place to write to.
    unsafe { out_interface.write(ChipdockInterface::NONE) };
    0
}

unsafe extern "C" fn is_cancelled(self_: *mut c_void) -> i32 {
    // SAFETY: the `self_` of the session.
    i32::from(unsafe { collector(self_) }.cancelled.load(Ordering::Relaxed))
}

/// `C = A + B`, of any length.
pub(super) fn add() -> IrModule {
    let mut f = build::function("add");
    let n = f.size("n");
    let a = f.buffer("A", &n, DType::FLOAT32);
    let b = f.buffer("B", &n, DType::FLOAT32);
    let c = f.buffer("C", &n, DType::FLOAT32);
    f.grid(["i"], &n, |f, [i]| f.store(&c, &i, a.at(&i) + b.at(&i)));
    build::module([f.finish()])
}

/// A request's module, as the host writes it.
pub(super) fn written(module: &IrModule, target: &Target, file: Option<&str>) -> String {
    let capabilities = Arc::new(schema().capabilities(&Arc::new(target.clone()), 1));
    let lowered = lower(module, &LowerOptions::new(capabilities)).unwrap().module;
    let options = wire::WriteOptions { positions: file.is_some(), file, ..wire::WriteOptions::default() };
    wire::write_with(&lowered, &options).unwrap()
}

/// Builds; `cancelled` is what the session answers. Whether it is asked before what is unsupported
/// changes nothing (C.28).
pub(super) fn request(ir: &str, target: &Target, options: &str, cancelled: bool) -> Result<Built, Error> {
    let target_json = target.to_json().to_string();
    let request = BuildRequest::new(ir, &target_json, options);
    let codegen = LlvmCodegen::new(HostRef::standalone());
    let asked = in_session(cancelled, |session| {
        codegen.unsupported(&request, session)?;
        codegen.build(&request, session)
    });
    let unasked = in_session(cancelled, |session| codegen.build(&request, session));
    let outcome = |built: &Result<Built, Error>| built.clone().map_err(|error| error.to_string());
    assert_eq!(outcome(&asked), outcome(&unasked));
    asked
}

fn in_session(
    cancelled: bool,
    work: impl FnOnce(&BuildSession<'_>) -> Result<(), Error>,
) -> Result<Built, Error> {
    let mut collector = Collector { built: Built::default(), cancelled: AtomicBool::new(cancelled) };
    let raw = ChipdockBuildSession {
        self_: (&raw mut collector).cast(),
        index,
        section,
        diagnostic,
        is_cancelled,
        query,
    };
    // SAFETY: the functions above, with the `self_` that they expect.
    let session = unsafe { BuildSession::new(HostRef::standalone(), &raw) };
    work(&session)?;
    Ok(collector.built)
}

/// Builds for target options.
pub(super) fn built(module: &IrModule, target: Value, options: &Value) -> Built {
    let target = canonical(target);
    request(&written(module, &target, None), &target, &options.to_string(), false).unwrap()
}

impl Built {
    pub(super) fn section(&self, name: &str) -> Option<&[u8]> {
        let found = self.sections.iter().find(|(known, _, _)| known == name)?;
        Some(&found.2)
    }

    pub(super) fn text(&self, name: &str) -> String {
        String::from_utf8(self.section(name).unwrap().to_vec()).unwrap()
    }

    /// Shows it to the loader as an artifact.
    pub(super) fn with<T>(&self, look: impl FnOnce(&Artifact<'_>) -> T) -> T {
        let index = self.index.to_string();
        let sections: Vec<ChipdockSection> = self
            .sections
            .iter()
            .map(|(name, kind, data)| ChipdockSection {
                name: str_out(name),
                kind: str_out(kind),
                alignment_bytes: 1,
                data: data.as_ptr().cast(),
                size_bytes: data.len() as u64,
            })
            .collect();
        let raw = ChipdockArtifact {
            index_json: str_out(&index),
            sections: sections.as_ptr(),
            sections_count: sections.len() as u64,
            next: core::ptr::null(),
        };
        // SAFETY: all that it points to lives for this call.
        look(&unsafe { Artifact::from_raw(&raw) }.unwrap())
    }

    pub(super) fn load(&self) -> Result<Box<dyn Module>, Error> {
        // SAFETY: no environment.
        let env = unsafe { Env::new(HostRef::standalone(), core::ptr::null()) };
        self.with(|artifact| LlvmLoader(HostRef::standalone()).load(artifact, env))
    }

    /// The same with one option of the index' machine changed.
    pub(super) fn made_for(&self, option: &str, value: &str) -> Self {
        let mut other = self.clone();
        other.index["options"][option] = json!(value);
        other
    }
}
