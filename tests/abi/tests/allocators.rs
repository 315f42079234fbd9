//! Tests of tensors over memory of an allocator (rules V.6, V.14 and the documentation of
//! `NdAlloc`).

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use chipdock_plugin_api::abi::{CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_TENSOR};
use chipdock_plugin_api::{
    Access, Any, AnyView, CPU, ChipdockDataType, ChipdockDevice, ChipdockTensor, Element, Error, ErrorKind,
    HostRef, NdAlloc, Required, Str, Tensor, TensorParts, TensorView, dtype, strided_size_bytes,
};
use chipdock_test_support::leaks;

/// Memory of the system, and how often it was asked for and given back.
struct Counted {
    allocated: AtomicUsize,
    freed: AtomicUsize,
    /// Sizes in bytes, of calls of both kinds.
    sizes: Mutex<Vec<u64>>,
}

static COUNTED: Counted =
    Counted { allocated: AtomicUsize::new(0), freed: AtomicUsize::new(0), sizes: Mutex::new(Vec::new()) };
/// Tests of the counts run one after the other.
static ONE: Mutex<()> = Mutex::new(());

struct Memory;

fn layout(size_bytes: u64) -> Layout {
    Layout::from_size_align(usize::try_from(size_bytes).unwrap().max(1), 64).unwrap()
}

// SAFETY: memory of the system's allocator, of the size that is asked for.
unsafe impl NdAlloc for Memory {
    fn allocate(&self, tensor: &TensorParts<'_>, size_bytes: u64) -> Result<*mut c_void, Error> {
        assert!(tensor.data.is_null());
        if size_bytes > 1 << 30 {
            return Err(Error::new(ErrorKind::OUT_OF_MEMORY, "none left"));
        }
        COUNTED.allocated.fetch_add(1, Ordering::Relaxed);
        COUNTED.sizes.lock().unwrap().push(size_bytes);
        // SAFETY: not of size 0.
        Ok(unsafe { alloc(layout(size_bytes)) }.cast())
    }

    unsafe fn free(&self, data: *mut c_void, size_bytes: u64, device: ChipdockDevice) {
        assert_eq!(device.device_type, CPU.device_type);
        COUNTED.freed.fetch_add(1, Ordering::Relaxed);
        COUNTED.sizes.lock().unwrap().push(size_bytes);
        // SAFETY: allocated above with that layout.
        unsafe { dealloc(data.cast(), layout(size_bytes)) };
    }
}

/// Runs a test of the counts; returns how often memory was asked for and given back, with the
/// sizes.
fn counted(body: impl FnOnce()) -> (usize, usize, Vec<u64>) {
    COUNTED.sizes.lock().unwrap().clear();
    let before = (COUNTED.allocated.load(Ordering::Relaxed), COUNTED.freed.load(Ordering::Relaxed));
    body();
    let after = (COUNTED.allocated.load(Ordering::Relaxed), COUNTED.freed.load(Ordering::Relaxed));
    let sizes = std::mem::take(&mut *COUNTED.sizes.lock().unwrap());
    (after.0 - before.0, after.1 - before.1, sizes)
}

#[test]
fn memory_is_freed_once_with_the_last_reference() {
    let _one = ONE.lock().unwrap();
    for axes in [0, 1, 6, 7, 12] {
        let seen = counted(|| {
            let tensor = Tensor::from_nd_alloc(Memory, &vec![2; axes], i16::DTYPE, CPU).unwrap();
            let view = tensor.view();
            assert!(view.is_compact() && view.byte_offset() == 0);
            assert_eq!(view.data().align_offset(64), 0);
            // SAFETY: 2^axes elements, written before anybody reads them.
            unsafe { view.as_mut_slice::<i16>() }.unwrap().fill(7);
            let kept = Any::from(tensor.clone());
            drop(tensor);
            assert_eq!(kept.to::<Tensor>().unwrap().to_vec::<i16>().unwrap(), vec![7; 1 << axes]);
        });
        assert_eq!(seen, (1, 1, vec![2 << axes; 2]), "{axes} axes");
    }
}

