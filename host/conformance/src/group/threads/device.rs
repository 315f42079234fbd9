//! One device called by many threads.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError, mpsc};

use chipdock_plugin_api::{Any, attribute};
use chipdock_programs::Random;
use chipdock_raw_host::{Device, Space, Stream, host_end};

use super::together;
use crate::group::stream::play::{same, streams};
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut at_once =
        |name: &str, profile: Option<Profile>, counts: &[usize], body: fn(&Device, usize) -> Verdict| {
            for n_threads in counts {
                let n_threads = *n_threads;
                let name = format!("{name}/{n_threads}");
                let draft = cases.case(Group::Threads, name, "P10.1", Subject::DeviceApi);
                draft.profile(profile).deadline(15).run(move |c: &Context| body(&c.device()?, n_threads));
            }
        };
    let each: &[usize] = &[2, 8, 32];
    at_once("attributes", None, each, attributes);
    at_once("errors", None, each, errors);
    at_once("allocate-and-free", None, each, allocate_and_free);
    at_once("handles-are-distinct", None, each, handles_are_distinct);
    at_once("copies/own-spaces", None, each, own_spaces);
    at_once("copies/one-space", None, each, one_space);
    at_once("copies/default-stream", None, each, |device, n| {
        together(n, |thread| flow(device, &device.default_stream(0), thread))
    });
    at_once("sync-while-others-queue", None, &[8], sync_while_others_queue);
    at_once("handed-over", None, &[4], handed_over);
    at_once("devices-in-turn", None, &[8], devices_in_turn);
    let several = Some(Profile::SeveralStreams);
    at_once("streams/own", several, each, own_streams);
    at_once("streams/one-for-all", several, &[8], one_stream);
    at_once("streams/come-and-go", several, each, come_and_go);
    at_once("streams/handles-are-distinct", several, &[8], stream_handles);
    at_once("streams/waits", several, &[8], waits);
    at_once("everything", None, &[8], everything);
}

/// Returns the repetitions for each thread: its share of `total`, at least 4.
fn share(total: usize, n_threads: usize) -> usize {
    (total / n_threads).max(4)
}

fn attributes(device: &Device, n_threads: usize) -> Verdict {
    // The available memory may change; the other attributes must not (D.12).
    let keys = || attribute::ALL.iter().filter(|key| **key != attribute::AVAILABLE_GLOBAL_MEMORY_BYTES);
    let ask =
        || -> Verdict<Vec<String>> { keys().map(|key| Ok(shown(&device.attribute(0, key)?))).collect() };
    let expected = ask()?;
    together(n_threads, |_| {
        for _ in 0..share(200, n_threads) {
            let found = ask()?;
            if let Some(at) = found.iter().zip(&expected).position(|(found, expected)| found != expected) {
                let key = keys().nth(at).copied().unwrap_or_default();
                equal(key, &found[at], &expected[at])?;
            }
            equal("device_count", &device.count()?, &device.count()?)?;
        }
        Ok(())
    })
}

fn shown(value: &Any) -> String {
    match (value.to::<i64>(), value.to::<String>(), value.to::<chipdock_plugin_api::Shape>()) {
        (Ok(number), ..) => number.to_string(),
        (_, Ok(text), _) => text,
        (.., Ok(shape)) => format!("{shape:?}"),
        _ => format!("type {}", value.type_index()),
    }
}

/// Checks that each thread's error describes its own call.
fn errors(device: &Device, n_threads: usize) -> Verdict {
    together(n_threads, |thread| {
        let id = 100_000 + i32::try_from(thread).unwrap_or_default() * 1000;
        for call in 0..i32::try_from(share(60_000, n_threads)).unwrap_or_default() {
            let id = id + call % 1000;
            // The cheapest wrong call, so that two of them coincide as often as possible.
            let refused = device.sync(id, std::ptr::null_mut()).err();
            let message = refused.map(|error| error.message().into_owned());
            ensure(
                message.as_ref().is_some_and(|message| message.contains(&id.to_string())),
                format!("an error about device {id}"),
                format!("{message:?}"),
            )
            .map_err(|stop| stop.clause("P7.1"))?;
        }
        Ok(())
    })
}

fn pattern(thread: usize, round: usize) -> u8 {
    (thread * 37 + round * 11 + 1) as u8
}

fn holds(space: &Space<'_>, value: u8) -> Verdict {
    let mut found = vec![0; usize::try_from(space.size_bytes).unwrap_or_default()];
    space.read(0, &mut found)?;
    let expected = vec![value; found.len()];
    same("a data space of this thread's own", 0, &found, &expected)
}

