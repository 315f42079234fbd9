//! Tests of the rules that no test of a plugin shows.

use std::ffi::{CStr, c_void};
use std::ptr;

use chipdock_abi::{CHIPDOCK_DEVICE_CPU, CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockParallelBody, ChipdockStr};
use chipdock_plugin_api::{Any, Error, ErrorKind, Function};

use crate::{Lent, RawHost, Service};

fn error_of(host: &RawHost) -> String {
    let error = host.take_error().expect("an error was raised");
    format!("{}: {}", error.kind(), error.message())
}

/// RAW-4.
#[test]
fn an_error_that_no_failed_call_reported_is_counted() {
    let host = RawHost::leak();
    let raise = || host.reference().raise(&Error::new(ErrorKind::VALUE_ERROR, "x"));
    assert!(host.check(CHIPDOCK_ERROR, "it").is_err_and(|error| error.kind() == ErrorKind::BROKEN_PLUGIN));
    raise();
    assert_eq!(host.n_stray_errors(), 1, "it lies in the slot");
    assert!(host.check(CHIPDOCK_ERROR, "it").is_err_and(|error| error.kind() == ErrorKind::VALUE_ERROR));
    assert_eq!(host.n_stray_errors(), 0, "it was reported");
    raise();
    assert!(host.check(CHIPDOCK_OK, "it").is_ok());
    assert_eq!(host.n_stray_errors(), 1, "the call succeeded");
    std::thread::scope(|scope| scope.spawn(raise).join()).expect("raised");
    assert_eq!((host.n_stray_errors(), host.take_error().is_none()), (2, true), "on another thread");
}

/// RAW-6.
#[test]
fn texts_that_are_not_utf8_are_counted() {
    let host = RawHost::leak();
    let table = host.reference().table();
    let text = |bytes: &'static [u8]| ChipdockStr { data: bytes.as_ptr().cast(), size: bytes.len() };
    // SAFETY: H.2, the table's function with its `self_` and live texts.
    unsafe { (table.raise)(table.self_, text(b"ValueError"), text(b"a \xff")) };
    assert_eq!(error_of(host), "ValueError: a \u{fffd}");
    assert_eq!(host.n_not_utf8(), 1);
}

fn allocate(lent: &'static Lent, device_type: i32) -> *mut c_void {
    // SAFETY: an environment with its table.
    unsafe { (lent.table().allocate_workspace)(lent.table(), device_type, 0, 100) }
}

fn free(lent: &'static Lent, data: *mut c_void) -> i32 {
    // SAFETY: an environment with its table, and a piece that it allocated.
    unsafe { (lent.table().free_workspace)(lent.table(), CHIPDOCK_DEVICE_CPU, 0, data) }
}

/// RAW-8.
#[test]
fn workspace_is_counted_limited_and_kept_in_order() {
    let host = RawHost::leak();
    let lent = Lent::with(host, Service { is_ordered: true, ..Service::default() });
    let (a, b) = (allocate(lent, CHIPDOCK_DEVICE_CPU), allocate(lent, CHIPDOCK_DEVICE_CPU));
    assert_eq!((a.addr() % 64, b.addr() % 64, lent.live_workspaces()), (0, 0, 2));
    lent.limit_workspaces(2);
    assert!(allocate(lent, CHIPDOCK_DEVICE_CPU).is_null());
    assert_eq!(error_of(host), "MemoryError: no workspace left");
    assert!(allocate(lent, 99).is_null());
    assert_eq!(error_of(host), "Unsupported: this environment has workspace in host memory only");
    assert_eq!((free(lent, b), free(lent, a), lent.live_workspaces()), (0, 0, 0));
    let (a, _b) = (allocate(lent, CHIPDOCK_DEVICE_CPU), allocate(lent, CHIPDOCK_DEVICE_CPU));
    assert_eq!(free(lent, a), CHIPDOCK_ERROR);
    assert_eq!(error_of(host), "RuntimeError: workspace freed out of order");

    let any_order = Lent::new(host);
    let (a, b) = (allocate(any_order, CHIPDOCK_DEVICE_CPU), allocate(any_order, CHIPDOCK_DEVICE_CPU));
    assert_eq!((free(any_order, a), free(any_order, b), any_order.live_workspaces()), (0, 0, 0));
}

