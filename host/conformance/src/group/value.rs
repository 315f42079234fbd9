//! Checks that a value returned by a plugin has the layout of its type (V.1, V.2, V.5 to V.7).

use std::ffi::c_void;
use std::ptr;

use chipdock_abi as abi;
use chipdock_abi::{
    ChipdockAny, ChipdockArrayObject, ChipdockByteArrayObject, ChipdockErrorObject, ChipdockFunctionObject,
    ChipdockObject, ChipdockShapeObject, ChipdockStr, ChipdockTensor, ChipdockTensorObject,
};
use chipdock_plugin_api::Any;
use chipdock_plugin_api::text::bytes_in;

use crate::stop::ensure;
use crate::{Stop, Verdict};

/// Maximum depth to which nested arrays are checked.
const DEPTH_MAX: u32 = 8;

/// Checks that a returned value is well formed; `what` names it in failures.
pub(super) fn well_formed(what: &str, value: &Any) -> Verdict {
    let raw = value.view().into_raw();
    // SAFETY: the owned value outlives this borrow; its targets are what is being checked.
    unsafe { check(what, &raw, 0) }
}

/// Returns the name of a type index for messages.
pub(super) fn type_name(type_index: i32) -> String {
    let name = match type_index {
        abi::CHIPDOCK_TYPE_NONE => "None",
        abi::CHIPDOCK_TYPE_INT => "int",
        abi::CHIPDOCK_TYPE_BOOL => "bool",
        abi::CHIPDOCK_TYPE_FLOAT => "float",
        abi::CHIPDOCK_TYPE_OPAQUE_PTR => "opaque pointer",
        abi::CHIPDOCK_TYPE_DATA_TYPE => "ChipdockDataType",
        abi::CHIPDOCK_TYPE_DEVICE => "ChipdockDevice",
        abi::CHIPDOCK_TYPE_DLTENSOR_PTR => "borrowed ChipdockTensor",
        abi::CHIPDOCK_TYPE_RAW_STR => "borrowed C string",
        abi::CHIPDOCK_TYPE_BYTE_ARRAY_PTR => "borrowed bytes",
        abi::CHIPDOCK_TYPE_OBJECT_RVALUE_REF => "reference to an object",
        abi::CHIPDOCK_TYPE_SMALL_STR => "small string",
        abi::CHIPDOCK_TYPE_SMALL_BYTES => "small bytes",
        abi::CHIPDOCK_TYPE_STR => "string object",
        abi::CHIPDOCK_TYPE_BYTES => "bytes object",
        abi::CHIPDOCK_TYPE_ERROR => "error object",
        abi::CHIPDOCK_TYPE_FUNCTION => "function object",
        abi::CHIPDOCK_TYPE_SHAPE => "shape object",
        abi::CHIPDOCK_TYPE_TENSOR => "tensor object",
        abi::CHIPDOCK_TYPE_ARRAY => "array object",
        _ => "unknown type",
    };
    format!("type {type_index} ({name})")
}

fn held(clause: &str, condition: bool, expected: String, found: impl Into<String>) -> Verdict {
    ensure(condition, expected, found.into()).map_err(|stop| stop.clause(clause))
}

