//! Lowering, building, and naga's opinion.

use std::sync::Arc;

use chipdock_ir::{IrModule, Target, TargetKind};
use chipdock_passes::{LowerOptions, lower};
use naga::valid::{Capabilities, ValidationFlags, Validator};

use crate::codegen::{Built, build};

pub(super) fn kind() -> TargetKind {
    serde_json::from_str(include_str!("../target_kind.json")).unwrap()
}

/// The target with the options' defaults and these.
pub(super) fn target(options: &[(&str, serde_json::Value)]) -> Arc<Target> {
    let mut target = Target { kind: "webgpu".into(), ..Target::default() };
    for option in kind().options {
        target.options.extend(option.default.map(|value| (option.name, value)));
    }
    target.options.extend(options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Arc::new(target)
}

/// The device functions of a module that is lowered for the target.
pub(super) fn lowered(module: &IrModule, target: &Arc<Target>) -> Result<IrModule, String> {
    let facts = Arc::new(kind().facts(target, 15));
    let lowered = lower(module, &LowerOptions::new(facts)).map_err(|error| error.to_string())?;
    Ok(lowered.device.unwrap_or(lowered.module))
}

pub(super) fn built(module: &IrModule, target: &Target) -> Built {
    build(module, target).unwrap_or_else(|diagnostics| {
        let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        panic!("{}", all.join("\n"))
    })
}

/// What naga says of a text; its message shows the place.
pub(super) fn validate(source: &str) -> Result<naga::Module, String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    let capabilities = Capabilities::SHADER_FLOAT16 | Capabilities::SUBGROUP;
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    validator.validate(&module).map_err(|error| error.emit_to_string(source))?;
    Ok(module)
}
