//! Graphs over a driver: what was recorded, and where its parameters are (KIT-26 to KIT-28).

use core::ffi::c_void;
use core::fmt;
use std::collections::HashMap;
use std::ptr::without_provenance_mut;
use std::sync::{Arc, Mutex};

use super::{HandleKind, Table, lock};
use crate::graph::{Graph, Graphs};
use crate::kernel::{KernelArg, Launch};
use crate::{CopyRequest, Error, ErrorKind, Stream, bail, ensure};

/// A driver that replays copies and launches: what interface `graph` 1 needs of it (KIT-26).
///
/// `Arc` of a type that implements this implements [`Graphs`]; a module's launches are recorded by
/// [`record_launch`]. Every method may be called from any thread at once; none calls the graphs.
pub trait Recorder: Sized + Send + Sync + 'static {
    /// A kernel, as launches of it are recorded.
    type Kernel: Send + Sync + 'static;
    /// What the replays of one graph have in common.
    type Made: Send + Sync + 'static;

    /// Returns the graphs of a device and its name, lost or not.
    ///
    /// # Errors
    ///
    /// * `ValueError`: there is no such device.
    fn graphs(&self, device_id: i32) -> Result<(&GraphTable<Self>, &str), Error>;

    /// Checks that the device is not lost.
    ///
    /// # Errors
    ///
    /// * `DeviceLost`.
    fn check_device(&self, device_id: i32) -> Result<(), Error>;

    /// Checks that the device records at all. The default is that each does.
    ///
    /// # Errors
    ///
    /// * `Unsupported`.
    fn check_records(&self, device_id: i32) -> Result<(), Error> {
        let _ = device_id;
        Ok(())
    }

    /// Checks that this is the handle of a data space of the device.
    ///
    /// # Errors
    ///
    /// * `WrongState`, `ValueError`: it is not.
    fn check_data(&self, device_id: i32, data: *mut c_void) -> Result<(), Error>;

    /// Checks all of a copy that [`replay`](Self::replay) relies on; queues nothing.
    ///
    /// # Errors
    ///
    /// * Those of [`DeviceApi::copy_data`](crate::DeviceApi::copy_data); `Unsupported` for ends
    ///   that cannot be recorded (N.42).
    fn check_copy(&self, device_id: i32, copy: &CopyRequest) -> Result<(), Error>;

    /// Makes what the replays have in common, when the recording ends.
    ///
    /// # Errors
    ///
    /// * The driver's.
    fn make(&self, device_id: i32, steps: &[Step<Self::Kernel>]) -> Result<Self::Made, Error>;

    /// Queues a replay, whose arguments are as many as there are parameters, and data spaces of the
    /// device ([`check_data`](Self::check_data)). Queued work keeps what it uses of `recorded`.
    ///
    /// # Errors
    ///
    /// * `WrongState`, `ValueError`: the stream is not live.
    /// * A failure that the stream keeps (P7.5); then nothing is queued.
    fn replay(
        &self,
        device_id: i32,
        stream: Stream,
        recorded: &Arc<Recorded<Self>>,
        arguments: &[*mut c_void],
    ) -> Result<(), Error>;
}

/// A copy or a launch of a graph.
#[derive(Clone, Debug)]
pub enum Step<K> {
    /// A copy.
    Copy {
        /// The copy as it was recorded.
        copy: CopyRequest,
        /// The parameter at its source.
        from: Option<usize>,
        /// The parameter at its destination.
        to: Option<usize>,
    },
    /// A launch.
    Launch {
        /// The kernel.
        kernel: K,
        /// The launch as it was recorded.
        launch: Launch,
        /// Positions of its arguments, and the parameters there.
        places: Vec<(usize, usize)>,
    },
}

// SAFETY: handles, behind which only the driver looks, and values; a driver may be called from any
// thread.
unsafe impl<K: Send> Send for Step<K> {}
// SAFETY: handles, behind which only the driver looks, and values; a driver may be called from any
// thread.
unsafe impl<K: Sync> Sync for Step<K> {}

