//! Tests of modules as trees: host functions that import device modules, several targets in one
//! module, and the handling of a tree of which a part cannot be loaded.

use std::sync::Arc;

use chipdock_host::artifact::Artifact;
use chipdock_host::{CompileOptions, Host, Tensor};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::{host, host_without, hosts, on_each_device};
use serde_json::json;

use crate::{REVERSE, build, good, parse};

/// One function for the device, one that says itself that it is the host's.
fn mixed(host_kind: &str) -> String {
    format!(
        "{REVERSE}
    @T.prim_func(s_tir=True)
    def of_host(A: T.Buffer((\"n\",), \"int32\")):
        T.func_attr({{\"target\": T.target({{\"kind\": \"{host_kind}\"}})}})
        n = T.int32()
        for i in range(n):
            A[i] = A[i] + 1
"
    )
}

fn check_of_host(host: &Host, module: &chipdock_host::Module) {
    let cpu = host.device("cpu", 0).expect("host memory");
    let a = Tensor::from_slice(&cpu, &[5], &[1, 2, 3, 4, 5]).expect("made");
    module.function("of_host").expect("there").call(&[(&a).into()]).expect("a good call");
    assert_eq!(a.to_vec::<i32>().expect("read"), [2, 3, 4, 5, 6]);
}

#[test]
fn several_targets_in_one_module_work() {
    let host = host();
    on_each_device(&host, |backend| {
        for of_host in hosts(&host) {
            let loaded = build(&host, backend, &mixed(&of_host.target.kind));
            good(backend, &loaded.function("reverse").expect("there"), 100);
            check_of_host(&host, &loaded);
        }
    });
}

/// The host is chosen by who asks, and by preference where nobody does.
#[test]
fn any_host_launches_kernels() {
    let host = host();
    on_each_device(&host, |backend| {
        for of_host in hosts(&host) {
            let kind = &backend.target.kind;
            let target =
                host.target(json!({"kind": kind, "host": {"kind": of_host.target.kind}})).expect("a target");
            let compiled =
                host.compile(&parse(REVERSE), &target, &CompileOptions::default()).expect("compiled");
            assert_eq!(compiled.host.kind().name, of_host.target.kind);
            let loaded = host.load(&compiled.artifact).expect("loaded");
            assert_eq!(loaded.imports().len(), 1, "one module for the device");
            good(backend, &loaded.function("reverse").expect("there"), 100);
        }
    });
}

fn plugin_of(host: &Host, backend: &Backend) -> String {
    let kinds = host.target_kinds();
    kinds.into_iter().find(|(kind, _)| kind.name == backend.target.kind).expect("its kind").1
}

/// The functions of the host work; asked for, a kernel says what is missing.
#[test]
fn a_device_module_without_a_loader_does_not_take_the_others_with_it() {
    let host = host();
    on_each_device(&host, |backend| {
        for of_host in hosts(&host) {
            let kind = &of_host.target.kind;
            let parsed = parse(&mixed(kind));
            let target =
                host.target(json!({"kind": backend.target.kind, "host": {"kind": kind}})).expect("a target");
            let compiled = host.compile(&parsed, &target, &CompileOptions::default()).expect("compiled");
            // As from a file, on a machine that lacks the plugin.
            let artifact =
                Artifact::from_bytes(&compiled.artifact.to_bytes().expect("written")).expect("read");
            let plugin = plugin_of(&host, backend);
            let lacking = host_without(&[plugin.as_str()]);
            let loaded = lacking.load(&Arc::new(artifact)).expect("what is there is loaded");
            check_of_host(&lacking, &loaded);
            let cpu = lacking.device("cpu", 0).expect("host memory");
            let a = Tensor::from_slice(&cpu, &[1], &[1]).expect("made");
            let kernel = loaded.function("reverse_kernel").expect_err("nobody loads it").to_string();
            assert!(kernel.contains("module.load."), "{kernel}");
            let called = loaded.function("reverse").and_then(|f| f.call(&[(&a).into(), (&a).into()]));
            assert!(called.is_err());
            let import = loaded.imports()[0].missing_loader().expect("said").to_string();
            assert!(import.contains("module.load."), "{import}");
        }
    });
}

/// An error of the driver when it loads a module is an error of the load or of the first call, and
/// is never dropped.
#[test]
fn an_artifact_goes_through_bytes_and_back() {
    let host = host();
    on_each_device(&host, |backend| {
        let parsed = parse(REVERSE);
        let compiled = host.compile(&parsed, &backend.target, &CompileOptions::default()).expect("compiled");
        let bytes = compiled.artifact.to_bytes().expect("written");
        let loaded = host.load(&Arc::new(Artifact::from_bytes(&bytes).expect("read"))).expect("loaded");
        good(backend, &loaded.function("reverse").expect("there"), 200);
        // Two of the same side by side, one dropped while the other goes on.
        let again = host.load(&compiled.artifact).expect("loaded");
        let reverse = again.function("reverse").expect("there");
        drop((loaded, again));
        good(backend, &reverse, 200);
    });
}
