//! Tests of interface `graph` 1 of the plugin `cuda`: launches that are recorded, as nodes of the
//! driver's graphs.

use std::ffi::c_void;

use chipdock_host::artifact::Artifact;
use chipdock_ir::attr::{COOPERATIVE_LAUNCH as COOPERATIVE, DYNAMIC_SHARED_MEMORY as DYNAMIC_SHARED};
use chipdock_raw_host::{
    Device, Environment, Graph, LaunchRequest, Launches, Loader, Plugin, RawArtifact, RawHost, RawSection,
    Space,
};

use crate::common::{AXES, fake, recorder};

/// Words of a recorder's space.
const WORDS: usize = 16;

struct Scene {
    device: Device,
    loader: Loader,
}

fn scene() -> Scene {
    let plugin = Plugin::open(&fake().plugin(), RawHost::leak()).map_err(|_| "no plugin").expect("opened");
    let device = plugin.devices().into_iter().next().expect("a device API");
    Scene { device, loader: Loader::find(&plugin, "cuda").expect("a loader") }
}

fn raw(artifact: &Artifact) -> RawArtifact {
    let sections = artifact.sections().iter().map(|section| RawSection {
        name: section.name().into(),
        kind: section.kind().into(),
        alignment_bytes: section.alignment_bytes(),
        data: section.data().to_vec(),
    });
    let index_json = artifact.index_json().into();
    RawArtifact { index_json, sections: sections.collect(), extensions: Vec::new() }
}

/// A launch of the recorder to a data space.
fn request(space: &Space<'_>, grid: [u64; 3], dynamic_shared_bytes: u64) -> LaunchRequest {
    let address = space.data().expose_provenance() as u64;
    let values = [address, u64::from(-2_i32 as u32), u64::from(1.5_f32.to_bits()), 255];
    LaunchRequest {
        device_id: 0,
        flags: 0,
        grid,
        block: [32, 4, 2],
        dynamic_shared_bytes,
        args: values.map(u64::to_le_bytes).to_vec(),
        extensions: Vec::new(),
    }
}

fn record(launches: &Launches<'_>, graph: &Graph<'_>, device: &Device, request: &LaunchRequest) {
    let entry = launches.entry(b"f_kernel").expect("there");
    launches.launch_ordered(entry, request, &device.default_stream(0), &graph.chain()).expect("recorded");
}

fn words(space: &Space<'_>) -> Vec<u64> {
    let bytes = space.contents().expect("read");
    bytes.chunks(8).map(|chunk| u64::from_le_bytes(chunk.try_into().expect("eight"))).collect()
}

fn space(device: &Device) -> Space<'_> {
    Space::with(device, 0, &[0; 8 * WORDS]).expect("memory")
}

