//! Streams: work that is recorded, submitted in batches, and kept alive until it is done (VK-D12 to
//! VK-D19).

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use ash::vk;
use chipdock_plugin_api::Error;
use chipdock_plugin_api::kit::{FirstFailure, lock};

use super::staging::{HostCopy, Ring};
use crate::driver::{DEVICE, Fence, Gpu, HOST, OrFailed, Point, Pool, Semaphore, failed, failed_later};

/// Number of commands after which a batch is submitted. On lavapipe a submission costs as much as
/// some ten commands.
pub(crate) const DEPTH: usize = 128;
/// Number of submitted batches of a stream after which the oldest is waited for.
const BATCHES_MAX: usize = 32;

/// Description of queued work for errors.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Copy { size_bytes: u64 },
    Launch { kernel: Arc<str> },
    Mark,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copy { size_bytes } => write!(f, "the copy of {size_bytes} bytes"),
            Self::Launch { kernel } => write!(f, "the launch of kernel {kernel}"),
            Self::Mark => write!(f, "a mark"),
        }
    }
}

/// What queued work uses: it lives until the work has ended, and is dropped under no lock.
pub(crate) type Keep = Vec<Arc<dyn Any + Send + Sync>>;

/// A command buffer that is recorded.
pub(crate) struct Recorded {
    pub(crate) commands: vk::CommandBuffer,
    /// The pipeline of compute that was bound last, which the batch keeps; null if none was.
    pub(crate) pipeline: vk::Pipeline,
}

/// Commands that are submitted together.
struct Batch {
    recorded: Recorded,
    count: usize,
    first: Work,
    keep: Keep,
    host_copies: Vec<HostCopy>,
    /// Failures that were requested of its work.
    failures: Vec<Error>,
    /// Where the ring's parts that it uses end.
    ring_end: Option<u64>,
    /// Reached when it is done; `None` until it is submitted.
    point: Option<Point>,
}

/// What the methods of a stream change, under its lock.
pub(super) struct State {
    pool: Pool,
    /// The batch that is recorded.
    open: Option<Batch>,
    submitted: VecDeque<Batch>,
    /// Command buffers for later batches.
    idle: Vec<vk::CommandBuffer>,
    /// What the next batch waits for.
    waits: Vec<Point>,
    /// Number of the last batch that was submitted: the value of the semaphore that it sets.
    last_value: u64,
    last: Option<Point>,
    pub(super) ring: Option<Ring>,
    /// What ended work used, to be dropped after the lock is released.
    garbage: Vec<Keep>,
    /// Empty lists with room for what later batches use.
    spare: Vec<Keep>,
}

/// What the streams of a logical device share.
pub(crate) struct Shared {
    pub(super) gpu: Arc<Gpu>,
    pub(super) rings: Mutex<Vec<Ring>>,
    /// Timeline semaphores of streams that were freed, with their last values, for later streams
    /// (VK-D14).
    clocks: Mutex<Vec<(Arc<Semaphore>, u64)>>,
    streams: Mutex<Vec<Weak<Queue>>>,
    /// Number of streams that were made.
    count: AtomicUsize,
}

impl Shared {
    pub(super) fn new(gpu: Arc<Gpu>) -> Self {
        Self {
            gpu,
            rings: Mutex::default(),
            clocks: Mutex::default(),
            streams: Mutex::default(),
            count: AtomicUsize::new(0),
        }
    }

    /// The timeline semaphore of a new stream, and its value; `None` where there are none.
    fn clock(&self) -> Result<Option<(Arc<Semaphore>, u64)>, vk::Result> {
        if !self.gpu.has_timeline() {
            return Ok(None);
        }
        let kept = lock(&self.clocks).pop();
        kept.map_or_else(|| Ok((Arc::new(Semaphore::timeline(&self.gpu)?), 0)), Ok).map(Some)
    }

