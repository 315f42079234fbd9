//! Functions for TVM-FFI in Python that take objects of frameworks by DLPack's exchange table: each
//! calls one method of `chipdock_plugin_api::exchange::Exchange` and returns what it answers.
//!
//! Tables and objects come as integers, their addresses. TVM-FFI releases Python's lock around a
//! call, so that each function takes it.

use std::ffi::c_void;

use chipdock_plugin_api::abi::{ChipdockAny, ChipdockObject};
use chipdock_plugin_api::exchange::Exchange;
use chipdock_plugin_api::{
    Access, Any, AnyView, ChipdockDataType, ChipdockDevice, Error, ErrorKind, Required, Shape, Tensor,
    TvmEnv, argument, caught, dtype,
};
use libloading::os::unix::Library;

/// Returns a function of the process: of Python or of libtvm_ffi.
///
/// # Safety
///
/// * `F` is the type of the function.
unsafe fn of_process<F: Copy>(name: &str) -> Result<F, Error> {
    let process = Library::this();
    // SAFETY: as this function requires.
    let found = unsafe { process.get::<F>(format!("{name}\0").as_bytes()) };
    found
        .map(|found| *found)
        .map_err(|_| Error::new(ErrorKind::UNAVAILABLE, format!("this process has no {name}")))
}

/// Python's lock.
struct Lock(i32, unsafe extern "C" fn(i32));

