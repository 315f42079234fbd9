//! Compiles and runs kernels, as Chipdock prints them, with real TVM, and compares the results with
//! the interpreter and its bounds; also compares code of the target `llvm` with TVM's.

use chipdock_host::Host;
use chipdock_interpret::{Arg, Array, Interpreter, Limits, Outcome, compare};
use chipdock_ir::{Callee, Child, ExprKind, ForKind, IrModule, Param, PrimFunc, StmtKind, print};
use chipdock_peers::python::{Program, python, run_in_tvm};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::{cases, run};
use chipdock_test_backends::{hold_alike, host, in_process, outputs};
use chipdock_test_support::corpus;

/// Small enough for the interpreter: at most this many elements in any buffer.
const ELEMENTS_MAX: i64 = 1 << 15;

/// Kernels that TVM does not take or compile for a CPU: the kernel, words of TVM's error, and the
/// reason.
const REFUSED: &[(&str, &str, &str)] = &[
    ("construct/addresses.py:aligned", "Cannot treat type", "it has no address as a number"),
    ("construct/apart.py:small", "not implemented", "its build of a function that asserts and gives a value"),
    ("construct/apart.py:smaller", "not implemented", "the same, called"),
    ("construct/apart.py:checked_calls", "not implemented", "the same, called"),
    (
        "construct/calls.py:use",
        "Expected 1 arguments",
        "its build of a call within a module passes no arguments",
    ),
    ("construct/compare.py:compare", "fcmp oeq i1", "it compares booleans as floats"),
    ("construct/dots.py:bytes", "dot_add", "it has none"),
    ("construct/dots.py:words", "dot_add", "it has none"),
    ("construct/dots.py:halves", "dot_add", "it has none"),
    (
        "construct/forms_ours.py:noted",
        "bad optional access",
        "an attribute `target` that is about nothing, as ours is printed; the file says so",
    ),
    (
        "construct/intrinsics.py:quantised",
        "broadcast_node",
        "it takes scalars of q_multiply_shift_per_axis for vectors",
    ),
    ("construct/intrinsics_ours.py:flags", "condition_ty", "the same; the file says so"),
    ("construct/intrinsics.py:by_full_name", "atomic add", "it has no atomics on a CPU"),
    ("construct/intrinsics.py:masked", "masked.store", "its masked store of a vector is no valid LLVM"),
    ("construct/sorts.py:columns", "values are off", "its sorts take no account of strides and offsets"),
    ("construct/math.py:math", "tirx.fmod", "it has no fmod for this target"),
    ("construct/ends.py:ends_in_loop", "return", "it takes no bare return; the file says so"),
    ("construct/ends.py:ends_in_nest", "return", "the same"),
    ("construct/ours.py:spread", "return", "it takes no bare return; the file says so"),
];

/// Functions of the corpus that TVM is asked for.
const KERNELS: usize = 96;

fn is_for_host(function: &PrimFunc) -> bool {
    let mut bound = false;
    function.body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            bound |= matches!(&stmt.kind, StmtKind::For { kind: ForKind::ThreadBinding(_), .. })
                || matches!(&stmt.kind, StmtKind::LaunchThread { .. });
        }
    });
    !bound
}

fn arguments(function: &PrimFunc) -> Option<Vec<Arg>> {
    let sizes = &[("n", 37), ("m", 12), ("k", 9), ("d", 21)];
    let symbols = cases::symbols(sizes);
    for param in &function.params {
        if let Param::Buffer(buffer) = param {
            let size: i64 = cases::shape(buffer, &symbols).ok()?.iter().product();
            if size > ELEMENTS_MAX || !buffer.strides.is_empty() || buffer.elem_offset.is_some() {
                return None;
            }
        }
    }
    cases::arguments(function, &symbols).ok()
}

/// Whether a parameter has a storage type. TVM 0.27's code for a CPU gives an `int4` or `int1` a
/// byte of its own, past the end of the tensor that its run time makes (7 `int4` take 4 bytes, its
/// code stores 7), and casts a float8 0 to 0.0078125: neither is run, the first since it breaks the
/// process.
fn has_storage_types(function: &PrimFunc) -> bool {
    function.params.iter().any(|param| matches!(param, Param::Buffer(buffer) if buffer.dtype.is_storage()))
}

fn calls_functions(function: &PrimFunc) -> bool {
    let mut found = false;
    function.body.walk(&mut |child| {
        if let Child::Expr(expr) = child {
            found |= matches!(&expr.kind, ExprKind::Call { callee: Callee::Global(_), .. });
        }
    });
    found
}

