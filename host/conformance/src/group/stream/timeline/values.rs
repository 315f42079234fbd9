//! Values of timelines: signals of streams and of the host, queries and waits of the host.

use std::thread;
use std::time::{Duration, Instant};

use chipdock_raw_host::{Device, Stream, Timeline, host_end};

use super::super::play::{same, streams};
use super::super::timer::{self, LARGE, Synced, Work};
use super::{Body, LONG};
use crate::stop::{ensure, equal, refused};
use crate::{Profile, Stop, Verdict};

pub(super) fn add(timeline: &mut impl FnMut(&str, &'static str, &'static [Profile], Body)) {
    let several = &[Profile::SeveralStreams];
    timeline("handles-differ", "N.18", &[], handles_differ);
    timeline("initial", "N.18", &[], initial);
    timeline("signal-follows-the-work/default", "N.19", &[], |device| follows(device, 0));
    timeline("signal-follows-the-work/created", "N.19", several, |device| follows(device, 1));
    timeline("signal-does-not-wait", "N.19", several, |device| {
        does_not_wait(device, "`signal`", |stream, timeline| Ok(stream.signal(timeline, 1)?))
    });
    timeline("signals-in-the-order-of-the-calls", "N.19", several, in_order);
    timeline("values-rise", "N.20", &[], rise);
    timeline("query-does-not-wait", "N.23", several, |device| {
        does_not_wait(device, "`query`", |stream, timeline| {
            stream.signal(timeline, 1)?;
            timeline.query().map(drop).map_err(Stop::from)
        })
    });
    timeline("query-never-falls", "N.23", &[], never_falls);
    timeline("time-ends", "N.24", &[], time_ends);
    timeline("host-waits-before-the-signal", "N.24", &[], waits_before);
    timeline("host-signal", "N.25", &[], host_signal);
    timeline("host-signal-after-queued-ones", "N.25", &[], host_signal_after);
    timeline("freed-before-reached", "N.27", several, freed_before);
    timeline("stream-freed-first", "N.27", several, stream_freed_first);
    timeline("many-at-once", "P9.4", &[], many);
}

/// Waits of the host for a value that must be reached.
pub(super) fn reach(timeline: &Timeline<'_>, value: u64) -> Verdict {
    let reached = timeline.host_wait(value, LONG)?;
    ensure(reached, format!("the value {value} within {LONG} ns"), format!("{:?}", timeline.query()))
}

fn handles_differ(device: &Device) -> Verdict {
    let timelines = (0..100).map(|_| device.create_timeline(0, 0)).collect::<Result<Vec<_>, _>>()?;
    let mut raw: Vec<_> = timelines.iter().map(Timeline::raw).collect();
    ensure(raw.iter().all(|timeline| !timeline.is_null()), "timelines that are not null", "null")?;
    raw.sort_unstable();
    raw.dedup();
    equal("how many handles there are of 100 timelines", &raw.len(), &100)
}

fn initial(device: &Device) -> Verdict {
    for initial in [0, 7, 1 << 40, u64::MAX] {
        let timeline = device.create_timeline(0, initial)?;
        equal("the value of a new timeline", &timeline.query()?, &initial)?;
        ensure(timeline.host_wait(initial, 0)?, "a value that is reached", "a wait that timed out")?;
    }
    Ok(())
}

/// Copies to the host, signals, and looks at the bytes as soon as the value is reached.
fn follows(device: &Device, n_created: usize) -> Verdict {
    let work = Work::new(device)?;
    let streams = streams(device, 0, n_created)?;
    let mut sinks = vec![vec![0_u8; LARGE]; 3];
    let stream = &streams[n_created];
    let timeline = device.create_timeline(0, 0)?;
    let _synced = Synced(stream);
    for (value, sink) in (1..).zip(&mut sinks) {
        work.queue(stream, 8)?;
        // SAFETY: by D.6, both ends live until the stream is synchronised.
        unsafe { stream.copy(work.to.end(0), host_end(sink.as_mut_ptr(), 0), LARGE as u64) }?;
        stream.signal(&timeline, value)?;
        reach(&timeline, value)?;
        same("host memory when the value is reached", 0, sink, &vec![7; LARGE])?;
    }
    Ok(())
}

/// Checks that a call after long-running work returns before the work is done.
pub(super) fn does_not_wait(
    device: &Device,
    what: &str,
    call: fn(&Stream<'_>, &Timeline<'_>) -> Verdict,
) -> Verdict {
    timer::does_not_wait(device, what, || Ok(device.create_timeline(0, 0)?), call)
}

/// The second signal follows nothing on its own stream, and takes effect after the first.
fn in_order(device: &Device) -> Verdict {
    let work = Work::new(device)?;
    let streams = streams(device, 0, 2)?;
    let mut sink = vec![0_u8; LARGE];
    let _synced = (Synced(&streams[1]), Synced(&streams[2]));
    let timeline = device.create_timeline(0, 0)?;
    work.queue(&streams[1], 16)?;
    // SAFETY: by D.6, both ends live until the stream is synchronised.
    unsafe { streams[1].copy(work.to.end(0), host_end(sink.as_mut_ptr(), 0), LARGE as u64) }?;
    streams[1].signal(&timeline, 1)?;
    streams[2].signal(&timeline, 2)?;
    reach(&timeline, 2)?;
    same("host memory that was written before the first signal", 0, &sink, &vec![7; LARGE])
}

