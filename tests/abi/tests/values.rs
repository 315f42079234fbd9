//! Tests of the value layer: layouts, reference counts, strings, containers, functions, errors
//! (rules V.1 to V.13).

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use chipdock_plugin_api::abi::{
    CHIPDOCK_NEW_REF_COUNT, CHIPDOCK_TYPE_ARRAY, CHIPDOCK_TYPE_BYTES, CHIPDOCK_TYPE_ERROR,
    CHIPDOCK_TYPE_OBJECT_RVALUE_REF, CHIPDOCK_TYPE_SHAPE, CHIPDOCK_TYPE_SMALL_BYTES, CHIPDOCK_TYPE_SMALL_STR,
    CHIPDOCK_TYPE_STR, ChipdockAny, ChipdockAnyValue, ChipdockArrayObject, ChipdockByteArrayObject,
    ChipdockErrorObject, ChipdockFunctionObject, ChipdockObject, ChipdockSafeCall, ChipdockShapeObject,
    ChipdockStr,
};
use chipdock_plugin_api::text::str_out;
use chipdock_plugin_api::{
    Any, AnyView, Array, Bytes, ChipdockDataType, ChipdockDevice, Error, ErrorKind, Fault, Function, HostRef,
    ObjectRef, Shape, Str, Tensor,
};
use chipdock_test_support::leaks;
use proptest::prelude::*;

fn host() -> HostRef {
    HostRef::standalone()
}

/// The 16 bytes of a value.
fn bytes_of(raw: ChipdockAny) -> [u8; 16] {
    // SAFETY: 16 initialised bytes, as V.1 wants and these tests check.
    unsafe { core::mem::transmute(raw) }
}

// ---- Objects ----

thread_local! {
    static DELETED: RefCell<Vec<i32>> = const { RefCell::new(Vec::new()) };
}

/// An object of somebody else, whose deleter records its flags and frees nothing.
#[repr(C)]
struct Foreign {
    object: ChipdockObject,
}

unsafe extern "C" fn record(_self: *mut c_void, flags: i32) {
    DELETED.with_borrow_mut(|deleted| deleted.push(flags));
}

fn foreign() -> Foreign {
    let combined_ref_count = CHIPDOCK_NEW_REF_COUNT;
    Foreign {
        object: ChipdockObject { combined_ref_count, type_index: 128, padding: 0, deleter: Some(record) },
    }
}

/// Takes over the one reference of a foreign object that outlives the result.
fn own(foreign: &mut Foreign) -> ObjectRef {
    // SAFETY: a live object with one reference, which moves into the result.
    unsafe { ObjectRef::from_raw(NonNull::from(&mut foreign.object)) }
}

fn deleted() -> Vec<i32> {
    DELETED.take()
}

#[test]
fn v12_last_reference_deletes_both() {
    let mut object = foreign();
    let first = own(&mut object);
    let second = first.clone();
    assert_eq!(first.strong_count(), 2);
    drop(first);
    assert!(deleted().is_empty());
    drop(second);
    assert_eq!(deleted(), [3]);
}

#[test]
fn v12_weak_references_keep_the_memory() {
    let mut object = foreign();
    let strong = own(&mut object);
    let weak = strong.downgrade();
    let other = weak.clone();
    assert!(weak.upgrade().is_some_and(|again| again.strong_count() == 2));
    drop(strong);
    assert_eq!(deleted(), [1], "the content goes with the last strong reference");
    assert!(weak.upgrade().is_none());
    drop(weak);
    assert!(deleted().is_empty());
    drop(other);
    assert_eq!(deleted(), [2], "the memory goes with the last weak one");
}

#[test]
fn v12_deleter_may_be_null() {
    let mut object = foreign();
    object.object.deleter = None;
    drop(own(&mut object));
    assert_eq!(object.object.combined_ref_count, 1 << 32);
}

