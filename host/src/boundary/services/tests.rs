use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{CHIPDOCK_ERROR, CHIPDOCK_PANIC, ChipdockAny, ChipdockStr};
use chipdock_plugin_api::text::static_str;

use super::*;
use crate::boundary::instance::{Ends, Instance};
use crate::boundary::plugin_table::PluginTable;
use crate::boundary::registrar::{DeviceTypes, Staging};
use crate::boundary::session::{PROGRESS, Session};
use crate::boundary::slots::tests::ask_for_panic;
use crate::bounds::{MESSAGE_BYTES_MAX, NAME_BYTES_MAX};
use crate::open::origin::Origin;
use crate::{Host, HostOptions};

/// Calls with a panic in the callback of that name; answers what the call answered and the error
/// that was raised.
fn with_panic<R>(services: &Services, what: &'static str, call: impl FnOnce() -> R) -> (R, String) {
    ask_for_panic(Some(what));
    let answer = call();
    ask_for_panic(None);
    let error = services.take().map(|error| from_api(&error)).unwrap();
    assert_eq!(*error.kind(), ErrorKind::Panic, "{what}: {error}");
    (answer, error.message().to_owned())
}

fn host() -> Host {
    Host::new(HostOptions::isolated()).unwrap()
}

const NAME: ChipdockStr = static_str("name");

/// HOST-A7: the table that plugins are given.
#[test]
fn a_panic_in_a_service_is_an_error() {
    let host = host();
    let services = host.0.services;
    let (table, device) = (services.table(), api::CPU);
    let mut out = api::Any::NONE.into_raw();
    // SAFETY: the table's own `self_`, strings and places that live for the call.
    unsafe {
        with_panic(services, "raise", || (table.raise)(table.self_, NAME, NAME));
        with_panic(services, "raise_object", || (table.raise_object)(table.self_, &out));
        with_panic(services, "take_error", || (table.take_error)(table.self_, &mut out));
        with_panic(services, "log", || (table.log)(table.self_, 1, NAME));
        let (status, message) =
            with_panic(services, "function", || (table.function)(table.self_, NAME, &mut out));
        assert_eq!(status, CHIPDOCK_ERROR);
        assert!(message.starts_with("`function` of the host panicked: as asked"), "{message}");
        let mut stream = ptr::dangling_mut();
        let (status, _) = with_panic(services, "current_stream", || {
            (table.current_stream)(table.self_, device, &mut stream)
        });
        assert_eq!(status, CHIPDOCK_ERROR);
        let (status, _) =
            with_panic(services, "query", || (table.query)(table.self_, NAME, 1, ptr::null_mut()));
        assert_eq!(status, CHIPDOCK_ERROR);
    }
}

/// HOST-A7: what `init` is given.
#[test]
fn a_panic_in_the_registrar_is_an_error() {
    let host = host();
    let services = host.0.services;
    unsafe extern "C" fn delete(_: *mut c_void) {}
    unsafe extern "C" fn shut_down(_: *mut c_void) -> i32 {
        0
    }
    let ends = Ends { shutdown: shut_down, release: delete };
    let instance = Instance::new("nobody", Origin::of_program(), services.of_instances(), ends);
    let staging =
        Staging::new(services.loans, instance, Arc::new(std::sync::Mutex::new(DeviceTypes::default())));
    let loan = staging.lend();
    let (registrar, null) = (loan.table(), ptr::null_mut());
    unsafe extern "C" fn call(_: *mut c_void, _: *const ChipdockAny, _: i32, _: *mut ChipdockAny) -> i32 {
        0
    }
    let (call, delete) = (chipdock_abi::ChipdockSafeCall(call), chipdock_abi::ChipdockDeleter(delete));
    // SAFETY: the registrar is lent; nothing of the arguments is looked at.
    unsafe {
        let r = &*registrar;
        let statuses = [
            with_panic(services, "device_api", || {
                (r.device_api)(r.self_, NAME, 0, NAME, null, ptr::null(), ptr::null_mut())
            }),
            with_panic(services, "target_kind", || (r.target_kind)(r.self_, NAME, NAME, null, ptr::null())),
            with_panic(services, "codegen", || (r.codegen)(r.self_, NAME, NAME, null, ptr::null())),
            with_panic(services, "module_loader", || {
                (r.module_loader)(r.self_, NAME, NAME, null, ptr::null())
            }),
            with_panic(services, "function", || (r.function)(r.self_, NAME, null, call, delete)),
            with_panic(services, "extend", || (r.extend)(r.self_, NAME, NAME, 1, ptr::null(), delete)),
        ];
        assert!(statuses.iter().all(|(status, _)| *status == CHIPDOCK_PANIC));
    }
}

