//! Waits of streams for timelines, and copies that wait and signal.

use std::ptr;

use chipdock_programs::Random;
use chipdock_raw_host::{Device, OrderChain, SIGNAL, Space, Stream, Timeline, WAIT, host_end};

use super::super::play::{same, streams};
use super::super::timer::{LARGE, Synced, Work};
use super::Body;
use super::values::{does_not_wait, reach};
use crate::stop::{equal, refused};
use crate::{Profile, Stop, Verdict};

pub(super) fn add(timeline: &mut impl FnMut(&str, &'static str, &'static [Profile], Body)) {
    let several = &[Profile::SeveralStreams];
    timeline("wait-orders/created-to-created", "N.21", several, |device| wait_orders(device, 1, 2));
    timeline("wait-orders/default-to-created", "N.21", several, |device| wait_orders(device, 0, 1));
    timeline("wait-orders/created-to-default", "N.21", several, |device| wait_orders(device, 1, 0));
    timeline("wait-does-not-wait", "N.21", several, |device| {
        does_not_wait(device, "`wait`", |stream, timeline| {
            let (device, device_id) = stream.device();
            stream.signal(timeline, 1)?;
            Ok(device.default_stream(device_id).wait(timeline, 1)?)
        })
    });
    timeline("wait-without-a-signal", "N.22", &[], wait_without);
    timeline("wait-for-what-is-reached", "N.22", &[], wait_reached);
    timeline("random/seed-1", "N.21", several, |device| random(device, 1));
    timeline("random/seed-2", "N.21", several, |device| random(device, 2));
    timeline("copies-in-order", "N.28", several, copies_in_order);
    timeline("several-in-a-chain", "N.28", several, several_in_a_chain);
    timeline("copy-of-size-0", "N.28", &[], copy_of_nothing);
    timeline("copy-that-is-refused", "N.29", &[], copy_refused);
}

/// A large copy on one stream; the other reads the end of it, and the next round overwrites that.
fn wait_orders(device: &Device, from: usize, to: usize) -> Verdict {
    let streams = streams(device, 0, from.max(to))?;
    let (from, to) = (&streams[from], &streams[to]);
    let sources: Vec<Vec<u8>> = (1..=6).map(|round| vec![round; LARGE]).collect();
    let large = device.allocate(LARGE as u64)?;
    let mut sinks = vec![[0_u8; 96]; sources.len()];
    let timeline = device.create_timeline(0, 0)?;
    let _synced = (Synced(from), Synced(to));
    let mut value = 0;
    for (source, sink) in sources.iter().zip(&mut sinks) {
        // SAFETY: by D.6, all ends live until the streams are synchronised.
        unsafe {
            from.copy(host_end(source.as_ptr().cast_mut(), 0), large.end(0), LARGE as u64)?;
            from.signal(&timeline, value + 1)?;
            to.wait(&timeline, value + 1)?;
            to.copy(large.end(LARGE as u64 - 96), host_end(sink.as_mut_ptr(), 0), 96)?;
            to.signal(&timeline, value + 2)?;
            from.wait(&timeline, value + 2)?;
        }
        value += 2;
    }
    from.sync()?;
    to.sync()?;
    for (round, sink) in sinks.iter().enumerate() {
        same("what the stream that waited read in round", round, sink, &[round as u8 + 1; 96])?;
    }
    equal("the value at the end", &timeline.query()?, &value)
}

fn wait_without(device: &Device) -> Verdict {
    let (timeline, stream) = (device.create_timeline(0, 5)?, device.default_stream(0));
    refused("wait for 6, which nobody signals", stream.wait(&timeline, 6), &["WrongState"])?;
    stream.signal(&timeline, 8)?;
    refused("wait for 9 after a signal of 8", stream.wait(&timeline, 9), &["WrongState"])?;
    stream.wait(&timeline, 7)?;
    Ok(stream.sync()?)
}

fn wait_reached(device: &Device) -> Verdict {
    let (timeline, stream) = (device.create_timeline(0, 5)?, device.default_stream(0));
    for value in [0, 4, 5] {
        stream.wait(&timeline, value)?;
    }
    timeline.host_signal(100)?;
    for value in [6, 100] {
        stream.wait(&timeline, value)?;
    }
    Ok(stream.sync()?)
}

