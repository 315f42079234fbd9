//! CALL-E1 to CALL-E5, X.13 to X.16: calls that would take hours end when their caller wants it, on
//! every backend for host memory, wherever their time goes; what comes after works.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chipdock_host::{AnyView, CallOptions, Error, Function, Host, HostOptions, OnAsk, Tensor};
use chipdock_plugin_api as api;
use chipdock_test_backends::{backends::Backend, host_with, on_each_host, run};

const KERNELS: &str = "@I.ir_module
class Module:
    @T.prim_func
    def innermost(A: T.Buffer((8,), \"float64\"), n: T.int64):
        for i in range(n):
            A[0] = T.sqrt(A[0] + T.Cast(\"float64\", i))

    @T.prim_func
    def constant(A: T.Buffer((8,), \"float64\"), n: T.int64):
        if n > T.int64(100):
            for i in range(T.int64(1099511627776)):
                A[0] = T.sqrt(A[0] + T.Cast(\"float64\", i))
        else:
            for i in range(n):
                A[0] = T.sqrt(A[0] + T.Cast(\"float64\", i))

    @T.prim_func
    def nest(A: T.Buffer((8,), \"float64\"), n: T.int64):
        for i in range(n):
            for j in range(n):
                for k in range(64):
                    A[0] = T.sqrt(A[0] + T.Cast(\"float64\", i))

    @T.prim_func
    def triangle(A: T.Buffer((8,), \"float64\"), n: T.int64):
        for i in range(n):
            for j in range(i % T.int64(100) + T.int64(1)):
                A[0] = T.sqrt(A[0] + T.Cast(\"float64\", i))

    @T.prim_func
    def turns(A: T.Buffer((8,), \"float64\"), n: T.int64):
        i = T.alloc_buffer((1,), \"int64\", scope=\"local\")
        i[0] = T.int64(0)
        while i[0] < n:
            A[0] = T.sqrt(A[0] + T.Cast(\"float64\", i[0]))
            i[0] = i[0] + T.int64(1)

    @T.prim_func
    def leaves(A: T.Buffer((8,), \"float64\"), n: T.int64):
        for i in range(n):
            if A[0] < T.float64(0):
                break
            A[0] = T.sqrt(A[0] + T.Cast(\"float64\", i))

    @T.prim_func
    def region(A: T.Buffer((8,), \"float64\"), n: T.int64):
        for t in T.parallel(8):
            for i in range(n):
                A[t] = T.sqrt(A[t] + T.Cast(\"float64\", i))

    @T.prim_func
    def uneven(A: T.Buffer((8,), \"float64\"), n: T.int64):
        for t in T.parallel(8):
            for i in range(T.if_then_else(t == 0, T.min(n, T.int64(5)), n)):
                A[t] = T.sqrt(A[t] + T.Cast(\"float64\", i))

    @T.prim_func
    def workspace(A: T.Buffer((8,), \"float64\"), n: T.int64):
        W = T.alloc_buffer((4194304,), \"float64\")
        for i in range(4194304):
            W[i] = T.Cast(\"float64\", i)
        for i in range(n):
            A[0] = T.sqrt(A[0] + W[i % T.int64(4194304)])
";

const NAMES: [&str; 9] =
    ["innermost", "constant", "nest", "triangle", "turns", "leaves", "region", "uneven", "workspace"];

/// Iterations that take hours.
const FOREVER: i64 = 1 << 40;
/// After how long a call is to end.
const AFTER: Duration = Duration::from_millis(60);
/// The time in which it has to, on a machine that is busy. The promise is a tenth of a second.
const WITHIN: Duration = Duration::from_secs(2);

fn module() -> chipdock_ir::IrModule {
    chipdock_script::parse(KERNELS, "interrupt.py").unwrap_or_else(|errors| panic!("{errors}"))
}

struct Bench<'a> {
    backend: &'a Backend,
    function: Function,
    name: &'static str,
}

impl Bench<'_> {
    fn call(&self, n: i64, options: &CallOptions) -> (Result<(), Error>, Vec<f64>) {
        let a = Tensor::from_slice(&self.backend.device, &[8], &[1.0; 8]).expect("made");
        let ended = self.function.call_with(&[AnyView::from(&a), n.into()], options).map(drop);
        (ended, a.to_vec().expect("read"))
    }

    /// Calls it for hours; returns the error, and how long after the `event` it came.
    fn interrupted(&self, options: &CallOptions, event: Instant) -> Error {
        let (ended, _) = self.call(FOREVER, options);
        let late = event.elapsed();
        println!("{} {}: {late:?}", self.backend.target.kind, self.name);
        assert!(late < WITHIN, "{} {}: {late:?}", self.backend.target.kind, self.name);
        ended.expect_err("it would take hours")
    }

    /// What comes after is right.
    fn works(&self) {
        let (ended, found) = self.call(10, &CallOptions::default());
        ended.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let turn = |n: i64| (0..n).fold(1.0_f64, |a, i| (a + i as f64).sqrt());
        let expected = match self.name {
            "nest" => (0..10).fold(1.0, |a, i| (0..640).fold(a, |a: f64, _| (a + f64::from(i)).sqrt())),
            "triangle" => (0..10).fold(1.0, |a, i| (0..=i).fold(a, |a: f64, _| (a + f64::from(i)).sqrt())),
            "uneven" => turn(5),
            _ => turn(10),
        };
        assert_eq!(found[0], expected, "{}", self.name);
        if matches!(self.name, "region" | "uneven") {
            assert_eq!(found[1..], [turn(10); 7], "{}", self.name);
        }
    }
}

fn on_each(host: &Host, test: impl Fn(&Bench<'_>)) {
    on_each_host(host, |backend| {
        let loaded = run::build(host, backend, &module()).unwrap_or_else(|error| panic!("{error}"));
        for name in NAMES {
            test(&Bench { backend, function: loaded.function(name).expect("there"), name });
        }
    });
}

fn pools() -> impl Iterator<Item = Host> {
    [1, 4].into_iter().map(|threads| host_with(|options| HostOptions { threads: Some(threads), ..options }))
}

#[test]
fn a_call_ends_at_its_deadline() {
    for host in pools() {
        on_each(&host, |bench| {
            let deadline = Instant::now() + AFTER;
            let error = bench.interrupted(&CallOptions::until(deadline), deadline);
            assert_eq!(error.kind().as_str(), "TimeoutError", "{}: {error}", bench.name);
            bench.works();
        });
    }
}

#[test]
fn a_call_ends_when_another_thread_cancels_it() {
    for host in pools() {
        on_each(&host, |bench| {
            let cancel = Arc::new(AtomicBool::new(false));
            let options = CallOptions { cancel: Some(Arc::clone(&cancel)), ..CallOptions::default() };
            let error = std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(AFTER);
                    cancel.store(true, Ordering::Relaxed);
                });
                bench.interrupted(&options, Instant::now() + AFTER)
            });
            assert_eq!(error.kind().as_str(), "Cancelled", "{}: {error}", bench.name);
            bench.works();
        });
    }
}

/// CALL-E5: also where the caller's thread has only the short task of a region.
#[test]
fn a_call_ends_by_the_error_of_its_caller() {
    for host in pools() {
        on_each(&host, |bench| {
            let (start, caller) = (Instant::now(), std::thread::current().id());
            let on_ask = OnAsk::new(move || {
                assert_eq!(std::thread::current().id(), caller);
                if start.elapsed() < AFTER {
                    return Ok(());
                }
                Err(api::Error::new(api::ErrorKind::new("test.Enough"), "enough"))
            });
            let options = CallOptions { on_ask: Some(on_ask), ..CallOptions::default() };
            let error = bench.interrupted(&options, start + AFTER);
            assert_eq!(error.kind().as_str(), "test.Enough", "{}: {error}", bench.name);
            bench.works();
        });
    }
}

/// CALL-E3: workspace of calls that were ended is used again.
#[test]
fn a_call_that_ends_frees_its_workspace() {
    let host = host_with(|options| options);
    on_each(&host, |bench| {
        if bench.name != "workspace" {
            return;
        }
        let ended = || {
            let deadline = Instant::now() + Duration::from_millis(20);
            bench.interrupted(&CallOptions::until(deadline), deadline);
        };
        ended();
        let before = resident_bytes();
        (0..20).for_each(|_| ended());
        let more = resident_bytes().saturating_sub(before);
        assert!(more < 4 * (4_194_304 * 8), "{more} bytes more than before");
    });
}

fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("read");
    text.split(' ').nth(1).expect("there").parse::<usize>().expect("a number") * 4096
}

/// CALL-E1: what is to end before it begins does not begin.
#[test]
fn a_call_that_is_over_before_it_begins_does_nothing() {
    let host = host_with(|options| options);
    on_each(&host, |bench| {
        let options = CallOptions::until(Instant::now());
        let (ended, found) = bench.call(10, &options);
        assert_eq!(ended.expect_err("too late").kind().as_str(), "TimeoutError");
        assert_eq!(found, [1.0; 8]);
        let cancel = Some(Arc::new(AtomicBool::new(true)));
        let (ended, found) = bench.call(10, &CallOptions { cancel, ..CallOptions::default() });
        assert_eq!(ended.expect_err("cancelled").kind().as_str(), "Cancelled");
        assert_eq!(found, [1.0; 8]);
    });
}
