//! Tests of packed calls of loaded modules: correct and incorrect calls, and a loader in a broken
//! environment.

use chipdock_interpret::Array;
use chipdock_ir::{DType, Expr, build};
use chipdock_plugin_api::abi::{ChipdockAnyValue, ChipdockDevice, ChipdockTensor};

use super::support::{Argument, any, built, call, call_packed, dl_type, env, has_compiler, loaded};
use crate::compiler::{Compiled, Options, compile_with};
use crate::loader::load;
use chipdock_plugin_api::{Error, HostRef};

/// `B = A * scale + bias` of any size.
fn axpb() -> chipdock_ir::IrModule {
    let mut f = build::function("axpb");
    let n = f.size("n");
    let a = f.buffer("A", [&n], DType::FLOAT32);
    let b = f.buffer("B", [&n], DType::FLOAT32);
    let (scale, bias) = (f.scalar("scale", DType::FLOAT32), f.scalar("bias", DType::INT32));
    f.for_loop("i", &n, chipdock_ir::ForKind::Serial, |f, i| {
        f.store(&b, [&i], a.at([&i]) * scale.clone() + bias.cast(DType::FLOAT32));
    });
    build::module([f.finish()])
}

#[test]
fn a_packed_call_takes_any_size_and_reports_the_first_thing_wrong() {
    if !has_compiler() {
        return;
    }
    let module = loaded(&axpb());
    let run = |n: usize, m: usize, dtype: DType, bias: i64| {
        let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let (mut a, mut b) = (Array::from_f64(DType::FLOAT32, &[n], &values), Array::zeros(dtype, &[m]));
        let mut args =
            [Argument::Tensor(&mut a), Argument::Tensor(&mut b), Argument::Float(0.5), Argument::Int(bias)];
        call(&module, "axpb", &mut args).map(|()| b.to_f64())
    };
    for n in [0, 1, 16, 17, 1000] {
        let expected: Vec<f64> = (0..n).map(|i| i as f64 * 0.5 + 3.0).collect();
        assert_eq!(run(n, n, DType::FLOAT32, 3).unwrap(), expected, "n = {n}");
    }
    let (kind, message) = run(4, 5, DType::FLOAT32, 0).unwrap_err();
    assert_eq!(kind, "ValueError");
    assert!(
        message.contains("B.shape[0]") && message.contains("(4)") && message.contains("got 5"),
        "{message}"
    );
    let (kind, message) = run(4, 4, DType::INT32, 0).unwrap_err();
    assert!(kind == "TypeError" && message.contains("float32") && message.contains("int32"), "{message}");
    let (_, message) = run(4, 4, DType::FLOAT32, 1 << 40).unwrap_err();
    assert!(message.contains("bias") && message.contains("1099511627776"), "{message}");
}

