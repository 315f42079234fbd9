//! Objects of a program's own: a Rust value in an object that other code passes on and cannot look
//! into.

use core::any::Any as Value;
use core::ffi::c_void;

use chipdock_abi::{CHIPDOCK_NEW_REF_COUNT, ChipdockObject};

use crate::object::{self, ObjectBody, allocate};
use crate::{Any, AnyView};

/// The body of such an object. Its deleter is what it is recognised by: nobody else has the
/// function.
#[repr(C)]
struct HeldBody {
    object: ChipdockObject,
    value: Box<dyn Value + Send + Sync>,
}

// SAFETY: repr(C), starts with the header of an object, 8-aligned.
unsafe impl ObjectBody for HeldBody {
    const TYPE_INDEX: i32 = chipdock_abi::CHIPDOCK_TYPE_OBJECT_BEGIN;
}

unsafe extern "C" fn delete_held(self_: *mut c_void, flags: i32) {
    // SAFETY: the object's own deleter, with the flags that it was called with.
    unsafe { object::delete_body::<HeldBody>(self_, flags) };
}

/// Makes an object that holds `value`. Its type index is that of a type which TVM-FFI's registry
/// has, or `CHIPDOCK_TYPE_OBJECT_BEGIN` for an object of which nobody else knows the type.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::{Any, abi, held};
///
/// let object = held::object(abi::CHIPDOCK_TYPE_OBJECT_BEGIN, String::from("kept"));
/// assert_eq!(held::value::<String>(object.view()).map(String::as_str), Some("kept"));
/// assert_eq!(held::value::<u32>(object.view()), None);
/// assert_eq!(held::value::<String>(Any::from(1).view()), None);
/// ```
#[must_use]
pub fn object<T: Send + Sync + 'static>(type_index: i32, value: T) -> Any {
    let object = ChipdockObject {
        combined_ref_count: CHIPDOCK_NEW_REF_COUNT,
        type_index: type_index.max(chipdock_abi::CHIPDOCK_TYPE_OBJECT_BEGIN),
        padding: 0,
        deleter: Some(delete_held),
    };
    Any::from_object(object::own(allocate(HeldBody { object, value: Box::new(value) })))
}

/// Returns the value of an object that [`object()`] of this library made; `None` for another value,
/// and for one that holds another type.
#[must_use]
pub fn value<'a, T: 'static>(view: AnyView<'a>) -> Option<&'a T> {
    let raw = view.seen_through().into_raw();
    if raw.type_index < chipdock_abi::CHIPDOCK_TYPE_OBJECT_BEGIN {
        return None;
    }
    // SAFETY: from 64 up the payload is an object pointer, live for `'a`.
    let object = unsafe { raw.value.v_object.as_ref()? };
    let own: unsafe extern "C" fn(*mut c_void, i32) = delete_held;
    if object.deleter.map(|deleter| deleter as usize) != Some(own as usize) {
        return None;
    }
    // SAFETY: only `object` gives this deleter to an object, whose body this is; it lives for `'a`
    // and is never written.
    let body = unsafe { &*raw.value.v_object.cast::<HeldBody>() };
    body.value.downcast_ref()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_value_goes_with_the_last_reference() {
        let counted = Arc::new(());
        let object = object(200, Arc::clone(&counted));
        assert_eq!((object.type_index(), Arc::strong_count(&counted)), (200, 2));
        let other = object.clone();
        drop(object);
        assert!(value::<Arc<()>>(other.view()).is_some());
        drop(other);
        assert_eq!(Arc::strong_count(&counted), 1);
    }

    #[test]
    fn an_object_of_another_sort_holds_nothing() {
        let text = Any::from("a text of more than seven bytes");
        assert!(value::<String>(text.view()).is_none());
        assert!(value::<String>(AnyView::NONE).is_none());
        assert_eq!(object(3, ()).type_index(), chipdock_abi::CHIPDOCK_TYPE_OBJECT_BEGIN);
    }
}
