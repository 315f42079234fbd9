//! Work on streams as data: a device and a model execute the same steps, the model in sequence, and
//! both must end in the same state. Waits between steps on several streams leave only one possible
//! result.

use chipdock_programs::Random;
use chipdock_raw_host::{Device, Space, Stream, host_end};

use crate::{Stop, Verdict};

/// A data space of the device, or host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::group) enum StreamMemory {
    Space(usize),
    Host(usize),
}

/// One end of a copy: a place, and an offset in bytes.
pub(in crate::group) type End = (StreamMemory, usize);

#[derive(Clone, Copy, Debug)]
enum Step {
    Copy {
        on: usize,
        from: End,
        to: End,
        size: usize,
    },
    Wait {
        on: usize,
        from: usize,
    },
    Sync(usize),
    /// Checks the host memory now.
    Look(usize),
    /// Fills the host memory.
    Fill(usize, u8),
    /// Frees the stream.
    Free(usize),
}

/// Sequence of steps. Stream 0 is the default stream, higher ones are created.
#[derive(Clone, Debug, Default)]
pub(in crate::group) struct Play {
    n_created: usize,
    spaces: Vec<Vec<u8>>,
    hosts: Vec<Vec<u8>>,
    steps: Vec<Step>,
}

impl Play {
    /// Creates a play with `n_created` streams besides the default one.
    pub(in crate::group) fn new(n_created: usize) -> Self {
        Self { n_created, ..Self::default() }
    }

    /// Adds a data space with initial bytes of its own.
    pub(in crate::group) fn space(&mut self, size: usize) -> StreamMemory {
        self.spaces.push(Random::new(self.spaces.len() as u64).bytes(size));
        StreamMemory::Space(self.spaces.len() - 1)
    }

    /// Adds host memory with initial bytes of its own.
    pub(in crate::group) fn host(&mut self, size: usize) -> StreamMemory {
        self.hosts.push(Random::new(1000 + self.hosts.len() as u64).bytes(size));
        StreamMemory::Host(self.hosts.len() - 1)
    }

    pub(in crate::group) fn copy(&mut self, on: usize, from: End, to: End, size: usize) {
        self.steps.push(Step::Copy { on, from, to, size });
    }

    /// Makes later work on `on` wait for the work queued on `from` so far.
    pub(in crate::group) fn wait(&mut self, on: usize, from: usize) {
        self.steps.push(Step::Wait { on, from });
    }

    pub(in crate::group) fn sync(&mut self, on: usize) {
        self.steps.push(Step::Sync(on));
    }

    /// Checks host memory; allowed only after a sync of the streams that write it.
    pub(in crate::group) fn look(&mut self, place: StreamMemory) {
        if let StreamMemory::Host(host) = place {
            self.steps.push(Step::Look(host));
        }
    }

    /// Fills host memory; allowed only after a sync of the streams that use it.
    pub(in crate::group) fn fill(&mut self, place: StreamMemory, value: u8) {
        if let StreamMemory::Host(host) = place {
            self.steps.push(Step::Fill(host, value));
        }
    }

    pub(in crate::group) fn free(&mut self, on: usize) {
        self.steps.push(Step::Free(on));
    }

    /// Runs all steps on device 0, and checks that it ends in the state of the model.
    pub(in crate::group) fn run(&self, device: &Device) -> Verdict {
        let mut model = self.clone();
        let mut stage = Stage::new(device, self)?;
        for (index, step) in self.steps.iter().enumerate() {
            stage
                .step(step, &mut model)
                .map_err(|stop| stop.note(format!("step {index} of {}: {step:?}", self.steps.len())))?;
        }
        stage.end(&model)
    }

    fn bytes(&mut self, place: StreamMemory) -> &mut Vec<u8> {
        match place {
            StreamMemory::Space(index) => &mut self.spaces[index],
            StreamMemory::Host(index) => &mut self.hosts[index],
        }
    }

    fn model_copy(&mut self, from: End, to: End, size: usize) {
        let bytes = self.bytes(from.0)[from.1..from.1 + size].to_vec();
        self.bytes(to.0)[to.1..to.1 + size].copy_from_slice(&bytes);
    }
}

