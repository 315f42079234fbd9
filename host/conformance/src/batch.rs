//! Batching of kernels into shared modules; each kernel is still a case of its own.
//!
//! A code generator may start a compiler for each module, so neighbouring kernels that need the same profiles are built
//! together. If a batch fails to build, each of its kernels is built alone, so that only the faulty one fails.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use chipdock_interpret::{Arg, Array, Interpreter, Limits, Mismatch, Outcome, Output, compare};
use chipdock_ir::{IrModule, PrimFunc, build};

use crate::execute::{self, Found, Guards, Ready};
use crate::ops::judge::shown;
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

/// Maximum total weight of the kernels in one module; see [`Kernel::weight`].
const PER_MODULE: usize = 28;

/// A kernel to compile, call, and compare with the interpreter.
pub(crate) trait Kernel: Send + Sync {
    /// Returns the functions of the kernel, for warps of `warp` threads: the one to be called is named `name`, and the
    /// names of the others begin with `name`.
    fn functions(&self, name: &str, warp: u8) -> Result<Vec<PrimFunc>, String>;

    /// Returns the arguments of the call, for warps of `warp` threads.
    fn args(&self, warp: u8) -> Result<Vec<Arg>, String>;

    /// Returns the cost of compiling this kernel, in ordinary kernels.
    fn weight(&self) -> usize {
        1
    }

    /// Returns the guard elements to place around the kernel's tensors.
    fn guards(&self) -> Guards {
        Guards::BEHIND
    }

    /// Compares the plugin's results with the interpreter's.
    fn hold(&self, expected: &Outcome, found: &Found) -> Verdict {
        hold(expected, found)
    }
}

/// A kernel with what its case needs: name, clause and profiles.
pub(crate) struct Described {
    /// The part of the case's id after the group.
    pub name: String,
    /// The clause that the case tests.
    pub clause: &'static str,
    /// Profiles that the kernel needs.
    pub profiles: Vec<Profile>,
    /// The kernel itself.
    pub kernel: Box<dyn Kernel>,
}

/// Adds a case for each kernel; neighbouring kernels that need the same profiles share a module.
pub(crate) fn add(cases: &mut Cases, group: Group, kernels: Vec<Described>) {
    for batch in batches(kernels) {
        let batch = Arc::new(batch);
        for (index, described) in batch.iter().enumerate() {
            let own = Arc::clone(&batch);
            cases
                .case(group, &described.name, described.clause, Subject::Codegen)
                .profile(described.profiles.iter().copied())
                .deadline(60)
                .run(move |c| run(c, group, &own, index));
        }
    }
}

fn batches(kernels: Vec<Described>) -> Vec<Vec<Described>> {
    let (mut all, mut weight): (Vec<Vec<Described>>, usize) = (Vec::new(), 0);
    for kernel in kernels {
        let more = kernel.kernel.weight();
        match all.last_mut() {
            Some(batch) if weight + more <= PER_MODULE && batch[0].profiles == kernel.profiles => {
                batch.push(kernel);
                weight += more;
            }
            _ => {
                all.push(vec![kernel]);
                weight = more;
            }
        }
    }
    all
}

fn function_name(index: usize) -> String {
    format!("f{index}")
}

/// Builds a module from the kernels at `places` in a batch, for warps of `warp` threads.
fn module(batch: &[Described], places: impl Iterator<Item = usize>, warp: u8) -> Verdict<IrModule> {
    let mut functions = Vec::new();
    for place in places {
        let made = batch[place].kernel.functions(&function_name(place), warp);
        functions.extend(made.map_err(|error| Stop::suite(format!("{}: {error}", batch[place].name)))?);
    }
    Ok(build::module(functions))
}

/// Marker file that exists while a batch is being built. If the code generator crashes, the file remains, and the
/// kernels of the batch are then built one by one.
struct Marker(PathBuf);

impl Marker {
    fn of(c: &Context, key: &str) -> Self {
        let name = format!("building-{}-{}", key.replace('/', "-"), c.registration());
        Self(c.scratch().join(name))
    }
}