fn handles(spaces: &[&Space<'_>]) -> Vec<*mut c_void> {
    spaces.iter().map(|space| space.data()).collect()
}

/// What the recorder writes where it is launched to that space.
fn launched(space: &Space<'_>, grid: [u64; 3], shared: u64, is_cooperative: bool) -> Vec<u64> {
    let mut words = [&grid[..], &[32, 4, 2, shared, u64::from(is_cooperative), 0]].concat();
    words.extend([space.data().addr() as u64, u64::from(-2_i32 as u32), u64::from(1.5_f32.to_bits()), 255]);
    words.resize(WORDS, 0);
    words
}

#[test]
fn n_45_recorded_launches_arrive_with_the_arguments_of_each_replay() {
    let Scene { device, loader } = scene();
    let artifact = raw(&recorder(&[&AXES[..], &[DYNAMIC_SHARED]].concat()));
    let module = loader.load(&artifact, Environment::Working).expect("loads");
    let launches = module.launches().expect("asked").expect("launch 1");
    let [parameter, fixed, one, other, copied] = [(); 5].map(|()| space(&device));
    let (near, far) = ([7, 5, 3], [2, 1, 1]);
    let graph = device.create_graph(0, &handles(&[&parameter])).expect("a graph");
    record(&launches, &graph, &device, &request(&parameter, near, 640));
    record(&launches, &graph, &device, &request(&fixed, far, 0));
    // SAFETY: by D.6 and N.48, the data spaces live until the last sync.
    unsafe { graph.copy(parameter.end(0), copied.end(0), 8 * WORDS as u64) }.expect("recorded");
    graph.finish().expect("finished");
    let stream = device.default_stream(0);
    for argument in [&one, &other, &one, &parameter] {
        argument.write(0, &[0; 8 * WORDS]).expect("cleared");
        fixed.write(0, &[0; 8 * WORDS]).expect("cleared");
        stream.replay(&graph, &handles(&[argument])).expect("replayed");
        stream.sync().expect("done");
        assert_eq!(words(argument), launched(argument, near, 640, false));
        assert_eq!(words(&fixed), launched(&fixed, far, 0, false));
        assert_eq!(words(&copied), words(argument), "the copy after the launch");
        let is_parameter = argument.data() == parameter.data();
        assert!(is_parameter || words(&parameter) == [0; WORDS], "the parameter is not used");
    }
}

#[test]
fn n_43_recorded_launches_are_checked_and_cooperative_ones_stay_so() {
    let Scene { device, loader } = scene();
    let artifact = raw(&recorder(&[&AXES[..], &[COOPERATIVE]].concat()));
    let module = loader.load(&artifact, Environment::Working).expect("loads");
    let launches = module.launches().expect("asked").expect("launch 1");
    let (parameter, argument) = (space(&device), space(&device));
    let graph = device.create_graph(0, &handles(&[&parameter])).expect("a graph");
    let entry = launches.entry(b"f_kernel").expect("there");
    let stream = device.default_stream(0);
    for (grid, block) in [([1, 1 << 20, 1], [1, 1, 1]), ([1, 1, 1], [1024, 2, 1])] {
        let wrong = LaunchRequest { grid, block, ..request(&parameter, grid, 0) };
        let refused = launches.launch_ordered(entry, &wrong, &stream, &graph.chain()).expect_err("too large");
        assert_eq!(refused.kind().as_str(), "ValueError", "N.43");
    }
    record(&launches, &graph, &device, &request(&parameter, [4, 1, 1], 0));
    graph.finish().expect("finished");
    for argument in [&parameter, &argument] {
        stream.replay(&graph, &handles(&[argument])).expect("replayed");
        stream.sync().expect("done");
        assert_eq!(words(argument), launched(argument, [4, 1, 1], 0, true));
    }
}

/// Calls of the driver in a replay of so many launches with the arguments of the one before.
fn calls_of_a_replay(scene: &Scene, launches: &Launches<'_>, count: usize) -> u64 {
    let (device, parameter) = (&scene.device, space(&scene.device));
    let graph = device.create_graph(0, &handles(&[&parameter])).expect("a graph");
    for _ in 0..count {
        record(launches, &graph, device, &request(&parameter, [1; 3], 0));
    }
    graph.finish().expect("finished");
    let stream = device.default_stream(0);
    stream.replay(&graph, &handles(&[&parameter])).expect("replayed");
    let before = fake().counts().calls;
    stream.replay(&graph, &handles(&[&parameter])).expect("replayed");
    let calls = fake().counts().calls - before;
    stream.sync().expect("done");
    calls
}

#[test]
fn n_47_a_replay_with_the_arguments_of_the_one_before_is_one_launch_however_long() {
    let scene = scene();
    let artifact = raw(&recorder(&AXES));
    let module = scene.loader.load(&artifact, Environment::Working).expect("loads");
    let launches = module.launches().expect("asked").expect("launch 1");
    let calls = [1, 100].map(|count| calls_of_a_replay(&scene, &launches, count));
    assert_eq!(calls[0], calls[1], "calls of the driver");
}
