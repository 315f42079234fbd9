//! Making graphs, and recording copies into them.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::CHIPDOCK_DATA_SPACE_PINNED;
use chipdock_raw_host::{Device, Graph, OrderChain, RECORD, SIGNAL, WAIT, host_end};

use super::super::timer::does_not_wait;
use super::{Body, SIZE, filled, handles, holds, record};
use crate::stop::{ensure, equal, refused};
use crate::{Profile, Verdict};

pub(super) fn add(graph: &mut impl FnMut(&str, &'static str, &'static [Profile], Body)) {
    let several = &[Profile::SeveralStreams];
    let checked = &[Profile::CheckedHandles];
    graph("handles-differ", "N.40", &[], handles_differ);
    graph("parameters/null", "N.40", &[], null_parameter);
    graph("parameters/twice", "N.40", &[], parameter_twice);
    graph("parameters/freed", "N.40", checked, freed_parameter);
    graph("parameters/many", "N.40", &[], many_parameters);
    graph("recording-runs-nothing", "N.41", &[], runs_nothing);
    graph("exact-entry", "N.41", &[], exact_entry);
    graph("pinned-ends", "N.42", &[Profile::Pinned], pinned);
    graph("copy-of-size-0", "N.42", &[], copy_of_nothing);
    graph("chains-that-are-refused", "N.43", &[], chains_refused);
    graph("chains-with-timelines", "N.43", &[Profile::Timeline], with_timelines);
    graph("copies-that-are-refused", "N.43", checked, copies_refused);
    graph("finished/recorded-into", "N.44", &[], finished);
    graph("finished/twice", "N.44", &[], finished_twice);
    graph("replayed-before-finish", "N.44", &[], before_finish);
    graph("empty", "N.44", &[], empty);
    graph("finish-does-not-wait", "N.44", several, finish_does_not_wait);
}

fn handles_differ(device: &Device) -> Verdict {
    let graphs = (0..100).map(|_| device.create_graph(0, &[])).collect::<Result<Vec<_>, _>>()?;
    let mut raw: Vec<_> = graphs.iter().map(Graph::raw).collect();
    ensure(raw.iter().all(|graph| !graph.is_null()), "graphs that are not null", "null")?;
    raw.sort_unstable();
    raw.dedup();
    equal("how many handles there are of 100 graphs", &raw.len(), &100)
}

fn refused_parameters(device: &Device, what: &str, parameters: &[*mut c_void], kinds: &[&str]) -> Verdict {
    refused(&format!("create with {what}"), device.create_graph(0, parameters).map(drop), kinds)
}

fn null_parameter(device: &Device) -> Verdict {
    let space = filled(device, 1)?;
    for parameters in [vec![ptr::null_mut()], vec![space.data(), ptr::null_mut()]] {
        refused_parameters(device, "a null parameter", &parameters, &["ValueError"])?;
    }
    Ok(())
}

fn parameter_twice(device: &Device) -> Verdict {
    let (one, other) = (filled(device, 1)?, filled(device, 2)?);
    for parameters in [[&one, &one, &other], [&other, &one, &one], [&one, &other, &one]] {
        refused_parameters(device, "a parameter twice", &handles(&parameters), &["ValueError"])?;
    }
    device.create_graph(0, &handles(&[&one, &other])).map(drop)?;
    Ok(())
}

fn freed_parameter(device: &Device) -> Verdict {
    let (space, other) = (filled(device, 1)?, filled(device, 2)?);
    let raw = space.data();
    space.free()?;
    let kinds = &["WrongState", "ValueError"];
    refused_parameters(device, "a parameter that was freed", &[other.data(), raw], kinds)
}

/// Replays a copy from each of many parameters.
fn many_parameters(device: &Device) -> Verdict {
    let froms = (0..100).map(|byte| filled(device, byte)).collect::<Verdict<Vec<_>>>()?;
    let to = device.allocate(100 * SIZE)?;
    let parameters: Vec<_> = froms.iter().map(|space| space.data()).collect();
    let graph = device.create_graph(0, &parameters)?;
    for (index, from) in froms.iter().enumerate() {
        // SAFETY: by D.6 and N.48, the data spaces live until the sync.
        unsafe { graph.copy(from.end(0), to.end(index as u64 * SIZE), SIZE) }?;
    }
    graph.finish()?;
    let arguments: Vec<_> = parameters.iter().rev().copied().collect();
    let stream = device.default_stream(0);
    stream.replay(&graph, &arguments)?;
    stream.sync()?;
    for (index, part) in to.contents()?.chunks(SIZE as usize).enumerate() {
        super::same("the part of parameter", index, part, &[99 - index as u8; SIZE as usize])?;
    }
    Ok(())
}