/// A copy or a launch with the arguments of a replay in it (KIT-27).
#[derive(Clone, Debug)]
pub enum Replayed<'a, K> {
    /// A copy.
    Copy(CopyRequest),
    /// A launch.
    Launch(&'a K, Launch),
}

impl<K> Step<K> {
    /// Returns the step with arguments in place of the parameters (KIT-27); a parameter without an
    /// argument stays.
    #[must_use]
    pub fn with(&self, arguments: &[*mut c_void]) -> Replayed<'_, K> {
        match self {
            Self::Copy { copy, from, to } => {
                let mut copy = *copy;
                for (end, place) in [(&mut copy.from, from), (&mut copy.to, to)] {
                    end.data = place.and_then(|place| arguments.get(place)).copied().unwrap_or(end.data);
                }
                Replayed::Copy(copy)
            }
            Self::Launch { kernel, launch, places } => {
                let mut launch = launch.clone();
                for (position, place) in places {
                    if let (Some(arg), Some(data)) = (launch.args.get_mut(*position), arguments.get(*place)) {
                        *arg = KernelArg::Pointer(*data);
                    }
                }
                Replayed::Launch(kernel, launch)
            }
        }
    }
}

/// A graph whose recording has ended.
pub struct Recorded<D: Recorder> {
    /// The copies and launches, in order.
    pub steps: Vec<Step<D::Kernel>>,
    /// What the driver made of them.
    pub made: D::Made,
}

impl<D: Recorder> fmt::Debug for Recorded<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}

enum State<D: Recorder> {
    Recording(Vec<Step<D::Kernel>>),
    Finished(Arc<Recorded<D>>),
    /// `finish` failed, or has not returned yet.
    Unfinished,
}

struct Entry<D: Recorder> {
    /// The positions of the parameters, by handle.
    parameters: HashMap<usize, usize>,
    state: Mutex<State<D>>,
}

/// The graphs of a device, by handle (KIT-26).
pub struct GraphTable<D: Recorder>(Table<Entry<D>>);

impl<D: Recorder> Default for GraphTable<D> {
    fn default() -> Self {
        Self(Table::new(HandleKind::Graph))
    }
}

impl<D: Recorder> fmt::Debug for GraphTable<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphTable").finish_non_exhaustive()
    }
}

impl<D: Recorder> GraphTable<D> {
    /// Makes every live graph a gone one (KIT-5), because the device was lost, or its host ends:
    /// the modules of recorded launches keep the devices, which keep this.
    pub fn abandon(&self) {
        self.0.abandon();
    }

    /// Returns true if a graph is gone and not freed yet (KIT-5).
    #[must_use]
    pub fn is_gone(&self, graph: Graph) -> bool {
        self.0.is_gone(graph.into_raw().addr())
    }
}

impl<D: Recorder> State<D> {
    fn recording(&mut self) -> Result<&mut Vec<Step<D::Kernel>>, Error> {
        match self {
            Self::Recording(steps) => Ok(steps),
            _ => {
                bail!(ErrorKind::WRONG_STATE, "the recording of the graph has ended: record into another one")
            }
        }
    }
}

impl<D: Recorder> Entry<D> {
    fn place(&self, data: *mut c_void) -> Option<usize> {
        self.parameters.get(&data.addr()).copied()
    }

    fn copy(&self, copy: &CopyRequest) -> Step<D::Kernel> {
        let place = |end: crate::CopyEnd| if end.is_host() { None } else { self.place(end.data) };
        Step::Copy { copy: *copy, from: place(copy.from), to: place(copy.to) }
    }

    fn launch(&self, kernel: D::Kernel, launch: &Launch) -> Step<D::Kernel> {
        let place = |(position, arg): (usize, &KernelArg)| match arg {
            KernelArg::Pointer(data) => Some((position, self.place(*data)?)),
            KernelArg::Scalar { .. } => None,
        };
        let places = launch.args.iter().enumerate().filter_map(place).collect();
        Step::Launch { kernel, launch: launch.clone(), places }
    }

