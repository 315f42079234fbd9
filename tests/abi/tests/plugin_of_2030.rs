//! The plugin of 2030 (`fixtures/plugin_of_2030.c`): it uses at once everything that later minors
//! may bring, and this host works with all of it that it knows (P3.3, P3.5, P3.9, P3.10, P3.14,
//! P3.16 to P3.18, P5.17, P5.19, C.8, C.26, K.9, S.12). Kept for ever, as the fixture is.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use chipdock_host::artifact::Artifact;
use chipdock_host::{
    CompileOptions, Compiled, Device, Error, ErrorKind, Host, HostOptions, PluginState, Tensor, manifest,
};
use chipdock_ir::DType;
use chipdock_test_support::command::built;
use chipdock_test_support::plugins::compile;
use chipdock_test_support::workspace;
use serde_json::{Value, json};

/// The plugin's name.
const PLUGIN: &str = "template-c";
/// The name of its device and of its target kind.
const NAME: &str = "template_c";
/// The kind at a stage that this host does not know.
const GRAPHS: &str = "graph_of_2030";

/// A folder with the plugin, and that with the C plugin for functions of the host.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::set_permissions(folder.0.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let template = format!("-I{}", workspace().join("examples/plugin-template-c").display());
        let fixture = workspace().join("tests/abi/fixtures/plugin_of_2030.c");
        compile(&["gcc", "-std=c99", &template, "-Wl,--no-as-needed", "-lm"], &fixture, &folder.library());
        fs::set_permissions(folder.library(), fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    fn library(&self) -> PathBuf {
        self.0.path().join("template-c.so")
    }

    fn host(&self) -> Host {
        let plugin_paths = vec![self.0.path().to_owned(), built().plugins.join("chipdock_plugin_c.so")];
        Host::new(HostOptions { plugin_paths, ..HostOptions::isolated() }).unwrap()
    }

    /// Writes the manifest that the tools of 2030 write: its keys, and fields of that time.
    fn describe(&self) {
        let host = self.host();
        let report = host.open_plugin(PLUGIN).unwrap();
        let settings: Value = json!([
            {"name": "axes-max", "type": "int", "default": 64, "doc": "As in 2026.", "since": "1.0"},
            {"name": "cache.dir", "type": "path", "doc": "A name of another form."},
            {"name": "budget", "type": "duration", "doc": "A type of another time."},
        ]);
        let manifest = json!({
            "schema": 1, "name": PLUGIN, "version": "9.0.0", "vendor": "Chips of 2030",
            "support": "help@chips.example", "abi": "1", "os": std::env::consts::OS,
            "arch": std::env::consts::ARCH, "provides": report.provides, "settings": settings,
            "target_kinds": [{
                "schema": 1, "name": GRAPHS, "doc": "Whole graphs.", "device": NAME, "keys": ["graph"],
                "stage": "graph", "storage_scopes": ["global"], "options": [],
            }],
            "needs": {"moon": "full", "uses": ["layers/3"]}, "template-c.mascot": {"colour": "blue"},
            "signatures": [{"by": "somebody"}], "sha256": manifest::sha256_of(&self.library()).unwrap(),
        });
        let path = manifest::manifest_path(&self.library());
        fs::write(&path, manifest.to_string()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }
}

fn floats(device: &Device, values: &[f32]) -> Tensor {
    Tensor::from_slice(device, &[values.len() as i64], values).unwrap()
}

fn compiled(host: &Host, text: &str) -> Result<Compiled, Error> {
    let module = chipdock_script::parse(text, "f.py").unwrap();
    host.compile(&module, &host.target(NAME)?, &CompileOptions::default())
}

fn vector_add() -> String {
    fs::read_to_string(workspace().join("examples/kernels/vector_add.py")).unwrap()
}

/// Runs `check` with a host that knows the plugin with its manifest, and one that knows it without.
fn with_and_without_manifest(check: fn(&Host)) {
    let folder = Folder::new();
    check(&folder.host());
    folder.describe();
    check(&folder.host());
}

#[test]
fn p3_5_p3_14_it_opens_with_interfaces_that_nobody_knows() {
    with_and_without_manifest(|host| {
        let report = host.open_plugin(PLUGIN).unwrap();
        assert_eq!((report.state, report.problem), (PluginState::Opened, None));
        assert_eq!(report.abi.as_deref(), Some("1.42"));
        for key in [
            "device_api.template_c/graph/1",
            "device_api.template_c/reset/9",
            "device_api.template_c/template-c.watchdog/1",
            "function.template_c.element_count/signature/1",
            "target.build.template_c/partition/1",
            "template-c/template-c.license-server/1",
        ] {
            assert!(report.provides.iter().any(|found| found == key), "{key} in {:?}", report.provides);
        }
        let c = host.plugins().into_iter().find(|report| report.name == "c").unwrap();
        assert_eq!(c.problem, None, "others are unharmed");
    });
}

#[test]
fn p3_5_its_device_and_its_function_work() {
    with_and_without_manifest(|host| {
        let device = host.device(NAME, 0).unwrap();
        let there = floats(&host.device("cpu", 0).unwrap(), &[1.0, 2.0, 3.0]).to_device(&device).unwrap();
        assert_eq!(there.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0]);
        // A version of an interface that is not known is as good as none.
        assert_eq!(*device.reset().unwrap_err().kind(), ErrorKind::Unsupported);
        let function = host.function("template_c.element_count").unwrap().unwrap();
        let cpu = host.device("cpu", 0).unwrap();
        let tensor = Tensor::zeros(&cpu, &[3, 5], DType::FLOAT32).unwrap();
        assert_eq!(function.call(&[(&tensor).into()]).unwrap().to::<i64>().unwrap(), 15);
    });
}