fn runs_nothing(device: &Device) -> Verdict {
    let (from, to, stream) = (filled(device, 1)?, filled(device, 2)?, device.default_stream(0));
    let graph = device.create_graph(0, &handles(&[&from]))?;
    record(&graph, &from, &to)?;
    stream.sync()?;
    holds("the destination of a copy that was recorded", &to, 2)?;
    graph.finish()?;
    stream.sync()?;
    holds("the destination after `finish`", &to, 2)?;
    stream.replay(&graph, &handles(&[&from]))?;
    stream.sync()?;
    holds("the destination after a replay", &to, 1)
}

/// An entry that is larger than the struct is right, and one of exactly its size.
fn exact_entry(device: &Device) -> Verdict {
    let (from, to, stream) = (filled(device, 1)?, filled(device, 2)?, device.default_stream(0));
    let graph = device.create_graph(0, &[])?;
    for size_bytes in [40, 48] {
        let mut chain = graph.chain();
        chain.set_size(size_bytes);
        // SAFETY: by D.6 and N.48, the data spaces live until the sync.
        unsafe { stream.copy_ordered(from.end(0), to.end(0), SIZE, &chain) }?;
    }
    graph.finish()?;
    stream.replay(&graph, &[])?;
    stream.sync()?;
    holds("the destination after a replay", &to, 1)
}

/// Copies from pinned memory and to it; one end is a parameter.
fn pinned(device: &Device) -> Verdict {
    let pinned = |byte: u8| -> Verdict<_> {
        let space = device.allocate_kind(0, SIZE, 64, CHIPDOCK_DATA_SPACE_PINNED, "")?;
        space.write(0, &[byte; SIZE as usize])?;
        Ok(space)
    };
    let (from, other, middle, to) = (pinned(1)?, pinned(2)?, filled(device, 3)?, pinned(4)?);
    let graph = device.create_graph(0, &handles(&[&from]))?;
    record(&graph, &from, &middle)?;
    record(&graph, &middle, &to)?;
    graph.finish()?;
    let stream = device.default_stream(0);
    for (argument, byte) in [(&from, 1), (&other, 2)] {
        stream.replay(&graph, &handles(&[argument]))?;
        stream.sync()?;
        holds("pinned memory after a replay", &to, byte)?;
    }
    Ok(())
}

fn copy_of_nothing(device: &Device) -> Verdict {
    let (from, to, stream) = (filled(device, 1)?, filled(device, 2)?, device.default_stream(0));
    let graph = device.create_graph(0, &[])?;
    let nowhere = host_end(ptr::null_mut(), 0);
    // SAFETY: no bytes are copied.
    unsafe {
        graph.copy(from.end(0), to.end(0), 0)?;
        graph.copy(nowhere, to.end(0), 0)?;
    }
    record(&graph, &from, &to)?;
    graph.finish()?;
    stream.replay(&graph, &[])?;
    stream.sync()?;
    holds("the destination after a replay", &to, 1)
}

