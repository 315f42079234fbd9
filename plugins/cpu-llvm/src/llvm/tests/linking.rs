//! Tests of objects in memory: functions that they may call, and objects that are refused.

use core::ffi::c_void;

use chipdock_plugin_api::abi::ChipdockEnv;
use chipdock_plugin_api::{Error, ErrorKind};
use proptest::prelude::{any, prop};
use proptest::test_runner::{Config, TestRunner};

use super::super::jit::Jit;
use super::super::object::check;
use super::super::{MachineOptions, Wanted, compile, library};
use super::{ADD, Naming, call_add, load, object_of};

fn refusal(object: &[u8], symbol: &str) -> Error {
    let error =
        Jit::load(library().unwrap(), object, &[symbol], core::ptr::null(), Naming::off()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{error}");
    error
}

#[test]
fn an_object_becomes_callable() {
    let jit = load(ADD, "add");
    call_add(&jit);
    assert_eq!(jit.address("other"), None);
}

#[test]
fn the_environment_is_set_before_anything_is_called() {
    let ir = "@__chipdock_env = global ptr null, align 8\ndefine ptr @env() {\n  %x = load ptr, ptr @__chipdock_env\n  \
              ret ptr %x\n}\n";
    let place = 64 as *const ChipdockEnv;
    let jit = Jit::load(library().unwrap(), &object_of(ir), &["env"], place, Naming::off()).unwrap();
    // SAFETY: a function of this type.
    let env = unsafe {
        let env: extern "C" fn() -> *const c_void = core::mem::transmute(jit.address("env").unwrap());
        env()
    };
    assert_eq!(env, place.cast());
}

#[test]
fn an_environment_that_is_no_variable_is_refused() {
    for ir in [
        "define void @f() {\n  ret void\n}\ndefine void @__chipdock_env() {\n  ret void\n}\n",
        "define void @f() {\n  ret void\n}\n@__chipdock_env = constant ptr null, align 8\n",
        "define void @f() {\n  ret void\n}\n@__chipdock_env = global i32 1, align 4\n",
    ] {
        let error = refusal(&object_of(ir), "f");
        assert!(error.message().contains("`__chipdock_env` is not a variable"), "{error}");
    }
}

#[test]
fn functions_of_the_c_library_and_of_the_compiler_are_found() {
    // 128-bit division is a function of the compiler's library.
    let ir = "declare float @expf(float)\ndeclare double @lgamma(double)\ndefine float @f(float %x, i64 %n) {\n  %a = \
              call float @expf(float %x)\n  %b = call double @lgamma(double 5.0)\n  %w = sext i64 %n to i128\n  %q = \
              sdiv i128 1000000000000000000000, %w\n  %r = sitofp i128 %q to float\n  %c = fptrunc double %b to float\n  \
              %d = fadd float %a, %c\n  %s = fadd float %d, %r\n  ret float %s\n}\n";
    let jit = load(ir, "f");
    // SAFETY: a function of this type.
    let f: extern "C" fn(f32, i64) -> f32 = unsafe { core::mem::transmute(jit.address("f").unwrap()) };
    let expected = 1_f32.exp() + 24_f64.ln() as f32 + 1e12;
    assert!((f(1.0, 1_000_000_000) - expected).abs() <= expected * 1e-6);
}

#[test]
fn an_unknown_c_function_is_told_by_its_name() {
    let ir = "declare float @no_such_function(float)\ndefine float @f(float %x) {\n  %a = call float \
              @no_such_function(float %x)\n  ret float %a\n}\n";
    let error = refusal(&object_of(ir), "f");
    let message = error.message().into_owned();
    assert!(
        message.contains(
            "the kernel calls the C function `no_such_function`, which no library of this process has"
        ),
        "{message}"
    );
}

#[test]
fn a_function_of_the_index_that_the_object_lacks_is_refused() {
    let error = refusal(&object_of(ADD), "sub");
    assert!(error.message().contains("a function `sub`, which the code has not"), "{error}");
}

#[test]
fn an_object_for_another_machine_is_reported() {
    let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let good = object_of(ADD);
    let with = |place: usize, byte: u8| {
        let mut object = good.clone();
        object[place] = byte;
        object
    };
    for (object, what) in [
        (Vec::new(), "expected an ELF object, found 0 bytes"),
        (b"!<arch>\n/       ".to_vec(), "expected an ELF object"),
        (b"\x00asm\x01\x00\x00\x00".to_vec(), "expected an ELF object"),
        (b"\x7fELF".to_vec(), "64-bit little-endian"),
        (with(4, 1), "64-bit little-endian"),
        (with(5, 2), "64-bit little-endian"),
        (with(16, 3), "expected a relocatable object (type 1), found type 3"),
        (with(18, 40), "found arm"),
        (own, "expected a relocatable object (type 1), found type 3"),
        (good[..good.len() / 2].to_vec(), "the object is broken"),
    ] {
        let error = refusal(&object, "add");
        assert!(error.message().contains(what), "{what:?}: {error}");
    }
}

#[test]
fn an_object_of_another_machine_is_told() {
    let llvm = library().unwrap();
    let (triple, found) = if cfg!(target_arch = "x86_64") {
        ("aarch64-unknown-linux-gnu", "expected code for x86-64, found aarch64")
    } else {
        ("x86_64-unknown-linux-gnu", "expected code for aarch64, found x86-64")
    };
    let options = MachineOptions { triple: triple.to_owned(), ..MachineOptions::default() };
    let wanted = Wanted { object: true, ..Wanted::default() };
    match compile(llvm, ADD, &options, wanted, &|| false) {
        Ok(output) => assert!(refusal(&output.object, "add").message().contains(found)),
        Err(error) => chipdock_test_support::skipped(&format!("an object of another machine: {error}")),
    }
}

/// An object with everything that ours have: calls, data, constants, lines.
fn rich_object() -> Vec<u8> {
    object_of(
        "@__chipdock_env = global ptr null, align 8\n@text = private unnamed_addr constant [6 x i8] c\"hello\\00\"\n\
         @table = private constant [2 x ptr] [ptr @add, ptr @callee]\ndeclare float @expf(float)\ndeclare i32 \
         @puts(ptr)\ndefine internal float @callee(float %x) noinline uwtable {\n  %y = call float @expf(float %x)\n  \
         ret float %y\n}\ndefine float @add(float %x, i64 %n) uwtable {\n  %e = load ptr, ptr @__chipdock_env\n  %c = \
         icmp eq ptr %e, null\n  br i1 %c, label %a, label %b\na:\n  %p = getelementptr ptr, ptr @table, i64 %n\n  %f = \
         load ptr, ptr %p\n  %v = call float %f(float %x)\n  ret float %v\nb:\n  %u = call i32 @puts(ptr @text)\n  %w = \
         call float @callee(float 2.5)\n  ret float %w\n}\n",
    )
}

/// Loads what was damaged: any answer but a crash will do, and an error is a typed one.
fn load_damaged(object: &[u8]) {
    if let Err(error) = Jit::load(library().unwrap(), object, &["add"], core::ptr::null(), Naming::off()) {
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{error}");
    }
}

#[test]
fn damaged_objects_are_refused_or_loaded_and_nothing_crashes() {
    let good = rich_object();
    load_damaged(&good);
    check(&good).unwrap();
    let mut runner = TestRunner::new(Config { cases: 6000, failure_persistence: None, ..Config::default() });
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6);
    runner
        .run(&damage, |damage| {
            let mut object = good.clone();
            for (place, byte) in damage {
                let place = place.index(object.len());
                object[place] ^= byte;
            }
            load_damaged(&object);
            Ok(())
        })
        .unwrap();
}