#[test]
fn v12_counts_are_shared_between_threads() {
    let dropped = Arc::new(AtomicUsize::new(0));
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let counted = Counted(Arc::clone(&dropped));
    let function = Function::from_fn(host(), move |_| {
        let _ = &counted;
        Ok(Any::NONE)
    });
    let weak = function.object().downgrade();
    thread::scope(|scope| {
        for _ in 0..4 {
            let (function, weak) = (function.clone(), weak.clone());
            scope.spawn(move || {
                for _ in 0..1000 {
                    drop(function.clone());
                    drop(weak.upgrade());
                    drop(weak.clone());
                }
            });
        }
    });
    assert_eq!(function.object().strong_count(), 1);
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
    drop(function);
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    assert!(weak.upgrade().is_none());
}

#[test]
fn v13_sixteen_zero_bytes_lie_before_an_object() {
    let objects = [
        Any::from("longer than seven bytes"),
        Any::from(Bytes::new(&[7; 20])),
        Any::from(Shape::new(&[1, 2])),
        Any::from(Array::new([Any::from(1)])),
        Any::from(Error::new(ErrorKind::VALUE_ERROR, "text")),
        Any::from(Function::from_fn(host(), |_| Ok(Any::NONE))),
        Any::from(Tensor::from_slice(&[2], &[1.0_f32, 2.0]).unwrap()),
    ];
    for any in &objects {
        let object = any.view().object().unwrap();
        // SAFETY: V.13, the bytes before one of our objects are ours.
        let prefix = unsafe { *object.as_ptr().cast::<[u64; 2]>().sub(1) };
        assert_eq!(prefix, [0, 0], "{any:?}");
        assert_eq!(object.as_ptr() as usize % 16, 0, "{any:?}");
        // SAFETY: a live object.
        let header = unsafe { &*object.as_ptr() };
        assert_eq!((header.type_index, header.padding), (any.type_index(), 0));
    }
}

// ---- Values ----

#[test]
fn v1_unused_bytes_are_zero() {
    let dtype = ChipdockDataType { code: 2, bits: 32, lanes: 1 };
    for any in [
        Any::NONE,
        Any::from(-1),
        Any::from(true),
        Any::from(1.5),
        Any::from(dtype),
        Any::from(ChipdockDevice { device_type: 1, device_id: 0 }),
    ] {
        let bytes = bytes_of(any.into_raw());
        assert_eq!(bytes[4..8], [0; 4]);
    }
    assert_eq!(bytes_of(Any::from(dtype).into_raw())[8..], [2, 32, 1, 0, 0, 0, 0, 0]);
    assert_eq!(bytes_of(Any::NONE.into_raw()), [0; 16]);
    assert_eq!(bytes_of(Any::from("ab").into_raw())[8..], [b'a', b'b', 0, 0, 0, 0, 0, 0]);
}

proptest! {
    #[test]
    fn v5_strings_of_up_to_seven_bytes_lie_in_the_value(text in "\\PC{0,9}") {
        leaks::assert_none(|| {
            let any = Any::from(text.as_str());
            assert_eq!(any.to::<Str>().unwrap().as_str(), text);
            assert_eq!(any.to::<String>().unwrap(), text);
            let raw = any.view().into_raw();
            if text.len() <= 7 {
                assert_eq!((raw.type_index, raw.small_length as usize), (CHIPDOCK_TYPE_SMALL_STR, text.len()));
                let mut expected = [0; 8];
                expected[..text.len()].copy_from_slice(text.as_bytes());
                assert_eq!(bytes_of(raw)[8..], expected);
            } else {
                assert_eq!((raw.type_index, raw.small_length), (CHIPDOCK_TYPE_STR, 0));
                // SAFETY: V.5, a string object.
                let (object, end) = unsafe {
                    let object = &*raw.value.v_object.cast::<ChipdockByteArrayObject>();
                    (object, *object.bytes.data.add(object.bytes.size))
                };
                assert_eq!((object.bytes.size, end), (text.len(), 0), "a NUL follows");
            }
        });
    }

    #[test]
    fn v5_bytes_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
        leaks::assert_none(|| {
            let any = Any::from(Bytes::new(&bytes));
            assert_eq!(&*any.to::<Bytes>().unwrap(), bytes.as_slice());
            let small = bytes.len() <= 7;
            let expected = if small { CHIPDOCK_TYPE_SMALL_BYTES } else { CHIPDOCK_TYPE_BYTES };
            assert_eq!(any.type_index(), expected);
        });
    }
}

