//! Device functions apart from host functions.

use chipdock_ir::{IrModule, TargetFacts};

use crate::PassError;
use crate::walk::any_stmt;

/// Takes the kernels out of a module: their functions, and the host functions that launch them.
///
/// For a host target there is nothing to take out: the module is the host's. Kernels bound to threads are refused for
/// now, by name.
///
/// # Before and after
///
/// The module is unchanged.
///
/// # Requires / # Ensures
///
/// Requires what `verify_memory` ensures. No function of the module has a thread axis.
///
/// # Errors
///
/// The target's: a kernel bound to threads, which no part of this version can launch yet.
pub fn split_host_device(module: &IrModule, facts: &TargetFacts) -> Result<IrModule, PassError> {
    for function in &module.functions {
        let bound = any_stmt(&function.body, &mut |kind| {
            use chipdock_ir::{ForKind, StmtKind};
            matches!(
                kind,
                StmtKind::LaunchThread { .. } | StmtKind::For { kind: ForKind::ThreadBinding(_), .. }
            )
        });
        if bound || !facts.is_host {
            return Err(PassError::target(
                "split_host_device",
                &function.name,
                format!(
                    "device functions are not supported yet: {} cannot be built for target \"{}\"; build it for a \
                     host target",
                    function.name, facts.target.kind
                ),
            ));
        }
    }
    Ok(module.clone())
}
