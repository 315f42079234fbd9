use std::sync::Arc;

use chipdock_abi::{CHIPDOCK_DLPACK_READ_ONLY, ChipdockDataType};
use chipdock_ir::DType;
use chipdock_plugin_api as api;

use super::*;
use crate::error::{ErrorKind, Subject};
use crate::{Environment, Host, HostOptions, Variables};

/// Bytes that a closed host may leave.
const LEFT_BYTES_MAX: usize = 4096;

/// A host that sees no plugin: host memory is there all the same.
fn host() -> Host {
    Host::new(HostOptions::isolated()).unwrap()
}

fn cpu() -> Device {
    host().device("cpu", 0).unwrap()
}

#[test]
fn host_memory_is_always_there() {
    let host = host();
    assert_eq!(host.device_names(), ["cpu", "toy"]);
    assert_eq!(host.device_count("cpu").unwrap(), 1);
    let device = host.device("cpu", 0).unwrap();
    assert_eq!(device.attribute("exist").unwrap(), Some(true.into()));
    assert_eq!(device.attribute("no such key").unwrap(), None);
    assert_eq!(device.number(), api::CPU);
    device.sync().unwrap();
}

#[test]
fn a_device_that_is_not_there_says_what_is() {
    let error = host().device("cpu", 1).unwrap_err();
    assert_eq!(error.subject(), Some(Subject::Device));
    assert!(error.to_string().contains("\"cpu\" has one device, cpu:0"), "{error}");
    let error = host().device("npu", 0).unwrap_err();
    assert_eq!((error.kind(), error.subject()), (&ErrorKind::Unavailable, Some(Subject::Plugin)));
}

#[test]
fn a_tensor_holds_what_was_written() {
    let device = cpu();
    let tensor = Tensor::from_slice(&device, &[2, 3], &[1_i32, 2, 3, 4, 5, 6]).unwrap();
    assert_eq!(tensor.shape(), [2, 3]);
    assert_eq!(tensor.strides(), [3, 1]);
    assert_eq!(tensor.dtype(), DType::INT32);
    assert_eq!(tensor.to_vec::<i32>().unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(tensor.view().data().addr() % 64, 0);
    assert_eq!(*tensor.to_vec::<f32>().unwrap_err().kind(), ErrorKind::Type);
    assert_eq!(*tensor.copy_from_bytes(&[0; 23]).unwrap_err().kind(), ErrorKind::Value);
    let zeros = Tensor::zeros(&device, &[0, 7], DType::FLOAT16).unwrap();
    assert!(zeros.to_bytes().unwrap().is_empty());
    assert_eq!(*Tensor::empty(&device, &[-1], DType::INT8).unwrap_err().kind(), ErrorKind::Value);
    let huge = Tensor::empty(&device, &[i64::MAX / 8], DType::INT32).unwrap_err();
    assert!(matches!(huge.kind(), ErrorKind::OutOfMemory | ErrorKind::Value), "{huge:?}");
}

/// HOST-W6: what a thread reads is one write of another thread, whole, through a clone, a view and
/// a value of the tensor.
#[test]
fn a_read_beside_a_write_is_whole() {
    const SIZE: usize = 1 << 18;
    let host = host();
    let device = host.device("cpu", 0).unwrap();
    let shape = [2, SIZE as i64 / 2];
    let tensor = Tensor::from_bytes(&device, &shape, DType::UINT8, &[0; SIZE]).unwrap();
    let all = tensor.strided(&shape, tensor.strides(), 0).unwrap();
    let crosswise = tensor.strided(&[SIZE as i64 / 2, 2], &[1, SIZE as i64 / 2], 0).unwrap();
    let returned = Tensor::from_value(&host, tensor.to_value().unwrap()).unwrap();
    let other = Tensor::from_bytes(&device, &shape, DType::UINT8, &[7; SIZE]).unwrap();
    std::thread::scope(|scope| {
        let writers = [(tensor.clone(), 1_u8), (all, 2), (crosswise, 3)];
        let writers = writers.map(|(to, byte)| {
            scope.spawn(move || {
                for _ in 0..300 {
                    to.copy_from_bytes(&[byte; SIZE]).unwrap();
                }
            })
        });
        // Copies in both directions between two tensors end.
        scope.spawn(|| (0..300).for_each(|_| other.copy_from(&tensor).unwrap()));
        scope.spawn(|| (0..300).for_each(|_| tensor.copy_from(&other).unwrap()));
        let mut reads = 0;
        while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) || reads == 0 {
            for from in [&tensor, &returned, &other] {
                let found = from.to_bytes().unwrap();
                let last = found[SIZE - 1];
                assert!(found.iter().all(|byte| *byte == last), "a torn read after {reads} whole ones");
                reads += 1;
            }
        }
    });
}

