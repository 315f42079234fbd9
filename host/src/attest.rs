//! The layout check (rule P4): the types of the frozen tables, as the plugin was compiled, against ours.

use abi_stable::library::{
    AbiHeaderRef, LibHeader, LibraryError, ROOT_MODULE_LOADER_NAME_WITH_NUL, RootModule,
};
use chipdock_plugin_api::attestation::PluginRootRef;
use libloading::os::unix::Library;

use crate::problem::{Problem, ProblemKind};

/// Compares the type layouts that a library carries with ours; `false` when it carries none.
pub(crate) fn check(library: &Library) -> Result<bool, Problem> {
    // SAFETY: a symbol of this name is abi_stable's header, which begins with a magic string that `upgrade` checks.
    let header = unsafe { library.get::<AbiHeaderRef>(ROOT_MODULE_LOADER_NAME_WITH_NUL.as_bytes()) };
    let Ok(header) = header else { return Ok(false) };
    let header = (*header).upgrade().map_err(|error| problem(&error))?;
    check_header::<PluginRootRef>(header).map(|()| true)
}

fn check_header<M: RootModule>(header: &'static LibHeader) -> Result<(), Problem> {
    if header.layout().is_none() {
        return Err(Problem::new(
            ProblemKind::OtherLayout,
            "its root module carries no type layouts to compare",
        ));
    }
    header.ensure_layout::<M>().map_err(|error| problem(&error))
}

fn problem(error: &LibraryError) -> Problem {
    let message = match error {
        LibraryError::AbiInstability(report) => {
            format!("built with other type layouts: {}", one_line(&report.to_string()))
        }
        LibraryError::InvalidAbiHeader(_) => {
            "its layouts were written by another abi_stable than the host's".to_owned()
        }
        _ => format!("its type layouts cannot be compared: {}", one_line(&error.to_string())),
    };
    Problem::new(ProblemKind::OtherLayout, message + "; rebuild it against this ABI")
}

/// The first difference of a report that runs to hundreds of lines.
fn one_line(report: &str) -> String {
    report.to_owned()
}
