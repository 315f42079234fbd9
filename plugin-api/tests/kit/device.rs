//! A device in host memory that is built from the kit, as a plugin would use it.
//!
//! Work is queued as closures and runs when a caller waits, so that queued work can outlive its
//! handles, fail late, and be observed to run in order.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::{Arc, Mutex};

use chipdock_plugin_api::kit::{
    Budget, Devices, FirstFailure, HandleKind, Health, Reserved, Spaces, Table, lock,
};
use chipdock_plugin_api::{
    Any, ChipdockDevice, CopyEnd, CopyRequest, DataSpaceKind, DataSpaceRequest, DeviceApi, Error, ErrorKind,
    HostRef, HostState, Stream, bail,
};
use proptest::prelude::*;

use crate::fails;

const TYPE: i32 = 4711;
const MEMORY_BYTES: u64 = 1000;

type Job = Box<dyn FnOnce() -> Result<(), Error> + Send>;

#[derive(Default)]
struct Queue {
    jobs: Mutex<VecDeque<Job>>,
    failure: FirstFailure,
}

impl Queue {
    fn push(&self, job: Job) -> Result<(), Error> {
        self.failure.report()?;
        lock(&self.jobs).push_back(job);
        Ok(())
    }

    /// Runs what is queued; failures are kept.
    fn run(&self) {
        loop {
            let Some(job) = lock(&self.jobs).pop_front() else { return };
            if let Err(error) = job() {
                self.failure.keep(error);
            }
        }
    }

    fn sync(&self) -> Result<(), Error> {
        self.run();
        self.failure.report()
    }
}

struct Memory {
    bytes: Mutex<Vec<u8>>,
    _reserved: Reserved,
}

struct Chip {
    name: String,
    health: Health,
    budget: Budget,
    spaces: Spaces<Memory>,
    default: Arc<Queue>,
    streams: Table<Queue>,
}

impl Chip {
    fn new(id: i32) -> Self {
        Self {
            name: format!("device fake:{id}"),
            health: Health::default(),
            budget: Budget::new(MEMORY_BYTES),
            spaces: Spaces::default(),
            default: Arc::default(),
            streams: Table::new(HandleKind::Stream),
        }
    }

    fn stream(&self, stream: Stream) -> Result<Arc<Queue>, Error> {
        match stream.into_raw().addr() {
            0 => Ok(Arc::clone(&self.default)),
            handle => self.streams.get(handle, &self.name),
        }
    }

    fn drain(&self) -> Result<(), Error> {
        let mut first = self.default.sync();
        for queue in self.streams.values() {
            first = first.and(queue.sync());
        }
        first
    }

    fn reset(&self) {
        let _ = self.drain();
        self.spaces.abandon();
        self.streams.abandon();
        self.health.restore();
    }
}

struct Fake(Devices<Chip>);

impl HostState for Fake {
    fn new(_host: HostRef) -> Self {
        Self(Devices::new("fake", TYPE, || Ok((0..2).map(Chip::new).collect())))
    }
}

enum End {
    Host(Vec<u8>),
    Device(Arc<Memory>, usize),
}

impl Fake {
    fn chip(&self, device_id: i32) -> Result<&Arc<Chip>, Error> {
        let chip = self.0.get(device_id)?;
        chip.health.check(&chip.name)?;
        Ok(chip)
    }

    fn end(&self, end: &CopyEnd, size_bytes: u64) -> Result<End, Error> {
        if end.is_host() {
            // SAFETY: D.6, the tests' memory has so many bytes.
            let bytes = unsafe { std::slice::from_raw_parts(end.address(), size_bytes as usize) };
            return Ok(End::Host(bytes.to_vec()));
        }
        self.0.check_end(end.device)?;
        let chip = self.chip(end.device.device_id)?;
        let (memory, start) = chip.spaces.range(end.data.addr(), end.offset_bytes, size_bytes, &chip.name)?;
        Ok(End::Device(memory, start))
    }
}

impl DeviceApi for Fake {
    fn device_count(&self) -> Result<i32, Error> {
        self.0.count()
    }

    fn attribute(&self, device_id: i32, _key: &str) -> Result<Option<Any>, Error> {
        self.chip(device_id).map(|_| None)
    }

    fn allocate_data_space(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
    ) -> Result<*mut c_void, Error> {
        let chip = self.chip(device_id)?;
        chip.health.check_memory(&chip.name)?;
        let reserved = chip.budget.reserve(request.size_bytes, &chip.name)?;
        let bytes = Mutex::new(vec![0; request.size_bytes as usize]);
        let handle = chip.spaces.add(Memory { bytes, _reserved: reserved }, request.size_bytes);
        Ok(without_provenance_mut(handle))
    }