/// A function for the host, with arguments and what the interpreter makes of them.
struct Kernel {
    name: String,
    module: IrModule,
    program: Program,
    outcome: Outcome,
}

fn kernels() -> Vec<Kernel> {
    let mut all = Vec::new();
    for file in corpus().expect("the corpus") {
        let module = chipdock_script::parse(&file.text, &file.name).expect("the corpus is readable");
        let calls = module.functions.iter().any(calls_functions);
        for function in module.functions.iter().filter(|f| is_for_host(f) && !has_storage_types(f)) {
            // One function to a module, unless they call each other: what is refused is one
            // function's fault.
            let functions = if calls { module.functions.clone() } else { vec![function.clone()] };
            let module = IrModule { functions, attrs: module.attrs.clone() };
            let Some(args) = arguments(function) else { continue };
            let limits = Limits { steps_max: 2_000_000, ..Limits::default() };
            let interpreter = Interpreter::new(&module).with_bounds().with_limits(limits);
            // What is an error here (an index out of bounds, say) TVM is not asked for.
            let Ok(outcome) = interpreter.run(&function.name, &mut args.clone()) else { continue };
            let program =
                Program { text: print::module(&module), calls: vec![(function.name.to_string(), args)] };
            all.push(Kernel { name: format!("{}:{}", file.name, function.name), module, program, outcome });
        }
    }
    all
}

#[test]
fn printed_kernels_run_in_tvm() {
    let all = kernels();
    assert_eq!(all.len(), KERNELS, "functions of the corpus that the interpreter runs");
    let Some(python) = python(&format!("{} kernels in real TVM", all.len())) else { return };
    let programs: Vec<Program> = all.iter().map(|kernel| kernel.program.clone()).collect();
    let ran = run_in_tvm(&python, &programs).unwrap_or_else(|error| panic!("{error}"));
    let (host, mut n_beside) = (host(), 0);
    // Where that starts no program, each kernel may have a module of its own.
    let ours = in_process(&host);
    let (mut n_agree, mut wrong) = (0, Vec::new());
    for (kernel, ran) in all.iter().zip(ran) {
        let ran = ran.and_then(|mut calls| calls.swap_remove(0));
        let tensors: Option<Vec<Array>> =
            ran.as_ref().ok().map(|tensors| tensors.iter().map(|(_, array)| array.clone()).collect());
        match ran.and_then(|tensors| agree(&kernel.outcome, &tensors)) {
            Ok(()) if REFUSED.iter().any(|(name, ..)| *name == kernel.name) => {
                wrong.push(format!("{}: TVM takes it now; strike it off the list", kernel.name));
            }
            Ok(()) => {
                n_agree += 1;
                for backend in &ours {
                    match beside(&host, backend, kernel, tensors.as_deref().unwrap_or_default()) {
                        Ok(()) => n_beside += 1,
                        Err(why) => wrong.push(format!("{}: {why}", kernel.name)),
                    }
                }
            }
            Err(why) if is_refused(&kernel.name, &why) => println!("not in TVM: {}: {why}", kernel.name),
            Err(why) => wrong.push(format!("{}: {why}", kernel.name)),
        }
    }
    println!("{n_agree} of {} kernels agree with real TVM, {n_beside} of ours with TVM's", all.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs a kernel on a backend of ours, and holds that against what TVM's gave.
fn beside(host: &Host, backend: &Backend, kernel: &Kernel, theirs: &[Array]) -> Result<(), String> {
    let on = |error: String| format!("on {}: {error}", backend.target.kind);
    let (name, args) = &kernel.program.calls[0];
    let loaded = run::build(host, backend, &kernel.module).map_err(on)?;
    let function = loaded.function(name).map_err(|error| on(error.to_string()))?;
    let ours = outputs(backend, &function, args).map_err(on)?;
    hold_alike(&kernel.outcome.outputs, theirs, &ours).map_err(|error| on(format!("not as in TVM: {error}")))
}

fn is_refused(kernel: &str, why: &str) -> bool {
    REFUSED.iter().any(|(name, words, _)| *name == kernel && why.contains(words))
}

fn agree(outcome: &Outcome, tensors: &[(usize, Array)]) -> Result<(), String> {
    for (output, (_, found)) in outcome.outputs.iter().zip(tensors) {
        compare(found, output).map_err(|mismatch| format!("{}: {mismatch}", output.name))?;
    }
    Ok(())
}
