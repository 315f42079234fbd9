//! Interface `graph` 1 of a device API, and the extension of copies and launches that are recorded
//! (N.40 to N.49).

use core::ffi::c_void;

use chipdock_abi::{ChipdockExtension, ChipdockGraph1, ChipdockGraphRecord, ChipdockReplay};

use crate::device_api::not_null;
use crate::host::write_out;
use crate::interface::{InterfaceKind, check_handle, check_place, enter};
use crate::timeline::Order;
use crate::{CopyRequest, Error, ErrorKind, Stream, extension, timeline};

/// The extension of a copy or a launch that is added to a graph.
pub const RECORD: &str = "graph.record";

/// A graph of a device: an opaque handle, never null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Graph(*mut c_void);

// SAFETY: an opaque handle; what may be done with it is the device API's to say, for any thread
// (P10).
unsafe impl Send for Graph {}
// SAFETY: an opaque handle; what may be done with it is the device API's to say, for any thread
// (P10).
unsafe impl Sync for Graph {}

impl Graph {
    /// Makes a graph from its handle.
    #[must_use]
    pub const fn from_raw(handle: *mut c_void) -> Self {
        Self(handle)
    }

    /// Returns the handle.
    #[must_use]
    pub const fn into_raw(self) -> *mut c_void {
        self.0
    }
}

/// Interface `graph` 1 of a device API: copies and launches that are recorded once, and replayed
/// with other data spaces.
///
/// A plugin implements [`kit::Recorder`](crate::kit::Recorder) instead, and gets this for it:
/// handles, parameters and states are then the kit's. Launches are recorded by
/// [`Launches::record`](crate::launch::Launches::record).
///
/// On a device that does not check handles ([`crate::attribute::CHECKED_HANDLES`], N.49), the
/// caller guarantees that they are valid.
pub trait Graphs: Send + Sync + 'static {
    /// Makes an empty graph. The parameters are not null and differ: the shim has checked them
    /// (N.40).
    ///
    /// # Errors
    ///
    /// * `Unsupported`: this device records nothing.
    /// * `WrongState`, `ValueError`: a parameter is no data space of the device.
    /// * `OutOfMemory`, `DeviceLost`: none was made.
    fn create(&self, device_id: i32, parameters: &[*mut c_void]) -> Result<Graph, Error>;

    /// Frees a graph (N.48). It is not null: the shim handles null.
    ///
    /// # Errors
    ///
    /// * `WrongState`, `ValueError`: the graph is not live, or belongs to another device.
    ///
    /// # Safety
    ///
    /// * `graph` came from [`Self::create`] of the same device, and is freed once.
    unsafe fn free(&self, device_id: i32, graph: Graph) -> Result<(), Error>;

    /// Adds a copy to a graph, whose data spaces are not null; `None` for one of size 0, which adds
    /// nothing, to a graph that is checked all the same (N.41 to N.43).
    ///
    /// # Errors
    ///
    /// * `WrongState`: the recording has ended.
    /// * Those of [`DeviceApi::copy_data`](crate::DeviceApi::copy_data); then the graph is as it
    ///   was.
    ///
    /// # Safety
    ///
    /// * `graph` is one of this device that is not freed.
    /// * The data spaces of the copy are live, and hold the ranges.
    unsafe fn record_copy(
        &self,
        device_id: i32,
        graph: Graph,
        copy: Option<&CopyRequest>,
    ) -> Result<(), Error>;

    /// Ends the recording (N.44).
    ///
    /// # Errors
    ///
    /// * `WrongState`: it has ended before.
    /// * The driver's; then the graph can only be freed.
    ///
    /// # Safety
    ///
    /// * `graph` is one of this device that is not freed.
    unsafe fn finish(&self, device_id: i32, graph: Graph) -> Result<(), Error>;

    /// Queues all that was recorded, with these arguments, which are not null (N.45 to N.47).
    ///
    /// # Errors
    ///
    /// * `ValueError`: the graph has another number of parameters.
    /// * `WrongState`: the recording has not ended.
    /// * A failure that the stream keeps (P7.5); then nothing is queued.
    ///
    /// # Safety
    ///
    /// * `graph` is one of this device that is not freed, and so is `stream`, or it is the default
    ///   stream.
    /// * The arguments are data spaces of the device, no smaller than the parameters, and live
    ///   until the replay is done, as do the other data spaces that were recorded.
    unsafe fn replay(
        &self,
        device_id: i32,
        graph: Graph,
        stream: Stream,
        arguments: &[*mut c_void],
    ) -> Result<(), Error>;
}

/// What is to be done with a copy or a launch, by its chain of extensions.
pub(crate) enum Chain {
    /// It is queued, in this order.
    Queue(Order),
    /// It is added to this graph.
    Record(Graph),
}

