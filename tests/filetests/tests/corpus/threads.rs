//! Runs the kernels of the corpus that use threads, scheduled and lowered, in the interpreter, and
//! compares them with the expected results.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::{DType, IrModule, Param};
use chipdock_test_support::CorpusFile;
use chipdock_test_support::lists::List;

use crate::support::counted;

const CHECK: &str = "kernels_on_threads_are_right";

pub(crate) fn tests(list: List, corpus: &[CorpusFile]) -> List {
    let kernels: Vec<CorpusFile> = corpus.iter().filter(|file| kernel(file).is_some()).cloned().collect();
    list.each(CHECK, &kernels, kernels_on_threads_are_right)
}

/// Returns the name of the kernel in a file, which TVM printed, or lowered for CUDA or OpenCL.
fn kernel(file: &CorpusFile) -> Option<&str> {
    let (folder, name) = file.name.split_once('/')?;
    let (form, kernel) = name.strip_suffix(".py")?.split_once("g_")?;
    (["tvm", "lowered"].contains(&folder) && ["", "cuda_", "opencl_"].contains(&form)).then_some(kernel)
}

const F32: DType = DType::FLOAT32;

/// Small values that every type of the kernels holds, and whose sums and products are exact in
/// float32.
fn values(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|index| ((index * 7 + seed * 5) % 13) as f64 * 0.5 - 3.0).collect()
}

fn whole(n: usize, seed: usize) -> Vec<f64> {
    values(n, seed).into_iter().map(|value| value * 2.0).collect()
}

/// Arguments of a kernel, and the expected content of its last tensor.
struct Case {
    inputs: Vec<Array>,
    output: Array,
    size: Option<i128>,
    /// Largest relative error of a value.
    tolerance: f64,
}

/// An elementwise kernel on `n` values.
fn each(n: usize, n_inputs: usize, output: DType, f: impl Fn(&[f64]) -> f64) -> Case {
    let inputs: Vec<Vec<f64>> = (0..n_inputs).map(|seed| values(n, seed)).collect();
    let at = |index: usize| f(&inputs.iter().map(|values| values[index]).collect::<Vec<f64>>());
    let result: Vec<f64> = (0..n).map(at).collect();
    Case {
        inputs: inputs.iter().map(|values| Array::from_f64(F32, &[n], values)).collect(),
        output: Array::from_f64(output, &[n], &result),
        size: None,
        tolerance: 0.0,
    }
}

/// `C[i, j]` is the sum of `A[i, k] · B[k, j]`; or of `B[j, k]`, where that is so transposed.
fn product(n: [usize; 3], types: [DType; 2], is_transposed: bool) -> Case {
    let [rows, columns, depth] = n;
    let (a, b) = (whole(rows * depth, 1), whole(depth * columns, 2));
    let right = |k: usize, j: usize| if is_transposed { b[j * depth + k] } else { b[k * columns + j] };
    let at = |i: usize, j: usize| (0..depth).map(|k| a[i * depth + k] * right(k, j)).sum();
    let c: Vec<f64> = (0..rows * columns).map(|index| at(index / columns, index % columns)).collect();
    let shape = if is_transposed { [columns, depth] } else { [depth, columns] };
    let array = |shape: &[usize], dtype: DType, values: &[f64]| match dtype.is_float() {
        true => Array::from_f64(dtype, shape, values),
        false => Array::from_int(dtype, shape, &values.iter().map(|v| *v as i128).collect::<Vec<_>>()),
    };
    Case {
        inputs: vec![array(&[rows, depth], types[0], &a), array(&shape, types[0], &b)],
        output: array(&[rows, columns], types[1], &c),
        size: None,
        tolerance: 0.0,
    }
}

