//! Beside plugins of the zoo that change the process while they are opened, a good plugin compiles
//! and computes as before: subnormal numbers included, with a C compiler started as a child, and
//! files written (LOAD-L7; the guard's rules GUARD-G1 to GUARD-G4).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use chipdock_host::{CompileOptions, Host, HostOptions, PluginState, Tensor};
use chipdock_test_support::command::built;
use chipdock_test_support::plugins::compile;
use chipdock_test_support::workspace;

/// Faults of the zoo, with the parts that are named.
const FAULTS: &[(&str, &[&str])] = &[
    ("constructor_flushes_subnormals", &["the floating-point mode"]),
    ("init_rounds_up", &["the floating-point mode"]),
    ("constructor_ignores_children", &["what SIGCHLD does"]),
    ("constructor_clears_environment", &["the environment"]),
    ("constructor_sets_umask", &["the umask"]),
    ("constructor_limits_files", &["the limit RLIMIT_NOFILE"]),
    ("constructor_changes_folder", &["the working folder"]),
    ("constructor_changes_locale", &["the locale of the thread", "the locale"]),
    ("constructor_closes_streams", &["standard input", "standard output", "standard error"]),
    ("constructor_arms_timer", &["interval timer 0"]),
];

const KERNEL: &str = r#"
@T.prim_func(s_tir=True)
def add(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in T.parallel(64):
        with T.sblock("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[vi] + A[vi]
"#;

/// Compiles for target `c`, which starts a compiler and writes files, and returns the kernel's
/// results; on several threads.
fn sums(host: &Host, number: f32) -> Vec<f32> {
    let module = chipdock_script::parse(KERNEL, "add.py").unwrap();
    let target = host.target("c").unwrap();
    let compiled = host.compile(&module, &target, &CompileOptions::default()).unwrap();
    let add = host.load(&compiled.artifact).unwrap().function("add").unwrap();
    let device = host.device("cpu", 0).unwrap();
    let a = Tensor::from_slice(&device, &[64], &[number; 64]).unwrap();
    let b = Tensor::zeros(&device, &[64], a.dtype()).unwrap();
    add.call(&[(&a).into(), (&b).into()]).unwrap();
    b.to_vec().unwrap()
}

fn zoo(name: &str, folder: &Path) {
    let zoo = workspace().join("tests/zoo");
    let include = format!("-I{}", zoo.display());
    let library = folder.join("zoo.so");
    compile(&["gcc", "-std=c11", &include], &zoo.join(format!("faults/{name}.c")), &library);
    fs::set_permissions(&library, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_good_plugin_computes_as_before() {
    let number = 1e-39_f32;
    let expected = vec![number + number; 64];
    for (name, parts) in FAULTS {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        zoo(name, folder.path());
        let plugin_paths = vec![folder.path().to_owned(), built().plugins.join("chipdock_plugin_c.so")];
        let options = HostOptions { plugin_paths, threads: Some(3), ..HostOptions::isolated() };
        let host = Host::new(options).unwrap();
        let variables = std::env::vars_os().count();
        let report = host.open_plugin("zoo").unwrap();
        assert_eq!(report.state, PluginState::Opened, "{name}: it is no reason to refuse it");
        let named: Vec<&str> = report.changes.iter().map(|change| change.what.as_str()).collect();
        assert_eq!(named, *parts, "{name}");
        assert!(report.changes.iter().all(|change| change.undone), "{name}: {:?}", report.changes);
        assert_eq!(sums(&host, number), expected, "{name}: subnormal numbers");
        assert_eq!(std::env::vars_os().count(), variables, "{name}");
    }
}
