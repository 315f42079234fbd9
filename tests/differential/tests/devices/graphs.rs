//! Tests of graphs: what is recorded computes the same when it is replayed, on each device, with
//! interface `graph` 1 and without.

use chipdock_host::{Device, Function, Graph, Kernel, LaunchArg, Module, Order, Stream, Tensor};
use chipdock_test_backends::{host, on_each_device_once};

use crate::{build, refused};

const SIZE: i64 = 1000;

/// Three launches, with an intermediate buffer between them.
const STEPS: &str = "    @T.prim_func(s_tir=True)
    def steps(A: T.Buffer((1000,), \"int32\"), k: T.int32, B: T.Buffer((1000,), \"int32\")):
        T.func_attr({\"tirx.noalias\": True})
        C = T.alloc_buffer((1000,), \"int32\")
        for bx in T.thread_binding(8, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(125, thread=\"threadIdx.x\"):
                C[bx * 125 + tx] = A[bx * 125 + tx] * 3
        for bx in T.thread_binding(8, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(125, thread=\"threadIdx.x\"):
                B[999 - (bx * 125 + tx)] = C[bx * 125 + tx] + k
        for bx in T.thread_binding(8, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(125, thread=\"threadIdx.x\"):
                B[bx * 125 + tx] = B[bx * 125 + tx] + C[bx * 125 + tx]
";

const SCALED: &str = "    @T.prim_func(s_tir=True)
    def scaled(A: T.Buffer((1000,), \"int32\"), s: T.int32):
        for bx in T.thread_binding(8, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(125, thread=\"threadIdx.x\"):
                A[bx * 125 + tx] = A[bx * 125 + tx] * 3 + s
";

fn elements(seed: i32) -> Vec<i32> {
    (0..SIZE as i32).map(|at| at.wrapping_mul(17) % 101 + seed).collect()
}

fn tensor(device: &Device, elements: &[i32]) -> Tensor {
    Tensor::from_slice(device, &[SIZE], elements).expect("a tensor")
}

fn call(function: &Function, a: &Tensor, k: i32, b: &Tensor) {
    function.call(&[a.into(), k.into(), b.into()]).expect("called");
}

fn steps(a: &[i32], k: i32) -> Vec<i32> {
    let c: Vec<i32> = a.iter().map(|value| value * 3).collect();
    (0..c.len()).map(|at| c[c.len() - 1 - at] + k + c[at]).collect()
}

fn replay(graph: &Graph, stream: &Stream, arguments: &[&Tensor]) {
    // SAFETY: the tests pass tensors that do not overlap, and order other work by streams.
    unsafe { graph.replay(stream, arguments, Order::default()) }.expect("replayed");
}

/// GRAPH-G1, GRAPH-G2, GRAPH-G5: a function of three kernels with workspace, replayed with other
/// tensors, several times while earlier replays are queued.
#[test]
fn a_function_of_several_kernels_is_replayed() {
    let host = host();
    on_each_device_once(&host, "graphs", |backend| {
        let (device, module) = (&backend.device, build(&host, backend, STEPS));
        let function = module.function("steps").expect("a function");
        let (a, b) = (tensor(device, &elements(1)), tensor(device, &elements(2)));
        let recording = device.begin_recording(&[&a, &b]).expect("a recording");
        call(&function, &a, 10, &b);
        let graph = recording.finish().expect("a graph");
        assert_eq!(graph.len(), 3, "{graph:?} of {device:?}");
        assert_eq!(b.to_vec::<i32>().expect("elements"), elements(2), "nothing ran");
        drop((a, b));
        let streams = [device.default_stream(), device.create_stream().expect("a stream")];
        let sets: Vec<(Tensor, Tensor)> =
            (0..6).map(|seed| (tensor(device, &elements(seed)), tensor(device, &elements(0)))).collect();
        for (at, (a, b)) in sets.iter().enumerate() {
            replay(&graph, &streams[at % 2], &[a, b]);
        }
        drop(graph);
        for stream in &streams {
            stream.sync().expect("done");
        }
        for (seed, (a, b)) in sets.iter().enumerate() {
            let expected = steps(&elements(seed as i32), 10);
            assert!(b.to_vec::<i32>().expect("elements") == expected, "replay {seed} on {device:?}");
            assert_eq!(a.to_vec::<i32>().expect("elements"), elements(seed as i32));
        }
        // Without a recording it runs as before.
        call(&function, &sets[0].0, 1, &sets[0].1);
        device.sync().expect("done");
        assert_eq!(sets[0].1.to_vec::<i32>().expect("elements"), steps(&elements(0), 1));
    });
}

/// GRAPH-G1, GRAPH-G3: launches and copies by hand; a tensor that is no parameter is kept.
#[test]
fn launches_and_copies_are_replayed_in_their_order() {
    let host = host();
    on_each_device_once(&host, "graphs", |backend| {
        let (device, module) = (&backend.device, build(&host, backend, SCALED));
        let name =
            module.imports().iter().flat_map(Module::function_names).next().expect("a kernel").to_owned();
        let kernel = module.kernel(&name).expect("interface `launch` 1");
        let stream = device.default_stream();
        let (a, kept) = (tensor(device, &elements(1)), tensor(device, &elements(50)));
        let recording = device.begin_recording(&[&a]).expect("a recording");
        launch(&kernel, &a, 1, &stream);
        // SAFETY: recorded; replays are ordered by their stream.
        unsafe { kept.copy_from_on(&a, &stream, Order::default()) }.expect("recorded");
        launch(&kernel, &kept, 2, &stream);
        // SAFETY: recorded; replays are ordered by their stream.
        unsafe { a.copy_from_on(&kept, &stream, Order::default()) }.expect("recorded");
        launch(&kernel, &a, 3, &stream);
        let graph = recording.finish().expect("a graph");
        assert_eq!(graph.len(), 5);
        assert_eq!(kept.to_vec::<i32>().expect("elements"), elements(50), "nothing ran");
        drop((kept, a));
        let x = tensor(device, &elements(7));
        for _ in 0..2 {
            replay(&graph, &stream, &[&x]);
        }
        stream.sync().expect("done");
        let once = |value: i32| ((value * 3 + 1) * 3 + 2) * 3 + 3;
        let expected: Vec<i32> = elements(7).into_iter().map(|value| once(once(value))).collect();
        assert_eq!(x.to_vec::<i32>().expect("elements"), expected, "on {device:?}");
    });
}

fn launch(kernel: &Kernel, a: &Tensor, s: i32, stream: &Stream) {
    let s = s.to_le_bytes();
    let mut scalars = vec![LaunchArg::Scalar(&s)];
    let args: Vec<LaunchArg<'_>> = kernel
        .described()
        .args
        .iter()
        .map(|dtype| match (dtype.code, dtype.bits) {
            (chipdock_abi::CHIPDOCK_DTYPE_HANDLE, _) => LaunchArg::Tensor(a),
            // The others say where the tensor begins.
            (_, bits) => scalars.pop().unwrap_or(LaunchArg::Scalar(&[0; 8][..usize::from(bits / 8)])),
        })
        .collect();
    // SAFETY: as many threads as elements; other work on the tensor is ordered by its stream.
    unsafe { kernel.launch(stream, [8, 1, 1], [125, 1, 1], 0, &args) }.expect("recorded");
}

/// GRAPH-G3, GRAPH-G4: memory that nobody keeps, and a wait of the called function's.
#[test]
fn a_graph_knows_its_memory() {
    let host = host();
    on_each_device_once(&host, "graphs", |backend| {
        let (device, module) = (&backend.device, build(&host, backend, STEPS));
        let function = module.function("steps").expect("a function");
        let (a, b) = (tensor(device, &elements(1)), tensor(device, &elements(2)));
        let recording = device.begin_recording(&[&a]).expect("a recording");
        let called = function.call(&[(&a).into(), 1.into(), (&b).into()]);
        refused(called, &["WrongState"], &["neither a parameter of the graph nor kept"]);
        refused(recording.finish(), &["WrongState"], &["neither a parameter of the graph nor kept"]);
        let recording = device.begin_recording(&[&a]).expect("a recording");
        recording.keep(&b).expect("kept");
        call(&function, &a, 4, &b);
        let graph = recording.finish().expect("a graph");
        let other = tensor(device, &elements(9));
        replay(&graph, &device.default_stream(), &[&other]);
        device.sync().expect("done");
        assert_eq!(b.to_vec::<i32>().expect("elements"), steps(&elements(9), 4));
    });
}
