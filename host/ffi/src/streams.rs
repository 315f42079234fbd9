//! Streams: those of this library, those of TVM-FFI's environment, and what connects them (FFI-5);
//! copies and graphs that are queued on them.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, Weak};

use chipdock_abi::{CHIPDOCK_DEVICE_FIRST_ASSIGNED, ChipdockDevice};
use chipdock_host::library::TvmFfi;
use chipdock_host::{Device, Graph, Host, Order, Stream, Tensor};
use chipdock_plugin_api::kit::{PerProcess, lock};
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind};

use crate::hosts::device_of;
use crate::objects::{StreamObject, object, of, raised};
use crate::tensors::tensor_of;

thread_local! {
    /// The streams that this library made current on this thread, one for each device.
    static CURRENT: RefCell<Vec<(ChipdockDevice, Arc<Stream>)>> = const { RefCell::new(Vec::new()) };
}

/// A native stream, with ours over it.
struct Known {
    host: Host,
    device: ChipdockDevice,
    native: usize,
    stream: Weak<Stream>,
    /// Kept, where it was adopted here: torch's streams live as long as the process.
    _adopted: Option<Arc<Stream>>,
}

/// Native streams that are known: those of our own streams, and those that were adopted.
static KNOWN: PerProcess<Mutex<Vec<Known>>> = PerProcess::new(|_| Mutex::default());

/// Runs `body` with the stream current that TVM-FFI's environment has for the device, as torch sets
/// it; with the default one where it has none.
pub(crate) fn on_callers_stream(
    host: &Host,
    device: ChipdockDevice,
    body: impl FnOnce() -> Result<Any, Error>,
) -> Result<Any, Error> {
    let Some(tvm_ffi) = TvmFfi::present() else { return body() };
    let native = tvm_ffi.stream(device);
    if native.is_null() {
        return body();
    }
    let stream = over(host, device, native)?;
    let entered = stream.enter().map_err(raised)?;
    let done = body();
    drop(entered);
    done
}

/// Returns the stream on which a call of this thread with a tensor of the device runs (FFI-5);
/// `None` is the default one.
pub(crate) fn current(device: &Device) -> Result<Option<Arc<Stream>>, Error> {
    let number = device.number();
    let native = TvmFfi::present().map_or(std::ptr::null_mut(), |tvm_ffi| tvm_ffi.stream(number));
    if !native.is_null() {
        return over(device.host(), number, native).map(Some);
    }
    let own = |current: &mut Vec<(ChipdockDevice, Arc<Stream>)>| {
        current.iter().find(|(known, _)| *known == number).map(|(_, stream)| Arc::clone(stream))
    };
    Ok(CURRENT.with_borrow_mut(own))
}

/// Returns our stream over a native one.
fn over(host: &Host, device: ChipdockDevice, native: *mut c_void) -> Result<Arc<Stream>, Error> {
    let mut known = lock(KNOWN.of_this());
    known.retain(|known| known.stream.strong_count() > 0);
    let same = |known: &&Known| {
        known.native == native.addr() && known.device == device && known.host.side() == host.side()
    };
    if let Some(found) = known.iter().find(same).and_then(|known| known.stream.upgrade()) {
        return Ok(found);
    }
    let device_of_host = host.device_by_number(device).map_err(raised)?;
    // SAFETY: the environment's stream of this device, which the program keeps as long as it is
    // used.
    let adopted = unsafe { device_of_host.adopt_stream(native) };
    let adopted = Arc::new(
        adopted
            .map_err(|error| raised(error.while_doing("the current stream of the caller cannot be used")))?,
    );
    known.push(Known {
        host: host.clone(),
        device,
        native: native.addr(),
        stream: Arc::downgrade(&adopted),
        _adopted: Some(Arc::clone(&adopted)),
    });
    Ok(adopted)
}

/// Returns the native stream below one of ours, where its device shares it.
fn native(stream: &Stream) -> Option<*mut c_void> {
    stream.native().ok().filter(|native| !native.is_null())
}

