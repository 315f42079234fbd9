//! Libraries that others made for TVM-FFI with embedded modules and a module of their own (LIB-4
//! and LIB-11 of `host/src/library`), opened by a host in a process with one libtvm_ffi.
//!
//! Each test is a process of its own (as nextest runs them).

use std::ffi::CStr;
use std::path::{Path, PathBuf};

use chipdock_host::{AnyView, ErrorKind, Host, Module};
use chipdock_test_interop::tvm::{Tvm, blob, host, variable};

/// A library that registers a loader of modules of kind `toy`: its bytes are a prefix, and its
/// functions those of the system library of that prefix. One of kind `broken` raises.
const LOADER: &str = r#"
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/function.h>
#include <string>
namespace ffi = tvm::ffi;
static int toy_seven(void *, const TVMFFIAny *, int32_t, TVMFFIAny *result) {
  result->type_index = kTVMFFIInt;
  result->v_int64 = 7;
  return 0;
}
static int toy_fails(void *, const TVMFFIAny *, int32_t, TVMFFIAny *) {
  TVMFFIErrorSetRaisedFromCStr("IndexError", "as the embedded module likes");
  return -1;
}
static int64_t set_up() {
  TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_toy_seven", reinterpret_cast<void *>(toy_seven));
  TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_toy_fails", reinterpret_cast<void *>(toy_fails));
  ffi::Function::SetGlobal("ffi.Module.load_from_bytes.toy", ffi::Function::FromTyped([](ffi::Bytes bytes) {
    static auto system = ffi::Function::GetGlobalRequired("ffi.SystemLib");
    return system(ffi::String(std::string(bytes.data(), bytes.size()))).cast<ffi::Module>();
  }));
  ffi::Function::SetGlobal("ffi.Module.load_from_bytes.broken", ffi::Function::FromTyped([](ffi::Bytes bytes) -> ffi::Module {
    TVM_FFI_THROW(ValueError) << "these " << bytes.size() << " bytes are no module";
    TVM_FFI_UNREACHABLE();
  }));
  ffi::Function::SetGlobal("test.global", ffi::Function::FromTyped([]() -> int64_t { return 11; }));
  return 1;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(set_up, set_up)
"#;

/// A library that calls what it imports.
const CALLER: &str = r#"
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
extern "C" __attribute__((visibility("default"))) void *__tvm_ffi__library_ctx = nullptr;
static tvm::ffi::Any forward(tvm::ffi::String name) {
  TVMFFIObjectHandle found = nullptr;
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, name.c_str(), &found));
  TVMFFIAny result{};
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIFunctionCall(found, nullptr, 0, &result));
  return tvm::ffi::details::AnyUnsafe::MoveTVMFFIAnyToAny(&result);
}
static bool has_context() { return __tvm_ffi__library_ctx != nullptr; }
static int64_t own() { return 3; }
static int64_t count() { static int64_t calls = 0; return ++calls; }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(forward, forward)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(has_context, has_context)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(own, own)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(count, count)
"#;

