//! Registration with the libtvm_ffi of the process: FFI-1, FFI-2 and FFI-6.

use std::sync::Mutex;

use chipdock_abi::ChipdockSafeCall;
use chipdock_host::library::{TvmFfi, TvmMethodInfo};
use chipdock_plugin_api::kit::{PerProcess, carried, lock};
use chipdock_plugin_api::text::str_out;
use chipdock_plugin_api::{Any, AnyView, Error, Function, caught};

use crate::entry::{Entry, Type};
use crate::objects::{self, type_index};
use crate::table::ENTRIES;

/// Name under which TVM-FFI looks for the loader of embedded modules of our kind.
const LOADER: &str = "ffi.Module.load_from_bytes.chipdock";

/// Runs when the library is loaded.
extern "C" fn on_load() {
    // A failure leaves the functions of the library usable by their symbols.
    let _ = caught(register);
}

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

pub(crate) fn register_now(_: &[AnyView<'_>]) -> Result<Any, Error> {
    Ok(register().into())
}

/// Registers functions and types, once; returns whether the process has libtvm_ffi.
fn register() -> bool {
    static DONE: PerProcess<Mutex<bool>> = PerProcess::new(carried);
    let Some(tvm_ffi) = TvmFfi::present() else { return false };
    let mut done = lock(DONE.of_this());
    if std::mem::replace(&mut *done, true) {
        return true;
    }
    // Types belong to the copy of this library that was first, as its functions do.
    let is_first = ENTRIES.first().is_some_and(|entry| tvm_ffi.global(&global_name(entry)).is_none());
    for entry in ENTRIES {
        register_function(tvm_ffi, &global_name(entry), entry);
    }
    if let Some(entry) = ENTRIES.iter().find(|entry| entry.name == "load_embedded") {
        register_function(tvm_ffi, LOADER, entry);
    }
    for (key, index) in objects::types() {
        let index = type_index(key, index);
        if is_first {
            register_type(tvm_ffi, key, index);
        }
    }
    true
}

/// Calls `body` with an entry as TVM-FFI wants it described.
fn described<R>(name: &str, entry: &Entry, body: impl FnOnce(&TvmMethodInfo) -> R) -> R {
    let (doc, metadata) = (entry.documentation(), entry.metadata());
    // SAFETY: a function of this library, which ignores its `self` and is never unloaded while it
    // can be called.
    let function = unsafe { Function::from_safe_call(ChipdockSafeCall(entry.call), ()) };
    let function = Any::from(function);
    body(&TvmMethodInfo {
        name: str_out(name),
        doc: str_out(&doc),
        metadata: str_out(&metadata),
        flags: 0,
        method: function.view().into_raw(),
    })
}

/// Returns the name under which a function is registered.
fn global_name(entry: &Entry) -> String {
    format!("chipdock.{}", entry.name)
}

/// Registers a function, unless the name is taken (FFI-1).
fn register_function(tvm_ffi: &TvmFfi, name: &str, entry: &Entry) {
    if tvm_ffi.global(name).is_some() {
        return;
    }
    // An error: another thread was first.
    // SAFETY: a description that lives for the call.
    let _ = described(name, entry, |info| unsafe { tvm_ffi.register_global(info) });
}

/// Registers as methods of a type the functions that take an object of it first.
fn register_type(tvm_ffi: &TvmFfi, key: &str, index: i32) {
    let own = key.trim_start_matches("chipdock.").to_lowercase() + "_";
    let is_method =
        |entry: &&&Entry| entry.args.first().is_some_and(|(_, of)| matches!(of, Type::Of(of) if *of == key));
    for entry in ENTRIES.iter().filter(is_method) {
        let name = entry.name.strip_prefix(&own).unwrap_or(entry.name);
        // An error leaves the method to be called as a function.
        // SAFETY: a type that was just registered, and a description that lives for the call.
        let _ = described(name, entry, |info| unsafe { tvm_ffi.register_method(index, info) });
    }
}
