//! Checks that compiling, loading, calling and dropping a thousand modules does not increase memory
//! use.
//!
//! This test has its own file, because the tests of a file may share a process and this one
//! measures its process.

use chipdock_host::{AnyView, CompileOptions, Tensor};
use chipdock_test_backends::{backends, claims, host};
use chipdock_test_support::memory::resident_bytes;
use serde_json::json;

/// Modules before memory is looked at for the first time: pools, caches and arenas have their size
/// then.
const N_BEFORE: usize = 200;
/// Modules after which memory is as it was.
const N_MODULES: usize = 1000;
/// Largest average number of bytes that a module may leave in memory, because allocators round up.
const LEFT_BYTES_MAX: usize = 1024;

/// Small, and compiled without optimisation: a thousand of them are to take seconds.
const KERNEL: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(B: T.Buffer((64,), \"float32\")):
        W = T.alloc_buffer((1024,))
        for i in T.parallel(64):
            W[i] = T.float32(NUMBER)
        for i in range(64):
            B[i] = W[i] + T.float32(1)
";

#[test]
fn a_thousand_modules_leave_nothing() {
    let (host, forgetting) = (host(), claims().forgetting);
    // A loader that opens a library file for each module may keep that.
    for backend in backends(&host).into_iter().filter(|backend| forgetting.contains(&backend.target.kind)) {
        let kind = backend.target.kind.as_str();
        let target = host.target(json!({"kind": kind, "opt-level": 0})).expect("a target");
        let b = Tensor::zeros(&backend.device, &[64], chipdock_ir::DType::FLOAT32).expect("made");
        let round = |number: usize| {
            let text = KERNEL.replace("NUMBER", &number.to_string());
            let module = chipdock_script::parse(&text, "f.py").unwrap_or_else(|errors| panic!("{errors}"));
            let compiled = host.compile(&module, &target, &CompileOptions::default()).expect("compiled");
            let loaded = host.load(&compiled.artifact).expect("loaded");
            let f = loaded.function("f").expect("there");
            f.call(&[AnyView::from(&b)]).expect("a good call");
            assert_eq!(b.to_vec::<f32>().expect("read"), [1.0 + number as f32; 64]);
        };
        (0..N_BEFORE).for_each(round);
        let before = resident_bytes();
        (0..N_MODULES).for_each(round);
        let after = resident_bytes();
        let left = after.saturating_sub(before) / N_MODULES;
        println!("{kind}: {before} bytes before, {after} after {N_MODULES} modules, {left} each");
        assert!(
            left <= LEFT_BYTES_MAX,
            "{kind}: a module leaves {left} bytes, at most {LEFT_BYTES_MAX} expected"
        );
    }
}
