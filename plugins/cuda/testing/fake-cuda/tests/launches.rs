//! Tests of modules and launches of the plugin `cuda` on the fake driver, through `dlopen` as for a
//! user.

use crate::common::{AXES, arguments, artifact, fake, made, pointer, ptx, recorder, space};
use chipdock_host::{ErrorKind, Function, Host, Tensor, Verdict};
use chipdock_ir::DType;
use chipdock_ir::attr::{COOPERATIVE_LAUNCH as COOPERATIVE, DYNAMIC_SHARED_MEMORY as DYNAMIC_SHARED};
use serde_json::json;

/// Serialises what looks at counts or makes the driver fail: the driver is the process's.
static ALONE: std::sync::RwLock<()> = std::sync::RwLock::new(());

fn load(host: &Host, launch_params: &[&str]) -> Function {
    host.load(&recorder(launch_params)).expect("loads").function("f_kernel").expect("there")
}

fn recorded(space: &Tensor) -> Vec<i64> {
    space.to_vec::<i64>().expect("read")
}

#[test]
fn a_launch_arrives_as_it_was_called() {
    let _shared = ALONE.read();
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    let params = [&AXES[..], &[DYNAMIC_SHARED]].concat();
    let kernel = load(&host, &params);
    let space = space(&device);
    kernel.call(&arguments(&space, &[7, 5, 3, 32, 4, 2, 640])).expect("launched");
    let found = recorded(&space);
    let scalars = [i64::from(-2_i32 as u32), i64::from(1.5_f32.to_bits()), 255];
    assert_eq!(found[..9], [7, 5, 3, 32, 4, 2, 640, 0, 0]);
    assert_eq!(found[9], space.view().data().addr() as i64);
    assert_eq!(found[10..13], scalars);
    // On a stream, in its order, and with an address inside of the data space.
    let stream = device.create_stream().expect("a stream");
    let _entered = stream.enter().expect("entered");
    let mut args = arguments(&space, &[1, 1, 1, 1, 1, 1, 0]);
    args[0] = pointer(space.view().data().wrapping_byte_add(8));
    kernel.call(&args).expect("launched");
    assert_eq!(recorded(&space)[1..7], [1, 1, 1, 1, 1, 1]);
    // Nothing is launched for an extent of 0.
    space.copy_from_bytes(&[0; 128]).expect("copied");
    kernel.call(&arguments(&space, &[7, 0, 3, 32, 4, 2, 640])).expect("nothing to do");
    assert_eq!(recorded(&space), [0; 16]);
}

#[test]
fn cooperative_launches_say_so() {
    let _shared = ALONE.read();
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    let kernel = load(&host, &["blockIdx.x", "threadIdx.x", COOPERATIVE]);
    let space = space(&device);
    kernel.call(&arguments(&space, &[64, 32])).expect("launched");
    assert_eq!(recorded(&space)[..8], [64, 1, 1, 32, 1, 1, 0, 1]);
    let error = kernel.call(&arguments(&space, &[65, 32])).expect_err("too many");
    assert_eq!(*error.kind(), ErrorKind::Value);
    for word in ["CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks", "65x1x1 blocks"] {
        assert!(error.message().contains(word), "{word} in {}", error.message());
    }
}

#[test]
fn an_excess_is_named_and_harms_nothing() {
    let _shared = ALONE.read();
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    let kernel = load(&host, &[&AXES[..], &[DYNAMIC_SHARED]].concat());
    let space = space(&device);
    let beyond: [([i64; 7], &str); 7] = [
        ([1, 65_536, 1, 1, 1, 1, 0], "at most 65535 blocks of a grid on axis y, found 65536"),
        ([1 << 31, 1, 1, 1, 1, 1, 0], "at most 2147483647 blocks of a grid on axis x, found 2147483648"),
        ([1, 1, 1, 1, 1, 65, 0], "at most 64 threads of a block on axis z, found 65"),
        ([1, 1, 1, 1025, 1, 1, 0], "at most 1024 threads of a block on axis x, found 1025"),
        ([1, 1, 1, 512, 2, 2, 0], "at most 1024 threads of a block, found 2048"),
        (
            [1, 1, 1, 1, 1, 1, (99 << 10) + 1],
            "at most 101376 bytes of shared memory of a block, found 101377",
        ),
        ([1, 1, 1, 1, 1, 1, i64::MAX], "bytes of shared memory"),
    ];
    for (launch, says) in beyond {
        let error = kernel.call(&arguments(&space, &launch)).expect_err(says);
        assert_eq!(*error.kind(), ErrorKind::Value, "{error}");
        assert!(error.message().contains(says), "{says} in {}", error.message());
    }
    // Above what every kernel may have, up to what this one is allowed when it asks.
    for bytes in [48 << 10, (48 << 10) + 1, 99 << 10] {
        kernel.call(&arguments(&space, &[1, 1, 1, 1, 1, 1, bytes])).expect("launched");
        assert_eq!(recorded(&space)[6], bytes);
    }
}

