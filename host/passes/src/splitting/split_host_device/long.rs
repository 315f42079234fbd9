//! Buffers that reach beyond the indices of a device without integers of 64 bits.

use chipdock_ir::{Buffer, DType, PrimFunc, Stmt, StorageRank, TargetCapabilities};

use super::PASS;
use crate::PassError;
use crate::reach;
use crate::simplify::Ranges;
use crate::types::lower_int64::is_wide;

/// The check with which a host function fails if a flat buffer, its offset and lanes included, has
/// more elements than the device has indices; none where it has enough of them.
///
/// # Errors
///
/// The target's: the size is constant, and too large.
pub(super) fn check(
    buffer: &Buffer,
    function: &PrimFunc,
    capabilities: &TargetCapabilities,
) -> Result<Option<Stmt>, PassError> {
    let is_global = buffer.scope.rank == StorageRank::Global;
    let has_long = capabilities.types.has(DType::INT64) && capabilities.types.has(DType::UINT64);
    let [extent] = buffer.shape.as_slice() else { return Ok(None) };
    if has_long || !is_global {
        return Ok(None);
    }
    // An integer of 64 bits is two elements there.
    let parts = i128::from(buffer.dtype.lanes) * if is_wide(buffer.dtype) { 2 } else { 1 };
    let most = i128::from(i32::MAX) / parts;
    let known = reach::elements_max(buffer, &Ranges::new());
    if known.is_some_and(|known| known / i128::from(buffer.dtype.lanes) <= most) {
        return Ok(None);
    }
    let expected = format!("expected at most {most} elements of buffer {}, its offset included", buffer.name);
    let option = capabilities.options.of_type(DType::INT64);
    let set = option.map_or_else(String::new, |option| format!(" (option \"{option}\")"));
    let advice = format!(
        "the indices of target \"{}\" have 32 bits; use smaller buffers, or a target that has int64{set}",
        capabilities.target.kind
    );
    let size = || extent.clone().cast(DType::INT64);
    let check = reach::at_most(most, &function.name, [&expected, &advice], extent.as_int(), size);
    check.map_err(|message| PassError::target(PASS, &function.name, message))
}
