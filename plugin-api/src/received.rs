//! Values received over the boundary, checked before anything relies on them (V.1 to V.8).
//!
//! The checks find whether a value is consistent: a type index that a result may have, pointers
//! that are not null and aligned, a header of the same type that is alive, sizes within bounds,
//! text that is UTF-8, axes that describe a tensor. Nobody can check that a pointer that is not
//! null leads to memory of the stated size.

use core::mem::align_of;
use core::ptr::addr_of;

use chipdock_abi as abi;
use chipdock_abi::{
    ChipdockAny, ChipdockArrayObject, ChipdockByteArrayObject, ChipdockErrorObject, ChipdockFunctionObject,
    ChipdockObject, ChipdockShapeObject, ChipdockStr, ChipdockTensor, ChipdockTensorObject,
};

use crate::{Any, Error, ErrorKind};

/// The greatest number of axes of a tensor: numpy and torch have at most 64.
pub const AXES_MAX: i32 = 64;
/// The greatest size of a text or byte string: a larger one should be a tensor, or its size is
/// wrong.
pub const TEXT_BYTES_MAX: usize = 1 << 30;
/// The greatest number of values within one value: a million checks take some milliseconds, and
/// nested arrays that each hold another array twice would take for ever.
pub const VALUES_MAX: usize = 1 << 20;
/// The greatest depth of arrays within arrays and of errors with causes: each level takes stack,
/// and a cycle has no end.
pub const DEPTH_MAX: usize = 32;

impl Any {
    /// Takes over a value that somebody else made: the result of a call that succeeded. None costs
    /// one comparison.
    ///
    /// # Errors
    ///
    /// `BrokenPlugin` for an inconsistent value, or one that a result may not be (V.2); the message
    /// states why. The object is then released if its header can be trusted, and left alone
    /// otherwise.
    ///
    /// # Safety
    ///
    /// * The caller owns `raw` and gives it up.
    /// * Pointers in it that are neither null nor misaligned lead to memory of the stated size.
    #[inline]
    pub unsafe fn received(raw: ChipdockAny) -> Result<Self, Error> {
        if raw.type_index == abi::CHIPDOCK_TYPE_NONE {
            return Ok(Self::NONE);
        }
        // SAFETY: pointers in `raw` that are neither null nor misaligned lead to objects, as this
        // function requires.
        let found = unsafe { check_header(&raw) }.map_err(broken)?;
        // SAFETY: owned by the caller, and the header says that it can be released.
        let value = unsafe { Self::from_raw(raw) };
        if found {
            // SAFETY: the header was checked; the caller guarantees the rest.
            unsafe { check_content(&raw, &mut Budget::default(), 0) }.map_err(broken)?;
        }
        Ok(value)
    }
}

/// Checks a value without taking it over, as [`Any::received`] does.
///
/// # Errors
///
/// As for [`Any::received`]; nothing is released.
///
/// # Safety
///
/// * As for [`Any::received`], except for the ownership.
pub unsafe fn check_received(raw: &ChipdockAny) -> Result<(), Error> {
    // SAFETY: pointers in `raw` that are neither null nor misaligned lead to objects, as this
    // function requires.
    unsafe { check(raw, &mut Budget::default(), 0) }.map_err(broken)
}

fn broken(what: String) -> Error {
    Error::new(ErrorKind::BROKEN_PLUGIN, what)
}

/// The number of values that may still be checked.
struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(VALUES_MAX)
    }
}

impl Budget {
    fn take(&mut self, count: usize) -> Result<(), String> {
        self.0 = self
            .0
            .checked_sub(count)
            .ok_or_else(|| format!("a value that holds more than {VALUES_MAX} values"))?;
        Ok(())
    }
}

/// # Safety
///
/// As [`check_received`].
unsafe fn check(raw: &ChipdockAny, budget: &mut Budget, depth: usize) -> Result<(), String> {
    // SAFETY: pointers in `raw` that are neither null nor misaligned lead to objects, as this
    // function requires.
    unsafe {
        if check_header(raw)? {
            check_content(raw, budget, depth)?;
        }
    }
    Ok(())
}

