//! Graphs of a device without interface `graph` 1: the toy's, of copies.

use chipdock_ir::DType;

use super::*;
use crate::error::ErrorKind;
use crate::{Host, HostOptions};

fn toy() -> Device {
    Host::new(HostOptions::isolated()).unwrap().device("toy", 0).unwrap()
}

fn filled(device: &Device, value: i32) -> Tensor {
    Tensor::from_slice(device, &[16], &[value; 16]).unwrap()
}

fn first(tensor: &Tensor) -> i32 {
    tensor.to_vec::<i32>().unwrap()[0]
}

fn queue(to: &Tensor, from: &Tensor, stream: &Stream) -> Result<(), crate::Error> {
    // SAFETY: the toy's copies are done when they return.
    unsafe { to.copy_from_on(from, stream, Order::default()) }
}

fn replay(graph: &Graph, stream: &Stream, arguments: &[&Tensor]) -> Result<(), crate::Error> {
    // SAFETY: the toy's copies are done when they return.
    unsafe { graph.replay(stream, arguments, Order::default()) }
}

/// GRAPH-G1, GRAPH-G3, GRAPH-G5: parts run when they are replayed, in their order, with the
/// arguments; other tensors live as long as the graph.
#[test]
fn recorded_copies_run_when_they_are_replayed() {
    let device = toy();
    let (stream, other) = (device.default_stream(), device.create_stream().unwrap());
    let (a, b, c) = (filled(&device, 1), filled(&device, 2), filled(&device, 3));
    let recording = device.begin_recording(&[&a, &b]).unwrap();
    queue(&c, &a, &stream).unwrap();
    queue(&b, &c, &other).unwrap();
    let graph = recording.finish().unwrap();
    assert_eq!((graph.len(), graph.is_empty(), graph.is_native()), (2, false, false));
    assert_eq!((first(&a), first(&b), first(&c)), (1, 2, 3), "nothing ran");
    let bytes = |device: &Device| device.attribute("bytes").unwrap().and_then(|value| value.as_i64());
    let before = bytes(&device);
    drop(c);
    device.trim().unwrap();
    assert_eq!(bytes(&device), before, "the graph keeps what it uses");
    let (x, y) = (filled(&device, 7), filled(&device, 8));
    replay(&graph, &other, &[&x, &y]).unwrap();
    assert_eq!((first(&x), first(&y), first(&b)), (7, 7, 2));
    replay(&graph, &stream, &[&x, &x]).unwrap();
    replay(&graph, &stream, &[&y, &a]).unwrap();
    assert_eq!(first(&a), 7);
    drop(graph);
    let queued = bytes(&device);
    other.sync().unwrap();
    stream.sync().unwrap();
    device.trim().unwrap();
    assert_eq!(bytes(&device).map(|bytes| bytes + 64), queued, "and not longer than its replays");
}

/// GRAPH-G4: what no graph can contain is refused, and the recording has failed.
#[test]
fn what_cannot_be_recorded_is_refused() {
    let host = Host::new(HostOptions::isolated()).unwrap();
    let (device, second) = (host.device("toy", 0).unwrap(), host.device("toy", 1).unwrap());
    let (stream, a, b) = (device.default_stream(), filled(&device, 1), filled(&device, 2));
    let there = [filled(&second, 1), filled(&second, 2)];
    let timeline = device.create_timeline(0).unwrap();
    type Step<'a> = (&'a str, Box<dyn Fn() -> Result<(), crate::Error> + 'a>);
    let steps: Vec<Step<'_>> = vec![
        ("wait for a stream", Box::new(|| stream.sync())),
        ("wait for the device", Box::new(|| device.sync())),
        ("copy that is waited for", Box::new(|| a.to_bytes().map(drop))),
        ("copy that is waited for", Box::new(|| a.copy_from(&b))),
        ("signal of a timeline", Box::new(|| stream.signal(&timeline, 1))),
        ("wait of a stream", Box::new(|| stream.wait(&timeline, 0))),
        (
            "workspace on toy:1 in a recording of toy:0",
            Box::new(|| second.state().allocate_workspace(64, std::ptr::null_mut()).map(drop)),
        ),
        (
            "on toy:1 in a recording of toy:0",
            Box::new(|| queue(&there[0], &there[1], &second.default_stream())),
        ),
    ];
    for (words, step) in &steps {
        let recording = device.begin_recording(&[&a]).unwrap();
        let error = step().unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::WrongState, "{error}");
        queue(&b, &a, &stream).unwrap();
        let failed = recording.finish().unwrap_err();
        assert!(error.to_string().contains(words), "{words}: {error}");
        assert_eq!(failed.to_string(), error.to_string(), "the first error");
    }
    let recording = device.begin_recording(&[&a]).unwrap();
    assert_eq!(*device.begin_recording(&[]).unwrap_err().kind(), ErrorKind::WrongState);
    drop(recording);
    assert_eq!(first(&b), 2, "what is given up never ran");
    queue(&b, &a, &stream).unwrap();
    assert_eq!(first(&b), 1, "and work is queued again");
}

