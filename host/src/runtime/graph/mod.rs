//! Graphs: launches and copies that are recorded once, and replayed with other tensors; by
//! interface `graph` 1 of a device (N.40 to N.49), or where its plugin does not have that, by a
//! list that the host keeps.
//!
//! * **GRAPH-G1 Recorded.** Between [`Device::begin_recording`] and [`Recording::finish`] the
//!   launches and copies that this thread queues on the device ([`Kernel::launch`],
//!   [`Tensor::copy_from_on`](super::Tensor::copy_from_on), and the kernels that called functions
//!   launch) become parts of the graph, in their order and whatever their streams. None of them
//!   runs.
//! * **GRAPH-G2 Host code.** Functions of host memory run as always, once, while they are recorded:
//!   what they decide, their scalars and the extents of their launches are part of the graph.
//! * **GRAPH-G3 Memory.** A part uses tensors alone that the graph knows: its parameters, what was
//!   given to [`Recording::keep`], the tensors of recorded launches and copies, and workspace. All
//!   but the parameters are kept as long as the graph and its queued replays. Other memory is
//!   `WrongState`.
//! * **GRAPH-G4 Refused.** In a recording, waiting for the device or reading its tensors, signals
//!   and waits of timelines, work on another device, kernels whose loader has no interface `launch`
//!   1, and a second recording are `WrongState` or `Unsupported`. The recording has failed then,
//!   and `finish` returns that error.
//! * **GRAPH-G5 Replayed.** [`Graph::replay`] queues all parts on one stream, in their order, with
//!   its arguments in place of the parameters, and waits for nothing. An argument has the device,
//!   type, shape and kind of memory of its parameter, and both are compact and begin at their
//!   handle. Anything else is an error, and nothing is queued.
//! * **GRAPH-G6 Fallback.** What the device's plugin refuses as `Unsupported`, the host's list
//!   does: a graph computes the same with and without the interface.
//! * **GRAPH-G7 Threads.** A recording belongs to its thread. A graph may be replayed by any
//!   thread, on any stream of its device, while earlier replays are queued. Its replays run one
//!   after another, whatever their streams: they share the memory that the graph keeps.

mod part;
mod recording;

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use chipdock_abi::{ChipdockExtension, ChipdockGraph1, ChipdockReplay};
use chipdock_ir::DType;

use super::capture;
use super::device::{Device, Stream};
use super::device_state::DeviceState;
use super::memory_kind::Place;
use super::queued::Held;
use super::tensor::{Kept, Tensor};
use super::timeline::Order;
use crate::boundary::registrar::DeviceApiEntry;
use crate::error::{Error, ErrorKind};
use part::Part;
pub use recording::Recording;

/// Launches and copies that were recorded, to be replayed with other tensors.
pub struct Graph {
    device: Device,
    /// The graph of the device's plugin, where it has interface `graph` 1.
    own: Option<Own>,
    parts: Vec<Part>,
    parameters: Vec<Parameter>,
    memory: Arc<Memory>,
    last: Arc<Mutex<Last>>,
}

/// The last replay of a graph.
#[derive(Default)]
struct Last {
    /// Number of replays.
    number: u64,
    /// The stream of the last one, as a number, until it is known to be done: a live one, as a
    /// stream that is freed settles its replays first.
    stream: Option<usize>,
}

/// The tensor that stands for an argument of each replay.
struct Parameter {
    data: *mut c_void,
    dtype: DType,
    shape: Vec<i64>,
    /// Where its memory is, as far as that is known.
    place: Option<Arc<Place>>,
}

// SAFETY: an opaque handle, which is compared alone.
unsafe impl Send for Parameter {}
// SAFETY: an opaque handle, which is compared alone.
unsafe impl Sync for Parameter {}

/// A graph of a plugin; freed when it is dropped.
struct Own {
    state: Arc<DeviceState>,
    raw: *mut c_void,
}

// SAFETY: an opaque handle; an interface's functions may be called from any thread (P3.11).
unsafe impl Send for Own {}
// SAFETY: an opaque handle; an interface's functions may be called from any thread (P3.11).
unsafe impl Sync for Own {}

/// The memory that a graph keeps besides its arguments.
struct Memory {
    state: Weak<DeviceState>,
    /// Handles of workspace.
    workspace: Vec<usize>,
    _kept: Vec<Box<dyn Any + Send + Sync>>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        let Some(state) = self.state.upgrade().filter(|state| state.services.check_process().is_ok()) else {
            return;
        };
        for data in &self.workspace {
            state.warn_of(state.free_raw(ptr::with_exposed_provenance_mut(*data)));
        }
    }
}

