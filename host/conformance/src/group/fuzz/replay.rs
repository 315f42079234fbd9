//! Replays a file written by the fuzzer in this process, so that a debugger can follow it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chipdock_programs::Case as Program;
use chipdock_raw_host::Plugin;

use super::attempt::attempt;
use crate::context::Shared;
use crate::{Context, Facts, Subject, Verdict, hosts};

/// Result of a program on one target kind.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Name of the target kind.
    pub kind: String,
    /// Verdict on the program.
    pub verdict: Verdict,
    /// Reason why the program was built but not run, if so.
    pub not_run: Option<String>,
}

/// Runs the program of a file on each target kind for which the plugin has a code generator.
///
/// # Errors
///
/// The file cannot be read, or the plugin cannot be used.
pub fn replay(
    library: &Path,
    companions: &[PathBuf],
    trust: &[PathBuf],
    file: &Path,
) -> Result<Vec<Replayed>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let module =
        chipdock_script::parse(&text, &file.to_string_lossy()).map_err(|errors| errors.to_string())?;
    let program = Program::of_file(&text, module).map_err(|error| format!("{}: {error}", file.display()))?;
    let library = std::path::absolute(library).map_err(|error| format!("{}: {error}", library.display()))?;
    let refused = |error: chipdock_raw_host::OpenError| format!("{}: {}", error.clause, error.message);
    let facts = Facts::gather(&Plugin::open(&library, hosts::host()).map_err(refused)?).map_err(refused)?;
    let kinds: Vec<String> = facts.registrations(Subject::Codegen).map(str::to_owned).collect();
    if kinds.is_empty() {
        return Err(format!("plugin {} has no code generator", facts.name));
    }
    let own = Permissions::from_mode(0o700);
    let scratch = tempfile::Builder::new().permissions(own).tempdir().map_err(|error| error.to_string())?;
    let shared = Shared::new(&library, facts, companions, trust, scratch.path());
    let one = |kind: String| {
        let context = Context::new(&shared, &kind);
        let verdict = attempt(&context, &program).map_err(|failed| failed.stop);
        let not_run = context.take_not_run();
        Replayed { kind, verdict, not_run }
    };
    Ok(kinds.into_iter().map(one).collect())
}
