//! Replays: their order, their arguments, several at once, and graphs that are freed before them.

use std::cell::RefCell;
use std::ptr;

use chipdock_programs::Random;
use chipdock_raw_host::{Device, Space, host_end};

use super::super::play::{same, streams};
use super::super::timer::{Synced, Work, does_not_wait};
use super::{Body, SIZE, filled, handles, holds, record};
use crate::stop::refused;
use crate::{Profile, Stop, Verdict};

pub(super) fn add(graph: &mut impl FnMut(&str, &'static str, &'static [Profile], Body)) {
    let several = &[Profile::SeveralStreams];
    let checked = &[Profile::CheckedHandles];
    graph("in-order", "N.45", &[], in_order);
    graph("between-other-work/default", "N.45", &[], |device| between(device, 0));
    graph("between-other-work/created", "N.45", several, |device| between(device, 1));
    graph("arguments/at-both-ends", "N.45", &[], both_ends);
    graph("arguments/others-stay", "N.45", &[], others_stay);
    graph("arguments/one-several-times", "N.46", &[], one_several_times);
    graph("arguments/another-number", "N.46", &[], another_number);
    graph("arguments/null", "N.46", &[], null_argument);
    graph("arguments/freed", "N.46", checked, freed_argument);
    graph("random/seed-1", "N.45", &[], |device| random(device, 1));
    graph("random/seed-2", "N.45", &[], |device| random(device, 2));
    graph("replay-does-not-wait", "N.45", several, |device| replays_do_not_wait(device, false));
    graph("several-queued", "N.47", several, several_queued);
    graph("on-two-streams", "N.47", several, two_streams);
    graph("of-several-threads", "N.47", several, several_threads);
    graph("freed-with-replays", "N.48", several, freed_with_replays);
    graph("free-does-not-wait", "N.48", several, |device| replays_do_not_wait(device, true));
}

/// Each copy reads what the one before wrote; then the source is overwritten.
fn in_order(device: &Device) -> Verdict {
    let spaces = (1..=4).map(|byte| filled(device, byte)).collect::<Verdict<Vec<_>>>()?;
    let graph = device.create_graph(0, &[])?;
    for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 1), (2, 0)] {
        record(&graph, &spaces[from], &spaces[to])?;
    }
    // Parts of two data spaces, one after the other.
    // SAFETY: by D.6 and N.48, the data spaces live until the sync.
    unsafe {
        graph.copy(spaces[0].end(0), spaces[1].end(500), 100)?;
        graph.copy(spaces[1].end(500), spaces[2].end(7), 100)?;
    }
    graph.finish()?;
    let stream = device.default_stream(0);
    for round in 0..3 {
        spaces[0].write(0, &[10 + round; SIZE as usize])?;
        stream.replay(&graph, &[])?;
        stream.sync()?;
        for (index, space) in spaces.iter().enumerate() {
            holds(&format!("data space {index} after round {round}"), space, 10 + round)?;
        }
    }
    Ok(())
}

/// Work that was queued before is seen, and work that is queued later sees the replay.
fn between(device: &Device, n_created: usize) -> Verdict {
    let streams = streams(device, 0, n_created)?;
    let stream = &streams[n_created];
    let (from, to) = (filled(device, 1)?, filled(device, 2)?);
    let sources: Vec<Vec<u8>> = (0..20).map(|round| vec![100 + round; SIZE as usize]).collect();
    let mut sinks = vec![vec![0_u8; SIZE as usize]; sources.len()];
    let graph = device.create_graph(0, &handles(&[&to]))?;
    record(&graph, &from, &to)?;
    graph.finish()?;
    let _synced = Synced(stream);
    for (source, sink) in sources.iter().zip(&mut sinks) {
        // SAFETY: by D.6, all ends live until the stream is synchronised.
        unsafe {
            stream.copy(host_end(source.as_ptr().cast_mut(), 0), from.end(0), SIZE)?;
            stream.replay(&graph, &handles(&[&to]))?;
            stream.copy(to.end(0), host_end(sink.as_mut_ptr(), 0), SIZE)?;
        }
    }
    stream.sync()?;
    for (round, sink) in sinks.iter().enumerate() {
        same("what was read after replay", round, sink, &sources[round])?;
    }
    Ok(())
}