/// Creates the streams of a play, the default one first.
///
/// # Errors
///
/// `Unsupported` if the device has only the default stream.
pub(in crate::group) fn streams(
    device: &Device,
    device_id: i32,
    n_created: usize,
) -> Verdict<Vec<Stream<'_>>> {
    let mut streams = vec![device.default_stream(device_id)];
    for _ in 0..n_created {
        let stream = device.create_stream(device_id)?;
        if stream.raw().is_null() {
            return Err(Stop::Unsupported("create_stream answers the default stream".to_owned()));
        }
        streams.push(stream);
    }
    Ok(streams)
}

/// Device objects of a running play. However the play ends, its streams are synchronised before its
/// memory is freed.
struct Stage<'d> {
    streams: Vec<Option<Stream<'d>>>,
    spaces: Vec<Space<'d>>,
    hosts: Vec<Vec<u8>>,
}

impl<'d> Stage<'d> {
    fn new(device: &'d Device, play: &Play) -> Verdict<Self> {
        let streams = streams(device, 0, play.n_created)?;
        let mut spaces = Vec::new();
        for bytes in &play.spaces {
            let space = device.allocate(bytes.len() as u64)?;
            space.write(0, bytes)?;
            spaces.push(space);
        }
        Ok(Self { streams: streams.into_iter().map(Some).collect(), spaces, hosts: play.hosts.clone() })
    }

    fn stream(&self, index: usize) -> Verdict<&Stream<'d>> {
        let stream = self.streams.get(index).and_then(Option::as_ref);
        stream.ok_or_else(|| Stop::suite(format!("the play has no stream {index} any more")))
    }

    fn end_of(&mut self, end: End) -> chipdock_abi::ChipdockCopyEnd {
        match end.0 {
            StreamMemory::Space(index) => self.spaces[index].end(end.1 as u64),
            StreamMemory::Host(index) => host_end(self.hosts[index].as_mut_ptr(), end.1 as u64),
        }
    }

    fn step(&mut self, step: &Step, model: &mut Play) -> Verdict {
        match *step {
            Step::Copy { on, from, to, size } => {
                model.model_copy(from, to, size);
                let (from, to) = (self.end_of(from), self.end_of(to));
                // SAFETY: both ends live as long as `self`, which waits for all streams before it
                // is dropped; the model's slices checked that they are in range, and plays copy
                // between places that differ or do not overlap.
                unsafe { self.stream(on)?.copy(from, to, size as u64) }?;
            }
            Step::Wait { on, from } => self.stream(on)?.wait_for(self.stream(from)?)?,
            Step::Sync(on) => self.stream(on)?.sync()?,
            Step::Look(host) => in_order("the host's memory", host, &self.hosts[host], &model.hosts[host])?,
            Step::Fill(host, value) => {
                self.hosts[host].fill(value);
                model.hosts[host].fill(value);
            }
            Step::Free(on) => {
                if let Some(stream) = self.streams.get_mut(on).and_then(Option::take) {
                    stream.free()?;
                }
            }
        }
        Ok(())
    }

    fn end(self, model: &Play) -> Verdict {
        for stream in self.streams.iter().flatten() {
            stream.sync()?;
        }
        for (index, (found, expected)) in self.hosts.iter().zip(&model.hosts).enumerate() {
            in_order("the host's memory", index, found, expected)?;
        }
        for (index, (space, expected)) in self.spaces.iter().zip(&model.spaces).enumerate() {
            let mut found = vec![0; expected.len()];
            space.read(0, &mut found)?;
            in_order("data space", index, &found, expected)?;
        }
        Ok(())
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        for stream in self.streams.iter().flatten() {
            // The case has already reported the failure.
            let _ = stream.sync();
        }
    }
}

/// Checks that bytes are as in the model.
fn in_order(what: &str, index: usize, found: &[u8], expected: &[u8]) -> Verdict {
    let note = "expected is what is there when the steps are done one after the other";
    same(what, index, found, expected).map_err(|stop| stop.note(note))
}

/// Checks that bytes are as expected, and reports the first difference.
pub(in crate::group) fn same(what: &str, index: usize, found: &[u8], expected: &[u8]) -> Verdict {
    let Some(at) = found.iter().zip(expected).position(|(found, expected)| found != expected) else {
        return Ok(());
    };
    let n_wrong = found.iter().zip(expected).filter(|(found, expected)| found != expected).count();
    Err(Stop::failed(
        format!("byte {at} of {what} {index}: {:#04x}", expected[at]),
        format!("{:#04x}; {n_wrong} of {} bytes are wrong", found[at], found.len()),
    ))
}