fn run(c: &Context, group: Group, batch: &[Described], index: usize) -> Verdict {
    let described = &batch[index];
    let warp = execute::warp(c)?;
    let module = |places: &mut dyn Iterator<Item = usize>| module(batch, places, warp);
    if let Some(why) = execute::beyond(c, &module(&mut std::iter::once(index))?)? {
        c.not_run(why);
        return Ok(());
    }
    let together = c.cached(&format!("batch/{group}/{}", batch[0].name), || {
        let marker = Marker::of(c, &format!("{group}/{}", batch[0].name));
        if batch.len() == 1 || marker.0.exists() {
            return Ok(None);
        }
        // A kernel that cannot even be constructed fails in its own case.
        let mut places = (0..batch.len()).filter(|place| {
            let alone = module(&mut std::iter::once(*place)).and_then(|module| execute::beyond(c, &module));
            !matches!(alone, Ok(Some(_)))
        });
        let Ok(module) = module(&mut places) else { return Ok(None) };
        // If the file cannot be written, a crash only costs one process for each kernel.
        let _ = fs::write(&marker.0, "");
        let built = execute::build_with_kernels(c, &module);
        let _ = fs::remove_file(&marker.0);
        Ok(built.ok())
    })?;
    let alone = match &*together {
        Some(_) => None,
        None => Some(execute::build_with_kernels(c, &module(&mut std::iter::once(index))?)?),
    };
    let Some((ready, kernels)) = alone.as_ref().or(together.as_ref().as_ref()) else {
        return Err(Stop::suite("nothing was built"));
    };
    let name = function_name(index);
    kernels.tell(c, &name);
    let (module, device) = match ready {
        Ready::Callable(module, device) => (module, device),
        Ready::Built(why) => {
            c.not_run(why.as_str());
            return Ok(());
        }
    };
    let (args, expected) = expected(described, &name, warp)?;
    let found = execute::call(module, device, &name, &args, described.kernel.guards())?;
    described.kernel.hold(&expected, &found)
}

/// Returns a kernel's arguments and the interpreter's outcome for them.
fn expected(described: &Described, name: &str, warp: u8) -> Verdict<(Vec<Arg>, Outcome)> {
    let suite = |error: String| Stop::suite(format!("{}: {error}", described.name));
    let functions = described.kernel.functions(name, warp).map_err(suite)?;
    let args = described.kernel.args(warp).map_err(suite)?;
    let outcome = interpret(&build::module(functions), name, &args).map_err(suite)?;
    Ok((args, outcome))
}

/// Runs a function on the interpreter and computes error bounds for its results.
pub(crate) fn interpret(module: &IrModule, name: &str, args: &[Arg]) -> Result<Outcome, String> {
    let limits = Limits { steps_max: 1 << 26, ..Limits::default() };
    Interpreter::new(module)
        .with_bounds()
        .with_limits(limits)
        .run(name, &mut args.to_vec())
        .map_err(|error| error.to_string())
}

/// Compares every tensor and the returned value with the interpreter's.
pub(crate) fn hold(expected: &Outcome, found: &Found) -> Verdict {
    if expected.outputs.len() != found.tensors.len() {
        return Err(Stop::suite("another number of tensors than the interpreter has"));
    }
    for (output, tensor) in expected.outputs.iter().zip(&found.tensors) {
        hold_tensor(output, tensor)?;
    }
    let Some((array, bound)) = &expected.returned else {
        let is_none = found.returned.view().to::<Option<i64>>().is_ok_and(|value| value.is_none());
        return if is_none {
            Ok(())
        } else {
            Err(Stop::failed("a function that returns nothing", format!("{:?}", found.returned)))
        };
    };
    let value = if array.dtype.is_float() {
        found.returned.to::<f64>().map(|value| Array::from_f64(array.dtype, &[1], &[value]))
    } else {
        found.returned.to::<i64>().map(|value| Array::from_int(array.dtype, &[1], &[i128::from(value)]))
    };
    let value =
        value.map_err(|error| Stop::failed(format!("a result of {}", array.dtype), error.message()))?;
    let output = Output {
        parameter: 0,
        name: "the result".to_owned(),
        array: Array { shape: vec![1], ..array.clone() },
        bounds: Some(vec![*bound]),
    };
    hold_tensor(&output, &value)
}

/// Compares one tensor with the interpreter's.
pub(crate) fn hold_tensor(output: &Output, found: &Array) -> Verdict {
    let mismatch = match compare(found, output) {
        Ok(report) if report.n_unbounded * 2 > report.n_lanes && report.n_lanes > 0 => {
            return Err(Stop::suite(format!("the interpreter bounds too little of {}", output.name)));
        }
        Ok(_) => return Ok(()),
        Err(mismatch) => mismatch,
    };
    let Mismatch::Value { index, bound, n_wrong, n_lanes, .. } = &mismatch else {
        return Err(Stop::failed(&output.name, mismatch));
    };
    let lane = (0..*n_lanes).find(|lane| output.array.position(*lane) == *index).unwrap_or_default();
    let place = format!("{}{index:?}", output.name);
    let within = if *bound == 0.0 { "exactly".to_owned() } else { format!("within {bound:e}") };
    Err(Stop::failed(
        format!("{place} = {}, {within} ({})", shown(&output.array, lane), output.array.dtype),
        format!("{place} = {}", shown(found, lane)),
    )
    .note(format!("{n_wrong} of {n_lanes} values are off")))
}
