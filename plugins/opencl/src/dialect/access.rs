//! Declarations of memory.

use chipdock_codegen_source::c_family::CFamily as _;
use chipdock_codegen_source::{Allocation, Answer, Prelude, Refusal};
use chipdock_ir::StorageRank;

use super::OpenClDialect;

/// The declaration of a buffer in local or private memory.
pub(super) fn allocation(
    dialect: &OpenClDialect,
    allocation: &Allocation<'_>,
    prelude: &mut Prelude,
) -> Answer<String> {
    let (name, buffer) = (allocation.name, allocation.buffer);
    let dtype = buffer.dtype.scalar();
    dialect.check(dtype, prelude)?;
    let element = dialect.memory_type(dtype)?;
    let space = match buffer.scope.rank {
        StorageRank::Global => {
            return Err(Refusal::new(format!(
                "buffer {name} is allocated in global memory; a kernel is given that by its caller"
            )));
        }
        _ if buffer.scope.is_dynamic_shared() => {
            return Err(Refusal::new(format!(
                "buffer {name} has dynamic shared memory outside of a kernel; only a launch tells its size"
            )));
        }
        _ => dialect.space(&buffer.scope)?,
    };
    // Atomic additions to halves use the word that contains them.
    let (count, aligned) = if allocation.uses.is_atomic && dtype.bits < 32 {
        (allocation.count.saturating_add(3) / 4 * 4, " __attribute__((aligned(4)))")
    } else {
        (allocation.count, "")
    };
    let space = if space == "__private" { String::new() } else { format!("{space} ") };
    Ok(format!("{space}{element} {name}[{count}]{aligned};"))
}