type Modules<'a> = &'a [(&'a str, &'a [u8], &'a [u64])];

fn caller(tvm: &Tvm, folder: &Path, name: &str, modules: Modules<'_>, flags: &[&str]) -> PathBuf {
    let embedded =
        if modules.is_empty() { String::new() } else { variable("__tvm_ffi__library_bin", &blob(modules)) };
    tvm.library_of(folder, name, &format!("{CALLER}{embedded}"), flags)
}

/// Registers the loaders; the library that has them stays open.
fn set_up(tvm: &Tvm, host: &Host, folder: &Path) {
    let module = host.open(&tvm.library_of(folder, "loader", LOADER, &[])).expect("the loaders");
    assert_eq!(int(&module, "set_up"), 1);
    std::mem::forget(module);
}

fn int(module: &Module, name: &str) -> i64 {
    let function = module.function(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    function.call(&[]).unwrap_or_else(|error| panic!("{name}: {error}")).to::<i64>().expect("an integer")
}

fn forward(module: &Module, name: &CStr) -> Result<i64, chipdock_host::Error> {
    module
        .function("forward")?
        .call(&[AnyView::from_c_str(name)])
        .map(|value| value.to::<i64>().expect("an integer"))
}

/// Mappings of copies of libraries.
fn copies() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the maps");
    maps.lines().filter(|line| line.contains(&format!("library-{}-", std::process::id()))).count()
}

/// LIB-4, LIB-11.
#[test]
fn an_embedded_module_is_loaded_by_functions_of_others() {
    let Some(tvm) = Tvm::found() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let host = host(Some(&tvm.library));
    set_up(&tvm, &host, folder.path());
    let path = caller(&tvm, folder.path(), "caller", &[("_lib", b"", &[1]), ("toy", b"toy_", &[])], &[]);
    let module = host.open(&path).expect("opened");
    // From outside, and by the library's own code.
    assert_eq!((int(&module, "own"), int(&module, "seven")), (3, 7));
    assert_eq!(forward(&module, c"seven").expect("found"), 7);
    assert_eq!(forward(&module, c"test.global").expect("found"), 11);
    let kinds: Vec<_> =
        module.imports().iter().map(|import| import.artifact().index().module_kind.clone()).collect();
    assert_eq!(kinds, ["toy"]);
    // Its errors are as they were raised, whoever calls; the host says of whom they are (HOST-A10).
    let error = module.function("fails").expect("there").call(&[]).expect_err("it fails");
    assert_eq!(
        (error.kind(), error.message()),
        (&ErrorKind::new("IndexError"), "function \"fails\" says: as the embedded module likes")
    );
    let error = forward(&module, c"fails").expect_err("it fails");
    assert_eq!(
        (error.kind(), error.message()),
        (&ErrorKind::new("IndexError"), "function \"forward\" says: as the embedded module likes")
    );
    let error = forward(&module, c"nobody").expect_err("there is none");
    assert!(error.to_string().contains("Cannot find function nobody"), "{error}");
    assert_eq!(*module.function("nobody").expect_err("there is none").kind(), ErrorKind::NotFound);
    assert_eq!(forward(&module, c"seven").expect("usable after it"), 7);
    // A root that is of another kind, which imports the library.
    let below = caller(&tvm, folder.path(), "below", &[("toy", b"toy_", &[1]), ("_lib", b"", &[])], &[]);
    let below = host.open(&below).expect("opened");
    assert_eq!((int(&below, "seven"), int(&below, "own")), (7, 3));
}

/// LIB-4: one kind without a loader, and one whose loader fails, leave the rest usable.
#[test]
fn a_kind_without_a_loader_leaves_the_rest_usable() {
    let Some(tvm) = Tvm::found() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let host = host(Some(&tvm.library));
    set_up(&tvm, &host, folder.path());
    let modules: Modules<'_> = &[
        ("_lib", b"", &[1, 2, 3]),
        ("quantum", b"payload", &[]),
        ("broken", b"payload", &[]),
        ("toy", b"toy_", &[]),
    ];
    let module = host.open(&caller(&tvm, folder.path(), "mixed", modules, &[])).expect("opened");
    assert_eq!((int(&module, "own"), int(&module, "seven")), (3, 7));
    assert_eq!(forward(&module, c"seven").expect("found"), 7);
    let error = module.function("elsewhere").expect_err("nobody has it");
    assert!(error.to_string().contains("no loader for embedded modules of kind \"quantum\""), "{error}");
    let error = forward(&module, c"elsewhere").expect_err("nobody has it");
    assert!(error.to_string().contains("Cannot find function elsewhere"), "{error}");
    let broken =
        caller(&tvm, folder.path(), "broken", &[("_lib", b"", &[1]), ("broken", b"payload", &[])], &[]);
    let error = host.open(&broken).expect("opened").function("elsewhere").expect_err("nobody has it");
    assert!(error.to_string().contains("these 7 bytes are no module"), "{error}");
    assert_eq!(*error.kind(), ErrorKind::Value, "{error}");
}

/// LIB-11: what LIB-6 and LIB-7 promise holds for a library that is libtvm_ffi's module too.
#[test]
fn a_library_that_is_libtvm_ffis_module_is_a_copy_and_is_closed() {
    let Some(tvm) = Tvm::found() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (one, two) = (host(Some(&tvm.library)), host(None));
    set_up(&tvm, &one, folder.path());
    let alone = caller(&tvm, folder.path(), "alone", &[], &[]);
    let mixed = caller(&tvm, folder.path(), "mixed", &[("_lib", b"", &[1]), ("toy", b"toy_", &[])], &[]);
    let before = copies();
    for path in [alone, mixed] {
        let (first, second) = (one.open(&path).expect("opened"), two.open(&path).expect("opened"));
        for module in [&first, &second] {
            let has = module.function("has_context").expect("there").call(&[]).expect("called");
            assert!(has.to::<bool>().expect("a boolean"));
        }
        // A variable of each copy, and what the process has for all.
        assert_eq!((int(&first, "count"), int(&first, "count"), int(&second, "count")), (1, 2, 1));
        assert_eq!(forward(&second, c"test.global").expect("found"), 11);
        let count = first.function("count").expect("there");
        assert!(copies() > before);
        std::fs::write(&path, b"").expect("replaced while it runs");
        drop((first, second));
        assert_eq!(count.call(&[]).expect("called").to::<i64>().expect("an integer"), 3);
        drop(count);
        assert_eq!(copies(), before, "closed with the last of its functions");
    }
}

/// LIB-11: a library that searches beside itself is libtvm_ffi's module where it lies, unless
/// modules would have to be hidden.
#[test]
fn a_library_that_is_opened_where_it_lies_has_its_module_too() {
    let Some(tvm) = Tvm::found() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let host = host(Some(&tvm.library));
    set_up(&tvm, &host, folder.path());
    let flags = &["-Wl,-rpath,$ORIGIN"][..];
    let alone = host.open(&caller(&tvm, folder.path(), "alone", &[], flags)).expect("opened");
    assert_eq!((forward(&alone, c"test.global").expect("found"), int(&alone, "own")), (11, 3));
    let modules: Modules<'_> = &[("_lib", b"", &[1]), ("toy", b"toy_", &[])];
    let error = host.open(&caller(&tvm, folder.path(), "mixed", modules, flags)).expect_err("refused");
    assert!(error.to_string().contains("opened where it lies"), "{error}");
    assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
}
