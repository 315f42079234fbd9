//! Tests of wrong calls: typed errors, after which the device is usable (P7.9).

use std::ptr;

use chipdock_plugin_api::{DataSpaceKind, DataSpaceRequest, DeviceApi, ErrorKind, Stream, attribute};

use super::support::{Bench, end, host_end};

#[test]
fn wrong_handles_and_ranges_are_typed_errors() {
    let Some(bench) = Bench::new() else { return };
    let (x, mut bytes) = (bench.with_values(0, &[7_u8; 64]), [0_u8; 128]);
    let to = host_end(bytes.as_mut_ptr().cast());
    let kind = |result: Result<(), chipdock_plugin_api::Error>| result.unwrap_err().kind();
    assert_eq!(kind(bench.copy(0, end(0, x), to, 65, Stream::DEFAULT)), ErrorKind::INDEX_ERROR);
    let inner = x.wrapping_byte_add(16);
    assert_eq!(kind(bench.copy(0, end(0, inner), to, 1, Stream::DEFAULT)), ErrorKind::WRONG_STATE);
    assert_eq!(kind(bench.copy(0, to, to, 1, Stream::DEFAULT)), ErrorKind::UNSUPPORTED);
    let stream = Stream::from_raw(ptr::without_provenance_mut(77));
    assert_eq!(kind(bench.copy(0, end(0, x), to, 1, stream)), ErrorKind::WRONG_STATE);
    assert_eq!(kind(bench.sync(0, stream)), ErrorKind::WRONG_STATE);
    assert_eq!(kind(bench.copy(9, end(9, x), to, 1, Stream::DEFAULT)), ErrorKind::VALUE_ERROR);
    assert_eq!(bench.read::<u8>(0, x, 64, Stream::DEFAULT), [7; 64]);
    bench.free(0, x);
    assert_eq!(kind(bench.copy(0, end(0, x), to, 1, Stream::DEFAULT)), ErrorKind::WRONG_STATE);
    assert_eq!(bench.messages(), 0);
}

#[test]
fn a_failed_allocation_is_out_of_memory_and_changes_nothing() {
    let Some(bench) = Bench::new() else { return };
    let available = || {
        let key = attribute::AVAILABLE_GLOBAL_MEMORY_BYTES;
        bench.api.attribute(0, key).unwrap().unwrap().to::<i64>().unwrap()
    };
    let before = available();
    for size_bytes in [u64::MAX, u64::MAX - 3, 1 << 62, 1 << 41] {
        for kind in [DataSpaceKind::Device, DataSpaceKind::Pinned] {
            let error =
                bench.api.allocate_data_space(0, &DataSpaceRequest::new(size_bytes, 64, kind)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::OUT_OF_MEMORY, "{error}");
        }
    }
    let mut request = DataSpaceRequest::new(64, 1 << 20, DataSpaceKind::Device);
    assert_eq!(bench.api.allocate_data_space(0, &request).unwrap_err().kind(), ErrorKind::UNSUPPORTED);
    request.alignment_bytes = 64;
    request.scope = "shared";
    assert_eq!(bench.api.allocate_data_space(0, &request).unwrap_err().kind(), ErrorKind::UNSUPPORTED);
    assert_eq!(available(), before);
    let data = bench.allocate(0, 1 << 20);
    assert_eq!(available(), before - (1 << 20));
    bench.free(0, data);
    assert_eq!(available(), before);
    assert_eq!(bench.messages(), 0);
}

/// D.32: what the host reads and writes in place, and the device copies.
#[test]
fn memory_of_every_kind_is_one_memory_for_both() {
    let Some(bench) = Bench::new() else { return };
    for kind in [DataSpaceKind::Pinned, DataSpaceKind::HostVisible, DataSpaceKind::Unified] {
        let (x, y) = (bench.allocate_kind(0, 64, kind).unwrap(), bench.allocate_kind(0, 64, kind).unwrap());
        // SAFETY: 64 bytes of host memory that nothing uses.
        unsafe { x.cast::<[u8; 64]>().write([3; 64]) };
        bench.copy(0, end(0, x), end(0, y), 64, Stream::DEFAULT).unwrap();
        bench.sync(0, Stream::DEFAULT).unwrap();
        // SAFETY: 64 bytes of host memory that nothing uses.
        assert_eq!(unsafe { y.cast::<[u8; 64]>().read() }, [3; 64], "{kind:?}");
        // An address within, named as host memory, is the data space's: in the order of the stream.
        let z = bench.with_values(0, &[9_u8; 64]);
        bench.copy(0, end(0, z), end(0, y), 64, Stream::DEFAULT).unwrap();
        bench.copy(0, host_end(y.wrapping_byte_add(4)), end(0, z), 4, Stream::DEFAULT).unwrap();
        assert_eq!(bench.read::<u8>(0, z, 64, Stream::DEFAULT), [9; 64]);
        for data in [x, y, z] {
            bench.free(0, data);
        }
    }
    assert_eq!(bench.messages(), 0);
}

/// D.22, D.37: nothing is a size too.
#[test]
fn data_spaces_may_be_empty() {
    let Some(bench) = Bench::new() else { return };
    for kind in [DataSpaceKind::Device, DataSpaceKind::Pinned, DataSpaceKind::HostVisible] {
        let data = bench.allocate_kind(0, 0, kind).unwrap();
        bench.free(0, data);
    }
    assert_eq!(bench.messages(), 0);
}

/// D.40, I.3: what was made before a loss is gone, and the device is another.
#[test]
fn a_lost_device_is_opened_again() {
    use chipdock_plugin_api::interface::Reset as _;
    let Some(bench) = Bench::new() else { return };
    let device = bench.hardware.device(0).unwrap();
    let (x, stream) = (bench.with_values(0, &[1_u8; 8]), bench.stream(0));
    device.health.lose("the test says so");
    assert_eq!(bench.sync(0, stream).unwrap_err().kind(), ErrorKind::DEVICE_LOST);
    crate::device_api::Reopen(bench.hardware.clone()).reset(0).unwrap();
    let mut bytes = [0_u8; 8];
    let to = host_end(bytes.as_mut_ptr().cast());
    assert_eq!(bench.copy(0, end(0, x), to, 8, Stream::DEFAULT).unwrap_err().kind(), ErrorKind::WRONG_STATE);
    bench.free(0, x);
    bench.free_stream(0, stream);
    let y = bench.with_values(0, &[2_u8; 8]);
    assert_eq!(bench.read::<u8>(0, y, 8, Stream::DEFAULT), [2; 8]);
    assert_eq!(bench.messages(), 0);
}
