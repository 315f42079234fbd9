//! Tests of invalid modules and launches: typed errors with the driver's message, and a device that
//! works afterwards.

use chipdock_plugin_api::{Any, ChipdockDevice, DataSpaceKind, ErrorKind, ModuleLoader, Stream, Verdict};
use serde_json::json;

use super::kernels::{ADD, add_entry};
use super::support::{Bench, pointer, with_artifact};
use crate::codegen::EXACT_DIVISION;
use crate::hardware::DEVICE_TYPE;
use crate::loader::OpenClLoader;
use crate::program::Source;

fn works(bench: &Bench) {
    let add = bench.kernel(ADD, add_entry());
    let (x, y) = (bench.with(0, &[1.0_f32; 64]), bench.with(0, &[2.0_f32; 64]));
    let args = [pointer(x), pointer(y), Any::from(64_i64), Any::from(1_i64), Any::from(64_i64)];
    bench.call(&add, &args).unwrap();
    assert_eq!(bench.read::<f32>(0, y, 64, Stream::DEFAULT), [3.0; 64]);
    bench.free(0, x);
    bench.free(0, y);
}

#[test]
fn a_source_that_the_driver_refuses_is_an_error_with_its_log() {
    let Some(bench) = Bench::new() else { return };
    let error =
        bench.load("__kernel void add(__global float* x) { x[0] = nonsense; }", json!([])).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
    for says in ["CL_BUILD_PROGRAM_FAILURE (-11)", "nonsense", "opencl:0"] {
        assert!(error.message().contains(says), "{error}");
    }
    works(&bench);
}

#[test]
fn a_device_must_support_the_features_of_the_module() {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let source = |options: &[&str], extensions: &[&str]| Source {
        text: ADD.to_owned(),
        options: texts(options),
        extensions: texts(extensions),
    };
    let needs = source(&["-cl-std=CL1.2", EXACT_DIVISION], &["cl_khr_fp64"]);
    assert_eq!(needs.missing("cl_khr_fp64 cl_khr_fp16", true), None);
    assert!(needs.missing("cl_khr_fp16", true).unwrap().contains("has no extension cl_khr_fp64"));
    assert!(needs.missing("cl_khr_fp64", false).unwrap().contains("does not divide float32 exactly"));
    assert_eq!(source(&["-cl-std=CL1.2"], &[]).missing("", false), None);
}

#[test]
fn an_index_that_the_source_does_not_keep_is_refused() {
    let Some(bench) = Bench::new() else { return };
    for empty in ["", " \n", "\0"] {
        let error = bench.load(empty, json!([])).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
    }
    let mut absent = add_entry();
    absent["symbol"] = json!("sub");
    let error = bench.load(ADD, json!([absent])).err().unwrap();
    assert!(error.message().contains("CL_INVALID_KERNEL_NAME"), "{error}");
    let mut shorter = add_entry();
    shorter["args"] = json!(["handle", "handle"]);
    let error = bench.load(ADD, json!([shorter])).err().unwrap();
    assert!(error.message().contains("the index has 2 arguments, and the source 3"), "{error}");
    let mut cooperative = add_entry();
    cooperative["launch_params"] = json!(["blockIdx.x", "tirx.use_cooperative_launch"]);
    let error = bench.load(ADD, json!([cooperative])).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::UNSUPPORTED);
    let index = json!({ "module_kind": "opencl", "format": "cl", "functions": [add_entry()],
                        "options": { "extensions": ["cl_khr_telepathy"] } });
    let error = bench.load_index(ADD, &index).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::UNSUPPORTED);
    assert!(error.message().contains("cl_khr_telepathy"), "{error}");
    works(&bench);
}

#[test]
fn a_verdict_says_whether_an_artifact_fits() {
    let Some(bench) = Bench::new() else { return };
    let loader = OpenClLoader { host: bench.host, hardware: bench.hardware.clone() };
    let index = |kind: &str, extension: &str| json!({ "module_kind": kind, "format": "cl", "functions": [add_entry()], "options": { "extensions": [extension] } });
    let check = |index: &serde_json::Value, device_type, device_id| {
        with_artifact(ADD, index, |artifact| {
            loader.check(artifact, ChipdockDevice { device_type, device_id })
        })
        .unwrap()
    };
    let fits = index("opencl", "cl_khr_fp64");
    assert_eq!(check(&fits, DEVICE_TYPE, 0), Verdict::Runs);
    for (index, device_type, device_id, says) in [
        (&fits, 2, 0, "device type 2"),
        (&fits, DEVICE_TYPE, 99, "opencl:99"),
        (&index("cuda", "cl_khr_fp64"), DEVICE_TYPE, 0, "\"cuda\""),
        (&index("opencl", "cl_khr_telepathy"), DEVICE_TYPE, 0, "cl_khr_telepathy"),
    ] {
        let verdict = check(index, device_type, device_id);
        assert!(matches!(&verdict, Verdict::Unsupported(why) if why.contains(says)), "{verdict:?}");
    }
}

