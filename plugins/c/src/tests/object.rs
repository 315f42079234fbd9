//! Tests of object files (interface `object` 1, M.15 to M.19): what is in them, and that a linker
//! makes a library of them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use chipdock_interpret::Array;
use chipdock_ir::{DType, IrModule, build};
use chipdock_plugin_api::abi::{ChipdockArtifact, ChipdockEnv, ChipdockSection};
use chipdock_plugin_api::kit::PackedFunction;
use chipdock_plugin_api::object_code::Objects as _;
use chipdock_plugin_api::text::str_out;
use chipdock_plugin_api::{Artifact, Error, ErrorKind, HostRef};
use libloading::os::unix::Library;
use object::read::{Object as _, ObjectSymbol as _};
use object::{ObjectKind, SymbolScope};
use serde_json::{Value, json};

use super::support::{Argument, built, call, env, has_compiler};
use crate::compiler::{Options, object_in};
use crate::loader::{CLoader, CModule};

/// `C = A + B` and a second function, with a loop of threads and a failing assertion of its
/// shapes.
fn module() -> IrModule {
    let mut f = build::function("add");
    let n = f.size("n");
    let a = f.buffer("A", &n, DType::FLOAT32);
    let b = f.buffer("B", &n, DType::FLOAT32);
    let c = f.buffer("C", &n, DType::FLOAT32);
    f.grid(["i"], &n, |f, [i]| f.store(&c, &i, a.at(&i) + b.at(&i)));
    let mut g = build::function("twice");
    let m = g.size("m");
    let x = g.buffer("X", &m, DType::FLOAT32);
    g.for_loop("i", &m, chipdock_ir::ForKind::Parallel, |g, i| g.store(&x, [&i], x.at([&i]) + x.at([&i])));
    build::module([f.finish(), g.finish()])
}

