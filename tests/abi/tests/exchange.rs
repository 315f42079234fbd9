//! Tests of DLPack's exchange table: one that a framework hands over, and one of ours.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use chipdock_plugin_api::abi::{
    CHIPDOCK_DLPACK_READ_ONLY, ChipdockDLPackVersion, ChipdockManagedTensorVersioned,
};
use chipdock_plugin_api::exchange::{Exchange, ExchangeHeader, ExchangeServer, ExchangeTable, SetError};
use chipdock_plugin_api::{
    Access, Any, CPU, ChipdockDataType, ChipdockDevice, ChipdockTensor, Element, Error, ErrorKind, HostRef,
    Required, Str, Tensor, TensorView,
};
use chipdock_test_support::leaks;

/// Tests of the framework run one after the other: it has one state.
static ONE: Mutex<()> = Mutex::new(());
/// What the framework does next: 0 what it is asked, else one of the faults below.
static FAULT: AtomicI32 = AtomicI32::new(0);
/// Objects that the framework made and that were not released.
static OBJECTS: AtomicUsize = AtomicUsize::new(0);

const FAILS: i32 = 1;
const ANSWERS_NULL: i32 = 2;
const READ_ONLY: i32 = 3;
const OTHER_MAJOR: i32 = 4;
const OTHER_SHAPE: i32 = 5;
const SAYS_NOTHING: i32 = 6;
const SAYS_NULL: i32 = 7;

fn one() -> std::sync::MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs with a fault of the framework.
fn with<R>(fault: i32, body: impl FnOnce() -> R) -> R {
    FAULT.store(fault, Ordering::Relaxed);
    let result = body();
    FAULT.store(0, Ordering::Relaxed);
    result
}

fn fault() -> i32 {
    FAULT.load(Ordering::Relaxed)
}

// ---- A framework: its objects are boxed tensors ----

unsafe extern "C" fn allocate(
    prototype: *mut ChipdockTensor,
    out: *mut *mut ChipdockManagedTensorVersioned,
    context: *mut c_void,
    set_error: Option<SetError>,
) -> i32 {
    let say = |kind: &CStr, message: &CStr| {
        // SAFETY: the caller's function, with its context.
        unsafe { set_error.expect("there")(context, kind.as_ptr(), message.as_ptr()) };
    };
    match fault() {
        FAILS => {
            say(c"MemoryError", c"none left");
            say(c"ValueError", c"the second is not the cause");
            return -1;
        }
        SAYS_NOTHING => return -7,
        SAYS_NULL => {
            // SAFETY: a framework that keeps nothing.
            unsafe { set_error.expect("there")(context, ptr::null(), ptr::null()) };
            return -1;
        }
        ANSWERS_NULL => return 0,
        _ => {}
    }
    // SAFETY: the caller's prototype, and its place.
    unsafe {
        let asked = TensorView::from_raw(prototype).expect("a description");
        let count = asked.element_count().expect("a number") as usize;
        let shape = if fault() == OTHER_SHAPE { &[1][..] } else { asked.shape() };
        let count = if fault() == OTHER_SHAPE { 1 } else { count };
        let made = Tensor::from_slice(shape, &vec![0.5_f32; count]).expect("made");
        *out = made.into_dlpack_versioned(if fault() == READ_ONLY { CHIPDOCK_DLPACK_READ_ONLY } else { 0 });
    }
    0
}

unsafe extern "C" fn from_object(object: *mut c_void, out: *mut *mut ChipdockManagedTensorVersioned) -> i32 {
    match fault() {
        FAILS => return -1,
        ANSWERS_NULL => return 0,
        _ => {}
    }
    // SAFETY: an object of this framework, and the caller's place.
    unsafe {
        let tensor = (*object.cast::<Tensor>()).clone();
        let managed =
            tensor.into_dlpack_versioned(if fault() == READ_ONLY { CHIPDOCK_DLPACK_READ_ONLY } else { 0 });
        if fault() == OTHER_MAJOR {
            (*managed).version = ChipdockDLPackVersion { major: 2, minor: 0 };
        }
        *out = managed;
    }
    0
}

