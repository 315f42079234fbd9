//! Runs kernels of the corpus after every pass, as packed functions in the interpreter.

use std::sync::Arc;

use chipdock_interpret::{
    Arg, Array, ErrorKind, Interpreter, Limits, Output, PackedArg, PackedTensor, compare,
};
use chipdock_ir::validate::validate;
use chipdock_ir::{IrModule, PrimFunc, Stage};
use chipdock_passes::{LowerOptions, lower};
use chipdock_test_support::CorpusFile;
use chipdock_test_support::lists::List;

use crate::support::{
    counted, host_capabilities, inputs, may_be_refused, parallel_host_capabilities, read, without_threads,
};

const PACKED: &str = "kernels_compute_the_same_as_packed_functions";
const OF_TVM: &str = "host_functions_of_tvm_compute_like_their_originals";

pub(crate) fn tests(list: List, corpus: &[CorpusFile]) -> List {
    let of_tvm: Vec<CorpusFile> =
        corpus.iter().filter(|file| file.name.starts_with("lowered/host_")).cloned().collect();
    list.each(PACKED, corpus, kernels_compute_the_same_as_packed_functions).each(
        OF_TVM,
        &of_tvm,
        host_functions_of_tvm_compute_like_their_originals,
    )
}

/// Ways in which a caller may pass the same tensor.
const WAYS: [fn(PackedTensor) -> PackedTensor; 4] = [
    |tensor| tensor,
    |tensor| PackedTensor { is_object: true, strides: Some(compact(&tensor.array)), ..tensor },
    // Not the first device: the way of every check.
    |tensor| PackedTensor { device_id: 1, ..tensor },
    |tensor| {
        let mut array = tensor.array;
        array.data.splice(0..0, [0; 64]);
        PackedTensor { array, byte_offset: 64, ..tensor }
    },
];

fn compact(array: &Array) -> Vec<i64> {
    let mut stride = 1;
    let strides = array.shape.iter().rev().map(|&extent| {
        let own = stride;
        stride *= extent as i64;
        own
    });
    let mut strides: Vec<i64> = strides.collect();
    strides.reverse();
    strides
}

fn packed(args: &[Arg], way: fn(PackedTensor) -> PackedTensor) -> Vec<PackedArg> {
    let arg = |arg: &Arg| match arg {
        Arg::Tensor(array) => PackedArg::Tensor(way(array.clone().into())),
        Arg::Int(value) => PackedArg::Int(i64::try_from(*value).unwrap()),
        Arg::Float(value) => PackedArg::Float(*value),
    };
    args.iter().map(arg).collect()
}

/// Runs the packed function every way; true when it ran.
fn holds(name: &str, module: &IrModule, function: &PrimFunc, lowered: &IrModule) -> bool {
    let Some(mut args) = inputs(function, 7) else { return false };
    let before = args.clone();
    // Larger kernels are no other test of the calling convention.
    let limits = Limits { steps_max: 1 << 17, ..Limits::default() };
    let interpreter = Interpreter::new(module).with_bounds().with_limits(limits);
    let Ok(expected) = interpreter.run(&function.name, &mut args) else { return false };
    let entry = format!("__tvm_ffi_{}", function.name);
    let what = format!("{name}: {}", function.name);
    for (number, way) in WAYS.into_iter().enumerate() {
        let has_offset = number == 3;
        let declares_offset = function
            .params
            .iter()
            .any(|param| matches!(param, chipdock_ir::Param::Buffer(buffer) if buffer.elem_offset.is_some()));
        if has_offset && declares_offset {
            continue;
        }
        let mut args = packed(&before, way);
        let outcome = Interpreter::new(lowered).with_bounds().run_packed(&entry, &mut args);
        let outcome = outcome.unwrap_or_else(|error| panic!("{what}, way {number}: {error}"));
        assert_eq!(outcome.outputs.len(), expected.outputs.len(), "{what}");
        for (found, output) in outcome.outputs.iter().zip(&expected.outputs) {
            let skipped = if has_offset { 64 } else { 0 };
            let data = found.array.data[skipped..].to_vec();
            let array = Array { data, ..found.array.clone() };
            agree(&what, &array, output);
        }
        if let Some((value, _)) = &expected.returned {
            let returned = match outcome.returned {
                PackedArg::Int(found) => i128::from(found) == value.to_int()[0],
                PackedArg::Bool(found) => i128::from(found) == value.to_int()[0],
                PackedArg::Float(found) => (found - value.to_f64()[0]).abs() <= 1e-5 * found.abs(),
                _ => false,
            };
            assert!(returned, "{what}: {:?} {value:?}", outcome.returned);
        }
    }
    let error = Interpreter::new(lowered).run_packed(&entry, &mut vec![PackedArg::None; before.len() + 1]);
    let error = error.unwrap_err();
    assert!(
        matches!(&error.kind, ErrorKind::Assertion { kind, .. } if &**kind == "TypeError"),
        "{what}: {error}"
    );
    true
}

fn agree(what: &str, found: &Array, expected: &Output) {
    if let Err(mismatch) = compare(found, expected) {
        panic!("{what}: {}: {mismatch}", expected.name);
    }
}

/// INT-I11: what the whole pipeline makes of a kernel computes what the kernel computes, however
/// tensors are passed, parallel loops as loops or as tasks.
fn kernels_compute_the_same_as_packed_functions(file: &CorpusFile) -> Result<(), String> {
    let module = read(file)?;
    let is_for_host =
        module.functions.iter().all(without_threads) && validate(&module, Stage::Blocks).is_ok();
    let mut n = 0;
    for capabilities in
        [host_capabilities(), parallel_host_capabilities()].into_iter().filter(|_| is_for_host)
    {
        match lower(&module, &LowerOptions::new(Arc::new(capabilities))) {
            Ok(lowered) => {
                for function in &module.functions {
                    n += usize::from(holds(&file.name, &module, function, &lowered.module));
                }
            }
            Err(error) if may_be_refused(&file.name) => println!("{error}"),
            Err(error) => return Err(error.to_string()),
        }
    }
    counted(PACKED, file, n)
}

/// INT-I11: host functions as TVM itself lowers them compute what it printed them from.
fn host_functions_of_tvm_compute_like_their_originals(file: &CorpusFile) -> Result<(), String> {
    let kernel = file.name.replace("lowered/host_", "");
    let path = chipdock_test_support::printed_by_tvm().join(&kernel);
    let source = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    // A matmul of 64³ in place of one of 512³.
    let small = |text: &str| match kernel.as_str() {
        "matmul.py" => text.replace("512", "64").replace("range(32)", "range(4)").replace("262144", "4096"),
        _ => text.to_owned(),
    };
    let parse =
        |text: &str| chipdock_script::parse(&small(text), &kernel).map_err(|errors| errors.to_string());
    let (lowered, module) = (parse(&file.text)?, parse(&source)?);
    let function = &module.functions[0];
    let mut args = inputs(function, 3).ok_or("no arguments")?;
    let mut as_packed = packed(&args, WAYS[0]);
    let expected = Interpreter::new(&module)
        .with_bounds()
        .run(&function.name, &mut args)
        .map_err(|error| error.to_string())?;
    let name = &lowered.functions[0].name;
    let outcome =
        Interpreter::new(&lowered).run_packed(name, &mut as_packed).map_err(|error| error.to_string())?;
    for (found, expected) in outcome.outputs.iter().zip(&expected.outputs) {
        agree(&file.name, &found.array, expected);
    }
    counted(OF_TVM, file, outcome.outputs.len())
}
