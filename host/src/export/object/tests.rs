//! Tests of [`Host::object`] with loaders that answer what an artifact's index says, and one
//! without the interface.

use std::ffi::c_void;

use chipdock_abi::{ChipdockAny, ChipdockArtifact, ChipdockObject1};
use chipdock_plugin_api as api;
use chipdock_plugin_api::interface::{InterfaceKind, enter};
use chipdock_plugin_api::object_code::{OBJECT, Objects};
use chipdock_plugin_api::{Any, Env, Module, ModuleLoader};

use crate::compile::artifact::{Artifact, Section};
use crate::{Error, ErrorKind, Host, HostOptions};

struct Loader;

impl ModuleLoader for Loader {
    fn load(&self, _: &api::Artifact<'_>, _: Env) -> Result<Box<dyn Module>, api::Error> {
        Err(api::Error::new(api::ErrorKind::INTERNAL, "nobody loads it"))
    }
}

/// Answers the section `code`, or does what the index asks for.
impl Objects for Loader {
    fn object(&self, artifact: &api::Artifact<'_>) -> Result<Vec<u8>, api::Error> {
        let index: serde_json::Value = serde_json::from_str(artifact.index_json()).unwrap();
        match index["do"].as_str() {
            Some("fail") => Err(api::Error::new(api::ErrorKind::UNAVAILABLE, "no tool: tried them all")),
            Some("panic") => panic!("as asked"),
            _ => Ok(artifact.section("code")?.data.to_vec()),
        }
    }
}

/// Answers a number where Bytes are expected.
unsafe extern "C" fn seven(self_: *mut c_void, _: *const ChipdockArtifact, out: *mut ChipdockAny) -> i32 {
    // SAFETY: P3.11, the `self_` of the interface; the caller's place.
    unsafe {
        enter::<dyn Objects>(self_, |_| {
            out.write(Any::from(7_i64).into_raw());
            Ok(())
        })
    }
}

static SEVEN_TABLE: ChipdockObject1 = ChipdockObject1 { object: seven };
// SAFETY: the table of that name and version, whose function goes through `enter`.
const SEVEN: InterfaceKind<dyn Objects> = unsafe { InterfaceKind::new("object", 1, &SEVEN_TABLE) };

api::register_module_loader!("object-good", |_| Box::new(Loader));
api::register_interface!("module.load.object-good", OBJECT, |_| -> Box<dyn Objects> { Box::new(Loader) });
api::register_module_loader!("object-seven", |_| Box::new(Loader));
api::register_interface!("module.load.object-seven", SEVEN, |_| -> Box<dyn Objects> { Box::new(Loader) });
api::register_module_loader!("object-none", |_| Box::new(Loader));

/// An ELF header of that type; `order` is 1 for little-endian.
fn elf(kind: u8, order: u8) -> Vec<u8> {
    let mut header = vec![0; 64];
    header[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, order, 1]);
    header[if order == 2 { 17 } else { 16 }] = kind;
    header
}

fn object(kind: &str, order: &str, code: &[u8]) -> Result<Vec<u8>, Error> {
    let host = Host::new(HostOptions::isolated()).unwrap();
    let index = format!(
        r#"{{"module_kind": "{kind}", "format": "o", "functions": [{{"name": "f", "symbol": "f"}}], "do": "{order}"}}"#
    );
    let code = Section::new("code", "code", 16, code).unwrap();
    let artifact = Artifact::new(index, r#"{"kind": "toy"}"#.to_owned(), vec![code], Vec::new());
    host.object(&artifact.unwrap())
}

#[test]
fn m15_the_answer_is_handed_out_as_it_is() {
    for code in [elf(1, 1), elf(1, 2), b"\0asm\x01\0\0\0".to_vec()] {
        assert_eq!(object("object-good", "", &code).unwrap(), code);
    }
}

/// P3.7: a kind without the interface is refused, with its plugin's key and the interface.
#[test]
fn p3_7_a_loader_without_the_interface_is_named() {
    let error = object("object-none", "", b"code").unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unsupported, "{error}");
    let text = error.to_string();
    assert!(text.contains("module.load.object-none") && text.contains("`object` 1"), "{text}");
    let error = object("object-of-nobody", "", b"code").unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
}

/// HOST-A2 and HOST-A3: what is no object is the plugin's fault.
#[test]
fn host_a2_only_relocatable_objects_are_taken() {
    for (kind, code, says) in [
        ("object-good", Vec::new(), "0 bytes"),
        ("object-good", elf(3, 1), "type 3"),
        ("object-good", elf(2, 2), "type 2"),
        ("object-good", elf(1, 1)[..20].to_vec(), "a whole header"),
        ("object-seven", elf(1, 1), "module.load.object-seven"),
    ] {
        let error = object(kind, "", &code).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::BrokenPlugin, "{error}");
        assert!(error.to_string().contains(says), "{says}: {error}");
    }
}

#[test]
fn m18_an_error_of_the_loader_is_passed_on_with_its_key() {
    let error = object("object-good", "fail", b"code").unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
    let text = error.to_string();
    assert!(text.contains("tried them all") && text.contains("module.load.object-good"), "{text}");
    let error = object("object-good", "panic", b"code").unwrap_err();
    assert!(error.to_string().contains("as asked"), "{error}");
}