#[test]
fn every_kind_of_argument_that_is_no_tensor_is_refused() {
    if !has_compiler() {
        return;
    }
    let module = loaded(&axpb());
    let mut shape = [4_i64];
    let mut data = [1.0_f32; 8];
    let mut tensor = ChipdockTensor {
        data: data.as_mut_ptr().cast(),
        device: ChipdockDevice { device_type: 1, device_id: 0 },
        ndim: 1,
        dtype: dl_type(DType::FLOAT32),
        shape: shape.as_mut_ptr(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
    // A tensor object: its tensor lies 24 bytes in.
    let mut object = (chipdock_plugin_api::abi::CHIPDOCK_NEW_REF_COUNT, [0_u64; 2], tensor);
    let mut run = |type_index: i32, value: ChipdockAnyValue| {
        let scalars = [any(3, ChipdockAnyValue { v_float64: 1.0 }), any(1, ChipdockAnyValue { v_int64: 0 })];
        let b = any(7, ChipdockAnyValue { v_tensor: &raw mut tensor });
        call_packed(&module, "axpb", &[any(type_index, value), b, scalars[0], scalars[1]])
    };
    let at_object = ChipdockAnyValue { v_ptr: (&raw mut object).cast() };
    run(70, at_object).unwrap();
    for type_index in [0, 1, 3, 4, 65, 68, 71, 1000] {
        let (kind, message) = run(type_index, at_object).unwrap_err();
        assert!(kind == "TypeError" && message.contains("argument #0"), "{type_index}: {message}");
    }
    for type_index in [7, 70] {
        assert!(
            run(type_index, ChipdockAnyValue { v_ptr: std::ptr::null_mut() }).is_err(),
            "{type_index} null"
        );
    }
}

#[test]
fn a_tensor_may_start_at_any_element() {
    if !has_compiler() {
        return;
    }
    let module = loaded(&axpb());
    let mut data = [2.0_f32; 70];
    let (mut out, mut shape) = ([0.0_f32; 64], [64_i64]);
    for offset_bytes in [0_u64, 4, 12, 20] {
        let mut tensor = |data: *mut f32, byte_offset: u64| ChipdockTensor {
            data: data.cast(),
            device: ChipdockDevice { device_type: 1, device_id: 0 },
            ndim: 1,
            dtype: dl_type(DType::FLOAT32),
            shape: shape.as_mut_ptr(),
            strides: std::ptr::null_mut(),
            byte_offset,
        };
        let (mut a, mut b) = (tensor(data.as_mut_ptr(), offset_bytes), tensor(out.as_mut_ptr(), 0));
        let args = [
            any(7, ChipdockAnyValue { v_tensor: &raw mut a }),
            any(7, ChipdockAnyValue { v_tensor: &raw mut b }),
            any(3, ChipdockAnyValue { v_float64: 1.5 }),
            any(1, ChipdockAnyValue { v_int64: 1 }),
        ];
        call_packed(&module, "axpb", &args).unwrap();
        assert!(out.iter().all(|value| *value == 4.0), "{offset_bytes}");
    }
    let mut a = ChipdockTensor {
        data: data.as_mut_ptr().cast(),
        device: ChipdockDevice { device_type: 1, device_id: 0 },
        ndim: 1,
        dtype: dl_type(DType::FLOAT32),
        shape: shape.as_mut_ptr(),
        strides: std::ptr::null_mut(),
        byte_offset: 2,
    };
    let mut b = ChipdockTensor { data: out.as_mut_ptr().cast(), byte_offset: 0, ..a };
    let args = [
        any(7, ChipdockAnyValue { v_tensor: &raw mut a }),
        any(7, ChipdockAnyValue { v_tensor: &raw mut b }),
        any(3, ChipdockAnyValue { v_float64: 1.5 }),
        any(1, ChipdockAnyValue { v_int64: 1 }),
    ];
    let (_, message) = call_packed(&module, "axpb", &args).unwrap_err();
    assert!(message.contains("A.data") && message.contains("4 bytes"), "{message}");
}

#[test]
fn workspace_and_vectors_work_in_a_loaded_module() {
    if !has_compiler() {
        return;
    }
    let mut f = build::function("f");
    let n = f.size("n");
    let a = f.buffer("A", [&n], DType::FLOAT16);
    let b = f.buffer("B", [&n], DType::FLOAT16);
    let w = f.alloc("W", [&n], DType::FLOAT32, chipdock_ir::StorageScope::GLOBAL);
    f.for_loop("i", &n, chipdock_ir::ForKind::Serial, |f, i| {
        f.store(&w, [&i], a.at([&i]).cast(DType::FLOAT32) * Expr::float(2.0, DType::FLOAT32));
    });
    f.for_loop("i", &n, chipdock_ir::ForKind::Parallel, |f, i| {
        f.store(&b, [&i], w.at([&i]).cast(DType::FLOAT16));
    });
    let module = loaded(&build::module([f.finish()]));
    let values: Vec<f64> = (0..100).map(|i| f64::from(i) / 8.0).collect();
    let (mut a, mut b) =
        (Array::from_f64(DType::FLOAT16, &[100], &values), Array::zeros(DType::FLOAT16, &[100]));
    call(&module, "f", &mut [Argument::Tensor(&mut a), Argument::Tensor(&mut b)]).unwrap();
    let doubled: Vec<f64> = values.iter().map(|value| value * 2.0).collect();
    assert_eq!(b.to_f64(), doubled);
}

#[test]
fn the_same_source_may_be_loaded_twice() {
    if !has_compiler() {
        return;
    }
    let built = built(&axpb());
    let modules = [0, 1].map(|_| load(HostRef::standalone(), &built.index, &built.source, env()).unwrap());
    assert_ne!(modules[0].address("axpb").unwrap() as usize, modules[1].address("axpb").unwrap() as usize);
}

fn compile(source: &str, options: &Options, cc: Option<&str>) -> Result<Compiled, Error> {
    compile_with(source, options, cc, &std::env::temp_dir())
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no-such-folder");
    let error = compile_with("int x;", &Options::default(), None, &missing).unwrap_err();
    assert_eq!(error.kind().as_str(), "IoError");
    let message = error.message().into_owned();
    assert!(message.contains("no-such-folder") && message.contains("TMPDIR"), "{message}");
}

#[test]
fn a_missing_compiler_is_named_with_the_package_to_install() {
    let error = compile("int x;", &Options::default(), Some("no-such-compiler -O9")).unwrap_err();
    assert_eq!(error.kind().as_str(), "Unavailable");
    let message = error.message().into_owned();
    assert!(
        message.contains("no-such-compiler") && message.contains("CC") && message.contains("gcc"),
        "{message}"
    );
}

#[test]
fn a_compiler_with_arguments_is_run_with_them() {
    if !has_compiler() {
        return;
    }
    let source = "#ifndef ANSWER\n#error no answer\n#endif\nint x = ANSWER;\n";
    assert!(compile(source, &Options::default(), Some("cc  -DANSWER=42")).is_ok());
    let error = compile(source, &Options::default(), Some("cc")).unwrap_err();
    let message = error.message().into_owned();
    assert_eq!(error.kind().as_str(), "InternalError");
    assert!(message.contains("no answer") && message.contains("--emit source"), "{message}");
}

#[test]
fn no_file_is_left_behind() {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let entries_count = || std::fs::read_dir(folder.path()).unwrap().count();
    let compiled = compile_with("int x;", &Options::default(), None, folder.path()).unwrap();
    assert!(compiled.library.exists() && entries_count() == 1);
    drop(compiled);
    assert_eq!(entries_count(), 0);
}

#[test]
fn a_processor_that_the_compiler_does_not_know_is_a_wrong_option() {
    if !has_compiler() {
        return;
    }
    for (march, mcpu) in [(Some("no-such-cpu"), None), (None, Some("no-such-cpu"))] {
        let options =
            Options { march: march.map(str::to_owned), mcpu: mcpu.map(str::to_owned), ..Options::default() };
        let error = compile("int x;", &options, Some("cc")).unwrap_err();
        assert_eq!(error.kind().as_str(), "ValueError");
        let message = error.message().into_owned();
        assert!(message.contains("no-such-cpu") && message.contains("option 'm"), "{message}");
    }
}