#[test]
fn v5_borrowed_strings_are_copied_when_kept() {
    leaks::assert_none(|| {
        let kept = AnyView::from_c_str(c"borrowed for the call").to_owned().unwrap();
        assert_eq!(kept.to::<String>().unwrap(), "borrowed for the call");
        assert_eq!(kept.type_index(), CHIPDOCK_TYPE_STR);
        let bad = AnyView::from_c_str(c"\xff").to::<Str>().unwrap_err();
        assert_eq!(bad.kind(), ErrorKind::VALUE_ERROR);
        assert_eq!(AnyView::from_c_str(c"\xff").to_owned().unwrap_err().kind(), ErrorKind::VALUE_ERROR);
    });
}

#[test]
fn v3_rvalue_references_are_moved_out() {
    leaks::assert_none(|| {
        let object = Any::from(Shape::new(&[4, 5])).view().object().unwrap();
        let mut place = object.clone().into_raw().as_ptr();
        let raw = ChipdockAny {
            type_index: CHIPDOCK_TYPE_OBJECT_RVALUE_REF,
            small_length: 0,
            value: ChipdockAnyValue { v_ptr: (&raw mut place).cast() },
        };
        // SAFETY: V.3, the place holds an owned object pointer that may be taken.
        let view = unsafe { AnyView::from_raw(raw) };
        assert_eq!(&*view.to::<Shape>().unwrap(), [4, 5], "looked through");
        assert_eq!(object.strong_count(), 2, "and not taken");
        let taken = view.to_owned().unwrap();
        assert!(place.is_null());
        assert_eq!((taken.type_index(), object.strong_count()), (CHIPDOCK_TYPE_SHAPE, 2));
        assert!(view.to_owned().unwrap().is_none(), "there is nothing left to take");
    });
}

#[test]
fn v6_shapes_and_nested_arrays() {
    leaks::assert_none(|| {
        let shape = Shape::new(&[2, 3, 5]);
        // SAFETY: V.6, a shape object.
        let raw = unsafe { &*shape.object().as_ptr().cast::<ChipdockShapeObject>() };
        assert_eq!((raw.size, &*shape), (3, &[2, 3, 5][..]));
        assert!(Shape::new(&[]).is_empty());

        let inner = Array::new(["a string of its own", "another long one"].map(Any::from));
        let outer = Array::new([Any::from(inner), Any::from(shape), Any::NONE, Any::from(7)]);
        let kept = Any::from(outer.clone());
        drop(outer);
        let outer = kept.to::<Array>().unwrap();
        assert_eq!(outer.as_slice().len(), 4);
        let inner = outer.at(0).unwrap().to::<Array>().unwrap();
        assert_eq!(inner.at(1).unwrap().to::<String>().unwrap(), "another long one");
        assert_eq!(outer.at(4).unwrap_err().kind(), ErrorKind::INDEX_ERROR);
        assert!(Array::new([]).as_slice().is_empty());
    });
}

#[test]
fn v6_an_array_drops_what_its_header_says() {
    leaks::assert_none(|| {
        let array = Array::new(["first, long enough", "second, long enough"].map(Any::from));
        let header = array.object().as_ptr().cast::<ChipdockArrayObject>();
        // SAFETY: we hold the only reference, so we may take the last element out, as C++'s
        // pop_back does.
        let popped = unsafe {
            (*header).size -= 1;
            Any::from_raw(*(*header).data.add(1))
        };
        assert_eq!(array.as_slice().len(), 1);
        drop(array);
        assert_eq!(popped.to::<String>().unwrap(), "second, long enough");
    });
}

#[test]
fn v6_arrays_convert_to_shapes() {
    leaks::assert_none(|| {
        let array = Any::from(Array::new([Any::from(2), Any::from(3)]));
        assert_eq!(&*array.to::<Shape>().unwrap(), [2, 3]);
        let bad = Any::from(Array::new([Any::from(2), Any::from("three")])).to::<Shape>().unwrap_err();
        assert_eq!(bad.kind(), ErrorKind::TYPE_ERROR);
        assert_eq!(Any::from(5).to::<Shape>().unwrap_err().kind(), ErrorKind::TYPE_ERROR);
        assert_eq!(array.type_index(), CHIPDOCK_TYPE_ARRAY);
    });
}

