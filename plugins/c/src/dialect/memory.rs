//! Declarations of memory.

use chipdock_codegen_source::c_family::CFamily as _;
use chipdock_codegen_source::{Allocation, Answer, Refusal};

use super::CDialect;

/// Maximum size in bytes of one buffer on the stack.
const STACK_SIZE_BYTES_MAX: i128 = 64 * 1024;

/// The declaration of a buffer on the stack.
pub(super) fn allocation(dialect: &CDialect, allocation: &Allocation<'_>) -> Answer<String> {
    let Allocation { name, buffer, count, .. } = *allocation;
    dialect.space(&buffer.scope)?;
    let element = dialect.memory_type(buffer.dtype.scalar())?;
    let size_bytes = count.saturating_mul(buffer.dtype.lane_size_bytes() as i128);
    if size_bytes > STACK_SIZE_BYTES_MAX {
        return Err(Refusal::new(format!(
            "buffer {name} takes {size_bytes} bytes of stack, at most {STACK_SIZE_BYTES_MAX} are supported; lower it to \
             workspace"
        )));
    }
    // Aligned to help the compiler: no load or store relies on it.
    let alignment = buffer.data_alignment_bytes.clamp(if size_bytes >= 64 { 64 } else { 1 }, 4096);
    let aligned = if alignment > 1 && alignment.is_power_of_two() {
        format!("aligned({alignment}), ")
    } else {
        String::new()
    };
    Ok(format!("{element} {name}[{count}] __attribute__(({aligned}unused));"))
}