/// Both ends of a copy are parameters, at offsets; one of them is source and destination.
fn both_ends(device: &Device) -> Verdict {
    let spaces = (0..6).map(|byte| filled(device, byte)).collect::<Verdict<Vec<_>>>()?;
    let graph = device.create_graph(0, &handles(&[&spaces[0], &spaces[1], &spaces[2]]))?;
    // SAFETY: by D.6 and N.48, the data spaces live until the sync.
    unsafe {
        graph.copy(spaces[0].end(3), spaces[1].end(11), 40)?;
        graph.copy(spaces[1].end(11), spaces[2].end(100), 20)?;
    }
    graph.finish()?;
    let stream = device.default_stream(0);
    stream.replay(&graph, &handles(&[&spaces[3], &spaces[4], &spaces[5]]))?;
    stream.sync()?;
    for (index, space) in spaces.iter().enumerate() {
        let mut expected = vec![index as u8; SIZE as usize];
        match index {
            4 => expected[11..51].fill(3),
            5 => expected[100..120].fill(3),
            _ => {}
        }
        same("data space", index, &space.contents()?, &expected)?;
    }
    Ok(())
}

/// What is no parameter stays as it was recorded, whatever the arguments are.
fn others_stay(device: &Device) -> Verdict {
    let (from, fixed, parameter) = (filled(device, 1)?, filled(device, 2)?, filled(device, 3)?);
    let argument = filled(device, 4)?;
    let graph = device.create_graph(0, &handles(&[&parameter]))?;
    record(&graph, &from, &fixed)?;
    record(&graph, &parameter, &from)?;
    graph.finish()?;
    let stream = device.default_stream(0);
    // The argument is the destination of the first copy, which is no parameter.
    stream.replay(&graph, &handles(&[&argument]))?;
    stream.sync()?;
    holds("the destination that is no parameter", &fixed, 1)?;
    holds("the source that is no parameter", &from, 4)?;
    holds("the parameter", &parameter, 3)?;
    stream.replay(&graph, &handles(&[&fixed]))?;
    stream.sync()?;
    holds("the destination that is no parameter, and an argument", &fixed, 4)?;
    holds("the source after the second replay", &from, 4)
}

fn one_several_times(device: &Device) -> Verdict {
    let spaces = (0..5).map(|byte| filled(device, byte)).collect::<Verdict<Vec<_>>>()?;
    let graph = device.create_graph(0, &handles(&[&spaces[0], &spaces[1]]))?;
    record(&graph, &spaces[0], &spaces[2])?;
    record(&graph, &spaces[1], &spaces[3])?;
    graph.finish()?;
    let stream = device.default_stream(0);
    stream.replay(&graph, &handles(&[&spaces[4], &spaces[4]]))?;
    stream.sync()?;
    holds("the first destination", &spaces[2], 4)?;
    holds("the second destination", &spaces[3], 4)
}