/// Checks the type index and, of an object, the pointer and the header; returns true if there is
/// more to check.
///
/// # Safety
///
/// As [`check_received`].
unsafe fn check_header(raw: &ChipdockAny) -> Result<bool, String> {
    match raw.type_index {
        abi::CHIPDOCK_TYPE_NONE..=abi::CHIPDOCK_TYPE_DEVICE => return Ok(false),
        abi::CHIPDOCK_TYPE_SMALL_STR | abi::CHIPDOCK_TYPE_SMALL_BYTES => return Ok(true),
        abi::CHIPDOCK_TYPE_DLTENSOR_PTR..=abi::CHIPDOCK_TYPE_OBJECT_RVALUE_REF => {
            return Err(format!(
                "a value of type index {}, which is borrowed and occurs in arguments only (V.2)",
                raw.type_index
            ));
        }
        index if index < abi::CHIPDOCK_TYPE_OBJECT_BEGIN => {
            return Err(format!("a value of type index {index}, which no value has (V.1)"));
        }
        _ => {}
    }
    // SAFETY: from 64 up the payload is an object pointer; the caller guarantees what it leads to.
    unsafe { check_object(raw.value.v_object, raw.type_index) }.map(|()| true)
}

/// # Safety
///
/// As [`check_received`].
unsafe fn check_object(object: *const ChipdockObject, type_index: i32) -> Result<(), String> {
    if object.is_null() {
        return Err(format!("an object of type index {type_index} at a null pointer"));
    }
    if !object.is_aligned() {
        return Err(format!(
            "an object of type index {type_index} that is not aligned to {} bytes",
            align_of::<ChipdockObject>()
        ));
    }
    // SAFETY: not null and aligned; the caller guarantees the rest. The count may change meanwhile,
    // and is read once.
    let (found, count) =
        unsafe { ((*object).type_index, addr_of!((*object).combined_ref_count).read_volatile()) };
    if found != type_index {
        return Err(format!(
            "a value of type index {type_index} whose object says that it has type index {found}"
        ));
    }
    if count & 0xffff_ffff == 0 || count >> 32 == 0 {
        return Err(format!(
            "an object of type index {type_index} that was released: its count is {count:#x}"
        ));
    }
    Ok(())
}

/// # Safety
///
/// As [`check_received`]; [`check_header`] has succeeded.
unsafe fn check_content(raw: &ChipdockAny, budget: &mut Budget, depth: usize) -> Result<(), String> {
    budget.take(1)?;
    // SAFETY: the payload is what the type index says, and an object's header was checked.
    unsafe {
        let object = raw.value.v_object.cast_const();
        match raw.type_index {
            abi::CHIPDOCK_TYPE_SMALL_STR | abi::CHIPDOCK_TYPE_SMALL_BYTES => check_small(raw),
            abi::CHIPDOCK_TYPE_STR => {
                check_text(&(*object.cast::<ChipdockByteArrayObject>()).bytes, true, "a str")
            }
            abi::CHIPDOCK_TYPE_BYTES => {
                check_text(&(*object.cast::<ChipdockByteArrayObject>()).bytes, false, "a bytes")
            }
            abi::CHIPDOCK_TYPE_ERROR => check_error(object.cast(), depth),
            abi::CHIPDOCK_TYPE_FUNCTION => check_function(object.cast()),
            abi::CHIPDOCK_TYPE_SHAPE => check_shape(object.cast(), budget),
            abi::CHIPDOCK_TYPE_TENSOR => check_tensor(&(*object.cast::<ChipdockTensorObject>()).tensor),
            abi::CHIPDOCK_TYPE_ARRAY => check_array(object.cast(), budget, depth),
            // An object of unknown type is kept and returned; only its header is needed for that.
            _ => Ok(()),
        }
    }
}