    /// The streams that have copies to host memory pending.
    fn writers(&self) -> Vec<Arc<Queue>> {
        let streams = lock(&self.streams);
        let writes = |queue: &Arc<Queue>| queue.host_copies.load(Ordering::Acquire) > 0;
        streams.iter().filter_map(Weak::upgrade).filter(writes).collect()
    }

    /// Completes the copies to host memory whose work is done, on whichever stream (VK-D16).
    pub(super) fn complete_host_copies(&self) {
        self.writers().iter().for_each(|queue| queue.with(|state| queue.retire(state)));
    }

    /// Completes every pending copy to a range of host memory, before the host reads there
    /// (VK-D16).
    pub(super) fn settle(&self, address: usize, size_bytes: usize) -> Result<(), Error> {
        for queue in self.writers() {
            if queue.with(|state| state.writes_to(address, size_bytes)) {
                queue.finish()?;
            }
        }
        Ok(())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // After this no driver touches the semaphores any more (VK-D14); on a lost device nothing
        // runs.
        let _ = self.gpu.wait_idle();
    }
}

impl State {
    fn writes_to(&self, address: usize, size_bytes: usize) -> bool {
        let batches = self.open.iter().chain(&self.submitted);
        batches.flat_map(|batch| &batch.host_copies).any(|copy| copy.overlaps(address, size_bytes))
    }
}

/// A stream.
pub(crate) struct Queue {
    shared: Arc<Shared>,
    lane: usize,
    clock: Option<Arc<Semaphore>>,
    state: Mutex<State>,
    /// Number of pending copies to host memory.
    host_copies: AtomicUsize,
    failure: FirstFailure,
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The work uses what this drops. A failure can no longer be reported.
        let _ = self.finish();
        let mut state = lock(&self.state);
        let ring = state.ring.take();
        let clock = self.clock.clone().map(|clock| (clock, state.last_value));
        drop(state);
        lock(&self.shared.clocks).extend(clock);
        lock(&self.shared.rings).extend(ring);
    }
}

impl Queue {
    /// Makes a stream; streams take the queues of the device in turn.
    pub(super) fn new(shared: &Arc<Shared>) -> Result<Arc<Self>, Error> {
        let gpu = &shared.gpu;
        let what = || format!("{}: making a stream", gpu.name());
        let (clock, last_value) = shared.clock().or_failed(what)?.unzip();
        let pool = Pool::new(gpu).or_failed(what)?;
        let state = State {
            pool,
            open: None,
            submitted: VecDeque::new(),
            idle: Vec::new(),
            waits: Vec::new(),
            last_value: last_value.unwrap_or(0),
            last: None,
            ring: None,
            garbage: Vec::new(),
            spare: Vec::new(),
        };
        let queue = Arc::new(Self {
            shared: Arc::clone(shared),
            lane: shared.count.fetch_add(1, Ordering::Relaxed) % gpu.lanes_count(),
            clock,
            state: Mutex::new(state),
            host_copies: AtomicUsize::new(0),
            failure: FirstFailure::default(),
        });
        let mut streams = lock(&shared.streams);
        streams.retain(|other| other.strong_count() > 0);
        streams.push(Arc::downgrade(&queue));
        drop(streams);
        Ok(queue)
    }

