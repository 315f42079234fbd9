//! Tests of streams: order within one and between two, whatever the device has for it, and work
//! that fails.

use std::sync::Arc;
use std::time::Instant;

use ash::vk;
use chipdock_plugin_api::timer::Timer;
use chipdock_plugin_api::{DataSpaceKind, DeviceApi, ErrorKind, Stream};

use super::support::{Bench, end, host_end};
use crate::device::{DEPTH, Work};
use crate::timer::VulkanTimer;

/// Bytes that differ from place to place.
fn noise(size_bytes: usize, seed: usize) -> Vec<u8> {
    (0..size_bytes).map(|index| ((index * 31 + seed) ^ (index >> 9)) as u8).collect()
}

/// D.33 to D.36: longer than the staging memory, at places and of sizes that are no words.
#[test]
fn copies_are_right_at_any_size_and_place() {
    for bench in Bench::each() {
        for (size, offset) in [(1, 0), (3, 5), (4096, 1), ((4 << 20) + 1, 3), ((21 << 20) + 7, 2)] {
            let (bytes, all) = (noise(size, offset), size + offset + 9);
            let (x, y) = (bench.with_values(0, &noise(all, 1)), bench.with_values(0, &noise(all, 2)));
            let mut at_x = end(0, x);
            at_x.offset_bytes = offset as u64;
            let mut at_y = end(0, y);
            at_y.offset_bytes = offset as u64 + 1;
            let mut found = vec![0_u8; size];
            let (from, to) =
                (host_end(bytes.as_ptr().cast_mut().cast()), host_end(found.as_mut_ptr().cast()));
            for (from, to) in [(from, at_x), (at_x, at_y), (at_y, to)] {
                bench.copy(0, from, to, size, Stream::DEFAULT).unwrap();
            }
            bench.sync(0, Stream::DEFAULT).unwrap();
            assert!(found == bytes, "{size} bytes at {offset}");
            let mut expected = noise(all, 2);
            expected[offset + 1..offset + 1 + size].copy_from_slice(&bytes);
            assert!(bench.read::<u8>(0, y, all, Stream::DEFAULT) == expected, "{size} bytes at {offset}");
            bench.free(0, x);
            bench.free(0, y);
        }
        assert_eq!(bench.messages(), 0);
    }
}

/// VK-D12: each command sees the one before it; batches of every depth.
#[test]
pub(super) fn vk_d12_work_on_one_stream_runs_in_order() {
    for bench in Bench::each() {
        let spaces: Vec<_> = (0..5).map(|index| bench.with_values(0, &[index as u8; 300])).collect();
        for count in [1, DEPTH - 1, DEPTH, 3 * DEPTH + 1] {
            bench.write(0, spaces[0], &[count as u8; 300], Stream::DEFAULT);
            for step in 0..count {
                let (from, to) = (spaces[step % 5], spaces[(step + 1) % 5]);
                bench.copy(0, end(0, from), end(0, to), 300, Stream::DEFAULT).unwrap();
            }
            let found = bench.read::<u8>(0, spaces[count % 5], 300, Stream::DEFAULT);
            assert_eq!(found, [count as u8; 300]);
        }
        assert_eq!(bench.messages(), 0);
    }
}

/// VK-D13: nothing is submitted until something needs it, or the batch is deep.
#[test]
fn vk_d13_a_batch_is_submitted_at_its_depth() {
    let Some(bench) = Bench::new() else { return };
    let (x, y) = (bench.with_values(0, &[1_u8; 64]), bench.with_values(0, &[2_u8; 64]));
    let queue = bench.hardware.device(0).unwrap().stream(0).unwrap();
    let before = queue.submissions();
    let copies = |count| {
        for _ in 0..count {
            bench.copy(0, end(0, x), end(0, y), 64, Stream::DEFAULT).unwrap();
        }
        queue.submissions() - before
    };
    assert_eq!(copies(DEPTH - 1), 0);
    assert_eq!(copies(1), 1);
    assert_eq!(copies(1), 1);
    bench.sync(0, Stream::DEFAULT).unwrap();
    assert_eq!(copies(0), 2);
    bench.sync(0, Stream::DEFAULT).unwrap();
    assert_eq!(copies(0), 2);
}

