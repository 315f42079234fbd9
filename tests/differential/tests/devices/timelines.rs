//! Tests of timelines and of copies and launches that do not wait: two streams exchange elements in
//! the order of timelines, on each device, with interface `timeline` 1 and without.

use std::time::{Duration, Instant};

use chipdock_host::{ErrorKind, Kernel, LaunchArg, Module, Order, Stream, Tensor, Timeline};
use chipdock_ir::DType;
use chipdock_programs::Random;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::{host, on_each_device_once};

use crate::{build, streams};

/// Elements of a tensor.
const SIZE: i64 = 4096;

const KERNELS: &str = "    @T.prim_func(s_tir=True)
    def scaled(A: T.Buffer((4096,), \"int32\"), s: T.int32):
        for bx in T.thread_binding(128, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(32, thread=\"threadIdx.x\"):
                for i in range(ROUNDS):
                    A[bx * 32 + tx] = A[bx * 32 + tx] * 3 + s
";

struct Bench {
    kernel: Kernel,
    /// How often the kernel multiplies.
    rounds: usize,
    _module: Module,
}

impl Bench {
    fn new(host: &chipdock_host::Host, backend: &Backend, rounds: usize) -> Self {
        let loaded = build(host, backend, &KERNELS.replace("ROUNDS", &rounds.to_string()));
        let name = loaded.imports().iter().flat_map(Module::function_names).next();
        let name = name.or_else(|| loaded.function_names().next()).expect("a kernel").to_owned();
        let kernel = loaded.kernel(&name).expect("interface `launch` 1");
        Self { kernel, rounds, _module: loaded }
    }

    fn launch(&self, a: &Tensor, s: i32, stream: &Stream, order: Order<'_>) {
        let s = s.to_le_bytes();
        let mut scalars = vec![LaunchArg::Scalar(&s)];
        let args: Vec<LaunchArg<'_>> = self
            .kernel
            .described()
            .args
            .iter()
            .map(|dtype| match (dtype.code, dtype.bits) {
                (chipdock_abi::CHIPDOCK_DTYPE_HANDLE, _) => LaunchArg::Tensor(a),
                // The others say where the tensor begins.
                (_, bits) => scalars.pop().unwrap_or(LaunchArg::Scalar(&[0; 8][..usize::from(bits / 8)])),
            })
            .collect();
        // SAFETY: as many threads as elements; other work on the tensor is ordered by `order`.
        unsafe { self.kernel.launch_in_order(stream, [128, 1, 1], [32, 1, 1], 0, &args, order) }
            .expect("queued");
    }

    fn expected(&self, value: i32, s: i32) -> i32 {
        (0..self.rounds).fold(value, |value, _| value.wrapping_mul(3).wrapping_add(s))
    }
}

fn filled(device: &chipdock_host::Device, value: i32) -> Tensor {
    Tensor::from_slice(device, &[SIZE], &[value; SIZE as usize]).expect("a tensor")
}

fn copy(to: &Tensor, from: &Tensor, stream: &Stream, order: Order<'_>) {
    // SAFETY: the tests order other work on both by timelines, or by the stream.
    unsafe { to.copy_from_on(from, stream, order) }.expect("queued");
}

/// A kernel on one stream, a copy on another, back and forth; the host is told by the timeline.
#[test]
fn a_consumer_waits_for_its_producer() {
    let host = host();
    let cpu = host.device("cpu", 0).expect("host memory");
    on_each_device_once(&host, "timelines", |backend| {
        let (bench, device) = (Bench::new(&host, backend, 2000), &backend.device);
        let (producer, consumer) =
            (device.create_stream().expect("made"), device.create_stream().expect("made"));
        let timeline = device.create_timeline(10).expect("made");
        let (a, sink) = (filled(device, 1), filled(&cpu, 0));
        let mut value = 1;
        for round in 0..4_u64 {
            let at = 10 + 2 * round;
            let order = Order { waits: &[(&timeline, at)], signals: &[(&timeline, at + 1)] };
            bench.launch(&a, 5, &producer, order);
            let order = Order { waits: &[(&timeline, at + 1)], signals: &[(&timeline, at + 2)] };
            copy(&sink, &a, &consumer, order);
            value = bench.expected(value, 5);
            if round % 2 == 1 {
                assert!(timeline.wait(at + 2, Some(Duration::from_secs(60))).expect("waited"));
                assert_eq!(timeline.value().expect("asked"), at + 2);
                assert_eq!(sink.to_vec::<i32>().expect("read"), [value; SIZE as usize]);
            }
        }
        producer.sync().and(consumer.sync()).expect("done");
        // By separate calls.
        let other = device.create_timeline(0).expect("made");
        bench.launch(&a, 7, &producer, Order::default());
        producer.signal(&other, 1).expect("queued");
        consumer.wait(&other, 1).expect("queued");
        copy(&sink, &a, &consumer, Order::default());
        consumer.signal(&other, 2).expect("queued");
        assert!(other.wait(2, None).expect("waited"));
        assert_eq!(sink.to_vec::<i32>().expect("read"), [bench.expected(value, 7); SIZE as usize]);
        producer.sync().and(consumer.sync()).expect("done");
    });
}

/// Random copies and launches on several streams, each after those that use its tensors; a model
/// does the same one after the other.
#[test]
fn any_order_by_timelines_gives_what_a_model_gives() {
    let host = host();
    on_each_device_once(&host, "timelines", |backend| {
        let (bench, device) = (Bench::new(&host, backend, 3), &backend.device);
        for seed in 1..=4 {
            let mut random = Random::new(seed);
            let streams: Vec<Stream> = std::iter::once(device.default_stream())
                .chain((0..3).map(|_| device.create_stream().expect("made")))
                .collect();
            let mut model: Vec<i32> = (0..4).collect();
            let tensors: Vec<Tensor> = model.iter().map(|value| filled(device, *value)).collect();
            // The value of a tensor's timeline counts what was queued on it.
            let timelines: Vec<Timeline> = (0..4).map(|_| device.create_timeline(0).expect("made")).collect();
            let mut values = [0_u64; 4];
            for _ in 0..60 {
                let on = &streams[random.index(4)];
                let from = random.index(4);
                let to = (from + 1 + random.index(3)) % 4;
                let is_copy = random.below(2) == 0;
                let used: Vec<usize> = if is_copy { vec![from, to] } else { vec![to] };
                let waits: Vec<_> = used.iter().map(|index| (&timelines[*index], values[*index])).collect();
                let signals: Vec<_> =
                    used.iter().map(|index| (&timelines[*index], values[*index] + 1)).collect();
                let order = Order { waits: &waits, signals: &signals };
                if is_copy {
                    copy(&tensors[to], &tensors[from], on, order);
                    model[to] = model[from];
                } else {
                    bench.launch(&tensors[to], 11, on, order);
                    model[to] = bench.expected(model[to], 11);
                }
                used.iter().for_each(|index| values[*index] += 1);
                if random.below(8) == 0 {
                    values[from] += 1;
                    timelines[from].set(values[from]).expect("set");
                }
                if random.below(12) == 0 {
                    assert!(timelines[to].wait(values[to], None).expect("waited"));
                }
            }
            for (timeline, value) in timelines.iter().zip(values) {
                assert!(timeline.wait(value, None).expect("waited"));
                assert_eq!(timeline.value().expect("asked"), value);
            }
            streams.iter().for_each(|stream| stream.sync().expect("done"));
            for (index, (tensor, value)) in tensors.iter().zip(&model).enumerate() {
                let found = tensor.to_vec::<i32>().expect("read");
                assert_eq!(found, [*value; SIZE as usize], "tensor {index} of seed {seed}");
            }
        }
    });
}

/// The tensors of a queued copy are dropped at once, and their memory is not used again before the
/// copy is done.
#[test]
fn memory_of_a_queued_copy_is_kept() {
    let host = host();
    let cpu = host.device("cpu", 0).expect("host memory");
    on_each_device_once(&host, "timelines", |backend| {
        let (bench, device) = (Bench::new(&host, backend, 20_000), &backend.device);
        let stream = device.create_stream().expect("made");
        let busy = filled(device, 1);
        let sinks: Vec<Tensor> = (0..16).map(|_| filled(device, -1)).collect();
        bench.launch(&busy, 1, &stream, Order::default());
        for (value, sink) in (0..).zip(&sinks) {
            let source = filled(device, value);
            copy(sink, &source, &stream, Order::default());
            drop(source);
            // What a pool gives out again is overwritten.
            drop(filled(device, 1000));
        }
        // From host memory that is dropped, and of one that is dropped before it is read.
        let back = filled(device, -1);
        copy(&back, &filled(&cpu, 77), &stream, Order::default());
        copy(&filled(&cpu, 0), &back, &stream, Order::default());
        stream.sync().expect("done");
        for (value, sink) in (0_i32..).zip(&sinks) {
            assert_eq!(sink.to_vec::<i32>().expect("read"), [value; SIZE as usize]);
        }
        assert_eq!(back.to_vec::<i32>().expect("read"), [77; SIZE as usize]);
        // More than are kept for one stream.
        for _ in 0..1500 {
            copy(&back, &sinks[3], &stream, Order::default());
        }
        drop(stream);
        assert_eq!(back.to_vec::<i32>().expect("read"), [3; SIZE as usize]);
    });
}

#[test]
fn what_cannot_be_queued_is_refused() {
    let host = host();
    let cpu = host.device("cpu", 0).expect("host memory");
    on_each_device_once(&host, "timelines", |backend| {
        let device = &backend.device;
        let (a, b, stream) = (filled(device, 1), filled(device, 2), device.default_stream());
        let refused =
            |to: &Tensor, from: &Tensor, on: &Stream, order: Order<'_>, kind: ErrorKind, says: &str| {
                // SAFETY: nothing is queued.
                let error = unsafe { to.copy_from_on(from, on, order) }.expect_err(says);
                assert_eq!(*error.kind(), kind, "{error}");
                assert!(error.to_string().contains(says), "{error}: expected {says:?}");
            };
        let none = Order::default();
        let every_second = a.strided(&[SIZE / 2], &[2], 0).expect("a view");
        let half = Tensor::zeros(device, &[SIZE / 2], DType::INT32).expect("a tensor");
        refused(&half, &every_second, &stream, none, ErrorKind::Unsupported, "not compact");
        refused(&a, &half, &stream, none, ErrorKind::Value, "shape");
        refused(&a, &b, &cpu.default_stream(), none, ErrorKind::Value, "use a stream of the device");
        refused(&a, &filled(&cpu, 1), &cpu.default_stream(), none, ErrorKind::Value, "stream of cpu:0");
        let part = |start| a.slice(0, start, SIZE / 2).expect("a slice");
        refused(&part(0), &part(8), &stream, none, ErrorKind::Unsupported, "overlap");
        let (timeline, other) =
            (device.create_timeline(5).expect("made"), cpu.create_timeline(0).expect("made"));
        let order = Order { waits: &[(&other, 0)], signals: &[] };
        refused(&a, &b, &stream, order, ErrorKind::Value, "timeline of cpu:0");
        let order = Order { waits: &[(&timeline, 6)], signals: &[(&timeline, 7)] };
        refused(&a, &b, &stream, order, ErrorKind::WrongState, "6");
        let order = Order { waits: &[], signals: &[(&timeline, 7), (&timeline, 7)] };
        refused(&a, &b, &stream, order, ErrorKind::Value, "rise");
        let error = stream.wait(&timeline, 6).expect_err("nobody signals it");
        assert_eq!(*error.kind(), ErrorKind::WrongState, "{error}");
        assert_eq!(timeline.value().expect("asked"), 5);
        assert_eq!(a.to_vec::<i32>().expect("read"), [1; SIZE as usize], "nothing was copied");
        let begin = Instant::now();
        assert!(!timeline.wait(6, Some(Duration::from_millis(30))).expect("waited"));
        assert!(begin.elapsed() >= Duration::from_millis(25), "{:?}", begin.elapsed());
    });
}

/// A thread waits for what another thread signals later, on a device and on the host.
#[test]
fn a_wait_may_come_before_the_signal() {
    let host = host();
    let cpu = host.device("cpu", 0).expect("host memory");
    let check = |device: &chipdock_host::Device| {
        let (timeline, stream) = (device.create_timeline(0).expect("made"), device.default_stream());
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| timeline.wait(2, None));
            std::thread::sleep(Duration::from_millis(20));
            timeline.set(1).expect("set");
            stream.signal(&timeline, 2).expect("queued");
            assert!(waiter.join().expect("a thread").expect("waited"));
        });
        assert_eq!(timeline.value().expect("asked"), 2);
    };
    check(&cpu);
    on_each_device_once(&host, "timelines", |backend| check(&backend.device));
}

