//! Interfaces `memory.async` 1 and `workspace` 1: memory in the order of a stream (N.31 to N.39).

use std::ffi::c_void;
use std::ptr;
use std::time::Instant;

use chipdock_abi::{CHIPDOCK_DATA_SPACE_DEVICE, ChipdockCopyEnd, ChipdockDataSpaceRequest};
use chipdock_plugin_api::text::str_out;
use chipdock_raw_host::{Device, NO_HINT, Ordered, Space, Stream, host_end};

use crate::bytes::{pattern, same_bytes};
use crate::case::Profile;
use crate::group::stream::play::streams;
use crate::stop::{ensure, refused};
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

const VALUE_ERROR: &[&str] = &["ValueError"];
/// The kinds of error for a handle that is not live.
const NOT_LIVE: &[&str] = &["WrongState", "ValueError", "Unsupported"];
/// Size of a copy whose time can be measured.
const LARGE: usize = 8 << 20;

pub(super) fn add(cases: &mut Cases) {
    let several: &[Profile] = &[Profile::SeveralStreams];
    let checked: &[Profile] = &[Profile::CheckedHandles];
    let mut case = |by: Ordered, name: &str, clause, profile: &[Profile], body: fn(&Device) -> Verdict| {
        let (group, own) = match by {
            Ordered::Memory => ("async", Profile::MemoryAsync),
            Ordered::Workspace => ("workspace", Profile::Workspace),
        };
        let draft = cases.case(Group::Memory, format!("{group}/{name}"), clause, Subject::DeviceApi);
        let draft = draft.profile([own]).profile(profile.iter().copied());
        draft.run(move |c| with(c, by).and_then(|device| body(&device)));
    };
    let by = Ordered::Memory;
    case(by, "holds-bytes/default", "N.31", &[], |device| holds_bytes(device, Ordered::Memory, 0));
    case(by, "holds-bytes/created", "N.31", several, |device| holds_bytes(device, Ordered::Memory, 1));
    case(by, "on-a-stream-that-waits", "N.31", several, on_a_stream_that_waits);
    case(by, "allocate-does-not-wait", "N.31", several, allocate_does_not_wait);
    case(by, "freed-while-queued", "N.32", &[], |device| freed_while_queued(device, Ordered::Memory));
    case(by, "free-does-not-wait", "N.32", several, free_does_not_wait);
    case(by, "in-a-row", "N.32", &[], |device| in_a_row(device, Ordered::Memory));
    case(by, "free-null", "N.32", &[], |device| free_null(device, Ordered::Memory));
    case(by, "freed-by-the-device-api", "N.33", &[], freed_by_the_device_api);
    case(by, "frees-its-own-alone", "N.33", checked, |device| frees_its_own_alone(device, Ordered::Memory));
    case(by, "more-than-there-is", "N.34", &[], |device| more_than_there_is(device, Ordered::Memory));
    case(by, "freed", "D.19", checked, |device| freed(device, Ordered::Memory));
    case(by, "odd-alignment", "D.23", &[], odd_alignment);
    case(by, "no-such-device", "N.35", &[], |device| no_device(device, Ordered::Memory));
    case(by, "no-such-stream", "N.35", checked, |device| no_stream(device, Ordered::Memory));
    case(by, "null-place", "D.2", &[], |device| null_place(device, Ordered::Memory));
    let by = Ordered::Workspace;
    case(by, "holds-bytes/default", "N.36", &[], |device| holds_bytes(device, Ordered::Workspace, 0));
    case(by, "holds-bytes/created", "N.36", several, |device| holds_bytes(device, Ordered::Workspace, 1));
    case(by, "apart", "N.36", &[], apart);
    case(by, "of-each-thread", "N.36", &[], of_each_thread);
    case(by, "freed-while-queued", "N.37", &[], |device| freed_while_queued(device, Ordered::Workspace));
    case(by, "in-a-row", "N.37", &[], |device| in_a_row(device, Ordered::Workspace));
    case(by, "free-null", "N.37", &[], |device| free_null(device, Ordered::Workspace));
    case(by, "again-and-again", "N.38", &[], |device| more_than_there_is(device, Ordered::Workspace));
    case(by, "threads-that-end", "N.38", &[], threads_that_end);
    case(by, "freed", "N.39", checked, |device| freed(device, Ordered::Workspace));
    case(by, "no-such-device", "N.39", &[], |device| no_device(device, Ordered::Workspace));
    case(by, "no-such-stream", "N.39", checked, |device| no_stream(device, Ordered::Workspace));
    case(by, "null-place", "D.2", &[], |device| null_place(device, Ordered::Workspace));
}

