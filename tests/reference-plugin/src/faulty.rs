//! The device API with the faults in its answers; without a fault it passes every call on.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use chipdock_plugin_api::graph::Graphs;
use chipdock_plugin_api::timeline::Timelines;
use chipdock_plugin_api::{
    Any, CopyRequest, DataSpaceRequest, DeviceApi, Error, ErrorKind, Shape, Stream, abi, attribute,
};

use crate::fault;

/// Number of simultaneous calls at which the fault that hangs under load begins to hang.
const LOAD: usize = 3;

/// A device API whose answers may be wrong.
pub(crate) struct Faulty<A> {
    inner: A,
    running: AtomicUsize,
    asked: AtomicI32,
}

impl<A: DeviceApi> Faulty<A> {
    /// Wraps the correct device API.
    pub(crate) fn new(inner: A) -> Self {
        Self { inner, running: AtomicUsize::new(0), asked: AtomicI32::new(0) }
    }

    /// Returns the result of a call, with the faults of failed calls.
    fn answered<T>(result: Result<T, Error>) -> Result<T, Error> {
        let error = match result {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        // P9.4: what a call that failed had made is kept for ever.
        if fault::is("leak-on-error") {
            std::mem::forget(vec![1_u8; 64 << 10]);
        }
        let kind = error.kind();
        // P7.3: the message says nothing.
        if fault::is("error-without-message") {
            return Err(Error::new(kind, ""));
        }
        // P7.3: nobody knows whose fault that kind is.
        if fault::is("error-kind-nonsense") {
            return Err(Error::new(ErrorKind::new("Oops"), error.message().into_owned()));
        }
        // D.26: no memory left is no defect of the plugin.
        if kind == ErrorKind::OUT_OF_MEMORY && fault::is("out-of-memory-as-internal-error") {
            return Err(Error::new(ErrorKind::INTERNAL, error.message().into_owned()));
        }
        Err(error)
    }

    /// Fault against P10.1: many simultaneous calls wait for each other for ever.
    fn load<T>(&self, body: impl FnOnce() -> T) -> T {
        if !fault::is("hang-under-load") {
            return body();
        }
        if self.running.fetch_add(1, Ordering::AcqRel) >= LOAD {
            loop {
                thread::park();
            }
        }
        thread::sleep(Duration::from_micros(300));
        let done = body();
        self.running.fetch_sub(1, Ordering::AcqRel);
        done
    }

    /// Fault against D.3: a device that does not exist is taken for the last one.
    fn device(device_id: i32) -> i32 {
        if fault::is("missing-device-accepted") { device_id.rem_euclid(2) } else { device_id }
    }

    fn wrong_attribute(&self, device_id: i32, key: &str) -> Option<Result<Option<Any>, Error>> {
        Some(match key {
            // D.11: a number as a text.
            attribute::WARP_SIZE if fault::is("attribute-wrong-type") => Ok(Some(Any::from("32"))),
            // D.11: one thread is no warp.
            attribute::WARP_SIZE if fault::is("attribute-without-meaning") => Ok(Some(Any::from(1))),
            // D.12: it changes with each question.
            attribute::MAX_CLOCK_RATE_KHZ if fault::is("attribute-unstable") => {
                Ok(Some(Any::from(1_000_000 + i64::from(self.asked.fetch_add(1, Ordering::Relaxed)))))
            }
            // D.13: an axis of a block has more threads than the block.
            attribute::MAX_THREAD_DIMENSIONS if fault::is("attributes-disagree") => {
                Ok(Some(Any::from(Shape::new(&[4096, 1024, 64]))))
            }
            // D.3: it must be an answer.
            attribute::EXIST if fault::is("exist-raises") => {
                self.inner.create_stream(device_id).map(|_| Some(Any::from(true)))
            }
            // V.1: bytes behind a short text that are not its own.
            attribute::COMPUTE_VERSION if fault::is("small-string-dirty-padding") => {
                let mut raw = Any::from("2.0").into_raw();
                // SAFETY: a small string; its payload is eight bytes of which it uses three.
                unsafe { raw.value.v_bytes[6] = 0xAA };
                // SAFETY: still a small string, and owned.
                Ok(Some(unsafe { Any::from_raw(raw) }))
            }
            // V.2: a borrowed text as a result.
            attribute::ARCH if fault::is("result-with-view-type") => {
                let mut raw = Any::NONE.into_raw();
                raw.type_index = abi::CHIPDOCK_TYPE_RAW_STR;
                raw.value.v_c_str = c"reference-2".as_ptr();
                // SAFETY: the fault itself: nothing that has to be released.
                Ok(Some(unsafe { Any::from_raw(raw) }))
            }
            _ => return None,
        })
    }
}

impl<A: DeviceApi> DeviceApi for Faulty<A> {
    fn registered_as(&self, device_type: i32) {
        self.inner.registered_as(device_type);
    }