#[test]
fn strides_take_the_memory_that_they_reach() {
    let _one = ONE.lock().unwrap();
    let seen = counted(|| {
        let tensor = Tensor::from_nd_alloc_strided(Memory, &[3, 2], &[5, 2], f32::DTYPE, CPU).unwrap();
        assert_eq!(tensor.view().strides(), Some(&[5, 2][..]));
        assert!(!tensor.view().is_compact());
        // Two rows of five elements, two steps, and the last one.
        let last = tensor.view().data().cast::<f32>().wrapping_add(2 * 5 + 2);
        // SAFETY: the last element is the end of the memory.
        unsafe { last.write(1.0) };
    });
    assert_eq!(seen, (1, 1, vec![13 * 4, 13 * 4]));
    let size = |shape: &[i64], strides: &[i64], text| {
        strided_size_bytes(shape, strides, dtype::parse(text).unwrap()).map_err(|error| error.kind())
    };
    assert_eq!(size(&[], &[], "float64"), Ok(8));
    assert_eq!(size(&[4, 0], &[1 << 62, 1 << 62], "float64"), Ok(0));
    assert_eq!(size(&[1000], &[0], "float64"), Ok(8), "one element, repeated");
    assert_eq!(size(&[7], &[1], "int4"), Ok(4));
    for (shape, strides) in [
        (&[2, 2][..], &[1][..]),
        (&[2], &[-1]),
        (&[-1], &[1]),
        (&[i64::MAX], &[2]),
        (&[1 << 40, 1 << 40], &[1, 1]),
        (&[3], &[i64::MAX / 2]),
    ] {
        assert_eq!(size(shape, strides, "float64"), Err(ErrorKind::VALUE_ERROR), "{shape:?} {strides:?}");
    }
}

#[test]
fn nothing_is_allocated_for_nonsense_and_nothing_freed_that_was_not() {
    let _one = ONE.lock().unwrap();
    let seen = counted(|| {
        let kind = |result: Result<Tensor, Error>| result.unwrap_err().kind();
        let compact = |shape: &[i64]| kind(Tensor::from_nd_alloc(Memory, shape, f32::DTYPE, CPU));
        assert_eq!(compact(&[-1]), ErrorKind::VALUE_ERROR);
        assert_eq!(compact(&[i64::MAX, 3]), ErrorKind::VALUE_ERROR);
        assert_eq!(compact(&[1 << 40]), ErrorKind::OUT_OF_MEMORY, "the allocator's own");
        let strided = Tensor::from_nd_alloc_strided(Memory, &[2], &[1, 1], f32::DTYPE, CPU);
        assert_eq!(kind(strided), ErrorKind::VALUE_ERROR);
    });
    assert_eq!(seen, (0, 0, vec![]));
    let seen = counted(|| drop(Tensor::from_nd_alloc(Memory, &[4, 0], f32::DTYPE, CPU).unwrap()));
    assert_eq!(seen, (1, 1, vec![0, 0]), "no elements");
}

/// An allocator that has nothing, and says so by null.
struct Null;

// SAFETY: no memory is ever given.
unsafe impl NdAlloc for Null {
    fn allocate(&self, _: &TensorParts<'_>, _: u64) -> Result<*mut c_void, Error> {
        Ok(ptr::null_mut())
    }

    unsafe fn free(&self, data: *mut c_void, size_bytes: u64, _: ChipdockDevice) {
        assert!(data.is_null() && size_bytes == 0, "only a tensor without elements is made");
    }
}

#[test]
fn null_is_no_memory() {
    let error = Tensor::from_nd_alloc(Null, &[2], f32::DTYPE, CPU).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OUT_OF_MEMORY);
    assert!(error.message().contains("8 bytes"), "{}", error.message());
    assert_eq!(
        Tensor::from_nd_alloc(Null, &[2, 0], f32::DTYPE, CPU).unwrap().view().element_count().unwrap(),
        0
    );
}

