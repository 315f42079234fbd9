//! Tests of conversions between tensors and DLPack, in both directions (rules V.4, V.6, V.14).

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use chipdock_plugin_api::abi::{
    CHIPDOCK_DLPACK_READ_ONLY, CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_TENSOR, ChipdockDLPackVersion,
    ChipdockManagedTensor, ChipdockManagedTensorVersioned, ChipdockTensorObject,
};
use chipdock_plugin_api::{
    Access, Any, AnyView, CPU, ChipdockDevice, ChipdockTensor, Element, Error, ErrorKind, Required, Shape,
    Tensor, TensorParts, TensorView, dtype, element_count, size_bytes,
};
use chipdock_test_support::leaks;
use proptest::prelude::*;

#[test]
fn v6_a_tensor_object_is_laid_out_as_dlpack_says() {
    leaks::assert_none(|| {
        for axes in [0, 1, 2, 6, 7, 12] {
            let shape = vec![2_i64; axes];
            let numbers: Vec<i32> = (0..1 << axes).collect();
            let tensor = Tensor::from_slice(&shape, &numbers).unwrap();
            // SAFETY: V.6, a tensor object.
            let raw = unsafe { &(*tensor.object().as_ptr().cast::<ChipdockTensorObject>()).tensor };
            assert_eq!(raw.ndim as usize, axes);
            assert!(!raw.strides.is_null() || axes == 0, "strides are not null when there are axes");
            let strides: Vec<i64> = (0..axes).rev().map(|axis| 1 << axis).collect();
            assert_eq!(tensor.view().strides().unwrap_or_default(), strides);
            assert_eq!(tensor.view().shape(), shape);
            assert_eq!(tensor.to_vec::<i32>().unwrap(), numbers);
        }
    });
}

