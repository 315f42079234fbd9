//! Interface `graph` 1: copies that are recorded once, and replayed with other data spaces (N.40 to
//! N.49). Launches that are recorded are cases of group `module`.

mod handles;
mod recording;
mod replays;

use std::ffi::c_void;

use chipdock_raw_host::{Device, Graph, Space};

use super::inject::{Hooks, Scene, is_failure};
use super::play::same;
use crate::stop::refused;
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

type Body = fn(&Device) -> Verdict;

/// Size of the data spaces of most cases.
const SIZE: u64 = 1000;

pub(super) fn add(cases: &mut Cases) {
    let mut graph = |name: &str, clause: &'static str, profile: &'static [Profile], body: Body| {
        let draft = cases.case(Group::Stream, format!("graph/{name}"), clause, Subject::DeviceApi);
        let draft = draft.profile([Profile::Graph]).profile(profile.iter().copied());
        draft.run(move |c| with_graphs(c, profile).and_then(|device| body(&device)));
    };
    recording::add(&mut graph);
    replays::add(&mut graph);
    handles::add(&mut graph);
}

/// Returns the device, if its plugin has the interface.
fn with_graphs(c: &Context, profile: &[Profile]) -> Verdict<Device> {
    let is_of_several = profile.contains(&Profile::SeveralDevices);
    let device = if is_of_several { c.several_devices() } else { c.device() }?;
    has_graphs(&device)?;
    Ok(device)
}

fn has_graphs(device: &Device) -> Verdict {
    match device.has("graph") {
        true => Ok(()),
        false => Err(Stop::Unsupported(format!("device_api.{} has no interface `graph` 1", device.name))),
    }
}

/// A data space of [`SIZE`] equal bytes.
fn filled(device: &Device, byte: u8) -> Verdict<Space<'_>> {
    Ok(Space::with(device, 0, &[byte; SIZE as usize])?)
}

/// Checks that all bytes of a data space are equal to that one.
fn holds(what: &str, space: &Space<'_>, byte: u8) -> Verdict {
    let found = space.contents()?;
    same(what, usize::from(byte), &found, &vec![byte; found.len()])
}

/// Returns the handles of data spaces.
fn handles(spaces: &[&Space<'_>]) -> Vec<*mut c_void> {
    spaces.iter().map(|space| space.data()).collect()
}

/// Records a copy of [`SIZE`] bytes.
///
/// The caller frees the data spaces after the last replay.
fn record(graph: &Graph<'_>, from: &Space<'_>, to: &Space<'_>) -> Verdict {
    // SAFETY: by D.6 and N.48, as this function requires.
    Ok(unsafe { graph.copy(from.end(0), to.end(0), SIZE) }?)
}

/// Checks that a failure is reported once, by the replay, which does nothing then, or by the
/// stream's next report.
pub(super) fn failure_before_a_replay(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    has_graphs(&device)?;
    let stream = device.default_stream(0);
    for waits in [true, false, true] {
        let (from, to) = (filled(&device, 1)?, filled(&device, 2)?);
        let mut scene = Scene::new(&device, &stream)?;
        let graph = device.create_graph(0, &handles(&[&to]))?;
        record(&graph, &from, &to)?;
        graph.finish()?;
        hooks.fail_next_copy()?;
        scene.copy(1001)?;
        if waits {
            // The failure is known before the replay.
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let replayed = stream.replay(&graph, &handles(&[&to]));
        if replayed.is_err() {
            is_failure("replay after a copy that failed", replayed, 1001)?;
            stream.sync()?;
            holds("the destination after a replay that was refused", &to, 2)?;
            stream.replay(&graph, &handles(&[&to]))?;
            stream.sync()?;
        } else {
            is_failure("sync_stream after a replay", stream.sync(), 1001)?;
        }
        holds("the destination of the replay", &to, 1)?;
        scene.works()?;
    }
    Ok(())
}

pub(super) fn graphs_of_lost(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    has_graphs(&device)?;
    let stream = device.default_stream(0);
    let (from, to) = (filled(&device, 1)?, filled(&device, 2)?);
    let (graph, other) = (device.create_graph(0, &[])?, device.create_graph(0, &[])?);
    record(&graph, &from, &to)?;
    graph.finish()?;
    hooks.lose()?;
    let gone = &["DeviceLost"];
    refused("create on a lost device", device.create_graph(0, &[]).map(drop), gone)?;
    // SAFETY: by D.6 and N.48: it is refused, or never replayed.
    let recorded = unsafe { other.copy(from.end(0), to.end(0), SIZE) };
    refused("a copy that is recorded on a lost device", recorded, gone)?;
    refused("finish on a lost device", other.finish(), gone)?;
    refused("replay on a lost device", stream.replay(&graph, &[]), gone)?;
    hooks.reopen()?;
    graph.free().and(other.free()).map_err(|error| {
        Stop::failed("graphs that were made before may be freed", error.message()).clause("D.40")
    })?;
    let (from, to) = (filled(&device, 3)?, filled(&device, 4)?);
    let graph = device.create_graph(0, &[])?;
    record(&graph, &from, &to)?;
    graph.finish()?;
    stream.replay(&graph, &[])?;
    stream.sync()?;
    holds("the destination after the device was opened again", &to, 3)
}