    unsafe fn free_data_space(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        let chip = self.0.get(device_id)?;
        chip.spaces.take(data.addr(), &chip.name).map(drop)
    }

    /// To a device alone, or between data spaces.
    unsafe fn copy_data(&self, device_id: i32, copy: &CopyRequest, stream: Stream) -> Result<(), Error> {
        let chip = Arc::clone(self.chip(device_id)?);
        let queue = chip.stream(stream)?;
        let (from, to) = (self.end(&copy.from, copy.size_bytes)?, self.end(&copy.to, copy.size_bytes)?);
        let size = copy.size_bytes as usize;
        let (End::Device(to, start), fails) = (to, chip.health.takes_failure()) else {
            bail!(ErrorKind::UNSUPPORTED, "the tests read by hand");
        };
        queue.push(Box::new(move || {
            chip.health.check(&chip.name)?;
            if fails {
                bail!(ErrorKind::IO, "the copy of {size} bytes failed");
            }
            let bytes = match from {
                End::Host(bytes) => bytes,
                End::Device(from, at) => lock(&from.bytes)[at..at + size].to_vec(),
            };
            lock(&to.bytes)[start..start + size].copy_from_slice(&bytes);
            Ok(())
        }))
    }

    fn create_stream(&self, device_id: i32) -> Result<Stream, Error> {
        let handle = self.chip(device_id)?.streams.add(Queue::default());
        Ok(Stream::from_raw(without_provenance_mut(handle)))
    }

    unsafe fn free_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        let chip = self.0.get(device_id)?;
        match chip.streams.take(stream.into_raw().addr(), &chip.name)? {
            Some(queue) => queue.sync(),
            None => Ok(()),
        }
    }

    unsafe fn sync_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        let chip = self.0.get(device_id)?;
        let done = chip.stream(stream)?.sync();
        chip.health.check(&chip.name)?;
        done
    }

    unsafe fn sync_stream_from_to(&self, device_id: i32, from: Stream, to: Stream) -> Result<(), Error> {
        let chip = self.chip(device_id)?;
        let (from, to) = (chip.stream(from)?, chip.stream(to)?);
        if Arc::ptr_eq(&from, &to) {
            return Ok(());
        }
        // What was queued before, and no more.
        let count = lock(&from.jobs).len();
        let before: Vec<Job> = lock(&from.jobs).drain(..count).collect();
        for job in before {
            if let Err(error) = job() {
                from.failure.keep(error);
            }
        }
        to.push(Box::new(|| Ok(())))
    }

    fn shutdown(&self) -> Result<(), Error> {
        self.0.shut_down(Chip::drain)
    }
}

fn fake() -> Fake {
    Fake::new(HostRef::standalone())
}

fn allocate(fake: &Fake, device_id: i32, size_bytes: u64) -> Result<*mut c_void, Error> {
    fake.allocate_data_space(device_id, &DataSpaceRequest::new(size_bytes, 1, DataSpaceKind::Device))
}

fn free(fake: &Fake, device_id: i32, data: *mut c_void) -> Result<(), Error> {
    // SAFETY: the fake device checks handles.
    unsafe { fake.free_data_space(device_id, data) }
}

fn end(device_id: i32, data: *mut c_void, offset_bytes: u64) -> CopyEnd {
    CopyEnd { device: ChipdockDevice { device_type: TYPE, device_id }, data, offset_bytes }
}

fn write(fake: &Fake, device_id: i32, to: CopyEnd, bytes: &[u8], stream: Stream) -> Result<(), Error> {
    let device = ChipdockDevice { device_type: 1, device_id: 0 };
    let from = CopyEnd { device, data: bytes.as_ptr().cast_mut().cast(), offset_bytes: 0 };
    // SAFETY: the bytes live for the call, which copies them; the fake device checks handles.
    unsafe { fake.copy_data(device_id, &CopyRequest::new(from, to, bytes.len() as u64), stream) }
}

fn sync(fake: &Fake, device_id: i32, stream: Stream) -> Result<(), Error> {
    // SAFETY: the fake device checks handles.
    unsafe { fake.sync_stream(device_id, stream) }
}

fn free_stream(fake: &Fake, device_id: i32, stream: Stream) -> Result<(), Error> {
    // SAFETY: the fake device checks handles.
    unsafe { fake.free_stream(device_id, stream) }
}

