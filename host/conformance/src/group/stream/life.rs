//! Creation and release of streams.

use std::collections::HashSet;
use std::ptr;

use chipdock_raw_host::{Device, Stream};

use super::order::{DEADLINE, LARGE};
use super::play::{Play, streams};
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut plain = |name: &str, clause, body: fn(&Context) -> Verdict| {
        cases.case(Group::Stream, name, clause, Subject::DeviceApi).run(body);
    };
    plain("create/alike", "D.15", alike);
    plain("free/null", "D.17", free_null);
    let mut several = |name: &str, clause, body: fn(&Context) -> Verdict| {
        let draft = cases.case(Group::Stream, name, clause, Subject::DeviceApi);
        draft.profile(Profile::SeveralStreams).deadline(DEADLINE).run(body);
    };
    several("create/1", "D.15", |c| distinct(&c.device()?, 1));
    several("create/64", "D.15", |c| distinct(&c.device()?, 64));
    several("create/1000", "D.15", |c| distinct(&c.device()?, 1000));
    several("create/64-at-work", "D.7", at_work);
    several("create/again-and-again", "D.15", again);
    several("free/large-copy-pending", "D.17", |c| pending(1).run(&c.device()?));
    several("free/chain-pending", "D.17", |c| pending(100).run(&c.device()?));
    several("free/one-that-another-waits-for", "D.17", |c| waited_for().run(&c.device()?));
    several("free/other-streams-go-on", "D.17", |c| others_go_on().run(&c.device()?));
    several("current/another-than-named", "D.10", current_is_another);
    several("other-thread", "P10.1", |c| other_thread(&c.device()?));
    let draft = cases.case(Group::Stream, "of-each-device", "D.15", Subject::DeviceApi);
    draft.profile([Profile::SeveralStreams, Profile::SeveralDevices]).run(of_each_device);
}

/// Checks that all handles are null or none is: a device cannot have streams only sometimes.
fn alike(c: &Context) -> Verdict {
    let device = c.device()?;
    let streams = (0..8).map(|_| device.create_stream(0)).collect::<Result<Vec<_>, _>>()?;
    let n_null = streams.iter().filter(|stream| stream.raw().is_null()).count();
    ensure(
        n_null == 0 || n_null == 8,
        "8 streams, or the default stream 8 times",
        format!("{n_null} of 8 null"),
    )
}

fn distinct(device: &Device, count: usize) -> Verdict {
    let streams = streams(device, 0, count)?;
    let handles: HashSet<usize> = streams.iter().map(|stream| stream.raw().addr()).collect();
    // The default stream, null, counts as one of them.
    equal("handles that differ from each other and from null", &handles.len(), &(count + 1))?;
    for stream in streams {
        stream.sync()?;
        stream.free()?;
    }
    Ok(())
}

fn at_work(c: &Context) -> Verdict {
    let mut play = Play::new(64);
    for on in 1..=64 {
        let (source, space, sink) = (play.host(4096), play.space(4096), play.host(4096));
        play.copy(on, (source, 0), (space, 0), 4096);
        play.copy(on, (space, 0), (sink, 0), 4096);
    }
    play.run(&c.device()?)
}

/// Checks that a reused handle is a new stream with nothing left of the old one.
fn again(c: &Context) -> Verdict {
    let device = c.device()?;
    for _ in 0..50 {
        let mut play = Play::new(1);
        let (source, space, sink) = (play.host(512), play.space(512), play.host(512));
        play.copy(1, (source, 0), (space, 0), 512);
        play.copy(1, (space, 0), (sink, 0), 512);
        play.free(1);
        play.look(sink);
        play.run(&device)?;
    }
    Ok(())
}

/// Frees a stream with pending work: the work must be finished when `free_stream` returns, without
/// a sync.
fn pending(n_copies: usize) -> Play {
    let mut play = Play::new(1);
    let (source, space, sink) = (play.host(LARGE), play.space(LARGE), play.host(LARGE));
    let size = LARGE / n_copies;
    for index in 0..n_copies {
        play.copy(1, (source, index * size), (space, index * size), size);
    }
    play.copy(1, (space, 0), (sink, 0), LARGE);
    play.free(1);
    play.look(sink);
    play
}

fn waited_for() -> Play {
    let mut play = Play::new(2);
    let (source, space, sink) = (play.host(LARGE), play.space(LARGE), play.host(LARGE));
    play.copy(1, (source, 0), (space, 0), LARGE);
    play.wait(2, 1);
    play.free(1);
    play.copy(2, (space, 0), (sink, 0), LARGE);
    play.sync(2);
    play.look(sink);
    play
}