// ---- Functions ----

#[test]
fn v10_closures_are_called_with_borrowed_arguments() {
    leaks::assert_none(|| {
        let prefix = Str::new("a captured string, ");
        let join = Function::from_fn(host(), move |args| {
            let text: String = chipdock_plugin_api::argument(args, 0, "text")?;
            Ok(Any::from(format!("{prefix}{text}")))
        });
        let text = Str::new("and an argument");
        let result = join.call(host(), &[AnyView::from(&text)]).unwrap();
        assert_eq!(result.to::<String>().unwrap(), "a captured string, and an argument");
        // SAFETY: a function object.
        let raw = unsafe { &*join.object().as_ptr().cast::<ChipdockFunctionObject>() };
        assert!(raw.cpp_call.is_null());
    });
}

#[test]
fn v10_functions_are_values_and_call_each_other() {
    leaks::assert_none(|| {
        let apply_twice = Function::from_fn(host(), |args| {
            let function: Function = chipdock_plugin_api::argument(args, 0, "function")?;
            let once = function.call(host(), &args[1..])?;
            function.call(host(), &[once.view()])
        });
        let add = Function::from_fn(host(), |args| Ok(Any::from(args[0].to::<i64>()? + 1)));
        let result = apply_twice.call(host(), &[(&add).into(), 40.into()]).unwrap();
        assert_eq!(result.to::<i64>().unwrap(), 42);
        // An error goes through both, on the same thread.
        let text = Str::new("not a number");
        let error = apply_twice.call(host(), &[(&add).into(), (&text).into()]).unwrap_err();
        assert_eq!((error.kind(), &*error.message()), (ErrorKind::TYPE_ERROR, "expected int64, found str"));
        assert!(host().take_error().is_none());
    });
}

unsafe extern "C" fn fails_silently(
    _: *mut c_void,
    _: *const ChipdockAny,
    _: i32,
    _: *mut ChipdockAny,
) -> i32 {
    -1
}

unsafe extern "C" fn fails_with_status(
    _: *mut c_void,
    _: *const ChipdockAny,
    _: i32,
    _: *mut ChipdockAny,
) -> i32 {
    17
}

#[test]
fn p7_2_a_failure_without_an_error_is_a_broken_plugin() {
    leaks::assert_none(|| {
        for (call, word) in [
            (ChipdockSafeCall(fails_silently), "status -1"),
            (ChipdockSafeCall(fails_with_status), "status 17 (OutOfMemory)"),
        ] {
            // SAFETY: ignores its `self`; wrong on purpose in what it raises.
            let function = unsafe { Function::from_safe_call(call, ()) };
            let error = function.call(host(), &[]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BROKEN_PLUGIN);
            assert!(error.message().contains(word), "{error}");
        }
    });
}

#[test]
fn p8_2_panics_become_errors() {
    struct PanicsAgain;
    impl Drop for PanicsAgain {
        fn drop(&mut self) {
            panic!("while the payload is dropped");
        }
    }
    let text = Function::from_fn(host(), |_| panic!("on {}", "purpose"));
    let error = text.call(host(), &[]).unwrap_err();
    assert_eq!((error.kind(), error.kind().class()), (ErrorKind::PANIC, Fault::Bug));
    assert!(error.message().contains("on purpose"), "{error}");

    let value = Function::from_fn(host(), |_| std::panic::panic_any(PanicsAgain));
    assert_eq!(value.call(host(), &[]).unwrap_err().kind(), ErrorKind::PANIC);

    // A destructor that panics does not unwind into whoever gave back the last reference.
    let owner = PanicsAgain;
    drop(Function::from_fn(host(), move |_| {
        let _ = &owner;
        Ok(Any::NONE)
    }));
}

