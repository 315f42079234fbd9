//! Workspace that a host whose pointers have 32 bits cannot address.

use std::collections::HashMap;

use chipdock_ir::{Buffer, Child, DType, Expr, PrimFunc, Stmt, StmtKind, TargetCapabilities, Var};

use super::PASS;
use super::stack::Stack;
use crate::PassError;
use crate::reach;

/// The checks with which a function fails before it asks for more workspace than there are
/// addresses, by data variable; none on a host of 64 bits.
///
/// # Errors
///
/// The target's: a size is constant, and too large.
pub(super) fn checks(
    function: &PrimFunc,
    stack: &Stack,
    capabilities: &TargetCapabilities,
) -> Result<HashMap<Var, Stmt>, PassError> {
    let (mut checks, mut refused) = (HashMap::new(), None);
    if capabilities.memory.pointer_bits != 32 {
        return Ok(checks);
    }
    function.body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        let StmtKind::AllocBuffer { buffer, .. } = &stmt.kind else { return };
        if stack.holds(buffer) {
            return;
        }
        match check(buffer, function, capabilities) {
            Ok(check) => drop(check.map(|check| checks.insert(buffer.data.clone(), check))),
            Err(error) => drop(refused.get_or_insert(error.at(stmt.span))),
        }
    });
    refused.map_or(Ok(checks), Err)
}

fn check(
    buffer: &Buffer,
    function: &PrimFunc,
    capabilities: &TargetCapabilities,
) -> Result<Option<Stmt>, PassError> {
    let most = i128::from(i32::MAX) / (buffer.dtype.size_bytes() as i128).max(1);
    let expected = format!("expected at most {most} elements of buffer {}", buffer.name);
    let advice = format!(
        "the pointers of target \"{}\" have 32 bits; use smaller buffers, or a target of 64 bits",
        capabilities.target.kind
    );
    // The computation of a function is reported under the name that the caller gave it.
    let name = function.name.strip_suffix("_compute_").unwrap_or(&function.name);
    let size = || {
        let one = Expr::int(1, DType::INT64);
        let size = buffer.shape.iter().fold(one, |size, extent| size * extent.clone().cast(DType::INT64));
        crate::simplify::expr(&size)
    };
    let check = reach::at_most(most, name, [&expected, &advice], buffer.constant_size(), size);
    check.map_err(|message| PassError::target(PASS, &name.into(), message))
}