/// Keeps several data spaces alive at a time, each with bytes of its own.
fn allocate_and_free(device: &Device, n_threads: usize) -> Verdict {
    together(n_threads, |thread| {
        let mut live = Vec::new();
        for round in 0..share(600, n_threads) {
            let space = device.allocate(64 + (round as u64 % 7) * 100)?;
            let value = pattern(thread, round);
            space.write(0, &vec![value; usize::try_from(space.size_bytes).unwrap_or_default()])?;
            live.push((space, value));
            if live.len() == 8 {
                let (space, value) = live.swap_remove(round % 8);
                holds(&space, value)?;
                space.free()?;
            }
        }
        for (space, value) in live {
            holds(&space, value)?;
            space.free()?;
        }
        Ok(())
    })
}

/// Checks that all live handles differ, across threads.
fn handles_are_distinct(device: &Device, n_threads: usize) -> Verdict {
    let n_each = share(4096, n_threads).min(1024);
    for round in 0..3 {
        let all = Mutex::new(Vec::new());
        together(n_threads, |_| {
            let mine = (0..n_each).map(|_| device.allocate(16)).collect::<Result<Vec<_>, _>>()?;
            all.lock().unwrap_or_else(PoisonError::into_inner).extend(mine);
            Ok(())
        })?;
        let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        let handles: HashSet<usize> = all.iter().map(|space| space.data().addr()).collect();
        let expected = n_each * n_threads;
        equal("data spaces that differ", &handles.len(), &expected)
            .map_err(|stop| stop.note(format!("round {round}, {n_each} from each of {n_threads} threads")))?;
        let freed = Mutex::new(all.into_iter().map(Some).collect::<Vec<_>>());
        together(n_threads, |_| {
            loop {
                let next = freed.lock().unwrap_or_else(PoisonError::into_inner).pop().flatten();
                let Some(space) = next else { return Ok(()) };
                space.free()?;
            }
        })?;
    }
    Ok(())
}

fn own_spaces(device: &Device, n_threads: usize) -> Verdict {
    together(n_threads, |thread| {
        let (a, b) = (device.allocate(512)?, device.allocate(512)?);
        for round in 0..share(400, n_threads) {
            let value = pattern(thread, round);
            a.write(0, &[value; 512])?;
            b.write(0, &[!value; 512])?;
            holds(&a, value)?;
            holds(&b, !value)?;
        }
        Ok(())
    })
}

/// Gives each thread an adjacent range of one data space: the writes of one must not affect
/// another's range.
fn one_space(device: &Device, n_threads: usize) -> Verdict {
    const RANGE: usize = 99;
    let space = device.allocate((RANGE * n_threads) as u64)?;
    together(n_threads, |thread| {
        let at = (RANGE * thread) as u64;
        for round in 0..share(600, n_threads) {
            let value = pattern(thread, round);
            space.write(at, &[value; RANGE])?;
            let mut found = [0; RANGE];
            space.read(at, &mut found)?;
            same("this thread's range of a data space", thread, &found, &[value; RANGE])?;
        }
        Ok(())
    })
}

/// Runs chains of copies on a stream, with one sync for each chain.
fn flow(device: &Device, stream: &Stream<'_>, thread: usize) -> Verdict {
    const SIZE: usize = 2048;
    let spaces = (0..3).map(|_| device.allocate(SIZE as u64)).collect::<Result<Vec<_>, _>>()?;
    let mut random = Random::new(thread as u64);
    for _ in 0..8 {
        let mut source = random.bytes(SIZE);
        let mut sink = vec![0; SIZE];
        let size = SIZE as u64;
        // SAFETY: by D.6, all ends live until the sync below, which comes before any return.
        let queued = unsafe {
            stream
                .copy(host_end(source.as_mut_ptr(), 0), spaces[0].end(0), size)
                .and_then(|()| stream.copy(spaces[0].end(0), spaces[1].end(0), size))
                .and_then(|()| stream.copy(spaces[1].end(0), spaces[2].end(0), size))
                .and_then(|()| stream.copy(spaces[2].end(0), host_end(sink.as_mut_ptr(), 0), size))
        };
        let synced = stream.sync();
        queued?;
        synced?;
        same("what came back to thread", thread, &sink, &source)?;
    }
    Ok(())
}

fn sync_while_others_queue(device: &Device, n_threads: usize) -> Verdict {
    together(n_threads, |thread| {
        if thread % 2 == 0 {
            return (0..4).try_for_each(|_| flow(device, &device.default_stream(0), thread));
        }
        (0..200).try_for_each(|_| Ok(device.default_stream(0).sync()?))
    })
}

