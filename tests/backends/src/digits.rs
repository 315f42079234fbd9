//! Runs the example of handwritten digits: a trained network whose layers are kernels, on images
//! that training did not use.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use chipdock_host::{AnyView, Host, Tensor};
use chipdock_interpret::Array;
use chipdock_ir::DType;
use serde_json::Value;

use super::Result;
use super::backends::Backend;
use super::cases::read_module;
use super::run::{build, upload_array};

/// Result of reading the digits.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Number of images read correctly.
    pub n_right: usize,
    /// Number of images.
    pub n_images: usize,
    /// Smallest accuracy that the example promises.
    pub accuracy_min: f64,
    /// Time from the modules to callable functions.
    pub compile: Duration,
    /// Time of all layers over all images.
    pub run: Duration,
}

impl Reading {
    /// Returns the share of images read correctly.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        self.n_right as f64 / self.n_images.max(1) as f64
    }
}

/// Runs the pipeline that `pipeline.json` in the folder describes.
///
/// # Errors
///
/// A file does not have the described form, or a step failed.
pub fn read(host: &Host, backend: &Backend, folder: &Path) -> Result<Reading> {
    let path = folder.join("pipeline.json");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let pipeline: Value =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let module = read_module(&folder.join(string(&pipeline, "/module")?))?;
    let start = Instant::now();
    let loaded = build(host, backend, &module)?;
    let compile = start.elapsed();

    let mut tensors: HashMap<String, Tensor> = HashMap::new();
    let mut batch = 0;
    let inputs = pipeline.pointer("/inputs").and_then(Value::as_object).ok_or("pipeline.json: no inputs")?;
    for (name, file) in inputs {
        let array = super::npy::read(&folder.join(file.as_str().unwrap_or_default()))?;
        if name == string(&pipeline, "/batch/input")? {
            batch = array.shape[0];
        }
        tensors.insert(name.clone(), upload_array(backend, &array)?);
    }

    let start = Instant::now();
    let steps = pipeline.pointer("/steps").and_then(Value::as_array).ok_or("pipeline.json: no steps")?;
    for step in steps {
        let output = string(step, "/output")?;
        tensors.insert(output.to_owned(), upload_array(backend, &output_array(step, batch)?)?);
        let function = loaded.function(string(step, "/function")?).map_err(|error| error.to_string())?;
        let names =
            step.pointer("/args").and_then(Value::as_array).ok_or("pipeline.json: a step without args")?;
        let arguments: Option<Vec<AnyView<'_>>> =
            names.iter().map(|name| tensors.get(name.as_str()?).map(AnyView::from)).collect();
        function
            .call(&arguments.ok_or("pipeline.json: an argument that is not known yet")?)
            .map_err(|e| e.to_string())?;
    }
    backend.device.sync().map_err(|error| error.to_string())?;
    let run = start.elapsed();

    let result = &tensors[string(&pipeline, "/result")?];
    let read = result.to_bytes().map_err(|error| error.to_string())?;
    let labels = super::npy::read(&folder.join(string(&pipeline, "/labels")?))?.data;
    let right = |(read, label): &(&[u8], &u8)| read == &i32::from(**label).to_le_bytes();
    let n_right = read.chunks_exact(4).zip(&labels).filter(right).count();
    let accuracy_min = pipeline.pointer("/accuracy_min").and_then(Value::as_f64).unwrap_or(1.0);
    Ok(Reading { n_right, n_images: labels.len(), accuracy_min, compile, run })
}

fn string<'a>(json: &'a Value, pointer: &str) -> Result<&'a str> {
    json.pointer(pointer)
        .and_then(Value::as_str)
        .ok_or_else(|| format!("pipeline.json: expected a string at {pointer}"))
}

/// Returns zeros in the shape of a step's output; `"n"` in the shape is the batch size.
fn output_array(step: &Value, batch: usize) -> Result<Array> {
    let dtype: DType = string(step, "/dtype")?.parse().map_err(|error| format!("pipeline.json: {error}"))?;
    let shape =
        step.pointer("/shape").and_then(Value::as_array).ok_or("pipeline.json: a step without shape")?;
    let extent = |extent: &Value| extent.as_u64().map_or(batch, |extent| extent as usize);
    Ok(Array::zeros(dtype, &shape.iter().map(extent).collect::<Vec<_>>()))
}
