//! What a thread does with work instead of queueing it, where it records a graph: what the parts of
//! the run time ask, which know nothing of graphs.

use std::any::Any;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;

use chipdock_abi::{ChipdockCopy, ChipdockDevice, ChipdockExtension};
use chipdock_plugin_api::kernel::Launch;

use crate::boundary::slots::Slots;
use crate::error::Error;

/// A device of one of the hosts of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    /// The number of the host ([`Slots::id`]).
    pub(super) host: u64,
    pub(super) device: ChipdockDevice,
}

/// Memory that work uses, with what keeps it.
pub(super) struct Used {
    pub(super) at: At,
    pub(super) data: *mut c_void,
    pub(super) held: Box<dyn Any + Send + Sync>,
}

/// A kernel that can be launched.
pub(super) trait Launches: Send + Sync {
    /// Returns its name.
    fn name(&self) -> &str;

    /// Queues a launch, with a chain of extensions.
    fn queue(
        &self,
        device_id: i32,
        stream: *mut c_void,
        launch: &Launch,
        next: *const ChipdockExtension,
    ) -> Result<(), Error>;
}

/// The recording of a thread. What it answers with `None` is queued as always.
pub(super) trait Capture: Sync {
    /// Refuses what cannot be part of a graph.
    fn refuse(&self, what: &str) -> Result<(), Error>;

    /// Records a launch.
    fn launch(
        &self,
        at: At,
        kernel: Arc<dyn Launches>,
        launch: &Launch,
        used: Vec<Used>,
    ) -> Option<Result<(), Error>>;

    /// Records a copy.
    fn copy(&self, at: At, copy: &ChipdockCopy, used: Vec<Used>) -> Option<Result<(), Error>>;

    /// Allocates workspace that is kept as long as the graph.
    fn workspace(&self, at: At, size_bytes: u64) -> Option<Result<*mut c_void, Error>>;

    /// Takes such workspace back, for later parts of the graph; false where it is none.
    fn free_workspace(&self, data: *mut c_void) -> bool;
}

thread_local! {
    static CAPTURE: Cell<Option<&'static dyn Capture>> = const { Cell::new(None) };
}

/// Makes a recording that of this thread; `None` ends it.
pub(super) fn set(capture: Option<&'static dyn Capture>) {
    Slots::set_recording(capture.is_some());
    CAPTURE.set(capture);
}

/// Returns the recording of this thread.
#[inline]
pub(super) fn current() -> Option<&'static dyn Capture> {
    if Slots::is_recording() { CAPTURE.get() } else { None }
}

/// Refuses what cannot be part of a graph, where this thread records one (GRAPH-G4).
#[inline]
pub(super) fn refuse(what: &str) -> Result<(), Error> {
    current().map_or(Ok(()), |capture| capture.refuse(what))
}
