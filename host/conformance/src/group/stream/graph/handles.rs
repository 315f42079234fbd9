//! Handles of graphs that are wrong, and places that are null.

use std::ffi::c_void;
use std::ptr;

use chipdock_plugin_api::Error;
use chipdock_raw_host::{Device, OrderChain, RECORD};

use super::{Body, SIZE, filled, handles, holds, record};
use crate::stop::{equal, refused};
use crate::{Profile, Verdict};

const UNKNOWN: &[&str] = &["WrongState", "ValueError"];

pub(super) fn add(graph: &mut impl FnMut(&str, &'static str, &'static [Profile], Body)) {
    let checked = &[Profile::CheckedHandles];
    graph("null", "N.49", &[], null);
    graph("freed", "N.49", checked, freed);
    graph("garbage", "N.49", checked, garbage);
    graph("of-another-device", "N.49", &[Profile::CheckedHandles, Profile::SeveralDevices], elsewhere);
    graph("no-such-device", "N.49", &[], no_device);
    graph("no-such-stream", "N.49", checked, no_stream);
    graph("free-null", "N.48", &[], free_null);
    graph("null-place", "D.2", &[], null_places);
    graph("replay-with-unknown-extensions", "P3.16", &[], extensions);
}

/// The answers of every call to that graph; `free` is not called.
fn calls(
    device: &Device,
    device_id: i32,
    raw: *mut c_void,
) -> Verdict<[(&'static str, Result<(), Error>); 3]> {
    let (from, to) = (filled(device, 1)?, filled(device, 2)?);
    let stream = device.default_stream(0);
    // SAFETY: by D.6 and N.48: the graph is none, so that nothing is replayed.
    let copied =
        unsafe { stream.copy_ordered(from.end(0), to.end(0), SIZE, &OrderChain::new(&[(RECORD, raw, 0)])) };
    stream.sync()?;
    holds("the destination of a copy into what is no graph", &to, 2)?;
    Ok([
        ("a copy into", copied),
        ("finish", device.finish_graph_raw(device_id, raw)),
        ("replay", device.replay_raw(device_id, raw, ptr::null_mut(), &[])),
    ])
}

fn all_refused(device: &Device, device_id: i32, raw: *mut c_void, what: &str, kinds: &[&str]) -> Verdict {
    for (call, answer) in calls(device, device_id, raw)? {
        refused(&format!("{call} of {what}"), answer, kinds)?;
    }
    Ok(())
}

fn null(device: &Device) -> Verdict {
    all_refused(device, 0, ptr::null_mut(), "null", &["ValueError"])
}

fn freed(device: &Device) -> Verdict {
    for is_finished in [false, true] {
        let graph = device.create_graph(0, &[])?;
        if is_finished {
            graph.finish()?;
        }
        let raw = graph.raw();
        graph.free()?;
        all_refused(device, 0, raw, "a freed graph", UNKNOWN)?;
        // SAFETY: the case tests an invalid handle, and the plugin reports that it checks handles.
        refused("free of a freed graph", unsafe { device.free_graph_raw(0, raw) }, UNKNOWN)?;
    }
    Ok(())
}

fn garbage(device: &Device) -> Verdict {
    let (graph, space) = (device.create_graph(0, &[])?, filled(device, 1)?);
    for raw in [ptr::without_provenance_mut(0x10), ptr::without_provenance_mut(usize::MAX), space.data()] {
        all_refused(device, 0, raw, &format!("{raw:p}"), UNKNOWN)?;
        // SAFETY: the case tests an invalid handle, and the plugin reports that it checks handles.
        refused(&format!("free of {raw:p}"), unsafe { device.free_graph_raw(0, raw) }, UNKNOWN)?;
    }
    graph.finish()?;
    Ok(device.default_stream(0).replay(&graph, &[])?)
}

fn elsewhere(device: &Device) -> Verdict {
    let other = device.create_graph(1, &[])?;
    let (call, finished) = ("finish of another device's graph", device.finish_graph_raw(0, other.raw()));
    refused(call, finished, UNKNOWN)?;
    // SAFETY: the case tests an invalid handle, and the plugin reports that it checks handles.
    refused("free of another device's graph", unsafe { device.free_graph_raw(0, other.raw()) }, UNKNOWN)?;
    other.finish()?;
    let replayed = device.replay_raw(0, other.raw(), ptr::null_mut(), &[]);
    refused("replay of another device's graph", replayed, UNKNOWN)?;
    Ok(device.default_stream(1).replay(&other, &[])?)
}

fn no_device(device: &Device) -> Verdict {
    let graph = device.create_graph(0, &[])?;
    for device_id in [-1, device.count()?] {
        let what = |call: &str| format!("{call} on device {device_id}, which is not there");
        let kind = &["ValueError"];
        refused(&what("create"), device.create_graph(device_id, &[]).map(drop), kind)?;
        refused(&what("finish"), device.finish_graph_raw(device_id, graph.raw()), kind)?;
        let replayed = device.replay_raw(device_id, graph.raw(), ptr::null_mut(), &[]);
        refused(&what("replay"), replayed, kind)?;
    }
    graph.finish()?;
    Ok(device.default_stream(0).replay(&graph, &[])?)
}

fn no_stream(device: &Device) -> Verdict {
    let (from, to) = (filled(device, 1)?, filled(device, 2)?);
    let graph = device.create_graph(0, &[])?;
    record(&graph, &from, &to)?;
    graph.finish()?;
    let replayed = device.replay_raw(0, graph.raw(), ptr::without_provenance_mut(0x10), &[]);
    refused("replay on what is no stream", replayed, UNKNOWN)?;
    device.default_stream(0).sync()?;
    holds("the destination after a replay on what is no stream", &to, 2)
}

fn free_null(device: &Device) -> Verdict {
    // SAFETY: null is allowed.
    Ok(unsafe { device.free_graph_raw(0, ptr::null_mut()) }?)
}

fn null_places(device: &Device) -> Verdict {
    let space = filled(device, 1)?;
    let graph = device.create_graph(0, &handles(&[&space]))?;
    graph.finish()?;
    let calls = [
        "create with no place for the result",
        "create with a parameter at null",
        "replay with an argument at null",
        "replay of a null request",
    ];
    for (call, answer) in calls.into_iter().zip(device.graph_nowhere(&graph)) {
        refused(call, answer, &["ValueError"])?;
    }
    Ok(())
}

fn extensions(device: &Device) -> Verdict {
    let (graph, stream) = (device.create_graph(0, &[])?, device.default_stream(0));
    graph.finish()?;
    let optional = [("suite.one".to_owned(), 0), ("suite.two".to_owned(), 0)];
    stream.replay_with(&graph, &[], &optional)?;
    let answer = stream.replay_with(&graph, &[], &[("suite.must".to_owned(), 1)]);
    let names_it = answer.as_ref().is_err_and(|error| error.message().contains("suite.must"));
    refused("replay with an extension that must be understood", answer, &["Unsupported"])?;
    equal("whether the error names the extension", &names_it, &true)
}
