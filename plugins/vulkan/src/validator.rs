//! A program that checks each module that the code generator writes, such as `spirv-val` of
//! SPIRV-Tools.
//!
//! # Rules
//!
//! * **VKVAL-1** The setting `validator` names the program, found on `PATH` or by its path. It is
//!   run as `PROGRAM --target-env ENVIRONMENT kernel.spv` in a folder of its own, with the
//!   environment that the module names.
//! * **VKVAL-2** A module that it refuses is not built: that is our bug, `InternalError` with the
//!   program's report. A program that cannot be started is `Unavailable`.
//! * **VKVAL-3** The fingerprint of a build names the program, so that what was built without it is
//!   not used in its place.

use std::ffi::OsStr;
use std::path::Path;

use chipdock_plugin_api::files::scratch::Scratch;
use chipdock_plugin_api::{Error, ErrorKind, Setting, bail, process};

use crate::artifact::Needs;

/// The program.
pub(crate) const VALIDATOR: Setting<String> = Setting::str(
    "validator",
    "The program that checks each module that is built, such as spirv-val; empty or not set, none. For tests.",
);

/// The package that has `spirv-val`.
const PACKAGE: &str = "spirv-tools";
const FILE: &str = "kernel.spv";

/// What SPIRV-Tools call the environment of a module.
fn environment(needs: &Needs) -> String {
    let ([_, api], [_, spirv]) = (needs.vulkan, needs.spirv);
    let suffix = if api == 1 && spirv == 4 { "spv1.4" } else { "" };
    format!("vulkan1.{}{suffix}", api.min(3))
}

/// Checks words with the program.
///
/// # Errors
///
/// By VKVAL-2; `IoError` if no folder can be written.
pub(crate) fn validate(program: &str, words: &[u8], needs: &Needs) -> Result<(), Error> {
    let io = |what: &Path, error: std::io::Error| {
        let why = format!("{}: {error}; let TMPDIR name a folder that can be written", what.display());
        Error::new(ErrorKind::IO, why)
    };
    let folder = Scratch::new("vulkan").map_err(|error| io(&process::temporary_folder(), error))?;
    folder.write(FILE, words).map_err(|error| io(&folder.path().join(FILE), error))?;
    let environment = environment(needs);
    let ended = match folder.run(OsStr::new(program), &["--target-env", &environment, FILE]) {
        Ok(ended) => ended,
        Err(error) => bail!(
            ErrorKind::UNAVAILABLE,
            "the setting `{}` names {program:?}, which cannot be started: {error}; on Debian and Ubuntu spirv-val is in `{PACKAGE}`",
            VALIDATOR.name()
        ),
    };
    if !ended.status.success() {
        let report = [ended.stderr, ended.stdout].concat();
        let report = String::from_utf8_lossy(&report).trim().to_owned();
        bail!(ErrorKind::INTERNAL, "{program} refuses the module for {environment}: {report}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(api: u32, spirv: u32) -> Needs {
        Needs { vulkan: [1, api], spirv: [1, spirv], ..Needs::default() }
    }

    #[test]
    fn vkval_1_environments_are_called_as_by_the_tools() {
        for (api, spirv, name) in [
            (1, 3, "vulkan1.1"),
            (1, 4, "vulkan1.1spv1.4"),
            (2, 5, "vulkan1.2"),
            (3, 6, "vulkan1.3"),
            (4, 6, "vulkan1.3"),
        ] {
            assert_eq!(environment(&needs(api, spirv)), name);
        }
    }

    #[test]
    fn vkval_2_words_that_are_none_are_an_internal_error_with_the_report() {
        if std::process::Command::new("spirv-val").arg("--version").output().is_err() {
            return chipdock_test_support::setup::missing("spirv-val");
        }
        let error = validate("spirv-val", &[1, 2, 3, 4], &needs(1, 3)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::INTERNAL);
        assert!(error.message().contains("Invalid SPIR-V"), "{error}");
    }

    #[test]
    fn vkval_2_a_program_that_is_missing_is_unavailable() {
        let error = validate("/nonexistent/spirv-val", &[], &needs(1, 3)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UNAVAILABLE);
        assert!(error.message().contains("`validator`") && error.message().contains(PACKAGE), "{error}");
    }
}