#[test]
fn static_shared_memory_counts() {
    let _shared = ALONE.read();
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    let body = "\t.shared .align 4 .b32 tile[1024];\n\t// fake: record";
    let text = ptx("sm_75", &[("f_kernel_", &[".u64"], body)]);
    let module = host.load(&artifact(&text, &["handle"], &["blockIdx.x", DYNAMIC_SHARED])).expect("loads");
    let kernel = module.function("f_kernel").expect("there");
    let space = space(&device);
    let call = |bytes: i64| kernel.call(&[pointer(space.view().data()), 1_i64.into(), bytes.into()]);
    for bytes in [44 << 10, 48 << 10, 95 << 10] {
        call(bytes).expect("launched");
        assert_eq!(recorded(&space)[6], bytes);
    }
    let error = call((95 << 10) + 1).expect_err("too much");
    assert!(error.message().contains("found 101377"), "{}", error.message());
}

#[test]
fn wrong_handles_are_refused_before_the_driver_sees_them() {
    let _shared = ALONE.read();
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    let kernel = load(&host, &["blockIdx.x"]);
    let good = space(&device);
    let elsewhere = space(&host.device("cuda", 1).expect("another device"));
    let mut in_host_memory = [0_i64; 16];
    let freed = {
        let freed = Tensor::zeros(&device, &[40_000], DType::INT64).expect("memory");
        freed.view().data()
    };
    device.trim().expect("given back");
    let wrong = [elsewhere.view().data(), in_host_memory.as_mut_ptr().cast(), freed];
    for address in wrong {
        let mut args = arguments(&good, &[1]);
        args[0] = pointer(address);
        let error = kernel.call(&args).expect_err("refused");
        assert_eq!(*error.kind(), ErrorKind::WrongState, "{error}");
        kernel.call(&arguments(&good, &[1])).expect("the device is usable");
    }
    assert_eq!(recorded(&good)[..3], [1, 1, 1]);
    assert_eq!((in_host_memory, recorded(&elsewhere)), ([0; 16], vec![0; 16]));
}

#[test]
fn the_log_of_the_drivers_compiler_is_in_the_error() {
    let _shared = ALONE.read();
    let host = fake().host();
    let text = ptx("sm_75", &[("f_kernel_", &[".u64"], "syntax error here")]);
    let error = host.load(&artifact(&text, &["handle"], &["blockIdx.x"])).expect_err("refused");
    assert_eq!(*error.kind(), ErrorKind::Value);
    for word in
        ["CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed", "line 8", "Parsing error near 'here'"]
    {
        assert!(error.message().contains(word), "{word} in {}", error.message());
    }
    let text = ptx("sm_75", &[("another", &[".u64"], "")]);
    let error = host.load(&artifact(&text, &["handle"], &["blockIdx.x"])).expect_err("refused");
    assert_eq!(*error.kind(), ErrorKind::NotFound);
    assert!(error.message().contains("f_kernel_"), "{}", error.message());
}

#[test]
fn code_for_another_architecture_has_its_own_error() {
    let _shared = ALONE.read();
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    let newer = artifact(&ptx("sm_90", &[("f_kernel_", &[".u64"], "")]), &["handle"], &["blockIdx.x"]);
    let Verdict::Recompile(why) = host.check_artifact(&newer, &device).expect("a verdict") else {
        panic!("expected a verdict that says to compile it again");
    };
    assert!(why.contains("sm_90") && why.contains("sm_86"), "{why}");
    let error = host.load(&newer).expect_err("refused");
    assert_eq!(*error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("sm_86"), "{}", error.message());
    let runs = host.check_artifact(&recorder(&[]), &device).expect("a verdict");
    assert_eq!(runs, Verdict::Ok);
    let index =
        json!({"module_kind": "cuda", "format": "cubin", "functions": [], "options": {"arch": "sm_86"}});
    let cut = host.load(&made(&index, "code", b"\x7FELF\x02\x01 and no more")).expect_err("refused");
    assert_eq!(*cut.kind(), ErrorKind::Value);
}