/// HOST-A7: what a build is given.
#[test]
fn a_panic_in_a_build_session_is_an_error() {
    let host = host();
    let services = host.0.services;
    let session = Session::new(services.loans, Arc::default(), Some(Box::new(|_| {})));
    let loan = session.lend();
    // SAFETY: the session is lent; strings live for the calls.
    unsafe {
        let s = &*loan.table();
        let statuses = [
            with_panic(services, "index", || (s.index)(s.self_, NAME)),
            with_panic(services, "section", || (s.section)(s.self_, NAME, NAME, 1, ptr::null(), 0)),
            with_panic(services, "diagnostic", || (s.diagnostic)(s.self_, ptr::null())),
            with_panic(services, "is_cancelled", || (s.is_cancelled)(s.self_)),
            with_panic(services, "query", || (s.query)(s.self_, NAME, 1, ptr::null_mut())),
            with_panic(services, "step", || (PROGRESS.step)(s.self_, NAME)),
        ];
        assert!(statuses.iter().all(|(status, _)| *status == CHIPDOCK_PANIC));
    }
}

/// HOST-A7: the environment of compiled code.
#[test]
fn a_panic_in_the_environment_is_an_error() {
    let host = host();
    let services = host.0.services;
    let env = host.environment();
    unsafe extern "C" fn body(_: i32, _: i32, _: *mut c_void) -> i32 {
        0
    }
    let body = chipdock_abi::ChipdockParallelBody(body);
    let (mut number, mut stream, mut function) = (0, ptr::null_mut(), ptr::null());
    let mut interface = chipdock_abi::ChipdockInterface::NONE;
    // SAFETY: the environment itself, strings and places that live for the calls.
    unsafe {
        with_panic(services, "env.raise", || {
            (env.raise)(env, c"K".as_ptr(), c"m".as_ptr(), c"f".as_ptr());
        });
        let (data, _) =
            with_panic(services, "env.allocate_workspace", || (env.allocate_workspace)(env, 1, 0, 64));
        assert!(data.is_null());
        let statuses = [
            with_panic(services, "env.current_stream", || (env.current_stream)(env, 1, 0, &mut stream)),
            with_panic(services, "env.current_device", || (env.current_device)(env, 1, &mut number)),
            with_panic(services, "env.free_workspace", || (env.free_workspace)(env, 1, 0, ptr::null_mut())),
            with_panic(services, "env.set_device", || (env.set_device)(env, 1, 0)),
            with_panic(services, "env.device_type", || (env.device_type)(env, c"f".as_ptr(), &mut number)),
            with_panic(services, "env.imported", || (env.imported)(env, c"f".as_ptr(), &mut function)),
            with_panic(services, "env.query", || (env.query)(env, c"f".as_ptr(), 1, &mut interface)),
            with_panic(services, "env.parallel_launch", || {
                (env.parallel_launch)(env, body, ptr::null_mut(), 0)
            }),
        ];
        assert!(statuses.iter().all(|(status, _)| *status == CHIPDOCK_ERROR));
    }
}

/// HOST-A7: whoever takes the log may panic; a plugin that logs, and a thread that waits, see
/// nothing of it.
#[test]
fn a_log_that_panics_stays_where_it_is() {
    let options = HostOptions { log: Arc::new(|_, _| panic!("as asked")), ..HostOptions::isolated() };
    let host = Host::new(options).unwrap();
    host.0.services.log(LogLevel::Warning, "a line");
    let table = host.0.services.table();
    // SAFETY: the table's own `self_` and a string that lives for the call.
    unsafe { (table.log)(table.self_, 1, NAME) };
    assert!(host.0.services.take().is_none());
}

/// HOST-A3: lines and errors are cut.
#[test]
fn a_text_of_many_bytes_is_cut() {
    let lines = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&lines);
    let log = Arc::new(move |_, line: &str| seen.lock().unwrap().push(line.len()));
    let host = Host::new(HostOptions { log, ..HostOptions::isolated() }).unwrap();
    let services = host.0.services;
    let table = services.table();
    let long = "x".repeat(64 << 20);
    let text = api::text::str_out(&long);
    // SAFETY: the table's own `self_` and strings that live for the calls.
    unsafe {
        (table.log)(table.self_, 2, text);
        (table.log)(table.self_, 2, ChipdockStr { size: 1 << 62, ..text });
        (table.raise)(table.self_, text, text);
    }
    assert!(lines.lock().unwrap().iter().all(|length| *length < MESSAGE_BYTES_MAX + 100));
    let error = services.take().unwrap();
    assert!(error.kind().as_str().len() < NAME_BYTES_MAX + 100);
    assert!(error.message().len() < MESSAGE_BYTES_MAX + 100);
    services.raise(api::Error::new(api::ErrorKind::new("K"), long));
    let error = services.check(-1, String::new).unwrap_err();
    assert!(error.message().len() < MESSAGE_BYTES_MAX + 100);
    assert!(error.message().ends_with("bytes in all)"));
}

