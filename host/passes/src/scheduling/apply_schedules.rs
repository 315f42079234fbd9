//! Schedules that functions carry as an attribute.

use chipdock_ir::{AttrValue, IrModule, TargetCapabilities, attr};

use crate::PassError;
use crate::scheduling::schedule::from_attribute;
use crate::walk::try_map_functions;

/// Applies the schedule that a function carries as the attribute
/// [`crate::scheduling::schedule::ATTRIBUTE`].
///
/// On hosts, [`default_schedule`](crate::default_schedule) leaves such a function as it is; on
/// targets with threads, it binds the loops that the schedule has left unbound.
///
/// ```text
/// T.func_attr({"chipdock.schedule": [
///     'b = sch.get_sblock("B")',
///     'i, = sch.get_loops(b)',                  for i_0 in range(16):
///     'i_0, i_1 = sch.split(i, [None, 16])',        for i_1 in T.vectorized(16):
///     'sch.vectorize(i_1)',              ->             with T.sblock("B"):
/// ]})                                                       vi = T.axis.spatial(256, i_0 * 16 + i_1)
/// for i in range(256):                                      B[vi] = A[vi] * T.float32(2)
///     with T.sblock("B"):
///         vi = T.axis.spatial(256, i)
///         B[vi] = A[vi] * T.float32(2)
/// ```
///
/// # Requires / # Ensures
///
/// Requires a valid module. No function has the attribute afterwards; those that had it have
/// `chipdock.scheduled`.
///
/// # Errors
///
/// The caller's: the attribute is no trace, or a step is refused; the message has the number of the
/// step and the condition that does not hold.
pub fn apply_schedules(module: &IrModule, _: &TargetCapabilities) -> Result<IrModule, PassError> {
    try_map_functions(module, |function| match from_attribute(function) {
        Ok(None) => Ok(function.clone()),
        Ok(Some(mut scheduled)) => {
            scheduled.attrs.insert(attr::SCHEDULED.into(), AttrValue::Bool(true));
            Ok(scheduled)
        }
        Err(error) => Err(PassError::caller("apply_schedules", &function.name, error.to_string())),
    })
}