fn check_small(raw: &ChipdockAny) -> Result<(), String> {
    let size = raw.small_length as usize;
    // SAFETY: the payload of a small string.
    let bytes = unsafe { &raw.value.v_bytes };
    let Some(bytes) = bytes.get(..size).filter(|_| size < bytes.len()) else {
        return Err(format!("a small string of {size} bytes; expected at most 7 (V.5)"));
    };
    if raw.type_index == abi::CHIPDOCK_TYPE_SMALL_STR {
        check_utf8(bytes, "a str")?;
    }
    Ok(())
}

fn check_utf8(bytes: &[u8], what: &str) -> Result<(), String> {
    core::str::from_utf8(bytes)
        .map(drop)
        .map_err(|error| format!("{what} that is no UTF-8: its byte {} is wrong (V.5)", error.valid_up_to()))
}

/// # Safety
///
/// * As [`check_received`].
unsafe fn check_text(text: &ChipdockStr, is_utf8: bool, what: &str) -> Result<(), String> {
    if text.size > TEXT_BYTES_MAX {
        return Err(format!("{what} of {} bytes; expected at most {TEXT_BYTES_MAX}", text.size));
    }
    if text.data.is_null() && text.size != 0 {
        return Err(format!("{what} of {} bytes at a null pointer", text.size));
    }
    if is_utf8 {
        // SAFETY: the caller guarantees that it points to as many bytes as it states.
        check_utf8(unsafe { crate::text::bytes_in(*text) }, what)?;
    }
    Ok(())
}

/// # Safety
///
/// As [`check_received`].
unsafe fn check_error(error: *const ChipdockErrorObject, depth: usize) -> Result<(), String> {
    let mut error = error;
    for _ in depth..DEPTH_MAX {
        // SAFETY: the header was checked, here or by the caller. A function pointer is read as a
        // plain one, so that a null one can be detected.
        unsafe {
            for (text, what) in [
                (&(*error).kind, "an error's kind"),
                (&(*error).message, "an error's message"),
                (&(*error).backtrace, "an error's backtrace"),
            ] {
                check_text(text, false, what)?;
            }
            if addr_of!((*error).update_backtrace).cast::<*const ()>().read().is_null() {
                return Err("an error whose `update_backtrace` is null (V.7)".to_owned());
            }
            let cause = (*error).cause_chain.cast_const();
            if cause.is_null() {
                return Ok(());
            }
            check_object(cause, abi::CHIPDOCK_TYPE_ERROR)
                .map_err(|what| format!("an error's cause is {what}"))?;
            error = cause.cast();
        }
    }
    Err(format!("an error with more than {DEPTH_MAX} causes"))
}

/// # Safety
///
/// As [`check_received`].
unsafe fn check_function(function: *const ChipdockFunctionObject) -> Result<(), String> {
    // SAFETY: the header was checked; read as a plain pointer, so that a null one can be detected.
    let call = unsafe { addr_of!((*function).safe_call).cast::<*const ()>().read() };
    if call.is_null() { Err("a function whose `safe_call` is null (V.8)".to_owned()) } else { Ok(()) }
}

/// Checks that `data` is not null and aligned, unless `count` is 0; `what` names the elements.
fn check_list<T>(data: *const T, count: usize, what: &str) -> Result<(), String> {
    if count != 0 && (data.is_null() || !data.is_aligned()) {
        return Err(format!("{what} of {count} at {data:p}, which is null or not aligned (V.6)"));
    }
    Ok(())
}

/// # Safety
///
/// As [`check_received`].
unsafe fn check_shape(shape: *const ChipdockShapeObject, budget: &mut Budget) -> Result<(), String> {
    // SAFETY: the header was checked.
    let (data, size) = unsafe { ((*shape).data, (*shape).size) };
    budget.take(size).map_err(|_| format!("a shape of {size} extents; expected at most {VALUES_MAX}"))?;
    check_list(data, size, "a shape")
}