/// # Safety
///
/// * The value that `raw` points to is live and, as far as can be determined, of the type that it
///   claims.
unsafe fn check(what: &str, raw: &ChipdockAny, depth: u32) -> Verdict {
    let type_index = raw.type_index;
    let name = type_name(type_index);
    let is_view =
        (abi::CHIPDOCK_TYPE_DLTENSOR_PTR..=abi::CHIPDOCK_TYPE_OBJECT_RVALUE_REF).contains(&type_index);
    held(
        "V.2",
        !is_view,
        format!("{what}: an owned value"),
        format!("{name}, which is for arguments alone"),
    )?;
    if type_index >= abi::CHIPDOCK_TYPE_OBJECT_BEGIN {
        held(
            "V.1",
            raw.small_length == 0,
            format!("{what}: small_length 0 in {name}"),
            raw.small_length.to_string(),
        )?;
        // SAFETY: `raw` holds a live value of its type index, as this function requires, which is
        // an object type.
        return unsafe { object(what, raw.value.v_object, type_index, depth) };
    }
    // SAFETY: eight bytes of plain data for every type.
    let bytes = unsafe { raw.value.v_bytes };
    let used = match type_index {
        abi::CHIPDOCK_TYPE_NONE => 0,
        abi::CHIPDOCK_TYPE_DATA_TYPE => 4,
        abi::CHIPDOCK_TYPE_SMALL_STR | abi::CHIPDOCK_TYPE_SMALL_BYTES => {
            let length = raw.small_length as usize;
            held("V.5", length <= 7, format!("{what}: at most 7 bytes in {name}"), length.to_string())?;
            length
        }
        abi::CHIPDOCK_TYPE_INT..=abi::CHIPDOCK_TYPE_OPAQUE_PTR | abi::CHIPDOCK_TYPE_DEVICE => 8,
        _ => return Err(Stop::failed(format!("{what}: a type of the contract"), name).clause("V.1")),
    };
    let is_small = matches!(type_index, abi::CHIPDOCK_TYPE_SMALL_STR | abi::CHIPDOCK_TYPE_SMALL_BYTES);
    let small_length = raw.small_length;
    held(
        "V.1",
        is_small || small_length == 0,
        format!("{what}: small_length 0 in {name}"),
        small_length.to_string(),
    )?;
    let rest_is_zero = bytes[used..].iter().all(|byte| *byte == 0);
    held(
        "V.1",
        rest_is_zero,
        format!("{what}: zero after the first {used} bytes of the payload"),
        format!("{name} {bytes:02x?}"),
    )?;
    if type_index == abi::CHIPDOCK_TYPE_BOOL {
        let number = i64::from_ne_bytes(bytes);
        held("V.1", matches!(number, 0 | 1), format!("{what}: a bool of 0 or 1"), number.to_string())?;
    }
    let is_text = type_index != abi::CHIPDOCK_TYPE_SMALL_STR || std::str::from_utf8(&bytes[..used]).is_ok();
    held("V.5", is_text, format!("{what}: UTF-8"), format!("{:02x?}", &bytes[..used]))
}

/// # Safety
///
/// * As for [`check`]: an object of that type.
unsafe fn object(what: &str, pointer: *mut ChipdockObject, type_index: i32, depth: u32) -> Verdict {
    let name = type_name(type_index);
    held(
        "V.6",
        !pointer.is_null() && pointer.is_aligned(),
        format!("{what}: an aligned pointer to {name}"),
        format!("{pointer:p}"),
    )?;
    // SAFETY: the pointer is not null and aligned, and the caller guarantees that the object is
    // live.
    let header = unsafe { &*pointer };
    held(
        "V.6",
        header.type_index == type_index,
        format!("{what}: {name} in the object's header too"),
        type_name(header.type_index),
    )?;
    held(
        "V.1",
        header.padding == 0,
        format!("{what}: padding 0 in the header of {name}"),
        header.padding.to_string(),
    )?;
    let (strong, weak) = (header.combined_ref_count & 0xffff_ffff, header.combined_ref_count >> 32);
    held(
        "V.12",
        strong >= 1 && weak >= 1,
        format!("{what}: at least one strong and one weak reference to {name}"),
        format!("{strong} and {weak}"),
    )?;
    // SAFETY: `pointer` is a live object of `type_index`, as this function requires; each struct
    // matches its type index.
    unsafe {
        match type_index {
            abi::CHIPDOCK_TYPE_STR | abi::CHIPDOCK_TYPE_BYTES => {
                let bytes = (*pointer.cast::<ChipdockByteArrayObject>()).bytes;
                byte_array(what, &name, bytes, type_index == abi::CHIPDOCK_TYPE_STR)
            }
            abi::CHIPDOCK_TYPE_ERROR => error_object(what, pointer.cast()),
            abi::CHIPDOCK_TYPE_FUNCTION => {
                let function = pointer.cast::<ChipdockFunctionObject>();
                let call = ptr::addr_of!((*function).safe_call).cast::<*const c_void>().read();
                held("V.6", !call.is_null(), format!("{what}: a function object with `safe_call`"), "null")?;
                held("V.6", (*function).cpp_call.is_null(), format!("{what}: `cpp_call` null"), "a pointer")
            }
            abi::CHIPDOCK_TYPE_SHAPE => {
                let shape = &*pointer.cast::<ChipdockShapeObject>();
                let good = shape.size == 0 || !shape.data.is_null();
                held(
                    "V.6",
                    good,
                    format!("{what}: a shape object with its extents"),
                    format!("{} at null", shape.size),
                )
            }
            abi::CHIPDOCK_TYPE_TENSOR => tensor(what, &(*pointer.cast::<ChipdockTensorObject>()).tensor),
            abi::CHIPDOCK_TYPE_ARRAY => array(what, &*pointer.cast::<ChipdockArrayObject>(), depth),
            _ => Ok(()),
        }
    }
}