    /// The logical device.
    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.shared.gpu
    }

    /// The number of batches that were submitted.
    #[cfg(test)]
    pub(crate) fn submissions(&self) -> u64 {
        self.with(|state| state.last_value)
    }

    /// The number of command buffers that no batch uses.
    #[cfg(test)]
    pub(crate) fn command_buffers(&self) -> usize {
        self.with(|state| state.idle.len())
    }

    /// Submits what is recorded, as a wait of another stream does.
    #[cfg(test)]
    pub(crate) fn flush(&self) {
        self.with(|state| self.submit(state, None));
    }

    /// What it shares with other streams of the device.
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Calls `body` under the lock, and then drops what ended work used.
    pub(super) fn with<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        let mut state = lock(&self.state);
        let result = body(&mut state);
        let mut garbage = mem::take(&mut state.garbage);
        drop(state);
        if !garbage.is_empty() {
            garbage.iter_mut().for_each(Vec::clear);
            lock(&self.state).spare.append(&mut garbage);
        }
        result
    }

    /// Reports the failure that is kept, if there is one.
    pub(crate) fn report(&self) -> Result<(), Error> {
        self.failure.report()
    }

    /// Records commands after everything recorded before on this stream, with the barriers that
    /// order them; `keep` lives until they have run. A batch of [`DEPTH`] commands is submitted.
    ///
    /// `record` does everything that can fail before its first command, since commands cannot be
    /// taken back; it uses no stream.
    ///
    /// # Errors
    ///
    /// * A failure that is kept, or that of `record`; nothing was queued.
    pub(crate) fn record(
        &self,
        work: Work,
        keep: Keep,
        record: impl FnOnce(&mut Recorded) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.failure.report()?;
        self.with(|state| {
            self.record_in(state, work, keep, record)?;
            self.submit_if(state, false);
            Ok(())
        })
    }

    /// As [`Self::record`], for several commands under one lock, so that nothing comes between
    /// them; a kept failure is reported before any of them.
    ///
    /// # Errors
    ///
    /// As [`Self::record`]; what came before a command whose `record` failed is queued.
    pub(crate) fn record_all<C>(
        &self,
        all: Vec<(Work, Keep, C)>,
        record: impl Fn(&mut Recorded, C) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.failure.report()?;
        self.with(|state| {
            for (work, keep, command) in all {
                self.record_in(state, work, keep, |recorded| record(recorded, command))?;
            }
            self.submit_if(state, false);
            Ok(())
        })
    }

    /// As [`Self::record`], under the lock; the batch is not submitted.
    pub(super) fn record_in(
        &self,
        state: &mut State,
        work: Work,
        keep: Keep,
        record: impl FnOnce(&mut Recorded) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let batch = self.batch(state, work)?;
        self.gpu().order(batch.recorded.commands, DEVICE, DEVICE);
        record(&mut batch.recorded)?;
        batch.count += 1;
        batch.keep.extend(keep);
        Ok(())
    }

    /// Submits the batch if it is `now` to be, or deep enough.
    pub(super) fn submit_if(&self, state: &mut State, now: bool) {
        if now || state.open.as_ref().is_some_and(|batch| batch.count >= DEPTH) {
            self.submit(state, None);
        }
    }

    /// Adds a copy from staging memory to host memory to the batch, which is done when the batch
    /// has ended.
    pub(super) fn copy_to_host(&self, state: &mut State, copy: HostCopy) {
        if let Some(batch) = &mut state.open {
            batch.host_copies.push(copy);
            self.host_copies.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Records that the batch uses the ring up to that position.
    pub(super) fn use_ring(&self, state: &mut State, end: u64) {
        if let Some(batch) = &mut state.open {
            batch.ring_end = Some(end);
        }
    }

    /// Queues work that fails (I.1): nothing is done, and the batch fails with that error.
    pub(crate) fn fail_later(&self, work: Work, why: &str) -> Result<(), Error> {
        self.failure.report()?;
        let error = failed_later(format_args!("{}: {work}", self.gpu().name()), why);
        self.with(|state| self.batch(state, work).map(|batch| batch.failures.push(error)))
    }

    /// The batch that is recorded, begun if there is none.
    fn batch<'a>(&self, state: &'a mut State, work: Work) -> Result<&'a mut Batch, Error> {
        if state.open.is_none() {
            let commands = self.begin(state)?;
            let _ = state.open.insert(Batch {
                recorded: Recorded { commands, pipeline: vk::Pipeline::null() },
                count: 0,
                first: work,
                keep: state.spare.pop().unwrap_or_default(),
                host_copies: Vec::new(),
                failures: Vec::new(),
                ring_end: None,
                point: None,
            });
        }
        let batch = state.open.as_mut();
        batch.ok_or_else(|| failed("a batch that was just begun", vk::Result::ERROR_UNKNOWN))
    }

    /// Begins a command buffer.
    fn begin(&self, state: &mut State) -> Result<vk::CommandBuffer, Error> {
        let what = || format!("{}: recording", self.gpu().name());
        let commands = match state.idle.pop() {
            Some(commands) => commands,
            None => state.pool.allocate().or_failed(what)?,
        };
        if let Err(why) = self.gpu().begin(commands) {
            state.idle.push(commands);
            return Err(failed(what(), why));
        }
        Ok(commands)
    }

    /// Submits the batch that is recorded, with what it waits for; then `signal` is signalled. With
    /// nothing to do it does nothing. A failure is kept.
    pub(super) fn submit(&self, state: &mut State, signal: Option<&Arc<Semaphore>>) {
        if state.open.is_none() && state.waits.is_empty() && signal.is_none() {
            return;
        }
        // Waits and signals without commands are a batch too.
        if let Err(error) = self.batch(state, Work::Mark) {
            return self.failure.keep(error);
        }
        let Some(mut batch) = state.open.take() else { return };
        match self.submit_batch(state, &mut batch, signal) {
            Ok(point) => {
                state.last = Some(point.clone());
                batch.point = Some(point);
                state.submitted.push_back(batch);
                while state.submitted.len() > BATCHES_MAX && self.wait_for_oldest(state) {}
            }
            Err(why) => {
                let what = format!("{}: {}", self.gpu().name(), batch.first);
                self.failure.keep(failed(format_args!("{what}, when it was submitted"), why));
                self.end(state, batch, false);
            }
        }
    }

    fn submit_batch(
        &self,
        state: &mut State,
        batch: &mut Batch,
        signal: Option<&Arc<Semaphore>>,
    ) -> Result<Point, vk::Result> {
        let gpu = self.gpu();
        // The host may read what the batch wrote.
        gpu.order(batch.recorded.commands, DEVICE, HOST);
        gpu.end(batch.recorded.commands)?;
        let waits = mem::take(&mut state.waits);
        let (mut wait_semaphores, mut wait_values) = (Vec::new(), Vec::new());
        for (semaphore, value) in waits.iter().filter_map(Point::to_wait) {
            wait_semaphores.push(semaphore);
            wait_values.push(value);
        }
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; wait_semaphores.len()];
        let value = state.last_value + 1;
        let fence = match &self.clock {
            Some(_) => None,
            None => Some(Arc::new(Fence::new(gpu)?)),
        };
        let signals: Vec<_> = self.clock.iter().chain(signal).collect();
        let signal_semaphores: Vec<_> = signals.iter().map(|semaphore| semaphore.raw()).collect();
        let signal_values = vec![value; signals.len()];
        let commands = [batch.recorded.commands];
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&signal_values);
        let mut info = vk::SubmitInfo::default()
            .wait_semaphores(&wait_semaphores)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&commands)
            .signal_semaphores(&signal_semaphores);
        if self.clock.is_some() {
            info = info.push_next(&mut timeline);
        }
        let raw_fence = fence.as_ref().map_or(vk::Fence::null(), |fence| fence.raw());
        gpu.submit(self.lane, &info, raw_fence)?;
        state.last_value = value;
        // Semaphores live until the batch has ended.
        batch.keep.extend(waits.into_iter().map(|point| Arc::new(point) as Arc<dyn Any + Send + Sync>));
        batch.keep.extend(signal.map(|signal| Arc::clone(signal) as Arc<dyn Any + Send + Sync>));
        Ok(match (&self.clock, fence) {
            (Some(clock), _) => Point::Value(Arc::clone(clock), value),
            (None, Some(fence)) => Point::Fence(fence),
            (None, None) => return Err(vk::Result::ERROR_UNKNOWN),
        })
    }

    /// Waits for the oldest batch; false if there is none, or the wait failed.
    pub(super) fn wait_for_oldest(&self, state: &mut State) -> bool {
        let Some(point) = state.submitted.front().and_then(|batch| batch.point.clone()) else { return false };
        let waited = point.wait(self.gpu());
        self.retire(state);
        waited.is_ok()
    }

    /// Ends the batches that are done, in order; on a lost device all of them.
    fn retire(&self, state: &mut State) {
        let lost = self.gpu().lost();
        while let Some(batch) = state.submitted.front() {
            let is_done = batch.point.as_ref().is_some_and(|point| point.is_reached(self.gpu()));
            if !is_done && lost.is_none() {
                return;
            }
            if let Some(batch) = state.submitted.pop_front() {
                if !is_done {
                    let what = format!("{}: {}", self.gpu().name(), batch.first);
                    self.failure.keep(failed(what, vk::Result::ERROR_DEVICE_LOST));
                }
                self.end(state, batch, is_done);
            }
        }
    }

    /// Ends a batch: its copies to host memory are made, and what it used is given back.
    fn end(&self, state: &mut State, batch: Batch, is_done: bool) {
        for copy in &batch.host_copies {
            if is_done {
                // The host memory lives: a synchronisation returns only after this.
                copy.make();
            }
            self.host_copies.fetch_sub(1, Ordering::AcqRel);
        }
        if let (Some(end), Some(ring)) = (batch.ring_end, &mut state.ring) {
            ring.free_to(end);
        }
        batch.failures.into_iter().for_each(|error| self.failure.keep(error));
        state.garbage.push(batch.keep);
        state.idle.push(batch.recorded.commands);
    }

    /// Returns true if all work is done and nothing is to be waited for.
    pub(super) fn is_idle(&self) -> bool {
        self.with(|state| {
            self.retire(state);
            state.open.is_none() && state.submitted.is_empty() && state.waits.is_empty()
        })
    }

    /// Submits, and returns the point at which all work queued so far is done; `None` if that is
    /// already so.
    pub(super) fn point(&self) -> Option<Point> {
        self.with(|state| {
            self.submit(state, None);
            state.last.clone().filter(|point| !point.is_reached(self.gpu()))
        })
    }

    /// Waits for all queued work without a report of its failures.
    ///
    /// # Errors
    ///
    /// The wait failed: the device is lost.
    pub(super) fn finish(&self) -> Result<(), Error> {
        let point = self.point();
        // Others may queue work meanwhile.
        let waited = point.map_or(Ok(()), |point| point.wait(self.gpu()));
        self.with(|state| self.retire(state));
        waited.or_failed(|| format!("{}: waiting for a stream", self.gpu().name()))
    }

    /// Waits for all queued work; returns the first failure since the last report.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        let finished = self.finish();
        self.shared.complete_host_copies();
        self.failure.report()?;
        finished?;
        self.gpu().instance().messages().map_or(Ok(()), |messages| messages.report())
    }

    /// Makes later work wait for the work currently queued on `from`, on the device (VK-D15).
    pub(crate) fn wait_for(&self, from: &Self) -> Result<(), Error> {
        let Some(mut point) = from.point() else { return Ok(()) };
        if self.clock.is_none() {
            let what = || format!("{}: making a stream wait for another", self.gpu().name());
            // A fence is the host's to wait for: a semaphore is signalled for this stream alone.
            let semaphore = Arc::new(Semaphore::binary(self.gpu()).or_failed(what)?);
            from.with(|state| from.submit(state, Some(&semaphore)));
            from.failure.report()?;
            point = Point::Once(semaphore);
        }
        self.wait_at(point);
        Ok(())
    }

    /// Makes later work wait for a point that a semaphore shows.
    pub(super) fn wait_at(&self, point: Point) {
        self.with(|state| {
            // What was recorded before does not wait.
            if state.open.is_some() {
                self.submit(state, None);
            }
            state.waits.push(point);
        });
    }
}
