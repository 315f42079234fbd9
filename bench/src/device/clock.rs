//! Compares the time of work by the device's clock (interface `timer` 1) with the time by the
//! host's clock.

use std::time::Instant;

use chipdock_host::{AnyView, Host, Tensor};
use chipdock_ir::DType;

use super::super::Result;
use super::Figure;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;

/// Runs: (name, elements of each tensor, number of additions before a wait).
const RUNS: [(&str, i64, usize); 2] = [
    ("a hundred additions of 1,024 elements: the device's time / the host's", 1 << 10, 100),
    ("an addition of 4,194,304 elements: the device's time / the host's", 1 << 22, 1),
];
/// Number of measurements, of which the median counts.
const TRIES: usize = 21;

const ADD: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def add(A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((n,), \"float32\"), C: T.Buffer((n,), \"float32\")):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for i in range(n):
            with T.sblock(\"C\"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi] + B[vi]
";

/// Measures launches by the device's clock and by the host's; returns nothing if the device has no
/// timer.
///
/// # Errors
///
/// A call fails.
pub(super) fn measure(host: &Host, backend: &Backend) -> Result<Vec<Figure>> {
    if !backend.device.has_timer() {
        return Ok(Vec::new());
    }
    let module = chipdock_script::parse(ADD, "add.py").map_err(|errors| errors.to_string())?;
    let add = run::build(host, backend, &module)?.function("add").map_err(text)?;
    let mut figures = Vec::new();
    for (name, elements, count) in RUNS {
        let tensor = || Tensor::zeros(&backend.device, &[elements], DType::FLOAT32).map_err(text);
        let tensors = [tensor()?, tensor()?, tensor()?];
        let views: Vec<AnyView<'_>> = tensors.iter().map(AnyView::from).collect();
        let stream = backend.device.default_stream();
        let mut pairs = Vec::new();
        for _ in 0..=TRIES {
            backend.device.sync().map_err(text)?;
            let began = Instant::now();
            let begin = stream.mark().map_err(text)?;
            for _ in 0..count {
                add.call(&views).map_err(text)?;
            }
            let end = stream.mark().map_err(text)?;
            backend.device.sync().map_err(text)?;
            let on_host = began.elapsed().as_secs_f64() * 1e6;
            pairs.push((end.nanoseconds_since(&begin).map_err(text)? / 1e3, on_host));
        }
        // The first measurement includes one-time work and is dropped.
        pairs.remove(0);
        pairs.sort_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
        let (on_device, on_host) = pairs[TRIES / 2];
        let value = on_device / on_host;
        let measured = format!("{value:.3} ({on_device:.1} µs / {on_host:.1} µs)");
        figures.push(Figure { name, measured, value, goal: None });
    }
    Ok(figures)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
