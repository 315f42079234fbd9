//! Tests of graphs: what a replay submits, and what it keeps (VK-D22).

use chipdock_plugin_api::graph::Graphs;
use chipdock_plugin_api::kit::GraphTable;
use chipdock_plugin_api::{CopyRequest, Stream};

use super::support::{Bench, end};
use crate::device::{DEPTH, Hardware};

/// Bytes of a data space.
const SIZE: usize = 4096;

#[test]
fn vk_d22_a_replay_is_one_batch_and_each_copy_sees_the_one_before() {
    for bench in Bench::each() {
        let [first, second, third, argument] =
            [1_u8, 2, 3, 4].map(|byte| bench.with_values(0, &[byte; SIZE]));
        let stream = bench.stream(0);
        let queue = bench.hardware.device(0).unwrap().stream(stream.into_raw().addr()).unwrap();
        let graph = bench.hardware.create(0, &[first]).unwrap();
        // SAFETY: D.6 and N.48, the data spaces are freed after the last sync.
        unsafe {
            for _ in 0..DEPTH {
                for (from, to) in [(first, second), (second, third)] {
                    let copy = CopyRequest::new(end(0, from), end(0, to), SIZE as u64);
                    bench.hardware.record_copy(0, graph, Some(&copy)).unwrap();
                }
            }
            bench.hardware.finish(0, graph).unwrap();
            for (data, byte) in [(argument, 4_u8), (first, 1)] {
                let before = queue.submissions();
                Graphs::replay(&bench.hardware, 0, graph, stream, &[data]).unwrap();
                assert_eq!(queue.submissions() - before, 1, "one batch");
                bench.sync(0, stream).unwrap();
                assert_eq!(bench.read::<u8>(0, third, SIZE, Stream::DEFAULT), [byte; SIZE]);
            }
            bench.hardware.free(0, graph).unwrap();
        }
        assert_eq!(bench.messages(), 0);
        for data in [first, second, third, argument] {
            bench.free(0, data);
        }
        bench.free_stream(0, stream);
    }
}

#[test]
fn vk_d22_a_graph_keeps_no_data_space() {
    let Some(bench) = Bench::new() else { return };
    let (from, to) = (bench.with_values(0, &[1_u8; SIZE]), bench.with_values(0, &[2_u8; SIZE]));
    let device = bench.hardware.device(0).unwrap();
    let graph = bench.hardware.create(0, &[]).unwrap();
    let copy = CopyRequest::new(end(0, from), end(0, to), SIZE as u64);
    // SAFETY: D.6 and N.48, the data spaces are freed after the sync, and it is not replayed then.
    unsafe {
        bench.hardware.record_copy(0, graph, Some(&copy)).unwrap();
        bench.hardware.finish(0, graph).unwrap();
        Graphs::replay(&bench.hardware, 0, graph, Stream::DEFAULT, &[]).unwrap();
    }
    bench.sync(0, Stream::DEFAULT).unwrap();
    let before = device.budget.available_bytes();
    bench.free(0, from);
    bench.free(0, to);
    assert!(device.budget.available_bytes() >= before + 2 * SIZE as u64, "what was freed is free");
    // SAFETY: freed once.
    unsafe { bench.hardware.free(0, graph) }.unwrap();
}

/// The table is empty after a shutdown: modules that were recorded keep the devices.
#[test]
fn vk_d22_shutdown_lets_go_of_graphs() {
    let Some(bench) = Bench::new() else { return };
    let graph = bench.hardware.create(0, &[]).unwrap();
    let table: &GraphTable<Hardware> = &bench.hardware.device(0).unwrap().graphs;
    bench.hardware.shut_down().unwrap();
    assert!(table.is_gone(graph), "no graph is live");
}