fn others_go_on() -> Play {
    let mut play = Play::new(8);
    let (mut sources, mut spaces) = (Vec::new(), Vec::new());
    for on in 1..=8 {
        let (source, space) = (play.host(LARGE / 8), play.space(LARGE / 8));
        play.copy(on, (source, 0), (space, 0), LARGE / 8);
        sources.push(source);
        spaces.push(space);
    }
    for on in [2, 8, 4, 6] {
        play.free(on);
    }
    for on in [1, 3, 5, 7] {
        let sink = play.host(LARGE / 8);
        play.copy(on, (spaces[on - 1], 0), (sink, 0), LARGE / 8);
        play.copy(on, (sources[on - 1], 0), (spaces[on - 1], 64), LARGE / 8 - 64);
        play.sync(on);
        play.look(sink);
    }
    play
}

fn free_null(c: &Context) -> Verdict {
    let device = c.device()?;
    for _ in 0..4 {
        device.default_stream(0).free()?;
    }
    works(&device, &device.default_stream(0))
}

/// Checks that the current stream of the host has no effect: a copy runs on the stream that it
/// names.
fn current_is_another(c: &Context) -> Verdict {
    let device = c.device()?;
    let streams = streams(&device, 0, 2)?;
    let make_current = |raw| device.host().set_current_stream(device.device(0), raw);
    let done = streams.iter().try_for_each(|current| {
        make_current(current.raw());
        streams.iter().try_for_each(|stream| works(&device, stream))
    });
    make_current(ptr::null_mut());
    done
}

/// Copies a large block to the device and back on a stream, and synchronises only that stream.
fn works(device: &Device, stream: &Stream<'_>) -> Verdict {
    let source: Vec<u8> = (0..65_536_u32).map(|index| ((index * 31) >> 3) as u8).collect();
    let mut sink = vec![0; source.len()];
    let space = device.allocate(source.len() as u64)?;
    let size = source.len() as u64;
    let ends = (
        chipdock_raw_host::host_end(source.as_ptr().cast_mut(), 0),
        chipdock_raw_host::host_end(sink.as_mut_ptr(), 0),
    );
    // SAFETY: by D.6, both ends live until the sync below, which comes before any return.
    let queued = unsafe {
        let queued = stream.copy(ends.0, space.end(0), size);
        queued.and_then(|()| stream.copy(space.end(0), ends.1, size))
    };
    stream.sync()?;
    queued?;
    super::play::same("what came back", 0, &sink, &source)
}

fn other_thread(device: &Device) -> Verdict {
    let run = |body: &(dyn Fn() -> Verdict + Sync)| {
        std::thread::scope(|scope| {
            let thread = scope.spawn(body);
            thread.join().unwrap_or_else(|_| Err(Stop::suite("a thread of the case panicked")))
        })
    };
    let streams = streams(device, 0, 4)?;
    run(&|| streams.iter().try_for_each(|stream| works(device, stream)))?;
    let streams = std::sync::Mutex::new(streams);
    run(&|| {
        let mut streams = streams.lock().map_err(Stop::suite)?;
        streams.drain(..).try_for_each(|stream| Ok(stream.free()?))
    })
}

fn of_each_device(c: &Context) -> Verdict {
    let device = c.several_devices()?;
    for device_id in 0..device.count()? {
        let streams = streams(&device, device_id, 2)?;
        let size = 4096;
        let space = device.allocate_kind(device_id, size, 64, 0, "")?;
        let source = vec![device_id as u8 + 1; 4096];
        let mut sink = vec![0; 4096];
        let ends = (
            chipdock_raw_host::host_end(source.as_ptr().cast_mut(), 0),
            chipdock_raw_host::host_end(sink.as_mut_ptr(), 0),
        );
        // SAFETY: by D.6, both ends live until the syncs below, which come before any return.
        let queued = unsafe { streams[1].copy(ends.0, space.end(0), size) };
        let queued = queued.and_then(|()| streams[2].wait_for(&streams[1]));
        // SAFETY: by D.6, both ends live until the syncs below, which come before any return.
        let queued = queued.and_then(|()| unsafe { streams[2].copy(space.end(0), ends.1, size) });
        let synced = (streams[1].sync(), streams[2].sync());
        queued?;
        synced.0?;
        synced.1?;
        super::play::same("what came back from device", device_id as usize, &sink, &source)?;
    }
    Ok(())
}