#[test]
fn strided_views_share_and_copy() {
    let device = cpu();
    let base = Tensor::from_slice(&device, &[2, 3], &[1_i32, 2, 3, 4, 5, 6]).unwrap();
    let transposed = base.strided(&[3, 2], &[1, 3], 0).unwrap();
    assert_eq!(transposed.to_vec::<i32>().unwrap(), [1, 4, 2, 5, 3, 6]);
    let reversed = base.strided(&[6], &[-1], 5).unwrap();
    assert_eq!(reversed.to_vec::<i32>().unwrap(), [6, 5, 4, 3, 2, 1]);
    let column = base.slice(1, 1, 1).unwrap();
    assert_eq!(column.to_vec::<i32>().unwrap(), [2, 5]);
    column.copy_from(&Tensor::from_slice(&device, &[2, 1], &[20_i32, 50]).unwrap()).unwrap();
    assert_eq!(base.to_vec::<i32>().unwrap(), [1, 20, 3, 4, 50, 6]);
    let compact = transposed.to_device(&device).unwrap();
    assert!(compact.is_compact());
    assert_eq!(compact.to_vec::<i32>().unwrap(), [1, 4, 20, 50, 3, 6]);
    // Onto itself, reversed: the elements are read before they are written.
    base.strided(&[6], &[1], 0).unwrap().copy_from(&reversed).unwrap();
    assert_eq!(base.to_vec::<i32>().unwrap(), [6, 50, 4, 3, 20, 1]);
    for (shape, strides, offset) in [(&[2, 3], &[4, 1], 0), (&[2, 3], &[3, 1], 1), (&[2, 3], &[3, -1], 0)] {
        let error = base.strided(shape, strides, offset).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Index);
    }
    assert_eq!(*base.slice(0, 1, 2).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(*base.slice(2, 0, 1).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(base.slice(0, 2, 0).unwrap().shape(), [0, 3]);
    drop(base);
    assert_eq!(column.to_vec::<i32>().unwrap(), [50, 20], "a view keeps the memory");
}

#[test]
fn overlapping_and_mismatched_copies() {
    let device = cpu();
    let base = Tensor::from_slice(&device, &[4], &[1_i32, 2, 3, 4]).unwrap();
    base.slice(0, 1, 3).unwrap().copy_from(&base.slice(0, 0, 3).unwrap()).unwrap();
    assert_eq!(base.to_vec::<i32>().unwrap(), [1, 1, 2, 3]);
    let other = Tensor::zeros(&device, &[4], DType::INT64).unwrap();
    assert_eq!(*base.copy_from(&other).unwrap_err().kind(), ErrorKind::Type);
    let other = Tensor::zeros(&device, &[2, 2], DType::INT32).unwrap();
    assert_eq!(*base.copy_from(&other).unwrap_err().kind(), ErrorKind::Value);
}

#[test]
fn dlpack_goes_out_and_comes_back() {
    let host = host();
    let device = host.device("cpu", 0).unwrap();
    let base = Tensor::from_slice(&device, &[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    // SAFETY: managed tensors that were just made and are owned here.
    let (old, new) = unsafe {
        (
            Tensor::from_dlpack(&host, base.to_dlpack().unwrap()).unwrap(),
            Tensor::from_dlpack_versioned(
                &host,
                base.strided(&[2], &[2], 1).unwrap().to_dlpack_versioned().unwrap(),
            )
            .unwrap(),
        )
    };
    assert_eq!(old.view().data(), base.view().data(), "no copy");
    drop(base);
    assert_eq!(old.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(new.to_vec::<f32>().unwrap(), [2.0, 4.0]);

    let managed = old.to_dlpack_versioned().unwrap();
    // SAFETY: live and owned here.
    let read_only = unsafe {
        (*managed).flags |= CHIPDOCK_DLPACK_READ_ONLY;
        Tensor::from_dlpack_versioned(&host, managed).unwrap()
    };
    assert!(read_only.is_read_only() && read_only.slice(0, 0, 1).unwrap().is_read_only());
    assert_eq!(*read_only.copy_from(&old).unwrap_err().kind(), ErrorKind::Value);

    let managed = old.to_dlpack().unwrap();
    // SAFETY: live and owned here; a refused one is still ours.
    unsafe {
        (*managed).dl_tensor.device.device_type = 99;
        let error = Tensor::from_dlpack(&host, managed).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::NotFound, "{error}");
        (*managed).dl_tensor.dtype = ChipdockDataType { code: 9, bits: 8, lanes: 1 };
        assert_eq!(*Tensor::from_dlpack(&host, managed).unwrap_err().kind(), ErrorKind::Unsupported);
        (*managed).deleter.unwrap()(managed);
        assert_eq!(*Tensor::from_dlpack(&host, std::ptr::null_mut()).unwrap_err().kind(), ErrorKind::Value);
    }
}

#[test]
fn memory_is_used_again_on_the_same_thread() {
    let device = cpu();
    let first = Tensor::empty(&device, &[1 << 18], DType::FLOAT32).unwrap();
    let data = first.view().data();
    drop(first);
    let second = Tensor::empty(&device, &[1 << 18], DType::FLOAT32).unwrap();
    assert_eq!(second.view().data(), data);
    drop(second);
    device.trim().unwrap();
}

#[test]
fn tensors_move_between_threads() {
    let device = cpu();
    std::thread::scope(|scope| {
        for seed in 0..4_i64 {
            let device = &device;
            scope.spawn(move || {
                let mut kept = Vec::new();
                for step in 0..200_i64 {
                    let elements: Vec<i64> =
                        (0..(step * 7 + seed) % 300).map(|index| index * seed + step).collect();
                    let tensor = Tensor::from_slice(device, &[elements.len() as i64], &elements).unwrap();
                    kept.push((tensor, elements));
                    if kept.len() > 8 {
                        let (tensor, elements) = kept.remove(usize::try_from(step).unwrap() % 8);
                        assert_eq!(tensor.to_vec::<i64>().unwrap(), elements);
                    }
                }
            });
        }
    });
}

#[test]
fn workspace_is_a_stack_for_each_thread_and_stream() {
    let device = cpu();
    let state = device.state();
    let (default, other) = (std::ptr::null_mut(), std::ptr::without_provenance_mut(64));
    let a = state.allocate_workspace(100, default).unwrap();
    let b = state.allocate_workspace(5000, default).unwrap();
    assert_ne!(a, b);
    assert_eq!(a.addr() % 64, 0);
    state.free_workspace(b, default).unwrap();
    assert_ne!(state.allocate_workspace(5000, other).unwrap(), b, "another stream does not get it");
    assert_eq!(state.allocate_workspace(4097, default).unwrap(), b, "the same stream does");
    assert_eq!(
        *state.free_workspace(std::ptr::without_provenance_mut(8), default).unwrap_err().kind(),
        ErrorKind::Value
    );
    let b_address = b.addr();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (b, default) = (std::ptr::without_provenance_mut(b_address), std::ptr::null_mut());
            assert!(state.free_workspace(b, default).is_err(), "another thread does not own it");
            let own = state.allocate_workspace(1, default).unwrap();
            state.free_workspace(own, default).unwrap();
        });
    });
    state.free_workspace(b, default).unwrap();
    assert!(state.free_workspace(b, default).is_err(), "freed twice");
    state.free_workspace(a, default).unwrap();
}