/// Replays with wrong arguments are refused, and nothing is queued.
fn wrong_arguments(
    device: &Device,
    what: &str,
    kinds: &[&str],
    wrong: impl FnOnce(&Space<'_>) -> Vec<*mut std::ffi::c_void>,
) -> Verdict {
    let (from, parameter, to) = (filled(device, 1)?, filled(device, 2)?, filled(device, 3)?);
    let graph = device.create_graph(0, &handles(&[&from, &parameter]))?;
    record(&graph, &from, &to)?;
    graph.finish()?;
    let stream = device.default_stream(0);
    refused(&format!("a replay with {what}"), stream.replay(&graph, &wrong(&from)), kinds)?;
    stream.sync()?;
    holds("the destination after a replay that was refused", &to, 3)?;
    stream.replay(&graph, &handles(&[&parameter, &from]))?;
    stream.sync()?;
    holds("the destination after a replay that is right", &to, 2)
}

fn another_number(device: &Device) -> Verdict {
    for count in [0, 1, 3] {
        let what = format!("{count} arguments for 2 parameters");
        wrong_arguments(device, &what, &["ValueError"], |from| vec![from.data(); count])?;
    }
    Ok(())
}

fn null_argument(device: &Device) -> Verdict {
    wrong_arguments(device, "null for an argument", &["ValueError"], |from| {
        vec![from.data(), ptr::null_mut()]
    })
}

fn freed_argument(device: &Device) -> Verdict {
    let space = filled(device, 9)?;
    wrong_arguments(device, "an argument that was freed", &["WrongState", "ValueError"], |from| {
        // Freed when nothing is allocated any more, whose address could be the same.
        let raw = space.data();
        drop(space);
        vec![from.data(), raw]
    })
}

/// Random copies between parameters and other data spaces, replayed with random arguments; a model
/// makes the same copies.
fn random(device: &Device, seed: u64) -> Verdict {
    const LEN: usize = 8 << 10;
    /// Parameters, and all data spaces.
    const COUNTS: (usize, usize) = (4, 9);
    let mut random = Random::new(seed);
    let mut model: Vec<Vec<u8>> = (0..COUNTS.1).map(|_| random.bytes(LEN)).collect();
    let spaces = model.iter().map(|bytes| Space::with(device, 0, bytes)).collect::<Result<Vec<_>, _>>()?;
    let raw: Vec<_> = spaces.iter().map(|space| space.data()).collect();
    let graph = device.create_graph(0, &raw[..COUNTS.0])?;
    // The last two data spaces are no parameters and no arguments.
    let uses = [0, 1, 2, 3, 7, 8];
    let mut copies = Vec::new();
    for _ in 0..60 {
        let from = random.below(6) as usize;
        let to = (from + 1 + random.below(5) as usize) % 6;
        let size = 1 + random.below(LEN as u64 / 2) as usize;
        let start = random.below((LEN - size) as u64) as usize;
        let end = random.below((LEN - size) as u64) as usize;
        let ends = (spaces[uses[from]].end(start as u64), spaces[uses[to]].end(end as u64));
        // SAFETY: by D.6 and N.48, the data spaces live until the sync.
        unsafe { graph.copy(ends.0, ends.1, size as u64) }?;
        copies.push((uses[from], start, uses[to], end, size));
    }
    graph.finish()?;
    let stream = device.default_stream(0);
    for _ in 0..12 {
        // Different data spaces, so that no copy is from a range to itself (D.6).
        let mut order: Vec<usize> = (0..7).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last as u64 + 1) as usize);
        }
        let arguments = &order[..COUNTS.0];
        let handles: Vec<_> = arguments.iter().map(|index| raw[*index]).collect();
        stream.replay(&graph, &handles)?;
        for (from, start, to, end, size) in &copies {
            let place = |index: usize| arguments.get(index).copied().unwrap_or(index);
            let bytes = model[place(*from)][*start..start + size].to_vec();
            model[place(*to)][*end..end + size].copy_from_slice(&bytes);
        }
    }
    stream.sync()?;
    for (index, (space, expected)) in spaces.iter().zip(&model).enumerate() {
        same("data space", index, &space.contents()?, expected)?;
    }
    Ok(())
}

/// Neither a replay nor `free` with a replay queued waits for the work of the stream.
fn replays_do_not_wait(device: &Device, frees: bool) -> Verdict {
    let (from, to) = (filled(device, 1)?, filled(device, 2)?);
    let what = if frees { "`free`" } else { "`replay`" };
    let kept = RefCell::new(Vec::new());
    does_not_wait(
        device,
        what,
        || Ok(()),
        |stream, ()| {
            let graph = device.create_graph(0, &handles(&[&from]))?;
            record(&graph, &from, &to)?;
            graph.finish()?;
            stream.replay(&graph, &handles(&[&from]))?;
            if frees {
                return Ok(graph.free()?);
            }
            // Freed at the end of the case, which is about the replay alone.
            kept.borrow_mut().push(graph);
            Ok(())
        },
    )
}