/// A copy that is queued while kernels run is done before them, and one that waits for them is not:
/// by what timelines show.
#[test]
fn a_queued_copy_overlaps_with_a_kernel() {
    let host = host();
    on_each_device_once(&host, "timelines", |backend| {
        let (bench, device) = (streams::Bench::new(&host, backend), &backend.device);
        let name = device.attribute("device_name").expect("asked");
        let is_llvmpipe = name.is_some_and(|name| name.to_string().contains("llvmpipe"));
        if !device.has_timelines() || is_llvmpipe {
            // llvmpipe copies once it is idle.
            return chipdock_test_support::skipped(&format!("a copy beside a kernel, on {device:?}"));
        }
        let (busy, free) = (bench.stream(), bench.stream());
        let a = bench.number(1);
        let from = Tensor::from_slice(device, &[1 << 18], &[5_i32; 1 << 18]).expect("made");
        let to = Tensor::zeros(device, &[1 << 18], DType::INT32).expect("made");
        for waits in [false, true] {
            let [kernels, copied] = [0; 2].map(|initial| device.create_timeline(initial).expect("made"));
            let marks = device.has_timer().then(|| busy.mark().expect("marked"));
            bench.on(&busy, |bench| (0..3).for_each(|_| bench.queue_slow(&a)));
            busy.signal(&kernels, 1).expect("queued");
            let begin = Instant::now();
            let after = [(&kernels, 1)];
            let order = Order { waits: if waits { &after } else { &[] }, signals: &[(&copied, 1)] };
            copy(&to, &from, &free, order);
            let queued = begin.elapsed();
            let ends = marks.is_some().then(|| [busy.mark().expect("marked"), free.mark().expect("marked")]);
            assert!(copied.wait(1, None).expect("waited"));
            let done = begin.elapsed();
            let are_done = kernels.value().expect("asked");
            assert!(kernels.wait(1, None).expect("waited"));
            let all = begin.elapsed();
            assert_eq!(
                are_done == 1,
                waits,
                "queued in {queued:?}, copied after {done:?}, kernels after {all:?}"
            );
            assert!(queued < all / 2, "the copy was queued for {queued:?} of {all:?}");
            println!(
                "{device:?}, waits: {waits}: queued in {queued:?}, copied after {done:?}, kernels after {all:?}"
            );
            if let (Some(begin), Some([kernels, copied])) = (marks, ends) {
                let [kernels, copied] =
                    [kernels, copied].map(|end| end.nanoseconds_since(&begin).expect("measured"));
                println!(
                    "by the device's marks: the copy done {copied:.0} ns, the kernels {kernels:.0} ns after these began"
                );
            }
        }
        busy.sync().and(free.sync()).expect("done");
        assert_eq!(to.to_vec::<i32>().expect("read")[..4], [5; 4]);
    });
}