#[test]
fn the_callers_context_stays() {
    let _shared = ALONE.read();
    let fake = fake();
    let host = fake.host();
    let (one, other) = (host.device("cuda", 0).expect("one"), host.device("cuda", 1).expect("other"));
    let kernel = load(&host, &["blockIdx.x"]);
    let space = space(&one);
    // A context that somebody else made current: that of the other device.
    Tensor::zeros(&other, &[4], DType::INT64).expect("its context is there");
    let theirs = 0xC0DE_0200;
    for context in [0, theirs] {
        fake.set_context(context);
        kernel.call(&arguments(&space, &[1])).expect("launched");
        recorded(&space);
        one.create_stream().expect("a stream").wait_for(&one.default_stream()).expect("ordered");
        assert_eq!(fake.context(), context);
    }
    fake.set_context(0);
}

#[test]
fn memory_of_another_host_is_known_to_the_driver() {
    let _shared = ALONE.read();
    let (host, other) = (fake().host(), fake().host());
    let theirs = space(&other.device("cuda", 0).expect("a device"));
    let kernel = load(&host, &["blockIdx.x"]);
    kernel.call(&arguments(&theirs, &[9])).expect("launched");
    host.device("cuda", 0).expect("a device").sync().expect("done");
    assert_eq!(recorded(&theirs)[0], 9);
}

#[test]
fn devices_copy_to_each_other_or_say_that_they_cannot() {
    let _alone = ALONE.write();
    let host = fake().host();
    let (one, other) = (host.device("cuda", 0).expect("one"), host.device("cuda", 1).expect("other"));
    let values: Vec<i64> = (0..16).collect();
    let from = Tensor::from_slice(&one, &[16], &values).expect("made");
    assert_eq!(recorded(&from.to_device(&other).expect("copied")), values);
    fake().refuse_peers(true);
    let refused = from.to_device(&other).map(|there| recorded(&there));
    fake().refuse_peers(false);
    match refused {
        // The host may stage it.
        Ok(staged) => assert_eq!(staged, values),
        Err(error) => {
            assert_eq!(*error.kind(), ErrorKind::Unsupported);
            assert!(error.message().contains("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"), "{}", error.message());
        }
    }
    assert_eq!(recorded(&from.to_device(&other).expect("copied")), values);
}

#[test]
fn out_of_memory_is_reported_and_changes_nothing() {
    let _alone = ALONE.write();
    let host = fake().host();
    let device = host.device("cuda", 0).expect("a device");
    space(&device);
    // The host trims its pool and asks once more.
    fake().out_of_memory(2);
    let error = Tensor::empty(&device, &[100_000], DType::INT64).expect_err("none is left");
    assert_eq!(*error.kind(), ErrorKind::OutOfMemory);
    assert!(error.message().contains("CUDA_ERROR_OUT_OF_MEMORY"), "{}", error.message());
    fake().out_of_memory(1);
    Tensor::empty(&device, &[100_000], DType::INT64).expect("had at the second attempt");
}

#[test]
fn functions_keep_their_code_loaded_and_nothing_leaks() {
    let _alone = ALONE.write();
    let before = fake().counts();
    assert_eq!(
        (before.memory, before.modules, before.retained),
        (0, 0, 0),
        "other tests are done: {before:?}"
    );
    {
        let host = fake().host();
        let device = host.device("cuda", 0).expect("a device");
        let module = host.load(&recorder(&["blockIdx.x"])).expect("loads");
        let kernel = module.function("f_kernel").expect("there");
        drop(module);
        let space = space(&device);
        let stream = device.create_stream().expect("a stream");
        stream.wait_for(&device.default_stream()).expect("ordered");
        kernel.call(&arguments(&space, &[3])).expect("launched");
        assert_eq!(recorded(&space)[0], 3);
        let during = fake().counts();
        assert_eq!((during.modules, during.streams, during.events, during.retained), (1, 1, 0, 1));
    }
    let after = fake().counts();
    assert_eq!((after.memory, after.streams, after.events), (0, 0, 0), "{after:?}");
    assert_eq!((after.modules, after.functions, after.retained), (0, 0, 0), "{after:?}");
}
