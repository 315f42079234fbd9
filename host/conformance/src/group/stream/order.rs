//! One stream: its work is executed in order (D.7), and its sync returns when the work is done
//! (D.8).

use chipdock_programs::Random;

use super::play::Play;
use crate::{Cases, Group, Profile, Subject};

/// Size of a copy that takes longer than a small one on any device.
pub(super) const LARGE: usize = 1 << 20;
const SMALL: usize = 96;
/// Time limit in seconds: each case takes milliseconds, and a deadlock should not delay a run for
/// long.
pub(super) const DEADLINE: u64 = 10;

/// The default stream and a created one, with the profile that each needs.
const STREAMS: [(&str, usize, Option<Profile>); 2] =
    [("default", 0, None), ("created", 1, Some(Profile::SeveralStreams))];

pub(super) fn add(cases: &mut Cases) {
    for (name, on, profile) in STREAMS {
        let mut order = |case: String, play: fn(usize, usize) -> Play, argument: usize| {
            let draft = cases.case(Group::Stream, format!("{case}/{name}"), "D.7", Subject::DeviceApi);
            draft.profile(profile).deadline(DEADLINE).run(move |c| play(on, argument).run(&c.device()?));
        };
        for length in [2, 16, 200] {
            order(format!("chain/{length}"), chain, length);
        }
        for (case, play) in [
            ("large-then-small", large_then_small as fn(usize, usize) -> Play),
            ("read-after-write", read_after_write),
            ("write-after-read", write_after_read),
            ("write-after-write", write_after_write),
            ("through-host-memory", through_host),
            ("within-one-space", within_one_space),
        ] {
            order(case.to_owned(), play, 0);
        }
        for seed in 1..=4 {
            order(format!("random/seed-{seed}"), random, seed);
        }
        let mut sync = |case: &str, play: fn(usize) -> Play| {
            let draft = cases.case(Group::Stream, format!("sync/{case}/{name}"), "D.8", Subject::DeviceApi);
            draft.profile(profile).deadline(DEADLINE).run(move |c| play(on).run(&c.device()?));
        };
        sync("data-is-there", data_is_there);
        sync("source-is-free", source_is_free);
        sync("again-and-again", again_and_again);
        sync("nothing-queued", nothing_queued);
        sync("many-small", many_small);
    }
}

/// Copies a → b → c → …, each from the previous one.
fn chain(on: usize, length: usize) -> Play {
    let mut play = Play::new(on);
    let (source, sink) = (play.host(4096), play.host(4096));
    let spaces: Vec<_> = (0..8).map(|_| play.space(4096)).collect();
    play.copy(on, (source, 0), (spaces[0], 0), 4096);
    for index in 1..length {
        play.copy(on, (spaces[(index - 1) % 8], 0), (spaces[index % 8], 0), 4096);
    }
    play.copy(on, (spaces[(length - 1) % 8], 0), (sink, 0), 4096);
    play
}

/// Queues a small copy that reads the end of a large one.
fn large_then_small(on: usize, _: usize) -> Play {
    let mut play = Play::new(on);
    let (large, small) = (play.space(LARGE), play.space(SMALL));
    for _ in 0..4 {
        let (source, sink) = (play.host(LARGE), play.host(SMALL));
        play.copy(on, (source, 0), (large, 0), LARGE);
        play.copy(on, (large, LARGE - SMALL), (small, 0), SMALL);
        play.copy(on, (small, 0), (sink, 0), SMALL);
    }
    play
}

fn read_after_write(on: usize, _: usize) -> Play {
    let mut play = Play::new(on);
    let space = play.space(LARGE);
    for _ in 0..3 {
        let (source, sink) = (play.host(LARGE), play.host(LARGE));
        play.copy(on, (source, 0), (space, 0), LARGE);
        play.copy(on, (space, 0), (sink, 0), LARGE);
    }
    play
}

/// Checks that a read sees the state before the small copy overwrites its end.
fn write_after_read(on: usize, _: usize) -> Play {
    let mut play = Play::new(on);
    let (space, other) = (play.space(LARGE), play.space(SMALL));
    for _ in 0..4 {
        let (sink, source) = (play.host(LARGE), play.host(SMALL));
        play.copy(on, (space, 0), (sink, 0), LARGE);
        play.copy(on, (source, 0), (other, 0), SMALL);
        play.copy(on, (other, 0), (space, LARGE - SMALL), SMALL);
    }
    play
}