/// Copies between data spaces on several streams, in an order that leaves one result; a model makes
/// the same copies one after the other.
fn random(device: &Device, seed: u64) -> Verdict {
    const SIZE: usize = 64 << 10;
    let mut random = Random::new(seed);
    let streams = streams(device, 0, 3)?;
    let mut model: Vec<Vec<u8>> = (0..4).map(|_| random.bytes(SIZE)).collect();
    let spaces = model.iter().map(|bytes| Space::with(device, 0, bytes)).collect::<Result<Vec<_>, _>>()?;
    // One timeline for each data space: its value counts the copies that use the space.
    let timelines = (0..4).map(|_| device.create_timeline(0, 0)).collect::<Result<Vec<_>, _>>()?;
    let mut values = [0_u64; 4];
    let synced: Vec<Synced<'_, '_>> = streams.iter().map(Synced).collect();
    for _ in 0..200 {
        let on = &streams[random.below(4) as usize];
        let from = random.below(4) as usize;
        let to = (from + 1 + random.below(3) as usize) % 4;
        let size = 1 + random.below(SIZE as u64 / 2) as usize;
        let (start, end) =
            (random.below((SIZE - size) as u64) as usize, random.below((SIZE - size) as u64) as usize);
        let ends = (spaces[from].end(start as u64), spaces[to].end(end as u64));
        let in_chain = random.below(2) == 0;
        let mut chain = Vec::new();
        for space in [from, to] {
            let raw = timelines[space].raw();
            chain.push((WAIT, raw, values[space]));
            values[space] += 1;
            chain.push((SIGNAL, raw, values[space]));
        }
        // SAFETY: by D.6, the data spaces live until the streams are synchronised.
        unsafe {
            if in_chain {
                on.copy_ordered(ends.0, ends.1, size as u64, &OrderChain::new(&chain))?;
            } else {
                call_in_order(on, &chain, || Ok(on.copy(ends.0, ends.1, size as u64)?))?;
            }
        }
        let bytes = model[from][start..start + size].to_vec();
        model[to][end..end + size].copy_from_slice(&bytes);
    }
    for (timeline, value) in timelines.iter().zip(values) {
        reach(timeline, value)?;
    }
    drop(synced);
    for (index, (space, expected)) in spaces.iter().zip(&model).enumerate() {
        same("data space", index, &space.contents()?, expected)?;
    }
    Ok(())
}

