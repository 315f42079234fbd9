//! Tests on a driver in software (`fake`): order that no driver at hand would show to be missing,
//! devices that none has.

use ash::{khr, vk};
use chipdock_plugin_api::{DataSpaceKind, DeviceApi, ErrorKind, Stream, attribute};
use proptest::prelude::*;

use super::fake::{Model, world};
use super::support::{Bench, end, host_end};

/// Devices with timeline semaphores of the core and of the extension, and with fences.
fn all() -> [Model; 3] {
    let extension = Model {
        version: vk::API_VERSION_1_1,
        extensions: vec![khr::timeline_semaphore::NAME],
        ..Model::gpu()
    };
    let fences = Model { version: vk::API_VERSION_1_1, has_timeline: false, ..Model::gpu() };
    [Model::gpu(), extension, fences]
}

fn check_driver() {
    world(|world| assert!(world.violations.is_empty(), "{:?}", world.violations));
}

/// VK-D1, and VK-D2 for what is left out.
#[test]
fn vk_d1_devices_are_in_the_order_of_their_sorts() {
    use vk::PhysicalDeviceType as T;
    let model = |name, sort| Model { name, sort, ..Model::gpu() };
    let old = Model { version: vk::API_VERSION_1_0, ..model(c"old", T::DISCRETE_GPU) };
    let display = Model { families: vec![(3, false)], ..model(c"display", T::DISCRETE_GPU) };
    let models = vec![
        model(c"processor", T::CPU),
        old.clone(),
        model(c"virtual", T::VIRTUAL_GPU),
        model(c"first", T::DISCRETE_GPU),
        model(c"other", T::OTHER),
        display.clone(),
        model(c"integrated", T::INTEGRATED_GPU),
        model(c"second", T::DISCRETE_GPU),
    ];
    let bench = Bench::over_fake(models);
    let name = |id| bench.api.attribute(id, attribute::DEVICE_NAME).unwrap().unwrap().to::<String>().unwrap();
    let names: Vec<_> = (0..bench.api.device_count().unwrap()).map(name).collect();
    assert_eq!(names, ["first", "second", "integrated", "virtual", "other", "processor"]);
    let error = Bench::over_fake(vec![old, display]).api.device_count().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UNAVAILABLE);
    for text in ["old is of Vulkan 1.0", "display has no queue for compute", "mesa-vulkan-drivers"] {
        assert!(error.message().contains(text), "{error}");
    }
}

/// VK-D3: of the family with most queues, four in turn.
#[test]
fn vk_d3_streams_take_the_queues_in_turn() {
    let model = Model { families: vec![(1, true), (16, true), (99, false)], ..Model::gpu() };
    let bench = Bench::over_fake(vec![model]);
    let (x, y) = (bench.with_values(0, &[1_u8; 4]), bench.with_values(0, &[1_u8; 4]));
    let before = world(|world| world.submissions.clone());
    for _ in 0..8 {
        let stream = bench.stream(0);
        bench.copy(0, end(0, x), end(0, y), 4, stream).unwrap();
        bench.sync(0, stream).unwrap();
    }
    let after = world(|world| world.submissions.clone());
    let used = after.iter().map(|(queue, count)| (*queue, count - before.get(queue).unwrap_or(&0)));
    assert_eq!(used.collect::<Vec<_>>(), [(0x101, 2), (0x102, 2), (0x103, 2), (0x104, 2)]);
    check_driver();
}

/// VK-D17: memory that the host cannot reach, longer than the ring.
#[test]
fn vk_d17_copies_through_the_ring_are_right() {
    for model in all() {
        let bench = Bench::over_fake(vec![model]);
        for size in [1, 4 << 20, (37 << 20) + 5] {
            let bytes: Vec<u8> = (0..size).map(|index| (index ^ (index >> 10)) as u8).collect();
            let x = bench.with_values(0, &bytes);
            assert!(bench.read::<u8>(0, x, size, Stream::DEFAULT) == bytes, "{size}");
            bench.free(0, x);
        }
        check_driver();
    }
}

/// VK-D8: no type of memory is device-local and mapped, and nothing is substituted.
#[test]
fn vk_d8_kinds_without_a_type_of_memory_are_unsupported() {
    let bench = Bench::over_fake(vec![Model::gpu()]);
    for kind in [DataSpaceKind::HostVisible, DataSpaceKind::Unified] {
        assert_eq!(bench.allocate_kind(0, 64, kind).unwrap_err().kind(), ErrorKind::UNSUPPORTED);
    }
    bench.allocate_kind(0, 64, DataSpaceKind::Pinned).unwrap();
}

/// VK-D10: where no block can be allocated, the buffer alone may be; what cannot is `OutOfMemory`,
/// and changes nothing.
#[test]
fn vk_d10_the_last_memory_is_allocated_for_buffers_alone() {
    let bench = Bench::over_fake(vec![Model { heap_bytes: 4 << 20, ..Model::gpu() }]);
    world(|world| world.allocation_bytes_max = Some(1 << 20));
    let x = bench.allocate(0, 1 << 20);
    let error = bench.allocate_kind(0, (1 << 20) + 1, DataSpaceKind::Device).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OUT_OF_MEMORY, "{error}");
    let left = bench.api.attribute(0, attribute::AVAILABLE_GLOBAL_MEMORY_BYTES).unwrap().unwrap();
    assert_eq!(left.to::<i64>().unwrap(), 3 << 20);
    bench.free(0, x);
}