fn bytes(fake: &Fake, device_id: i32, data: *mut c_void) -> Vec<u8> {
    let chip = fake.0.get(device_id).unwrap();
    lock(&chip.spaces.find(data.addr(), &chip.name).unwrap().value.bytes).clone()
}

/// KIT-3: handles of others, of other devices, of another host and freed ones; nothing changes, and
/// the device works on.
#[test]
fn kit_3_no_handle_of_anybody_else_is_taken() {
    let (fake, other_host) = (fake(), fake());
    let (mine, of_other) = (allocate(&fake, 0, 8).unwrap(), allocate(&fake, 1, 8).unwrap());
    let of_host = allocate(&other_host, 0, 8).unwrap();
    let (stream, stream_of_other) = (fake.create_stream(0).unwrap(), fake.create_stream(1).unwrap());
    let freed = allocate(&fake, 0, 8).unwrap();
    free(&fake, 0, freed).unwrap();
    let wild = 0x5A5A_5A50 as *mut c_void;
    for data in [null_mut(), wild, of_other, of_host, freed, stream.into_raw()] {
        let words = ["is no data space of device fake:0"];
        fails(free(&fake, 0, data), &ErrorKind::WRONG_STATE, &words);
        fails(write(&fake, 0, end(0, data, 0), &[1], stream), &ErrorKind::WRONG_STATE, &words);
    }
    for stream in [stream_of_other, Stream::from_raw(wild), Stream::from_raw(mine)] {
        let words = ["is no stream of device fake:0"];
        fails(free_stream(&fake, 0, stream), &ErrorKind::WRONG_STATE, &words);
        fails(sync(&fake, 0, stream), &ErrorKind::WRONG_STATE, &words);
        fails(write(&fake, 0, end(0, mine, 0), &[1], stream), &ErrorKind::WRONG_STATE, &words);
    }
    let elsewhere =
        CopyEnd { device: ChipdockDevice { device_type: 2, device_id: 0 }, data: mine, offset_bytes: 0 };
    fails(write(&fake, 0, elsewhere, &[1], stream), &ErrorKind::UNSUPPORTED, &["device type 2"]);
    fails(write(&fake, 0, end(0, mine, 8), &[1], stream), &ErrorKind::INDEX_ERROR, &["8 bytes"]);
    fails(write(&fake, 0, end(7, mine, 0), &[1], stream), &ErrorKind::VALUE_ERROR, &["fake:7"]);
    free_stream(&fake, 0, stream).unwrap();
    fails(free_stream(&fake, 0, stream), &ErrorKind::WRONG_STATE, &["it was freed"]);
    write(&fake, 0, end(0, mine, 4), &[7; 4], Stream::DEFAULT).unwrap();
    sync(&fake, 0, Stream::DEFAULT).unwrap();
    assert_eq!(bytes(&fake, 0, mine), [0, 0, 0, 0, 7, 7, 7, 7]);
}

/// KIT-4, KIT-9: queued work keeps a data space that is freed too early, and its bytes count until
/// then.
#[test]
fn kit_4_queued_work_keeps_its_memory() {
    let fake = fake();
    let data = allocate(&fake, 0, 600).unwrap();
    write(&fake, 0, end(0, data, 0), &[1; 600], Stream::DEFAULT).unwrap();
    free(&fake, 0, data).unwrap();
    fails(allocate(&fake, 0, 600), &ErrorKind::OUT_OF_MEMORY, &["400 of 1000 are left"]);
    sync(&fake, 0, Stream::DEFAULT).unwrap();
    let again = allocate(&fake, 0, 600).unwrap();
    assert_ne!(again, data, "KIT-2");
    for (device_id, size) in [(0, 400), (1, 1000)] {
        allocate(&fake, device_id, size).unwrap();
    }
}

#[test]
fn kit_11_an_injected_failure_comes_once_and_after_the_return() {
    let fake = fake();
    let data = allocate(&fake, 0, 8).unwrap();
    fake.0.get(0).unwrap().health.fail_next_copy();
    fake.0.get(0).unwrap().health.out_of_memory_next();
    write(&fake, 0, end(0, data, 0), &[1; 3], Stream::DEFAULT).unwrap();
    write(&fake, 0, end(0, data, 0), &[2; 2], Stream::DEFAULT).unwrap();
    fails(sync(&fake, 0, Stream::DEFAULT), &ErrorKind::IO, &["3 bytes"]);
    sync(&fake, 0, Stream::DEFAULT).unwrap();
    assert_eq!(bytes(&fake, 0, data)[..3], [2, 2, 0]);
    fails(allocate(&fake, 0, 8), &ErrorKind::OUT_OF_MEMORY, &["a test requested"]);
    allocate(&fake, 0, 8).unwrap();
}