/// Checks that the small copy is the last to write.
fn write_after_write(on: usize, _: usize) -> Play {
    let mut play = Play::new(on);
    let space = play.space(LARGE);
    for _ in 0..4 {
        let (large, small) = (play.host(LARGE), play.host(SMALL));
        play.copy(on, (large, 0), (space, 0), LARGE);
        play.copy(on, (small, 0), (space, LARGE - SMALL), SMALL);
    }
    play
}

/// Copies to the host and back without a sync in between: host memory is part of the stream's work
/// (D.6).
fn through_host(on: usize, _: usize) -> Play {
    let mut play = Play::new(on);
    let spaces: Vec<_> = (0..4).map(|_| play.space(65_536)).collect();
    for round in 0..12 {
        let staging = play.host(65_536);
        play.copy(on, (spaces[round % 4], 0), (staging, 0), 65_536);
        play.copy(on, (staging, 0), (spaces[(round + 1) % 4], 0), 65_536);
    }
    play
}

/// Moves a block along one data space, each copy from the place of the previous one.
fn within_one_space(on: usize, _: usize) -> Play {
    let mut play = Play::new(on);
    let space = play.space(64 * 512);
    for index in 0..63 {
        play.copy(on, (space, index * 512), (space, (index + 1) * 512), 512);
    }
    play
}

/// Copies with random directions, sizes and offsets.
fn random(on: usize, seed: usize) -> Play {
    let mut random = Random::new(seed as u64);
    let mut play = Play::new(on);
    let size = 40_000;
    let mut places: Vec<_> = (0..5).map(|_| play.space(size)).collect();
    places.extend((0..3).map(|_| play.host(size)));
    for _ in 0..300 {
        let from = random.index(places.len());
        let to = random.index(places.len());
        // One end must be a data space, and the ends must differ (D.6).
        if from == to || (from >= 5 && to >= 5) {
            continue;
        }
        let size_max = if random.index(8) == 0 { size } else { 700 };
        let length = random.index(size_max);
        let (at, to_at) = (random.index(size - length), random.index(size - length));
        play.copy(on, (places[from], at), (places[to], to_at), length);
    }
    play
}

fn data_is_there(on: usize) -> Play {
    let mut play = Play::new(on);
    let space = play.space(LARGE);
    for round in 0..4 {
        let (source, sink) = (play.host(LARGE), play.host(LARGE));
        play.copy(on, (source, 0), (space, 0), LARGE);
        play.copy(on, (space, 0), (sink, 0), LARGE - round);
        play.sync(on);
        play.look(sink);
    }
    play
}

/// Overwrites the source on the host as soon as the sync returns.
fn source_is_free(on: usize) -> Play {
    let mut play = Play::new(on);
    let source = play.host(LARGE);
    for round in 0..4 {
        let space = play.space(LARGE);
        play.copy(on, (source, 0), (space, 0), LARGE);
        play.sync(on);
        play.fill(source, round);
    }
    play
}

fn again_and_again(on: usize) -> Play {
    let mut play = Play::new(on);
    let (space, source, sink) = (play.space(SMALL), play.host(SMALL), play.host(SMALL));
    for _ in 0..50 {
        play.copy(on, (source, 0), (space, 0), SMALL);
        play.copy(on, (space, 0), (sink, 0), SMALL);
        play.sync(on);
        play.sync(on);
        play.look(sink);
    }
    play
}

fn nothing_queued(on: usize) -> Play {
    let mut play = Play::new(on);
    for _ in 0..100 {
        play.sync(on);
    }
    play
}

fn many_small(on: usize) -> Play {
    let mut play = Play::new(on);
    let (space, source, sink) = (play.space(4000), play.host(4000), play.host(4000));
    for index in 0..500 {
        play.copy(on, (source, index * 8), (space, index * 8), 8);
    }
    for index in 0..500 {
        play.copy(on, (space, index * 8), (sink, index * 8), 8);
    }
    play.sync(on);
    play.look(sink);
    play
}
