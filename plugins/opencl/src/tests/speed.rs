//! Cost of calls compared with the same calls of OpenCL made directly. Measured on demand:
//! `cargo test --release -p chipdock-plugin-opencl speed -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use chipdock_plugin_api::{Any, AnyView, Stream};

use super::kernels::{ADD, add_entry};
use super::support::{Bench, end, host_end, pointer};
use crate::cache::{Cache, KIND};
use crate::driver::{Argument, HostMemory};
use crate::program::Source;

/// The least of several tries, in turn, of both.
fn in_turn(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> (Duration, Duration) {
    let mut least = (Duration::MAX, Duration::MAX);
    for _ in 0..15 {
        let began = Instant::now();
        ours();
        least.0 = least.0.min(began.elapsed());
        let began = Instant::now();
        theirs();
        least.1 = least.1.min(began.elapsed());
    }
    least
}

fn tell(what: &str, (ours, theirs): (Duration, Duration), per: u32) {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{what}: {:?} against {:?}, ratio {ratio:.3}", ours / per, theirs / per);
}

#[test]
#[ignore = "a measurement"]
fn launches_compared_with_the_drivers_own() {
    const LAUNCHES: u32 = 2000;
    let Some(bench) = Bench::new() else { return };
    let device = bench.hardware.device(0).unwrap();
    let opened = device.open().unwrap();
    let add = bench.kernel(ADD, add_entry());
    let (x, y) = (bench.with(0, &[1.0_f32; 64]), bench.with(0, &[0.0_f32; 64]));
    let source = Source { text: ADD.into(), options: Vec::new(), extensions: Vec::new() };
    let program = source.build(device, None).unwrap();
    let mut kernel = program.kernel(c"add").unwrap();
    let queue = opened.context.queue(device.raw(), false).unwrap();
    let spaces = device.spaces.each([x.addr(), y.addr()].into_iter(), device.name()).unwrap();
    let args = [pointer(x), pointer(y), Any::from(64_i64), Any::from(1_i64), Any::from(64_i64)];
    let views: Vec<AnyView<'_>> = args.iter().map(Any::view).collect();
    let times = in_turn(
        || {
            for _ in 0..LAUNCHES {
                add.call(bench.host, &views).unwrap();
            }
            bench.sync(0, Stream::DEFAULT).unwrap();
        },
        || {
            for _ in 0..LAUNCHES {
                for (index, space) in spaces.iter().flatten().enumerate() {
                    kernel.set(index, Argument::Buffer(space.buffer().unwrap())).unwrap();
                }
                kernel.set(2, Argument::Scalar(&64_i32.to_le_bytes())).unwrap();
                kernel.launch(&queue, ([64, 1, 1], [64, 1, 1]), None).unwrap();
                queue.flush().unwrap();
            }
            queue.finish().unwrap();
        },
    );
    tell("a launch of many", times, LAUNCHES);
    let times = in_turn(
        || {
            for _ in 0..LAUNCHES / 10 {
                add.call(bench.host, &views).unwrap();
                bench.sync(0, Stream::DEFAULT).unwrap();
            }
        },
        || {
            for _ in 0..LAUNCHES / 10 {
                for (index, space) in spaces.iter().flatten().enumerate() {
                    kernel.set(index, Argument::Buffer(space.buffer().unwrap())).unwrap();
                }
                kernel.set(2, Argument::Scalar(&64_i32.to_le_bytes())).unwrap();
                kernel.launch(&queue, ([64, 1, 1], [64, 1, 1]), None).unwrap();
                queue.finish().unwrap();
            }
        },
    );
    tell("a launch until it is done", times, LAUNCHES / 10);
}

#[test]
#[ignore = "a measurement"]
fn copies_compared_with_the_drivers_own() {
    let Some(bench) = Bench::new() else { return };
    let device = bench.hardware.device(0).unwrap();
    let queue = device.open().unwrap().context.queue(device.raw(), false).unwrap();
    for size in [4 << 10, 1 << 20, 64 << 20] {
        let mut bytes = vec![1_u8; size];
        let data = bench.allocate(0, size);
        let (space, _) = device.spaces.range(data.addr(), 0, size as u64, device.name()).unwrap();
        let (buffer, address) = (space.buffer().unwrap(), bytes.as_mut_ptr());
        // SAFETY: `bytes` outlives every sync below.
        let memory = unsafe { HostMemory::new(address) };
        let host = host_end(address.cast());
        let times = in_turn(
            || {
                bench.copy(0, host, end(0, data), size, Stream::DEFAULT).unwrap();
                bench.sync(0, Stream::DEFAULT).unwrap();
            },
            || {
                queue.write((buffer, 0), memory, size, None).unwrap();
                queue.finish().unwrap();
            },
        );
        tell(&format!("{size} bytes to the device"), times, 1);
        let times = in_turn(
            || {
                bench.copy(0, end(0, data), host, size, Stream::DEFAULT).unwrap();
                bench.sync(0, Stream::DEFAULT).unwrap();
            },
            || {
                queue.read((buffer, 0), memory, size, None).unwrap();
                queue.finish().unwrap();
            },
        );
        tell(&format!("{size} bytes from the device"), times, 1);
    }
}

#[test]
#[ignore = "a measurement"]
fn a_cached_program_compared_with_the_drivers_binary() {
    let Some(bench) = Bench::new() else { return };
    let device = bench.hardware.device(0).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path(), KIND, 1 << 30).unwrap();
    let text = format!("// {:?}\n{ADD}", std::time::SystemTime::now());
    let source = Source { text, options: Vec::new(), extensions: Vec::new() };
    let began = Instant::now();
    let program = source.build(device, Some(&cache)).unwrap();
    println!("built from source and kept: {:?}", began.elapsed());
    let binary = program.binary().unwrap();
    let times = in_turn(
        || drop(source.build(device, Some(&cache)).unwrap().kernel(c"add").unwrap()),
        || {
            let program = device.open().unwrap().context.program_of_binary(device.raw(), &binary).unwrap();
            program.build(device.raw(), c"-cl-std=CL1.2").unwrap();
            program.kernel(c"add").unwrap();
        },
    );
    tell(&format!("a cached program of {} bytes", binary.len()), times, 1);
}
