//! Tests of programs made by real TVM's own libraries, read as TVM prints them: they must be right
//! on every backend present and be built for the others, or be on a list with the reason.
//!
//! A run takes a sample ([`chipdock_test_support::sample`]); a whole run takes all, and then
//! `BLESS=1` writes `programs/RESULTS.md`.

#[path = "tvm_programs/expected.rs"]
mod expected;
#[path = "tvm_programs/report.rs"]
pub(crate) mod report;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chipdock_host::{CompileOptions, Host, ResolvedTarget};
use chipdock_interpret::{Array, Interpreter, Limits, Output};
use chipdock_ir::IrModule;
use chipdock_peers::programs::{Kind, Program, programs};
use chipdock_peers::python::python;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use chipdock_test_backends::{backends, hold, hold_alike, host, outputs};
use chipdock_test_support::sample;

pub(crate) use report::{Cell, Row};
use rustix::time::{ClockId, clock_gettime};

/// From what the shapes and values of all programs are drawn.
const SEED: &str = "20261122";

/// An ordinary run takes one program in so many: about half a minute.
const SHARE: usize = 60;

/// Kinds that are compiled for where no device of theirs is present.
const BUILT: &[&str] = &["cuda", "metal", "webgpu"];

/// Targets on which a program is run, and targets for which it is built.
pub(crate) struct Targets {
    host: Host,
    present: Vec<Backend>,
    built: Vec<Arc<ResolvedTarget>>,
}

impl Targets {
    /// Every backend that is present, and kinds that are compiled for.
    pub(crate) fn all() -> Self {
        let host = host();
        let present = backends(&host);
        let built = BUILT.iter().map(|kind| host.target(*kind).expect("a target of that kind")).collect();
        Self { host, present, built }
    }

    /// Those of these kinds alone.
    pub(crate) fn only(mut self, kinds: &[&str]) -> Self {
        self.present.retain(|backend| kinds.contains(&backend.target.kind.as_str()));
        self.built.retain(|target| kinds.contains(&target.kind().name.as_str()));
        self
    }

    /// The kinds of all of them.
    pub(crate) fn names(&self) -> Vec<String> {
        let present = self.present.iter().map(|backend| backend.target.kind.clone());
        present.chain(self.built.iter().map(|target| target.kind().name.clone())).collect()
    }
}

/// Expected results of a program.
struct Judge {
    /// The interpreter's, with their bounds; TVM's, which are then exact, where the interpreter
    /// cannot run it.
    outputs: Vec<Output>,
    /// TVM's, where it ran and they are within the bounds.
    theirs: Option<Vec<Array>>,
}

fn judge(program: &Program, module: &IrModule) -> Result<(Judge, Cell), String> {
    let interpreter = Interpreter::new(module).with_bounds().with_limits(limits());
    let ran = interpreter.run(&program.function, &mut program.arguments.clone());
    match (ran, &program.after) {
        (Ok(outcome), Err(why)) => {
            Ok((Judge { outputs: outcome.outputs, theirs: None }, Cell::Refused(why.clone())))
        }
        (Ok(outcome), Ok(after)) => match hold(&outcome.outputs, after) {
            Ok(()) => Ok((Judge { outputs: outcome.outputs, theirs: Some(after.clone()) }, Cell::Right)),
            Err(why) => Ok((Judge { outputs: outcome.outputs, theirs: None }, Cell::Wrong(why))),
        },
        (Err(error), Ok(after)) => {
            if let Some(outputs) = plain_outputs(program) {
                let why = hold(&outputs, after).map(|()| Cell::Refused(format!("interpreter: {error}")));
                let theirs = why.is_ok().then(|| after.clone());
                return Ok((Judge { outputs, theirs }, why.unwrap_or_else(Cell::Wrong)));
            }
            let exact = |(parameter, array): (usize, &Array)| Output {
                parameter,
                name: format!("tensor {parameter}"),
                array: array.clone(),
                bounds: None,
            };
            let outputs = after.iter().enumerate().map(exact).collect();
            Ok((Judge { outputs, theirs: None }, Cell::Refused(format!("interpreter: {error}"))))
        }
        (Err(error), Err(why)) => Err(format!("neither the interpreter runs it ({error}) nor TVM ({why})")),
    }
}

/// The interpreter's results, with their bounds, of the program as it was before it was scheduled.
fn plain_outputs(program: &Program) -> Option<Vec<Output>> {
    let module = chipdock_script::parse(program.plain.as_ref()?, &program.name).ok()?;
    let interpreter = Interpreter::new(&module).with_bounds().with_limits(limits());
    let outcome = interpreter.run(&program.function, &mut program.arguments.clone()).ok()?;
    Some(outcome.outputs)
}