#[test]
fn two_hosts_in_a_process_do_not_meet() {
    let (first, second) = (host(), host());
    let tensor = Tensor::from_slice(&first.device("cpu", 0).unwrap(), &[1], &[7_u8]).unwrap();
    drop(first);
    assert_eq!(tensor.to_vec::<u8>().unwrap(), [7], "a tensor keeps its host");
    drop(second);
    let state = Arc::clone(tensor.device().state());
    drop(tensor);
    let unknown = ChipdockDataType { code: 0, bits: 8, lanes: 0 };
    let error = state.allocate(1 << 20, unknown, &[1 << 20]).map(|_| ()).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unavailable, "after shutdown: {error}");
}

#[test]
fn a_forked_child_is_refused() {
    let host = host();
    // SAFETY: the child calls nothing but the checks under test and `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = host.device("cpu", 0).is_err_and(|error| *error.kind() == ErrorKind::WrongState);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!refused)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(status, 0, "the child saw another answer");
    assert!(host.device("cpu", 0).is_ok(), "the parent goes on");
}

#[test]
fn streams_of_host_memory_are_the_default_one() {
    let device = cpu();
    let stream = device.create_stream().unwrap();
    let _current = stream.enter().unwrap();
    let tensor = Tensor::from_slice(&device, &[1], &[1_u8]).unwrap();
    stream.wait_for(&device.default_stream()).unwrap();
    stream.sync().unwrap();
    assert_eq!(tensor.to_vec::<u8>().unwrap(), [1]);
    let other = cpu().create_stream().unwrap();
    assert_eq!(*stream.wait_for(&other).unwrap_err().kind(), ErrorKind::Value);
}