/// A queued replay, with the memory of the graph and its arguments.
struct Replayed {
    number: u64,
    last: Arc<Mutex<Last>>,
    _memory: Arc<Memory>,
    _arguments: Vec<Kept>,
}

impl Held for Replayed {
    fn settled(self: Box<Self>, _stream: *mut c_void) {
        let mut last = lock(&self.last);
        if last.number == self.number {
            last.stream = None;
        }
    }
}

fn lock(last: &Mutex<Last>) -> MutexGuard<'_, Last> {
    last.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DeviceApiEntry {
    /// Calls a function of interface `graph` 1.
    fn graph(&self, what: &str, call: impl FnOnce(&ChipdockGraph1, *mut c_void) -> i32) -> Result<(), Error> {
        self.call_interface("graph", what, call, || {
            let message = format!("device_api.{} has no interface `graph` 1", self.name);
            Error::new(ErrorKind::Unsupported, message)
        })
    }
}

impl Own {
    fn finish(&self) -> Result<(), Error> {
        // SAFETY: P3.11, the table with its `self_`; a graph of the device.
        self.state
            .api
            .graph("finish", |table, self_| unsafe { (table.finish)(self_, self.state.id, self.raw) })
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if self.state.services.check_process().is_err() {
            return;
        }
        // SAFETY: P3.11, the table with its `self_`; a graph of the device, freed once.
        let freed = self
            .state
            .api
            .graph("free", |table, self_| unsafe { (table.free)(self_, self.state.id, self.raw) });
        self.state.warn_of(freed);
    }
}

impl Parameter {
    fn new(tensor: &Tensor) -> Self {
        Self {
            data: tensor.view().data(),
            dtype: tensor.dtype(),
            shape: tensor.shape().to_vec(),
            place: tensor.known().map(|known| known.place),
        }
    }

    /// Checks that a tensor may be used in place of this one (GRAPH-G5).
    fn check(&self, position: usize, tensor: &Tensor) -> Result<(), Error> {
        let wrong = |expected: String, found: String| {
            Err(Error::new(
                ErrorKind::Value,
                format!("argument {position}: expected {expected}, found {found}"),
            ))
        };
        if tensor.dtype() != self.dtype || tensor.shape() != self.shape {
            let expected = format!("elements of {} and shape {:?}", self.dtype, self.shape);
            return wrong(expected, format!("{} and {:?}", tensor.dtype(), tensor.shape()));
        }
        let place = tensor.known().map(|known| known.place);
        let is_same = match (&place, &self.place) {
            (Some(found), Some(expected)) => found.kind == expected.kind && found.scope == expected.scope,
            (found, expected) => found.is_none() && expected.is_none(),
        };
        if !is_same {
            let text = |place: &Option<Arc<Place>>| match place {
                Some(place) => format!("memory of {}, scope {}", place.kind, place.scope),
                None => "memory that is not this host's".to_owned(),
            };
            return wrong(text(&self.place), text(&place));
        }
        check_whole(format_args!("argument {position}"), tensor)
    }
}

/// Checks that a tensor is compact and begins at its handle.
fn check_whole(what: impl fmt::Display, tensor: &Tensor) -> Result<(), Error> {
    tensor.check_description()?;
    if tensor.is_compact() && tensor.byte_offset() == 0 {
        return Ok(());
    }
    let message = format!(
        "{what}: expected a compact tensor that begins at its handle, found strides {:?} at {} bytes after it",
        tensor.strides(),
        tensor.byte_offset()
    );
    Err(Error::new(ErrorKind::Value, message))
}

/// Checks that a tensor is on a device.
fn check_device(what: impl fmt::Display, tensor: &Tensor, device: &Device) -> Result<(), Error> {
    if Arc::ptr_eq(tensor.device().state(), device.state()) {
        return Ok(());
    }
    let message = format!("{what} is on {:?}; expected a tensor on {device:?}", tensor.device());
    Err(Error::new(ErrorKind::Value, message))
}