unsafe extern "C" fn body(task: i32, count: i32, data: *mut c_void) -> i32 {
    // SAFETY: `data` is the environment that the loop is started with.
    let lent: &'static Lent = unsafe { &*data.cast::<Lent>() };
    let piece = allocate(lent, CHIPDOCK_DEVICE_CPU);
    if piece.is_null() {
        return CHIPDOCK_ERROR;
    }
    if task > 0 {
        lent.host().reference().raise(&Error::new(ErrorKind::VALUE_ERROR, format!("{task} of {count}")));
    }
    free(lent, piece).max(i32::from(task > 0))
}

fn parallel(lent: &'static Lent, tasks_max: i32) -> i32 {
    let data = ptr::from_ref(lent).cast_mut().cast();
    // SAFETY: an environment with its table, and a body with its data.
    unsafe { (lent.table().parallel_launch)(lent.table(), ChipdockParallelBody(body), data, tasks_max) }
}

/// RAW-9.
#[test]
fn tasks_have_threads_and_the_first_error_is_the_callers() {
    let host = RawHost::leak();
    let alone = Lent::new(host);
    assert_eq!((parallel(alone, 9), alone.take_n_tasks()), (CHIPDOCK_OK, 0));
    let lent = Lent::with(host, Service { n_threads: 3, is_ordered: true, ..Service::default() });
    assert_eq!((parallel(lent, 1), lent.take_n_tasks()), (CHIPDOCK_OK, 1));
    assert_eq!((parallel(lent, 9), lent.take_n_tasks()), (CHIPDOCK_ERROR, 3));
    assert_eq!(error_of(host), "ValueError: 1 of 3");
    lent.limit_workspaces(0);
    assert_eq!(parallel(lent, 9), CHIPDOCK_ERROR);
    assert_eq!(error_of(host), "MemoryError: no workspace left");
    assert_eq!(host.n_stray_errors(), 0);
}

/// RAW-7, RAW-10.
#[test]
fn an_environment_passes_on_the_answer_of_its_service() {
    let host = RawHost::leak();
    let function = Function::from_fn(host.reference(), |_| Ok(Any::from(7)));
    let lent = Lent::with(host, Service { imports: vec![("seven", function)], ..Service::default() });
    let env = lent.table();
    let import = |name: &CStr| {
        let mut found = ptr::null();
        // SAFETY: an environment with its table, a live name, a place for the answer.
        (unsafe { (env.imported)(env, name.as_ptr(), &mut found) }, found.is_null())
    };
    assert_eq!((import(c"seven"), lent.n_asked()), ((CHIPDOCK_OK, false), 1));
    assert_eq!((import(c"eight"), lent.n_asked()), ((CHIPDOCK_ERROR, true), 2));
    assert_eq!(error_of(host), "NotFound: nothing is imported as \"eight\"");

    let (mut device, mut stream) = (-1, ptr::dangling_mut());
    let mut ask = || {
        // SAFETY: an environment with its table, and places for the answers.
        unsafe {
            assert_eq!((env.current_device)(env, 2, &mut device), CHIPDOCK_OK);
            assert_eq!((env.current_stream)(env, 2, 0, &mut stream), CHIPDOCK_OK);
        }
        (device, stream.addr())
    };
    assert_eq!(ask(), (0, 0));
    lent.make_current(3, ptr::without_provenance_mut(0x40));
    assert_eq!(ask(), (3, 0x40));

    // SAFETY: an environment with its table, and live texts.
    unsafe { (env.raise)(env, c"ValueError".as_ptr(), c"wrong".as_ptr(), c"here".as_ptr()) };
    assert_eq!((error_of(host).as_str(), lent.location().as_deref()), ("ValueError: wrong", Some("here")));
    assert_eq!((lent.released(), lent.used_late()), (0, 0));
    // SAFETY: an environment with its table.
    unsafe { (env.release)(env) };
    assert_eq!((lent.released(), ask(), lent.used_late()), (1, (3, 0x40), 2));
}