/// VK-D15, VK-D16: another stream sees work for which it waits, and host memory that a copy has
/// still to write.
#[test]
pub(super) fn vk_d15_a_stream_waits_for_another() {
    for bench in Bench::each() {
        let (a, b, c) = (bench.stream(0), bench.stream(0), bench.stream(0));
        let (x, y, z) = (
            bench.with_values(0, &[0_u8; 99]),
            bench.with_values(0, &[0_u8; 99]),
            bench.with_values(0, &[0_u8; 99]),
        );
        for round in 1..20_u8 {
            let (bytes, mut host) = ([round; 99], [0_u8; 99]);
            let by_host = host_end(host.as_mut_ptr().cast());
            bench.write(0, x, &bytes, a);
            bench.copy(0, end(0, x), end(0, y), 99, a).unwrap();
            bench.wait(a, b);
            bench.copy(0, end(0, y), by_host, 99, b).unwrap();
            bench.wait(b, c);
            bench.copy(0, by_host, end(0, z), 99, c).unwrap();
            // A cycle of waits ends (D.16).
            bench.wait(c, a);
            bench.wait(a, c);
            assert_eq!(bench.read::<u8>(0, z, 99, c), [round; 99]);
            assert_eq!(host, [round; 99], "waiting for the last stream is waiting for all that it waits for");
            bench.sync(0, a).unwrap();
        }
        for stream in [a, b, c] {
            bench.free_stream(0, stream);
        }
        assert_eq!(bench.messages(), 0);
    }
}

/// VK-D14: streams that waited for each other are freed as soon as the last has ended.
#[test]
pub(super) fn vk_d14_streams_are_freed_right_after_a_wait_for_them() {
    for bench in Bench::each() {
        let spaces: Vec<_> = (0..9).map(|index| bench.with_values(0, &[index as u8; 1 << 16])).collect();
        for _ in 0..50 {
            let streams: Vec<_> = (0..8).map(|_| bench.stream(0)).collect();
            for (index, stream) in streams.iter().enumerate() {
                bench.copy(0, end(0, spaces[index]), end(0, spaces[index + 1]), 1 << 16, *stream).unwrap();
                if let Some(next) = streams.get(index + 1) {
                    bench.wait(*stream, *next);
                }
            }
            bench.sync(0, streams[7]).unwrap();
            streams.into_iter().rev().for_each(|stream| bench.free_stream(0, stream));
        }
        assert_eq!(bench.read::<u8>(0, spaces[8], 1 << 16, Stream::DEFAULT), [0; 1 << 16]);
        assert_eq!(bench.messages(), 0);
    }
}

/// VK-D16: copies to one place in host memory are made in their order, also on two streams and back
/// again.
#[test]
pub(super) fn vk_d16_host_memory_is_written_in_order() {
    for bench in Bench::each() {
        let (a, b) = (bench.stream(0), bench.stream(0));
        let (x, y) = (bench.with_values(0, &[1_u8; 70]), bench.with_values(0, &[2_u8; 70]));
        let mut host = [0_u8; 70];
        let by_host = host_end(host.as_mut_ptr().cast());
        bench.copy(0, end(0, x), by_host, 70, a).unwrap();
        bench.wait(a, b);
        bench.copy(0, end(0, y), by_host, 70, b).unwrap();
        bench.sync(0, b).unwrap();
        bench.sync(0, a).unwrap();
        assert_eq!(host, [2; 70]);
        bench.copy(0, end(0, x), by_host, 70, a).unwrap();
        bench.wait(a, b);
        bench.copy(0, end(0, x), end(0, y), 70, b).unwrap();
        bench.sync(0, b).unwrap();
        assert_eq!(host, [1; 70], "waiting for a stream is waiting for what it waited for");
        bench.copy(0, end(0, x), by_host, 70, a).unwrap();
        bench.copy(0, by_host, end(0, y), 70, a).unwrap();
        assert_eq!(bench.read::<u8>(0, y, 70, a), [1; 70]);
    }
}

