//! Launches that are recorded into graphs (N.41 to N.48), through interface `launch` 1.

use chipdock_abi::{CHIPDOCK_DTYPE_FLOAT, CHIPDOCK_DTYPE_HANDLE};
use chipdock_raw_host::{Device, Graph, LaunchRequest, Launches, OrderChain, RECORD, Space, Stream};

use super::extended::refused_as;
use super::launch::{Scene, device_with, in_scene, text};
use crate::stop::{ensure, equal};
use crate::{Cases, Group, Stop, Subject, Verdict};

/// Number of elements that the kernel multiplies by two.
const LEN: usize = 64;

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, clause, body: fn(&Scene, &Launches<'_>) -> Verdict| {
        let draft =
            cases.case(Group::Module, format_args!("launch/recorded/{name}"), clause, Subject::Loader);
        draft.run(move |c| {
            if device_with(c, "graph")?.is_none() {
                c.not_run("its device API has no interface `graph` 1, which is optional");
                return Ok(());
            }
            in_scene(c, "graph", body)
        });
    };
    case("runs-nothing", "N.41", runs_nothing);
    case("refused", "N.43", refused);
    case("with-arguments", "N.45", with_arguments);
    case("several-queued", "N.47", several_queued);
    case("freed-with-replays", "N.48", freed);
}

/// A device, its default stream, and the kernel of the scene, which multiplies.
struct Doubling<'a> {
    scene: &'a Scene,
    launches: &'a Launches<'a>,
    device: &'a Device,
    stream: Stream<'a>,
    /// The argument that is the number of elements.
    length: usize,
}

impl<'a> Doubling<'a> {
    fn new(scene: &'a Scene, launches: &'a Launches<'a>) -> Verdict<Self> {
        let Some(device) = &scene.device else { return Err(Stop::suite("no device with graphs")) };
        let stream = device.default_stream(scene.request.device_id);
        let mut found = Self { scene, launches, device, stream, length: usize::MAX };
        // The index does not tell which of the integers is the length, another may be an offset:
        // the right one doubles.
        for length in 0..scene.kernel().args.len() {
            found.length = length;
            let space = found.ones()?;
            launches.launch(scene.entry(launches)?, &found.request(&space))?;
            found.stream.sync()?;
            if found.factor(&space)? == 2.0 {
                return Ok(found);
            }
        }
        Err(Stop::failed("a launch that doubles each element", "none, whichever argument is the length"))
    }

    fn ones(&self) -> Verdict<Space<'a>> {
        let bytes = 1_f32.to_ne_bytes().repeat(LEN);
        Ok(Space::with(self.device, self.scene.request.device_id, &bytes)?)
    }

    /// The value of all elements.
    fn factor(&self, space: &Space<'_>) -> Verdict<f32> {
        let bytes = space.contents()?;
        let (first, _) = bytes.split_first_chunk().ok_or_else(|| Stop::suite("no element"))?;
        ensure(
            bytes.chunks(4).all(|chunk| chunk == first),
            "elements that are all alike",
            format!("{:?}", &bytes[..16]),
        )?;
        Ok(f32::from_ne_bytes(*first))
    }

    fn is(&self, what: &str, space: &Space<'_>, expected: f32) -> Verdict {
        equal(what, &self.factor(space)?, &expected)
    }

    /// A launch that doubles the elements of a data space.
    fn request(&self, space: &Space<'_>) -> LaunchRequest {
        let mut request = self.scene.request.clone();
        for (index, (arg, dtype)) in request.args.iter_mut().zip(&self.scene.kernel().args).enumerate() {
            if dtype.code == CHIPDOCK_DTYPE_HANDLE {
                *arg = (space.data().expose_provenance() as u64).to_ne_bytes();
            } else if dtype.code == CHIPDOCK_DTYPE_FLOAT {
                arg[..4].copy_from_slice(&2_f32.to_ne_bytes());
            } else if index == self.length {
                *arg = (LEN as u64).to_ne_bytes();
            }
        }
        request
    }

    fn graph(&self, parameters: &[&Space<'_>]) -> Verdict<Graph<'a>> {
        let parameters: Vec<_> = parameters.iter().map(|space| space.data()).collect();
        Ok(self.device.create_graph(self.scene.request.device_id, &parameters)?)
    }

    fn record(&self, graph: &Graph<'_>, request: &LaunchRequest) -> Verdict {
        let entry = self.scene.entry(self.launches)?;
        let answer = self.launches.launch_ordered(entry, request, &self.stream, &graph.chain());
        answer.map_err(|error| Stop::failed("a launch that is recorded: success", text(&error)))
    }

    fn replay(&self, graph: &Graph<'_>, arguments: &[&Space<'_>]) -> Verdict {
        let arguments: Vec<_> = arguments.iter().map(|space| space.data()).collect();
        Ok(self.stream.replay(graph, &arguments)?)
    }
}

