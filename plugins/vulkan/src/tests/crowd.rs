//! Eight threads on one device at once. A run takes a second each under the validation layer and
//! without; with `CHIPDOCK_TEST_ALL=1` a minute each.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chipdock_plugin_api::timer::Timer as _;
use chipdock_plugin_api::{DataSpaceKind, DeviceApi as _, Stream, attribute};
use chipdock_test_support::memory::resident_bytes;
use chipdock_test_support::sample;

use super::by_hand::{Form, add};
use super::modules::Add;
use super::support::{Bench, end, in_child};
use crate::device::Means;
use crate::loader::Loaded;
use crate::timer::VulkanTimer;

const N_THREADS: usize = 8;
/// The seconds of a run, and growth that is no leak: heaps of threads, blocks of memory and staging
/// memory of which ever more is used, until, within the first thousands of rounds, all is.
fn scale() -> (u64, usize) {
    if sample::is_whole_run() { (60, 8 << 20) } else { (1, 64 << 20) }
}

/// A round of a thread: copies and launches on two streams that wait for each other, between two
/// marks.
fn round(bench: &Bench, modules: &[Loaded], number: usize) {
    let timer = VulkanTimer(Arc::clone(&bench.hardware));
    // SAFETY: a stream of this round.
    let mark = |stream| unsafe { timer.mark(0, stream) }.unwrap();
    let (a, b) = (bench.stream(0), bench.stream(0));
    let count = 1 + number * 37 % 3000;
    let (x, y): (Vec<f32>, Vec<f32>) =
        (0..count).map(|index| ((index ^ number) as f32, (index * 3 + number) as f32)).unzip();
    let kind = if number.is_multiple_of(3) { DataSpaceKind::Pinned } else { DataSpaceKind::Device };
    let (at_x, at_y) = (bench.allocate(0, count * 4), bench.allocate_kind(0, count * 4, kind).unwrap());
    let begin = mark(a);
    bench.write(0, at_x, &x, a);
    bench.write(0, at_y, &y, b);
    bench.wait(a, b);
    let module = &modules[number % modules.len()];
    for _ in 0..3 {
        bench.add_on(module, &Add::of(at_x, at_y, count), b).unwrap();
    }
    bench.wait(b, a);
    bench.copy(0, end(0, at_y), end(0, at_x), count * 4, a).unwrap();
    let done = mark(a);
    // What the queued work uses may be freed.
    bench.free(0, at_y);
    bench.free_stream(0, b);
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + x + x + y).collect();
    assert_eq!(bench.read::<f32>(0, at_x, count, a), expected, "round {number}");
    // SAFETY: two marks of this round, each freed once.
    unsafe {
        assert!(timer.elapsed(0, begin, done).unwrap() >= 0.0);
        timer.free_mark(0, begin).unwrap();
        timer.free_mark(0, done).unwrap();
    }
    bench.free_stream(0, a);
    bench.free(0, at_x);
}

/// Runs rounds for a time; returns their number.
fn crowd(bench: &Bench, modules: &[Loaded], length: Duration) -> usize {
    let until = Instant::now() + length;
    std::thread::scope(|scope| {
        let thread = |thread: usize| {
            move || {
                let mut rounds = 0;
                while Instant::now() < until || rounds < 4 {
                    round(bench, modules, thread + N_THREADS * rounds);
                    rounds += 1;
                }
                rounds
            }
        };
        let threads: Vec<_> = (0..N_THREADS).map(|number| scope.spawn(thread(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

fn available_bytes(bench: &Bench) -> i64 {
    let found = bench.api.attribute(0, attribute::AVAILABLE_GLOBAL_MEMORY_BYTES).unwrap();
    found.unwrap().to().unwrap()
}

fn modules(bench: &Bench) -> Vec<Loaded> {
    let of = |(form, is_pushed)| bench.load(&add(form), None, is_pushed).unwrap();
    [(Form::Push, true), (Form::Push, false), (Form::Uniform, true)].map(of).into()
}

/// VK-D7, VK-D20: the layer watches the use of every object by several threads, too.
#[test]
fn eight_threads_do_not_disturb_each_other() {
    for means in [Means::ALL, Means { timeline: false, direct: false }] {
        let Some(bench) = Bench::with(means) else { return };
        let rounds = crowd(&bench, &modules(&bench), Duration::from_secs(scale().0) / 2);
        println!("{rounds} rounds under validation, {means:?}");
        assert_eq!(bench.messages(), 0);
    }
}

/// VK-D11. Without the layer, which keeps something of each object, and in a process of its own,
/// whose memory is measured.
#[test]
fn the_memory_of_eight_threads_stays_flat() {
    if Bench::new().is_some() {
        in_child("tests::crowd::child_of_eight_threads", &[]).unwrap();
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_of_eight_threads() {
    let bench = Bench::of_host();
    if bench.api.device_count().is_err() {
        return;
    }
    let (modules, (seconds, growth_bytes_max)) = (modules(&bench), scale());
    let length = Duration::from_secs(seconds);
    let available = available_bytes(&bench);
    let warm = crowd(&bench, &modules, length / 4);
    let before = resident_bytes();
    let rounds = crowd(&bench, &modules, length * 3 / 4);
    bench.sync(0, Stream::DEFAULT).unwrap();
    let grown = resident_bytes().saturating_sub(before);
    println!("{grown} bytes grown in {rounds} rounds after {warm}");
    assert!(grown < growth_bytes_max, "{grown} bytes in {rounds} rounds");
    assert_eq!(available_bytes(&bench), available);
}