/// VK-D11: memory is freed once the work that uses it has ended, and the next data space does not
/// disturb it.
#[test]
fn vk_d11_work_keeps_the_memory_that_it_uses() {
    for bench in Bench::each() {
        let y = bench.with_values(0, &[0_u8; 5000]);
        for round in 0..50 {
            let x = bench.with_values(0, &[round as u8; 5000]);
            bench.copy(0, end(0, x), end(0, y), 5000, Stream::DEFAULT).unwrap();
            bench.free(0, x);
            let other = bench.with_values(0, &[0xff_u8; 5000]);
            assert_eq!(bench.read::<u8>(0, y, 5000, Stream::DEFAULT), [round as u8; 5000]);
            bench.free(0, other);
        }
        assert_eq!(bench.messages(), 0);
    }
}

/// P7.5, I.1.
#[test]
fn work_that_fails_later_is_named_once() {
    for bench in Bench::each() {
        let (x, bytes) = (bench.with_values(0, &[0_u8; 64]), [7_u8; 64]);
        bench.hardware.device(0).unwrap().health.fail_next_copy();
        let from = host_end(bytes.as_ptr().cast_mut().cast());
        bench.copy(0, from, end(0, x), 33, Stream::DEFAULT).unwrap();
        let error = bench.sync(0, Stream::DEFAULT).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IO);
        assert!(error.message().contains("the copy of 33 bytes failed after it was queued"), "{error}");
        bench.sync(0, Stream::DEFAULT).unwrap();
        assert_eq!(bench.read::<u8>(0, x, 1, Stream::DEFAULT), [0]);
    }
}

/// VK-D20: what the layer finds fails the next wait, once: a hazard between two commands without a
/// barrier.
#[test]
fn vk_d20_a_message_of_the_layer_fails_the_next_wait() {
    let Some(bench) = Bench::new() else { return };
    let device = bench.hardware.device(0).unwrap();
    let (x, y) = (bench.with_values(0, &[0_u8; 64]), bench.with_values(0, &[0_u8; 64]));
    let space = |data: *mut std::ffi::c_void| device.spaces.find(data.addr(), "x").unwrap().value;
    let (from, to) = (space(x), space(y));
    let queue = device.stream(0).unwrap();
    let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 64 };
    let work = Work::Copy { size_bytes: 64 };
    let copied = queue.record(work, vec![Arc::clone(&from) as _, Arc::clone(&to) as _], |recorded| {
        for _ in 0..2 {
            // SAFETY: a command buffer that is recorded and two live buffers; the hazard is the
            // test's.
            unsafe {
                let (from, to) = (from.buffer().0, to.buffer().0);
                queue.gpu().raw().cmd_copy_buffer(recorded.commands, from, to, &[region]);
            }
        }
        Ok(())
    });
    copied.unwrap();
    let error = bench.sync(0, Stream::DEFAULT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::INTERNAL);
    assert!(error.message().contains("SYNC-HAZARD-WRITE-AFTER-WRITE"), "{error}");
    assert!(bench.messages() > 0);
    bench.sync(0, Stream::DEFAULT).unwrap();
}