    fn check_recording(&self) -> Result<(), Error> {
        lock(&self.state).recording().map(drop)
    }

    fn push(&self, step: Step<D::Kernel>) -> Result<(), Error> {
        lock(&self.state).recording()?.push(step);
        Ok(())
    }
}

/// Finds a graph of a device that is not lost.
fn find<D: Recorder>(recorder: &D, device_id: i32, graph: Graph) -> Result<Arc<Entry<D>>, Error> {
    let (table, name) = recorder.graphs(device_id)?;
    recorder.check_device(device_id)?;
    table.0.get(graph.into_raw().addr(), name)
}

/// Adds a launch to a graph; `check` checks it as for the device itself and returns its kernel, and
/// queues nothing. `None` adds nothing, to a graph that is checked all the same (N.41, N.43).
///
/// # Errors
///
/// * `WrongState`: the graph is not live, or its recording has ended.
/// * Those of `check`; then the graph is as it was.
pub fn record_launch<D: Recorder>(
    recorder: &D,
    device_id: i32,
    graph: Graph,
    launch: Option<&Launch>,
    check: impl FnOnce(&Launch) -> Result<D::Kernel, Error>,
) -> Result<(), Error> {
    let entry = find(recorder, device_id, graph)?;
    entry.check_recording()?;
    let Some(launch) = launch else { return Ok(()) };
    let kernel = check(launch)?;
    entry.push(entry.launch(kernel, launch))
}

impl<D: Recorder> Graphs for Arc<D> {
    fn create(&self, device_id: i32, parameters: &[*mut c_void]) -> Result<Graph, Error> {
        let (table, _) = self.graphs(device_id)?;
        self.check_device(device_id)?;
        self.check_records(device_id)?;
        parameters.iter().try_for_each(|data| self.check_data(device_id, *data))?;
        let parameters = parameters.iter().enumerate().map(|(place, data)| (data.addr(), place)).collect();
        let handle = table.0.add(Entry { parameters, state: Mutex::new(State::Recording(Vec::new())) });
        Ok(Graph::from_raw(without_provenance_mut(handle)))
    }

    unsafe fn free(&self, device_id: i32, graph: Graph) -> Result<(), Error> {
        let (table, name) = self.graphs(device_id)?;
        table.0.take(graph.into_raw().addr(), name)?;
        self.check_device(device_id)
    }

    unsafe fn record_copy(
        &self,
        device_id: i32,
        graph: Graph,
        copy: Option<&CopyRequest>,
    ) -> Result<(), Error> {
        let entry = find(&**self, device_id, graph)?;
        entry.check_recording()?;
        let Some(copy) = copy else { return Ok(()) };
        self.check_copy(device_id, copy)?;
        entry.push(entry.copy(copy))
    }

    unsafe fn finish(&self, device_id: i32, graph: Graph) -> Result<(), Error> {
        let entry = find(&**self, device_id, graph)?;
        let steps = {
            let mut state = lock(&entry.state);
            let steps = std::mem::take(state.recording()?);
            *state = State::Unfinished;
            steps
        };
        let made = self.make(device_id, &steps)?;
        *lock(&entry.state) = State::Finished(Arc::new(Recorded { steps, made }));
        Ok(())
    }

