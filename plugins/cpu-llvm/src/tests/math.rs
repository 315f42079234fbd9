//! Tests that loops over functions of floats call no C library: what is lowered stays on vectors in
//! the machine's code.

use chipdock_ir::op::Lowering;
use chipdock_ir::{DType, Expr, IrModule, Op, build};
use chipdock_passes::{high_ulps, lowered_ulps};
use serde_json::json;

use super::support::built;

/// Functions that a host still calls for each element.
const CALLED: &[(DType, &[Op])] = &[(DType::FLOAT32, &[]), (DType::FLOAT64, &[Op::Fmod])];

/// What the entry calls for errors and workspace in a process without a host.
const OF_ENTRY: &[&str] = &["malloc", "free", "dlsym"];

/// `C[i] = op(A[i], B[i])`, with as many operands as the op takes.
fn kernel(op: Op, dtype: DType) -> Option<IrModule> {
    let mut f = build::function("f");
    let buffers = ["A", "B", "C"].map(|name| f.buffer(name, [4096], dtype));
    let n_args = (1..3).find(|n| op.takes_count(*n))?;
    let second = if op == Op::Ldexp { DType::INT32 } else { dtype };
    f.range("i", 4096, |f, i| {
        let load = |at: usize| buffers[at].at(std::slice::from_ref(&i));
        let args: Vec<Expr> =
            (0..n_args).map(|at| if at == 1 { load(1).cast(second) } else { load(at) }).collect();
        f.store(&buffers[2], [i.clone()], Expr::call(op, args, dtype));
    });
    Some(build::module([f.finish()]))
}

/// Functions of float32 in float64, too.
#[test]
fn functions_of_high_accuracy_are_vectors() {
    for op in Op::all_where(|info| info.lowering == Lowering::Function && info.is_elementwise) {
        let Some(module) = kernel(op, DType::FLOAT32).filter(|_| high_ulps(op).is_some()) else { continue };
        let target =
            json!({ "mtriple": "x86_64-unknown-linux-gnu", "mcpu": "x86-64-v3", "accuracy": "high" });
        let asm = built(&module, target, &json!({ "emit": "asm" })).text("asm");
        let is_wide = asm.contains("vcvtps2pd") && asm.contains("vcvtpd2ps");
        assert!(is_wide && asm.contains("%ymm"), "{}: not in float64\n{asm}", op.name());
        let of_library: Vec<&str> =
            called(&asm).into_iter().filter(|name| !name.contains('.') && !OF_ENTRY.contains(name)).collect();
        assert!(of_library.is_empty(), "{}: calls {of_library:?}", op.name());
    }
}

/// The functions that assembly calls by name, or jumps to at its end.
fn called(asm: &str) -> Vec<&str> {
    fn of(line: &str) -> Option<&str> {
        let (what, name) = line.trim().split_once(char::is_whitespace)?;
        matches!(what, "call" | "callq" | "jmp").then_some(())?;
        let name = name.trim().trim_end_matches("@PLT");
        name.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(name)
    }
    asm.lines().filter_map(of).collect()
}

/// The C functions in the assembly of a loop over the op, and that assembly.
fn of_library(module: &IrModule, mcpu: &str) -> (Vec<String>, String) {
    let target = json!({ "mtriple": "x86_64-unknown-linux-gnu", "mcpu": mcpu });
    let asm = built(module, target, &json!({ "emit": "asm" })).text("asm");
    let is_library = |name: &&str| !name.contains('.') && !OF_ENTRY.contains(name);
    let functions: Vec<String> = called(&asm).into_iter().filter(is_library).map(str::to_owned).collect();
    (functions, asm)
}

// STAGE-H6. `x86-64` has neither fused products nor instructions that round, which functions of
// float64 do without.
#[test]
fn lowered_functions_call_no_c_library() {
    for (dtype, expected) in CALLED {
        let mut found = Vec::new();
        for op in Op::all_where(|info| info.lowering == Lowering::Function && info.is_elementwise) {
            let Some(module) = kernel(op, *dtype) else { continue };
            let (functions, asm) = of_library(&module, "x86-64-v3");
            if lowered_ulps(op, *dtype).is_some() {
                assert!(functions.is_empty(), "{dtype} {}: calls {functions:?}", op.name());
                if *dtype == DType::FLOAT64 {
                    let (functions, _) = of_library(&module, "x86-64");
                    assert!(functions.is_empty(), "{dtype} {}: calls {functions:?}", op.name());
                }
                assert!(asm.contains("%ymm"), "{dtype} {}: no vectors", op.name());
            } else if !functions.is_empty() {
                let names = op.info().c_names;
                let is_own = |f: &String| names.iter().any(|name| f.starts_with(name));
                assert!(functions.iter().all(is_own), "{}: calls {functions:?}", op.name());
                found.push(op);
            }
        }
        found.sort_by_key(|op| op.name());
        assert_eq!(found, *expected, "{dtype}");
    }
}