#[test]
fn v4_tensor_arguments_come_in_two_types() {
    leaks::assert_none(|| {
        let tensor = Tensor::from_slice(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
        let borrowed = AnyView::from(tensor.view());
        let object = AnyView::from(&tensor);
        assert_eq!(borrowed.type_index(), CHIPDOCK_TYPE_DLTENSOR_PTR);
        assert_eq!(object.type_index(), CHIPDOCK_TYPE_TENSOR);
        for view in [borrowed, object] {
            let seen = view.to::<TensorView<'_>>().unwrap();
            assert_eq!((seen.shape(), dtype::text(seen.dtype())), (&[2, 2][..], "float32".to_owned()));
        }
        // Only the object can be kept.
        assert_eq!(object.to::<Tensor>().unwrap().object().strong_count(), 2);
        assert_eq!(borrowed.to::<Tensor>().unwrap_err().kind(), ErrorKind::TYPE_ERROR);
        assert_eq!(borrowed.to_owned().unwrap_err().kind(), ErrorKind::TYPE_ERROR);
    });
}

#[test]
fn v4_another_object_is_a_type_error() {
    leaks::assert_none(|| {
        let shape = Any::from(Shape::new(&[1]));
        let error = shape.view().to::<TensorView<'_>>().unwrap_err();
        assert_eq!(
            (error.kind(), &*error.message()),
            (ErrorKind::TYPE_ERROR, "expected Tensor, found Shape")
        );
        for any in [Any::from(5), Any::NONE, Any::from("text of some length")] {
            assert_eq!(any.view().to::<TensorView<'_>>().unwrap_err().kind(), ErrorKind::TYPE_ERROR);
        }
    });
}

fn bare(ndim: i32, shape: *mut i64, strides: *mut i64) -> ChipdockTensor {
    ChipdockTensor {
        data: ptr::null_mut(),
        device: CPU,
        ndim,
        dtype: f32::DTYPE,
        shape,
        strides,
        byte_offset: 0,
    }
}

#[test]
fn d2_nonsense_is_refused() {
    leaks::assert_none(|| {
        let mut negative = [2, -3];
        // SAFETY: wrong on purpose, and live for the call.
        let kinds = unsafe {
            [
                TensorView::from_raw(ptr::null()).unwrap_err(),
                TensorView::from_raw(&bare(-1, ptr::null_mut(), ptr::null_mut())).unwrap_err(),
                TensorView::from_raw(&bare(2, ptr::null_mut(), ptr::null_mut())).unwrap_err(),
                TensorView::from_raw(&bare(2, negative.as_mut_ptr(), ptr::null_mut())).unwrap_err(),
            ]
        };
        assert!(kinds.iter().all(|error| error.kind() == ErrorKind::VALUE_ERROR), "{kinds:?}");
        assert!(kinds[3].message().contains("axis 1") && kinds[3].message().contains("-3"), "{}", kinds[3]);
    });
}

#[test]
fn slices_are_checked() {
    leaks::assert_none(|| {
        let tensor = Tensor::from_slice(&[4], &[1_u8, 2, 3, 4]).unwrap();
        assert_eq!(tensor.to_vec::<i8>().unwrap_err().kind(), ErrorKind::TYPE_ERROR);
        assert_eq!(Tensor::from_slice(&[3], &[1_u8]).unwrap_err().kind(), ErrorKind::VALUE_ERROR);
        let empty = Tensor::from_slice::<f64>(&[0, 5], &[]).unwrap();
        assert!(empty.to_vec::<f64>().unwrap().is_empty());

        let mut storage = [0_u32; 8];
        let parts = TensorParts {
            data: storage.as_mut_ptr().cast(),
            device: CPU,
            dtype: u32::DTYPE,
            shape: &[2, 2],
            strides: None,
            byte_offset: 4,
        };
        let with = |parts| {
            // SAFETY: the storage outlives the tensors.
            unsafe { Tensor::from_owner(parts, ()) }
        };
        assert_eq!(with(parts).unwrap().to_vec::<u32>().unwrap(), [0; 4]);
        let elsewhere = ChipdockDevice { device_type: 2, device_id: 0 };
        let wrong = [
            TensorParts { byte_offset: 2, ..parts },
            TensorParts { strides: Some(&[1, 2]), ..parts },
            TensorParts { device: elsewhere, ..parts },
            TensorParts { data: ptr::null_mut(), byte_offset: 0, ..parts },
        ];
        for parts in wrong {
            assert_eq!(with(parts).unwrap().to_vec::<u32>().unwrap_err().kind(), ErrorKind::VALUE_ERROR);
        }
        let bad_parts = [
            TensorParts { shape: &[-1], ..parts },
            TensorParts { shape: &[i64::MAX, 3], ..parts },
            TensorParts { strides: Some(&[1]), ..parts },
        ];
        for parts in bad_parts {
            assert_eq!(with(parts).unwrap_err().kind(), ErrorKind::VALUE_ERROR);
        }
    });
}

#[test]
fn the_owner_is_dropped_with_the_last_reference() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Owner;
    impl Drop for Owner {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    let parts = |shape| TensorParts {
        data: ptr::null_mut(),
        device: CPU,
        dtype: f32::DTYPE,
        shape,
        strides: None,
        byte_offset: 0,
    };
    // SAFETY: no elements, so no memory.
    unsafe {
        let tensor = Tensor::from_owner(parts(&[0]), Owner).unwrap();
        let kept = Any::from(tensor.clone());
        drop(tensor);
        assert_eq!(DROPPED.load(Ordering::Relaxed), 0);
        drop(kept);
        assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
        Tensor::from_owner(parts(&[-5]), Owner).unwrap_err();
        assert_eq!(DROPPED.load(Ordering::Relaxed), 2, "on an error path too");
    }
}

// ---- DLPack ----

/// Data of a producer's managed tensor.
struct Production {
    numbers: Vec<f32>,
    shape: Vec<i64>,
    deleted: AtomicUsize,
}

impl Production {
    fn new() -> Self {
        Self { numbers: (0..6_u8).map(f32::from).collect(), shape: vec![2, 3], deleted: AtomicUsize::new(0) }
    }

    fn tensor(&mut self) -> ChipdockTensor {
        ChipdockTensor {
            data: self.numbers.as_mut_ptr().cast(),
            device: CPU,
            ndim: 2,
            dtype: f32::DTYPE,
            shape: self.shape.as_mut_ptr(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        }
    }

    fn managed(&mut self) -> ChipdockManagedTensor {
        let manager_ctx = (&raw const self.deleted).cast_mut().cast();
        ChipdockManagedTensor { dl_tensor: self.tensor(), manager_ctx, deleter: Some(delete) }
    }

    fn versioned(&mut self, major: u32, flags: u64) -> ChipdockManagedTensorVersioned {
        ChipdockManagedTensorVersioned {
            version: ChipdockDLPackVersion { major, minor: 0 },
            manager_ctx: (&raw const self.deleted).cast_mut().cast(),
            deleter: Some(delete_versioned),
            flags,
            dl_tensor: self.tensor(),
        }
    }

    fn deleted(&self) -> usize {
        self.deleted.load(Ordering::Relaxed)
    }
}

fn count(context: *mut c_void) {
    // SAFETY: the counter of a production that outlives its tensors.
    unsafe { &*context.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn delete(managed: *mut ChipdockManagedTensor) {
    // SAFETY: the managed tensor of a production.
    count(unsafe { (*managed).manager_ctx });
}

unsafe extern "C" fn delete_versioned(managed: *mut ChipdockManagedTensorVersioned) {
    // SAFETY: the managed tensor of a production.
    count(unsafe { (*managed).manager_ctx });
}

#[test]
fn dlpack_in_calls_the_deleter_once() {
    leaks::assert_none(|| {
        let mut production = Production::new();
        let mut managed = production.managed();
        // SAFETY: a live managed tensor, given up here; it outlives the tensor.
        let tensor = unsafe { Tensor::from_dlpack(&mut managed, Required::NOTHING) }.unwrap();
        let kept = tensor.clone();
        assert_eq!(tensor.view().strides().unwrap(), [3, 1], "null strides become compact ones");
        drop(tensor);
        assert_eq!((production.deleted(), kept.to_vec::<f32>().unwrap().len()), (0, 6));
        drop(kept);
        assert_eq!(production.deleted(), 1);
    });
}

#[test]
fn dlpack_in_takes_a_null_deleter() {
    leaks::assert_none(|| {
        let mut production = Production::new();
        let mut managed = production.managed();
        managed.deleter = None;
        // SAFETY: a live managed tensor, given up here; it outlives the tensor.
        drop(unsafe { Tensor::from_dlpack(&mut managed, Required::NOTHING) }.unwrap());
        assert_eq!(production.deleted(), 0);
    });
}

#[test]
fn dlpack_in_leaves_what_it_refuses() {
    leaks::assert_none(|| {
        let mut production = Production::new();
        // SAFETY: live managed tensors; after an error they are still ours.
        unsafe {
            let mut managed = production.managed();
            managed.dl_tensor.ndim = -2;
            assert_eq!(
                Tensor::from_dlpack(&mut managed, Required::NOTHING).unwrap_err().kind(),
                ErrorKind::VALUE_ERROR
            );
            assert_eq!(
                Tensor::from_dlpack(ptr::null_mut(), Required::NOTHING).unwrap_err().kind(),
                ErrorKind::VALUE_ERROR
            );

            let mut newer = production.versioned(2, 0);
            let error =
                Tensor::from_dlpack_versioned(&mut newer, Access::ReadWrite, Required::NOTHING).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UNSUPPORTED);
            assert!(error.message().contains("2.0"), "{error}");

            let mut read_only = production.versioned(1, CHIPDOCK_DLPACK_READ_ONLY);
            let error = Tensor::from_dlpack_versioned(&mut read_only, Access::ReadWrite, Required::NOTHING)
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
            assert_eq!(production.deleted(), 0, "taken over on success only");
            let tensor =
                Tensor::from_dlpack_versioned(&mut read_only, Access::ReadOnly, Required::NOTHING).unwrap();
            drop(tensor);
        }
        assert_eq!(production.deleted(), 1);
    });
}

#[test]
fn dlpack_round_trips() {
    leaks::assert_none(|| {
        let tensor = Tensor::from_slice(&[2, 1, 3], &[1_i16, 2, 3, 4, 5, 6]).unwrap();
        let out = tensor.clone().into_dlpack();
        assert_eq!(tensor.object().strong_count(), 2);
        // SAFETY: an owned managed tensor, taken over.
        let back = unsafe { Tensor::from_dlpack(out, Required::NOTHING) }.unwrap();
        assert_eq!(back.to_vec::<i16>().unwrap(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(back.view().data(), tensor.view().data(), "nothing was copied");
        let out = back.into_dlpack_versioned(CHIPDOCK_DLPACK_READ_ONLY);
        // SAFETY: an owned managed tensor, looked at and then released by its deleter.
        unsafe {
            assert_eq!(((*out).version.major, (*out).flags), (1, CHIPDOCK_DLPACK_READ_ONLY));
            assert_eq!((*out).dl_tensor.ndim, 3);
            ((*out).deleter.unwrap())(out);
        }
        assert_eq!(tensor.object().strong_count(), 1);
    });
}

// ---- Arithmetic ----

proptest! {
    #[test]
    fn sizes_are_exact_or_an_error(
        shape in proptest::collection::vec(prop_oneof![0_i64..20, Just(1 << 31), Just(i64::MAX)], 0..5),
        bits in prop_oneof![Just(1_u8), Just(4), Just(8), Just(16), Just(64)],
        lanes in 1_u16..5,
    ) {
        let exact: Option<u128> = if shape.contains(&0) {
            Some(0)
        } else {
            shape.iter().try_fold(1_u128, |count, extent| count.checked_mul(extent.unsigned_abs().into()))
        };
        let fits = |exact: Option<u128>| exact.and_then(|exact| u64::try_from(exact).ok());
        prop_assert_eq!(element_count(&shape).ok(), fits(exact));
        let mut element = dtype::scalar(2, bits);
        element.lanes = lanes;
        let exact_bits = exact.and_then(|count| count.checked_mul(u128::from(bits) * u128::from(lanes)));
        let expected = fits(exact).and(fits(exact_bits)).map(|bits| bits.div_ceil(8));
        prop_assert_eq!(size_bytes(&shape, element).ok(), expected);
    }

    /// Compact means that walking the indices in row-major order walks the offsets 0, 1, 2, ...
    #[test]
    fn compactness_agrees_with_walking(
        axes in proptest::collection::vec((0_i64..4, -2_i64..7), 0..4),
        make_compact in any::<bool>(),
    ) {
        let shape: Vec<i64> = axes.iter().map(|axis| axis.0).collect();
        let mut strides: Vec<i64> = axes.iter().map(|axis| axis.1).collect();
        if make_compact {
            let mut stride = 1;
            for axis in (0..shape.len()).rev() {
                strides[axis] = stride;
                stride *= shape[axis];
            }
        }
        let mut offsets = vec![0];
        for (extent, stride) in shape.iter().zip(&strides) {
            offsets = offsets.iter().flat_map(|at| (0..*extent).map(move |index| at + index * stride)).collect();
        }
        let walked = offsets.iter().enumerate().all(|(at, offset)| at as i64 == *offset);
        let parts = TensorParts {
            data: ptr::null_mut(),
            device: CPU,
            dtype: f32::DTYPE,
            shape: &shape,
            strides: Some(&strides),
            byte_offset: 0,
        };
        // SAFETY: never looked into.
        let tensor = unsafe { Tensor::from_owner(parts, ()) }.unwrap();
        prop_assert_eq!(tensor.view().is_compact(), walked);
    }
}

#[test]
fn scalable_types_have_no_size() -> Result<(), Error> {
    let scalable = dtype::parse("float32xvscalex4")?;
    assert_eq!(size_bytes(&[2], scalable).unwrap_err().kind(), ErrorKind::VALUE_ERROR);
    Ok(())
}

#[test]
fn memcheck() {
    chipdock_test_support::memcheck::run(module_path!(), &[]);
}