fn limits() -> Limits {
    Limits { steps_max: 20_000_000, ..Limits::default() }
}

/// Runs a program on a backend, and checks what it leaves against the interpreter's result and
/// TVM's.
fn run_on(targets: &Targets, backend: &Backend, program: &Program, module: &IrModule, judge: &Judge) -> Cell {
    let loaded = match run::build(&targets.host, backend, module) {
        Ok(loaded) => loaded,
        Err(error) => return Cell::Refused(error),
    };
    let ran = || {
        let function = loaded.function(&program.function).map_err(|error| error.to_string())?;
        let found = outputs(backend, &function, &program.arguments)?;
        hold(&judge.outputs, &found)?;
        judge.theirs.as_ref().map_or(Ok(()), |theirs| hold_alike(&judge.outputs, theirs, &found))
    };
    ran().map_or_else(Cell::Wrong, |()| Cell::Right)
}

fn row(targets: &Targets, program: &Program) -> Row {
    let mut row = Row::new(&program.name, &program.group);
    let module = match chipdock_script::parse(&program.text, &program.name) {
        Ok(module) => module,
        Err(error) => {
            row.cells.push(("read".to_owned(), Cell::Refused(error.to_string())));
            return row;
        }
    };
    row.cells.push(("read".to_owned(), Cell::Right));
    let judge = match judge(program, &module) {
        Ok((judge, cell)) => {
            row.cells.push(("tvm".to_owned(), cell));
            Some(judge)
        }
        Err(why) => {
            row.cells.push(("tvm".to_owned(), Cell::Refused(why)));
            None
        }
    };
    for backend in &targets.present {
        let cell = match &judge {
            Some(judge) => run_on(targets, backend, program, &module, judge),
            None => run::build(&targets.host, backend, &module).map_or_else(Cell::Refused, |_| Cell::Right),
        };
        row.cells.push((backend.target.kind.clone(), cell));
    }
    for target in &targets.built {
        let built = targets.host.compile(&module, target, &CompileOptions::default());
        let cell = built.map_or_else(|error| Cell::Refused(error.to_string()), |_| Cell::Right);
        row.cells.push((target.kind().name.clone(), cell));
    }
    row
}

/// Every program's row, in order, on as many threads as there are cores.
pub(crate) fn rows(targets: &Targets, all: &[Program]) -> Vec<Row> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(program) = all.get(index) else { return };
                    let row = row(targets, program);
                    done.lock().expect("the rows").push((index, row));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("the rows");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, row)| row).collect()
}

/// Returns the processor time of this thread.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.try_into().unwrap_or(0))
}

/// The program that takes longest to read, and how long: the least of three, of this thread.
fn slowest_read(all: &[Program]) -> Option<(Duration, &str)> {
    let read = |program: &Program| {
        let start = thread_time();
        std::hint::black_box(chipdock_script::parse(&program.text, &program.name).is_ok());
        thread_time() - start
    };
    let least = |program| (0..3).map(|_| read(program)).min().unwrap_or_default();
    all.iter().map(|program| (least(program), &*program.name)).max()
}

#[test]
fn programs_of_tvms_libraries_are_right() {
    let Some(python) = python("programs that real TVM's libraries make") else { return };
    let is_whole = sample::is_whole_run();
    // The sample is another one for each seed; what a program is depends on its own alone.
    let drawn = programs(&python, Kind::Plain, SEED, &sample::seed(), if is_whole { 1 } else { SHARE });
    let drawn = drawn.unwrap_or_else(|error| panic!("{error}"));
    sample::report(
        "draws of programs from TVM's libraries",
        drawn.n_all.div_ceil(if is_whole { 1 } else { SHARE }),
        drawn.n_all,
    );
    let targets = Targets::all();
    let rows = rows(&targets, &drawn.made);
    let complaints = report::complaints(&rows, &drawn.refused, is_whole);
    println!("{}", report::summary(&rows, &targets.names()));
    if let Some((time, name)) = slowest_read(&drawn.made) {
        println!("slowest to read: {name}, {time:?} of a processor");
    }
    println!("{} complaints\n{}", complaints.len(), complaints.join("\n"));
    if is_whole {
        assert!(rows.len() >= 600, "only {} programs were made", rows.len());
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/RESULTS.md");
        let text = report::markdown(&rows, &drawn.refused, &targets.names());
        chipdock_test_support::bless(&path, &text).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(complaints.is_empty(), "{} complaints, see above", complaints.len());
}