/// Queues replays with arguments of their own behind work, so that all of them are queued at once.
fn several_queued(device: &Device) -> Verdict {
    let work = Work::new(device)?;
    let streams = streams(device, 0, 1)?;
    let stream = &streams[1];
    let sources = (0..20).map(|byte| filled(device, 50 + byte)).collect::<Verdict<Vec<_>>>()?;
    let sinks = (0..20).map(|_| filled(device, 0)).collect::<Verdict<Vec<_>>>()?;
    let middle = filled(device, 0)?;
    let graph = device.create_graph(0, &handles(&[&sources[0], &sinks[0]]))?;
    record(&graph, &sources[0], &middle)?;
    record(&graph, &middle, &sinks[0])?;
    graph.finish()?;
    let _synced = Synced(stream);
    work.queue(stream, 16)?;
    for (source, sink) in sources.iter().zip(&sinks) {
        stream.replay(&graph, &handles(&[source, sink]))?;
    }
    stream.sync()?;
    for (index, sink) in sinks.iter().enumerate() {
        holds(&format!("the destination of replay {index}"), sink, 50 + index as u8)?;
    }
    Ok(())
}

/// Replays of one graph on two streams, which share no data space.
fn two_streams(device: &Device) -> Verdict {
    let streams = streams(device, 0, 2)?;
    let sources = (0..40).map(|byte| filled(device, 50 + byte)).collect::<Verdict<Vec<_>>>()?;
    let sinks = (0..40).map(|_| filled(device, 0)).collect::<Verdict<Vec<_>>>()?;
    let graph = device.create_graph(0, &handles(&[&sources[0], &sinks[0]]))?;
    record(&graph, &sources[0], &sinks[0])?;
    graph.finish()?;
    let _synced = (Synced(&streams[1]), Synced(&streams[2]));
    for (index, (source, sink)) in sources.iter().zip(&sinks).enumerate() {
        streams[1 + index % 2].replay(&graph, &handles(&[source, sink]))?;
    }
    streams[1].sync()?;
    streams[2].sync()?;
    for (index, sink) in sinks.iter().enumerate() {
        holds(&format!("the destination of replay {index}"), sink, 50 + index as u8)?;
    }
    Ok(())
}

/// Replays one graph on several threads, each with a stream and data spaces of its own.
fn several_threads(device: &Device) -> Verdict {
    let streams = streams(device, 0, 4)?;
    let (first, other) = (filled(device, 0)?, filled(device, 0)?);
    let graph = device.create_graph(0, &handles(&[&first, &other]))?;
    record(&graph, &first, &other)?;
    graph.finish()?;
    let graph = &graph;
    let threads = std::thread::scope(|scope| {
        let run = |index: usize| {
            let stream = &streams[1 + index];
            move || -> Verdict {
                for round in 0..50_u8 {
                    let byte = index as u8 * 50 + round;
                    let (source, sink) = (filled(device, byte)?, filled(device, 255)?);
                    stream.replay(graph, &handles(&[&source, &sink]))?;
                    stream.sync()?;
                    holds(&format!("the destination of thread {index}"), &sink, byte)?;
                }
                Ok(())
            }
        };
        let threads: Vec<_> = (0..4).map(|index| scope.spawn(run(index))).collect();
        threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    for thread in threads {
        thread.unwrap_or_else(|_| Err(Stop::suite("a thread of the case panicked")))?;
    }
    Ok(())
}

/// Frees a graph while replays of it are queued behind work.
fn freed_with_replays(device: &Device) -> Verdict {
    let work = Work::new(device)?;
    let streams = streams(device, 0, 1)?;
    let stream = &streams[1];
    let (from, to, other) = (filled(device, 1)?, filled(device, 2)?, filled(device, 3)?);
    let _synced = Synced(stream);
    let graph = device.create_graph(0, &handles(&[&to]))?;
    record(&graph, &from, &to)?;
    graph.finish()?;
    work.queue(stream, 16)?;
    stream.replay(&graph, &handles(&[&to]))?;
    stream.replay(&graph, &handles(&[&other]))?;
    graph.free()?;
    stream.sync()?;
    holds("the destination of the first replay", &to, 1)?;
    holds("the destination of the second replay", &other, 1)
}