/// Makes an object as the interface does, for an index and a source.
fn object_of(index: &Value, source: Option<&str>) -> Result<Vec<u8>, Error> {
    let index = index.to_string();
    let sections: Vec<ChipdockSection> = source
        .iter()
        .map(|source| ChipdockSection {
            name: str_out("source"),
            kind: str_out("source"),
            alignment_bytes: 1,
            data: source.as_ptr().cast(),
            size_bytes: source.len() as u64,
        })
        .collect();
    let raw = ChipdockArtifact {
        index_json: str_out(&index),
        sections: sections.as_ptr(),
        sections_count: sections.len() as u64,
        next: std::ptr::null(),
    };
    // SAFETY: all that it points to lives for this call.
    CLoader(HostRef::standalone()).object(&unsafe { Artifact::from_raw(&raw) }?)
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// Visible and undefined symbols of an object.
fn symbols(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let file = object::File::parse(bytes).unwrap();
    assert_eq!(file.kind(), ObjectKind::Relocatable);
    let (mut visible, mut undefined) = (Vec::new(), Vec::new());
    for symbol in file.symbols().filter(|symbol| !symbol.is_local()) {
        let name = symbol.name().unwrap().to_owned();
        if symbol.is_undefined() {
            undefined.push(name);
        } else if symbol.scope() == SymbolScope::Dynamic {
            visible.push(name);
        }
    }
    visible.sort();
    (visible, undefined)
}

#[test]
fn m15_m16_an_object_shows_the_functions_of_the_index_and_needs_the_c_library_alone() {
    if !has_compiler() {
        return;
    }
    let built = built(&module());
    let (visible, undefined) = symbols(&object_of(&built.index, Some(&built.source)).unwrap());
    assert_eq!(visible, ["__chipdock_env", "__tvm_ffi_add", "__tvm_ffi_twice"]);
    let known = ["_GLOBAL_OFFSET_TABLE_", "dlsym", "free", "malloc", "memcpy", "memset", "vsnprintf"];
    let unknown: Vec<&String> = undefined.iter().filter(|name| !known.contains(&name.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// The library is made by the system's linker from the object alone, and computes.
#[test]
fn m15_a_linker_makes_a_library_of_an_object() {
    if !has_compiler() {
        return;
    }
    let built = built(&module());
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("module.o"), folder.path().join("module.so"));
    fs::write(&from, object_of(&built.index, Some(&built.source)).unwrap()).unwrap();
    let linked = Command::new("cc")
        .arg("-shared")
        .arg("-Wl,-z,defs,-z,text")
        .arg(&from)
        .args(["-lm", "-o"])
        .arg(&to)
        .output();
    let linked = linked.unwrap();
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
    // SAFETY: a library without constructors.
    let library = unsafe { Library::new(&to) }.unwrap();
    let env = env();
    // SAFETY: the variable of the environment, and a function of the packed convention; no other
    // code knows the library.
    let add = unsafe {
        **library.get::<*mut *const ChipdockEnv>(b"__chipdock_env\0").unwrap() = env.as_ptr();
        *library.get::<PackedFunction>(b"__tvm_ffi_add\0").unwrap()
    };
    // SAFETY: a function that target c wrote, of a library that is kept open.
    let linked = unsafe { CModule::new([("add".to_owned(), add)].into(), (Arc::new(library), env)) };
    let tensor = |values: &[f32]| {
        let mut array = Array::zeros(DType::FLOAT32, &[values.len()]);
        for (place, value) in array.data.chunks_exact_mut(4).zip(values) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        array
    };
    let (mut a, mut b, mut c) = (tensor(&[1.0, 2.0]), tensor(&[10.0, 20.0]), tensor(&[0.0, 0.0]));
    let mut args = [Argument::Tensor(&mut a), Argument::Tensor(&mut b), Argument::Tensor(&mut c)];
    call(&linked, "add", &mut args).unwrap();
    assert_eq!(c.data, tensor(&[11.0, 22.0]).data);
    let (kind, _) = call(&linked, "add", &mut [Argument::Int(1)]).unwrap_err();
    assert_eq!(kind, "TypeError", "errors go through the environment");
}

/// Neither the folder, nor the processor, nor what the setting says of it changes the bytes;
/// options of the artifact do.
#[test]
fn m17_the_bytes_are_those_of_the_artifact_and_the_compiler() {
    if !has_compiler() {
        return;
    }
    let source = built(&module()).source;
    let made = |cc: &str, options: &Options| {
        let folder = tempfile::tempdir().unwrap();
        let object = object_in(&source, options, Some(cc), folder.path(), None).unwrap();
        assert_eq!(entries(folder.path()), 0, "M.19");
        object
    };
    let plain = Options::default();
    let first = made("cc", &plain);
    assert!(made("cc", &plain) == first);
    assert!(made("cc -march=native -mtune=native", &plain) == first, "the processor at hand");
    assert!(made("cc -flto", &plain) == first, "an object for any linker");
    let with_lines = made("cc -g", &plain);
    assert!(with_lines.len() > first.len() && with_lines == made("cc -g", &plain), "debug information");
    let other = Options { march: Some("x86-64-v3".to_owned()), ..Options::default() };
    assert!(!cfg!(target_arch = "x86_64") || made("cc", &other) != first, "the artifact's own options");
}

#[test]
fn m18_an_artifact_of_another_kind_is_refused() {
    let built = built(&module());
    let with = |key: &str, value: Value| {
        let mut index = built.index.clone();
        index[key] = value;
        object_of(&index, Some(&built.source))
    };
    for (refused, says) in [
        (with("module_kind", json!("llvm")), "expected an artifact of kind \"c\""),
        (with("format", json!("o")), "format \"c\""),
        (with("functions", json!(1)), "`functions`"),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{error}");
        assert!(error.message().contains(says), "{error}");
    }
    assert_eq!(object_of(&built.index, None).unwrap_err().kind(), ErrorKind::NOT_FOUND);
}

#[test]
fn m18_m19_a_missing_compiler_is_named_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::default();
    let error = object_in("int x;", &options, Some("/none/cc -O1"), folder.path(), None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UNAVAILABLE);
    let message = error.message();
    assert!(message.contains("object file") && message.contains("tried /none/cc"), "{message}");
    if has_compiler() {
        let error = object_in("this is no C", &options, Some("cc"), folder.path(), None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::INTERNAL, "{error}");
    }
    assert_eq!(entries(folder.path()), 0);
}