fn runs_nothing(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    let doubling = Doubling::new(scene, launches)?;
    let space = doubling.ones()?;
    let graph = doubling.graph(&[])?;
    let mut request = doubling.request(&space);
    doubling.record(&graph, &request)?;
    // Read when it was recorded: this changes nothing.
    request.args.iter_mut().for_each(|arg| *arg = [0; 8]);
    drop(request);
    doubling.stream.sync()?;
    doubling.is("an element after a launch was recorded", &space, 1.0)?;
    graph.finish()?;
    doubling.stream.sync()?;
    doubling.is("an element after `finish`", &space, 1.0)?;
    for expected in [2.0, 4.0] {
        doubling.replay(&graph, &[])?;
        doubling.stream.sync()?;
        doubling.is("an element after a replay", &space, expected)?;
    }
    Ok(())
}

fn refused(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    let doubling = Doubling::new(scene, launches)?;
    let space = doubling.ones()?;
    let graph = doubling.graph(&[])?;
    let right = doubling.request(&space);
    doubling.record(&graph, &right)?;
    let entry = scene.entry(launches)?;
    let launch = |request: &LaunchRequest, chain: &OrderChain| {
        launches.launch_ordered(entry, request, &doubling.stream, chain)
    };
    let fewer = LaunchRequest { args: Vec::new(), ..right.clone() };
    refused_as("launch", "TypeError", "0", launch(&fewer, &graph.chain()))?;
    let shared = LaunchRequest { dynamic_shared_bytes: 64, ..right.clone() };
    refused_as("launch", "ValueError", "64", launch(&shared, &graph.chain()))?;
    let twice = OrderChain::new(&[(RECORD, graph.raw(), 0), (RECORD, graph.raw(), 0)]);
    refused_as("launch", "ValueError", RECORD, launch(&right, &twice))?;
    let null = OrderChain::new(&[(RECORD, std::ptr::null_mut(), 0)]);
    refused_as("launch", "ValueError", "null", launch(&right, &null))?;
    // A launch of nothing adds nothing.
    doubling.record(&graph, &LaunchRequest { grid: [0; 3], ..right.clone() })?;
    graph.finish()?;
    refused_as("launch", "WrongState", "", launch(&right, &graph.chain()))?;
    let empty = LaunchRequest { grid: [0; 3], ..right.clone() };
    refused_as("launch", "WrongState", "", launch(&empty, &graph.chain()))?;
    doubling.stream.sync()?;
    doubling.is("an element before the replay", &space, 1.0)?;
    doubling.replay(&graph, &[])?;
    doubling.stream.sync()?;
    doubling.is("an element after the one launch that was right", &space, 2.0)?;
    scene.launches_still(launches)
}

/// Launches and copies in one graph, of a parameter and of a data space that is none.
fn with_arguments(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    let doubling = Doubling::new(scene, launches)?;
    let (parameter, fixed, argument) = (doubling.ones()?, doubling.ones()?, doubling.ones()?);
    let graph = doubling.graph(&[&parameter])?;
    doubling.record(&graph, &doubling.request(&parameter))?;
    // SAFETY: by D.6 and N.48, the data spaces live until the sync.
    unsafe { graph.copy(parameter.end(0), fixed.end(0), 4 * LEN as u64) }?;
    doubling.record(&graph, &doubling.request(&fixed))?;
    doubling.record(&graph, &doubling.request(&parameter))?;
    graph.finish()?;
    for round in 1..=3 {
        doubling.replay(&graph, &[&argument])?;
        doubling.stream.sync()?;
        let after = 4_f32.powi(round);
        doubling.is("an element of the argument", &argument, after)?;
        doubling.is("an element of what is no parameter", &fixed, after)?;
        doubling.is("an element of the parameter", &parameter, 1.0)?;
    }
    doubling.replay(&graph, &[&parameter])?;
    doubling.stream.sync()?;
    doubling.is("an element of the parameter, as an argument", &parameter, 4.0)?;
    doubling.is("an element of the argument of before", &argument, 64.0)
}

fn several_queued(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    let doubling = Doubling::new(scene, launches)?;
    let spaces = (0..20).map(|_| doubling.ones()).collect::<Verdict<Vec<_>>>()?;
    let graph = doubling.graph(&[&spaces[0]])?;
    for _ in 0..3 {
        doubling.record(&graph, &doubling.request(&spaces[0]))?;
    }
    graph.finish()?;
    // Each data space in one round, the even ones in another before.
    for index in (0..20).step_by(2).chain(0..20) {
        doubling.replay(&graph, &[&spaces[index]])?;
    }
    doubling.stream.sync()?;
    for (index, space) in spaces.iter().enumerate() {
        let expected = if index % 2 == 0 { 64.0 } else { 8.0 };
        doubling.is(&format!("an element of argument {index}"), space, expected)?;
    }
    Ok(())
}

fn freed(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    let doubling = Doubling::new(scene, launches)?;
    let (space, other) = (doubling.ones()?, doubling.ones()?);
    let graph = doubling.graph(&[&space])?;
    for _ in 0..100 {
        doubling.record(&graph, &doubling.request(&space))?;
    }
    graph.finish()?;
    doubling.replay(&graph, &[&space])?;
    doubling.replay(&graph, &[&other])?;
    graph.free()?;
    doubling.stream.sync()?;
    doubling.is("an element of the first argument", &space, 2_f32.powi(100))?;
    doubling.is("an element of the second argument", &other, 2_f32.powi(100))
}
