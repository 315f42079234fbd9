//! Tests of errors: the refused input, the party responsible, the message; PASS-L1 and PASS-L4.

use std::sync::Arc;

use chipdock_ir::{
    DType, Expr, ForKind, IrModule, Stage, StorageScope, TargetCapabilities, ThreadAxis, build, print,
};
use chipdock_passes::{Fault, LowerOptions, PassError, Scheduling, lower, verify_limits};

use crate::capabilities::{device, host};

/// A[i] = 0 over 1024 elements; threads and shared memory if asked for.
fn kernel(threads: Option<i32>, shared: Option<i32>) -> IrModule {
    let mut f = build::function("fill");
    let a = f.buffer("A", [1024], DType::FLOAT32);
    let zero = || Expr::float(0.0, DType::FLOAT32);
    let s = shared.map(|elements| f.alloc("S", [elements], DType::FLOAT32, StorageScope::SHARED));
    match threads {
        Some(threads) => f.thread_binding("t", threads, ThreadAxis::ThreadX, |f, i| {
            if let (Some(s), Some(elements)) = (&s, shared) {
                f.store(s, [&i], zero());
                f.store(s, [elements - 1], zero());
            }
            f.store(&a, [&i], zero());
        }),
        None => f.range("i", 1024, |f, i| f.store(&a, [&i], zero())),
    }
    build::module([f.finish()])
}

fn lowered(
    module: &IrModule,
    capabilities: TargetCapabilities,
    schedule: Scheduling,
) -> Result<(), PassError> {
    let options = LowerOptions { schedule, ..LowerOptions::new(Arc::new(capabilities)) };
    lower(module, &options).map(|_| ())
}

fn refused(result: Result<(), PassError>, pass: &str, says: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!((error.pass, error.fault), (pass, Fault::Target), "{error}");
    let text = error.to_string();
    assert!(text.starts_with(&format!("{pass}: ")), "{text}");
    for part in says {
        assert!(text.contains(part), "{text:?} should say {part:?}");
    }
}

/// ir: IR-G4.
#[test]
fn threads_on_a_host_are_refused_by_name() {
    let result = lowered(&kernel(Some(64), None), host(), Scheduling::Auto);
    refused(result, "verify_memory", &["in fill", "\"host-kind\"", "loop t bound to threadIdx.x"]);
}

#[test]
fn a_kernel_without_threads_is_no_device_kernel() {
    let result = lowered(&kernel(None, None), device(), Scheduling::None);
    refused(result, "verify_memory", &["in fill", "blockIdx.x, threadIdx.x", "found none"]);
}

#[test]
fn limits_are_held() {
    let result = lowered(&kernel(Some(512), None), device(), Scheduling::Auto);
    refused(result, "verify_limits", &["in fill", "at most 256 threads in a block", "found 512"]);
    let result = lowered(&kernel(Some(64), Some(8192)), device(), Scheduling::Auto);
    refused(result, "verify_limits", &["at most 16384 bytes of shared memory", "found 32768"]);
}

/// Whoever meets a limit is told the option that sets it, where one does (TC4 of the IR).
#[test]
fn an_error_of_a_limit_ends_with_its_option() {
    let named = device().with(|it| {
        let names = &mut it.options.capabilities;
        names.threads_per_block_max = "threads_max".to_owned();
        names.block_dimensions_max = "block_max".to_owned();
        it.limits.block_dimensions_max = [Some(128), None, None];
    });
    let error = lowered(&kernel(Some(512), None), named.clone(), Scheduling::Auto).unwrap_err();
    let ends: Vec<&str> =
        error.diagnostics.iter().filter_map(|one| one.message.rsplit("; ").next()).collect();
    let sets = |option: &str| format!("option \"{option}\" sets the limit");
    assert_eq!(ends, [sets("threads_max"), sets("block_max")], "{error}");
    let impossible = named.with(|it| it.limits.threads_per_block_max = Some(-1));
    let error = verify_limits(&kernel(Some(64), None), &impossible).unwrap_err();
    assert!(error.to_string().ends_with("found -1; correct its option \"threads_max\""), "{error}");
}

