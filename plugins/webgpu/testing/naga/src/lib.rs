//! Checks WGSL with independent implementations: naga parses, validates and translates it, a
//! browser compiles and runs it.

pub mod browser;

use naga::back::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Parses, validates and translates a text to SPIR-V, with pipeline constants set to 64.
///
/// # Errors
///
/// The message of naga, with the position.
pub fn check(source: &str) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    let capabilities = Capabilities::SHADER_FLOAT16 | Capabilities::SUBGROUP;
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    let info = validator.validate(&module).map_err(|error| error.emit_to_string(source))?;
    for entry in &module.entry_points {
        let constants = module
            .overrides
            .iter()
            .filter_map(|(_, constant)| Some((constant.name.clone()?, 64.0)))
            .collect();
        let stage = Some((naga::ShaderStage::Compute, entry.name.as_str()));
        let (module, info) =
            naga::back::pipeline_constants::process_overrides(&module, &info, stage, &constants)
                .map_err(|error| format!("{}: {error}", entry.name))?;
        let pipeline = spv::PipelineOptions {
            shader_stage: naga::ShaderStage::Compute,
            entry_point: entry.name.clone(),
        };
        let mut options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
        options.flags.remove(spv::WriterFlags::ADJUST_COORDINATE_SPACE);
        let words = spv::write_vec(&module, &info, &options, Some(&pipeline))
            .map_err(|error| format!("{}: {error}", entry.name))?;
        if words.first() != Some(&0x0723_0203) {
            return Err(format!("{}: no SPIR-V came out", entry.name));
        }
    }
    Ok(())
}
