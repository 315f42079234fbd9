//! Tests of views of tensors, of what a receiver of a foreign tensor may require, and of foreign
//! tensors that are wrong (V.6, V.14).

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use chipdock_plugin_api::abi::{
    CHIPDOCK_DLPACK_READ_ONLY, ChipdockDLPackVersion, ChipdockManagedTensor, ChipdockManagedTensorVersioned,
};
use chipdock_plugin_api::{
    Access, CPU, ChipdockDevice, ChipdockTensor, Element, Error, ErrorKind, Required, Tensor, TensorParts,
    dtype,
};
use chipdock_test_support::leaks;
use proptest::prelude::*;

/// DLPack's number of a device whose data is a handle.
const HANDLES: ChipdockDevice = ChipdockDevice { device_type: 4, device_id: 0 };

fn kind<T>(result: Result<T, Error>) -> ErrorKind {
    result.map(|_| ()).expect_err("an error").kind()
}

#[test]
fn a_view_shares_the_elements_and_keeps_them() {
    leaks::assert_none(|| {
        let matrix = Tensor::from_slice(&[3, 4], &(0..12).collect::<Vec<i32>>()).unwrap();
        let first = matrix.view().data();
        let column = matrix.as_strided(&[3], &[4], 1).unwrap();
        assert_eq!((column.view().data(), column.view().byte_offset()), (first.wrapping_byte_add(4), 0));
        let backwards = column.as_strided(&[3], &[-4], 8).unwrap();
        let row = matrix.as_strided(&[2, 2], &[2, 1], 4).unwrap();
        // A view before the view's own first element is outside of it, although the matrix has the
        // element.
        assert_eq!(kind(column.as_strided(&[1], &[1], -1)), ErrorKind::INDEX_ERROR);
        let single = column.as_strided(&[], &[], 4).unwrap();
        drop(matrix);
        drop(column);
        // SAFETY: three elements within the memory that the view keeps.
        let read = |tensor: &Tensor, at: isize| unsafe { *tensor.view().data().cast::<i32>().offset(at) };
        assert_eq!([0, -4, -8].map(|at| read(&backwards, at)), [9, 5, 1]);
        assert_eq!(row.to_vec::<i32>().unwrap(), [4, 5, 6, 7]);
        assert_eq!(single.to_vec::<i32>().unwrap(), [5]);
    });
}

#[test]
fn where_data_is_a_handle_the_offset_moves() {
    let parts = TensorParts {
        data: ptr::without_provenance_mut(3),
        device: HANDLES,
        dtype: f32::DTYPE,
        shape: &[8],
        strides: None,
        byte_offset: 16,
    };
    // SAFETY: never looked into.
    let tensor = unsafe { Tensor::from_owner(parts, ()) }.unwrap();
    let view = tensor.as_strided(&[2], &[3], 2).unwrap();
    assert_eq!((view.view().data().addr(), view.view().byte_offset()), (3, 24));
}

#[test]
fn views_that_reach_outside_are_refused() {
    leaks::assert_none(|| {
        let tensor = Tensor::from_slice(&[2, 3], &[0_u16; 6]).unwrap();
        let ask = |shape: &[i64], strides: &[i64], offset| tensor.as_strided(shape, strides, offset);
        for (shape, strides, offset) in [
            (&[7][..], &[1][..], 0),
            (&[6], &[1], 1),
            (&[1], &[1], -1),
            (&[2], &[-1], 0),
            (&[1], &[1], 6),
            (&[2], &[i64::MAX], 0),
            (&[2, 2], &[i64::MAX, i64::MAX], 0),
            (&[2], &[i64::MIN], 0),
            (&[2], &[1], i64::MAX),
            (&[2], &[1], i64::MIN),
            (&[], &[], 6),
            (&[0], &[1], 7),
        ] {
            assert_eq!(
                kind(ask(shape, strides, offset)),
                ErrorKind::INDEX_ERROR,
                "{shape:?} {strides:?} {offset}"
            );
        }
        for (shape, strides) in
            [(&[-1][..], &[1][..]), (&[2], &[]), (&[1], &[1, 1]), (&[i64::MAX, 3], &[0, 0])]
        {
            assert_eq!(kind(ask(shape, strides, 0)), ErrorKind::VALUE_ERROR, "{shape:?} {strides:?}");
        }
        // Without elements nothing is reached, up to the end.
        assert!(ask(&[0], &[i64::MAX], 6).is_ok());
        assert!(ask(&[5, 0, 3], &[1, 1, 1], 0).is_ok());
        // One element, as often as one likes.
        assert!(ask(&[1 << 40], &[0], 5).is_ok());
        let empty = Tensor::from_slice::<f32>(&[0], &[]).unwrap();
        assert_eq!(kind(empty.as_strided(&[], &[], 0)), ErrorKind::INDEX_ERROR);
        assert!(empty.as_strided(&[0, 9], &[1, 1], 0).is_ok());
    });
}

