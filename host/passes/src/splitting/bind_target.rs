//! Sets the target of each function.

use std::sync::Arc;

use chipdock_ir::{AttrValue, IrModule, PrimFunc, TargetCapabilities, attr};

use crate::PassError;
use crate::walk::try_map_functions;

/// Sets the attribute [`attr::TARGET`] of each function that has none.
///
/// # Before and after
///
/// ```text
/// T.func_attr({})    ->    T.func_attr({"target": T.target({"kind": ...})})
/// ```
///
/// # Requires / # Ensures
///
/// Requires nothing. Every function has a target, and it is the one that the module is lowered for.
///
/// # Errors
///
/// A function that already names another target: the caller's fault. A name with a `/` is that of a
/// tag: whoever lowers the function has found its target.
pub fn bind_target(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    try_map_functions(module, |function| {
        match function.attrs.get(attr::TARGET) {
            Some(AttrValue::Target(target))
                if *target != capabilities.target
                    && target.kind != capabilities.target.kind
                    && !target.kind.contains('/') =>
            {
                return Err(PassError::caller(
                    "bind_target",
                    &function.name,
                    format!(
                        "expected a function for target \"{}\", found one that names target \"{}\"; remove the \
                         attribute or build for that target",
                        capabilities.target.kind, target.kind
                    ),
                ));
            }
            _ => {}
        }
        let mut attrs = function.attrs.clone();
        attrs.insert(attr::TARGET.into(), AttrValue::Target(Arc::clone(&capabilities.target)));
        Ok(PrimFunc { attrs, ..function.clone() })
    })
}