/// Calls `wait` and `signal` as a chain would.
fn call_in_order(
    on: &Stream<'_>,
    chain: &[(&'static str, *mut std::ffi::c_void, u64)],
    queue: impl FnOnce() -> Verdict,
) -> Verdict {
    let (device, device_id) = on.device();
    for (_, timeline, value) in chain.iter().filter(|entry| entry.0 == WAIT) {
        device.wait_raw(device_id, on.raw(), *timeline, *value)?;
    }
    queue()?;
    for (_, timeline, value) in chain.iter().filter(|entry| entry.0 == SIGNAL) {
        device.signal_raw(device_id, on.raw(), *timeline, *value)?;
    }
    Ok(())
}

/// Moves a block back and forth on two streams, by copies alone.
fn copies_in_order(device: &Device) -> Verdict {
    let streams = streams(device, 0, 2)?;
    let work = Work::new(device)?;
    let timeline = device.create_timeline(0, 0)?;
    let mut sink = vec![0_u8; LARGE];
    let _synced = (Synced(&streams[1]), Synced(&streams[2]));
    let chain =
        |value: u64| OrderChain::new(&[(WAIT, timeline.raw(), value), (SIGNAL, timeline.raw(), value + 1)]);
    // SAFETY: by D.6, all ends live until the streams are synchronised.
    unsafe {
        let size = LARGE as u64;
        for value in 0..6 {
            let (from, to) = if value % 2 == 0 { (&work.from, &work.to) } else { (&work.to, &work.from) };
            streams[1 + value as usize % 2].copy_ordered(from.end(0), to.end(0), size, &chain(value))?;
        }
        streams[1].copy_ordered(work.to.end(0), host_end(sink.as_mut_ptr(), 0), size, &chain(6))?;
    }
    reach(&timeline, 7)?;
    same("host memory after the last copy", 0, &sink, &vec![7; LARGE])
}

/// One copy waits for two streams, and signals two timelines.
fn several_in_a_chain(device: &Device) -> Verdict {
    let streams = streams(device, 0, 3)?;
    let sources = [vec![3_u8; LARGE], vec![4_u8; LARGE]];
    let halves = device.allocate(2 * LARGE as u64)?;
    let timelines = (0..4).map(|_| device.create_timeline(0, 0)).collect::<Result<Vec<_>, _>>()?;
    let mut sink = vec![0_u8; 2 * LARGE];
    let _synced = (Synced(&streams[1]), Synced(&streams[2]), Synced(&streams[3]));
    let raw = |index: usize| Timeline::raw(&timelines[index]);
    // SAFETY: by D.6, all ends live until the streams are synchronised.
    unsafe {
        for (index, source) in sources.iter().enumerate() {
            let to = halves.end((index * LARGE) as u64);
            let chain = OrderChain::new(&[(SIGNAL, raw(index), 1)]);
            let from = host_end(source.as_ptr().cast_mut(), 0);
            streams[1 + index].copy_ordered(from, to, LARGE as u64, &chain)?;
        }
        let chain = OrderChain::new(&[
            (SIGNAL, raw(2), 5),
            (WAIT, raw(0), 1),
            (SIGNAL, raw(3), 6),
            (WAIT, raw(1), 1),
            (SIGNAL, raw(3), 7),
        ]);
        let to = host_end(sink.as_mut_ptr(), 0);
        streams[3].copy_ordered(halves.end(0), to, 2 * LARGE as u64, &chain)?;
    }
    reach(&timelines[2], 5)?;
    reach(&timelines[3], 7)?;
    same("host memory", 0, &sink, &sources.concat())
}

fn copy_of_nothing(device: &Device) -> Verdict {
    let (timeline, stream) = (device.create_timeline(0, 0)?, device.default_stream(0));
    let chain = OrderChain::new(&[(WAIT, timeline.raw(), 0), (SIGNAL, timeline.raw(), 1)]);
    let space = device.allocate(64)?;
    // SAFETY: no bytes are copied.
    unsafe { stream.copy_ordered(host_end(ptr::null_mut(), 0), space.end(0), 0, &chain) }?;
    reach(&timeline, 1)
}

fn copy_refused(device: &Device) -> Verdict {
    let (timeline, stream) = (device.create_timeline(0, 5)?, device.default_stream(0));
    let space = Space::with(device, 0, &[1; 64])?;
    let bytes = [9_u8; 64];
    let raw = timeline.raw();
    let mut short = OrderChain::new(&[(SIGNAL, raw, 6)]);
    short.set_size(40);
    let all = [
        ("a signal of 5 after 5", OrderChain::new(&[(SIGNAL, raw, 5)]), "ValueError"),
        ("signals of 7 and 6", OrderChain::new(&[(SIGNAL, raw, 7), (SIGNAL, raw, 6)]), "ValueError"),
        ("a wait for 6 without a signal", OrderChain::new(&[(WAIT, raw, 6)]), "WrongState"),
        ("a wait for its own signal", OrderChain::new(&[(SIGNAL, raw, 6), (WAIT, raw, 6)]), "WrongState"),
        ("a null timeline", OrderChain::new(&[(SIGNAL, ptr::null_mut(), 6)]), "ValueError"),
        ("an entry that is too short", short, "ValueError"),
    ];
    let copy = |chain: &OrderChain| {
        let from = host_end(bytes.as_ptr().cast_mut(), 0);
        // SAFETY: by D.6, both ends live until the stream is synchronised below.
        let copied = unsafe { stream.copy_ordered(from, space.end(0), 64, chain) };
        stream.sync().and(copied)
    };
    for (what, chain, kind) in &all {
        refused(&format!("a copy with {what}"), copy(chain), &[*kind])?;
        same("data space after a copy that was refused", 0, &space.contents()?, &[1; 64])?;
        equal("the value after a copy that was refused", &timeline.query()?, &5)?;
    }
    copy(&OrderChain::new(&[(WAIT, raw, 5), (SIGNAL, raw, 6)]))
        .map_err(|error| Stop::failed("a copy that is right", error.message()))?;
    equal("the value after a copy that is right", &timeline.query()?, &6)
}
