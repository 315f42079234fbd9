//! Tests of the interface `reset` 1 of the plugin `cuda` (D.40): a lost device is opened again, for
//! this host and for others.

use crate::common::{artifact, fake, pointer, ptx, space};
use chipdock_host::{Device, ErrorKind, Function, Host, Tensor};

/// A kernel that touches memory that is not there, when it runs.
fn faulty(host: &Host) -> Function {
    let text = ptx("sm_75", &[("f_kernel_", &[".u64"], "\t// fake: fault")]);
    let module = host.load(&artifact(&text, &["handle"], &["blockIdx.x"])).expect("loads");
    module.function("f_kernel").expect("there")
}

fn lose(device: &Device, kernel: &Function) {
    let at = space(device);
    kernel.call(&[pointer(at.view().data()), 1_i64.into()]).expect("queued");
    let error = device.sync().expect_err("it failed");
    assert_eq!(*error.kind(), ErrorKind::DeviceLost, "{error}");
}

fn works(device: &Device, values: &[i64]) {
    let tensor = Tensor::from_slice(device, &[values.len() as i64], values).expect("it works");
    assert_eq!(tensor.to_vec::<i64>().expect("read"), values);
    let stream = device.create_stream().expect("a stream");
    stream.mark().expect("a mark");
    stream.sync().expect("nothing is queued");
}

#[test]
fn d_40_a_lost_device_is_opened_again_and_old_handles_are_gone() {
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    for _ in 0..3 {
        let kernel = faulty(&host);
        // Of a size of its own: the pool has no other to give.
        let before = Tensor::from_slice(&device, &[3000], &[1_i64; 3000]).expect("memory");
        let (stream, mark) = (device.create_stream().expect("a stream"), device.default_stream().mark());
        let mark = mark.expect("a mark");
        lose(&device, &kernel);
        device.reset().expect("it is opened again");
        works(&device, &[1, 2, 3]);
        // The driver gives the same addresses out again; an old handle never becomes another's.
        let after = Tensor::from_slice(&device, &[3000], &[2_i64; 3000]).expect("memory");
        assert_ne!(before.view().data(), after.view().data());
        let error = before.to_bytes().expect_err("gone");
        assert_eq!(*error.kind(), ErrorKind::WrongState, "{error}");
        stream.sync().expect("nothing is queued on it any more");
        for result in [
            stream.mark().map(drop),
            kernel.call(&[pointer(after.view().data()), 1_i64.into()]).map(drop),
            mark.nanoseconds_since(&mark).map(drop),
        ] {
            let error = result.expect_err("made before");
            assert_eq!(*error.kind(), ErrorKind::WrongState, "{error}");
        }
        drop((before, stream, mark, kernel));
        device.trim().expect("handles that are gone may be freed");
        assert_eq!(after.to_vec::<i64>().expect("it lives"), [2; 3000]);
    }
}

#[test]
fn d_40_of_a_device_that_is_not_lost_nothing_changes() {
    let host = fake().host();
    let device = host.device("cuda", 1).expect("a device");
    let tensor = Tensor::from_slice(&device, &[3], &[1_i64, 2, 3]).expect("memory");
    device.reset().expect("nothing to do");
    assert_eq!(tensor.to_vec::<i64>().expect("it lives"), [1, 2, 3]);
}

/// A failure that nobody was told of yet is why a device is opened again, too.
#[test]
fn d_40_a_failure_that_nobody_took_is_forgotten() {
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    let at = space(&device);
    faulty(&host).call(&[pointer(at.view().data()), 1_i64.into()]).expect("queued");
    device.reset().expect("it is opened again");
    works(&device, &[4, 5]);
}

/// The context is the process's: another host's device is lost with it, and opening that again
/// takes nothing from the first.
#[test]
fn d_40_each_host_opens_its_own_device_again() {
    let (one, other) = (fake().host(), fake().host());
    let (first, second) =
        (one.device("cuda", 0).expect("a device"), other.device("cuda", 0).expect("a device"));
    let there = Tensor::from_slice(&second, &[2], &[7_i64, 8]).expect("memory");
    lose(&first, &faulty(&one));
    first.reset().expect("it is opened again");
    let kept = Tensor::from_slice(&first, &[2], &[1_i64, 2]).expect("memory");
    let error = there.to_bytes().expect_err("gone with the context");
    assert_eq!(*error.kind(), ErrorKind::DeviceLost, "{error}");
    assert!(error.message().contains("another host"), "{error}");
    second.reset().expect("it is opened again");
    works(&second, &[3]);
    assert_eq!(kept.to_vec::<i64>().expect("it lives"), [1, 2], "the context was not given up once more");
}