/// VK-D6: a device that the driver loses is lost to every call, until it is opened again.
#[test]
fn vk_d6_a_device_that_the_driver_loses_is_opened_again() {
    use chipdock_plugin_api::interface::Reset as _;
    for model in all() {
        let bench = Bench::over_fake(vec![model]);
        let (x, y) = (bench.with_values(0, &[1_u8; 4]), bench.with_values(0, &[2_u8; 4]));
        bench.copy(0, end(0, x), end(0, y), 4, Stream::DEFAULT).unwrap();
        world(|world| world.next_submit = Some(vk::Result::ERROR_DEVICE_LOST));
        let error = bench.sync(0, Stream::DEFAULT).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DEVICE_LOST, "{error}");
        assert!(error.message().contains("VK_ERROR_DEVICE_LOST"), "{error}");
        assert_eq!(bench.stream_error(0), ErrorKind::DEVICE_LOST);
        crate::device_api::Reopen(bench.hardware.clone()).reset(0).unwrap();
        let z = bench.with_values(0, &[3_u8; 4]);
        assert_eq!(bench.read::<u8>(0, z, 4, Stream::DEFAULT), [3; 4]);
        for data in [x, y, z] {
            bench.free(0, data);
        }
    }
}

/// P7.5, P7.9: a batch that cannot be submitted fails its stream once.
#[test]
fn a_batch_that_the_driver_refuses_is_reported_once() {
    let bench = Bench::over_fake(vec![Model::gpu()]);
    let (x, y) = (bench.with_values(0, &[1_u8; 4]), bench.with_values(0, &[2_u8; 4]));
    bench.copy(0, end(0, x), end(0, y), 4, Stream::DEFAULT).unwrap();
    world(|world| world.next_submit = Some(vk::Result::ERROR_OUT_OF_HOST_MEMORY));
    let error = bench.sync(0, Stream::DEFAULT).unwrap_err();
    assert!(error.message().contains("the copy of 4 bytes"), "{error}");
    bench.sync(0, Stream::DEFAULT).unwrap();
    assert_eq!(bench.read::<u8>(0, y, 4, Stream::DEFAULT), [2; 4]);
}

/// A step of a program: the stream it is queued on, and what it does.
pub(super) type Step = (usize, usize, usize, usize);

/// Runs a program in which each step waits for the one before it; returns what memory holds in the
/// end.
pub(super) fn run(bench: &Bench, steps: &[Step]) -> (Vec<Vec<u8>>, Vec<[u8; 8]>) {
    let streams: Vec<_> = (0..5).map(|_| bench.stream(0)).collect();
    let spaces: Vec<_> = (0..4_u8).map(|index| bench.with_values(0, &[index; 8])).collect();
    let mut host = [[10_u8; 8], [11; 8], [12; 8]];
    let mut last = streams[0];
    for (stream, what, from, to) in steps {
        let stream = streams[*stream];
        bench.wait(last, stream);
        let mut at_host = |index: usize| host_end(host[index % 3].as_mut_ptr().cast());
        let (from, to) = match what {
            0 => (at_host(*from), end(0, spaces[*to])),
            1 => (end(0, spaces[*from]), at_host(*to)),
            _ if from == to => continue,
            _ => (end(0, spaces[*from]), end(0, spaces[*to])),
        };
        bench.copy(0, from, to, 8, stream).unwrap();
        last = stream;
    }
    bench.sync(0, last).unwrap();
    // Waiting for the last stream is waiting for all that it waited for.
    let host = host.to_vec();
    let found = spaces.iter().map(|data| bench.read(0, *data, 8, last)).collect();
    streams.into_iter().for_each(|stream| bench.free_stream(0, stream));
    spaces.into_iter().for_each(|data| bench.free(0, data));
    (found, host)
}

/// What the steps do one after the other.
pub(super) fn expected(steps: &[Step]) -> (Vec<Vec<u8>>, Vec<[u8; 8]>) {
    let mut spaces: Vec<Vec<u8>> = (0..4_u8).map(|index| vec![index; 8]).collect();
    let mut host = vec![[10_u8; 8], [11; 8], [12; 8]];
    for (_, what, from, to) in steps {
        match what {
            0 => spaces[*to] = host[from % 3].to_vec(),
            1 => host[to % 3].copy_from_slice(&spaces[*from]),
            _ => spaces[*to] = spaces[*from].clone(),
        }
    }
    (spaces, host)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// VK-D12, VK-D15, VK-D16 on queues that run as late and in as unlike an order as they may.
    #[test]
    fn vk_d15_programs_on_several_streams_run_in_the_order_of_their_waits(
        steps in prop::collection::vec((0..5_usize, 0..3_usize, 0..4_usize, 0..4_usize), 1..40),
        model in 0..3_usize,
    ) {
        let bench = Bench::over_fake(vec![all()[model].clone()]);
        prop_assert_eq!(run(&bench, &steps), expected(&steps));
        drop(bench);
        check_driver();
    }
}

/// The driver would show it: without a wait the other stream does not see the work.
#[test]
fn the_fake_driver_shows_a_wait_that_is_missing() {
    let bench = Bench::over_fake(vec![Model::gpu()]);
    let streams: Vec<_> = (0..4).map(|_| bench.stream(0)).collect();
    let (x, y, z) = (
        bench.with_values(0, &[1_u8; 4]),
        bench.with_values(0, &[2_u8; 4]),
        bench.with_values(0, &[3_u8; 4]),
    );
    let stale = streams.iter().filter(|first| {
        streams.iter().any(|second| {
            bench.write(0, y, &[2_u8; 4], Stream::DEFAULT);
            bench.sync(0, Stream::DEFAULT).unwrap();
            bench.copy(0, end(0, x), end(0, y), 4, **first).unwrap();
            bench.copy(0, end(0, y), end(0, z), 4, *second).unwrap();
            let found = bench.read::<u8>(0, z, 4, *second);
            bench.sync(0, **first).unwrap();
            found == [2; 4]
        })
    });
    assert_eq!(stale.count(), 4, "what is not waited for is not even submitted");
}
