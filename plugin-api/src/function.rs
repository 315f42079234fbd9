//! Functions: packed calls of our own closures and of others' functions.

use core::ffi::c_void;
use core::fmt;

use chipdock_abi::{
    CHIPDOCK_ERROR, CHIPDOCK_OK, CHIPDOCK_TYPE_FUNCTION, ChipdockAny, ChipdockDeleter,
    ChipdockFunctionObject, ChipdockSafeCall,
};

use crate::host::write_any;
use crate::object::{ObjectBody, allocate, header, own};
use crate::{Any, AnyView, Error, HostRef, ObjectRef, trampoline};

/// A callable object with the packed convention.
///
/// It belongs to the host for which it was made: its errors are raised there. Cloning shares the
/// object.
#[derive(Clone)]
#[repr(transparent)]
pub struct Function(ObjectRef);

#[repr(C)]
struct ClosureBody<F> {
    object: ChipdockFunctionObject,
    host: HostRef,
    closure: F,
}

// SAFETY: repr(C), starts with the ABI's function object; `allocate` checks the alignment.
unsafe impl<F> ObjectBody for ClosureBody<F> {
    const TYPE_INDEX: i32 = CHIPDOCK_TYPE_FUNCTION;
}

#[repr(C)]
struct DirectBody<K> {
    object: ChipdockFunctionObject,
    keep_alive: K,
}

// SAFETY: repr(C), starts with the ABI's function object; `allocate` checks the alignment.
unsafe impl<K> ObjectBody for DirectBody<K> {
    const TYPE_INDEX: i32 = CHIPDOCK_TYPE_FUNCTION;
}

#[repr(C)]
struct ForwardBody {
    object: ChipdockFunctionObject,
    self_: *mut c_void,
    call: ChipdockSafeCall,
    deleter: ChipdockDeleter,
}

// SAFETY: repr(C), starts with the ABI's function object, 8-aligned.
unsafe impl ObjectBody for ForwardBody {
    const TYPE_INDEX: i32 = CHIPDOCK_TYPE_FUNCTION;
}

impl Drop for ForwardBody {
    fn drop(&mut self) {
        // SAFETY: P9.1, it releases what the registered function owns, once.
        unsafe { (self.deleter.0)(self.self_) };
    }
}

fn function_object<T: ObjectBody>(safe_call: ChipdockSafeCall) -> ChipdockFunctionObject {
    ChipdockFunctionObject { object: header::<T>(), safe_call, cpp_call: core::ptr::null_mut() }
}

impl Function {
    /// Makes a function from a closure. Its errors, and its panics as kind `Panic`, are raised with
    /// `host`.
    pub fn from_fn<F>(host: HostRef, closure: F) -> Self
    where
        F: Fn(&[AnyView<'_>]) -> Result<Any, Error> + Send + Sync + 'static,
    {
        let object = function_object::<ClosureBody<F>>(ChipdockSafeCall(call_closure::<F>));
        Self(own(allocate(ClosureBody { object, host, closure })))
    }

    /// Makes a function from a C function that is called directly, with the function object as its
    /// `self`; `keep_alive` is dropped with the object. A compiled kernel is wrapped this way
    /// without any cost for the call.
    ///
    /// # Safety
    ///
    /// * `call` follows the packed convention (V.10, V.11), uses its `self` for nothing but
    ///   [`Self::kept`], and stays valid as long as `keep_alive`.
    #[must_use]
    pub unsafe fn from_safe_call<K: Send + Sync + 'static>(call: ChipdockSafeCall, keep_alive: K) -> Self {
        let object = function_object::<DirectBody<K>>(call);
        Self(own(allocate(DirectBody { object, keep_alive })))
    }

    /// Returns what a function of [`Self::from_safe_call`] keeps alive, within its C function.
    ///
    /// # Safety
    ///
    /// * `self_` is that of a call of such a function, whose `keep_alive` is a `K`; the reference
    ///   is used within the call.
    #[must_use]
    #[inline]
    pub unsafe fn kept<'a, K: Send + Sync + 'static>(self_: *mut c_void) -> &'a K {
        // SAFETY: V.10, `self_` is the object, which this function requires to be such a body.
        unsafe { &(*self_.cast::<DirectBody<K>>()).keep_alive }
    }