/// Returns the device, if its plugin has the interface and device 0 such memory (N.35, N.39).
fn with(c: &Context, by: Ordered) -> Verdict<Device> {
    let device = c.device()?;
    if !device.has(by.name()) {
        let message = format!("device_api.{} has no interface `{}` 1", device.name, by.name());
        return Err(Stop::Unsupported(message));
    }
    match Piece::new(&device, by, &device.default_stream(0), 64) {
        Err(error) if error.kind().as_str() == "Unsupported" => {
            return Err(Stop::Unsupported(format!("device 0 answers: {}", error.message())));
        }
        piece => piece?.free()?,
    }
    Ok(device)
}

fn request(size_bytes: usize, alignment_bytes: u64) -> ChipdockDataSpaceRequest {
    ChipdockDataSpaceRequest {
        size_bytes: size_bytes as u64,
        alignment_bytes,
        dtype_hint: NO_HINT,
        kind: CHIPDOCK_DATA_SPACE_DEVICE,
        scope: str_out(""),
        next: ptr::null(),
    }
}

/// Memory in the order of a stream, which is freed there when this is dropped.
struct Piece<'d> {
    device: &'d Device,
    by: Ordered,
    stream: *mut c_void,
    data: *mut c_void,
}

impl<'d> Piece<'d> {
    fn new(
        device: &'d Device,
        by: Ordered,
        stream: &Stream<'_>,
        size_bytes: usize,
    ) -> Result<Self, chipdock_plugin_api::Error> {
        let data = device.allocate_ordered(by, 0, &request(size_bytes, 64), stream.raw())?;
        Ok(Self { device, by, stream: stream.raw(), data })
    }

    fn end(&self) -> ChipdockCopyEnd {
        ChipdockCopyEnd { device: self.device.device(0), data: self.data, offset_bytes: 0 }
    }

    fn free(self) -> Result<(), chipdock_plugin_api::Error> {
        let (device, by, stream, data) = (self.device, self.by, self.stream, self.data);
        std::mem::forget(self);
        device.free_ordered(by, 0, data, stream)
    }
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        let _ = self.device.free_ordered(self.by, 0, self.data, self.stream);
    }
}

/// Queues a copy of host memory or a data space.
fn copy(stream: &Stream<'_>, from: ChipdockCopyEnd, to: ChipdockCopyEnd, size: usize) -> Verdict {
    // SAFETY: by D.6, the cases keep both ends until the stream was synchronised, or free them in
    // its order (N.32, N.37).
    Ok(unsafe { stream.copy(from, to, size as u64) }?)
}