#[test]
fn kit_10_a_lost_device_answers_so_and_its_handles_are_good_for_being_freed() {
    let fake = fake();
    let (data, stream) = (allocate(&fake, 0, 900).unwrap(), fake.create_stream(0).unwrap());
    write(&fake, 0, end(0, data, 0), &[1], stream).unwrap();
    let chip = fake.0.get(0).unwrap();
    chip.health.lose("a cosmic ray");
    for _ in 0..2 {
        let words = ["device fake:0 is lost since a cosmic ray"];
        fails(allocate(&fake, 0, 1), &ErrorKind::DEVICE_LOST, &words);
        fails(fake.create_stream(0), &ErrorKind::DEVICE_LOST, &words);
        fails(write(&fake, 0, end(0, data, 0), &[1], stream), &ErrorKind::DEVICE_LOST, &words);
        fails(sync(&fake, 0, stream), &ErrorKind::DEVICE_LOST, &words);
    }
    allocate(&fake, 1, 900).unwrap();
    chip.reset();
    let fresh = allocate(&fake, 0, 900).unwrap();
    fails(
        write(&fake, 0, end(0, data, 0), &[1], Stream::DEFAULT),
        &ErrorKind::WRONG_STATE,
        &["no data space"],
    );
    fails(write(&fake, 0, end(0, fresh, 0), &[1], stream), &ErrorKind::WRONG_STATE, &["no stream"]);
    free(&fake, 0, data).unwrap();
    free_stream(&fake, 0, stream).unwrap();
    fails(free(&fake, 0, data), &ErrorKind::WRONG_STATE, &["it was freed"]);
    fails(free_stream(&fake, 0, stream), &ErrorKind::WRONG_STATE, &["it was freed"]);
    write(&fake, 0, end(0, fresh, 0), &[1], Stream::DEFAULT).unwrap();
    sync(&fake, 0, Stream::DEFAULT).unwrap();
}

#[test]
fn kit_15_shutdown_runs_queued_work_and_returns_its_failure() {
    let fake = fake();
    let data = [allocate(&fake, 0, 8).unwrap(), allocate(&fake, 1, 8).unwrap()];
    for device_id in [0, 1] {
        fake.0.get(device_id).unwrap().health.fail_next_copy();
        write(&fake, device_id, end(device_id, data[device_id as usize], 0), &[1; 5], Stream::DEFAULT)
            .unwrap();
        write(&fake, device_id, end(device_id, data[device_id as usize], 0), &[2], Stream::DEFAULT).unwrap();
    }
    fails(fake.shutdown(), &ErrorKind::IO, &["5 bytes"]);
    for (device_id, data) in [0, 1].into_iter().zip(data) {
        assert_eq!(bytes(&fake, device_id, data)[..2], [2, 0]);
    }
    fake.shutdown().unwrap();
}

proptest! {
    /// Work on a stream is done in order, and after what its stream was made to wait for (D.7,
    /// D.16): each write is checked against all that was queued before it on its own stream.
    #[test]
    fn d_7_streams_by_handle_keep_their_order(
        steps in proptest::collection::vec((0_usize..3, 0_u8..3, 0_usize..3), 1..50)
    ) {
        let fake = fake();
        let streams = [Stream::DEFAULT, fake.create_stream(0).unwrap(), fake.create_stream(0).unwrap()];
        // A data space for each stream: the last write that is done is the one that was queued
        // last.
        let spaces: Vec<*mut c_void> = streams.iter().map(|_| allocate(&fake, 0, 1).unwrap()).collect();
        let (mut last, mut done) = ([0_u8; 3], [0_u8; 3]);
        for (number, (stream, action, other)) in steps.into_iter().enumerate() {
            match action {
                0 => {
                    let value = number as u8 + 1;
                    write(&fake, 0, end(0, spaces[stream], 0), &[value], streams[stream]).unwrap();
                    last[stream] = value;
                }
                1 => {
                    sync(&fake, 0, streams[stream]).unwrap();
                    done[stream] = last[stream];
                }
                _ => {
                    // SAFETY: streams of this device.
                    unsafe { fake.sync_stream_from_to(0, streams[other], streams[stream]) }.unwrap();
                    if other != stream {
                        done[other] = last[other];
                    }
                }
            }
            let seen: Vec<u8> = spaces.iter().map(|space| bytes(&fake, 0, *space)[0]).collect();
            prop_assert_eq!(seen, done.to_vec());
        }
    }
}
