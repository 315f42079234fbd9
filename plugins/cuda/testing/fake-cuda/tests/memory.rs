//! Kinds of memory of the plugin `cuda` as users have them (MEMORY-K1 to MEMORY-K9 of the host).

use crate::common::{artifact, fake, pointer, ptx, space};
use chipdock_host::{Device, ErrorKind, MemoryKind, MemoryOptions, Tensor};
use chipdock_ir::DType;

fn made(device: &Device, kind: MemoryKind) -> Tensor {
    let options = MemoryOptions { kind, ..MemoryOptions::default() };
    Tensor::empty_in(device, &[64], DType::INT64, &options).expect("memory")
}

#[test]
fn memory_k3_pinned_and_unified_memory_hold_what_was_written() {
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    let found = device.capabilities().expect("asked");
    let kinds: Vec<MemoryKind> = found.memory.iter().map(|memory| memory.kind).collect();
    assert_eq!(kinds, [MemoryKind::Device, MemoryKind::Pinned, MemoryKind::Unified]);
    for kind in kinds {
        let tensor = made(&device, kind);
        tensor.copy_from_bytes(&[3; 512]).expect("written");
        assert_eq!(tensor.to_bytes().expect("read"), [3; 512], "{kind}");
        assert_eq!(tensor.memory_kind(), Some(kind));
        // A view's data pointer lies within.
        assert_eq!(tensor.slice(0, 3, 8).expect("a part").memory_kind(), Some(kind));
        let expected = if kind == MemoryKind::Pinned { "cpu" } else { "cuda" };
        assert_eq!(tensor.device().name(), expected);
        if kind != MemoryKind::Device {
            let mapped = tensor.map().expect("reached");
            // SAFETY: nothing is queued that uses the tensor.
            assert_eq!(unsafe { mapped.as_bytes() }, [3; 512]);
        }
        let there = made(&device, MemoryKind::Device);
        there.copy_from(&tensor).expect("copied");
        assert_eq!(there.to_bytes().expect("read"), [3; 512]);
    }
    let options = MemoryOptions { kind: MemoryKind::HostVisible, ..MemoryOptions::default() };
    let error = Tensor::empty_in(&device, &[64], DType::INT64, &options).expect_err("the plugin has none");
    assert_eq!(*error.kind(), ErrorKind::Unsupported);
    let has =
        "cuda:0 has memory of these kinds and scopes: device (global), pinned (global), unified (global)";
    assert_eq!(error.advice(), has);
}

/// MEMORY-K6, and the same of the pool: after a reset no memory is handed out that is older.
#[test]
fn memory_k6_what_was_made_before_a_reset_is_not_cached() {
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    let kinds = [MemoryKind::Device, MemoryKind::Pinned, MemoryKind::Unified];
    let old: Vec<Tensor> = kinds.iter().map(|kind| made(&device, *kind)).collect();
    let target = space(&device);
    let text = ptx("sm_75", &[("f_kernel_", &[".u64"], "\t// fake: fault")]);
    let module = host.load(&artifact(&text, &["handle"], &["blockIdx.x"])).expect("loads");
    let kernel = module.function("f_kernel").expect("there");
    kernel.call(&[pointer(target.view().data()), 1_i64.into()]).map(drop).expect("queued");
    let lost = device.sync().expect_err("it failed");
    assert_eq!(*lost.kind(), ErrorKind::DeviceLost, "{lost}");
    let options = MemoryOptions { kind: MemoryKind::Pinned, ..MemoryOptions::default() };
    let error = Tensor::empty_in(&device, &[99], DType::INT64, &options).expect_err("lost");
    assert_eq!(*error.kind(), ErrorKind::DeviceLost, "{error}");
    assert!(device.capabilities().is_err(), "a lost device has no answer");
    device.reset().expect("opened again");
    drop((old, target));
    for kind in kinds {
        for _ in 0..2 {
            let tensor = made(&device, kind);
            tensor.copy_from_bytes(&[5; 512]).expect("it is of the device as it is now");
            assert_eq!(tensor.to_bytes().expect("read"), [5; 512], "{kind}");
        }
    }
}