/// GRAPH-G5, GRAPH-G7: parameters and arguments are checked, and nothing is queued.
#[test]
fn parameters_and_arguments_are_checked() {
    let host = Host::new(HostOptions::isolated()).unwrap();
    let (device, second) = (host.device("toy", 0).unwrap(), host.device("toy", 1).unwrap());
    let (stream, a, b) = (device.default_stream(), filled(&device, 1), filled(&device, 2));
    let here = host.device("cpu", 0).unwrap();
    let refused = |device: &Device, parameters: &[&Tensor], kind: ErrorKind| {
        let error = device.begin_recording(parameters).map(drop).unwrap_err();
        assert_eq!(*error.kind(), kind, "{error}");
        assert!(Recording::of_this_thread().is_none());
    };
    let (half, every_second) = (a.slice(0, 8, 8).unwrap(), a.strided(&[8], &[2], 0).unwrap());
    refused(&here, &[], ErrorKind::Unsupported);
    refused(&device, &[&a, &b, &a], ErrorKind::Value);
    refused(&device, &[&half], ErrorKind::Value);
    refused(&device, &[&every_second], ErrorKind::Value);
    refused(&second, &[&a], ErrorKind::Value);

    let recording = device.begin_recording(&[&a]).unwrap();
    queue(&b, &a, &stream).unwrap();
    // As a caller does that cannot hold the value.
    recording.leave();
    assert_eq!(*stream.sync().unwrap_err().kind(), ErrorKind::WrongState);
    drop(Recording::of_this_thread());
    let recording = device.begin_recording(&[&a]).unwrap();
    queue(&b, &a, &stream).unwrap();
    let graph = recording.finish().unwrap();
    let longer = Tensor::from_slice(&device, &[17], &[5; 17]).unwrap();
    let other_type = Tensor::empty(&device, &[16], DType::FLOAT32).unwrap();
    let whole = Tensor::from_slice(&device, &[32], &[5; 32]).unwrap();
    let elsewhere = filled(&second, 5);
    let late = whole.slice(0, 16, 16).unwrap();
    for arguments in [&[][..], &[&a, &a], &[&longer], &[&other_type], &[&elsewhere], &[&late]] {
        let error = replay(&graph, &stream, arguments).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Value, "{error}");
    }
    assert_eq!(*replay(&graph, &second.default_stream(), &[&a]).unwrap_err().kind(), ErrorKind::Value);
    assert_eq!(first(&b), 2);
    let graph = std::sync::Arc::new(graph);
    let shared = std::sync::Arc::clone(&graph);
    std::thread::spawn(move || {
        let stream = shared.device().create_stream().unwrap();
        replay(&shared, &stream, &[&a]).unwrap();
        stream.sync().unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(first(&b), 1);
}

/// GRAPH-G5: a graph is ordered by timelines as a launch is.
#[test]
fn a_replay_waits_for_timelines_and_signals_them() {
    let device = toy();
    let (stream, a, b) = (device.default_stream(), filled(&device, 1), filled(&device, 2));
    let recording = device.begin_recording(&[&a, &b]).unwrap();
    queue(&b, &a, &stream).unwrap();
    let graph = recording.finish().unwrap();
    let timeline = device.create_timeline(0).unwrap();
    // SAFETY: the toy's copies are done when they return.
    let ordered = |wait, signal| unsafe {
        let order = Order { waits: &[(&timeline, wait)], signals: &[(&timeline, signal)] };
        graph.replay(&stream, &[&a, &b], order)
    };
    assert_eq!(*ordered(1, 2).unwrap_err().kind(), ErrorKind::WrongState);
    assert_eq!(first(&b), 2);
    ordered(0, 2).unwrap();
    assert!(timeline.wait(2, None).unwrap());
    assert_eq!(first(&b), 1);
}