fn case(kernel: &str) -> Case {
    match kernel {
        "vecadd" => each(1024, 2, F32, |v| v[0] + v[1]),
        "dynadd" => Case { size: Some(300), ..each(300, 2, F32, |v| v[0] + v[1]) },
        "vec4" => each(1024, 1, F32, |v| v[0] * 2.0),
        "castf16" => each(256, 1, DType::FLOAT16, |v| v[0]),
        "castbf16" => each(256, 1, DType::BFLOAT16, |v| v[0]),
        "exp" => Case { tolerance: 1e-6, ..each(1000, 1, F32, |v| v[0].exp()) },
        "int8dot" => product([32, 32, 64], [DType::INT8, DType::INT32], true),
        "matmul" => product([64, 64, 64], [F32, F32], false),
        "dynshm" => {
            let a = values(256, 0);
            let reversed: Vec<f64> = a.iter().rev().copied().collect();
            Case { output: Array::from_f64(F32, &[256], &reversed), ..each(256, 1, F32, |v| v[0]) }
        }
        "transpose" => {
            let a = values(64 * 64, 0);
            let turned: Vec<f64> = (0..64 * 64).map(|index| a[index % 64 * 64 + index / 64]).collect();
            let [a, output] = [a, turned].map(|values| Array::from_f64(F32, &[64, 64], &values));
            Case { inputs: vec![a], output, size: None, tolerance: 0.0 }
        }
        "sumred" => {
            let a = values(37 * 128, 0);
            let sums: Vec<f64> = a.chunks_exact(128).map(|row| row.iter().sum()).collect();
            let (a, output) = (Array::from_f64(F32, &[37, 128], &a), Array::from_f64(F32, &[37], &sums));
            Case { inputs: vec![a], output, size: None, tolerance: 0.0 }
        }
        _ => panic!("no case for g_{kernel}: say here what it computes"),
    }
}

/// The module of a file; a matmul of 64³ in place of one of 512³.
fn module(file: &CorpusFile) -> IrModule {
    let mut text = file.text.clone();
    if file.name.contains("g_matmul") {
        for (from, to) in [
            ("thread_binding(32,", "thread_binding(4,"),
            ("blockIdx.x\", 32)", "blockIdx.x\", 4)"),
            ("blockIdx.y\", 32)", "blockIdx.y\", 4)"),
            ("262144", "4096"),
            ("8192", "1024"),
            ("512", "64"),
        ] {
            text = text.replace(from, to);
        }
    }
    chipdock_script::parse(&text, &file.name).unwrap_or_else(|errors| panic!("{errors}"))
}

/// IR-K1 to IR-K7: every kernel of TVM's for threads gives what it is to give, with and without
/// bounds, scheduled and lowered.
fn kernels_on_threads_are_right(file: &CorpusFile) -> Result<(), String> {
    let module = module(file);
    let function = &module.functions[0];
    let case = case(kernel(file).ok_or("it is no kernel for threads")?);
    let mut tensors = case.inputs.iter().chain([&case.output]).cloned();
    let n_tensors = case.inputs.len() + 1;
    let mut args: Vec<Arg> = function
        .params
        .iter()
        .map(|param| match param {
            Param::Var(var) if !var.dtype.is_handle() => Arg::Int(case.size.unwrap()),
            _ => Arg::Tensor(tensors.next().unwrap()),
        })
        .collect();
    let Arg::Tensor(output) = &mut args[n_tensors - 1] else { panic!("{}", file.name) };
    *output = Array::zeros(output.dtype, &output.shape);
    let plain = Interpreter::new(&module).run(&function.name, &mut args.clone());
    let plain = plain.unwrap_or_else(|error| panic!("{}: {error}", file.name));
    let outcome = Interpreter::new(&module).with_bounds().run(&function.name, &mut args).unwrap();
    let found = &outcome.outputs[n_tensors - 1];
    assert_eq!(found.array, plain.outputs[n_tensors - 1].array, "{}", file.name);
    for lane in 0..case.output.n_lanes() {
        let (value, expected) = match case.output.dtype.is_float() {
            true => (found.array.float(lane).unwrap(), case.output.float(lane).unwrap()),
            false => (found.array.to_int()[lane] as f64, case.output.to_int()[lane] as f64),
        };
        let bound = found.bounds.as_ref().unwrap()[lane];
        let off = (value - expected).abs();
        assert!(off <= case.tolerance * expected.abs(), "{}: {lane}: {value} {expected}", file.name);
        assert!(bound.is_finite() && off <= bound + case.tolerance * expected.abs(), "{}", file.name);
    }
    counted(CHECK, file, case.output.n_lanes())
}