impl Graph {
    /// Returns the device that it is of.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the number of launches and copies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Returns true if nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns true if the device's plugin replays it (`graph` 1); otherwise the host queues each
    /// part.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.own.is_some()
    }

    /// Queues all that was recorded on a stream, with these tensors in place of the parameters, and
    /// returns (GRAPH-G5). `order` says what it waits for and signals.
    ///
    /// The memory of the arguments is kept until the stream was synchronised.
    ///
    /// # Errors
    ///
    /// `ValueError`: another number of arguments, or one that differs from its parameter in more
    /// than its elements; a stream of another device. `WrongState` in a recording. A failure that
    /// earlier work on the stream left. Where the host queues the parts, those before one that is
    /// refused stay queued.
    ///
    /// # Safety
    ///
    /// * What the recorded kernels require of the parameters, such as that no two of them overlap,
    ///   holds for the arguments.
    /// * Other work that uses these tensors, or those that the graph keeps, on another stream is
    ///   ordered with this replay.
    pub unsafe fn replay(
        &self,
        stream: &Stream,
        arguments: &[&Tensor],
        order: Order<'_>,
    ) -> Result<(), Error> {
        let state = self.device.state();
        state.services.check_process()?;
        capture::refuse("a replay of another graph")?;
        if !Arc::ptr_eq(state, stream.device().state()) {
            let message = format!(
                "a graph of {:?} cannot be replayed on a stream of {:?}; expected one of the same device",
                self.device,
                stream.device()
            );
            return Err(Error::new(ErrorKind::Value, message));
        }
        if arguments.len() != self.parameters.len() {
            let (expected, found) = (self.parameters.len(), arguments.len());
            let message = format!("the graph has {expected} parameters, found {found} arguments");
            return Err(Error::new(ErrorKind::Value, message));
        }
        for (position, (parameter, argument)) in self.parameters.iter().zip(arguments).enumerate() {
            check_device(format_args!("argument {position}"), argument, &self.device)?;
            parameter.check(position, argument)?;
        }
        let handles: Vec<_> = arguments.iter().map(|argument| argument.view().data()).collect();
        order.queued(stream, |next| {
            if self.own.is_none() && !next.is_null() {
                // The host's list takes no chain: it is put between the calls of the timelines.
                return Err(Error::new(ErrorKind::Unsupported, "a list of parts takes no extensions"));
            }
            let (number, queued) = self.queue(stream, &handles, next);
            // Also after a failure: some of it may be queued.
            let held = Replayed {
                number,
                last: Arc::clone(&self.last),
                _memory: Arc::clone(&self.memory),
                _arguments: arguments.iter().map(|argument| argument.kept()).collect(),
            };
            let kept = state.keep(stream.raw(), Box::new(held));
            queued.and(kept)
        })
    }

    /// Queues the parts after the last replay, and returns the number of this one.
    fn queue(
        &self,
        stream: &Stream,
        handles: &[*mut c_void],
        next: *const ChipdockExtension,
    ) -> (u64, Result<(), Error>) {
        let state = self.device.state();
        // Held while it is queued: another thread's replay comes before or after it, and the stream
        // of the last one lives.
        let mut last = lock(&self.last);
        last.number += 1;
        let ordered = match last.stream.replace(stream.raw().expose_provenance()) {
            Some(other) if other != stream.raw().addr() => {
                let other = ptr::with_exposed_provenance_mut(other);
                state.api.sync_from_to(state.id, other, stream.raw())
            }
            _ => Ok(()),
        };
        let queued = ordered.and_then(|()| match &self.own {
            Some(own) => self.replay_own(own, stream, handles, next),
            None => self.parts.iter().try_for_each(|part| part.queue(state, stream.raw(), handles)),
        });
        (last.number, queued)
    }

    fn replay_own(
        &self,
        own: &Own,
        stream: &Stream,
        handles: &[*mut c_void],
        next: *const ChipdockExtension,
    ) -> Result<(), Error> {
        // A tensor without elements may have no handle, and is no parameter of the plugin's.
        let with_handles = self.parameters.iter().zip(handles);
        let given: Vec<_> =
            with_handles.filter(|(parameter, _)| !parameter.data.is_null()).map(|(_, data)| *data).collect();
        let request = ChipdockReplay {
            device_id: own.state.id,
            flags: 0,
            stream: stream.raw(),
            arguments: given.as_ptr(),
            arguments_count: given.len() as u64,
            next,
        };
        // SAFETY: P3.11, the table with its `self_`; a graph of the device, and a request that
        // lives for the call, with data spaces like the parameters, kept until the stream is
        // synchronised.
        own.state.api.graph("replay", |table, self_| unsafe { (table.replay)(self_, own.raw, &request) })
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, parameters) = (self.parts.len(), self.parameters.len());
        write!(f, "Graph({parts} parts, {parameters} parameters, {:?})", self.device)
    }
}
