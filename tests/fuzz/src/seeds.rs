//! Seeds of the fuzzer, taken from the repository as it is.

use std::fs;
use std::path::{Path, PathBuf};

use chipdock_host::artifact::{Artifact, Section};
use chipdock_ir::{DType, wire};
use chipdock_programs::Random;
use chipdock_test_support::{corpus, scripts, workspace};

use crate::artifact::unsealed;

/// Returns the seeds of a target.
///
/// # Panics
///
/// If the repository's own files cannot be read.
#[must_use]
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    match target {
        "script" => texts(),
        "wire" => documents(),
        "npy" => arrays(),
        "manifest" => manifests(),
        "targets" => targets(),
        "artifact" => artifacts(),
        "library" => libraries(),
        "pipeline" => tapes(),
        _ => Vec::new(),
    }
}

/// Returns the folder of inputs that are kept.
#[must_use]
pub fn kept(target: &str) -> PathBuf {
    workspace().join("tests/fuzz/corpus").join(target)
}

/// Returns the files of a folder and its subfolders, by name; none if the folder does not exist.
///
/// # Panics
///
/// If a file cannot be read.
#[must_use]
pub fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

fn with_suffix(folder: &str, suffix: &str) -> Vec<Vec<u8>> {
    let all = files(&workspace().join(folder));
    all.into_iter()
        .filter(|(path, _)| path.to_string_lossy().ends_with(suffix))
        .map(|(_, bytes)| bytes)
        .collect()
}

/// The corpus, the examples, and what must be refused.
fn texts() -> Vec<Vec<u8>> {
    let good = corpus().expect("the corpus");
    let bad = scripts(&workspace().join("tests/filetests/bad"), "").expect("what must be refused");
    good.into_iter().chain(bad).map(|file| file.text.into_bytes()).collect()
}

/// The kept documents, and what comes of the corpus.
fn documents() -> Vec<Vec<u8>> {
    let mut found = with_suffix("tests/wire/golden", ".json");
    found.extend(with_suffix("plugin-api/ir/wire", ".json"));
    for file in corpus().expect("the corpus") {
        let module = chipdock_script::parse(&file.text, &file.name);
        found.extend(module.ok().and_then(|module| wire::write(&module).ok()).map(String::into_bytes));
    }
    found
}

fn arrays() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for dtype in DType::SCALARS.iter().filter_map(|dtype| chipdock_npy::file_dtype(*dtype)) {
        for shape in [&[][..], &[3], &[2, 3], &[2, 1, 2], &[0, 5]] {
            let n_elements: i64 = shape.iter().product();
            let bytes = vec![1; usize::try_from(n_elements).unwrap_or(0) * dtype.size_bytes()];
            let mut file = Vec::new();
            chipdock_npy::write(&mut file, dtype, shape, &bytes).expect("an array");
            found.push(file);
        }
    }
    found.push(text_array("{'descr': '>i2', 'fortran_order': True, 'shape': (2L, 3)}", &[0; 12]));
    found.push(text_array(
        "{'descr': '<u1', 'fortran_order': True, 'shape': (1152921504606846976, 2)}",
        &[0; 2],
    ));
    found
}

/// A file of version 2.0.
fn text_array(header: &str, data: &[u8]) -> Vec<u8> {
    let size = u32::try_from(header.len()).unwrap_or(0);
    [b"\x93NUMPY\x02\x00".as_slice(), &size.to_le_bytes(), header.as_bytes(), data].concat()
}

/// Returns the manifests of the plugins that were built, and one that contains every field.
fn manifests() -> Vec<Vec<u8>> {
    let built = files(&chipdock_test_support::command::built().plugins);
    let suffix = chipdock_host::manifest::MANIFEST_SUFFIX;
    let built = built.into_iter().filter(|(path, _)| path.to_string_lossy().ends_with(suffix));
    let whole = r#"{"schema": 1, "name": "a-b_1", "version": "1.2.3-x+y", "abi": ">=1, <2", "os": "linux", "arch": "x86_64",
        "provides": ["device_api.a", "target.kind.a", "function.a.b", "device_api.a/reset/1"], "target_kinds": [{"schema": 1, "name": "a", "doc": "d",
        "device": "a", "stage": "device", "capabilities": {"warp_size": "w"}, "options": [{"name": "w", "type": "int", "default": 3,
        "min": 1, "max": 9, "doc": "d"}, {"name": "x", "type": "list[str]", "one_of": ["y"], "doc": "d"}]}],
        "needs": {"libraries": [{"names": ["liba.so.1"], "package": "a"}], "driver": {"name": "d", "version": "^5"},
        "cpu_features": ["avx2"], "programs": ["cc"], "glibc": "2.17", "requires": ["a/1"], "uses": ["b/2"],
        "keys": ["target.build.b", "device_api.b/reset/1"]},
        "sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}"#;
    built.map(|(_, bytes)| bytes).chain([whole.into()]).collect()
}