/// Reads the chain of extensions of `what`, of which those of timelines and graphs are understood
/// if the device API has them.
///
/// # Errors
///
/// As of [`extension::check`]; `ValueError` for an entry that is too short or has a null handle,
/// and for another entry beside `graph.record`.
///
/// # Safety
///
/// * As of [`extension::check`].
pub(crate) unsafe fn chain_of(
    next: *const ChipdockExtension,
    what: &str,
    has_timelines: bool,
    has_graphs: bool,
) -> Result<Chain, Error> {
    let (mut order, mut graph) = (Order::default(), None);
    if next.is_null() {
        return Ok(Chain::Queue(order));
    }
    let understand = |name: &str, entry: &ChipdockExtension| {
        match name {
            timeline::WAIT if has_timelines => order.waits.push(timeline::point_of(entry, name, what)?),
            timeline::SIGNAL if has_timelines => order.signals.push(timeline::point_of(entry, name, what)?),
            RECORD if has_graphs => {
                crate::ensure!(
                    graph.is_none(),
                    ErrorKind::VALUE_ERROR,
                    "{what} has two extensions {RECORD}: expected one, as it is added to one graph"
                );
                // SAFETY: an aligned entry of that name (N.41) that lives for the call.
                let entry = unsafe { extension::entry_as::<ChipdockGraphRecord>(entry, name, what) }?;
                check_handle(entry.graph, "the graph of an extension")?;
                graph = Some(Graph::from_raw(entry.graph));
            }
            _ => return Ok(false),
        }
        Ok(true)
    };
    // SAFETY: a chain as this function requires.
    unsafe { extension::check_with(next, what, understand) }?;
    let Some(graph) = graph else { return Ok(Chain::Queue(order)) };
    crate::ensure!(
        order.is_empty(),
        ErrorKind::VALUE_ERROR,
        "{what} has extensions of timelines beside {RECORD}: expected none, as nothing is queued; order the replays \
         instead"
    );
    Ok(Chain::Record(graph))
}

/// Returns the handles of an array of a call, none of which may be null.
///
/// # Safety
///
/// * `handles` is null or has so many of them, which live for `'a`.
unsafe fn handles_in<'a>(
    handles: *const *mut c_void,
    count: u64,
    what: &str,
) -> Result<&'a [*mut c_void], Error> {
    if count == 0 {
        return Ok(&[]);
    }
    crate::ensure!(
        !handles.is_null() && handles.is_aligned(),
        ErrorKind::VALUE_ERROR,
        "the {what}s are at {handles:p}: expected {count} of them at a valid pointer"
    );
    let is_whole = usize::try_from(count).ok().filter(|count| *count <= isize::MAX as usize / 8);
    let Some(count) = is_whole else {
        crate::bail!(
            ErrorKind::VALUE_ERROR,
            "expected a number of {what}s that memory can hold, found {count}"
        )
    };
    // SAFETY: not null, aligned, and so many, as this function requires.
    let handles = unsafe { core::slice::from_raw_parts(handles, count) };
    if let Some(index) = handles.iter().position(|handle| handle.is_null()) {
        crate::bail!(ErrorKind::VALUE_ERROR, "{what} {index} is null: pass a data space of the device")
    }
    Ok(handles)
}

/// Refuses a parameter that occurs twice (N.40).
fn check_once(parameters: &[*mut c_void]) -> Result<(), Error> {
    let mut sorted: Vec<(usize, usize)> =
        parameters.iter().enumerate().map(|(index, data)| (data.addr(), index)).collect();
    sorted.sort_unstable();
    for pair in sorted.windows(2) {
        crate::ensure!(
            pair[0].0 != pair[1].0,
            ErrorKind::VALUE_ERROR,
            "parameters {} and {} of the graph are one data space, {:#x}: expected each once",
            pair[0].1,
            pair[1].1,
            pair[0].0
        );
    }
    Ok(())
}

unsafe extern "C" fn create(
    self_: *mut c_void,
    device_id: i32,
    parameters: *const *mut c_void,
    parameters_count: u64,
    out_graph: *mut *mut c_void,
) -> i32 {
    let body = |graphs: &dyn Graphs| {
        check_place(out_graph)?;
        // SAFETY: so many parameters, which live for the call.
        let parameters = unsafe { handles_in(parameters, parameters_count, "parameter") }?;
        check_once(parameters)?;
        // SAFETY: the caller's place.
        unsafe { write_out(out_graph, graphs.create(device_id, parameters)?.into_raw()) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Graphs>(self_, body) }
}

unsafe extern "C" fn free(self_: *mut c_void, device_id: i32, graph: *mut c_void) -> i32 {
    let body = |graphs: &dyn Graphs| {
        if graph.is_null() {
            return Ok(());
        }
        // SAFETY: a live graph that is freed once (N.49).
        unsafe { graphs.free(device_id, Graph::from_raw(graph)) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Graphs>(self_, body) }
}

unsafe extern "C" fn finish(self_: *mut c_void, device_id: i32, graph: *mut c_void) -> i32 {
    let body = |graphs: &dyn Graphs| {
        check_handle(graph, "the graph")?;
        // SAFETY: a live graph (N.49).
        unsafe { graphs.finish(device_id, Graph::from_raw(graph)) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Graphs>(self_, body) }
}

unsafe extern "C" fn replay(self_: *mut c_void, graph: *mut c_void, request: *const ChipdockReplay) -> i32 {
    let body = |graphs: &dyn Graphs| {
        check_handle(graph, "the graph")?;
        // SAFETY: a live request (N.45).
        let request = unsafe { not_null(request, "the replay") }?;
        // SAFETY: a live chain or null.
        unsafe { extension::check(request.next, "the replay") }?;
        // SAFETY: so many arguments, which live for the call.
        let arguments = unsafe { handles_in(request.arguments, request.arguments_count, "argument") }?;
        let (graph, stream) = (Graph::from_raw(graph), Stream::from_raw(request.stream));
        // SAFETY: a live graph and the default stream or a live one (D.19, N.49), and data spaces
        // that live until the replay is done (N.46, N.48).
        unsafe { graphs.replay(request.device_id, graph, stream, arguments) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Graphs>(self_, body) }
}

static TABLE: ChipdockGraph1 = ChipdockGraph1 { create, free, finish, replay };

/// Interface `graph` 1 of a device API.
// SAFETY: the table of that name and version, whose functions go through `enter`.
pub const GRAPH: InterfaceKind<dyn Graphs> = unsafe { InterfaceKind::new("graph", 1, &TABLE) };
