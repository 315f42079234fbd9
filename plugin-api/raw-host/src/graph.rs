//! Interface `graph` 1 of a device API, called through its table, and copies and launches that are
//! recorded.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{ChipdockCopyEnd, ChipdockExtension, ChipdockGraph1, ChipdockReplay};
use chipdock_plugin_api::Error;
pub use chipdock_plugin_api::graph::RECORD;

use crate::codegen::Chain;
use crate::device::Device;
use crate::stream::Stream;
use crate::timeline::OrderChain;

/// A graph that is freed on drop.
pub struct Graph<'d> {
    device: &'d Device,
    device_id: i32,
    raw: *mut c_void,
}

// SAFETY: an opaque handle; P10.1 lets any thread use it.
unsafe impl Send for Graph<'_> {}
// SAFETY: an opaque handle; P10.1 lets any thread use it.
unsafe impl Sync for Graph<'_> {}

/// Returns a request to replay a graph.
fn request(
    device_id: i32,
    stream: *mut c_void,
    arguments: &[*mut c_void],
    next: *const ChipdockExtension,
) -> ChipdockReplay {
    let (arguments_count, arguments) = (arguments.len() as u64, arguments.as_ptr());
    ChipdockReplay { device_id, flags: 0, stream, arguments, arguments_count, next }
}

#[expect(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "streams, graphs and data spaces are handles that only the plugin looks behind"
)]
impl Device {
    fn graph(&self, what: &str, call: impl FnOnce(&ChipdockGraph1, *mut c_void) -> i32) -> Result<(), Error> {
        self.call_interface("graph", what, call)
    }

    /// Makes a graph; the parameters may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn create_graph(&self, device_id: i32, parameters: &[*mut c_void]) -> Result<Graph<'_>, Error> {
        let mut raw = ptr::null_mut();
        // SAFETY: by P3.11, this is the table with its `self_`; the parameters live for the call,
        // and there is room for the result.
        self.graph("create", |table, self_| unsafe {
            (table.create)(self_, device_id, parameters.as_ptr(), parameters.len() as u64, &mut raw)
        })?;
        Ok(Graph { device: self, device_id, raw })
    }

    /// Calls `create` with a null output pointer, `create` with null for one parameter, `replay`
    /// with null for one argument, and `replay` of null (D.2), and returns the answers.
    pub fn graph_nowhere(&self, graph: &Graph<'_>) -> [Result<(), Error>; 4] {
        let (device_id, raw, mut out) = (graph.device_id, graph.raw, ptr::null_mut());
        let replay = ChipdockReplay {
            arguments: ptr::null(),
            arguments_count: 1,
            ..request(device_id, ptr::null_mut(), &[], ptr::null())
        };
        // SAFETY: by P3.11, this is the table with its `self_`; null pointers are refused.
        unsafe {
            [
                self.graph("create", |table, self_| {
                    (table.create)(self_, device_id, ptr::null(), 0, ptr::null_mut())
                }),
                self.graph("create", |table, self_| {
                    (table.create)(self_, device_id, ptr::null(), 1, &mut out)
                }),
                self.graph("replay", |table, self_| (table.replay)(self_, raw, &replay)),
                self.graph("replay", |table, self_| (table.replay)(self_, raw, ptr::null())),
            ]
        }
    }

    /// Ends a recording; the graph may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn finish_graph_raw(&self, device_id: i32, graph: *mut c_void) -> Result<(), Error> {
        // SAFETY: by P3.11, this is the table with its `self_`; the graph is valid or checked by
        // the plugin.
        self.graph("finish", |table, self_| unsafe { (table.finish)(self_, device_id, graph) })
    }

    /// Queues a replay; graph, stream and arguments may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn replay_raw(
        &self,
        device_id: i32,
        graph: *mut c_void,
        stream: *mut c_void,
        arguments: &[*mut c_void],
    ) -> Result<(), Error> {
        self.replay_extended(graph, &request(device_id, stream, arguments, ptr::null()))
    }

    fn replay_extended(&self, graph: *mut c_void, request: &ChipdockReplay) -> Result<(), Error> {
        // SAFETY: by P3.11, this is the table with its `self_`; the handles are valid or checked by
        // the plugin, and the request lives for the call.
        self.graph("replay", |table, self_| unsafe { (table.replay)(self_, graph, request) })
    }

    /// Frees a graph by its handle.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    ///
    /// # Safety
    ///
    /// * The graph is null, or belongs to that device and is freed once; or the case tests how the
    ///   plugin answers an invalid one.
    pub unsafe fn free_graph_raw(&self, device_id: i32, raw: *mut c_void) -> Result<(), Error> {
        // SAFETY: the graph is null or freed once, or the case tests that it is refused.
        self.graph("free", |table, self_| unsafe { (table.free)(self_, device_id, raw) })
    }
}

impl Graph<'_> {
    /// Returns the handle.
    #[must_use]
    pub fn raw(&self) -> *mut c_void {
        self.raw
    }

    /// Returns the chain of extensions of a copy or a launch that is recorded.
    #[must_use]
    pub fn chain(&self) -> OrderChain {
        OrderChain::new(&[(RECORD, self.raw, 0)])
    }

    /// Records a copy.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    ///
    /// # Safety
    ///
    /// * D.6 holds for both ends until every replay is done, N.48 for parameters.
    pub unsafe fn copy(
        &self,
        from: ChipdockCopyEnd,
        to: ChipdockCopyEnd,
        size_bytes: u64,
    ) -> Result<(), Error> {
        let stream = self.device.default_stream(self.device_id);
        // SAFETY: the ends live until every replay is done, as this function requires.
        unsafe { stream.copy_ordered(from, to, size_bytes, &self.chain()) }
    }

    /// Ends the recording.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn finish(&self) -> Result<(), Error> {
        self.device.finish_graph_raw(self.device_id, self.raw)
    }

    /// Frees the graph now and returns the plugin's answer.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn free(self) -> Result<(), Error> {
        let (device, device_id, raw) = (self.device, self.device_id, self.raw);
        std::mem::forget(self);
        // SAFETY: the graph was made by that device and is freed only here.
        unsafe { device.free_graph_raw(device_id, raw) }
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // SAFETY: the graph was made by that device and is freed only here. Cases that test the
        // answer call `free`.
        drop(unsafe { self.device.free_graph_raw(self.device_id, self.raw) });
    }
}

impl Stream<'_> {
    /// Queues a replay of a graph.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn replay(&self, graph: &Graph<'_>, arguments: &[*mut c_void]) -> Result<(), Error> {
        let (device, device_id) = self.device();
        device.replay_raw(device_id, graph.raw, self.raw(), arguments)
    }

    /// Queues a replay with a chain of extensions, by their names and flags.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn replay_with(
        &self,
        graph: &Graph<'_>,
        arguments: &[*mut c_void],
        extensions: &[(String, u32)],
    ) -> Result<(), Error> {
        let (device, device_id) = self.device();
        let chain = Chain::new(extensions);
        device.replay_extended(graph.raw, &request(device_id, self.raw(), arguments, chain.first()))
    }
}
