//! Module objects of libtvm_ffi's (LIB-11): made, connected and asked for functions through its
//! global functions.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::NonNull;

use chipdock_abi::{CHIPDOCK_TYPE_FUNCTION, ChipdockAny, ChipdockDeleter, ChipdockSafeCall};
use chipdock_plugin_api as api;
use chipdock_plugin_api::text::str_out;

use super::caller::Caller;
use super::ffi::TvmFfi;
use crate::error::{Error, ErrorKind};

/// The type index of a module, the same in every version.
const MODULE: i32 = 73;
/// The global function that opens a library.
const OPEN: &str = "ffi.Module.load_from_file.so";
/// What the name of a function begins with that loads modules of a kind.
const LOAD: &str = "ffi.Module.load_from_bytes.";

/// A module object of libtvm_ffi's.
pub(crate) struct TvmModule {
    /// A value of type [`MODULE`].
    object: api::Any,
    tvm_ffi: &'static TvmFfi,
    caller: Caller,
}

impl TvmModule {
    /// Opens a library as libtvm_ffi does; one that is open already is not opened a second time.
    ///
    /// # Errors
    ///
    /// The error that libtvm_ffi raised; `Unavailable` when it has no such function.
    pub(in crate::library) fn of_library(
        tvm_ffi: &'static TvmFfi,
        caller: Caller,
        path: &Path,
    ) -> Result<Self, Error> {
        let open = required(tvm_ffi, caller, OPEN)?;
        let path = path.to_str().ok_or_else(|| {
            let message = format!("{} is no text, as TVM-FFI asks of paths", path.display());
            Error::new(ErrorKind::Value, message)
        })?;
        let (path, format) = (api::Str::new(path), api::Str::new("so"));
        Self::made(tvm_ffi, caller, call(caller, &open, &[path.as_any_view(), format.as_any_view()])?, OPEN)
    }

    /// Loads a module of a kind from its bytes; `None` when nobody has registered a loader of that
    /// kind.
    ///
    /// # Errors
    ///
    /// The error that the loader raised; `BrokenPlugin` when it returned no module.
    pub(in crate::library) fn of_bytes(
        tvm_ffi: &'static TvmFfi,
        caller: Caller,
        kind: &str,
        bytes: &[u8],
    ) -> Result<Option<Self>, Error> {
        let name = format!("{LOAD}{kind}");
        let Some(load) = global(tvm_ffi, caller, &name)? else { return Ok(None) };
        let bytes = api::Bytes::new(bytes);
        Self::made(tvm_ffi, caller, call(caller, &load, &[bytes.as_any_view()])?, &name).map(Some)
    }

    fn made(tvm_ffi: &'static TvmFfi, caller: Caller, object: api::Any, name: &str) -> Result<Self, Error> {
        if object.type_index() != MODULE {
            let found = object.view().type_name().into_owned();
            let message = format!("{name} returned a value of type {found}; expected a module");
            return Err(Error::new(ErrorKind::BrokenPlugin, message)
                .hint("report it to the maintainer of the library that registered the function"));
        }
        Ok(Self { object, tvm_ffi, caller })
    }

    /// Makes a module an import of this one.
    pub(in crate::library) fn import(&self, other: &Self) -> Result<(), Error> {
        let import = required(self.tvm_ffi, self.caller, "ffi.ModuleImportModule")?;
        call(self.caller, &import, &[self.object.view(), other.object.view()]).map(drop)
    }

    /// Returns the function of that name in this module alone.
    pub(crate) fn function(&self, name: &str) -> Result<Option<api::Function>, Error> {
        let get = required(self.tvm_ffi, self.caller, "ffi.ModuleGetFunction")?;
        let name = api::Str::new(name);
        let found = call(self.caller, &get, &[self.object.view(), name.as_any_view(), false.into()])?;
        if found.is_none() {
            return Ok(None);
        }
        let is_function = found.type_index() == CHIPDOCK_TYPE_FUNCTION;
        let object = found.view().object().filter(|_| is_function).ok_or_else(|| {
            let what = found.view().type_name().into_owned();
            Error::new(ErrorKind::BrokenPlugin, format!("a module returned a {what} as its function"))
        })?;
        // SAFETY: a function object, laid out as ours (V.8), with a reference that is ours.
        let function = unsafe { api::Function::from_object(object) };
        Ok(Some(Through::wrap(function, self.caller)))
    }
}

