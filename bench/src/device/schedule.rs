//! Compares devices by kernels with the default schedule; the devices are visited in turn.

use std::time::Instant;

use chipdock_host::Host;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::cases::{CASES, Case, arguments, symbols};
use chipdock_test_backends::run;
use chipdock_test_support::workspace;

use super::super::Result;
use super::super::contest::{median, order, paired};
use super::Figure;

/// The measured examples, at their sizes for measurements, and the names of their figures.
const EXAMPLES: [(&str, &str); 3] = [
    ("matmul", "matmul of 512 × 512 × 512 with the default schedule, ms"),
    ("softmax", "softmax of 2,048 × 512 with the default schedule, ms"),
    ("layernorm", "layernorm of 2,048 × 512 with the default schedule, ms"),
];
/// Number of rounds, in each of which every device runs the kernel once.
const ROUNDS: usize = 31;
/// The target kind with which others are compared, where a device of it is present.
const PEER: &str = "opencl";

/// Measures each example on each device; returns each figure with its target kind.
///
/// # Errors
///
/// An example cannot be read, compiled or run.
pub(super) fn measure(host: &Host, backends: &[Backend]) -> Result<Vec<(String, Figure)>> {
    let devices: Vec<&Backend> = backends.iter().filter(|backend| !backend.is_host()).collect();
    let mut figures = Vec::new();
    for (file, name) in EXAMPLES {
        let case = CASES.iter().find(|case| case.file == file).ok_or("no such example")?;
        let times = in_turn(host, &devices, case)?;
        let peer = devices.iter().position(|backend| backend.target.kind == PEER);
        let module = case.module(&workspace().join("examples/kernels"))?;
        let function = module.function(case.function).ok_or("no such function")?;
        let amount = case.amount(function, case.time);
        for (index, (backend, own)) in devices.iter().zip(&times).enumerate() {
            let ms = median(own.clone());
            let mut measured = format!("{ms:.3} ({:.2} {}", amount / ms / 1e6, case.unit());
            if let Some(peer) = peer.filter(|peer| *peer != index) {
                let ratio = median(paired(own, &times[peer]));
                measured += &format!("; {ratio:.2} of the time of {PEER}");
            }
            measured += ")";
            figures.push((backend.target.kind.clone(), Figure { name, measured, value: ms, goal: None }));
        }
    }
    Ok(figures)
}

/// Returns the times in ms of each device, one for each round.
fn in_turn(host: &Host, devices: &[&Backend], case: &Case) -> Result<Vec<Vec<f64>>> {
    let module = case.module(&workspace().join("examples/kernels"))?;
    let function = module.function(case.function).ok_or("no such function")?;
    let arguments = arguments(function, &symbols(case.time))?;
    let ready = devices.iter().map(|backend| {
        let callable = run::build(host, backend, &module)?.function(case.function);
        let callable = callable.map_err(|error| error.to_string())?;
        Ok((callable, run::upload(backend, &arguments)?))
    });
    let ready = ready.collect::<Result<Vec<_>>>()?;
    let once = |index: usize| {
        let (callable, values) = &ready[index];
        let start = Instant::now();
        run::call(callable, values)?;
        devices[index].device.sync().map_err(|error| error.to_string())?;
        Ok::<f64, String>(start.elapsed().as_secs_f64() * 1e3)
    };
    let mut times = vec![Vec::new(); devices.len()];
    // The first round includes one-time work of drivers and is dropped.
    for round in 0..=ROUNDS {
        for index in order(devices.len(), round) {
            times[index].push(once(index)?);
        }
    }
    Ok(times.into_iter().map(|times| times[1..].to_vec()).collect())
}
