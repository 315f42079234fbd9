//! The recording of a thread: from the first call to the finished graph.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use chipdock_abi::{
    CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD, ChipdockCopy, ChipdockCopyEnd, ChipdockDataType,
    ChipdockExtension, ChipdockGraph1, ChipdockGraphRecord,
};
use chipdock_plugin_api::graph::RECORD;
use chipdock_plugin_api::kernel::{KernelArg, Launch};
use chipdock_plugin_api::text::static_str;

use super::super::capture::{self, At, Capture, Launches, Used};
use super::super::device::Device;
use super::super::device_state::DeviceState;
use super::super::tables::broken;
use super::super::tensor::Tensor;
use super::part::Part;
use super::{Graph, Memory, Own, Parameter, check_device, check_whole};
use crate::boundary::slots::Slots;
use crate::error::{Error, ErrorKind};

thread_local! {
    /// The recording of this thread; taken out while a plugin is called for it.
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Workspace is allocated in multiples of this.
const PAGE_BYTES: u64 = 4096;

/// What was recorded so far.
struct Recorder {
    device: Device,
    own: Option<Own>,
    parameters: Vec<Parameter>,
    parts: Vec<Part>,
    kept: Vec<Box<dyn Any + Send + Sync>>,
    /// Handles of what is kept, as numbers.
    known: HashSet<usize>,
    workspace: Vec<Workspace>,
    /// The first error: the graph would not do all that its caller did.
    failed: Option<Error>,
}

/// A piece of workspace. Its handle is a number, and never dereferenced.
struct Workspace {
    data: usize,
    size_bytes: u64,
    is_used: bool,
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // Of a recording that was given up; a finished one has handed both over. The graph goes
        // first: it may name the workspace (N.48).
        drop(self.own.take());
        for piece in &self.workspace {
            let state = self.device.state();
            state.warn_of(state.free_raw(ptr::with_exposed_provenance_mut(piece.data)));
        }
    }
}

/// A recording of this thread: while it lives, launches and copies on its device are recorded
/// instead of queued (GRAPH-G1). Dropping it gives it up.
#[derive(Debug)]
#[must_use = "a recording that is dropped is given up"]
pub struct Recording {
    /// It belongs to its thread.
    _thread: PhantomData<*const ()>,
}

impl Device {
    /// Begins to record what this thread launches and copies on the device. In place of the
    /// parameters each replay uses its arguments.
    ///
    /// # Errors
    ///
    /// * `Unsupported`: the device is host memory, whose functions run when they are called.
    /// * `WrongState`: this thread records already.
    /// * `ValueError`: a parameter is on another device, is not compact, does not begin at its
    ///   handle, or has the memory of another one.
    ///
    /// After an error nothing is recorded.
    pub fn begin_recording(&self, parameters: &[&Tensor]) -> Result<Recording, Error> {
        let state = self.state();
        state.services.check_process()?;
        if self.is_host_memory() {
            let message = format!("functions of {self:?} run when they are called, and are not recorded");
            return Err(Error::new(ErrorKind::Unsupported, message).hint("record on the kernels' device"));
        }
        if Slots::is_recording() {
            return Err(Error::new(ErrorKind::WrongState, "this thread records a graph already")
                .hint("finish that recording first"));
        }
        let mut known = Vec::new();
        for (position, tensor) in parameters.iter().enumerate() {
            let what = format!("parameter {position}");
            check_device(&what, tensor, self)?;
            check_whole(&what, tensor)?;
            let parameter = Parameter::new(tensor);
            let same = known.iter().position(|other: &Parameter| other.data == parameter.data);
            if let Some(other) = same.filter(|_| !parameter.data.is_null()) {
                let message =
                    format!("{what} has the memory of parameter {other}; expected each tensor once");
                return Err(Error::new(ErrorKind::Value, message));
            }
            known.push(parameter);
        }
        let handles: Vec<_> =
            known.iter().map(|parameter| parameter.data).filter(|data| !data.is_null()).collect();
        let recorder = Recorder {
            device: self.clone(),
            own: own_graph(state, &handles)?,
            parameters: known,
            parts: Vec::new(),
            kept: Vec::new(),
            known: HashSet::new(),
            workspace: Vec::new(),
            failed: None,
        };
        RECORDER.set(Some(recorder));
        capture::set(Some(&RECORDERS));
        Ok(Recording { _thread: PhantomData })
    }
}