#[test]
fn c8_c26_its_kernels_are_built_saved_and_run() {
    with_and_without_manifest(|host| {
        let artifact = compiled(host, &vector_add()).unwrap().artifact;
        let part = artifact.imports().first().expect("a part for the device");
        let index: Value = serde_json::from_str(part.index_json()).unwrap();
        assert_eq!((&index["shards"]["x"], &index["options"]["template-c.power"]), (&json!(2), &json!(1)));
        assert_eq!(index["functions"][0]["name"], "prepare_weights");
        let weights = part.section("weights").expect("a section of a kind of its own");
        assert_eq!((weights.kind(), weights.data()), ("template-c.weights", b"w".as_slice()));

        let read = Artifact::from_bytes(&artifact.to_bytes().unwrap()).unwrap();
        for artifact in [artifact, read.into()] {
            let module = host.load(&artifact).unwrap();
            let device = host.device(NAME, 0).unwrap();
            let (a, b) = (floats(&device, &[1.0, 2.0, 3.0]), floats(&device, &[10.0, 20.0, 30.0]));
            let c = floats(&device, &[0.0; 3]);
            let function = module.function("vector_add").unwrap();
            function.call(&[(&a).into(), (&b).into(), (&c).into()]).unwrap();
            assert_eq!(c.to_vec::<f32>().unwrap(), [11.0, 22.0, 33.0]);
        }
    });
}

#[test]
fn k9_a_kernel_with_a_launch_parameter_that_is_not_known_is_unusable_alone() {
    with_and_without_manifest(|host| {
        let module = host.load(&compiled(host, &vector_add()).unwrap().artifact).unwrap();
        let error = module.kernel("prepare_weights").unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unsupported, "{error}");
        let said = error.to_string();
        assert!(said.contains("kernel prepare_weights") && said.contains("clusterIdx.x"), "{said}");
        module.kernel("vector_add_kernel").unwrap();
    });
}

#[test]
fn p3_10_its_kind_at_a_stage_of_2030_is_unusable_alone() {
    with_and_without_manifest(|host| {
        let error = host.target(GRAPHS).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains("stage \"graph\", which is not known here"), "{error}");
        host.target(NAME).unwrap();
    });
}

#[test]
fn p3_16_its_diagnostics_arrive_with_extensions_that_are_ignored() {
    with_and_without_manifest(|host| {
        let text = vector_add().replace("float32", "float16");
        let error = compiled(host, &text).map(drop).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.diagnostics().iter().any(|found| found.message.contains("float16")), "{error:?}");
    });
}

#[test]
fn s12_of_its_settings_those_that_are_known_work() {
    with_and_without_manifest(|host| {
        host.open_plugin(PLUGIN).unwrap();
        let reports = host.settings(PLUGIN).unwrap();
        let of = |name: &str| reports.iter().find(|report| report.declared.name == name).unwrap();
        assert_eq!((&of("axes-max").value, &of("axes-max").problem), (&Some(json!(64)), &None));
        for name in ["cache.dir", "budget"] {
            assert!(
                of(name).problem.as_ref().is_some_and(|problem| problem.contains("newer host")),
                "{name}"
            );
        }
    });
}