#[test]
fn elements_that_share_bytes_begin_at_one() {
    let mut bytes = [0x21_u8, 0x43];
    let parts = TensorParts {
        data: bytes.as_mut_ptr().cast(),
        device: CPU,
        dtype: dtype::parse("int4").unwrap(),
        shape: &[4],
        strides: None,
        byte_offset: 0,
    };
    // SAFETY: the bytes outlive it.
    let tensor = unsafe { Tensor::from_owner(parts, ()) }.unwrap();
    assert_eq!(kind(tensor.as_strided(&[1], &[1], 1)), ErrorKind::VALUE_ERROR);
    assert_eq!(tensor.as_strided(&[2], &[1], 2).unwrap().view().data(), parts.data.wrapping_byte_add(1));
}

proptest! {
    /// A view is made exactly if walking it meets only elements of the tensor that it is made of.
    #[test]
    fn bounds_agree_with_walking(
        axes in proptest::collection::vec((0_i64..4, -4_i64..5), 0..4),
        offset in -3_i64..15,
        extent in 0_i64..14,
    ) {
        let (shape, strides): (Vec<i64>, Vec<i64>) = axes.into_iter().unzip();
        let tensor = Tensor::from_slice(&[extent], &vec![0_u8; extent as usize]).unwrap();
        let mut reached = vec![offset];
        for (extent, stride) in shape.iter().zip(&strides) {
            reached = reached.iter().flat_map(|at| (0..*extent).map(move |index| at + index * stride)).collect();
        }
        let inside = if shape.contains(&0) { (0..=extent).contains(&offset) } else {
            reached.iter().all(|at| (0..extent).contains(at))
        };
        let made = tensor.as_strided(&shape, &strides, offset);
        prop_assert_eq!(made.is_ok(), inside, "{:?} {:?} {} of {}", shape, strides, offset, extent);
    }
}

#[test]
fn an_unsafe_view_is_what_the_prototype_says() {
    leaks::assert_none(|| {
        let tensor = Tensor::from_slice(&[4], &[1_u8, 2, 3, 4]).unwrap();
        let prototype = TensorParts {
            data: tensor.view().data(),
            device: CPU,
            dtype: u16::DTYPE,
            shape: &[1],
            strides: None,
            byte_offset: 2,
        };
        // SAFETY: two bytes of the four.
        let view = unsafe { tensor.unsafe_view(prototype) }.unwrap();
        assert_eq!(tensor.object().strong_count(), 2);
        drop(tensor);
        assert_eq!(view.view().byte_offset(), 2);
        // SAFETY: two live bytes.
        let read = unsafe { view.view().data().byte_add(2).cast::<u16>().read_unaligned() };
        assert_eq!(read, u16::from_le_bytes([3, 4]));
        // SAFETY: refused before anything is read.
        let negative = unsafe { view.unsafe_view(TensorParts { shape: &[-1], ..prototype }) };
        assert_eq!(kind(negative), ErrorKind::VALUE_ERROR);
        assert_eq!(view.object().strong_count(), 1, "a refused view keeps nothing");
    });
}

// ---- Foreign tensors ----