fn bytes(device: &Device, key: &str) -> i64 {
    device.attribute(key).unwrap().unwrap().as_i64().unwrap()
}

fn tensor(device: &Device, kib: i64) -> Result<Tensor, crate::Error> {
    Tensor::empty(device, &[kib, 1024], DType::UINT8)
}

#[test]
fn device_numbers_are_assigned_by_name() {
    let host = host();
    let device = host.device("toy", 1).unwrap();
    let number = device.number();
    assert!(number.device_type >= chipdock_abi::CHIPDOCK_DEVICE_FIRST_ASSIGNED, "{number:?}");
    assert_eq!(number.device_id, 1);
    assert_eq!(self::host().device("toy", 0).unwrap().number().device_type, number.device_type, "P5.14");
    assert_eq!(format!("{:?}", host.device_by_number(number).unwrap()), "toy:1");
    let error = host.device("toy", 2).unwrap_err();
    assert!(error.to_string().contains("\"toy\" has 2 devices, toy:0 to toy:1"), "{error}");
    assert_eq!(
        *host
            .device_by_number(chipdock_abi::ChipdockDevice { device_type: 77, device_id: 0 })
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn tensors_move_between_kinds_of_device() {
    let host = host();
    let (cpu, toy) = (host.device("cpu", 0).unwrap(), host.device("toy", 0).unwrap());
    let numbers: Vec<i32> = (0..12).collect();
    let here = Tensor::from_slice(&cpu, &[3, 4], &numbers).unwrap();
    let there = here.to_device(&toy).unwrap();
    assert_eq!(there.device().number().device_type, toy.number().device_type);
    assert_eq!(there.to_vec::<i32>().unwrap(), numbers);
    let column = there.slice(1, 2, 1).unwrap();
    assert_eq!(column.to_vec::<i32>().unwrap(), [2, 6, 10]);
    column.copy_from(&Tensor::from_slice(&cpu, &[3, 1], &[20, 60, 100]).unwrap()).unwrap();
    assert_eq!(
        there.to_device(&cpu).unwrap().to_vec::<i32>().unwrap(),
        [0, 1, 20, 3, 4, 5, 60, 7, 8, 9, 100, 11]
    );
}

#[test]
fn a_full_device_is_trimmed_and_asked_once_more() {
    let device = host().device("toy", 0).unwrap();
    let half = (toy_for_tests::DEVICE_BYTES / 2048).cast_signed();
    let (a, b) = (tensor(&device, half).unwrap(), tensor(&device, half).unwrap());
    let error = tensor(&device, 1).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::OutOfMemory);
    drop((a, b));
    assert_eq!(bytes(&device, "bytes"), toy_for_tests::DEVICE_BYTES.cast_signed(), "cached");
    let small = tensor(&device, 1).unwrap();
    assert_eq!(bytes(&device, "bytes"), 1024, "the cache went back, and the allocation was tried again");
    drop(small);
    device.trim().unwrap();
    assert_eq!(bytes(&device, "bytes"), 0);
}

#[test]
fn memory_is_not_handed_to_another_stream_before_work_is_done() {
    let device = host().device("toy", 0).unwrap();
    let (first, second) = (device.create_stream().unwrap(), device.create_stream().unwrap());
    let data = |tensor: &Tensor| tensor.view().data().addr();
    let guard = first.enter().unwrap();
    let a = tensor(&device, 4).unwrap();
    let address = data(&a);
    drop(a);
    let again = tensor(&device, 4).unwrap();
    assert_eq!(data(&again), address, "its own stream gets it at once");
    drop(again);
    drop(guard);
    {
        let _current = second.enter().unwrap();
        assert_ne!(data(&tensor(&device, 4).unwrap()), address, "another does not");
    }
    drop(first);
    let _current = second.enter().unwrap();
    let taken: Vec<Tensor> = (0..2).map(|_| tensor(&device, 4).unwrap()).collect();
    assert!(taken.iter().any(|tensor| data(tensor) == address), "a stream that ended is done");
}

#[test]
fn memory_that_a_call_used_on_another_stream_waits_for_all() {
    let host = host();
    let device = host.device("toy", 0).unwrap();
    let module = super::build_tests::load(&host);
    let count = module.function("count").unwrap();
    let stream = device.create_stream().unwrap();
    let tensor = tensor(&device, 4).unwrap();
    let address = tensor.view().data().addr();
    {
        let _current = stream.enter().unwrap();
        assert_eq!(count.call(&[(&tensor).into()]).unwrap().to::<i64>().unwrap(), 4096);
    }
    drop(tensor);
    let other = self::tensor(&device, 4).unwrap();
    assert_ne!(other.view().data().addr(), address, "the stream may still use it");
    drop(other);
    device.sync().unwrap();
    let taken: Vec<usize> = (0..2)
        .map(|_| self::tensor(&device, 4).unwrap())
        .collect::<Vec<_>>()
        .iter()
        .map(|t| t.view().data().addr())
        .collect();
    assert!(taken.contains(&address), "now it is idle");
}

#[test]
fn a_host_that_goes_away_gives_everything_back() {
    let host = host();
    let device = host.device("toy", 0).unwrap();
    drop((tensor(&device, 4).unwrap(), tensor(&device, 8).unwrap()));
    let data = device.state().allocate_workspace(100, std::ptr::null_mut()).unwrap();
    device.state().free_workspace(data, std::ptr::null_mut()).unwrap();
    assert_ne!(bytes(&device, "bytes"), 0);
    host.0.devices.release();
    assert_eq!(bytes(&device, "bytes"), 0);
}

/// A host that was closed leaves its services, which plugins may still hold, and little else: not
/// its copy of the environment.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn closed_hosts_leave_little_memory() {
    const HOSTS: usize = 100;
    // SAFETY: asks the allocator for numbers.
    let in_use = || unsafe { libc::mallinfo2() }.uordblks;
    let one = || {
        let variables: Variables = (0..50).map(|n| (format!("V{n}"), "x".repeat(100))).collect();
        let environment = Environment { variables, ..Environment::empty() };
        let host = Host::new(HostOptions { environment, ..HostOptions::isolated() }).unwrap();
        let device = host.device("cpu", 0).unwrap();
        Tensor::from_slice(&device, &[4], &[1_i32, 2, 3, 4]).unwrap();
        let add = super::build_tests::load(&host).function("add").unwrap();
        assert_eq!(add.call(&[1_i64.into(), 2_i64.into()]).unwrap().to::<i64>().unwrap(), 3);
    };
    (0..10).for_each(|_| one());
    // The least of several: other tests may run beside this one.
    let left = (0..5).map(|_| {
        let before = in_use();
        (0..HOSTS).for_each(|_| one());
        in_use().saturating_sub(before) / HOSTS
    });
    let left = left.min().unwrap();
    println!("{left} bytes a host");
    assert!(left < LEFT_BYTES_MAX, "each closed host leaves {left} bytes");
}
