//! Functions that pass between a host and a library of others (VALUE-F1 to VALUE-F3 of
//! `host/src/boundary/values.rs`, LIB-9).
//!
//! Each test is a process of its own (as nextest runs them).

use chipdock_host::{Any, AnyView, Module};
use chipdock_test_interop::tvm::{Tvm, host};
use chipdock_test_support::command::Scratch;

/// A library in C++ whose functions take and return functions.
const LIBRARY: &str = r#"
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
#include <string>
namespace ffi = tvm::ffi;
static ffi::Any apply(ffi::Function f, int64_t x) { return f(x); }
static ffi::String recover(ffi::Function f) {
  try {
    f();
    return "no error";
  } catch (const ffi::Error &error) {
    return std::string(error.kind()) + ": " + std::string(error.message());
  }
}
static ffi::Function thrower() {
  return ffi::Function::FromTyped([](int64_t x) -> int64_t {
    if (x > 0) return x + 1;
    TVM_FFI_THROW(IndexError) << x << " is not above zero";
    TVM_FFI_UNREACHABLE();
  });
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply, apply)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(recover, recover)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(thrower, thrower)
"#;

fn opened(folder: &Scratch) -> Option<Module> {
    let tvm = Tvm::found()?;
    let library = tvm.library_of(&folder.path("."), "callbacks", LIBRARY, &[]);
    let module = host(Some(&tvm.library)).open(&library);
    Some(module.unwrap_or_else(|error| panic!("{error}")))
}

/// VALUE-F2, VALUE-F3: a function of the host is called by the library; its error is the library's
/// while it handles it, and the host's again where it does not.
#[test]
fn a_library_calls_a_function_of_the_host() {
    let folder = Scratch::new();
    let Some(module) = opened(&folder) else { return };
    let apply = module.function("apply").expect("a function");
    let side = apply.host().side();
    let double = chipdock_plugin_api::Function::from_fn(side, |args: &[AnyView<'_>]| {
        Ok(Any::from(args[0].to::<i64>()? * 2))
    });
    let double = Any::from(double);
    assert_eq!(apply.call(&[double.view(), AnyView::from(21)]).expect("called").to::<i64>().ok(), Some(42));
    let fails = chipdock_plugin_api::Function::from_fn(
        side,
        |_: &[AnyView<'_>]| -> Result<Any, chipdock_plugin_api::Error> {
            let kind = chipdock_plugin_api::ErrorKind::KEY_ERROR;
            Err(chipdock_plugin_api::Error::new(kind, "nothing by that name").frame(
                "callbacks.rs",
                7,
                "fails",
            ))
        },
    );
    let fails = Any::from(fails);
    let recover = module.function("recover").expect("a function");
    let recovered = recover.call(&[fails.view()]).expect("it handles the error");
    assert_eq!(recovered.to::<String>().expect("a text"), "KeyError: nothing by that name");
    let error = apply.call_raising(&[fails.view(), AnyView::from(1)]).expect_err("it does not");
    assert_eq!((error.kind().as_str(), error.message().as_ref()), ("KeyError", "nothing by that name"));
    assert!(error.backtrace().contains("line 7, in fails"), "{}", error.backtrace());
    assert!(side.take_error().is_none(), "no error is left");
}

/// VALUE-F3: a function that the library returns is the host's to call, and so are its errors.
#[test]
fn a_function_of_a_library_is_returned_and_called() {
    let folder = Scratch::new();
    let Some(module) = opened(&folder) else { return };
    let thrower = module.function("thrower").expect("a function");
    let side = thrower.host().side();
    let made = thrower.call(&[]).expect("called").to::<chipdock_plugin_api::Function>().expect("a function");
    assert_eq!(made.call(side, &[AnyView::from(4)]).expect("called").to::<i64>().ok(), Some(5));
    let error = made.call(side, &[AnyView::from(-4)]).expect_err("below zero");
    assert_eq!((error.kind().as_str(), error.message().as_ref()), ("IndexError", "-4 is not above zero"));
    // Given back to the library, it is called there, and its error comes back whole.
    let apply = module.function("apply").expect("a function");
    let made = Any::from(made);
    let error = apply.call_raising(&[made.view(), AnyView::from(-5)]).expect_err("below zero");
    assert_eq!((error.kind().as_str(), error.message().as_ref()), ("IndexError", "-5 is not above zero"));
    assert_eq!(apply.call(&[made.view(), AnyView::from(5)]).expect("called").to::<i64>().ok(), Some(6));
}
