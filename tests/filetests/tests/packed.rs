//! Kernels of the corpus after every pass, as packed functions in the interpreter.

mod support;

use std::sync::Arc;

use chipdock_interpret::{
    Arg, Array, ErrorKind, Interpreter, Limits, Output, PackedArg, PackedTensor, compare,
};
use chipdock_ir::validate::validate;
use chipdock_ir::{IrModule, PrimFunc, Stage};
use chipdock_passes::{LowerOptions, lower};
use chipdock_test_support::corpus;

use support::{host_capabilities, inputs, may_be_refused, parallel_host_capabilities, without_threads};

/// How a caller may pass one and the same tensor.
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

/// I11: what the whole pipeline makes of a kernel computes what the kernel computes, however tensors are passed, parallel
/// loops as loops or as tasks.
#[test]
fn kernels_compute_the_same_as_packed_functions() {
    let mut n = 0;
    for file in corpus().unwrap() {
        let module = chipdock_script::parse(&file.text, &file.name).unwrap();
        if !module.functions.iter().all(without_threads) || validate(&module, Stage::Blocks).is_err() {
            continue;
        }
        for capabilities in [host_capabilities(), parallel_host_capabilities()] {
            match lower(&module, &LowerOptions::new(Arc::new(capabilities))) {
                Ok(lowered) => {
                    for function in &module.functions {
                        n += usize::from(holds(&file.name, &module, function, &lowered.module));
                    }
                }
                Err(error) if may_be_refused(&file.name) => println!("{}: {error}", file.name),
                Err(error) => panic!("{}: {error}", file.name),
            }
        }
    }
    println!("{n} functions");
    assert!(n > 120, "only {n} functions ran");
}

/// I11: host functions as TVM itself lowers them compute what it printed them from.
#[test]
fn host_functions_of_tvm_compute_what_they_were_made_of() {
    let files = corpus().unwrap();
    let mut n = 0;
    for file in files.iter().filter(|file| file.name.contains("lowered/host_")) {
        let kernel = file.name.replace("lowered/host_", "tvm/");
        let source = files.iter().find(|file| file.name == kernel).unwrap_or_else(|| panic!("no {kernel}"));
        // A matmul of 64³ in place of one of 512³.
        let small = |text: &str| match kernel.as_str() {
            "tvm/matmul.py" => {
                text.replace("512", "64").replace("range(32)", "range(4)").replace("262144", "4096")
            }
            _ => text.to_owned(),
        };
        let [lowered, module] =
            [file, source].map(|file| chipdock_script::parse(&small(&file.text), &file.name).unwrap());
        let function = &module.functions[0];
        let mut args = inputs(function, 3).unwrap();
        let mut as_packed = packed(&args, WAYS[0]);
        let expected = Interpreter::new(&module).with_bounds().run(&function.name, &mut args).unwrap();
        let name = &lowered.functions[0].name;
        let outcome = Interpreter::new(&lowered).run_packed(name, &mut as_packed);
        let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", file.name));
        for (found, expected) in outcome.outputs.iter().zip(&expected.outputs) {
            agree(&file.name, &found.array, expected);
        }
        n += 1;
    }
    assert_eq!(n, 5);
}