/// Queues work and waits for it, also where only a part could be queued: it uses host memory of the
/// caller.
fn ended(queue: impl FnOnce() -> Verdict, streams: &[&Stream<'_>]) -> Verdict {
    let queued = queue();
    streams.iter().try_for_each(|stream| stream.sync())?;
    queued
}

/// Writes through the stream, reads back through it, and frees after that.
fn holds_bytes(device: &Device, by: Ordered, n_created: usize) -> Verdict {
    let streams = streams(device, 0, n_created)?;
    let stream = &streams[n_created];
    for (number, size) in [1, 64, 1000, 4096, 1 << 20].into_iter().enumerate() {
        let mut bytes = pattern(number as u64, size);
        let mut found = vec![0; size];
        let queue = || -> Verdict {
            let piece = Piece::new(device, by, stream, size)?;
            copy(stream, host_end(bytes.as_mut_ptr(), 0), piece.end(), size)?;
            copy(stream, piece.end(), host_end(found.as_mut_ptr(), 0), size)?;
            Ok(piece.free()?)
        };
        ended(queue, &[stream])?;
        same_bytes(&format!("{size} bytes"), &found, &bytes)?;
    }
    Ok(())
}

/// Allocates on one stream, uses the memory on another that waits for it, and frees on the first
/// again.
fn on_a_stream_that_waits(device: &Device) -> Verdict {
    let streams = streams(device, 0, 2)?;
    let (own, other) = (&streams[1], &streams[2]);
    for number in 0..20 {
        let mut bytes = pattern(number, 10_000);
        let mut found = vec![0; 10_000];
        let queue = || -> Verdict {
            let piece = Piece::new(device, Ordered::Memory, own, bytes.len())?;
            other.wait_for(own)?;
            copy(other, host_end(bytes.as_mut_ptr(), 0), piece.end(), bytes.len())?;
            copy(other, piece.end(), host_end(found.as_mut_ptr(), 0), found.len())?;
            own.wait_for(other)?;
            Ok(piece.free()?)
        };
        ended(queue, &[other, own])?;
        same_bytes("what the other stream read", &found, &bytes)?;
    }
    Ok(())
}

/// Checks that the memory of queued work may be freed at once: later memory does not disturb it.
fn freed_while_queued(device: &Device, by: Ordered) -> Verdict {
    const ROUNDS: usize = 40;
    const SIZE: usize = 1 << 18;
    let stream = device.default_stream(0);
    let mut bytes: Vec<Vec<u8>> = (0..ROUNDS).map(|number| pattern(number as u64, SIZE)).collect();
    let mut found = vec![vec![0; SIZE]; ROUNDS];
    let queue = || -> Verdict {
        for (bytes, found) in bytes.iter_mut().zip(&mut found) {
            let piece = Piece::new(device, by, &stream, SIZE)?;
            copy(&stream, host_end(bytes.as_mut_ptr(), 0), piece.end(), SIZE)?;
            copy(&stream, piece.end(), host_end(found.as_mut_ptr(), 0), SIZE)?;
            piece.free()?;
        }
        Ok(())
    };
    ended(queue, &[&stream])?;
    let mut rounds = found.iter().zip(&bytes).enumerate();
    rounds.try_for_each(|(round, (found, bytes))| same_bytes(&format!("round {round}"), found, bytes))
}

/// Checks that many pieces in a row, some inside of others, keep their bytes apart.
fn in_a_row(device: &Device, by: Ordered) -> Verdict {
    let stream = device.default_stream(0);
    for round in 0..30 {
        let size = 500 + round * 700;
        let (mut outer_bytes, mut inner_bytes) = (pattern(round as u64, size), pattern(99, size / 2));
        let (mut outer_found, mut inner_found) = (vec![0; size], vec![0; size / 2]);
        let queue = || -> Verdict {
            let outer = Piece::new(device, by, &stream, size)?;
            copy(&stream, host_end(outer_bytes.as_mut_ptr(), 0), outer.end(), size)?;
            let inner = Piece::new(device, by, &stream, size / 2)?;
            copy(&stream, host_end(inner_bytes.as_mut_ptr(), 0), inner.end(), size / 2)?;
            copy(&stream, inner.end(), host_end(inner_found.as_mut_ptr(), 0), size / 2)?;
            inner.free()?;
            copy(&stream, outer.end(), host_end(outer_found.as_mut_ptr(), 0), size)?;
            Ok(outer.free()?)
        };
        ended(queue, &[&stream])?;
        same_bytes("the inner piece", &inner_found, &inner_bytes)?;
        same_bytes("the outer piece", &outer_found, &outer_bytes)?;
    }
    Ok(())
}

/// Checks that live workspaces have no byte in common.
fn apart(device: &Device) -> Verdict {
    const SIZES: [usize; 6] = [4096, 4096, 1, 100, 0, 4096];
    let stream = device.default_stream(0);
    let mut bytes: Vec<Vec<u8>> =
        SIZES.iter().enumerate().map(|(number, size)| pattern(number as u64, *size)).collect();
    let mut found: Vec<Vec<u8>> = SIZES.iter().map(|size| vec![0; *size]).collect();
    let queue = || -> Verdict {
        let mut pieces = Vec::new();
        for (size, bytes) in SIZES.iter().zip(&mut bytes) {
            let piece = Piece::new(device, Ordered::Workspace, &stream, *size)?;
            ensure(!piece.data.is_null(), "workspace", "null")?;
            copy(&stream, host_end(bytes.as_mut_ptr(), 0), piece.end(), *size)?;
            pieces.push(piece);
        }
        for (piece, found) in pieces.iter().zip(&mut found) {
            copy(&stream, piece.end(), host_end(found.as_mut_ptr(), 0), found.len())?;
        }
        // N.37: the last first.
        while let Some(piece) = pieces.pop() {
            piece.free()?;
        }
        Ok(())
    };
    ended(queue, &[&stream])?;
    let mut all = found.iter().zip(&bytes).enumerate();
    all.try_for_each(|(number, (found, bytes))| same_bytes(&format!("workspace {number}"), found, bytes))
}

/// Runs the same work on several threads at once, and returns the first failure.
fn on_threads(device: &Device, work: fn(&Device) -> Verdict) -> Verdict {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| work(device))).collect();
        let ends = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(Stop::suite("a thread of a case panicked"))));
        ends.fold(Ok(()), Result::and)
    })
}

