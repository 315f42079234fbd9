//! The conversions of TVM-FFI's guide of tensors, each beside the function of the real libtvm_ffi
//! that it corresponds to.
//!
//! Each test is a process of its own (as nextest runs them): a process has at most one libtvm_ffi.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

use chipdock_plugin_api::abi::{
    CHIPDOCK_DLPACK_READ_ONLY, CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_TENSOR, ChipdockAny,
    ChipdockDLPackVersion, ChipdockManagedTensor, ChipdockManagedTensorVersioned, ChipdockObject,
};
use chipdock_plugin_api::{
    Access, Any, AnyView, CPU, ChipdockDevice, ChipdockTensor, Element, Error, ErrorKind, NdAlloc, ObjectRef,
    Required, Tensor, TensorParts,
};
use chipdock_test_interop::opened::Tvm;

type FromDlpack<M> =
    unsafe extern "C" fn(from: *mut M, alignment: i32, contiguous: i32, out: *mut *mut ChipdockObject) -> i32;
type ToDlpack<M> = unsafe extern "C" fn(from: *mut ChipdockObject, out: *mut *mut M) -> i32;
type CreateView = unsafe extern "C" fn(
    source: *mut ChipdockObject,
    prototype: *const ChipdockTensor,
    out: *mut *mut ChipdockObject,
) -> i32;
type MoveFromRaised = unsafe extern "C" fn(out: *mut *mut ChipdockObject);

/// DLPack's number of a device whose data is a handle, and of one whose data is an address.
const HANDLES: ChipdockDevice = ChipdockDevice { device_type: 4, device_id: 0 };
const ADDRESSES: ChipdockDevice = ChipdockDevice { device_type: 10, device_id: 1 };

/// The functions of libtvm_ffi that are compared with ours.
struct Theirs {
    from: FromDlpack<ChipdockManagedTensor>,
    from_versioned: FromDlpack<ChipdockManagedTensorVersioned>,
    to: ToDlpack<ChipdockManagedTensor>,
    to_versioned: ToDlpack<ChipdockManagedTensorVersioned>,
    view: CreateView,
    own: unsafe extern "C" fn(view: *const ChipdockAny, out: *mut ChipdockAny) -> i32,
    take_error: MoveFromRaised,
    _tvm: Tvm,
}

impl Theirs {
    fn opened(what: &str) -> Option<Self> {
        let tvm = Tvm::opened(what)?;
        // SAFETY: `c_api.h` declares them so.
        unsafe {
            Some(Self {
                from: tvm.function("TVMFFITensorFromDLPack"),
                from_versioned: tvm.function("TVMFFITensorFromDLPackVersioned"),
                to: tvm.function("TVMFFITensorToDLPack"),
                to_versioned: tvm.function("TVMFFITensorToDLPackVersioned"),
                view: tvm.function("TVMFFITensorCreateUnsafeView"),
                own: tvm.function("TVMFFIAnyViewToOwnedAny"),
                take_error: tvm.function("TVMFFIErrorMoveFromRaised"),
                _tvm: tvm,
            })
        }
    }

    /// Returns what a function made: a tensor, or libtvm_ffi's error.
    fn made(&self, status: i32, object: *mut ChipdockObject) -> Result<Tensor, Error> {
        let mut error = ptr::null_mut();
        // SAFETY: the functions of libtvm_ffi write an owned object on success, and else raise an
        // error.
        unsafe {
            if status == 0 {
                assert_eq!((*object).type_index, CHIPDOCK_TYPE_TENSOR);
                return Ok(Tensor::from_object(ObjectRef::from_raw(
                    NonNull::new(object).expect("an object"),
                )));
            }
            (self.take_error)(&mut error);
            Err(Error::from_object(ObjectRef::from_raw(NonNull::new(error).expect("an error"))))
        }
    }

    /// `TVMFFITensorFromDLPack`.
    unsafe fn take(&self, managed: *mut ChipdockManagedTensor, required: Required) -> Result<Tensor, Error> {
        let mut out = ptr::null_mut();
        let (alignment, compact) = (required.alignment_bytes as i32, i32::from(required.compact));
        // SAFETY: as of this function.
        let status = unsafe { (self.from)(managed, alignment, compact, &mut out) };
        self.made(status, out)
    }

    /// `TVMFFITensorFromDLPackVersioned`.
    unsafe fn take_versioned(
        &self,
        managed: *mut ChipdockManagedTensorVersioned,
        required: Required,
    ) -> Result<Tensor, Error> {
        let mut out = ptr::null_mut();
        let (alignment, compact) = (required.alignment_bytes as i32, i32::from(required.compact));
        // SAFETY: as of this function.
        let status = unsafe { (self.from_versioned)(managed, alignment, compact, &mut out) };
        self.made(status, out)
    }

