//! Checks that a script of eight times as many functions, parameters or buffers takes eight times
//! as long to compile to C, and not 64 times, through all stages as for a user.
//! `tests/filetests/tests/growth.rs` checks each stage before the text.

use std::time::Duration;

use chipdock_host::CompileOptions;
use chipdock_test_backends::host;
use rustix::time::{ClockId, clock_gettime};

/// Ratio of the lengths of the two scripts.
const FACTOR: usize = 8;
/// Largest ratio of the times: caches no longer hold the longer script, and other work on the
/// machine takes a part of them (10 alone, past 16 once on a busy machine). A stage in which each
/// item looks at all others takes 64.
const RATIO_MAX: f64 = 24.0;

/// Time that this thread has run: others of the machine do not count.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

fn grows_no_faster(n: usize, text: impl Fn(usize) -> String) {
    let host = host();
    let target = host.target("c").unwrap();
    let compile = |text: &str| {
        let start = thread_time();
        let module = chipdock_script::parse(text, "growth.py").unwrap();
        host.compile(&module, &target, &CompileOptions::default()).unwrap();
        thread_time() - start
    };
    // In turn, and the least of each: what disturbs only adds.
    let (few, many) = (text(n), text(FACTOR * n));
    let runs: Vec<(Duration, Duration)> = (0..3).map(|_| (compile(&few), compile(&many))).collect();
    let few = runs.iter().map(|(few, _)| *few).min().unwrap();
    let many = runs.iter().map(|(_, many)| *many).min().unwrap();
    let ratio = many.as_secs_f64() / few.as_secs_f64();
    println!("{few:?} for {n}, {many:?} for {}: {ratio:.1} times", FACTOR * n);
    assert!(ratio < RATIO_MAX, "{few:?} for {n}, {many:?} for {}: {ratio:.1} times", FACTOR * n);
}

fn many(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

#[test]
fn with_functions() {
    grows_no_faster(50, |n| {
        let one = |i: usize| {
            format!(
                "    @T.prim_func(s_tir=True)\n    def f{i}(A: T.Buffer((16,), \"float32\")):\n        A[0] = T.float32(1)\n"
            )
        };
        format!("@I.ir_module\nclass Module:\n{}", many(n, one))
    });
}

#[test]
fn with_parameters() {
    grows_no_faster(100, |n| {
        let params = many(n, |i| format!("p{i}: T.int32, "));
        let body = many(n, |i| format!("    A[{i}] = p{i}\n"));
        format!("@T.prim_func(s_tir=True)\ndef f({params}A: T.Buffer((10000,), \"int32\")):\n{body}")
    });
}

#[test]
fn with_buffers() {
    grows_no_faster(250, |n| {
        let body =
            many(n, |i| format!("    B{i} = T.alloc_buffer((4,), \"float32\")\n    B{i}[0] = A[{i}]\n"))
                + &many(n, |i| format!("    A[{i}] = B{i}[0]\n"));
        format!("@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((10000,), \"float32\")):\n{body}")
    });
}
