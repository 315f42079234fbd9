//! Measures the time from a module to a callable function when all compiled code is in the cache,
//! in one process with the library open.

use std::sync::Arc;
use std::time::Instant;

use chipdock_host::{CompileCache, CompileOptions, Host};

use super::Result;
use super::contest::median;
use chipdock_test_backends::backends::Backend;

/// The example kernel that is compiled.
const ADD: &str = include_str!("../../examples/kernels/vector_add.py");
/// Number of measurements.
const ROUNDS: usize = 201;

/// Medians in ms: of the whole, of compiling, and of loading up to the lookup of the function.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    /// Time from the module to the function.
    pub callable_ms: f64,
    /// Time from the module to the artifact.
    pub compile_ms: f64,
    /// Time from the artifact to the function.
    pub load_ms: f64,
}

/// Measures a cache hit of the example kernel `vector_add`, in a cache of its own; returns `None`
/// if builds of the code generator are not kept.
///
/// # Errors
///
/// A step failed.
pub fn measure(host: &Host, backend: &Backend) -> Result<Option<Hit>> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let module = chipdock_script::parse(ADD, "vector_add.py").map_err(|errors| text(&errors))?;
    let folder = tempfile::tempdir().map_err(|error| text(&error))?;
    let cache = CompileCache::at(&folder.path().join("compile"), 1 << 30).map_err(|error| text(&error))?;
    let device = Some(backend.device.clone());
    let options = CompileOptions { cache: Some(Arc::new(cache)), device, ..CompileOptions::default() };
    // The first compilation builds, the second shows whether the build was kept.
    let (mut compiles, mut loads, mut wholes) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS + 2 {
        let start = Instant::now();
        let compiled = host.compile(&module, &backend.target, &options).map_err(|error| text(&error))?;
        let compile = start.elapsed();
        let loaded = host.load(&compiled.artifact).map_err(|error| text(&error))?;
        let function = loaded.function("vector_add").map_err(|error| text(&error))?;
        let whole = start.elapsed();
        std::hint::black_box(&function);
        if round > 0 && !compiled.cached {
            return Ok(None);
        }
        if round > 1 {
            let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
            compiles.push(ms(compile));
            loads.push(ms(whole.saturating_sub(compile)));
            wholes.push(ms(whole));
        }
    }
    Ok(Some(Hit { callable_ms: median(wholes), compile_ms: median(compiles), load_ms: median(loads) }))
}
