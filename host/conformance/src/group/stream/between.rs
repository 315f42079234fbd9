//! Several streams and the waits between them (D.16).

use chipdock_programs::Random;

use super::order::{DEADLINE, LARGE};
use super::play::Play;
use crate::{Cases, Group, Profile, Subject};

const SMALL: usize = 96;

pub(super) fn add(cases: &mut Cases) {
    let mut between = |name: &str, play: fn() -> Play, profile: Option<Profile>| {
        let draft = cases.case(Group::Stream, format!("between/{name}"), "D.16", Subject::DeviceApi);
        draft.profile(profile).deadline(DEADLINE).run(move |c| play().run(&c.device()?));
    };
    between("default-and-itself", || itself(0), None);
    let several = Some(Profile::SeveralStreams);
    between("created-and-itself", || itself(1), several);
    between("large-then-small/created-to-created", || large_then_small(1, 2), several);
    between("large-then-small/default-to-created", || large_then_small(0, 1), several);
    between("large-then-small/created-to-default", || large_then_small(1, 0), several);
    between("write-after-read", write_after_read, several);
    between("write-after-write", write_after_write, several);
    between("fan-in/8", fan_in, several);
    between("fan-out/8", fan_out, several);
    between("ping-pong/100", ping_pong, several);
    between("along-16-streams", along, several);
    between("circle", circle, several);
    between("nothing-queued", nothing_queued, several);
    between("wait-twice", wait_twice, several);
    between("after-sync", after_sync, several);
    for seed in 1..=4_u64 {
        let draft =
            cases.case(Group::Stream, format!("between/random/seed-{seed}"), "D.16", Subject::DeviceApi);
        draft
            .profile(Profile::SeveralStreams)
            .deadline(DEADLINE)
            .run(move |c| random(seed).run(&c.device()?));
    }
}

/// Queues some work on each stream first, so that races occur between copies and not between the
/// first uses of streams.
fn warm(play: &mut Play, streams: &[usize]) {
    for on in streams {
        let (source, space) = (play.host(8), play.space(8));
        play.copy(*on, (source, 0), (space, 0), 8);
        play.sync(*on);
    }
}

fn itself(on: usize) -> Play {
    let mut play = Play::new(on);
    let (source, space, sink) = (play.host(LARGE), play.space(LARGE), play.host(LARGE));
    for _ in 0..3 {
        play.copy(on, (source, 0), (space, 0), LARGE);
        play.wait(on, on);
        play.copy(on, (space, 0), (sink, 0), LARGE);
        play.wait(on, on);
    }
    play
}

/// Queues a large copy on one stream, and on the other a small copy that reads the end of the large
/// one.
fn large_then_small(from: usize, to: usize) -> Play {
    let mut play = Play::new(from.max(to));
    warm(&mut play, &[from, to]);
    let (large, sink) = (play.space(LARGE), play.host(8 * SMALL));
    for round in 0..8 {
        let source = play.host(LARGE);
        play.copy(from, (source, 0), (large, 0), LARGE);
        play.wait(to, from);
        play.copy(to, (large, LARGE - SMALL), (sink, round * SMALL), SMALL);
        // The next round overwrites what this one reads.
        play.wait(from, to);
    }
    play
}

/// The second stream must not write before the first has read.
fn write_after_read() -> Play {
    let mut play = Play::new(2);
    warm(&mut play, &[1, 2]);
    let (large, small) = (play.space(LARGE), play.host(SMALL));
    for _ in 0..6 {
        let sink = play.host(LARGE);
        play.copy(1, (large, 0), (sink, 0), LARGE);
        play.wait(2, 1);
        play.copy(2, (small, 0), (large, LARGE - SMALL), SMALL);
        play.wait(1, 2);
    }
    play
}

fn write_after_write() -> Play {
    let mut play = Play::new(2);
    warm(&mut play, &[1, 2]);
    for _ in 0..4 {
        let (large, small, space) = (play.host(LARGE), play.host(SMALL), play.space(LARGE));
        play.copy(1, (large, 0), (space, 0), LARGE);
        play.wait(2, 1);
        play.copy(2, (small, 0), (space, LARGE - SMALL), SMALL);
    }
    play
}

/// One stream reads what eight others wrote.
fn fan_in() -> Play {
    let mut play = Play::new(9);
    warm(&mut play, &(1..=9).collect::<Vec<_>>());
    let size = LARGE / 4;
    let sink = play.host(8 * SMALL);
    for on in 1..=8 {
        let (source, space) = (play.host(size), play.space(size));
        play.copy(on, (source, 0), (space, 0), size);
        play.wait(9, on);
        play.copy(9, (space, size - SMALL), (sink, (on - 1) * SMALL), SMALL);
    }
    play
}

