//! Tests of libraries that the C compiler makes here, with blobs and descriptions that the tests
//! write.

mod hostile;
mod opened;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::*;
use crate::compile::artifact::Section;

/// A C text that becomes a library, with the data that it exports.
#[derive(Default)]
pub(super) struct Source {
    text: String,
    data: String,
    flags: Vec<String>,
}

const PRELUDE: &str = "\
#include <stdint.h>
#include <stddef.h>
#include \"chipdock.h\"
#define EXPORT __attribute__((visibility(\"default\")))
#define FUNCTION(name) EXPORT int32_t name(void *self, const ChipdockAny *args, int32_t count, ChipdockAny *result)
static int32_t give(ChipdockAny *result, int64_t value) {
  result->type_index = CHIPDOCK_TYPE_INT;
  result->value.v_int64 = value;
  return 0;
}
";

impl Source {
    pub(super) fn of(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Exports bytes under a symbol.
    pub(super) fn bytes(mut self, symbol: &str, bytes: &[u8]) -> Self {
        let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
        let numbers = numbers.join(",");
        writeln!(self.data, "EXPORT const unsigned char {symbol}[] = {{{numbers}}};").unwrap();
        self
    }

    pub(super) fn blob(self, modules: &[(&str, &[u8], &[u64])]) -> Self {
        self.bytes("__tvm_ffi__library_bin", &blob_of(modules))
    }

    pub(super) fn document(self, document: &Value) -> Self {
        let text = document.to_string();
        let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        self.bytes("__chipdock_library", &bytes)
    }

    pub(super) fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    pub(super) fn build(&self, folder: &Path, name: &str) -> PathBuf {
        let (source, library) = (folder.join(format!("{name}.c")), folder.join(name));
        std::fs::write(&source, format!("{PRELUDE}{}{}", self.data, self.text)).unwrap();
        let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../plugin-api/abi/include");
        let mut command = Command::new("cc");
        command
            .args(["-shared", "-fPIC", "-O1", "-fvisibility=hidden", include, "-o"])
            .arg(&library)
            .arg(&source);
        let made = command.args(&self.flags).output().expect("cc is there");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        library
    }
}

/// Writes modules (kind, payload, imports) as TVM-FFI does.
pub(super) fn blob_of(modules: &[(&str, &[u8], &[u64])]) -> Vec<u8> {
    let (mut starts, mut imports, mut rest) = (vec![0], Vec::new(), Vec::new());
    for (kind, payload, of_module) in modules {
        imports.extend_from_slice(of_module);
        starts.push(imports.len() as u64);
        rest.extend((kind.len() as u64).to_le_bytes());
        rest.extend(kind.as_bytes());
        if *kind != LIBRARY_KIND {
            rest.extend((payload.len() as u64).to_le_bytes());
            rest.extend_from_slice(payload);
        }
    }
    let mut body = Vec::new();
    for numbers in [starts, imports] {
        body.extend((numbers.len() as u64).to_le_bytes());
        numbers.iter().for_each(|number| body.extend(number.to_le_bytes()));
    }
    body.extend(rest);
    let mut bytes = (body.len() as u64).to_le_bytes().to_vec();
    bytes.extend(body);
    bytes
}

/// The description of a library with these functions, each under its usual symbol.
pub(super) fn document_of(functions: &[&str], aside: &Value) -> Value {
    let one = |name: &&str| json!({"name": name, "symbol": format!("__tvm_ffi_{name}"), "args": []});
    let functions: Vec<Value> = functions.iter().map(one).collect();
    let index = json!({"module_kind": "toy", "format": "none", "functions": functions}).to_string();
    json!({
        "schema": "chipdock.library/1", "made_by": "chipdock 0.1.0", "main": null,
        "artifact": {"index": index, "target": "{\"kind\":\"toy\"}"}, "aside": aside,
    })
}

/// An artifact that the toy of these tests loads; it has function `add`.
pub(super) fn toy_artifact(imports: Vec<Arc<Artifact>>) -> Artifact {
    let functions = r#"[{"name": "add", "symbol": "add"}]"#;
    let index = format!(r#"{{"module_kind": "toy", "format": "none", "functions": {functions}}}"#);
    let section = Section::new("code", "code", 64, b"code").unwrap();
    Artifact::new(index, r#"{"kind":"toy"}"#.to_owned(), vec![section], imports).unwrap()
}

#[test]
fn lib_1_the_first_bytes_say_what_a_file_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    toy_artifact(Vec::new()).save(&at("artifact.so")).unwrap();
    let library =
        Source::of("FUNCTION(__tvm_ffi_f) { return 0; }\n").build(folder.path(), "library.chipdock");
    std::fs::write(at("kernel.so"), "@T.prim_func\n").unwrap();
    assert_eq!(FileKind::of_file(&at("artifact.so")), Some(FileKind::Artifact));
    assert_eq!(FileKind::of_file(&library), Some(FileKind::Library));
    assert_eq!(FileKind::of_file(&at("kernel.so")), None);
    assert_eq!(FileKind::of_file(&at("nothing")), None);
    assert!(matches!(BuiltFile::read(&at("artifact.so")).unwrap().contents(), Contents::Artifact(_)));
    let read = BuiltFile::read(&library).unwrap();
    assert!(matches!(read.contents(), Contents::Library(_)));
    assert_eq!(read.sha256(), files::sha256_of_bytes(&std::fs::read(&library).unwrap()));
    let error = BuiltFile::read(&at("kernel.so")).unwrap_err();
    assert!(error.to_string().contains("no built file"), "{error}");
}

fn read(path: &Path) -> LibraryFile {
    LibraryFile::read(std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn lib_3_functions_are_exported_code_and_no_special_symbol() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
int puts(const char *);
FUNCTION(__tvm_ffi_add) { return puts(\"\") < 0; }
FUNCTION(__tvm_ffi_main) { return 0; }
FUNCTION(__tvm_ffi__metadata_add) { return 0; }
EXPORT int __tvm_ffi_number = 3;
EXPORT void *__tvm_ffi__library_ctx = 0;
int32_t __tvm_ffi_hidden(void) { return 0; }
EXPORT int32_t unrelated(void) { return 0; }
";
    let library = read(&Source::of(text).build(folder.path(), "f.so"));
    let names: Vec<_> = library.functions().collect();
    assert_eq!(names, [("add", "__tvm_ffi_add"), ("main", "__tvm_ffi_main")]);
    assert!(library.has_context() && !library.has_environment());
    assert_eq!(library.machine(), std::env::consts::ARCH);
    assert!(library.needed().iter().any(|name| name.starts_with("libc.")), "{:?}", library.needed());
    assert_eq!((library.document(), library.needs_of_tvm_ffi().len()), (None, 0));
    let described: Vec<_> = library.artifact().index().functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(described, ["add", "main"]);
}

#[test]
fn lib_3_functions_of_the_index_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let source = |names: &[&str]| {
        Source::of("FUNCTION(__tvm_ffi_add) { return 0; }\n").document(&document_of(names, &Value::Null))
    };
    let good = read(&source(&["add"]).build(folder.path(), "good.so"));
    assert_eq!(good.document().unwrap().made_by, "chipdock 0.1.0");
    assert_eq!(good.artifact().target_json(), r#"{"kind":"toy"}"#);
    let error = BuiltFile::read(&source(&["add", "gone"]).build(folder.path(), "bad.so")).unwrap_err();
    assert!(error.to_string().contains("\"gone\" as __tvm_ffi_gone, which it does not export"), "{error}");
}

#[test]
fn lib_2_a_description_is_of_a_known_version_and_names_a_file_beside_it() {
    let digest = "0".repeat(64);
    let of = |change: &dyn Fn(&mut Value)| {
        let mut document = document_of(&[], &json!({"file": "a.chipdock", "sha256": digest}));
        change(&mut document);
        LibraryDocument::parse(document.to_string().as_bytes())
    };
    assert!(of(&|_| ()).is_ok());
    assert!(of(&|document| document["later"] = json!([1])).is_ok(), "unknown fields are ignored");
    let newer = of(&|document| document["schema"] = json!(format!("chipdock.library/{}", 2))).unwrap_err();
    assert_eq!(*newer.kind(), ErrorKind::Unsupported, "{newer}");
    for file in ["", ".", "..", "../x", "/etc/passwd", "a/b", "a/", "a\nb"] {
        let error = of(&|document| document["aside"]["file"] = json!(file)).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Value, "{file}: {error}");
    }
    for sha256 in ["", "00", &"g".repeat(64)] {
        assert!(of(&|document| document["aside"]["sha256"] = json!(sha256)).is_err(), "{sha256}");
    }
}