/// # Safety
///
/// * `bytes` are those of a live string or bytes object.
unsafe fn byte_array(what: &str, name: &str, bytes: ChipdockStr, is_text: bool) -> Verdict {
    held("V.5", !bytes.data.is_null(), format!("{what}: the bytes of {name}"), "null")?;
    held(
        "V.5",
        bytes.size > 7,
        format!("{what}: up to 7 bytes in the value, more as {name}"),
        format!("{} bytes", bytes.size),
    )?;
    // SAFETY: by V.5, that many bytes are live, and one more after them.
    let (text, behind) = unsafe { (bytes_in(bytes), bytes.data.add(bytes.size).cast::<u8>().read()) };
    held("V.5", behind == 0, format!("{what}: a NUL behind the bytes of {name}"), format!("{behind:#04x}"))?;
    held(
        "V.5",
        !is_text || std::str::from_utf8(text).is_ok(),
        format!("{what}: UTF-8"),
        String::from_utf8_lossy(text),
    )
}

/// # Safety
///
/// * A live error object.
unsafe fn error_object(what: &str, error: *const ChipdockErrorObject) -> Verdict {
    // SAFETY: `error` is a live error object, as this function requires; the function pointer is
    // read as a plain pointer, so that null is detected.
    let (kind, message, backtrace, update) = unsafe {
        let update = ptr::addr_of!((*error).update_backtrace).cast::<*const c_void>().read();
        ((*error).kind, (*error).message, (*error).backtrace, update)
    };
    held("V.7", !update.is_null(), format!("{what}: `update_backtrace` of the error object"), "null")?;
    for (text, part) in [(kind, "kind"), (message, "message"), (backtrace, "backtrace")] {
        held(
            "V.7",
            text.size == 0 || !text.data.is_null(),
            format!("{what}: the {part} of the error object"),
            "null",
        )?;
        // SAFETY: by V.7, the object owns its texts.
        let bytes = unsafe { bytes_in(text) };
        held(
            "V.7",
            std::str::from_utf8(bytes).is_ok(),
            format!("{what}: {part} in UTF-8"),
            String::from_utf8_lossy(bytes),
        )?;
    }
    held("V.7", kind.size > 0, format!("{what}: an error object with a kind"), "an empty one")
}

fn tensor(what: &str, tensor: &ChipdockTensor) -> Verdict {
    let ndim = tensor.ndim;
    held("V.6", ndim >= 0, format!("{what}: a tensor of 0 axes or more"), ndim.to_string())?;
    let has_axes = ndim > 0;
    held(
        "V.6",
        !has_axes || !tensor.shape.is_null(),
        format!("{what}: the shape of a tensor of {ndim} axes"),
        "null",
    )?;
    held(
        "V.6",
        !has_axes || !tensor.strides.is_null(),
        format!("{what}: the strides of a tensor of {ndim} axes"),
        "null",
    )?;
    let dtype = tensor.dtype;
    held(
        "V.6",
        dtype.bits > 0 && dtype.lanes > 0,
        format!("{what}: a tensor's element type"),
        format!("{dtype:?}"),
    )
}