/// Makes a graph of the plugin; `None` where it has no interface `graph` 1, or this device records
/// nothing (N.40).
fn own_graph(state: &Arc<DeviceState>, parameters: &[*mut c_void]) -> Result<Option<Own>, Error> {
    if state.api.extensions.get::<ChipdockGraph1>("graph", 1).is_none() {
        return Ok(None);
    }
    let mut raw = ptr::null_mut();
    // SAFETY: P3.11, the table with its `self_`; live data spaces of the device, and a place to
    // write to.
    let made = state.api.graph("create", |table, self_| unsafe {
        (table.create)(self_, state.id, parameters.as_ptr(), parameters.len() as u64, &mut raw)
    });
    match made {
        Err(error) if *error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(error),
        Ok(()) if raw.is_null() => {
            let name = &state.api.name;
            Err(broken(format!(
                "`create` of interface `graph` of device_api.{name} succeeded and answered null"
            )))
        }
        Ok(()) => Ok(Some(Own { state: Arc::clone(state), raw })),
    }
}

impl Recording {
    /// Takes over the recording that this thread has left open ([`Self::leave`]).
    #[must_use]
    pub fn of_this_thread() -> Option<Self> {
        Slots::is_recording().then_some(Self { _thread: PhantomData })
    }

    /// Leaves it open, for [`Self::of_this_thread`] to take over: for callers that cannot hold a
    /// value.
    pub fn leave(self) {
        std::mem::forget(self);
    }

    /// Keeps a tensor that is no parameter for as long as the graph, so that recorded kernels may
    /// use it (GRAPH-G3).
    ///
    /// # Errors
    ///
    /// `ValueError`: the tensor is on another device.
    pub fn keep(&self, tensor: &Tensor) -> Result<(), Error> {
        within(|recorder| {
            check_device("the tensor to keep", tensor, &recorder.device)?;
            recorder.keep(tensor.used());
            Ok(())
        })
        .unwrap_or_else(|| Err(gone()))
    }

    /// Ends the recording, and returns the graph.
    ///
    /// # Errors
    ///
    /// The first error of the recording (GRAPH-G4); an error of the device. There is no graph then.
    pub fn finish(self) -> Result<Graph, Error> {
        let mut recorder = RECORDER.take().ok_or_else(gone)?;
        drop(self);
        if let Some(failed) = recorder.failed.take() {
            return Err(failed);
        }
        let mut own = recorder.own.take();
        match own.as_ref().map_or(Ok(()), Own::finish) {
            Err(error) if *error.kind() == ErrorKind::Unsupported => own = None,
            finished => finished?,
        }
        let memory = Memory {
            state: Arc::downgrade(recorder.device.state()),
            workspace: std::mem::take(&mut recorder.workspace).iter().map(|piece| piece.data).collect(),
            _kept: std::mem::take(&mut recorder.kept),
        };
        Ok(Graph {
            device: recorder.device.clone(),
            own,
            parts: std::mem::take(&mut recorder.parts),
            parameters: std::mem::take(&mut recorder.parameters),
            memory: Arc::new(memory),
            last: Arc::default(),
        })
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        capture::set(None);
        drop(RECORDER.take());
    }
}

fn gone() -> Error {
    Error::new(ErrorKind::WrongState, "this thread records no graph, or is within a call of its plugin")
}

/// Calls `body` with the recording of this thread, which meanwhile is none: a plugin that is called
/// may call the host. `None` where nothing is recorded.
fn within<R>(body: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    if !Slots::is_recording() {
        return None;
    }
    let mut recorder = RECORDER.take()?;
    let done = body(&mut recorder);
    RECORDER.set(Some(recorder));
    Some(done)
}

/// The recordings of all threads, each found by its thread.
struct Recorders;

static RECORDERS: Recorders = Recorders;

impl Capture for Recorders {
    fn refuse(&self, what: &str) -> Result<(), Error> {
        within(|recorder| {
            let message = format!("{what} cannot be part of the graph that this thread records");
            let error = Error::new(ErrorKind::WrongState, message);
            recorder.fails(error.hint("do it before or after the recording"))
        })
        .unwrap_or(Ok(()))
    }

    fn launch(
        &self,
        at: At,
        kernel: Arc<dyn Launches>,
        launch: &Launch,
        used: Vec<Used>,
    ) -> Option<Result<(), Error>> {
        within(|recorder| {
            used.into_iter().for_each(|used| recorder.keep(used));
            let added = recorder.launch(at, kernel, launch);
            added.or_else(|error| recorder.fails(error))
        })
    }

    fn copy(&self, at: At, copy: &ChipdockCopy, used: Vec<Used>) -> Option<Result<(), Error>> {
        within(|recorder| {
            used.into_iter().for_each(|used| recorder.keep(used));
            let added = recorder.copy(at, copy);
            added.or_else(|error| recorder.fails(error))
        })
    }

    fn workspace(&self, at: At, size_bytes: u64) -> Option<Result<*mut c_void, Error>> {
        within(|recorder| {
            let expected = recorder.expect_device(at, "workspace");
            let allocated = expected.and_then(|()| recorder.workspace(size_bytes));
            allocated.or_else(|error| recorder.fails(error))
        })
    }

