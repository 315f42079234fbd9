//! Shapes and arrays.

use core::fmt;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::ptr::{addr_of, addr_of_mut};

use chipdock_abi::{CHIPDOCK_TYPE_ARRAY, CHIPDOCK_TYPE_SHAPE, ChipdockArrayObject, ChipdockShapeObject};

use crate::object::{ObjectBody, allocate, header, own};
use crate::{Any, AnyView, Error, ErrorKind, ObjectRef};

/// An owned list of extents.
#[derive(Clone)]
#[repr(transparent)]
pub struct Shape(ObjectRef);

#[repr(C)]
struct ShapeBody {
    object: ChipdockShapeObject,
    extents: Box<[i64]>,
}

// SAFETY: repr(C), starts with the ABI's shape object, 8-aligned.
unsafe impl ObjectBody for ShapeBody {
    const TYPE_INDEX: i32 = CHIPDOCK_TYPE_SHAPE;
}

impl Shape {
    /// Copies `extents` into a new shape.
    #[must_use]
    pub fn new(extents: &[i64]) -> Self {
        let body = allocate(ShapeBody {
            object: ChipdockShapeObject {
                object: header::<ShapeBody>(),
                data: core::ptr::null(),
                size: extents.len(),
            },
            extents: extents.into(),
        });
        let pointer = body.as_ptr();
        // SAFETY: just allocated and not shared yet; the extents do not move while the object
        // lives.
        unsafe { (*pointer).object.data = (*addr_of!((*pointer).extents)).as_ptr() };
        Self(own(body))
    }

    pub(crate) fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    /// Returns the object, which this shape still owns.
    #[must_use]
    pub fn object(&self) -> &ObjectRef {
        &self.0
    }

    pub(crate) fn into_object(self) -> ObjectRef {
        self.0
    }
}

impl Deref for Shape {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        let object = self.0.as_ptr().cast::<ChipdockShapeObject>();
        // SAFETY: V.6, the layout of a shape object, whose extents live as long as it does and do
        // not change.
        unsafe {
            match (*object).size {
                0 => &[],
                size => core::slice::from_raw_parts((*object).data, size),
            }
        }
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// An owned list of values.
#[derive(Clone)]
#[repr(transparent)]
pub struct Array(ObjectRef);

#[repr(C)]
struct ArrayBody {
    object: ChipdockArrayObject,
    storage: Box<[MaybeUninit<Any>]>,
}

// SAFETY: repr(C), starts with the ABI's array object, 8-aligned.
unsafe impl ObjectBody for ArrayBody {
    const TYPE_INDEX: i32 = CHIPDOCK_TYPE_ARRAY;
}

impl Drop for ArrayBody {
    fn drop(&mut self) {
        // The header counts, not the length that was stored here: a C++ holder of the only
        // reference may have shortened it.
        let count = usize::try_from(self.object.size).unwrap_or(0);
        for index in 0..count {
            // SAFETY: V.6, the first `size` elements are owned values.
            unsafe { self.object.data.cast::<Any>().add(index).drop_in_place() };
        }
        if let Some(deleter) = self.object.data_deleter {
            // SAFETY: V.6, code that exchanges the storage leaves its deleter.
            unsafe { deleter(self.object.data.cast()) };
        }
    }
}

impl Array {
    /// Makes an array of `elements`, in order.
    pub fn new(elements: impl IntoIterator<Item = Any>) -> Self {
        let storage: Box<[MaybeUninit<Any>]> = elements.into_iter().map(MaybeUninit::new).collect();
        let count = storage.len() as i64;
        let body = allocate(ArrayBody {
            object: ChipdockArrayObject {
                object: header::<ArrayBody>(),
                data: core::ptr::null_mut(),
                size: count,
                capacity: count,
                data_deleter: None,
            },
            storage,
        });
        let pointer = body.as_ptr();
        // SAFETY: just allocated and not shared yet; the elements do not move while the object
        // lives.
        unsafe { (*pointer).object.data = (*addr_of_mut!((*pointer).storage)).as_mut_ptr().cast() };
        Self(own(body))
    }

    pub(crate) fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    /// Returns the object, which this array still owns.
    #[must_use]
    pub fn object(&self) -> &ObjectRef {
        &self.0
    }

    pub(crate) fn into_object(self) -> ObjectRef {
        self.0
    }

    /// Returns the elements.
    #[must_use]
    pub fn as_slice(&self) -> &[AnyView<'_>] {
        let object = self.0.as_ptr().cast::<ChipdockArrayObject>();
        // SAFETY: V.6, the layout of an array object, whose elements live as long as it does; a
        // view is laid out as a value.
        unsafe {
            match usize::try_from((*object).size) {
                Ok(count) if count > 0 => core::slice::from_raw_parts((*object).data.cast(), count),
                _ => &[],
            }
        }
    }

    /// Returns the element at `index`.
    ///
    /// # Errors
    ///
    /// `IndexError` when there is none.
    pub fn at(&self, index: usize) -> Result<AnyView<'_>, Error> {
        self.as_slice().get(index).copied().ok_or_else(|| {
            let count = self.as_slice().len();
            Error::new(ErrorKind::INDEX_ERROR, format!("expected an index below {count}, found {index}"))
        })
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}