    unsafe fn replay(
        &self,
        device_id: i32,
        graph: Graph,
        stream: Stream,
        arguments: &[*mut c_void],
    ) -> Result<(), Error> {
        let entry = find(&**self, device_id, graph)?;
        let recorded = match &*lock(&entry.state) {
            State::Finished(recorded) => Arc::clone(recorded),
            State::Recording(_) => bail!(
                ErrorKind::WRONG_STATE,
                "the graph is being recorded: end that with `finish` before a replay"
            ),
            State::Unfinished => bail!(
                ErrorKind::WRONG_STATE,
                "the recording of the graph could not be ended: free it and record another one"
            ),
        };
        let (expected, found) = (entry.parameters.len(), arguments.len());
        ensure!(
            expected == found,
            ErrorKind::VALUE_ERROR,
            "the graph has {expected} parameters: expected as many arguments, found {found}"
        );
        arguments.iter().try_for_each(|data| self.check_data(device_id, *data))?;
        Recorder::replay(&**self, device_id, stream, &recorded, arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChipdockDevice, CopyEnd};

    /// A driver that notes the steps of replays.
    #[derive(Default)]
    struct Toy {
        table: GraphTable<Self>,
        queued: Mutex<Vec<String>>,
    }

    impl Recorder for Toy {
        type Kernel = &'static str;
        type Made = usize;

        fn graphs(&self, device_id: i32) -> Result<(&GraphTable<Self>, &str), Error> {
            ensure!(device_id == 0, ErrorKind::VALUE_ERROR, "there is device 0 alone");
            Ok((&self.table, "toy:0"))
        }

        fn check_device(&self, _device_id: i32) -> Result<(), Error> {
            Ok(())
        }

        fn check_data(&self, _device_id: i32, data: *mut c_void) -> Result<(), Error> {
            ensure!(data.addr() < 100, ErrorKind::WRONG_STATE, "no data space");
            Ok(())
        }

        fn check_copy(&self, _device_id: i32, copy: &CopyRequest) -> Result<(), Error> {
            ensure!(copy.size_bytes < 50, ErrorKind::INDEX_ERROR, "too large");
            Ok(())
        }

        fn make(&self, _device_id: i32, steps: &[Step<&'static str>]) -> Result<usize, Error> {
            ensure!(steps.len() < 5, ErrorKind::OUT_OF_MEMORY, "too many");
            Ok(steps.len())
        }

        fn replay(
            &self,
            _device_id: i32,
            _stream: Stream,
            recorded: &Arc<Recorded<Self>>,
            arguments: &[*mut c_void],
        ) -> Result<(), Error> {
            assert_eq!(recorded.made, recorded.steps.len());
            for step in &recorded.steps {
                let text = match step.with(arguments) {
                    Replayed::Copy(copy) => format!("{}>{}", copy.from.data.addr(), copy.to.data.addr()),
                    Replayed::Launch(kernel, launch) => {
                        let args = launch.args.iter().map(|arg| match arg {
                            KernelArg::Pointer(data) => data.addr().to_string(),
                            KernelArg::Scalar { bytes, .. } => format!("={}", bytes[0]),
                        });
                        format!("{kernel}({})", args.collect::<Vec<_>>().join(","))
                    }
                };
                lock(&self.queued).push(text);
            }
            Ok(())
        }
    }

    fn data(handle: usize) -> *mut c_void {
        without_provenance_mut(handle)
    }

    fn copy(from: usize, to: usize, size_bytes: u64) -> CopyRequest {
        let device = ChipdockDevice { device_type: 12, device_id: 0 };
        let end = |handle| CopyEnd { device, data: data(handle), offset_bytes: 0 };
        CopyRequest::new(end(from), end(to), size_bytes)
    }

    fn launch(args: Vec<KernelArg>) -> Launch {
        Launch::new(args, [1; 3], [1; 3], 0)
    }

    fn kind(result: Result<(), Error>) -> String {
        result.err().map_or_else(String::new, |error| error.kind().to_string())
    }

    #[test]
    fn kit_27_arguments_stand_where_parameters_were() {
        let toy = Arc::new(Toy::default());
        let graph = toy.create(0, &[data(8), data(9)]).unwrap();
        let args = vec![
            KernelArg::Pointer(data(9)),
            KernelArg::Scalar { bytes: [9, 0, 0, 0, 0, 0, 0, 0], size_bytes: 8 },
            KernelArg::Pointer(data(7)),
            KernelArg::Pointer(data(9)),
        ];
        // SAFETY: the toy looks behind no handle.
        unsafe {
            toy.record_copy(0, graph, Some(&copy(8, 7, 4))).unwrap();
            record_launch(&*toy, 0, graph, Some(&launch(args)), |_| Ok("add")).unwrap();
            toy.record_copy(0, graph, Some(&copy(7, 9, 4))).unwrap();
            toy.finish(0, graph).unwrap();
            for arguments in [[data(20), data(30)], [data(40), data(40)]] {
                Graphs::replay(&toy, 0, graph, Stream::DEFAULT, &arguments).unwrap();
            }
        }
        let expected = ["20>7", "add(30,=9,7,30)", "7>30", "40>7", "add(40,=9,7,40)", "7>40"];
        assert_eq!(*lock(&toy.queued), expected);
    }

    #[test]
    fn kit_28_what_is_refused_leaves_the_graph_and_a_state_is_passed_once() {
        let toy = Arc::new(Toy::default());
        let graph = toy.create(0, &[data(8)]).unwrap();
        assert_eq!(kind(toy.create(0, &[data(800)]).map(drop)), "WrongState");
        assert_eq!(kind(toy.create(1, &[]).map(drop)), "ValueError");
        let refuse = |_: &Launch| bail!(ErrorKind::VALUE_ERROR, "too large");
        // SAFETY: the toy looks behind no handle.
        unsafe {
            assert_eq!(kind(toy.record_copy(0, graph, Some(&copy(8, 7, 99)))), "IndexError");
            let refused = record_launch(&*toy, 0, graph, Some(&launch(Vec::new())), refuse);
            assert_eq!(kind(refused), "ValueError");
            toy.record_copy(0, graph, None).unwrap();
            record_launch(&*toy, 0, graph, None, refuse).unwrap();
            assert_eq!(kind(Graphs::replay(&toy, 0, graph, Stream::DEFAULT, &[data(1)])), "WrongState");
            toy.finish(0, graph).unwrap();
            assert_eq!(kind(toy.finish(0, graph)), "WrongState");
            assert_eq!(kind(toy.record_copy(0, graph, None)), "WrongState");
            assert_eq!(kind(record_launch(&*toy, 0, graph, None, refuse)), "WrongState");
            assert_eq!(kind(Graphs::replay(&toy, 0, graph, Stream::DEFAULT, &[])), "ValueError");
            assert_eq!(kind(Graphs::replay(&toy, 0, graph, Stream::DEFAULT, &[data(800)])), "WrongState");
            Graphs::replay(&toy, 0, graph, Stream::DEFAULT, &[data(1)]).unwrap();
            assert!(lock(&toy.queued).is_empty(), "{:?}", lock(&toy.queued));
            toy.free(0, graph).unwrap();
            assert_eq!(kind(toy.free(0, graph)), "WrongState");
            assert_eq!(kind(Graphs::replay(&toy, 0, graph, Stream::DEFAULT, &[data(1)])), "WrongState");
        }
    }

    #[test]
    fn kit_28_a_graph_that_could_not_be_ended_can_only_be_freed() {
        let toy = Arc::new(Toy::default());
        let graph = toy.create(0, &[]).unwrap();
        // SAFETY: the toy looks behind no handle.
        unsafe {
            for _ in 0..5 {
                toy.record_copy(0, graph, Some(&copy(8, 7, 4))).unwrap();
            }
            assert_eq!(kind(toy.finish(0, graph)), "OutOfMemory");
            assert_eq!(kind(toy.finish(0, graph)), "WrongState");
            assert_eq!(kind(toy.record_copy(0, graph, None)), "WrongState");
            assert_eq!(kind(Graphs::replay(&toy, 0, graph, Stream::DEFAULT, &[])), "WrongState");
            toy.free(0, graph).unwrap();
        }
    }

    #[test]
    fn kit_26_graphs_are_gone_with_their_device() {
        let toy = Arc::new(Toy::default());
        let graph = toy.create(0, &[]).unwrap();
        toy.table.abandon();
        // SAFETY: the toy looks behind no handle.
        unsafe {
            assert_eq!(kind(toy.finish(0, graph)), "WrongState");
            toy.free(0, graph).unwrap();
            assert_eq!(kind(toy.free(0, graph)), "WrongState");
        }
    }
}
