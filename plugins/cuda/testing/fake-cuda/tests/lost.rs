//! Test that a kernel that accesses memory which does not exist poisons the context: the device is
//! lost, with the cause.

use crate::common::{artifact, fake, pointer, ptx, space};
use chipdock_host::{ErrorKind, Tensor};
use chipdock_ir::DType;

#[test]
fn a_device_that_is_lost_says_so_and_the_other_works_on() {
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    let space = space(&device);
    let text = ptx("sm_75", &[("f_kernel_", &[".u64"], "\t// fake: fault")]);
    let module = host.load(&artifact(&text, &["handle"], &["blockIdx.x"])).expect("loads");
    let kernel = module.function("f_kernel").expect("there");
    let stream = device.create_stream().expect("a stream");
    // It is queued, and fails later.
    kernel.call(&[pointer(space.view().data()), 1_i64.into()]).expect("queued");
    let first = device.sync().expect_err("it failed");
    let later = [
        space.to_bytes().map(drop),
        Tensor::empty(&device, &[300], DType::INT64).map(drop),
        kernel.call(&[pointer(space.view().data()), 1_i64.into()]).map(drop),
        stream.sync(),
        device.create_stream().map(drop),
        device.attribute("device_name").map(drop),
    ];
    for error in later.into_iter().map(|result| result.expect_err("lost")).chain([first]) {
        assert_eq!(*error.kind(), ErrorKind::DeviceLost, "{error}");
        for word in
            ["CUDA_ERROR_ILLEGAL_ADDRESS (700)", "an illegal memory access", "cuda:0", "end the process"]
        {
            assert!(error.message().contains(word), "{word} in {}", error.message());
        }
    }
    let other = host.device("cuda", 1).expect("the other device");
    let values = Tensor::from_slice(&other, &[3], &[1_i64, 2, 3]).expect("it works");
    assert_eq!(values.to_vec::<i64>().expect("read"), [1, 2, 3]);
    assert!(device.attribute("exist").is_ok(), "it is there, and lost");
}