#[test]
fn a_launch_that_cannot_be_is_refused_and_the_next_works() {
    let Some(bench) = Bench::new() else { return };
    let source = format!(
        "{ADD}
__kernel void much(__global int* x, __local int* shared) {{
  __local int more[1024];
  more[get_local_id(0)] = x[0]; barrier(CLK_LOCAL_MEM_FENCE); x[0] = more[0];
}}
__attribute__((reqd_work_group_size(8, 1, 1))) __kernel void eight(__global int* x) {{ x[0] = 8; }}"
    );
    let much = json!({ "name": "much", "symbol": "much", "args": ["handle"],
                       "launch_params": ["threadIdx.x", "tirx.use_dyn_shared_memory"] });
    let eight =
        json!({ "name": "eight", "symbol": "eight", "args": ["handle"], "launch_params": ["threadIdx.x"] });
    let module = bench.load(&source, json!([add_entry(), much, eight])).unwrap();
    let function = |name: &str| module.function(name).unwrap().unwrap();
    let (x, y) = (bench.with(0, &[1.0_f32; 64]), bench.with(0, &[2.0_f32; 64]));
    let freed = bench.allocate(0, 64);
    bench.free(0, freed);
    let limits = bench.hardware.device(0).unwrap().limits().clone();
    let threads = limits.group_size as i64;
    let add = |first, blocks: i64, threads: i64| {
        let args = [first, pointer(y), Any::from(64_i64), Any::from(blocks), Any::from(threads)];
        bench.call(&function("add"), &args)
    };
    let pinned = bench.allocate_kind(0, 256, DataSpaceKind::Pinned).unwrap();
    let local = Any::from(limits.local_memory_bytes as i64);
    let calls = [
        (add(pointer(freed), 1, 64), ErrorKind::WRONG_STATE, "is no data space of device opencl:0"),
        (add(pointer(x.wrapping_byte_add(4)), 1, 64), ErrorKind::WRONG_STATE, "is no data space"),
        (add(pointer(0x5A5A_5A50 as *mut _), 1, 64), ErrorKind::WRONG_STATE, "is no data space"),
        (add(pointer(pinned), 1, 64), ErrorKind::VALUE_ERROR, "page-locked host memory"),
        (add(pointer(x), 1, threads + 1), ErrorKind::VALUE_ERROR, "threads in a block"),
        (add(pointer(x), i64::MAX, threads), ErrorKind::VALUE_ERROR, "threads along x"),
        (
            bench.call(&function("much"), &[pointer(x), Any::from(1_i64), local]),
            ErrorKind::VALUE_ERROR,
            "bytes of local memory",
        ),
        (
            bench.call(&function("eight"), &[pointer(x), Any::from(4_i64)]),
            ErrorKind::VALUE_ERROR,
            "CL_INVALID_WORK_GROUP_SIZE (-54)",
        ),
        (bench.call(&function("add"), &[pointer(x)]), ErrorKind::TYPE_ERROR, "expected 5 arguments"),
    ];
    for (answer, kind, says) in calls {
        let error = answer.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(says), "{error}");
    }
    bench.sync(0, Stream::DEFAULT).unwrap();
    assert_eq!(bench.read::<f32>(0, y, 64, Stream::DEFAULT), [2.0; 64]);
    add(pointer(x), 1, 64).unwrap();
    assert_eq!(bench.read::<f32>(0, y, 64, Stream::DEFAULT), [3.0; 64]);
    works(&bench);
}

#[test]
fn memory_that_is_not_there_is_refused_and_counted_back() {
    let Some(bench) = Bench::new() else { return };
    let total = bench.hardware.device(0).unwrap().limits().memory_bytes as usize;
    for _ in 0..3 {
        let error = bench.allocate_kind(0, total + 1, DataSpaceKind::Device).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OUT_OF_MEMORY, "{error}");
    }
    works(&bench);
}
