//! Batching of kernels into shared modules; each kernel is still a case of its own.
//!
//! A code generator may start a compiler for each module, so kernels that need the same profiles
//! are built together, if one worker runs their cases. If a module fails to build, each of its
//! kernels is built alone, so that only the faulty one fails (SUITE-S17).

use std::rc::Rc;
use std::sync::Arc;

use chipdock_interpret::{Arg, Array, Interpreter, Limits, Mismatch, Outcome, Output, compare};
use chipdock_ir::{IrModule, PrimFunc, build};

use crate::execute::{self, Found, Guards, Ready};
use crate::kernels::Kernels;
use crate::ops::judge::shown;
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

/// Maximum total weight of the kernels in one module; see [`Kernel::weight`].
const PER_MODULE: usize = 28;

/// A kernel to compile, call, and compare with the interpreter.
pub(crate) trait Kernel: Send + Sync {
    /// Returns the functions of the kernel, for warps of `warp` threads: the one to be called is
    /// named `name`, and the names of the others begin with `name`.
    fn functions(&self, name: &str, warp: u8) -> Result<Vec<PrimFunc>, String>;

    /// Returns the arguments of the call, for warps of `warp` threads.
    fn args(&self, warp: u8) -> Result<Vec<Arg>, String>;

    /// Returns texts that are equal for kernels whose functions are the same, so that they differ
    /// in arguments alone.
    fn code(&self) -> Option<[&str; 2]> {
        None
    }

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

/// Adds a case for each kernel; kernels that need the same profiles share modules.
pub(crate) fn add(cases: &mut Cases, group: Group, kernels: Vec<Described>) {
    let kernels: Arc<[Described]> = kernels.into();
    for (index, described) in kernels.iter().enumerate() {
        let own = Arc::clone(&kernels);
        cases
            .case(group, &described.name, described.clause, Subject::Codegen)
            .profile(described.profiles.iter().copied())
            .deadline(60)
            .run(move |c| run(c, group, &own, index));
    }
}

/// Kernels of one module, as indices into a list of kernels, in order.
#[derive(Clone, Debug, Default)]
struct Members {
    indices: Vec<usize>,
    weight: usize,
}

impl Members {
    /// A module with one kernel.
    fn alone(index: usize) -> Self {
        Self { indices: vec![index], weight: 0 }
    }

    /// Returns the kernel whose functions stand for those of kernel `index`: the first with the
    /// same code.
    fn first_like(&self, kernels: &[Described], index: usize) -> usize {
        let code = kernels[index].kernel.code();
        let same = |other: &&usize| code.is_some() && kernels[**other].kernel.code() == code;
        self.indices.iter().find(same).copied().unwrap_or(index)
    }

    /// Adds a kernel if it needs the same profiles as the others and the module's weight allows it.
    fn take(&mut self, kernels: &[Described], index: usize) -> bool {
        let own = self.first_like(kernels, index) == index;
        let more = if own { kernels[index].kernel.weight() } else { 0 };
        let is_like = |first: &usize| kernels[*first].profiles == kernels[index].profiles;
        let fits =
            self.indices.first().is_none_or(|first| is_like(first) && self.weight + more <= PER_MODULE);
        if fits {
            self.indices.push(index);
            self.weight += more;
        }
        fits
    }

    /// Builds the module, for warps of `warp` threads.
    fn module(&self, kernels: &[Described], warp: u8) -> Verdict<IrModule> {
        let mut functions = Vec::new();
        for index in self.indices.iter().copied() {
            if self.first_like(kernels, index) == index {
                let made = kernels[index].kernel.functions(&function_name(index), warp);
                let stop = |error| Stop::suite(format!("{}: {error}", kernels[index].name));
                functions.extend(made.map_err(stop)?);
            }
        }
        Ok(build::module(functions))
    }
}

/// Distributes kernels to modules.
fn distribute(kernels: &[Described], indices: impl Iterator<Item = usize>) -> Vec<Members> {
    let mut all: Vec<Members> = Vec::new();
    for index in indices {
        if !all.iter_mut().any(|members| members.take(kernels, index)) {
            let mut members = Members::default();
            members.take(kernels, index);
            all.push(members);
        }
    }
    all
}

fn function_name(index: usize) -> String {
    format!("f{index}")
}

/// A built module, and the kernels in it.
struct Built {
    ready: Ready,
    functions: Kernels,
    members: Members,
}

impl Built {
    fn new(c: &Context, kernels: &[Described], members: Members, warp: u8) -> Verdict<Self> {
        let (ready, functions) = execute::build_with_kernels(c, &members.module(kernels, warp)?)?;
        Ok(Self { ready, functions, members })
    }
}

fn run(c: &Context, group: Group, kernels: &[Described], index: usize) -> Verdict {
    let described = &kernels[index];
    let warp = execute::warp(c)?;
    let own = Members::alone(index);
    if let Some(why) = execute::beyond(c, &own.module(kernels, warp)?)? {
        c.not_run(why);
        return Ok(());
    }
    let together = together(c, group, kernels, index, warp)?;
    let alone;
    let built = match &*together {
        Some(built) => built,
        None => {
            alone = Built::new(c, kernels, own, warp)?;
            &alone
        }
    };
    let name = function_name(built.members.first_like(kernels, index));
    built.functions.tell(c, &name);
    let (module, device) = match &built.ready {
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

/// Builds the module that a kernel shares with others of this worker, once; `None` if it shares
/// none, or that module cannot be built.
fn together(
    c: &Context,
    group: Group,
    kernels: &[Described],
    index: usize,
    warp: u8,
) -> Verdict<Rc<Option<Built>>> {
    // Kernels of other cases are not built: one case, or a sample, takes as little time as it can.
    let modules = c.cached(&format!("modules/{group}/{}", kernels[0].name), || {
        let runs = |index: &usize| c.runs(&format!("{group}/{}", kernels[*index].name));
        Ok(distribute(kernels, (0..kernels.len()).filter(runs)))
    })?;
    let is_ours = |members: &&Members| members.indices.contains(&index) && members.indices.len() > 1;
    let Some(members) = modules.iter().find(is_ours) else { return Ok(Rc::new(None)) };
    c.cached(&format!("module/{group}/{}", kernels[members.indices[0]].name), || {
        // A kernel that cannot even be constructed fails in its own case.
        let is_within = |index: &usize| {
            let alone = Members::alone(*index).module(kernels, warp);
            !matches!(alone.and_then(|module| execute::beyond(c, &module)), Ok(Some(_)))
        };
        let mut members = members.clone();
        members.indices.retain(is_within);
        Ok(c.build_together(|| Built::new(c, kernels, members, warp)).and_then(Result::ok))
    })
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