    /// Makes a function from a `self`, a C function and the deleter of that `self`, as a registrar
    /// receives them.
    ///
    /// # Safety
    ///
    /// * `call` follows the packed convention (V.10, V.11) with `self_`, from any thread.
    /// * The caller gives up `self_`; `deleter` releases it.
    #[must_use]
    pub unsafe fn from_parts(self_: *mut c_void, call: ChipdockSafeCall, deleter: ChipdockDeleter) -> Self {
        let object = function_object::<ForwardBody>(ChipdockSafeCall(call_forward));
        Self(own(allocate(ForwardBody { object, self_, call, deleter })))
    }

    /// Takes over a function object.
    ///
    /// # Safety
    ///
    /// * `object` is an owned reference to an object of type `CHIPDOCK_TYPE_FUNCTION`.
    #[must_use]
    pub unsafe fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    /// Returns the object, which this function still owns.
    #[must_use]
    pub fn object(&self) -> &ObjectRef {
        &self.0
    }

    pub(crate) fn into_object(self) -> ObjectRef {
        self.0
    }

    /// Returns the C function, for a caller that packs its arguments itself; its `self` is the
    /// object.
    #[must_use]
    pub fn safe_call(&self) -> ChipdockSafeCall {
        // SAFETY: V.8, the layout of a function object, which never changes.
        unsafe { (*self.0.as_ptr().cast::<ChipdockFunctionObject>()).safe_call }
    }

    /// Calls the function with borrowed arguments; the result is owned. Errors are taken from
    /// `host`, which must be the one for which the function was made.
    ///
    /// # Errors
    ///
    /// The error that the function raised; `BrokenPlugin` if it failed and raised none, or returned
    /// an invalid value.
    pub fn call(&self, host: HostRef, args: &[AnyView<'_>]) -> Result<Any, Error> {
        let num_args = i32::try_from(args.len()).map_err(|_| {
            let message = format!("expected at most {} arguments, found {}", i32::MAX, args.len());
            Error::new(crate::ErrorKind::VALUE_ERROR, message)
        })?;
        let mut result = Any::NONE.into_raw();
        let call = self.safe_call().0;
        // SAFETY: V.10; a view is laid out as a value, the result is None before the call.
        let status = unsafe { call(self.0.as_ptr().cast(), args.as_ptr().cast(), num_args, &mut result) };
        if status == CHIPDOCK_OK {
            // SAFETY: V.11, on success the result is owned by the caller.
            return unsafe { Any::received(result) };
        }
        // V.11: a callee that failed has left no owned result, so there is nothing to drop.
        host.check(status, || "a packed function".to_owned()).map(|()| Any::NONE)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({:p})", self.0.as_ptr())
    }
}

/// Runs a packed function for the other side. The status is 0 or -1, whatever the error's kind.
///
/// # Safety
///
/// * `args`, `num_args` and `result` are those of a packed call (V.10).
#[inline]
pub(crate) unsafe fn run_packed(
    host: HostRef,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
    body: impl FnOnce(&[AnyView<'_>]) -> Result<Any, Error>,
) -> i32 {
    let status = trampoline::guard(host, || {
        // SAFETY: borrowed for the call, V.10.
        let args = unsafe { AnyView::slice_from_raw(args, num_args)? };
        let value = body(args)?;
        // SAFETY: null or writable, V.10.
        unsafe { write_any(result, value) }
    });
    if status == CHIPDOCK_OK { CHIPDOCK_OK } else { CHIPDOCK_ERROR }
}

unsafe extern "C" fn call_closure<F>(
    self_: *mut c_void,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
) -> i32
where
    F: Fn(&[AnyView<'_>]) -> Result<Any, Error> + Send + Sync + 'static,
{
    // SAFETY: V.10, `self_` is the object that this function was put into, live for the call.
    let body = unsafe { &*self_.cast::<ClosureBody<F>>() };
    // SAFETY: the parameters of a packed call, passed on.
    unsafe { run_packed(body.host, args, num_args, result, &body.closure) }
}

unsafe extern "C" fn call_forward(
    self_: *mut c_void,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
) -> i32 {
    // SAFETY: V.10, `self_` is the object that this function was put into, live for the call; the
    // registered function follows the packed convention with its own `self`.
    unsafe {
        let body = &*self_.cast::<ForwardBody>();
        (body.call.0)(body.self_, args, num_args, result)
    }
}
