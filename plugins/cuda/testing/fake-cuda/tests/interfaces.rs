//! Tests of the interfaces `timer` 1 and `external` 1 of the plugin `cuda`, mixed with direct calls
//! of the driver.

use std::ptr::{self, NonNull};

use crate::common::{fake, space};
use chipdock_host::{ErrorKind, Tensor};
use chipdock_ir::DType;

#[repr(align(4096))]
struct Page([u8; 4096]);

#[test]
fn n_10_a_stream_of_the_drivers_is_adopted_and_lives_on() {
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    // The first use makes the context.
    drop(space(&device));
    let before = fake().counts().streams;
    let native = fake().native_stream(0);
    for _ in 0..2 {
        // SAFETY: a stream that lives until the end of the test.
        let stream = unsafe { device.adopt_stream(native) }.expect("of this context");
        assert_eq!(stream.native().expect("known"), native, "N.11");
        let tensor = Tensor::zeros(&device, &[64], DType::INT64).expect("memory");
        {
            let _current = stream.enter().expect("it is a stream");
            tensor.copy_from_bytes(&[3; 512]).expect("copied");
        }
        let begin = stream.mark().expect("a mark");
        assert!(stream.mark().expect("a mark").nanoseconds_since(&begin).expect("reached") >= 0.0, "N.3");
        drop(stream);
        assert_eq!(tensor.to_bytes().expect("read"), [3; 512]);
        assert_eq!(fake().counts().streams, before + 1, "the native stream is its maker's");
    }
    let other = host.device("cuda", 1).expect("the other device");
    for wrong in [native, ptr::without_provenance_mut(0xBAD0)] {
        // SAFETY: what the driver can tell is no stream of the device is refused (N.9); this one
        // can tell all of it.
        let error = unsafe { other.adopt_stream(wrong) }.err().expect("not a stream of that device");
        assert_eq!(*error.kind(), ErrorKind::Value, "{error}");
    }
    fake().free_native_stream(0, native);
    assert_eq!(fake().counts().streams, before);
}

#[test]
fn n_11_the_default_stream_has_the_drivers_other_name_for_it() {
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    assert_eq!(device.default_stream().native().expect("known").addr(), 1, "CU_STREAM_LEGACY");
}

#[test]
fn n_12_native_data_is_the_drivers_address() {
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    let tensor = space(&device);
    let native = tensor.native_data().expect("known");
    assert_eq!((native.handle, native.offset_bytes), (tensor.view().data(), 0));
    let part = tensor.slice(0, 3, 8).expect("a part").native_data().expect("known");
    assert_eq!((part.handle, part.offset_bytes), (native.handle, 24));
}

#[test]
fn n_13_host_memory_is_registered_and_let_go_before_its_owner() {
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    drop(space(&device));
    device.trim().expect("given back");
    let before = fake().counts().memory;
    let mut page = Box::new(Page([5; 4096]));
    let address = NonNull::from(&mut page.0).cast::<u8>();
    // SAFETY: a page that lives as long as its box, which nobody else has.
    let tensor = unsafe { Tensor::over_host_memory(&device, &[4096], DType::UINT8, address, page) };
    let tensor = tensor.expect("memory of the host");
    assert_eq!(fake().counts().memory, before + 1, "registered");
    assert_eq!(tensor.to_bytes().expect("read"), [5; 4096]);
    tensor.copy_from_bytes(&[6; 4096]).expect("written");
    // SAFETY: alive, and nothing is queued.
    assert_eq!(unsafe { address.read() }, 6);
    // SAFETY: refused, for it is a data space already; the owner is a unit, and the page lives on.
    let twice = unsafe { Tensor::over_host_memory(&device, &[64], DType::UINT8, address, ()) };
    assert_eq!(*twice.expect_err("registered already").kind(), ErrorKind::Unsupported);
    drop(tensor);
    assert_eq!(fake().counts().memory, before, "let go");
}

#[test]
fn missing_device_features_are_unsupported() {
    let host = fake().host();
    let cpu = host.device("cpu", 0).expect("host memory");
    assert!(!cpu.has_timer());
    let stream = cpu.default_stream();
    let tensor = Tensor::zeros(&cpu, &[4], DType::INT64).expect("memory");
    let errors = [
        stream.mark().map(drop).expect_err("no timer"),
        stream.native().map(drop).expect_err("no native streams"),
        tensor.native_data().map(drop).expect_err("no native data"),
    ];
    for error in errors {
        assert_eq!(*error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.message().contains("cpu:0"), "{error}");
    }
}