/// N.1 to N.8.
#[test]
pub(super) fn vk_d19_marks_tell_the_time_of_the_work_between_them() {
    for bench in Bench::each() {
        let timer = VulkanTimer(Arc::clone(&bench.hardware));
        let (x, y) = (bench.allocate(0, 32 << 20), bench.allocate(0, 32 << 20));
        let (a, b) = (bench.stream(0), bench.stream(0));
        let began = Instant::now();
        // SAFETY: streams and marks of this test, all live.
        let mark = |stream| unsafe { timer.mark(0, stream) }.unwrap();
        let elapsed = |from, to| {
            // SAFETY: the same.
            unsafe { timer.elapsed(0, from, to) }.unwrap()
        };
        let first = mark(a);
        for _ in 0..4 {
            bench.copy(0, end(0, x), end(0, y), 32 << 20, a).unwrap();
        }
        let second = mark(a);
        bench.wait(a, b);
        let third = mark(b);
        let found = elapsed(first, second);
        let passed = began.elapsed().as_nanos() as f64;
        // 128 MiB take longer than a microsecond, and no longer than passed.
        assert!(found > 1e3 && found <= passed * 1.01 + 1e5, "{found} of {passed}");
        assert!(elapsed(second, third) >= 0.0);
        assert_eq!(elapsed(second, first), -found);
        assert_eq!(elapsed(first, first), 0.0);
        bench.free_stream(0, a);
        bench.free_stream(0, b);
        assert_eq!(elapsed(first, second), found);
        for mark in [first, second, third] {
            // SAFETY: freed once.
            unsafe { timer.free_mark(0, mark) }.unwrap();
        }
        // SAFETY: a handle that is not live, which this device checks.
        let error = unsafe { timer.elapsed(0, first, second) }.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WRONG_STATE);
        assert_eq!(bench.messages(), 0);
    }
}

/// D.39, and for two drivers `absent` calls it.
pub(super) fn copies_between(bench: &Bench, from: i32, to: i32) {
    let bytes = noise((17 << 20) + 3, 5);
    let (x, y) = (bench.with_values(from, &bytes), bench.with_values(to, &vec![0_u8; bytes.len()]));
    let stream = bench.stream(from);
    bench.copy(from, end(from, x), end(to, y), bytes.len(), stream).unwrap();
    bench.sync(from, stream).unwrap();
    assert!(bench.read::<u8>(to, y, bytes.len(), Stream::DEFAULT) == bytes);
    assert_eq!(bench.messages(), 0);
}

/// P10.4: two hosts in one process share nothing, handles included.
#[test]
fn hosts_do_not_know_each_others_handles() {
    let (Some(one), Some(other)) = (Bench::new(), Bench::new()) else { return };
    let (x, stream) = (one.with_values(0, &[1_u8; 8]), one.stream(0));
    let mut bytes = [0_u8; 8];
    let to = host_end(bytes.as_mut_ptr().cast());
    let error = other.copy(0, end(0, x), to, 8, Stream::DEFAULT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WRONG_STATE);
    assert_eq!(other.sync(0, stream).unwrap_err().kind(), ErrorKind::WRONG_STATE);
    other.api.shutdown().unwrap();
    drop(other);
    assert_eq!(one.read::<u8>(0, x, 8, stream), [1; 8]);
}

/// VK-D13: what is queued without a wait takes no more and no more memory.
#[test]
fn vk_d13_ten_thousand_commands_take_a_bounded_number_of_command_buffers() {
    for bench in Bench::each() {
        let (x, y) = (bench.with_values(0, &[1_u8; 64]), bench.with_values(0, &[2_u8; 64]));
        let pinned = bench.allocate_kind(0, 64, DataSpaceKind::Pinned).unwrap();
        for step in 0..10_000 {
            let to = if step % 2 == 0 { y } else { pinned };
            bench.copy(0, end(0, x), end(0, to), 64, Stream::DEFAULT).unwrap();
        }
        let queue = bench.hardware.device(0).unwrap().stream(0).unwrap();
        bench.sync(0, Stream::DEFAULT).unwrap();
        assert!(queue.command_buffers() <= 35, "{}", queue.command_buffers());
    }
}
