//! Tests of streams: order within one, and no order between two unless it is requested.

use std::time::{Duration, Instant};

use chipdock_plugin_api::{Any, DeviceApi, ErrorKind, Function, Stream};
use serde_json::json;

use super::kernels::{ADD, add_entry};
use super::support::{Bench, end, host_end, pointer};

/// Takes its time, then writes.
fn slow(bench: &Bench) -> Function {
    let source = "
__kernel void slow(__global volatile int* x, int rounds, int value) {
  int sum = 0;
  for (int i = 0; i < rounds; i++) sum += x[1] + i;
  x[2] = sum;
  x[0] = value;
}";
    let entry = json!({ "name": "slow", "symbol": "slow", "args": ["handle", "int32", "int32"],
                        "launch_params": ["threadIdx.x"] });
    bench.kernel(source, entry)
}

const ROUNDS: i64 = 30_000_000;

fn launch(bench: &Bench, kernel: &Function, x: *mut std::ffi::c_void, value: i64, stream: Stream) {
    bench.make_current(0, stream);
    bench.call(kernel, &[pointer(x), Any::from(ROUNDS), Any::from(value), Any::from(1_i64)]).unwrap();
}

/// Whether a copy on another stream sees what a slow kernel wrote before, with or without a wait
/// between the streams.
fn other_stream_sees(bench: &Bench, kernel: &Function, waits: bool) -> bool {
    let (first, second) = (bench.api.create_stream(0).unwrap(), bench.api.create_stream(0).unwrap());
    let (x, y) = (bench.with(0, &[0_i32; 4]), bench.with(0, &[0_i32; 4]));
    launch(bench, kernel, x, 7, first);
    if waits {
        // SAFETY: D.7, both are live.
        unsafe { bench.api.sync_stream_from_to(0, first, second) }.unwrap();
    }
    bench.copy(0, end(0, x), end(0, y), 4, second).unwrap();
    let seen: Vec<i32> = bench.read(0, y, 1, second);
    for stream in [first, second] {
        // SAFETY: created above, freed once.
        unsafe { bench.api.free_stream(0, stream) }.unwrap();
    }
    bench.free(0, x);
    bench.free(0, y);
    seen == [7]
}

/// D.16, and that the test would see it if there were no wait.
#[test]
fn a_stream_waits_for_another_when_asked_to() {
    let Some(bench) = Bench::new() else { return };
    let kernel = slow(&bench);
    for _ in 0..3 {
        assert!(other_stream_sees(&bench, &kernel, true));
    }
    // A device with one queue in hardware may order them all the same; PoCL, on which this runs
    // everywhere, does not.
    let is_pocl = bench.hardware.device(0).unwrap().found.platform_name == "Portable Computing Language";
    assert!(!is_pocl || !other_stream_sees(&bench, &kernel, false), "the streams are not concurrent");
}

/// A launch returns when it is queued, and what is queued on one stream is done in order.
#[test]
fn launches_are_queued() {
    let Some(bench) = Bench::new() else { return };
    let kernel = slow(&bench);
    let x = bench.with(0, &[0_i32; 4]);
    launch(&bench, &kernel, x, 1, Stream::DEFAULT);
    bench.sync(0, Stream::DEFAULT).unwrap();
    let began = Instant::now();
    launch(&bench, &kernel, x, 2, Stream::DEFAULT);
    launch(&bench, &kernel, x, 3, Stream::DEFAULT);
    let queued = began.elapsed();
    let found: Vec<i32> = bench.read(0, x, 1, Stream::DEFAULT);
    let done = began.elapsed();
    assert_eq!(found, [3]);
    assert!(queued < done / 2, "{queued:?} of {done:?}");
}

/// P7.5, by an event that the driver itself ends as failed.
#[test]
fn work_that_fails_later_is_named_once() {
    let Some(bench) = Bench::new() else { return };
    let device = bench.hardware.device(0).unwrap();
    let (x, bytes) = (bench.with(0, &[0_u8; 64]), [7_u8; 64]);
    device.health.fail_next_copy();
    let from = host_end(bytes.as_ptr().cast_mut().cast());
    bench.copy(0, from, end(0, x), 33, Stream::DEFAULT).unwrap();
    let error = bench.sync(0, Stream::DEFAULT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IO);
    assert!(error.message().contains("the copy of 33 bytes failed after it was queued"), "{error}");
    assert!(error.message().contains("CL_"), "the driver's word: {error}");
    bench.sync(0, Stream::DEFAULT).unwrap();
    assert_eq!(bench.read::<u8>(0, x, 1, Stream::DEFAULT), [0]);
}

/// P10.4: two hosts in one process share nothing, handles included.
#[test]
fn hosts_do_not_know_each_others_handles() {
    let (Some(one), Some(other)) = (Bench::new(), Bench::new()) else { return };
    let (x, stream) = (one.with(0, &[1_u8; 8]), one.api.create_stream(0).unwrap());
    let mut bytes = [0_u8; 8];
    let to = host_end(bytes.as_mut_ptr().cast());
    let error = other.copy(0, end(0, x), to, 8, Stream::DEFAULT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WRONG_STATE);
    assert_eq!(other.sync(0, stream).unwrap_err().kind(), ErrorKind::WRONG_STATE);
    other.api.shutdown().unwrap();
    assert_eq!(one.read::<u8>(0, x, 8, stream), [1; 8]);
}

/// For 2 seconds, or for as many as `CHIPDOCK_SOAK_SECONDS` says.
#[test]
fn threads_do_not_disturb_each_other() {
    let Some(bench) = Bench::new() else { return };
    let seconds = std::env::var("CHIPDOCK_SOAK_SECONDS").ok().and_then(|text| text.parse().ok());
    let add = bench.kernel(ADD, add_entry());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
    let rounds: usize = std::thread::scope(|scope| {
        let thread = |number: usize| {
            let (bench, add) = (&bench, &add);
            move || {
                let mut round = 0;
                // The first launch waits for the driver's compiler, which may take all of the time.
                while round < 2 || Instant::now() < until {
                    let stream = bench.api.create_stream(0).unwrap();
                    bench.make_current(0, stream);
                    let count = 1000 + round * 37 % 5000;
                    let numbers: Vec<f32> =
                        (0..count).map(|index| (index * 8 + number + round) as f32).collect();
                    let (x, y) = (bench.allocate(0, count * 4), bench.allocate(0, count * 4));
                    bench.write(0, x, &numbers, stream);
                    bench.copy(0, end(0, x), end(0, y), count * 4, stream).unwrap();
                    let blocks = Any::from(count.div_ceil(64) as i64);
                    let args = [pointer(x), pointer(y), Any::from(count as i64), blocks, Any::from(64_i64)];
                    bench.call(add, &args).unwrap();
                    let expected: Vec<f32> = numbers.iter().map(|number| number * 2.0).collect();
                    assert_eq!(bench.read::<f32>(0, y, count, stream), expected);
                    // SAFETY: created above, freed once.
                    unsafe { bench.api.free_stream(0, stream) }.unwrap();
                    bench.free(0, x);
                    bench.free(0, y);
                    round += 1;
                }
                round
            }
        };
        let threads: Vec<_> = (0..8).map(|number| scope.spawn(thread(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(rounds > 8, "{rounds}");
}
