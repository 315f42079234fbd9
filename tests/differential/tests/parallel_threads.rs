//! Checks that parallel loops are actually parallel: each task has a thread of its own.

use std::collections::BTreeSet;

use chipdock_host::{AnyView, HostOptions, Tensor};
use chipdock_ir::DType;
use chipdock_test_backends::run;
use chipdock_test_backends::{host_with, on_each_host};

/// Each iteration notes its thread and then sleeps, so that every thread has time to begin.
const WHO: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def who(B: T.Buffer((\"n\",), \"uint64\")):
        n = T.int32()
        for i in T.parallel(n):
            B[i] = T.call_extern(\"uint64\", \"pthread_self\")
            T.evaluate(T.call_extern(\"int32\", \"usleep\", T.uint32(1000)))

    @T.prim_func(s_tir=True)
    def who_nested(B: T.Buffer((\"n\", 4), \"uint64\")):
        n = T.int32()
        for i in T.parallel(n):
            for j in T.parallel(4):
                B[i, j] = T.call_extern(\"uint64\", \"pthread_self\")
                T.evaluate(T.call_extern(\"int32\", \"usleep\", T.uint32(100)))
";

/// A caller takes back what no thread has begun, which on a busy machine may be any of it: one try
/// in so many is enough.
const TRIES: usize = 50;

fn count(threads: &[u64]) -> usize {
    threads.iter().collect::<BTreeSet<_>>().len()
}

#[test]
fn iterations_run_on_as_many_threads_as_the_pool_has() {
    let module = chipdock_script::parse(WHO, "who.py").unwrap_or_else(|errors| panic!("{errors}"));
    for threads in [1, 2, 5] {
        let host = host_with(|options| HostOptions { threads: Some(threads), ..options });
        on_each_host(&host, |backend| {
            let loaded = run::build(&host, backend, &module).unwrap_or_else(|error| panic!("{error}"));
            let ran = |name: &str, shape: &[i64]| -> Vec<u64> {
                let b = Tensor::zeros(&backend.device, shape, DType::UINT64).expect("made");
                loaded.function(name).expect("there").call(&[AnyView::from(&b)]).expect("a good call");
                b.to_vec::<u64>().expect("read")
            };
            let mut most = 0;
            for _ in 0..TRIES {
                let flat = ran("who", &[20]);
                most = most.max(count(&flat));
                assert!(count(&flat) <= threads as usize, "no more threads than the pool has");
                // Tasks are consecutive pieces of the loop.
                let n_changes = flat.windows(2).filter(|pair| pair[0] != pair[1]).count();
                assert!(n_changes < threads as usize, "{flat:?}");
                if most == threads as usize {
                    break;
                }
            }
            assert_eq!(most, threads as usize, "threads at work");
            for row in ran("who_nested", &[20, 4]).chunks(4) {
                assert_eq!(count(row), 1, "a region within a region stays on its thread");
            }
        });
    }
}