/// V.14: a tensor over an allocator's memory goes out by both managed structs and comes back, and
/// is freed once.
#[test]
fn it_goes_through_dlpack_and_values() {
    let _one = ONE.lock().unwrap();
    let seen = counted(|| {
        leaks::assert_none(|| {
            let tensor = Tensor::from_nd_alloc(Memory, &[2, 2], i32::DTYPE, CPU).unwrap();
            // SAFETY: four elements, written before anybody reads them.
            unsafe { tensor.view().as_mut_slice::<i32>() }.unwrap().copy_from_slice(&[1, 2, 3, 4]);
            for (view, type_index) in [
                (AnyView::from(tensor.view()), CHIPDOCK_TYPE_DLTENSOR_PTR),
                (AnyView::from(&tensor), CHIPDOCK_TYPE_TENSOR),
            ] {
                assert_eq!(view.type_index(), type_index);
                assert_eq!(view.to::<TensorView<'_>>().unwrap().data(), tensor.view().data());
            }
            // SAFETY: exported just before, and owned here.
            let back = unsafe { Tensor::from_dlpack(tensor.into_dlpack(), Required::NOTHING) }.unwrap();
            let out = back.into_dlpack_versioned(0);
            // SAFETY: as above.
            let back =
                unsafe { Tensor::from_dlpack_versioned(out, Access::ReadWrite, Required::NOTHING) }.unwrap();
            assert_eq!(back.to_vec::<i32>().unwrap(), [1, 2, 3, 4]);
        });
    });
    assert_eq!((seen.0, seen.1), (2, 2));
}

// ---- The allocator of the environment ----

/// Makes what was asked for, as a framework's does.
unsafe extern "C" fn framework(prototype: *mut ChipdockTensor, out: *mut *mut c_void) -> i32 {
    // SAFETY: the prototype of the caller, and its place for an owned object.
    unsafe {
        assert!((*prototype).strides.is_null() && (*prototype).data.is_null());
        let asked = TensorView::from_raw(prototype).unwrap();
        let made = Tensor::from_nd_alloc(Memory, asked.shape(), asked.dtype(), asked.device()).unwrap();
        *out = Any::from(made).into_raw().value.v_object.cast();
    }
    0
}

/// Raises nothing, and fails.
unsafe extern "C" fn silent(_: *mut ChipdockTensor, _: *mut *mut c_void) -> i32 {
    -1
}

/// Makes another shape.
unsafe extern "C" fn another(_: *mut ChipdockTensor, out: *mut *mut c_void) -> i32 {
    let made = Any::from(Tensor::from_slice(&[1], &[1.0_f32]).unwrap());
    // SAFETY: the caller's place for an owned object.
    unsafe { *out = made.into_raw().value.v_object.cast() };
    0
}

/// Makes an object that is no tensor.
unsafe extern "C" fn text(_: *mut ChipdockTensor, out: *mut *mut c_void) -> i32 {
    let made = Any::from(Str::new("longer than seven bytes"));
    // SAFETY: the caller's place for an owned object.
    unsafe { *out = made.into_raw().value.v_object.cast() };
    0
}

/// Makes nothing.
unsafe extern "C" fn nothing(_: *mut ChipdockTensor, _: *mut *mut c_void) -> i32 {
    0
}

#[test]
fn the_environment_allocates() {
    let _one = ONE.lock().unwrap();
    let host = HostRef::standalone();
    let ask = |allocate, shape: &[i64], dtype: ChipdockDataType| {
        // SAFETY: functions that keep the signature.
        unsafe { Tensor::from_env_alloc(host, allocate, shape, dtype, CPU) }
    };
    let seen = counted(|| {
        for shape in [&[][..], &[3], &[2, 3, 4]] {
            let tensor = ask(framework, shape, f64::DTYPE).unwrap();
            assert_eq!(
                (tensor.view().shape(), dtype::text(tensor.view().dtype())),
                (shape, "float64".to_owned())
            );
            assert_eq!(tensor.object().strong_count(), 1);
        }
        assert_eq!(ask(framework, &[-1], f64::DTYPE).unwrap_err().kind(), ErrorKind::VALUE_ERROR);
    });
    assert_eq!((seen.0, seen.1), (3, 3));
    let wrong: [chipdock_plugin_api::EnvTensorAlloc; 4] = [silent, another, text, nothing];
    for allocate in wrong {
        leaks::assert_none(|| {
            assert_eq!(ask(allocate, &[2], f32::DTYPE).unwrap_err().kind(), ErrorKind::BROKEN_PLUGIN);
        });
    }
}

/// The error that the allocator raised is the one that is returned.
#[test]
fn the_environment_says_why_it_does_not_allocate() {
    unsafe extern "C" fn refuses(_: *mut ChipdockTensor, _: *mut *mut c_void) -> i32 {
        HostRef::standalone().raise(&Error::new(ErrorKind::RUNTIME_ERROR, "no allocator is set"));
        -1
    }
    // SAFETY: a function that keeps the signature.
    let made = unsafe { Tensor::from_env_alloc(HostRef::standalone(), refuses, &[2], f32::DTYPE, CPU) };
    let error = made.unwrap_err();
    assert_eq!((error.kind(), &*error.message()), (ErrorKind::RUNTIME_ERROR, "no allocator is set"));
}

#[test]
fn memcheck() {
    chipdock_test_support::memcheck::run(module_path!(), &[]);
}
