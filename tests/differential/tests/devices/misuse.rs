//! Tests of wrong uses of a device: each raises a typed error, with the driver's own words if the
//! driver reports it, and the device stays usable.

use std::ffi::c_void;
use std::sync::Arc;

use chipdock_abi::{CHIPDOCK_TYPE_OPAQUE_PTR, ChipdockAny, ChipdockAnyValue};
use chipdock_host::artifact::{Artifact, Section};
use chipdock_host::{Any, AnyView, CompileOptions, Error, Host, Module, Tensor};
use chipdock_ir::DType;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::{host, hosts, on_each_device};

use crate::{REVERSE, build, good, parse, refused};

/// Two kernels of constant sizes, which a test launches by hand.
const FIXED: &str = "
    @T.prim_func(s_tir=True)
    def fixed(A: T.Buffer((64,), \"int32\"), B: T.Buffer((64,), \"int32\")):
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding(1, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
                B[tx] = A[tx] + 1

    @T.prim_func(s_tir=True)
    def dynamic(A: T.Buffer((64,), \"int32\"), B: T.Buffer((64,), \"int32\")):
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding(1, thread=\"blockIdx.x\"):
            S = T.alloc_buffer((64,), \"int32\", scope=\"shared.dyn\")
            for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
                S[tx] = A[63 - tx]
                T.tvm_storage_sync(\"shared.dyn\")
                B[tx] = S[63 - tx] + 1
";

/// Returns a data pointer as an argument.
pub(crate) fn pointer(data: *mut c_void) -> Any {
    let value = ChipdockAnyValue { v_ptr: data };
    let raw = ChipdockAny { type_index: CHIPDOCK_TYPE_OPAQUE_PTR, small_length: 0, value };
    // SAFETY: an address and nothing owned.
    unsafe { Any::from_raw(raw) }
}

/// Extents of a launch.
#[derive(Clone, Copy)]
struct Extents {
    grid: i64,
    block: i64,
    dynamic_bytes: i64,
}

const RIGHT: Extents = Extents { grid: 1, block: 64, dynamic_bytes: 256 };

/// Launches a kernel of [`FIXED`] as a host function does it: data pointers, where tensors start,
/// the extents.
fn launch(module: &Module, name: &str, data: [*mut c_void; 2], extents: Extents) -> Result<Any, Error> {
    let kernel = format!("{name}_kernel");
    let imports = module.imports().iter();
    let mut infos = imports.flat_map(|import| &import.artifact().index().functions);
    let info = infos.find(|info| info.name == kernel).expect("the kernel stands in the index");
    let mut data = data.into_iter();
    let own = info.args.iter().map(|dtype| match dtype.as_str() {
        "handle" => pointer(data.next().expect("two pointers")),
        _ => Any::from(0_i64),
    });
    let of_launch = info.launch_params.iter().map(|param| {
        Any::from(match param.as_str() {
            "threadIdx.x" => extents.block,
            param if param.contains("dyn_shared") => extents.dynamic_bytes,
            _ => extents.grid,
        })
    });
    let args: Vec<Any> = own.chain(of_launch).collect();
    let views: Vec<AnyView<'_>> = args.iter().map(Any::view).collect();
    module.function(&kernel)?.call(&views)
}

/// Both kernels launched rightly, and one through its host function.
fn usable(backend: &Backend, module: &Module) {
    let values: Vec<i32> = (0..64).collect();
    let expected: Vec<i32> = (1..65).collect();
    for name in ["fixed", "dynamic"] {
        let a = Tensor::from_slice(&backend.device, &[64], &values).expect("made");
        let b = Tensor::zeros(&backend.device, &[64], DType::INT32).expect("made");
        launch(module, name, [a.view().data(), b.view().data()], RIGHT).expect("a good launch");
        assert_eq!(b.to_vec::<i32>().expect("read"), expected, "{name}");
    }
    good(backend, &module.function("reverse").expect("there"), 100);
}

fn module(host: &Host, backend: &Backend) -> Module {
    build(host, backend, &format!("{REVERSE}{FIXED}"))
}

#[test]
fn a_tensor_of_another_kind_of_device_is_refused() {
    let host = host();
    on_each_device(&host, |backend| {
        let loaded = module(&host, backend);
        let reverse = loaded.function("reverse").expect("there");
        let cpu = host.device("cpu", 0).expect("host memory");
        let here = Tensor::zeros(&backend.device, &[64], DType::INT32).expect("made");
        let there = Tensor::zeros(&cpu, &[64], DType::INT32).expect("made");
        let name = backend.device.name();
        for (args, which) in [([&there, &here], "A"), ([&here, &there], "B"), ([&there, &there], "A")] {
            let args = args.map(AnyView::from);
            refused(reverse.call(&args), &["ValueError"], &[&format!("{which}.device_type"), name]);
        }
        usable(backend, &loaded);
        // And the other way round.
        for of_host in hosts(&host) {
            let text =
                "    @T.prim_func(s_tir=True)\n    def f(A: T.Buffer((64,), \"int32\")):\n        A[0] = 1\n";
            let f = build(&host, &of_host, text).function("f").expect("there");
            refused(f.call(&[(&here).into()]), &["ValueError"], &["A.device_type", "cpu"]);
        }
    });
}

/// If there are several devices of a kind, a call stays on one of them, and each has its own
/// memory.
#[test]
fn a_tensor_of_another_device_of_the_kind_is_refused() {
    // SAFETY: no other thread runs yet; the software driver reads it when it is first opened,
    // others ignore it.
    unsafe { std::env::set_var("POCL_DEVICES", "pthread basic") };
    let host = host();
    on_each_device(&host, |backend| {
        let name = backend.device.name();
        let count = host.device_count(name).expect("counted");
        if count < 2 {
            chipdock_test_support::skipped(&format!("two devices of one kind: {name} has {count} here"));
            return;
        }
        let loaded = module(&host, backend);
        let reverse = loaded.function("reverse").expect("there");
        let other = host.device(name, 1).expect("the second device");
        let tensor = |device| Tensor::from_slice(device, &[64], &[5_i32; 64]).expect("made");
        let (here, there) = (tensor(&backend.device), tensor(&other));
        refused(
            reverse.call(&[(&here).into(), (&there).into()]),
            &["ValueError"],
            &["B.device_id", "0", "1"],
        );
        refused(
            reverse.call(&[(&there).into(), (&here).into()]),
            &["ValueError"],
            &["B.device_id", "0", "1"],
        );
        // A kernel that is handed the other device's memory by hand.
        refused(
            launch(&loaded, "fixed", [here.view().data(), there.view().data()], RIGHT),
            &["ValueError", "WrongState"],
            &["device"],
        );
        usable(backend, &loaded);
        // The call goes where its tensors are.
        let result = tensor(&other);
        reverse.call(&[(&there).into(), (&result).into()]).expect("a good call");
        assert_eq!(result.to_vec::<i32>().expect("read"), [6; 64]);
        here.copy_from(&result).expect("copied between devices");
        assert_eq!(here.to_vec::<i32>().expect("read"), [6; 64]);
        // The thread is on the first device again.
        let result = tensor(&backend.device);
        reverse.call(&[(&here).into(), (&result).into()]).expect("a good call");
        assert_eq!(result.to_vec::<i32>().expect("read"), [7; 64]);
    });
}

#[test]
fn a_freed_handle_is_refused() {
    let host = host();
    on_each_device(&host, |backend| {
        let loaded = module(&host, backend);
        let live = Tensor::zeros(&backend.device, &[64], DType::INT32).expect("made");
        let dead = Tensor::zeros(&backend.device, &[64], DType::INT32).expect("made").view().data();
        // The pool gives it back to the driver.
        backend.device.trim().expect("trimmed");
        for data in [[dead, live.view().data()], [live.view().data(), dead]] {
            refused(launch(&loaded, "fixed", data, RIGHT), &["ValueError", "WrongState"], &["fixed_kernel"]);
        }
        let never = std::ptr::without_provenance_mut(0x1234_5678);
        for data in [[never, live.view().data()], [live.view().data(), never]] {
            refused(launch(&loaded, "fixed", data, RIGHT), &["ValueError", "WrongState"], &["fixed_kernel"]);
        }
        usable(backend, &loaded);
    });
}

#[test]
fn out_of_memory_is_reported() {
    let host = host();
    on_each_device(&host, |backend| {
        let loaded = module(&host, backend);
        let live = Tensor::from_slice(&backend.device, &[3], &[1, 2, 3]).expect("made");
        for size in [1_i64 << 50, 1 << 60] {
            refused(Tensor::empty(&backend.device, &[size], DType::UINT8), &["OutOfMemory"], &[]);
        }
        assert_eq!(live.to_vec::<i32>().expect("read"), [1, 2, 3]);
        usable(backend, &loaded);
    });
}

#[test]
fn a_launch_beyond_the_limits_is_refused() {
    let host = host();
    on_each_device(&host, |backend| {
        let loaded = module(&host, backend);
        let a = Tensor::from_slice(&backend.device, &[64], &[5_i32; 64]).expect("made");
        let data = [a.view().data(); 2];
        for extents in [
            Extents { block: 1 << 20, ..RIGHT },
            Extents { block: i64::MAX, ..RIGHT },
            Extents { grid: i64::MAX, ..RIGHT },
            Extents { block: -1, ..RIGHT },
            Extents { dynamic_bytes: 1 << 40, ..RIGHT },
            Extents { dynamic_bytes: -4, ..RIGHT },
        ] {
            let words = ["dynamic_kernel"];
            refused(launch(&loaded, "dynamic", data, extents), &["ValueError", "Unsupported"], &words);
            assert_eq!(a.to_vec::<i32>().expect("read"), [5; 64], "nothing ran");
        }
        usable(backend, &loaded);
    });
}

/// The text of an artifact, changed so that no compiler takes it: what the driver says of it is
/// told.
#[test]
fn code_that_the_driver_refuses_is_reported_in_its_words() {
    let host = host();
    on_each_device(&host, |backend| {
        let loaded = module(&host, backend);
        let parsed = parse(&format!("{REVERSE}{FIXED}"));
        let compiled = host.compile(&parsed, &backend.target, &CompileOptions::default()).expect("compiled");
        let [device] = compiled.artifact.imports() else { panic!("one device module is expected") };
        // What is loaded is the code, or the text that stands for it.
        let loaded_kind = match device.sections().iter().any(|section| section.kind() == "code") {
            true => "code",
            false => "source",
        };
        let broken = device.sections().iter().map(|section| {
            let mut data = section.data().to_vec();
            if section.kind() == loaded_kind {
                data = b"this is no code of any device }{".to_vec();
            }
            Section::new(section.name(), section.kind(), section.alignment_bytes(), &data).expect("a section")
        });
        let artifact = |index: &Artifact, sections: Vec<Section>, imports| {
            let (index, target) = (index.index_json().to_owned(), index.target_json().to_owned());
            Arc::new(Artifact::new(index, target, sections, imports).expect("an artifact"))
        };
        let device = artifact(device, broken.collect(), Vec::new());
        let same = |section: &Section| {
            Section::new(section.name(), section.kind(), section.alignment_bytes(), section.data())
                .expect("a section")
        };
        let sections = compiled.artifact.sections().iter().map(same).collect();
        let whole = artifact(&compiled.artifact, sections, vec![device]);
        // A driver that builds for a device builds at the first call, one that does not, when it is
        // loaded.
        let a = Tensor::zeros(&backend.device, &[64], DType::INT32).expect("made");
        let called = host.load(&whole).and_then(|module| {
            let reverse = module.function("reverse")?;
            reverse.call(&[(&a).into(), (&a).into()])
        });
        let text = refused(called, &["ValueError", "Unavailable"], &[]);
        assert!(text.len() > 80, "the driver's own words are expected in: {text}");
        usable(backend, &loaded);
    });
}

/// A call that fails in its checks leaves what is current on the thread as it was.
#[test]
fn a_failed_call_leaves_the_stream_current() {
    let host = host();
    on_each_device(&host, |backend| {
        let loaded = module(&host, backend);
        let reverse = loaded.function("reverse").expect("there");
        let stream = backend.device.create_stream().expect("a stream");
        let guard = stream.enter().expect("entered");
        let short = Tensor::zeros(&backend.device, &[64], DType::INT16).expect("made");
        (0..3).for_each(|_| {
            refused(reverse.call(&[(&short).into(), (&short).into()]), &["TypeError"], &["A.dtype"]);
        });
        good(backend, &reverse, 100);
        drop(guard);
        good(backend, &reverse, 100);
    });
}
