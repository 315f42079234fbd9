//! `cargo xtask`: the tasks of this project.

mod bench_python;
mod carry;
mod commands;
mod fuzz;
mod guide;
mod matrix;
mod peers;
mod plugins;
mod python;
mod releases;
mod setup;
mod test;
mod wheel;
mod wheels;

use std::io::Write as _;
use std::process::ExitCode;

const HELP: &str = "\
The tasks of this project.

Usage: cargo xtask <TASK> [ARGUMENTS]

Tasks:
  demo      build the command and the plugins, show what was found, run the example kernels, print a table; with --release
            optimised, in twice the time
  test      install what the tests need (Debian: compilers, LLVM, an OpenCL device; numpy, TVM, NVRTC, JAX and Ray by pip),
            build the plugins, run every check and every test, print where the time went; --keep writes that as
            xtask/results/gate.md; --all takes everything where a run takes a sample otherwise, fetches torch once (4 GB), and
            writes xtask/results/whole.md
  bench     measure, and print ratios against a bare call, a peer or the machine's own limit (`export` installs numpy and
            TVM by pip the first time); with --peers unscheduled kernels beside numpy, torch, TVM and the machine's limits, the
            example kernels or TVM's TOPI (`cargo xtask bench --peers --help`)
  plugins   build the plugins and write their manifests; prints the folder
  fuzz      fuzz the readers and the whole way to every code generator (installs cargo-fuzz the first time), or with
            --input FILE run one input, --minimise FILE make it smaller, --keep add to tests/fuzz/corpus
  carry     pack all that runs on a machine with the hardware into one archive, with one command there and one report
  guide     build the guide as pages; prints the first
  python    create the Python environment (numpy, TVM) used by the tests; prints its interpreter
  wheel     build the wheel of the Python package, with the library, the command and the plugins, for glibc 2.28 and newer
            (installs zig by pip the first time); with --native for the machine's own glibc; prints its path
  wheels    fetch what tests of plugins and of exported libraries ask of PyPI; prints each variable that tests find it by
  ci        the same as test; what .ci/run calls

Examples:
  cargo xtask demo
  cargo xtask demo --json          # the table as JSON
  cargo xtask demo --release matmul
  cargo xtask test
  cargo xtask test softmax         # only the tests whose name holds `softmax`, without the other checks
  cargo xtask test --all zoo       # each broken plugin through every command, some minutes
  cargo xtask bench
  cargo xtask bench launch copy    # only these; it measures device-time, codegen, launch, copy, second-run,
                                   # default-schedule, elementwise, call, export, cache-hit, matmul, pool, fork-join,
                                   # script, list
  cargo xtask bench python         # calls and imports from Python beside stock tvm_ffi and TVM; tvm-compile: compiling by
                                   # chipdock.tvm beside TVM's llvm; ray: maps over a cluster
  cargo xtask bench --peers        # installs its peers the first time
  cargo xtask bench --peers --filter softmax --with torch
  cargo xtask fuzz --seconds 600   # script, wire, npy, manifest, target, artifact, pipeline, one after the other
  cargo xtask fuzz script          # one of them, for a minute
  cargo xtask plugins --release

`demo` needs Rust and a C compiler and nothing else.";

/// Prints the help, to a reader that may stop reading.
fn print_help() -> ExitCode {
    let _ = writeln!(std::io::stdout(), "{HELP}");
    ExitCode::SUCCESS
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = arguments.split_first().map_or(("", &[][..]), |(task, rest)| (task.as_str(), rest));
    // Answered before anything is built; `bench --peers` prints its own help.
    let asks = rest.iter().any(|argument| argument == "-h" || argument == "--help");
    if asks && !rest.iter().any(|argument| argument == "--peers") {
        return print_help();
    }
    let result = match task {
        "demo" => plugins::demo(rest),
        "bench" if rest.iter().any(|argument| argument == "--peers") => peers::run(rest),
        "bench" if rest.iter().any(|argument| bench_python::is_topic(argument)) => bench_python::run(rest),
        "bench" if rest.is_empty() => peers::run_without(rest).and_then(|()| bench_python::run(rest)),
        "bench" => peers::run_without(rest),
        "test" | "ci" => test::run(rest),
        "plugins" => plugins::build(rest.iter().any(|argument| argument == "--release")).map(|built| {
            println!("{}", built.folder.display());
        }),
        "fuzz" => fuzz::run(rest),
        "carry" => carry::run(rest),
        "guide" => guide::build().map(|path| println!("{}", path.display())),
        "python" => python::environment().map(|path| println!("{}", path.display())),
        "wheel" => wheel::build(rest).map(|path| println!("{}", path.display())),
        "wheels" => wheels::run(),
        "" | "help" | "-h" | "--help" => return print_help(),
        unknown => {
            eprintln!("error: no task is called `{unknown}`\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
