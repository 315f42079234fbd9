//! Timelines of a device without interface `timeline` 1, and what queued copies keep, by the counts
//! of the toy.

use std::time::Duration;

use chipdock_ir::DType;

use super::*;
use crate::error::ErrorKind;
use crate::{Host, HostOptions};

fn toy() -> Device {
    Host::new(HostOptions::isolated()).unwrap().device("toy", 0).unwrap()
}

fn count(device: &Device, key: &str) -> i64 {
    device.attribute(key).unwrap().and_then(|value| value.as_i64()).unwrap()
}

fn queue(to: &Tensor, from: &Tensor, stream: &Stream) {
    // SAFETY: the toy's copies are done when they return.
    unsafe { to.copy_from_on(from, stream, Order::default()) }.unwrap();
}

#[test]
fn emulated_timelines_synchronise_the_streams_that_signal() {
    let device = toy();
    assert!(!device.has_timelines());
    let (one, other) = (device.create_stream().unwrap(), device.create_stream().unwrap());
    let timeline = device.create_timeline(5).unwrap();
    let syncs = || count(&device, "syncs");
    let start = syncs();
    one.signal(&timeline, 7).unwrap();
    one.wait(&timeline, 7).unwrap();
    other.wait(&timeline, 5).unwrap();
    assert_eq!(syncs(), start, "its own signal, and what is reached, need no wait");
    other.wait(&timeline, 6).unwrap();
    assert_eq!(syncs(), start + 1, "the toy waits for the other stream at once");
    other.signal(&timeline, 8).unwrap();
    assert_eq!(timeline.value().unwrap(), 8);
    assert_eq!(syncs(), start + 3, "both streams");
    assert!(timeline.wait(8, None).unwrap() && timeline.wait(0, Some(Duration::ZERO)).unwrap());
    assert_eq!(syncs(), start + 3, "what is known to be reached is not asked for again");
    assert!(!timeline.wait(9, Some(Duration::from_millis(1))).unwrap());
    timeline.set(10).unwrap();
    assert!(timeline.wait(9, None).unwrap());
    // In the order of the calls, whichever stream is synchronised first.
    one.signal(&timeline, 11).unwrap();
    other.signal(&timeline, 12).unwrap();
    timeline.set(13).unwrap();
    other.sync().unwrap();
    assert!(timeline.wait(13, None).unwrap());
    for value in [0, 12, 13] {
        assert_eq!(*one.signal(&timeline, value).unwrap_err().kind(), ErrorKind::Value);
        assert_eq!(*timeline.set(value).unwrap_err().kind(), ErrorKind::Value);
    }
    let error = one.wait(&timeline, 14).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::WrongState);
    assert!(error.to_string().contains("queue the signal before the wait"), "{error}");
}

/// A stream that is freed was synchronised: nobody asks for it again.
#[test]
fn emulated_signals_of_a_freed_stream_are_reached() {
    let device = toy();
    let timeline = device.create_timeline(0).unwrap();
    let stream = device.create_stream().unwrap();
    stream.signal(&timeline, 1).unwrap();
    drop(stream);
    let syncs = count(&device, "syncs");
    device.default_stream().wait(&timeline, 1).unwrap();
    assert_eq!((timeline.value().unwrap(), count(&device, "syncs")), (1, syncs));
    // One that is dropped before its signals are settled.
    let (stream, short) = (device.create_stream().unwrap(), device.create_timeline(0).unwrap());
    stream.signal(&short, 1).unwrap();
    drop(short);
    stream.sync().unwrap();
}

#[test]
fn emulated_orders_are_refused_before_anything_is_queued() {
    let device = toy();
    let (timeline, stream) = (device.create_timeline(5).unwrap(), device.default_stream());
    let (a, b) = (
        Tensor::from_slice(&device, &[1], &[1_i32]).unwrap(),
        Tensor::zeros(&device, &[1], DType::INT32).unwrap(),
    );
    let refused = |waits: &[(&Timeline, u64)], signals: &[(&Timeline, u64)]| {
        // SAFETY: nothing is queued.
        let copied = unsafe { b.copy_from_on(&a, &stream, Order { waits, signals }) };
        copied.unwrap_err().kind().clone()
    };
    assert_eq!(refused(&[(&timeline, 6)], &[]), ErrorKind::WrongState);
    assert_eq!(refused(&[], &[(&timeline, 5)]), ErrorKind::Value);
    assert_eq!(refused(&[], &[(&timeline, 7), (&timeline, 6)]), ErrorKind::Value);
    assert_eq!(
        refused(&[], &[(&device.host().device("toy", 1).unwrap().create_timeline(0).unwrap(), 6)]),
        ErrorKind::Value
    );
    assert_eq!((timeline.value().unwrap(), b.to_vec::<i32>().unwrap()), (5, vec![0]));
    let order = Order { waits: &[(&timeline, 5)], signals: &[(&timeline, 6), (&timeline, 9)] };
    // SAFETY: the toy's copies are done when they return.
    unsafe { b.copy_from_on(&a, &stream, order) }.unwrap();
    assert_eq!((timeline.value().unwrap(), b.to_vec::<i32>().unwrap()), (9, vec![1]));
}

#[test]
fn memory_of_a_queued_copy_goes_back_when_its_stream_is_synchronised() {
    let device = toy();
    let stream = device.create_stream().unwrap();
    let tensor = || Tensor::empty(&device, &[1000], DType::INT32).unwrap();
    let (from, to) = (tensor(), tensor());
    let places = [from.data_ptr(), to.data_ptr()];
    queue(&to, &from, &stream);
    queue(&from, &to, &stream);
    drop((from, to));
    let others = [tensor(), tensor(), tensor()];
    assert!(others.iter().all(|other| !places.contains(&other.data_ptr())), "it is kept");
    device.default_stream().sync().unwrap();
    assert!(!places.contains(&tensor().data_ptr()), "another stream says nothing");
    stream.sync().unwrap();
    let again = [tensor(), tensor()];
    assert!(again.iter().any(|other| places.contains(&other.data_ptr())), "it is given out again");
    // A stream with many copies is synchronised before more of them are kept.
    let syncs = count(&device, "syncs");
    for _ in 0..2048 {
        queue(&others[0], &others[1], &stream);
    }
    assert_eq!(count(&device, "syncs"), syncs + 2);
    // A host that goes away with a queued copy gives everything back.
    queue(&others[0], &others[1], &stream);
    let state = std::sync::Arc::downgrade(device.state());
    drop((others, again, stream, device));
    assert!(state.upgrade().is_none(), "the device is gone with its host");
}

/// Memory of one device that the queued work of another keeps.
#[test]
fn a_host_ends_with_a_copy_between_two_devices_under_way() {
    let device = toy();
    let other = device.host().device("toy", 1).unwrap();
    let to = Tensor::empty(&device, &[1000], DType::INT32).unwrap();
    let from = Tensor::empty(&other, &[1000], DType::INT32).unwrap();
    queue(&to, &from, &device.default_stream());
    let states = [device.state(), other.state()].map(std::sync::Arc::downgrade);
    drop((to, from, device, other));
    assert!(states.iter().all(|state| state.upgrade().is_none()), "both are gone");
}