fn of_each_thread(device: &Device) -> Verdict {
    on_threads(device, apart)
}

/// Checks that the workspace of threads that ended is not lost.
fn threads_that_end(device: &Device) -> Verdict {
    let work = |device: &Device| {
        let stream = device.default_stream(0);
        Piece::new(device, Ordered::Workspace, &stream, 16 << 20)?.free()?;
        Ok(stream.sync()?)
    };
    (0..16).try_for_each(|_| on_threads(device, work))
}

/// Checks that memory which was freed in the stream's order can be allocated again after it.
fn more_than_there_is(device: &Device, by: Ordered) -> Verdict {
    let stream = device.default_stream(0);
    for round in 0..64 {
        let piece = Piece::new(device, by, &stream, 16 << 20).map_err(|error| {
            let message = format!("{}: {}", error.kind().as_str(), error.message());
            Stop::failed(format!("16 MiB in round {round}, as in those before"), message)
        })?;
        piece.free()?;
        stream.sync()?;
    }
    Ok(())
}

/// Two data spaces, between which copies take measurable time.
struct Work<'d> {
    stream: &'d Stream<'d>,
    from: Space<'d>,
    to: Space<'d>,
}

impl<'d> Work<'d> {
    fn new(device: &'d Device, stream: &'d Stream<'d>) -> Verdict<Self> {
        let work = Self { stream, from: device.allocate(LARGE as u64)?, to: device.allocate(LARGE as u64)? };
        work.from.write(0, &vec![7; LARGE])?;
        Ok(work)
    }

    /// Checks that a call returns before the queued work is done, in one of three rounds.
    fn outlasts(&self, what: &str, mut call: impl FnMut() -> Verdict) -> Verdict {
        for _ in 0..3 {
            let begin = Instant::now();
            for _ in 0..32 {
                copy(self.stream, self.from.end(0), self.to.end(0), LARGE)?;
            }
            let queued = begin.elapsed();
            call()?;
            let called = begin.elapsed();
            self.stream.sync()?;
            let all = begin.elapsed();
            // A device whose copies are synchronous has nothing to wait for.
            if queued * 2 > all || called * 2 < all {
                return Ok(());
            }
        }
        Err(Stop::failed(format!("{what} returns before the work ahead of it is done"), "it took as long"))
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        let _ = self.stream.sync();
    }
}

