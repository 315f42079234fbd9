//! Compares real TVM with the interpreter, op by op, where TVM defines the answer. A run takes what
//! it has drawn ([`sample`]).

use std::path::Path;

use chipdock_interpret::{Arg, Array};
use chipdock_ir::{BinaryOp, Op, build, print};
use chipdock_peers::cases::Operation;
use chipdock_peers::judge::{Held, Summary, arguments, hold_backend, interpret};
use chipdock_peers::python::{Program, Ran, python, run_in_tvm};
use chipdock_peers::table::{Kind, Table, Tables};
use chipdock_peers::{Case, cases};
use chipdock_test_support::sample;

/// Kernels in one module.
const PER_MODULE: usize = 16;
/// A run takes one operation in so many.
const SHARE: usize = 5;

/// Whether TVM defines the answer: it leaves open what IR-N2, IR-N4 and IR-N9 say of division by
/// zero and its overflow, of shifts beyond the width and of casts out of range, and IR-N5 of
/// `clz(0)`.
fn is_defined(case: &Case, table: &Table, row: usize) -> bool {
    let int = |column: usize| table.columns[column].int(row).unwrap_or_default();
    match &case.operation {
        Operation::Binary(BinaryOp::Div | BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod) => case
            .result
            .integer_range()
            .is_none_or(|(least, _)| int(1) != 0 && !(int(0) == least && int(1) == -1)),
        Operation::Op(Op::ShiftLeft | Op::ShiftRight) => (0..i128::from(case.result.bits)).contains(&int(1)),
        Operation::Op(Op::Clz) => int(0) != 0,
        Operation::Cast if case.operands[0].is_float() => {
            case.result.integer_range().is_none_or(|(least, most)| {
                let value = table.columns[0].float(row).unwrap_or_default().trunc();
                case.result.is_bool()
                    || value >= least as f64 && value < most as f64 + 1.0 && (value as i128) <= most
            })
        }
        _ => true,
    }
}

