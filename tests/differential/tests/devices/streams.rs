//! Tests of the streams of a device: work is ordered within a stream, concurrent between two, and
//! waits for another stream's work where it is told to.

use std::time::{Duration, Instant};

use chipdock_host::{AnyView, Device, Function, Host, Stream, Tensor};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::{host, on_each_device_once};

use crate::build;

/// One thread that takes its time: steps of a generator of random numbers with a division, of which
/// no compiler knows the end; many in each iteration (`STEPS`), because llvmpipe ends a thread's
/// loops after 65,535 iterations in all. And a step for each of many elements.
const KERNELS: &str = "    @T.prim_func(s_tir=True)
    def slow(A: T.Buffer((1,), \"int32\"), steps: T.int32):
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding(1, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(1, thread=\"threadIdx.x\"):
                t = T.alloc_buffer((1,), \"int32\", scope=\"local\")
                t[0] = A[0]
                for i in range(steps):
STEPS                A[0] = t[0]

    @T.prim_func(s_tir=True)
    def step(A: T.Buffer((\"n\",), \"int32\")):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding((n + 31) // 32, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(32, thread=\"threadIdx.x\"):
                if bx * 32 + tx < n:
                    A[bx * 32 + tx] = A[bx * 32 + tx] * 3 + 1

    @T.prim_func(s_tir=True)
    def copy(A: T.Buffer((1,), \"int32\"), B: T.Buffer((1,), \"int32\")):
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding(1, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(1, thread=\"threadIdx.x\"):
                B[0] = A[0]
";

/// One step, and how many an iteration has.
const STEP: &str = "                    t[0] = t[0] * 1664525 + 1013904223 + T.truncdiv(1234567891, T.bitwise_or(t[0], 1))\n";
const STEPS: usize = 512;

/// A slow kernel runs so long at least, whatever the device.
const SLOW: Duration = Duration::from_millis(300);

/// The kernels on one device, and how many steps are slow there.
pub(crate) struct Bench {
    slow: Function,
    step: Function,
    copy: Function,
    steps: i64,
    device: Device,
}

impl Bench {
    pub(crate) fn new(host: &Host, backend: &Backend) -> Self {
        let loaded = build(host, backend, &KERNELS.replace("STEPS", &STEP.repeat(STEPS)));
        let function = |name: &str| loaded.function(name).expect("there");
        let [slow, step, copy] = ["slow", "step", "copy"].map(function);
        let mut bench = Self { slow, step, copy, steps: 1 << 7, device: backend.device.clone() };
        let one = bench.number(1);
        // The first launches also wait for the driver, which builds each kernel when it is first
        // launched.
        bench.queue_slow(&one);
        bench.copy.call(&[(&one).into(), (&one).into()]).expect("queued");
        bench.device.sync().expect("done");
        loop {
            let start = Instant::now();
            bench.queue_slow(&one);
            bench.device.sync().expect("done");
            if start.elapsed() >= SLOW {
                return bench;
            }
            bench.steps *= 2;
        }
    }

    pub(crate) fn number(&self, value: i32) -> Tensor {
        Tensor::from_slice(&self.device, &[1], &[value]).expect("made")
    }

    pub(crate) fn queue_slow(&self, a: &Tensor) {
        self.slow.call(&[AnyView::from(a), self.steps.into()]).expect("queued");
    }

    pub(crate) fn on<R>(&self, stream: &Stream, work: impl FnOnce(&Self) -> R) -> R {
        let _guard = stream.enter().expect("entered");
        work(self)
    }

    pub(crate) fn stream(&self) -> Stream {
        self.device.create_stream().expect("a stream")
    }
}

/// Queued without a wait between them, so that only their order makes the numbers.
#[test]
fn work_is_ordered_within_a_stream() {
    let host = host();
    on_each_device_once(&host, "streams", |backend| {
        let bench = Bench::new(&host, backend);
        let expected = (0..200).fold(7_i32, |value, _| value.wrapping_mul(3).wrapping_add(1));
        for stream in [bench.device.default_stream(), bench.stream()] {
            let a = Tensor::from_slice(&bench.device, &[1000], &[7_i32; 1000]).expect("made");
            bench.on(&stream, |bench| {
                (0..200).for_each(|_| drop(bench.step.call(&[(&a).into()]).expect("queued")));
                stream.sync().expect("done");
            });
            assert_eq!(a.to_vec::<i32>().expect("read"), [expected; 1000]);
        }
    });
}

/// A launch answers when it is queued, not when it is done.
#[test]
fn a_launch_does_not_wait_for_its_kernel() {
    let host = host();
    on_each_device_once(&host, "streams", |backend| {
        let bench = Bench::new(&host, backend);
        let a = bench.number(1);
        let stream = bench.stream();
        bench.on(&stream, |bench| {
            let start = Instant::now();
            bench.queue_slow(&a);
            let queued = start.elapsed();
            stream.sync().expect("done");
            let done = start.elapsed();
            assert!(queued < done / 4, "queued after {queued:?}, done after {done:?}");
        });
    });
}

#[test]
fn streams_run_at_the_same_time() {
    let host = host();
    on_each_device_once(&host, "streams", |backend| {
        let bench = Bench::new(&host, backend);
        let (busy, free) = (bench.stream(), bench.stream());
        let (a, b, c) = (bench.number(1), bench.number(5), bench.number(0));
        let start = Instant::now();
        bench.on(&busy, |bench| (0..4).for_each(|_| bench.queue_slow(&a)));
        bench.on(&free, |bench| bench.copy.call(&[(&b).into(), (&c).into()]).expect("queued"));
        free.sync().expect("done");
        let of_free = start.elapsed();
        busy.sync().expect("done");
        let of_busy = start.elapsed();
        assert!(
            of_free < of_busy / 2,
            "what waits for nothing was done after {of_free:?}, what it was beside after {of_busy:?}"
        );
        assert_eq!(c.to_vec::<i32>().expect("read"), [5]);
    });
}

/// With the wait, what is copied is the new number, each time; without it the old one, so that the
/// wait is what makes the difference.
#[test]
fn a_stream_waits_for_another_where_it_is_asked_to() {
    let host = host();
    on_each_device_once(&host, "streams", |backend| {
        let bench = Bench::new(&host, backend);
        let (from, to) = (bench.stream(), bench.stream());
        let copied = |waits: bool| {
            let (a, b) = (bench.number(1), bench.number(0));
            bench.on(&from, |bench| bench.queue_slow(&a));
            if waits {
                to.wait_for(&from).expect("queued");
            }
            bench.on(&to, |bench| bench.copy.call(&[(&a).into(), (&b).into()]).expect("queued"));
            to.sync().expect("done");
            let found = b.to_vec::<i32>().expect("read")[0];
            from.sync().expect("done");
            (found, a.to_vec::<i32>().expect("read")[0])
        };
        for round in 0..5 {
            let (found, new) = copied(true);
            assert_eq!(found, new, "round {round}");
            assert_ne!(new, 1);
        }
        let (found, new) = copied(false);
        assert_eq!((found, new == 1), (1, false), "without the wait, the number of before is what is there");
        // The default stream waits like any other.
        let default = bench.device.default_stream();
        let (a, b) = (bench.number(1), bench.number(0));
        bench.on(&from, |bench| bench.queue_slow(&a));
        default.wait_for(&from).expect("queued");
        bench.copy.call(&[(&a).into(), (&b).into()]).expect("queued");
        assert_eq!(b.to_vec::<i32>().expect("read"), a.to_vec::<i32>().expect("read"));
    });
}

/// Memory that a kernel of another stream may still access is not handed out again before that
/// kernel has finished.
#[test]
fn memory_is_not_handed_out_while_queued_work_may_touch_it() {
    let host = host();
    on_each_device_once(&host, "streams", |backend| {
        let bench = Bench::new(&host, backend);
        let stream = bench.stream();
        for round in 0..3 {
            let dropped = bench.number(1);
            bench.on(&stream, |bench| bench.queue_slow(&dropped));
            drop(dropped);
            // Of the same size: the pool would like to hand the same memory out.
            let fresh: Vec<Tensor> = (0..8).map(|value| bench.number(value)).collect();
            stream.sync().expect("done");
            for (value, tensor) in fresh.iter().enumerate() {
                assert_eq!(tensor.to_vec::<i32>().expect("read"), [value as i32], "round {round}");
            }
        }
    });
}