#[test]
fn v11_bad_calls_are_errors() {
    leaks::assert_none(|| {
        let function = Function::from_fn(host(), |args| Any::try_from(args.len()));
        let (call, self_) = (function.safe_call().0, function.object().as_ptr().cast());
        let mut result = Any::NONE.into_raw();
        // SAFETY: wrong on purpose: null and a negative count are answered with an error.
        unsafe {
            for (num_args, result) in [(-1, &raw mut result), (3, &raw mut result), (0, std::ptr::null_mut())]
            {
                assert_eq!(call(self_, std::ptr::null(), num_args, result), -1);
                let error = host().take_error().unwrap();
                assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{error}");
            }
            assert_eq!(bytes_of(result), [0; 16], "nothing was written");
            assert_eq!(call(self_, std::ptr::null(), 0, &raw mut result), 0);
        }
    });
}

#[test]
fn p9_1_parts_are_released_once() {
    static RELEASED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn call(
        self_: *mut c_void,
        _: *const ChipdockAny,
        _: i32,
        out: *mut ChipdockAny,
    ) -> i32 {
        // SAFETY: the `self_` given below, and a place for the result.
        unsafe { out.write(Any::from(*self_.cast::<i64>()).into_raw()) };
        0
    }
    unsafe extern "C" fn delete(self_: *mut c_void) {
        RELEASED.fetch_add(1, Ordering::Relaxed);
        // SAFETY: boxed below, released once.
        drop(unsafe { Box::from_raw(self_.cast::<i64>()) });
    }
    let before = RELEASED.load(Ordering::Relaxed);
    let self_ = Box::into_raw(Box::new(42_i64)).cast();
    let deleter = chipdock_plugin_api::abi::ChipdockDeleter(delete);
    // SAFETY: keeps the packed convention; the deleter releases what was boxed.
    let function = unsafe { Function::from_parts(self_, ChipdockSafeCall(call), deleter) };
    let again = function.clone();
    drop(function);
    assert_eq!(again.call(host(), &[]).unwrap().to::<i64>().unwrap(), 42);
    drop(again);
    assert_eq!(RELEASED.load(Ordering::Relaxed), before + 1);
}

// ---- Errors ----

#[test]
fn v7_errors_carry_texts_cause_and_backtrace() {
    leaks::assert_none(|| {
        let cause = Error::new(ErrorKind::IO, "no such file");
        let error = Error::with_cause(ErrorKind::UNAVAILABLE, "cannot open the driver", cause.clone());
        assert_eq!(cause.object().strong_count(), 2);
        assert_eq!(error.to_string(), "Unavailable: cannot open the driver; caused by IoError: no such file");
        assert_eq!(error.cause().unwrap().kind(), ErrorKind::IO);
        let located = error.context("device 0").frame("plugin.rs", 42, "open");
        assert_eq!(located.message(), "device 0: cannot open the driver");
        assert_eq!(located.cause().unwrap().message(), "no such file");
        assert_eq!(located.backtrace(), "File \"plugin.rs\", line 42, in open\n");
        let again = located.context("loading");
        assert_eq!(again.backtrace(), "File \"plugin.rs\", line 42, in open\n", "kept");
    });
}

/// Whether a NUL follows a text, as readers of TVM-FFI's errors expect.
///
/// # Safety
///
/// * A text of an error that this crate made.
unsafe fn is_terminated(text: ChipdockStr) -> bool {
    // SAFETY: V.7, a byte follows the text.
    unsafe { *text.data.cast::<u8>().add(text.size) == 0 }
}

#[test]
fn v7_a_nul_follows_each_text() {
    leaks::assert_none(|| {
        // Sizes at which a text without its NUL would end its memory.
        for size in [0, 1, 7, 8, 16, 24, 64, 4096] {
            let error = Error::new(ErrorKind::new("x".repeat(size)), "y".repeat(size));
            let located = error.clone().context("").frame("plugin.rs", 42, &"z".repeat(size));
            for error in [error, located] {
                // SAFETY: V.7, an error object.
                let raw = unsafe { &*error.object().as_ptr().cast::<ChipdockErrorObject>() };
                for text in [raw.kind, raw.message, raw.backtrace] {
                    // SAFETY: its texts.
                    assert!(unsafe { is_terminated(text) }, "{size}");
                }
                assert_eq!(raw.kind.size, size);
            }
        }
    });
}

