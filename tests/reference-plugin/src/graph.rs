//! Interface `graph` 1: a list of copies, and one piece of work for each replay of it.

use std::convert::Infallible;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, Weak};

use chipdock_plugin_api::graph::{Graph, Graphs};
use chipdock_plugin_api::kit::{GraphTable, Recorded, Recorder, Replayed, Step, lock};
use chipdock_plugin_api::{CopyEnd, CopyRequest, Error, ErrorKind, Stream, ensure};

use crate::device_api::Copying;
use crate::fault;
use crate::hardware::{Device, Hardware};

/// The copies of the last replay of a graph; only used by a planted fault.
type Last = Mutex<Arc<Vec<Copying>>>;

impl Device {
    fn check_recorded(&self, end: &CopyEnd) -> Result<(), Error> {
        // N.42: the host reaches it.
        let is_reached =
            fault::is("recording-refuses-pinned") && self.memory.address(end.data.addr()).is_ok();
        ensure!(
            !end.is_host() && !is_reached,
            ErrorKind::UNSUPPORTED,
            "{}: expected data spaces of this device as ends of a copy that is recorded",
            self.name
        );
        Ok(())
    }
}

impl Recorder for Hardware {
    /// There is no interface `launch` 1 here.
    type Kernel = Infallible;
    type Made = Last;

    fn graphs(&self, device_id: i32) -> Result<(&GraphTable<Self>, &str), Error> {
        let device = self.device_even_lost(device_id)?;
        Ok((&device.graphs, &device.name))
    }

    fn check_device(&self, device_id: i32) -> Result<(), Error> {
        self.device(device_id).map(drop)
    }

    fn check_data(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        self.device(device_id)?.memory.check(data.addr())
    }

    fn check_copy(&self, device_id: i32, copy: &CopyRequest) -> Result<(), Error> {
        let device = self.device(device_id)?;
        device.check_recorded(&copy.from)?;
        device.check_recorded(&copy.to)?;
        ensure!(
            (copy.from.device.device_id, copy.to.device.device_id) == (device_id, device_id),
            ErrorKind::UNSUPPORTED,
            "{}: copies between devices are not recorded",
            device.name
        );
        // N.43: it is found out when it is replayed.
        if fault::is("recording-takes-any-copy") {
            return Ok(());
        }
        self.resolve(copy).map(drop)
    }

    fn make(&self, _device_id: i32, _steps: &[Step<Infallible>]) -> Result<Last, Error> {
        Ok(Last::default())
    }

    fn replay(
        &self,
        device_id: i32,
        stream: Stream,
        recorded: &Arc<Recorded<Self>>,
        arguments: &[*mut c_void],
    ) -> Result<(), Error> {
        let (device, queue) = (self.device(device_id)?, self.queue(device_id, stream)?);
        // N.45: what it was recorded with.
        let arguments = if fault::is("replay-takes-the-parameters") { &[] } else { arguments };
        let copy = |step: &Step<Infallible>| match step.with(arguments) {
            Replayed::Copy(copy) => self.resolve(&copy),
            Replayed::Launch(never, _) => match *never {},
        };
        let mut copies = recorded.steps.iter().map(copy).collect::<Result<Vec<_>, _>>()?;
        // N.45: the last one first.
        if fault::is("replay-backwards") {
            copies.reverse();
        }
        match queue.report() {
            // N.49: what the stream keeps is forgotten.
            Err(_) if fault::is("replay-forgets-a-failure") => {}
            reported => reported?,
        }
        for copy in &mut copies {
            copy.fails = device.health.takes_failure();
        }
        let copies = Arc::new(copies);
        if fault::is("replays-share-arguments") {
            *lock(&recorded.made) = Arc::clone(&copies);
        }
        let weak: Weak<Recorded<Self>> = Arc::downgrade(recorded);
        queue.push(Box::new(move || {
            let recorded = weak.upgrade();
            // N.48: it is not done for a graph that was freed.
            if fault::is("graph-free-drops-replays") && recorded.is_none() {
                return Ok(());
            }
            // N.47: with the arguments of the last replay.
            let copies = match recorded {
                Some(recorded) if fault::is("replays-share-arguments") => Arc::clone(&lock(&recorded.made)),
                _ => copies,
            };
            // As of copies on a stream: one that failed stops no other, and the first is reported.
            let results: Vec<_> = copies.iter().map(Copying::run).collect();
            results.into_iter().collect()
        }))
    }
}