static DELETED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn delete(_: *mut ChipdockManagedTensor) {
    DELETED.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn delete_versioned(_: *mut ChipdockManagedTensorVersioned) {
    DELETED.fetch_add(1, Ordering::Relaxed);
}

#[repr(align(64))]
struct Bytes([u8; 256]);

static BYTES: Bytes = Bytes([0; 256]);

fn address(offset: usize) -> *mut c_void {
    BYTES.0.as_ptr().wrapping_add(offset).cast_mut().cast()
}

/// Takes a tensor in through both structs; returns what both say, and asserts that a deleter is
/// called once on success and never else.
fn take(tensor: ChipdockTensor, required: Required) -> Result<(Vec<i64>, Vec<i64>), Error> {
    let deleted = || DELETED.load(Ordering::Relaxed);
    let answer = |taken: &Result<Tensor, Error>| match taken {
        Ok(tensor) => {
            Ok((tensor.view().shape().to_vec(), tensor.view().strides().unwrap_or_default().to_vec()))
        }
        Err(error) => Err(error.clone()),
    };
    let mut answers = Vec::new();
    for flags in [None, Some(0), Some(CHIPDOCK_DLPACK_READ_ONLY)] {
        let before = deleted();
        let mut managed =
            ChipdockManagedTensor { dl_tensor: tensor, manager_ctx: ptr::null_mut(), deleter: Some(delete) };
        let mut versioned = ChipdockManagedTensorVersioned {
            version: ChipdockDLPackVersion { major: 1, minor: 1 },
            manager_ctx: ptr::null_mut(),
            deleter: Some(delete_versioned),
            flags: flags.unwrap_or_default(),
            dl_tensor: tensor,
        };
        // SAFETY: live managed tensors; elements are never read.
        let taken = unsafe {
            match flags {
                None => Tensor::from_dlpack(&mut managed, required),
                Some(_) => Tensor::from_dlpack_versioned(&mut versioned, Access::ReadOnly, required),
            }
        };
        answers.push(answer(&taken).map_err(|error| (error.kind(), error.message().into_owned())));
        assert_eq!(deleted(), before, "not while it lives, not after an error");
        let expected = before + usize::from(taken.is_ok());
        drop(taken);
        assert_eq!(deleted(), expected);
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    answers.remove(0).map_err(|(kind, message)| Error::new(kind, message))
}

/// What may be wrong with a foreign tensor, and what is said; one test, because it counts deleters.
#[test]
fn foreign_tensors_are_checked() {
    let (mut shape, mut strides) = ([2_i64, 3], [3_i64, 1]);
    let good = ChipdockTensor {
        data: address(0),
        device: CPU,
        ndim: 2,
        dtype: f32::DTYPE,
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let any = Required::NOTHING;
    let of = |alignment_bytes, compact| Required { alignment_bytes, compact };
    assert_eq!(take(good, of(64, true)).unwrap(), (vec![2, 3], vec![3, 1]));
    let no_strides = ChipdockTensor { strides: ptr::null_mut(), ..good };
    assert_eq!(take(no_strides, of(64, true)).unwrap(), (vec![2, 3], vec![3, 1]));
    let says = |tensor, required, words: &[&str]| {
        let error = take(tensor, required).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{error}");
        for word in words {
            assert!(error.message().contains(word), "{word}: {error}");
        }
    };
    // Misaligned: by its address, by its offset, by both.
    for (data, offset) in [(4, 0), (0, 4), (2, 2)] {
        let off = ChipdockTensor { data: address(data), byte_offset: offset, ..good };
        says(off, of(64, false), &["64 bytes", "4 bytes past"]);
        assert!(take(off, of(4, true)).is_ok() && take(off, any).is_ok());
    }
    // A handle is no address: its offset counts.
    let handle = ChipdockTensor { data: ptr::without_provenance_mut(3), device: HANDLES, ..good };
    assert!(take(handle, of(64, false)).is_ok());
    says(ChipdockTensor { byte_offset: 32, ..handle }, of(64, false), &["byte offset 0x20"]);
    // Strided: refused if compact elements are required.
    let mut columns = [1_i64, 2];
    let strided = ChipdockTensor { strides: columns.as_mut_ptr(), ..good };
    says(strided, of(0, true), &["[2, 3]", "[1, 2]"]);
    assert_eq!(take(strided, of(64, false)).unwrap().1, [1, 2]);
    // Axes of extent 1 and tensors without elements are compact, whatever their strides are.
    let (mut one, mut none) = ([1_i64, 3], [0_i64, 3]);
    assert!(
        take(ChipdockTensor { shape: one.as_mut_ptr(), strides: [9, 1].as_mut_ptr(), ..good }, of(0, true))
            .is_ok()
    );
    let empty = ChipdockTensor { shape: none.as_mut_ptr(), strides: columns.as_mut_ptr(), ..good };
    assert!(take(empty, of(0, true)).is_ok());
    // Null where there is something to point to, and where there is not.
    says(ChipdockTensor { data: ptr::null_mut(), ..good }, any, &["null pointer"]);
    assert!(take(ChipdockTensor { data: ptr::null_mut(), ..empty }, of(64, true)).is_ok());
    assert!(take(ChipdockTensor { data: ptr::null_mut(), device: HANDLES, ..good }, any).is_ok());
    says(ChipdockTensor { shape: ptr::null_mut(), ..good }, any, &["2 axes"]);
    let scalar = ChipdockTensor { ndim: 0, shape: ptr::null_mut(), strides: ptr::null_mut(), ..good };
    assert_eq!(take(scalar, of(64, true)).unwrap(), (vec![], vec![]));
    // Extents that nothing has.
    says(ChipdockTensor { ndim: -1, ..good }, any, &["-1 axes"]);
    says(ChipdockTensor { ndim: i32::MIN, ..good }, any, &["axes"]);
    let (mut negative, mut absurd) = ([2_i64, -3], [i64::MAX, i64::MAX]);
    says(ChipdockTensor { shape: negative.as_mut_ptr(), ..good }, any, &["axis 1", "-3"]);
    says(ChipdockTensor { shape: absurd.as_mut_ptr(), ..good }, any, &["64 bits"]);
    // An element type that nobody knows is its receiver's business; its elements cannot be read
    // here.
    let unknown = dtype::scalar(200, 24);
    assert!(take(ChipdockTensor { dtype: unknown, ..good }, any).is_ok());
}

#[test]
fn versions_and_flags_are_looked_at() {
    let mut shape = [2_i64];
    let mut take = |major, flags, access| {
        let mut versioned = ChipdockManagedTensorVersioned {
            version: ChipdockDLPackVersion { major, minor: 9 },
            manager_ctx: ptr::null_mut(),
            deleter: None,
            flags,
            dl_tensor: ChipdockTensor {
                data: address(0),
                device: CPU,
                ndim: 1,
                dtype: u8::DTYPE,
                shape: shape.as_mut_ptr(),
                strides: ptr::null_mut(),
                byte_offset: 0,
            },
        };
        // SAFETY: a live managed tensor, without a deleter.
        unsafe { Tensor::from_dlpack_versioned(&mut versioned, access, Required::NOTHING) }.map(drop)
    };
    assert!(take(1, 0, Access::ReadWrite).is_ok());
    assert!(take(1, 1 << 40, Access::ReadWrite).is_ok(), "flags of later versions");
    assert_eq!(kind(take(1, CHIPDOCK_DLPACK_READ_ONLY, Access::ReadWrite)), ErrorKind::VALUE_ERROR);
    assert!(take(1, CHIPDOCK_DLPACK_READ_ONLY, Access::ReadOnly).is_ok());
    for access in [Access::ReadWrite, Access::ReadOnly] {
        assert_eq!(kind(take(1, 4, access)), ErrorKind::UNSUPPORTED, "padded elements");
        assert_eq!(kind(take(0, 0, access)), ErrorKind::UNSUPPORTED);
        assert_eq!(kind(take(2, 0, access)), ErrorKind::UNSUPPORTED);
        // SAFETY: null is answered.
        let null = unsafe { Tensor::from_dlpack_versioned(ptr::null_mut(), access, Required::NOTHING) };
        assert_eq!(kind(null), ErrorKind::VALUE_ERROR);
    }
}

#[test]
fn memcheck() {
    chipdock_test_support::memcheck::run(module_path!(), &[]);
}