/// Allocates on one thread, writes on the next, reads on the third, frees on the fourth.
fn handed_over(device: &Device, _: usize) -> Verdict {
    let (to_writer, at_writer) = mpsc::channel::<Space<'_>>();
    let (to_reader, at_reader) = mpsc::channel::<(Space<'_>, u8)>();
    let (to_freer, at_freer) = mpsc::channel::<Space<'_>>();
    let joined = |thread: std::thread::ScopedJoinHandle<'_, Verdict>| {
        thread.join().unwrap_or_else(|_| Err(Stop::suite("a thread of the case panicked")))
    };
    // A receiver that is gone has failed and reports that itself.
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || -> Verdict {
            for (round, space) in at_writer.iter().enumerate() {
                let value = pattern(1, round);
                space.write(0, &[value; 256])?;
                let _ = to_reader.send((space, value));
            }
            Ok(())
        });
        let reader = scope.spawn(move || -> Verdict {
            for (space, value) in at_reader.iter() {
                holds(&space, value)?;
                let _ = to_freer.send(space);
            }
            Ok(())
        });
        let freer =
            scope.spawn(move || -> Verdict { at_freer.iter().try_for_each(|space| Ok(space.free()?)) });
        let allocated = (0..200).try_for_each(|_| -> Verdict {
            let _ = to_writer.send(device.allocate(256)?);
            Ok(())
        });
        drop(to_writer);
        let ended = [joined(writer), joined(reader), joined(freer)];
        allocated.and(ended.into_iter().collect())
    })
}

/// Checks that the device named by one thread's call does not affect the calls of another.
fn devices_in_turn(device: &Device, n_threads: usize) -> Verdict {
    let count = device.count()?;
    together(n_threads, |thread| {
        for round in 0..30 {
            let id = (i32::try_from(thread).unwrap_or_default() + round) % count;
            let space = device.allocate_kind(id, 128, 64, 0, "")?;
            space.write(0, &[thread as u8; 128])?;
            holds(&space, thread as u8)?;
        }
        Ok(())
    })
}

fn own_streams(device: &Device, n_threads: usize) -> Verdict {
    let streams = streams(device, 0, n_threads)?;
    together(n_threads, |thread| {
        (0..share(24, n_threads)).try_for_each(|_| flow(device, &streams[thread + 1], thread))
    })
}

fn one_stream(device: &Device, n_threads: usize) -> Verdict {
    let streams = streams(device, 0, 1)?;
    together(n_threads, |thread| flow(device, &streams[1], thread))
}

fn come_and_go(device: &Device, n_threads: usize) -> Verdict {
    together(n_threads, |thread| {
        for _ in 0..share(96, n_threads) {
            let Some(stream) = streams(device, 0, 1)?.pop() else { return Ok(()) };
            flow(device, &stream, thread)?;
            stream.free()?;
        }
        Ok(())
    })
}

fn stream_handles(device: &Device, n_threads: usize) -> Verdict {
    let all = Mutex::new(Vec::new());
    together(n_threads, |_| {
        let mine = streams(device, 0, 100)?;
        all.lock().unwrap_or_else(PoisonError::into_inner).extend(mine);
        Ok(())
    })?;
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    let handles: HashSet<usize> = all.iter().map(|stream| stream.raw().addr()).collect();
    // The default stream counts as one of them.
    equal("streams that differ", &handles.len(), &(100 * n_threads + 1))
}

/// Makes each stream wait for its neighbour's repeatedly, while work continues.
fn waits(device: &Device, n_threads: usize) -> Verdict {
    let streams = streams(device, 0, n_threads)?;
    together(n_threads, |thread| {
        let (mine, neighbour) = (&streams[thread + 1], &streams[(thread + 1) % n_threads + 1]);
        for _ in 0..8 {
            for _ in 0..10 {
                mine.wait_for(neighbour)?;
            }
            flow(device, mine, thread)?;
        }
        Ok(())
    })
}

/// Makes calls of every kind, valid and invalid, in random order.
fn everything(device: &Device, n_threads: usize) -> Verdict {
    together(n_threads, |thread| {
        let mut random = Random::new(1 + thread as u64);
        let mut live: Vec<(Space<'_>, u8)> = Vec::new();
        for round in 0..300 {
            match random.index(8) {
                0 | 1 if live.len() < 16 => {
                    let space = device.allocate(1 + random.index(3000) as u64)?;
                    let value = pattern(thread, round);
                    space.write(0, &vec![value; usize::try_from(space.size_bytes).unwrap_or_default()])?;
                    live.push((space, value));
                }
                2 if !live.is_empty() => live.swap_remove(random.index(live.len())).0.free()?,
                3 if !live.is_empty() => {
                    let (space, value) = &live[random.index(live.len())];
                    holds(space, *value)?;
                }
                4 => drop(device.attribute(0, attribute::ALL[random.index(attribute::ALL.len())])?),
                5 => {
                    let id = 200_000 + i32::try_from(thread).unwrap_or_default();
                    let message =
                        device.sync(id, std::ptr::null_mut()).err().map(|error| error.message().into_owned());
                    let tells = message.as_ref().is_some_and(|message| message.contains(&id.to_string()));
                    ensure(tells, format!("an error about device {id}"), format!("{message:?}"))?;
                }
                6 => device.default_stream(0).sync()?,
                _ => drop(device.create_stream(0)?),
            }
        }
        live.iter().try_for_each(|(space, value)| holds(space, *value))
    })
}