unsafe extern "C" fn to_object(managed: *mut ChipdockManagedTensorVersioned, out: *mut *mut c_void) -> i32 {
    // SAFETY: the caller gave it up.
    let tensor = unsafe { Tensor::from_dlpack_versioned(managed, Access::ReadOnly, Required::NOTHING) };
    let tensor = tensor.expect("a tensor of ours");
    match fault() {
        FAILS => return -1,
        ANSWERS_NULL => return 0,
        _ => {}
    }
    OBJECTS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the caller's place.
    unsafe { *out = Box::into_raw(Box::new(tensor)).cast() };
    0
}

unsafe extern "C" fn view_object(object: *mut c_void, out: *mut ChipdockTensor) -> i32 {
    if fault() == FAILS {
        return -1;
    }
    // SAFETY: an object of this framework, and the caller's place.
    unsafe { *out = *(*object.cast::<Tensor>()).view().raw() };
    0
}

unsafe extern "C" fn work_stream(device_type: i32, device_id: i32, out: *mut *mut c_void) -> i32 {
    if device_id > 3 {
        return -1;
    }
    // SAFETY: the caller's place.
    unsafe {
        *out = ptr::without_provenance_mut(if device_type == 1 { 0 } else { 0x700 + device_id as usize })
    };
    0
}

const VERSION: ChipdockDLPackVersion = ChipdockDLPackVersion { major: 1, minor: 3 };

fn table() -> ExchangeTable {
    ExchangeTable {
        header: ExchangeHeader { version: VERSION, prev_api: ptr::null() },
        managed_tensor_allocator: Some(allocate),
        managed_tensor_from_py_object_no_sync: Some(from_object),
        managed_tensor_to_py_object_no_sync: Some(to_object),
        dltensor_from_py_object_no_sync: Some(view_object),
        current_work_stream: Some(work_stream),
    }
}

fn read(table: &ExchangeTable) -> Result<Exchange, Error> {
    // SAFETY: a table of this framework, whose functions live as long as the process; the table
    // itself is only read.
    unsafe { Exchange::from_raw(ptr::from_ref(table).cast()) }
}

#[test]
fn a_table_is_checked_before_it_is_used() {
    assert_eq!(read(&table()).unwrap().version().minor, 3);
    // SAFETY: null, and an address that no table has, are answered.
    let errors = unsafe {
        [ptr::null(), ptr::without_provenance(0x1001)].map(|at| Exchange::from_raw(at).unwrap_err())
    };
    assert!(errors.iter().all(|error| error.kind() == ErrorKind::VALUE_ERROR), "{errors:?}");
}

/// Tables with nulls exist: each is an error of what needs it, and of nothing else.
#[test]
fn a_null_function_is_missed_where_it_is_needed() {
    let _one = one();
    let mut tensor = Tensor::from_slice(&[2], &[1.0_f32, 2.0]).unwrap();
    let object = ptr::from_mut(&mut tensor).cast::<c_void>();
    let streams_only = ExchangeTable {
        managed_tensor_allocator: None,
        managed_tensor_from_py_object_no_sync: None,
        managed_tensor_to_py_object_no_sync: None,
        dltensor_from_py_object_no_sync: None,
        ..table()
    };
    let without_streams = ExchangeTable { current_work_stream: None, ..table() };
    let missed = |error: Error, name: &str| {
        assert_eq!(error.kind(), ErrorKind::BROKEN_PLUGIN);
        assert!(error.message().contains(name), "{error}");
    };
    let exchange = read(&streams_only).unwrap();
    // SAFETY: an object of this framework.
    unsafe {
        missed(exchange.allocator().unwrap_err(), "managed_tensor_allocator");
        missed(exchange.allocate(&[1], f32::DTYPE, CPU).unwrap_err(), "managed_tensor_allocator");
        let taken = exchange.tensor_of(object, Access::ReadOnly, Required::NOTHING);
        missed(taken.unwrap_err(), "managed_tensor_from_py_object_no_sync");
        missed(exchange.with_view(object, |_| ()).unwrap_err(), "managed_tensor_from_py_object_no_sync");
        let made = exchange.object_of(tensor.clone(), 0);
        missed(made.unwrap_err(), "managed_tensor_to_py_object_no_sync");
        assert_eq!(tensor.object().strong_count(), 1);
        assert!(exchange.current_work_stream(CPU).is_ok());
        let exchange = read(&without_streams).unwrap();
        missed(exchange.current_work_stream(CPU).unwrap_err(), "current_work_stream");
        assert!(exchange.allocate(&[1], f32::DTYPE, CPU).is_ok());
    }
}