/// # Safety
///
/// * A live array object.
unsafe fn array(what: &str, array: &ChipdockArrayObject, depth: u32) -> Verdict {
    let (size, capacity) = (array.size, array.capacity);
    held(
        "V.6",
        (0..=capacity).contains(&size),
        format!("{what}: an array's size within its capacity"),
        format!("{size} of {capacity}"),
    )?;
    held(
        "V.6",
        size == 0 || !array.data.is_null(),
        format!("{what}: the {size} elements of an array"),
        "null",
    )?;
    if depth >= DEPTH_MAX {
        return Ok(());
    }
    for index in 0..usize::try_from(size).unwrap_or_default() {
        // SAFETY: by V.6, the array owns that many elements.
        unsafe { check(&format!("{what}[{index}]"), &*array.data.add(index), depth + 1) }?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use chipdock_plugin_api::{Array, Error, ErrorKind, Shape};

    fn any(type_index: i32, small_length: u32, bytes: [u8; 8]) -> ChipdockAny {
        ChipdockAny { type_index, small_length, value: abi::ChipdockAnyValue { v_bytes: bytes } }
    }

    fn clause(raw: &ChipdockAny) -> Option<String> {
        // SAFETY: plain values, no object among them.
        match unsafe { check("it", raw, 0) } {
            Err(Stop::Failed(failure)) => failure.clause,
            _ => None,
        }
    }

    #[test]
    fn good_values_pass() {
        for value in [
            Any::NONE,
            Any::from(7),
            Any::from(true),
            Any::from(0.5),
            Any::from("seven b"),
            Any::from("more than seven bytes"),
            Any::from(Shape::new(&[1, 2])),
            Any::from(Error::new(ErrorKind::VALUE_ERROR, "no")),
            Any::from(Array::new([Any::from(1), Any::from("some longer text")])),
        ] {
            well_formed("it", &value).unwrap();
        }
    }

    #[test]
    fn each_fault_has_its_clause() {
        for (raw, expected) in [
            (any(abi::CHIPDOCK_TYPE_NONE, 0, [1, 0, 0, 0, 0, 0, 0, 0]), "V.1"),
            (any(abi::CHIPDOCK_TYPE_INT, 3, [0; 8]), "V.1"),
            (any(abi::CHIPDOCK_TYPE_BOOL, 0, [2, 0, 0, 0, 0, 0, 0, 0]), "V.1"),
            (any(abi::CHIPDOCK_TYPE_DATA_TYPE, 0, [0, 32, 1, 0, 9, 0, 0, 0]), "V.1"),
            (any(abi::CHIPDOCK_TYPE_RAW_STR, 0, [0; 8]), "V.2"),
            (any(abi::CHIPDOCK_TYPE_OBJECT_RVALUE_REF, 0, [0; 8]), "V.2"),
            (any(abi::CHIPDOCK_TYPE_SMALL_STR, 8, [b'a'; 8]), "V.5"),
            (any(abi::CHIPDOCK_TYPE_SMALL_STR, 2, [b'a'; 8]), "V.1"),
            (any(abi::CHIPDOCK_TYPE_SMALL_STR, 1, [0xff, 0, 0, 0, 0, 0, 0, 0]), "V.5"),
            (any(abi::CHIPDOCK_TYPE_STR, 0, [0; 8]), "V.6"),
            (any(20, 0, [0; 8]), "V.1"),
        ] {
            assert_eq!(clause(&raw).as_deref(), Some(expected), "{}", raw.type_index);
        }
    }
}
