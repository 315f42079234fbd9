//! Tests with several devices, which PoCL creates from one processor if it is configured to.

use chipdock_plugin_api::{Any, DeviceApi, ErrorKind, Stream};

use super::kernels::{ADD, add_entry};
use super::support::{Bench, end, in_child, pointer};

#[test]
fn devices_are_apart_and_copy_to_each_other() {
    let Some(_) = Bench::new() else { return };
    in_child("tests::several::child_with_two_devices", &[("POCL_DEVICES", "pthread pthread")]).unwrap();
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_with_two_devices() {
    if std::env::var("POCL_DEVICES").is_err() {
        return;
    }
    let bench = Bench::of_host();
    assert_eq!(bench.api.device_count().unwrap(), 2);
    let of_first = bench.with(0, &[1.0_f32; 1000]);
    let of_second = bench.with(1, &[2.0_f32; 1000]);
    // Longer than what is staged at once.
    let size = (33 << 20) + 5;
    let bytes: Vec<u8> = (0..size).map(|index| ((index * 7) >> 3) as u8).collect();
    let (large, its_copy) = (bench.with(0, &bytes), bench.allocate(1, size));
    bench.copy(0, end(0, large), end(1, its_copy), size, Stream::DEFAULT).unwrap();
    assert!(bench.read::<u8>(1, its_copy, size, Stream::DEFAULT) == bytes);
    // D.30: what one does changes nothing on the other, and neither knows the other's handles.
    let error = bench.copy(0, end(0, of_second), end(0, of_first), 8, Stream::DEFAULT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WRONG_STATE, "{error}");
    // One module, on the device that is current.
    let add = bench.kernel(ADD, add_entry());
    let args = |x, y| [pointer(x), pointer(y), Any::from(1000_i64), Any::from(16_i64), Any::from(64_i64)];
    bench.make_current(1, Stream::DEFAULT);
    bench.call(&add, &args(of_second, of_second)).unwrap();
    let error = bench.call(&add, &args(of_first, of_second)).unwrap_err();
    assert!(error.message().contains("is no data space of device opencl:1"), "{error}");
    bench.make_current(0, Stream::DEFAULT);
    bench.call(&add, &args(of_first, of_first)).unwrap();
    assert_eq!(bench.read::<f32>(0, of_first, 1000, Stream::DEFAULT), [2.0; 1000]);
    assert_eq!(bench.read::<f32>(1, of_second, 1000, Stream::DEFAULT), [4.0; 1000]);
    bench.make_current(2, Stream::DEFAULT);
    let error = bench.call(&add, &args(of_first, of_first)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
}