/// Eight streams read what one wrote.
fn fan_out() -> Play {
    let mut play = Play::new(9);
    warm(&mut play, &(1..=9).collect::<Vec<_>>());
    let (source, space) = (play.host(LARGE), play.space(LARGE));
    play.copy(9, (source, 0), (space, 0), LARGE);
    for on in 1..=8 {
        let sink = play.host(SMALL);
        play.wait(on, 9);
        play.copy(on, (space, LARGE - SMALL * on), (sink, 0), SMALL);
    }
    play
}

/// Moves a block back and forth, on alternating streams.
fn ping_pong() -> Play {
    let mut play = Play::new(2);
    let size = 64 << 10;
    let (a, b, source, sink) = (play.space(size), play.space(size), play.host(size), play.host(size));
    play.copy(1, (source, 0), (a, 0), size);
    for round in 0..100 {
        let (on, other) = if round % 2 == 0 { (2, 1) } else { (1, 2) };
        play.wait(on, other);
        let (from, to) = if round % 2 == 0 { (a, b) } else { (b, a) };
        play.copy(on, (from, 0), (to, (round * 16) % 1024), size - 1024);
    }
    play.copy(1, (a, 0), (sink, 0), size);
    play
}

fn along() -> Play {
    let mut play = Play::new(16);
    let size = LARGE / 8;
    let (source, sink) = (play.host(size), play.host(size));
    let spaces: Vec<_> = (0..16).map(|_| play.space(size)).collect();
    play.copy(1, (source, 0), (spaces[0], 0), size);
    for index in 1..16 {
        play.wait(index + 1, index);
        play.copy(index + 1, (spaces[index - 1], 0), (spaces[index], 0), size);
    }
    play.copy(16, (spaces[15], 0), (sink, 0), size);
    play
}

/// Streams wait for each other's past work, not for future work, so there is no deadlock.
fn circle() -> Play {
    let mut play = Play::new(3);
    let size = LARGE / 8;
    let spaces: Vec<_> = (0..4).map(|_| play.space(size)).collect();
    for _ in 0..10 {
        for on in 1..=3 {
            play.copy(on, (spaces[0], 0), (spaces[on], 0), size);
        }
        for (on, from) in [(2, 1), (3, 2), (1, 3), (1, 2), (2, 3), (3, 1)] {
            play.wait(on, from);
        }
    }
    play
}

fn nothing_queued() -> Play {
    let mut play = Play::new(2);
    for _ in 0..20 {
        play.wait(1, 2);
        play.wait(2, 1);
        play.wait(0, 1);
        play.wait(2, 0);
    }
    play
}

fn wait_twice() -> Play {
    let mut play = Play::new(2);
    warm(&mut play, &[1, 2]);
    let (source, space, sink) = (play.host(LARGE), play.space(LARGE), play.host(SMALL));
    play.copy(1, (source, 0), (space, 0), LARGE);
    play.wait(2, 1);
    play.wait(2, 1);
    play.copy(2, (space, LARGE - SMALL), (sink, 0), SMALL);
    play.wait(2, 1);
    play
}

/// A wait for synchronised work has no effect; a wait for later work does.
fn after_sync() -> Play {
    let mut play = Play::new(2);
    let (source, space) = (play.host(LARGE), play.space(LARGE));
    for _ in 0..4 {
        let sink = play.host(SMALL);
        play.copy(1, (source, 0), (space, 0), LARGE);
        play.sync(1);
        play.wait(2, 1);
        play.copy(1, (source, SMALL), (space, 0), LARGE - SMALL);
        play.wait(2, 1);
        play.copy(2, (space, LARGE - 2 * SMALL), (sink, 0), SMALL);
        play.sync(2);
        play.look(sink);
    }
    play
}

/// Copies on four streams at random; each access to a place waits for the previous one.
fn random(seed: u64) -> Play {
    let mut random = Random::new(seed);
    let mut play = Play::new(3);
    let size = 30_000;
    let mut places: Vec<_> = (0..6).map(|_| play.space(size)).collect();
    places.extend((0..3).map(|_| play.host(size)));
    let mut last = vec![0; places.len()];
    for _ in 0..250 {
        let (on, from, to) = (random.index(4), random.index(places.len()), random.index(places.len()));
        if from == to || (from >= 6 && to >= 6) {
            continue;
        }
        for place in [from, to] {
            if last[place] != on {
                play.wait(on, last[place]);
            }
            last[place] = on;
        }
        let size_max = if random.index(3) == 0 { size } else { 500 };
        let length = random.index(size_max);
        let (at, to_at) = (random.index(size - length), random.index(size - length));
        play.copy(on, (places[from], at), (places[to], to_at), length);
    }
    play
}