/// # Safety
///
/// As [`check_received`].
unsafe fn check_array(
    array: *const ChipdockArrayObject,
    budget: &mut Budget,
    depth: usize,
) -> Result<(), String> {
    // SAFETY: the header was checked.
    let (data, size) = unsafe { ((*array).data.cast_const(), (*array).size) };
    let bound = || format!("an array of {size} elements; expected 0 to {VALUES_MAX}");
    let size = usize::try_from(size).ok().filter(|size| *size <= VALUES_MAX).ok_or_else(bound)?;
    check_list(data, size, "an array")?;
    if depth >= DEPTH_MAX {
        return Err(format!("arrays within arrays, more than {DEPTH_MAX} deep"));
    }
    for index in 0..size {
        // SAFETY: within the elements; the caller guarantees the rest.
        unsafe { check(&*data.add(index), budget, depth + 1) }
            .map_err(|what| format!("an array whose element {index} is {what}"))?;
        // Every element counts, also a plain one, whose content does not.
        budget.take(1)?;
    }
    Ok(())
}

/// Checks that the fields of a tensor are consistent: axes, extents, strides, size and data.
///
/// # Errors
///
/// The contradiction that was found.
///
/// # Safety
///
/// * `shape` and `strides`, unless null or misaligned, lead to `ndim` numbers.
unsafe fn check_tensor(tensor: &ChipdockTensor) -> Result<(), String> {
    let ndim = tensor.ndim;
    if !(0..=AXES_MAX).contains(&ndim) {
        return Err(format!("a tensor of {ndim} axes; expected 0 to {AXES_MAX}"));
    }
    let count = usize::try_from(ndim).unwrap_or(0);
    check_list(tensor.shape.cast_const(), count, "a tensor's shape")?;
    check_list(tensor.strides.cast_const(), count, "a tensor's strides")?;
    if count == 0 {
        return check_range(tensor, &[], &[]);
    }
    // SAFETY: not null and aligned; the caller guarantees that they have `ndim` numbers.
    let (shape, strides) = unsafe {
        (
            core::slice::from_raw_parts(tensor.shape.cast_const(), count),
            core::slice::from_raw_parts(tensor.strides.cast_const(), count),
        )
    };
    check_range(tensor, shape, strides)
}

fn check_range(tensor: &ChipdockTensor, shape: &[i64], strides: &[i64]) -> Result<(), String> {
    let said = || format!("a tensor of shape {shape:?} and strides {strides:?}");
    let bytes =
        crate::size_bytes(shape, tensor.dtype).map_err(|error| format!("{}: {}", said(), error.message()))?;
    if tensor.dtype.bits == 0 || tensor.dtype.lanes == 0 {
        return Err(format!(
            "a tensor of elements of type {}, which have no size",
            crate::dtype::text(tensor.dtype)
        ));
    }
    if bytes == 0 {
        return Ok(());
    }
    if tensor.data.is_null() {
        return Err(format!("{} whose data is null", said()));
    }
    let item_bytes = i64::from(tensor.dtype.bits) * i64::from(tensor.dtype.lanes);
    let (mut low, mut high) = (0_i64, 0_i64);
    for (extent, stride) in shape.iter().zip(strides) {
        let outside = || format!("{}: it reaches beyond 64 bits", said());
        let reach = (extent - 1).checked_mul(*stride).and_then(|reach| reach.checked_mul(item_bytes));
        let side = if *stride < 0 { &mut low } else { &mut high };
        *side = reach.and_then(|reach| side.checked_add(reach)).ok_or_else(outside)?;
    }
    let first = i64::try_from(tensor.byte_offset).ok();
    let fits = first.is_some_and(|first| {
        first.checked_add(low / 8).is_some_and(|low| low >= 0) && first.checked_add(high / 8).is_some()
    });
    if fits {
        return Ok(());
    }
    Err(format!(
        "{} and byte offset {}: it begins before its data, or ends beyond 63 bits",
        said(),
        tensor.byte_offset
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P13.5, P13.6: bounds of values are promises, which may only grow.
    #[test]
    fn p13_5_no_bound_of_values_is_below_that_of_the_contract() {
        let bounds = (AXES_MAX, TEXT_BYTES_MAX, VALUES_MAX, DEPTH_MAX);
        let is_kept = bounds.0 >= 64 && bounds.1 >= 1 << 30 && bounds.2 >= 1 << 20 && bounds.3 >= 32;
        assert!(is_kept, "{bounds:?}");
    }
}