#[test]
fn older_tables_are_found_behind_newer_ones() {
    let newer =
        |major, prev_api| ExchangeHeader { version: ChipdockDLPackVersion { major, minor: 0 }, prev_api };
    let ours = table();
    let second = newer(2, &raw const ours.header);
    let third = newer(3, &raw const second);
    let find = |header: &ExchangeHeader| {
        // SAFETY: a chain of live headers, of which only that of major 1 is a whole table.
        unsafe { Exchange::from_raw(ptr::from_ref(header).cast()) }
    };
    assert_eq!(find(&third).unwrap().version().major, 1);
    let lone = newer(3, ptr::null());
    let error = find(&lone).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UNSUPPORTED);
    assert!(error.message().contains("found 3.0"), "{error}");
    let old = newer(0, ptr::null());
    assert_eq!(find(&old).unwrap_err().kind(), ErrorKind::UNSUPPORTED);
    // A chain that has no end.
    let mut circle = newer(5, ptr::null());
    circle.prev_api = &raw const circle;
    assert_eq!(find(&circle).unwrap_err().kind(), ErrorKind::UNSUPPORTED);
}

#[test]
fn objects_come_in_and_go_out() {
    let _one = one();
    leaks::assert_none(|| {
        let exchange = read(&table()).unwrap();
        let tensor = Tensor::from_slice(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
        // SAFETY: objects of this framework.
        unsafe {
            let object = exchange.object_of(tensor.clone(), 0).unwrap();
            let back =
                exchange.tensor_of(object, Access::ReadWrite, Required { alignment_bytes: 4, compact: true });
            let back = back.unwrap();
            assert_eq!(back.view().data(), tensor.view().data(), "nothing is copied");
            let seen = exchange.with_view(object, |view| (view.shape().to_vec(), view.data())).unwrap();
            assert_eq!(seen, (vec![2, 2], tensor.view().data()));
            let mut without = table();
            without.dltensor_from_py_object_no_sync = None;
            let seen = read(&without).unwrap().with_view(object, |view| view.data()).unwrap();
            assert_eq!(seen, tensor.view().data(), "by the managed tensor");
            drop(Box::from_raw(object.cast::<Tensor>()));
            drop(back);
        }
        assert_eq!(tensor.object().strong_count(), 1, "every deleter was called");
    });
}

#[test]
fn refusals_leave_nothing_behind() {
    let _one = one();
    leaks::assert_none(|| {
        let exchange = read(&table()).unwrap();
        let mut tensor = Tensor::from_slice(&[2], &[1.0_f32, 2.0]).unwrap();
        let object = ptr::from_mut(&mut tensor).cast::<c_void>();
        // SAFETY: an object of this framework.
        let ask = |fault, access, required| unsafe {
            with(fault, || exchange.tensor_of(object, access, required)).map(drop)
        };
        let kind = |result: Result<(), Error>| result.unwrap_err().kind();
        assert_eq!(kind(ask(FAILS, Access::ReadOnly, Required::NOTHING)), ErrorKind::RUNTIME_ERROR);
        assert_eq!(kind(ask(ANSWERS_NULL, Access::ReadOnly, Required::NOTHING)), ErrorKind::BROKEN_PLUGIN);
        assert_eq!(kind(ask(READ_ONLY, Access::ReadWrite, Required::NOTHING)), ErrorKind::VALUE_ERROR);
        assert!(ask(READ_ONLY, Access::ReadOnly, Required::NOTHING).is_ok());
        assert_eq!(kind(ask(OTHER_MAJOR, Access::ReadOnly, Required::NOTHING)), ErrorKind::UNSUPPORTED);
        let far = Required { alignment_bytes: 1 << 40, compact: false };
        assert_eq!(kind(ask(0, Access::ReadOnly, far)), ErrorKind::VALUE_ERROR);
        // SAFETY: null is answered; an object of this framework.
        unsafe {
            let null = exchange.tensor_of(ptr::null_mut(), Access::ReadOnly, Required::NOTHING);
            assert_eq!(null.unwrap_err().kind(), ErrorKind::VALUE_ERROR);
            assert_eq!(
                exchange.with_view(ptr::null_mut(), |_| ()).unwrap_err().kind(),
                ErrorKind::VALUE_ERROR
            );
            let failed = with(FAILS, || exchange.with_view(object, |_| ()));
            assert_eq!(failed.unwrap_err().kind(), ErrorKind::RUNTIME_ERROR);
            for (fault, expected) in
                [(FAILS, ErrorKind::RUNTIME_ERROR), (ANSWERS_NULL, ErrorKind::BROKEN_PLUGIN)]
            {
                let made = with(fault, || exchange.object_of(tensor.clone(), 0));
                assert_eq!(made.unwrap_err().kind(), expected);
            }
        }
        assert_eq!(tensor.object().strong_count(), 1, "what was taken was deleted, once");
    });
    assert_eq!(OBJECTS.load(Ordering::Relaxed) % 2, 0);
}

#[test]
fn streams_are_answered() {
    let exchange = read(&table()).unwrap();
    // SAFETY: a framework without Python.
    let ask = |device_type, device_id| unsafe {
        exchange.current_work_stream(ChipdockDevice { device_type, device_id }).map(|stream| stream.addr())
    };
    assert_eq!((ask(1, 0).unwrap(), ask(2, 1).unwrap()), (0, 0x701));
    assert_eq!(ask(2, 9).unwrap_err().kind(), ErrorKind::RUNTIME_ERROR);
}

#[test]
fn tensors_are_allocated() {
    let _one = one();
    leaks::assert_none(|| {
        let exchange = read(&table()).unwrap();
        let ask = |fault, shape: &[i64]| with(fault, || exchange.allocate(shape, f32::DTYPE, CPU));
        for shape in [&[][..], &[3], &[0, 2], &[2; 9]] {
            let tensor = ask(0, shape).unwrap();
            assert_eq!(tensor.view().shape(), shape);
            assert!(tensor.to_vec::<f32>().unwrap().iter().all(|value| *value == 0.5));
        }
        let error = ask(FAILS, &[2]).unwrap_err();
        assert_eq!(
            (error.kind(), &*error.message()),
            (ErrorKind::MEMORY_ERROR, "none left"),
            "the first is the cause"
        );
        let error = ask(SAYS_NULL, &[2]).unwrap_err();
        assert_eq!((error.kind(), &*error.message()), (ErrorKind::RUNTIME_ERROR, "without a message"));
        let error = ask(SAYS_NOTHING, &[2]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BROKEN_PLUGIN);
        assert!(error.message().contains("-7"), "{error}");
        for fault in [ANSWERS_NULL, OTHER_SHAPE] {
            assert_eq!(ask(fault, &[2]).unwrap_err().kind(), ErrorKind::BROKEN_PLUGIN);
        }
        assert_eq!(ask(READ_ONLY, &[2]).unwrap_err().kind(), ErrorKind::VALUE_ERROR, "nobody can write it");
        for shape in [&[-1][..], &[i64::MAX, 3]] {
            assert_eq!(
                ask(FAILS, shape).unwrap_err().kind(),
                ErrorKind::VALUE_ERROR,
                "the framework is not asked"
            );
        }
        let elsewhere = exchange.allocate(&[2], f32::DTYPE, ChipdockDevice { device_type: 2, device_id: 0 });
        assert_eq!(elsewhere.unwrap_err().kind(), ErrorKind::BROKEN_PLUGIN, "it made one of host memory");
        // SAFETY: the framework's allocator.
        let same =
            unsafe { Tensor::from_managed_alloc(exchange.allocator().unwrap(), &[2], f32::DTYPE, CPU) };
        assert_eq!(same.unwrap().to_vec::<f32>().unwrap(), [0.5; 2]);
    });
}

// ---- A table of ours ----

struct Ours;

impl ExchangeServer for Ours {
    fn host() -> HostRef {
        HostRef::standalone()
    }

    fn allocate(shape: &[i64], dtype: ChipdockDataType, device: ChipdockDevice) -> Result<Tensor, Error> {
        if device.device_type != CPU.device_type {
            return Err(Error::new(ErrorKind::UNSUPPORTED, "only host\0memory"));
        }
        assert_ne!(shape, [13], "a bug of the server");
        if shape == [1 << 40] {
            return Err(Error::new(ErrorKind::OUT_OF_MEMORY, "too much"));
        }
        assert_eq!(dtype.bits, 32);
        Tensor::from_slice(shape, &vec![0.25_f32; shape.iter().product::<i64>() as usize])
    }

    fn current_work_stream(device: ChipdockDevice) -> Result<*mut c_void, Error> {
        match device.device_type {
            1 => Ok(ptr::null_mut()),
            2 => Ok(ptr::without_provenance_mut(0x42)),
            _ => Err(Error::new(ErrorKind::VALUE_ERROR, "no such device")),
        }
    }
}

fn ours() -> Exchange {
    // SAFETY: a table of this process.
    unsafe { Exchange::from_raw(ExchangeTable::of::<Ours>().as_ptr()) }.unwrap()
}

fn raised() -> ErrorKind {
    HostRef::standalone().take_error().expect("an error is raised in place of an exception").kind()
}

#[test]
fn our_table_is_one_table() {
    let table = ExchangeTable::of::<Ours>();
    assert_eq!((table.header.version.major, table.header.version.minor), (1, 3));
    assert!(table.header.prev_api.is_null() && table.dltensor_from_py_object_no_sync.is_some());
    assert_eq!(table.as_ptr().addr() % 8, 0);
}

#[test]
fn our_objects_are_tensor_objects() {
    leaks::assert_none(|| {
        let tensor = Tensor::from_slice(&[3], &[1.0_f32, 2.0, 3.0]).unwrap();
        let object = tensor.object().as_ptr().cast::<c_void>();
        // SAFETY: tensor objects.
        unsafe {
            let back = ours().tensor_of(object, Access::ReadWrite, Required::NOTHING).unwrap();
            assert_eq!(back.view().data(), tensor.view().data());
            assert_eq!(ours().with_view(object, |view| view.shape().to_vec()).unwrap(), [3]);
            let made = ours().object_of(back, 0).unwrap();
            let made = Tensor::from_object(chipdock_plugin_api::ObjectRef::from_raw(
                ptr::NonNull::new(made.cast()).unwrap(),
            ));
            assert_eq!(made.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0]);
            drop(made);
            assert_eq!(tensor.object().strong_count(), 1);

            // What it refuses, it says through the host.
            assert!(ours().object_of(tensor.clone(), CHIPDOCK_DLPACK_READ_ONLY).is_err());
            assert_eq!(raised(), ErrorKind::VALUE_ERROR);
            assert_eq!(tensor.object().strong_count(), 1, "taken over in any case");
            let text = Any::from(Str::new("longer than seven bytes")).into_raw();
            let other = ours().tensor_of(text.value.v_object.cast(), Access::ReadOnly, Required::NOTHING);
            assert_eq!(
                (other.unwrap_err().kind(), raised()),
                (ErrorKind::RUNTIME_ERROR, ErrorKind::TYPE_ERROR)
            );
            drop(Any::from_raw(text));

            let table = ExchangeTable::of::<Ours>();
            let mut managed = ptr::null_mut();
            let from = table.managed_tensor_from_py_object_no_sync.unwrap();
            assert_eq!((from(ptr::null_mut(), &mut managed), raised()), (-1, ErrorKind::VALUE_ERROR));
            assert_eq!((from(object, ptr::null_mut()), raised()), (-1, ErrorKind::VALUE_ERROR));
            let to = table.managed_tensor_to_py_object_no_sync.unwrap();
            let mut out = ptr::null_mut();
            assert_eq!((to(ptr::null_mut(), &mut out), raised()), (-1, ErrorKind::VALUE_ERROR));
            let view = table.dltensor_from_py_object_no_sync.unwrap();
            assert_eq!((view(object, ptr::null_mut()), raised()), (-1, ErrorKind::VALUE_ERROR));
        }
        assert_eq!(tensor.object().strong_count(), 1, "without a place nothing is made");
    });
}