impl Lock {
    fn taken() -> Result<Self, Error> {
        // SAFETY: Python's `pystate.h` declares them so.
        unsafe {
            let ensure: unsafe extern "C" fn() -> i32 = of_process("PyGILState_Ensure")?;
            Ok(Self(ensure(), of_process("PyGILState_Release")?))
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // SAFETY: taken before, on this thread.
        unsafe { (self.1)(self.0) };
    }
}

fn address(args: &[AnyView<'_>], index: usize, name: &str) -> Result<*mut c_void, Error> {
    let address: i64 = argument(args, index, name)?;
    Ok(std::ptr::with_exposed_provenance_mut(address.cast_unsigned() as usize))
}

fn exchange(args: &[AnyView<'_>]) -> Result<Exchange, Error> {
    // SAFETY: the tables of the tests live as long as the process.
    unsafe { Exchange::from_raw(address(args, 0, "table")?) }
}

/// `take(table, object, may_write, alignment, compact)`: the tensor of an object.
fn take(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let access = if argument(args, 2, "may_write")? { Access::ReadWrite } else { Access::ReadOnly };
    let alignment: i64 = argument(args, 3, "alignment")?;
    let required =
        Required { alignment_bytes: alignment.unsigned_abs(), compact: argument(args, 4, "compact")? };
    // SAFETY: an object of the table's type, under Python's lock; nobody writes.
    unsafe { exchange(args)?.tensor_of(address(args, 1, "object")?, access, required) }.map(Any::from)
}

/// `look(table, object)`: the description of an object's tensor.
fn look(args: &[AnyView<'_>]) -> Result<Any, Error> {
    // SAFETY: an object of the table's type, under Python's lock.
    let text = unsafe {
        exchange(args)?.with_view(address(args, 1, "object")?, |view| {
            format!("{:?} {} {}", view.shape(), dtype::text(view.dtype()), view.device().device_type)
        })
    };
    text.map(|text| Any::from(text.as_str()))
}

/// `give(table, tensor)`: the address of a new object for a tensor.
fn give(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let tensor: Tensor = argument(args, 1, "tensor")?;
    // SAFETY: under Python's lock.
    let object = unsafe { exchange(args)?.object_of(tensor, 0) }?;
    Ok(Any::from(object.expose_provenance() as i64))
}

/// `allocate(table, shape, dtype, device)`: a tensor of the framework's allocator.
fn allocate(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let shape: Shape = argument(args, 1, "shape")?;
    let (dtype, device): (ChipdockDataType, ChipdockDevice) =
        (argument(args, 2, "dtype")?, argument(args, 3, "device")?);
    exchange(args)?.allocate(&shape, dtype, device).map(Any::from)
}

/// `work_stream(table, device)`: the framework's stream.
fn work_stream(args: &[AnyView<'_>]) -> Result<Any, Error> {
    // SAFETY: under Python's lock.
    let stream = unsafe { exchange(args)?.current_work_stream(argument(args, 1, "device")?) }?;
    Ok(Any::from(stream.addr() as i64))
}

fn env() -> Result<TvmEnv, Error> {
    // SAFETY: the libtvm_ffi of this process, which Python opened for all.
    let found = unsafe {
        TvmEnv::find(|name| {
            of_process(&name.to_string_lossy()).map_or(std::ptr::null_mut(), |function: *mut c_void| function)
        })
    };
    found.ok_or_else(|| Error::new(ErrorKind::UNAVAILABLE, "this process has no libtvm_ffi"))
}

/// `env_stream(device, ...)`: the stream of the environment.
fn env_stream(args: &[AnyView<'_>]) -> Result<Any, Error> {
    env()?.stream(argument(args, 0, "device")?).map(|stream| Any::from(stream.addr() as i64))
}

/// `env_allocate(shape, dtype, device, ...)`: a tensor of the environment's allocator.
fn env_allocate(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let shape: Shape = argument(args, 0, "shape")?;
    env()?.allocate(&shape, argument(args, 1, "dtype")?, argument(args, 2, "device")?).map(Any::from)
}

/// `inside(stream, device, function)`: what a function answers that is called while a stream is the
/// current one.
fn inside(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let function: chipdock_plugin_api::Function = argument(args, 2, "function")?;
    // SAFETY: nobody queues work on the handle.
    let _guard = unsafe { env()?.enter_stream(argument(args, 1, "device")?, address(args, 0, "stream")?) }?;
    function.call(chipdock_plugin_api::HostRef::standalone(), &[])
}

/// Runs a function for TVM-FFI.
///
/// # Safety
///
/// * As of a packed call (V.10).
unsafe fn packed(
    body: fn(&[AnyView<'_>]) -> Result<Any, Error>,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
) -> i32 {
    let answer = caught(|| {
        let count = usize::try_from(num_args).unwrap_or_default();
        let args: Vec<AnyView<'_>> =
            // SAFETY: `count` live values.
            (0..count).map(|at| unsafe { AnyView::from_raw(*args.add(at)) }).collect();
        let _lock = Lock::taken()?;
        body(&args)
    });
    let error = match answer {
        Ok(Ok(any)) => {
            // SAFETY: the caller's place.
            unsafe { result.write(any.into_raw()) };
            return 0;
        }
        Ok(Err(error)) => error,
        Err(text) => Error::new(ErrorKind::PANIC, text),
    };
    // SAFETY: `c_api.h` declares it so; the error is borrowed.
    unsafe {
        if let Ok(raise) = of_process::<unsafe extern "C" fn(*mut ChipdockObject)>("TVMFFIErrorSetRaised") {
            raise(error.object().as_ptr());
        }
    }
    -1
}

macro_rules! functions {
    ($($symbol:ident: $body:ident;)*) => {
        $(
            /// A packed function.
            ///
            /// # Safety
            ///
            /// * As of a packed call (V.10).
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $symbol(
                _self: *mut c_void,
                args: *const ChipdockAny,
                num_args: i32,
                result: *mut ChipdockAny,
            ) -> i32 {
                // SAFETY: as of this function.
                unsafe { packed($body, args, num_args, result) }
            }
        )*
    };
}

functions! {
    __tvm_ffi_take: take;
    __tvm_ffi_look: look;
    __tvm_ffi_give: give;
    __tvm_ffi_allocate: allocate;
    __tvm_ffi_work_stream: work_stream;
    __tvm_ffi_env_stream: env_stream;
    __tvm_ffi_env_allocate: env_allocate;
    __tvm_ffi_inside: inside;
}