fn rise(device: &Device) -> Verdict {
    let (timeline, stream) = (device.create_timeline(0, 10)?, device.default_stream(0));
    let wrong = &["ValueError"];
    for value in [0, 9, 10] {
        refused(&format!("signal of {value} after 10"), stream.signal(&timeline, value), wrong)?;
        refused(&format!("host_signal of {value} after 10"), timeline.host_signal(value), wrong)?;
    }
    stream.signal(&timeline, 20)?;
    refused("signal of 20, again", stream.signal(&timeline, 20), wrong)?;
    refused("host_signal of 15 after a signal of 20", timeline.host_signal(15), wrong)?;
    reach(&timeline, 20)?;
    equal("the value after signals that were refused", &timeline.query()?, &20)?;
    timeline.host_signal(21)?;
    stream.signal(&timeline, u64::MAX)?;
    reach(&timeline, u64::MAX)
}

fn never_falls(device: &Device) -> Verdict {
    let (work, stream) = (Work::new(device)?, device.default_stream(0));
    let _synced = Synced(&stream);
    let timeline = device.create_timeline(0, 0)?;
    for value in 1..=64 {
        work.queue(&stream, 1)?;
        stream.signal(&timeline, value)?;
    }
    let mut last = 0;
    let begin = Instant::now();
    while last < 64 {
        let found = timeline.query()?;
        ensure((last..=64).contains(&found), format!("a value from {last} to 64"), found)?;
        ensure(begin.elapsed() < Duration::from_nanos(LONG), "the value 64", found)?;
        last = found;
    }
    Ok(())
}

fn time_ends(device: &Device) -> Verdict {
    let timeline = device.create_timeline(0, 0)?;
    ensure(!timeline.host_wait(1, 0)?, "0 for a value that nobody signals", "1")?;
    let begin = Instant::now();
    ensure(!timeline.host_wait(1, 50_000_000)?, "0 for a value that nobody signals", "1")?;
    let waited = begin.elapsed();
    let is_right = (Duration::from_millis(45)..Duration::from_secs(2)).contains(&waited);
    ensure(is_right, "a wait of 50 ms", format!("{waited:?}"))?;
    timeline.host_signal(1)?;
    ensure(timeline.host_wait(1, 0)?, "1 for a value that is reached", "0")
}

fn waits_before(device: &Device) -> Verdict {
    let (timeline, stream) = (device.create_timeline(0, 0)?, device.default_stream(0));
    for by_host in [true, false] {
        let value = timeline.query()? + 1;
        let (begin, waited) = thread::scope(|scope| {
            let waiter = scope.spawn(|| timeline.host_wait(value, u64::MAX));
            thread::sleep(Duration::from_millis(30));
            let begin = Instant::now();
            let signalled =
                if by_host { timeline.host_signal(value) } else { stream.signal(&timeline, value) };
            if let Err(error) = signalled {
                return (begin, Err(error));
            }
            (begin, waiter.join().unwrap_or(Ok(false)))
        });
        ensure(waited?, "1 from a wait that began before the signal", "0")?;
        ensure(begin.elapsed() < Duration::from_secs(5), "an end soon after the signal", "more than 5 s")?;
    }
    Ok(())
}

fn host_signal(device: &Device) -> Verdict {
    let timeline = device.create_timeline(0, 0)?;
    for value in [1, 2, 1000] {
        timeline.host_signal(value)?;
        equal("the value that the host set", &timeline.query()?, &value)?;
    }
    Ok(())
}

fn host_signal_after(device: &Device) -> Verdict {
    let (work, stream) = (Work::new(device)?, device.default_stream(0));
    let mut sink = vec![0_u8; LARGE];
    let _synced = Synced(&stream);
    let timeline = device.create_timeline(0, 0)?;
    work.queue(&stream, 16)?;
    // SAFETY: by D.6, both ends live until the stream is synchronised.
    unsafe { stream.copy(work.to.end(0), host_end(sink.as_mut_ptr(), 0), LARGE as u64) }?;
    stream.signal(&timeline, 1)?;
    timeline.host_signal(2)?;
    reach(&timeline, 2)?;
    same("host memory that was written before the queued signal", 0, &sink, &vec![7; LARGE])
}

fn freed_before(device: &Device) -> Verdict {
    does_not_wait(device, "`free`", |stream, timeline| {
        let (device, device_id) = stream.device();
        let other = device.create_timeline(device_id, 0)?;
        stream.signal(&other, 1)?;
        device.default_stream(device_id).wait(&other, 1)?;
        other.free()?;
        Ok(stream.signal(timeline, 1)?)
    })?;
    // SAFETY: null is allowed.
    unsafe { device.free_timeline_raw(0, std::ptr::null_mut()) }?;
    Ok(device.default_stream(0).sync()?)
}

fn stream_freed_first(device: &Device) -> Verdict {
    let work = Work::new(device)?;
    let Some(stream) = streams(device, 0, 1)?.pop() else { return Err(Stop::suite("no stream")) };
    let timeline = device.create_timeline(0, 0)?;
    let queued = work.queue(&stream, 4).and_then(|()| Ok(stream.signal(&timeline, 1)?));
    stream.free()?;
    queued?;
    equal("the value that a stream signalled which was freed", &timeline.query()?, &1)?;
    device.default_stream(0).wait(&timeline, 1)?;
    Ok(device.default_stream(0).sync()?)
}

/// Signals one timeline often, and uses many timelines at once.
fn many(device: &Device) -> Verdict {
    let stream = device.default_stream(0);
    let timelines = (0..500).map(|_| device.create_timeline(0, 0)).collect::<Result<Vec<_>, _>>()?;
    for value in 1..=20 {
        for timeline in &timelines {
            stream.signal(timeline, value)?;
        }
    }
    for timeline in &timelines {
        reach(timeline, 20)?;
        equal("the value of one of 500 timelines", &timeline.query()?, &20)?;
    }
    Ok(())
}