#[test]
fn v7_others_may_change_the_backtrace() {
    leaks::assert_none(|| {
        let error = Error::new(ErrorKind::VALUE_ERROR, "text");
        // SAFETY: V.7, an error object; its update function, as Python and C++ call it.
        unsafe {
            let raw = &*error.object().as_ptr().cast::<ChipdockErrorObject>();
            let self_ = error.object().as_ptr().cast();
            for (text, mode, expected) in
                [("one\n", 1, "one\n"), ("two\n", 1, "one\ntwo\n"), ("three\n", 0, "three\n"), ("", 0, "")]
            {
                (raw.update_backtrace)(self_, &str_out(text), mode);
                assert_eq!(error.backtrace(), expected);
                assert!(is_terminated(raw.backtrace));
            }
            (raw.update_backtrace)(self_, std::ptr::null(), 0);
            assert!(raw.extra_context.is_null() && raw.cause_chain.is_null());
        }
    });
}

#[test]
fn h3_errors_are_raised_and_taken_on_one_thread() {
    leaks::assert_none(|| {
        assert!(host().take_error().is_none());
        let error = Error::new(ErrorKind::NOT_FOUND, "first");
        host().raise(&error);
        assert_eq!(error.object().strong_count(), 2, "raising borrows");
        host().raise(&Error::new(ErrorKind::NOT_FOUND, "second"));
        assert_eq!(error.object().strong_count(), 1, "the last one raised is the one reported");
        assert_eq!(host().take_error().unwrap().message(), "second");
        assert!(host().take_error().is_none(), "taking clears");
    });
    host().raise(&Error::new(ErrorKind::NOT_FOUND, "this thread's"));
    thread::scope(|scope| scope.spawn(|| assert!(host().take_error().is_none())).join().unwrap());
    assert!(host().take_error().is_some());
}

#[test]
fn h3_errors_can_be_raised_by_text_and_as_values() {
    leaks::assert_none(|| {
        let table = host().table();
        // SAFETY: H.2, live texts; and a value that is no error, wrong on purpose.
        unsafe {
            (table.raise)(table.self_, str_out("MyOwnKind"), str_out("text"));
            let error = host().take_error().unwrap();
            assert_eq!((error.kind().as_str(), error.kind().class()), ("MyOwnKind", Fault::Environment));
            assert_eq!(error.kind().status(), chipdock_plugin_api::abi::CHIPDOCK_ERROR);
            (table.raise_object)(table.self_, &Any::from(5).into_raw());
            assert_eq!(host().take_error().unwrap().kind(), ErrorKind::BROKEN_PLUGIN);
            (table.raise_object)(table.self_, std::ptr::null());
            assert_eq!(host().take_error().unwrap().kind(), ErrorKind::BROKEN_PLUGIN);
        }
        let any = Any::from(Error::new(ErrorKind::VALUE_ERROR, "as a value"));
        assert_eq!(any.type_index(), CHIPDOCK_TYPE_ERROR);
        assert_eq!(any.to::<Error>().unwrap().message(), "as a value");
    });
}

#[test]
fn p7_3_kinds_and_statuses_agree() {
    for status in (1..=6).chain(16..=20).chain(32..=34) {
        let kind = ErrorKind::from_status(status).unwrap();
        assert_eq!(kind.status(), status);
        let class = match status {
            1..=6 => Fault::Caller,
            16..=20 => Fault::Environment,
            _ => Fault::Bug,
        };
        assert_eq!(kind.class(), class, "{kind}");
    }
    for unknown in [0, -1, 7, 99] {
        assert_eq!(ErrorKind::from_status(unknown), None);
    }
    let unknown = ErrorKind::new("Timeout");
    for (status, fault) in [
        (1, Fault::Caller),
        (15, Fault::Caller),
        (21, Fault::Environment),
        (31, Fault::Environment),
        (40, Fault::Bug),
    ] {
        assert_eq!(unknown.class_with(status), fault, "P7.11: {status}");
        assert_eq!(ErrorKind::VALUE_ERROR.class_with(status), Fault::Caller);
    }
    assert_eq!(unknown.class_with(-1), unknown.class());
    assert_eq!(ErrorKind::KEY_ERROR.status(), ErrorKind::NOT_FOUND.status());
}

#[test]
fn memcheck() {
    // The panicking test forgets a payload on purpose: its destructor panics.
    chipdock_test_support::memcheck::run(module_path!(), &["p8_2"]);
}