#[test]
fn our_allocator_and_streams_answer() {
    leaks::assert_none(|| {
        let exchange = ours();
        assert_eq!(exchange.allocate(&[2], f32::DTYPE, CPU).unwrap().to_vec::<f32>().unwrap(), [0.25; 2]);
        let elsewhere = exchange.allocate(&[2], f32::DTYPE, ChipdockDevice { device_type: 2, device_id: 0 });
        let error = elsewhere.unwrap_err();
        assert_eq!((error.kind(), &*error.message()), (ErrorKind::UNSUPPORTED, "only host\u{fffd}memory"));
        let error = exchange.allocate(&[1 << 40], f32::DTYPE, CPU).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MEMORY_ERROR, "as Python calls it");
        // SAFETY: a table without Python.
        let stream = |device_type| unsafe {
            exchange
                .current_work_stream(ChipdockDevice { device_type, device_id: 0 })
                .map(|stream| stream.addr())
        };
        assert_eq!((stream(1).unwrap(), stream(2).unwrap()), (0, 0x42));
        assert_eq!(
            (stream(9).unwrap_err().kind(), raised()),
            (ErrorKind::RUNTIME_ERROR, ErrorKind::VALUE_ERROR)
        );
    });
}

/// P8: its message is kept by the test runner, so that nothing is said of leaks.
#[test]
fn p8_a_panic_of_our_server_is_an_error() {
    assert_eq!(ours().allocate(&[13], f32::DTYPE, CPU).unwrap_err().kind(), ErrorKind::PANIC);
}

/// A consumer that gives no place for errors, and nonsense.
#[test]
fn our_allocator_takes_nonsense() {
    static SAID: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn count(_: *mut c_void, kind: *const c_char, message: *const c_char) {
        assert!(!kind.is_null() && !message.is_null());
        SAID.fetch_add(1, Ordering::Relaxed);
    }
    let allocate = ExchangeTable::of::<Ours>().managed_tensor_allocator.unwrap();
    let mut out = ptr::null_mut();
    let mut negative = ChipdockTensor {
        data: ptr::null_mut(),
        device: CPU,
        ndim: -4,
        dtype: f32::DTYPE,
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    // SAFETY: wrong on purpose.
    unsafe {
        assert_eq!(allocate(ptr::null_mut(), &mut out, ptr::null_mut(), Some(count)), -1);
        assert_eq!(allocate(&mut negative, &mut out, ptr::null_mut(), Some(count)), -1);
        assert_eq!(allocate(&mut negative, &mut out, ptr::null_mut(), None), -1);
    }
    assert!(out.is_null());
    assert_eq!(SAID.load(Ordering::Relaxed), 2);
}

#[test]
fn memcheck() {
    chipdock_test_support::memcheck::run(module_path!(), &[]);
}
