//! Tests of rules LIBLLVM-O1 to LIBLLVM-O3.

use std::ffi::CString;
use std::os::raw::{c_char, c_void};

use chipdock_plugin_api::ErrorKind;
use chipdock_test_support::setup::missing;

use super::super::library::VARIABLE;
use super::super::{Wanted, compile, library};
use super::{ADD, call_add, child, host_options, is_child, load};

/// What opening says in a process in which the variable names `file`.
fn refused(test: &str, file: &str) -> Option<String> {
    if !is_child() {
        child(&format!("opening::{test}"), &[(VARIABLE, file)]);
        return None;
    }
    let error = library().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::UNAVAILABLE);
    Some(error.message().into_owned())
}

#[test]
fn libllvm_o2_a_missing_library_is_an_answer_with_names_and_package() {
    let Some(message) =
        refused("libllvm_o2_a_missing_library_is_an_answer_with_names_and_package", "libnot-there.so.7")
    else {
        return;
    };
    for part in ["libnot-there.so.7: ", "cannot open shared object file", "libllvm19", VARIABLE, "LLVM 19"] {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
    assert!(!message.contains("libLLVM.so.19.1"), "nothing else is tried: {message}");
}

#[test]
fn libllvm_o2_a_library_that_is_put_there_later_is_found() {
    if !is_child() {
        child(
            "opening::libllvm_o2_a_library_that_is_put_there_later_is_found",
            &[(VARIABLE, "libnot-there.so.7")],
        );
        return;
    }
    assert!(library().is_err());
    // SAFETY: no other thread of this process reads the environment.
    unsafe { std::env::remove_var(VARIABLE) };
    call_add(&load(ADD, "add"));
}

/// Another major is refused by its number, and by that of its symbols where it does not tell.
fn libllvm_o1_another_major(major: &str, test: &str) {
    let file = format!("libLLVM-{major}.so.1");
    if open(&file).is_null() {
        return missing(&format!("LLVM {major}, which is refused: no {file} (Debian: libllvm{major})"));
    }
    let Some(message) = refused(test, &file) else { return };
    assert!(message.contains(&format!("{file}: expected LLVM 19, found LLVM {major}")), "{message}");
}

#[test]
fn libllvm_o1_llvm_14_is_refused_by_its_number() {
    libllvm_o1_another_major("14", "libllvm_o1_llvm_14_is_refused_by_its_number");
}

#[test]
fn libllvm_o1_llvm_15_is_refused_by_its_number() {
    libllvm_o1_another_major("15", "libllvm_o1_llvm_15_is_refused_by_its_number");
}

#[test]
fn libllvm_o1_a_library_that_is_no_llvm_is_refused() {
    let Some(message) = refused("libllvm_o1_a_library_that_is_no_llvm_is_refused", "libm.so.6") else {
        return;
    };
    assert!(message.contains("libm.so.6: expected LLVM 19, found a library that is no LLVM"), "{message}");
}

#[test]
fn libllvm_o1_a_file_that_is_no_library_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "not a library").unwrap();
    let name = std::env::var(VARIABLE).unwrap_or_else(|_| file.path().to_str().unwrap().to_owned());
    let Some(message) = refused("libllvm_o1_a_file_that_is_no_library_is_refused", &name) else { return };
    assert!(message.contains("file too short") || message.contains("invalid ELF header"), "{message}");
}

/// Opens a library so that its symbols are everybody's; null when it is not there.
fn open(name: &str) -> *mut c_void {
    let name = CString::new(name).unwrap();
    // SAFETY: an LLVM, whose constructors register options; it is never closed.
    unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) }
}

/// Asks another LLVM, through its own functions, to read IR and to print it.
fn print_with(library: *mut c_void) -> String {
    let function = |name: &str| {
        let name = CString::new(name).unwrap();
        // SAFETY: an open library.
        let found = unsafe { libc::dlsym(library, name.as_ptr()) };
        assert!(!found.is_null());
        found
    };
    // SAFETY: LLVM's functions with the types that they have had for long; the context is left to
    // the process.
    unsafe {
        let create: unsafe extern "C" fn() -> *mut c_void =
            std::mem::transmute(function("LLVMContextCreate"));
        let buffer: unsafe extern "C" fn(*const c_char, usize, *const c_char) -> *mut c_void =
            std::mem::transmute(function("LLVMCreateMemoryBufferWithMemoryRangeCopy"));
        let parse: unsafe extern "C" fn(*mut c_void, *mut c_void, *mut *mut c_void, *mut *mut c_char) -> i32 =
            std::mem::transmute(function("LLVMParseIRInContext"));
        let print: unsafe extern "C" fn(*mut c_void) -> *mut c_char =
            std::mem::transmute(function("LLVMPrintModuleToString"));
        let ir = "define i32 @f(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n";
        let (mut module, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
        let text = buffer(ir.as_ptr().cast(), ir.len(), c"other".as_ptr());
        assert_eq!(parse(create(), text, &raw mut module, &raw mut message), 0);
        std::ffi::CStr::from_ptr(print(module)).to_string_lossy().into_owned()
    }
}

#[test]
fn libllvm_o3_two_other_llvms_in_the_process_are_not_met() {
    if !is_child() {
        child("opening::libllvm_o3_two_other_llvms_in_the_process_are_not_met", &[]);
        return;
    }
    let before = open("libLLVM-15.so.1");
    if before.is_null() {
        return missing("two LLVMs in one process: no libLLVM-15.so.1 (Debian: libllvm15)");
    }
    assert!(print_with(before).contains("%y = add i32 %x, 1"));
    call_add(&load(ADD, "add"));
    let after = open("libLLVM-14.so.1");
    if after.is_null() {
        missing("three LLVMs in one process: no libLLVM-14.so.1 (Debian: libllvm14)");
    } else {
        assert!(print_with(after).contains("%y = add i32 %x, 1"));
    }
    assert!(print_with(before).contains("%y = add i32 %x, 1"));
    call_add(&load(ADD, "add"));
    let wanted = Wanted { ir: true, ..Wanted::default() };
    let ir = compile(library().unwrap(), ADD, &host_options(), wanted, &|| false).unwrap().ir;
    assert!(ir.contains("x float>"), "{ir}");
}