/// Records a copy, then what `wrong` records and is refused; checks that a replay makes that one
/// copy.
fn left_unchanged(device: &Device, wrong: impl FnOnce(&Graph<'_>) -> Verdict) -> Verdict {
    let (from, to, stream) = (filled(device, 1)?, filled(device, 2)?, device.default_stream(0));
    let graph = device.create_graph(0, &[])?;
    record(&graph, &from, &to)?;
    wrong(&graph)?;
    stream.sync()?;
    holds("the destination before the replay", &to, 2)?;
    graph.finish()?;
    stream.replay(&graph, &[])?;
    stream.sync()?;
    holds("the destination of the copy that was right", &to, 1)
}

/// Checks that copies with these chains are refused, and nothing is copied.
fn all_refused(device: &Device, chains: &[(&str, OrderChain)]) -> Verdict {
    let (from, to, stream) = (filled(device, 3)?, filled(device, 4)?, device.default_stream(0));
    for (what, chain) in chains {
        // SAFETY: by D.6: it is refused, or the stream is synchronised.
        let copied = unsafe { stream.copy_ordered(from.end(0), to.end(0), SIZE, chain) };
        refused(&format!("a copy with {what}"), copied, &["ValueError"])?;
    }
    stream.sync()?;
    holds("the destination of copies that were refused", &to, 4)
}

fn chains_refused(device: &Device) -> Verdict {
    left_unchanged(device, |graph| {
        let mut short = graph.chain();
        short.set_size(32);
        let twice = OrderChain::new(&[(RECORD, graph.raw(), 0), (RECORD, graph.raw(), 0)]);
        let null = OrderChain::new(&[(RECORD, ptr::null_mut(), 0)]);
        all_refused(
            device,
            &[("an entry that is too short", short), ("two graphs", twice), ("a null graph", null)],
        )
    })
}

fn with_timelines(device: &Device) -> Verdict {
    if !device.has("timeline") {
        let why = format!("device_api.{} has no interface `timeline` 1", device.name);
        return Err(crate::Stop::Unsupported(why));
    }
    let timeline = device.create_timeline(0, 0)?;
    left_unchanged(device, |graph| {
        let (record, raw) = ((RECORD, graph.raw(), 0), timeline.raw());
        let signal = OrderChain::new(&[record, (SIGNAL, raw, 1)]);
        let wait = OrderChain::new(&[(WAIT, raw, 0), record]);
        all_refused(device, &[("a graph and a signal", signal), ("a wait and a graph", wait)])
    })?;
    equal("the value of the timeline", &timeline.query()?, &0)
}

fn copies_refused(device: &Device) -> Verdict {
    let (from, to, freed) = (filled(device, 3)?, filled(device, 4)?, filled(device, 5)?);
    left_unchanged(device, |graph| {
        // Freed when nothing is allocated any more, whose address could be the same.
        let gone = freed.end(0);
        freed.free()?;
        let range = &["IndexError", "ValueError"];
        let all = [
            ("a source that is too small", from.end(1), to.end(0), SIZE, range),
            ("a destination that is too small", from.end(0), to.end(0), SIZE + 1, range),
            ("a source that was freed", gone, to.end(0), SIZE, &["WrongState", "ValueError"]),
            ("a destination that was freed", from.end(0), gone, SIZE, &["WrongState", "ValueError"]),
        ];
        for (what, from, to, size, kinds) in all {
            // SAFETY: the case tests wrong ends, and the plugin reports that it checks handles.
            refused(&format!("a copy with {what}"), unsafe { graph.copy(from, to, size) }, kinds)?;
        }
        Ok(())
    })?;
    holds("the destination of copies that were refused", &to, 4)
}

fn finished(device: &Device) -> Verdict {
    let (from, to) = (filled(device, 3)?, filled(device, 4)?);
    left_unchanged(device, |graph| {
        let other = device.create_graph(0, &[])?;
        other.finish()?;
        // SAFETY: by D.6: it is refused.
        let copied = unsafe { other.copy(from.end(0), to.end(0), SIZE) };
        refused("a copy into a graph that is finished", copied, &["WrongState"])?;
        // SAFETY: no bytes are copied.
        let nothing = unsafe { other.copy(from.end(0), to.end(0), 0) };
        refused("a copy of size 0 into a graph that is finished", nothing, &["WrongState"])?;
        device.default_stream(0).replay(&other, &[])?;
        record(graph, &from, &to)
    })?;
    holds("the destination in the graph that was not finished", &to, 3)
}

fn finished_twice(device: &Device) -> Verdict {
    let (from, to, stream) = (filled(device, 1)?, filled(device, 2)?, device.default_stream(0));
    let graph = device.create_graph(0, &[])?;
    record(&graph, &from, &to)?;
    graph.finish()?;
    refused("a second `finish`", graph.finish(), &["WrongState"])?;
    stream.replay(&graph, &[])?;
    stream.sync()?;
    holds("the destination after a replay", &to, 1)
}

fn before_finish(device: &Device) -> Verdict {
    let stream = device.default_stream(0);
    left_unchanged(device, |graph| {
        refused("a replay before `finish`", stream.replay(graph, &[]), &["WrongState"])
    })
}

fn empty(device: &Device) -> Verdict {
    let (space, stream) = (filled(device, 1)?, device.default_stream(0));
    for parameters in [Vec::new(), handles(&[&space])] {
        let graph = device.create_graph(0, &parameters)?;
        graph.finish()?;
        for _ in 0..3 {
            stream.replay(&graph, &parameters)?;
        }
        stream.sync()?;
    }
    holds("a data space that nothing was recorded of", &space, 1)
}

fn finish_does_not_wait(device: &Device) -> Verdict {
    let (from, to) = (filled(device, 1)?, filled(device, 2)?);
    does_not_wait(
        device,
        "`finish`",
        || Ok(()),
        |_, ()| {
            let graph = device.create_graph(0, &[])?;
            record(&graph, &from, &to)?;
            Ok(graph.finish()?)
        },
    )
}