/// HOST-A2: an error that leads to itself ends.
#[test]
fn a_circle_of_causes_is_refused() {
    let host = host();
    let services = host.0.services;
    let error = api::Error::new(api::ErrorKind::VALUE_ERROR, "round and round");
    let object = error.object().as_ptr().cast::<chipdock_abi::ChipdockErrorObject>();
    let table = services.table();
    // SAFETY: the only reference to an error object; what is written is taken back before it is
    // released.
    unsafe {
        (*object).cause_chain = error.object().as_ptr();
        (table.raise_object)(table.self_, &error.as_any_view().into_raw());
        (*object).cause_chain = ptr::null_mut();
    }
    let found = services.check(-1, String::new).unwrap_err();
    assert_eq!(*found.kind(), ErrorKind::BrokenPlugin);
    assert!(found.message().contains("an error with more than 32 causes"), "{found}");
}

/// HOST-A10: whose words an error is, its message says first.
#[test]
fn host_a10_an_error_begins_with_who_raised_it() {
    let host = host();
    let services = host.0.services;
    let said = |error: Error| (error.message().to_owned(), error.speaker().map(str::to_owned));
    let failed = || said(services.check(-1, String::new).unwrap_err());
    let [bold, meek] =
        ["bold", "meek"].map(|name| PluginTable::leaked(services, name, Vec::new(), Vec::new()).table());
    // SAFETY: tables with their own `self_`, strings that live for the calls.
    unsafe {
        (bold.raise)(bold.self_, static_str("Io"), static_str("run `curl … | sh` to repair it"));
    }
    let words = "plugin \"bold\" says: run `curl … | sh` to repair it".to_owned();
    assert_eq!(failed(), (words, Some("bold".to_owned())));
    // What another passes on stays the words of whoever raised it; what it raises anew is its own.
    let error = api::Error::new(api::ErrorKind::VALUE_ERROR, "passed on");
    // SAFETY: as above, and a value that lives for the call.
    unsafe { (meek.raise_object)(meek.self_, &error.as_any_view().into_raw()) };
    assert_eq!(failed(), ("plugin \"meek\" says: passed on".to_owned(), Some("meek".to_owned())));
    services.raise_own(&Error::new(ErrorKind::Value, "our own"));
    assert_eq!(failed(), ("our own".to_owned(), None));
    services.raise(api::Error::new(api::ErrorKind::VALUE_ERROR, "n is 0"));
    let of_function = services.slots.check_function(-1, "add", "c").unwrap_err();
    assert_eq!(said(of_function), ("function \"add\" says: n is 0".to_owned(), Some("c".to_owned())));
    // SAFETY: as above.
    unsafe { (bold.raise)(bold.self_, static_str("Io"), static_str("in a call")) };
    let of_plugin = services.slots.check_function(-1, "add", "c").unwrap_err();
    assert_eq!(said(of_plugin), ("plugin \"bold\" says: in a call".to_owned(), Some("bold".to_owned())));
    assert_eq!(services.slots.check_function(0, "add", "c"), Ok(()));
}

#[test]
fn p3_6_an_unknown_severity_counts_as_the_next_graver() {
    use crate::boundary::session::Severity;
    let severities = [i32::MIN, 0, 1, 2, 3, 4, i32::MAX].map(Severity::of);
    let (error, note) = (Severity::Error, Severity::Note);
    assert_eq!(severities, [error, error, error, Severity::Warning, note, note, note]);
    let levels = [-1, 0, 1, 2, 3, 4, 5, i32::MAX].map(LogLevel::of);
    let (error, debug) = (LogLevel::Error, LogLevel::Debug);
    assert_eq!(levels, [error, error, error, LogLevel::Warning, LogLevel::Info, debug, debug, debug]);
}

/// H.10: a stream is never guessed.
#[test]
fn h10_the_stream_of_a_device_that_is_not_there_is_an_error() {
    let host = host();
    // SAFETY: H.1, the table of a host.
    let table = unsafe { api::HostRef::new(host.0.services.table()) };
    assert_eq!(table.current_stream(api::CPU).unwrap(), api::Stream::DEFAULT);
    for (device_type, device_id) in [(4711, 0), (1, 1), (1, -1)] {
        let device = chipdock_abi::ChipdockDevice { device_type, device_id };
        assert!(table.current_stream(device).is_err(), "{device:?}");
    }
    drop(host);
    assert_eq!(table.current_stream(api::CPU).unwrap_err().kind(), api::ErrorKind::UNAVAILABLE);
}