    fn free_workspace(&self, data: *mut c_void) -> bool {
        within(|recorder| {
            let is_it = |piece: &&mut Workspace| piece.is_used && piece.data == data.addr();
            recorder.workspace.iter_mut().find(is_it).map(|piece| piece.is_used = false).is_some()
        })
        .unwrap_or(false)
    }
}

impl Recorder {
    /// Keeps the first error, and returns it.
    fn fails<T>(&mut self, error: Error) -> Result<T, Error> {
        self.failed.get_or_insert_with(|| error.clone());
        Err(error)
    }

    fn parameter(&self, data: *mut c_void) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.data == data && !data.is_null())
    }

    /// Keeps memory, unless it is a parameter's, or kept already.
    fn keep(&mut self, used: Used) {
        let is_here = used.at == self.device.state().at();
        if !is_here || (self.parameter(used.data).is_none() && self.known.insert(used.data.addr())) {
            self.kept.push(used.held);
        }
    }

    /// Returns the parameter that an end of a copy is.
    fn parameter_at(&self, end: ChipdockCopyEnd) -> Option<usize> {
        self.parameter(end.data).filter(|_| end.device == self.device.number())
    }

    fn expect_device(&self, at: At, what: &str) -> Result<(), Error> {
        let state = self.device.state();
        if state.at() == at {
            return Ok(());
        }
        let other = self.device.host().0.devices.by_number(at.device);
        let other = other.filter(|_| at.host == state.at().host);
        let other =
            other.map_or("another host's device".to_owned(), |it| format!("{}:{}", it.api.name, it.id));
        let message = format!("{what} on {other} in a recording of {:?}", self.device);
        Err(Error::new(ErrorKind::WrongState, message).hint("a graph is of one device"))
    }

    fn launch(&mut self, at: At, kernel: Arc<dyn Launches>, launch: &Launch) -> Result<(), Error> {
        let name = kernel.name();
        self.expect_device(at, &format!("kernel {name}"))?;
        let mut places = Vec::new();
        for (position, arg) in launch.args.iter().enumerate() {
            let KernelArg::Pointer(data) = arg else { continue };
            match self.parameter(*data) {
                Some(parameter) => places.push((position, parameter)),
                None if data.is_null() || self.is_known(*data) => {}
                None => {
                    let message = format!(
                        "kernel {name}, argument {position}: memory {data:p} is neither a parameter of the graph nor kept \
                         by it"
                    );
                    return Err(Error::new(ErrorKind::WrongState, message)
                        .hint("make its tensor a parameter, or have the recording keep it"));
                }
            }
        }
        self.add(Part::Launch { kernel, launch: launch.clone(), places })
    }

    fn copy(&mut self, at: At, copy: &ChipdockCopy) -> Result<(), Error> {
        self.expect_device(at, "a copy")?;
        let (from, to) = (self.parameter_at(copy.from), self.parameter_at(copy.to));
        self.add(Part::Copy { copy: ChipdockCopy { next: ptr::null(), ..*copy }, from, to })
    }

    fn is_known(&self, data: *mut c_void) -> bool {
        self.known.contains(&data.addr()) || self.workspace.iter().any(|piece| piece.data == data.addr())
    }

    /// Adds a part, in the plugin's graph too.
    fn add(&mut self, part: Part) -> Result<(), Error> {
        let state = Arc::clone(self.device.state());
        if let Some(own) = &self.own {
            let extension = ChipdockExtension {
                next: ptr::null(),
                name: static_str(RECORD),
                flags: CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD,
                size_bytes: size_of::<ChipdockGraphRecord>() as u32,
            };
            let entry = ChipdockGraphRecord { extension, graph: own.raw };
            match part.record(&state, ptr::from_ref(&entry).cast()) {
                // GRAPH-G6: the list has all of it.
                Err(error) if *error.kind() == ErrorKind::Unsupported => self.own = None,
                recorded => recorded?,
            }
        }
        self.parts.push(part);
        Ok(())
    }

    fn workspace(&mut self, size_bytes: u64) -> Result<*mut c_void, Error> {
        let free = self.workspace.iter_mut().filter(|piece| !piece.is_used && piece.size_bytes >= size_bytes);
        if let Some(piece) = free.min_by_key(|piece| piece.size_bytes) {
            piece.is_used = true;
            return Ok(ptr::with_exposed_provenance_mut(piece.data));
        }
        let Some(size_bytes) = size_bytes.max(1).checked_next_multiple_of(PAGE_BYTES) else {
            let message = format!("{size_bytes} bytes of workspace cannot be allocated");
            return Err(Error::new(ErrorKind::OutOfMemory, message));
        };
        let unknown = ChipdockDataType { code: 0, bits: 8, lanes: 0 };
        let data = self.device.state().allocate_plain(size_bytes, unknown)?;
        self.workspace.push(Workspace { data: data.expose_provenance(), size_bytes, is_used: true });
        Ok(data)
    }
}