    /// `TVMFFITensorCreateUnsafeView`.
    unsafe fn view_of(&self, source: &Tensor, prototype: &ChipdockTensor) -> Result<Tensor, Error> {
        let mut out = ptr::null_mut();
        // SAFETY: as of this function.
        let status = unsafe { (self.view)(source.object().as_ptr(), prototype, &mut out) };
        self.made(status, out)
    }
}

/// What a tensor says of itself.
#[derive(Debug, PartialEq)]
struct Said {
    data: usize,
    byte_offset: u64,
    shape: Vec<i64>,
    strides: Vec<i64>,
    device: (i32, i32),
    dtype: (u8, u8, u16),
}

fn said(tensor: &Tensor) -> Said {
    let view = tensor.view();
    let (device, dtype) = (view.device(), view.dtype());
    Said {
        data: view.data().addr(),
        byte_offset: view.byte_offset(),
        shape: view.shape().to_vec(),
        strides: view.strides().unwrap_or_default().to_vec(),
        device: (device.device_type, device.device_id),
        dtype: (dtype.code, dtype.bits, dtype.lanes),
    }
}

/// Deleters that were called.
static DELETED: AtomicUsize = AtomicUsize::new(0);

fn deleted() -> usize {
    DELETED.load(Ordering::Relaxed)
}