#[test]
fn impossible_limits_are_refused() {
    for limit in [-1, i64::MIN, i64::MAX] {
        let capabilities = device().with(|it| {
            it.limits.threads_per_block_max = Some(limit);
            it.execution.warp_size = Some(limit);
        });
        let error = verify_limits(&kernel(Some(64), None), &capabilities).unwrap_err();
        assert_eq!(error.fault, Fault::Caller, "the target can be corrected: {error}");
        assert_eq!(error.diagnostics.len(), 2, "each is told: {error}");
        assert!(error.to_string().contains(&format!("found {limit}; correct the target")), "{error}");
    }
}

/// A function may be called what a part of another would be.
#[test]
fn parts_of_functions_do_not_clash() {
    let function = |name: &str| {
        let mut f = build::function(name);
        let a = f.buffer("A", [1], DType::FLOAT32);
        f.store(&a, [0], Expr::float(0.0, DType::FLOAT32));
        f.finish()
    };
    let module = build::module([function("f"), function("f_compute_")]);
    let lowered = lower(&module, &LowerOptions::new(Arc::new(host()))).unwrap().module;
    let mut names: Vec<&str> = lowered.functions.iter().map(|function| &*function.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), lowered.functions.len());
}

/// PASS-L1: the module stays as it is, and lowering it again gives the same.
#[test]
fn passes_are_pure() {
    let mut f = build::function("sum");
    let n = f.size("n");
    let a = f.buffer("A", [&n, &Expr::i32(8)], DType::FLOAT32);
    let b = f.buffer("B", [&n], DType::FLOAT32);
    f.grid(["i", "k"], [&n, &Expr::i32(8)], |f, [i, k]| {
        f.block("B", |f| {
            let vi = f.spatial("vi", &n, &i);
            let vk = f.reduce("vk", 8, &k);
            f.init(|f| f.store(&b, [&vi], Expr::float(0.0, DType::FLOAT32)));
            f.store(&b, [&vi], b.at([&vi]) + a.at([&vi, &vk]));
        });
    });
    let module = build::module([f.finish()]);
    let before = print::module(&module);
    let options = LowerOptions::new(Arc::new(host()));
    let texts: Vec<String> =
        (0..2).map(|_| print::module(&lower(&module, &options).unwrap().module)).collect();
    assert_eq!(print::module(&module), before);
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn a_stage_is_as_far_as_it_goes() {
    let module = kernel(None, None);
    let at = |stage| {
        let options = LowerOptions { stage, ..LowerOptions::new(Arc::new(host())) };
        lower(&module, &options).unwrap()
    };
    assert_eq!(at(Stage::Blocks).module.functions.len(), 1);
    assert!(at(Stage::Scheduled).module.functions[0].s_tir);
    assert!(!at(Stage::Flattened).module.functions[0].s_tir);
    let names: Vec<String> =
        at(Stage::Host).module.functions.iter().map(|function| function.name.to_string()).collect();
    assert_eq!(names, ["__tvm_ffi_fill", "fill_expected_Tensor_", "fill_checked_", "fill_compute_"]);
}

#[test]
fn serial_loops_keep_their_kind() {
    let mut f = build::function("fill");
    let a = f.buffer("A", [4], DType::INT32);
    f.for_loop("i", 4, ForKind::Parallel, |f, i| f.store(&a, [&i], &i));
    let module = build::module([f.finish()]);
    let options = LowerOptions { stage: Stage::Flattened, ..LowerOptions::new(Arc::new(host())) };
    let text = print::module(&lower(&module, &options).unwrap().module);
    assert!(text.contains("for i in T.parallel(4):"), "{text}");
}
