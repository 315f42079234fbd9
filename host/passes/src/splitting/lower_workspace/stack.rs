//! The buffers of a function that are on the stack.

use std::collections::HashSet;

use chipdock_ir::limits::{STACK_LOCAL_BYTES_MAX, STACK_SIZE_BYTES_MAX, STACK_TOTAL_BYTES_MAX};
use chipdock_ir::{Attrs, Buffer, Child, PrimFunc, Stmt, StmtKind, StorageScope, Var, attr};

use super::PASS;
use crate::{PassError, WORKSPACE_LIVE_MAX};

/// Granularity of the size of each buffer, because of its alignment.
const STEP_BYTES: i128 = 16;

/// The buffers of a function that are not on the stack, by their data variables.
pub(super) struct Stack {
    workspace: HashSet<Var>,
    /// Maximum number of such buffers that are live at once.
    most_live: usize,
}

impl Stack {
    /// Assigns the stack to buffers in order of allocation.
    pub(super) fn of(body: &Stmt) -> Self {
        let (mut workspace, mut used_bytes) = (HashSet::new(), 0_i128);
        body.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            let StmtKind::AllocBuffer { buffer, annotations } = &stmt.kind else { return };
            let room = STACK_TOTAL_BYTES_MAX - used_bytes;
            let most = if buffer.scope == StorageScope::LOCAL {
                STACK_LOCAL_BYTES_MAX
            } else {
                STACK_SIZE_BYTES_MAX
            };
            match size_bytes(buffer, annotations).filter(|size| *size <= most.min(room)) {
                Some(size) => used_bytes += size,
                None => drop(workspace.insert(buffer.data.clone())),
            }
        });
        let most_live = if workspace.is_empty() { 0 } else { most_live(body, &workspace) };
        Self { workspace, most_live }
    }

    pub(super) fn holds_all(&self) -> bool {
        self.workspace.is_empty()
    }

    pub(super) fn holds(&self, buffer: &Buffer) -> bool {
        !self.workspace.contains(&buffer.data)
    }

    /// Rejects a function whose code would grow without bound.
    pub(super) fn check(&self, function: &PrimFunc) -> Result<(), PassError> {
        if self.most_live <= WORKSPACE_LIVE_MAX {
            return Ok(());
        }
        let message = format!(
            "{} buffers are workspace at once; expected at most {WORKSPACE_LIVE_MAX} (a buffer is workspace where it has \
             more than {STACK_SIZE_BYTES_MAX} bytes, {STACK_LOCAL_BYTES_MAX} in scope \"local\", or no constant size, or where those before it take \
             {STACK_TOTAL_BYTES_MAX} bytes of stack): make one buffer of several, or split the function",
            self.most_live
        );
        // The computation of a function is reported under the name that the caller gave it.
        let name = function.name.strip_suffix("_compute_").unwrap_or(&function.name);
        Err(PassError::caller(PASS, &name.into(), message))
    }
}

/// Size in bytes on a stack; `None` for a buffer that is never there.
fn size_bytes(buffer: &Buffer, annotations: &Attrs) -> Option<i128> {
    if annotations.contains_key(attr::DEVICE_MEMORY) {
        return None;
    }
    let size = buffer.constant_size()?.checked_mul(buffer.dtype.size_bytes() as i128)?;
    size.max(1).checked_add(STEP_BYTES - 1).map(|size| size / STEP_BYTES * STEP_BYTES)
}

fn most_live(stmt: &Stmt, workspace: &HashSet<Var>) -> usize {
    let (mut own, mut most) = (0, 0);
    if let StmtKind::AllocBuffer { buffer, .. } = &stmt.kind {
        most = usize::from(workspace.contains(&buffer.data));
    }
    stmt.for_each_child(&mut |child| {
        let Child::Stmt(child) = child else { return };
        most = most.max(own + most_live(child, workspace));
        if let StmtKind::AllocBuffer { buffer, .. } = &child.kind {
            own += usize::from(workspace.contains(&buffer.data));
        }
    });
    most
}