/// The graphs, with the faults in their answers.
pub(crate) struct ReferenceGraphs(Arc<Hardware>);

impl ReferenceGraphs {
    /// Makes the graphs of a host's hardware.
    pub(crate) fn new(hardware: Arc<Hardware>) -> Self {
        Self(hardware)
    }

    /// Fault against N.49: a device that does not exist is taken for the last one.
    fn device_id(device_id: i32) -> i32 {
        if fault::is("graph-of-any-device") { device_id.rem_euclid(2) } else { device_id }
    }

    fn wait(&self, device_id: i32) -> Result<(), Error> {
        self.0.streams(device_id)?.all().iter().try_for_each(|queue| queue.sync())
    }
}

impl Graphs for ReferenceGraphs {
    fn create(&self, device_id: i32, parameters: &[*mut c_void]) -> Result<Graph, Error> {
        let graph = self.0.create(Self::device_id(device_id), parameters)?;
        // N.40: each is as the one before.
        if fault::is("graphs-share-a-handle") {
            return Ok(Graph::from_raw(std::ptr::without_provenance_mut(0x1000)));
        }
        Ok(graph)
    }

    unsafe fn free(&self, device_id: i32, graph: Graph) -> Result<(), Error> {
        let device_id = Self::device_id(device_id);
        match fault::planted() {
            // N.49: it can be used, and freed, as before.
            "freed-graph-accepted" => return Ok(()),
            // N.48: it waits for what is queued.
            "graph-free-waits" => drop(self.wait(device_id)),
            // P9.4: memory is kept for each.
            "leak-per-graph" => std::mem::forget(vec![1_u8; 1 << 10]),
            _ => {}
        }
        // SAFETY: as this function.
        unsafe { self.0.free(device_id, graph) }
    }

    unsafe fn record_copy(
        &self,
        device_id: i32,
        graph: Graph,
        copy: Option<&CopyRequest>,
    ) -> Result<(), Error> {
        let device_id = Self::device_id(device_id);
        // SAFETY: as this function.
        unsafe { self.0.record_copy(device_id, graph, copy) }?;
        // N.41: it is copied as well.
        if let Some(copy) = copy.filter(|_| fault::is("recording-copies")) {
            let copying = self.0.resolve(copy)?;
            self.0.queue(device_id, Stream::DEFAULT)?.push(Box::new(move || copying.run()))?;
        }
        Ok(())
    }

    unsafe fn finish(&self, device_id: i32, graph: Graph) -> Result<(), Error> {
        let device_id = Self::device_id(device_id);
        // N.44: it waits for what is queued.
        if fault::is("graph-finish-waits") {
            self.wait(device_id)?;
        }
        // SAFETY: as this function.
        let finished = unsafe { self.0.finish(device_id, graph) };
        match finished {
            // N.44: a second time, too.
            Err(error) if error.kind() == ErrorKind::WRONG_STATE && fault::is("graph-finishes-twice") => {
                Ok(())
            }
            finished => finished,
        }
    }

    unsafe fn replay(
        &self,
        device_id: i32,
        graph: Graph,
        stream: Stream,
        arguments: &[*mut c_void],
    ) -> Result<(), Error> {
        let device_id = Self::device_id(device_id);
        // SAFETY: as this function.
        let replayed = unsafe { Graphs::replay(&self.0, device_id, graph, stream, arguments) };
        match fault::planted() {
            // N.45: it waits for the work.
            "replay-waits" => self.wait(device_id)?,
            // N.46: however many there are.
            "replay-takes-any-number"
                if replayed.as_ref().is_err_and(|error| error.kind() == ErrorKind::VALUE_ERROR) =>
            {
                return Ok(());
            }
            _ => {}
        }
        replayed
    }
}