/// Each kind by name and in full, with features, hosts and keys.
fn targets() -> Vec<Vec<u8>> {
    let host = crate::target::host();
    let kinds = host.target_kinds();
    let mut found: Vec<String> = Vec::new();
    for (kind, _) in kinds {
        let name = &kind.name;
        found.push(name.clone());
        found.push(format!(
            r#"{{"kind": "{name}", "tag": "t", "keys": ["x", "x"], "feature.a": 1, "host": "c"}}"#
        ));
        found.push(format!(r#"{{"kind": "{name}", "from_device": 0, "host": {{"kind": "{name}"}}}}"#));
        found.extend(host.target(name.as_str()).ok().map(|target| target.json().to_owned()));
        for option in &kind.options {
            for value in ["1", "0.5", "true", "\"x\"", "[\"x\"]", "null"] {
                found.push(format!(r#"{{"kind": "{name}", "{}": {value}}}"#, option.name));
            }
        }
    }
    found.into_iter().map(String::into_bytes).collect()
}

/// Files, and the same as inputs that are sealed.
fn artifacts() -> Vec<Vec<u8>> {
    let index = |name: &str| {
        format!(
            r#"{{"module_kind": "k", "format": "f", "functions": [{{"name": "{name}", "symbol": "s", "args": ["handle"],
            "launch_params": ["blockIdx.x"], "doc": "d"}}]}}"#
        )
    };
    let section = |name: &str, kind: &str, alignment, data: &[u8]| {
        Section::new(name, kind, alignment, data).expect("a section")
    };
    let plain = |sections, imports| {
        Artifact::new(index("add"), "{\"kind\":\"k\"}".into(), sections, imports).expect("an artifact")
    };
    let inner = plain(vec![section("code", "code", 16, &[7; 40])], Vec::new());
    let outer =
        plain(vec![section("main", "source", 1, b"int x;"), section("data", "constants", 64, &[1; 65])], {
            let inner = std::sync::Arc::new(inner);
            vec![std::sync::Arc::clone(&inner), std::sync::Arc::new(plain(Vec::new(), vec![inner]))]
        });
    let all = [plain(Vec::new(), Vec::new()), outer].map(|artifact| artifact.to_bytes().expect("its bytes"));
    let sealed = all.iter().filter_map(|file| unsealed(file)).collect::<Vec<_>>();
    let tree = r#"{"index": "{\"module_kind\": \"k\", \"format\": \"f\", \"functions\": []}", "target": "{}", "imports": [],
        "sections": [{"name": "a", "kind": "code", "alignment_bytes": 1, "offset_bytes": 0, "size_bytes": 3, "sha256": ""}]}"#;
    let tree = [tree.as_bytes(), b"\0abc"].concat();
    all.into_iter().chain(sealed).chain([tree]).collect()
}

/// Descriptions and blobs of libraries, and whole files.
fn libraries() -> Vec<Vec<u8>> {
    let artifact = &artifacts()[0];
    let aside = format!(r#"{{"file": "a.chipdock", "sha256": "{}"}}"#, "0".repeat(64));
    let described = |aside: &str| {
        let index = r#"{"module_kind": "k", "format": "f", "functions": [{"name": "add", "symbol": "__tvm_ffi_add"}]}"#;
        let index = serde_json::Value::from(index);
        format!(
            r#"{{"schema": "chipdock.library/1", "made_by": "m", "main": "add", "artifact": {{"index": {index},
            "target": "{{}}", "signatures": {{}}}}, "aside": {aside}}}"#
        )
    };
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let text = |bytes: &[u8]| [&(bytes.len() as u64).to_le_bytes(), bytes].concat();
    // Compressed rows: the library, which imports two modules, of which one imports the other.
    let small = [words(&[2, 0, 0, 0]), text(b"_lib")].concat();
    let tree = [words(&[4, 0, 2, 3, 3, 3, 1, 2, 2]), text(b"_lib"), text(b"a"), text(b"payload")].concat();
    let tree = [tree, text(b"b"), text(b"")].concat();
    let embedded = [words(&[3, 0, 1, 1, 1, 1]), text(b"_lib"), text(b"chipdock"), text(artifact)].concat();
    let tape = |description: &str, blob: &[u8]| {
        let size = u16::try_from(description.len()).unwrap_or(0).to_le_bytes();
        [&size, description.as_bytes(), blob].concat()
    };
    let mut archive = tar_header("module.chipdock", artifact.len());
    archive.extend(artifact);
    archive.resize(archive.len().next_multiple_of(512) + 1024, 0);
    vec![
        tape("", &small),
        tape("", &tree),
        tape(&described("null"), &embedded),
        tape(&described(&aside), b""),
        crate::library::made(described("null").as_bytes(), &tree),
        artifact.clone(),
        archive,
    ]
}

/// The header of a file in an archive.
fn tar_header(name: &str, size: usize) -> Vec<u8> {
    let mut header = vec![0; 512];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    for (at, text) in [(100, "0000644"), (108, "0000000"), (116, "0000000"), (136, "00000000000")] {
        put(at, text);
    }
    put(124, &format!("{size:011o}"));
    put(148, "        ");
    put(156, "0");
    put(257, "ustar");
    put(263, "00");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

/// Tapes of numbers of a fixed sequence.
fn tapes() -> Vec<Vec<u8>> {
    let mut random = Random::new(0);
    (0..48).map(|at| random.bytes(48 + 8 * at)).collect()
}