    fn device_count(&self) -> Result<i32, Error> {
        // D.14: one more each time.
        if fault::is("device-count-unstable") {
            return Ok(2 + self.asked.fetch_add(1, Ordering::Relaxed) % 2);
        }
        self.inner.device_count()
    }

    fn attribute(&self, device_id: i32, key: &str) -> Result<Option<Any>, Error> {
        if let Some(wrong) = self.wrong_attribute(device_id, key) {
            return wrong;
        }
        let answer = Self::answered(self.inner.attribute(Self::device(device_id), key))?;
        // D.3: what is not known is no error.
        if answer.is_none() && fault::is("unknown-attribute-raises") {
            return Err(Error::new(ErrorKind::NOT_FOUND, format!("there is no attribute {key}")));
        }
        Ok(answer)
    }

    fn allocate_data_space(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
    ) -> Result<*mut c_void, Error> {
        // P8.4: a panic where an answer is due.
        assert!(!(request.size_bytes == u64::MAX && fault::is("panic-on-huge-size")), "too many bytes");
        self.load(|| Self::answered(self.inner.allocate_data_space(Self::device(device_id), request)))
    }

    unsafe fn free_data_space(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        // SAFETY: `data` is freed once (D.5), as the trait requires.
        let done = unsafe { self.inner.free_data_space(Self::device(device_id), data) };
        // P7.1, D.19: a failure becomes a success.
        if fault::is("error-swallowed") { Ok(()) } else { Self::answered(done) }
    }

    unsafe fn copy_data(&self, device_id: i32, copy: &CopyRequest, stream: Stream) -> Result<(), Error> {
        // SAFETY: the ends are live and do not overlap (D.6), as the trait requires.
        self.load(|| Self::answered(unsafe { self.inner.copy_data(Self::device(device_id), copy, stream) }))
    }

    fn create_stream(&self, device_id: i32) -> Result<Stream, Error> {
        Self::answered(self.inner.create_stream(Self::device(device_id)))
    }

    unsafe fn free_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        // SAFETY: `stream` is freed once, as the trait requires.
        Self::answered(unsafe { self.inner.free_stream(Self::device(device_id), stream) })
    }

    unsafe fn sync_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        // SAFETY: `stream` is the default stream or a live one, as the trait requires.
        Self::answered(unsafe { self.inner.sync_stream(Self::device(device_id), stream) })
    }

    unsafe fn sync_stream_from_to(&self, device_id: i32, from: Stream, to: Stream) -> Result<(), Error> {
        // D.16: nothing waits for anything.
        if fault::is("from-to-does-nothing") {
            return Ok(());
        }
        // SAFETY: both are default or live streams of this device, as the trait requires.
        Self::answered(unsafe { self.inner.sync_stream_from_to(Self::device(device_id), from, to) })
    }

    fn timelines(&self) -> Option<&dyn Timelines> {
        self.inner.timelines()
    }

    fn graphs(&self) -> Option<&dyn Graphs> {
        self.inner.graphs()
    }

    fn shutdown(&self) -> Result<(), Error> {
        self.inner.shutdown()
    }
}
