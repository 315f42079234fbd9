//! Tests of launches of kernels without the packed call, on the devices present: the requests that
//! the host refuses before it calls the plugin. The conformance suite checks the plugin's
//! obligations (K.5 to K.8).

use chipdock_host::{Error, ErrorKind, Kernel, LaunchArg, Module, Stream, Tensor};
use chipdock_ir::DType;
use chipdock_test_backends::run;
use chipdock_test_backends::{host, on_each_device};

const TEXT: &str = r#"
@T.prim_func(s_tir=True)
def scaled(A: T.Buffer((32,), "int32"), s: T.int32):
    for bx in T.thread_binding(4, thread="blockIdx.x"):
        for tx in T.thread_binding(8, thread="threadIdx.x"):
            with T.sblock("A"):
                v = T.axis.spatial(32, bx * 8 + tx)
                A[v] = A[v] * 3 + s
"#;

fn launch(kernel: &Kernel, stream: &Stream, args: &[LaunchArg<'_>]) -> Result<(), Error> {
    // SAFETY: as many threads as elements; nothing else uses the tensor.
    unsafe { kernel.launch(stream, [4, 1, 1], [8, 1, 1], 0, args) }
}

/// The arguments in the order of the kernel's, with what stands for its pointer and for its scalar.
fn args<'a>(kernel: &Kernel, pointer: LaunchArg<'a>, scalar: LaunchArg<'a>) -> Vec<LaunchArg<'a>> {
    let mut scalars = vec![scalar];
    let dtypes = kernel.described().args.iter();
    let arg = dtypes.map(|dtype| match (dtype.code, dtype.bits) {
        (chipdock_abi::CHIPDOCK_DTYPE_HANDLE, _) => pointer,
        // The others say where the tensor begins.
        (_, bits) => scalars.pop().unwrap_or(LaunchArg::Scalar(&[0; 8][..usize::from(bits / 8)])),
    });
    arg.collect()
}

#[test]
fn a_launch_that_does_not_fit_is_refused_with_its_position() {
    let host = host();
    let module = chipdock_script::parse(TEXT, "scaled.py").unwrap_or_else(|errors| panic!("{errors}"));
    let cpu = host.device("cpu", 0).expect("host memory");
    on_each_device(&host, |backend| {
        let loaded = run::build(&host, backend, &module).unwrap_or_else(|error| panic!("{error}"));
        let name = loaded.imports().iter().flat_map(Module::function_names).next().expect("a kernel");
        let kernel = loaded.kernel(name).expect("interface `launch` 1");
        let tensor =
            |device, elements: i64| Tensor::zeros(device, &[elements], DType::INT32).expect("a tensor");
        let (own, foreign) = (tensor(&backend.device, 32), tensor(&cpu, 32));
        let whole = tensor(&backend.device, 33);
        let behind = whole.slice(0, 1, 32).expect("a slice");
        let stream = backend.device.default_stream();
        let (seven, pointer) = (7_i32.to_le_bytes(), LaunchArg::Tensor(&own));
        let good = args(&kernel, pointer, LaunchArg::Scalar(&seven));
        launch(&kernel, &stream, &good).expect("success");
        stream.sync().expect("done");
        assert_eq!(own.to_vec::<i32>().expect("read"), [7; 32]);

        let refused = |stream: &Stream, args: &[LaunchArg<'_>], kind: ErrorKind, says: &str| {
            let error = launch(&kernel, stream, args).expect_err(says);
            assert_eq!(*error.kind(), kind, "{error}");
            assert!(error.to_string().contains(says), "{error}: expected {says:?} in it");
        };
        let scalar = LaunchArg::Scalar(&seven);
        refused(&cpu.default_stream(), &good, ErrorKind::Value, "cpu:0");
        refused(&stream, &good[1..], ErrorKind::Type, "arguments, found");
        refused(
            &stream,
            &args(&kernel, LaunchArg::Tensor(&foreign), scalar),
            ErrorKind::Value,
            "is on cpu:0",
        );
        refused(
            &stream,
            &args(&kernel, LaunchArg::Tensor(&behind), scalar),
            ErrorKind::Value,
            "4 bytes after",
        );
        refused(&stream, &args(&kernel, scalar, scalar), ErrorKind::Type, "expected handle, found a scalar");
        refused(
            &stream,
            &args(&kernel, pointer, pointer),
            ErrorKind::Type,
            "expected int32, found a pointer",
        );
        refused(
            &stream,
            &args(&kernel, pointer, LaunchArg::Scalar(&[1; 8])),
            ErrorKind::Value,
            "the 4 bytes of",
        );
        assert_eq!(own.to_vec::<i32>().expect("read"), [7; 32], "nothing was launched");
        let error = loaded.kernel("scald").expect_err("no such kernel");
        assert_eq!(*error.kind(), ErrorKind::NotFound, "{error}");
        launch(&kernel, &stream, &good).expect("success");
    });
}
