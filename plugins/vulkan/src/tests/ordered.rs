//! The order of streams as the validation layer sees it: on a device of four queues (`icd.c`), with
//! its validation of what is submitted, a semaphore that is missing is a message. The layer of
//! Debian 12 (1.3.239) follows binary semaphores and fences there, and no timeline semaphores: for
//! those there is `recorded`.

use chipdock_programs::Random;

use super::drivers::{Driver, VARIABLE};
use super::support::{Bench, end, in_child};
use super::{recorded, streams};
use crate::device::Means;

/// What makes the layer validate across submissions.
const ENABLES: (&str, &str) =
    ("VK_LAYER_ENABLES", "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT");
const BINARY: Means = Means { timeline: false, direct: false };

/// Runs a test of this file on four queues.
fn on_four_queues(test: &str, is_across_submissions: bool) {
    if Bench::of_lavapipe().is_none() {
        return;
    }
    let Some(driver) = Driver::new() else { return };
    let mut environment = driver.environment(&driver.file, "");
    environment.extend(is_across_submissions.then_some(ENABLES));
    in_child(&format!("tests::ordered::{test}"), &environment).unwrap();
}

/// The bench of such a test; none in another process.
fn of_child(means: Means) -> Option<Bench> {
    std::env::var(VARIABLE).ok().filter(|drivers| drivers.ends_with("test.json"))?;
    let bench = Bench::with(means)?;
    assert_eq!(bench.device().open().unwrap().gpu().lanes_count(), 4);
    Some(bench)
}

#[test]
fn vk_d15_the_layer_finds_waits_that_are_missing_and_none_of_ours() {
    on_four_queues("child_with_waits", true);
    on_four_queues("child_without_waits", true);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_with_waits() {
    let Some(bench) = of_child(BINARY) else { return };
    let mut random = Random::new(1);
    for _ in 0..20 {
        let mut below = |n: usize| random.below(n as u64) as usize;
        // No copies to host memory: the host waits for those, and the layer concludes from a fence
        // of one queue nothing for the work of others that this work waited for.
        let steps: Vec<_> = (0..30).map(|_| (below(5), 2, below(4), below(4))).collect();
        assert_eq!(recorded::run(&bench, &steps), recorded::expected(&steps));
        assert_eq!(bench.messages(), 0);
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_without_waits() {
    let Some(bench) = of_child(BINARY) else { return };
    let spaces: Vec<_> = (0..3_u8).map(|index| bench.with_values(0, &[index; 64])).collect();
    let (a, b) = (bench.stream(0), bench.stream(0));
    let copy = |from: usize, to: usize, stream| {
        bench.copy(0, end(0, spaces[from]), end(0, spaces[to]), 64, stream).unwrap();
        bench.hardware.device(0).unwrap().stream(stream.into_raw().addr()).unwrap().flush();
    };
    copy(0, 1, a);
    bench.wait(a, b);
    copy(1, 2, b);
    assert_eq!(bench.messages(), 0, "with the wait");
    bench.sync(0, b).unwrap();
    bench.sync(0, a).unwrap();
    copy(0, 1, a);
    copy(1, 2, b);
    let error = bench.sync(0, b).unwrap_err();
    assert!(error.message().contains("SYNC-HAZARD-READ-RACING-WRITE"), "{error}");
    assert!(bench.messages() > 0, "without it");
}

/// Streams of several queues, of all means.
#[test]
fn streams_on_four_queues_are_in_order() {
    on_four_queues("child_with_streams", false);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_with_streams() {
    if of_child(Means::ALL).is_some() {
        streams::vk_d12_work_on_one_stream_runs_in_order();
        streams::vk_d15_a_stream_waits_for_another();
        streams::vk_d14_streams_are_freed_right_after_a_wait_for_them();
        streams::vk_d16_host_memory_is_written_in_order();
        streams::vk_d19_marks_tell_the_time_of_the_work_between_them();
    }
}
