//! KIT-13 to KIT-16.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use chipdock_plugin_api::kit::{Devices, OnceBuilt, PerDevice};
use chipdock_plugin_api::{ChipdockDevice, Error, ErrorKind};

use crate::fails;

fn failed() -> Error {
    Error::new(ErrorKind::OUT_OF_MEMORY, "no memory is left")
}

#[test]
fn kit_16_a_slot_is_built_once_and_a_failure_is_not_remembered() {
    let (slot, builds) = (OnceBuilt::default(), AtomicUsize::new(0));
    fails(slot.get_or_build(|| Err(failed())), &ErrorKind::OUT_OF_MEMORY, &[]);
    assert!(slot.get().is_none());
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let built = slot.get_or_build(|| Ok(builds.fetch_add(1, Ordering::Relaxed)));
                assert_eq!(*built.unwrap(), 0);
            });
        }
    });
    assert_eq!(builds.into_inner(), 1);
    assert_eq!(*slot.get_or_build(|| Err(failed())).unwrap(), 0);
}

#[test]
fn kit_16_a_build_that_panics_leaves_the_slot_usable() {
    let slot = OnceBuilt::<i32>::default();
    let panics = || slot.get_or_build(|| std::panic::resume_unwind(Box::new("a test"))).map(drop);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).unwrap_err();
    assert_eq!(*slot.get_or_build(|| Ok(3)).unwrap(), 3);
}

/// Each of two builds waits for the other: slots that shared a lock would hang.
#[test]
fn kit_16_slots_of_two_devices_build_at_once() {
    let (slots, both) = (PerDevice::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        for device_id in 0..2 {
            let (slots, both) = (&slots, &both);
            scope.spawn(move || {
                let built = slots.get_or_build(device_id, || {
                    both.wait();
                    Ok(device_id * 10)
                });
                assert_eq!(*built.unwrap(), device_id * 10);
            });
        }
    });
    for device_id in [-1, 2, i32::MIN] {
        fails(slots.get_or_build(device_id, || Ok(0)), &ErrorKind::INTERNAL, &["has no slot"]);
    }
}

#[test]
fn kit_13_devices_are_searched_for_once_also_in_vain() {
    static SEARCHES: AtomicUsize = AtomicUsize::new(0);
    let devices: Devices<()> = Devices::new("npu", 0, || {
        SEARCHES.fetch_add(1, Ordering::Relaxed);
        Err(Error::new(ErrorKind::UNAVAILABLE, "no driver: install libnpu1"))
    });
    assert!(devices.found().is_empty());
    devices.shut_down(|()| panic!("no device was found")).unwrap();
    assert_eq!(SEARCHES.load(Ordering::Relaxed), 0, "nothing is searched for that nobody asks for");
    for _ in 0..2 {
        fails(devices.all(), &ErrorKind::UNAVAILABLE, &["libnpu1"]);
        fails(devices.get(0), &ErrorKind::UNAVAILABLE, &["libnpu1"]);
        fails(devices.count(), &ErrorKind::UNAVAILABLE, &["libnpu1"]);
    }
    assert_eq!(SEARCHES.load(Ordering::Relaxed), 1);
}

#[test]
fn kit_14_an_id_that_is_not_there_is_named_with_those_that_are() {
    let devices = Devices::new("npu", 12, || Ok(vec!['a', 'b']));
    assert_eq!((devices.count().unwrap(), **devices.get(1).unwrap()), (2, 'b'));
    for device_id in [-1, 2, i32::MIN, i32::MAX] {
        let words = [&*format!("npu:{device_id}"), "from 0 to 1", "2 devices"];
        fails(devices.get(device_id), &ErrorKind::VALUE_ERROR, &words);
    }
    let device = |device_type| ChipdockDevice { device_type, device_id: 0 };
    devices.check_end(device(12)).unwrap();
    fails(devices.check_end(device(2)), &ErrorKind::UNSUPPORTED, &["device type 12", "device type 2"]);
    assert_eq!(devices.other_type(device(12)), None);
    devices.set_device_type(4711);
    assert!(devices.other_type(device(12)).unwrap().contains("device type 4711"));
    devices.check_end(device(4711)).unwrap();
}

#[test]
fn kit_15_every_device_is_drained_and_the_first_failure_answered() {
    let devices = Devices::new("npu", 0, || Ok((0..4).map(|_| AtomicUsize::new(0)).collect()));
    devices.all().unwrap();
    devices.check_running().unwrap();
    let order = AtomicUsize::new(0);
    let drained = devices.shut_down(|device| {
        device.fetch_add(1, Ordering::Relaxed);
        match order.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(()),
            number => Err(Error::new(ErrorKind::IO, format!("failure {number}"))),
        }
    });
    fails(drained, &ErrorKind::IO, &["failure 1"]);
    assert!(devices.found().iter().all(|device| device.load(Ordering::Relaxed) == 1));
    fails(devices.check_running(), &ErrorKind::UNAVAILABLE, &["shut down for this host"]);
}
