//! JSON Schemas of the documents that cross the ABI, `plugin-api/abi/schemas`, evaluated by an
//! independent validator: they accept the existing documents, name every field that a host reads,
//! and allow further fields (P3.9).

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use chipdock_host::artifact::Artifact;
use chipdock_host::manifest::Manifest;
use chipdock_host::{CompileOptions, Host, HostOptions};
use chipdock_test_support::workspace;
use jsonschema::Validator;
use serde_json::{Value, json};

const KERNEL: &str = r#"
@T.prim_func(s_tir=True)
def scale(A: T.Buffer((32,), "float32"), s: T.float32, B: T.Buffer((32,), "float32")):
    for i in range(32):
        with T.sblock("B"):
            vi = T.axis.spatial(32, i)
            B[vi] = A[vi] * s
"#;

fn schema(name: &str) -> Value {
    let path = workspace().join(format!("plugin-api/abi/schemas/{name}.schema.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

fn validator(name: &str) -> Validator {
    assert!(jsonschema::meta::validate(&schema(name)).is_ok(), "{name} is a schema");
    jsonschema::draft202012::new(&schema(name)).expect("a schema of draft 2020-12")
}

fn takes(validator: &Validator, document: &Value, what: &str) {
    if let Err(error) = validator.validate(document) {
        panic!("{what}: {} at {}", error, error.instance_path());
    }
}

/// Each field that is needed is missed, and one more does no harm.
fn needs_its_fields(name: &str, document: &Value) {
    let (schema, validator) = (schema(name), validator(name));
    takes(&validator, document, name);
    for field in schema["required"].as_array().expect("required fields") {
        let mut without = document.clone();
        without.as_object_mut().expect("an object").remove(field.as_str().expect("a name"));
        assert!(!validator.is_valid(&without), "{name} without {field}");
    }
    let mut more = document.clone();
    more["a field of a later minor"] = json!({ "schema": [1, null] });
    takes(&validator, &more, "a document with one field more");
}

/// Every field of a document has its place in the schema: what is there was written by the code
/// that reads it.
fn knows_the_fields(schema: &Value, document: &Value, at: &str) {
    if let (Some(properties), Some(object)) = (schema["properties"].as_object(), document.as_object()) {
        let known: BTreeSet<&String> = properties.keys().collect();
        for (name, value) in object {
            assert!(known.contains(name), "{at}.{name} is not in the schema");
            knows_the_fields(&properties[name], value, &format!("{at}.{name}"));
        }
    }
    if let (Some(_), Some(items)) = (schema["items"].as_object(), document.as_array()) {
        items.iter().for_each(|item| knows_the_fields(&schema["items"], item, at));
    }
}

/// Settings that the manifests of all plugins list.
const SETTINGS: usize = 14;

/// The folders of the plugins.
fn plugins() -> Vec<PathBuf> {
    let folders = chipdock_test_support::plugins::folders().expect("the plugins");
    assert!(!folders.is_empty(), "no plugin");
    folders
}

/// The manifests of the plugins that were built, made by `chipdock manifest`.
fn manifests() -> Vec<(String, Value)> {
    let folder = &chipdock_test_support::command::built().plugins;
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = entries.flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.to_string_lossy().ends_with(".chipdock.json"));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("readable");
        (path.display().to_string(), serde_json::from_str(&text).expect("JSON"))
    };
    let all: Vec<(String, Value)> = files.map(read).collect();
    assert_eq!(all.len(), plugins().len(), "manifests in {}", folder.display());
    all
}

#[test]
fn manifests_are_as_the_schema_says() {
    let (schema, validator) = (schema("manifest"), validator("manifest"));
    for (name, manifest) in manifests() {
        takes(&validator, &manifest, &name);
        let mut schema = schema.clone();
        schema["properties"]["target_kinds"]["items"] = schema["$defs"]["target_kind"].clone();
        knows_the_fields(&schema, &manifest, &name);
        needs_its_fields("manifest", &manifest);
        Manifest::parse(&manifest.to_string()).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn target_kinds_are_as_the_schema_says() {
    let (schema, validator) = (schema("target-kind"), validator("target-kind"));
    for folder in plugins() {
        let path = folder.join("src/target_kind.json");
        let text = fs::read_to_string(&path).expect("readable");
        let kind: Value = serde_json::from_str(&text).expect("JSON");
        takes(&validator, &kind, &path.display().to_string());
        knows_the_fields(&schema, &kind, &path.display().to_string());
        needs_its_fields("target-kind", &kind);
    }
    assert_eq!(self::schema("manifest")["$defs"]["target_kind"]["properties"], schema["properties"]);
}

#[test]
fn indices_are_as_the_schema_says() {
    fn walk(artifact: &Artifact, validator: &Validator, count: &mut usize) {
        let index: Value = serde_json::from_str(artifact.index_json()).expect("JSON");
        takes(validator, &index, &artifact.index().module_kind);
        needs_its_fields("artifact-index", &index);
        *count += 1;
        artifact.imports().iter().for_each(|import| walk(import, validator, count));
    }
    let validator = validator("artifact-index");
    let plugin_paths = vec![chipdock_test_support::command::built().plugins.clone()];
    let host = Host::new(HostOptions { plugin_paths, ..HostOptions::isolated() }).expect("a host");
    let module = chipdock_script::parse(KERNEL, "scale.py").unwrap_or_else(|errors| panic!("{errors}"));
    let mut count = 0;
    for kind in ["c", "opencl", "cuda", "metal", "vulkan", "webgpu"] {
        let target = host.target(kind).unwrap_or_else(|error| panic!("{kind}: {error}"));
        let compiled = host.compile(&module, &target, &CompileOptions::default());
        let compiled = compiled.unwrap_or_else(|error| panic!("{kind}: {error}"));
        walk(&compiled.artifact, &validator, &mut count);
    }
    assert_eq!(count, 11, "one of the host, and of each device the kernel's and the host's");
}

#[test]
fn settings_are_as_the_schema_says() {
    let validator = validator("plugin-info");
    let mut count = 0;
    for (name, manifest) in manifests() {
        let Some(settings) = manifest.get("settings") else { continue };
        takes(&validator, &json!({ "settings": settings, "later": 1 }), &name);
        count += settings.as_array().map_or(0, Vec::len);
    }
    assert_eq!(count, SETTINGS, "settings of all plugins");
    for wrong in [
        json!({ "settings": [{ "name": "Upper", "type": "str", "doc": "d" }] }),
        json!({ "settings": [{ "name": "x", "type": "str", "doc": "" }] }),
        json!({ "settings": [{ "name": "x", "type": "str", "doc": "d", "variables": ["1X"] }] }),
        json!({ "settings": {} }),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}