/// Returns a global function of libtvm_ffi's.
fn required(tvm_ffi: &TvmFfi, caller: Caller, name: &str) -> Result<api::Function, Error> {
    global(tvm_ffi, caller, name)?.ok_or_else(|| {
        Error::new(ErrorKind::Unavailable, format!("nobody has registered {name} with TVM-FFI"))
    })
}

fn global(tvm_ffi: &TvmFfi, caller: Caller, name: &str) -> Result<Option<api::Function>, Error> {
    let get = tvm_ffi
        .get_global()
        .ok_or_else(|| Error::new(ErrorKind::Unavailable, "libtvm_ffi.so has no TVMFFIFunctionGetGlobal"))?;
    let text = str_out(name);
    let mut object = std::ptr::null_mut();
    caller.services.clear_error();
    // SAFETY: a text that lives for the call, and a place for an owned object or null.
    let status = caller.call(|| unsafe { get(&text, &mut object) });
    caller.services.check(status, || format!("TVMFFIFunctionGetGlobal of {name}"))?;
    // SAFETY: a function object, laid out as ours (V.8), with a reference that is ours.
    let function = |object| unsafe { api::Function::from_object(api::ObjectRef::from_raw(object)) };
    Ok(NonNull::new(object).map(function))
}

/// Calls a function of libtvm_ffi's; a value that it returns may be of a type that is none of ours.
fn call(caller: Caller, function: &api::Function, args: &[api::AnyView<'_>]) -> Result<api::Any, Error> {
    let mut result = api::Any::NONE.into_raw();
    let count = i32::try_from(args.len()).unwrap_or(i32::MAX);
    let self_ = function.object().as_ptr().cast();
    let target = function.safe_call().0;
    caller.services.clear_error();
    // SAFETY: a packed function with its object as `self`; a view is laid out as a value, the
    // result is None.
    let status = caller.call(|| unsafe { target(self_, args.as_ptr().cast(), count, &mut result) });
    caller.services.check(status, || "a function of TVM-FFI".to_owned())?;
    // SAFETY: V.11, on success the result is owned by the caller.
    Ok(unsafe { api::Any::from_raw(result) })
}

/// A function of a module of libtvm_ffi's, whose errors are in its slot.
struct Through {
    function: api::Function,
    caller: Caller,
}

impl Through {
    /// Makes the function one of the host's, whose errors are in the host's slot.
    fn wrap(function: api::Function, caller: Caller) -> api::Function {
        let through = Box::into_raw(Box::new(Self { function, caller })).cast();
        // SAFETY: `call_through` passes the arguments on to the function; the box is given up.
        unsafe {
            api::Function::from_parts(
                through,
                ChipdockSafeCall(call_through),
                ChipdockDeleter(delete_through),
            )
        }
    }
}

unsafe extern "C" fn call_through(
    self_: *mut c_void,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
) -> i32 {
    // SAFETY: the box of `Through::wrap`, alive as long as the function object.
    let through = unsafe { &*self_.cast::<Through>() };
    let (target, object) = (through.function.safe_call().0, through.function.object().as_ptr());
    // SAFETY: the parameters of a packed call, passed on, with the function's object as its `self`.
    through.caller.call(|| unsafe { target(object.cast(), args, num_args, result) })
}

unsafe extern "C" fn delete_through(self_: *mut c_void) {
    // SAFETY: the box of `Through::wrap`, given up once.
    drop(unsafe { Box::from_raw(self_.cast::<Through>()) });
}
