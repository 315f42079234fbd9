//! Uses one device from many threads at once: compiling, copying and launching, on their own
//! streams and on the default stream.
//!
//! `CHIPDOCK_CROWD_SECONDS` sets the duration: a device must withstand a minute, which a whole run
//! ([`chipdock_test_support::sample`]) takes; an ordinary run takes seconds.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use chipdock_host::{AnyView, Function, Host, Tensor};
use chipdock_ir::DType;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::{host, on_each_device_once};
use chipdock_test_support::sample;

use crate::{REVERSE, build, reversed};

const N_THREADS: u64 = 8;
const SECONDS: u64 = 2;
/// The seconds of a whole run.
const SECONDS_OF_ALL: u64 = 60;

/// Sums rows across the threads of a block, and adds up everything by atomic additions.
const SUMS: &str = "
    @T.prim_func(s_tir=True)
    def sums(A: T.Buffer((\"n\", 32), \"int32\"), B: T.Buffer((n,), \"int32\")):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for i in T.thread_binding(n, thread=\"blockIdx.x\"):
            for k in T.thread_binding(32, thread=\"threadIdx.x\"):
                with T.sblock(\"B\"):
                    vi, vk = T.axis.remap(\"SR\", [i, k])
                    T.reads(A[vi, vk])
                    T.writes(B[vi])
                    with T.init():
                        B[vi] = 0
                    B[vi] = B[vi] + A[vi, vk]

    @T.prim_func(s_tir=True)
    def all(A: T.Buffer((\"n\", 32), \"int32\"), C: T.Buffer((1,), \"int32\")):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for i in T.thread_binding(n, thread=\"blockIdx.x\"):
            for k in T.thread_binding(32, thread=\"threadIdx.x\"):
                T.evaluate(T.call_intrin(\"int32\", \"tirx.atomic_add\", T.address_of(C[0]), A[i, k]))
";

/// The functions, and the number that makes this module another's: the driver has to build it.
struct Kernels {
    reverse: Function,
    sums: Function,
    all: Function,
    plus: Function,
    number: i32,
}

impl Kernels {
    fn new(host: &Host, backend: &Backend, number: i32) -> Self {
        let plus = format!(
            "
    @T.prim_func(s_tir=True)
    def plus(A: T.Buffer((\"n\",), \"int32\")):
        n = T.int32()
        for i in range(n):
            with T.sblock(\"A\"):
                vi = T.axis.spatial(n, i)
                A[vi] = A[vi] + {number}
"
        );
        let loaded = build(host, backend, &format!("{REVERSE}{SUMS}{plus}"));
        let [reverse, sums, all, plus] =
            ["reverse", "sums", "all", "plus"].map(|name| loaded.function(name).expect("there"));
        Self { reverse, sums, all, plus, number }
    }

    /// A round on `n` rows: what it makes is known to the last bit.
    fn round(&self, backend: &Backend, n: i32) {
        let device = &backend.device;
        let values: Vec<i32> = (0..n * 32).map(|value| value ^ (self.number * 77)).collect();
        let tensor = |shape: &[i64], values: &[i32]| Tensor::from_slice(device, shape, values).expect("made");
        let flat = tensor(&[(n * 32).into()], &values);
        let rows = tensor(&[n.into(), 32], &values);
        let turned = Tensor::empty(device, &[(n * 32).into()], DType::INT32).expect("made");
        let sums = Tensor::empty(device, &[n.into()], DType::INT32).expect("made");
        let total = tensor(&[1], &[0]);
        let call = |function: &Function, args: &[&Tensor]| {
            let args: Vec<AnyView<'_>> = args.iter().map(|tensor| AnyView::from(*tensor)).collect();
            function.call(&args).unwrap_or_else(|error| panic!("{error}"));
        };
        call(&self.reverse, &[&flat, &turned]);
        call(&self.plus, &[&turned]);
        call(&self.sums, &[&rows, &sums]);
        call(&self.all, &[&rows, &total]);
        let expected: Vec<i32> = reversed(&values).iter().map(|value| value + self.number).collect();
        assert_eq!(turned.to_vec::<i32>().expect("read"), expected, "reverse and plus of {n} rows");
        let expected: Vec<i32> = values.chunks(32).map(|row| row.iter().sum()).collect();
        assert_eq!(sums.to_vec::<i32>().expect("read"), expected, "sums of {n} rows");
        assert_eq!(total.to_vec::<i32>().expect("read"), [expected.iter().sum::<i32>()], "all of {n} rows");
    }
}

#[test]
fn eight_threads_on_one_device_are_right() {
    let seconds = std::env::var("CHIPDOCK_CROWD_SECONDS").ok().and_then(|text| text.parse().ok());
    let ordinary = if sample::is_whole_run() { SECONDS_OF_ALL } else { SECONDS };
    let length = Duration::from_secs(seconds.unwrap_or(ordinary));
    let host = host();
    on_each_device_once(&host, "many threads at once", |backend| {
        let shared = Kernels::new(&host, backend, 1000);
        let (start, rounds) = (Barrier::new(N_THREADS as usize), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..N_THREADS {
                let (host, shared, start, rounds) = (&host, &shared, &start, &rounds);
                scope.spawn(move || {
                    let stream = (thread % 2 == 0).then(|| backend.device.create_stream().expect("a stream"));
                    let _guard = stream.as_ref().map(|stream| stream.enter().expect("entered"));
                    start.wait();
                    let begin = Instant::now();
                    let own = Kernels::new(host, backend, thread as i32);
                    let mut round = 0;
                    while begin.elapsed() < length || round < 4 {
                        let kernels = if round % 2 == 0 { &own } else { shared };
                        kernels.round(backend, 1 + (round * 13 + thread as i32 * 7) % 90);
                        round += 1;
                    }
                    rounds.fetch_add(round as u64, Ordering::Relaxed);
                });
            }
        });
        println!("{}: {} rounds in {length:?}", backend.target.kind, rounds.into_inner());
    });
}
