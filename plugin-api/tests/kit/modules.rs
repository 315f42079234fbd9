//! KIT-17 to KIT-19.

#![cfg(feature = "ir")]

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use chipdock_plugin_api::abi::{ChipdockAny, ChipdockArtifact, ChipdockSection};
use chipdock_plugin_api::kernel::{Kernels, Launch};
use chipdock_plugin_api::kit::{
    ArtifactKind, KernelModule, LaunchKernel, PackedFunction, PackedModule, lock,
};
use chipdock_plugin_api::launch::Launches;
use chipdock_plugin_api::text::str_out;
use chipdock_plugin_api::{Any, Artifact, Env, Error, ErrorKind, HostRef, Module, Stream, Verdict};
use serde_json::{Value, json};

use crate::fails;

const KIND: ArtifactKind = ArtifactKind { kind: "npu", formats: &["asm", "elf"] };

fn with<R>(index: &str, section: &[u8], body: impl FnOnce(&Artifact<'_>) -> R) -> R {
    let section = ChipdockSection {
        name: str_out("code"),
        kind: str_out("code"),
        alignment_bytes: 1,
        data: section.as_ptr().cast(),
        size_bytes: section.len() as u64,
    };
    let raw = ChipdockArtifact {
        index_json: str_out(index),
        sections: &section,
        sections_count: 1,
        next: std::ptr::null(),
    };
    // SAFETY: M.3, all of it lives until `body` returns.
    body(&unsafe { Artifact::from_raw(&raw) }.unwrap())
}

#[test]
fn kit_17_p3_19_an_index_is_an_object_of_this_version_and_kind_and_one_of_its_formats() {
    for format in ["asm", "elf"] {
        let index = json!({ "module_kind": "npu", "format": format, "functions": [] }).to_string();
        with(&index, b"", |artifact| {
            assert_eq!(KIND.index(artifact).unwrap()["format"], format);
            assert_eq!(KIND.check(artifact, |_| Ok(Verdict::Runs)).unwrap(), Verdict::Runs);
            fails(
                KIND.check(artifact, |_| Err(KIND.error("own"))),
                &ErrorKind::VALUE_ERROR,
                &["kind npu: own"],
            );
        });
    }
    for index in ["", "[]", "3", "null", "{", "\"npu\"", "{\"module_kind\": }"] {
        with(index, b"", |artifact| {
            let not_examined = |_: &Value| panic!("it is no index");
            fails(
                KIND.check(artifact, not_examined),
                &ErrorKind::VALUE_ERROR,
                &["kind npu", "build it again"],
            );
            fails(KIND.index(artifact), &ErrorKind::VALUE_ERROR, &["kind npu", "build it again"]);
        });
    }
    for (schema, kind, says) in [
        (json!(2), ErrorKind::UNAVAILABLE, "an index of version 2; expected one up to 1"),
        (json!(u64::MAX), ErrorKind::UNAVAILABLE, "an index of version 18446744073709551615"),
        (json!(0), ErrorKind::VALUE_ERROR, "found 0"),
        (json!(null), ErrorKind::VALUE_ERROR, "found null"),
        (json!(1.5), ErrorKind::VALUE_ERROR, "found 1.5"),
    ] {
        // P3.19: whatever else such an index says.
        let index = json!({ "schema": schema, "module_kind": "gpu", "functions": 7 }).to_string();
        with(&index, b"", |artifact| {
            fails(KIND.check(artifact, |_| panic!("it is not read")), &kind, &[says]);
            fails(KIND.index(artifact), &kind, &[says]);
        });
    }
    let first = json!({ "schema": 1, "module_kind": "npu", "format": "asm" }).to_string();
    with(&first, b"", |artifact| assert_eq!(KIND.index(artifact).unwrap()["schema"], 1));
    for index in [
        json!({}),
        json!({ "module_kind": "npu" }),
        json!({ "module_kind": "npu", "format": "ptx" }),
        json!({ "module_kind": "gpu", "format": "asm" }),
        json!({ "module_kind": ["npu"], "format": ["asm"] }),
    ] {
        with(&index.to_string(), b"", |artifact| {
            let verdict = KIND.check(artifact, |_| panic!("it is another's")).unwrap();
            let Verdict::Unsupported(why) = verdict else { panic!("{verdict:?}") };
            assert!(why.contains("kind \"npu\" and format \"asm\" or \"elf\", found"), "{why}");
            fails(KIND.index(artifact), &ErrorKind::VALUE_ERROR, &[&why]);
        });
    }
}

#[test]
fn kit_17_sections_and_functions_are_there_or_a_value_error() {
    with("{}", b"add r1", |artifact| {
        assert_eq!(KIND.text(artifact, "code").unwrap(), "add r1");
        assert_eq!(KIND.section(artifact, "code").unwrap(), b"add r1");
        fails(KIND.section(artifact, "source"), &ErrorKind::VALUE_ERROR, &["`source`", "build it again"]);
    });
    with("{}", b"\xFF", |artifact| {
        fails(KIND.text(artifact, "code"), &ErrorKind::VALUE_ERROR, &["`code` is not UTF-8"]);
    });
    let functions =
        json!({ "functions": [{ "name": "f", "symbol": "f_" }, { "name": "g", "symbol": "g_" }] });
    assert_eq!(KIND.functions(&functions).unwrap(), [("f", "f_"), ("g", "g_")]);
    for functions in [json!({}), json!({ "functions": {} }), json!({ "functions": [{ "name": "f" }] })] {
        fails(KIND.functions(&functions), &ErrorKind::VALUE_ERROR, &["kind npu"]);
    }
    fails(
        KIND.functions(&json!({ "functions": [{ "name": 3, "symbol": "f_" }] })),
        &ErrorKind::VALUE_ERROR,
        &["3"],
    );
}

/// Notes its launches: position, name, device, blocks.
struct Notes(Kernels, Arc<Mutex<Vec<Note>>>);

type Note = (usize, String, i32, u64);

impl LaunchKernel for Notes {
    fn device_type(&self) -> i32 {
        12
    }

    fn kernels(&self) -> &Kernels {
        &self.0
    }

    fn launch(&self, position: usize, device_id: i32, _: Stream, launch: &Launch) -> Result<(), Error> {
        lock(&self.1).push((position, self.0.usable[position].name.clone(), device_id, launch.grid[0]));
        Ok(())
    }
}

fn kernels() -> Kernels {
    let entry = |name: &str, symbol: &str| json!({ "name": name, "symbol": symbol, "args": ["int32"], "launch_params": ["blockIdx.x"] });
    let mut newer = entry("newer", "4");
    newer["launch_params"] = json!(["clusterIdx.x"]);
    let functions = [newer, entry("f", "1"), entry("g", "2"), entry("f", "3")];
    Kernels::from_index(&json!({ "functions": functions })).unwrap()
}

fn no_env(host: HostRef) -> Env {
    // SAFETY: null, an environment without a host.
    unsafe { Env::new(host, std::ptr::null()) }
}

#[test]
fn kit_18_k9_calls_are_read_first_and_entries_are_the_usable_kernels_of_the_index() {
    let (host, notes) = (HostRef::standalone(), Notes(kernels(), Arc::default()));
    let seen = Arc::clone(&notes.1);
    let module = KernelModule::new(host, no_env(host), notes);
    let function = |name: &str| module.function(name).unwrap().unwrap();
    function("f").call(host, &[1.into(), 7.into()]).unwrap();
    function("g").call(host, &[1.into(), 8.into()]).unwrap();
    function("g").call(host, &[1.into(), 0.into()]).unwrap();
    assert_eq!(
        *lock(&seen),
        [(0, "f".to_owned(), 0, 7), (1, "g".to_owned(), 0, 8)],
        "an extent of 0 queues nothing"
    );
    fails(function("f").call(host, &[1.into()]), &ErrorKind::TYPE_ERROR, &["kernel f"]);
    fails(
        function("f").call(host, &[(1_i64 << 40).into(), 7.into()]),
        &ErrorKind::VALUE_ERROR,
        &["kernel f"],
    );
    fails(function("f").call(host, &[1.into(), (-1).into()]), &ErrorKind::VALUE_ERROR, &["kernel f"]);
    assert_eq!(lock(&seen).len(), 2);
    assert!(module.function("h").unwrap().is_none(), "KIT-19");
    let position = |name: &str| module.position(name).unwrap();
    assert_eq!((position("f"), position("g"), position("h")), (Some(0), Some(1), None));
    for refused in [module.function("newer").map(drop), module.position("newer").map(drop)] {
        fails(refused, &ErrorKind::UNSUPPORTED, &["kernel newer", "clusterIdx.x"]);
    }
    assert_eq!(module.kernel(2).unwrap().symbol, "3");
    assert!(module.kernel(3).is_none() && Launches::device_type(&module) == 12);
    let launch = Launch::new(Vec::new(), [9, 1, 1], [1; 3], 0);
    Launches::launch(&module, 1, 5, Stream::DEFAULT, &launch).unwrap();
    assert_eq!(lock(&seen).pop(), Some((1, "g".to_owned(), 5, 9)));
    assert!(module.query("launch", 1).is_some() && module.query("launch", 2).is_none());
}

#[test]
fn kit_19_a_function_outlives_its_module() {
    let (host, notes) = (HostRef::standalone(), Notes(kernels(), Arc::default()));
    let seen = Arc::clone(&notes.1);
    let module = KernelModule::new(host, no_env(host), notes);
    let function = module.function("g").unwrap().unwrap();
    drop(module);
    function.call(host, &[1.into(), 8.into()]).unwrap();
    assert_eq!(lock(&seen).len(), 1);
    drop(function);
    assert_eq!(Arc::strong_count(&seen), 1, "nothing is left behind");
}

unsafe extern "C" fn answer(_: *mut c_void, _: *const ChipdockAny, count: i32, out: *mut ChipdockAny) -> i32 {
    // SAFETY: V.10, a place for the result.
    unsafe { out.write(Any::from(i64::from(count) + 40).into_raw()) };
    0
}

#[test]
fn kit_19_packed_functions_keep_their_code() {
    let (host, code) = (HostRef::standalone(), Arc::new(()));
    let functions = HashMap::from([("f".to_owned(), answer as PackedFunction)]);
    // SAFETY: a function of this program.
    let module = unsafe { PackedModule::new(functions, Arc::clone(&code)) };
    assert!(module.function("g").unwrap().is_none() && module.address("g").is_none());
    let function = module.function("f").unwrap().unwrap();
    drop(module);
    assert_eq!(Arc::strong_count(&code), 2, "the function has it");
    let result = function.call(host, &[1.into(), 2.into()]).unwrap();
    assert_eq!(result.to::<i64>().unwrap(), 42);
    drop(function);
    assert_eq!(Arc::strong_count(&code), 1);
}