#[test]
fn each_byte_of_the_tables_may_be_wrong() {
    let good = rich_object();
    // Headers and tables lie behind the code; symbols and relocations are where offsets are
    // trusted.
    let sections = u64::from_le_bytes(good[40..48].try_into().unwrap()) as usize;
    let tables = (0..64).chain(sections..good.len());
    for place in tables {
        for byte in [0, 0x7f, 0xff, good[place] ^ 1, good[place].wrapping_add(8)] {
            let mut object = good.clone();
            object[place] = byte;
            load_damaged(&object);
        }
    }
}

#[test]
fn truncated_objects_are_refused() {
    let good = rich_object();
    for size in (0..good.len()).step_by(7) {
        assert!(check(&good[..size]).is_err(), "{size} of {} bytes", good.len());
    }
}

#[test]
fn any_bytes_are_refused_or_checked() {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    runner
        .run(&prop::collection::vec(any::<u8>(), 0..512), |mut bytes| {
            assert!(check(&bytes).is_err());
            let header = rich_header();
            let count = header.len().min(bytes.len());
            bytes[..count].copy_from_slice(&header[..count]);
            let _ = check(&bytes);
            Ok(())
        })
        .unwrap();
}

fn rich_header() -> Vec<u8> {
    static HEADER: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    HEADER.get_or_init(|| rich_object()[..64].to_vec()).clone()
}

#[test]
fn a_failed_load_leaves_room_for_the_next() {
    let ir = "declare void @no_such_function()\ndefine void @add() {\n  call void @no_such_function()\n  ret void\n}\n";
    let bad = object_of(ir);
    for _ in 0..20 {
        refusal(&bad, "add");
        call_add(&load(ADD, "add"));
    }
}