fn allocate_does_not_wait(device: &Device) -> Verdict {
    let streams = streams(device, 0, 1)?;
    let stream = &streams[1];
    let work = Work::new(device, stream)?;
    let mut pieces = Vec::new();
    work.outlasts("`allocate`", || {
        pieces.push(Piece::new(device, Ordered::Memory, stream, 4096)?);
        Ok(())
    })
}

fn free_does_not_wait(device: &Device) -> Verdict {
    let streams = streams(device, 0, 1)?;
    let stream = &streams[1];
    let work = Work::new(device, stream)?;
    let pieces = (0..3).map(|_| Piece::new(device, Ordered::Memory, stream, 4096));
    let mut pieces = pieces.collect::<Result<Vec<_>, _>>()?;
    work.outlasts("`free`", || Ok(pieces.pop().map_or(Ok(()), Piece::free)?))
}

fn free_null(device: &Device, by: Ordered) -> Verdict {
    Ok(device.free_ordered(by, 0, ptr::null_mut(), ptr::null_mut())?)
}

fn freed_by_the_device_api(device: &Device) -> Verdict {
    let stream = device.default_stream(0);
    for _ in 0..10 {
        let data = device.allocate_ordered(Ordered::Memory, 0, &request(1000, 64), stream.raw())?;
        stream.sync()?;
        // SAFETY: by D.5, it was just allocated, no work uses it, and it is freed once.
        unsafe { device.free_raw(0, data) }?;
    }
    Ok(())
}

fn frees_its_own_alone(device: &Device, by: Ordered) -> Verdict {
    let bytes = pattern(1, 1000);
    let space = Space::with(device, 0, &bytes)?;
    let answer = device.free_ordered(by, 0, space.data(), ptr::null_mut());
    refused("freeing a data space of the device API", answer, &["WrongState", "ValueError"])?;
    device.default_stream(0).sync()?;
    same_bytes("the data space", &space.contents()?, &bytes)
}

fn freed(device: &Device, by: Ordered) -> Verdict {
    let stream = device.default_stream(0);
    // Allocated before: later memory may have the address.
    let space = device.allocate(64)?;
    let piece = Piece::new(device, by, &stream, 64)?;
    let data = piece.data;
    piece.free()?;
    let again = device.free_ordered(by, 0, data, stream.raw());
    refused("freeing it again", again, NOT_LIVE)?;
    // Until then it may be memory that the driver knows.
    stream.sync()?;
    let from = ChipdockCopyEnd { device: device.device(0), data, offset_bytes: 0 };
    let copied = copy(&stream, from, space.end(0), 64);
    stream.sync()?;
    ensure(copied.is_err(), "a copy of freed memory is refused", "success")
}

fn odd_alignment(device: &Device) -> Verdict {
    for alignment in [0, 3, 65] {
        let asked = request(64, alignment);
        let answer = device.allocate_ordered(Ordered::Memory, 0, &asked, ptr::null_mut()).map(drop);
        refused(&format!("alignment {alignment}"), answer, VALUE_ERROR)?;
    }
    Ok(())
}

fn no_device(device: &Device, by: Ordered) -> Verdict {
    for id in [-1, device.count()?, i32::MAX] {
        let answer = device.allocate_ordered(by, id, &request(64, 64), ptr::null_mut()).map(drop);
        refused(&format!("`allocate` on device {id}"), answer, VALUE_ERROR)?;
    }
    Ok(())
}

fn no_stream(device: &Device, by: Ordered) -> Verdict {
    let garbage = ptr::without_provenance_mut(0x7357_0bad);
    let answer = device.allocate_ordered(by, 0, &request(64, 64), garbage).map(drop);
    refused("`allocate` on a stream that is none", answer, NOT_LIVE)?;
    let stream = device.default_stream(0);
    let piece = Piece::new(device, by, &stream, 64)?;
    let answer = device.free_ordered(by, 0, piece.data, garbage);
    refused("`free` on a stream that is none", answer, NOT_LIVE)
}

fn null_place(device: &Device, by: Ordered) -> Verdict {
    refused("`allocate` with null for its result", device.allocate_nowhere(by, &request(64, 64)), VALUE_ERROR)
}
