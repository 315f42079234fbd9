//! `target.build.vulkan`: a module at stage `device` to SPIR-V; [`artifact`](crate::artifact)
//! describes the result.

use chipdock_ir::{Diagnostic, IrModule, Stage, Target};
use chipdock_plugin_api::lowered::{self, LoweredRequest};
use chipdock_plugin_api::source::SOURCE;
use chipdock_plugin_api::{BuildRequest, BuildSession, Codegen, Error, HostRef, SectionKind, kernel};
use serde_json::{Value, json};

use crate::artifact::{CODE, FORMAT, KIND, digest};
use crate::spirv::{Environment, Spirv, unsupported, write_module};
use crate::validator::{VALIDATOR, validate};

/// The code generator of target `vulkan`.
#[derive(Clone, Copy)]
pub(crate) struct VulkanCodegen {
    pub(crate) host: HostRef,
}

/// The words as bytes, little-endian.
fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The index of an artifact.
fn index(module: &IrModule, spirv: &Spirv, bytes: &[u8]) -> Value {
    let functions = module.functions.iter().filter_map(|function| {
        let (symbol, interface) = spirv.kernels.get(&function.name)?;
        let mut entry = kernel::describe(symbol, function);
        entry["options"] = json!(interface);
        Some(entry)
    });
    json!({
        "module_kind": KIND,
        "format": FORMAT,
        "functions": functions.collect::<Vec<_>>(),
        "options": { "needs": spirv.needs, "spv_sha256": digest(bytes) },
    })
}

/// Builds a module for a target; the same input gives the same words.
pub(crate) fn build(
    module: &IrModule,
    target: &Target,
    file: Option<&str>,
) -> Result<(Value, Spirv), Vec<Diagnostic>> {
    let spirv = write_module(module, &Environment::of(target), file)?;
    Ok((index(module, &spirv, &bytes_of(&spirv.words)), spirv))
}

impl VulkanCodegen {
    fn read(request: &BuildRequest<'_>) -> Result<LoweredRequest, Error> {
        LoweredRequest::read(request, KIND, Stage::Device)
    }

    fn validator(&self) -> Result<Option<String>, Error> {
        Ok(self.host.setting(&VALIDATOR)?.filter(|program| !program.is_empty()))
    }
}

impl Codegen for VulkanCodegen {
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = Self::read(request)?;
        let diagnostics = unsupported(&read.module, &Environment::of(&read.target));
        lowered::report(&diagnostics, session)
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = Self::read(request)?;
        if session.is_cancelled() {
            return Err(lowered::cancelled(KIND));
        }
        let mut file = read.debug_file(KIND)?;
        if read.target.bool("debug_info") == Some(true) {
            file = file.or_else(|| Some(read.file.as_deref().unwrap_or("<kernel>").to_owned()));
        }
        match build(&read.module, &read.target, file.as_deref()) {
            Ok((index, spirv)) => {
                if let Some(program) = self.validator()? {
                    validate(&program, &bytes_of(&spirv.words), &spirv.needs)?;
                }
                session.section(SOURCE, SectionKind::Source, 1, spirv.text.as_bytes())?;
                session.section(CODE, SectionKind::Code, 4, &bytes_of(&spirv.words))?;
                session.index(&index.to_string())
            }
            Err(diagnostics) => {
                lowered::report(&diagnostics, session)?;
                Err(lowered::unsupported(&diagnostics))
            }
        }
    }

    fn fingerprint(&self, _: &BuildRequest<'_>) -> Result<Option<String>, Error> {
        let own = lowered::fingerprint(KIND, env!("CARGO_PKG_VERSION"));
        Ok(Some(
            self.validator()?.map_or_else(|| own.clone(), |program| format!("{own}, checked by {program}")),
        ))
    }
}