pub(crate) fn stream(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let device = device_of(host, args[1], "device")?;
    let stream = Arc::new(device.create_stream().map_err(raised)?);
    if let Some(native) = native(&stream) {
        let known = Known {
            host: host.clone(),
            device: device.number(),
            native: native.addr(),
            stream: Arc::downgrade(&stream),
            _adopted: None,
        };
        lock(KNOWN.of_this()).push(known);
    }
    Ok(object(StreamObject(stream)))
}

pub(crate) fn stream_native(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let stream: &StreamObject = of(args[0], "stream")?;
    let native = stream.0.native().map_err(raised)?;
    Ok(i64::try_from(native.addr()).unwrap_or_default().into())
}

pub(crate) fn stream_sync(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let stream: &StreamObject = of(args[0], "stream")?;
    stream.0.sync().map_err(raised)?;
    Ok(Any::NONE)
}

pub(crate) fn stream_wait_for(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let stream: &StreamObject = of(args[0], "stream")?;
    let other: &StreamObject = of(args[1], "other")?;
    stream.0.wait_for(&other.0).map_err(raised)?;
    Ok(Any::NONE)
}

pub(crate) fn copy_on(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let from = tensor_of(host, args[1], "source")?;
    let to = tensor_of(host, args[2], "destination")?;
    let stream: &StreamObject = of(args[3], "stream")?;
    // SAFETY: the documentation of the function asks the caller to order other work on both
    // tensors; both stay alive until the stream was synchronised.
    unsafe { to.copy_from_on(&from, &stream.0, Order::default()) }.map_err(raised)?;
    Ok(Any::NONE)
}

/// Queues a graph on a stream.
pub(crate) fn replay(graph: &Graph, stream: &Stream, arguments: &[&Tensor]) -> Result<(), Error> {
    // SAFETY: the documentation of `graph_replay` asks the caller that the arguments overlap no
    // more than the parameters did, and to order other work on them.
    unsafe { graph.replay(stream, arguments, Order::default()) }.map_err(raised)
}

pub(crate) fn stream_device(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let stream: &StreamObject = of(args[0], "stream")?;
    Ok(stream.0.device().number().into())
}

/// Makes a stream current on this thread, or the default one; returns the one before.
pub(crate) fn set_stream(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let device = device_of(host, args[1], "device")?;
    let stream = match args[2].is_none() {
        true => None,
        false => Some(Arc::clone(&of::<StreamObject>(args[2], "stream")?.0)),
    };
    if let Some(stream) = &stream
        && stream.device().number() != device.number()
    {
        let message = format!("stream: expected one of {device:?}, found one of {:?}", stream.device());
        return Err(Error::new(ErrorKind::VALUE_ERROR, message));
    }
    let before = make_current(&device, stream)?;
    Ok(before.map_or(Any::NONE, |before| object(StreamObject(before))))
}

fn make_current(device: &Device, stream: Option<Arc<Stream>>) -> Result<Option<Arc<Stream>>, Error> {
    let default;
    let entered = match &stream {
        Some(stream) => stream.enter(),
        None => {
            default = device.default_stream();
            default.enter()
        }
    };
    // It stays current until the next call: a program in Python has no scope that a guard could
    // follow.
    std::mem::forget(entered.map_err(raised)?);
    // libtvm_ffi's table is as long as the greatest type that it was given; one that a host
    // assigned is known to no framework.
    if device.number().device_type < CHIPDOCK_DEVICE_FIRST_ASSIGNED
        && let Some(tvm_ffi) = TvmFfi::present()
    {
        let native = stream.as_deref().and_then(native).unwrap_or(std::ptr::null_mut());
        // SAFETY: null, or the native stream of one that is kept below as long as it is current.
        unsafe { tvm_ffi.set_stream(device.number(), native) }?;
    }
    let number = device.number();
    let before = CURRENT.with_borrow_mut(|current| {
        let at = current.iter().position(|(known, _)| *known == number);
        let before = at.map(|at| current.swap_remove(at).1);
        current.extend(stream.map(|stream| (number, stream)));
        before
    });
    Ok(before)
}