unsafe extern "C" fn delete(_: *mut ChipdockManagedTensor) {
    DELETED.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn delete_versioned(_: *mut ChipdockManagedTensorVersioned) {
    DELETED.fetch_add(1, Ordering::Relaxed);
}

fn managed(tensor: ChipdockTensor) -> ChipdockManagedTensor {
    ChipdockManagedTensor { dl_tensor: tensor, manager_ctx: ptr::null_mut(), deleter: Some(delete) }
}

fn versioned(tensor: ChipdockTensor, flags: u64) -> ChipdockManagedTensorVersioned {
    ChipdockManagedTensorVersioned {
        version: ChipdockDLPackVersion { major: 1, minor: 3 },
        manager_ctx: ptr::null_mut(),
        deleter: Some(delete_versioned),
        flags,
        dl_tensor: tensor,
    }
}

#[repr(align(64))]
struct Bytes([u8; 512]);

static BYTES: Bytes = Bytes([7; 512]);

fn address(offset: usize) -> *mut c_void {
    BYTES.0.as_ptr().wrapping_add(offset).cast_mut().cast()
}

/// Foreign tensors of many layouts, offsets and devices, all of them well described.
fn foreign(each: &mut dyn FnMut(&str, ChipdockTensor)) {
    let layouts: [(&[i64], Option<&[i64]>); 10] = [
        (&[], None),
        (&[], Some(&[])),
        (&[6], None),
        (&[2, 3], Some(&[3, 1])),
        (&[2, 3], Some(&[1, 2])),
        (&[1, 3], Some(&[77, 1])),
        (&[0, 3], Some(&[9, 9])),
        (&[2, 1, 2], Some(&[2, 5, 1])),
        (&[4], Some(&[0])),
        (&[2; 8], None),
    ];
    for (shape, strides) in layouts {
        for device in [CPU, HANDLES, ADDRESSES] {
            for (data, byte_offset) in [(0, 0), (4, 0), (0, 4), (2, 2), (32, 32), (0, 64), (1, 0)] {
                let (mut shape, mut strides) = (shape.to_vec(), strides.map(<[i64]>::to_vec));
                let tensor = ChipdockTensor {
                    data: address(data),
                    device,
                    ndim: shape.len() as i32,
                    dtype: f32::DTYPE,
                    shape: shape.as_mut_ptr(),
                    strides: strides.as_mut().map_or(ptr::null_mut(), |strides| strides.as_mut_ptr()),
                    byte_offset,
                };
                let name = format!("{shape:?} {strides:?} on {} at {data}+{byte_offset}", device.device_type);
                each(&name, tensor);
            }
        }
    }
}

const REQUIRED: [Required; 8] = [
    Required::NOTHING,
    Required { alignment_bytes: 0, compact: true },
    Required { alignment_bytes: 1, compact: false },
    Required { alignment_bytes: 3, compact: false },
    Required { alignment_bytes: 4, compact: false },
    Required { alignment_bytes: 4, compact: true },
    Required { alignment_bytes: 64, compact: false },
    Required { alignment_bytes: 64, compact: true },
];

/// `TVMFFITensorFromDLPack` and `TVMFFITensorFromDLPackVersioned`: the same tensors are taken and
/// refused, they describe themselves the same, and each deleter is called once, or not at all after
/// an error.
#[test]
fn foreign_tensors_are_taken_and_refused_alike() {
    let Some(theirs) = Theirs::opened("tensors from DLPack") else { return };
    let (mut taken, mut refused) = (0, 0);
    foreign(&mut |name, tensor| {
        for required in REQUIRED {
            let (mut old, mut new) = (managed(tensor), versioned(tensor, 0));
            let before = deleted();
            // SAFETY: live managed tensors, whose deleters count; elements are not read.
            let answers = unsafe {
                [
                    theirs.take(&mut old, required),
                    Tensor::from_dlpack(&mut old, required),
                    theirs.take_versioned(&mut new, required),
                    Tensor::from_dlpack_versioned(&mut new, Access::ReadWrite, required),
                ]
            };
            let said = answers.iter().map(|answer| answer.as_ref().map(said).ok()).collect::<Vec<_>>();
            assert!(said.windows(2).all(|pair| pair[0] == pair[1]), "{name}, {required:?}: {answers:?}");
            assert_eq!(deleted(), before, "{name}, {required:?}");
            let expected = if answers[0].is_ok() { 4 } else { 0 };
            *(if expected == 4 { &mut taken } else { &mut refused }) += 1;
            drop(answers);
            assert_eq!(deleted() - before, expected, "{name}, {required:?}");
        }
    });
    assert!(taken > 300 && refused > 300, "{taken} {refused}");
}

/// What TVM-FFI refuses by another kind, and what it does not look at.
#[test]
fn flags_come_in_and_go_out() {
    let Some(theirs) = Theirs::opened("flags of DLPack") else { return };
    let mut shape = [4_i64];
    let tensor = ChipdockTensor {
        data: address(0),
        device: CPU,
        ndim: 1,
        dtype: u8::DTYPE,
        shape: shape.as_mut_ptr(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    let before = deleted();
    // SAFETY: live managed tensors, whose deleters count.
    unsafe {
        let mut padded = versioned(tensor, 4);
        let error = theirs.take_versioned(&mut padded, Required::NOTHING).expect_err("padded");
        assert_eq!(error.kind(), ErrorKind::RUNTIME_ERROR);
        let ours = Tensor::from_dlpack_versioned(&mut padded, Access::ReadOnly, Required::NOTHING);
        assert_eq!(ours.expect_err("padded").kind(), ErrorKind::UNSUPPORTED);

        let mut read_only = versioned(tensor, CHIPDOCK_DLPACK_READ_ONLY);
        let writable = Tensor::from_dlpack_versioned(&mut read_only, Access::ReadWrite, Required::NOTHING);
        assert_eq!(writable.expect_err("read-only").kind(), ErrorKind::VALUE_ERROR);
        let ours = Tensor::from_dlpack_versioned(&mut read_only, Access::ReadOnly, Required::NOTHING);
        // Out again with what it was, for any consumer, such as libtvm_ffi, which takes it as it
        // is.
        let out = ours.expect("read-only").into_dlpack_versioned(CHIPDOCK_DLPACK_READ_ONLY);
        assert_eq!(
            ((*out).flags, (*out).version.major, (*out).version.minor),
            (CHIPDOCK_DLPACK_READ_ONLY, 1, 3)
        );
        let held = theirs.take_versioned(out, Required::NOTHING).expect("taken");
        assert_eq!(held.to_vec::<u8>().expect("bytes"), [7; 4]);
        assert_eq!(deleted(), before);
        let mut out = ptr::null_mut();
        assert_eq!((theirs.to_versioned)(held.object().as_ptr(), &mut out), 0);
        assert_eq!((*out).flags, 0, "TVM-FFI forgets");
        ((*out).deleter.expect("a deleter"))(out);
        drop(held);
        assert_eq!(deleted(), before + 1);
    }
}

/// A tensor over an allocator, and how often its memory was freed.
struct Memory(&'static AtomicUsize);

// SAFETY: the bytes live as long as the process, and are more than any tensor of these tests has.
unsafe impl NdAlloc for Memory {
    fn allocate(&self, _: &TensorParts<'_>, size_bytes: u64) -> Result<*mut c_void, Error> {
        assert!(size_bytes <= 512);
        Ok(address(0))
    }

    unsafe fn free(&self, _: *mut c_void, _: u64, _: ChipdockDevice) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// `Tensor::FromNDAlloc` and its strided variant: libtvm_ffi holds our tensors as its own, and
/// hands them on.
#[test]
fn tensors_of_our_allocators_are_tensors_there() {
    static FREED: AtomicUsize = AtomicUsize::new(0);
    let Some(theirs) = Theirs::opened("tensors of allocators") else { return };
    let compact = Tensor::from_nd_alloc(Memory(&FREED), &[2, 3], f32::DTYPE, CPU).expect("made");
    let strided =
        Tensor::from_nd_alloc_strided(Memory(&FREED), &[2, 3], &[1, 4], f32::DTYPE, CPU).expect("made");
    for (tensor, is_compact) in [(compact, true), (strided, false)] {
        let before = FREED.load(Ordering::Relaxed);
        let (mut old, mut new) = (ptr::null_mut(), ptr::null_mut());
        let object = tensor.object().as_ptr();
        // SAFETY: a tensor object, and places for managed tensors, which are ours afterwards.
        unsafe {
            assert_eq!(((theirs.to)(object, &mut old), (theirs.to_versioned)(object, &mut new)), (0, 0));
            assert_eq!(tensor.object().strong_count(), 3);
            let required = Required { alignment_bytes: 64, compact: true };
            assert_eq!(theirs.take(old, required).is_ok(), is_compact);
            let old = if is_compact {
                None
            } else {
                Some(Tensor::from_dlpack(old, Required::NOTHING).expect("taken"))
            };
            let back =
                Tensor::from_dlpack_versioned(new, Access::ReadWrite, Required::NOTHING).expect("taken");
            assert_eq!((said(&back), old.is_some()), (said(&tensor), !is_compact));
            // The guide's two ways through values.
            for (value, index) in [
                (AnyView::from(tensor.view()), CHIPDOCK_TYPE_DLTENSOR_PTR),
                (AnyView::from(&tensor), CHIPDOCK_TYPE_TENSOR),
            ] {
                let raw = value.into_raw();
                let mut owned = Any::NONE.into_raw();
                assert_eq!(((theirs.own)(&raw, &mut owned), owned.type_index), (0, index));
                if index == CHIPDOCK_TYPE_TENSOR {
                    let held = Any::from_raw(owned).to::<Tensor>().expect("a tensor");
                    assert_eq!(said(&held), said(&tensor));
                }
            }
            drop(tensor);
            assert_eq!(FREED.load(Ordering::Relaxed), before, "still held");
        }
        assert_eq!(FREED.load(Ordering::Relaxed), before + 1, "freed once, with the last");
    }
}

/// `TVMFFITensorCreateUnsafeView` and `Tensor::as_strided`: over our tensors and over theirs, in
/// both libraries, they describe themselves the same and keep the source alive.
#[test]
fn views_are_alike_and_keep_their_source() {
    let Some(theirs) = Theirs::opened("views of tensors") else { return };
    let mut shape = [4_i64, 6];
    for device in [CPU, HANDLES, ADDRESSES] {
        let base = ChipdockTensor {
            data: address(0),
            device,
            ndim: 2,
            dtype: f32::DTYPE,
            shape: shape.as_mut_ptr(),
            strides: ptr::null_mut(),
            byte_offset: 16,
        };
        let (mut first, mut second) = (managed(base), managed(base));
        // SAFETY: live managed tensors, whose deleters count; prototypes within their memory.
        unsafe {
            let sources = [
                theirs.take(&mut first, Required::NOTHING).expect("taken"),
                Tensor::from_dlpack(&mut second, Required::NOTHING).expect("taken"),
            ];
            for source in sources {
                let before = deleted();
                let (view_shape, strides, offset) = ([3_i64, 2], [6_i64, 2], 7_i64);
                let ours = source.as_strided(&view_shape, &strides, offset).expect("within");
                // As the header's `as_strided` makes the prototype of what it calls.
                let is_address = device.device_type != HANDLES.device_type;
                let bytes = 16 + offset as u64 * 4;
                let prototype = ChipdockTensor {
                    data: if is_address { address(bytes as usize) } else { address(0) },
                    device,
                    ndim: 2,
                    dtype: f32::DTYPE,
                    shape: view_shape.as_ptr().cast_mut(),
                    strides: strides.as_ptr().cast_mut(),
                    byte_offset: if is_address { 0 } else { bytes },
                };
                let there = theirs.view_of(&source, &prototype).expect("a view");
                assert_eq!(said(&ours), said(&there));
                let parts = TensorParts {
                    data: prototype.data,
                    device,
                    dtype: u16::DTYPE,
                    shape: &[5],
                    strides: Some(&[1]),
                    byte_offset: prototype.byte_offset,
                };
                let free = source.unsafe_view(parts).expect("a view");
                let (mut shape_free, mut strides_free) = ([5_i64], [1_i64]);
                let other = ChipdockTensor {
                    dtype: u16::DTYPE,
                    ndim: 1,
                    shape: shape_free.as_mut_ptr(),
                    strides: strides_free.as_mut_ptr(),
                    ..prototype
                };
                let free_there = theirs.view_of(&source, &other).expect("a view");
                assert_eq!(said(&free), said(&free_there));
                assert_eq!(source.object().strong_count(), 5);
                // Views of views, across both.
                let middle = theirs.view_of(&ours, &prototype).expect("a view");
                let last = middle.as_strided(&[1], &[1], 0).expect("within");
                drop((source, ours, there, free, free_there, middle));
                assert_eq!(deleted(), before, "the last view keeps all of them");
                drop(last);
                assert_eq!(deleted(), before + 1);
            }
        }
    }
}