/// Operations that TVM refuses, or for which it gives another answer: the operation, its types (as
/// [`otherwise`] names them), words of the refusal (or `off`, of a value), and the reason.
const OTHERWISE: &[(&str, &[&str], &str, &str)] = &[
    ("acos", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("acosh", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("asin", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("asinh", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("atan", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("atan2", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("copysign", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("cosh", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("erf", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("hypot", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("ldexp", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("log1p", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("nextafter", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    ("sinh", &["float16"], "unknown intrinsic", "it calls no C function for halves"),
    (
        "fmod",
        &["float16", "bfloat16", "float32", "float64"],
        "unknown intrinsic",
        "it has none for this target",
    ),
    ("q_multiply_shift", &["2 int32"], "broadcast_node", "it wants the multiplier as a constant"),
    (
        "q_multiply_shift",
        &["1 int32 [1073741824, 31, -3]"],
        "off",
        "half and a negative shift: it adds the half in int32, which overflows",
    ),
    ("q_multiply_shift_per_axis", &["4 int32"], "condition_ty", "it wants the flags as booleans"),
    ("dot_add", &["int8", "uint8", "int16", "bfloat16", "float16"], "dot_add", "it has none"),
    ("dp4a", &["int8", "uint8"], "unknown intrinsic", "it has none for this target"),
    ("pow", &["bfloat16"], "power only applies to float", "it takes no bfloat16"),
    ("isnan", &["bfloat16"], "not supported", "it takes no bfloat16"),
    ("isinf", &["bfloat16"], "not supported", "it takes no bfloat16"),
    ("isfinite", &["bfloat16"], "not supported", "it takes no bfloat16"),
    (
        "clz",
        &["int8", "int16", "uint8", "uint16"],
        "clz only supports 32 or 64 bit",
        "it takes no other width",
    ),
    ("Eq", &["bool"], "fcmp", "it compares booleans as floats"),
    ("Ne", &["bool"], "fcmp", "it compares booleans as floats"),
    ("Lt", &["bool"], "kDLFloat", "it compares booleans as floats"),
    ("Le", &["bool"], "kDLFloat", "it compares booleans as floats"),
    ("Gt", &["bool"], "kDLFloat", "it compares booleans as floats"),
    ("Ge", &["bool"], "kDLFloat", "it compares booleans as floats"),
    (
        "Ne",
        &["float16", "bfloat16", "float32", "float64"],
        "off",
        "it finds a NaN not unequal: an ordered comparison",
    ),
    (
        "tanh",
        &["float16", "bfloat16", "float32", "float64"],
        "off",
        "it loses everything near 0: (1 - exp(-2x)) / (1 + exp(-2x))",
    ),
    (
        "atanh",
        &["float16", "bfloat16", "float32", "float64"],
        "off",
        "it loses everything near 0: 0.5 log((1 + x) / (1 - x))",
    ),
    ("exp10", &["float16", "float32", "float64"], "off", "it is exp(x log 10), the product rounded"),
    ("sigmoid", &["float16"], "off", "its exp(-x) overflows"),
    (
        "fma",
        &["float16", "float32", "float64"],
        "off",
        "it rounds twice where the target names no fused unit: llvm.fmuladd",
    ),
    ("nextafter", &["bfloat16"], "off", "it takes the next float32 and rounds it back"),
    (
        "cast",
        &["int32→bfloat16", "int64→bfloat16", "uint32→bfloat16", "uint64→bfloat16", "float64→bfloat16"],
        "off",
        "it rounds twice, by way of float32",
    ),
    ("cast", &["float16→bfloat16"], "off", "it cuts the payload off a NaN, which becomes an infinity"),
];

/// Result of TVM for the rows of a case.
type Found = Result<Array, String>;

/// Runs cases in real TVM, first many to a module; those of a module that it refuses once more, one
/// by one.
fn run(python: &Path, rows: &[(&Case, &Table)]) -> Vec<Found> {
    let batch = |size: usize, rows: &[(&Case, &Table)]| -> Vec<Found> {
        let programs: Vec<Program> = rows.chunks(size).map(program).collect();
        let ran = run_in_tvm(python, &programs).unwrap_or_else(|error| panic!("{error}"));
        let result = |tensors: Ran| tensors.map(|mut tensors| tensors.pop().expect("a result").1);
        let mut all = Vec::new();
        for (ran, rows) in ran.into_iter().zip(rows.chunks(size)) {
            match ran {
                Ok(calls) => all.extend(calls.into_iter().map(result)),
                Err(why) => all.extend(rows.iter().map(|_| Err(why.clone()))),
            }
        }
        all
    };
    let mut all = batch(PER_MODULE, rows);
    let again: Vec<usize> = (0..all.len()).filter(|index| all[*index].is_err()).collect();
    let alone: Vec<(&Case, &Table)> = again.iter().map(|index| rows[*index]).collect();
    for (index, found) in again.into_iter().zip(batch(1, &alone)) {
        all[index] = found;
    }
    all
}

/// The same on two threads, each with a Python of its own.
fn run_all(python: &Path, rows: &[(&Case, &Table)]) -> Vec<Found> {
    let (left, right) = rows.split_at(rows.len() / 2);
    std::thread::scope(|scope| {
        let left = scope.spawn(|| run(python, left));
        let right = run(python, right);
        let mut all = left.join().expect("no panic");
        all.extend(right);
        all
    })
}

#[test]
fn operations_agree_with_tvm() {
    let all = sample::draw("operations on types, compared with TVM", SHARE, cases(), Case::name);
    let Some(python) = python(&format!("{} operations on types in real TVM", all.len())) else { return };
    let mut tables = Tables::default();
    let mut filtered = Vec::new();
    for case in &all {
        let table = tables.get(case.table.0, case.table.1);
        filtered.push(table.filtered(|row| is_defined(case, table, row)));
    }
    let rows: Vec<(&Case, &Table)> = all.iter().zip(&filtered).collect();
    let (mut summary, mut wrong) = (Summary::default(), Vec::new());
    for ((case, table), found) in rows.iter().zip(run_all(&python, &rows)) {
        let output = interpret(case, table).unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        let verdict = match found {
            Err(why) => Held { first: Some(why), ..Held::default() },
            Ok(found) => hold_backend(case, table, &output, &found),
        };
        match (&verdict.first, otherwise(case)) {
            (None, None) => summary.add(case, "TVM", &verdict),
            (Some(text), Some((words, _))) if text.contains(words) => {}
            (Some(text), _) => wrong.push(format!("{}: {text}", case.name())),
            // The list is what TVM does here; its code for another processor may be better.
            (None, Some(_)) if cfg!(not(target_arch = "x86_64")) => summary.add(case, "TVM", &verdict),
            (None, Some(_)) => wrong.push(format!("{}: TVM agrees now; strike it off the list", case.name())),
        }
    }
    println!("{}", summary.text());
    for (op, types, _, why) in OTHERWISE {
        println!("not so in TVM: {op} of {}: {why}", types.join(", "));
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

fn otherwise(case: &Case) -> Option<(&'static str, &'static str)> {
    let dtype = if case.operation == Operation::Cast {
        format!("{}→{}", case.operands[0], case.result)
    } else if case.table.0 == Kind::Fixed {
        match case.operands.len() {
            1 => format!("1 int32 {:?}", case.parameters),
            n => format!("{n} int32"),
        }
    } else {
        case.table.1.to_string()
    };
    let listed = OTHERWISE.iter().find(|(op, types, ..)| *op == case.op() && types.contains(&dtype.as_str()));
    listed.map(|(_, _, words, why)| (*words, *why))
}

fn program(chunk: &[(&Case, &Table)]) -> Program {
    let kernel =
        |(index, (case, table)): (usize, &(&Case, &Table))| case.kernel(&format!("f{index}"), table.n_rows());
    let call = |(index, (case, table)): (usize, &(&Case, &Table))| {
        (format!("f{index}"), arguments(case, table).into_iter().map(Arg::Tensor).collect())
    };
    Program {
        text: print::module(&build::module(chunk.iter().enumerate().map(kernel))),
        calls: chunk.iter().enumerate().map(call).collect(),
    }
}
